/* SPDX-License-Identifier: MIT */
#ifndef O2_PROPS_WRAP_ALLOC_FAULT_H
#define O2_PROPS_WRAP_ALLOC_FAULT_H

#include <stdbool.h>
#include <stdint.h>

/*
 * Allocations that fail on purpose, in programs linked with -Wl,--wrap=malloc,--wrap=calloc,--wrap=realloc,
 * --wrap=aligned_alloc,--wrap=free,--wrap=open_memstream (CMakeLists.txt, o2_with_alloc_faults).  The state is
 * global, as the wrapped functions are.  Memory not from calloc is filled with 0xa5, up to its first 4096 bytes.
 */

/* Make the nth allocation from now on fail, 1 being the next; 0: none fails. */
void o2_alloc_fault_arm(uint32_t nth);

/* Has the armed allocation failed since this was last called? */
bool o2_alloc_fault_fired(void);

/* Suspend the fault until o2_alloc_fault_go_on: none fails, none is counted.  For the harness's own allocations. */
uint32_t o2_alloc_fault_hold(void);
/* Resume the fault.  held: what o2_alloc_fault_hold returned. */
void o2_alloc_fault_go_on(uint32_t held);

/* Allocations not yet freed, relative to an arbitrary start.  Allocations inside libraries are not counted. */
int64_t o2_alloc_live(void);

#endif
