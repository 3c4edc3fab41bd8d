/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/option.h"

/* --help of a command: usage, description, options, exit status; and the list for shells. */

#define LINE_COLUMNS 98
#define TEXT_COLUMN  21 /* column of an option's description */

/* Print text in lines that begin at `indent`; the first begins at `column`.  Ends the last one. */
static void print_text(const char *text, size_t column, size_t indent)
{
	bool first = true; /* first word of its line */

	for (;;) {
		const size_t length = strcspn(text, " \n");

		if (!first && column + 1 + length > LINE_COLUMNS) {
			printf("\n%*s", (int)indent, "");
			column = indent;
			first = true;
		}
		printf("%s%.*s", first ? "" : " ", (int)length, text);
		column += length + !first;
		first = false;
		text += length;
		if (*text == '\0')
			break;
		if (*text++ == '\n') {
			/* No blanks at the end of an empty line. */
			printf("\n%*s", *text == '\n' ? 0 : (int)indent, "");
			column = indent;
			first = true;
		}
	}
	putchar('\n');
}

static void print_option(const char *name, const char *value, const char *help)
{
	const int printed = printf("  %s%s%s", name, value == NULL ? "" : " ", value == NULL ? "" : value);

	if (printed >= TEXT_COLUMN)
		printf("\n%*s", TEXT_COLUMN, "");
	else
		printf("%*s", TEXT_COLUMN - printed, "");
	print_text(help, TEXT_COLUMN, TEXT_COLUMN);
}

static void print_names(FILE *out, const struct o2_option *option, const char *between)
{
	const char *name;

	for (unsigned int i = 0; (name = o2_option_name_of(option, i)) != NULL; i++)
		fprintf(out, "%s%s", i == 0 ? "" : between, name);
}

/* The option's description; the names of NAMES follow a final colon.  To be freed; NULL: no memory. */
static char *sentence_of(const struct o2_option *option)
{
	char *text = NULL;
	size_t length = 0;
	FILE *out = open_memstream(&text, &length);

	if (out == NULL)
		return NULL;
	fputs(option->help, out);
	if (option->kind == O2_OPTION_NAMES && option->help[strlen(option->help) - 1] == ':') {
		fputc(' ', out);
		print_names(out, option, ", ");
	}
	fclose(out);
	return text;
}

static void print_row(const struct o2_option *option, bool first)
{
	char name[64], *text;

	if (first || option->kind == O2_OPTION_TITLE)
		putchar('\n');
	if (option->kind == O2_OPTION_TITLE) {
		printf("%s:\n", option->help);
		return;
	}
	snprintf(name, sizeof(name), "--%s", option->name);
	text = sentence_of(option);
	print_option(name, option->value, text == NULL ? option->help : text);
	free(text);
	if (option->more != NULL)
		option->more();
}

static void print_usage(const struct o2_command *command)
{
	const char *line = command->usage;
	size_t length;

	for (;; line += length + 1) {
		length = strcspn(line, "\n");
		printf("%s %s%s%s %.*s\n", line == command->usage ? "usage:" : "      ", command->program,
		       command->name == NULL ? "" : " ", command->name == NULL ? "" : command->name,
		       (int)length, line);
		if (line[length] == '\0')
			break;
	}
}

void o2_command_help(const struct o2_command *command)
{
	bool first = true;

	print_usage(command);
	putchar('\n');
	print_text(command->about, 0, 0);
	for (const struct o2_option *option = command->options; option->help != NULL; option++) {
		if (!o2_option_is_of(option, command))
			continue;
		print_row(option, first);
		first = false;
	}
	print_option("-h, --help", NULL, "this text");
	putchar('\n');
	print_text(command->end, 0, 0);
}

void o2_command_list(const struct o2_command *command)
{
	/* The commands: the first word of each form of the command line. */
	for (const char *line = command->name == NULL ? command->usage : ""; *line != '\0';) {
		printf("%.*s\n", (int)strcspn(line, " \n"), line);
		line += strcspn(line, "\n");
		line += *line == '\n';
	}
	for (const struct o2_option *option = command->options; option->help != NULL; option++) {
		if (option->kind == O2_OPTION_TITLE || !o2_option_is_of(option, command))
			continue;
		printf("--%s\t%s\t", option->name, option->value == NULL ? "-" : option->value);
		print_names(stdout, option, " ");
		putchar('\n');
	}
	printf("--help\t-\t\n");
}
