/* SPDX-License-Identifier: MIT */
#ifndef O2_PROPS_HOSTILE_NET_H
#define O2_PROPS_HOSTILE_NET_H

#include "lnet/endpoint.h"
#include "props/hostile/hostile_internal.h"
#include "props/hostile/hostile_process.h"
#include "props/world/network.h"

/*
 * The liar on a device of this machine: its victim is behind a network (docs/hostile.md, "Over a network").
 */

struct o2_net_liar_options {
	const char *device;
	uint8_t gid_index;
	/* The victim: a process of ours on this device .. */
	const char *victim_device;
	const char *mutant; /* of the victim; NULL: none */
	/* .. or whoever has this NID. */
	uint64_t peer;
	uint16_t port;
	bool served; /* PUTs to this portal with these match bits find at least 9000 bytes, and GETs too */
	uint32_t portal;
	uint64_t match_bits;
	uint32_t patience_ms; /* how long a peer may take to give up on one that is silent */
	uint32_t closing_ms;  /* .. and to close when it has to at once */
	enum o2_hostile_profile profile;
	o2_network_open_fn open_network;
	const struct o2_watch
		*watch[O2_HOSTILE_NIS]; /* who hears the liar and the honest node; NULL: nobody */
	uint32_t honest_address; /* 0: the honest node has the liar's, which not every network allows */
};

enum o2_net_outcome {
	O2_NET_MET,
	O2_NET_TOLERATED, /* not met, as its profile knows of such peers */
	O2_NET_NOT_MET,
	O2_NET_NOT_TRIED, /* the peer cannot be made to do what would be needed */
};

struct o2_net_liar {
	struct o2_hostile h; /* first: the worlds below get it back from there */
	struct o2_net_liar_options options;
	struct o2_network *network;
	struct o2_victim_child child;
	/* Towards a peer that takes no orders: */
	struct o2_endpoint endpoint;
	bool waiting;			/* for the honest peer's operation */
	int status;			/* that it ended with */
	struct o2_transfer_fault fault; /* .. and why; .code 0: nothing is known */
	uint64_t length_bytes;
};

/* props/hostile/hostile_net.c: what both have. */

/* The two interfaces, the honest one with this network number in its NID; 0 or -errno. */
int o2_net_liar_attach(struct o2_net_liar *net, uint32_t honest_network, struct o2_error *error);
/* What it is that cannot be had on its device, into why[O2_VICTIM_WHY_BYTES]. */
void o2_net_liar_refused(const struct o2_net_liar *net, const struct o2_error *error, char *why);
void o2_net_liar_detach(struct o2_net_liar *net);
/* A fresh queue pair for the liar; and, unless its requests are what is tried, a good connection. */
bool o2_net_liar_begin(struct o2_net_liar *net, const struct o2_misbehaviour *what, char *why);
void o2_net_liar_end(struct o2_net_liar *net);
/*
 * Ask for a connection, on a queue pair that is fresh, with what is spoiled on purpose; it is there, or
 * *why.
 */
bool o2_net_liar_connect(struct o2_net_liar *net, const struct o2_liar_spoil *spoil, char *why);
/* Events of this process.  How many. */
int o2_net_liar_pump(struct o2_net_liar *net);
/* Nothing that the liar or the network owes an answer to. */
bool o2_net_liar_quiet(const struct o2_net_liar *net);

/* props/hostile/hostile_far.c: a victim of ours in another process.  False: *why says why there is none. */
bool o2_far_open(struct o2_net_liar *net, char *why);
void o2_far_close(struct o2_net_liar *net);
enum o2_net_outcome o2_far_try(struct o2_net_liar *net, const struct o2_misbehaviour *what, char *why);

/* props/hostile/hostile_stranger.c: whoever has the NID.  False: *why says why it cannot be reached. */
bool o2_stranger_open(struct o2_net_liar *net, char *why);
void o2_stranger_close(struct o2_net_liar *net);
enum o2_net_outcome o2_stranger_try(struct o2_net_liar *net, const struct o2_misbehaviour *what, char *why);

/*
 * props/hostile/hostile_honest.c: an honest node asks the peer; false: *why says what was wrong.  Before the
 * first lie it asks for more than after each.
 */
bool o2_honest_begins(struct o2_net_liar *net, char *why);
bool o2_honest_asks(struct o2_net_liar *net, char *why);

#endif
