/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <stdlib.h>

#include "oracle/selftest_requests.h"
#include "props/check/check_internal.h"

/* The first question to a program: its answer names the stages (docs/oracle.md, "Process protocol"). */

static void heard(void *context, uint32_t index, const struct o2_answer *answer)
{
	(void)context;
	(void)index;
	(void)answer;
}

/* Are the first questions of version 1, which every program may be asked? */
static bool begins_with_version_1(const struct o2_check_options *options)
{
	if (options->case_file != NULL || options->choices != NULL || options->since != NULL)
		return false;
	for (uint32_t i = 0; i < O2_STAGES_1; i++)
		if (options->stage[i])
			return true;
	return false;
}

int o2_check_greet(struct o2_check_run *run)
{
	struct o2_host *host = run->subject->host;
	struct o2_case *asked = NULL;
	json_t *form;
	int rc = -ENOMEM;

	/* The table of a shared object has told it. */
	if (host->has_capacity || begins_with_version_1(run->options))
		return 0;
	form = json_loads(o2_selftest_request(O2_STAGE_SG_BUILD), 0, NULL);
	asked = malloc(sizeof(*asked));
	if (form != NULL && asked != NULL)
		rc = o2_case_from_json(form, asked, NULL);
	if (rc == 0)
		rc = host->ops->ask(host, &asked, 1, heard, NULL);
	free(asked);
	json_decref(form);
	return rc;
}
