/* SPDX-License-Identifier: MIT */
/* The expected layout of a command's help. */
#include <string.h>

#include "props/stage/parts_internal.h"

#define COLUMNS 98u /* most columns of a line */
#define TEXT_AT 21u /* column where an option's description begins */

void o2_parts_fill(FILE *out, const char *text, size_t column, size_t indent)
{
	bool begun = false;

	while (*text != '\0') {
		const size_t length = strcspn(text, " \n");

		if (begun && column + 1 + length > COLUMNS) {
			fprintf(out, "\n%*s", (int)indent, "");
			column = indent;
			begun = false;
		}
		if (begun)
			fputc(' ', out);
		column += begun + length;
		begun = true;
		fwrite(text, 1, length, out);
		text += length;
		if (*text == ' ')
			text++;
		while (*text == '\n') {
			fputc('\n', out);
			text++;
			column = indent;
			begun = false;
			if (*text != '\n')
				fprintf(out, "%*s", (int)indent, "");
		}
	}
	fputc('\n', out);
}

void o2_parts_fill_row(FILE *out, const char *name, const char *value, const char *help)
{
	const size_t used = 2 + strlen(name) + (value == NULL ? 0 : 1 + strlen(value));

	fprintf(out, "  %s%s%s", name, value == NULL ? "" : " ", value == NULL ? "" : value);
	fprintf(out, used >= TEXT_AT ? "\n%*s" : "%*s", (int)(used >= TEXT_AT ? TEXT_AT : TEXT_AT - used),
		"");
	o2_parts_fill(out, help, TEXT_AT, TEXT_AT);
}

/* The list for command-line completion of property parts' own command (props/stage/parts_options.c). */
void o2_parts_list(FILE *out, unsigned int which)
{
	static const char colours[] = "red green blue";

	if (which == 0)
		fputs("A\n[OPTIONS]\n", out);
	fputs("--one\tN\t\n--two\tN\t\n--four-bytes-of-a-number\tNUMBER\t\n--eight\tN\t\n", out);
	if ((which & 1) != 0)
		fputs("--flag\t-\t\n", out);
	fprintf(out, "--set\t-\t\n--text\tT\t\n--named\tCOLOUR\t%s\n--name\tCOLOUR\t%s\n", colours, colours);
	if ((which & 2) != 0)
		fprintf(out, "--place\tCOLOUR\t%s\n", colours);
	fprintf(out, "--names\tA,B\t%s\n--read\tR\t\n--help\t-\t\n", colours);
}
