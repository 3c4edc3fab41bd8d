/* SPDX-License-Identifier: MIT */
#ifndef O2_LNET_MATCH_H
#define O2_LNET_MATCH_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>

#include "base/error.h"
#include "lnd/conn/transfer.h"

/*
 * The match table: which memory a peer's PUT or GET is for.  A match entry and its memory descriptor are one
 * thing here.  Source: docs/peer.md, "Matching".
 */

#define O2_LNET_PID_ANY	     UINT32_MAX
#define O2_LNET_USES_ENDLESS UINT32_MAX

/* Members of an entry that any process of any node may use, and for ever. */
#define O2_LNET_FOR_ANYBODY .nid = O2_NID_ANY, .pid = O2_LNET_PID_ANY, .uses = O2_LNET_USES_ENDLESS

/*
 * LNet: LNET_MD_OP_PUT, LNET_MD_OP_GET, LNET_MD_TRUNCATE, LNET_MD_MANAGE_REMOTE
 * LNet: LNET_MD_ACK_DISABLE, LNET_UNLINK
 */
enum o2_lnet_entry_options {
	O2_LNET_MD_OP_PUT = 1u << 0,	    /* peers may PUT here */
	O2_LNET_MD_OP_GET = 1u << 1,	    /* peers may GET from here */
	O2_LNET_MD_TRUNCATE = 1u << 2,	    /* what is too long is cut; else it is dropped */
	O2_LNET_MD_MANAGE_REMOTE = 1u << 3, /* the peer says at which offset; else it grows with every use */
	O2_LNET_MD_ACK_DISABLE = 1u << 4,   /* PUTs are not acknowledged, whatever they ask for */
	O2_LNET_MD_UNLINK = 1u << 5,	    /* detached by itself when its uses are up and have ended */
};

struct o2_lnet_entry {
	uint32_t portal;
	uint64_t match_bits;
	uint64_t ignore_bits; /* bits that need not be equal */
	uint64_t nid;	      /* whose requests; O2_NID_ANY: everybody's */
	uint32_t pid;	      /* of the requester; O2_LNET_PID_ANY */
	uint32_t options;     /* enum o2_lnet_entry_options, at least one O2_LNET_MD_OP_ */
	uint32_t uses;	      /* how many requests it takes; O2_LNET_USES_ENDLESS */
	uint64_t tag;	      /* the owner's own; comes back in events */
	/* Its vectors stay with the owner until it is detached.  nob may exceed what one transfer moves. */
	struct o2_transfer_memory memory;
};

struct o2_match_slot {
	struct o2_lnet_entry entry;
	uint64_t order; /* of attaching: the entry that came first matches first; 0: the slot is free */
	uint64_t local_offset;
	uint32_t users; /* requests under way */
	bool leaving;	/* takes no more requests; gone when its users are */
	TAILQ_ENTRY(o2_match_slot) link;
};

TAILQ_HEAD(o2_match_list, o2_match_slot); /* by order */

/*
 * Entries that ignore no bit are in lists by portal and match bits, all others in one list: a request is
 * looked for in two of them.
 */
struct o2_match_table {
	uint32_t max;
	uint64_t next_order;
	struct o2_match_list free;
	struct o2_match_slot *slot;
	uint32_t nlists; /* a power of two; behind them is the list of those that ignore bits */
	struct o2_match_list *list;
};

/* What a PUT or GET says. */
struct o2_match_request {
	uint32_t operation; /* O2_LNET_MD_OP_PUT or O2_LNET_MD_OP_GET */
	uint64_t nid;
	uint32_t pid;
	uint32_t portal;
	uint64_t match_bits;
	uint32_t offset;
	uint32_t length_bytes;
};

struct o2_match {
	uint32_t index; /* of the entry */
	uint64_t offset;
	uint64_t length_bytes; /* what is taken of it: 0 to what was asked for */
};

/* Returns 0 or -ENOMEM; -EINVAL when max is 0. */
int o2_match_table_create(uint32_t max, struct o2_match_table *table);
void o2_match_table_destroy(struct o2_match_table *table);

/*
 * Add an entry, behind those that are there.  Returns its index, or -EINVAL (no operation, uses 0, or an
 * empty memory), -ENOSPC (the table is full).
 */
int o2_match_attach(struct o2_match_table *table, const struct o2_lnet_entry *entry, struct o2_error *error);

/* Remove it.  Returns 0; -ENOENT; -EBUSY while a request uses it. */
int o2_match_detach(struct o2_match_table *table, uint32_t index);

/*
 * It takes no more requests, and is removed as soon as none uses it.  Returns 0: it is gone; 1: the release of
 * its last user will remove it; -ENOENT.
 */
int o2_match_unlink(struct o2_match_table *table, uint32_t index);

/*
 * Find the entry for a request, and take it: one use less, one user more, its local offset advances.
 * Returns 0, or -ENODATA: rule lnet/match/none, lnet/match/offset-past-end or lnet/match/too-long.
 * LNet: lnet_ptl_match_md
 */
int o2_match_take(struct o2_match_table *table, const struct o2_match_request *request,
		  struct o2_match *match, struct o2_error *error);

/* The request that took it is done.  Returns whether the entry is gone with it. */
bool o2_match_release(struct o2_match_table *table, uint32_t index);

/* The piece of memory that was matched: it shares the vectors. */
struct o2_transfer_memory o2_match_memory(const struct o2_match_table *table, const struct o2_match *match);

#endif
