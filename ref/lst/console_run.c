/* SPDX-License-Identifier: MIT */
#include <errno.h>

#include "lst/console_internal.h"

/* The test: its RPCs, one at a time in each lane. */

const char *o2_lst_outcome_name(enum o2_lst_outcome outcome)
{
	static const char *const names[] = {
		[O2_LST_WELL] = "well",
		[O2_LST_CANCELED] = "canceled",
		[O2_LST_FAIL_LOCAL] = "transport",
		[O2_LST_FAIL_TIMEOUT] = "timeout",
		[O2_LST_FAIL_MALFORMED] = "malformed",
		[O2_LST_FAIL_STATUS] = "status",
		[O2_LST_FAIL_ANSWER] = "answer",
		[O2_LST_FAIL_LENGTH] = "length",
		[O2_LST_FAIL_DATA] = "data",
	};

	return names[outcome];
}

/* --- ends --- */

static void finish(struct o2_lst_console *console, struct o2_lst_lane *lane,
		   const struct o2_lst_console_result *result)
{
	struct o2_lst_console_report *report = &console->report;

	lane->busy = false;
	console->nbusy--;
	report->outcome[result->outcome]++;
	if (result->outcome == O2_LST_WELL)
		report->bytes += result->bytes;
	/* Further RPCs would fail in the same way. */
	if (result->outcome == O2_LST_FAIL_LOCAL || result->outcome == O2_LST_FAIL_TIMEOUT)
		console->stopping = true;
	if (console->ops.ended != NULL)
		console->ops.ended(console->context, result);
	o2_lst_console_pump(console);
}

/* error: NULL, or the rule that the reply breaks, or the time limit; an errno of the transport has none. */
static enum o2_lst_outcome outcome_of_rpc(const struct o2_lst_console *console, int status,
					  const struct o2_error *error)
{
	if (status == -ECANCELED && console->stopping)
		return O2_LST_CANCELED;
	if (status == -ETIMEDOUT)
		return O2_LST_FAIL_TIMEOUT;
	return status == -EBADMSG && error != NULL ? O2_LST_FAIL_MALFORMED : O2_LST_FAIL_LOCAL;
}

static enum o2_lst_outcome outcome_of(const struct o2_lst_console *console,
				      const struct o2_lst_test_result *result)
{
	switch (result->failure) {
	case O2_LST_FAILURE_NONE:
		return O2_LST_WELL;
	case O2_LST_FAILURE_RPC:
		return outcome_of_rpc(console, result->status, result->error);
	case O2_LST_FAILURE_STATUS:
		return O2_LST_FAIL_STATUS;
	case O2_LST_FAILURE_ANSWER:
		return O2_LST_FAIL_ANSWER;
	case O2_LST_FAILURE_LENGTH:
		return O2_LST_FAIL_LENGTH;
	default:
		return O2_LST_FAIL_DATA;
	}
}

static void note_done(void *context, const struct o2_lst_test_result *done)
{
	struct o2_lst_console *console = context;
	struct o2_lst_lane *lane = &console->lane[done->tag];
	const struct o2_lst_console_result result = {.number = lane->number,
						     .lane = (uint32_t)done->tag,
						     .outcome = outcome_of(console, done),
						     .failure = done->failure,
						     .status = done->status,
						     .bytes = done->bytes,
						     .wrong = done->wrong,
						     .error = done->error};

	finish(console, lane, &result);
}

/* --- beginnings --- */

static void begin(struct o2_lst_console *console, struct o2_lst_lane *lane)
{
	const uint32_t index = (uint32_t)(lane - console->lane);
	const struct o2_lst_try asked = {.test = &console->config.test,
					 .nid = console->config.nid,
					 .pid = console->config.pid,
					 .done = note_done,
					 .context = console,
					 .tag = index};
	struct o2_lst_console_result result = {
		.lane = index, .outcome = O2_LST_FAIL_LOCAL, .failure = O2_LST_FAILURE_RPC};
	struct o2_error error = {.code = 0};

	lane->busy = true;
	lane->number = console->next++;
	console->nbusy++;
	console->report.begun++;
	if (console->ops.began != NULL)
		console->ops.began(console->context, index);
	result.number = lane->number;
	result.status = o2_lst_test_start(console->tester, &asked, &lane->call, &error);
	result.error = error.code != 0 ? &error : NULL;
	if (result.status != 0)
		finish(console, lane, &result);
}

static bool more(const struct o2_lst_console *console)
{
	return !console->stopping && (console->config.count == 0 || console->next < console->config.count);
}

/* An RPC that ends while it is begun calls this again; that call returns at once, and the outer one goes on. */
void o2_lst_console_pump(struct o2_lst_console *console)
{
	bool again = true;

	if (console->pumping || console->step != O2_LST_STEP_RUN)
		return;
	if (console->config.reverse) {
		o2_lst_reverse_go_on(console);
		return;
	}
	console->pumping = true;
	while (again) {
		again = false;
		for (uint32_t i = 0; more(console) && i < console->config.concurrency; i++)
			if (!console->lane[i].busy) {
				begin(console, &console->lane[i]);
				again = true;
			}
	}
	console->pumping = false;
	if (console->nbusy == 0 && !more(console) && !console->asking)
		o2_lst_console_conclude(console);
}
