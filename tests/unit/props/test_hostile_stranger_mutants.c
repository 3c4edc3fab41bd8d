/* SPDX-License-Identifier: MIT */
#include "props/engine/mutant.h"
#include "tests/lib/stranger.h"
#include "wire/nid.h"

/*
 * The judge of peers that take no orders, tried on peers in this process: a strict peer, peers that tolerate
 * too much, peers that answer short, and peers with quirks (docs/peer.md, "Quirks").
 */

static struct o2_net_liar net;

static bool begin(enum o2_hostile_profile profile, char *why)
{
	memset(&net, 0, sizeof(net));
	net.options = stranger_options();
	net.options.profile = profile;
	stranger.pings = stranger.ping_sink_bytes = 0;
	return o2_stranger_open(&net, why);
}

/* Tries one misbehaviour at a new peer with this mutant ("none": without). */
static enum o2_net_outcome try_at(enum o2_hostile_profile profile, const char *mutant, const char *name,
				  char *why)
{
	enum o2_net_outcome outcome;

	assert_int_equal(o2_mutant_select(mutant), 0);
	if (!begin(profile, why))
		fail_msg("%s, %s: %s", name, mutant, why);
	outcome = o2_stranger_try(&net, o2_misbehaviour_find(name), why);
	o2_stranger_close(&net);
	assert_int_equal(o2_mutant_select("none"), 0);
	return outcome;
}

static int reset(void **state)
{
	stranger.serves_bytes = stranger.takes_bytes = 12000;
	stranger.quirk = NULL;
	stranger.garbles_pings = false;
	return 0;
}

/* These need a peer that starts a GET, asks for a connection, or follows orders; this one does not. */
static const char *const not_tried[] = {
	"no-checksum",	   "ack-for-get",     "nak-for-get",	    "answers-unsent",	  "get-done-twice",
	"gives-more",	   "huge-get-done",   "no-credit",	    "put-flood",	  "request-flood",
	"silent-to-get",   "into-slots",      "into-source",	    "replies-magic",	  "replies-request",
	"replies-version", "replies-depth-9", "replies-depth-1",    "replies-frags-258",  "replies-frags-0",
	"replies-large",   "replies-small",   "replies-to-another", "replies-other-life", NULL,
};

static bool is_not_tried(const char *name)
{
	for (const char *const *one = not_tried; *one != NULL; one++)
		if (strcmp(*one, name) == 0)
			return true;
	return false;
}

static void meets_all(enum o2_hostile_profile profile)
{
	const struct o2_misbehaviour *list;
	size_t count = o2_misbehaviours(&list), wrong = 0, tried = 0;
	char why[O2_VICTIM_WHY_BYTES] = "";

	assert_true(begin(profile, why));
	for (size_t i = 0; i < count; i++) {
		enum o2_net_outcome outcome = o2_stranger_try(&net, &list[i], why);
		enum o2_net_outcome expected = is_not_tried(list[i].name) ? O2_NET_NOT_TRIED : O2_NET_MET;

		tried += outcome != O2_NET_NOT_TRIED;
		if (outcome == expected && (outcome == O2_NET_MET || strncmp(why, "needs ", 6) == 0))
			continue;
		print_message("%s: %d, %s\n", list[i].name, outcome, why);
		wrong++;
	}
	o2_stranger_close(&net);
	print_message("%zu of %zu tried, %zu not as expected\n", tried, count, wrong);
	assert_int_equal(wrong, 0);
	assert_int_equal(tried, count - (sizeof(not_tried) / sizeof(not_tried[0]) - 1));
}

TEST_WITH(a_strict_peer_meets_everything, reset, NULL)
{
	meets_all(O2_HOSTILE_STRICT);
}

/* A misbehaviour that may be tolerated may also be refused. */
TEST_WITH(also_under_the_other_profile, reset, NULL)
{
	meets_all(O2_HOSTILE_KERNEL);
}

/* --- peers without a check --- */

static void check_tolerant(const char *name, bool known)
{
	const struct o2_misbehaviour *what = o2_misbehaviour_find(name);
	char text[96], why[O2_VICTIM_WHY_BYTES] = "";
	const char *mutant = o2_misbehaviour_mutant(what, text);
	enum o2_net_outcome strict = try_at(O2_HOSTILE_STRICT, mutant, name, why);
	enum o2_net_outcome kernel;

	assert_int_equal(what->kernel_tolerates, known);
	print_message("%s, %s: %s\n", name, mutant, why);
	assert_int_equal(strict, O2_NET_NOT_MET);
	assert_true(why[0] != '\0' && strstr(why, "Success") == NULL);
	kernel = try_at(O2_HOSTILE_KERNEL, mutant, name, why);
	assert_int_equal(kernel, known ? O2_NET_TOLERATED : O2_NET_NOT_MET);
}

TEST_WITH(what_kernels_tolerate_is_told_apart, reset, NULL)
{
	static const char *const names[] = {"get-in-put", "ack-empty-fragment", "puts-less", "noop-storm",
					    "asks-as-another"};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		check_tolerant(names[i], true);
}

TEST_WITH(what_they_do_not_is_a_failure, reset, NULL)
{
	static const char *const names[] = {"stale-sender", "before",	       "beyond",
					    "after-done",   "asks-for-crumbs", "asks-for-another"};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		check_tolerant(names[i], false);
}

/* A peer has tolerated a misbehaviour only if it still works afterwards. */
TEST_WITH(a_peer_that_breaks_has_tolerated_nothing, reset, NULL)
{
	char why[O2_VICTIM_WHY_BYTES] = "";

	assert_int_equal(try_at(O2_HOSTILE_KERNEL, "deadline-ignored", "silent-after-ack", why),
			 O2_NET_NOT_MET);
}

/* --- the honest node --- */

TEST_WITH(pings_with_the_sink_of_lnet, reset, NULL)
{
	char why[O2_VICTIM_WHY_BYTES] = "";

	assert_true(begin(O2_HOSTILE_STRICT, why));
	o2_stranger_close(&net);
	assert_int_equal(stranger.pings, 1);
	assert_int_equal(stranger.ping_sink_bytes, 3960);
}

/* begin must fail for the peer as it is configured, and say why. */
static void cannot_begin(const char *expected)
{
	char why[O2_VICTIM_WHY_BYTES] = "";

	assert_false(begin(O2_HOSTILE_STRICT, why));
	o2_stranger_close(&net);
	print_message("%s\n", why);
	assert_non_null(strstr(why, expected));
	assert_null(strstr(why, "Success"));
}

TEST_WITH(names_a_peer_that_answers_short, reset, NULL)
{
	stranger.serves_bytes = 5000;
	cannot_begin("GET of 9000 bytes: the peer answers with success, and 5000 bytes");
}

TEST_WITH(names_a_peer_that_takes_less, reset, NULL)
{
	stranger.takes_bytes = 8000;
	cannot_begin("PUT of 9000 bytes: the peer answers with success, and 8000 bytes");
}

TEST_WITH(names_quirks, reset, NULL)
{
	static const struct {
		const char *quirk, *expected;
		uint32_t serves_bytes;
	} peers[] = {
		{"sums-other-bytes", "the peer has broken a rule: wire/header/checksum: ", 12000},
		/* The source starts 99 + 3000 bytes into a page: 4096 - 99 - 3000 bytes are on it. */
		{"second-page-wrong", "GET of the 3000 bytes that it has PUT: byte 997 is 0xee, not 0x",
		 12000},
		{"short-get-claims", "the peer reports 9000 bytes and wrote 0 of them", 6000},
		{"closes-first", "the peer has ended the connection (DREQ)", 12000},
	};

	for (size_t i = 0; i < sizeof(peers) / sizeof(peers[0]); i++) {
		stranger.quirk = peers[i].quirk;
		stranger.serves_bytes = peers[i].serves_bytes;
		cannot_begin(peers[i].expected);
	}
}

TEST_WITH(names_a_ping_that_says_nothing, reset, NULL)
{
	char why[O2_VICTIM_WHY_BYTES] = "";

	stranger.garbles_pings = true;
	assert_false(begin(O2_HOSTILE_STRICT, why));
	o2_stranger_close(&net);
	print_message("%s\n", why);
	assert_non_null(strstr(why, "3960 bytes"));
	assert_non_null(strstr(why, "48"));
	assert_non_null(strstr(why, "lnet/ping/magic"));
	assert_null(strstr(why, "Success"));
}
