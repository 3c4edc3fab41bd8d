/* SPDX-License-Identifier: MIT */
#include "tests/judge/player/lst_stage.h"

#include "lst/pattern.h"
#include "mem/kmap.h"
#include "tests/lib/unit_test.h"

#define ARENA_PAGES 900u
#define FIRST_PAGE  4u

bool lst_stage_is_lst(const struct o2_lnet_hdr *hdr)
{
	const uint32_t portal = hdr->type == O2_LNET_PUT   ? hdr->msg.put.ptl_index
				: hdr->type == O2_LNET_GET ? hdr->msg.get.ptl_index
							   : 0;

	return portal >= O2_LST_PORTAL_TEST && portal <= O2_LST_PORTAL_RDMA;
}

bool lst_stage_decode(const uint8_t *payload, const struct o2_lnet_hdr *hdr, struct o2_lst_msg *msg)
{
	return lst_stage_is_lst(hdr) && hdr->type == O2_LNET_PUT &&
	       o2_lst_msg_decode(payload, hdr->payload_length, msg, NULL) == 0;
}

bool lst_stage_has_bulk(const struct o2_lst_msg *msg)
{
	return msg->msg_type == O2_LST_BRW_REQST ||
	       (msg->msg_type == O2_LST_TEST_REQST && msg->u.test_reqst.tsr_is_client != 0);
}

/* --- comparison --- */

/* Clear the ids and times of a request, which may differ. */
static void strip_request(struct o2_lst_msg *msg)
{
	msg->u.reqst.rpyid = 0;
	if (msg->msg_type == O2_LST_BRW_REQST || msg->msg_type == O2_LST_TEST_REQST)
		msg->u.reqst.bulkid = 0;
	if (msg->msg_type == O2_LST_PING_REQST) {
		msg->u.ping_reqst.pnr_time_sec = 0;
		msg->u.ping_reqst.pnr_time_nsec = 0;
	}
}

/* Clear counters, and the fields that the status makes meaningless (docs/lst.md, "Sessions"). */
static void strip_reply(struct o2_lst_msg *msg, bool of_query)
{
	const struct o2_lst_generic_reply generic = msg->u.reply;
	const struct o2_lst_mksn_reply mksn = msg->u.mksn_reply;
	const struct o2_lst_debug_reply debug = msg->u.debug_reply;
	const uint32_t active = msg->u.batch_reply.bar_active;

	if (msg->msg_type == O2_LST_PING_REPLY || msg->msg_type == O2_LST_BRW_REPLY)
		return;
	memset(&msg->u, 0, sizeof(msg->u));
	msg->u.reply = generic;
	if (msg->msg_type == O2_LST_MKSN_REPLY && (generic.status == 0 || generic.status == EBUSY))
		msg->u.mksn_reply.mksn_timeout = mksn.mksn_timeout;
	if (msg->msg_type == O2_LST_MKSN_REPLY && generic.status == EBUSY)
		msg->u.mksn_reply.mksn_name = mksn.mksn_name;
	if (msg->msg_type == O2_LST_DEBUG_REPLY && generic.status == 0) {
		msg->u.debug_reply.dbg_timeout = debug.dbg_timeout;
		msg->u.debug_reply.dbg_name = debug.dbg_name;
	}
	if (msg->msg_type == O2_LST_BATCH_REPLY && generic.status == 0 && of_query)
		msg->u.batch_reply.bar_active = active;
	/* In a reply to an unknown version, the session and the features are stale values as well. */
	if (generic.status == EPROTO) {
		msg->u.reply.sid = (struct o2_lst_sid){0, 0};
		msg->msg_ses_feats = 0;
	}
}

static bool is_query(const struct lst_stage *stage, uint64_t rpyid)
{
	uint32_t i = 0;

	while (i < stage->nqueries && stage->query[i] != rpyid)
		i++;
	return i < stage->nqueries;
}

static bool same_message(const struct lst_stage *stage, uint64_t rpyid, const struct o2_lst_msg *ours,
			 const struct o2_lst_msg *recorded)
{
	uint8_t bytes[2][O2_LST_MSG_BYTES];
	struct o2_lst_msg both[2] = {*ours, *recorded};

	for (unsigned int i = 0; i < 2; i++) {
		if (o2_lst_type_is_reply(both[i].msg_type))
			strip_reply(&both[i], is_query(stage, rpyid));
		else
			strip_request(&both[i]);
		assert_int_equal(o2_lst_msg_encode(&both[i], bytes[i], NULL), 0);
	}
	return memcmp(bytes[0], bytes[1], sizeof(bytes[0])) == 0;
}

/* Do both bulks pass the check of their BRW: every byte, or the words that the check covers? */
static bool same_bulk(const struct lst_stage *stage, uint64_t bulkid, const uint8_t *ours,
		      const uint8_t *recorded, uint32_t length)
{
	for (uint32_t i = 0; i < stage->nbrws; i++) {
		const enum o2_lst_brw_check check = (enum o2_lst_brw_check)stage->brw[i].reqst.brw_flags;

		if (stage->brw[i].bulkid == bulkid)
			return o2_lst_pattern_check(ours, length, 0, check, O2_LITTLE_ENDIAN, NULL) &&
			       o2_lst_pattern_check(recorded, length, 0, check, O2_LITTLE_ENDIAN, NULL);
	}
	return false;
}

/* The bulk id of a PUT, or of the GET that this REPLY answers; 0: none. */
static uint64_t bulkid_of(const struct lst_stage *stage, const struct o2_lnet_hdr *recorded)
{
	if (recorded->type == O2_LNET_PUT)
		return recorded->msg.put.match_bits;
	for (uint32_t i = 0; recorded->type == O2_LNET_REPLY && i < stage->script->count; i++) {
		const struct o2_lnet_hdr *hdr = player_lnet_hdr(&stage->script->step[i]);

		if (hdr != NULL && hdr->type == O2_LNET_GET &&
		    hdr->msg.get.return_wmd.wh_object_cookie == recorded->msg.reply.dst_wmd.wh_object_cookie)
			return hdr->msg.get.match_bits;
	}
	return 0;
}

static void learn(struct lst_stage *stage, uint64_t recorded, uint64_t ours)
{
	assert_true(stage->nids < LST_STAGE_IDS);
	stage->id[stage->nids].recorded = recorded;
	stage->id[stage->nids++].ours = ours;
}

/* Remember a recorded request, because its reply and bulk are checked against it. */
static void learn_request(struct lst_stage *stage, const struct o2_lst_msg *msg)
{
	if (msg->msg_type == O2_LST_BATCH_REQST && msg->u.batch_reqst.bar_opc == O2_LST_BATCH_QUERY) {
		assert_true(stage->nqueries < LST_STAGE_IDS);
		stage->query[stage->nqueries++] = msg->u.batch_reqst.bar_rpyid;
	}
	if (msg->msg_type != O2_LST_BRW_REQST)
		return;
	assert_true(stage->nbrws < LST_STAGE_IDS);
	stage->brw[stage->nbrws].bulkid = msg->u.brw_reqst.brw_bulkid;
	stage->brw[stage->nbrws++].reqst = msg->u.brw_reqst;
}

void lst_stage_open(struct lst_stage *stage, struct lnet_play *lnet, const struct player_recording *recording,
		    bool we_are_a, const struct lnet_play_hooks *hooks)
{
	stage->lnet = lnet;
	stage->we_are_a = we_are_a;
	stage->script = player_script_read(recording, we_are_a);
	assert_non_null(stage->script);
	lnet_play_open(lnet, stage->script, we_are_a, ARENA_PAGES, FIRST_PAGE, hooks);
	o2_clock_tell(&lnet->clock, 0);
}

void lst_stage_step(struct lst_stage *stage, const struct player_step *step)
{
	const struct o2_lnet_hdr *hdr = player_lnet_hdr(step);
	struct o2_lst_msg msg;

	if (hdr != NULL && step->from_a != stage->we_are_a && step->msg.ibm_type == O2_MSG_IMMEDIATE &&
	    lst_stage_decode(step->payload, hdr, &msg))
		learn_request(stage, &msg);
	lnet_play_step(stage->lnet, step);
}

static bool same_hdr(const struct o2_lnet_hdr *ours, const struct o2_lnet_hdr *recorded)
{
	/* Checked first, because player_same_hdr prints differences, and another message may be the right one. */
	if (ours->type != recorded->type || ours->payload_length != recorded->payload_length ||
	    (ours->type == O2_LNET_PUT && ours->msg.put.match_bits != recorded->msg.put.match_bits) ||
	    (ours->type == O2_LNET_GET && ours->msg.get.match_bits != recorded->msg.get.match_bits))
		return false;
	return player_same_hdr(ours, recorded);
}

bool lst_stage_same(void *context, const struct lnet_play_sent *sent, const struct player_step *step)
{
	struct lst_stage *stage = context;
	const struct o2_lnet_hdr *recorded = player_lnet_hdr(step);
	struct o2_lst_msg ours, theirs;

	if (!same_hdr(&sent->hdr, recorded))
		return false;
	if (sent->type != O2_MSG_IMMEDIATE)
		return true;
	if (!lst_stage_decode(sent->payload, &sent->hdr, &ours) ||
	    !lst_stage_decode(step->payload, recorded, &theirs))
		return memcmp(sent->payload, step->payload, recorded->payload_length) == 0 ||
		       same_bulk(stage, bulkid_of(stage, recorded), sent->payload, step->payload,
				 recorded->payload_length);
	if (ours.msg_type != theirs.msg_type ||
	    !same_message(stage, recorded->msg.put.match_bits, &ours, &theirs))
		return false;
	if (!o2_lst_type_is_reply(ours.msg_type)) {
		learn(stage, theirs.u.reqst.rpyid, ours.u.reqst.rpyid);
		if (lst_stage_has_bulk(&theirs))
			learn(stage, theirs.u.reqst.bulkid, ours.u.reqst.bulkid);
		learn_request(stage, &theirs);
	}
	return true;
}

/* --- messages from the other side --- */

void lst_stage_heard(void *context, struct o2_lnet_hdr *hdr)
{
	const struct lst_stage *stage = context;
	uint64_t *bits = hdr->type == O2_LNET_PUT   ? &hdr->msg.put.match_bits
			 : hdr->type == O2_LNET_GET ? &hdr->msg.get.match_bits
						    : NULL;

	for (uint32_t i = 0; bits != NULL && i < stage->nids; i++)
		if (stage->id[i].recorded == *bits) {
			*bits = stage->id[i].ours;
			return;
		}
}

void lst_stage_arrived(void *context, const struct o2_transfer_memory *memory, uint64_t nob)
{
	struct lst_stage *stage = context;
	struct o2_buffer buffer = memory->buffer;
	uint8_t *bytes = malloc(nob);

	assert_non_null(bytes);
	buffer.nob = nob;
	o2_lst_pattern_poison(bytes, (uint32_t)nob);
	o2_lst_pattern_fill(bytes, (uint32_t)nob, stage->source_offset,
			    stage->source_offset > 0 ? O2_LST_CHECK_SIMPLE : O2_LST_CHECK_FULL,
			    O2_LITTLE_ENDIAN);
	assert_int_equal(o2_copy_to_buffer(&stage->lnet->arena, &buffer, bytes, NULL), 0);
	free(bytes);
}
