/* SPDX-License-Identifier: MIT */
#include "tests/lib/lnd_talks.h"

/* Conversations about when credits travel. */

/* Version 2: no more NOOPs wait at an end that does not look than it has receives for. */
void leaves_room_for_noops(void **state)
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
	/* It handles the first, and says so by spending what that gave. */
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

/* Version 1: the credit of a NOOP goes back with the first message that its credits allow. */
void returns_the_credit_of_a_noop(void **state)
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

/* Tunables for a depth of `full` with their least mark, and a peer that agrees to less. */
static struct pair *pair_in_proportion(uint32_t full, uint32_t depth)
{
	struct o2_conn_config config = O2_CONN_DEFAULTS;

	config.peer_tx_credits = full;
	config.queue_depth = depth;
	return pair_open(&config, &config);
}

/* Half of the credits go back, as they would at the full depth, and not all but one. */
void returns_credits_in_proportion(void **state)
{
	struct pair *pair = pair_in_proportion(16, 8);

	for (uint32_t i = 0; i < 4; i++)
		send_text(&pair->a, 10);
	quiet(pair);
	assert_int_equal(view_of(&pair->b).flow.noops_sent, 1);
	assert_int_equal(view_of(&pair->a).flow.credits, 8);
	pair_close_settled(pair);
}

/* Two fifths of 2 are less than 1: who owes nothing gives nothing back. */
void returns_the_only_credit(void **state)
{
	struct pair *pair = pair_in_proportion(5, 2);

	assert_int_equal(view_of(&pair->b).flow.high_water, 1);
	send_text(&pair->a, 10);
	quiet(pair);
	assert_int_equal(view_of(&pair->b).flow.noops_sent, 1);
	assert_int_equal(view_of(&pair->a).flow.noops_sent, 0);
	pair_close_settled(pair);
}
