/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <inttypes.h>
#include <stddef.h>
#include <string.h>

#include "lnd/node/negotiate.h"
#include "props/talk/nodes_internal.h"

/* Draws the settings of a node: valid ones, as an administrator could choose them, and invalid ones. */

#define DEPTH_MOST 255u
#define FRAGS_MOST 257u
#define FEW_FRAGS  4u

static uint32_t draw_frags(struct o2_choice *c)
{
	static const uint32_t frags[] = {FRAGS_MOST, FRAGS_MOST - 1, 1, 2, 3, FRAGS_MOST - 2, 0};
	static const uint32_t weights[] = {8, 4, 3, 3, 3, 1, 2};
	uint32_t drawn = frags[o2_draw_weighted(c, weights, 7)];

	return drawn != 0 ? drawn : (uint32_t)o2_draw_range(c, 1, FRAGS_MOST);
}

static void draw_terms(struct o2_choice *c, struct o2_conn_config *conn)
{
	static const uint32_t depths[] = {8, 2, 3, 16};

	conn->queue_depth = depths[o2_draw_pick(c, 4)];
	conn->max_frags = draw_frags(c);
	conn->concurrent_sends = o2_draw_bool(c, 2, 1) ? (uint32_t)o2_draw_range(c, 1, 16) : 0;
	conn->peercredits_hiw = o2_draw_bool(c, 2, 1) ? (uint32_t)o2_draw_range(c, 1, 16) : 0;
}

/* Depths near the limit of the credit byte.  A device has room for them with few fragments, but not with many. */
static void draw_deep_terms(struct o2_choice *c, struct o2_conn_config *conn)
{
	static const uint32_t depths[] = {DEPTH_MOST, DEPTH_MOST - 1, 128, 127, 0};
	static const uint32_t weights[] = {4, 2, 1, 1, 2};
	const uint32_t depth = depths[o2_draw_weighted(c, weights, 5)];

	conn->queue_depth = depth != 0 ? depth : (uint32_t)o2_draw_range(c, 2, DEPTH_MOST);
	conn->max_frags = o2_draw_bool(c, 1, 19) ? (uint32_t)o2_draw_range(c, 1, FEW_FRAGS) : draw_frags(c);
	conn->concurrent_sends = o2_draw_bool(c, 3, 1) ? (uint32_t)o2_draw_range(c, 1, 2 * DEPTH_MOST) : 0;
	conn->peercredits_hiw = o2_draw_bool(c, 1, 1) ? (uint32_t)o2_draw_range(c, 1, DEPTH_MOST) : 0;
}

static void draw_conn(struct o2_choice *c, bool deep, struct o2_conn_config *conn)
{
	static const enum o2_cksum_flavour flavours[] = {O2_CKSUM_UNSIGNED, O2_CKSUM_SIGNED};

	if (deep)
		draw_deep_terms(c, conn);
	else
		draw_terms(c, conn);
	conn->wrq_sge = o2_draw_bool(c, 2, 1) ? (uint32_t)o2_draw_range(c, 1, 4) : O2_DEFAULT_WRQ_SGE;
	conn->version = o2_draw_bool(c, 5, 1) ? O2_MSG_VERSION_1 : O2_MSG_VERSION_2;
	conn->order = o2_draw_bool(c, 3, 1) ? O2_BIG_ENDIAN : O2_LITTLE_ENDIAN;
	conn->cksum_flavour = o2_draw_bool(c, 3, 1) ? flavours[o2_draw_pick(c, 2)] : O2_CKSUM_NONE;
	conn->immediate_gather = o2_draw_bool(c, 1, 1);
}

void o2_nodes_draw_config(const struct o2_nodes *nodes, struct o2_node_config *config)
{
	struct o2_choice *c = nodes->choice;

	*config = O2_NODE_DEFAULTS;
	draw_conn(c, nodes->deep, &config->conn);
	config->conn.retry_count = nodes->ground.ops->retry_count;
	config->conn.ack_timeout = nodes->ground.ops->ack_timeout;
	config->listen = !o2_draw_bool(c, 15, 1);
	config->ranking = o2_draw_bool(c, 3, 1) ? O2_RACE_BY_NID : O2_RACE_BY_WORDS;
	config->conns_per_peer = nodes->deep ? 1 : (uint32_t)o2_draw_range(c, 1, 3);
	config->max_conns_per_peer = (uint32_t)o2_draw_range(c, config->conns_per_peer, 6);
	config->max_waiting = 1 + (uint32_t)o2_draw(c, 15);
}

/* --- settings that are refused --- */

struct refusal {
	const char *field;
	size_t at;
	uint32_t value[4], limit[4]; /* values, and the limit that each of them violates */
	uint32_t nvalues;
};

#define OF(member) offsetof(struct o2_node_config, member)

/* Values just past the limits, and values that would be valid if cut to 8 or 16 bits. */
static const struct refusal refusals[] = {
	{"queue_depth", OF(conn.queue_depth), {256, 1, 0, 65536 + 8}, {DEPTH_MOST, 2, 2, DEPTH_MOST}, 4},
	{"max_frags", OF(conn.max_frags), {258, 0, 65536 + 1, 0}, {FRAGS_MOST, 1, FRAGS_MOST, 0}, 3},
	{"conns_per_peer", OF(conns_per_peer), {0, 128, 256 + 1, 0}, {1, 127, 127, 0}, 3},
	{"max_conns_per_peer", OF(max_conns_per_peer), {0}, {1}, 1},
	{"max_peers", OF(max_peers), {0}, {1}, 1},
	{"max_waiting", OF(max_waiting), {0}, {1}, 1},
};

/* --- a node that may know few others --- */

#define NOBODY_S_NID UINT64_C(0x000500000a630000) /* and the NIDs after it */
#define MOST_PEERS   3u
#define AT_A_TIME    100u /* most attempts in one turn: docs/connection.md */

static void count_done(void *context, uint64_t nid, const struct o2_transfer_result *result)
{
	uint32_t *aborted = context;

	(void)nid;
	*aborted += result->status == -ECONNABORTED;
}

static void crowd_is(struct o2_nodes_seat *seat, const char *what, uint64_t is, uint64_t expected)
{
	if (is != expected)
		o2_report_fail(seat->nodes->report, "nodes/peers",
			       "a node that may know few others: %s is %" PRIu64 ", expected %" PRIu64, what,
			       is, expected);
}

static void crowd_is_full(struct o2_nodes_seat *seat, const struct o2_error *error, const char *rule,
			  uint64_t value, uint64_t limit)
{
	crowd_is(seat, rule, error->rule != NULL && strcmp(error->rule, rule) == 0, true);
	crowd_is(seat, "the field", error->field != NULL && strcmp(error->field, "peers") == 0, true);
	crowd_is(seat, "the value", error->value, value);
	crowd_is(seat, "the limit", error->limit, limit);
	crowd_is(seat, "the kind of limit", error->limit_kind, O2_LIMIT_BOUND);
}

/* An unknown node requests a connection while the node already knows the maximum number of peers. */
static void check_asked(struct o2_nodes_seat *seat, uint32_t npeers, uint32_t most)
{
	const struct o2_connreq_self self = {.nid = 1, .max_peers = most, .max_conns_per_peer = 1};
	const struct o2_connreq request = {.nid = NOBODY_S_NID, .incarnation = 5};
	const struct o2_connreq_known known = {.npeers = npeers};
	struct o2_reject reject = {.ibr_why = 0};
	struct o2_error error;
	int rc;

	o2_error_clear(&error);
	rc = o2_connreq_judge_peer(&self, &request, &known, &reject, &error);
	crowd_is(seat, "the answer to a stranger", (uint64_t)-rc, npeers < most ? 0 : ENOMEM);
	if (rc == 0)
		return;
	crowd_is_full(seat, &error, "connreq/peers", npeers, most);
	crowd_is(seat, "the reason", reject.ibr_why, O2_REJECT_NO_RESOURCES);
}

/* All attempts are due: check that one turn makes as many as it should. */
static void check_turn(struct o2_nodes_seat *seat, struct o2_node *node, uint32_t npeers)
{
	const uint32_t due = npeers * seat->config.conns_per_peer;
	uint32_t made = 0;
	struct o2_peer_view view;

	o2_node_progress(node);
	for (uint32_t i = 0; i < npeers; i++) {
		o2_node_peer(node, NOBODY_S_NID + i, &view);
		made += view.attempts;
	}
	crowd_is(seat, "the attempts of one turn", made, due < AT_A_TIME ? due : AT_A_TIME);
}

/* Check that the node keeps records of max_peers and sends to no other; waiting operations end with the node. */
static void check_crowd(struct o2_nodes_seat *seat)
{
	static const struct o2_node_ops ops = {.done = count_done};
	struct o2_choice *c = seat->nodes->choice;
	/* Only in-process devices have that many queue pairs. */
	const bool inside = seat->nodes->ground.ops->live_cqs != NULL;
	const bool crowded = inside && o2_draw_bool(c, 7, 1);
	const uint32_t most = (uint32_t)(crowded ? o2_draw_range(c, AT_A_TIME - 1, AT_A_TIME + 1)
						 : o2_draw_range(c, 1, MOST_PEERS));
	const struct o2_lnet_hdr hdr = {.type = O2_LNET_ACK};
	struct o2_node_config config = seat->config;
	struct o2_node *node = NULL;
	struct o2_peer_view view;
	struct o2_error error;
	uint32_t aborted = 0;

	config.max_peers = most;
	config.listen = false;
	config.max_waiting = 2;
	if (o2_node_create(&seat->place.ni, seat->cm, &config, &ops, &aborted, &node, NULL) != 0) {
		crowd_is(seat, "the node", false, true);
		return;
	}
	/* Each peer twice: the second time it is known. */
	for (uint32_t i = 0; i < 2 * (most + 1); i++) {
		const uint64_t nid = NOBODY_S_NID + i / 2;
		const bool full = i / 2 == most;
		int rc;

		o2_error_clear(&error);
		rc = o2_node_send(node, nid, &hdr, NULL, &error);
		crowd_is(seat, "the answer to a start", (uint64_t)-rc, full ? EBUSY : 0);
		if (full && rc != 0)
			crowd_is_full(seat, &error, "node/max-peers", most + UINT64_C(1), most);
		o2_node_peer(node, nid, &view);
		crowd_is(seat, "a record", view.known, !full);
		crowd_is(seat, "attempts that are due", view.attempts_due, full ? 0 : config.conns_per_peer);
		crowd_is(seat, "operations that wait", view.waiting, full ? 0 : i % 2 + 1);
	}
	crowd_is(seat, "the number of records", o2_node_npeers(node), most);
	if (inside)
		check_turn(seat, node, most);
	o2_node_destroy(node);
	crowd_is(seat, "what has ended with the node", aborted, 2 * most);
	for (uint32_t npeers = most - 1; npeers <= most + 1; npeers++)
		check_asked(seat, npeers, most);
}

void o2_nodes_check_refusal(struct o2_nodes_seat *seat)
{
	const size_t nrefusals = sizeof(refusals) / sizeof(refusals[0]);
	struct o2_choice *c = seat->nodes->choice;
	const size_t pick = o2_draw_pick(c, nrefusals + 1);
	const struct refusal *row = &refusals[pick % nrefusals];
	const uint32_t n = (uint32_t)o2_draw_pick(c, row->nvalues);
	struct o2_node_config config = seat->config;
	struct o2_node *node = NULL;
	struct o2_error error;
	int rc;

	if (pick == nrefusals) {
		check_crowd(seat);
		return;
	}
	if (row->at == OF(max_conns_per_peer))
		config.conns_per_peer = 1; /* the minimum of max_conns_per_peer */
	memcpy((char *)&config + row->at, &row->value[n], sizeof(row->value[n]));
	o2_error_clear(&error);
	rc = o2_node_create(&seat->place.ni, seat->cm, &config, &o2_nodes_ops, seat, &node, &error);
	if (rc == 0)
		o2_node_destroy(node);
	if (rc != -EINVAL || error.code != rc || error.rule == NULL ||
	    strcmp(error.rule, "node/config") != 0 || strcmp(error.field, row->field) != 0 ||
	    error.index != O2_NO_INDEX || error.value != row->value[n] || error.limit != row->limit[n] ||
	    error.limit_kind != O2_LIMIT_BOUND || error.class != O2_CLASS_NONE)
		o2_report_fail(seat->nodes->report, "nodes/settings",
			       "a node with %s %" PRIu32 " is made with %d, %s: %s is %" PRIu64
			       ", limit %" PRIu64 "; expected %d, limit %" PRIu32,
			       row->field, row->value[n], rc, error.rule != NULL ? error.rule : "no rule",
			       error.rule != NULL ? error.field : "none", error.value, error.limit, -EINVAL,
			       row->limit[n]);
	o2_nodes_seen(seat->nodes, O2_NODES_SEEN_SETTINGS_REFUSED);
}
