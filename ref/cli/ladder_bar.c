/* SPDX-License-Identifier: MIT */
#include "cli/ladder_bar.h"

#include <stdlib.h>
#include <string.h>

#include "wire/desc_codec.h"

#define WIDTH	       1000u
#define LONG_MARKS_MAX 40u
#define SPANS_MAX      32u /* separate ranges that are remembered: WRITEs in order make one */

struct span {
	uint64_t from, to;
};

struct o2_ladder_bar {
	uint64_t total, filled; /* filled: bytes of all WRITEs inside, added up */
	uint32_t nspans;
	struct span span[SPANS_MAX];
	uint32_t nfrags;
	struct o2_rdma_frag frag[];
};

struct o2_ladder_bar *o2_ladder_bar_new(const struct o2_rdma_desc *desc)
{
	struct o2_ladder_bar *bar = calloc(1, sizeof(*bar) + desc->rd_nfrags * sizeof(bar->frag[0]));

	if (bar == NULL)
		return NULL;
	bar->nfrags = desc->rd_nfrags;
	bar->total = o2_desc_bytes(desc);
	memcpy(bar->frag, desc->rd_frags, desc->rd_nfrags * sizeof(bar->frag[0]));
	return bar;
}

void o2_ladder_bar_free(struct o2_ladder_bar *bar)
{
	free(bar);
}

uint64_t o2_ladder_bar_total(const struct o2_ladder_bar *bar)
{
	return bar->total;
}

uint64_t o2_ladder_bar_filled(const struct o2_ladder_bar *bar)
{
	return bar->filled;
}

static double x_of(const struct o2_ladder_bar *bar, uint64_t offset)
{
	return bar->total == 0
		       ? 0
		       : (double)(offset < bar->total ? offset : bar->total) * WIDTH / (double)bar->total;
}

static void rectangle(const struct o2_ladder_bar *bar, const char *class, uint64_t from, uint64_t to,
		      FILE *out)
{
	const double x = x_of(bar, from), width = x_of(bar, to) - x;

	/* At least 3 units wide, so that even a small range is seen. */
	fprintf(out, "<rect class=\"%s\" x=\"%.1f\" y=\"0\" width=\"%.1f\" height=\"14\"/>", class,
		x > WIDTH - 3 ? WIDTH - 3.0 : x, width < 3 ? 3 : width);
}

static void begin(const struct o2_ladder_bar *bar, FILE *out)
{
	fputs("<svg class=\"bar\" viewBox=\"0 0 1000 14\" preserveAspectRatio=\"none\" aria-hidden=\"true\">"
	      "<rect class=\"sink\" x=\"0\" y=\"0\" width=\"1000\" height=\"14\"/>",
	      out);
	for (uint32_t i = 0; i < bar->nspans; i++)
		rectangle(bar, "had", bar->span[i].from, bar->span[i].to, out);
}

static void end(const char *name, FILE *out)
{
	fprintf(out, "<use href=\"#%s\"/></svg>", name);
}

void o2_ladder_bar_offer(const struct o2_ladder_bar *bar, const char *name, FILE *out)
{
	/* Many long marks would hide what is between them. */
	const unsigned int top = bar->nfrags > LONG_MARKS_MAX ? 11 : 0;
	uint64_t offset = 0;

	begin(bar, out);
	fprintf(out, "<path class=\"marks\" id=\"%s\" d=\"M0 %uV14", name, top);
	for (uint32_t i = 0; i < bar->nfrags; i++) {
		offset += bar->frag[i].rf_nob;
		fprintf(out, "M%.1f %uV14", x_of(bar, offset), top);
	}
	fputs("\"/></svg>", out);
}

struct o2_ladder_span o2_ladder_bar_span(const struct o2_ladder_bar *bar, uint64_t addr, uint64_t bytes)
{
	struct o2_ladder_span span = {.nfrags = bar->nfrags, .over = bytes, .total = bar->total};
	uint64_t before = 0;

	for (uint32_t i = 0; bytes != 0 && i < bar->nfrags; before += bar->frag[i++].rf_nob) {
		const struct o2_rdma_frag *frag = &bar->frag[i];
		const uint64_t at = addr - frag->rf_addr; /* huge if the WRITE begins before the fragment */
		uint64_t room;

		if (at >= frag->rf_nob)
			continue;
		room = frag->rf_nob - at;
		span.inside = true;
		span.frag = i;
		span.from = before + at;
		span.to = span.from + (bytes < room ? bytes : room);
		span.over = bytes < room ? 0 : bytes - room;
		break;
	}
	return span;
}

static void add(struct o2_ladder_bar *bar, uint64_t from, uint64_t to)
{
	for (uint32_t i = 0; i < bar->nspans; i++) {
		struct span *span = &bar->span[i];

		if (from > span->to || to < span->from)
			continue;
		span->from = from < span->from ? from : span->from;
		span->to = to > span->to ? to : span->to;
		return;
	}
	if (bar->nspans < SPANS_MAX)
		bar->span[bar->nspans++] = (struct span){from, to};
}

/* Draw what was written before and is now written again. */
static void put_again(const struct o2_ladder_bar *bar, const struct o2_ladder_span *now, FILE *out)
{
	for (uint32_t i = 0; i < bar->nspans; i++) {
		const struct span *had = &bar->span[i];
		const uint64_t from = had->from > now->from ? had->from : now->from;
		const uint64_t to = had->to < now->to ? had->to : now->to;

		if (from < to)
			rectangle(bar, "again", from, to, out);
	}
}

void o2_ladder_bar_write(struct o2_ladder_bar *bar, const struct o2_ladder_span *span, const char *name,
			 FILE *out)
{
	begin(bar, out);
	if (span->inside) {
		rectangle(bar, "now", span->from, span->to, out);
		put_again(bar, span, out);
	}
	if (span->over != 0)
		rectangle(bar, "over", span->inside ? span->to : 0,
			  span->inside && span->over < bar->total ? span->to + span->over : bar->total, out);
	end(name, out);
	if (!span->inside)
		return;
	bar->filled += span->to - span->from;
	add(bar, span->from, span->to);
}

void o2_ladder_bar_end(const struct o2_ladder_bar *bar, uint64_t reported_bytes, const char *name, FILE *out)
{
	begin(bar, out);
	rectangle(bar, reported_bytes == bar->filled ? "status" : "status over", reported_bytes,
		  reported_bytes, out);
	end(name, out);
}
