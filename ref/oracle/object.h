/* SPDX-License-Identifier: MIT */
#ifndef O2_ORACLE_OBJECT_H
#define O2_ORACLE_OBJECT_H

#include <stdatomic.h>
#include <stdint.h>
#include <sys/types.h>

#include "oracle/answer.h"
#include "oracle/impl_slot.h"

/* The interface between host_object.c and the child process that it forks (object_child.c). */

#define O2_HOST_SLOTS	     33u /* a batch, plus one slot to ask a question again */
#define O2_OBJECT_TEXT_BYTES 256u
/* Calls of a leak test.  They must outnumber the 7 free chunks per size that malloc caches for a thread. */
#define O2_OBJECT_REPEATS 32u

enum o2_object_state {
	O2_OBJECT_STARTING,
	O2_OBJECT_READY,
	O2_OBJECT_UNUSABLE, /* text says why */
};

/* Memory that parent and child share, in addition to the slots. */
struct o2_object_control {
	uint32_t state; /* enum o2_object_state */
	char text[O2_OBJECT_TEXT_BYTES];
	uint32_t absent[O2_STAGES];

	/* A round: the child answers slots first to first + count - 1, each `repeats` times. */
	uint32_t first;
	uint32_t count;
	uint32_t repeats;
	uint32_t stage[O2_HOST_SLOTS];
	int32_t status[O2_HOST_SLOTS];
	_Atomic uint32_t at;	/* the slot that the child is answering */
	_Atomic uint32_t calls; /* calls begun in this round */

	/* Heap bytes in use in the last slot: after half of the calls, and after all calls. */
	uint64_t heap_half;
	uint64_t heap;

	/* Address range at which the object is loaded in the child. */
	uint64_t base;
	uint64_t end;

	/* Written by the handler of fatal signals. */
	uint32_t nframes; /* call stack inside the object, innermost first, as offsets from base */
	uint64_t frame[O2_ANSWER_FRAMES];
	uint32_t fault_seen;  /* 1: a memory access failed; the next two members describe it */
	uint32_t fault_write; /* 1: a write; 0: a read; 2: unknown */
	uint64_t fault_addr;
};

/* The tables of a shared object.  Stages that a table does not have are NULL. */
struct o2_object {
	struct o2_impl v1;
	struct o2_impl_2 v2;
	const char *name;   /* may be NULL */
	const void *inside; /* an address inside the object */
};

/* Load a shared object; false with a line in text.  It is never unloaded. */
bool o2_object_load(const char *path, struct o2_object *object, char *text, size_t text_bytes);

bool o2_object_has(const struct o2_object *object, enum o2_stage stage);

/* Call the stage's function with the slot and return its result.  The object must have the stage. */
int32_t o2_object_call(const struct o2_object *object, enum o2_stage stage, const struct o2_impl_slot *slot);

/* Run as the child: a byte read from `in` starts a round, a byte written to `out` reports its end; the first
   byte on `out` reports that control->state is set.  Exits when `in` is closed. */
_Noreturn void o2_object_child(const char *path, const struct o2_impl_slots *slots,
			       struct o2_object_control *control, int in, int out);

#endif
