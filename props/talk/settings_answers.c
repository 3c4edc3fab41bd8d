/* SPDX-License-Identifier: MIT */
/* Answers to an operation of LNet: which are accepted, and how the operation ends (docs/peer.md). */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "lnet/lnet.h"
#include "props/talk/settings_internal.h"

#define PEER	 UINT64_C(0x0005000000000063)
#define STRANGER UINT64_C(0x0005000000000064)
#define COOKIE	 UINT64_C(0x1122334455667788)
#define MOST	 600u

/* The rules of faults that the transport reports. */
#define SEND_RULE  "the request was not sent"
#define REPLY_RULE "the REPLY did not arrive"

/* What LNet has sent and reported. */
struct told {
	struct o2_lnet_hdr hdr; /* header last sent */
	uint64_t tag;
	uint32_t sent, ended, dropped;
	const char *rule;  /* rule of the last drop */
	const char *fault; /* rule of the operation's fault; NULL: it has none */
	int status;
	uint64_t length_bytes;
};

static void done(void *context, const struct o2_lnet_result *result)
{
	struct told *told = context;

	told->ended++;
	told->status = result->status;
	told->length_bytes = result->length_bytes;
	told->fault = result->fault == NULL ? NULL : result->fault->error.rule;
}

static void event(void *context, const struct o2_lnet_event *event)
{
	struct told *told = context;

	if (event->kind != O2_LNET_EVENT_DROPPED)
		return;
	told->dropped++;
	told->rule = event->error->rule;
}

static uint32_t immediate_max(void *context, uint64_t nid)
{
	(void)context;
	(void)nid;
	return 3976;
}

static int note(void *context, uint64_t nid, enum o2_lnd_form form, const struct o2_lnet_hdr *hdr,
		const struct o2_transfer_memory *memory, struct o2_error *error)
{
	struct told *told = context;

	(void)nid;
	(void)form;
	(void)error;
	told->sent++;
	told->hdr = *hdr;
	told->tag = memory->tag;
	return 0;
}

/* An answer to deliver, and its expected effect. */
struct answer {
	bool gets, by_rdma;
	uint32_t asked_bytes, bytes;
	uint64_t from;
	struct o2_lnet_handle handle;
	bool meant;    /* it is addressed to the open operation */
	uint32_t room; /* most messages that LNet may have */
};

static struct o2_lnet_hdr header(const struct o2_lnet_config *config, const struct answer *answer)
{
	struct o2_lnet_hdr hdr = {.dest_nid = config->nid,
				  .src_nid = answer->from,
				  .dest_pid = O2_LNET_PID_KERNEL,
				  .src_pid = O2_LNET_PID_KERNEL,
				  .type = answer->gets ? O2_LNET_REPLY : O2_LNET_ACK,
				  .payload_length = answer->gets ? answer->bytes : 0};

	if (answer->gets) {
		hdr.msg.reply.dst_wmd = answer->handle;
	} else {
		hdr.msg.ack.dst_wmd = answer->handle;
		hdr.msg.ack.mlength = answer->bytes;
	}
	return hdr;
}

static void is(struct o2_settings_run *run, struct o2_report *report, const char *what, int64_t found,
	       int64_t expected)
{
	if (found != expected)
		o2_report_fail(report, "settings/answer", "%s: %s is %" PRId64 ", expected %" PRId64,
			       run->text, what, found, expected);
}

static void rule_is(struct o2_settings_run *run, struct o2_report *report, const char *found,
		    const char *expected)
{
	if (found == NULL ? expected != NULL : expected == NULL || strcmp(found, expected) != 0)
		o2_report_fail(report, "settings/answer", "%s: by %s, expected %s", run->text,
			       found == NULL ? "nothing" : found, expected == NULL ? "nothing" : expected);
}

/* The transport ends a message; if status is not 0, with a fault of this rule. */
static void finish(struct o2_lnet *lnet, uint64_t tag, int status, uint64_t length_bytes, const char *rule)
{
	struct o2_transfer_fault fault = {.side = O2_FAULT_NONE};
	struct o2_error error;

	if (status != 0) {
		o2_fail(&error, status, rule, "status", (uint64_t)-status);
		fault = o2_fault_of(O2_FAULT_LOCAL_STAGE, status, &error);
	}
	o2_lnet_finished(lnet, tag, status, length_bytes, &fault);
}

/* The rule of the fault with which an operation ends that has got an answer. */
static const char *fault_of(int outcome)
{
	return outcome == 0 ? NULL : outcome == -EMSGSIZE ? "lnet/reply/too-long" : REPLY_RULE;
}

/* Deliver an answer in one message.  If it is dropped, nothing else happens. */
static int take_immediate(struct o2_settings_run *run, struct o2_report *report, struct o2_lnet *lnet,
			  const struct answer *answer, const struct o2_lnet_hdr *hdr, struct told *told)
{
	uint8_t payload[MOST + 2];
	const bool too_long = answer->bytes > answer->asked_bytes;
	const char *dropped = !answer->meant		  ? "lnet/unknown-handle"
			      : !answer->gets && too_long ? "lnet/ack/mlength"
							  : NULL;

	memset(payload, 0xb7, sizeof(payload));
	told->rule = NULL;
	is(run, report, "o2_lnet_receive", o2_lnet_receive(lnet, answer->from, hdr, payload, NULL), 0);
	is(run, report, "dropped", told->dropped, dropped != NULL);
	if (dropped != NULL)
		rule_is(run, report, told->rule, dropped);
	return dropped != NULL ? 1 : too_long ? -EMSGSIZE : 0;
}

/* An answer to an operation that has one, or whose answer is arriving, is dropped. */
static void take_another(struct o2_settings_run *run, struct o2_report *report, struct o2_lnet *lnet,
			 const struct answer *answer, const struct o2_lnet_hdr *hdr, struct told *told)
{
	const uint8_t payload[MOST + 2] = {0};
	const uint32_t dropped = told->dropped, ended = told->ended, messages = o2_lnet_messages(lnet);

	is(run, report, "o2_lnet_receive", o2_lnet_receive(lnet, answer->from, hdr, payload, NULL), 0);
	is(run, report, "a second answer dropped", told->dropped, dropped + 1);
	rule_is(run, report, told->rule, "lnet/unknown-handle");
	is(run, report, "ended by a second answer", told->ended, ended);
	is(run, report, "messages", o2_lnet_messages(lnet), messages);
}

/* Deliver a REPLY by RDMA: it uses a message of its own.  1: it is not accepted. */
static int take_rdma(struct o2_settings_run *run, struct o2_choice *c, struct o2_report *report,
		     struct o2_lnet *lnet, const struct answer *answer, const struct o2_lnet_hdr *hdr,
		     struct told *told)
{
	struct o2_transfer_memory memory = {.buffer = {.nob = 1}};
	const int status = o2_draw_bool(c, 2, 1) ? -EIO : 0;
	const bool too_long = answer->bytes > answer->asked_bytes;
	const int expected = !answer->meant	? -ENODATA
			     : too_long		? -EMSGSIZE
			     : answer->room < 2 ? -ENOSPC
						: 0;
	struct o2_error error = {0};
	uint64_t tag = 0;
	const int rc = o2_lnet_match(lnet, answer->from, hdr, &memory, &tag, &error);

	is(run, report, "o2_lnet_match", rc, expected);
	is(run, report, "dropped", told->dropped, expected != 0);
	if (rc != 0) {
		rule_is(run, report, error.rule,
			!answer->meant ? "lnet/unknown-handle"
			: too_long     ? "lnet/reply/too-long"
				       : "lnet/messages");
		is(run, report, "code", error.code, rc);
		return answer->meant && too_long ? -EMSGSIZE : 1;
	}
	is(run, report, "bytes to write", (int64_t)memory.buffer.nob, answer->bytes);
	is(run, report, "messages", o2_lnet_messages(lnet), 2);
	if (!report->failed)
		take_another(run, report, lnet, answer, hdr, told);
	if (!report->failed)
		finish(lnet, tag, status, answer->bytes, REPLY_RULE);
	return status;
}

/* Check that the operation ends so, once the transport has ended the request; or still waits, then times out. */
static void end(struct o2_settings_run *run, struct o2_report *report, struct o2_lnet *lnet,
		struct o2_clock *clock, const struct answer *answer, int outcome, const char *fault,
		struct told *told)
{
	is(run, report, "ended", told->ended, outcome <= 0);
	if (outcome == 1 && !report->failed) {
		o2_clock_tell(clock, 50999);
		o2_lnet_check_time(lnet);
		is(run, report, "ended in time", told->ended, 0);
		o2_clock_tell(clock, 51000);
		o2_lnet_check_time(lnet);
		is(run, report, "ended", told->ended, 1);
		outcome = -ETIMEDOUT;
		fault = "lnet/deadline";
	}
	is(run, report, "status", told->status, outcome);
	rule_is(run, report, told->fault, fault);
	is(run, report, "length", (int64_t)told->length_bytes, outcome == 0 ? answer->bytes : 0);
	is(run, report, "messages", o2_lnet_messages(lnet), 0);
}

static struct answer draw_answer(struct o2_choice *c)
{
	struct answer answer = {.gets = o2_draw_bool(c, 1, 1),
				.room = (uint32_t)o2_draw_range(c, 1, 2),
				.asked_bytes = (uint32_t)o2_draw_range(c, 1, MOST),
				.from = o2_draw_bool(c, 5, 1) ? STRANGER : PEER};

	answer.by_rdma = answer.gets && o2_draw_bool(c, 1, 1);
	answer.bytes = o2_draw_bool(c, 1, 1) ? answer.asked_bytes + (uint32_t)o2_draw(c, 1)
					     : (uint32_t)o2_draw(c, answer.asked_bytes);
	return answer;
}

/* Draw an answer whose handle is that of the operation, or nearly. */
static void draw_handle(struct o2_choice *c, const struct told *told, struct answer *answer)
{
	const uint64_t wrong = o2_draw(c, 9);

	answer->handle = answer->gets ? told->hdr.msg.get.return_wmd : told->hdr.msg.put.ack_wmd;
	if (wrong == 0)
		answer->handle.wh_interface_cookie++;
	if (wrong == 1)
		answer->handle.wh_object_cookie++;
	answer->meant = wrong > 1 && answer->from == PEER;
}

void o2_settings_answer(struct o2_settings_run *run, struct o2_choice *c, struct o2_report *report)
{
	const struct o2_lnet_ops ops = {.done = done, .event = event};
	const struct o2_arena *arena = &run->ni[0].arena;
	struct told told = {.sent = 0};
	const struct o2_lnet_transport transport = {
		.context = &told, .immediate_max = immediate_max, .send = note};
	struct answer answer = draw_answer(c);
	const bool early = o2_draw_bool(c, 1, 1);
	const int sent = early && o2_draw_bool(c, 2, 1) ? -EIO : 0;
	struct o2_kiov page = {3, 0, 4096};
	const struct o2_transfer_memory memory = {
		.buffer = {.kind = O2_KIOV, .count = 1, .kiov = &page, .nob = answer.asked_bytes}};
	const struct o2_lnet_target target = {.nid = PEER, .portal = 60, .ack = true};
	struct o2_lnet_config config = O2_LNET_DEFAULTS;
	struct o2_lnet *lnet = NULL;
	struct o2_clock clock = {0};
	struct o2_lnet_hdr hdr;
	const char *fault;
	int rc, outcome;

	config.nid = run->ni[0].config.nid;
	config.interface_cookie = COOKIE;
	config.first_page = 0;
	config.max_messages = answer.room;
	snprintf(run->text, sizeof(run->text), "%s of %" PRIu32 " bytes, answered with %" PRIu32 "%s",
		 answer.gets ? "GET" : "PUT", answer.asked_bytes, answer.bytes,
		 answer.by_rdma ? " by RDMA" : "");
	o2_clock_tell(&clock, 1000);
	rc = o2_lnet_create(&config, &transport, arena, &clock, &ops, &told, &lnet, NULL);
	is(run, report, "o2_lnet_create", rc, 0);
	if (report->failed)
		return;
	rc = answer.gets ? o2_lnet_get(lnet, &target, &memory, NULL, NULL)
			 : o2_lnet_put(lnet, &target, &memory, NULL, NULL);
	is(run, report, "the operation", rc, 0);
	is(run, report, "sent", told.sent, 1);
	if (!early)
		o2_lnet_finished(lnet, told.tag, 0, 0, NULL);
	draw_handle(c, &told, &answer);
	hdr = header(&config, &answer);
	if (!report->failed) {
		outcome = answer.by_rdma ? take_rdma(run, c, report, lnet, &answer, &hdr, &told)
					 : take_immediate(run, report, lnet, &answer, &hdr, &told);
		is(run, report, "ended before its request was sent", told.ended, !early && outcome <= 0);
		if (outcome != 1 && !report->failed)
			take_another(run, report, lnet, &answer, &hdr, &told);
		/* An answer shows that the request has arrived, whatever its send completion says. */
		if (early && !report->failed)
			finish(lnet, told.tag, sent, 0, SEND_RULE);
		run->tally.seen[outcome == 1 ? O2_SETTINGS_NOT_ANSWERED : O2_SETTINGS_ANSWERED]++;
		fault = outcome == 1 ? SEND_RULE : fault_of(outcome);
		outcome = outcome == 1 && sent != 0 ? sent : outcome;
		end(run, report, lnet, &clock, &answer, outcome, fault, &told);
	}
	if (!report->failed)
		o2_lnet_destroy(lnet);
}
