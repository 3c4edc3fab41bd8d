/* SPDX-License-Identifier: MIT */
/*
 * Compares sg_build with an oracle that lists the place of each byte of a random buffer.
 * O2_TEST_SEED=n replays a run.
 */
#include <inttypes.h>

#include "mem/sg_build.h"
#include "props/engine/prng.h"
#include "tests/lib/unit_test.h"

#define MIB O2_MAX_TRANSFER_BYTES

struct place {
	uint32_t piece;
	uint32_t page;
	uint32_t offset;
};

#define RANDOM_PIECES 300u
#define RANDOM_PAGES  64u

struct scenario {
	struct o2_buffer buffer;
	struct o2_address_space space;
	uint32_t max_entries;
	struct o2_iov iov[RANDOM_PIECES];
	struct o2_kiov kiov[RANDOM_PIECES];
	struct o2_vrange range;
	uint32_t page[RANDOM_PAGES];
};

static struct place places[MIB];

/* Find where byte k of a piece lies.  Returns false if its address has no page. */
static bool locate(const struct scenario *s, uint32_t piece, uint64_t k, struct place *place)
{
	uint64_t va;

	place->piece = piece;
	if (s->buffer.kind == O2_KIOV) {
		place->page = s->kiov[piece].page;
		place->offset = s->kiov[piece].offset + (uint32_t)k;
		return true;
	}
	va = s->iov[piece].base + k;
	place->offset = (uint32_t)(va % s->space.page_bytes);
	if (va < s->range.base || va >= s->range.base + (uint64_t)s->range.npages * s->space.page_bytes)
		return false;
	place->page = s->page[(va - s->range.base) / s->space.page_bytes];
	return true;
}

static bool piece_is_legal(const struct scenario *s, uint32_t piece)
{
	const struct o2_kiov *kiov = &s->kiov[piece];

	return s->buffer.kind == O2_IOV || kiov->len == 0 ||
	       (kiov->page < s->space.npages && (uint64_t)kiov->offset + kiov->len <= s->space.page_bytes);
}

/* Do two successive bytes belong to different entries? */
static bool is_seam(const struct place *a, const struct place *b)
{
	return a->piece != b->piece || a->page != b->page || b->offset != a->offset + 1;
}

/* List the place of every byte.  Returns the value that sg_build must return. */
static int spell_out(const struct scenario *s, uint64_t *count)
{
	uint64_t seen = 0;
	uint64_t nob = 0;

	*count = 0;
	for (uint32_t piece = 0; piece < s->buffer.count; piece++) {
		uint64_t length = s->buffer.kind == O2_IOV ? s->iov[piece].len : s->kiov[piece].len;

		/* A piece that the transfer skips completely, or that lies behind its end, is not checked. */
		if (seen + length > s->buffer.offset && !piece_is_legal(s, piece))
			return -EINVAL;
		for (uint64_t k = 0; k < length; k++, seen++) {
			bool found;

			if (seen < s->buffer.offset)
				continue;
			found = locate(s, piece, k, &places[nob]);
			if (nob == 0 || !found || is_seam(&places[nob - 1], &places[nob]))
				++*count;
			if (*count > s->max_entries || !found)
				return -EFAULT;
			if (++nob == s->buffer.nob)
				return 0;
		}
	}
	return -EINVAL;
}

/* Rule G3, byte by byte: at every seam one byte is the last of its page and the next the first of its own. */
static bool has_gaps(const struct scenario *s)
{
	for (uint64_t k = 1; k < s->buffer.nob; k++) {
		if (is_seam(&places[k - 1], &places[k]) &&
		    (places[k - 1].offset != s->space.page_bytes - 1 || places[k].offset != 0))
			return true;
	}
	return false;
}

/* The kinds of vectors, which the gap rule treats differently. */
enum style {
	ANYHOW,
	DENSE,		/* all but the first start on a page, all but the last end on one */
	STARTS_ALIGNED, /* gaps only at ends */
	ENDS_ALIGNED,	/* gaps only at starts */
	STYLES,
};

static void draw_kiov(struct o2_prng *prng, struct scenario *s, uint32_t i, enum style style)
{
	uint32_t page_bytes = s->space.page_bytes;
	bool start = (style == DENSE && i > 0) || style == STARTS_ALIGNED;
	uint32_t offset = start ? 0 : (uint32_t)o2_prng_upto(prng, page_bytes - 1);
	uint32_t left = page_bytes - offset;
	uint32_t length = (uint32_t)o2_prng_upto(prng, left);

	if (style == DENSE || style == ENDS_ALIGNED)
		length = left;
	else if (s->buffer.count > 30)
		length = (uint32_t)o2_prng_upto(prng, left < 64 ? left : 64);
	if (o2_prng_upto(prng, 9) == 0)
		length = 0;
	s->kiov[i] = (struct o2_kiov){(uint32_t)o2_prng_upto(prng, RANDOM_PAGES - 1), offset, length};
	if (o2_prng_upto(prng, 299) == 0)
		s->kiov[i].len += left;
	if (o2_prng_upto(prng, 299) == 0)
		s->kiov[i].page = RANDOM_PAGES;
}

/* Draw an address piece of up to three pages, which sometimes lies past the end of the range. */
static void draw_iov(struct o2_prng *prng, struct scenario *s, uint32_t i, enum style style)
{
	uint32_t page_bytes = s->space.page_bytes;
	uint64_t end = s->range.base + (uint64_t)RANDOM_PAGES * page_bytes;
	struct o2_iov *iov = &s->iov[i];

	iov->base = s->range.base + o2_prng_upto(prng, end - s->range.base - 1);
	if ((style == DENSE && i > 0) || style == STARTS_ALIGNED)
		iov->base -= iov->base % page_bytes;
	iov->len = o2_prng_upto(prng, 3 * (s->buffer.count > 30 ? 64 : page_bytes));
	if (style == DENSE || style == ENDS_ALIGNED)
		iov->len += page_bytes - (iov->base + iov->len) % page_bytes;
	if (o2_prng_upto(prng, 9) != 0 && iov->len > end - iov->base)
		iov->len = end - iov->base;
	if (o2_prng_upto(prng, 9) == 0)
		iov->len = 0;
}

static void draw(struct o2_prng *prng, struct scenario *s)
{
	static const uint32_t sizes[] = {4096, 4096, 4096, 4096, 4096, 16384, 65536};
	uint64_t total = 0;
	enum style style;

	memset(s, 0, sizeof(*s));
	s->space.page_bytes = sizes[o2_prng_upto(prng, 6)];
	s->space.npages = RANDOM_PAGES;
	s->space.nranges = 1;
	s->space.range = &s->range;
	s->range = (struct o2_vrange){o2_prng_upto(prng, 1000) * 65536, RANDOM_PAGES, s->page};
	for (uint32_t i = 0; i < RANDOM_PAGES; i++)
		s->page[i] = (uint32_t)o2_prng_upto(prng, RANDOM_PAGES - 1);
	s->max_entries = o2_prng_upto(prng, 1) == 0 ? O2_MAX_FRAGS : O2_MAX_FRAGS_LEGACY;
	s->buffer.kind = o2_prng_upto(prng, 1) == 0 ? O2_IOV : O2_KIOV;
	s->buffer.count = (uint32_t)o2_prng_upto(prng, o2_prng_upto(prng, 3) == 0 ? RANDOM_PIECES : 8);
	style = (enum style)o2_prng_upto(prng, STYLES - 1);
	for (uint32_t i = 0; i < s->buffer.count; i++) {
		draw_kiov(prng, s, i, style);
		draw_iov(prng, s, i, style);
	}
	if (s->buffer.kind == O2_IOV)
		s->buffer.iov = s->iov;
	else
		s->buffer.kiov = s->kiov;
	for (uint32_t i = 0; i < s->buffer.count; i++)
		total += s->buffer.kind == O2_IOV ? s->iov[i].len : s->kiov[i].len;
	s->buffer.offset = o2_prng_upto(prng, 1) == 0 ? 0 : o2_prng_upto(prng, total);
	total = total < s->buffer.offset ? 0 : total - s->buffer.offset;
	if (o2_prng_upto(prng, 1) == 0)
		total = 1 + o2_prng_upto(prng, total);
	s->buffer.nob = total == 0 ? 1 : total > MIB ? MIB : total;
}

static void compare(const struct scenario *s, const char *replay)
{
	struct o2_sg_list list;
	struct o2_error error = {0};
	uint64_t count;
	uint64_t k = 0;
	int want = spell_out(s, &count);
	int rc = o2_sg_build(&s->buffer, &s->space, s->max_entries, &list, &error);

	if (rc != want)
		fail_msg("returned %d (%s), expected %d; %s", rc, rc == 0 ? "-" : error.rule, want, replay);
	if (rc != 0)
		return;
	if (list.count != count || list.gaps != has_gaps(s) || list.nob != s->buffer.nob)
		fail_msg("%" PRIu32 " entries (%" PRIu64 "), gaps %d (%d); %s", list.count, count, list.gaps,
			 has_gaps(s), replay);
	for (uint32_t i = 0; i < list.count; i++) {
		const struct o2_sg_entry *entry = &list.entry[i];

		for (uint32_t j = 0; j < entry->length; j++, k++) {
			if (k >= s->buffer.nob || entry->page != places[k].page ||
			    entry->offset + j != places[k].offset)
				fail_msg("byte %" PRIu64 ", entry %" PRIu32 "; %s", k, i, replay);
		}
	}
	if (k != s->buffer.nob)
		fail_msg("%" PRIu64 " bytes of %" PRIu64 "; %s", k, s->buffer.nob, replay);
}

TEST(test_against_oracle)
{
	const uint64_t seed = tests_seed(1);
	static struct scenario s;
	uint32_t gapped = 0;
	uint32_t dense = 0;
	uint32_t refused = 0;
	char replay[64];

	snprintf(replay, sizeof(replay), "replay: O2_TEST_SEED=%" PRIu64 " test_sg_random", seed);
	for (uint32_t i = 0; i < 3000; i++) {
		struct o2_prng prng = o2_prng_init(seed, i);
		uint64_t count;

		draw(&prng, &s);
		compare(&s, replay);
		if (spell_out(&s, &count) != 0)
			refused++;
		else if (has_gaps(&s))
			gapped++;
		else if (count > 1)
			dense++;
	}
	print_message("seed %" PRIu64 ": %" PRIu32 " gapped, %" PRIu32 " dense, %" PRIu32 " refused\n", seed,
		      gapped, dense, refused);
	/* Each of the three outcomes must occur often enough. */
	assert_true(gapped > 100 && dense > 100 && refused > 100);
}
