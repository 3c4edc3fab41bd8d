/* SPDX-License-Identifier: MIT */
/* The answers that LNet expects: the lengths of ACKs and REPLYs. */
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
 * Find the request that an answer of `bytes` is for.  Requests may share a handle, with answers in any order:
 * take the smallest that the answer fits, to leave the larger ones to other answers; else the oldest.
 */
static struct o2_judge_handle *find(struct o2_judge_end *end, const struct o2_lnet_handle *handle,
				    bool is_get, uint64_t bytes)
{
	struct o2_judge_handle *best = NULL, *oldest = NULL;

	for (uint32_t i = 0; i < O2_JUDGE_HANDLE_MAX; i++) {
		struct o2_judge_handle *known = &end->handle[(end->next_handle + i) % O2_JUDGE_HANDLE_MAX];

		if (!known->used || known->is_get != is_get || !same(&known->handle, handle))
			continue;
		if (fits(known, bytes) && (best == NULL || known->bytes < best->bytes))
			best = known;
		if (oldest == NULL)
			oldest = known;
	}
	return best != NULL ? best : oldest;
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

static void judge_answer(const struct o2_judging *at, enum o2_judge_rule_id rule, const char *field,
			 struct o2_judge_handle *known, uint64_t bytes)
{
	if (known == NULL)
		return;
	if (known->exact && bytes != known->bytes)
		o2_judge_differs(at, rule, known->number, field, bytes, known->bytes);
	else if (bytes > known->bytes)
		o2_judge_over(at, rule, known->number, field, bytes, known->bytes);
	known->used = false;
}

void o2_judge_lnet(const struct o2_judging *at, const struct o2_lnet_hdr *hdr)
{
	struct o2_judge_end *to = &at->conn->end[at->to];
	struct o2_judge_handle *known;

	switch (hdr->type) {
	case O2_LNET_PUT:
		take_put(at, hdr);
		break;
	case O2_LNET_GET:
		take_get(at, hdr);
		break;
	case O2_LNET_ACK:
		if (is_none(&hdr->msg.ack.dst_wmd))
			o2_judge_over(at, O2_JUDGE_LNET_UNASKED, 0, "hdr.msg.ack.dst_wmd", NO_COOKIE,
				      NO_COOKIE - 1);
		judge_answer(at, O2_JUDGE_LNET_ACK, "hdr.msg.ack.mlength",
			     find(to, &hdr->msg.ack.dst_wmd, false, hdr->msg.ack.mlength),
			     hdr->msg.ack.mlength);
		break;
	case O2_LNET_REPLY:
		known = find(to, &hdr->msg.reply.dst_wmd, true, hdr->payload_length);
		take_reply(at, known, hdr->payload_length);
		judge_answer(at, O2_JUDGE_LNET_REPLY, "hdr.payload_length", known, hdr->payload_length);
		break;
	default:
		break;
	}
}
