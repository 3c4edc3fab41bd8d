/* SPDX-License-Identifier: MIT */
#include <errno.h>

#include "props/lst/lst_internal.h"
#include "props/lst/lst_requests.h"

/* Requests of a console to the framework service: sessions, tests, batches, valid or not. */

#define LIST_PAGE  64u		       /* page after the memory of bulks */
#define ONE_NUMBER (UINT64_C(1) << 60) /* of a list that has one destination only */

static void ignore_answer(void *context, const struct o2_lst_answer *answer)
{
	(void)context;
	(void)answer;
}

static void expect_no_success(void *context, const struct o2_lst_answer *answer)
{
	struct o2_lst_case *the = context;

	the->seen[LIST_SHORT] += answer->status == -ETIMEDOUT;
	if (answer->status == 0 && answer->reply->u.reply.status == 0)
		o2_report_fail(the->report, "lst/list",
			       "a test is added whose list of destinations is not all there");
}

static struct o2_lst_msg draw_test(struct o2_lst_case *the, struct o2_lst_sid sid)
{
	const bool is_client = !o2_draw_bool(the->choice, 2, 1);
	const bool two = o2_draw_bool(the->choice, 1, 1);
	const bool none = o2_draw_bool(the->choice, 15, 1);
	struct o2_lst_msg msg = o2_lst_ask_test(sid, is_client, none ? 0 : 1 + two);
	struct o2_lst_test_reqst *test = &msg.u.test_reqst;

	test->tsr_bid = 1 + o2_lst_draw(the, 4);
	test->tsr_concur = (1 + o2_lst_draw(the, 8)) % 9;
	test->tsr_loop = (1 + o2_lst_draw(the, 4)) % 5;
	if (o2_draw_bool(the->choice, 3, 1))
		test->tsr_loop = UINT32_MAX;
	/* The limits, and one past them. */
	if (o2_draw_bool(the->choice, 15, 1))
		test->tsr_concur = 1024 + o2_lst_draw(the, 1);
	if (o2_draw_bool(the->choice, 15, 1))
		test->tsr_ndest = 341 + o2_lst_draw(the, 1);
	test->tsr_stop_onerr = (uint8_t)o2_lst_draw(the, 1);
	if (o2_draw_bool(the->choice, 1, 1)) {
		struct o2_lst_bulk_v1 *bulk = &test->tsr_u.bulk_v1;

		test->tsr_service = O2_LST_SERVICE_BRW;
		bulk->blk_opc = (uint16_t)(1 + o2_lst_draw(the, 1));
		bulk->blk_flags = (uint16_t)(1 + o2_lst_draw(the, 4));
		bulk->blk_len = 8 * o2_lst_draw(the, 1100);
	}
	return msg;
}

static struct o2_lst_msg draw_batch(struct o2_lst_case *the, struct o2_lst_sid sid)
{
	const struct o2_lst_account *account = &the->account;
	static const uint32_t weights[] = {2, 2, 5, 2};
	const uint32_t opcode = 1 + (uint32_t)o2_draw_weighted(the->choice, weights, 4);
	static const uint32_t indices[] = {0, 1, 2, 3, INT32_MAX, INT32_MAX + 1u, UINT32_MAX};
	const uint32_t index = indices[o2_lst_draw(the, 6)];
	uint64_t batch = 1 + o2_lst_draw(the, 4);

	/* Prefer batches that exist: for others most requests get the same answer. */
	if (account->nbatches > 0 && o2_draw_bool(the->choice, 1, 2)) {
		sid = account->sid;
		batch = account->batch[o2_lst_draw(the, account->nbatches - 1)].id;
	}
	return o2_lst_ask_batch(sid, batch, opcode, index, o2_lst_draw(the, 1));
}

static struct o2_lst_msg draw_ping(struct o2_lst_case *the)
{
	struct o2_lst_msg msg = o2_lst_ask_ping(o2_lst_draw(the, UINT32_MAX));

	msg.msg_ses_feats = o2_lst_draw(the, 2);
	if (o2_draw_bool(the->choice, 3, 1))
		msg.u.ping_reqst.pnr_magic ^= 1u << o2_lst_draw(the, 31);
	return msg;
}

static struct o2_lst_msg draw_request(struct o2_lst_case *the)
{
	static const uint32_t weights[] = {8, 12, 8, 4, 4, 1, 2, 4};
	const uint32_t what = (uint32_t)o2_draw_weighted(the->choice, weights, 8);
	const uint32_t stamp = 1 + o2_lst_draw(the, 1);
	const struct o2_lst_sid sid = o2_draw_bool(the->choice, 9, 1) ? O2_LST_NO_SID : o2_lst_sid_of(stamp);

	switch (what) {
	case 0:
		return o2_lst_ask_mksn(sid, o2_draw_bool(the->choice, 3, 1), "someone");
	case 1:
		return draw_test(the, sid);
	case 2:
		return draw_batch(the, sid);
	case 3:
		return o2_lst_ask_rmsn(sid);
	case 4:
		return o2_lst_ask_stat(sid);
	case 5:
		return o2_lst_ask_join(sid);
	case 6:
		return draw_ping(the);
	default:
		return o2_lst_ask_debug();
	}
}

/* Lay out a list of two destinations, both the console's own node. */
static void lay_list(struct o2_lst_case *the)
{
	const struct o2_lst_dest dest = {O2_LNET_NID_A, O2_LNET_PID_KERNEL};
	uint8_t *bytes = o2_lnet_side_bytes(&the->lnet.a, LIST_PAGE);

	the->list_kiov = (struct o2_kiov){LIST_PAGE, 0, 2 * O2_LST_DEST_BYTES};
	the->list = (struct o2_transfer_memory){.buffer = {.kind = O2_KIOV,
							   .count = 1,
							   .nob = 2 * O2_LST_DEST_BYTES,
							   .kiov = &the->list_kiov},
						.mode = O2_REG_GLOBAL};
	for (uint32_t i = 0; i < 2; i++)
		o2_lst_dest_store(&dest, O2_LITTLE_ENDIAN, bytes + (size_t)i * O2_LST_DEST_BYTES);
}

/* Offer one destination where two are announced; false if it cannot be.  No changed bit makes a server half of this. */
static bool offer_one(struct o2_lst_case *the, struct o2_lst_test_reqst *test)
{
	struct o2_lnet_entry entry = {
		.portal = O2_LST_PORTAL_RDMA,
		.match_bits = ONE_NUMBER,
		O2_LNET_FOR_ANYBODY,
		.options = O2_LNET_MD_OP_GET | O2_LNET_MD_TRUNCATE,
		.memory = the->list,
	};

	entry.memory.buffer.nob = O2_LST_DEST_BYTES;
	if (!the->offers_one && o2_lnet_attach(the->lnet.a.lnet, &entry, NULL) < 0)
		return false;
	the->offers_one = true;
	test->tsr_is_client = UINT8_MAX;
	test->tsr_bulkid = ONE_NUMBER;
	return true;
}

void o2_lst_start_request(struct o2_lst_case *the)
{
	struct o2_lst_msg msg = draw_request(the);
	struct o2_lst_test_reqst *test = &msg.u.test_reqst;
	struct o2_lst_call call = {
		.nid = O2_LNET_NID_B, .request = &msg, .done = ignore_answer, .context = the};

	lay_list(the);
	if (msg.msg_type == O2_LST_TEST_REQST && test->tsr_is_client != 0 && test->tsr_ndest == 2 &&
	    o2_draw_bool(the->choice, 9, 1) && offer_one(the, test))
		call.done = expect_no_success;
	else if (msg.msg_type == O2_LST_TEST_REQST && !o2_draw_bool(the->choice, 9, 1)) {
		call.bulk = &the->list;
		call.bulk_is_source = true;
	}
	/* If the maximum number of calls is in flight, this one is not started. */
	(void)o2_lst_call_start(the->a.node->rpc, &call, NULL, NULL);
}
