/* SPDX-License-Identifier: MIT */
#include "tests/judge/player/play.h"

#include <assert.h>

#include "tests/lib/unit_test.h"
#include "wire/nid.h"

#define PLAYER_ROWS 64u

static player_play play_side;

struct o2_lnet_config player_lnet_config(const struct player_script *script, bool we_are_a)
{
	struct o2_lnet_config config = O2_LNET_DEFAULTS;
	struct o2_ping_info info;

	config.nid = we_are_a ? PLAYER_NID_A : PLAYER_NID_B;
	config.interface_cookie = 0x1122334455667788;
	if (player_ping_info(script, we_are_a, &info)) {
		config.ping_features = info.features;
		config.ping_sequence = info.ni[0].status;
	}
	return config;
}

void player_offer(struct o2_lnet *lnet, const struct player_script *script, bool we_are_a,
		  struct o2_transfer_memory memory, uint8_t *bytes)
{
	const struct player_step *reply = player_reply(script, we_are_a);
	const struct o2_lnet_entry entry = {
		.portal = 60,
		.match_bits = 0x1234,
		O2_LNET_FOR_ANYBODY,
		.options = O2_LNET_MD_OP_PUT | O2_LNET_MD_OP_GET | O2_LNET_MD_MANAGE_REMOTE |
			   O2_LNET_MD_TRUNCATE,
		.memory = memory,
	};

	assert_true(o2_lnet_attach(lnet, &entry, NULL) >= 0);
	if (reply != NULL)
		memcpy(bytes, reply->payload, player_lnet_hdr(reply)->payload_length);
}

static void play_both(void **state)
{
	play_side(*state, true);
	play_side(*state, false);
}

int player_run_rows(const void *rows, unsigned int count, size_t row_bytes, void (*play)(void **state))
{
	struct CMUnitTest tests[PLAYER_ROWS] = {{0}};

	assert(count <= PLAYER_ROWS);
	for (unsigned int i = 0; i < count; i++) {
		const struct player_recording *row = (const void *)((const char *)rows + i * row_bytes);

		tests[i] = (struct CMUnitTest){
			.name = row->name, .test_func = play, .initial_state = (void *)(uintptr_t)row};
	}
	return _cmocka_run_group_tests("tests", tests, count, NULL, NULL);
}

int player_run(player_play play)
{
	play_side = play;
	return player_run_rows(player_recordings, PLAYER_RECORDINGS, sizeof(player_recordings[0]), play_both);
}
