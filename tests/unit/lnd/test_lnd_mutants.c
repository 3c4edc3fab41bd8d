/* SPDX-License-Identifier: MIT */
#include "tests/lib/lnd_talks.h"
#include "tests/unit/lnd/mutant_kills.h"

/*
 * Every deliberate defect of tests/mutants/credits.toml and completion.toml is noticed by a conversation of
 * test_lnd_flow.c: the conversation passes without the defect and fails with it.
 *
 *   test_lnd_mutants [NAME]
 */

static const struct {
	const char *mutant;
	CMUnitTestFunction talk;
} kills[] = {
	{"send-queue-short", fills_its_queues},
	{"completion-queue-short", flushes_full_queues},
	{"gather-wrong-key", gathers_a_payload},
	{"gather-unchecksummed", gathers_a_payload},
	{"length-by-entries", says_how_long_it_is},
	{"no-sync-for-cpu", crosses_by_sync},
	{"no-sync-for-device", crosses_by_sync},
	{"high-water-unscaled", talks_below_its_tunables},
	{"high-water-least", returns_credits_in_proportion},
	{"high-water-zero", returns_the_only_credit},
	{"noop-uncounted", returns_the_credit_of_a_noop},
	{"last-credit-spent", talks_at_once},
	{"version-1-forgotten", returns_the_credit_of_a_noop},
	{"sends-unlimited", talks_with_few_sends},
	{"outstanding-kept", talks_of_everything},
	{"credits-over-depth", hears_of_too_many_credits},
	{"credit-not-granted", hears_without_credit},
	{"requests-unlimited", hears_too_many_requests},
	{"acked-put-credited", talks_one_way},
	{"refused-put-uncredited", talks_one_way},
	{"put-done-reserves", talks_one_way},
	{"reserved-lost", talks_of_everything},
	{"noop-credited", talks_one_way},
	{"noops-pile-up", leaves_room_for_noops},
	{"noops-unlimited", hears_empty_noops},
	{"keepalive-never", keeps_alive},
	{"credits-cut", talks_of_everything},
	{"grant-in-progress", talks_of_everything},
	{"submit-when-closed", starts_in_every_state},
	{"receive-posted-early", reads_before_it_reposts},
	{"done-while-queued", is_answered_before_it_is_sent},
	{"waiting-asserted", hears_an_answer_twice},
	{"cookie-of-any-type", hears_another_answer},
	{"nak-status-unchecked", hears_a_nak_of_success},
	{"put-done-unchecked", hears_another_length},
	{"get-done-unchecked", hears_of_more_than_the_sink},
	{"window-not-awaited", waits_for_windows},
	{"window-wake-lost", is_woken_by_another_connection},
	{"match-closed-lost", ends_what_match_accepted},
	{"plan-failure-hidden", cannot_plan_its_writes},
	{"stale-sender", hears_of_another_life},
	{"stale-receiver", hears_of_another_life},
	{"deadline-ignored", misses_a_deadline},
	{"deadline-kept", renews_a_deadline},
	{"queued-answered", hears_of_what_was_not_sent},
	{"abort-queued-only", ends_what_is_open},
	{"parked-lost", hears_early},
	{"status-overwritten", misses_a_deadline},
	{"poll-asserted", cannot_poll},
	{"credit-before-receive", posts_before_it_gives},
	{"noop-receive-kept", talks_one_way},
	{"sends-unclamped", sends_what_its_depth_allows},
	{"version-1-early", returns_seven_in_version_1},
	{"credit-byte-signed", returns_254_at_once},
	{"pid-left-out", says_whom_it_is_for},
	{"noop-unsummed", sums_each_message},
	{"age-from-deadline", misses_a_deadline},
	{"closed-by-nobody", ends_what_is_open},
	{"device-as-stage", cannot_poll},
	{"receives-left", gives_back_its_receives},
	{"heard-as-sign-of-life", keeps_alive_and_hears},
	{"noop-second-slides", hears_empty_noops},
	{"get-overtakes-parked", waits_behind_requests},
};

static const struct {
	const char *name;
	const char *group; /* the file that has the defect, without its suffix */
} mutants[] = {
#define ENTRY(id, name, group) {name, group},
	O2_MUTANTS(ENTRY)
#undef ENTRY
};

static CMUnitTestFunction talk_of(const char *mutant)
{
	for (size_t i = 0; i < sizeof(kills) / sizeof(kills[0]); i++)
		if (strcmp(kills[i].mutant, mutant) == 0)
			return kills[i].talk;
	printf("%s: no conversation\n", mutant);
	return NULL;
}

int main(int argc, char **argv)
{
	CMUnitTestFunction talk;
	int passed = 0, failed = 0;

	for (size_t i = 0; i < sizeof(mutants) / sizeof(mutants[0]); i++) {
		const char *group = mutants[i].group;

		if ((strcmp(group, "credits") != 0 && strcmp(group, "completion") != 0) ||
		    (argc > 1 && strcmp(argv[1], mutants[i].name) != 0))
			continue;
		talk = talk_of(mutants[i].name);
		if (talk != NULL && killed_by(mutants[i].name, talk)) {
			passed++;
		} else {
			printf("  again: %s %s\n", argv[0], mutants[i].name);
			failed++;
		}
	}
	printf("%d passed, %d failed\n", passed, failed);
	return failed > 0 || passed == 0;
}
