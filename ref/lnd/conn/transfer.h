/* SPDX-License-Identifier: MIT */
#ifndef O2_LND_TRANSFER_H
#define O2_LND_TRANSFER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "lnd/conn/fault.h"
#include "mem/buffer.h"
#include "reg/plan.h"

/* The memory of one side of a transfer.  The vectors stay with the caller until the transfer is done. */
struct o2_transfer_memory {
	struct o2_buffer buffer;
	enum o2_reg_mode mode;
	uint64_t
		iova; /* mode phys: where the region's first page, or its first byte, is to be (reg/plan.h) */
	bool by_policy; /* the interface's policy chooses the mode (ref/reg/plan.h), .mode is ignored */
	uint64_t tag;	/* the upper layer's own: comes back in the result */
};

enum o2_transfer_op {
	O2_OP_PUT,
	O2_OP_GET,
	O2_OP_SEND, /* an IMMEDIATE of ours */
};

/*
 * What a failure says about the health of the path, in LNet's terms (docs/transport.md, "Health").
 * LNet: lnet_msg_hstatus
 */
enum o2_health {
	O2_HEALTH_OK,
	O2_HEALTH_LOCAL_ERROR,	   /* it never left the queue */
	O2_HEALTH_LOCAL_DROPPED,   /* there was no connection to send it over */
	O2_HEALTH_LOCAL_TIMEOUT,   /* it waited in the queue for too long */
	O2_HEALTH_REMOTE_ERROR,	   /* the peer reported a failure */
	O2_HEALTH_REMOTE_DROPPED,  /* the device could not deliver it, or the peer wants no connection */
	O2_HEALTH_REMOTE_TIMEOUT,  /* delivered, and no answer came */
	O2_HEALTH_NETWORK_TIMEOUT, /* posted, and not known to be delivered */
};

struct o2_transfer_result {
	enum o2_transfer_op op;
	bool initiator; /* we started it: o2_conn_put, o2_conn_get, o2_conn_send */
	enum o2_side side;
	uint64_t tag;	 /* of the memory that we or match gave */
	uint64_t cookie; /* of our own transmit: what o2_conn_put and the like returned */
	enum o2_health health;
	int status;	 /* 0, or negative errno */
	uint64_t nob;	 /* bytes moved, as the completion message says; 0 on failure */
	uint32_t nfrags; /* of the sink's descriptor */
	uint32_t nwr;	 /* RDMA WRITEs posted; 0 at the sink */
	struct o2_transfer_fault fault;
};

#endif
