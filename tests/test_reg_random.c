/* SPDX-License-Identifier: MIT */
/*
 * reg_plan against an oracle at the level of bytes: what a plan publishes, looked up through the page list,
 * must name the bytes of the segments in their order.  O2_TEST_SEED=n replays a run.
 */
#include <errno.h>
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "props/prng.h"
#include "reg/plan.h"

struct scenario {
	struct o2_reg_request request;
	struct o2_dma_list list;
};

/* Is every seam one that a list of pages can express?  Straight from the definition. */
static bool is_dense(const struct scenario *s)
{
	uint32_t page_bytes = s->request.page_bytes;

	for (uint32_t i = 1; i < s->list.count; i++) {
		const struct o2_dma_segment *before = &s->list.segment[i - 1];
		uint64_t end = before->addr + before->length;
		uint64_t start = s->list.segment[i].addr;

		if (start != end && (start % page_bytes != 0 || end % page_bytes != 0))
			return false;
	}
	return true;
}

/* Slots that a page list needs: a new one at every byte that is the first of a page, or that jumps. */
static uint64_t count_slots(const struct scenario *s)
{
	uint64_t slots = 0;
	uint64_t previous = UINT64_MAX;

	for (uint32_t i = 0; i < s->list.count; i++) {
		for (uint32_t k = 0; k < s->list.segment[i].length; k++) {
			uint64_t addr = s->list.segment[i].addr + k;
			uint64_t page = addr / s->request.page_bytes;

			if (addr % s->request.page_bytes == 0 || page != previous)
				slots++;
			previous = page;
		}
	}
	return slots;
}

static int predict(const struct scenario *s)
{
	const struct o2_reg_request *request = &s->request;

	if (request->mode == O2_REG_USER)
		return request->contiguous ? 0 : -EPROTONOSUPPORT;
	if (request->mode == O2_REG_FASTREG_GAPS)
		return s->list.count > request->max_pages ? -EINVAL : 0;
	if (request->mode == O2_REG_FASTREG && request->gaps)
		return -EPROTONOSUPPORT;
	if (request->mode == O2_REG_PHYS && (request->gaps || request->iova % request->page_bytes != 0))
		return -EINVAL;
	if (request->mode != O2_REG_GLOBAL &&
	    ((!request->gaps && !is_dense(s)) || count_slots(s) > request->max_pages))
		return -EINVAL;
	if (request->side == O2_SINK &&
	    (request->mode == O2_REG_GLOBAL || (request->mode == O2_REG_FMR && request->gaps)) &&
	    s->list.count > request->peer_max_frags)
		return -EFBIG;
	return 0;
}

/* Where the device finds the byte at an address of the region. */
static bool look_up(const struct o2_reg_plan *plan, uint64_t addr, uint64_t *device_addr)
{
	uint64_t at = addr - plan->iova + plan->page_offset;

	if (plan->nentries > 0) {
		at = addr - plan->iova;
		if (addr < plan->iova || at >= plan->length)
			return false;
		for (uint32_t i = 0; i < plan->nentries; at -= plan->entry[i++].length) {
			*device_addr = plan->entry[i].addr + at;
			if (at < plan->entry[i].length)
				return true;
		}
		return false;
	}
	*device_addr = addr;
	if (plan->npages == 0)
		return true;
	if (addr < plan->iova || addr - plan->iova >= plan->length || at / plan->page_bytes >= plan->npages)
		return false;
	*device_addr = plan->page[at / plan->page_bytes] + at % plan->page_bytes;
	return true;
}

static void check_bytes(const struct scenario *s, const struct o2_reg_plan *plan, const char *replay)
{
	uint32_t segment = 0;
	uint32_t used = 0;

	for (uint32_t f = 0; f < plan->nfrags; f++) {
		for (uint32_t k = 0; k < plan->frag[f].rf_nob; k++) {
			uint64_t found;

			if (segment == s->list.count)
				fail_msg("more bytes published than there are; %s", replay);
			if (!look_up(plan, plan->frag[f].rf_addr + k, &found) ||
			    found != s->list.segment[segment].addr + used)
				fail_msg("fragment %" PRIu32 " byte %" PRIu32 ": 0x%" PRIx64
					 ", not segment %" PRIu32 " byte %" PRIu32 "; %s",
					 f, k, found, segment, used, replay);
			if (++used == s->list.segment[segment].length) {
				segment++;
				used = 0;
			}
		}
	}
	if (segment != s->list.count)
		fail_msg("segments from %" PRIu32 " on were not published; %s", segment, replay);
}

/* Mode user publishes its address, whatever the device's are. */
static void check_address(const struct scenario *s, const struct o2_reg_plan *plan, const char *replay)
{
	if (plan->nfrags != 1 || plan->npages != 0 || plan->frag[0].rf_addr != s->request.iova ||
	    plan->frag[0].rf_nob != s->list.nob)
		fail_msg("mode user: 0x%" PRIx64 " + %" PRIu32 "; %s", plan->frag[0].rf_addr,
			 plan->frag[0].rf_nob, replay);
}

/* Not a byte more is registered than lies between the first and the last that are published. */
static void check_cover(const struct o2_reg_plan *plan, const char *replay)
{
	uint64_t low = UINT64_MAX;
	uint64_t high = 0;

	if (plan->mode == O2_REG_GLOBAL) {
		assert_true(plan->npages == 0 && plan->length == 0);
		return;
	}
	assert_true((plan->nentries > 0) == (plan->mode == O2_REG_FASTREG_GAPS));
	for (uint32_t f = 0; f < plan->nfrags; f++) {
		uint64_t end = plan->frag[f].rf_addr + plan->frag[f].rf_nob;

		low = plan->frag[f].rf_addr < low ? plan->frag[f].rf_addr : low;
		high = end > high ? end : high;
	}
	if (plan->iova != low || plan->iova + plan->length != high)
		fail_msg("region 0x%" PRIx64 " + 0x%" PRIx64 "; %s", plan->iova, plan->length, replay);
	/* What user-space verbs ask for: the same offset in its page on both sides. */
	assert_int_equal(plan->iova % plan->page_bytes, plan->page_offset);
	for (uint32_t i = 0; i < plan->npages; i++)
		assert_int_equal(plan->page[i] % plan->page_bytes, 0);
}

static void draw_segments(struct o2_prng *prng, struct scenario *s, uint32_t style)
{
	uint32_t page_bytes = s->request.page_bytes;
	uint64_t addr = 0;
	uint64_t total = 0;

	for (uint32_t i = 0; i < s->list.count; i++) {
		uint64_t length = 1 + o2_prng_upto(prng, style == 3 ? 3 * page_bytes : page_bytes - 1);
		uint64_t kind = o2_prng_upto(prng, 9);

		if (style == 0 &&
		    i + 1 < s->list.count) /* dense: whole pages between the first and the last */
			length = page_bytes;
		/* Somewhere else, on the page before, or right where the last one ended. */
		if (style >= 2 && kind < 3 && i > 0)
			;
		else if (style >= 1 && kind < 5 && i > 0)
			addr = addr / page_bytes * page_bytes + o2_prng_upto(prng, page_bytes - 1);
		else
			addr = o2_prng_upto(prng, 50) * page_bytes +
			       (style == 0 ? 0 : o2_prng_upto(prng, page_bytes - 1));
		if (style == 0 && i == 0) {
			uint64_t offset = o2_prng_upto(prng, page_bytes - 1);

			addr += offset;
			length = page_bytes - offset;
		}
		if (style == 1 && addr % page_bytes + length > page_bytes)
			length = page_bytes - addr % page_bytes;
		if (i + 1 == s->list.count && total < O2_MAX_TRANSFER_BYTES &&
		    length > O2_MAX_TRANSFER_BYTES - total)
			length = O2_MAX_TRANSFER_BYTES - total;
		if (total + length > O2_MAX_TRANSFER_BYTES) {
			s->list.count = i == 0 ? 1 : i;
			break;
		}
		s->list.segment[i] = (struct o2_dma_segment){addr, (uint32_t)length};
		addr += length;
		total += length;
	}
	s->list.nob = total;
}

static void draw(struct o2_prng *prng, struct scenario *s)
{
	static const uint32_t sizes[] = {4096, 4096, 4096, 4096, 16384, 65536};

	memset(s, 0, sizeof(*s));
	s->request.mode = (enum o2_reg_mode)o2_prng_upto(prng, O2_REG_MODES - 1);
	s->request.iova = o2_prng_upto(prng, UINT32_MAX);
	s->request.contiguous = o2_prng_upto(prng, 3) != 0;
	s->request.side = o2_prng_upto(prng, 1) == 0 ? O2_SOURCE : O2_SINK;
	s->request.page_bytes = sizes[o2_prng_upto(prng, 5)];
	if (s->request.mode == O2_REG_PHYS && o2_prng_upto(prng, 7) != 0)
		s->request.iova -= s->request.iova % s->request.page_bytes;
	s->request.max_pages = o2_prng_upto(prng, 1) == 0 ? O2_MAX_FRAGS : O2_MAX_FRAGS_LEGACY;
	s->request.peer_max_frags = 1 + (uint32_t)o2_prng_upto(prng, O2_MAX_FRAGS - 1);
	s->list.count = 1 + (uint32_t)o2_prng_upto(prng, o2_prng_upto(prng, 4) == 0 ? O2_MAX_FRAGS - 1 : 8);
	if (o2_prng_upto(prng, 9) == 0)
		s->list.count = O2_MAX_FRAGS - (uint32_t)o2_prng_upto(prng, 2);
	draw_segments(prng, s, (uint32_t)o2_prng_upto(prng, 3));
	/* Mostly the truth; sometimes a gap that is none, sometimes one that is not declared. */
	s->request.gaps = o2_prng_upto(prng, 9) == 0 ? o2_prng_upto(prng, 1) != 0 : !is_dense(s);
}

static void test_against_oracle(void **state)
{
	const char *text = getenv("O2_TEST_SEED");
	uint64_t seed = text != NULL ? strtoull(text, NULL, 0) : 1;
	static struct scenario s;
	static struct o2_reg_plan plan;
	uint32_t seen[O2_REG_MODES][2][2] = {{{0}}};
	char replay[80];

	(void)state;
	for (uint32_t n = 0; n < 8000; n++) {
		struct o2_prng prng = o2_prng_init(seed, n);
		struct o2_error error = {0};
		int want;
		int rc;

		snprintf(replay, sizeof(replay),
			 "case %" PRIu32 ", replay: O2_TEST_SEED=%" PRIu64 " test_reg_random", n, seed);
		draw(&prng, &s);
		want = predict(&s);
		rc = o2_reg_plan(&s.request, &s.list, &plan, &error);
		if (rc != want)
			fail_msg("returned %d (%s), expected %d; %s", rc, rc == 0 ? "-" : error.rule, want,
				 replay);
		seen[s.request.mode][s.request.gaps][rc == 0]++;
		if (rc != 0)
			continue;
		if (s.request.mode == O2_REG_USER)
			check_address(&s, &plan, replay);
		else
			check_bytes(&s, &plan, replay);
		check_cover(&plan, replay);
	}
	for (uint32_t mode = 0; mode < O2_REG_MODES; mode++)
		print_message("seed %" PRIu64 ", %s: dense %" PRIu32 " planned, %" PRIu32
			      " refused; gapped %" PRIu32 ", %" PRIu32 "\n",
			      seed, o2_reg_mode_name((enum o2_reg_mode)mode), seen[mode][0][1],
			      seen[mode][0][0], seen[mode][1][1], seen[mode][1][0]);
	assert_true(seen[O2_REG_FMR][0][1] > 100 && seen[O2_REG_FMR][1][1] > 100);
	assert_true(seen[O2_REG_PHYS][0][1] > 100 && seen[O2_REG_PHYS][1][0] > 100);
	assert_true(seen[O2_REG_USER][0][1] > 100 && seen[O2_REG_USER][1][1] > 100);
	assert_true(seen[O2_REG_FASTREG_GAPS][0][1] > 100 && seen[O2_REG_FASTREG_GAPS][1][1] > 100);
	assert_true(seen[O2_REG_FASTREG][0][1] > 100 && seen[O2_REG_FASTREG][1][0] > 100);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_against_oracle)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
