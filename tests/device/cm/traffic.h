/* SPDX-License-Identifier: MIT */
#ifndef O2_TESTS_CM_TRAFFIC_H
#define O2_TESTS_CM_TRAFFIC_H

#include <signal.h>

#include "lnd/cm/rdma.h"
#include "lnd/node/node.h"
#include "props/world/held.h"
#include "tests/device/cm/traffic_op.h"

/*
 * Random PUTs, GETs and IMMEDIATEs between two nodes in two processes, over librdmacm.  Each node checks
 * every byte of its sinks.  After every event it checks its connections' credits, as far as one end knows
 * them.  An operation may fail if it says so; if it succeeds, its bytes and result are exactly as foretold.
 */

#define TRAFFIC_NID(address) (0x0005000000000000ull | (address))
#define TRAFFIC_ERRNOS	     134
#define TRAFFIC_PEERS	     4u /* peers whose connections are checked */

struct traffic_options {
	bool drives; /* starts operations; false: only serves the peer's */
	const char *device;
	uint8_t gid_index;
	uint32_t address;
	uint32_t peer; /* address of the peer; this member and the rest are for a node that drives */
	uint32_t seed;
	uint32_t count;	     /* operations to start */
	uint32_t seconds;    /* stop after this time; 0: no limit */
	uint32_t kill_every; /* operations between two errors that we force on our queue pair; 0: never */
	uint32_t open;	     /* operations at a time, 1 to TRAFFIC_OPEN */
};

struct traffic_slot {
	bool used;
	bool sink; /* the slot is the sink of a PUT that we serve */
	struct traffic_op op;
};

/* Our operations that ended as foretold, by kind and property. */
struct traffic_kinds {
	uint64_t put, get, immediate;
	uint64_t short_put, short_get; /* moved less than was offered, or than the sink had room for */
	uint64_t no_match;
	uint64_t large; /* at least TRAFFIC_LARGE_BYTES */
	uint64_t mode[O2_REG_MODES];
};

struct traffic {
	struct traffic_options options;
	uint64_t peer[TRAFFIC_PEERS]; /* NIDs that have been connected */
	uint32_t npeers;
	struct o2_ni ni;
	struct o2_cm *cm;
	struct o2_node *node;
	struct traffic_slot slot[TRAFFIC_SLOTS];
	uint32_t open; /* our operations that have not ended */
	uint64_t started, ended, exact, failed, served, served_failed, received, wrong, bytes, up, down;
	uint64_t accounts;	    /* credit accounts checked and found right */
	bool idle;		    /* at the end the interface had all its resources back */
	struct o2_held most, after; /* resources of the device held before and after everything was closed */
	struct traffic_kinds kinds;
	uint64_t failed_by[TRAFFIC_ERRNOS];
};

/* traffic_judge.c: the callbacks of the node, and the checks of what they report. */
extern const struct o2_node_ops traffic_ops;
int traffic_free_slot(const struct traffic *traffic); /* -1: none */
void traffic_done(struct traffic *traffic, const struct o2_transfer_result *result);
/* Checks the credit accounts of all connections; call it after every event. */
void traffic_check_accounts(struct traffic *traffic);

/* Returns 0, or -1 after it has printed the reason to stderr. */
int traffic_open(struct traffic *traffic, const struct traffic_options *options);
void traffic_close(struct traffic *traffic);

/* Both run until *stopped; traffic_drive also returns when all operations have ended. */
void traffic_drive(struct traffic *traffic, const volatile sig_atomic_t *stopped);
void traffic_serve(struct traffic *traffic, const volatile sig_atomic_t *stopped);

#endif
