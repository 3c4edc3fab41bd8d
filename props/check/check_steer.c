/* SPDX-License-Identifier: MIT */
#include "props/check/check_steer.h"

#include "base/mix.h"
#include "props/check/draw_stage.h"
#include "wire/layout.h"

#define ENOUGH 24u  /* questions of a kind before it is judged */
#define SELDOM 16u  /* judged hopeless if less than one in so many is answered */
#define TRIES  512u /* of the questions to leave out, one in so many is asked */

/* --- the features of a question --- */

uint8_t o2_steer_size(uint64_t n)
{
	static const uint32_t limits[] = {0, 1, 2, 4, 16, 64, 255, 256};
	uint8_t i = 0;

	while (i < sizeof(limits) / sizeof(limits[0]) && n > limits[i])
		i++;
	return i;
}

static uint8_t options_of(const struct o2_wire_options *options)
{
	return (uint8_t)((options->require_checksum ? 1 : 0) | (options->any_lnd ? 2 : 0) |
			 (options->tolerate_immediate_checksum ? 4 : 0) |
			 (options->max_frags == O2_MAX_FRAGS ? 0 : 8));
}

static void features_of_decode(const struct o2_case_msg_decode *asked, uint8_t *f)
{
	f[0] = options_of(&asked->options);
	if (asked->length_bytes < O2_MSG_HEADER_BYTES) {
		f[1] = 1;
		return;
	}
	f[2] = asked->bytes[0] & 15;
	f[3] = asked->bytes[O2_AT_TYPE] & 15;
	f[4] = (uint8_t)(asked->bytes[O2_AT_TYPE] >> 4);
	f[5] = asked->bytes[O2_AT_CKSUM] == 0;
	f[6] = o2_steer_size(asked->length_bytes / 16);
}

static void features_of_encode(const struct o2_case_msg_encode *asked, uint8_t *f)
{
	const struct o2_rdma_desc *desc = o2_msg_desc(&asked->msg);

	f[0] = options_of(&asked->options);
	f[1] = asked->msg.ibm_type & 15;
	f[2] = (uint8_t)asked->msg.order & 15;
	f[3] = (uint8_t)asked->msg.cksum_flavour & 15;
	f[4] = desc == NULL ? 0 : o2_steer_size(desc->rd_nfrags);
	f[5] = asked->msg.ibm_version & 15;
	f[6] = o2_steer_size(asked->capacity_bytes / 16);
}

static void features_of_buffer(const struct o2_case_buffer *memory, uint8_t *f)
{
	f[0] = (uint8_t)memory->buffer.kind & 15;
	f[1] = o2_steer_size(memory->buffer.count);
	f[2] = o2_steer_size(memory->buffer.nob / 256);
	f[3] = memory->buffer.offset != 0;
}

static void features_of_dma(const struct o2_case_dma *asked, uint8_t *f)
{
	f[0] = (uint8_t)asked->device.device.kind & 15;
	f[1] = (uint8_t)asked->device.device.iommu.fault & 15;
	f[2] = asked->device.device.iommu.merge != 0;
	f[3] = asked->device.device.unmapped != NULL;
	f[4] = o2_steer_size(asked->list.count);
	f[5] = o2_steer_size(asked->list.nob / 256);
}

static void features_of_reg(const struct o2_case_reg *asked, uint8_t *f)
{
	f[0] = (uint8_t)asked->request.mode & 15;
	f[1] = (uint8_t)asked->request.side & 15;
	f[2] = asked->request.gaps;
	f[3] = o2_steer_size(asked->list.count);
	f[4] = o2_steer_size(asked->request.peer_max_frags);
	f[5] = o2_steer_size(asked->request.max_pages);
	f[6] = asked->request.iova != 0;
}

void o2_steer_of_rdma(const struct o2_rdma_input *asked, uint8_t *f)
{
	f[0] = o2_steer_size(asked->source.rd_nfrags);
	f[1] = o2_steer_size(asked->sink.rd_nfrags);
	f[2] = o2_steer_size(asked->nob / 256);
	f[3] = o2_steer_size(asked->limits.max_wrs);
	f[4] = o2_steer_size(asked->limits.wrq_sge);
}

static void features_of_transfer(const struct o2_case_transfer *asked, uint8_t *f)
{
	for (uint32_t i = 0; i < 2; i++) {
		const struct o2_case_node *node = &asked->node[i];

		f[i] = (uint8_t)node->mode & 15;
		f[2 + i] = (uint8_t)node->device.device.kind & 15;
		f[4 + i] = (uint8_t)(o2_steer_size(node->memory.buffer.count));
	}
	f[6] = (uint8_t)((unsigned int)asked->node[O2_SOURCE].memory.buffer.kind * 4 +
			 (unsigned int)asked->node[O2_SINK].memory.buffer.kind) &
	       15;
	f[7] = asked->get;
}

static void features_of(const struct o2_case *asked, uint8_t *f)
{
	if (o2_draw_stage(asked->stage) != NULL) {
		o2_draw_stage(asked->stage)->features(asked, f);
		return;
	}
	switch (asked->stage) {
	case O2_STAGE_MSG_DECODE:
		features_of_decode(&asked->msg_decode, f);
		break;
	case O2_STAGE_MSG_ENCODE:
		features_of_encode(&asked->msg_encode, f);
		break;
	case O2_STAGE_SG_BUILD:
		features_of_buffer(&asked->sg.memory, f);
		break;
	case O2_STAGE_DMA_MAP:
		features_of_dma(&asked->dma, f);
		break;
	case O2_STAGE_REG_PLAN:
		features_of_reg(&asked->reg, f);
		break;
	case O2_STAGE_RDMA_PLAN:
		o2_steer_of_rdma(&asked->rdma, f);
		break;
	case O2_STAGE_TRANSFER:
	default:
		features_of_transfer(&asked->transfer, f);
		break;
	}
}

/* --- counting and leaving out --- */

void o2_steer_note(struct o2_steer *steer, const struct o2_case *asked, bool answered)
{
	uint8_t f[O2_STEER_FEATURES] = {0};
	uint32_t pair = 0;

	features_of(asked, f);
	for (uint32_t a = 0; a < O2_STEER_FEATURES; a++)
		for (uint32_t b = a; b < O2_STEER_FEATURES; b++, pair++) {
			struct o2_steer_count *count = &steer->count[asked->stage][pair][f[a]][f[b]];

			count->asked++;
			count->answered += answered;
		}
}

bool o2_steer_leaves_out(const struct o2_steer *steer, const struct o2_case *asked, uint64_t index)
{
	uint8_t f[O2_STEER_FEATURES] = {0};
	uint32_t pair = 0;

	if (o2_mix64(index) % TRIES == 0)
		return false;
	features_of(asked, f);
	for (uint32_t a = 0; a < O2_STEER_FEATURES; a++)
		for (uint32_t b = a; b < O2_STEER_FEATURES; b++, pair++) {
			const struct o2_steer_count *count = &steer->count[asked->stage][pair][f[a]][f[b]];

			if (count->asked >= ENOUGH && (uint64_t)count->answered * SELDOM < count->asked)
				return true;
		}
	return false;
}
