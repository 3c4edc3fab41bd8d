/* SPDX-License-Identifier: MIT */
#ifndef O2_LNET_MATCH_H
#define O2_LNET_MATCH_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>

#include "base/error.h"
#include "lnd/conn/transfer.h"
#include "wire/nid.h"

/*
 * The match table finds the memory that a peer's PUT or GET is for.  A match entry and its memory descriptor
 * are one object here.  Source: docs/peer.md, "Matching".
 */

#define O2_LNET_PID_ANY	     UINT32_MAX
#define O2_LNET_USES_ENDLESS UINT32_MAX

/* Initializers for an entry that any process of any node may use, without limit. */
#define O2_LNET_FOR_ANYBODY .nid = O2_NID_ANY, .pid = O2_LNET_PID_ANY, .uses = O2_LNET_USES_ENDLESS

/*
 * LNet: LNET_MD_OP_PUT, LNET_MD_OP_GET, LNET_MD_TRUNCATE, LNET_MD_MANAGE_REMOTE
 * LNet: LNET_MD_ACK_DISABLE, LNET_UNLINK
 */
enum o2_lnet_entry_options {
	O2_LNET_MD_OP_PUT = 1u << 0,	    /* peers may PUT here */
	O2_LNET_MD_OP_GET = 1u << 1,	    /* peers may GET from here */
	O2_LNET_MD_TRUNCATE = 1u << 2,	    /* a request that is too long is cut; else it is dropped */
	O2_LNET_MD_MANAGE_REMOTE = 1u << 3, /* the peer chooses the offset; else it advances with every use */
	O2_LNET_MD_ACK_DISABLE = 1u << 4,   /* PUTs are not acknowledged, whatever they ask for */
	O2_LNET_MD_UNLINK = 1u << 5,	    /* removed automatically after its last use has ended */
};

struct o2_lnet_entry {
	uint32_t portal;
	uint64_t match_bits;
	uint64_t ignore_bits; /* bits of match_bits that are not compared */
	uint64_t nid;	      /* the requester's node; O2_NID_ANY: every node */
	uint32_t pid;	      /* the requester's process; O2_LNET_PID_ANY: every process */
	uint32_t options;     /* enum o2_lnet_entry_options, at least one O2_LNET_MD_OP_ */
	uint32_t uses;	      /* how many requests it accepts; O2_LNET_USES_ENDLESS: no limit */
	uint64_t tag;	      /* for the owner; returned in events */
	/* The owner must keep the vectors until it is detached.  nob may exceed what one transfer can move. */
	struct o2_transfer_memory memory;
};

struct o2_match_slot {
	struct o2_lnet_entry entry;
	uint64_t order; /* sequence number of attaching: the lowest matches first; 0: the slot is free */
	uint64_t local_offset;
	uint32_t users; /* requests that use it now */
	bool leaving;	/* accepts no more requests; removed when users is 0 */
	TAILQ_ENTRY(o2_match_slot) link;
};

TAILQ_HEAD(o2_match_list, o2_match_slot); /* sorted by order */

/*
 * Entries without ignore_bits are in lists that a hash of portal and match bits selects; all others are in one
 * list. So a request searches two lists.
 */
struct o2_match_table {
	uint32_t max;
	uint64_t next_order;
	struct o2_match_list free;
	struct o2_match_slot *slot;
	uint32_t nlists; /* a power of two; list[nlists] holds the entries with ignore_bits */
	struct o2_match_list *list;
};

/* The fields of a PUT or GET that are matched. */
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
	uint64_t length_bytes; /* bytes accepted: 0 to the length of the request */
};

/* Returns 0 or -ENOMEM; -EINVAL when max is 0. */
int o2_match_table_create(uint32_t max, struct o2_match_table *table);
void o2_match_table_destroy(struct o2_match_table *table);

/*
 * Add an entry behind all others.  Returns its index, or -EINVAL (no operation, uses 0, or an empty memory), or
 * -ENOSPC (the table is full).
 */
int o2_match_attach(struct o2_match_table *table, const struct o2_lnet_entry *entry, struct o2_error *error);

/* Remove an entry.  Returns 0; -ENOENT; -EBUSY: a request uses it. */
int o2_match_detach(struct o2_match_table *table, uint32_t index);

/*
 * Close an entry to further requests, and remove it as soon as no request uses it.  Returns 0: it is removed;
 * 1: o2_match_release by its last user will remove it; -ENOENT.
 */
int o2_match_unlink(struct o2_match_table *table, uint32_t index);

/*
 * Find the entry for a request and use it: `uses` decreases, `users` increases, and its local offset advances.
 * Returns 0, or -ENODATA: rule lnet/match/none, lnet/match/offset-past-end or lnet/match/too-long.
 * LNet: lnet_ptl_match_md
 */
int o2_match_take(struct o2_match_table *table, const struct o2_match_request *request,
		  struct o2_match *match, struct o2_error *error);

/* A request that used the entry has ended.  Returns whether this removed the entry. */
bool o2_match_release(struct o2_match_table *table, uint32_t index);

/* The part of the entry's memory that was matched.  It refers to the entry's vectors. */
struct o2_transfer_memory o2_match_memory(const struct o2_match_table *table, const struct o2_match *match);

#endif
