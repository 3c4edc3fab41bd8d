/* SPDX-License-Identifier: MIT */
#include "cli/flows.h"

#include <stdlib.h>
#include <string.h>

#include "cli/roce_layout.h"

/* Sequence numbers count modulo 2^24: those in the half behind the expected one are older. */
#define PSN_HALF 0x800000u
/* A retransmission is at most as far back as packets may be outstanding; further back is a new beginning. */
#define PSN_REPEAT_MAX 0x10000u

struct o2_flows *o2_flows_new(void)
{
	return calloc(1, sizeof(struct o2_flows));
}

void o2_flows_free(struct o2_flows *flows)
{
	for (size_t i = 0; flows != NULL && i < O2_FLOWS_MAX; i++)
		free(flows->flow[i].kept);
	free(flows);
}

static bool same_address(const struct o2_roce_address *a, const struct o2_roce_address *b)
{
	return a->family_bytes == b->family_bytes && memcmp(a->bytes, b->bytes, sizeof(a->bytes)) == 0;
}

static void start(struct o2_flow *flow, const struct o2_roce_packet *packet)
{
	uint8_t *kept = flow->kept;

	*flow = (struct o2_flow){.used = true,
				 .src = packet->src,
				 .dst = packet->dst,
				 .dest_qp = packet->dest_qp,
				 .kept = kept};
}

struct o2_flow *o2_flows_of(struct o2_flows *flows, const struct o2_roce_packet *packet, struct o2_flow *lost)
{
	struct o2_flow *oldest = &flows->flow[0];

	lost->used = false;
	flows->clock++;
	for (size_t i = 0; i < O2_FLOWS_MAX; i++) {
		struct o2_flow *flow = &flows->flow[i];

		if (flow->used && flow->dest_qp == packet->dest_qp &&
		    same_address(&flow->dst, &packet->dst) && same_address(&flow->src, &packet->src)) {
			flow->last_use = flows->clock;
			return flow;
		}
		if (flow->last_use < oldest->last_use)
			oldest = flow;
		/* They are taken in order, so none is in use after the first that is not. */
		if (!flow->used)
			break;
	}
	*lost = *oldest;
	lost->kept = NULL;
	start(oldest, packet);
	oldest->last_use = flows->clock;
	return oldest;
}

void o2_flows_forget(struct o2_flows *flows, const struct o2_roce_address *dst, uint32_t dest_qp)
{
	for (size_t i = 0; i < O2_FLOWS_MAX; i++) {
		struct o2_flow *flow = &flows->flow[i];

		if (flow->used && flow->dest_qp == dest_qp && same_address(&flow->dst, dst)) {
			flow->known = false;
			flow->has_gap = false;
			flow->open = false;
		}
	}
}

enum o2_flow_order o2_flow_advance(struct o2_flow *flow, const struct o2_roce_packet *packet)
{
	const uint32_t ahead = (packet->psn - flow->next_psn) & O2_24_BITS;
	enum o2_flow_order order = O2_FLOW_NEXT;

	if (flow->known && ahead >= PSN_HALF) {
		const uint32_t behind = (flow->next_psn - packet->psn) & O2_24_BITS;
		const bool fills_gap = flow->has_gap && packet->psn == flow->gap_psn;
		const bool is_new = behind > PSN_REPEAT_MAX && packet->first;

		if (!fills_gap && !is_new)
			return O2_FLOW_REPEATED;
		/* A message that began behind the gap comes again from its beginning. */
		flow->open = flow->open && fills_gap && flow->suspended;
		flow->has_gap = false;
		flow->suspended = false;
		if (fills_gap)
			order = O2_FLOW_BACK;
	} else if (flow->known && ahead != 0) {
		if (!flow->has_gap || !flow->suspended)
			flow->gap_psn = flow->next_psn;
		flow->has_gap = true;
		flow->suspended = flow->open;
		order = O2_FLOW_GAP;
	}
	/* How many numbers the answer to a READ takes depends on the path's MTU. */
	flow->known = packet->kind != O2_ROCE_READ;
	flow->next_psn = (packet->psn + 1) & O2_24_BITS;
	return order;
}

void o2_flow_open(struct o2_flow *flow, const struct o2_roce_packet *packet)
{
	flow->open = true;
	flow->cut = false;
	flow->suspended = false;
	flow->kind = packet->kind;
	flow->packets = 0;
	flow->bytes = 0;
	flow->va = packet->va;
	flow->rkey = packet->rkey;
	flow->dma_bytes = packet->dma_bytes;
	flow->kept_bytes = 0;
}

bool o2_flow_add(struct o2_flow *flow, const struct o2_roce_packet *packet)
{
	const size_t room = O2_FLOW_KEPT_BYTES - flow->kept_bytes;
	const size_t count = packet->seen_bytes < room ? packet->seen_bytes : room;

	flow->packets++;
	flow->bytes += packet->payload_bytes;
	flow->cut = flow->cut || packet->seen_bytes < packet->payload_bytes;
	if (flow->kind != O2_ROCE_SEND || count == 0)
		return true;
	if (flow->kept == NULL)
		flow->kept = malloc(O2_FLOW_KEPT_BYTES);
	if (flow->kept == NULL)
		return false;
	memcpy(flow->kept + flow->kept_bytes, packet->payload, count);
	flow->kept_bytes += count;
	return true;
}
