/* SPDX-License-Identifier: MIT */
#include "second.h"

/* setup: a device, the pools of its network and a connection, each with a teardown function of its own. */

struct network {
	const struct o2_impl_setup_in *in;
	struct o2_impl_setup_log *log;
	/* device */
	uint32_t pd, whole;
	/* pools */
	uint32_t messages, mapped[O2_IMPL_SETUP_MOST], nmapped;
	uint32_t pool, region[O2_IMPL_SETUP_MOST], nregions;
	/* connection */
	uint32_t conn, cq, qp, received, place[2 * O2_IMPL_SETUP_MOST], nplaces;
};

static uint32_t get(struct network *net, uint32_t kind, uint32_t on)
{
	return o2_impl_setup_acquire(net->log, kind, on, 0);
}

static void drop(struct network *net, uint32_t *handle)
{
	if (*handle)
		o2_impl_setup_release(net->log, *handle);
	*handle = 0;
}

static void drop_all(struct network *net, uint32_t *handle, uint32_t *count)
{
	while (*count)
		drop(net, &handle[--*count]);
}

/* --- device --- */

static void close_device(struct network *net)
{
	drop(net, &net->whole);
	drop(net, &net->pd);
}

static bool open_device(struct network *net)
{
	net->pd = get(net, O2_IMPL_SETUP_PD, 0);
	if (!net->pd)
		return false;
	if (net->in->mode == O2_IMPL_GLOBAL) {
		net->whole = get(net, O2_IMPL_SETUP_REGION, net->pd);
		if (!net->whole) {
			close_device(net);
			return false;
		}
	}
	return true;
}

/* --- pools --- */

static void free_pools(struct network *net)
{
	drop_all(net, net->region, &net->nregions);
	drop(net, &net->pool);
	drop_all(net, net->mapped, &net->nmapped);
	drop(net, &net->messages);
}

static bool fill_pools(struct network *net)
{
	uint32_t i;

	net->messages = get(net, O2_IMPL_SETUP_MEMORY, 0);
	if (!net->messages)
		return false;
	for (i = 0; i < net->in->tx_count; i++, net->nmapped++) {
		net->mapped[i] = get(net, O2_IMPL_SETUP_MAPPING, net->messages);
		if (!net->mapped[i])
			return false;
	}
	if (net->in->mode == O2_IMPL_FMR) {
		net->pool = get(net, O2_IMPL_SETUP_POOL, net->pd);
		return net->pool;
	}
	for (i = 0; net->in->mode == O2_IMPL_FASTREG && i < net->in->pool_size; i++, net->nregions++) {
		net->region[i] = get(net, O2_IMPL_SETUP_REGION, net->pd);
		if (!net->region[i])
			return false;
	}
	return true;
}

/* --- connection --- */

static void destroy_conn(struct network *net)
{
	drop(net, &net->qp);
	drop(net, &net->cq);
	drop_all(net, net->place, &net->nplaces);
	drop(net, &net->received);
	drop(net, &net->conn);
}

static bool create_conn(struct network *net)
{
	const uint32_t places = 2 * net->in->queue_depth;

	net->conn = get(net, O2_IMPL_SETUP_MEMORY, 0);
	if (!net->conn)
		return false;
	net->received = get(net, O2_IMPL_SETUP_MEMORY, 0);
	for (; net->received && net->nplaces < places; net->nplaces++) {
		net->place[net->nplaces] = get(net, O2_IMPL_SETUP_MAPPING, net->received);
		if (!net->place[net->nplaces])
			break;
	}
	if (net->nplaces == places)
		net->cq = get(net, O2_IMPL_SETUP_CQ, 0);
	if (net->cq)
		net->qp = o2_impl_setup_acquire(net->log, O2_IMPL_SETUP_QP, net->pd, net->cq);
	return net->qp;
}

/* --- the whole set-up --- */

static void shut_down(struct network *net)
{
	destroy_conn(net);
	free_pools(net);
	close_device(net);
}

static uint32_t start_up(struct network *net)
{
	if (!open_device(net))
		return net->in->error;
	if (fill_pools(net) && create_conn(net))
		return 0;
	shut_down(net);
	return net->in->error;
}

int32_t second_setup(const struct o2_impl_setup_in *in, struct o2_impl_setup_out *out,
		     struct o2_impl_refusal *refusal)
{
	(void)refusal;
	out->count = 0;
	for (uint32_t round = 0; round < in->count; round++) {
		struct o2_impl_setup_log log = {.in = in, .out = out, .round = round};
		struct network net = {.in = in, .log = &log};
		const uint32_t status = start_up(&net);

		o2_impl_setup_return(&log, status);
		if (!status)
			shut_down(&net);
	}
	return O2_IMPL_OK;
}
