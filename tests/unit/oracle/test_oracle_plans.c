/* SPDX-License-Identifier: MIT */
/*
 * The comparer of the oracle on lists, plans and work requests: changes that move bytes are noticed, and
 * changes that only cut them differently are not failures.  Hostile numbers anywhere in an answer do no harm.
 */
#include "tests/impl/reference/world.h"

/* --- scatter lists and segments
 * ------------------------------------------------------------------------------ */

#define SG   (w->found.sg)
#define KIND (w->asked.sg.memory.buffer.kind)
#define DMA  (w->found.dma)
#define DEV  (w->asked.dma.device.device.kind)

CHANGE(sg_page, KIND == O2_KIOV, SG.entry[SG.count - 1].page++)
CHANGE(sg_offset, KIND == O2_IOV && SG.entry[0].offset > 0, SG.entry[0].offset--)
CHANGE(sg_swap, KIND == O2_KIOV && SG.count >= 2 && SG.entry[0].page != SG.entry[1].page,
       const struct o2_sg_entry first = SG.entry[0];
       SG.entry[0] = SG.entry[1]; SG.entry[1] = first)
CHANGE(sg_nob, KIND == O2_KIOV, SG.nob++)
CHANGE(sg_nob_iov, KIND == O2_IOV, SG.nob--)
CHANGE(sg_past, KIND == O2_KIOV, SG.entry[0].length = w->asked.sg.memory.space.page_bytes + 1)
CHANGE(sg_past_iov, KIND == O2_IOV, SG.entry[0].length = w->asked.sg.memory.space.page_bytes + 1)
CHANGE(sg_drop, KIND == O2_KIOV && SG.count >= 2, SG.count--)
CHANGE(sg_drop_iov, KIND == O2_IOV && SG.count >= 2, SG.count--)
CHANGE(sg_gaps, KIND == O2_KIOV, SG.gaps = !SG.gaps)
CHANGE(sg_gaps_iov, KIND == O2_IOV, SG.gaps = !SG.gaps)
CHANGE(sg_many, KIND == O2_KIOV && w->asked.sg.max_entries == O2_MAX_FRAGS_LEGACY, SG.count = O2_MAX_FRAGS)
CHANGE(sg_many_iov, KIND == O2_IOV && w->asked.sg.max_entries == O2_MAX_FRAGS_LEGACY, SG.count = O2_MAX_FRAGS)

/* One entry becomes two that say the same. */
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

CHANGE(dma_addr, DEV == O2_DMA_BUS, DMA.segment[0].addr++)
CHANGE(dma_addr_virtual, DEV == O2_DMA_VIRTUAL, DMA.segment[DMA.count - 1].addr--)
CHANGE(dma_addr_iommu, DEV == O2_DMA_IOMMU, DMA.segment[0].addr += 4096)
CHANGE(dma_nob, DEV == O2_DMA_BUS, DMA.nob++)
CHANGE(dma_nob_virtual, DEV == O2_DMA_VIRTUAL, DMA.nob++)
CHANGE(dma_nob_iommu, DEV == O2_DMA_IOMMU, DMA.nob++)
CHANGE(dma_empty, DEV == O2_DMA_BUS, DMA.segment[0].length = 0)
CHANGE(dma_empty_virtual, DEV == O2_DMA_VIRTUAL, DMA.segment[0].length = 0)
CHANGE(dma_empty_iommu, DEV == O2_DMA_IOMMU, DMA.segment[0].length = 0)

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

CHANGE(dma_split_bus, DEV == O2_DMA_BUS, return dma_split())
CHANGE(dma_split_virtual, DEV == O2_DMA_VIRTUAL, return dma_split())
CHANGE(dma_split_iommu, DEV == O2_DMA_IOMMU, return dma_split())
CHANGE(sg_split_kiov, KIND == O2_KIOV, return sg_split())
CHANGE(sg_split_iov, KIND == O2_IOV, return sg_split())

struct row {
	enum o2_check_id check;
	change_fn change;
};

static void expect_all(enum o2_stage stage, const struct row *row, size_t count)
{
	for (size_t i = 0; i < count; i++)
		expect(stage, row[i].check, row[i].change);
}

#define EXPECT_ALL(stage, rows) expect_all(stage, rows, sizeof(rows) / sizeof((rows)[0]))

static void test_lists(void **state)
{
	static const struct row sg[] = {
		{O2_CHECK_SG_KIOV_BYTES, sg_page},
		{O2_CHECK_SG_IOV_BYTES, sg_offset},
		{O2_CHECK_SG_KIOV_BYTES, sg_swap},
		{O2_CHECK_SG_KIOV_NOB, sg_nob},
		{O2_CHECK_SG_IOV_NOB, sg_nob_iov},
		{O2_CHECK_SG_KIOV_ENTRY_IN_PAGE, sg_past},
		{O2_CHECK_SG_IOV_ENTRY_IN_PAGE, sg_past_iov},
		{O2_CHECK_SG_KIOV_BYTES, sg_drop},
		{O2_CHECK_SG_IOV_BYTES, sg_drop_iov},
		{O2_CHECK_SG_KIOV_GAP_FLAG, sg_gaps},
		{O2_CHECK_SG_IOV_GAP_FLAG, sg_gaps_iov},
		{O2_CHECK_SG_KIOV_TOO_MANY, sg_many},
		{O2_CHECK_SG_IOV_TOO_MANY, sg_many_iov},
		{O2_CHECK_SG_KIOV_ENTRIES, sg_split_kiov},
		{O2_CHECK_SG_IOV_ENTRIES, sg_split_iov},
	};
	static const struct row dma[] = {
		{O2_CHECK_DMA_BUS_BYTES, dma_addr},
		{O2_CHECK_DMA_VIRTUAL_BYTES, dma_addr_virtual},
		{O2_CHECK_DMA_IOMMU_BYTES, dma_addr_iommu},
		{O2_CHECK_DMA_BUS_NOB, dma_nob},
		{O2_CHECK_DMA_VIRTUAL_NOB, dma_nob_virtual},
		{O2_CHECK_DMA_IOMMU_NOB, dma_nob_iommu},
		{O2_CHECK_DMA_BUS_EMPTY_SEGMENT, dma_empty},
		{O2_CHECK_DMA_VIRTUAL_EMPTY_SEGMENT, dma_empty_virtual},
		{O2_CHECK_DMA_IOMMU_EMPTY_SEGMENT, dma_empty_iommu},
		{O2_CHECK_DMA_BUS_SEGMENTS, dma_split_bus},
		{O2_CHECK_DMA_VIRTUAL_SEGMENTS, dma_split_virtual},
		{O2_CHECK_DMA_IOMMU_SEGMENTS, dma_split_iommu},
	};

	EXPECT_ALL(O2_STAGE_SG_BUILD, sg);
	EXPECT_ALL(O2_STAGE_DMA_MAP, dma);
	expect_equal(O2_STAGE_SG_BUILD, "an entry in two parts", sg_split);
	expect_equal(O2_STAGE_DMA_MAP, "a segment in two parts", dma_split);
}

/* --- registration
 * -------------------------------------------------------------------------------------------- */

#define REG	(w->found.reg)
#define MODE(m) (w->asked.reg.request.mode == O2_REG_##m)
#define SINK	(w->asked.reg.request.side == O2_SINK)

/* The same changes in each mode. */
#define IN_MODE(m, lower)                                                                      \
	CHANGE(reg_frag_##lower, MODE(m), REG.frag[0].rf_addr++)                               \
	CHANGE(reg_short_##lower, MODE(m), REG.frag[REG.nfrags - 1].rf_nob--)                  \
	CHANGE(reg_access_##lower, MODE(m), REG.access ^= O2_ACCESS_REMOTE_WRITE)              \
	CHANGE(reg_split_##lower, MODE(m), return split_fragment())                            \
	CHANGE(reg_limit_##lower, MODE(m) && SINK && w->asked.reg.request.peer_max_frags < 16, \
	       while (REG.nfrags <=                                                            \
		      w->asked.reg.request.peer_max_frags) if (!split_fragment()) return false)

/* In those that register something. */
#define REGION(m, lower)                                 \
	CHANGE(reg_range_##lower, MODE(m), REG.length++) \
	CHANGE(reg_iova_##lower, MODE(m), REG.iova++)

/* The last fragment becomes two that say the same. */
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
REGION(FMR, fmr)
REGION(FASTREG, fastreg)
REGION(USER, user)
REGION(PHYS, phys)
REGION(FASTREG_GAPS, fastreg_gaps)

CHANGE(reg_page_fmr, MODE(FMR), REG.page[REG.npages - 1] += w->asked.reg.request.page_bytes)
CHANGE(reg_page_fastreg, MODE(FASTREG) && REG.npages > 1, REG.page[1] = REG.page[0] + 4 * REG.page_bytes)
CHANGE(reg_page_phys, MODE(PHYS), REG.page[0] -= REG.page_bytes)
CHANGE(reg_page_inside, MODE(FMR), REG.page[0]++)
CHANGE(reg_page_offset, MODE(PHYS), REG.page_offset ^= 1)
CHANGE(reg_page_many, MODE(FASTREG) && w->asked.reg.request.max_pages == O2_MAX_FRAGS_LEGACY,
       while (REG.npages < O2_MAX_FRAGS) REG.page[REG.npages++] = 0)
CHANGE(reg_page_list, MODE(FMR) && REG.npages < O2_MAX_FRAGS, REG.page[REG.npages++] = 0)
CHANGE(reg_page_list_phys, MODE(PHYS) && REG.npages < O2_MAX_FRAGS, REG.page[REG.npages++] = 0)
CHANGE(reg_page_list_fastreg, MODE(FASTREG) && REG.npages < O2_MAX_FRAGS, REG.page[REG.npages++] = 0)
CHANGE(reg_entry, MODE(FASTREG_GAPS) && REG.nentries > 1, REG.entry[1].addr++)
CHANGE(reg_entry_length, MODE(FASTREG_GAPS) && REG.nentries > 1, REG.entry[0].length++)
/* What a fragment that runs on through a gap would publish. */
CHANGE(reg_collapse, MODE(FMR) && REG.nfrags >= 3, REG.frag[0].rf_nob = (uint32_t)w->asked.reg.list.nob;
       REG.nfrags = 1)

static bool split_any(void)
{
	return IS_RESULT && !SINK && split_fragment();
}

static void test_registration(void **state)
{
	static const struct row rows[] = {
#define COMMON(M, m)                                                                                        \
	{O2_CHECK_REG_##M##_BYTES, reg_frag_##m}, {O2_CHECK_REG_##M##_BYTES, reg_short_##m},                \
		{O2_CHECK_REG_##M##_ACCESS, reg_access_##m}, {O2_CHECK_REG_##M##_FRAGMENTS, reg_split_##m}, \
		{O2_CHECK_REG_##M##_PEER_LIMIT, reg_limit_##m}
		COMMON(GLOBAL, global),
		COMMON(FMR, fmr),
		COMMON(FASTREG, fastreg),
		COMMON(USER, user),
		COMMON(PHYS, phys),
		COMMON(FASTREG_GAPS, fastreg_gaps),
#undef COMMON
		{O2_CHECK_REG_FMR_RANGE, reg_range_fmr},
		{O2_CHECK_REG_FASTREG_RANGE, reg_range_fastreg},
		{O2_CHECK_REG_USER_RANGE, reg_range_user},
		{O2_CHECK_REG_PHYS_RANGE, reg_range_phys},
		{O2_CHECK_REG_FASTREG_GAPS_RANGE, reg_range_fastreg_gaps},
		{O2_CHECK_REG_FMR_RANGE, reg_iova_fmr},
		{O2_CHECK_REG_FASTREG_IOVA, reg_iova_fastreg},
		{O2_CHECK_REG_USER_IOVA, reg_iova_user},
		{O2_CHECK_REG_PHYS_IOVA, reg_iova_phys},
		{O2_CHECK_REG_FASTREG_GAPS_IOVA, reg_iova_fastreg_gaps},
		{O2_CHECK_REG_FMR_BYTES, reg_page_fmr},
		{O2_CHECK_REG_FASTREG_BYTES, reg_page_fastreg},
		{O2_CHECK_REG_PHYS_BYTES, reg_page_phys},
		{O2_CHECK_REG_FMR_PAGES, reg_page_inside},
		{O2_CHECK_REG_PHYS_PAGES, reg_page_offset},
		{O2_CHECK_REG_FASTREG_PAGES, reg_page_many},
		{O2_CHECK_REG_FMR_PAGE_LIST, reg_page_list},
		{O2_CHECK_REG_PHYS_PAGE_LIST, reg_page_list_phys},
		{O2_CHECK_REG_FASTREG_PAGE_LIST, reg_page_list_fastreg},
		{O2_CHECK_REG_FASTREG_GAPS_ENTRIES, reg_entry},
		{O2_CHECK_REG_FASTREG_GAPS_ENTRIES, reg_entry_length},
		{O2_CHECK_REG_FMR_BYTES, reg_collapse},
	};

	EXPECT_ALL(O2_STAGE_REG_PLAN, rows);
	expect_equal(O2_STAGE_REG_PLAN, "a fragment in two parts", split_any);
}

/* --- work requests
 * ------------------------------------------------------------------------------------------- */

#define WORK (w->found.rdma)

CHANGE(rdma_sge, WORK.nsge > 0, WORK.sge[0].addr++)
CHANGE(rdma_wr, WORK.nwr > 0, WORK.wr[WORK.nwr - 1].remote_addr++)
CHANGE(rdma_last, WORK.nwr > 1, WORK.nsge -= WORK.wr[--WORK.nwr].num_sge)
CHANGE(rdma_nob, true, WORK.nob++)
CHANGE(rdma_length, WORK.nwr > 0, WORK.wr[0].length++)
CHANGE(rdma_limit, WORK.nwr > 1, w->asked.rdma.limits.max_wrs = WORK.nwr - 1)
CHANGE(rdma_sge_limit, WORK.nwr > 0 && WORK.wr[0].num_sge > 1, w->asked.rdma.limits.wrq_sge = 1)
CHANGE(rdma_index, WORK.nwr > 1, WORK.wr[1].first_sge = 0)
CHANGE(rdma_unused, WORK.nwr > 0, WORK.nsge++; WORK.sge[WORK.nsge - 1].length = 1)
CHANGE(rdma_empty, WORK.nwr > 0, WORK.wr[0].length -= WORK.sge[0].length; WORK.sge[0].length = 0)
CHANGE(rdma_lkey, WORK.nsge > 0, WORK.lkey++)
CHANGE(rdma_rkey, WORK.nwr > 0, WORK.rkey++)

/* Two work requests into neighbouring fragments become one. */
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

/* One of two gather entries becomes two of one. */
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

static void test_work_requests(void **state)
{
	static const struct row rows[] = {
		{O2_CHECK_RDMA_SOURCE_BYTES, rdma_sge},
		{O2_CHECK_RDMA_SINK_BYTES, rdma_wr},
		{O2_CHECK_RDMA_SINK_BYTES, rdma_last},
		{O2_CHECK_RDMA_BYTES_MOVED, rdma_nob},
		{O2_CHECK_RDMA_WR_LENGTH, rdma_length},
		{O2_CHECK_RDMA_WR_OVER_LIMIT, rdma_limit},
		{O2_CHECK_RDMA_SGE_OVER_LIMIT, rdma_sge_limit},
		{O2_CHECK_RDMA_SGE_INDEX, rdma_index},
		{O2_CHECK_RDMA_SGE_INDEX, rdma_unused},
		{O2_CHECK_RDMA_EMPTY_SGE, rdma_empty},
		{O2_CHECK_RDMA_LKEY, rdma_lkey},
		{O2_CHECK_RDMA_RKEY, rdma_rkey},
		{O2_CHECK_RDMA_WR_LEAVES_FRAGMENT, rdma_join},
		{O2_CHECK_RDMA_WORK_REQUESTS, rdma_split},
	};

	EXPECT_ALL(O2_STAGE_RDMA_PLAN, rows);
	expect_equal(O2_STAGE_RDMA_PLAN, "more work requests than needed", rdma_split);
}

#define WHOLE (w->found.transfer)

CHANGE(whole_sge,
       WHOLE.plan.nsge > 0 && WHOLE.plan.sge[0].length > 1 && WHOLE.node[O2_SOURCE].mode == O2_REG_GLOBAL,
       WHOLE.plan.sge[0].addr++)
CHANGE(whole_outside, WHOLE.node[O2_SINK].mode != O2_REG_GLOBAL, WHOLE.plan.wr[0].remote_addr -= 1 << 30)
CHANGE(whole_shape, true, WHOLE.plan.wr[0].length++)
CHANGE(whole_lkey, true, WHOLE.plan.lkey++)
CHANGE(whole_rkey, true, WHOLE.plan.rkey++)
CHANGE(whole_nob, true, WHOLE.plan.nob--)
CHANGE(whole_access, true, WHOLE.node[O2_SOURCE].access |= O2_ACCESS_REMOTE_WRITE)
CHANGE(whole_closed, true, WHOLE.node[O2_SINK].access = 0)
CHANGE(whole_range, WHOLE.node[O2_SINK].mode != O2_REG_GLOBAL, WHOLE.node[O2_SINK].length++)
CHANGE(whole_limit, WHOLE.node[O2_SINK].nfrags > 1,
       w->asked.transfer.max_frags = WHOLE.node[O2_SINK].nfrags - 1)
CHANGE(whole_page, WHOLE.node[O2_SINK].mode == O2_REG_FMR && WHOLE.node[O2_SINK].npages > 1,
       WHOLE.node[O2_SINK].page[1] += 4096)

static void test_whole_transfers(void **state)
{
	static const struct row rows[] = {
		{O2_CHECK_TRANSFER_BYTES, whole_sge},
		{O2_CHECK_TRANSFER_BYTES, whole_page},
		{O2_CHECK_TRANSFER_OUTSIDE_REGION, whole_outside},
		{O2_CHECK_TRANSFER_WORK_REQUESTS, whole_shape},
		{O2_CHECK_TRANSFER_KEYS, whole_lkey},
		{O2_CHECK_TRANSFER_KEYS, whole_rkey},
		{O2_CHECK_TRANSFER_NOB, whole_nob},
		{O2_CHECK_TRANSFER_ACCESS, whole_access},
		{O2_CHECK_TRANSFER_ACCESS, whole_closed},
		{O2_CHECK_TRANSFER_RANGE, whole_range},
		{O2_CHECK_TRANSFER_PEER_LIMIT, whole_limit},
	};

	EXPECT_ALL(O2_STAGE_TRANSFER, rows);
}

/* --- hostile answers
 * ----------------------------------------------------------------------------------------- */

/* Change numbers of a JSON answer to any others, in place; strings of numbers too. */
static void spoil(struct o2_choice *c, json_t *value)
{
	const char *key;
	json_t *child;
	char text[32];
	size_t i;

	json_object_foreach(value, key, child)
	{
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
	json_array_foreach(value, i, child) spoil(c, child);
	if (json_is_array(value) && o2_draw_bool(c, 15, 1))
		json_array_clear(value);
}

/* Whatever an answer says, it is read or refused, compared and written, and nothing is harmed. */
static void test_hostile_answers(void **state)
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_lists, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_registration, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_work_requests, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_whole_transfers, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_hostile_answers, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
