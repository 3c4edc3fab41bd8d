/* SPDX-License-Identifier: MIT */
#ifndef O2_BASE_OUT_FILE_H
#define O2_BASE_OUT_FILE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/*
 * The files that the options of a command name to be written: a run whose files cannot be written, or of which
 * one is a file that it reads or that another option writes, is refused before anything is lost.
 */

struct o2_out_file {
	const char *option, *path;
	FILE *out; /* NULL: not wanted, or not open */
	int error; /* errno of the first write that failed; 0: none */
};

/*
 * Wants the file if there is a path, - being standard output if dash.  What it holds stays until it is emptied.
 * Returns false after a line on stderr.
 */
bool o2_out_file_open(const char *program, struct o2_out_file *file, const char *option, const char *path,
		      bool dash);

/* Is each of them its own?  Returns false after a line on stderr. */
bool o2_out_files_are_own(const char *program, const struct o2_out_file *file, uint32_t files);

/*
 * Is none of them what is read: a path, - being standard input; NULL: nothing?  what: "the capture that is
 * read".  Returns false after a line on stderr.
 */
bool o2_out_files_spare(const char *program, const struct o2_out_file *file, uint32_t files, const char *path,
			const char *what);

/* Returns false after a line on stderr. */
bool o2_out_file_empty(const char *program, const struct o2_out_file *file);

/* Something was written just now: a stream that has failed forgets why. */
void o2_out_file_look(struct o2_out_file *file);

/* Returns whether all of it was written, else after a line on stderr.  One that is not open is well. */
bool o2_out_file_close(const char *program, struct o2_out_file *file);

#endif
