/* SPDX-License-Identifier: MIT */
#ifndef O2_CLI_NET_SESSION_H
#define O2_CLI_NET_SESSION_H

#include <stdbool.h>
#include <stdint.h>
#include <time.h>

#include "cli/net/memory.h"
#include "cli/net/network.h"
#include "cli/net/options.h"
#include "lnet/endpoint.h"

/* An endpoint of ours on a network, and the loop that drives it. */

#define O2_NET_LNET_PAGES 2u /* the first pages of the arena are LNet's */

/* What was seen of the peer until there was a connection, for saying why an operation has ended. */
struct o2_net_seen {
	struct o2_watch watch;
	const struct o2_watch *judge; /* of --judge; NULL: none */
	bool connected;
	uint64_t rejects; /* of our requests for a connection */
	uint8_t last_why; /* of the last of them: enum o2_reject_why */
};

struct o2_net_session {
	struct o2_net_network network;
	struct o2_endpoint endpoint;
	uint64_t idle; /* rounds in a row without anything to do */
	uint64_t next_clock_ns;
	struct o2_net_seen seen; /* the network's watch, so a session must not be moved */
};

struct timespec o2_net_timespec(uint64_t duration_ns);

struct o2_ni_config o2_net_ni_config(uint64_t nid, const char *device, uint8_t gid_index,
				     uint32_t arena_pages);
struct o2_node_config o2_net_node_config(const struct o2_net_options *options);
struct o2_lnet_config o2_net_lnet_config(const struct o2_net_options *options);

/*
 * Open the network and the endpoint.  pages: of the arena, without LNet's.  Returns an exit status, after
 * complaining if it is not O2_CLI_OK.
 */
int o2_net_session_open(struct o2_net_options *options, uint32_t pages, const struct o2_lnet_ops *ops,
			void *context, struct o2_net_session *session);
void o2_net_session_close(struct o2_net_session *session);

/*
 * The same in two steps, for several endpoints in turn on one network: open_network clears *session and opens
 * the network; start opens an endpoint, which is stopped before the next one.  start returns 0 or -errno.
 */
int o2_net_session_open_network(struct o2_net_options *options, uint32_t pages,
				struct o2_net_session *session);
int o2_net_session_start(struct o2_net_session *session, const struct o2_net_options *options,
			 struct o2_node_config *node_config, const struct o2_lnet_config *lnet_config,
			 const struct o2_lnet_ops *ops, void *context, struct o2_error *error);
void o2_net_session_stop(struct o2_net_session *session);

/* What is known about a failure beyond its status; side O2_FAULT_NONE: nothing. */
const struct o2_transfer_fault *o2_net_fault(const struct o2_lnet_result *result);

/*
 * Rejects after which the node asks again end no operation, so a peer that rejects always looks silent.  Returns
 * "; the peer has rejected ..", or "" if it has not, if there was a connection, or if the fault is a reject.
 */
#define O2_NET_REJECTS_BYTES 112u
const char *o2_net_rejects_text(const struct o2_net_session *session, const struct o2_transfer_fault *fault,
				char text[O2_NET_REJECTS_BYTES]);

/* Whether code is an errno, which means that the device is lost; if so, this has complained. */
bool o2_net_lost(int code);

/*
 * One round: completions, the connection manager's events, deadlines.  After some rounds without any work it
 * sleeps until there is work, at most until until_ns (of o2_monotonic_ns) or the next clock.  Returns false,
 * after complaining, when the device is lost.
 */
bool o2_net_session_step(struct o2_net_session *session, uint64_t until_ns);

/* Bytes [begin, end) of each offer; those past the offer's end are left out. */
struct o2_net_part {
	uint64_t begin, end;
};
#define O2_NET_WHOLE ((struct o2_net_part){0, UINT64_MAX})

/*
 * Offer serve's memory on an endpoint.  `part` of it is filled with the seed's bytes; the rest is zero.
 * memory: one for each offer.  Returns false when memory runs out.
 */
bool o2_net_offer(const struct o2_net_options *options, const struct o2_net_part *part,
		  const struct o2_arena *arena, struct o2_lnet *lnet, struct o2_net_memory *memory);

/* Pages that all offers take. */
uint32_t o2_net_offer_pages(const struct o2_net_options *options, uint32_t page_bytes);

/* Write a stream's bytes to memory, or their complement: all wrong.  Returns false when memory runs out. */
bool o2_net_fill(const struct o2_arena *arena, const struct o2_transfer_memory *memory, uint64_t seed,
		 uint64_t stream, uint64_t offset, bool complement);

#endif
