/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <stdlib.h>

#include "lnd/cm/loop.h"
#include "props/world/network.h"

/* The network in the process: every message arrives, in the order of sending. */

struct loop_network {
	struct o2_network network;
	struct o2_cm_loop *loop;
};

static int loop_attach(struct o2_network *network, const struct o2_ni *ni, uint32_t address,
		       struct o2_cm **cm, struct o2_error *error)
{
	return o2_cm_loop_attach(((struct loop_network *)network)->loop, ni, address, cm, error);
}

static void loop_detach(struct o2_network *network, struct o2_cm *cm)
{
	(void)network;
	o2_cm_loop_detach(cm);
}

static int loop_progress(struct o2_network *network)
{
	int events = 0;

	while (o2_cm_loop_deliver(((struct loop_network *)network)->loop, 0))
		events++;
	return events;
}

static int loop_fd(const struct o2_cm *cm)
{
	(void)cm;
	return -1;
}

static void loop_close(struct o2_network *network)
{
	o2_cm_loop_destroy(((struct loop_network *)network)->loop);
	free(network);
}

int o2_network_open_loop(struct o2_network **network, struct o2_error *error)
{
	static const struct o2_network_ops ops = {
		.attach = loop_attach,
		.detach = loop_detach,
		.progress = loop_progress,
		.fd = loop_fd,
		.close = loop_close,
	};
	struct loop_network *made = calloc(1, sizeof(*made));

	if (made != NULL)
		made->loop = o2_cm_loop_create();
	if (made == NULL || made->loop == NULL) {
		free(made);
		return o2_refuse_value(error, -ENOMEM, "network/memory", "network", sizeof(*made),
				       O2_NO_LIMIT);
	}
	made->network.ops = &ops;
	*network = &made->network;
	return 0;
}

struct o2_cm_loop *o2_network_loop(const struct o2_network *network)
{
	return ((const struct loop_network *)network)->loop;
}
