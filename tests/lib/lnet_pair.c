/* SPDX-License-Identifier: MIT */
#include "tests/lib/lnet_pair.h"

static struct letter *side_post(struct lnet_side *side, int kind, const struct o2_lnet_hdr *hdr,
				const struct o2_transfer_memory *memory, uint64_t tag)
{
	struct letter *letter;

	assert_true(side->nletters < LNET_LETTERS);
	letter = &side->letter[side->nletters++];
	memset(letter, 0, sizeof(*letter));
	letter->kind = kind;
	letter->from = side;
	letter->hdr = *hdr;
	letter->tag = tag;
	if (memory != NULL)
		letter->memory = *memory;
	return letter;
}

static uint32_t side_immediate_max(void *context, uint64_t nid)
{
	const struct lnet_side *side = context;

	return side->immediate_max;
}

static int side_refuses(const struct lnet_side *side, uint64_t nid, const char *what, struct o2_error *error)
{
	if (nid != side->peer->nid) /* nobody is there */
		return o2_refuse(error, -EHOSTUNREACH, "test/nid", "nid", O2_NO_INDEX, nid, side->peer->nid);
	return side->refuse == 0 ? 0
				 : o2_refuse(error, side->refuse, "test/refused", what, O2_NO_INDEX, 0, 0);
}

static int side_send(void *context, uint64_t nid, const struct o2_lnet_hdr *hdr,
		     const struct o2_transfer_memory *payload, uint64_t tag, struct o2_error *error)
{
	struct lnet_side *side = context;
	int rc = side_refuses(side, nid, "send", error);
	struct letter *letter;

	if (rc != 0)
		return rc;
	assert_true(hdr->payload_length <= side->immediate_max);
	assert_int_equal(payload == NULL ? 0 : payload->buffer.nob, hdr->payload_length);
	letter = side_post(side, LETTER_IMMEDIATE, hdr, NULL, tag);
	if (payload != NULL)
		assert_int_equal(o2_copy_from_buffer(&side->arena, &payload->buffer, letter->payload, error),
				 0);
	return 0;
}

static int side_rdma(struct lnet_side *side, uint64_t nid, int kind, const struct o2_lnet_hdr *hdr,
		     const struct o2_transfer_memory *memory, uint64_t tag, struct o2_error *error)
{
	int rc = side_refuses(side, nid, kind == LETTER_PUT ? "put" : "get", error);

	if (rc == 0) {
		assert_true((kind == LETTER_PUT ? hdr->payload_length : memory->buffer.nob) >
			    side->immediate_max);
		side_post(side, kind, hdr, memory, tag);
	}
	return rc;
}

static int side_put(void *context, uint64_t nid, const struct o2_lnet_hdr *hdr,
		    const struct o2_transfer_memory *source, uint64_t tag, struct o2_error *error)
{
	return side_rdma(context, nid, LETTER_PUT, hdr, source, tag, error);
}

static int side_get(void *context, uint64_t nid, const struct o2_lnet_hdr *hdr,
		    const struct o2_transfer_memory *sink, uint64_t tag, struct o2_error *error)
{
	return side_rdma(context, nid, LETTER_GET, hdr, sink, tag, error);
}

void lnet_move_bytes(const struct lnet_side *source, struct o2_buffer from, const struct lnet_side *sink,
		     struct o2_buffer to)
{
	static uint8_t bytes[O2_MAX_TRANSFER_BYTES];

	from.nob = to.nob < from.nob ? to.nob : from.nob;
	to.nob = from.nob;
	assert_int_equal(o2_copy_from_buffer(&source->arena, &from, bytes, NULL), 0);
	assert_int_equal(o2_copy_to_buffer(&sink->arena, &to, bytes, NULL), 0);
}

static int deliver_rdma(struct lnet_side *to, const struct letter *letter)
{
	struct o2_transfer_memory memory;
	struct lnet_side *from = letter->from;
	uint64_t tag, nob;
	int rc = o2_lnet_match(to->lnet, from->nid, &letter->hdr, &memory, &tag, &to->error);

	if (rc != 0) {
		/* PUT_NAK 0, or GET_DONE with the errno. */
		if (letter->kind == LETTER_PUT && rc == -ENODATA)
			o2_lnet_finished(from->lnet, letter->tag, 0, 0, NULL);
		else
			o2_lnet_finished(from->lnet, letter->tag, rc, 0, NULL);
		return rc;
	}
	nob = memory.buffer.nob;
	if (from->fail_transfer == 0 && letter->kind == LETTER_PUT)
		lnet_move_bytes(from, letter->memory.buffer, to, memory.buffer);
	else if (from->fail_transfer == 0)
		lnet_move_bytes(to, memory.buffer, from, letter->memory.buffer);
	else
		nob = 0;
	o2_lnet_finished(to->lnet, tag, from->fail_transfer, nob, NULL);
	o2_lnet_finished(from->lnet, letter->tag, from->fail_transfer, nob, NULL);
	return 0;
}

int lnet_deliver(struct lnet_side *from)
{
	static struct letter letter;
	int rc;

	assert_true(from->nletters > 0);
	letter = from->letter[0];
	from->nletters--;
	memmove(from->letter, from->letter + 1, from->nletters * sizeof(letter));
	if (letter.kind != LETTER_IMMEDIATE)
		return deliver_rdma(from->peer, &letter);
	rc = o2_lnet_receive(from->peer->lnet, from->nid, &letter.hdr, letter.payload, &from->peer->error);
	o2_lnet_finished(from->lnet, letter.tag, 0, 0, NULL);
	return rc;
}

void lnet_deliver_all(struct lnet_pair *pair)
{
	while (pair->a.nletters + pair->b.nletters > 0)
		lnet_deliver(pair->a.nletters > 0 ? &pair->a : &pair->b);
}

static void side_done(void *context, const struct o2_lnet_result *result)
{
	struct lnet_side *side = context;

	if (side->listener != NULL && side->listen_done(side->listener, result))
		return;
	assert_true(side->nresults < LNET_EVENTS);
	side->fault[side->nresults] = (struct o2_transfer_fault){.code = 0};
	if (result->fault != NULL)
		side->fault[side->nresults] = *result->fault;
	side->result[side->nresults++] = *result;
}

static void side_started(void *context, const struct o2_lnet_event *event)
{
	struct lnet_side *side = context;

	assert_true(side->nwriting < LNET_EVENTS);
	assert_int_equal(event->kind, O2_LNET_EVENT_PUT);
	assert_int_not_equal(event->request, 0);
	for (uint32_t i = 0; i < side->nwriting; i++)
		assert_int_not_equal(side->writing[i], event->request);
	side->writing[side->nwriting++] = event->request;
}

/* A PUT ends if it was started, or was an IMMEDIATE. */
static void side_ended(struct lnet_side *side, const struct o2_lnet_event *event)
{
	uint32_t i = 0;

	while (i < side->nwriting && side->writing[i] != event->request)
		i++;
	assert_true((i < side->nwriting) == (event->request != 0));
	if (event->request != 0)
		side->writing[i] = side->writing[--side->nwriting];
}

static void side_event(void *context, const struct o2_lnet_event *event)
{
	struct lnet_side *side = context;

	if (event->kind == O2_LNET_EVENT_PUT)
		side_ended(side, event);
	if (side->listener != NULL && side->listen_event(side->listener, event))
		return;
	assert_true(side->nevents < LNET_EVENTS);
	if (event->kind == O2_LNET_EVENT_DROPPED)
		side->dropped = event->error->rule;
	side->event_hdr[side->nevents] = *event->hdr;
	side->event[side->nevents++] = *event;
}

struct o2_lnet_transport lnet_side_transport(struct lnet_side *side)
{
	return (struct o2_lnet_transport){side, side_immediate_max, side_send, side_put, side_get};
}

static void side_open(struct lnet_side *side, uint64_t nid, uint64_t cookie, struct lnet_side *peer,
		      const struct o2_lnet_config *base)
{
	struct o2_lnet_config config = *base;
	const struct o2_lnet_transport transport = lnet_side_transport(side);
	const struct o2_lnet_ops ops = {.done = side_done, .started = side_started, .event = side_event};

	memset(side, 0, sizeof(*side));
	side->nid = nid;
	side->peer = peer;
	side->immediate_max = O2_IMMEDIATE_MAX;
	config.nid = nid;
	config.interface_cookie = cookie;
	o2_clock_tell(&side->clock, 0); /* the time that tests count from */
	assert_int_equal(o2_arena_create(LNET_PAGES, &side->arena, &side->error), 0);
	assert_int_equal(o2_lnet_create(&config, &transport, &side->arena, &side->clock, &ops, side,
					&side->lnet, &side->error),
			 0);
}

void lnet_side_clock(struct lnet_side *side, uint64_t now_ms)
{
	o2_clock_tell(&side->clock, now_ms);
	o2_lnet_check_time(side->lnet);
}

void lnet_pair_open(struct lnet_pair *pair, const struct o2_lnet_config *base)
{
	const struct o2_lnet_config defaults = O2_LNET_DEFAULTS;

	side_open(&pair->a, NID_A, COOKIE_A, &pair->b, base == NULL ? &defaults : base);
	side_open(&pair->b, NID_B, COOKIE_B, &pair->a, base == NULL ? &defaults : base);
}

void lnet_pair_close(struct lnet_pair *pair)
{
	assert_int_equal(pair->a.nwriting + pair->b.nwriting, 0);
	o2_lnet_destroy(pair->a.lnet);
	o2_lnet_destroy(pair->b.lnet);
	o2_arena_destroy(&pair->a.arena);
	o2_arena_destroy(&pair->b.arena);
}

struct o2_transfer_memory lnet_side_memory(struct lnet_side *side, unsigned int which, uint32_t page,
					   uint32_t length_bytes)
{
	static struct o2_iov iov[8];
	struct o2_iov *piece = &iov[which + (side->nid == NID_A ? 0 : 4)];

	assert_true(which < 4);
	*piece = (struct o2_iov){side->arena.view[0].base + (uint64_t)page * side->arena.page_bytes,
				 length_bytes};
	return (struct o2_transfer_memory){
		.buffer = {.kind = O2_IOV, .count = 1, .nob = length_bytes, .iov = piece},
	};
}

uint8_t *lnet_side_bytes(const struct lnet_side *side, uint32_t page)
{
	return o2_arena_page(&side->arena, page);
}

void fill_bytes(uint8_t *bytes, size_t n, uint8_t seed)
{
	for (size_t i = 0; i < n; i++)
		bytes[i] = (uint8_t)(seed + i * 7 + (i >> 8) * 13);
}

struct o2_lnet_entry entry_of(const struct o2_transfer_memory *memory)
{
	return (struct o2_lnet_entry){
		.portal = 60,
		.match_bits = 0x1234,
		O2_LNET_FOR_ANYBODY,
		.options = O2_LNET_MD_OP_PUT | O2_LNET_MD_OP_GET | O2_LNET_MD_MANAGE_REMOTE,
		.tag = 77,
		.memory = *memory,
	};
}

struct o2_lnet_target target_at(uint64_t nid, bool ack)
{
	return (struct o2_lnet_target){.nid = nid, .portal = 60, .match_bits = 0x1234, .ack = ack};
}

int lnet_pair_setup(void **state)
{
	static struct lnet_pair pair;

	lnet_pair_open(&pair, NULL);
	*state = &pair;
	return 0;
}

int lnet_pair_teardown(void **state)
{
	lnet_pair_close(*state);
	return 0;
}

void lnet_expect_result(struct lnet_side *side, int status, uint64_t length_bytes)
{
	assert_int_equal(side->nresults, 1);
	assert_int_equal(side->result[0].status, status);
	assert_int_equal(side->result[0].length_bytes, length_bytes);
	assert_int_equal(o2_lnet_messages(side->lnet), 0);
	side->nresults = 0;
}

void lnet_expect_dropped(struct lnet_side *side, const char *rule)
{
	assert_non_null(side->dropped);
	assert_string_equal(side->dropped, rule);
	side->dropped = NULL;
	side->nevents = 0;
}

void lnet_offer(struct lnet_side *side, uint32_t options)
{
	const struct o2_transfer_memory memory = lnet_side_memory(side, 3, 256, O2_MAX_TRANSFER_BYTES);
	struct o2_lnet_entry entry = entry_of(&memory);

	entry.options |= options;
	assert_true(o2_lnet_attach(side->lnet, &entry, NULL) >= 0);
}

void lnet_expect_fault(const struct lnet_side *side, enum o2_fault_side blamed, const char *rule,
		       uint64_t value, uint64_t limit)
{
	const struct o2_transfer_fault *fault = &side->fault[0];

	assert_int_equal(fault->side, blamed);
	assert_non_null(fault->error.rule);
	assert_string_equal(fault->error.rule, rule);
	assert_int_equal(fault->code, fault->error.code);
	assert_true(fault->error.value == value && fault->error.limit == limit);
}

void lnet_put(struct lnet_side *side, const struct o2_lnet_target *target,
	      const struct o2_transfer_memory *source)
{
	assert_int_equal(o2_lnet_put(side->lnet, target, source, NULL, NULL), 0);
}

void lnet_get(struct lnet_side *side, const struct o2_lnet_target *target,
	      const struct o2_transfer_memory *sink)
{
	assert_int_equal(o2_lnet_get(side->lnet, target, sink, NULL, NULL), 0);
}
