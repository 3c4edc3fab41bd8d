/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "props/lst/lst_internal.h"

/* Checks a console's final report, and when it queries its session: docs/lst.md, "The console of o2ref". */

/* --- a session that nobody hears of --- */

/* Half of the node's session timeout; 0: it has none. */
static uint64_t quiet_ms(const struct o2_lst_talk *talk)
{
	return (uint64_t)talk->session_timeout_s * 1000 / 2;
}

void o2_talk_listen(struct o2_lst_talk *talk)
{
	for (uint32_t i = 0; i < talk->nasked; i++) {
		struct o2_talk_asked *asked = &talk->asked[i];

		if (asked->is_test || asked->heard || asked->doomed || !asked->valid ||
		    o2_talk_is_open(asked))
			continue;
		asked->heard = true;
		talk->heard_ms = talk->now_ms;
		if (asked->msg.msg_type == O2_LST_MKSN_REQST)
			talk->session_timeout_s = asked->reply.u.mksn_reply.mksn_timeout;
	}
}

uint64_t o2_talk_framework_ms(const struct o2_lst_talk *talk, uint32_t nasked)
{
	while (nasked > 0 && talk->asked[nasked - 1].is_test)
		nasked--;
	return nasked > 0 ? talk->asked[nasked - 1].asked_ms : 0;
}

void o2_talk_check_early(struct o2_lst_talk *talk)
{
	const uint64_t after_ms = talk->now_ms - o2_talk_framework_ms(talk, talk->nasked - 1);

	if (quiet_ms(talk) == 0 || after_ms < quiet_ms(talk))
		o2_report_fail(talk->report, "lst/console-alive",
			       "the node is asked for the session %" PRIu64 " ms after the last request",
			       after_ms);
}

void o2_talk_check_alive(struct o2_lst_talk *talk)
{
	const uint64_t after_ms = talk->now_ms - o2_talk_framework_ms(talk, talk->nasked);
	bool tests = talk->nbegun > 0, asks = false;

	for (uint32_t i = 0; i < talk->nasked; i++) {
		const struct o2_talk_asked *asked = &talk->asked[i];

		tests |= asked->is_test && !asked->ended;
		/* A request that has not been sent ends once it has been. */
		asks |= !asked->is_test && (o2_talk_is_open(asked) || !asked->sent);
	}
	if (tests && !asks && talk->refused == 0 && quiet_ms(talk) != 0 && after_ms >= quiet_ms(talk))
		o2_report_fail(talk->report, "lst/console-alive",
			       "the node is not asked for the session %" PRIu64 " ms after the last request",
			       after_ms);
}

/* --- what is reported --- */

/* Only what has a rule has details: see o2_lst_answer. */
void o2_talk_check_error(struct o2_lst_talk *talk, const struct o2_talk_asked *asked,
			 const struct o2_lst_console_result *result)
{
	const bool late = result->outcome == O2_LST_FAIL_TIMEOUT;
	const struct o2_error *error = result->error;

	o2_talk_check_details(talk, asked, result);
	if ((error != NULL) != (late || result->outcome == O2_LST_FAIL_MALFORMED) ||
	    (late && (error->rule == NULL || strcmp(error->rule, "lst/rpc-timeout") != 0 ||
		      error->limit != O2_TALK_TIMEOUT_MS || error->value < error->limit)))
		o2_report_fail(talk->report, "lst/console-outcome", "RPC %" PRIu64 " ends as '%s' by rule %s",
			       result->number, o2_lst_outcome_name(result->outcome),
			       error != NULL ? error->rule : "none");
}

static void wrong(struct o2_lst_talk *talk, const char *what, int64_t found, int64_t expected)
{
	if (found != expected)
		o2_report_fail(talk->report, "lst/console-report",
			       "%s: %" PRId64 ", and by what has come %" PRId64, what, found, expected);
}

static int errno_of(uint32_t status)
{
	return status <= INT32_MAX ? -(int)status : -EPROTO;
}

/* The expected errno of a framework request that failed; 0: not predicted. */
static int failure_of(const struct o2_lst_talk *talk, const struct o2_talk_asked *asked)
{
	const struct o2_lst_generic_reply *reply = &asked->reply.u.reply;
	const bool ours = o2_lst_sid_equal(reply->sid, talk->config.sid);

	if (asked->doomed || o2_talk_is_open(asked))
		return asked->doom;
	if (!asked->valid)
		return -EBADMSG;
	if (asked->msg.msg_type == O2_LST_MKSN_REQST)
		return reply->status != 0 ? errno_of(reply->status) : -EPROTO;
	if (asked->msg.msg_type == O2_LST_RMSN_REQST)
		return reply->status == EBUSY && !ours ? -ESTALE : errno_of(reply->status);
	return ours ? errno_of(reply->status) : -ESTALE;
}

/* True if it failed because the node replied with a status, and is in the session all the same. */
static bool is_refused(const struct o2_lst_talk *talk, const struct o2_talk_asked *asked)
{
	const struct o2_lst_generic_reply *reply = &asked->reply.u.reply;
	const bool ours = o2_lst_sid_equal(reply->sid, talk->config.sid);

	if (asked->doomed || o2_talk_is_open(asked) || !asked->valid || reply->status == 0)
		return false;
	return ours || asked->msg.msg_type == O2_LST_MKSN_REQST ||
	       (asked->msg.msg_type == O2_LST_RMSN_REQST && reply->status != EBUSY);
}

/* True for requests made after the test has begun. */
static bool is_of_run(const struct o2_talk_asked *asked)
{
	return asked->is_test || asked->msg.msg_type == O2_LST_BATCH_REQST;
}

static enum o2_lst_console_step step_of(const struct o2_talk_asked *asked, bool ran)
{
	switch (asked->msg.msg_type) {
	case O2_LST_MKSN_REQST:
		return O2_LST_STEP_MAKE;
	case O2_LST_TEST_REQST:
		return O2_LST_STEP_TEST;
	case O2_LST_STAT_REQST:
		return ran ? O2_LST_STEP_AFTER : O2_LST_STEP_BEFORE;
	case O2_LST_DEBUG_REQST:
	case O2_LST_BATCH_REQST:
		return O2_LST_STEP_RUN;
	default:
		return O2_LST_STEP_REMOVE;
	}
}

/* The report must name the first request that failed. */
static void check_failure(struct o2_lst_talk *talk, const struct o2_lst_console_report *report)
{
	bool ran = false;

	for (uint32_t i = 0; i < talk->nasked && !(talk->unsent && i == talk->unsent_at); i++) {
		const struct o2_talk_asked *asked = &talk->asked[i];
		int status;

		ran |= is_of_run(asked);
		if (asked->is_test || o2_talk_is_well(talk, asked))
			continue;
		status = failure_of(talk, asked);
		if (status != 0)
			wrong(talk, "status", report->status, status);
		wrong(talk, "refused", report->refused, is_refused(talk, asked));
		wrong(talk, "step", report->step, step_of(asked, ran));
		wrong(talk, "taken", report->taken, status == -ESTALE);
		if (status == -ESTALE)
			wrong(talk, "owner", o2_lst_sid_equal(report->owner, asked->reply.u.reply.sid), true);
		else if (status != 0 && asked->msg.msg_type != O2_LST_MKSN_REQST)
			wrong(talk, "owner of a node that was not lost first", (int64_t)report->owner.ses_nid,
			      0);
		return;
	}
	if (talk->unsent)
		wrong(talk, "status", report->status, -ENETUNREACH);
}

/* True if an answer of the node names another session. */
static bool is_lost(const struct o2_lst_talk *talk)
{
	for (uint32_t i = 1; i < talk->nasked; i++)
		if (!talk->asked[i].is_test && talk->asked[i].heard &&
		    !o2_lst_sid_equal(talk->asked[i].reply.u.reply.sid, talk->config.sid))
			return true;
	return false;
}

/* Without a connection to the node, the request has not left. */
static bool has_not_left(const struct o2_talk_asked *asked)
{
	return asked->doom == -EHOSTUNREACH || asked->doom == -ECONNREFUSED || asked->doom == -ENETDOWN;
}

/* True if the node may still have the session, as far as the model knows. */
static bool may_be_left(const struct o2_lst_talk *talk, bool ours)
{
	const struct o2_talk_asked *first = &talk->asked[0], *last = NULL;

	/* Unless the first request has not left, the node may have received it. */
	if (talk->nasked == 0 || !first->heard)
		return talk->nasked > 0 && !has_not_left(first);
	if (!ours)
		return first->reply.u.mksn_reply.mksn_status == 0;
	for (uint32_t i = 0; i < talk->nasked; i++)
		if (talk->asked[i].msg.msg_type == O2_LST_RMSN_REQST)
			last = &talk->asked[i];
	/* The console could not request removal, or the node answered that another session has replaced it. */
	if (last == NULL)
		return talk->unsent && !is_lost(talk);
	if (last->heard && last->reply.u.rmsn_reply.rmsn_status == EBUSY &&
	    !o2_lst_sid_equal(last->reply.u.rmsn_reply.rmsn_sid, talk->config.sid))
		return false;
	return !o2_talk_is_well(talk, last);
}

/* A session of another console has another NID or another stamp. */
static void check_refused(struct o2_lst_talk *talk, const struct o2_lst_console_report *report,
			  struct o2_lst_sid found)
{
	const struct o2_lst_sid ours = talk->config.sid;
	const bool nid = found.ses_nid != ours.ses_nid;
	const struct o2_error *error = &report->error;
	const char *field = nid ? "mksn_sid.ses_nid" : "mksn_sid.ses_stamp";

	if (!report->has_error || strcmp(error->rule, "lst/console/session") != 0 ||
	    strcmp(error->field, field) != 0 || error->value != (nid ? found.ses_nid : found.ses_stamp) ||
	    error->limit != (nid ? ours.ses_nid : ours.ses_stamp))
		o2_report_fail(talk->report, "lst/console-refusal",
			       "another session is not refused by its %s", field);
}

/* Check the reported session against the node's own answers. */
static void check_session(struct o2_lst_talk *talk, const struct o2_lst_console_report *report)
{
	const struct o2_talk_asked *first = &talk->asked[0];
	const struct o2_lst_mksn_reply *reply = &first->reply.u.mksn_reply;
	const bool answered = first->heard;
	const bool ours =
		answered && reply->mksn_status == 0 && o2_lst_sid_equal(reply->mksn_sid, talk->config.sid);

	wrong(talk, "made", report->made, ours);
	wrong(talk, "left", report->left, may_be_left(talk, ours));
	if (ours)
		wrong(talk, "session_timeout_s", report->session_timeout_s, reply->mksn_timeout);
	if (answered && reply->mksn_status == 0 && !ours)
		check_refused(talk, report, reply->mksn_sid);
	if (!answered || reply->mksn_status != EBUSY)
		return;
	wrong(talk, "owner_timeout_s", report->owner_timeout_s, reply->mksn_timeout);
	wrong(talk, "owner", o2_lst_sid_equal(report->owner, reply->mksn_sid), true);
	wrong(talk, "owner_name", memcmp(&report->owner_name, &reply->mksn_name, sizeof(reply->mksn_name)),
	      0);
}

/*
 * The test begins with its first request, and has ended when the counters are asked for after it, or when the session is
 * removed because the test has failed.  A test of the node that is cut short has no end of its own.
 */
static void check_times(struct o2_lst_talk *talk, const struct o2_lst_console_report *report)
{
	bool ran = false, ended = false;

	for (uint32_t i = 0; i < talk->nasked; i++) {
		const struct o2_talk_asked *asked = &talk->asked[i];
		const uint32_t type = asked->msg.msg_type;

		if (is_of_run(asked) && !ran)
			wrong(talk, "started_ms", (int64_t)report->started_ms, (int64_t)asked->asked_ms);
		ran |= is_of_run(asked);
		if (!ran || ended || (type != O2_LST_STAT_REQST && type != O2_LST_RMSN_REQST))
			continue;
		ended = true;
		wrong(talk, "ended_ms", (int64_t)report->ended_ms,
		      type == O2_LST_RMSN_REQST && talk->config.reverse ? 0 : (int64_t)asked->asked_ms);
	}
}

/* Check the counters reported from before and after the test. */
static void check_counters(struct o2_lst_talk *talk, const struct o2_lst_console_report *report)
{
	bool before = false, after = false, ran = false;

	for (uint32_t i = 0; i < talk->nasked; i++) {
		const struct o2_talk_asked *asked = &talk->asked[i];

		ran |= is_of_run(asked);
		if (asked->msg.msg_type != O2_LST_STAT_REQST || !o2_talk_is_well(talk, asked))
			continue;
		before |= !ran;
		after |= ran;
		o2_talk_check_counters(talk, asked, ran ? &report->after : &report->before);
	}
	wrong(talk, "has_before", report->has_before, before);
	wrong(talk, "has_after", report->has_after, after);
}

static void check_counts(struct o2_lst_talk *talk, const struct o2_lst_console_report *report)
{
	const uint64_t given_up = talk->told[O2_LST_FAIL_LOCAL] + talk->told[O2_LST_FAIL_TIMEOUT];
	uint64_t outcomes = 0;

	for (uint32_t i = 0; i < O2_LST_OUTCOMES; i++) {
		outcomes += report->outcome[i];
		wrong(talk, o2_lst_outcome_name(i), (int64_t)report->outcome[i], (int64_t)talk->told[i]);
	}
	wrong(talk, "bytes", (int64_t)report->bytes, (int64_t)talk->told_bytes);
	if (outcomes != report->begun || talk->nended != report->begun)
		o2_report_fail(talk->report, "lst/console-count",
			       "%" PRIu64 " RPCs were begun, %" PRIu64 " have an outcome, %" PRIu32
			       " were told",
			       report->begun, outcomes, talk->nended);
	/* RPCs begun: exactly `count` if nothing stopped the test, never more; 0 if the node runs the test. */
	if (talk->config.reverse)
		wrong(talk, "begun", (int64_t)report->begun, 0);
	else if (report->begun > talk->config.count ||
		 (report->status == 0 && !talk->stopped && given_up == 0 && talk->config.duration_ms == 0 &&
		  report->begun != talk->config.count))
		o2_report_fail(talk->report, "lst/console-count", "%" PRIu64 " RPCs were begun, of %" PRIu64,
			       report->begun, talk->config.count);
}

void o2_talk_check_report(struct o2_lst_talk *talk)
{
	const struct o2_lst_console_report *report = o2_lst_console_report(talk->console);
	bool well = !talk->unsent;

	for (uint32_t i = 0; i < talk->nasked; i++)
		well = well && (talk->asked[i].is_test || o2_talk_is_well(talk, &talk->asked[i]));
	check_counts(talk, report);
	if (!talk->canceled && (report->status == 0) != well)
		o2_report_fail(talk->report, "lst/console-status",
			       "the session ends with %d; by what has come it has %s", report->status,
			       well ? "gone well" : "failed");
	/* The model does not predict when cancelled RPCs end. */
	if (!talk->canceled)
		wrong(talk, "rpcs_expired", o2_lst_rpc_counters(talk->rpc)->rpcs_expired, talk->nexpired);
	if (talk->asked[0].doom == -ECANCELED) {
		wrong(talk, "status", report->status, -ECANCELED);
		wrong(talk, "left", report->left, true);
	}
	wrong(talk, "rpcs_sent", o2_lst_rpc_counters(talk->rpc)->rpcs_sent, (int64_t)talk->nsent);
	wrong(talk, "errors", o2_lst_rpc_counters(talk->rpc)->errors, (int64_t)talk->nerrors);
	check_times(talk, report);
	if (!talk->canceled) {
		check_failure(talk, report);
		check_session(talk, report);
		check_counters(talk, report);
	}
	talk->seen[CONSOLE_ALL_WELL] +=
		report->status == 0 && report->begun > 0 && report->outcome[O2_LST_WELL] == report->begun;
	talk->seen[REVERSE_RAN] += report->status == 0 && talk->config.reverse && report->has_after;
	talk->seen[CONSOLE_NOT_RUN] += report->status == 0 && report->has_before && !report->has_after;
	talk->seen[CONSOLE_BUSY] += report->status == -EBUSY && report->step == O2_LST_STEP_MAKE;
	talk->seen[CONSOLE_STALE] += report->status == -ESTALE;
	talk->seen[CONSOLE_LEFT] += report->left;
	talk->seen[CONSOLE_NEVER_ASKED] += has_not_left(&talk->asked[0]);
}
