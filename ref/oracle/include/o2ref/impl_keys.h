/* SPDX-License-Identifier: MIT */
#ifndef O2REF_IMPL_KEYS_H
#define O2REF_IMPL_KEYS_H

#include "impl_base.h"

/*
 * The question and the answer of stage keys, which came with version 2: the life of one fast-registration
 * key (docs/pools.md, "The life of a key").  Include o2ref/impl.h.
 *
 * It is a conversation that is asked at once: all events in, and out what each of them made the holder of the
 * descriptor hand over to the device.  The state begins anew with each question.
 */

#define O2_IMPL_MAX_EVENTS   64u
#define O2_IMPL_KEY_REQUESTS 4u /* of one event, at most */

/* When the key of a mapping is invalidated. */
enum o2_impl_key_order {
	O2_IMPL_INVALIDATE_FIRST = 0, /* in front of the next registration, as kernels do */
	O2_IMPL_INVALIDATE_LAST = 1,  /* when its transfer is over */
};

enum o2_impl_key_event_kind {
	O2_IMPL_KEY_MAP = 0,	  /* a transfer takes the descriptor: for `side` */
	O2_IMPL_KEY_POST = 1,	  /* it posts a message, or its data: fails_at */
	O2_IMPL_KEY_COMPLETE = 2, /* it is over.  Invalidate last: its key is invalidated: fails_at */
	O2_IMPL_KEY_UNMAP = 3,	  /* it gives the descriptor back */
	O2_IMPL_KEY_FLUSH = 4, /* its queue pair is in error: the region gives way to one with lkey, rkey */
};

struct o2_impl_key_event {
	uint32_t kind; /* enum o2_impl_key_event_kind */
	uint32_t side; /* map: enum o2_impl_side */
	/* post, complete: of the requests that it hands over the n-th is not accepted, nor is any behind it;
	   0: all are */
	uint32_t fails_at;
	uint32_t lkey; /* flush; map of a source under invalidate last: of the region made for it */
	uint32_t rkey; /* flush */
	uint32_t reserved;
};

struct o2_impl_keys_in {
	uint32_t order; /* enum o2_impl_key_order */
	uint32_t lkey;	/* of the region, which was just allocated */
	uint32_t rkey;
	uint32_t count;
	const struct o2_impl_key_event *event;
};

enum o2_impl_key_op {
	O2_IMPL_KEY_INVALIDATE = 0,
	O2_IMPL_KEY_REGISTER = 1, /* or bind */
	O2_IMPL_KEY_MESSAGE = 2,  /* what the post is for; key 0 */
};

struct o2_impl_key_request {
	uint32_t op; /* enum o2_impl_key_op */
	uint32_t key;
};

/* What one event came to. */
struct o2_impl_key_step {
	uint32_t published; /* while it is mapped, the key that a descriptor carries; else 0 */
	uint32_t count;
	struct o2_impl_key_request
		request[O2_IMPL_KEY_REQUESTS]; /* in the order in which they are handed over */
};

/* A refusal is that of the first event that the state does not allow; its index is the event's. */
struct o2_impl_keys_out {
	uint32_t count; /* as many as there are events */
	uint32_t capacity;
	struct o2_impl_key_step *step;
};

#endif
