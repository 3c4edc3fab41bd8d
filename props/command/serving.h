/* SPDX-License-Identifier: MIT */
#ifndef O2_PROPS_SERVING_H
#define O2_PROPS_SERVING_H

#include "props/command/commands.h"
#include "props/command/serve.h"

/* One run of serve: what the clients ask for, and the expected outcome. */

#define O2_SERVING_BUFFERS 3u
#define O2_SERVING_BYTES   120000u
#define O2_SERVING_TEXT	   4096u

struct o2_serving_buffer {
	uint32_t portal;
	uint64_t match_bits;
	uint32_t size;
	bool read_only;
	uint8_t bytes[O2_SERVING_BYTES]; /* expected content */
};

/* What is asked for, and the expected outcome. */
struct o2_serving {
	struct o2_commands_run *run;
	struct o2_serve_script *script;
	uint64_t seed;
	uint32_t features, buffers;
	bool verify, json, verbose, truncate;
	bool judge, lst;
	bool plain;  /* no request is too large, has bytes other than announced, or vanishes */
	bool events; /* one output line per event */
	bool stops;  /* serve stops by itself after the last request */
	struct o2_serving_buffer buffer[O2_SERVING_BUFFERS];
	bool connected[O2_SERVE_CLIENTS], vanished[O2_SERVE_CLIENTS];
	uint64_t done, failed, bytes, verified, wrong;
	uint64_t connections;
	char out[O2_SERVING_TEXT], err[O2_SERVING_TEXT];
};

/* Draw the command line, the buffers and the operations of the clients. */
void o2_serving_draw(struct o2_serving *serving);

/* A byte of a stream, computed word by word from the description of ref/base/stream.h and its mixer. */
uint8_t o2_serving_byte(uint64_t seed, uint64_t stream, uint64_t at);

/* Is a PUT or GET accepted, and how many bytes of it?  *buffer: the buffer that it matches; NULL: none. */
bool o2_serving_takes(struct o2_serving *serving, const struct o2_serve_op *op,
		      struct o2_serving_buffer **buffer, uint64_t *length);

#endif
