/* SPDX-License-Identifier: MIT */
#ifndef O2_TEST_PLAYER_PLAY_H
#define O2_TEST_PLAYER_PLAY_H

#include "tests/judge/player/script.h"

/* Shared by all players of recordings: the LNet setup of the recorded side, and one test for each recording. */

struct o2_lnet_config player_lnet_config(const struct player_script *script, bool we_are_a);

/* Attach the entry that the recorded target offered.  bytes: address of `memory`; gets the recorded REPLY. */
void player_offer(struct o2_lnet *lnet, const struct player_script *script, bool we_are_a,
		  struct o2_transfer_memory memory, uint8_t *bytes);

/* Play every recording twice, once for each side.  Returns the exit status for main(). */
typedef void (*player_play)(const struct player_recording *recording, bool we_are_a);
int player_run(player_play play);
/* Run `play` for each row of a table; a row starts with its struct player_recording.  Returns as player_run. */
int player_run_rows(const void *rows, unsigned int count, size_t row_bytes, void (*play)(void **state));

#endif
