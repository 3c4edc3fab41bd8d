/* SPDX-License-Identifier: MIT */
#include "cli/flows.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/limits.h"
#include "cli/roce_layout.h"
#include "wire/rules.h"

/* Buffers are doubled until they have their largest size. */
#define FIRST_ROOM	 8u
#define FIRST_KEPT_BYTES 512u

#define IS_DOUBLED(first, most) ((most) % (first) == 0 && ((most) / (first) & ((most) / (first)-1)) == 0)
static_assert(IS_DOUBLED(FIRST_ROOM, O2_FLOWS_MAX), "the directions, and the setups");
static_assert(IS_DOUBLED(FIRST_KEPT_BYTES, O2_FLOW_KEPT_BYTES), "the bytes of a message");
static_assert(O2_FLOW_KEPT_BYTES > O2_MSG_BYTES, "a message whose rest is not kept is too long");

void o2_flows_end(struct o2_flows *flows)
{
	for (size_t i = 0; i < flows->count; i++)
		free(flows->flow[i].kept);
	free(flows->flow);
	free(flows->setup);
	*flows = (struct o2_flows){.count = 0};
}

static void start(struct o2_flow *flow, const struct o2_roce_packet *packet)
{
	uint8_t *kept = flow->kept;
	const size_t kept_room = flow->kept_room;

	*flow = (struct o2_flow){.used = true,
				 .src = packet->src,
				 .dst = packet->dst,
				 .dest_qp = packet->dest_qp,
				 .kept = kept,
				 .kept_room = kept_room};
}

/* The array of `count` items with room for one more, up to O2_FLOWS_MAX.  NULL: no memory; it is as before. */
static void *grow(void *items, size_t item_bytes, uint64_t count, size_t *room)
{
	const size_t doubled = *room == 0 ? FIRST_ROOM : 2 * *room;

	if (count < *room || *room == O2_FLOWS_MAX)
		return items;
	items = realloc(items, doubled * item_bytes);
	if (items != NULL)
		*room = doubled;
	return items;
}

struct o2_flow *o2_flows_of(struct o2_flows *flows, const struct o2_roce_packet *packet, struct o2_flow *lost)
{
	struct o2_flow *grown;
	size_t oldest = 0;

	lost->used = false;
	flows->clock++;
	for (size_t i = 0; i < flows->count; i++) {
		struct o2_flow *flow = &flows->flow[i];

		if (flow->dest_qp == packet->dest_qp && o2_roce_address_same(&flow->dst, &packet->dst) &&
		    o2_roce_address_same(&flow->src, &packet->src)) {
			flow->last_use = flows->clock;
			return flow;
		}
		if (flow->last_use < flows->flow[oldest].last_use)
			oldest = i;
	}
	grown = grow(flows->flow, sizeof(*grown), flows->count, &flows->room);
	if (grown == NULL)
		return NULL;
	flows->flow = grown;
	if (flows->count < flows->room) {
		oldest = flows->count++;
		flows->flow[oldest] = (struct o2_flow){.used = false};
	} else {
		*lost = flows->flow[oldest];
		lost->kept = NULL;
	}
	start(&flows->flow[oldest], packet);
	flows->flow[oldest].last_use = flows->clock;
	return &flows->flow[oldest];
}

/* Keep the setup as its queue pair's latest.  False: it is that already. */
static bool keep_setup(struct o2_flows *flows, const struct o2_flow_setup *setup)
{
	struct o2_flow_setup *place = &flows->setup[flows->nsetups % O2_FLOWS_MAX];

	for (size_t i = 0; i < O2_FLOWS_MAX && i < flows->nsetups; i++) {
		struct o2_flow_setup *known = &flows->setup[i];

		if (known->qp != setup->qp || !o2_roce_address_same(&known->addr, &setup->addr))
			continue;
		if (known->cm_id == setup->cm_id && known->psn == setup->psn)
			return false;
		*known = *setup;
		return true;
	}
	*place = *setup;
	flows->nsetups++;
	return true;
}

bool o2_flows_setup(struct o2_flows *flows, const struct o2_flow_setup *setup)
{
	struct o2_flow_setup *grown = grow(flows->setup, sizeof(*grown), flows->nsetups, &flows->setup_room);
	bool is_new;

	if (grown == NULL)
		return false;
	flows->setup = grown;
	is_new = keep_setup(flows, setup);
	for (size_t i = 0; i < flows->count; i++) {
		struct o2_flow *flow = &flows->flow[i];

		if (flow->dest_qp != setup->qp || !o2_roce_address_same(&flow->dst, &setup->addr))
			continue;
		/* Further on, the flow is one of another connection, whose setup was not seen. */
		if (!is_new && ((flow->next_psn - setup->psn) & O2_24_BITS) <= O2_FLOW_REPEAT_MAX)
			continue;
		flow->known = false;
		flow->has_gap = false;
		flow->again = false;
		flow->open = false;
	}
	return true;
}

/*
 * Does the sender go back to missing packets?  It may also go back to the last gap: what was missing before it
 * has arrived then, and was only not captured.
 */
static bool fills_gap(const struct o2_flow *flow, uint32_t psn)
{
	return flow->has_gap && (psn == flow->gap_psn || psn == flow->last_gap_psn ||
				 (flow->suspended && psn == flow->resume_psn));
}

/* Packets from the expected one on are missing. */
static void add_gap(struct o2_flow *flow)
{
	if (!flow->has_gap)
		flow->gap_psn = flow->next_psn;
	flow->last_gap_psn = flow->next_psn;
	if (!flow->suspended)
		flow->resume_psn = flow->next_psn;
	flow->has_gap = true;
	flow->suspended = flow->open;
}

/* Begin at a packet that is behind the expected one. */
static void turn_back(struct o2_flow *flow, uint32_t psn, bool fills)
{
	/* A message that began after the gap is sent again from its first packet, so it is dropped. */
	flow->open = flow->open && fills && flow->suspended && psn == flow->resume_psn;
	flow->has_gap = false;
	flow->suspended = false;
	if (fills && (!flow->again || !o2_roce_psn_behind(flow->next_psn, flow->new_psn)))
		flow->new_psn = flow->next_psn;
	flow->again = fills;
}

enum o2_flow_order o2_flow_advance(struct o2_flow *flow, const struct o2_roce_packet *packet)
{
	enum o2_flow_order order = O2_FLOW_NEXT;

	if (flow->known && o2_roce_psn_behind(packet->psn, flow->next_psn)) {
		const uint32_t behind = (flow->next_psn - packet->psn) & O2_24_BITS;
		const bool fills = fills_gap(flow, packet->psn);

		if (!fills && (behind <= O2_FLOW_REPEAT_MAX || !packet->first))
			return O2_FLOW_REPEATED;
		turn_back(flow, packet->psn, fills);
		/* If a new sequence begins, its earlier packets were not seen. */
		order = fills ? O2_FLOW_BACK : O2_FLOW_GAP;
	} else if (!flow->known || (flow->far && packet->psn != flow->next_psn)) {
		order = O2_FLOW_ANEW;
	} else if (packet->psn != flow->next_psn) {
		add_gap(flow);
		order = O2_FLOW_GAP;
	}
	if (flow->again && !o2_roce_psn_behind(packet->psn, flow->new_psn)) {
		flow->again = false;
		order = order == O2_FLOW_NEXT ? O2_FLOW_RESUMED : order;
	}
	/* How many sequence numbers a READ's response takes depends on the path's MTU. */
	flow->far = packet->kind == O2_ROCE_READ;
	flow->known = true;
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

/* Make room for `bytes` bytes of the message.  False: no memory. */
static bool keep(struct o2_flow *flow, size_t bytes)
{
	size_t room = flow->kept_room == 0 ? FIRST_KEPT_BYTES : flow->kept_room;
	uint8_t *more;

	if (bytes <= flow->kept_room)
		return true;
	while (room < bytes)
		room *= 2;
	more = realloc(flow->kept, room);
	if (more == NULL)
		return false;
	flow->kept = more;
	flow->kept_room = room;
	return true;
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
	if (!keep(flow, flow->kept_bytes + count))
		return false;
	memcpy(flow->kept + flow->kept_bytes, packet->payload, count);
	flow->kept_bytes += count;
	return true;
}

int o2_flow_decode(const uint8_t *kept, size_t kept_bytes, uint64_t bytes,
		   const struct o2_wire_options *options, struct o2_msg *msg, struct o2_error *error)
{
	const int rc = o2_msg_decode(kept, kept_bytes, options, msg, error);

	if (rc == 0 || bytes <= kept_bytes ||
	    strcmp(error->rule, o2_wire_rules[O2_RULE_NOB_OVER_RECEIVED].id) != 0)
		return rc;
	if (error->value > bytes)
		return o2_wire_refuse(error, O2_RULE_NOB_OVER_RECEIVED, error->value, bytes);
	return o2_wire_refuse(error, O2_RULE_NOB_OVER_LIMIT, error->value, O2_MSG_BYTES);
}
