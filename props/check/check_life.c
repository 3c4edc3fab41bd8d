/* SPDX-License-Identifier: MIT */
#include "props/check/check_life.h"

#include <stdlib.h>

void o2_check_life_open(FILE *out, int width, int height)
{
	fprintf(out,
		"<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"life\" viewBox=\"0 0 %d %d\" "
		"style=\"width:%dpx;min-width:%dpx\" font-family=\"sans-serif\" font-size=\"12\" "
		"fill=\"#222\">\n",
		width, height, width, width);
}

void o2_check_life_text(FILE *out, int x, int y, bool differs, const char *text)
{
	fprintf(out, "<text x=\"%d\" y=\"%d\"%s>%s</text>\n", x, y,
		differs ? " fill=\"" O2_LIFE_RED "\" font-weight=\"bold\"" : "", text);
}

json_t *o2_check_life(const struct o2_check_both *both)
{
	static void (*const draws[O2_STAGES])(const struct o2_check_both *both, FILE *out) = {
		[O2_STAGE_KEYS] = o2_check_life_keys,
		[O2_STAGE_SETUP] = o2_check_life_setup,
		[O2_STAGE_FLOW] = o2_check_life_flow,
	};
	char *bytes = NULL;
	size_t length = 0;
	json_t *text = NULL;
	FILE *out;

	if (draws[both->asked.stage] == NULL || both->expected.kind != O2_ANSWER_RESULT ||
	    both->found.kind != O2_ANSWER_RESULT)
		return json_null();
	out = open_memstream(&bytes, &length);
	if (out != NULL)
		draws[both->asked.stage](both, out);
	if (out != NULL && fclose(out) == 0)
		text = json_stringn_nocheck(bytes, length);
	free(bytes);
	return text == NULL ? json_null() : text;
}
