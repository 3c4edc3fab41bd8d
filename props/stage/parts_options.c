/* SPDX-License-Identifier: MIT */
/* Options of a command: how a command line is read or refused, and what --help prints. */
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/option.h"
#include "props/stage/parts_internal.h"

#define WORDS	     8u
#define VALUE_BYTES  1200u
#define WORD_BYTES   1250u
#define WHY_BYTES    1000u /* the text about a value is cut to this, its terminating zero included */
#define USAGE_BYTES  1050u /* most bytes of any other error text */
#define MADE_PROGRAM "o2made"

/* --- a command of our own --- */

struct target {
	uint8_t one;
	uint16_t two;
	uint32_t four;
	uint64_t eight;
	bool flag;
	uint8_t set;
	const char *text, *named;
	uint32_t name;
	bool names[3];
	uint64_t read;
};
#define O2_OPTION_TARGET struct target

static const char *const colours[] = {"red", "green", "blue", NULL};

static const char *colour_of(unsigned int place)
{
	return colours[place];
}

static bool read_own(const struct o2_option *option, const char *text, void *target,
		     char why[O2_OPTION_WHY_BYTES])
{
	((struct target *)target)->read = strlen(text);
	snprintf(why, O2_OPTION_WHY_BYTES, "--%s does not like '%s'", option->name, text);
	return strcmp(text, "no") != 0;
}

static void print_more(void)
{
	printf("    and more\n");
}

enum row { ONE, TWO, FOUR, EIGHT, FLAG, TITLE, SET, TEXT, NAMED, NAME, NAME_OF, NAMES, READ, ROWS };

static const struct o2_option rows[ROWS + 1] = {
	[ONE] = {"one", "N", "a number of one byte", O2_NUMBER(one, 3, 200)},
	[TWO] = {"two", "N",
		 "a number of two bytes, about which there is so much to be said that it does not go into "
		 "one line, nor into two,\nso that it is broken",
		 O2_NUMBER(two, 0, 600), .unit = 100},
	[FOUR] = {"four-bytes-of-a-number", "NUMBER", "its name is long", O2_NUMBER(four, 1, UINT32_MAX)},
	[EIGHT] = {"eight", "N", "all there is", O2_NUMBER(eight, 0, UINT64_MAX)},
	[FLAG] = {"flag", NULL, "it is so", O2_FLAG(flag), .commands = 1},
	[TITLE] = {O2_TITLE("Others")},
	[SET] = {"set", NULL, "a constant\n\nand an empty line", O2_SET(set, 77)},
	[TEXT] = {"text", "T", "any", O2_TEXT(text)},
	[NAMED] = {"named", "COLOUR", "one of them", O2_TEXT(named), .names = colours},
	[NAME] = {"name", "COLOUR", "its place", O2_NAME(name, colours), .more = print_more},
	[NAME_OF] = {"place", "COLOUR", "likewise", O2_NAME_OF(name, colour_of), .commands = 2},
	[NAMES] = {"names", "A,B", "several", O2_NAMES_OF(names, colour_of)},
	[READ] = {"read", "R", "by a function", O2_READ(read, read_own)},
};

/* --- what it should make of its arguments --- */

struct made {
	struct target target;
	unsigned int which; /* which command */
	int result;	    /* expected result of o2_options_read */
	char said[1400];    /* expected output on stderr */
};

static bool is_of(enum row row, unsigned int which)
{
	return rows[row].commands == 0 || (rows[row].commands & which) != 0;
}

/* Parse a number: decimal or 0x..., without anything before or after it. */
static bool number_of(const char *text, uint64_t *value)
{
	const bool hex = text[0] == '0' && text[1] == 'x';
	const char *digits = hex ? "0123456789abcdef" : "0123456789";
	__uint128_t sum = 0;

	if (hex)
		text += 2;
	if (*text == '\0')
		return false;
	for (; *text != '\0'; text++) {
		const char *digit = strchr(digits, *text | (*text >= 'A' && *text <= 'F' ? 0x20 : 0));

		if (digit == NULL)
			return false;
		sum = sum * (hex ? 16 : 10) + (unsigned int)(digit - digits);
		if (sum > UINT64_MAX)
			return false;
	}
	*value = (uint64_t)sum;
	return true;
}

static int place_of(const char *text, size_t length)
{
	for (int i = 0; i < 3; i++)
		if (strlen(colours[i]) == length && memcmp(colours[i], text, length) == 0)
			return i;
	return -1;
}

/* Note the expected error text, cut to `most` bytes including its terminating zero.  Returns false. */
static __attribute__((format(printf, 3, 4))) bool refuse(struct made *made, size_t most, const char *format,
							 ...)
{
	const char *name = made->which == 0 ? "" : "go ";
	char why[USAGE_BYTES];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(why, most, format, arguments);
	va_end(arguments);
	made->result = -1;
	snprintf(made->said, sizeof(made->said), MADE_PROGRAM ": %s (see: " MADE_PROGRAM " %s--help)\n", why,
		 name);
	return false;
}

static bool take_names(struct made *made, const char *text)
{
	memset(made->target.names, 0, sizeof(made->target.names));
	for (;; text++) {
		const size_t length = strcspn(text, ",");
		const int place = place_of(text, length);

		if (place < 0)
			return refuse(made, WHY_BYTES, "--names has '%.*s', not red, green or blue",
				      (int)length, text);
		made->target.names[place] = true;
		text += length;
		if (*text == '\0')
			return true;
	}
}

static bool take_number(struct made *made, enum row row, const char *text)
{
	const uint64_t least = row == ONE ? 3 : row == FOUR;
	const uint64_t most = row == ONE ? 200 : row == TWO ? 600 : row == FOUR ? UINT32_MAX : UINT64_MAX;
	uint64_t value;

	if (!number_of(text, &value) || value < least || value > most)
		return refuse(made, WHY_BYTES, "--%s is '%s', not a number of %" PRIu64 " to %" PRIu64,
			      rows[row].name, text, least, most);
	if (row == ONE)
		made->target.one = (uint8_t)value;
	else if (row == TWO)
		made->target.two = (uint16_t)(100 * value);
	else if (row == FOUR)
		made->target.four = (uint32_t)value;
	else
		made->target.eight = value;
	return true;
}

static bool take(struct made *made, enum row row, const char *text)
{
	if (row <= EIGHT)
		return take_number(made, row, text);
	switch (row) {
	case FLAG:
		made->target.flag = true;
		return true;
	case SET:
		made->target.set = 77;
		return true;
	case TEXT:
		made->target.text = text;
		return true;
	case NAMES:
		return take_names(made, text);
	case READ:
		made->target.read = strlen(text);
		return strcmp(text, "no") != 0 || refuse(made, WHY_BYTES, "--read does not like '%s'", text);
	default:
		break;
	}
	if (place_of(text, strlen(text)) < 0)
		return refuse(made, WHY_BYTES, "--%s is '%s', not red, green or blue", rows[row].name, text);
	if (row == NAMED)
		made->target.named = text;
	else
		made->target.name = (uint32_t)place_of(text, strlen(text));
	return true;
}

/* --- the help that it should print --- */

static void help_of(FILE *out, const struct o2_command *command)
{
	char name[40];

	fprintf(out, "usage: " MADE_PROGRAM " %sA\n       " MADE_PROGRAM " %s[OPTIONS] B\n\n",
		command->which == 0 ? "" : "go ", command->which == 0 ? "" : "go ");
	o2_parts_fill(out, command->about, 0, 0);
	for (enum row row = ONE; row < ROWS; row++) {
		if (row == TITLE) {
			fputs("\nOthers:\n", out);
			continue;
		}
		if (!is_of(row, command->which))
			continue;
		if (row == ONE)
			fputc('\n', out);
		snprintf(name, sizeof(name), "--%s", rows[row].name);
		o2_parts_fill_row(out, name, rows[row].value, rows[row].help);
		if (row == NAME)
			fputs("    and more\n", out);
	}
	o2_parts_fill_row(out, "-h, --help", NULL, "this text");
	fputc('\n', out);
	o2_parts_fill(out, command->end, 0, 0);
}

/* --- a case --- */

static void draw_value(struct o2_choice *c, enum row row, char text[VALUE_BYTES])
{
	static const char *const wrong[] = {"",	    "x", "3x", "-3", " 3", "0x", "18446744073709551616",
					    "red,", "no"};
	static const char *const named[] = {"red", "green", "blue", "blu", "blues"};
	static const uint64_t edges[] = {
		0, 1, 2, 3, 200, 201, 600, 601, UINT32_MAX, UINT64_C(1) << 32, UINT64_MAX};

	/* Sometimes so long that the error text reaches its limit. */
	if (o2_draw_bool(c, 31, 1))
		snprintf(text, VALUE_BYTES, "%0*d", 900 + (int)o2_draw(c, 150), 0);
	else if (o2_draw_bool(c, 7, 1))
		snprintf(text, VALUE_BYTES, "%s", wrong[o2_draw_pick(c, 9)]);
	else if (row <= EIGHT) {
		const bool hex = o2_draw_bool(c, 2, 1);

		snprintf(text, VALUE_BYTES, hex ? "0x%" PRIx64 : "%" PRIu64,
			 o2_draw_bool(c, 1, 1) ? o2_draw_range(c, 3, 200) : edges[o2_draw_pick(c, 11)]);
	} else if (row == NAMES && o2_draw_bool(c, 1, 1)) {
		const char *first = named[o2_draw_pick(c, 5)];

		snprintf(text, VALUE_BYTES, "%s,%s", first, named[o2_draw_pick(c, 3)]);
	} else {
		snprintf(text, VALUE_BYTES, "%s", named[o2_draw(c, o2_draw_bool(c, 7, 1) ? 4 : 2)]);
	}
}

/* A command line, and the prediction for it so far. */
struct line {
	int count;
	int others;	   /* words that are not options */
	bool ended, wrong; /* "--" was read; an error that ends reading was read */
	bool help, list;
	char word[WORDS + 3][WORD_BYTES]; /* last member: not cleared */
};

static void add_word(struct line *line, const char *word)
{
	snprintf(line->word[line->count++], WORD_BYTES, "%s", word);
	line->others += line->ended;
}

enum form { OTHER, OTHER_TOO, END, HELP, UNKNOWN, WITHOUT_VALUE, TOO_MUCH, JOINED, APART, FORMS = 16 };

/* Draw an option, in one or two words.  False: no word may follow it. */
static bool draw_option(struct o2_choice *c, struct line *line, struct made *made, enum form form,
			enum row row)
{
	const bool takes = rows[row].value != NULL, joined = takes && form != WITHOUT_VALUE && form % 2 == 1;
	char value[VALUE_BYTES] = "", word[WORD_BYTES];

	if (takes)
		draw_value(c, row, value);
	snprintf(word, sizeof(word), "--%s%s%s", form == UNKNOWN ? "nope" : rows[row].name,
		 joined			      ? "="
		 : form == TOO_MUCH && !takes ? "=3"
					      : "",
		 joined ? value : "");
	add_word(line, word);
	if (!line->ended && !line->wrong &&
	    (form == UNKNOWN || !is_of(row, made->which) || (form == TOO_MUCH && !takes) ||
	     (form == WITHOUT_VALUE && takes)))
		line->wrong = !refuse(made, USAGE_BYTES, "'%s' is no option, or its value is missing",
				      line->word[line->count - 1]);
	if (form == WITHOUT_VALUE && takes)
		return line->ended;
	if (takes && !joined)
		add_word(line, value);
	if (line->ended || line->wrong)
		return true;
	line->wrong =
		!take(made, row,
		      joined ? strchr(line->word[line->count - 1], '=') + 1 : line->word[line->count - 1]);
	return true;
}

/* Draw words, and predict the effect of each, up to the first invalid one. */
static void draw_line(struct o2_choice *c, struct line *line, struct made *made)
{
	bool more = true;

	memset(line, 0, offsetof(struct line, word));
	add_word(line, MADE_PROGRAM);
	while (more && line->count < (int)WORDS && o2_draw_bool(c, 1, 5)) {
		const enum form form = (enum form)o2_draw(c, FORMS - 1);
		const enum row row = (enum row)o2_draw(c, ROWS - 1);

		if (form <= OTHER_TOO || row == TITLE) {
			line->others += !line->ended;
			add_word(line, "other");
		} else if (form == END) {
			add_word(line, "--");
			line->ended = true;
		} else if (form == HELP) {
			line->help |= !line->ended && !line->wrong;
			line->wrong |= !line->ended;
			add_word(line, o2_draw_bool(c, 1, 1) ? "--help" : "-h");
		} else {
			more = draw_option(c, line, made, form, row);
		}
	}
	if (!line->wrong)
		made->result = line->count - line->others;
}

struct heard {
	char *text;
	size_t bytes;
	FILE *was, *now;
};

static void listen(struct heard *heard, FILE **stream)
{
	heard->was = *stream;
	heard->now = open_memstream(&heard->text, &heard->bytes);
	if (heard->now != NULL)
		*stream = heard->now;
}

static void stop_listening(struct heard *heard, FILE **stream)
{
	*stream = heard->was;
	if (heard->now != NULL)
		fclose(heard->now);
}

static void compare_targets(const struct target *found, const struct target *expected,
			    struct o2_report *report)
{
	const bool same = found->one == expected->one && found->two == expected->two &&
			  found->four == expected->four && found->eight == expected->eight &&
			  found->flag == expected->flag && found->set == expected->set &&
			  found->text == expected->text && found->named == expected->named &&
			  found->name == expected->name && found->read == expected->read &&
			  memcmp(found->names, expected->names, sizeof(found->names)) == 0;

	if (!same)
		o2_report_fail(report, "parts/options/value", "an option is read as another value");
}

static void compare_texts(const char *found, const char *expected, const char *what, struct o2_report *report)
{
	if (strcmp(found == NULL ? "" : found, expected) != 0)
		o2_report_fail(report, "parts/options/text", "%s is '%.120s', expected '%.120s'", what,
			       found == NULL ? "" : found, expected);
}

void o2_parts_options(struct o2_parts_run *run, struct o2_choice *c, struct o2_report *report)
{
	static struct line line;
	struct o2_command command = {
		.program = MADE_PROGRAM,
		.usage = "A\n[OPTIONS] B",
		.about = "It does nothing, and says so at such a length that the line has to be broken "
			 "somewhere.\n\n"
			 "Then there is a second paragraph.",
		.options = rows,
		.which = (unsigned int)o2_draw(c, 3),
		.end = "Exit status: 0.",
	};
	struct target target = {.eight = 9};
	struct made made = {.target = target, .which = command.which};
	struct heard out = {0}, err = {0}, expected = {0};
	char *argv[WORDS + 4];
	int argc, result;

	command.name = command.which == 0 ? NULL : "go";
	draw_line(c, &line, &made);
	line.list = o2_draw_bool(c, 15, 1);
	if (line.list) {
		add_word(&line, O2_OPTION_LIST);
		made = (struct made){.target = target};
	}
	argc = line.count;
	for (int i = 0; i < argc; i++)
		argv[i] = line.word[i];
	argv[argc] = NULL;
	snprintf(run->text, sizeof(run->text), "%d words, the last %s", argc, line.word[argc - 1]);
	listen(&out, &stdout);
	listen(&err, &stderr);
	result = o2_options_read(&command, argc, argv, &target);
	stop_listening(&err, &stderr);
	stop_listening(&out, &stdout);
	expected.now = open_memstream(&expected.text, &expected.bytes);
	if (line.list && expected.now != NULL)
		o2_parts_list(expected.now, command.which);
	else if (line.help && expected.now != NULL)
		help_of(expected.now, &command);
	if (expected.now != NULL)
		fclose(expected.now);
	run->tally.seen[line.list	  ? O2_PARTS_LIST
			: line.help	  ? O2_PARTS_HELP
			: made.result < 0 ? O2_PARTS_OPTION_REFUSED
					  : O2_PARTS_OPTIONS_READ]++;
	if (line.help)
		made.result = 0;
	if (result != made.result)
		o2_report_fail(report, "parts/options/result", "%d, expected %d", result, made.result);
	compare_targets(&target, &made.target, report);
	compare_texts(err.text, made.said, "stderr", report);
	compare_texts(out.text, expected.text == NULL ? "" : expected.text, "stdout", report);
	for (int i = result; result > 0 && i < argc && !line.ended; i++)
		compare_texts(argv[i], "other", "an argument that is no option", report);
	free(out.text);
	free(err.text);
	free(expected.text);
}
