/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "lnet/ping.h"
#include "props/lnet/endpoints_internal.h"

/* Draws and starts operations as the commands do.  A PUT carries its number in hdr_data. */

#define LONGER_MS      61000u /* longer than any configured wait for an answer */
#define ROUND	       256u
#define PINGS	       280u  /* more than 256 pings, even without the rounds that only settle */
#define PUSH_BYTES_MAX 4200u /* more than the target has room for */

static uint32_t draw_bytes(struct o2_choice *c, enum o2_endpoints_kind kind)
{
	/* Sizes: a line; an IMMEDIATE; just below and above the largest IMMEDIATE; by RDMA; none. */
	static const struct {
		uint32_t least, most;
	} classes[] = {{1, 60}, {61, 3975}, {3974, 3979}, {3980, 8000}, {0, 0}};
	static const uint32_t weights[] = {6, 3, 2, 5, 1};
	const size_t i = o2_draw_weighted(c, weights, kind == O2_ENDPOINTS_PUT ? 5 : 4);

	return (uint32_t)o2_draw_range(c, classes[i].least, classes[i].most);
}

/* Choose portal, match bits and offset: for one of the target's entries, or nearly. */
static void aim(struct o2_choice *c, const struct o2_endpoints_seat *target, struct o2_endpoints_op *op)
{
	enum { START, MIDDLE, NEAR_END, PAST_END, FAR, OFFSETS };
	static const uint32_t weights[OFFSETS] = {6, 6, 3, 1, 1};
	const uint32_t number =
		O2_ENDPOINTS_LNET + (uint32_t)o2_draw_pick(c, O2_ENDPOINTS_ENTRIES - O2_ENDPOINTS_LNET);
	const struct o2_endpoints_entry *entry = &target->entry[number];
	const uint64_t size = entry->attached ? entry->memory.memory.buffer.nob : 64;

	op->portal = entry->attached ? entry->entry.portal : 60 + (uint32_t)o2_draw(c, 2);
	op->match_bits = entry->attached ? entry->entry.match_bits : 0x1234 + o2_draw(c, 2);
	if (o2_draw_bool(c, 3, 1))
		op->match_bits ^= o2_draw(c, 0x101);
	switch (o2_draw_weighted(c, weights, OFFSETS)) {
	case START:
		break;
	case MIDDLE:
		op->offset = o2_draw(c, size - 1);
		break;
	case NEAR_END:
		op->offset = size - (size < 8 ? size : o2_draw(c, 8));
		break;
	case PAST_END:
		op->offset = size + 1 + o2_draw(c, 8);
		break;
	default:
		op->offset = O2_LNET_OFFSET_MAX - o2_draw(c, 1);
		break;
	}
	if (o2_draw_bool(c, 1, 1) && op->offset < size && op->bytes > size - op->offset)
		op->bytes = (uint32_t)(size - op->offset);
}

static void draw(struct o2_choice *c, const struct o2_endpoints_seat *target, struct o2_endpoints_op *op)
{
	static const uint32_t weights[O2_ENDPOINTS_KINDS] = {8, 8, 2, 1};

	op->kind = (enum o2_endpoints_kind)o2_draw_weighted(c, weights, O2_ENDPOINTS_KINDS);
	op->ack = !o2_endpoints_is_get(op) && !o2_draw_bool(c, 2, 1);
	op->pid = o2_draw_bool(c, 7, 1) ? 7 : 0;
	op->timeout_ms = o2_draw_bool(c, 7, 1) ? LONGER_MS : 0;
	op->follow = o2_draw_bool(c, 3, 1) ? (uint32_t)o2_draw_range(c, 1, 3) : 0;
	op->portal = O2_PING_PORTAL;
	op->match_bits = O2_PING_MATCH_BITS;
	switch (op->kind) {
	case O2_ENDPOINTS_PING:
		op->bytes = O2_PING_SINK_BYTES;
		return;
	case O2_ENDPOINTS_PUSH:
		op->bytes = o2_draw_bool(c, 1, 1) ? O2_PING_INFO_BYTES
						  : (uint32_t)o2_draw_range(c, 1, PUSH_BYTES_MAX);
		op->ack = true;
		return;
	default:
		op->bytes = draw_bytes(c, op->kind);
		aim(c, target, op);
		return;
	}
}

static int submit(struct o2_endpoints_seat *seat, struct o2_endpoints_op *op)
{
	const struct o2_lnet_target target = {
		.nid = o2_endpoints_nid(seat->endpoints, op->to),
		.portal = op->portal,
		.match_bits = op->match_bits,
		.offset = op->offset,
		.hdr_data = (uint64_t)(op - seat->op),
		.ack = op->ack,
		.pid = op->pid,
		.response_timeout_ms = op->timeout_ms,
		.tag = (uint64_t)(op - seat->op),
	};
	const struct o2_transfer_memory *memory = op->bytes > 0 ? &op->memory.memory : NULL;
	struct o2_lnet *lnet = seat->endpoint.lnet;

	return o2_endpoints_is_get(op) ? o2_lnet_get(lnet, &target, memory, &op->operation, NULL)
				       : o2_lnet_put(lnet, &target, memory, &op->operation, NULL);
}

/* Check that no two operations of a life have the same number, so that a late answer ends no other operation. */
static void check_number(struct o2_endpoints_seat *seat, uint64_t number)
{
	for (uint32_t i = 0; i < seat->nstarted; i++)
		if (seat->number[i] == number)
			o2_report_fail(seat->endpoints->report, "endpoint/number",
				       "operations %" PRIu32 " and %" PRIu32 " of endpoint %" PRIu32
				       " have the number 0x%" PRIx64,
				       i, seat->nstarted, seat->index, number);
	if (seat->nstarted < O2_ENDPOINTS_STARTED)
		seat->number[seat->nstarted++] = number;
}

/* Start the operation: refused only if the endpoint is being closed. */
static void start(struct o2_endpoints_seat *seat, struct o2_endpoints_op *op)
{
	struct o2_endpoints *endpoints = seat->endpoints;
	const int expected = seat->closing ? -ESHUTDOWN : 0;
	int rc;

	op->started_ms = endpoints->ground.now_ms;
	op->causes = endpoints->cause[seat->index][op->to];
	op->interface_cookie = seat->lnet_config.interface_cookie;
	op->started = true;
	o2_endpoints_find_clashes(seat, op);
	rc = submit(seat, op);
	op->started = rc == 0;
	if (rc == 0)
		check_number(seat, op->operation);
	if (seat->closing)
		o2_endpoints_seen(endpoints, O2_ENDPOINTS_SEEN_START_WHILE_CLOSING);
	if (rc != expected)
		o2_report_fail(endpoints->report, "endpoint/start",
			       "operation %" PRIu32 " of endpoint %" PRIu32
			       " starts with %d (%s), expected %d",
			       (uint32_t)(op - seat->op), seat->index, rc, strerror(-rc), expected);
	if (rc == 0 && !endpoints->seat[op->to].open)
		o2_endpoints_seen(endpoints, O2_ENDPOINTS_SEEN_ASKED_WHILE_AWAY);
}

static struct o2_endpoints_op *new_op(struct o2_endpoints_seat *seat)
{
	struct o2_endpoints_op *op = &seat->op[seat->nops];

	if (seat->nops == o2_endpoints_most(seat->endpoints))
		return NULL;
	seat->nops++;
	memset(op, 0, sizeof(*op));
	return op;
}

void o2_endpoints_start(struct o2_endpoints *endpoints, struct o2_endpoints_seat *seat, uint32_t to)
{
	struct o2_endpoints_op *op = new_op(seat);

	if (op == NULL)
		return;
	op->to = to;
	draw(endpoints->choice, &endpoints->seat[to], op);
	o2_endpoints_draw_op_memory(endpoints->choice, seat, op);
	start(seat, op);
}

void o2_endpoints_ping_on(struct o2_endpoints *endpoints)
{
	struct o2_endpoints_seat *seat = &endpoints->seat[o2_draw_pick(endpoints->choice, endpoints->nseats)];
	uint32_t n;

	for (n = 0; n < PINGS && !endpoints->report->failed && seat->open; n++) {
		struct o2_endpoints_op *op = new_op(seat);

		if (op == NULL) {
			o2_endpoints_settle(endpoints);
			continue;
		}
		op->to = (seat->index + 1) % endpoints->nseats;
		op->kind = O2_ENDPOINTS_PING;
		op->bytes = O2_PING_SINK_BYTES;
		op->portal = O2_PING_PORTAL;
		op->match_bits = O2_PING_MATCH_BITS;
		o2_endpoints_draw_op_memory(endpoints->choice, seat, op);
		start(seat, op);
		/* A late REPLY to the operation ROUND before, which may have used the same slot. */
		if (op->ended == 0 && seat->nstarted > ROUND)
			o2_endpoints_late_reply(seat, op->to, seat->number[seat->nstarted - 1 - ROUND]);
		o2_endpoints_exhaust(endpoints);
	}
	if (!endpoints->report->failed)
		o2_endpoints_settle(endpoints);
	if (n == PINGS)
		o2_endpoints_seen(endpoints, O2_ENDPOINTS_SEEN_PING_ON);
}

struct o2_endpoints_op *o2_endpoints_draw_open(struct o2_endpoints_seat *seat)
{
	const uint32_t drawn = (uint32_t)o2_draw_pick(seat->endpoints->choice, O2_ENDPOINTS_OPS);

	for (uint32_t i = 0; i < seat->nops; i++) {
		struct o2_endpoints_op *op = &seat->op[(drawn + i) % seat->nops];

		if (op->started && op->ended == 0)
			return op;
	}
	return NULL;
}

void o2_endpoints_cancel(struct o2_endpoints_seat *seat)
{
	struct o2_endpoints_op *op = o2_endpoints_draw_open(seat);
	int rc, again;

	if (op == NULL)
		return;
	op->cancelled = true;
	rc = o2_lnet_cancel(seat->endpoint.lnet, op->operation);
	again = op->ended > 0 ? o2_lnet_cancel(seat->endpoint.lnet, op->operation) : -ENOENT;
	if (rc != 0 || again != -ENOENT)
		o2_report_fail(seat->endpoints->report, "endpoint/cancel",
			       "operation %" PRIu32 " of endpoint %" PRIu32
			       " is cancelled with %d, and once more with %d",
			       (uint32_t)(op - seat->op), seat->index, rc, again);
}

/* Called from `done`, as `o2ref put --verify` reads back: a GET after a PUT, a PUT after a GET. */
void o2_endpoints_follow(struct o2_endpoints_seat *seat, const struct o2_endpoints_op *op)
{
	struct o2_endpoints_op *next = op->follow > 0 && op->bytes > 0 ? new_op(seat) : NULL;

	if (next == NULL)
		return;
	next->kind = op->kind;
	if (op->kind == O2_ENDPOINTS_PUT)
		next->kind = O2_ENDPOINTS_GET;
	else if (op->kind == O2_ENDPOINTS_GET)
		next->kind = O2_ENDPOINTS_PUT;
	next->to = op->to;
	next->bytes = op->bytes;
	next->portal = op->portal;
	next->match_bits = op->match_bits;
	next->offset = op->offset;
	next->ack = !o2_endpoints_is_get(next);
	next->follow = op->follow - 1;
	next->followed = true;
	o2_endpoints_same_op_memory(seat, op, next);
	start(seat, next);
}
