/* SPDX-License-Identifier: MIT */

/*
 * Plays recordings of LNet selftest between two kernels against our test node.  The messages of one side are
 * replayed, and our node must send what the other side sent, except for ids, times, counters, and fields that a
 * status makes meaningless.  The recorded side also obeyed a console on its own host, whose commands are not on
 * the wire; here the test gives these commands and starts these RPCs.
 */

#include "lst/node_internal.h"
#include "mem/kmap.h"
#include "tests/judge/player/lst_stage.h"
#include "tests/judge/player/play.h"
#include "tests/lib/unit_test.h"

#define NODE_PAGE 100u
#define LATER_MS  1000000u

struct recording {
	struct player_recording script;
	/* a's messages were made by hand; a node does not send them, so only side b is played. */
	bool b_only;
	/* b was stopped by force; what it still sent depends on its threads, so only a is played. */
	bool a_only;
	/* Before this frame, b's own console forced this session on b `times` times, which is not on the wire. */
	struct {
		uint32_t frame, times;
		struct o2_lst_sid sid;
		const char *name;
	} own;
	/* Before this frame, this much time passed. */
	struct {
		uint32_t frame;
		uint64_t ms;
	} late;
	/* For an RDMA write BRW with check "simple": offset of the bulk in the client's first page. */
	uint32_t source_offset;
};

static const struct recording recordings[] = {
	{.script = {.name = "../lst/00_connect_and_ping_ab"}},
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
	{.script = {.name = "../lst/24_brw_write_8000_off192_simple_ab"}, .source_offset = 192},
	{.script = {.name = "../lst/25_brw_read_8000_off192_simple_ab"}},
	{.script = {.name = "../lst/26_inject_write_ab"}},
	{.script = {.name = "../lst/30_stat_query_ab"}},
	{.script = {.name = "../lst/32_busy_force_nosession"},
	 .own = {1, 1, {PLAYER_NID_B, 346347}, "mine_b"}},
	{.script = {.name = "../lst/33_stale_session"}, .own = {9, 1, {PLAYER_NID_B, 349589}, "thief"}},
	{.script = {.name = "../lst/34_features0_ba"}},
	{.script = {.name = "../lst/36_stop_force_ba"}, .a_only = true},
	{.script = {.name = "../lst/40_handmade_framework"},
	 .b_only = true,
	 .own = {1, 2, {PLAYER_NID_A, 4242}, "before"}},
	{.script = {.name = "../lst/41_handmade_brw"}, .b_only = true},
	{.script = {.name = "../lst/42_handmade_join"}, .a_only = true},
	{.script = {.name = "../lst/43_lazy_portal"}},
	{.script = {.name = "../lst/44_expire"}, .late = {19, 113072}},
};
#define RECORDINGS (sizeof(recordings) / sizeof(recordings[0]))

struct stage {
	struct lst_stage lst; /* must be first: the hooks' context */
	const struct recording *recording;
	struct lnet_play lnet;
	struct o2_lst_node *node;
	/* RPCs that the recorded side's own console requested. */
	uint32_t ncalls, nanswers;
	struct o2_transfer_memory bulk[LNET_PLAY_OPEN];
};

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

/* --- requests of the recorded side's own console --- */

static void note_answer(void *context, const struct o2_lst_answer *answer)
{
	struct stage *stage = context;

	stage->nanswers += answer->status == 0;
}

/* The recorded PUT or GET that moved the bulk of a request; NULL: there is none. */
static const struct player_step *bulk_step(const struct stage *stage, uint64_t bulkid)
{
	for (uint32_t i = 0; i < stage->lst.script->count; i++) {
		const struct o2_lnet_hdr *hdr = player_lnet_hdr(&stage->lst.script->step[i]);

		if (hdr != NULL && ((hdr->type == O2_LNET_PUT && hdr->msg.put.match_bits == bulkid) ||
				    (hdr->type == O2_LNET_GET && hdr->msg.get.match_bits == bulkid)))
			return &stage->lst.script->step[i];
	}
	return NULL;
}

static void fill_source(struct stage *stage, const struct player_step *get,
			const struct o2_transfer_memory *memory)
{
	const struct o2_lnet_handle wmd = player_lnet_hdr(get)->msg.get.return_wmd;

	lst_stage_arrived(stage, memory, memory->buffer.nob / 8 * 8);
	for (const struct player_step *step = get; step < stage->lst.script->step + stage->lst.script->count;
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

	if (!lst_stage_is_lst(player_lnet_hdr(step)))
		return false;
	/* Only the node itself may send replies and bulk. */
	if (step->msg.ibm_type != O2_MSG_IMMEDIATE ||
	    !lst_stage_decode(step->payload, player_lnet_hdr(step), &msg) ||
	    o2_lst_type_is_reply(msg.msg_type))
		fail_msg("%s: the node does not say it", player_step_text(step));
	moved = lst_stage_has_bulk(&msg) ? bulk_step(stage, msg.u.reqst.bulkid) : NULL;
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
	const struct lnet_play_hooks hooks = {
		stage, operate, lst_stage_same, lst_stage_heard, lst_stage_arrived, note_done, note_event};
	struct o2_lst_node_config config = O2_LST_NODE_DEFAULTS;
	const struct o2_lst_node_ops ops = {.wrong = NULL};

	memset(stage, 0, sizeof(*stage));
	stage->recording = recording;
	stage->lst.source_offset = recording->source_offset;
	lst_stage_open(&stage->lst, &stage->lnet, &recording->script, we_are_a, &hooks);
	config.first_page = NODE_PAGE;
	config.server_pages = 256;
	config.client_pages = 256;
	config.max_calls = 32;
	config.first_id = 0x1000;
	assert_int_equal(o2_lst_node_create(&config, stage->lnet.lnet, &stage->lnet.arena, &stage->lnet.clock,
					    &ops, NULL, &stage->node, NULL),
			 0);
}

/* Make a session as the node's own console does; the recording does not have this exchange. */
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
	for (uint32_t i = 0; i < stage.lst.script->count; i++) {
		const struct player_step *step = &stage.lst.script->step[i];

		if (recording->late.ms > 0 && step->frame == recording->late.frame) {
			o2_clock_tell(&stage.lnet.clock, recording->late.ms);
			o2_lst_node_check_time(stage.node);
		}
		for (uint32_t k = 0;
		     !we_are_a && k < recording->own.times && step->frame == recording->own.frame; k++)
			make_own_session(&stage);
		lst_stage_step(&stage.lst, step);
	}
	/* No message is left over, and every RPC of ours was answered. */
	assert_int_equal(stage.lnet.nsent, 0);
	assert_int_equal(stage.nanswers, stage.ncalls);
	o2_lst_node_stop(stage.node, -ESHUTDOWN);
	/* Let a GET of ours that was never answered time out. */
	o2_clock_tell(&stage.lnet.clock, LATER_MS);
	o2_lnet_check_time(stage.lnet.lnet);
	assert_int_equal(o2_lst_node_active(stage.node), 0);
	assert_int_equal(o2_lnet_messages(stage.lnet.lnet), 0);
	lnet_play_close(&stage.lnet);
	o2_lst_node_destroy(stage.node);
	free(stage.lst.script);
}

static void play_sides(void **state)
{
	const struct recording *recording = *state;

	if (!recording->a_only)
		play(recording, false);
	if (!recording->b_only)
		play(recording, true);
}

int main(void)
{
	return player_run_rows(recordings, RECORDINGS, sizeof(recordings[0]), play_sides);
}
