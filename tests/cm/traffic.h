/* SPDX-License-Identifier: MIT */
#ifndef O2_TESTS_CM_TRAFFIC_H
#define O2_TESTS_CM_TRAFFIC_H

#include <signal.h>

#include "lnd/cm_rdma.h"
#include "lnd/node.h"
#include "tests/cm/traffic_op.h"

/*
 * Random PUTs and GETs between two nodes in two processes, over librdmacm.  Each looks at every byte of its
 * sinks.  What fails may fail, if it says so; what succeeds is exact.
 */

#define TRAFFIC_NID(address) (0x0005000000000000ull | (address))
#define TRAFFIC_ERRNOS	     134

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

struct traffic {
	struct traffic_options options;
	struct o2_ni ni;
	struct o2_cm *cm;
	struct o2_node *node;
	struct traffic_slot slot[TRAFFIC_SLOTS];
	uint32_t open; /* operations of ours */
	uint64_t started, ended, exact, failed, served, served_failed, wrong, bytes, up, down;
	uint64_t failed_by[TRAFFIC_ERRNOS];
};

uint64_t traffic_now_ms(void);

/* Returns 0, or -1 and has said why on stderr. */
int traffic_open(struct traffic *traffic, const struct traffic_options *options);
void traffic_close(struct traffic *traffic);

/* Both until *stopped; drive also when everything has been done. */
void traffic_drive(struct traffic *traffic, const volatile sig_atomic_t *stopped);
void traffic_serve(struct traffic *traffic, const volatile sig_atomic_t *stopped);

#endif
