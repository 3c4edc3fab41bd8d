/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <string.h>

#include "props/lst/lst_internal.h"

/* A node that answers as a test node does, or with deviations in content, length, number, time and receiver. */

#define SLOT_PAGE  100u
#define PAGE_BYTES 4096u
#define SLOT_BYTES (O2_TALK_SLOT_PAGES * PAGE_BYTES)
#define POISON	   0xeeu
#define RECENT	   3u

static uint8_t *slot_bytes(const struct o2_lst_talk *talk, uint32_t slot)
{
	return o2_lnet_side_bytes(talk->b, SLOT_PAGE + slot * O2_TALK_SLOT_PAGES);
}

/* Allocate unused memory; NULL: none is left. */
static struct o2_talk_slot *take_slot(struct o2_lst_talk *talk, uint32_t length, uint8_t **bytes)
{
	for (uint32_t i = 0; i < O2_TALK_SLOTS; i++) {
		struct o2_talk_slot *slot = &talk->slot[i];
		uint32_t count = 0, left = length;

		if (slot->busy)
			continue;
		slot->busy = true;
		for (; left > 0; count++) {
			const uint32_t take = left < PAGE_BYTES ? left : PAGE_BYTES;

			slot->kiov[count] =
				(struct o2_kiov){SLOT_PAGE + i * O2_TALK_SLOT_PAGES + count, 0, take};
			left -= take;
		}
		slot->memory = (struct o2_transfer_memory){
			.buffer = {.kind = O2_KIOV, .count = count, .nob = length, .kiov = slot->kiov},
			.mode = O2_REG_GLOBAL};
		*bytes = slot_bytes(talk, i);
		memset(*bytes, POISON, SLOT_BYTES);
		return slot;
	}
	return NULL;
}

/* Send the slot with a PUT, or fill it with a GET; the slot is busy until the transfer ends. */
static void send(struct o2_lst_talk *talk, struct o2_talk_slot *slot, bool is_get, uint64_t match_bits)
{
	const struct o2_lnet_target target = {.nid = O2_LNET_NID_A,
					      .portal = O2_LST_PORTAL_RDMA,
					      .match_bits = match_bits,
					      .tag = (uint64_t)(slot - talk->slot)};
	const int rc = is_get ? o2_lnet_get(talk->b->lnet, &target, &slot->memory, NULL, NULL)
			      : o2_lnet_put(talk->b->lnet, &target, &slot->memory, NULL, NULL);

	slot->busy = rc == 0;
}

/* --- replies --- */

/* Counters that are all different, also from those of another n, with few exceptions. */
static void set_counters(struct o2_lst_stat_reply *reply, uint32_t n)
{
	const uint64_t bytes = (uint64_t)n << 20;

	reply->str_fw = (struct o2_lst_fw_counters){n, n + 1, n + 2, n + 3, n + 4};
	reply->str_rpc =
		(struct o2_lst_rpc_counters){n + 5, n + 6, n + 7, n + 8, n + 9, bytes + 10, bytes + 11};
	reply->str_lnet =
		(struct o2_lst_lnet_counters){n + 12, n + 13,	  n + 14,     n + 15,	  n + 16,    n + 17,
					      n + 18, bytes + 19, bytes + 20, bytes + 21, bytes + 22};
}

static struct o2_lst_msg honest(struct o2_lst_talk *talk, const struct o2_lst_msg *msg)
{
	/* timeouts of a session in seconds; 0: none. */
	static const uint32_t timeouts[] = {100, 100, 100, 1, 2, 7, 0, UINT32_MAX};
	struct o2_lst_msg reply = {.order = talk->order,
				   .msg_version = O2_LST_MSG_VERSION,
				   .msg_type = msg->msg_type + 1,
				   .msg_ses_feats = O2_LST_FEATS_MASK};

	if (msg->msg_type == O2_LST_PING_REQST) {
		reply.u.ping_reply.pnr_magic = O2_LST_PING_MAGIC;
		reply.u.ping_reply.pnr_seq = msg->u.ping_reqst.pnr_seq;
	} else if (msg->msg_type != O2_LST_BRW_REQST) {
		reply.u.reply.sid = msg->msg_type == O2_LST_RMSN_REQST ? O2_LST_NO_SID : talk->config.sid;
	}
	if (msg->msg_type == O2_LST_MKSN_REQST)
		reply.u.mksn_reply.mksn_timeout = timeouts[o2_talk_draw(talk, 7)];
	else if (msg->msg_type == O2_LST_STAT_REQST)
		set_counters(&reply.u.stat_reply, o2_talk_draw(talk, UINT32_MAX));
	else if (msg->msg_type == O2_LST_BATCH_REQST)
		reply.u.batch_reply.bar_active =
			o2_draw_bool(talk->choice, 1, 1) ? 1 + o2_talk_draw(talk, 2) : 0;
	return reply;
}

/* Change one field. */
static void bend(struct o2_lst_talk *talk, struct o2_lst_msg *reply)
{
	static const uint32_t statuses[] = {EBUSY,	ESRCH, ENOENT, EPROTO,	  EBADMSG,	 EINVAL,
					    UINT32_MAX, 4095,  4096,   INT32_MAX, INT32_MAX + 1u};
	const bool is_ping = reply->msg_type == O2_LST_PING_REPLY;
	const struct o2_lst_sid ours = talk->config.sid;

	/* The session that is to be removed is another's, or there is none. */
	if (reply->msg_type == O2_LST_RMSN_REPLY && o2_draw_bool(talk->choice, 1, 1)) {
		reply->u.reply = (struct o2_lst_generic_reply){o2_talk_draw(talk, 1) == 0 ? EBUSY : ESRCH,
							       {O2_LNET_NID_B, 1}};
		return;
	}
	/* For a ping, change more often the fields that only its reply has. */
	switch (is_ping && o2_draw_bool(talk->choice, 1, 1) ? 1 : o2_talk_draw(talk, 4)) {
	case 0:
		reply->u.reply.status = statuses[o2_talk_draw(talk, 10)];
		break;
	case 1:
		if (is_ping)
			reply->u.ping_reply.pnr_seq ^= 1u << o2_talk_draw(talk, 31);
		else if (o2_talk_draw(talk, 1) == 0)
			reply->u.reply.sid = (struct o2_lst_sid){O2_LNET_NID_B, ours.ses_stamp};
		else
			reply->u.reply.sid = (struct o2_lst_sid){ours.ses_nid, o2_talk_draw(talk, 3)};
		break;
	case 2:
		reply->msg_ses_feats = o2_talk_draw(talk, 3);
		break;
	case 3:
		reply->msg_type = o2_talk_draw(talk, O2_LST_TYPE_COUNT - 1);
		break;
	default:
		reply->msg_version = o2_talk_draw(talk, 2);
		break;
	}
}

enum {
	BENT = 1u << 0,
	FLIPPED = 1u << 1,
	OF_OTHER_LENGTH = 1u << 2,
	TO_OTHER = 1u << 3,
	BUSY_SESSION = 1u << 4
};

static void reply_to(struct o2_lst_talk *talk, struct o2_talk_asked *asked, unsigned int how)
{
	static const uint32_t lengths[] = {0, 24, 159, 161, 200, 3976, 4000};
	const uint32_t length =
		(how & OF_OTHER_LENGTH) != 0 ? lengths[o2_talk_draw(talk, 6)] : O2_LST_MSG_BYTES;
	struct o2_lst_msg reply = honest(talk, &asked->msg);
	uint64_t match_bits = asked->msg.u.reqst.rpyid;
	uint8_t *bytes;
	struct o2_talk_slot *slot = take_slot(talk, length, &bytes);

	if (slot == NULL)
		return;
	if ((how & BENT) != 0)
		bend(talk, &reply);
	if ((how & BUSY_SESSION) != 0)
		reply.u.mksn_reply = (struct o2_lst_mksn_reply){
			.mksn_status = EBUSY, .mksn_sid = {O2_LNET_NID_B, 1}, .mksn_name = {"theirs"}};
	if ((how & TO_OTHER) != 0)
		match_bits += o2_talk_draw(talk, 3);
	o2_lst_msg_encode(&reply, bytes, NULL);
	for (uint32_t i = 0; (how & FLIPPED) != 0 && i < 3; i++)
		bytes[o2_talk_draw(talk, 63)] ^= (uint8_t)(1u << o2_talk_draw(talk, 7));
	asked->sent_reply = true;
	send(talk, slot, false, match_bits);
}

/* --- bulk --- */

enum { HARMED = 1u << 0, OTHER_LENGTH = 1u << 1, OTHER_WAY = 1u << 2 };

static void fill(const struct o2_lst_talk *talk, uint8_t *bytes)
{
	for (uint32_t i = 0; i < SLOT_BYTES; i++)
		bytes[i] = (uint8_t)(O2_LST_DATA_WORD >>
				     8 * (talk->order == O2_LITTLE_ENDIAN ? i % 8 : 7 - i % 8));
}

static void move(struct o2_lst_talk *talk, struct o2_talk_asked *asked, unsigned int how)
{
	const uint32_t right = o2_talk_bulk_bytes(asked);
	const uint32_t others[] = {right - 8, right + 8, right / 2, right + 4096, 8};
	const uint32_t length = (how & OTHER_LENGTH) != 0 ? others[o2_talk_draw(talk, 4)] : right;
	const bool gets =
		asked->msg.msg_type == O2_LST_TEST_REQST || asked->msg.u.brw_reqst.brw_rw == O2_LST_BRW_WRITE;
	const bool is_get = gets != ((how & OTHER_WAY) != 0);
	uint8_t *bytes;
	struct o2_talk_slot *slot = take_slot(talk, is_get && length == 0 ? 8 : length, &bytes);

	if (slot == NULL)
		return;
	fill(talk, bytes);
	if ((how & HARMED) != 0)
		bytes[o2_talk_draw(talk, right - 1)] ^= (uint8_t)(1u << o2_talk_draw(talk, 7));
	asked->sent_bulk = true;
	send(talk, slot, is_get, asked->msg.u.reqst.bulkid);
}

/* --- what it does --- */

/* Choose one of the newest requests received, of those answered or of those not.  NULL: none. */
static struct o2_talk_asked *choose(struct o2_lst_talk *talk, bool answered)
{
	const uint32_t skip = o2_talk_draw(talk, RECENT);
	struct o2_talk_asked *last = NULL;

	for (uint32_t i = talk->nasked, n = 0; i-- > 0 && n <= skip;)
		if (talk->asked[i].arrived && talk->asked[i].sent_reply == answered) {
			last = &talk->asked[i];
			n++;
		}
	return last;
}

/* Do what a test node would do next.  Some answers are from a session of another console. */
static void be_honest(struct o2_lst_talk *talk, struct o2_talk_asked *asked)
{
	if (asked->msg.msg_type == O2_LST_MKSN_REQST && o2_draw_bool(talk->choice, 15, 1))
		reply_to(talk, asked, BUSY_SESSION);
	else if (o2_talk_has_bulk(asked) && !asked->sent_bulk)
		move(talk, asked, 0);
	else
		reply_to(talk, asked, 0);
}

void o2_talk_lie(struct o2_lst_talk *talk)
{
	/* Correct; reply: changed, flipped, other length, receiver, no bulk; bulk: wrong, length, way; again. */
	static const uint32_t weights[] = {40, 4, 1, 2, 1, 3, 4, 2, 1, 2};
	const size_t what = o2_draw_weighted(talk->choice, weights, sizeof(weights) / sizeof(weights[0]));
	struct o2_talk_asked *asked = choose(talk, what == 9);

	if (asked == NULL || talk->b->nletters >= O2_TALK_SLOTS)
		return;
	if (what == 0)
		be_honest(talk, asked);
	else if (what <= 4)
		reply_to(talk, asked, 1u << (what - 1));
	else if (what >= 6 && what <= 8 && o2_talk_has_bulk(asked) && !asked->sent_bulk)
		move(talk, asked, 1u << (what - 6));
	else
		reply_to(talk, asked, 0);
}
