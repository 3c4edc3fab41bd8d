/* SPDX-License-Identifier: MIT */
/*
 * The oracle's comparer on lists, plans and work requests: changes that move bytes are reported, and changes
 * that only split them differently are not failures.  Hostile numbers anywhere in an answer do no harm.
 */
#include "tests/unit/oracle/world.h"

/* --- scatter lists and segments --- */

#define STAGE O2_STAGE_SG_BUILD
#define SG    (w->found.sg)
#define KIND  (w->asked.sg.memory.buffer.kind)

CHANGE(sg_page, SG_KIOV_BYTES, KIND == O2_KIOV, SG.entry[SG.count - 1].page++)
CHANGE(sg_offset, SG_IOV_BYTES, KIND == O2_IOV && SG.entry[0].offset > 0, SG.entry[0].offset--)
CHANGE(sg_swap, SG_KIOV_BYTES, KIND == O2_KIOV && SG.count >= 2 && SG.entry[0].page != SG.entry[1].page,
       const struct o2_sg_entry first = SG.entry[0];
       SG.entry[0] = SG.entry[1]; SG.entry[1] = first)
CHANGE(sg_nob, SG_KIOV_NOB, KIND == O2_KIOV, SG.nob++)
CHANGE(sg_nob_iov, SG_IOV_NOB, KIND == O2_IOV, SG.nob--)
CHANGE(sg_past, SG_KIOV_ENTRY_IN_PAGE, KIND == O2_KIOV,
       SG.entry[0].length = w->asked.sg.memory.space.page_bytes + 1)
CHANGE(sg_past_iov, SG_IOV_ENTRY_IN_PAGE, KIND == O2_IOV,
       SG.entry[0].length = w->asked.sg.memory.space.page_bytes + 1)
CHANGE(sg_drop, SG_KIOV_BYTES, KIND == O2_KIOV && SG.count >= 2, SG.count--)
CHANGE(sg_drop_iov, SG_IOV_BYTES, KIND == O2_IOV && SG.count >= 2, SG.count--)
CHANGE(sg_gaps, SG_KIOV_GAP_FLAG, KIND == O2_KIOV, SG.gaps = !SG.gaps)
CHANGE(sg_gaps_iov, SG_IOV_GAP_FLAG, KIND == O2_IOV, SG.gaps = !SG.gaps)
CHANGE(sg_many, SG_KIOV_TOO_MANY, KIND == O2_KIOV && w->asked.sg.max_entries == O2_MAX_FRAGS_LEGACY,
       SG.count = O2_MAX_FRAGS)
CHANGE(sg_many_iov, SG_IOV_TOO_MANY, KIND == O2_IOV && w->asked.sg.max_entries == O2_MAX_FRAGS_LEGACY,
       SG.count = O2_MAX_FRAGS)

/* Splits one entry into two that describe the same bytes. */
static bool sg_split(void)
{
	const uint32_t count = SG.count;

	if (!IS_RESULT || SG.entry[count - 1].length < 2 || count >= w->asked.sg.max_entries)
		return false;
	SG.entry[count] = SG.entry[count - 1];
	SG.entry[count - 1].length = 1;
	SG.entry[count].offset++;
	SG.entry[count].length--;
	SG.count++;
	return true;
}

CHANGE(sg_split_kiov, SG_KIOV_ENTRIES, KIND == O2_KIOV, return sg_split())
CHANGE(sg_split_iov, SG_IOV_ENTRIES, KIND == O2_IOV, return sg_split())

#undef STAGE
#define STAGE O2_STAGE_DMA_MAP
#define DMA   (w->found.dma)
#define DEV   (w->asked.dma.device.device.kind)

CHANGE(dma_addr, DMA_BUS_BYTES, DEV == O2_DMA_BUS, DMA.segment[0].addr++)
CHANGE(dma_addr_virtual, DMA_VIRTUAL_BYTES, DEV == O2_DMA_VIRTUAL, DMA.segment[DMA.count - 1].addr--)
CHANGE(dma_addr_iommu, DMA_IOMMU_BYTES, DEV == O2_DMA_IOMMU, DMA.segment[0].addr += 4096)
CHANGE(dma_nob, DMA_BUS_NOB, DEV == O2_DMA_BUS, DMA.nob++)
CHANGE(dma_nob_virtual, DMA_VIRTUAL_NOB, DEV == O2_DMA_VIRTUAL, DMA.nob++)
CHANGE(dma_nob_iommu, DMA_IOMMU_NOB, DEV == O2_DMA_IOMMU, DMA.nob++)
CHANGE(dma_empty, DMA_BUS_EMPTY_SEGMENT, DEV == O2_DMA_BUS, DMA.segment[0].length = 0)
CHANGE(dma_empty_virtual, DMA_VIRTUAL_EMPTY_SEGMENT, DEV == O2_DMA_VIRTUAL, DMA.segment[0].length = 0)
CHANGE(dma_empty_iommu, DMA_IOMMU_EMPTY_SEGMENT, DEV == O2_DMA_IOMMU, DMA.segment[0].length = 0)

static bool dma_split(void)
{
	const uint32_t count = DMA.count;

	if (!IS_RESULT || DMA.segment[count - 1].length < 2 || count == O2_MAX_FRAGS)
		return false;
	DMA.segment[count] = DMA.segment[count - 1];
	DMA.segment[count - 1].length = 1;
	DMA.segment[count].addr++;
	DMA.segment[count].length--;
	DMA.count++;
	return true;
}

CHANGE(dma_split_bus, DMA_BUS_SEGMENTS, DEV == O2_DMA_BUS, return dma_split())
CHANGE(dma_split_virtual, DMA_VIRTUAL_SEGMENTS, DEV == O2_DMA_VIRTUAL, return dma_split())
CHANGE(dma_split_iommu, DMA_IOMMU_SEGMENTS, DEV == O2_DMA_IOMMU, return dma_split())

TEST_WITH(test_lists_cut_otherwise, set_up, tear_down)
{
	expect_equal(O2_STAGE_SG_BUILD, "an entry in two parts", sg_split);
	expect_equal(O2_STAGE_DMA_MAP, "a segment in two parts", dma_split);
}

/* --- registration --- */

#undef STAGE
#define STAGE	O2_STAGE_REG_PLAN
#define REG	(w->found.reg)
#define MODE(m) (w->asked.reg.request.mode == O2_REG_##m)
#define SINK	(w->asked.reg.request.side == O2_SINK)

/* These changes apply to every mode. */
#define IN_MODE(m, lower)                                                                                   \
	CHANGE(reg_frag_##lower, REG_##m##_BYTES, MODE(m), REG.frag[0].rf_addr++)                           \
	CHANGE(reg_short_##lower, REG_##m##_BYTES, MODE(m), REG.frag[REG.nfrags - 1].rf_nob--)              \
	CHANGE(reg_access_##lower, REG_##m##_ACCESS, MODE(m) && SINK, REG.access = 0)                       \
	CHANGE(reg_local_##lower, REG_##m##_ACCESS, MODE(m) && SINK, REG.access = O2_ACCESS_REMOTE_WRITE)   \
	CHANGE(reg_empty_##lower, REG_SINK_FRAGMENTS, MODE(m) && SINK && REG.nfrags < O2_MAX_FRAGS,         \
	       REG.frag[REG.nfrags] = REG.frag[REG.nfrags - 1];                                             \
	       REG.frag[REG.nfrags++].rf_nob = 0)                                                           \
	CHANGE(reg_open_##lower, REG_SOURCE_ACCESS, MODE(m) && !SINK, REG.access |= O2_ACCESS_REMOTE_WRITE) \
	CHANGE(reg_split_##lower, REG_##m##_FRAGMENTS, MODE(m), return split_fragment())                    \
	CHANGE(reg_limit_##lower, REG_##m##_PEER_LIMIT,                                                     \
	       MODE(m) && SINK && w->asked.reg.request.peer_max_frags < 16,                                 \
	       while (REG.nfrags <=                                                                         \
		      w->asked.reg.request.peer_max_frags) if (!split_fragment()) return false)

/* These changes apply to the modes that register memory. */
#define REGION(m, lower, iova_check)                                      \
	CHANGE(reg_range_##lower, REG_##m##_RANGE, MODE(m), REG.length++) \
	CHANGE(reg_iova_##lower, REG_##m##_##iova_check, MODE(m), REG.iova++)

/* Splits the last fragment into two that describe the same bytes. */
static bool split_fragment(void)
{
	const uint32_t count = REG.nfrags;

	if (count == O2_MAX_FRAGS || REG.frag[count - 1].rf_nob < 2)
		return false;
	REG.frag[count] = REG.frag[count - 1];
	REG.frag[count - 1].rf_nob = 1;
	REG.frag[count].rf_nob--;
	REG.frag[count].rf_addr++;
	REG.nfrags++;
	return true;
}

IN_MODE(GLOBAL, global)
IN_MODE(FMR, fmr)
IN_MODE(FASTREG, fastreg)
IN_MODE(USER, user)
IN_MODE(PHYS, phys)
IN_MODE(FASTREG_GAPS, fastreg_gaps)
REGION(FMR, fmr, RANGE)
REGION(FASTREG, fastreg, IOVA)
REGION(USER, user, IOVA)
REGION(PHYS, phys, IOVA)
REGION(FASTREG_GAPS, fastreg_gaps, IOVA)

/* A descriptor that its reader refuses; other faults of the answer do not matter. */
CHANGE(reg_sum, REG_SINK_FRAGMENTS, MODE(GLOBAL) && SINK, REG.frag[0].rf_nob = O2_MAX_TRANSFER_BYTES + 1)
CHANGE(reg_wraps, REG_SINK_FRAGMENTS, MODE(FMR) && SINK, REG.frag[0].rf_addr = UINT64_MAX)
/* The last byte of the region lies past 2^64, like that of the published fragment; the span fits. */
CHANGE(reg_region_wraps, REG_FMR_RANGE, MODE(FMR) && REG.nfrags == 1 && REG.length > 1,
       REG.iova = REG.frag[0].rf_addr = UINT64_MAX - REG.length + 2)

CHANGE(reg_page_fmr, REG_FMR_BYTES, MODE(FMR), REG.page[REG.npages - 1] += w->asked.reg.request.page_bytes)
CHANGE(reg_page_fastreg, REG_FASTREG_BYTES, MODE(FASTREG) && REG.npages > 1,
       REG.page[1] = REG.page[0] + 4 * REG.page_bytes)
CHANGE(reg_page_phys, REG_PHYS_BYTES, MODE(PHYS), REG.page[0] -= REG.page_bytes)
CHANGE(reg_page_inside, REG_FMR_PAGES, MODE(FMR), REG.page[0]++)
CHANGE(reg_page_offset, REG_PHYS_PAGES, MODE(PHYS), REG.page_offset ^= 1)
CHANGE(reg_page_many, REG_FASTREG_PAGES,
       MODE(FASTREG) && w->asked.reg.request.max_pages == O2_MAX_FRAGS_LEGACY,
       while (REG.npages < O2_MAX_FRAGS) REG.page[REG.npages++] = 0)
CHANGE(reg_page_list, REG_FMR_PAGE_LIST, MODE(FMR) && REG.npages < O2_MAX_FRAGS, REG.page[REG.npages++] = 0)
CHANGE(reg_page_list_phys, REG_PHYS_PAGE_LIST, MODE(PHYS) && REG.npages < O2_MAX_FRAGS,
       REG.page[REG.npages++] = 0)
CHANGE(reg_page_list_fastreg, REG_FASTREG_PAGE_LIST, MODE(FASTREG) && REG.npages < O2_MAX_FRAGS,
       REG.page[REG.npages++] = 0)
CHANGE(reg_entry, REG_FASTREG_GAPS_ENTRIES, MODE(FASTREG_GAPS) && REG.nentries > 1, REG.entry[1].addr++)
CHANGE(reg_entry_length, REG_FASTREG_GAPS_ENTRIES, MODE(FASTREG_GAPS) && REG.nentries > 1,
       REG.entry[0].length++)
CHANGE(reg_page_other, REG_FMR_PAGE_LIST, MODE(FMR),
       REG.page[REG.npages - 1] += w->asked.reg.request.page_bytes)
CHANGE(reg_page_behind, REG_PHYS_PAGE_LIST,
       MODE(PHYS) && REG.npages < w->asked.reg.request.max_pages && w->asked.reg.request.max_pages > 4,
       REG.page[REG.npages] = REG.page[REG.npages - 1] + REG.page_bytes;
       REG.npages++)
CHANGE(reg_entry_behind, REG_FASTREG_GAPS_ENTRIES, MODE(FASTREG_GAPS) && REG.nentries < O2_MAX_FRAGS_LEGACY,
       REG.entry[REG.nentries] = REG.entry[REG.nentries - 1];
       REG.nentries++)
CHANGE(reg_entry_missing, REG_FASTREG_GAPS_ENTRIES, MODE(FASTREG_GAPS) && REG.nentries > 1, REG.nentries--)
/* A region of whole pages, as a kernel's FMR pool makes it. */
CHANGE(reg_whole_pages, REG_FMR_RANGE_IN_PAGES, MODE(FMR) && REG.page_offset != 0, REG.iova = 0;
       REG.page_offset = 0; REG.length = (uint64_t)REG.npages * REG.page_bytes)
/* The fragment that would be published if it ran across a gap. */
CHANGE(reg_collapse, REG_FMR_BYTES, MODE(FMR) && REG.nfrags >= 3,
       REG.frag[0].rf_nob = (uint32_t)w->asked.reg.list.nob;
       REG.nfrags = 1)

static bool split_any(void)
{
	return IS_RESULT && !SINK && split_fragment();
}

TEST_WITH(test_a_plan_cut_otherwise, set_up, tear_down)
{
	expect_equal(O2_STAGE_REG_PLAN, "a fragment in two parts", split_any);
}

/* --- work requests --- */

#undef STAGE
#define STAGE O2_STAGE_RDMA_PLAN
#define WORK  (w->found.rdma)

CHANGE(rdma_sge, RDMA_SOURCE_BYTES, WORK.nsge > 0, WORK.sge[0].addr++)
CHANGE(rdma_wr, RDMA_SINK_BYTES, WORK.nwr > 0, WORK.wr[WORK.nwr - 1].remote_addr++)
CHANGE(rdma_last, RDMA_SINK_BYTES, WORK.nwr > 1, WORK.nsge -= WORK.wr[--WORK.nwr].num_sge)
CHANGE(rdma_nob, RDMA_BYTES_MOVED, true, WORK.nob++)
CHANGE(rdma_length, RDMA_WR_LENGTH, WORK.nwr > 0, WORK.wr[0].length++)
CHANGE(rdma_limit, RDMA_WR_OVER_LIMIT, WORK.nwr > 1, w->asked.rdma.limits.max_wrs = WORK.nwr - 1)
CHANGE(rdma_sge_limit, RDMA_SGE_OVER_LIMIT, WORK.nwr > 0 && WORK.wr[0].num_sge > 1,
       w->asked.rdma.limits.wrq_sge = 1)
CHANGE(rdma_index, RDMA_SGE_INDEX, WORK.nwr > 1, WORK.wr[1].first_sge = 0)
CHANGE(rdma_past, RDMA_SGE_INDEX, WORK.nwr > 0, WORK.wr[WORK.nwr - 1].num_sge++)
CHANGE(rdma_unused, RDMA_SGE_INDEX, WORK.nwr > 0, WORK.nsge++; WORK.sge[WORK.nsge - 1].length = 1)
CHANGE(rdma_empty, RDMA_EMPTY_SGE, WORK.nwr > 0, WORK.wr[0].length -= WORK.sge[0].length;
       WORK.sge[0].length = 0)
CHANGE(rdma_lkey, RDMA_LKEY, WORK.nsge > 0, WORK.lkey++)
CHANGE(rdma_rkey, RDMA_RKEY, WORK.nwr > 0, WORK.rkey++)

/* Joins two work requests that write into neighbouring fragments. */
static bool rdma_join(void)
{
	if (!IS_RESULT)
		return false;
	for (uint32_t i = 1; i < WORK.nwr; i++) {
		struct o2_rdma_wr *before = &WORK.wr[i - 1];

		if (before->num_sge + WORK.wr[i].num_sge > w->asked.rdma.limits.wrq_sge)
			continue;
		before->num_sge += WORK.wr[i].num_sge;
		before->length += WORK.wr[i].length;
		memmove(&WORK.wr[i], &WORK.wr[i + 1], (WORK.nwr - i - 1) * sizeof(WORK.wr[0]));
		WORK.nwr--;
		return true;
	}
	return false;
}

/* Splits the last request: its first gather entry, and the others. */
static bool rdma_split(void)
{
	struct o2_rdma_wr *last;

	if (!IS_RESULT || WORK.nwr == 0 || WORK.nwr >= w->asked.rdma.limits.max_wrs)
		return false;
	last = &WORK.wr[WORK.nwr - 1];
	if (last->num_sge < 2)
		return false;
	last[1] = *last;
	last->num_sge = 1;
	last->length = WORK.sge[last->first_sge].length;
	last[1].first_sge++;
	last[1].num_sge--;
	last[1].length -= last->length;
	last[1].remote_addr += last->length;
	WORK.nwr++;
	return true;
}

TEST_WITH(test_work_requests, set_up, tear_down)
{
	expect(O2_STAGE_RDMA_PLAN, O2_CHECK_RDMA_WR_LEAVES_FRAGMENT, rdma_join);
	expect(O2_STAGE_RDMA_PLAN, O2_CHECK_RDMA_WORK_REQUESTS, rdma_split);
	expect_equal(O2_STAGE_RDMA_PLAN, "more work requests than needed", rdma_split);
}

/* Answers by the exact gap rule: right bytes, another verdict.  Returns how often the check failed. */
static uint32_t judged_exactly(enum o2_stage stage, enum o2_check_id check)
{
	uint32_t otherwise = 0;

	for (uint64_t index = 0; index < CASES; index++) {
		if (!draw(stage, index) || !o2_answer_by_exact_gaps(&w->asked, &w->found))
			continue;
		o2_compare(&w->comparison, &w->asked, &w->expected, &w->found);
		for (uint32_t i = 0; i < w->comparison.count; i++)
			assert_int_equal(o2_check_severity(w->comparison.item[i].check, O2_PROFILE_STRICT),
					 O2_CHECK_SHOULD);
		otherwise += has(check);
		/* What it does besides is told besides. */
		if (!has(check))
			continue;
		w->found.conduct.check = O2_CHECK_RUN_STDOUT;
		o2_compare(&w->comparison, &w->asked, &w->expected, &w->found);
		assert_true(has(check) && has(O2_CHECK_RUN_STDOUT));
	}
	return otherwise;
}

/* Returns the check that fails for a list of these pieces when its gap flag is cleared. */
static enum o2_check_id unflag(const char *pieces)
{
	struct o2_error error;
	char form[512];
	json_t *object;

	snprintf(form, sizeof(form),
		 "{'form':'o2ref/sg_build/input','version':1,'max_entries':257,'space':{'page_bytes':4096,"
		 "'npages':8,'ranges':[]},'buffer':{'kind':'kiov','offset':0,'nob':109,'pieces':[%s]}}",
		 pieces);
	for (char *c = form; *c != '\0'; c++)
		if (*c == '\'')
			*c = '"';
	object = json_loads(form, 0, NULL);
	assert_int_equal(o2_case_from_json(object, &w->asked, &error), 0);
	json_decref(object);
	o2_answer_of_reference(&w->asked, &w->expected);
	o2_answer_of_reference(&w->asked, &w->found);
	assert_true(SG.gaps);
	SG.gaps = false;
	/* Entries beyond the count do not belong to the list. */
	w->expected.sg.entry[SG.count] = SG.entry[SG.count] = (struct o2_sg_entry){.page = 7, .offset = 1};
	o2_compare(&w->comparison, &w->asked, &w->expected, &w->found);
	assert_int_equal(w->comparison.count, 1);
	return w->comparison.item[0].check;
}

/* A difference in the peer's access shows both values. */
TEST_WITH(test_what_is_said_of_access, set_up, tear_down)
{
	bool seen[2] = {false, false};

	for (uint64_t index = 0; index < CASES && !(seen[0] && seen[1]); index++) {
		if (!draw(O2_STAGE_REG_PLAN, index) || !IS_RESULT)
			continue;
		REG.access ^= O2_ACCESS_REMOTE_WRITE;
		o2_compare(&w->comparison, &w->asked, &w->expected, &w->found);
		assert_int_equal(w->comparison.count, 1);
		assert_string_equal(w->comparison.item[0].field, "remote_write");
		assert_string_equal(w->comparison.item[0].expected, SINK ? "1" : "0");
		assert_string_equal(w->comparison.item[0].found, SINK ? "0" : "1");
		seen[SINK] = true;
	}
	assert_true(seen[0] && seen[1]);
}

TEST_WITH(test_the_exact_rule_of_gaps, set_up, tear_down)
{
	enum o2_check_id gaps;

	assert_true(judged_exactly(O2_STAGE_REG_PLAN, O2_CHECK_REG_GAP_EXACT) > 10);
	assert_true(judged_exactly(O2_STAGE_TRANSFER, O2_CHECK_TRANSFER_GAP_EXACT) > 0);
	gaps = unflag("{'page':1,'offset':0,'len':100},{'page':1,'offset':100,'len':9}");
	assert_int_equal(gaps, O2_CHECK_SG_KIOV_GAP_EXACT);
	gaps = unflag("{'page':1,'offset':4095,'len':1},{'page':2,'offset':0,'len':9},{'page':2,'offset':9,'"
		      "len':99}");
	assert_int_equal(gaps, O2_CHECK_SG_KIOV_GAP_EXACT);
	gaps = unflag("{'page':1,'offset':0,'len':100},{'page':2,'offset':100,'len':9}");
	assert_int_equal(gaps, O2_CHECK_SG_KIOV_GAP_FLAG);
	gaps = unflag("{'page':1,'offset':0,'len':100},{'page':1,'offset':101,'len':9}");
	assert_int_equal(gaps, O2_CHECK_SG_KIOV_GAP_FLAG);
}

/* --- hostile answers --- */

/* Changes numbers in a JSON answer to random ones, in place; also numbers in strings. */
static void spoil(struct o2_choice *c, json_t *value)
{
	const char *key;
	json_t *child;
	char text[32];
	size_t i;

	json_object_foreach(value, key, child) {
		if (o2_draw_bool(c, 7, 1))
			snprintf(text, sizeof(text), "0x%llx", (unsigned long long)o2_draw_wild(c));
		else
			text[0] = '\0';
		if (text[0] != '\0' && json_is_integer(child))
			json_integer_set(child, (json_int_t)strtoull(text, NULL, 16));
		else if (text[0] != '\0' && json_is_string(child))
			json_string_set(child, text);
		else
			spoil(c, child);
	}
	json_array_foreach(value, i, child)
		spoil(c, child);
	if (json_is_array(value) && o2_draw_bool(c, 15, 1))
		json_array_clear(value);
}

/* Any answer is read or refused, compared and written, and does no harm. */
TEST_WITH(test_hostile_answers, set_up, tear_down)
{
	static struct o2_choice more;
	uint32_t broken = 0, read = 0;

	for (uint64_t index = 0; index < 30000; index++) {
		json_t *answer, *again;

		if (!draw((enum o2_stage)(index % O2_STAGES), index) || !IS_RESULT)
			continue;
		answer = o2_answer_to_json(&w->asked, &w->found);
		assert_non_null(answer);
		o2_choice_random(&more, SEED + 1, index);
		spoil(&more, answer);
		json_object_set_new(answer, "form",
				    json_string(o2_stage_output_form((enum o2_stage)(index % O2_STAGES))));
		json_object_set_new(answer, "version", json_integer(1));
		o2_answer_from_json(&w->asked, answer, &w->found);
		broken += w->found.kind == O2_ANSWER_BROKEN;
		read += IS_RESULT;
		o2_compare(&w->comparison, &w->asked, &w->expected, &w->found);
		again = o2_answer_to_json(&w->asked, &w->found);
		assert_non_null(again);
		json_decref(again);
		json_decref(answer);
	}
	assert_true(broken > 100);
	assert_true(read > 1000);
}
