/* SPDX-License-Identifier: MIT */
/* The process of serve: its network, and the clients that run the script. */
#include <string.h>

#include "cli/net/commands.h"
#include "cli/net/judging.h"
#include "cli/net/session.h"
#include "lnd/cm/loop.h"
#include "loopverbs/loopverbs.h"
#include "props/command/net_process.h"
#include "props/command/serve.h"
#include "props/model/wire_model.h"
#include "props/world/device.h"
#include "props/world/receives.h"
#include "wire/layout.h"

#define CLIENT_PAGES (O2_NET_LNET_PAGES + O2_SERVE_OP_BYTES / 4096 + 1)
#define CLIENTS	     "loop1" /* device of the clients */
#define QUIET_ROUNDS 64u     /* rounds without an event, after which nothing is in flight */

struct client {
	struct o2_ni ni;
	struct o2_cm *cm;
	struct o2_endpoint endpoint;
	bool open;
	uint32_t life;
	struct o2_iov iov;
	uint64_t operation;
};

static struct {
	struct o2_serve_script *script;
	struct o2_cm_loop *wire;
	struct client client[O2_SERVE_CLIENTS];
	uint32_t at;   /* current operation of the script */
	bool started;  /* the operation has started */
	uint32_t idle; /* rounds without an event */
} desk;

static struct o2_serve_op *current(void)
{
	return desk.at < desk.script->nops ? &desk.script->op[desk.at] : NULL;
}

static void note_done(void *context, const struct o2_lnet_result *result)
{
	const struct client *client = context;
	struct o2_serve_op *op = current();

	if (op == NULL || op->ended || !desk.started || client != &desk.client[op->client])
		return;
	op->ended = true;
	op->status = result->status;
	op->length_bytes = result->length_bytes;
	if (op->kind != O2_SERVE_PUT && result->length_bytes <= client->iov.len)
		memcpy(op->data, (const void *)(uintptr_t)client->iov.base, result->length_bytes);
}

static bool open_endpoint(struct client *client)
{
	static const struct o2_lnet_ops ops = {.done = note_done};
	struct o2_node_config node_config = O2_NODE_DEFAULTS;
	struct o2_lnet_config lnet_config = O2_LNET_DEFAULTS;
	struct o2_error error;

	if (client->open)
		return true;
	node_config.port = desk.script->port;
	lnet_config.nid = client->ni.config.nid;
	lnet_config.interface_cookie = client->ni.config.nid + ((uint64_t)++client->life << 48);
	client->ni.config.incarnation++;
	client->open = o2_endpoint_open(&client->ni, client->cm, &node_config, &lnet_config, &ops, client,
					&client->endpoint, &error) == 0;
	if (client->open)
		o2_endpoint_clock(&client->endpoint, 1000);
	return client->open;
}

static enum o2_cm_loop_fate lose(void *arg, enum o2_cm_loop_message message, uint32_t from, uint32_t to)
{
	(void)arg;
	(void)message;
	(void)from;
	(void)to;
	return O2_CM_LOOP_LOSE;
}

static void leave(struct client *client, bool in_order)
{
	if (!client->open)
		return;
	o2_cm_loop_set_fate(desk.wire, in_order ? NULL : lose, NULL);
	o2_endpoint_close(&client->endpoint);
	client->open = false;
	while (!in_order && o2_cm_loop_deliver(desk.wire, 0))
		;
	o2_cm_loop_set_fate(desk.wire, NULL, NULL);
}

static void start(struct o2_serve_op *op)
{
	struct client *client = &desk.client[op->client];
	const struct o2_lnet_target target = {
		.nid = desk.client[0].ni.config.nid - O2_SERVE_FIRST + 9,
		.portal = op->portal,
		.match_bits = op->match_bits,
		.offset = op->offset,
		.hdr_data = op->stream,
		.ack = op->ack,
	};
	const struct o2_transfer_memory memory = {
		.buffer = {.kind = O2_IOV, .count = 1, .nob = op->bytes, .iov = &client->iov},
		.mode = O2_REG_FASTREG,
	};
	uint8_t *bytes = (uint8_t *)(uintptr_t)client->iov.base;

	desk.started = true;
	if (op->kind == O2_SERVE_LEAVE || op->kind == O2_SERVE_VANISH) {
		op->ended = true;
		leave(client, op->kind == O2_SERVE_LEAVE);
		return;
	}
	if (!open_endpoint(client))
		return;
	client->iov.len = op->bytes;
	if (op->kind == O2_SERVE_PUT) {
		memcpy(bytes, op->data, op->bytes);
		op->status = o2_lnet_put(client->endpoint.lnet, &target, &memory, &client->operation, NULL);
	} else {
		memset(bytes, 0xa5, op->bytes);
		op->status = o2_lnet_get(client->endpoint.lnet, &target, &memory, &client->operation, NULL);
	}
	op->ended |= op->status != 0;
}

/* Go to the next step of the script; cancel an operation that is not answered. */
static void step(void)
{
	struct o2_serve_op *op = current();

	if (op == NULL) {
		desk.script->was_told = true;
		o2_net_stop = 1;
	} else if (!desk.started) {
		start(op);
	} else if (!op->ended) {
		o2_lnet_cancel(desk.client[op->client].endpoint.lnet, desk.client[op->client].operation);
	} else {
		desk.at++;
		desk.started = false;
	}
}

/* Run the network and the clients once.  Returns the number of events. */
static int pump(void)
{
	int events = 0;

	while (o2_cm_loop_deliver(desk.wire, 0))
		events++;
	for (uint32_t i = 0; i < O2_SERVE_CLIENTS; i++) {
		if (!desk.client[i].open)
			continue;
		o2_endpoint_clock(&desk.client[i].endpoint, 1000);
		events += o2_node_progress(desk.client[i].endpoint.node);
	}
	return events;
}

static int progress(struct o2_net_network *network, uint64_t now_ms)
{
	const int events = pump();

	(void)network;
	(void)now_ms;
	desk.idle = events > 0 ? 0 : desk.idle + 1;
	if (desk.idle < QUIET_ROUNDS)
		return events;
	desk.idle = 0;
	step();
	return events + 1;
}

/* Post a PUT_DONE that reports a failure although the data was written. */
static int post_failed(void *context, struct ibv_qp *qp, struct ibv_send_wr *list, struct ibv_send_wr **bad,
		       const struct o2_rdma_desc *sink)
{
	uint8_t *bytes = o2_seen_posted(list);
	const struct o2_serve_op *op = current();

	(void)context;
	(void)sink;
	if (bytes != NULL && op != NULL && op->fails != 0 && bytes[O2_AT_TYPE] == O2_MSG_PUT_DONE)
		o2_wm_store(bytes + O2_AT_STATUS, 4, true, (uint32_t)-op->fails);
	return ibv_post_send(qp, list, bad);
}

static bool open_ni(uint64_t nid, const char *device, uint32_t pages, const struct o2_watch *watch,
		    struct o2_ni *ni, struct o2_cm **cm)
{
	static const struct o2_work_ops post_ops = {.post_send = post_failed};
	struct o2_ni_config config = o2_net_ni_config(nid, device, O2_LOOP_GID_INDEX, pages);

	config.reg_gaps = o2_device_reg_gaps();
	config.watch = watch;
	if (strcmp(device, CLIENTS) == 0)
		config.work_ops = &post_ops;
	return o2_ni_open(&config, ni, NULL) == 0 &&
	       o2_cm_loop_attach(desk.wire, ni, (uint32_t)nid, cm, NULL) == 0;
}

static bool open_network(struct o2_net_options *options, uint32_t arena_pages, struct o2_net_network *network)
{
	desk.wire = o2_cm_loop_create();
	if (desk.wire == NULL || !open_ni(options->nid, "loop0", arena_pages,
					  o2_net_judging_watch(options->judging), &network->ni, &network->cm))
		return false;
	for (uint32_t i = 0; i < O2_SERVE_CLIENTS; i++) {
		struct client *client = &desk.client[i];

		if (!open_ni(options->nid - 9 + O2_SERVE_FIRST + i, CLIENTS, CLIENT_PAGES, NULL, &client->ni,
			     &client->cm))
			return false;
		client->iov.base = client->ni.arena.view[0].base +
				   (uint64_t)O2_NET_LNET_PAGES * client->ni.arena.page_bytes;
	}
	return true;
}

/* Deliver what was sent before the server ended. */
static void close_network(struct o2_net_network *network)
{
	for (uint32_t i = 0; i < QUIET_ROUNDS; i++)
		pump();
	for (uint32_t i = 0; i < O2_SERVE_CLIENTS; i++) {
		leave(&desk.client[i], true);
		o2_cm_loop_detach(desk.client[i].cm);
		o2_ni_close(&desk.client[i].ni);
	}
	o2_cm_loop_detach(network->cm);
	o2_ni_close(&network->ni);
	o2_cm_loop_destroy(desk.wire);
}

void o2_serve_execute(struct o2_command_run *run, struct o2_serve_script *script)
{
	static const struct o2_net_inside inside = {
		.open = open_network, .close = close_network, .progress = progress};

	run->status = -1;
	desk.script = o2_net_share(script, sizeof(*script));
	if (desk.script == NULL)
		return;
	o2_net_process(run, &inside);
	o2_net_unshare(desk.script, script, sizeof(*script));
}
