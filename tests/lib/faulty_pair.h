/* SPDX-License-Identifier: MIT */
#ifndef O2_TESTS_FAULTY_PAIR_H
#define O2_TESTS_FAULTY_PAIR_H

#include "tests/lib/lnd_pair.h"

/* A pair whose side b has a device that fails when it is told to, in front of the real one. */

/* What b's device does, and what it has done since the pair was opened. */
extern struct faults {
	int fmr_map, fmr_unmap, frd_create, frd_map; /* -errno, or 0 */
	bool frd_short;
	uint32_t fmr_maps, frd_maps; /* that succeeded */
} faults;

extern const struct o2_reg_ops faulty_ops; /* of that device */

/* Both sides small; more of b's configuration is the caller's. */
struct pair *faulty_pair_open(void (*change)(struct o2_ni_config *config));

/* A PUT to b with a sink of that mode, and how it ends. */
void assert_put_refused(struct pair *pair, enum o2_reg_mode mode, int code, const char *rule);
void assert_put_moved(struct pair *pair, enum o2_reg_mode mode);

/* Of o2_ni_get_counts. */
struct o2_ni_pool_counts ni_pool_counts(struct side *side, enum o2_ni_pool_kind kind);

#endif
