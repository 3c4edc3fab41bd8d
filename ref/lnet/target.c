/* SPDX-License-Identifier: MIT */
#include <assert.h>
#include <errno.h>

#include "lnet/lnet_internal.h"
#include "mem/kmap.h"
#include "wire/nid.h"

/* PUTs and GETs by peers, on memory that this node offers (docs/peer.md, "Matching"). */

static int take(struct o2_lnet *lnet, uint64_t nid, const struct o2_lnet_hdr *hdr, struct o2_match *match,
		struct o2_error *error)
{
	const bool is_put = hdr->type == O2_LNET_PUT;
	const struct o2_match_request request = {
		.operation = is_put ? O2_LNET_MD_OP_PUT : O2_LNET_MD_OP_GET,
		.nid = nid,
		.pid = hdr->src_pid,
		.portal = is_put ? hdr->msg.put.ptl_index : hdr->msg.get.ptl_index,
		.match_bits = is_put ? hdr->msg.put.match_bits : hdr->msg.get.match_bits,
		.offset = is_put ? hdr->msg.put.offset : hdr->msg.get.src_offset,
		.length_bytes = is_put ? hdr->payload_length : hdr->msg.get.sink_length,
	};

	return o2_match_take(&lnet->table, &request, match, error);
}

static void send_ack(struct o2_lnet *lnet, uint64_t nid, const struct o2_lnet_hdr *put, uint64_t length_bytes)
{
	struct o2_lnet_hdr hdr = o2_lnet_hdr_to(lnet, put->src_nid, put->src_pid, O2_LNET_ACK);
	struct o2_lnet_message *message;
	struct o2_error error;

	hdr.msg.ack.dst_wmd = put->msg.put.ack_wmd;
	hdr.msg.ack.match_bits = put->msg.put.match_bits;
	hdr.msg.ack.mlength = (uint32_t)length_bytes;
	message = o2_lnet_message_new(lnet, O2_LNET_OUR_ACK, nid, &hdr, &error);
	if (message == NULL) {
		o2_lnet_dropped(lnet, nid, &hdr, &error);
		return;
	}
	if (o2_lnet_transmit(lnet, message, &hdr, &error) != 0) {
		o2_lnet_message_free(lnet, message);
		o2_lnet_dropped(lnet, nid, &hdr, &error);
	}
}

static struct o2_lnet_event event_of(const struct o2_lnet *lnet, uint64_t nid, const struct o2_lnet_hdr *hdr,
				     const struct o2_match *match, uint64_t request)
{
	return (struct o2_lnet_event){
		.kind = hdr->type == O2_LNET_PUT ? O2_LNET_EVENT_PUT : O2_LNET_EVENT_GET,
		.nid = nid,
		.hdr = hdr,
		.entry_tag = lnet->table.slot[match->index].entry.tag,
		.offset = match->offset,
		.length_bytes = match->length_bytes,
		.request = request,
	};
}

/*
 * A peer's request has ended: release the entry, tell the owner, then send the ACK.  The ACK must be last:
 * after it the peer may write to the same memory again.
 */
static void conclude(struct o2_lnet *lnet, uint64_t nid, const struct o2_lnet_hdr *hdr,
		     const struct o2_match *match, uint64_t request, int status)
{
	const uint32_t options = lnet->table.slot[match->index].entry.options;
	const bool ack = hdr->type == O2_LNET_PUT && status == 0 && o2_lnet_wants_ack(hdr) &&
			 (options & O2_LNET_MD_ACK_DISABLE) == 0;
	struct o2_lnet_event event = event_of(lnet, nid, hdr, match, request);

	event.status = status;
	event.unlinked = o2_match_release(&lnet->table, match->index);
	if (lnet->ops.event != NULL)
		lnet->ops.event(lnet->context, &event);
	if (ack)
		send_ack(lnet, nid, hdr, match->length_bytes);
}

static void request_finished(struct o2_lnet *lnet, struct o2_lnet_message *message)
{
	const struct o2_lnet_message ended = *message;
	const uint64_t request = o2_lnet_tag(lnet, message);

	o2_lnet_message_free(lnet, message);
	conclude(lnet, ended.nid, &ended.hdr, &ended.match, request, ended.status);
}

static void take_put(struct o2_lnet *lnet, uint64_t nid, const struct o2_lnet_hdr *hdr,
		     const uint8_t *payload)
{
	struct o2_error error;
	struct o2_match match;
	struct o2_transfer_memory memory;

	if (take(lnet, nid, hdr, &match, &error) != 0) {
		o2_lnet_dropped(lnet, nid, hdr, &error);
		return;
	}
	memory = o2_match_memory(&lnet->table, &match);
	conclude(lnet, nid, hdr, &match, 0, o2_copy_to_buffer(lnet->arena, &memory.buffer, payload, &error));
}

static int match_request(struct o2_lnet *lnet, uint64_t nid, const struct o2_lnet_hdr *hdr,
			 struct o2_transfer_memory *memory, uint64_t *tag, struct o2_error *error)
{
	struct o2_lnet_message *message;
	struct o2_match match;
	int rc;

	/* Take the slot first: if there is none, no entry may be used up. */
	message = o2_lnet_message_new(lnet, hdr->type == O2_LNET_PUT ? O2_LNET_PEER_PUT : O2_LNET_PEER_GET,
				      nid, hdr, error);
	if (message == NULL)
		return -ENOSPC;
	rc = take(lnet, nid, hdr, &match, error);
	if (rc != 0) {
		o2_lnet_message_free(lnet, message);
		return rc;
	}
	message->match = match;
	*memory = o2_match_memory(&lnet->table, &match);
	*tag = o2_lnet_tag(lnet, message);
	if (hdr->type == O2_LNET_PUT && lnet->ops.started != NULL) {
		const struct o2_lnet_event event = event_of(lnet, nid, hdr, &match, *tag);

		lnet->ops.started(lnet->context, &event);
	}
	return 0;
}

static void take_get(struct o2_lnet *lnet, uint64_t nid, const struct o2_lnet_hdr *hdr)
{
	struct o2_lnet_hdr reply = o2_lnet_hdr_to(lnet, hdr->src_nid, hdr->src_pid, O2_LNET_REPLY);
	struct o2_transfer_memory memory;
	struct o2_lnet_message *message;
	struct o2_error error;
	uint64_t tag;
	int rc;

	if (match_request(lnet, nid, hdr, &memory, &tag, &error) != 0) {
		o2_lnet_dropped(lnet, nid, hdr, &error);
		return;
	}
	message = o2_lnet_find(lnet, tag);
	message->memory = memory;
	reply.payload_length = (uint32_t)message->match.length_bytes;
	reply.msg.reply.dst_wmd = hdr->msg.get.return_wmd;
	rc = o2_lnet_transmit(lnet, message, &reply, &error);
	/* On success the message may have ended already, and its slot been reused: do not access it. */
	if (rc != 0) {
		message->status = rc;
		request_finished(lnet, message);
	}
}

/* Messages from the transport: check the LNet header, and handle the message according to its type. */

/* Is the message for this node?  -EPROTO: no correct peer sends it here.  -ENODATA: drop it, it is routed. */
static int check_nids(const struct o2_lnet *lnet, uint64_t nid, const struct o2_lnet_hdr *hdr, bool optimised,
		      struct o2_error *error)
{
	const uint64_t own = lnet->config.nid, dest = hdr->dest_nid;

	if (dest != own &&
	    (optimised || o2_nid_lnd(dest) == O2_LND_LO ||
	     (o2_nid_lnd(dest) == o2_nid_lnd(own) && o2_nid_network(dest) == o2_nid_network(own))))
		return o2_refuse_other(error, -EPROTO, "lnet/header/dest-nid", "dest_nid", dest, own);
	if (dest != own)
		return o2_refuse_other(error, -ENODATA, "lnet/header/not-routed", "dest_nid", dest, own);
	if (hdr->src_nid != nid)
		return o2_refuse_other(error, -ENODATA, "lnet/header/src-nid", "src_nid", hdr->src_nid, nid);
	return 0;
}

static int refuse_type(const struct o2_lnet_hdr *hdr, struct o2_error *error)
{
	return o2_refuse_value(error, -EPROTO, "lnet/header/type", "type", hdr->type, O2_LNET_REPLY);
}

int o2_lnet_receive(struct o2_lnet *lnet, uint64_t nid, const struct o2_lnet_hdr *hdr, const uint8_t *payload,
		    struct o2_error *error)
{
	struct o2_error unused, *why = error != NULL ? error : &unused;
	const int rc = check_nids(lnet, nid, hdr, false, why);

	if (rc == -EPROTO)
		return rc;
	if (rc != 0)
		o2_lnet_dropped(lnet, nid, hdr, why);
	else if (hdr->type == O2_LNET_ACK)
		o2_lnet_take_ack(lnet, nid, hdr);
	else if (hdr->type == O2_LNET_PUT)
		take_put(lnet, nid, hdr, payload);
	else if (hdr->type == O2_LNET_GET)
		take_get(lnet, nid, hdr);
	else if (hdr->type == O2_LNET_REPLY)
		o2_lnet_take_reply(lnet, nid, hdr, payload);
	else
		return refuse_type(hdr, error);
	return 0;
}

int o2_lnet_match(struct o2_lnet *lnet, uint64_t nid, const struct o2_lnet_hdr *hdr,
		  struct o2_transfer_memory *memory, uint64_t *tag, struct o2_error *error)
{
	struct o2_error unused, *why = error != NULL ? error : &unused;
	int rc = check_nids(lnet, nid, hdr, hdr->type == O2_LNET_GET, why);

	if (rc == 0 && hdr->type != O2_LNET_PUT && hdr->type != O2_LNET_GET && hdr->type != O2_LNET_REPLY)
		rc = refuse_type(hdr, why);
	if (rc == 0 && hdr->type == O2_LNET_REPLY)
		rc = o2_lnet_match_reply(lnet, nid, hdr, memory, tag, why);
	else if (rc == 0)
		rc = match_request(lnet, nid, hdr, memory, tag, why);
	if (rc != 0 && rc != -EPROTO)
		o2_lnet_dropped(lnet, nid, hdr, why);
	return rc;
}

void o2_lnet_went_by_rdma(struct o2_lnet *lnet, uint64_t tag)
{
	o2_lnet_find(lnet, tag)->by_rdma = true;
}

void o2_lnet_finished(struct o2_lnet *lnet, uint64_t tag, int status, uint64_t length_bytes,
		      const struct o2_transfer_fault *fault)
{
	struct o2_lnet_message *message = o2_lnet_find(lnet, tag);

	assert(message != NULL && message->in_transport);
	message->in_transport = false;
	message->status = status;
	/* A fault that the peer's answer has set before is the cause, and is kept. */
	if (fault != NULL && fault->code != 0 && message->fault.code == 0)
		message->fault = *fault;
	if (message->by_rdma)
		message->moved_bytes = length_bytes;
	switch (message->kind) {
	case O2_LNET_OUR_PUT:
	case O2_LNET_OUR_GET:
		o2_lnet_operation_advance(lnet, message);
		return;
	case O2_LNET_REPLY_SINK:
		o2_lnet_reply_finished(lnet, message);
		return;
	case O2_LNET_PEER_PUT:
	case O2_LNET_PEER_GET:
		request_finished(lnet, message);
		return;
	case O2_LNET_OUR_ACK:
	case O2_LNET_FREE:
		o2_lnet_message_free(lnet, message);
		return;
	}
}
