/* SPDX-License-Identifier: MIT */
#include "props/check/check_strip.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "oracle/compare.h"

#define SIDE 104.0 /* distance from one side's bars to the next */
#define TOP  44.0

/* Where both answers put the bytes.  Large: allocate it on the heap. */
struct strip {
	const struct o2_check_both *both;
	struct o2_comparison comparison;
	struct o2_error_map map;
	struct o2_stream right[2]; /* reference's; from, to */
};

/* Contiguous bytes from `byte` on, which begin at *place. */
static uint64_t run_at(const struct o2_stream *stream, uint64_t byte, uint64_t *place)
{
	uint32_t i = 0;

	if (byte >= stream->nob)
		return 0;
	while (i + 1 < stream->count && stream->run[i + 1].start <= byte)
		i++;
	*place = stream->run[i].place + (byte - stream->run[i].start);
	return (i + 1 < stream->count ? stream->run[i + 1].start : stream->nob) - byte;
}

/* Number of bytes from `byte` on that have the same fate. */
static uint64_t fate_at(const struct o2_stream *right, const struct o2_stream *found, uint64_t byte,
			enum o2_strip_fate *fate, uint64_t *should, uint64_t *is)
{
	const uint64_t r = run_at(right, byte, should);
	const uint64_t f = run_at(found, byte, is);

	*fate = r == 0		 ? O2_STRIP_TOO_MANY
		: f == 0	 ? O2_STRIP_LOST
		: *should == *is ? O2_STRIP_RIGHT
				 : O2_STRIP_WRONG;
	if (r == 0 || f == 0)
		return r + f;
	return r < f ? r : f;
}

const char *const o2_strip_kinds[O2_STRIP_FATES] = {"right", "wrong", "lost", "wrong"};

void o2_strip_run(double y, double x, double width, const char *kind, FILE *out)
{
	fprintf(out, "<rect class=\"%s\" x=\"%.2f\" y=\"%.1f\" width=\"%.2f\" height=\"%.0f\">", kind, x, y,
		width < 1 ? 1 : width, O2_STRIP_BAR);
}

void o2_strip_label(double x, double y, const char *text, FILE *out)
{
	fprintf(out, "<text x=\"%.0f\" y=\"%.0f\">%s</text>\n", x, y, text);
}

void o2_strip_counts(double y, const char *name, const uint64_t bytes[O2_STRIP_FATES], FILE *out)
{
	char text[160];

	snprintf(text, sizeof(text),
		 "%s: %" PRIu64 " bytes right, %" PRIu64 " wrong, %" PRIu64 " lost, %" PRIu64 " too many",
		 name, bytes[O2_STRIP_RIGHT], bytes[O2_STRIP_WRONG], bytes[O2_STRIP_LOST],
		 bytes[O2_STRIP_TOO_MANY]);
	o2_strip_label(O2_STRIP_LEFT, y, text, out);
}

void o2_strip_open(double height, FILE *out)
{
	fprintf(out,
		"<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"strip\" viewBox=\"0 0 1000 %.0f\" "
		"font-family=\"sans-serif\" font-size=\"13\"><style>.strip .should{fill:#9fb4cc;stroke:#fff}"
		".strip .right{fill:#9fb4cc;stroke:#fff}.strip .wrong{fill:#c8102e;stroke:#fff}"
		".strip .lost{fill:#fff;stroke:#c8102e;stroke-width:2;stroke-dasharray:4 3}"
		".strip .broken{fill:#c8102e}</style>\n",
		height);
	o2_strip_label(O2_STRIP_MARGIN, 24, "what the implementation's answer does with each byte", out);
}

static void put_should(const struct o2_stream *right, double y, double scale, FILE *out)
{
	uint64_t place = 0, length;

	for (uint64_t byte = 0; (length = run_at(right, byte, &place)) > 0; byte += length) {
		o2_strip_run(y, O2_STRIP_LEFT + (double)byte * scale, (double)length * scale, "should", out);
		fprintf(out, "<title>bytes %" PRIu64 " to %" PRIu64 ": at 0x%" PRIx64 "</title></rect>\n",
			byte, byte + length - 1, place);
	}
}

static void put_found(const struct o2_stream *right, const struct o2_stream *found, double y, double scale,
		      uint64_t *bytes, FILE *out)
{
	uint64_t should = 0, is = 0, length;
	enum o2_strip_fate fate;

	for (uint64_t byte = 0; (length = fate_at(right, found, byte, &fate, &should, &is)) > 0;
	     byte += length) {
		bytes[fate] += length;
		o2_strip_run(y, O2_STRIP_LEFT + (double)byte * scale, (double)length * scale,
			     o2_strip_kinds[fate], out);
		fprintf(out, "<title>bytes %" PRIu64 " to %" PRIu64 ": ", byte, byte + length - 1);
		if (fate == O2_STRIP_LOST)
			fprintf(out, "nowhere; should be at 0x%" PRIx64, should);
		else if (fate == O2_STRIP_TOO_MANY)
			fprintf(out, "at 0x%" PRIx64 "; should not be there", is);
		else if (fate == O2_STRIP_WRONG)
			fprintf(out, "at 0x%" PRIx64 "; should be at 0x%" PRIx64, is, should);
		else
			fprintf(out, "at 0x%" PRIx64, is);
		fputs("</title></rect>\n", out);
	}
}

static void put_side(const char *name, const struct o2_stream *right, const struct o2_stream *found, double y,
		     FILE *out)
{
	const uint64_t nob = right->nob > found->nob ? right->nob : found->nob;
	const double scale = O2_STRIP_WIDTH / (double)nob;
	uint64_t bytes[O2_STRIP_FATES] = {0};

	o2_strip_label(O2_STRIP_MARGIN, y + 16, "reference", out);
	put_should(right, y, scale, out);
	o2_strip_label(O2_STRIP_MARGIN, y + O2_STRIP_BAR + 22, "implementation", out);
	put_found(right, found, y + O2_STRIP_BAR + 6, scale, bytes, out);
	o2_strip_counts(y + 2 * O2_STRIP_BAR + 24, name, bytes, out);
}

static const char *name_of(enum o2_stage stage, uint32_t side)
{
	if (stage == O2_STAGE_RDMA_PLAN || stage == O2_STAGE_RDMA_CHAIN || stage == O2_STAGE_TRANSFER)
		return side == 0 ? "where bytes come from" : "where bytes go to";
	return "where bytes are";
}

static bool differs(const struct o2_stream *right, const struct o2_stream *found)
{
	uint64_t byte;

	return o2_stream_differ(right, found, &byte);
}

static void draw(const struct strip *s, FILE *out)
{
	const struct o2_stream *found[] = {&s->comparison.found_from, &s->comparison.found_to};
	double y = TOP;

	o2_strip_open(TOP + SIDE * (differs(&s->right[0], found[0]) + differs(&s->right[1], found[1])), out);
	for (uint32_t i = 0; i < 2; i++) {
		if (!differs(&s->right[i], found[i]))
			continue;
		put_side(name_of(s->both->asked.stage, i), &s->right[i], found[i], y, out);
		y += SIDE;
	}
	fputs("</svg>", out);
}

/* Collect where both answers put the bytes; false: at the same places. */
static bool compare(struct strip *s)
{
	const struct o2_check_both *both = s->both;
	struct o2_comparison *c = &s->comparison;

	c->map = &s->map;
	if (both->expected.kind != O2_ANSWER_RESULT || both->found.kind != O2_ANSWER_RESULT)
		return false;
	/* A message that is sent, not written, would look like lost bytes. */
	if (both->asked.stage == O2_STAGE_RDMA_CHAIN &&
	    !o2_chain_writes(&both->asked.chain, &both->found.chain, &c->exact.rdma))
		return false;
	/* Compare the reference with itself first: a comparison with a broken answer stops early. */
	o2_compare_answers(c, &both->asked, &both->expected, &both->expected);
	s->right[0] = c->found_from;
	s->right[1] = c->found_to;
	o2_stream_clear(&c->found_from);
	o2_stream_clear(&c->found_to);
	o2_compare_answers(c, &both->asked, &both->expected, &both->found);
	return differs(&s->right[0], &c->found_from) || differs(&s->right[1], &c->found_to);
}

static void draw_streams(const struct o2_check_both *both, FILE *out)
{
	struct strip *s = calloc(1, sizeof(*s));

	if (s == NULL)
		return;
	s->both = both;
	if (compare(s))
		draw(s, out);
	free(s);
}

json_t *o2_check_strip(const struct o2_check_both *both)
{
	char *bytes = NULL;
	size_t length = 0;
	FILE *out = open_memstream(&bytes, &length);
	json_t *text = NULL;

	if (out != NULL && both->asked.stage == O2_STAGE_SEND_PLAN)
		o2_check_strip_send(both, out);
	else if (out != NULL)
		draw_streams(both, out);
	if (out != NULL && fclose(out) == 0 && length > 0)
		text = json_stringn_nocheck(bytes, length);
	free(bytes);
	return text == NULL ? json_null() : text;
}
