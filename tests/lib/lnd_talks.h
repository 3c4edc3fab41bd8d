/* SPDX-License-Identifier: MIT */
#ifndef O2_TESTS_LND_TALKS_H
#define O2_TESTS_LND_TALKS_H

#include "tests/lib/lnd_talk.h"

/*
 * Conversations that are tests (tests/unit/lnd/test_lnd_flow.c, test_lnd_windows.c), and that each notice the
 * deliberate defects which tests/unit/lnd/test_lnd_mutants.c names beside them.
 */

/* talks_flow.c */
void talks_of_everything(void **state);
void talks_one_way(void **state);
void talks_at_once(void **state);
void talks_below_its_tunables(void **state);
void talks_with_few_sends(void **state);
void hears_of_too_many_credits(void **state);
void hears_without_credit(void **state);
void hears_too_many_requests(void **state);
void hears_empty_noops(void **state);
void keeps_alive(void **state);
void fills_its_queues(void **state);
void flushes_full_queues(void **state);

/* talks_credits.c */
void leaves_room_for_noops(void **state);
void returns_the_credit_of_a_noop(void **state);
void returns_credits_in_proportion(void **state);
void returns_the_only_credit(void **state);

/* talks_answers.c */
void hears_a_nak_of_success(void **state);
void hears_of_more_than_the_sink(void **state);
void hears_another_answer(void **state);
void hears_another_length(void **state);
void hears_an_answer_twice(void **state);
void hears_of_what_was_not_sent(void **state);
void cannot_plan_its_writes(void **state);
void hears_of_another_life(void **state);
void says_how_long_it_is(void **state);

/* talks_end.c */
void misses_a_deadline(void **state);
void renews_a_deadline(void **state);
void starts_in_every_state(void **state);
void ends_what_is_open(void **state);
void hears_early(void **state);
void reads_before_it_reposts(void **state);
void gathers_a_payload(void **state);
void ends_what_match_accepted(void **state);
void cannot_poll(void **state);
void gives_back_its_receives(void **state);
void is_answered_before_it_is_sent(void **state);

/* talks_windows.c */
void waits_for_windows(void **state);
void is_woken_by_another_connection(void **state);

/* It waited for that, NONE: it was not late, and ends because another one was. */
void assert_late(const struct o2_transfer_result *result, enum o2_wait wait, uint64_t age_ms);

#define FEW  2u /* windows */
#define MANY 6u /* operations */

/* Interfaces with so many windows each; 0: as many as there may be.  b answers in mode phys. */
struct pair *pair_with_windows(uint32_t a, uint32_t b);

/* Another connection of the same interfaces; its sides' own are not opened. */
struct pair *second_of(struct pair *pair);
void close_both(struct pair *pair, struct pair *second);

/* talk_memory of 9000 bytes for an operation with that tag. */
struct o2_transfer_memory window_memory(int which, enum o2_reg_mode mode, uint64_t tag);

/* A PUT of 9000 bytes from a. */
void put_from(struct pair *pair, enum o2_reg_mode mode, uint64_t tag);

/* So many operations, with tags from 0 on, went well. */
void assert_ended(const struct side *side, uint32_t count);

#endif
