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
	O2_CLI_REFUSED = 1,	      /* the input breaks a rule; a line on stderr says which one */
	O2_CLI_USAGE = O2_EXIT_USAGE, /* wrong command line, or a file that cannot be read or written */
};

int o2_cli_decode(int argc, char **argv);
int o2_cli_judge(int argc, char **argv);
int o2_cli_encode(int argc, char **argv);
/* These run another program of the same folder: o2props, or o2ref-net or o2ref-net-loop for the network. */
int o2_cli_props(int argc, char **argv); /* check, explain */
int o2_cli_net(int argc, char **argv);	 /* serve, ping, put, get, lst, conform */

/* One line on stderr: "o2ref: " and the text. */
void o2_cli_complain(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* One line on stderr: "o2ref: what: rule: field is ..". */
void o2_cli_complain_error(const char *what, const struct o2_error *error);

/* Print the heading of a file, "== FILE ==", on standard output; first: without a blank line before it. */
void o2_cli_heading(const char *file, bool first);

/*
 * The path of another program in this program's folder.  Returns false, after a line on stderr, if it cannot
 * be determined.
 */
bool o2_cli_sibling(const char *program, char *path, size_t bytes);

/*
 * Complain that a JSON form was not printed because memory ran out.  Says nothing if standard output has
 * failed, because o2_cli_finish reports that.  of: what the form describes, or "".
 */
void o2_cli_complain_json(const char *of);

/* Flush *out and check that all of it was written; complain if not.  Returns status, or O2_CLI_USAGE. */
int o2_cli_finish(FILE *out, int status);

/* The exit status after a capture was read with that result.  Not to be readable is not to be refused. */
int o2_cli_read_status(int rc);

#endif
