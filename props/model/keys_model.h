/* SPDX-License-Identifier: MIT */
#ifndef O2_PROPS_KEYS_MODEL_H
#define O2_PROPS_KEYS_MODEL_H

#include <stdbool.h>
#include <stdint.h>

/*
 * A model of the life of one fast-registration key, as flags and counts, written from docs/pools.md, "The life of a
 * key", without using ref/reg: the answer of each step, and what the driver and the device know afterwards.
 */

enum o2_key_step_kind {
	O2_KEY_MAP,
	O2_KEY_POST,
	O2_KEY_UNMAP,
	O2_KEY_CHAIN,	   /* query: changes nothing */
	O2_KEY_INVALIDATE, /* query: changes nothing */
	O2_KEY_INVALIDATE_POSTED,
	O2_KEY_INVALIDATED,
	O2_KEY_REPLACED,
	O2_KEY_STEPS,
};

struct o2_key_step {
	enum o2_key_step_kind kind;
	bool source;	   /* map: is it the source's memory */
	bool ok;	   /* post, invalidate posted, invalidated: it succeeded */
	uint32_t accepted; /* post: requests of the chain that the device accepted */
	uint64_t queue;	   /* post, invalidate */
};

/* State of a region: two keys with a common counter, and the state of its last registration. */
struct o2_key_model {
	bool invalidate_last;
	uint32_t lkey, rkey; /* as the driver knows them */
	uint32_t old_rkey;   /* the rkey before its counter was advanced */
	bool source;	     /* the last mapping is of a source */
	bool mapped;	     /* a transfer holds the mapping */
	bool valid;	     /* a key is prepared and not yet used */
	bool posted;	     /* the chain, and the rest of that post, was accepted */
	bool alive;	     /* the device accepts device_key: bound, and no invalidate has completed */
	uint32_t device_key;
	uint64_t queue;	    /* queue pair that accepted the chain */
	bool invalidating;  /* an invalidate is posted and not completed */
	bool given_up;	    /* an invalidate failed: the region must be replaced */
	uint32_t region;    /* its number; its replacement gets the next number */
	uint32_t chains;    /* chains used up, of this region */
	uint32_t abandoned; /* mappings resumed under the same key */
};

/* The required answer of a step. */
struct o2_key_answer {
	int code;	     /* 0 or -errno */
	const char *rule;    /* rule of a refusal; otherwise NULL */
	uint32_t requests;   /* chain: number of requests */
	uint32_t invalidate; /* chain, invalidate: the rkey to be invalidated */
	uint32_t bind;	     /* chain: the rkey to be bound */
};

/* Initial keys of region number `region`.  Their upper bits differ from each other's and other regions'. */
uint32_t o2_key_first_lkey(uint32_t region, uint8_t low);
uint32_t o2_key_first_rkey(uint32_t region, uint8_t low);

/* A region just allocated, number `region`; `low` is the low byte of its initial keys. */
void o2_key_model_init(struct o2_key_model *model, bool invalidate_last, uint32_t region, uint8_t low);

/* Predict the answer of the step, and carry the step out in the model. */
void o2_key_model_step(struct o2_key_model *model, const struct o2_key_step *step,
		       struct o2_key_answer *answer);

/* Number of requests of the chain that must precede the next post. */
uint32_t o2_key_model_requests(const struct o2_key_model *model);

/* Set the lkey of this mapping, for a source under invalidate last. */
void o2_key_model_gather(struct o2_key_model *model, uint32_t lkey);

/* The rkey that a descriptor carries. */
uint32_t o2_key_model_published(const struct o2_key_model *model);

#endif
