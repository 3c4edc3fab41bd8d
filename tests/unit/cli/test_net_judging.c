/* SPDX-License-Identifier: MIT */

/* --judge judges the messages at our own end, whichever side connected (docs/judge.md, "At an end of ours"). */

#include "base/monotonic.h"
#include "base/stream.h"
#include "cli/net/judging.h"
#include "loopverbs/loopverbs.h"
#include "props/command/wrong.h"
#include "tests/lib/judge_say.h"
#include "tests/lib/net_world.h"
#include "wire/layout.h"
#include "wire/nid.h"

#define COUNT	   40u
#define SIZE_BYTES 16384u

/* The peer sends PUTs, and reads the bytes back with GETs. */
static void move_round(void)
{
	static struct o2_iov iov[COUNT];
	const uint32_t number = world.nstarted;
	const struct o2_lnet_target target = {.nid = WORLD_US,
					      .portal = O2_NET_PORTAL,
					      .match_bits = O2_NET_MATCH_BITS,
					      .hdr_data = number + 1,
					      .ack = true};
	struct o2_transfer_memory memory;

	if (number == COUNT || world.nended < number)
		return;
	memory = world_memory(2 + number * (SIZE_BYTES / 4096), number % 3 == 0 ? 1000 : SIZE_BYTES,
			      &iov[number]);
	if (number % 2 == 0)
		assert_int_equal(o2_lnet_put(world.endpoint.lnet, &target, &memory, NULL, NULL), 0);
	else
		assert_int_equal(o2_lnet_get(world.endpoint.lnet, &target, &memory, NULL, NULL), 0);
	world.nstarted++;
}

TEST_WITH(a_server_hears_both_sides_and_finds_nothing, world_setup, NULL)
{
	world.round = move_round;
	assert_int_equal(world_run("serve --judge --requests 40"), O2_CLI_OK);
	assert_int_equal(world.status, 0);
	assert_string_equal(world.err, "");
	/* Messages: small PUT and ACK: 2; GET and REPLY: 2; by RDMA 4 and 2.  WRITEs: 13 GETs of 4 pages each. */
	assert_non_null(strstr(world.out, "judge: "));
	assert_non_null(strstr(world.out, " 52 WRITEs of ours on 1 connection: 0 must, 0 should, 0 notes\n"));
}

TEST_WITH(a_peer_that_breaks_a_rule_is_named, world_setup, NULL)
{
	world.round = move_round;
	assert_int_equal(o2_quirks_add(&world.quirks, "sums-other-bytes", NULL, 0), 0);
	assert_int_equal(world_run("serve --judge --timeout 2 --requests 1"), O2_CLI_REFUSED);
	assert_non_null(strstr(world.err, "o2ref: judge: must message/wire: 10.77.0.2@o2ib (to "
					  "10.77.0.1@o2ib): wire/header/checksum: ibm_cksum is "));
}

/* --- conform: another node connects to us, and breaks a rule --- */

#define OTHER UINT64_C(0x000500000a4d0003) /* 10.77.0.3@o2ib */

static struct {
	struct o2_ni ni;
	struct o2_cm *cm;
	struct o2_endpoint endpoint;
	struct o2_transfer_memory sink;
	struct o2_iov iov;
	bool asks;
	struct o2_wrong wrong;
} other;

static void other_done(void *context, const struct o2_lnet_result *result)
{
	other.asks = false;
}

static void other_start(void)
{
	const struct o2_ni_config config = o2_net_ni_config(OTHER, "loop1", O2_LOOP_GID_INDEX, 8);
	const struct o2_node_config node = O2_NODE_DEFAULTS;
	const struct o2_lnet_ops ops = {.done = other_done};
	struct o2_lnet_config lnet = O2_LNET_DEFAULTS;

	lnet.nid = OTHER;
	other.asks = false;
	assert_int_equal(o2_ni_open(&config, &other.ni, NULL), 0);
	assert_int_equal(o2_cm_loop_attach(world.wire, &other.ni, o2_nid_address(OTHER), &other.cm, NULL), 0);
	o2_wrong_say(&other.wrong, &other.ni, other.cm);
	assert_int_equal(
		o2_endpoint_open(&other.ni, other.cm, &node, &lnet, &ops, NULL, &other.endpoint, NULL), 0);
	other.iov = (struct o2_iov){other.ni.arena.view[0].base + 2 * (uint64_t)other.ni.arena.page_bytes,
				    O2_PING_SINK_BYTES};
	other.sink = (struct o2_transfer_memory){
		.buffer = {.kind = O2_IOV, .count = 1, .nob = O2_PING_SINK_BYTES, .iov = &other.iov},
		.mode = O2_REG_GLOBAL};
}

static void other_round(void)
{
	const struct o2_lnet_target target = {
		.nid = WORLD_US, .portal = O2_PING_PORTAL, .match_bits = O2_PING_MATCH_BITS};

	o2_endpoint_clock(&other.endpoint, o2_monotonic_ms());
	o2_node_progress(other.endpoint.node);
	if (!other.asks)
		other.asks = o2_lnet_get(other.endpoint.lnet, &target, &other.sink, NULL, NULL) == 0;
}

static void other_leave(void)
{
	o2_endpoint_close(&other.endpoint);
	o2_cm_loop_detach(other.cm);
	o2_ni_close(&other.ni);
}

/* What another node breaks meanwhile is not the peer's. */
TEST(another_node_is_not_the_peer)
{
	world_with(other_start);
	world.round = other_round;
	world.leave = other_leave;
	other.wrong = (struct o2_wrong){O2_WRONG_ALWAYS,
					.in = O2_WRONG_MESSAGE,
					.type = O2_MSG_IMMEDIATE,
					.lnet_type = O2_LNET_GET,
					.lst_type = O2_WRONG_ANY,
					.at = O2_AT_CREDITS,
					.width = 1,
					.value = 9,
					.answered = 1};
	if (world_run("conform --timeout 2 10.77.0.2@o2ib --only ping/twenty") != O2_CLI_OK)
		fail_msg("%s%s", world.out, world.err);
	assert_true(other.wrong.told > 0);
}

/* Events that the test reports to the judging, in place of an interface. */
struct told {
	struct o2_net_options options;
	struct o2_net_judging *judging;
};

static void begin(struct told *told)
{
	*told = (struct told){.options = {.timeout_ms = 1000, .json = true}};
	told->judging = o2_net_judging_new(&told->options);
	assert_non_null(told->judging);
}

static void tell(struct told *told, struct o2_watched watched)
{
	const struct o2_watch *watch = o2_net_judging_watch(told->judging);

	watch->hear(watch->context, &watched);
}

static long must(const struct told *told)
{
	json_t *form = o2_net_judging_to_json(told->judging);
	const long times = (long)json_integer_value(json_object_get(form, "must"));

	assert_non_null(form);
	json_decref(form);
	return times;
}

TEST(bytes_that_mean_nothing_are_a_finding_and_no_more)
{
	static const uint8_t bytes[256] = {1, 2, 3};
	struct told told;
	int name;

	begin(&told);
	/* A message on an unknown connection, before any request. */
	tell(&told, (struct o2_watched){
			    .kind = O2_WATCHED_MESSAGE, .conn = &name, .bytes = bytes, .length_bytes = 256});
	assert_int_equal(must(&told), 0);
	for (int ours = 0; ours < 2; ours++) {
		tell(&told, (struct o2_watched){.kind = O2_WATCHED_REQUEST,
						.ours = ours != 0,
						.conn = &name,
						.bytes = bytes,
						.length_bytes = 200});
		assert_int_equal(must(&told), 3 * ours + 1);
		tell(&told, (struct o2_watched){.kind = O2_WATCHED_REJECT,
						.ours = ours == 0,
						.conn = &name,
						.bytes = bytes,
						.length_bytes = 100});
		assert_int_equal(must(&told), 3 * ours + 2);
		tell(&told,
		     (struct o2_watched){
			     .kind = O2_WATCHED_MESSAGE, .conn = &name, .bytes = bytes, .length_bytes = 0});
		assert_int_equal(must(&told), 3 * ours + 3);
		tell(&told, (struct o2_watched){.kind = O2_WATCHED_GONE, .conn = &name});
		tell(&told, (struct o2_watched){.kind = O2_WATCHED_GONE, .conn = &name});
	}
	assert_int_equal(o2_net_judging_end(told.judging, O2_CLI_OK), O2_CLI_REFUSED);
}

TEST(a_reject_without_a_record_is_nobodys)
{
	const struct o2_msg asked = say_request_of(SAY_DEPTH, SAY_FRAGS);
	uint8_t request[O2_CONNREQ_BYTES], reject[O2_REJECT_PRIVATE_BYTES] = {0};
	struct told told;

	begin(&told);
	assert_int_equal(o2_msg_encode(&asked, NULL, request, sizeof(request), NULL), sizeof(request));
	tell(&told, (struct o2_watched){.kind = O2_WATCHED_REQUEST,
					.ours = true,
					.conn = &told,
					.bytes = request,
					.length_bytes = sizeof(request)});
	for (int says = 0; says < 2; says++) {
		reject[sizeof(reject) - 1] = (uint8_t)says;
		tell(&told, (struct o2_watched){.kind = O2_WATCHED_REJECT,
						.conn = &told,
						.bytes = reject,
						.length_bytes = sizeof(reject)});
		assert_int_equal(must(&told), says);
	}
	assert_int_equal(o2_net_judging_end(told.judging, O2_CLI_OK), O2_CLI_REFUSED);
}

TEST(a_worse_exit_status_stays)
{
	struct told told;

	begin(&told);
	assert_int_equal(o2_net_judging_end(told.judging, O2_CLI_USAGE), O2_CLI_USAGE);
	assert_int_equal(o2_net_judging_end(NULL, O2_CLI_OK), O2_CLI_OK);
	assert_null(o2_net_judging_watch(NULL));
}
