/* SPDX-License-Identifier: MIT */
#ifndef O2_PROPS_POOL_DEVICE_H
#define O2_PROPS_POOL_DEVICE_H

#include <stdbool.h>
#include <stdint.h>

#include "reg/pool/pool_fmr.h"
#include "reg/pool/pool_frd.h"
#include "reg/pool/pool_tx.h"

/*
 * What pools are made on: a device that hands out numbers, fails when it is told to, and notices when
 * something is unmade that is not there, or in use.
 */

#define O2_POOL_STEPS 120u /* of a case, at most */
#define O2_POOL_SIZE  4u   /* elements of a pool, at most */
#define O2_POOL_POOLS (O2_POOL_STEPS + 1u)
/* A step makes two pools where the device goes while the first is made, or one element. */
#define O2_POOL_ELEMENTS (2u * O2_POOL_POOLS * O2_POOL_SIZE + O2_POOL_STEPS)
#define O2_POOL_NEVER	 UINT32_MAX

/* The time, and what will fail: the same for devices and models. */
struct o2_pool_faults {
	uint64_t now_ms;
	uint32_t create_at; /* element of a pool that cannot be created, or O2_POOL_NEVER */
	int map_error;	    /* FMR: what map says, 0 or -errno */
	int unmap_error;    /* FMR and descriptors: what unmap says */
	int entries;	    /* descriptors: what map says; 0: all of them */
};

struct o2_pool_element {
	bool exists;
	bool gaps;	   /* a region that holds lists with gaps */
	bool mapped;	   /* a descriptor: its list is the device's */
	bool kept;	   /* a descriptor that is mapped because the unmap failed */
	uint32_t held;	   /* transfers that use it, as far as the property knows */
	uint32_t key;	   /* FMR: alive, or 0 */
	const void *place; /* of a message slot */
};

/* The device of one set.  Handles are pointers to its elements, device addresses their numbers. */
struct o2_pool_device {
	const struct o2_pool_faults *faults;
	uint32_t created; /* elements, ever: their numbers */
	uint32_t creates; /* calls since the step began */
	/* While the next pool is made, the set fails over to this one; 0: it does not. */
	uint64_t leaves_for;
	struct o2_pool_set *set;
	uint32_t alive;
	uint32_t areas; /* of message slots */
	uint32_t next_key;
	uint32_t page_bytes;
	bool invalidate_last;  /* descriptors */
	const char *violation; /* what the code under test did that it must not; NULL: nothing */
	struct o2_pool_element element[O2_POOL_ELEMENTS];
};

/* The lkey of a source's mapping under invalidate last. */
uint32_t o2_pool_gathered_lkey(uint32_t element);

extern const struct o2_tx_ops o2_pool_tx_ops;
extern const struct o2_fmr_ops o2_pool_fmr_ops;
extern const struct o2_frd_ops o2_pool_frd_ops;

#endif
