/* SPDX-License-Identifier: MIT */
#include <stdbool.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "props/engine/mutant.h"
#include "tests/lib/unit_test.h"
#include "tests/mutants/mutant.h"

/*
 * Deliberate defects of conversations (tests/mutants/credits.toml and completion.toml: every one of them) and of
 * connection setup (connections.toml): each fails a test of another file, whose sources this program has too
 * (tests/unit/CMakeLists.txt).  Each test runs in a process of its own; a defect may crash it, or make it loop
 * forever.
 *
 *   test_lnd_mutants [NAME]
 */

#define SECONDS_AT_MOST 60

static void run_with(const char *mutant, CMUnitTestFunction test)
{
	void *state = NULL;

	alarm(SECONDS_AT_MOST);
	/* Hide the output of assertions that a defect fails. */
	if (strcmp(mutant, "none") != 0 &&
	    (freopen("/dev/null", "w", stderr) == NULL || freopen("/dev/null", "w", stdout) == NULL))
		_exit(1);
	if (o2_mutant_select(mutant) != 0)
		_exit(0);
	test(&state);
	_exit(0);
}

/* Returns 1: the test passed; 0: it failed; -1: fork failed. */
static int holds(const char *mutant, CMUnitTestFunction test)
{
	pid_t child;
	int status;

	fflush(NULL);
	child = fork();
	if (child < 0)
		return -1;
	if (child == 0)
		run_with(mutant, test);
	if (waitpid(child, &status, 0) != child)
		return -1;
	return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

/* Does the test pass without the defect, and fail with it, after it was triggered?  If not, says why. */
static bool killed_by(const char *mutant, CMUnitTestFunction test)
{
	struct o2_mutant_counts *counts =
		mmap(NULL, sizeof(*counts), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	const char *why = NULL;

	if (counts == MAP_FAILED)
		return false;
	o2_mutant_counts = counts;
	if (holds("none", test) != 1)
		why = "its test fails without it";
	else if (holds(mutant, test) != 0)
		why = "not noticed";
	else if (counts->reached == 0 || counts->triggered == 0)
		why = "not triggered";
	if (why != NULL)
		printf("%s: %s\n", mutant, why);
	munmap(counts, sizeof(*counts));
	return why == NULL;
}

static const struct {
	const char *mutant, *test;
} kills[] = {
	{"send-queue-short", "fills_its_queues"},
	{"completion-queue-short", "flushes_full_queues"},
	{"gather-wrong-key", "gathers_a_payload"},
	{"gather-unchecksummed", "gathers_a_payload"},
	{"length-by-entries", "says_how_long_it_is"},
	{"no-sync-for-cpu", "crosses_by_sync"},
	{"no-sync-for-device", "crosses_by_sync"},
	{"high-water-unscaled", "talks_below_its_tunables"},
	{"high-water-least", "returns_credits_in_proportion"},
	{"high-water-zero", "returns_the_only_credit"},
	{"noop-uncounted", "returns_the_credit_of_a_noop"},
	{"last-credit-spent", "talks_at_once"},
	{"version-1-forgotten", "returns_the_credit_of_a_noop"},
	{"sends-unlimited", "talks_with_few_sends"},
	{"outstanding-kept", "talks_of_everything"},
	{"credits-over-depth", "hears_of_too_many_credits"},
	{"credit-not-granted", "hears_without_credit"},
	{"requests-unlimited", "hears_too_many_requests"},
	{"acked-put-credited", "talks_one_way"},
	{"refused-put-uncredited", "talks_one_way"},
	{"put-done-reserves", "talks_one_way"},
	{"reserved-lost", "talks_of_everything"},
	{"noop-credited", "talks_one_way"},
	{"noops-pile-up", "leaves_room_for_noops"},
	{"noops-unlimited", "hears_empty_noops"},
	{"keepalive-never", "keeps_alive"},
	{"credits-cut", "talks_of_everything"},
	{"grant-in-progress", "talks_of_everything"},
	{"submit-when-closed", "starts_in_every_state"},
	{"receive-posted-early", "reads_before_it_reposts"},
	{"done-while-queued", "is_answered_before_it_is_sent"},
	{"waiting-asserted", "hears_an_answer_twice"},
	{"cookie-of-any-type", "hears_another_answer"},
	{"nak-status-unchecked", "hears_a_nak_of_success"},
	{"put-done-unchecked", "hears_another_length"},
	{"get-done-unchecked", "hears_of_more_than_the_sink"},
	{"window-not-awaited", "waits_for_windows"},
	{"window-wake-lost", "is_woken_by_another_connection"},
	{"match-closed-lost", "ends_what_match_accepted"},
	{"plan-failure-hidden", "cannot_plan_its_writes"},
	{"stale-sender", "hears_of_another_life"},
	{"stale-receiver", "hears_of_another_life"},
	{"deadline-ignored", "misses_a_deadline"},
	{"deadline-kept", "renews_a_deadline"},
	{"queued-answered", "hears_of_what_was_not_sent"},
	{"abort-queued-only", "ends_what_is_open"},
	{"parked-lost", "hears_early"},
	{"status-overwritten", "misses_a_deadline"},
	{"poll-asserted", "cannot_poll"},
	{"credit-before-receive", "posts_before_it_gives"},
	{"noop-receive-kept", "talks_one_way"},
	{"sends-unclamped", "sends_what_its_depth_allows"},
	{"version-1-early", "returns_seven_in_version_1"},
	{"credit-byte-signed", "returns_254_at_once"},
	{"pid-left-out", "says_whom_it_is_for"},
	{"noop-unsummed", "sums_each_message"},
	{"age-from-deadline", "misses_a_deadline"},
	{"closed-by-nobody", "ends_what_is_open"},
	{"device-as-stage", "cannot_poll"},
	{"receives-left", "gives_back_its_receives"},
	{"heard-as-sign-of-life", "keeps_alive_and_hears"},
	{"noop-second-slides", "hears_empty_noops"},
	{"get-overtakes-parked", "waits_behind_requests"},
	{"forget-negotiated", "terms"},
	{"offer-tunable", "fragments_as_agreed"},
	{"fragments-by-page-size", "fragments_as_agreed"},
	{"waiting-left", "broken_at_once"},
	{"pool-clock-stands", "shrink_after_a_life"},
	{"waiting-undated", "messages_lost"},
	{"waiting-unchecked", "waiting_ends_while_attempts_go_on"},
	{"peer-freed-early", "end_not_confirmed"},
	{"reject-unnamed", "requests"},
	{"attempt-keeps-code", "attempt_given_up"},
	{"own-attempts-count", "one_wins"},
	{"attempt-halved", "messages_lost"},
	{"overtime-for-age", "messages_lost"},
	{"deaf-refuses", "nobody_there"},
	{"reject-own-version", "requests"},
	{"stamp-unsaid", "another_life"},
	{"ended-by-nobody", "broken_at_once"},
	{"stale-the-other-way", "peer_restarts"},
	{"depth-over-a-byte", "bad_configs"},
};

/* Does the table name a test for this defect, if it is of a file all of whose defects need one? */
static bool in_table(const char *mutant, const char *group)
{
	if (strcmp(group, "credits") != 0 && strcmp(group, "completion") != 0)
		return true;
	for (size_t i = 0; i < sizeof(kills) / sizeof(kills[0]); i++)
		if (strcmp(kills[i].mutant, mutant) == 0)
			return true;
	printf("%s: no test\n", mutant);
	return false;
}

int main(int argc, char **argv)
{
	int passed = 0, failed = 0;

#define COUNT_MISSING(id, name, group) failed += !in_table(name, group);
	O2_MUTANTS(COUNT_MISSING)
#undef COUNT_MISSING
	for (size_t i = 0; i < sizeof(kills) / sizeof(kills[0]); i++) {
		if (argc > 1 && strcmp(argv[1], kills[i].mutant) != 0)
			continue;
		if (killed_by(kills[i].mutant, tests_find(kills[i].test))) {
			passed++;
		} else {
			printf("  again: %s %s\n", argv[0], kills[i].mutant);
			failed++;
		}
	}
	printf("%d passed, %d failed\n", passed, failed);
	return failed > 0 || passed == 0;
}
