/* SPDX-License-Identifier: MIT */
#ifndef O2_PROPS_NODES_INTERNAL_H
#define O2_PROPS_NODES_INTERNAL_H

#include "lnd/node/node.h"
#include "props/engine/report.h"
#include "props/talk/nodes.h"
#include "props/world/account.h"
#include "props/world/memory.h"
#include "props/world/place.h"

#define O2_NODES_MAX	    3u
#define O2_NODES_OPS	    16u /* of each node, while steps are drawn */
#define O2_NODES_LATE	    8u	/* of each node after that */
#define O2_NODES_SLOTS	    (O2_NODES_OPS + O2_NODES_LATE)
#define O2_NODES_STEPS	    400u /* of a case */
#define O2_NODES_POOL	    2u	 /* elements of a registration pool */
#define O2_NODES_SLOT_PAGES 3u	 /* of one side of an operation */

/* What an operation does. */
enum o2_nodes_kind {
	O2_NODES_PUT,
	O2_NODES_GET,
	O2_NODES_IMMEDIATE,
	O2_NODES_REFUSED, /* an IMMEDIATE whose header the receiver does not accept */
	O2_NODES_KINDS,
};

/* What the other end makes of a PUT or a GET. */
enum o2_nodes_verdict {
	O2_NODES_TAKE,
	O2_NODES_LESS, /* takes or has less than is asked for */
	O2_NODES_NO_MATCH,
	O2_NODES_DENY, /* answers with an errno */
	O2_NODES_VERDICTS,
};

struct o2_nodes_op {
	enum o2_nodes_kind kind;
	enum o2_nodes_verdict verdict;
	uint32_t to;
	uint32_t bytes;
	uint32_t wanted; /* by the other end */
	bool as_bytes;	 /* IMMEDIATE: handed over as plain bytes */
	struct o2_op_memory ours, theirs;
	uint32_t max_frags; /* the fewest that an end of it could do meanwhile */
	bool started, arrived, accepted;
	uint32_t ended, ended_there; /* how often */
	int status, status_there;
	uint64_t started_ms;
	uint64_t nob; /* that came to the sink */
};

/* What a node knows of another one, as its application would. */
struct o2_nodes_pair {
	/* Rejects that told a limit and were followed by another attempt, in one acquaintance; and the other
	 * lives of that node meanwhile. */
	uint32_t told, lives;
	bool was_up;
	/* The least that the other node could do since this one has known it. */
	uint32_t least_version, least_depth, least_frags;
};

struct o2_nodes_seat {
	struct o2_nodes *nodes;
	uint32_t index;
	uint32_t address;
	struct o2_place place;
	bool no_descriptors; /* the device makes none */
	struct o2_cm *cm;
	struct o2_node *node;
	struct o2_node_config config;
	/* The node's own handler; events pass through ours. */
	void (*handler)(void *context, const struct o2_cm_event *event);
	void *handler_context;
	struct o2_nodes_op op[O2_NODES_SLOTS];
	uint32_t nops;
	struct o2_nodes_pair pair[O2_NODES_MAX];
	struct o2_transfer_fault fault; /* why the last connection ended, or could not be made */
};

struct o2_nodes {
	struct o2_nodes_run *run;
	struct o2_choice *choice;
	struct o2_report *report;
	struct o2_ground ground;
	struct o2_nodes_seat seat[O2_NODES_MAX];
	uint32_t nseats;
};

static inline void o2_nodes_seen(struct o2_nodes *nodes, enum o2_nodes_situation what)
{
	nodes->run->tally.seen[what]++;
}

static inline uint64_t o2_nodes_nid(const struct o2_nodes *nodes, uint32_t i)
{
	return 0x0005000000000000ull | nodes->seat[i].address;
}

/* The node with this NID; nseats: none. */
static inline uint32_t o2_nodes_index(const struct o2_nodes *nodes, uint64_t nid)
{
	uint32_t i = 0;

	while (i < nodes->nseats && o2_nodes_nid(nodes, i) != nid)
		i++;
	return i;
}

/* nodes_memory.c: slots of pages. */
void o2_nodes_memory_draw(struct o2_choice *c, struct o2_nodes_seat *seat, uint32_t first_page,
			  uint32_t bytes, struct o2_op_memory *m);
/* One piece at the start of its page, which every connection can describe. */
void o2_nodes_memory_plain(struct o2_nodes_seat *seat, uint32_t first_page, uint32_t bytes,
			   enum o2_reg_mode mode, struct o2_op_memory *m);

/* nodes_op.c: operations are drawn and started. */
void o2_nodes_start(struct o2_nodes *nodes, struct o2_nodes_seat *seat, uint32_t to);
/*
 * A PUT that nothing speaks against, with this mode at both ends.  Returns what the node says, 0 or -errno.
 */
int o2_nodes_start_plain(struct o2_nodes *nodes, struct o2_nodes_seat *seat, uint32_t to,
			 enum o2_reg_mode mode);
bool o2_nodes_all_ended(const struct o2_nodes *nodes);
/* What the two ends must see of an operation that no connection fails. */
int o2_nodes_foretell(const struct o2_nodes_op *op, uint64_t *nob);

/* nodes_judge.c: what a node is asked and told. */
extern const struct o2_node_ops o2_nodes_ops;
void o2_nodes_check_ended(struct o2_nodes *nodes);

/* nodes_terms.c: what connections have agreed upon, and rejects. */
void o2_nodes_watch(struct o2_nodes_seat *seat);
void o2_nodes_check_up(struct o2_nodes_seat *seat, uint64_t nid);
void o2_nodes_check_ends(struct o2_nodes *nodes);
void o2_nodes_forget(struct o2_nodes *nodes);
/* The fewest fragments that a connection between the two may have agreed upon. */
uint32_t o2_nodes_least_frags(const struct o2_nodes_seat *a, const struct o2_nodes_seat *b);
/* The others may know of this node's new settings, and of those before. */
void o2_nodes_reconfigured(struct o2_nodes_seat *seat);

/* nodes_flow.c: the account of credits of each connection. */
void o2_nodes_check_flow(struct o2_nodes *nodes);
/* Is it that of connections at rest?  account: what is not. */
bool o2_nodes_flow_rests(const struct o2_nodes *nodes, struct o2_account *account);

/* nodes_config.c: settings. */
void o2_nodes_draw_config(const struct o2_nodes *nodes, struct o2_node_config *config);

/* nodes_idle.c: what time does to the pools of nodes that are at rest. */
extern const struct o2_reg_ops o2_nodes_reg_ops; /* of every interface */
void o2_nodes_check_idle_pools(struct o2_nodes *nodes);
void o2_nodes_check_growth(struct o2_nodes *nodes);

/* nodes_world.c: makes, restarts, settles and ends them. */
void o2_nodes_open(struct o2_nodes *nodes);
void o2_nodes_restart(struct o2_nodes_seat *seat);
void o2_nodes_kill(struct o2_nodes_seat *seat, uint32_t to);
void o2_nodes_clock(struct o2_nodes *nodes, uint64_t ms);
/* So much time, in steps, and what happens in it. */
void o2_nodes_let_pass(struct o2_nodes *nodes, uint64_t ms);
void o2_nodes_settle(struct o2_nodes *nodes);
void o2_nodes_close(struct o2_nodes *nodes);

#endif
