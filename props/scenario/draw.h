/* SPDX-License-Identifier: MIT */
#ifndef O2_PROPS_DRAW_H
#define O2_PROPS_DRAW_H

#include "oracle/case.h"
#include "props/engine/choice.h"
#include "props/scenario/scenario.h"

/*
 * Draw the inputs of single stages from choice sequences, legal and hostile, for the fuzz targets and the
 * oracle (docs/fuzzing.md and docs/oracle.md, "What is asked").
 */

/* A few more pieces than the longest legal list has entries. */
#define O2_DRAW_MAX_PIECES 264u

/* Draw a number near the limits of 16, 32 and 64 bits, or any number at all. */
uint64_t o2_draw_wild(struct o2_choice *c);

/* Draw a count around the largest value of a byte, 254 to 258, but at most `most`. */
uint32_t o2_draw_byte_end(struct o2_choice *c, uint32_t most);

/* Draw a length at or one off a page of 4096 bytes, 64 KiB or the longest transfer. */
uint64_t o2_draw_edge_bytes(struct o2_choice *c);

/* Draw an input of sg_build: pages, or virtual addresses.  False: a page size of 0, not a case. */
void o2_draw_sg_kiov(struct o2_choice *c, struct o2_case_sg *drawn);
bool o2_draw_sg_iov(struct o2_choice *c, struct o2_case_sg *drawn);

/* Draw a page vector of about as many pieces as a list may have entries. */
void o2_draw_sg_full(struct o2_choice *c, struct o2_case_sg *drawn);

/* Weights of these kinds in o2_draw_case; the kind of o2_draw_sg_full has weight 1. */
#define O2_DRAW_SG_KIOV_WEIGHT 16u
#define O2_DRAW_SG_IOV_WEIGHT  16u

/* Draw an input of rdma_plan. */
void o2_draw_rdma(struct o2_choice *c, struct o2_rdma_input *drawn);

/* Draw descriptors of about as many fragments, and work requests, as the limits allow. */
void o2_draw_rdma_full(struct o2_choice *c, struct o2_rdma_input *drawn);

/* Draw inputs of dma_map and of reg_plan. */
void o2_draw_dma(struct o2_choice *c, struct o2_case_dma *drawn);
void o2_draw_reg(struct o2_choice *c, struct o2_case_reg *drawn);

/* Create the objects that all whole transfers share and keep, so that the first transfer does not. */
void o2_draw_prepare(void);

/* Convert a scenario to a case of a whole transfer; false if such a case cannot express it. */
bool o2_case_of_scenario(const struct o2_scenario *scenario, struct o2_case *drawn);

/* Convert the memory of one side of a scenario; false if a case cannot express it. */
bool o2_case_of_side(const struct o2_scenario_side *side, enum o2_side of, struct o2_case_node *node);

/* Make a case of a received message from bytes, unchanged, with the default options; false if it is too long. */
bool o2_case_of_bytes(const uint8_t *bytes, size_t length_bytes, struct o2_case *drawn);

/* The choices from which o2_draw_case draws this case again, so that it can be shrunk.  Returns their length;
 * the buffer choices has room for O2_CHOICE_MAX_BYTES. */
size_t o2_choices_of_decode(const struct o2_case_msg_decode *asked, uint8_t *choices);

/* Draw a case of a stage; for a transfer, *scenario is what it was made from.  The case may be rejected
 * (o2_choice_ok). */
void o2_draw_case(struct o2_choice *c, enum o2_stage stage, struct o2_case *drawn,
		  struct o2_scenario *scenario);

#endif
