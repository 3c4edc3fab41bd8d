/* SPDX-License-Identifier: MIT */
#ifndef O2_TESTS_LND_TALKS_H
#define O2_TESTS_LND_TALKS_H

#include "tests/lib/lnd_talk.h"

/*
 * Conversations that tests/unit/lnd/test_lnd_flow.c and test_lnd_windows.c run as tests.  Each also detects the
 * deliberate defects that tests/unit/lnd/test_lnd_mutants.c lists beside it.
 */

/* The tests of test_lnd_flow.c, from talks_{flow,credits,posts,answers,end,bounce}.c. */
#define FLOW_TALKS(talk)                     \
	talk(talks_of_everything);           \
	talk(talks_one_way);                 \
	talk(talks_at_once);                 \
	talk(talks_below_its_tunables);      \
	talk(talks_with_few_sends);          \
	talk(hears_of_too_many_credits);     \
	talk(hears_without_credit);          \
	talk(hears_too_many_requests);       \
	talk(hears_empty_noops);             \
	talk(keeps_alive);                   \
	talk(keeps_alive_and_hears);         \
	talk(fills_its_queues);              \
	talk(flushes_full_queues);           \
	talk(leaves_room_for_noops);         \
	talk(returns_the_credit_of_a_noop);  \
	talk(returns_credits_in_proportion); \
	talk(returns_the_only_credit);       \
	talk(posts_before_it_gives);         \
	talk(sends_what_its_depth_allows);   \
	talk(returns_seven_in_version_1);    \
	talk(returns_254_at_once);           \
	talk(says_whom_it_is_for);           \
	talk(sums_each_message);             \
	talk(hears_a_nak_of_success);        \
	talk(hears_of_more_than_the_sink);   \
	talk(hears_another_answer);          \
	talk(hears_another_length);          \
	talk(hears_an_answer_twice);         \
	talk(hears_of_what_was_not_sent);    \
	talk(cannot_plan_its_writes);        \
	talk(hears_of_another_life);         \
	talk(says_how_long_it_is);           \
	talk(misses_a_deadline);             \
	talk(renews_a_deadline);             \
	talk(starts_in_every_state);         \
	talk(ends_what_is_open);             \
	talk(counts_what_was_sent);          \
	talk(hears_early);                   \
	talk(reads_before_it_reposts);       \
	talk(gathers_a_payload);             \
	talk(ends_what_match_accepted);      \
	talk(cannot_poll);                   \
	talk(gives_back_its_receives);       \
	talk(is_answered_before_it_is_sent); \
	talk(crosses_by_sync);               \
	talk(changes_between_transfers);     \
	talk(cannot_copy);

#define DECLARE_TALK(name) void name(void **state)
FLOW_TALKS(DECLARE_TALK)

/* talks_windows.c */
void waits_for_windows(void **state);
void is_woken_by_another_connection(void **state);
void waits_behind_requests(void **state);

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
