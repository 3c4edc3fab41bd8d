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
	 * O2_LIAR_BYTES: receives, then sends, O2_MSG_BYTES each; then memory to be written to, which nobody reads.
	 * Mapped (o2_liar_map), because pages that a case does not touch cost nothing then.
	 */
	uint8_t *slots;
	bool lent; /* slots are another's, who gets them back as if they were new */
	uint32_t received, next_send;
	struct o2_msg begun;
	struct o2_msg heard[8]; /* by type, from NOOP on */
	uint32_t nheard[8];
	uint32_t sends_open; /* posted, and not known to be complete */
	uint32_t errors;     /* completions that failed */

	/* Who it says it is, whom it speaks to, and what its requests ask for. */
	uint64_t nid, stamp, victim_nid, victim_stamp;
	uint32_t portal;
	uint64_t match_bits;

	/* Its part in the connection manager, where there is one (props/hostile/hostile_liar_cm.c). */
	struct o2_cm *cm;
	struct o2_cm_id *id;
	uint16_t port; /* that it asks its victim at */
	bool privileged_port;
	uint16_t max_frags; /* that it asks for */
	struct o2_liar_spoil spoil;
	bool waits; /* it has asked, and was not answered yet */
	bool established, rejected, gone;
	uint32_t reason; /* of the connection manager, for a reject */
	struct o2_reject reject;
	int failed; /* negative errno: the connection manager could not ask */
};

/* What lies below the scripts. */
struct o2_hostile_world {
	/*
	 * The victim takes no orders: what its application is told cannot be seen, and it cannot be made to
	 * start a GET.
	 */
	bool outside;
	/*
	 * Give the victim an order; *answer says how that went.  False: this victim does not take the order.
	 */
	bool (*order)(struct o2_hostile *h, const struct o2_victim_order *order,
		      struct o2_victim_answer *answer);
	/* Let everything happen that can. */
	void (*settle)(struct o2_hostile *h);
};

struct o2_hostile {
	const struct o2_hostile_world *world;
	struct o2_place place[O2_HOSTILE_NIS]; /* those of this process */
	struct o2_victim victim;	       /* if it is in this process */
	struct o2_friend friend;	       /* the honest peer */
	struct o2_liar liar;
	uint8_t *liar_slots;	  /* lent to one liar after another; NULL: it has its own */
	uint64_t tries;		  /* of the honest peer */
	bool endless;		  /* something did not come to rest */
	uint32_t patience_ms;	  /* after which the victim has given up; 0: after ours */
	enum o2_msg_type awaited; /* what the liar wants to hear; 0: nothing */
	uint64_t now_ms;	  /* the time that its orders have made */
	const char *untold;	  /* an order that could not be given: what it would need; NULL: none */
};

/* The world's order for a victim that is in this process. */
bool o2_hostile_order_here(struct o2_hostile *h, const struct o2_victim_order *order,
			   struct o2_victim_answer *answer);
/* The world's settle where all ends are: until none of several rounds of progress has found anything. */
void o2_hostile_settle_here(struct o2_hostile *h, int (*progress)(struct o2_hostile *h));

/* The interfaces and the honest connection, on loop devices and without a connection manager; 0 or -errno. */
int o2_hostile_open(struct o2_hostile *h);
/* A fresh victim, and a liar at the other end of it; until they part. */
int o2_hostile_meet(struct o2_hostile *h, const struct o2_conn_config *config);
void o2_hostile_part(struct o2_hostile *h);
/* Close whatever is open of it; *h is all zero afterwards. */
void o2_hostile_close(struct o2_hostile *h);

/* props/hostile/hostile_meet.c: nodes over the in-process connection manager, for requests and replies. */
bool o2_hostile_try_meeting(const struct o2_misbehaviour *what, struct o2_hostile_heard *heard, char *why);

/* --- props/hostile/hostile_heard.c: what the judge of the wire makes of it --- */

/* Listen, where all are in this process; terms: of the liar's connection, NULL where a connection manager makes
 * it, and loop is that.  NULL: nobody asks (heard is NULL), or no memory. */
struct o2_witness *o2_hostile_listen(struct o2_hostile *h, struct o2_cm_loop *loop,
				     const struct o2_conn_peer *liar, struct o2_hostile_heard *heard);
/* All is over: what is left open is judged as well. */
void o2_hostile_listened(struct o2_witness *witness);

/* --- props/hostile/hostile_judge.c: the same everywhere --- */

/* The order, with its answer's values.  False: it could not be given, or its status is not 0. */
bool o2_hostile_order(struct o2_hostile *h, enum o2_victim_act act, uint64_t value, enum o2_reg_mode mode,
		      struct o2_victim_answer *answer);
/* Let the liar do it, and judge what came of it and what it has left. */
bool o2_hostile_judge(struct o2_hostile *h, const struct o2_misbehaviour *what, char *why);
/* What holds whatever a liar did; ends its connection.  Otherwise *why says what does not. */
bool o2_hostile_harmless(struct o2_hostile *h, char *why);

/* --- the liar --- */

static inline uint64_t o2_liar_memory(const struct o2_liar *liar)
{
	return (uintptr_t)liar->slots + (uint64_t)(O2_LIAR_RECVS + O2_LIAR_SENDS) * O2_MSG_BYTES;
}

/* NULL when there is no memory; back with munmap. */
uint8_t *o2_liar_map(void);
/* A queue pair on ni in INIT, with receives posted, in slots that are lent or its own; 0 or -errno. */
int o2_liar_open(struct o2_liar *liar, const struct o2_ni *ni);
/* Forgets everything except what is set anew for each victim: names, connection manager. */
void o2_liar_close(struct o2_liar *liar);
/* Do that to a message of so many bytes; how long it is then. */
uint32_t o2_liar_spoil(const struct o2_liar_spoil *spoil, uint8_t *bytes, uint32_t length_bytes);
/* Completions of the liar that are there; how many. */
int o2_liar_progress(struct o2_liar *liar);
/* Tell who listens to its interface; a connection's name is its queue pair. */
void o2_liar_tell(const struct o2_liar *liar, enum o2_watched_kind kind, bool ours, const uint8_t *bytes,
		  size_t length_bytes);
/* Take its queue pair to ERROR: it acknowledges nothing any more. */
void o2_liar_fail(struct o2_liar *liar);

/* Be told of what happens in the connection manager; and be asked there: 0 or -errno. */
void o2_liar_hear(struct o2_liar *liar, struct o2_cm *cm);
int o2_liar_listen(struct o2_liar *liar, struct o2_cm *cm, struct o2_error *error);
/* A request for a connection, spoiled as liar->spoil says; events follow.  0 or -errno. */
int o2_liar_request(struct o2_liar *liar);
/* Free its id of the connection manager. */
void o2_liar_part(struct o2_liar *liar);

/* Where all are on loop devices: one of the interfaces, and who the liar says it is. */
struct o2_ni_config o2_hostile_ni_config(enum o2_hostile_ni which);
extern const struct o2_liar o2_liar_of_loop;

#endif
