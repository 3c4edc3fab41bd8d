/* SPDX-License-Identifier: MIT */
#include "wire/mutants_wire.h"

#ifdef O2_WITH_MUTANTS

#include "wire/bytes.h"
#include "wire/layout.h"

uint32_t o2_mutant_count_by_sum(const struct o2_desc_place *place)
{
	const uint8_t *bytes = place->message + place->start_bytes;
	const uint32_t nfrags = o2_load32(bytes + O2_DESC_AT_NFRAGS, place->order);
	uint64_t end = (uint64_t)place->start_bytes + O2_DESC_AT_FRAGS;
	uint64_t sum = 0;

	bytes += O2_DESC_AT_FRAGS;
	for (uint32_t i = 0; i < nfrags && end + O2_FRAG_BYTES <= place->nob; i++) {
		sum += o2_load32_le(bytes + O2_FRAG_AT_NOB);
		bytes += O2_FRAG_BYTES;
		end += O2_FRAG_BYTES;
	}
	if (sum == 0)
		return 0;
	return sum <= O2_MAX_TRANSFER_BYTES ? 1 : UINT32_MAX;
}

#endif
