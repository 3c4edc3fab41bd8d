/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "lnd/conn/conn.h"
#include "props/talk/settings_internal.h"
#include "props/world/device.h"

/*
 * Mode fastreg in the kernel's order, with one descriptor, on a device that takes a part of a post and refuses the rest
 * (docs/modes.md, "fastreg").  The descriptor is replaced if the device has taken any of its requests, else kept; and
 * the next transfer succeeds: its chain invalidates the very key that the device has.
 */

#define PAGE_BYTES 4096u
#define MOST_PAGES 3u
#define TURNS	   100 /* more than a transfer takes */

enum { THE_PEER, THE_ONE, SIDES };

struct order {
	struct o2_settings_run *run;
	struct o2_report *report;
	struct o2_ni *ni[SIDES], own;
	struct o2_conn *conn[SIDES];
	struct o2_kiov kiov[SIDES];
	uint32_t kiov_bytes;
	bool refuses;	   /* the next chain with requests of the descriptor is refused */
	uint32_t may_take; /* how much of it is taken, if it is as long */
	/* What the last such chain was: its requests, and those taken. */
	uint32_t requests, taken;
	uint32_t done, failed; /* ends of transfers; those at the one that is refused */
	struct o2_transfer_fault fault;
	bool closed;
};

/* Global, because the device's calls have no argument for it. */
static uint32_t allocated;

static struct ibv_mr *alloc(struct ibv_pd *pd, uint32_t max_entries)
{
	allocated++;
	return o2_device_reg_fast()->alloc(pd, max_entries);
}

static bool of_descriptor(const struct ibv_send_wr *wr)
{
	return wr->opcode == IBV_WR_LOCAL_INV || wr->opcode == O2_LOOP_WR_REG_MR;
}

static int post_send(void *context, struct ibv_qp *qp, struct ibv_send_wr *list, struct ibv_send_wr **bad,
		     const struct o2_rdma_desc *sink)
{
	struct order *order = context;
	struct ibv_send_wr *last = NULL, *next = list;
	int rc = 0;

	(void)sink;
	if (!order->refuses || !of_descriptor(list))
		return ibv_post_send(qp, list, bad);
	order->refuses = false;
	order->requests = 0;
	for (struct ibv_send_wr *wr = list; wr != NULL; wr = wr->next)
		order->requests++;
	order->taken = order->may_take < order->requests ? order->may_take : order->requests - 1;
	for (uint32_t i = 0; i < order->taken; i++) {
		last = next;
		next = next->next;
	}
	if (last != NULL) {
		last->next = NULL;
		rc = ibv_post_send(qp, list, bad);
		last->next = next;
	}
	if (rc != 0)
		return rc;
	*bad = next;
	return ENOMEM;
}

static struct o2_transfer_memory memory_of(const struct order *order, uint32_t side)
{
	return (struct o2_transfer_memory){
		.buffer = {.kind = O2_KIOV, .count = 1, .nob = order->kiov_bytes, .kiov = &order->kiov[side]},
		.mode = side == THE_ONE ? O2_REG_FASTREG : O2_REG_GLOBAL,
	};
}

static int match(void *context, const struct o2_msg *request, uint64_t sink_bytes,
		 struct o2_transfer_memory *memory)
{
	const struct order *order = context;
	const uint64_t nid = request->ibm_srcnid;

	(void)sink_bytes;
	*memory = memory_of(order, nid == order->ni[THE_PEER]->config.nid ? THE_ONE : THE_PEER);
	return 0;
}

static void done(void *context, const struct o2_transfer_result *result)
{
	struct order *order = context;

	order->done++;
	order->failed += result->status != 0;
}

static void closed(void *context, const struct o2_transfer_fault *fault)
{
	struct order *order = context;

	/* The first one: the other end is told, or destroyed, later. */
	if (!order->closed)
		order->fault = *fault;
	order->closed = true;
}

static bool connect(struct order *order)
{
	static const struct o2_conn_ops ops = {.match = match, .done = done, .closed = closed};
	const struct o2_conn_config config = O2_CONN_DEFAULTS;

	return o2_settings_join(order->run, order->report, order->ni, &config, &ops, order, order->conn);
}

static uint8_t *bytes_of(const struct order *order, uint32_t side)
{
	return o2_arena_page(&order->ni[side]->arena, order->kiov[side].page) + order->kiov[side].offset;
}

/* One transfer, by either end, into the memory of either. */
static void move(struct order *order, uint32_t from, bool get)
{
	struct o2_conn *conn = order->conn[get ? 1 - from : from];
	const struct o2_transfer_memory memory = memory_of(order, get ? 1 - from : from);
	const struct o2_lnet_hdr hdr =
		o2_conn_lnet_hdr(conn, get ? O2_LNET_GET : O2_LNET_PUT, 1, order->kiov_bytes);
	const int rc = get ? o2_conn_get(conn, &hdr, &memory, NULL, NULL)
			   : o2_conn_put(conn, &hdr, &memory, NULL, NULL);

	for (int turn = 0; turn < TURNS && rc == 0 && !order->closed; turn++)
		for (uint32_t i = 0; i < SIDES && !order->closed; i++)
			o2_conn_progress(order->conn[i]);
	if (rc != 0)
		o2_report_fail(order->report, "settings/order", "%s: it does not start: %d", order->run->text,
			       rc);
}

static void check_refused(struct order *order, uint32_t before)
{
	const struct o2_transfer_fault *fault = &order->fault;

	if (!order->closed || fault->side != O2_FAULT_LOCAL_STAGE || fault->code != -ENOMEM ||
	    fault->error.rule == NULL || strcmp(fault->error.rule, "post/send") != 0 ||
	    fault->error.value != order->taken || fault->error.limit != order->requests)
		o2_report_fail(order->report, "settings/order",
			       "%s: it closes (%d) with %d by %s: %" PRIu64 " of %" PRIu64
			       ", expected %" PRIu32 " of %" PRIu32,
			       order->run->text, order->closed, fault->code,
			       fault->error.rule == NULL ? "nothing" : fault->error.rule, fault->error.value,
			       fault->error.limit, order->taken, order->requests);
	o2_settings_same(order->run, order->report, "descriptors made anew", allocated - before,
			 order->taken > 0);
}

static void check_moved(struct order *order, uint32_t from, uint32_t before)
{
	if (order->closed || order->done != SIDES || order->failed > 0 ||
	    memcmp(bytes_of(order, from), bytes_of(order, 1 - from), order->kiov_bytes) != 0)
		o2_report_fail(order->report, "settings/order",
			       "%s: of its ends %" PRIu32 " are told, %" PRIu32
			       " of a failure; closed (%d) with "
			       "%d, status %d",
			       order->run->text, order->done, order->failed, order->closed, order->fault.code,
			       order->fault.wc_status);
	o2_settings_same(order->run, order->report, "descriptors made anew", allocated - before, 0);
}

static void try_one(struct order *order, struct o2_choice *c)
{
	const bool get = o2_draw_bool(c, 1, 1);
	const uint32_t from = (uint32_t)o2_draw(c, 1), before = allocated;
	bool refused;

	order->refuses = refused = o2_draw_bool(c, 1, 1);
	order->may_take = (uint32_t)o2_draw(c, 5);
	order->kiov_bytes = (uint32_t)o2_draw_range(c, 1, PAGE_BYTES);
	for (uint32_t i = 0; i < SIDES; i++)
		order->kiov[i] = (struct o2_kiov){(uint32_t)o2_draw(c, MOST_PAGES),
						  (uint32_t)o2_draw(c, PAGE_BYTES - order->kiov_bytes),
						  order->kiov_bytes};
	order->done = order->failed = order->taken = order->requests = 0;
	order->closed = false;
	snprintf(order->run->text, sizeof(order->run->text), "a %s of %" PRIu32 " bytes %s the descriptor%s",
		 get ? "GET" : "PUT", order->kiov_bytes, from == THE_ONE ? "from" : "to",
		 refused ? ", posted in part" : "");
	memset(bytes_of(order, 1 - from), 0, order->kiov_bytes);
	for (uint32_t i = 0; i < order->kiov_bytes; i++)
		bytes_of(order, from)[i] = (uint8_t)(1 + i % 251);
	if (connect(order))
		move(order, from, get);
	if (!order->report->failed && refused)
		check_refused(order, before);
	else if (!order->report->failed)
		check_moved(order, from, before);
	order->run->tally.seen[refused ? O2_SETTINGS_IN_PART : O2_SETTINGS_IN_ORDER]++;
	for (uint32_t i = 0; i < SIDES; i++) {
		o2_conn_destroy(order->conn[i]);
		order->conn[i] = NULL;
	}
}

void o2_settings_order(struct o2_settings_run *run, struct o2_choice *c, struct o2_report *report)
{
	struct order order = {.run = run, .report = report, .ni = {&run->ni[0], &order.own}};
	const struct o2_work_ops work = {.context = &order, .post_send = post_send};
	struct o2_ni_config config = o2_settings_good_ni(1);
	struct o2_reg_fast fast = *o2_device_reg_fast();

	fast.alloc = alloc;
	config.reg_fast = &fast;
	config.work_ops = &work;
	config.sizes.reg_size = 1;
	config.max_pools = 1;
	snprintf(run->text, sizeof(run->text), "an interface of one descriptor");
	if (o2_ni_open(&config, &order.own, NULL) != 0) {
		o2_report_fail(report, "settings/open", "%s", run->text);
		return;
	}
	for (uint64_t more = 1 + o2_draw(c, 3); more > 0 && !report->failed; more--)
		try_one(&order, c);
	for (uint32_t i = 0; i < SIDES; i++)
		if (!report->failed)
			o2_settings_check_idle(run, report, order.ni[i]);
	o2_ni_close(&order.own);
}
