/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "props/nodes_internal.h"

/*
 * Operations.  Number k of node i has page k of node i's arena, and page (1 + i) * O2_NODES_OPS + k of that
 * of the node it goes to; the match bits say i and k.
 */

#define BYTES_MAX     4000u
#define IMMEDIATE_MAX 512u

static uint8_t byte_at(uint32_t i, uint32_t k, uint32_t at)
{
	return (uint8_t)(at * 7 + i * 101 + k * 13 + 1);
}

static uint8_t *page_of(const struct o2_nodes_seat *seat, uint32_t page)
{
	return seat->ni.arena.memory + (uint64_t)page * seat->ni.arena.page_bytes;
}

static uint32_t page_there(uint32_t i, uint32_t k)
{
	return (1 + i) * O2_NODES_OPS + k;
}

static void fill(uint8_t *bytes, uint32_t i, uint32_t k, uint32_t length)
{
	for (uint32_t at = 0; at < length; at++)
		bytes[at] = byte_at(i, k, at);
}

static void check_bytes(struct o2_nodes *nodes, const uint8_t *bytes, uint32_t i, uint32_t k, uint32_t length)
{
	for (uint32_t at = 0; at < length; at++)
		if (bytes[at] != byte_at(i, k, at)) {
			o2_report_fail(nodes->report, "nodes/bytes",
				       "operation %" PRIu32 " of node %" PRIu32 ": byte %" PRIu32
				       " of %" PRIu32 " is %u, expected %u",
				       k, i, at, length, bytes[at], byte_at(i, k, at));
			return;
		}
}

/* The operation that match bits name; NULL, and a finding: none that could have come here. */
static struct o2_nodes_op *named(struct o2_nodes_seat *seat, uint64_t nid, uint64_t bits)
{
	struct o2_nodes *nodes = seat->nodes;
	uint64_t i = bits >> 8, k = bits & 0xff;

	if (i < nodes->nseats && k < nodes->seat[i].nops && nid == o2_nodes_nid((uint32_t)i) &&
	    nodes->seat[i].op[k].to == seat->index)
		return &nodes->seat[i].op[k];
	o2_report_fail(nodes->report, "nodes/stranger",
		       "node %" PRIu32 " is asked for what nobody has started: match bits 0x%" PRIx64,
		       seat->index, bits);
	return NULL;
}

/* An operation may come to its other end once. */
static bool arrives(struct o2_nodes_seat *seat, struct o2_nodes_op *op)
{
	if (op->matched)
		o2_report_fail(seat->nodes->report, "nodes/twice",
			       "an operation has come to node %" PRIu32 " twice", seat->index);
	op->matched = true;
	return !seat->nodes->report->failed;
}

static struct o2_transfer_memory memory_of(struct o2_kiov *kiov, uint32_t page, uint32_t bytes, uint64_t tag)
{
	*kiov = (struct o2_kiov){page, 0, bytes};
	return (struct o2_transfer_memory){
		.buffer = {.kind = O2_KIOV, .count = 1, .nob = bytes, .kiov = kiov},
		.mode = O2_REG_GLOBAL,
		.tag = tag,
	};
}

static int match(void *context, uint64_t nid, const struct o2_msg *request, uint64_t sink_bytes,
		 struct o2_transfer_memory *memory)
{
	struct o2_nodes_seat *seat = context;
	bool get = request->ibm_type == O2_MSG_GET_REQ;
	uint64_t bits =
		get ? request->u.get.hdr.msg.get.match_bits : request->u.putreq.hdr.msg.put.match_bits;
	struct o2_nodes_op *op = named(seat, nid, bits);
	uint32_t i = (uint32_t)(bits >> 8), k = bits & 0xff;
	uint8_t *bytes;

	if (op == NULL || !arrives(seat, op))
		return -ENODATA;
	if (get && sink_bytes != op->bytes)
		o2_report_fail(seat->nodes->report, "nodes/length",
			       "a GET of %" PRIu32 " bytes arrives as one of %" PRIu64, op->bytes,
			       sink_bytes);
	bytes = page_of(seat, page_there(i, k));
	memset(bytes, 0, BYTES_MAX);
	if (get)
		fill(bytes, i, k, op->bytes);
	*memory = memory_of(&op->kiov_there, page_there(i, k), op->bytes, bits);
	return 0;
}

static int receive(void *context, uint64_t nid, const struct o2_msg *msg)
{
	struct o2_nodes_seat *seat = context;
	const struct o2_lnet_hdr *hdr = &msg->u.immediate.hdr;
	uint64_t bits = hdr->msg.put.match_bits;
	struct o2_nodes_op *op = named(seat, nid, bits);

	if (op == NULL || !arrives(seat, op))
		return 0;
	if (hdr->payload_length != op->bytes)
		o2_report_fail(seat->nodes->report, "nodes/length",
			       "a message of %" PRIu32 " bytes arrives as one of %" PRIu32, op->bytes,
			       hdr->payload_length);
	else
		check_bytes(seat->nodes, msg->u.immediate.payload, (uint32_t)(bits >> 8), bits & 0xff,
			    op->bytes);
	if (op->kind != O2_NODES_REFUSED)
		return 0;
	o2_nodes_seen(seat->nodes, O2_NODES_SEEN_HEADER_REFUSED);
	return -EPROTO;
}

/* What docs/connection.md and docs/transport.md let an operation end with. */
static bool documented(int status)
{
	static const int codes[] = {0,		 -EHOSTUNREACH, -ECONNREFUSED, -ENETDOWN, -ENOTCONN,
				    -ECONNRESET, -ETIMEDOUT,	-ECONNABORTED, -EIO};

	for (size_t i = 0; i < sizeof(codes) / sizeof(codes[0]); i++)
		if (codes[i] == status)
			return true;
	return false;
}

static void count_done(struct o2_nodes *nodes, const struct o2_nodes_op *op)
{
	static const enum o2_nodes_situation kinds[O2_NODES_KINDS] = {
		O2_NODES_SEEN_PUT, O2_NODES_SEEN_GET, O2_NODES_SEEN_IMMEDIATE, O2_NODES_SEEN_IMMEDIATE};

	if (op->status == 0)
		o2_nodes_seen(nodes, kinds[op->kind]);
	else if (op->status == -ECONNREFUSED)
		o2_nodes_seen(nodes, O2_NODES_SEEN_REFUSED);
}

static void done_here(struct o2_nodes_seat *seat, uint32_t k, const struct o2_transfer_result *result)
{
	struct o2_nodes *nodes = seat->nodes;
	struct o2_nodes_op *op = &seat->op[k];

	op->ended++;
	op->status = result->status;
	count_done(nodes, op);
	if (!documented(result->status))
		o2_report_fail(nodes->report, "nodes/errno",
			       "operation %" PRIu32 " of node %" PRIu32 " ends with %d (%s)", k, seat->index,
			       result->status, strerror(-result->status));
	if (result->status != 0)
		return;
	if (op->kind == O2_NODES_PUT)
		check_bytes(nodes, page_of(&nodes->seat[op->to], page_there(seat->index, k)), seat->index, k,
			    op->bytes);
	else if (op->kind == O2_NODES_GET)
		check_bytes(nodes, page_of(seat, k), seat->index, k, op->bytes);
}

static void done(void *context, uint64_t nid, const struct o2_transfer_result *result)
{
	struct o2_nodes_seat *seat = context;
	struct o2_nodes_op *op;

	if (result->initiator) {
		done_here(seat, (uint32_t)result->tag, result);
		return;
	}
	op = named(seat, nid, result->tag);
	if (op != NULL)
		op->ended_there++;
}

static void up(void *context, uint64_t nid)
{
	o2_nodes_check_up(context, nid);
}

const struct o2_node_ops o2_nodes_ops = {.match = match, .receive = receive, .done = done, .up = up};

static int submit(struct o2_nodes_seat *seat, struct o2_nodes_op *op, uint32_t k)
{
	static const uint32_t pid = 12345;
	uint64_t bits = (uint64_t)seat->index << 8 | k, nid = o2_nodes_nid(op->to);
	struct o2_transfer_memory memory = memory_of(&op->kiov, k, op->bytes, k);
	struct o2_lnet_hdr hdr = {
		.dest_nid = nid,
		.src_nid = o2_nodes_nid(seat->index),
		.dest_pid = pid,
		.src_pid = pid,
		.type = op->kind == O2_NODES_GET ? O2_LNET_GET : O2_LNET_PUT,
	};
	uint8_t *bytes = page_of(seat, k);

	if (op->kind == O2_NODES_GET) {
		memset(bytes, 0, BYTES_MAX);
		hdr.msg.get.match_bits = bits;
		hdr.msg.get.sink_length = op->bytes;
		return o2_node_get(seat->node, nid, &hdr, &memory, NULL);
	}
	fill(bytes, seat->index, k, op->bytes);
	hdr.msg.put.match_bits = bits;
	hdr.msg.put.ack_wmd = (struct o2_lnet_handle){UINT64_MAX, UINT64_MAX};
	if (op->kind == O2_NODES_PUT)
		return o2_node_put(seat->node, nid, &hdr, &memory, NULL);
	return o2_node_send_bytes(seat->node, nid, &hdr, bytes, op->bytes, k, NULL);
}

void o2_nodes_start(struct o2_nodes *nodes, struct o2_nodes_seat *seat, uint32_t to)
{
	static const uint32_t kinds[O2_NODES_KINDS] = {3, 3, 3, 2};
	uint32_t k = seat->nops;
	struct o2_nodes_op *op = &seat->op[k];
	int rc;

	if (k == O2_NODES_OPS)
		return;
	*op = (struct o2_nodes_op){
		.kind = (enum o2_nodes_kind)o2_draw_weighted(nodes->choice, kinds, O2_NODES_KINDS),
		.to = to,
		.started = true};
	op->bytes = (uint32_t)o2_draw_range(nodes->choice, 1,
					    op->kind >= O2_NODES_IMMEDIATE ? IMMEDIATE_MAX : BYTES_MAX);
	seat->nops++;
	rc = submit(seat, op, k);
	op->started = rc == 0;
	if (rc == -EBUSY)
		o2_nodes_seen(nodes, O2_NODES_SEEN_BUSY);
	else if (rc != 0)
		o2_report_fail(nodes->report, "nodes/start",
			       "operation %" PRIu32 " of node %" PRIu32 ": %d (%s)", k, seat->index, rc,
			       strerror(-rc));
}

bool o2_nodes_all_ended(const struct o2_nodes *nodes)
{
	for (uint32_t i = 0; i < nodes->nseats; i++)
		for (uint32_t k = 0; k < nodes->seat[i].nops; k++)
			if (nodes->seat[i].op[k].ended != nodes->seat[i].op[k].started)
				return false;
	return true;
}

void o2_nodes_check_ended(struct o2_nodes *nodes)
{
	for (uint32_t i = 0; i < nodes->nseats; i++)
		for (uint32_t k = 0; k < nodes->seat[i].nops; k++) {
			const struct o2_nodes_op *op = &nodes->seat[i].op[k];
			/* A message that came with its payload in it is over when it is received. */
			bool served = op->matched && op->kind < O2_NODES_IMMEDIATE;

			if (op->ended != op->started)
				o2_report_fail(nodes->report, "nodes/ended",
					       "operation %" PRIu32 " of node %" PRIu32 " has ended %" PRIu32
					       " times",
					       k, i, op->ended);
			if (op->ended_there != served)
				o2_report_fail(nodes->report, "nodes/ended-there",
					       "operation %" PRIu32 " of node %" PRIu32 " has ended %" PRIu32
					       " times at node %" PRIu32,
					       k, i, op->ended_there, op->to);
		}
}
