/* SPDX-License-Identifier: MIT */
/* All traffic over loopverbs is shown to the judge, and a lie fails the case. */
#include "props/world/witness.h"

#include "lnd/conn/conn_internal.h"
#include "tests/lib/node_world.h"

/* Starts operations of both nodes, by RDMA; the first sets up the connection. */
static void talk(struct world *world)
{
	for (uint32_t i = 0; i < 3; i++) {
		world_put(world, &world->seat[0], NID(1));
		world_put(world, &world->seat[1], NID(0));
	}
}

WORLD_TEST(all_is_heard)
{
	struct o2_report report;
	struct o2_witness *witness;
	const struct o2_judged before = o2_judged_all;
	struct o2_judged totals;

	o2_report_clear(&report);
	witness = o2_witness_open(world->loop, &world->now_ms, &report);
	assert_non_null(witness);
	talk(world);
	totals = o2_witness_totals(witness);
	assert_int_equal(totals.connections, 1);
	/* PUT_REQ, PUT_ACK and PUT_DONE of six PUTs, and possibly NOOPs. */
	assert_uint_in_range(totals.messages, 18, 24);
	assert_uint_in_range(totals.writes, 6, 12);
	assert_false(report.failed);
	o2_witness_close(witness);
	assert_int_equal(o2_judged_all.connections - before.connections, 1);
	assert_int_equal(o2_judged_all.messages - before.messages, totals.messages);
	assert_int_equal(o2_judged_all.writes - before.writes, totals.writes);
}

/* A node returns credits that it does not owe. */
WORLD_TEST(a_lie_is_a_finding)
{
	struct o2_report report;
	struct o2_witness *witness;

	o2_report_clear(&report);
	witness = o2_witness_open(world->loop, &world->now_ms, &report);
	assert_non_null(witness);
	talk(world);
	o2_node_conn(world->seat[1].node, NID(0), 0)->credits.outstanding += 5;
	world_put(world, &world->seat[1], NID(0));
	assert_true(report.failed);
	assert_string_equal(report.signature, "judge/credits/over-owed");
	o2_witness_close(witness);
}
