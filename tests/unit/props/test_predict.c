/* SPDX-License-Identifier: MIT */
/* The predictor (docs/properties.md, "Refusals") and the extents that it counts. */

#include "props/scenario/predict.h"
#include "tests/lib/unit_test.h"

#define PAGE O2_SCENARIO_PAGE_BYTES
#define SEED UINT64_C(0x70726564)

/* --- scenarios by shape --- */

/* The memory of a side, described by its shape. */
enum shape {
	FULL,	  /* n pages in full: no gaps */
	SPLIT,	  /* n pieces of 100 bytes, each at offset 500 of a page of its own: gaps */
	SHIFTED,  /* n pieces in pages of their own; half of the first, all, .. , half of the last: no gaps */
	HOLE,	  /* n full pages and one more, of which the last of the n ends 100 bytes early: gaps */
	LATE,	  /* n pages, of which the last begins 100 bytes late: gaps */
	TOUCHING, /* two halves of page 0, then n - 1 full pages: no hole, gaps all the same (rule G3) */
	EMPTY_MID, /* n full pages with empty pieces at odd offsets around each: no gaps */
	ONE_IOV,   /* n pages as one IOV from 100 bytes into the first page to the end of the last */
};

static void add(struct o2_scenario_side *side, uint32_t offset, uint32_t len)
{
	side->kiov[side->count] = (struct o2_kiov){.page = side->count, .offset = offset, .len = len};
	side->count++;
	side->nob += len;
}

static void shape_side(struct o2_scenario_side *side, enum o2_reg_mode mode, enum shape shape, uint32_t n)
{
	memset(side, 0, sizeof(*side));
	side->mode = mode;
	side->vector = O2_KIOV;
	if (shape == ONE_IOV) {
		side->vector = O2_IOV;
		side->count = 1;
		side->nob = (uint64_t)n * PAGE - 100;
		side->iov[0] = (struct o2_iov){.base = 100, .len = side->nob};
		return;
	}
	if (shape == TOUCHING)
		add(side, 0, PAGE / 2);
	for (uint32_t i = 0; i < n; i++) {
		bool last = i + 1 == n;

		if (shape == EMPTY_MID)
			add(side, 77, 0);
		if (shape == SPLIT)
			add(side, 500, 100);
		else if (shape == SHIFTED && i == 0)
			add(side, PAGE / 2, PAGE / 2);
		else if (shape == TOUCHING && i == 0)
			add(side, PAGE / 2, PAGE / 2);
		else if (shape == SHIFTED && last)
			add(side, 0, PAGE / 2);
		else if (shape == LATE && last)
			add(side, 100, PAGE - 100);
		else if (shape == HOLE && last)
			add(side, 0, PAGE - 100);
		else
			add(side, 0, PAGE);
	}
	if (shape == TOUCHING)
		side->kiov[1].page = 0;
	if (shape == HOLE)
		add(side, 0, PAGE);
}

static const struct row {
	const char *name;
	enum o2_transfer_op op;
	struct {
		enum o2_reg_mode mode;
		enum shape shape;
		uint32_t n;
		uint64_t nob; /* 0: the whole vector */
	} source, sink;
	uint32_t max_frags, wrq_sge;
	enum o2_verdict verdict;
	int code;
} rows[] = {
#define PUT	     O2_OP_PUT
#define GET	     O2_OP_GET
#define MOVES	     O2_MOVES, 0
#define LOCAL(code)  O2_REFUSED_LOCAL, -(code)
#define PEER(code)   O2_REFUSED_PEER, -(code)
#define WRITER(code) O2_REFUSED_WRITER, -(code)
#define G	     O2_REG_GLOBAL
#define F	     O2_REG_FMR
#define R	     O2_REG_FASTREG
	/* limit of scatter entries */
	{"257 at a source", PUT, {G, SPLIT, 257, 0}, {R, FULL, 7, 0}, 257, 2, MOVES},
	{"258 at a source", PUT, {G, SPLIT, 258, 0}, {R, FULL, 7, 0}, 257, 2, LOCAL(EFAULT)},
	{"257 at a sink", PUT, {R, FULL, 7, 25700}, {F, SPLIT, 257, 0}, 257, 2, MOVES},
	{"258 at a sink", PUT, {R, FULL, 7, 25800}, {F, SPLIT, 258, 0}, 257, 2, PEER(EFAULT)},
	{"258 at a GET's sink", GET, {R, FULL, 1, 0}, {F, SPLIT, 258, 0}, 257, 2, LOCAL(EFAULT)},
	{"258, of which a PUT needs 257", PUT, {R, FULL, 7, 25700}, {G, SPLIT, 258, 0}, 257, 2, MOVES},
	{"IOV over 256 pages", GET, {F, ONE_IOV, 256, 0}, {F, ONE_IOV, 256, 0}, 1, 1, MOVES},
	{"unaligned 1 MiB", PUT, {R, SHIFTED, 257, 0}, {F, FULL, 256, 0}, 1, 1, MOVES},
	{"more than 1 MiB", PUT, {R, FULL, 257, 0}, {R, FULL, 256, 0}, 257, 2, LOCAL(EINVAL)},
	{"short vector", GET, {R, FULL, 2, 8193}, {R, FULL, 3, 0}, 257, 2, PEER(EINVAL)},
	{"nothing", GET, {R, FULL, 2, 0}, {R, EMPTY_MID, 0, 0}, 257, 2, LOCAL(EINVAL)},

	/* gaps under fastreg */
	{"shifted fastreg", PUT, {R, SHIFTED, 3, 0}, {R, SHIFTED, 3, 0}, 1, 1, MOVES},
	{"empty pieces", PUT, {R, EMPTY_MID, 3, 0}, {R, EMPTY_MID, 3, 0}, 1, 1, MOVES},
	{"gap at a source", PUT, {R, HOLE, 3, 0}, {R, HOLE, 3, 0}, 257, 2, LOCAL(EPROTONOSUPPORT)},
	{"gap at a sink", PUT, {G, HOLE, 3, 0}, {R, HOLE, 3, 0}, 257, 2, PEER(EPROTONOSUPPORT)},
	{"gap at a GET's source", GET, {R, HOLE, 3, 0}, {F, HOLE, 3, 0}, 257, 2, PEER(EPROTONOSUPPORT)},
	{"gap at a GET's sink", GET, {R, FULL, 3, 0}, {R, HOLE, 3, 0}, 257, 2, LOCAL(EPROTONOSUPPORT)},
	{"late second page", PUT, {R, LATE, 2, 0}, {F, FULL, 3, 0}, 257, 2, LOCAL(EPROTONOSUPPORT)},
	{"late second page not reached", PUT, {R, LATE, 2, 4096}, {F, FULL, 3, 0}, 257, 2, MOVES},
	{"touching in a page", PUT, {R, TOUCHING, 3, 0}, {F, FULL, 3, 0}, 257, 2, LOCAL(EPROTONOSUPPORT)},
	{"last byte before a gap", PUT, {R, HOLE, 3, 12188}, {F, FULL, 3, 0}, 257, 2, MOVES},
	{"first byte after a gap", PUT, {R, HOLE, 3, 12189}, {F, FULL, 3, 0}, 257, 2, LOCAL(EPROTONOSUPPORT)},
	{"a PUT's source maps all", PUT, {R, HOLE, 3, 0}, {F, FULL, 1, 0}, 257, 2, LOCAL(EPROTONOSUPPORT)},
	{"a PUT's sink does not", PUT, {F, FULL, 1, 0}, {R, HOLE, 3, 0}, 257, 2, MOVES},
	{"a GET's sink does", GET, {F, FULL, 1, 0}, {R, HOLE, 3, 0}, 257, 2, LOCAL(EPROTONOSUPPORT)},
	{"a GET's source does not", GET, {R, HOLE, 3, 0}, {F, FULL, 1, 0}, 257, 2, MOVES},

	/* limit of fragments that a sink publishes */
	{"8 of 8, global", PUT, {R, FULL, 8, 0}, {G, FULL, 8, 0}, 8, 1, MOVES},
	{"9 of 8, global", PUT, {R, FULL, 9, 0}, {G, FULL, 9, 0}, 8, 1, PEER(EFBIG)},
	{"8 of 8, fmr", GET, {R, FULL, 1, 800}, {F, SPLIT, 8, 0}, 8, 1, MOVES},
	{"9 of 8, fmr", GET, {R, FULL, 1, 900}, {F, SPLIT, 9, 0}, 8, 1, LOCAL(EFBIG)},
	{"1 of 1, fmr without gaps", GET, {R, FULL, 9, 0}, {F, FULL, 9, 0}, 1, 1, MOVES},
	{"touching in fmr: 3 fragments of 2", PUT, {R, FULL, 2, 0}, {F, TOUCHING, 2, 0}, 2, 1, PEER(EFBIG)},
	{"touching in fmr: 3 fragments of 3", PUT, {R, FULL, 2, 0}, {F, TOUCHING, 2, 0}, 3, 1, MOVES},
	{"a source may have more", PUT, {G, FULL, 9, 0}, {R, FULL, 9, 0}, 5, 2, MOVES},

	/* limit of work requests */
	{"5 for 9 pieces", PUT, {G, FULL, 9, 0}, {R, FULL, 9, 0}, 4, 2, WRITER(EMSGSIZE)},
	{"3 for 9 pieces", GET, {G, FULL, 9, 0}, {R, FULL, 9, 0}, 3, 3, MOVES},
	{"3 for 9 pieces, 2 allowed", GET, {G, FULL, 9, 0}, {R, FULL, 9, 0}, 2, 3, PEER(EMSGSIZE)},
	{"half-shifted 1 MiB", PUT, {G, FULL, 256, 0}, {G, SHIFTED, 257, 0}, 257, 2, MOVES},
	{"half-shifted 1 MiB, 1 sge", PUT, {G, FULL, 256, 0}, {G, SHIFTED, 257, 0}, 257, 1, WRITER(EMSGSIZE)},
	{"half-shifted the other way", GET, {G, SHIFTED, 257, 0}, {G, FULL, 256, 0}, 256, 2, MOVES},
	{"bytes not moved cost nothing", PUT, {G, FULL, 9, 0}, {R, FULL, 4, 0}, 2, 2, MOVES},
	{"nor fragments not reached", GET, {G, FULL, 2, 0}, {G, FULL, 4, 0}, 4, 1, MOVES},

	/* which side refuses first */
	{"both, PUT", PUT, {G, SPLIT, 258, 0}, {R, HOLE, 3, 0}, 257, 2, LOCAL(EFAULT)},
	{"both, GET", GET, {G, SPLIT, 258, 0}, {R, HOLE, 9, 0}, 257, 2, LOCAL(EPROTONOSUPPORT)},
	{"entries before gaps", PUT, {R, SPLIT, 258, 0}, {R, FULL, 9, 0}, 257, 2, LOCAL(EFAULT)},
	{"gaps before work requests", PUT, {G, FULL, 9, 0}, {R, HOLE, 8, 0}, 1, 1, PEER(EPROTONOSUPPORT)},
#undef PUT
#undef GET
#undef MOVES
#undef LOCAL
#undef PEER
#undef WRITER
#undef G
#undef F
#undef R
};

static void make(const struct row *row, struct o2_scenario *scenario)
{
	memset(scenario, 0, sizeof(*scenario));
	scenario->op = row->op;
	scenario->max_frags = row->max_frags;
	scenario->wrq_sge = row->wrq_sge;
	shape_side(&scenario->source, row->source.mode, row->source.shape, row->source.n);
	shape_side(&scenario->sink, row->sink.mode, row->sink.shape, row->sink.n);
	if (row->source.nob != 0)
		scenario->source.nob = row->source.nob;
	if (row->sink.nob != 0)
		scenario->sink.nob = row->sink.nob;
}

TEST(test_verdicts)
{
	static struct o2_scenario scenario;
	struct o2_prediction prediction;
	uint32_t wrong = 0;

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		make(&rows[i], &scenario);
		o2_predict(&scenario, NULL, NULL, NULL, &prediction);
		if (prediction.verdict != rows[i].verdict || prediction.code != rows[i].code) {
			print_error("%s: verdict %d code %d (%s), expected %d code %d\n", rows[i].name,
				    (int)prediction.verdict, prediction.code, prediction.reason,
				    (int)rows[i].verdict, rows[i].code);
			wrong++;
		}
	}
	assert_int_equal(wrong, 0);
}

/* A page without a CPU mapping matters to devices of the virtual kind, if the side maps it. */
TEST(test_unmapped)
{
	static struct o2_scenario scenario;
	static const struct row row = {
		"", O2_OP_PUT, {O2_REG_FMR, FULL, 4, 0}, {O2_REG_FMR, FULL, 3, 0}, 257, 2, 0, 0};
	static uint32_t backwards[O2_SCENARIO_PAGES];
	struct o2_prediction prediction;

	for (uint32_t page = 0; page < 6; page++) {
		for (uint32_t kind = 0; kind < 2; kind++) {
			for (uint32_t get = 0; get < 2; get++) {
				uint32_t pages = get ? 3 : 4; /* pages that the source maps */
				bool refused = kind == 1 && page < pages;
				enum o2_verdict refusal = get ? O2_REFUSED_PEER : O2_REFUSED_LOCAL;

				make(&row, &scenario);
				scenario.op = get ? O2_OP_GET : O2_OP_PUT;
				scenario.source.kind = kind ? O2_DMA_VIRTUAL : O2_DMA_BUS;
				scenario.source.has_unmapped = true;
				scenario.source.unmapped_page = page;
				o2_predict(&scenario, NULL, NULL, NULL, &prediction);
				assert_int_equal(prediction.verdict, refused ? refusal : O2_MOVES);
				assert_int_equal(prediction.code, refused ? -EFAULT : 0);
			}
		}
	}

	/* In an IOV the missing page is the one that the view shows there. */
	for (uint32_t i = 0; i < O2_SCENARIO_PAGES; i++)
		backwards[i] = O2_SCENARIO_PAGES - 1 - i;
	shape_side(&scenario.sink, O2_REG_FASTREG, ONE_IOV, 2);
	scenario.op = O2_OP_GET;
	scenario.source.has_unmapped = false;
	scenario.sink.kind = O2_DMA_VIRTUAL;
	scenario.sink.has_unmapped = true;
	scenario.sink.unmapped_page = O2_SCENARIO_PAGES - 2;
	o2_predict(&scenario, NULL, backwards, NULL, &prediction);
	assert_int_equal(prediction.verdict, O2_REFUSED_LOCAL);
	assert_int_equal(prediction.code, -EFAULT);
	scenario.sink.unmapped_page = 1;
	o2_predict(&scenario, NULL, backwards, NULL, &prediction);
	assert_int_equal(prediction.verdict, O2_MOVES);
}

/* --- drawn scenarios --- */

static void draw(uint64_t index, struct o2_scenario *scenario)
{
	static struct o2_choice choice;
	static const struct o2_scenario_space all = O2_SCENARIO_SPACE_ALL;

	o2_choice_random(&choice, tests_seed(SEED), index);
	o2_scenario_draw(&choice, &all, scenario);
}

/* A view whose pages are not in sequence. */
static const uint32_t *scattered_view(void)
{
	static uint32_t page[O2_SCENARIO_PAGES];

	for (uint32_t i = 0; i < O2_SCENARIO_PAGES; i++)
		page[i] = (i * 101 + 17) % O2_SCENARIO_PAGES;
	return page;
}

/* Lists each byte of a vector, at most max of them, as page * PAGE + offset. */
static uint32_t expand(const struct o2_scenario_side *side, const uint32_t *view, uint32_t *byte,
		       uint32_t max)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < side->count; i++) {
		uint64_t len = side->vector == O2_IOV ? side->iov[i].len : side->kiov[i].len;

		for (uint64_t k = 0; k < len && n < max; k++) {
			if (side->vector == O2_IOV) {
				uint64_t at = side->iov[i].base + k;

				byte[n++] = view[at / PAGE] * PAGE + (uint32_t)(at % PAGE);
			} else {
				byte[n++] = side->kiov[i].page * PAGE + side->kiov[i].offset + (uint32_t)k;
			}
		}
	}
	return n;
}

#define MAX_BYTES (2u * O2_MAX_TRANSFER_BYTES)

static void compare_extents(const struct o2_scenario_side *side, const uint32_t *byte, uint64_t first,
			    uint64_t nob)
{
	static struct o2_extent extent[O2_SCENARIO_EXTENTS];
	const uint32_t *view = scattered_view();
	int count = o2_scenario_extents(side, view, first, nob, extent, O2_SCENARIO_EXTENTS);
	uint64_t at = first;

	assert_true(count >= 0);
	for (int i = 0; i < count; i++) {
		assert_true(extent[i].length > 0);
		assert_true(extent[i].offset + extent[i].length <= PAGE);
		for (uint32_t k = 0; k < extent[i].length; k++, at++)
			if (byte[at] != extent[i].page * PAGE + extent[i].offset + k)
				fail_msg("byte %llu is in another place", (unsigned long long)at);
	}
	assert_int_equal(at, first + nob);
	/* Room for one extent less is refused. */
	if (count > 0)
		assert_int_equal(o2_scenario_extents(side, view, first, nob, extent, (uint32_t)count - 1),
				 -EINVAL);
}

TEST(test_extents)
{
	static struct o2_scenario scenario;
	static struct o2_extent extent[O2_SCENARIO_EXTENTS];
	static uint32_t byte[MAX_BYTES];

	print_message("replay: O2_TEST_SEED=0x%llx test_predict\n", (unsigned long long)tests_seed(SEED));
	for (uint64_t i = 0; i < 300; i++) {
		const struct o2_scenario_side *side = i % 2 ? &scenario.source : &scenario.sink;
		uint32_t total;

		draw(i, &scenario);
		total = expand(side, scattered_view(), byte, MAX_BYTES);
		assert_true(total >= side->offset_bytes + side->nob);
		compare_extents(side, byte, side->offset_bytes, side->nob);
		compare_extents(side, byte, side->offset_bytes + side->nob / 3, side->nob / 2);
		compare_extents(side, byte, 0, side->offset_bytes);
		if (total < MAX_BYTES)
			assert_int_equal(o2_scenario_extents(side, scattered_view(), side->offset_bytes,
							     total - side->offset_bytes + 1, extent,
							     O2_SCENARIO_EXTENTS),
					 -EINVAL);
	}
}

/*
 * Counts the work requests for mode global on both sides by a plain walk over both lists of extents: a piece
 * ends where an extent of either list ends.
 */
static uint64_t walk_work_requests(const struct o2_scenario *scenario)
{
	static struct o2_extent source[O2_SCENARIO_EXTENTS], sink[O2_SCENARIO_EXTENTS];
	uint64_t left = o2_scenario_moved(scenario);
	uint64_t requests = 0;
	uint32_t sge = 0, s = 0, d = 0;

	o2_scenario_extents(&scenario->source, NULL, scenario->source.offset_bytes, left, source,
			    O2_SCENARIO_EXTENTS);
	o2_scenario_extents(&scenario->sink, NULL, scenario->sink.offset_bytes, left, sink,
			    O2_SCENARIO_EXTENTS);
	while (left > 0) {
		uint32_t n = source[s].length < sink[d].length ? source[s].length : sink[d].length;

		requests += sge == 0;
		sge = (sge + 1) % scenario->wrq_sge;
		left -= n;
		source[s].length -= n;
		sink[d].length -= n;
		s += source[s].length == 0;
		if (sink[d].length == 0) {
			d++;
			sge = 0;
		}
	}
	return requests;
}

TEST(test_work_requests)
{
	static struct o2_scenario scenario;
	struct o2_prediction prediction;
	uint32_t tried = 0, exceeded = 0;

	for (uint64_t i = 0; i < 5000; i++) {
		uint64_t requests;

		draw(i, &scenario);
		scenario.source.mode = scenario.sink.mode = O2_REG_GLOBAL;
		scenario.source.kind = scenario.sink.kind = O2_DMA_BUS;
		scenario.max_frags = O2_MAX_FRAGS;
		o2_predict(&scenario, NULL, NULL, NULL, &prediction);
		if (prediction.code == -EFAULT)
			continue;
		requests = walk_work_requests(&scenario);
		/* Allow exactly as many as needed, where the sink's fragments permit it, then one less. */
		scenario.max_frags = requests < O2_MAX_FRAGS ? (uint32_t)requests : O2_MAX_FRAGS;
		if (scenario.max_frags < prediction.sink_entries)
			scenario.max_frags = prediction.sink_entries;
		tried++;
		exceeded += requests > scenario.max_frags;
		o2_predict(&scenario, NULL, NULL, NULL, &prediction);
		assert_int_equal(prediction.code, requests > scenario.max_frags ? -EMSGSIZE : 0);
		if (requests != scenario.max_frags || requests <= prediction.sink_entries)
			continue;
		scenario.max_frags--;
		exceeded++;
		o2_predict(&scenario, NULL, NULL, NULL, &prediction);
		assert_int_equal(prediction.code, -EMSGSIZE);
		assert_int_equal(prediction.verdict,
				 scenario.op == O2_OP_PUT ? O2_REFUSED_WRITER : O2_REFUSED_PEER);
	}
	print_message("%u scenarios tried, %u over the limit\n", tried, exceeded);
	assert_true(tried > 4000);
	assert_true(exceeded > 500);
}
