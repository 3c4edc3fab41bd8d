/* SPDX-License-Identifier: MIT */
/*
 *   node_traffic serve --device D --gid-index N --address A
 *   node_traffic drive --device D --gid-index N --address A --peer A [--seed S] [--count N] [--seconds N]
 *                      [--kill-every N] [--open N]
 *
 * Prints "ready" when it listens, "up" for each new connection, and JSON as the last line.  Exit status 0:
 * every operation ended once, and none was wrong; 1 otherwise; 2: wrong usage.
 */
#include <arpa/inet.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/errno_name.h"
#include "base/monotonic.h"
#include "tests/device/cm/traffic.h"

static volatile sig_atomic_t stopped;

static void on_signal(int number)
{
	(void)number;
	stopped = 1;
}

static bool to_number(const char *text, uint32_t *number)
{
	char *end;
	unsigned long value = strtoul(text, &end, 0);

	*number = (uint32_t)value;
	return *text != 0 && *end == 0 && value <= UINT32_MAX;
}

static bool to_address(const char *text, uint32_t *address)
{
	struct in_addr in;

	if (inet_pton(AF_INET, text, &in) != 1)
		return false;
	*address = ntohl(in.s_addr);
	return true;
}

static bool set(struct traffic_options *options, int option, const char *text)
{
	uint32_t number = 0;

	switch (option) {
	case 'd':
		options->device = text;
		return true;
	case 'a':
		return to_address(text, &options->address);
	case 'p':
		return to_address(text, &options->peer);
	case 's':
		return to_number(text, &options->seed);
	case 'c':
		return to_number(text, &options->count);
	case 't':
		return to_number(text, &options->seconds);
	case 'k':
		return to_number(text, &options->kill_every);
	case 'o':
		return to_number(text, &options->open) && options->open >= 1 && options->open <= TRAFFIC_OPEN;
	case 'g':
		if (!to_number(text, &number) || number > UINT8_MAX)
			return false;
		options->gid_index = (uint8_t)number;
		return true;
	default:
		return false;
	}
}

static bool parse(int argc, char **argv, struct traffic_options *options)
{
	static const struct option known[] = {
		{"device", required_argument, NULL, 'd'},  {"gid-index", required_argument, NULL, 'g'},
		{"address", required_argument, NULL, 'a'}, {"peer", required_argument, NULL, 'p'},
		{"seed", required_argument, NULL, 's'},	   {"count", required_argument, NULL, 'c'},
		{"seconds", required_argument, NULL, 't'}, {"kill-every", required_argument, NULL, 'k'},
		{"open", required_argument, NULL, 'o'},	   {NULL, 0, NULL, 0},
	};
	int option;

	*options = (struct traffic_options){.count = UINT32_MAX, .open = TRAFFIC_OPEN};
	while ((option = getopt_long(argc, argv, "", known, NULL)) != -1)
		if (!set(options, option, optarg))
			return false;
	if (optind != argc - 1 || options->device == NULL || options->address == 0)
		return false;
	options->drives = strcmp(argv[optind], "drive") == 0;
	return options->drives ? options->peer != 0 : strcmp(argv[optind], "serve") == 0;
}

static void report_failures(const struct traffic *traffic)
{
	const char *comma = "";

	printf("\"failed_by\": {");
	for (int code = 0; code < TRAFFIC_ERRNOS; code++) {
		const char *name = o2_errno_name(code);

		if (traffic->failed_by[code] == 0)
			continue;
		if (name != NULL)
			printf("%s\"%s\": %" PRIu64, comma, name, traffic->failed_by[code]);
		else
			printf("%s\"%d\": %" PRIu64, comma, code, traffic->failed_by[code]);
		comma = ", ";
	}
	printf("}, ");
}

static void report_kinds(const struct traffic *traffic)
{
	const struct traffic_kinds *kinds = &traffic->kinds;

	printf("\"kinds\": {\"put\": %" PRIu64 ", \"get\": %" PRIu64 ", \"immediate\": %" PRIu64
	       ", \"short_put\": %" PRIu64 ", \"short_get\": %" PRIu64 ", \"no_match\": %" PRIu64
	       ", \"large\": %" PRIu64,
	       kinds->put, kinds->get, kinds->immediate, kinds->short_put, kinds->short_get, kinds->no_match,
	       kinds->large);
	for (int mode = 0; mode < O2_REG_MODES; mode++)
		printf(", \"%s\": %" PRIu64, o2_reg_mode_name((enum o2_reg_mode)mode), kinds->mode[mode]);
	printf("}, ");
}

/* Prints what the kernel had pinned for this process before it closed everything, and afterwards. */
static void report_pinned(const struct o2_held *most, const struct o2_held *after)
{
	printf("\"pinned_kib\": {\"most\": %" PRIu64 ", \"after\": %" PRIu64 "}, ", most->pinned_kib,
	       after->pinned_kib);
}

static void report(const struct traffic *traffic, uint64_t start_ms)
{
	printf("{\"started\": %" PRIu64 ", \"ended\": %" PRIu64 ", \"exact\": %" PRIu64
	       ", \"failed\": %" PRIu64 ", ",
	       traffic->started, traffic->ended, traffic->exact, traffic->failed);
	report_failures(traffic);
	report_kinds(traffic);
	report_pinned(&traffic->most, &traffic->after);
	printf("\"received\": %" PRIu64 ", \"accounts\": %" PRIu64 ", \"idle\": %s, ", traffic->received,
	       traffic->accounts, traffic->idle ? "true" : "false");
	printf("\"served\": %" PRIu64 ", \"served_failed\": %" PRIu64 ", \"wrong\": %" PRIu64
	       ", \"bytes\": %" PRIu64 ", \"up\": %" PRIu64 ", \"down\": %" PRIu64 ", \"seconds\": %.3f}\n",
	       traffic->served, traffic->served_failed, traffic->wrong, traffic->bytes, traffic->up,
	       traffic->down, (double)(o2_monotonic_ms() - start_ms) / 1000);
	fflush(stdout);
}

int main(int argc, char **argv)
{
	static struct traffic traffic;
	struct sigaction action = {.sa_handler = on_signal};
	uint64_t start_ms = o2_monotonic_ms();
	struct traffic_options options;

	if (!parse(argc, argv, &options)) {
		fprintf(stderr,
			"usage: node_traffic serve|drive --device D --gid-index N --address A [--peer A] "
			"[--seed S] [--count N] [--seconds N] [--kill-every N] [--open N]\n");
		return 2;
	}
	sigaction(SIGTERM, &action, NULL);
	sigaction(SIGINT, &action, NULL);
	if (traffic_open(&traffic, &options) != 0)
		return 1;
	printf("ready\n");
	fflush(stdout);
	if (options.drives)
		traffic_drive(&traffic, &stopped);
	else
		traffic_serve(&traffic, &stopped);
	traffic_close(&traffic);
	report(&traffic, start_ms);
	return traffic.wrong > 0 || traffic.ended != traffic.started;
}
