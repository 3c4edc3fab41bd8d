/* SPDX-License-Identifier: MIT */
#include "props/check/check_steer.h"
#include "props/check/draw_stage.h"
#include "props/scenario/draw.h"

/* Chains: writes drawn as for rdma_plan, and a DONE message in its slot. */

#define SLOT_BASE UINT64_C(0x380000000)
#define SLOT_KEY  0x53u
#define DONE	  60u

static void draw(struct o2_choice *c, struct o2_case *asked)
{
	struct o2_case_chain *drawn = &asked->chain;
	uint64_t slot;

	o2_draw_rdma(c, &drawn->rdma);
	if (drawn->rdma.source.rd_nfrags > O2_MAX_FRAGS || drawn->rdma.sink.rd_nfrags > O2_MAX_FRAGS)
		o2_choice_reject(c);
	slot = o2_draw(c, 255);
	drawn->message = (struct o2_impl_gather){
		.addr = SLOT_BASE + slot * O2_MSG_BYTES, .length = DONE, .lkey = SLOT_KEY};
	if (o2_draw_bool(c, 8, 1))
		drawn->message.lkey = (uint32_t)o2_draw(c, UINT32_MAX);
}

static void features(const struct o2_case *asked, uint8_t *f)
{
	o2_steer_of_rdma(&asked->chain.rdma, f);
}

const struct o2_draw_stage o2_draw_chain = {.draw = draw, .features = features};
