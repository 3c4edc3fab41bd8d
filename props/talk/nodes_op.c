/* SPDX-License-Identifier: MIT */
#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "props/talk/nodes_internal.h"

/* Draws and starts operations.  The match bits of operation k of node i contain i and k. */

#define BYTES_MAX     8000u
#define IMMEDIATE_MAX 512u
#define PLAIN_BYTES   1000u
#define DENIED_WITH   (-EACCES)

static void draw_kind(struct o2_choice *c, struct o2_nodes_op *op)
{
	static const uint32_t kinds[O2_NODES_KINDS] = {4, 4, 3, 1};
	static const uint32_t verdicts[O2_NODES_VERDICTS] = {12, 3, 1, 1};
	uint32_t most;

	op->kind = (enum o2_nodes_kind)o2_draw_weighted(c, kinds, O2_NODES_KINDS);
	most = op->kind >= O2_NODES_IMMEDIATE ? IMMEDIATE_MAX : BYTES_MAX;
	op->bytes = (uint32_t)o2_draw_range(c, 1, most);
	op->wanted = op->bytes;
	if (op->kind >= O2_NODES_IMMEDIATE) {
		op->as_bytes = o2_draw_bool(c, 1, 1);
		return;
	}
	op->verdict = (enum o2_nodes_verdict)o2_draw_weighted(c, verdicts, O2_NODES_VERDICTS);
	if (op->verdict == O2_NODES_LESS)
		op->wanted = (uint32_t)o2_draw_range(c, 1, op->bytes);
}

/* The first page of operation k's slot at the other end. */
static uint32_t page_there(const struct o2_nodes_seat *seat, uint32_t to, uint32_t k)
{
	uint32_t block = seat->index < to ? seat->index : seat->index - 1;

	return ((1 + block) * O2_NODES_SLOTS + k) * O2_NODES_SLOT_PAGES;
}

/* Draw everything now, including the other end's answer: on real devices the order of events is not drawn. */
static void draw(struct o2_nodes *nodes, struct o2_nodes_seat *seat, uint32_t k, struct o2_nodes_op *op)
{
	struct o2_choice *c = nodes->choice;
	struct o2_nodes_seat *there = &nodes->seat[op->to];

	draw_kind(c, op);
	o2_nodes_memory_draw(c, seat, k * O2_NODES_SLOT_PAGES, op->bytes, &op->ours);
	if (op->kind < O2_NODES_IMMEDIATE)
		o2_nodes_memory_draw(c, there, page_there(seat, op->to, k), op->wanted, &op->theirs);
}

/* Fill both sides: no byte of the sink equals the source's, and no two operations have the same bytes. */
static void fill(const struct o2_nodes_op *op, uint64_t number)
{
	const bool get = op->kind == O2_NODES_GET;

	o2_memory_fill(&op->ours, number, get ? O2_FILL_POISON : O2_FILL_DATA);
	if (op->kind < O2_NODES_IMMEDIATE)
		o2_memory_fill(&op->theirs, number, get ? O2_FILL_DATA : O2_FILL_POISON);
}

static int send_immediate(struct o2_nodes_seat *seat, struct o2_nodes_op *op, uint32_t k,
			  const struct o2_lnet_hdr *hdr, struct o2_error *error)
{
	uint8_t payload[O2_NODES_MSG_BYTES];
	uint32_t at = 0;

	if (!op->as_bytes)
		return o2_node_send(seat->node, hdr->dest_nid, hdr, &op->ours.memory, error);
	for (uint32_t i = 0; i < op->ours.npieces; at += op->ours.kiov[i++].len)
		memcpy(payload + at,
		       o2_arena_page(&seat->place.ni.arena, op->ours.kiov[i].page) + op->ours.kiov[i].offset,
		       op->ours.kiov[i].len);
	return o2_node_send_bytes(seat->node, hdr->dest_nid, hdr, payload, op->bytes, k, error);
}

/* Start the drawn operation. */
static int submit(struct o2_nodes_seat *seat, struct o2_nodes_op *op, uint32_t k, struct o2_error *error)
{
	static const uint32_t pid = 12345;
	uint64_t bits = (uint64_t)seat->index << 8 | k, nid = o2_nodes_nid(seat->nodes, op->to);
	struct o2_lnet_hdr hdr = {
		.dest_nid = nid,
		.src_nid = o2_nodes_nid(seat->nodes, seat->index),
		.dest_pid = pid,
		.src_pid = pid,
		.type = op->kind == O2_NODES_GET ? O2_LNET_GET : O2_LNET_PUT,
	};

	if (op->kind == O2_NODES_GET) {
		hdr.msg.get.match_bits = bits;
		hdr.msg.get.sink_length = op->bytes;
		return o2_node_get(seat->node, nid, &hdr, &op->ours.memory, error);
	}
	hdr.msg.put.match_bits = bits;
	hdr.msg.put.ack_wmd = (struct o2_lnet_handle){UINT64_MAX, UINT64_MAX};
	if (op->as_send)
		return o2_node_send(seat->node, nid, &hdr, &op->ours.memory, error);
	if (op->kind == O2_NODES_PUT)
		return o2_node_put(seat->node, nid, &hdr, &op->ours.memory, error);
	return send_immediate(seat, op, k, &hdr, error);
}

static bool is(const struct o2_error *error, int rc, const char *rule)
{
	return error->code == rc && error->rule != NULL && strcmp(error->rule, rule) == 0 &&
	       error->class == O2_CLASS_NONE;
}

/* True if the maximum number of operations waits for a connection. */
static bool too_many_wait(const struct o2_nodes_seat *seat, const struct o2_nodes_op *op,
			  const struct o2_error *error)
{
	const uint32_t most = seat->config.max_waiting;
	uint32_t open = 0;

	for (uint32_t k = 0; k < seat->nops; k++)
		open += &seat->op[k] != op && seat->op[k].to == op->to && seat->op[k].started &&
			seat->op[k].ended == 0;
	return open >= most && o2_nodes_count_ends(seat, op->to, true) == 0 &&
	       is(error, -EBUSY, "node/max-waiting") && strcmp(error->field, "waiting") == 0 &&
	       error->value == most + UINT64_C(1) && error->limit == most && error->index == O2_NO_INDEX;
}

/* A start was refused: check that too many wait, or that a mapping stage must refuse this node's memory. */
static void start_refused(struct o2_nodes *nodes, const struct o2_nodes_seat *seat, uint32_t k, int rc,
			  const struct o2_error *error)
{
	const struct o2_nodes_op *op = &seat->op[k];
	char text[200];
	uint64_t nob;

	if (rc == -EBUSY && too_many_wait(seat, op, error)) {
		o2_nodes_seen(nodes, O2_NODES_SEEN_BUSY);
	} else if (rc == -EFBIG && op->ours.npieces > op->max_frags &&
		   is(error, rc, "reg/more-fragments-than-peer-accepts") && error->limit >= op->max_frags &&
		   error->value == op->ours.npieces) {
		o2_nodes_seen(nodes, O2_NODES_SEEN_TOO_MANY_FRAGS);
	} else if (rc != o2_nodes_foretell(op, &nob) || rc != o2_memory_refusal(&op->ours) ||
		   !is(error, rc, "reg/fastreg/gaps") || error->value != 1 || error->limit != 0) {
		o2_error_text(error, text, sizeof(text));
		o2_report_fail(nodes->report, "nodes/start",
			       "operation %" PRIu32 " of node %" PRIu32 ": %d (%s)", k, seat->index, rc,
			       text);
	}
}

/* The number of operations open on each connection with that node; returns the number of connections. */
static uint32_t count_open(const struct o2_nodes_seat *seat, uint32_t to, uint32_t open[O2_NODES_ENDS])
{
	const struct o2_conn *conn;
	struct o2_conn_view view;
	uint32_t n = 0;

	while (n < O2_NODES_ENDS &&
	       (conn = o2_node_conn(seat->node, o2_nodes_nid(seat->nodes, to), n)) != NULL) {
		o2_conn_view(conn, &view);
		open[n++] = view.open;
	}
	return n;
}

/* An operation was started on one of n connections; `before` has what was open on each. */
static void note_carrier(struct o2_nodes_seat *seat, uint32_t to, uint32_t n, const uint32_t *before)
{
	struct o2_nodes_pair *pair = &seat->pair[to];
	uint32_t now[O2_NODES_ENDS], carrier = 0;
	uint64_t carriers = 0;

	if (count_open(seat, to, now) != n)
		return;
	for (uint32_t i = 0; i < n; i++) {
		const struct ibv_qp *qp =
			o2_conn_qp(o2_node_conn(seat->node, o2_nodes_nid(seat->nodes, to), i));

		if (qp == NULL) /* it closes */
			return;
		carriers += qp->qp_num;
		if (now[i] > before[i])
			carrier = qp->qp_num;
	}
	if (carriers == pair->carriers && carrier != 0 && pair->carrier != 0 && carrier != pair->carrier)
		o2_nodes_seen(seat->nodes, O2_NODES_SEEN_TURNS);
	pair->carrier = carrier;
	pair->carriers = carriers;
}

static int start(struct o2_nodes *nodes, struct o2_nodes_seat *seat, uint32_t k, struct o2_error *error)
{
	struct o2_nodes_op *op = &seat->op[k];
	uint32_t open[O2_NODES_ENDS], n = count_open(seat, op->to, open);
	const bool inside = seat->now.doing != O2_NODES_NOTHING;
	int rc;

	op->ours.memory.tag = k;
	op->theirs.memory.tag = (uint64_t)seat->index << 8 | k;
	op->max_frags = o2_nodes_fewest_frags(seat, op->to);
	op->started_ms = nodes->ground.now_ms;
	fill(op, op->theirs.memory.tag);
	seat->nops++;
	if (!inside)
		o2_nodes_begin(seat, O2_NODES_STARTS, op->to, 0);
	o2_error_clear(error);
	rc = submit(seat, op, k, error);
	op->started = rc == 0;
	note_carrier(seat, op->to, n, open);
	if (!inside)
		o2_nodes_finish(seat);
	return rc;
}

void o2_nodes_start(struct o2_nodes *nodes, struct o2_nodes_seat *seat, uint32_t to)
{
	uint32_t k = seat->nops;
	struct o2_nodes_op *op = &seat->op[k];
	struct o2_error error;
	int rc;

	if (k >= O2_NODES_OPS)
		return;
	*op = (struct o2_nodes_op){.to = to, .started = true};
	draw(nodes, seat, k, op);
	rc = start(nodes, seat, k, &error);
	if (rc != 0)
		start_refused(nodes, seat, k, rc, &error);
}

int o2_nodes_start_plain(struct o2_nodes *nodes, struct o2_nodes_seat *seat, uint32_t to,
			 enum o2_reg_mode mode)
{
	uint32_t k = seat->nops;
	struct o2_nodes_op *op = &seat->op[k];
	struct o2_error error;

	assert(k < O2_NODES_SLOTS);
	*op = (struct o2_nodes_op){
		.kind = O2_NODES_PUT, .to = to, .bytes = PLAIN_BYTES, .wanted = PLAIN_BYTES, .started = true};
	o2_nodes_memory_plain(seat, k * O2_NODES_SLOT_PAGES, PLAIN_BYTES, mode, &op->ours);
	o2_nodes_memory_plain(&nodes->seat[to], page_there(seat, to, k), PLAIN_BYTES, mode, &op->theirs);
	return start(nodes, seat, k, &error);
}

int o2_nodes_start_long(struct o2_nodes *nodes, struct o2_nodes_seat *seat, uint32_t to, uint32_t bytes,
			bool as_bytes)
{
	uint32_t k = seat->nops;
	struct o2_nodes_op *op = &seat->op[k];
	struct o2_error error;

	assert(k < O2_NODES_SLOTS);
	*op = (struct o2_nodes_op){.kind = as_bytes ? O2_NODES_IMMEDIATE : O2_NODES_PUT,
				   .to = to,
				   .bytes = bytes,
				   .wanted = bytes,
				   .as_bytes = as_bytes,
				   .as_send = !as_bytes,
				   .too_long = as_bytes && bytes > O2_NODES_PAYLOAD,
				   .started = true};
	o2_nodes_memory_plain(seat, k * O2_NODES_SLOT_PAGES, bytes, O2_REG_GLOBAL, &op->ours);
	if (!as_bytes)
		o2_nodes_memory_plain(&nodes->seat[to], page_there(seat, to, k), bytes, O2_REG_GLOBAL,
				      &op->theirs);
	return start(nodes, seat, k, &error);
}

int o2_nodes_foretell(const struct o2_nodes_op *op, uint64_t *nob)
{
	int rc = op->kind >= O2_NODES_IMMEDIATE ? 0 : o2_memory_refusal(&op->ours);

	if (op->too_long)
		rc = -EMSGSIZE;
	*nob = op->kind >= O2_NODES_IMMEDIATE && rc == 0 ? op->bytes : 0;
	if (rc != 0 || op->kind >= O2_NODES_IMMEDIATE)
		return rc;
	if (op->verdict == O2_NODES_NO_MATCH)
		return op->kind == O2_NODES_PUT ? 0 : -ENODATA;
	if (op->verdict == O2_NODES_DENY)
		return DENIED_WITH;
	rc = o2_memory_refusal(&op->theirs);
	*nob = rc == 0 ? op->wanted : 0;
	return rc;
}

bool o2_nodes_all_ended(const struct o2_nodes *nodes)
{
	for (uint32_t i = 0; i < nodes->nseats; i++)
		for (uint32_t k = 0; k < nodes->seat[i].nops; k++)
			if (nodes->seat[i].op[k].ended != nodes->seat[i].op[k].started)
				return false;
	return true;
}
