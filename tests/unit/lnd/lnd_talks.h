/* SPDX-License-Identifier: MIT */
#ifndef O2_TESTS_LND_TALKS_H
#define O2_TESTS_LND_TALKS_H

#include "tests/lib/lnd_talk.h"

/* Shared by conversations of test_lnd_flow.c and test_lnd_windows.c.  Those in talks_*.c are in test_lnd_mutants too. */

/* Assert that the operation timed out at this age, waiting for `wait`; O2_WAIT_NONE: that another one timed out. */
void assert_late(const struct o2_transfer_result *result, enum o2_wait wait, uint64_t age_ms);

#define FEW  2u /* windows */
#define MANY 6u /* operations */

/* Open a pair whose interfaces have a and b windows; 0: the maximum.  b answers in mode phys. */
struct pair *pair_with_windows(uint32_t a, uint32_t b);

/* Another connection between the pair's interfaces; the interfaces in the new pair are not opened. */
struct pair *second_of(struct pair *pair);
void close_both(struct pair *pair, struct pair *second);

/* talk_memory of 9000 bytes, for an operation with this tag. */
struct o2_transfer_memory window_memory(int which, enum o2_reg_mode mode, uint64_t tag);

/* Start a PUT of 9000 bytes from a. */
void put_from(struct pair *pair, enum o2_reg_mode mode, uint64_t tag);

/* Assert that `count` operations, with tags from 0 on, have ended in order and successfully. */
void assert_ended(const struct side *side, uint32_t count);

#endif
