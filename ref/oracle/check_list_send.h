/* SPDX-License-Identifier: MIT */
/* Checks of send_plan: one part of check_list.h. */

#define OF_SEND(WHAT, what, text) O2_CHECK(SEND_##WHAT, "send/" what, MUST, MUST, text)

O2_CHECK_GROUP("Rules of send_plan")
STAGE_RULE(CONN_PAYLOAD_TOO_LONG, "conn/payload-too-long", OFF,
	   "EMSGSIZE: the payload does not fit behind the headers in max_msg_size bytes.")
O2_CHECK_GROUP("Messages as they are posted")
OF_SEND(REFUSED_LEGAL, "refused-legal",
	"A legal message is posted, however its payload lies: what cannot be gathered is copied.")
SAYS_ERRNO(SEND, "send")
SAYS_RULE(SEND, "send")
OF_SEND(ENTRIES, "entries",
	"A send gathers at least one entry and no more than max_sge, and none of them is empty.")
OF_SEND(KEY, "key",
	"Each entry is under the key of what it gathers: the slot's, or that of the payload's registration, "
	"inside of what is registered.")
O2_CHECK(SEND_MAPPING_FAILED, "send/mapping-failed", MUST, OFF,
	 "Nothing is gathered from memory whose mapping fails, or maps nothing: a failed mapping is no "
	 "success "
	 "(LU-19496 was of this kind). The payload is copied.")
OF_SEND(NO_CPU_MAPPING, "no-cpu-mapping",
	"On a device of kind virtual nothing is gathered from pages without a CPU mapping. The payload is "
	"copied.")
OF_SEND(PLAN, "plan",
	"What is registered can be, in its mode: pages, byte ranges and iova are as in a whole transfer.")
OF_SEND(SLOT, "slot", "What is gathered from the slot was written there.")
OF_SEND(LENGTH, "length", "The entries together are as long as the message.")
OF_SEND(PAYLOAD, "payload", "The bytes of the payload are gathered, each once and in their order.")
OF_SEND(CHECKSUM, "checksum",
	"The checksum is that of all bytes that are gathered, in the flavour that was asked for; 0 for none. "
	"The other fields are judged by the checks of encoded messages.")
#undef OF_SEND
