/* SPDX-License-Identifier: MIT */
#ifndef O2_BASE_JSON_H
#define O2_BASE_JSON_H

#include <stdbool.h>
#include <stdint.h>

#include <jansson.h>

#include "base/error.h"

/*
 * Helpers for the versioned JSON forms of the stages (docs/architecture.md, "JSON forms").
 *
 * A form is an object with "form": "o2ref/<stage>/<input|output>" and "version": 1.  Counts and lengths are
 * JSON integers; 64-bit addresses, keys, cookies, stamps and NIDs are strings "0x..." because JSON integers
 * are signed. All readers return 0 or -EINVAL and fill *error (may be NULL) with the field's name, its value
 * and the limit.  Forms that are structs are written and read by tables (base/fields_json.h).
 */

#define O2_JSON_VERSION 1u

/* A new form object that holds "form" and "version"; NULL when memory runs out.  The caller owns it. */
json_t *o2_json_form(const char *form);

/*
 * Refuse a member of the wrong JSON type, or a missing one; refuse an integer that is not from low to high.  Both
 * return -EINVAL.
 */
int o2_json_refuse_kind(const char *rule, const char *field, struct o2_error *error);
int o2_json_refuse_range(json_int_t number, const char *field, json_int_t low, uint64_t high,
			 struct o2_error *error);

/* Refuse an object that is not this form, or has a version that we do not read. */
int o2_json_expect_form(const json_t *object, const char *form, struct o2_error *error);

/* Read an integer member of 0 to max. */
int o2_json_get_uint(const json_t *object, const char *field, uint64_t max, uint64_t *value,
		     struct o2_error *error);
int o2_json_get_u32(const json_t *object, const char *field, uint32_t max, uint32_t *value,
		    struct o2_error *error);

/* Read an array member of at most max elements; *array is borrowed. */
int o2_json_get_array(const json_t *object, const char *field, uint32_t max, const json_t **array,
		      struct o2_error *error);

/*
 * Make a string of a text that comes from outside (an implementation, a path, the command line) or may be cut in
 * the middle of a character: bytes that are not UTF-8 become question marks.  NULL when memory runs out.
 */
json_t *o2_json_text(const char *text);

/* Make a string "0x...". */
json_t *o2_json_hex(uint64_t value);

/* Make a length of up to 64 bits: an integer if JSON's signed integers can hold it, else a string "0x...". */
json_t *o2_json_length(uint64_t value);

/*
 * Read a value that need not be a member; `field` is its name in errors.  It is an integer of 0 to max; "0x..." of
 * at most 64 bits; a length as above; true or false; or one of names[0..count-1] (NULL: no name), as its index.
 */
int o2_json_parse_uint(const json_t *integer, const char *field, uint64_t max, uint64_t *value,
		       struct o2_error *error);
int o2_json_parse_hex(const json_t *string, const char *field, uint64_t *value, struct o2_error *error);
int o2_json_parse_length(const json_t *value, const char *field, uint64_t *length, struct o2_error *error);
int o2_json_parse_bool(const json_t *boolean, const char *field, bool *value, struct o2_error *error);
int o2_json_parse_name(const json_t *string, const char *field, const char *const *names, uint32_t count,
		       uint32_t *index, struct o2_error *error);

/* Read a member that is an object; *child is borrowed. */
int o2_json_get_object(const json_t *object, const char *field, const json_t **child, struct o2_error *error);

/* Record where a refusal happened: if rc is not 0, put field (a literal) and index into *error.  Returns rc. */
int o2_json_at(int rc, const char *field, uint32_t index, struct o2_error *error);

/*
 * Set a member of object, whose key must be UTF-8, and return object.  Both child and object may be NULL, the result
 * of a failed call: then both are freed and NULL is returned.
 */
json_t *o2_json_with(json_t *object, const char *key, json_t *child);

/* The same for an array: append an element. */
json_t *o2_json_append(json_t *array, json_t *element);

#endif
