/* SPDX-License-Identifier: MIT */
/*
 * The bytes that are moved.  Those of o2ref say of themselves what they are (base/stream.h): a PUT's are of the
 * stream that its hdr_data names, and memory that is served holds stream 0.  Whether it is o2ref that speaks
 * shows in the bytes: so many right ones in a row do not come by chance, and before that nothing is said.
 */
#include "base/stream.h"
#include "judge/internal.h"

#define CARRIED_BYTES 16u   /* right ones in a row */
#define LOOKED_MAX    4096u /* when none of these shows the pattern, the others are not looked at */
#define CHUNK_BYTES   256u

static bool overlap(const struct o2_judge_place *a, const struct o2_judge_place *b)
{
	return a->portal == b->portal && a->match_bits == b->match_bits && a->offset < b->offset + b->bytes &&
	       b->offset < a->offset + a->bytes;
}

static bool covers(const struct o2_judge_place *outer, const struct o2_judge_place *inner)
{
	return inner->offset >= outer->offset && inner->offset + inner->bytes <= outer->offset + outer->bytes;
}

/* GETs of the side that may see some of what is written now are not to be told from those that do not. */
static void disturb(struct o2_judge_end *from, const struct o2_judge_place *place)
{
	struct o2_judge_transfer *transfer;

	TAILQ_FOREACH(transfer, &from->open, link)
		if (transfer->step == O2_TRANSFER_GET_OPEN && overlap(&transfer->pattern.place, place))
			transfer->pattern.known = false;
	for (uint32_t i = 0; i < O2_JUDGE_HANDLE_MAX; i++)
		if (from->handle[i].used && from->handle[i].is_get &&
		    overlap(&from->handle[i].pattern.place, place))
			from->handle[i].pattern.known = false;
}

void o2_judge_payload_put(const struct o2_judging *at, const struct o2_lnet_hdr *hdr,
			  struct o2_judge_pattern *pattern)
{
	struct o2_judge_end *from = &at->conn->end[at->from];
	struct o2_judge_put *put = &from->put[from->next_put++ % O2_JUDGE_PUTS_MAX];
	const struct o2_judge_transfer *transfer;

	from->forgot_puts = from->forgot_puts || put->number != 0;
	*put = (struct o2_judge_put){
		.number = at->event->number,
		.place = {hdr->msg.put.ptl_index, hdr->msg.put.match_bits, hdr->msg.put.offset,
			  hdr->payload_length},
		.stream = hdr->msg.put.hdr_data,
	};
	TAILQ_FOREACH(transfer, &from->open, link)
		put->mixed = put->mixed || (transfer->step != O2_TRANSFER_GET_OPEN &&
					    overlap(&transfer->pattern.place, &put->place));
	disturb(from, &put->place);
	/* Stream 0 is what memory holds from the start. */
	*pattern = (struct o2_judge_pattern){
		.known = put->stream != O2_STREAM_MEMORY, .stream = put->stream, .place = put->place};
}

void o2_judge_payload_ended(struct o2_judge_end *from, uint64_t number)
{
	for (uint32_t i = 0; i < O2_JUDGE_PUTS_MAX; i++)
		if (from->put[i].number == number)
			from->put[i].ended = true;
}

/* It may have gone to any place. */
void o2_judge_payload_unseen(struct o2_judge_end *from)
{
	for (uint32_t i = 0; i < O2_JUDGE_PUTS_MAX; i++)
		from->put[i].number = 0;
	for (uint32_t i = 0; i < O2_JUDGE_HANDLE_MAX; i++)
		from->handle[i].pattern.known = false;
}

void o2_judge_payload_get(const struct o2_judging *at, const struct o2_lnet_hdr *hdr,
			  struct o2_judge_pattern *pattern)
{
	const struct o2_judge_end *from = &at->conn->end[at->from];

	/* Where nothing was PUT there is what is served; what was not seen, or is forgotten, may have been. */
	*pattern = (struct o2_judge_pattern){
		.known = at->conn->whole && !from->forgot_puts,
		.stream = O2_STREAM_MEMORY,
		.offset = hdr->msg.get.src_offset,
		.place = {hdr->msg.get.ptl_index, hdr->msg.get.match_bits, hdr->msg.get.src_offset,
			  hdr->msg.get.sink_length},
	};
	for (uint32_t i = 1; i <= O2_JUDGE_PUTS_MAX; i++) {
		const struct o2_judge_put *put = &from->put[(from->next_put - i) % O2_JUDGE_PUTS_MAX];

		if (put->number == 0 || !overlap(&put->place, &pattern->place))
			continue;
		/* The last one that has written there. */
		pattern->known = put->ended && !put->mixed && put->stream != O2_STREAM_MEMORY &&
				 covers(&put->place, &pattern->place);
		pattern->stream = put->stream;
		pattern->offset -= put->place.offset;
		return;
	}
}

/* The first byte that is wrong: where does it come from? */
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

/* As many bytes as are compared at a time.  *run: right ones in a row. */
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
