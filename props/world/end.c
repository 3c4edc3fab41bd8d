/* SPDX-License-Identifier: MIT */
#include "props/world/end.h"

#include <errno.h>
#include <poll.h>
#include <sched.h>
#include <string.h>

#include "base/monotonic.h"
#include "lnd/ni/counts.h"
#include "props/world/rung_side.h"
#include "props/world/rung_stale.h"
#include "wire/nid.h"

#define INCARNATION(side) (UINT64_C(0x5a1b2c3d4e5f6) + (side))
#define CLOCK_MS	  50u	/* between two checks of a node's deadlines */
#define BUSY_STEPS	  1024u /* steps between two looks at the clock while much happens */

static const struct o2_scenario_side *our_side(const struct o2_end *end)
{
	return o2_rung_side(&end->scenario, end->side);
}

static struct o2_conn *connection(const struct o2_end *end)
{
	return o2_node_conn(end->node, end->peer, 0);
}

uint64_t o2_end_nid(const struct o2_end *end)
{
	return o2_nid_make(O2_LND_O2IB, 0, end->address);
}

static void tell_time(struct o2_end *end)
{
	const uint64_t now_ms = (uint64_t)(o2_monotonic_seconds() * 1000);

	if (now_ms < end->clock_ms + CLOCK_MS)
		return;
	end->clock_ms = now_ms;
	o2_node_clock(end->node, now_ms);
}

/* --- the node's callbacks --- */

static void our_memory(struct o2_end *end, uint64_t nob, struct o2_transfer_memory *memory)
{
	o2_rung_memory(our_side(end), &end->place.ni.arena, nob, end->iov, memory);
}

/* The responder serves the scenario's memory, cut to the bytes offered. */
static int on_match(void *context, uint64_t nid, const struct o2_msg *request, uint64_t sink_bytes,
		    struct o2_transfer_memory *memory)
{
	struct o2_end *end = context;

	(void)nid;
	(void)sink_bytes;
	end->matched = true;
	if (end->scenario.op == O2_OP_GET) {
		end->key = request->u.get.ibgm_rd.rd_key;
		end->key_addr = request->u.get.ibgm_rd.rd_frags[0].rf_addr;
	}
	our_memory(end, o2_scenario_moved(&end->scenario), memory);
	return 0;
}

static int on_greeting(void *context, uint64_t nid, const struct o2_msg *msg)
{
	struct o2_end *end = context;

	(void)nid;
	(void)msg;
	end->greeted = 1;
	return 0;
}

static void on_done(void *context, uint64_t nid, const struct o2_transfer_result *result)
{
	struct o2_end *end = context;

	(void)nid;
	if (result->op == O2_OP_SEND) {
		end->greeted = result->status == 0 ? 1 : result->status;
		end->seen.error = result->fault.error;
		return;
	}
	end->done[result->initiator] = true;
	if (result->initiator)
		end->seen.initiator = o2_rung_saw(result, &end->place.ni);
	else
		end->seen.responder = o2_rung_saw(result, &end->place.ni);
	if (result->side == O2_SOURCE)
		end->seen.nwr = result->nwr;
	else
		end->seen.nfrags = result->nfrags;
}

static void on_down(void *context, uint64_t nid, const struct o2_transfer_fault *fault)
{
	struct o2_end *end = context;

	(void)nid;
	end->downs++;
	end->down = *fault;
}

/* --- life --- */

static int open_place(const struct o2_end_config *config, struct o2_network *network, struct o2_end *end,
		      struct o2_error *error)
{
	const struct o2_ni_config ni = {
		.device = config->device,
		.gid_index = config->gid_index,
		.nid = o2_end_nid(end),
		.incarnation = INCARNATION(config->side),
		.dma_kind = O2_DMA_BUS,
		.dma_base = O2_RUNG_BUS_BASE,
		.bounce = config->side == O2_SINK, /* for messages; for transfers the scenario decides */
		.arena = config->arena,
		.events = config->alone,
		.sizes = {.tx_size = O2_RUNG_POOL_SIZE, .reg_size = O2_RUNG_POOL_SIZE},
		.watch = o2_end_watch_hook(end->watch),
	};

	return o2_place_open(&end->place, &ni, network, error);
}

static int open_node(struct o2_end *end, struct o2_error *error)
{
	static const struct o2_node_ops ops = {
		.match = on_match, .receive = on_greeting, .done = on_done, .down = on_down};
	struct o2_node_config config = O2_NODE_DEFAULTS;

	config.conn.queue_depth = O2_RUNG_QUEUE_DEPTH;
	config.conn.wrq_sge = O2_MAX_WRQ_SGE;
	config.conn.ack_timeout = 14; /* so that a lost peer is noticed soon */
	return o2_node_create(&end->place.ni, end->place.cm, &config, &ops, end, &end->node, error);
}

int o2_end_open(const struct o2_end_config *config, struct o2_network *network, struct o2_end *end,
		struct o2_error *error)
{
	int rc;

	memset(end, 0, sizeof(*end));
	end->side = config->side;
	end->alone = config->alone;
	end->stream = config->stream;
	end->watch = o2_end_watch_new(NULL, NULL);
	if (end->watch == NULL)
		return o2_refuse_value(error, -ENOMEM, "end/memory", "watch", 0, O2_NO_LIMIT);
	rc = o2_network_address(config->device, config->gid_index, &end->address, error);
	if (rc == 0)
		rc = open_place(config, network, end, error);
	if (rc == 0)
		rc = open_node(end, error);
	if (rc == 0)
		tell_time(end);
	if (rc != 0)
		o2_end_close(end);
	return rc;
}

void o2_end_close(struct o2_end *end)
{
	o2_node_destroy(end->node);
	end->node = NULL;
	o2_place_close(&end->place);
	o2_end_watch_free(end->watch);
	end->watch = NULL;
}

/* --- questions --- */

/* An end in another process has its own table of mapped pages. */
static void set_mapped(struct o2_end *end, bool mapped)
{
	if (our_side(end)->has_unmapped)
		o2_arena_set_mapped(&end->place.ni.arena, our_side(end)->unmapped_page, mapped);
}

static int begin(struct o2_end *end, const struct o2_end_question *question, struct o2_error *error)
{
	int rc = 0;

	tell_time(end); /* catch up with the time since the last scenario */
	end->peer = question->peer;
	end->scenario = question->scenario;
	end->started = end->matched = end->done[0] = end->done[1] = false;
	end->seen = (struct o2_end_answer){0};
	end->greeted = 0;
	o2_end_watch_form(end->watch)->wanted = false; /* the greeting has the node's form */
	if (end->place.ni.config.dma_kind != our_side(end)->kind)
		rc = o2_ni_set_dma(&end->place.ni, our_side(end)->kind, O2_RUNG_BUS_BASE, error);
	if (rc != 0)
		return rc;
	set_mapped(end, false);
	return o2_rung_tell_device(our_side(end), &end->place.ni, error);
}

static int greet(struct o2_end *end, struct o2_error *error)
{
	const struct o2_lnet_hdr hdr = {
		.type = O2_LNET_PUT, .src_nid = o2_end_nid(end), .dest_nid = end->peer};

	return o2_node_send(end->node, end->peer, &hdr, NULL, error);
}

static int need_connection(const struct o2_end *end, struct o2_error *error)
{
	return connection(end) != NULL
		       ? 0
		       : o2_refuse_value(error, -ENOTCONN, "end/connection", "connections", 0, 1);
}

static int limit(struct o2_end *end, struct o2_error *error)
{
	const struct o2_conn_config limits = o2_rung_limits(&end->scenario);
	int rc = need_connection(end, error);

	if (rc == 0)
		rc = o2_conn_set_limits(connection(end), &limits, error);
	if (rc == 0)
		*o2_end_watch_form(end->watch) = o2_rung_form(&end->scenario);
	return rc;
}

static int start(struct o2_end *end, struct o2_error *error)
{
	bool put = end->scenario.op == O2_OP_PUT;
	struct o2_transfer_memory memory;
	struct o2_lnet_hdr hdr;
	int rc = need_connection(end, error);

	if (rc != 0)
		return rc;
	our_memory(end, our_side(end)->nob, &memory);
	hdr = o2_conn_lnet_hdr(connection(end), put ? O2_LNET_PUT : O2_LNET_GET, 0, memory.buffer.nob);
	end->started = true;
	rc = put ? o2_node_put(end->node, end->peer, &hdr, &memory, error)
		 : o2_node_get(end->node, end->peer, &hdr, &memory, error);
	end->started = rc == 0;
	return rc;
}

static int try_key(struct o2_end *end, struct o2_error *error)
{
	enum ibv_wc_status status;
	int rc = need_connection(end, error);

	if (rc == 0)
		rc = o2_rung_try_key(&end->place.ni, connection(end), end->key_addr, end->key, &status);
	if (rc != 0)
		return o2_refuse_value(error, rc, "rung/stale-key", "key", end->key, O2_NO_LIMIT);
	end->seen.stale_tried = true;
	end->seen.stale_admitted = status != IBV_WC_REM_ACCESS_ERR;
	return 0;
}

static int rest(struct o2_end *end, struct o2_error *error)
{
	set_mapped(end, true);
	end->seen.ledger = end->place.ni.ledger;
	end->seen.ways = o2_rung_ways(&end->scenario, end->side, &end->place.ni);
	if (o2_end_watch_form(end->watch)->seen > 0)
		end->seen.ways |= O2_WAY_FORMED;
	return o2_ni_check_idle(&end->place.ni, error);
}

/* Fill an answer with the present state of this end. */
static void look(struct o2_end *end, struct o2_end_answer *answer)
{
	struct o2_conn *conn = connection(end);
	const struct o2_error error = answer->error;
	const int code = answer->code;
	struct o2_conn_view view;

	if (end->seen.broken == NULL)
		end->seen.broken = o2_end_watch_broken(end->watch, &end->seen.judged);
	*answer = end->seen;
	answer->error = error;
	answer->code = code;
	answer->nid = o2_end_nid(end);
	answer->downs = end->downs;
	answer->down = end->down;
	answer->connected = conn != NULL;
	if (conn == NULL)
		return;
	o2_conn_view(conn, &view);
	answer->version = view.flow.version;
	answer->queue_depth = view.flow.queue_depth;
	answer->messages_sent = view.flow.messages_sent;
	answer->messages_handled = view.flow.messages_handled;
	answer->noops_sent = view.flow.noops_sent;
	answer->noops_received = view.flow.noops_received;
}

void o2_end_ask(struct o2_end *end, const struct o2_end_question *question, struct o2_end_answer *answer)
{
	answer->code = 0;
	o2_error_clear(&answer->error);
	switch (question->verb) {
	case O2_END_BEGIN:
		answer->code = begin(end, question, &answer->error);
		break;
	case O2_END_CONNECT:
		answer->code = greet(end, &answer->error);
		break;
	case O2_END_LIMIT:
		answer->code = limit(end, &answer->error);
		break;
	case O2_END_START:
		answer->code = start(end, &answer->error);
		break;
	case O2_END_TRY_KEY:
		answer->code = try_key(end, &answer->error);
		break;
	case O2_END_PART:
		o2_node_close_peer(end->node, end->peer, 0);
		break;
	case O2_END_REST:
		answer->code = rest(end, &answer->error);
		break;
	case O2_END_WAIT:
	case O2_END_QUIT:
		break;
	}
	look(end, answer);
}

/* --- waiting --- */

int o2_ends_step(struct o2_end *const *ends, uint32_t nends)
{
	int events = ends[0]->place.network->ops->progress(ends[0]->place.network);

	if (events < 0)
		return events;
	for (uint32_t i = 0; i < nends; i++)
		events += o2_node_progress(ends[i]->node);
	for (uint32_t i = 0; i < nends && events == 0; i++)
		tell_time(ends[i]);
	return events;
}

void o2_end_sleep(struct o2_end *end, int fd)
{
	struct pollfd fds[] = {
		{.fd = fd, .events = POLLIN},
		{.fd = end->place.network->ops->fd(end->place.cm), .events = POLLIN},
		{.fd = o2_ni_fd(&end->place.ni), .events = POLLIN},
	};

	/* A failed device wakes nobody; the next step reports it. */
	if (o2_node_arm(end->node) <= 0)
		poll(fds, sizeof(fds) / sizeof(fds[0]), CLOCK_MS);
}

/* Pause after a step without events.  With two ends in one process, yield to the device's thread or the kernel. */
static void pause_ends(struct o2_end *const *ends)
{
	if (ends[0]->alone)
		o2_end_sleep(ends[0], -1);
	else
		sched_yield();
}

/* True if the asker is gone; it may start another end that needs this one's address. */
static bool is_deserted(const struct o2_end *end)
{
	struct pollfd stream = {.fd = end->stream, .events = POLLRDHUP};

	return end->stream > 0 && poll(&stream, 1, 0) > 0;
}

static bool is_still(const struct o2_end *end)
{
	struct o2_conn *conn = connection(end);
	struct o2_conn_view view;

	if (conn == NULL)
		return true;
	o2_conn_view(conn, &view);
	return view.flow.in_flight == 0 && view.active == 0 && view.queued_noops == 0 && view.queued == 0 &&
	       view.queued_reserved == 0 && view.queued_nocred == 0;
}

/* 1: the condition holds; 0: not yet; -errno: it never will. */
static int holds(const struct o2_end *end, enum o2_end_until until)
{
	struct o2_peer_view peer;

	switch (until) {
	case O2_END_GREETED:
		return end->greeted == 1 ? connection(end) != NULL : end->greeted;
	case O2_END_OVER:
		return (!end->started || end->done[true]) && (!end->matched || end->done[false]);
	case O2_END_STILL:
		return is_still(end);
	case O2_END_PARTED:
		o2_node_peer(end->node, end->peer, &peer);
		return !peer.known;
	}
	return -EINVAL;
}

void o2_ends_wait(struct o2_end *const *ends, uint32_t nends, uint32_t who, enum o2_end_until until,
		  struct o2_end_answer *answer)
{
	const double deadline = o2_monotonic_seconds() + O2_RUNG_GIVE_UP_S;
	uint32_t busy = 0;
	int holding;

	o2_error_clear(&answer->error);
	/* At least one step: a caller that asks repeatedly expects progress. */
	do {
		const int events = o2_ends_step(ends, nends);

		holding = holds(ends[who], until);
		if (holding != 0 || (events > 0 && ++busy % BUSY_STEPS != 0))
			continue;
		if (events < 0)
			holding = o2_refuse_value(&answer->error, events, "end/network", "until", until,
						  O2_NO_LIMIT);
		else if (is_deserted(ends[who]))
			holding = o2_refuse_value(&answer->error, -EPIPE, "end/deserted", "until", until,
						  O2_NO_LIMIT);
		else if (o2_monotonic_seconds() > deadline)
			holding = o2_refuse_value(&answer->error, -ETIMEDOUT, "end/wait", "until", until,
						  O2_NO_LIMIT);
		else if (events == 0)
			pause_ends(ends);
	} while (holding == 0);
	if (until == O2_END_GREETED && holding < 0 && answer->error.code == 0)
		answer->error = ends[who]->seen.error;
	answer->code = holding < 0 ? holding : 0;
	look(ends[who], answer);
}
