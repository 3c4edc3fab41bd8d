/* SPDX-License-Identifier: MIT */
/*
 * The states of a fast-registration key (docs/pools.md): every step from every state, and the flags that
 * kernels keep.  Random sequences are tested by the property keys (props/stage/keys.h).
 */

#include "reg/pool/pool_frd.h"
#include "tests/lib/unit_test.h"

#define KEY   0x00abcd10u
#define QUEUE 77u

TEST(test_bump)
{
	uint32_t key = KEY;

	assert_int_equal(o2_frd_bump(0x12345600), 0x12345601);
	assert_int_equal(o2_frd_bump(0x123456ff), 0x12345600); /* the upper 24 bits identify the region */
	assert_int_equal(o2_frd_bump(0xffffffff), 0xffffff00);
	for (int i = 0; i < 256; i++)
		key = o2_frd_bump(key);
	assert_int_equal(key, KEY);
}

/* Brings a key into a state; false if this order never reaches it. */
static bool reach(struct o2_frd_key *key, enum o2_frd_order order, enum o2_frd_state target)
{
	const bool last = order == O2_FRD_INVALIDATE_LAST;

	o2_frd_init(key, order, KEY, KEY);
	if (target == O2_FRD_FRESH)
		return true;
	assert_int_equal(o2_frd_map(key, O2_SINK, NULL), 0);
	switch (target) {
	case O2_FRD_PREPARED:
		return true;
	case O2_FRD_IDLE_PREPARED:
		return o2_frd_unmap(key, NULL) == 0;
	case O2_FRD_SPENT:
		return o2_frd_post_done(key, QUEUE, 1, false, NULL) == 0;
	default:
		break;
	}
	assert_int_equal(o2_frd_post_done(key, QUEUE, last ? 1 : 2, true, NULL), 0);
	if (target == O2_FRD_LIVE)
		return true;
	if (!last)
		return false;
	if (target == O2_FRD_DOOMED)
		return o2_frd_invalidate_posted(key, false, NULL) == 0;
	assert_int_equal(o2_frd_invalidate_posted(key, true, NULL), 0);
	return target == O2_FRD_INVALIDATING || o2_frd_invalidated(key, true, NULL) == 0;
}

enum step {
	MAP,
	CHAIN,
	POST_OK,
	POST_NONE,
	INVALIDATE,
	INV_POSTED,
	INV_NOT_POSTED,
	INV_DONE,
	INV_FLUSHED,
	UNMAP,
	REPLACED,
	STEPS
};

static int do_step(struct o2_frd_key *key, enum step step, struct o2_error *error)
{
	const bool last = key->order == O2_FRD_INVALIDATE_LAST;
	struct o2_frd_chain chain;
	uint32_t rkey;

	switch (step) {
	case MAP:
		return o2_frd_map(key, O2_SINK, error);
	case CHAIN:
		return o2_frd_chain(key, &chain, error);
	case POST_OK:
		return o2_frd_post_done(key, QUEUE,
					key->state == O2_FRD_LIVE ? 0
					: last			  ? 1
								  : 2,
					true, error);
	case POST_NONE:
		return o2_frd_post_done(key, QUEUE, 0, false, error);
	case INVALIDATE:
		return o2_frd_invalidate(key, QUEUE, &rkey, error);
	case INV_POSTED:
		return o2_frd_invalidate_posted(key, true, error);
	case INV_NOT_POSTED:
		return o2_frd_invalidate_posted(key, false, error);
	case INV_DONE:
		return o2_frd_invalidated(key, true, error);
	case INV_FLUSHED:
		return o2_frd_invalidated(key, false, error);
	case UNMAP:
		return o2_frd_unmap(key, error);
	default:
		return o2_frd_replaced(key, KEY + 0x100, KEY + 0x100, error);
	}
}

/* One letter per step, in the order of enum step: the next state, - for EINVAL, ! for EBUSY. */
#define LETTERS "FPILSVDX" /* Fresh Prepared Idle-prepared Live Spent inValidating Dead doomed(X) */

static const char *const expected[2][O2_FRD_STATES] = {
	[O2_FRD_INVALIDATE_FIRST] =
		{
			[O2_FRD_FRESH] = "P----------",
			[O2_FRD_PREPARED] = "-PLP-----IF",
			[O2_FRD_IDLE_PREPARED] = "P----------",
			[O2_FRD_LIVE] = "-LLL-----FF",
			[O2_FRD_SPENT] = "---------FF",
		},
	[O2_FRD_INVALIDATE_LAST] =
		{
			[O2_FRD_FRESH] = "P----------",
			[O2_FRD_PREPARED] = "-PLP-----IF",
			[O2_FRD_IDLE_PREPARED] = "P----------",
			[O2_FRD_LIVE] = "-LLLLVX--!F",
			[O2_FRD_SPENT] = "----SVX--!F",
			[O2_FRD_INVALIDATING] = "-------DX!F",
			[O2_FRD_DEAD] = "---------FF",
			[O2_FRD_DOOMED] = "---------!F",
		},
};

TEST(test_every_step_from_every_state)
{
	uint32_t checked = 0;

	for (int order = 0; order < 2; order++) {
		for (int from = 0; from < O2_FRD_STATES; from++) {
			for (int step = 0; step < STEPS; step++) {
				struct o2_error error = {0};
				struct o2_frd_key key, before;
				char want;
				int rc;

				if (!reach(&key, (enum o2_frd_order)order, (enum o2_frd_state)from)) {
					assert_null(expected[order][from]);
					continue;
				}
				assert_int_equal(key.state, from);
				want = expected[order][from][step];
				before = key;
				rc = do_step(&key, (enum step)step, &error);
				checked++;
				if (want == '-' || want == '!') {
					assert_int_equal(rc, want == '-' ? -EINVAL : -EBUSY);
					assert_int_equal(error.code, rc);
					assert_memory_equal(&key, &before, sizeof(key));
				} else {
					assert_int_equal(rc, 0);
					assert_int_equal(LETTERS[key.state], want);
				}
			}
		}
	}
	assert_int_equal(checked, 13 * STEPS);
}

TEST(test_flags_of_a_kernel)
{
	static const struct {
		enum o2_frd_state state;
		bool valid, posted;
	} rows[] = {{O2_FRD_FRESH, false, false},
		    {O2_FRD_PREPARED, true, false},
		    {O2_FRD_IDLE_PREPARED, true, false},
		    {O2_FRD_LIVE, false, true},
		    {O2_FRD_SPENT, false, false}};
	struct o2_frd_key key;

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		assert_true(reach(&key, O2_FRD_INVALIDATE_FIRST, rows[i].state));
		assert_int_equal(o2_frd_valid(&key), rows[i].valid);
		assert_int_equal(o2_frd_posted(&key), rows[i].posted);
	}
}

/* A mapping that is dropped before its post leaves its key and its invalidate to the next mapping; a second
 * post has no chain. */
TEST(test_abandoned_and_second_post)
{
	struct o2_frd_key key;
	struct o2_frd_chain chain;

	o2_frd_init(&key, O2_FRD_INVALIDATE_FIRST, KEY, KEY + 0x1000);
	assert_int_equal(o2_frd_map(&key, O2_SOURCE, NULL), 0);
	assert_int_equal(o2_frd_published(&key), KEY + 1);
	assert_int_equal(o2_frd_unmap(&key, NULL), 0);
	assert_int_equal(o2_frd_map(&key, O2_SINK, NULL), 0);
	assert_int_equal(o2_frd_published(&key), KEY + 0x1001); /* the key was counted up once */
	assert_int_equal(o2_frd_chain(&key, &chain, NULL), 0);
	assert_true(chain.count == 2 && chain.invalidate && chain.bind);
	assert_int_equal(chain.invalidate_rkey, KEY + 0x1000);
	assert_int_equal(chain.bind_key, KEY + 0x1001);
	assert_int_equal(o2_frd_post_done(&key, QUEUE, 2, true, NULL), 0);
	assert_int_equal(o2_frd_chain(&key, &chain, NULL), 0);
	assert_true(chain.count == 0 && !chain.invalidate && !chain.bind);
	/* A failure of the second post does not affect the key, only the transfer. */
	assert_int_equal(o2_frd_post_done(&key, QUEUE, 0, false, NULL), 0);
	assert_int_equal(key.state, O2_FRD_LIVE);
}

TEST(test_bad_arguments)
{
	struct o2_error error;
	struct o2_frd_key key;
	uint32_t rkey;

	o2_frd_init(&key, O2_FRD_INVALIDATE_LAST, KEY, KEY);
	assert_int_equal(o2_frd_map(&key, O2_SINK, &error), 0);
	assert_int_equal(o2_frd_post_done(&key, QUEUE, 2, false, &error), -EINVAL);
	assert_error(o2_frd_post_done(&key, QUEUE, 0, true, &error), -EINVAL, &error, "frd/post/accepted");
	assert_int_equal(key.state, O2_FRD_PREPARED);
	assert_int_equal(o2_frd_post_done(&key, QUEUE, 1, true, &error), 0);
	assert_error(o2_frd_invalidate(&key, QUEUE + 1, &rkey, &error), -EINVAL, &error,
		     "frd/invalidate/queue");
	assert_int_equal(o2_frd_invalidate(&key, QUEUE, &rkey, &error), 0);
	assert_int_equal(rkey, KEY + 1);
}

/* User verbs: a source's chain is empty, and the next sink uses the key that the source has counted up. */
TEST(test_sources_of_user_verbs)
{
	struct o2_frd_key key;
	struct o2_frd_chain chain;

	o2_frd_init(&key, O2_FRD_INVALIDATE_LAST, KEY, KEY);
	for (int i = 0; i < 2; i++) {
		assert_int_equal(o2_frd_map(&key, O2_SOURCE, NULL), 0);
		o2_frd_gather(&key, 0x1234);
		assert_int_equal(o2_frd_published(&key), 0x1234);
		assert_int_equal(o2_frd_chain(&key, &chain, NULL), 0);
		assert_int_equal(chain.count, 0);
		assert_int_equal(o2_frd_post_done(&key, QUEUE, 1, false, NULL), -EINVAL);
		assert_int_equal(o2_frd_post_done(&key, QUEUE, 0, i == 0, NULL), 0);
		assert_int_equal(key.state, O2_FRD_PREPARED);
		assert_int_equal(o2_frd_unmap(&key, NULL), 0);
		assert_int_equal(key.state, O2_FRD_IDLE_PREPARED);
	}
	assert_int_equal(o2_frd_map(&key, O2_SINK, NULL), 0);
	assert_int_equal(o2_frd_published(&key), KEY + 1);
	assert_false(key.registered);
}
