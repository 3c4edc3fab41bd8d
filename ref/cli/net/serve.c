/* SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/monotonic.h"
#include "cli/cli.h"
#include "cli/net/commands.h"
#include "cli/net/event.h"
#include "cli/net/lst_node.h"
#include "cli/net/puts.h"
#include "cli/net/report.h"
#include "cli/net/session.h"
#include "lnet/ping.h"
#include "wire/nid.h"

struct server {
	struct o2_net_options *options;
	struct o2_net_session session;
	struct o2_net_memory memory[O2_NET_MAX_BUFFERS];
	struct o2_net_puts *puts; /* with --verify */
	struct o2_net_report report;
	struct o2_net_lst_node lst; /* with --lst */
};

static struct o2_net_put put_of(const struct o2_lnet_event *event)
{
	return (struct o2_net_put){
		.request = event->request,
		.entry = event->entry_tag,
		.offset = event->offset,
		.length_bytes = event->length_bytes,
		.stream = event->hdr->msg.put.hdr_data,
	};
}

/* A PUT has ended: check the bytes that it has brought, if it succeeded. */
static void verify(struct server *server, const struct o2_lnet_event *event)
{
	const struct o2_net_put put = put_of(event);
	const struct o2_transfer_memory *entry =
		event->status == 0 ? &server->memory[event->entry_tag].memory : NULL;
	struct o2_net_wrong wrong;
	const enum o2_net_verdict verdict =
		o2_net_puts_end(server->puts, &put, &server->session.network.ni.arena, entry, &wrong);

	server->report.verified += event->status == 0;
	server->report.not_told_apart += verdict == O2_NET_NOT_TOLD_APART;
	if (verdict != O2_NET_WRONG)
		return;
	server->report.wrong++;
	o2_cli_complain("PUT of %" PRIu64 " bytes to offset %" PRIu64 ": byte %" PRIu64
			" is 0x%02x, not 0x%02x",
			event->length_bytes, event->offset, wrong.at, wrong.got, wrong.want);
}

static void note_event(void *context, const struct o2_lnet_event *event)
{
	struct server *server = context;

	if (o2_net_lst_event(&server->lst, event))
		return;
	o2_net_tell_event(server->options, event);
	if (event->kind == O2_LNET_EVENT_DROPPED || o2_net_is_ping(event->hdr))
		return;
	if (event->kind == O2_LNET_EVENT_PUT && server->puts != NULL)
		verify(server, event);
	if (event->status != 0)
		server->report.failed++;
	else
		o2_net_report_done(&server->report, event->length_bytes, 0);
}

/*
 * A connection has ended.  A fault that an option would have tolerated is always reported; an end that we
 * ourselves brought about in order never is.
 */
static void note_down(void *context, uint64_t nid, const struct o2_transfer_fault *fault)
{
	const struct server *server = context;

	if (fault->tolerable || (server->options->verbose && fault->side != O2_FAULT_NONE))
		o2_net_complain_down(nid, fault);
}

/* A PUT may write from now on. */
static void note_started(void *context, const struct o2_lnet_event *event)
{
	struct server *server = context;
	const struct o2_net_put put = put_of(event);

	if (server->puts != NULL && !o2_net_is_ping(event->hdr) &&
	    event->entry_tag < server->options->noffers)
		o2_net_puts_begin(server->puts, &put);
}

/* A server starts no operations except those of LNet selftest. */
static void note_done(void *context, const struct o2_lnet_result *result)
{
	struct server *server = context;

	o2_net_lst_done(&server->lst, result);
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
	if (options->lst)
		printf("test node of LNet selftest: portals %u, %u and %u\n", O2_LST_PORTAL_TEST,
		       O2_LST_PORTAL_FRAMEWORK, O2_LST_PORTAL_RDMA);
	fflush(stdout);
}

static bool finished(const struct server *server)
{
	const uint64_t requests = server->options->requests;

	/* The last answer must be sent before the connection closes. */
	return requests != 0 && server->report.done + server->report.failed >= requests &&
	       o2_lnet_messages(server->session.endpoint.lnet) == 0;
}

static int serve(struct server *server)
{
	const struct o2_arena *arena = &server->session.network.ni.arena;
	struct o2_error error;
	int status = O2_CLI_OK;

	if (!o2_net_offer(server->options, &O2_NET_WHOLE, arena, server->session.endpoint.lnet,
			  server->memory)) {
		o2_cli_complain("not enough memory for the buffers");
		return O2_CLI_USAGE;
	}
	if (o2_net_lst_open(server->options, &server->session.network.ni, server->session.endpoint.lnet,
			    O2_NET_LNET_PAGES + o2_net_offer_pages(server->options, arena->page_bytes),
			    &server->lst, &error) != 0) {
		o2_cli_complain_error("test node", &error);
		return O2_CLI_USAGE;
	}
	server->options->lst_node = server->lst.node == NULL ? NULL : &server->lst;
	server->session.endpoint.down = note_down;
	announce(server->options);
	server->report.started_ns = o2_monotonic_ns();
	while (o2_net_stop == 0 && !finished(server)) {
		if (!o2_net_session_step(&server->session, UINT64_MAX)) {
			status = O2_CLI_REFUSED;
			break;
		}
		o2_net_lst_round(&server->lst);
		o2_net_report_progress(&server->report, server->options, o2_monotonic_ns());
	}
	server->report.ended_ns = o2_monotonic_ns();
	if (server->report.failed + server->report.wrong + server->lst.wrong > 0)
		status = O2_CLI_REFUSED;
	status = o2_net_report_print(&server->report, server->options, status);
	if (!server->options->json)
		o2_net_lst_print(&server->lst);
	return status;
}

/* What this node itself answers at the offer's place; NULL: nothing. */
static const char *answered_at(const struct o2_net_options *options, const struct o2_net_offer *offer)
{
	if (offer->portal == O2_PING_PORTAL && offer->match_bits == O2_PING_MATCH_BITS)
		return "LNet's pings";
	if (options->lst && o2_lst_request_type(offer->match_bits) >= 0 &&
	    offer->portal == o2_lst_portal_of_service((enum o2_lst_service)offer->match_bits))
		return "requests of LNet selftest";
	return NULL;
}

/* There a buffer would not be reached, or would take what is meant for the node. */
static bool places_are_free(const struct o2_net_options *options)
{
	for (uint32_t i = 0; i < options->noffers; i++) {
		const struct o2_net_offer *offer = &options->offer[i];
		const char *what = answered_at(options, offer);

		if (what == NULL)
			continue;
		o2_cli_complain("buffer %" PRIu32 ": at portal %" PRIu32 ", match bits 0x%" PRIx64
				" this node answers %s",
				i, offer->portal, offer->match_bits, what);
		return false;
	}
	return true;
}

int o2_net_serve(struct o2_net_options *options)
{
	const struct o2_lnet_ops ops = {.done = note_done, .started = note_started, .event = note_event};
	struct server server = {.options = options};
	const uint32_t page_bytes = (uint32_t)sysconf(_SC_PAGESIZE);
	const uint32_t pages =
		o2_net_offer_pages(options, page_bytes) + o2_net_lst_pages(options, page_bytes);
	int status;

	if (!places_are_free(options))
		return O2_CLI_USAGE;
	server.puts = options->verify ? o2_net_puts_create(options->seed) : NULL;
	if (options->verify && server.puts == NULL) {
		o2_cli_complain("not enough memory for --verify");
		return O2_CLI_USAGE;
	}
	status = o2_net_session_open(options, pages, &ops, &server, &server.session);
	if (status != O2_CLI_OK) {
		free(server.puts);
		return status;
	}
	status = serve(&server);
	/* What is still under way ends now, and is not counted any more. */
	o2_net_lst_stop(&server.lst);
	o2_net_session_close(&server.session);
	o2_net_lst_close(&server.lst);
	for (uint32_t i = 0; i < options->noffers; i++)
		o2_net_memory_free(&server.memory[i]);
	free(server.puts);
	return status;
}
