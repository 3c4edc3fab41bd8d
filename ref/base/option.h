/* SPDX-License-Identifier: MIT */
#ifndef O2_BASE_OPTION_H
#define O2_BASE_OPTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/*
 * The options of a command, as a table.  It defines how the command line is read into the command's structure, how
 * values are checked, and what --help lists.
 *
 * A command line has the syntax of getopt_long(3): --name VALUE or --name=VALUE; names may be shortened, options
 * may follow other arguments, and "--" ends the options.  Each command has -h and --help besides its table.
 */

enum o2_option_kind {
	O2_OPTION_TITLE,  /* no option: `help` is a heading of the list */
	O2_OPTION_FLAG,	  /* bool: set to true */
	O2_OPTION_SET,	  /* unsigned integer or enum: set to `min` */
	O2_OPTION_TEXT,	  /* const char *: the value itself, borrowed from argv; with names, one of them */
	O2_OPTION_NUMBER, /* integer of 1, 2, 4 or 8 bytes: `min` to `max`, decimal or 0x..., times `unit` */
	O2_OPTION_NAME,	  /* unsigned integer or enum: index of the value in the names */
	O2_OPTION_NAMES,  /* array of bool: true at the indexes of the names in A,B, else false */
	O2_OPTION_READ,	  /* read by a function of the command */
};

#define O2_OPTION_WHY_BYTES 1000u

struct o2_option {
	const char *name;  /* without the dashes; NULL: a title, or (help is NULL too) the end of the table */
	const char *value; /* name of the value in --help; NULL: no value */
	const char *help;  /* sentences; \n: a new line; NAMES: the names follow a colon at the end */
	enum o2_option_kind kind;
	size_t at, at_bytes; /* offset and size of the member in the command's structure */
	uint64_t min, max;
	uint32_t unit; /* NUMBER: the value is multiplied by this; 0 counts as 1 */
	/* NAME, NAMES, TEXT: the names, then NULL; or name_of gives the name at an index, NULL after the last. */
	const char *const *names;
	const char *(*name_of)(unsigned int place);
	/*
	 * READ: read the value into the command's structure.  False: the value is not valid, and *why is a sentence
	 * that says so.
	 */
	bool (*read)(const struct o2_option *option, const char *text, void *target,
		     char why[O2_OPTION_WHY_BYTES]);
	unsigned int commands; /* commands that have the option: bits of o2_command.which; 0: all */
	const char *goes_with; /* name of the option that must be given too; NULL: none */
	/* Names of the only options that may be given too, then NULL; NULL: any may. */
	const char *const *only_with;
	void (*more)(void); /* prints further help below this row; NULL: none */
};

/*
 * A row is {name, value, help, one of these macros} and further members where needed.  Each file defines
 * O2_OPTION_TARGET as the type of its command's structure before the table.
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
	const char *name; /* the command's name; NULL: the options are the program's own */
	/* One line for each form of the command line, without program and name. */
	const char *usage;
	const char *about;		 /* paragraphs for people; line breaks are added on output */
	const struct o2_option *options; /* ends with a row of zeros */
	unsigned int which;		 /* its bit in o2_option.commands; 0: the table is its own */
	const char *end;		 /* the end of --help: the exit status */
};

/* As the last word of a command line: print the possible words for this place, for completion by shells. */
#define O2_OPTION_LIST "--list-options"

/*
 * Read the options in argv[1] to argv[argc - 1] into *target, which holds the defaults.  argv is reordered so that
 * all other arguments come last.  Returns the index of the first of these (argc: there is none); 0 after --help or
 * O2_OPTION_LIST, whose text is printed on stdout; or -1 after an error message on stderr.
 */
int o2_options_read(const struct o2_command *command, int argc, char **argv, void *target);

/* Print an error message about the command line that refers to --help.  Returns O2_EXIT_USAGE. */
int o2_command_usage(const struct o2_command *command, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* Print the help of a command on stdout. */
void o2_command_help(const struct o2_command *command);

/*
 * Print on stdout a line for each option of a command: --name, the name of its value in help ("-": no value), and
 * the value's possible names; tabs between the three, blanks between the names.  If the options are the program's
 * own, its commands come first, one per line.
 */
void o2_command_list(const struct o2_command *command);

/* The possible value at this index; NULL: there are no names, or no more. */
const char *o2_option_name_of(const struct o2_option *option, unsigned int place);

/* Whether this row of the table belongs to the command. */
bool o2_option_is_of(const struct o2_option *option, const struct o2_command *command);

/* Read a number, decimal or 0x..., at *text and move *text past it.  False: no number, or not from min to max. */
bool o2_option_number(const char **text, uint64_t min, uint64_t max, uint64_t *value);

/* The values of an option --color. */
enum o2_color_when { O2_COLOR_AUTO, O2_COLOR_ALWAYS, O2_COLOR_NEVER };

extern const char *const o2_color_names[];

/* "auto": if out is a terminal and the environment variable NO_COLOR is unset or empty. */
bool o2_color_wanted(enum o2_color_when when, FILE *out);

#endif
