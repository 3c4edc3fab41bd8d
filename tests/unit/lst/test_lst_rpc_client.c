/* SPDX-License-Identifier: MIT */

/*
 * The client of an RPC (docs/lst.md, "An RPC"): what it attaches and sends, and every order in which it can end.
 * Side A is the client; the test makes the server's messages itself.
 */

#include "tests/lib/lst_seat.h"

#define FIRST_ID   UINT64_C(0x842c000000000001)
#define RPC_PAGE   400u
#define BULK_PAGE  16u
#define BULK_BYTES 2048u
#define TIMEOUT_MS 64000u

struct client {
	struct o2_lnet_pair pair;
	struct o2_lst_rpc *rpc;
	uint32_t nanswers;
	struct o2_lst_answer answer; /* the last one */
	struct o2_lst_msg reply;
	char rule[64];
	uint64_t id;
};

static void note_answer(void *context, const struct o2_lst_answer *answer)
{
	struct client *client = context;

	client->nanswers++;
	client->answer = *answer;
	client->answer.reply = NULL;
	memset(&client->reply, 0, sizeof(client->reply));
	if (answer->reply != NULL)
		client->reply = *answer->reply;
	assert_int_equal(answer->reply != NULL, answer->status == 0);
	client->rule[0] = '\0';
	if (answer->error != NULL)
		strncpy(client->rule, answer->error->rule, sizeof(client->rule) - 1);
}

static struct client *open_client(void)
{
	static struct client client;
	struct o2_lst_rpc_config config = O2_LST_RPC_DEFAULTS;

	memset(&client, 0, sizeof(client));
	lnet_pair_open(&client.pair, NULL);
	config.first_page = RPC_PAGE;
	config.max_calls = 2;
	config.first_id = FIRST_ID;
	client.rpc = lst_rpc_open(&client.pair.a, &config);
	return &client;
}

static void close_client(struct client *client)
{
	assert_int_equal(o2_lst_rpc_active(client->rpc), 0);
	assert_int_equal(o2_lnet_messages(client->pair.a.lnet), 0);
	/* Only the two entries for pings are left. */
	for (uint32_t i = 2; i < 64; i++)
		assert_int_equal(o2_lnet_detach(client->pair.a.lnet, i), -ENOENT);
	lnet_pair_close(&client->pair);
	o2_lst_rpc_destroy(client->rpc);
}

#define CLIENT_TEST(name) TEST_ON(name, struct client, client, open_client(), close_client)

enum bulk { NONE, READ, WRITE };

static int try_start(struct client *client, enum bulk kind, struct o2_error *error)
{
	const struct o2_transfer_memory memory = lnet_side_memory(&client->pair.a, 0, BULK_PAGE, BULK_BYTES);
	const struct o2_lst_msg ping = {.msg_type = O2_LST_PING_REQST}, brw = {.msg_type = O2_LST_BRW_REQST};
	const struct o2_lst_call call = {
		.nid = NID_B,
		.request = kind == NONE ? &ping : &brw,
		.bulk = kind == NONE ? NULL : &memory,
		.bulk_is_source = kind == WRITE,
		.done = note_answer,
		.context = client,
		.tag = 4711,
	};

	return o2_lst_call_start(client->rpc, &call, &client->id, error);
}

static void start(struct client *client, enum bulk kind)
{
	client->nanswers = 0;
	memset(o2_lnet_side_bytes(&client->pair.a, BULK_PAGE), 0x11, BULK_BYTES);
	assert_int_equal(try_start(client, kind, NULL), 0);
}

/* Take the request off the wire, and report its send to LNet with this status; B does not receive it. */
static struct o2_letter sent(struct client *client, int status)
{
	struct o2_lnet_side *a = &client->pair.a;
	const struct o2_letter letter = a->letter[0];

	assert_true(a->nletters > 0);
	a->nletters--;
	memmove(a->letter, a->letter + 1, a->nletters * sizeof(letter));
	o2_lnet_finished(a->lnet, letter.tag, status, 0, NULL);
	return letter;
}

static struct o2_lnet_hdr put_from(uint64_t nid, uint32_t pid, uint64_t match_bits, uint32_t bytes)
{
	return (struct o2_lnet_hdr){
		.dest_nid = NID_A,
		.src_nid = nid,
		.dest_pid = O2_LNET_PID_KERNEL,
		.src_pid = pid,
		.type = O2_LNET_PUT,
		.payload_length = bytes,
		.msg.put = {.ack_wmd = {UINT64_MAX, UINT64_MAX},
			    .match_bits = match_bits,
			    .ptl_index = O2_LST_PORTAL_RDMA},
	};
}

static void put(struct client *client, uint64_t match_bits, const uint8_t *bytes, uint32_t length)
{
	const struct o2_lnet_hdr hdr = put_from(NID_B, O2_LNET_PID_KERNEL, match_bits, length);

	assert_int_equal(o2_lnet_receive(client->pair.a.lnet, NID_B, &hdr, bytes, NULL), 0);
}

static void reply(struct client *client, uint64_t rpyid, uint32_t type, uint32_t status)
{
	struct o2_lst_msg msg = {.order = O2_BIG_ENDIAN, .msg_version = O2_LST_MSG_VERSION, .msg_type = type};
	uint8_t bytes[O2_LST_MSG_BYTES];

	msg.u.reply.status = status;
	assert_int_equal(o2_lst_msg_encode(&msg, bytes, NULL), 0);
	put(client, rpyid, bytes, sizeof(bytes));
}

/* Move the bulk of a call, as the server would. */
static void move(struct client *client, enum bulk kind, uint64_t bulkid)
{
	static uint8_t bytes[BULK_BYTES];
	struct o2_lnet_side *a = &client->pair.a;
	struct o2_lnet_hdr hdr = put_from(NID_B, O2_LNET_PID_KERNEL, 0, 0);

	fill_bytes(bytes, sizeof(bytes), 3);
	if (kind == READ) {
		put(client, bulkid, bytes, sizeof(bytes));
		assert_memory_equal(o2_lnet_side_bytes(a, BULK_PAGE), bytes, sizeof(bytes));
		return;
	}
	memset(&hdr.msg, 0, sizeof(hdr.msg));
	hdr.type = O2_LNET_GET;
	hdr.msg.get.match_bits = bulkid;
	hdr.msg.get.ptl_index = O2_LST_PORTAL_RDMA;
	hdr.msg.get.sink_length = BULK_BYTES;
	assert_int_equal(o2_lnet_receive(a->lnet, NID_B, &hdr, NULL, NULL), 0);
	assert_int_equal(a->letter[a->nletters - 1].hdr.payload_length, BULK_BYTES);
	o2_lnet_finished(a->lnet, a->letter[--a->nletters].tag, 0, 0, NULL);
}

static void expect(struct client *client, int status, const char *rule)
{
	assert_int_equal(client->nanswers, 1);
	assert_int_equal(client->answer.call, client->id);
	assert_int_equal(client->answer.tag, 4711);
	assert_int_equal(client->answer.status, status);
	assert_string_equal(client->rule, rule);
	assert_int_equal(o2_lst_rpc_active(client->rpc), 0);
}

CLIENT_TEST(test_what_is_sent)
{
	static const struct {
		enum bulk kind;
		uint32_t service;
		uint64_t rpyid, bulkid;
	} rows[] = {{NONE, 12, FIRST_ID, 0}, {READ, 11, FIRST_ID + 1, FIRST_ID + 2}};

	for (size_t i = 0; i < 2; i++) {
		struct o2_lst_msg msg;
		struct o2_letter letter;

		start(client, rows[i].kind);
		letter = sent(client, 0);
		assert_int_equal(letter.kind, O2_LETTER_IMMEDIATE);
		assert_int_equal(letter.hdr.payload_length, 160);
		assert_int_equal(letter.hdr.dest_pid, 12345);
		assert_int_equal(letter.hdr.msg.put.ptl_index, 50);
		assert_int_equal(letter.hdr.msg.put.match_bits, rows[i].service);
		assert_true(letter.hdr.msg.put.ack_wmd.wh_object_cookie == UINT64_MAX);
		assert_int_equal(letter.hdr.msg.put.offset, 0);
		assert_int_equal(letter.hdr.msg.put.hdr_data, 0);
		assert_int_equal(o2_lst_msg_decode(letter.payload, 160, &msg, NULL), 0);
		assert_int_equal(msg.order, O2_LITTLE_ENDIAN);
		assert_true(msg.u.reqst.rpyid == rows[i].rpyid);
		assert_true(i == 0 || msg.u.reqst.bulkid == rows[i].bulkid);
		o2_lst_call_cancel(client->rpc, client->id);
		expect(client, -ECANCELED, "");
	}
	assert_int_equal(o2_lst_rpc_counters(client->rpc)->rpcs_sent, 2);
}

/* Completion of the send (s), reply (r) and bulk (b) in any order: the call ends with the last of them. */
CLIENT_TEST(test_every_order)
{
	static const char *const orders[] = {"srb", "sbr", "rsb", "rbs", "bsr", "brs"};
	uint64_t id = FIRST_ID;

	for (unsigned int i = 0; i < 12; i++, id += 2) {
		const enum bulk kind = i % 2 == 0 ? READ : WRITE;
		const char *order = orders[i / 2];

		start(client, kind);
		for (unsigned int k = 0; k < 3; k++) {
			assert_int_equal(client->nanswers, 0);
			if (order[k] == 's')
				sent(client, 0);
			else if (order[k] == 'r')
				reply(client, id, O2_LST_BRW_REPLY, 0);
			else
				move(client, kind, id + 1);
		}
		expect(client, 0, "");
		assert_int_equal(client->reply.msg_type, O2_LST_BRW_REPLY);
		assert_int_equal(client->reply.order, O2_BIG_ENDIAN);
		assert_true(client->answer.bulk_moved);
		assert_int_equal(client->answer.bulk_bytes, BULK_BYTES);
	}
}

/* An error status ends the wait for the bulk; a bulk that arrives later finds no entry. */
CLIENT_TEST(test_status_ends_the_wait_for_bulk)
{
	start(client, READ);
	sent(client, 0);
	reply(client, FIRST_ID, O2_LST_BRW_REPLY, 74);
	expect(client, 0, "");
	assert_int_equal(client->reply.u.reply.status, 74);
	assert_false(client->answer.bulk_moved);
	reply(client, FIRST_ID, O2_LST_BRW_REPLY, 0);
	lnet_expect_dropped(&client->pair.a, "lnet/match/none");
	put(client, FIRST_ID + 1, (const uint8_t *)"12345678", 8);
	lnet_expect_dropped(&client->pair.a, "lnet/match/none");
}

CLIENT_TEST(test_bad_replies)
{
	static const uint8_t nothing[O2_LST_MSG_BYTES] = {0};
	struct o2_lnet_hdr hdr;

	start(client, NONE);
	sent(client, 0);
	/* A reply from another node or process, or one that is too long, matches no entry. */
	hdr = put_from(NID_B + 1, O2_LNET_PID_KERNEL, FIRST_ID, 160);
	o2_lnet_receive(client->pair.a.lnet, NID_B + 1, &hdr, nothing, NULL);
	lnet_expect_dropped(&client->pair.a, "lnet/match/none");
	hdr = put_from(NID_B, 7, FIRST_ID, 160);
	o2_lnet_receive(client->pair.a.lnet, NID_B, &hdr, nothing, NULL);
	lnet_expect_dropped(&client->pair.a, "lnet/match/none");
	put(client, FIRST_ID, o2_lnet_side_bytes(&client->pair.b, 2), 161);
	lnet_expect_dropped(&client->pair.a, "lnet/match/too-long");
	assert_int_equal(client->nanswers, 0);
	put(client, FIRST_ID, nothing, 160);
	expect(client, -EBADMSG, "lst/magic");
	start(client, NONE);
	sent(client, 0);
	put(client, FIRST_ID + 1, nothing, 100);
	expect(client, -EBADMSG, "lst/length");
	start(client, NONE);
	sent(client, 0);
	reply(client, FIRST_ID + 2, O2_LST_BRW_REPLY, 0);
	expect(client, -EBADMSG, "lst/type-for-service");
}

/* The version of a reply is not checked. */
CLIENT_TEST(test_reply_of_another_version)
{
	const struct o2_lst_msg msg = {
		.order = O2_LITTLE_ENDIAN, .msg_version = 9, .msg_type = O2_LST_PING_REPLY};
	uint8_t bytes[O2_LST_MSG_BYTES];

	assert_int_equal(o2_lst_msg_encode(&msg, bytes, NULL), 0);
	start(client, NONE);
	sent(client, 0);
	put(client, FIRST_ID, bytes, sizeof(bytes));
	expect(client, 0, "");
}

CLIENT_TEST(test_timeout)
{
	start(client, WRITE);
	sent(client, 0);
	o2_lnet_side_clock(&client->pair.a, TIMEOUT_MS - 1);
	o2_lst_rpc_check_time(client->rpc);
	assert_int_equal(client->nanswers, 0);
	o2_lnet_side_clock(&client->pair.a, TIMEOUT_MS);
	o2_lst_rpc_check_time(client->rpc);
	expect(client, -ETIMEDOUT, "lst/rpc-timeout");
	assert_int_equal(o2_lst_rpc_counters(client->rpc)->rpcs_expired, 1);
	/* A call that has timed out waits until LNet has finished with its messages. */
	start(client, NONE);
	o2_lnet_side_clock(&client->pair.a, 2 * TIMEOUT_MS);
	o2_lst_rpc_check_time(client->rpc);
	assert_int_equal(client->nanswers, 0);
	sent(client, -ECONNABORTED);
	expect(client, -ETIMEDOUT, "lst/rpc-timeout");
	assert_int_equal(o2_lst_rpc_counters(client->rpc)->errors, 1);
	assert_int_equal(o2_lst_rpc_counters(client->rpc)->rpcs_sent, 1);
}

/* While a bulk is moved by RDMA, its memory is not released, however the call ends. */
CLIENT_TEST(test_bulk_in_use)
{
	const struct o2_lnet_hdr hdr = put_from(NID_B, O2_LNET_PID_KERNEL, FIRST_ID + 1, BULK_BYTES);
	struct o2_transfer_memory memory;
	uint64_t tag;

	start(client, READ);
	sent(client, 0);
	assert_int_equal(o2_lnet_match(client->pair.a.lnet, NID_B, &hdr, &memory, &tag, NULL), 0);
	assert_int_equal(o2_lst_call_cancel(client->rpc, client->id), 0);
	assert_int_equal(client->nanswers, 0);
	o2_lnet_finished(client->pair.a.lnet, tag, -ECONNABORTED, 0, NULL);
	expect(client, -ECANCELED, "");
	assert_int_equal(o2_lst_call_cancel(client->rpc, client->id), -ENOENT);
	/* A bulk that fails ends the call that waits for it. */
	start(client, READ);
	sent(client, 0);
	{
		const struct o2_lnet_hdr next = put_from(NID_B, O2_LNET_PID_KERNEL, FIRST_ID + 3, BULK_BYTES);

		assert_int_equal(o2_lnet_match(client->pair.a.lnet, NID_B, &next, &memory, &tag, NULL), 0);
	}
	reply(client, FIRST_ID + 2, O2_LST_BRW_REPLY, 0);
	assert_int_equal(client->nanswers, 0);
	o2_lnet_finished(client->pair.a.lnet, tag, -EIO, 0, NULL);
	expect(client, -EIO, "");
}

CLIENT_TEST(test_send_fails)
{
	start(client, READ);
	sent(client, -EHOSTUNREACH);
	expect(client, -EHOSTUNREACH, "");
	/* If LNet refuses the request, no call is started. */
	client->pair.a.refuse = -ENETDOWN;
	assert_int_equal(try_start(client, READ, NULL), -ENETDOWN);
	client->pair.a.refuse = 0;
	assert_int_equal(client->nanswers, 1);
	assert_int_equal(o2_lst_rpc_active(client->rpc), 0);
}

/* When a node is down, the calls to it end, and no others. */
CLIENT_TEST(test_peer_down)
{
	start(client, READ);
	sent(client, 0);
	o2_lst_rpc_peer_down(client->rpc, NID_B + 1, -ECONNRESET);
	assert_int_equal(client->nanswers, 0);
	o2_lst_rpc_peer_down(client->rpc, NID_B, -ECONNRESET);
	expect(client, -ECONNRESET, "");
}

CLIENT_TEST(test_limits_and_stop)
{
	struct o2_error error;

	start(client, READ);
	start(client, NONE);
	assert_error(try_start(client, NONE, &error), -ENOSPC, &error, "lst/calls");
	assert_true(error.value == 3 && error.limit == 2);
	o2_lst_rpc_stop(client->rpc, -ESHUTDOWN);
	assert_int_equal(client->nanswers, 0);
	assert_error(try_start(client, NONE, &error), -ESHUTDOWN, &error, "lst/stopped");
	sent(client, 0);
	sent(client, 0);
	assert_int_equal(client->nanswers, 2);
	assert_int_equal(client->answer.status, -ESHUTDOWN);
}

CLIENT_TEST(test_what_a_caller_may_not_ask)
{
	const struct o2_transfer_memory memory = lnet_side_memory(&client->pair.a, 0, BULK_PAGE, 8);
	struct o2_lst_msg msg = {.msg_type = O2_LST_PING_REPLY};
	struct o2_lst_call call = {.nid = NID_B, .request = &msg, .done = note_answer, .context = client};
	struct o2_error error;

	assert_error(o2_lst_call_start(client->rpc, &call, NULL, &error), -EINVAL, &error,
		     "lst/request-type");
	msg.msg_type = O2_LST_TYPE_COUNT;
	assert_error(o2_lst_call_start(client->rpc, &call, NULL, &error), -EINVAL, &error,
		     "lst/request-type");
	msg.msg_type = O2_LST_MKSN_REQST;
	call.bulk = &memory;
	assert_error(o2_lst_call_start(client->rpc, &call, NULL, &error), -EINVAL, &error, "lst/no-bulk");
	call.bulk = NULL;
	memset(msg.u.mksn_reqst.mksn_name.text, 'x', O2_LST_NAME_BYTES);
	assert_error(o2_lst_call_start(client->rpc, &call, NULL, &error), -EINVAL, &error, "lst/encode/name");
	assert_int_equal(o2_lst_rpc_active(client->rpc), 0);
}
