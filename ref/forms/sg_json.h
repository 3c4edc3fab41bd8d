/* SPDX-License-Identifier: MIT */
#ifndef O2_FORMS_SG_JSON_H
#define O2_FORMS_SG_JSON_H

#include <jansson.h>

#include "base/refused_json.h"
#include "mem/sg_build.h"

/*
 * JSON forms of sg_build (docs/architecture.md, "JSON forms").
 *
 *   {"form": "o2ref/sg_build/input", "version": 1, "max_entries": 257,
 *    "space": {"page_bytes": 4096, "npages": 64, "ranges": [{"base": "0x10000", "pages": [3, 1, 2]}]},
 *    "buffer": {"kind": "kiov", "offset": 0, "nob": 512, "pieces": [{"page": 3, "offset": 0, "len": 512}]}}
 *   A piece of kind "iov" is {"base": "0x10000", "len": 512}.
 *
 *   {"form": "o2ref/sg_build/output", "version": 1,
 *    "list": {"gaps": false, "nob": 512, "entries": [{"page": 3, "offset": 0, "length": 512}]}}
 *   or, in place of the list, "refused" (base/refused_json.h).
 *
 * An input form may say what sg_build refuses: the reader only refuses what the structs cannot hold, and
 * ranges that do not start on a page boundary.
 */

#define O2_SG_INPUT_FORM  "o2ref/sg_build/input"
#define O2_SG_OUTPUT_FORM "o2ref/sg_build/output"

/*
 * Longest arrays that the reader accepts: room for lists that sg_build refuses and for empty pieces between.
 */
#define O2_SG_JSON_MAX_PIECES 4096u
#define O2_SG_JSON_MAX_RANGES 64u
#define O2_SG_JSON_MAX_PAGES  65536u /* pages of all ranges together */

/* An input read from JSON: buffer and space point into the arrays below, which the input owns. */
struct o2_sg_input {
	uint32_t max_entries;
	struct o2_buffer buffer;
	struct o2_address_space space;
	struct o2_iov *iov;
	struct o2_kiov *kiov;
	struct o2_vrange *range;
	uint32_t *page;
};

/* NULL when memory runs out or the buffer's kind is not valid.  The caller owns the object. */
json_t *o2_sg_input_to_json(const struct o2_buffer *buffer, const struct o2_address_space *space,
			    uint32_t max_entries);

/* Returns 0, -EINVAL or -ENOMEM.  After success only, free the input with o2_sg_input_free. */
int o2_sg_input_from_json(const json_t *object, struct o2_sg_input *input, struct o2_error *error);
void o2_sg_input_free(struct o2_sg_input *input);

/*
 * refused: NULL, or an error; the form has a list if its code is 0.  NULL when memory runs out or the list
 * has more entries than its array.
 */
json_t *o2_sg_output_to_json(const struct o2_sg_list *list, const struct o2_error *refused);

/* Fills *list if it succeeds and refused->code is 0.  Returns 0 or -EINVAL. */
int o2_sg_output_from_json(const json_t *object, struct o2_sg_list *list, struct o2_refused *refused,
			   struct o2_error *error);

/*
 * Members "space" and "buffer", also part of the form of a whole transfer.  The writer adds them to form,
 * which may be NULL, and returns it; on failure it frees form and returns NULL.  The reader is like
 * o2_sg_input_from_json.
 */
json_t *o2_sg_memory_into_json(json_t *form, const struct o2_buffer *buffer,
			       const struct o2_address_space *space);
int o2_sg_memory_from_json(const json_t *form, struct o2_sg_input *input, struct o2_error *error);

#endif
