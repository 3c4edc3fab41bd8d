/* SPDX-License-Identifier: MIT */
#include "props/talk/wrap/alloc_fault.h"

#include <errno.h>
#include <malloc.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#define SPOILT_BYTES 4096u /* only the start of large pieces, because touching pages takes time */

/* Names defined by the linker (ld(1), --wrap). */
void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *piece, size_t size);
void *__wrap_realloc(void *piece, size_t size);
void *__real_aligned_alloc(size_t alignment, size_t size);
void *__wrap_malloc(size_t size);
void *__wrap_aligned_alloc(size_t alignment, size_t size);
void *__wrap_calloc(size_t count, size_t size);
FILE *__real_open_memstream(char **text, size_t *bytes);
FILE *__wrap_open_memstream(char **text, size_t *bytes);
void __real_free(void *piece);
void __wrap_free(void *piece);

static uint32_t left;
static bool fired;
static int64_t live;

void o2_alloc_fault_arm(uint32_t nth)
{
	left = nth;
	fired = false;
}

uint32_t o2_alloc_fault_hold(void)
{
	const uint32_t held = left;

	left = 0;
	return held;
}

void o2_alloc_fault_go_on(uint32_t held)
{
	left = held;
}

bool o2_alloc_fault_fired(void)
{
	const bool it_has = fired;

	fired = false;
	return it_has;
}

int64_t o2_alloc_live(void)
{
	return live;
}

static void *counted(void *piece)
{
	live += piece != NULL;
	return piece;
}

/* Fill new memory: programs must not rely on its content. */
static void *spoilt(void *piece, size_t size)
{
	return piece == NULL ? NULL : memset(piece, 0xa5, size < SPOILT_BYTES ? size : SPOILT_BYTES);
}

static bool fails(void)
{
	if (left == 0 || --left > 0)
		return false;
	fired = true;
	errno = ENOMEM;
	return true;
}

void *__wrap_malloc(size_t size)
{
	return fails() ? NULL : counted(spoilt(__real_malloc(size), size));
}

void *__wrap_calloc(size_t count, size_t size)
{
	return fails() ? NULL : counted(__real_calloc(count, size));
}

void *__wrap_realloc(void *piece, size_t size)
{
	const size_t before = piece == NULL ? 0 : malloc_usable_size(piece);
	char *other;

	if (fails())
		return NULL;
	other = __real_realloc(piece, size);
	if (other != NULL && size > before)
		spoilt(other + before, size - before);
	return piece == NULL ? counted(other) : other;
}

void *__wrap_aligned_alloc(size_t alignment, size_t size)
{
	return fails() ? NULL : counted(spoilt(__real_aligned_alloc(alignment, size), size));
}

/* The caller frees the stream's buffer, so it counts as one allocation. */
FILE *__wrap_open_memstream(char **text, size_t *bytes)
{
	return fails() ? NULL : counted(__real_open_memstream(text, bytes));
}

void __wrap_free(void *piece)
{
	live -= piece != NULL;
	__real_free(piece);
}
