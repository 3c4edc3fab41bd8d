/* SPDX-License-Identifier: MIT */
#include "props/check/check_steer.h"
#include "props/check/draw_stage.h"
#include "reg/pool/pool_frd.h"

/* Conversations with a key: mostly what its state allows; now and then a post that is partly not accepted. */

#define LOW_BYTES 0x100u

/* Update the state for an event.  Where it is not allowed, the reference refuses: the conversation ends. */
static void follow(struct o2_frd_key *key, const struct o2_impl_key_event *event)
{
	struct o2_frd_chain chain = {0};
	uint32_t accepted = event->fails_at == 0 ? UINT32_MAX : event->fails_at - 1;
	uint32_t rkey;

	switch (event->kind) {
	case O2_IMPL_KEY_MAP:
		(void)o2_frd_map(key, (enum o2_side)event->side, NULL);
		break;
	case O2_IMPL_KEY_POST:
		(void)o2_frd_chain(key, &chain, NULL);
		(void)o2_frd_post_done(key, 1, accepted < chain.count ? accepted : chain.count,
				       accepted > chain.count, NULL);
		break;
	case O2_IMPL_KEY_COMPLETE:
		if (o2_frd_invalidate(key, 1, &rkey, NULL) != 0)
			break;
		(void)o2_frd_invalidate_posted(key, accepted > 0, NULL);
		(void)o2_frd_invalidated(key, true, NULL);
		break;
	case O2_IMPL_KEY_UNMAP:
		(void)o2_frd_unmap(key, NULL);
		break;
	default:
		(void)o2_frd_replaced(key, event->lkey, event->rkey, NULL);
		break;
	}
}

/* Weights of map, post, complete, unmap, flush, by state; the same for a source under invalidate last. */
static const uint32_t weights[O2_FRD_STATES][5] = {
	[O2_FRD_FRESH] = {1, 0, 0, 0, 0},	  [O2_FRD_PREPARED] = {0, 6, 0, 2, 1},
	[O2_FRD_IDLE_PREPARED] = {1, 0, 0, 0, 0}, [O2_FRD_LIVE] = {0, 3, 3, 3, 1},
	[O2_FRD_SPENT] = {0, 0, 2, 3, 2},	  [O2_FRD_INVALIDATING] = {0, 0, 0, 0, 1},
	[O2_FRD_DEAD] = {0, 0, 0, 4, 1},	  [O2_FRD_DOOMED] = {0, 0, 0, 0, 1},
};

static uint32_t draw_kind(struct o2_choice *c, const struct o2_frd_key *key)
{
	uint32_t weight[5];
	const bool last = key->order == O2_FRD_INVALIDATE_LAST;

	if (o2_draw_bool(c, 30, 1))
		return (uint32_t)o2_draw(c, 4);
	for (uint32_t i = 0; i < 5; i++)
		weight[i] = weights[key->state][i];
	/* Under invalidate last, invalidate a live key before unmap; an unbound key cannot be invalidated. */
	if (last && (key->state == O2_FRD_LIVE || (key->state == O2_FRD_SPENT && key->registered)))
		weight[O2_IMPL_KEY_UNMAP] = 0;
	if (last && key->state == O2_FRD_SPENT && !key->registered)
		weight[O2_IMPL_KEY_COMPLETE] = 0;
	return (uint32_t)o2_draw_weighted(c, weight, 5);
}

/* Draw the low byte that both keys of a region begin with; sometimes near its end, so that it wraps soon. */
static uint32_t draw_low(struct o2_choice *c)
{
	return o2_draw_bool(c, 2, 1) ? 0xff - (uint32_t)o2_draw(c, 3) : (uint32_t)o2_draw(c, 0xff);
}

static void draw_event(struct o2_choice *c, const struct o2_frd_key *key, uint32_t index,
		       struct o2_impl_key_event *event)
{
	*event = (struct o2_impl_key_event){.kind = draw_kind(c, key)};
	switch (event->kind) {
	case O2_IMPL_KEY_MAP:
		event->side = o2_draw_bool(c, 1, 2);
		if (event->side == O2_SOURCE && key->order == O2_FRD_INVALIDATE_LAST)
			event->lkey = 0x40000000u + index * LOW_BYTES;
		break;
	case O2_IMPL_KEY_POST:
		if (o2_draw_bool(c, 4, 1))
			event->fails_at = 1 + (uint32_t)o2_draw(c, 2);
		break;
	case O2_IMPL_KEY_COMPLETE:
		event->fails_at = o2_draw_bool(c, 6, 1);
		break;
	case O2_IMPL_KEY_FLUSH:
		event->lkey = 0x10000000u + index * LOW_BYTES + draw_low(c);
		event->rkey = event->lkey + 0x10000000u;
		break;
	default:
		break;
	}
}

static void draw(struct o2_choice *c, struct o2_case *asked)
{
	struct o2_case_keys *drawn = &asked->keys;
	struct o2_frd_key key;

	*drawn = (struct o2_case_keys){.order = o2_draw_bool(c, 2, 1)};
	drawn->lkey = LOW_BYTES + draw_low(c);
	/* Some devices have one key for both lkey and rkey. */
	drawn->rkey = drawn->lkey + (o2_draw_bool(c, 3, 1) ? 0 : LOW_BYTES);
	o2_frd_init(&key,
		    drawn->order == O2_IMPL_INVALIDATE_LAST ? O2_FRD_INVALIDATE_LAST
							    : O2_FRD_INVALIDATE_FIRST,
		    drawn->lkey, drawn->rkey);
	do {
		draw_event(c, &key, drawn->count, &drawn->event[drawn->count]);
		follow(&key, &drawn->event[drawn->count]);
		drawn->count++;
	} while (drawn->count < O2_IMPL_MAX_EVENTS && o2_draw_bool(c, 1, 12));
}

static void features(const struct o2_case *asked, uint8_t *f)
{
	const struct o2_case_keys *in = &asked->keys;

	f[0] = (uint8_t)in->order;
	f[1] = o2_steer_size(in->count);
	for (uint32_t i = 0; i < in->count; i++) {
		const struct o2_impl_key_event *event = &in->event[i];

		f[2] |= event->kind == O2_IMPL_KEY_FLUSH;
		f[3] |= event->kind == O2_IMPL_KEY_POST && event->fails_at != 0;
		f[4] |= event->kind == O2_IMPL_KEY_MAP && event->side == O2_SOURCE;
		f[5] |= event->kind == O2_IMPL_KEY_COMPLETE;
	}
}

const struct o2_draw_stage o2_draw_keys = {.draw = draw, .features = features};
