/* SPDX-License-Identifier: MIT */
#include "tests/unit/lnd/lnd_talks.h"

/* Conversations about when credits are returned. */

/* Version 2: a peer that does not poll never has more NOOPs arriving than it has receives for. */
TEST(leaves_room_for_noops)
{
	struct pair *pair = pair_of(O2_MSG_VERSION_2, 3);
	struct held held = {.count = 0};

	assert_int_equal(view_of(&pair->b).flow.high_water, 1);
	for (uint32_t i = 0; i < 3; i++) {
		send_text(&pair->a, 10);
		deliver(&pair->b, &held, 0);
	}
	assert_int_equal(view_of(&pair->b).flow.noops_sent, 2);
	assert_int_equal(view_of(&pair->b).flow.outstanding, 1);
	/* a handles the first NOOP, and spends the credits that it returned. */
	deliver(&pair->a, &held, work_bit(O2_WORK_RECV));
	release(&pair->a, &held);
	send_text(&pair->a, 10);
	deliver(&pair->b, &held, 0);
	assert_int_equal(view_of(&pair->b).flow.noops_sent, 3);
	assert_int_equal(view_of(&pair->b).flow.outstanding, 0);
	while (held.count > 0)
		release(&pair->a, &held);
	quiet(pair);
	pair_close_settled(pair);
}

/* Version 1: the credit that a NOOP used is returned with the first message that its returned credits allow. */
TEST(returns_the_credit_of_a_noop)
{
	struct pair *pair = pair_of(O2_MSG_VERSION_1, 8);

	for (uint32_t i = 0; i < 8; i++)
		send_text(&pair->a, 10);
	assert_int_equal(view_of(&pair->a).queued, 1);
	quiet(pair);
	assert_int_equal(view_of(&pair->b).flow.noops_sent, 1);
	assert_int_equal(view_of(&pair->a).flow.credits_sent, 1);
	assert_int_equal(view_of(&pair->a).flow.outstanding, 0);
	pair_close_settled(pair);
}

/* Tunables for a queue depth of `full` with the lowest high-water mark, but ends that agree on `depth`. */
static struct pair *pair_in_proportion(uint32_t full, uint32_t depth)
{
	struct o2_conn_config config = O2_CONN_DEFAULTS;

	config.peer_tx_credits = full;
	config.queue_depth = depth;
	return pair_open(&config, &config);
}

/* The high-water mark stays half of the agreed depth, as it is half of the full depth. */
TEST(returns_credits_in_proportion)
{
	struct pair *pair = pair_in_proportion(16, 8);

	for (uint32_t i = 0; i < 4; i++)
		send_text(&pair->a, 10);
	quiet(pair);
	assert_int_equal(view_of(&pair->b).flow.noops_sent, 1);
	assert_int_equal(view_of(&pair->a).flow.credits, 8);
	pair_close_settled(pair);
}

/* Two fifths of a depth of 2 are less than 1, but an end that owes no credits must not send a NOOP. */
TEST(returns_the_only_credit)
{
	struct pair *pair = pair_in_proportion(5, 2);

	assert_int_equal(view_of(&pair->b).flow.high_water, 1);
	send_text(&pair->a, 10);
	quiet(pair);
	assert_int_equal(view_of(&pair->b).flow.noops_sent, 1);
	assert_int_equal(view_of(&pair->a).flow.noops_sent, 0);
	pair_close_settled(pair);
}
