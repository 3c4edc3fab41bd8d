/* SPDX-License-Identifier: MIT */
#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

#include "cli/net/conform/lst.h"
#include "cli/net/lst_report.h"

/* Runs tests of LNet selftest, many at a time. */

struct o2_lst_test o2_conform_lst_ping(const struct o2_conform *conform)
{
	return (struct o2_lst_test){.service = O2_LST_SERVICE_PING, .features = conform->lst->features};
}

struct o2_lst_test o2_conform_lst_brw(const struct o2_conform *conform, enum o2_lst_brw_rw rw, uint32_t len)
{
	return (struct o2_lst_test){.service = O2_LST_SERVICE_BRW,
				    .features = conform->lst->features,
				    .rw = rw,
				    .check = O2_LST_CHECK_FULL,
				    .len = len};
}

/* "ping", or "read of 4096 bytes, offset 8, check full". */
static void test_text(const struct o2_lst_test *test, char *text, size_t bytes)
{
	if (test->service == O2_LST_SERVICE_PING)
		snprintf(text, bytes, "ping");
	else
		snprintf(text, bytes, "%s of %" PRIu32 " bytes, offset %" PRIu32 ", check %s",
			 o2_lst_rw_name(test->rw), test->len, test->offset, o2_lst_check_name(test->check));
}

static void note_result(void *context, const struct o2_lst_test_result *result)
{
	struct o2_conform_lst_tries *tries = context;

	tries->ended++;
	/* A node that has no memory says so in a reply, so this is our own side. */
	tries->starved |= result->failure == O2_LST_FAILURE_RPC && result->status == -ENOMEM;
	if (result->failure == O2_LST_FAILURE_NONE || tries->failed++ > 0)
		return;
	tries->first = (uint32_t)result->tag;
	o2_net_lst_result_text(result, tries->why, sizeof(tries->why));
}

static void begin(struct o2_conform *conform, const struct o2_lst_test *test, uint32_t place)
{
	struct o2_conform_lst *lst = conform->lst;
	const struct o2_lst_try asked = {.test = test,
					 .nid = conform->options->peer,
					 .done = note_result,
					 .context = &lst->tries,
					 .tag = place};
	struct o2_lst_test_result result = {.tag = place, .failure = O2_LST_FAILURE_RPC};

	/* A value that a node might use without checking it is never sent. */
	assert(o2_lst_test_check(test, NULL) == 0);
	lst->tries.begun++;
	result.status = o2_lst_test_start(lst->tester, &asked, NULL, NULL);
	if (result.status != 0)
		note_result(&lst->tries, &result);
}

bool o2_conform_lst_try(struct o2_conform *conform, const struct o2_lst_test *tests, uint32_t ntests,
			uint32_t count, uint32_t at_a_time)
{
	struct o2_conform_lst_tries *tries = &conform->lst->tries;
	char what[96];

	*tries = (struct o2_conform_lst_tries){.begun = 0};
	while (tries->ended < tries->begun || (tries->begun < count && tries->failed == 0)) {
		while (tries->begun < count && tries->failed == 0 && tries->begun - tries->ended < at_a_time)
			begin(conform, &tests[tries->begun % ntests], tries->begun % ntests);
		if (tries->ended < tries->begun && !o2_conform_lst_step(conform))
			return false;
	}
	if (tries->failed == 0)
		return true;
	test_text(&tests[tries->first], what, sizeof(what));
	if (tries->starved)
		o2_conform_starve(conform, "%s: not enough memory", what);
	o2_conform_find(conform, "%s: %" PRIu32 " of %" PRIu32 " failed, the first so: %s", what,
			tries->failed, tries->begun, tries->why);
	return false;
}
