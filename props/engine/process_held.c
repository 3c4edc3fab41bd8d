/* SPDX-License-Identifier: MIT */
#include "props/engine/process_held.h"

#include <dirent.h>
#include <inttypes.h>
#include <malloc.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/*
 * malloc keeps freed chunks of sizes up to CACHED_BYTES for each thread, 7 of each size (mallopt(3)), 16 in newer
 * versions; CACHED_EACH is more than that.  Some chunks are larger than requested, and are kept by their real size.
 */
#define CACHED_BYTES 1040u
#define CACHED_STEP  16u
#define CACHED_EACH  48u

/* Number of readings before a difference counts. */
#define READINGS 32u

/* The sanitizers' count; absent from a program without a sanitizer. */
#pragma weak __sanitizer_get_current_allocated_bytes
size_t __sanitizer_get_current_allocated_bytes(void);

bool o2_process_held_sanitized(void)
{
	return __sanitizer_get_current_allocated_bytes != NULL;
}

/* malloc counts the chunks of its thread cache as in use.  Filling the cache completely makes that sum constant. */
static void fill_cache(void)
{
	void *piece[CACHED_EACH];

	for (size_t bytes = CACHED_STEP; bytes <= CACHED_BYTES; bytes += CACHED_STEP) {
		for (uint32_t i = 0; i < CACHED_EACH; i++)
			piece[i] = malloc(bytes);
		for (uint32_t i = CACHED_EACH; i-- > 0;)
			free(piece[i]);
	}
}

/* *mapped_bytes: the part that malloc mapped with individual mappings. */
static uint64_t heap_in_use(uint64_t *mapped_bytes)
{
	struct mallinfo2 info;

	*mapped_bytes = 0;
	if (o2_process_held_sanitized())
		return __sanitizer_get_current_allocated_bytes();
	fill_cache();
	info = mallinfo2();
	*mapped_bytes = info.hblkhd;
	return info.uordblks + info.hblkhd;
}

static void read_mappings(struct o2_process_held *held)
{
	FILE *maps = fopen("/proc/self/maps", "re");
	char line[512];

	if (maps == NULL)
		return;
	while (fgets(line, sizeof(line), maps) != NULL) {
		char *end;
		const uint64_t first = strtoull(line, &end, 16);
		const uint64_t last = *end == '-' ? strtoull(end + 1, NULL, 16) : first;

		if (strstr(line, "[heap]") != NULL || strstr(line, "[stack]") != NULL)
			continue;
		held->mappings++;
		held->mapped_bytes += last - first;
	}
	fclose(maps);
}

static enum o2_descriptor_kind kind_of(const char *link)
{
	if (strncmp(link, "socket:", 7) == 0)
		return O2_DESCRIPTOR_SOCKET;
	if (strncmp(link, "pipe:", 5) == 0)
		return O2_DESCRIPTOR_PIPE;
	return link[0] == '/' ? O2_DESCRIPTOR_FILE : O2_DESCRIPTOR_OTHER;
}

static void read_descriptors(struct o2_process_held *held)
{
	DIR *folder = opendir("/proc/self/fd");
	const struct dirent *entry;
	char link[256];

	while (folder != NULL && (entry = readdir(folder)) != NULL) {
		const ssize_t length = readlinkat(dirfd(folder), entry->d_name, link, sizeof(link) - 1);

		if (length < 0 || atoi(entry->d_name) == dirfd(folder))
			continue;
		link[length] = '\0';
		held->descriptors[kind_of(link)]++;
	}
	if (folder != NULL)
		closedir(folder);
}

void o2_process_held_now(struct o2_process_held *held)
{
	struct stat tasks;
	uint64_t by_malloc;

	*held = (struct o2_process_held){.threads = 1};
	/* A directory has one link for itself, one for its name, and one for each subdirectory. */
	if (stat("/proc/self/task", &tasks) == 0)
		held->threads = (uint32_t)tasks.st_nlink - 2;
	read_descriptors(held);
	read_mappings(held);
	held->heap_bytes = heap_in_use(&by_malloc);
	held->mapped_bytes = o2_process_held_sanitized() ? 0 : held->mapped_bytes - by_malloc;
}

bool o2_process_held_again(const struct o2_process_held *before, struct o2_process_held *now)
{
	for (uint32_t i = 0; i < READINGS; i++) {
		o2_process_held_now(now);
		if (o2_process_held_equal(before, now))
			return true;
		sched_yield();
	}
	return false;
}

bool o2_process_held_equal(const struct o2_process_held *a, const struct o2_process_held *b)
{
	/* Compare the sum: what malloc says that it mapped is added to one and subtracted from the other, and
	 * may be wrong after a chunk was resized. */
	return a->heap_bytes + a->mapped_bytes == b->heap_bytes + b->mapped_bytes &&
	       a->threads == b->threads &&
	       memcmp(a->descriptors, b->descriptors, sizeof(a->descriptors)) == 0;
}

void o2_process_held_add(struct o2_process_held *sum, const struct o2_process_held *one)
{
	sum->heap_bytes += one->heap_bytes;
	sum->mapped_bytes += one->mapped_bytes;
	sum->mappings += one->mappings;
	sum->threads += one->threads;
	for (uint32_t i = 0; i < O2_DESCRIPTOR_KINDS; i++)
		sum->descriptors[i] += one->descriptors[i];
}

/* Append the change of a number, if there is one. */
static void tell(const char *what, uint64_t before, uint64_t after, char *text, size_t text_bytes)
{
	const size_t length = strlen(text);

	if (before != after)
		snprintf(text + length, text_bytes - length, "%s%" PRIu64 " %s %s than %" PRIu64,
			 length > 0 ? ", " : "", after > before ? after - before : before - after, what,
			 after > before ? "more" : "less", before);
}

void o2_process_held_text(const struct o2_process_held *before, const struct o2_process_held *after,
			  char *text, size_t text_bytes)
{
	static const char *const names[O2_DESCRIPTOR_KINDS] = {
		[O2_DESCRIPTOR_FILE] = "files",
		[O2_DESCRIPTOR_SOCKET] = "sockets",
		[O2_DESCRIPTOR_PIPE] = "pipes",
		[O2_DESCRIPTOR_OTHER] = "other descriptors",
	};

	text[0] = '\0';
	tell("bytes of heap", before->heap_bytes, after->heap_bytes, text, text_bytes);
	tell("bytes mapped", before->mapped_bytes, after->mapped_bytes, text, text_bytes);
	if (before->mapped_bytes != after->mapped_bytes)
		tell("mappings", before->mappings, after->mappings, text, text_bytes);
	tell("threads", before->threads, after->threads, text, text_bytes);
	for (uint32_t i = 0; i < O2_DESCRIPTOR_KINDS; i++)
		tell(names[i], before->descriptors[i], after->descriptors[i], text, text_bytes);
}
