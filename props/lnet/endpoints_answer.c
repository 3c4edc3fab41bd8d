/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "props/lnet/endpoints_internal.h"

/* Answers that the case gives to operations that are under way, and how such operations end. */

#define REPLY_RULE "endpoint/reply-failed" /* of a transfer of a REPLY that the case makes fail */

/* Deliver an answer that nothing waits for, and check that it is dropped as such. */
static void answer_in_vain(struct o2_endpoints_seat *seat, const char *what, const struct o2_lnet_hdr *reply,
			   bool by_rdma)
{
	const uint64_t number = reply->msg.reply.dst_wmd.wh_object_cookie;
	const struct o2_error expected = o2_endpoints_unknown_handle(number);
	const int rc = o2_endpoints_deliver_stray(seat, reply->src_nid, reply, by_rdma, NULL);

	if (rc != (by_rdma ? -ENODATA : 0) || !seat->stray.dropped)
		o2_report_fail(seat->endpoints->report, "endpoint/stray",
			       "%s to operation 0x%" PRIx64 " is taken: %d", what, number, rc);
	else if (!o2_endpoints_stray_is(&seat->stray.error, &expected))
		o2_endpoints_stray_differs(seat->endpoints, what, &seat->stray.error, &expected);
}

void o2_endpoints_late_reply(struct o2_endpoints_seat *seat, uint32_t from, uint64_t number)
{
	const struct o2_lnet_hdr hdr = {
		.dest_nid = seat->lnet_config.nid,
		.src_nid = o2_endpoints_nid(seat->endpoints, from),
		.type = O2_LNET_REPLY,
		.msg.reply.dst_wmd = {seat->lnet_config.interface_cookie, number},
	};

	answer_in_vain(seat, "a late REPLY", &hdr, false);
}

enum wrong {
	UNASKED,      /* an answer that the operation has not asked for, or asked for by RDMA */
	ANOTHER_PEER, /* not from the peer that was asked */
	ANOTHER_LIFE, /* to an operation of an interface that is no more */
	ANOTHER_KIND, /* a REPLY to a PUT, an ACK to a GET */
	TOO_MANY_BYTES,
	TOO_FEW_BYTES,
	WRONGS,
};

struct wrong_answer {
	enum wrong wrong;
	bool by_rdma; /* the REPLY asks where to write to */
	bool unasked; /* the operation waits for no such answer */
	bool overrun; /* it waits for one, but not of so many bytes */
	bool counts;  /* it is the answer, wrong or not */
	struct o2_lnet_hdr hdr;
};

static uint32_t draw_length(struct o2_choice *c, enum wrong wrong, uint32_t bytes)
{
	if (wrong == TOO_FEW_BYTES)
		return (uint32_t)o2_draw_pick(c, bytes);
	return bytes + (wrong == TOO_MANY_BYTES);
}

static struct wrong_answer draw_answer(struct o2_endpoints_seat *seat, const struct o2_endpoints_op *op)
{
	static const uint32_t weights[WRONGS] = {1, 1, 1, 1, 2, 6};
	struct o2_choice *c = seat->endpoints->choice;
	const bool get = o2_endpoints_is_get(op);
	struct wrong_answer answer = {.wrong = (enum wrong)o2_draw_weighted(c, weights, WRONGS)};
	const struct o2_lnet_handle handle = {op->interface_cookie + (answer.wrong == ANOTHER_LIFE),
					      op->operation};
	const uint32_t bytes = draw_length(c, answer.wrong, op->bytes);
	const bool reply = get != (answer.wrong == ANOTHER_KIND);

	answer.by_rdma = reply && o2_draw_bool(c, 1, 1);
	answer.unasked = get ? o2_endpoints_by_rdma(op) : !op->ack;
	answer.overrun = answer.wrong == TOO_MANY_BYTES && !answer.unasked;
	answer.counts = !answer.unasked && ((answer.overrun && reply) || answer.wrong == TOO_FEW_BYTES);
	answer.hdr = (struct o2_lnet_hdr){
		.dest_nid = seat->lnet_config.nid,
		.src_nid = o2_endpoints_nid(seat->endpoints, op->to) + (answer.wrong == ANOTHER_PEER ? 7 : 0),
		.type = reply ? O2_LNET_REPLY : O2_LNET_ACK,
	};
	if (reply) {
		answer.hdr.payload_length = bytes;
		answer.hdr.msg.reply.dst_wmd = handle;
	} else {
		answer.hdr.msg.ack.dst_wmd = handle;
		answer.hdr.msg.ack.match_bits = op->match_bits;
		answer.hdr.msg.ack.mlength = bytes;
	}
	return answer;
}

/* Check the error that the answer was dropped with. */
static void check_dropped(struct o2_endpoints_seat *seat, const struct wrong_answer *answer,
			  struct o2_endpoints_op *op)
{
	const struct o2_error unknown = o2_endpoints_unknown_handle(op->operation);
	const bool ack = answer->hdr.type == O2_LNET_ACK;
	const struct o2_error longer = {.rule = ack ? "lnet/ack/mlength" : "lnet/reply/too-long",
					.field = ack ? "mlength" : "payload_length",
					.value = op->bytes + UINT64_C(1),
					.limit = op->bytes};
	/* The right answer may have arrived before, if the request has ended at its target. */
	const bool may_be_late = !(answer->overrun || answer->counts) || op->ended_there > 0;

	if (answer->overrun && o2_endpoints_stray_is(&seat->stray.error, &longer)) {
		if (ack)
			o2_endpoints_seen(seat->endpoints, O2_ENDPOINTS_SEEN_WRONG_ACK);
		return;
	}
	op->answer.given = false;
	if (may_be_late && o2_endpoints_stray_is(&seat->stray.error, &unknown))
		o2_endpoints_seen(seat->endpoints, O2_ENDPOINTS_SEEN_WRONG_DROPPED);
	else
		o2_endpoints_stray_differs(seat->endpoints, "a wrong answer", &seat->stray.error,
					   answer->overrun ? &longer : &unknown);
}

/* Neither the end of the GET's request nor its cancellation ends the GET while its REPLY is under way. */
static void go_on(struct o2_endpoints_seat *seat, struct o2_endpoints_op *op)
{
	struct o2_choice *c = seat->endpoints->choice;

	if (o2_draw_bool(c, 1, 1))
		op->cancelled = o2_lnet_cancel(seat->endpoint.lnet, op->operation) == 0;
	if (o2_draw_bool(c, 1, 1))
		o2_endpoints_look(seat);
}

/*
 * A REPLY by RDMA is under way: its transfer is to go to the start of the sink, any other answer comes too late.
 * Then the transfer ends.
 */
static void finish_reply(struct o2_endpoints_seat *seat, const struct wrong_answer *answer,
			 struct o2_endpoints_op *op)
{
	const struct o2_transfer_memory *sink = &op->memory.memory, *memory = &seat->stray.memory;
	const uint64_t tag = seat->stray.tag;
	const struct o2_error why = {.code = -EIO, .rule = REPLY_RULE, .value = op->answer.bytes};
	const struct o2_transfer_fault fault = o2_fault_of(O2_FAULT_PEER_STATUS, -EIO, &why);
	const bool again_by_rdma = o2_draw_bool(seat->endpoints->choice, 1, 1);

	if (memory->buffer.nob != op->answer.bytes || memory->mode != sink->mode ||
	    memory->buffer.kiov != sink->buffer.kiov || memory->buffer.offset != sink->buffer.offset)
		o2_report_fail(seat->endpoints->report, "endpoint/stray",
			       "a REPLY by RDMA of %" PRIu64 " bytes to operation 0x%" PRIx64
			       " is not to go to the start of its sink",
			       op->answer.bytes, op->operation);
	answer_in_vain(seat, "a second REPLY", &answer->hdr, again_by_rdma);
	go_on(seat, op);
	if (op->ended > 0)
		o2_report_fail(seat->endpoints->report, "endpoint/stray",
			       "operation 0x%" PRIx64 " ends before its REPLY by RDMA does", op->operation);
	else
		o2_lnet_finished(seat->endpoint.lnet, tag, op->answer.status,
				 op->answer.status == 0 ? op->answer.bytes : 0,
				 op->answer.status == 0 ? NULL : &fault);
}

/* The code that the endpoint answers with: 0, but to what asks where to write to. */
static int due_code(const struct o2_endpoints_op *op, bool by_rdma)
{
	if (!by_rdma)
		return 0;
	if (!op->answer.given)
		return -ENODATA;
	return op->answer.status == -EMSGSIZE ? -EMSGSIZE : 0;
}

void o2_endpoints_answer_wrongly(struct o2_endpoints_seat *seat)
{
	struct o2_endpoints_op *op = o2_endpoints_draw_open(seat);
	struct wrong_answer answer;
	int due, rc;

	if (op == NULL || op->answer.given)
		return;
	answer = draw_answer(seat, op);
	if (answer.wrong == UNASKED ? !answer.unasked : answer.wrong == TOO_FEW_BYTES && op->bytes == 0)
		return;
	/* Set before: the operation may end at once. */
	op->answer = (struct o2_endpoints_answer){
		.given = answer.counts,
		.by_rdma = answer.by_rdma,
		.bytes = answer.hdr.type == O2_LNET_ACK ? answer.hdr.msg.ack.mlength
							: answer.hdr.payload_length,
	};
	/* A REPLY in a message that is too long ends its GET, without a word about the REPLY. */
	if (answer.overrun)
		op->answer.status = -EMSGSIZE;
	else if (answer.by_rdma && o2_draw_bool(seat->endpoints->choice, 1, 1))
		op->answer.status = -EIO;
	rc = o2_endpoints_deliver_stray(seat, answer.hdr.src_nid, &answer.hdr, answer.by_rdma, NULL);
	if (seat->stray.dropped)
		check_dropped(seat, &answer, op);
	else if (!answer.counts || (answer.overrun && answer.by_rdma))
		o2_report_fail(seat->endpoints->report, "endpoint/stray",
			       "a wrong answer (%d) to operation 0x%" PRIx64 " is taken", (int)answer.wrong,
			       op->operation);
	due = due_code(op, answer.by_rdma);
	if (rc != due)
		o2_report_fail(seat->endpoints->report, "endpoint/stray",
			       "a wrong answer (%d) is answered with %d, expected %d", (int)answer.wrong, rc,
			       due);
	else if (answer.by_rdma && rc == 0)
		finish_reply(seat, &answer, op);
}

/* --- how an operation ends that was answered so --- */

/* Bytes that a PUT by RDMA has written. */
static uint64_t written(const struct o2_endpoints_op *op)
{
	return op->there == O2_ENDPOINTS_TAKEN ? op->length_there : 0;
}

struct o2_endpoints_outcome o2_endpoints_foretell_answered(const struct o2_endpoints_op *op)
{
	const struct o2_endpoints_answer *answer = &op->answer;

	if (answer->status != 0)
		return (struct o2_endpoints_outcome){answer->status, 0};
	if (!o2_endpoints_is_get(op) && o2_endpoints_by_rdma(op) && answer->bytes != written(op))
		return (struct o2_endpoints_outcome){-EPROTO, 0};
	return (struct o2_endpoints_outcome){0, answer->bytes};
}

bool o2_endpoints_answer_blamed(const struct o2_endpoints_op *op)
{
	const struct o2_error *error = &op->fault.error;

	if (op->status == -EIO)
		return op->fault.side == O2_FAULT_PEER_STATUS && error->value == op->answer.bytes &&
		       strcmp(error->rule, REPLY_RULE) == 0;
	if (op->fault.side != O2_FAULT_PEER_MESSAGE || error->value != op->answer.bytes)
		return false;
	if (op->status == -EMSGSIZE)
		return error->limit == op->bytes && strcmp(error->rule, "lnet/reply/too-long") == 0;
	return error->limit == written(op) && strcmp(error->rule, "lnet/ack/other-length") == 0;
}

bool o2_endpoints_is_settled(const struct o2_endpoints_op *op)
{
	return op->answer.given && (o2_endpoints_is_get(op) || !o2_endpoints_by_rdma(op));
}

void o2_endpoints_count_answered(struct o2_endpoints *endpoints, const struct o2_endpoints_op *op)
{
	o2_endpoints_seen(endpoints, op->status == -EMSGSIZE ? O2_ENDPOINTS_SEEN_WRONG_REPLY
				     : op->status == -EPROTO ? O2_ENDPOINTS_SEEN_OTHER_ACK
				     : op->status == -EIO    ? O2_ENDPOINTS_SEEN_REPLY_FAILED
				     : op->answer.by_rdma    ? O2_ENDPOINTS_SEEN_REPLY_RDMA
							     : O2_ENDPOINTS_SEEN_SHORT_ANSWER);
}

void o2_endpoints_expect_answer(const struct o2_endpoints_op *op, struct o2_report *report)
{
	static const uint8_t zeros[O2_IMMEDIATE_MAX];

	if (op->answer.by_rdma || op->status != 0)
		return; /* nothing was written */
	o2_memory_accept(&op->memory, 0, op->length_bytes);
	if (!o2_memory_equals(&op->memory, zeros, op->length_bytes))
		o2_report_fail(report, "endpoint/bytes",
			       "the sink of operation 0x%" PRIx64 " does not hold the %" PRIu64
			       " bytes of its REPLY",
			       op->operation, op->length_bytes);
}
