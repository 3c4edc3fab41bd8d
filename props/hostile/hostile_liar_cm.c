/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "props/hostile/hostile_internal.h"
#include "wire/nid.h"

/* The liar in the connection manager: it sends requests and answers requests, changed as a script says. */

#define RESOLVE_TIMEOUT_MS 5000u

/* Encode a correct request or reply, then change it as the script says.  Returns its length. */
static size_t compose(struct o2_liar *liar, enum o2_msg_type type, uint8_t *bytes)
{
	struct o2_msg msg = {
		.order = O2_LITTLE_ENDIAN,
		.ibm_version = O2_MSG_VERSION_2,
		.ibm_type = (uint8_t)type,
		.ibm_srcnid = liar->nid,
		.ibm_srcstamp = liar->stamp,
		.ibm_dstnid = liar->victim_nid,
		.ibm_dststamp = type == O2_MSG_CONNACK ? liar->victim_stamp : 0,
		.u.connparams = {.ibcp_queue_depth = 8,
				 .ibcp_max_frags = liar->max_frags,
				 .ibcp_max_msg_size = O2_MSG_BYTES},
	};
	int length = o2_msg_encode(&msg, NULL, bytes, O2_CM_REQUEST_BYTES, NULL);

	return o2_liar_spoil(&liar->spoil, bytes, (uint32_t)length);
}

/* Learn the victim's incarnation. */
static void learn_stamp(struct o2_liar *liar, const struct o2_cm_event *event)
{
	struct o2_msg msg;

	if (o2_msg_decode(event->private_data, event->private_bytes, NULL, &msg, NULL) == 0 &&
	    msg.ibm_srcnid == liar->victim_nid)
		liar->victim_stamp = msg.ibm_srcstamp;
}

/* Accept the first request, which is taken for the victim's; reject others. */
static void answer(struct o2_liar *liar, struct o2_cm_id *id)
{
	uint8_t bytes[O2_CM_REQUEST_BYTES] = {0};
	struct o2_cm_param param = {liar->qp, 5, 6, O2_HOSTILE_ACK_TIMEOUT, bytes, 0};

	if (liar->id != NULL || liar->qp == NULL) {
		id->cm->ops->reject(id, NULL, 0);
		id->cm->ops->destroy(id);
		return;
	}
	liar->id = id;
	param.private_bytes = compose(liar, O2_MSG_CONNACK, bytes);
	if (id->cm->ops->accept(id, &param, NULL) == 0)
		o2_liar_tell(liar, O2_WATCHED_REPLY, true, bytes, param.private_bytes);
}

static void tell_carried(const struct o2_liar *liar, enum o2_watched_kind kind,
			 const struct o2_cm_event *event)
{
	o2_liar_tell(liar, kind, false, event->private_data, event->private_bytes);
}

static void hear(void *context, const struct o2_cm_event *event)
{
	struct o2_liar *liar = context;

	if (event->type == O2_CM_REQUEST) {
		learn_stamp(liar, event);
		tell_carried(liar, O2_WATCHED_REQUEST, event);
		answer(liar, event->id);
		return;
	}
	if (event->id != liar->id)
		return;
	if (event->type == O2_CM_REJECTED || (event->type == O2_CM_ESTABLISHED && liar->waits))
		tell_carried(liar, event->type == O2_CM_REJECTED ? O2_WATCHED_REJECT : O2_WATCHED_REPLY,
			     event);
	liar->waits = false;
	switch (event->type) {
	case O2_CM_ESTABLISHED:
		liar->established = true;
		learn_stamp(liar, event);
		break;
	case O2_CM_REJECTED:
		liar->rejected = true;
		liar->reason = event->reason;
		o2_reject_decode(event->private_data, event->private_bytes, &liar->reject, NULL);
		break;
	case O2_CM_DISCONNECTED:
		tell_carried(liar, O2_WATCHED_DISCONNECT, event);
		/* Sends in flight to a destroyed queue pair would be retried for a while. */
		liar->gone = true;
		o2_liar_fail(liar);
		break;
	default:
		liar->failed = event->code;
		break;
	}
}

void o2_liar_hear(struct o2_liar *liar, struct o2_cm *cm)
{
	liar->cm = cm;
	liar->port = O2_SERVICE_PORT;
	liar->privileged_port = true;
	liar->max_frags = O2_MAX_FRAGS;
	cm->handler = hear;
	cm->context = liar;
}

int o2_liar_listen(struct o2_liar *liar, struct o2_cm *cm, struct o2_error *error)
{
	o2_liar_hear(liar, cm);
	return cm->ops->listen(cm, O2_SERVICE_PORT, error);
}

int o2_liar_request(struct o2_liar *liar)
{
	struct o2_cm_target target = {o2_nid_address(liar->victim_nid), liar->port, liar->privileged_port,
				      RESOLVE_TIMEOUT_MS};
	uint8_t bytes[O2_CM_REQUEST_BYTES] = {0};
	struct o2_cm_param param = {liar->qp, 5, 6, O2_HOSTILE_ACK_TIMEOUT, bytes, 0};
	int rc;

	param.private_bytes = compose(liar, O2_MSG_CONNREQ, bytes);
	rc = liar->cm->ops->connect(liar->cm, &target, &param, liar, &liar->id, NULL);
	liar->waits = rc == 0;
	if (rc == 0)
		o2_liar_tell(liar, O2_WATCHED_REQUEST, true, bytes, param.private_bytes);
	return rc;
}

void o2_liar_part(struct o2_liar *liar)
{
	if (liar->id != NULL && liar->established && !liar->gone)
		o2_liar_tell(liar, O2_WATCHED_DISCONNECT, true, NULL, 0);
	if (liar->id != NULL)
		liar->id->cm->ops->destroy(liar->id);
	liar->id = NULL;
}

bool o2_liar_asks(struct o2_hostile *h, const struct o2_liar_spoil *spoil)
{
	h->liar.spoil = *spoil;
	if (o2_liar_request(&h->liar) != 0)
		return false;
	o2_hostile_settle(h);
	return true;
}

bool o2_liar_answers(struct o2_hostile *h, const struct o2_liar_spoil *spoil)
{
	h->liar.spoil = *spoil;
	if (!o2_victim_does(h, O2_ACT_SEND, 0, 0))
		return false;
	o2_hostile_settle(h);
	return true;
}
