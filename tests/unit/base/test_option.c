/* SPDX-License-Identifier: MIT */
/* cmocka.h wants the others before it. */
/* clang-format off */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
/* clang-format on */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/option.h"

/* Tables of options: what each kind takes, where it goes, and what is said of what it does not take. */

enum color { RED, GREEN, BLUE, COLORS };

struct target {
	bool flag;
	enum color color, set;
	const char *text, *way;
	uint8_t byte;
	uint16_t port;
	uint32_t ms;
	uint64_t number;
	bool some[COLORS];
	char first; /* READ: of the value */
};

static const char *const colors[] = {[RED] = "red", [GREEN] = "green", [BLUE] = "blue", NULL};

static const char *color_name(unsigned int place)
{
	return colors[place];
}

static bool read_upper(const struct o2_option *option, const char *text, void *target,
		       char why[O2_OPTION_WHY_BYTES])
{
	*((char *)target + option->at) = text[0];
	snprintf(why, O2_OPTION_WHY_BYTES, "--%s begins with '%c'", option->name, text[0]);
	return text[0] >= 'A' && text[0] <= 'Z';
}

#define AT(member) O2_OPTION_AT(struct target, member)

static const struct o2_option table[] = {
	{NULL, NULL, O2_OPTION_TITLE, .help = "a heading"},
	{"flag", NULL, O2_OPTION_FLAG, AT(flag), .help = "a flag"},
	{"blue", NULL, O2_OPTION_SET, AT(set), .min = BLUE, .help = "a constant"},
	{"text", "TEXT", O2_OPTION_TEXT, AT(text), .help = "a text"},
	{"way", "WAY", O2_OPTION_TEXT, AT(way), .names = colors, .help = "a text of some"},
	{"byte", "N", O2_OPTION_NUMBER, AT(byte), .max = 200, .help = "a byte"},
	{"port", "N", O2_OPTION_NUMBER, AT(port), .min = 1, .max = UINT16_MAX, .help = "a port"},
	{"seconds", "S", O2_OPTION_NUMBER, AT(ms), .max = 60, .unit = 1000, .help = "a time"},
	{"number", "N", O2_OPTION_NUMBER, AT(number), .max = UINT64_MAX, .help = "a number"},
	{"color", "COLOR", O2_OPTION_NAME, AT(color), .names = colors, .help = "a name"},
	{"some", "A,B", O2_OPTION_NAMES, AT(some), .name_of = color_name, .help = "names"},
	{"upper", "TEXT", O2_OPTION_READ, AT(first), .read = read_upper, .help = "a function's"},
	{"other", NULL, O2_OPTION_FLAG, AT(flag), .commands = 2, .help = "of another command"},
	{0},
};

static const struct o2_command command = {
	.program = "test", .usage = "", .about = "", .options = table, .which = 1, .end = ""};

/* Read a command line, its words apart by blanks. */
static int read_line(const char *line, struct target *target, char *argv[])
{
	static char words[200];
	char *save = NULL;
	int argc = 1;

	*target = (struct target){.number = 77};
	snprintf(words, sizeof(words), "%s", line);
	argv[0] = words + strlen(words);
	for (char *word = strtok_r(words, " ", &save); word != NULL; word = strtok_r(NULL, " ", &save))
		argv[argc++] = word;
	argv[argc] = NULL;
	return o2_options_read(&command, argc, argv, target);
}

static void each_kind_goes_where_it_belongs(void **state)
{
	struct target t;
	char *argv[32];
	int first;

	(void)state;
	first = read_line("--flag file --blue --text=a,b --way green --byte 200 --port 65535 --seconds 60 "
			  "--number 0xffffffffffffffff --color green --some blue,red --up X -- --flag",
			  &t, argv);
	assert_string_equal(argv[first], "file");
	assert_string_equal(argv[first + 1], "--flag");
	assert_null(argv[first + 2]);
	assert_true(t.flag);
	assert_int_equal(t.set, BLUE);
	assert_string_equal(t.text, "a,b");
	assert_string_equal(t.way, "green");
	assert_int_equal(t.byte, 200);
	assert_int_equal(t.port, 65535);
	assert_int_equal(t.ms, 60000);
	assert_true(t.number == UINT64_MAX);
	assert_int_equal(t.color, GREEN);
	assert_true(t.some[RED] && !t.some[GREEN] && t.some[BLUE]);
	assert_int_equal(t.first, 'X');
	assert_int_equal(read_line("", &t, argv), 1);
	assert_int_equal(t.number, 77);
}

/* What a command line makes it say on stderr. */
static void says(const char *line, const char *expected)
{
	char text[400] = "", whole[400], *argv[32];
	int ends[2], saved = dup(STDERR_FILENO), result;
	struct target t;

	assert_int_equal(pipe(ends), 0);
	dup2(ends[1], STDERR_FILENO);
	result = read_line(line, &t, argv);
	dup2(saved, STDERR_FILENO);
	close(ends[1]);
	assert_true(read(ends[0], text, sizeof(text) - 1) > 0);
	close(ends[0]);
	close(saved);
	snprintf(whole, sizeof(whole), "test: %s (see: test --help)\n", expected);
	assert_string_equal(text, whole);
	assert_int_equal(result, -1);
}

static void what_is_wrong_is_named(void **state)
{
	(void)state;
	says("--nothing", "'--nothing' is no option, or its value is missing");
	says("--other", "'--other' is no option, or its value is missing");
	says("--text", "'--text' is no option, or its value is missing");
	says("--byte 201", "--byte is '201', not a number of 0 to 200");
	says("--byte -1", "--byte is '-1', not a number of 0 to 200");
	says("--byte 0x", "--byte is '0x', not a number of 0 to 200");
	says("--byte 7k", "--byte is '7k', not a number of 0 to 200");
	says("--port 0", "--port is '0', not a number of 1 to 65535");
	says("--number 18446744073709551616",
	     "--number is '18446744073709551616', not a number of 0 to 18446744073709551615");
	says("--color gree", "--color is 'gree', not red, green or blue");
	says("--way pink", "--way is 'pink', not red, green or blue");
	says("--some red,pink", "--some has 'pink', not red, green or blue");
	says("--some red,", "--some has '', not red, green or blue");
	says("--upper x", "--upper begins with 'x'");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_kind_goes_where_it_belongs),
		cmocka_unit_test(what_is_wrong_is_named),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
