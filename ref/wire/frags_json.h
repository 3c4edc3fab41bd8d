/* SPDX-License-Identifier: MIT */
#ifndef O2_WIRE_FRAGS_JSON_H
#define O2_WIRE_FRAGS_JSON_H

#include <jansson.h>

#include "base/error.h"
#include "wire/desc.h"

/*
 * Fragments in JSON: [{"rf_nob": 512, "rf_addr": "0x10000e00"}], and a descriptor
 * {"rd_key": "0x1234", "rd_frags": [...]}.  Parts of the forms of reg_plan and rdma_plan.
 *
 * o2iblnd: none, JSON forms are ours
 */

/* NULL when memory runs out or there are more than O2_MAX_FRAGS.  The caller owns the array. */
json_t *o2_frags_to_json(const struct o2_rdma_frag *frag, uint32_t count);

/*
 * Read the array that is member `key` of object.  field: how errors name the array; entry: how they name an
 * element.  frag: room for O2_MAX_FRAGS.  Returns 0 or -EINVAL.
 */
int o2_frags_from_json(const json_t *object, const char *key, const char *field, const char *entry,
		       struct o2_rdma_frag *frag, uint32_t *count, struct o2_error *error);

json_t *o2_desc_to_json(const struct o2_rdma_desc *desc);

#endif
