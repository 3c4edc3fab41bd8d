/* SPDX-License-Identifier: MIT */
/* What a run counts, and what it must have met (docs/properties.md, "Counters" and "The cross table"). */

#include "props/transfer/transfer_internal.h"
#include "props/transfer/transfer_run.h"
#include "tests/lib/unit_test.h"

#define PAGE	   O2_SCENARIO_PAGE_BYTES
#define BIT(which) (1u << O2_##which)

/* --- situations of one side --- */

struct row {
	const char *name;
	struct o2_kiov piece[5];
	uint32_t count;
	uint64_t offset, nob;
	uint32_t found;
};

/* clang-format off */
static const struct row rows[] = {
	{"one page", {{1, 0, PAGE}}, 1, 0, PAGE, 0},
	{"first byte inside a page", {{1, 7, 100}}, 1, 0, 100, BIT(UNALIGNED_FIRST)},
	{"an offset into the first page", {{1, 0, PAGE}}, 1, 8, 100, BIT(UNALIGNED_FIRST)},
	{"a hole between two is neither", {{1, 0, 10}, {2, 0, 10}}, 2, 0, 20, 0},
	{"a hole in the middle", {{1, 0, PAGE}, {2, 0, 9}, {3, 0, PAGE}, {4, 0, 9}},
	 4, 0, 2 * PAGE + 18, BIT(INTERIOR_GAP)},
	{"pieces that touch in a page have no hole", {{1, 0, PAGE}, {2, 0, 9}, {2, 9, PAGE - 9}, {4, 0, 9}},
	 4, 0, 2 * PAGE + 9, 0},
	{"holes at both ends",
	 {{1, 0, 9}, {2, 0, PAGE}, {3, 8, 9}}, 3, 0, PAGE + 18, BIT(GAP_AT_BOTH_ENDS)},
	{"a hole at one end", {{1, 0, 9}, {2, 0, PAGE}, {3, 0, 9}}, 3, 0, PAGE + 18, 0},
	{"one byte alone", {{1, 0, 1}}, 1, 0, 1, 0},
	{"one byte among others", {{1, 0, PAGE}, {2, 0, 1}}, 2, 0, PAGE + 1, BIT(ONE_BYTE_FRAGMENT)},
	{"an empty piece inside", {{1, 0, PAGE}, {0, 0, 0}, {2, 0, 9}},
	 3, 0, PAGE + 9, BIT(ZERO_LENGTH_PIECE)},
	{"an empty piece before", {{0, 0, 0}, {1, 0, PAGE}, {2, 0, 9}}, 3, 0, PAGE + 9, 0},
	{"an empty piece behind", {{1, 0, PAGE}, {2, 0, 9}, {0, 0, 0}}, 3, 0, PAGE + 9, 0},
	{"a page twice", {{1, 0, PAGE}, {2, 0, PAGE}, {1, 0, PAGE}}, 3, 0, 3 * PAGE, BIT(PAGE_USED_TWICE)},
	{"a page twice running", {{1, 0, PAGE}, {1, 0, PAGE}}, 2, 0, 2 * PAGE, BIT(PAGE_USED_TWICE)},
	{"two pieces share a page", {{1, 0, 9}, {1, 20, 9}}, 2, 0, 18, 0},
	{"three in reverse",
	 {{9, 0, PAGE}, {8, 0, PAGE}, {4, 0, PAGE}}, 3, 0, 3 * PAGE, BIT(REVERSED_PAGES)},
	{"two in reverse say nothing", {{9, 0, PAGE}, {8, 0, PAGE}}, 2, 0, 2 * PAGE, 0},
	{"the offset ends a piece", {{1, 0, PAGE}, {2, 0, 9}}, 2, PAGE, 9, BIT(OFFSET_ON_BOUNDARY)},
	{"the offset ends inside one", {{1, 0, PAGE}, {2, 0, 9}}, 2, PAGE + 1, 8, BIT(UNALIGNED_FIRST)},
};
/* clang-format on */

static uint32_t situations(const struct o2_scenario_side *side, uint64_t nob)
{
	struct o2_extent extent[O2_SCENARIO_EXTENTS];
	int count = o2_scenario_extents(side, NULL, side->offset_bytes, nob, extent, O2_SCENARIO_EXTENTS);

	assert_true(count > 0);
	return o2_situations_of(side, extent, (uint32_t)count);
}

TEST(test_situations)
{
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct o2_scenario_side side = {.vector = O2_KIOV, .count = rows[i].count};

		side.offset_bytes = rows[i].offset;
		memcpy(side.kiov, rows[i].piece, sizeof(rows[i].piece));
		if (situations(&side, rows[i].nob) != rows[i].found)
			fail_msg("%s: 0x%x, expected 0x%x", rows[i].name, situations(&side, rows[i].nob),
				 rows[i].found);
	}
}

TEST(test_pages)
{
	for (uint32_t pages = 254; pages <= 258; pages++) {
		uint32_t expected = pages >= 255 && pages <= 257 ? 1u << (O2_PAGES_255 + (pages - 255)) : 0;
		struct o2_scenario_side side = {.vector = O2_IOV, .count = 1};

		side.iov[0] = (struct o2_iov){.base = PAGE, .len = (uint64_t)pages * PAGE};
		assert_int_equal(situations(&side, side.iov[0].len), expected);
		/* One byte less at both ends, but the same number of pages. */
		side.iov[0].base++;
		side.iov[0].len -= 2;
		assert_int_equal(situations(&side, side.iov[0].len), expected | BIT(UNALIGNED_FIRST));
	}
}

/* --- what a run must have met --- */

/* A run of that size, on a device, that has met every situation. */
static struct o2_transfer_run *full_run(uint64_t moved)
{
	static const struct o2_rung_ops ops = {
		.has_depths = true, .has_keys = true, .has_ways = true, .reconnects = true};
	static struct o2_rung rung = {.ops = &ops, .connections = 10000};
	struct o2_transfer_run *run = calloc(1, sizeof(*run));

	assert_non_null(run);
	run->rung = &rung;
	run->space = O2_SCENARIO_SPACE_ALL;
	memset(&run->counters, 1, sizeof(run->counters));
	run->counters.moved = moved;
	return run;
}

#define FULL_TEST(name) TEST_ON(name, struct o2_transfer_run, run, full_run(0), free)

/* Returns how many requirements are missing, and the first of them. */
static size_t missing(const struct o2_transfer_run *run, char *first, size_t bytes)
{
	json_t *list = o2_counters_missing(run, UINT64_MAX);
	size_t count = json_array_size(list);

	first[0] = '\0';
	if (count > 0)
		snprintf(first, bytes, "%s", json_string_value(json_array_get(list, 0)));
	json_decref(list);
	return count;
}

/* Clears one counter at a time: exactly that one is missing, and only in runs large enough to require it. */
static void check_needed(struct o2_transfer_run *run, uint64_t *counter, uint64_t enough, const char *text)
{
	const uint64_t kept = *counter;
	char first[128];

	*counter = 0;
	run->counters.moved = enough;
	assert_int_equal(missing(run, first, sizeof(first)), 1);
	assert_non_null(strstr(first, text));
	run->counters.moved = enough - 1;
	assert_int_equal(missing(run, first, sizeof(first)), 0);
	*counter = kept;
}

TEST(test_nothing_missing)
{
	static const uint64_t sizes[] = {0, 1000, 2000, 10000, 50000};
	char first[128];

	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		struct o2_transfer_run *run = full_run(sizes[i]);

		assert_int_equal(missing(run, first, sizeof(first)), 0);
		free(run);
	}
}

FULL_TEST(test_each_situation)
{
	for (uint32_t i = 0; i < O2_SITUATIONS; i++) {
		const char *name = o2_situation_name((enum o2_situation)i);

		check_needed(run, &run->counters.situation[O2_SOURCE][i], 2000, name);
		if (i != O2_PAGE_USED_TWICE)
			check_needed(run, &run->counters.situation[O2_SINK][i], 2000, name);
	}
	check_needed(run, &run->counters.coalesced[O2_SOURCE], 2000, "merged");
	check_needed(run, &run->counters.coalesced[O2_SINK], 2000, "merged");
	check_needed(run, &run->counters.bounced[O2_SOURCE], 1000, "a source whose device bounces");
	check_needed(run, &run->counters.bounced[O2_SINK], 1000, "a sink whose device bounces");
	check_needed(run, &run->counters.bounced_both, 1000, "two devices that bounce");
	check_needed(run, &run->counters.kmapped[O2_SOURCE], 2000, "from a page without a CPU mapping");
	check_needed(run, &run->counters.kmapped[O2_SINK], 2000, "to a page without a CPU mapping");
	for (uint32_t i = 0; i < 2 * (O2_CKSUM_SIGNED + 1); i++)
		check_needed(run, &run->counters.formed[i % 2][i / 2], 1000,
			     o2_counters_form((enum o2_byte_order)(i % 2), (enum o2_cksum_flavour)(i / 2)));
	check_needed(run, &run->counters.kept, 1000, "a region that is kept");
	check_needed(run, &run->counters.staged, 1000, "a contiguous region");
	check_needed(run, &run->counters.deep, 1000, "a connection deeper than 127");
	check_needed(run, &run->counters.deepest, 1000, "a connection as deep as can be");
	check_needed(run, &run->counters.one_byte, 10000, "one byte");
	for (uint32_t i = O2_REG_GLOBAL + 1; i < O2_REG_MODES; i++)
		check_needed(run, &run->counters.stale_key[i], 10000, "a stale key tried, mode ");
	check_needed(run, &run->counters.source_vector[O2_KIOV], 1000, "KIOV");
	check_needed(run, &run->counters.gaps, 1000, "gaps");
	check_needed(run, &run->rung->connections, 32, "connections closed and made again");
}

FULL_TEST(test_each_refusal)
{
	for (uint32_t i = O2_PREDICT_ENTRIES; i < O2_PREDICT_RULES; i++) {
		const char *name = o2_predict_rule_name((enum o2_predict_rule)i);

		if (i != O2_PREDICT_FRAGMENTS)
			check_needed(run, &run->counters.rule[O2_SOURCE][i], 2000, name);
		if (i != O2_PREDICT_WORK_REQUESTS)
			check_needed(run, &run->counters.rule[O2_SINK][i], 2000, name);
	}
}

FULL_TEST(test_each_pair)
{
	char first[128];

	for (uint32_t i = 0; i < O2_REG_MODES * O2_REG_MODES; i++)
		check_needed(run, &run->counters.pair[i / O2_REG_MODES][i % O2_REG_MODES], 1000,
			     "pair of modes");
	for (uint32_t i = 0; i < O2_DMA_KINDS * O2_DMA_KINDS; i++)
		check_needed(run, &run->counters.kind_pair[i / O2_DMA_KINDS][i % O2_DMA_KINDS], 1000,
			     "address kinds");
	/* What the run does not use is not required. */
	run->space.mode_weight[O2_REG_PHYS] = 0;
	memset(run->counters.rule, 0, sizeof(run->counters.rule));
	memset(run->counters.pair[O2_REG_PHYS], 0, sizeof(run->counters.pair[0]));
	run->counters.moved = 50000;
	assert_int_equal(missing(run, first, sizeof(first)), 0);
}

/* A run that counts its first case, which both ends saw in these ways. */
static struct o2_counters counted(struct o2_scenario *scenario, struct o2_prediction told, uint32_t source,
				  uint32_t sink)
{
	struct o2_transfer_run *run = calloc(1, sizeof(*run));
	struct o2_counters counters;

	assert_non_null(run);
	run->scratch = calloc(1, sizeof(*run->scratch));
	assert_non_null(run->scratch);
	run->scenario = *scenario;
	run->prediction = told;
	run->observed.ways[O2_SOURCE] = source;
	run->observed.ways[O2_SINK] = sink;
	o2_transfer_count(run);
	counters = run->counters;
	free(run->scratch);
	free(run);
	return counters;
}

/* What the scenario asks for is not counted, but what the ends have done. */
TEST(test_ways)
{
	struct o2_scenario scenario = {
		.op = O2_OP_PUT, .order = O2_BIG_ENDIAN, .cksum_flavour = O2_CKSUM_SIGNED};
	const struct o2_prediction told = {.verdict = O2_MOVES};
	const uint32_t most = O2_WAY_FORMED | O2_WAY_BOUNCED | O2_WAY_STAGED | O2_WAY_KEPT;
	struct o2_counters c;

	scenario.source.mode = O2_REG_FASTREG_GAPS;
	scenario.sink.mode = O2_REG_FMR;
	scenario.source.staging = scenario.sink.lazy = true;
	scenario.source.bounce = scenario.sink.bounce = true;
	c = counted(&scenario, told, 0, 0);
	assert_int_equal(c.moved, 1);
	assert_int_equal(c.formed[O2_BIG_ENDIAN][O2_CKSUM_SIGNED] + c.kept + c.staged + c.bounced_both, 0);
	assert_int_equal(c.bounced[O2_SOURCE] + c.bounced[O2_SINK], 0);
	c = counted(&scenario, told, most, O2_WAY_KMAPPED);
	assert_int_equal(c.formed[O2_BIG_ENDIAN][O2_CKSUM_SIGNED], 0);
	assert_int_equal(c.kept + c.staged + c.bounced[O2_SOURCE] + c.kmapped[O2_SINK], 4);
	assert_int_equal(c.bounced_both + c.bounced[O2_SINK] + c.kmapped[O2_SOURCE], 0);
	c = counted(&scenario, told, most, most);
	assert_int_equal(c.formed[O2_BIG_ENDIAN][O2_CKSUM_SIGNED] + c.bounced_both, 2);
}

/* --- the cross table --- */

/* A KIOV of mode user may be refused by an earlier rule, which is not the one of the cell. */
TEST(test_cross_refused)
{
	struct o2_scenario scenario = {.op = O2_OP_PUT};
	struct o2_prediction told = {.verdict = O2_REFUSED_PEER, .side = O2_SINK, .rule = O2_PREDICT_ENTRIES};

	scenario.sink.mode = O2_REG_USER;
	scenario.sink.vector = O2_KIOV;
	assert_int_equal(
		counted(&scenario, told, 0, 0).cross.user_kiov_refused[O2_SINK][O2_DMA_BUS][O2_OP_PUT], 0);
	told.rule = O2_PREDICT_NOT_CONTIGUOUS;
	assert_int_equal(
		counted(&scenario, told, 0, 0).cross.user_kiov_refused[O2_SINK][O2_DMA_BUS][O2_OP_PUT], 1);
}

TEST(test_cross)
{
	struct o2_transfer_run *run = full_run(50000);
	struct o2_cross *cross = &run->counters.cross;
	struct o2_scenario scenario = {.op = O2_OP_GET};
	struct o2_cross_pair pair;
	char first[128];

	scenario.source.mode = O2_REG_USER;
	scenario.sink.mode = O2_REG_PHYS;
	scenario.sink.vector = O2_KIOV;
	scenario.source.kind = O2_DMA_IOMMU;
	memset(cross, 0, sizeof(*cross));
	o2_cross_moved(cross, &scenario);
	pair = o2_cross_of_pair(cross, O2_REG_USER, O2_REG_PHYS);
	/* In mode user the source can only be an IOV: half of the cells. */
	assert_int_equal(pair.cells, 36);
	assert_int_equal(pair.met, 1);
	assert_int_equal(pair.least, 0);
	assert_int_equal(o2_cross_of_pair(cross, O2_REG_PHYS, O2_REG_USER).met, 0);
	assert_int_equal(o2_cross_of_pair(cross, O2_REG_USER, O2_REG_USER).cells, 18);
	assert_int_equal(o2_cross_of_pair(cross, O2_REG_FMR, O2_REG_PHYS).cells, O2_CROSS_PAIR_CELLS);

	memset(cross, 1, sizeof(*cross));
	cross->moved[O2_REG_FMR][O2_REG_USER][O2_DMA_BUS][O2_DMA_IOMMU][O2_OP_PUT][O2_KIOV][O2_IOV] = 0;
	assert_int_equal(missing(run, first, sizeof(first)), 1);
	assert_string_equal(first, "every cell of the cross table");
	memset(cross, 1, sizeof(*cross));
	/* A KIOV cannot move in mode user, so this cell is not required. */
	cross->moved[O2_REG_FMR][O2_REG_USER][O2_DMA_BUS][O2_DMA_IOMMU][O2_OP_PUT][O2_KIOV][O2_KIOV] = 0;
	assert_int_equal(missing(run, first, sizeof(first)), 0);
	/* But its refusal is required. */
	cross->user_kiov_refused[O2_SINK][O2_DMA_BUS][O2_OP_PUT] = 0;
	assert_int_equal(missing(run, first, sizeof(first)), 1);
	scenario.source.mode = O2_REG_FMR;
	scenario.source.vector = O2_KIOV;
	scenario.sink.mode = O2_REG_USER;
	scenario.op = O2_OP_PUT;
	o2_cross_refused(cross, &scenario, O2_SOURCE);
	assert_int_equal(missing(run, first, sizeof(first)), 1);
	o2_cross_refused(cross, &scenario, O2_SINK);
	assert_int_equal(missing(run, first, sizeof(first)), 0);
	free(run);
}

TEST(test_cross_counts_kinds)
{
	struct o2_transfer_run *run = full_run(50000);
	struct o2_cross *cross = &run->counters.cross;
	json_t *object, *kinds;
	json_int_t most = 0;

	memset(cross, 0, sizeof(*cross));
	cross->moved[O2_REG_FMR][O2_REG_USER][O2_DMA_BUS][O2_DMA_IOMMU][O2_OP_PUT][O2_IOV][O2_IOV] = 3;
	cross->moved[O2_REG_FMR][O2_REG_USER][O2_DMA_BUS][O2_DMA_IOMMU][O2_OP_GET][O2_KIOV][O2_IOV] = 4;
	cross->moved[O2_REG_FMR][O2_REG_USER][O2_DMA_IOMMU][O2_DMA_BUS][O2_OP_GET][O2_KIOV][O2_IOV] = 5;
	object = o2_cross_to_json(cross);
	assert_int_equal(json_unpack(object, "{s:{s:{s:{s:o}}}}", "pairs", "fmr", "user", "kinds", &kinds),
			 0);
	assert_int_equal(json_unpack(kinds, "{s:{s:I}}", "bus", "iommu", &most), 0);
	assert_int_equal(most, 7);
	assert_int_equal(json_unpack(kinds, "{s:{s:I}}", "iommu", "bus", &most), 0);
	assert_int_equal(most, 5);
	json_decref(object);
	free(run);
}

/* --- sizes drawn, in powers of two --- */

TEST(test_drawn)
{
	static const uint64_t values[] = {1, 2, 3, 4, 1023, 1024, 1024};
	struct o2_drawn drawn = {0};
	json_t *object = o2_drawn_to_json(&drawn), *expected, *step;
	const char *least;

	assert_int_equal(json_object_size(object), 0);
	json_decref(object);
	for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++)
		o2_drawn_add(&drawn, values[i], values[i] % 2 == 0);
	object = o2_drawn_to_json(&drawn);
	assert_int_equal(json_object_size(object), 11);
	expected = json_loads(
		"{\"1\": {\"moved\": 0, \"refused\": 1}, \"2\": {\"moved\": 1, \"refused\": 1},"
		" \"4\": {\"moved\": 1, \"refused\": 0}, \"512\": {\"moved\": 0, \"refused\": 1},"
		" \"256\": {\"moved\": 0, \"refused\": 0}, \"1024\": {\"moved\": 2, \"refused\": 0}}",
		0, NULL);
	json_object_foreach(expected, least, step)
		assert_true(json_equal(json_object_get(object, least), step));
	json_decref(expected);
	json_decref(object);
	o2_drawn_add(&drawn, 0, true);
	o2_drawn_add(&drawn, UINT64_MAX, true);
	object = o2_drawn_to_json(&drawn);
	assert_int_equal(json_object_size(object), O2_DRAWN_STEPS);
	assert_non_null(json_object_get(object, "9223372036854775808"));
	json_decref(object);
}

/* --- the four pairs of polarities --- */

TEST(test_polarity)
{
	static const struct {
		enum o2_dma_kind source, sink;
		const char *name;
	} pairs[] = {
		{O2_DMA_BUS, O2_DMA_BUS, "<1,1>"},	   {O2_DMA_BUS, O2_DMA_IOMMU, "<1,1>"},
		{O2_DMA_IOMMU, O2_DMA_BUS, "<1,1>"},	   {O2_DMA_IOMMU, O2_DMA_IOMMU, "<1,1>"},
		{O2_DMA_BUS, O2_DMA_VIRTUAL, "<1,0>"},	   {O2_DMA_IOMMU, O2_DMA_VIRTUAL, "<1,0>"},
		{O2_DMA_VIRTUAL, O2_DMA_BUS, "<0,1>"},	   {O2_DMA_VIRTUAL, O2_DMA_IOMMU, "<0,1>"},
		{O2_DMA_VIRTUAL, O2_DMA_VIRTUAL, "<0,0>"},
	};
	struct o2_cross *cross = calloc(1, sizeof(*cross));
	char first[128], wanted[64];

	assert_non_null(cross);
	for (size_t i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++) {
		struct o2_scenario scenario = {.op = O2_OP_PUT};

		scenario.source = (struct o2_scenario_side){.mode = O2_REG_FMR, .kind = pairs[i].source};
		scenario.sink = (struct o2_scenario_side){.mode = O2_REG_PHYS, .kind = pairs[i].sink};
		memset(cross, 0, sizeof(*cross));
		o2_cross_moved(cross, &scenario);
		for (uint32_t j = 0; j < O2_POLARITY_PAIRS; j++) {
			const struct o2_cross_polarity found = o2_cross_of_polarity(cross, j);
			const bool same = strcmp(found.name, pairs[i].name) == 0;

			assert_int_equal(found.moved, same);
			assert_int_equal(found.pair.met, same);
		}
	}
	free(cross);
	for (uint32_t j = 0; j < O2_POLARITY_PAIRS; j++) {
		struct o2_transfer_run *run = full_run(1000);

		for (uint32_t i = 0; i < O2_DMA_KINDS * O2_DMA_KINDS; i++) {
			const uint32_t source = i / O2_DMA_KINDS, sink = i % O2_DMA_KINDS;

			if ((source == O2_DMA_VIRTUAL) != (j / 2 == 1) ||
			    (sink == O2_DMA_VIRTUAL) != (j % 2 == 1))
				continue;
			for (uint32_t m = 0; m < O2_REG_MODES * O2_REG_MODES; m++)
				memset(run->counters.cross
					       .moved[m / O2_REG_MODES][m % O2_REG_MODES][source][sink],
				       0, sizeof(run->counters.cross.moved[0][0][0][0]));
		}
		snprintf(wanted, sizeof(wanted), "a transfer between devices of polarity %s",
			 o2_cross_of_polarity(&run->counters.cross, j).name);
		assert_int_equal(missing(run, first, sizeof(first)), 1);
		assert_string_equal(first, wanted);
		run->counters.moved = 999;
		assert_int_equal(missing(run, first, sizeof(first)), 0);
		free(run);
	}
}
