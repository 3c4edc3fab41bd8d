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
 * A hostile peer: named misbehaviours, each of which breaks one documented rule, and the reaction that the
 * victim must show.  Source: docs/hostile.md.
 *
 * The liar is a queue pair without any o2iblnd logic: it sends the bytes that a row of the catalogue
 * specifies.  Its victim is an ordinary connection, or a node.  The victim's interface has a second
 * connection, to an honest peer, which must keep working whatever the liar does.
 *
 * Most rows are one message, the others are a script.  Neither knows where the victim is: in this process on
 * loop devices, in another process, or behind a network (struct o2_hostile_world of hostile_internal.h).
 */

enum o2_hostile_reaction {
	O2_REACT_CLOSE,	  /* the connection closes with .code and .rule */
	O2_REACT_KEEP,	  /* the message is refused or answered, and the connection stays open */
	O2_REACT_TIMEOUT, /* no reaction until the victim's own deadline closes the connection */
	O2_REACT_DEVICE,  /* the device refuses, and the connection closes with -EIO */
	O2_REACT_REJECT,  /* the request for a connection is rejected with .code as the reason */
	O2_REACT_FAIL,	  /* the victim's own connection attempt ends with .code */
};

/* What is expected of a peer: the reaction of the table, or one that is known of its implementation. */
enum o2_hostile_profile {
	O2_HOSTILE_STRICT,
	O2_HOSTILE_KERNEL, /* the peer may tolerate what kernels are known to tolerate */
};

struct o2_hostile;

/* A change that makes a message wrong. */
struct o2_liar_spoil {
	uint32_t offset;
	uint32_t width; /* number of bytes overwritten with value, little-endian */
	uint64_t value;
	uint32_t length; /* number of bytes sent; 0: all */
	bool turn;	 /* invert some bits of the byte at offset */
};

/*
 * One message that breaks a rule; most rows need nothing else.  CONNREQ: the liar requests a connection;
 * CONNACK: the liar answers the victim's request with it.
 */
struct o2_lie {
	enum o2_msg_type type; /* 0: the row has a script instead */
	/* What the victim sent before, with the cookie that the lie uses: PUT_REQ, GET_REQ, or PUT_ACK as the
	 * sink of a PUT, of O2_VICTIM_BYTES in this mode.  0: nothing; the cookie is unknown to the victim. */
	enum o2_msg_type after;
	enum o2_reg_mode mode;
	int32_t status; /* of a PUT_NAK, PUT_DONE or GET_DONE */
	uint32_t more;	/* number of repetitions */
	struct o2_liar_spoil spoil;
};

struct o2_misbehaviour {
	const char *name;
	const char *group;
	const char *text; /* what the liar does, in a few words */
	const char *rule; /* the rule that is broken; for O2_REACT_CLOSE also the fault's rule */
	const char *doc;  /* where the rule is documented */
	enum o2_hostile_reaction reaction;
	int code;
	const char *mutant; /* the mutant that disables the check; NULL: "without/" and the rule */
	/* What the liar does: one message, or a script.  The script returns false if the liar could not
	 * complete it or got a wrong answer. */
	struct o2_lie lie;
	bool (*script)(struct o2_hostile *h);
	/* Kernels are known to tolerate this: docs/hostile.md, "Profiles". */
	bool kernel_tolerates;
};

/* The end of a row: the message and its change, and the kernels' reaction. */
#define O2_SAYS(message, at, bytes, is) \
	.lie = {.type = message, .spoil = {.offset = at, .width = bytes, .value = is}}
#define O2_CUTS(message, bytes) .lie = {.type = message, .spoil = {.length = bytes}}
#define O2_TURNS(message, at)	.lie = {.type = message, .spoil = {.offset = at, .turn = true}}
#define O2_KERNEL_TOLERATES	.kernel_tolerates = true
#define O2_KERNEL_REFUSES	.kernel_tolerates = false

/* All misbehaviours, group by group; returns their number. */
size_t o2_misbehaviours(const struct o2_misbehaviour **list);
const struct o2_misbehaviour *o2_misbehaviour_find(const char *name);
/* The name of the mutant; written to text if it has to be composed. */
const char *o2_misbehaviour_mutant(const struct o2_misbehaviour *what, char text[96]);

/* The reaction in a few words, as in the row below. */
void o2_misbehaviour_reaction(const struct o2_misbehaviour *what, char *text, size_t text_bytes);

/* The misbehaviour's row in the table of docs/hostile.md. */
#define O2_MISBEHAVIOUR_ROW_BYTES 400u
void o2_misbehaviour_row(const struct o2_misbehaviour *what, char row[O2_MISBEHAVIOUR_ROW_BYTES]);

/* Rules that the judge (docs/judge.md) found broken on the liar's connection. */
#define O2_HOSTILE_HEARD 16u

struct o2_hostile_heard {
	uint32_t count; /* number of different rules */
	struct {
		enum o2_judge_rule_id rule;
		bool by_liar; /* false: by an honest side */
	} broken[O2_HOSTILE_HEARD];
};

/*
 * Run a misbehaviour against a fresh victim on loop devices.  True: the victim showed the required reaction,
 * the honest connection works, everything was returned, and no byte changed outside the memory described to
 * the liar.  Otherwise *why (at least 200 bytes) says what was wrong.  heard: NULL if not wanted.
 */
bool o2_hostile_try(const struct o2_misbehaviour *what, struct o2_hostile_heard *heard, char *why);

/* Let the liar do it.  False: the liar could not complete it, or got a wrong answer. */
bool o2_misbehaviour_do(struct o2_hostile *h, const struct o2_misbehaviour *what);

/* The catalogue's groups: props/hostile/hostile_*.c. */
extern const struct o2_misbehaviour o2_hostile_wire[], o2_hostile_desc[], o2_hostile_talk[],
	o2_hostile_flow[], o2_hostile_rdma[], o2_hostile_connreq[], o2_hostile_connack[];

/* --- for scripts: `send these bytes, wait for that` --- */

/* Begin a correct message of that type to the victim; the script then spoils it. */
struct o2_msg *o2_liar_begin(struct o2_hostile *h, enum o2_msg_type type);
/* Send the message that was begun.  False: it could not be posted. */
bool o2_liar_send(struct o2_hostile *h);
/* Send it with this change. */
bool o2_liar_send_spoiled(struct o2_hostile *h, const struct o2_liar_spoil *spoil);
bool o2_liar_send_bytes(struct o2_hostile *h, const void *bytes, uint32_t length_bytes);
/* *msg: the last message of that type from the victim since the last call.  False: none. */
bool o2_liar_heard(struct o2_hostile *h, enum o2_msg_type type, struct o2_msg *msg);
/* As o2_liar_heard, after events are handled until nothing more happens. */
bool o2_liar_hears(struct o2_hostile *h, enum o2_msg_type type, struct o2_msg *msg);
void o2_hostile_settle(struct o2_hostile *h);
/* Post an RDMA WRITE to the victim's memory. */
bool o2_liar_write(struct o2_hostile *h, uint64_t addr, uint32_t rkey, uint32_t length);

#define O2_VICTIM_BYTES 5000u /* of the operations below */

/*
 * Victim memory that is described to the liar as a sink: the sink of a GET that the victim started or, if the
 * victim cannot be made to start one, the sink of a PUT by the liar, from the PUT_ACK.
 */
struct o2_liar_sink {
	struct o2_rdma_desc desc;
	enum o2_msg_type done; /* type of the message that ends the operation: GET_DONE or PUT_DONE */
	uint64_t cookie;       /* cookie of that message */
};

bool o2_victim_waits(struct o2_hostile *h, enum o2_reg_mode mode, struct o2_liar_sink *sink);
/* Send a PUT_NAK, PUT_DONE or GET_DONE. */
bool o2_liar_completes(struct o2_hostile *h, enum o2_msg_type type, uint64_t cookie, int32_t status);

/* The liar requests a connection; or the victim's application sends, so that the victim requests one. */
bool o2_liar_asks(struct o2_hostile *h, const struct o2_liar_spoil *spoil);
bool o2_liar_answers(struct o2_hostile *h, const struct o2_liar_spoil *spoil);

/*
 * Give the victim an order.  False: it failed, or this victim does not accept it.  Some orders create
 * situations that a peer cannot bring about; only a victim of this program accepts those.
 */
bool o2_victim_does(struct o2_hostile *h, enum o2_victim_act act, uint64_t value, enum o2_reg_mode mode);
/*
 * Make the victim send PUT_REQ, GET_REQ or PUT_ACK, of O2_VICTIM_BYTES in this mode, and wait for the answer
 * to *cookie.
 */
bool o2_victim_awaits(struct o2_hostile *h, enum o2_msg_type said, enum o2_reg_mode mode, uint64_t *cookie);
void o2_hostile_clock(struct o2_hostile *h, uint64_t ms);
/* Advance the time until everything that waits must have timed out. */
void o2_hostile_wait_out(struct o2_hostile *h);
/* Has the victim's last operation ended with that status?  Also true where that cannot be observed. */
bool o2_victim_ended(struct o2_hostile *h, int status);
/* Has the victim's application received this many IMMEDIATEs?  Also true where that cannot be observed. */
bool o2_victim_received(struct o2_hostile *h, uint32_t count);

/* The cookie of the victim's first request that is still queued. */
bool o2_victim_queued(struct o2_hostile *h, uint64_t *cookie);
/*
 * Address, and the region's key, of the victim's receive buffers (O2_ACT_SLOTS) or of its source memory in mode
 * global (O2_ACT_SOURCE).
 */
bool o2_victim_place(struct o2_hostile *h, enum o2_victim_act act, uint64_t *address, uint32_t *key);

#endif
