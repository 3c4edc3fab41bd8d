/* SPDX-License-Identifier: MIT */
/*
 * A node adopts its peer's checksum flavour (docs/transport.md, "Checksums"): the flavour of its requests,
 * replies and messages before and after it has seen a checksum of the peer.
 */
#include "loopverbs/loopverbs.h"
#include "tests/lib/lnd_memory.h"
#include "tests/lib/lnd_message.h"
#include "tests/lib/node_world.h"

#include "wire/checksum.h"

#define SAYINGS 16u

/* Records the flavours of the CONNREQs and CONNACKs passed to the connection managers, in order. */
static struct {
	const struct o2_cm_ops *ops;
	uint32_t nrequests, nreplies;
	enum o2_cksum_flavour request[SAYINGS], reply[SAYINGS];
} heard;

static enum o2_cksum_flavour flavour_of(const struct o2_cm_param *param)
{
	struct o2_msg msg;

	assert_int_equal(o2_msg_decode(param->private_data, param->private_bytes, NULL, &msg, NULL), 0);
	return msg.cksum_flavour;
}

static int hear_connect(struct o2_cm *cm, const struct o2_cm_target *target, const struct o2_cm_param *param,
			void *context, struct o2_cm_id **id, struct o2_error *error)
{
	assert_true(heard.nrequests < SAYINGS);
	heard.request[heard.nrequests++] = flavour_of(param);
	return heard.ops->connect(cm, target, param, context, id, error);
}

static int hear_accept(struct o2_cm_id *id, const struct o2_cm_param *param, struct o2_error *error)
{
	assert_true(heard.nreplies < SAYINGS);
	heard.reply[heard.nreplies++] = flavour_of(param);
	return heard.ops->accept(id, param, error);
}

/* Opens two nodes, and records what they pass to the connection manager. */
static struct world *world_heard(enum o2_cksum_flavour a, bool a_auto, enum o2_cksum_flavour b)
{
	static struct o2_cm_ops ops;
	struct o2_node_config config[2] = {small_config(), small_config()};
	struct world *world;

	config[0].conn.cksum_flavour = a;
	config[0].conn.cksum_auto = a_auto;
	config[1].conn.cksum_flavour = b;
	world = world_two(&config[0], &config[1]);
	memset(&heard, 0, sizeof(heard));
	heard.ops = world->seat[0].cm->ops;
	ops = *heard.ops;
	ops.connect = hear_connect;
	ops.accept = hear_accept;
	for (int i = 0; i < 2; i++)
		world->seat[i].cm->ops = &ops;
	return world;
}

static void send_one(struct world *world, uint32_t from, uint32_t to)
{
	struct seat *seat = &world->seat[from];
	struct o2_lnet_hdr hdr = lnet_hdr(seat, NID(to), O2_LNET_PUT, 0);
	const uint32_t before = world->seat[to].nreceived;

	assert_int_equal(o2_node_send_bytes(seat->node, NID(to), &hdr, "\xff\x01", 2, seat->nstarted++, NULL),
			 0);
	world_settle(world);
	assert_int_equal(world->seat[to].nreceived, before + 1);
}

/* We ask, without a checksum: the CONNACK shows the peer's flavour, and our first message uses it. */
TEST(asking)
{
	static const enum o2_cksum_flavour flavours[] = {O2_CKSUM_NONE, O2_CKSUM_UNSIGNED, O2_CKSUM_SIGNED};

	for (uint32_t i = 0; i < 3; i++) {
		struct world *world = world_heard(O2_CKSUM_NONE, true, flavours[i]);

		send_one(world, 0, 1);
		assert_int_equal(heard.nrequests, 1);
		assert_int_equal(heard.request[0], O2_CKSUM_NONE);
		assert_int_equal(heard.reply[0], flavours[i]);
		assert_int_equal(world->seat[1].received_flavour, flavours[i]);
		world_close(world);
	}
}

/* We are asked: our CONNACK already uses the flavour of the request. */
TEST(being_asked)
{
	static const enum o2_cksum_flavour flavours[] = {O2_CKSUM_NONE, O2_CKSUM_UNSIGNED, O2_CKSUM_SIGNED};

	for (uint32_t i = 0; i < 3; i++) {
		struct world *world = world_heard(O2_CKSUM_NONE, true, flavours[i]);

		send_one(world, 1, 0);
		assert_int_equal(heard.request[0], flavours[i]);
		assert_int_equal(heard.reply[0], flavours[i]);
		send_one(world, 0, 1);
		assert_int_equal(world->seat[1].received_flavour, flavours[i]);
		world_close(world);
	}
}

/* A peer's flavour is remembered after its connection ends: the next request uses it. */
TEST(the_next_connection)
{
	struct world *world = world_heard(O2_CKSUM_NONE, true, O2_CKSUM_SIGNED);

	send_one(world, 0, 1);
	o2_node_close_peer(world->seat[0].node, NID(1), 0);
	/* Connect again before the node forgets the peer. */
	send_one(world, 0, 1);
	assert_int_equal(heard.nrequests, 2);
	assert_int_equal(heard.request[1], O2_CKSUM_SIGNED);
	assert_int_equal(world->seat[1].received_flavour, O2_CKSUM_SIGNED);
	world_close(world);
}

/* Restarts node i with this flavour; its peer does not notice the end. */
static void restart(struct world *world, uint32_t i, enum o2_cksum_flavour flavour)
{
	struct seat *seat = &world->seat[i];

	world->fate[O2_CM_LOOP_DISCONNECT] = O2_CM_LOOP_LOSE;
	o2_node_destroy(seat->node);
	while (o2_cm_loop_deliver(world->loop, 0))
		;
	world->fate[O2_CM_LOOP_DISCONNECT] = O2_CM_LOOP_PASS;
	seat->side.ni.config.incarnation += 77;
	seat->config.conn.cksum_flavour = flavour;
	seat_start(seat);
	o2_node_clock(seat->node, world->now_ms);
}

/* When a peer restarts, the flavour of its earlier life is forgotten, whichever side asks. */
TEST(another_life)
{
	struct world *world = world_heard(O2_CKSUM_NONE, true, O2_CKSUM_SIGNED);

	send_one(world, 1, 0);
	assert_int_equal(heard.reply[0], O2_CKSUM_SIGNED);
	restart(world, 1, O2_CKSUM_UNSIGNED);
	send_one(world, 1, 0); /* refused as stale, then requested again */
	assert_int_equal(heard.nrequests, 3);
	assert_int_equal(heard.nreplies, 2);
	assert_int_equal(heard.reply[1], O2_CKSUM_UNSIGNED);
	restart(world, 1, O2_CKSUM_SIGNED);
	o2_node_close_peer(world->seat[0].node, NID(1), 0);
	send_one(world, 0, 1);
	assert_int_equal(heard.nrequests, 5);
	assert_int_equal(heard.request[3], O2_CKSUM_UNSIGNED); /* refused as stale */
	assert_int_equal(heard.request[4], O2_CKSUM_NONE);
	assert_int_equal(world->seat[1].received_flavour, O2_CKSUM_SIGNED);
	world_close(world);
}

/* A configured flavour is kept, whatever the peer uses; without auto nothing is adopted. */
TEST(nothing_is_taken_over)
{
	struct world *world = world_heard(O2_CKSUM_UNSIGNED, false, O2_CKSUM_SIGNED);

	send_one(world, 0, 1);
	send_one(world, 1, 0);
	assert_int_equal(world->seat[0].received_flavour, O2_CKSUM_SIGNED);
	send_one(world, 0, 1);
	assert_int_equal(heard.request[0], O2_CKSUM_UNSIGNED);
	assert_int_equal(world->seat[1].received_flavour, O2_CKSUM_UNSIGNED);
	world_close(world);
	world = world_heard(O2_CKSUM_NONE, false, O2_CKSUM_SIGNED);
	send_one(world, 1, 0);
	send_one(world, 0, 1);
	assert_int_equal(world->seat[1].received_flavour, O2_CKSUM_NONE);
	world_close(world);
}

/* The peer's CONNACK has no checksum, but its first message has one: from then on we use its flavour. */
TEST(a_message_shows)
{
	struct world *world = world_heard(O2_CKSUM_NONE, true, O2_CKSUM_NONE);
	struct o2_conn_config config = small_config().conn;
	struct o2_conn *b;

	send_one(world, 0, 1);
	assert_int_equal(world->seat[1].received_flavour, O2_CKSUM_NONE);
	b = o2_node_conn(world->seat[1].node, NID(0), 0);
	config.cksum_flavour = O2_CKSUM_SIGNED;
	assert_int_equal(o2_conn_set_limits(b, &config, NULL), 0);
	send_one(world, 1, 0);
	send_one(world, 0, 1);
	assert_int_equal(world->seat[1].received_flavour, O2_CKSUM_SIGNED);
	world_close(world);
}

/*
 * Payloads gathered in place wait for credits while the flavour becomes known: their checksums must cover the
 * right bytes.
 */
TEST(what_waits)
{
	struct o2_node_config config[2] = {small_config(), small_config()};
	struct o2_kiov kiov[O2_MAX_FRAGS];
	struct o2_transfer_memory memory;
	struct o2_lnet_hdr hdr;
	struct world *world;
	struct seat *a, *b;

	config[0].conn.cksum_auto = true;
	config[0].conn.immediate_gather = true;
	config[0].conn.queue_depth = 2;
	world = world_two(&config[0], &config[1]);
	a = &world->seat[0];
	b = &world->seat[1];
	memory = dense(kiov, 0, 3000, O2_REG_GLOBAL);
	memset(o2_arena_page(&a->side.ni.arena, kiov[0].page), 0xa5, 4096);
	send_one(world, 0, 1);
	config[1].conn.cksum_flavour = O2_CKSUM_SIGNED;
	assert_int_equal(o2_conn_set_limits(o2_node_conn(b->node, NID(0), 0), &config[1].conn, NULL), 0);
	hdr = lnet_hdr(a, NID(1), O2_LNET_PUT, 0);
	for (uint32_t i = 0; i < 4; i++) {
		memory.tag = a->nstarted++;
		assert_int_equal(o2_node_send(a->node, NID(1), &hdr, &memory, NULL), 0);
	}
	hdr = lnet_hdr(b, NID(0), O2_LNET_PUT, 0);
	assert_int_equal(o2_node_send_bytes(b->node, NID(0), &hdr, "x", 1, b->nstarted++, NULL), 0);
	world_settle(world);
	assert_int_equal(a->nreceived, 1);
	assert_int_equal(b->nreceived, 5);
	assert_int_equal(b->received_flavour, O2_CKSUM_SIGNED);
	assert_int_equal(a->ndown + b->ndown, 0);
	world_close(world);
}

static const struct o2_transfer_fault *after_wrong_sum(struct pair *pair, struct o2_msg *msg)
{
	uint8_t bytes[O2_MSG_BYTES];
	int length;

	msg->cksum_flavour = O2_CKSUM_UNSIGNED;
	length = o2_msg_encode(msg, NULL, bytes, sizeof(bytes), NULL);
	assert_true(length > 0);
	bytes[length - 1] ^= 1;
	send_raw(&pair->b, bytes, (uint32_t)length);
	o2_loop_progress();
	o2_conn_progress(pair->a.conn);
	assert_int_equal(o2_conn_get_state(pair->a.conn), O2_CONN_DISCONNECTED);
	assert_string_equal(o2_conn_get_fault(pair->a.conn)->error.rule, "wire/header/checksum");
	return o2_conn_get_fault(pair->a.conn);
}

/* A wrong checksum closes the connection; the fault tells whether an option would accept the message. */
TEST(what_an_option_would_lift)
{
	static const uint8_t payload[100] = {1, 2, 3};
	struct pair *pair = pair_default();
	struct o2_msg *msg = o2_msg_begin(pair->b.conn, O2_MSG_IMMEDIATE);

	msg->u.immediate.hdr = o2_conn_lnet_hdr(pair->b.conn, O2_LNET_PUT, 0, 0);
	msg->u.immediate.hdr.payload_length = sizeof(payload);
	msg->u.immediate.payload = payload;
	assert_true(after_wrong_sum(pair, msg)->tolerable);
	pair_close(pair);
	pair = pair_default();
	msg = o2_msg_begin(pair->b.conn, O2_MSG_IMMEDIATE);
	msg->u.immediate.hdr = o2_conn_lnet_hdr(pair->b.conn, O2_LNET_ACK, 0, 0);
	assert_false(after_wrong_sum(pair, msg)->tolerable);
	pair_close(pair);
}

/* An IMMEDIATE whose header bytes are all below 0x80, with 64 bytes of payload. */
#define QUIET_BYTES 184u

/*
 * A byte of 0x80 or more adds 256 less to the signed sum than to the unsigned one, and each byte after it
 * doubles the difference, modulo 2^32 - 1.  So the effects of 32 such bytes in a row cancel.
 */
TEST(a_sum_of_both)
{
	struct o2_checksums sums;
	uint8_t bytes[QUIET_BYTES];
	struct o2_msg msg = {
		.order = O2_LITTLE_ENDIAN,
		.ibm_version = O2_MSG_VERSION_2,
		.ibm_type = O2_MSG_IMMEDIATE,
		.ibm_srcnid = NID(0),
		.ibm_dstnid = NID(1),
		.u.immediate.hdr = {.type = O2_LNET_PUT, .payload_length = 64},
	};
	uint8_t payload[64] = {0};

	msg.u.immediate.payload = payload;
	for (int flavour = O2_CKSUM_UNSIGNED; flavour <= O2_CKSUM_SIGNED; flavour++) {
		msg.cksum_flavour = (enum o2_cksum_flavour)flavour;
		assert_int_equal(o2_msg_encode(&msg, NULL, bytes, sizeof(bytes), NULL), QUIET_BYTES);
		assert_int_equal(o2_msg_checksum_shown(bytes, QUIET_BYTES), flavour);
	}
	/* Each set bit of d, the negated difference, flips bit 7 of one payload byte, whose part in the
	 * difference has the weight of that bit. */
	sums = o2_msg_checksum_both(bytes, QUIET_BYTES);
	for (int round = 0; sums.of_unsigned != sums.of_signed && round < 1000; round++) {
		const uint64_t modulus = UINT32_MAX;
		uint64_t d = (sums.of_unsigned + modulus - sums.of_signed) % modulus;

		d = (modulus - d) % modulus;
		for (uint32_t bit = 0; bit < 32; bit++) /* byte at: 256 << (63 - at) */
			if ((d >> (bit + 8) % 32 & 1) != 0)
				payload[63 - bit] ^= 0x80;
		payload[0] = (uint8_t)(round & 0x7f);
		assert_int_equal(o2_msg_encode(&msg, NULL, bytes, sizeof(bytes), NULL), QUIET_BYTES);
		sums = o2_msg_checksum_both(bytes, QUIET_BYTES);
	}
	assert_int_equal(sums.of_unsigned, sums.of_signed);
	assert_int_equal(o2_msg_checksum_shown(bytes, QUIET_BYTES), O2_CKSUM_NONE);
	/* A message without a checksum, or with a wrong one, shows no flavour. */
	memset(bytes + 12, 0, 4);
	assert_int_equal(o2_msg_checksum_shown(bytes, QUIET_BYTES), O2_CKSUM_NONE);
	bytes[12] = 1;
	assert_int_equal(o2_msg_checksum_shown(bytes, QUIET_BYTES), O2_CKSUM_NONE);
}
