/* SPDX-License-Identifier: MIT */
#include <assert.h>
#include <errno.h>
#include <string.h>

#include "base/breaks.h"
#include "lnd/conn/conn_internal.h"
#include "mem/kmap.h"
#include "mem/sg_build.h"
#include "wire/layout.h"

/* Values below this are no errno on Linux, but a peer may send any number (docs/transport.md, "Errors"). */
#define LOWEST_ERRNO (-4095)

void o2_tx_move(struct o2_conn *conn, struct o2_tx *tx, enum o2_tx_place list)
{
	if (tx->list != O2_LIST_NONE) {
		TAILQ_REMOVE(&conn->list[tx->list], tx, link);
		conn->nlisted[tx->list]--;
	}
	tx->list = list;
	if (list != O2_LIST_NONE) {
		TAILQ_INSERT_TAIL(&conn->list[list], tx, link);
		conn->nlisted[list]++;
	}
}

bool o2_tx_left(const struct o2_conn *conn, enum o2_tx_owner owner)
{
	return conn->ntaken[owner] < conn->most[owner];
}

static void give(struct o2_conn *conn, struct o2_tx *tx)
{
	uint32_t held = 0;
	int rc;

	o2_tx_move(conn, tx, O2_LIST_NONE);
	conn->nopen -= tx->owner != O2_TX_NOOPS;
	conn->ntaken[tx->owner]--;
	/* What the transmit still holds.  Sends and answers count only while there is a queue pair. */
	if (conn->qp != NULL && tx->nsends > 0)
		held |= O2_TX_HELD_SENDS;
	if (conn->qp != NULL && tx->waiting)
		held |= O2_TX_HELD_ANSWER;
	if (tx->list != O2_LIST_NONE)
		held |= O2_TX_HELD_LIST;
	if (tx->mapping.ledger != NULL)
		held |= O2_TX_HELD_MAPPING;
	if (tx->binding.bound)
		held |= O2_TX_HELD_KEY;
	tx->base.held = held;
	rc = o2_tx_put(tx->set, &tx->base, NULL);
	assert(rc == 0);
}

/* Of capped pools that are in use a quarter is kept for peers: two nodes could wait for each other. */
static int keep_quarter(struct o2_tx_set *set, struct o2_error *error)
{
	const uint64_t cap = set->set.config.max_pools, all = cap * set->config.pool_size;
	struct o2_pool_counts counts;

	o2_pool_set_counts(&set->set, &counts);
	if (counts.live_users == 0 || counts.live_users + (all - 1) / 4 + 1 < all)
		return 0;
	return o2_refuse_value(error, -EBUSY, "pool/cap", "max_pools", cap + 1, cap);
}

int o2_tx_start(struct o2_conn *conn, enum o2_tx_owner owner, enum o2_transfer_op op, struct o2_tx **tx_out,
		struct o2_error *error)
{
	/* All transmits of a connection come from one pool set, so no two of them have the same cookie. */
	struct o2_tx_set *set = &conn->ni->tx_sets[conn->cpt];
	struct o2_pool_tx *base;
	struct o2_tx *tx;
	int rc;

	if (!o2_tx_left(conn, owner))
		return o2_refuse_value(error, -EBUSY, "conn/too-many-transfers", "operations open or queued",
				       (uint64_t)conn->config.max_transfers + 1, conn->config.max_transfers);
	rc = owner == O2_TX_OURS && set->set.config.max_pools > 0 ? keep_quarter(set, error) : 0;
	if (rc == 0)
		rc = o2_tx_take(set, &base, error);
	if (rc != 0)
		return rc;
	tx = (struct o2_tx *)(void *)base; /* base is the first member of struct o2_tx */
	memset((uint8_t *)tx + sizeof(*base), 0, sizeof(*tx) - sizeof(*base));
	tx->set = set;
	tx->arrays = base->storage;
	tx->owner = owner;
	tx->op = op;
	/* The side that GETs is the sink, and so is the side that a peer PUTs to. */
	tx->side = (op == O2_OP_GET) != (owner == O2_TX_PEERS) ? O2_SINK : O2_SOURCE;
	tx->initiator = owner == O2_TX_OURS;
	tx->silent = true;
	conn->ntaken[owner]++;
	conn->nopen += owner != O2_TX_NOOPS;
	*tx_out = tx;
	return 0;
}

/* A transmit with this cookie that waits for another answer, or for none, does not match. */
struct o2_tx *o2_tx_find(struct o2_conn *conn, uint64_t cookie, enum o2_msg_type type, const char *field)
{
	struct o2_tx *tx;

	TAILQ_FOREACH(tx, &conn->list[O2_LIST_ACTIVE], link)
		if (tx->base.cookie == cookie && tx->waiting && tx->type == type)
			return tx;
	if (o2_breaks("conn/unknown-cookie", true))
		o2_conn_refuse_message(conn, "conn/unknown-cookie", field, cookie, O2_NO_LIMIT);
	return NULL;
}

static uint64_t deadline_of(const struct o2_conn *conn)
{
	return conn->config.timeout_ms == 0 ? UINT64_MAX
					    : o2_clock_ms(&conn->ni->clock) + conn->config.timeout_ms;
}

void o2_tx_await_window(struct o2_conn *conn, struct o2_tx *tx, enum o2_msg_type type)
{
	tx->type = type;
	tx->deadline_ms = deadline_of(conn);
	o2_tx_move(conn, tx, O2_LIST_WINDOW);
}

void o2_tx_queue(struct o2_conn *conn, struct o2_tx *tx, enum o2_msg_type type)
{
	enum o2_tx_place list = O2_LIST_NOCRED; /* an answer, or a NOOP of version 2 */

	if (type == O2_MSG_PUT_REQ || type == O2_MSG_GET_REQ)
		list = O2_LIST_RESERVED;
	else if (type == O2_MSG_IMMEDIATE)
		list = O2_LIST_QUEUE;
	else if (type == O2_MSG_NOOP && conn->credits.version == O2_MSG_VERSION_1)
		list = O2_LIST_NOOPS;
	tx->type = type;
	tx->deadline_ms = deadline_of(conn);
	tx->waiting = list == O2_LIST_RESERVED || type == O2_MSG_PUT_ACK;
	o2_tx_move(conn, tx, list);
}

/* Invalidate a sink's key before reporting: no peer may write into memory that its owner considers finished. */
void o2_tx_settle(struct o2_conn *conn, struct o2_tx *tx)
{
	tx->waiting = false;
	if (o2_binding_needs_invalidate(&tx->binding)) {
		tx->invalidating = true;
		o2_tx_move(conn, tx, O2_LIST_INVALIDATE);
	} else {
		o2_tx_check_done(conn, tx);
	}
}

void o2_tx_check_done(struct o2_conn *conn, struct o2_tx *tx)
{
	if (tx->list == O2_LIST_ACTIVE && tx->nsends == 0 && !tx->waiting && !tx->invalidating)
		o2_tx_end(conn, tx);
}

void o2_tx_end(struct o2_conn *conn, struct o2_tx *tx)
{
	struct o2_transfer_result result;
	bool silent = tx->silent;

	o2_tx_unmap(conn, tx);
	result = (struct o2_transfer_result){
		.op = tx->op,
		.initiator = tx->initiator,
		.side = tx->side,
		.tag = tx->tag,
		.cookie = tx->base.cookie,
		.health = tx->health,
		.status = tx->fault.code,
		.nob = tx->fault.code == 0 ? tx->nob : 0,
		.nfrags = tx->nfrags,
		.nwr = tx->nwr,
		.fault = tx->fault,
	};
	give(conn, tx);
	if (!silent)
		conn->ops.done(conn->context, &result);
}

void o2_tx_fault_stage(struct o2_tx *tx, int code, const struct o2_error *error)
{
	if (tx->fault.side == O2_FAULT_NONE)
		tx->fault = o2_fault_of(O2_FAULT_LOCAL_STAGE, code, error);
}

void o2_tx_fault_peer(struct o2_tx *tx, int32_t status)
{
	int code = o2_breaks("transfer/lowest-errno", status < LOWEST_ERRNO) ? -EIO : status;

	if (tx->fault.side != O2_FAULT_NONE)
		return;
	tx->health = O2_HEALTH_REMOTE_ERROR;
	tx->fault = o2_fault_of(O2_FAULT_PEER_STATUS, code, NULL);
	o2_fail(&tx->fault.error, code, "transfer/peer-status", "-ibcm_status", (uint64_t)(-(int64_t)status));
}

/* The mapping of a transmit's memory: made when it starts, undone once, when it ends. */

/* Bytes of a GET_REQ in front of its first fragment. */
#define BYTES_TO_SINK_FRAGS (O2_AT_GET_REQ_DESC + O2_DESC_AT_FRAGS)
static_assert(O2_MIN_MSG_BYTES == BYTES_TO_SINK_FRAGS + O2_FRAG_BYTES,
	      "the least message holds one fragment");

uint32_t o2_sink_frags(const struct o2_conn *conn)
{
	uint32_t fit = (conn->peer.max_msg_bytes - BYTES_TO_SINK_FRAGS) / O2_FRAG_BYTES;

	return conn->config.max_frags < fit ? conn->config.max_frags : fit;
}

int o2_tx_plan(struct o2_conn *conn, const struct o2_tx *tx, const struct o2_transfer_memory *memory,
	       struct o2_error *error)
{
	struct o2_ni *ni = conn->ni;
	struct o2_scratch *scratch = &conn->scratch;
	struct o2_address_space space = o2_arena_space(&ni->arena);
	struct o2_reg_request request = {
		.mode = memory->mode,
		.side = tx->side,
		.page_bytes = space.page_bytes,
		.max_pages = O2_MAX_FRAGS,
		.peer_max_frags = tx->side == O2_SINK ? o2_sink_frags(conn) : conn->config.max_frags,
	};
	int rc = o2_sg_build(&memory->buffer, &space, O2_MAX_FRAGS, &scratch->sg, error);

	if (rc == 0)
		rc = o2_dma_map(&scratch->sg, &ni->domain.dma, &scratch->dma, error);
	if (rc != 0)
		return rc;
	if (memory->by_policy)
		rc = o2_reg_choose(&ni->domain.caps, &ni->config.policy, scratch->dma.count, &request.mode,
				   error);
	if (rc != 0)
		return rc;
	/* With fmr_per_segment, mode fmr treats every list as if it had gaps, and collapses none. */
	request.gaps = scratch->sg.gaps || (request.mode == O2_REG_FMR && ni->domain.fmr_per_segment);
	request.iova = memory->iova;
	if (request.mode == O2_REG_USER)
		request.contiguous = o2_virtual_range(&memory->buffer, &request.iova);
	return o2_reg_plan(&request, &scratch->dma, &scratch->reg, error);
}

int o2_tx_map(struct o2_conn *conn, struct o2_tx *tx, const struct o2_transfer_memory *memory,
	      struct o2_error *error)
{
	const enum o2_dma_direction direction = o2_dma_direction_of(tx->side);
	const struct o2_sg_list *sg = &conn->scratch.sg;
	struct o2_ni *ni = conn->ni;
	/* Keep no windows while nothing is bound: no release would ever wake an operation that waited for them. */
	const uint32_t kept = tx->owner == O2_TX_OURS && ni->domain.nbound > 0 ? ni->kept_windows : 0;
	const uint64_t quarter =
		(ni->domain.max_bound - 1) / 4 + 1; /* of the elements, if pools are capped */
	int rc = o2_tx_plan(conn, tx, memory, error);

	if (rc == 0 && ni->domain.nbound + (kept < quarter ? kept : quarter) >= ni->domain.max_bound)
		rc = o2_fail(error, -ENOBUFS, "conn/pools", "registrations", ni->domain.nbound);
	if (rc == 0)
		rc = o2_ledger_map(&ni->ledger, sg->count, direction, &tx->mapping, error);
	if (rc != 0)
		return rc;
	tx->arrays->frags.count = sg->count;
	if (ni->domain.bounce) {
		memcpy(tx->arrays->frags.entry, sg->entry, sg->count * sizeof(sg->entry[0]));
		rc = o2_bounce_map(&ni->arena, &tx->arrays->frags, direction, error);
	}
	if (rc != 0) {
		/* The map failed as a whole, so there are no bounced bytes to copy back. */
		o2_ledger_unmap(&ni->ledger, sg->count, direction, &tx->mapping, NULL);
		return rc;
	}
	o2_reg_keep_windows(&ni->domain, kept);
	rc = o2_reg_bind(&ni->domain, conn->cpt, &conn->scratch.reg, &tx->binding, error);
	if (rc != 0)
		return rc;
	o2_binding_desc(&tx->binding, &conn->scratch.reg, &tx->arrays->desc);
	tx->nob_mapped = sg->nob;
	return 0;
}

/* Release the registration before the mapping under it; a failed transfer may have only the mapping. */
void o2_tx_unmap(struct o2_conn *conn, struct o2_tx *tx)
{
	const enum o2_dma_direction direction = o2_dma_direction_of(tx->side);
	const bool failed = tx->fault.code != 0;
	struct o2_ni *ni = conn->ni;
	struct o2_error error;
	int rc;

	if (tx->binding.bound) {
		rc = failed ? 0 : o2_reg_deliver(&ni->domain, &tx->binding, tx->nob, &error);
		if (rc != 0)
			o2_tx_fault_stage(tx, rc, &error);
		rc = o2_reg_unbind(&ni->domain, &tx->binding, failed, &error);
		if (rc != 0)
			o2_tx_fault_stage(tx, rc, &error);
	}
	if (tx->mapping.ledger == NULL)
		return;
	o2_ledger_unmap(&ni->ledger, tx->arrays->frags.count, direction, &tx->mapping, NULL);
	rc = ni->domain.bounce ? o2_bounce_unmap(&ni->arena, &tx->arrays->frags, direction, &error) : 0;
	if (rc != 0)
		o2_tx_fault_stage(tx, rc, &error);
}
