/* SPDX-License-Identifier: MIT */
#include "props/hostile_command.h"

#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/monotonic.h"
#include "lnd/node/node.h"
#include "props/hostile_net.h"
#include "props/hostile_quirk.h"
#include "props/mutant.h"
#include "props/options.h"
#include "wire/nid.h"

/* `o2props hostile` on devices of the machine: with a victim of ours, against a peer, or as the victim. */

#define PATIENCE_S     75
#define PATIENCE_MAX_S 3600
#define CLOSING_MS     10000

struct words {
	struct o2_net_liar_options net;
	char device[64];
	uint64_t liar_nid;
	bool all, victim, profiled;
	uint32_t few; /* 0: all of them */
	uint64_t seed;
};

static const struct option options[] = {
	{"device", required_argument, NULL, 'd'},
	{"gid-index", required_argument, NULL, 'g'},
	{"peer", required_argument, NULL, 'p'},
	{"port", required_argument, NULL, 'P'},
	{"portal", required_argument, NULL, 'o'},
	{"match-bits", required_argument, NULL, 'b'},
	{"patience", required_argument, NULL, 'w'},
	{"profile", required_argument, NULL, 'f'},
	{"mutant", required_argument, NULL, 'm'},
	{"quirk", required_argument, NULL, 'q'},
	{"victim", no_argument, NULL, 'v'},
	{"liar", required_argument, NULL, 'l'},
	{"all", no_argument, NULL, 'a'},
	{"some", required_argument, NULL, 'n'},
	{"seed", required_argument, NULL, 's'},
	{NULL, 0, NULL, 0},
};

static uint64_t nid_of(const char *option, const char *text)
{
	uint64_t nid;

	if (o2_nid_from_text(text, &nid, NULL) == 0)
		return nid;
	fprintf(stderr, "o2props: --%s is '%s', must be a NID such as 192.168.77.2@o2ib\n", option, text);
	exit(O2_PROPS_EXIT_USAGE);
}

static enum o2_hostile_profile profile_of(const char *text)
{
	enum o2_hostile_profile profile;

	if (o2_hostile_profile_find(text, &profile))
		return profile;
	fprintf(stderr, "o2props: --profile is '%s', must be strict or kernel\n", text);
	exit(O2_PROPS_EXIT_USAGE);
}

static bool take_word(int option, struct words *words)
{
	struct o2_net_liar_options *net = &words->net;

	switch (option) {
	case 'd':
		snprintf(words->device, sizeof(words->device), "%s", optarg);
		return true;
	case 'g':
		net->gid_index = (uint8_t)o2_props_number("gid-index", optarg, 255);
		return true;
	case 'p':
		net->peer = nid_of("peer", optarg);
		return true;
	case 'P':
		net->port = (uint16_t)o2_props_number("port", optarg, UINT16_MAX);
		return true;
	case 'o':
		net->portal = (uint32_t)o2_props_number("portal", optarg, UINT32_MAX);
		net->served = true;
		return true;
	case 'b':
		net->match_bits = o2_props_number("match-bits", optarg, UINT64_MAX);
		return true;
	case 'w':
		net->patience_ms = 1000 * (uint32_t)o2_props_number("patience", optarg, PATIENCE_MAX_S);
		return true;
	case 'f':
		net->profile = profile_of(optarg);
		words->profiled = true;
		return true;
	case 'm':
		net->mutant = optarg;
		return true;
	case 'q':
		if (!o2_hostile_quirks("o2props", optarg))
			exit(O2_PROPS_EXIT_USAGE);
		return true;
	case 'l':
		words->liar_nid = nid_of("liar", optarg);
		return true;
	case 'n':
		words->few = (uint32_t)o2_props_number("some", optarg, UINT32_MAX);
		words->all = true;
		return true;
	case 's':
		words->seed = o2_props_number("seed", optarg, UINT64_MAX);
		return true;
	case 'a':
		words->all = true;
		return true;
	case 'v':
		words->victim = true;
		return true;
	default:
		return false;
	}
}

/* "A,B": the liar's device, and that of a victim of ours. */
static bool sort_devices(struct words *words)
{
	char *comma = strchr(words->device, ',');

	words->net.device = words->device;
	if (comma != NULL) {
		*comma = '\0';
		words->net.victim_device = comma + 1;
	}
	return words->device[0] != '\0';
}

static bool parse(int argc, char **argv, struct words *words)
{
	const char *gid_index = getenv("O2REF_GID_INDEX");
	int option;

	*words = (struct words){
		.net = {.gid_index = 1,
			.port = O2_SERVICE_PORT,
			.patience_ms = 1000 * PATIENCE_S,
			.closing_ms = CLOSING_MS,
			.open_network = o2_network_open_rdma},
		.seed = o2_monotonic_ms(),
	};
	if (gid_index != NULL && *gid_index != '\0')
		words->net.gid_index = (uint8_t)o2_props_number("gid-index", gid_index, 255);
	while ((option = getopt_long(argc, argv, "", options, NULL)) != -1)
		if (!take_word(option, words))
			return false;
	if (!sort_devices(words))
		return false;
	if (words->victim)
		return words->liar_nid != 0 && words->net.victim_device == NULL && optind == argc;
	if (words->profiled && words->net.peer == 0) {
		fprintf(stderr, "o2props: --profile is for --peer: a victim of ours is judged strictly\n");
		exit(O2_PROPS_EXIT_USAGE);
	}
	/* Exactly one victim, and something to do to it. */
	return (words->net.victim_device != NULL) == (words->net.peer == 0) && words->all == (optind == argc);
}

static int be_victim(const struct words *words)
{
	struct o2_victim_options victim = {words->net.device, words->net.gid_index, words->liar_nid, NULL};

	if (words->net.mutant != NULL && o2_mutant_select(words->net.mutant) != 0) {
		fprintf(stderr, "o2props: there is no mutant '%s' in this program\n", words->net.mutant);
		return O2_PROPS_EXIT_USAGE;
	}
	return o2_victim_process(&victim);
}

struct tally {
	uint32_t count[4]; /* by enum o2_net_outcome */
	bool open, begun;
};

static void close_net(struct o2_net_liar *net, struct tally *tally)
{
	if (net->options.peer != 0)
		o2_stranger_close(net);
	else
		o2_far_close(net);
	tally->open = false;
}

static bool open_net(struct o2_net_liar *net, struct tally *tally)
{
	char why[O2_VICTIM_WHY_BYTES] = "";

	if (tally->open)
		return true;
	tally->open = net->options.peer != 0 ? o2_stranger_open(net, why) : o2_far_open(net, why);
	if (tally->open)
		return true;
	fprintf(stderr, "o2props: cannot %s: %s\n", tally->begun ? "go on" : "begin", why);
	close_net(net, tally);
	return false;
}

/* False: it cannot go on. */
static bool try_one(struct o2_net_liar *net, const struct o2_misbehaviour *what, struct tally *tally)
{
	static const char *const words[] = {"met", "TOLERATED (known): ", "NOT MET: ", "not tried: "};
	char why[O2_VICTIM_WHY_BYTES] = "";
	enum o2_net_outcome outcome;

	if (!open_net(net, tally))
		return false;
	tally->begun = true;
	outcome = net->options.peer != 0 ? o2_stranger_try(net, what, why) : o2_far_try(net, what, why);
	printf("%-24s %s%s\n", what->name, words[outcome], outcome == O2_NET_MET ? "" : why);
	fflush(stdout);
	tally->count[outcome]++;
	/* After a failure nothing of this world is to be trusted. */
	if (outcome == O2_NET_NOT_MET)
		close_net(net, tally);
	return true;
}

/* All of them, or some that the seed chooses. */
static bool try_many(struct o2_net_liar *net, const struct words *words, struct tally *tally)
{
	const struct o2_misbehaviour *list;
	size_t count = o2_misbehaviours(&list), left = words->few == 0 ? count : words->few;
	uint64_t dice = words->seed;

	for (size_t i = 0; i < count && left > 0; i++) {
		dice = dice * UINT64_C(6364136223846793005) + 1442695040888963407u;
		if (left < count - i && (dice >> 33) % (count - i) >= left)
			continue;
		left--;
		if (!try_one(net, &list[i], tally))
			return false;
	}
	return true;
}

static int try_named(struct o2_net_liar *net, char **names, struct tally *tally)
{
	for (; *names != NULL; names++) {
		const struct o2_misbehaviour *what = o2_misbehaviour_find(*names);

		if (what == NULL) {
			fprintf(stderr,
				"o2props: there is no misbehaviour '%s'; see o2props hostile --list\n",
				*names);
			return O2_PROPS_EXIT_USAGE;
		}
		if (!try_one(net, what, tally))
			return O2_PROPS_EXIT_CANNOT;
	}
	return 0;
}

int o2_hostile_net_command(int argc, char **argv)
{
	static struct o2_net_liar net;
	struct tally tally = {.open = false};
	struct words words;
	int status;

	if (!parse(argc, argv, &words)) {
		o2_hostile_usage("o2props", stderr);
		return O2_PROPS_EXIT_USAGE;
	}
	if (words.victim)
		return be_victim(&words);
	net.options = words.net;
	if (words.few > 0)
		printf("seed 0x%" PRIx64 "\n", words.seed);
	if (words.all)
		status = try_many(&net, &words, &tally) ? 0 : O2_PROPS_EXIT_CANNOT;
	else
		status = try_named(&net, argv + optind, &tally);
	if (tally.open)
		close_net(&net, &tally);
	printf("%u passed, %u failed", tally.count[O2_NET_MET], tally.count[O2_NET_NOT_MET]);
	if (net.options.peer != 0)
		printf(", %u tolerated, %u not tried", tally.count[O2_NET_TOLERATED],
		       tally.count[O2_NET_NOT_TRIED]);
	printf("\n");
	return tally.count[O2_NET_NOT_MET] > 0 ? 1 : status;
}
