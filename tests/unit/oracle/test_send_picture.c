/* SPDX-License-Identifier: MIT */
/*
 * Messages as they are posted, and chains: each deliberate change of a reference answer fails the check that
 * names it, and the picture shows it in red; an answer that gathers the same bytes differently does neither.
 */
#include "props/check/check_picture.h"
#include "props/check/check_strip.h"
#include "tests/unit/oracle/world.h"
#include "wire/layout.h"

#define STAGE	 O2_STAGE_SEND_PLAN
#define SEND	 (w->found.send)
#define LAST	 (SEND.sge[SEND.nsge - 1])
#define GATHERED (SEND.nsge > 1)
#define COPIED	 (SEND.nsge == 1 && w->asked.send.memory.memory.buffer.nob > 0)

static void swap(void)
{
	const struct o2_impl_gather first = SEND.sge[1];

	SEND.sge[1] = SEND.sge[2];
	SEND.sge[2] = first;
}

CHANGE(last_lost, SEND_LENGTH, GATHERED, SEND.nsge--)
CHANGE(no_entry, SEND_ENTRIES, SEND.nsge > 0, SEND.nsge = 0)
CHANGE(twice, SEND_LENGTH, GATHERED, SEND.sge[SEND.nsge] = LAST; SEND.nsge++)
CHANGE(backwards, SEND_PAYLOAD, SEND.nsge == 3 && SEND.sge[1].length != SEND.sge[2].length, swap())
CHANGE(slots_key, SEND_KEY, GATHERED &&LAST.lkey != w->asked.send.slot_lkey,
       LAST.lkey = w->asked.send.slot_lkey)
CHANGE(behind_slot, SEND_SLOT, COPIED &&LAST.length < O2_MSG_BYTES, LAST.length++)
CHANGE(longest, SEND_LENGTH, COPIED, LAST.length = UINT32_MAX)
CHANGE(other_byte, SEND_PAYLOAD, COPIED, SEND.slot.bytes[O2_AT_PAYLOAD] ^= 1)
CHANGE(other_sum, SEND_CHECKSUM, COPIED, SEND.slot.bytes[O2_AT_CKSUM] ^= 1)
CHANGE(other_credits, WIRE_ENCODE_HEADER, SEND.nsge > 0, SEND.slot.bytes[O2_AT_CREDITS] ^= 1)
CHANGE(empty_entry, SEND_ENTRIES, SEND.nsge < w->asked.send.max_sge, SEND.sge[SEND.nsge] = SEND.sge[0];
       SEND.sge[SEND.nsge++].length = 0)
CHANGE(one_too_many, SEND_ENTRIES, SEND.nsge == w->asked.send.max_sge && LAST.length > 1,
       SEND.sge[SEND.nsge] = LAST;
       LAST.length--; SEND.sge[SEND.nsge].addr += LAST.length; SEND.sge[SEND.nsge++].length = 1)

/* These changes take the memory away from the device. */
#define DEVICE (w->asked.send.memory.device.device)

static void unmap_all(void)
{
	static uint8_t all[O2_CASE_PAGES / 8];

	memset(all, 0xff, sizeof(all));
	DEVICE.unmapped = all;
}

CHANGE(failed, SEND_MAPPING_FAILED, GATHERED &&DEVICE.kind == O2_DMA_IOMMU,
       DEVICE.iommu.fault = O2_DMA_FAULT_EIO)
CHANGE(nothing_mapped, SEND_MAPPING_FAILED, GATHERED &&DEVICE.kind == O2_DMA_IOMMU,
       DEVICE.iommu.fault = O2_DMA_FAULT_NOTHING)
CHANGE(no_cpu_mapping, SEND_NO_CPU_MAPPING, GATHERED &&DEVICE.kind == O2_DMA_VIRTUAL, unmap_all())

/* Plans that no device registers, although the bytes are right. */
#define PLAN (SEND.plan)

static void move(uint64_t by)
{
	PLAN.iova += by;
	for (uint32_t i = 1; i < SEND.nsge; i++)
		SEND.sge[i].addr += by;
}

CHANGE(incongruent, SEND_PLAN, GATHERED &&PLAN.mode == O2_REG_FMR, move(1))
CHANGE(inside_a_page, SEND_PLAN,
       GATHERED &&PLAN.mode == O2_REG_FMR && PLAN.npages == 1 && PLAN.page_offset > 0,
       PLAN.page[0] += PLAN.page_offset;
       PLAN.page_offset = 0)
CHANGE(moved_fastreg, SEND_PLAN, GATHERED &&PLAN.mode == O2_REG_FASTREG, move(4096))
CHANGE(moved_phys, SEND_PLAN, GATHERED &&PLAN.mode == O2_REG_PHYS, move(4096))
CHANGE(moved_gaps, SEND_PLAN, GATHERED &&PLAN.mode == O2_REG_FASTREG_GAPS, move(4096))
CHANGE(too_many_pages, SEND_PLAN, GATHERED &&PLAN.mode == O2_REG_FASTREG,
       w->asked.send.memory.max_pages = PLAN.npages - 1)
CHANGE(behind_pages, SEND_PLAN, GATHERED &&PLAN.mode == O2_REG_FMR, PLAN.length += 65536)
CHANGE(behind_entries, SEND_PLAN, GATHERED &&PLAN.mode == O2_REG_FASTREG_GAPS, PLAN.length += 1)

/* Gathers the same bytes with more entries. */
MAKE(cut, SEND.nsge<w->asked.send.max_sge && LAST.length> 1, SEND.sge[SEND.nsge] = LAST; LAST.length--;
     SEND.sge[SEND.nsge].addr += LAST.length; SEND.sge[SEND.nsge++].length = 1)

static struct o2_check_both both;

/* Draws both answers of the first case that the change applies to. */
static void change_one(enum o2_stage stage, change_fn change)
{
	uint64_t index = 0;

	while (!draw(stage, index) || !change())
		assert_true(++index < CASES);
	both.asked = w->asked;
	both.expected = w->expected;
	both.found = w->found;
}

/* Asserts that there is a picture, with this text. */
static void check_strip(const struct change *change, const char *says)
{
	json_t *strip;

	change_one(O2_STAGE_SEND_PLAN, change->make);
	strip = o2_check_strip(&both);
	if (!json_is_string(strip))
		fail_msg("%s: nothing is drawn", o2_check_name(change->check));
	if (strstr(json_string_value(strip), says) == NULL)
		fail_msg("%s: no '%s' in %s", o2_check_name(change->check), says, json_string_value(strip));
	json_decref(strip);
}

TEST_WITH(test_more_entries, set_up, tear_down)
{
	expect_equal(O2_STAGE_SEND_PLAN, "more entries", cut);
}

TEST_WITH(test_changes_are_red, set_up, tear_down)
{
	check_strip(&last_lost, "<rect class=\"lost\"");
	check_strip(&last_lost, ": no entry has them");
	check_strip(&no_entry, ": 0 bytes right, 0 wrong, ");
	check_strip(&no_entry, ">0 entries, expected 1 to ");
	check_strip(&twice, "; should not be there");
	check_strip(&backwards, ", should be 0x");
	check_strip(&slots_key, "; there are no such bytes");
	check_strip(&behind_slot, " wrong, 0 lost, 1 too many");
	check_strip(&longest, " bytes more than a message can have");
	check_strip(&longest, " right, 0 wrong, 0 lost, ");
	check_strip(&other_byte, " right, 5 wrong, 0 lost, 0 too many");
	check_strip(&other_sum, " right, 4 wrong, 0 lost, 0 too many");
	check_strip(&other_credits, "<rect class=\"wrong\"");
	check_strip(&empty_entry, " has no bytes<");
	check_strip(&failed, "entry 1 gathers what is not mapped<");
	check_strip(&no_cpu_mapping, "entry 1 gathers what is not mapped<");
	check_strip(&one_too_many, " entries, expected 1 to ");
	change_one(O2_STAGE_SEND_PLAN, cut);
	assert_true(json_is_null(o2_check_strip(&both)));
	both.found.kind = O2_ANSWER_REFUSED;
	assert_true(json_is_null(o2_check_strip(&both)));
}

/* --- chains --- */

#undef STAGE
#define STAGE  O2_STAGE_RDMA_CHAIN
#define CHAIN  (w->found.chain)
#define WRITES (CHAIN.nwr > 1)

/* Whether a picture of a transfer can be drawn depends on the question only. */
static bool can_be_drawn(void)
{
	static struct o2_scenario scenario;

	return o2_check_scenario(&w->asked, &scenario);
}

CHANGE(not_gathered, RDMA_SOURCE_BYTES, WRITES &&can_be_drawn(), CHAIN.sge[0].addr++)
CHANGE(written_elsewhere, RDMA_SINK_BYTES, WRITES &&can_be_drawn(), CHAIN.wr[0].remote_addr++)
CHANGE(unsignaled, CHAIN_SIGNALED, can_be_drawn(), CHAIN.wr[CHAIN.nwr - 1].signaled = 0)
CHANGE(sent_early, CHAIN_MESSAGE_LAST, WRITES &&can_be_drawn(), CHAIN.wr[0].opcode = O2_IMPL_SEND)

static void check_chain(const struct change *change, const char *strip_says, const char *picture_says)
{
	json_t *strip, *picture;

	change_one(O2_STAGE_RDMA_CHAIN, change->make);
	strip = o2_check_strip(&both);
	picture = o2_check_answer_picture(&both, NULL);
	assert_int_equal(json_is_string(strip), strip_says != NULL);
	assert_int_equal(json_is_string(picture), picture_says != NULL);
	if (strip_says != NULL && strstr(json_string_value(strip), strip_says) == NULL)
		fail_msg("no '%s' in %s", strip_says, json_string_value(strip));
	if (picture_says != NULL && strstr(json_string_value(picture), picture_says) == NULL)
		fail_msg("no '%s' in %s", picture_says, json_string_value(picture));
	json_decref(strip);
	json_decref(picture);
}

TEST_WITH(test_chains, set_up, tear_down)
{
	check_chain(&not_gathered, "where bytes come from: ", "");
	check_chain(&written_elsewhere, "where bytes go to: ", "");
	check_chain(&unsignaled, NULL, "each byte of this transfer comes to its place");
	check_chain(&sent_early, NULL, NULL);
}
