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
 * The network commands in this process, over a network whose other end is the test's: a peer that does what
 * the test says, in each round of the command's own loop.
 */

#define WORLD_US    UINT64_C(0x000500000a4d0001) /* 10.77.0.1@o2ib */
#define WORLD_PEER  UINT64_C(0x000500000a4d0002)
#define WORLD_PAGES 2400u /* of the peer's arena; the first two are its LNet's */

struct net_world {
	/* The test's wishes. */
	void (*start)(void);	    /* the peer is there */
	void (*round)(void);	    /* once in each round */
	void (*leave)(void);	    /* the peer is about to go */
	struct o2_conn_config conn; /* of the peer's */
	struct o2_quirks quirks;    /* likewise */
	int listen_error;	    /* what becomes of our listening; 0: it goes well */
	int connect_error;	    /* likewise of a request of ours, behind this many; 0: all go well */
	uint32_t connects;
	struct o2_lst_rpc *rpc; /* of the peer, told of what its LNet is; NULL: none */
	/* The peer. */
	struct o2_cm_loop *wire;
	struct o2_ni ni;
	struct o2_cm *cm;
	struct o2_endpoint endpoint;
	uint32_t nstarted, nended; /* operations of its own */
	int status;		   /* of the last of them that failed; 0: none */
	uint32_t nidle_sleeps;	   /* of the command, with nothing of LNet's under way */
	uint64_t deadline_ms;
	/* What the command has printed. */
	char out[65536], err[65536];
};

extern struct net_world world;

/* Nothing is asked of the peer yet, and it does nothing; a set-up of cmocka. */
int world_setup(void **state);
/* The same, but for what happens when it is there. */
void world_with(void (*start)(void));

/* Run the command line; what it prints is in world.out and world.err.  Returns its exit status. */
int world_run(const char *line);

/* A number of the JSON summary; -1: it has none. */
long world_number(const char *key);

/* Memory of the peer's, from that page of its arena on. */
struct o2_transfer_memory world_memory(uint32_t page, uint32_t length_bytes, struct o2_iov *iov);

#endif
