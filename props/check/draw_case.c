/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "props/check/draw_stage.h"
#include "props/scenario/draw.h"
#include "props/stage/codec.h"

/* Cases of every stage; messages and whole transfers come from the generators of the properties. */

#define BUS_BASE     UINT64_C(0x240000000)
#define VIRTUAL_BASE UINT64_C(0x7f8000000000) /* a typical place for pages of a process */
#define VIEW_BASE    UINT64_C(0x7f0000000000) /* of the first view; others follow it */
#define VIEW_STRIDE  UINT64_C(0x100000000)
#define SOURCE_KEY   0x51u
#define SINK_KEY     0x52u

/* Weights of "raw bytes, not a changed message". */
#define RAW_NO	31u
#define RAW_YES 1u

/* Option bits of a case of raw bytes. */
#define RAW_REQUIRE  1u
#define RAW_ANY_LND  2u
#define RAW_TOLERATE 4u
#define RAW_LEGACY   8u

/* --- messages --- */

static void draw_raw(struct o2_choice *c, struct o2_case_msg_decode *drawn)
{
	const uint64_t flags = o2_draw(c, 15);

	drawn->options = O2_WIRE_DEFAULTS;
	drawn->options.require_checksum = (flags & RAW_REQUIRE) != 0;
	drawn->options.any_lnd = (flags & RAW_ANY_LND) != 0;
	drawn->options.tolerate_immediate_checksum = (flags & RAW_TOLERATE) != 0;
	if ((flags & RAW_LEGACY) != 0)
		drawn->options.max_frags = O2_MAX_FRAGS_LEGACY;
	drawn->length_bytes = (uint32_t)o2_draw(c, O2_CHOICE_MAX_BYTES - 8);
	for (uint32_t i = 0; i < drawn->length_bytes; i++)
		drawn->bytes[i] = (uint8_t)o2_draw(c, UINT8_MAX);
}

static bool legal_options(struct o2_wire_options *options)
{
	return options->max_frags == O2_MAX_FRAGS || options->max_frags == O2_MAX_FRAGS_LEGACY;
}

static void draw_decode(struct o2_choice *c, struct o2_case_msg_decode *drawn)
{
	static struct o2_codec_case codec;

	if (o2_draw_bool(c, RAW_NO, RAW_YES)) {
		draw_raw(c, drawn);
		return;
	}
	o2_codec_draw(c, &codec);
	drawn->options = codec.options;
	drawn->length_bytes = (uint32_t)codec.length_bytes;
	memcpy(drawn->bytes, codec.bytes, codec.length_bytes);
	if (!legal_options(&drawn->options))
		o2_choice_reject(c);
}

static void draw_encode(struct o2_choice *c, struct o2_case_msg_encode *drawn)
{
	static struct o2_codec_case codec;

	o2_codec_draw(c, &codec);
	drawn->options = codec.options;
	drawn->capacity_bytes = (uint32_t)codec.capacity_bytes;
	drawn->msg = codec.msg;
	if (codec.msg.ibm_type == O2_MSG_IMMEDIATE) {
		memcpy(drawn->payload, codec.payload, sizeof(drawn->payload));
		drawn->msg.u.immediate.payload = drawn->payload;
	}
	/* Reject caller's mistakes that cannot be passed to another implementation. */
	if (!legal_options(&drawn->options) || codec.msg.order > O2_BIG_ENDIAN ||
	    codec.msg.cksum_flavour > O2_CKSUM_UNVERIFIED)
		o2_choice_reject(c);
}

bool o2_case_of_bytes(const uint8_t *bytes, size_t length_bytes, struct o2_case *drawn)
{
	if (length_bytes > sizeof(drawn->msg_decode.bytes))
		return false;
	drawn->stage = O2_STAGE_MSG_DECODE;
	drawn->msg_decode.options = O2_WIRE_DEFAULTS;
	drawn->msg_decode.length_bytes = (uint32_t)length_bytes;
	memcpy(drawn->msg_decode.bytes, bytes, length_bytes);
	return true;
}

size_t o2_choices_of_decode(const struct o2_case_msg_decode *asked, uint8_t *choices)
{
	const uint32_t most = O2_CHOICE_MAX_BYTES - 8;
	const uint32_t n = asked->length_bytes < most ? asked->length_bytes : most;
	const struct o2_wire_options *options = &asked->options;

	choices[0] = RAW_NO; /* the smallest number that means raw bytes */
	choices[1] = (uint8_t)((options->require_checksum ? RAW_REQUIRE : 0u) |
			       (options->any_lnd ? RAW_ANY_LND : 0u) |
			       (options->tolerate_immediate_checksum ? RAW_TOLERATE : 0u) |
			       (options->max_frags == O2_MAX_FRAGS_LEGACY ? RAW_LEGACY : 0u));
	choices[2] = (uint8_t)(n >> 8);
	choices[3] = (uint8_t)n;
	memcpy(choices + 4, asked->bytes, n);
	return n + 4;
}

/* --- whole transfers --- */

/* The views of the arena, created once; they are the same in every process. */
static const struct o2_arena *arena(void)
{
	static struct o2_arena made;

	if (made.npages == 0 && o2_arena_create(O2_SCENARIO_PAGES, &made, NULL) != 0)
		made.npages = 0;
	return made.npages == 0 ? NULL : &made;
}

void o2_draw_prepare(void)
{
	(void)arena();
}

/* Give only the part of the view with the pieces: a question holds no more than needed. */
static void put_view(const struct o2_scenario_side *side, const uint32_t *pages,
		     struct o2_case_buffer *memory)
{
	uint64_t first = O2_SCENARIO_PAGES;
	uint64_t end = 0;

	for (uint32_t i = 0; i < side->count; i++) {
		const uint64_t low = side->iov[i].base / O2_SCENARIO_PAGE_BYTES;
		const uint64_t high = (side->iov[i].base + side->iov[i].len + O2_SCENARIO_PAGE_BYTES - 1) /
				      O2_SCENARIO_PAGE_BYTES;

		if (side->iov[i].len > 0 && low < first)
			first = low;
		if (side->iov[i].len > 0 && high > end)
			end = high;
	}
	if (first >= end)
		return;
	memcpy(memory->page[0], pages + first, (end - first) * sizeof(uint32_t));
	memory->range[0] = (struct o2_vrange){.base = VIEW_BASE + side->view * VIEW_STRIDE +
						      first * O2_SCENARIO_PAGE_BYTES,
					      .npages = (uint32_t)(end - first),
					      .page = memory->page[0]};
	memory->space.nranges = 1;
	memory->space.range = memory->range;
}

static void put_vector(const struct o2_scenario_side *side, const struct o2_arena *pages,
		       struct o2_case_buffer *memory)
{
	memory->buffer = (struct o2_buffer){
		.kind = side->vector, .count = side->count, .offset = side->offset_bytes, .nob = side->nob};
	memory->space =
		(struct o2_address_space){.page_bytes = O2_SCENARIO_PAGE_BYTES, .npages = O2_SCENARIO_PAGES};
	if (side->vector == O2_KIOV) {
		memcpy(memory->kiov, side->kiov, side->count * sizeof(memory->kiov[0]));
		memory->buffer.kiov = memory->kiov;
		return;
	}
	for (uint32_t i = 0; i < side->count; i++)
		memory->iov[i] =
			(struct o2_iov){.base = VIEW_BASE + side->view * VIEW_STRIDE + side->iov[i].base,
					.len = side->iov[i].len};
	memory->buffer.iov = memory->iov;
	put_view(side, pages->view[side->view].page, memory);
}

static void put_device(const struct o2_scenario_side *side, const struct o2_arena *pages,
		       struct o2_case_device *drawn)
{
	drawn->device = (struct o2_dma_device){
		.kind = side->kind,
		.page_bytes = O2_SCENARIO_PAGE_BYTES,
		.npages = O2_SCENARIO_PAGES,
		.base = side->kind == O2_DMA_VIRTUAL ? VIRTUAL_BASE : BUS_BASE,
		.iommu = {.merge = side->merge, .fault = side->fault},
	};
	if (side->has_unmapped) {
		memset(drawn->unmapped, 0, sizeof(drawn->unmapped));
		drawn->unmapped[side->unmapped_page / 8] |= (uint8_t)(1u << side->unmapped_page % 8);
		drawn->device.unmapped = drawn->unmapped;
	}
	if (side->kind == O2_DMA_IOMMU) {
		memcpy(drawn->device_page, o2_arena_iommu(pages), O2_SCENARIO_PAGES * sizeof(uint32_t));
		drawn->device.iommu.device_page = drawn->device_page;
	}
}

bool o2_case_of_side(const struct o2_scenario_side *side, enum o2_side of, struct o2_case_node *node)
{
	const struct o2_arena *pages = arena();

	if (pages == NULL)
		return false;
	put_vector(side, pages, &node->memory);
	put_device(side, pages, &node->device);
	node->mode = side->mode;
	node->max_pages = O2_MAX_FRAGS;
	node->iova = side->mode == O2_REG_PHYS ? side->iova : 0;
	node->key = of == O2_SOURCE ? SOURCE_KEY : SINK_KEY;
	return true;
}

bool o2_case_of_scenario(const struct o2_scenario *scenario, struct o2_case *drawn)
{
	struct o2_case_transfer *transfer = &drawn->transfer;

	/* per_segment is a variant of mode fmr that a request cannot express. */
	if (scenario->source.per_segment || scenario->sink.per_segment)
		return false;
	drawn->stage = O2_STAGE_TRANSFER;
	transfer->get = scenario->op == O2_OP_GET;
	transfer->max_frags = scenario->max_frags;
	transfer->wrq_sge = scenario->wrq_sge;
	return o2_case_of_side(&scenario->source, O2_SOURCE, &transfer->node[O2_SOURCE]) &&
	       o2_case_of_side(&scenario->sink, O2_SINK, &transfer->node[O2_SINK]);
}

/* Do all ranges begin on page boundaries?  Otherwise the question cannot be asked. */
static bool ranges_are_aligned(const struct o2_address_space *space)
{
	for (uint32_t i = 0; i < space->nranges; i++)
		if (space->range[i].base % space->page_bytes != 0)
			return false;
	return true;
}

/* Draw pages, virtual addresses, or a list as long as a table.  Committed choices begin with this number. */
static void draw_sg(struct o2_choice *c, struct o2_case_sg *drawn)
{
	static const uint32_t kinds[] = {O2_DRAW_SG_KIOV_WEIGHT, O2_DRAW_SG_IOV_WEIGHT, 1};

	switch (o2_draw_weighted(c, kinds, 3)) {
	case 0:
		o2_draw_sg_kiov(c, drawn);
		break;
	case 1:
		if (!o2_draw_sg_iov(c, drawn))
			o2_choice_reject(c);
		break;
	default:
		o2_draw_sg_full(c, drawn);
	}
}

void o2_draw_max_pages(struct o2_choice *c, struct o2_case_node *node)
{
	if (o2_draw_bool(c, 7, 1))
		node->max_pages = O2_MAX_FRAGS_LEGACY;
}

/* --- all stages --- */

void o2_draw_case(struct o2_choice *c, enum o2_stage stage, struct o2_case *drawn,
		  struct o2_scenario *scenario)
{
	static const struct o2_scenario_space space = O2_SCENARIO_SPACE_ALL;

	drawn->stage = stage;
	if (o2_draw_stage(stage) != NULL) {
		o2_draw_stage(stage)->draw(c, drawn);
		return;
	}
	switch (stage) {
	case O2_STAGE_MSG_DECODE:
		draw_decode(c, &drawn->msg_decode);
		break;
	case O2_STAGE_MSG_ENCODE:
		draw_encode(c, &drawn->msg_encode);
		break;
	case O2_STAGE_SG_BUILD:
		draw_sg(c, &drawn->sg);
		if (!ranges_are_aligned(&drawn->sg.memory.space))
			o2_choice_reject(c);
		break;
	case O2_STAGE_DMA_MAP:
		o2_draw_dma(c, &drawn->dma);
		break;
	case O2_STAGE_REG_PLAN:
		o2_draw_reg(c, &drawn->reg);
		break;
	case O2_STAGE_RDMA_PLAN:
		o2_draw_rdma(c, &drawn->rdma);
		/* More fragments than the array holds cannot be asked. */
		if (drawn->rdma.source.rd_nfrags > O2_MAX_FRAGS || drawn->rdma.sink.rd_nfrags > O2_MAX_FRAGS)
			o2_choice_reject(c);
		break;
	case O2_STAGE_TRANSFER:
	default:
		o2_scenario_draw(c, &space, scenario);
		scenario->source.per_segment = false;
		scenario->sink.per_segment = false;
		if (!o2_case_of_scenario(scenario, drawn))
			o2_choice_reject(c);
		o2_draw_max_pages(c, &drawn->transfer.node[O2_SOURCE]);
		o2_draw_max_pages(c, &drawn->transfer.node[O2_SINK]);
		break;
	}
}
