/* SPDX-License-Identifier: MIT */

#include <string.h>

#include "cli/net/conform/hostile.h"
#include "tests/lib/unit_test.h"

/* What conform makes of what the liar prints (docs/conform.md, "Misbehaviours"). */

static void expect_line(const char *line, const char *name, enum o2_conform_outcome outcome, const char *text)
{
	struct o2_conform_result result;
	char got[O2_CONFORM_ID_BYTES];

	assert_true(o2_conform_hostile_line(line, got, &result));
	assert_string_equal(got, name);
	assert_int_equal(result.outcome, outcome);
	assert_string_equal(result.text, text);
}

TEST(each_outcome_of_the_liar_is_understood)
{
	expect_line("magic                    met\n", "magic", O2_CONFORM_HOLDS, "");
	expect_line("noop-storm               TOLERATED (known): the connection is still there\n",
		    "noop-storm", O2_CONFORM_TOLERATED, "the connection is still there");
	expect_line("asks-depth-0             NOT MET: accepted, reason 0; expected a reject with reason 7\n",
		    "asks-depth-0", O2_CONFORM_FINDING,
		    "accepted, reason 0; expected a reject with reason 7");
	expect_line("no-credit                not tried: needs a victim of ours\n", "no-credit",
		    O2_CONFORM_NOT_TRIED, "needs a victim of ours");
	expect_line("a-name-that-is-longer-than-its-column not tried: x",
		    "a-name-that-is-longer-than-its-column", O2_CONFORM_NOT_TRIED, "x");
}

TEST(other_lines_are_none)
{
	static const char *const lines[] = {
		"",
		"\n",
		"seed 0x1\n",
		"2 passed, 0 failed, 0 tolerated, 0 not tried\n",
		"magic\n",
		"magic met\n\0x",
		"magic                    MET\n",
		" magic met\n",
	};
	struct o2_conform_result result;
	char name[O2_CONFORM_ID_BYTES], longer[400];

	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++)
		assert_int_equal(o2_conform_hostile_line(lines[i], name, &result), i == 5);
	memset(longer, 'a', sizeof(longer));
	memcpy(longer + sizeof(longer) - 6, " met\n", 6);
	assert_false(o2_conform_hostile_line(longer, name, &result));
}

TEST(rows_of_the_table_are_understood)
{
	char name[O2_CONFORM_ID_BYTES], sentence[192];

	assert_true(o2_conform_hostile_row("| `magic` | header | another protocol's magic | "
					   "`wire/header/magic` ([wire.md](wire.md)) | closes, "
					   "EPROTO | - | `without/wire/header/magic` |\n",
					   name, sentence, sizeof(sentence)));
	assert_string_equal(name, "magic");
	assert_string_equal(sentence, "another protocol's magic: closes, EPROTO");
	assert_false(
		o2_conform_hostile_row("| Name | Group | What the peer does | Rule | Reaction | x | y |\n",
				       name, sentence, sizeof(sentence)));
	assert_false(
		o2_conform_hostile_row("|---|---|---|---|---|---|---|\n", name, sentence, sizeof(sentence)));
	assert_false(o2_conform_hostile_row("| `magic` | header | cut", name, sentence, sizeof(sentence)));
}
