/* SPDX-License-Identifier: MIT */
#include <assert.h>
#include <errno.h>

#include "lnet/lnet_internal.h"
#include "mem/kmap.h"

/* PUTs and GETs that this node starts (docs/peer.md, "Operations"). */

void o2_lnet_operation_end(struct o2_lnet *lnet, struct o2_lnet_message *message, int status)
{
	const uint64_t length_bytes = message->answered ? message->answer_bytes : message->moved_bytes;
	const struct o2_transfer_fault fault = message->fault;
	const struct o2_lnet_result result = {
		.operation = o2_lnet_tag(lnet, message),
		.tag = message->tag,
		.is_get = message->kind == O2_LNET_OUR_GET,
		.status = status,
		.length_bytes = status == 0 ? length_bytes : 0,
		.fault = status != 0 && fault.code != 0 ? &fault : NULL,
	};

	assert(status == 0 || fault.code == 0 || fault.code == status);
	o2_lnet_message_free(lnet, message);
	lnet->ops.done(lnet->context, &result);
}

bool o2_lnet_wants_ack(const struct o2_lnet_hdr *put)
{
	return put->msg.put.ack_wmd.wh_interface_cookie != UINT64_MAX ||
	       put->msg.put.ack_wmd.wh_object_cookie != UINT64_MAX;
}

/* The transport has finished without an error.  Set *over if no answer is awaited, and return the PUT's status. */
static int outcome_of_put(struct o2_lnet_message *message, bool *over)
{
	struct o2_error error;
	int rc;

	*over = true;
	if (message->by_rdma && message->answered && message->answer_bytes != message->moved_bytes) {
		rc = o2_refuse_other(&error, -EPROTO, "lnet/ack/other-length", "mlength",
				     message->answer_bytes, message->moved_bytes);
		message->fault = o2_fault_of(O2_FAULT_PEER_MESSAGE, rc, &error);
		return rc;
	}
	/* PUT_NAK with status 0: nothing matched, or the matching memory had no room for a single byte. */
	if (message->by_rdma && !message->answered && message->moved_bytes == 0) {
		rc = o2_fail(&error, -ENODATA, "lnet/put/no-match", "PUT_NAK's status", 0);
		message->fault = o2_fault_of(O2_FAULT_PEER_STATUS, rc, &error);
		return rc;
	}
	*over = message->answered || !o2_lnet_wants_ack(&message->hdr);
	return 0;
}

void o2_lnet_operation_advance(struct o2_lnet *lnet, struct o2_lnet_message *message)
{
	/* If an IMMEDIATE was answered, it has arrived, whatever its send completion said. */
	const bool failed = message->status != 0 && (message->by_rdma || !message->answered);
	bool over = message->by_rdma || message->answered;
	int status = message->answer_status; /* for a GET */

	if (message->in_transport || message->replying)
		return;
	if (failed) {
		o2_lnet_operation_end(lnet, message, message->status);
		return;
	}
	if (message->kind == O2_LNET_OUR_PUT)
		status = outcome_of_put(message, &over);
	if (over || message->cancelled)
		o2_lnet_operation_end(lnet, message, over ? status : -ECANCELED);
	else
		message->deadline_ms = o2_clock_ms(lnet->clock) + message->timeout_ms;
}

int o2_lnet_cancel(struct o2_lnet *lnet, uint64_t operation)
{
	struct o2_lnet_message *message = o2_lnet_find(lnet, operation);

	if (message == NULL || (message->kind != O2_LNET_OUR_PUT && message->kind != O2_LNET_OUR_GET))
		return -ENOENT;
	message->cancelled = true;
	if (o2_lnet_operation_waits(message))
		o2_lnet_operation_end(lnet, message, -ECANCELED);
	return 0;
}

/* Start a PUT or GET.  memory may be NULL: a PUT of no bytes. */
static int operate(struct o2_lnet *lnet, enum o2_lnet_message_kind kind, const struct o2_lnet_target *target,
		   const struct o2_transfer_memory *memory, uint64_t *operation, struct o2_error *error)
{
	const bool put = kind == O2_LNET_OUR_PUT;
	const uint64_t nob = memory == NULL ? 0 : memory->buffer.nob;
	struct o2_lnet_hdr hdr =
		o2_lnet_hdr_to(lnet, target->nid, target->pid != 0 ? target->pid : O2_LNET_PID_KERNEL,
			       put ? O2_LNET_PUT : O2_LNET_GET);
	struct o2_lnet_handle handle = {lnet->config.interface_cookie, UINT64_MAX};
	struct o2_lnet_message *message;
	int rc;

	if (lnet->ending)
		return o2_fail(error, -ESHUTDOWN, "lnet/ending", "operation", 0);
	if (target->offset > O2_LNET_OFFSET_MAX)
		return o2_refuse_value(error, -EINVAL, "lnet/offset", "target.offset", target->offset,
				       O2_LNET_OFFSET_MAX);
	rc = o2_refuse_range(error, -EINVAL, "lnet/length", "memory.buffer.nob", nob, put ? 0 : 1,
			     O2_MAX_TRANSFER_BYTES);
	if (rc != 0)
		return rc;
	message = o2_lnet_message_new(lnet, kind, target->nid, &hdr, error);
	if (message == NULL)
		return -ENOSPC;
	if (memory != NULL)
		message->memory = *memory;
	message->tag = target->tag;
	message->timeout_ms = target->response_timeout_ms != 0 ? target->response_timeout_ms
							       : lnet->config.response_timeout_ms;
	handle.wh_object_cookie = o2_lnet_tag(lnet, message);
	if (operation != NULL)
		*operation = handle.wh_object_cookie;
	if (put) {
		hdr.payload_length = (uint32_t)nob;
		hdr.msg.put.ack_wmd = target->ack ? handle : (struct o2_lnet_handle){UINT64_MAX, UINT64_MAX};
		hdr.msg.put.match_bits = target->match_bits;
		hdr.msg.put.hdr_data = target->hdr_data;
		hdr.msg.put.ptl_index = target->portal;
		hdr.msg.put.offset = (uint32_t)target->offset;
		message->moved_bytes = nob; /* an IMMEDIATE arrives completely or not at all */
	} else {
		hdr.msg.get.return_wmd = handle;
		hdr.msg.get.match_bits = target->match_bits;
		hdr.msg.get.ptl_index = target->portal;
		hdr.msg.get.src_offset = (uint32_t)target->offset;
		hdr.msg.get.sink_length = (uint32_t)nob;
	}
	message->hdr = hdr;
	rc = o2_lnet_transmit(lnet, message, &hdr, error);
	/* If the transport refuses the message, no operation was started. */
	if (rc != 0)
		o2_lnet_message_free(lnet, message);
	return rc;
}

int o2_lnet_put(struct o2_lnet *lnet, const struct o2_lnet_target *target,
		const struct o2_transfer_memory *source, uint64_t *operation, struct o2_error *error)
{
	return operate(lnet, O2_LNET_OUR_PUT, target, source, operation, error);
}

int o2_lnet_get(struct o2_lnet *lnet, const struct o2_lnet_target *target,
		const struct o2_transfer_memory *sink, uint64_t *operation, struct o2_error *error)
{
	return operate(lnet, O2_LNET_OUR_GET, target, sink, operation, error);
}

/* Find the OUR_PUT or OUR_GET to this peer, of this kind, that an answer names; or NULL. */
static struct o2_lnet_message *asked_for(struct o2_lnet *lnet, uint64_t nid, struct o2_lnet_handle handle,
					 enum o2_lnet_message_kind kind, struct o2_error *error)
{
	struct o2_lnet_message *message = NULL;

	if (handle.wh_interface_cookie == lnet->config.interface_cookie)
		message = o2_lnet_find(lnet, handle.wh_object_cookie);
	/* Only the first answer counts, and only its GET_DONE answers a GET by RDMA. */
	if (message != NULL && message->nid == nid && message->kind == kind && !message->answered &&
	    !message->replying &&
	    (kind == O2_LNET_OUR_PUT ? o2_lnet_wants_ack(&message->hdr) : !message->by_rdma))
		return message;
	o2_fail(error, -ENODATA, "lnet/unknown-handle", "dst_wmd", handle.wh_object_cookie);
	return NULL;
}

void o2_lnet_take_ack(struct o2_lnet *lnet, uint64_t nid, const struct o2_lnet_hdr *hdr)
{
	struct o2_error error;
	struct o2_lnet_message *message = asked_for(lnet, nid, hdr->msg.ack.dst_wmd, O2_LNET_OUR_PUT, &error);

	if (message != NULL && hdr->msg.ack.mlength > message->hdr.payload_length) {
		o2_refuse_value(&error, -ENODATA, "lnet/ack/mlength", "mlength", hdr->msg.ack.mlength,
				message->hdr.payload_length);
		message = NULL;
	}
	if (message == NULL) {
		o2_lnet_dropped(lnet, nid, hdr, &error);
		return;
	}
	message->answered = true;
	message->answer_bytes = hdr->msg.ack.mlength;
	o2_lnet_operation_advance(lnet, message);
}

/* A REPLY that is longer than the sink ends the GET with a fault; none of its bytes are copied. */
static int check_reply(struct o2_lnet_message *message, const struct o2_lnet_hdr *hdr, struct o2_error *error)
{
	int rc;

	if (hdr->payload_length <= message->memory.buffer.nob)
		return 0;
	rc = o2_refuse_value(error, -EMSGSIZE, "lnet/reply/too-long", "payload_length", hdr->payload_length,
			     message->memory.buffer.nob);
	message->fault = o2_fault_of(O2_FAULT_PEER_MESSAGE, rc, error);
	return rc;
}

static void answered(struct o2_lnet *lnet, struct o2_lnet_message *message, int status, uint64_t length_bytes)
{
	message->answered = true;
	message->replying = false;
	message->answer_status = status;
	message->answer_bytes = length_bytes;
	o2_lnet_operation_advance(lnet, message);
}

void o2_lnet_take_reply(struct o2_lnet *lnet, uint64_t nid, const struct o2_lnet_hdr *hdr,
			const uint8_t *payload)
{
	struct o2_error error;
	struct o2_lnet_message *message =
		asked_for(lnet, nid, hdr->msg.reply.dst_wmd, O2_LNET_OUR_GET, &error);
	struct o2_buffer sink;
	int rc;

	if (message == NULL) {
		o2_lnet_dropped(lnet, nid, hdr, &error);
		return;
	}
	sink = message->memory.buffer;
	sink.nob = hdr->payload_length;
	rc = check_reply(message, hdr, &error);
	if (rc == 0 && (rc = o2_copy_to_buffer(lnet->arena, &sink, payload, &error)) != 0)
		message->fault = o2_fault_of(O2_FAULT_LOCAL_STAGE, rc, &error);
	answered(lnet, message, rc, hdr->payload_length);
}

int o2_lnet_match_reply(struct o2_lnet *lnet, uint64_t nid, const struct o2_lnet_hdr *hdr,
			struct o2_transfer_memory *memory, uint64_t *tag, struct o2_error *error)
{
	struct o2_lnet_message *operation =
		asked_for(lnet, nid, hdr->msg.reply.dst_wmd, O2_LNET_OUR_GET, error);
	struct o2_lnet_message *message;
	int rc;

	if (operation == NULL)
		return -ENODATA;
	rc = check_reply(operation, hdr, error);
	if (rc != 0) {
		answered(lnet, operation, rc, 0);
		return rc;
	}
	message = o2_lnet_message_new(lnet, O2_LNET_REPLY_SINK, nid, hdr, error);
	if (message == NULL)
		return -ENOSPC;
	message->by_rdma = true;
	message->parent = o2_lnet_tag(lnet, operation);
	operation->replying = true;
	*memory = operation->memory;
	memory->buffer.nob = hdr->payload_length;
	*tag = o2_lnet_tag(lnet, message);
	return 0;
}

void o2_lnet_reply_finished(struct o2_lnet *lnet, struct o2_lnet_message *message)
{
	/* The GET exists still: it does not end while `replying` is set. */
	struct o2_lnet_message *operation = o2_lnet_find(lnet, message->parent);
	const int status = message->status;
	const uint64_t moved_bytes = message->moved_bytes;

	/* The REPLY's own fault explains its status, also where the request's send has failed before. */
	if (status != 0)
		operation->fault = message->fault;
	o2_lnet_message_free(lnet, message);
	answered(lnet, operation, status, moved_bytes);
}
