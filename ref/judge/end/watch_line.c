/* SPDX-License-Identifier: MIT */
#include "judge/end/watch_line.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/hex.h"

static const char *const kinds[] = {
	[O2_WATCHED_REQUEST] = "request", [O2_WATCHED_REPLY] = "reply",
	[O2_WATCHED_REJECT] = "reject",	  [O2_WATCHED_MESSAGE] = "message",
	[O2_WATCHED_WRITE] = "write",	  [O2_WATCHED_DISCONNECT] = "disconnect",
	[O2_WATCHED_GONE] = "gone",
};

#define KINDS (sizeof(kinds) / sizeof(kinds[0]))

void o2_watch_line_put(const struct o2_watched *watched, char text[O2_WATCH_LINE_BYTES])
{
	const size_t length = watched->length_bytes < O2_MSG_BYTES ? watched->length_bytes : O2_MSG_BYTES;
	const size_t count = watched->bytes == NULL ? 0 : length;
	size_t used;

	used = (size_t)snprintf(
		text, O2_WATCH_LINE_BYTES, "wire %" PRIxPTR " %s %s %zu %" PRIx64 " %" PRIx32 " ",
		(uintptr_t)watched->conn, kinds[watched->kind], watched->ours ? "ours" : "theirs",
		watched->length_bytes, watched->addr, watched->rkey);
	assert(used + 2 * count < O2_WATCH_LINE_BYTES);
	if (count == 0)
		snprintf(text + used, O2_WATCH_LINE_BYTES - used, "-");
	else
		o2_hex_put(watched->bytes, count, text + used);
}

/* Read hexadecimal bytes up to the end of the line.  Returns their number; -1: malformed, or too many. */
static int read_bytes(const char *text, uint8_t bytes[O2_MSG_BYTES])
{
	size_t count = 0;

	for (; o2_hex_digit(text[0]) >= 0; text += 2, count++) {
		if (o2_hex_digit(text[1]) < 0 || count == O2_MSG_BYTES)
			return -1;
		bytes[count] = (uint8_t)(o2_hex_digit(text[0]) << 4 | o2_hex_digit(text[1]));
	}
	return *text == '\0' || *text == '\n' ? (int)count : -1;
}

bool o2_watch_line_read(const char *line, uint8_t bytes[O2_MSG_BYTES], struct o2_watched *watched)
{
	char kind[16], side[8];
	uintptr_t name;
	size_t i = 0;
	int at = 0, count;

	*watched = (struct o2_watched){.bytes = NULL};
	if (sscanf(line, "wire %" SCNxPTR " %15s %7s %zu %" SCNx64 " %" SCNx32 " %n", &name, kind, side,
		   &watched->length_bytes, &watched->addr, &watched->rkey, &at) != 6 ||
	    at == 0)
		return false;
	while (i < KINDS && strcmp(kind, kinds[i]) != 0)
		i++;
	watched->kind = (enum o2_watched_kind)i;
	watched->ours = strcmp(side, "ours") == 0;
	memcpy(&watched->conn, &name, sizeof(name));
	if (i == KINDS || (!watched->ours && strcmp(side, "theirs") != 0))
		return false;
	if (line[at] == '-')
		return line[at + 1] == '\0' || line[at + 1] == '\n';
	count = read_bytes(line + at, bytes);
	watched->bytes = bytes;
	return count > 0 && (size_t)count == watched->length_bytes;
}
