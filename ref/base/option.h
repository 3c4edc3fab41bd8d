/* SPDX-License-Identifier: MIT */
#ifndef O2_BASE_OPTION_H
#define O2_BASE_OPTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/*
 * The options of a command as a table.  It is what reads the command line into a structure of the command's,
 * what complains about a value, and what --help lists.
 *
 * A command line is what getopt_long(3) takes: --name VALUE or --name=VALUE, a name may be shortened, options
 * may stand behind other arguments, and "--" ends them.  Each command has -h and --help besides its table.
 */

enum o2_option_kind {
	O2_OPTION_TITLE,  /* none: `help` is a heading of the list */
	O2_OPTION_FLAG,	  /* bool: true */
	O2_OPTION_SET,	  /* unsigned integer or enum: `min` */
	O2_OPTION_TEXT,	  /* const char *: the value itself, borrowed from argv; with names, one of them */
	O2_OPTION_NUMBER, /* integer of 1, 2, 4 or 8 bytes: `min` to `max`, decimal or 0x..., times `unit` */
	O2_OPTION_NAME,	  /* unsigned integer or enum: place of the value among the names */
	O2_OPTION_NAMES,  /* array of bool: true at the places of those named in A,B, else false */
	O2_OPTION_READ,	  /* by a function of the command's */
};

#define O2_OPTION_WHY_BYTES 1000u

struct o2_option {
	const char *name;  /* without the dashes; NULL: a title, or with help NULL the end of the table */
	const char *value; /* what help calls its value; NULL: it takes none */
	const char *help; /* sentences; \n: a new line; of NAMES, with a colon at the end: the names follow */
	enum o2_option_kind kind;
	size_t at, at_bytes; /* where it goes in the command's structure */
	uint64_t min, max;
	uint32_t unit; /* NUMBER: what is stored is the value times this; 0 counts as 1 */
	/* NAME, NAMES, TEXT: the names, then NULL; or the name of a place, NULL behind the last one. */
	const char *const *names;
	const char *(*name_of)(unsigned int place);
	/*
	 * READ: read the value into the command's structure.  False: it is no such value, and *why is the
	 * sentence that says so.
	 */
	bool (*read)(const struct o2_option *option, const char *text, void *target,
		     char why[O2_OPTION_WHY_BYTES]);
	unsigned int commands; /* commands that have it, as bits of o2_command.which; 0: all */
	const char
		*goes_with; /* name of the option without which it says nothing, and is refused; NULL: none */
	void (*more)(void); /* prints further help under this row; NULL: there is none */
};

/*
 * A row is {name, value, help, and one of these}, and what else it needs.  O2_OPTION_TARGET is the command's
 * structure, which a file defines before its table.
 */
#define O2_OPTION_AT(member) \
	.at = offsetof(O2_OPTION_TARGET, member), .at_bytes = sizeof(((O2_OPTION_TARGET *)NULL)->member)
#define O2_TITLE(text)		 NULL, NULL, text, .kind = O2_OPTION_TITLE
#define O2_FLAG(member)		 .kind = O2_OPTION_FLAG, O2_OPTION_AT(member)
#define O2_SET(member, constant) .kind = O2_OPTION_SET, O2_OPTION_AT(member), .min = (constant)
#define O2_TEXT(member)		 .kind = O2_OPTION_TEXT, O2_OPTION_AT(member)
#define O2_NUMBER(member, least, most) \
	.kind = O2_OPTION_NUMBER, O2_OPTION_AT(member), .min = (least), .max = (most)
#define O2_NAME(member, list)	      .kind = O2_OPTION_NAME, O2_OPTION_AT(member), .names = (list)
#define O2_NAME_OF(member, function)  .kind = O2_OPTION_NAME, O2_OPTION_AT(member), .name_of = (function)
#define O2_NAMES_OF(member, function) .kind = O2_OPTION_NAMES, O2_OPTION_AT(member), .name_of = (function)
#define O2_READ(member, function)     .kind = O2_OPTION_READ, O2_OPTION_AT(member), .read = (function)

struct o2_command {
	const char *program;
	const char *name; /* of the command; NULL: the program has its options itself */
	/* One line for each form of the command line, without program and name. */
	const char *usage;
	const char *about;		 /* paragraphs for people; lines are broken where they are printed */
	const struct o2_option *options; /* ends with a row of zeros */
	unsigned int which;		 /* its bit in `commands` of the table; 0: the table is its own */
	const char *end;		 /* what --help ends with: the exit status */
};

/* As the last word of a command line: what could have stood there, for shells that complete it. */
#define O2_OPTION_LIST "--list-options"

/*
 * Read the options in argv[1] to argv[argc - 1] into *target, which holds the defaults; argv is reordered so
 * that arguments that are not options stand last.  Returns the index of the first of these (argc: there is
 * none), 0 after --help or O2_OPTION_LIST, which has been printed on stdout, or -1 after a line on stderr.
 */
int o2_options_read(const struct o2_command *command, int argc, char **argv, void *target);

/* Complain about the command line, and point to its --help.  Returns O2_EXIT_USAGE. */
int o2_command_usage(const struct o2_command *command, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* Print the help of a command on stdout. */
void o2_command_help(const struct o2_command *command);

/*
 * Print on stdout a line for each option of a command: --name, what help calls its value ("-": it takes none),
 * and the names that it may be, with tabs between the three and blanks between the names.  For a program that
 * has its options itself the commands stand before, a line each.
 */
void o2_command_list(const struct o2_command *command);

/* The name at a place among those that the value may be; NULL: there are none, or no more. */
const char *o2_option_name_of(const struct o2_option *option, unsigned int place);

/* Whether the row of the table is one of the command's. */
bool o2_option_is_of(const struct o2_option *option, const struct o2_command *command);

/* A number, decimal or 0x..., from *text on; moves *text past it.  False: there is none of min to max. */
bool o2_option_number(const char **text, uint64_t min, uint64_t max, uint64_t *value);

/* The values of an option --color, and whether they want colour on a stream. */
enum o2_color_when { O2_COLOR_AUTO, O2_COLOR_ALWAYS, O2_COLOR_NEVER };

extern const char *const o2_color_names[];

/* "auto" means a terminal, unless the environment variable NO_COLOR is set and not empty. */
bool o2_color_wanted(enum o2_color_when when, FILE *out);

#endif
