/* SPDX-License-Identifier: MIT */

/*
 * GETs that return fewer bytes than requested or than the peer reports; how failures are counted; and a peer's
 * own requests meanwhile (docs/peer.md, "Verifying", "When it does not work", "Being asked").
 */

#include "cli/net/commands.h"
#include "tests/lib/net_world.h"
#include "wire/nid.h"

#include "base/stream.h"
#include "cli/net/event.h"

#define HELD_BYTES 65536u

/*
 * The peer's memory.  To imitate bytes that were never written, it holds what the command fills its sink with
 * before a GET: the complement of the right bytes.
 */
static struct held {
	uint32_t bytes;		 /* size of the peer's memory; longer GETs are truncated */
	uint32_t unwritten_from; /* from here on bytes look unwritten */
	uint32_t wrong_at;	 /* this byte is wrong; UINT32_MAX: none */
	uint32_t portal;
} held;

static void hold(void)
{
	static struct o2_iov iov;
	struct o2_lnet_entry entry = {
		.portal = held.portal,
		.match_bits = O2_NET_MATCH_BITS,
		O2_LNET_FOR_ANYBODY,
		.options = O2_LNET_MD_OP_GET | O2_LNET_MD_OP_PUT | O2_LNET_MD_MANAGE_REMOTE |
			   O2_LNET_MD_TRUNCATE,
		.memory = world_memory(2, held.bytes, &iov),
	};
	uint8_t *bytes = (uint8_t *)(uintptr_t)iov.base;

	o2_stream_fill(bytes, held.bytes, O2_NET_SEED, O2_STREAM_MEMORY, 0);
	for (uint32_t i = held.unwritten_from; i < held.bytes; i++)
		bytes[i] ^= 0xff;
	if (held.wrong_at < held.bytes)
		bytes[held.wrong_at] ^= 1;
	assert_true(o2_lnet_attach(world.endpoint.lnet, &entry, NULL) >= 0);
}

static int get(uint32_t bytes, uint32_t unwritten_from, uint32_t wrong_at, const char *line)
{
	world_with(hold);
	held = (struct held){bytes, unwritten_from, wrong_at, O2_NET_READ_PORTAL};
	return world_run(line);
}

#define NONE UINT32_MAX

static void expect(long done, long failed, long shorts, long verified, long wrong)
{
	assert_int_equal(world_number("done"), done);
	assert_int_equal(world_number("failed"), failed);
	assert_int_equal(world_number("short"), shorts);
	assert_int_equal(world_number("verified"), verified);
	assert_int_equal(world_number("wrong"), wrong);
}

/* Assert that stderr is just this line, without EMSGSIZE or its text. */
static void expect_line(const char *line)
{
	assert_string_equal(world.err, line);
}

TEST(a_short_answer)
{
	/* By RDMA, and as an IMMEDIATE. */
	assert_int_equal(get(8192, NONE, NONE, "get --json 10.77.0.2@o2ib"), 1);
	expect_line("o2ref: GET 0 at 10.77.0.2@o2ib: short: the peer reports 8192 of 65536 bytes\n");
	expect(0, 1, 1, 0, 0);
	assert_int_equal(get(100, NONE, NONE, "get --json --verify --size 3000 10.77.0.2@o2ib"), 1);
	expect_line("o2ref: GET 0 at 10.77.0.2@o2ib: short: the peer reports 100 of 3000 bytes\n");
	expect(0, 1, 1, 1, 0);
	/* The GET returns no byte at all. */
	assert_int_equal(get(8192, NONE, NONE, "get --json --verify --offset 8192 10.77.0.2@o2ib"), 1);
	expect_line("o2ref: GET 0 at 10.77.0.2@o2ib: short: the peer reports 0 of 65536 bytes\n");
	expect(0, 1, 1, 1, 0);
}

TEST(a_short_answer_is_accepted)
{
	assert_int_equal(get(8192, NONE, NONE, "get --json --verify --accept-short --count 5 10.77.0.2@o2ib"),
			 0);
	expect_line("");
	expect(5, 0, 5, 5, 0);
	assert_int_equal(world_number("bytes"), 5 * 8192);
	assert_int_equal(get(100, NONE, NONE, "get --accept-short --size 3000 10.77.0.2@o2ib"), 0);
	assert_non_null(strstr(world.out, "get: 1 done, 0 failed, 100 bytes in "));
	assert_non_null(strstr(world.out, "\nshort: 1\n"));
	/* The option does not change the result of a complete GET. */
	assert_int_equal(get(HELD_BYTES, NONE, NONE, "get --json --verify --accept-short 10.77.0.2@o2ib"), 0);
	expect(1, 0, 0, 1, 0);
}

TEST(what_was_not_written)
{
	static const char all[] = "get --json --verify 10.77.0.2@o2ib";
	static const char accepting[] = "get --json --verify --accept-short 10.77.0.2@o2ib";

	assert_int_equal(get(HELD_BYTES, 0, NONE, all), 1);
	expect_line("o2ref: GET 0: the peer reports 65536 bytes and wrote 0 of them\n");
	expect(1, 0, 0, 1, 1);
	assert_int_equal(get(HELD_BYTES, 4096, NONE, all), 1);
	expect_line("o2ref: GET 0: the peer reports 65536 bytes and wrote 4096 of them\n");
	assert_int_equal(get(8192, 0, NONE, accepting), 1);
	expect_line("o2ref: GET 0: short of 65536 bytes: the peer reports 8192 bytes and wrote 0 of them\n");
	expect(1, 0, 1, 1, 1);
	/* Only one line is printed, although the GET is also short. */
	assert_int_equal(get(8192, 4000, NONE, all), 1);
	expect_line(
		"o2ref: GET 0: short of 65536 bytes: the peer reports 8192 bytes and wrote 4000 of them\n");
	expect(0, 1, 1, 1, 1);
	/* A GET of one byte. */
	assert_int_equal(get(HELD_BYTES, 0, NONE, "get --json --verify --size 1 10.77.0.2@o2ib"), 1);
	expect_line("o2ref: GET 0: the peer reports 1 bytes and wrote 0 of them\n");
}

TEST(what_was_written_wrong)
{
	assert_int_equal(get(8192, NONE, 5000, "get --json --verify --accept-short 10.77.0.2@o2ib"), 1);
	assert_non_null(strstr(world.err, "o2ref: GET 0: short of 65536 bytes: byte 5000 is 0x"));
	expect(1, 0, 1, 1, 1);
}

/* A PUT whose ACK says that fewer bytes were taken. */
TEST(a_short_put)
{
	world_with(hold);
	held = (struct held){100, NONE, NONE, O2_NET_PORTAL};
	assert_int_equal(world_run("put --json --size 3000 10.77.0.2@o2ib"), 1);
	expect_line("o2ref: PUT 0 at 10.77.0.2@o2ib: short: the peer reports 100 of 3000 bytes\n");
	expect(0, 1, 1, 0, 0);
}

/* The peer offers memory that accepts PUTs but no GETs. */
static void hold_for_puts(void)
{
	static struct o2_iov iov;
	const struct o2_lnet_entry entry = {
		.portal = O2_NET_PORTAL,
		.match_bits = O2_NET_MATCH_BITS,
		O2_LNET_FOR_ANYBODY,
		.options = O2_LNET_MD_OP_PUT | O2_LNET_MD_MANAGE_REMOTE,
		.memory = world_memory(2, HELD_BYTES, &iov),
	};

	assert_true(o2_lnet_attach(world.endpoint.lnet, &entry, NULL) >= 0);
}

/* A PUT that cannot be read back counts as one failed operation. */
TEST(one_outcome_for_each)
{
	world_with(hold_for_puts);
	assert_int_equal(world_run("put --json 10.77.0.2@o2ib"), 0);
	expect(1, 0, 0, 0, 0);
	assert_int_equal(world_run("put --json --verify 10.77.0.2@o2ib"), 1);
	assert_non_null(strstr(world.err, "o2ref: reading back PUT 0 at 10.77.0.2@o2ib: "));
	expect(0, 1, 0, 0, 0);
	assert_int_equal(world_number("bytes"), 0);
}

/* The peer offers memory for PUTs, and less of it for GETs. */
static void hold_less_for_gets(void)
{
	static struct o2_iov iov;
	struct o2_lnet_entry entry = {
		.portal = O2_NET_PORTAL,
		.match_bits = O2_NET_MATCH_BITS,
		O2_LNET_FOR_ANYBODY,
		.options = O2_LNET_MD_OP_GET | O2_LNET_MD_MANAGE_REMOTE | O2_LNET_MD_TRUNCATE,
		.memory = world_memory(2, 8192, &iov),
	};

	hold_for_puts();
	assert_true(o2_lnet_attach(world.endpoint.lnet, &entry, NULL) >= 0);
}

TEST(a_put_that_is_read_back_short)
{
	world_with(hold_less_for_gets);
	assert_int_equal(world_run("put --json --verify 10.77.0.2@o2ib"), 1);
	expect_line("o2ref: reading back PUT 0 at 10.77.0.2@o2ib: short: the peer reports 8192 of 65536 "
		    "bytes\n");
	expect(0, 1, 1, 1, 0);
}

/* The command ends when its last operation has timed out. */
TEST(it_ends_with_the_last_one)
{
	world_setup(NULL);
	assert_int_equal(world_run("get --json --size 100 --timeout 1 10.77.0.2@o2ib"), 1);
	assert_non_null(strstr(world.err, "for LNet's REPLY, limit 1000 ms\n"));
	assert_int_equal(world.nidle_sleeps, 0);
}

/* --- the peer asks us --- */

/* While the command runs, the peer pings us over a connection of its own, and pushes its ping info. */
static void peer_asks(void)
{
	static struct o2_iov sink_iov, source_iov;
	const struct o2_transfer_memory sink = world_memory(100, O2_PING_SINK_BYTES, &sink_iov);
	const struct o2_transfer_memory source = world_memory(101, O2_PING_INFO_BYTES, &source_iov);
	const struct o2_lnet_target target = {
		.nid = WORLD_US, .portal = O2_PING_PORTAL, .match_bits = O2_PING_MATCH_BITS, .ack = true};

	if (world.nstarted > 0)
		return;
	world.nstarted = 2;
	assert_int_equal(o2_lnet_get(world.endpoint.lnet, &target, &sink, NULL, NULL), 0);
	assert_int_equal(o2_lnet_put(world.endpoint.lnet, &target, &source, NULL, NULL), 0);
}

/* As peer_asks, and stop the command when the peer has its answers. */
static void ask_until_answered(void)
{
	peer_asks();
	o2_net_stop = world.nended == world.nstarted;
}

/* Lose our connection requests, so that only the peer's connection exists. */
static enum o2_cm_loop_fate lose_ours(void *arg, enum o2_cm_loop_message message, uint32_t from, uint32_t to)
{
	return message == O2_CM_LOOP_REQUEST && from == o2_nid_address(WORLD_US) ? O2_CM_LOOP_LOSE
										 : O2_CM_LOOP_PASS;
}

static void lose_and_ask(void)
{
	o2_cm_loop_set_fate(world.wire, lose_ours, NULL);
	peer_asks();
}

TEST(being_asked)
{
	for (int i = 0; i < 5; i++) {
		world_with(lose_and_ask);
		world.round = ask_until_answered;
		/* Nothing is offered at this portal, so the command runs until it is stopped. */
		world_run(i == 0   ? "get --verbose --size 100 --timeout 60 --portal 1 10.77.0.2@o2ib"
			  : i == 1 ? "put --verbose --size 100 --timeout 60 --portal 1 10.77.0.2@o2ib"
			  : i == 2 ? "ping --verbose --timeout 60 --count 9 10.77.0.2@o2ib"
			  : i == 3 ? "lst --verbose --timeout 60 10.77.0.2@o2ib ping"
				   : "conform --verbose --timeout 60 --portal 1 10.77.0.2@o2ib");
		assert_int_equal(world.status, 0);
		assert_int_equal(world.nended, 2);
		assert_non_null(strstr(world.out, "10.77.0.2@o2ib: ping\n"));
		assert_non_null(strstr(world.out, "10.77.0.2@o2ib: push of 48 bytes\n"));
	}
}

/* The peer PUTs 1000 bytes; with the quirk sums-other-bytes, only an option of the server accepts them. */
static void peer_puts(void)
{
	static struct o2_iov iov;
	const struct o2_transfer_memory memory = world_memory(100, 1000, &iov);
	const struct o2_lnet_target target = {
		.nid = WORLD_US, .portal = O2_NET_PORTAL, .match_bits = O2_NET_MATCH_BITS};

	world.nstarted = 1;
	memset((void *)(uintptr_t)iov.base, 0xa5, 1000);
	assert_int_equal(o2_lnet_put(world.endpoint.lnet, &target, &memory, NULL, NULL), 0);
}

static void stop_when_down(void)
{
	o2_net_stop = world.endpoint.fault.side != O2_FAULT_NONE;
}

TEST(what_an_option_accepts)
{
	world_with(peer_puts);
	world.round = stop_when_down;
	assert_int_equal(o2_quirks_add(&world.quirks, "sums-other-bytes", NULL, 0), 0);
	assert_int_equal(world_run("serve --json"), 0);
	assert_non_null(strstr(world.err, "o2ref: the connection with 10.77.0.2@o2ib: "));
	assert_non_null(strstr(world.err, "wire/header/checksum"));
	assert_non_null(strstr(world.err, "; --tolerate-immediate-checksum accepts it\n"));
	assert_int_equal(world_number("done"), 0);
	world_with(peer_puts);
	assert_int_equal(o2_quirks_add(&world.quirks, "sums-other-bytes", NULL, 0), 0);
	assert_int_equal(world_run("serve --json --requests 1 --tolerate-immediate-checksum"), 0);
	assert_string_equal(world.err, "");
	assert_int_equal(world_number("done"), 1);
}

/* When the peer's PUT has ended, it closes the connection; some rounds later the server is stopped. */
static void close_when_done(void)
{
	if (world.nended == 1) {
		world.nended++;
		o2_node_close_peer(world.endpoint.node, WORLD_US, 0);
	} else if (world.nended >= 2 && ++world.nended > 100) {
		o2_net_stop = 1;
	}
}

TEST(the_peer_ends_it_in_order)
{
	for (int verbose = 0; verbose < 2; verbose++) {
		world_with(peer_puts);
		world.round = close_when_done;
		assert_int_equal(world_run(verbose ? "serve --verbose" : "serve"), 0);
		expect_line(verbose ? "o2ref: the connection with 10.77.0.2@o2ib: the peer has ended the "
				      "connection (DREQ)\n"
				    : "");
		assert_non_null(strstr(world.out, "serve: 1 done, 0 failed, "));
	}
	/* A connection that we close is not reported. */
	world_with(peer_puts);
	assert_int_equal(world_run("serve --verbose --requests 1"), 0);
	expect_line("");
}

TEST(the_port_is_taken)
{
	static const int errors[] = {-EADDRINUSE, -EACCES};

	for (int i = 0; i < 4; i++) {
		world_with(hold);
		world.listen_error = errors[i / 2];
		held = (struct held){HELD_BYTES, NONE, NONE, O2_NET_READ_PORTAL};
		assert_int_equal(
			world_run(i % 2 == 0 ? "get 10.77.0.2@o2ib" : "get --verbose 10.77.0.2@o2ib"), 0);
		expect_line(i == 1   ? "o2ref: port 987 is taken, so the peer cannot connect to us\n"
			    : i == 3 ? "o2ref: no permission to listen on port 987, so the peer cannot "
				       "connect to us\n"
				     : "");
	}
	/* Any error of listening makes serve fail; get fails as well, but not for a taken or forbidden port. */
	world.listen_error = -EADDRINUSE;
	assert_int_equal(world_run("serve"), 2);
	world.listen_error = -ENODEV;
	assert_int_equal(world_run("get 10.77.0.2@o2ib"), 2);
}

/* After such a reject the node asks again, so nothing but this line tells it from a peer that is silent. */
TEST(a_peer_that_rejects_us)
{
	static const char *const commands[] = {"ping", "put", "get"};
	char line[64], *said;

	for (uint32_t i = 0; i < 3; i++) {
		world_with(NULL);
		world.rejects = 2;
		snprintf(line, sizeof(line), "%s 10.77.0.2@o2ib", commands[i]);
		assert_int_equal(world_run(line), O2_CLI_REFUSED);
		said = strstr(world.err, "; the peer has rejected all 2 requests for a connection, the last "
					 "as stale (reason 5)\n");
		assert_non_null(said);
		assert_string_equal(strchr(said, '\n'), "\n");
	}
}

TEST(events_in_words)
{
	static const struct o2_error dropped = {.code = -ENODATA, .rule = "lnet/match/none", .field = "f"};
	struct o2_lnet_hdr hdr = {.type = O2_LNET_GET};
	struct o2_lnet_event event = {.kind = O2_LNET_EVENT_GET, .nid = WORLD_PEER, .hdr = &hdr};
	char text[256];

	hdr.msg.get.match_bits = O2_PING_MATCH_BITS;
	o2_net_event_text(&event, text, sizeof(text));
	assert_string_equal(text, "10.77.0.2@o2ib: ping");
	/* Portal 0 may be offered under other match bits. */
	hdr.msg.get.match_bits = 5;
	event.length_bytes = 7;
	event.offset = 8;
	event.entry_tag = 9;
	event.status = -ECONNABORTED;
	o2_net_event_text(&event, text, sizeof(text));
	assert_string_equal(text, "10.77.0.2@o2ib: GET 7 bytes at offset 8 of buffer 9: ECONNABORTED");
	event.kind = O2_LNET_EVENT_DROPPED;
	event.error = &dropped;
	o2_net_event_text(&event, text, sizeof(text));
	assert_non_null(strstr(text, "10.77.0.2@o2ib: dropped: lnet/match/none: "));
}

/* An error message about a value is cut after 999 characters, but still ends with the hint. */
TEST(a_value_that_is_very_long)
{
	static const char begin[] = "serve --buffer=", end[] = " (see: o2ref serve --help)\n";
	char line[1200];

	memset(line, 'x', sizeof(line) - 1);
	line[sizeof(line) - 1] = '\0';
	memcpy(line, begin, sizeof(begin) - 1);
	world_setup(NULL);
	assert_int_equal(world_run(line), O2_CLI_USAGE);
	assert_int_equal(strlen(world.err), strlen("o2ref: ") + 999 + strlen(end));
	assert_string_equal(world.err + strlen(world.err) - strlen(end), end);
}
