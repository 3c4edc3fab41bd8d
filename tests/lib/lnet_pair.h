/* SPDX-License-Identifier: MIT */
#ifndef O2_TESTS_LNET_PAIR_H
#define O2_TESTS_LNET_PAIR_H

#include "mem/kmap.h"
#include "props/world/lnet_pair.h"
#include "tests/lib/unit_test.h"

/* Two nodes' LNets that a test drives, and helpers for their operations and results. */

#define NID_A O2_LNET_NID_A
#define NID_B O2_LNET_NID_B

/* As o2_lnet_pair_open.  lnet_pair_close asserts that neither side has noted an error (`wrong`). */
void lnet_pair_open(struct o2_lnet_pair *pair, const struct o2_lnet_config *base);
void lnet_pair_close(struct o2_lnet_pair *pair);

/* A pair opened with the default configuration.  There is one pair at a time. */
struct o2_lnet_pair *lnet_pair_default(void);
#define LNET_PAIR_TEST(name) TEST_ON(name, struct o2_lnet_pair, pair, lnet_pair_default(), lnet_pair_close)

/* Describe length_bytes virtually contiguous bytes from that page on, in vector `which` (0 to 3) of the side. */
struct o2_transfer_memory lnet_side_memory(struct o2_lnet_side *side, unsigned int which, uint32_t page,
					   uint32_t length_bytes);

/* Fill n bytes with a pattern that depends on the seed. */
void fill_bytes(uint8_t *bytes, size_t n, uint8_t seed);

/* A match entry that accepts PUTs and GETs from any node at portal 60, match bits 0x1234. */
struct o2_lnet_entry entry_of(const struct o2_transfer_memory *memory);

/* The target of an operation on the node `nid` that matches entry_of().  ack: ask for an ACK. */
struct o2_lnet_target target_at(uint64_t nid, bool ack);

/* Attach entry_of() for the 1 MiB at the side's page 256, with these options added. */
void lnet_offer(struct o2_lnet_side *side, uint32_t options);

/* Start an operation, and assert that LNet accepts it.  source NULL: a PUT of no bytes. */
void lnet_put(struct o2_lnet_side *side, const struct o2_lnet_target *target,
	      const struct o2_transfer_memory *source);
void lnet_get(struct o2_lnet_side *side, const struct o2_lnet_target *target,
	      const struct o2_transfer_memory *sink);

/* Assert that the side's only operation has ended with this result and no message is under way. */
void lnet_expect_result(struct o2_lnet_side *side, int status, uint64_t length_bytes);

/* Assert that the first result's fault names this side, rule, value and limit. */
void lnet_expect_fault(const struct o2_lnet_side *side, enum o2_fault_side blamed, const char *rule,
		       uint64_t value, uint64_t limit);

/* Assert that the side has dropped a message because of this rule; clears the note. */
void lnet_expect_dropped(struct o2_lnet_side *side, const char *rule);

#endif
