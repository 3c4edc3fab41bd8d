/* SPDX-License-Identifier: MIT */
#include "base/option.h"

#include <assert.h>
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/complain.h"

#define MOST_ROWS  96u
#define FIRST_CODE 256 /* codes of getopt_long: above every character */
#define HELP_CODE  (FIRST_CODE + (int)MOST_ROWS)

const char *const o2_color_names[] = {"auto", "always", "never", NULL};

bool o2_color_wanted(enum o2_color_when when, FILE *out)
{
	const char *no_color = getenv("NO_COLOR");

	if (when != O2_COLOR_AUTO)
		return when == O2_COLOR_ALWAYS;
	return isatty(fileno(out)) != 0 && (no_color == NULL || no_color[0] == '\0');
}

bool o2_option_number(const char **text, uint64_t min, uint64_t max, uint64_t *value)
{
	const int base = strncmp(*text, "0x", 2) == 0 ? 16 : 10;
	char *end;

	if (**text < '0' || **text > '9')
		return false;
	errno = 0;
	*value = strtoull(*text, &end, base);
	if (errno != 0 || *value < min || *value > max)
		return false;
	*text = end;
	return true;
}

/* Store an integer in the option's member, in the member's size. */
static void put(const struct o2_option *option, void *target, uint64_t value)
{
	void *at = (char *)target + option->at;

	switch (option->at_bytes) {
	case sizeof(uint8_t):
		*(uint8_t *)at = (uint8_t)value;
		break;
	case sizeof(uint16_t):
		*(uint16_t *)at = (uint16_t)value;
		break;
	case sizeof(uint32_t):
		*(uint32_t *)at = (uint32_t)value;
		break;
	default:
		assert(option->at_bytes == sizeof(uint64_t));
		*(uint64_t *)at = value;
	}
}

const char *o2_option_name_of(const struct o2_option *option, unsigned int place)
{
	if (option->name_of != NULL)
		return option->name_of(place);
	return option->names != NULL ? option->names[place] : NULL;
}

/* Find the index of text[0 .. length) in the names; false: it is none of them. */
static bool find_name(const struct o2_option *option, const char *text, size_t length, unsigned int *place)
{
	const char *name;

	for (*place = 0; (name = o2_option_name_of(option, *place)) != NULL; ++*place)
		if (strlen(name) == length && strncmp(name, text, length) == 0)
			return true;
	return false;
}

/* "--name is 'text', not a, b or c". */
static bool refuse_name(const struct o2_option *option, const char *verb, const char *text, size_t length,
			char why[O2_OPTION_WHY_BYTES])
{
	size_t used = (size_t)snprintf(why, O2_OPTION_WHY_BYTES, "--%s %s '%.*s', not ", option->name, verb,
				       (int)length, text);

	for (unsigned int i = 0; o2_option_name_of(option, i) != NULL && used < O2_OPTION_WHY_BYTES; i++)
		used += (size_t)snprintf(why + used, O2_OPTION_WHY_BYTES - used, "%s%s",
					 i == 0					    ? ""
					 : o2_option_name_of(option, i + 1) == NULL ? " or "
										    : ", ",
					 o2_option_name_of(option, i));
	return false;
}

static bool read_number(const struct o2_option *option, const char *text, void *target,
			char why[O2_OPTION_WHY_BYTES])
{
	const char *end = text;
	uint64_t value;

	if (!o2_option_number(&end, option->min, option->max, &value) || *end != '\0') {
		snprintf(why, O2_OPTION_WHY_BYTES, "--%s is '%s', not a number of %" PRIu64 " to %" PRIu64,
			 option->name, text, option->min, option->max);
		return false;
	}
	put(option, target, option->unit == 0 ? value : value * option->unit);
	return true;
}

static bool read_names(const struct o2_option *option, const char *text, void *target,
		       char why[O2_OPTION_WHY_BYTES])
{
	bool *named = (bool *)((char *)target + option->at);
	unsigned int place;

	memset(named, 0, option->at_bytes);
	for (;;) {
		const size_t length = strcspn(text, ",");

		if (!find_name(option, text, length, &place))
			return refuse_name(option, "has", text, length, why);
		assert(place < option->at_bytes);
		named[place] = true;
		if (text[length] == '\0')
			return true;
		text += length + 1;
	}
}

static bool read_value(const struct o2_option *option, const char *text, void *target,
		       char why[O2_OPTION_WHY_BYTES])
{
	unsigned int place;

	switch (option->kind) {
	case O2_OPTION_TITLE:
		break;
	case O2_OPTION_FLAG:
		assert(option->at_bytes == sizeof(bool));
		*(bool *)((char *)target + option->at) = true;
		return true;
	case O2_OPTION_SET:
		put(option, target, option->min);
		return true;
	case O2_OPTION_TEXT:
		assert(option->at_bytes == sizeof(text));
		if (option->names != NULL && !find_name(option, text, strlen(text), &place))
			return refuse_name(option, "is", text, strlen(text), why);
		*(const char **)((char *)target + option->at) = text;
		return true;
	case O2_OPTION_NUMBER:
		return read_number(option, text, target, why);
	case O2_OPTION_NAME:
		if (!find_name(option, text, strlen(text), &place))
			return refuse_name(option, "is", text, strlen(text), why);
		put(option, target, place);
		return true;
	case O2_OPTION_NAMES:
		return read_names(option, text, target, why);
	case O2_OPTION_READ:
		return option->read(option, text, target, why);
	}
	assert(false);
	return false;
}

bool o2_option_is_of(const struct o2_option *option, const struct o2_command *command)
{
	return option->commands == 0 || (option->commands & command->which) != 0;
}

/* Convert the table for getopt_long: an option's code is FIRST_CODE plus its row. */
static void list_options(const struct o2_command *command, struct option list[MOST_ROWS + 2])
{
	unsigned int n = 0;

	for (unsigned int i = 0; command->options[i].help != NULL; i++) {
		const struct o2_option *option = &command->options[i];

		assert(i < MOST_ROWS);
		if (option->kind != O2_OPTION_TITLE && o2_option_is_of(option, command))
			list[n++] = (struct option){option->name,
						    option->value == NULL ? no_argument : required_argument,
						    NULL, FIRST_CODE + (int)i};
	}
	list[n++] = (struct option){"help", no_argument, NULL, HELP_CODE};
	list[n] = (struct option){NULL, 0, NULL, 0};
}

static bool is_given(const struct o2_command *command, const bool *given, const char *name)
{
	for (unsigned int i = 0; command->options[i].help != NULL; i++)
		if (given[i] && strcmp(command->options[i].name, name) == 0)
			return true;
	return false;
}

/* Find the first option given that this one does not go with; NULL: there is none. */
static const struct o2_option *find_stranger(const struct o2_command *command, const bool *given,
					     const struct o2_option *option)
{
	for (unsigned int i = 0; command->options[i].help != NULL && option->only_with != NULL; i++) {
		const struct o2_option *other = &command->options[i];
		bool may = !given[i] || other == option;

		for (const char *const *name = option->only_with; *name != NULL && !may; name++)
			may = strcmp(*name, other->name) == 0;
		if (!may)
			return other;
	}
	return NULL;
}

static int check_company(const struct o2_command *command, const bool *given)
{
	for (unsigned int i = 0; command->options[i].help != NULL; i++) {
		const struct o2_option *option = &command->options[i];
		const struct o2_option *stranger = given[i] ? find_stranger(command, given, option) : NULL;

		if (given[i] && option->goes_with != NULL && !is_given(command, given, option->goes_with))
			return o2_command_usage(command, "--%s is for --%s", option->name, option->goes_with);
		if (stranger != NULL)
			return o2_command_usage(command, "--%s is not for --%s", stranger->name,
						option->name);
	}
	return 0;
}

int o2_options_read(const struct o2_command *command, int argc, char **argv, void *target)
{
	struct option list[MOST_ROWS + 2];
	char why[O2_OPTION_WHY_BYTES], letter[] = "-?";
	bool is_letter, given[MOST_ROWS];
	int code;

	if (argc > 1 && strcmp(argv[argc - 1], O2_OPTION_LIST) == 0) {
		o2_command_list(command);
		return 0;
	}
	list_options(command, list);
	opterr = 0;
	optind = 0; /* GNU: start anew, even if an earlier command line was read only in part */
	memset(given, 0, sizeof(given));
	while ((code = getopt_long(argc, argv, "h", list, NULL)) != -1) {
		if (code == 'h' || code == HELP_CODE) {
			o2_command_help(command);
			return 0;
		}
		if (code == '?') {
			/* One word may hold several letters; getopt_long(3) puts the wrong one in optopt, a char. */
			is_letter = optopt != 0 && optopt < FIRST_CODE;
			letter[1] = optopt >= ' ' && optopt < 0x7f ? (char)optopt : '?';
			o2_command_usage(command, "'%s' is no option, or its value is missing",
					 is_letter ? letter : argv[optind - 1]);
			return -1;
		}
		if (!read_value(&command->options[code - FIRST_CODE], optarg, target, why)) {
			o2_command_usage(command, "%s", why);
			return -1;
		}
		given[code - FIRST_CODE] = true;
	}
	return check_company(command, given) == 0 ? optind : -1;
}

int o2_command_usage(const struct o2_command *command, const char *format, ...)
{
	const char *name = command->name == NULL ? "" : command->name;
	char text[O2_OPTION_WHY_BYTES + 50];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);
	return o2_complain(command->program, "%s (see: %s %s%s--help)", text, command->program, name,
			   *name == '\0' ? "" : " ");
}
