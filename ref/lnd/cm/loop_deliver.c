/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <string.h>

#include "lnd/cm/loop_internal.h"

/* Which messages may be delivered next, and what a delivery does to the receiver. */

/* A message may be delivered next if no older message has the same destination id. */
static bool is_choice(const struct o2_cm_loop *loop, size_t at)
{
	if (loop->message[at].to == NULL)
		return true;
	for (size_t i = 0; i < at; i++)
		if (loop->message[i].to == loop->message[at].to)
			return false;
	return true;
}

size_t o2_cm_loop_choices(const struct o2_cm_loop *loop)
{
	size_t count = 0;

	for (size_t i = 0; i < loop->nmessages; i++)
		count += is_choice(loop, i);
	return count;
}

/* The position of choice `index` among all messages; loop->nmessages: index is too large. */
static size_t choice_at(const struct o2_cm_loop *loop, size_t index)
{
	size_t at = 0;

	while (at < loop->nmessages && (!is_choice(loop, at) || index-- > 0))
		at++;
	return at;
}

static void report(struct o2_loop_id *id, struct o2_cm_event event)
{
	event.id = &id->base;
	id->here->base.handler(id->here->base.context, &event);
}

static bool listens(const struct o2_loop_endpoint *endpoint, uint16_t port)
{
	return endpoint->port == port && endpoint->base.handler != NULL;
}

static void deliver_request(struct o2_cm_loop *loop, const struct o2_loop_message *message)
{
	struct o2_loop_endpoint *there = o2_loop_find(loop, message->to_address);
	struct o2_loop_id *from = message->from;
	struct o2_loop_id *id;

	if (there == NULL) {
		o2_loop_tell(from, O2_CM_UNRESOLVED, 0, -EHOSTUNREACH);
		return;
	}
	id = listens(there, message->port) ? o2_loop_id_new(there, O2_CM_ID_ASKED, message->from_address)
					   : NULL;
	if (id == NULL) {
		o2_loop_tell(from, O2_CM_REJECTED, O2_CM_REJECT_NO_LISTENER, 0);
		return;
	}
	id->remote = message->qp;
	id->peer = from;
	if (from != NULL)
		from->peer = id;
	report(id, (struct o2_cm_event){
			   .type = O2_CM_REQUEST,
			   /* The in-process network has no source ports; report a privileged one. */
			   .origin = {.ipv4 = true, .address = message->from_address, .port = 1023},
			   .private_data = message->private_data,
			   .private_bytes = O2_CM_REQUEST_BYTES,
		   });
}

static void deliver_reply(const struct o2_loop_message *message)
{
	struct o2_loop_id *id = message->to;
	struct o2_cm_event event = {
		.type = O2_CM_ESTABLISHED,
		.private_data = message->private_data,
		.private_bytes = O2_CM_REPLY_BYTES,
	};

	id->remote = message->qp;
	event.code = o2_loop_to_rts(id, NULL);
	if (event.code != 0) {
		o2_loop_reject(id, O2_CM_REJECT_CONSUMER, NULL, 0);
		event.type = O2_CM_CONNECT_ERROR;
	} else {
		id->base.state = O2_CM_ID_CONNECTED;
		if (id->peer != NULL)
			o2_loop_send(id->here->loop, O2_CM_LOOP_READY, id, id->peer);
	}
	report(id, event);
}

static void deliver_passed(struct o2_cm_loop *loop, const struct o2_loop_message *message)
{
	struct o2_loop_id *id = message->to;
	struct o2_cm_event event = {
		.type = O2_CM_DISCONNECTED,
		.reason = message->reason,
		.code = message->code,
		.private_data = message->private_data,
	};

	switch (message->type) {
	case O2_CM_LOOP_REQUEST:
		deliver_request(loop, message);
		return;
	case O2_CM_LOOP_REPLY:
		deliver_reply(message);
		return;
	case O2_CM_LOOP_READY:
		event.type = O2_CM_ESTABLISHED;
		/* Our side may have ended the connection already. */
		if (id->base.state == O2_CM_ID_ACCEPTED)
			id->base.state = O2_CM_ID_CONNECTED;
		break;
	case O2_CM_LOOP_REJECT:
		event.type = O2_CM_REJECTED;
		event.private_bytes = O2_CM_REJECT_BYTES;
		id->base.state = O2_CM_ID_OVER;
		break;
	case O2_CM_LOOP_DISCONNECT:
		if (id->base.state != O2_CM_ID_OVER && id->peer != NULL)
			o2_loop_send(loop, O2_CM_LOOP_DISCONNECTED, id, id->peer);
		id->base.state = O2_CM_ID_OVER;
		break;
	case O2_CM_LOOP_DISCONNECTED:
		break;
	case O2_CM_LOOP_FAILURE:
		event.type = message->event;
		event.private_bytes = message->event == O2_CM_REJECTED ? O2_CM_REJECT_BYTES : 0;
		id->base.state = O2_CM_ID_OVER;
		break;
	}
	report(id, event);
}

static enum o2_cm_loop_fate fate_of(const struct o2_cm_loop *loop, const struct o2_loop_message *message)
{
	if (loop->fate == NULL || message->type == O2_CM_LOOP_FAILURE)
		return O2_CM_LOOP_PASS;
	return loop->fate(loop->fate_arg, message->type, message->from_address, message->to_address);
}

static void tell_tap(const struct o2_cm_loop *loop, const struct o2_loop_message *message)
{
	static const size_t lengths[] = {[O2_CM_LOOP_REQUEST] = O2_CM_REQUEST_BYTES,
					 [O2_CM_LOOP_REPLY] = O2_CM_REPLY_BYTES,
					 [O2_CM_LOOP_REJECT] = O2_CM_REJECT_BYTES,
					 [O2_CM_LOOP_FAILURE] = 0};
	const struct o2_cm_loop_seen seen = {
		.message = message->type,
		.from_qp = message->qp.qp_num,
		.to_qp = message->to == NULL ? 0 : message->to->local.qp_num,
		.reason = message->reason,
		.private_data = message->private_data,
		.private_bytes = lengths[message->type],
	};

	if (loop->tap != NULL && message->type != O2_CM_LOOP_FAILURE)
		loop->tap(loop->tap_arg, &seen);
}

bool o2_cm_loop_deliver(struct o2_cm_loop *loop, size_t index)
{
	const size_t at = choice_at(loop, index);
	struct o2_loop_message message;

	if (at == loop->nmessages)
		return false;
	message = loop->message[at];
	loop->nmessages--;
	memmove(&loop->message[at], &loop->message[at + 1], (loop->nmessages - at) * sizeof(message));
	switch (fate_of(loop, &message)) {
	case O2_CM_LOOP_PASS:
		tell_tap(loop, &message);
		deliver_passed(loop, &message);
		break;
	case O2_CM_LOOP_LOSE:
		break;
	case O2_CM_LOOP_UNREACHABLE:
		o2_loop_tell(message.from, O2_CM_UNREACHABLE, 0, -ETIMEDOUT);
		break;
	case O2_CM_LOOP_UNRESOLVED:
		o2_loop_tell(message.from, O2_CM_UNRESOLVED, 0, -EHOSTUNREACH);
		break;
	case O2_CM_LOOP_REFUSE:
		o2_loop_tell(message.from, O2_CM_REJECTED, O2_CM_REJECT_NO_LISTENER, 0);
		break;
	}
	return true;
}
