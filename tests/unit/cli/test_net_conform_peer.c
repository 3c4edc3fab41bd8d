/* SPDX-License-Identifier: MIT */

#include <inttypes.h>

#include "lnd/conn/conn_internal.h"
#include "props/command/wrong.h"
#include "tests/lib/net_world.h"
#include "wire/bytes.h"
#include "wire/layout.h"
#include "wire/nid.h"
#include "wire/reject.h"

/*
 * Peers that break one rule each, in connection-manager private data or in messages, and the probe that reports it
 * (docs/conform.md, "Probes").  tests/system/test_conform.py has the peers that the quirks make.
 */

#define PLACE_BYTES (2u << 20)
#define PLACE_PAGE  2u
#define RUN	    "conform --timeout 2 --place-bytes 2097152 --rounds 1 10.77.0.2@o2ib --only "

static struct o2_wrong wrong;
static uint32_t place_options; /* of the peer's memory, besides those that it always has */
static uint32_t place_portal = O2_NET_PORTAL;

/* A peer that offers no memory, and says what is wrong. */
static void be_empty(void)
{
	o2_wrong_say(&wrong, &world.ni, world.cm);
}

/* A peer that offers memory at both places, and says what is wrong. */
static void be_false(void)
{
	static struct o2_iov iov[2];
	struct o2_lnet_entry entry = {.match_bits = O2_NET_MATCH_BITS,
				      O2_LNET_FOR_ANYBODY,
				      .options = O2_LNET_MD_OP_GET | O2_LNET_MD_OP_PUT |
						 O2_LNET_MD_MANAGE_REMOTE | place_options};

	for (uint32_t i = 0; i < 2; i++) {
		entry.portal = i == 0 ? place_portal : O2_NET_READ_PORTAL;
		entry.memory = world_memory(PLACE_PAGE + i * PLACE_BYTES / world.ni.arena.page_bytes,
					    PLACE_BYTES, &iov[i]);
		assert_true(o2_lnet_attach(world.endpoint.lnet, &entry, NULL) >= 0);
	}
	be_empty();
}

/* Assert that the probe reports a finding with this text. */
static void expect(const char *probe, struct o2_wrong what, const char *said)
{
	char line[200], finding[80];

	world_with(be_false);
	wrong = what;
	snprintf(line, sizeof(line), RUN "%s", probe);
	snprintf(finding, sizeof(finding), "FINDING   %s ", probe);
	if (world_run(line) != O2_CLI_REFUSED || strstr(world.out, finding) == NULL ||
	    strstr(world.out, said) == NULL)
		fail_msg("%s: expected '%s' and '%s' in\n%s%s", probe, finding, said, world.out, world.err);
	assert_true(wrong.told > 0);
}

/* Run the probes on a peer that is as the test has made it; nothing is found. */
static void expect_clean(const char *probes, const char *said)
{
	char line[200];

	wrong = (struct o2_wrong){.in = O2_WRONG_NOWHERE};
	snprintf(line, sizeof(line), RUN "%s", probes);
	if (world_run(line) != O2_CLI_OK || strstr(world.out, said) == NULL)
		fail_msg("%s: expected '%s' in\n%s%s", probes, said, world.out, world.err);
}

TEST(a_true_peer_is_clean)
{
	world_with(be_false);
	expect_clean("ping/,connect/,missing/,end/,put/,get/",
		     " 0 findings, 0 known, 0 tolerated, 0 not tried;");
}

/* LNet's ping is at portal 0 too, under other match bits; and the last portal may be a place. */
TEST(a_place_may_be_at_any_portal)
{
	world_with(be_false);
	place_portal = 0;
	expect_clean("ping/,missing/,end/,put/ --portal 0", " 0 not tried;");
	place_portal = 65535;
	expect_clean("missing/,put/ --portal 65535", " 0 not tried;");
	place_portal = O2_NET_PORTAL;
}

/* A peer may refuse a version as such, or for limits below those that the version has. */
TEST(a_version_that_the_peer_refuses)
{
	world_with(be_false);
	world.conn.max_frags = O2_MAX_FRAGS_LEGACY;
	expect_clean("flow/version-1",
		     "not tried flow/version-1         it does not speak it: rejected: fatal");
	expect_clean("connect/", " 1 not tried;");
	world_with(be_false);
	world.conn.version = O2_MSG_VERSION_1;
	expect_clean("flow/version-1", "holds     flow/version-1 ");
	expect_clean("connect/depth-8", "not tried connect/depth-8        it does not speak version 0x12: ");
}

#define WRONG(...) ((struct o2_wrong){O2_WRONG_ALWAYS, .lst_type = O2_WRONG_ANY, __VA_ARGS__})

/* The spared replies belong to the first ping, which looks for a peer, and to the survey. */
TEST(replies_are_held_to_the_request)
{
#define REPLY(...) WRONG(.in = O2_WRONG_REPLY, .spares = 6, __VA_ARGS__)
	expect("connect/depth-4", REPLY(.at = O2_AT_QUEUE_DEPTH, .width = 2, .value = 5),
	       "connack/queue-depth-over");
	expect("connect/depth-4", REPLY(.at = O2_AT_QUEUE_DEPTH, .width = 2, .value = 1),
	       "connack/queue-depth-under");
	expect("connect/frags-16", REPLY(.at = O2_AT_MAX_FRAGS, .width = 2, .value = 17),
	       "connack/max-frags-over");
	expect("connect/size-4096", REPLY(.at = O2_AT_MAX_MSG_SIZE, .width = 4, .value = 8192),
	       "connack/max-msg-size-over");
	expect("connect/depth-4", REPLY(.at = O2_AT_DSTSTAMP, .width = 8, .value = 1, .adds = true),
	       "connack/dststamp");
	expect("connect/depth-4", REPLY(.at = O2_AT_SRCNID, .width = 8, .value = 1, .adds = true),
	       "ibm_srcnid is");
	expect("connect/version-1", REPLY(.at = O2_AT_VERSION, .width = 2, .value = O2_MSG_VERSION_2),
	       "version");
	expect("connect/depth-4", REPLY(.at = O2_AT_TYPE, .width = 1, .value = O2_MSG_CONNREQ), "type");
	expect("connect/depth-4", REPLY(.at = O2_AT_MAGIC, .width = 4, .value = 7), "wire/header/magic");
#undef REPLY
}

TEST(rejects_are_held_to_what_they_say)
{
#define REJECT(...) WRONG(.in = O2_WRONG_REJECT, __VA_ARGS__)
	/* The peer has a queue depth of 8, and its reject says so. */
	expect("connect/depth-16", REJECT(.at = O2_REJECT_AT_QUEUE_DEPTH, .width = 2, .value = 16),
	       "rejected: queue-depth (reason 7)");
	expect("connect/depth-16", REJECT(.at = O2_REJECT_AT_QUEUE_DEPTH, .width = 2, .value = 12),
	       "asked for what its reject allows (depth 12, 257 fragments): rejected: queue-depth");
	expect("connect/depth-255", REJECT(.at = O2_REJECT_AT_WHY, .width = 1, .value = O2_REJECT_FATAL),
	       "rejected: fatal (reason 3)");
	expect("connect/depth-16", REJECT(.at = O2_REJECT_AT_MAGIC, .width = 4, .value = 7),
	       "rejected without a record");
	expect("connect/other-life", REJECT(.at = O2_REJECT_AT_WHY, .width = 1, .value = O2_REJECT_FATAL),
	       "expected stale (reason 5)");
	expect("connect/other-life",
	       REJECT(.at = O2_REJECT_AT_INCARNATION, .width = 8, .value = 1, .adds = true),
	       "the record has incarnation");
#undef REJECT
}

#define MESSAGE(of, ...) WRONG(.in = O2_WRONG_MESSAGE, .type = (of), __VA_ARGS__)
#define LNET(of, ...)	 MESSAGE(O2_MSG_IMMEDIATE, .lnet_type = (of), __VA_ARGS__)

TEST(answers_to_pings_are_read)
{
	expect("ping/one", LNET(O2_LNET_REPLY, .at = O2_AT_PAYLOAD, .width = 4, .value = 7),
	       "lnet/ping/magic");
	/* The NIs begin after 16 bytes; each has a NID of 8 bytes and its status. */
	expect("ping/info", LNET(O2_LNET_REPLY, .at = O2_AT_PAYLOAD + 16, .width = 8, .value = WORLD_PEER),
	       "is not 0@lo");
	expect("ping/info", LNET(O2_LNET_REPLY, .at = O2_AT_PAYLOAD + 32, .width = 8, .value = WORLD_US),
	       "the NID that was asked is not among its 2");
	expect("ping/info",
	       LNET(O2_LNET_REPLY, .at = O2_AT_PAYLOAD + 40, .width = 4, .value = O2_PING_NI_DOWN),
	       "ns_status of the NID that was asked is 0xdeadface");
}

/* A peer that moves what fits reports no more. */
TEST(what_fits_is_what_was_moved)
{
	place_options = O2_LNET_MD_TRUNCATE;
	world_with(be_false);
	wrong = (struct o2_wrong){.in = O2_WRONG_NOWHERE};
	assert_int_equal(world_run(RUN "end/"), O2_CLI_OK);
	expect("end/put-small",
	       LNET(O2_LNET_ACK, .at = O2_AT_LNET_HDR + O2_LNET_AT_UNION + 24, .width = 4, .value = 1500,
		    .spares = 2),
	       "are there: the peer reports 1500 bytes");
	place_options = 0;
}

TEST(what_is_reported_is_what_was_moved)
{
	expect("get/size-4096",
	       MESSAGE(O2_MSG_GET_DONE, .at = O2_AT_STATUS, .width = 4, .value = 4095, .spares = 3),
	       "the peer reports 4095 bytes");
	expect("put/size-1",
	       LNET(O2_LNET_ACK, .at = O2_AT_LNET_HDR + O2_LNET_AT_UNION + 24, .width = 4, .value = 0,
		    .spares = 2),
	       "the peer reports 0 bytes");
	/* The payload of an IMMEDIATE. */
	expect("put/size-1",
	       LNET(O2_LNET_REPLY, .at = O2_AT_PAYLOAD, .width = 1, .value = 1, .adds = true, .spares = 2),
	       "byte 0 is 0x");
	expect("get/size-1",
	       LNET(O2_LNET_REPLY, .at = O2_AT_PAYLOAD, .width = 1, .value = 1, .adds = true, .spares = 3),
	       "1 bytes differ, from byte 0 on");
}

TEST(what_is_missing_is_said_as_it_must)
{
	expect("missing/put", MESSAGE(O2_MSG_PUT_NAK, .at = O2_AT_STATUS, .width = 4, .value = (uint32_t)-5),
	       "PUT of 8192 bytes at offset 0 ends with EIO");
	/* Only a status of 0 says that there is no memory. */
	expect("missing/put", MESSAGE(O2_MSG_PUT_NAK, .at = O2_AT_STATUS, .width = 4, .value = (uint32_t)-61),
	       "PUT of 8192 bytes at offset 0 ends with ENODATA");
	expect("missing/get",
	       MESSAGE(O2_MSG_GET_DONE, .at = O2_AT_STATUS, .width = 4, .value = 0, .spares = 2),
	       "GET of 8192 bytes to portal 65535: success, 0 bytes");
}

/* The bits of an offset that the peer uses. */
static uint32_t offset_bits;

/* The offset of a PUT or a GET is here in its LNet header's part; 0: the message is another one. */
static uint32_t offset_at(const uint8_t *bytes)
{
	const uint32_t type = o2_load32_le(bytes + O2_AT_LNET_HDR + O2_LNET_AT_TYPE);

	if (bytes[O2_AT_TYPE] == O2_MSG_PUT_REQ ||
	    (bytes[O2_AT_TYPE] == O2_MSG_IMMEDIATE && type == O2_LNET_PUT))
		return O2_AT_LNET_HDR + O2_LNET_AT_UNION + 36;
	if (bytes[O2_AT_TYPE] == O2_MSG_GET_REQ ||
	    (bytes[O2_AT_TYPE] == O2_MSG_IMMEDIATE && type == O2_LNET_GET))
		return O2_AT_LNET_HDR + O2_LNET_AT_UNION + 28;
	return 0;
}

static int poll_falsely(void *context, struct ibv_cq *cq, int count, struct ibv_wc *wc, uint64_t now_ms)
{
	const struct o2_conn *conn = o2_node_conn(world.endpoint.node, WORLD_US, 0);
	const int polled = ibv_poll_cq(cq, count, wc);

	for (int i = 0; i < polled && conn != NULL && o2_conn_cq(conn) == cq; i++) {
		uint8_t *bytes;
		uint32_t at;

		if (wc[i].status != IBV_WC_SUCCESS || O2_WR_ID_WORK(wc[i].wr_id) != O2_WORK_RECV)
			continue;
		bytes = o2_rx_bytes(conn, O2_RX_OF(wc[i].wr_id));
		at = offset_at(bytes);
		if (at != 0)
			memcpy(bytes + at, &(uint32_t){o2_load32_le(bytes + at) & offset_bits}, 4);
	}
	return polled;
}

static const struct o2_work_ops poll_ops = {.poll_cq = poll_falsely};

static void be_false_in_offsets(void)
{
	be_false();
	world.ni.config.work_ops = &poll_ops;
}

/* A peer uses one offset for all, or rounds them: what was PUT there comes back all the same. */
TEST(offsets_are_the_peers_too)
{
	static const uint32_t bits[] = {0, ~4095u, ~1u};
	static const char *const probes[] = {"offset/remote-1", "offset/remote-511", "offset/remote-3000",
					     "offset/remote-4095", "offset/remote-5000"};
	char line[200];

	wrong = (struct o2_wrong){.in = O2_WRONG_NOWHERE};
	for (uint32_t i = 0; i < 3; i++)
		for (uint32_t j = 0; j < 5; j++) {
			world_with(be_false_in_offsets);
			offset_bits = bits[i];
			snprintf(line, sizeof(line), RUN "%s", probes[j]);
			if (world_run(line) != O2_CLI_REFUSED ||
			    strstr(world.out, "FINDING   offset/") == NULL)
				fail_msg("%s, 0x%" PRIx32 ": %s%s", probes[j], bits[i], world.out, world.err);
		}
	world_with(be_false_in_offsets);
	offset_bits = ~0u;
	assert_int_equal(world_run(RUN "offset/"), O2_CLI_OK);
}

/* Faults that a probe does not check are found by the judge. */
TEST(the_judge_hears_what_goes_on)
{
	expect("ping/twenty", LNET(O2_LNET_REPLY, .at = O2_AT_CREDITS, .width = 1, .value = 9, .spares = 2),
	       "judge/credits/over-owed the peer, in ping/twenty: ");
	expect("ping/twenty",
	       LNET(O2_LNET_REPLY, .at = O2_AT_SRCSTAMP, .width = 8, .value = 1, .adds = true, .spares = 2),
	       "judge/message/stamps");
}

/* The number of messages that `what` selects when the peer changes nothing. */
static uint32_t count(struct o2_wrong what, void (*start)(void), uint32_t rounds, const char *probe)
{
	char line[200];

	world_with(start);
	wrong = what;
	wrong.spares = UINT32_MAX;
	snprintf(line, sizeof(line), RUN "%s --rounds %" PRIu32, probe, rounds);
	if (world_run(line) != O2_CLI_OK)
		fail_msg("%s%s", world.out, world.err);
	return UINT32_MAX - wrong.spares;
}

static uint32_t connections(void (*start)(void), uint32_t rounds, const char *probe)
{
	return count(WRONG(.in = O2_WRONG_REPLY), start, rounds, probe);
}

/* The pings of a probe, without that of ping/one and those at the start of every run. */
static uint32_t pings_of(const char *probe)
{
	const struct o2_wrong answers = LNET(O2_LNET_REPLY, .width = 0);

	return count(answers, be_empty, 1, probe) - count(answers, be_empty, 1, "ping/one");
}

/* The numbers are those of docs/conform.md, "What each probe says". */
TEST(how_often_it_pings)
{
	assert_int_equal(pings_of("ping/twenty"), 20 - 1);
	assert_int_equal(pings_of("ping/many"), 64 - 1);
	assert_int_equal(pings_of("flow/version-1"), 16 - 1);
	assert_int_equal(pings_of("flow/big-endian"), 16 - 1);
	assert_int_equal(pings_of("flow/depth-3"), 6 - 1);
}

/* Once a round with many operations under way; afterwards conform checks the peer, with its memory or without. */
TEST(how_often_it_leaves)
{
	const uint32_t ping = connections(be_false, 1, "ping/one"),
		       rest = connections(be_empty, 1, "ping/one");

	for (uint32_t rounds = 1; rounds < 4; rounds++)
		assert_int_equal(connections(be_false, rounds, "leave/many"), ping + rounds);
	assert_int_equal(connections(be_false, 1, "leave/ping") - ping,
			 connections(be_empty, 1, "leave/ping") - rest);
}

/* The number of our connection requests that are still answered; the next one fails as unreachable. */
static uint32_t answered;

static enum o2_cm_loop_fate be_out_of_reach(void *arg, enum o2_cm_loop_message message, uint32_t from,
					    uint32_t to)
{
	return message == O2_CM_LOOP_REQUEST && from == o2_nid_address(WORLD_US) && answered-- == 0
		       ? O2_CM_LOOP_UNREACHABLE
		       : O2_CM_LOOP_PASS;
}

/* That request is lost, and its sender is not told. */
static enum o2_cm_loop_fate be_lost(void *arg, enum o2_cm_loop_message message, uint32_t from, uint32_t to)
{
	return be_out_of_reach(arg, message, from, to) == O2_CM_LOOP_PASS ? O2_CM_LOOP_PASS : O2_CM_LOOP_LOSE;
}

static o2_cm_loop_fate_fn fate;

static void be_fated(void)
{
	be_false();
	o2_cm_loop_set_fate(world.wire, fate, NULL);
}

/* The connection requests of the ping and the survey succeed; that of the probe does not. */
#define SURVEYED 6u

TEST(a_request_that_nobody_answers)
{
	world_with(be_fated);
	fate = be_out_of_reach;
	wrong = (struct o2_wrong){.in = O2_WRONG_NOWHERE};
	answered = SURVEYED;
	assert_int_equal(world_run(RUN "connect/depth-4"), O2_CLI_REFUSED);
	assert_non_null(strstr(world.out, "FINDING   connect/depth-4 "));
	assert_non_null(strstr(world.out, "no answer: ETIMEDOUT\n"));
}

TEST(a_request_that_is_lost)
{
	world_with(be_fated);
	fate = be_lost;
	wrong = (struct o2_wrong){.in = O2_WRONG_NOWHERE};
	answered = SURVEYED;
	assert_int_equal(world_run(RUN "connect/depth-4"), O2_CLI_REFUSED);
	assert_non_null(strstr(world.out, "no answer in 2 s\n"));
}

/* Whenever our request is on its way, the peer has just sent one, which does not arrive. */
static enum o2_cm_loop_fate cross_ours(void *arg, enum o2_cm_loop_message message, uint32_t from, uint32_t to)
{
	static struct o2_iov iov;
	const struct o2_transfer_memory sink = world_memory(1100, O2_PING_SINK_BYTES, &iov);
	const struct o2_lnet_target target = {
		.nid = WORLD_US, .portal = O2_PING_PORTAL, .match_bits = O2_PING_MATCH_BITS};

	if (message != O2_CM_LOOP_REQUEST)
		return O2_CM_LOOP_PASS;
	if (from == o2_nid_address(WORLD_PEER))
		return O2_CM_LOOP_LOSE;
	if (answered-- == 0) {
		o2_node_progress(world.endpoint.node);
		(void)o2_lnet_get(world.endpoint.lnet, &target, &sink, NULL, NULL);
		o2_node_progress(world.endpoint.node);
	}
	return O2_CM_LOOP_PASS;
}

TEST(a_race_is_no_refusal)
{
	world_with(be_fated);
	fate = cross_ours;
	answered = SURVEYED;
	expect_clean("connect/depth-4", "holds     connect/depth-4 ");
}

TEST(a_request_that_cannot_be_made)
{
	world_with(be_false);
	wrong = (struct o2_wrong){.in = O2_WRONG_NOWHERE};
	world.connect_error = -ENOMEM;
	world.connects = SURVEYED;
	assert_int_equal(world_run(RUN "connect/depth-4"), O2_CLI_REFUSED);
	assert_non_null(strstr(world.out, "not tried connect/depth-4 "));
	assert_non_null(strstr(world.out, "our end cannot ask: Cannot allocate memory"));
	assert_string_equal(world.err, "o2ref: not enough memory, so not all was tried\n");
}
