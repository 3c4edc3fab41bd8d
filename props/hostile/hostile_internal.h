/* SPDX-License-Identifier: MIT */
#ifndef O2_PROPS_HOSTILE_INTERNAL_H
#define O2_PROPS_HOSTILE_INTERNAL_H

#include "lnd/cm/cm.h"
#include "lnd/conn/conn_internal.h"
#include "lnd/ni/watch.h"
#include "lnd/node/node.h"
#include "props/hostile/hostile.h"
#include "props/hostile/hostile_victim.h"
#include "props/world/place.h"

/* The worlds in which a liar meets its victim (docs/hostile.md, "Where the victim is"). */

#define O2_LIAR_NID	UINT64_C(0x00050000c0a80a02)
#define O2_VICTIM_NID	UINT64_C(0x00050000c0a80a01)
#define O2_FRIEND_NID	UINT64_C(0x00050000c0a80a03)
#define O2_LIAR_STAMP	UINT64_C(0x0006000033334444)
#define O2_VICTIM_STAMP UINT64_C(0x0006000011112222)
#define O2_FRIEND_STAMP UINT64_C(0x0006000055556666)

enum o2_hostile_ni {
	O2_NI_VICTIM,
	O2_NI_LIAR,
	O2_NI_FRIEND,
	O2_HOSTILE_NIS,
};

#define O2_LIAR_RECVS 64u
#define O2_LIAR_SENDS 64u

#define O2_LIAR_MEMORY_BYTES (1u << 20)
#define O2_LIAR_BYTES	     ((size_t)(O2_LIAR_RECVS + O2_LIAR_SENDS) * O2_MSG_BYTES + O2_LIAR_MEMORY_BYTES)

/* The liar: a queue pair without a protocol. */
struct o2_liar {
	const struct o2_ni *ni;
	struct ibv_cq *cq;
	struct ibv_qp *qp;
	struct ibv_mr *mr;
	/*
	 * O2_LIAR_BYTES: receive slots, then send slots, O2_MSG_BYTES each; then memory to be written to,
	 * which nobody reads.  Mapped (o2_liar_map), so that pages that a case does not touch cost nothing.
	 */
	uint8_t *slots;
	bool lent; /* slots belong to another owner, who gets them back zeroed */
	uint32_t received, next_send;
	uint32_t nheard[8];  /* by type, from NOOP on */
	uint32_t sends_open; /* sends posted and not yet completed */
	uint32_t errors;     /* failed completions */

	/* Its state in the connection manager, if there is one (props/hostile/hostile_liar_cm.c). */
	struct o2_cm_id *id;
	struct o2_liar_spoil spoil;
	bool waits; /* its request is not yet answered */
	bool established, rejected, gone;
	uint32_t reason; /* the connection manager's reason for a reject */
	struct o2_reject reject;
	int failed; /* negative errno: the connection manager could not send the request */

	/* What stays when it is closed: the identity that it claims, the victim's, and the target of its requests. */
	uint64_t nid, stamp, victim_nid, victim_stamp;
	uint32_t portal;
	uint64_t match_bits;
	struct o2_cm *cm;
	uint16_t port; /* port of its connection requests */
	bool privileged_port;
	uint16_t max_frags; /* fragments that it requests */

	/* Large, so they are neither cleared nor copied: nheard tells which of heard are messages. */
	struct o2_msg begun;
	struct o2_msg heard[8];
};

/* The layer below the scripts. */
struct o2_hostile_world {
	/*
	 * The victim accepts no orders: what its application receives cannot be seen, and it cannot be made
	 * to start a GET.
	 */
	bool outside;
	/* Give the victim an order; *answer is the result.  False: this victim does not accept the order. */
	bool (*order)(struct o2_hostile *h, const struct o2_victim_order *order,
		      struct o2_victim_answer *answer);
	/* Handle events until nothing more happens. */
	void (*settle)(struct o2_hostile *h);
};

struct o2_hostile {
	const struct o2_hostile_world *world;
	struct o2_place place[O2_HOSTILE_NIS]; /* the interfaces in this process */
	struct o2_victim victim;	       /* used if the victim is in this process */
	struct o2_friend friend;	       /* the honest peer */
	struct o2_liar liar;
	uint8_t *liar_slots;	  /* memory lent to one liar after another; NULL: the liar has its own */
	uint64_t tries;		  /* counts PUTs of the honest peer, and GETs of the liar */
	bool endless;		  /* the events did not end */
	uint32_t patience_ms;	  /* time after which the victim has timed out; 0: PATIENCE_MS */
	enum o2_msg_type awaited; /* message type that the liar waits for; 0: none */
	uint64_t now_ms;	  /* the time, advanced by the orders */
	const char *untold;	  /* what an order would need that could not be given; NULL: none */
};

/* The order function of a world whose victim is in this process. */
bool o2_hostile_order_here(struct o2_hostile *h, const struct o2_victim_order *order,
			   struct o2_victim_answer *answer);
/* The settle function of a world with all ends in this process: until several rounds of progress find nothing. */
void o2_hostile_settle_here(struct o2_hostile *h, int (*progress)(struct o2_hostile *h));

/* Open the interfaces and the honest connection, on loop devices and without a connection manager; 0 or -errno. */
int o2_hostile_open(struct o2_hostile *h);
/* Connect a fresh victim and a liar, until o2_hostile_part. */
int o2_hostile_meet(struct o2_hostile *h, const struct o2_conn_config *config);
void o2_hostile_part(struct o2_hostile *h);
/* Close whatever is open; *h is all zero afterwards. */
void o2_hostile_close(struct o2_hostile *h);

/* props/hostile/hostile_meet.c: with nodes over the in-process connection manager, for requests and replies. */
bool o2_hostile_try_meeting(const struct o2_misbehaviour *what, struct o2_hostile_heard *heard, char *why);

/* --- props/hostile/hostile_heard.c: the judge of the wire --- */

/* Let a judge listen, if all ends are in this process.  liar: terms of the liar's connection; NULL if the
 * connection manager loop makes it.  Returns NULL if heard is NULL, or without memory. */
struct o2_witness *o2_hostile_listen(struct o2_hostile *h, struct o2_cm_loop *loop,
				     const struct o2_conn_peer *liar, struct o2_hostile_heard *heard);
/* Stop listening; connections that are still open are judged as well. */
void o2_hostile_listened(struct o2_witness *witness);

/* --- props/hostile/hostile_judge.c: for all worlds --- */

/* Give an order and get the answer.  False: it could not be given, or its status is not 0. */
bool o2_hostile_order(struct o2_hostile *h, enum o2_victim_act act, uint64_t value, enum o2_reg_mode mode,
		      struct o2_victim_answer *answer);
/* Let the liar do it, and check the victim's reaction and what is left afterwards. */
bool o2_hostile_judge(struct o2_hostile *h, const struct o2_misbehaviour *what, char *why);
/* Check what must hold whatever a liar did; ends its connection.  False: *why says what does not hold. */
bool o2_hostile_harmless(struct o2_hostile *h, char *why);

/* --- the liar --- */

static inline uint64_t o2_liar_memory(const struct o2_liar *liar)
{
	return (uintptr_t)liar->slots + (uint64_t)(O2_LIAR_RECVS + O2_LIAR_SENDS) * O2_MSG_BYTES;
}

/* Map the liar's memory; NULL: no memory.  Release it with munmap. */
uint8_t *o2_liar_map(void);
/* Create a queue pair on ni, in state INIT with receives posted, in lent slots or its own; 0 or -errno. */
int o2_liar_open(struct o2_liar *liar, const struct o2_ni *ni);
/* Close, and reset all but what is set anew for each victim: names, connection manager. */
void o2_liar_close(struct o2_liar *liar);
/* Apply a change to a message of length_bytes; returns its new length. */
uint32_t o2_liar_spoil(const struct o2_liar_spoil *spoil, uint8_t *bytes, uint32_t length_bytes);
/* Handle the liar's completions that are there; returns their number. */
int o2_liar_progress(struct o2_liar *liar);
/* Tell the watch of its interface; the queue pair is the connection's name. */
void o2_liar_tell(const struct o2_liar *liar, enum o2_watched_kind kind, bool ours, const uint8_t *bytes,
		  size_t length_bytes);
/* Move its queue pair to ERROR: it acknowledges nothing from then on. */
void o2_liar_fail(struct o2_liar *liar);

/* Receive events of the connection manager (hear), and accept requests there (listen): 0 or -errno. */
void o2_liar_hear(struct o2_liar *liar, struct o2_cm *cm);
int o2_liar_listen(struct o2_liar *liar, struct o2_cm *cm, struct o2_error *error);
/* Request a connection, changed as liar->spoil says; events follow.  0 or -errno. */
int o2_liar_request(struct o2_liar *liar);
/* Destroy its connection manager id. */
void o2_liar_part(struct o2_liar *liar);

/* With all ends on loop devices: the configuration of one interface, and the liar's identity. */
struct o2_ni_config o2_hostile_ni_config(enum o2_hostile_ni which);
extern const struct o2_liar o2_liar_of_loop;
/* Begin as that liar, with all but its messages. */
void o2_liar_be(struct o2_liar *liar, const struct o2_liar *as);

#endif
