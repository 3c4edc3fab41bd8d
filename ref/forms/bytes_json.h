/* SPDX-License-Identifier: MIT */
#ifndef O2_FORMS_BYTES_JSON_H
#define O2_FORMS_BYTES_JSON_H

#include <stddef.h>
#include <stdint.h>

#include <jansson.h>

#include "base/error.h"

/*
 * Bytes in the wire's JSON forms: a string of hexadecimal digits.
 */

/* Write bytes as "911be90b...", two digits per byte; NULL when memory runs out. */
json_t *o2_bytes_to_json(const uint8_t *bytes, size_t length_bytes);

/*
 * Read member `key` of object into bytes[0..capacity_bytes-1].  field: its name in errors.
 * Returns 0 or -EINVAL.
 */
int o2_bytes_from_json(const json_t *object, const char *key, const char *field, uint8_t *bytes,
		       size_t capacity_bytes, size_t *length_bytes, struct o2_error *error);

#endif
