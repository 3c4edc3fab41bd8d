/* SPDX-License-Identifier: MIT */
#include "base/limits.h"
#include "props/check/check_steer.h"
#include "props/check/draw_stage.h"
#include "wire/msg.h"

/* Devices with or without each capability, and with limits near what connections need. */

/* Draw a number of work requests or entries: more than any connection needs, few, or about what this one needs. */
static uint32_t draw_room(struct o2_choice *c, uint32_t needed)
{
	static const uint32_t kinds[] = {4, 6, 2};

	switch (o2_draw_weighted(c, kinds, 3)) {
	case 0:
		return 1u << 20;
	case 1:
		return (uint32_t)o2_draw(c, needed + 8);
	default:
		return (uint32_t)o2_draw(c, 64);
	}
}

static void draw_registration(struct o2_choice *c, struct o2_impl_device_in *drawn)
{
	drawn->global = o2_draw_bool(c, 1, 1);
	drawn->fmr = o2_draw_bool(c, 2, 1);
	drawn->fastreg = o2_draw_bool(c, 1, 1);
	drawn->gaps = o2_draw_bool(c, 1, 1);
	drawn->preference = (uint32_t)o2_draw(c, 1);
	drawn->use_gaps = o2_draw_bool(c, 1, 1);
	drawn->map_on_demand = (uint32_t)o2_draw(c, 4);
	if (o2_draw_bool(c, 2, 1))
		drawn->map_on_demand = (uint32_t)o2_draw(c, O2_MAX_FRAGS_LEGACY + 1);
	drawn->segments = (uint32_t)o2_draw(c, 5);
	if (o2_draw_bool(c, 2, 1))
		drawn->segments = o2_draw_limit(c, O2_MAX_FRAGS);
}

static void draw(struct o2_choice *c, struct o2_case *asked)
{
	struct o2_impl_device_in *drawn = &asked->device;
	uint32_t needed;

	*drawn = (struct o2_impl_device_in){0};
	draw_registration(c, drawn);
	drawn->ibm_version = o2_draw_bool(c, 2, 1) ? O2_MSG_VERSION_1 : O2_MSG_VERSION_2;
	if (o2_draw_bool(c, 40, 1))
		drawn->ibm_version = (uint32_t)o2_draw(c, UINT16_MAX);
	drawn->queue_depth = o2_draw_limit(c, o2_draw_bool(c, 1, 1) ? 16 : O2_MAX_QUEUE_DEPTH);
	drawn->max_frags = o2_draw_limit(c, o2_draw_bool(c, 1, 1) ? 4 : O2_MAX_FRAGS);
	drawn->wrq_sge = o2_draw_limit(c, O2_MAX_WRQ_SGE);
	drawn->max_sge = o2_draw_bool(c, 4, 1) ? o2_draw_limit(c, O2_MAX_WRQ_SGE) : O2_MAX_WRQ_SGE;
	drawn->peer_tx_credits = o2_draw_bool(c, 2, 1) ? o2_draw_limit(c, O2_MAX_QUEUE_DEPTH) : 0;
	drawn->concurrent_sends = o2_draw_bool(c, 1, 1) ? o2_draw_limit(c, 2 * O2_MAX_QUEUE_DEPTH) : 0;
	/* What this connection needs at most, unless one of the numbers is far out of range. */
	needed = drawn->queue_depth < 600 && drawn->max_frags < 600
			 ? 2 * drawn->queue_depth * (drawn->max_frags + 3)
			 : 1000;
	drawn->max_qp_wr = draw_room(c, needed);
	drawn->max_cqe = draw_room(c, needed + 2 * O2_MAX_QUEUE_DEPTH);
}

static void features(const struct o2_case *asked, uint8_t *f)
{
	const struct o2_impl_device_in *in = &asked->device;

	f[0] = (uint8_t)(in->global | in->fmr << 1 | in->fastreg << 2 | in->gaps << 3);
	f[1] = (uint8_t)(in->preference << 1 | in->use_gaps);
	f[2] = o2_steer_size(in->map_on_demand);
	f[3] = o2_steer_size(in->segments);
	f[4] = in->ibm_version & 15;
	f[5] = o2_steer_size(in->queue_depth);
	f[6] = o2_steer_size(in->max_frags);
	f[7] = o2_steer_size(in->wrq_sge);
}

const struct o2_draw_stage o2_draw_device = {.draw = draw, .features = features};
