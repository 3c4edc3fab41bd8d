/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <inttypes.h>
#include <sched.h>
#include <string.h>

#include "base/monotonic.h"
#include "props/lnet/endpoints_internal.h"

/* The endpoints of a case, and what happens to them. */

#define REST_STEP_MS 1000u
#define REST_MS	     240000u /* more than all deadlines that can follow each other */
#define REST_EVENTS  100000u /* at one time */
#define ATTEMPT_MS   5000u   /* no attempt to connect has less time (docs/connection.md, "Times") */
/* As those of o2ref have: what one peer can have open, and some that may all do so (docs/peer.md). */
#define OPEN_PER_PEER (O2_ENDPOINTS_OPS + 2 * O2_MAX_QUEUE_DEPTH)
#define ANSWERS	      2u /* ACKs and replies, and what they answer */

static void draw_node(const struct o2_endpoints *endpoints, struct o2_node_config *config)
{
	static const uint32_t depths[] = {8, 2, 4, 32, O2_MAX_QUEUE_DEPTH};
	static const uint32_t weights[] = {20, 4, 4, 2, 1};
	struct o2_choice *c = endpoints->choice;

	*config = O2_NODE_DEFAULTS;
	config->conn.queue_depth = depths[o2_draw_weighted(c, weights, 5)];
	config->conn.max_transfers = OPEN_PER_PEER;
	config->max_waiting = OPEN_PER_PEER;
	config->conn.cksum_auto = o2_draw_bool(c, 3, 1);
	config->conn.immediate_gather = o2_draw_bool(c, 1, 1);
	config->conn.retry_count = endpoints->ground.ops->retry_count;
	config->conn.ack_timeout = endpoints->ground.ops->ack_timeout;
	config->conns_per_peer = o2_draw_bool(c, 7, 1) ? 2 : 1;
}

static void draw_lnet(struct o2_endpoints_seat *seat)
{
	/* On a kernel's device time passes by itself. */
	static const uint32_t timeouts_ms[] = {50000, 3000};
	struct o2_endpoints *endpoints = seat->endpoints;
	struct o2_choice *c = endpoints->choice;
	const bool own_time = endpoints->ground.ops->moment_ms == 0;

	seat->lnet_config = O2_LNET_DEFAULTS;
	seat->lnet_config.nid = o2_endpoints_nid(endpoints, seat->index);
	seat->lnet_config.pid = o2_draw_bool(c, 7, 1) ? 7 : O2_LNET_PID_KERNEL;
	seat->lnet_config.ping_features = o2_draw_bool(c, 3, 1) ? 0x1e : 0xe;
	seat->lnet_config.max_entries = O2_ENDPOINTS_ENTRIES;
	seat->lnet_config.max_messages = ANSWERS * endpoints->nseats * o2_endpoints_most(endpoints);
	seat->lnet_config.response_timeout_ms = timeouts_ms[own_time ? o2_draw_pick(c, 2) : 0];
}

static void down(void *context, uint64_t nid, const struct o2_transfer_fault *fault)
{
	struct o2_endpoints_seat *seat = context;
	struct o2_endpoints *endpoints = seat->endpoints;
	const uint32_t peer = o2_endpoints_index(endpoints, nid);
	char text[400];

	seat->downs++;
	seat->fault = *fault;
	if (o2_endpoints_may_go_down(endpoints->cause[seat->index][peer], fault))
		return;
	o2_fault_text(fault, text, sizeof(text));
	o2_report_fail(endpoints->report, "endpoint/down",
		       "endpoint %" PRIu32 " loses a connection with endpoint %" PRIu32 ": %s; causes 0x%x",
		       seat->index, peer, text, endpoints->cause[seat->index][peer]);
}

/* A life of an endpoint, as `o2ref serve` begins one: deadlines count from now on. */
static void begin(struct o2_endpoints_seat *seat)
{
	struct o2_endpoints *endpoints = seat->endpoints;
	struct o2_choice *c = endpoints->choice;
	struct o2_error error;

	seat->lnet_config.interface_cookie = ((uint64_t)seat->index << 32) + ++seat->life;
	seat->lnet_config.ping_sequence = seat->life;
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

/* All zero.  To make one for each case would take longer than the case. */
static int make_arena(struct o2_endpoints_seat *seat, const struct o2_arena **made, struct o2_error *error)
{
	struct o2_arena *arena = &seat->arena[seat->endpoints->many];
	int rc = 0;

	if (arena->memory == NULL)
		rc = o2_arena_create_plain(o2_endpoints_pages(seat->endpoints), arena, error);
	if (rc == 0)
		memset(arena->memory, 0, (size_t)arena->npages * arena->page_bytes);
	*made = arena;
	return rc;
}

static int open_place(struct o2_endpoints_seat *seat, struct o2_error *error)
{
	struct o2_endpoints *endpoints = seat->endpoints;
	struct o2_ni_config config = {
		.incarnation = 0x0006000000000001ull + seat->index,
		.dma_kind = O2_DMA_BUS,
		.windows = o2_draw_bool(endpoints->choice, 2, 1)
				   ? (uint32_t)o2_draw_range(endpoints->choice, 2, 4)
				   : 0,
		.sizes = {.tx_size = 8, .reg_size = 4},
		.work_ops = &seat->work_ops,
	};
	int rc = make_arena(seat, &config.arena, error);

	if (rc == 0)
		rc = endpoints->ground.ops->device(&endpoints->ground, seat->index, &config, &seat->address,
						   error);

	if (rc != 0)
		return rc;
	config.nid = o2_endpoints_nid(endpoints, seat->index);
	o2_endpoints_watch(seat);
	rc = o2_place_open(&seat->place, &config, NULL, error);
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

/* Is an endpoint about to hear of one that it connects to, or has left? */
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
	endpoints->exhausted_ms = endpoints->ground.now_ms;
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

void o2_endpoints_kill(struct o2_endpoints_seat *seat, uint32_t to)
{
	struct o2_endpoints *endpoints = seat->endpoints;
	struct ibv_qp_attr attr = {.qp_state = IBV_QPS_ERR};
	struct o2_conn *conn =
		seat->open ? o2_node_conn(seat->endpoint.node, o2_endpoints_nid(endpoints, to), 0) : NULL;

	if (conn == NULL)
		return;
	o2_endpoints_blame(endpoints, seat->index, to, O2_ENDPOINTS_BY_KILL);
	if (ibv_modify_qp(o2_conn_qp(conn), &attr, IBV_QP_STATE) != 0)
		o2_report_fail(endpoints->report, "endpoint/kill", "a queue pair cannot be put into error");
	o2_endpoints_seen(endpoints, O2_ENDPOINTS_SEEN_KILLED);
}

void o2_endpoints_close_peer(struct o2_endpoints_seat *seat, uint32_t to, int code)
{
	struct o2_endpoints *endpoints = seat->endpoints;

	if (!seat->open)
		return;
	o2_endpoints_blame(endpoints, seat->index, to, O2_ENDPOINTS_BY_CLOSE);
	o2_node_close_peer(seat->endpoint.node, o2_endpoints_nid(endpoints, to), code);
	o2_endpoints_seen(endpoints, O2_ENDPOINTS_SEEN_CLOSED_PEER);
}

/* The least time that any deadline leaves. */
static uint64_t patience_ms(const struct o2_endpoints *endpoints)
{
	uint64_t least_ms = ATTEMPT_MS;

	for (uint32_t i = 0; i < endpoints->nseats; i++)
		if (endpoints->seat[i].lnet_config.response_timeout_ms < least_ms)
			least_ms = endpoints->seat[i].lnet_config.response_timeout_ms;
	return least_ms;
}

static void tell_time(struct o2_endpoints *endpoints)
{
	for (uint32_t i = 0; i < endpoints->nseats; i++)
		if (endpoints->seat[i].open)
			o2_endpoint_clock(&endpoints->seat[i].endpoint, endpoints->ground.now_ms);
}

void o2_endpoints_clock(struct o2_endpoints *endpoints, uint64_t ms)
{
	endpoints->ground.ops->pass(&endpoints->ground, ms);
	if (endpoints->ground.now_ms - endpoints->exhausted_ms >= patience_ms(endpoints))
		for (uint32_t i = 0; i < endpoints->nseats; i++)
			o2_endpoints_blame_all(endpoints, i, O2_ENDPOINTS_BY_TIME);
	tell_time(endpoints);
}

/* --- rest --- */

static bool connections_rest(const struct o2_endpoints *endpoints, uint32_t i, uint32_t j)
{
	struct o2_peer_view here, there;

	o2_node_peer(endpoints->seat[i].endpoint.node, o2_endpoints_nid(endpoints, j), &here);
	o2_node_peer(endpoints->seat[j].endpoint.node, o2_endpoints_nid(endpoints, i), &there);
	return here.links == here.established && here.established == there.established &&
	       here.attempts_due + here.waiting == 0;
}

static bool at_rest(const struct o2_endpoints *endpoints)
{
	for (uint32_t i = 0; i < endpoints->nseats; i++) {
		if (!endpoints->seat[i].open || o2_lnet_messages(endpoints->seat[i].endpoint.lnet) > 0)
			return false;
		for (uint32_t j = 0; j < endpoints->nseats; j++)
			if (i != j && endpoints->seat[j].open && !connections_rest(endpoints, i, j))
				return false;
	}
	return true;
}

static int pump_network(struct o2_endpoints *endpoints)
{
	int events = endpoints->ground.ops->pump(&endpoints->ground);

	if (events < 0)
		o2_report_fail(endpoints->report, "endpoint/network", "the connection manager has failed: %d",
			       events);
	return events;
}

/* Does one of its own operations wait for a window? */
static bool waits_for_window(const struct o2_endpoints_seat *seat)
{
	struct o2_conn_view view;
	const struct o2_conn *conn;

	for (uint32_t j = 0; j < seat->endpoints->nseats; j++) {
		conn = o2_node_conn(seat->endpoint.node, o2_endpoints_nid(seat->endpoints, j), 0);
		if (conn == NULL)
			continue;
		o2_conn_view(conn, &view);
		if (view.queued_window > 0)
			return true;
	}
	return false;
}

static void progress(struct o2_endpoints_seat *seat, int *handled)
{
	if (!seat->open)
		return;
	if (o2_arena_windows_free(&seat->place.ni.arena) <= seat->place.ni.kept_windows &&
	    waits_for_window(seat))
		o2_endpoints_seen(seat->endpoints, O2_ENDPOINTS_SEEN_NO_WINDOW);
	*handled += o2_endpoint_progress(&seat->endpoint);
}

static int pump_all(struct o2_endpoints *endpoints)
{
	int handled = 0;

	for (uint32_t i = 0; i < endpoints->nseats; i++)
		progress(&endpoints->seat[i], &handled);
	handled += pump_network(endpoints);
	o2_endpoints_spring(endpoints);
	return handled;
}

/*
 * Until nothing happens any more at this time.  On a kernel's device what is on its way is not seen, so
 * nothing must have happened for a moment; who is at rest waits for nothing.
 */
static void exhaust(struct o2_endpoints *endpoints)
{
	const uint32_t moment_ms = endpoints->ground.ops->moment_ms;
	uint64_t since_ms = moment_ms > 0 ? o2_monotonic_ms() : 0;
	uint32_t quiet = 0, busy = 0;

	while (!endpoints->report->failed &&
	       (quiet < 3 ||
		(moment_ms > 0 && o2_monotonic_ms() - since_ms < moment_ms && !at_rest(endpoints)))) {
		if (pump_all(endpoints) == 0) {
			quiet++;
			if (moment_ms > 0)
				sched_yield();
			continue;
		}
		quiet = 0;
		since_ms = moment_ms > 0 ? o2_monotonic_ms() : 0;
		if (++busy == REST_EVENTS)
			o2_report_fail(endpoints->report, "endpoint/restless", "%u rounds, and still no rest",
				       REST_EVENTS);
	}
	endpoints->exhausted_ms = endpoints->ground.now_ms;
}

/* All come back, the network gets well, and time goes by: everything has an end. */
static void settle(struct o2_endpoints *endpoints)
{
	const uint64_t end_ms = endpoints->ground.now_ms + REST_MS;

	exhaust(endpoints);
	while (!endpoints->report->failed && !at_rest(endpoints) && endpoints->ground.now_ms < end_ms) {
		for (uint32_t i = 0; i < endpoints->nseats; i++)
			o2_endpoints_return(&endpoints->seat[i]);
		o2_endpoints_clock(endpoints, REST_STEP_MS);
		exhaust(endpoints);
	}
	if (!endpoints->report->failed && !at_rest(endpoints))
		o2_report_fail(endpoints->report, "endpoint/restless",
			       "the endpoints have not come to rest in %u ms", REST_MS);
}

static void check_idle(struct o2_endpoints *endpoints)
{
	for (uint32_t i = 0; i < endpoints->nseats; i++)
		o2_place_check_idle(&endpoints->seat[i].place.ni, i, endpoints->report,
				    "endpoint/outstanding", "endpoint/ledger");
}

void o2_endpoints_settle(struct o2_endpoints *endpoints)
{
	const bool faults = endpoints->ground.faults;

	endpoints->ground.faults = false;
	settle(endpoints);
	endpoints->ground.faults = faults;
	if (!endpoints->report->failed)
		o2_endpoints_check_ops(endpoints);
	if (!endpoints->report->failed)
		o2_endpoints_check_tables(endpoints);
	if (!endpoints->report->failed)
		o2_endpoints_check_memory(endpoints);
	check_idle(endpoints);
	if (endpoints->report->failed)
		return;
	o2_endpoints_forgive(endpoints);
	for (uint32_t i = 0; i < endpoints->nseats; i++)
		endpoints->seat[i].nops = endpoints->seat[i].nlarge = 0;
}

/* Nothing that is at rest ends because time goes by. */
void o2_endpoints_idle(struct o2_endpoints *endpoints, uint64_t ms)
{
	uint32_t downs[O2_ENDPOINTS_MAX];

	o2_endpoints_settle(endpoints);
	for (uint32_t i = 0; i < endpoints->nseats; i++)
		downs[i] = endpoints->seat[i].downs;
	endpoints->ground.ops->pass(&endpoints->ground, ms);
	tell_time(endpoints);
	if (endpoints->report->failed)
		return;
	o2_endpoints_settle(endpoints);
	for (uint32_t i = 0; i < endpoints->nseats && !endpoints->report->failed; i++)
		if (endpoints->seat[i].downs != downs[i])
			o2_report_fail(endpoints->report, "endpoint/idle",
				       "endpoint %" PRIu32 " loses a connection in %" PRIu64
				       " ms without a message",
				       i, ms);
	o2_endpoints_seen(endpoints, O2_ENDPOINTS_SEEN_HOURS_IDLE);
}

/* Also after a failure, when only the endpoints themselves may be trusted to be there. */
void o2_endpoints_close(struct o2_endpoints *endpoints)
{
	struct o2_ground *ground = &endpoints->ground;

	ground->faults = false;
	for (uint32_t i = 0; i < endpoints->nseats; i++)
		leave(&endpoints->seat[i]);
	while (endpoints->nseats > 0 && pump_network(endpoints) > 0)
		;
	check_idle(endpoints);
	for (uint32_t i = 0; i < endpoints->nseats; i++) {
		struct o2_endpoints_seat *seat = &endpoints->seat[i];

		if (seat->cm != NULL)
			ground->ops->detach(ground, seat->cm);
		o2_place_close(&seat->place);
	}
	ground->ops->close(ground);
	if (!endpoints->report->failed && ground->ops->left_behind != NULL && ground->ops->left_behind())
		o2_report_fail(endpoints->report, "endpoint/left-behind",
			       "the devices still have objects of the endpoints");
}
