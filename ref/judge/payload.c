/* SPDX-License-Identifier: MIT */
/*
 * The payload.  Bytes from o2ref can be recognized (base/stream.h): those of a PUT are of the stream that its
 * hdr_data names, and memory that is served holds stream 0.  Only the bytes show whether the sender is o2ref:
 * so many right ones in a row do not come by chance, and before that nothing is reported.
 */
#include "base/mix.h"
#include "base/stream.h"
#include "judge/internal.h"

#define CARRIED_BYTES 16u   /* matching bytes in a row that show that the sender uses the pattern */
#define LOOKED_MAX    4096u /* if these bytes do not show the pattern, the rest is not compared */
#define CHUNK_BYTES   256u

static bool overlap(const struct o2_judge_place *a, const struct o2_judge_place *b)
{
	return a->target == b->target && a->portal == b->portal && a->match_bits == b->match_bits &&
	       a->offset < b->offset + b->bytes && b->offset < a->offset + a->bytes;
}

static bool covers(const struct o2_judge_place *outer, const struct o2_judge_place *inner)
{
	return inner->offset >= outer->offset && inner->offset + inner->bytes <= outer->offset + outer->bytes;
}

/* --- other connections --- */

static struct o2_judge_written *written_at(struct o2_judge *judge, const struct o2_judge_place *place)
{
	const uint64_t mixed =
		(place->target * O2_MIX_STEP + place->match_bits) * O2_MIX_STEP + place->portal;

	return &judge->written[mixed * O2_MIX_STEP >> (64 - O2_JUDGE_WRITTEN_BITS)];
}

static void extend(struct o2_judge_range *range, const struct o2_judge_range *by)
{
	if (range->number == 0)
		*range = *by;
	range->low = by->low < range->low ? by->low : range->low;
	range->high = by->high > range->high ? by->high : range->high;
	range->number = by->number;
}

static void note_written(const struct o2_judging *at, const struct o2_judge_place *place)
{
	struct o2_judge_written *written = written_at(at->judge, place);
	const struct o2_judge_range now = {place->offset, place->offset + place->bytes, at->event->number};

	if (written->last.number != 0 && written->writer != at->conn->id) {
		extend(&written->before, &written->last);
		written->last.number = 0;
	}
	written->writer = at->conn->id;
	extend(&written->last, &now);
}

/* The number of the last PUT that may have written there over another connection; 0: none has. */
static uint64_t written_elsewhere(const struct o2_judging *at, const struct o2_judge_place *place)
{
	const struct o2_judge_written *written = written_at(at->judge, place);
	const uint64_t end = place->offset + place->bytes;

	if (written->writer != at->conn->id && written->last.low < end && place->offset < written->last.high)
		return written->last.number;
	return written->before.low < end && place->offset < written->before.high ? written->before.number : 0;
}

/* --- PUTs and GETs --- */

static bool touches(const struct o2_judge_pattern *pattern, const struct o2_judge_place *place)
{
	return place == NULL || overlap(&pattern->place, place);
}

/* The side's open GETs may or may not see the bytes of a PUT to that place (NULL: any): do not compare them. */
static void doubt_gets(struct o2_judge_conn *conn, int side, const struct o2_judge_place *place)
{
	struct o2_judge_end *asker = &conn->end[side];
	struct o2_judge_transfer *transfer;

	TAILQ_FOREACH(transfer, &asker->open, link)
		if (transfer->step == O2_TRANSFER_GET_OPEN && touches(&transfer->pattern, place))
			transfer->pattern.known = false;
	TAILQ_FOREACH(transfer, &conn->end[1 - side].open, link)
		if (transfer->is_reply && touches(&transfer->pattern, place))
			transfer->pattern.known = false;
	for (uint32_t i = 0; asker->nhandles != 0 && i < O2_JUDGE_HANDLE_MAX; i++)
		if (asker->handle[i].used && asker->handle[i].is_get &&
		    touches(&asker->handle[i].pattern, place))
			asker->handle[i].pattern.known = false;
}

/* Has the side another PUT to the same memory open? */
static bool is_open(const struct o2_judge_end *from, const struct o2_judge_place *place)
{
	const struct o2_judge_transfer *transfer;

	TAILQ_FOREACH(transfer, &from->open, link)
		if (transfer->step != O2_TRANSFER_GET_OPEN && !transfer->is_reply &&
		    overlap(&transfer->pattern.place, place))
			return true;
	return false;
}

/* The PUT disturbs all GETs from the node that it is for.  Returns whether another PUT to the same memory is open. */
static bool disturb_all(struct o2_judge *judge, const struct o2_judge_place *place)
{
	struct o2_judge_conn *conn;
	bool mixed = false;

	LIST_FOREACH(conn, &judge->conns, link)
		for (int side = O2_JUDGE_A; side < O2_JUDGE_SIDES; side++) {
			doubt_gets(conn, side, place);
			mixed = mixed || is_open(&conn->end[side], place);
		}
	return mixed;
}

void o2_judge_payload_put(const struct o2_judging *at, const struct o2_lnet_hdr *hdr,
			  struct o2_judge_pattern *pattern)
{
	struct o2_judge_end *from = &at->conn->end[at->from];
	struct o2_judge_put *put = &from->put[from->next_put++ % O2_JUDGE_PUTS_MAX];

	from->forgot_puts = from->forgot_puts || put->number != 0;
	*put = (struct o2_judge_put){
		.number = at->event->number,
		.place = {hdr->dest_nid, hdr->msg.put.ptl_index, hdr->msg.put.match_bits, hdr->msg.put.offset,
			  hdr->payload_length},
		.stream = hdr->msg.put.hdr_data,
	};
	put->mixed = disturb_all(at->judge, &put->place);
	note_written(at, &put->place);
	/* Stream 0 cannot be told from memory that was never written. */
	*pattern = (struct o2_judge_pattern){
		.known = put->stream != O2_STREAM_MEMORY, .stream = put->stream, .place = put->place};
}

void o2_judge_payload_ended(struct o2_judge_end *from, uint64_t number)
{
	for (uint32_t i = 0; i < O2_JUDGE_PUTS_MAX; i++)
		if (from->put[i].number == number)
			from->put[i].ended = true;
}

/* A missed PUT may have written anywhere. */
void o2_judge_payload_unseen(struct o2_judge_conn *conn, enum o2_judge_side side)
{
	for (uint32_t i = 0; i < O2_JUDGE_PUTS_MAX; i++)
		conn->end[side].put[i].number = 0;
	doubt_gets(conn, side, NULL);
}

void o2_judge_payload_get(const struct o2_judging *at, const struct o2_lnet_hdr *hdr,
			  struct o2_judge_pattern *pattern)
{
	const struct o2_judge_end *from = &at->conn->end[at->from];
	uint64_t elsewhere;

	/* Memory that no PUT wrote holds what is served.  A missed or forgotten PUT may have written it. */
	*pattern = (struct o2_judge_pattern){
		.known = at->conn->whole && !from->forgot_puts,
		.stream = O2_STREAM_MEMORY,
		.offset = hdr->msg.get.src_offset,
		.place = {hdr->dest_nid, hdr->msg.get.ptl_index, hdr->msg.get.match_bits,
			  hdr->msg.get.src_offset, hdr->msg.get.sink_length},
	};
	elsewhere = written_elsewhere(at, &pattern->place);
	pattern->known = pattern->known && elsewhere == 0;
	for (uint32_t i = 1; i <= O2_JUDGE_PUTS_MAX; i++) {
		const struct o2_judge_put *put = &from->put[(from->next_put - i) % O2_JUDGE_PUTS_MAX];

		if (put->number == 0 || !overlap(&put->place, &pattern->place))
			continue;
		/* This is the last PUT that wrote there. */
		pattern->known = put->ended && !put->mixed && put->number > elsewhere &&
				 put->stream != O2_STREAM_MEMORY && covers(&put->place, &pattern->place);
		pattern->stream = put->stream;
		pattern->offset -= put->place.offset;
		return;
	}
}

/* Record the first wrong byte, and where in the stream its bytes belong, if they belong anywhere. */
static void note_wrong(const struct o2_judging *at, struct o2_judge_pattern *pattern, uint64_t at_byte,
		       const uint8_t *bytes, size_t n, uint8_t expected)
{
	const size_t look = n < O2_STREAM_FIND_BYTES ? n : O2_STREAM_FIND_BYTES;
	uint64_t offset;

	pattern->wrong = true;
	pattern->at = (uint32_t)at_byte;
	pattern->field = "payload[]";
	pattern->is = bytes[0];
	pattern->expected = expected;
	if (!o2_stream_find(bytes, look, at->judge->options.seed, pattern->stream, &offset))
		return;
	pattern->field = "place in its stream of payload[]";
	pattern->is = offset;
	pattern->expected = pattern->offset + at_byte;
}

/* Compare one chunk of n bytes, of `rest` that are there.  *run: matching bytes in a row. */
static void look_at(const struct o2_judging *at, struct o2_judge_pattern *pattern, uint64_t at_byte,
		    const uint8_t *bytes, size_t n, size_t rest, uint32_t *run)
{
	uint8_t expected[CHUNK_BYTES];

	o2_stream_fill(expected, n, at->judge->options.seed, pattern->stream, pattern->offset + at_byte);
	for (size_t i = 0; i < n; i++) {
		*run = bytes[i] == expected[i] ? *run + 1 : 0;
		pattern->carried = pattern->carried || *run == CARRIED_BYTES;
		if (*run == 0 && !pattern->wrong)
			note_wrong(at, pattern, at_byte + i, bytes + i, rest - i, expected[i]);
	}
}

void o2_judge_payload_look(const struct o2_judging *at, struct o2_judge_pattern *pattern,
			   enum o2_judge_rule_id rule, uint64_t number, uint64_t at_byte,
			   const uint8_t *bytes, size_t n)
{
	uint32_t run = 0;

	for (size_t done = 0; done < n && pattern->known && !pattern->said;) {
		const size_t count = n - done < CHUNK_BYTES ? n - done : CHUNK_BYTES;

		look_at(at, pattern, at_byte + done, bytes + done, count, n - done, &run);
		done += count;
		pattern->looked += count;
		if (!pattern->carried && pattern->looked >= LOOKED_MAX)
			pattern->known = false;
		if (!pattern->carried || !pattern->wrong)
			continue;
		pattern->said = true;
		o2_judge_entry_differs(at, rule, number, pattern->field, pattern->at, pattern->is,
				       pattern->expected);
	}
}
