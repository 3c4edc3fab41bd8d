/* SPDX-License-Identifier: MIT */
/* Checks of the stages of version 2, devices and connections: one part of check_list.h. */

#define OF_DEVICE(WHAT, what, kernel, text) O2_CHECK(DEVICE_##WHAT, "device/" what, MUST, kernel, text)

O2_CHECK_GROUP("Rules of device")
STAGE_RULE(CHOOSE_MAP_ON_DEMAND, "choose/map-on-demand", OFF, "EINVAL: above 256.")
STAGE_RULE(CHOOSE_SEGMENTS, "choose/segments", OFF, "EINVAL: 0.")
STAGE_RULE(CHOOSE_NO_WAY, "choose/no-way-to-register", MUST,
	   "ENOSYS: nothing that the device offers will do for this transfer.")
STAGE_RULE(CONN_QUEUE_DEPTH, "conn/queue-depth", OFF, "EINVAL: below 2 (version 0x11: 3), or above 255.")
STAGE_RULE(CONN_MAX_FRAGS, "conn/max-frags", OFF, "EINVAL: 0, or above 257.")
STAGE_RULE(CONN_WRQ_SGE, "conn/wrq-sge", OFF, "EINVAL: 0, or above 32.")
STAGE_RULE(CONN_DEVICE_SGE, "conn/device-sge", OFF, "EINVAL: wrq_sge is above max_sge.")
STAGE_RULE(CONN_VERSION, "conn/version", OFF, "EINVAL: neither 0x11 nor 0x12.")
STAGE_RULE(CONN_PEER_TX_CREDITS, "conn/peer-tx-credits", OFF, "EINVAL: above 255.")
STAGE_RULE(CONN_DEVICE_QUEUE, "conn/device-queue", OFF,
	   "EINVAL: the device has no room for the least depth, or for as many sends as there have to be.")
O2_CHECK_GROUP("Devices")
OF_DEVICE(REFUSED_LEGAL, "refused-legal", MUST, "A device that will do, and legal tunables, are not refused.")
SAYS_ERRNO(DEVICE, "device")
SAYS_RULE(DEVICE, "device")
OF_DEVICE(USABLE, "usable", MUST,
	  "Each mode can be used that the device has what it takes for, and no other: fastreg_gaps takes "
	  "fastreg and gaps, user and phys take nothing.")
OF_DEVICE(MODE, "mode", MUST, "The transfer gets the mode that the table of choices names.")
OF_DEVICE(QUEUE_DEPTH, "queue-depth", OFF,
	  "The queue depth keeps its value, or is all that the device has room for.")
OF_DEVICE(CONCURRENT_SENDS, "concurrent-sends", OFF,
	  "concurrent_sends is clamped to half and twice the credits, in version 0x11 to 4 to 16, to twice "
	  "the depth, and to what the device has room for.")
OF_DEVICE(SEND_WRS, "send-wrs", OFF,
	  "The send queue has room for max(depth, concurrent_sends) transfers of max_frags + 3 requests.")
OF_DEVICE(RECV_WRS, "recv-wrs", OFF,
	  "The receive queue has two receives for each credit, and 2 more in version 0x12.")
OF_DEVICE(CQ_ENTRIES, "cq-entries", OFF, "The completion queue holds what both queues hold.")
#undef OF_DEVICE

#define OF_CHAIN(WHAT, what, text) O2_CHECK(CHAIN_##WHAT, "chain/" what, MUST, MUST, text)

O2_CHECK_GROUP("Chains of work requests")
OF_CHAIN(REFUSED_LEGAL, "refused-legal", "Writes that rdma_plan admits are put in front of their message.")
SAYS_ERRNO(CHAIN, "chain")
SAYS_RULE(CHAIN, "chain")
OF_CHAIN(MESSAGE_LAST, "message-last",
	 "The last request sends the message, and no other one does: what it says is true when it arrives.")
OF_CHAIN(MESSAGE_BYTES, "message-bytes",
	 "The message is gathered from its slot, under the slot's own key, in one entry.")
OF_CHAIN(SIGNALED, "signaled",
	 "The message completes, and no write does: the completion queue has room for so many.")
OF_CHAIN(WRITES, "writes",
	 "The writes go out under the sink's key and gather under the source's, each by itself. What they "
	 "write and gather is judged by the checks of rdma_plan.")
#undef OF_CHAIN
