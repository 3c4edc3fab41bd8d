/* SPDX-License-Identifier: MIT */
#include "props/sim_explore.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "props/prng.h"
#include "props/sim_internal.h"

/*
 * A connection cannot be copied, so a state is reached again by the events that led to it.  Depth first: each
 * run repeats a path, takes one event more than the runs before it, and goes on to the first state that was
 * seen already.
 *
 * A state is what each end has gone through and what the device holds, whatever happened elsewhere in
 * between: what an end is told is a function of the order in which its completion queue was filled, of how
 * much of it has been handled, and of when its operations were started.  So events that touch nothing in
 * common are merged without knowing anything of the inside of a connection.
 */

#define OPS	  3u
#define MAX_DEPTH 256u
#define TABLE	  (1u << 23) /* places for states; a prime step is not needed, the keys are mixed */
#define NOB	  64u

enum event_kind { START_OF_0, START_OF_1, COMPLETE_0, COMPLETE_1, EXECUTE_0, EXECUTE_1, EVENT_KINDS };

struct history {
	uint64_t filled;   /* its completion queue, in order */
	uint64_t started;  /* its operations, and what had been handled before each */
	uint32_t handled;  /* completions */
	uint32_t executed; /* work requests of its queue pair */
};

struct explorer {
	struct o2_sim *sim;
	struct o2_choice choice;
	struct o2_report report;
	uint8_t initiator[OPS];
	uint32_t nstarted[2];
	struct history history[2];
	uint64_t *seen;
	uint64_t states, edges, ends, runs;
	uint32_t longest;
	uint8_t path[MAX_DEPTH]; /* events */
	uint8_t left[MAX_DEPTH]; /* bits: events that could be taken there and were not yet */
	uint32_t depth;
};

/* --- one run */

/* The operations of an end start in their order: this is its next one, or OPS. */
static uint32_t next_op(const struct explorer *x, uint32_t end)
{
	uint32_t skip = x->nstarted[end];

	for (uint32_t i = 0; i < OPS; i++)
		if (x->initiator[i] == end && skip-- == 0)
			return i;
	return OPS;
}

static uint8_t enabled(struct explorer *x)
{
	struct o2_sim *sim = x->sim;
	uint8_t events = 0;

	o2_sim_look_at_device(sim);
	for (uint32_t end = 0; end < 2; end++) {
		events |= next_op(x, end) < OPS ? 1u << (START_OF_0 + end) : 0;
		events |= o2_sim_has_completion(&sim->end[end]) ? 1u << (COMPLETE_0 + end) : 0;
	}
	for (uint32_t i = 0; i < sim->nrunnable; i++)
		events |= 1u << (EXECUTE_0 + (sim->runnable[i] == sim->end[1].qp_num));
	return events;
}

static uint32_t entries(const struct explorer *x, uint32_t end)
{
	return o2_loop_cq_entries(o2_conn_cq(x->sim->end[end].conn));
}

static void execute(struct explorer *x, uint32_t end)
{
	struct o2_sim *sim = x->sim;
	uint32_t before[2] = {entries(x, 0), entries(x, 1)};

	o2_sim_look_at_device(sim);
	for (uint32_t i = 0; i < sim->nrunnable; i++)
		if (sim->runnable[i] == sim->end[end].qp_num) {
			o2_sim_execute(sim, i);
			break;
		}
	x->history[end].executed++;
	for (uint32_t i = 0; i < 2; i++)
		if (entries(x, i) > before[i])
			x->history[i].filled = o2_mix64(x->history[i].filled ^
							((uint64_t)end << 32 | x->history[end].executed));
}

static void take(struct explorer *x, enum event_kind event)
{
	uint32_t end = event % 2;
	struct history *history = &x->history[end];

	if (event == START_OF_0 || event == START_OF_1) {
		uint32_t op = next_op(x, end);

		x->nstarted[end]++;
		history->started = o2_mix64(history->started ^ ((uint64_t)op << 32 | (history->handled + 1)));
		o2_sim_op_start_plain(x->sim, &x->sim->end[end], op < 2 ? O2_OP_PUT : O2_OP_GET, NOB);
	} else if (event == COMPLETE_0 || event == COMPLETE_1) {
		history->handled++;
		o2_sim_complete(x->sim, &x->sim->end[end]);
	} else {
		execute(x, end);
	}
}

static uint64_t key(const struct explorer *x)
{
	uint64_t hash = 1;

	for (uint32_t i = 0; i < 2; i++) {
		const struct history *h = &x->history[i];

		hash = o2_mix64(hash ^ h->filled);
		hash = o2_mix64(hash ^ h->started);
		hash = o2_mix64(hash ^ ((uint64_t)h->handled << 32 | h->executed));
	}
	return hash == 0 ? 1 : hash;
}

/* True: it is new. */
static bool add(struct explorer *x, uint64_t state)
{
	uint64_t at = state % TABLE;

	while (x->seen[at] != 0 && x->seen[at] != state)
		at = (at + 1) % TABLE;
	if (x->seen[at] == state)
		return false;
	x->seen[at] = state;
	x->states++;
	return true;
}

static void begin(struct explorer *x)
{
	o2_choice_replay(&x->choice, NULL, 0);
	o2_report_clear(&x->report);
	memset(x->history, 0, sizeof(x->history));
	memset(x->nstarted, 0, sizeof(x->nstarted));
	o2_sim_world_open(x->sim);
	x->runs++;
}

/* --- the search */

/* Take events from the state at hand on, each time the first, until a state that was seen, or the end. */
static void go_on(struct explorer *x, uint64_t max_states)
{
	while (o2_sim_ok(x->sim) && add(x, key(x))) {
		uint8_t events = enabled(x);

		if (events == 0 || x->depth == MAX_DEPTH || x->states == max_states) {
			x->ends += events == 0;
			if (events == 0)
				o2_sim_check_rest(x->sim);
			return;
		}
		x->path[x->depth] = (uint8_t)__builtin_ctz(events);
		x->left[x->depth] = events & (events - 1);
		x->edges++;
		take(x, (enum event_kind)x->path[x->depth++]);
		x->longest = x->depth > x->longest ? x->depth : x->longest;
		o2_sim_check(x->sim);
	}
}

/* The deepest place where something else can be taken; false: there is none. */
static bool back(struct explorer *x)
{
	while (x->depth > 0) {
		uint8_t left = x->left[x->depth - 1];

		if (left != 0) {
			x->path[x->depth - 1] = (uint8_t)__builtin_ctz(left);
			x->left[x->depth - 1] = left & (left - 1);
			x->edges++;
			return true;
		}
		x->depth--;
	}
	return false;
}

static bool search(struct explorer *x, uint64_t max_states)
{
	x->states = x->edges = x->ends = x->runs = 0;
	x->longest = x->depth = 0;
	memset(x->seen, 0, TABLE * sizeof(*x->seen));
	do {
		begin(x);
		for (uint32_t i = 0; i < x->depth && o2_sim_ok(x->sim); i++)
			take(x, (enum event_kind)x->path[i]);
		o2_sim_check(x->sim);
		go_on(x, max_states);
		o2_sim_world_close(x->sim);
	} while (!x->report.failed && x->states < max_states && back(x));
	return !x->report.failed;
}

static void print_failure(const struct explorer *x)
{
	printf("FAILED: %s\n", x->report.signature);
	for (uint32_t i = 0; i < x->report.lines; i++)
		printf("  %s\n", x->report.line[i]);
	o2_sim_print(x->sim, 30, stdout);
}

/* Each conversation that is not another one with the ends exchanged: the GET is always of end 0. */
static int explore_all(struct explorer *x, uint64_t max_states)
{
	static const uint8_t initiators[][OPS] = {{0, 0, 0}, {1, 1, 0}, {0, 1, 0}, {1, 0, 0}};
	int status = 0;

	for (size_t i = 0; i < sizeof(initiators) / sizeof(initiators[0]); i++) {
		bool held;

		memcpy(x->initiator, initiators[i], OPS);
		held = search(x, max_states);
		printf("PUT of end %u, PUT of end %u, GET of end %u, queue depth %" PRIu32 ": %" PRIu64
		       " states, %" PRIu64 " edges, %" PRIu64 " ends, longest way %" PRIu32
		       " events, %" PRIu64 " runs: %s\n",
		       x->initiator[0], x->initiator[1], x->initiator[2], x->sim->depth, x->states, x->edges,
		       x->ends, x->longest, x->runs,
		       !held			 ? "failed"
		       : x->states >= max_states ? "the bound was reached"
						 : "complete");
		fflush(stdout);
		if (!held) {
			print_failure(x);
			return 1;
		}
		if (x->states >= max_states)
			status = 3;
	}
	return status;
}

int o2_sim_explore(uint64_t max_states)
{
	static struct o2_sim_run run;
	struct explorer *x = calloc(1, sizeof(*x));
	int status = 1;

	(void)o2_sim_property(&run);
	if (x != NULL) {
		x->sim = calloc(1, sizeof(*x->sim));
		x->seen = calloc(TABLE, sizeof(*x->seen));
	}
	if (x != NULL && x->sim != NULL && x->seen != NULL) {
		x->sim->run = &run;
		x->sim->choice = &x->choice;
		x->sim->report = &x->report;
		status = explore_all(x, max_states == 0 || max_states > TABLE / 2 ? TABLE / 2 : max_states);
		o2_sim_world_end(x->sim);
	}
	if (x != NULL) {
		free(x->sim);
		free(x->seen);
	}
	free(x);
	return status;
}
