/* SPDX-License-Identifier: MIT */
#include "tests/lib/endpoint_pair.h"
#include "wire/layout.h"
#include "wire/nid.h"

/*
 * Peers whose messages are shorter than 4096 bytes (docs/transport.md, "Small and large"): the limit is known only
 * after an operation was started, or differs between connections.  Also connections that end while an operation
 * waits for LNet's answer or because of an LNet header, and interfaces that may not use mode global.
 */

#define SHORT	   2048u
#define BYTES	   3000u
#define PORTAL	   60u
#define SOURCE_AT  2u /* page behind LNet's own pages */
#define SINK_AT	   3u
#define OPERATIONS 8u

struct peer {
	struct endpoint_seat *seat;
	void (*handler)(void *context, const struct o2_cm_event *event); /* of the node */
	void *context;
	uint32_t shorts; /* the number of arriving CONNREQs or CONNACKs that are changed to SHORT */
	uint8_t astray;	 /* is added to the destination in the LNet header of each message that is sent */
	struct o2_work_ops work;
	/* What the callbacks reported. */
	uint32_t nended, nputs, nputs_by_rdma;
	struct o2_lnet_result result[OPERATIONS];
	const char *rule[OPERATIONS];
	uint64_t length_bytes; /* of the last PUT */
};

struct peers {
	struct endpoint_pair pair;
	struct peer peer[2];
};

static void done(void *context, const struct o2_lnet_result *result)
{
	struct peer *peer = context;

	assert_true(peer->nended < OPERATIONS);
	peer->rule[peer->nended] = result->fault != NULL ? result->fault->error.rule : NULL;
	peer->result[peer->nended++] = *result;
}

static void told(void *context, const struct o2_lnet_event *event)
{
	struct peer *peer = context;

	if (event->kind != O2_LNET_EVENT_PUT)
		return;
	assert_int_equal(event->status, 0);
	peer->nputs++;
	peer->nputs_by_rdma += event->request != 0;
	peer->length_bytes = event->length_bytes;
}

/* Change an event, so that the peer's node learns a smaller message size than the other node sent. */
static void shorten(void *context, const struct o2_cm_event *event)
{
	struct peer *peer = context;
	struct o2_cm_event changed = *event;
	uint8_t bytes[O2_CM_REPLY_BYTES] = {0};

	if ((event->type == O2_CM_REQUEST || event->type == O2_CM_ESTABLISHED) &&
	    event->private_bytes >= O2_CONNREQ_BYTES && peer->shorts > 0) {
		peer->shorts--;
		memcpy(bytes, event->private_data, O2_CONNREQ_BYTES);
		memcpy(bytes + O2_AT_MAX_MSG_SIZE, &(uint32_t){SHORT}, 4);
		changed.private_data = bytes;
		changed.private_bytes = O2_CONNREQ_BYTES;
	}
	peer->handler(peer->context, &changed);
}

static int post(void *context, struct ibv_qp *qp, struct ibv_send_wr *list, struct ibv_send_wr **bad,
		const struct o2_rdma_desc *sink)
{
	const struct peer *peer = context;
	const struct ibv_send_wr *send = list;
	uint8_t *bytes;

	(void)sink;
	while (send->next != NULL)
		send = send->next;
	bytes = (uint8_t *)(uintptr_t)send->sg_list[0].addr;
	bytes[O2_AT_LNET_HDR + O2_LNET_AT_DEST_NID] += peer->astray;
	return ibv_post_send(qp, list, bad);
}

static struct o2_transfer_memory memory_at(uint32_t page)
{
	static struct o2_kiov kiov[2];
	struct o2_kiov *one = &kiov[page == SINK_AT];

	*one = (struct o2_kiov){.page = page, .len = BYTES};
	return (struct o2_transfer_memory){
		.mode = O2_REG_FMR, .buffer = {.kind = O2_KIOV, .count = 1, .nob = BYTES, .kiov = one}};
}

static void peer_open(struct peers *peers, uint32_t i, uint32_t conns)
{
	const struct o2_lnet_ops ops = {.done = done, .event = told};
	struct o2_ni_config config = side_config(i == 0, O2_DMA_VIRTUAL, 0);
	const struct o2_lnet_entry entry = {
		.portal = PORTAL,
		.match_bits = 1,
		O2_LNET_FOR_ANYBODY,
		.options = O2_LNET_MD_OP_PUT | O2_LNET_MD_OP_GET | O2_LNET_MD_MANAGE_REMOTE,
		.memory = memory_at(SINK_AT),
	};
	static const struct o2_reg_caps caps = {.fmr = true};
	struct o2_node_config node = O2_NODE_DEFAULTS;
	struct peer *peer = &peers->peer[i];

	peer->work = (struct o2_work_ops){.context = peer, .post_send = post};
	config.work_ops = &peer->work;
	config.caps = &caps;
	node.conns_per_peer = conns;
	peer->seat = &peers->pair.seat[i];
	endpoint_seat_open(&peers->pair, i, &config, &node, &ops, peer);
	assert_true(o2_lnet_attach(peer->seat->endpoint.lnet, &entry, NULL) >= 0);
	peer->handler = peer->seat->cm->handler;
	peer->context = peer->seat->cm->context;
	peer->seat->cm->handler = shorten;
	peer->seat->cm->context = peer;
}

static struct peers *peers_open(uint32_t conns)
{
	struct peers *peers = calloc(1, sizeof(*peers));

	assert_non_null(peers);
	endpoint_pair_open(&peers->pair);
	for (uint32_t i = 0; i < 2; i++)
		peer_open(peers, i, conns);
	return peers;
}

static void peers_close(struct peers *peers)
{
	endpoint_pair_close(&peers->pair);
	free(peers);
}

/* Drive both peers until nothing more happens at the current time. */
static void settle(struct peers *peers)
{
	for (uint32_t quiet = 0; quiet < 3; quiet++)
		if (endpoint_pair_progress(&peers->pair))
			quiet = 0;
}

static struct o2_lnet_target target_of(struct peers *peers, uint64_t match_bits, bool ack)
{
	return (struct o2_lnet_target){.nid = peers->peer[1].seat->side.ni.config.nid,
				       .portal = PORTAL,
				       .match_bits = match_bits,
				       .ack = ack};
}

static void put(struct peers *peers, uint64_t match_bits, bool ack)
{
	const struct o2_lnet_target target = target_of(peers, match_bits, ack);
	const struct o2_transfer_memory source = memory_at(SOURCE_AT);

	assert_int_equal(o2_lnet_put(peers->peer[0].seat->endpoint.lnet, &target, &source, NULL, NULL), 0);
}

/* Assert that operation n has ended successfully, with all of its bytes. */
static void assert_moved(const struct peer *peer, uint32_t n)
{
	assert_true(n < peer->nended);
	assert_int_equal(peer->result[n].status, 0);
	assert_int_equal(peer->result[n].length_bytes, BYTES);
}

#define PEERS_TEST(name, conns) TEST_ON(name, struct peers, peers, peers_open(conns), peers_close)

/* The first PUT waits for the connection; the second finds it established. */
PEERS_TEST(what_was_queued_goes_by_rdma, 1)
{
	struct peer *a = &peers->peer[0], *b = &peers->peer[1];
	uint8_t *from = o2_arena_page(&a->seat->side.ni.arena, SOURCE_AT);
	const uint8_t *to = o2_arena_page(&b->seat->side.ni.arena, SINK_AT);

	a->shorts = 1;
	for (uint32_t i = 0; i < 4; i++) {
		memset(from, (int)i + 1, BYTES);
		put(peers, 1, i % 2 == 0);
		settle(peers);
		assert_int_equal(a->nended, i + 1);
		assert_moved(a, i);
		assert_int_equal(b->nputs_by_rdma, i + 1);
		assert_int_equal(b->length_bytes, BYTES);
		assert_memory_equal(from, to, BYTES);
	}
}

/* By IMMEDIATE, the sender would not learn of the refusal. */
PEERS_TEST(a_put_nak_is_understood, 1)
{
	struct peer *a = &peers->peer[0];

	a->shorts = 1;
	for (uint32_t i = 0; i < 4; i++) {
		put(peers, 2, i % 2 == 0);
		settle(peers);
		assert_int_equal(a->nended, i + 1);
		assert_int_equal(a->result[i].status, -ENODATA);
		assert_string_equal(a->rule[i], "lnet/put/no-match");
	}
	assert_int_equal(peers->peer[1].nputs, 0);
}

/* Only one of two connections accepts the message as an IMMEDIATE. */
PEERS_TEST(connections_differ, 2)
{
	struct peer *a = &peers->peer[0], *b = &peers->peer[1];

	a->shorts = 1;
	for (uint32_t i = 0; i < OPERATIONS; i++) {
		put(peers, 1, false);
		settle(peers);
		assert_int_equal(a->nended, i + 1);
		assert_moved(a, i);
	}
	assert_int_equal(b->nputs, OPERATIONS);
	assert_in_range(b->nputs_by_rdma, OPERATIONS / 2, OPERATIONS);
}

/* A REPLY is sent by RDMA too, if the connection accepts only shorter messages. */
PEERS_TEST(replies_go_by_rdma, 2)
{
	struct peer *a = &peers->peer[0], *b = &peers->peer[1];
	const struct o2_transfer_memory sink = memory_at(SOURCE_AT);
	const struct o2_lnet_target target = target_of(peers, 1, false);
	uint8_t *from = o2_arena_page(&b->seat->side.ni.arena, SINK_AT);
	const uint8_t *to = o2_arena_page(&a->seat->side.ni.arena, SOURCE_AT);

	b->shorts = 1;
	for (uint32_t i = 0; i < OPERATIONS; i++) {
		memset(from, (int)i + 1, BYTES);
		assert_int_equal(o2_lnet_get(a->seat->endpoint.lnet, &target, &sink, NULL, NULL), 0);
		settle(peers);
		assert_int_equal(a->nended, i + 1);
		assert_moved(a, i);
		assert_memory_equal(from, to, BYTES);
	}
}

/* An operation that waits for LNet's answer fails when its connection ends, whatever the connection's status. */
PEERS_TEST(what_waits_goes_down, 1)
{
	const int codes[] = {0, -ETIMEDOUT, -EPROTO};
	struct peer *a = &peers->peer[0];

	for (uint32_t i = 0; i < 4; i++) {
		struct peer *closes = &peers->peer[i == 3]; /* the last time, a gets a DREQ */
		const struct peer *other = &peers->peer[i != 3];

		put(peers, 2, true);
		settle(peers);
		assert_int_equal(a->nended, i);
		o2_node_close_peer(closes->seat->endpoint.node, other->seat->side.ni.config.nid,
				   i < 3 ? codes[i] : 0);
		settle(peers);
		assert_int_equal(a->nended, i + 1);
		assert_int_equal(a->result[i].status, -ECONNABORTED);
		assert_true(a->result[i].fault != NULL);
		if (i == 1 || i == 2)
			assert_string_equal(a->rule[i], "conn/closed");
	}
}

/* A ping whose sink is too large for an IMMEDIATE moves the answer by RDMA, in a mode that the interface may use. */
PEERS_TEST(a_large_ping_is_answered, 1)
{
	const struct o2_kiov kiov[] = {{.page = SINK_AT + 1, .len = 4096},
				       {.page = SINK_AT + 2, .len = 4096}};
	const struct o2_transfer_memory sink = {
		.mode = O2_REG_FMR, .buffer = {.kind = O2_KIOV, .count = 2, .nob = 8192, .kiov = kiov}};
	struct peer *a = &peers->peer[0];
	struct o2_lnet_target target = target_of(peers, O2_PING_MATCH_BITS, false);
	struct o2_ping_info info;

	target.portal = O2_PING_PORTAL;
	assert_int_equal(o2_lnet_get(a->seat->endpoint.lnet, &target, &sink, NULL, NULL), 0);
	settle(peers);
	assert_int_equal(a->nended, 1);
	assert_int_equal(a->result[0].status, 0);
	assert_int_equal(a->result[0].length_bytes, O2_PING_INFO_BYTES);
	assert_int_equal(o2_ping_decode(o2_arena_page(&a->seat->side.ni.arena, SINK_AT + 1),
					O2_PING_INFO_BYTES, &info, NULL),
			 2);
	assert_true(info.ni[1].nid == target.nid);
}

/*
 * Of a header for another node, in an IMMEDIATE or a request, LNet's own rule is the reason why the connection ends,
 * and with it a PUT that is under way and one that waits for LNet's ACK.
 */
PEERS_TEST(a_header_that_went_astray, 1)
{
	static const char rule[] = "lnet/header/dest-nid";
	static const struct o2_kiov page = {.page = SOURCE_AT, .len = 4096};
	const struct o2_transfer_memory whole = {
		.mode = O2_REG_FMR, .buffer = {.kind = O2_KIOV, .count = 1, .nob = 4096, .kiov = &page}};
	struct peer *a = &peers->peer[0], *b = &peers->peer[1];
	const struct o2_transfer_fault *fault = &b->seat->endpoint.fault;
	struct o2_lnet_target back = target_of(peers, 2, true);

	back.nid = a->seat->side.ni.config.nid;
	for (uint32_t i = 0; i < 2; i++) {
		put(peers, 1, false);
		settle(peers);
		assert_int_equal(o2_lnet_put(b->seat->endpoint.lnet, &back, NULL, NULL, NULL), 0);
		settle(peers);
		a->astray = 1;
		put(peers, 1, true);
		a->astray = 0;
		assert_int_equal(o2_lnet_put(b->seat->endpoint.lnet, &back, &whole, NULL, NULL), 0);
		a->shorts = 1; /* for the next connection: then the PUTs go by RDMA */
		settle(peers);
		assert_int_equal(fault->side, O2_FAULT_PEER_MESSAGE);
		assert_string_equal(fault->error.rule, rule);
		assert_string_equal(fault->error.field, "dest_nid");
		assert_int_equal(fault->error.value, fault->error.limit + 1);
		assert_int_equal(b->nended, 2 * i + 2);
		assert_string_equal(b->rule[2 * i], rule);
		assert_string_equal(b->rule[2 * i + 1], rule);
	}
}
