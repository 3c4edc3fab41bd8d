/* SPDX-License-Identifier: MIT */
#ifndef O2_BASE_REFUSED_JSON_H
#define O2_BASE_REFUSED_JSON_H

#include <stdbool.h>
#include <stdint.h>

#include <jansson.h>

#include "base/error.h"
#include "base/fields.h"

/*
 * What a stage's output form says when the stage refused its input (docs/architecture.md, "JSON forms"):
 *   "refused": {"errno": "EINVAL", "rule": "sg/nob", "field": "nob", "value": 0, "limit": 1048576}
 * with "index" when the refusal is about one entry of a list, and without "limit" where there is none. value
 * and limit are lengths (o2_json_length).
 */

#define O2_REFUSED_TEXT_BYTES 64u /* rule ids and field names are shorter than this */

/* A refusal as read back.  Unlike o2_error it holds its texts, so that it outlives the JSON. */
struct o2_refused {
	int code; /* negative errno; 0 = nothing was refused */
	char rule[O2_REFUSED_TEXT_BYTES];
	char field[O2_REFUSED_TEXT_BYTES];
	uint32_t index; /* or O2_NO_INDEX */
	uint64_t value;
	uint64_t limit; /* or O2_NO_LIMIT */
};

/*
 * Begin an output form: with the refusal in it when refused is not NULL and its code is not 0.
 * NULL when memory runs out, or when the code is one that o2_errno_name does not know.
 */
json_t *o2_output_form(const char *form, const struct o2_error *refused);

/*
 * Check the form and read the refusal, if there is one; else refused->code is 0 and the form has a result.
 * Returns 0 or -EINVAL.
 */
int o2_output_expect(const json_t *object, const char *form, struct o2_refused *refused,
		     struct o2_error *error);

/*
 * Whole output forms whose result is one member, a struct with a table.  refused: NULL, or an error whose
 * code says whether there is a result.  The reader fills *result when refused->code is 0 after success.
 */
json_t *o2_output_to_json(const char *form, const char *key, const struct o2_field *fields,
			  const void *result, const struct o2_error *refused);
int o2_output_from_json(const json_t *object, const char *form, const char *key,
			const struct o2_field *fields, void *result, struct o2_refused *refused,
			struct o2_error *error);

/* The same refusal, with its texts copied (cut at O2_REFUSED_TEXT_BYTES - 1). */
void o2_refused_from_error(const struct o2_error *error, struct o2_refused *refused);

bool o2_refused_equal(const struct o2_refused *a, const struct o2_refused *b);

#endif
