/* SPDX-License-Identifier: MIT */
/* docs/wire.md has a row for every rule, in order, each naming its tests; and it has the bytes of the golden
 * messages. */
#include "tests/judge/wire/golden.h"
#include "tests/judge/wire/wire_test.h"

#include "wire/reject.h"

static const char *text;

static int read_text(void **state)
{
	text = test_page("wire.md");
	return 0;
}

GROUP_SETUP(read_text);

/* Asserts that a test named in a row exists; test_wire_encode, which spells rule ids, must have this one. */
static void check_test(const char *name, const char *rule)
{
	static char source[1u << 18];
	char path[4096], quoted[128];

	snprintf(path, sizeof(path), O2_DOCS_DIR "/../tests/unit/wire/%s.c", name);
	source[test_read(path, source, sizeof(source))] = '\0';
	snprintf(quoted, sizeof(quoted), "\"%s\"", rule);
	if (strcmp(name, "test_wire_encode") == 0 && strstr(source, quoted) == NULL)
		fail_msg("docs/wire.md says that %s covers %s, but it does not name it", name, rule);
}

/* Checks the tests of the row that starts at `at`; returns the number of tests that it names. */
static unsigned int check_tests(const char *at, const char *rule)
{
	const char *end = strchr(at, '\n');
	unsigned int count = 0;
	char name[64];

	for (at = strstr(at, "`test_"); at != NULL && at < end; at = strstr(at + 1, "`test_")) {
		assert_int_equal(sscanf(at, "`%63[a-z_]`", name), 1);
		check_test(name, rule);
		count++;
	}
	return count;
}

/* Checks the row `| N | `id` | class | ...` after *at, and moves *at to it. */
static void check_row(const char **at, const char *number, const struct o2_wire_rule *rule)
{
	static const char *const classes[] = {"local", "message", "connection"};
	char row[256];

	snprintf(row, sizeof(row), "\n| %s | `%s` | %s |", number, rule->id, classes[rule->class]);
	*at = strstr(*at, row);
	if (*at == NULL)
		fail_msg("docs/wire.md has no row%s (in this place)", row);
	if (check_tests(*at + 1, rule->id) == 0)
		fail_msg("docs/wire.md names no test in the row of %s", rule->id);
}

TEST(every_rule_has_a_row)
{
	const char *at = text;
	char number[16];

	for (unsigned int rule = 0; rule < O2_RULE_COUNT; rule++) {
		snprintf(number, sizeof(number), "%u", rule + 1);
		check_row(&at, number, &o2_wire_rules[rule]);
	}
	snprintf(number, sizeof(number), "\n| %d | `", O2_RULE_COUNT + 1);
	assert_null(strstr(text, number));
}

TEST(every_rule_of_the_reject_record_has_a_row)
{
	const char *at = text;
	char number[16];

	for (unsigned int rule = 0; rule < O2_REJECT_RULE_COUNT; rule++) {
		snprintf(number, sizeof(number), "R%u", rule + 1);
		check_row(&at, number, o2_reject_rule(rule));
	}
	snprintf(number, sizeof(number), "\n| R%d | `", O2_REJECT_RULE_COUNT + 1);
	assert_null(strstr(text, number));
}

/* Checks the lines `  0010  01 0a ...`, 16 bytes each, in the appendix after *at, and moves *at. */
static void check_bytes(const char **at, const char *name, const uint8_t *bytes, size_t length)
{
	char line[128];

	for (size_t b = 0; b < length; b++) {
		if (b % 16 == 0)
			snprintf(line, sizeof(line), "\n       %04zx ", b);
		snprintf(line + strlen(line), sizeof(line) - strlen(line), " %02x", bytes[b]);
		if (b % 16 != 15 && b + 1 != length)
			continue;
		snprintf(line + strlen(line), sizeof(line) - strlen(line), "\n");
		*at = strstr(*at, line);
		if (*at == NULL)
			fail_msg("%s: docs/wire.md has no line%s (in this place)", name, line);
	}
}

TEST(the_golden_messages_are_printed)
{
	for (size_t i = 0; i < GOLDEN_COUNT; i++) {
		const char *at;
		char sums[128];

		snprintf(sums, sizeof(sums), "signed 0x%08x, unsigned 0x%08x;", golden[i].checksum_signed,
			 golden[i].checksum_unsigned);
		at = strstr(text, sums);
		if (at == NULL)
			fail_msg("%s: not in docs/wire.md", golden[i].name);
		check_bytes(&at, golden[i].name, golden[i].bytes, golden[i].length_bytes);
	}
}

/* The records are printed in both orders, after all messages. */
TEST(the_reject_records_are_printed)
{
	const char *at = strstr(text, "And a reject record");
	struct o2_reject reject = {.ibr_version = O2_MSG_VERSION_2,
				   .ibr_why = O2_REJECT_MSG_QUEUE_SIZE,
				   .ibr_incarnation = O2_TEST_SRCSTAMP,
				   .ibr_cp = {8, 257, 4096}};
	uint8_t bytes[O2_REJECT_BYTES];

	assert_non_null(at);
	for (int order = O2_LITTLE_ENDIAN; order <= O2_BIG_ENDIAN; order++) {
		reject.order = (enum o2_byte_order)order;
		assert_int_equal(o2_reject_encode(&reject, bytes, sizeof(bytes), NULL), sizeof(bytes));
		check_bytes(&at, "reject record", bytes, sizeof(bytes));
	}
}
