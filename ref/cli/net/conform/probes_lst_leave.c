/* SPDX-License-Identifier: MIT */
#include <inttypes.h>

#include "cli/net/conform/lst.h"

/*
 * LNet selftest: we leave after each step of a session or a bulk, many times, and come back; what follows
 * must work as if nothing had happened.  A step is a round of our loop in which something has happened.
 */

#define SESSIONS    "lst.md#sessions"
#define STEPS_MAX   64u
#define SMALL_BYTES 2048u
#define LARGE_BYTES 65536u

static bool in_session(struct o2_conform *conform)
{
	return o2_conform_lst_session(conform) && o2_conform_lst_half(conform, O2_LST_SERVICE_BRW);
}

static bool in_nothing(struct o2_conform *conform)
{
	(void)conform;
	return true;
}

static bool read_once(struct o2_conform *conform, uint32_t len)
{
	const struct o2_lst_test test = o2_conform_lst_brw(conform, O2_LST_BRW_READ, len);

	return o2_conform_lst_try(conform, &test, 1, 1, 1);
}

static bool whole_session(struct o2_conform *conform, uint32_t len)
{
	return in_session(conform) && read_once(conform, len) && o2_conform_lst_end(conform);
}

static bool write_once(struct o2_conform *conform, uint32_t len)
{
	const struct o2_lst_test test = o2_conform_lst_brw(conform, O2_LST_BRW_WRITE, len);

	return o2_conform_lst_try(conform, &test, 1, 1, 1);
}

/* Reads and writes, of which some have ended when we leave, and others have not. */
static bool many(struct o2_conform *conform, uint32_t len)
{
	const struct o2_lst_test tests[] = {o2_conform_lst_brw(conform, O2_LST_BRW_READ, len),
					    o2_conform_lst_brw(conform, O2_LST_BRW_WRITE, len)};

	return o2_conform_lst_try(conform, tests, 2, O2_CONFORM_LST_MANY, 16);
}

/* What we leave in the middle of: a probe's value. */
enum { SESSION, READ, WRITE, MANY };

static const struct leaving {
	bool (*prepare)(struct o2_conform *conform);
	bool (*act)(struct o2_conform *conform, uint32_t len); /* true: it came to its end */
	uint32_t len;
	uint32_t stride; /* how many more steps we do each time before we leave */
} leavings[] = {
	[SESSION] = {in_nothing, whole_session, SMALL_BYTES, 1},
	[READ] = {in_session, read_once, LARGE_BYTES, 1},
	[WRITE] = {in_session, write_once, LARGE_BYTES, 1},
	[MANY] = {in_session, many, LARGE_BYTES, 7},
};

/* Begin, and leave after so many steps; false: it came to its end before, or failed, which was reported. */
static bool begin_and_leave(struct o2_conform *conform, const struct leaving *leaving, uint32_t steps)
{
	bool left = false;

	if (o2_conform_lst_start(conform) && leaving->prepare(conform)) {
		conform->lst->steps = steps;
		leaving->act(conform, leaving->len);
		left = conform->lst->left;
	}
	o2_conform_stop(conform);
	return left;
}

/* Make a session, which takes the one that we have left behind, and do a bulk each way. */
static void work(struct o2_conform *conform)
{
	struct o2_lst_test tests[2];

	if (!o2_conform_lst_start(conform) || !in_session(conform))
		return;
	tests[0] = o2_conform_lst_brw(conform, O2_LST_BRW_READ, SMALL_BYTES);
	tests[1] = o2_conform_lst_brw(conform, O2_LST_BRW_WRITE, LARGE_BYTES);
	if (o2_conform_lst_try(conform, tests, 2, 2, 1))
		o2_conform_lst_end(conform);
}

/* Leave after each step, or each stride-th one, until all comes to its end before that. */
static void leave(struct o2_conform *conform, const struct o2_conform_probe *probe)
{
	const struct leaving *leaving = &leavings[probe->value];
	struct o2_conform_returns returns = {.times = 0};
	bool left = true;
	uint32_t steps = 0;

	for (; left && steps < STEPS_MAX * leaving->stride && !o2_conform_said(conform);
	     steps += leaving->stride)
		for (uint32_t round = 0; round < conform->options->rounds && !o2_conform_said(conform);
		     round++) {
			left = begin_and_leave(conform, leaving, steps);
			o2_conform_come_back(conform, &returns, work, steps);
		}
	if (returns.bad > 0)
		o2_conform_find(conform,
				"%" PRIu32 " of %" PRIu32 " reconnects failed, the first after step %" PRIu32
				": %s",
				returns.bad, returns.times, returns.first_bad, returns.why);
	work(conform);
}

#define NODE .needs = O2_CONFORM_TEST_NODE

const struct o2_conform_probe o2_conform_lst_leave_probes[] = {
	{"lst/leave-session", "a peer that disconnects after any step of a session can reconnect", SESSIONS,
	 NODE, .run = leave, .value = SESSION},
	{"lst/leave-read", "a peer that disconnects after any step of a read by RDMA can reconnect", SESSIONS,
	 NODE, .run = leave, .value = READ},
	{"lst/leave-write", "a peer that disconnects after any step of a write by RDMA can reconnect",
	 SESSIONS, NODE, .run = leave, .value = WRITE},
	{"lst/leave-many", "a peer that disconnects during 64 reads and writes can reconnect", SESSIONS, NODE,
	 .run = leave, .value = MANY},
	{0},
};
