/* SPDX-License-Identifier: MIT */
#include <inttypes.h>

#include "tests/lib/lnd_memory.h"
#include "tests/lib/lnd_pair.h"

/* Limits of a connection and their agreement, value by value (docs/transport.md, "Setting up",
 * "Tunables"). */

#define SOURCE_FRAGS 251u
#define SOURCE_PIECE 64u
#define SINK_FRAGS   4u
#define SINK_PIECE   4016u

static void pair_disconnect(struct pair *pair)
{
	o2_conn_destroy(pair->a.conn);
	o2_conn_destroy(pair->b.conn);
	pair->a.conn = pair->b.conn = NULL;
	pair->a.nresults = pair->b.nresults = 0;
}

/* Counts the work requests byte by byte: wrq_sge source pieces each, all in one fragment of the sink. */
static uint32_t count_requests(uint32_t from_piece, uint32_t to_piece, uint32_t nob, uint32_t wrq_sge)
{
	uint32_t requests = 0, gathered = 0;

	for (uint32_t k = 0; k < nob; k++) {
		bool starts = k % from_piece == 0 || k % to_piece == 0;

		if (k % to_piece == 0)
			gathered = 0;
		if (!starts)
			continue;
		if (gathered == 0)
			requests++;
		gathered = (gathered + 1) % wrq_sge;
	}
	return requests;
}

static void assert_moved(const struct side *source, const struct o2_buffer *from, const struct side *sink,
			 const struct o2_buffer *to, uint64_t nob)
{
	static uint64_t where_from[O2_MAX_TRANSFER_BYTES], where_to[O2_MAX_TRANSFER_BYTES];

	side_locate(source, from, where_from);
	side_locate(sink, to, where_to);
	for (uint64_t k = 0; k < to->nob; k++) {
		uint8_t want = k < nob ? source->ni.arena.memory[where_from[k]] : 0xee;

		assert_int_equal(sink->ni.arena.memory[where_to[k]], want);
	}
}

/* Runs one PUT or GET by a, of the whole source; it must take this number of work requests. */
static void move(struct pair *pair, enum o2_transfer_op op, const struct o2_transfer_memory *from,
		 const struct o2_transfer_memory *to, uint32_t requests)
{
	struct side *source = op == O2_OP_PUT ? &pair->a : &pair->b;
	struct side *sink = op == O2_OP_PUT ? &pair->b : &pair->a;
	uint64_t nob = from->buffer.nob < to->buffer.nob ? from->buffer.nob : to->buffer.nob;
	uint32_t n = pair->a.nresults;

	memset(sink->ni.arena.memory, 0xee, (size_t)PAIR_PAGES * sink->ni.arena.page_bytes);
	pair->b.answer = op == O2_OP_PUT ? *to : *from;
	start_op(pair->a.conn, op, op == O2_OP_PUT ? from : to, NULL);
	pair_run(pair, n + 1, n + 1);
	assert_int_equal(source->result[n % PAIR_RESULTS].status, 0);
	assert_int_equal(sink->result[n % PAIR_RESULTS].status, 0);
	assert_int_equal(sink->result[n % PAIR_RESULTS].nob, nob);
	assert_int_equal(source->result[n % PAIR_RESULTS].nwr, requests);
	assert_moved(source, &from->buffer, sink, &to->buffer, nob);
}

static uint32_t device_sge(const struct side *side)
{
	struct ibv_device_attr attr;

	assert_int_equal(ibv_query_device(side->ni.context, &attr), 0);
	return (uint32_t)attr.max_sge < O2_MAX_WRQ_SGE ? (uint32_t)attr.max_sge : O2_MAX_WRQ_SGE;
}

/* Every number of gather entries that the device supports, on queue pairs made for that many. */
TEST(gathers_any_number)
{
	struct o2_transfer_memory from = gapped(kiov_from, 0, SOURCE_FRAGS, SOURCE_PIECE, O2_REG_GLOBAL);
	struct o2_transfer_memory to = gapped(kiov_to, 300, SINK_FRAGS, SINK_PIECE, O2_REG_GLOBAL);
	struct o2_conn_config config = O2_CONN_DEFAULTS;
	uint32_t most = 1, nob = SOURCE_FRAGS * SOURCE_PIECE;
	struct pair *pair = pair_default();
	struct o2_conn *conn;
	struct o2_error error;

	assert_int_equal(nob, SINK_FRAGS * SINK_PIECE);
	most = device_sge(&pair->a) < device_sge(&pair->b) ? device_sge(&pair->a) : device_sge(&pair->b);
	side_fill(&pair->a, 1);
	pair_disconnect(pair);
	for (config.wrq_sge = 1; config.wrq_sge <= most; config.wrq_sge++) {
		uint32_t all = count_requests(SOURCE_PIECE, SINK_PIECE, nob, config.wrq_sge);
		uint32_t some = count_requests(SOURCE_PIECE, SINK_PIECE, nob - SOURCE_PIECE, config.wrq_sge);
		struct o2_transfer_memory less = from;

		/* A GET whose source is shorter ends inside the sink's last fragment. */
		less.buffer.nob -= SOURCE_PIECE;
		pair_connect(pair, &config, &config);
		side_fill(&pair->a, config.wrq_sge);
		move(pair, O2_OP_PUT, &from, &to, all);
		side_fill(&pair->b, config.wrq_sge);
		move(pair, O2_OP_GET, &less, &to, some);
		pair_disconnect(pair);
	}
	print_message("1 to %" PRIu32 " gather entries\n", most);
	assert_int_equal(o2_conn_create(&pair->a.ni, &config, side_ops(), &pair->a, &conn, &error), -EINVAL);
	pair_connect(pair, &O2_CONN_DEFAULTS, &O2_CONN_DEFAULTS);
	pair_close(pair);
}

/* An instance has one fragment limit: its own codec accepts every descriptor that it makes. */
TEST(has_one_fragment_limit)
{
	static const uint32_t most[] = {O2_MAX_FRAGS_LEGACY, O2_MAX_FRAGS};
	struct pair *pair = pair_default();

	pair_disconnect(pair);
	for (size_t i = 0; i < sizeof(most) / sizeof(most[0]); i++) {
		struct o2_conn_config config = O2_CONN_DEFAULTS;
		struct o2_error error;
		struct o2_conn *conn;

		config.wire.max_frags = most[i];
		config.max_frags = most[i] + 1;
		assert_error(o2_conn_create(&pair->a.ni, &config, side_ops(), &pair->a, &conn, &error),
			     -EINVAL, &error, "conn/max-frags");
		assert_int_equal(error.limit, most[i]);
		config.max_frags = most[i];
		pair_connect(pair, &config, &config);
		pair_disconnect(pair);
	}
	pair_connect(pair, &O2_CONN_DEFAULTS, &O2_CONN_DEFAULTS);
	pair_close(pair);
}

/* With each agreed number of fragments: that many can be described and written, one more cannot. */
TEST(agrees_upon_any_fragments)
{
	struct o2_conn_config config = O2_CONN_DEFAULTS;
	struct pair *pair;

	config.wrq_sge = 1;
	pair = pair_open(&config, &config);
	for (uint32_t n = 1; n <= O2_MAX_FRAGS; n++) {
		struct o2_transfer_memory from = gapped(kiov_from, 0, n, 48, O2_REG_GLOBAL);
		struct o2_transfer_memory to = gapped(kiov_to, 300, n, 48, O2_REG_GLOBAL);
		struct o2_transfer_memory more = gapped(kiov_to, 300, n + 1, 48, O2_REG_GLOBAL);
		struct o2_error error;

		config.max_frags = n;
		assert_int_equal(o2_conn_set_limits(pair->a.conn, &config, NULL), 0);
		assert_int_equal(o2_conn_set_limits(pair->b.conn, &config, NULL), 0);
		side_fill(n % 2 ? &pair->a : &pair->b, n);
		move(pair, n % 2 ? O2_OP_PUT : O2_OP_GET, &from, &to, n);
		assert_int_equal(start_get(pair->a.conn, &more, 0, NULL, &error),
				 n < O2_MAX_FRAGS ? -EFBIG : -EFAULT);
	}
	pair_close(pair);
}

/* Parameters that a connection cannot use are refused before it comes up. */
TEST(refuses_a_peer)
{
	static const struct o2_conn_peer good = {.nid = NID_B,
						 .incarnation = 7,
						 .version = O2_MSG_VERSION_2,
						 .queue_depth = 8,
						 .max_frags = 100,
						 .max_msg_bytes = 4096};
	static const struct {
		uint16_t version;
		uint32_t queue_depth, max_frags, max_msg_bytes;
		const char *rule; /* NULL: accepted */
	} rows[] = {
		{O2_MSG_VERSION_1, 8, 100, 4096, "conn/peer-version"},
		{0x13, 8, 100, 4096, "conn/peer-version"},
		{O2_MSG_VERSION_2, 1, 100, 4096, "conn/peer-queue-depth"},
		{O2_MSG_VERSION_2, 9, 100, 4096, "conn/peer-queue-depth"},
		{O2_MSG_VERSION_2, 8, 0, 4096, "conn/peer-max-frags"},
		{O2_MSG_VERSION_2, 8, 101, 4096, "conn/peer-max-frags"},
		{O2_MSG_VERSION_2, 8, 100, 147, "conn/peer-max-msg"},
		{O2_MSG_VERSION_2, 8, 100, 4097, "conn/peer-max-msg"},
		{O2_MSG_VERSION_2, 8, 100, 4096, NULL},
		{O2_MSG_VERSION_2, 2, 1, 148, NULL},
		/* The limits are those at creation, whatever was set since. */
		{O2_MSG_VERSION_2, 8, 100, 4096, NULL},
		{O2_MSG_VERSION_2, 8, 101, 4096, "conn/peer-max-frags"},
	};
	struct o2_conn_config config = O2_CONN_DEFAULTS;
	struct o2_conn *conn;
	struct o2_error error;
	struct side side;

	config.max_frags = 100;
	side_open(&side, true, O2_DMA_BUS, 0);
	assert_int_equal(o2_conn_create(&side.ni, &config, side_ops(), &side, &conn, &error), 0);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct o2_conn_peer peer = good;
		int rc;

		peer.version = rows[i].version;
		peer.queue_depth = rows[i].queue_depth;
		peer.max_frags = rows[i].max_frags;
		peer.max_msg_bytes = rows[i].max_msg_bytes;
		rc = o2_conn_set_peer(conn, &peer, &error);
		assert_int_equal(rc, rows[i].rule == NULL ? 0 : -EPROTO);
		if (rows[i].rule != NULL)
			assert_string_equal(error.rule, rows[i].rule);
	}
	o2_conn_close(conn, 0);
	assert_int_equal(o2_conn_set_peer(conn, &good, &error), -EISCONN);
	o2_conn_destroy(conn);
	o2_ni_close(&side.ni);
}

#ifndef O2_TEST_REAL_VERBS
/* A device has room for 63 transfers of 257 fragments: depth and messages in flight are limited to match. */
TEST(fits_the_device)
{
	static const struct {
		uint32_t queue_depth, peer_tx_credits, concurrent_sends;
		uint32_t depth, sends, high_water;
	} rows[] = {
		{8, 0, 0, 8, 8, 4},	    {63, 0, 0, 63, 63, 31},    {64, 0, 0, 63, 63, 31},
		{255, 0, 0, 63, 63, 31},    {255, 255, 0, 63, 63, 31}, {255, 255, 510, 63, 63, 31},
		{40, 0, 80, 40, 63, 20},    {40, 0, 0, 40, 40, 20},    {63, 0, 1, 63, 31, 31},
		{128, 128, 64, 63, 63, 31},
	};
	struct side side;

	side_open(&side, true, O2_DMA_BUS, 0);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct o2_conn_config config = O2_CONN_DEFAULTS;
		struct o2_conn_view view;

		config.queue_depth = rows[i].queue_depth;
		config.peer_tx_credits = rows[i].peer_tx_credits;
		config.concurrent_sends = rows[i].concurrent_sends;
		assert_int_equal(o2_conn_create(&side.ni, &config, side_ops(), &side, &side.conn, NULL), 0);
		o2_conn_view(side.conn, &view);
		assert_int_equal(view.flow.queue_depth, rows[i].depth);
		assert_int_equal(view.flow.concurrent_sends, rows[i].sends);
		assert_int_equal(view.flow.high_water, rows[i].high_water);
		o2_conn_destroy(side.conn);
	}
	o2_ni_close(&side.ni);
}
#endif
