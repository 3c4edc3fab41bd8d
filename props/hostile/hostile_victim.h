/* SPDX-License-Identifier: MIT */
#ifndef O2_PROPS_HOSTILE_VICTIM_H
#define O2_PROPS_HOSTILE_VICTIM_H

#include <stdbool.h>
#include <stdint.h>

#include "lnd/cm/cm.h"
#include "lnd/conn/conn.h"
#include "lnd/ni/ni.h"
#include "lnd/node/node.h"
#include "props/world/shadow.h"

/*
 * The victim of a liar, and the honest peer that it is also connected to.  The victim follows orders, which
 * come from the same process or from another (docs/hostile.md, "A victim of its own process").
 */

#define O2_HOSTILE_PAGES 16u
/* ACK timeout of nodes and liar: a guest on a busy host must not take its own slowness for a lost packet. */
#define O2_HOSTILE_ACK_TIMEOUT 16u
/* The PUTs with which it is checked that a victim still serves the honest peer: short, as each case makes one. */
#define O2_CHECKED_BYTES 4600u

/* From the start of the memory of one purpose to that of the next. */
#define O2_HOSTILE_ROOM_BYTES (4u * 4096u)

/*
 * Positions of memory in an arena, in bytes from its start.  The whole arena is compared when a liar is done, so it
 * is not much larger than its contents; a liar writes at most 16,096 bytes past the start of its memory.
 */
#define O2_SERVED_AT 99u /* memory that the liar's requests get */
#define O2_GET_AT    (O2_HOSTILE_ROOM_BYTES + 99u)
#define O2_PUT_AT    (2 * O2_HOSTILE_ROOM_BYTES + 99u)
#define O2_HONEST_AT (3 * O2_HOSTILE_ROOM_BYTES + 99u)

/* Callbacks that one end of a connection received. */
struct o2_hostile_end {
	struct o2_conn *conn;		 /* NULL: no connection (any more) */
	struct o2_transfer_memory serve; /* memory that the match callback returns */
	struct o2_kiov kiov[3][O2_MAX_FRAGS];
	uint64_t described_bytes[2]; /* as a sink of the peer's PUTs (of `serve`), and of our GETs */
	uint32_t started, matched, done, received, closed;
	struct o2_transfer_result last;
	struct o2_transfer_fault fault;		    /* fault of the close */
	uint32_t puts_well, gets_well, served_well; /* operations that succeeded: its own, and the peer's */
};

struct o2_victim {
	struct o2_ni *ni;
	struct o2_hostile_end liar;   /* the connection with the liar */
	struct o2_hostile_end honest; /* the connection with the honest peer */
	struct o2_node *node;	      /* NULL: connected without a connection manager */
	uint64_t liar_nid;
	struct o2_shadow shadow; /* the expected contents of its arena */
};

/* The honest peer: connected directly, or a node. */
struct o2_friend {
	struct o2_ni *ni;
	struct o2_hostile_end end;
	struct o2_node *node;
};

enum o2_victim_act {
	O2_ACT_MEET,  /* start again, with no state of an earlier liar */
	O2_ACT_PUT,   /* PUT value bytes from memory in this mode to the liar */
	O2_ACT_GET,   /* GET value bytes into memory in this mode */
	O2_ACT_SEND,  /* send an IMMEDIATE; a node without a connection requests one */
	O2_ACT_SERVE, /* serve value bytes of memory in this mode to the liar's requests */
	O2_ACT_CLOCK, /* value ms pass */
	O2_ACT_LOOK,  /* do nothing but report */
	O2_ACT_CHECKSUMS,
	O2_ACT_FRAGMENTS, /* value: the limit of fragments per transfer */
	O2_ACT_HOLD,
	O2_ACT_RELEASE,
	O2_ACT_QUEUED, /* answer: a cookie */
	O2_ACT_SLOTS,  /* answer: address and key */
	O2_ACT_SOURCE, /* answer: address and key */
	O2_ACT_END,    /* end the connection; value: the salt of the honest peer's PUT */
	O2_VICTIM_ACTS,
};

struct o2_victim_order {
	enum o2_victim_act act;
	uint64_t value;
	enum o2_reg_mode mode;
};

/* The state of the victim after an order. */
struct o2_victim_report {
	bool open;
	int code; /* code with which the last connection with the liar closed */
	enum o2_fault_side side;
	char rule[64]; /* "-": none */
	uint32_t started, matched, done, received, closed;
	int status; /* status of the last operation */
};

#define O2_VICTIM_WHY_BYTES 200u

struct o2_victim_answer {
	int status; /* 0 or -errno */
	uint64_t value[2];
	struct o2_victim_report report;
	char why[O2_VICTIM_WHY_BYTES]; /* END: what does not hold; empty: everything holds */
};

/* The name of an act ("put", "get" ...), and the reverse: O2_VICTIM_ACTS for an unknown name. */
const char *o2_victim_act_name(enum o2_victim_act act);
enum o2_victim_act o2_victim_act_find(const char *name);

/* Create a victim on an interface with an arena of O2_HOSTILE_PAGES; the interface outlives it.  0 or -ENOMEM. */
int o2_victim_open(struct o2_victim *victim, struct o2_ni *ni);
void o2_victim_close(struct o2_victim *victim);
/* Start a node for the victim; cm outlives the node, but its handler does not.  0 or -errno. */
int o2_victim_start_node(struct o2_victim *victim, struct o2_cm *cm, uint64_t liar_nid,
			 struct o2_error *error);

void o2_victim_obey(struct o2_victim *victim, const struct o2_victim_order *order,
		    struct o2_victim_answer *answer);

/* The callbacks of a connection's owner; their context is a struct o2_hostile_end. */
extern const struct o2_conn_ops o2_hostile_end_ops;

/* Describe `nob` bytes of the arena from `at` on, page by page, in end->kiov[which]. */
struct o2_transfer_memory o2_hostile_memory(struct o2_hostile_end *end, int which, uint32_t at, uint64_t nob,
					    enum o2_reg_mode mode);
/* The bytes that the honest peer PUTs: a different pattern for each salt. */
void o2_honest_fill(uint8_t *bytes, size_t length_bytes, uint64_t salt);

/* Start an honest node that sends requests and does not listen; 0 or -errno. */
int o2_friend_start_node(struct o2_friend *honest, struct o2_ni *ni, struct o2_cm *cm,
			 struct o2_error *error);
/* Start a PUT of O2_CHECKED_BYTES to that NID; honest->end records its result. */
bool o2_friend_put(struct o2_friend *honest, uint64_t nid, uint64_t salt);

#endif
