/* SPDX-License-Identifier: MIT */
#include "cli/net/memory.h"

#include <errno.h>
#include <stdlib.h>

static uint32_t pages_of(uint32_t page_bytes, uint32_t length_bytes)
{
	return length_bytes / page_bytes + (length_bytes % page_bytes != 0);
}

uint32_t o2_net_memory_pages(uint32_t page_bytes, uint32_t size_bytes, uint32_t nfragments)
{
	const uint32_t npages = pages_of(page_bytes, size_bytes);

	return nfragments <= npages ? npages + nfragments - 1 : nfragments;
}

/* Pieces of whole pages, as even as possible; the last piece ends where the bytes end. */
static void lay_pages(struct o2_net_memory *memory, uint64_t base, uint32_t page_bytes, uint32_t size_bytes,
		      uint32_t nfragments)
{
	const uint32_t npages = pages_of(page_bytes, size_bytes);
	uint32_t left_bytes = size_bytes;

	for (uint32_t i = 0; i < nfragments; i++) {
		const uint32_t take = (npages / nfragments + (i < npages % nfragments)) * page_bytes;
		const uint32_t length = take < left_bytes ? take : left_bytes;

		memory->iov[i] = (struct o2_iov){base, length};
		base += take + page_bytes;
		left_bytes -= length;
	}
}

static void lay_parts(struct o2_net_memory *memory, uint64_t base, uint32_t page_bytes, uint32_t size_bytes,
		      uint32_t nfragments)
{
	for (uint32_t i = 0; i < nfragments; i++)
		memory->iov[i] = (struct o2_iov){base + (uint64_t)i * page_bytes,
						 size_bytes / nfragments + (i < size_bytes % nfragments)};
}

int o2_net_memory_lay(const struct o2_arena *arena, uint32_t first_page, uint32_t size_bytes,
		      uint32_t nfragments, enum o2_reg_mode mode, struct o2_net_memory *memory)
{
	const uint64_t base = arena->view[0].base + (uint64_t)first_page * arena->page_bytes;

	memory->npages = o2_net_memory_pages(arena->page_bytes, size_bytes, nfragments);
	memory->iov = calloc(nfragments, sizeof(*memory->iov));
	if (memory->iov == NULL)
		return -ENOMEM;
	if (nfragments <= pages_of(arena->page_bytes, size_bytes))
		lay_pages(memory, base, arena->page_bytes, size_bytes, nfragments);
	else
		lay_parts(memory, base, arena->page_bytes, size_bytes, nfragments);
	memory->memory = (struct o2_transfer_memory){
		.buffer = {.kind = O2_IOV, .count = nfragments, .nob = size_bytes, .iov = memory->iov},
		.mode = mode,
	};
	return 0;
}

void o2_net_memory_free(struct o2_net_memory *memory)
{
	free(memory->iov);
	*memory = (struct o2_net_memory){0};
}
