/* SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <stdio.h>

#include "props/talk/nodes_internal.h"

/*
 * Checks the credit account (props/world/account.h) of every connection that both ends still have.  Queue
 * pair numbers show which those are, on any device.
 */

static bool destination(const struct o2_conn *conn, uint32_t *qp_num)
{
	struct ibv_qp *qp = o2_conn_qp(conn);
	struct ibv_qp_init_attr init;
	struct ibv_qp_attr attr;

	if (qp == NULL || ibv_query_qp(qp, &attr, IBV_QP_DEST_QPN, &init) != 0)
		return false;
	*qp_num = attr.dest_qp_num;
	return true;
}

/* b's end of a's connection; NULL: b has none yet, or no longer. */
static const struct o2_conn *other_end(const struct o2_nodes_seat *a, const struct o2_nodes_seat *b,
				       const struct o2_conn *conn)
{
	const struct o2_conn *other;
	uint32_t there, here;

	if (!destination(conn, &there))
		return NULL;
	for (uint32_t n = 0;; n++) {
		other = o2_node_conn(b->node, o2_nodes_nid(a->nodes, a->index), n);
		if (other == NULL)
			return NULL;
		if (o2_conn_qp(other)->qp_num == there && destination(other, &here) &&
		    here == o2_conn_qp(conn)->qp_num)
			return other;
	}
}

static void fail_account(struct o2_nodes *nodes, const struct o2_nodes_seat *a, const struct o2_nodes_seat *b,
			 const struct o2_account *account)
{
	o2_report_fail_in(nodes->report, "nodes", account->what,
			  "a connection of node %" PRIu32 " with node %" PRIu32 ": %" PRIu64
			  ", expected %" PRIu64,
			  a->index, b->index, account->is, account->expected);
}

static void count(struct o2_nodes *nodes, const struct o2_conn_view *view)
{
	if (view->queued > 0 && view->flow.credits == 0)
		o2_nodes_seen(nodes, O2_NODES_SEEN_NO_CREDITS);
	if (view->queued_reserved > 0 && view->flow.reserved == 0)
		o2_nodes_seen(nodes, O2_NODES_SEEN_NO_RESERVED);
	if (view->flow.noops_in_flight > 0)
		o2_nodes_seen(nodes, O2_NODES_SEEN_NOOP);
	if (view->flow.version == O2_MSG_VERSION_1 && view->active > 0)
		o2_nodes_seen(nodes, O2_NODES_SEEN_VERSION_1);
}

/* The limits from the settings and from what was agreed. */
static const struct o2_account_limits *limits_of(const struct o2_nodes_seat *a, const struct o2_nodes_seat *b,
						 const struct o2_conn *conn)
{
	const struct o2_nodes_end *end =
		o2_nodes_end_of(&a->nodes->seat[a->index], b->index, o2_conn_qp(conn)->qp_num);

	return end != NULL ? &end->limits : NULL;
}

static void check_conn(struct o2_nodes *nodes, const struct o2_nodes_seat *a, const struct o2_nodes_seat *b,
		       const struct o2_conn *conn)
{
	const struct o2_conn *other = other_end(a, b, conn);
	const struct o2_account_limits *limits = limits_of(a, b, conn);
	struct o2_conn_view here, there;
	struct o2_account account;

	o2_conn_view(conn, &here);
	count(nodes, &here);
	account = (struct o2_account){"unsaid", 1, 0};
	if (limits == NULL || !o2_account_sizes(&here, limits, &account) ||
	    !o2_account_end(&here, limits, &account)) {
		fail_account(nodes, a, b, &account);
		return;
	}
	if (other == NULL)
		return;
	o2_nodes_seen(nodes, O2_NODES_SEEN_BOTH_ENDS);
	o2_conn_view(other, &there);
	if (!o2_account_pair(&here, &there, limits->depth, &account))
		fail_account(nodes, a, b, &account);
}

/* Each connection of a peer counts in exactly one state: attempts of either side and established ones are some. */
static void check_states(const struct o2_nodes *nodes, uint32_t i, uint32_t j,
			 const struct o2_peer_view *view)
{
	if ((uint64_t)view->connecting + view->accepting + view->established > view->links)
		o2_report_fail(nodes->report, "nodes/link-states",
			       "node %" PRIu32 " has %" PRIu32 " connections with node %" PRIu32
			       ", of which it asks for %" PRIu32 ", has accepted %" PRIu32
			       " and established %" PRIu32,
			       i, view->links, j, view->connecting, view->accepting, view->established);
}

/* Each connection, even a closing one, belongs to a peer that its node knows, and has a completion queue. */
static void check_known(struct o2_nodes *nodes)
{
	struct o2_peer_view view;
	uint32_t known = 0, live;

	for (uint32_t i = 0; i < nodes->nseats; i++)
		for (uint32_t j = 0; j < nodes->nseats; j++) {
			o2_node_peer(nodes->seat[i].node, o2_nodes_nid(nodes, j), &view);
			check_states(nodes, i, j, &view);
			known += view.links;
		}
	if (nodes->ground.ops->live_cqs == NULL)
		return;
	live = nodes->ground.ops->live_cqs();
	if (live != known)
		o2_report_fail(nodes->report, "nodes/unknown-peer",
			       "the devices have the completion queues of %" PRIu32
			       " connections, the nodes' peers have %" PRIu32,
			       live, known);
}

void o2_nodes_check_flow(struct o2_nodes *nodes)
{
	const struct o2_conn *conn;

	check_known(nodes);

	for (uint32_t i = 0; i < nodes->nseats; i++)
		for (uint32_t j = 0; j < nodes->nseats; j++) {
			const struct o2_nodes_seat *a = &nodes->seat[i], *b = &nodes->seat[j];

			for (uint32_t n = 0; !nodes->report->failed; n++) {
				conn = i == j ? NULL : o2_node_conn(a->node, o2_nodes_nid(nodes, j), n);
				if (conn == NULL)
					break;
				check_conn(nodes, a, b, conn);
			}
		}
}

static bool conn_rests(const struct o2_nodes_seat *a, const struct o2_nodes_seat *b,
		       const struct o2_conn *conn, struct o2_account *account)
{
	const struct o2_conn *other = other_end(a, b, conn);
	const struct o2_account_limits *limits = limits_of(a, b, conn);
	struct o2_conn_view here, there;

	if (other == NULL || limits == NULL) {
		*account = (struct o2_account){"other-end", 0, 1};
		return false;
	}
	o2_conn_view(conn, &here);
	o2_conn_view(other, &there);
	return o2_account_rest(&here, &there, limits, account);
}

bool o2_nodes_flow_rests(const struct o2_nodes *nodes, struct o2_account *account)
{
	const struct o2_conn *conn;

	for (uint32_t i = 0; i < nodes->nseats; i++)
		for (uint32_t j = 0; j < nodes->nseats; j++)
			for (uint32_t n = 0; i != j; n++) {
				conn = o2_node_conn(nodes->seat[i].node, o2_nodes_nid(nodes, j), n);
				if (conn == NULL)
					break;
				if (!conn_rests(&nodes->seat[i], &nodes->seat[j], conn, account))
					return false;
			}
	return true;
}
