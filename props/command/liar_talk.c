/* SPDX-License-Identifier: MIT */
#include "props/command/liar_talk.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "props/model/wire_model.h"
#include "wire/msg.h"

#define US	 UINT64_C(0x000500000a000001)
#define THEM	 UINT64_C(0x000500000a630001)
#define OUR_LIFE UINT64_C(0x1111)
#define LIFE	 UINT64_C(0x2222)
#define VERSION	 0x12u
#define DEPTH	 8u
#define FRAGS	 4u
#define SHOWN	 64u  /* docs/conform.md: bytes shown of the peer's last message */
#define NAMED	 159u /* characters for the rules of a lie; more is cut */
#define MTU	 4096u
#define PRIVATE	 232u /* bytes of private data in a datagram */

static const struct o2_msg header = {
	.order = O2_LITTLE_ENDIAN,
	.ibm_version = VERSION,
	.ibm_srcnid = US,
	.ibm_srcstamp = OUR_LIFE,
	.ibm_dstnid = THEM,
	.ibm_dststamp = LIFE,
};

static struct o2_liar_says *say(struct o2_liar_talk *talk, enum o2_watched_kind kind, bool ours)
{
	struct o2_liar_says *says = &talk->says[talk->count++];

	*says = (struct o2_liar_says){.kind = kind, .ours = ours, .conn = talk->conns};
	return says;
}

static struct o2_liar_says *say_msg(struct o2_liar_talk *talk, enum o2_watched_kind kind, bool ours,
				    const struct o2_msg *msg)
{
	struct o2_liar_says *says = say(talk, kind, ours);
	const int length = o2_msg_encode(msg, NULL, says->bytes, sizeof(says->bytes), NULL);

	says->length = length < 0 ? 0 : (uint32_t)length;
	return says;
}

static struct o2_msg terms(enum o2_msg_type type, bool ours)
{
	struct o2_msg msg = header;

	msg.ibm_type = (uint8_t)type;
	msg.ibm_dststamp = ours ? 0 : OUR_LIFE;
	if (!ours) {
		msg.ibm_srcnid = THEM;
		msg.ibm_srcstamp = LIFE;
		msg.ibm_dstnid = US;
	}
	msg.u.connparams.ibcp_queue_depth = DEPTH;
	msg.u.connparams.ibcp_max_frags = FRAGS;
	msg.u.connparams.ibcp_max_msg_size = 4096;
	return msg;
}

static void connect(struct o2_liar_talk *talk)
{
	struct o2_msg msg = terms(O2_MSG_CONNREQ, true);

	talk->conns++;
	say_msg(talk, O2_WATCHED_REQUEST, true, &msg);
	msg = terms(O2_MSG_CONNACK, false);
	say_msg(talk, O2_WATCHED_REPLY, false, &msg);
}

static struct o2_msg get(uint64_t cookie, uint32_t frags)
{
	struct o2_msg msg = header;

	msg.ibm_type = O2_MSG_GET_REQ;
	msg.u.get.hdr = (struct o2_lnet_hdr){
		.dest_nid = THEM, .src_nid = US, .dest_pid = 12345, .src_pid = 12345, .type = O2_LNET_GET};
	msg.u.get.hdr.msg.get.sink_length = 100 * frags;
	msg.u.get.ibgm_cookie = cookie;
	msg.u.get.ibgm_rd.rd_key = (uint32_t)cookie;
	msg.u.get.ibgm_rd.rd_nfrags = frags;
	for (uint32_t i = 0; i < frags; i++)
		msg.u.get.ibgm_rd.rd_frags[i] = (struct o2_rdma_frag){100, 4096 * (i + 1)};
	return msg;
}

static struct o2_msg done(void)
{
	struct o2_msg msg = header;

	msg.ibm_type = O2_MSG_GET_DONE;
	msg.u.completion.ibcm_cookie = 7;
	return msg;
}

/* --- each breaks one rule: docs/judge.md, "Rules" --- */

enum lie {
	SAYS_NOTHING,
	TYPE_OF_REQUEST,
	OTHER_MAGIC,
	CONNREQ_LATER,
	OTHER_VERSION,
	OTHER_NID,
	OTHER_STAMP,
	OVER_OWED,
	COOKIE_TWICE,
	UNASKED,
	FRAGS_TOO_MANY,
	KEY_OF_NOBODY,
	NO_CREDIT,
	LATE_WORD,
	LIES,
};

static const enum o2_judge_rule_id broken[LIES] = {
	[SAYS_NOTHING] = O2_JUDGE_RULES,
	[TYPE_OF_REQUEST] = O2_JUDGE_CONNECT_TYPE,
	[OTHER_MAGIC] = O2_JUDGE_MESSAGE_WIRE,
	[CONNREQ_LATER] = O2_JUDGE_MESSAGE_TYPE,
	[OTHER_VERSION] = O2_JUDGE_MESSAGE_VERSION,
	[OTHER_NID] = O2_JUDGE_MESSAGE_NIDS,
	[OTHER_STAMP] = O2_JUDGE_MESSAGE_STAMPS,
	[OVER_OWED] = O2_JUDGE_CREDITS_OVER_OWED,
	[COOKIE_TWICE] = O2_JUDGE_TRANSFER_COOKIE_REUSED,
	[UNASKED] = O2_JUDGE_TRANSFER_UNASKED,
	[FRAGS_TOO_MANY] = O2_JUDGE_TRANSFER_FRAGS,
	[KEY_OF_NOBODY] = O2_JUDGE_WRITE_KEY,
	[NO_CREDIT] = O2_JUDGE_CREDITS_NONE,
	[LATE_WORD] = O2_JUDGE_END_MESSAGE,
};

/* A message that is right except for its header. */
static void say_header(struct o2_liar_talk *talk, enum lie lie)
{
	struct o2_msg msg = get(7, 1);
	struct o2_liar_says *says;

	if (lie == OTHER_VERSION)
		msg.ibm_version = 0x11;
	else if (lie == OTHER_NID)
		msg.ibm_srcnid++;
	else if (lie == OTHER_STAMP)
		msg.ibm_srcstamp++;
	else if (lie == OVER_OWED)
		msg.ibm_credits = 2;
	else if (lie == FRAGS_TOO_MANY)
		msg = get(7, FRAGS + 1);
	says = say_msg(talk, O2_WATCHED_MESSAGE, true, &msg);
	if (lie == OTHER_MAGIC)
		says->bytes[0] ^= 1;
}

static void lie_once(struct o2_choice *c, struct o2_liar_talk *talk, enum lie lie)
{
	struct o2_msg msg = terms(O2_MSG_CONNACK, true);

	if (lie == TYPE_OF_REQUEST) {
		talk->conns++;
		say_msg(talk, O2_WATCHED_REQUEST, true, &msg);
		return;
	}
	connect(talk);
	msg = get(7, 1);
	switch (lie) {
	case SAYS_NOTHING:
		say(talk, O2_WATCHED_DISCONNECT, o2_draw_bool(c, 1, 1));
		break;
	case CONNREQ_LATER:
		msg = terms(O2_MSG_CONNREQ, true);
		msg.ibm_dststamp = LIFE;
		say_msg(talk, O2_WATCHED_MESSAGE, true, &msg);
		break;
	case UNASKED:
		msg = done();
		say_msg(talk, O2_WATCHED_MESSAGE, true, &msg);
		break;
	case KEY_OF_NOBODY:
		say(talk, O2_WATCHED_WRITE, true)->length = 1 + (uint32_t)o2_draw(c, 3 * MTU);
		break;
	case COOKIE_TWICE:
		say_msg(talk, O2_WATCHED_MESSAGE, true, &msg);
		msg.u.get.ibgm_rd.rd_key++;
		say_msg(talk, O2_WATCHED_MESSAGE, true, &msg);
		break;
	case NO_CREDIT:
		for (uint32_t i = 0; i <= DEPTH; i++) {
			msg = get(100 + i, 1);
			say_msg(talk, O2_WATCHED_MESSAGE, true, &msg);
		}
		break;
	case LATE_WORD:
		say(talk, O2_WATCHED_DISCONNECT, true);
		say_msg(talk, O2_WATCHED_MESSAGE, true, &msg);
		break;
	default:
		say_header(talk, lie);
	}
}

/* Add a datagram of the connection manager with more bytes than its private data can hold. */
static void add_behind(struct o2_choice *c, struct o2_liar_talk *talk, uint32_t from)
{
	for (uint32_t i = from; i < talk->count; i++) {
		struct o2_liar_says *says = &talk->says[i];

		if (says->kind != O2_WATCHED_REQUEST && says->kind != O2_WATCHED_REPLY)
			continue;
		for (uint64_t more = o2_draw(c, O2_LIAR_BYTES - says->length); more > 0; more--)
			says->bytes[says->length++] = (uint8_t)(0x80 | more);
		return;
	}
}

void o2_liar_talk_draw(struct o2_choice *c, uint32_t first_conn, struct o2_liar_talk *talk)
{
	const bool all = o2_draw_bool(c, 5, 1);
	const uint64_t lies = o2_draw(c, 3);

	talk->conns = first_conn;
	for (uint32_t i = 0; i < (all ? LIES : lies); i++) {
		const enum lie lie = all ? (enum lie)i : (enum lie)o2_draw(c, LIES - 1);
		const uint32_t from = talk->count;

		lie_once(c, talk, lie);
		if (o2_draw_bool(c, 3, 1) && !all)
			add_behind(c, talk, from);
		if (lie != SAYS_NOTHING)
			talk->named[broken[lie]] = true;
		/* None of these requests is answered either. */
		if (lie == NO_CREDIT)
			talk->named[O2_JUDGE_CREDITS_REQUESTS] = true;
	}
}

void o2_liar_talk_tell(const struct o2_liar_talk *talk, int fd)
{
	static const char *const kinds[] = {
		[O2_WATCHED_REQUEST] = "request", [O2_WATCHED_REPLY] = "reply",
		[O2_WATCHED_REJECT] = "reject",	  [O2_WATCHED_MESSAGE] = "message",
		[O2_WATCHED_WRITE] = "write",	  [O2_WATCHED_DISCONNECT] = "disconnect"};
	char line[2 * O2_LIAR_BYTES + 128];

	for (uint32_t i = 0; i < talk->count; i++) {
		const struct o2_liar_says *says = &talk->says[i];
		const bool bare = says->kind == O2_WATCHED_WRITE || says->length == 0;
		int used = snprintf(line, sizeof(line), "%s wire %" PRIx32 " %s %s %" PRIu32 " %x %x %s",
				    says->honest ? "honest" : "liar", says->conn, kinds[says->kind],
				    says->ours ? "ours" : "theirs", says->length, 4096, 7, bare ? "-" : "");

		for (uint32_t k = 0; k < says->length && !bare; k++)
			used += snprintf(line + used, sizeof(line) - (size_t)used, "%02x", says->bytes[k]);
		dprintf(fd, "%s\n", line);
	}
}

void o2_liar_talk_named(const struct o2_liar_talk *talk, char *text, size_t bytes)
{
	size_t used = 0;

	text[0] = '\0';
	for (uint32_t rule = 0; rule < O2_JUDGE_RULES; rule++)
		if (talk->named[rule])
			used += (size_t)snprintf(text + used, used < bytes ? bytes - used : 0, "%s%s",
						 used > 0 ? ", " : "", o2_judge_rules[rule].id);
	if (used > NAMED)
		text[NAMED] = '\0';
}

void o2_liar_talk_heard(const struct o2_liar_talk *talk, char *text, size_t bytes)
{
	const struct o2_liar_says *last = NULL;
	size_t used;

	for (uint32_t i = 0; i < talk->count; i++)
		if (!talk->says[i].ours)
			last = &talk->says[i];
	if (last == NULL || last->length == 0) {
		snprintf(text, bytes, "%s", last == NULL ? "nothing" : "the end of the connection");
		return;
	}
	used = (size_t)snprintf(text, bytes, "a reply of %" PRIu32 " bytes:", last->length);
	for (uint32_t i = 0; i < last->length && i < SHOWN; i++)
		used += (size_t)snprintf(text + used, bytes - used, "%s%02x", i % 4 == 0 ? " " : "",
					 last->bytes[i]);
	if (last->length > SHOWN)
		snprintf(text + used, bytes - used, " ..");
}

/* --- the capture: docs/conform.md, "The capture" --- */

#define BLOCK	  28u /* bytes in front of a packet */
#define TRANSPORT 54u /* of a packet: offset behind the base transport header */
#define DATA	  86u /* of a datagram: offset of its data */
#define DATAGRAM  322u
#define ICRC	  4u

static uint32_t packets_of(const struct o2_liar_says *says)
{
	return says->kind == O2_WATCHED_WRITE ? (says->length + MTU - 1) / MTU : 1;
}

uint32_t o2_liar_talk_packets(const struct o2_liar_talk *talk)
{
	uint32_t packets = 0;

	for (uint32_t i = 0; i < talk->count; i++)
		packets += packets_of(&talk->says[i]);
	return packets;
}

/* Bytes that do not fit into a datagram are missing; the rest must be zero. */
static bool is_datagram(const struct o2_liar_says *says, const uint8_t *packet, size_t seen)
{
	const uint32_t at = says->kind == O2_WATCHED_REQUEST ? 176 : says->kind == O2_WATCHED_REPLY ? 36 : 8;
	const uint8_t *data = packet + DATA;

	if (seen != DATAGRAM)
		return false;
	for (uint32_t i = 0; at + i < PRIVATE; i++)
		if (data[at + i] != (i < says->length ? says->bytes[i] : 0))
			return false;
	for (uint32_t i = DATAGRAM - ICRC; i < DATAGRAM; i++)
		if (packet[i] != 0)
			return false;
	return true;
}

static bool is_packet(const struct o2_liar_says *says, const uint8_t *packet, size_t seen)
{
	if (says->kind == O2_WATCHED_WRITE)
		return true;
	if (says->kind != O2_WATCHED_MESSAGE)
		return is_datagram(says, packet, seen);
	return seen == TRANSPORT + (says->length + 3) / 4 * 4 + ICRC &&
	       memcmp(packet + TRANSPORT, says->bytes, says->length) == 0;
}

bool o2_liar_talk_captured(const struct o2_liar_talk *talk, const uint8_t *bytes, size_t count, size_t *at)
{
	for (uint32_t i = 0; i < talk->count; i++)
		for (uint32_t k = packets_of(&talk->says[i]); k > 0; k--) {
			const size_t total = count - *at < BLOCK ? 0 : o2_wm_load(bytes + *at + 4, 4, true);
			const size_t seen = total == 0 ? 0 : o2_wm_load(bytes + *at + 20, 4, true);

			if (total < BLOCK || total > count - *at || seen > total - BLOCK ||
			    !is_packet(&talk->says[i], bytes + *at + BLOCK, seen))
				return false;
			*at += total;
		}
	return true;
}
