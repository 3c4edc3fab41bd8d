/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <inttypes.h>

#include "props/stage/sg.h"

/*
 * The oracle works on bytes of the stream, not on entries: piece i holds bytes [first, first + length) of the
 * concatenation, and every check is about one byte.  Sums are computed in 128 bits, so that no input makes them
 * wrap.
 */
typedef unsigned __int128 o2_wide;

/* The page table's answer for one virtual address. */
static bool translate(const struct o2_address_space *space, uint64_t va, uint32_t *page)
{
	for (uint32_t i = 0; i < space->nranges; i++) {
		const struct o2_vrange *range = &space->range[i];
		const o2_wide end = (o2_wide)range->base + (o2_wide)range->npages * space->page_bytes;

		if (va < range->base || va >= end)
			continue;
		*page = range->page[(va - range->base) / space->page_bytes];
		return *page < space->npages;
	}
	return false;
}

/* True if the piece is valid.  Only pieces with bytes to be moved are judged. */
static bool judge_piece(struct o2_sg_expected *e, const struct o2_buffer *buffer,
			const struct o2_address_space *space, uint32_t index)
{
	const uint32_t before = e->refusals.count;

	if (buffer->kind == O2_IOV) {
		const struct o2_iov *iov = &buffer->iov[index];

		if ((o2_wide)iov->base + iov->len > UINT64_MAX)
			o2_refusals_add(&e->refusals, -EINVAL, "sg/iov/wraps", index, iov->len,
					UINT64_MAX - iov->base);
	} else {
		const struct o2_kiov *kiov = &buffer->kiov[index];

		if (kiov->page >= space->npages)
			o2_refusals_add(&e->refusals, -EINVAL, "sg/kiov/no-such-page", index, kiov->page,
					space->npages);
		if ((o2_wide)kiov->offset + kiov->len > space->page_bytes)
			o2_refusals_add(&e->refusals, -EINVAL, "sg/kiov/entry-past-page", index, kiov->len,
					kiov->offset < space->page_bytes ? space->page_bytes - kiov->offset
									 : 0);
	}
	return e->refusals.count == before;
}

/* Bytes [skip, skip + take) of piece `index` are moved. */
static void take_piece(struct o2_sg_expected *e, const struct o2_buffer *buffer,
		       const struct o2_address_space *space, uint32_t index, uint64_t skip, uint64_t take)
{
	const uint32_t page_bytes = space->page_bytes;
	uint64_t first, last;

	if (buffer->kind == O2_KIOV) {
		o2_place_add(&e->map, O2_PLACE(buffer->kiov[index].page, buffer->kiov[index].offset + skip),
			     take);
		e->entries++;
		return;
	}
	/* Page by page, counted in pages of the address space. */
	first = buffer->iov[index].base + skip;
	last = first + (take - 1);
	for (uint64_t n = first / page_bytes; n <= last / page_bytes; n++) {
		const uint64_t low = n * page_bytes > first ? n * page_bytes : first;
		const uint64_t end = n * page_bytes + (page_bytes - 1);
		const uint64_t high = end < last ? end : last;
		uint32_t page = 0;

		if (!translate(space, low, &page))
			o2_refusals_add(&e->refusals, -EFAULT, "sg/iov/no-page", index, low, O2_NO_LIMIT);
		o2_place_add(&e->map, O2_PLACE(page, low % page_bytes), high - low + 1);
		e->entries++;
	}
}

/*
 * Rule G3 by bytes: where one piece follows another, the byte before must be the last of its page and the
 * byte after the first of its page.  Inside a piece pages follow each other without a gap by definition.
 */
static void judge_junction(struct o2_sg_expected *e, uint64_t before, const struct o2_buffer *buffer,
			   uint32_t index, uint32_t page_bytes)
{
	const uint64_t after = buffer->kind == O2_IOV ? buffer->iov[index].base : buffer->kiov[index].offset;

	if (before % page_bytes != page_bytes - 1 || after % page_bytes != 0)
		e->gaps = true;
}

static uint64_t last_byte(const struct o2_buffer *buffer, uint32_t index)
{
	return o2_sg_piece_bytes(buffer, index) - 1 +
	       (buffer->kind == O2_IOV ? buffer->iov[index].base : buffer->kiov[index].offset);
}

static void judge_pieces(struct o2_sg_expected *e, const struct o2_buffer *buffer,
			 const struct o2_address_space *space)
{
	const o2_wide begin = buffer->offset;
	const o2_wide end = begin + buffer->nob;
	uint64_t before = 0;
	o2_wide at = 0;

	for (uint32_t i = 0; i < buffer->count && at < end; i++) {
		const o2_wide length = o2_sg_piece_bytes(buffer, i);
		const o2_wide low = at > begin ? at : begin;
		const o2_wide high = at + length < end ? at + length : end;

		if (low < high) {
			if (!judge_piece(e, buffer, space, i))
				return;
			if (at > begin)
				judge_junction(e, before, buffer, i, space->page_bytes);
			before = last_byte(buffer, i);
			take_piece(e, buffer, space, i, (uint64_t)(low - at), (uint64_t)(high - low));
		}
		at += length;
	}
	if (at < end)
		o2_refusals_add(&e->refusals, -EINVAL, "sg/vector-too-short", O2_NO_INDEX, buffer->nob,
				at > begin ? (uint64_t)(at - begin) : 0);
}

void o2_sg_expect(const struct o2_buffer *buffer, const struct o2_address_space *space, uint32_t max_entries,
		  struct o2_sg_expected *e)
{
	const uint32_t p = space->page_bytes;

	o2_place_clear(&e->map);
	e->refusals.count = 0;
	e->entries = 0;
	e->gaps = false;
	if (p != 4096 && p != 16384 && p != 65536)
		o2_refusals_add(&e->refusals, -EINVAL, "sg/page-size", O2_NO_INDEX, p, 65536);
	if (max_entries != 256 && max_entries != 257)
		o2_refusals_add(&e->refusals, -EINVAL, "sg/max-entries", O2_NO_INDEX, max_entries, 257);
	if (buffer->nob == 0 || buffer->nob > 1u << 20)
		o2_refusals_add(&e->refusals, -EINVAL, "sg/nob", O2_NO_INDEX, buffer->nob, 1u << 20);
	if (e->refusals.count > 0)
		return;
	judge_pieces(e, buffer, space);
	if (e->entries > max_entries)
		o2_refusals_add(&e->refusals, -EFAULT, "sg/too-many-entries", O2_NO_INDEX,
				(uint64_t)max_entries + 1, max_entries);
}

static void check_list(const struct o2_sg_expected *e, const struct o2_sg_list *list, uint32_t page_bytes,
		       struct o2_report *report)
{
	static struct o2_place_map found;

	o2_place_clear(&found);
	if (list->count != e->entries)
		o2_report_fail(report, "sg/entries", "%" PRIu32 " entries, expected %" PRIu32, list->count,
			       e->entries);
	if (list->gaps != e->gaps)
		o2_report_fail(report, "sg/gaps", "gaps is %d, expected %d", list->gaps, e->gaps);
	for (uint32_t i = 0; i < list->count && !report->failed; i++) {
		const struct o2_sg_entry *entry = &list->entry[i];

		if (entry->length == 0 || (uint64_t)entry->offset + entry->length > page_bytes)
			o2_report_fail(report, "sg/entry",
				       "entry %" PRIu32 " is %" PRIu32 " bytes at %" PRIu32
				       " of a page of %" PRIu32,
				       i, entry->length, entry->offset, page_bytes);
		o2_place_add(&found, O2_PLACE(entry->page, entry->offset), entry->length);
	}
	if (report->failed)
		return;
	o2_place_compare(&found, &e->map, "sg/bytes", report);
	if (list->nob != found.nob)
		o2_report_fail(report, "sg/nob", "nob is %" PRIu64 ", the entries hold %" PRIu64, list->nob,
			       found.nob);
}

void o2_sg_check(const struct o2_buffer *buffer, const struct o2_address_space *space, uint32_t max_entries,
		 struct o2_sg_outcome *outcome, struct o2_report *report)
{
	int rc;

	o2_error_clear(&outcome->error);
	rc = o2_sg_build(buffer, space, max_entries, &outcome->list, &outcome->error);
	o2_sg_expect(buffer, space, max_entries, &outcome->expected);
	outcome->refusal = o2_refusals_check(&outcome->expected.refusals, rc, &outcome->error, "sg", report);
	if (rc == 0 && !report->failed)
		check_list(&outcome->expected, &outcome->list, space->page_bytes, report);
	if (rc == 0 && !report->failed)
		o2_sg_check_gaps(buffer, &outcome->list, space->page_bytes, report);
}
