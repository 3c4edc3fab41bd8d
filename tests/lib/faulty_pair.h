/* SPDX-License-Identifier: MIT */
#ifndef O2_TESTS_FAULTY_PAIR_H
#define O2_TESTS_FAULTY_PAIR_H

#include "tests/lib/lnd_pair.h"

/* A pair whose side b registers memory through faulty_ops, a wrapper of the device that fails on demand. */

/* The failures that faulty_ops injects, and counts since the pair was opened. */
extern struct faults {
	int fmr_map, fmr_unmap, frd_create, frd_map; /* -errno to fail with; 0: do not */
	bool frd_short;
	uint32_t fmr_maps, frd_maps; /* calls that succeeded */
} faults;

extern const struct o2_reg_ops faulty_ops; /* the wrapper's calls */

/* Open a pair of interfaces with small pools.  change: adjusts b's configuration; NULL: nothing to adjust. */
struct pair *faulty_pair_open(void (*change)(struct o2_ni_config *config));

/* Send a PUT to b, whose sink uses this registration mode: b refuses it by the rule, or it moves 9000 bytes. */
void assert_put_refused(struct pair *pair, enum o2_reg_mode mode, int code, const char *rule);
void assert_put_moved(struct pair *pair, enum o2_reg_mode mode);

/* The counts of one kind of pool, from o2_ni_get_counts. */
struct o2_ni_pool_counts ni_pool_counts(struct side *side, enum o2_ni_pool_kind kind);

#endif
