/* SPDX-License-Identifier: MIT */
#include "oracle/backtrace.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/json.h"
#include "base/monotonic.h"
#include "oracle/answer.h"
#include "oracle/child.h"

#define LINE_BYTES 512u
#define FIRST	   7u	  /* index of the first address in addr2line's arguments */
#define ANSWER_MS  10000u /* time limit for addr2line: debug information may be large */

/*
 * Run addr2line and return its output.  For each frame addr2line writes a line with the address.  Two lines
 * follow, function and place, for each call that was inlined at this address, innermost first.
 */
static size_t ask_addr2line(const char *object, const uint64_t *frame, uint32_t nframes, char *text,
			    size_t text_bytes)
{
	char addr[O2_ANSWER_FRAMES][24];
	char *argv[O2_ANSWER_FRAMES + 8] = {"addr2line", "-a", "-i", "-f", "-s", "-e", (char *)object};
	const uint64_t until_ms = o2_monotonic_ms() + ANSWER_MS;
	struct o2_child child;
	int in, out, status;
	size_t used = 0;
	ssize_t n;

	for (uint32_t i = 0; i < nframes; i++) {
		snprintf(addr[i], sizeof(addr[i]), "0x%llx", (unsigned long long)frame[i]);
		argv[FIRST + i] = addr[i];
	}
	switch (o2_child_fork(&child, &in, &out)) {
	case 0:
		break;
	case 1:
		dup2(in, STDIN_FILENO);
		dup2(out, STDOUT_FILENO);
		execvp(argv[0], argv);
		_exit(127);
	default:
		return 0;
	}
	while (used + 1 < text_bytes && o2_child_wait(&child, until_ms) == 1 &&
	       (n = TEMP_FAILURE_RETRY(read(child.from, text + used, text_bytes - 1 - used))) > 0)
		used += (size_t)n;
	o2_child_end(&child, &status);
	text[used] = '\0';
	return used;
}

/* The next line, NUL-terminated; NULL at the end of the text. */
static char *next_line(char **rest)
{
	char *line = *rest;
	char *end = line == NULL ? NULL : strchr(line, '\n');

	if (end == NULL)
		return NULL;
	*end = '\0';
	*rest = end + 1;
	return line;
}

/* The place may end with " (discriminator N)", which names a block within the line; it is dropped. */
static json_t *call_text(const char *function, const char *place, const char *object, uint64_t frame)
{
	const char *slash = strrchr(object, '/');
	const char *block = place == NULL ? NULL : strstr(place, " (discriminator ");
	char text[2 * LINE_BYTES];

	if (block != NULL)
		snprintf(text, sizeof(text), "%.500s at %.*s", function, (int)(block - place), place);
	else if (place != NULL && place[0] != '?')
		snprintf(text, sizeof(text), "%.500s at %.500s", function, place);
	else if (function != NULL && function[0] != '?')
		snprintf(text, sizeof(text), "%.500s", function);
	else
		snprintf(text, sizeof(text), "%.500s+0x%llx", slash == NULL ? object : slash + 1,
			 (unsigned long long)frame);
	return o2_json_text(text);
}

json_t *o2_backtrace(const char *object, const uint64_t *frame, uint32_t nframes)
{
	char text[O2_ANSWER_FRAMES * LINE_BYTES];
	char *rest = ask_addr2line(object, frame, nframes, text, sizeof(text)) == 0 ? NULL : text;
	const char *function = next_line(&rest);
	json_t *list = json_array();

	for (uint32_t i = 0; i < nframes; i++) {
		bool any = false;

		/* Read the lines between this frame's address line and that of the next frame. */
		while (function != NULL && (function = next_line(&rest)) != NULL &&
		       strncmp(function, "0x", 2) != 0) {
			json_array_append_new(list, call_text(function, next_line(&rest), object, frame[i]));
			any = true;
		}
		if (!any)
			json_array_append_new(list, call_text(NULL, NULL, object, frame[i]));
	}
	return list;
}
