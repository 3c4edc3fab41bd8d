/* SPDX-License-Identifier: MIT */
/* Random traffic between two nodes: what each process does (tests/device/cm/traffic.h). */
#include "tests/device/cm/traffic.h"
#include "base/monotonic.h"

#include <errno.h>
#include <poll.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "lnd/ni/counts.h"

#define IDLE 200u /* rounds without an event before the process sleeps */

#define CLOCK_EVERY_MS 250

/* Over a bad network a connection may stop making progress; this timeout ends it. */
#define TIMEOUT_MS 6000u
/* 0.27 s, so that a slow guest on a busy host does not mistake its own delay for a lost packet. */
#define ACK_TIMEOUT 16u

static int fail_with(const char *what, const struct o2_error *error)
{
	char text[256];

	o2_error_text(error, text, sizeof(text));
	fprintf(stderr, "node_traffic: %s: %s\n", what, text);
	return -1;
}

int traffic_open(struct traffic *traffic, const struct traffic_options *options)
{
	struct o2_node_config config = O2_NODE_DEFAULTS;
	struct o2_ni_config ni = {
		.device = options->device,
		.port = 1,
		.gid_index = options->gid_index,
		.nid = TRAFFIC_NID(options->address),
		.dma_kind = O2_DMA_VIRTUAL,
		.arena_pages = TRAFFIC_SLOTS * TRAFFIC_SLOT_PAGES,
		.events = true,
	};
	struct timespec now;
	struct o2_error error;

	traffic->options = *options;
	config.conn.timeout_ms = TIMEOUT_MS;
	config.conn.ack_timeout = ACK_TIMEOUT;
	config.conn.immediate_gather = options->seed & 1;
	clock_gettime(CLOCK_REALTIME, &now);
	ni.incarnation = (uint64_t)now.tv_sec * 1000000 + (uint64_t)now.tv_nsec / 1000;
	if (o2_ni_open(&ni, &traffic->ni, &error) != 0)
		return fail_with(options->device, &error);
	traffic->ni.domain.gaps_by_staging = true;
	/* Touch all pages now, so that any later growth of resident memory counts as a leak. */
	memset(traffic->ni.arena.memory, 0, (size_t)traffic->ni.arena.npages * traffic->ni.arena.page_bytes);
	if (o2_cm_rdma_open(&traffic->ni, options->address, &traffic->cm, &error) != 0)
		return fail_with("librdmacm", &error);
	if (o2_node_create(&traffic->ni, traffic->cm, &config, &traffic_ops, traffic, &traffic->node,
			   &error) != 0)
		return fail_with("node", &error);
	o2_node_clock(traffic->node, o2_monotonic_ms());
	return 0;
}

void traffic_close(struct traffic *traffic)
{
	struct o2_error error;
	char text[256];

	o2_held_now(&traffic->most);
	o2_node_destroy(traffic->node);
	traffic->idle = o2_ni_check_idle(&traffic->ni, &error) == 0;
	if (!traffic->idle) {
		o2_error_text(&error, text, sizeof(text));
		printf("wrong: the interface is not idle: %s\n", text);
		traffic->wrong++;
	}
	o2_cm_rdma_close(traffic->cm);
	o2_ni_close(&traffic->ni);
	o2_held_now(&traffic->after);
}

/* Exits when the device is lost. */
static void check_device(int rc)
{
	if (rc >= 0)
		return;
	fprintf(stderr, "node_traffic: the device is lost: %s\n", strerror(-rc));
	exit(1);
}

/* Sleeps until an event arrives, a signal arrives, or the clock must be updated. */
static void sleep_a_while(struct traffic *traffic)
{
	struct pollfd fds[] = {
		{.fd = o2_cm_rdma_fd(traffic->cm), .events = POLLIN},
		{.fd = o2_ni_fd(&traffic->ni), .events = POLLIN},
	};
	int rc = o2_node_arm(traffic->node);

	check_device(rc);
	if (rc == 0)
		poll(fds, sizeof(fds) / sizeof(fds[0]), CLOCK_EVERY_MS);
}

/* Handles all events; sleeps after IDLE rounds without one. */
static void step(struct traffic *traffic, uint32_t *idle)
{
	int handled = o2_cm_rdma_progress(traffic->cm);

	check_device(handled);
	handled += o2_node_progress(traffic->node);
	o2_node_clock(traffic->node, o2_monotonic_ms());
	if (handled > 0)
		traffic_check_accounts(traffic);
	if (handled > 0)
		*idle = 0;
	else if (++*idle < IDLE)
		sched_yield();
	else
		sleep_a_while(traffic);
}

static int submit(struct traffic *traffic, struct traffic_op *op, uint32_t number, uint32_t at)
{
	uint64_t nid = TRAFFIC_NID(traffic->options.peer);
	uint64_t bits = traffic_match_bits(traffic->options.seed, number);
	struct o2_transfer_memory memory = traffic_transfer(&op->initiator, &traffic->ni.arena, at);
	struct o2_lnet_hdr hdr = {
		.dest_nid = nid,
		.src_nid = traffic->ni.config.nid,
		.dest_pid = 12345,
		.src_pid = 12345,
		.type = op->kind == TRAFFIC_GET ? O2_LNET_GET : O2_LNET_PUT,
	};

	if (op->kind == TRAFFIC_GET) {
		hdr.msg.get.match_bits = bits;
		hdr.msg.get.sink_length = (uint32_t)memory.buffer.nob;
		traffic_fill_sink(op, &op->initiator, &traffic->ni.arena);
		return o2_node_get(traffic->node, nid, &hdr, &memory, NULL);
	}
	hdr.msg.put.ack_wmd = (struct o2_lnet_handle){UINT64_MAX, UINT64_MAX};
	hdr.msg.put.match_bits = bits;
	traffic_fill_source(op, &op->initiator, &traffic->ni.arena);
	if (op->kind == TRAFFIC_PUT)
		return o2_node_put(traffic->node, nid, &hdr, &memory, NULL);
	return o2_node_send(traffic->node, nid, &hdr, &memory, NULL);
}

/* Starts operation `number`.  An operation that cannot be started counts as ended. */
static void start(struct traffic *traffic, uint32_t number)
{
	/* Operations that we serve use the slots that are left over; there are enough. */
	uint32_t at = (uint32_t)traffic_free_slot(traffic);
	struct traffic_slot *slot = &traffic->slot[at];
	int rc;

	traffic_draw(traffic->options.seed, number, at, &slot->op);
	slot->used = true;
	traffic->started++;
	traffic->open++;
	rc = submit(traffic, &slot->op, number, at);
	if (rc != 0)
		traffic_done(traffic,
			     &(struct o2_transfer_result){.initiator = true, .tag = at, .status = rc});
	traffic_check_accounts(traffic);
}

static void kill_queue_pair(struct traffic *traffic)
{
	struct o2_conn *conn = o2_node_conn(traffic->node, TRAFFIC_NID(traffic->options.peer), 0);
	struct ibv_qp_attr attr = {.qp_state = IBV_QPS_ERR};

	if (conn != NULL)
		ibv_modify_qp(o2_conn_qp(conn), &attr, IBV_QP_STATE);
}

void traffic_drive(struct traffic *traffic, const volatile sig_atomic_t *stopped)
{
	const struct traffic_options *options = &traffic->options;
	uint64_t end_ms = options->seconds > 0 ? o2_monotonic_ms() + options->seconds * 1000ull : UINT64_MAX;
	uint32_t number = 0, idle = 0;

	for (;;) {
		bool more = number < options->count && o2_monotonic_ms() < end_ms && !*stopped;

		if (!more && traffic->open == 0)
			break;
		if (more && traffic->open < options->open) {
			if (options->kill_every > 0 &&
			    number % options->kill_every == options->kill_every - 1)
				kill_queue_pair(traffic);
			start(traffic, number++);
			idle = 0;
		}
		step(traffic, &idle);
	}
}

void traffic_serve(struct traffic *traffic, const volatile sig_atomic_t *stopped)
{
	uint32_t idle = 0;

	while (!*stopped)
		step(traffic, &idle);
}
