/* SPDX-License-Identifier: MIT */
#include "props/judge/hearing.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/monotonic.h"

static void take(void *context, const struct o2_judge_finding *finding)
{
	struct o2_hearing *h = context;

	h->dishonest = h->dishonest || o2_judge_rules[finding->rule].severity != O2_JUDGE_NOTE;
	if (h->nfound < O2_HEARING_FINDINGS)
		h->found[h->nfound++] = *finding;
}

/* The side whose next event proves a finding: docs/judge.md, "What it cannot see". */
static struct o2_hearing_end *proves(struct o2_hearing *h, const struct o2_judge_finding *finding)
{
	const enum o2_judge_proof proof = o2_judge_rules[finding->rule].proof;

	if (!h->options.lossy || proof == O2_JUDGE_PROVEN)
		return NULL;
	return &h->end[proof == O2_JUDGE_OF_PEER ? o2_hearing_other(finding->who) : finding->who];
}

/* False: the judge had no memory for the event, and its findings do not count. */
static bool hear(struct o2_hearing *h, const struct o2_judge_event *event)
{
	bool failed = false;
	int rc;

	if (h->tap != NULL)
		h->tap(h->tap_context, event);
	if (h->fail_nth != 0)
		h->fail_allocation(h->fail_nth);
	rc = o2_judge_hear(h->judge, h->conn, event);
	if (h->fail_nth != 0) {
		failed = h->allocation_failed();
		h->fail_allocation(0);
		h->fail_nth = 0;
	}
	if (rc != (failed ? -ENOMEM : 0))
		o2_report_fail(h->report, "verdicts/refused", "an event is answered with %d%s", rc,
			       failed ? ", and there is no memory" : "");
	if (failed)
		h->nfound = 0;
	return !failed;
}

static bool is_answer(uint8_t type)
{
	return type == O2_MSG_PUT_ACK || type == O2_MSG_PUT_NAK || type == O2_MSG_PUT_DONE ||
	       type == O2_MSG_GET_DONE;
}

void o2_hearing_tell(struct o2_hearing *h, struct o2_judge_event event)
{
	struct o2_hearing_end *from = &h->end[event.from];
	struct o2_judge_finding at_once[2 * O2_HEARING_FINDINGS], asked[O2_HEARING_FINDINGS];
	const bool is_part = event.kind == O2_JUDGE_PART;
	const uint32_t nasked = h->ndue;
	uint32_t n = 0;

	memcpy(asked, h->due, nasked * sizeof(asked[0]));
	h->ndue = 0;
	event.number = h->number + 1;
	event.time_ns = h->clock_ns + h->now_ns;
	if (h->deaf || (h->one_way && event.from != h->heard_side) ||
	    ((event.kind == O2_JUDGE_WRITE || is_part) && h->writes_unseen[event.from])) {
		h->number++;
		return;
	}
	if (event.kind == O2_JUDGE_MESSAGE || event.kind == O2_JUDGE_WRITE) {
		memcpy(at_once, from->waiting, from->nwaiting * sizeof(at_once[0]));
		n = from->nwaiting;
		from->nwaiting = 0;
		for (uint32_t i = 0; i < n; i++)
			at_once[i].unproven = h->again != O2_HEARING_NEW;
	}
	/* A part of a WRITE is no event of its own: what is overdue is reported with the WRITE. */
	if (!is_part)
		o2_hearing_expect_times(h);
	h->number++;
	memcpy(h->due + h->ndue, asked, nasked * sizeof(asked[0]));
	h->ndue += nasked;
	for (uint32_t i = 0; i < h->ndue; i++) {
		struct o2_hearing_end *end = proves(h, &h->due[i]);

		if (end == NULL)
			at_once[n++] = h->due[i];
		else
			o2_hearing_wait(end, &h->due[i]);
	}
	h->ndue = 0;
	h->heard += !is_part;
	if (o2_hearing_is_set_right(h))
		h->behind_ns = 0;
	h->heard_ns = h->now_ns;
	h->heard_clock_ns = h->clock_ns + h->now_ns;
	from->messages += event.kind == O2_JUDGE_MESSAGE && h->again != O2_HEARING_MISSED;
	from->writes += event.kind == O2_JUDGE_WRITE;
	from->write_bytes += event.kind == O2_JUDGE_WRITE ? event.bytes : 0;
	if ((event.kind == O2_JUDGE_MESSAGE || event.kind == O2_JUDGE_WRITE) && h->again == O2_HEARING_NEW)
		from->written = from->answered = 0;
	h->end[o2_hearing_other(event.from)].written += event.kind == O2_JUDGE_WRITE;
	h->end[o2_hearing_other(event.from)].answered += event.msg != NULL && is_answer(event.msg->ibm_type);
	if (hear(h, &event))
		o2_hearing_compare(h, at_once, n);
}

static void forget_credits(struct o2_hearing *h)
{
	for (int i = O2_JUDGE_A; i < O2_JUDGE_SIDES; i++) {
		h->end[i].least = h->end[i].most = h->end[i].balance;
		h->end[i].empty_ns = 0;
		h->end[i].withheld_said = false;
	}
}

void o2_hearing_missed(struct o2_hearing *h, enum o2_judge_side side)
{
	if (h->deaf || (h->one_way && side != h->heard_side))
		return;
	h->whole = h->exact = false;
	h->end[side].nwaiting = 0;
	h->end[side].said_ns = 0;
	for (uint32_t i = 0; i < O2_HEARING_TRANSFERS; i++)
		h->transfer[i].followed = false;
	forget_credits(h);
}

static void expect_loss(struct o2_hearing *h, enum o2_judge_side side)
{
	o2_hearing_expect(h, O2_HEARING_EVENT, O2_JUDGE_TRANSPORT_LOST, side, 0, NULL, 0, O2_NO_LIMIT,
			  O2_LIMIT_OTHER);
}

void o2_hearing_lose(struct o2_hearing *h, enum o2_judge_side side)
{
	expect_loss(h, side);
	o2_hearing_tell(h, (struct o2_judge_event){.kind = O2_JUDGE_LOST, .from = side});
	o2_hearing_missed(h, side);
}

void o2_hearing_renew(struct o2_hearing *h, enum o2_judge_side side)
{
	struct o2_msg msg = o2_hearing_header(h, side, O2_MSG_PUT_NAK);

	if (!h->options.lossy || h->whole ||
	    (h->end[side].written <= O2_HEARING_STRAYS && h->end[side].answered <= O2_HEARING_STRAYS))
		return;
	msg.u.completion.ibcm_cookie = ++h->next_cookie;
	o2_hearing_message(h, side, &msg);
}

void o2_hearing_message_again(struct o2_hearing *h, enum o2_judge_side from, struct o2_msg *msg,
			      bool answered)
{
	const bool missed = h->whole || answered;

	h->again = missed ? O2_HEARING_MISSED : O2_HEARING_UNSURE;
	if (missed)
		expect_loss(h, from);
	else
		forget_credits(h);
	o2_hearing_message(h, from, msg);
	if (missed)
		o2_hearing_missed(h, from);
	else
		forget_credits(h);
	h->again = O2_HEARING_NEW;
}

/* --- the account of credits --- */

static bool takes_credit(uint16_t version, uint8_t type)
{
	return type == O2_MSG_IMMEDIATE || type == O2_MSG_PUT_REQ || type == O2_MSG_GET_REQ ||
	       (type == O2_MSG_NOOP && version == O2_MSG_VERSION_1);
}

int64_t o2_hearing_credits(const struct o2_hearing *h, enum o2_judge_side side)
{
	return (int64_t)h->depth + h->end[side].balance;
}

/* A PUT of asker that waits for PUT_ACK or PUT_NAK. */
static bool waits(const struct o2_hearing_transfer *t, enum o2_judge_side asker)
{
	return t->open && !t->is_get && !t->accepted && !t->refused && t->asker == asker;
}

static uint32_t nwaits(const struct o2_hearing *h, enum o2_judge_side asker)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < O2_HEARING_TRANSFERS; i++)
		n += waits(&h->transfer[i], asker);
	return n;
}

int64_t o2_hearing_owed(const struct o2_hearing *h, enum o2_judge_side side)
{
	const enum o2_judge_side to = o2_hearing_other(side);

	/* The credit of a PUT_REQ is returned when it is refused, or with its PUT_DONE. */
	return -h->end[to].balance - h->end[to].accepted - nwaits(h, to);
}

static int64_t known_depth(const struct o2_hearing *h)
{
	return h->knows_terms ? h->depth : 255;
}

int64_t o2_hearing_room(const struct o2_hearing *h, enum o2_judge_side side)
{
	const struct o2_hearing_end *end = &h->end[side];

	return h->exact ? o2_hearing_credits(h, side) : known_depth(h) - (end->most - end->balance);
}

int64_t o2_hearing_owed_most(const struct o2_hearing *h, enum o2_judge_side side)
{
	const struct o2_hearing_end *to = &h->end[o2_hearing_other(side)];

	return h->exact ? -to->balance - to->accepted : known_depth(h) - (to->balance - to->least);
}

/* Continue as if both sides had all their credits. */
static void begin_anew(struct o2_hearing *h)
{
	h->anew = h->exact = false;
	for (int side = O2_JUDGE_A; side < O2_JUDGE_SIDES; side++) {
		struct o2_hearing_end *end = &h->end[side];

		end->balance = end->least = end->most = 0;
		end->empty_ns = 0;
		end->withheld_said = false;
	}
}

/* True if msg accepts a waiting PUT.  Other answers (unknown, to a GET_REQ, second) reserve nothing. */
static bool accepts(struct o2_hearing *h, enum o2_judge_side asker, const struct o2_msg *msg)
{
	const bool is_ack = msg->ibm_type == O2_MSG_PUT_ACK;
	const uint64_t cookie = is_ack ? msg->u.putack.ibpam_src_cookie : msg->u.completion.ibcm_cookie;

	if (!is_ack && msg->ibm_type != O2_MSG_PUT_NAK)
		return false;
	for (uint32_t i = 0; i < O2_HEARING_TRANSFERS; i++) {
		struct o2_hearing_transfer *t = &h->transfer[i];

		if (!waits(t, asker) || t->cookie != cookie)
			continue;
		t->accepted = is_ack;
		t->refused = !is_ack;
		return is_ack;
	}
	return false;
}

/* Note the time at which a side has no credit and its peer has no excuse for not returning any. */
static void note_empty(struct o2_hearing *h, enum o2_judge_side side)
{
	struct o2_hearing_end *end = &h->end[side];

	if (!h->exact || h->one_way || o2_hearing_credits(h, side) != 0 || end->accepted != 0 ||
	    nwaits(h, side) != 0) {
		end->empty_ns = 0;
		end->withheld_said = false;
	} else if (end->empty_ns == 0) {
		end->empty_ns = h->now_ns;
	}
}

static void count(struct o2_hearing *h, enum o2_judge_side from, const struct o2_msg *msg)
{
	struct o2_hearing_end *sender = &h->end[from], *receiver = &h->end[o2_hearing_other(from)];
	const uint8_t type = msg->ibm_type;

	sender->unanswered += type == O2_MSG_PUT_REQ || type == O2_MSG_GET_REQ;
	receiver->accepted += accepts(h, o2_hearing_other(from), msg);
	if ((type == O2_MSG_PUT_ACK || type == O2_MSG_PUT_NAK || type == O2_MSG_GET_DONE) &&
	    receiver->unanswered > 0)
		receiver->unanswered--;
	if (type == O2_MSG_PUT_DONE && sender->accepted > 0)
		sender->accepted--;
	if (h->anew)
		begin_anew(h);
	else
		receiver->balance += msg->ibm_credits;
	if (receiver->balance > receiver->most)
		receiver->most = receiver->balance;
	sender->balance -= takes_credit(h->version, type);
	if (sender->balance < sender->least)
		sender->least = sender->balance;
	note_empty(h, from);
	note_empty(h, o2_hearing_other(from));
}

/* --- telling --- */

struct o2_msg o2_hearing_header(const struct o2_hearing *h, enum o2_judge_side from, enum o2_msg_type type)
{
	const struct o2_hearing_end *sender = &h->end[from], *receiver = &h->end[o2_hearing_other(from)];
	struct o2_msg msg = {.ibm_version = h->version, .ibm_type = (uint8_t)type};

	msg.ibm_srcnid = sender->nid;
	msg.ibm_srcstamp = sender->stamp;
	msg.ibm_dstnid = receiver->nid;
	msg.ibm_dststamp = receiver->stamp;
	return msg;
}

/* After a checksum, the sender's first message without one is a finding, even if it only returns credits. */
static void expect_a_sum(struct o2_hearing *h, enum o2_judge_side from, const struct o2_msg *msg)
{
	struct o2_hearing_end *sender = &h->end[from];

	if (msg->cksum_flavour != O2_CKSUM_NONE) {
		if (sender->summed == 0)
			sender->summed = h->number + 1;
	} else if (sender->summed != 0) {
		o2_hearing_expect(h, O2_HEARING_EVENT, O2_JUDGE_MESSAGE_UNSUMMED, from, sender->summed,
				  "ibm_cksum", 0, 1, O2_LIMIT_BOUND);
		sender->summed = 0;
	}
}

static bool is_put(const struct o2_msg *msg)
{
	return msg->ibm_type == O2_MSG_PUT_REQ ||
	       (msg->ibm_type == O2_MSG_IMMEDIATE && msg->u.immediate.hdr.type == O2_LNET_PUT);
}

void o2_hearing_message_bytes(struct o2_hearing *h, enum o2_judge_side from, const struct o2_msg *msg,
			      uint64_t bytes)
{
	const bool heard =
		!h->deaf && !(h->one_way && from != h->heard_side) && h->again != O2_HEARING_MISSED;

	if (heard)
		expect_a_sum(h, from, msg);
	o2_hearing_tell(h, (struct o2_judge_event){
				   .kind = O2_JUDGE_MESSAGE, .from = from, .msg = msg, .bytes = bytes});
	count(h, from, msg);
	if (!heard)
		return;
	h->end[from].said_ns = h->now_ns;
	h->end[from].puts += is_put(msg);
}

void o2_hearing_message(struct o2_hearing *h, enum o2_judge_side from, struct o2_msg *msg)
{
	const uint64_t bytes = o2_msg_canonical_bytes(msg);

	msg->ibm_nob = (uint32_t)bytes;
	o2_hearing_message_bytes(h, from, msg, bytes);
}

void o2_hearing_write(struct o2_hearing *h, enum o2_judge_side from, uint32_t rkey, uint64_t addr,
		      uint64_t bytes)
{
	o2_hearing_tell(h, (struct o2_judge_event){.kind = O2_JUDGE_WRITE,
						   .from = from,
						   .addr = addr,
						   .rkey = rkey,
						   .bytes = bytes,
						   .announced_bytes = (uint32_t)bytes});
}

/* --- connections --- */

bool o2_hearing_meet(struct o2_hearing *h, enum o2_judge_seen seen)
{
	h->whole = h->exact = seen == O2_JUDGE_WHOLE;
	h->one_way = seen == O2_JUDGE_ONE_WAY;
	h->conn = o2_judge_meet(h->judge, seen);
	h->id++;
	h->heard = 0;
	for (int side = O2_JUDGE_A; side < O2_JUDGE_SIDES; side++) {
		const struct o2_hearing_end was = h->end[side];

		h->end[side] = (struct o2_hearing_end){
			.nid = was.nid, .stamp = was.stamp, .max_msg_bytes = was.max_msg_bytes};
	}
	return h->conn != NULL;
}

bool o2_hearing_open(struct o2_hearing *h, enum o2_judge_seen seen)
{
	h->now_ns = O2_NS_PER_MS;
	/* Pass NULL, the defaults, where the options equal them. */
	h->judge = o2_judge_new(h->options.timeout_ms == 50000 && h->options.keepalive_ms == 1000 &&
						!h->options.lossy
					? NULL
					: &h->options,
				take, h);
	return h->judge != NULL && o2_hearing_meet(h, seen);
}

void o2_hearing_listen(struct o2_hearing *h)
{
	for (int side = O2_JUDGE_A; side < O2_JUDGE_SIDES; side++)
		o2_hearing_missed(h, (enum o2_judge_side)side);
	h->deaf = false;
	for (int side = O2_JUDGE_A; side < O2_JUDGE_SIDES; side++) {
		h->end[side].least = h->end[side].most = h->end[side].balance;
		h->end[side].empty_ns = 0;
	}
}

void o2_hearing_part(struct o2_hearing *h)
{
	struct o2_judge_finding left[2 * O2_HEARING_WAITING];
	uint32_t n = 0;

	for (int side = O2_JUDGE_A; side < O2_JUDGE_SIDES; side++)
		for (uint32_t i = 0; i < h->end[side].nwaiting; i++) {
			left[n] = h->end[side].waiting[i];
			left[n++].unproven = true;
		}
	for (uint32_t i = 0; i < O2_HEARING_TRANSFERS; i++)
		h->transfer[i].followed = false;
	o2_judge_part(h->judge, h->conn);
	o2_hearing_compare(h, left, n);
}

void o2_hearing_close(struct o2_hearing *h)
{
	o2_hearing_part(h);
	o2_judge_free(h->judge);
	h->judge = NULL;
}
