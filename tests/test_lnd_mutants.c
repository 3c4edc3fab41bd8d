/* SPDX-License-Identifier: MIT */
#include <stdbool.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/mutant.h"
#include "test_lnd_talks_credits.h"
#include "test_lnd_talks_end.h"
#include "test_lnd_talks_flow.h"
#include "test_lnd_talks_windows.h"

/*
 * Every deliberate defect of ref/base/mutant_list_flow.h is noticed by a conversation of test_lnd_flow.c:
 * that one holds without the defect and fails with it.
 *
 *   test_lnd_mutants [NAME]
 *
 * Each runs in a process of its own; a defect may crash it, or keep it busy for ever.
 */

#define SECONDS_AT_MOST 60

typedef void (*talk_fn)(void **state);

static const struct {
	enum o2_mutant_id mutant;
	talk_fn talk;
} kills[] = {
	{O2_MUTANT_SEND_QUEUE_SHORT, fills_its_queues},
	{O2_MUTANT_COMPLETION_QUEUE_SHORT, flushes_full_queues},
	{O2_MUTANT_GATHER_WRONG_KEY, gathers_a_payload},
	{O2_MUTANT_GATHER_UNCHECKSUMMED, gathers_a_payload},
	{O2_MUTANT_HIGH_WATER_UNSCALED, talks_below_its_tunables},
	{O2_MUTANT_NOOP_UNCOUNTED, returns_the_credit_of_a_noop},
	{O2_MUTANT_LAST_CREDIT_SPENT, talks_at_once},
	{O2_MUTANT_SENDS_UNLIMITED, talks_with_few_sends},
	{O2_MUTANT_OUTSTANDING_KEPT, talks_of_everything},
	{O2_MUTANT_CREDITS_OVER_DEPTH, hears_of_too_many_credits},
	{O2_MUTANT_CREDIT_NOT_GRANTED, hears_without_credit},
	{O2_MUTANT_REQUESTS_UNLIMITED, hears_too_many_requests},
	{O2_MUTANT_ACKED_PUT_CREDITED, talks_one_way},
	{O2_MUTANT_REFUSED_PUT_UNCREDITED, talks_one_way},
	{O2_MUTANT_PUT_DONE_RESERVES, talks_one_way},
	{O2_MUTANT_RESERVED_LOST, talks_of_everything},
	{O2_MUTANT_NOOP_CREDITED, talks_one_way},
	{O2_MUTANT_NOOPS_PILE_UP, leaves_room_for_noops},
	{O2_MUTANT_NOOPS_UNLIMITED, hears_empty_noops},
	{O2_MUTANT_KEEPALIVE_NEVER, keeps_alive},
	{O2_MUTANT_SUBMIT_WHEN_CLOSED, starts_in_every_state},
	{O2_MUTANT_RECEIVE_POSTED_EARLY, reads_before_it_reposts},
	{O2_MUTANT_WAITING_ASSERTED, hears_an_answer_twice},
	{O2_MUTANT_COOKIE_OF_ANY_TYPE, hears_another_answer},
	{O2_MUTANT_NAK_STATUS_UNCHECKED, hears_a_nak_of_success},
	{O2_MUTANT_PUT_DONE_UNCHECKED, hears_another_length},
	{O2_MUTANT_GET_DONE_UNCHECKED, hears_of_more_than_the_sink},
	{O2_MUTANT_WINDOW_NOT_AWAITED, waits_for_windows},
	{O2_MUTANT_WINDOW_WAKE_LOST, is_woken_by_another_connection},
	{O2_MUTANT_MATCH_CLOSED_LOST, ends_what_match_accepted},
	{O2_MUTANT_PLAN_FAILURE_HIDDEN, cannot_plan_its_writes},
	{O2_MUTANT_STALE_SENDER, hears_of_another_life},
	{O2_MUTANT_STALE_RECEIVER, hears_of_another_life},
	{O2_MUTANT_DEADLINE_IGNORED, misses_a_deadline},
	{O2_MUTANT_DEADLINE_KEPT, renews_a_deadline},
	{O2_MUTANT_QUEUED_ANSWERED, hears_of_what_was_not_sent},
	{O2_MUTANT_ABORT_QUEUED_ONLY, ends_what_is_open},
	{O2_MUTANT_PARKED_LOST, hears_early},
};

static const struct {
	enum o2_mutant_id mutant;
	const char *name;
} mutants[] = {
#define ENTRY(id, name, area, defect, text) {O2_MUTANT_##id, name},
	O2_MUTANTS_OF_FLOW(ENTRY)
#undef ENTRY
};

static void run(const char *mutant, talk_fn talk)
{
	void *state = NULL;

	alarm(SECONDS_AT_MOST);
	/* What an assertion says about a defect interests nobody. */
	if (strcmp(mutant, "none") != 0 &&
	    (freopen("/dev/null", "w", stderr) == NULL || freopen("/dev/null", "w", stdout) == NULL))
		_exit(1);
	if (o2_mutant_select(mutant) != 0)
		_exit(0);
	talk(&state);
	_exit(0);
}

/* 1: it held, 0: it noticed something, -1: no process could be made. */
static int holds(const char *mutant, talk_fn talk)
{
	pid_t child;
	int status;

	fflush(NULL);
	child = fork();
	if (child < 0)
		return -1;
	if (child == 0)
		run(mutant, talk);
	if (waitpid(child, &status, 0) != child)
		return -1;
	return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

/* Is the defect noticed, by a conversation that holds without it? */
static bool killed(enum o2_mutant_id mutant, const char *name)
{
	for (size_t i = 0; i < sizeof(kills) / sizeof(kills[0]); i++) {
		if (kills[i].mutant != mutant)
			continue;
		if (holds("none", kills[i].talk) != 1) {
			printf("%s: its conversation fails without it\n", name);
			return false;
		}
		if (holds(name, kills[i].talk) != 0) {
			printf("%s: not noticed\n", name);
			return false;
		}
		return true;
	}
	printf("%s: no conversation\n", name);
	return false;
}

int main(int argc, char **argv)
{
	int passed = 0, failed = 0;

	for (size_t i = 0; i < sizeof(mutants) / sizeof(mutants[0]); i++) {
		if (argc > 1 && strcmp(argv[1], mutants[i].name) != 0)
			continue;
		if (killed(mutants[i].mutant, mutants[i].name))
			passed++;
		else {
			printf("  again: %s %s\n", argv[0], mutants[i].name);
			failed++;
		}
	}
	printf("%d passed, %d failed\n", passed, failed);
	return failed > 0 || passed == 0;
}
