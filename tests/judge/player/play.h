/* SPDX-License-Identifier: MIT */
#ifndef O2_TEST_PLAYER_PLAY_H
#define O2_TEST_PLAYER_PLAY_H

#include "tests/judge/player/script.h"

/* What all players of recordings need: LNet as the recorded side had it, and a test for each recording. */

struct o2_lnet_config player_lnet_config(const struct player_script *script, bool we_are_a);

/* What a target offers; bytes: where that memory is, for what the recorded one replied with. */
void player_offer(struct o2_lnet *lnet, const struct player_script *script, bool we_are_a,
		  struct o2_transfer_memory memory, uint8_t *bytes);

/* Play every recording, each of its sides in turn; returns what main() does. */
typedef void (*player_play)(const struct player_recording *recording, bool we_are_a);
int player_run(player_play play);
/* A test for each row of a table, which begins with its recording: play is told the row.  Returns what main() does. */
int player_run_rows(const void *rows, unsigned int count, size_t row_bytes, void (*play)(void **state));

#endif
