/* SPDX-License-Identifier: MIT */
#include "tests/lib/lnet_pair.h"

void lnet_pair_open(struct o2_lnet_pair *pair, const struct o2_lnet_config *base)
{
	assert_int_equal(o2_lnet_pair_open(pair, base), 0);
}

void lnet_pair_close(struct o2_lnet_pair *pair)
{
	o2_lnet_pair_close(pair);
	assert_null(pair->a.wrong);
	assert_null(pair->b.wrong);
}

struct o2_transfer_memory lnet_side_memory(struct o2_lnet_side *side, unsigned int which, uint32_t page,
					   uint32_t length_bytes)
{
	static struct o2_iov iov[8];
	struct o2_iov *piece = &iov[which + (side->nid == NID_A ? 0 : 4)];

	assert_true(which < 4);
	*piece = (struct o2_iov){side->arena.view[0].base + (uint64_t)page * side->arena.page_bytes,
				 length_bytes};
	return (struct o2_transfer_memory){
		.buffer = {.kind = O2_IOV, .count = 1, .nob = length_bytes, .iov = piece},
	};
}

void fill_bytes(uint8_t *bytes, size_t n, uint8_t seed)
{
	for (size_t i = 0; i < n; i++)
		bytes[i] = (uint8_t)(seed + i * 7 + (i >> 8) * 13);
}

struct o2_lnet_entry entry_of(const struct o2_transfer_memory *memory)
{
	return (struct o2_lnet_entry){
		.portal = 60,
		.match_bits = 0x1234,
		O2_LNET_FOR_ANYBODY,
		.options = O2_LNET_MD_OP_PUT | O2_LNET_MD_OP_GET | O2_LNET_MD_MANAGE_REMOTE,
		.tag = 77,
		.memory = *memory,
	};
}

struct o2_lnet_target target_at(uint64_t nid, bool ack)
{
	return (struct o2_lnet_target){.nid = nid, .portal = 60, .match_bits = 0x1234, .ack = ack};
}

struct o2_lnet_pair *lnet_pair_default(void)
{
	static struct o2_lnet_pair pair;

	lnet_pair_open(&pair, NULL);
	return &pair;
}

void lnet_expect_result(struct o2_lnet_side *side, int status, uint64_t length_bytes)
{
	assert_int_equal(side->nresults, 1);
	assert_int_equal(side->result[0].status, status);
	assert_int_equal(side->result[0].length_bytes, length_bytes);
	assert_int_equal(o2_lnet_messages(side->lnet), 0);
	side->nresults = 0;
}

void lnet_expect_dropped(struct o2_lnet_side *side, const char *rule)
{
	assert_non_null(side->dropped);
	assert_string_equal(side->dropped, rule);
	side->dropped = NULL;
	side->nevents = 0;
}

void lnet_offer(struct o2_lnet_side *side, uint32_t options)
{
	const struct o2_transfer_memory memory = lnet_side_memory(side, 3, 256, O2_MAX_TRANSFER_BYTES);
	struct o2_lnet_entry entry = entry_of(&memory);

	entry.options |= options;
	assert_true(o2_lnet_attach(side->lnet, &entry, NULL) >= 0);
}

void lnet_expect_fault(const struct o2_lnet_side *side, enum o2_fault_side blamed, const char *rule,
		       uint64_t value, uint64_t limit)
{
	const struct o2_transfer_fault *fault = &side->fault[0];

	assert_int_equal(fault->side, blamed);
	assert_non_null(fault->error.rule);
	assert_string_equal(fault->error.rule, rule);
	assert_int_equal(fault->code, fault->error.code);
	assert_true(fault->error.value == value && fault->error.limit == limit);
}

void lnet_put(struct o2_lnet_side *side, const struct o2_lnet_target *target,
	      const struct o2_transfer_memory *source)
{
	assert_int_equal(o2_lnet_put(side->lnet, target, source, NULL, NULL), 0);
}

void lnet_get(struct o2_lnet_side *side, const struct o2_lnet_target *target,
	      const struct o2_transfer_memory *sink)
{
	assert_int_equal(o2_lnet_get(side->lnet, target, sink, NULL, NULL), 0);
}
