/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "props/scenario/draw.h"

/* Draws two descriptors for rdma_plan.  Committed corpora are strings of these draws, as in draw_sg.c. */

uint32_t o2_draw_byte_end(struct o2_choice *c, uint32_t most)
{
	/* A draw of 0 gives the maximum. */
	return most - (uint32_t)o2_draw(c, most - 254);
}

uint64_t o2_draw_edge_bytes(struct o2_choice *c)
{
	static const uint64_t edges[] = {O2_MAX_TRANSFER_BYTES, 1u << 16, 4096};
	const uint64_t edge = edges[o2_draw_pick(c, sizeof(edges) / sizeof(edges[0]))];

	return edge + 1 - o2_draw(c, 2);
}

static uint64_t desc_bytes(const struct o2_rdma_desc *desc)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < desc->rd_nfrags && i < O2_MAX_FRAGS; i++)
		sum += desc->rd_frags[i].rf_nob;
	return sum;
}

static void draw_fragment(struct o2_choice *c, uint32_t index, struct o2_rdma_frag *frag)
{
	static const uint32_t shapes[] = {16, 16, 2, 1};
	const size_t shape = o2_draw_weighted(c, shapes, 4);

	frag->rf_addr = (uint64_t)index << 16; /* shape 0: a page apart from its neighbours */
	frag->rf_nob = 4096;
	if (shape == 1) { /* a few bytes anywhere; fragments may touch and overlap */
		frag->rf_addr = o2_draw(c, UINT16_MAX);
		frag->rf_nob = 1 + (uint32_t)o2_draw(c, UINT8_MAX);
	} else if (shape == 2) {
		frag->rf_nob = 0;
	} else if (shape == 3) {
		frag->rf_addr = o2_draw_wild(c);
		frag->rf_nob = (uint32_t)o2_draw_wild(c);
	}
}

static void draw_descriptor(struct o2_choice *c, uint32_t key, struct o2_rdma_desc *desc)
{
	static const uint32_t rarely[] = {40, 1};

	memset(desc, 0, sizeof(*desc));
	desc->rd_key = key;
	while (o2_draw_more(c, desc->rd_nfrags, 1, O2_MAX_FRAGS, 31)) {
		draw_fragment(c, desc->rd_nfrags, &desc->rd_frags[desc->rd_nfrags]);
		desc->rd_nfrags++;
	}
	if (o2_draw_weighted(c, rarely, 2) == 1)
		desc->rd_nfrags = (uint32_t)o2_draw_wild(c);
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
	case 2: /* more bytes than one of the descriptors has */
		return least + 1;
	default:
		return o2_draw_wild(c);
	}
}

static uint32_t draw_limit(struct o2_choice *c, uint32_t usual, uint32_t most)
{
	static const uint32_t weights[] = {16, 16, 1};
	const size_t pick = o2_draw_weighted(c, weights, 3);

	if (pick == 0)
		return usual;
	return (uint32_t)(pick == 1 ? 1 + o2_draw(c, most) : o2_draw_wild(c));
}

void o2_draw_rdma(struct o2_choice *c, struct o2_rdma_input *drawn)
{
	draw_descriptor(c, 0x11111111, &drawn->source);
	draw_descriptor(c, 0x22222222, &drawn->sink);
	drawn->nob = draw_nob(c, desc_bytes(&drawn->source), desc_bytes(&drawn->sink));
	drawn->limits.max_wrs = draw_limit(c, O2_MAX_FRAGS, O2_MAX_FRAGS);
	drawn->limits.wrq_sge = draw_limit(c, O2_DEFAULT_WRQ_SGE, O2_MAX_WRQ_SGE);
}

/* Fragments of a few bytes, in the sink as many as the limit of work requests, or one more or less. */
void o2_draw_rdma_full(struct o2_choice *c, struct o2_rdma_input *drawn)
{
	/* 4097 bytes each: in total more than a transfer may move, to reach the transfer's limits. */
	const bool many = o2_draw_bool(c, 7, 1);
	const uint32_t source_nob = many ? 4097 : 1 + (uint32_t)o2_draw(c, 99);
	const uint32_t sink_nob = many ? 4097 : 1 + (uint32_t)o2_draw(c, 99);
	/* Cut both at the same places, or at all but the first: as many entries as fragments, or one more. */
	const bool alike = o2_draw_bool(c, 1, 1), shifted = o2_draw_bool(c, 1, 1);

	memset(drawn, 0, sizeof(*drawn));
	drawn->limits.max_wrs = o2_draw_bool(c, 1, 1) ? O2_MAX_FRAGS_LEGACY : O2_MAX_FRAGS;
	drawn->limits.wrq_sge = O2_DEFAULT_WRQ_SGE;
	drawn->source.rd_nfrags = o2_draw_byte_end(c, O2_MAX_FRAGS);
	drawn->sink.rd_nfrags = o2_draw_byte_end(c, O2_MAX_FRAGS);
	if (alike)
		drawn->source.rd_nfrags = drawn->sink.rd_nfrags;
	for (uint32_t i = 0; i < O2_MAX_FRAGS; i++) {
		drawn->source.rd_frags[i] =
			(struct o2_rdma_frag){alike ? sink_nob : source_nob, (uint64_t)i << 16};
		drawn->sink.rd_frags[i] = (struct o2_rdma_frag){sink_nob, (uint64_t)i << 24};
	}
	if (alike && shifted && sink_nob > 1) {
		drawn->source.rd_frags[0].rf_nob--;
		drawn->source.rd_frags[1].rf_nob++;
	}
	drawn->nob = many ? o2_draw_edge_bytes(c)
			  : draw_nob(c, desc_bytes(&drawn->source), desc_bytes(&drawn->sink));
}
