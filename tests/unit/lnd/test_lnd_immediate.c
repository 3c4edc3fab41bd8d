/* SPDX-License-Identifier: MIT */
#include "tests/lib/lnd_memory.h"
#include "tests/lib/lnd_pair.h"

#include "lnd/conn/transfer.h"
#include "wire/nid.h"

/* IMMEDIATE: the payload arrives in one message, copied or gathered (docs/transport.md, "IMMEDIATE"). */

/* The last IMMEDIATE; its payload is only valid during the call. */
static struct {
	uint32_t count;
	int rc;
	struct o2_lnet_hdr hdr;
	enum o2_cksum_flavour cksum_flavour;
	uint8_t payload[O2_IMMEDIATE_MAX];
} received;

static int receive(void *context, const struct o2_msg *msg)
{
	received.count++;
	received.hdr = msg->u.immediate.hdr;
	received.cksum_flavour = msg->cksum_flavour;
	if (received.hdr.payload_length > 0)
		memcpy(received.payload, msg->u.immediate.payload, received.hdr.payload_length);
	return received.rc;
}

static struct pair *open_two(const struct o2_conn_config *a, const struct o2_conn_config *b)
{
	struct pair *pair = pair_open(a, b);

	memset(&received, 0, sizeof(received));
	pair->a.conn->ops.receive = receive;
	pair->b.conn->ops.receive = receive;
	return pair;
}

static struct pair *open_pair(const struct o2_conn_config *config)
{
	return open_two(config, config);
}

/* Copies the bytes that a buffer of `side` holds. */
static void expected(const struct side *side, const struct o2_buffer *buffer, uint8_t *bytes)
{
	static uint64_t where[O2_IMMEDIATE_MAX];

	side_locate(side, buffer, where);
	for (uint64_t i = 0; i < buffer->nob; i++)
		bytes[i] = side->ni.arena.memory[where[i]];
}

#define ANY_BOUND UINT32_MAX

/* bound: registrations of the payload while it is sent; one that is copied has none. */
static void send_one(struct pair *pair, const struct o2_transfer_memory *memory, uint32_t bound)
{
	struct o2_lnet_hdr hdr = o2_conn_lnet_hdr(pair->a.conn, O2_LNET_PUT, 0x77, 0);
	uint32_t before = received.count, results = pair->a.nresults;
	uint8_t bytes[O2_IMMEDIATE_MAX];
	const struct o2_transfer_result *result = &pair->a.result[results % PAIR_RESULTS];
	uint64_t nob = memory == NULL ? 0 : memory->buffer.nob;
	uint64_t cookie;

	side_fill(&pair->a, results + 1);
	if (nob > 0)
		expected(&pair->a, &memory->buffer, bytes);
	assert_int_equal(o2_conn_send(pair->a.conn, &hdr, memory, &cookie, NULL), 0);
	if (bound != ANY_BOUND)
		assert_int_equal(pair->a.ni.domain.nbound, bound);
	pair_run(pair, results + 1, 0);
	side_run_until(&pair->b, &received.count, before + 1);
	assert_int_equal(pair->a.nresults, results + 1);
	assert_int_equal(result->op, O2_OP_SEND);
	assert_int_equal(result->status, 0);
	assert_int_equal(result->nob, nob);
	assert_true(result->cookie == cookie);
	assert_true(result->initiator);
	assert_int_equal(received.count, before + 1);
	assert_int_equal(received.hdr.payload_length, nob);
	assert_int_equal(received.hdr.msg.put.match_bits, 0x77);
	assert_memory_equal(received.payload, bytes, nob);
	assert_int_equal(pair->a.ni.domain.nbound, 0);
	assert_true(o2_ledger_balanced(&pair->a.ni.ledger));
}

TEST(carries_payloads)
{
	static const uint64_t sizes[] = {1, 2, 4095 - 120, O2_IMMEDIATE_MAX};
	static const enum o2_cksum_flavour flavours[] = {O2_CKSUM_NONE, O2_CKSUM_UNSIGNED, O2_CKSUM_SIGNED};

	for (int gather = 0; gather < 2; gather++)
		for (int flavour = 0; flavour < 3; flavour++)
			for (int mode = 0; mode < O2_REG_MODES; mode++) {
				struct o2_conn_config config = O2_CONN_DEFAULTS;
				struct pair *pair;

				config.immediate_gather = gather;
				config.cksum_flavour = flavours[flavour];
				config.order = (enum o2_byte_order)(mode % 2);
				pair = open_pair(&config);
				send_one(pair, NULL, 0);
				for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
					struct o2_transfer_memory memory =
						dense(kiov_from, 20, sizes[i], (enum o2_reg_mode)mode);

					memory.buffer = dense_kiov(kiov_from, 20, 4000, sizes[i]);
					memory.iova = 0x10000;
					send_one(pair, &memory, gather ? ANY_BOUND : 0);
					assert_int_equal(received.cksum_flavour, flavours[flavour]);
				}
				pair_close(pair);
			}
}

/* More pieces than a request can gather, and pieces that a mode cannot register, are copied. */
TEST(copies_what_it_cannot_gather)
{
	struct o2_conn_config config = O2_CONN_DEFAULTS;
	struct pair *pair;

	config.immediate_gather = true;
	config.cksum_flavour = O2_CKSUM_UNSIGNED;
	pair = open_pair(&config);
	for (uint32_t pieces = 1; pieces < 20; pieces++) {
		struct o2_transfer_memory memory = gapped(kiov_from, 0, pieces, 190, O2_REG_GLOBAL);

		send_one(pair, &memory, pieces <= 4);
		memory.mode = O2_REG_FASTREG;
		send_one(pair, &memory, pieces == 1);
	}
	pair_close(pair);
}

/* To demand checksums of the peer says nothing of one's own messages. */
TEST(demands_what_it_does_not_do)
{
	struct o2_conn_config demands = O2_CONN_DEFAULTS, sums = O2_CONN_DEFAULTS;
	struct pair *pair;

	demands.wire.require_checksum = true;
	sums.cksum_flavour = O2_CKSUM_UNSIGNED;
	pair = open_two(&demands, &sums);
	for (uint32_t i = 0; i < 20; i++)
		send_one(pair, NULL, 0);
	assert_int_equal(received.cksum_flavour, O2_CKSUM_NONE);
	pair_close(pair);
}

TEST(sends_plain_bytes)
{
	struct pair *pair = open_pair(&O2_CONN_DEFAULTS);
	struct o2_lnet_hdr hdr = o2_conn_lnet_hdr(pair->a.conn, O2_LNET_REPLY, 0, 0);
	uint8_t bytes[O2_IMMEDIATE_MAX + 1];
	struct o2_error error;

	memset(bytes, 0x5a, sizeof(bytes));
	/* More messages than credits: some wait, and their payload was copied. */
	for (uint32_t i = 0; i < 20; i++) {
		bytes[0] = (uint8_t)i;
		assert_int_equal(o2_conn_send_bytes(pair->a.conn, &hdr, bytes, 1 + 200 * i, i, NULL, NULL),
				 0);
	}
	memset(bytes, 0, sizeof(bytes));
	for (uint32_t i = 0; i < 20; i++) {
		uint32_t before = received.count;

		for (time_t end = pair_now() + PAIR_SECONDS; received.count == before;) {
			struct ibv_wc wc;

			assert_true(pair_now() <= end);
			o2_conn_progress(pair->a.conn);
			if (ibv_poll_cq(pair->b.conn->cq, 1, &wc) == 1)
				o2_conn_complete(pair->b.conn, &wc);
		}
		assert_int_equal(received.payload[0], i);
		assert_int_equal(received.hdr.payload_length, 1 + 200 * i);
	}
	pair_run(pair, 20, 0);
	for (uint32_t i = 0; i < 20; i++)
		assert_true(pair->a.result[i].tag == i);
	assert_int_equal(o2_conn_immediate_max(pair->a.conn), 3976);
	assert_int_equal(o2_conn_send_bytes(pair->a.conn, &hdr, bytes, 3977, 0, NULL, &error), -EMSGSIZE);
	assert_int_equal(error.limit, 3976);
	pair_close(pair);
}

/* Which LNet types may travel in which message. */
TEST(refuses_other_lnet_types)
{
	static const struct {
		enum o2_lnet_type type;
		bool send, send_payload, put, get;
	} rows[] = {
		{O2_LNET_ACK, true, false, false, false},    {O2_LNET_PUT, true, true, true, false},
		{O2_LNET_GET, true, false, false, true},     {O2_LNET_REPLY, true, true, true, false},
		{O2_LNET_HELLO, false, false, false, false},
	};
	struct o2_transfer_memory memory = dense(kiov_from, 0, 500, O2_REG_FMR);

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct pair *pair = open_pair(&O2_CONN_DEFAULTS);
		struct o2_conn *a = pair->a.conn;
		struct o2_lnet_hdr hdr = o2_conn_lnet_hdr(a, rows[i].type, 1, 500);
		struct o2_error error;
		uint32_t expect = 0;

		assert_int_equal(o2_conn_send(a, &hdr, NULL, NULL, NULL), rows[i].send ? 0 : -EINVAL);
		assert_int_equal(o2_conn_send(a, &hdr, &memory, NULL, NULL),
				 rows[i].send_payload ? 0 : -EINVAL);
		assert_int_equal(o2_conn_put(a, &hdr, &memory, NULL, NULL), rows[i].put ? 0 : -EINVAL);
		assert_int_equal(o2_conn_get(a, &hdr, &memory, NULL, &error), rows[i].get ? 0 : -EINVAL);
		/* The error has no limit, because the legal types are a set. */
		assert_true(rows[i].get || error.limit == O2_NO_LIMIT);
		expect += rows[i].send + rows[i].send_payload + rows[i].put + rows[i].get;
		pair->b.match_rc = -ENODATA;
		pair_run(pair, expect, 0);
		assert_int_equal(pair->a.nresults, expect);
		assert_int_equal(o2_conn_get_state(a), O2_CONN_ESTABLISHED);
		pair_close(pair);
	}
}

/* LNet refuses the header: the connection closes (docs/transport.md, "Receiving"). */
TEST(closes_for_a_bad_lnet_header)
{
	for (int kind = 0; kind < 3; kind++) {
		struct pair *pair = open_pair(&O2_CONN_DEFAULTS);
		struct o2_lnet_hdr hdr = o2_conn_lnet_hdr(pair->a.conn, O2_LNET_ACK, 1, 500);
		struct o2_transfer_memory memory = dense(kiov_from, 0, 500, O2_REG_FMR);

		received.rc = -EPROTO;
		pair->b.match_rc = -EPROTO;
		if (kind == 0)
			assert_int_equal(o2_conn_send(pair->a.conn, &hdr, NULL, NULL, NULL), 0);
		else if (kind == 1)
			assert_int_equal(start_put(pair->a.conn, &memory, 0, NULL, NULL), 0);
		else
			assert_int_equal(start_get(pair->a.conn, &memory, 0, NULL, NULL), 0);
		pair_run_until_closed(pair, pair->b.conn);
		assert_closed(&pair->b, O2_FAULT_PEER_MESSAGE, -EPROTO);
		assert_string_equal(o2_conn_get_fault(pair->b.conn)->error.rule, "conn/lnet-header");
		assert_int_equal(pair->b.nresults, 0);
		pair_close(pair);
	}
}

/* A peer with smaller limits gets shorter messages, and sinks of fewer fragments. */
TEST(honours_a_short_peer)
{
	struct o2_conn_config config = O2_CONN_DEFAULTS;
	struct side side;
	struct o2_conn_peer peer = {.nid = NID_B,
				    .incarnation = 5,
				    .version = O2_MSG_VERSION_2,
				    .queue_depth = 8,
				    .max_frags = 257,
				    .max_msg_bytes = 2048};
	struct o2_error error;

	side_open(&side, true, O2_DMA_BUS, 0);
	assert_int_equal(o2_conn_create(&side.ni, &config, side_ops(), &side, &side.conn, &error), 0);
	assert_int_equal(o2_conn_immediate_max(side.conn), 3976);
	assert_int_equal(o2_conn_set_peer(side.conn, &peer, &error), 0);
	assert_int_equal(o2_conn_immediate_max(side.conn), 2048 - 120);
	assert_int_equal(o2_sink_frags(side.conn), (2048 - 136) / 12);
	peer.max_msg_bytes = O2_MIN_MSG_BYTES;
	assert_int_equal(o2_conn_set_peer(side.conn, &peer, &error), 0);
	assert_int_equal(o2_sink_frags(side.conn), 1);
	peer.max_msg_bytes--;
	assert_error(o2_conn_set_peer(side.conn, &peer, &error), -EPROTO, &error, "conn/peer-max-msg");
	o2_conn_destroy(side.conn);
	o2_ni_close(&side.ni);
}
