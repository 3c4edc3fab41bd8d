/* SPDX-License-Identifier: MIT */
#ifndef O2_FORMS_OUTPUT_JSON_H
#define O2_FORMS_OUTPUT_JSON_H

#include <stdbool.h>
#include <stdint.h>

#include <jansson.h>

#include "base/error.h"
#include "base/refused_json.h"

/*
 * What the output forms of this room share: a refusal that also says class and offset (docs/wire.md, "JSON
 * forms").
 */

/* A refusal read from JSON; refused.code is 0 when there is none. */
struct o2_wire_refused {
	struct o2_refused refused;
	enum o2_error_class class;
	uint32_t offset_bytes;
};

/*
 * Begin an output form; *is_refused: the form holds a refusal, and so is complete.  NULL when memory runs
 * out.
 */
json_t *o2_wire_output_form(const char *form, const struct o2_error *refused, bool *is_refused);

/* Check the form and read the refusal, if there is one; else its code is 0.  Returns 0 or -EINVAL. */
int o2_wire_output_expect(const json_t *object, const char *form, struct o2_wire_refused *refused,
			  struct o2_error *error);

#endif
