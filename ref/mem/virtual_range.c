/* SPDX-License-Identifier: MIT */
#include "mem/virtual_range.h"

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
