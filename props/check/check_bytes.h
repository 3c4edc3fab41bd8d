/* SPDX-License-Identifier: MIT */
#ifndef O2_PROPS_CHECK_BYTES_H
#define O2_PROPS_CHECK_BYTES_H

#include <jansson.h>
#include <stdio.h>

/*
 * The bytes of a message, field by field, as a table of a page.  form, other: forms with a member "bytes",
 * without which nothing is put; other, the answer beside it, may be NULL: then there is one column.  Bytes
 * that differ are marked.
 */
void o2_check_put_bytes(const json_t *form, const json_t *other, FILE *out);

#endif
