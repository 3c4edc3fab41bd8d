/* SPDX-License-Identifier: MIT */
#ifndef O2_PROPS_PROCESS_HELD_H
#define O2_PROPS_PROCESS_HELD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * The resources that this process holds.  A property must leave them as it found them (docs/properties.md,
 * "Nothing is left").  The C library's caches do not count: memory that free() keeps for the next malloc() is
 * not in use, and the address space of the heap was not mapped by a property.
 */

enum o2_descriptor_kind {
	O2_DESCRIPTOR_FILE,
	O2_DESCRIPTOR_SOCKET,
	O2_DESCRIPTOR_PIPE,
	O2_DESCRIPTOR_OTHER, /* eventfd, timerfd, epoll */
	O2_DESCRIPTOR_KINDS,
};

struct o2_process_held {
	uint64_t heap_bytes;   /* bytes in use, as counted by malloc or by the sanitizer */
	uint64_t mapped_bytes; /* without heap and stack; 0 where a sanitizer maps memory of its own */
	uint32_t mappings;     /* for messages only, not compared: the kernel merges neighbouring mappings */
	uint32_t threads;
	uint32_t descriptors[O2_DESCRIPTOR_KINDS];
};

/* True if a sanitizer manages the heap; its own mappings would hide those of the program. */
bool o2_process_held_sanitized(void);

void o2_process_held_now(struct o2_process_held *held);

/*
 * Read repeatedly until the result equals *before, up to a limit of readings: a joined thread stays visible
 * for a moment.  Returns true if the last reading equals *before.
 */
bool o2_process_held_again(const struct o2_process_held *before, struct o2_process_held *now);

bool o2_process_held_equal(const struct o2_process_held *a, const struct o2_process_held *b);

/* Add *one to *sum, to total several processes. */
void o2_process_held_add(struct o2_process_held *sum, const struct o2_process_held *one);

/* The differences as text: "32 bytes of heap more than 4096, 1 sockets more than 2". */
void o2_process_held_text(const struct o2_process_held *before, const struct o2_process_held *after,
			  char *text, size_t text_bytes);

#endif
