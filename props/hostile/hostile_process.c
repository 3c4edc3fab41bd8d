/* SPDX-License-Identifier: MIT */
#include "props/hostile/hostile_process.h"

#include <errno.h>
#include <poll.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/monotonic.h"
#include "lnd/conn/conn.h"
#include "props/engine/run.h"
#include "props/hostile/hostile_quirk.h"
#include "props/world/place.h"
#include "wire/nid.h"

/* The victim's process: it serves its connections continuously, and orders when they arrive. */

#define WAIT_MS	    1	  /* longest delay of completions when idle */
#define IDLE_ROUNDS 20u	  /* rounds without work after which it is at rest */
#define SETTLE_MS   8000u /* time limit for everything in flight to end */

struct process {
	struct o2_place place;
	struct o2_network *network;
	struct o2_victim victim;
	uint32_t work; /* events since the last "settle" */
};

static int open_process(struct process *process, const struct o2_victim_options *options,
			struct o2_error *error)
{
	struct o2_ni_config config = {
		.device = options->device,
		.gid_index = options->gid_index,
		.incarnation = o2_place_incarnation(),
		.dma_kind = O2_DMA_BUS,
		.dma_base = UINT64_C(0x240000000),
		.arena_pages = O2_HOSTILE_PAGES,
	};
	uint32_t address = 0;
	int rc = o2_network_address(options->device, options->gid_index, &address, error);

	if (rc == 0)
		rc = o2_network_open_rdma(&process->network, error);
	if (rc != 0)
		return rc;
	config.nid = o2_nid_make(O2_LND_O2IB, o2_nid_network(options->liar_nid), address);
	o2_hostile_bend_ni(&config);
	rc = o2_place_open(&process->place, &config, process->network, error);
	if (rc == 0)
		rc = o2_victim_open(&process->victim, &process->place.ni);
	if (rc == 0)
		rc = o2_victim_start_node(&process->victim, process->place.cm, options->liar_nid, error);
	return rc;
}

static void close_process(struct process *process)
{
	o2_victim_close(&process->victim);
	o2_place_close(&process->place);
	if (process->network != NULL)
		process->network->ops->close(process->network);
}

/* One round of progress.  Returns the number of events; negative errno: the device is lost. */
static int pump(struct process *process)
{
	int events = process->network->ops->progress(process->network);
	int completions = o2_node_progress(process->victim.node);

	if (events < 0)
		return events;
	process->work += (uint32_t)(events + completions);
	return events + completions;
}

/* True if the device has sends that are not complete. */
static bool sends_open(const struct o2_hostile_end *end)
{
	struct o2_conn_view view = {.send_wrs = 0};

	if (end->conn != NULL)
		o2_conn_view(end->conn, &view);
	return view.send_wrs > 0;
}

/* True if a connection attempt is in progress: it needs both processes, so waiting here could block it. */
static bool attempts_open(const struct process *process)
{
	struct o2_peer_view peer;

	o2_node_peer(process->victim.node, process->victim.liar_nid, &peer);
	return peer.connecting > 0 || peer.accepting > 0 || peer.attempts_due > 0;
}

/* Wait until everything sent has arrived and everything received is handled. */
static int settle(struct process *process)
{
	uint64_t end_ns = o2_monotonic_ns() + SETTLE_MS * UINT64_C(1000000);
	uint32_t idle = 0;

	while (idle < IDLE_ROUNDS) {
		int busy = pump(process);

		if (busy < 0)
			return busy;
		if (busy > 0 || sends_open(&process->victim.liar) || sends_open(&process->victim.honest))
			idle = 0;
		else
			idle++;
		if (o2_monotonic_ns() > end_ns)
			return -ETIME;
		sched_yield();
	}
	process->work += attempts_open(process);
	return 0;
}

static void serve_order(struct process *process, const char *text)
{
	struct o2_victim_order look = {.act = O2_ACT_LOOK};
	struct o2_victim_answer answer;
	struct o2_victim_line line;
	char out[O2_LINE_BYTES];
	int rc;

	if (!o2_line_read_order(text, &line)) {
		o2_victim_obey(&process->victim, &look, &answer);
		answer.status = -EINVAL;
	} else if (line.settle) {
		rc = settle(process);
		o2_victim_obey(&process->victim, &look, &answer);
		answer.status = rc;
	} else {
		o2_victim_obey(&process->victim, &line.order, &answer);
	}
	o2_line_answer(&answer, process->work, out);
	if (line.settle)
		process->work = 0;
	fputs(out, stdout);
	fflush(stdout);
}

/* Serve whole lines; keep the rest of the last one. */
static size_t serve_lines(struct process *process, char *text, size_t length)
{
	char *end;

	while ((end = memchr(text, '\n', length)) != NULL) {
		*end = '\0';
		serve_order(process, text);
		length -= (size_t)(end + 1 - text);
		memmove(text, end + 1, length);
	}
	return length;
}

static int serve(struct process *process)
{
	struct pollfd input = {.fd = STDIN_FILENO, .events = POLLIN};
	char text[O2_LINE_BYTES];
	size_t length = 0;

	while (pump(process) >= 0) {
		ssize_t got;

		if (poll(&input, 1, WAIT_MS) <= 0)
			continue;
		got = read(STDIN_FILENO, text + length, sizeof(text) - length);
		if (got <= 0)
			return 0; /* the order giver is gone, or sent a line that is too long */
		length = serve_lines(process, text, length + (size_t)got);
	}
	fprintf(stderr, "o2props: the device is lost\n");
	return O2_PROPS_EXIT_CANNOT;
}

int o2_victim_process(const struct o2_victim_options *options)
{
	struct process *process = calloc(1, sizeof(*process));
	struct o2_error error = {0};
	char text[200];
	int rc;

	if (process == NULL)
		return O2_PROPS_EXIT_CANNOT;
	rc = open_process(process, options, &error);
	if (rc != 0) {
		o2_error_text(&error, text, sizeof(text));
		fprintf(stderr, "o2props: no victim on %s: %s (%s)\n", options->device, strerror(-rc), text);
		rc = O2_PROPS_EXIT_CANNOT;
	} else {
		o2_nid_to_text(process->place.ni.config.nid, text, sizeof(text));
		printf("victim %s\n", text);
		fflush(stdout);
		rc = serve(process);
	}
	close_process(process);
	free(process);
	return rc;
}
