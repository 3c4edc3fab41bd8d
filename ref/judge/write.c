/* SPDX-License-Identifier: MIT */
/* RDMA WRITEs: each must lie in a fragment that the other side has described. */
#include "judge/internal.h"

/* Does addr continue the transfer, at the first fragment that is not full? */
static bool is_next(const struct o2_judge_transfer *transfer, uint64_t addr)
{
	return transfer->at_frag < transfer->nfrags &&
	       transfer->frag[transfer->at_frag].rf_addr + transfer->at_byte == addr;
}

/* Index of the fragment that holds addr; nfrags: none does. */
static uint32_t frag_of(const struct o2_judge_transfer *transfer, uint64_t addr)
{
	uint32_t i;

	for (i = 0; i < transfer->nfrags; i++)
		if (addr >= transfer->frag[i].rf_addr &&
		    addr - transfer->frag[i].rf_addr < transfer->frag[i].rf_nob)
			break;
	return i;
}

/* How well a WRITE of `bytes` bytes at addr fits a transfer that has its key; 0: none of its memory is there. */
enum fit {
	ELSEWHERE,
	BEGINS_INSIDE,
	INSIDE,
	CONTINUES, /* it also begins where the last one ended */
};

static enum fit fit_of(const struct o2_judge_transfer *transfer, uint64_t addr, uint64_t bytes)
{
	const bool next = is_next(transfer, addr);
	uint32_t i;

	if (!next && !o2_judge_near(transfer, addr, addr + 1))
		return ELSEWHERE;
	i = next ? transfer->at_frag : frag_of(transfer, addr);
	if (i == transfer->nfrags)
		return ELSEWHERE;
	if (bytes > transfer->frag[i].rf_nob - (addr - transfer->frag[i].rf_addr))
		return BEGINS_INSIDE;
	return next ? CONTINUES : INSIDE;
}

/*
 * Find the transfer that a WRITE belongs to: the one that it fits best, or at least one with the key.  Its sink
 * receives the data of its own GETs and of the other side's PUTs.  If several transfers have that memory, the
 * WRITE may be for any of them.  *several: more than one has the key.
 */
static struct o2_judge_transfer *find(const struct o2_judging *at, bool *several)
{
	const struct o2_judge_event *event = at->event;
	struct o2_judge_transfer *best = NULL;
	enum fit best_fit = ELSEWHERE;

	*several = false;
	for (int side = O2_JUDGE_A; side < O2_JUDGE_SIDES; side++) {
		const enum o2_transfer_step step =
			(int)at->to == side ? O2_TRANSFER_GET_OPEN : O2_TRANSFER_PUT_OPEN;
		struct o2_judge_transfer *transfer;

		TAILQ_FOREACH(transfer, &at->conn->end[side].open, link) {
			enum fit fit;

			if (transfer->step != step || transfer->rkey != event->rkey)
				continue;
			*several = best != NULL;
			fit = fit_of(transfer, event->addr, event->bytes);
			if (fit != ELSEWHERE && best_fit != ELSEWHERE)
				best->shared = transfer->shared = true;
			if (fit >= best_fit) {
				best = transfer;
				best_fit = fit;
			}
		}
	}
	return best;
}

/* Find the fragment *i of the transfer that holds addr; false: none does. */
static bool belongs(const struct o2_judge_transfer *transfer, uint64_t addr, uint32_t *i)
{
	*i = is_next(transfer, addr) ? transfer->at_frag : frag_of(transfer, addr);
	return *i < transfer->nfrags;
}

/* No open transfer has the key of this WRITE. */
static void judge_stray(const struct o2_judging *at)
{
	const struct o2_judge_end *sink = &at->conn->end[at->to];

	for (uint32_t i = 0; i < O2_JUDGE_ENDED_MAX; i++) {
		if (sink->ended[i].number != 0 && sink->ended[i].rkey == at->event->rkey) {
			o2_judge_over(at, O2_JUDGE_WRITE_ENDED, sink->ended[i].number, "rkey",
				      at->event->rkey, O2_NO_LIMIT);
			return;
		}
	}
	o2_judge_over(at, O2_JUDGE_WRITE_KEY, 0, "rkey", at->event->rkey, O2_NO_LIMIT);
}

/* The WRITE lies in no fragment of an open transfer.  transfer: one of `several` that have the key, or NULL. */
static void judge_elsewhere(const struct o2_judging *at, struct o2_judge_transfer *transfer, bool several)
{
	o2_judge_stray_write(at);
	/* The request may have been missed, or the key was offered before for other memory. */
	if (!at->conn->whole) {
		o2_judge_payload_unseen(at->conn, at->from);
		return;
	}
	if (transfer == NULL) {
		if (!o2_judge_has_ended(at->conn))
			judge_stray(at);
		return;
	}
	if (!several)
		transfer->written_bytes += at->event->bytes;
	o2_judge_over(at, O2_JUDGE_WRITE_OUTSIDE, several ? 0 : transfer->number, "va", at->event->addr,
		      O2_NO_LIMIT);
}

/* Bytes of the transfer that lie before byte `from` of fragment i. */
static uint64_t bytes_before(const struct o2_judge_transfer *transfer, uint32_t i, uint64_t from)
{
	for (uint32_t before = 0; before < i; before++)
		from += transfer->frag[before].rf_nob;
	return from;
}

static void add_hole(struct o2_judge_transfer *transfer, uint64_t from, uint64_t to)
{
	if (from == to)
		return;
	if (transfer->nholes == O2_JUDGE_HOLES_MAX)
		transfer->more_holes = true;
	else
		transfer->hole[transfer->nholes++] = (struct o2_judge_hole){from, to};
}

/* [from, to) begins before the last byte written: were all of its bytes skipped, as far as is known? */
static bool fill_hole(struct o2_judge_transfer *transfer, uint64_t from, uint64_t to)
{
	for (uint32_t i = 0; i < transfer->nholes; i++) {
		const struct o2_judge_hole hole = transfer->hole[i];

		if (from < hole.from || to > hole.to)
			continue;
		transfer->hole[i] = transfer->hole[--transfer->nholes];
		add_hole(transfer, hole.from, from);
		add_hole(transfer, to, hole.to);
		return true;
	}
	return transfer->more_holes;
}

/* The WRITE does not begin just behind all that was written.  Returns whether it ends behind that. */
static bool judge_jump(const struct o2_judging *at, struct o2_judge_transfer *transfer, uint32_t i,
		       uint64_t from, uint64_t bytes)
{
	const uint64_t start = bytes_before(transfer, i, from);
	const uint64_t next = bytes_before(transfer, transfer->at_frag, transfer->at_byte);

	if (start < next) {
		/* The wrong order was reported when the hole was made. */
		if (!fill_hole(transfer, start, start + bytes))
			o2_judge_over(at, O2_JUDGE_WRITE_TWICE, transfer->number, "va", at->event->addr,
				      O2_NO_LIMIT);
		return start + bytes > next;
	}
	add_hole(transfer, next, start);
	if (start > next) /* else only empty fragments lie between */
		o2_judge_differs(at, O2_JUDGE_WRITE_ORDER, transfer->number, "va", at->event->addr,
				 transfer->frag[transfer->at_frag].rf_addr + transfer->at_byte);
	return true;
}

/* The WRITE begins at byte `from` of fragment i. */
static void judge_place(const struct o2_judging *at, struct o2_judge_transfer *transfer, uint32_t i,
			uint64_t from, uint64_t bytes)
{
	if ((i != transfer->at_frag || from != transfer->at_byte) &&
	    !judge_jump(at, transfer, i, from, bytes))
		return;
	transfer->at_frag = i;
	transfer->at_byte = (uint32_t)(from + bytes);
	if (transfer->at_byte == transfer->frag[i].rf_nob) {
		transfer->at_frag++;
		transfer->at_byte = 0;
	}
}

/* Who writes the first byte now has written none before: what was written until then was for another transfer. */
static void begin(struct o2_judge_transfer *transfer, uint64_t place)
{
	if (!transfer->unsure || place != 0)
		return;
	transfer->unsure = false;
	transfer->written_bytes = 0;
}

void o2_judge_write(const struct o2_judging *at)
{
	const struct o2_judge_event *event = at->event;
	struct o2_judge_end *from = &at->conn->end[at->from];
	bool several;
	struct o2_judge_transfer *transfer = find(at, &several);
	uint64_t inside, room;
	uint32_t i;

	from->writes++;
	from->write_bytes += event->bytes;
	o2_judge_expect(at, O2_JUDGE_WRITE_ANNOUNCED, transfer == NULL ? 0 : transfer->number, "bytes",
			event->bytes, event->announced_bytes);
	/* No bytes fill no memory, wherever the address points to. */
	if (transfer != NULL && event->bytes == 0)
		return;
	if (transfer == NULL || !belongs(transfer, event->addr, &i)) {
		judge_elsewhere(at, transfer, several);
		return;
	}
	inside = event->addr - transfer->frag[i].rf_addr;
	room = transfer->frag[i].rf_nob - inside;
	begin(transfer, bytes_before(transfer, i, inside));
	transfer->written_bytes += event->bytes;
	if (event->bytes > room && !transfer->unsure)
		o2_judge_over(at, O2_JUDGE_WRITE_OUTSIDE, transfer->number, "bytes", event->bytes, room);
	if (!transfer->shared && !transfer->unsure)
		judge_place(at, transfer, i, inside, event->bytes > room ? room : event->bytes);
}

void o2_judge_write_part(const struct o2_judging *at)
{
	const struct o2_judge_event *event = at->event;
	bool several;
	struct o2_judge_transfer *transfer = find(at, &several);
	const uint32_t i = transfer == NULL ? 0 : frag_of(transfer, event->addr);
	uint64_t inside, room, place;

	if (transfer == NULL || transfer->shared || i == transfer->nfrags)
		return;
	inside = event->addr - transfer->frag[i].rf_addr;
	room = transfer->frag[i].rf_nob - inside;
	place = bytes_before(transfer, i, inside);
	begin(transfer, place);
	if (transfer->unsure)
		return;
	o2_judge_payload_look(
		at, &transfer->pattern,
		transfer->step == O2_TRANSFER_PUT_OPEN && !transfer->is_reply ? O2_JUDGE_PAYLOAD_PUT
									      : O2_JUDGE_PAYLOAD_GET,
		transfer->number, place, event->payload, event->bytes < room ? event->bytes : room);
}

/* Fragments are not compared if there are more pairs than this: it would take too long. */
#define OVERLAP_PAIRS_MAX 4096u

static bool overlap(const struct o2_judge_transfer *a, const struct o2_judge_transfer *b)
{
	if (!o2_judge_near(a, b->low, b->high) || a->nfrags * b->nfrags > OVERLAP_PAIRS_MAX)
		return false;
	for (uint32_t i = 0; i < a->nfrags; i++)
		for (uint32_t k = 0; k < b->nfrags; k++)
			if (a->frag[i].rf_addr < b->frag[k].rf_addr + b->frag[k].rf_nob &&
			    b->frag[k].rf_addr < a->frag[i].rf_addr + a->frag[i].rf_nob)
				return true;
	return false;
}

void o2_judge_key_offered(const struct o2_judging *at, const struct o2_judge_transfer *offered)
{
	for (int side = O2_JUDGE_A; side < O2_JUDGE_SIDES; side++) {
		const enum o2_transfer_step step =
			(int)at->from == side ? O2_TRANSFER_GET_OPEN : O2_TRANSFER_PUT_OPEN;
		const struct o2_judge_transfer *other;

		TAILQ_FOREACH(other, &at->conn->end[side].open, link) {
			if (other == offered || other->unsure || other->step != step ||
			    other->rkey != offered->rkey || !overlap(other, offered))
				continue;
			o2_judge_over(at, O2_JUDGE_KEY_IN_USE, other->number, "rd_key", offered->rkey,
				      O2_NO_LIMIT);
			return;
		}
	}
}
