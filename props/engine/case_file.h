/* SPDX-License-Identifier: MIT */
#ifndef O2_PROPS_CASE_FILE_H
#define O2_PROPS_CASE_FILE_H

#include <stddef.h>
#include <stdint.h>

/*
 * A case in a file: the bytes of the choice sequence and nothing else, so that a file is at once an entry of
 * a fuzzer's corpus (docs/properties.md, "Files").
 */

/*
 * Read a case.  bytes holds O2_CHOICE_MAX_BYTES.  0, or a negative errno of open(2) or read(2), or -EFBIG if
 * the file is longer than a case can be.
 */
int o2_case_read(const char *path, uint8_t *bytes, size_t *length_bytes);

/*
 * Write a case so that a reader never sees half of it (temporary file, then rename(2)).  Replaces path.
 * 0 or a negative errno.
 */
int o2_case_write(const char *path, const uint8_t *bytes, size_t length_bytes);

/* A name for a case: 16 hexadecimal digits that depend on the bytes only, and a 0. */
#define O2_CASE_NAME_BYTES 17u
void o2_case_name(const uint8_t *bytes, size_t length_bytes, char name[O2_CASE_NAME_BYTES]);

#endif
