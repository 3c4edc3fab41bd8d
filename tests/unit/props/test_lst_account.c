/* SPDX-License-Identifier: MIT */
/* What the account of a console accepts as the end of an RPC (docs/properties.md, "The lst property"). */

#include <errno.h>

#include "props/lst/lst_internal.h"
#include "tests/lib/unit_test.h"

#define NUMBER 3u /* of the RPC */

struct row {
	int doom; /* why it must end; 0: nothing has come of it */
	enum o2_lst_outcome outcome;
	enum o2_lst_failure failure;
	int status;
	uint64_t number, bytes;
	const char *rule; /* of the details; NULL: none */
	uint64_t waited_ms;
	bool accepted;
};

#define LATE	"lst/rpc-timeout", O2_TALK_TIMEOUT_MS
#define NO_MORE NULL, 0
#define RPC	O2_LST_FAILURE_RPC

static const struct row rows[] = {
	{-ETIMEDOUT, O2_LST_FAIL_TIMEOUT, RPC, -ETIMEDOUT, NUMBER, 0, LATE, true},
	{-ECONNRESET, O2_LST_FAIL_LOCAL, RPC, -ECONNRESET, NUMBER, 0, NO_MORE, true},
	{-ECANCELED, O2_LST_CANCELED, RPC, -ECANCELED, NUMBER, 0, NO_MORE, true},
	{0, O2_LST_FAIL_TIMEOUT, RPC, -ETIMEDOUT, NUMBER, 0, LATE, false},
	{-ECONNRESET, O2_LST_FAIL_TIMEOUT, RPC, -ECONNRESET, NUMBER, 0, LATE, false},
	{-ETIMEDOUT, O2_LST_CANCELED, RPC, -ETIMEDOUT, NUMBER, 0, NO_MORE, false},
	{-ETIMEDOUT, O2_LST_FAIL_TIMEOUT, RPC, -EPERM, NUMBER, 0, LATE, false},
	{-ETIMEDOUT, O2_LST_FAIL_TIMEOUT, RPC, -ETIMEDOUT, 0, 0, LATE, false},
	{-ETIMEDOUT, O2_LST_FAIL_TIMEOUT, RPC, -ETIMEDOUT, NUMBER, 8, LATE, false},
	/* Details: only of what has a rule, and the right ones. */
	{-ETIMEDOUT, O2_LST_FAIL_TIMEOUT, RPC, -ETIMEDOUT, NUMBER, 0, NO_MORE, false},
	{-ETIMEDOUT, O2_LST_FAIL_TIMEOUT, RPC, -ETIMEDOUT, NUMBER, 0, "lst/magic", O2_TALK_TIMEOUT_MS, false},
	{-ETIMEDOUT, O2_LST_FAIL_TIMEOUT, RPC, -ETIMEDOUT, NUMBER, 0, "lst/rpc-timeout",
	 O2_TALK_TIMEOUT_MS - 1, false},
	{-ECONNRESET, O2_LST_FAIL_LOCAL, RPC, -ECONNRESET, NUMBER, 0, LATE, false},
	{-ETIMEDOUT, O2_LST_FAIL_TIMEOUT, O2_LST_FAILURE_STATUS, -ETIMEDOUT, NUMBER, 0, LATE, false},
};

TEST(test_how_an_rpc_may_end)
{
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const struct row *row = &rows[i];
		const struct o2_error error = {
			.rule = row->rule, .value = row->waited_ms, .limit = O2_TALK_TIMEOUT_MS};
		const struct o2_lst_console_result result = {.number = row->number,
							     .outcome = row->outcome,
							     .failure = row->failure,
							     .status = row->status,
							     .bytes = row->bytes,
							     .error = row->rule == NULL ? NULL : &error};
		static struct o2_lst_talk talk;
		uint64_t seen[O2_LST_SITUATION_COUNT] = {0};
		struct o2_report report = {0};

		talk = (struct o2_lst_talk){.report = &report, .seen = seen, .nasked = 1, .number = {NUMBER}};
		talk.asked[0].msg.msg_type = O2_LST_PING_REQST;
		talk.asked[0].is_test = talk.asked[0].sent = true;
		talk.asked[0].doomed = row->doom != 0;
		talk.asked[0].doom = row->doom;
		o2_talk_ended(&talk, &result);
		if (report.failed == row->accepted)
			fail_msg("row %zu: %s", i, report.failed ? report.line[0] : "accepted");
	}
}
