/* SPDX-License-Identifier: MIT */

/*
 * Recordings of LNet selftest between two kernels, played to our test node: one side of each recording speaks
 * as it did, we are the other, and must say what that one said, but for ids, times, counters, and what a status
 * does not warrant.  What the recorded side was told by its own console, which is not on the wire, ours is told
 * by the test: its RPCs are ours.
 */

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lst/node_internal.h"
#include "mem/copy.h"
#include "tests/judge/player/lnet_play.h"
#include "tests/lib/unit_test.h"

#define ARENA_PAGES 900u
#define FIRST_PAGE  4u /* of the memory of our operations */
#define NODE_PAGE   100u
#define MAX_IDS	    256u

/* b: the node's side is all that can be played; a's was made by hand, or was that of a console alone. */
struct recording {
	struct player_recording script;
	bool b_only;
	/* Before this frame b was so often told of this session, by force, and nobody heard it. */
	struct {
		uint32_t frame, times;
		struct o2_lst_sid sid;
		const char *name;
	} own;
	/* Before this frame so much time has passed. */
	struct {
		uint32_t frame;
		uint64_t ms;
	} late;
	/* A write by RDMA under check simple: where its memory begins in the client's first page. */
	uint32_t source_offset;
};

static const struct recording recordings[] = {
	{.script = {.name = "../lst/01_ping_ab"}},
	{.script = {.name = "../lst/02_brw_read_4k_simple_ab"}},
	{.script = {.name = "../lst/03_brw_read_4k_full_ab"}},
	{.script = {.name = "../lst/04_brw_write_4k_simple_ab"}},
	{.script = {.name = "../lst/05_brw_write_4k_full_ab"}},
	{.script = {.name = "../lst/06_brw_read_16k_full_ab"}},
	{.script = {.name = "../lst/07_brw_write_16k_full_ab"}},
	{.script = {.name = "../lst/08_brw_read_16k_simple_ab"}},
	{.script = {.name = "../lst/09_brw_write_16k_simple_ab"}},
	{.script = {.name = "../lst/10_ping_ba"}},
	{.script = {.name = "../lst/11_brw_read_4k_full_ba"}},
	{.script = {.name = "../lst/12_brw_write_4k_full_ba"}},
	{.script = {.name = "../lst/15_brw_read_2k_off512_full_ba"}},
	{.script = {.name = "../lst/16_brw_write_2k_off512_full_ba"}},
	{.script = {.name = "../lst/19_brw_read_4k_none_ab"}},
	{.script = {.name = "../lst/20_brw_read_4k_discard_ab"}},
	{.script = {.name = "../lst/21_brw_read_2k_conc4_full_ab"}},
	{.script = {.name = "../lst/23_brw_write_3984_full_ab"}},
	{.script = {.name = "../lst/24_brw_write_8000_off192_simple_ab"},
	 .b_only = true,
	 .source_offset = 192},
	{.script = {.name = "../lst/25_brw_read_8000_off192_simple_ab"}},
	{.script = {.name = "../lst/26_inject_write_ab"}},
	{.script = {.name = "../lst/30_stat_query_ab"}},
	{.script = {.name = "../lst/32_busy_force_nosession"},
	 .b_only = true,
	 .own = {1, 1, {PLAYER_NID_B, 346347}, "mine_b"}},
	{.script = {.name = "../lst/33_stale_session"},
	 .b_only = true,
	 .own = {9, 1, {PLAYER_NID_B, 349589}, "thief"}},
	{.script = {.name = "../lst/34_features0_ba"}},
	{.script = {.name = "../lst/40_handmade_framework"},
	 .b_only = true,
	 .own = {1, 2, {PLAYER_NID_A, 4242}, "before"}},
	{.script = {.name = "../lst/41_handmade_brw"}, .b_only = true},
	{.script = {.name = "../lst/44_expire"}, .b_only = true, .late = {19, 113072}},
};
#define RECORDINGS (sizeof(recordings) / sizeof(recordings[0]))

struct stage {
	const struct recording *recording;
	struct player_script *script;
	struct lnet_play lnet;
	struct o2_lst_node *node;
	/* Ids: as recorded, and ours. */
	uint32_t nids;
	struct {
		uint64_t recorded, ours;
	} id[MAX_IDS];
	/* BRWs, by the recorded id of their bulk. */
	uint32_t nbrws;
	struct {
		uint64_t bulkid;
		struct o2_lst_brw_reqst reqst;
	} brw[MAX_IDS];
	/* Queries, by the recorded id of their reply. */
	uint32_t nqueries;
	uint64_t query[MAX_IDS];
	/* RPCs that the recorded side's own console had asked for. */
	uint32_t ncalls, nanswers;
	struct o2_transfer_memory bulk[LNET_PLAY_OPEN];
};

static bool is_lst(const struct o2_lnet_hdr *hdr)
{
	const uint32_t portal = hdr->type == O2_LNET_PUT   ? hdr->msg.put.ptl_index
				: hdr->type == O2_LNET_GET ? hdr->msg.get.ptl_index
							   : 0;

	return portal >= O2_LST_PORTAL_TEST && portal <= O2_LST_PORTAL_RDMA;
}

static bool decode(const uint8_t *payload, const struct o2_lnet_hdr *hdr, struct o2_lst_msg *msg)
{
	return is_lst(hdr) && hdr->type == O2_LNET_PUT &&
	       o2_lst_msg_decode(payload, hdr->payload_length, msg, NULL) == 0;
}

static bool has_bulk(const struct o2_lst_msg *msg)
{
	return msg->msg_type == O2_LST_BRW_REQST ||
	       (msg->msg_type == O2_LST_TEST_REQST && msg->u.test_reqst.tsr_is_client != 0);
}

/* --- what is the same --- */

/* What is left of a request when ids and times are gone. */
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

/* What a status does not warrant, docs/lst.md "Sessions", and counters. */
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
	/* After a version that is not ours even the session and the features are left over. */
	if (generic.status == EPROTO) {
		msg->u.reply.sid = (struct o2_lst_sid){0, 0};
		msg->msg_ses_feats = 0;
	}
}

static bool is_query(const struct stage *stage, uint64_t rpyid)
{
	uint32_t i = 0;

	while (i < stage->nqueries && stage->query[i] != rpyid)
		i++;
	return i < stage->nqueries;
}

static bool same_message(const struct stage *stage, uint64_t rpyid, const struct o2_lst_msg *ours,
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

/* Bulk: every byte, or the words that the check is about. */
static bool same_bulk(const struct stage *stage, uint64_t bulkid, const uint8_t *ours,
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

/* Of a PUT, or of the GET that this REPLY answers. */
static uint64_t bulkid_of(const struct stage *stage, const struct o2_lnet_hdr *recorded)
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

static void learn(struct stage *stage, uint64_t recorded, uint64_t ours)
{
	assert_true(stage->nids < MAX_IDS);
	stage->id[stage->nids].recorded = recorded;
	stage->id[stage->nids++].ours = ours;
}

static void learn_request(struct stage *stage, const struct o2_lst_msg *msg)
{
	if (msg->msg_type == O2_LST_BATCH_REQST && msg->u.batch_reqst.bar_opc == O2_LST_BATCH_QUERY) {
		assert_true(stage->nqueries < MAX_IDS);
		stage->query[stage->nqueries++] = msg->u.batch_reqst.bar_rpyid;
	}
	if (msg->msg_type != O2_LST_BRW_REQST)
		return;
	assert_true(stage->nbrws < MAX_IDS);
	stage->brw[stage->nbrws].bulkid = msg->u.brw_reqst.brw_bulkid;
	stage->brw[stage->nbrws++].reqst = msg->u.brw_reqst;
}

static bool same_hdr(const struct o2_lnet_hdr *ours, const struct o2_lnet_hdr *recorded)
{
	/* player_same_hdr says what differs, but here others of ours may be the one that is meant. */
	if (ours->type != recorded->type || ours->payload_length != recorded->payload_length ||
	    (ours->type == O2_LNET_PUT && ours->msg.put.match_bits != recorded->msg.put.match_bits) ||
	    (ours->type == O2_LNET_GET && ours->msg.get.match_bits != recorded->msg.get.match_bits))
		return false;
	return player_same_hdr(ours, recorded);
}

static bool same(void *context, const struct lnet_play_sent *sent, const struct player_step *step)
{
	struct stage *stage = context;
	const struct o2_lnet_hdr *recorded = player_lnet_hdr(step);
	struct o2_lst_msg ours, theirs;

	if (!same_hdr(&sent->hdr, recorded))
		return false;
	if (sent->type != O2_MSG_IMMEDIATE)
		return true;
	if (!decode(sent->payload, &sent->hdr, &ours) || !decode(step->payload, recorded, &theirs))
		return memcmp(sent->payload, step->payload, recorded->payload_length) == 0 ||
		       same_bulk(stage, bulkid_of(stage, recorded), sent->payload, step->payload,
				 recorded->payload_length);
	if (ours.msg_type != theirs.msg_type ||
	    !same_message(stage, recorded->msg.put.match_bits, &ours, &theirs))
		return false;
	if (!o2_lst_type_is_reply(ours.msg_type)) {
		learn(stage, theirs.u.reqst.rpyid, ours.u.reqst.rpyid);
		if (has_bulk(&theirs))
			learn(stage, theirs.u.reqst.bulkid, ours.u.reqst.bulkid);
		learn_request(stage, &theirs);
	}
	return true;
}

/* --- what is heard --- */

static void heard(void *context, struct o2_lnet_hdr *hdr)
{
	const struct stage *stage = context;
	uint64_t *bits = hdr->type == O2_LNET_PUT   ? &hdr->msg.put.match_bits
			 : hdr->type == O2_LNET_GET ? &hdr->msg.get.match_bits
						    : NULL;

	for (uint32_t i = 0; bits != NULL && i < stage->nids; i++)
		if (stage->id[i].recorded == *bits) {
			*bits = stage->id[i].ours;
			return;
		}
}

/* The recording has no bytes of RDMA: they are the pattern. */
static void arrived(void *context, const struct o2_transfer_memory *memory, uint64_t nob)
{
	struct stage *stage = context;
	struct o2_buffer buffer = memory->buffer;
	uint8_t *bytes = malloc(nob);

	assert_non_null(bytes);
	buffer.nob = nob;
	o2_lst_pattern_poison(bytes, (uint32_t)nob);
	o2_lst_pattern_fill(bytes, (uint32_t)nob, stage->recording->source_offset,
			    stage->recording->source_offset > 0 ? O2_LST_CHECK_SIMPLE : O2_LST_CHECK_FULL,
			    O2_LITTLE_ENDIAN);
	assert_int_equal(o2_copy_to_buffer(&stage->lnet.arena, &buffer, bytes, NULL), 0);
	free(bytes);
}

static void note_done(void *context, const struct o2_lnet_result *result)
{
	struct stage *stage = context;

	o2_lst_node_done(stage->node, result);
}

static void note_event(void *context, const struct o2_lnet_event *event)
{
	struct stage *stage = context;

	o2_lst_node_event(stage->node, event);
}

/* --- what the recorded side's own console asked for --- */

static void note_answer(void *context, const struct o2_lst_answer *answer)
{
	struct stage *stage = context;

	stage->nanswers += answer->status == 0;
}

/* How the bulk of a request was moved, and what a GET of it was answered with. */
static const struct player_step *bulk_step(const struct stage *stage, uint64_t bulkid)
{
	for (uint32_t i = 0; i < stage->script->count; i++) {
		const struct o2_lnet_hdr *hdr = player_lnet_hdr(&stage->script->step[i]);

		if (hdr != NULL && ((hdr->type == O2_LNET_PUT && hdr->msg.put.match_bits == bulkid) ||
				    (hdr->type == O2_LNET_GET && hdr->msg.get.match_bits == bulkid)))
			return &stage->script->step[i];
	}
	return NULL;
}

static void fill_source(struct stage *stage, const struct player_step *get,
			const struct o2_transfer_memory *memory)
{
	const struct o2_lnet_handle wmd = player_lnet_hdr(get)->msg.get.return_wmd;

	arrived(stage, memory, memory->buffer.nob / 8 * 8);
	for (const struct player_step *step = get; step < stage->script->step + stage->script->count;
	     step++) {
		const struct o2_lnet_hdr *hdr = player_lnet_hdr(step);

		if (hdr == NULL || hdr->type != O2_LNET_REPLY ||
		    hdr->msg.reply.dst_wmd.wh_object_cookie != wmd.wh_object_cookie)
			continue;
		assert_int_equal(o2_copy_to_buffer(&stage->lnet.arena, &memory->buffer, step->payload, NULL),
				 0);
		return;
	}
}

static bool operate(void *context, const struct player_step *step)
{
	struct stage *stage = context;
	struct o2_lst_msg msg;
	struct o2_lst_call call = {.nid = player_lnet_hdr(step)->dest_nid,
				   .request = &msg,
				   .done = note_answer,
				   .context = stage};
	const struct player_step *moved;

	if (!is_lst(player_lnet_hdr(step)))
		return false;
	/* Replies and bulk are the node's to say. */
	if (step->msg.ibm_type != O2_MSG_IMMEDIATE || !decode(step->payload, player_lnet_hdr(step), &msg) ||
	    o2_lst_type_is_reply(msg.msg_type))
		fail_msg("%s: the node does not say it", player_step_text(step));
	moved = has_bulk(&msg) ? bulk_step(stage, msg.u.reqst.bulkid) : NULL;
	if (moved != NULL) {
		const struct o2_lnet_hdr *hdr = player_lnet_hdr(moved);
		const uint32_t length =
			hdr->type == O2_LNET_GET ? hdr->msg.get.sink_length : hdr->payload_length;
		struct o2_transfer_memory *memory = &stage->bulk[stage->ncalls];

		*memory = lnet_play_memory(&stage->lnet, stage->lnet.page, length);
		stage->lnet.page += memory->buffer.count;
		call.bulk = memory;
		call.bulk_is_source = hdr->type == O2_LNET_GET;
		if (call.bulk_is_source)
			fill_source(stage, moved, memory);
	}
	assert_int_equal(o2_lst_call_start(stage->node->rpc, &call, NULL, NULL), 0);
	stage->ncalls++;
	return true;
}

/* --- playing --- */

static void open_stage(struct stage *stage, const struct recording *recording, bool we_are_a)
{
	const struct lnet_play_hooks hooks = {stage, operate, same, heard, arrived, note_done, note_event};
	struct o2_lst_node_config config = O2_LST_NODE_DEFAULTS;
	const struct o2_lst_node_ops ops = {NULL};

	memset(stage, 0, sizeof(*stage));
	stage->recording = recording;
	stage->script = player_script_read(&recording->script, we_are_a);
	assert_non_null(stage->script);
	lnet_play_open(&stage->lnet, stage->script, we_are_a, ARENA_PAGES, FIRST_PAGE, &hooks);
	o2_clock_tell(&stage->lnet.clock, 0);
	config.first_page = NODE_PAGE;
	config.server_pages = 256;
	config.client_pages = 256;
	config.max_calls = 32;
	config.first_id = 0x1000;
	assert_int_equal(o2_lst_node_create(&config, stage->lnet.lnet, &stage->lnet.arena, &stage->lnet.clock,
					    &ops, NULL, &stage->node, NULL),
			 0);
}

/* The node's own console speaks with it: what is answered is not in the recording. */
static void make_own_session(struct stage *stage)
{
	struct o2_lst_msg msg = {.order = O2_LITTLE_ENDIAN,
				 .msg_version = O2_LST_MSG_VERSION,
				 .msg_type = O2_LST_MKSN_REQST,
				 .msg_ses_feats = O2_LST_FEATS_MASK};
	const struct o2_lnet_hdr hdr = {
		.dest_nid = PLAYER_NID_B,
		.src_nid = PLAYER_NID_B,
		.dest_pid = O2_LNET_PID_KERNEL,
		.src_pid = O2_LNET_PID_KERNEL,
		.type = O2_LNET_PUT,
		.payload_length = O2_LST_MSG_BYTES,
		.msg.put = {.ack_wmd = {UINT64_MAX, UINT64_MAX},
			    .match_bits = O2_LST_SERVICE_MAKE_SESSION,
			    .ptl_index = O2_LST_PORTAL_FRAMEWORK},
	};
	uint8_t bytes[O2_LST_MSG_BYTES];

	msg.u.mksn_reqst.mksn_sid = stage->recording->own.sid;
	msg.u.mksn_reqst.mksn_force = 1;
	strncpy(msg.u.mksn_reqst.mksn_name.text, stage->recording->own.name, O2_LST_NAME_BYTES - 1);
	assert_int_equal(o2_lst_msg_encode(&msg, bytes, NULL), 0);
	assert_int_equal(o2_lnet_receive(stage->lnet.lnet, PLAYER_NID_B, &hdr, bytes, NULL), 0);
	assert_int_equal(stage->lnet.nsent, 1);
	o2_lnet_finished(stage->lnet.lnet, stage->lnet.sent[--stage->lnet.nsent].tag, 0, 0, NULL);
}

static void play(const struct recording *recording, bool we_are_a)
{
	static struct stage stage;

	open_stage(&stage, recording, we_are_a);
	for (uint32_t i = 0; i < stage.script->count; i++) {
		const struct player_step *step = &stage.script->step[i];
		const struct o2_lnet_hdr *hdr = player_lnet_hdr(step);
		struct o2_lst_msg msg;

		if (recording->late.ms > 0 && step->frame == recording->late.frame) {
			o2_clock_tell(&stage.lnet.clock, recording->late.ms);
			o2_lst_node_check_time(stage.node);
		}
		for (uint32_t k = 0; k < recording->own.times && step->frame == recording->own.frame; k++)
			make_own_session(&stage);
		if (hdr != NULL && step->from_a != we_are_a && step->msg.ibm_type == O2_MSG_IMMEDIATE &&
		    decode(step->payload, hdr, &msg))
			learn_request(&stage, &msg);
		lnet_play_step(&stage.lnet, step);
	}
	/* Nothing said too much; every RPC of ours was answered. */
	assert_int_equal(stage.lnet.nsent, 0);
	assert_int_equal(stage.nanswers, stage.ncalls);
	o2_lst_node_stop(stage.node, -ESHUTDOWN);
	assert_int_equal(o2_lst_node_active(stage.node), 0);
	assert_int_equal(o2_lnet_messages(stage.lnet.lnet), 0);
	lnet_play_close(&stage.lnet);
	o2_lst_node_destroy(stage.node);
	free(stage.script);
}

static void play_sides(void **state)
{
	const struct recording *recording = *state;

	play(recording, false);
	if (!recording->b_only)
		play(recording, true);
}

int main(void)
{
	struct CMUnitTest tests[RECORDINGS];

	for (unsigned int i = 0; i < RECORDINGS; i++)
		tests[i] = (struct CMUnitTest){.name = recordings[i].script.name,
					       .test_func = play_sides,
					       .initial_state = (void *)(uintptr_t)&recordings[i]};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
