/* SPDX-License-Identifier: MIT */
#include "base/json_read.h"

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"

/* More than the least that jansson allocates when a token grows. */
#define LEAST_BYTES 64u

/*
 * The input, read a byte at a time: so one piece from the reserve is all that jansson can need before it sees the
 * end of its input.
 */
struct source {
	const char *text;
	size_t left_bytes;
	FILE *file; /* NULL: read the text */
	int failed; /* errno if the file could not be read */
};

/* The state of the allocation functions, which jansson calls without a context. */
static struct {
	json_malloc_t allocate;
	json_free_t release;
	void *reserve;
	size_t reserve_bytes, fed_bytes;
	bool is_short; /* memory was short: the reserve is used, or there is none */
} now;

static void *allocate(size_t bytes)
{
	void *piece = now.allocate(bytes);

	if (piece != NULL || now.is_short)
		return piece;
	now.is_short = true;
	return bytes <= now.reserve_bytes ? now.reserve : NULL;
}

static void release(void *piece)
{
	if (piece != now.reserve)
		now.release(piece);
}

/* A token is no longer than the bytes fed so far, and at most doubles when it grows. */
static bool reserve_enough(void)
{
	const size_t needed = LEAST_BYTES + 2 * now.fed_bytes;

	if (needed <= now.reserve_bytes)
		return true;
	now.release(now.reserve);
	now.reserve = now.allocate(2 * needed);
	now.reserve_bytes = now.reserve == NULL ? 0 : 2 * needed;
	now.is_short = now.reserve == NULL;
	return !now.is_short;
}

static size_t feed(void *buffer, size_t size, void *context)
{
	struct source *source = context;
	int next;

	(void)size;
	if (now.is_short || !reserve_enough())
		return 0;
	if (source->file == NULL) {
		if (source->left_bytes == 0)
			return 0;
		source->left_bytes--;
		next = (unsigned char)*source->text++;
	} else {
		errno = 0;
		next = getc(source->file);
		if (next == EOF) {
			source->failed = ferror(source->file) ? -o2_errno_or(errno, EIO) : 0;
			return 0;
		}
	}
	now.fed_bytes++;
	*(unsigned char *)buffer = (unsigned char)next;
	return 1;
}

static void tell(json_error_t *where, const char *why)
{
	memset(where, 0, sizeof(*where));
	snprintf(where->text, sizeof(where->text), "%s", why);
}

static json_t *read_from(struct source *source, size_t flags, json_error_t *where)
{
	json_t *value;

	memset(&now, 0, sizeof(now));
	json_get_alloc_funcs(&now.allocate, &now.release);
	json_set_alloc_funcs(allocate, release);
	value = json_load_callback(feed, source, flags, where);
	if (now.is_short || source->failed != 0) {
		json_decref(value);
		value = NULL;
		tell(where, now.is_short ? "not enough memory" : strerror(source->failed));
	}
	json_set_alloc_funcs(now.allocate, now.release);
	now.release(now.reserve);
	return value;
}

json_t *o2_json_read(const char *text, size_t length_bytes, size_t flags, json_error_t *where)
{
	struct source source = {.text = text, .left_bytes = length_bytes};

	return read_from(&source, flags, where);
}

json_t *o2_json_read_file(const char *path, size_t flags, json_error_t *where)
{
	struct source source = {.file = fopen(path, "rb")};
	json_t *value;

	if (source.file == NULL) {
		tell(where, strerror(errno));
		return NULL;
	}
	value = read_from(&source, flags, where);
	fclose(source.file);
	return value;
}

/* --- the arena --- */

static struct {
	_Alignas(max_align_t) uint8_t bytes[1u << 18];
	size_t used_bytes; /* more than there are: the last pieces are jansson's own, and are freed one by one */
	json_malloc_t allocate;
	json_free_t release;
} arena;

static void *take(size_t bytes)
{
	const size_t at = arena.used_bytes;

	arena.used_bytes += (bytes + sizeof(max_align_t) - 1) / sizeof(max_align_t) * sizeof(max_align_t);
	return arena.used_bytes <= sizeof(arena.bytes) ? arena.bytes + at : arena.allocate(bytes);
}

static void give_back(void *piece)
{
	if ((uintptr_t)piece - (uintptr_t)arena.bytes >= sizeof(arena.bytes))
		arena.release(piece);
}

void o2_json_arena_begin(void)
{
	arena.used_bytes = 0;
	json_get_alloc_funcs(&arena.allocate, &arena.release);
	json_set_alloc_funcs(take, give_back);
}

void o2_json_arena_end(json_t *value)
{
	if (arena.used_bytes > sizeof(arena.bytes))
		json_decref(value);
	json_set_alloc_funcs(arena.allocate, arena.release);
}

const char *o2_json_where(const json_error_t *where, char *text, size_t text_bytes)
{
	if (where->line == 0)
		snprintf(text, text_bytes, "%s", where->text);
	else
		snprintf(text, text_bytes, "%s (line %d)", where->text, where->line);
	return text;
}
