/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "oracle/stage_ops.h"
#include "oracle/stages/setup_judge.h"

/* Stage setup: set up a device, its pools and a connection, while the n-th acquisition fails (docs/oracle.md). */

#define MODES	     3u /* global, fmr, fastreg: the first three of enum o2_impl_mode */
#define LAST_ERRNO   133u
#define LEAST_DEPTH  2u
#define HANDLES_ROOM 128u

static const char *const mode_names[MODES] = {"global", "fmr", "fastreg"};
static const char *const op_names[] = {"acquire", "fail", "release", "return"};

static const struct o2_field round_fields[] = {
	{O2_FIELD("rounds[].fails_at", UINT, struct o2_impl_setup_round, fails_at)},
	{0},
};

static const struct o2_field question_fields[] = {
	{O2_FIELD("mode", NAME, struct o2_case_setup, mode), .names = mode_names, .limit = MODES},
	{O2_FIELD("queue_depth", UINT, struct o2_case_setup, queue_depth), .limit = O2_IMPL_SETUP_MOST},
	{O2_FIELD("tx_count", UINT, struct o2_case_setup, tx_count), .limit = O2_IMPL_SETUP_MOST},
	{O2_FIELD("pool_size", UINT, struct o2_case_setup, pool_size), .limit = O2_IMPL_SETUP_MOST},
	{O2_FIELD("error", UINT, struct o2_case_setup, error), .limit = LAST_ERRNO},
	O2_STAGE_LIST("rounds", struct o2_case_setup, round, count, round_fields),
	{0},
};

static const struct o2_field event_fields[] = {
	{O2_FIELD("events[].round", UINT, struct o2_impl_setup_event, round), .limit = O2_IMPL_MAX_ROUNDS - 1,
	 .sparse = true},
	{O2_FIELD("events[].op", NAME, struct o2_impl_setup_event, op), .names = op_names, .limit = 4},
	{O2_FIELD("events[].kind", NAME, struct o2_impl_setup_event, kind), .names = o2_setup_kind_names,
	 .limit = O2_SETUP_KINDS, .sparse = true},
	{O2_FIELD("events[].handle", UINT, struct o2_impl_setup_event, handle), .sparse = true},
	{O2_FIELD("events[].on", UINT, struct o2_impl_setup_event, on), .sparse = true},
	{O2_FIELD("events[].also_on", UINT, struct o2_impl_setup_event, also_on), .sparse = true},
	{O2_FIELD("events[].status", UINT, struct o2_impl_setup_event, status), .sparse = true},
	{0},
};

static const struct o2_field result_fields[] = {
	O2_STAGE_LIST("events", struct o2_answer_setup, event, count, event_fields),
	{0},
};

/* --- the question --- */

static int at_least(const char *field, uint32_t value, uint32_t least, struct o2_error *error)
{
	return o2_refuse_range(error, -EINVAL, "setup/question", field, value, least, UINT32_MAX);
}

static int question_check(const struct o2_case *asked, struct o2_error *error)
{
	const struct o2_case_setup *setup = &asked->setup;
	int rc = at_least("queue_depth", setup->queue_depth, LEAST_DEPTH, error);

	if (rc == 0)
		rc = at_least("tx_count", setup->tx_count, 1, error);
	if (rc == 0)
		rc = at_least("pool_size", setup->pool_size, 1, error);
	if (rc == 0)
		rc = at_least("error", setup->error, 1, error);
	return rc != 0 ? rc : at_least("rounds", setup->count, 1, error);
}

/* --- the answer --- */

static int other(struct o2_error *error, const char *rule, const char *field, uint32_t index, uint64_t value,
		 uint64_t expected)
{
	return o2_limit_is(o2_refuse(error, -EINVAL, rule, field, index, value, expected), O2_LIMIT_EXACT,
			   error);
}

/* Rounds must be in order with one RETURN each.  ACQUIRE and RELEASE must have a handle, others must not. */
static int check_events(const struct o2_case *asked, const struct o2_answer *answer, struct o2_error *error)
{
	const struct o2_impl_setup_event *event = answer->setup.event;
	uint32_t returned = 0; /* number of rounds with a RETURN so far */

	for (uint32_t i = 0; i < answer->setup.count; i++) {
		const bool has_handle =
			event[i].op == O2_IMPL_SETUP_ACQUIRE || event[i].op == O2_IMPL_SETUP_RELEASE;
		const uint32_t round = event[i].round;

		/* Until its RETURN a round's index equals `returned`.  The releases after it have returned - 1. */
		if (event[i].op == O2_IMPL_SETUP_RELEASE ? round != returned && round + 1 != returned
							 : round != returned)
			return other(error, "setup/rounds", "events[].round", i, round, returned);
		if (event[i].op == O2_IMPL_SETUP_RELEASE && i > 0 && round < event[i - 1].round)
			return other(error, "setup/rounds", "events[].round", i, round, event[i - 1].round);
		if (has_handle != (event[i].handle != 0))
			return other(error, "setup/handle", "events[].handle", i, event[i].handle,
				     has_handle);
		returned += event[i].op == O2_IMPL_SETUP_RETURN;
	}
	return returned == asked->setup.count
		       ? 0
		       : other(error, "setup/rounds", "events", O2_NO_INDEX, returned, asked->setup.count);
}

O2_STAGE_CALL(setup, setup)

static void put(const struct o2_case *asked, struct o2_impl_slot *slot)
{
	const struct o2_case_setup *setup = &asked->setup;

	slot->in->setup = (struct o2_impl_setup_in){
		.mode = setup->mode,
		.queue_depth = setup->queue_depth,
		.tx_count = setup->tx_count,
		.pool_size = setup->pool_size,
		.error = setup->error,
		.count = setup->count,
		.round = o2_impl_slot_copy(slot, setup->round, setup->count * sizeof(setup->round[0]))};
	slot->out->setup.capacity = O2_IMPL_SETUP_EVENTS;
	slot->out->setup.event = o2_impl_slot_array(slot, O2_PART_SGE, "event", O2_IMPL_SETUP_EVENTS,
						    sizeof(struct o2_impl_setup_event));
}

static bool is_legal(const void *event, struct o2_answer *answer)
{
	return o2_result_is_legal(event_fields, event, answer);
}

static void get(const struct o2_case *asked, struct o2_impl_slot *slot, struct o2_answer *answer)
{
	(void)asked;
	answer->setup.count =
		o2_stage_get_steps(slot, O2_PART_SGE, slot->out->setup.count, sizeof(answer->setup.event[0]),
				   is_legal, answer->setup.event, answer);
}

/* --- the reference --- */

struct reference {
	struct o2_impl_setup_log log;
	uint32_t count;
	uint32_t handle[HANDLES_ROOM]; /* handles of the resources that are held */
	bool failed;
};

static uint32_t acquire(struct reference *r, uint32_t kind, uint32_t on, uint32_t also_on)
{
	uint32_t handle = r->failed ? 0 : o2_impl_setup_acquire(&r->log, kind, on, also_on);

	r->failed |= handle == 0;
	if (handle != 0)
		r->handle[r->count++] = handle;
	return handle;
}

static void acquire_some(struct reference *r, uint32_t count, uint32_t kind, uint32_t on)
{
	for (uint32_t i = 0; i < count; i++)
		(void)acquire(r, kind, on, 0);
}

/* Acquire what a node's device, its pools and one connection need. */
static void set_up(struct reference *r, const struct o2_case_setup *in)
{
	const uint32_t two_each = 2;
	uint32_t pd, cq, memory;

	(void)acquire(r, O2_IMPL_SETUP_OTHER, 0, 0); /* the completion channel */
	pd = acquire(r, O2_IMPL_SETUP_PD, 0, 0);
	if (in->mode == O2_IMPL_GLOBAL)
		(void)acquire(r, O2_IMPL_SETUP_REGION, pd, 0);
	memory = acquire(r, O2_IMPL_SETUP_MEMORY, 0, 0);
	acquire_some(r, in->tx_count, O2_IMPL_SETUP_MAPPING, memory);
	if (in->mode == O2_IMPL_FMR)
		(void)acquire(r, O2_IMPL_SETUP_POOL, pd, 0);
	if (in->mode == O2_IMPL_FASTREG)
		acquire_some(r, in->pool_size, O2_IMPL_SETUP_REGION, pd);
	cq = acquire(r, O2_IMPL_SETUP_CQ, 0, 0);
	(void)acquire(r, O2_IMPL_SETUP_QP, pd, cq);
	memory = acquire(r, O2_IMPL_SETUP_MEMORY, 0, 0);
	acquire_some(r, two_each * in->queue_depth, O2_IMPL_SETUP_MAPPING, memory);
}
static_assert(O2_IMPL_SETUP_MOST * 4 + 7 <= HANDLES_ROOM, "all of a set-up");
static_assert((2 * HANDLES_ROOM + 1) * O2_IMPL_MAX_ROUNDS <= O2_IMPL_SETUP_EVENTS, "and its end, each round");

static void take_down(struct reference *r)
{
	while (r->count > 0)
		o2_impl_setup_release(&r->log, r->handle[--r->count]);
}

static int reference(const struct o2_case *asked, struct o2_answer *answer, struct o2_error *error)
{
	const struct o2_case_setup *setup = &asked->setup;
	const struct o2_impl_setup_in in = {.round = setup->round};
	struct o2_impl_setup_out out = {.capacity = O2_IMPL_SETUP_EVENTS, .event = answer->setup.event};

	(void)error;
	for (uint32_t i = 0; i < setup->count; i++) {
		struct reference r = {.log = {.in = &in, .out = &out, .round = i}};

		set_up(&r, setup);
		if (r.failed)
			take_down(&r);
		o2_impl_setup_return(&r.log, r.failed ? setup->error : 0);
		take_down(&r);
	}
	answer->setup.count = out.count;
	return 0;
}

/* Many answers are right, so the implementation's answer is judged by itself. */
static void compare(struct o2_comparison *comparison, const struct o2_case *asked,
		    const struct o2_answer *expected, const struct o2_answer *found)
{
	struct o2_setup_fault faults[O2_SETUP_FAULTS];
	const uint32_t count = o2_setup_judge(&asked->setup, &found->setup, faults);

	(void)expected;
	for (uint32_t i = 0; i < count; i++) {
		struct o2_difference *item =
			o2_differ_text(comparison, faults[i].check, faults[i].field, faults[i].reason);

		if (item == NULL)
			continue;
		snprintf(item->field, sizeof(item->field), "event[%" PRIu32 "]%s", faults[i].event,
			 strchr(faults[i].field, '.') == NULL ? "" : strchr(faults[i].field, '.'));
		snprintf(item->expected, sizeof(item->expected), "%s", faults[i].expected);
		snprintf(item->found, sizeof(item->found), "%s", faults[i].found);
	}
}

const struct o2_stage_ops o2_stage_setup = {
	O2_STAGE_OPS(setup, O2_CHECK_SETUP_REFUSED_LEGAL, O2_CHECKS, O2_CHECKS, O2_CHECKS, O2_CHECKS),
	.request =
		"{\"form\":\"o2ref/setup/input\",\"version\":1,\"mode\":\"global\",\"queue_depth\":2,"
		"\"tx_count\":1,\"pool_size\":1,\"error\":12,\"rounds\":[{\"fails_at\":0},{\"fails_at\":2}]}",
	O2_STAGE_QUESTION(setup),
	.question_check = question_check,
	O2_STAGE_RESULT(setup),
	.result_check = check_events,
	.compare = compare,
};
