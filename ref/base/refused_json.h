/* SPDX-License-Identifier: MIT */
#ifndef O2_BASE_REFUSED_JSON_H
#define O2_BASE_REFUSED_JSON_H

#include <stdbool.h>
#include <stdint.h>

#include <jansson.h>

#include "base/error.h"
#include "base/fields.h"

/*
 * A refusal in a stage's output form (docs/architecture.md, "JSON forms"):
 *   "refused": {"errno": "EINVAL", "rule": "sg/nob", "field": "nob", "value": 0, "limit": 1048576}
 * with "index" if the refusal is about one entry of a list, and without "limit" if there is none.  value and
 * limit are lengths (o2_json_length).
 */

#define O2_REFUSED_TEXT_BYTES 64u /* rule ids and field names are shorter than this */

/* A refusal read from JSON.  Unlike o2_error it holds copies of its texts, so it outlives the JSON object. */
struct o2_refused {
	int code; /* negative errno; 0: no refusal */
	char rule[O2_REFUSED_TEXT_BYTES];
	char field[O2_REFUSED_TEXT_BYTES];
	uint32_t index; /* or O2_NO_INDEX */
	uint64_t value;
	uint64_t limit; /* or O2_NO_LIMIT */
};

/*
 * Begin an output form; it contains the refusal if refused is not NULL and its code is not 0.
 * NULL when memory runs out, or o2_errno_name does not know the code.
 */
json_t *o2_output_form(const char *form, const struct o2_error *refused);

/*
 * Check the form and read its refusal; without one, refused->code is 0 and the form has a result.
 * Returns 0 or -EINVAL.
 */
int o2_output_expect(const json_t *object, const char *form, struct o2_refused *refused,
		     struct o2_error *error);

/*
 * A whole output form whose result is one member, a struct with a table.  refused: NULL, or an error; if its
 * code is 0 the form has a result.  The reader fills *result if it succeeds with refused->code 0.
 */
json_t *o2_output_to_json(const char *form, const char *key, const struct o2_field *fields,
			  const void *result, const struct o2_error *refused);
int o2_output_from_json(const json_t *object, const char *form, const char *key,
			const struct o2_field *fields, void *result, struct o2_refused *refused,
			struct o2_error *error);

/* Convert an error to a refusal; the texts are copied and cut at O2_REFUSED_TEXT_BYTES - 1. */
void o2_refused_from_error(const struct o2_error *error, struct o2_refused *refused);

bool o2_refused_equal(const struct o2_refused *a, const struct o2_refused *b);

#endif
