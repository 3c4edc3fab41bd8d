/* SPDX-License-Identifier: MIT */
#ifndef O2_CLI_NET_OPTIONS_H
#define O2_CLI_NET_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/limits.h"
#include "lnd/conn/transfer.h"
#include "lst/test.h"
#include "quirk/quirk.h"
#include "wire/msg.h"

/* Command lines of serve, ping, put, get, conform and lst.  Source: docs/peer.md, docs/conform.md, docs/lst.md. */

#define O2_NET_MAX_BUFFERS 16u

/* Most operations at a time: as many as a connection can have credits. */
#define O2_NET_MAX_IN_FLIGHT O2_MAX_QUEUE_DEPTH

/* Defaults for the memory that is offered or used. */
#define O2_NET_PORTAL	   60u /* takes PUTs and GETs */
#define O2_NET_READ_PORTAL 61u /* takes only GETs */
#define O2_NET_MATCH_BITS  0x1234u
#define O2_NET_SEED	   1u /* of the bytes that the memory holds */

/* --checksum auto: the flavour that the peer's own first sum shows. */
#define O2_NET_CHECKSUM_AUTO ((uint32_t)O2_CKSUM_SIGNED + 1u)

enum o2_net_command {
	O2_NET_SERVE = 1u << 0,
	O2_NET_PING = 1u << 1,
	O2_NET_PUT = 1u << 2,
	O2_NET_GET = 1u << 3,
	O2_NET_CONFORM = 1u << 4,
	O2_NET_LST = 1u << 5,
};

/* conform: the kind of peer whose known deviations are no findings. */
enum o2_net_profile {
	O2_NET_STRICT,
	O2_NET_KERNEL,
};

/* The test of lst, which is the word after the NID. */
enum o2_net_lst_test {
	O2_NET_LST_PING,
	O2_NET_LST_READ,
	O2_NET_LST_WRITE,
};

/* lst: values of --check, in the order of o2_net_lst_check_names. */
enum o2_net_lst_check {
	O2_NET_LST_NONE,
	O2_NET_LST_SIMPLE,
	O2_NET_LST_FULL,
};

/* Memory that serve offers. */
struct o2_net_offer {
	uint32_t portal;
	uint64_t match_bits;
	uint32_t size_bytes;
	bool read_only; /* takes only GETs */
};

struct o2_net_options {
	enum o2_net_command command;
	/* Our side. */
	const char *device; /* NULL: the first one */
	uint64_t nid;	    /* 0: from the device's address */
	uint16_t port;	    /* of the connection manager */
	enum o2_reg_mode mode;
	uint32_t queue_depth;
	uint32_t max_frags;
	uint32_t checksum; /* enum o2_cksum_flavour, or O2_NET_CHECKSUM_AUTO */
	bool tolerate_immediate_checksum;
	uint32_t timeout_ms;
	uint32_t ack_timeout, retries, rnr_retries; /* of the queue pairs, as in struct o2_conn_config */
	/* What is moved. */
	uint64_t peer;
	uint32_t portal;
	uint64_t match_bits;
	uint64_t offset; /* of the first operation in flight; the last one's is at most O2_LNET_OFFSET_MAX */
	uint64_t count;
	uint32_t size_bytes;
	uint32_t fragments;
	uint32_t in_flight;
	uint32_t interval_ms; /* ping */
	uint64_t seed;
	bool verify;
	bool accept_short;
	bool no_ack;
	/* serve */
	uint32_t noffers;
	struct o2_net_offer offer[O2_NET_MAX_BUFFERS];
	bool truncate;
	uint32_t features;
	uint64_t requests; /* 0: until a signal */
	struct o2_quirks quirks;
	bool lst;				/* also be a test node of LNet selftest */
	bool lst_quiet;				/* the peer of device loop: errors are told to its client */
	const struct o2_net_lst_node *lst_node; /* of serve --lst; NULL: none */
	/* conform */
	uint32_t read_portal;
	uint32_t place_bytes; /* size of the memory at both portals */
	uint32_t rounds;
	enum o2_net_profile profile;
	const char *only; /* ids, or their beginnings; NULL: all */
	bool list, hostile;
	bool try_lst;		 /* --lst: also try a test node of LNet selftest */
	const char *known, *out; /* paths; NULL: none */
	/* lst: together with size, offset and count (0: not given). */
	enum o2_net_lst_test test;
	enum o2_net_lst_check check;
	uint32_t concurrency;
	uint32_t seconds; /* 0: not given */
	bool force, every_word;
	bool reverse; /* the node is the client, we are the server */
	/* ping, put, get, conform, lst: quirks of the peer that device loop has. */
	struct o2_quirks loop_quirks;
	bool judge;
	struct o2_net_judging *judging; /* of --judge; NULL: none */
	/* What is printed. */
	bool json;
	bool progress;
	bool verbose;
};

/*
 * Read the command line; argv[0] is the command's name.  Returns a positive number, 0 after --help, or -1
 * after a line on stderr.
 */
int o2_net_options_read(int argc, char **argv, struct o2_net_options *options);

/* The offset at the peer of operations in lane `index`: PUTs that are read back must not overlap there. */
uint64_t o2_net_offset(const struct o2_net_options *options, uint32_t index);

/* Room for the default 8 operations in flight, of the largest size, each at its own place (put --verify). */
#define O2_NET_OFFER_BYTES (8u << 20)

/* The least --place-bytes that conform accepts; the default is O2_NET_OFFER_BYTES, as serve offers. */
#define O2_NET_PLACE_MIN_BYTES (2u << 20)

/* lst_options.c: names by value, then NULL; a check of the word after the NID, which returns an exit status. */
extern const char *const o2_net_lst_test_names[], *const o2_net_lst_check_names[];
struct o2_command;
int o2_net_lst_check_options(const struct o2_command *command, const char *test,
			     struct o2_net_options *options);
/* The test that they ask for. */
struct o2_lst_test o2_net_lst_test_of(const struct o2_net_options *options);

/* "serve" and so on. */
const char *o2_net_command_name(enum o2_net_command command);

/* What serve offers by default: memory to write to, and memory to read. */
void o2_net_default_offers(struct o2_net_options *options);

#endif
