/* SPDX-License-Identifier: MIT */

/*
 * Two LNets and a bad network between them, for any peer that may be at the other end: letters are lost,
 * doubled, exchanged and changed, transfers fail, peers go down, time passes, all at random.  Whatever
 * happens, every operation ends exactly once, nothing is left behind, and no byte is written that was not
 * offered.
 *
 * usage: test_lnet_random [SEED [RUN]]   RUN alone is repeated
 */

#include "tests/lib/lnet_pair.h"

#include "props/engine/prng.h"

#define RUNS	     500u
#define STEPS	     100u
#define OPERATIONS   24u
#define ENTRY_PAGE   256u
#define ENTRY_BYTES  20000u
#define MEMORY_PAGE  16u /* of the operations: each has its own pages, followed by an unused one */
#define MEMORY_PAGES 4u
#define SLACK	     (MEMORY_PAGES + 1)
#define POISON	     0xa5u

static uint64_t seed = 20240607;

#define PENDING 64u
#define OLD	8u

/* A completion that is still pending; it comes at a random time. */
struct pending {
	struct o2_lnet_side *side;
	uint64_t tag;
	int status;
	uint64_t length_bytes;
};

struct run {
	struct o2_lnet_pair pair;
	struct o2_prng prng;
	uint64_t now_ms;
	uint32_t nstarted[2];
	uint64_t operation[2][OPERATIONS];
	struct o2_iov iov[2][OPERATIONS];
	uint32_t npending;
	struct pending pending[PENDING];
	uint32_t nold;
	struct o2_letter old[OLD]; /* IMMEDIATEs that arrived once */
};

static uint32_t draw(struct run *run, uint32_t max)
{
	return (uint32_t)o2_prng_upto(&run->prng, max);
}

static struct o2_lnet_side *side_of(struct run *run, uint32_t index)
{
	return index == 0 ? &run->pair.a : &run->pair.b;
}

/* Start a PUT or GET of 0 to 12288 bytes, with memory of its own. */
static void operate(struct run *run, uint32_t index)
{
	static const uint32_t sizes[] = {0, 1, 48, 3976, 3977, 4096, 12288};
	struct o2_lnet_side *side = side_of(run, index);
	const uint32_t n = run->nstarted[index], size = sizes[draw(run, 6)];
	struct o2_transfer_memory memory = {.buffer = {.kind = O2_IOV, .count = 1, .nob = size}};
	struct o2_lnet_target target = target_at(side->peer->nid, draw(run, 1) == 1);

	if (n == OPERATIONS)
		return;
	run->iov[index][n] = (struct o2_iov){side->arena.view[0].base + (uint64_t)(MEMORY_PAGE + n * SLACK) *
										side->arena.page_bytes,
					     size};
	memory.buffer.iov = &run->iov[index][n];
	target.offset = draw(run, 3) == 0 ? draw(run, ENTRY_BYTES + 5) : 0;
	if (draw(run, 7) == 0)
		target.portal = draw(run, 1) * 99;
	if (draw(run, 1) == 0 ? o2_lnet_put(side->lnet, &target, size == 0 ? NULL : &memory,
					    &run->operation[index][n], &side->error) == 0
			      : size > 0 && o2_lnet_get(side->lnet, &target, &memory,
							&run->operation[index][n], &side->error) == 0)
		run->nstarted[index]++;
}

/* Change one field of the header. */
static void change(struct run *run, struct o2_lnet_hdr *hdr)
{
	uint8_t *bytes = (uint8_t *)hdr;

	switch (draw(run, 5)) {
	case 0:
		hdr->type = draw(run, 5);
		return;
	case 1:
		hdr->dest_nid ^= UINT64_C(1) << draw(run, 63);
		return;
	case 2:
		hdr->src_nid ^= UINT64_C(1) << draw(run, 63);
		return;
	default:
		/* Flip a bit in the union, which has handles, match bits, portals, offsets and lengths. */
		bytes[offsetof(struct o2_lnet_hdr, msg) + draw(run, sizeof(hdr->msg) - 1)] ^=
			(uint8_t)(1u << draw(run, 7));
	}
}

/* Would the codec accept the letter: a length that fits the type, and a payload that fits the message? */
static bool passes_codec(const struct o2_letter *letter)
{
	const bool carries = letter->hdr.type == O2_LNET_PUT || letter->hdr.type == O2_LNET_REPLY;

	if (letter->kind == O2_LETTER_GET)
		return letter->hdr.type == O2_LNET_GET;
	if (letter->kind == O2_LETTER_PUT)
		return carries;
	return letter->hdr.type <= O2_LNET_REPLY && (carries || letter->hdr.payload_length == 0);
}

static void pend(struct run *run, struct o2_lnet_side *side, uint64_t tag, int status, uint64_t length_bytes)
{
	assert_true(run->npending < PENDING);
	run->pending[run->npending++] = (struct pending){side, tag, status, length_bytes};
}

static void finish(struct run *run, uint32_t index)
{
	const struct pending pending = run->pending[index];

	run->pending[index] = run->pending[--run->npending];
	o2_lnet_finished(pending.side->lnet, pending.tag, pending.status, pending.length_bytes, NULL);
}

/* Deliver a PUT_REQ or GET_REQ.  status: the result of its RDMA. */
static void arrive_rdma(struct run *run, const struct o2_letter *letter, int status)
{
	struct o2_lnet_side *from = letter->from, *to = from->peer;
	struct o2_transfer_memory memory;
	uint64_t tag;
	const int rc = o2_lnet_match(to->lnet, from->nid, &letter->hdr, &memory, &tag, &to->error);

	if (rc != 0) {
		pend(run, from, letter->tag, letter->kind == O2_LETTER_PUT && rc == -ENODATA ? 0 : rc, 0);
		return;
	}
	if (status == 0 && letter->kind == O2_LETTER_PUT)
		o2_lnet_move_bytes(from, letter->memory.buffer, to, memory.buffer);
	else if (status == 0)
		o2_lnet_move_bytes(to, memory.buffer, from, letter->memory.buffer);
	pend(run, to, tag, status, status == 0 ? memory.buffer.nob : 0);
	pend(run, from, letter->tag, status, status == 0 ? memory.buffer.nob : 0);
}

static void arrive(struct run *run, const struct o2_letter *letter, int status)
{
	if (letter->kind != O2_LETTER_IMMEDIATE) {
		arrive_rdma(run, letter, status);
		return;
	}
	run->old[run->nold++ % OLD] = *letter;
	o2_lnet_receive(letter->from->peer->lnet, letter->from->nid, &letter->hdr, letter->payload, NULL);
	pend(run, letter->from, letter->tag, 0, 0);
}

static struct o2_letter take_letter(struct o2_lnet_side *side)
{
	const struct o2_letter letter = side->letter[0];

	side->nletters--;
	memmove(side->letter, side->letter + 1, side->nletters * sizeof(letter));
	return letter;
}

/* Deliver an IMMEDIATE that was not sent: an old one again or a copy of the next one, perhaps changed. */
static void forge(struct run *run, const struct o2_letter *like)
{
	static struct o2_letter letter;

	letter = run->nold > 0 && draw(run, 1) == 0 ? run->old[draw(run, OLD - 1) % run->nold] : *like;
	if (draw(run, 1) == 0)
		change(run, &letter.hdr);
	if (letter.kind == O2_LETTER_IMMEDIATE && passes_codec(&letter))
		o2_lnet_receive(letter.from->peer->lnet,
				draw(run, 7) == 0 ? letter.from->nid + 1 : letter.from->nid, &letter.hdr,
				letter.payload, NULL);
}

/* Deliver the next letter, or lose, double, reorder or change it. */
static void deliver_some(struct run *run, uint32_t index)
{
	struct o2_lnet_side *side = side_of(run, index);
	static struct o2_letter letter;
	const uint32_t fate = draw(run, 9);

	if (side->nletters == 0)
		return;
	if (fate == 5 && side->nletters > 1) { /* overtaken */
		letter = side->letter[0];
		side->letter[0] = side->letter[1];
		side->letter[1] = letter;
	}
	letter = take_letter(side);
	if (fate == 1) { /* lost: its sender gets an error */
		pend(run, side, letter.tag, -ECONNABORTED, 0);
		return;
	}
	if (fate == 2 || fate == 3)
		forge(run, &letter);
	if (fate == 4) { /* changed on its way */
		const struct o2_lnet_hdr sent = letter.hdr;

		change(run, &letter.hdr);
		if (!passes_codec(&letter))
			letter.hdr = sent;
	}
	arrive(run, &letter, fate == 0 ? -EIO : 0);
}

/* Cancel an operation, which may have ended already. */
static void cancel(struct run *run, uint32_t index)
{
	struct o2_lnet_side *side = side_of(run, index);
	const uint32_t nresults = side->nresults, messages = o2_lnet_messages(side->lnet);
	int rc;

	if (run->nstarted[index] == 0)
		return;
	rc = o2_lnet_cancel(side->lnet, run->operation[index][draw(run, run->nstarted[index] - 1)]);
	assert_true(rc == 0 || rc == -ENOENT);
	assert_int_equal(side->nresults - nresults, messages - o2_lnet_messages(side->lnet));
	if (side->nresults > nresults)
		assert_int_equal(side->result[nresults].status, -ECANCELED);
}

static void step(struct run *run)
{
	const uint32_t index = draw(run, 1);
	struct o2_lnet_side *side = side_of(run, index);

	side->nevents = 0;
	side->peer->nevents = 0;
	switch (draw(run, 12)) {
	case 0:
	case 1:
	case 2:
		operate(run, index);
		return;
	case 3:
		run->now_ms += draw(run, 60000);
		o2_lnet_side_clock(side, run->now_ms);
		return;
	case 4:
		if (draw(run, 3) == 0)
			o2_lnet_peer_down(side->lnet, side->peer->nid, NULL);
		return;
	case 7:
		cancel(run, index);
		return;
	case 5:
	case 6:
		if (run->npending > 0)
			finish(run, draw(run, run->npending - 1));
		return;
	default:
		deliver_some(run, index);
	}
}

static void offer(struct o2_lnet_side *side)
{
	const struct o2_transfer_memory memory = lnet_side_memory(side, 3, ENTRY_PAGE, ENTRY_BYTES);
	struct o2_lnet_entry entry = entry_of(&memory);

	entry.options |= O2_LNET_MD_TRUNCATE;
	assert_int_equal(o2_lnet_attach(side->lnet, &entry, NULL), 2);
}

/* Assert that bytes outside LNet's two pages, the entry and the operations' memory are unchanged. */
static void check_untouched(const struct o2_lnet_side *side)
{
	const uint32_t page_bytes = side->arena.page_bytes;
	uint8_t poison[4096];

	assert_int_equal(page_bytes, sizeof(poison));
	memset(poison, POISON, sizeof(poison));
	for (uint32_t page = 2; page < O2_LNET_SIDE_PAGES; page++) {
		const uint8_t *bytes = o2_lnet_side_bytes(side, page);
		const bool entry = page >= ENTRY_PAGE && page <= ENTRY_PAGE + ENTRY_BYTES / page_bytes;
		const bool memory = page >= MEMORY_PAGE && page < MEMORY_PAGE + OPERATIONS * SLACK &&
				    (page - MEMORY_PAGE) % SLACK < MEMORY_PAGES - 1;
		const uint32_t first = !entry ? 0
				       : page < ENTRY_PAGE + ENTRY_BYTES / page_bytes
					       ? page_bytes
					       : ENTRY_BYTES % page_bytes;

		/* memcmp first: a call for each of three million bytes, 500 times, would take most of the time. */
		if (!memory && memcmp(bytes + first, poison, page_bytes - first) != 0)
			assert_memory_equal(bytes + first, poison, page_bytes - first);
	}
}

/* Make the network reliable and let time pass: now every operation must end. */
static void check_end(struct run *run)
{
	while (run->pair.a.nletters + run->pair.b.nletters + run->npending > 0) {
		struct o2_lnet_side *side = run->pair.a.nletters > 0 ? &run->pair.a : &run->pair.b;

		run->pair.a.nevents = run->pair.b.nevents = 0;
		if (run->npending > 0) {
			finish(run, 0);
		} else {
			const struct o2_letter letter = take_letter(side);

			arrive(run, &letter, 0);
		}
	}
	for (uint32_t i = 0; i < 2; i++) {
		struct o2_lnet_side *side = side_of(run, i);

		o2_lnet_side_clock(side, run->now_ms + 10000000);
		assert_int_equal(side->nresults, run->nstarted[i]);
		assert_int_equal(o2_lnet_messages(side->lnet), 0);
		for (uint32_t entry = 0; entry < 3; entry++)
			assert_int_equal(o2_lnet_detach(side->lnet, entry), 0);
		check_untouched(side);
	}
}

/* Prepare a run.  The memory of the previous run is reused, because creating it takes longer than a run. */
static void begin(struct run *run, uint64_t number)
{
	if (run->pair.a.lnet == NULL)
		lnet_pair_open(&run->pair, NULL);
	else
		assert_int_equal(o2_lnet_pair_renew(&run->pair, NULL), 0);
	run->prng = o2_prng_init(seed, number);
	run->now_ms = 0;
	run->npending = run->nold = 0;
	memset(run->nstarted, 0, sizeof(run->nstarted));
}

static void check_right(const struct o2_lnet_side *side)
{
	assert_null(side->wrong);
	assert_int_equal(side->nwriting, 0);
}

static void play(struct run *run, uint64_t number)
{
	begin(run, number);
	for (uint32_t i = 0; i < 2; i++) {
		struct o2_lnet_side *side = side_of(run, i);

		/* If a side accepts only short messages, small GETs are answered by RDMA. */
		side->immediate_max = draw(run, 1) == 0 ? 28 : O2_IMMEDIATE_MAX;
		memset(o2_lnet_side_bytes(side, 2), POISON,
		       (size_t)(O2_LNET_SIDE_PAGES - 2) * side->arena.page_bytes);
		offer(side);
	}
	for (uint32_t i = 0; i < STEPS; i++)
		step(run);
	check_end(run);
	check_right(&run->pair.a);
	check_right(&run->pair.b);
	assert_null(run->pair.wrong);
}

/* What closing a pair finds is not forgotten when the pair is open again. */
TEST(a_renewed_pair_tells_what_was_wrong)
{
	struct o2_lnet_pair *pair = lnet_pair_default();

	pair->b.nwriting = 1;
	assert_int_equal(o2_lnet_pair_renew(pair, NULL), 0);
	assert_non_null(pair->wrong);
	assert_null(pair->b.wrong);
	lnet_pair_close(pair);
}

static uint64_t only = UINT64_MAX, current;

static int say_replay(void **state)
{
	if (current != UINT64_MAX)
		print_message("replay: test_lnet_random %lu %lu\n", (unsigned long)seed,
			      (unsigned long)current);
	return 0;
}

TEST_WITH(test_random, NULL, say_replay)
{
	static struct run run;

	for (current = only == UINT64_MAX ? 0 : only; current < (only == UINT64_MAX ? RUNS : only + 1);
	     current++)
		play(&run, current);
	current = UINT64_MAX;
	lnet_pair_close(&run.pair);
}

int main(int argc, char **argv)
{
	tests_take_numbers(argc, argv, &seed, &only);
	print_message("seed %lu\n", (unsigned long)seed);
	return tests_run();
}
