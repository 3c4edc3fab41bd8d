/* SPDX-License-Identifier: MIT */
#ifndef O2REF_IMPL_CONNECTION_H
#define O2REF_IMPL_CONNECTION_H

#include "impl_memory.h"

/* Questions and answers of the stages device, rdma_chain, connect and deliver.  Include o2ref/impl.h. */

/* --- device (docs/modes.md, "Choosing a mode"; docs/transport.md, "Sizes") --- */

/* Which transfers are mapped (mode FMR, FASTREG or FASTREG_GAPS).  Others use mode GLOBAL, if there is one. */
enum o2_impl_preference {
	O2_IMPL_PREFER_THRESHOLD = 0, /* map_on_demand segments or more; 1 counts as 2, 0 maps none */
	O2_IMPL_PREFER_MAPPING = 1,   /* all; map_on_demand 0: none */
};

struct o2_impl_device_in {
	/* capabilities of the device, independent of each other: 0 or 1 */
	uint32_t global;  /* one memory region over all memory */
	uint32_t fmr;	  /* FMR pools, which register page lists */
	uint32_t fastreg; /* registration by work request */
	uint32_t gaps;	  /* fast registration of byte ranges; has no effect without fastreg */
	/* limits of the device */
	uint32_t max_sge;   /* gather entries of a work request */
	uint32_t max_qp_wr; /* work requests of a send or receive queue */
	uint32_t max_cqe;   /* entries of a completion queue */
	/* input for the choice of a mode: tunables, and the number of segments of the transfer */
	uint32_t preference; /* enum o2_impl_preference */
	uint32_t map_on_demand;
	uint32_t use_gaps; /* 0 or 1 */
	uint32_t segments;
	/* tunables of a connection; peer_tx_credits and concurrent_sends may be 0: not set */
	uint32_t ibm_version; /* version of its messages: 0x11 or 0x12 */
	uint32_t queue_depth;
	uint32_t max_frags;
	uint32_t wrq_sge;
	uint32_t peer_tx_credits;
	uint32_t concurrent_sends;
	uint32_t reserved;
};

struct o2_impl_device_out {
	uint32_t usable; /* bit n is set if the device can be used in mode n of enum o2_impl_mode */
	uint32_t mode;	 /* mode of the transfer: enum o2_impl_mode */
	/* the values that the device has room for */
	uint32_t queue_depth;
	uint32_t concurrent_sends;
	/* sizes of the connection's send, receive and completion queues */
	uint32_t send_wrs;
	uint32_t recv_wrs;
	uint32_t cq_entries;
	uint32_t reserved;
};

/* --- rdma_chain (docs/oracle.md, "A chain") --- */

/* One gather entry of a work request. */
struct o2_impl_gather {
	uint64_t addr;
	uint32_t length;
	uint32_t lkey;
};

struct o2_impl_chain_in {
	struct o2_impl_rdma_in rdma;   /* the data to write, as in the question of rdma_plan */
	struct o2_impl_gather message; /* the encoded DONE message, to be sent after the writes */
};

enum o2_impl_opcode {
	O2_IMPL_WRITE = 0,
	O2_IMPL_SEND = 1,
};

struct o2_impl_chain_wr {
	uint64_t remote_addr; /* WRITE only */
	uint32_t rkey;	      /* WRITE only */
	uint32_t opcode;      /* enum o2_impl_opcode */
	uint32_t signaled;    /* 0 or 1; 1: the work request also completes on success */
	uint32_t first_sge;   /* index into sge */
	uint32_t num_sge;
	uint32_t reserved;
};

/* Work requests in posting order; all are posted in one call. */
struct o2_impl_chain {
	uint32_t nwr;
	uint32_t wr_capacity;
	struct o2_impl_chain_wr *wr;
	uint32_t nsge;
	uint32_t sge_capacity;
	struct o2_impl_gather *sge;
};

/* --- connect (docs/connection.md, "Negotiation") --- */

enum o2_impl_event {
	O2_IMPL_GOT_CONNREQ = 0, /* the peer requests a connection */
	O2_IMPL_GOT_CONNACK = 1, /* the peer accepts our request */
	O2_IMPL_GOT_REJECT = 2,	 /* the peer rejects our request */
};

struct o2_impl_conn_params {
	uint32_t ibm_version; /* of the messages: 0x11 or 0x12 */
	uint32_t queue_depth;
	uint32_t max_frags;
	uint32_t max_msg_size;
};

struct o2_impl_connect_in {
	uint32_t event;	      /* enum o2_impl_event */
	uint32_t cm_reason;   /* GOT_REJECT: the connection manager's reason; 28: with a reject record */
	uint64_t nid;	      /* this node's NID */
	uint64_t incarnation; /* this node's incarnation */
	/* this node's limits: newest version, queue depth, fragments; max_msg_size is 4096 */
	struct o2_impl_conn_params own;
	uint32_t registers; /* 0 or 1; 1: this node registers memory, so fewer fragments suffice for it */
	uint32_t reserved;
	struct o2_impl_conn_params asked; /* GOT_CONNACK, GOT_REJECT: the parameters of our request */
	const uint8_t *bytes;		  /* private data: the message or the reject record, maybe padded */
	uint64_t length_bytes;
};

/*
 * GOT_CONNREQ, GOT_CONNACK: the agreed parameters and the identity of the peer.  GOT_REJECT: the parameters
 * of the next request; O2_IMPL_REFUSED means that this node gives up, and the errno is the one that waiting
 * operations fail with.  The refusal of a CONNREQ has the reject's reason code (ibr_why) as its index.
 */
struct o2_impl_connect_out {
	struct o2_impl_conn_params params;
	uint64_t peer_nid;	   /* GOT_CONNREQ: the peer's NID; otherwise 0 */
	uint64_t peer_incarnation; /* the peer's; GOT_REJECT: all ones if version 0x11, 0 if no record */
};

#define O2_IMPL_CONNECT_BYTES 196u /* maximum length of the private data */

/* --- deliver (docs/oracle.md, "A message that has arrived") --- */

/* The last message that this end has sent for its pending operation. */
enum o2_impl_awaits {
	O2_IMPL_AWAITS_NOTHING = 0,
	O2_IMPL_SENT_PUT_REQ = 1,
	O2_IMPL_SENT_PUT_ACK = 2,
	O2_IMPL_SENT_GET_REQ = 3,
};

struct o2_impl_deliver_in {
	uint32_t awaits;    /* enum o2_impl_awaits */
	uint32_t max_frags; /* of the connection: 256 or 257 */
	uint64_t cookie;    /* of the pending operation */
	uint64_t nob;	    /* bytes that the pending operation requests */
	const uint8_t *bytes;
	uint64_t length_bytes; /* bytes received; the message itself may be shorter */
};

struct o2_impl_deliver_out {
	uint64_t length; /* bytes to report to LNet: carried, requested or moved, depending on the type */
	int32_t status;	 /* 0, or the negative errno that the peer reports; length is 0 in that case */
	uint32_t reserved;
};

#endif
