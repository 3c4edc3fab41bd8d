/* SPDX-License-Identifier: MIT */
/*
 * rdma_plan: byte k of the source goes to byte k of the sink, in as few work requests as the definition needs
 * and within every limit; descriptors nobody would send get an answer too. Draws: source, sink (fragments:
 * more?, shape, its numbers; count), nob, limits.
 */
#include <string.h>

#include "fuzz/common.h"
#include "fuzz/plan_oracle.h"

static const uint32_t shapes[] = {16, 16, 2, 1};
static const uint32_t rarely[] = {40, 1};

static void draw_fragment(struct o2_choice *c, uint32_t index, struct o2_rdma_frag *frag)
{
	const size_t shape = o2_draw_weighted(c, shapes, 4);

	frag->rf_addr = (uint64_t)index << 16; /* 0: a page, apart from its neighbours */
	frag->rf_nob = 4096;
	if (shape == 1) { /* a few bytes anywhere, fragments may touch and overlap */
		frag->rf_addr = o2_draw(c, UINT16_MAX);
		frag->rf_nob = 1 + (uint32_t)o2_draw(c, UINT8_MAX);
	} else if (shape == 2) {
		frag->rf_nob = 0;
	} else if (shape == 3) {
		frag->rf_addr = o2_fuzz_draw_wild(c);
		frag->rf_nob = (uint32_t)o2_fuzz_draw_wild(c);
	}
}

static void draw_descriptor(struct o2_choice *c, uint32_t key, struct o2_rdma_desc *desc)
{
	memset(desc, 0, sizeof(*desc));
	desc->rd_key = key;
	while (o2_draw_more(c, desc->rd_nfrags, 1, O2_MAX_FRAGS, 31)) {
		draw_fragment(c, desc->rd_nfrags, &desc->rd_frags[desc->rd_nfrags]);
		desc->rd_nfrags++;
	}
	if (o2_draw_weighted(c, rarely, 2) == 1)
		desc->rd_nfrags = (uint32_t)o2_fuzz_draw_wild(c);
}

static uint64_t draw_nob(struct o2_choice *c, uint64_t source_bytes, uint64_t sink_bytes)
{
	static const uint32_t weights[] = {16, 16, 2, 1};
	const uint64_t least = source_bytes < sink_bytes ? source_bytes : sink_bytes;

	switch (o2_draw_weighted(c, weights, 4)) {
	case 0:
		return least;
	case 1: /* the transfer ends inside a fragment */
		return o2_draw(c, least);
	case 2: /* more than one of the two has */
		return least + 1;
	default:
		return o2_fuzz_draw_wild(c);
	}
}

static uint32_t draw_limit(struct o2_choice *c, uint32_t usual, uint32_t most)
{
	static const uint32_t weights[] = {16, 16, 1};
	const size_t pick = o2_draw_weighted(c, weights, 3);

	if (pick == 0)
		return usual;
	return (uint32_t)(pick == 1 ? 1 + o2_draw(c, most) : o2_fuzz_draw_wild(c));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct o2_rdma_desc source, sink;
	struct o2_choice *c = o2_fuzz_choice(data, size);
	struct o2_rdma_limits limits;
	uint64_t nob;

	draw_descriptor(c, 0x11111111, &source);
	draw_descriptor(c, 0x22222222, &sink);
	nob = draw_nob(c, o2_fuzz_desc_bytes(&source), o2_fuzz_desc_bytes(&sink));
	limits.max_wrs = draw_limit(c, O2_MAX_FRAGS, O2_MAX_FRAGS);
	limits.wrq_sge = draw_limit(c, O2_DEFAULT_WRQ_SGE, O2_MAX_WRQ_SGE);
	o2_fuzz_check_plan(&source, &sink, nob, &limits);
	return 0;
}
