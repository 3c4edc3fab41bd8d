/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lnd/cm/loop_internal.h"
#include "lnd/ni/path.h"

/* Reject reasons of a real connection manager, which it gives when an id is destroyed or unknown. */
#define REASON_TIMEOUT	  4u
#define REASON_NO_COMM_ID 6u

struct o2_cm_loop *o2_cm_loop_create(void)
{
	return calloc(1, sizeof(struct o2_cm_loop));
}

void o2_cm_loop_destroy(struct o2_cm_loop *loop)
{
	if (loop == NULL)
		return;
	free(loop->message);
	free(loop);
}

void o2_cm_loop_set_fate(struct o2_cm_loop *loop, o2_cm_loop_fate_fn fate, void *arg)
{
	loop->fate = fate;
	loop->fate_arg = arg;
}

void o2_cm_loop_set_tap(struct o2_cm_loop *loop, o2_cm_loop_tap_fn tap, void *arg)
{
	loop->tap = tap;
	loop->tap_arg = arg;
}

/* --- messages --- */

struct o2_loop_message *o2_loop_send(struct o2_cm_loop *loop, enum o2_cm_loop_message type,
				     struct o2_loop_id *from, struct o2_loop_id *to)
{
	struct o2_loop_message *message;

	if (loop->nmessages == loop->capacity) {
		size_t capacity = loop->capacity == 0 ? 16 : 2 * loop->capacity;

		message = realloc(loop->message, capacity * sizeof(*message));
		if (message == NULL)
			return NULL;
		loop->message = message;
		loop->capacity = capacity;
	}
	message = &loop->message[loop->nmessages++];
	*message = (struct o2_loop_message){.type = type, .from = from, .to = to};
	if (from != NULL) {
		message->from_address = from->here->address;
		message->to_address = from->peer_address;
		message->qp = from->local;
	}
	if (to != NULL)
		message->to_address = to->here->address;
	return message;
}

static void send_bytes(struct o2_loop_message *message, const uint8_t *bytes, size_t length_bytes)
{
	if (message != NULL && length_bytes > 0)
		memcpy(message->private_data, bytes, length_bytes);
}

void o2_loop_tell(struct o2_loop_id *id, enum o2_cm_event_type event, uint32_t reason, int code)
{
	struct o2_loop_message *message =
		id == NULL ? NULL : o2_loop_send(id->here->loop, O2_CM_LOOP_FAILURE, NULL, id);

	if (message == NULL)
		return;
	message->event = event;
	message->reason = reason;
	message->code = code;
}

/* --- calls --- */

static struct o2_loop_endpoint *endpoint_of(struct o2_cm *cm)
{
	return (struct o2_loop_endpoint *)cm;
}

static struct o2_loop_id *id_of(struct o2_cm_id *id)
{
	return (struct o2_loop_id *)id;
}

struct o2_loop_endpoint *o2_loop_find(const struct o2_cm_loop *loop, uint32_t address)
{
	struct o2_loop_endpoint *endpoint;

	LIST_FOREACH(endpoint, &loop->endpoints, entry)
		if (endpoint->address == address)
			break;
	return endpoint;
}

struct o2_loop_id *o2_loop_id_new(struct o2_loop_endpoint *here, enum o2_cm_id_state state,
				  uint32_t peer_address)
{
	struct o2_loop_id *id = calloc(1, sizeof(*id));

	if (id == NULL)
		return NULL;
	id->base.cm = &here->base;
	id->here = here;
	id->base.state = state;
	id->peer_address = peer_address;
	return id;
}

static void set_param(struct o2_loop_id *id, const struct o2_cm_param *param)
{
	id->param = *param;
	id->local = (struct o2_loop_qp){
		.gid = id->here->ni->gid,
		.qp_num = param->qp->qp_num,
		.psn = o2_qp_psn(param->qp),
	};
}

int o2_loop_to_rts(struct o2_loop_id *id, struct o2_error *error)
{
	const struct o2_qp_path path = {
		.gid = id->remote.gid,
		.dest_qp_num = id->remote.qp_num,
		.dest_psn = id->remote.psn,
		.psn = id->local.psn,
		.retry_count = id->param.retry_count,
		.rnr_retry_count = id->param.rnr_retry_count,
		.ack_timeout = id->param.ack_timeout,
	};

	return o2_qp_to_rts(id->here->ni, id->param.qp, &path, error);
}

static int check_device(const struct o2_loop_endpoint *here, struct o2_error *error)
{
	return here->lost ? o2_fail(error, -ENODEV, "cm/device-lost", "address", here->address) : 0;
}

static int loop_listen(struct o2_cm *cm, uint16_t port, struct o2_error *error)
{
	int rc = check_device(endpoint_of(cm), error);

	if (rc == 0)
		endpoint_of(cm)->port = port;
	return rc;
}

static int loop_connect(struct o2_cm *cm, const struct o2_cm_target *target, const struct o2_cm_param *param,
			void *context, struct o2_cm_id **id_out, struct o2_error *error)
{
	struct o2_loop_endpoint *here = endpoint_of(cm);
	struct o2_loop_message *message;
	struct o2_loop_id *id;
	int rc = o2_refuse_range(error, -EINVAL, "cm/private-data", "private_bytes", param->private_bytes, 0,
				 O2_CM_REQUEST_BYTES);

	if (rc == 0)
		rc = check_device(here, error);
	if (rc != 0)
		return rc;
	id = o2_loop_id_new(here, O2_CM_ID_ASKING, target->address);
	if (id == NULL)
		return o2_fail(error, -ENOMEM, "cm/memory", "id", sizeof(*id));
	id->base.context = context;
	set_param(id, param);
	message = o2_loop_send(here->loop, O2_CM_LOOP_REQUEST, id, NULL);
	if (message != NULL)
		message->port = target->port;
	send_bytes(message, param->private_data, param->private_bytes);
	*id_out = &id->base;
	return 0;
}

static int loop_accept(struct o2_cm_id *base, const struct o2_cm_param *param, struct o2_error *error)
{
	struct o2_loop_id *id = id_of(base);
	int rc = o2_refuse_range(error, -EINVAL, "cm/private-data", "private_bytes", param->private_bytes, 0,
				 O2_CM_REPLY_BYTES);

	if (rc != 0)
		return rc;
	set_param(id, param);
	rc = o2_loop_to_rts(id, error);
	if (rc != 0)
		return rc;
	id->base.state = O2_CM_ID_ACCEPTED;
	if (id->peer == NULL)
		o2_loop_tell(id, O2_CM_REJECTED, REASON_NO_COMM_ID, 0);
	else
		send_bytes(o2_loop_send(id->here->loop, O2_CM_LOOP_REPLY, id, id->peer), param->private_data,
			   param->private_bytes);
	return 0;
}

void o2_loop_reject(struct o2_loop_id *id, uint32_t reason, const uint8_t *bytes, size_t length_bytes)
{
	struct o2_loop_message *message;

	id->base.state = O2_CM_ID_OVER;
	if (id->peer == NULL)
		return;
	message = o2_loop_send(id->here->loop, O2_CM_LOOP_REJECT, id, id->peer);
	if (message != NULL)
		message->reason = reason;
	send_bytes(message, bytes, length_bytes < O2_CM_REJECT_BYTES ? length_bytes : O2_CM_REJECT_BYTES);
}

static void loop_reject(struct o2_cm_id *base, const uint8_t *private_data, size_t private_bytes)
{
	o2_loop_reject(id_of(base), O2_CM_REJECT_CONSUMER, private_data, private_bytes);
}

static void loop_disconnect(struct o2_cm_id *base)
{
	struct o2_loop_id *id = id_of(base);

	if (id->base.state != O2_CM_ID_CONNECTED && id->base.state != O2_CM_ID_ACCEPTED)
		return;
	id->base.state = O2_CM_ID_OVER;
	if (id->here->lost)
		return;
	if (id->peer != NULL)
		o2_loop_send(id->here->loop, O2_CM_LOOP_DISCONNECT, id, id->peer);
	else
		o2_loop_tell(id, O2_CM_DISCONNECTED, 0, 0);
}

static void loop_destroy(struct o2_cm_id *base)
{
	struct o2_loop_id *id = id_of(base);
	struct o2_cm_loop *loop = id->here->loop;
	size_t kept = 0;

	if (id->here->lost)
		; /* a lost device sends nothing */
	else if (id->peer != NULL && id->base.state == O2_CM_ID_CONNECTED)
		o2_loop_send(loop, O2_CM_LOOP_DISCONNECT, id, id->peer);
	else if (id->peer != NULL && id->base.state != O2_CM_ID_OVER)
		o2_loop_reject(id, REASON_TIMEOUT, NULL, 0);
	if (id->peer != NULL)
		id->peer->peer = NULL;
	for (size_t i = 0; i < loop->nmessages; i++) {
		struct o2_loop_message *message = &loop->message[i];

		if (message->from == id)
			message->from = NULL;
		if (message->to != id)
			loop->message[kept++] = *message;
	}
	loop->nmessages = kept;
	free(id);
}

static const struct o2_cm_ops loop_ops = {
	.listen = loop_listen,
	.connect = loop_connect,
	.accept = loop_accept,
	.reject = loop_reject,
	.disconnect = loop_disconnect,
	.destroy = loop_destroy,
};

int o2_cm_loop_attach(struct o2_cm_loop *loop, const struct o2_ni *ni, uint32_t address, struct o2_cm **cm,
		      struct o2_error *error)
{
	struct o2_loop_endpoint *endpoint;

	if (o2_loop_find(loop, address) != NULL)
		return o2_fail(error, -EADDRINUSE, "cm/address", "address", address);
	endpoint = calloc(1, sizeof(*endpoint));
	if (endpoint == NULL)
		return o2_fail(error, -ENOMEM, "cm/memory", "endpoint", sizeof(*endpoint));
	endpoint->base.ops = &loop_ops;
	endpoint->loop = loop;
	endpoint->ni = ni;
	endpoint->address = address;
	LIST_INSERT_HEAD(&loop->endpoints, endpoint, entry);
	*cm = &endpoint->base;
	return 0;
}

void o2_cm_loop_lose_device(struct o2_cm *cm)
{
	const struct o2_cm_event event = {.type = O2_CM_DEVICE_LOST, .code = -ENODEV};
	struct o2_loop_endpoint *endpoint = endpoint_of(cm);

	endpoint->lost = true;
	endpoint->port = 0;
	if (cm->handler != NULL)
		cm->handler(cm->context, &event);
}

void o2_cm_loop_detach(struct o2_cm *cm)
{
	struct o2_loop_endpoint *endpoint = endpoint_of(cm);

	LIST_REMOVE(endpoint, entry);
	free(endpoint);
}
