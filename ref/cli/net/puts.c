/* SPDX-License-Identifier: MIT */
#include "cli/net/puts.h"

#include <assert.h>
#include <stdlib.h>

#include "base/limits.h"
#include "base/stream.h"
#include "mem/kmap.h"

static_assert(sizeof(((struct o2_net_puts *)0)->bytes) == O2_MAX_TRANSFER_BYTES, "a PUT fits");

struct o2_net_puts *o2_net_puts_create(uint64_t seed)
{
	struct o2_net_puts *puts = calloc(1, sizeof(*puts));

	if (puts != NULL)
		puts->seed = seed;
	return puts;
}

/* A PUT that is not remembered has written, or may write, while all of these are under way. */
static void crowd(struct o2_net_puts *puts)
{
	for (uint32_t i = 0; i < puts->nopen; i++)
		puts->open[i].crowded = true;
}

void o2_net_puts_begin(struct o2_net_puts *puts, const struct o2_net_put *put)
{
	puts->now++;
	if (puts->nopen == O2_NET_PUTS) {
		puts->nlost++;
		crowd(puts);
		return;
	}
	puts->open[puts->nopen] = *put;
	puts->open[puts->nopen].began = puts->now;
	puts->open[puts->nopen++].crowded = puts->nlost > 0;
}

static struct o2_net_put *find(struct o2_net_puts *puts, uint64_t request)
{
	for (uint32_t i = 0; request != 0 && i < puts->nopen; i++)
		if (puts->open[i].request == request)
			return &puts->open[i];
	return NULL;
}

/* All that is known of the PUT, which is no longer under way. */
static struct o2_net_put take(struct o2_net_puts *puts, const struct o2_net_put *put)
{
	struct o2_net_put *open = find(puts, put->request);
	struct o2_net_put taken = open != NULL ? *open : *put;

	puts->now++;
	taken.ended = puts->now;
	if (open != NULL) {
		*open = puts->open[--puts->nopen];
	} else if (put->request == 0) {
		taken.began = puts->now;
	} else {
		taken.crowded = true;
		puts->nlost--;
	}
	taken.crowded |= puts->nlost > 0;
	return taken;
}

/* A PUT that has ended matters as long as one is under way that began before that end. */
static void keep(struct o2_net_puts *puts, const struct o2_net_put *put)
{
	if (puts->nopen == 0) {
		puts->nended = 0;
		return;
	}
	if (puts->nended == O2_NET_PUTS) {
		for (uint32_t i = 0; i < puts->nopen; i++)
			puts->open[i].crowded |= puts->open[i].began < puts->ended[puts->first].ended;
		puts->first = (puts->first + 1) % O2_NET_PUTS;
		puts->nended--;
	}
	puts->ended[(puts->first + puts->nended++) % O2_NET_PUTS] = *put;
}

/* How many bytes from `from` on (`at` in the entry) may be that PUT's; 0: not even the first. */
static uint64_t covered(const struct o2_net_puts *puts, const struct o2_net_put *put, uint64_t entry,
			uint64_t at, uint64_t from, uint64_t length_bytes)
{
	const uint64_t end = put->offset + put->length_bytes;
	const uint64_t left_bytes = length_bytes - from;

	if (put->entry != entry || at < put->offset || at >= end)
		return 0;
	return o2_stream_match(puts->bytes + from, end - at < left_bytes ? end - at : left_bytes, puts->seed,
			       put->stream, at - put->offset);
}

/* The most bytes that may be of one other PUT that wrote at the same time. */
static uint64_t others_cover(const struct o2_net_puts *puts, const struct o2_net_put *put, uint64_t from)
{
	const uint64_t at = put->offset + from;
	uint64_t most = 0;

	for (uint32_t i = 0; i < puts->nopen + puts->nended; i++) {
		const struct o2_net_put *other =
			i < puts->nopen ? &puts->open[i]
					: &puts->ended[(puts->first + i - puts->nopen) % O2_NET_PUTS];
		uint64_t n;

		if (i >= puts->nopen && other->ended < put->began)
			continue;
		n = covered(puts, other, put->entry, at, from, put->length_bytes);
		most = n > most ? n : most;
	}
	return most;
}

/* Judge the PUT's bytes, which are in puts->bytes. */
static enum o2_net_verdict judge(const struct o2_net_puts *puts, const struct o2_net_put *put,
				 struct o2_net_wrong *wrong)
{
	enum o2_net_verdict verdict = O2_NET_RIGHT;
	uint64_t at = 0;

	for (;;) {
		uint64_t n = covered(puts, put, put->entry, put->offset + at, at, put->length_bytes);

		at += n;
		if (at == put->length_bytes)
			return verdict;
		verdict = O2_NET_NOT_TOLD_APART;
		n = others_cover(puts, put, at);
		if (n == 0)
			break;
		at += n;
		if (at == put->length_bytes)
			return verdict;
	}
	wrong->at = at;
	wrong->got = puts->bytes[at];
	o2_stream_fill(&wrong->want, 1, puts->seed, put->stream, at);
	return put->crowded ? O2_NET_NOT_TOLD_APART : O2_NET_WRONG;
}

enum o2_net_verdict o2_net_puts_end(struct o2_net_puts *puts, const struct o2_net_put *put,
				    const struct o2_arena *arena, const struct o2_transfer_memory *entry,
				    struct o2_net_wrong *wrong)
{
	const struct o2_net_put ended = take(puts, put);
	enum o2_net_verdict verdict = O2_NET_RIGHT;

	if (entry != NULL && ended.length_bytes > 0) {
		struct o2_buffer buffer = entry->buffer;
		int rc;

		buffer.offset += ended.offset;
		buffer.nob = ended.length_bytes;
		rc = o2_copy_from_buffer(arena, &buffer, puts->bytes, NULL);
		assert(rc == 0); /* LNet has matched the PUT to the entry */
		(void)rc;
		verdict = judge(puts, &ended, wrong);
	}
	keep(puts, &ended);
	return verdict;
}
