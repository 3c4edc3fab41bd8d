/* SPDX-License-Identifier: MIT */
#include "props/model/keys_model.h"

#include <errno.h>
#include <string.h>

uint32_t o2_key_first_lkey(uint32_t region, uint8_t low)
{
	return 0x10000000u + region * 0x200u + low;
}

uint32_t o2_key_first_rkey(uint32_t region, uint8_t low)
{
	return 0x20000000u + region * 0x200u + low;
}

void o2_key_model_init(struct o2_key_model *m, bool invalidate_last, uint32_t region, uint8_t low)
{
	memset(m, 0, sizeof(*m));
	m->invalidate_last = invalidate_last;
	m->region = region;
	m->lkey = o2_key_first_lkey(region, low);
	m->rkey = o2_key_first_rkey(region, low);
}

static uint32_t count_on(uint32_t key)
{
	return key / 256 * 256 + (key + 1) % 256;
}

void o2_key_model_gather(struct o2_key_model *m, uint32_t lkey)
{
	m->lkey = lkey;
}

uint32_t o2_key_model_published(const struct o2_key_model *m)
{
	return m->source ? m->lkey : m->rkey;
}

static void refuse(struct o2_key_answer *answer, int code, const char *rule)
{
	answer->code = code;
	answer->rule = rule;
}

static void map(struct o2_key_model *m, bool source, struct o2_key_answer *answer)
{
	if (m->mapped) {
		refuse(answer, -EINVAL, "frd/map/state");
		return;
	}
	if (m->valid) {
		m->abandoned++;
	} else { /* the last chain was used up, or there was none */
		m->old_rkey = m->rkey;
		m->lkey = count_on(m->lkey);
		m->rkey = count_on(m->rkey);
		m->valid = true;
	}
	m->mapped = true;
	m->source = source;
}

uint32_t o2_key_model_requests(const struct o2_key_model *m)
{
	if (!m->valid || (m->invalidate_last && m->source))
		return 0;
	return m->invalidate_last ? 1 : 2;
}

static bool may_post(const struct o2_key_model *m)
{
	return m->mapped && !m->invalidating && !m->given_up && (m->valid || m->posted);
}

static void chain(const struct o2_key_model *m, struct o2_key_answer *answer)
{
	if (!may_post(m)) {
		refuse(answer, -EINVAL, "frd/chain/state");
		return;
	}
	answer->requests = o2_key_model_requests(m);
	if (answer->requests == 0)
		return;
	answer->bind = o2_key_model_published(m);
	if (!m->invalidate_last)
		answer->invalidate = m->old_rkey;
}

static void post(struct o2_key_model *m, const struct o2_key_step *step, struct o2_key_answer *answer)
{
	const uint32_t requests = o2_key_model_requests(m);

	if (!may_post(m)) {
		refuse(answer, -EINVAL, "frd/post/state");
		return;
	}
	if (step->accepted > requests || (step->ok && step->accepted != requests)) {
		refuse(answer, -EINVAL, "frd/post/accepted");
		return;
	}
	if (step->accepted == 0)
		return;
	m->valid = false;
	m->posted = step->ok;
	m->queue = step->queue;
	m->chains++;
	/* In order: the old key is invalidated first, then the new key is bound. */
	m->alive = step->accepted == requests;
	m->device_key = m->alive ? o2_key_model_published(m) : 0;
}

/* True if a bound key exists that no request invalidates yet. */
static bool may_invalidate(const struct o2_key_model *m, struct o2_key_answer *answer)
{
	if (!m->invalidate_last)
		refuse(answer, -EINVAL, "frd/invalidate/order");
	else if (!m->mapped || m->valid || !m->alive || m->invalidating || m->given_up)
		refuse(answer, -EINVAL, "frd/invalidate/state");
	return answer->code == 0;
}

static void invalidate(const struct o2_key_model *m, uint64_t queue, struct o2_key_answer *answer)
{
	if (!may_invalidate(m, answer))
		return;
	if (queue != m->queue)
		refuse(answer, -EINVAL, "frd/invalidate/queue");
	else
		answer->invalidate = m->device_key;
}

static void invalidated(struct o2_key_model *m, bool ok, struct o2_key_answer *answer)
{
	if (!m->invalidating) {
		refuse(answer, -EINVAL, "frd/invalidated/state");
		return;
	}
	m->invalidating = false;
	m->given_up = !ok;
	m->posted = false;
	m->alive = !ok; /* flushed: its state is unknown, so it counts as alive */
}

static void unmap(struct o2_key_model *m, struct o2_key_answer *answer)
{
	if (!m->mapped) {
		refuse(answer, -EINVAL, "frd/unmap/state");
	} else if (!m->valid && m->invalidate_last && m->alive) {
		refuse(answer, -EBUSY, "frd/unmap/key-alive");
	} else {
		m->mapped = false;
		m->posted = false;
	}
}

void o2_key_model_step(struct o2_key_model *m, const struct o2_key_step *step, struct o2_key_answer *answer)
{
	memset(answer, 0, sizeof(*answer));
	switch (step->kind) {
	case O2_KEY_MAP:
		map(m, step->source, answer);
		break;
	case O2_KEY_POST:
		post(m, step, answer);
		break;
	case O2_KEY_UNMAP:
		unmap(m, answer);
		break;
	case O2_KEY_CHAIN:
		chain(m, answer);
		break;
	case O2_KEY_INVALIDATE:
		invalidate(m, step->queue, answer);
		break;
	case O2_KEY_INVALIDATE_POSTED:
		if (may_invalidate(m, answer)) {
			m->invalidating = step->ok;
			m->given_up = !step->ok;
			m->posted = false;
		}
		break;
	case O2_KEY_INVALIDATED:
		invalidated(m, step->ok, answer);
		break;
	default:
		if (!m->mapped) {
			refuse(answer, -EINVAL, "frd/replaced/state");
			break;
		}
		o2_key_model_init(m, m->invalidate_last, m->region + 1, (uint8_t)(m->region + 1));
		break;
	}
}
