/* SPDX-License-Identifier: MIT */

/*
 * Plays recorded sessions of LNet selftest against our console.  The recorded node's messages are replayed, and our
 * console must send what Lustre's console sent, from its first request to its last, except for ids and times.  Only
 * recordings that our console can reproduce are used; corpus/captures/lst/README.md says why others are not.
 */

#include "lst/console.h"
#include "tests/judge/player/lst_stage.h"
#include "tests/judge/player/play.h"
#include "tests/lib/unit_test.h"

#define RPC_PAGE   100u
#define LANE_PAGE  200u
#define TIMEOUT_MS (O2_LST_RPC_TIMEOUT_S * 1000u)

struct recording {
	struct player_recording script;
	enum o2_lst_outcome outcome; /* expected for every RPC of the test */
	uint32_t source_offset;	     /* as in test_player_lst.c */
	/* The recorded node answers nothing. */
	bool mute;
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
	{.script = {.name = "../lst/19_brw_read_4k_none_ab"}},
	{.script = {.name = "../lst/20_brw_read_4k_discard_ab"}},
	{.script = {.name = "../lst/21_brw_read_2k_conc4_full_ab"}},
	{.script = {.name = "../lst/23_brw_write_3984_full_ab"}},
	{.script = {.name = "../lst/24_brw_write_8000_off192_simple_ab"},
	 .outcome = O2_LST_FAIL_STATUS,
	 .source_offset = 192},
	{.script = {.name = "../lst/25_brw_read_8000_off192_simple_ab"}},
	{.script = {.name = "../lst/45_no_selftest"}, .mute = true},
};
#define RECORDINGS (sizeof(recordings) / sizeof(recordings[0]))

struct stage {
	struct lst_stage lst; /* must be first: the hooks' context */
	struct lnet_play lnet;
	struct o2_lst_rpc *rpc;
	struct o2_lst_console_config config;
	struct o2_lst_console *console;
	bool started;
	uint64_t nended;
};

/* --- the recorded console's configuration, derived from its requests --- */

static void read_test(struct o2_lst_console_config *config, const struct o2_lst_test_reqst *test)
{
	const struct o2_lst_bulk_v1 *bulk = &test->tsr_u.bulk_v1;

	config->batch = test->tsr_bid;
	config->concurrency = test->tsr_concur;
	config->test.service = (enum o2_lst_service)test->tsr_service;
	if (config->test.service != O2_LST_SERVICE_BRW)
		return;
	config->test.rw = (enum o2_lst_brw_rw)bulk->blk_opc;
	config->test.check = (enum o2_lst_brw_check)bulk->blk_flags;
	config->test.len = bulk->blk_len;
	config->test.offset = bulk->blk_offset;
}

static struct o2_lst_console_config config_of(const struct player_script *script)
{
	struct o2_lst_console_config config = {.nid = PLAYER_NID_B,
					       .concurrency = 1,
					       .first_page = LANE_PAGE,
					       .test = {.service = O2_LST_SERVICE_PING, .features = 1}};
	struct o2_lst_msg msg;

	for (uint32_t i = 0; i < script->count; i++) {
		const struct player_step *step = &script->step[i];
		const struct o2_lnet_hdr *hdr = player_lnet_hdr(step);

		if (hdr == NULL || step->msg.ibm_type != O2_MSG_IMMEDIATE ||
		    !lst_stage_decode(step->payload, hdr, &msg))
			continue;
		if (msg.msg_type == O2_LST_MKSN_REQST) {
			config.sid = msg.u.mksn_reqst.mksn_sid;
			config.name = msg.u.mksn_reqst.mksn_name;
			config.force = msg.u.mksn_reqst.mksn_force != 0;
		} else if (msg.msg_type == O2_LST_TEST_REQST) {
			read_test(&config, &msg.u.test_reqst);
		}
		config.count += msg.msg_type == O2_LST_PING_REQST || msg.msg_type == O2_LST_BRW_REQST;
	}
	return config;
}

/* --- hooks --- */

static void note_ended(void *context, const struct o2_lst_console_result *result)
{
	struct stage *stage = context;

	stage->nended++;
}

static void note_done(void *context, const struct o2_lnet_result *result)
{
	struct stage *stage = context;

	o2_lst_rpc_done(stage->rpc, result);
}

static void note_event(void *context, const struct o2_lnet_event *event)
{
	struct stage *stage = context;

	o2_lst_rpc_event(stage->rpc, event);
}

/* Start our console for the first recorded request; the console itself causes all later ones. */
static bool operate(void *context, const struct player_step *step)
{
	struct stage *stage = context;

	if (!lst_stage_is_lst(player_lnet_hdr(step)))
		return false;
	if (stage->started)
		fail_msg("%s: the console does not say it", player_step_text(step));
	stage->started = true;
	o2_lst_console_start(stage->console);
	return true;
}

/* --- playing --- */

static void open_stage(struct stage *stage, const struct recording *recording)
{
	const struct lnet_play_hooks hooks = {
		stage, operate, lst_stage_same, lst_stage_heard, lst_stage_arrived, note_done, note_event};
	const struct o2_lst_console_ops ops = {.ended = note_ended};
	struct o2_lst_rpc_config config = O2_LST_RPC_DEFAULTS;

	memset(stage, 0, sizeof(*stage));
	stage->lst.source_offset = recording->source_offset;
	lst_stage_open(&stage->lst, &stage->lnet, &recording->script, true, &hooks);
	stage->config = config_of(stage->lst.script);
	config.first_page = RPC_PAGE;
	config.max_calls = o2_lst_console_calls(&stage->config);
	config.max_served = 1;
	config.first_id = 0x1000;
	assert_int_equal(o2_lst_rpc_create(&config, stage->lnet.lnet, &stage->lnet.arena, &stage->lnet.clock,
					   &stage->rpc, NULL),
			 0);
	assert_int_equal(o2_lst_console_create(&stage->config, stage->rpc, &stage->lnet.arena,
					       &stage->lnet.clock, &ops, stage, &stage->console, NULL),
			 0);
}

/* Check the report of a session that ended normally, or of one that was never answered. */
static void check_report(struct stage *stage, const struct recording *recording)
{
	const struct o2_lst_console_report *report = o2_lst_console_report(stage->console);

	if (recording->mute) {
		o2_clock_tell(&stage->lnet.clock, TIMEOUT_MS);
		o2_lst_rpc_check_time(stage->rpc);
		assert_int_equal(report->status, -ETIMEDOUT);
		assert_int_equal(report->step, O2_LST_STEP_MAKE);
		assert_true(report->left);
	} else {
		assert_int_equal(report->status, 0);
		assert_true(report->has_after);
		assert_false(report->left);
	}
	assert_true(o2_lst_console_is_over(stage->console));
	assert_int_equal(stage->nended, stage->config.count);
	assert_int_equal(report->outcome[recording->outcome], stage->config.count);
}

static void play(void **state)
{
	static struct stage stage;
	const struct recording *recording = *state;

	open_stage(&stage, recording);
	for (uint32_t i = 0; i < stage.lst.script->count; i++)
		lst_stage_step(&stage.lst, &stage.lst.script->step[i]);
	assert_int_equal(stage.lnet.nsent, 0);
	check_report(&stage, recording);
	assert_int_equal(o2_lst_rpc_active(stage.rpc), 0);
	assert_int_equal(o2_lnet_messages(stage.lnet.lnet), 0);
	lnet_play_close(&stage.lnet);
	o2_lst_console_destroy(stage.console);
	o2_lst_rpc_destroy(stage.rpc);
	free(stage.lst.script);
}

int main(void)
{
	return player_run_rows(recordings, RECORDINGS, sizeof(recordings[0]), play);
}
