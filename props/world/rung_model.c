/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "mem/sg_build.h"
#include "props/world/rung.h"
#include "rdma/rdma_plan.h"
#include "wire/msg.h"

/*
 * Rung 0: the pure stages in turn, and a device that is a loop over arrays.  The device knows only the two
 * plans, so a wrong plan gives wrong bytes here as well.
 */

#define BUS_BASE   UINT64_C(0x240000000)
#define SOURCE_KEY 0x51u
#define SINK_KEY   0x52u
#define ARENAS	   (2u * O2_DMA_KINDS)

struct end {
	struct o2_sg_list sg;
	struct o2_dma_list segments;
	struct o2_reg_plan plan;
	struct o2_rdma_desc desc;
	struct o2_dma_device dma;
	struct o2_iov iov[O2_SCENARIO_PIECES];
};

struct model {
	struct o2_rung rung;
	struct o2_arena arena[2][O2_DMA_KINDS]; /* by side and kind */
	struct end source;
	struct end sink;
	struct o2_rdma_plan work;
	struct o2_msg msg;
	uint8_t wire[O2_MSG_BYTES];
};

static struct o2_arena *model_arena(struct o2_rung *rung, enum o2_side side, enum o2_dma_kind kind)
{
	return &((struct model *)rung)->arena[side][kind];
}

/* Map the views that accesses use: for the addresses of an IOV, and for those of an IOMMU. */
static int map_views(const struct o2_scenario_side *side, struct o2_arena *arena, struct o2_error *error)
{
	int rc = 0;

	if (side->vector == O2_IOV)
		rc = o2_arena_map_view(arena, side->view, error);
	if (rc == 0 && side->kind == O2_DMA_IOMMU)
		rc = o2_arena_map_view(arena, O2_ARENA_IOMMU_VIEW, error);
	return rc;
}

/* Run the stages from buffer to descriptor, for either side. */
static int map_end(struct model *model, const struct o2_scenario *scenario, enum o2_side which, uint64_t nob,
		   struct o2_error *error)
{
	const struct o2_scenario_side *side = which == O2_SOURCE ? &scenario->source : &scenario->sink;
	struct end *end = which == O2_SOURCE ? &model->source : &model->sink;
	struct o2_arena *arena = &model->arena[which][side->kind];
	struct o2_address_space space = o2_arena_space(arena);
	struct o2_reg_request request = {
		.mode = side->mode,
		.side = which,
		.page_bytes = arena->page_bytes,
		.max_pages = O2_MAX_FRAGS,
		.peer_max_frags = scenario->max_frags,
	};
	struct o2_buffer buffer;
	int rc;

	end->dma = (struct o2_dma_device){
		.kind = side->kind,
		.page_bytes = arena->page_bytes,
		.npages = arena->npages,
		.base = side->kind == O2_DMA_VIRTUAL ? (uint64_t)(uintptr_t)arena->memory : BUS_BASE,
		.unmapped = arena->unmapped,
		.iommu = {.device_page = o2_arena_iommu(arena), .merge = side->merge, .fault = side->fault},
	};
	o2_scenario_buffer(side, arena, end->iov, &buffer);
	buffer.nob = nob;
	rc = map_views(side, arena, error);
	if (rc == 0)
		rc = o2_sg_build(&buffer, &space, O2_MAX_FRAGS, &end->sg, error);
	if (rc == 0)
		rc = o2_dma_map(&end->sg, &end->dma, &end->segments, error);
	request.gaps = end->sg.gaps || side->per_segment;
	request.iova = side->iova;
	if (side->mode == O2_REG_USER)
		request.contiguous = o2_virtual_range(&buffer, &request.iova);
	if (rc == 0)
		rc = o2_reg_plan(&request, &end->segments, &end->plan, error);
	if (rc != 0)
		return rc;
	end->desc.rd_key = which == O2_SOURCE ? SOURCE_KEY : SINK_KEY;
	end->desc.rd_nfrags = end->plan.nfrags;
	memcpy(end->desc.rd_frags, end->plan.frag, end->plan.nfrags * sizeof(end->plan.frag[0]));
	return 0;
}

/* Encode and decode the sink's descriptor in the message that carries it. */
static int send_descriptor(struct model *model, const struct o2_scenario *scenario,
			   struct o2_rdma_desc *received, struct o2_error *error)
{
	struct o2_wire_options options = O2_WIRE_DEFAULTS;
	struct o2_msg *msg = &model->msg;
	int length;

	memset(msg, 0, sizeof(*msg));
	msg->order = scenario->order;
	msg->cksum_flavour = scenario->cksum_flavour;
	msg->ibm_version = O2_MSG_VERSION_2;
	msg->ibm_type = scenario->op == O2_OP_PUT ? O2_MSG_PUT_ACK : O2_MSG_GET_REQ;
	msg->ibm_srcnid = UINT64_C(0x000500000a4d0001);
	msg->ibm_dstnid = UINT64_C(0x000500000a4d0002);
	if (scenario->op == O2_OP_PUT) {
		msg->u.putack.ibpam_rd = model->sink.desc;
	} else {
		msg->u.get.hdr.type = O2_LNET_GET;
		msg->u.get.hdr.src_nid = msg->ibm_srcnid;
		msg->u.get.hdr.dest_nid = msg->ibm_dstnid;
		msg->u.get.hdr.msg.get.sink_length = (uint32_t)model->sink.plan.length;
		msg->u.get.ibgm_rd = model->sink.desc;
	}
	length = o2_msg_encode(msg, &options, model->wire, sizeof(model->wire), error);
	if (length < 0)
		return length;
	length = o2_msg_decode(model->wire, (size_t)length, &options, msg, error);
	if (length < 0)
		return length;
	*received = scenario->op == O2_OP_PUT ? msg->u.putack.ibpam_rd : msg->u.get.ibgm_rd;
	return 0;
}

/* For a region of byte ranges: find the entry that holds the address, and how many bytes follow in it. */
static bool find_entry(const struct o2_reg_plan *plan, uint64_t addr, uint64_t *device_addr, uint64_t *left)
{
	uint64_t at = addr - plan->iova;

	if (addr < plan->iova || at >= plan->length)
		return false;
	for (uint32_t i = 0; i < plan->nentries; i++) {
		if (at < plan->entry[i].length) {
			*device_addr = plan->entry[i].addr + at;
			*left = plan->entry[i].length - at;
			return true;
		}
		at -= plan->entry[i].length;
	}
	return false;
}

/*
 * Translate a device address of a plan to a byte of the arena; *run: how many bytes follow in the same page.
 * NULL if the plan does not register the address.
 */
static uint8_t *translate(const struct model *model, enum o2_side which, const struct end *end, uint64_t addr,
			  uint64_t *run)
{
	const struct o2_arena *arena = &model->arena[which][end->dma.kind];
	uint64_t page_bytes = arena->page_bytes;
	uint64_t device_addr = addr;
	uint64_t left = UINT64_MAX;

	if (end->plan.mode == O2_REG_USER) {
		if (addr < end->plan.iova || addr - end->plan.iova >= end->plan.length)
			return NULL;
		*run = end->plan.length - (addr - end->plan.iova);
		return (uint8_t *)(uintptr_t)addr;
	}
	if (end->plan.nentries > 0) {
		if (!find_entry(&end->plan, addr, &device_addr, &left))
			return NULL;
	} else if (end->plan.npages > 0) {
		uint64_t at = addr - end->plan.iova + end->plan.page_offset;

		if (addr < end->plan.iova || addr - end->plan.iova >= end->plan.length ||
		    at / page_bytes >= end->plan.npages)
			return NULL;
		left = end->plan.length - (addr - end->plan.iova);
		device_addr = end->plan.page[at / page_bytes] + at % page_bytes;
	}
	if (device_addr < end->dma.base || device_addr - end->dma.base >= arena->npages * page_bytes)
		return NULL;
	*run = page_bytes - device_addr % page_bytes;
	if (*run > left)
		*run = left;
	if (end->dma.kind == O2_DMA_IOMMU) /* the IOMMU view has the pages in remapped order */
		return (uint8_t *)(uintptr_t)arena->view[O2_ARENA_IOMMU_VIEW].base +
		       (device_addr - end->dma.base);
	return arena->memory + (device_addr - end->dma.base);
}

/* Do one RDMA WRITE, in contiguous runs.  Returns 0, or -EREMOTEIO for an unregistered address. */
static int write_one(const struct model *model, const struct o2_rdma_wr *wr)
{
	uint64_t remote = wr->remote_addr;

	for (uint32_t i = 0; i < wr->num_sge; i++) {
		const struct o2_rdma_sge *sge = &model->work.sge[wr->first_sge + i];
		uint64_t local = sge->addr;
		uint64_t left = sge->length;

		while (left > 0) {
			uint64_t from_run, to_run, run = left;
			uint8_t *from = translate(model, O2_SOURCE, &model->source, local, &from_run);
			uint8_t *to = translate(model, O2_SINK, &model->sink, remote, &to_run);

			if (from == NULL || to == NULL)
				return -EREMOTEIO;
			run = run < from_run ? run : from_run;
			run = run < to_run ? run : to_run;
			memcpy(to, from, run);
			local += run;
			remote += run;
			left -= run;
		}
	}
	return 0;
}

static void settle(struct o2_observed *observed, int code, const struct o2_error *error, uint64_t nob,
		   enum o2_fault_side initiator, enum o2_fault_side responder)
{
	observed->initiator = (struct o2_observed_end){.involved = true, .status = code, .nob = nob};
	observed->initiator.fault =
		(struct o2_transfer_fault){.side = initiator, .code = code, .error = *error};
	observed->responder = (struct o2_observed_end){.involved = true, .status = code, .nob = nob};
	observed->responder.fault =
		(struct o2_transfer_fault){.side = responder, .code = code, .error = *error};
}

static int model_transfer(struct o2_rung *rung, const struct o2_scenario *scenario,
			  struct o2_observed *observed, struct o2_error *error)
{
	struct model *model = (struct model *)rung;
	enum o2_side first = scenario->op == O2_OP_PUT ? O2_SOURCE : O2_SINK;
	uint64_t first_nob = first == O2_SOURCE ? scenario->source.nob : scenario->sink.nob;
	uint64_t moved = o2_scenario_moved(scenario);
	struct o2_rdma_limits limits = {.max_wrs = scenario->max_frags, .wrq_sge = scenario->wrq_sge};
	struct o2_rdma_desc received;
	bool put = scenario->op == O2_OP_PUT;
	int rc;

	memset(observed, 0, sizeof(*observed));
	o2_error_clear(error);
	rc = map_end(model, scenario, first, first_nob, error);
	if (rc != 0) {
		settle(observed, rc, error, 0, O2_FAULT_LOCAL_STAGE, O2_FAULT_NONE);
		observed->local = true;
		observed->responder.involved = false;
		return 0;
	}
	rc = map_end(model, scenario, first == O2_SOURCE ? O2_SINK : O2_SOURCE, moved, error);
	if (rc != 0) {
		settle(observed, rc, error, 0, O2_FAULT_PEER_STATUS, O2_FAULT_LOCAL_STAGE);
		return 0;
	}
	rc = send_descriptor(model, scenario, &received, error);
	if (rc != 0)
		return rc;
	observed->nfrags = received.rd_nfrags;
	rc = o2_rdma_plan(&model->source.desc, &received, moved, &limits, &model->work, error);
	if (rc != 0) {
		settle(observed, rc, error, 0, put ? O2_FAULT_LOCAL_STAGE : O2_FAULT_PEER_STATUS,
		       put ? O2_FAULT_PEER_STATUS : O2_FAULT_LOCAL_STAGE);
		return 0;
	}
	observed->nwr = model->work.nwr;
	for (uint32_t i = 0; i < model->work.nwr && rc == 0; i++)
		rc = write_one(model, &model->work.wr[i]);
	settle(observed, rc, error, rc == 0 ? moved : 0, rc == 0 ? O2_FAULT_NONE : O2_FAULT_LOCAL_COMPLETION,
	       rc == 0 ? O2_FAULT_NONE : O2_FAULT_CLOSED);
	return 0;
}

/* The model registers nothing. */
static int model_check_idle(struct o2_rung *rung, struct o2_error *error)
{
	(void)rung;
	(void)error;
	return 0;
}

/* The model maps nothing: the stages are pure. */
static void model_ledger(struct o2_rung *rung, struct o2_dma_ledger *ledger)
{
	(void)rung;
	*ledger = (struct o2_dma_ledger){0};
}

static void model_close(struct o2_rung *rung)
{
	struct model *model = (struct model *)rung;

	for (uint32_t i = 0; i < ARENAS; i++)
		o2_arena_destroy(&model->arena[i / O2_DMA_KINDS][i % O2_DMA_KINDS]);
	free(model);
}

int o2_rung_open_model(struct o2_rung **rung, struct o2_error *error)
{
	static const struct o2_rung_ops ops = {
		.name = "model",
		.arena = model_arena,
		.transfer = model_transfer,
		.check_idle = model_check_idle,
		.ledger = model_ledger,
		.close = model_close,
	};
	struct model *model = calloc(1, sizeof(*model));

	if (model == NULL)
		return o2_refuse_value(error, -ENOMEM, "rung/memory", "model", sizeof(*model), O2_NO_LIMIT);
	model->rung.ops = &ops;
	for (uint32_t i = 0; i < ARENAS; i++) {
		int rc = o2_arena_create(O2_SCENARIO_PAGES, &model->arena[i / O2_DMA_KINDS][i % O2_DMA_KINDS],
					 error);

		if (rc != 0) {
			while (i-- > 0)
				o2_arena_destroy(&model->arena[i / O2_DMA_KINDS][i % O2_DMA_KINDS]);
			free(model);
			return rc;
		}
	}
	*rung = &model->rung;
	return 0;
}
