/* SPDX-License-Identifier: MIT */
#ifndef O2_TESTS_CM_TRAFFIC_H
#define O2_TESTS_CM_TRAFFIC_H

#include <signal.h>

#include "lnd/cm/rdma.h"
#include "lnd/node/node.h"
#include "props/world/held.h"
#include "tests/device/cm/traffic_op.h"

/*
 * Random PUTs, GETs and IMMEDIATEs between two nodes in two processes, over librdmacm.  Each looks at every
 * byte of its sinks, and after everything that happened at the account of credits of its connections, as far
 * as one end knows it.  What fails may fail, if it says so; what succeeds is exact, and as foretold.
 */

#define TRAFFIC_NID(address) (0x0005000000000000ull | (address))
#define TRAFFIC_ERRNOS	     134
#define TRAFFIC_PEERS	     4u /* that connections are looked for with */

struct traffic_options {
	bool drives; /* asks; else it only answers */
	const char *device;
	uint8_t gid_index;
	uint32_t address;
	uint32_t peer; /* address, likewise; all that follows is for one that drives */
	uint32_t seed;
	uint32_t count;	     /* operations, */
	uint32_t seconds;    /* or as many as this allows; 0: no limit */
	uint32_t kill_every; /* put our queue pair into error before so many; 0: never */
	uint32_t open;	     /* operations at a time, 1 to TRAFFIC_OPEN */
};

struct traffic_slot {
	bool used;
	bool sink; /* of a PUT that we serve */
	struct traffic_op op;
};

/* Operations of ours that ended as foretold, by what they were. */
struct traffic_kinds {
	uint64_t put, get, immediate;
	uint64_t short_put, short_get; /* less than was offered, or than there was room for */
	uint64_t no_match;
	uint64_t large; /* TRAFFIC_LARGE_BYTES and more */
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
	uint32_t open; /* operations of ours */
	uint64_t started, ended, exact, failed, served, served_failed, received, wrong, bytes, up, down;
	uint64_t accounts;	    /* of a connection, found right */
	bool idle;		    /* at the end the interface had everything back */
	struct o2_held most, after; /* of the device: before everything was closed, and when it was */
	struct traffic_kinds kinds;
	uint64_t failed_by[TRAFFIC_ERRNOS];
};

/* traffic_judge.c: what the node is asked and told, and whether that is right. */
extern const struct o2_node_ops traffic_ops;
int traffic_free_slot(const struct traffic *traffic); /* -1: none */
void traffic_done(struct traffic *traffic, const struct o2_transfer_result *result);
/* The account of all connections: to be called when something has happened. */
void traffic_check_accounts(struct traffic *traffic);

/* Returns 0, or -1 and has said why on stderr. */
int traffic_open(struct traffic *traffic, const struct traffic_options *options);
void traffic_close(struct traffic *traffic);

/* Both until *stopped; drive also when everything has been done. */
void traffic_drive(struct traffic *traffic, const volatile sig_atomic_t *stopped);
void traffic_serve(struct traffic *traffic, const volatile sig_atomic_t *stopped);

#endif
