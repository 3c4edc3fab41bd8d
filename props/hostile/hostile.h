/* SPDX-License-Identifier: MIT */
#ifndef O2_PROPS_HOSTILE_H
#define O2_PROPS_HOSTILE_H

#include <infiniband/verbs.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "judge/rules.h"
#include "lnd/conn/conn.h"
#include "lnd/ni/ni.h"
#include "props/hostile/hostile_victim.h"
#include "wire/layout.h"
#include "wire/msg.h"

/*
 * A hostile peer: named misbehaviours, each of which breaks one documented rule, and the reaction that it
 * must meet.  Source: docs/hostile.md.
 *
 * The liar is a queue pair without any logic of o2iblnd behind it: it sends the bytes that a row of the
 * catalogue gives it.  Its victim is an ordinary connection, or a node.  On the victim's interface there is a
 * second connection, to an honest peer, which has to go on working whatever the liar does.
 *
 * Most rows are one message, the others a script.  Neither knows where the victim is: in this process on
 * loop devices, in another process or behind a network (struct o2_hostile_world of hostile_internal.h).
 */

enum o2_hostile_reaction {
	O2_REACT_CLOSE,	  /* the connection closes with .code and .rule */
	O2_REACT_KEEP,	  /* the message is refused or answered, the connection goes on */
	O2_REACT_TIMEOUT, /* nothing, until our own deadline closes the connection */
	O2_REACT_DEVICE,  /* the device refuses, and the connection closes with -EIO */
	O2_REACT_REJECT,  /* the request for a connection is rejected with .code as the reason */
	O2_REACT_FAIL,	  /* our own attempt ends with .code */
};

/* What is expected of a peer: the reaction of the table, or what is known of its kind. */
enum o2_hostile_profile {
	O2_HOSTILE_STRICT,
	O2_HOSTILE_KERNEL, /* what kernels are known to tolerate may be tolerated */
};

struct o2_hostile;

/* What is wrong with a message. */
struct o2_liar_spoil {
	uint32_t offset;
	uint32_t width; /* bytes that are overwritten, little-endian */
	uint64_t value;
	uint32_t length; /* what is sent of it, 0: all */
	bool turn;	 /* some bits of the byte at offset are turned */
};

/*
 * One message that breaks a rule, which is all that most rows need.  CONNREQ: the liar asks for a connection;
 * CONNACK: that is its answer when it is asked for one.
 */
struct o2_lie {
	enum o2_msg_type type; /* 0: there is a script instead */
	/* What the victim has said before, whose cookie it has: PUT_REQ, GET_REQ, or PUT_ACK as the sink of a
	 * PUT, of 5000 bytes in this mode; 0: nothing, and the cookie is nobody's. */
	enum o2_msg_type after;
	enum o2_reg_mode mode;
	int32_t status; /* of a PUT_NAK, PUT_DONE or GET_DONE */
	uint32_t more;	/* how often it is said again */
	struct o2_liar_spoil spoil;
};

struct o2_misbehaviour {
	const char *name;
	const char *group;
	const char *text; /* what it does, in a few words */
	const char *rule; /* that it breaks; that of the fault for O2_REACT_CLOSE */
	const char *doc;  /* where the rule stands */
	enum o2_hostile_reaction reaction;
	int code;
	const char *mutant; /* switches the check off; NULL: "without/" and the rule */
	/* What the liar does: one message, or a script, which returns false if the liar did not get as far as
	 * it must, or was answered wrongly. */
	struct o2_lie lie;
	bool (*script)(struct o2_hostile *h);
	/* Kernels are known to go on, or to accept: docs/hostile.md, "Profiles". */
	bool kernel_tolerates;
};

/* At the end of a row: the message, and what is wrong with it; and what kernels make of it. */
#define O2_SAYS(message, at, bytes, is) \
	.lie = {.type = message, .spoil = {.offset = at, .width = bytes, .value = is}}
#define O2_CUTS(message, bytes) .lie = {.type = message, .spoil = {.length = bytes}}
#define O2_TURNS(message, at)	.lie = {.type = message, .spoil = {.offset = at, .turn = true}}
#define O2_KERNEL_TOLERATES	.kernel_tolerates = true
#define O2_KERNEL_REFUSES	.kernel_tolerates = false

/* All of them, group by group. */
size_t o2_misbehaviours(const struct o2_misbehaviour **list);
const struct o2_misbehaviour *o2_misbehaviour_find(const char *name);
/* Its mutant's name, in *text where it has to be put together. */
const char *o2_misbehaviour_mutant(const struct o2_misbehaviour *what, char text[96]);

/* Its row of the table in docs/hostile.md. */
#define O2_MISBEHAVIOUR_ROW_BYTES 400u
void o2_misbehaviour_row(const struct o2_misbehaviour *what, char row[O2_MISBEHAVIOUR_ROW_BYTES]);

/* Rules that the judge of docs/judge.md found broken while it heard the liar's connection. */
#define O2_HOSTILE_HEARD 16u

struct o2_hostile_heard {
	uint32_t count; /* of different ones */
	struct {
		enum o2_judge_rule_id rule;
		bool by_liar; /* else by a side that is honest */
	} broken[O2_HOSTILE_HEARD];
};

/*
 * Let the liar do that to a fresh victim on loop devices.  True: it met the reaction that it must, the honest
 * connection works, everything was handed back and no byte changed outside of what was described to the liar.
 * Otherwise *why (at least 200 bytes) says what was wrong.  heard: NULL where nobody asks.
 */
bool o2_hostile_try(const struct o2_misbehaviour *what, struct o2_hostile_heard *heard, char *why);

/* Let the liar do that.  False: it did not get as far as it must, or was answered wrongly. */
bool o2_misbehaviour_do(struct o2_hostile *h, const struct o2_misbehaviour *what);

/* The tables of the groups: props/hostile/hostile_*.c. */
extern const struct o2_misbehaviour o2_hostile_wire[], o2_hostile_desc[], o2_hostile_talk[],
	o2_hostile_flow[], o2_hostile_rdma[], o2_hostile_connreq[], o2_hostile_connack[];

/* --- what scripts have: `send these bytes, wait for that` --- */

/* A good message of that type to the victim; the script spoils it. */
struct o2_msg *o2_liar_begin(struct o2_hostile *h, enum o2_msg_type type);
/* Send what was begun.  False: it could not be posted. */
bool o2_liar_send(struct o2_hostile *h);
/* The same with something wrong with it. */
bool o2_liar_send_spoiled(struct o2_hostile *h, const struct o2_liar_spoil *spoil);
bool o2_liar_send_bytes(struct o2_hostile *h, const void *bytes, uint32_t length_bytes);
/* Let everything happen that can.  Then: the last message of that type that the victim sent. */
bool o2_liar_hears(struct o2_hostile *h, enum o2_msg_type type, struct o2_msg *msg);
void o2_hostile_settle(struct o2_hostile *h);
/* RDMA to the victim's memory. */
bool o2_liar_rdma(struct o2_hostile *h, enum ibv_wr_opcode opcode, uint64_t addr, uint32_t rkey,
		  uint32_t length);

/*
 * Memory of the victim's that is described to the liar as a sink: that of a GET that the victim has started,
 * or, where it cannot be made to start one, that of a PUT of the liar's, from the PUT_ACK.
 */
struct o2_liar_sink {
	struct o2_rdma_desc desc;
	enum o2_msg_type done; /* what ends the operation: GET_DONE or PUT_DONE, */
	uint64_t cookie;       /* with this cookie */
};

bool o2_victim_waits(struct o2_hostile *h, uint64_t nob, enum o2_reg_mode mode, struct o2_liar_sink *sink);
/* That of a PUT everywhere: the victim serves nob bytes, and has answered the PUT_REQ. */
bool o2_victim_waits_for_put(struct o2_hostile *h, uint64_t nob, enum o2_reg_mode mode,
			     struct o2_liar_sink *sink);
/* A PUT_NAK, PUT_DONE or GET_DONE. */
bool o2_liar_completes(struct o2_hostile *h, enum o2_msg_type type, uint64_t cookie, int32_t status);

/* Ask the victim for a connection; or have its application send something, so that it asks the liar. */
bool o2_liar_asks(struct o2_hostile *h, const struct o2_liar_spoil *spoil);
bool o2_liar_answers(struct o2_hostile *h, const struct o2_liar_spoil *spoil);

/*
 * Give the victim an order.  False: it failed, or this victim does not take it.  Some of the orders are for
 * situations that a peer cannot bring about, and only a victim of ours takes them.
 */
bool o2_victim_does(struct o2_hostile *h, enum o2_victim_act act, uint64_t value, enum o2_reg_mode mode);
/*
 * It says PUT_REQ, GET_REQ or PUT_ACK, of 5000 bytes in this mode, and waits for the answer to this cookie.
 */
bool o2_victim_awaits(struct o2_hostile *h, enum o2_msg_type said, enum o2_reg_mode mode, uint64_t *cookie);
void o2_hostile_clock(struct o2_hostile *h, uint64_t ms);
/* Let enough time go by that everything that waits has given up. */
void o2_hostile_wait_out(struct o2_hostile *h);
/*
 * Has the last operation of the victim ended with that status?  True as well where that cannot be observed.
 */
bool o2_victim_ended(struct o2_hostile *h, int status);
/* Its application was given so many IMMEDIATEs; likewise. */
bool o2_victim_received(struct o2_hostile *h, uint32_t count);

/* The cookie of its first request that was not sent yet. */
bool o2_victim_queued(struct o2_hostile *h, uint64_t *cookie);
/* Where its receives stand, and what it sends from in mode global; with the keys of these regions. */
bool o2_victim_slots(struct o2_hostile *h, uint64_t *address, uint32_t *key);
bool o2_victim_source(struct o2_hostile *h, uint64_t *address, uint32_t *key);

#endif
