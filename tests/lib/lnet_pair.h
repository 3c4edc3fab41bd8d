/* SPDX-License-Identifier: MIT */
#ifndef O2_TESTS_LNET_PAIR_H
#define O2_TESTS_LNET_PAIR_H

#include "mem/kmap.h"
#include "props/world/lnet_pair.h"
#include "tests/lib/unit_test.h"

/* Two nodes' LNets that tests drive, and what they often ask of them. */

#define NID_A O2_LNET_NID_A
#define NID_B O2_LNET_NID_B

/* o2_lnet_pair_open; closing asserts that nothing was wrong. */
void lnet_pair_open(struct o2_lnet_pair *pair, const struct o2_lnet_config *base);
void lnet_pair_close(struct o2_lnet_pair *pair);

/* With the defaults. */
struct o2_lnet_pair *lnet_pair_default(void);
#define LNET_PAIR_TEST(name) TEST_ON(name, struct o2_lnet_pair, pair, lnet_pair_default(), lnet_pair_close)

/* length bytes from that page on; they are virtually contiguous, vectors are the side's.  which: 0 to 3. */
struct o2_transfer_memory lnet_side_memory(struct o2_lnet_side *side, unsigned int which, uint32_t page,
					   uint32_t length_bytes);

/* Bytes that differ from seed to seed. */
void fill_bytes(uint8_t *bytes, size_t n, uint8_t seed);

/* An entry that takes PUTs and GETs at portal 60, match bits 0x1234. */
struct o2_lnet_entry entry_of(const struct o2_transfer_memory *memory);

/* Where such an entry is. */
struct o2_lnet_target target_at(uint64_t nid, bool ack);

/* Attach 1 MiB at the side's page 256: entry_of, with these options too. */
void lnet_offer(struct o2_lnet_side *side, uint32_t options);

/* Start an operation, which is accepted.  source NULL: no bytes. */
void lnet_put(struct o2_lnet_side *side, const struct o2_lnet_target *target,
	      const struct o2_transfer_memory *source);
void lnet_get(struct o2_lnet_side *side, const struct o2_lnet_target *target,
	      const struct o2_transfer_memory *sink);

/* Its only operation has ended so, and nothing is under way. */
void lnet_expect_result(struct o2_lnet_side *side, int status, uint64_t length_bytes);

/* The last result says why: the rule and its figures. */
void lnet_expect_fault(const struct o2_lnet_side *side, enum o2_fault_side blamed, const char *rule,
		       uint64_t value, uint64_t limit);

/* It has dropped a message because of that rule. */
void lnet_expect_dropped(struct o2_lnet_side *side, const char *rule);

#endif
