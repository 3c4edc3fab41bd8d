/* SPDX-License-Identifier: MIT */
#ifndef O2_REG_POOL_TX_H
#define O2_REG_POOL_TX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "reg/pool/poolset.h"

/*
 * Pools of transmit descriptors.  Source: docs/pools.md, "Transmit pools".
 *
 * Each transmit owns one message slot of O2_MSG_BYTES, whatever the page size, and the slot's device address,
 * for as long as the pool lives.  Idle transmits form a stack: last in, first out.
 *
 * The pool does not know what the holder uses a transmit for.  The holder's struct begins with struct
 * o2_pool_tx, and the pool allocates tx_bytes for it (lnd/conn/tx.h has the struct that moves messages).
 */

/*
 * The device calls of these pools.  They return -errno on failure, with nothing left behind.  None is called
 * with a lock held.
 *
 * area_create: register the `bytes` bytes of message slots at `area` (whole pages), or do what else the
 * device needs; *handle is passed to the other functions, and *error may say more than the errno.
 * area_create and area_destroy may both be NULL.
 * slot_map: get the device address of one slot, which the device reads, for the life of the pool.
 * o2iblnd: kiblnd_map_tx_pool
 */
struct o2_tx_ops {
	int (*area_create)(void *context, uint64_t device, void *area, size_t bytes, void **handle,
			   struct o2_error *error);
	void (*area_destroy)(void *context, void *handle);
	int (*slot_map)(void *context, void *handle, void *slot, uint64_t *addr);
	void (*slot_unmap)(void *context, void *handle, void *slot, uint64_t addr);
};

struct o2_tx_config {
	struct o2_pool_set_config set;
	const struct o2_tx_ops *ops;
	void *context;	      /* first argument of the ops */
	uint32_t pool_size;   /* transmits per pool, 1 to O2_POOL_SIZE_MAX */
	uint32_t page_bytes;  /* 4096, 16384 or 65536 */
	size_t tx_bytes;      /* size of the holder's struct; at least sizeof(struct o2_pool_tx) is used */
	size_t storage_bytes; /* per transmit: bytes for the holder's large arrays */
};

/* Our limit for tx_bytes and for storage_bytes: 257 work requests of 32 gather entries each need less. */
#define O2_TX_BYTES_MAX (1u << 20)

struct o2_tx_pool;

/* Flags: what the holder of a transmit still holds.  The transmit can be put back only when none is set. */
enum o2_tx_held {
	O2_TX_HELD_SENDS = 1u << 0,   /* posted sends without a completion */
	O2_TX_HELD_ANSWER = 1u << 1,  /* waits for the peer's answer */
	O2_TX_HELD_LIST = 1u << 2,    /* is on a list of its connection */
	O2_TX_HELD_MAPPING = 1u << 3, /* memory is mapped */
	O2_TX_HELD_KEY = 1u << 4,     /* a registration is alive */
};

#define O2_TX_HELD_ALL (O2_TX_HELD_KEY * 2u - 1u)

/*
 * The pool's part of one transmit.  The bytes behind it are the holder's: zeroed when the pool is made, and
 * never read by the pool.
 */
struct o2_pool_tx {
	struct o2_idle_element idle; /* stays the first member */
	struct o2_tx_pool *pool;
	bool taken;
	uint32_t held;	       /* enum o2_tx_held, set by the holder; 0 on take */
	void *message;	       /* its slot: O2_MSG_BYTES, never across a page boundary */
	uint64_t message_addr; /* device address of the slot */
	void *storage;	       /* storage_bytes, max-aligned, never cleared; NULL if 0 */
	uint64_t cookie;       /* unique per take: each set counts from 0 */
};

/* o2iblnd: kib_tx_pool */
struct o2_tx_pool {
	struct o2_pool base; /* stays the first member */
	uint32_t nmapped;    /* slots 0 to nmapped - 1 have been mapped by slot_map */
	bool area_ready;
	void *made; /* the allocation that contains area; to be freed */
	void *area;
	void *area_handle;
	void *storage;
	uint8_t *tx; /* array of pool_size structs of the holder */
};

/* o2iblnd: kib_tx_poolset */
struct o2_tx_set {
	struct o2_pool_set set;
	struct o2_tx_config config;
	uint64_t next_cookie; /* guarded by the lock of the set */
};

/* Bytes of the message slots of one pool: ceil(pool_size * O2_MSG_BYTES / page_bytes) whole pages. */
uint64_t o2_tx_area_bytes(uint32_t pool_size, uint32_t page_bytes);

/*
 * Make a set with its first pool.  Close it with o2_pool_set_close.  Returns 0, -EINVAL (the config is not
 * legal), -ENOMEM, or the errno of the device call that failed.
 */
int o2_tx_set_init(struct o2_tx_set *set, const struct o2_tx_config *config, struct o2_error *error);

/* Take a transmit.  -ENOMEM or -EBUSY come from o2_pool_set_take. */
/* o2iblnd: kiblnd_tx_init */
int o2_tx_take(struct o2_tx_set *set, struct o2_pool_tx **tx, struct o2_error *error);

/* Put a transmit back.  -EINVAL if held is not 0 ("tx/idle") or it is not taken: then the caller keeps it. */
int o2_tx_put(struct o2_tx_set *set, struct o2_pool_tx *tx, struct o2_error *error);

#endif
