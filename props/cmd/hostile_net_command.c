/* SPDX-License-Identifier: MIT */
#include "props/cmd/hostile_command.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "judge/end/watch_line.h"
#include "props/cmd/rung_open.h"

/* `o2props hostile` on devices of the machine: with its own victim, against a peer, or as the victim. */

#define CLOSING_MS 10000

/* Split "A,B": the liar's device, and that of our own victim. */
static bool sort_devices(struct o2_hostile_words *words, const char *const device[2])
{
	words->net.device = device[0];
	words->net.victim_device = device[1];
	/* There must be exactly one victim: a peer, or our own device.  As the victim, we use one device only. */
	if (words->victim)
		return words->net.victim_device == NULL;
	return (words->net.victim_device != NULL) == (words->net.peer == 0);
}

static int no_victim(const struct o2_hostile_words *words)
{
	return o2_command_usage(&words->command,
				"a victim is needed: --device A,B, or --device A and --peer NID");
}

static int be_victim(const struct o2_hostile_words *words)
{
	struct o2_victim_options victim = {words->net.device, words->net.gid_index, words->liar_nid, NULL};

	if (o2_props_mutant(words->command.program, words->net.mutant) != 0)
		return O2_PROPS_EXIT_USAGE;
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

/* Flush each line: the reader takes the time of an event from the arrival of its line. */
static void tell(void *context, const struct o2_watched *watched)
{
	char text[O2_WATCH_LINE_BYTES];

	o2_watch_line_put(watched, text);
	printf("%s %s\n", (const char *)context, text);
	fflush(stdout);
}

static const struct o2_watch tell_liar = {O2_HOSTILE_SAID_LIAR, tell},
			     tell_honest = {O2_HOSTILE_SAID_HONEST, tell};

/* Try one misbehaviour.  False: the command cannot go on. */
static bool try_one(struct o2_net_liar *net, const struct o2_misbehaviour *what, struct tally *tally)
{
	static const char *const words[] = {"met", "TOLERATED (known): ", "NOT MET: ", "not tried: "};
	char why[O2_VICTIM_WHY_BYTES] = "";
	enum o2_net_outcome outcome;

	if (net->options.watch[O2_NI_LIAR] != NULL)
		printf(O2_HOSTILE_SAID_TRY " %s\n", what->name);
	if (!open_net(net, tally))
		return false;
	tally->begun = true;
	outcome = net->options.peer != 0 ? o2_stranger_try(net, what, why) : o2_far_try(net, what, why);
	printf("%-24s %s%s\n", what->name, words[outcome], outcome == O2_NET_MET ? "" : why);
	fflush(stdout);
	tally->count[outcome]++;
	/* After a failure the state of this world is unknown. */
	if (outcome == O2_NET_NOT_MET)
		close_net(net, tally);
	return true;
}

/* Try all misbehaviours, or some that the seed selects. */
static bool try_many(struct o2_net_liar *net, const struct o2_hostile_words *words, struct tally *tally)
{
	const struct o2_misbehaviour *list;
	size_t count = o2_misbehaviours(&list), left = words->some > 0 ? (size_t)words->some : count;
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

static int try_named(struct o2_net_liar *net, const struct o2_hostile_words *words, struct tally *tally)
{
	for (char **name = words->names; *name != NULL; name++) {
		const struct o2_misbehaviour *what = o2_misbehaviour_find(*name);

		if (what == NULL)
			return o2_hostile_no_such(words, *name);
		if (!try_one(net, what, tally))
			return O2_PROPS_EXIT_CANNOT;
	}
	return 0;
}

static int run(struct o2_hostile_words *words)
{
	static struct o2_net_liar net;
	struct tally tally = {.open = false};
	int status;

	words->net.gid_index = words->gid_index >= 0 ? (uint8_t)words->gid_index : o2_props_gid_index();
	if (words->victim)
		return be_victim(words);
	net.options = words->net;
	net.options.closing_ms = CLOSING_MS;
	net.options.open_network = o2_network_open_rdma;
	net.options.served = words->portal >= 0;
	net.options.portal = words->portal >= 0 ? (uint32_t)words->portal : 0;
	net.options.profile = words->profile == O2_HOSTILE_KERNEL ? O2_HOSTILE_KERNEL : O2_HOSTILE_STRICT;
	net.options.watch[O2_NI_LIAR] = words->tell ? &tell_liar : NULL;
	net.options.watch[O2_NI_FRIEND] = words->tell ? &tell_honest : NULL;
	if (words->some > 0)
		printf("seed 0x%" PRIx64 "\n", words->seed);
	if (words->all || words->some > 0)
		status = try_many(&net, words, &tally) ? 0 : O2_PROPS_EXIT_CANNOT;
	else
		status = try_named(&net, words, &tally);
	if (tally.open)
		close_net(&net, &tally);
	if (!tally.begun)
		return status;
	printf("%u passed, %u failed", tally.count[O2_NET_MET], tally.count[O2_NET_NOT_MET]);
	if (net.options.peer != 0)
		printf(", %u tolerated, %u not tried", tally.count[O2_NET_TOLERATED],
		       tally.count[O2_NET_NOT_TRIED]);
	printf("\n");
	return tally.count[O2_NET_NOT_MET] > 0 ? 1 : status;
}

int o2_hostile_net_command(struct o2_hostile_words *words)
{
	const char *device[2];
	char *names;
	int status;

	if (words->devices == NULL)
		return no_victim(words);
	names = o2_rung_device_names(words->devices, device);
	status = sort_devices(words, device) ? run(words) : no_victim(words);
	free(names);
	return status;
}
