/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "props/lnet/endpoints_internal.h"

/* Creates and destroys the endpoints of a case, and applies failures to them. */

#define ANSWERS 2u /* an operation and its ACK or REPLY */

static void draw_node(const struct o2_endpoints *endpoints, struct o2_node_config *config)
{
	static const uint32_t depths[] = {8, 2, 4, 32, O2_MAX_QUEUE_DEPTH};
	static const uint32_t weights[] = {20, 4, 4, 2, 1};
	struct o2_choice *c = endpoints->choice;

	*config = O2_NODE_DEFAULTS;
	config->conn.queue_depth = depths[o2_draw_weighted(c, weights, 5)];
	/* As o2ref: room for all open operations with a peer and for messages already received (docs/peer.md). */
	config->conn.max_transfers = ANSWERS * o2_endpoints_most(endpoints) + 2 * config->conn.queue_depth;
	config->max_waiting = config->conn.max_transfers;
	config->conn.cksum_auto = o2_draw_bool(c, 3, 1);
	config->conn.immediate_gather = o2_draw_bool(c, 1, 1);
	config->conn.retry_count = endpoints->ground.ops->retry_count;
	config->conn.ack_timeout = endpoints->ground.ops->ack_timeout;
	config->conns_per_peer = o2_draw_bool(c, 7, 1) ? 2 : 1;
}

static void draw_lnet(struct o2_endpoints_seat *seat)
{
	/* On a kernel device time also passes by itself, so time-outs are longer. */
	static const uint32_t timeouts_ms[2][2] = {{50000, 3000}, {50000, 10000}};
	struct o2_endpoints *endpoints = seat->endpoints;
	struct o2_choice *c = endpoints->choice;
	const bool passes = endpoints->ground.ops->moment_ms > 0;

	seat->lnet_config = O2_LNET_DEFAULTS;
	seat->lnet_config.nid = o2_endpoints_nid(endpoints, seat->index);
	seat->lnet_config.pid = o2_draw_bool(c, 7, 1) ? 7 : O2_LNET_PID_KERNEL;
	seat->lnet_config.ping_features = o2_draw_bool(c, 3, 1) ? 0x1e : 0xe;
	seat->lnet_config.max_entries = O2_ENDPOINTS_ENTRIES;
	seat->lnet_config.max_messages = ANSWERS * endpoints->nseats * o2_endpoints_most(endpoints);
	seat->lnet_config.response_timeout_ms = timeouts_ms[passes][o2_draw_pick(c, 2)];
}

static void down(void *context, uint64_t nid, const struct o2_transfer_fault *fault)
{
	struct o2_endpoints_seat *seat = context;
	struct o2_endpoints *endpoints = seat->endpoints;
	const uint32_t peer = o2_endpoints_index(endpoints, nid);
	char text[400];

	seat->downs++;
	seat->fault = *fault;
	if (seat->endpoint.fault.side != fault->side || seat->endpoint.fault.code != fault->code ||
	    seat->endpoint.fault.error.rule != fault->error.rule)
		o2_report_fail(endpoints->report, "endpoint/down",
			       "endpoint %" PRIu32 " does not keep how its last connection has ended",
			       seat->index);
	if (o2_endpoints_may_go_down(endpoints->cause[seat->index][peer], fault))
		return;
	o2_fault_text(fault, text, sizeof(text));
	o2_report_fail(endpoints->report, "endpoint/down",
		       "endpoint %" PRIu32 " loses a connection with endpoint %" PRIu32 ": %s; causes 0x%x",
		       seat->index, peer, text, endpoints->cause[seat->index][peer]);
}

/* Begin a life of an endpoint, as `o2ref serve` does: deadlines count from now on. */
static void begin(struct o2_endpoints_seat *seat)
{
	struct o2_endpoints *endpoints = seat->endpoints;
	struct o2_choice *c = endpoints->choice;
	struct o2_error error;

	seat->lnet_config.interface_cookie = ((uint64_t)seat->index << 32) + ++seat->life;
	seat->lnet_config.ping_sequence = seat->life;
	seat->nstarted = 0;
	o2_endpoints_offer_lnet(seat);
	if (o2_endpoint_open(&seat->place.ni, seat->cm, &seat->node_config, &seat->lnet_config,
			     &o2_endpoints_ops, seat, &seat->endpoint, &error) != 0) {
		o2_report_fail(endpoints->report, "endpoint/create",
			       "endpoint %" PRIu32 " cannot be opened: %d", seat->index, error.code);
		return;
	}
	seat->open = true;
	seat->endpoint.down = down;
	o2_endpoint_clock(&seat->endpoint, endpoints->ground.now_ms);
	for (uint32_t n = (uint32_t)o2_draw_range(c, 1, 5); n > 0 && !endpoints->report->failed; n--)
		o2_endpoints_attach(seat);
}

static int open_place(struct o2_endpoints_seat *seat, struct o2_error *error)
{
	struct o2_endpoints *endpoints = seat->endpoints;
	struct o2_ni_config config = {
		.events = seat->index % 2 == 0,
		.incarnation = 0x0006000000000001ull + seat->index,
		.dma_kind = O2_DMA_BUS,
		.arena_pages = o2_endpoints_pages(endpoints),
		.plain_arena = true,
		.windows = o2_draw_bool(endpoints->choice, 2, 1)
				   ? (uint32_t)o2_draw_range(endpoints->choice, 2, 4)
				   : 0,
		.sizes = {.tx_size = 8, .reg_size = 4},
		.work_ops = &seat->work_ops,
	};
	int rc;

	seat->sleeper = config.events;
	seat->asleep = false;
	rc = endpoints->ground.ops->device(&endpoints->ground, seat->index, &config, &seat->address, error);

	if (rc != 0)
		return rc;
	config.nid = o2_endpoints_nid(endpoints, seat->index);
	o2_endpoints_watch(seat);
	rc = o2_place_open_anew(&seat->place, &endpoints->arenas, 0, &config, error);
	if (rc == 0)
		rc = o2_place_remember(&seat->place, seat->index);
	if (rc == 0)
		rc = endpoints->ground.ops->attach(&endpoints->ground, &seat->place.ni, seat->address,
						   &seat->cm, error);
	return rc;
}

static void open_seat(struct o2_endpoints_seat *seat)
{
	struct o2_error error;
	char text[200];

	o2_error_clear(&error);
	if (open_place(seat, &error) != 0) {
		o2_error_text(&error, text, sizeof(text));
		o2_report_fail(seat->endpoints->report, "endpoint/open",
			       "endpoint %" PRIu32 " has no place: %s", seat->index, text);
		return;
	}
	draw_node(seat->endpoints, &seat->node_config);
	draw_lnet(seat);
	if (seat->node_config.conn.queue_depth == O2_MAX_QUEUE_DEPTH)
		o2_endpoints_seen(seat->endpoints, O2_ENDPOINTS_SEEN_DEEP);
}

static void network_failed(void *context, enum o2_cm_loop_fate fate, uint32_t from, uint32_t to)
{
	struct o2_endpoints *endpoints = context;
	const uint64_t net = 0x0005000000000000ull;

	(void)fate;
	o2_endpoints_blame(endpoints, o2_endpoints_index(endpoints, net | from),
			   o2_endpoints_index(endpoints, net | to), O2_ENDPOINTS_BY_NETWORK);
	o2_endpoints_seen(endpoints, O2_ENDPOINTS_SEEN_NETWORK_FAILED);
}

/* True if an endpoint is about to receive an event of a connection that it makes, or has ended. */
static bool expects(void *context)
{
	const struct o2_endpoints *endpoints = context;
	struct o2_peer_view view;

	for (uint32_t i = 0; i < endpoints->nseats; i++) {
		if (!endpoints->seat[i].open)
			continue;
		o2_node_peer(endpoints->seat[i].endpoint.node, o2_endpoints_nid(endpoints, 1 - i), &view);
		if (view.links > view.established)
			return true;
	}
	return false;
}

static uint32_t draw_seats(struct o2_endpoints *endpoints)
{
	static const uint32_t weights[] = {6, 2, 1};
	uint32_t n = 2;

	if (endpoints->ground.ops->most_nodes > 2)
		n += (uint32_t)o2_draw_weighted(endpoints->choice, weights, 3);
	if (n == 3)
		o2_endpoints_seen(endpoints, O2_ENDPOINTS_SEEN_THREE);
	if (n == 4)
		o2_endpoints_seen(endpoints, O2_ENDPOINTS_SEEN_FOUR);
	return n;
}

static void reset_seat(struct o2_endpoints *endpoints, uint32_t i)
{
	struct o2_endpoints_seat *seat = &endpoints->seat[i];

	seat->endpoints = endpoints;
	seat->index = i;
	seat->place = (struct o2_place){0};
	seat->cm = NULL;
	seat->open = seat->closing = false;
	seat->life = seat->nops = seat->nlarge = seat->downs = 0;
	seat->fault = (struct o2_transfer_fault){0};
}

void o2_endpoints_open(struct o2_endpoints *endpoints)
{
	const struct o2_ground_ops *ops = endpoints->run->ground;
	struct o2_error error;

	endpoints->ground = (struct o2_ground){
		.ops = ops,
		.devices = endpoints->run->devices,
		.choice = endpoints->choice,
		.report = endpoints->report,
		.property = "endpoint",
		.context = endpoints,
		.failed = network_failed,
		.expects = expects,
	};
	endpoints->nseats = 0;
	endpoints->serial = 0;
	endpoints->trap = (struct o2_endpoints_trap){.armed = false};
	if (ops->open(&endpoints->ground, &error) != 0) {
		o2_report_fail(endpoints->report, "endpoint/open", "there is no network: %d", error.code);
		return;
	}
	endpoints->exhausted_ms = endpoints->told_ms = endpoints->ground.now_ms;
	endpoints->step_ms = 0;
	endpoints->nseats = draw_seats(endpoints);
	endpoints->many = o2_draw_bool(endpoints->choice, 23, 1);
	endpoints->trouble = o2_draw_bool(endpoints->choice, 1, 1);
	endpoints->ground.faults =
		ops->may_fail && endpoints->trouble && o2_draw_bool(endpoints->choice, 2, 1);
	for (uint32_t i = 0; i < endpoints->nseats; i++)
		reset_seat(endpoints, i);
	o2_endpoints_forgive(endpoints);
	for (uint32_t i = 0; i < endpoints->nseats && !endpoints->report->failed; i++)
		open_seat(&endpoints->seat[i]);
	for (uint32_t i = 0; i < endpoints->nseats && !endpoints->report->failed; i++)
		begin(&endpoints->seat[i]);
}

/* --- what a case does to them --- */

static void leave(struct o2_endpoints_seat *seat)
{
	struct o2_endpoints *endpoints = seat->endpoints;

	if (!seat->open)
		return;
	o2_endpoints_blame_all(endpoints, seat->index, O2_ENDPOINTS_BY_LEAVE);
	seat->closing = true;
	o2_endpoint_close(&seat->endpoint);
	seat->closing = seat->open = false;
}

void o2_endpoints_leave(struct o2_endpoints_seat *seat)
{
	if (seat->open)
		o2_endpoints_seen(seat->endpoints, O2_ENDPOINTS_SEEN_LEFT);
	leave(seat);
}

void o2_endpoints_return(struct o2_endpoints_seat *seat)
{
	if (seat->open)
		return;
	seat->place.ni.config.incarnation += O2_ENDPOINTS_MAX;
	begin(seat);
	o2_endpoints_seen(seat->endpoints, O2_ENDPOINTS_SEEN_RETURNED);
}

bool o2_endpoints_kill(struct o2_endpoints_seat *seat, uint32_t to)
{
	struct o2_endpoints *endpoints = seat->endpoints;
	struct ibv_qp_attr attr = {.qp_state = IBV_QPS_ERR};
	struct o2_conn *conn =
		seat->open ? o2_node_conn(seat->endpoint.node, o2_endpoints_nid(endpoints, to), 0) : NULL;

	if (conn == NULL)
		return false;
	o2_endpoints_blame(endpoints, seat->index, to, O2_ENDPOINTS_BY_KILL);
	if (ibv_modify_qp(o2_conn_qp(conn), &attr, IBV_QP_STATE) != 0)
		o2_report_fail(endpoints->report, "endpoint/kill", "a queue pair cannot be put into error");
	o2_endpoints_seen(endpoints, O2_ENDPOINTS_SEEN_KILLED);
	return true;
}

/* A connection has ended because its completion queue could not be armed, or not be polled then. */
static void check_arm_failed(struct o2_endpoints *endpoints, const struct o2_transfer_fault *fault)
{
	const bool polled = fault->error.rule != NULL && strcmp(fault->error.rule, "conn/poll") == 0;
	const char *rule = polled ? "conn/poll" : "conn/arm";
	const char *field = polled ? "ibv_poll_cq" : "ibv_req_notify_cq";
	const uint64_t value = polled ? 1 : EIO; /* the poll returns -1 */

	if (fault->side != O2_FAULT_DEVICE || fault->code != -EIO || fault->error.code != -EIO ||
	    fault->error.rule == NULL || strcmp(fault->error.rule, rule) != 0 || fault->error.field == NULL ||
	    strcmp(fault->error.field, field) != 0 || fault->error.value != value)
		o2_report_fail(endpoints->report, "endpoint/arm",
			       "a connection ends by %s: %d, value %" PRIu64,
			       fault->error.rule == NULL ? "no rule" : fault->error.rule, fault->code,
			       fault->error.value);
	o2_endpoints_seen(endpoints, polled ? O2_ENDPOINTS_SEEN_POLL_FAILED : O2_ENDPOINTS_SEEN_ARM_FAILED);
}

bool o2_endpoints_fail_arm(struct o2_endpoints_seat *seat, uint32_t to)
{
	struct o2_endpoints *endpoints = seat->endpoints;
	void (*fail_poll)(bool fail) = endpoints->ground.ops->fail_poll;
	struct o2_conn *conn =
		seat->open ? o2_node_conn(seat->endpoint.node, o2_endpoints_nid(endpoints, to), 0) : NULL;

	if (conn == NULL || fail_poll == NULL || !seat->sleeper)
		return false;
	o2_endpoints_blame(endpoints, seat->index, to, O2_ENDPOINTS_BY_DEVICE);
	/* As before each sleep: the events that have come are taken; a queue that made one is to be armed again. */
	(void)o2_ni_take_events(&seat->place.ni);
	seat->asleep = false;
	fail_poll(true);
	o2_conn_arm(conn);
	fail_poll(false);
	if (o2_node_conn(seat->endpoint.node, o2_endpoints_nid(endpoints, to), 0) == conn)
		o2_report_fail(endpoints->report, "endpoint/arm",
			       "a connection goes on whose completion queue could not be armed or polled");
	else
		check_arm_failed(endpoints, o2_conn_get_fault(conn));
	return true;
}

bool o2_endpoints_close_peer(struct o2_endpoints_seat *seat, uint32_t to, int code)
{
	struct o2_endpoints *endpoints = seat->endpoints;
	struct o2_peer_view view;

	if (!seat->open)
		return false;
	o2_node_peer(seat->endpoint.node, o2_endpoints_nid(endpoints, to), &view);
	o2_endpoints_blame(endpoints, seat->index, to, O2_ENDPOINTS_BY_CLOSE);
	o2_node_close_peer(seat->endpoint.node, o2_endpoints_nid(endpoints, to), code);
	if (view.links > 0)
		o2_endpoints_seen(endpoints, O2_ENDPOINTS_SEEN_CLOSED_PEER);
	return view.links > 0;
}

/* With the endpoints gone, the devices have what the interfaces account for. */
static void check_left_behind(struct o2_endpoints *endpoints)
{
	uint32_t interfaces = 0;
	uint64_t regions = 0;

	for (uint32_t i = 0; i < endpoints->nseats; i++)
		o2_place_count(&endpoints->seat[i].place, &interfaces, &regions);
	o2_ground_check_left(&endpoints->ground, interfaces, regions);
}

/* Also called after a failure, when only the endpoints themselves are known to be valid. */
void o2_endpoints_close(struct o2_endpoints *endpoints)
{
	struct o2_ground *ground = &endpoints->ground;

	ground->faults = false;
	for (uint32_t i = 0; i < endpoints->nseats; i++)
		leave(&endpoints->seat[i]);
	while (endpoints->nseats > 0 && o2_ground_pump(&endpoints->ground) > 0)
		;
	o2_endpoints_check_idle(endpoints);
	check_left_behind(endpoints);
	for (uint32_t i = 0; i < endpoints->nseats; i++) {
		struct o2_endpoints_seat *seat = &endpoints->seat[i];

		if (seat->cm != NULL)
			ground->ops->detach(ground, seat->cm);
		o2_place_close(&seat->place);
	}
	ground->ops->close(ground);
	check_left_behind(endpoints);
}
