/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <stdlib.h>

#include "lnd/cm/rdma.h"
#include "props/world/network.h"

/* The network of kernel devices.  librdmacm does the routing; kept here: the managers to drive. */

struct place {
	struct o2_cm *cm;
	struct place *next;
};

struct rdma_network {
	struct o2_network network;
	struct place *places;
};

/*
 * librdmacm opens a device for the first identifier bound on it, and keeps it open.  Do that here.  Otherwise
 * the first case that listens or connects would seem to leave the device open.
 */
static void open_for_good(const struct o2_ni *ni, uint32_t address)
{
	struct o2_cm *cm;

	if (o2_cm_rdma_open(ni, address, &cm, NULL) != 0)
		return;
	cm->ops->listen(cm, 0, NULL);
	o2_cm_rdma_close(cm);
}

static int rdma_attach(struct o2_network *network, const struct o2_ni *ni, uint32_t address,
		       struct o2_cm **cm, struct o2_error *error)
{
	struct rdma_network *rdma = (struct rdma_network *)network;
	struct place *place = calloc(1, sizeof(*place));
	int rc;

	if (place == NULL)
		return o2_refuse_value(error, -ENOMEM, "network/memory", "place", sizeof(*place),
				       O2_NO_LIMIT);
	open_for_good(ni, address);
	rc = o2_cm_rdma_open(ni, address, &place->cm, error);
	if (rc != 0) {
		free(place);
		return rc;
	}
	place->next = rdma->places;
	rdma->places = place;
	*cm = place->cm;
	return 0;
}

static void rdma_detach(struct o2_network *network, struct o2_cm *cm)
{
	struct rdma_network *rdma = (struct rdma_network *)network;

	for (struct place **at = &rdma->places; *at != NULL; at = &(*at)->next) {
		struct place *place = *at;

		if (place->cm != cm)
			continue;
		*at = place->next;
		o2_cm_rdma_close(cm);
		free(place);
		return;
	}
}

static int rdma_progress(struct o2_network *network)
{
	int events = 0;

	for (struct place *place = ((struct rdma_network *)network)->places; place != NULL;
	     place = place->next) {
		int rc = o2_cm_rdma_progress(place->cm);

		if (rc < 0)
			return rc;
		events += rc;
	}
	return events;
}

static void rdma_close(struct o2_network *network)
{
	free(network);
}

int o2_network_open_rdma(struct o2_network **network, struct o2_error *error)
{
	static const struct o2_network_ops ops = {
		.attach = rdma_attach,
		.detach = rdma_detach,
		.progress = rdma_progress,
		.fd = o2_cm_rdma_fd,
		.close = rdma_close,
	};
	struct rdma_network *made = calloc(1, sizeof(*made));

	if (made == NULL)
		return o2_refuse_value(error, -ENOMEM, "network/memory", "network", sizeof(*made),
				       O2_NO_LIMIT);
	made->network.ops = &ops;
	*network = &made->network;
	return 0;
}
