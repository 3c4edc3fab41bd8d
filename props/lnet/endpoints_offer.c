/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <inttypes.h>

#include "lnet/ping.h"
#include "props/lnet/endpoints_internal.h"
#include "wire/nid.h"

/* The entries that endpoints attach.  The tag of an entry is its number here. */

/* Of an entry that is attached now nothing was used yet. */
static void begin(struct o2_endpoints_seat *seat, struct o2_endpoints_entry *entry)
{
	entry->attached = true;
	entry->order = seat->next_order++;
	entry->takes = entry->ntaken = 0;
	entry->local_offset = 0;
	entry->closed = entry->gone = false;
}

/* LNet's own entries, which exist from the start. */
void o2_endpoints_offer_lnet(struct o2_endpoints_seat *seat)
{
	static const uint32_t operations[O2_ENDPOINTS_LNET] = {O2_LNET_MD_OP_GET, O2_LNET_MD_OP_PUT};

	o2_endpoints_lay_lnet(seat);
	seat->next_order = 0;
	for (uint32_t i = 0; i < O2_ENDPOINTS_ENTRIES; i++)
		seat->entry[i].attached = false;
	for (uint32_t i = 0; i < O2_ENDPOINTS_LNET; i++) {
		struct o2_endpoints_entry *entry = &seat->entry[i];

		entry->entry = (struct o2_lnet_entry){
			.match_bits = O2_PING_MATCH_BITS,
			.nid = O2_NID_ANY,
			.pid = O2_LNET_PID_ANY,
			.options = operations[i] | O2_LNET_MD_TRUNCATE | O2_LNET_MD_MANAGE_REMOTE,
			.uses = O2_LNET_USES_ENDLESS,
		};
		begin(seat, entry);
		entry->index = (int)i;
	}
}

static uint32_t draw_options(struct o2_choice *c)
{
	static const uint32_t operations[] = {O2_LNET_MD_OP_PUT | O2_LNET_MD_OP_GET, O2_LNET_MD_OP_PUT,
					      O2_LNET_MD_OP_GET};
	static const uint32_t weights[] = {6, 1, 1};
	uint32_t options = operations[o2_draw_weighted(c, weights, 3)];

	if (!o2_draw_bool(c, 2, 1))
		options |= O2_LNET_MD_MANAGE_REMOTE;
	if (o2_draw_bool(c, 1, 1))
		options |= O2_LNET_MD_TRUNCATE;
	if (o2_draw_bool(c, 7, 1))
		options |= O2_LNET_MD_ACK_DISABLE;
	if (o2_draw_bool(c, 1, 1))
		options |= O2_LNET_MD_UNLINK;
	return options;
}

static void draw_entry(struct o2_choice *c, struct o2_endpoints_seat *seat, struct o2_lnet_entry *entry)
{
	static const uint64_t ignored[] = {0, 1, 0xff, UINT64_MAX};
	static const uint32_t weights[] = {6, 2, 1, 1};
	const uint32_t other = (seat->index + 1) % seat->endpoints->nseats;

	*entry = (struct o2_lnet_entry){
		.portal = 60 + (uint32_t)o2_draw(c, 1),
		.match_bits = 0x1234 + o2_draw(c, 1),
		.ignore_bits = ignored[o2_draw_weighted(c, weights, 4)],
		.nid = o2_draw_bool(c, 7, 1) ? o2_endpoints_nid(seat->endpoints, other) : O2_NID_ANY,
		.pid = o2_draw_bool(c, 7, 1) ? O2_LNET_PID_KERNEL : O2_LNET_PID_ANY,
		.options = draw_options(c),
		.uses = o2_draw_bool(c, 3, 1) ? (uint32_t)o2_draw_range(c, 1, 4) : O2_LNET_USES_ENDLESS,
	};
}

/* True if an operation since the last rest may be for this entry: at rest the table must explain it. */
static bool asked_for(struct o2_endpoints_seat *seat, const struct o2_endpoints_entry *entry)
{
	const struct o2_endpoints *endpoints = seat->endpoints;

	for (uint32_t i = 0; i < endpoints->nseats; i++)
		for (uint32_t k = 0; k < endpoints->seat[i].nops; k++) {
			const struct o2_endpoints_op *op = &endpoints->seat[i].op[k];

			if (op->to == seat->index && op->started &&
			    o2_endpoints_fits(&endpoints->seat[i], op, seat, entry))
				return true;
		}
	return false;
}

uint32_t o2_endpoints_users(const struct o2_endpoints_seat *seat, uint32_t number)
{
	const struct o2_endpoints *endpoints = seat->endpoints;
	uint32_t count = 0;

	for (uint32_t i = 0; i < endpoints->nseats; i++)
		for (uint32_t k = 0; k < endpoints->seat[i].nops; k++) {
			const struct o2_endpoints_op *op = &endpoints->seat[i].op[k];

			count += op->to == seat->index && op->begun > op->ended_there && op->entry == number;
		}
	return count;
}

static struct o2_endpoints_entry *free_entry(struct o2_endpoints_seat *seat)
{
	for (uint32_t i = O2_ENDPOINTS_LNET; i < O2_ENDPOINTS_ENTRIES; i++)
		if (!seat->entry[i].attached)
			return &seat->entry[i];
	return NULL;
}

/* The table has a free place then, but the model has no number for a new entry before the next rest. */
static bool has_gone(const struct o2_endpoints_seat *seat)
{
	for (uint32_t i = 0; i < O2_ENDPOINTS_ENTRIES; i++)
		if (seat->entry[i].attached && seat->entry[i].gone)
			return true;
	return false;
}

static void attach_full(struct o2_endpoints_seat *seat)
{
	struct o2_lnet_entry entry = seat->entry[0].entry;
	struct o2_error error;
	int rc;

	entry.memory = seat->entry[0].memory.memory;
	rc = o2_lnet_attach(seat->endpoint.lnet, &entry, &error);
	o2_endpoints_seen(seat->endpoints, O2_ENDPOINTS_SEEN_TABLE_FULL);
	if (rc != -ENOSPC)
		o2_report_fail(seat->endpoints->report, "endpoint/attach",
			       "endpoint %" PRIu32 " has a full table and attaches with %d", seat->index, rc);
}

void o2_endpoints_attach(struct o2_endpoints_seat *seat)
{
	struct o2_choice *c = seat->endpoints->choice;
	struct o2_endpoints_entry *entry = free_entry(seat);
	const uint32_t number = (uint32_t)(entry - seat->entry);
	struct o2_error error;

	if (entry == NULL) {
		if (!has_gone(seat))
			attach_full(seat);
		return;
	}
	draw_entry(c, seat, &entry->entry);
	o2_endpoints_draw_entry_memory(c, seat, number);
	entry->entry.tag = number;
	entry->entry.memory = entry->memory.memory;
	begin(seat, entry);
	if (asked_for(seat, entry)) {
		entry->attached = false;
		return;
	}
	entry->index = o2_lnet_attach(seat->endpoint.lnet, &entry->entry, &error);
	if (entry->index < 0)
		o2_report_fail(seat->endpoints->report, "endpoint/attach",
			       "endpoint %" PRIu32 " has room for an entry and attaches with %d", seat->index,
			       entry->index);
}

/* Draw an entry to detach or unlink, one in use if possible: it must then stay. */
static uint32_t draw_detached(const struct o2_endpoints_seat *seat)
{
	const uint32_t own = O2_ENDPOINTS_ENTRIES - O2_ENDPOINTS_LNET;
	const uint32_t drawn = (uint32_t)o2_draw_pick(seat->endpoints->choice, own);

	for (uint32_t i = 0; i < own; i++) {
		const uint32_t number = O2_ENDPOINTS_LNET + (drawn + i) % own;

		if (o2_endpoints_users(seat, number) > 0)
			return number;
	}
	return O2_ENDPOINTS_LNET + drawn;
}

static void detach(struct o2_endpoints_seat *seat, struct o2_endpoints_entry *entry, bool busy)
{
	const uint32_t index = (uint32_t)entry->index;
	const int expected = busy ? -EBUSY : 0;
	int rc = o2_lnet_detach(seat->endpoint.lnet, index);

	if (rc == 0 && o2_lnet_detach(seat->endpoint.lnet, index) != -ENOENT)
		rc = -EEXIST;
	if (rc != expected)
		o2_report_fail(seat->endpoints->report, "endpoint/detach",
			       "endpoint %" PRIu32 " detaches an entry with %d, expected %d", seat->index, rc,
			       expected);
	if (busy)
		o2_endpoints_seen(seat->endpoints, O2_ENDPOINTS_SEEN_DETACH_BUSY);
}

/* Unlink an entry: it takes no more requests, and is detached once it is unused. */
static void unlink_entry(struct o2_endpoints_seat *seat, struct o2_endpoints_entry *entry, bool busy)
{
	const int rc = o2_lnet_unlink(seat->endpoint.lnet, (uint32_t)entry->index);

	if (rc != busy)
		o2_report_fail(seat->endpoints->report, "endpoint/unlink",
			       "endpoint %" PRIu32 " unlinks an entry with %d, expected %d", seat->index, rc,
			       busy);
	entry->closed = busy;
}

void o2_endpoints_detach(struct o2_endpoints_seat *seat)
{
	const uint32_t number = draw_detached(seat);
	struct o2_endpoints_entry *entry = &seat->entry[number];
	const bool busy = o2_endpoints_users(seat, number) > 0;

	if (!entry->attached || entry->gone || (!busy && asked_for(seat, entry)))
		return;
	if (o2_draw_bool(seat->endpoints->choice, 1, 1))
		unlink_entry(seat, entry, busy);
	else
		detach(seat, entry, busy);
	if (!busy)
		entry->attached = false;
}
