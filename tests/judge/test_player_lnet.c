/* SPDX-License-Identifier: MIT */

/*
 * Plays recordings of two kernels' o2iblnd against our LNet.  The messages of one side are replayed, and our
 * LNet must send what the other side sent, except for handles and stamps.  Each recording is played twice, once
 * for each side.
 */

#include "tests/judge/player/lnet_play.h"
#include "tests/lib/unit_test.h"

#define ARENA_PAGES 200u
#define ENTRY_PAGE  2u
#define FIRST_PAGE  40u /* first page of our operations' memory */

static void play(const struct player_recording *recording, bool we_are_a)
{
	struct player_script *script = player_script_read(recording, we_are_a);
	static struct lnet_play stage;
	uint32_t operations = 0;

	assert_non_null(script);
	lnet_play_open(&stage, script, we_are_a, ARENA_PAGES, FIRST_PAGE, NULL);
	player_offer(stage.lnet, script, we_are_a,
		     lnet_play_memory(&stage, ENTRY_PAGE, recording->entry_bytes),
		     o2_arena_page(&stage.arena, ENTRY_PAGE));
	for (uint32_t i = 0; i < script->count; i++) {
		const struct player_step *step = &script->step[i];

		operations +=
			step->kind == STEP_MESSAGE && step->from_a == we_are_a && player_is_operation(step);
		lnet_play_step(&stage, step);
	}
	/* No message is missing or left over, and every operation ended with the recorded result. */
	assert_int_equal(stage.nsent, 0);
	assert_int_equal(o2_lnet_messages(stage.lnet), 0);
	assert_int_equal(stage.nresults, operations);
	assert_int_equal(stage.nfailed, recording->nomatch ? operations : 0);
	if (recording->nomatch && operations > 0)
		assert_int_equal(stage.status, -ENODATA);
	lnet_play_close(&stage);
	free(script);
}

int main(void)
{
	return player_run(play);
}
