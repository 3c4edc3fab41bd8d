/* SPDX-License-Identifier: MIT */
/*
 * Tests the mutator of messages without an engine: from no input, it has to make messages of every type that
 * the codec accepts, in either byte order, and messages that break most rules; it writes only into its buffer,
 * and the same seed gives the same bytes.
 * Prints what it reached; exit status 0, or 1 after naming what is missing.  Source: docs/fuzzing.md, "The mutator".
 */
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "fuzz/wire_mutator.h"
#include "wire/msg.h"
#include "wire/rules.h"

#define ROUNDS	 60000u
#define MAX_SIZE 4224u
#define KEPT	 64u
#define GUARD	 0x5c

/* Most problems that are printed: one mistake may cause many. */
#define SHOWN 10u

/* Of the rules that a message can break; other rules are for callers or bare descriptors. */
#define RULES_WANTED 50u

static const uint8_t types[] = {0xc0, 0xc1, 0xd0, 0xd1, 0xd2, 0xd3, 0xd4, 0xd5, 0xd6, 0xd7};

static unsigned int problems;

static void missing(const char *what, unsigned int number)
{
	if (problems < SHOWN)
		fprintf(stderr, "mutator: %s (%u)\n", what, number);
	problems++;
}

/* A minimal replacement for an engine's own mutation of bytes. */
static size_t set_one_byte(uint8_t *data, size_t size, size_t max_size)
{
	static uint32_t noise = 1;

	noise = noise * 1664525u + 1013904223u;
	if (size == 0 && max_size > 0)
		data[size++] = 0;
	if (size > 0)
		data[noise % size] = (uint8_t)(noise >> 16);
	return size;
}

struct reached {
	bool type[2][256];
	bool flavour[2][4];
	bool frags_257[2];
	bool rule[O2_RULE_COUNT];
};

static void look(const uint8_t *data, size_t size, struct reached *reached)
{
	static struct o2_msg msg;
	struct o2_error error;

	if (o2_msg_decode(data, size, NULL, &msg, &error) != 0) {
		reached->rule[o2_wire_rule_find(error.rule) - o2_wire_rules] = true;
		return;
	}
	reached->type[msg.order][msg.ibm_type] = true;
	reached->flavour[msg.order][msg.cksum_flavour] = true;
	if (msg.ibm_type == O2_MSG_GET_REQ && msg.u.get.ibgm_rd.rd_nfrags == O2_MAX_FRAGS)
		reached->frags_257[msg.order] = true;
}

/* One mutation of a random one of the inputs kept so far, as an engine would do it. */
static void walk(struct reached *reached)
{
	static uint8_t kept[KEPT][MAX_SIZE + 1];
	static size_t kept_size[KEPT];
	static uint8_t work[MAX_SIZE + 1];

	for (uint32_t round = 0; round < ROUNDS; round++) {
		const uint32_t from = round * 2654435761u >> 16 & (KEPT - 1);
		const uint32_t to = round & (KEPT - 1);
		size_t size;

		memset(work, GUARD, sizeof(work));
		if (round % 8 == 7) {
			size = o2_wire_cross(O2_WIRE_SHAPE_MESSAGE, kept[from], kept_size[from], kept[to],
					     kept_size[to], work, MAX_SIZE, round);
		} else {
			memcpy(work, kept[from], kept_size[from]);
			size = o2_wire_mutate(O2_WIRE_SHAPE_MESSAGE, work, kept_size[from], MAX_SIZE, round,
					      set_one_byte);
		}
		if (size == 0 || size > MAX_SIZE || work[MAX_SIZE] != GUARD)
			missing("a result does not keep to its room", round);
		look(work, size, reached);
		/* Replace old inputs, so that the walk moves on. */
		memcpy(kept[to], work, size);
		kept_size[to] = size % 1000;
	}
}

static size_t keep_bytes(uint8_t *data, size_t size, size_t max_size)
{
	(void)data;
	return size < max_size ? size : max_size;
}

static void check_same_seed(void)
{
	static uint8_t one[MAX_SIZE], two[MAX_SIZE];
	uint32_t different = 0;

	for (uint32_t seed = 0; seed < 1000; seed++) {
		const size_t one_size =
			o2_wire_mutate(O2_WIRE_SHAPE_MESSAGE, one, 0, MAX_SIZE, seed, keep_bytes);
		const size_t two_size =
			o2_wire_mutate(O2_WIRE_SHAPE_MESSAGE, two, 0, MAX_SIZE, seed, keep_bytes);

		if (one_size != two_size || memcmp(one, two, one_size) != 0)
			missing("the same seed gives other bytes", seed);
		o2_wire_mutate(O2_WIRE_SHAPE_MESSAGE, two, 0, MAX_SIZE, seed + 1, keep_bytes);
		different += memcmp(one, two, O2_MSG_HEADER_BYTES) != 0;
	}
	if (different < 900)
		missing("different seeds give the same bytes", 1000 - different);
}

/* Buffers from 1 to 299 bytes, for messages and descriptors: nothing may be written behind them. */
static void check_small_rooms(void)
{
	for (size_t room = 1; room < 300; room++) {
		for (uint32_t seed = 0; seed < 200; seed++) {
			uint8_t data[301];
			size_t size = seed % 3 == 0 ? 0 : room / (1 + seed % 3);

			memset(data, GUARD, sizeof(data));
			size = o2_wire_mutate(seed % 2 ? O2_WIRE_SHAPE_MESSAGE : O2_WIRE_SHAPE_DESCRIPTOR,
					      data, size, room, seed, set_one_byte);
			if (size == 0 || size > room || data[room] != GUARD)
				missing("a result does not keep to a small room", (unsigned int)room);
		}
	}
}

int main(void)
{
	static struct reached reached;
	unsigned int rules = 0;

	walk(&reached);
	check_same_seed();
	check_small_rooms();
	for (unsigned int order = O2_LITTLE_ENDIAN; order <= O2_BIG_ENDIAN; order++) {
		for (unsigned int i = 0; i < sizeof(types); i++)
			if (!reached.type[order][types[i]])
				missing("no message of this type was accepted", types[i]);
		for (unsigned int flavour = O2_CKSUM_NONE; flavour <= O2_CKSUM_SIGNED; flavour++)
			if (!reached.flavour[order][flavour])
				missing("no message with this checksum flavour was accepted", flavour);
		if (!reached.frags_257[order])
			missing("no message of 257 fragments was accepted", order);
	}
	for (unsigned int i = 0; i < O2_RULE_COUNT; i++)
		rules += reached.rule[i];
	if (rules < RULES_WANTED)
		missing("too few rules were tripped", rules);
	printf("mutator: %u inputs, %u of %u rules tripped, %u problems\n", ROUNDS, rules,
	       (unsigned int)O2_RULE_COUNT, problems);
	return problems == 0 ? 0 : 1;
}
