/* SPDX-License-Identifier: MIT */
#ifndef O2_BASE_OUT_FILE_H
#define O2_BASE_OUT_FILE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/*
 * The output files that a command's options name.  Before anything is lost, a run is refused if an output file
 * cannot be written, is also an input file or standard output, or is named by two options.
 */

struct o2_out_file {
	const char *option, *path;
	FILE *out;   /* NULL: no path given, or not open */
	bool is_new; /* opening has made the file */
	int error;   /* errno of the first write that failed; 0: none */
};

/*
 * Open the file for appending if path is not NULL; with dash, "-" is standard output.  The old content stays until
 * o2_out_file_empty.  Returns false after an error message on stderr.
 */
bool o2_out_file_open(const char *program, struct o2_out_file *file, const char *option, const char *path,
		      bool dash);

/*
 * Check that no two of them are standard output, or the same file or pipe; a character device is no such file.  Nor may
 * a regular file be standard output, unless by the name "-".
 * Returns false after an error message on stderr.
 */
bool o2_out_files_are_own(const char *program, const struct o2_out_file *file, uint32_t files);

/*
 * Check that no regular file among them is the input at path ("-": standard input; NULL: none).  what: its name,
 * such as "the capture that is read".  Returns false after an error message on stderr.
 */
bool o2_out_files_spare(const char *program, const struct o2_out_file *file, uint32_t files, const char *path,
			const char *what);

/* Delete the old content.  Returns false after an error message on stderr. */
bool o2_out_file_empty(const char *program, const struct o2_out_file *file);

/* To be called directly after writing: keeps the errno of the first error, which the stream does not keep. */
void o2_out_file_look(struct o2_out_file *file);

/* Close the file.  Returns true if all was written or it is not open; else false after a message on stderr. */
bool o2_out_file_close(const char *program, struct o2_out_file *file);

/* The run is refused: close those that are open.  A file that was made is removed, an old one stays. */
void o2_out_files_drop(struct o2_out_file *file, uint32_t files);

/* As o2_out_files_drop, in a handler of a signal that ends the run: files are removed and not closed. */
void o2_out_files_remove(const struct o2_out_file *file, uint32_t files);

#endif
