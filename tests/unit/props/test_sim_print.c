/* SPDX-License-Identifier: MIT */
/* What a replay prints of a case's events: no more than the log keeps, each with its own number. */

#include <inttypes.h>

#include "props/talk/sim_internal.h"
#include "tests/lib/unit_test.h"

/* Print a case of that many events; event i starts operation i.  Compare the first number and the last line. */
static void check(uint32_t events, uint32_t pieces, uint32_t first)
{
	struct o2_sim *sim = calloc(1, sizeof(*sim));
	char *text = NULL, expected[120];
	size_t bytes;
	FILE *out = open_memstream(&text, &bytes);

	assert_true(sim != NULL && out != NULL);
	for (uint32_t i = 0; i < events; i++)
		o2_sim_log(sim, O2_SIM_EV_START, NULL, i, 0);
	o2_sim_print(sim, pieces, out);
	assert_int_equal(fclose(out), 0);
	snprintf(expected, sizeof(expected),
		 "  ... %" PRIu32 " events before\n  [%" PRIu32 "] starts operation %" PRIu32 "\n", first,
		 first, first);
	/* If nothing is left out, there is no line about it. */
	assert_non_null(strstr(text, first > 0 ? expected : strchr(expected, '\n') + 1));
	assert_int_equal(strstr(text, "events before") != NULL, first > 0);
	snprintf(expected, sizeof(expected), "[%" PRIu32 "] starts operation %" PRIu32 "\n", events - 1,
		 events - 1);
	assert_string_equal(text + bytes - strlen(expected), expected);
	free(text);
	free(sim);
}

TEST(prints_what_the_log_has)
{
	check(30, UINT32_MAX, 0);
	check(30, 5, 10);
	check(O2_SIM_LOG, UINT32_MAX, 0);
	check(O2_SIM_LOG + 1, UINT32_MAX, 1);
	check(2 * O2_SIM_LOG, UINT32_MAX, O2_SIM_LOG);
	check(2 * O2_SIM_LOG, O2_SIM_LOG, O2_SIM_LOG);
	check(2 * O2_SIM_LOG, UINT32_MAX / 4 + 2, O2_SIM_LOG);
}
