/* SPDX-License-Identifier: MIT */
/* How a network command parses each number, and its default: docs/man/o2ref.1. */
#include <inttypes.h>
#include <stddef.h>
#include <string.h>

#include "cli/net/options.h"
#include "props/command/commands.h"

#define PEER "10.99.0.1@o2ib"

static const struct {
	const char *name;
	enum o2_net_command is;
} commands[] = {{"serve", O2_NET_SERVE}, {"ping", O2_NET_PING}, {"put", O2_NET_PUT},
		{"get", O2_NET_GET},	 {"lst", O2_NET_LST},	{"conform", O2_NET_CONFORM}};

/* All commands. */
#define ALL (O2_NET_SERVE | O2_NET_PING | O2_NET_PUT | O2_NET_GET | O2_NET_LST | O2_NET_CONFORM)

#define FIELD(member) offsetof(struct o2_net_options, member), sizeof(((struct o2_net_options *)0)->member)

/* A number of some commands, where it is stored, and its default; one more row where the default differs. */
static const struct number {
	uint32_t of;
	const char *option;
	size_t at, width;
	uint64_t least, most, otherwise, times;
} numbers[] = {
	{ALL, "port", FIELD(port), 1, 65535, 987, 1},
	{ALL, "queue-depth", FIELD(queue_depth), 2, 255, 8, 1},
	{ALL, "max-frags", FIELD(max_frags), 256, 257, 257, 1},
	{ALL, "ack-timeout", FIELD(ack_timeout), 1, 31, 19, 1},
	{ALL, "retries", FIELD(retries), 0, 6, 5, 1},
	{ALL, "rnr-retries", FIELD(rnr_retries), 0, 6, 6, 1},
	{ALL & ~O2_NET_LST, "timeout", FIELD(timeout_ms), 1, 86400, 50000, 1000},
	{O2_NET_LST, "timeout", FIELD(timeout_ms), 1, 86400, 64000, 1000},
	{O2_NET_PUT | O2_NET_CONFORM, "portal", FIELD(portal), 0, UINT32_MAX, 60, 1},
	{O2_NET_GET, "portal", FIELD(portal), 0, UINT32_MAX, 61, 1},
	{O2_NET_PUT | O2_NET_GET | O2_NET_CONFORM, "match-bits", FIELD(match_bits), 0, UINT64_MAX, 0x1234, 1},
	{O2_NET_PUT | O2_NET_GET, "offset", FIELD(offset), 0, 1000000, 0, 1},
	{O2_NET_PING | O2_NET_PUT | O2_NET_GET, "count", FIELD(count), 1, UINT32_MAX, 1, 1},
	{O2_NET_PUT | O2_NET_GET, "size", FIELD(size_bytes), 300, 1048576, 65536, 1},
	{O2_NET_SERVE | O2_NET_PUT | O2_NET_GET, "fragments", FIELD(fragments), 1, 257, 1, 1},
	{O2_NET_PUT | O2_NET_GET, "in-flight", FIELD(in_flight), 1, 255, 8, 1},
	{O2_NET_PING, "interval", FIELD(interval_ms), 0, 3600000, 1000, 1},
	{O2_NET_SERVE | O2_NET_PUT | O2_NET_GET | O2_NET_CONFORM, "seed", FIELD(seed), 0, UINT64_MAX, 1, 1},
	{O2_NET_SERVE, "features", FIELD(features), 0, UINT32_MAX, 14, 1},
	{O2_NET_SERVE, "requests", FIELD(requests), 1, UINT32_MAX, 0, 1},
	{O2_NET_CONFORM, "read-portal", FIELD(read_portal), 0, UINT32_MAX, 61, 1},
	{O2_NET_CONFORM, "place-bytes", FIELD(place_bytes), 2097152, 67108864, 8388608, 1},
	{O2_NET_CONFORM, "rounds", FIELD(rounds), 1, 1000000, 20, 1},
	{O2_NET_LST, "size", FIELD(size_bytes), 8, 1048576, 65536, 1},
	{O2_NET_LST, "concurrency", FIELD(concurrency), 1, 1024, 8, 1},
};

#define NUMBERS (sizeof(numbers) / sizeof(numbers[0]))

static uint64_t load(const struct o2_net_options *options, const struct number *number)
{
	uint64_t value = 0;

	memcpy(&value, (const uint8_t *)options + number->at, number->width);
	return value;
}

static void check_offers(struct o2_commands_run *run, const struct o2_net_options *options)
{
	const struct o2_net_offer *offer = options->offer;

	if (options->noffers != 2 || offer[0].portal != 60 || offer[1].portal != 61 ||
	    offer[0].match_bits != 0x1234 || offer[1].match_bits != 0x1234 ||
	    offer[0].size_bytes != 8388608 || offer[1].size_bytes != 8388608 || offer[0].read_only ||
	    !offer[1].read_only)
		o2_commands_wrong(run, "offers");
}

void o2_commands_options(struct o2_commands_run *run)
{
	struct o2_choice *c = run->c;
	const size_t which = o2_draw_pick(c, 6);
	char *words[O2_COMMAND_WORDS + 1];
	struct o2_net_options options;
	uint64_t expected[NUMBERS];

	o2_commands_words(run, commands[which].name);
	for (size_t i = 0; i < NUMBERS; i++) {
		const struct number *number = &numbers[i];

		expected[i] = number->otherwise;
		if ((number->of & commands[which].is) == 0 || !o2_draw_bool(c, 3, 1))
			continue;
		expected[i] = o2_draw_range(c, number->least, number->most);
		o2_command_word(&run->command, "--%s=%" PRIu64, number->option, expected[i]);
		expected[i] *= number->times;
	}
	if (commands[which].is != O2_NET_SERVE)
		o2_commands_words(run, PEER);
	if (commands[which].is == O2_NET_LST)
		o2_commands_words(run, "read");
	for (uint32_t i = 0; i < run->command.words; i++)
		words[i] = run->command.word[i];
	words[run->command.words] = NULL;
	run->command.out[0] = run->command.err[0] = '\0';
	run->command.status = o2_net_options_read((int)run->command.words, words, &options);
	run->tally.seen[O2_COMMANDS_OPTIONS]++;
	if (run->command.status <= 0 || options.command != commands[which].is) {
		o2_commands_wrong(run, "options");
		return;
	}
	if (commands[which].is == O2_NET_SERVE)
		check_offers(run, &options);
	for (size_t i = 0; i < NUMBERS; i++) {
		if ((numbers[i].of & commands[which].is) == 0 || load(&options, &numbers[i]) == expected[i])
			continue;
		o2_commands_wrong(run, "options");
		o2_report_add(run->report, "--%s is %" PRIu64 ", expected %" PRIu64, numbers[i].option,
			      load(&options, &numbers[i]), expected[i]);
	}
}
