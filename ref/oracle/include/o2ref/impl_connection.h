/* SPDX-License-Identifier: MIT */
#ifndef O2REF_IMPL_CONNECTION_H
#define O2REF_IMPL_CONNECTION_H

#include "impl_message.h"

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

#endif
