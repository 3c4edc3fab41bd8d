/* SPDX-License-Identifier: MIT */
#include <inttypes.h>

/* serve --verify: a peer's PUTs that overlap in the same bytes (docs/peer.md, "Verifying"). */

#include "tests/lib/net_world.h"

#include "base/stream.h"
#include "cli/net/puts.h"

#define IN_FLIGHT 64u
#define LARGE	  16384u /* by RDMA */
#define SMALL	  1000u	 /* as IMMEDIATE */

/* The peer's script: `count` PUTs, IN_FLIGHT at a time, all to one place; PUT number `forged` has wrong bytes. */
static struct script {
	uint32_t count, forged;
	uint32_t size_bytes;
	bool mixed; /* with small PUTs in between */
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

/* Start as many PUTs as may be in flight; memory is used again only when all earlier PUTs have ended. */
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

/* No PUT counts as wrong, however much of it later ones have overwritten. */
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
		/* The test is meaningful only if some PUTs were overwritten before they ended. */
		assert_true(world_number("not_told_apart") > 0);
		print_message("not told apart: %ld of 320\n", world_number("not_told_apart"));
	}
}

/* PUTs to separate places can all be verified. */
TEST_WITH(each_in_its_place, world_setup, NULL)
{
	script = (struct script){.count = 128, .size_bytes = LARGE, .apart = true};
	assert_int_equal(serve(""), 0);
	expect(128);
	assert_int_equal(world_number("wrong"), 0);
	assert_int_equal(world_number("not_told_apart"), 0);
}

/* Wrong bytes are found in a PUT to a place of its own, and in the last of many PUTs to one place. */
TEST(forged)
{
	for (int i = 0; i < 3; i++) {
		world_setup(NULL);
		script = (struct script){
			.count = i == 2 ? 1 : 64, .size_bytes = i == 2 ? SMALL : LARGE, .apart = i == 0};
		script.forged = script.count;
		assert_int_equal(serve(""), 1);
		expect(script.count);
		/* In one place, other PUTs that end while the wrong bytes are there may be reported as well. */
		assert_true(world_number("wrong") >= 1);
		assert_true(i == 1 || world_number("wrong") == 1);
		assert_non_null(strstr(world.err, ": byte 500 is 0x"));
	}
}

/* --- which PUTs can have written a byte --- */

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

/* A PUT of 100 bytes at this offset; its request number is its stream. */
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

/* Write the bytes of this PUT to memory. */
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
	/* The other PUT is still under way when this one is checked; later the other one is intact. */
	begin(desk, 0, 1);
	begin(desk, 60, 2);
	land(desk, 0, 1);
	land(desk, 60, 2);
	assert_int_equal(end(desk, 0, 1), O2_NET_NOT_TOLD_APART);
	assert_int_equal(end(desk, 60, 2), O2_NET_RIGHT);
	/* The other PUT ended before this one is checked. */
	begin(desk, 0, 3);
	begin(desk, 60, 4);
	land(desk, 0, 3);
	land(desk, 60, 4);
	assert_int_equal(end(desk, 60, 4), O2_NET_RIGHT);
	assert_int_equal(end(desk, 0, 3), O2_NET_NOT_TOLD_APART);
	/* A PUT that ended before the other began cannot explain bytes in it. */
	begin(desk, 60, 5);
	land(desk, 60, 5);
	assert_int_equal(end(desk, 60, 5), O2_NET_RIGHT);
	begin(desk, 0, 6);
	land(desk, 0, 6);
	land(desk, 60, 5);
	assert_int_equal(end(desk, 0, 6), O2_NET_WRONG);
	assert_int_equal(desk->wrong.at, 60);
	/* Two PUTs at the same time that do not overlap. */
	begin(desk, 0, 7);
	begin(desk, 100, 8);
	land(desk, 100, 8);
	land(desk, 50, 8);
	assert_int_equal(end(desk, 0, 7), O2_NET_WRONG);
	assert_int_equal(desk->wrong.at, 0);
	end(desk, 100, 8);
}

/* A failed PUT can have written its bytes; bytes that no PUT can have written are wrong. */
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

/* If more PUTs overlap than are remembered, bytes that a forgotten PUT can have written are not called wrong. */
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
	/* More PUTs are under way than are remembered. */
	for (uint64_t stream = 1; stream <= O2_NET_PUTS + 1; stream++)
		begin(desk, 0, stream);
	land(desk, 0, O2_NET_PUTS + 1);
	for (uint64_t stream = 1; stream <= O2_NET_PUTS; stream++)
		assert_int_equal(end(desk, 0, stream), O2_NET_NOT_TOLD_APART);
	assert_int_equal(end(desk, 0, O2_NET_PUTS + 1), O2_NET_RIGHT);
	/* The same if the PUT that was not remembered ends before the others. */
	for (uint64_t stream = 1; stream <= O2_NET_PUTS + 1; stream++)
		begin(desk, 0, stream);
	land(desk, 0, O2_NET_PUTS + 1);
	assert_int_equal(end(desk, 0, O2_NET_PUTS + 1), O2_NET_RIGHT);
	land(desk, 50, 9999);
	for (uint64_t stream = 1; stream <= O2_NET_PUTS; stream++)
		assert_int_equal(end(desk, 0, stream), O2_NET_NOT_TOLD_APART);
	/* The overflow is forgotten when all PUTs have ended. */
	begin(desk, 0, 1);
	assert_int_equal(end(desk, 0, 1), O2_NET_WRONG);
}
