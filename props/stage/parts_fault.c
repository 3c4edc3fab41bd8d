/* SPDX-License-Identifier: MIT */
/* The text that says why an operation or a connection has failed: docs/transport.md, "Errors". */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "lnd/conn/fault.h"
#include "props/stage/parts_internal.h"
#include "wire/reject.h"

#define TEXT_BYTES   700u
#define REJECT_RULES 8u	 /* docs/wire.md */
#define SIDES	     11u /* enum o2_fault_side */

/* What may follow the words for the side. */
struct why {
	char error[200]; /* the text of the error record; "": there is none */
	const char *rule;
};

static void draw_error(struct o2_choice *c, struct o2_transfer_fault *fault, struct why *why)
{
	static const char *const rules[] = {"wire/header/magic", "reject/why", "reject/cm-reason"};
	const uint64_t value = o2_draw(c, UINT16_MAX);
	const uint64_t limit = o2_draw_bool(c, 1, 1) ? O2_NO_LIMIT : o2_draw(c, UINT16_MAX);
	char most[40] = "";

	why->error[0] = '\0';
	why->rule = NULL;
	o2_error_clear(&fault->error);
	if (!o2_draw_bool(c, 1, 2))
		return;
	why->rule = rules[o2_draw_pick(c, 3)];
	o2_refuse_value(&fault->error, -EPROTO, why->rule, "field", value, limit);
	if (limit != O2_NO_LIMIT)
		snprintf(most, sizeof(most), ", limit %" PRIu64, limit);
	snprintf(why->error, sizeof(why->error), "%s: field is %" PRIu64 "%s (Protocol error)", why->rule,
		 value, most);
}

static void say_late(const struct o2_transfer_fault *fault, char *text)
{
	static const char *const waits[] = {"nothing",
					    "a connection",
					    "a reservation: room for the peer's answer",
					    "a credit",
					    "the end of sends before it",
					    "a window for its memory",
					    "its send to be acknowledged by the device",
					    "its key to be invalidated by the device",
					    "the peer's PUT_ACK",
					    "the peer's PUT_DONE",
					    "the peer's GET_DONE",
					    "LNet's ACK",
					    "LNet's REPLY",
					    "nothing"};

	snprintf(text, TEXT_BYTES, "our deadline: waited %" PRIu64 " ms for %s, limit %" PRIu64 " ms",
		 fault->error.value, waits[fault->wait], fault->error.limit);
}

/* The reject reasons of o2iblnd, from 1, and some of the InfiniBand specification. */
static void say_rejected(const struct o2_transfer_fault *fault, const struct why *why, char *text)
{
	static const char *const names[] = {
		"connection-race", "no-resources",   "fatal",	    "incompatible-version",
		"stale",	   "fragment-count", "queue-depth", "invalid-service-id",
		"too-early"};
	static const char *const cm[34] = {[1] = "no queue pair available",
					   [4] = "timeout",
					   [8] = "invalid service id: nobody listens there",
					   [28] = "consumer reject",
					   [33] = "invalid alternate flow label"};
	const bool says = why->rule != NULL && strncmp(why->rule, "reject/", 7) != 0;
	const char *reason = fault->cm_reason < 34 ? cm[fault->cm_reason] : NULL;

	if (fault->reject_why >= 1 && fault->reject_why <= 9)
		snprintf(text, TEXT_BYTES, "the peer has rejected the connection: %s (reason %u)%s%s",
			 names[fault->reject_why - 1], fault->reject_why, says ? ": " : "",
			 says ? why->rule : "");
	else
		snprintf(text, TEXT_BYTES,
			 "the connection was rejected: %s (connection manager's reason %" PRIu32 ")%s%s",
			 reason != NULL ? reason : "unknown", fault->cm_reason, says ? ": " : "",
			 says ? why->rule : "");
}

static void say(enum o2_fault_side side, const struct o2_transfer_fault *fault, const struct why *why,
		char *text)
{
	static const char *const words[SIDES] = {
		[O2_FAULT_NONE] = "we have ended the connection",
		[O2_FAULT_LOCAL_STAGE] = "refused here",
		[O2_FAULT_PEER_STATUS] = "the peer reports a failure",
		[O2_FAULT_PEER_MESSAGE] = "the peer has broken a rule",
		[O2_FAULT_CLOSED] = "we have closed the connection",
		[O2_FAULT_PEER_CLOSED] = "the peer has ended the connection (DREQ)",
		[O2_FAULT_CONNECT] = "no connection could be made",
		[O2_FAULT_DEVICE] = "the device is lost",
	};

	if (side == O2_FAULT_DEADLINE)
		say_late(fault, text);
	else if (side == O2_FAULT_REJECTED)
		say_rejected(fault, why, text);
	else if (side == O2_FAULT_LOCAL_COMPLETION)
		snprintf(text, TEXT_BYTES, "a work request of ours has failed: %s (status %d)",
			 ibv_wc_status_str(fault->wc_status), (int)fault->wc_status);
	else if (side == O2_FAULT_NONE || side == O2_FAULT_PEER_CLOSED)
		snprintf(text, TEXT_BYTES, "%s", words[side]);
	else if (why->error[0] != '\0')
		snprintf(text, TEXT_BYTES, "%s: %s", words[side], why->error);
	else
		snprintf(text, TEXT_BYTES, "%s%s%s", words[side], fault->code != 0 ? ": " : "",
			 fault->code != 0 ? strerror(-fault->code) : "");
}

static void check_rules(struct o2_report *report)
{
	unsigned int count = 0;

	for (const struct o2_wire_rule *rule; (rule = o2_reject_rule(count)) != NULL && count < 100; count++)
		if (strncmp(rule->id, "wire/reject/", strlen("wire/reject/")) != 0) {
			o2_report_fail(report, "parts/fault/rules", "rule %u is none of a record", count);
			return;
		}
	if (count != REJECT_RULES)
		o2_report_fail(report, "parts/fault/rules", "%u rules of a record", count);
}

void o2_parts_fault(struct o2_parts_run *run, struct o2_choice *c, struct o2_report *report)
{
	static const uint32_t reasons[] = {28, 8, 4, 1, 0, 33, 34, UINT32_MAX};
	struct o2_transfer_fault fault = {.side = (enum o2_fault_side)o2_draw(c, SIDES - 1)};
	char expected[TEXT_BYTES], ended[TEXT_BYTES + 40], text[TEXT_BYTES];
	const size_t room = o2_draw_bool(c, 7, 1) ? 1 + o2_draw(c, 40) : sizeof(text);
	struct why why;
	int length;

	/* strerror(3) keeps texts that it makes for unknown numbers allocated, so only known ones are used. */
	fault.code = -(int)(o2_draw_bool(c, 3, 1) ? 0 : 1 + o2_draw(c, 39));
	fault.closed_by = (enum o2_fault_side)(o2_draw_bool(c, 1, 1) ? o2_draw(c, SIDES - 1) : 0);
	fault.wait = (enum o2_wait)o2_draw(c, O2_WAITS);
	fault.wc_status = (enum ibv_wc_status)o2_draw(c, 20);
	fault.cm_reason = reasons[o2_draw_pick(c, 8)];
	fault.reject_why = (uint8_t)o2_draw(c, 10);
	draw_error(c, &fault, &why);
	snprintf(run->text, sizeof(run->text), "a fault of side %d, by %d, with %d", (int)fault.side,
		 (int)fault.closed_by, fault.code);
	run->tally.seen[O2_PARTS_FAULT]++;
	check_rules(report);
	if (fault.side == O2_FAULT_NONE && fault.code == 0) {
		snprintf(ended, sizeof(ended), "no fault");
	} else if (fault.side == O2_FAULT_CLOSED && (fault.closed_by != O2_FAULT_NONE || why.rule == NULL)) {
		say(fault.closed_by, &fault, &why, expected);
		snprintf(ended, sizeof(ended), "the connection has ended: %s", expected);
	} else {
		say(fault.side, &fault, &why, expected);
		snprintf(ended, sizeof(ended), "%s", expected);
	}
	length = o2_fault_text(&fault, text, room);
	if (length != (int)strlen(ended) || strncmp(text, ended, room - 1) != 0 ||
	    strlen(text) != (strlen(ended) < room ? strlen(ended) : room - 1))
		o2_report_fail(report, "parts/fault/text", "'%s', %d bytes, expected '%s'", text, length,
			       ended);
}
