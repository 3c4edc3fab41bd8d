/* SPDX-License-Identifier: MIT */
#include <assert.h>
#include <errno.h>

#include "lnet/lnet_internal.h"
#include "wire/nid.h"

/* What the transport tells: the LNet header is looked at, and the message goes where its type says. */

/*
 * Whom is it for?  -EPROTO: no honest peer sends this here.  -ENODATA: it would have to be routed, which we
 * do not.
 */
static int check_nids(const struct o2_lnet *lnet, uint64_t nid, const struct o2_lnet_hdr *hdr, bool optimised,
		      struct o2_error *error)
{
	const uint64_t own = lnet->config.nid, dest = hdr->dest_nid;
	const bool here = o2_nid_lnd(dest) == O2_LND_LO || (o2_nid_lnd(dest) == o2_nid_lnd(own) &&
							    o2_nid_network(dest) == o2_nid_network(own));

	if (dest != own && (here || optimised))
		return o2_refuse_other(error, -EPROTO, "lnet/header/dest-nid", "dest_nid", dest, own);
	if (dest != own)
		return o2_refuse_other(error, -ENODATA, "lnet/header/not-routed", "dest_nid", dest, own);
	if (hdr->src_nid != nid)
		return o2_refuse_other(error, -ENODATA, "lnet/header/src-nid", "src_nid", hdr->src_nid, nid);
	return 0;
}

static int refuse_type(const struct o2_lnet_hdr *hdr, struct o2_error *error)
{
	return o2_refuse(error, -EPROTO, "lnet/header/type", "type", O2_NO_INDEX, hdr->type, O2_LNET_REPLY);
}

int o2_lnet_receive(struct o2_lnet *lnet, uint64_t nid, const struct o2_lnet_hdr *hdr, const uint8_t *payload,
		    struct o2_error *error)
{
	struct o2_error why;
	const int rc = check_nids(lnet, nid, hdr, false, &why);

	if (rc == -ENODATA) {
		o2_lnet_dropped(lnet, nid, hdr, &why);
		return 0;
	}
	if (rc != 0) {
		if (error != NULL)
			*error = why;
		return rc;
	}
	switch (hdr->type) {
	case O2_LNET_ACK:
		o2_lnet_take_ack(lnet, nid, hdr);
		return 0;
	case O2_LNET_PUT:
		o2_lnet_take_put(lnet, nid, hdr, payload);
		return 0;
	case O2_LNET_GET:
		o2_lnet_take_get(lnet, nid, hdr);
		return 0;
	case O2_LNET_REPLY:
		o2_lnet_take_reply(lnet, nid, hdr, payload);
		return 0;
	default:
		return refuse_type(hdr, error);
	}
}

int o2_lnet_match(struct o2_lnet *lnet, uint64_t nid, const struct o2_lnet_hdr *hdr,
		  struct o2_transfer_memory *memory, uint64_t *tag, struct o2_error *error)
{
	struct o2_error why;
	int rc = check_nids(lnet, nid, hdr, hdr->type == O2_LNET_GET, &why);

	if (rc == 0 && hdr->type != O2_LNET_PUT && hdr->type != O2_LNET_GET && hdr->type != O2_LNET_REPLY)
		rc = refuse_type(hdr, &why);
	if (rc == 0 && hdr->type == O2_LNET_REPLY)
		rc = o2_lnet_match_reply(lnet, nid, hdr, memory, tag, &why);
	else if (rc == 0)
		rc = o2_lnet_match_request(lnet, nid, hdr, memory, tag, &why);
	if (rc == 0)
		return 0;
	if (rc != -EPROTO)
		o2_lnet_dropped(lnet, nid, hdr, &why);
	if (error != NULL)
		*error = why;
	return rc;
}

void o2_lnet_finished(struct o2_lnet *lnet, uint64_t tag, int status, uint64_t length_bytes,
		      const struct o2_transfer_fault *fault)
{
	struct o2_lnet_message *message = o2_lnet_find(lnet, tag);

	assert(message != NULL && message->in_transport);
	message->in_transport = false;
	message->status = status;
	/* What an answer has broken before is the reason; a transport that went well has none. */
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
		o2_lnet_request_finished(lnet, message);
		return;
	case O2_LNET_OUR_ACK:
	case O2_LNET_FREE:
		o2_lnet_message_free(lnet, message);
		return;
	}
}
