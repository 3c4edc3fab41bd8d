/* SPDX-License-Identifier: MIT */
#ifndef O2_PROPS_SERVE_H
#define O2_PROPS_SERVE_H

#include <stdbool.h>
#include <stdint.h>

#include "props/command/command.h"

/*
 * `o2ref serve` in a forked child, on a network inside that child, with clients that connect, ask, leave, and come
 * back with another identity.
 */

#define O2_SERVE_CLIENTS   2u
#define O2_SERVE_OPS	   12u
#define O2_SERVE_OP_BYTES  100000u
#define O2_SERVE_IMMEDIATE 3976u /* docs/wire.md: longest payload of an IMMEDIATE */
#define O2_SERVE_SINK	   3960u /* of a ping: docs/peer.md, "Ping" */

enum o2_serve_kind {
	O2_SERVE_PUT,
	O2_SERVE_GET,
	O2_SERVE_PING,
	O2_SERVE_LEAVE,	 /* disconnect */
	O2_SERVE_VANISH, /* the client goes without a disconnect */
};

/* One operation of a client.  Operations run one after the other. */
struct o2_serve_op {
	enum o2_serve_kind kind;
	uint32_t client;
	uint32_t portal;
	uint64_t match_bits, offset;
	uint32_t bytes;
	bool ack;	 /* PUT: ask for an ACK */
	uint64_t stream; /* PUT: stream id that it announces for its bytes */
	int fails;	 /* PUT by RDMA: errno reported when its bytes have arrived; 0: success */
	/* The outcome. */
	bool ended;
	int status;
	uint64_t length_bytes;
	uint8_t data[O2_SERVE_OP_BYTES]; /* PUT: bytes to send; GET, PING: bytes received */
};

/* Shared with the child of serve, which stores the outcomes. */
struct o2_serve_script {
	uint16_t port;
	uint32_t nops;
	struct o2_serve_op op[O2_SERVE_OPS];
	bool was_told; /* serve was still running after all operations, and was told to stop */
};

/* The NID of the server, and the last number of the first client's. */
#define O2_SERVE_NID   "10.77.0.9@o2ib"
#define O2_SERVE_FIRST 21u /* first client: 10.77.0.21 */

/* Run the words, the first of which is serve. */
void o2_serve_execute(struct o2_command_run *run, struct o2_serve_script *script);

#endif
