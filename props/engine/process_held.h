/* SPDX-License-Identifier: MIT */
#ifndef O2_PROPS_PROCESS_HELD_H
#define O2_PROPS_PROCESS_HELD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * What this process holds of its machine: a property must leave it as it found it (docs/properties.md, "Nothing
 * is left").  The C library's caches do not count: what free() keeps for the next malloc() is not in use, and
 * the space that its heap takes is not what a property mapped.
 */

enum o2_descriptor_kind {
	O2_DESCRIPTOR_FILE,
	O2_DESCRIPTOR_SOCKET,
	O2_DESCRIPTOR_PIPE,
	O2_DESCRIPTOR_OTHER, /* events, timers, polls */
	O2_DESCRIPTOR_KINDS,
};

struct o2_process_held {
	uint64_t heap_bytes;   /* in use, by malloc's own account or by the sanitizer's */
	uint64_t mapped_bytes; /* without heap and stack; 0 where a sanitizer maps memory of its own */
	uint32_t mappings;     /* for words only: the kernel joins neighbours as it likes */
	uint32_t threads;
	uint32_t descriptors[O2_DESCRIPTOR_KINDS];
};

/* A sanitizer keeps the heap, and what it maps says nothing of the program. */
bool o2_process_held_sanitized(void);

void o2_process_held_now(struct o2_process_held *held);

/*
 * Like the above, until it is what it was before, or for some readings: a thread that was joined is seen for a
 * moment longer.  True: it is the same.
 */
bool o2_process_held_again(const struct o2_process_held *before, struct o2_process_held *now);

bool o2_process_held_equal(const struct o2_process_held *a, const struct o2_process_held *b);

/* What several processes hold. */
void o2_process_held_add(struct o2_process_held *sum, const struct o2_process_held *one);

/* "heap +32 bytes, sockets +1": what differs, in text. */
void o2_process_held_text(const struct o2_process_held *before, const struct o2_process_held *after,
			  char *text, size_t text_bytes);

#endif
