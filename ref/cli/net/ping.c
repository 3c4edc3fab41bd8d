/* SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <stdio.h>

#include "base/monotonic.h"
#include "cli/cli.h"
#include "cli/net/commands.h"
#include "cli/net/event.h"
#include "cli/net/report.h"
#include "cli/net/session.h"
#include "wire/nid.h"

struct pinger {
	struct o2_net_options *options;
	struct o2_net_session session;
	struct o2_net_report report;
	struct o2_net_memory sink;
	bool waiting;
	bool lost;	 /* the device is lost, which was reported */
	uint64_t number; /* from 0 */
	uint64_t started_ns;
	int status;
	struct o2_transfer_fault fault;
	uint64_t length_bytes;
};

static void note_done(void *context, const struct o2_lnet_result *result)
{
	struct pinger *pinger = context;

	pinger->waiting = false;
	pinger->status = result->status;
	pinger->fault = *o2_net_fault(result);
	pinger->length_bytes = result->length_bytes;
}

/* The peer requests something meanwhile. */
static void note_event(void *context, const struct o2_lnet_event *event)
{
	const struct pinger *pinger = context;

	o2_net_tell_event(pinger->options, event);
}

static void print_info(const struct pinger *pinger, const struct o2_ping_info *info, int present,
		       uint64_t took_ns)
{
	char nid[O2_NID_TEXT_BYTES];

	o2_nid_to_text(pinger->options->peer, nid, sizeof(nid));
	printf("%s: %" PRIu64 " us, pid %" PRIu32 ", features 0x%" PRIx32 ":", nid, took_ns / 1000, info->pid,
	       info->features);
	for (int i = 0; i < present; i++) {
		o2_nid_to_text(info->ni[i].nid, nid, sizeof(nid));
		printf(" %s", nid);
		if (info->ni[i].status == O2_PING_NI_DOWN)
			printf(" (down)");
	}
	printf("\n");
	fflush(stdout);
}

/* The answer is here, or will not come. */
static bool conclude(struct pinger *pinger)
{
	const struct o2_arena *arena = &pinger->session.network.ni.arena;
	const uint64_t took_ns = o2_monotonic_ns() - pinger->started_ns;
	struct o2_ping_info info;
	struct o2_error error;
	char rejects[O2_NET_REJECTS_BYTES];
	int present;

	if (pinger->status != 0) {
		pinger->report.failed++;
		o2_net_complain_failed("ping", pinger->number, pinger->options->peer, pinger->status,
				       &pinger->fault,
				       o2_net_rejects_text(&pinger->session, &pinger->fault, rejects));
		return false;
	}
	present =
		o2_ping_decode(o2_arena_page(arena, O2_NET_LNET_PAGES), pinger->length_bytes, &info, &error);
	if (present < 0) {
		pinger->report.failed++;
		o2_cli_complain_error("the answer is not a valid ping reply", &error);
		return false;
	}
	o2_net_report_done(&pinger->report, pinger->length_bytes, took_ns);
	if (!pinger->options->json)
		print_info(pinger, &info, present, took_ns);
	return true;
}

/* One ping.  Returns false if no more are to be tried. */
static bool ping(struct pinger *pinger)
{
	const struct o2_lnet_target target = {
		.nid = pinger->options->peer, .portal = O2_PING_PORTAL, .match_bits = O2_PING_MATCH_BITS};
	struct o2_error error;

	pinger->waiting = true;
	pinger->started_ns = o2_monotonic_ns();
	if (o2_lnet_get(pinger->session.endpoint.lnet, &target, &pinger->sink.memory, NULL, &error) != 0) {
		pinger->report.failed++;
		o2_cli_complain_error("ping", &error);
		return false;
	}
	while (pinger->waiting && o2_net_stop == 0 && !pinger->lost)
		pinger->lost = !o2_net_session_step(&pinger->session, UINT64_MAX);
	return !pinger->lost && !pinger->waiting && conclude(pinger);
}

static void ping_all(struct pinger *pinger)
{
	const uint64_t interval_ns = (uint64_t)pinger->options->interval_ms * O2_NS_PER_MS;

	pinger->report.started_ns = o2_monotonic_ns();
	while (o2_net_stop == 0 && ping(pinger) && ++pinger->number < pinger->options->count)
		while (o2_net_stop == 0 && o2_monotonic_ns() - pinger->started_ns < interval_ns) {
			pinger->lost =
				!o2_net_session_step(&pinger->session, pinger->started_ns + interval_ns);
			if (pinger->lost)
				return;
		}
	if (!pinger->lost)
		o2_net_complain_ended(&pinger->report, pinger->options);
}

int o2_net_ping(struct o2_net_options *options)
{
	const struct o2_lnet_ops ops = {.done = note_done, .event = note_event};
	struct pinger pinger = {.options = options};
	int status = o2_net_session_open(options, 1, &ops, &pinger, &pinger.session);

	if (status != O2_CLI_OK)
		return status;
	if (o2_net_memory_lay(&pinger.session.network.ni.arena, O2_NET_LNET_PAGES, O2_PING_SINK_BYTES, 1,
			      options->mode, &pinger.sink) == 0)
		ping_all(&pinger);
	else
		o2_cli_complain("not enough memory for the answer");
	pinger.report.ended_ns = o2_monotonic_ns();
	if (pinger.report.done < options->count)
		status = O2_CLI_REFUSED;
	if (options->json || options->count > 1)
		status = o2_net_report_print(&pinger.report, options, status);
	o2_net_session_close(&pinger.session);
	o2_net_memory_free(&pinger.sink);
	return status;
}
