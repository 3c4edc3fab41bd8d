/* SPDX-License-Identifier: MIT */
#include "mem/sg_build.h"

#include <errno.h>

/* Position in the vector: the piece, and how many of its bytes were passed. */
struct cursor {
	uint32_t index;
	uint64_t offset;
};

static uint64_t piece_bytes(const struct o2_buffer *buffer, uint32_t index)
{
	return buffer->kind == O2_IOV ? buffer->iov[index].len : buffer->kiov[index].len;
}

static int check_request(const struct o2_buffer *buffer, const struct o2_address_space *space,
			 uint32_t max_entries, struct o2_error *error)
{
	if (!o2_page_bytes_legal(space->page_bytes))
		return o2_refuse_value(error, -EINVAL, "sg/page-size", "page_bytes", space->page_bytes,
				       O2_PAGE_BYTES_MAX);
	if (max_entries != O2_MAX_FRAGS && max_entries != O2_MAX_FRAGS_LEGACY)
		return o2_refuse_value(error, -EINVAL, "sg/max-entries", "max_entries", max_entries,
				       O2_MAX_FRAGS);
	if (buffer->kind != O2_IOV && buffer->kind != O2_KIOV)
		return o2_refuse_value(error, -EINVAL, "sg/kind", "kind", buffer->kind, O2_KIOV);
	if (buffer->nob == 0 || buffer->nob > O2_MAX_TRANSFER_BYTES)
		return o2_refuse_value(error, -EINVAL, "sg/nob", "nob", buffer->nob, O2_MAX_TRANSFER_BYTES);
	return 0;
}

/* A page vector's piece must lie in one existing page; an IOV's must not wrap the address space. */
static int check_piece(const struct o2_buffer *buffer, const struct o2_address_space *space, uint32_t index,
		       struct o2_error *error)
{
	const struct o2_kiov *kiov;

	if (buffer->kind == O2_IOV) {
		const struct o2_iov *iov = &buffer->iov[index];

		if (iov->len > UINT64_MAX - iov->base)
			return o2_refuse(error, -EINVAL, "sg/iov/wraps", "iov[].len", index, iov->len,
					 UINT64_MAX - iov->base);
		return 0;
	}
	kiov = &buffer->kiov[index];
	if (kiov->page >= space->npages)
		return o2_refuse(error, -EINVAL, "sg/kiov/no-such-page", "kiov[].page", index, kiov->page,
				 space->npages);
	if (kiov->offset > space->page_bytes || kiov->len > space->page_bytes - kiov->offset)
		return o2_refuse(error, -EINVAL, "sg/kiov/entry-past-page", "kiov[].len", index, kiov->len,
				 kiov->offset > space->page_bytes ? 0 : space->page_bytes - kiov->offset);
	return 0;
}

/* Find the page behind a virtual address, as a page table would. */
static int find_page(const struct o2_address_space *space, uint64_t va, uint32_t *page)
{
	for (uint32_t i = 0; i < space->nranges; i++) {
		const struct o2_vrange *range = &space->range[i];
		uint64_t index = (va - range->base) / space->page_bytes;

		if (va >= range->base && index < range->npages) {
			*page = range->page[index];
			return *page < space->npages ? 0 : -EFAULT;
		}
	}
	return -EFAULT;
}

/*
 * Make the entry that starts at the cursor.  A piece of an IOV is cut at page boundaries; a piece of a page
 * vector lies in one page.  left: bytes of the transfer still to come.
 */
static int make_entry(const struct o2_buffer *buffer, const struct o2_address_space *space,
		      const struct cursor *at, uint64_t left, struct o2_sg_entry *entry,
		      struct o2_error *error)
{
	uint64_t take = piece_bytes(buffer, at->index) - at->offset;

	if (take > left)
		take = left;
	if (buffer->kind == O2_IOV) {
		uint64_t va = buffer->iov[at->index].base + at->offset;

		entry->offset = (uint32_t)(va % space->page_bytes);
		if (take > space->page_bytes - entry->offset)
			take = space->page_bytes - entry->offset;
		if (find_page(space, va, &entry->page) != 0)
			return o2_refuse(error, -EFAULT, "sg/iov/no-page", "iov[].base", at->index, va,
					 O2_NO_LIMIT);
	} else {
		entry->page = buffer->kiov[at->index].page;
		entry->offset = buffer->kiov[at->index].offset + (uint32_t)at->offset;
	}
	entry->length = (uint32_t)take;
	return 0;
}

/*
 * Rule G3: consecutive entries must meet on page boundaries.  So there is a gap if any entry but the first
 * starts inside a page, or any entry but the last ends inside one.
 */
static bool is_gap(const struct o2_sg_entry *entry, bool first, bool last, uint32_t page_bytes)
{
	const bool starts_inside = !first && entry->offset % page_bytes != 0;
	const bool ends_inside = !last && (entry->offset + entry->length) % page_bytes != 0;
	return starts_inside || ends_inside;
}

/* Move the cursor past pieces that are used up, skipped or empty.  A piece is checked when it is entered. */
static int settle(const struct o2_buffer *buffer, const struct o2_address_space *space, struct cursor *at,
		  uint64_t missing, struct o2_error *error)
{
	for (; at->index < buffer->count; at->index++) {
		const uint64_t length = piece_bytes(buffer, at->index);

		if (at->offset < length)
			return check_piece(buffer, space, at->index, error);
		at->offset -= length;
	}
	return o2_refuse_value(error, -EINVAL, "sg/vector-too-short", "nob", buffer->nob,
			       buffer->nob - missing);
}

int o2_sg_build(const struct o2_buffer *buffer, const struct o2_address_space *space, uint32_t max_entries,
		struct o2_sg_list *list, struct o2_error *error)
{
	struct cursor at = {.index = 0, .offset = buffer->offset};
	uint64_t left = buffer->nob;
	int rc = check_request(buffer, space, max_entries, error);

	if (rc != 0)
		return rc;
	list->count = 0;
	list->gaps = false;
	list->nob = buffer->nob;
	while (left > 0) {
		struct o2_sg_entry *entry;

		rc = settle(buffer, space, &at, left, error);
		if (rc != 0)
			return rc;
		if (list->count == max_entries)
			return o2_refuse_value(error, -EFAULT, "sg/too-many-entries", "entries",
					       (uint64_t)max_entries + 1, max_entries);
		entry = &list->entry[list->count];
		rc = make_entry(buffer, space, &at, left, entry, error);
		if (rc != 0)
			return rc;
		left -= entry->length;
		at.offset += entry->length;
		if (is_gap(entry, list->count == 0, left == 0, space->page_bytes))
			list->gaps = true;
		list->count++;
	}
	return 0;
}

bool o2_virtual_range(const struct o2_buffer *buffer, uint64_t *addr)
{
	uint64_t skip = buffer->offset;
	uint64_t left = buffer->nob;
	uint64_t next = 0;

	if (buffer->kind != O2_IOV)
		return false;
	for (uint32_t i = 0; i < buffer->count && left > 0; i++) {
		uint64_t base = buffer->iov[i].base;
		uint64_t length = buffer->iov[i].len;

		if (skip >= length) {
			skip -= length;
			continue;
		}
		if (length > UINT64_MAX - base)
			return false;
		base += skip;
		length -= skip;
		skip = 0;
		if (left == buffer->nob)
			*addr = base;
		else if (base != next)
			return false;
		next = base + length;
		left -= length < left ? length : left;
	}
	return left == 0 && buffer->nob > 0;
}
