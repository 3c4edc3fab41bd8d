/* SPDX-License-Identifier: MIT */
#ifndef O2REF_GUARD_H
#define O2REF_GUARD_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/*
 * An allocator that places each array between inaccessible pages.  An implementation uses it for its own
 * arrays in a build that is tested with `o2ref check` (docs/oracle.md, "Your own arrays").
 *
 * Arrays that the oracle passes to an implementation lie between such pages already.  With this header, a
 * read or write behind the end of an array crashes at the instruction that does it, and so does any use of
 * the array after o2_guard_free().  o2_guard_free() also detects bytes that were written in front of the
 * array, or into the padding between its end and the alignment.
 *
 * The header is self-contained and needs POSIX only.  If O2_GUARD_ALL is defined before the header is
 * included, malloc, calloc, realloc, strdup, strndup and free in that source file are replaced by these
 * functions; aligned_alloc, posix_memalign and reallocarray do not compile there:
 *
 *   cc -DO2_GUARD_ALL -include o2ref/guard.h -shared -fPIC -g -o mine.so mine.c $(pkg-config --cflags o2ref)
 *
 * Memory from o2_guard_alloc() must be freed with o2_guard_free(), and nothing else may be: the C library's
 * own memory (of getline, asprintf, open_memstream) is not to be freed in a file in which free is replaced.
 * `o2ref check` does not see this memory when it looks for leaks (run/leak).  Each array takes four pages or more, so
 * the allocator is not meant for production.
 */

#define O2_GUARD_ALIGN	16u
#define O2_GUARD_FILLER 0xa5

/* Lies at the start of the page before the page in which the array begins. */
struct o2_guard_head {
	uint8_t *map;
	size_t map_bytes;
	size_t bytes; /* as the caller requested */
};

static inline size_t o2_guard_page(void)
{
	return (size_t)sysconf(_SC_PAGESIZE);
}

/*
 * Allocate `bytes` bytes, each initialised to O2_GUARD_FILLER.  Returns NULL if memory runs out.
 *
 *   | inaccessible page | head | filler, array, filler | inaccessible page |
 */
static inline void *o2_guard_alloc(size_t bytes)
{
	const size_t page = o2_guard_page();
	const size_t room = (bytes + O2_GUARD_ALIGN - 1) / O2_GUARD_ALIGN * O2_GUARD_ALIGN;
	const size_t body = room == 0 ? page : (room + page - 1) / page * page;
	struct o2_guard_head *head;
	uint8_t *map;

	if (bytes > SIZE_MAX / 2)
		return NULL;
	map = (uint8_t *)mmap(NULL, body + 3 * page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (map == (uint8_t *)MAP_FAILED)
		return NULL;
	if (mprotect(map + page, page + body, PROT_READ | PROT_WRITE) != 0) {
		munmap(map, body + 3 * page);
		return NULL;
	}
	head = (struct o2_guard_head *)(void *)(map + page);
	head->map = map;
	head->map_bytes = body + 3 * page;
	head->bytes = bytes;
	memset(map + 2 * page, O2_GUARD_FILLER, body);
	return map + 2 * page + body - (room == 0 ? O2_GUARD_ALIGN : room);
}

static inline void *o2_guard_calloc(size_t count, size_t bytes)
{
	void *array = count != 0 && bytes > SIZE_MAX / count ? NULL : o2_guard_alloc(count * bytes);

	return array == NULL ? NULL : memset(array, 0, count * bytes);
}

static inline void o2_guard_look(const uint8_t *from, const uint8_t *end, const char *where)
{
	for (; from < end; from++) {
		if (*from == O2_GUARD_FILLER)
			continue;
		fprintf(stderr, "o2ref/guard.h: a byte %s an array was written\n", where);
		abort();
	}
}

/* Free the array.  Aborts the process if bytes before or behind the array were overwritten. */
static inline void o2_guard_free(void *array)
{
	const size_t page = o2_guard_page();
	uint8_t *start = (uint8_t *)array;
	uint8_t *body = start - (uintptr_t)array % page;
	struct o2_guard_head *head;

	if (array == NULL)
		return;
	head = (struct o2_guard_head *)(void *)(body - page);
	o2_guard_look(body, start, "in front of");
	o2_guard_look(start + head->bytes, head->map + head->map_bytes - page, "behind");
	munmap(head->map, head->map_bytes);
}

/* Always moves the array, so that no use of the former place goes unnoticed. */
static inline void *o2_guard_realloc(void *array, size_t bytes)
{
	const struct o2_guard_head *head;
	const size_t page = o2_guard_page();
	uint8_t *more;

	if (array == NULL)
		return o2_guard_alloc(bytes);
	more = (uint8_t *)o2_guard_alloc(bytes);
	if (more == NULL)
		return NULL;
	head = (const struct o2_guard_head *)(const void *)((uint8_t *)array - (uintptr_t)array % page -
							    page);
	memcpy(more, array, head->bytes < bytes ? head->bytes : bytes);
	o2_guard_free(array);
	return more;
}

static inline char *o2_guard_strndup(const char *text, size_t length)
{
	const char *end = (const char *)memchr(text, 0, length);
	const size_t bytes = end == NULL ? length : (size_t)(end - text);
	char *copy = (char *)o2_guard_alloc(bytes + 1);

	if (copy != NULL) {
		memcpy(copy, text, bytes);
		copy[bytes] = '\0';
	}
	return copy;
}

static inline char *o2_guard_strdup(const char *text)
{
	return o2_guard_strndup(text, strlen(text));
}

#ifdef O2_GUARD_ALL
#undef strdup
#undef strndup
#define malloc(bytes_)		o2_guard_alloc(bytes_)
#define calloc(count_, bytes_)	o2_guard_calloc(count_, bytes_)
#define realloc(array_, bytes_) o2_guard_realloc(array_, bytes_)
#define strdup(text_)		o2_guard_strdup(text_)
#define strndup(text_, length_) o2_guard_strndup(text_, length_)
#define free(array_)		o2_guard_free(array_)
#define aligned_alloc(...)	o2_guard_has_no_aligned_alloc
#define posix_memalign(...)	o2_guard_has_no_posix_memalign
#define reallocarray(...)	o2_guard_has_no_reallocarray
#endif

#endif
