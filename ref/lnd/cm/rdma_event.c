/* SPDX-License-Identifier: MIT */
#include <arpa/inet.h>
#include <errno.h>
#include <string.h>

#include "lnd/cm/rdma_internal.h"
#include "lnd/ni/path.h"

struct rdma_conn_param o2_rdma_conn_param(const struct o2_rdma_id *id)
{
	return (struct rdma_conn_param){
		.private_data = id->private_data,
		.private_data_len = (uint8_t)id->param.private_bytes,
		.responder_resources = 0,
		.initiator_depth = 0,
		.flow_control = 1,
		.retry_count = id->param.retry_count,
		.rnr_retry_count = id->param.rnr_retry_count,
		.qp_num = id->param.qp->qp_num,
	};
}

/* librdmacm determines the path; the acknowledgement timeout and the retry counts are ours. */
static void set_attr(const struct o2_rdma_id *id, struct ibv_qp_attr *attr)
{
	if (attr->qp_state == IBV_QPS_RTR) {
		attr->min_rnr_timer = O2_QP_MIN_RNR_TIMER;
		attr->max_dest_rd_atomic = 0;
		return;
	}
	attr->timeout = id->param.ack_timeout;
	attr->retry_cnt = id->param.retry_count;
	attr->rnr_retry = id->param.rnr_retry_count;
	attr->max_rd_atomic = 0;
}

/* EINVAL: the id is in the wrong state for the call, because the other side has given the connection up and the
 * event that says so has not been read yet. */
int o2_rdma_errno(void)
{
	if (errno == EINVAL)
		return -ECONNRESET;
	return o2_errno_or(errno, EIO);
}

static int modify(const struct o2_rdma_id *id, enum ibv_qp_state state, struct o2_error *error)
{
	struct ibv_qp_attr attr = {.qp_state = state};
	int mask = 0;
	int rc;

	errno = 0;
	if (rdma_init_qp_attr(id->cma, &attr, &mask) != 0)
		return o2_fail(error, o2_rdma_errno(), "cm/init-qp-attr", "qp_state", state);
	set_attr(id, &attr);
	rc = ibv_modify_qp(id->param.qp, &attr, mask);
	if (rc == 0)
		return 0;
	return o2_fail(error, o2_errno_or(rc, EIO), "cm/modify-qp", "qp_state", state);
}

int o2_rdma_to_rts(const struct o2_rdma_id *id, struct o2_error *error)
{
	int rc = modify(id, IBV_QPS_RTR, error);

	return rc == 0 ? modify(id, IBV_QPS_RTS, error) : rc;
}

/* A copy of one librdmacm event, so that the event can be acknowledged before the handler acts on it. */
struct incoming {
	enum rdma_cm_event_type type;
	struct rdma_cm_id *cma;
	int status;
	size_t length;
	uint8_t bytes[256];
};

static void report(struct o2_rdma_id *id, const struct incoming *incoming, enum o2_cm_event_type type,
		   int code)
{
	struct o2_cm *cm = id->base.cm;
	struct o2_cm_event event = {
		.type = type,
		.id = &id->base,
		.code = code,
		.private_data = incoming->bytes,
		.private_bytes = incoming->length,
	};

	if (type == O2_CM_REJECTED)
		event.reason = (uint32_t)incoming->status;
	if (type == O2_CM_REQUEST) {
		const struct sockaddr *peer = rdma_get_peer_addr(id->cma);

		event.origin.ipv4 = peer->sa_family == AF_INET;
		if (event.origin.ipv4)
			event.origin.address = ntohl(((const struct sockaddr_in *)peer)->sin_addr.s_addr);
		event.origin.port = ntohs(rdma_get_dst_port(id->cma));
	}
	if (type == O2_CM_REJECTED || type == O2_CM_DISCONNECTED || code != 0)
		id->base.state = O2_CM_ID_OVER;
	cm->handler(cm->context, &event);
}

static int status_code(const struct incoming *incoming, int otherwise)
{
	return incoming->status < 0 ? incoming->status : otherwise;
}

static void on_request(struct o2_cm_rdma *cm, const struct incoming *incoming)
{
	struct o2_rdma_id *id = cm->base.handler != NULL ? o2_rdma_id_new(cm, O2_CM_ID_ASKED) : NULL;

	if (id == NULL) {
		rdma_reject(incoming->cma, NULL, 0);
		rdma_destroy_id(incoming->cma);
		return;
	}
	id->cma = incoming->cma;
	id->cma->context = id;
	report(id, incoming, O2_CM_REQUEST, 0);
}

/* Did librdmacm resolve the address to our interface's device?  Another device cannot use our queue pairs. */
static bool is_our_device(const struct o2_cm_rdma *cm, const struct rdma_cm_id *cma)
{
	return cma->verbs != NULL && strcmp(ibv_get_device_name(cma->verbs->device),
					    ibv_get_device_name(cm->ni->context->device)) == 0;
}

static void on_address(struct o2_rdma_id *id, const struct incoming *incoming)
{
	const struct o2_cm_rdma *cm = o2_cm_rdma_of(id->base.cm);

	if (!is_our_device(cm, id->cma) || rdma_resolve_route(id->cma, (int)id->resolve_timeout_ms) != 0)
		report(id, incoming, O2_CM_UNRESOLVED, -EHOSTUNREACH);
}

static void on_route(struct o2_rdma_id *id, const struct incoming *incoming)
{
	struct rdma_conn_param conn = o2_rdma_conn_param(id);

	if (rdma_connect(id->cma, &conn) != 0)
		report(id, incoming, O2_CM_CONNECT_ERROR, -ENOTCONN);
}

/* The reply has arrived: move our queue pair to RTS and confirm to the other side. */
static void on_reply(struct o2_rdma_id *id, const struct incoming *incoming)
{
	if (o2_rdma_to_rts(id, NULL) != 0 || rdma_establish(id->cma) != 0) {
		rdma_reject(id->cma, NULL, 0);
		report(id, incoming, O2_CM_CONNECT_ERROR, -ENOTCONN);
		return;
	}
	id->base.state = O2_CM_ID_CONNECTED;
	report(id, incoming, O2_CM_ESTABLISHED, 0);
}

/*
 * The kernel reports the removal for each id on the device, and waits until all of them are destroyed.  The first
 * report is enough for us: everything on the device ends with it.
 */
static void on_removal(struct o2_cm_rdma *cm, const struct incoming *incoming)
{
	const struct o2_cm_event event = {.type = O2_CM_DEVICE_LOST, .code = -ENODEV};

	if (cm->lost)
		return;
	if (incoming->cma != cm->listener && !is_our_device(cm, incoming->cma)) {
		report(incoming->cma->context, incoming, O2_CM_UNRESOLVED, -EHOSTUNREACH);
		return;
	}
	cm->lost = true;
	if (cm->listener != NULL)
		rdma_destroy_id(cm->listener);
	cm->listener = NULL;
	if (cm->base.handler != NULL)
		cm->base.handler(cm->base.context, &event);
}

static void dispatch(struct o2_cm_rdma *cm, const struct incoming *incoming)
{
	struct o2_rdma_id *id = incoming->cma->context;

	switch (incoming->type) {
	case RDMA_CM_EVENT_CONNECT_REQUEST:
		on_request(cm, incoming);
		break;
	case RDMA_CM_EVENT_ADDR_RESOLVED:
		on_address(id, incoming);
		break;
	case RDMA_CM_EVENT_ROUTE_RESOLVED:
		on_route(id, incoming);
		break;
	case RDMA_CM_EVENT_ADDR_ERROR:
	case RDMA_CM_EVENT_ROUTE_ERROR:
		report(id, incoming, O2_CM_UNRESOLVED, -EHOSTUNREACH);
		break;
	case RDMA_CM_EVENT_CONNECT_RESPONSE:
		on_reply(id, incoming);
		break;
	case RDMA_CM_EVENT_ESTABLISHED:
		if (id->base.state == O2_CM_ID_ACCEPTED) {
			id->base.state = O2_CM_ID_CONNECTED;
			report(id, incoming, O2_CM_ESTABLISHED, 0);
		}
		break;
	case RDMA_CM_EVENT_REJECTED:
		report(id, incoming, O2_CM_REJECTED, 0);
		break;
	case RDMA_CM_EVENT_UNREACHABLE:
		report(id, incoming, O2_CM_UNREACHABLE, status_code(incoming, -ETIMEDOUT));
		break;
	case RDMA_CM_EVENT_CONNECT_ERROR:
		report(id, incoming, O2_CM_CONNECT_ERROR, status_code(incoming, -ENOTCONN));
		break;
	case RDMA_CM_EVENT_DISCONNECTED:
		/* The peer waits for our answer; in state OVER, we disconnected first and this is its answer. */
		if (id->base.state == O2_CM_ID_CONNECTED || id->base.state == O2_CM_ID_ACCEPTED)
			rdma_disconnect(id->cma);
		report(id, incoming, O2_CM_DISCONNECTED, 0);
		break;
	default: /* nothing to do: TIMEWAIT_EXIT, ADDR_CHANGE, multicast */
		break;
	}
}

static void take(const struct rdma_cm_event *event, struct incoming *incoming)
{
	const struct rdma_conn_param *conn = &event->param.conn;

	*incoming = (struct incoming){.type = event->event, .cma = event->id, .status = event->status};
	if (event->event != RDMA_CM_EVENT_CONNECT_REQUEST && event->event != RDMA_CM_EVENT_CONNECT_RESPONSE &&
	    event->event != RDMA_CM_EVENT_REJECTED)
		return;
	incoming->length = conn->private_data != NULL ? conn->private_data_len : 0;
	if (incoming->length > 0)
		memcpy(incoming->bytes, conn->private_data, incoming->length);
}

int o2_cm_rdma_progress(struct o2_cm *base)
{
	struct o2_cm_rdma *cm = o2_cm_rdma_of(base);
	struct rdma_cm_event *event;
	struct incoming incoming;
	int handled = 0;

	for (;;) {
		errno = 0;
		if (rdma_get_cm_event(cm->channel, &event) != 0)
			break;
		take(event, &incoming);
		rdma_ack_cm_event(event);
		if (incoming.type == RDMA_CM_EVENT_DEVICE_REMOVAL)
			on_removal(cm, &incoming);
		else if (incoming.cma != cm->listener) /* the listener's other events need no action */
			dispatch(cm, &incoming);
		handled++;
	}
	if (cm->lost)
		return -ENODEV;
	return handled > 0 || errno == EAGAIN || errno == EINTR ? handled : -errno;
}
