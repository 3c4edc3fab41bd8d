/* SPDX-License-Identifier: MIT */
#ifndef O2_PROPS_CHECK_FILES_H
#define O2_PROPS_CHECK_FILES_H

#include <jansson.h>
#include <stdint.h>

#include "props/cmd/check_options.h"

/*
 * What `o2ref check --out DIR` writes of each finding: DIR/INDEX-STAGE-CHECK-REASON.json, the question for
 * --case; and for a shared object the same as a program in C, .c (docs/oracle.md, "Reproducers").  A file is
 * named by its cause, so that each has its own and a later run writes to the same.
 */

/*
 * Make the folder, and open the reports, of which none may be a file that is read; but the earlier result may
 * make room for the new one.  0, or O2_CHECK_EXIT_USAGE after a line on stderr.
 */
int o2_check_open_files(struct o2_check_arguments *a);

/*
 * Write the files of a finding of implementation `index`.  names: of the files so far, a set.  The finding
 * gets the member "reproducer" if there is one; path: of the JSON.  Returns as o2_check_open_files.
 */
int o2_check_write_files(const struct o2_check_arguments *a, uint32_t index, json_t *finding, json_t *names,
			 char *path, size_t path_bytes);

#endif
