/* SPDX-License-Identifier: MIT */
#include "wire/frags_json.h"

#include "base/json.h"

json_t *o2_frags_to_json(const struct o2_rdma_frag *frag, uint32_t count)
{
	json_t *array = count <= O2_MAX_FRAGS ? json_array() : NULL;

	for (uint32_t i = 0; array != NULL && i < count; i++) {
		if (json_array_append_new(array,
					  json_pack("{s:o, s:o}", "rf_nob", json_integer(frag[i].rf_nob),
						    "rf_addr", o2_json_hex(frag[i].rf_addr))) != 0) {
			json_decref(array);
			return NULL;
		}
	}
	return array;
}

int o2_frags_from_json(const json_t *object, const char *key, const char *field, const char *entry,
		       struct o2_rdma_frag *frag, uint32_t *count, struct o2_error *error)
{
	const json_t *array;
	int rc = o2_json_at(o2_json_get_array(object, key, O2_MAX_FRAGS, &array, error), field, O2_NO_INDEX,
			    error);

	if (rc != 0)
		return rc;
	*count = (uint32_t)json_array_size(array);
	for (uint32_t i = 0; rc == 0 && i < *count; i++) {
		const struct o2_json_member members[] = {
			{"rf_nob", entry, O2_JSON_U32, &frag[i].rf_nob},
			{"rf_addr", entry, O2_JSON_HEX64, &frag[i].rf_addr},
		};

		rc = o2_json_get_members(json_array_get(array, i), members, 2, i, error);
	}
	return rc;
}

json_t *o2_desc_to_json(const struct o2_rdma_desc *desc)
{
	return json_pack("{s:o, s:o}", "rd_key", o2_json_hex(desc->rd_key), "rd_frags",
			 o2_frags_to_json(desc->rd_frags, desc->rd_nfrags));
}
