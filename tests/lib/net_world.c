/* SPDX-License-Identifier: MIT */
#include "tests/lib/net_world.h"

#include <jansson.h>
#include <time.h>
#include <unistd.h>

#include "base/monotonic.h"
#include "cli/net/commands.h"
#include "cli/net/judging.h"
#include "cli/net/network.h"
#include "loopverbs/loopverbs.h"
#include "wire/nid.h"
#include "wire/reject.h"

#define WORLD_MS UINT64_C(60000)

volatile sig_atomic_t o2_net_stop;

struct net_world world;

static const struct o2_cm_ops *world_cm_ops;

static int world_listen(struct o2_cm *cm, uint16_t port, struct o2_error *error)
{
	if (world.listen_error == 0)
		return world_cm_ops->listen(cm, port, error);
	return o2_refuse_value(error, world.listen_error, "test/listen", "port", port, 0);
}

static void world_done(void *context, const struct o2_lnet_result *result)
{
	if (world.rpc != NULL && o2_lst_rpc_done(world.rpc, result))
		return;
	world.nended++;
	if (result->status != 0)
		world.status = result->status;
}

static void world_event(void *context, const struct o2_lnet_event *event)
{
	if (world.rpc != NULL)
		o2_lst_rpc_event(world.rpc, event);
}

static void world_ni(uint64_t nid, const char *name, uint32_t pages, const struct o2_watch *watch,
		     struct o2_ni *ni, struct o2_cm **cm)
{
	struct o2_ni_config config = o2_net_ni_config(nid, name, O2_LOOP_GID_INDEX, pages);

	config.watch = watch;
	if (nid == WORLD_PEER)
		o2_quirks_bend_ni(&world.quirks, &config);
	assert_int_equal(o2_ni_open(&config, ni, NULL), 0);
	assert_int_equal(o2_cm_loop_attach(world.wire, ni, o2_nid_address(nid), cm, NULL), 0);
}

static int world_connect(struct o2_cm *cm, const struct o2_cm_target *target, const struct o2_cm_param *param,
			 void *context, struct o2_cm_id **id, struct o2_error *error)
{
	return world.connect_error != 0 && world.connects-- == 0
		       ? world.connect_error
		       : world_cm_ops->connect(cm, target, param, context, id, error);
}

static void world_reject(void *context, const struct o2_cm_event *event)
{
	const struct o2_reject record = {.ibr_version = O2_MSG_VERSION_2,
					 .ibr_why = O2_REJECT_CONN_STALE,
					 .ibr_incarnation = 7,
					 .ibr_cp = {8, O2_MAX_FRAGS, O2_MSG_BYTES}};
	uint8_t bytes[O2_REJECT_BYTES];

	if (event->type != O2_CM_REQUEST)
		return;
	assert_int_equal(o2_reject_encode(&record, bytes, sizeof(bytes), NULL), sizeof(bytes));
	event->id->cm->ops->reject(event->id, bytes, sizeof(bytes));
	event->id->cm->ops->destroy(event->id);
}

static enum o2_cm_loop_fate world_fate(void *arg, enum o2_cm_loop_message message, uint32_t from, uint32_t to)
{
	return message == O2_CM_LOOP_REQUEST && world.rejects-- == 0 ? O2_CM_LOOP_UNREACHABLE
								     : O2_CM_LOOP_PASS;
}

bool o2_net_network_open(struct o2_net_options *options, uint32_t arena_pages, struct o2_net_network *network)
{
	static struct o2_cm_ops ops;
	struct o2_node_config node = O2_NODE_DEFAULTS;
	struct o2_lnet_config lnet = O2_LNET_DEFAULTS;
	const struct o2_lnet_ops lnet_ops = {.done = world_done, .event = world_event};

	memset(network, 0, sizeof(*network));
	world.wire = o2_cm_loop_create();
	options->nid = WORLD_US;
	world_ni(WORLD_US, "loop0", arena_pages, o2_net_judging_watch(options->judging), &network->ni,
		 &network->cm);
	world_ni(WORLD_PEER, "loop1", WORLD_PAGES, NULL, &world.ni, &world.cm);
	world_cm_ops = network->cm->ops;
	ops = *world_cm_ops;
	ops.listen = world_listen;
	ops.connect = world_connect;
	network->cm->ops = &ops;
	node.conn = world.conn;
	o2_quirks_bend_conn(&world.quirks, &node.conn);
	lnet.nid = WORLD_PEER;
	lnet.interface_cookie = 7;
	assert_int_equal(
		o2_endpoint_open(&world.ni, world.cm, &node, &lnet, &lnet_ops, NULL, &world.endpoint, NULL),
		0);
	if (world.rejects > 0) {
		world.cm->handler = world_reject;
		o2_cm_loop_set_fate(world.wire, world_fate, NULL);
	}
	world.deadline_ms = o2_monotonic_ns() / 1000000 + WORLD_MS;
	if (world.start != NULL)
		world.start();
	return true;
}

void o2_net_network_close(struct o2_net_network *network)
{
	if (world.leave != NULL)
		world.leave();
	o2_endpoint_close(&world.endpoint);
	o2_cm_loop_detach(world.cm);
	o2_cm_loop_detach(network->cm);
	o2_ni_close(&world.ni);
	o2_quirks_end(&world.quirks);
	o2_ni_close(&network->ni);
	o2_cm_loop_destroy(world.wire);
}

int o2_net_network_progress(struct o2_net_network *network, uint64_t now_ms)
{
	int events = 0;

	assert_true(now_ms < world.deadline_ms);
	while (o2_cm_loop_deliver(world.wire, 0))
		events++;
	o2_endpoint_clock(&world.endpoint, now_ms);
	events += o2_node_progress(world.endpoint.node);
	if (world.round != NULL)
		world.round();
	return events;
}

int o2_net_network_sleep(struct o2_net_network *network, struct o2_endpoint *endpoint, uint64_t sleep_ns)
{
	/* The peer is in this process, and may have its next round to do. */
	const struct timespec sleep = o2_net_timespec(sleep_ns < O2_NS_PER_MS ? sleep_ns : O2_NS_PER_MS);

	world.nidle_sleeps += endpoint != NULL && o2_lnet_messages(endpoint->lnet) == 0;
	nanosleep(&sleep, NULL);
	return 0;
}

int world_setup(void **state)
{
	memset(&world, 0, sizeof(world));
	world.conn = O2_CONN_DEFAULTS;
	o2_net_stop = 0;
	return 0;
}

void world_with(void (*start)(void))
{
	world_setup(NULL);
	world.start = start;
}

static void read_back(FILE *file, char *text, size_t text_bytes)
{
	size_t n;

	rewind(file);
	n = fread(text, 1, text_bytes - 1, file);
	text[n] = '\0';
	fclose(file);
}

int world_run(const char *line)
{
	char copy[2048], *argv[32], *save = NULL;
	struct o2_net_options options;
	FILE *out = tmpfile(), *err = tmpfile();
	const int saved[2] = {dup(1), dup(2)};
	int argc = 0, first, status = O2_CLI_USAGE;

	snprintf(copy, sizeof(copy), "%s", line);
	for (char *word = strtok_r(copy, " ", &save); word != NULL; word = strtok_r(NULL, " ", &save))
		argv[argc++] = word;
	argv[argc] = NULL;
	fflush(stdout);
	dup2(fileno(out), 1);
	dup2(fileno(err), 2);
	first = o2_net_options_read(argc, argv, &options);
	options.progress = false;
	if (first > 0 && options.judge)
		options.judging = o2_net_judging_new(&options);
	if (first > 0)
		status = options.command == O2_NET_SERVE     ? o2_net_serve(&options)
			 : options.command == O2_NET_PING    ? o2_net_ping(&options)
			 : options.command == O2_NET_LST     ? o2_net_lst(&options)
			 : options.command == O2_NET_CONFORM ? o2_net_conform(&options, argc, argv)
							     : o2_net_move(&options);
	if (first > 0)
		status = o2_net_judging_end(options.judging, status);
	fflush(stdout);
	for (int i = 0; i < 2; i++) {
		dup2(saved[i], i + 1);
		close(saved[i]);
	}
	read_back(out, world.out, sizeof(world.out));
	read_back(err, world.err, sizeof(world.err));
	return status;
}

long world_number(const char *key)
{
	json_t *object = json_loads(world.out, 0, NULL);
	const json_t *member = json_object_get(object, key);
	const long number = member == NULL ? -1 : (long)json_integer_value(member);

	json_decref(object);
	return number;
}

struct o2_transfer_memory world_memory(uint32_t page, uint32_t length_bytes, struct o2_iov *iov)
{
	*iov = (struct o2_iov){world.ni.arena.view[0].base + (uint64_t)page * world.ni.arena.page_bytes,
			       length_bytes};
	return (struct o2_transfer_memory){
		.buffer = {.kind = O2_IOV, .count = 1, .nob = length_bytes, .iov = iov},
		.mode = O2_REG_GLOBAL,
	};
}
