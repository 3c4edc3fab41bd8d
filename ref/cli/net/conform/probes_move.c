/* SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <stdlib.h>

#include "cli/net/conform/conform.h"
#include "mem/kmap.h"

/* What is moved must arrive unchanged: sizes, fragments, modes, offsets, many at a time. */

#define SIZES "transport.md#small-and-large"
#define PAGE  4096u

static void put_size(struct o2_conform *conform, const struct o2_conform_probe *probe)
{
	const struct o2_conform_move move = o2_conform_move(conform, probe->value);

	if (o2_conform_start(conform, NULL))
		o2_conform_there_and_back(conform, &move);
}

/* The bytes of a sink as they are now; NULL: no memory. */
static uint8_t *bytes_of(const struct o2_conform *conform, const struct o2_conform_op *op)
{
	uint8_t *bytes = malloc(op->part.buffer.nob);

	if (bytes != NULL &&
	    o2_copy_from_buffer(&conform->session.network.ni.arena, &op->part.buffer, bytes, NULL) != 0) {
		free(bytes);
		bytes = NULL;
	}
	return bytes;
}

static bool get(struct o2_conform *conform, const struct o2_conform_move *move,
		const struct o2_conform_op **op)
{
	*op = o2_conform_begin(conform, true, move);
	return *op != NULL && o2_conform_wait(conform) && o2_conform_moved(conform, *op);
}

/*
 * The contents of the place are not known, but two GETs must bring the same.  Both sinks are filled with
 * different bytes before, so that bytes that are not written differ.
 */
static void get_twice(struct o2_conform *conform, const struct o2_conform_move *move)
{
	struct o2_conform_move other = *move;
	const struct o2_conform_op *first, *second;
	uint8_t *a = NULL, *b = NULL;
	uint64_t missed = 0, at = move->size_bytes;

	other.stream = move->stream + 1;
	if (!get(conform, move, &first) || !get(conform, &other, &second))
		return;
	a = bytes_of(conform, first);
	b = bytes_of(conform, second);
	for (uint64_t i = move->size_bytes; a != NULL && b != NULL && i-- > 0;) {
		missed += a[i] != b[i];
		at = a[i] != b[i] ? i : at;
	}
	if (a == NULL || b == NULL)
		o2_conform_starve(conform, "not enough memory");
	else if (missed > 0)
		o2_conform_find(conform,
				"GET of %" PRIu32 " bytes twice: %" PRIu64 " bytes differ, from byte %" PRIu64
				" on (0x%02x, 0x%02x): not written, or not the same",
				move->size_bytes, missed, at, a[at], b[at]);
	free(a);
	free(b);
}

static void get_size(struct o2_conform *conform, const struct o2_conform_probe *probe)
{
	struct o2_conform_move move = o2_conform_move(conform, probe->value);

	move.portal = conform->options->read_portal;
	if (o2_conform_start(conform, NULL))
		get_twice(conform, &move);
}

/* `value` pieces of a page each; if the largest transfer has fewer pages, each piece fills a part of one. */
static void put_frags(struct o2_conform *conform, const struct o2_conform_probe *probe)
{
	const uint32_t pages =
		probe->value < O2_MAX_TRANSFER_BYTES / PAGE ? probe->value : O2_MAX_TRANSFER_BYTES / PAGE;
	struct o2_conform_move move = o2_conform_move(conform, pages * PAGE);

	move.fragments = probe->value;
	move.mode = O2_REG_GLOBAL;
	if (o2_conform_start(conform, NULL))
		o2_conform_there_and_back(conform, &move);
}

static void mode(struct o2_conform *conform, const struct o2_conform_probe *probe)
{
	static const uint32_t sizes[] = {1, 3977, 65536, O2_MAX_TRANSFER_BYTES};
	struct o2_conform_move move = o2_conform_move(conform, 0);

	move.mode = (enum o2_reg_mode)probe->value;
	if (!o2_conform_start(conform, NULL))
		return;
	for (uint32_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		move.size_bytes = sizes[i];
		if (!o2_conform_there_and_back(conform, &move))
			return;
		o2_conform_forget(conform);
	}
}

/*
 * PUT, GET it back, and GET what lies this far behind the first byte.  A peer that takes all offsets for the same one,
 * or rounds them, brings the same bytes back from a wrong place, but not these.
 */
#define BEHIND_BYTES 1001u

static bool found_by_offset(struct o2_conform *conform, const struct o2_conform_move *move)
{
	struct o2_conform_move behind = *move;
	const struct o2_conform_op *op;

	if (!o2_conform_there_and_back(conform, move))
		return false;
	if (move->offset == 0)
		return true;
	behind.stream = conform->op[0].stream;
	behind.stream_at = BEHIND_BYTES;
	behind.offset += BEHIND_BYTES;
	behind.size_bytes -= BEHIND_BYTES;
	return get(conform, &behind, &op) && o2_conform_right(conform, op);
}

/* Once in an IMMEDIATE, and once by RDMA. */
static void both_ways(struct o2_conform *conform, struct o2_conform_move *move)
{
	if (!o2_conform_start(conform, NULL))
		return;
	move->size_bytes = 3000;
	if (!found_by_offset(conform, move))
		return;
	o2_conform_forget(conform);
	move->size_bytes = 65537;
	found_by_offset(conform, move);
}

static void local_offset(struct o2_conform *conform, const struct o2_conform_probe *probe)
{
	struct o2_conform_move move = o2_conform_move(conform, 0);

	move.skew_bytes = probe->value;
	both_ways(conform, &move);
}

static void remote_offset(struct o2_conform *conform, const struct o2_conform_probe *probe)
{
	struct o2_conform_move move = o2_conform_move(conform, 0);

	move.offset = probe->value;
	both_ways(conform, &move);
}

/* PUT all at once, each to a place of its own, and then GET all at once. */
static void in_flight(struct o2_conform *conform, uint32_t count, uint32_t size_bytes)
{
	struct o2_conform_move move = o2_conform_move(conform, size_bytes);
	uint64_t first;

	for (uint32_t i = 0; i < count; i++) {
		move.offset = (uint64_t)i * size_bytes;
		if (o2_conform_begin(conform, false, &move) == NULL)
			return;
	}
	first = conform->op[0].stream;
	if (!o2_conform_wait(conform))
		return;
	for (uint32_t i = 0; i < count; i++)
		if (!o2_conform_moved(conform, &conform->op[i]))
			return;
	o2_conform_forget(conform);
	for (uint32_t i = 0; i < count; i++) {
		move.offset = (uint64_t)i * size_bytes;
		move.stream = first + i;
		if (o2_conform_begin(conform, true, &move) == NULL)
			return;
	}
	if (!o2_conform_wait(conform))
		return;
	for (uint32_t i = 0; i < count; i++)
		if (!o2_conform_moved(conform, &conform->op[i]) ||
		    !o2_conform_right(conform, &conform->op[i]))
			return;
}

static void many_small(struct o2_conform *conform, const struct o2_conform_probe *probe)
{
	if (o2_conform_start(conform, NULL))
		in_flight(conform, probe->value, 1000);
}

static void many_large(struct o2_conform *conform, const struct o2_conform_probe *probe)
{
	if (o2_conform_start(conform, NULL))
		in_flight(conform, probe->value, 8000);
}

static void deep(struct o2_conform *conform, const struct o2_conform_probe *probe)
{
	struct o2_node_config node = o2_conform_node(conform);

	node.conn.queue_depth = probe->value;
	if (o2_conform_start(conform, &node))
		in_flight(conform, 64, 8000);
}

static void no_ack(struct o2_conform *conform, const struct o2_conform_probe *probe)
{
	struct o2_conform_move move = o2_conform_move(conform, probe->value);
	const struct o2_conform_op *op;

	move.no_ack = true;
	if (!o2_conform_start(conform, NULL))
		return;
	op = o2_conform_begin(conform, false, &move);
	if (op == NULL || !o2_conform_wait(conform) || !o2_conform_moved(conform, op))
		return;
	move.stream = op->stream;
	if (get(conform, &move, &op))
		o2_conform_right(conform, op);
}

#define PUT_SIZE(n)                                                                          \
	{                                                                                    \
		"put/size-" #n, "a PUT of " #n " bytes arrives, and is acknowledged", SIZES, \
			.needs = O2_CONFORM_PLACE, .run = put_size, .value = n               \
	}
#define GET_SIZE(n)                                                                                      \
	{                                                                                                \
		"get/size-" #n, "a GET of " #n " bytes brings what is there, all of it", SIZES,          \
			.needs = O2_CONFORM_READ_PLACE, .kernel_otherwise = (n) > 3976, .run = get_size, \
			.value = n                                                                       \
	}
#define FRAGMENTS(n)                                                                                    \
	{                                                                                               \
		"frags/" #n, "memory of ours in " #n " pieces is read from and written to",             \
			"mapping.md#rdma_plan", .needs = O2_CONFORM_PLACE, .run = put_frags, .value = n \
	}
#define MODE(name, id)                                                                              \
	{                                                                                           \
		"mode/" name, "memory registered in mode " name " is written to", "modes.md#" name, \
			.needs = O2_CONFORM_PLACE, .run = mode, .value = id                         \
	}
#define LOCAL(n)                                                                                           \
	{                                                                                                  \
		"offset/local-" #n, "memory of ours that begins at byte " #n " of a page is written to",   \
			"mapping.md#rdma_plan", .needs = O2_CONFORM_PLACE, .run = local_offset, .value = n \
	}
#define REMOTE(n)                                                                                           \
	{                                                                                                   \
		"offset/remote-" #n, "PUTs and GETs at byte " #n " of the place are about the bytes there", \
			"peer.md#matching", .needs = O2_CONFORM_PLACE, .run = remote_offset, .value = n     \
	}

const struct o2_conform_probe o2_conform_move_probes[] = {
	PUT_SIZE(0),
	PUT_SIZE(1),
	PUT_SIZE(3975),
	PUT_SIZE(3976),
	PUT_SIZE(3977),
	PUT_SIZE(4095),
	PUT_SIZE(4096),
	PUT_SIZE(4097),
	PUT_SIZE(65535),
	PUT_SIZE(65536),
	PUT_SIZE(1048576),
	GET_SIZE(1),
	GET_SIZE(3975),
	GET_SIZE(3976),
	GET_SIZE(3977),
	GET_SIZE(4095),
	GET_SIZE(4096),
	GET_SIZE(4097),
	GET_SIZE(65535),
	GET_SIZE(65536),
	GET_SIZE(1048576),
	{"put/no-ack", "a PUT by RDMA that asks for no ACK arrives", "peer.md#operations",
	 .needs = O2_CONFORM_PLACE, .run = no_ack, .value = 9000},
	{"put/no-ack-small", "a PUT in an IMMEDIATE that asks for no ACK arrives", "peer.md#operations",
	 .needs = O2_CONFORM_PLACE, .run = no_ack, .value = 900},
	FRAGMENTS(1),
	FRAGMENTS(2),
	FRAGMENTS(16),
	FRAGMENTS(255),
	FRAGMENTS(256),
	FRAGMENTS(257),
	MODE("global", O2_REG_GLOBAL),
	MODE("fmr", O2_REG_FMR),
	MODE("fastreg", O2_REG_FASTREG),
	MODE("user", O2_REG_USER),
	MODE("phys", O2_REG_PHYS),
	MODE("fastreg_gaps", O2_REG_FASTREG_GAPS),
	LOCAL(1),
	LOCAL(511),
	LOCAL(4095),
	REMOTE(1),
	REMOTE(511),
	REMOTE(3000),
	REMOTE(4095),
	REMOTE(5000),
	{"flight/small", "255 IMMEDIATEs at once arrive, each in its place", "transport.md#flow-control",
	 .needs = O2_CONFORM_PLACE, .run = many_small, .value = 255},
	{"flight/large", "200 transfers at once arrive, each in its place", "transport.md#flow-control",
	 .needs = O2_CONFORM_PLACE, .run = many_large, .value = 200},
	{"flight/depth-2", "64 transfers at once with a depth of 2", "transport.md#flow-control",
	 .needs = O2_CONFORM_PLACE, .run = deep, .value = 2},
	{"flight/depth-255", "64 transfers at once with the largest depth that is granted",
	 "transport.md#flow-control", .needs = O2_CONFORM_PLACE, .run = deep, .value = 255},
	{0},
};
