/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <stddef.h>

#include "wire.h"

/* connect: docs/connection.md, "Checks of a request", "Checks of a CONNACK", "What a reject means". */

enum {
	OLD = 0x11,
	CONNREQ = 0xc0,
	CONNACK = 0xc1,
	RACE = 1,
	FATAL = 3,
	UNCOMPAT = 4,
	STALE = 5,
	FRAGS = 6,
	DEPTH = 7,
	LAST_REASON = 9,
	RECORD_BYTES = 24,
};

#define MAGIC	    0x0be91b91u
#define LNET_MAGIC  0x45726963u
#define NOT_SAID    UINT64_MAX
#define LEAST_BYTES 148u

/* Decode the private data with stage msg_decode. */
static int32_t decode(const struct o2_impl_connect_in *in, struct o2_impl_msg *msg,
		      struct o2_impl_refusal *refusal)
{
	static struct o2_impl_frag frags[O2_IMPL_MAX_FRAGS];
	static uint8_t payload[O2_IMPL_PAYLOAD_BYTES];
	const struct o2_impl_msg_decode_in question = {.options = {.max_frags = O2_IMPL_MAX_FRAGS},
						       .bytes = in->bytes,
						       .length_bytes = in->length_bytes};

	*msg = (struct o2_impl_msg){.rd = {.capacity = O2_IMPL_MAX_FRAGS, .rd_frags = frags},
				    .payload = payload,
				    .payload_capacity_bytes = sizeof(payload)};
	return second_msg_decode(&question, msg, refusal);
}

static uint32_t least_depth(uint32_t version)
{
	return version == OLD ? 8 : 2;
}

static int32_t say(struct o2_impl_refusal *refusal, const char *rule, uint32_t why)
{
	return refuse(refusal, EPROTO, rule, why);
}

static int32_t say_stale(struct o2_impl_refusal *refusal, const char *rule, uint32_t why)
{
	return refuse(refusal, ESTALE, rule, why);
}

/* --- a request --- */

static int32_t check_version(const struct o2_impl_connect_in *in, struct o2_impl_refusal *refusal)
{
	uint64_t little, big, version;

	if (in->length_bytes < 6)
		return say(refusal, "connreq/short", FATAL);
	little = load(in->bytes, 4, false);
	big = load(in->bytes, 4, true);
	if (little == LNET_MAGIC || big == LNET_MAGIC)
		return say(refusal, "connreq/generic-magic", FATAL);
	version = load(in->bytes + 4, 2, big == MAGIC);
	if ((little == MAGIC || big == MAGIC) && (version < OLD || version > in->own.ibm_version))
		return say(refusal, "connreq/version", FATAL);
	return O2_IMPL_OK;
}

static int32_t check_request(const struct o2_impl_connect_in *in, const struct o2_impl_msg *msg,
			     struct o2_impl_refusal *refusal)
{
	const bool old = msg->ibm_version == OLD;
	const uint32_t most = old ? 8 : in->own.queue_depth;
	const bool silent = msg->ibm_dststamp == 0 || (old && msg->ibm_dststamp == NOT_SAID);

	if (msg->ibm_dstnid != in->nid)
		return say(refusal, "connreq/dstnid", FATAL);
	if (!silent && msg->ibm_dststamp != in->incarnation)
		return say_stale(refusal, "connreq/dststamp", STALE);
	if (msg->ibm_type != CONNREQ)
		return say(refusal, "connreq/type", FATAL);
	if (msg->ibcp_queue_depth > most)
		return say(refusal, "connreq/queue-depth-over", old ? FATAL : DEPTH);
	if (msg->ibcp_queue_depth < least_depth(msg->ibm_version))
		return say(refusal, "connreq/queue-depth-under", old ? FATAL : DEPTH);
	if (msg->ibcp_max_frags > in->own.max_frags)
		return say(refusal, "connreq/max-frags-over", old ? FATAL : FRAGS);
	if (msg->ibcp_max_frags == 0)
		return say(refusal, "connreq/max-frags-zero", old ? FATAL : FRAGS);
	if (msg->ibcp_max_frags < in->own.max_frags && !in->registers)
		return say(refusal, "connreq/max-frags-few", old ? FATAL : FRAGS);
	if (msg->ibcp_max_msg_size > O2_IMPL_MSG_BYTES)
		return say(refusal, "connreq/max-msg-size-over", FATAL);
	if (msg->ibcp_max_msg_size < LEAST_BYTES)
		return say(refusal, "connreq/max-msg-size-under", FATAL);
	return O2_IMPL_OK;
}

/* --- a CONNACK --- */

static int32_t check_answer(const struct o2_impl_connect_in *in, const struct o2_impl_msg *msg,
			    struct o2_impl_refusal *refusal)
{
	if (msg->ibm_type != CONNACK)
		return say(refusal, "connack/type", NO_INDEX);
	if (msg->ibm_version != in->asked.ibm_version)
		return say(refusal, "connack/version", NO_INDEX);
	if (msg->ibcp_queue_depth > in->asked.queue_depth)
		return say(refusal, "connack/queue-depth-over", NO_INDEX);
	if (msg->ibcp_queue_depth < least_depth(in->asked.ibm_version))
		return say(refusal, "connack/queue-depth-under", NO_INDEX);
	if (msg->ibcp_max_frags > in->asked.max_frags)
		return say(refusal, "connack/max-frags-over", NO_INDEX);
	if (msg->ibcp_max_frags == 0)
		return say(refusal, "connack/max-frags-zero", NO_INDEX);
	if (msg->ibcp_max_msg_size > O2_IMPL_MSG_BYTES)
		return say(refusal, "connack/max-msg-size-over", NO_INDEX);
	if (msg->ibcp_max_msg_size < LEAST_BYTES)
		return say(refusal, "connack/max-msg-size-under", NO_INDEX);
	if (msg->ibm_dstnid != in->nid)
		return say_stale(refusal, "connack/dstnid", NO_INDEX);
	if (msg->ibm_dststamp != in->incarnation)
		return say_stale(refusal, "connack/dststamp", NO_INDEX);
	return O2_IMPL_OK;
}

static int32_t meet(const struct o2_impl_connect_in *in, struct o2_impl_connect_out *out,
		    struct o2_impl_refusal *refusal)
{
	const bool request = in->event == O2_IMPL_GOT_CONNREQ;
	struct o2_impl_msg msg;
	int32_t status = request ? check_version(in, refusal) : O2_IMPL_OK;

	if (status == O2_IMPL_OK) {
		status = decode(in, &msg, refusal);
		refusal->index = request ? FATAL : NO_INDEX;
	}
	if (status == O2_IMPL_OK)
		status = request ? check_request(in, &msg, refusal) : check_answer(in, &msg, refusal);
	if (status != O2_IMPL_OK)
		return status;
	*out = (struct o2_impl_connect_out){
		.params = {.ibm_version = msg.ibm_version,
			   .queue_depth = msg.ibcp_queue_depth,
			   .max_frags = msg.ibcp_max_frags,
			   .max_msg_size = msg.ibcp_max_msg_size},
		.peer_nid = request ? msg.ibm_srcnid : 0,
		.peer_incarnation = msg.ibm_srcstamp,
	};
	return O2_IMPL_OK;
}

/* --- a reject --- */

struct record {
	bool big_endian;
	uint32_t version;
	uint32_t why;
};

static int32_t give_up(struct o2_impl_refusal *refusal, const char *rule)
{
	return refuse(refusal, ECONNREFUSED, rule, NO_INDEX);
}

static int32_t read_record(const struct o2_impl_connect_in *in, struct record *record,
			   struct o2_impl_refusal *refusal)
{
	uint64_t little, big;

	if (in->length_bytes < 7)
		return give_up(refusal, "wire/reject/short-for-why");
	little = load(in->bytes, 4, false);
	big = load(in->bytes, 4, true);
	record->big_endian = big == MAGIC || big == LNET_MAGIC;
	if (!record->big_endian && little != MAGIC && little != LNET_MAGIC)
		return give_up(refusal, "wire/reject/magic");
	record->version = (uint32_t)load(in->bytes + 4, 2, record->big_endian);
	record->why = in->bytes[6];
	if (record->version != OLD && record->version != 0x12)
		return give_up(refusal, "wire/reject/version");
	if (record->why < 1 || record->why > LAST_REASON)
		return give_up(refusal, "wire/reject/why");
	if (record->version != OLD && in->length_bytes < RECORD_BYTES)
		return give_up(refusal, "wire/reject/short-for-params");
	return O2_IMPL_OK;
}

/* Lower both limits to the record's; false if the one that the reason names is not lower, or one is too low. */
static bool lower(const struct o2_impl_connect_in *in, const struct record *record,
		  struct o2_impl_conn_params *params)
{
	const uint32_t depth = (uint32_t)load(in->bytes + 16, 2, record->big_endian);
	const uint32_t frags = (uint32_t)load(in->bytes + 18, 2, record->big_endian);

	if (record->why == FRAGS ? frags >= params->max_frags : depth >= params->queue_depth)
		return false;
	if (depth < 2 || frags == 0)
		return false;
	params->queue_depth = depth < params->queue_depth ? depth : params->queue_depth;
	params->max_frags = frags < params->max_frags ? frags : params->max_frags;
	return true;
}

static int32_t try_again(const struct o2_impl_connect_in *in, struct o2_impl_connect_out *out,
			 struct o2_impl_refusal *refusal)
{
	struct record record = {0};
	int32_t status = read_record(in, &record, refusal);
	bool old;

	if (status != O2_IMPL_OK)
		return status;
	old = record.version == OLD;
	if (record.why == FATAL && old && in->asked.ibm_version != OLD)
		record.why = UNCOMPAT;
	if (record.why == FRAGS || record.why == DEPTH) {
		if (old)
			return give_up(refusal, "reject/why");
		if (!lower(in, &record, &out->params))
			return give_up(refusal, "reject/unusable-limit");
	} else if (record.why != RACE && record.why != STALE && record.why != UNCOMPAT) {
		return give_up(refusal, "reject/why");
	}
	if (record.version > in->own.ibm_version)
		return give_up(refusal, "reject/why");
	out->params.ibm_version = record.version;
	if (old)
		out->params.queue_depth = 8;
	out->peer_incarnation = old ? NOT_SAID : load(in->bytes + 8, 8, record.big_endian);
	return O2_IMPL_OK;
}

int32_t second_connect(const struct o2_impl_connect_in *in, struct o2_impl_connect_out *out,
		       struct o2_impl_refusal *refusal)
{
	if (in->event != O2_IMPL_GOT_REJECT)
		return meet(in, out, refusal);
	*out = (struct o2_impl_connect_out){.params = in->asked};
	if (in->cm_reason == 10)
		return O2_IMPL_OK;
	if (in->cm_reason == 8)
		return refuse(refusal, EHOSTUNREACH, "reject/no-listener", NO_INDEX);
	if (in->cm_reason != 28)
		return give_up(refusal, "reject/cm-reason");
	return try_again(in, out, refusal);
}
