/* SPDX-License-Identifier: MIT */
/* Set-ups that acquire and release anything: their faults, predicted from docs/oracle.md, "Setting up". */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "oracle/stages/setup_judge.h"
#include "props/check/forms.h"
#include "props/scenario/draw.h"

#define THINGS 300u /* resources alive at once, at most */

static const char *const kinds[] = {"memory", "mapping", "pd", "region", "pool", "cq", "qp", "other"};

struct thing {
	uint32_t handle, kind, on, also_on;
};

struct book {
	const struct o2_case_setup *asked;
	const struct o2_impl_setup_event *event;
	uint32_t at, first; /* indices of the current event, and of the first event of its round */
	struct thing alive[THINGS];
	uint32_t nalive;
	uint32_t tried; /* acquisitions in the round */
	bool failed, smaller, leaked;
	uint32_t failed_kind;
	uint32_t order[O2_IMPL_SETUP_EVENTS]; /* kinds, in the order in which rounds acquire them */
	uint32_t norder;
	bool whole;
	struct o2_setup_fault fault[O2_SETUP_FAULTS];
	uint32_t nfaults;
};

static void blame(struct book *book, const char *check, const char *field, const char *reason,
		  const char *expected, const char *found)
{
	struct o2_setup_fault *fault = &book->fault[book->nfaults];
	char id[40];

	if (book->nfaults == O2_SETUP_FAULTS)
		return;
	book->nfaults++;
	snprintf(id, sizeof(id), "setup/%s", check);
	*fault = (struct o2_setup_fault){
		.check = o2_check_find(id), .event = book->at, .field = field, .reason = reason};
	snprintf(fault->expected, sizeof(fault->expected), "%s", expected);
	snprintf(fault->found, sizeof(fault->found), "%s", found);
}

/* The resource with this handle that was acquired last. */
static struct thing *alive(struct book *book, uint32_t handle)
{
	struct thing *found = NULL;

	for (uint32_t i = 0; i < book->nalive; i++)
		if (book->alive[i].handle == handle)
			found = &book->alive[i];
	return found;
}

static bool stands_on(struct book *book, const struct o2_impl_setup_event *event, uint32_t kind)
{
	const struct thing *one = event->on != 0 ? alive(book, event->on) : NULL;
	const struct thing *two = event->also_on != 0 ? alive(book, event->also_on) : NULL;

	return (one != NULL && one->kind == kind) || (two != NULL && two->kind == kind);
}

static void check_ground(struct book *book, const struct o2_impl_setup_event *event)
{
	/* By kind: the kinds that a resource depends on, at most two. */
	static const int grounds[][2] = {{-1, -1},
					 {O2_IMPL_SETUP_MEMORY, -1},
					 {-1, -1},
					 {O2_IMPL_SETUP_PD, -1},
					 {O2_IMPL_SETUP_PD, -1},
					 {-1, -1},
					 {O2_IMPL_SETUP_PD, O2_IMPL_SETUP_CQ},
					 {-1, -1}};
	const uint32_t gone = event->on != 0 && alive(book, event->on) == NULL		   ? event->on
			      : event->also_on != 0 && alive(book, event->also_on) == NULL ? event->also_on
											   : 0;
	char text[64];

	if (gone != 0) {
		snprintf(text, sizeof(text), "%" PRIu32 " is not", gone);
		blame(book, "built-on", "event[].on", "not alive", "a handle that is alive", text);
		return;
	}
	for (uint32_t i = 0; i < 2; i++) {
		const int ground = grounds[event->kind][i];

		if (ground < 0 || stands_on(book, event, (uint32_t)ground))
			continue;
		snprintf(text, sizeof(text), "%s on no %s", kinds[event->kind], kinds[ground]);
		blame(book, "built-on", "event[].on", kinds[event->kind], kinds[ground], text);
	}
}

static void check_place(struct book *book, const struct o2_impl_setup_event *event)
{
	const uint32_t place = book->tried++, due = book->asked->round[event->round].fails_at;
	const bool fails = event->op == O2_IMPL_SETUP_FAIL;
	char text[64];

	if (book->smaller && !fails)
		return;
	snprintf(text, sizeof(text), "acquisition %" PRIu32 " %s", place + 1, fails ? "fails" : "does not");
	if (book->failed)
		blame(book, "sequence", "event[].op", "behind the failure", "no more acquisitions",
		      kinds[event->kind]);
	else if (fails != (due == place + 1))
		blame(book, "sequence", "event[].op", "another one fails", fails ? "acquired" : "fails",
		      text);
	else if (place >= book->norder && book->whole)
		blame(book, "sequence", "event[].kind", "more than in other rounds", "the set-up is whole",
		      kinds[event->kind]);
	else if (place >= book->norder)
		book->order[book->norder++] = event->kind;
	else if (book->order[place] != event->kind)
		blame(book, "sequence", "event[].kind", "another kind than in other rounds",
		      kinds[book->order[place]], kinds[event->kind]);
	if (fails) {
		book->failed = true;
		book->failed_kind = event->kind;
	}
}

static void acquire(struct book *book, const struct o2_impl_setup_event *event)
{
	char text[64];

	check_ground(book, event);
	if (book->failed && book->failed_kind == O2_IMPL_SETUP_QP && event->kind == O2_IMPL_SETUP_QP) {
		book->failed = false;
		book->smaller = true;
	}
	check_place(book, event);
	if (event->op == O2_IMPL_SETUP_FAIL)
		return;
	if (alive(book, event->handle) != NULL) {
		snprintf(text, sizeof(text), "%" PRIu32 " is alive", event->handle);
		blame(book, "release-once", "event[].handle", "given while it is alive",
		      "a handle of its own", text);
	}
	book->alive[book->nalive++] = (struct thing){event->handle, event->kind, event->on, event->also_on};
}

static bool was_given(const struct book *book, uint32_t handle)
{
	for (uint32_t i = book->first; i < book->at; i++)
		if (book->event[i].op == O2_IMPL_SETUP_ACQUIRE && book->event[i].handle == handle)
			return true;
	return false;
}

static void release(struct book *book, uint32_t handle)
{
	struct thing *thing = alive(book, handle);
	char text[64];

	if (thing == NULL) {
		const bool given = was_given(book, handle);

		snprintf(text, sizeof(text), "%" PRIu32 " was %s", handle,
			 given ? "released before" : "never acquired");
		blame(book, "release-once", "event[].handle", given ? "released again" : "never acquired",
		      "a handle that is alive", text);
		return;
	}
	for (uint32_t i = 0; i < book->nalive; i++) {
		if (book->alive[i].on != handle && book->alive[i].also_on != handle)
			continue;
		snprintf(text, sizeof(text), "%s before its %s", kinds[thing->kind],
			 kinds[book->alive[i].kind]);
		blame(book, "order", "event[].handle", kinds[thing->kind], "what is built on it first", text);
		break;
	}
	book->nalive--;
	memmove(thing, thing + 1, (size_t)(book->alive + book->nalive - thing) * sizeof(*thing));
}

static void nothing_left(struct book *book, const char *when)
{
	char text[64];

	if (book->nalive > 0 && !book->leaked) {
		snprintf(text, sizeof(text), "%" PRIu32 ", the first one of kind %s", book->nalive,
			 kinds[book->alive[0].kind]);
		blame(book, "leak", "alive", when, "0", text);
		book->leaked = true;
	}
}

static void all_there(struct book *book)
{
	const struct o2_case_setup *asked = book->asked;

	for (uint32_t kind = 0; kind < sizeof(kinds) / sizeof(kinds[0]); kind++) {
		uint32_t least = 0, found = 0;
		char due[64], text[64];

		if (kind == O2_IMPL_SETUP_PD || kind == O2_IMPL_SETUP_CQ || kind == O2_IMPL_SETUP_QP ||
		    kind == O2_IMPL_SETUP_MAPPING ||
		    (kind == O2_IMPL_SETUP_POOL && asked->mode == O2_IMPL_FMR))
			least = 1;
		if (kind == O2_IMPL_SETUP_REGION && asked->mode == O2_IMPL_FASTREG)
			least = asked->pool_size;
		for (uint32_t i = 0; i < book->nalive; i++)
			found += book->alive[i].kind == kind;
		if (found >= least)
			continue;
		snprintf(due, sizeof(due), "%" PRIu32 " of kind %s", least, kinds[kind]);
		snprintf(text, sizeof(text), "%" PRIu32, found);
		blame(book, "complete", "alive", kinds[kind], due, text);
	}
}

static void returns(struct book *book, uint32_t status)
{
	char due[64], text[64];

	snprintf(due, sizeof(due), "%" PRIu32, book->asked->error);
	snprintf(text, sizeof(text), "%" PRIu32, status);
	if (book->failed && status == 0)
		blame(book, "status", "event[].status", "an error is swallowed", "an error", text);
	if (!book->failed && status != 0)
		blame(book, "status", "event[].status", "nothing has failed", "0", text);
	if (book->failed && status != 0 && status != book->asked->error)
		blame(book, "errno", "event[].status", "", due, text);
	if (status != 0)
		nothing_left(book, "after a failure");
	if (status != 0 || book->failed)
		return;
	all_there(book);
	if (book->smaller)
		return;
	if (book->tried < book->norder)
		blame(book, "sequence", "event[].op", "fewer than in other rounds",
		      kinds[book->order[book->tried]], "the set-up returns");
	book->whole = true;
}

static void foretell(struct book *book, const struct o2_answer_setup *answer)
{
	for (book->at = 0; book->at < answer->count; book->at++) {
		const struct o2_impl_setup_event *event = &book->event[book->at];

		if (book->at == 0 || event->round != event[-1].round) {
			book->first = book->at;
			book->tried = 0;
			book->nalive = 0;
			book->failed = book->smaller = book->leaked = false;
		}
		if (event->op == O2_IMPL_SETUP_RELEASE)
			release(book, event->handle);
		else if (event->op == O2_IMPL_SETUP_RETURN)
			returns(book, event->status);
		else
			acquire(book, event);
		if (book->at + 1 == answer->count || event[1].round != event->round)
			nothing_left(book, "after taking down");
	}
}

/* --- drawing --- */

/* Can the form express the answer?  Rounds are in order and return once; only acquire and release have handles. */
static bool can_be_said(const struct o2_case_setup *asked, const struct o2_answer_setup *answer)
{
	uint32_t returned = 0, last = 0;

	for (uint32_t i = 0; i < answer->count; i++) {
		const struct o2_impl_setup_event *event = &answer->event[i];
		const bool release = event->op == O2_IMPL_SETUP_RELEASE;
		const bool has = event->op == O2_IMPL_SETUP_ACQUIRE || release;

		if (event->round < last || (event->handle != 0) != has)
			return false;
		if (event->round != returned && !(release && event->round + 1 == returned))
			return false;
		last = event->round;
		returned += event->op == O2_IMPL_SETUP_RETURN;
	}
	return returned == asked->count;
}

static void change(struct o2_choice *c, struct o2_answer_setup *answer)
{
	const uint64_t what = o2_draw(c, 8), number = o2_draw(c, 9);
	const uint32_t at = (uint32_t)o2_draw(c, answer->count - 1);
	struct o2_impl_setup_event *event = &answer->event[at], other = *event;

	switch (what) {
	case 0: /* remove the event */
		memmove(event, event + 1, (--answer->count - at) * sizeof(*event));
		break;
	case 1: /* duplicate the event */
		if (answer->count == O2_IMPL_SETUP_EVENTS)
			break;
		memmove(event + 1, event, (answer->count++ - at) * sizeof(*event));
		break;
	case 2: /* swap it with an event near it */
		if (at + number >= answer->count)
			break;
		*event = event[number];
		answer->event[at + number] = other;
		break;
	case 3:
		event->kind = (uint32_t)number & 7;
		break;
	case 4:
		event->handle = (uint32_t)number;
		break;
	case 5:
		event->on = (uint32_t)number;
		break;
	case 6:
		event->also_on = (uint32_t)number;
		break;
	case 7: /* toggle its failure */
		if (event->op <= O2_IMPL_SETUP_FAIL) {
			event->op ^= 1;
			event->handle = event->op == O2_IMPL_SETUP_ACQUIRE ? 200 : 0;
		}
		break;
	default:
		if (event->op == O2_IMPL_SETUP_RETURN)
			event->status = (uint32_t)number;
	}
}

static bool same_fault(const struct o2_setup_fault *a, const struct o2_setup_fault *b)
{
	return a->check == b->check && a->event == b->event && strcmp(a->field, b->field) == 0 &&
	       strcmp(a->reason, b->reason) == 0 && strcmp(a->expected, b->expected) == 0 &&
	       strcmp(a->found, b->found) == 0;
}

static void report_fault(struct o2_report *report, const char *who, const struct o2_setup_fault *fault)
{
	o2_report_add(report, "%s %s at event %" PRIu32 ": %s: %s: %s, %s", who, o2_check_name(fault->check),
		      fault->event, fault->field, fault->reason, fault->expected, fault->found);
}

void o2_forms_check_setup(struct o2_forms_run *run, struct o2_choice *c, struct o2_report *report)
{
	static struct book book;
	static struct o2_setup_fault found[O2_SETUP_FAULTS];
	struct o2_answer_setup *answer = &run->found.setup;
	uint32_t count;
	json_t *form;
	bool same;

	o2_draw_case(c, O2_STAGE_SETUP, &run->asked, &run->scenario);
	if (!o2_choice_ok(c))
		return;
	o2_answer_of_reference(&run->asked, &run->found);
	for (uint64_t left = o2_draw(c, 4); left > 0 && answer->count > 1; left--)
		change(c, answer);
	same = can_be_said(&run->asked.setup, answer);
	form = o2_answer_to_json(&run->asked, &run->found);
	o2_answer_from_json(&run->asked, form, &run->expected);
	json_decref(form);
	if ((run->expected.kind == O2_ANSWER_RESULT) != same) {
		o2_report_fail(report, same ? "forms/setup/refused" : "forms/setup/taken", "%s",
			       same ? run->expected.fault.text : "rounds or handles that cannot be");
		return;
	}
	if (!same)
		return;
	memset(&book, 0, sizeof(book));
	book.asked = &run->asked.setup;
	book.event = answer->event;
	foretell(&book, answer);
	count = o2_setup_judge(&run->asked.setup, answer, found);
	for (uint32_t i = 0; same && i < count && i < book.nfaults; i++)
		same = same_fault(&found[i], &book.fault[i]);
	if (same && count == book.nfaults)
		return;
	o2_report_fail(report, "forms/setup/faults", "%" PRIu32 " events", answer->count);
	for (uint32_t i = 0; i < count && i < 6; i++)
		report_fault(report, "found", &found[i]);
	for (uint32_t i = 0; i < book.nfaults && i < 6; i++)
		report_fault(report, "expected", &book.fault[i]);
}

static bool is_between(uint32_t low, uint32_t value, uint32_t high)
{
	return value >= low && value <= high;
}

bool o2_forms_may_be_asked(const struct o2_case *asked)
{
	const struct o2_case_setup *setup = &asked->setup;
	const struct o2_case_flow *flow = &asked->flow;
	const bool v1 = flow->ibm_version == 0x11;
	const uint32_t depth = flow->queue_depth, least = (depth - 1) / 2;

	if (asked->stage == O2_STAGE_SETUP)
		return is_between(2, setup->queue_depth, 16) && is_between(1, setup->tx_count, 16) &&
		       is_between(1, setup->pool_size, 16) && setup->error >= 1 &&
		       is_between(1, setup->count, 4);
	if (asked->stage == O2_STAGE_FLOW)
		return (v1 || flow->ibm_version == 0x12) && is_between(v1 ? 3 : 2, depth, 16) &&
		       is_between(least < 1 ? 1 : least, flow->high_water, v1 ? depth - 1 : depth) &&
		       is_between(1, flow->concurrent_sends, 32) &&
		       (flow->keepalive_ms == 0 || is_between(100, flow->keepalive_ms, 1000000));
	return true;
}
