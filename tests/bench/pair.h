/* SPDX-License-Identifier: MIT */
#ifndef O2_TESTS_BENCH_PAIR_H
#define O2_TESTS_BENCH_PAIR_H

#include "lnd/conn/conn.h"

/* Two ends in one process, each on its own device, connected directly; end 0 starts the operations. */
struct o2_bench_pair {
	struct o2_ni ni[2];
	struct o2_conn *conn[2];
};

/*
 * Opens the pair from the command line: argv[1] and argv[2] name the devices, argv[3] is the index of the GID
 * on both.  arena_pages: size of each end's arena.  Both connections get config, ops and context.  Returns 0
 * or -errno with *error; the program is expected to exit on an error.
 */
int o2_bench_pair_open(struct o2_bench_pair *pair, char **argv, uint32_t arena_pages,
		       const struct o2_conn_config *config, const struct o2_conn_ops *ops, void *context,
		       struct o2_error *error);
void o2_bench_pair_close(struct o2_bench_pair *pair);

/* Puts both ends behind a remapping that merges: pages described one after the other are contiguous for the
 * device, and form one segment.  Every operation must have ended at its initiator.  Returns 0 or -errno. */
int o2_bench_pair_remap(struct o2_bench_pair *pair, struct o2_error *error);

/* Handles completions of both ends.  Returns their number, or the error that closed a connection. */
int o2_bench_pair_progress(struct o2_bench_pair *pair);

/* Describes nob bytes of an end's arena from offset on, virtually contiguous; *iov must outlive *memory. */
void o2_bench_describe(const struct o2_bench_pair *pair, int end, enum o2_reg_mode mode, uint64_t offset,
		       uint32_t nob, struct o2_iov *iov, struct o2_transfer_memory *memory);

#endif
