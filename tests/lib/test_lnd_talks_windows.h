/* SPDX-License-Identifier: MIT */
#ifndef O2_TEST_LND_TALKS_WINDOWS_H
#define O2_TEST_LND_TALKS_WINDOWS_H

#include "tests/lib/test_lnd_talk.h"

/* Conversations of interfaces that have fewer windows than operations (docs/transport.md, "Windows").  Mode
 * phys needs one for every list of scattered pages, and gives it back when the operation ends. */

#define FEW  2u
#define MANY 6u

static struct o2_kiov window_kiov[2][O2_MAX_FRAGS];

static struct o2_transfer_memory window_memory(int which, enum o2_reg_mode mode, uint64_t tag)
{
	struct o2_transfer_memory memory = dense(window_kiov[which], 300u * (uint32_t)which, 9000, mode);

	memory.tag = tag;
	return memory;
}

/* windows of each side; 0: as many as there may be. */
static struct pair *pair_with_windows(uint32_t a, uint32_t b)
{
	struct pair *pair = calloc(1, sizeof(*pair));
	struct o2_ni_config config[2] = {side_config(true, O2_DMA_BUS, 0x7f0000000000ull),
					 side_config(false, O2_DMA_VIRTUAL, 0)};

	assert_non_null(pair);
	config[0].windows = a;
	config[1].windows = b;
	side_open_config(&pair->a, &config[0]);
	side_open_config(&pair->b, &config[1]);
	pair_connect(pair, &O2_CONN_DEFAULTS, &O2_CONN_DEFAULTS);
	pair->b.answer = window_memory(1, O2_REG_PHYS, 0);
	return pair;
}

/* Another connection of the same interfaces; its sides' own are not opened. */
static struct pair *second_of(struct pair *pair)
{
	struct pair *second = calloc(1, sizeof(*second));
	struct o2_conn_address a, b;

	assert_non_null(second);
	assert_int_equal(
		o2_conn_create(&pair->a.ni, &O2_CONN_DEFAULTS, side_ops(), &second->a, &second->a.conn, NULL),
		0);
	assert_int_equal(
		o2_conn_create(&pair->b.ni, &O2_CONN_DEFAULTS, side_ops(), &second->b, &second->b.conn, NULL),
		0);
	o2_conn_get_address(second->a.conn, &a);
	o2_conn_get_address(second->b.conn, &b);
	assert_int_equal(o2_conn_connect(second->a.conn, &b, NULL), 0);
	assert_int_equal(o2_conn_connect(second->b.conn, &a, NULL), 0);
	second->b.answer = window_memory(1, O2_REG_PHYS, 0);
	return second;
}

static void close_both(struct pair *pair, struct pair *second)
{
	o2_conn_destroy(second->a.conn);
	o2_conn_destroy(second->b.conn);
	free(second);
	pair_close(pair);
}

static void put_from(struct pair *pair, enum o2_reg_mode mode, uint64_t tag)
{
	const struct o2_transfer_memory memory = window_memory(0, mode, tag);

	assert_int_equal(start_put(pair->a.conn, &memory, 0, NULL, NULL), 0);
}

static void assert_ended(const struct side *side, uint32_t count)
{
	assert_int_equal(side->nresults, count);
	for (uint32_t i = 0; i < count; i++) {
		assert_int_equal(side->result[i].status, 0);
		assert_int_equal(side->result[i].tag, i);
		assert_int_equal(side->result[i].nob, 9000);
	}
}

/* More than there are windows for: they wait, and end in the order in which they were started. */
static void waits_for_windows(void **state)
{
	(void)state;
	for (int get = 0; get < 2; get++) {
		struct pair *pair = pair_with_windows(FEW, 0);

		for (uint32_t i = 0; i < MANY; i++) {
			/* The last needs no window, and does not overtake. */
			const struct o2_transfer_memory memory =
				window_memory(0, i < MANY - 1 ? O2_REG_PHYS : O2_REG_GLOBAL, i);

			assert_int_equal((get ? start_get : start_put)(pair->a.conn, &memory, 0, NULL, NULL),
					 0);
		}
		/* One window is kept for what b may start. */
		assert_int_equal(view_of(&pair->a).queued_window, MANY - 1);
		assert_int_equal(view_of(&pair->a).open, MANY);
		quiet(pair);
		assert_ended(&pair->a, MANY);
		assert_int_equal(pair->b.nmatched, MANY);
		assert_settled(pair);
		pair_close(pair);
	}
}

/* The window comes back on another connection, where nothing tells this one. */
static void is_woken_by_another_connection(void **state)
{
	struct pair *pair = pair_with_windows(FEW, 0);
	struct pair *second = second_of(pair);

	(void)state;
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

#endif
