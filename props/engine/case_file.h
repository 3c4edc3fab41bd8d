/* SPDX-License-Identifier: MIT */
#ifndef O2_PROPS_CASE_FILE_H
#define O2_PROPS_CASE_FILE_H

#include <stddef.h>
#include <stdint.h>

/*
 * A case file holds the bytes of one choice sequence and nothing else.  The same file is therefore also an
 * entry of a fuzzer's corpus (docs/properties.md, "Files").
 */

/*
 * Read a case.  The buffer bytes has room for O2_CHOICE_MAX_BYTES.  Returns 0, a negative errno of open(2) or
 * read(2), or -EFBIG if the file is longer than a case can be.
 */
int o2_case_read(const char *path, uint8_t *bytes, size_t *length_bytes);

/*
 * Write a case to path, replacing what is there.  The write goes to a temporary file and then rename(2), so a
 * reader never sees half of a case.  Returns 0 or a negative errno.
 */
int o2_case_write(const char *path, const uint8_t *bytes, size_t length_bytes);

/* A name for a case: 16 hexadecimal digits, computed from the bytes only, and a terminating 0. */
#define O2_CASE_NAME_BYTES 17u
void o2_case_name(const uint8_t *bytes, size_t length_bytes, char name[O2_CASE_NAME_BYTES]);

#endif
