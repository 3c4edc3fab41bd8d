/* SPDX-License-Identifier: MIT */
#include "cli/net/conform/conform.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/monotonic.h"
#include "cli/cli.h"
#include "cli/net/commands.h"
#include "cli/net/conform/hostile.h"
#include "cli/net/conform/listen.h"
#include "cli/net/conform/lst.h"
#include "cli/net/conform/report.h"

/* o2ref conform: tries the probes of all tables, one after another. */

/* The most pages of one probe: two of the largest transfers, with a page left out between any two pieces. */
#define ARENA_PAGES 1152u

static const struct o2_conform_probe *const tables[] = {
	o2_conform_ping_probes,	    o2_conform_connect_probes,	 o2_conform_place_probes,
	o2_conform_move_probes,	    o2_conform_leave_probes,	 o2_conform_lst_session_probes,
	o2_conform_lst_bulk_probes, o2_conform_lst_leave_probes,
};

const struct o2_conform_probe *o2_conform_probe(uint32_t number)
{
	for (size_t i = 0; i < sizeof(tables) / sizeof(tables[0]); i++)
		for (const struct o2_conform_probe *probe = tables[i]; probe->id != NULL; probe++)
			if (number-- == 0)
				return probe;
	return NULL;
}

static bool is_hostile(const char *id)
{
	return strncmp(id, O2_CONFORM_HOSTILE, strlen(O2_CONFORM_HOSTILE)) == 0;
}

/* Does each word of --only name a probe? */
static bool check_only(const struct o2_net_options *options)
{
	const char *word = options->only;

	while (word != NULL) {
		const size_t length = strcspn(word, ",");
		char one[64];
		bool found;

		snprintf(one, sizeof(one), "%.*s", (int)length, word);
		if ((!options->try_lst && o2_conform_is_lst(one)) || (!options->hostile && is_hostile(one))) {
			o2_cli_complain("--only: '%s' needs %s", one,
					is_hostile(one) ? "--hostile" : "--lst");
			return false;
		}
		found = is_hostile(one) && o2_conform_hostile_has(one);
		for (uint32_t i = 0; !found && o2_conform_probe(i) != NULL; i++)
			found = o2_conform_is_in(o2_conform_probe(i)->id, one);
		if (!found) {
			o2_cli_complain("--only: unknown probe '%s' (see: o2ref conform --list)", one);
			return false;
		}
		word = word[length] == '\0' ? NULL : word + length + 1;
	}
	return true;
}

static bool is_judged(const char *id)
{
	const size_t length = strlen(O2_CONFORM_JUDGE);

	for (unsigned int i = 0; strncmp(id, O2_CONFORM_JUDGE, length) == 0 && i < O2_JUDGE_RULES; i++)
		if (strcmp(o2_judge_rules[i].id, id + length) == 0)
			return true;
	return false;
}

static bool is_id(const char *id)
{
	const struct o2_conform_probe *probe;

	/* The id is one word of --only, and no beginning. */
	if (is_hostile(id))
		return strchr(id, ',') == NULL && id[strlen(id) - 1] != '/' && o2_conform_hostile_has(id);
	if (is_judged(id))
		return true;
	for (uint32_t i = 0; (probe = o2_conform_probe(i)) != NULL; i++)
		if (strcmp(probe->id, id) == 0)
			return true;
	return false;
}

/* What is PUT at LNet's ping is not there to be read back. */
static bool check_place(const char *option, uint32_t portal, uint64_t match_bits)
{
	if (portal != O2_PING_PORTAL || match_bits != O2_PING_MATCH_BITS)
		return true;
	o2_cli_complain("--%s %" PRIu32 " with --match-bits 0x%" PRIx64 " is the place of LNet's ping",
			option, portal, match_bits);
	return false;
}

static void list(void)
{
	const struct o2_conform_probe *probe;

	for (uint32_t i = 0; (probe = o2_conform_probe(i)) != NULL; i++)
		printf("%-22s %s (docs/%s)\n", probe->id, probe->sentence, probe->source);
}

/* Skip a probe if the peer lacks something that it needs.  False: it lacks nothing. */
static bool hindered(struct o2_conform *conform, const struct o2_conform_probe *probe)
{
	for (unsigned int bit = 0; bit < sizeof(conform->lacks) / sizeof(conform->lacks[0]); bit++) {
		if ((probe->needs & ~conform->has & 1u << bit) == 0)
			continue;
		o2_conform_skip(conform, "%s", conform->lacks[bit]);
		return true;
	}
	return false;
}

/* A probe's bytes do not depend on which probes were tried before, so that a finding can be repeated alone. */
static uint64_t stream_of(const struct o2_conform_probe *probe)
{
	uint32_t number = 0;

	while (o2_conform_probe(number) != probe)
		number++;
	return (uint64_t)(number + 1) << 32;
}

static void try_probe(struct o2_conform *conform, const struct o2_conform_probe *probe,
		      struct o2_conform_result *result)
{
	const uint64_t began_ns = o2_monotonic_ns();
	const uint64_t packets = o2_conform_listener_packets(conform->listener);

	conform->result = result;
	conform->stream = stream_of(probe);
	o2_conform_listener_at(conform->listener, probe->id);
	if (!hindered(conform, probe))
		probe->run(conform, probe);
	o2_conform_stop(conform);
	result->took_ns = o2_monotonic_ns() - began_ns;
	o2_conform_listener_span(conform->listener, packets, result);
	if (result->outcome == O2_CONFORM_FINDING && probe->kernel_otherwise &&
	    conform->options->profile == O2_NET_KERNEL)
		result->outcome = O2_CONFORM_TOLERATED;
}

/* Returns -errno if the peer cannot be reached, which says nothing about the protocol; else 0. */
static int reach(struct o2_conform *conform)
{
	const struct o2_conform_probe *first = o2_conform_probe(0);
	struct o2_conform_result unheard = {0};
	int status = 0;

	assert(first != NULL);

	conform->result = &unheard;
	o2_conform_listener_at(conform->listener, first->id);
	if (o2_conform_start(conform, NULL)) {
		o2_conform_ping(conform, NULL);
		/* The status is 0 too if there was no memory for the ping, or if it did not end. */
		if (conform->op[0].status == -EHOSTUNREACH || conform->op[0].status == -ENETDOWN)
			status = conform->op[0].status;
	}
	o2_conform_stop(conform);
	if (status != 0)
		o2_cli_complain("%s", unheard.text);
	return status;
}

/* A peer that does not answer a ping is not asked anything else. */
static void try_all(struct o2_conform *conform, struct o2_conform_report *report)
{
	const struct o2_conform_probe *probe = o2_conform_probe(0);
	struct o2_conform_result first = {0};

	assert(probe != NULL);
	try_probe(conform, probe, &first);
	report->mute = first.outcome == O2_CONFORM_FINDING ? probe : NULL;
	o2_conform_listener_at(conform->listener, probe->id);
	if (report->mute == NULL)
		o2_conform_survey(conform);
	for (uint32_t i = 0; (probe = o2_conform_probe(i)) != NULL && o2_net_stop == 0 && !conform->lost;
	     i++) {
		struct o2_conform_result result = {0};

		if (!o2_conform_wanted(conform->options, probe->id) && probe != report->mute)
			continue;
		if (probe == report->mute)
			result = first;
		else if (report->mute == NULL)
			try_probe(conform, probe, &result);
		else
			result = (struct o2_conform_result){.outcome = O2_CONFORM_NOT_TRIED,
							    .text = "it does not answer a ping"};
		o2_conform_report_add(report, probe->id, probe->sentence, probe->source, probe->id, &result);
	}
	/* The last probe ends the loop too when it was interrupted. */
	report->whole = probe == NULL && report->mute == NULL && o2_net_stop == 0 && !conform->lost;
}

/* The liar uses our device from now on, so our own interface is closed. */
static void be_hostile(struct o2_conform *conform, struct o2_conform_report *report)
{
	struct o2_conform_hostile hostile = {.place = (conform->has & O2_CONFORM_PLACE) != 0};
	char device[64] = "";

	if (conform->session.network.ni.channel != NULL) {
		snprintf(device, sizeof(device), "%s",
			 ibv_get_device_name(conform->session.network.ni.context->device));
		hostile.device = device;
		hostile.gid_index = conform->session.network.ni.config.gid_index;
	}
	o2_net_network_close(&conform->session.network);
	report->whole &= o2_conform_hostile_try(&hostile, conform->listener, report);
}

static const char *why_not_whole(const struct o2_conform *conform, const struct o2_conform_report *report)
{
	return conform->lost	       ? "the device is lost"
	       : conform->starved      ? "not enough memory, so not all was tried"
	       : report->judged.failed ? "not enough memory, so not all was judged"
	       : report->starved       ? "not enough memory, so not all is reported"
	       : o2_net_stop != 0      ? "interrupted, so not all was tried"
	       : report->mute != NULL  ? "the peer does not answer a ping, so nothing else was tried"
				       : "the run was not completed";
}

static int run(struct o2_conform *conform, struct o2_conform_report *report)
{
	bool open = true;
	int status = reach(conform) == 0 ? O2_CLI_OK : O2_CONFORM_CANNOT;

	if (status == O2_CLI_OK) {
		try_all(conform, report);
		open = !conform->options->hostile || report->mute != NULL || !report->whole;
		if (!open)
			be_hostile(conform, report);
		o2_conform_listener_report(conform->listener, report);
	}
	if (open)
		o2_net_network_close(&conform->session.network);
	if (status != O2_CLI_OK)
		return status;
	report->whole &= !conform->starved && !report->judged.failed && !report->starved;
	if (!report->whole) {
		report->why = why_not_whole(conform, report);
		o2_cli_complain("%s", report->why);
	}
	if (!o2_conform_report_end(report))
		return O2_CLI_USAGE;
	return report->count[O2_CONFORM_FINDING] > 0 || !report->whole ? O2_CLI_REFUSED : O2_CLI_OK;
}

/* Our own NID is known only with an open network. */
static int listen_and_run(struct o2_conform *conform, struct o2_conform_report *report)
{
	int status = O2_CLI_USAGE;

	conform->listener = o2_conform_listen(conform->options);
	if (conform->listener == NULL) {
		o2_net_network_close(&conform->session.network);
		return O2_CLI_USAGE;
	}
	conform->session.network.ni.config.watch = o2_conform_listener_watch(conform->listener);
	status = run(conform, report);
	if (!o2_conform_listener_free(conform->listener))
		status = O2_CLI_USAGE;
	return status;
}

int o2_net_conform(struct o2_net_options *options, int argc, char **argv)
{
	static struct o2_conform conform;
	struct o2_conform_report report = {.options = options, .argc = argc, .argv = argv};
	int status;

	if (options->list) {
		list();
		return O2_CLI_OK;
	}
	if (!check_only(options) || !check_place("portal", options->portal, options->match_bits) ||
	    !check_place("read-portal", options->read_portal, options->match_bits) ||
	    (options->known != NULL && !o2_conform_known_read(options->known, is_id, &report.known)))
		return O2_CLI_USAGE;
	if (!o2_conform_report_prepare(options->out)) {
		o2_conform_report_free(&report);
		return O2_CLI_USAGE;
	}
	memset(&conform, 0, sizeof(conform));
	conform.options = options;
	conform.next_page = O2_NET_LNET_PAGES;
	conform.lst_page = O2_NET_LNET_PAGES + ARENA_PAGES;
	status = o2_net_session_open_network(
		options, ARENA_PAGES + o2_conform_lst_pages(options, (uint32_t)sysconf(_SC_PAGESIZE)),
		&conform.session);
	if (status == O2_CLI_OK)
		status = listen_and_run(&conform, &report);
	else if (conform.session.network.no_device)
		status = O2_CONFORM_CANNOT;
	o2_conform_report_free(&report);
	return status;
}
