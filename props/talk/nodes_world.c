/* SPDX-License-Identifier: MIT */
#include <inttypes.h>

#include "props/talk/nodes_internal.h"

/* Creates the nodes of a case and their network, anew for each case. */

#define CLOCK_MS     250u
#define REST_MS	     120000u /* more than all deadlines that can follow each other */
#define IDLE_STEP_MS 10000u  /* less than any deadline */

/* Create a node over the open interface, with its events passing through the property. */
static void make_node(struct o2_nodes_seat *seat)
{
	struct o2_error error;

	if (o2_node_create(&seat->place.ni, seat->cm, &seat->config, &o2_nodes_ops, seat, &seat->node,
			   &error) != 0) {
		seat->node = NULL;
		o2_report_fail(seat->nodes->report, "nodes/create", "node %" PRIu32 " cannot be made: %d",
			       seat->index, error.code);
		return;
	}
	seat->early = false;
	o2_nodes_watch(seat);
	o2_node_clock(seat->node, seat->nodes->ground.now_ms);
}

static int open_interface(struct o2_nodes *nodes, struct o2_nodes_seat *seat, struct o2_error *error)
{
	struct o2_ni_config config = {
		.incarnation = 0x0006000000000001ull + seat->index,
		.dma_kind = O2_DMA_VIRTUAL,
		.events = true,
		.bounce = seat->index % 2 == 1,
		.arena_pages = nodes->nseats * O2_NODES_SLOTS * O2_NODES_SLOT_PAGES,
		.sizes = {.tx_size = O2_NODES_TX, .reg_size = O2_NODES_POOL},
		.reg_ops = &o2_nodes_reg_ops,
	};
	int rc = nodes->ground.ops->device(&nodes->ground, seat->index, &config, &seat->address, error);

	if (rc != 0)
		return rc;
	config.nid = o2_nodes_nid(nodes, seat->index);
	return o2_place_open_anew(&seat->place, &nodes->arenas, 0, &config, error);
}

static int learn_device(struct o2_nodes_seat *seat, struct o2_error *error)
{
	struct ibv_device_attr attr;
	const int rc = ibv_query_device(seat->place.ni.context, &attr);

	if (rc != 0)
		return o2_refuse_value(error, -rc, "nodes/device", "ibv_query_device", 0, O2_NO_LIMIT);
	seat->room =
		(struct o2_account_room){.wrs = (uint32_t)attr.max_qp_wr, .cqes = (uint32_t)attr.max_cqe};
	return 0;
}

static void draw_config(struct o2_nodes_seat *seat)
{
	o2_nodes_draw_config(seat->nodes, &seat->config);
	seat->config.conn.cksum_auto = seat->cksum_auto;
	if (seat->cksum_auto)
		seat->config.conn.cksum_flavour = O2_CKSUM_NONE;
}

static void open_seat(struct o2_nodes *nodes, uint32_t i)
{
	struct o2_nodes_seat *seat = &nodes->seat[i];
	struct o2_error error;
	char text[200];

	*seat = (struct o2_nodes_seat){.nodes = nodes, .index = i};
	o2_error_clear(&error);
	seat->cksum_auto = o2_draw_bool(nodes->choice, 1, 1);
	seat->hears_no_sums = seat->cksum_auto && o2_draw_bool(nodes->choice, 1, 1);
	draw_config(seat);
	seat->network = o2_draw_bool(nodes->choice, 3, 1) ? (uint16_t)o2_draw_range(nodes->choice, 1, 3) : 0;
	seat->deaf_until_ms = seat->config.listen ? 0 : UINT64_MAX;
	if (open_interface(nodes, seat, &error) != 0 || o2_place_remember(&seat->place, i) != 0 ||
	    nodes->ground.ops->attach(&nodes->ground, &seat->place.ni, seat->address, &seat->cm, &error) !=
		    0 ||
	    learn_device(seat, &error) != 0) {
		o2_error_text(&error, text, sizeof(text));
		o2_report_fail(nodes->report, "nodes/open", "node %" PRIu32 " cannot be opened: %s", i, text);
		return;
	}
	o2_nodes_hook(seat);
	if (o2_draw_bool(nodes->choice, 3, 1))
		o2_nodes_check_refusal(seat);
	o2_nodes_tap(seat);
	if (nodes->ground.ops->may_fail)
		o2_nodes_posts_watch(seat);
	make_node(seat);
	for (uint32_t j = 0; j < nodes->nseats; j++)
		o2_nodes_unknown(seat, j);
}

static void note_failure(void *context, enum o2_cm_loop_fate fate, uint32_t from, uint32_t to)
{
	struct o2_nodes *nodes = context;
	const uint32_t i = o2_nodes_at(nodes, from), j = o2_nodes_at(nodes, to);
	struct o2_nodes_pair *pair;

	/* One of the addresses is not a node's. */
	if (i >= nodes->nseats || j >= nodes->nseats)
		return;
	pair = &nodes->seat[i].pair[j];
	if (fate == O2_CM_LOOP_LOSE)
		o2_nodes_seen(nodes, O2_NODES_SEEN_LOST);
	/* The event that the sender will receive. */
	pair->unresolved += fate == O2_CM_LOOP_UNRESOLVED;
	pair->unreachable += fate == O2_CM_LOOP_UNREACHABLE;
	pair->refused += fate == O2_CM_LOOP_REFUSE;
}

/* True if a node is about to be told about its connection.  Closing may need one more step of the node. */
static bool expects(void *context)
{
	const struct o2_nodes *nodes = context;

	for (uint32_t i = 0; i < nodes->nseats; i++) {
		struct o2_peer_view view;

		o2_node_peer(nodes->seat[i].node, o2_nodes_nid(nodes, 1 - i), &view);
		if (view.connecting + view.accepting > 0)
			return true;
	}
	return false;
}

void o2_nodes_open(struct o2_nodes *nodes)
{
	const struct o2_ground_ops *ops = nodes->run->ground;
	struct o2_error error;
	char text[200];

	nodes->nseats = 0;
	nodes->ground = (struct o2_ground){
		.ops = ops,
		.devices = nodes->run->devices,
		.choice = nodes->choice,
		.report = nodes->report,
		.property = "nodes",
		.context = nodes,
		.failed = note_failure,
		.expects = expects,
	};
	if (ops->open(&nodes->ground, &error) != 0) {
		o2_error_text(&error, text, sizeof(text));
		o2_report_fail(nodes->report, "nodes/open", "there is no network: %s", text);
		return;
	}
	nodes->deep = ops->may_fail && o2_draw_bool(nodes->choice, 15, 1);
	nodes->ground.faults = ops->may_fail && o2_draw_bool(nodes->choice, 1, 1);
	nodes->nseats = ops->most_nodes > 2 && o2_draw_bool(nodes->choice, 2, 1) ? 3 : 2;
	if (nodes->nseats == 3)
		o2_nodes_seen(nodes, O2_NODES_SEEN_THREE);
	for (uint32_t i = 0; i < nodes->nseats; i++)
		nodes->seat[i] = (struct o2_nodes_seat){.nodes = nodes, .index = i};
	for (uint32_t i = 0; i < nodes->nseats && !nodes->report->failed; i++)
		open_seat(nodes, i);
}

/* Destroying a node ends all its connections. */
static void destroy_node(struct o2_nodes_seat *seat)
{
	if (seat->node == NULL)
		return;
	o2_nodes_begin(seat, O2_NODES_ENDS_ALL, O2_NODES_MAX, 0);
	o2_node_destroy(seat->node);
	seat->node = NULL;
	for (uint32_t n = 0; n < O2_NODES_ENDS; n++) {
		if (seat->end[n].id != NULL && !seat->end[n].gone)
			o2_report_fail(seat->nodes->report, "nodes/left-behind",
				       "node %" PRIu32
				       " is gone, and has an end of a connection with node %" PRIu32,
				       seat->index, seat->end[n].to);
		else if (seat->end[n].id != NULL)
			o2_nodes_check_told_gone(seat, &seat->end[n]);
		seat->end[n] = (struct o2_nodes_end){.id = NULL};
	}
	o2_nodes_finish(seat);
}

/*
 * Restart the node: another life on the same interface, perhaps with other settings.  If its port was
 * listened on, it stays so, because the connection manager outlives the node.
 */
void o2_nodes_restart(struct o2_nodes_seat *seat)
{
	bool listens = seat->config.listen;

	destroy_node(seat);
	seat->place.ni.config.incarnation += O2_NODES_MAX;
	if (o2_draw_bool(seat->nodes->choice, 1, 1)) {
		draw_config(seat);
		o2_nodes_seen(seat->nodes, O2_NODES_SEEN_RECONFIGURED);
	}
	seat->config.listen |= listens;
	make_node(seat);
	/* With a kernel, the listener is a new one. */
	seat->deaf_until_ms = seat->config.listen ? seat->nodes->ground.now_ms : UINT64_MAX;
	for (uint32_t j = 0; j < seat->nodes->nseats; j++) {
		seat->pair[j].was_up = false;
		o2_nodes_unknown(seat, j);
	}
	o2_nodes_seen(seat->nodes, O2_NODES_SEEN_RESTART);
}

void o2_nodes_close_peer(struct o2_nodes_seat *seat, uint32_t to, int code)
{
	o2_nodes_begin(seat, O2_NODES_CLOSES, to, code);
	seat->now.starts_again = seat->starts_inside && o2_nodes_count_ends(seat, to, true) == 0;
	o2_node_close_peer(seat->node, o2_nodes_nid(seat->nodes, to), code);
	o2_nodes_finish(seat);
	o2_nodes_seen(seat->nodes, O2_NODES_SEEN_CLOSE);
}

/* Put the queue pair of a connection into error, as if it failed by itself. */
void o2_nodes_kill(struct o2_nodes_seat *seat, uint32_t to)
{
	struct o2_conn *conn = o2_node_conn(seat->node, o2_nodes_nid(seat->nodes, to), 0);
	struct ibv_qp_attr attr = {.qp_state = IBV_QPS_ERR};
	struct o2_nodes_end *end;

	if (conn == NULL)
		return;
	end = o2_nodes_end_of(seat, to, o2_conn_qp(conn)->qp_num);
	if (end != NULL)
		end->killed = true;
	if (ibv_modify_qp(o2_conn_qp(conn), &attr, IBV_QP_STATE) != 0)
		o2_report_fail(seat->nodes->report, "nodes/kill", "a queue pair cannot be put into error");
	o2_nodes_seen(seat->nodes, O2_NODES_SEEN_KILL);
}

void o2_nodes_clock(struct o2_nodes *nodes, uint64_t ms)
{
	nodes->ground.ops->pass(&nodes->ground, ms);
	for (uint32_t i = 0; i < nodes->nseats; i++) {
		o2_nodes_begin(&nodes->seat[i], O2_NODES_IS_TOLD_THE_TIME, O2_NODES_MAX, 0);
		o2_node_clock(nodes->seat[i].node, nodes->ground.now_ms);
		o2_nodes_finish(&nodes->seat[i]);
	}
}

static bool at_rest(const struct o2_nodes *nodes, struct o2_account *account)
{
	*account = (struct o2_account){.what = "operations"};
	for (uint32_t i = 0; i < nodes->nseats; i++)
		for (uint32_t j = 0; j < nodes->nseats; j++) {
			struct o2_peer_view here, there;

			if (i == j)
				continue;
			o2_node_peer(nodes->seat[i].node, o2_nodes_nid(nodes, j), &here);
			o2_node_peer(nodes->seat[j].node, o2_nodes_nid(nodes, i), &there);
			if (here.links != here.established || here.established != there.established ||
			    here.attempts_due + here.waiting > 0)
				return false;
		}
	return o2_nodes_all_ended(nodes) && o2_nodes_flow_rests(nodes, account);
}

/* Handle all pending events of all nodes; returns their number. */
static int pump_all(void *context)
{
	struct o2_nodes *nodes = context;
	int handled = 0;

	for (uint32_t i = 0; i < nodes->nseats; i++)
		handled += o2_nodes_progress(&nodes->seat[i]);
	handled += o2_ground_pump(&nodes->ground);
	if (handled > 0)
		o2_nodes_check_flow(nodes);
	return handled;
}

static bool rests(void *context)
{
	struct o2_account account;

	return at_rest(context, &account);
}

static void exhaust(struct o2_nodes *nodes)
{
	o2_ground_exhaust(&nodes->ground, pump_all, rests);
}

/* Small steps while anything is in flight, because a slow device may still be working on it. */
void o2_nodes_let_pass(struct o2_nodes *nodes, uint64_t ms)
{
	for (uint64_t step; ms > 0 && !nodes->report->failed; ms -= step) {
		step = rests(nodes) ? IDLE_STEP_MS : CLOCK_MS;
		step = ms < step ? ms : step;
		o2_nodes_clock(nodes, step);
		exhaust(nodes);
	}
}

/* End all network faults and let time pass: everything must end. */
void o2_nodes_settle(struct o2_nodes *nodes)
{
	struct o2_account account;
	uint64_t end_ms;

	nodes->ground.faults = false;
	for (uint32_t i = 0; i < nodes->nseats; i++) {
		nodes->seat[i].early = false;
		o2_node_set_up(nodes->seat[i].node, true);
	}
	exhaust(nodes);
	end_ms = nodes->ground.now_ms + REST_MS;
	while (nodes->ground.now_ms < end_ms && !nodes->report->failed && !at_rest(nodes, &account)) {
		o2_nodes_clock(nodes, CLOCK_MS);
		exhaust(nodes);
	}
	if (nodes->report->failed)
		return;
	o2_nodes_check_ended(nodes);
	o2_nodes_check_ends(nodes);
	if (!at_rest(nodes, &account))
		o2_report_fail(nodes->report, "nodes/restless",
			       "the nodes have not come to rest in %u ms; %s: %" PRIu64 ", expected %" PRIu64,
			       REST_MS, account.what, account.is, account.expected);
}

/* With the nodes gone, the devices have what the interfaces account for. */
static void check_left_behind(struct o2_nodes *nodes)
{
	uint32_t interfaces = 0;
	uint64_t regions = 0;

	for (uint32_t i = 0; i < nodes->nseats; i++)
		o2_place_count(&nodes->seat[i].place, &interfaces, &regions);
	o2_ground_check_left(&nodes->ground, interfaces, regions);
}

/* Also called after a failure, when only the nodes themselves are known to be valid. */
void o2_nodes_close(struct o2_nodes *nodes)
{
	struct o2_ground *ground = &nodes->ground;

	ground->faults = false;
	for (uint32_t i = 0; i < nodes->nseats; i++) {
		destroy_node(&nodes->seat[i]);
	}
	while (nodes->nseats > 0 && o2_ground_pump(&nodes->ground) > 0)
		;
	for (uint32_t i = 0; i < nodes->nseats; i++)
		o2_place_check_idle(&nodes->seat[i].place.ni, i, nodes->report, "nodes/outstanding",
				    "nodes/ledger");
	check_left_behind(nodes);
	for (uint32_t i = 0; i < nodes->nseats; i++) {
		struct o2_nodes_seat *seat = &nodes->seat[i];

		if (seat->cm != NULL)
			ground->ops->detach(ground, seat->cm);
		o2_place_close(&seat->place);
	}
	ground->ops->close(ground);
	check_left_behind(nodes);
}
