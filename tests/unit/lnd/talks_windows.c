/* SPDX-License-Identifier: MIT */
#include "tests/unit/lnd/lnd_talks.h"

/* Conversations between interfaces that have fewer memory windows than operations (docs/transport.md, "Windows").
 * Mode phys needs a window for each list of scattered pages, and releases it when the operation ends. */

struct o2_transfer_memory window_memory(int which, enum o2_reg_mode mode, uint64_t tag)
{
	struct o2_transfer_memory memory = talk_memory(which, 9000, mode);

	memory.tag = tag;
	return memory;
}

struct pair *pair_with_windows(uint32_t a, uint32_t b)
{
	struct pair *pair;
	struct o2_ni_config config[2] = {side_config(true, O2_DMA_BUS, 0x7f0000000000ull),
					 side_config(false, O2_DMA_VIRTUAL, 0)};

	config[0].windows = a;
	config[1].windows = b;
	pair = pair_open_ni(&config[0], &config[1], &O2_CONN_DEFAULTS, &O2_CONN_DEFAULTS);
	pair->b.answer = window_memory(1, O2_REG_PHYS, 0);
	return pair;
}

struct pair *second_of(struct pair *pair)
{
	struct pair *second = calloc(1, sizeof(*second));

	assert_non_null(second);
	pair_connect_over(second, &pair->a.ni, &pair->b.ni, &O2_CONN_DEFAULTS, &O2_CONN_DEFAULTS);
	second->b.answer = window_memory(1, O2_REG_PHYS, 0);
	return second;
}

void close_both(struct pair *pair, struct pair *second)
{
	o2_conn_destroy(second->a.conn);
	o2_conn_destroy(second->b.conn);
	free(second);
	pair_close(pair);
}

void put_from(struct pair *pair, enum o2_reg_mode mode, uint64_t tag)
{
	const struct o2_transfer_memory memory = window_memory(0, mode, tag);

	assert_int_equal(start_put(pair->a.conn, &memory, 0, NULL, NULL), 0);
}

void assert_ended(const struct side *side, uint32_t count)
{
	assert_int_equal(side->nresults, count);
	for (uint32_t i = 0; i < count; i++) {
		assert_int_equal(side->result[i].status, 0);
		assert_int_equal(side->result[i].tag, i);
		assert_int_equal(side->result[i].nob, 9000);
	}
}

/* Operations that get no window wait, and all end in the order in which they were started. */
TEST(waits_for_windows)
{
	for (enum o2_transfer_op op = O2_OP_PUT; op <= O2_OP_GET; op++) {
		struct pair *pair = pair_with_windows(FEW, 0);

		for (uint32_t i = 0; i < MANY; i++) {
			/* The last operation needs no window, but must not overtake the waiting ones. */
			const struct o2_transfer_memory memory =
				window_memory(0, i < MANY - 1 ? O2_REG_PHYS : O2_REG_GLOBAL, i);

			start_op(pair->a.conn, op, &memory, NULL);
		}
		/* One window is reserved for requests of b. */
		assert_int_equal(view_of(&pair->a).queued_window, MANY - 1);
		assert_int_equal(view_of(&pair->a).open, MANY);
		quiet(pair);
		assert_ended(&pair->a, MANY);
		assert_int_equal(pair->b.nmatched, MANY);
		pair_close_settled(pair);
	}
}

static uint32_t matched_before;

static int note_matched(void *context, const struct o2_msg *msg)
{
	matched_before = ((const struct side *)context)->nmatched;
	return 0;
}

/* An IMMEDIATE that carries a GET does not overtake requests that wait for a window at the peer. */
TEST(waits_behind_requests)
{
	struct pair *pair = pair_with_windows(0, FEW);
	const struct o2_lnet_hdr hdr = o2_conn_lnet_hdr(pair->a.conn, O2_LNET_GET, 0, 48);

	pair->b.conn->ops.receive = note_matched;
	for (uint32_t i = 0; i < MANY; i++)
		put_from(pair, O2_REG_GLOBAL, i);
	assert_int_equal(o2_conn_send(pair->a.conn, &hdr, NULL, NULL, NULL), 0);
	quiet(pair);
	assert_int_equal(matched_before, MANY);
	pair_close_settled(pair);
}

/* A window that another connection releases wakes an operation that waits on this connection. */
TEST(is_woken_by_another_connection)
{
	struct pair *pair = pair_with_windows(FEW, 0);
	struct pair *second = second_of(pair);

	put_from(pair, O2_REG_PHYS, 0);
	put_from(second, O2_REG_PHYS, 0);
	assert_int_equal(o2_conn_progress(second->a.conn), 0);
	assert_int_equal(view_of(&second->a).queued_window, 1);
	quiet(pair);
	assert_ended(&pair->a, 1);
	assert_int_equal(view_of(&second->a).queued_window, 1);
	assert_int_equal(o2_conn_progress(second->a.conn), 1);
	assert_int_equal(view_of(&second->a).queued_window, 0);
	quiet(second);
	assert_ended(&second->a, 1);
	close_both(pair, second);
}
