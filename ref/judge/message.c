/* SPDX-License-Identifier: MIT */
/* A single message: its type, version, names, length and checksum. */
#include "judge/internal.h"

/* If each side has used another version and none was negotiated, neither is known to be right. */
static void learn_version(const struct o2_judging *at, const struct o2_msg *msg)
{
	struct o2_judge_conn *conn = at->conn;

	if (conn->version != 0 && (conn->version_sure || conn->versioner == at->from))
		return;
	conn->version_sure = conn->version == msg->ibm_version;
	conn->version = msg->ibm_version;
	conn->versioner = at->from;
}

/*
 * If the connection request was not seen, learn the names from the first message of each side.  What it says
 * about the other side holds until that side has sent a message itself.
 */
static void learn(const struct o2_judging *at, const struct o2_msg *msg)
{
	struct o2_judge_end *from = &at->conn->end[at->from], *to = &at->conn->end[at->to];

	if (!from->named) {
		from->nid = msg->ibm_srcnid;
		from->stamp = msg->ibm_srcstamp;
		from->named = true;
	}
	if (to->nid == 0)
		to->nid = msg->ibm_dstnid;
	if (to->stamp == 0)
		to->stamp = msg->ibm_dststamp;
	learn_version(at, msg);
}

/* --- the same connection? --- */

static bool same(const struct o2_judge_naming *a, const struct o2_judge_naming *b)
{
	for (int side = O2_JUDGE_A; side < O2_JUDGE_SIDES; side++)
		if (a->nid[side] != b->nid[side] || a->stamp[side] != b->stamp[side])
			return false;
	return a->version == b->version;
}

void o2_judge_terms_unknown(struct o2_judge_conn *conn)
{
	conn->queue_depth = conn->max_frags = 0;
	for (int side = O2_JUDGE_A; side < O2_JUDGE_SIDES; side++) {
		conn->end[side].max_msg_bytes = 0;
		conn->end[side].summed = 0;
	}
	o2_judge_credits_unknown(conn);
}

void o2_judge_doubt(const struct o2_judging *at)
{
	/* Keep `other` if both sides lose events in turn: what one side has said before still counts. */
	at->conn->is_told = at->conn->is_told && at->conn->doubtful;
	at->conn->doubtful = true;
	at->conn->end[at->from].disconnected = false;
}

/*
 * Returns whether it is known which connection the message belongs to.  One message with other names may be
 * wrong; but if both sides use these names, the queue pairs carry a new connection, whose handshake was missed.
 */
static bool settle(const struct o2_judging *at, const struct o2_msg *msg)
{
	struct o2_judge_conn *conn = at->conn;
	struct o2_judge_naming known = {.version = conn->version}, said = {.version = msg->ibm_version};

	if (!conn->doubtful)
		return true;
	for (int side = O2_JUDGE_A; side < O2_JUDGE_SIDES; side++) {
		known.nid[side] = conn->end[side].nid;
		known.stamp[side] = conn->end[side].stamp;
		said.nid[side] = side == (int)at->from ? msg->ibm_srcnid : msg->ibm_dstnid;
		said.stamp[side] = side == (int)at->from ? msg->ibm_srcstamp : msg->ibm_dststamp;
	}
	if (same(&said, &known)) {
		conn->doubtful = false;
		return true;
	}
	if (conn->is_told && (conn->one_way || conn->teller != at->from) && same(&said, &conn->other)) {
		for (int side = O2_JUDGE_A; side < O2_JUDGE_SIDES; side++) {
			conn->end[side].nid = said.nid[side];
			conn->end[side].stamp = said.stamp[side];
		}
		conn->version = said.version;
		conn->doubtful = false;
		return true;
	}
	if (!conn->is_told)
		o2_judge_terms_unknown(conn);
	conn->is_told = true;
	conn->teller = at->from;
	conn->other = said;
	return false;
}

static void judge_header(const struct o2_judging *at, const struct o2_msg *msg)
{
	const struct o2_judge_conn *conn = at->conn;
	const struct o2_judge_end *from = &conn->end[at->from], *to = &conn->end[at->to];

	o2_judge_expect(at, O2_JUDGE_MESSAGE_VERSION, 0, "ibm_version", msg->ibm_version, conn->version);
	o2_judge_expect(at, O2_JUDGE_MESSAGE_NIDS, 0, "ibm_srcnid", msg->ibm_srcnid, from->nid);
	o2_judge_expect(at, O2_JUDGE_MESSAGE_NIDS, 0, "ibm_dstnid", msg->ibm_dstnid, to->nid);
	o2_judge_expect(at, O2_JUDGE_MESSAGE_STAMPS, 0, "ibm_srcstamp", msg->ibm_srcstamp, from->stamp);
	o2_judge_expect(at, O2_JUDGE_MESSAGE_STAMPS, 0, "ibm_dststamp", msg->ibm_dststamp, to->stamp);
}

static void judge_length(const struct o2_judging *at, const struct o2_msg *msg)
{
	const uint64_t expected = o2_msg_canonical_bytes(msg);
	const uint32_t limit = at->conn->end[at->to].max_msg_bytes;

	if (limit != 0 && at->event->bytes > limit)
		o2_judge_over(at, O2_JUDGE_MESSAGE_SIZE, 0, "bytes", at->event->bytes, limit);
	if (at->event->bytes != expected)
		o2_judge_differs(at, O2_JUDGE_MESSAGE_LENGTH, 0, "bytes", at->event->bytes, expected);
	else if (msg->ibm_nob != expected)
		o2_judge_differs(at, O2_JUDGE_MESSAGE_LENGTH, 0, "ibm_nob", msg->ibm_nob, expected);
}

/* Checksums are a setting of the sender, not of a single message; but the setting may change. */
static void judge_sum(const struct o2_judging *at, const struct o2_msg *msg)
{
	struct o2_judge_end *from = &at->conn->end[at->from];

	if (msg->cksum_flavour != O2_CKSUM_NONE) {
		if (from->summed == 0)
			from->summed = at->event->number;
	} else if (from->summed != 0) {
		o2_judge_over(at, O2_JUDGE_MESSAGE_UNSUMMED, from->summed, "ibm_cksum", 0, 1);
		from->summed = 0;
	}
}

int o2_judge_message(const struct o2_judging *at)
{
	const struct o2_msg *msg = at->event->msg;
	struct o2_judge_end *from = &at->conn->end[at->from];
	const struct o2_lnet_hdr *hdr;
	int rc;

	from->messages++;
	if (from->disconnected)
		o2_judge_over(at, O2_JUDGE_END_MESSAGE, 0, "messages", from->messages, O2_NO_LIMIT);
	if (msg == NULL) {
		if (at->event->refused != NULL)
			o2_judge_refused(at);
		o2_judge_unseen(at);
		return 0;
	}
	learn(at, msg);
	if (settle(at, msg))
		judge_header(at, msg);
	judge_length(at, msg);
	judge_sum(at, msg);
	if (msg->ibm_type == O2_MSG_CONNREQ || msg->ibm_type == O2_MSG_CONNACK) {
		o2_judge_over(at, O2_JUDGE_MESSAGE_TYPE, 0, "ibm_type", msg->ibm_type, O2_NO_LIMIT);
		return 0;
	}
	o2_judge_credits(at);
	rc = o2_judge_transfer(at);
	o2_judge_credits_due(at);
	hdr = o2_msg_lnet_hdr(msg);
	if (hdr != NULL)
		o2_judge_lnet(at, hdr);
	from->last_message_ns = at->conn->now_ns;
	return rc;
}
