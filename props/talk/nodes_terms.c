/* SPDX-License-Identifier: MIT */
#include <inttypes.h>

#include "lnd/cm/loop.h"
#include "lnd/conn/conn_internal.h"
#include "lnd/node/negotiate.h"
#include "props/talk/nodes_internal.h"
#include "wire/reject.h"

/* What connections have agreed upon, and what becomes of what a reject tells. */

#define ANOTHER 0x100u /* no node of a case has an address that differs from another one's in this bit */

static uint32_t smaller(uint32_t a, uint32_t b)
{
	return a < b ? a : b;
}

static bool between(uint32_t value, uint32_t low, uint32_t high)
{
	return value >= low && value <= high;
}

/* The least that either has been able to do since the other one has known it. */
static struct o2_nodes_pair least_of(const struct o2_nodes_seat *a, const struct o2_nodes_seat *b)
{
	const struct o2_nodes_pair *x = &a->pair[b->index], *y = &b->pair[a->index];
	struct o2_nodes_pair least = {.least_version = smaller(x->least_version, y->least_version),
				      .least_depth = smaller(x->least_depth, y->least_depth),
				      .least_frags = smaller(x->least_frags, y->least_frags)};

	if (least.least_version == O2_MSG_VERSION_1)
		least.least_depth = smaller(least.least_depth, O2_QUEUE_DEPTH_V1);
	return least;
}

uint32_t o2_nodes_least_frags(const struct o2_nodes_seat *a, const struct o2_nodes_seat *b)
{
	return least_of(a, b).least_frags;
}

/*
 * The most that both can do; in version 1 the depth is always the same.  What was learnt of another life of
 * a node may make it less.  A connection with another life than this one has its end before it.
 */
static void expect(struct o2_nodes *nodes, const struct o2_nodes_seat *a, const struct o2_nodes_seat *b,
		   const struct o2_conn *conn)
{
	const struct o2_conn_config *x = &a->config.conn, *y = &b->config.conn;
	const struct o2_nodes_pair least = least_of(a, b);
	uint32_t depth = smaller(x->queue_depth, y->queue_depth), frags = smaller(x->max_frags, y->max_frags);
	struct o2_conn_view view;
	bool good;

	if (conn->peer.incarnation != b->place.ni.config.incarnation)
		return;
	o2_conn_view(conn, &view);
	good = between(view.version, least.least_version, smaller(x->version, y->version)) &&
	       between(conn->config.max_frags, least.least_frags, frags) &&
	       (view.version == O2_MSG_VERSION_1 ? view.queue_depth == O2_QUEUE_DEPTH_V1
						 : between(view.queue_depth, least.least_depth, depth));
	if (!good)
		o2_report_fail(nodes->report, "nodes/terms",
			       "node %" PRIu32 " has agreed with node %" PRIu32
			       " upon version 0x%x, depth %" PRIu32 ", %" PRIu32
			       " fragments; both can do 0x%" PRIx32 ", %" PRIu32 ", %" PRIu32
			       ", and could always do 0x%" PRIx32 ", %" PRIu32 ", %" PRIu32,
			       a->index, b->index, view.version, view.queue_depth, conn->config.max_frags,
			       smaller(x->version, y->version), depth, frags, least.least_version,
			       least.least_depth, least.least_frags);
}

void o2_nodes_check_up(struct o2_nodes_seat *seat, uint64_t nid)
{
	struct o2_nodes *nodes = seat->nodes;
	uint32_t j = o2_nodes_index(nodes, nid);
	struct o2_nodes_pair *pair = &seat->pair[j];
	struct o2_conn *conn;
	uint32_t n = 0;

	for (; (conn = o2_node_conn(seat->node, nid, n)) != NULL; n++)
		expect(nodes, seat, &nodes->seat[j], conn);
	if (n > 1)
		o2_nodes_seen(nodes, O2_NODES_SEEN_SEVERAL);
	else if (pair->was_up)
		o2_nodes_seen(nodes, O2_NODES_SEEN_RECONNECT);
	pair->was_up = true;
}

static uint32_t count_conns(const struct o2_nodes_seat *a, const struct o2_nodes_seat *b)
{
	uint32_t n = 0;

	while (o2_node_conn(a->node, o2_nodes_nid(a->nodes, b->index), n) != NULL)
		n++;
	return n;
}

/* At rest: each connection has another end, which has agreed upon the same (as expect has it). */
void o2_nodes_check_ends(struct o2_nodes *nodes)
{
	for (uint32_t i = 0; i < nodes->nseats; i++)
		for (uint32_t j = 0; j < nodes->nseats; j++) {
			const struct o2_nodes_seat *a = &nodes->seat[i], *b = &nodes->seat[j];

			if (i == j)
				continue;
			if (count_conns(a, b) != count_conns(b, a))
				o2_report_fail(nodes->report, "nodes/one-sided",
					       "node %" PRIu32 " has %" PRIu32
					       " connections with node %" PRIu32 ", which has %" PRIu32,
					       i, count_conns(a, b), j, count_conns(b, a));
			for (uint32_t n = 0; n < count_conns(a, b); n++)
				expect(nodes, a, b, o2_node_conn(a->node, o2_nodes_nid(nodes, j), n));
		}
}

static void know(struct o2_nodes_pair *pair, const struct o2_conn_config *config, bool anew)
{
	anew = anew || pair->least_version == 0;
	if (anew || config->version < pair->least_version)
		pair->least_version = config->version;
	if (anew || config->queue_depth < pair->least_depth)
		pair->least_depth = config->queue_depth;
	if (anew || config->max_frags < pair->least_frags)
		pair->least_frags = config->max_frags;
}

static bool knows(const struct o2_nodes *nodes, uint32_t i, uint32_t j)
{
	struct o2_peer_view view;

	o2_node_peer(nodes->seat[i].node, o2_nodes_nid(nodes, j), &view);
	return view.known;
}

/*
 * Neither knows the other, and nothing is under way that would tell it: what either is asked for, and in
 * which version, may be what the other has made of an earlier life of it.  On a kernel's devices that is not
 * seen.
 */
static bool are_strangers(const struct o2_nodes *nodes, uint32_t i, uint32_t j)
{
	const uint32_t a = nodes->seat[i].address, b = nodes->seat[j].address;

	if (nodes->ground.loop == NULL || knows(nodes, i, j) || knows(nodes, j, i))
		return false;
	for (size_t n = 0; n < o2_cm_loop_choices(nodes->ground.loop); n++) {
		uint32_t from, to;

		o2_cm_loop_choice(nodes->ground.loop, n, &from, &to);
		if ((from == a && to == b) || (from == b && to == a))
			return false;
	}
	return true;
}

/*
 * A node that has forgotten another one may be told its limits again; strangers know each other as they are.
 */
void o2_nodes_forget(struct o2_nodes *nodes)
{
	for (uint32_t i = 0; i < nodes->nseats; i++)
		for (uint32_t j = 0; j < nodes->nseats; j++) {
			if (knows(nodes, i, j))
				continue;
			nodes->seat[i].pair[j].told = 0;
			nodes->seat[i].pair[j].lives = 0;
			know(&nodes->seat[i].pair[j], &nodes->seat[j].config.conn,
			     are_strangers(nodes, i, j));
		}
}

void o2_nodes_reconfigured(struct o2_nodes_seat *seat)
{
	struct o2_nodes *nodes = seat->nodes;

	for (uint32_t i = 0; i < nodes->nseats; i++) {
		struct o2_nodes_seat *other = &nodes->seat[i];

		seat->pair[i].told = seat->pair[i].lives = 0;
		seat->pair[i].was_up = false;
		know(&seat->pair[i], &other->config.conn, false);
		other->pair[seat->index].lives++;
		know(&other->pair[seat->index], &seat->config.conn, false);
		for (uint32_t k = 0; k < other->nops; k++)
			if (other == seat || other->op[k].to == seat->index)
				other->op[k].max_frags =
					smaller(other->op[k].max_frags, seat->config.conn.max_frags);
	}
}

static void count_reject(struct o2_nodes *nodes, const struct o2_reject *reject)
{
	if (reject->ibr_why == O2_REJECT_CONN_RACE)
		o2_nodes_seen(nodes, O2_NODES_SEEN_RACE);
	else if (reject->ibr_why == O2_REJECT_CONN_STALE)
		o2_nodes_seen(nodes, O2_NODES_SEEN_STALE);
	else if (reject->ibr_why == O2_REJECT_MSG_QUEUE_SIZE)
		o2_nodes_seen(nodes, O2_NODES_SEEN_REJECT_DEPTH);
	else if (reject->ibr_why == O2_REJECT_RDMA_FRAGS)
		o2_nodes_seen(nodes, O2_NODES_SEEN_REJECT_FRAGS);
	else if (reject->ibr_why == O2_REJECT_NO_RESOURCES)
		o2_nodes_seen(nodes, O2_NODES_SEEN_NO_RESOURCES);
	else if (reject->ibr_version == O2_MSG_VERSION_1)
		o2_nodes_seen(nodes, O2_NODES_SEEN_REJECT_VERSION);
}

/*
 * A request is for one node.  Another one, to which it is shown as well, refuses it and says nothing of itself.
 */
static void show_to_another(struct o2_nodes_seat *seat, const struct o2_cm_event *event)
{
	const struct o2_connreq_self another = {
		.nid = o2_nodes_nid(seat->nodes, seat->index) ^ ANOTHER,
		.incarnation = seat->place.ni.config.incarnation,
		.version = O2_MSG_VERSION_2,
		.queue_depth = (uint16_t)seat->config.conn.queue_depth,
		.max_frags = (uint16_t)seat->config.conn.max_frags,
		.up = true,
	};
	struct o2_connreq request;
	struct o2_reject reject;
	int rc = o2_connreq_judge(&another, &event->origin, event->private_data, event->private_bytes,
				  &request, &reject, NULL);

	if (rc == 0 || reject.ibr_why != O2_REJECT_FATAL || reject.ibr_incarnation != 0 ||
	    reject.ibr_cp.ibcp_queue_depth != 0 || reject.ibr_cp.ibcp_max_frags != 0)
		o2_report_fail(seat->nodes->report, "nodes/not-asked",
			       "a node that node %" PRIu32
			       " is mistaken for says %d to a request, reason %u, "
			       "incarnation 0x%" PRIx64 ", depth %u, %u fragments",
			       seat->index, rc, reject.ibr_why, reject.ibr_incarnation,
			       reject.ibr_cp.ibcp_queue_depth, reject.ibr_cp.ibcp_max_frags);
}

/*
 * The event goes on to the node.  One that tells a limit may be followed by another attempt as often as
 * attempts were under way with the old figures, that is conns_per_peer times while the two know each other,
 * and as often again for each other life of the one that tells.
 */
static void on_event(void *context, const struct o2_cm_event *event)
{
	struct o2_nodes_seat *seat = context;
	struct o2_nodes *nodes = seat->nodes;
	struct o2_peer_view before[O2_NODES_MAX], after;
	struct o2_reject reject = {.ibr_why = 0};
	bool limit;

	if (event->type == O2_CM_REQUEST)
		show_to_another(seat, event);
	if (event->type == O2_CM_REJECTED && event->reason == O2_CM_REJECT_NO_LISTENER)
		o2_nodes_seen(nodes, O2_NODES_SEEN_NO_LISTENER);
	if (event->type == O2_CM_UNREACHABLE)
		o2_nodes_seen(nodes, O2_NODES_SEEN_UNREACHABLE);
	if (event->type == O2_CM_REJECTED && event->reason == O2_CM_REJECT_CONSUMER &&
	    o2_reject_decode(event->private_data, event->private_bytes, &reject, NULL) == 0)
		count_reject(nodes, &reject);
	limit = reject.ibr_why == O2_REJECT_MSG_QUEUE_SIZE || reject.ibr_why == O2_REJECT_RDMA_FRAGS;
	for (uint32_t j = 0; j < nodes->nseats; j++)
		o2_node_peer(seat->node, o2_nodes_nid(nodes, j), &before[j]);
	seat->handler(seat->handler_context, event);
	for (uint32_t j = 0; limit && j < nodes->nseats; j++) {
		o2_node_peer(seat->node, o2_nodes_nid(nodes, j), &after);
		if (after.attempts_due > before[j].attempts_due &&
		    ++seat->pair[j].told > seat->config.conns_per_peer * (1 + seat->pair[j].lives))
			o2_report_fail(nodes->report, "nodes/told-again",
				       "node %" PRIu32 " is told the limits of node %" PRIu32 " %" PRIu32
				       " times and asks again",
				       seat->index, j, seat->pair[j].told);
	}
}

void o2_nodes_watch(struct o2_nodes_seat *seat)
{
	seat->handler = seat->cm->handler;
	seat->handler_context = seat->cm->context;
	seat->cm->handler = on_event;
	seat->cm->context = seat;
}
