/* SPDX-License-Identifier: MIT */
#ifndef O2_FORMS_OUTPUT_JSON_H
#define O2_FORMS_OUTPUT_JSON_H

#include <stdbool.h>
#include <stdint.h>

#include <jansson.h>

#include "base/error.h"
#include "base/refused_json.h"

/*
 * Shared by the codec's output forms: a refusal that also has class and offset (docs/wire.md, "JSON forms").
 */

/* A refusal read from JSON; refused.code is 0 if there is none. */
struct o2_wire_refused {
	struct o2_refused refused;
	enum o2_error_class class;
	uint32_t offset_bytes;
};

/*
 * Begin an output form.  *is_refused: the form contains a refusal and is complete.  NULL when memory runs
 * out.
 */
json_t *o2_wire_output_form(const char *form, const struct o2_error *refused, bool *is_refused);

/* Check the form and read its refusal; without one, refused->refused.code is 0.  Returns 0 or -EINVAL. */
int o2_wire_output_expect(const json_t *object, const char *form, struct o2_wire_refused *refused,
			  struct o2_error *error);

#endif
