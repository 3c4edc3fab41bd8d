/* SPDX-License-Identifier: MIT */
/* The answers that LNet expects: the lengths of ACKs and REPLYs. */
#include "base/mix.h"
#include "judge/internal.h"

/* LNet: LNET_WIRE_HANDLE_COOKIE_NONE.  The PUT wants no ACK. */
#define NO_COOKIE UINT64_MAX

static bool same(const struct o2_lnet_handle *a, const struct o2_lnet_handle *b)
{
	return a->wh_interface_cookie == b->wh_interface_cookie && a->wh_object_cookie == b->wh_object_cookie;
}

static bool is_none(const struct o2_lnet_handle *handle)
{
	return handle->wh_interface_cookie == NO_COOKIE && handle->wh_object_cookie == NO_COOKIE;
}

static bool fits(const struct o2_judge_handle *known, uint64_t bytes)
{
	return known->exact ? bytes == known->bytes : bytes <= known->bytes;
}

/*
 * Is a better taken for an answer that fits both?  The smaller one, to leave the larger one to other answers.  Of
 * two equal ones that which no other answer can fit.
 */
static bool before(const struct o2_judge_handle *a, const struct o2_judge_handle *b)
{
	return a->bytes != b->bytes ? a->bytes < b->bytes : a->exact && !b->exact;
}

/*
 * Find the request that an answer of `bytes` is for.  Requests may share a handle, with answers in any order:
 * take the best that the answer fits; else the oldest.
 */
static struct o2_judge_handle *find(struct o2_judge_end *end, const struct o2_lnet_handle *handle,
				    bool is_get, uint64_t bytes)
{
	struct o2_judge_handle *best = NULL, *oldest = NULL;

	for (uint32_t i = 0; i < O2_JUDGE_HANDLE_MAX; i++) {
		struct o2_judge_handle *known = &end->handle[(end->next_handle + i) % O2_JUDGE_HANDLE_MAX];

		if (!known->used || known->is_get != is_get || !same(&known->handle, handle))
			continue;
		if (fits(known, bytes) && (best == NULL || before(known, best)))
			best = known;
		if (oldest == NULL)
			oldest = known;
	}
	return best != NULL ? best : oldest;
}

/* The request's answer has come, or will not be looked for. */
static void drop(struct o2_judge_end *end, struct o2_judge_handle *known)
{
	known->used = false;
	end->nhandles--;
}

/* The bit of judge->forgotten that this handle shares with few others: numbers in a row spread well. */
static uint32_t bit_of(const struct o2_lnet_handle *handle)
{
	const uint64_t mixed = handle->wh_interface_cookie * O2_MIX_STEP + handle->wh_object_cookie;

	return (uint32_t)(mixed * O2_MIX_STEP >> 48) % O2_JUDGE_FORGOTTEN_BITS;
}

/* The request is remembered no more, but its answer may still come. */
static void forget(struct o2_judge *judge, struct o2_judge_end *end, struct o2_judge_handle *known)
{
	const uint32_t bit = bit_of(&known->handle);

	judge->forgotten[bit / 64] |= UINT64_C(1) << bit % 64;
	drop(end, known);
}

void o2_judge_lnet_part(struct o2_judge *judge, struct o2_judge_conn *conn)
{
	for (int side = O2_JUDGE_A; side < O2_JUDGE_SIDES; side++)
		for (uint32_t i = 0; i < O2_JUDGE_HANDLE_MAX; i++)
			if (conn->end[side].handle[i].used)
				forget(judge, &conn->end[side], &conn->end[side].handle[i]);
}

static void remember(const struct o2_judging *at, const struct o2_lnet_hdr *hdr,
		     const struct o2_lnet_handle *handle, uint64_t bytes,
		     const struct o2_judge_pattern *pattern)
{
	const bool is_get = hdr->type == O2_LNET_GET;
	struct o2_judge_end *from = &at->conn->end[at->from];
	struct o2_judge_handle *known, *twin;

	if (is_none(handle))
		return;
	twin = find(from, handle, is_get, 0);
	known = &from->handle[from->next_handle++ % O2_JUDGE_HANDLE_MAX];
	if (known->used)
		forget(at->judge, from, known);
	from->nhandles++;
	*known = (struct o2_judge_handle){
		.used = true,
		.is_get = is_get,
		.direct = hdr->dest_nid == at->event->msg->ibm_dstnid,
		.handle = *handle,
		.number = at->event->number,
		.bytes = bytes,
		.pattern = *pattern,
	};
	if (twin != NULL)
		known->pattern.known = twin->pattern.known = false;
}

void o2_judge_lnet_reply(const struct o2_judging *at, const struct o2_lnet_hdr *hdr,
			 struct o2_judge_transfer *transfer)
{
	const struct o2_judge_handle *known =
		find(&at->conn->end[at->to], &hdr->msg.reply.dst_wmd, true, hdr->payload_length);

	transfer->is_reply = true;
	if (known != NULL && hdr->payload_length <= known->bytes)
		transfer->pattern = known->pattern;
}

/* Only an IMMEDIATE carries its payload with it; RDMA payloads are judged by their WRITEs. */
static void judge_payload(const struct o2_judging *at, enum o2_judge_rule_id rule, uint64_t number,
			  struct o2_judge_pattern *pattern)
{
	const struct o2_msg *msg = at->event->msg;

	if (msg->ibm_type == O2_MSG_IMMEDIATE && msg->u.immediate.payload != NULL)
		o2_judge_payload_look(at, pattern, rule, number, 0, msg->u.immediate.payload,
				      msg->u.immediate.hdr.payload_length);
}

static void take_put(const struct o2_judging *at, const struct o2_lnet_hdr *hdr)
{
	struct o2_judge_pattern pattern = {.known = false};

	remember(at, hdr, &hdr->msg.put.ack_wmd, hdr->payload_length, &pattern);
	if (at->event->msg->ibm_type != O2_MSG_IMMEDIATE)
		return;
	o2_judge_payload_put(at, hdr, &pattern);
	judge_payload(at, O2_JUDGE_PAYLOAD_PUT, 0, &pattern);
	o2_judge_payload_ended(&at->conn->end[at->from], at->event->number);
}

static void take_get(const struct o2_judging *at, const struct o2_lnet_hdr *hdr)
{
	struct o2_judge_pattern pattern;

	if (at->event->msg->ibm_type != O2_MSG_IMMEDIATE)
		return;
	o2_judge_payload_get(at, hdr, &pattern);
	remember(at, hdr, &hdr->msg.get.return_wmd, hdr->msg.get.sink_length, &pattern);
}

static void take_reply(const struct o2_judging *at, struct o2_judge_handle *known, uint64_t bytes)
{
	if (known != NULL && bytes <= known->bytes)
		judge_payload(at, O2_JUDGE_PAYLOAD_GET, known->number, &known->pattern);
}

void o2_judge_lnet_moved(struct o2_judge_end *source, uint64_t number, uint64_t bytes)
{
	for (uint32_t i = 0; i < O2_JUDGE_HANDLE_MAX; i++) {
		struct o2_judge_handle *known = &source->handle[i];

		if (!known->used || known->is_get || known->number != number)
			continue;
		known->exact = known->direct;
		known->bytes = bytes;
	}
}

/* The answer may come over another connection than its request.  Returns whether it fits such a request. */
static bool answers_elsewhere(const struct o2_judging *at, const struct o2_lnet_handle *handle, bool is_get,
			      uint64_t bytes)
{
	struct o2_judge_conn *conn;

	LIST_FOREACH(conn, &at->judge->conns, link) {
		for (int side = O2_JUDGE_A; side < O2_JUDGE_SIDES; side++) {
			struct o2_judge_end *end = &conn->end[side];
			struct o2_judge_handle *known =
				end->nhandles == 0 ? NULL : find(end, handle, is_get, bytes);

			if (known == NULL || !fits(known, bytes))
				continue;
			drop(end, known);
			return true;
		}
	}
	return false;
}

static bool all_whole(const struct o2_judge *judge)
{
	const struct o2_judge_conn *conn;

	LIST_FOREACH(conn, &judge->conns, link)
		if (!conn->whole)
			return false;
	return true;
}

static bool was_forgotten(const struct o2_judge *judge, const struct o2_lnet_handle *handle)
{
	const uint32_t bit = bit_of(handle);

	return (judge->forgotten[bit / 64] >> bit % 64 & 1) != 0;
}

/*
 * known: the request of this connection that the answer is for, or NULL.  Requests may share a handle: the answer
 * is wrong only if it fits none, and none can have been missed.
 */
static void judge_answer(const struct o2_judging *at, enum o2_judge_rule_id rule, const char *field,
			 const struct o2_lnet_handle *handle, struct o2_judge_handle *known, uint64_t bytes)
{
	if (known == NULL || !fits(known, bytes)) {
		const bool judged = all_whole(at->judge) &&
				    !answers_elsewhere(at, handle, rule == O2_JUDGE_LNET_REPLY, bytes) &&
				    !was_forgotten(at->judge, handle);

		struct o2_judge_end *to = &at->conn->end[at->to];

		if (known == NULL && judged && !is_none(handle) && to->nunheard++ < O2_JUDGE_UNHEARD_MAX)
			to->unheard[to->nunheard - 1] = *handle;
		if (known == NULL || !judged)
			return;
		if (known->exact)
			o2_judge_differs(at, rule, known->number, field, bytes, known->bytes);
		else
			o2_judge_over(at, rule, known->number, field, bytes, known->bytes);
	}
	drop(&at->conn->end[at->to], known);
}

bool o2_judge_lnet_answered(const struct o2_judge_end *end, const struct o2_lnet_hdr *hdr)
{
	const struct o2_lnet_handle *handle =
		hdr->type == O2_LNET_PUT ? &hdr->msg.put.ack_wmd : &hdr->msg.get.return_wmd;

	if (hdr->type != O2_LNET_PUT && hdr->type != O2_LNET_GET)
		return false;
	for (uint32_t i = 0; i < end->nunheard && i < O2_JUDGE_UNHEARD_MAX; i++)
		if (same(&end->unheard[i], handle))
			return true;
	return false;
}

void o2_judge_lnet(const struct o2_judging *at, const struct o2_lnet_hdr *hdr)
{
	struct o2_judge_end *to = &at->conn->end[at->to];
	const struct o2_lnet_handle *handle;
	struct o2_judge_handle *known;

	switch (hdr->type) {
	case O2_LNET_PUT:
		take_put(at, hdr);
		break;
	case O2_LNET_GET:
		take_get(at, hdr);
		break;
	case O2_LNET_ACK:
		handle = &hdr->msg.ack.dst_wmd;
		if (is_none(handle))
			o2_judge_over(at, O2_JUDGE_LNET_UNASKED, 0, "hdr.msg.ack.dst_wmd", NO_COOKIE,
				      NO_COOKIE - 1);
		known = find(to, handle, false, hdr->msg.ack.mlength);
		judge_answer(at, O2_JUDGE_LNET_ACK, "hdr.msg.ack.mlength", handle, known,
			     hdr->msg.ack.mlength);
		break;
	case O2_LNET_REPLY:
		handle = &hdr->msg.reply.dst_wmd;
		known = find(to, handle, true, hdr->payload_length);
		take_reply(at, known, hdr->payload_length);
		judge_answer(at, O2_JUDGE_LNET_REPLY, "hdr.payload_length", handle, known,
			     hdr->payload_length);
		break;
	default:
		break;
	}
}
