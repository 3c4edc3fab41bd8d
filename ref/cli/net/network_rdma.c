/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <poll.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/net/device.h"
#include "cli/net/judging.h"
#include "cli/net/network.h"
#include "cli/net/session.h"
#include "lnd/cm/rdma.h"
#include "wire/nid.h"

bool o2_net_network_open(struct o2_net_options *options, uint32_t arena_pages, struct o2_net_network *network)
{
	struct o2_net_device device;
	struct o2_ni_config config;
	struct o2_error error;

	memset(network, 0, sizeof(*network));
	if (options->loop_quirks.set != 0) {
		o2_cli_complain("--loop-quirk is for --device loop");
		return false;
	}
	network->no_device = !o2_net_device_find(options->device, o2_nid_address(options->nid), &device);
	if (network->no_device)
		return false;
	if (options->nid == 0)
		options->nid = o2_nid_make(O2_LND_O2IB, o2_nid_network(options->peer), device.address);
	if (options->nid == options->peer) {
		o2_cli_complain("the peer's NID is that of device %s: it is our own", device.name);
		return false;
	}
	config = o2_net_ni_config(options->nid, device.name, device.gid_index, arena_pages);
	config.events = true;
	config.watch = o2_net_judging_watch(options->judging);
	network->more = &options->quirks;
	o2_quirks_bend_ni(&options->quirks, &config);
	if (o2_ni_open(&config, &network->ni, &error) != 0) {
		o2_cli_complain_error(device.name, &error);
		network->no_device = error.code != -ENOMEM;
		return false;
	}
	if (o2_cm_rdma_open(&network->ni, device.address, &network->cm, &error) == 0)
		return true;
	o2_cli_complain_error("connection manager", &error);
	network->no_device = error.code != -ENOMEM;
	o2_ni_close(&network->ni);
	return false;
}

void o2_net_network_close(struct o2_net_network *network)
{
	o2_cm_rdma_close(network->cm);
	o2_ni_close(&network->ni);
	o2_quirks_end(network->more);
}

int o2_net_network_progress(struct o2_net_network *network, uint64_t now_ms)
{
	(void)now_ms;
	return o2_cm_rdma_progress(network->cm);
}

int o2_net_network_sleep(struct o2_net_network *network, struct o2_endpoint *endpoint, uint64_t sleep_ns)
{
	struct pollfd fds[] = {
		{.fd = o2_cm_rdma_fd(network->cm), .events = POLLIN},
		{.fd = o2_ni_fd(&network->ni), .events = POLLIN},
	};
	const struct timespec sleep = o2_net_timespec(sleep_ns);
	int rc = endpoint != NULL ? o2_node_arm(endpoint->node) : o2_ni_take_events(&network->ni);

	if (rc != 0)
		return rc < 0 ? rc : 0;
	if (ppoll(fds, sizeof(fds) / sizeof(fds[0]), &sleep, NULL) < 0 && errno != EINTR)
		return -errno;
	return 0;
}
