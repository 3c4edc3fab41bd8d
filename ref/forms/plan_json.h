/* SPDX-License-Identifier: MIT */
#ifndef O2_FORMS_PLAN_JSON_H
#define O2_FORMS_PLAN_JSON_H

#include <jansson.h>

#include "base/refused_json.h"
#include "reg/plan.h"

/*
 * JSON forms of reg_plan (docs/architecture.md, "JSON forms").
 *
 *   {"form": "o2ref/reg_plan/input", "version": 1,
 *    "request": {"mode": "fmr", "side": "sink", "page_bytes": 4096, "max_pages": 257, "peer_max_frags": 257,
 *                "gaps": false},
 *    "list": {"nob": 512, "segments": [{"addr": "0x10000e00", "length": 512}]}}
 *
 *   A request of mode "user" or "phys" has "iova": "0x..." and "contiguous": true as well.
 *
 *   {"form": "o2ref/reg_plan/output", "version": 1,
 *    "plan": {"mode": "fmr", "side": "sink", "page_bytes": 4096, "local_write": true, "remote_write": true,
 *             "iova": "0xe00", "length": 512, "page_offset": 3584, "pages": ["0x10000000"],
 *             "frags": [{"rf_nob": 512, "rf_addr": "0xe00"}]}}
 *   A plan of mode "fastreg_gaps" has "entries": [{"addr": "0x10000e00", "length": 512}] as well.
 *   Or, in place of the plan, "refused" (base/refused_json.h).
 */

#define O2_REG_INPUT_FORM  "o2ref/reg_plan/input"
#define O2_REG_OUTPUT_FORM "o2ref/reg_plan/output"

/* NULL when memory runs out, mode or side is not valid, or the list has more segments than its array. */
json_t *o2_reg_input_to_json(const struct o2_reg_request *request, const struct o2_dma_list *segments);

/* Returns 0 or -EINVAL.  Nothing has to be freed. */
int o2_reg_input_from_json(const json_t *object, struct o2_reg_request *request, struct o2_dma_list *segments,
			   struct o2_error *error);

/* NULL when memory runs out, or a count exceeds its array.  refused: as in o2_sg_output_to_json. */
json_t *o2_reg_output_to_json(const struct o2_reg_plan *plan, const struct o2_error *refused);

/* Fills *plan if it succeeds and refused->code is 0.  Returns 0 or -EINVAL. */
int o2_reg_output_from_json(const json_t *object, struct o2_reg_plan *plan, struct o2_refused *refused,
			    struct o2_error *error);

/*
 * Tables of a plan.  o2_reg_answer_fields leaves out what the request says: its reader first sets mode, side,
 * page_bytes and access; access to the value that it has if "local_write" is missing.
 */
extern const struct o2_field o2_reg_plan_fields[];
extern const struct o2_field o2_reg_answer_fields[];

#endif
