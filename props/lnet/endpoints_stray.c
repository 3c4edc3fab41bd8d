/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "props/lnet/endpoints_internal.h"
#include "wire/nid.h"

/*
 * Headers addressed to another endpoint, or not from the connection's peer (docs/peer.md).  Those that no
 * correct peer sends end the connection; all others are dropped without any other effect.  And answers that the
 * operation that they name does not wait for.
 */

/* *expected: the rule that the header breaks, with its figures.  Returns the code that it is answered with. */
static int foretell(const struct o2_endpoints_seat *seat, const struct o2_lnet_hdr *hdr, uint64_t nid,
		    bool optimised, struct o2_error *expected)
{
	const uint64_t own = seat->lnet_config.nid;
	const uint64_t network = hdr->dest_nid >> 32;

	*expected = (struct o2_error){.field = "dest_nid", .value = hdr->dest_nid, .limit = own};
	if (hdr->dest_nid != own && (optimised || network >> 16 == O2_LND_LO || network == own >> 32)) {
		expected->rule = "lnet/header/dest-nid";
		return -EPROTO;
	}
	if (hdr->dest_nid != own) {
		expected->rule = "lnet/header/not-routed";
		return -ENODATA;
	}
	*expected = (struct o2_error){.field = "src_nid", .value = hdr->src_nid, .limit = nid};
	if (hdr->src_nid != nid) {
		expected->rule = "lnet/header/src-nid";
		return -ENODATA;
	}
	*expected = (struct o2_error){
		.rule = "lnet/header/type", .field = "type", .value = hdr->type, .limit = O2_LNET_REPLY};
	return -EPROTO;
}

static void differs(const struct o2_endpoints *endpoints, const char *what, const struct o2_error *error,
		    const struct o2_error *expected)
{
	o2_report_fail(endpoints->report, "endpoint/stray",
		       "%s: %s, %s %" PRIu64 " and %" PRIu64 ", expected %s, %s %" PRIu64 " and %" PRIu64,
		       what, error->rule == NULL ? "nothing" : error->rule,
		       error->field == NULL ? "" : error->field, error->value, error->limit, expected->rule,
		       expected->field, expected->value, expected->limit);
}

static bool same(const struct o2_error *error, const struct o2_error *expected)
{
	return error->rule != NULL && strcmp(error->rule, expected->rule) == 0 &&
	       strcmp(error->field, expected->field) == 0 && error->value == expected->value &&
	       error->limit == expected->limit;
}

static struct o2_error unknown_handle(uint64_t number)
{
	return (struct o2_error){
		.rule = "lnet/unknown-handle", .field = "dst_wmd", .value = number, .limit = O2_NO_LIMIT};
}

/* Hand the header to the endpoint; its payload is zeros.  by_rdma: it asks where to write to, or to read from. */
static int deliver(struct o2_endpoints_seat *seat, uint64_t nid, const struct o2_lnet_hdr *hdr, bool by_rdma,
		   struct o2_error *error)
{
	static const uint8_t payload[2 * O2_MSG_BYTES];
	struct o2_lnet *lnet = seat->endpoint.lnet;
	struct o2_transfer_memory memory;
	uint64_t tag;
	int rc;

	seat->stray = (struct o2_endpoints_stray){.expected = true};
	if (by_rdma)
		rc = o2_lnet_match(lnet, nid, hdr, &memory, &tag, error);
	else
		rc = o2_lnet_receive(lnet, nid, hdr, payload, error);
	seat->stray.expected = false;
	return rc;
}

void o2_endpoints_late_reply(struct o2_endpoints_seat *seat, uint32_t from, uint64_t number)
{
	const uint64_t nid = o2_endpoints_nid(seat->endpoints, from);
	const struct o2_lnet_hdr hdr = {
		.dest_nid = seat->lnet_config.nid,
		.src_nid = nid,
		.type = O2_LNET_REPLY,
		.msg.reply.dst_wmd = {seat->lnet_config.interface_cookie, number},
	};
	const struct o2_error expected = unknown_handle(number);
	const int rc = deliver(seat, nid, &hdr, false, NULL);

	if (rc != 0 || !seat->stray.dropped)
		o2_report_fail(seat->endpoints->report, "endpoint/stray",
			       "a REPLY to 0x%" PRIx64 ", which has ended, is taken: %d", number, rc);
	else if (!same(&seat->stray.error, &expected))
		differs(seat->endpoints, "a late REPLY", &seat->stray.error, &expected);
}

/* --- answers that only a wrong peer sends --- */

enum wrong {
	UNASKED,      /* an answer that the operation has not asked for, or asked for by RDMA */
	ANOTHER_PEER, /* not from the peer that was asked */
	ANOTHER_LIFE, /* to an operation of an interface that is no more */
	ANOTHER_KIND, /* a REPLY to a PUT, an ACK to a GET */
	TOO_MANY_BYTES,
	WRONGS,
};

struct wrong_answer {
	enum wrong wrong;
	bool by_rdma; /* the REPLY asks where to write to */
	bool unasked; /* the operation waits for no such answer */
	bool overrun; /* it waits for one, but not of so many bytes */
	uint64_t nid;
	struct o2_lnet_hdr hdr;
};

static struct wrong_answer draw_answer(struct o2_endpoints_seat *seat, const struct o2_endpoints_op *op)
{
	struct o2_choice *c = seat->endpoints->choice;
	const bool get = o2_endpoints_is_get(op);
	struct wrong_answer answer = {.wrong = (enum wrong)o2_draw_pick(c, WRONGS)};
	const struct o2_lnet_handle handle = {op->interface_cookie + (answer.wrong == ANOTHER_LIFE),
					      op->operation};
	const uint32_t bytes = op->bytes + (answer.wrong == TOO_MANY_BYTES);
	const bool reply = get != (answer.wrong == ANOTHER_KIND);

	answer.by_rdma = reply && o2_draw_bool(c, 1, 1);
	answer.unasked = get ? o2_endpoints_by_rdma(op) : !op->ack;
	answer.overrun = answer.wrong == TOO_MANY_BYTES && !answer.unasked;
	answer.nid = o2_endpoints_nid(seat->endpoints, op->to) + (answer.wrong == ANOTHER_PEER ? 7 : 0);
	answer.hdr = (struct o2_lnet_hdr){
		.dest_nid = seat->lnet_config.nid,
		.src_nid = answer.nid,
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
	const struct o2_error unknown = unknown_handle(op->operation);
	const bool ack = answer->hdr.type == O2_LNET_ACK;
	const struct o2_error longer = {.rule = ack ? "lnet/ack/mlength" : "lnet/reply/too-long",
					.field = ack ? "mlength" : "payload_length",
					.value = op->bytes + UINT64_C(1),
					.limit = op->bytes};
	/* The right answer may have arrived before, if the request has ended at its target. */
	const bool may_be_late = !answer->overrun || op->ended_there > 0;

	if (answer->overrun && same(&seat->stray.error, &longer)) {
		if (ack)
			o2_endpoints_seen(seat->endpoints, O2_ENDPOINTS_SEEN_WRONG_ACK);
		return;
	}
	op->overrun = false;
	if (may_be_late && same(&seat->stray.error, &unknown))
		o2_endpoints_seen(seat->endpoints, O2_ENDPOINTS_SEEN_WRONG_DROPPED);
	else
		differs(seat->endpoints, "a wrong answer", &seat->stray.error,
			answer->overrun ? &longer : &unknown);
}

void o2_endpoints_answer_wrongly(struct o2_endpoints_seat *seat)
{
	struct o2_endpoints_op *op = o2_endpoints_draw_open(seat);
	struct wrong_answer answer;
	int due = 0, rc;

	if (op == NULL || op->overrun)
		return;
	answer = draw_answer(seat, op);
	if (answer.wrong == UNASKED && !answer.unasked)
		return;
	/* A REPLY in a message that is too long ends its GET, without a word about the REPLY. */
	op->overrun = answer.overrun && answer.hdr.type == O2_LNET_REPLY;
	rc = deliver(seat, answer.nid, &answer.hdr, answer.by_rdma, NULL);
	if (seat->stray.dropped)
		check_dropped(seat, &answer, op);
	else if (!op->overrun || answer.by_rdma)
		o2_report_fail(seat->endpoints->report, "endpoint/stray",
			       "a wrong answer (%d) to operation 0x%" PRIx64 " is taken", (int)answer.wrong,
			       op->operation);
	if (answer.by_rdma)
		due = op->overrun ? -EMSGSIZE : -ENODATA;
	if (rc != due)
		o2_report_fail(seat->endpoints->report, "endpoint/stray",
			       "a wrong answer (%d) is answered with %d, expected %d", (int)answer.wrong, rc,
			       due);
}

/* --- headers for others --- */

void o2_endpoints_stray(struct o2_endpoints *endpoints)
{
	struct o2_choice *c = endpoints->choice;
	struct o2_endpoints_seat *seat = &endpoints->seat[o2_draw_pick(c, endpoints->nseats)];
	const uint64_t own = seat->lnet_config.nid;
	const uint64_t nid = o2_endpoints_nid(endpoints, (seat->index + 1) % endpoints->nseats);
	const uint64_t nids[] = {own,
				 nid,
				 own + 7,
				 own + (UINT64_C(1) << 32),
				 o2_nid_make(O2_LND_LO, 0, 0),
				 o2_nid_make(O2_LND_TCP, 0, 1)};
	struct o2_lnet_hdr hdr = {.dest_nid = nids[o2_draw(c, 5)],
				  .src_nid = o2_draw_bool(c, 1, 1) ? nid : nids[o2_draw(c, 5)],
				  .type = (uint32_t)o2_draw(c, O2_LNET_HELLO + 1)};
	const bool matched = o2_draw_bool(c, 1, 1) && hdr.type != O2_LNET_ACK;
	struct o2_error expected, error = {0};
	int due, rc;

	if (hdr.dest_nid == own && hdr.src_nid == nid && hdr.type <= O2_LNET_REPLY)
		return;
	if (!seat->open)
		return;
	due = foretell(seat, &hdr, nid, matched && hdr.type == O2_LNET_GET, &expected);
	rc = deliver(seat, nid, &hdr, matched, &error);
	o2_endpoints_seen(endpoints,
			  due == -EPROTO ? O2_ENDPOINTS_SEEN_STRAY_REFUSED : O2_ENDPOINTS_SEEN_STRAY_DROPPED);
	/* A dropped header does not end the connection, but a request for memory is answered. */
	if (rc != (due == -EPROTO || matched ? due : 0))
		o2_report_fail(endpoints->report, "endpoint/stray", "it is answered %d, expected %d by %s",
			       rc, due, expected.rule);
	else if (seat->stray.dropped != (due != -EPROTO))
		o2_report_fail(endpoints->report, "endpoint/stray", "it is %sdropped, rule %s",
			       seat->stray.dropped ? "" : "not ", expected.rule);
	else if (seat->stray.dropped && !same(&seat->stray.error, &expected))
		differs(endpoints, "dropped", &seat->stray.error, &expected);
	else if (rc != 0 && !same(&error, &expected))
		differs(endpoints, "refused", &error, &expected);
}
