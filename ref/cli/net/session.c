/* SPDX-License-Identifier: MIT */
#include "cli/net/session.h"

#include <errno.h>
#include <inttypes.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/monotonic.h"
#include "cli/cli.h"
#include "cli/net/lst_node.h"
#include "wire/nid.h"
#include "wire/reject.h"

#define SPINS	       200u /* rounds without work before the loop sleeps */
#define MAX_RESOLVE_MS 5000u
#define CLOCK_EVERY_NS (250u * O2_NS_PER_MS)

/*
 * What one peer can have open: operations in flight, each with its ACK or REPLY, and messages that the peer
 * has received, but whose completions are still to come.  No operation in flight may be refused for these.
 */
#define OPEN_PER_PEER (O2_NET_MAX_IN_FLIGHT + 2 * O2_MAX_QUEUE_DEPTH)
#define PEERS	      16u /* peers that may all do so at a time */

struct timespec o2_net_timespec(uint64_t duration_ns)
{
	return (struct timespec){
		.tv_sec = (time_t)(duration_ns / O2_NS_PER_S),
		.tv_nsec = (long)(duration_ns % O2_NS_PER_S),
	};
}

struct o2_ni_config o2_net_ni_config(uint64_t nid, const char *device, uint8_t gid_index,
				     uint32_t arena_pages)
{
	return (struct o2_ni_config){
		.device = device,
		.port = 1,
		.gid_index = gid_index,
		.nid = nid,
		.incarnation = o2_wall_ns() / O2_NS_PER_US,
		.dma_kind = O2_DMA_BUS,
		.arena_pages = arena_pages,
		.plain_arena = true,
	};
}

struct o2_node_config o2_net_node_config(const struct o2_net_options *options)
{
	struct o2_node_config config = O2_NODE_DEFAULTS;

	config.conn.queue_depth = options->queue_depth;
	config.conn.max_frags = options->max_frags;
	config.conn.max_transfers = OPEN_PER_PEER + o2_net_lst_messages(options);
	config.max_waiting = config.conn.max_transfers;
	config.conn.timeout_ms = options->timeout_ms;
	config.conn.ack_timeout = (uint8_t)options->ack_timeout;
	config.conn.retry_count = (uint8_t)options->retries;
	config.conn.rnr_retry_count = (uint8_t)options->rnr_retries;
	config.conn.cksum_auto = options->checksum == O2_NET_CHECKSUM_AUTO;
	if (!config.conn.cksum_auto)
		config.conn.cksum_flavour = (enum o2_cksum_flavour)options->checksum;
	config.conn.wire.max_frags = options->max_frags;
	config.conn.wire.tolerate_immediate_checksum = options->tolerate_immediate_checksum;
	config.port = options->port;
	config.listen = true;
	config.use_privileged_port = geteuid() == 0;
	config.resolve_timeout_ms =
		options->timeout_ms < MAX_RESOLVE_MS ? options->timeout_ms : MAX_RESOLVE_MS;
	o2_quirks_bend_conn(&options->quirks, &config.conn);
	return config;
}

struct o2_lnet_config o2_net_lnet_config(const struct o2_net_options *options)
{
	struct o2_lnet_config config = O2_LNET_DEFAULTS;

	config.nid = options->nid;
	config.interface_cookie = o2_wall_ns();
	config.ping_features = options->features;
	config.first_page = 0;
	config.max_messages = PEERS * OPEN_PER_PEER;
	config.response_timeout_ms = options->timeout_ms;
	o2_net_lst_make_room(options, &config);
	return config;
}

static uint64_t tick(struct o2_net_session *session)
{
	const uint64_t now_ns = o2_monotonic_ns();

	if (now_ns >= session->next_clock_ns) {
		o2_endpoint_clock(&session->endpoint, now_ns / O2_NS_PER_MS);
		session->next_clock_ns = now_ns + CLOCK_EVERY_NS;
	}
	return now_ns;
}

/*
 * A client works even where it cannot listen, but then a peer that wants to connect to us cannot.
 */
static int open_endpoint(struct o2_net_session *session, const struct o2_net_options *options,
			 struct o2_node_config *node_config, const struct o2_lnet_config *lnet_config,
			 const struct o2_lnet_ops *ops, void *context, struct o2_error *error)
{
	struct o2_net_network *network = &session->network;
	int rc = o2_endpoint_open(&network->ni, network->cm, node_config, lnet_config, ops, context,
				  &session->endpoint, error);

	if (options->command == O2_NET_SERVE || (rc != -EADDRINUSE && rc != -EACCES))
		return rc;
	if (options->verbose)
		o2_cli_complain(
			rc == -EADDRINUSE
				? "port %u is taken, so the peer cannot connect to us"
				: "no permission to listen on port %u, so the peer cannot connect to us",
			options->port);
	node_config->listen = false;
	return o2_endpoint_open(&network->ni, network->cm, node_config, lnet_config, ops, context,
				&session->endpoint, error);
}

static void see(void *context, const struct o2_watched *watched)
{
	struct o2_net_session *session = context;
	struct o2_net_seen *seen = &session->seen;
	struct o2_reject record;

	o2_watch_tell(seen->judge, watched);
	if (watched->kind == O2_WATCHED_REPLY) {
		seen->connected = true;
		session->network.ni.config.watch = seen->judge; /* nothing more to see */
	}
	if (watched->ours || watched->kind != O2_WATCHED_REJECT)
		return;
	seen->rejects++;
	seen->last_why = o2_reject_decode(watched->bytes, watched->length_bytes, &record, NULL) == 0
				 ? record.ibr_why
				 : 0;
}

int o2_net_session_open_network(struct o2_net_options *options, uint32_t pages,
				struct o2_net_session *session)
{
	struct o2_net_seen *seen = &session->seen;

	memset(session, 0, sizeof(*session));
	if (!o2_net_network_open(options, O2_NET_LNET_PAGES + pages, &session->network))
		return O2_CLI_USAGE;
	*seen = (struct o2_net_seen){.watch = {session, see}, .judge = session->network.ni.config.watch};
	session->network.ni.config.watch = &seen->watch;
	return O2_CLI_OK;
}

const char *o2_net_rejects_text(const struct o2_net_session *session, const struct o2_transfer_fault *fault,
				char text[O2_NET_REJECTS_BYTES])
{
	const struct o2_net_seen *seen = &session->seen;
	const char *name = o2_reject_why_name(seen->last_why);

	if (seen->rejects == 0 || seen->connected || fault->side == O2_FAULT_REJECTED)
		return "";
	snprintf(text, O2_NET_REJECTS_BYTES,
		 "; the peer has rejected all %" PRIu64
		 " requests for a connection, the last as %s (reason %u)",
		 seen->rejects, name != NULL ? name : "unknown", seen->last_why);
	return text;
}

int o2_net_session_start(struct o2_net_session *session, const struct o2_net_options *options,
			 struct o2_node_config *node_config, const struct o2_lnet_config *lnet_config,
			 const struct o2_lnet_ops *ops, void *context, struct o2_error *error)
{
	const int rc = open_endpoint(session, options, node_config, lnet_config, ops, context, error);

	session->idle = 0;
	session->next_clock_ns = 0;
	/* Deadlines count from now on, not from the clock's zero. */
	if (rc == 0)
		tick(session);
	return rc;
}

void o2_net_session_stop(struct o2_net_session *session)
{
	o2_endpoint_close(&session->endpoint);
}

int o2_net_session_open(struct o2_net_options *options, uint32_t pages, const struct o2_lnet_ops *ops,
			void *context, struct o2_net_session *session)
{
	struct o2_node_config node_config;
	struct o2_lnet_config lnet_config;
	struct o2_error error;

	if (o2_net_session_open_network(options, pages, session) != O2_CLI_OK)
		return O2_CLI_USAGE;
	node_config = o2_net_node_config(options);
	lnet_config = o2_net_lnet_config(options);
	if (o2_net_session_start(session, options, &node_config, &lnet_config, ops, context, &error) != 0) {
		o2_cli_complain_error("cannot start", &error);
		o2_net_network_close(&session->network);
		return O2_CLI_USAGE;
	}
	return O2_CLI_OK;
}

void o2_net_session_close(struct o2_net_session *session)
{
	o2_endpoint_close(&session->endpoint);
	o2_net_network_close(&session->network);
}

const struct o2_transfer_fault *o2_net_fault(const struct o2_lnet_result *result)
{
	static const struct o2_transfer_fault none;

	return result->fault != NULL ? result->fault : &none;
}

bool o2_net_lost(int code)
{
	if (code < 0)
		o2_cli_complain("the device is lost: %s", strerror(-code));
	return code < 0;
}

/* A signal that comes just before the sleep is noticed at the next clock at the latest. */
static int sleep_until(struct o2_net_session *session, uint64_t until_ns)
{
	const uint64_t wake_ns = until_ns < session->next_clock_ns ? until_ns : session->next_clock_ns;
	const uint64_t now_ns = o2_monotonic_ns();

	return wake_ns > now_ns
		       ? o2_net_network_sleep(&session->network, &session->endpoint, wake_ns - now_ns)
		       : 0;
}

bool o2_net_session_step(struct o2_net_session *session, uint64_t until_ns)
{
	const struct o2_lnet *lnet = session->endpoint.lnet;
	const uint32_t messages = o2_lnet_messages(lnet);
	const uint64_t now_ns = tick(session);
	int completions = o2_node_progress(session->endpoint.node);
	int events = o2_net_network_progress(&session->network, now_ns / O2_NS_PER_MS);
	/* An operation that a deadline has ended is no event, but the caller must see its end all the same. */
	const bool worked = completions + events > 0 || o2_lnet_messages(lnet) != messages;

	if (o2_net_lost(events))
		return false;
	session->idle = worked ? 0 : session->idle + 1;
	if (session->idle > SPINS)
		return !o2_net_lost(sleep_until(session, until_ns));
	if (session->idle > 0)
		sched_yield();
	return true;
}
