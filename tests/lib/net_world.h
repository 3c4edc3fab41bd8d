/* SPDX-License-Identifier: MIT */
#ifndef O2_TESTS_NET_WORLD_H
#define O2_TESTS_NET_WORLD_H

#include "cli/cli.h"
#include "cli/net/session.h"
#include "lnd/cm/loop.h"
#include "lst/rpc.h"
#include "quirk/quirk.h"
#include "tests/lib/unit_test.h"

/*
 * Runs the network commands in this process, over an in-process network.  At its other end is a peer that the
 * test controls; it runs in each round of the command's main loop.
 */

#define WORLD_US    UINT64_C(0x000500000a4d0001) /* 10.77.0.1@o2ib */
#define WORLD_PEER  UINT64_C(0x000500000a4d0002)
#define WORLD_PAGES 2400u /* in the peer's arena; its LNet uses the first two */

struct net_world {
	/* Set by the test. */
	void (*start)(void);	    /* called when the peer has been opened */
	void (*round)(void);	    /* called in each round of the command's loop */
	void (*leave)(void);	    /* called before the peer is closed */
	struct o2_conn_config conn; /* configuration of the peer's connections */
	struct o2_quirks quirks;    /* quirks of the peer */
	int listen_error;	    /* the command's listen call fails with this; 0: it succeeds */
	int connect_error;	    /* one connect call fails with this, after `connects` calls; 0: none */
	uint32_t connects;
	/* The peer rejects that many of our requests as stale, and is out of reach then; 0: it rejects none. */
	uint32_t rejects;
	struct o2_lst_rpc *rpc; /* the peer's RPC layer, gets its LNet's events; NULL: none */
	/* The peer. */
	struct o2_cm_loop *wire;
	struct o2_ni ni;
	struct o2_cm *cm;
	struct o2_endpoint endpoint;
	uint32_t nstarted, nended; /* operations that the peer started */
	int status;		   /* of the last of these that failed; 0: none */
	uint32_t nidle_sleeps;	   /* sleeps of the command while its LNet has no messages */
	uint64_t deadline_ms;
	/* The command's standard output and standard error. */
	char out[65536], err[65536];
};

extern struct net_world world;

/* Reset the world: a peer without callbacks or quirks.  A set-up function for cmocka. */
int world_setup(void **state);
/* Reset the world, and set world.start. */
void world_with(void (*start)(void));

/* Run the command line, with its output in world.out and world.err.  Returns the command's exit status. */
int world_run(const char *line);

/* A number in the JSON summary that the command printed; -1: the summary has no such key. */
long world_number(const char *key);

/* length_bytes of the peer's memory, from this page of its arena on.  *iov must live as long as the result. */
struct o2_transfer_memory world_memory(uint32_t page, uint32_t length_bytes, struct o2_iov *iov);

#endif
