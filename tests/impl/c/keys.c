/* SPDX-License-Identifier: MIT */
#include <errno.h>

#include "second.h"

/* keys: docs/pools.md, "The life of a key".  The state is a set of flags. */

struct life {
	const struct o2_impl_keys_in *in;
	struct o2_impl_refusal *refusal;
	uint32_t at; /* index of the current event */
	int last;    /* the order is INVALIDATE_LAST */
	int used;    /* a transfer has the descriptor */
	int waiting; /* the key was incremented, but was not posted */
	int sink;
	int posted; /* chain and message were accepted: later messages need no chain */
	int broken; /* only a part of the chain and its message was accepted */
	int alive;  /* INVALIDATE_LAST: the key is valid and must be invalidated */
	int dead;   /* the key was invalidated */
	int doomed; /* the invalidate was not accepted */
	uint32_t lkey, rkey, before;
};

static uint32_t count_up(uint32_t key)
{
	return (key & ~255u) + (key + 1) % 256;
}

static int32_t no(struct life *life, int error, const char *rule)
{
	return refuse(life->refusal, error, rule, life->at);
}

static void hand_over(struct o2_impl_key_step *step, uint32_t op, uint32_t key)
{
	struct o2_impl_key_request *request = &step->request[step->count++];

	request->op = op;
	request->key = key;
}

static int32_t map(struct life *life, const struct o2_impl_key_event *event)
{
	if (life->used)
		return no(life, EINVAL, "frd/map/state");
	if (!life->waiting) {
		life->before = life->rkey;
		life->rkey = count_up(life->rkey);
		life->lkey = count_up(life->lkey);
	}
	life->used = life->waiting = 1;
	life->sink = event->side == O2_IMPL_SINK;
	if (!life->sink && life->last)
		life->lkey = event->lkey;
	return O2_IMPL_OK;
}

static int32_t post(struct life *life, const struct o2_impl_key_event *event, struct o2_impl_key_step *step)
{
	uint32_t taken, chain;

	if (!life->used || life->broken || life->dead || life->doomed)
		return no(life, EINVAL, "frd/post/state");
	if (!life->posted && !life->last)
		hand_over(step, O2_IMPL_KEY_INVALIDATE, life->before);
	if (!life->posted && (life->sink || !life->last))
		hand_over(step, O2_IMPL_KEY_REGISTER, life->sink ? life->rkey : life->lkey);
	chain = step->count;
	hand_over(step, O2_IMPL_KEY_MESSAGE, 0);
	taken = event->fails_at && event->fails_at <= step->count ? event->fails_at - 1 : step->count;
	if (chain && taken) {
		life->waiting = 0;
		life->posted = taken > chain;
		life->broken = !life->posted;
		life->alive = life->last && taken >= chain;
	}
	return O2_IMPL_OK;
}

static int32_t complete(struct life *life, const struct o2_impl_key_event *event,
			struct o2_impl_key_step *step)
{
	if (!life->last)
		return O2_IMPL_OK;
	if (!life->alive || life->dead || life->doomed)
		return no(life, EINVAL, "frd/invalidate/state");
	hand_over(step, O2_IMPL_KEY_INVALIDATE, life->rkey);
	life->doomed = event->fails_at == 1;
	life->dead = !life->doomed;
	life->alive = life->doomed;
	return O2_IMPL_OK;
}

static void let_go(struct life *life)
{
	life->used = life->posted = life->broken = life->alive = life->dead = life->doomed = 0;
}

static int32_t unmap(struct life *life)
{
	if (!life->used)
		return no(life, EINVAL, "frd/unmap/state");
	if (life->alive)
		return no(life, EBUSY, "frd/unmap/key-alive");
	let_go(life);
	return O2_IMPL_OK;
}

static int32_t flush(struct life *life, const struct o2_impl_key_event *event)
{
	if (!life->used)
		return no(life, EINVAL, "frd/replaced/state");
	let_go(life);
	life->waiting = 0;
	life->lkey = event->lkey;
	life->rkey = event->rkey;
	return O2_IMPL_OK;
}

static int32_t take(struct life *life, const struct o2_impl_key_event *event, struct o2_impl_key_step *step)
{
	switch (event->kind) {
	case O2_IMPL_KEY_MAP:
		return map(life, event);
	case O2_IMPL_KEY_POST:
		return post(life, event, step);
	case O2_IMPL_KEY_COMPLETE:
		return complete(life, event, step);
	case O2_IMPL_KEY_UNMAP:
		return unmap(life);
	default:
		return flush(life, event);
	}
}

int32_t second_keys(const struct o2_impl_keys_in *in, struct o2_impl_keys_out *out,
		    struct o2_impl_refusal *refusal)
{
	struct life life = {.in = in, .refusal = refusal, .lkey = in->lkey, .rkey = in->rkey};
	int32_t status = O2_IMPL_OK;

	out->count = 0;
	life.last = in->order == O2_IMPL_INVALIDATE_LAST;
	for (; life.at < in->count && status == O2_IMPL_OK; life.at++) {
		struct o2_impl_key_step step = {0};

		status = take(&life, &in->event[life.at], &step);
		if (life.used)
			step.published = life.sink ? life.rkey : life.lkey;
		out->step[out->count++] = step;
	}
	return status;
}
