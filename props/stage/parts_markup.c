/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "base/markup.h"
#include "props/stage/parts_internal.h"

/* Text in markup: pieces of text, each with its escaped form according to ref/base/markup.h. */

#define PIECES	    6u
#define PIECE_BYTES 5u
#define ENTITY	    6u

struct piece {
	uint32_t n;
	uint8_t byte[PIECE_BYTES];
	char becomes[PIECE_BYTES * ENTITY + 1];
};

/* Encode a character in n bytes of UTF-8, which may be more than it needs. */
static void encode(uint32_t character, uint32_t n, struct piece *piece)
{
	static const uint8_t starts[] = {0, 0, 0xc0, 0xe0, 0xf0};

	piece->n = n;
	for (uint32_t i = n; i-- > 1; character >>= 6)
		piece->byte[i] = (uint8_t)(0x80 | (character & 0x3f));
	piece->byte[0] = (uint8_t)(starts[n] | character);
}

static void becomes_itself(struct piece *piece)
{
	memcpy(piece->becomes, piece->byte, piece->n);
	piece->becomes[piece->n] = '\0';
}

static void becomes_marks(struct piece *piece)
{
	memset(piece->becomes, '?', piece->n);
	piece->becomes[piece->n] = '\0';
}

static void draw_ascii(struct o2_choice *c, struct piece *piece)
{
	static const char edges[] = {'<', '>', '&', '"', '\n', 0x7f, 0x1f, ' ', '\'', '~', '%', '\t'};
	const bool edge = o2_draw_bool(c, 1, 1);
	const char one = edge ? edges[o2_draw_pick(c, sizeof(edges))] : (char)o2_draw_range(c, 1, 0x7f);
	const char *entity = one == '<' ? "&lt;" : one == '>' ? "&gt;" : one == '&' ? "&amp;" : "&quot;";

	piece->n = 1;
	piece->byte[0] = (uint8_t)one;
	becomes_itself(piece);
	if (one == '<' || one == '>' || one == '&' || one == '"')
		strcpy(piece->becomes, entity);
	else if ((one < ' ' && one != '\n') || one == 0x7f)
		piece->becomes[0] = '\0';
}

struct edge {
	uint32_t character, bytes;
};

static void draw_character(struct o2_choice *c, struct piece *piece)
{
	static const struct edge good[] = {{0x80, 2},	{0x7ff, 2},  {0x800, 3},   {0xd7ff, 3},
					   {0xe000, 3}, {0xfffd, 3}, {0x10000, 4}, {0x10ffff, 4},
					   {0xe9, 2},	{0x20ac, 3}, {0x1f600, 4}};
	const struct edge *edge = &good[o2_draw_pick(c, sizeof(good) / sizeof(good[0]))];

	encode(edge->character, edge->bytes, piece);
	becomes_itself(piece);
}

/* Draw an invalid sequence: too long, not a character, or a character that XML does not permit. */
static void draw_none(struct o2_choice *c, struct piece *piece)
{
	static const struct edge bad[] = {{0, 2},      {0x7f, 2},   {0x7ff, 3},	 {0x41, 3},   {0xffff, 4},
					  {0xd800, 3}, {0xdfff, 3}, {0xfffe, 3}, {0xffff, 3}, {0x110000, 4}};
	static const uint8_t alone[] = {0x80, 0xbf, 0xf8, 0xff};
	const struct edge *edge = &bad[o2_draw_pick(c, sizeof(bad) / sizeof(bad[0]))];
	const size_t pick = o2_draw_pick(c, 2 * sizeof(alone));

	encode(edge->character, edge->bytes, piece);
	if (pick < sizeof(alone)) {
		piece->n = 1;
		piece->byte[0] = alone[pick];
	}
	becomes_marks(piece);
}

/* Draw a truncated character; if another piece follows, a letter follows it. */
static void draw_cut(struct o2_choice *c, bool last, struct piece *piece)
{
	draw_character(c, piece);
	piece->n = (uint32_t)o2_draw_range(c, 1, piece->n - 1);
	becomes_marks(piece);
	if (last)
		return;
	strcat(piece->becomes, "x");
	piece->byte[piece->n++] = 'x';
}

static void check_same(struct o2_report *report, const char *what, const char *found, size_t length_bytes,
		       const char *expected)
{
	if (length_bytes != strlen(expected) || memcmp(found, expected, length_bytes) != 0)
		o2_report_fail(report, "parts/markup", "%s: '%.*s', expected '%s'", what, (int)length_bytes,
			       found, expected);
}

void o2_parts_markup(struct o2_parts_run *run, struct o2_choice *c, struct o2_report *report)
{
	char text[PIECES * PIECE_BYTES + 3] = "", becomes[PIECES * PIECE_BYTES * ENTITY] = "";
	char expected[2 * sizeof(becomes) + 32], *found = NULL;
	const uint64_t pieces = o2_draw(c, PIECES);
	size_t length_bytes = 0, found_bytes = 0;
	struct piece piece;
	FILE *out;

	for (uint64_t i = 0; i < pieces; i++) {
		const uint64_t kind = o2_draw(c, 3);

		if (kind == 0)
			draw_ascii(c, &piece);
		else if (kind == 1)
			draw_character(c, &piece);
		else if (kind == 2)
			draw_none(c, &piece);
		else
			draw_cut(c, i + 1 == pieces, &piece);
		memcpy(text + length_bytes, piece.byte, piece.n);
		length_bytes += piece.n;
		strcat(becomes, piece.becomes);
	}
	for (size_t i = 0; i < length_bytes; i++)
		snprintf(run->text + 2 * i, 3, "%02x", (uint8_t)text[i]);
	out = open_memstream(&found, &found_bytes);
	if (out == NULL)
		return;
	o2_markup(out, "<a b=\"%s\">%s</a>", text, text);
	fclose(out);
	snprintf(expected, sizeof(expected), "<a b=\"%s\">%s</a>", becomes, becomes);
	check_same(report, "markup", found, found_bytes, expected);
	free(found);
	/* Bytes after the text must not be read, though they would complete a truncated character. */
	memset(text + length_bytes, 0xa0, 3);
	out = open_memstream(&found, &found_bytes);
	if (out == NULL)
		return;
	o2_markup_text(text, length_bytes, out);
	fclose(out);
	check_same(report, "text", found, found_bytes, becomes);
	free(found);
	run->tally.seen[O2_PARTS_MARKUP]++;
}
