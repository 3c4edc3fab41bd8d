/* SPDX-License-Identifier: MIT */
#include "tests/lib/lst_pair.h"

#include "lst/wire/msg.h"

#define NODE_PAGE 300u

struct o2_lst_node_config lst_pair_config(void)
{
	struct o2_lst_node_config config = O2_LST_NODE_DEFAULTS;

	config.first_page = NODE_PAGE;
	config.server_pages = 258;
	config.client_pages = 258;
	config.max_calls = 8;
	config.max_served = 16;
	config.max_sessions = 3;
	config.max_batches = 4;
	config.max_tests = 4;
	config.max_units = 16;
	config.mode = O2_REG_GLOBAL;
	return config;
}

static bool listen_done(void *listener, const struct o2_lnet_result *result)
{
	const struct lst_side *side = listener;

	return o2_lst_node_done(side->node, result);
}

static bool listen_event(void *listener, const struct o2_lnet_event *event)
{
	const struct lst_side *side = listener;

	return o2_lst_node_event(side->node, event);
}

static void note_wrong(void *context, const struct o2_lst_node_wrong *wrong)
{
	struct lst_side *side = context;

	side->nwrong++;
	side->wrong = *wrong;
}

static void open_side(struct lst_side *side, struct lnet_side *lnet, const struct o2_lst_node_config *config)
{
	const struct o2_lst_node_ops ops = {.wrong = note_wrong};

	side->lnet = lnet;
	assert_int_equal(o2_lst_node_create(config, lnet->lnet, &lnet->arena, &lnet->clock, &ops, side,
					    &side->node, NULL),
			 0);
	lnet->listener = side;
	lnet->listen_done = listen_done;
	lnet->listen_event = listen_event;
}

void lst_pair_open(struct lst_pair *pair, const struct o2_lst_node_config *b)
{
	struct o2_lst_node_config config = lst_pair_config();

	memset(pair, 0, sizeof(*pair));
	lnet_pair_open(&pair->lnet, NULL);
	open_side(&pair->a, &pair->lnet.a, &config);
	open_side(&pair->b, &pair->lnet.b, b != NULL ? b : &config);
	lst_pair_clock(pair, 0);
}

void lst_pair_close(struct lst_pair *pair)
{
	o2_lst_node_stop(pair->a.node, -ESHUTDOWN);
	o2_lst_node_stop(pair->b.node, -ESHUTDOWN);
	lnet_deliver_all(&pair->lnet);
	assert_int_equal(o2_lst_node_active(pair->a.node), 0);
	assert_int_equal(o2_lst_node_active(pair->b.node), 0);
	assert_int_equal(o2_lnet_messages(pair->lnet.a.lnet), 0);
	assert_int_equal(o2_lnet_messages(pair->lnet.b.lnet), 0);
	lnet_pair_close(&pair->lnet);
	o2_lst_node_destroy(pair->a.node);
	o2_lst_node_destroy(pair->b.node);
}

void lst_pair_clock(struct lst_pair *pair, uint64_t now_ms)
{
	lnet_side_clock(&pair->lnet.a, now_ms);
	lnet_side_clock(&pair->lnet.b, now_ms);
	o2_lst_node_check_time(pair->a.node);
	o2_lst_node_check_time(pair->b.node);
}

static void note_answer(void *context, const struct o2_lst_answer *answer)
{
	struct lst_pair *pair = context;

	pair->nanswers++;
	pair->status = answer->status;
	memset(&pair->reply, 0, sizeof(pair->reply));
	if (answer->reply != NULL)
		pair->reply = *answer->reply;
}

uint64_t lst_pair_start(struct lst_pair *pair, const struct o2_lst_msg *request, uint32_t bulk_bytes,
			bool is_source)
{
	struct o2_transfer_memory *memory = &pair->memory[pair->next_memory % 4];
	const struct o2_lst_call call = {
		.nid = NID_B,
		.request = request,
		.bulk = bulk_bytes > 0 ? memory : NULL,
		.bulk_is_source = is_source,
		.done = note_answer,
		.context = pair,
	};
	uint64_t id = 0;

	if (bulk_bytes > 0)
		*memory = lnet_side_memory(&pair->lnet.a, pair->next_memory++ % 4, LST_SIDE_BULK, bulk_bytes);
	pair->nanswers = 0;
	assert_int_equal(o2_lst_call_start(pair->a.node->rpc, &call, &id, NULL), 0);
	return id;
}

int lst_pair_ask_bulk(struct lst_pair *pair, const struct o2_lst_msg *request, uint32_t bulk_bytes,
		      bool is_source)
{
	lst_pair_start(pair, request, bulk_bytes, is_source);
	lnet_deliver_all(&pair->lnet);
	if (pair->nanswers == 0)
		return -1;
	return pair->status != 0 ? pair->status : (int)pair->reply.u.reply.status;
}

int lst_pair_ask(struct lst_pair *pair, const struct o2_lst_msg *request)
{
	return lst_pair_ask_bulk(pair, request, 0, false);
}

/* --- requests --- */

struct o2_lst_sid lst_sid(uint64_t stamp)
{
	return (struct o2_lst_sid){NID_A, stamp};
}

static struct o2_lst_msg request(uint32_t type)
{
	return (struct o2_lst_msg){.msg_type = type, .msg_ses_feats = O2_LST_FEAT_BULK_LEN};
}

struct o2_lst_msg lst_mksn(struct o2_lst_sid sid, uint32_t force, const char *name)
{
	struct o2_lst_msg msg = request(O2_LST_MKSN_REQST);

	msg.u.mksn_reqst.mksn_sid = sid;
	msg.u.mksn_reqst.mksn_force = force;
	strncpy(msg.u.mksn_reqst.mksn_name.text, name, O2_LST_NAME_BYTES - 1);
	return msg;
}

struct o2_lst_msg lst_rmsn(struct o2_lst_sid sid)
{
	struct o2_lst_msg msg = request(O2_LST_RMSN_REQST);

	msg.u.rmsn_reqst.rmsn_sid = sid;
	return msg;
}

struct o2_lst_msg lst_debug(void)
{
	return request(O2_LST_DEBUG_REQST);
}

struct o2_lst_msg lst_stat(struct o2_lst_sid sid)
{
	struct o2_lst_msg msg = request(O2_LST_STAT_REQST);

	msg.u.stat_reqst.str_sid = sid;
	return msg;
}

struct o2_lst_msg lst_batch(struct o2_lst_sid sid, uint64_t batch, uint32_t opc, uint32_t index, uint32_t arg)
{
	struct o2_lst_msg msg = request(O2_LST_BATCH_REQST);

	msg.u.batch_reqst.bar_sid = sid;
	msg.u.batch_reqst.bar_bid = batch;
	msg.u.batch_reqst.bar_opc = opc;
	msg.u.batch_reqst.bar_testidx = index;
	msg.u.batch_reqst.bar_arg = arg;
	return msg;
}

struct o2_lst_msg lst_test(struct o2_lst_sid sid, bool is_client, uint32_t ndest)
{
	struct o2_lst_msg msg = request(O2_LST_TEST_REQST);

	msg.u.test_reqst.tsr_sid = sid;
	msg.u.test_reqst.tsr_bid = 1;
	msg.u.test_reqst.tsr_service = O2_LST_SERVICE_PING;
	msg.u.test_reqst.tsr_loop = 3;
	msg.u.test_reqst.tsr_concur = 1;
	msg.u.test_reqst.tsr_is_client = is_client;
	msg.u.test_reqst.tsr_stop_onerr = 1;
	msg.u.test_reqst.tsr_ndest = ndest;
	return msg;
}

struct o2_lst_msg lst_brw(enum o2_lst_brw_rw rw, enum o2_lst_brw_check check, uint32_t len)
{
	struct o2_lst_msg msg = request(O2_LST_BRW_REQST);

	msg.u.brw_reqst.brw_rw = rw;
	msg.u.brw_reqst.brw_flags = check;
	msg.u.brw_reqst.brw_len = len;
	return msg;
}

int lst_pair_add_client(struct lst_pair *pair, const struct o2_lst_msg *test, uint64_t nid)
{
	const struct o2_lst_dest dest = {nid, O2_LNET_PID_KERNEL};
	const uint32_t ndest = test->u.test_reqst.tsr_ndest;
	uint8_t *bytes = lnet_side_bytes(&pair->lnet.a, LST_SIDE_BULK);

	for (uint32_t i = 0; i < ndest; i++)
		o2_lst_dest_store(&dest, O2_LITTLE_ENDIAN, bytes + (size_t)i * O2_LST_DEST_BYTES);
	return lst_pair_ask_bulk(pair, test, ndest * O2_LST_DEST_BYTES, true);
}
