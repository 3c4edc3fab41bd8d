/* SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <stdlib.h>

#include "lnd/ni_counts.h"
#include "loopverbs/loopverbs.h"
#include "props/nodes_internal.h"

/* The nodes of a case, made anew for each, and their network. */

#define PAGES	    ((1 + O2_NODES_MAX) * O2_NODES_OPS)
#define ADDRESS	    0xc0a80a01u
#define START_MS    1000u
#define CLOCK_MS    250u
#define REST_MS	    120000u /* more than all deadlines that can follow each other */
#define REST_EVENTS 100000u /* at one time */

static enum o2_cm_loop_fate draw_fate(void *arg, enum o2_cm_loop_message message, uint32_t from, uint32_t to)
{
	static const uint32_t weights[] = {40, 2, 2, 1, 1};
	struct o2_nodes *nodes = arg;
	/* Only requests can be answered by the network itself; the news of an end just gets lost. */
	size_t n = message == O2_CM_LOOP_REQUEST ? 5 : message == O2_CM_LOOP_DISCONNECT ? 2 : 3;
	enum o2_cm_loop_fate fate = O2_CM_LOOP_PASS;

	(void)from;
	(void)to;
	if (nodes->faults)
		fate = (enum o2_cm_loop_fate)o2_draw_weighted(nodes->choice, weights, n);
	if (fate == O2_CM_LOOP_LOSE)
		o2_nodes_seen(nodes, O2_NODES_SEEN_LOST);
	return fate;
}

static void draw_config(struct o2_choice *c, struct o2_node_config *config)
{
	static const uint32_t depths[] = {8, 2, 3, 16};
	struct o2_conn_config *conn = &config->conn;

	*config = O2_NODE_DEFAULTS;
	conn->queue_depth = depths[o2_draw_pick(c, 4)];
	conn->max_frags = o2_draw_bool(c, 3, 1) ? O2_MAX_FRAGS_LEGACY : O2_MAX_FRAGS;
	conn->version = o2_draw_bool(c, 5, 1) ? O2_MSG_VERSION_1 : O2_MSG_VERSION_2;
	conn->order = o2_draw_bool(c, 3, 1) ? O2_BIG_ENDIAN : O2_LITTLE_ENDIAN;
	conn->cksum_flavour = o2_draw_bool(c, 3, 1) ? O2_CKSUM_UNSIGNED : O2_CKSUM_NONE;
	conn->concurrent_sends = o2_draw_bool(c, 2, 1) ? (uint32_t)o2_draw_range(c, 1, 16) : 0;
	conn->peercredits_hiw = o2_draw_bool(c, 2, 1) ? (uint32_t)o2_draw_range(c, 1, 16) : 0;
	conn->retry_count = 2;
	config->ranking = o2_draw_bool(c, 3, 1) ? O2_RACE_BY_NID : O2_RACE_BY_WORDS;
	config->conns_per_peer = (uint32_t)o2_draw_range(c, 1, 3);
	config->max_conns_per_peer = (uint32_t)o2_draw_range(c, config->conns_per_peer, 6);
	config->max_waiting = 1 + (uint32_t)o2_draw(c, 15);
}

/* A node over the interface that is there, with our eye on its events. */
static void make_node(struct o2_nodes_seat *seat)
{
	struct o2_error error;

	if (o2_node_create(&seat->ni, seat->cm, &seat->config, &o2_nodes_ops, seat, &seat->node, &error) !=
	    0) {
		seat->node = NULL;
		o2_report_fail(seat->nodes->report, "nodes/create", "node %" PRIu32 " cannot be made: %d",
			       seat->index, error.code);
		return;
	}
	o2_nodes_watch(seat);
	o2_node_clock(seat->node, seat->nodes->now_ms);
}

static void open_seat(struct o2_nodes *nodes, uint32_t i)
{
	static const char *const devices[] = {"loop0", "loop1", "loop0"};
	struct o2_nodes_seat *seat = &nodes->seat[i];
	struct o2_ni_config config = {
		.device = devices[i],
		.port = 1,
		.gid_index = O2_LOOP_GID_INDEX,
		.nid = o2_nodes_nid(i),
		.incarnation = 0x0006000000000001ull + i,
		.dma_kind = O2_DMA_VIRTUAL,
		.arena_pages = PAGES,
		.sizes = {.tx_size = 8, .reg_size = 2},
	};
	struct o2_error error;

	*seat = (struct o2_nodes_seat){.nodes = nodes, .index = i};
	draw_config(nodes->choice, &seat->config);
	seat->open = o2_ni_open(&config, &seat->ni, &error) == 0;
	if (!seat->open || o2_cm_loop_attach(nodes->loop, &seat->ni, ADDRESS + i, &seat->cm, &error) != 0) {
		o2_report_fail(nodes->report, "nodes/open", "node %" PRIu32 " cannot be opened: %d", i,
			       error.code);
		return;
	}
	make_node(seat);
}

void o2_nodes_open(struct o2_nodes *nodes)
{
	o2_loop_reset();
	nodes->now_ms = START_MS;
	nodes->nseats = 0;
	nodes->loop = o2_cm_loop_create();
	if (nodes->loop == NULL) {
		o2_report_fail(nodes->report, "nodes/memory", "no memory for a network");
		return;
	}
	o2_cm_loop_set_fate(nodes->loop, draw_fate, nodes);
	nodes->faults = o2_draw_bool(nodes->choice, 1, 1);
	nodes->nseats = o2_draw_bool(nodes->choice, 2, 1) ? 3 : 2;
	if (nodes->nseats == 3)
		o2_nodes_seen(nodes, O2_NODES_SEEN_THREE);
	for (uint32_t i = 0; i < nodes->nseats; i++)
		open_seat(nodes, i);
}

/* Another life of the node, on the same interface. */
void o2_nodes_restart(struct o2_nodes_seat *seat)
{
	o2_node_destroy(seat->node);
	seat->node = NULL;
	seat->ni.config.incarnation += O2_NODES_MAX;
	for (uint32_t j = 0; j < O2_NODES_MAX; j++)
		seat->pair[j] = (struct o2_nodes_pair){.told = 0};
	make_node(seat);
	o2_nodes_seen(seat->nodes, O2_NODES_SEEN_RESTART);
}

void o2_nodes_clock(struct o2_nodes *nodes, uint64_t ms)
{
	nodes->now_ms += ms;
	for (uint32_t i = 0; i < nodes->nseats; i++)
		o2_node_clock(nodes->seat[i].node, nodes->now_ms);
}

/* Until nothing happens any more at this time; what is due is started in one round, and ends in others. */
static void exhaust(struct o2_nodes *nodes)
{
	uint32_t quiet = 0;

	for (uint32_t round = 0; quiet < 3 && !nodes->report->failed; round++) {
		int handled = 0;

		for (uint32_t i = 0; i < nodes->nseats; i++)
			handled += o2_node_progress(nodes->seat[i].node);
		handled += o2_cm_loop_deliver(nodes->loop, 0);
		quiet = handled > 0 ? 0 : quiet + 1;
		o2_nodes_forget(nodes);
		if (round == REST_EVENTS)
			o2_report_fail(nodes->report, "nodes/restless", "%u rounds, and still no rest",
				       REST_EVENTS);
	}
}

static bool at_rest(const struct o2_nodes *nodes)
{
	for (uint32_t i = 0; i < nodes->nseats; i++)
		for (uint32_t j = 0; j < nodes->nseats; j++) {
			struct o2_peer_view here, there;

			if (i == j)
				continue;
			o2_node_peer(nodes->seat[i].node, o2_nodes_nid(j), &here);
			o2_node_peer(nodes->seat[j].node, o2_nodes_nid(i), &there);
			if (here.links != here.established || here.established != there.established ||
			    here.attempts_due + here.waiting > 0)
				return false;
		}
	return o2_nodes_all_ended(nodes);
}

/* The network gets well, and time goes by: everything has an end. */
void o2_nodes_settle(struct o2_nodes *nodes)
{
	nodes->faults = false;
	exhaust(nodes);
	for (uint64_t ms = 0; ms < REST_MS && !at_rest(nodes) && !nodes->report->failed; ms += CLOCK_MS) {
		o2_nodes_clock(nodes, CLOCK_MS);
		exhaust(nodes);
	}
	if (nodes->report->failed)
		return;
	o2_nodes_check_ended(nodes);
	o2_nodes_check_ends(nodes);
	if (!at_rest(nodes))
		o2_report_fail(nodes->report, "nodes/restless", "the nodes have not come to rest in %u ms",
			       REST_MS);
}

static void check_idle(struct o2_nodes *nodes, struct o2_nodes_seat *seat)
{
	struct o2_error error;
	char text[200];

	o2_error_clear(&error);
	if (o2_ni_check_idle(&seat->ni, &error) != 0) {
		o2_error_text(&error, text, sizeof(text));
		o2_report_fail(nodes->report, "nodes/outstanding", "node %" PRIu32 ": %s", seat->index, text);
	}
	if (!o2_ledger_balanced(&seat->ni.ledger))
		o2_report_fail(nodes->report, "nodes/ledger", "node %" PRIu32 ": the ledger does not balance",
			       seat->index);
}

/* Also after a failure, when only the nodes themselves may be trusted to be there. */
void o2_nodes_close(struct o2_nodes *nodes)
{
	struct o2_loop_counters left;

	nodes->faults = false;
	for (uint32_t i = 0; i < nodes->nseats; i++) {
		o2_node_destroy(nodes->seat[i].node);
		nodes->seat[i].node = NULL;
	}
	while (nodes->loop != NULL && o2_cm_loop_deliver(nodes->loop, 0))
		;
	for (uint32_t i = 0; i < nodes->nseats; i++) {
		struct o2_nodes_seat *seat = &nodes->seat[i];

		if (!nodes->report->failed)
			check_idle(nodes, seat);
		if (seat->cm != NULL)
			o2_cm_loop_detach(seat->cm);
		if (seat->open)
			o2_ni_close(&seat->ni);
	}
	o2_cm_loop_destroy(nodes->loop);
	nodes->loop = NULL;
	o2_loop_get_counters(&left);
	if (!nodes->report->failed &&
	    left.live_qps + left.live_cqs + left.live_mrs + left.live_pds + left.live_contexts > 0)
		o2_report_fail(nodes->report, "nodes/left-behind",
			       "the devices still have objects of the nodes");
}
