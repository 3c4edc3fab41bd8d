/* SPDX-License-Identifier: MIT */
#include "tests/lib/endpoint_pair.h"
#include "wire/nid.h"

/*
 * How the clock of an endpoint affects the pools of its interface (docs/pools.md, "Growing", "Giving up
 * pools").  Time advances only through o2_endpoint_clock.
 */

#define BURST		   12u
#define POOL_ELEMS	   2u /* in a registration pool, set by side_config */
#define BYTES		   9000u
#define PORTAL		   60u
#define O2_LNET_SIDE_PAGES 2u
#define SOURCE_AT	   O2_LNET_SIDE_PAGES
#define SINK_AT		   (O2_LNET_SIDE_PAGES + 8u)
#define STEP_MS		   1000u
#define LIFE_MS		   300000u
#define RETRY_MS	   1000u

static const struct {
	enum o2_reg_mode mode;
	enum o2_ni_pool_kind kind;
} pooled[] = {
	{O2_REG_FMR, O2_NI_POOL_FMR},
	{O2_REG_FASTREG, O2_NI_POOL_FRD},
	{O2_REG_FASTREG_GAPS, O2_NI_POOL_FRD_GAPS},
};

#define POOLED (sizeof(pooled) / sizeof(pooled[0]))

struct peer {
	struct endpoint_seat *seat;
	uint32_t nstarted, nended;
	int status; /* of the last operation that failed, or 0 */
};

struct peers {
	struct endpoint_pair pair;
	struct peer peer[2];
	uint64_t now_ms;
};

/* --- a device that fails to create descriptors on demand --- */

static int create_fails;

static int frd_create(void *context, uint64_t device, uint32_t max_pages, bool gaps,
		      struct o2_frd_object *object, struct o2_error *error)
{
	return create_fails != 0 ? create_fails
				 : o2_reg_verbs_frd.create(context, device, max_pages, gaps, object, error);
}

/* --- two endpoints --- */

static void done(void *context, const struct o2_lnet_result *result)
{
	struct peer *peer = context;

	peer->nended++;
	if (result->status != 0)
		peer->status = result->status;
}

static struct o2_transfer_memory memory_at(struct o2_kiov kiov[3], uint32_t page, enum o2_reg_mode mode)
{
	struct o2_transfer_memory memory = {.mode = mode};

	for (uint32_t i = 0; i < 3; i++)
		kiov[i] = (struct o2_kiov){.page = page + i, .len = i < 2 ? 4096 : BYTES - 2 * 4096};
	memory.buffer = (struct o2_buffer){.kind = O2_KIOV, .count = 3, .nob = BYTES, .kiov = kiov};
	return memory;
}

/* Offer memory for each mode that has pools; the match bits select the mode. */
static void offer(struct peer *peer)
{
	static struct o2_kiov kiov[POOLED][3];

	for (uint32_t i = 0; i < POOLED; i++) {
		const struct o2_lnet_entry entry = {
			.portal = PORTAL,
			.match_bits = i,
			O2_LNET_FOR_ANYBODY,
			.options = O2_LNET_MD_OP_PUT | O2_LNET_MD_MANAGE_REMOTE,
			.memory = memory_at(kiov[i], SINK_AT + 4 * i, pooled[i].mode),
		};

		assert_true(o2_lnet_attach(peer->seat->endpoint.lnet, &entry, NULL) >= 0);
	}
}

static void peer_open(struct peers *peers, uint32_t i)
{
	/* Static, because they must outlive the interface. */
	static struct o2_frd_ops frd_ops;
	static const struct o2_reg_ops reg_ops = {&o2_reg_verbs_fmr, &frd_ops};
	const struct o2_lnet_ops ops = {.done = done};
	struct o2_ni_config config = side_config(i == 0, O2_DMA_VIRTUAL, 0);
	struct o2_node_config node = O2_NODE_DEFAULTS;
	struct peer *peer = &peers->peer[i];

	frd_ops = o2_reg_verbs_frd;
	frd_ops.create = frd_create;
	config.reg_ops = &reg_ops;
	peer->seat = &peers->pair.seat[i];
	endpoint_seat_open(&peers->pair, i, &config, &node, &ops, peer);
	offer(peer);
}

static struct peers *peers_open(void)
{
	struct peers *peers = calloc(1, sizeof(*peers));

	assert_non_null(peers);
	create_fails = 0;
	endpoint_pair_open(&peers->pair);
	for (uint32_t i = 0; i < 2; i++)
		peer_open(peers, i);
	return peers;
}

static void peers_close(struct peers *peers)
{
	endpoint_pair_close(&peers->pair);
	free(peers);
}

#define PEERS_TEST(name) TEST_ON(name, struct peers, peers, peers_open(), peers_close)

static void tell(struct peers *peers, uint64_t now_ms)
{
	peers->now_ms = now_ms;
	for (uint32_t i = 0; i < 2; i++)
		o2_endpoint_clock(&peers->peer[i].seat->endpoint, now_ms);
}

/* Drive both ends until every operation has ended successfully and both have all resources back. */
static void run(struct peers *peers)
{
	time_t end = pair_now() + PAIR_SECONDS;

	while (peers->peer[0].nended < peers->peer[0].nstarted ||
	       o2_ni_check_idle(&peers->peer[0].seat->side.ni, NULL) != 0 ||
	       o2_ni_check_idle(&peers->peer[1].seat->side.ni, NULL) != 0) {
		endpoint_pair_progress(&peers->pair);
		assert_true(pair_now() <= end);
	}
	assert_int_equal(peers->peer[0].status, 0);
}

static int start(struct peers *peers, uint32_t place, struct o2_error *error)
{
	static struct o2_kiov kiov[3];
	const struct o2_transfer_memory source = memory_at(kiov, SOURCE_AT, pooled[place].mode);
	const struct o2_lnet_target target = {
		.nid = peers->peer[1].seat->side.ni.config.nid,
		.portal = PORTAL,
		.match_bits = place,
	};
	int rc = o2_lnet_put(peers->peer[0].seat->endpoint.lnet, &target, &source, NULL, error);

	peers->peer[0].nstarted += rc == 0;
	return rc;
}

static uint32_t live(const struct peers *peers, uint32_t i, enum o2_ni_pool_kind kind)
{
	struct o2_ni_counts counts;

	o2_ni_get_counts((struct o2_ni *)&peers->peer[i].seat->side.ni, &counts);
	return counts.pool[kind].live;
}

/* Run `count` operations at a time, in each mode that has pools. */
static void put_all(struct peers *peers, uint32_t count)
{
	struct o2_error error;

	for (uint32_t place = 0; place < POOLED; place++) {
		for (uint32_t i = 0; i < count; i++)
			if (start(peers, place, &error) != 0) {
				show_error("o2_lnet_put", &error);
				fail();
			}
		run(peers);
	}
}

/* --- tests --- */

/* A burst creates several pools of every kind.  Pools are not destroyed by time alone: when elements are put back
 * after 300 s of idle time, all pools except the first are destroyed. */
PEERS_TEST(shrink_after_a_life)
{
	tell(peers, 5000);
	put_all(peers, 1); /* sets up the connection */
	put_all(peers, BURST);
	for (uint32_t i = 0; i < POOLED; i++)
		assert_int_equal(live(peers, 0, pooled[i].kind), BURST / POOL_ELEMS);
	assert_true(live(peers, 0, O2_NI_POOL_TX) > 1);

	for (uint64_t ms = STEP_MS; ms < LIFE_MS; ms += STEP_MS) {
		tell(peers, peers->now_ms + STEP_MS);
		while (endpoint_pair_progress(&peers->pair))
			;
	}
	put_all(peers, 1);
	for (uint32_t i = 0; i < POOLED; i++)
		assert_int_equal(live(peers, 0, pooled[i].kind), BURST / POOL_ELEMS);

	tell(peers, peers->now_ms + STEP_MS);
	put_all(peers, 1);
	for (uint32_t i = 0; i < 2; i++)
		for (int kind = 0; kind < O2_NI_POOL_KINDS; kind++)
			assert_int_equal(live(peers, i, (enum o2_ni_pool_kind)kind), 1);
}

/* After one pool could not be created, creation is tried again a second later. */
PEERS_TEST(grow_a_second_after_a_failure)
{
	const uint32_t fastreg = 1;
	struct o2_error error;

	assert_int_equal(pooled[fastreg].mode, O2_REG_FASTREG);
	tell(peers, 5000);
	put_all(peers, 1);
	create_fails = -ENOSPC;
	for (uint32_t i = 0; i < POOL_ELEMS; i++)
		assert_int_equal(start(peers, fastreg, &error), 0);
	assert_error(start(peers, fastreg, &error), -EAGAIN, &error, "pool/exhausted");
	create_fails = 0;
	tell(peers, peers->now_ms + RETRY_MS - 1);
	assert_int_equal(start(peers, fastreg, &error), -EAGAIN);
	tell(peers, peers->now_ms + 1);
	assert_int_equal(start(peers, fastreg, &error), 0);
	assert_int_equal(live(peers, 0, O2_NI_POOL_FRD), 2);
	run(peers);
}

/* An operation that was started before the first call of the clock is not late at that call. */
PEERS_TEST(starts_before_the_first_tick)
{
	assert_int_equal(start(peers, 0, NULL), 0);
	tell(peers, UINT64_C(1) << 40);
	run(peers);
	assert_int_equal(start(peers, 0, NULL), 0);
	tell(peers, 1); /* an earlier time is ignored */
	run(peers);
}
