/* SPDX-License-Identifier: MIT */
#ifndef O2_BASE_FIELDS_JSON_H
#define O2_BASE_FIELDS_JSON_H

#include <jansson.h>

#include "base/fields.h"

/*
 * Convert structs to JSON objects and back, by their tables.
 *
 * Writers return a new object, which the caller owns; NULL when memory runs out, a number has no name, or a
 * count exceeds its array.  Readers return 0 or a negative errno (-EINVAL, or that of a field's `text`) and
 * fill *error (may be NULL) with the field's name, its value and the limit, and the index in a list. Members
 * that the table does not name are ignored.
 */

json_t *o2_fields_to_json(const struct o2_field *fields, const void *holder);
int o2_fields_from_json(const json_t *object, const struct o2_field *fields, void *holder,
			struct o2_error *error);

/* Read member `key` of object, which must itself be an object. */
int o2_part_from_json(const json_t *object, const char *key, const struct o2_field *fields, void *holder,
		      struct o2_error *error);

/* Add the fields to an object, which may be NULL, and return it; on failure free it and return NULL. */
json_t *o2_fields_into_json(json_t *object, const struct o2_field *fields, const void *holder);

/* How many members of object the table names: for forms that admit no other members, after reading. */
size_t o2_fields_known(const json_t *object, const struct o2_field *fields, const void *holder);

/* An array of structs or numbers.  All elements of the JSON array are read: the caller has made room. */
json_t *o2_elements_to_json(const struct o2_field *part, const void *first, uint32_t count,
			    uint32_t stride_bytes);
int o2_elements_from_json(const json_t *array, const struct o2_field *part, void *first,
			  uint32_t stride_bytes, struct o2_error *error);

#endif
