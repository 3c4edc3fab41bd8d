/* SPDX-License-Identifier: MIT */
#ifndef O2_PROPS_CHECK_BYTES_H
#define O2_PROPS_CHECK_BYTES_H

#include <jansson.h>
#include <stdio.h>

/*
 * Write the bytes of a message, field by field, as a table of the HTML page. form: has a member "bytes"; without it
 * nothing is written. other: the answer to show beside it, or NULL for a single column. Bytes that differ are
 * marked.
 */
void o2_check_put_bytes(const json_t *form, const json_t *other, FILE *out);

#endif
