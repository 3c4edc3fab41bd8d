/* SPDX-License-Identifier: MIT */
/* How large pools are, and how much one transmit needs (docs/pools.md, "Sizes"). */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "reg/pool/poolset.h"
#include "reg/pool/tx.h"

static void test_sizes(void **state)
{
	struct o2_pool_tunables t = {O2_POOL_NTX, O2_POOL_REG_SIZE, O2_POOL_FLUSH, 1};
	struct o2_pool_sizes s;
	struct o2_error error;

	(void)state;
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
	assert_int_equal(o2_pool_sizes(&t, &s, &error), -EINVAL);
	assert_string_equal(error.field, "fmr_pool_size");
	assert_int_equal(error.limit, 512);
	t.ncpts = 0;
	assert_int_equal(o2_pool_sizes(&t, &s, &error), -EINVAL);
	assert_string_equal(error.field, "ncpts");
}

static void test_counts(void **state)
{
	struct o2_tx_counts c;
	struct o2_error error;

	(void)state;
	assert_int_equal(o2_tx_counts(257, 2, true, &c, &error), 0);
	assert_int_equal(c.pages, 257);
	assert_int_equal(c.scatter, 257);
	assert_int_equal(c.frags, 257);
	assert_int_equal(c.work_requests, 258); /* the message goes behind 257 writes */
	assert_int_equal(c.sges, 515);
	assert_int_equal(o2_tx_counts(256, 1, false, &c, &error), 0);
	assert_int_equal(c.pages, 0);
	assert_int_equal(c.work_requests, 257);
	assert_int_equal(o2_tx_counts(255, 1, false, &c, &error), -EINVAL);
	assert_int_equal(o2_tx_counts(257, 0, false, &c, &error), -EINVAL);
	assert_string_equal(error.field, "wrq_sge");
	assert_int_equal(o2_tx_counts(257, 33, false, &c, &error), -EINVAL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_sizes), cmocka_unit_test(test_counts)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
