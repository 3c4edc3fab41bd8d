/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <string.h>

#include "mem/sg_build.h"
#include "oracle/gap_rules.h"
#include "oracle/stage_ops.h"

/* The reference's answer to a case, from the library's public functions for the stages. */

static void refuse(struct o2_answer *answer, const struct o2_error *error)
{
	static const enum o2_answer_cost cost[] = {
		[O2_CLASS_NONE] = O2_COST_NOT_SAID,
		[O2_CLASS_MESSAGE] = O2_COST_MESSAGE,
		[O2_CLASS_CONNECTION] = O2_COST_CONNECTION,
	};

	answer->kind = O2_ANSWER_REFUSED;
	answer->refusal.error = -error->code;
	answer->refusal.cost = cost[error->class];
	answer->refusal.index = error->index;
	snprintf(answer->refusal.name, sizeof(answer->refusal.name), "%s", error->rule);
}

static int decode(const struct o2_case_msg_decode *asked, struct o2_answer_msg *out, struct o2_error *error)
{
	int rc = o2_msg_decode(asked->bytes, asked->length_bytes, &asked->options, &out->msg, error);

	if (rc == 0 && out->msg.ibm_type == O2_MSG_IMMEDIATE) {
		memcpy(out->payload, out->msg.u.immediate.payload, out->msg.u.immediate.hdr.payload_length);
		out->msg.u.immediate.payload = out->payload;
	}
	return rc;
}

static int encode(const struct o2_case_msg_encode *asked, struct o2_answer_bytes *out, struct o2_error *error)
{
	int rc = o2_msg_encode(&asked->msg, &asked->options, out->bytes, asked->capacity_bytes, error);

	out->length_bytes = rc < 0 ? 0 : (uint32_t)rc;
	return rc < 0 ? rc : 0;
}

/* How gaps are judged. */
struct gaps {
	bool exactly;	/* by the exact rule instead of G3 */
	bool otherwise; /* result: the exact rule gave another verdict than G3 */
};

static bool has_gaps(bool flagged, const struct o2_dma_list *segments, uint32_t page_bytes, struct gaps *gaps)
{
	if (!gaps->exactly || !flagged || o2_gap_exact(segments, page_bytes))
		return flagged;
	gaps->otherwise = true;
	return false;
}

/* Plan the registration of nob bytes of a node's memory (docs/oracle.md, "A whole transfer"). */
static int make_ready(const struct o2_case_node *node, enum o2_side side, uint32_t max_frags, uint64_t nob,
		      struct gaps *gaps, struct o2_reg_plan *plan, struct o2_error *error)
{
	struct o2_buffer buffer = node->memory.buffer;
	struct o2_reg_request request = {
		.mode = node->mode,
		.side = side,
		.page_bytes = node->memory.space.page_bytes,
		.max_pages = node->max_pages,
		.peer_max_frags = max_frags,
		.iova = node->iova,
	};
	struct o2_dma_list segments;
	struct o2_sg_list list;
	int rc;

	buffer.nob = nob;
	rc = o2_sg_build(&buffer, &node->memory.space, node->max_pages, &list, error);
	if (rc == 0)
		rc = o2_dma_map(&list, &node->device.device, &segments, error);
	if (rc == 0)
		request.gaps = has_gaps(list.gaps, &segments, request.page_bytes, gaps);
	if (node->mode == O2_REG_USER)
		request.contiguous = o2_virtual_range(&buffer, &request.iova);
	return rc != 0 ? rc : o2_reg_plan(&request, &segments, plan, error);
}

int o2_node_register(const struct o2_case_node *node, enum o2_side side, uint32_t max_frags, uint64_t nob,
		     struct o2_reg_plan *plan, struct o2_error *error)
{
	struct gaps by_rule = {.exactly = false};

	return make_ready(node, side, max_frags, nob, &by_rule, plan, error);
}

static void describe(const struct o2_reg_plan *plan, uint32_t key, struct o2_rdma_desc *desc)
{
	desc->rd_key = key;
	desc->rd_nfrags = plan->nfrags;
	memcpy(desc->rd_frags, plan->frag, plan->nfrags * sizeof(plan->frag[0]));
}

static int transfer(const struct o2_case_transfer *asked, struct gaps *gaps, struct o2_answer *answer,
		    struct o2_error *error)
{
	struct o2_answer_transfer *out = &answer->transfer;
	const enum o2_side first = asked->get ? O2_SINK : O2_SOURCE;
	const enum o2_side second = asked->get ? O2_SOURCE : O2_SINK;
	const uint64_t moved = o2_case_moved(asked);
	const struct o2_rdma_limits limits = {.max_wrs = asked->max_frags, .wrq_sge = asked->wrq_sge};
	struct o2_rdma_desc source, sink;
	int rc = make_ready(&asked->node[first], first, asked->max_frags,
			    asked->node[first].memory.buffer.nob, gaps, &out->node[first], error);

	answer->refusal.where = first == O2_SOURCE ? O2_WHERE_SOURCE : O2_WHERE_SINK;
	if (rc != 0)
		return rc;
	answer->refusal.where = first == O2_SOURCE ? O2_WHERE_SINK : O2_WHERE_SOURCE;
	rc = make_ready(&asked->node[second], second, asked->max_frags, moved, gaps, &out->node[second],
			error);
	if (rc != 0)
		return rc;
	answer->refusal.where = O2_WHERE_WRITES;
	describe(&out->node[O2_SOURCE], asked->node[O2_SOURCE].key, &source);
	describe(&out->node[O2_SINK], asked->node[O2_SINK].key, &sink);
	return o2_rdma_plan(&source, &sink, moved, &limits, &out->plan, error);
}

static int plan(const struct o2_case_reg *asked, struct gaps *gaps, struct o2_reg_plan *out,
		struct o2_error *error)
{
	struct o2_reg_request request = asked->request;

	/* Skip questions that reg_plan refuses before it looks at the gaps. */
	if (gaps->exactly && request.page_bytes != 0 && asked->list.count > 0 &&
	    asked->list.count <= O2_MAX_FRAGS)
		request.gaps = has_gaps(request.gaps, &asked->list, request.page_bytes, gaps);
	return o2_reg_plan(&request, &asked->list, out, error);
}

static void answer_by(const struct o2_case *asked, struct gaps *gaps, struct o2_answer *answer)
{
	struct o2_error error = {0};
	int rc = 0;

	answer->kind = O2_ANSWER_RESULT;
	answer->conduct.check = O2_CHECKS;
	answer->refusal.where = O2_WHERE_NOT_SAID;
	if (o2_stage_ops(asked->stage) != NULL) {
		if (o2_stage_ops(asked->stage)->reference(asked, answer, &error) != 0)
			refuse(answer, &error);
		return;
	}
	switch (asked->stage) {
	case O2_STAGE_MSG_DECODE:
		rc = decode(&asked->msg_decode, &answer->msg_decode, &error);
		break;
	case O2_STAGE_MSG_ENCODE:
		rc = encode(&asked->msg_encode, &answer->msg_encode, &error);
		break;
	case O2_STAGE_SG_BUILD:
		rc = o2_sg_build(&asked->sg.memory.buffer, &asked->sg.memory.space, asked->sg.max_entries,
				 &answer->sg, &error);
		break;
	case O2_STAGE_DMA_MAP:
		rc = o2_dma_map(&asked->dma.list, &asked->dma.device.device, &answer->dma, &error);
		break;
	case O2_STAGE_REG_PLAN:
		rc = plan(&asked->reg, gaps, &answer->reg, &error);
		break;
	case O2_STAGE_RDMA_PLAN:
		rc = o2_rdma_plan(&asked->rdma.source, &asked->rdma.sink, asked->rdma.nob,
				  &asked->rdma.limits, &answer->rdma, &error);
		break;
	case O2_STAGE_TRANSFER:
	default:
		rc = transfer(&asked->transfer, gaps, answer, &error);
		break;
	}
	if (rc != 0)
		refuse(answer, &error);
}

void o2_answer_of_reference(const struct o2_case *asked, struct o2_answer *answer)
{
	struct gaps by_rule = {.exactly = false};

	answer_by(asked, &by_rule, answer);
}

bool o2_answer_by_exact_gaps(const struct o2_case *asked, struct o2_answer *answer)
{
	struct gaps exact = {.exactly = true};

	answer_by(asked, &exact, answer);
	return exact.otherwise;
}
