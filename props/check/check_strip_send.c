/* SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "oracle/compare.h"
#include "props/check/check_strip.h"
#include "wire/bytes.h"
#include "wire/checksum.h"
#include "wire/layout.h"

/*
 * A posted message: the bytes of its gather entries, entry by entry, compared with those that must arrive. Only
 * bytes are compared, not addresses, as the reference may copy what the implementation gathers.
 */

#define TOP    44.0
#define ENTRY  18.0 /* height of a text line about an entry */
#define SHOWN  6u   /* most text lines */
#define HEIGHT (TOP + 2 * O2_STRIP_BAR + 34.0)

/* What both answers gather.  Large: allocate it on the heap. */
struct gathered {
	const struct o2_case_send *asked;
	const struct o2_answer_send *answer[2]; /* the reference's, the implementation's */
	struct o2_answer_bytes right, found;	/* found: at most as long as a message */
	bool none[O2_MSG_BYTES];		/* the entry provides no such byte */
	uint64_t over;				/* bytes beyond the end of a message */
	bool sum_is_right;
	bool unmapped[O2_SEND_SGE]; /* the entry names memory that the device does not have */
	struct o2_stream stream;
	uint64_t bytes[O2_STRIP_FATES];
};

/* How many bytes of an entry fit into a message behind `begin`. */
static uint32_t part_of(const struct o2_impl_gather *sge, uint32_t begin)
{
	const uint32_t room = O2_MSG_BYTES - begin;

	return sge->length < room ? sge->length : room;
}

static void gather(struct gathered *g)
{
	const struct o2_answer_send *answer = g->answer[1];
	uint32_t *nob = &g->found.length_bytes;

	for (uint32_t i = 0; i < answer->nsge; i++) {
		const uint32_t part = part_of(&answer->sge[i], *nob);
		enum o2_check_id unmapped;
		const uint32_t got = o2_send_gather(g->asked, answer, i, part, &g->stream,
						    g->found.bytes + *nob, &unmapped);

		g->unmapped[i] = got == answer->sge[i].length && unmapped != O2_CHECKS;
		/* A missing byte is red.  Use the right value, so that the sum does not become wrong too. */
		for (uint32_t k = *nob + got; k < *nob + part; k++) {
			g->none[k] = true;
			g->found.bytes[k] = g->right.bytes[k];
		}
		*nob += part;
		g->over += answer->sge[i].length - part;
	}
}

/* Check the sum over the bytes that exist, even if they are wrong. */
static void look_at_sum(struct gathered *g)
{
	const struct o2_msg *msg = &g->asked->msg;
	uint32_t nob = g->found.length_bytes;

	while (nob > g->right.length_bytes && g->none[nob - 1])
		nob--;
	if (nob >= O2_MSG_HEADER_BYTES)
		g->sum_is_right =
			o2_load32(g->found.bytes + O2_AT_CKSUM, msg->order) ==
			o2_checksum_of(o2_msg_checksum_both(g->found.bytes, nob), msg->cksum_flavour);
}

static enum o2_strip_fate fate_of(const struct gathered *g, uint32_t byte)
{
	if (byte >= g->right.length_bytes)
		return O2_STRIP_TOO_MANY;
	if (byte >= g->found.length_bytes)
		return O2_STRIP_LOST;
	if (g->none[byte])
		return O2_STRIP_WRONG;
	if (byte >= O2_AT_CKSUM && byte < O2_AT_CKSUM + 4)
		return g->sum_is_right ? O2_STRIP_RIGHT : O2_STRIP_WRONG;
	return g->found.bytes[byte] == g->right.bytes[byte] ? O2_STRIP_RIGHT : O2_STRIP_WRONG;
}

static void count(struct gathered *g)
{
	for (uint32_t i = 0; i < g->right.length_bytes || i < g->found.length_bytes; i++)
		g->bytes[fate_of(g, i)]++;
	g->bytes[O2_STRIP_TOO_MANY] += g->over;
}

/* --- drawing --- */

static void put_gathered_from(const struct gathered *g, const struct o2_impl_gather *sge, FILE *out)
{
	const bool slot = o2_case_in_slot(g->asked, sge);

	fprintf(out, "%s 0x%" PRIx64 ", key 0x%" PRIx32, slot ? "the slot at" : "what is registered at",
		sge->addr, sge->lkey);
}

/* Write the title of a range of an entry whose bytes have one fate, and end its <rect>. */
static void put_stretch(const struct gathered *g, uint32_t entry, uint32_t first, uint32_t end,
			enum o2_strip_fate fate, FILE *out)
{
	fprintf(out, "<title>entry %" PRIu32 ", bytes %" PRIu32 " to %" PRIu32 " of the message: ", entry,
		first, end - 1);
	put_gathered_from(g, &g->answer[1]->sge[entry], out);
	if (g->none[first])
		fputs("; there are no such bytes", out);
	else if (fate == O2_STRIP_WRONG)
		fprintf(out, "; byte %" PRIu32 " is 0x%02x, should be 0x%02x", first, g->found.bytes[first],
			g->right.bytes[first]);
	else if (fate == O2_STRIP_TOO_MANY)
		fputs("; should not be there", out);
	fputs("</title></rect>\n", out);
}

static void put_found(const struct gathered *g, double y, double scale, FILE *out)
{
	const uint32_t nob = g->found.length_bytes, right = g->right.length_bytes;
	uint32_t begin = 0;

	for (uint32_t i = 0; i < g->answer[1]->nsge; i++) {
		const uint32_t end = begin + part_of(&g->answer[1]->sge[i], begin);

		for (uint32_t first = begin, next; first < end; first = next) {
			const enum o2_strip_fate fate = fate_of(g, first);

			for (next = first + 1;
			     next < end && fate_of(g, next) == fate && g->none[next] == g->none[first];
			     next++)
				;
			o2_strip_run(y, O2_STRIP_LEFT + first * scale, (next - first) * scale,
				     o2_strip_kinds[fate], out);
			put_stretch(g, i, first, next, fate, out);
		}
		begin = end;
	}
	if (g->over > 0) {
		o2_strip_run(y, O2_STRIP_LEFT + O2_STRIP_WIDTH, O2_STRIP_MARGIN - 6,
			     o2_strip_kinds[O2_STRIP_TOO_MANY], out);
		fprintf(out, "<title>%" PRIu64 " bytes more than a message can have</title></rect>\n",
			g->over);
	}
	if (nob < right) {
		o2_strip_run(y, O2_STRIP_LEFT + nob * scale, (right - nob) * scale,
			     o2_strip_kinds[O2_STRIP_LOST], out);
		fprintf(out,
			"<title>bytes %" PRIu32 " to %" PRIu32
			" of the message: no entry has them</title></rect>\n",
			nob, right - 1);
	}
}

static void put_should(const struct gathered *g, double scale, FILE *out)
{
	uint32_t begin = 0;

	for (uint32_t i = 0; i < g->answer[0]->nsge; i++) {
		const struct o2_impl_gather *sge = &g->answer[0]->sge[i];

		o2_strip_run(TOP, O2_STRIP_LEFT + begin * scale, sge->length * scale, "should", out);
		fprintf(out, "<title>entry %" PRIu32 ", bytes %" PRIu32 " to %" PRIu32 " of the message: ", i,
			begin, begin + sge->length - 1);
		put_gathered_from(g, sge, out);
		fputs("</title></rect>\n", out);
		begin += sge->length;
	}
}

/* Write a line in red about an entry.  out NULL: only count it. */
static void put_line(double y, uint32_t *lines, const char *text, FILE *out)
{
	if (out != NULL)
		fprintf(out, "<text class=\"broken\" x=\"%.0f\" y=\"%.0f\">%s</text>\n", O2_STRIP_LEFT,
			y + *lines * ENTRY, text);
	(*lines)++;
}

static uint32_t put_broken(const struct gathered *g, double y, FILE *out)
{
	const struct o2_answer_send *answer = g->answer[1];
	uint32_t lines = 0;
	char text[80];

	if (answer->nsge == 0 || answer->nsge > g->asked->max_sge) {
		snprintf(text, sizeof(text), "%" PRIu32 " entries, expected 1 to %" PRIu32, answer->nsge,
			 g->asked->max_sge);
		put_line(y, &lines, text, out);
	}
	for (uint32_t i = 0; i < answer->nsge && lines < SHOWN; i++) {
		if (answer->sge[i].length == 0)
			snprintf(text, sizeof(text), "entry %" PRIu32 " has no bytes", i);
		else if (g->unmapped[i])
			snprintf(text, sizeof(text), "entry %" PRIu32 " gathers what is not mapped", i);
		else
			continue;
		put_line(y, &lines, text, out);
	}
	return lines;
}

static void draw(const struct gathered *g, FILE *out)
{
	const uint32_t broken = put_broken(g, 0, NULL);
	const uint32_t right = g->right.length_bytes, found = g->found.length_bytes;
	const double scale = O2_STRIP_WIDTH / (right > found ? right : found), below = TOP + O2_STRIP_BAR + 6;

	o2_strip_open(HEIGHT + broken * ENTRY, out);
	o2_strip_label(O2_STRIP_MARGIN, TOP + 16, "reference", out);
	put_should(g, scale, out);
	o2_strip_label(O2_STRIP_MARGIN, below + 16, "implementation", out);
	put_found(g, below, scale, out);
	o2_strip_counts(HEIGHT - 10, "the message as it is gathered", g->bytes, out);
	(void)put_broken(g, HEIGHT - 10 + ENTRY, out);
	fputs("</svg>", out);
}

void o2_check_strip_send(const struct o2_check_both *both, FILE *out)
{
	struct gathered *g;

	if (both->expected.kind != O2_ANSWER_RESULT || both->found.kind != O2_ANSWER_RESULT)
		return;
	g = calloc(1, sizeof(*g));
	if (g == NULL)
		return;
	g->asked = &both->asked.send;
	g->answer[0] = &both->expected.send;
	g->answer[1] = &both->found.send;
	o2_send_message(g->asked, g->answer[0], &g->right);
	gather(g);
	look_at_sum(g);
	count(g);
	if (g->bytes[O2_STRIP_RIGHT] < g->right.length_bytes || g->bytes[O2_STRIP_TOO_MANY] > 0 ||
	    put_broken(g, 0, NULL) > 0)
		draw(g, out);
	free(g);
}
