/* SPDX-License-Identifier: MIT */
#ifndef O2_LNET_TRANSPORT_H
#define O2_LNET_TRANSPORT_H

#include <stdint.h>

#include "base/error.h"
#include "lnd/conn/transfer.h"
#include "wire/msg.h"

/*
 * What LNet's place needs of the network below it.  nid: the next hop, which is the peer itself.
 * Source: docs/peer.md, "The layers".
 * LNet: lnet_lnd
 */
struct o2_lnet_transport {
	void *context;

	/* The longest payload of one IMMEDIATE to that peer, as far as it is known: at most O2_IMMEDIATE_MAX. */
	uint32_t (*immediate_max)(void *context, uint64_t nid);

	/*
	 * One IMMEDIATE with the bytes of memory, which may be none; or a PUT_REQ that carries an LNet PUT or
	 * REPLY, or a GET_REQ, and all that follows from it.  The header and *memory are copied, the vectors stay.
	 *
	 * Returns 0, and then o2_lnet_finished is called with memory->tag exactly once (it may be before this
	 * returns), or -errno, and it is not called.
	 */
	int (*send)(void *context, uint64_t nid, enum o2_lnd_form form, const struct o2_lnet_hdr *hdr,
		    const struct o2_transfer_memory *memory, struct o2_error *error);
};

#endif
