/* SPDX-License-Identifier: MIT */
#include "props/world/lnet_pair.h"

#include <assert.h>
#include <errno.h>
#include <stddef.h>
#include <string.h>

#include "mem/kmap.h"

/* Keep the first error only. */
static void check(struct o2_lnet_side *side, bool holds, const char *what)
{
	if (!holds && side->wrong == NULL)
		side->wrong = what;
}

/* Check that a list of `have` entries has room for one more. */
static bool has_room(struct o2_lnet_side *side, uint32_t have, uint32_t most, const char *what)
{
	check(side, have < most, what);
	return have < most;
}

static struct o2_letter *side_post(struct o2_lnet_side *side, int kind, const struct o2_lnet_hdr *hdr,
				   const struct o2_transfer_memory *memory, uint64_t tag)
{
	struct o2_letter *letter;

	if (!has_room(side, side->nletters, O2_LNET_SIDE_LETTERS, "more messages on their way than kept"))
		return NULL;
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
	const struct o2_lnet_side *side = context;

	(void)nid;
	return side->immediate_max;
}

static int side_refuses(struct o2_lnet_side *side, uint64_t nid, struct o2_error *error)
{
	if (nid != side->peer->nid) /* no node has this NID */
		return o2_refuse_value(error, -EHOSTUNREACH, "test/nid", "nid", nid, side->peer->nid);
	if (side->refuse == 0)
		return 0;
	side->refusals++;
	return o2_refuse_value(error, side->refuse, "test/refused", "send", 0, 0);
}

static int side_send(void *context, uint64_t nid, enum o2_lnd_form form, const struct o2_lnet_hdr *hdr,
		     const struct o2_transfer_memory *memory, struct o2_error *error)
{
	static const int kinds[] = {
		[O2_FORM_IMMEDIATE] = O2_LETTER_IMMEDIATE,
		[O2_FORM_PUT_REQ] = O2_LETTER_PUT,
		[O2_FORM_GET_REQ] = O2_LETTER_GET,
	};
	struct o2_lnet_side *side = context;
	const bool immediate = form == O2_FORM_IMMEDIATE;
	const uint64_t nob = form == O2_FORM_GET_REQ ? memory->buffer.nob : hdr->payload_length;
	const int rc = side_refuses(side, nid, error);
	struct o2_letter *letter;

	if (rc != 0)
		return rc;
	check(side, !immediate || (nob <= side->immediate_max && memory->buffer.nob == nob),
	      "an IMMEDIATE is too long, or not as long as its payload");
	check(side, immediate || nob > side->immediate_max, "a transfer by RDMA would go into an IMMEDIATE");
	letter = side_post(side, kinds[form], hdr, immediate ? NULL : memory, memory->tag);
	if (letter == NULL || (immediate && nob > sizeof(letter->payload)))
		return -ENOBUFS;
	if (!immediate || nob == 0)
		return 0;
	return o2_copy_from_buffer(&side->arena, &memory->buffer, letter->payload, error);
}

void o2_lnet_move_bytes(const struct o2_lnet_side *source, struct o2_buffer from,
			const struct o2_lnet_side *sink, struct o2_buffer to)
{
	static uint8_t bytes[O2_MAX_TRANSFER_BYTES];

	from.nob = to.nob < from.nob ? to.nob : from.nob;
	to.nob = from.nob;
	if (o2_copy_from_buffer(&source->arena, &from, bytes, NULL) != 0 ||
	    o2_copy_to_buffer(&sink->arena, &to, bytes, NULL) != 0)
		check(source->peer->peer, false, "memory of a transfer cannot be copied");
}

static int deliver_rdma(struct o2_lnet_side *to, const struct o2_letter *letter)
{
	struct o2_transfer_memory memory;
	struct o2_lnet_side *from = letter->from;
	uint64_t tag, nob;
	int rc = o2_lnet_match(to->lnet, from->nid, &letter->hdr, &memory, &tag, &to->error);

	if (rc != 0) {
		/* PUT_NAK 0, or GET_DONE with the errno. */
		if (letter->kind == O2_LETTER_PUT && rc == -ENODATA)
			o2_lnet_finished(from->lnet, letter->tag, 0, 0, NULL);
		else
			o2_lnet_finished(from->lnet, letter->tag, rc, 0, NULL);
		return rc;
	}
	nob = memory.buffer.nob;
	if (from->fail_transfer == 0 && letter->kind == O2_LETTER_PUT)
		o2_lnet_move_bytes(from, letter->memory.buffer, to, memory.buffer);
	else if (from->fail_transfer == 0)
		o2_lnet_move_bytes(to, memory.buffer, from, letter->memory.buffer);
	else
		nob = 0;
	o2_lnet_finished(to->lnet, tag, from->fail_transfer, nob, NULL);
	o2_lnet_finished(from->lnet, letter->tag, from->fail_transfer, nob, NULL);
	return 0;
}

struct o2_letter o2_lnet_take_letter(struct o2_lnet_side *side)
{
	const struct o2_letter letter = side->letter[0];

	assert(side->nletters > 0);
	side->nletters--;
	memmove(side->letter, side->letter + 1, side->nletters * sizeof(letter));
	return letter;
}

int o2_lnet_deliver(struct o2_lnet_side *from)
{
	const struct o2_letter letter = o2_lnet_take_letter(from);
	int rc;

	if (letter.kind != O2_LETTER_IMMEDIATE)
		return deliver_rdma(from->peer, &letter);
	rc = o2_lnet_receive(from->peer->lnet, from->nid, &letter.hdr, letter.payload, &from->peer->error);
	o2_lnet_finished(from->lnet, letter.tag, 0, 0, NULL);
	return rc;
}

void o2_lnet_deliver_all(struct o2_lnet_pair *pair)
{
	while (pair->a.nletters + pair->b.nletters > 0)
		o2_lnet_deliver(pair->a.nletters > 0 ? &pair->a : &pair->b);
}

static void side_done(void *context, const struct o2_lnet_result *result)
{
	struct o2_lnet_side *side = context;

	if (side->listener != NULL && side->listen_done(side->listener, result))
		return;
	if (!has_room(side, side->nresults, O2_LNET_SIDE_EVENTS, "more results than kept"))
		return;
	side->fault[side->nresults] = (struct o2_transfer_fault){.code = 0};
	if (result->fault != NULL)
		side->fault[side->nresults] = *result->fault;
	side->result[side->nresults++] = *result;
}

static void side_started(void *context, const struct o2_lnet_event *event)
{
	struct o2_lnet_side *side = context;

	if (!has_room(side, side->nwriting, O2_LNET_SIDE_EVENTS, "more PUTs that may be writing than kept"))
		return;
	check(side, event->kind == O2_LNET_EVENT_PUT && event->request != 0,
	      "what has started is no PUT by RDMA");
	for (uint32_t i = 0; i < side->nwriting; i++)
		check(side, side->writing[i] != event->request, "a PUT has started twice");
	side->writing[side->nwriting++] = event->request;
}

/* Check the end of a PUT: it must have been started, or was an IMMEDIATE (request 0). */
static void side_ended(struct o2_lnet_side *side, const struct o2_lnet_event *event)
{
	uint32_t i = 0;

	while (i < side->nwriting && side->writing[i] != event->request)
		i++;
	check(side, (i < side->nwriting) == (event->request != 0), "a PUT has ended that had not started");
	if (i < side->nwriting)
		side->writing[i] = side->writing[--side->nwriting];
}

static void side_event(void *context, const struct o2_lnet_event *event)
{
	struct o2_lnet_side *side = context;

	if (event->kind == O2_LNET_EVENT_PUT)
		side_ended(side, event);
	if (side->listener != NULL && side->listen_event(side->listener, event))
		return;
	if (!has_room(side, side->nevents, O2_LNET_SIDE_EVENTS, "more events than kept"))
		return;
	if (event->kind == O2_LNET_EVENT_DROPPED)
		side->dropped = event->error->rule;
	side->event_hdr[side->nevents] = *event->hdr;
	side->event[side->nevents++] = *event;
}

struct o2_lnet_transport o2_lnet_side_transport(struct o2_lnet_side *side)
{
	return (struct o2_lnet_transport){side, side_immediate_max, side_send};
}

/* Reset everything but the arena; a letter is cleared when it is posted. */
static int side_begin(struct o2_lnet_side *side, uint64_t nid, uint64_t cookie, struct o2_lnet_side *peer,
		      const struct o2_lnet_config *base)
{
	const struct o2_arena arena = side->arena;
	struct o2_lnet_config config = *base;
	const struct o2_lnet_transport transport = o2_lnet_side_transport(side);
	const struct o2_lnet_ops ops = {.done = side_done, .started = side_started, .event = side_event};

	memset(side, 0, offsetof(struct o2_lnet_side, letter));
	memset(&side->nresults, 0, sizeof(*side) - offsetof(struct o2_lnet_side, nresults));
	side->arena = arena;
	side->nid = nid;
	side->peer = peer;
	side->immediate_max = O2_IMMEDIATE_MAX;
	config.nid = nid;
	config.interface_cookie = cookie;
	o2_clock_tell(&side->clock, 0); /* the time starts here */
	return o2_lnet_create(&config, &transport, &side->arena, &side->clock, &ops, side, &side->lnet,
			      &side->error);
}

static int pair_begin(struct o2_lnet_pair *pair, const struct o2_lnet_config *base)
{
	const struct o2_lnet_config defaults = O2_LNET_DEFAULTS;
	int rc;

	if (base == NULL)
		base = &defaults;
	rc = side_begin(&pair->a, O2_LNET_NID_A, O2_LNET_COOKIE_A, &pair->b, base);
	if (rc != 0)
		return rc;
	rc = side_begin(&pair->b, O2_LNET_NID_B, O2_LNET_COOKIE_B, &pair->a, base);
	if (rc != 0)
		o2_lnet_destroy(pair->a.lnet);
	return rc;
}

static void free_arenas(struct o2_lnet_pair *pair)
{
	o2_arena_destroy(&pair->a.arena);
	o2_arena_destroy(&pair->b.arena);
}

void o2_lnet_side_clock(struct o2_lnet_side *side, uint64_t now_ms)
{
	o2_clock_tell(&side->clock, now_ms);
	o2_lnet_check_time(side->lnet);
}

int o2_lnet_pair_open(struct o2_lnet_pair *pair, const struct o2_lnet_config *base)
{
	int rc;

	memset(pair, 0, sizeof(*pair));
	rc = o2_arena_create(O2_LNET_SIDE_PAGES, &pair->a.arena, &pair->a.error);
	if (rc != 0)
		return rc;
	rc = o2_arena_create(O2_LNET_SIDE_PAGES, &pair->b.arena, &pair->b.error);
	if (rc != 0) {
		o2_arena_destroy(&pair->a.arena);
		return rc;
	}
	rc = pair_begin(pair, base);
	if (rc != 0)
		free_arenas(pair);
	return rc;
}

static void pair_end(struct o2_lnet_pair *pair)
{
	check(&pair->a, pair->a.nwriting == 0, "a PUT has started and not ended");
	check(&pair->b, pair->b.nwriting == 0, "a PUT has started and not ended");
	o2_lnet_destroy(pair->a.lnet);
	o2_lnet_destroy(pair->b.lnet);
}

int o2_lnet_pair_renew(struct o2_lnet_pair *pair, const struct o2_lnet_config *base)
{
	int rc;

	pair_end(pair);
	if (pair->wrong == NULL)
		pair->wrong = pair->a.wrong != NULL ? pair->a.wrong : pair->b.wrong;
	rc = pair_begin(pair, base);
	if (rc != 0)
		free_arenas(pair);
	return rc;
}

void o2_lnet_pair_close(struct o2_lnet_pair *pair)
{
	pair_end(pair);
	free_arenas(pair);
}

uint8_t *o2_lnet_side_bytes(const struct o2_lnet_side *side, uint32_t page)
{
	return o2_arena_page(&side->arena, page);
}
