/* SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "lnd/ni/path.h"
#include "loopverbs/loopverbs.h"
#include "props/talk/sim_internal.h"
#include "props/talk/wrap/alloc_fault.h"
#include "props/world/device.h"

/* Creates the nodes and connections of a case. */

#define START_MS       1000u
#define FEW_WINDOWS    2u
#define UNMAPPED_EVERY 3u /* of so many pages one has no CPU mapping */
#define LEAST_MSG      148u
#define SHORT_MSG      220u

/* --- nodes --- */

static enum o2_dma_kind kind_of(const struct o2_sim *sim, uint32_t i)
{
	if (i != 0)
		return O2_DMA_VIRTUAL;
	return sim->remapped ? O2_DMA_IOMMU : O2_DMA_BUS;
}

/* True if the case has nodes of its own. */
static bool is_special(const struct o2_sim *sim)
{
	return sim->small || sim->deep;
}

static bool open_node(struct o2_sim *sim, uint32_t i)
{
	static const char *const devices[] = {"loop0", "loop1", "loop0"};
	struct o2_sim_node *node = &sim->node[i];
	const bool capped = sim->small && i == 0; /* its pools may not grow, which the case is not told */
	struct o2_ni_config config = {
		.device = devices[i],
		.gid_index = O2_LOOP_GID_INDEX,
		.nid = O2_SIM_FIRST_NID + i,
		.incarnation = O2_SIM_FIRST_STAMP + i,
		.dma_kind = kind_of(sim, i),
		.dma_base = i == 0 ? O2_SIM_DMA_BASE : 0,
		.bounce = i == 1,
		.arena_pages = o2_sim_pages(sim),
		/* Only the first node may be behind an IOMMU, in this case or in a later one. */
		.plain_arena = i != 0 || (is_special(sim) && !sim->remapped),
		.windows = sim->small ? FEW_WINDOWS : 0,
		.reg_fast = sim->kernel_order && i == 1 ? o2_device_reg_fast() : NULL,
		.max_pools = capped ? 1 : 0,
		.sizes = {.tx_size = sim->small && !capped ? 4 : 64, .reg_size = sim->small ? 2 : 64},
	};
	struct o2_error error;

	o2_error_clear(&error);
	/* The CPU copies to these pages through temporary mappings; a device of kind virtual would refuse them. */
	if (o2_place_open_anew(node->place, &sim->arenas, i == 0 ? UNMAPPED_EVERY : 0, &config, &error) !=
		    0 ||
	    o2_place_remember(node->place, i) != 0) {
		o2_report_fail(sim->report, "sim/open", "node %" PRIu32 " cannot be opened: %d", i,
			       error.code);
		return false;
	}
	o2_clock_tell(&node->place->ni.clock, 0);
	return true;
}

/*
 * Nodes are kept from case to case as long as nothing has happened that a later case could notice, because
 * making an arena takes longer than a case.  Small pools, which have to grow during operation, many
 * operations, and arenas with many pages need separate nodes, made for one case.
 */
static void open_nodes(struct o2_sim *sim)
{
	bool any = false;

	for (uint32_t i = 0; i < O2_SIM_NODES; i++) {
		struct o2_sim_node *node = &sim->node[i];

		if (node->used_up)
			o2_place_close(node->place);
		any |= node->standing.open;
		node->place = is_special(sim) ? &node->special : &node->standing;
		node->used_up = is_special(sim);
		node->next_page = 0;
		node->failed.count = 0;
		node->no_growth_until_ms = 0;
		node->gone = false;
	}
	if (!any)
		o2_loop_reset();
	for (uint32_t i = 0; i < sim->nnodes; i++)
		if (!sim->node[i].place->open && !open_node(sim, i))
			return;
	if (sim->node[0].place->ni.config.dma_kind != kind_of(sim, 0) &&
	    o2_ni_set_dma(&sim->node[0].place->ni, kind_of(sim, 0), O2_SIM_DMA_BASE, NULL) != 0)
		o2_report_fail(sim->report, "sim/open", "the first node cannot have other addresses");
	for (uint32_t i = 0; i < sim->nnodes; i++) {
		o2_sim_posts_watch(sim, sim->node[i].place->ni.context);
		sim->node[i].since_ms = o2_clock_ms(&sim->node[i].place->ni.clock);
	}
}

/* --- ends --- */

struct o2_sim_end *o2_sim_end_of_qp(struct o2_sim *sim, uint32_t qp_num)
{
	for (uint32_t i = 0; i < sim->nends; i++)
		if (sim->end[i].qp_num == qp_num)
			return &sim->end[i];
	return NULL;
}

/* Nodes may be older than the case: their clocks continue. */
void o2_sim_tell_time(struct o2_sim_end *end)
{
	struct o2_sim_node *node = &end->sim->node[end->node];

	node->told_ms = end->sim->now_ms;
	o2_conn_clock(end->conn, node->since_ms + node->told_ms);
}

static int make_end(struct o2_sim *sim, struct o2_sim_end *end, uint32_t depth)
{
	struct o2_conn_config config = sim->config;
	struct o2_conn_address self;
	struct o2_error error;
	int rc;

	config.queue_depth = depth;
	sim->acting = end;
	/* Its receives are fresh pages that nobody has read; scribble only on those posted again. */
	o2_loop_set_option(O2_LOOP_SCRIBBLE, 0);
	rc = o2_conn_create(&sim->node[end->node].place->ni, &config, &o2_sim_conn_ops, end, &end->conn,
			    &error);
	o2_loop_set_option(O2_LOOP_SCRIBBLE, 1);
	o2_sim_fault_after(sim, end);
	sim->acting = NULL;
	if (rc != 0)
		return rc;
	o2_conn_get_address(end->conn, &self);
	end->qp_num = self.qp_num;
	end->depth = self.queue_depth;
	o2_sim_check_sizes(sim, end, &config);
	return 0;
}

static void destroy_end(struct o2_sim *sim, struct o2_sim_end *end)
{
	if (end->conn == NULL)
		return;
	o2_sim_is_closed(end, 0);
	sim->acting = end;
	o2_conn_destroy(end->conn);
	sim->acting = NULL;
	end->conn = NULL;
	if (!end->closed)
		o2_report_fail(sim->report, "sim/never-closed",
			       "end %" PRIu32 " never said that it is closed", end->index);
}

static void add_pair(struct o2_sim *sim, uint32_t a, uint32_t b)
{
	for (uint32_t i = 0; i < 2; i++) {
		struct o2_sim_end *end = &sim->end[sim->nends];

		*end = (struct o2_sim_end){
			.sim = sim,
			.other = &sim->end[i == 0 ? sim->nends + 1 : sim->nends - 1],
			.node = i == 0 ? a : b,
			.index = sim->nends,
		};
		sim->nends++;
	}
}

/*
 * The queue pair is operational before its owner knows that the peer is ready, as on the passive side of a
 * connection manager: messages that arrive meanwhile wait (docs/transport.md, "Setting up").
 */
static int prepare_end(struct o2_sim *sim, struct o2_sim_end *end)
{
	struct o2_conn_address ours, theirs;
	struct o2_conn_peer peer = {
		.version = sim->config.version,
		.queue_depth = end->depth,
		.max_frags = sim->config.max_frags,
		.max_msg_bytes = end->other->max_msg_bytes,
	};
	struct o2_qp_path path = {
		.retry_count = sim->config.retry_count,
		.rnr_retry_count = sim->config.rnr_retry_count,
		.ack_timeout = sim->config.ack_timeout,
	};
	struct o2_error error;
	int rc;

	o2_conn_get_address(end->conn, &ours);
	o2_conn_get_address(end->other->conn, &theirs);
	peer.nid = theirs.nid;
	peer.incarnation = theirs.incarnation;
	path.gid = theirs.gid;
	path.dest_qp_num = theirs.qp_num;
	path.dest_psn = theirs.psn;
	path.psn = ours.psn;
	sim->acting = end;
	rc = o2_conn_set_peer(end->conn, &peer, &error);
	if (rc == 0)
		rc = o2_qp_to_rts(&sim->node[end->node].place->ni, o2_conn_qp(end->conn), &path, &error);
	sim->acting = NULL;
	return rc;
}

void o2_sim_establish(struct o2_sim *sim, struct o2_sim_end *end)
{
	if (end->conn == NULL || o2_conn_get_state(end->conn) != O2_CONN_INIT)
		return;
	o2_sim_log(sim, O2_SIM_EV_ESTABLISH, end, 0, 0);
	sim->acting = end;
	o2_sim_tell_time(end);
	end->posted_ms = sim->now_ms;
	o2_conn_establish(end->conn);
	sim->acting = NULL;
	o2_sim_fault_after(sim, end);
}

static int connect_end(struct o2_sim *sim, struct o2_sim_end *end)
{
	struct o2_conn_address theirs;
	struct o2_error error;
	int rc;

	/* Connecting without a connection manager supports only the default message length. */
	if (end->other->max_msg_bytes != O2_MSG_BYTES) {
		rc = prepare_end(sim, end);
		if (rc == 0)
			o2_sim_establish(sim, end);
		return rc;
	}
	o2_conn_get_address(end->other->conn, &theirs);
	sim->acting = end;
	o2_sim_tell_time(end);
	end->posted_ms = sim->now_ms;
	rc = o2_conn_connect(end->conn, &theirs, &error);
	sim->acting = NULL;
	return rc;
}

/* Tell the witness the terms that both ends must keep. */
static void tell_witness(const struct o2_sim_end *a)
{
	const struct o2_sim *sim = a->sim;
	const uint32_t qp_num[] = {a->qp_num, a->other->qp_num};
	const struct o2_judge_terms terms = {
		.nid = {O2_SIM_FIRST_NID + a->node, O2_SIM_FIRST_NID + a->other->node},
		.stamp = {O2_SIM_FIRST_STAMP + a->node, O2_SIM_FIRST_STAMP + a->other->node},
		.version = sim->config.version,
		.queue_depth = a->depth,
		.max_frags = sim->config.max_frags,
		.max_msg_bytes = {a->max_msg_bytes, a->other->max_msg_bytes},
	};
	uint32_t held;

	held = o2_alloc_fault_hold();
	o2_witness_connected(sim->witness, qp_num, &terms);
	o2_alloc_fault_go_on(held);
}

/* Most ends accept all messages; a few only ones so short that a GET_REQ has room for one or a few fragments. */
static uint32_t draw_max_msg(struct o2_choice *c)
{
	if (!o2_draw_bool(c, 11, 1))
		return O2_MSG_BYTES;
	return (uint32_t)o2_draw_range(c, LEAST_MSG, o2_draw_bool(c, 1, 1) ? SHORT_MSG : O2_MSG_BYTES);
}

/* One end may support more than what is agreed. */
static void make_pair(struct o2_sim *sim, struct o2_sim_end *a, struct o2_sim_end *b)
{
	const uint32_t room = O2_MAX_QUEUE_DEPTH - sim->depth;
	uint32_t more =
		o2_draw_bool(sim->choice, 1, 1) ? (uint32_t)o2_draw(sim->choice, room < 8 ? room : 8) : 0;
	int rc;

	a->max_msg_bytes = draw_max_msg(sim->choice);
	b->max_msg_bytes = draw_max_msg(sim->choice);
	if (sim->faults && o2_draw_bool(sim->choice, 9, 1)) {
		static const enum o2_loop_call calls[] = {O2_LOOP_CALL_MAKE, O2_LOOP_CALL_REGISTER,
							  O2_LOOP_CALL_POST_RECV, O2_LOOP_CALL_MODIFY};
		size_t kind = o2_draw_pick(sim->choice, 5);

		if (kind == 4)
			o2_sim_fault_arm_allocation(sim, 20);
		else
			o2_sim_fault_arm(sim, calls[kind], 4);
	}
	rc = make_end(sim, a, sim->depth + (sim->config.version == O2_MSG_VERSION_2 ? more : 0));
	if (rc == 0)
		rc = make_end(sim, b, sim->depth);
	if (rc == 0) {
		o2_sim_agree(a, b);
		tell_witness(a);
		rc = connect_end(sim, a);
	}
	if (rc == 0)
		rc = o2_draw_bool(sim->choice, 2, 1) ? prepare_end(sim, b) : connect_end(sim, b);
	o2_sim_fault_disarm(sim);
	if (rc == 0)
		return;
	if (!o2_sim_codes_has(&sim->node[a->node].failed, rc) &&
	    !o2_sim_codes_has(&sim->node[b->node].failed, rc))
		o2_report_fail(sim->report, "sim/connect", "connecting ends with %d (%s)", rc, strerror(-rc));
	destroy_end(sim, a);
	destroy_end(sim, b);
}

static void reset(struct o2_sim *sim)
{
	o2_loop_set_option(O2_LOOP_SCRIBBLE, 1);
	sim->nnodes = 0;
	sim->nends = 0;
	sim->nops = 0;
	sim->now_ms = START_MS;
	sim->inside_left = 0;
	sim->acting = NULL;
	sim->at_work = NULL;
	sim->trace = 0;
	sim->events = 0;
	sim->nrunnable = 0;
	sim->close_inside = false;
	sim->witness = o2_witness_new(&sim->now_ms, sim->report);
	if (sim->witness == NULL)
		o2_report_fail(sim->report, "sim/open", "no memory for the witness");
	o2_sim_faults_install(sim);
}

static void make(struct o2_sim *sim)
{
	struct o2_loop_counters counters;

	open_nodes(sim);
	o2_loop_get_counters(&counters);
	sim->rnr_waits = counters.rnr_waits;
	sim->overruns = counters.overruns;
	for (uint32_t a = 0; a < sim->nnodes; a++)
		for (uint32_t b = a + 1; b < sim->nnodes; b++)
			add_pair(sim, a, b);
	for (uint32_t i = 0; i < sim->nends && o2_sim_ok(sim); i += 2)
		make_pair(sim, &sim->end[i], &sim->end[i + 1]);
}

void o2_sim_world_open(struct o2_sim *sim)
{
	reset(sim);
	sim->faults = o2_draw_bool(sim->choice, 1, 1);
	sim->deep = o2_draw_bool(sim->choice, 47, 1);
	sim->wide = o2_draw_bool(sim->choice, sim->deep ? 5 : 31, 1);
	sim->most_ops = sim->deep ? O2_SIM_OPS : O2_SIM_FEW_OPS;
	o2_sim_draw_config(sim);
	if (o2_draw_bool(sim->choice, 4, 1))
		o2_sim_seen(sim, O2_SIM_SEEN_THREE_NODES), sim->nnodes = 3;
	else
		sim->nnodes = 2;
	sim->small = !sim->deep && o2_draw_bool(sim->choice, 5, 2);
	sim->remapped = o2_draw_bool(sim->choice, 7, 1);
	sim->kernel_order = true;
	make(sim);
}

void o2_sim_world_make(struct o2_sim *sim, const struct o2_conn_config *config)
{
	reset(sim);
	sim->faults = false;
	sim->config = *config;
	sim->depth = config->queue_depth;
	sim->nnodes = 2;
	sim->small = sim->deep = sim->wide = false;
	sim->most_ops = O2_SIM_FEW_OPS;
	sim->remapped = false;
	sim->kernel_order = false;
	make(sim);
}

/* Check that every operation has ended; done() reports one that ends twice. */
static void check_ended(struct o2_sim *sim)
{
	for (uint32_t i = 0; i < sim->nops && o2_sim_ok(sim); i++) {
		const struct o2_sim_op *op = &sim->op[i];

		if (op->started && !op->ended)
			o2_report_fail(sim->report, "sim/never-ended",
				       "operation %" PRIu32 " has not ended at its initiator", i);
		if (op->matched && !op->ended_there)
			o2_report_fail(sim->report, "sim/never-ended-there",
				       "operation %" PRIu32 " has not ended at the other end", i);
	}
}

static void close_nodes(struct o2_sim *sim)
{
	for (uint32_t i = 0; i < O2_SIM_NODES; i++) {
		o2_place_close(&sim->node[i].standing);
		o2_place_close(&sim->node[i].special);
	}
}

void o2_sim_world_close(struct o2_sim *sim)
{
	struct o2_loop_counters left;

	if (sim->kmaps_taken)
		o2_sim_fault_disarm(sim);
	for (uint32_t i = 0; i < sim->nends; i++)
		destroy_end(sim, &sim->end[i]);
	if (o2_sim_ok(sim))
		check_ended(sim);
	if (o2_sim_ok(sim))
		o2_sim_memory_check_all(sim);
	for (uint32_t i = 0; i < sim->nnodes; i++)
		if (sim->node[i].place->open)
			o2_place_check_idle(&sim->node[i].place->ni, i, sim->report, "sim/outstanding",
					    "sim/ledger");
	o2_sim_faults_remove();
	o2_witness_free(sim->witness);
	sim->witness = NULL;
	o2_loop_get_counters(&left);
	if (o2_sim_ok(sim) && left.live_qps + left.live_cqs > 0)
		o2_report_fail(sim->report, "sim/left-behind",
			       "the devices still have %" PRIu32 " queue pairs and %" PRIu32
			       " completion queues",
			       left.live_qps, left.live_cqs);
	/* After a failure, discard the nodes with the case. */
	if (!o2_sim_ok(sim))
		close_nodes(sim);
}

void o2_sim_world_free(struct o2_sim *sim)
{
	close_nodes(sim);
	o2_arenas_end(&sim->arenas);
}
