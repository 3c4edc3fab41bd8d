/* SPDX-License-Identifier: MIT */
#ifndef O2_TESTS_BENCH_BARE_H
#define O2_TESTS_BENCH_BARE_H

#include "lnd/ni/ni.h"

/*
 * The verbs of PUTs and GETs without a transport: SENDs and RDMA WRITEs of the same sizes, in the same chains
 * and the same order as a connection posts them, between two queue pairs in one process.  No message is
 * encoded or decoded, no memory is registered, no credits are counted.  A connection can at best be as fast.
 */
#define O2_BARE_MAX_WRITES O2_MAX_FRAGS

struct o2_bare_end {
	struct ibv_cq *cq;
	struct ibv_qp *qp;
	struct ibv_pd *pd;
	struct ibv_mr *arena;	 /* registered once, when the end is opened */
	struct ibv_mr *data;	 /* the current transfer's memory: the arena, or a region of its own */
	struct ibv_mr *messages; /* the message that is sent, and a slot for each receive */
	uint8_t *message;
};

struct o2_bare {
	struct o2_bare_end end[2];
	int failed;
};

/* What one operation posts, taken from the results of the connection. */
struct o2_bare_shape {
	uint32_t transfer_bytes;
	uint32_t nwr;	 /* RDMA WRITEs, 1 to O2_BARE_MAX_WRITES, of equal length */
	uint32_t nfrags; /* fragments in the sink's descriptor */
	bool registers;	 /* ibv_reg_mr and ibv_dereg_mr at both ends for each transfer */
};

/* Uses the devices and arenas of two open interfaces.  Returns 0 or -errno; call o2_bare_close in either
 * case. */
int o2_bare_open(struct o2_bare *bare, struct o2_ni *ni, struct o2_error *error);
void o2_bare_close(struct o2_bare *bare);

/* Do one PUT from end 0 to end 1, or one GET from end 1 to end 0, and wait for every completion.  Return 0 or
 * -errno. */
int o2_bare_put(struct o2_bare *bare, const struct o2_bare_shape *shape);
int o2_bare_get(struct o2_bare *bare, const struct o2_bare_shape *shape);

#endif
