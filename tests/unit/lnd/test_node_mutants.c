/* SPDX-License-Identifier: MIT */
/*
 * Deliberate defects in connection setup (tests/mutants/connections.toml): each fails a test of another file, whose
 * sources this program has too (tests/unit/CMakeLists.txt).
 *
 *   test_node_mutants [NAME]
 */
#include "tests/unit/lnd/mutant_kills.h"

static const struct {
	const char *mutant, *test;
} kills[] = {
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

int main(int argc, char **argv)
{
	int passed = 0, failed = 0;

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
