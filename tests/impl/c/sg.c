/* SPDX-License-Identifier: MIT */
#include <errno.h>

#include "second.h"

/* sg_build: docs/mapping.md, "sg_build". */

static int32_t check_input(const struct o2_impl_sg_in *in, struct o2_impl_refusal *refusal)
{
	if (!page_size_known(in->space.page_bytes))
		return refuse(refusal, EINVAL, "sg/page-size", NO_INDEX);
	if (!is_limit(in->max_entries))
		return refuse(refusal, EINVAL, "sg/max-entries", NO_INDEX);
	if (in->buffer.kind != O2_IMPL_IOV && in->buffer.kind != O2_IMPL_KIOV)
		return refuse(refusal, EINVAL, "sg/kind", NO_INDEX);
	if (in->buffer.nob == 0 || in->buffer.nob > O2_IMPL_TRANSFER_BYTES)
		return refuse(refusal, EINVAL, "sg/nob", NO_INDEX);
	return O2_IMPL_OK;
}

static int32_t check_piece(const struct o2_impl_sg_in *in, uint32_t i, struct o2_impl_refusal *refusal)
{
	const struct o2_impl_buffer *buffer = &in->buffer;

	if (buffer->kind == O2_IMPL_IOV) {
		if (buffer->iov[i].len > UINT64_MAX - buffer->iov[i].base)
			return refuse(refusal, EINVAL, "sg/iov/wraps", i);
		return O2_IMPL_OK;
	}
	if (buffer->kiov[i].page >= in->space.npages)
		return refuse(refusal, EINVAL, "sg/kiov/no-such-page", i);
	if ((uint64_t)buffer->kiov[i].offset + buffer->kiov[i].len > in->space.page_bytes)
		return refuse(refusal, EINVAL, "sg/kiov/entry-past-page", i);
	return O2_IMPL_OK;
}

/* The page that backs a virtual address. */
static bool page_behind(const struct o2_impl_space *space, uint64_t addr, uint32_t *page)
{
	for (uint32_t i = 0; i < space->nranges; i++) {
		const struct o2_impl_vrange *range = &space->range[i];

		if (addr < range->base || (addr - range->base) / space->page_bytes >= range->npages)
			continue;
		*page = range->page[(addr - range->base) / space->page_bytes];
		return *page < space->npages;
	}
	return false;
}

/* Add entries for the bytes [from, to) of piece i, one entry per page. */
static int32_t add_entries(const struct o2_impl_sg_in *in, uint32_t i, uint64_t from, uint64_t to,
			   struct o2_impl_sg_list *out, struct o2_impl_refusal *refusal)
{
	uint32_t page_bytes = in->space.page_bytes;

	while (from < to) {
		struct o2_impl_sg_entry entry = {0};
		uint64_t left = to - from;

		if (out->count == in->max_entries)
			return refuse(refusal, EFAULT, "sg/too-many-entries", i);
		if (in->buffer.kind == O2_IMPL_IOV) {
			uint64_t addr = in->buffer.iov[i].base + from;

			entry.offset = addr % page_bytes;
			if (!page_behind(&in->space, addr, &entry.page))
				return refuse(refusal, EFAULT, "sg/iov/no-page", i);
		} else {
			entry.page = in->buffer.kiov[i].page;
			entry.offset = in->buffer.kiov[i].offset + from;
		}
		entry.length = left < page_bytes - entry.offset ? left : page_bytes - entry.offset;
		from += entry.length;
		out->entry[out->count++] = entry;
	}
	return O2_IMPL_OK;
}

/* Gaps by rule G3. */
static bool has_gaps(const struct o2_impl_sg_list *list, uint32_t page_bytes)
{
	for (uint32_t i = 1; i < list->count; i++)
		if (list->entry[i].offset ||
		    list->entry[i - 1].offset + list->entry[i - 1].length != page_bytes)
			return true;
	return false;
}

int32_t second_sg_build(const struct o2_impl_sg_in *in, struct o2_impl_sg_list *out,
			struct o2_impl_refusal *refusal)
{
	const struct o2_impl_buffer *buffer = &in->buffer;
	uint64_t skip = buffer->offset, left = buffer->nob;
	int32_t status = check_input(in, refusal);

	out->count = 0;
	for (uint32_t i = 0; status == O2_IMPL_OK && left && i < buffer->count; i++) {
		uint64_t length = buffer->kind == O2_IMPL_IOV ? buffer->iov[i].len : buffer->kiov[i].len;
		uint64_t from = skip < length ? skip : length;
		uint64_t part = length - from < left ? length - from : left;

		skip -= from;
		if (part == 0)
			continue;
		status = check_piece(in, i, refusal);
		if (status == O2_IMPL_OK)
			status = add_entries(in, i, from, from + part, out, refusal);
		left -= part;
	}
	if (status == O2_IMPL_OK && left)
		status = refuse(refusal, EINVAL, "sg/vector-too-short", NO_INDEX);
	out->nob = buffer->nob;
	out->gaps = status == O2_IMPL_OK && has_gaps(out, in->space.page_bytes);
	return status;
}
