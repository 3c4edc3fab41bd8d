/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <stdlib.h>

#include "oracle/selftest_requests.h"
#include "props/check/check_internal.h"

/* The first question to a program: its answer names the stages (docs/oracle.md, "Process protocol"). */

/* Is this the answer of a program that has the stage?  After a hang the next question could cost as much time. */
static void heard(void *context, uint32_t index, const struct o2_answer *answer)
{
	const enum o2_check_id fault = answer->fault.check;

	(void)index;
	*(bool *)context = answer->kind == O2_ANSWER_BROKEN
				   ? fault != O2_CHECK_RUN_CRASH && fault != O2_CHECK_RUN_EXIT
				   : answer->kind != O2_ANSWER_NOT_IMPLEMENTED;
}

static bool asks_version_2(const struct o2_check_options *options)
{
	for (uint32_t i = O2_STAGES_1; i < O2_STAGES; i++)
		if (options->stage[i])
			return true;
	return false;
}

static int greet_with(struct o2_host *host, enum o2_stage stage, struct o2_case *asked, bool *answered)
{
	json_t *form = json_loads(o2_selftest_request(stage), 0, NULL);
	int rc = form == NULL ? -ENOMEM : o2_case_from_json(form, asked, NULL);

	if (rc == 0)
		rc = host->ops->ask(host, &asked, 1, heard, answered);
	json_decref(form);
	return rc;
}

int o2_check_greet(struct o2_check_run *run)
{
	struct o2_host *host = run->subject->host;
	struct o2_case *asked;
	bool answered = false;
	int rc = 0;

	/* The table of a shared object has told it. */
	if (host->has_capacity || !asks_version_2(run->options))
		return 0;
	asked = malloc(sizeof(*asked));
	if (asked == NULL)
		return -ENOMEM;
	/* A program that does not have a stage may exit without an answer. */
	for (uint32_t i = 0; i < O2_STAGES_1 && rc == 0 && !answered; i++)
		rc = greet_with(host, (enum o2_stage)i, asked, &answered);
	free(asked);
	return rc;
}
