/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/monotonic.h"
#include "lnd/conn/conn.h"
#include "lnd/ni/counts.h"
#include "props/world/place.h"
#include "props/world/rung_judge.h"
#include "props/world/rung_side.h"
#include "props/world/rung_stale.h"

/*
 * Rungs 1 and 2: the transport itself, both ends in this process, connected without a connection manager.
 * Each side has one interface per address kind.  Connections between them are made when first needed, and
 * again after one failed.
 *
 * The interfaces get no time: keep-alives and pool shrinking would happen at moments that a case does not
 * determine, and findings would not replay.  The machine's clock only detects transfers that are stuck.
 */

#define INTERFACES	  (2u * O2_DMA_KINDS)
#define NID(side)	  (UINT64_C(0x000500000a4d0001) + (side))
#define INCARNATION(side) (UINT64_C(0x5a1b2c3d4e5f6) + (side))

struct verbs_rung;

struct link {
	struct verbs_rung *rung;
	struct o2_conn *conn[2]; /* by side; NULL: not connected */
};

struct verbs_rung {
	struct o2_rung rung;
	struct o2_rung_judge *judge;
	char device[2][64];
	uint8_t gid_index;
	struct o2_place place[2][O2_DMA_KINDS];		 /* by side and kind */
	struct link link[2][O2_DMA_KINDS][O2_DMA_KINDS]; /* wide and deep links, by kind of source and sink */

	/* the current transfer */
	const struct o2_scenario *scenario;
	struct o2_observed *observed;
	struct o2_iov iov[2][O2_SCENARIO_PIECES];
	bool initiator_done;
	bool responder_matched;
	bool responder_done;
	/* For a GET: the key that the sink published, and the address of its first byte. */
	uint32_t key;
	uint64_t key_addr;
};

static struct o2_arena *verbs_arena(struct o2_rung *rung, enum o2_side side, enum o2_dma_kind kind)
{
	return &((struct verbs_rung *)rung)->place[side][kind].ni.arena;
}

static void memory_of(struct verbs_rung *rung, enum o2_side side, uint64_t nob,
		      struct o2_transfer_memory *memory)
{
	const struct o2_scenario_side *from = o2_rung_side(rung->scenario, side);

	o2_rung_memory(from, &rung->place[side][from->kind].ni.arena, nob, rung->iov[side], memory);
}

/* The responder serves the scenario's memory, cut to the bytes offered. */
static int match(void *context, const struct o2_msg *request, uint64_t sink_bytes,
		 struct o2_transfer_memory *memory)
{
	struct verbs_rung *rung = ((struct link *)context)->rung;
	bool put = rung->scenario->op == O2_OP_PUT;

	(void)sink_bytes;
	rung->responder_matched = true;
	if (!put) {
		rung->key = request->u.get.ibgm_rd.rd_key;
		rung->key_addr = request->u.get.ibgm_rd.rd_frags[0].rf_addr;
	}
	memory_of(rung, put ? O2_SINK : O2_SOURCE, o2_scenario_moved(rung->scenario), memory);
	return 0;
}

static void done(void *context, const struct o2_transfer_result *result)
{
	struct verbs_rung *rung = ((struct link *)context)->rung;
	const enum o2_dma_kind kind = o2_rung_side(rung->scenario, result->side)->kind;
	const struct o2_ni *ni = &rung->place[result->side][kind].ni;

	if (result->side == O2_SOURCE)
		rung->observed->nwr = result->nwr;
	else
		rung->observed->nfrags = result->nfrags;
	if (result->initiator) {
		rung->observed->initiator = o2_rung_saw(result, ni);
		rung->initiator_done = true;
	} else {
		rung->observed->responder = o2_rung_saw(result, ni);
		rung->responder_done = true;
	}
}

static const struct o2_conn_ops conn_ops = {.match = match, .done = done};

static void disconnect(struct link *link)
{
	for (int i = 0; i < 2; i++) {
		if (link->conn[i] != NULL)
			o2_conn_destroy(link->conn[i]);
		link->conn[i] = NULL;
	}
}

/*
 * One transfer at a time needs a depth of 2.  In a deep connection the numbers of receives and transmits
 * exceed a byte.  A connection that is both deep and wide would exceed the queues of a device.
 */
#define DEEP_FRAGS 8u

static uint32_t depth_of(enum o2_dma_kind source, enum o2_dma_kind sink)
{
	static const uint32_t depths[O2_DMA_KINDS][O2_DMA_KINDS] = {
		{O2_MAX_QUEUE_DEPTH, O2_MAX_QUEUE_DEPTH - 1, 128},
		{127, 129, O2_MAX_QUEUE_DEPTH},
		{128, 128, 64}};

	return depths[source][sink];
}

/* Tell the judge the agreed terms. */
static int tell_judge(struct verbs_rung *rung, const struct link *link, const struct o2_conn_config *config,
		      const struct o2_conn_address *source, const struct o2_conn_address *sink)
{
	const void *const conn[] = {link->conn[O2_SOURCE], link->conn[O2_SINK]};
	const struct o2_judge_terms terms = {
		.nid = {source->nid, sink->nid},
		.stamp = {source->incarnation, sink->incarnation},
		.version = config->version,
		.queue_depth =
			source->queue_depth < sink->queue_depth ? source->queue_depth : sink->queue_depth,
		.max_frags = config->max_frags,
		.max_msg_bytes = {O2_MSG_BYTES, O2_MSG_BYTES},
	};

	return o2_rung_judge_met(rung->judge, conn, &terms);
}

static int connect_link(struct verbs_rung *rung, struct link *link, enum o2_dma_kind source,
			enum o2_dma_kind sink, bool deep, struct o2_error *error)
{
	struct o2_ni *ni[2] = {&rung->place[O2_SOURCE][source].ni, &rung->place[O2_SINK][sink].ni};
	struct o2_conn_config config = O2_CONN_DEFAULTS;
	struct o2_conn_address address[2];
	int rc = 0;

	config.queue_depth = deep ? depth_of(source, sink) : O2_RUNG_QUEUE_DEPTH;
	config.max_frags = deep ? DEEP_FRAGS : O2_MAX_FRAGS;
	config.wrq_sge = O2_MAX_WRQ_SGE;
	config.ack_timeout = 14; /* so that a lost peer is noticed soon */
	link->rung = rung;
	rung->rung.connections++;
	for (int i = 0; i < 2 && rc == 0; i++) {
		rc = o2_conn_create(ni[i], &config, &conn_ops, link, &link->conn[i], error);
		if (rc == 0)
			o2_conn_get_address(link->conn[i], &address[i]);
	}
	for (int i = 0; i < 2 && rc == 0; i++)
		rc = o2_conn_connect(link->conn[i], &address[1 - i], error);
	if (rc == 0)
		rc = tell_judge(rung, link, &config, &address[0], &address[1]);
	if (rc != 0)
		disconnect(link);
	return rc;
}

/* Get the link for the scenario, connect it, and set the format of its messages. */
static int prepare_link(struct verbs_rung *rung, const struct o2_scenario *scenario, struct link **out,
			struct o2_error *error)
{
	const bool deep = scenario->max_frags <= DEEP_FRAGS;
	struct link *link = &rung->link[deep][scenario->source.kind][scenario->sink.kind];
	const struct o2_conn_config limits = o2_rung_limits(scenario);

	if (link->conn[0] == NULL) {
		int rc = connect_link(rung, link, scenario->source.kind, scenario->sink.kind, deep, error);

		if (rc != 0)
			return rc;
	}
	for (int i = 0; i < 2; i++) {
		const struct o2_scenario_side *side = o2_rung_side(scenario, (enum o2_side)i);
		int rc = o2_conn_set_limits(link->conn[i], &limits, error);

		if (rc == 0)
			rc = o2_rung_tell_device(side, &rung->place[i][side->kind].ni, error);
		if (rc != 0)
			return rc;
	}
	*o2_rung_judge_form(rung->judge) = o2_rung_form(scenario);
	*out = link;
	return 0;
}

/* Drive both ends until the transfer has ended at both. */
static void finish(struct verbs_rung *rung, struct link *link)
{
	double deadline = 0;
	uint32_t idle = 0;

	while (!rung->initiator_done || (rung->responder_matched && !rung->responder_done)) {
		int a = o2_conn_progress(link->conn[O2_SOURCE]);
		int b = o2_conn_progress(link->conn[O2_SINK]);

		if (a > 0 || b > 0) {
			idle = 0;
			continue;
		}
		if (a < 0 && b < 0)
			return;
		if (++idle < 1024)
			continue;
		/* Look at the clock only when nothing happens. */
		idle = 0;
		if (deadline == 0)
			deadline = o2_monotonic_seconds() + O2_RUNG_GIVE_UP_S;
		else if (o2_monotonic_seconds() > deadline) {
			rung->observed->stuck = true;
			return;
		}
	}
}

static uint32_t sends_in_flight(const struct link *link)
{
	struct o2_conn_view a, b;

	o2_conn_view(link->conn[O2_SOURCE], &a);
	o2_conn_view(link->conn[O2_SINK], &b);
	return a.flow.in_flight + b.flow.in_flight;
}

/* After a transfer, wait for NOOPs of either end that are in flight and hold a message slot. */
static void land_noops(const struct link *link)
{
	double deadline = o2_monotonic_seconds() + O2_RUNG_GIVE_UP_S;

	while (sends_in_flight(link) > 0 && o2_monotonic_seconds() < deadline)
		if (o2_conn_progress(link->conn[O2_SOURCE]) < 0 || o2_conn_progress(link->conn[O2_SINK]) < 0)
			return;
}

/* Try the key of an ended transfer, which must be dead except in modes that keep keys alive (docs/modes.md). */
static int try_stale_key(struct verbs_rung *rung, struct link *link)
{
	const struct o2_scenario *scenario = rung->scenario;
	struct o2_observed *observed = rung->observed;
	enum ibv_wc_status status;
	int rc;

	if (!o2_rung_tries_key(scenario) || observed->responder.status != 0 ||
	    observed->initiator.status != 0 || !observed->responder.involved)
		return 0;
	rc = o2_rung_try_key(&rung->place[O2_SOURCE][scenario->source.kind].ni, link->conn[O2_SOURCE],
			     rung->key_addr, rung->key, &status);
	disconnect(link); /* it cannot be used any more, whatever came of it */
	if (rc != 0)
		return rc;
	observed->stale_tried = true;
	observed->stale_admitted = status != IBV_WC_REM_ACCESS_ERR;
	return 0;
}

static int run_transfer(struct verbs_rung *rung, const struct o2_scenario *scenario,
			struct o2_observed *observed, struct o2_error *error)
{
	bool put = scenario->op == O2_OP_PUT;
	enum o2_side first = o2_rung_initiator(scenario);
	struct o2_transfer_memory memory;
	struct o2_lnet_hdr hdr;
	struct o2_conn_address address;
	struct link *link;
	int rc;

	memset(observed, 0, sizeof(*observed));
	rung->scenario = scenario;
	rung->observed = observed;
	rung->initiator_done = rung->responder_matched = rung->responder_done = false;
	rc = prepare_link(rung, scenario, &link, error);
	if (rc != 0)
		return rc;
	o2_conn_get_address(link->conn[first], &address);
	observed->queue_depth = address.queue_depth;
	memory_of(rung, first, o2_rung_side(scenario, first)->nob, &memory);
	hdr = o2_conn_lnet_hdr(link->conn[first], put ? O2_LNET_PUT : O2_LNET_GET, 0, memory.buffer.nob);
	rc = put ? o2_conn_put(link->conn[first], &hdr, &memory, NULL, error)
		 : o2_conn_get(link->conn[first], &hdr, &memory, NULL, error);
	if (rc != 0) {
		observed->local = true;
		observed->initiator.involved = true;
		observed->initiator.status = rc;
		observed->initiator.fault.side = O2_FAULT_LOCAL_STAGE;
		observed->initiator.fault.code = rc;
		observed->initiator.fault.error = *error;
		return 0;
	}
	finish(rung, link);
	land_noops(link);
	if (observed->stuck || o2_conn_get_state(link->conn[0]) != O2_CONN_ESTABLISHED ||
	    o2_conn_get_state(link->conn[1]) != O2_CONN_ESTABLISHED) {
		disconnect(link);
		return 0;
	}
	rc = try_stale_key(rung, link);
	return rc != 0 ? o2_refuse_value(error, rc, "rung/stale-key", "key", rung->key, O2_NO_LIMIT) : 0;
}

static int verbs_transfer(struct o2_rung *base, const struct o2_scenario *scenario,
			  struct o2_observed *observed, struct o2_error *error)
{
	struct verbs_rung *rung = (struct verbs_rung *)base;
	const int rc = run_transfer(rung, scenario, observed, error);

	for (int i = 0; i < 2 && rc == 0; i++) {
		const enum o2_dma_kind kind = o2_rung_side(scenario, (enum o2_side)i)->kind;

		observed->ways[i] = o2_rung_ways(scenario, (enum o2_side)i, &rung->place[i][kind].ni);
		/* Each of the two ends has sent one at least. */
		if (o2_rung_judge_form(rung->judge)->seen >= 2)
			observed->ways[i] |= O2_WAY_FORMED;
	}
	observed->broken = o2_rung_judge_broken(rung->judge, &observed->judged);
	return rc;
}

static int verbs_check_idle(struct o2_rung *base, struct o2_error *error)
{
	struct verbs_rung *rung = (struct verbs_rung *)base;
	int rc = 0;

	for (uint32_t i = 0; i < INTERFACES && rc == 0; i++)
		rc = o2_ni_check_idle(&rung->place[i / O2_DMA_KINDS][i % O2_DMA_KINDS].ni, error);
	return rc;
}

static void verbs_ledger(struct o2_rung *base, struct o2_dma_ledger *ledger)
{
	struct verbs_rung *rung = (struct verbs_rung *)base;

	*ledger = (struct o2_dma_ledger){0};
	for (uint32_t i = 0; i < INTERFACES; i++)
		o2_rung_add_ledger(ledger, &rung->place[i / O2_DMA_KINDS][i % O2_DMA_KINDS].ni.ledger);
}

static void verbs_close(struct o2_rung *base)
{
	struct verbs_rung *rung = (struct verbs_rung *)base;

	for (uint32_t i = 0; i < sizeof(rung->link) / sizeof(rung->link[0][0][0]); i++)
		disconnect(&rung->link[0][0][0] + i);
	for (uint32_t i = 0; i < INTERFACES; i++) {
		o2_place_close(&rung->place[i / O2_DMA_KINDS][i % O2_DMA_KINDS]);
	}
	o2_rung_judge_free(rung->judge);
	free(rung);
}

static const struct o2_rung_ops verbs_ops = {
	.name = "verbs",
	.has_depths = true,
	.has_keys = true,
	.has_ways = true,
	.arena = verbs_arena,
	.transfer = verbs_transfer,
	.check_idle = verbs_check_idle,
	.ledger = verbs_ledger,
	.close = verbs_close,
};

int o2_rung_open_verbs(const char *source_device, const char *sink_device, uint8_t gid_index,
		       struct o2_rung **out, struct o2_error *error)
{
	struct verbs_rung *rung = calloc(1, sizeof(*rung));

	if (rung == NULL)
		return o2_refuse_value(error, -ENOMEM, "rung/memory", "rung", sizeof(*rung), O2_NO_LIMIT);
	rung->rung.ops = &verbs_ops;
	rung->judge = o2_rung_judge_new();
	if (rung->judge == NULL) {
		free(rung);
		return o2_refuse_value(error, -ENOMEM, "rung/memory", "judge", 0, O2_NO_LIMIT);
	}
	for (uint32_t i = 0; i < INTERFACES; i++) {
		struct o2_ni_config config = {
			.device = i / O2_DMA_KINDS == O2_SOURCE ? source_device : sink_device,
			.gid_index = gid_index,
			.nid = NID(i / O2_DMA_KINDS),
			.incarnation = INCARNATION(i / O2_DMA_KINDS),
			.dma_kind = (enum o2_dma_kind)(i % O2_DMA_KINDS),
			.dma_base = O2_RUNG_BUS_BASE,
			/* For messages; for transfers the scenario decides. */
			.bounce = i % O2_DMA_KINDS == O2_DMA_IOMMU,
			.arena_pages = O2_SCENARIO_PAGES,
			.sizes = {.tx_size = O2_RUNG_POOL_SIZE, .reg_size = O2_RUNG_POOL_SIZE},
			.watch = o2_rung_judge_watch(rung->judge),
		};
		int rc =
			o2_place_open(&rung->place[i / O2_DMA_KINDS][i % O2_DMA_KINDS], &config, NULL, error);

		if (rc != 0) {
			verbs_close(&rung->rung);
			return rc;
		}
	}
	*out = &rung->rung;
	return 0;
}
