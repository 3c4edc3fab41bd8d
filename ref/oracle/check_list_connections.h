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

#define OF_CONNECT(WHAT, what, text) O2_CHECK(CONNECT_##WHAT, "connect/" what, MUST, MUST, text)

O2_CHECK_GROUP("Rules of connect")
STAGE_RULE(CONNREQ_SHORT, "connreq/short", MUST, "EPROTO: a request of fewer than 6 bytes.")
STAGE_RULE(CONNREQ_GENERIC_MAGIC, "connreq/generic-magic", MUST, "EPROTO: it begins with LNet's own magic.")
STAGE_RULE(CONNREQ_VERSION, "connreq/version", MUST, "EPROTO: a version that this node does not speak.")
STAGE_RULE(CONNREQ_DSTNID, "connreq/dstnid", MUST, "EPROTO: it is for another node.")
STAGE_RULE(CONNREQ_DSTSTAMP, "connreq/dststamp", MUST,
	   "ESTALE: it is for an earlier life of this node; a stamp of 0, and in version 0x11 one of all "
	   "ones, says nothing.")
STAGE_RULE(CONNREQ_TYPE, "connreq/type", MUST, "EPROTO: a legal message of another type.")
STAGE_RULE(CONNREQ_DEPTH_OVER, "connreq/queue-depth-over", MUST,
	   "EPROTO: deeper than this node's, in version 0x11 than 8.")
STAGE_RULE(CONNREQ_DEPTH_UNDER, "connreq/queue-depth-under", OFF, "EPROTO: below 2, in version 0x11 below 8.")
STAGE_RULE(CONNREQ_FRAGS_OVER, "connreq/max-frags-over", MUST, "EPROTO: more than this node takes.")
STAGE_RULE(CONNREQ_FRAGS_ZERO, "connreq/max-frags-zero", OFF, "EPROTO: none.")
STAGE_RULE(CONNREQ_FRAGS_FEW, "connreq/max-frags-few", MUST,
	   "EPROTO: fewer than this node's, where it cannot register memory.")
STAGE_RULE(CONNREQ_SIZE_OVER, "connreq/max-msg-size-over", MUST, "EPROTO: messages above 4096 bytes.")
STAGE_RULE(CONNREQ_SIZE_UNDER, "connreq/max-msg-size-under", OFF, "EPROTO: messages below 148 bytes.")
STAGE_RULE(CONNACK_TYPE, "connack/type", MUST, "EPROTO: a legal message of another type.")
STAGE_RULE(CONNACK_VERSION, "connack/version", MUST, "EPROTO: another version than was asked for.")
STAGE_RULE(CONNACK_DEPTH_OVER, "connack/queue-depth-over", MUST, "EPROTO: deeper than was asked for.")
STAGE_RULE(CONNACK_DEPTH_UNDER, "connack/queue-depth-under", OFF, "EPROTO: below 2, in version 0x11 below 8.")
STAGE_RULE(CONNACK_FRAGS_OVER, "connack/max-frags-over", MUST, "EPROTO: more than was asked for.")
STAGE_RULE(CONNACK_FRAGS_ZERO, "connack/max-frags-zero", OFF, "EPROTO: none.")
STAGE_RULE(CONNACK_SIZE_OVER, "connack/max-msg-size-over", MUST, "EPROTO: messages above 4096 bytes.")
STAGE_RULE(CONNACK_SIZE_UNDER, "connack/max-msg-size-under", OFF, "EPROTO: messages below 148 bytes.")
STAGE_RULE(CONNACK_DSTNID, "connack/dstnid", MUST, "ESTALE: it is for another node.")
STAGE_RULE(CONNACK_DSTSTAMP, "connack/dststamp", MUST, "ESTALE: it is for another life of this node.")
STAGE_RULE(REJECT_NO_LISTENER, "reject/no-listener", MUST, "EHOSTUNREACH: nobody listens (8).")
STAGE_RULE(REJECT_CM_REASON, "reject/cm-reason", MUST,
	   "ECONNREFUSED: the connection manager's other reasons, but for a stale connection (10).")
STAGE_RULE(WIRE_REJECT_SHORT, "wire/reject/short-for-why", MUST, "ECONNREFUSED: a record below 7 bytes.")
STAGE_RULE(WIRE_REJECT_MAGIC, "wire/reject/magic", MUST, "ECONNREFUSED: no record.")
STAGE_RULE(WIRE_REJECT_VERSION, "wire/reject/version", MUST, "ECONNREFUSED: neither 0x11 nor 0x12.")
STAGE_RULE(WIRE_REJECT_WHY, "wire/reject/why", MUST, "ECONNREFUSED: no reason that is known.")
STAGE_RULE(WIRE_REJECT_PARAMS, "wire/reject/short-for-params", MUST,
	   "ECONNREFUSED: a record of version 0x12 below 24 bytes.")
STAGE_RULE(REJECT_WHY, "reject/why", MUST,
	   "ECONNREFUSED: a reason after which it makes no sense to ask again, or a version that this node "
	   "does not speak.")
STAGE_RULE(REJECT_UNUSABLE_LIMIT, "reject/unusable-limit", MUST,
	   "ECONNREFUSED: fragments or depth that are no less than what was asked for, or too few.")
O2_CHECK_GROUP("Connections")
OF_CONNECT(REFUSED_LEGAL, "refused-legal",
	   "A legal request is accepted, a legal CONNACK is believed, and what can be asked for again is.")
SAYS_ERRNO(CONNECT, "connect")
SAYS_RULE(CONNECT, "connect")
O2_CHECK(CONNECT_WHY, "connect/why", MUST, MUST,
	 "The reject of a request gives the reason of the table of checks. Compared when the same rule was "
	 "named and a reason was given, as index.")
OF_CONNECT(VERSION, "version",
	   "Both speak the version of the request; after a reject, that of the record (0x11 from a node "
	   "that takes no other).")
OF_CONNECT(DEPTH, "queue-depth",
	   "The depth is what was asked for, or what the CONNACK says; after a reject what the record "
	   "allows, and 8 in version 0x11.")
OF_CONNECT(FRAGS, "max-frags", "The fragments, likewise.")
OF_CONNECT(MSG_SIZE, "max-msg-size", "The size of messages, likewise; a reject leaves it as it was.")
OF_CONNECT(
	PEER, "peer",
	"The other node is the one that the request names as its source, and its life is that of the stamp.")
#undef OF_CONNECT

#define OF_DELIVER(WHAT, what, text) O2_CHECK(DELIVER_##WHAT, "deliver/" what, MUST, MUST, text)

O2_CHECK_GROUP("Rules of deliver")
STAGE_RULE(CONN_UNEXPECTED_TYPE, "conn/unexpected-type", MUST, "EPROTO: a CONNREQ or a CONNACK.")
STAGE_RULE(CONN_UNKNOWN_COOKIE, "conn/unknown-cookie", MUST,
	   "EPROTO: an answer to what nobody waits for: another cookie, or another step of the operation.")
STAGE_RULE(CONN_NAK_STATUS, "conn/nak-status", MUST, "EPROTO: a PUT_NAK that says that bytes have moved.")
STAGE_RULE(CONN_PUT_DONE_STATUS, "conn/put-done-status", MUST,
	   "EPROTO: a PUT_DONE of fewer bytes than were asked for, or of more.")
STAGE_RULE(CONN_GET_DONE_STATUS, "conn/get-done-status", MUST,
	   "EPROTO: a GET_DONE of more bytes than were asked for.")
O2_CHECK_GROUP("Messages that have arrived")
OF_DELIVER(REFUSED_LEGAL, "refused-legal", "A legal message that answers what is waited for is acted upon.")
SAYS_ERRNO(DELIVER, "deliver")
SAYS_RULE(DELIVER, "deliver")
OF_DELIVER(COST, "cost",
	   "A refusal says rightly whether the connection is kept (class message) or closes. Compared when "
	   "it is said.")
OF_DELIVER(LENGTH, "length",
	   "LNet is told how many bytes there are: of an IMMEDIATE or a PUT_REQ the payload, of a GET_REQ or "
	   "a PUT_ACK what its fragments hold together, of a DONE what has moved, unsigned.")
OF_DELIVER(STATUS, "status", "What has gone wrong at the peer reaches LNet: the status, if it is negative.")
#undef OF_DELIVER
