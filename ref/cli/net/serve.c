/* SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/errno_name.h"
#include "base/monotonic.h"
#include "cli/cli.h"
#include "cli/net/commands.h"
#include "cli/net/report.h"
#include "cli/net/session.h"
#include "wire/nid.h"

struct server {
	struct o2_net_options *options;
	struct o2_net_session session;
	struct o2_net_memory memory[O2_NET_MAX_BUFFERS];
	struct o2_net_report report;
};

/* The bytes that a PUT has brought: its hdr_data says which stream they are of. */
static void verify(struct server *server, const struct o2_lnet_event *event)
{
	struct o2_transfer_memory memory = server->memory[event->entry_tag].memory;
	uint8_t got = 0, want = 0;
	uint64_t right;

	memory.buffer.offset += event->offset;
	memory.buffer.nob = event->length_bytes;
	right = o2_net_match(&server->session.network.ni.arena, &memory, server->options->seed,
			     event->hdr->msg.put.hdr_data, 0, &got, &want);
	server->report.verified++;
	if (right == event->length_bytes)
		return;
	server->report.wrong++;
	o2_cli_complain("PUT of %" PRIu64 " bytes to offset %" PRIu64 ": byte %" PRIu64
			" is 0x%02x, not 0x%02x",
			event->length_bytes, event->offset, right, got, want);
}

static void print_event(const struct o2_lnet_event *event)
{
	static const char *const kinds[] = {"PUT", "GET", "dropped"};
	char nid[O2_NID_TEXT_BYTES], name[O2_ERRNO_TEXT_BYTES], why[256];

	o2_nid_to_text(event->nid, nid, sizeof(nid));
	if (event->kind == O2_LNET_EVENT_DROPPED) {
		o2_error_text(event->error, why, sizeof(why));
		printf("%s: %s: %s\n", nid, kinds[event->kind], why);
	} else {
		printf("%s: %s %" PRIu64 " bytes at offset %" PRIu64 " of buffer %" PRIu64 "%s%s\n", nid,
		       kinds[event->kind], event->length_bytes, event->offset, event->entry_tag,
		       event->status == 0 ? "" : ": ",
		       event->status == 0 ? "" : o2_errno_text(event->status, name));
	}
	fflush(stdout);
}

static bool is_ping(const struct o2_lnet_event *event)
{
	return event->hdr->type == O2_LNET_GET ? event->hdr->msg.get.ptl_index == O2_PING_PORTAL
					       : event->hdr->msg.put.ptl_index == O2_PING_PORTAL;
}

static void note_event(void *context, const struct o2_lnet_event *event)
{
	struct server *server = context;

	if (server->options->verbose && !server->options->json)
		print_event(event);
	if (event->kind == O2_LNET_EVENT_DROPPED || is_ping(event))
		return;
	if (event->status != 0) {
		server->report.failed++;
		return;
	}
	o2_net_report_done(&server->report, event->length_bytes, 0);
	if (event->kind == O2_LNET_EVENT_PUT && server->options->verify)
		verify(server, event);
}

/* A server starts nothing of its own. */
static void note_done(void *context, const struct o2_lnet_result *result)
{
	(void)context;
	(void)result;
}

static void announce(const struct o2_net_options *options)
{
	char nid[O2_NID_TEXT_BYTES];

	if (options->json)
		return;
	o2_nid_to_text(options->nid, nid, sizeof(nid));
	printf("serving as %s, port %u\n", nid, options->port);
	for (uint32_t i = 0; i < options->noffers; i++) {
		const struct o2_net_offer *offer = &options->offer[i];

		printf("buffer %" PRIu32 ": portal %" PRIu32 ", match bits 0x%" PRIx64 ", %" PRIu32
		       " bytes%s\n",
		       i, offer->portal, offer->match_bits, offer->size_bytes,
		       offer->read_only ? ", read only" : "");
	}
	fflush(stdout);
}

static bool finished(const struct server *server)
{
	const uint64_t requests = server->options->requests;

	/* The last answer must be out before the connection goes. */
	return requests != 0 && server->report.done + server->report.failed >= requests &&
	       o2_lnet_messages(server->session.endpoint.lnet) == 0;
}

static int serve(struct server *server)
{
	const struct o2_arena *arena = &server->session.network.ni.arena;
	int status = O2_CLI_OK;

	if (!o2_net_offer(server->options, arena, server->session.endpoint.lnet, server->memory)) {
		o2_cli_complain("not enough memory for the buffers");
		return O2_CLI_USAGE;
	}
	announce(server->options);
	server->report.started_ns = o2_monotonic_ns();
	while (o2_net_stop == 0 && !finished(server)) {
		if (!o2_net_session_step(&server->session, UINT64_MAX)) {
			status = O2_CLI_REFUSED;
			break;
		}
		o2_net_report_progress(&server->report, server->options, o2_monotonic_ns());
	}
	server->report.ended_ns = o2_monotonic_ns();
	o2_net_report_print(&server->report, server->options);
	return server->report.failed + server->report.wrong > 0 ? O2_CLI_REFUSED : status;
}

int o2_net_serve(struct o2_net_options *options)
{
	const struct o2_lnet_ops ops = {.done = note_done, .event = note_event};
	struct server server = {.options = options};
	const uint32_t pages = o2_net_offer_pages(options, (uint32_t)sysconf(_SC_PAGESIZE));
	int status = o2_net_session_open(options, pages, &ops, &server, &server.session);

	if (status != O2_CLI_OK)
		return status;
	status = serve(&server);
	/* What still waits ends now, and is not to be counted any more. */
	o2_net_session_close(&server.session);
	for (uint32_t i = 0; i < options->noffers; i++)
		o2_net_memory_free(&server.memory[i]);
	return status;
}
