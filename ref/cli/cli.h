/* SPDX-License-Identifier: MIT */
#ifndef O2_CLI_CLI_H
#define O2_CLI_CLI_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "base/complain.h"
#include "base/error.h"

/*
 * The o2ref command.  Source: docs/cli.md.
 *
 * A subcommand gets its own arguments (argv[0] is its name) and returns the exit status.
 */

enum o2_cli_status {
	O2_CLI_OK = 0,
	O2_CLI_REFUSED = 1,	      /* what was read breaks a rule; its line on stderr says which */
	O2_CLI_USAGE = O2_EXIT_USAGE, /* the command line, or a file that cannot be read or written */
};

int o2_cli_decode(int argc, char **argv);
int o2_cli_judge(int argc, char **argv);
int o2_cli_encode(int argc, char **argv);
/* By running o2props, which is beside the program; for the commands of the network o2ref-net. */
int o2_cli_props(int argc, char **argv); /* check, explain */
int o2_cli_net(int argc, char **argv);	 /* serve, ping, put, get, lst, conform */

/* One line on stderr: "o2ref: " and the text. */
void o2_cli_complain(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* "o2ref: what: rule: field is ..". */
void o2_cli_complain_error(const char *what, const struct o2_error *error);

/* On standard output, before what is said of one file of several: "== FILE ==". */
void o2_cli_heading(const char *file, bool first);

/*
 * The path of another program of the folder that this one is in.  False, after a line on stderr: it cannot be
 * told.
 */
bool o2_cli_sibling(const char *program, char *path, size_t bytes);

/*
 * A JSON form was not printed: memory ran out.  Unless standard output has failed, which o2_cli_finish tells.  of:
 * what the form is of, or "".
 */
void o2_cli_complain_json(const char *of);

/* Flush *out and see that all of it was written, else complain.  Returns status, or O2_CLI_USAGE. */
int o2_cli_finish(FILE *out, int status);

#endif
