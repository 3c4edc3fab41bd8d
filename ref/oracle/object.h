/* SPDX-License-Identifier: MIT */
#ifndef O2_ORACLE_OBJECT_H
#define O2_ORACLE_OBJECT_H

#include <stdatomic.h>
#include <stdint.h>
#include <sys/types.h>

#include "oracle/answer.h"
#include "oracle/impl_slot.h"

/* What host_object.c and the process that it forks (object_child.c) say to each other. */

#define O2_HOST_SLOTS	     33u /* a batch, and one to ask again in */
#define O2_OBJECT_TEXT_BYTES 256u
/* Calls that show whether the heap grows with each: a thread keeps 7 free pieces of a size, which hide some. */
#define O2_OBJECT_REPEATS 32u

enum o2_object_state {
	O2_OBJECT_STARTING,
	O2_OBJECT_READY,
	O2_OBJECT_UNUSABLE, /* text says why */
};

/* Shared memory beside the slots. */
struct o2_object_control {
	uint32_t state; /* enum o2_object_state */
	char text[O2_OBJECT_TEXT_BYTES];
	uint32_t absent[O2_STAGES];

	/* A round: slots first to first + count - 1 are answered, each repeats times. */
	uint32_t first;
	uint32_t count;
	uint32_t repeats;
	uint32_t stage[O2_HOST_SLOTS];
	int32_t status[O2_HOST_SLOTS];
	_Atomic uint32_t at; /* the slot in work */

	/* Of the last slot: bytes of the heap in use after half of the calls and after all. */
	uint64_t heap_half;
	uint64_t heap;

	/* Where the object lies in the process. */
	uint64_t base;
	uint64_t end;

	/* Written by the handler of the signals that end the process. */
	uint32_t nframes; /* calls inside the object, the innermost first, as offsets from base */
	uint64_t frame[O2_ANSWER_FRAMES];
	uint32_t fault_seen;  /* an address could not be reached; the next two say which, and how */
	uint32_t fault_write; /* 1: by a write; 0: by a read; 2: not known */
	uint64_t fault_addr;
};

/* What a shared object has: the stages of version 1, and what its table of version 2 reaches to. */
struct o2_object {
	struct o2_impl v1;
	struct o2_impl_2 v2;
	const char *name;   /* may be NULL */
	const void *inside; /* an address of it */
};

/* Load a shared object; false with a line in text.  It is never unloaded. */
bool o2_object_load(const char *path, struct o2_object *object, char *text, size_t text_bytes);

bool o2_object_has(const struct o2_object *object, enum o2_stage stage);

/* Ask what the slot holds; returns what the function returns.  The stage is one that it has. */
int32_t o2_object_call(const struct o2_object *object, enum o2_stage stage, const struct o2_impl_slot *slot);

/*
 * Serve rounds: a byte on `in` starts one, a byte on `out` says that it is done.  Ends with the end of `in`.
 */
_Noreturn void o2_object_child(const char *path, const struct o2_impl_slots *slots,
			       struct o2_object_control *control, int in, int out);

#endif
