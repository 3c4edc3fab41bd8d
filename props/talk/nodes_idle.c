/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <inttypes.h>
#include <stddef.h>

#include "lnd/ni/counts.h"
#include "props/talk/nodes_internal.h"

/*
 * How the pools of idle nodes change with time (docs/pools.md, "Growing", "Giving up pools").  The
 * prediction comes from the drawn settings, the pool sizes, and the times that the nodes were told.
 */

#define LIFE_MS	   300000u /* lifetime of an idle pool */
#define RETRY_MS   1000u   /* time during which growth is not retried */
#define CONNECT_MS 12500u  /* longest time of an attempt (docs/connection.md, "Times") */
#define FIRST	   1u	   /* number of pools that a set always keeps */

static const struct {
	enum o2_reg_mode mode;
	enum o2_ni_pool_kind kind;
} pooled[] = {
	{O2_REG_FMR, O2_NI_POOL_FMR},
	{O2_REG_FASTREG, O2_NI_POOL_FRD},
	{O2_REG_FASTREG_GAPS, O2_NI_POOL_FRD_GAPS},
};

#define POOLED (sizeof(pooled) / sizeof(pooled[0]))

/* --- a device that makes no descriptors while it is told so --- */

static struct o2_nodes_seat *seat_of(void *context)
{
	return (void *)((char *)context - offsetof(struct o2_nodes_seat, place.ni.domain));
}

static int frd_create(void *context, uint64_t device, uint32_t max_pages, bool gaps,
		      struct o2_frd_object *object, struct o2_error *error)
{
	return seat_of(context)->no_descriptors
		       ? -ENOSPC
		       : o2_reg_verbs_frd.create(context, device, max_pages, gaps, object, error);
}

static void frd_destroy(void *context, void *handle)
{
	seat_of(context)->descriptors_gone++;
	o2_reg_verbs_frd.destroy(context, handle);
}

static int frd_map(void *context, void *handle, const struct o2_frd_request *request, uint32_t *lkey,
		   struct o2_error *error)
{
	return o2_reg_verbs_frd.map(context, handle, request, lkey, error);
}

static int frd_unmap(void *context, void *handle, struct o2_error *error)
{
	return o2_reg_verbs_frd.unmap(context, handle, error);
}

static const struct o2_frd_ops frd_ops = {frd_create, frd_destroy, frd_map, frd_unmap};

const struct o2_reg_ops o2_nodes_reg_ops = {&o2_reg_verbs_fmr, &frd_ops};

/* --- sets shrink --- */

/*
 * Descriptors destroyed other than with their pools: those of failed transfers are replaced, no others.
 */
static uint64_t replaced(struct o2_nodes_seat *seat)
{
	struct o2_ni_counts counts;

	o2_ni_get_counts(&seat->place.ni, &counts);
	return seat->descriptors_gone - O2_NODES_POOL * (counts.pool[O2_NI_POOL_FRD].destroyed +
							 counts.pool[O2_NI_POOL_FRD_GAPS].destroyed);
}

static uint32_t live(struct o2_nodes_seat *seat, enum o2_ni_pool_kind kind)
{
	struct o2_ni_counts counts;

	o2_ni_get_counts(&seat->place.ni, &counts);
	return counts.pool[kind].live;
}

static void check_set(struct o2_nodes_seat *seat, enum o2_ni_pool_kind kind, uint32_t before)
{
	uint32_t now = live(seat, kind);

	if (now != FIRST)
		o2_report_fail(seat->nodes->report, "nodes/idle-pools",
			       "node %" PRIu32 " has %" PRIu32
			       " pools of kind %s after %u ms idle, expected %u",
			       seat->index, now, o2_place_pool_names[kind], LIFE_MS, FIRST);
	else if (before > FIRST)
		o2_nodes_seen(seat->nodes, O2_NODES_SEEN_SHRUNK);
}

/*
 * An idle connection sends a keep-alive message every 100 s, and the connections of a node send theirs at the same
 * time.  If they need more transmits than a pool has, the other pools are used and are not idle.
 */
static bool keeps_alive_from_two_pools(const struct o2_nodes *nodes, const struct o2_nodes_seat *seat)
{
	uint32_t count = 0;

	for (uint32_t to = 0; to < nodes->nseats; to++)
		count += o2_nodes_count_ends(seat, to, true);
	return count > O2_NODES_TX;
}

/* At both ends, the operation has returned an element to the set of its mode, and one to the transmit set. */
static void check_sets(struct o2_nodes *nodes, const struct o2_nodes_op *op, struct o2_nodes_seat *seat,
		       enum o2_ni_pool_kind kind, uint32_t before[O2_NODES_MAX][O2_NI_POOL_KINDS])
{
	uint32_t ends[] = {seat->index, op->to};

	if (op->status != 0 || op->status_there != 0 || op->ended_there == 0)
		return;
	for (uint32_t i = 0; i < 2; i++) {
		struct o2_nodes_seat *end = &nodes->seat[ends[i]];

		check_set(end, kind, before[end->index][kind]);
		if (!keeps_alive_from_two_pools(nodes, end))
			check_set(end, O2_NI_POOL_TX, before[end->index][O2_NI_POOL_TX]);
	}
}

static void start_as(struct o2_nodes *nodes, struct o2_nodes_seat *seat, uint32_t to, enum o2_reg_mode mode,
		     int expected)
{
	int rc = o2_nodes_start_plain(nodes, seat, to, mode);

	if (rc != expected)
		o2_report_fail(nodes->report, "nodes/growth",
			       "operation %" PRIu32 " of node %" PRIu32 " starts with %d, expected %d",
			       seat->nops - 1, seat->index, rc, expected);
}

/* The network works: nodes that are connected, or that can agree, must be served soon. */
static void check_served(struct o2_nodes *nodes, const struct o2_nodes_seat *seat,
			 const struct o2_nodes_op *op, bool can)
{
	const uint64_t took_ms = op->ended_ms - op->started_ms;

	if (can && (op->status != 0 || op->nob != op->bytes))
		o2_report_fail(nodes->report, "nodes/not-served",
			       "node %" PRIu32 " and node %" PRIu32
			       " can connect, and nothing happens to the network; an operation ends with %d",
			       seat->index, op->to, op->status);
	else if (can && took_ms > CONNECT_MS)
		o2_report_fail(nodes->report, "nodes/not-served",
			       "node %" PRIu32 " needs %" PRIu64 " ms to be connected with node %" PRIu32
			       ", expected %u at most",
			       seat->index, took_ms, op->to, CONNECT_MS);
}

static bool all_well(const struct o2_nodes *nodes)
{
	bool well = true;

	for (uint32_t i = 0; i < nodes->nseats; i++) {
		const struct o2_nodes_op *op = &nodes->seat[i].op[nodes->seat[i].nops - 1];

		well = well && op->status == 0 && op->status_there == 0 && op->ended_there > 0;
	}
	return well;
}

/* One operation from each node to the next.  A set serves at most two of them, so no set has to grow. */
static void use_each(struct o2_nodes *nodes, uint32_t which, uint32_t before[O2_NODES_MAX][O2_NI_POOL_KINDS])
{
	uint64_t gone[O2_NODES_MAX];
	bool can[O2_NODES_MAX];

	for (uint32_t i = 0; i < nodes->nseats && !nodes->report->failed; i++) {
		struct o2_nodes_seat *seat = &nodes->seat[i];
		const uint32_t to = (i + 1) % nodes->nseats;

		can[i] = o2_nodes_count_ends(seat, to, true) > 0 ||
			 o2_nodes_can_connect(seat, &nodes->seat[to]);
		gone[i] = replaced(seat);
		start_as(nodes, seat, to, pooled[which].mode, 0);
	}
	o2_nodes_settle(nodes);
	for (uint32_t i = 0; i < nodes->nseats && !nodes->report->failed && all_well(nodes); i++)
		if (replaced(&nodes->seat[i]) != gone[i])
			o2_report_fail(nodes->report, "nodes/descriptor-replaced",
				       "node %" PRIu32 " has replaced %" PRIu64
				       " descriptors, and no transfer has failed",
				       i, replaced(&nodes->seat[i]) - gone[i]);
	for (uint32_t i = 0; i < nodes->nseats && !nodes->report->failed; i++) {
		struct o2_nodes_seat *seat = &nodes->seat[i];
		const struct o2_nodes_op *op = &seat->op[seat->nops - 1];

		check_served(nodes, seat, op, can[i]);
		if (!nodes->report->failed)
			check_sets(nodes, op, seat, pooled[which].kind, before);
	}
}

static bool has_grown(const struct o2_nodes *nodes, uint32_t before[O2_NODES_MAX][O2_NI_POOL_KINDS],
		      enum o2_ni_pool_kind kind)
{
	for (uint32_t i = 0; i < nodes->nseats; i++)
		if (before[i][kind] > FIRST)
			return true;
	return false;
}

/*
 * Use the sets that have grown: one set if only transmits have grown, in some cases all sets.  Using a set
 * may require a connection, which takes as long as the rest of a case.
 */
void o2_nodes_check_idle_pools(struct o2_nodes *nodes)
{
	const uint32_t first = (uint32_t)o2_draw_pick(nodes->choice, POOLED);
	const bool all = o2_draw_bool(nodes->choice, 7, 1);
	uint32_t before[O2_NODES_MAX][O2_NI_POOL_KINDS];

	for (uint32_t i = 0; i < nodes->nseats; i++)
		for (int kind = 0; kind < O2_NI_POOL_KINDS; kind++)
			before[i][kind] = live(&nodes->seat[i], (enum o2_ni_pool_kind)kind);
	o2_nodes_let_pass(nodes, LIFE_MS);
	for (uint32_t i = 0; i < POOLED && !nodes->report->failed; i++) {
		const uint32_t which = (first + i) % POOLED;

		if (all || has_grown(nodes, before, pooled[which].kind) ||
		    (i == 0 && has_grown(nodes, before, O2_NI_POOL_TX)))
			use_each(nodes, which, before);
	}
}

/* --- and grow --- */

/*
 * Node 0 has one pool of descriptors.  If all are in use and no other pool can be created, an operation is
 * refused, and so are all operations of the next second.
 */
void o2_nodes_check_growth(struct o2_nodes *nodes)
{
	struct o2_nodes_seat *seat = &nodes->seat[0];
	uint64_t failed_ms;

	if (o2_node_conn(seat->node, o2_nodes_nid(nodes, 1), 0) == NULL || live(seat, O2_NI_POOL_FRD) > FIRST)
		return;
	for (uint32_t i = 0; i < FIRST * O2_NODES_POOL; i++)
		start_as(nodes, seat, 1, O2_REG_FASTREG, 0);
	seat->no_descriptors = true;
	failed_ms = nodes->ground.now_ms;
	start_as(nodes, seat, 1, O2_REG_FASTREG, -EAGAIN);
	seat->no_descriptors = false;
	o2_nodes_clock(nodes, RETRY_MS - 1);
	if (nodes->ground.now_ms - failed_ms < RETRY_MS)
		start_as(nodes, seat, 1, O2_REG_FASTREG, -EAGAIN);
	o2_nodes_clock(nodes, 1);
	start_as(nodes, seat, 1, O2_REG_FASTREG, 0);
	if (!nodes->report->failed)
		o2_nodes_seen(nodes, O2_NODES_SEEN_GROWN_LATE);
	if (!nodes->report->failed)
		o2_nodes_settle(nodes);
}
