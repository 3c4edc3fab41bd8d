/* SPDX-License-Identifier: MIT */
/*
 * The oracle's comparer on whole transfers: it reports bytes moved to a wrong place, and also plans that no
 * device registers or no peer decodes, even if every byte would arrive in its place.
 */
#include "tests/unit/oracle/world.h"

#define STAGE	  O2_STAGE_TRANSFER
#define WHOLE	  (w->found.transfer)
#define SOURCE	  (WHOLE.node[O2_SOURCE])
#define SINK	  (WHOLE.node[O2_SINK])
#define MAX_PAGES (w->asked.transfer.node[O2_SINK].max_pages)

CHANGE(whole_sge, TRANSFER_BYTES,
       WHOLE.plan.nsge > 0 && WHOLE.plan.sge[0].length > 1 && SOURCE.mode == O2_REG_GLOBAL,
       WHOLE.plan.sge[0].addr++)
CHANGE(whole_outside, TRANSFER_OUTSIDE_REGION, SINK.mode != O2_REG_GLOBAL,
       WHOLE.plan.wr[0].remote_addr -= 1 << 30)
CHANGE(whole_shape, TRANSFER_WORK_REQUESTS, true, WHOLE.plan.wr[0].length++)
CHANGE(whole_lkey, TRANSFER_KEYS, true, WHOLE.plan.lkey++)
CHANGE(whole_rkey, TRANSFER_KEYS, true, WHOLE.plan.rkey++)
CHANGE(whole_nob, TRANSFER_NOB, true, WHOLE.plan.nob--)
CHANGE(whole_access, TRANSFER_SOURCE_ACCESS, true, SOURCE.access |= O2_ACCESS_REMOTE_WRITE)
CHANGE(whole_closed, TRANSFER_ACCESS, true, SINK.access = 0)
CHANGE(whole_published, TRANSFER_PUBLISHED, true, SINK.frag[SINK.nfrags - 1].rf_nob++)
CHANGE(whole_range, TRANSFER_RANGE, SINK.mode != O2_REG_GLOBAL, SINK.length++)
CHANGE(whole_in_pages, TRANSFER_RANGE_IN_PAGES, SINK.mode == O2_REG_FMR && SINK.page_offset != 0,
       SINK.iova = 0;
       SINK.page_offset = 0; SINK.length = (uint64_t)SINK.npages * 4096)
CHANGE(whole_limit, TRANSFER_PEER_LIMIT, SINK.nfrags > 1, w->asked.transfer.max_frags = SINK.nfrags - 1)
CHANGE(whole_page, TRANSFER_BYTES, SINK.mode == O2_REG_FMR && SINK.npages > 1, SINK.page[1] += 4096)

MAKE(publish_of_source, true, SOURCE.frag[0].rf_nob++)

static void expect_published(change_fn change, const char *field)
{
	const struct o2_comparison *c = &w->comparison;
	bool named = false;

	expect(STAGE, O2_CHECK_TRANSFER_PUBLISHED, change);
	for (uint32_t i = 0; i < c->count; i++) {
		if (c->item[i].check != O2_CHECK_TRANSFER_PUBLISHED)
			continue;
		assert_string_equal(c->item[i].field, field);
		named = true;
	}
	assert_true(named);
}

/* The side that publishes too much is named, and the other one not. */
TEST_WITH(test_the_side_that_publishes_more, set_up, tear_down)
{
	expect_published(publish_of_source, "source.frags");
	expect_published(whole_published.make, "sink.frags");
}

/* --- right bytes --- */

/* Moves a region's iova, and all addresses in the region. */
static bool move(enum o2_side side, uint64_t by)
{
	struct o2_reg_plan *plan = &WHOLE.node[side];

	plan->iova += by;
	for (uint32_t i = 0; i < plan->nfrags; i++)
		plan->frag[i].rf_addr += by;
	for (uint32_t i = 0; side == O2_SINK && i < WHOLE.plan.nwr; i++)
		WHOLE.plan.wr[i].remote_addr += by;
	for (uint32_t i = 0; side == O2_SOURCE && i < WHOLE.plan.nsge; i++)
		WHOLE.plan.sge[i].addr += by;
	return true;
}

CHANGE(whole_incongruent, TRANSFER_PAGES, SINK.mode == O2_REG_FMR, return move(O2_SINK, 1))
CHANGE(whole_inside, TRANSFER_PAGES, SOURCE.mode == O2_REG_FMR && SOURCE.npages == 1,
       SOURCE.page[0] += SOURCE.page_offset + 1;
       SOURCE.page_offset = 0)
CHANGE(whole_pages, TRANSFER_PAGES, SINK.mode == O2_REG_PHYS, MAX_PAGES = SINK.npages - 1)
CHANGE(whole_iova_fastreg, TRANSFER_IOVA, SOURCE.mode == O2_REG_FASTREG, return move(O2_SOURCE, 4096))
CHANGE(whole_iova_phys, TRANSFER_IOVA, SINK.mode == O2_REG_PHYS, return move(O2_SINK, 4096))
CHANGE(whole_iova_gaps, TRANSFER_IOVA, SINK.mode == O2_REG_FASTREG_GAPS, return move(O2_SINK, 4096))
CHANGE(whole_entries, TRANSFER_ENTRIES, SINK.mode == O2_REG_FASTREG_GAPS, MAX_PAGES = SINK.nentries - 1)
CHANGE(whole_entry_empty, TRANSFER_ENTRIES, SOURCE.mode == O2_REG_FASTREG_GAPS && SOURCE.nentries < 8,
       SOURCE.entry[SOURCE.nentries++].length = 0)
CHANGE(whole_behind, TRANSFER_PAGES, SOURCE.mode == O2_REG_FMR && SOURCE.npages > 1, SOURCE.npages--)
CHANGE(whole_empty, TRANSFER_SINK_FRAGMENTS, SINK.nfrags < w->asked.transfer.max_frags,
       SINK.frag[SINK.nfrags] = SINK.frag[0];
       SINK.frag[SINK.nfrags++].rf_nob = 0)
CHANGE(whole_local, TRANSFER_ACCESS, true, SINK.access = O2_ACCESS_REMOTE_WRITE)

/* Almost right: one more page is listed, which holds no byte of the transfer, and there is room for it. */
static bool spare_page(void)
{
	if (!IS_RESULT || SINK.npages == 0 || SINK.npages >= MAX_PAGES)
		return false;
	SINK.page[SINK.npages++] = 0;
	return true;
}

TEST_WITH(test_a_page_more, set_up, tear_down)
{
	expect_equal(O2_STAGE_TRANSFER, "a page more", spare_page);
}

/* --- what is said of a plan that is wrong by itself --- */

#define REG (w->found.reg)

/* Change a plan of the mode whose numbers stay those of the reference, and look at what is said of the field. */
static void expect_said(enum o2_reg_mode mode, const char *field, const char *expected, const char *found)
{
	static const uint64_t first = 0x10000800;
	const struct o2_comparison *c = &w->comparison;

	memset(&w->asked, 0, sizeof(w->asked));
	w->asked.stage = O2_STAGE_REG_PLAN;
	w->asked.reg.request = (struct o2_reg_request){
		.mode = mode, .page_bytes = 4096, .max_pages = 257, .peer_max_frags = 257};
	w->asked.reg.list =
		(struct o2_dma_list){.nob = 4096, .count = 1, .segment = {{.addr = first, .length = 4096}}};
	o2_answer_of_reference(&w->asked, &w->expected);
	o2_answer_of_reference(&w->asked, &w->found);
	if (mode == O2_REG_FMR)
		REG.iova = REG.page_offset = 0;
	else if (mode == O2_REG_FASTREG)
		REG.npages = 1;
	else
		REG.entry[0].length = 1;
	o2_compare(&w->comparison, &w->asked, &w->expected, &w->found);
	for (uint32_t i = 0; i < c->count; i++)
		if (strcmp(c->item[i].field, field) == 0 && strcmp(c->item[i].expected, expected) == 0 &&
		    strcmp(c->item[i].found, found) == 0)
			return;
	for (uint32_t i = 0; i < c->count; i++)
		fprintf(stderr, "%s: %s, %s\n", c->item[i].field, c->item[i].expected, c->item[i].found);
	fail();
}

TEST_WITH(test_what_is_said_of_a_plan, set_up, tear_down)
{
	expect_said(O2_REG_FMR, "length", "4096: the fragments span [0x800,0x1800)",
		    "4096: the region is [0x0,+0x1000)");
	expect_said(O2_REG_FMR, "frag[0]", "bytes of the region",
		    "byte 0x1000 lies outside the region [0x0,+4096)");
	expect_said(O2_REG_FASTREG, "frag[0]", "bytes of the region",
		    "byte 0x10001000 of the region has no page or entry (1 listed)");
	expect_said(O2_REG_FASTREG, "npages", "2 (at most 257)",
		    "1, which list 2048 bytes of a region of 4096");
	expect_said(O2_REG_FASTREG_GAPS, "nentries", "1 (at most 257)",
		    "1, which list 1 bytes of a region of 4096");
}

/* --- streams --- */

/* One goes on where the other turns back: by as much as it has come. */
TEST(test_a_stream_that_turns_back)
{
	static struct o2_stream straight, turning;
	uint64_t byte = 0;

	o2_stream_clear(&straight);
	o2_stream_clear(&turning);
	assert_true(o2_stream_add(&straight, 1000, 200));
	assert_true(o2_stream_add(&turning, 1000, 100) && o2_stream_add(&turning, 900, 100));
	assert_true(o2_stream_differ(&straight, &turning, &byte));
	assert_int_equal(byte, 100);
	assert_true(o2_stream_differ(&turning, &straight, &byte));
	assert_int_equal(byte, 100);
}

/* --- what is said of other answers --- */

TEST_WITH(test_a_version_that_is_missing, set_up, tear_down)
{
	json_t *answer = json_pack("{s:s}", "form", "o2ref/sg_build/output");

	w->asked.stage = O2_STAGE_SG_BUILD;
	o2_answer_from_json(&w->asked, answer, &w->found);
	assert_int_equal(w->found.kind, O2_ANSWER_BROKEN);
	assert_string_equal(w->found.fault.text, "the answer's version is missing or is not 1");
	json_decref(answer);
}

TEST_WITH(test_stages_that_are_no_list, set_up, tear_down)
{
	static const char *const lists[] = {"[\"device\"]", "[]", "null", "\"device\"", "[7]", "{}"};

	w->asked.stage = O2_STAGE_SG_BUILD;
	for (size_t i = 0; i < 6; i++) {
		json_t *answer = json_pack("{s:s, s:i, s:b, s:o}", "form", "o2ref/sg_build/output", "version",
					   1, "not_implemented", 1, "stages",
					   json_loads(lists[i], JSON_DECODE_ANY, NULL));

		o2_answer_from_json(&w->asked, answer, &w->found);
		assert_int_equal(w->found.kind, i < 3 ? O2_ANSWER_NOT_IMPLEMENTED : O2_ANSWER_BROKEN);
		json_decref(answer);
	}
}

/* A number that has a name is shown by it. */
TEST_WITH(test_what_is_said_of_a_flavour, set_up, tear_down)
{
	uint64_t index = 0;

	while (!draw(O2_STAGE_MSG_DECODE, index) || !IS_RESULT)
		index++;
	w->expected.msg_decode.msg.cksum_flavour = O2_CKSUM_UNSIGNED;
	w->found.msg_decode.msg.cksum_flavour = O2_CKSUM_UNVERIFIED;
	o2_compare(&w->comparison, &w->asked, &w->expected, &w->found);
	assert_string_equal(w->comparison.item[0].field, "cksum_flavour");
	assert_string_equal(w->comparison.item[0].expected, "unsigned");
	assert_string_equal(w->comparison.item[0].found, "unverified");
}
