/* SPDX-License-Identifier: MIT */
#include <errno.h>

#include "base/breaks.h"
#include "lnd/node/negotiate.h"

/* The meaning of the answers to a request, for the side that asked: CONNACK and rejects. */

static int judge_params(const struct o2_conn_params *asked, const struct o2_msg *msg, struct o2_error *error)
{
	uint16_t depth = msg->u.connparams.ibcp_queue_depth;
	uint16_t frags = msg->u.connparams.ibcp_max_frags;
	uint32_t size = msg->u.connparams.ibcp_max_msg_size;

	if (o2_breaks("connack/queue-depth-over", depth > asked->queue_depth))
		return o2_refuse_peer(error, -EPROTO, "connack/queue-depth-over", "ibcp_queue_depth", depth,
				      asked->queue_depth);
	if (o2_breaks("connack/queue-depth-under", depth < o2_connreq_queue_depth_min(asked->version)))
		return o2_refuse_peer(error, -EPROTO, "connack/queue-depth-under", "ibcp_queue_depth", depth,
				      o2_connreq_queue_depth_min(asked->version));
	if (o2_breaks("connack/max-frags-over", frags > asked->max_frags))
		return o2_refuse_peer(error, -EPROTO, "connack/max-frags-over", "ibcp_max_frags", frags,
				      asked->max_frags);
	if (o2_breaks("connack/max-frags-zero", frags == 0))
		return o2_refuse_peer(error, -EPROTO, "connack/max-frags-zero", "ibcp_max_frags", frags, 1);
	if (o2_breaks("connack/max-msg-size-over", size > O2_MSG_BYTES))
		return o2_refuse_peer(error, -EPROTO, "connack/max-msg-size-over", "ibcp_max_msg_size", size,
				      O2_MSG_BYTES);
	if (o2_breaks("connack/max-msg-size-under", size < O2_MIN_MSG_BYTES))
		return o2_refuse_peer(error, -EPROTO, "connack/max-msg-size-under", "ibcp_max_msg_size", size,
				      O2_MIN_MSG_BYTES);
	return 0;
}

static int judge_msg(const struct o2_connreq_self *self, const struct o2_conn_params *asked,
		     const struct o2_msg *msg, struct o2_error *error)
{
	int rc;

	if (o2_breaks("connack/type", msg->ibm_type != O2_MSG_CONNACK))
		return o2_refuse_peer_other(error, -EPROTO, "connack/type", "ibm_type", msg->ibm_type,
					    O2_MSG_CONNACK);
	if (o2_breaks("connack/version", msg->ibm_version != asked->version))
		return o2_refuse_peer_other(error, -EPROTO, "connack/version", "ibm_version",
					    msg->ibm_version, asked->version);
	rc = judge_params(asked, msg, error);
	if (rc != 0)
		return rc;
	if (o2_breaks("connack/dstnid", msg->ibm_dstnid != self->nid))
		return o2_refuse_peer_other(error, -ESTALE, "connack/dstnid", "ibm_dstnid", msg->ibm_dstnid,
					    self->nid);
	if (o2_breaks("connack/dststamp", msg->ibm_dststamp != self->incarnation))
		return o2_refuse_peer_other(error, -ESTALE, "connack/dststamp", "ibm_dststamp",
					    msg->ibm_dststamp, self->incarnation);
	return 0;
}

int o2_connack_judge(const struct o2_connreq_self *self, const struct o2_conn_params *asked,
		     const uint8_t *bytes, size_t length_bytes, struct o2_conn_params *agreed,
		     uint64_t *incarnation, struct o2_error *error)
{
	const struct o2_wire_options options = {
		.max_frags = O2_MAX_FRAGS,
		.require_checksum = self->require_checksum,
		.only_flavour = self->only_flavour,
		.any_lnd = self->any_lnd,
	};
	struct o2_msg msg;
	int rc = o2_msg_decode(bytes, length_bytes, &options, &msg, error);

	if (rc == 0)
		rc = judge_msg(self, asked, &msg, error);
	if (rc != 0)
		return rc;
	*agreed = (struct o2_conn_params){
		.version = msg.ibm_version,
		.queue_depth = msg.u.connparams.ibcp_queue_depth,
		.max_frags = msg.u.connparams.ibcp_max_frags,
		.max_msg_size = msg.u.connparams.ibcp_max_msg_size,
	};
	*incarnation = msg.ibm_srcstamp;
	return 0;
}

/*
 * The peer has stated what it accepts.  Every reject record has both figures, so apply both at once: then one more
 * request is enough.  False: the peer would refuse that request too, or its figures are unusable.
 */
static bool lower_offer(const struct o2_reject *reject, struct o2_reject_verdict *verdict)
{
	struct o2_conn_params *offer = &verdict->offer;
	uint16_t depth = reject->ibr_cp.ibcp_queue_depth;
	uint16_t frags = reject->ibr_cp.ibcp_max_frags;
	bool lower = reject->ibr_why == O2_REJECT_RDMA_FRAGS ? frags < offer->max_frags
							     : depth < offer->queue_depth;

	if (!lower || depth < O2_QUEUE_DEPTH_MIN || frags == 0) {
		o2_refuse_peer(&verdict->error, -ECONNREFUSED, "reject/unusable-limit", "ibr_why",
			       reject->ibr_why, reject->ibr_why == O2_REJECT_RDMA_FRAGS ? frags : depth);
		return false;
	}
	if (depth < offer->queue_depth)
		offer->queue_depth = depth;
	if (frags < offer->max_frags)
		offer->max_frags = frags;
	return true;
}

/* A node that supports only version 0x11 rejects version 0x12 as "fatal". */
static uint8_t why_meant(const struct o2_reject *reject, const struct o2_conn_params *asked)
{
	if (reject->ibr_why == O2_REJECT_FATAL && reject->ibr_version == O2_MSG_VERSION_1 &&
	    asked->version == O2_MSG_VERSION_2)
		return O2_REJECT_CONN_UNCOMPAT;
	return reject->ibr_why;
}

static bool judge_record(const struct o2_connreq_self *self, const struct o2_reject *reject,
			 struct o2_reject_verdict *verdict)
{
	switch (verdict->why) {
	case O2_REJECT_RDMA_FRAGS:
	case O2_REJECT_MSG_QUEUE_SIZE:
		if (reject->ibr_version == O2_MSG_VERSION_1 || !lower_offer(reject, verdict))
			return false;
		break;
	case O2_REJECT_CONN_RACE:
	case O2_REJECT_CONN_STALE:
	case O2_REJECT_CONN_UNCOMPAT:
		break;
	default:
		return false;
	}
	if (reject->ibr_version > self->version)
		return false;
	verdict->offer.version = reject->ibr_version;
	if (reject->ibr_version == O2_MSG_VERSION_1)
		verdict->offer.queue_depth = O2_QUEUE_DEPTH_V1;
	verdict->incarnation =
		reject->ibr_version == O2_MSG_VERSION_1 ? O2_INCARNATION_UNSAID : reject->ibr_incarnation;
	return true;
}

void o2_reject_judge(const struct o2_connreq_self *self, const struct o2_conn_params *asked,
		     uint32_t cm_reason, const uint8_t *bytes, size_t length_bytes,
		     struct o2_reject_verdict *verdict)
{
	struct o2_reject reject;

	*verdict = (struct o2_reject_verdict){.code = -ECONNREFUSED, .offer = *asked};
	o2_error_clear(&verdict->error);
	if (cm_reason == O2_CM_REJECT_STALE) {
		verdict->retry = true;
	} else if (cm_reason == O2_CM_REJECT_NO_LISTENER) {
		verdict->code = o2_refuse_peer(&verdict->error, -EHOSTUNREACH, "reject/no-listener",
					       "cm reason", cm_reason, O2_NO_LIMIT);
	} else if (cm_reason != O2_CM_REJECT_CONSUMER) {
		o2_refuse_peer(&verdict->error, -ECONNREFUSED, "reject/cm-reason", "cm reason", cm_reason,
			       O2_NO_LIMIT);
	} else if (o2_reject_decode(bytes, length_bytes, &reject, &verdict->error) == 0) {
		verdict->why = why_meant(&reject, asked);
		verdict->retry = judge_record(self, &reject, verdict);
		if (!verdict->retry && verdict->error.code == 0)
			o2_refuse_peer(&verdict->error, -ECONNREFUSED, "reject/why", "ibr_why",
				       reject.ibr_why, O2_NO_LIMIT);
	}
}
