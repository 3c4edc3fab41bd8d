/* SPDX-License-Identifier: MIT */
#ifndef O2_PROPS_NODES_INTERNAL_H
#define O2_PROPS_NODES_INTERNAL_H

#include "lnd/cm_loop.h"
#include "lnd/node.h"
#include "props/nodes.h"
#include "props/report.h"

#define O2_NODES_MAX   3u
#define O2_NODES_OPS   16u  /* of each node */
#define O2_NODES_STEPS 400u /* of a case */

/* What an operation does. */
enum o2_nodes_kind {
	O2_NODES_PUT,
	O2_NODES_GET,
	O2_NODES_IMMEDIATE,
	O2_NODES_REFUSED, /* an IMMEDIATE whose header the receiver does not accept */
	O2_NODES_KINDS,
};

struct o2_nodes_op {
	enum o2_nodes_kind kind;
	uint32_t to;
	uint32_t bytes;
	struct o2_kiov kiov, kiov_there;
	bool started, matched;
	uint32_t ended, ended_there; /* how often */
	int status;
};

/* What a node knows of another one, as its application would. */
struct o2_nodes_pair {
	uint32_t told; /* rejects that told a limit and were followed by another attempt, in one acquaintance
			*/
	bool was_up;
};

struct o2_nodes_seat {
	struct o2_nodes *nodes;
	uint32_t index;
	struct o2_ni ni;
	bool open;
	struct o2_cm *cm;
	struct o2_node *node;
	struct o2_node_config config;
	/* The node's own handler; events pass through ours. */
	void (*handler)(void *context, const struct o2_cm_event *event);
	void *handler_context;
	struct o2_nodes_op op[O2_NODES_OPS];
	uint32_t nops;
	struct o2_nodes_pair pair[O2_NODES_MAX];
};

struct o2_nodes {
	struct o2_nodes_run *run;
	struct o2_choice *choice;
	struct o2_report *report;
	struct o2_cm_loop *loop;
	struct o2_nodes_seat seat[O2_NODES_MAX];
	uint32_t nseats;
	uint64_t now_ms;
	bool faults; /* the network may fail */
};

static inline void o2_nodes_seen(struct o2_nodes *nodes, enum o2_nodes_situation what)
{
	nodes->run->tally.seen[what]++;
}

static inline uint64_t o2_nodes_nid(uint32_t i)
{
	return 0x00050000c0a80a01ull + i;
}

/* nodes_op.c: operations, their memory, and what a node asks and tells. */
extern const struct o2_node_ops o2_nodes_ops;
void o2_nodes_start(struct o2_nodes *nodes, struct o2_nodes_seat *seat, uint32_t to);
bool o2_nodes_all_ended(const struct o2_nodes *nodes);
void o2_nodes_check_ended(struct o2_nodes *nodes);

/* nodes_terms.c: what connections have agreed upon, and rejects. */
void o2_nodes_watch(struct o2_nodes_seat *seat);
void o2_nodes_check_up(struct o2_nodes_seat *seat, uint64_t nid);
void o2_nodes_check_ends(struct o2_nodes *nodes);
void o2_nodes_forget(struct o2_nodes *nodes);

/* nodes_world.c: makes, restarts, settles and ends them. */
void o2_nodes_open(struct o2_nodes *nodes);
void o2_nodes_restart(struct o2_nodes_seat *seat);
void o2_nodes_clock(struct o2_nodes *nodes, uint64_t ms);
void o2_nodes_settle(struct o2_nodes *nodes);
void o2_nodes_close(struct o2_nodes *nodes);

#endif
