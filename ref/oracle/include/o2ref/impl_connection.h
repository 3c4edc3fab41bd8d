/* SPDX-License-Identifier: MIT */
#ifndef O2REF_IMPL_CONNECTION_H
#define O2REF_IMPL_CONNECTION_H

#include "impl_memory.h"

/* Questions and answers of the stages that version 2 has: devices and connections.  Include o2ref/impl.h. */

/* --- device (docs/modes.md, "Choosing a mode"; docs/transport.md, "Sizes") --- */

enum o2_impl_preference {
	O2_IMPL_PREFER_THRESHOLD = 0, /* global up to a number of segments, then mapped */
	O2_IMPL_PREFER_MAPPING = 1,   /* mapped, unless map_on_demand is 0 */
};

struct o2_impl_device_in {
	/* what the device can do, each by itself: 0 or 1 */
	uint32_t global;  /* one region over all memory */
	uint32_t fmr;	  /* page-list pools */
	uint32_t fastreg; /* registration by work request */
	uint32_t gaps;	  /* the same for byte ranges; nothing without fastreg */
	/* its limits */
	uint32_t max_sge;   /* gather entries of a work request */
	uint32_t max_qp_wr; /* work requests of a queue */
	uint32_t max_cqe;   /* entries of a completion queue */
	/* which way to register: tunables, and the transfer's segments */
	uint32_t preference; /* enum o2_impl_preference */
	uint32_t map_on_demand;
	uint32_t use_gaps; /* 0 or 1 */
	uint32_t segments;
	/* a connection; of the last two 0 means "not said" */
	uint32_t ibm_version; /* of its messages: 0x11 or 0x12 */
	uint32_t queue_depth;
	uint32_t max_frags;
	uint32_t wrq_sge;
	uint32_t peer_tx_credits;
	uint32_t concurrent_sends;
	uint32_t reserved;
};

struct o2_impl_device_out {
	uint32_t usable; /* bit n: the device can be used in mode n of enum o2_impl_mode */
	uint32_t mode;	 /* enum o2_impl_mode: that the transfer gets */
	/* what is left of them on this device */
	uint32_t queue_depth;
	uint32_t concurrent_sends;
	/* entries that its queues need */
	uint32_t send_wrs;
	uint32_t recv_wrs;
	uint32_t cq_entries;
	uint32_t reserved;
};

/* --- rdma_chain (docs/oracle.md, "A chain") --- */

/* Bytes that a work request gathers, and the key that they are gathered under. */
struct o2_impl_gather {
	uint64_t addr;
	uint32_t length;
	uint32_t lkey;
};

struct o2_impl_chain_in {
	struct o2_impl_rdma_in rdma;   /* what is to be written, as for rdma_plan */
	struct o2_impl_gather message; /* the DONE that is sent behind the writes: encoded, in its slot */
};

enum o2_impl_opcode {
	O2_IMPL_WRITE = 0,
	O2_IMPL_SEND = 1,
};

struct o2_impl_chain_wr {
	uint64_t remote_addr; /* WRITE, as rkey */
	uint32_t rkey;
	uint32_t opcode;    /* enum o2_impl_opcode */
	uint32_t signaled;  /* 0 or 1: it completes also when nothing is wrong */
	uint32_t first_sge; /* index into sge */
	uint32_t num_sge;
	uint32_t reserved;
};

/* Work requests in the order in which they are posted, in one call. */
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
	O2_IMPL_GOT_CONNREQ = 0, /* a node asks us */
	O2_IMPL_GOT_CONNACK = 1, /* a node takes what we have asked for */
	O2_IMPL_GOT_REJECT = 2,	 /* it does not */
};

struct o2_impl_conn_params {
	uint32_t ibm_version; /* of the messages: 0x11 or 0x12 */
	uint32_t queue_depth;
	uint32_t max_frags;
	uint32_t max_msg_size;
};

struct o2_impl_connect_in {
	uint32_t event;	      /* enum o2_impl_event */
	uint32_t cm_reason;   /* GOT_REJECT: of the connection manager; 28: a record comes with it */
	uint64_t nid;	      /* ours */
	uint64_t incarnation; /* of ours */
	/* the newest version that we speak, our depth and fragments; max_msg_size is 4096 */
	struct o2_impl_conn_params own;
	uint32_t registers; /* 0 or 1: memory can be registered, so fewer fragments will do, too */
	uint32_t reserved;
	struct o2_impl_conn_params asked; /* GOT_CONNACK, GOT_REJECT: what we have asked for */
	const uint8_t *bytes;		  /* private data: the message or the record, maybe padded */
	uint64_t length_bytes;
};

/*
 * GOT_CONNREQ, GOT_CONNACK: what is agreed, and who the other node is.  GOT_REJECT: what to ask for next; to
 * ask no more is a refusal, with the errno that waiting operations end with.  A refusal of a CONNREQ says as
 * its index which reason the reject gives (ibr_why).
 */
struct o2_impl_connect_out {
	struct o2_impl_conn_params params;
	uint64_t peer_nid;	   /* GOT_CONNREQ, else 0 */
	uint64_t peer_incarnation; /* 0: it did not say */
};

#define O2_IMPL_CONNECT_BYTES 196u /* of private data, at most */

/* --- deliver (docs/oracle.md, "A message that has arrived") --- */

/* What this end has sent last for the operation that it waits for. */
enum o2_impl_awaits {
	O2_IMPL_AWAITS_NOTHING = 0,
	O2_IMPL_SENT_PUT_REQ = 1,
	O2_IMPL_SENT_PUT_ACK = 2,
	O2_IMPL_SENT_GET_REQ = 3,
};

struct o2_impl_deliver_in {
	uint32_t awaits;    /* enum o2_impl_awaits */
	uint32_t max_frags; /* of the connection: 256 or 257 */
	uint64_t cookie;    /* of that operation */
	uint64_t nob;	    /* bytes that it asks for */
	const uint8_t *bytes;
	uint64_t length_bytes; /* received; the message may be shorter */
};

struct o2_impl_deliver_out {
	uint64_t
		length; /* what LNet is told: bytes that are there, that were asked for, or that have moved */
	int32_t status; /* 0, or what the peer says has gone wrong: a negative errno; length is 0 then */
	uint32_t reserved;
};

#endif
