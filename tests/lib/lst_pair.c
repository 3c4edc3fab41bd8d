/* SPDX-License-Identifier: MIT */
#include "tests/lib/lst_pair.h"

void lst_pair_open(struct lst_pair *pair, const struct o2_lst_node_config *b)
{
	const struct o2_lst_node_config config = o2_lst_side_config();

	memset(pair, 0, sizeof(*pair));
	lnet_pair_open(&pair->lnet, NULL);
	assert_int_equal(o2_lst_side_open(&pair->a, &pair->lnet.a, &config), 0);
	assert_int_equal(o2_lst_side_open(&pair->b, &pair->lnet.b, b != NULL ? b : &config), 0);
	lst_pair_clock(pair, 0);
}

void lst_pair_close(struct lst_pair *pair)
{
	o2_lst_node_stop(pair->a.node, -ESHUTDOWN);
	o2_lst_node_stop(pair->b.node, -ESHUTDOWN);
	o2_lnet_deliver_all(&pair->lnet);
	assert_int_equal(o2_lst_node_active(pair->a.node), 0);
	assert_int_equal(o2_lst_node_active(pair->b.node), 0);
	assert_int_equal(o2_lnet_messages(pair->lnet.a.lnet), 0);
	assert_int_equal(o2_lnet_messages(pair->lnet.b.lnet), 0);
	lnet_pair_close(&pair->lnet);
	o2_lst_node_destroy(pair->a.node);
	o2_lst_node_destroy(pair->b.node);
}

struct lst_pair *lst_pair_default(void)
{
	static struct lst_pair pair;

	lst_pair_open(&pair, NULL);
	return &pair;
}

void lst_pair_clock(struct lst_pair *pair, uint64_t now_ms)
{
	o2_lnet_side_clock(&pair->lnet.a, now_ms);
	o2_lnet_side_clock(&pair->lnet.b, now_ms);
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
	o2_lnet_deliver_all(&pair->lnet);
	if (pair->nanswers == 0)
		return -1;
	return pair->status != 0 ? pair->status : (int)pair->reply.u.reply.status;
}

int lst_pair_ask(struct lst_pair *pair, const struct o2_lst_msg *request)
{
	return lst_pair_ask_bulk(pair, request, 0, false);
}

int lst_pair_add_client(struct lst_pair *pair, const struct o2_lst_msg *test, uint64_t nid)
{
	const struct o2_lst_dest dest = {nid, O2_LNET_PID_KERNEL};
	const uint32_t ndest = test->u.test_reqst.tsr_ndest;
	uint8_t *bytes = o2_lnet_side_bytes(&pair->lnet.a, LST_SIDE_BULK);

	for (uint32_t i = 0; i < ndest; i++)
		o2_lst_dest_store(&dest, O2_LITTLE_ENDIAN, bytes + (size_t)i * O2_LST_DEST_BYTES);
	return lst_pair_ask_bulk(pair, test, ndest * O2_LST_DEST_BYTES, true);
}
