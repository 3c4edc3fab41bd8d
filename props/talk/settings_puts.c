/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/stream.h"
#include "cli/net/puts.h"
#include "props/talk/settings_internal.h"

/*
 * serve --verify: PUTs that overlap in time and place, and the report on the bytes of each (docs/peer.md,
 * "Verifying").  The model keeps all PUTs, and computes which of them may have written each byte.
 */

#define ENTRIES	    2u
#define ENTRY_BYTES 512u
#define PUTS	    64u /* most PUTs with data */

struct one {
	struct o2_net_put put;
	bool is_open, is_kept, crowded;
	uint64_t began, ended;
	uint8_t bytes[ENTRY_BYTES]; /* the bytes that it writes */
};

struct meeting {
	struct o2_choice *c;
	struct o2_report *report;
	struct o2_arena arena;
	struct o2_iov iov[ENTRIES];
	struct o2_transfer_memory entry[ENTRIES];
	struct o2_net_puts *puts;
	uint64_t now;
	uint32_t kept, lost; /* PUTs in progress: those remembered, those not */
	uint32_t count;
	struct one one[PUTS];
	/* When the PUTs that the verifier remembers have ended, in a ring: `first` is the oldest of nended. */
	uint64_t ended[O2_NET_PUTS];
	uint32_t first, nended;
};

static uint8_t *memory_of(const struct meeting *meeting, uint64_t entry)
{
	return (uint8_t *)(uintptr_t)meeting->iov[entry].base;
}

static bool open_desk(struct meeting *meeting)
{
	if (o2_arena_create(1, &meeting->arena, NULL) != 0)
		return false;
	for (uint32_t i = 0; i < ENTRIES; i++) {
		meeting->iov[i] =
			(struct o2_iov){meeting->arena.view[0].base + i * 2 * ENTRY_BYTES, ENTRY_BYTES};
		meeting->entry[i] = (struct o2_transfer_memory){
			.buffer = {.kind = O2_IOV, .count = 1, .nob = ENTRY_BYTES, .iov = &meeting->iov[i]}};
		memset(memory_of(meeting, i), 0, ENTRY_BYTES);
	}
	return true;
}

/* Add a PUT with data. */
static struct one *add(struct meeting *meeting, uint64_t seed, uint64_t request)
{
	struct o2_choice *c = meeting->c;
	struct one *one = &meeting->one[meeting->count++];
	const uint64_t offset = o2_draw(c, o2_draw_bool(c, 1, 1) ? 40 : ENTRY_BYTES);

	memset(one, 0, sizeof(*one));
	one->put = (struct o2_net_put){.request = request,
				       .entry = o2_draw_bool(c, 3, 1),
				       .offset = offset,
				       .length_bytes = o2_draw(c, ENTRY_BYTES - offset),
				       .stream = o2_draw(c, UINT32_MAX)};
	o2_stream_fill(one->bytes, one->put.length_bytes, seed, one->put.stream, 0);
	return one;
}

/* With more PUTs in progress than the verifier remembers, the bytes of all of them cannot be attributed. */
static void begin(struct meeting *meeting, struct one *one)
{
	one->is_open = true;
	one->began = ++meeting->now;
	one->is_kept = meeting->kept < O2_NET_PUTS;
	if (one->is_kept)
		meeting->kept++;
	else
		meeting->lost++;
	one->crowded = meeting->lost > 0;
	for (uint32_t i = 0; i < meeting->count && !one->is_kept; i++)
		meeting->one[i].crowded |= meeting->one[i].is_open;
	o2_net_puts_begin(meeting->puts, &one->put);
}

/* Write some bytes of a PUT, sometimes with a byte that belongs to none. */
static void land(struct meeting *meeting)
{
	struct o2_choice *c = meeting->c;
	const struct one *one = &meeting->one[o2_draw(c, meeting->count - 1)];
	const uint64_t length = one->put.length_bytes;
	uint64_t from, n;

	if (length == 0)
		return;
	from = o2_draw_bool(c, 2, 1) ? o2_draw(c, length - 1) : 0;
	n = o2_draw_bool(c, 2, 1) ? 1 + o2_draw(c, length - from - 1) : length - from;
	memcpy(memory_of(meeting, one->put.entry) + one->put.offset + from, one->bytes + from, n);
	if (o2_draw_bool(c, 15, 1))
		memory_of(meeting, one->put.entry)[one->put.offset + from] ^= (uint8_t)(1 + o2_draw(c, 254));
}

/* True if that byte of the entry may have been written by another PUT while this one was in progress. */
static bool may_be_anothers(const struct meeting *meeting, const struct one *one, uint64_t at)
{
	const uint8_t byte = memory_of(meeting, one->put.entry)[at];

	for (uint32_t i = 0; i < meeting->count; i++) {
		const struct one *other = &meeting->one[i];
		const bool meets = (other->is_open && other->is_kept) || other->ended > one->began;

		if (other != one && meets && other->put.entry == one->put.entry && at >= other->put.offset &&
		    at - other->put.offset < other->put.length_bytes &&
		    other->bytes[at - other->put.offset] == byte)
			return true;
	}
	return false;
}

static enum o2_net_verdict foretell(const struct meeting *meeting, const struct one *one, uint64_t *at)
{
	enum o2_net_verdict verdict = O2_NET_RIGHT;

	for (*at = 0; *at < one->put.length_bytes; ++*at) {
		const uint64_t place = one->put.offset + *at;

		if (memory_of(meeting, one->put.entry)[place] == one->bytes[*at])
			continue;
		verdict = O2_NET_NOT_TOLD_APART;
		if (!may_be_anothers(meeting, one, place))
			return one->crowded ? O2_NET_NOT_TOLD_APART : O2_NET_WRONG;
	}
	return verdict;
}

/* A PUT has ended now.  If that forgets one that ended before, what overlapped with it cannot be attributed. */
static void keep(struct meeting *meeting)
{
	if (meeting->kept == 0) {
		meeting->nended = 0;
		return;
	}
	if (meeting->nended == O2_NET_PUTS) {
		for (uint32_t i = 0; i < meeting->count; i++)
			meeting->one[i].crowded |= meeting->one[i].is_open &&
						   meeting->one[i].began < meeting->ended[meeting->first];
		meeting->first = (meeting->first + 1) % O2_NET_PUTS;
		meeting->nended--;
	}
	meeting->ended[(meeting->first + meeting->nended++) % O2_NET_PUTS] = meeting->now;
}

/* About as many PUTs without data end as the verifier remembers. */
static void flood(struct meeting *meeting)
{
	const struct o2_net_put nothing = {.request = 0};
	struct o2_net_wrong wrong;

	for (uint64_t left = O2_NET_PUTS - 8 + o2_draw(meeting->c, 16); left > 0; left--) {
		meeting->now++;
		o2_net_puts_end(meeting->puts, &nothing, &meeting->arena, NULL, &wrong);
		keep(meeting);
	}
}

/* End a PUT: successfully, then its bytes are checked; or failed, then it may have written nevertheless. */
static void end(struct meeting *meeting, struct one *one, bool well)
{
	struct o2_net_wrong wrong = {0};
	enum o2_net_verdict expected, found;
	uint64_t at;

	if (one->is_open && one->is_kept)
		meeting->kept--;
	else if (one->is_open)
		meeting->lost--;
	meeting->now++;
	one->began = one->is_open ? one->began : meeting->now;
	one->crowded |= meeting->lost > 0;
	one->is_open = false;
	expected = well ? foretell(meeting, one, &at) : O2_NET_RIGHT;
	one->ended = meeting->now;
	found = o2_net_puts_end(meeting->puts, &one->put, &meeting->arena,
				well ? &meeting->entry[one->put.entry] : NULL, &wrong);
	keep(meeting);
	if (found != expected)
		o2_report_fail(meeting->report, "settings/puts", "PUT %u: verdict %d, expected %d",
			       (unsigned int)(one - meeting->one), (int)found, (int)expected);
	else if (expected == O2_NET_WRONG &&
		 (wrong.at != at || wrong.want != one->bytes[at] ||
		  wrong.got != memory_of(meeting, one->put.entry)[one->put.offset + at]))
		o2_report_fail(meeting->report, "settings/puts", "PUT %u: byte %u is wrong, expected byte %u",
			       (unsigned int)(one - meeting->one), (unsigned int)wrong.at, (unsigned int)at);
}

static void step(struct meeting *meeting, uint64_t seed)
{
	struct o2_choice *c = meeting->c;
	const uint64_t kind = o2_draw(c, 7);
	struct one *one;

	if (kind < 2 || meeting->count == 0) {
		begin(meeting, add(meeting, seed, meeting->count + 1));
	} else if (kind == 2) {
		one = add(meeting, seed, 0);
		if (o2_draw_bool(c, 1, 3))
			memcpy(memory_of(meeting, one->put.entry) + one->put.offset, one->bytes,
			       one->put.length_bytes);
		end(meeting, one, true);
	} else if (kind < 5) {
		land(meeting);
	} else if (kind == 5 && o2_draw_bool(c, 63, 1)) {
		flood(meeting);
	} else {
		one = &meeting->one[o2_draw(c, meeting->count - 1)];
		if (one->is_open)
			end(meeting, one, !o2_draw_bool(c, 5, 1));
	}
}

void o2_settings_puts(struct o2_settings_run *run, struct o2_choice *c, struct o2_report *report)
{
	static struct meeting meeting; /* large */
	const uint64_t seed = o2_draw(c, UINT32_MAX);
	const bool crowd = o2_draw_bool(c, 15, 1);

	memset(&meeting, 0, sizeof(meeting));
	meeting.c = c;
	meeting.report = report;
	snprintf(run->text, sizeof(run->text), "PUTs that meet");
	run->tally.seen[O2_SETTINGS_PUTS]++;
	if (!open_desk(&meeting))
		return;
	meeting.puts = o2_net_puts_create(seed);
	/* PUTs without data that never end: they use up the verifier's room. */
	for (uint64_t left = crowd ? O2_NET_PUTS - o2_draw(c, 4) : 0; left > 0; left--, meeting.kept++) {
		const struct o2_net_put nothing = {.request = PUTS + left};

		o2_net_puts_begin(meeting.puts, &nothing);
	}
	while (meeting.count < PUTS && !report->failed && o2_draw_bool(c, 1, 60))
		step(&meeting, seed);
	free(meeting.puts);
	o2_arena_destroy(&meeting.arena);
}
