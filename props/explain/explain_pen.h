/* SPDX-License-Identifier: MIT */
#ifndef O2_PROPS_EXPLAIN_PEN_H
#define O2_PROPS_EXPLAIN_PEN_H

#include "props/explain/explain_layout.h"

/* What the parts of the picture share: columns, colours, and drawing functions. */

/* Columns: left edge and width. */
#define WIDTH	     1440.0
#define SOURCE_X     100.0
#define PAGE_W	     120.0
#define ENTRY_X	     264.0
#define ENTRY_W	     116.0
#define SOURCE_WIN_X 424.0
#define WIN_W	     130.0
#define SOURCE_FRG_X 558.0
#define FRG_W	     136.0
#define WORK_X	     742.0
#define WORK_W	     96.0
#define SINK_FRG_X   886.0
#define SINK_WIN_X   1026.0
#define SINK_X	     1214.0

#define RED "#d00000"

struct o2_pen {
	const struct o2_explain *explain;
	const struct o2_picture *picture;
	FILE *out;
};

/* The colour of a fragment; UINT32_MAX: for bytes that do not move. */
const char *o2_pen_colour(uint32_t fragment);

/* class: of the document's style sheet.  The text may hold anything but control characters. */
void o2_pen_text(const struct o2_pen *pen, double x, double y, const char *class, const char *format, ...)
	__attribute__((format(printf, 5, 6)));

/* style: SVG attributes.  paint: a colour. */
void o2_pen_rect(const struct o2_pen *pen, double x, double y, double w, double h, const char *style);
void o2_pen_fill(const struct o2_pen *pen, double x, double y, double w, double h, const char *paint);

/* Draw a band from a range on the left to the matching range on the right. */
void o2_pen_band(const struct o2_pen *pen, double x1, double y1, double h1, double x2, double y2, double h2,
		 const char *paint);

/* Draw all columns, without marking what is wrong. */
void o2_pen_columns(const struct o2_pen *pen);

#endif
