/* SPDX-License-Identifier: MIT */
/* Random traffic between two nodes: callbacks of each node, and their checks (tests/device/cm/traffic.h). */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "props/world/account.h"
#include "tests/device/cm/traffic.h"

#define SHOWN 20u /* connections for which the reason of their end is printed */

static const char *const kind_names[TRAFFIC_KINDS] = {"PUT", "GET", "IMMEDIATE"};

int traffic_free_slot(const struct traffic *traffic)
{
	for (uint32_t at = 0; at < TRAFFIC_SLOTS; at++)
		if (!traffic->slot[at].used)
			return (int)at;
	return -1;
}

static void wrong(struct traffic *traffic, const struct traffic_op *op,
		  const struct o2_transfer_result *result, const char *role)
{
	uint64_t nob;
	int foretold = traffic_foretell(op, &nob);

	traffic->wrong++;
	printf("wrong: %s %s, status %d, %" PRIu64 " bytes, foretold %d, %" PRIu64 " bytes, key 0x%" PRIx64
	       "\n",
	       role, kind_names[op->kind], result->status, result->nob, foretold, nob, op->key);
}

static bool as_foretold(const struct traffic_op *op, const struct o2_transfer_result *result)
{
	uint64_t nob;

	return result->status == traffic_foretell(op, &nob) && result->nob == nob;
}

/* sink: the local memory that the operation wrote, or NULL. */
static void judge(struct traffic *traffic, const struct traffic_op *op, const struct traffic_memory *sink,
		  const struct o2_transfer_result *result, const char *role)
{
	bool failed = result->status != 0;

	if ((!failed && !as_foretold(op, result)) || (failed && result->nob != 0) ||
	    (sink != NULL && !traffic_exact(op, sink, &traffic->ni.arena, result->nob, failed)))
		wrong(traffic, op, result, role);
}

static int on_match(void *context, uint64_t nid, const struct o2_msg *request, uint64_t sink_bytes,
		    struct o2_transfer_memory *memory)
{
	struct traffic *traffic = context;
	bool put = request->ibm_type == O2_MSG_PUT_REQ;
	const struct o2_lnet_hdr *hdr = put ? &request->u.putreq.hdr : &request->u.get.hdr;
	uint64_t bits = put ? hdr->msg.put.match_bits : hdr->msg.get.match_bits;
	struct traffic_slot *slot;
	int at = traffic_free_slot(traffic);

	(void)nid;
	if (at < 0)
		return -EBUSY;
	slot = &traffic->slot[at];
	traffic_draw((uint32_t)(bits >> 32), (uint32_t)bits, (uint32_t)at, &slot->op);
	if (slot->op.kind != (put ? TRAFFIC_PUT : TRAFFIC_GET) ||
	    slot->op.initiator.nob != (put ? hdr->payload_length : sink_bytes)) {
		wrong(traffic, &slot->op, &(struct o2_transfer_result){.nob = sink_bytes}, "asked for");
		return -EPROTO;
	}
	if (slot->op.no_match)
		return -ENODATA;
	slot->used = true;
	slot->sink = put;
	if (put)
		traffic_fill_sink(&slot->op, &slot->op.responder, &traffic->ni.arena);
	else
		traffic_fill_source(&slot->op, &slot->op.responder, &traffic->ni.arena);
	*memory = traffic_transfer(&slot->op.responder, &traffic->ni.arena, (uint64_t)at);
	return 0;
}

static int on_receive(void *context, uint64_t nid, const struct o2_msg *msg)
{
	struct traffic *traffic = context;
	const struct o2_lnet_hdr *hdr = &msg->u.immediate.hdr;
	uint64_t bits = hdr->msg.put.match_bits;
	struct traffic_op op;

	(void)nid;
	traffic_draw((uint32_t)(bits >> 32), (uint32_t)bits, 0, &op);
	traffic->received++;
	if (op.kind != TRAFFIC_IMMEDIATE || hdr->payload_length != op.initiator.nob ||
	    !traffic_bytes_are(&op, msg->u.immediate.payload, hdr->payload_length))
		wrong(traffic, &op, &(struct o2_transfer_result){.nob = hdr->payload_length}, "received");
	return 0;
}

static void on_served(struct traffic *traffic, const struct o2_transfer_result *result)
{
	struct traffic_slot *slot = &traffic->slot[result->tag];

	traffic->served++;
	traffic->served_failed += result->status != 0;
	judge(traffic, &slot->op, slot->sink ? &slot->op.responder : NULL, result, "served");
	slot->used = false;
}

static void count(struct traffic *traffic, const struct traffic_op *op)
{
	struct traffic_kinds *kinds = &traffic->kinds;
	bool less = op->responder.nob < op->initiator.nob;

	kinds->immediate += op->kind == TRAFFIC_IMMEDIATE;
	kinds->no_match += op->no_match;
	if (op->kind == TRAFFIC_IMMEDIATE || op->no_match)
		return;
	kinds->put += op->kind == TRAFFIC_PUT;
	kinds->get += op->kind == TRAFFIC_GET;
	kinds->short_put += op->kind == TRAFFIC_PUT && less;
	kinds->short_get += op->kind == TRAFFIC_GET && less;
	kinds->large += op->responder.nob >= TRAFFIC_LARGE_BYTES;
	kinds->mode[op->initiator.mode]++;
	kinds->mode[op->responder.mode]++;
}

void traffic_done(struct traffic *traffic, const struct o2_transfer_result *result)
{
	struct traffic_slot *slot = &traffic->slot[result->tag];
	int code = -result->status;

	traffic->ended++;
	traffic->open--;
	if (!slot->used)
		traffic->wrong++; /* ended a second time */
	judge(traffic, &slot->op, slot->op.kind == TRAFFIC_GET ? &slot->op.initiator : NULL, result,
	      "driven");
	if (as_foretold(&slot->op, result)) {
		traffic->exact++;
		traffic->bytes += result->nob;
		count(traffic, &slot->op);
	} else {
		traffic->failed++;
		traffic->failed_by[code > 0 && code < TRAFFIC_ERRNOS ? code : 0]++;
	}
	slot->used = false;
}

static void on_done(void *context, uint64_t nid, const struct o2_transfer_result *result)
{
	(void)nid;
	if (result->initiator)
		traffic_done(context, result);
	else
		on_served(context, result);
}

static void on_up(void *context, uint64_t nid)
{
	struct traffic *traffic = context;
	uint32_t i = 0;

	while (i < traffic->npeers && traffic->peer[i] != nid)
		i++;
	if (i == traffic->npeers && i < TRAFFIC_PEERS)
		traffic->peer[traffic->npeers++] = nid;
	traffic->up++;
	printf("up\n");
	fflush(stdout);
}

static void on_down(void *context, uint64_t nid, const struct o2_transfer_fault *fault)
{
	struct traffic *traffic = context;
	char text[512];

	(void)nid;
	/* Print only the first SHOWN; a peer that is away for a while causes many. */
	if (traffic->down++ >= SHOWN || fault->code == 0)
		return;
	o2_fault_text(fault, text, sizeof(text));
	fprintf(stderr, "down: %s; %s\n", strerror(-fault->code), text);
}

const struct o2_node_ops traffic_ops = {
	.match = on_match,
	.receive = on_receive,
	.done = on_done,
	.up = on_up,
	.down = on_down,
};

static void check_account(struct traffic *traffic, const struct o2_conn *conn)
{
	struct o2_node_config config = O2_NODE_DEFAULTS; /* except for times and gathering */
	struct o2_account_limits limits;
	struct o2_conn_view view;
	struct o2_account account;

	o2_conn_view(conn, &view);
	config.conn.version = view.flow.version;
	/* The connection may have agreed on less: these are the upper limits. */
	o2_account_limits(&config.conn, NULL, &limits);
	o2_account_agree(&config.conn, view.flow.queue_depth, &limits);
	if (o2_account_end(&view, &limits, &account)) {
		traffic->accounts++;
		return;
	}
	traffic->wrong++;
	printf("wrong: account of a connection: %s is %" PRIu64 ", expected %" PRIu64 "\n", account.what,
	       account.is, account.expected);
}

void traffic_check_accounts(struct traffic *traffic)
{
	const struct o2_conn *conn;

	for (uint32_t i = 0; i < traffic->npeers; i++)
		for (uint32_t n = 0; (conn = o2_node_conn(traffic->node, traffic->peer[i], n)) != NULL; n++)
			check_account(traffic, conn);
}
