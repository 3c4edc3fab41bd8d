/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "props/talk/nodes_internal.h"

/* What is changed in transit: some requests, so that a node keeps to it, and some replies, which it must refuse. */

#define LEAST_BYTES 1024u /* fits all messages without RDMA here */

static void tell_judge(void *context, const struct o2_watched *watched)
{
	struct o2_nodes_seat *seat = context;
	struct o2_watched heard = *watched;

	o2_nodes_watch_hears(seat, watched);
	if (watched->kind == O2_WATCHED_REPLY && !watched->ours && seat->now.unspoiled != NULL)
		heard.bytes = seat->now.unspoiled;
	o2_watch_tell(seat->judge, &heard);
}

void o2_nodes_hook(struct o2_nodes_seat *seat)
{
	seat->judge = seat->place.ni.config.watch;
	seat->hook = (struct o2_watch){seat, tell_judge};
	seat->place.ni.config.watch = &seat->hook;
}

/* True if the event is a reply to an end of this node, and is to be spoiled. */
static bool is_spoiled(struct o2_nodes_seat *seat, const struct o2_cm_event *event)
{
	const struct o2_nodes_end *end = o2_nodes_end_with(seat, event->id);

	return event->type == O2_CM_ESTABLISHED && seat->nodes->ground.faults && end != NULL && end->asked &&
	       !end->over && o2_draw_bool(seat->nodes->choice, 5, 1);
}

/*
 * True if the event confirms the end of a connection whose reply was refused, and gets lost: nothing confirms it
 * then.
 */
static bool is_lost(struct o2_nodes_seat *seat, const struct o2_cm_event *event)
{
	const struct o2_nodes_end *end = o2_nodes_end_with(seat, event->id);

	return event->type == O2_CM_DISCONNECTED && end != NULL && end->bad_reply &&
	       o2_draw_bool(seat->nodes->choice, 1, 1);
}

/*
 * Change some requests: the sender accepts only shorter messages, or does not use checksums yet.  Spoil some replies.
 */
static void on_event(void *context, const struct o2_cm_event *event)
{
	struct o2_nodes_seat *seat = context;
	struct o2_choice *c = seat->nodes->choice;
	uint8_t bytes[O2_CM_REPLY_BYTES]; /* a request has fewer */
	struct o2_cm_event changed = *event;
	struct o2_transfer_fault bad_reply = {.code = 0};

	if (is_lost(seat, event)) {
		o2_nodes_seen(seat->nodes, O2_NODES_SEEN_UNCONFIRMED);
		return;
	}
	if (event->type == O2_CM_REQUEST && seat->nodes->ground.ops->may_fail) {
		memcpy(bytes, event->private_data, event->private_bytes);
		if (o2_draw_bool(c, 5, 1))
			o2_nodes_said_smaller(
				bytes, (uint32_t)o2_draw_range(c, LEAST_BYTES, O2_NODES_MSG_BYTES - 1));
		if (seat->hears_no_sums)
			o2_nodes_said_without_sum(bytes);
		changed.private_data = bytes;
	} else if (is_spoiled(seat, event)) {
		memcpy(bytes, event->private_data, event->private_bytes);
		o2_nodes_said_badly(seat, o2_nodes_end_with(seat, event->id), bytes, &bad_reply);
		changed.private_data = bytes;
	}
	o2_nodes_hear(seat, &changed, &bad_reply, bad_reply.code != 0 ? event->private_data : NULL);
}

void o2_nodes_watch(struct o2_nodes_seat *seat)
{
	seat->handler = seat->cm->handler;
	seat->handler_context = seat->cm->context;
	seat->cm->handler = on_event;
	seat->cm->context = seat;
}
