/* SPDX-License-Identifier: MIT */
#include "tests/lib/lnd_message.h"

void send_raw(struct side *side, const void *bytes, uint32_t length)
{
	struct o2_conn *conn = side->conn;
	enum o2_msg_type type = (enum o2_msg_type)((const uint8_t *)bytes)[6];
	struct ibv_sge sge = {.length = length};
	struct ibv_send_wr wr = {.wr_id = O2_WR_ID_TX(NULL, O2_WORK_SILENT),
				 .opcode = IBV_WR_SEND,
				 .sg_list = &sge,
				 .num_sge = 1};
	struct ibv_send_wr *bad;

	if (side->raw == NULL)
		assert_int_equal(o2_tx_take(&side->ni.tx_sets[0], &side->raw, NULL), 0);
	memcpy(side->raw->message, bytes, length);
	sge.addr = side->raw->message_addr;
	sge.lkey = o2_ni_slot_ready(side->raw, length);
	assert_int_equal(ibv_post_send(conn->qp, &wr, &bad), 0);
	if (conn->credits.credits > 0)
		conn->credits.credits -= o2_takes_credit(conn->credits.version, type);
}

void send_msg(struct side *side)
{
	struct o2_wire_options options = O2_WIRE_DEFAULTS;
	uint8_t bytes[O2_MSG_BYTES];
	int length = o2_msg_encode(&side->conn->tx_msg, &options, bytes, sizeof(bytes), NULL);

	assert_true(length > 0);
	send_raw(side, bytes, (uint32_t)length);
}

void send_completion(struct side *side, enum o2_msg_type type, uint64_t cookie, int32_t status)
{
	struct o2_msg *msg = o2_msg_begin(side->conn, type);

	msg->u.completion.ibcm_cookie = cookie;
	msg->u.completion.ibcm_status = status;
	send_msg(side);
}

void send_plain(struct side *side, enum o2_msg_type type, uint8_t credits)
{
	struct o2_msg *msg = o2_msg_begin(side->conn, type);

	msg->ibm_credits = credits;
	if (type == O2_MSG_IMMEDIATE)
		msg->u.immediate.hdr = o2_conn_lnet_hdr(side->conn, O2_LNET_PUT, 0, 0);
	if (type == O2_MSG_PUT_REQ) {
		msg->u.putreq.hdr = o2_conn_lnet_hdr(side->conn, O2_LNET_PUT, 0, 0);
		msg->u.putreq.hdr.payload_length = 5000;
	}
	if (type == O2_MSG_GET_REQ) {
		msg->u.get.hdr = o2_conn_lnet_hdr(side->conn, O2_LNET_GET, 0, 5000);
		msg->u.get.ibgm_rd.rd_nfrags = 1;
		msg->u.get.ibgm_rd.rd_frags[0].rf_nob = 5000;
	}
	send_msg(side);
}
