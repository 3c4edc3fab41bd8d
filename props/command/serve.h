/* SPDX-License-Identifier: MIT */
#ifndef O2_PROPS_SERVE_H
#define O2_PROPS_SERVE_H

#include <stdbool.h>
#include <stdint.h>

#include "props/command/command.h"

/*
 * `o2ref serve` in a process of its own, on a network inside that process, with the clients that its users
 * have: they come, ask, leave, and come back as others.
 */

#define O2_SERVE_CLIENTS   2u
#define O2_SERVE_OPS	   12u
#define O2_SERVE_OP_BYTES  100000u
#define O2_SERVE_IMMEDIATE 3976u /* docs/wire.md: the longest payload of a message */
#define O2_SERVE_SINK	   3960u /* of a ping: docs/peer.md, "Ping" */

enum o2_serve_kind {
	O2_SERVE_PUT,
	O2_SERVE_GET,
	O2_SERVE_PING,
	O2_SERVE_LEAVE,	 /* in order */
	O2_SERVE_VANISH, /* nobody hears of it */
};

/* What a client does; one after the other. */
struct o2_serve_op {
	enum o2_serve_kind kind;
	uint32_t client;
	uint32_t portal;
	uint64_t match_bits, offset;
	uint32_t bytes;
	bool ack;	 /* PUT */
	uint64_t stream; /* PUT: what it says of its bytes */
	int fails;	 /* PUT by RDMA: the errno that is told when its bytes are there; 0: it goes well */
	/* What came of it. */
	bool ended;
	int status;
	uint64_t length_bytes;
	uint8_t data[O2_SERVE_OP_BYTES]; /* PUT: those that it brings; GET, PING: those that came */
};

/* What came of it comes back from the process of serve. */
struct o2_serve_script {
	uint16_t port;
	uint32_t nops;
	struct o2_serve_op op[O2_SERVE_OPS];
	bool was_told; /* it went on after all of that, and was told to stop */
};

/* The NID of a client, and that of the server. */
#define O2_SERVE_NID   "10.77.0.9@o2ib"
#define O2_SERVE_FIRST 21u /* 10.77.0.21 is the first client's */

/* One run of the words, of which the first is serve. */
void o2_serve_execute(struct o2_command_run *run, struct o2_serve_script *script);

#endif
