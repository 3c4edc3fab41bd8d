/* SPDX-License-Identifier: MIT */
#include "lnd/cm/rdma.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <rdma/rdma_cma.h>
#include <stdlib.h>
#include <string.h>

#include "lnd/cm/rdma_internal.h"

/* The backlog of rdma_listen: requests that may wait to be handled. */
#define BACKLOG 256

/* Source ports are tried from the first downwards; ports below the last are likely to belong to other services. */
#define FIRST_PRIVILEGED_PORT 1023
#define LAST_PRIVILEGED_PORT  512

static struct sockaddr_in sockaddr_of(uint32_t address, uint16_t port)
{
	return (struct sockaddr_in){
		.sin_family = AF_INET,
		.sin_port = htons(port),
		.sin_addr.s_addr = htonl(address),
	};
}

int o2_cm_rdma_open(const struct o2_ni *ni, uint32_t address, struct o2_cm **cm_out, struct o2_error *error)
{
	struct o2_cm_rdma *cm = calloc(1, sizeof(*cm));
	int rc;

	if (cm == NULL)
		return o2_fail(error, -ENOMEM, "cm/memory", "connection manager", sizeof(*cm));
	cm->base.ops = &o2_cm_rdma_ops;
	cm->ni = ni;
	cm->address = address;
	errno = 0;
	cm->channel = rdma_create_event_channel();
	if (cm->channel == NULL) {
		rc = o2_fail(error, o2_errno_or(errno, EIO), "cm/event-channel", "rdma_cm", 0);
		free(cm);
		return rc;
	}
	if (fcntl(cm->channel->fd, F_SETFL, fcntl(cm->channel->fd, F_GETFL) | O_NONBLOCK) != 0) {
		rc = o2_fail(error, o2_errno_or(errno, EIO), "cm/event-channel", "fd",
			     (uint64_t)cm->channel->fd);
		o2_cm_rdma_close(&cm->base);
		return rc;
	}
	*cm_out = &cm->base;
	return 0;
}

void o2_cm_rdma_close(struct o2_cm *base)
{
	struct o2_cm_rdma *cm = o2_cm_rdma_of(base);

	if (cm->listener != NULL)
		rdma_destroy_id(cm->listener);
	rdma_destroy_event_channel(cm->channel);
	free(cm);
}

int o2_cm_rdma_fd(const struct o2_cm *cm)
{
	return ((const struct o2_cm_rdma *)cm)->channel->fd;
}

/* --- calls --- */

static struct o2_rdma_id *id_of(struct o2_cm_id *id)
{
	return (struct o2_rdma_id *)id;
}

static int rdma_listen_on(struct o2_cm *base, uint16_t port, struct o2_error *error)
{
	struct o2_cm_rdma *cm = o2_cm_rdma_of(base);
	struct sockaddr_in address = sockaddr_of(cm->address, port);
	const char *what = "cm/listen";
	int rc;

	if (cm->lost)
		return o2_fail(error, -ENODEV, "cm/device-lost", "port", port);
	if (cm->listener != NULL)
		rdma_destroy_id(cm->listener);
	errno = 0;
	if (rdma_create_id(cm->channel, &cm->listener, NULL, RDMA_PS_TCP) != 0) {
		cm->listener = NULL;
		return o2_fail(error, o2_errno_or(errno, EIO), "cm/create-id", "listener", port);
	}
	if (rdma_bind_addr(cm->listener, (struct sockaddr *)&address) != 0)
		what = "cm/bind";
	else if (rdma_listen(cm->listener, BACKLOG) == 0)
		return 0;
	rc = o2_fail(error, o2_errno_or(errno, EIO), what, "port", port);
	rdma_destroy_id(cm->listener);
	cm->listener = NULL;
	return rc;
}

struct o2_rdma_id *o2_rdma_id_new(struct o2_cm_rdma *cm, enum o2_cm_id_state state)
{
	struct o2_rdma_id *id = calloc(1, sizeof(*id));

	if (id == NULL)
		return NULL;
	id->base.cm = &cm->base;
	id->base.state = state;
	return id;
}

/* Bind to the highest privileged source port that is free. */
static int bind_privileged(struct o2_cm_rdma *cm, struct rdma_cm_id *cma, struct o2_error *error)
{
	for (uint16_t port = FIRST_PRIVILEGED_PORT; port >= LAST_PRIVILEGED_PORT; port--) {
		struct sockaddr_in source = sockaddr_of(cm->address, port);

		errno = 0;
		if (rdma_bind_addr(cma, (struct sockaddr *)&source) == 0)
			return 0;
		if (errno != EADDRINUSE && errno != EADDRNOTAVAIL)
			return o2_fail(error, o2_errno_or(errno, EIO), "cm/bind", "source port", port);
	}
	return o2_fail(error, -EADDRINUSE, "cm/bind", "source port", LAST_PRIVILEGED_PORT);
}

static int resolve(struct o2_cm_rdma *cm, struct o2_rdma_id *id, const struct o2_cm_target *target,
		   struct o2_error *error)
{
	struct sockaddr_in source = sockaddr_of(cm->address, 0);
	struct sockaddr_in destination = sockaddr_of(target->address, target->port);
	struct sockaddr *from = (struct sockaddr *)&source;
	int rc;

	if (target->privileged_port) {
		rc = bind_privileged(cm, id->cma, error);
		if (rc != 0)
			return rc;
		from = NULL; /* cma is bound to its source address already */
	}
	errno = 0;
	if (rdma_resolve_addr(id->cma, from, (struct sockaddr *)&destination,
			      (int)target->resolve_timeout_ms) == 0)
		return 0;
	return o2_fail(error, o2_errno_or(errno, EIO), "cm/resolve-address", "address", target->address);
}

static int copy_private(struct o2_rdma_id *id, const struct o2_cm_param *param, size_t limit_bytes,
			struct o2_error *error)
{
	if (param->private_bytes > limit_bytes)
		return o2_refuse_value(error, -EINVAL, "cm/private-data", "private_bytes",
				       param->private_bytes, limit_bytes);
	id->param = *param;
	id->param.private_data = id->private_data;
	if (param->private_bytes > 0)
		memcpy(id->private_data, param->private_data, param->private_bytes);
	return 0;
}

static int rdma_ask(struct o2_cm *base, const struct o2_cm_target *target, const struct o2_cm_param *param,
		    void *context, struct o2_cm_id **id_out, struct o2_error *error)
{
	struct o2_cm_rdma *cm = o2_cm_rdma_of(base);
	struct o2_rdma_id *id;
	int rc;

	if (cm->lost)
		return o2_fail(error, -ENODEV, "cm/device-lost", "address", target->address);
	id = o2_rdma_id_new(cm, O2_CM_ID_ASKING);
	if (id == NULL)
		return o2_fail(error, -ENOMEM, "cm/memory", "id", sizeof(*id));
	id->base.context = context;
	id->resolve_timeout_ms = target->resolve_timeout_ms;
	rc = copy_private(id, param, O2_CM_REQUEST_BYTES, error);
	errno = 0;
	if (rc == 0 && rdma_create_id(cm->channel, &id->cma, id, RDMA_PS_TCP) != 0) {
		id->cma = NULL;
		rc = o2_fail(error, o2_errno_or(errno, EIO), "cm/create-id", "active", 0);
	}
	if (rc == 0)
		rc = resolve(cm, id, target, error);
	if (rc != 0) {
		if (id->cma != NULL)
			rdma_destroy_id(id->cma);
		free(id);
		return rc;
	}
	*id_out = &id->base;
	return 0;
}

static int rdma_reply(struct o2_cm_id *base, const struct o2_cm_param *param, struct o2_error *error)
{
	struct o2_rdma_id *id = id_of(base);
	struct rdma_conn_param conn;
	int rc = copy_private(id, param, O2_CM_REPLY_BYTES, error);

	if (rc == 0)
		rc = o2_rdma_to_rts(id, error);
	if (rc != 0)
		return rc;
	conn = o2_rdma_conn_param(id);
	errno = 0;
	if (rdma_accept(id->cma, &conn) != 0)
		return o2_fail(error, o2_rdma_errno(), "cm/accept", "qp_num", param->qp->qp_num);
	id->base.state = O2_CM_ID_ACCEPTED;
	return 0;
}

static void rdma_refuse(struct o2_cm_id *base, const uint8_t *private_data, size_t private_bytes)
{
	struct o2_rdma_id *id = id_of(base);
	size_t length = private_bytes < O2_CM_REJECT_BYTES ? private_bytes : O2_CM_REJECT_BYTES;

	/* Ignore a failure: the caller destroys the id next, and the other side notices that. */
	rdma_reject(id->cma, private_data, (uint8_t)length);
	id->base.state = O2_CM_ID_OVER;
}

static void rdma_end(struct o2_cm_id *base)
{
	struct o2_rdma_id *id = id_of(base);

	if (id->base.state != O2_CM_ID_CONNECTED && id->base.state != O2_CM_ID_ACCEPTED)
		return;
	id->base.state = O2_CM_ID_OVER;
	/* A failure means that the peer disconnected first; its event will arrive. */
	rdma_disconnect(id->cma);
}

static void rdma_forget(struct o2_cm_id *base)
{
	struct o2_rdma_id *id = id_of(base);

	/* rdma_destroy_id blocks until all events of the id are acknowledged, which they are by now. */
	rdma_destroy_id(id->cma);
	free(id);
}

const struct o2_cm_ops o2_cm_rdma_ops = {
	.listen = rdma_listen_on,
	.connect = rdma_ask,
	.accept = rdma_reply,
	.reject = rdma_refuse,
	.disconnect = rdma_end,
	.destroy = rdma_forget,
};
