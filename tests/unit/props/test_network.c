/* SPDX-License-Identifier: MIT */
/* The network of the properties: addresses of devices, and two nodes that find each other on it. */
#include "tests/lib/lnd_pair.h"

#include "lnd/node/node.h"
#include "loopverbs/loopverbs.h"
#include "props/world/network.h"

#define ROUNDS 10000

TEST(addresses)
{
	struct o2_error error;
	uint32_t a = 0, b = 0;

	assert_int_equal(o2_network_address("loop0", O2_LOOP_GID_INDEX, &a, &error), 0);
	assert_int_equal(o2_network_address("loop1", O2_LOOP_GID_INDEX, &b, &error), 0);
	assert_true(a != 0 && b != 0 && a != b);
	/* The GID at index 0 is link-local, and there is none at index 200. */
	assert_error(o2_network_address("loop0", 0, &a, &error), -EADDRNOTAVAIL, &error,
		     "network/gid-is-no-address");
	assert_int_equal(o2_network_address("loop0", 200, &a, &error), -EADDRNOTAVAIL);
	assert_error(o2_network_address("loop77", 1, &a, &error), -ENODEV, &error, "network/no-such-device");
}

static void count_message(void *context)
{
	++*(uint32_t *)context;
}

static int receive(void *context, uint64_t nid, const struct o2_msg *msg)
{
	count_message(context);
	return 0;
}

static int match(void *context, uint64_t nid, const struct o2_msg *request, uint64_t sink_bytes,
		 struct o2_transfer_memory *memory)
{
	return -ENODATA;
}

static void done(void *context, uint64_t nid, const struct o2_transfer_result *result)
{
	assert_int_equal(result->status, 0);
	count_message(context);
}

TEST(nodes_meet)
{
	static const struct o2_node_ops ops = {.match = match, .receive = receive, .done = done};
	const struct o2_node_config config = O2_NODE_DEFAULTS;
	struct o2_network *network;
	struct side side[2];
	struct o2_node *node[2];
	struct o2_cm *cm[2];
	uint32_t count[2] = {0, 0};
	struct o2_lnet_hdr hdr = {.type = O2_LNET_PUT};
	struct o2_error error;

	assert_int_equal(o2_network_open_loop(&network, &error), 0);
	for (int i = 0; i < 2; i++) {
		side_open(&side[i], i == 0, O2_DMA_VIRTUAL, 0);
		side[i].ni.config.nid = 0x0005000000000000ull | (0x0a000001u + (uint32_t)i);
		assert_int_equal(
			network->ops->attach(network, &side[i].ni, 0x0a000001u + (uint32_t)i, &cm[i], &error),
			0);
		assert_int_equal(
			o2_node_create(&side[i].ni, cm[i], &config, &ops, &count[i], &node[i], &error), 0);
	}
	hdr.src_nid = side[0].ni.config.nid;
	hdr.dest_nid = side[1].ni.config.nid;
	assert_int_equal(o2_node_send(node[0], hdr.dest_nid, &hdr, NULL, &error), 0);
	for (int i = 0; i < ROUNDS && count[0] + count[1] < 2; i++) {
		assert_true(network->ops->progress(network) >= 0);
		o2_node_progress(node[0]);
		o2_node_progress(node[1]);
	}
	assert_int_equal(count[0], 1);
	assert_int_equal(count[1], 1);
	for (int i = 0; i < 2; i++) {
		o2_node_destroy(node[i]);
		side_assert_idle(&side[i]);
		network->ops->detach(network, cm[i]);
		o2_ni_close(&side[i].ni);
	}
	network->ops->close(network);
}
