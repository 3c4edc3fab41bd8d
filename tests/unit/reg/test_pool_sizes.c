/* SPDX-License-Identifier: MIT */
/* The sizes of pools (docs/pools.md, "Sizes"). */

#include "reg/pool/poolset.h"
#include "tests/lib/unit_test.h"

TEST(test_sizes)
{
	struct o2_pool_tunables t = {O2_POOL_NTX, O2_POOL_REG_SIZE, O2_POOL_FLUSH, 1};
	struct o2_pool_sizes s;
	struct o2_error error;

	assert_int_equal(o2_pool_sizes(&t, &s, &error), 0);
	assert_int_equal(s.tx_size, 512);
	assert_int_equal(s.reg_size, 512);
	assert_int_equal(s.flush_trigger, 384);
	for (t.ncpts = 2; t.ncpts < 10; t.ncpts++) {
		assert_int_equal(o2_pool_sizes(&t, &s, &error), 0);
		assert_int_equal(s.tx_size, 256);
		assert_int_equal(s.reg_size, 256);
		assert_int_equal(s.flush_trigger, 192);
	}
	t = (struct o2_pool_tunables){2048, 2048, 512, 2};
	assert_int_equal(o2_pool_sizes(&t, &s, &error), 0);
	assert_int_equal(s.tx_size, 1024);
	assert_int_equal(s.flush_trigger, 256);
	t.fmr_pool_size = 512;
	assert_int_equal(o2_pool_sizes(&t, &s, &error), 0);
	t.fmr_pool_size = 511;
	assert_error_field(o2_pool_sizes(&t, &s, &error), -EINVAL, &error, "fmr_pool_size");
	assert_int_equal(error.limit, 512);
	t.ncpts = 0;
	assert_error_field(o2_pool_sizes(&t, &s, &error), -EINVAL, &error, "ncpts");
}
