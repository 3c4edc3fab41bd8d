/* SPDX-License-Identifier: MIT */
#include "props/lnet/endpoints_internal.h"
#include "props/world/receives.h"
#include "wire/layout.h"
#include "wire/msg.h"

/*
 * Causes a failure at a chosen step of a transfer: once an endpoint has posted a message of a certain
 * type, that endpoint or another one leaves, loses a queue pair, cannot arm its completion queue, or closes its
 * peer.  The action follows after the posting call has returned, as any event in a program would.
 */

enum action { LEAVE, LEAVE_AND_RETURN, KILL, CLOSE, FAIL_ARM, ACTIONS };

static const struct {
	uint8_t type;
	enum o2_endpoints_situation row;
} steps[] = {
	{O2_MSG_IMMEDIATE, O2_ENDPOINTS_SEEN_AT_IMMEDIATE}, {O2_MSG_PUT_REQ, O2_ENDPOINTS_SEEN_AT_PUT_REQ},
	{O2_MSG_PUT_ACK, O2_ENDPOINTS_SEEN_AT_PUT_ACK},	    {O2_MSG_PUT_NAK, O2_ENDPOINTS_SEEN_AT_PUT_NAK},
	{O2_MSG_PUT_DONE, O2_ENDPOINTS_SEEN_AT_PUT_DONE},   {O2_MSG_GET_REQ, O2_ENDPOINTS_SEEN_AT_GET_REQ},
	{O2_MSG_GET_DONE, O2_ENDPOINTS_SEEN_AT_GET_DONE},
};

#define STEPS (sizeof(steps) / sizeof(steps[0]))

static int post_send(void *context, struct ibv_qp *qp, struct ibv_send_wr *list, struct ibv_send_wr **bad,
		     const struct o2_rdma_desc *sink)
{
	struct o2_endpoints_seat *seat = context;
	struct o2_endpoints_trap *trap = &seat->endpoints->trap;
	const uint8_t *bytes = o2_seen_posted(list);

	(void)sink;
	if (bytes != NULL)
		o2_endpoints_check_posted(seat, bytes);
	if (trap->armed && trap->at == seat->index && bytes != NULL && bytes[O2_AT_TYPE] == trap->type) {
		trap->sprung = trap->after == 0;
		trap->after -= trap->after > 0;
	}
	return ibv_post_send(qp, list, bad);
}

void o2_endpoints_watch(struct o2_endpoints_seat *seat)
{
	seat->work_ops = (struct o2_work_ops){.context = seat, .post_send = post_send};
}

void o2_endpoints_set_trap(struct o2_endpoints *endpoints, uint32_t at, uint32_t victim)
{
	/* Mostly the next such message; later ones belong to longer exchanges. */
	static const uint32_t later[] = {8, 2, 1, 1};
	struct o2_choice *c = endpoints->choice;

	if (endpoints->trap.armed)
		return;
	endpoints->trap = (struct o2_endpoints_trap){
		.armed = true,
		.at = at,
		.victim = victim,
		.type = steps[o2_draw_pick(c, STEPS)].type,
		.after = (uint32_t)o2_draw_weighted(c, later, 4),
		.action = (uint32_t)o2_draw_pick(c, ACTIONS),
	};
}

static void count(struct o2_endpoints *endpoints, uint8_t type)
{
	for (size_t i = 0; i < STEPS; i++)
		if (steps[i].type == type)
			o2_endpoints_seen(endpoints, steps[i].row);
}

void o2_endpoints_spring(struct o2_endpoints *endpoints)
{
	const struct o2_endpoints_trap trap = endpoints->trap;
	struct o2_endpoints_seat *victim = &endpoints->seat[trap.victim];
	const uint32_t other = trap.victim == trap.at ? (trap.at + 1) % endpoints->nseats : trap.at;
	bool harmed = true;

	if (!trap.armed || !trap.sprung)
		return;
	endpoints->trap = (struct o2_endpoints_trap){.armed = false};
	if (!victim->open)
		return;
	switch (trap.action) {
	case LEAVE:
		o2_endpoints_leave(victim);
		break;
	case LEAVE_AND_RETURN:
		o2_endpoints_leave(victim);
		o2_endpoints_return(victim);
		break;
	case KILL:
		harmed = o2_endpoints_kill(victim, other);
		break;
	case FAIL_ARM:
		/* An endpoint that does not sleep has nothing to arm. */
		harmed = o2_endpoints_fail_arm(victim, other) || o2_endpoints_kill(victim, other);
		break;
	default:
		harmed = o2_endpoints_close_peer(victim, other, 0);
		break;
	}
	if (harmed)
		count(endpoints, trap.type);
}
