/* SPDX-License-Identifier: MIT */
#ifndef O2_BASE_FIELDS_JSON_H
#define O2_BASE_FIELDS_JSON_H

#include <jansson.h>

#include "base/fields.h"

/*
 * Structs as JSON objects and back, by their tables.
 *
 * Writers return a new object, which the caller owns; NULL when memory runs out, a number has no name, or a
 * count passes its array.  Readers return 0 or a negative errno (-EINVAL, or what a field's text says) and
 * fill *error (may be NULL) with the field's name, its value and the limit, and the element of a list.
 * Members that no row names are ignored.
 */

json_t *o2_fields_to_json(const struct o2_field *fields, const void *holder);
int o2_fields_from_json(const json_t *object, const struct o2_field *fields, void *holder,
			struct o2_error *error);

/* The same for member `key` of object, which is to be an object. */
int o2_part_from_json(const json_t *object, const char *key, const struct o2_field *fields, void *holder,
		      struct o2_error *error);

/*
 * Add the members to an object, which may be NULL, and return it; on failure it is freed and NULL returned.
 */
json_t *o2_fields_into_json(json_t *object, const struct o2_field *fields, const void *holder);

/* How many members of object the table names: for a form that admits no others, after it was read. */
size_t o2_fields_known(const json_t *object, const struct o2_field *fields, const void *holder);

/* An array of structs, or of numbers.  Read as many as the JSON array has: the caller has made room. */
json_t *o2_elements_to_json(const struct o2_field *part, const void *first, uint32_t count,
			    uint32_t stride_bytes);
int o2_elements_from_json(const json_t *array, const struct o2_field *part, void *first,
			  uint32_t stride_bytes, struct o2_error *error);

#endif
