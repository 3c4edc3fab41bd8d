/* SPDX-License-Identifier: MIT */
#include "lst/console.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>

#include "base/monotonic.h"
#include "lst/console_internal.h"
#include "lst/wire/range.h"

/* The session: the requests to the node's framework, one after the other, and the handling of its replies. */

#define ALIVE_SHARE 2u /* a DEBUG is sent after 1/ALIVE_SHARE of the node's timeout without a request */

static void enter(struct o2_lst_console *console, enum o2_lst_console_step step);

const char *o2_lst_console_step_name(enum o2_lst_console_step step)
{
	static const char *const names[] = {
		[O2_LST_STEP_MAKE] = "make session", [O2_LST_STEP_TEST] = "add test",
		[O2_LST_STEP_BEFORE] = "counters",   [O2_LST_STEP_RUN] = "run",
		[O2_LST_STEP_AFTER] = "counters",    [O2_LST_STEP_REMOVE] = "remove session",
		[O2_LST_STEP_OVER] = "over",
	};

	return names[step];
}

/* The peer chooses the status, so it may be no errno, and too large. */
static int errno_of(uint32_t status)
{
	return status <= INT32_MAX ? -(int)status : -EPROTO;
}

/* --- ends and failures --- */

/* Record a failure, unless an earlier one was recorded. */
static void note_failure(struct o2_lst_console *console, int status, const struct o2_error *error)
{
	struct o2_lst_console_report *report = &console->report;

	if (report->status != 0)
		return;
	report->step = console->step;
	report->status = status;
	report->has_error = error != NULL;
	if (error != NULL)
		report->error = *error;
}

static void fail(struct o2_lst_console *console, int status, const struct o2_error *error)
{
	const enum o2_lst_console_step step = console->step;

	note_failure(console, status, error);
	if (step == O2_LST_STEP_RUN && !console->config.reverse) {
		console->stopping = true;
		o2_lst_console_pump(console);
	} else if (console->report.made && !console->lost && step < O2_LST_STEP_REMOVE) {
		enter(console, O2_LST_STEP_REMOVE);
	} else {
		console->report.left |= step == O2_LST_STEP_REMOVE && !console->lost;
		enter(console, O2_LST_STEP_OVER);
	}
}

/* The node has replied with a status. */
static void fail_refused(struct o2_lst_console *console, uint32_t status)
{
	console->report.refused |= console->report.status == 0;
	fail(console, errno_of(status), NULL);
}

/* Go on to the next step after a success. */
static void go_on(struct o2_lst_console *console)
{
	enum o2_lst_console_step next = console->step + 1;

	if (console->stopping && next < O2_LST_STEP_AFTER)
		next = O2_LST_STEP_REMOVE;
	else if (next == O2_LST_STEP_BEFORE && !console->config.before)
		next = O2_LST_STEP_RUN;
	enter(console, next);
}

void o2_lst_console_conclude(struct o2_lst_console *console)
{
	console->report.ended_ms = o2_clock_ms(console->clock);
	if (console->lost)
		enter(console, O2_LST_STEP_OVER);
	else
		enter(console, console->report.status == 0 ? O2_LST_STEP_AFTER : O2_LST_STEP_REMOVE);
}

/* --- replies --- */

/* Does the reply say that the node is not in our session? */
static bool is_lost(struct o2_lst_console *console, struct o2_lst_sid sid)
{
	if (o2_lst_sid_equal(sid, console->config.sid))
		return false;
	console->lost = true;
	if (console->report.status == 0) {
		console->report.owner = sid;
		console->report.taken = true;
	}
	return true;
}

static void refuse_sid(struct o2_lst_sid found, struct o2_lst_sid ours, struct o2_error *error)
{
	static const char rule[] = "lst/console/session";

	if (found.ses_nid != ours.ses_nid)
		o2_refuse_other(error, -EPROTO, rule, "mksn_sid.ses_nid", found.ses_nid, ours.ses_nid);
	else
		o2_refuse_other(error, -EPROTO, rule, "mksn_sid.ses_stamp", found.ses_stamp, ours.ses_stamp);
}

static void take_mksn(struct o2_lst_console *console, const struct o2_lst_msg *msg)
{
	const struct o2_lst_mksn_reply *reply = &msg->u.mksn_reply;
	struct o2_lst_console_report *report = &console->report;
	struct o2_error error;

	if (reply->mksn_status == EBUSY) {
		report->owner = reply->mksn_sid;
		report->owner_name = reply->mksn_name;
		report->owner_timeout_s = reply->mksn_timeout;
	}
	if (reply->mksn_status != 0) {
		fail_refused(console, reply->mksn_status);
		return;
	}
	if (!o2_lst_sid_equal(reply->mksn_sid, console->config.sid)) {
		refuse_sid(reply->mksn_sid, console->config.sid, &error);
		report->left = true;
		fail(console, -EPROTO, &error);
		return;
	}
	report->made = true;
	report->session_timeout_s = reply->mksn_timeout;
	if (msg->msg_ses_feats != O2_LST_FEATS_MASK) {
		o2_refuse_other(&error, -EPROTO, "lst/console/features", "msg_ses_feats", msg->msg_ses_feats,
				O2_LST_FEATS_MASK);
		fail(console, -EPROTO, &error);
		return;
	}
	go_on(console);
}

static void take_rmsn(struct o2_lst_console *console, const struct o2_lst_rmsn_reply *reply)
{
	/* ESRCH: there is no session, as wanted. */
	if (reply->rmsn_status == 0 || reply->rmsn_status == ESRCH) {
		go_on(console);
		return;
	}
	if (reply->rmsn_status == EBUSY && is_lost(console, reply->rmsn_sid))
		fail(console, -ESTALE, NULL);
	else
		fail_refused(console, reply->rmsn_status);
}

static void take_stat(struct o2_lst_console *console, const struct o2_lst_stat_reply *reply)
{
	if (console->step == O2_LST_STEP_BEFORE) {
		console->report.has_before = true;
		console->report.before = *reply;
	} else {
		console->report.has_after = true;
		console->report.after = *reply;
	}
	go_on(console);
}

static void take_reply(struct o2_lst_console *console, const struct o2_lst_msg *msg)
{
	const struct o2_lst_generic_reply *reply = &msg->u.reply;

	console->heard_ms = o2_clock_ms(console->clock);
	if (msg->msg_type == O2_LST_MKSN_REPLY)
		take_mksn(console, msg);
	else if (msg->msg_type == O2_LST_RMSN_REPLY)
		take_rmsn(console, &msg->u.rmsn_reply);
	else if (is_lost(console, reply->sid))
		fail(console, -ESTALE, NULL);
	else if (reply->status != 0)
		fail_refused(console, reply->status);
	else if (msg->msg_type == O2_LST_STAT_REPLY)
		take_stat(console, &msg->u.stat_reply);
	else if (msg->msg_type == O2_LST_BATCH_REPLY)
		o2_lst_reverse_take(console, &msg->u.batch_reply);
	else if (console->step == O2_LST_STEP_RUN)
		o2_lst_console_pump(console);
	else
		go_on(console);
}

/* Without a connection the request has not reached the node; after any other failure it may have. */
static bool is_unsent(int status)
{
	return status == -EHOSTUNREACH || status == -ECONNREFUSED || status == -ENETDOWN;
}

static void note_answer(void *context, const struct o2_lst_answer *answer)
{
	struct o2_lst_console *console = context;

	console->asking = false;
	if (answer->status == 0) {
		take_reply(console, answer->reply);
		return;
	}
	/* The node may have made the session. */
	if (console->step == O2_LST_STEP_MAKE)
		console->report.left = !is_unsent(answer->status);
	fail(console, answer->status, answer->error);
}

/* --- requests --- */

void o2_lst_console_ask(struct o2_lst_console *console, uint32_t type)
{
	struct o2_lst_msg msg = o2_lst_console_request(&console->config, type);
	struct o2_lst_call call = {.nid = console->config.nid,
				   .pid = console->config.pid,
				   .request = &msg,
				   .done = note_answer,
				   .context = console};
	struct o2_error error;
	int rc;

	assert(!console->asking);
	if (type == O2_LST_BATCH_REQST)
		msg.u.batch_reqst = o2_lst_reverse_batch(console);
	if (type == O2_LST_TEST_REQST && console->config.reverse) {
		call.bulk = &console->list;
		call.bulk_is_source = true;
	}
	console->asking = true;
	rc = o2_lst_range_check(&msg, &error);
	if (rc == 0)
		rc = o2_lst_call_start(console->rpc, &call, &console->asked_call, &error);
	if (rc == 0) {
		console->asked_ms = o2_clock_ms(console->clock);
		return;
	}
	console->asking = false;
	fail(console, rc, &error);
}

static void enter(struct o2_lst_console *console, enum o2_lst_console_step step)
{
	static const uint32_t asks[] = {
		[O2_LST_STEP_MAKE] = O2_LST_MKSN_REQST,	  [O2_LST_STEP_TEST] = O2_LST_TEST_REQST,
		[O2_LST_STEP_BEFORE] = O2_LST_STAT_REQST, [O2_LST_STEP_AFTER] = O2_LST_STAT_REQST,
		[O2_LST_STEP_REMOVE] = O2_LST_RMSN_REQST,
	};

	console->step = step;
	if (console->report.status == 0)
		console->report.step = step;
	if (step == O2_LST_STEP_OVER)
		return;
	if (step != O2_LST_STEP_RUN) {
		o2_lst_console_ask(console, asks[step]);
		return;
	}
	console->report.started_ms = o2_clock_ms(console->clock);
	if (console->config.reverse)
		o2_lst_reverse_run(console);
	else
		o2_lst_console_pump(console);
}

/* --- calls by the owner --- */

static int open_test(struct o2_lst_console *console, struct o2_error *error)
{
	const struct o2_lst_console_config *config = &console->config;
	const uint32_t pages = o2_lst_console_pages(config, console->arena->page_bytes);
	int rc = 0;

	if (config->reverse)
		return o2_lst_reverse_open(console, error);
	console->lane = calloc(config->concurrency, sizeof(*console->lane));
	if (console->lane == NULL)
		return o2_fail(error, -ENOMEM, "lst/memory", "concurrency", config->concurrency);
	if (pages > 0)
		rc = o2_lst_pages_create(console->arena, config->first_page, pages, config->mode,
					 &console->pages, error);
	return rc != 0 ? rc
		       : o2_lst_tester_create(config->concurrency, console->rpc, console->pages,
					      console->clock, &console->tester, error);
}

int o2_lst_console_create(const struct o2_lst_console_config *config, struct o2_lst_rpc *rpc,
			  const struct o2_arena *arena, const struct o2_clock *clock,
			  const struct o2_lst_console_ops *ops, void *context,
			  struct o2_lst_console **console_out, struct o2_error *error)
{
	struct o2_lst_console *console;
	int rc = o2_lst_console_check(config, error);

	if (rc != 0)
		return rc;
	console = calloc(1, sizeof(*console));
	if (console == NULL)
		return o2_fail(error, -ENOMEM, "lst/memory", "console", sizeof(*console));
	console->config = *config;
	console->rpc = rpc;
	console->arena = arena;
	console->clock = clock;
	console->ops = *ops;
	console->context = context;
	rc = open_test(console, error);
	if (rc == 0)
		*console_out = console;
	else
		o2_lst_console_destroy(console);
	return rc;
}

void o2_lst_console_destroy(struct o2_lst_console *console)
{
	if (console == NULL)
		return;
	o2_lst_tester_destroy(console->tester);
	o2_lst_pages_destroy(console->pages);
	free(console->lane);
	free(console);
}

void o2_lst_console_start(struct o2_lst_console *console)
{
	assert(console->step == O2_LST_STEP_MAKE && !console->asking);
	enter(console, O2_LST_STEP_MAKE);
}

void o2_lst_console_stop(struct o2_lst_console *console, bool cancel)
{
	/* Before the first answer there is no session to end in order. */
	const bool again = console->stopped || console->step == O2_LST_STEP_MAKE;
	/* Without its RPCs the test may end at once, and then another request is open. */
	const bool asking = console->asking;

	console->stopping = console->stopped = true;
	console->by_force |= cancel;
	for (uint32_t i = 0; cancel && console->lane != NULL && i < console->config.concurrency; i++)
		if (console->lane[i].busy)
			o2_lst_test_cancel(console->tester, console->lane[i].call);
	if (cancel && again && asking)
		o2_lst_call_cancel(console->rpc, console->asked_call);
	if (console->step == O2_LST_STEP_RUN)
		o2_lst_console_pump(console);
}

void o2_lst_console_check_time(struct o2_lst_console *console)
{
	const struct o2_lst_console_config *config = &console->config;
	const uint64_t now_ms = o2_clock_ms(console->clock);
	const uint64_t quiet_ms = (uint64_t)console->report.session_timeout_s * O2_MS_PER_S / ALIVE_SHARE;

	if (console->step != O2_LST_STEP_RUN)
		return;
	if (config->duration_ms != 0 && now_ms - console->report.started_ms >= config->duration_ms)
		console->stopping = true;
	if (!console->asking && quiet_ms != 0 && now_ms - console->asked_ms >= quiet_ms)
		o2_lst_console_ask(console, O2_LST_DEBUG_REQST);
	if (console->step == O2_LST_STEP_RUN)
		o2_lst_console_pump(console);
}

bool o2_lst_console_is_over(const struct o2_lst_console *console)
{
	return console->step == O2_LST_STEP_OVER;
}

const struct o2_lst_console_report *o2_lst_console_report(const struct o2_lst_console *console)
{
	return &console->report;
}
