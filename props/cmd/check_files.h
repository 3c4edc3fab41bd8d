/* SPDX-License-Identifier: MIT */
#ifndef O2_PROPS_CHECK_FILES_H
#define O2_PROPS_CHECK_FILES_H

#include <jansson.h>
#include <stdint.h>

#include "props/cmd/check_options.h"

/*
 * The files that `o2ref check --out DIR` writes per finding: DIR/INDEX-STAGE-CHECK-REASON.json with the question
 * for --case and, for a shared object, a .c file that asks it (docs/oracle.md, "Reproducers"). The name contains
 * the cause, so each cause has its own file, and a later run overwrites it.
 */

/*
 * Create the folder and open the reports.  No report may be a file that the command reads, or would read as a
 * case of the corpus, except that the earlier result may be replaced by the new one.  Returns 0, or
 * O2_CHECK_EXIT_USAGE after a line on stderr.
 */
int o2_check_open_files(struct o2_check_arguments *a);

/*
 * Write the files of a finding of implementation `index`. names: the set of names used so far. Adds the member
 * "reproducer" to the finding if a C file was written; path: of the JSON file. Returns as o2_check_open_files.
 */
int o2_check_write_files(const struct o2_check_arguments *a, uint32_t index, json_t *finding, json_t *names,
			 char *path, size_t path_bytes);

#endif
