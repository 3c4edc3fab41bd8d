/* SPDX-License-Identifier: MIT */
/* Conversations with one wrong detail, and its report (docs/oracle.md, "The flow of a connection"). */
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "oracle/stages/flow_end.h"
#include "props/check/forms.h"
#include "props/model/wire_model.h"
#include "props/scenario/draw.h"

#define WORDS 80u

/* The expected report.  checks, fields: alternatives joined by "|"; NULL: any. */
struct said {
	const char *checks, *fields;
	char expected[WORDS], found[WORDS];
	bool any_expected;
};

struct subject {
	struct o2_choice *c;
	const struct o2_case_flow *asked;
	uint32_t at; /* index of the event */
	const struct o2_impl_flow_event *event;
	struct o2_impl_flow_step *step;
	struct said said;
};

static void numbers(struct said *said, uint32_t expected, uint32_t found)
{
	snprintf(said->expected, WORDS, "%" PRIu32, expected);
	snprintf(said->found, WORDS, "%" PRIu32, found);
}

static void name(char text[WORDS], const struct o2_impl_flow_message *message)
{
	const size_t length = (size_t)snprintf(text, WORDS, "%s", o2_wm_type((uint8_t)message->type)->name);

	for (size_t i = 0; i < length; i++)
		text[i] = (char)toupper((unsigned char)text[i]);
	if (message->type != O2_MSG_NOOP)
		snprintf(text + length, WORDS - length, " of event %" PRIu32, message->of);
}

/* --- one change each; false: it cannot be made at this event --- */

static bool fewer_credits(struct subject *s)
{
	struct o2_impl_flow_message *message = &s->step->message[0];
	const uint8_t right = (uint8_t)message->credits;

	if (s->step->count == 0 || right == 0)
		return false;
	message->credits = (uint8_t)o2_draw(s->c, right - 1u);
	s->said.checks = "flow/credits";
	s->said.fields = "message[].credits, fewer";
	numbers(&s->said, right, message->credits);
	return true;
}

static bool more_credits(struct subject *s)
{
	struct o2_impl_flow_message *message = &s->step->message[0];
	const uint8_t right = (uint8_t)message->credits;

	if (s->step->count == 0)
		return false;
	message->credits = (uint8_t)(right + 1 + o2_draw(s->c, 3));
	s->said.checks = "flow/credits|credits/over-owed";
	s->said.fields = "message[].credits, more|ibm_credits";
	numbers(&s->said, right, message->credits);
	/* The judge states an upper bound for credits, which is another number. */
	s->said.any_expected = true;
	return true;
}

/* docs/oracle.md: a NOOP after an arrival without credits may wait until the receive is reposted. */
static bool may_wait(const struct o2_impl_flow_event *event)
{
	return event->kind == O2_IMPL_FLOW_RECEIVE && event->credits == 0;
}

static bool drop_last(struct subject *s)
{
	const struct o2_impl_flow_message *last = s->step->message;

	if (s->step->count == 0)
		return false;
	last += s->step->count - 1;
	if (last->type == O2_MSG_NOOP && may_wait(s->event))
		return false;
	s->said.checks = last->type == O2_MSG_NOOP ? "flow/noop-missing" : "flow/stuck";
	s->said.fields = last->type != O2_MSG_NOOP     ? "messages"
			 : s->asked->keepalive_ms == 0 ? "NOOP"
						       : "NOOP|NOOP, keepalive";
	name(s->said.expected, last);
	snprintf(s->said.found, WORDS, "nothing");
	s->step->queued += last->type != O2_MSG_NOOP;
	s->step->count--;
	return true;
}

static bool other_queued(struct subject *s)
{
	const uint32_t right = s->step->queued;

	s->step->queued = right > 0 && o2_draw_bool(s->c, 1, 1) ? right - 1 : right + 1;
	s->said.checks = "flow/queued";
	s->said.fields = "queued";
	numbers(&s->said, right, s->step->queued);
	return true;
}

static bool other_closed(struct subject *s)
{
	const bool closed = s->step->closed != 0, before = s->at > 0 && s->step[-1].closed != 0;

	if (!closed && s->step->count > 0)
		return false;
	s->step->closed = !closed;
	s->said.checks = !closed					 ? "flow/closed"
			 : before || s->event->kind == O2_IMPL_FLOW_FAIL ? "flow/open"
			 : s->event->type == O2_MSG_CONNREQ || s->event->type == O2_MSG_CONNACK
				 ? "flow/open"
				 : "flow/open|flow/unpaid";
	s->said.fields = !closed				    ? "closed"
			 : before				    ? "closed, again"
			 : s->event->kind == O2_IMPL_FLOW_FAIL	    ? "closed, failed"
			 : strcmp(s->said.checks, "flow/open") == 0 ? "closed, message"
								    : "closed, message|closed";
	numbers(&s->said, closed, !closed);
	return true;
}

static bool other_turn(struct subject *s)
{
	struct o2_impl_flow_message *message = &s->step->message[0];

	if (s->step->count == 0 || message->type == O2_MSG_NOOP)
		return false;
	name(s->said.expected, message);
	if (s->step->count > 1 && message[1].type != O2_MSG_NOOP && o2_draw_bool(s->c, 1, 1)) {
		const struct o2_impl_flow_message first = message[0];

		message[0].type = message[1].type;
		message[0].of = message[1].of;
		message[1].type = first.type;
		message[1].of = first.of;
	} else {
		message->of += 1 + (uint32_t)o2_draw(s->c, 3);
	}
	name(s->said.found, message);
	s->said.checks = "flow/order";
	s->said.fields = "messages";
	return true;
}

static bool noop_more(struct subject *s)
{
	if (s->step->count == O2_IMPL_FLOW_MESSAGES)
		return false;
	s->step->message[s->step->count++] = (struct o2_impl_flow_message){.type = O2_MSG_NOOP};
	if (s->step->closed != 0) {
		s->said.checks = "end/message|flow/noop-idle";
	} else {
		s->said.checks = "flow/noop-idle|flow/noops-out|flow/in-flight|credits/none|credits/last|"
				 "credits/noop-uncalled|credits/noop-storm|flow/credits|flow/noop-third";
	}
	return true;
}

/* --- checking the report --- */

static bool is_one_of(const char *text, const char *list)
{
	const size_t length = strlen(text);

	for (const char *at = list; at != NULL; at = strchr(at, '|')) {
		at += *at == '|';
		if (strncmp(at, text, length) == 0 && (at[length] == '\0' || at[length] == '|'))
			return true;
	}
	return false;
}

/* A rule of the judge expects "none", or a number as the limit. */
static bool has_its_limit(const struct o2_difference *item)
{
	return strncmp(o2_check_name(item->check), "flow/", 5) == 0 || strcmp(item->expected, "none") == 0 ||
	       item->expected[strspn(item->expected, "0123456789")] == '\0';
}

static bool is_said(const struct subject *s, const struct o2_difference *item)
{
	char event[24];
	const size_t length = (size_t)snprintf(event, sizeof(event), "event %" PRIu32 ": ", s->at);

	if (strncmp(item->field, event, length) != 0 ||
	    !is_one_of(o2_check_name(item->check), s->said.checks) || !has_its_limit(item))
		return false;
	if (s->said.fields == NULL)
		return true;
	return is_one_of(item->field + length, s->said.fields) &&
	       (s->said.any_expected || strcmp(item->expected, s->said.expected) == 0) &&
	       strcmp(item->found, s->said.found) == 0;
}

/* An event that cannot happen before anything else makes the question invalid. */
static void check_impossible(struct o2_forms_run *run, struct o2_choice *c, struct o2_report *report)
{
	static const char *const events[] = {"sent", "repost"};
	static const char *const kinds[] = {"queue", "receive"};
	static const char *const answers[] = {"PUT_ACK", "PUT_NAK", "PUT_DONE", "GET_DONE"};
	const uint64_t event = o2_draw(c, 3), type = o2_draw(c, 3);
	json_t *form = o2_case_to_json(&run->asked), *first;
	struct o2_error error = {0};

	first = event < 2 ? json_pack("{s:s}", "event", events[event])
			  : json_pack("{s:s, s:s}", "event", kinds[event - 2], "type", answers[type]);
	if (json_array_size(json_object_get(form, "events")) == O2_IMPL_FLOW_EVENTS)
		json_array_remove(json_object_get(form, "events"), O2_IMPL_FLOW_EVENTS - 1);
	json_array_insert_new(json_object_get(form, "events"), 0, first);
	if (o2_case_from_json(form, &run->again, &error) != -EINVAL || error.rule == NULL ||
	    strcmp(error.rule, O2_FLOW_QUESTION) != 0 || strcmp(error.field, "events[]") != 0 ||
	    error.index != 0)
		o2_report_fail(report, "forms/flow/impossible", "event %u, %s", (unsigned int)event,
			       answers[type]);
	json_decref(form);
}

void o2_forms_check_flow(struct o2_forms_run *run, struct o2_choice *c, struct o2_report *report)
{
	static bool (*const changes[])(struct subject *) = {
		fewer_credits, more_credits, drop_last, other_queued, other_closed, other_turn, noop_more};
	struct subject s = {.c = c, .asked = &run->asked.flow};
	const uint64_t what = o2_draw(c, sizeof(changes) / sizeof(changes[0]) - 1);

	o2_draw_case(c, O2_STAGE_FLOW, &run->asked, &run->scenario);
	if (!o2_choice_ok(c))
		return;
	check_impossible(run, c, report);
	o2_answer_of_reference(&run->asked, &run->expected);
	run->found.kind = run->expected.kind;
	run->found.flow = run->expected.flow;
	run->found.conduct.check = O2_CHECKS;
	/* Take the first event from s.at on where the change can be made. */
	s.at = (uint32_t)o2_draw(c, s.asked->count - 1);
	for (; s.at < s.asked->count; s.at++) {
		s.event = &s.asked->event[s.at];
		s.step = &run->found.flow.step[s.at];
		if (changes[what](&s))
			break;
	}
	if (s.at == s.asked->count || report->failed)
		return;
	o2_forms_compare(run);
	if (run->comparison.count > 0 && is_said(&s, &run->comparison.item[0]) &&
	    (run->comparison.count == 1 || s.said.fields == NULL))
		return;
	o2_report_fail(report, "forms/flow/difference", "change %u at event %" PRIu32, (unsigned int)what,
		       s.at);
	o2_report_add(report, "expected %s: %s: %s, %s", s.said.checks,
		      s.said.fields == NULL ? "" : s.said.fields, s.said.expected, s.said.found);
	o2_foretold_report(NULL, &run->comparison, report);
}

/*
 * The peer sends and gets only NOOPs. Soon a third NOOP must wait until the peer has used a credit that an earlier
 * one returned.
 */
static void draw_one_way(struct o2_choice *c, struct o2_case *asked)
{
	static const uint32_t kinds[] = {O2_IMPL_FLOW_REPOST, O2_IMPL_FLOW_SENT, O2_IMPL_FLOW_RECEIVE};
	struct o2_case_flow *flow = &asked->flow;
	const uint32_t depth = 3 + (uint32_t)o2_draw(c, 3);
	struct o2_impl_flow_message message;
	struct o2_flow_end end;

	memset(asked, 0, sizeof(*asked));
	asked->stage = O2_STAGE_FLOW;
	*flow = (struct o2_case_flow){.ibm_version = O2_MSG_VERSION_2,
				      .queue_depth = depth,
				      .high_water = o2_flow_least_mark(depth),
				      .concurrent_sends = depth};
	o2_flow_begin(&end, flow);
	while (flow->count < O2_IMPL_FLOW_EVENTS) {
		const uint32_t weights[] = {end.arrived.first < end.arrived.end ? 3 : 0,
					    end.credits.in_flight > 0 ? 3 : 0,
					    end.credits.granted > 0 ? 2 : 0};
		struct o2_impl_flow_event *event = &flow->event[flow->count];

		if (weights[0] + weights[1] + weights[2] == 0)
			return;
		event->kind = kinds[o2_draw_weighted(c, weights, 3)];
		event->type = event->kind == O2_IMPL_FLOW_RECEIVE ? O2_MSG_IMMEDIATE : 0;
		(void)o2_flow_take(&end, flow->count++);
		while (o2_flow_next(&end, &message))
			o2_flow_post(&end, &message);
	}
}

/* Leave out the NOOP at the end of a conversation: a difference must be reported unless the NOOP may wait. */
bool o2_forms_check_flow_waits(struct o2_forms_run *run, struct o2_choice *c, struct o2_report *report)
{
	struct o2_case_flow *asked = &run->asked.flow;
	const bool waits = o2_draw_bool(c, 1, 2);
	struct o2_impl_flow_step *step = NULL;
	const struct o2_difference *item = &run->comparison.item[0];
	bool right;

	draw_one_way(c, &run->asked);
	if (!o2_choice_ok(c))
		return false;
	o2_answer_of_reference(&run->asked, &run->expected);
	run->found = run->expected;
	run->found.conduct.check = O2_CHECKS;
	for (uint32_t i = 0; i < asked->count && step == NULL; i++) {
		struct o2_impl_flow_step *one = &run->found.flow.step[i];

		if (one->count == 0 || one->message[one->count - 1].type != O2_MSG_NOOP ||
		    may_wait(&asked->event[i]) != waits)
			continue;
		step = one;
		asked->count = run->expected.flow.count = run->found.flow.count = i + 1;
	}
	if (step == NULL)
		return false;
	step->count--;
	o2_forms_compare(run);
	right = waits ? run->comparison.count == 0
		      : run->comparison.count == 1 &&
				strcmp(o2_check_name(item->check), "flow/noop-missing") == 0 &&
				strcmp(item->expected, "NOOP") == 0 && strcmp(item->found, "nothing") == 0;
	if (!right)
		o2_report_fail(report, "forms/flow/waits", "at event %" PRIu32 ": %" PRIu32 " differences",
			       asked->count - 1, run->comparison.count);
	return waits;
}
