/* SPDX-License-Identifier: MIT */
#ifndef O2_PROPS_EXPLORE_INTERNAL_H
#define O2_PROPS_EXPLORE_INTERNAL_H

#include "props/talk/explore.h"
#include "props/talk/sim_internal.h"

/* Internals of the search, shared by props/talk/explore*.c (docs/simulation.md, "Every order"). */

#define O2_EXPLORE_HELD 64u

/* Kinds of events at an end.  An event's number is kind * 2 + end. */
enum o2_explore_kind {
	O2_EXPLORE_START,
	O2_EXPLORE_RECEIVE,
	O2_EXPLORE_COMPLETE,
	O2_EXPLORE_EXECUTE,
	O2_EXPLORE_KINDS,
};

#define O2_EXPLORE_EVENTS (2u * O2_EXPLORE_KINDS)

/* The letter of each event in a path, indexed by event number. */
extern const char o2_explore_letters[O2_EXPLORE_EVENTS + 1];

/* Completions polled but not yet handled.  The device orders them only within their class (receives, sends). */
struct o2_explore_queue {
	struct ibv_wc wc[O2_EXPLORE_HELD];
	uint32_t count;
};

struct o2_explore_world {
	const struct o2_explore_config *config;
	struct o2_sim sim;
	struct o2_sim_run run;
	struct o2_choice choice;
	struct o2_explore_queue receives[2], sends[2];
	uint32_t next_op[2]; /* index into config->op of the end's next operation, or nops */
	bool open;
};

/* explore_world.c */

/* Create both ends.  If the world is open, it is closed and checked first. */
void o2_explore_open(struct o2_explore_world *world, struct o2_report *report);
void o2_explore_close(struct o2_explore_world *world);
/* The events that are possible now, as a bit set of event numbers. */
uint32_t o2_explore_enabled(struct o2_explore_world *world);
/* Carry out the event, then run the checks that are due after it. */
void o2_explore_happen(struct o2_explore_world *world, uint32_t event);
/* Called when no event is possible any more: checks that all operations are done. */
void o2_explore_check_finished(struct o2_explore_world *world);

/* explore_state.c */

/* Hash of the state: equal for states that differ only in addresses, cookies and keys. */
uint64_t o2_explore_hash(struct o2_explore_world *world);
/* True when the device has no work request to execute. */
bool o2_explore_at_rest(struct o2_explore_world *world);

#endif
