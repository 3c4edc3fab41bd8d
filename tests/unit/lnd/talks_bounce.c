/* SPDX-License-Identifier: MIT */
#include "mem/kmap.h"
#include "tests/lib/lnd_memory.h"
#include "tests/unit/lnd/lnd_talks.h"

/* Conversations over devices that bounce (docs/mapping.md, "A device that bounces"). */

#define NOB 9000u

static struct pair *bouncing_pair(enum o2_dma_kind kind)
{
	struct o2_ni_config a = side_config(true, kind, 0x240000000);
	struct o2_ni_config b = side_config(false, O2_DMA_VIRTUAL, 0);
	struct o2_conn_config config = O2_CONN_DEFAULTS;

	a.bounce = b.bounce = true;
	return pair_open_ni(&a, &b, &config, &config);
}

/* Transfer by PUT or GET.  Only the moved bytes of the sink may change, and no byte of the source. */
static void moves(struct pair *pair, bool put, const struct o2_transfer_memory *from,
		  const struct o2_transfer_memory *to)
{
	struct side *source = &pair->a, *sink = &pair->b;
	struct images images = images_take(source, sink, 1 + from->mode);
	const uint32_t before = pair->a.nresults;

	pair->a.answer = *from;
	pair->b.answer = *to;
	if (put)
		assert_int_equal(start_put(pair->a.conn, from, 0, NULL, NULL), 0);
	else
		assert_int_equal(start_get(pair->b.conn, to, 0, NULL, NULL), 0);
	pair_run(pair, before + 1, before + 1);
	images_check(&images, source, &from->buffer, sink, &to->buffer, NOB);
}

/* Every message and transfer is copied through bounce buffers, for each registration mode and kind of address. */
TEST(crosses_by_sync)
{
	for (int kind = 0; kind < O2_DMA_KINDS; kind++) {
		struct pair *pair = bouncing_pair((enum o2_dma_kind)kind);

		for (int mode = 0; mode < O2_REG_MODES; mode++) {
			struct o2_transfer_memory from = talk_memory(0, NOB, (enum o2_reg_mode)mode);
			struct o2_transfer_memory to = talk_memory(1, NOB, (enum o2_reg_mode)mode);

			if (mode == O2_REG_USER)
				continue; /* mode user takes no KIOV; property "transfer" covers it */
			moves(pair, true, &from, &to);
			moves(pair, false, &from, &to);
		}
		pair_close(pair);
	}
}

/* Bouncing can be switched between transfers, but not while memory is bound. */
TEST(changes_between_transfers)
{
	struct pair *pair = bouncing_pair(O2_DMA_BUS);
	struct o2_transfer_memory from = talk_memory(0, NOB, O2_REG_FASTREG);
	struct o2_transfer_memory to = talk_memory(1, NOB, O2_REG_FMR);
	struct o2_error error;

	pair->b.answer = to;
	assert_int_equal(start_put(pair->a.conn, &from, 0, NULL, NULL), 0);
	assert_error(o2_ni_set_bounce(&pair->a.ni, false, &error), -EBUSY, &error, "ni/bindings-alive");
	pair_run(pair, 1, 1);
	for (uint32_t i = 0; i < 4; i++) {
		assert_int_equal(o2_ni_set_bounce(&pair->a.ni, i % 2 == 0, NULL), 0);
		assert_int_equal(o2_ni_set_bounce(&pair->b.ni, i / 2 == 0, NULL), 0);
		moves(pair, true, &from, &to);
	}
	pair_close(pair);
}

/* Use up this thread's temporary mappings, so that the CPU cannot copy. */
static void take_kmaps(const struct side *side, struct o2_kmapping kmap[O2_KMAPS_MAX])
{
	for (uint32_t i = 0; i < O2_KMAPS_MAX; i++)
		assert_int_equal(o2_kmap(&side->ni.arena, 0, &kmap[i], NULL), 0);
}

static void give_kmaps(struct o2_kmapping kmap[O2_KMAPS_MAX])
{
	for (uint32_t i = O2_KMAPS_MAX; i-- > 0;)
		o2_kunmap(&kmap[i]);
}

/* A PUT whose sink cannot be copied after all bytes have arrived, when the source already has its answer. */
static void sink_fails(struct pair *pair, enum o2_reg_mode mode)
{
	struct o2_transfer_memory from = talk_memory(0, NOB, O2_REG_GLOBAL);
	struct o2_kmapping kmap[O2_KMAPS_MAX];

	pair->b.answer = talk_memory(1, NOB, mode);
	assert_int_equal(start_put(pair->a.conn, &from, 0, NULL, NULL), 0);
	deliver(&pair->b, NULL, 0);
	assert_int_equal(pair->b.nmatched, 1);
	take_kmaps(&pair->b, kmap);
	pair_run(pair, 1, 1);
	give_kmaps(kmap);
	assert_int_equal(pair->a.result[0].status, 0);
	assert_int_equal(pair->b.result[0].status, -ENOSPC);
	assert_string_equal(pair->b.result[0].fault.error.rule, "kmap/too-many");
	quiet(pair);
	pair_close(pair);
}

/* If a copy fails, its operation fails and releases all its resources. */
TEST(cannot_copy)
{
	struct o2_conn_config config = O2_CONN_DEFAULTS;
	struct pair *pair = bouncing_pair(O2_DMA_BUS);
	struct o2_transfer_memory from = talk_memory(0, NOB, O2_REG_FASTREG_GAPS);
	struct o2_kmapping kmap[O2_KMAPS_MAX];
	struct o2_error error;

	take_kmaps(&pair->a, kmap);
	assert_error(start_put(pair->a.conn, &from, 0, NULL, &error), -ENOSPC, &error, "kmap/too-many");
	assert_int_equal(o2_ni_set_bounce(&pair->a.ni, false, NULL), 0);
	pair->a.ni.domain.gaps_by_staging = true;
	assert_error(start_put(pair->a.conn, &from, 0, NULL, &error), -ENOSPC, &error, "kmap/too-many");
	give_kmaps(kmap);
	pair_close(pair);
	sink_fails(bouncing_pair(O2_DMA_BUS), O2_REG_FMR);
	pair = pair_open(&config, &config);
	pair->b.ni.domain.gaps_by_staging = true;
	sink_fails(pair, O2_REG_FASTREG_GAPS);
}
