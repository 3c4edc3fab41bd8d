/* SPDX-License-Identifier: MIT */
#ifndef O2REF_IMPL_KEYS_H
#define O2REF_IMPL_KEYS_H

#include "impl_base.h"

/*
 * The question and the answer of stage keys (version 2): the life of the key of one fast-registration
 * descriptor (docs/pools.md, "The life of a key").  Include o2ref/impl.h.
 *
 * A question is a whole sequence of events.  The answer lists, for each event, the requests that the holder
 * of the descriptor posts to the device.  Each question starts from a newly allocated region.
 */

#define O2_IMPL_MAX_EVENTS   64u
#define O2_IMPL_KEY_REQUESTS 4u /* maximum number of requests posted for one event */

/* When the key of a mapping is invalidated. */
enum o2_impl_key_order {
	O2_IMPL_INVALIDATE_FIRST = 0, /* before the next registration, as kernels do */
	O2_IMPL_INVALIDATE_LAST = 1,  /* at the end of its transfer */
};

enum o2_impl_key_event_kind {
	O2_IMPL_KEY_MAP = 0,	  /* a transfer takes the descriptor as `side` */
	O2_IMPL_KEY_POST = 1,	  /* the transfer posts a message, or its data; see fails_at */
	O2_IMPL_KEY_COMPLETE = 2, /* the transfer ends; INVALIDATE_LAST: invalidates the key, see fails_at */
	O2_IMPL_KEY_UNMAP = 3,	  /* the transfer returns the descriptor */
	O2_IMPL_KEY_FLUSH = 4,	  /* queue pair error: a region with `lkey`, `rkey` replaces the old one */
};

struct o2_impl_key_event {
	uint32_t kind; /* enum o2_impl_key_event_kind */
	uint32_t side; /* MAP: enum o2_impl_side */
	/* POST, COMPLETE: the device rejects the n-th request posted for this event (n = fails_at, from 1)
	   and all later ones; 0: it accepts all */
	uint32_t fails_at;
	uint32_t lkey; /* FLUSH: new lkey; MAP of a source under INVALIDATE_LAST: lkey to gather under */
	uint32_t rkey; /* FLUSH: new rkey */
	uint32_t reserved;
};

struct o2_impl_keys_in {
	uint32_t order; /* enum o2_impl_key_order */
	uint32_t lkey;	/* of the newly allocated region */
	uint32_t rkey;
	uint32_t count; /* of events */
	const struct o2_impl_key_event *event;
};

enum o2_impl_key_op {
	O2_IMPL_KEY_INVALIDATE = 0,
	O2_IMPL_KEY_REGISTER = 1, /* register memory, or bind a memory window */
	O2_IMPL_KEY_MESSAGE = 2,  /* the message or data of a POST; key is 0 */
};

struct o2_impl_key_request {
	uint32_t op; /* enum o2_impl_key_op */
	uint32_t key;
};

/* The reaction to one event. */
struct o2_impl_key_step {
	uint32_t published; /* key of the mapping: lkey of a source, rkey of a sink; 0 while not mapped */
	uint32_t count;	    /* of requests */
	struct o2_impl_key_request request[O2_IMPL_KEY_REQUESTS]; /* in posting order, accepted or not */
};

/* A refusal means that the state does not allow an event; its index is that of the first such event. */
struct o2_impl_keys_out {
	uint32_t count; /* must equal the number of events */
	uint32_t capacity;
	struct o2_impl_key_step *step;
};

#endif
