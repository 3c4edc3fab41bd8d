/* SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/fields.h"
#include "oracle/stage_ops.h"
#include "oracle/stages/keys.h"
#include "reg/pool/pool_frd.h"

/* Stage keys: the requests that a descriptor's holder posts in the life of its key (docs/pools.md). */

#define QUEUE 1u /* number of the only queue pair */

static const char *const order_names[] = {"invalidate-first", "invalidate-last"};
static const char *const event_names[] = {"map", "post", "complete", "unmap", "flush"};
static const char *const op_names[] = {"invalidate", "register", "message"};

static const struct o2_field event_fields[] = {
	{O2_FIELD("events[].event", NAME, struct o2_impl_key_event, kind), .names = event_names, .limit = 5},
	{O2_FIELD("events[].side", NAME, struct o2_impl_key_event, side), .names = o2_side_names, .limit = 2,
	 .sparse = true},
	{O2_FIELD("events[].fails_at", UINT, struct o2_impl_key_event, fails_at), .sparse = true},
	{O2_FIELD("events[].lkey", HEX, struct o2_impl_key_event, lkey), .sparse = true},
	{O2_FIELD("events[].rkey", HEX, struct o2_impl_key_event, rkey), .sparse = true},
	{0},
};

static const struct o2_field question_fields[] = {
	{O2_FIELD("order", NAME, struct o2_case_keys, order), .names = order_names, .limit = 2},
	{O2_FIELD("lkey", HEX, struct o2_case_keys, lkey)},
	{O2_FIELD("rkey", HEX, struct o2_case_keys, rkey)},
	O2_STAGE_LIST("events", struct o2_case_keys, event, count, event_fields),
	{0},
};

static const struct o2_field request_fields[] = {
	{O2_FIELD("steps[].requests[].op", NAME, struct o2_impl_key_request, op), .names = op_names,
	 .limit = 3},
	{O2_FIELD("steps[].requests[].key", HEX, struct o2_impl_key_request, key), .sparse = true},
	{0},
};

static const struct o2_field step_fields[] = {
	{O2_FIELD("steps[].published", HEX, struct o2_impl_key_step, published)},
	O2_STAGE_LIST("steps[].requests", struct o2_impl_key_step, request, count, request_fields),
	{0},
};

static const struct o2_field result_fields[] = {
	O2_STAGE_LIST("steps", struct o2_answer_keys, step, count, step_fields),
	{0},
};

static int one_step_each(const struct o2_case *asked, const struct o2_answer *answer, struct o2_error *error)
{
	return o2_stage_one_step_each("keys/steps", answer->keys.count, asked->keys.count, error);
}

O2_STAGE_CALL(keys, keys)

static void put(const struct o2_case *asked, struct o2_impl_slot *slot)
{
	const struct o2_case_keys *keys = &asked->keys;

	slot->in->keys = (struct o2_impl_keys_in){
		.order = keys->order,
		.lkey = keys->lkey,
		.rkey = keys->rkey,
		.count = keys->count,
		.event = o2_impl_slot_copy(slot, keys->event, keys->count * sizeof(keys->event[0]))};
	slot->out->keys.capacity = O2_IMPL_MAX_EVENTS;
	slot->out->keys.step = o2_impl_slot_array(slot, O2_PART_A, "step", O2_IMPL_MAX_EVENTS,
						  sizeof(struct o2_impl_key_step));
}

static bool is_legal(const void *of, struct o2_answer *answer)
{
	const struct o2_impl_key_step *step = of;

	if (!o2_stage_fits("requests", step->count, O2_IMPL_KEY_REQUESTS, answer))
		return false;
	for (uint32_t i = 0; i < step->count; i++)
		if (!o2_result_is_legal(request_fields, &step->request[i], answer))
			return false;
	return true;
}

static void get(const struct o2_case *asked, struct o2_impl_slot *slot, struct o2_answer *answer)
{
	(void)asked;
	answer->keys.count =
		o2_stage_get_steps(slot, O2_PART_A, slot->out->keys.count, sizeof(answer->keys.step[0]),
				   is_legal, answer->keys.step, answer);
}

/* --- the reference --- */

static void hand_over(struct o2_impl_key_step *step, uint32_t op, uint32_t key)
{
	step->request[step->count++] = (struct o2_impl_key_request){.op = op, .key = key};
}

/* The number of requests, out of count, that the device accepts. */
static uint32_t accepted_of(const struct o2_impl_key_event *event, uint32_t count)
{
	return event->fails_at == 0 || event->fails_at > count ? count : event->fails_at - 1;
}

static int map(struct o2_frd_key *key, const struct o2_impl_key_event *event, struct o2_error *error)
{
	int rc = o2_frd_map(key, (enum o2_side)event->side, error);

	if (rc == 0 && key->order == O2_FRD_INVALIDATE_LAST && key->side == O2_SOURCE)
		o2_frd_gather(key, event->lkey);
	return rc;
}

static int post(struct o2_frd_key *key, const struct o2_impl_key_event *event, struct o2_impl_key_step *step,
		struct o2_error *error)
{
	struct o2_frd_chain chain = {0};
	uint32_t accepted;
	bool whole;

	(void)o2_frd_chain(key, &chain, NULL);
	if (chain.invalidate)
		hand_over(step, O2_IMPL_KEY_INVALIDATE, chain.invalidate_rkey);
	if (chain.bind)
		hand_over(step, O2_IMPL_KEY_REGISTER, chain.bind_key);
	hand_over(step, O2_IMPL_KEY_MESSAGE, 0);
	accepted = accepted_of(event, step->count);
	whole = accepted == step->count;
	return o2_frd_post_done(key, QUEUE, accepted < chain.count ? accepted : chain.count, whole, error);
}

static int complete(struct o2_frd_key *key, const struct o2_impl_key_event *event,
		    struct o2_impl_key_step *step, struct o2_error *error)
{
	uint32_t rkey;
	bool ok;
	int rc;

	if (key->order == O2_FRD_INVALIDATE_FIRST)
		return 0;
	rc = o2_frd_invalidate(key, QUEUE, &rkey, error);
	if (rc != 0)
		return rc;
	hand_over(step, O2_IMPL_KEY_INVALIDATE, rkey);
	ok = accepted_of(event, step->count) == step->count;
	(void)o2_frd_invalidate_posted(key, ok, NULL);
	if (ok)
		(void)o2_frd_invalidated(key, true, NULL);
	return 0;
}

static int take(struct o2_frd_key *key, const struct o2_impl_key_event *event, struct o2_impl_key_step *step,
		struct o2_error *error)
{
	switch (event->kind) {
	case O2_IMPL_KEY_MAP:
		return map(key, event, error);
	case O2_IMPL_KEY_POST:
		return post(key, event, step, error);
	case O2_IMPL_KEY_COMPLETE:
		return complete(key, event, step, error);
	case O2_IMPL_KEY_UNMAP:
		return o2_frd_unmap(key, error);
	default:
		return o2_frd_replaced(key, event->lkey, event->rkey, error);
	}
}

static int reference(const struct o2_case *asked, struct o2_answer *answer, struct o2_error *error)
{
	const struct o2_case_keys *keys = &asked->keys;
	struct o2_frd_key key;

	o2_frd_init(&key,
		    keys->order == O2_IMPL_INVALIDATE_LAST ? O2_FRD_INVALIDATE_LAST : O2_FRD_INVALIDATE_FIRST,
		    keys->lkey, keys->rkey);
	answer->keys.count = keys->count;
	for (uint32_t i = 0; i < keys->count; i++) {
		struct o2_impl_key_step *step = &answer->keys.step[i];
		int rc;

		memset(step, 0, sizeof(*step));
		rc = take(&key, &keys->event[i], step, error);
		if (rc != 0) {
			error->index = i;
			return rc;
		}
		if (key.state != O2_FRD_FRESH && key.state != O2_FRD_IDLE_PREPARED)
			step->published = o2_frd_published(&key);
	}
	return 0;
}

/* --- the model of the device --- */

void o2_keys_device_start(const struct o2_case_keys *asked, struct o2_keys_device *device)
{
	*device = (struct o2_keys_device){.order = asked->order, .lkey = asked->lkey, .rkey = asked->rkey};
}

/*
 * A device accepts the invalidate of any key of its region, even of the first key, which was never registered.
 * Under INVALIDATE_LAST the region may be a memory window, whose invalidate fails if no key is valid.
 */
static void invalidate(struct o2_keys_device *device, uint32_t key)
{
	enum o2_keys_fault fault = O2_KEYS_NO_FAULT;

	if ((key ^ device->lkey) >> 8 != 0 && (key ^ device->rkey) >> 8 != 0)
		fault = O2_KEYS_FOREIGN;
	else if (device->order == O2_IMPL_INVALIDATE_LAST && !device->alive)
		fault = O2_KEYS_DEAD;
	if (device->fault == O2_KEYS_NO_FAULT) {
		device->fault = fault;
		device->invalidated = key;
	}
	/*
	 * An invalidate names the rkey, but a source registers an lkey.  Both have the same low byte, so only
	 * that byte is compared.  A fault is reported by itself, so the upper bytes need no comparison.
	 */
	if (device->alive && (key & 0xff) == (device->key & 0xff))
		device->alive = false;
}

static void start_event(const struct o2_impl_key_event *event, struct o2_keys_device *device)
{
	device->registered_over = false;
	device->message_early = false;
	device->messages = 0;
	device->fault = O2_KEYS_NO_FAULT;
	if (event->kind != O2_IMPL_KEY_FLUSH)
		return;
	device->alive = false;
	device->lkey = event->lkey;
	device->rkey = event->rkey;
}

void o2_keys_device(const struct o2_impl_key_event *event, const struct o2_impl_key_step *step,
		    struct o2_keys_device *device)
{
	const uint32_t accepted = accepted_of(event, step->count);

	start_event(event, device);
	for (uint32_t i = 0; i < step->count; i++) {
		const struct o2_impl_key_request *request = &step->request[i];

		if (request->op == O2_IMPL_KEY_MESSAGE) {
			device->messages++;
			device->message_early |= i + 1 < step->count;
		}
		if (i >= accepted)
			continue;
		if (request->op == O2_IMPL_KEY_INVALIDATE)
			invalidate(device, request->key);
		if (request->op == O2_IMPL_KEY_REGISTER) {
			device->registered_over |= device->alive;
			device->alive = true;
			device->key = request->key;
		}
	}
}

static void differ_fault(struct o2_comparison *comparison, uint32_t index, const struct o2_keys_device *f)
{
	const bool foreign = f->fault == O2_KEYS_FOREIGN;
	struct o2_difference *item;

	if (f->fault == O2_KEYS_NO_FAULT)
		return;
	item = o2_differ_text(comparison, O2_CHECK_KEYS_INVALIDATE, "invalidate",
			      foreign ? "of another region" : "of no key that is alive");
	if (item == NULL)
		return;
	snprintf(item->field, sizeof(item->field), "invalidate at event %" PRIu32, index);
	if (foreign)
		snprintf(item->expected, sizeof(item->expected), "a key of the region, 0x%" PRIx32, f->rkey);
	else
		snprintf(item->expected, sizeof(item->expected), "none: no key is alive");
	snprintf(item->found, sizeof(item->found), "0x%" PRIx32 ": the queue pair fails", f->invalidated);
}

static void differ_live(struct o2_comparison *comparison, uint32_t index, const struct o2_keys_device *e,
			const struct o2_keys_device *f)
{
	const bool over = f->registered_over && !e->registered_over;
	struct o2_difference *item;

	if (e->alive == f->alive && (!e->alive || e->key == f->key) && !over)
		return;
	item = o2_differ_text(comparison, O2_CHECK_KEYS_LIVE, "alive",
			      over	  ? "registered while another is alive"
			      : !e->alive ? "a key is left alive"
			      : !f->alive ? "the key is not alive"
					  : "another key");
	if (item == NULL)
		return;
	snprintf(item->field, sizeof(item->field), "alive after event %" PRIu32, index);
	if (e->alive)
		snprintf(item->expected, sizeof(item->expected), "0x%" PRIx32, e->key);
	else
		snprintf(item->expected, sizeof(item->expected), "none");
	if (f->alive)
		snprintf(item->found, sizeof(item->found), "0x%" PRIx32 "%s", f->key,
			 over ? ", registered while another one was alive" : "");
	else
		snprintf(item->found, sizeof(item->found), "none");
}

static void differ_requests(struct o2_comparison *comparison, uint32_t index,
			    const struct o2_impl_key_step *e, const struct o2_impl_key_step *f)
{
	o2_expect(comparison, O2_CHECK_KEYS_REQUESTS, "step[].count", index, e->count, f->count);
	for (uint32_t i = 0; i < e->count && i < f->count; i++) {
		o2_expect(comparison, O2_CHECK_KEYS_REQUESTS, "step[].op", index, e->request[i].op,
			  f->request[i].op);
		if (e->request[i].op == f->request[i].op && e->request[i].op != O2_IMPL_KEY_MESSAGE)
			o2_expect_hex(comparison, O2_CHECK_KEYS_REQUESTS, "step[].key", index,
				      e->request[i].key, f->request[i].key);
	}
}

static void compare(struct o2_comparison *comparison, const struct o2_case *asked,
		    const struct o2_answer *expected, const struct o2_answer *found)
{
	struct o2_keys_device e, f;

	o2_keys_device_start(&asked->keys, &e);
	o2_keys_device_start(&asked->keys, &f);
	for (uint32_t i = 0; i < asked->keys.count; i++) {
		const struct o2_impl_key_step *right = &expected->keys.step[i], *is = &found->keys.step[i];

		o2_keys_device(&asked->keys.event[i], right, &e);
		o2_keys_device(&asked->keys.event[i], is, &f);
		o2_expect_hex(comparison, O2_CHECK_KEYS_PUBLISHED, "step[].published", i, right->published,
			      is->published);
		o2_expect(comparison, O2_CHECK_KEYS_MESSAGE, "messages", O2_NO_INDEX, e.messages, f.messages);
		if (e.messages == f.messages && f.message_early)
			o2_differ(comparison, O2_CHECK_KEYS_MESSAGE, "messages in front of the chain",
				  O2_NO_INDEX, 0, 1);
		differ_fault(comparison, i, &f);
		differ_live(comparison, i, &e, &f);
		differ_requests(comparison, i, right, is);
	}
}

const struct o2_stage_ops o2_stage_keys = {
	O2_STAGE_OPS(keys, O2_CHECK_KEYS_REFUSED_LEGAL, O2_CHECK_KEYS_ERRNO, O2_CHECK_KEYS_RULE,
		     O2_CHECK_KEYS_INDEX, O2_CHECKS),
	.request = "{\"form\":\"o2ref/keys/"
		   "input\",\"version\":1,\"order\":\"invalidate-first\",\"lkey\":\"0x100\",\"rkey\":"
		   "\"0x200\",\"events\":[{\"event\":\"map\",\"side\":\"sink\"},{\"event\":\"post\"},{"
		   "\"event\":\"unmap\"}]}",
	O2_STAGE_QUESTION(keys),
	O2_STAGE_RESULT(keys),
	.result_check = one_step_each,
	.compare = compare,
};
