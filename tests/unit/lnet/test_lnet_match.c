/* SPDX-License-Identifier: MIT */

/* The match table (docs/peer.md, "Matching"). */

#include "lnet/match.h"
#include "props/engine/prng.h"
#include "tests/lib/unit_test.h"
#include "wire/nid.h"

#define NID UINT64_C(0x000500000a4d0001)

static struct o2_lnet_entry entry(uint32_t options)
{
	return (struct o2_lnet_entry){
		.portal = 60,
		.match_bits = 0x1234,
		O2_LNET_FOR_ANYBODY,
		.options = options,
		.memory = {.buffer = {.nob = 1000, .offset = 50}},
	};
}

static const struct o2_match_request put_100 = {
	.operation = O2_LNET_MD_OP_PUT,
	.nid = NID,
	.pid = 12345,
	.portal = 60,
	.match_bits = 0x1234,
	.length_bytes = 100,
};

static struct o2_match_table *table_of_four(void)
{
	static struct o2_match_table table;

	assert_int_equal(o2_match_table_create(4, &table), 0);
	return &table;
}

#define TABLE_TEST(name) TEST_ON(name, struct o2_match_table, table, table_of_four(), o2_match_table_destroy)

static void refused(struct o2_match_table *table, const struct o2_match_request *request, const char *rule)
{
	struct o2_match match;
	struct o2_error error;

	assert_error(o2_match_take(table, request, &match, &error), -ENODATA, &error, rule);
}

TABLE_TEST(test_each_criterion_counts)
{
	struct o2_lnet_entry only = entry(O2_LNET_MD_OP_PUT);
	struct o2_match_request request;
	struct o2_match match;

	only.nid = NID;
	only.pid = 12345;
	only.ignore_bits = 0xf000;
	assert_int_equal(o2_match_attach(table, &only, NULL), 0);

	request = put_100;
	request.operation = O2_LNET_MD_OP_GET;
	refused(table, &request, "lnet/match/none");
	request = put_100;
	request.nid++;
	refused(table, &request, "lnet/match/none");
	request = put_100;
	request.pid++;
	refused(table, &request, "lnet/match/none");
	request = put_100;
	request.portal++;
	refused(table, &request, "lnet/match/none");
	request = put_100;
	request.match_bits = 0x0234; /* differs from the entry only in ignored bits */
	assert_int_equal(o2_match_take(table, &request, &match, NULL), 0);
	request.match_bits = 0x11234;
	refused(table, &request, "lnet/match/none");
	assert_int_equal(o2_match_take(table, &put_100, &match, NULL), 0);
}

TABLE_TEST(test_first_attached_matches_first)
{
	struct o2_lnet_entry once = entry(O2_LNET_MD_OP_PUT), always = entry(O2_LNET_MD_OP_PUT);
	struct o2_match match;

	/* Entries match in the order of attachment, even if a later one fills an earlier slot. */
	assert_int_equal(o2_match_attach(table, &always, NULL), 0);
	once.uses = 1;
	assert_int_equal(o2_match_attach(table, &once, NULL), 1);
	assert_int_equal(o2_match_detach(table, 0), 0);
	assert_int_equal(o2_match_attach(table, &always, NULL), 0);
	assert_int_equal(o2_match_take(table, &put_100, &match, NULL), 0);
	assert_int_equal(match.index, 1);
	/* The entry is used up, so the next one is tried. */
	assert_int_equal(o2_match_take(table, &put_100, &match, NULL), 0);
	assert_int_equal(match.index, 0);
}

TABLE_TEST(test_offsets)
{
	struct o2_lnet_entry local = entry(O2_LNET_MD_OP_PUT);
	struct o2_match_request request = put_100;
	struct o2_transfer_memory memory;
	struct o2_match match;

	assert_int_equal(o2_match_attach(table, &local, NULL), 0);
	/* The peer's offset is ignored; the entry's own offset grows with each use. */
	request.offset = 999;
	for (unsigned int i = 0; i < 10; i++) {
		assert_int_equal(o2_match_take(table, &request, &match, NULL), 0);
		assert_int_equal(match.offset, 100 * i);
		memory = o2_match_memory(table, &match);
		assert_int_equal(memory.buffer.offset, 50 + 100 * i);
		assert_int_equal(memory.buffer.nob, 100);
		o2_match_release(table, 0);
	}
	refused(table, &request, "lnet/match/too-long");
	request.length_bytes = 0;
	assert_int_equal(o2_match_take(table, &request, &match, NULL), 0);
	assert_int_equal(match.length_bytes, 0);
	assert_int_equal(o2_match_detach(table, 0), -EBUSY);
	o2_match_release(table, 0);

	assert_int_equal(o2_match_detach(table, 0), 0);
	local.options |= O2_LNET_MD_MANAGE_REMOTE;
	assert_int_equal(o2_match_attach(table, &local, NULL), 0);
	request = put_100;
	request.offset = 900;
	assert_int_equal(o2_match_take(table, &request, &match, NULL), 0);
	assert_int_equal(match.offset, 900);
	request.offset = 901;
	refused(table, &request, "lnet/match/too-long");
	request.offset = 1001;
	request.length_bytes = 0;
	refused(table, &request, "lnet/match/offset-past-end");
	request.offset = UINT32_MAX;
	request.length_bytes = UINT32_MAX;
	refused(table, &request, "lnet/match/offset-past-end");
}

TABLE_TEST(test_truncation)
{
	struct o2_lnet_entry cut = entry(O2_LNET_MD_OP_PUT | O2_LNET_MD_TRUNCATE | O2_LNET_MD_MANAGE_REMOTE);
	struct o2_match_request request = put_100;
	struct o2_match match;

	assert_int_equal(o2_match_attach(table, &cut, NULL), 0);
	request.length_bytes = UINT32_MAX;
	assert_int_equal(o2_match_take(table, &request, &match, NULL), 0);
	assert_int_equal(match.length_bytes, 1000);
	request.offset = 1000;
	assert_int_equal(o2_match_take(table, &request, &match, NULL), 0);
	assert_int_equal(match.length_bytes, 0);
}

TABLE_TEST(test_attaching)
{
	struct o2_lnet_entry good = entry(O2_LNET_MD_OP_GET), bad = good;
	struct o2_error error;

	bad.options = O2_LNET_MD_TRUNCATE;
	assert_error(o2_match_attach(table, &bad, &error), -EINVAL, &error, "lnet/entry/operation");
	bad = good;
	bad.uses = 0;
	assert_error(o2_match_attach(table, &bad, &error), -EINVAL, &error, "lnet/entry/uses");
	bad = good;
	bad.memory.buffer.nob = 0;
	assert_error(o2_match_attach(table, &bad, &error), -EINVAL, &error, "lnet/entry/empty");
	for (int i = 0; i < 4; i++)
		assert_int_equal(o2_match_attach(table, &good, &error), i);
	assert_error(o2_match_attach(table, &good, &error), -ENOSPC, &error, "lnet/entry/table-full");
	assert_true(error.value == 5 && error.limit == 4);
	assert_int_equal(o2_match_detach(table, 4), -ENOENT);
	assert_int_equal(o2_match_detach(table, 2), 0);
	assert_int_equal(o2_match_detach(table, 2), -ENOENT);
	assert_int_equal(o2_match_attach(table, &good, &error), 2);
}

/* With O2_LNET_MD_UNLINK, the last use closes the entry, and the end of the last user removes it. */
TABLE_TEST(test_unlinked_by_its_uses)
{
	struct o2_lnet_entry twice = entry(O2_LNET_MD_OP_PUT | O2_LNET_MD_UNLINK);
	struct o2_match match;

	twice.uses = 2;
	for (uint32_t round = 0; round < 3; round++) {
		assert_int_equal(o2_match_attach(table, &twice, NULL), 0);
		assert_int_equal(o2_match_take(table, &put_100, &match, NULL), 0);
		assert_false(o2_match_release(table, 0));
		assert_int_equal(o2_match_take(table, &put_100, &match, NULL), 0);
		refused(table, &put_100, "lnet/match/none");
		assert_int_equal(o2_match_detach(table, 0), -EBUSY);
		assert_true(o2_match_release(table, 0));
		assert_int_equal(o2_match_detach(table, 0), -ENOENT);
		assert_int_equal(o2_match_unlink(table, 0), -ENOENT);
	}
	/* Without O2_LNET_MD_UNLINK, an entry that is used up keeps its slot. */
	twice.options = O2_LNET_MD_OP_PUT;
	twice.uses = 1;
	assert_int_equal(o2_match_attach(table, &twice, NULL), 0);
	assert_int_equal(o2_match_take(table, &put_100, &match, NULL), 0);
	assert_false(o2_match_release(table, 0));
	assert_int_equal(o2_match_unlink(table, 0), 0);
}

TABLE_TEST(test_unlink_of_one_in_use)
{
	struct o2_lnet_entry first = entry(O2_LNET_MD_OP_PUT), second = first;
	struct o2_match match;

	assert_int_equal(o2_match_attach(table, &first, NULL), 0);
	assert_int_equal(o2_match_attach(table, &second, NULL), 1);
	assert_int_equal(o2_match_take(table, &put_100, &match, NULL), 0);
	assert_int_equal(o2_match_take(table, &put_100, &match, NULL), 0);
	assert_int_equal(match.index, 0);
	assert_int_equal(o2_match_unlink(table, 0), 1);
	assert_int_equal(o2_match_unlink(table, 0), 1);
	/* The entry keeps its slot until its users have ended, but new requests match the next entry. */
	assert_int_equal(o2_match_take(table, &put_100, &match, NULL), 0);
	assert_int_equal(match.index, 1);
	assert_int_equal(o2_match_attach(table, &first, NULL), 2);
	assert_false(o2_match_release(table, 0));
	assert_true(o2_match_release(table, 0));
	assert_int_equal(o2_match_attach(table, &first, NULL), 0);
	assert_false(o2_match_release(table, 1));
	assert_int_equal(o2_match_unlink(table, 4), -ENOENT);
}

/* --- many entries: the result must equal that of a linear search --- */

#define MANY  300u
#define STEPS 20000u

struct shadow {
	struct o2_lnet_entry entry;
	uint64_t order;
	uint32_t takes, users;
	bool there, closed;
};

static int first_in_order(const struct shadow *shadow, const struct o2_match_request *request)
{
	int found = -1;

	for (uint32_t i = 0; i < MANY; i++) {
		const struct o2_lnet_entry *e = &shadow[i].entry;

		if (!shadow[i].there || shadow[i].closed || shadow[i].takes == e->uses ||
		    e->portal != request->portal ||
		    (e->match_bits | e->ignore_bits) != (request->match_bits | e->ignore_bits) ||
		    (e->nid != O2_NID_ANY && e->nid != request->nid))
			continue;
		if (found < 0 || shadow[i].order < shadow[found].order)
			found = (int)i;
	}
	return found;
}

static void attach_one(struct o2_match_table *table, struct shadow *shadow, struct o2_prng *prng,
		       uint64_t order)
{
	struct o2_lnet_entry e = entry(O2_LNET_MD_OP_PUT | O2_LNET_MD_MANAGE_REMOTE);
	uint32_t there = 0;
	int rc;

	for (uint32_t i = 0; i < MANY; i++)
		there += shadow[i].there;
	e.portal = 60 + (uint32_t)o2_prng_upto(prng, 1);
	e.match_bits = o2_prng_upto(prng, 40) << (o2_prng_upto(prng, 1) * 48);
	e.ignore_bits = o2_prng_upto(prng, 9) == 0 ? o2_prng_upto(prng, 3) : 0;
	e.nid = o2_prng_upto(prng, 1) == 0 ? NID : O2_NID_ANY;
	e.uses = 1 + (uint32_t)o2_prng_upto(prng, 2);
	e.options |= o2_prng_upto(prng, 1) == 0 ? O2_LNET_MD_UNLINK : 0;
	rc = o2_match_attach(table, &e, NULL);
	if (there == MANY) {
		assert_int_equal(rc, -ENOSPC);
		return;
	}
	assert_true(rc >= 0 && rc < (int)MANY);
	assert_false(shadow[rc].there);
	shadow[rc] = (struct shadow){.entry = e, .order = order, .there = true};
}

static void take_one(struct o2_match_table *table, struct shadow *shadow, struct o2_prng *prng)
{
	struct o2_match_request request = put_100;
	struct o2_match match;
	int expected;

	request.portal = 60 + (uint32_t)o2_prng_upto(prng, 1);
	request.match_bits = o2_prng_upto(prng, 40) << (o2_prng_upto(prng, 1) * 48);
	request.nid = NID + o2_prng_upto(prng, 1);
	expected = first_in_order(shadow, &request);
	if (expected < 0) {
		refused(table, &request, "lnet/match/none");
		return;
	}
	assert_int_equal(o2_match_take(table, &request, &match, NULL), 0);
	assert_int_equal(match.index, expected);
	shadow[expected].takes++;
	shadow[expected].users++;
}

static void let_go(struct o2_match_table *table, struct shadow *shadow, uint32_t i, bool unlink)
{
	struct shadow *s = &shadow[i];
	const bool up = s->takes == s->entry.uses && (s->entry.options & O2_LNET_MD_UNLINK) != 0;

	if (unlink) {
		assert_int_equal(o2_match_unlink(table, i), !s->there ? -ENOENT : s->users > 0);
		s->closed = true;
		s->there = s->there && s->users > 0;
	} else if (s->there && s->users > 0) {
		s->users--;
		s->there = s->users > 0 || !(up || s->closed);
		assert_int_equal(o2_match_release(table, i), !s->there);
	}
}

TEST(test_many_entries)
{
	static struct shadow shadow[MANY];
	struct o2_prng prng = o2_prng_init(20261122, 0);
	struct o2_match_table table;

	assert_int_equal(o2_match_table_create(MANY, &table), 0);
	for (uint32_t i = 0; i < STEPS; i++) {
		const uint32_t what = (uint32_t)o2_prng_upto(&prng, 9);

		if (what < 4)
			attach_one(&table, shadow, &prng, i);
		else if (what < 7)
			take_one(&table, shadow, &prng);
		else
			let_go(&table, shadow, (uint32_t)o2_prng_upto(&prng, MANY - 1),
			       what == 9 && i % 3 == 0);
	}
	o2_match_table_destroy(&table);
}
