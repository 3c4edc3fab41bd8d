/* SPDX-License-Identifier: MIT */
#ifndef O2_FORMS_RDMA_JSON_H
#define O2_FORMS_RDMA_JSON_H

#include <jansson.h>

#include "base/refused_json.h"
#include "rdma/rdma_plan.h"

/*
 * JSON forms of rdma_plan (docs/architecture.md, "JSON forms").
 *
 *   {"form": "o2ref/rdma_plan/input", "version": 1, "nob": 512, "limits": {"max_wrs": 257, "wrq_sge": 2},
 *    "source": {"rd_key": "0x11", "rd_frags": [{"rf_nob": 512, "rf_addr": "0x1000"}]},
 *    "sink": {"rd_key": "0x22", "rd_frags": [{"rf_nob": 512, "rf_addr": "0xe00"}]}}
 *
 *   {"form": "o2ref/rdma_plan/output", "version": 1,
 *    "plan": {"lkey": "0x11", "rkey": "0x22", "nob": 512,
 *             "wr": [{"remote_addr": "0xe00", "length": 512, "first_sge": 0, "num_sge": 1}],
 *             "sge": [{"addr": "0x1000", "length": 512}]}}
 *   or, in place of the plan, "refused" (base/refused_json.h).
 */

#define O2_RDMA_INPUT_FORM  "o2ref/rdma_plan/input"
#define O2_RDMA_OUTPUT_FORM "o2ref/rdma_plan/output"

/* The inputs of o2_rdma_plan.  Nothing in it has to be freed. */
struct o2_rdma_input {
	struct o2_rdma_desc source;
	struct o2_rdma_desc sink;
	uint64_t nob;
	struct o2_rdma_limits limits;
};

/* The members of the input form. */
extern const struct o2_field o2_rdma_input_fields[];

/* NULL when memory runs out, or a descriptor has more fragments than its array. */
json_t *o2_rdma_input_to_json(const struct o2_rdma_input *input);

/* Returns 0 or -EINVAL. */
int o2_rdma_input_from_json(const json_t *object, struct o2_rdma_input *input, struct o2_error *error);

/* NULL when memory runs out, or a count exceeds its array.  refused: as in o2_sg_output_to_json. */
json_t *o2_rdma_output_to_json(const struct o2_rdma_plan *plan, const struct o2_error *refused);

/*
 * Fills *plan if it succeeds and refused->code is 0.  Refuses a work request whose gather entries are not all
 * in the form.  Returns 0 or -EINVAL.
 */
int o2_rdma_output_from_json(const json_t *object, struct o2_rdma_plan *plan, struct o2_refused *refused,
			     struct o2_error *error);

/* Member "plan", also part of the answer to a whole transfer.  Its reader refuses the same work requests. */
extern const struct o2_field o2_rdma_plan_fields[];
int o2_rdma_plan_from_json(const json_t *form, struct o2_rdma_plan *plan, struct o2_error *error);

#endif
