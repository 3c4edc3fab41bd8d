/* SPDX-License-Identifier: MIT */
#ifndef O2_TESTS_BENCH_PAIR_H
#define O2_TESTS_BENCH_PAIR_H

#include "lnd/conn/conn.h"

/* Two ends in one process, each on a device of its own, connected directly: what benchmarks move bytes
 * between.  End 0 starts the operations. */
struct o2_bench_pair {
	struct o2_ni ni[2];
	struct o2_conn *conn[2];
};

/*
 * From the command line: argv[1] and argv[2] name the devices, argv[3] is the index of the GID on both.
 * arena_pages: of each end.  config, ops and context are those of both connections.  Returns 0 or -errno with
 * *error; the program is expected to end then.
 */
int o2_bench_pair_open(struct o2_bench_pair *pair, char **argv, uint32_t arena_pages,
		       const struct o2_conn_config *config, const struct o2_conn_ops *ops, void *context,
		       struct o2_error *error);
void o2_bench_pair_close(struct o2_bench_pair *pair);

/* From now on both ends are behind a remapping that merges: what is described next to each other is so for
 * the device, and one segment.  Every operation must have ended at its initiator.  Returns 0 or -errno. */
int o2_bench_pair_remap(struct o2_bench_pair *pair, struct o2_error *error);

/* Completions of both ends.  Returns how many, or the error that one of them was closed with. */
int o2_bench_pair_progress(struct o2_bench_pair *pair);

/* nob bytes of an end's arena from offset on, virtually contiguous; *iov must live as long as *memory. */
void o2_bench_describe(const struct o2_bench_pair *pair, int end, enum o2_reg_mode mode, uint64_t offset,
		       uint32_t nob, struct o2_iov *iov, struct o2_transfer_memory *memory);

#endif
