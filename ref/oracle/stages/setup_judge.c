/* SPDX-License-Identifier: MIT */
#include "oracle/stages/setup_judge.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

const char *const o2_setup_kind_names[] = {"memory", "mapping", "pd", "region", "pool", "cq", "qp", "other"};
static_assert(sizeof(o2_setup_kind_names) / sizeof(o2_setup_kind_names[0]) == O2_SETUP_KINDS,
	      "each has a name");

struct setup_judge {
	const struct o2_case_setup *asked;
	const struct o2_answer_setup *answer;
	struct o2_setup_fault *faults;
	uint32_t nfaults;
	uint32_t at; /* index of the current event */
	/* about the current round */
	uint32_t round, acquired;
	bool failed;
	uint32_t failed_kind;
	bool leaked;  /* what is left when the set-up returns is reported */
	bool lowered; /* a QP was tried again after a failure, so later acquisitions may differ */
	bool was[O2_IMPL_SETUP_EVENTS]; /* the event acquired a resource that is still held */
	/* the longest sequence of acquisitions of any round so far */
	uint32_t kinds;
	bool whole; /* a round has completed without a failure */
	uint32_t kind[O2_IMPL_SETUP_EVENTS];
};

__attribute__((format(printf, 6, 7))) static void fault(struct setup_judge *j, enum o2_check_id check,
							const char *field, const char *reason,
							const char *expected, const char *format, ...)
{
	struct o2_setup_fault *fault = &j->faults[j->nfaults];
	va_list arguments;

	if (j->nfaults == O2_SETUP_FAULTS)
		return;
	j->nfaults++;
	*fault = (struct o2_setup_fault){.check = check, .event = j->at, .field = field, .reason = reason};
	snprintf(fault->expected, sizeof(fault->expected), "%s", expected);
	va_start(arguments, format);
	vsnprintf(fault->found, sizeof(fault->found), format, arguments);
	va_end(arguments);
}

static const struct o2_impl_setup_event *event_of(const struct setup_judge *j, uint32_t i)
{
	return &j->answer->event[i];
}

/* The event that acquired the resource with this handle; NULL: no resource that is held has it. */
static const struct o2_impl_setup_event *find(const struct setup_judge *j, uint32_t handle)
{
	for (uint32_t i = j->at; i-- > 0 && event_of(j, i)->round == j->round;)
		if (j->was[i] && event_of(j, i)->handle == handle)
			return event_of(j, i);
	return NULL;
}

static bool was_once(const struct setup_judge *j, uint32_t handle)
{
	for (uint32_t i = j->at; i-- > 0 && event_of(j, i)->round == j->round;)
		if (event_of(j, i)->op == O2_IMPL_SETUP_ACQUIRE && event_of(j, i)->handle == handle)
			return true;
	return false;
}

static bool is_built_on(const struct setup_judge *j, const struct o2_impl_setup_event *event, uint32_t kind)
{
	const struct o2_impl_setup_event *on = event->on == 0 ? NULL : find(j, event->on);
	const struct o2_impl_setup_event *also = event->also_on == 0 ? NULL : find(j, event->also_on);

	return (on != NULL && on->kind == kind) || (also != NULL && also->kind == kind);
}

static void check_built_on(struct setup_judge *j, const struct o2_impl_setup_event *event)
{
	static const struct {
		uint32_t kind, needs;
	} needs[] = {
		{O2_IMPL_SETUP_MAPPING, O2_IMPL_SETUP_MEMORY}, {O2_IMPL_SETUP_REGION, O2_IMPL_SETUP_PD},
		{O2_IMPL_SETUP_POOL, O2_IMPL_SETUP_PD},	       {O2_IMPL_SETUP_QP, O2_IMPL_SETUP_PD},
		{O2_IMPL_SETUP_QP, O2_IMPL_SETUP_CQ},
	};
	const uint32_t handles[] = {event->on, event->also_on};

	for (uint32_t i = 0; i < 2; i++)
		if (handles[i] != 0 && find(j, handles[i]) == NULL) {
			fault(j, O2_CHECK_SETUP_BUILT_ON, "event[].on", "not alive", "a handle that is alive",
			      "%" PRIu32 " is not", handles[i]);
			return;
		}
	for (size_t i = 0; i < sizeof(needs) / sizeof(needs[0]); i++)
		if (needs[i].kind == event->kind && !is_built_on(j, event, needs[i].needs))
			fault(j, O2_CHECK_SETUP_BUILT_ON, "event[].on", o2_setup_kind_names[event->kind],
			      o2_setup_kind_names[needs[i].needs], "%s on no %s",
			      o2_setup_kind_names[event->kind], o2_setup_kind_names[needs[i].needs]);
}

/* All rounds must acquire the same kinds in the same order, and fail at fails_at. */
static void check_sequence(struct setup_judge *j, const struct o2_impl_setup_event *event)
{
	const uint32_t n = j->asked->round[j->round].fails_at;
	const bool fails = event->op == O2_IMPL_SETUP_FAIL;
	const uint32_t place = j->acquired++;

	if (j->lowered && !fails)
		return;
	if (j->failed)
		fault(j, O2_CHECK_SETUP_SEQUENCE, "event[].op", "behind the failure", "no more acquisitions",
		      "%s", o2_setup_kind_names[event->kind]);
	else if (fails != (n != 0 && j->acquired == n))
		fault(j, O2_CHECK_SETUP_SEQUENCE, "event[].op", "another one fails",
		      fails ? "acquired" : "fails", "acquisition %" PRIu32 " %s", j->acquired,
		      fails ? "fails" : "does not");
	else if (place < j->kinds && j->kind[place] != event->kind)
		fault(j, O2_CHECK_SETUP_SEQUENCE, "event[].kind", "another kind than in other rounds",
		      o2_setup_kind_names[j->kind[place]], "%s", o2_setup_kind_names[event->kind]);
	else if (place >= j->kinds && j->whole)
		fault(j, O2_CHECK_SETUP_SEQUENCE, "event[].kind", "more than in other rounds",
		      "the set-up is whole", "%s", o2_setup_kind_names[event->kind]);
	else if (place >= j->kinds)
		j->kind[j->kinds++] = event->kind;
	j->failed |= fails;
	j->failed_kind = fails ? event->kind : j->failed_kind;
}

static void acquire(struct setup_judge *j, const struct o2_impl_setup_event *event)
{
	check_built_on(j, event);
	/* A failed QP may be tried again with a smaller queue, as kernels do. */
	if (j->failed && j->failed_kind == O2_IMPL_SETUP_QP && event->kind == O2_IMPL_SETUP_QP) {
		j->failed = false;
		j->lowered = true;
	}
	check_sequence(j, event);
	if (event->op == O2_IMPL_SETUP_FAIL)
		return;
	if (find(j, event->handle) != NULL)
		fault(j, O2_CHECK_SETUP_RELEASE_ONCE, "event[].handle", "given while it is alive",
		      "a handle of its own", "%" PRIu32 " is alive", event->handle);
	j->was[j->at] = true;
}

static void release(struct setup_judge *j, const struct o2_impl_setup_event *event)
{
	const struct o2_impl_setup_event *born = find(j, event->handle);

	if (born == NULL) {
		const bool once = was_once(j, event->handle);

		fault(j, O2_CHECK_SETUP_RELEASE_ONCE, "event[].handle",
		      once ? "released again" : "never acquired", "a handle that is alive", "%" PRIu32 " %s",
		      event->handle, once ? "was released before" : "was never acquired");
		return;
	}
	for (uint32_t i = 0; i < j->at; i++) {
		const struct o2_impl_setup_event *user = event_of(j, i);

		if (user->round != j->round || !j->was[i] ||
		    (user->on != event->handle && user->also_on != event->handle))
			continue;
		fault(j, O2_CHECK_SETUP_ORDER, "event[].handle", o2_setup_kind_names[born->kind],
		      "what is built on it first", "%s before its %s", o2_setup_kind_names[born->kind],
		      o2_setup_kind_names[user->kind]);
		break;
	}
	j->was[born - j->answer->event] = false;
}

static void check_leak(struct setup_judge *j, const char *reason)
{
	uint32_t left = 0, first = 0;

	for (uint32_t i = 0; i <= j->at; i++) {
		if (event_of(j, i)->round != j->round || !j->was[i])
			continue;
		if (left++ == 0)
			first = i;
	}
	if (left == 0 || j->leaked)
		return;
	j->leaked = true;
	fault(j, O2_CHECK_SETUP_LEAK, "alive", reason, "0", "%" PRIu32 ", the first one of kind %s", left,
	      o2_setup_kind_names[event_of(j, first)->kind]);
}

static void check_complete(struct setup_judge *j)
{
	const struct o2_case_setup *in = j->asked;
	uint32_t alive[O2_SETUP_KINDS] = {0};
	uint32_t least[O2_SETUP_KINDS] = {[O2_IMPL_SETUP_PD] = 1,
					  [O2_IMPL_SETUP_CQ] = 1,
					  [O2_IMPL_SETUP_QP] = 1,
					  [O2_IMPL_SETUP_MAPPING] = 1};
	char expected[48];

	least[O2_IMPL_SETUP_POOL] = in->mode == O2_IMPL_FMR;
	/* In mode global the PD may include the region, so no region is required. */
	least[O2_IMPL_SETUP_REGION] = in->mode == O2_IMPL_FASTREG ? in->pool_size : 0;
	for (uint32_t i = 0; i < j->at; i++)
		if (event_of(j, i)->round == j->round && j->was[i])
			alive[event_of(j, i)->kind]++;
	for (uint32_t kind = 0; kind < O2_SETUP_KINDS; kind++) {
		if (alive[kind] >= least[kind])
			continue;
		snprintf(expected, sizeof(expected), "%" PRIu32 " of kind %s", least[kind],
			 o2_setup_kind_names[kind]);
		fault(j, O2_CHECK_SETUP_COMPLETE, "alive", o2_setup_kind_names[kind], expected, "%" PRIu32,
		      alive[kind]);
	}
}

/* Check the status that the set-up returns, and what is held at that time. */
static void check_return(struct setup_judge *j, const struct o2_impl_setup_event *event)
{
	char expected[24];

	if (j->failed != (event->status != 0)) {
		fault(j, O2_CHECK_SETUP_STATUS, "event[].status",
		      j->failed ? "an error is swallowed" : "nothing has failed",
		      j->failed ? "an error" : "0", "%" PRIu32, event->status);
	} else if (j->failed && event->status != j->asked->error) {
		snprintf(expected, sizeof(expected), "%" PRIu32, j->asked->error);
		fault(j, O2_CHECK_SETUP_ERRNO, "event[].status", "", expected, "%" PRIu32, event->status);
	}
	if (event->status != 0)
		check_leak(j, "after a failure");
	else if (!j->failed)
		check_complete(j);
	if (j->failed || j->lowered || event->status != 0)
		return;
	if (j->acquired < j->kinds)
		fault(j, O2_CHECK_SETUP_SEQUENCE, "event[].op", "fewer than in other rounds",
		      o2_setup_kind_names[j->kind[j->acquired]], "the set-up returns");
	j->whole = true;
}

static void take(struct setup_judge *j)
{
	const struct o2_impl_setup_event *event = event_of(j, j->at);

	if (event->round != j->round) {
		j->round = event->round;
		j->acquired = 0;
		j->failed = false;
		j->leaked = false;
		j->lowered = false;
	}
	switch (event->op) {
	case O2_IMPL_SETUP_ACQUIRE:
	case O2_IMPL_SETUP_FAIL:
		acquire(j, event);
		break;
	case O2_IMPL_SETUP_RELEASE:
		release(j, event);
		break;
	default:
		check_return(j, event);
		break;
	}
}

uint32_t o2_setup_judge(const struct o2_case_setup *asked, const struct o2_answer_setup *answer,
			struct o2_setup_fault *faults)
{
	struct setup_judge j = {.asked = asked, .answer = answer, .faults = faults, .round = UINT32_MAX};

	for (j.at = 0; j.at < answer->count; j.at++) {
		take(&j);
		if (j.at + 1 == answer->count || event_of(&j, j.at + 1)->round != j.round)
			check_leak(&j, "after taking down");
	}
	return j.nfaults;
}
