/* SPDX-License-Identifier: MIT */
/*
 * The oracle's comparer on the stages of version 2 whose answers are single values or requests: each member of an
 * answer that is changed alone fails the check that is documented for it.
 */
#include "tests/unit/oracle/world.h"

/* --- rdma_chain --- */

#define STAGE	O2_STAGE_RDMA_CHAIN
#define CHAIN	(w->found.chain)
#define MESSAGE (CHAIN.wr[CHAIN.nwr - 1])
#define GATHER	(CHAIN.sge[MESSAGE.first_sge])

CHANGE(chain_none, CHAIN_MESSAGE_LAST, true, CHAIN.nwr = 0)
CHANGE(chain_no_message, CHAIN_MESSAGE_LAST, CHAIN.nwr > 1, CHAIN.nwr--)
CHANGE(chain_early, CHAIN_MESSAGE_LAST, CHAIN.nwr > 1, CHAIN.wr[0].opcode = O2_IMPL_SEND)
CHANGE(chain_signaled, CHAIN_SIGNALED, CHAIN.nwr > 1, CHAIN.wr[0].signaled = 1)
CHANGE(chain_unsignaled, CHAIN_SIGNALED, true, MESSAGE.signaled = 0)
CHANGE(chain_no_gather, CHAIN_MESSAGE_BYTES, true, MESSAGE.num_sge = 0)
CHANGE(chain_gathers, CHAIN_MESSAGE_BYTES, CHAIN.nsge < O2_CHAIN_SGE, MESSAGE.num_sge = 2; CHAIN.nsge++)
CHANGE(chain_nothing, CHAIN_MESSAGE_BYTES, true, CHAIN.nsge = 0)
CHANGE(chain_past, CHAIN_MESSAGE_BYTES, true, MESSAGE.first_sge = CHAIN.nsge)
CHANGE(chain_addr, CHAIN_MESSAGE_BYTES, true, GATHER.addr++)
CHANGE(chain_length, CHAIN_MESSAGE_BYTES, true, GATHER.length--)
CHANGE(chain_lkey, CHAIN_MESSAGE_BYTES, true, GATHER.lkey++)
CHANGE(chain_write_rkey, CHAIN_WRITES, CHAIN.nwr > 1, CHAIN.wr[0].rkey++)
CHANGE(chain_write_lkey, CHAIN_WRITES, CHAIN.nwr > 1, CHAIN.sge[CHAIN.wr[0].first_sge].lkey++)
CHANGE(chain_write_source, RDMA_SOURCE_BYTES, CHAIN.nwr > 1, CHAIN.sge[CHAIN.wr[0].first_sge].addr++)
CHANGE(chain_write_sink, RDMA_SINK_BYTES, CHAIN.nwr > 1, CHAIN.wr[0].remote_addr++)

/* --- what a device has room for --- */

#undef STAGE
#define STAGE  O2_STAGE_DEVICE
#define DEVICE (w->found.device)

CHANGE(device_usable, DEVICE_USABLE, true, DEVICE.usable ^= 1u << O2_REG_FASTREG)
CHANGE(device_no_such_mode, DEVICE_USABLE, true, DEVICE.usable |= 1u << O2_REG_MODES)
CHANGE(device_last_bit, DEVICE_USABLE, true, DEVICE.usable |= 1u << 31)
CHANGE(device_mode, DEVICE_MODE, true, DEVICE.mode++)
CHANGE(device_depth, DEVICE_QUEUE_DEPTH, true, DEVICE.queue_depth--)
CHANGE(device_sends, DEVICE_CONCURRENT_SENDS, true, DEVICE.concurrent_sends++)
CHANGE(device_send_wrs, DEVICE_SEND_WRS, true, DEVICE.send_wrs--)
CHANGE(device_recv_wrs, DEVICE_RECV_WRS, true, DEVICE.recv_wrs--)
CHANGE(device_cq, DEVICE_CQ_ENTRIES, true, DEVICE.cq_entries--)

/* --- what is agreed with a peer, and what is reported to LNet --- */

#undef STAGE
#define STAGE	O2_STAGE_CONNECT
#define CONNECT (w->found.connect)

CHANGE(connect_version, CONNECT_VERSION, true, CONNECT.params.ibm_version ^= 3)
CHANGE(connect_depth, CONNECT_DEPTH, true, CONNECT.params.queue_depth--)
CHANGE(connect_frags, CONNECT_FRAGS, true, CONNECT.params.max_frags++)
CHANGE(connect_size, CONNECT_MSG_SIZE, true, CONNECT.params.max_msg_size /= 2)
CHANGE(connect_peer, CONNECT_PEER, CONNECT.peer_nid != 0, CONNECT.peer_nid ^= 1)
CHANGE(connect_peer_high, CONNECT_PEER, CONNECT.peer_nid != 0, CONNECT.peer_nid ^= 1ull << 63)
CHANGE(connect_incarnation, CONNECT_PEER, true, CONNECT.peer_incarnation ^= 1ull << 32)

#undef STAGE
#define STAGE	O2_STAGE_DELIVER
#define DELIVER (w->found.deliver)

CHANGE(deliver_length, DELIVER_LENGTH, DELIVER.length > 0, DELIVER.length--)
CHANGE(deliver_status, DELIVER_STATUS, DELIVER.status != 0, DELIVER.status++)

/* --- keys --- */

#undef STAGE
#define STAGE O2_STAGE_KEYS
#define KEYS  (w->found.keys)

/* The first step that posts `op`, and the place of that request in it. */
static struct o2_impl_key_step *step_with(enum o2_impl_key_op op, uint32_t *at)
{
	for (uint32_t i = 0; i < KEYS.count; i++)
		for (*at = 0; *at < KEYS.step[i].count; (*at)++)
			if (KEYS.step[i].request[*at].op == (uint32_t)op)
				return &KEYS.step[i];
	return NULL;
}

static uint32_t at;
static struct o2_impl_key_step *step;

#define POSTS(op)	((step = step_with(O2_IMPL_KEY_##op, &at)) != NULL)
#define ACCEPTED	(w->asked.keys.event[step - KEYS.step].fails_at == 0)
#define HAS_ROOM	(step->count < O2_IMPL_KEY_REQUESTS)
#define REQUEST		(step->request[at])
#define FIRST_PUBLISHED (KEYS.step[0].published)

CHANGE(keys_published, KEYS_PUBLISHED, FIRST_PUBLISHED != 0, FIRST_PUBLISHED++)
CHANGE(keys_twice, KEYS_REQUESTS, POSTS(MESSAGE) && HAS_ROOM, step->request[step->count++] = REQUEST)
CHANGE(keys_other, KEYS_REQUESTS, POSTS(INVALIDATE), REQUEST.op = O2_IMPL_KEY_REGISTER)
CHANGE(keys_key, KEYS_REQUESTS, POSTS(REGISTER), REQUEST.key++)
CHANGE(keys_message, KEYS_MESSAGE, POSTS(MESSAGE) && step->count == 1, step->count = 0)
CHANGE(keys_early, KEYS_MESSAGE, POSTS(MESSAGE) && at > 0 && ACCEPTED,
       const struct o2_impl_key_request last = REQUEST;
       REQUEST = step->request[0]; step->request[0] = last)
CHANGE(keys_foreign, KEYS_INVALIDATE, POSTS(INVALIDATE), REQUEST.key ^= 1u << 31)
CHANGE(keys_alive, KEYS_LIVE, POSTS(REGISTER) && ACCEPTED, REQUEST.key++)

/* --- a message that is sent --- */

#undef STAGE
#define STAGE O2_STAGE_SEND_PLAN
#define SEND  (w->found.send)

CHANGE(send_no_entry, SEND_ENTRIES, true, SEND.nsge = 0)
CHANGE(send_entries, SEND_ENTRIES, SEND.nsge > 1, w->asked.send.max_sge = SEND.nsge - 1)
CHANGE(send_empty, SEND_ENTRIES, SEND.nsge > 1, SEND.sge[SEND.nsge - 1].length = 0)
CHANGE(send_short, SEND_LENGTH, SEND.sge[SEND.nsge - 1].length > 1, SEND.sge[SEND.nsge - 1].length--)
CHANGE(send_long, SEND_LENGTH, true, SEND.sge[SEND.nsge - 1].length = O2_MSG_BYTES + 1)
CHANGE(send_key, SEND_KEY, SEND.nsge > 1, SEND.sge[SEND.nsge - 1].lkey ^= 1)
CHANGE(send_payload, SEND_PAYLOAD, SEND.nsge > 1 && SEND.sge[SEND.nsge - 1].length > 1,
       SEND.sge[SEND.nsge - 1].addr++;
       SEND.sge[SEND.nsge - 1].length--; SEND.sge[SEND.nsge] = SEND.sge[SEND.nsge - 1];
       SEND.sge[SEND.nsge++].length = 1)
CHANGE(send_slot, SEND_SLOT, SEND.slot.length_bytes > 0, SEND.slot.length_bytes--)

/* Splits the last gather entry into two that bring the same bytes. */
static bool send_split(void)
{
	struct o2_impl_gather *last = &SEND.sge[SEND.nsge - 1];

	if (!IS_RESULT || SEND.nsge == 0 || SEND.nsge >= w->asked.send.max_sge || last->length < 2)
		return false;
	last[1] = *last;
	last->length = 1;
	last[1].addr++;
	last[1].length--;
	SEND.nsge++;
	return true;
}

TEST_WITH(test_a_message_cut_otherwise, set_up, tear_down)
{
	expect_equal(O2_STAGE_SEND_PLAN, "a gather entry in two parts", send_split);
}
