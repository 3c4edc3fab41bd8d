/* SPDX-License-Identifier: MIT */
#include "base/stream.h"
#include "cli/net/session.h"
#include "mem/kmap.h"
#include "wire/nid.h"

/* Filling memory with a stream's bytes, a slice at a time. */

/* A slice has few enough bytes for the stack, and no more pieces than a buffer may have. */
#define SLICE_BYTES (O2_MAX_TRANSFER_BYTES / 16)

static struct o2_buffer slice(const struct o2_transfer_memory *memory, uint64_t at, uint64_t *left_bytes)
{
	struct o2_buffer buffer = memory->buffer;

	buffer.offset += at;
	buffer.nob = *left_bytes < SLICE_BYTES ? *left_bytes : SLICE_BYTES;
	*left_bytes -= buffer.nob;
	return buffer;
}

bool o2_net_fill(const struct o2_arena *arena, const struct o2_transfer_memory *memory, uint64_t seed,
		 uint64_t stream, uint64_t offset, bool complement)
{
	uint8_t bytes[SLICE_BYTES];
	uint64_t left_bytes = memory->buffer.nob, at = 0;
	bool ok = true;

	while (ok && left_bytes > 0) {
		const struct o2_buffer buffer = slice(memory, at, &left_bytes);

		o2_stream_fill(bytes, buffer.nob, seed, stream, offset + at);
		for (uint64_t i = 0; complement && i < buffer.nob; i++)
			bytes[i] = (uint8_t)~bytes[i];
		ok = o2_copy_to_buffer(arena, &buffer, bytes, NULL) == 0;
		at += buffer.nob;
	}
	return ok;
}

/* Number of pieces of an offer's memory; with the quirk more than it has pages, so that there are gaps. */
static uint32_t pieces_of(const struct o2_net_options *options, const struct o2_net_offer *offer,
			  uint32_t page_bytes)
{
	if (offer->read_only && o2_quirks_have(&options->quirks, O2_QUIRK_GAPPED_SOURCE_SILENT))
		return offer->size_bytes / page_bytes + 2;
	return options->fragments;
}

static uint32_t rights_of(const struct o2_net_options *options, const struct o2_net_offer *offer)
{
	const bool cut = options->truncate || o2_quirks_have(&options->quirks, O2_QUIRK_SHORT_GET_CLAIMS);

	return O2_LNET_MD_OP_GET | O2_LNET_MD_MANAGE_REMOTE | (offer->read_only ? 0 : O2_LNET_MD_OP_PUT) |
	       (cut ? O2_LNET_MD_TRUNCATE : 0);
}

uint32_t o2_net_offer_pages(const struct o2_net_options *options, uint32_t page_bytes)
{
	uint32_t pages = 0;

	for (uint32_t i = 0; i < options->noffers; i++)
		pages += o2_net_memory_pages(page_bytes, options->offer[i].size_bytes,
					     pieces_of(options, &options->offer[i], page_bytes));
	return pages;
}

/* Fill a part of an offer's memory with the stream's bytes at the same offsets. */
static bool fill_part(const struct o2_arena *arena, const struct o2_transfer_memory *memory, uint64_t seed,
		      const struct o2_net_part *part)
{
	const uint64_t nob = memory->buffer.nob, end = part->end < nob ? part->end : nob;
	struct o2_transfer_memory filled = *memory;

	if (part->begin >= end)
		return true;
	filled.buffer.offset += part->begin;
	filled.buffer.nob = end - part->begin;
	return o2_net_fill(arena, &filled, seed, O2_STREAM_MEMORY, part->begin, false);
}

bool o2_net_offer(const struct o2_net_options *options, const struct o2_net_part *part,
		  const struct o2_arena *arena, struct o2_lnet *lnet, struct o2_net_memory *memory)
{
	uint32_t page = O2_NET_LNET_PAGES;

	for (uint32_t i = 0; i < options->noffers; i++) {
		const struct o2_net_offer *offer = &options->offer[i];
		struct o2_lnet_entry entry = {
			.portal = offer->portal,
			.match_bits = offer->match_bits,
			O2_LNET_FOR_ANYBODY,
			.options = rights_of(options, offer),
			.tag = i,
		};

		if (o2_net_memory_lay(arena, page, offer->size_bytes,
				      pieces_of(options, offer, arena->page_bytes), options->mode,
				      &memory[i]) != 0 ||
		    !fill_part(arena, &memory[i].memory, options->seed, part))
			return false;
		page += memory[i].npages;
		entry.memory = memory[i].memory;
		if (o2_lnet_attach(lnet, &entry, NULL) < 0)
			return false;
	}
	return true;
}
