/* SPDX-License-Identifier: MIT */
#include "lnd/node/negotiate.h"

#include <assert.h>
#include <errno.h>
#include <string.h>

#include "base/breaks.h"
#include "lnd/conn/credits.h"
#include "wire/bytes.h"
#include "wire/layout.h"
#include "wire/nid.h"

/* The least length of a CONNREQ from which its sender's version can be read. */
#define BYTES_TO_VERSION 6u
static_assert(BYTES_TO_VERSION == O2_AT_VERSION + 2, "they end with the version");
static_assert(O2_HIGH_WATER_V1 == O2_QUEUE_DEPTH_V1 - 1, "version 1 owes all but one of its credits");
static_assert(O2_CONNREQ_BYTES == O2_AT_MAX_MSG_SIZE + 4, "a CONNREQ ends with the size of messages");

uint16_t o2_connreq_queue_depth(const struct o2_connreq_self *self, uint16_t version)
{
	return version == O2_MSG_VERSION_1 ? O2_QUEUE_DEPTH_V1 : self->queue_depth;
}

uint16_t o2_connreq_queue_depth_min(uint16_t version)
{
	return version == O2_MSG_VERSION_1 ? O2_QUEUE_DEPTH_V1 : O2_QUEUE_DEPTH_MIN;
}

/* The address is in network byte order in memory, and is read here as a number of this host. */
static uint32_t race_words(const struct o2_connreq_self *self, uint64_t nid)
{
	uint32_t address = o2_nid_address(nid);

	if (self->order == O2_LITTLE_ENDIAN)
		address = __builtin_bswap32(address);
	return address ^ o2_nid_network(nid);
}

bool o2_race_lost(const struct o2_connreq_self *self, uint64_t peer_nid)
{
	if (self->ranking == O2_RACE_BY_NID)
		return peer_nid < self->nid;
	return race_words(self, peer_nid) < race_words(self, self->nid);
}

static int build(const struct o2_connreq_self *self, enum o2_msg_type type,
		 const struct o2_conn_params *params, uint64_t peer_nid, uint64_t dststamp, uint8_t *bytes,
		 size_t capacity_bytes, struct o2_error *error)
{
	const struct o2_wire_options options = {.max_frags = O2_MAX_FRAGS, .any_lnd = self->any_lnd};
	struct o2_msg msg = {
		.order = self->order,
		.cksum_flavour = self->cksum_flavour,
		.ibm_version = params->version,
		.ibm_type = (uint8_t)type,
		.ibm_srcnid = self->nid,
		.ibm_srcstamp = self->incarnation,
		.ibm_dstnid = peer_nid,
		.ibm_dststamp = dststamp,
		.u.connparams = {.ibcp_queue_depth = params->queue_depth,
				 .ibcp_max_frags = params->max_frags,
				 .ibcp_max_msg_size = params->max_msg_size},
	};

	return o2_msg_encode(&msg, &options, bytes, capacity_bytes, error);
}

int o2_connreq_build(const struct o2_connreq_self *self, const struct o2_conn_params *offer,
		     uint64_t peer_nid, uint64_t dststamp, uint8_t *bytes, size_t capacity_bytes,
		     struct o2_error *error)
{
	return build(self, O2_MSG_CONNREQ, offer, peer_nid, dststamp, bytes, capacity_bytes, error);
}

int o2_connack_build(const struct o2_connreq_self *self, const struct o2_connreq *request,
		     const struct o2_conn_params *agreed, uint8_t *bytes, size_t capacity_bytes,
		     struct o2_error *error)
{
	return build(self, O2_MSG_CONNACK, agreed, request->nid, request->incarnation, bytes, capacity_bytes,
		     error);
}

/* Begin a reject record.  It says nothing of the interface unless the request has named it. */
static void reject_begin(const struct o2_connreq_self *self, bool named, struct o2_reject *reject)
{
	*reject = (struct o2_reject){
		.order = self->order,
		.ibr_version = self->version,
		.ibr_cp = {.ibcp_max_msg_size = O2_MSG_BYTES},
	};
	if (named) {
		reject->ibr_incarnation = self->incarnation;
		reject->ibr_cp.ibcp_queue_depth = self->queue_depth;
		reject->ibr_cp.ibcp_max_frags = self->max_frags;
	}
}

/* Complete a reject record.  Version 0x11 has no fields for parameters. */
static void reject_end(struct o2_reject *reject, enum o2_reject_why why)
{
	reject->ibr_why = (uint8_t)why;
	if (reject->ibr_version == O2_MSG_VERSION_1) {
		reject->ibr_incarnation = 0;
		memset(&reject->ibr_cp, 0, sizeof(reject->ibr_cp));
	}
}

/* The outcome of a failed check.  The functions below that fill it return false, so that checks can be chained. */
struct refusal {
	enum o2_reject_why why;
	struct o2_error error;
};

static bool refused(struct refusal *refusal, enum o2_reject_why why, int code, const char *rule,
		    const char *field, uint64_t value, uint64_t limit)
{
	refusal->why = why;
	o2_refuse_peer(&refusal->error, code, rule, field, value, limit);
	return false;
}

static bool refused_other(struct refusal *refusal, enum o2_reject_why why, int code, const char *rule,
			  const char *field, uint64_t value, uint64_t expected)
{
	refusal->why = why;
	o2_refuse_peer_other(&refusal->error, code, rule, field, value, expected);
	return false;
}

static int answer(const struct refusal *refusal, struct o2_reject *reject, struct o2_error *error)
{
	reject_end(reject, refusal->why);
	if (error != NULL)
		*error = refusal->error;
	return refusal->error.code;
}

/* Check what can be checked in a request whose version we may not support. */
static bool judge_version(const struct o2_connreq_self *self, const uint8_t *bytes, size_t length_bytes,
			  struct refusal *refusal)
{
	uint32_t little, big;
	uint16_t version;

	if (o2_breaks("connreq/short", length_bytes < BYTES_TO_VERSION))
		return refused(refusal, O2_REJECT_FATAL, -EPROTO, "connreq/short", "length_bytes",
			       length_bytes, BYTES_TO_VERSION);
	little = o2_load32_le(bytes + O2_AT_MAGIC);
	big = o2_load32_be(bytes + O2_AT_MAGIC);
	version = o2_load16(bytes + O2_AT_VERSION, big == O2_MSG_MAGIC ? O2_BIG_ENDIAN : O2_LITTLE_ENDIAN);
	if (o2_breaks("connreq/generic-magic", little == O2_LNET_PROTO_MAGIC || big == O2_LNET_PROTO_MAGIC))
		return refused_other(refusal, O2_REJECT_FATAL, -EPROTO, "connreq/generic-magic", "ibm_magic",
				     little, O2_MSG_MAGIC);
	if (o2_breaks("connreq/version", (little == O2_MSG_MAGIC || big == O2_MSG_MAGIC) &&
						 (version < O2_MSG_VERSION_1 || version > self->version)))
		return refused(refusal, O2_REJECT_FATAL, -EPROTO, "connreq/version", "ibm_version", version,
			       version < O2_MSG_VERSION_1 ? O2_MSG_VERSION_1 : self->version);
	return true;
}

/* Check which node, and which incarnation of it, the request is for. */
static bool judge_names(const struct o2_connreq_self *self, const struct o2_msg *msg, struct refusal *refusal)
{
	bool unsaid = msg->ibm_dststamp == 0 ||
		      (msg->ibm_version == O2_MSG_VERSION_1 && msg->ibm_dststamp == O2_INCARNATION_UNSAID);

	if (o2_breaks("connreq/dstnid", msg->ibm_dstnid != self->nid))
		return refused_other(refusal, O2_REJECT_FATAL, -EPROTO, "connreq/dstnid", "ibm_dstnid",
				     msg->ibm_dstnid, self->nid);
	if (o2_breaks("connreq/dststamp", !unsaid && msg->ibm_dststamp != self->incarnation))
		return refused_other(refusal, O2_REJECT_CONN_STALE, -ESTALE, "connreq/dststamp",
				     "ibm_dststamp", msg->ibm_dststamp, self->incarnation);
	return true;
}

/* The reject reason for an exceeded limit: version 0x12 has a specific one, version 0x11 only "fatal". */
static enum o2_reject_why why_limit(uint16_t version, enum o2_reject_why why)
{
	return version == O2_MSG_VERSION_1 ? O2_REJECT_FATAL : why;
}

static bool judge_params(const struct o2_connreq_self *self, const struct o2_msg *msg,
			 struct refusal *refusal)
{
	enum o2_reject_why deep = why_limit(msg->ibm_version, O2_REJECT_MSG_QUEUE_SIZE);
	enum o2_reject_why many = why_limit(msg->ibm_version, O2_REJECT_RDMA_FRAGS);
	uint16_t depth = msg->u.connparams.ibcp_queue_depth;
	uint16_t frags = msg->u.connparams.ibcp_max_frags;
	uint32_t size = msg->u.connparams.ibcp_max_msg_size;
	uint16_t depth_limit = o2_connreq_queue_depth(self, msg->ibm_version);

	if (o2_breaks("connreq/queue-depth-over", depth > depth_limit))
		return refused(refusal, deep, -EPROTO, "connreq/queue-depth-over", "ibcp_queue_depth", depth,
			       depth_limit);
	if (o2_breaks("connreq/queue-depth-under", depth < o2_connreq_queue_depth_min(msg->ibm_version)))
		return refused(refusal, deep, -EPROTO, "connreq/queue-depth-under", "ibcp_queue_depth", depth,
			       o2_connreq_queue_depth_min(msg->ibm_version));
	if (o2_breaks("connreq/max-frags-over", frags > self->max_frags))
		return refused(refusal, many, -EPROTO, "connreq/max-frags-over", "ibcp_max_frags", frags,
			       self->max_frags);
	if (o2_breaks("connreq/max-frags-zero", frags == 0))
		return refused(refusal, many, -EPROTO, "connreq/max-frags-zero", "ibcp_max_frags", frags, 1);
	if (o2_breaks("connreq/max-frags-few", frags < self->max_frags && !self->registers))
		return refused(refusal, many, -EPROTO, "connreq/max-frags-few", "ibcp_max_frags", frags,
			       self->max_frags);
	if (o2_breaks("connreq/max-msg-size-over", size > O2_MSG_BYTES))
		return refused(refusal, O2_REJECT_FATAL, -EPROTO, "connreq/max-msg-size-over",
			       "ibcp_max_msg_size", size, O2_MSG_BYTES);
	if (o2_breaks("connreq/max-msg-size-under", size < O2_MIN_MSG_BYTES))
		return refused(refusal, O2_REJECT_FATAL, -EPROTO, "connreq/max-msg-size-under",
			       "ibcp_max_msg_size", size, O2_MIN_MSG_BYTES);
	return true;
}

/* A peer's NID must not contain another node's address. */
static bool judge_origin(const struct o2_connreq_self *self, const struct o2_cm_origin *origin,
			 const struct o2_msg *msg, struct refusal *refusal)
{
	bool foreign = self->bind_nid_to_address && origin->ipv4 &&
		       o2_nid_address(msg->ibm_srcnid) != origin->address;

	if (!o2_breaks("connreq/srcnid-address", foreign))
		return true;
	refused(refusal, O2_REJECT_FATAL, -EACCES, "connreq/srcnid-address", "ibm_srcnid", msg->ibm_srcnid,
		origin->address);
	refusal->error.limit_kind = O2_LIMIT_OTHER;
	return false;
}

/* All checks of a request's content.  *reject gets as much of our identity as may be disclosed at each point. */
static bool judge(const struct o2_connreq_self *self, const struct o2_cm_origin *origin, const uint8_t *bytes,
		  size_t length_bytes, struct o2_msg *msg, struct o2_reject *reject, struct refusal *refusal)
{
	const struct o2_wire_options options = {
		.max_frags = O2_MAX_FRAGS,
		.require_checksum = self->require_checksum,
		.only_flavour = self->only_flavour,
		.any_lnd = self->any_lnd,
	};

	if (o2_breaks("connreq/privileged-port",
		      self->require_privileged_port && origin->port >= O2_PORT_UNPRIVILEGED))
		return refused(refusal, O2_REJECT_FATAL, -EACCES, "connreq/privileged-port", "source port",
			       origin->port, O2_PORT_UNPRIVILEGED - 1);
	if (!judge_version(self, bytes, length_bytes, refusal))
		return false;
	refusal->why = O2_REJECT_FATAL;
	if (o2_msg_decode(bytes, length_bytes, &options, msg, &refusal->error) != 0)
		return false;
	if (o2_breaks("connreq/early", !self->up))
		return refused_other(refusal, O2_REJECT_EARLY, -EAGAIN, "connreq/early", "interface up", 0,
				     1);
	if (msg->ibm_dstnid == self->nid)
		reject_begin(self, true, reject);
	if (!judge_names(self, msg, refusal))
		return false;
	reject->ibr_version = msg->ibm_version;
	if (o2_breaks("connreq/type", msg->ibm_type != O2_MSG_CONNREQ))
		return refused_other(refusal, O2_REJECT_FATAL, -EPROTO, "connreq/type", "ibm_type",
				     msg->ibm_type, O2_MSG_CONNREQ);
	return judge_params(self, msg, refusal) && judge_origin(self, origin, msg, refusal);
}

int o2_connreq_judge(const struct o2_connreq_self *self, const struct o2_cm_origin *origin,
		     const uint8_t *bytes, size_t length_bytes, struct o2_connreq *request,
		     struct o2_reject *reject, struct o2_error *error)
{
	struct refusal refusal;
	struct o2_msg msg;

	o2_error_clear(error);
	reject_begin(self, false, reject);
	if (!judge(self, origin, bytes, length_bytes, &msg, reject, &refusal))
		return answer(&refusal, reject, error);
	*request = (struct o2_connreq){
		.nid = msg.ibm_srcnid,
		.incarnation = msg.ibm_srcstamp,
		.params = {.version = msg.ibm_version,
			   .queue_depth = msg.u.connparams.ibcp_queue_depth,
			   .max_frags = msg.u.connparams.ibcp_max_frags,
			   .max_msg_size = msg.u.connparams.ibcp_max_msg_size},
	};
	return 0;
}

static bool judge_known(const struct o2_connreq_self *self, const struct o2_connreq *request,
			const struct o2_connreq_known *known, struct refusal *refusal)
{
	if (!known->known) {
		if (known->npeers < self->max_peers)
			return true;
		return refused(refusal, O2_REJECT_NO_RESOURCES, -ENOMEM, "connreq/peers", "peers",
			       known->npeers, self->max_peers);
	}
	if (o2_breaks("connreq/stale-peer", known->version != 0 &&
						    known->incarnation != O2_INCARNATION_UNSAID &&
						    known->incarnation != request->incarnation))
		return refused_other(refusal, O2_REJECT_CONN_STALE, -ESTALE, "connreq/stale-peer",
				     "ibm_srcstamp", request->incarnation, known->incarnation);
	if (o2_breaks("connreq/stale-version",
		      known->version != 0 && known->version != request->params.version))
		return refused_other(refusal, O2_REJECT_CONN_STALE, -ESTALE, "connreq/stale-version",
				     "ibm_version", request->params.version, known->version);
	if (o2_breaks("connreq/race", known->connecting && o2_race_lost(self, request->nid) &&
					      known->nraces < O2_MAX_CONN_RACES))
		return refused(refusal, O2_REJECT_CONN_RACE, -EALREADY, "connreq/race", "races",
			       known->nraces, O2_MAX_CONN_RACES);
	if (o2_breaks("connreq/connections", known->nconns >= self->max_conns_per_peer))
		return refused(refusal, O2_REJECT_NO_RESOURCES, -EBUSY, "connreq/connections", "connections",
			       known->nconns, self->max_conns_per_peer);
	return true;
}

int o2_connreq_judge_peer(const struct o2_connreq_self *self, const struct o2_connreq *request,
			  const struct o2_connreq_known *known, struct o2_reject *reject,
			  struct o2_error *error)
{
	struct refusal refusal;

	o2_error_clear(error);
	reject_begin(self, true, reject);
	reject->ibr_version = request->params.version;
	return judge_known(self, request, known, &refusal) ? 0 : answer(&refusal, reject, error);
}

void o2_connreq_no_resources(const struct o2_connreq_self *self, const struct o2_connreq *request,
			     struct o2_reject *reject)
{
	reject_begin(self, true, reject);
	reject->ibr_version = request->params.version;
	reject_end(reject, O2_REJECT_NO_RESOURCES);
}
