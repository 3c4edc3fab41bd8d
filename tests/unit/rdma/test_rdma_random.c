/* SPDX-License-Identifier: MIT */
/*
 * Tests rdma_plan against an oracle that pairs the bytes of random source and sink descriptors.
 * O2_TEST_SEED=n replays a run.
 */
#include <inttypes.h>

#include "props/engine/prng.h"
#include "rdma/rdma_plan.h"
#include "tests/lib/unit_test.h"

#define MIB O2_MAX_TRANSFER_BYTES

static struct o2_rdma_plan plan; /* too large for a stack */

struct scenario {
	struct o2_rdma_desc source;
	struct o2_rdma_desc sink;
	struct o2_rdma_limits limits;
	uint64_t nob;
};

/* Byte k of a descriptor: its address, and the fragment that holds it. */
struct place {
	uint64_t addr;
	uint32_t frag;
};

static struct place from[MIB];
static struct place to[MIB];

static uint64_t spell_out(const struct o2_rdma_desc *desc, uint64_t nob, struct place *place)
{
	uint64_t count = 0;

	for (uint32_t i = 0; i < desc->rd_nfrags; i++) {
		for (uint32_t k = 0; k < desc->rd_frags[i].rf_nob && count < nob; k++)
			place[count++] = (struct place){desc->rd_frags[i].rf_addr + k, i};
	}
	return count;
}

/*
 * Returns the least number of work requests: the bytes of each sink fragment lie in some number of source
 * fragments, and a request gathers from wrq_sge of these.  Sets *pieces to the number of all gather entries.
 */
static uint32_t fewest(const struct scenario *s, uint64_t nob, uint32_t *pieces)
{
	uint32_t requests = 0;
	uint32_t here = 0;

	*pieces = 0;
	for (uint64_t k = 0; k < nob; k++) {
		if (k > 0 && to[k].frag != to[k - 1].frag) {
			requests += (here + s->limits.wrq_sge - 1) / s->limits.wrq_sge;
			here = 0;
		}
		if (here == 0 || from[k].frag != from[k - 1].frag) {
			here++;
			++*pieces;
		}
	}
	return requests + (here + s->limits.wrq_sge - 1) / s->limits.wrq_sge;
}

/* Executes the plan on addresses, and checks every byte against the pairing of the two descriptors. */
static void carry_out(const struct scenario *s, const char *replay)
{
	uint64_t k = 0;

	for (uint32_t w = 0; w < plan.nwr; w++) {
		const struct o2_rdma_wr *wr = &plan.wr[w];
		uint64_t first = k;

		if (wr->num_sge == 0 || wr->num_sge > s->limits.wrq_sge ||
		    wr->first_sge + wr->num_sge > plan.nsge)
			fail_msg("work request %" PRIu32 " has %" PRIu32 " entries; %s", w, wr->num_sge,
				 replay);
		for (uint32_t e = wr->first_sge; e < wr->first_sge + wr->num_sge; e++) {
			for (uint32_t b = 0; b < plan.sge[e].length; b++, k++) {
				if (k == s->nob || plan.sge[e].addr + b != from[k].addr ||
				    wr->remote_addr + (k - first) != to[k].addr ||
				    to[k].frag != to[first].frag)
					fail_msg("byte %" PRIu64 " of work request %" PRIu32 "; %s", k, w,
						 replay);
			}
		}
		if (k - first != wr->length || k == first)
			fail_msg("work request %" PRIu32 " says %" PRIu32 " bytes; %s", w, wr->length,
				 replay);
	}
	if (k != s->nob || plan.nob != s->nob)
		fail_msg("%" PRIu64 " bytes of %" PRIu64 "; %s", k, s->nob, replay);
}

static uint64_t draw_desc(struct o2_prng *prng, struct o2_rdma_desc *desc)
{
	uint64_t total = 0;
	uint32_t style = (uint32_t)o2_prng_upto(prng, 3);
	uint32_t most = o2_prng_upto(prng, 3) == 0 ? O2_MAX_FRAGS : 6;

	desc->rd_key = (uint32_t)o2_prng_next(prng);
	desc->rd_nfrags = (uint32_t)o2_prng_upto(prng, most);
	for (uint32_t i = 0; i < desc->rd_nfrags; i++) {
		uint64_t nob = style == 0 ? 4096
					  : 1 + o2_prng_upto(prng, style == 1	? 20
								   : style == 2 ? 4095
										: 60000);

		if (i == 0 && style == 0)
			nob -= o2_prng_upto(prng, 4095);
		if (o2_prng_upto(prng, 39) == 0)
			nob = 0;
		if (total + nob > MIB)
			nob = MIB - total;
		/* Sometimes right behind the fragment before: they still count as two fragments. */
		desc->rd_frags[i].rf_nob = (uint32_t)nob;
		desc->rd_frags[i].rf_addr = o2_prng_next(prng) >> 1;
		if (i > 0 && o2_prng_upto(prng, 3) == 0)
			desc->rd_frags[i].rf_addr =
				desc->rd_frags[i - 1].rf_addr + desc->rd_frags[i - 1].rf_nob;
		total += nob;
	}
	return total;
}

static void draw(struct o2_prng *prng, struct scenario *s)
{
	uint64_t source;
	uint64_t sink;

	memset(s, 0, sizeof(*s));
	source = draw_desc(prng, &s->source);
	sink = draw_desc(prng, &s->sink);
	s->nob = source < sink ? source : sink;
	if (o2_prng_upto(prng, 2) == 0)
		s->nob = o2_prng_upto(prng, s->nob);
	if (o2_prng_upto(prng, 14) == 0 && s->nob < MIB)
		s->nob++;
	s->limits.wrq_sge =
		1 + (uint32_t)o2_prng_upto(prng, o2_prng_upto(prng, 1) == 0 ? 1 : O2_MAX_WRQ_SGE - 1);
	s->limits.max_wrs = o2_prng_upto(prng, 1) == 0 ? 1 + (uint32_t)o2_prng_upto(prng, O2_MAX_FRAGS - 1)
						       : O2_MAX_FRAGS;
}

/* Returns the result that the call should have; sets *requests and *pieces if it is 0. */
static int predict(const struct scenario *s, uint32_t *requests, uint32_t *pieces)
{
	uint64_t source = spell_out(&s->source, s->nob, from);
	uint64_t sink = spell_out(&s->sink, s->nob, to);
	uint64_t most = source < sink ? source : sink;

	*requests = fewest(s, most, pieces);
	if (*requests > s->limits.max_wrs)
		return -EMSGSIZE;
	return most < s->nob ? -EPROTO : 0;
}

TEST(test_against_oracle)
{
	const uint64_t seed = tests_seed(1);
	static struct scenario s;
	static struct scenario before;
	uint32_t seen[3] = {0}; /* planned, EPROTO, EMSGSIZE */
	char replay[80];

	for (uint32_t n = 0; n < 4000; n++) {
		struct o2_prng prng = o2_prng_init(seed, n);
		struct o2_error error = {0};
		uint32_t requests;
		uint32_t pieces;
		int want;
		int rc;

		snprintf(replay, sizeof(replay),
			 "case %" PRIu32 ", replay: O2_TEST_SEED=%" PRIu64 " test_rdma_random", n, seed);
		draw(&prng, &s);
		before = s;
		want = predict(&s, &requests, &pieces);
		rc = o2_rdma_plan(&s.source, &s.sink, s.nob, &s.limits, &plan, &error);
		if (rc != want)
			fail_msg("returned %d (%s), expected %d; %s", rc, rc == 0 ? "-" : error.rule, want,
				 replay);
		assert_memory_equal(&before, &s, sizeof(s));
		seen[rc == 0 ? 0 : rc == -EPROTO ? 1 : 2]++;
		if (rc != 0)
			continue;
		carry_out(&s, replay);
		if (plan.nwr != requests || plan.nsge != pieces)
			fail_msg("%" PRIu32 " work requests, %" PRIu32 " would do; %s", plan.nwr, requests,
				 replay);
	}
	print_message("seed %" PRIu64 ": %" PRIu32 " planned, %" PRIu32 " EPROTO, %" PRIu32 " EMSGSIZE\n",
		      seed, seen[0], seen[1], seen[2]);
	assert_true(seen[0] > 1000 && seen[1] > 50 && seen[2] > 30);
}
