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
 * Each transmit owns one slot of O2_MSG_BYTES for its message, whatever the page size, and the slot's device
 * address for as long as the pool lives.  Idle ones form a stack: put back on top, taken from the top.
 *
 * What a transmit is to its holder, the pool does not know: the holder's struct begins with struct o2_pool_tx,
 * and the pool makes as many bytes as that has (lnd/conn/tx.h has the one that moves messages).
 */

/*
 * What the device does for these pools.  -errno on failure, with nothing left behind.  None is called with a
 * lock held.
 *
 * area_create: `bytes` bytes of message slots were made at `area` (whole pages): register them, or whatever
 * the device needs; *handle goes to the other functions, and *error may say more than the errno.  area_create
 * and area_destroy may both be NULL.
 * slot_map: the device address of one slot, for the device to read, for the life of the pool.
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
	void *context;	      /* for ops */
	uint32_t pool_size;   /* transmits per pool, 1 to O2_POOL_SIZE_MAX */
	uint32_t page_bytes;  /* 4096, 16384 or 65536 */
	size_t tx_bytes;      /* the holder's struct; less than struct o2_pool_tx: just that */
	size_t storage_bytes; /* per transmit, large arrays of the holder's */
};

/* Ours, of both: more than 257 work requests of 32 gather entries each. */
#define O2_TX_BYTES_MAX (1u << 20)

struct o2_tx_pool;

/* What the holder of a transmit has not given back, as a set.  Putting it back is refused until it is empty. */
enum o2_tx_held {
	O2_TX_HELD_SENDS = 1u << 0,   /* posted sends without a completion */
	O2_TX_HELD_ANSWER = 1u << 1,  /* it waits for the peer's answer */
	O2_TX_HELD_LIST = 1u << 2,    /* it is on a list of its connection */
	O2_TX_HELD_MAPPING = 1u << 3, /* memory is mapped */
	O2_TX_HELD_KEY = 1u << 4,     /* a registration is alive */
};

#define O2_TX_HELD_ALL (O2_TX_HELD_KEY * 2u - 1u)

/*
 * The pool's part of one transmit.  All behind it is the holder's, zero when the pool is made and nothing that
 * the pool looks at.
 */
struct o2_pool_tx {
	struct o2_idle_element idle; /* stays the first member */
	struct o2_tx_pool *pool;
	bool taken;
	uint32_t held;	       /* enum o2_tx_held: the holder's to keep; 0 when it is taken */
	void *message;	       /* its slot: O2_MSG_BYTES, never across a page's end */
	uint64_t message_addr; /* device address of the slot */
	void *storage;	       /* storage_bytes, aligned for anything, which nobody clears; NULL for 0 */
	uint64_t cookie;       /* new with every take: counts from 0 in each set */
};

/* o2iblnd: kib_tx_pool */
struct o2_tx_pool {
	struct o2_pool base; /* stays the first member */
	uint32_t nmapped;    /* slots, counted from 0, that slot_map was called for */
	bool area_ready;
	void *made; /* what area lies in: memory that has to be freed */
	void *area;
	void *area_handle;
	void *storage;
	uint8_t *tx; /* pool_size times the holder's struct */
};

/* o2iblnd: kib_tx_poolset */
struct o2_tx_set {
	struct o2_pool_set set;
	struct o2_tx_config config;
	uint64_t next_cookie; /* under the lock of the set */
};

/* Bytes of message slots of one pool: ceil(pool_size * O2_MSG_BYTES / page_bytes) whole pages. */
uint64_t o2_tx_area_bytes(uint32_t pool_size, uint32_t page_bytes);

/*
 * A set with its first pool, to be closed by o2_pool_set_close.  Returns 0, -EINVAL (the config), -ENOMEM, or
 * what an op failed with.
 */
int o2_tx_set_init(struct o2_tx_set *set, const struct o2_tx_config *config, struct o2_error *error);

/* Take a transmit.  -ENOMEM or -EBUSY: o2_pool_set_take. */
/* o2iblnd: kiblnd_tx_init */
int o2_tx_take(struct o2_tx_set *set, struct o2_pool_tx **tx, struct o2_error *error);

/* Put it back.  -EINVAL when something of it is held ("tx/idle"), or it is not taken: it stays with the caller. */
int o2_tx_put(struct o2_tx_set *set, struct o2_pool_tx *tx, struct o2_error *error);

#endif
