/* SPDX-License-Identifier: MIT */
#ifndef O2_LND_CHOOSE_H
#define O2_LND_CHOOSE_H

#include <stdbool.h>
#include <stdint.h>

#include "wire/msg.h"

/*
 * Which message an LNet message travels in.  Source: docs/transport.md, "Small and large".  Pure.
 */

/* The longest payload of an IMMEDIATE: what a message of 4096 bytes holds behind both headers. */
#define O2_IMMEDIATE_MAX (O2_MSG_BYTES - O2_MSG_HEADER_BYTES - O2_LNET_HDR_BYTES)

enum o2_lnd_form {
	O2_FORM_IMMEDIATE,
	O2_FORM_PUT_REQ,
	O2_FORM_GET_REQ,
};

struct o2_lnd_question {
	enum o2_lnet_type type;
	uint64_t nob;		/* PUT, REPLY: payload bytes; GET: bytes of the sink; ACK: ignored */
	uint32_t immediate_max; /* O2_IMMEDIATE_MAX, or less where the peer takes shorter messages only */
	bool routed;		/* GET: it is being routed, or its next hop is a router */
	bool force_rdma;	/* the memory cannot be copied by the CPU (a GPU's) */
};

/*
 * ACK: IMMEDIATE.  PUT and REPLY: IMMEDIATE up to immediate_max bytes, and whenever there are none.
 * GET: IMMEDIATE if routed, or up to immediate_max bytes; the REPLY is a message of its own then.
 * o2iblnd: kiblnd_send
 */
enum o2_lnd_form o2_lnd_choose(const struct o2_lnd_question *question);

#endif
