/* SPDX-License-Identifier: MIT */
#include <unistd.h>

#include "base/option.h"
#include "tests/lib/unit_test.h"

/* Tables of options: the values that each kind accepts, where they are stored, and messages about others. */

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
	char first; /* READ: first character of the value */
	uint8_t shade;
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

#define O2_OPTION_TARGET struct target

static const char *const company[] = {"blue", "byte", NULL};

static const struct o2_option table[] = {
	{O2_TITLE("a heading")},
	{"flag", NULL, "a flag", O2_FLAG(flag)},
	{"blue", NULL, "a constant", O2_SET(set, BLUE)},
	{"text", "TEXT", "a text", O2_TEXT(text)},
	{"way", "WAY", "a text of some", O2_TEXT(way), .names = colors},
	{"byte", "N", "a byte", O2_NUMBER(byte, 0, 200)},
	{"port", "N", "a port", O2_NUMBER(port, 1, UINT16_MAX)},
	{"seconds", "S", "a time", O2_NUMBER(ms, 0, 60), .unit = 1000},
	{"number", "N", "a number", O2_NUMBER(number, 0, UINT64_MAX)},
	{"color", "COLOR", "a name", O2_NAME(color, colors)},
	{"some", "A,B", "names", O2_NAMES_OF(some, color_name)},
	{"upper", "TEXT", "a function's", O2_READ(first, read_upper)},
	{"other", NULL, "of another command", O2_FLAG(flag), .commands = 2},
	{"shade", "N", "of the color", O2_NUMBER(shade, 0, 9), .goes_with = "color"},
	{"alone", NULL, "a flag", O2_FLAG(flag), .only_with = company},
	{0},
};

static const struct o2_command command = {
	.program = "test", .usage = "", .about = "", .options = table, .which = 1, .end = ""};

/* Read a command line whose words are separated by blanks. */
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

TEST(each_kind_goes_where_it_belongs)
{
	struct target t;
	char *argv[32];
	int first;

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

/* Assert what reading this command line prints on stderr. */
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

TEST(what_is_wrong_is_named)
{
	says("--nothing", "'--nothing' is no option, or its value is missing");
	says("--other", "'--other' is no option, or its value is missing");
	says("--help=5", "'--help=5' is no option, or its value is missing");
	says("--text", "'--text' is no option, or its value is missing");
	/* A letter that is no ASCII, and the first of several in its word. */
	says("-xh", "'-x' is no option, or its value is missing");
	says("-\xc3\xa9", "'-?' is no option, or its value is missing");
	says("-\x1b[2J", "'-?' is no option, or its value is missing");
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

/* Their positions and values do not matter: a value that is the default is given, too. */
TEST(one_that_goes_with_few_is_refused_with_others)
{
	struct target t;
	char *argv[32];

	assert_int_equal(read_line("--alone", &t, argv), 2);
	assert_int_equal(read_line("--byte 3 --alone --blue", &t, argv), 5);
	assert_int_equal(read_line("--text x --byte 3", &t, argv), 5);
	says("--alone --number 0", "--number is not for --alone");
	says("--byte 3 --flag --alone", "--flag is not for --alone");
	assert_int_equal(read_line("--flag", &t, argv), 2); /* no state remains from the previous line */
}

/* The position and the value of the option that it needs do not matter. */
TEST(one_that_says_nothing_alone_is_refused_alone)
{
	struct target t;
	char *argv[32];

	assert_int_equal(read_line("--shade 3 --color red", &t, argv), 5);
	assert_int_equal(t.shade, 3);
	assert_int_equal(read_line("--color red --shade 0", &t, argv), 5);
	assert_int_equal(read_line("--color red", &t, argv), 3);
	says("--shade 3", "--shade is for --color");
	says("--shade 0 --some red", "--shade is for --color");
	assert_int_equal(read_line("--flag", &t, argv), 2); /* no state remains from the previous line */
}
