/* SPDX-License-Identifier: MIT */
#include <assert.h>
#include <errno.h>

#include "lst/node_internal.h"
#include "lst/wire/range.h"

/* The servers of the test services: ping and brw. */

/* --- ping --- */

static void ping_request(void *context, const struct o2_lst_request *request)
{
	struct o2_lst_node *node = context;
	const struct o2_lst_ping_reqst *asked = &request->msg->u.ping_reqst;
	struct o2_lst_msg reply = {
		.msg_type = O2_LST_PING_REPLY,
		.msg_ses_feats = request->msg->msg_ses_feats,
		.u.ping_reply = {.pnr_magic = asked->pnr_magic, .pnr_seq = asked->pnr_seq}};
	const bool other_features = (request->msg->msg_ses_feats & ~O2_LST_FEATS_MASK) != 0;

	if (asked->pnr_magic != O2_LST_PING_MAGIC) {
		o2_lst_served_drop(node->rpc, request->served, -EINVAL);
		return;
	}
	if (other_features)
		reply.msg_ses_feats = O2_LST_FEATS_MASK;
	node->report.pings += !other_features;
	o2_lst_node_reply(node, request->served, &reply, other_features ? EPROTO : 0);
}

/* A ping has no bulk. */
static void ping_moved(void *context, uint64_t served, int status, uint64_t bytes)
{
	(void)context;
	(void)served;
	(void)status;
	(void)bytes;
	assert(!"bulk of a ping");
}

static void ping_over(void *context, uint64_t served, int status)
{
	(void)context;
	(void)served;
	(void)status;
}

const struct o2_lst_service_ops o2_lst_node_ping_ops = {ping_request, ping_moved, ping_over};

/* --- brw --- */

/* The slot of a request.  There are max_served slots, as the RPC layer has, so each request has its own. */
static struct o2_lst_brw_slot *slot_of(struct o2_lst_node *node, uint64_t served)
{
	struct o2_lst_brw_slot *slot = &node->brw[(uint32_t)served];

	assert((uint32_t)served < node->config.max_served);
	return slot;
}

static void brw_reply(struct o2_lst_node *node, const struct o2_lst_brw_slot *slot, uint32_t status)
{
	struct o2_lst_msg reply = {.msg_type = O2_LST_BRW_REPLY, .msg_ses_feats = slot->features};

	o2_lst_node_reply(node, slot->served, &reply, status);
}

/* Invert one bit of the bulk, at o2_lst_node_flipped(). */
static int flip(const struct o2_lst_bulk *bulk)
{
	const uint32_t at = o2_lst_node_flipped(bulk->length_bytes);
	uint8_t byte = 0;
	int rc = o2_lst_bulk_read(bulk, at, &byte, 1);

	byte ^= 1;
	return rc != 0 ? rc : o2_lst_bulk_write(bulk, at, &byte, 1);
}

static int move(struct o2_lst_node *node, struct o2_lst_brw_slot *slot)
{
	int rc;

	slot->memory = o2_lst_bulk_memory(&slot->bulk);
	if (slot->reqst.brw_rw == O2_LST_BRW_WRITE) {
		rc = o2_lst_bulk_poison(&slot->bulk);
		return rc != 0 ? rc : o2_lst_served_get(node->rpc, slot->served, &slot->memory);
	}
	rc = o2_lst_bulk_fill(&slot->bulk, node->config.order);
	if (rc == 0 && node->config.flip_bit)
		rc = flip(&slot->bulk);
	return rc != 0 ? rc : o2_lst_served_put(node->rpc, slot->served, &slot->memory);
}

void o2_lst_node_unserved(struct o2_lst_node *node, uint64_t nid, uint64_t served, int code)
{
	if (node->ops.unserved != NULL)
		node->ops.unserved(node->context, nid, code);
	o2_lst_served_drop(node->rpc, served, code);
}

/* Returns true, without any effect, if too few pages are free. */
static bool try_move(struct o2_lst_node *node, struct o2_lst_brw_slot *slot)
{
	int rc = o2_lst_bulk_get(node->server_pages, slot->reqst.brw_len, 0, &slot->bulk);

	if (rc == -ENOBUFS)
		return true;
	if (rc == 0)
		rc = move(node, slot);
	if (rc != 0)
		o2_lst_node_unserved(node, slot->nid, slot->served, rc);
	return false;
}

static void wait_for_pages(struct o2_lst_node *node, struct o2_lst_brw_slot *slot)
{
	slot->waiting = true;
	TAILQ_INSERT_TAIL(&node->waiting, slot, link);
}

static void leave_queue(struct o2_lst_node *node, struct o2_lst_brw_slot *slot)
{
	TAILQ_REMOVE(&node->waiting, slot, link);
	slot->waiting = false;
}

/* Pages were freed: serve the requests that wait for pages. */
static void serve_waiting(struct o2_lst_node *node)
{
	struct o2_lst_brw_slot *slot;

	while ((slot = TAILQ_FIRST(&node->waiting)) != NULL && !node->stopped) {
		leave_queue(node, slot);
		if (!try_move(node, slot))
			continue;
		/* Keep it first in the queue. */
		slot->waiting = true;
		TAILQ_INSERT_HEAD(&node->waiting, slot, link);
		return;
	}
}

static void brw_request(void *context, const struct o2_lst_request *request)
{
	struct o2_lst_node *node = context;
	struct o2_lst_brw_slot *slot = slot_of(node, request->served);

	assert(!slot->in_use);
	*slot = (struct o2_lst_brw_slot){
		.in_use = true,
		.served = request->served,
		.nid = request->nid,
		.features = request->msg->msg_ses_feats,
		.order = request->msg->order,
		.reqst = request->msg->u.brw_reqst,
	};
	if ((slot->features & ~O2_LST_FEATS_MASK) != 0) {
		slot->features = O2_LST_FEATS_MASK;
		brw_reply(node, slot, EPROTO);
	} else if (o2_lst_range_check(request->msg, NULL) != 0) {
		brw_reply(node, slot, EINVAL);
	} else if (!TAILQ_EMPTY(&node->waiting) || try_move(node, slot)) {
		wait_for_pages(node, slot);
	}
}

/* Check a write: all announced bytes have come, and they hold the pattern. */
static uint32_t check_write(struct o2_lst_node *node, const struct o2_lst_brw_slot *slot, uint64_t bytes)
{
	const enum o2_lst_brw_check check = (enum o2_lst_brw_check)slot->reqst.brw_flags;
	struct o2_lst_node_wrong wrong = {.nid = slot->nid, .len = slot->reqst.brw_len, .bytes = bytes};
	const bool whole = bytes == slot->reqst.brw_len;

	node->report.checked_writes += !whole || check == O2_LST_CHECK_SIMPLE || check == O2_LST_CHECK_FULL;
	if (whole && o2_lst_bulk_check(&slot->bulk, check, slot->order, &wrong.word) == 0)
		return 0;
	if (node->ops.wrong != NULL)
		node->ops.wrong(node->context, &wrong);
	return EBADMSG;
}

static void brw_moved(void *context, uint64_t served, int status, uint64_t bytes)
{
	struct o2_lst_node *node = context;
	const struct o2_lst_brw_slot *slot = slot_of(node, served);
	const bool is_write = slot->reqst.brw_rw == O2_LST_BRW_WRITE;
	uint32_t verdict = 0;

	/* -ENODATA: nothing matched the PUT.  Reply all the same; the client sees that no bytes came. */
	if (status != 0 && (is_write || status != -ENODATA)) {
		o2_lst_served_drop(node->rpc, served, status);
		return;
	}
	if (is_write)
		verdict = check_write(node, slot, bytes);
	node->report.bytes += bytes;
	node->report.reads += !is_write;
	node->report.writes += is_write && verdict == 0;
	node->report.wrong_writes += verdict != 0;
	brw_reply(node, slot, verdict);
}

static void brw_over(void *context, uint64_t served, int status)
{
	struct o2_lst_node *node = context;
	struct o2_lst_brw_slot *slot = slot_of(node, served);

	(void)status;
	assert(slot->in_use);
	if (slot->waiting)
		leave_queue(node, slot);
	o2_lst_bulk_put(&slot->bulk);
	slot->in_use = false;
	serve_waiting(node);
}

const struct o2_lst_service_ops o2_lst_node_brw_ops = {brw_request, brw_moved, brw_over};

void o2_lst_node_abort_brw(struct o2_lst_node *node)
{
	for (uint32_t i = 0; i < node->config.max_served; i++)
		if (node->brw[i].in_use)
			o2_lst_served_drop(node->rpc, node->brw[i].served, -ESHUTDOWN);
}
