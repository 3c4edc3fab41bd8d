/* SPDX-License-Identifier: MIT */
#include "oracle/stream.h"

void o2_stream_clear(struct o2_stream *stream)
{
	stream->count = 0;
	stream->nob = 0;
}

bool o2_stream_add(struct o2_stream *stream, uint64_t place, uint64_t length)
{
	const struct o2_stream_run *last = stream->count == 0 ? NULL : &stream->run[stream->count - 1];

	if (length == 0)
		return true;
	if (last == NULL || last->place + (stream->nob - last->start) != place) {
		if (stream->count == O2_STREAM_RUNS)
			return false;
		stream->run[stream->count++] = (struct o2_stream_run){.start = stream->nob, .place = place};
	}
	stream->nob += length;
	return true;
}

static uint64_t run_end(const struct o2_stream *stream, uint32_t index)
{
	return index + 1 < stream->count ? stream->run[index + 1].start : stream->nob;
}

uint64_t o2_stream_place(const struct o2_stream *stream, uint64_t byte)
{
	uint32_t low = 0;
	uint32_t high = stream->count;

	if (byte >= stream->nob)
		return 0;
	while (high - low > 1) {
		const uint32_t middle = low + (high - low) / 2;

		if (stream->run[middle].start <= byte)
			low = middle;
		else
			high = middle;
	}
	return stream->run[low].place + (byte - stream->run[low].start);
}

bool o2_stream_differ(const struct o2_stream *a, const struct o2_stream *b, uint64_t *byte)
{
	const uint64_t shorter = a->nob < b->nob ? a->nob : b->nob;
	uint64_t at = 0;
	uint32_t i = 0;
	uint32_t k = 0;

	/* Until the next start of a run in either stream, places advance equally: compare one byte per stretch. */
	while (at < shorter) {
		const uint64_t a_end = run_end(a, i);
		const uint64_t b_end = run_end(b, k);

		if (a->run[i].place + (at - a->run[i].start) != b->run[k].place + (at - b->run[k].start)) {
			*byte = at;
			return true;
		}
		at = a_end < b_end ? a_end : b_end;
		i += at == a_end;
		k += at == b_end;
	}
	*byte = shorter;
	return a->nob != b->nob;
}

void o2_stream_of_list(const struct o2_sg_list *list, struct o2_stream *stream)
{
	o2_stream_clear(stream);
	for (uint32_t i = 0; i < list->count; i++)
		o2_stream_add(stream, o2_stream_page(list->entry[i].page, list->entry[i].offset),
			      list->entry[i].length);
}

void o2_stream_of_segments(const struct o2_dma_list *list, struct o2_stream *stream)
{
	o2_stream_clear(stream);
	for (uint32_t i = 0; i < list->count; i++)
		o2_stream_add(stream, list->segment[i].addr, list->segment[i].length);
}

/* Region of byte ranges: *place is the address of byte `at`, *left the bytes from there to the range's end. */
static bool find_entry(const struct o2_reg_plan *plan, uint64_t at, uint64_t *place, uint64_t *left)
{
	for (uint32_t i = 0; i < plan->nentries; i++) {
		if (at < plan->entry[i].length) {
			*place = plan->entry[i].addr + at;
			*left = plan->entry[i].length - at;
			return true;
		}
		at -= plan->entry[i].length;
	}
	return false;
}

/* As find_entry, for a region of pages. */
static bool find_page(const struct o2_reg_plan *plan, uint64_t at, uint64_t *place, uint64_t *left)
{
	const uint64_t offset = at + plan->page_offset;
	const uint64_t index = offset / plan->page_bytes;

	if (offset < at || index >= plan->npages)
		return false;
	*place = plan->page[index] + offset % plan->page_bytes;
	*left = plan->page_bytes - offset % plan->page_bytes;
	return true;
}

/* Whether plans of this mode register a region, in which addresses are resolved. */
static bool has_region(const struct o2_reg_plan *plan)
{
	return plan->mode != O2_REG_GLOBAL;
}

bool o2_stream_of_region(const struct o2_reg_plan *plan, uint64_t addr, uint64_t length,
			 struct o2_stream *stream, uint64_t *bad)
{
	while (length > 0) {
		const uint64_t at = addr - plan->iova;
		uint64_t place = addr;
		uint64_t left = length;
		bool found = true;

		if (has_region(plan) && at >= plan->length) {
			*bad = addr;
			return false;
		}
		if (plan->mode == O2_REG_FASTREG_GAPS)
			found = find_entry(plan, at, &place, &left);
		else if (has_region(plan) && plan->mode != O2_REG_USER)
			found = find_page(plan, at, &place, &left);
		if (has_region(plan) && left > plan->length - at)
			left = plan->length - at;
		if (left > length)
			left = length;
		if (!found || !o2_stream_add(stream, place, left)) {
			*bad = addr;
			return false;
		}
		addr += left;
		length -= left;
	}
	return true;
}
