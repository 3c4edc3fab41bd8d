/* SPDX-License-Identifier: MIT */
#ifndef O2_PROPS_HOSTILE_NET_H
#define O2_PROPS_HOSTILE_NET_H

#include "lnet/endpoint.h"
#include "props/hostile/hostile_internal.h"
#include "props/hostile/hostile_process.h"
#include "props/world/network.h"

/*
 * The liar on a device of this machine; its victim is reached over a network (docs/hostile.md, "Over a network").
 */

struct o2_net_liar_options {
	const char *device;
	uint8_t gid_index;
	/* The victim: a process of this program on this device .. */
	const char *victim_device;
	const char *mutant; /* of the victim; NULL: none */
	/* .. or any peer with this NID. */
	uint64_t peer;
	uint16_t port;
	bool served; /* PUTs and GETs to this portal with these match bits reach at least 9000 bytes */
	uint32_t portal;
	uint64_t match_bits;
	uint32_t patience_ms; /* time in which a peer must time out on a silent one */
	uint32_t closing_ms;  /* .. and in which it must close when it has to close at once */
	enum o2_hostile_profile profile;
	o2_network_open_fn open_network;
	const struct o2_watch
		*watch[O2_HOSTILE_NIS]; /* watches of the liar and of the honest node; NULL: none */
	uint32_t honest_address;	/* 0: the honest node has the liar's; not every network allows that */
};

enum o2_net_outcome {
	O2_NET_MET,
	O2_NET_TOLERATED, /* not met, but the profile allows this */
	O2_NET_NOT_MET,
	O2_NET_NOT_TRIED, /* the peer cannot be brought into the required state */
};

struct o2_net_liar {
	struct o2_hostile h; /* must be first: the worlds below cast it back */
	struct o2_net_liar_options options;
	struct o2_network *network;
	struct o2_victim_child child;
	/* For a peer that accepts no orders: */
	struct o2_endpoint endpoint;
	bool waiting;			/* waiting for the honest node's operation to end */
	int status;			/* status of that operation */
	struct o2_transfer_fault fault; /* .. and the reason; .code 0: unknown */
	uint64_t length_bytes;
};

/* props/hostile/hostile_net.c: for both kinds of victim. */

/* Open both interfaces, the honest one with this network number in its NID; 0 or -errno. */
int o2_net_liar_attach(struct o2_net_liar *net, uint32_t honest_network, struct o2_error *error);
/* Write to why[O2_VICTIM_WHY_BYTES] what could not be opened on which device. */
void o2_net_liar_refused(const struct o2_net_liar *net, const struct o2_error *error, char *why);
void o2_net_liar_detach(struct o2_net_liar *net);
/* Create a fresh queue pair for the liar, and a good connection unless requests or replies are tried. */
bool o2_net_liar_begin(struct o2_net_liar *net, const struct o2_misbehaviour *what, char *why);
void o2_net_liar_end(struct o2_net_liar *net);
/*
 * Request a connection on a fresh queue pair, with this change.  True: it is established; else *why says why
 * not.
 */
bool o2_net_liar_connect(struct o2_net_liar *net, const struct o2_liar_spoil *spoil, char *why);
/* Handle events of this process; returns their number. */
int o2_net_liar_pump(struct o2_net_liar *net);
/* True if nothing is outstanding at the liar or the network. */
bool o2_net_liar_quiet(const struct o2_net_liar *net);

/* props/hostile/hostile_far.c: a victim of this program in another process.  False: *why says why there is none. */
bool o2_far_open(struct o2_net_liar *net, char *why);
void o2_far_close(struct o2_net_liar *net);
enum o2_net_outcome o2_far_try(struct o2_net_liar *net, const struct o2_misbehaviour *what, char *why);

/* props/hostile/hostile_stranger.c: any peer with the NID.  False: *why says why it cannot be reached. */
bool o2_stranger_open(struct o2_net_liar *net, char *why);
void o2_stranger_close(struct o2_net_liar *net);
enum o2_net_outcome o2_stranger_try(struct o2_net_liar *net, const struct o2_misbehaviour *what, char *why);

/*
 * props/hostile/hostile_honest.c: an honest node sends requests to the peer; false: *why says what was
 * wrong.  It asks for more before the first lie than after each lie.
 */
bool o2_honest_asks(struct o2_net_liar *net, bool first, char *why);

#endif
