/* SPDX-License-Identifier: MIT */
#ifndef O2_PROPS_KEYS_MODEL_H
#define O2_PROPS_KEYS_MODEL_H

#include <stdbool.h>
#include <stdint.h>

/*
 * The life of one fast-registration key as flags and counts, written from docs/pools.md, "The life of a key",
 * without using ref/reg: what each step answers, and what driver and device know afterwards.
 */

enum o2_key_step_kind {
	O2_KEY_MAP,
	O2_KEY_POST,
	O2_KEY_UNMAP,
	O2_KEY_CHAIN,	   /* asks only */
	O2_KEY_INVALIDATE, /* asks only */
	O2_KEY_INVALIDATE_POSTED,
	O2_KEY_INVALIDATED,
	O2_KEY_REPLACED,
	O2_KEY_STEPS,
};

struct o2_key_step {
	enum o2_key_step_kind kind;
	bool source;	   /* map: which side */
	bool ok;	   /* post, invalidate posted, invalidated: all went well */
	uint32_t accepted; /* post: requests of the chain */
	uint64_t queue;	   /* post, invalidate */
};

/* What is known of a region: two keys that count together, and what became of its last registration. */
struct o2_key_model {
	bool invalidate_last;
	uint32_t lkey, rkey; /* the driver's */
	uint32_t old_rkey;   /* the one before the count */
	bool source;	     /* side of the last mapping */
	bool mapped;	     /* some transfer holds it */
	bool valid;	     /* a key is prepared and was not used */
	bool posted;	     /* the chain, and all else of that post, was accepted */
	bool alive;	     /* the device admits device_key: bound, and no invalidate completed */
	uint32_t device_key;
	uint64_t queue;	    /* that took the chain */
	bool invalidating;  /* invalidate posted, not completed */
	bool given_up;	    /* an invalidate failed: only another region helps */
	uint32_t region;    /* its number: that of the one that replaces it is next */
	uint32_t chains;    /* used up, of this region */
	uint32_t abandoned; /* mappings that were taken up again under the same key */
};

/* What a step must answer. */
struct o2_key_answer {
	int code;	     /* 0 or -errno */
	const char *rule;    /* of a refusal, else NULL */
	uint32_t requests;   /* chain: how many */
	uint32_t invalidate; /* the rkey to be invalidated, by chain or by invalidate */
	uint32_t bind;	     /* chain: the key to be bound */
};

/* Keys of region number `region`: the two differ in their upper bits, and from those of all other regions. */
uint32_t o2_key_first_lkey(uint32_t region, uint8_t low);
uint32_t o2_key_first_rkey(uint32_t region, uint8_t low);

/* Region number `region`, just allocated; `low` is the low byte that its keys start with. */
void o2_key_model_init(struct o2_key_model *model, bool invalidate_last, uint32_t region, uint8_t low);

/* Predict what the step answers, and take it. */
void o2_key_model_step(struct o2_key_model *model, const struct o2_key_step *step,
		       struct o2_key_answer *answer);

/* Requests of the chain that the next post has to begin with. */
uint32_t o2_key_model_requests(const struct o2_key_model *model);

/* A source under invalidate last: the lkey of this mapping. */
void o2_key_model_gather(struct o2_key_model *model, uint32_t lkey);

/* What a descriptor carries. */
uint32_t o2_key_model_published(const struct o2_key_model *model);

#endif
