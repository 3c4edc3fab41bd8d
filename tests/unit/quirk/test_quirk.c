/* SPDX-License-Identifier: MIT */
#include "tests/lib/lnd_memory.h"
#include "tests/lib/lnd_pair.h"

#include "mem/kmap.h"
#include "quirk/quirk.h"

/* The effect of each quirk of side b on side a (docs/peer.md, "Quirks"). */

#define PAGE   4096u
#define FILLED 0x11u

static struct o2_quirks quirks;	      /* of side b */
static enum o2_byte_order order_of_b; /* of what b sends */
static uint32_t nreceived;
static uint8_t payload[O2_MSG_BYTES];
static uint32_t payload_bytes;

static int receive(void *context, const struct o2_msg *msg)
{
	nreceived++;
	payload_bytes = msg->u.immediate.hdr.payload_length;
	memcpy(payload, msg->u.immediate.payload, payload_bytes);
	return 0;
}

static void create(struct side *side, const struct o2_conn_config *config)
{
	const struct o2_conn_ops ops = {.match = side_match, .receive = receive, .done = side_done};

	assert_int_equal(o2_conn_create(&side->ni, config, &ops, side, &side->conn, NULL), 0);
}

static struct pair *open_pair(const char *text, const struct o2_conn_config *a)
{
	struct pair *pair = calloc(1, sizeof(*pair));
	struct o2_ni_config ni = side_config(false, O2_DMA_BUS, 0x240000000ull);
	struct o2_conn_config b = O2_CONN_DEFAULTS;
	struct o2_conn_address address_a, address_b;

	assert_non_null(pair);
	quirks = (struct o2_quirks){.set = 0};
	assert_int_equal(o2_quirks_add(&quirks, text, NULL, 0), 0);
	b.order = order_of_b;
	o2_quirks_bend_ni(&quirks, &ni);
	o2_quirks_bend_conn(&quirks, &b);
	side_open(&pair->a, true, O2_DMA_BUS, 0x7f0000000000ull);
	side_open_config(&pair->b, &ni);
	create(&pair->a, a);
	create(&pair->b, &b);
	o2_conn_get_address(pair->a.conn, &address_a);
	o2_conn_get_address(pair->b.conn, &address_b);
	assert_int_equal(o2_conn_connect(pair->a.conn, &address_b, NULL), 0);
	assert_int_equal(o2_conn_connect(pair->b.conn, &address_a, NULL), 0);
	side_fill(&pair->b, 2);
	memset(pair->a.ni.arena.memory, FILLED, (size_t)PAIR_PAGES * PAGE);
	nreceived = 0;
	return pair;
}

static void close_pair(struct pair *pair)
{
	pair_close(pair);
	assert_null(quirks.held);
	o2_quirks_end(&quirks);
}

/* A test on such a pair; side a has no quirks. */
#define QUIRK_TEST(name, text) \
	TEST_ON(name, struct pair, pair, open_pair(text, &O2_CONN_DEFAULTS), close_pair)

/* Describes nob bytes from `at` on, page by page; which: index of the kiov array to use. */
static struct o2_transfer_memory memory_at(int which, uint32_t at, uint32_t nob)
{
	static struct o2_kiov kiov[3][O2_MAX_FRAGS];
	uint32_t count = 0, left = nob;

	for (; left > 0; count++) {
		uint32_t take = PAGE - at % PAGE < left ? PAGE - at % PAGE : left;

		kiov[which][count] = (struct o2_kiov){at / PAGE, at % PAGE, take};
		at += take;
		left -= take;
	}
	return (struct o2_transfer_memory){
		.buffer = {.kind = O2_KIOV, .count = count, .nob = nob, .kiov = kiov[which]},
		.mode = O2_REG_FASTREG,
	};
}

static void send(struct side *side, const struct o2_transfer_memory *memory)
{
	struct o2_lnet_hdr hdr = o2_conn_lnet_hdr(side->conn, O2_LNET_PUT, 0, memory->buffer.nob);

	assert_int_equal(o2_conn_send(side->conn, &hdr, memory, NULL, NULL), 0);
}

static void get(struct pair *pair, uint32_t nob)
{
	static struct o2_transfer_memory sink;

	sink = memory_at(0, 10 * PAGE, nob);
	assert_int_equal(start_get(pair->a.conn, &sink, 0, NULL, NULL), 0);
}

/* Runs until neither end has had an event for many rounds. */
static void settle(struct pair *pair)
{
	for (uint32_t idle = 0; idle < 100; idle++)
		if (o2_conn_progress(pair->a.conn) > 0 || o2_conn_progress(pair->b.conn) > 0)
			idle = 0;
}

/* Returns whether a's memory at `to` holds the bytes of b from `from` on. */
static bool moved(const struct pair *pair, uint32_t to, uint32_t from, uint32_t nob)
{
	return memcmp(pair->a.ni.arena.memory + to, pair->b.ni.arena.memory + from, nob) == 0;
}

TEST(test_signed_sums)
{
	struct o2_conn_config strict = O2_CONN_DEFAULTS, ours = O2_CONN_DEFAULTS;
	struct o2_transfer_memory memory = memory_at(1, 20 * PAGE, 100);
	struct pair *pair;

	/* b's checksums are of signed chars; a accepts no other flavour here. */
	strict.wire.only_flavour = O2_CKSUM_SIGNED;
	strict.wire.require_checksum = true;
	strict.cksum_flavour = O2_CKSUM_SIGNED;
	pair = open_pair("sums-signed", &strict);
	send(&pair->b, &memory);
	send(&pair->a, &memory);
	settle(pair);
	assert_int_equal(nreceived, 2);
	close_pair(pair);
	/* A checksum of unsigned chars is wrong for b. */
	ours.cksum_flavour = O2_CKSUM_UNSIGNED;
	pair = open_pair("sums-signed", &ours);
	send(&pair->a, &memory);
	pair_run_until_closed(pair, pair->b.conn);
	assert_string_equal(o2_conn_get_fault(pair->b.conn)->error.rule, "wire/header/checksum");
	close_pair(pair);
}

/* A post that the queue pair refuses is refused, however the quirk changes its work requests. */
TEST(test_a_refused_post)
{
	static const struct o2_conn_config ours = O2_CONN_DEFAULTS;
	struct pair *pair = open_pair("sums-signed", &ours);
	const struct o2_work_ops *ops = &quirks.ops;
	struct ibv_sge sge[33] = {{0}};
	struct ibv_send_wr wr = {.opcode = IBV_WR_RDMA_WRITE, .sg_list = sge, .num_sge = 33}, *bad = NULL;

	assert_int_equal(ops->post_send(ops->context, o2_conn_qp(pair->b.conn), &wr, &bad, 0), EINVAL);
	assert_ptr_equal(bad, &wr);
	close_pair(pair);
}

TEST(test_other_bytes_are_summed)
{
	struct o2_conn_config tolerant = O2_CONN_DEFAULTS;
	struct o2_transfer_memory memory = memory_at(1, 20 * PAGE + 5, 3000);
	struct pair *pair = open_pair("sums-other-bytes", &O2_CONN_DEFAULTS);

	send(&pair->b, &memory);
	pair_run_until_closed(pair, pair->a.conn);
	assert_string_equal(o2_conn_get_fault(pair->a.conn)->error.rule, "wire/header/checksum");
	close_pair(pair);
	/* The payload itself is right. */
	tolerant.wire.tolerate_immediate_checksum = true;
	pair = open_pair("sums-signed,sums-other-bytes", &tolerant);
	send(&pair->b, &memory);
	settle(pair);
	assert_int_equal(nreceived, 1);
	assert_memory_equal(payload, pair->b.ni.arena.memory + 20 * PAGE + 5, 3000);
	close_pair(pair);
}

QUIRK_TEST(test_second_page_is_wrong, "second-page-wrong")
{
	struct o2_transfer_memory within = memory_at(1, 20 * PAGE, 3000);
	struct o2_transfer_memory across = memory_at(2, 30 * PAGE + 3000, 2000);
	const uint8_t *right = pair->b.ni.arena.memory + 30 * PAGE + 3000;

	send(&pair->b, &within);
	settle(pair);
	assert_int_equal(payload_bytes, 3000);
	assert_memory_equal(payload, pair->b.ni.arena.memory + 20 * PAGE, 3000);
	send(&pair->b, &across);
	settle(pair);
	assert_int_equal(payload_bytes, 2000);
	assert_memory_equal(payload, right, PAGE - 3000);
	for (uint32_t i = PAGE - 3000; i < 2000; i++)
		assert_int_equal(payload[i], O2_QUIRK_WRONG_BYTE);
}

static void claim_a_short_get(enum o2_byte_order order)
{
	struct o2_conn_config sums = O2_CONN_DEFAULTS;
	struct pair *pair;

	/* The message stays valid, including its checksum. */
	sums.wire.require_checksum = true;
	sums.cksum_flavour = O2_CKSUM_SIGNED;
	order_of_b = order;
	pair = open_pair("short-get-claims,sums-signed", &sums);
	order_of_b = O2_LITTLE_ENDIAN;
	pair->b.answer = memory_at(1, 20 * PAGE, 5000);
	get(pair, 8192);
	pair_run(pair, 1, 1);
	assert_int_equal(pair->a.result[0].status, 0);
	assert_int_equal(pair->a.result[0].nob, 8192);
	for (uint32_t i = 0; i < 8192; i++)
		assert_int_equal(pair->a.ni.arena.memory[10 * PAGE + i], FILLED);
	/* A GET that is not short is answered as usual. */
	get(pair, 5000);
	pair_run(pair, 2, 2);
	assert_int_equal(pair->a.result[1].nob, 5000);
	assert_true(moved(pair, 10 * PAGE, 20 * PAGE, 5000));
	close_pair(pair);
}

TEST(test_a_short_get_is_claimed)
{
	claim_a_short_get(O2_LITTLE_ENDIAN);
}

TEST(test_a_short_get_is_claimed_in_big_endian)
{
	claim_a_short_get(O2_BIG_ENDIAN);
}

QUIRK_TEST(test_a_gapped_source_is_silent, "gapped-source-silent")
{
	struct o2_kiov gapped[2] = {{20, 0, 3000}, {21, 0, 3000}};

	for (int i = 0; i < 3; i++) {
		pair->b.answer = memory_at(1, 20 * PAGE, 6000);
		pair->b.answer.buffer.kiov = gapped;
		get(pair, 6000);
		settle(pair);
		/* b knows the error, but sends no answer. */
		assert_int_equal(pair->b.result[2 * i].status, -EPROTONOSUPPORT);
		assert_int_equal(pair->a.nresults, i);
		pair->b.answer = memory_at(1, 20 * PAGE, 6000);
		get(pair, 6000);
		pair_run(pair, i + 1, 2 * i + 2);
		assert_int_equal(pair->a.result[i].status, 0);
	}
	/* The credits stay balanced. */
	settle(pair);
	assert_int_equal(o2_conn_get_state(pair->a.conn), O2_CONN_ESTABLISHED);
	assert_int_equal(pair->a.conn->credits.credits + pair->b.conn->credits.outstanding,
			 pair->a.conn->config.queue_depth);
}

QUIRK_TEST(test_it_closes_first, "closes-first")
{
	pair->b.answer = memory_at(1, 20 * PAGE, 6000);
	get(pair, 6000);
	pair_run_until_closed(pair, pair->b.conn);
	assert_int_equal(o2_conn_get_fault(pair->b.conn)->side, O2_FAULT_LOCAL_COMPLETION);
	assert_int_equal(pair->b.nmatched, 0);
	assert_int_equal(pair->a.nresults, 0);
}

/* The first message need not be one that needs an answer, and may come late. */
TEST(test_it_closes_unasked)
{
	static const char *const texts[] = {"closes-first", "late=700,closes-first"};
	struct o2_transfer_memory memory = memory_at(1, 20 * PAGE, 100);

	for (int i = 0; i < 2; i++) {
		struct pair *pair = open_pair(texts[i], &O2_CONN_DEFAULTS);

		o2_conn_clock(pair->b.conn, 1);
		send(&pair->a, &memory);
		settle(pair);
		assert_int_equal(o2_conn_get_state(pair->b.conn),
				 i == 0 ? O2_CONN_DISCONNECTED : O2_CONN_ESTABLISHED);
		o2_conn_clock(pair->b.conn, 701);
		settle(pair);
		assert_int_equal(o2_conn_get_state(pair->b.conn), O2_CONN_DISCONNECTED);
		assert_int_equal(nreceived, 0);
		close_pair(pair);
	}
}

QUIRK_TEST(test_it_answers_late, "late=700")
{
	pair->b.answer = memory_at(1, 20 * PAGE, 6000);
	o2_conn_clock(pair->b.conn, 1);
	get(pair, 6000);
	settle(pair);
	o2_conn_clock(pair->b.conn, 700);
	settle(pair);
	assert_int_equal(pair->b.nmatched, 0);
	o2_conn_clock(pair->b.conn, 701);
	settle(pair);
	assert_int_equal(pair->b.nmatched, 1);
	assert_int_equal(pair->a.nresults, 1);
	assert_true(moved(pair, 10 * PAGE, 20 * PAGE, 6000));
	/* Completions that are still held back go with the connection (close_pair). */
	get(pair, 6000);
	settle(pair);
	assert_non_null(quirks.held);
}

QUIRK_TEST(test_delayed_completions_are_freed, "late=700")
{
	pair->b.answer = memory_at(1, 20 * PAGE, 6000);
	for (int i = 0; i < 2; i++)
		get(pair, 6000);
	settle(pair);
	assert_non_null(quirks.held);
	o2_quirks_end(&quirks);
	assert_null(quirks.held);
}

TEST(test_none)
{
	struct o2_ni_config ni = {.port = 1};
	const struct o2_conn_config before = O2_CONN_DEFAULTS;
	struct o2_conn_config conn;

	quirks = (struct o2_quirks){.set = 0};
	memcpy(&conn, &before, sizeof(conn)); /* copies the padding between the members as well */
	o2_quirks_bend_ni(&quirks, &ni);
	o2_quirks_bend_conn(&quirks, &conn);
	assert_null(ni.work_ops);
	assert_memory_equal(&conn, &before, sizeof(conn));
}

TEST(test_words)
{
	static const char *const wrong[] = {
		"",	 "x",	  "late=",	    "late=0", "late=60001", "late=1x", "late1",
		"late,", ",late", "closes-first=1", "closes", "late=-1",    "late= 1", "late=99999999999"};
	char bad[16];

	quirks = (struct o2_quirks){.set = 0};
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		assert_int_equal(o2_quirks_add(&quirks, wrong[i], bad, sizeof(bad)), -EINVAL);
		assert_int_equal(quirks.set, 0);
	}
	assert_int_equal(o2_quirks_add(&quirks, "late,nonsense", bad, sizeof(bad)), -EINVAL);
	assert_string_equal(bad, "nonsense");
	assert_int_equal(o2_quirks_add(&quirks, "late", bad, sizeof(bad)), 0);
	assert_int_equal(quirks.late_ms, O2_QUIRK_LATE_MS);
	assert_int_equal(o2_quirks_add(&quirks, "late=60000,sums-signed", bad, sizeof(bad)), 0);
	assert_int_equal(quirks.late_ms, O2_QUIRK_LATE_MAX_MS);
	for (unsigned int i = 0; i < O2_QUIRKS; i++) {
		quirks = (struct o2_quirks){.set = 0};
		assert_int_equal(o2_quirks_add(&quirks, o2_quirk_name(i), bad, sizeof(bad)), 0);
		assert_int_equal(quirks.set, 1u << i);
		assert_true(strlen(o2_quirk_text(i)) > 0);
	}
}
