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
 * Every order of events: all states that two ends can get into with a few operations, one after the other
 * (docs/simulation.md, "Every order").  What is checked in each is what the simulation checks.
 */

#define O2_EXPLORE_OPS	   8u
#define O2_EXPLORE_PATH	   1024u /* events of a way, at most */
#define O2_EXPLORE_MAX_NOB 4000u

struct o2_explore_op {
	uint32_t end; /* 0 or 1: who starts it; each end starts its own in the order of the list */
	enum o2_transfer_op op;
};

struct o2_explore_config {
	struct o2_conn_config conn;
	struct o2_explore_op op[O2_EXPLORE_OPS];
	uint32_t nops;
	enum o2_reg_mode mode; /* of all memory */
	uint32_t nob;	       /* of each PUT and GET */
	/*
	 * The device's work requests are events of their own, in any order with all others.  Otherwise each
	 * is executed at once, which commutes with everything else that can happen.
	 */
	bool device;
	bool at_once; /* all operations are started before the first event: fewer states, more traffic */
	/*
	 * Whatever way leads to a state, the same must come after it: go from there by each way that the
	 * search has found, one event on, and compare.  Shows that the hash leaves nothing out.
	 */
	bool verify;
	uint32_t most_events; /* of a way; 0: all there are */
	uint32_t most_states; /* the search ends there, unfinished; 0: all there are */
};

struct o2_explore_result {
	uint64_t states;
	uint64_t at_rest;  /* of them: the device has nothing to do */
	uint64_t edges;	   /* events tried in all of them */
	uint64_t finished; /* states in which nothing can happen any more */
	uint32_t longest;  /* events on the longest of the ways to a state that were found first */
	bool all;	   /* there are no more states than these */
	uint64_t verified; /* events that were tried again from a state, by another way to it */
	uint64_t rest_sum; /* sum of the hashes of the states at rest: equal for equal sets of them */
	char path[O2_EXPLORE_PATH + 1]; /* a shortest way to a failure; see o2_explore_replay */
};

/*
 * Search.  Returns 0; 1 when *report says what failed, and result->path how to get there; -ENOMEM.
 */
int o2_explore(const struct o2_explore_config *config, struct o2_explore_result *result,
	       struct o2_report *report);

/*
 * Go one way and say what happens: s, S: end 0 or 1 starts its next operation; r, R: it handles the oldest
 * message that has arrived; c, C: the oldest completion of its own requests; x, X: the device executes its
 * next work request.  Returns 0; 1 when *report says what failed; -EINVAL: an event that cannot happen there.
 */
int o2_explore_replay(const struct o2_explore_config *config, const char *path, struct o2_report *report);

/* `o2props explore`: returns the exit status. */
int o2_explore_command(const char *program, int argc, char **argv);

#endif
