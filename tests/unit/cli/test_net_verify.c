/* SPDX-License-Identifier: MIT */
#include <inttypes.h>

/* serve --verify: PUTs of a peer that meet in the same bytes (docs/peer.md, "Verifying"). */

#include "tests/lib/net_world.h"

#include "base/stream.h"
#include "cli/net/puts.h"

#define IN_FLIGHT 64u
#define LARGE	  16384u /* by RDMA */
#define SMALL	  1000u	 /* as IMMEDIATE */

/* The peer's script: so many PUTs, in_flight at a time, all to the same place, the n-th of them forged. */
static struct script {
	uint32_t count, forged;
	uint32_t size_bytes;
	bool mixed; /* small ones between them */
	bool apart; /* each to a place of its own */
	bool ack;
} script;

static void put_one(uint32_t number)
{
	static struct o2_iov iov[IN_FLIGHT];
	const uint32_t lane = number % IN_FLIGHT;
	const uint32_t page = 2 + lane * (LARGE / 4096);
	const uint32_t size_bytes = script.mixed && number % 3 == 0 ? SMALL : script.size_bytes;
	const struct o2_transfer_memory memory = world_memory(page, size_bytes, &iov[lane]);
	const struct o2_lnet_target target = {
		.nid = WORLD_US,
		.portal = O2_NET_PORTAL,
		.match_bits = O2_NET_MATCH_BITS,
		.offset = script.apart ? lane * LARGE : 100,
		.hdr_data = number + 1,
		.ack = script.ack,
	};
	uint8_t *bytes = (uint8_t *)(uintptr_t)iov[lane].base;

	o2_stream_fill(bytes, size_bytes, O2_NET_SEED, number + 1, 0);
	for (uint32_t i = 500; number + 1 == script.forged && i < 540; i++)
		bytes[i] ^= 0x5a;
	assert_int_equal(o2_lnet_put(world.endpoint.lnet, &target, &memory, NULL, NULL), 0);
	world.nstarted++;
}

/* As many as may be under way; a lane's memory is used again when all before it have ended. */
static void put_round(void)
{
	if (world.nended < world.nstarted)
		return;
	for (uint32_t i = 0; i < IN_FLIGHT && world.nstarted < script.count; i++)
		put_one(world.nstarted);
}

static int serve(const char *more)
{
	char line[256];

	world.round = put_round;
	snprintf(line, sizeof(line), "serve --verify --json --requests %" PRIu32 " %s", script.count, more);
	return world_run(line);
}

static void expect(long verified)
{
	assert_int_equal(world.status, 0);
	assert_int_equal(world_number("done"), verified);
	assert_int_equal(world_number("failed"), 0);
	assert_int_equal(world_number("verified"), verified);
}

/* Each of them is right, whatever of it the next ones have left to be seen. */
TEST(many_to_one_place)
{
	for (int i = 0; i < 4; i++) {
		world_setup(NULL);
		script = (struct script){
			.count = 320, .size_bytes = LARGE, .mixed = i % 2 == 1, .ack = i / 2 == 1};
		assert_int_equal(serve(""), 0);
		assert_string_equal(world.err, "");
		expect(320);
		assert_int_equal(world_number("wrong"), 0);
		/* It was worth looking: some had their bytes written over before they had ended. */
		assert_true(world_number("not_told_apart") > 0);
		print_message("not told apart: %ld of 320\n", world_number("not_told_apart"));
	}
}

/* In places of their own every one of them can be told. */
TEST_WITH(each_in_its_place, world_setup, NULL)
{
	script = (struct script){.count = 128, .size_bytes = LARGE, .apart = true};
	assert_int_equal(serve(""), 0);
	expect(128);
	assert_int_equal(world_number("wrong"), 0);
	assert_int_equal(world_number("not_told_apart"), 0);
}

/* Bytes that nobody meant to write are wrong: alone in their place, and last of many in one. */
TEST(forged)
{
	for (int i = 0; i < 3; i++) {
		world_setup(NULL);
		script = (struct script){
			.count = i == 2 ? 1 : 64, .size_bytes = i == 2 ? SMALL : LARGE, .apart = i == 0};
		script.forged = script.count;
		assert_int_equal(serve(""), 1);
		expect(script.count);
		/* In one place others end while those bytes are there: they are of none of them. */
		assert_true(world_number("wrong") >= 1);
		assert_true(i == 1 || world_number("wrong") == 1);
		assert_non_null(strstr(world.err, ": byte 500 is 0x"));
	}
}

/* --- which PUTs may have written what --- */

#define ENTRY_BYTES 4096u

struct desk {
	struct o2_arena arena;
	struct o2_iov iov;
	struct o2_transfer_memory entry;
	struct o2_net_puts *puts;
	struct o2_net_wrong wrong;
};

static struct desk *desk_open(void)
{
	static struct desk desk;

	assert_int_equal(o2_arena_create(1, &desk.arena, NULL), 0);
	desk.iov = (struct o2_iov){desk.arena.view[0].base, ENTRY_BYTES};
	desk.entry = (struct o2_transfer_memory){
		.buffer = {.kind = O2_IOV, .count = 1, .nob = ENTRY_BYTES, .iov = &desk.iov}};
	desk.puts = o2_net_puts_create(7);
	assert_non_null(desk.puts);
	return &desk;
}

static void desk_close(struct desk *desk)
{
	free(desk->puts);
	o2_arena_destroy(&desk->arena);
}

#define DESK_TEST(name) TEST_ON(name, struct desk, desk, desk_open(), desk_close)

/* Of 100 bytes at that offset; its request is its stream. */
static struct o2_net_put put_at(uint64_t offset, uint64_t stream)
{
	return (struct o2_net_put){
		.request = stream, .entry = 3, .offset = offset, .length_bytes = 100, .stream = stream};
}

static void begin(struct desk *desk, uint64_t offset, uint64_t stream)
{
	const struct o2_net_put put = put_at(offset, stream);

	o2_net_puts_begin(desk->puts, &put);
}

/* The bytes of that PUT land. */
static void land(struct desk *desk, uint64_t offset, uint64_t stream)
{
	o2_stream_fill((uint8_t *)(uintptr_t)desk->iov.base + offset, 100, 7, stream, 0);
}

static enum o2_net_verdict end(struct desk *desk, uint64_t offset, uint64_t stream)
{
	const struct o2_net_put put = put_at(offset, stream);

	return o2_net_puts_end(desk->puts, &put, &desk->arena, &desk->entry, &desk->wrong);
}

DESK_TEST(overlap_in_time_and_place)
{
	/* Under way when it is looked at; and the other one has it all. */
	begin(desk, 0, 1);
	begin(desk, 60, 2);
	land(desk, 0, 1);
	land(desk, 60, 2);
	assert_int_equal(end(desk, 0, 1), O2_NET_NOT_TOLD_APART);
	assert_int_equal(end(desk, 60, 2), O2_NET_RIGHT);
	/* Ended before it is looked at. */
	begin(desk, 0, 3);
	begin(desk, 60, 4);
	land(desk, 0, 3);
	land(desk, 60, 4);
	assert_int_equal(end(desk, 60, 4), O2_NET_RIGHT);
	assert_int_equal(end(desk, 0, 3), O2_NET_NOT_TOLD_APART);
	/* Over before the other one began: its bytes have no business there. */
	begin(desk, 60, 5);
	land(desk, 60, 5);
	assert_int_equal(end(desk, 60, 5), O2_NET_RIGHT);
	begin(desk, 0, 6);
	land(desk, 0, 6);
	land(desk, 60, 5);
	assert_int_equal(end(desk, 0, 6), O2_NET_WRONG);
	assert_int_equal(desk->wrong.at, 60);
	/* At the same time, but elsewhere. */
	begin(desk, 0, 7);
	begin(desk, 100, 8);
	land(desk, 100, 8);
	land(desk, 50, 8);
	assert_int_equal(end(desk, 0, 7), O2_NET_WRONG);
	assert_int_equal(desk->wrong.at, 0);
	end(desk, 100, 8);
}

/* What has failed may have written; what nobody wrote is wrong all the same. */
DESK_TEST(one_that_failed)
{
	struct o2_net_put failed = put_at(0, 1);

	begin(desk, 0, 1);
	begin(desk, 0, 2);
	land(desk, 0, 1);
	assert_int_equal(o2_net_puts_end(desk->puts, &failed, &desk->arena, NULL, &desk->wrong),
			 O2_NET_RIGHT);
	assert_int_equal(end(desk, 0, 2), O2_NET_NOT_TOLD_APART);
	begin(desk, 0, 3);
	begin(desk, 0, 4);
	land(desk, 0, 3);
	land(desk, 50, 9);
	assert_int_equal(end(desk, 0, 4), O2_NET_WRONG);
	assert_int_equal(desk->wrong.at, 50);
	assert_int_equal(end(desk, 0, 3), O2_NET_WRONG);
}

/* Where more overlap than are kept, nothing is called wrong that may be one of those. */
DESK_TEST(more_than_are_kept)
{
	begin(desk, 0, 1);
	for (uint64_t stream = 2; stream < O2_NET_PUTS + 2; stream++) {
		begin(desk, 0, stream);
		land(desk, 0, stream);
		assert_int_equal(end(desk, 0, stream), O2_NET_RIGHT);
	}
	land(desk, 0, 2);
	begin(desk, 200, 9999);
	land(desk, 200, 1);
	assert_int_equal(end(desk, 0, 1), O2_NET_NOT_TOLD_APART);
	assert_int_equal(end(desk, 200, 9999), O2_NET_WRONG);
	land(desk, 0, 2);
	begin(desk, 0, 1);
	for (uint64_t stream = 2; stream < O2_NET_PUTS + 3; stream++) {
		begin(desk, 0, stream);
		end(desk, 0, stream);
	}
	assert_int_equal(end(desk, 0, 1), O2_NET_NOT_TOLD_APART);
	/* More under way than are kept. */
	for (uint64_t stream = 1; stream <= O2_NET_PUTS + 1; stream++)
		begin(desk, 0, stream);
	land(desk, 0, O2_NET_PUTS + 1);
	for (uint64_t stream = 1; stream <= O2_NET_PUTS; stream++)
		assert_int_equal(end(desk, 0, stream), O2_NET_NOT_TOLD_APART);
	assert_int_equal(end(desk, 0, O2_NET_PUTS + 1), O2_NET_RIGHT);
	/* So too when the one too many has ended before them. */
	for (uint64_t stream = 1; stream <= O2_NET_PUTS + 1; stream++)
		begin(desk, 0, stream);
	land(desk, 0, O2_NET_PUTS + 1);
	assert_int_equal(end(desk, 0, O2_NET_PUTS + 1), O2_NET_RIGHT);
	land(desk, 50, 9999);
	for (uint64_t stream = 1; stream <= O2_NET_PUTS; stream++)
		assert_int_equal(end(desk, 0, stream), O2_NET_NOT_TOLD_APART);
	/* It is forgotten when all have ended. */
	begin(desk, 0, 1);
	assert_int_equal(end(desk, 0, 1), O2_NET_WRONG);
}
