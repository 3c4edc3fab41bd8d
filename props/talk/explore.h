/* SPDX-License-Identifier: MIT */
#ifndef O2_PROPS_EXPLORE_H
#define O2_PROPS_EXPLORE_H

#include <stdbool.h>
#include <stdint.h>

#include "lnd/conn/conn.h"
#include "lnd/conn/transfer.h"
#include "props/engine/report.h"
#include "reg/plan.h"

/*
 * Exhaustive search: visits every state that two ends can reach with a few operations, by handling one event
 * after another (docs/simulation.md, "Every order").  Each state is checked as the simulation checks its states.
 */

#define O2_EXPLORE_OPS	   8u
#define O2_EXPLORE_PATH	   1024u /* most events of a path */
#define O2_EXPLORE_MAX_NOB 4000u

struct o2_explore_op {
	uint32_t end; /* 0 or 1: the end that starts it; each end starts its own operations in list order */
	enum o2_transfer_op op;
};

struct o2_explore_config {
	struct o2_conn_config conn;
	struct o2_explore_op op[O2_EXPLORE_OPS];
	uint32_t nops;
	enum o2_reg_mode mode; /* registration mode of all memory */
	uint32_t nob;	       /* bytes of each PUT and GET */
	/*
	 * Each work request that the device executes is an event of its own, in any order with all others.  If
	 * false, the device executes each at once: that commutes with everything else that can happen.
	 */
	bool device;
	bool at_once; /* all operations are started before the first event: fewer states, more traffic */
	/*
	 * Check that the state hash leaves nothing out: states with equal hashes must have equal successors.  From
	 * each state, take one event more by each path that the search has found to it, and compare the results.
	 */
	bool verify;
	uint32_t most_events; /* longest path to follow; 0: no limit */
	uint32_t most_states; /* the search stops there, incomplete; 0: no limit */
};

struct o2_explore_result {
	uint64_t states;
	uint64_t at_rest;  /* of them, those in which the device has nothing to execute */
	uint64_t edges;	   /* events tried, summed over all states */
	uint64_t finished; /* states in which no further event is possible */
	uint32_t longest;  /* the greatest number of events on the first path found to a state */
	bool all;	   /* the search is complete: no other states exist */
	uint64_t verified; /* events tried again from a state that was reached by another path */
	uint64_t rest_sum; /* sum of the hashes of the states at rest: equal sets give equal sums */
	char path[O2_EXPLORE_PATH + 1]; /* a shortest way to a failure; see o2_explore_replay */
};

/*
 * Run the search.  Returns 0; 1: *report says what failed and result->path is the path to it; -ENOMEM.
 */
int o2_explore(const struct o2_explore_config *config, struct o2_explore_result *result,
	       struct o2_report *report);

/*
 * Follow one path and print what happens.  s, S: end 0 or 1 starts its next operation; r, R: the end handles the
 * oldest message that has arrived; c, C: it handles the oldest completion of its own requests; x, X: the device
 * executes its next work request.  Returns 0; 1: *report says what failed; -EINVAL: an event is impossible there.
 */
int o2_explore_replay(const struct o2_explore_config *config, const char *path, struct o2_report *report);

/* `o2props explore`: returns the exit status. */
int o2_explore_command(const char *program, int argc, char **argv);

#endif
