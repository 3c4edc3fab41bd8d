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
 * The victim of a liar, and the honest peer that it also has.  The victim does what orders say: the one who
 * gives them may be in the same process or in another (docs/hostile.md, "A victim of its own process").
 */

#define O2_HOSTILE_PAGES 32u
/* Of nodes and of the liar: a guest on a busy host must not take its own slowness for a lost packet. */
#define O2_HOSTILE_ACK_TIMEOUT 16u
#define O2_HONEST_BYTES	       9000u

/*
 * Where memory stands in an arena: bytes from its start.  All of the arena is looked at when a liar is done, so
 * it is not much larger than what it holds; a liar writes at most 16,096 bytes behind where it may begin.
 */
#define O2_SERVED_AT 99u /* what the liar is given */
#define O2_GET_AT    (8u * 4096u + 99u)
#define O2_PUT_AT    (16u * 4096u + 99u)
#define O2_HONEST_AT (24u * 4096u + 99u)

/* What one end of a connection was told. */
struct o2_hostile_end {
	struct o2_conn *conn;		 /* NULL: none, or none any more */
	struct o2_transfer_memory serve; /* what match gives */
	struct o2_kiov kiov[3][O2_MAX_FRAGS];
	uint32_t started, matched, done, received, closed;
	struct o2_transfer_result last;
	struct o2_transfer_fault fault;		    /* that it closed with */
	uint32_t puts_well, gets_well, served_well; /* that succeeded: its own, and the peer's */
};

struct o2_victim {
	struct o2_ni *ni;
	struct o2_hostile_end liar;   /* what it knows of the liar */
	struct o2_hostile_end honest; /* and of the honest peer */
	struct o2_node *node;	      /* NULL: connected without a connection manager */
	uint64_t liar_nid;
	struct o2_shadow shadow;     /* its arena, as it has to be */
	uint64_t described_bytes[2]; /* to the liar: served, and as the sink of a GET */
};

/* The honest peer: connected directly, or a node. */
struct o2_friend {
	struct o2_ni *ni;
	struct o2_hostile_end end;
	struct o2_node *node;
};

enum o2_victim_act {
	O2_ACT_MEET,  /* start anew, without anything of an earlier liar */
	O2_ACT_PUT,   /* value bytes from memory in this mode, to the liar */
	O2_ACT_GET,   /* value bytes into memory in this mode */
	O2_ACT_SEND,  /* an IMMEDIATE; a node that has no connection asks for one */
	O2_ACT_SERVE, /* value bytes of memory in this mode are what the liar's requests get */
	O2_ACT_CLOCK, /* value ms go by */
	O2_ACT_LOOK,  /* nothing */
	O2_ACT_CHECKSUMS,
	O2_ACT_FRAGMENTS, /* value: the most that it plans for */
	O2_ACT_HOLD,
	O2_ACT_RELEASE,
	O2_ACT_QUEUED, /* answers a cookie */
	O2_ACT_SLOTS,  /* answers address and key */
	O2_ACT_SOURCE, /* answers address and key */
	O2_ACT_END,    /* the connection ends; value: the salt of what the honest peer has PUT */
	O2_VICTIM_ACTS,
};

struct o2_victim_order {
	enum o2_victim_act act;
	uint64_t value;
	enum o2_reg_mode mode;
};

/* The state of the victim, as it is at the end of an order. */
struct o2_victim_report {
	bool open;
	int code; /* that the last connection with the liar closed with */
	enum o2_fault_side side;
	char rule[64]; /* "-": none */
	uint32_t started, matched, done, received, closed;
	int status; /* of the last operation */
};

#define O2_VICTIM_WHY_BYTES 200u

struct o2_victim_answer {
	int status; /* 0 or -errno */
	uint64_t value[2];
	struct o2_victim_report report;
	char why[O2_VICTIM_WHY_BYTES]; /* END: what does not hold; empty: it all does */
};

/* "put", "get" ...; and back: O2_VICTIM_ACTS when there is none of that name. */
const char *o2_victim_act_name(enum o2_victim_act act);
enum o2_victim_act o2_victim_act_find(const char *name);

/* On an interface with an arena of O2_HOSTILE_PAGES, which outlives it; 0 or -ENOMEM. */
int o2_victim_open(struct o2_victim *victim, struct o2_ni *ni);
void o2_victim_close(struct o2_victim *victim);
/* A node in which the victim is; cm outlives it, but not its handler.  0 or -errno. */
int o2_victim_start_node(struct o2_victim *victim, struct o2_cm *cm, uint64_t liar_nid,
			 struct o2_error *error);

void o2_victim_obey(struct o2_victim *victim, const struct o2_victim_order *order,
		    struct o2_victim_answer *answer);

/* What the functions of a connection's owner do, with an end as context. */
extern const struct o2_conn_ops o2_hostile_end_ops;

/* `nob` bytes from `at` on, page by page. */
struct o2_transfer_memory o2_hostile_memory(struct o2_hostile_end *end, int which, uint32_t at, uint64_t nob,
					    enum o2_reg_mode mode);
/* What the honest peer PUTs: another pattern for each salt. */
void o2_honest_fill(uint8_t *bytes, size_t length_bytes, uint64_t salt);

/* An honest node that asks and does not listen; 0 or -errno. */
int o2_friend_start_node(struct o2_friend *honest, struct o2_ni *ni, struct o2_cm *cm,
			 struct o2_error *error);
/* It starts a PUT of O2_HONEST_BYTES to that NID; its end says how that ends. */
bool o2_friend_put(struct o2_friend *honest, uint64_t nid, uint64_t salt);

#endif
