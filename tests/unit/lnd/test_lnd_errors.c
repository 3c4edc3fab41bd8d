/* SPDX-License-Identifier: MIT */
#include "tests/lib/lnd_memory.h"
#include "tests/lib/lnd_message.h"
#include "tests/lib/lnd_pair.h"

/* Which errors occur, on which side, and what they end (docs/transport.md, "Errors"). */

static struct o2_kiov kiov_other[O2_MAX_FRAGS];

/* Runs the first PUT of a pair: both sides report this status. */
static void put_fails(struct pair *pair, const struct o2_transfer_memory *from,
		      const struct o2_transfer_memory *to, int status)
{
	pair->b.answer = *to;
	assert_int_equal(start_put(pair->a.conn, from, 0, NULL, NULL), 0);
	pair_run(pair, 1, 1);
	assert_int_equal(pair->a.result[0].status, status);
	assert_int_equal(pair->b.result[0].status, status);
}

PAIR_TEST(refuses_what_a_sink_cannot_map)
{
	struct images images = images_take(&pair->a, &pair->b, 3);
	struct o2_transfer_memory good = dense(kiov_from, 0, 5000, O2_REG_FMR);
	struct o2_transfer_memory bad = gapped(kiov_to, 300, 10, 500, O2_REG_FASTREG);
	struct o2_error error;

	/* PUT: the peer's sink has gaps. */
	put_fails(pair, &good, &bad, -EPROTONOSUPPORT);
	assert_int_equal(pair->a.result[0].fault.side, O2_FAULT_PEER_STATUS);
	assert_int_equal(pair->b.result[0].fault.side, O2_FAULT_LOCAL_STAGE);
	assert_string_equal(pair->b.result[0].fault.error.rule, "reg/fastreg/gaps");
	/* GET: our sink has gaps; nothing is sent. */
	assert_error(start_get(pair->a.conn, &bad, 0, NULL, &error), -EPROTONOSUPPORT, &error,
		     "reg/fastreg/gaps");
	/* GET: the peer's source has gaps. */
	assert_int_equal(start_get(pair->a.conn, &good, 0, NULL, NULL), 0);
	pair_run(pair, 2, 2);
	assert_int_equal(pair->a.result[1].status, -EPROTONOSUPPORT);
	assert_int_equal(pair->a.result[1].nob, 0);
	assert_int_equal(pair->b.result[1].status, -EPROTONOSUPPORT);
	images_check(&images, &pair->a, NULL, &pair->b, NULL, 0);
	assert_alive(pair);
}

TEST(refuses_more_fragments_than_agreed)
{
	struct o2_conn_config few = O2_CONN_DEFAULTS;
	struct o2_transfer_memory one = dense(kiov_from, 0, 3000, O2_REG_FMR);
	struct o2_transfer_memory five = gapped(kiov_to, 300, 5, 600, O2_REG_GLOBAL);
	struct o2_error error;
	struct pair *pair;

	few.max_frags = 4;
	pair = pair_open(&O2_CONN_DEFAULTS, &few); /* the smaller limit counts for both sides */
	put_fails(pair, &one, &five, -EFBIG);
	assert_int_equal(pair->b.result[0].fault.error.limit, 4);
	assert_int_equal(start_get(pair->a.conn, &five, 0, NULL, &error), -EFBIG);
	assert_int_equal(error.value, 5);
	assert_alive(pair);
	pair_close(pair);
}

TEST(refuses_more_work_requests_than_agreed)
{
	struct o2_conn_config few = O2_CONN_DEFAULTS;
	struct o2_transfer_memory many = gapped(kiov_from, 0, 40, 100, O2_REG_GLOBAL);
	struct o2_transfer_memory one = dense(kiov_to, 300, 4000, O2_REG_FMR);
	struct images images;
	struct pair *pair;

	few.max_frags = 4;
	pair = pair_open(&few, &few);
	images = images_take(&pair->a, &pair->b, 4);
	/* PUT: detected when the sink's descriptor arrives; both sides report it. */
	put_fails(pair, &many, &one, -EMSGSIZE);
	assert_int_equal(pair->a.result[0].fault.side, O2_FAULT_LOCAL_STAGE);
	assert_int_equal(pair->a.result[0].nwr, 0);
	assert_int_equal(pair->b.result[0].fault.side, O2_FAULT_PEER_STATUS);
	assert_int_equal(pair->b.result[0].health, O2_HEALTH_REMOTE_ERROR);
	assert_int_equal(pair->a.result[0].health, O2_HEALTH_OK);
	/* GET: detected by the peer. */
	pair->b.answer = many;
	assert_int_equal(start_get(pair->a.conn, &one, 0, NULL, NULL), 0);
	pair_run(pair, 2, 2);
	assert_int_equal(pair->a.result[1].status, -EMSGSIZE);
	assert_int_equal(pair->a.result[1].fault.side, O2_FAULT_PEER_STATUS);
	assert_int_equal(pair->b.result[1].status, -EMSGSIZE);
	assert_int_equal(pair->b.result[1].fault.side, O2_FAULT_LOCAL_STAGE);
	images_check(&images, &pair->a, NULL, &pair->b, NULL, 0);
	assert_alive(pair);
	pair_close(pair);
}

/* If match answers with more bytes than were offered, the transfer fails before anything is mapped. */
PAIR_TEST(refuses_a_match_that_is_too_long)
{
	struct o2_transfer_memory memory = dense(kiov_from, 0, 4000, O2_REG_FMR);

	pair->b.answer = dense(kiov_to, 300, 4001, O2_REG_FMR);
	assert_int_equal(start_put(pair->a.conn, &memory, 0, NULL, NULL), 0);
	assert_int_equal(start_get(pair->a.conn, &memory, 0, NULL, NULL), 0);
	pair_run(pair, 2, 2);
	for (int i = 0; i < 2; i++) {
		assert_int_equal(pair->a.result[i].status, -EINVAL);
		assert_int_equal(pair->b.result[i].status, -EINVAL);
		assert_int_equal(pair->b.result[i].fault.error.limit, 4000);
	}
	assert_alive(pair);
}

/*
 * A GET_REQ whose descriptor differs from what its sender registered.  The source notices when its writes
 * complete; another open transfer of the connection ends as well.
 */
static void tampered_get(enum o2_reg_mode mode, uint32_t key_xor, int64_t addr_add)
{
	struct pair *pair = pair_default();
	struct images images = images_take(&pair->b, &pair->a, 5);
	struct o2_transfer_memory source = dense(kiov_from, 0, 20000, mode);
	struct o2_transfer_memory sink = dense(kiov_to, 300, 20000, mode);
	struct o2_conn *a = pair->a.conn;
	struct o2_transfer_memory other = dense(kiov_other, 600, 3000, O2_REG_FASTREG);
	struct o2_tx *tx;
	struct o2_msg *msg;

	pair->b.answer = source;
	/* Do what o2_conn_get does, but change the descriptor, and in mode fastreg post no bind. */
	assert_int_equal(o2_tx_start(a, O2_TX_OURS, O2_OP_GET, &tx, NULL), 0);
	assert_int_equal(o2_tx_map(a, tx, &sink, NULL), 0);
	msg = o2_msg_begin(a, O2_MSG_GET_REQ);
	msg->u.get.hdr = o2_conn_lnet_hdr(a, O2_LNET_GET, 0, 20000);
	msg->u.get.ibgm_cookie = tx->base.cookie;
	msg->u.get.ibgm_rd = tx->arrays->desc;
	msg->u.get.ibgm_rd.rd_key ^= key_xor;
	msg->u.get.ibgm_rd.rd_frags[0].rf_addr += (uint64_t)addr_add;
	send_msg(&pair->a);
	o2_tx_queue(a, tx, O2_MSG_GET_REQ);
	o2_tx_move(a, tx, O2_LIST_ACTIVE);
	tx->silent = false;
	/* Then start a valid transfer; b starts it, so that it is open on both sides. */
	assert_int_equal(start_get(pair->b.conn, &other, 0, NULL, NULL), 0);
	pair->a.match_rc = -ENODATA;
	pair_run_until_closed(pair, pair->b.conn);
	assert_closed(&pair->b, O2_FAULT_LOCAL_COMPLETION, -EIO);
	assert_int_equal(o2_conn_get_fault(pair->b.conn)->wc_status, IBV_WC_REM_ACCESS_ERR);
	for (uint32_t i = 0; i < pair->b.nresults; i++) {
		const struct o2_transfer_result *result = &pair->b.result[i];

		if (!result->initiator) {
			assert_int_equal(result->status, -EIO);
			assert_int_equal(result->fault.side, O2_FAULT_LOCAL_COMPLETION);
			assert_int_equal(result->fault.wc_status, IBV_WC_REM_ACCESS_ERR);
		} else if (result->fault.side == O2_FAULT_CLOSED) {
			assert_int_equal(result->status, -ECONNABORTED);
		}
	}
	assert_int_equal(pair->b.nresults, 2);
	/* The device has put the sink's queue pair into the error state as well. */
	pair_run_until_closed(pair, a);
	assert_closed(&pair->a, O2_FAULT_LOCAL_COMPLETION, -EIO);
	assert_int_equal(o2_conn_get_fault(a)->wc_status, IBV_WC_WR_FLUSH_ERR);
	assert_int_equal(pair->a.nresults, 1);
	assert_int_equal(pair->a.result[0].status, -ECONNABORTED);
	assert_int_equal(pair->a.result[0].fault.side, O2_FAULT_CLOSED);
	images_check(&images, &pair->b, NULL, &pair->a, NULL, 0);
	pair_close(pair);
}

TEST(reports_a_wrong_key)
{
	tampered_get(O2_REG_FMR, 0x00700000, 0);
	tampered_get(O2_REG_GLOBAL, 0x00700000, 0);
	tampered_get(O2_REG_FASTREG, 0, 0); /* the right key, but no bind was posted for it */
}

TEST(reports_an_address_outside_the_key)
{
	tampered_get(O2_REG_FMR, 0, 1);
	tampered_get(O2_REG_FMR, 0, -1);
	tampered_get(O2_REG_GLOBAL, 0, (int64_t)PAIR_PAGES * 4096);
}

/* Once the end of a sink is reported, its key no longer grants access. */
static void key_is_dead(enum o2_reg_mode mode)
{
	struct pair *pair = pair_default();
	struct o2_transfer_memory from = dense(kiov_from, 0, 9000, mode);
	struct o2_rdma_desc desc;
	struct images images;
	struct ibv_sge sge;
	struct ibv_send_wr wr = {.wr_id = O2_WR_ID_TX(NULL, O2_WORK_SILENT),
				 .opcode = IBV_WR_RDMA_WRITE,
				 .send_flags = IBV_SEND_SIGNALED,
				 .sg_list = &sge,
				 .num_sge = 1};
	struct ibv_send_wr *bad;

	pair->b.answer = dense(kiov_to, 300, 9000, mode);
	assert_int_equal(start_put(pair->a.conn, &from, 0, NULL, NULL), 0);
	pair_run(pair, 1, 1);
	assert_int_equal(pair->b.result[0].status, 0);
	desc = pair->a.conn->rx_msg.u.putack.ibpam_rd; /* the last message that a has received */
	assert_int_equal(pair->a.conn->rx_msg.ibm_type, O2_MSG_PUT_ACK);
	images = images_take(&pair->a, &pair->b, 6);
	sge = (struct ibv_sge){(uintptr_t)pair->a.conn->rx_area, 64, pair->a.conn->rx_mr->lkey};
	wr.wr.rdma.remote_addr = desc.rd_frags[0].rf_addr;
	wr.wr.rdma.rkey = desc.rd_key;
	assert_int_equal(ibv_post_send(pair->a.conn->qp, &wr, &bad), 0);
	pair_run_until_closed(pair, pair->a.conn);
	assert_closed(&pair->a, O2_FAULT_LOCAL_COMPLETION, -EIO);
	assert_int_equal(o2_conn_get_fault(pair->a.conn)->wc_status, IBV_WC_REM_ACCESS_ERR);
	images_check(&images, &pair->a, NULL, &pair->b, NULL, 0);
	pair_close(pair);
}

TEST(keys_die_before_completion)
{
	key_is_dead(O2_REG_FMR);
	key_is_dead(O2_REG_FASTREG);
}

PAIR_TEST(reports_a_peer_that_is_gone)
{
	struct o2_transfer_memory from = dense(kiov_from, 0, 9000, O2_REG_FASTREG);
	uint64_t cookie;

	o2_conn_destroy(pair->b.conn);
	pair->b.conn = NULL;
	assert_int_equal(start_get(pair->a.conn, &from, 0, &cookie, NULL), 0);
	for (time_t end = pair_now() + PAIR_SECONDS; o2_conn_progress(pair->a.conn) >= 0;)
		assert_true(pair_now() <= end);
	assert_closed(&pair->a, O2_FAULT_LOCAL_COMPLETION, -EIO);
	assert_int_equal(o2_conn_get_fault(pair->a.conn)->wc_status, IBV_WC_RETRY_EXC_ERR);
	assert_int_equal(pair->a.nresults, 1);
	assert_int_equal(pair->a.result[0].cookie, cookie);
	assert_int_equal(pair->a.result[0].fault.wc_status, IBV_WC_RETRY_EXC_ERR);
	assert_int_equal(pair->a.result[0].health, O2_HEALTH_REMOTE_DROPPED);
}

/* The regions that a lazy mode fmr keeps mapped are unmapped once a transfer has failed (docs/pools.md). */
TEST(flushes_after_a_failure)
{
	struct pair *pair = pair_open(&O2_CONN_DEFAULTS, &O2_CONN_DEFAULTS);
	const struct o2_transfer_memory from = dense(kiov_from, 0, 5000, O2_REG_FMR);

	pair->a.ni.domain.fmr_lazy = true;
	pair->b.answer = dense(kiov_to, 40, 5000, O2_REG_GLOBAL);
	for (int failed = 0; failed < 2; failed++) {
		pair->b.match_rc = failed ? -EACCES : 0;
		assert_int_equal(start_put(pair->a.conn, &from, 0, NULL, NULL), 0);
		pair_run(pair, 1 + (uint32_t)failed, 1);
		assert_int_equal(pair->a.result[failed].status, pair->b.match_rc);
		assert_int_equal(pair->a.ni.domain.live.fmr_regions, 1 - failed);
	}
	pair_close(pair);
}
