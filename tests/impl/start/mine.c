/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include <o2ref/impl.h>

/*
 * A starting point for your own implementation: stage sg_build for page vectors.  It breaks one rule on
 * purpose; `o2ref check` names the rule (docs/oracle.md, "From nothing to a report").
 */

static int32_t refuse(struct o2_impl_refusal *refusal, uint32_t error, const char *name, uint32_t index)
{
	refusal->error = error;
	refusal->index = index;
	strcpy(refusal->name, name);
	return O2_IMPL_REFUSED;
}

/* A list has gaps if a registration of whole pages cannot express it. */
static bool has_gaps(const struct o2_impl_sg_list *list, uint32_t page_bytes)
{
	for (uint32_t i = 0; i + 1 < list->count; i++)
		if (list->entry[i].offset + list->entry[i].length != page_bytes)
			return true;
	return false;
}

static int32_t sg_build(const struct o2_impl_sg_in *in, struct o2_impl_sg_list *out,
			struct o2_impl_refusal *refusal)
{
	const struct o2_impl_kiov *piece = in->buffer.kiov;
	uint32_t page_bytes = in->space.page_bytes;
	uint64_t skip = in->buffer.offset, left = in->buffer.nob;

	if (in->buffer.kind != O2_IMPL_KIOV)
		return O2_IMPL_NOT_IMPLEMENTED;
	if (page_bytes != 4096 && page_bytes != 16384 && page_bytes != 65536)
		return refuse(refusal, EINVAL, "BadPageSize", UINT32_MAX);
	if (in->max_entries != 256 && in->max_entries != 257)
		return refuse(refusal, EINVAL, "BadTable", UINT32_MAX);
	if (left == 0 || left > O2_IMPL_TRANSFER_BYTES)
		return refuse(refusal, EINVAL, "BadLength", UINT32_MAX);
	for (uint32_t i = 0; left && i < in->buffer.count; i++) {
		struct o2_impl_sg_entry entry = {0};

		if (skip >= piece[i].len) {
			skip -= piece[i].len;
			continue;
		}
		if (piece[i].page >= in->space.npages)
			return refuse(refusal, EINVAL, "NoSuchPage", i);
		if ((uint64_t)piece[i].offset + piece[i].len > page_bytes)
			return refuse(refusal, EINVAL, "LeavesPage", i);
		if (out->count == in->max_entries)
			return refuse(refusal, EFAULT, "TableFull", i);
		entry.page = piece[i].page;
		entry.offset = piece[i].offset + (uint32_t)skip;
		entry.length = piece[i].len - (uint32_t)skip;
		if (entry.length > left)
			entry.length = (uint32_t)left;
		out->entry[out->count++] = entry;
		left -= entry.length;
		skip = 0;
	}
	if (left)
		return refuse(refusal, EINVAL, "TooShort", UINT32_MAX);
	out->nob = in->buffer.nob;
	out->gaps = has_gaps(out, page_bytes);
	return O2_IMPL_OK;
}

const struct o2_impl *o2_impl_v1(void)
{
	static const struct o2_impl mine = {
		O2_IMPL_HEAD("mine"),
		.sg_build = sg_build,
	};

	return &mine;
}
