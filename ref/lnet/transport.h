/* SPDX-License-Identifier: MIT */
#ifndef O2_LNET_TRANSPORT_H
#define O2_LNET_TRANSPORT_H

#include <stdint.h>

#include "base/error.h"
#include "lnd/conn/transfer.h"
#include "wire/msg.h"

/*
 * What LNet's place needs of the network below it.  Source: docs/peer.md, "The layers".
 *
 * A function returns 0 and then o2_lnet_finished is called with that tag exactly once (it may be before the
 * function returns), or it returns -errno and o2_lnet_finished is not called.  Memory stays alive until then;
 * the header is copied.  nid: the next hop, which is the peer itself.
 * LNet: lnet_lnd
 */
struct o2_lnet_transport {
	void *context;

	/*
	 * The longest payload of one IMMEDIATE to that peer, as far as it is known: at most
	 * O2_IMMEDIATE_MAX.
	 */
	uint32_t (*immediate_max)(void *context, uint64_t nid);

	/* One IMMEDIATE.  payload may be NULL: the header is all. */
	int (*send)(void *context, uint64_t nid, const struct o2_lnet_hdr *hdr,
		    const struct o2_transfer_memory *payload, uint64_t tag, struct o2_error *error);

	/* A PUT_REQ that carries an LNet PUT or REPLY, and all that follows from it. */
	int (*put)(void *context, uint64_t nid, const struct o2_lnet_hdr *hdr,
		   const struct o2_transfer_memory *source, uint64_t tag, struct o2_error *error);

	/* A GET_REQ, and all that follows from it. */
	int (*get)(void *context, uint64_t nid, const struct o2_lnet_hdr *hdr,
		   const struct o2_transfer_memory *sink, uint64_t tag, struct o2_error *error);
};

#endif
