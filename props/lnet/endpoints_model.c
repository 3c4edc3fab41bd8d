/* SPDX-License-Identifier: MIT */
#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "props/lnet/endpoints_internal.h"
#include "wire/nid.h"

/*
 * A model of the match table of docs/peer.md, "Matching", computed from the case alone.  The order in
 * which concurrent requests arrive cannot be seen from outside.  So each report is checked against what is
 * possible in some order.  At rest one order must explain all reports: the pieces of an entry with local
 * offsets are contiguous, and an entry that was passed over is used up.  If only one request was made
 * since the last rest, there is only one order, and the result is known exactly.
 */

static uint32_t operation_of(const struct o2_endpoints_op *op)
{
	return o2_endpoints_is_get(op) ? O2_LNET_MD_OP_GET : O2_LNET_MD_OP_PUT;
}

bool o2_endpoints_fits(const struct o2_endpoints_seat *initiator, const struct o2_endpoints_op *op,
		       const struct o2_endpoints_seat *target, const struct o2_endpoints_entry *entry)
{
	const struct o2_lnet_entry *e = &entry->entry;
	const uint64_t nid = o2_endpoints_nid(target->endpoints, initiator->index);

	return entry->attached && e->portal == op->portal && (e->options & operation_of(op)) != 0 &&
	       (e->match_bits | e->ignore_bits) == (op->match_bits | e->ignore_bits) &&
	       (e->nid == O2_NID_ANY || e->nid == nid) &&
	       (e->pid == O2_LNET_PID_ANY || e->pid == initiator->lnet_config.pid);
}

struct o2_endpoints_entry *o2_endpoints_next_fit(const struct o2_endpoints_seat *initiator,
						 const struct o2_endpoints_op *op,
						 struct o2_endpoints_seat *target,
						 const struct o2_endpoints_entry *after)
{
	struct o2_endpoints_entry *next = NULL;

	for (uint32_t i = 0; i < O2_ENDPOINTS_ENTRIES; i++) {
		struct o2_endpoints_entry *entry = &target->entry[i];

		if (o2_endpoints_fits(initiator, op, target, entry) &&
		    (after == NULL || entry->order > after->order) &&
		    (next == NULL || entry->order < next->order))
			next = entry;
	}
	return next;
}

static bool endless(const struct o2_endpoints_entry *entry)
{
	return entry->entry.uses == O2_LNET_USES_ENDLESS;
}

static bool by_remote_offset(const struct o2_endpoints_entry *entry)
{
	return (entry->entry.options & O2_LNET_MD_MANAGE_REMOTE) != 0;
}

static uint64_t size_of(const struct o2_endpoints_entry *entry)
{
	return entry->memory.memory.buffer.nob;
}

static bool truncates(const struct o2_endpoints_entry *entry)
{
	return (entry->entry.options & O2_LNET_MD_TRUNCATE) != 0;
}

/* True if the request can reach this entry: all entries before it that fit can have been used up. */
static bool reachable(const struct o2_endpoints_seat *initiator, const struct o2_endpoints_op *op,
		      struct o2_endpoints_seat *target, const struct o2_endpoints_entry *entry)
{
	const struct o2_endpoints_entry *next = NULL;

	while ((next = o2_endpoints_next_fit(initiator, op, target, next)) != NULL && next != entry)
		if (endless(next) && !next->closed)
			return false;
	return next != NULL;
}

static const char *wrong_with_take(const struct o2_endpoints_seat *initiator,
				   const struct o2_endpoints_op *op, struct o2_endpoints_seat *target,
				   const struct o2_endpoints_entry *entry, const struct o2_lnet_event *event)
{
	uint64_t room;

	if (!o2_endpoints_fits(initiator, op, target, entry))
		return "the entry is not for it";
	/* A GET is reported at its end, so it may have been taken before the entry was closed. */
	if (entry->gone || (entry->closed && event->kind == O2_LNET_EVENT_PUT))
		return "the entry was closed";
	if (!reachable(initiator, op, target, entry))
		return "an entry before it is for it";
	if (event->offset > size_of(entry))
		return "the offset is past the end";
	if (by_remote_offset(entry) && event->offset != op->offset)
		return "the offset is not what was asked for";
	if (!by_remote_offset(entry) && event->offset < entry->local_offset)
		return "the offset has been given out before";
	room = size_of(entry) - event->offset;
	if (op->bytes > room && !truncates(entry))
		return "it is too long for the entry";
	if (event->length_bytes != (op->bytes < room ? op->bytes : room))
		return "the length is wrong";
	if (!endless(entry) && entry->takes >= entry->entry.uses)
		return "the entry was used up";
	return NULL;
}

/* LNet's own entries have no tag: one serves GETs, the other PUTs. */
uint32_t o2_endpoints_entry_number(const struct o2_lnet_event *event)
{
	if (event->entry_tag != 0)
		return event->entry_tag < O2_ENDPOINTS_ENTRIES ? (uint32_t)event->entry_tag
							       : O2_ENDPOINTS_ENTRIES;
	return event->kind == O2_LNET_EVENT_PUT;
}

void o2_endpoints_take(struct o2_endpoints_seat *initiator, struct o2_endpoints_op *op,
		       const struct o2_lnet_event *event)
{
	struct o2_endpoints *endpoints = initiator->endpoints;
	struct o2_endpoints_seat *target = &endpoints->seat[op->to];
	const uint32_t number = o2_endpoints_entry_number(event);
	struct o2_endpoints_entry *entry = &target->entry[number];
	const char *wrong = number < O2_ENDPOINTS_ENTRIES
				    ? wrong_with_take(initiator, op, target, entry, event)
				    : "there is no such entry";

	if (wrong != NULL) {
		o2_report_fail(endpoints->report, "endpoint/match",
			       "%s of %" PRIu32 " bytes at offset %" PRIu64 " is taken by entry %" PRIu64
			       " of endpoint %" PRIu32 " at offset %" PRIu64 ", %" PRIu64 " bytes: %s",
			       o2_endpoints_is_get(op) ? "GET" : "PUT", op->bytes, op->offset,
			       event->entry_tag, op->to, event->offset, event->length_bytes, wrong);
		return;
	}
	op->there = O2_ENDPOINTS_TAKEN;
	op->entry = number;
	op->offset_there = event->offset;
	op->length_there = event->length_bytes;
	entry->takes++;
	assert(entry->ntaken < O2_ENDPOINTS_TAKES);
	entry->taken[entry->ntaken].offset = event->offset;
	entry->taken[entry->ntaken++].length_bytes = event->length_bytes;
}

void o2_endpoints_drop(struct o2_endpoints_seat *initiator, struct o2_endpoints_op *op,
		       const struct o2_lnet_event *event)
{
	static const char *const rules[] = {"lnet/match/none", "lnet/match/offset-past-end",
					    "lnet/match/too-long"};
	static const enum o2_endpoints_situation rows[] = {
		O2_ENDPOINTS_SEEN_NO_MATCH, O2_ENDPOINTS_SEEN_PAST_END, O2_ENDPOINTS_SEEN_TOO_LONG};

	op->there = O2_ENDPOINTS_DROPPED;
	for (size_t i = 0; i < sizeof(rules) / sizeof(rules[0]); i++)
		if (strcmp(event->error->rule, rules[i]) == 0) {
			op->rule = rules[i];
			o2_endpoints_seen(initiator->endpoints, rows[i]);
			return;
		}
	o2_report_fail(initiator->endpoints->report, "endpoint/dropped", "a request is dropped by rule %s",
		       event->error->rule);
}

/* --- at rest --- */

static int by_offset(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	if (x[0] != y[0])
		return x[0] < y[0] ? -1 : 1;
	return x[1] < y[1] ? -1 : x[1] > y[1];
}

/* Check that the pieces taken from the entry are contiguous. */
static void check_pieces(struct o2_endpoints *endpoints, uint32_t i, struct o2_endpoints_entry *entry)
{
	uint64_t end = entry->local_offset;

	qsort(entry->taken, entry->ntaken, sizeof(entry->taken[0]), by_offset);
	for (uint32_t k = 0; k < entry->ntaken && !by_remote_offset(entry); k++) {
		if (entry->taken[k].offset != end)
			o2_report_fail(endpoints->report, "endpoint/local-offset",
				       "entry of endpoint %" PRIu32 " has given out offset %" PRIu64
				       " where %" PRIu64 " is next",
				       i, entry->taken[k].offset, end);
		end += entry->taken[k].length_bytes;
	}
	entry->local_offset = end;
	entry->ntaken = 0;
}

static bool used_up(const struct o2_endpoints_entry *entry)
{
	return entry->closed || (!endless(entry) && entry->takes == entry->entry.uses);
}

static bool drops(const struct o2_endpoints_op *op, const struct o2_endpoints_entry *entry)
{
	const uint64_t offset = by_remote_offset(entry) ? op->offset : entry->local_offset;

	if (strcmp(op->rule, "lnet/match/none") == 0)
		return false;
	if (strcmp(op->rule, "lnet/match/offset-past-end") == 0)
		return offset > size_of(entry);
	return offset <= size_of(entry) && !truncates(entry) && op->bytes > size_of(entry) - offset;
}

/* True if every fitting entry that was passed over is used up now. */
static bool explained(struct o2_endpoints_seat *initiator, const struct o2_endpoints_op *op)
{
	struct o2_endpoints_seat *target = &initiator->endpoints->seat[op->to];
	struct o2_endpoints_entry *entry = NULL;
	bool passed = false;

	while ((entry = o2_endpoints_next_fit(initiator, op, target, entry)) != NULL) {
		if (op->there == O2_ENDPOINTS_TAKEN ? entry == &target->entry[op->entry] : drops(op, entry)) {
			initiator->endpoints->run->tally.seen[O2_ENDPOINTS_SEEN_SECOND_ENTRY] += passed;
			return true;
		}
		if (!used_up(entry))
			return false;
		passed = true;
	}
	initiator->endpoints->run->tally.seen[O2_ENDPOINTS_SEEN_USED_UP] += passed;
	return op->there == O2_ENDPOINTS_DROPPED && strcmp(op->rule, "lnet/match/none") == 0;
}

void o2_endpoints_check_tables(struct o2_endpoints *endpoints)
{
	for (uint32_t i = 0; i < endpoints->nseats; i++)
		for (uint32_t k = 0; k < O2_ENDPOINTS_ENTRIES; k++)
			if (endpoints->seat[i].entry[k].attached)
				check_pieces(endpoints, i, &endpoints->seat[i].entry[k]);
	for (uint32_t i = 0; i < endpoints->nseats; i++)
		for (uint32_t k = 0; k < endpoints->seat[i].nops; k++) {
			const struct o2_endpoints_op *op = &endpoints->seat[i].op[k];
			const bool forgotten = op->life_there != endpoints->seat[op->to].life;

			if (op->there == O2_ENDPOINTS_UNSEEN || forgotten ||
			    explained(&endpoints->seat[i], op))
				continue;
			o2_report_fail(endpoints->report, "endpoint/passed-over",
				       "operation %" PRIu32 " of endpoint %" PRIu32
				       " was %s at endpoint %" PRIu32
				       " (%s), but an entry before that is for it",
				       k, i, op->there == O2_ENDPOINTS_TAKEN ? "taken" : "dropped", op->to,
				       op->rule != NULL ? op->rule : "by a later entry");
		}
}

/* --- entries that go by themselves --- */

static bool used_up_to_go(const struct o2_endpoints_entry *entry)
{
	return (entry->entry.options & O2_LNET_MD_UNLINK) != 0 && !endless(entry) &&
	       entry->takes == entry->entry.uses;
}

void o2_endpoints_check_unlinked(struct o2_endpoints_seat *target, struct o2_endpoints_entry *entry,
				 bool unlinked)
{
	struct o2_endpoints *endpoints = target->endpoints;
	const uint32_t number = (uint32_t)(entry - target->entry);
	const bool in_use = o2_endpoints_users(target, number) > 0;
	/* Every request of an entry that is used up has been reported. */
	const bool must = used_up_to_go(entry) && !in_use;
	const bool may = (used_up_to_go(entry) || entry->closed) && !in_use && !entry->gone;

	if (unlinked ? !may : must)
		o2_report_fail(endpoints->report, "endpoint/unlinked",
			       "entry %" PRIu32 " of endpoint %" PRIu32 " has %s after %" PRIu32
			       " of %" PRIu32 " uses%s",
			       number, target->index, unlinked ? "gone" : "stayed", entry->takes,
			       entry->entry.uses, entry->closed ? ", and was to go" : "");
	entry->gone = entry->gone || unlinked;
	if (unlinked)
		o2_endpoints_seen(endpoints, entry->closed ? O2_ENDPOINTS_SEEN_UNLINK_IN_USE
							   : O2_ENDPOINTS_SEEN_UNLINKED_BY_USES);
}

void o2_endpoints_forget_gone(struct o2_endpoints *endpoints)
{
	for (uint32_t i = 0; i < endpoints->nseats; i++)
		for (uint32_t k = 0; k < O2_ENDPOINTS_ENTRIES; k++) {
			struct o2_endpoints_entry *entry = &endpoints->seat[i].entry[k];

			if (entry->attached && !entry->gone && (entry->closed || used_up_to_go(entry)))
				o2_report_fail(endpoints->report, "endpoint/unlinked",
					       "entry %" PRIu32 " of endpoint %" PRIu32
					       " was to go, and is still there at rest",
					       k, i);
			entry->attached = entry->attached && !entry->gone;
			entry->gone = entry->closed = false;
		}
}

/* --- operations that meet --- */

static bool meet(const struct o2_endpoints_op *a, const struct o2_endpoints_op *b)
{
	return a->offset < b->offset + b->bytes && b->offset < a->offset + a->bytes;
}

static bool clash(const struct o2_endpoints_seat *seat, const struct o2_endpoints_op *op,
		  const struct o2_endpoints_seat *other_seat, const struct o2_endpoints_op *other)
{
	const struct o2_endpoints_seat *target = &seat->endpoints->seat[op->to];

	if (o2_endpoints_is_get(op) && o2_endpoints_is_get(other))
		return false;
	for (uint32_t i = 0; i < O2_ENDPOINTS_ENTRIES; i++)
		if (by_remote_offset(&target->entry[i]) && meet(op, other) &&
		    o2_endpoints_fits(seat, op, target, &target->entry[i]) &&
		    o2_endpoints_fits(other_seat, other, target, &target->entry[i]))
			return true;
	return false;
}

void o2_endpoints_find_clashes(struct o2_endpoints_seat *seat, struct o2_endpoints_op *op)
{
	struct o2_endpoints *endpoints = seat->endpoints;

	for (uint32_t i = 0; i < endpoints->nseats; i++)
		for (uint32_t k = 0; k < endpoints->seat[i].nops; k++) {
			struct o2_endpoints_op *other = &endpoints->seat[i].op[k];

			if (other == op || other->to != op->to || o2_endpoints_over(other) ||
			    !clash(seat, op, &endpoints->seat[i], other))
				continue;
			op->clash = other->clash = true;
		}
}
