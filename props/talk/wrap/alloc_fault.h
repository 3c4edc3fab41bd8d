/* SPDX-License-Identifier: MIT */
#ifndef O2_PROPS_WRAP_ALLOC_FAULT_H
#define O2_PROPS_WRAP_ALLOC_FAULT_H

#include <stdbool.h>
#include <stdint.h>

/*
 * Allocations that fail on purpose, in programs that are linked with -Wl,--wrap=malloc,--wrap=calloc,
 * --wrap=realloc,--wrap=aligned_alloc,--wrap=free,--wrap=open_memstream (CMakeLists.txt, o2_with_alloc_faults).  One count for the process: the linker leaves no other place.
 * What is allocated, and not by calloc, begins with 0xa5, up to 4096 of them.
 */

/* The nth allocation from now on fails, 1 being the next; 0: none does. */
void o2_alloc_fault_arm(uint32_t nth);

/* Has it failed since the last time that this was asked? */
bool o2_alloc_fault_fired(void);

/* None fails until o2_alloc_fault_go_on, and none is counted: what the harness needs for itself. */
uint32_t o2_alloc_fault_hold(void);
/* With what hold returned. */
void o2_alloc_fault_go_on(uint32_t held);

/* Pieces that the program has allocated and not freed, from any start: what libraries do by themselves is not seen. */
int64_t o2_alloc_live(void);

#endif
