/* SPDX-License-Identifier: MIT */
#ifndef O2_PROPS_POOL_DEVICE_H
#define O2_PROPS_POOL_DEVICE_H

#include <stdbool.h>
#include <stdint.h>

#include "reg/pool/pool_fmr.h"
#include "reg/pool/pool_frd.h"
#include "reg/pool/pool_tx.h"

/*
 * The device under the pools: it hands out numbers as handles, fails on request, and records a violation when the
 * code under test destroys something that does not exist or is in use.
 */

#define O2_POOL_STEPS 120u /* most steps of a case */
#define O2_POOL_SIZE  4u   /* most elements of a pool */
#define O2_POOL_POOLS (O2_POOL_STEPS + 1u)
/* A step creates at most two pools (if the device is replaced while the first is created), or one element. */
#define O2_POOL_ELEMENTS (2u * O2_POOL_POOLS * O2_POOL_SIZE + O2_POOL_STEPS)
#define O2_POOL_NEVER	 UINT32_MAX

/* The time, and the failures to come; shared by the devices and the models. */
struct o2_pool_faults {
	uint64_t now_ms;
	uint32_t create_at; /* index of the element whose creation fails, or O2_POOL_NEVER */
	int map_error;	    /* FMR: result of map, 0 or -errno */
	int unmap_error;    /* FMR and descriptors: result of unmap */
	int entries;	    /* descriptors: result of map, entries or -errno; 0: all entries */
};

struct o2_pool_element {
	bool exists;
	bool gaps;	   /* the region can hold lists with gaps */
	bool mapped;	   /* a descriptor: its page list is mapped by the device */
	bool kept;	   /* a descriptor that is still mapped because unmap failed */
	uint32_t held;	   /* transfers that use it, by the property's count */
	uint32_t key;	   /* FMR: the key that is alive, or 0 */
	const void *place; /* a message slot: its memory */
};

/* The device of one set.  Handles are pointers to elements; device addresses are element numbers. */
struct o2_pool_device {
	const struct o2_pool_faults *faults;
	uint32_t created; /* elements created so far; the next one's number */
	uint32_t creates; /* create calls since the step began */
	/* The set fails over to this device while the next pool is being created; 0: it does not. */
	uint64_t leaves_for;
	struct o2_pool_set *set;
	uint32_t alive;
	uint32_t areas; /* areas of message slots */
	uint32_t next_key;
	uint32_t page_bytes;
	bool invalidate_last;  /* descriptors: invalidate last */
	const char *violation; /* what the code under test did wrong; NULL: nothing */
	struct o2_pool_element element[O2_POOL_ELEMENTS];
};

/* The lkey of a source's mapping under invalidate last. */
uint32_t o2_pool_gathered_lkey(uint32_t element);

extern const struct o2_tx_ops o2_pool_tx_ops;
extern const struct o2_fmr_ops o2_pool_fmr_ops;
extern const struct o2_frd_ops o2_pool_frd_ops;

#endif
