/* SPDX-License-Identifier: MIT */
#include "wire/desc_codec.h"

#include <stdbool.h>

#include "wire/bytes.h"
#include "wire/layout.h"
#include "wire/rules.h"

/* Inlined into its callers, where the byte order is a constant: it is decided once, not per fragment. */
#define ALWAYS_INLINE static inline __attribute__((always_inline))

static int check_count(uint32_t nfrags, uint32_t max_frags, unsigned int first_rule, struct o2_error *error)
{
	if (o2_wire_breaks(first_rule + O2_DESC_NFRAGS_ZERO, nfrags == 0))
		return o2_wire_refuse(error, first_rule + O2_DESC_NFRAGS_ZERO, nfrags, 1);
	if (o2_wire_breaks(first_rule + O2_DESC_NFRAGS_OVER_LIMIT, nfrags > max_frags))
		return o2_wire_refuse(error, first_rule + O2_DESC_NFRAGS_OVER_LIMIT, nfrags, max_frags);
	return 0;
}

/* One pass per rule: of several broken rules the first one is reported, whatever the fragment. */
static int check_frags(const struct o2_rdma_desc *desc, unsigned int rule, struct o2_error *error)
{
	const struct o2_rdma_frag *frags = desc->rd_frags;
	uint64_t sum = 0;

	for (uint32_t i = 0; i < desc->rd_nfrags; i++)
		if (o2_wire_breaks(rule + O2_DESC_FRAG_NOB_ZERO, frags[i].rf_nob == 0))
			return o2_wire_refuse_frag(error, rule + O2_DESC_FRAG_NOB_ZERO, i, 0, 1);
	for (uint32_t i = 0; i < desc->rd_nfrags; i++)
		if (o2_wire_breaks(rule + O2_DESC_FRAG_NOB_OVER_LIMIT,
				   frags[i].rf_nob > O2_MAX_TRANSFER_BYTES))
			return o2_wire_refuse_frag(error, rule + O2_DESC_FRAG_NOB_OVER_LIMIT, i,
						   frags[i].rf_nob, O2_MAX_TRANSFER_BYTES);
	for (uint32_t i = 0; i < desc->rd_nfrags; i++) {
		sum += frags[i].rf_nob;
		if (o2_wire_breaks(rule + O2_DESC_SUM_OVER_LIMIT, sum > O2_MAX_TRANSFER_BYTES))
			return o2_wire_refuse_frag(error, rule + O2_DESC_SUM_OVER_LIMIT, i, sum,
						   O2_MAX_TRANSFER_BYTES);
	}
	for (uint32_t i = 0; i < desc->rd_nfrags; i++)
		if (o2_wire_breaks(rule + O2_DESC_FRAG_ADDR_WRAPS,
				   frags[i].rf_addr > UINT64_MAX - frags[i].rf_nob))
			return o2_wire_refuse_frag(error, rule + O2_DESC_FRAG_ADDR_WRAPS, i, frags[i].rf_addr,
						   UINT64_MAX - frags[i].rf_nob);
	return 0;
}

int o2_desc_check(const struct o2_rdma_desc *desc, uint32_t max_frags, unsigned int first_rule,
		  struct o2_error *error)
{
	const int rc = check_count(desc->rd_nfrags, max_frags, first_rule, error);

	return rc != 0 ? rc : check_frags(desc, first_rule, error);
}

/* Sums over all fragments. */
struct sums {
	uint64_t nob;	/* sum of their lengths; a length of 0 counts as 2^32 */
	uint64_t wraps; /* number of fragments that end beyond the last address */
};

ALWAYS_INLINE void load_frag(const uint8_t *bytes, const enum o2_byte_order order, struct o2_rdma_frag *frag,
			     struct sums *sums)
{
	const uint32_t nob = o2_load32(bytes + O2_FRAG_AT_NOB, order);
	const uint64_t addr = o2_load64(bytes + O2_FRAG_AT_ADDR, order);

	frag->rf_nob = nob;
	frag->rf_addr = addr;
	sums->nob += nob - 1; /* nob - 1 has 32 bits, so 0 becomes the largest; the caller adds the 1 */
	sums->wraps += addr + nob < addr;
}

/*
 * Load all fragments.  True if one of them breaks a rule; check_frags then finds which rule and fragment.
 *
 * Decoding spends its time in this loop, so no branch depends on the bytes.  Two sums cover four rules: a
 * length of 0 makes the sum larger than any legal one.  Two fragments per iteration are a seventh faster.
 */
ALWAYS_INLINE bool load_frags(const uint8_t *bytes, const enum o2_byte_order order, uint32_t nfrags,
			      struct o2_rdma_frag *frags)
{
	struct sums sums = {.nob = nfrags, .wraps = 0};
	uint32_t i = 0;

	for (; i + 1 < nfrags; i += 2, bytes += 2 * O2_FRAG_BYTES) {
		load_frag(bytes, order, &frags[i], &sums);
		load_frag(bytes + O2_FRAG_BYTES, order, &frags[i + 1], &sums);
	}
	if (i < nfrags)
		load_frag(bytes, order, &frags[i], &sums);
	return sums.wraps != 0 || sums.nob > O2_MAX_TRANSFER_BYTES;
}

int o2_desc_load(const struct o2_desc_place *place, struct o2_rdma_desc *desc, struct o2_error *error)
{
	const uint8_t *bytes = place->message + place->start_bytes;
	const uint32_t nfrags = o2_load32(bytes + O2_DESC_AT_NFRAGS, place->order);
	uint64_t needed;
	bool wrong;
	int rc;

	/* Check the count before any arithmetic with it. */
	rc = check_count(nfrags, place->max_frags, place->first_rule, error);
	if (rc != 0)
		return rc;
	needed = (uint64_t)place->start_bytes + O2_DESC_AT_FRAGS + (uint64_t)nfrags * O2_FRAG_BYTES;
	if (o2_wire_breaks(place->first_rule + O2_DESC_NOB_UNDER_FRAGS, place->nob < needed))
		return o2_wire_refuse(error, place->first_rule + O2_DESC_NOB_UNDER_FRAGS, place->nob, needed);
	desc->rd_key = o2_load32(bytes + O2_DESC_AT_KEY, place->order);
	desc->rd_nfrags = nfrags;
	bytes += O2_DESC_AT_FRAGS;
	wrong = place->order == O2_LITTLE_ENDIAN ? load_frags(bytes, O2_LITTLE_ENDIAN, nfrags, desc->rd_frags)
						 : load_frags(bytes, O2_BIG_ENDIAN, nfrags, desc->rd_frags);
	return wrong ? check_frags(desc, place->first_rule, error) : 0;
}

void o2_desc_store(const struct o2_rdma_desc *desc, enum o2_byte_order order, uint8_t *bytes)
{
	o2_store32(bytes + O2_DESC_AT_KEY, order, desc->rd_key);
	o2_store32(bytes + O2_DESC_AT_NFRAGS, order, desc->rd_nfrags);
	bytes += O2_DESC_AT_FRAGS;
	for (uint32_t i = 0; i < desc->rd_nfrags; i++, bytes += O2_FRAG_BYTES) {
		o2_store32(bytes + O2_FRAG_AT_NOB, order, desc->rd_frags[i].rf_nob);
		o2_store64(bytes + O2_FRAG_AT_ADDR, order, desc->rd_frags[i].rf_addr);
	}
}

int o2_desc_decode(const uint8_t *bytes, size_t length_bytes, enum o2_byte_order order,
		   const struct o2_wire_options *options, struct o2_rdma_desc *desc, struct o2_error *error)
{
	const struct o2_wire_options chosen = options == NULL ? O2_WIRE_DEFAULTS : *options;
	const struct o2_desc_place place = {
		.message = bytes,
		.nob = length_bytes,
		.order = order,
		.max_frags = chosen.max_frags,
		.first_rule = O2_RULE_DESC,
	};
	int rc;

	o2_error_clear(error);
	rc = o2_check_options(&chosen, error);
	if (rc != 0)
		return rc;
	if (length_bytes < O2_DESC_AT_FRAGS)
		return o2_wire_refuse(error, O2_RULE_DESC_SHORT_FOR_COUNT, length_bytes, O2_DESC_AT_FRAGS);
	return o2_desc_load(&place, desc, error);
}

uint64_t o2_desc_bytes(const struct o2_rdma_desc *desc)
{
	uint64_t total = 0;

	for (uint32_t i = 0; i < desc->rd_nfrags; i++)
		total += desc->rd_frags[i].rf_nob;
	return total;
}
