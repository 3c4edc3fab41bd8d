/* SPDX-License-Identifier: MIT */
#include "fuzz/sg_oracle.h"

#include <errno.h>

#include "fuzz/common.h"

/*
 * The oracle thinks in bytes of the stream, not in entries: piece i holds bytes [first, first + length) of
 * the concatenation, and every question is asked about one byte.  Sums have 128 bits, so that no input wraps
 * them.
 */
typedef unsigned __int128 o2_wide;

struct oracle {
	struct o2_fuzz_map map; /* place of each byte that is to be moved: page << 32 | offset */
	uint64_t entries;	/* pieces of pages that hold them */
	bool gaps;
	struct o2_fuzz_refusals refusals;
};

#define PLACE(page, offset) ((uint64_t)(page) << 32 | (offset))

static uint64_t length_of(const struct o2_buffer *buffer, uint32_t index)
{
	return buffer->kind == O2_IOV ? buffer->iov[index].len : buffer->kiov[index].len;
}

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

/* May the piece be looked at at all?  Only pieces that begin before the transfer ends are judged. */
static bool piece_is_legal(const struct o2_buffer *buffer, const struct o2_address_space *space,
			   uint32_t index)
{
	if (buffer->kind == O2_IOV)
		return (o2_wide)buffer->iov[index].base + buffer->iov[index].len <= UINT64_MAX;
	return buffer->kiov[index].page < space->npages &&
	       (o2_wide)buffer->kiov[index].offset + buffer->kiov[index].len <= space->page_bytes;
}

/* Bytes [skip, skip + take) of piece `index` are moved. */
static void take_piece(struct oracle *o, const struct o2_buffer *buffer, const struct o2_address_space *space,
		       uint32_t index, uint64_t skip, uint64_t take)
{
	const uint32_t page_bytes = space->page_bytes;

	if (buffer->kind == O2_KIOV) {
		o2_fuzz_map_add(&o->map, PLACE(buffer->kiov[index].page, buffer->kiov[index].offset + skip),
				take);
		o->entries++;
		return;
	}
	/* Page by page, counted in whole pages of the address space: no walk needs to be believed. */
	const uint64_t first = buffer->iov[index].base + skip;
	const uint64_t last = first + (take - 1);

	for (uint64_t n = first / page_bytes; n <= last / page_bytes; n++) {
		const uint64_t low = n * page_bytes > first ? n * page_bytes : first;
		const uint64_t high =
			n * page_bytes + (page_bytes - 1) < last ? n * page_bytes + (page_bytes - 1) : last;
		uint32_t page = 0;

		if (!translate(space, low, &page))
			o2_fuzz_expect(&o->refusals, -EFAULT);
		o2_fuzz_map_add(&o->map, PLACE(page, low % page_bytes), high - low + 1);
		o->entries++;
	}
}

/*
 * Rule G3 by bytes: where one piece follows another, the byte before must be the last of its page and the
 * byte after the first of its page.  Inside a piece pages follow each other without a gap by definition.
 */
static void judge_junction(struct oracle *o, uint64_t before, const struct o2_buffer *buffer, uint32_t index,
			   uint32_t page_bytes)
{
	const uint64_t after = buffer->kind == O2_IOV ? buffer->iov[index].base : buffer->kiov[index].offset;

	if (before % page_bytes != page_bytes - 1 || after % page_bytes != 0)
		o->gaps = true;
}

static uint64_t last_byte(const struct o2_buffer *buffer, uint32_t index)
{
	return length_of(buffer, index) - 1 +
	       (buffer->kind == O2_IOV ? buffer->iov[index].base : buffer->kiov[index].offset);
}

static void judge_pieces(struct oracle *o, const struct o2_buffer *buffer,
			 const struct o2_address_space *space)
{
	const o2_wide begin = buffer->offset;
	const o2_wide end = begin + buffer->nob;
	uint64_t before = 0;
	o2_wide at = 0;

	for (uint32_t i = 0; i < buffer->count && at < end; i++) {
		const o2_wide length = length_of(buffer, i);
		const o2_wide low = at > begin ? at : begin;
		const o2_wide high = at + length < end ? at + length : end;

		if (length == 0)
			continue;
		if (!piece_is_legal(buffer, space, i)) {
			o2_fuzz_expect(&o->refusals, -EINVAL);
			return;
		}
		if (low < high) {
			if (at > begin)
				judge_junction(o, before, buffer, i, space->page_bytes);
			before = last_byte(buffer, i);
			take_piece(o, buffer, space, i, (uint64_t)(low - at), (uint64_t)(high - low));
		}
		at += length;
	}
	if (at < end)
		o2_fuzz_expect(&o->refusals, -EINVAL);
}

static void judge(struct oracle *o, const struct o2_buffer *buffer, const struct o2_address_space *space,
		  uint32_t max_entries)
{
	const uint32_t p = space->page_bytes;

	o2_fuzz_map_clear(&o->map);
	o->entries = 0;
	o->gaps = false;
	o->refusals.count = 0;
	if ((p != 4096 && p != 16384 && p != 65536) ||
	    (max_entries != O2_MAX_FRAGS && max_entries != O2_MAX_FRAGS_LEGACY) || buffer->nob == 0 ||
	    buffer->nob > O2_MAX_TRANSFER_BYTES) {
		o2_fuzz_expect(&o->refusals, -EINVAL);
		return;
	}
	judge_pieces(o, buffer, space);
	if (o->entries > max_entries)
		o2_fuzz_expect(&o->refusals, -EFAULT);
}

static void check_list(const struct oracle *o, const struct o2_sg_list *list, uint32_t page_bytes)
{
	static struct o2_fuzz_map found;

	o2_fuzz_map_clear(&found);
	if (list->count != o->entries)
		o2_fuzz_fail("sg: %u entries, expected %llu", list->count, (unsigned long long)o->entries);
	for (uint32_t i = 0; i < list->count; i++) {
		const struct o2_sg_entry *entry = &list->entry[i];

		if (entry->length == 0 || (uint64_t)entry->offset + entry->length > page_bytes)
			o2_fuzz_fail("sg: entry %u is %u bytes at %u of a page of %u", i, entry->length,
				     entry->offset, page_bytes);
		o2_fuzz_map_add(&found, PLACE(entry->page, entry->offset), entry->length);
	}
	o2_fuzz_map_check_equal(&found, &o->map, "sg");
	if (list->nob != found.nob)
		o2_fuzz_fail("sg: nob is %llu, the entries hold %llu", (unsigned long long)list->nob,
			     (unsigned long long)found.nob);
	if (list->gaps != o->gaps)
		o2_fuzz_fail("sg: gaps is %d, expected %d", list->gaps, o->gaps);
}

void o2_fuzz_check_sg(const struct o2_buffer *buffer, const struct o2_address_space *space,
		      uint32_t max_entries)
{
	static struct oracle oracle;
	static struct o2_sg_list list;
	struct o2_error error = {0};
	const int rc = o2_sg_build(buffer, space, max_entries, &list, &error);

	judge(&oracle, buffer, space, max_entries);
	if (o2_fuzz_check_verdict(rc, &error, &oracle.refusals))
		check_list(&oracle, &list, space->page_bytes);
}
