/* SPDX-License-Identifier: MIT */
#include "props/explain/explain_pen.h"

#include <stdarg.h>

#include "base/markup.h"

/* Colour of bytes that do not move: beside the buffer, or beyond the transfer. */
#define IDLE "#e4e4e4"

const char *o2_pen_colour(uint32_t fragment)
{
	static const char *const palette[] = {"#8ecae6", "#ffc971", "#a3d9a5", "#cdb4db",
					      "#90d5c9", "#e0d68a", "#b8c4e0", "#d8b79a"};

	return fragment == UINT32_MAX ? IDLE : palette[fragment % (sizeof(palette) / sizeof(palette[0]))];
}

void o2_pen_text(const struct o2_pen *pen, double x, double y, const char *class, const char *format, ...)
{
	char words[400];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(words, sizeof(words), format, arguments);
	va_end(arguments);
	fprintf(pen->out, "<text x=\"%.1f\" y=\"%.1f\"", x, y);
	o2_markup(pen->out, " class=\"%s\">%s</text>\n", class, words);
}

void o2_pen_rect(const struct o2_pen *pen, double x, double y, double w, double h, const char *style)
{
	fprintf(pen->out, "<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" %s/>\n", x, y, w, h,
		style);
}

void o2_pen_fill(const struct o2_pen *pen, double x, double y, double w, double h, const char *paint)
{
	char style[64];

	snprintf(style, sizeof(style), "fill=\"%s\"", paint);
	o2_pen_rect(pen, x, y, w, h, style);
}

void o2_pen_band(const struct o2_pen *pen, double x1, double y1, double h1, double x2, double y2, double h2,
		 const char *paint)
{
	double middle = (x1 + x2) / 2;

	fprintf(pen->out,
		"<path d=\"M%.1f %.1fC%.1f %.1f %.1f %.1f %.1f %.1fV%.1fC%.1f %.1f %.1f %.1f %.1f %.1fZ\" "
		"fill=\"%s\" opacity=\".35\"/>\n",
		x1, y1, middle, y1, middle, y2, x2, y2, y2 + h2, middle, y2 + h2, middle, y1 + h1, x1,
		y1 + h1, paint);
}
