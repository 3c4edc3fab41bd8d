/* SPDX-License-Identifier: MIT */
#ifndef O2_LND_TRANSFER_H
#define O2_LND_TRANSFER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "lnd/conn/fault.h"
#include "mem/buffer.h"
#include "reg/plan.h"
#include "wire/msg.h"

/* The memory of one side of a transfer.  The vectors stay with the caller until the transfer is done. */
struct o2_transfer_memory {
	struct o2_buffer buffer;
	enum o2_reg_mode mode;
	uint64_t iova;	/* mode phys: wanted address of the region's first page, or first byte (reg/plan.h) */
	bool by_policy; /* the interface's policy chooses the mode (ref/reg/plan.h), and .mode is ignored */
	uint64_t tag;	/* opaque to us: returned in the result */
};

enum o2_transfer_op {
	O2_OP_PUT,
	O2_OP_GET,
	O2_OP_SEND, /* an IMMEDIATE that we send */
};

/* What a result says about the health of the path, in LNet's terms (docs/transport.md, "Health"). */
/* LNet: lnet_msg_hstatus */
enum o2_health {
	O2_HEALTH_OK,
	O2_HEALTH_LOCAL_ERROR,	   /* the message never left the queue */
	O2_HEALTH_LOCAL_DROPPED,   /* there was no connection to send the message over */
	O2_HEALTH_LOCAL_TIMEOUT,   /* the message waited in the queue for too long */
	O2_HEALTH_REMOTE_ERROR,	   /* the peer reported a failure */
	O2_HEALTH_REMOTE_DROPPED,  /* the device could not deliver it, or the peer wants no connection */
	O2_HEALTH_REMOTE_TIMEOUT,  /* the message was delivered, but no answer came */
	O2_HEALTH_NETWORK_TIMEOUT, /* the message was posted, but is not known to be delivered */
};

struct o2_transfer_result {
	enum o2_transfer_op op;
	bool initiator; /* we started the operation: o2_conn_put, o2_conn_get, o2_conn_send */
	enum o2_side side;
	uint64_t tag;	 /* tag of the memory, which our call or match gave */
	uint64_t cookie; /* identifies our transmit: *cookie_out of o2_conn_put and the like */
	enum o2_health health;
	int status;	 /* 0, or negative errno */
	uint64_t nob;	 /* bytes moved, as the completion message says; 0 on failure */
	uint32_t nfrags; /* fragments of the sink's descriptor */
	uint32_t nwr;	 /* RDMA WRITEs posted; 0 at the sink */
	struct o2_transfer_fault fault;
};

/* Which o2iblnd message carries an LNet message.  Source: docs/transport.md, "Small and large".  Pure. */

/* The longest payload of an IMMEDIATE: 4096 bytes less both headers. */
#define O2_IMMEDIATE_MAX (O2_MSG_BYTES - O2_MSG_HEADER_BYTES - O2_LNET_HDR_BYTES)

enum o2_lnd_form {
	O2_FORM_IMMEDIATE,
	O2_FORM_PUT_REQ,
	O2_FORM_GET_REQ,
};

struct o2_lnd_question {
	enum o2_lnet_type type;
	uint64_t nob;		/* PUT, REPLY: payload bytes; GET: bytes of the sink; ACK: ignored */
	uint32_t immediate_max; /* O2_IMMEDIATE_MAX, or less if the peer accepts only shorter messages */
	bool routed;		/* GET: the message is being routed, or its next hop is a router */
	bool force_rdma;	/* the CPU cannot copy the memory (a GPU's) */
};

/*
 * ACK: IMMEDIATE.  PUT and REPLY: IMMEDIATE for up to immediate_max bytes (with force_rdma: only for 0 bytes).
 * GET: IMMEDIATE if routed, or by the same rule; the peer's REPLY is then a message of its own.
 * o2iblnd: kiblnd_send
 */
enum o2_lnd_form o2_lnd_choose(const struct o2_lnd_question *question);

#endif
