/* SPDX-License-Identifier: MIT */
#ifndef O2_PROPS_DRAW_H
#define O2_PROPS_DRAW_H

#include "oracle/case.h"
#include "props/engine/choice.h"
#include "props/scenario/scenario.h"

/*
 * Inputs of single stages from choice sequences, legal and hostile, for the fuzz targets and the oracle
 * (docs/fuzzing.md and docs/oracle.md, "What is asked").
 */

/* A few more pieces than the longest legal list has entries. */
#define O2_DRAW_MAX_PIECES 264u

/* A number from the edges of 16, 32 and 64 bits, or any number at all. */
uint64_t o2_draw_wild(struct o2_choice *c);

/* A count next to the end of a byte, of at most `most`: 254 to 258. */
uint32_t o2_draw_byte_end(struct o2_choice *c, uint32_t most);

/* A number of bytes next to a page of 4096 bytes, to 64 KiB or to the longest transfer, one off or exactly. */
uint64_t o2_draw_edge_bytes(struct o2_choice *c);

/* sg_build, of pages and of virtual addresses.  The second is false for a page size of 0: no case. */
void o2_draw_sg_kiov(struct o2_choice *c, struct o2_case_sg *drawn);
bool o2_draw_sg_iov(struct o2_choice *c, struct o2_case_sg *drawn);

/* A page vector of about as many pieces as a list may have entries. */
void o2_draw_sg_full(struct o2_choice *c, struct o2_case_sg *drawn);

/* Weights of these kinds in o2_draw_case: pages, virtual addresses; the third has 1. */
#define O2_DRAW_SG_KIOV_WEIGHT 16u
#define O2_DRAW_SG_IOV_WEIGHT  16u

/* rdma_plan. */
void o2_draw_rdma(struct o2_choice *c, struct o2_rdma_input *drawn);

/* Descriptors of about as many fragments, and work requests, as there may be. */
void o2_draw_rdma_full(struct o2_choice *c, struct o2_rdma_input *drawn);

/* dma_map and reg_plan. */
void o2_draw_dma(struct o2_choice *c, struct o2_case_dma *drawn);
void o2_draw_reg(struct o2_choice *c, struct o2_case_reg *drawn);

/* Make what whole transfers share and keep, so that it is not the first of them that does. */
void o2_draw_prepare(void);

/* A scenario as a whole transfer; false when it has something that a transfer's question cannot say. */
bool o2_case_of_scenario(const struct o2_scenario *scenario, struct o2_case *drawn);

/* The memory of one of its sides; false likewise. */
bool o2_case_of_side(const struct o2_scenario_side *side, enum o2_side of, struct o2_case_node *node);

/* A received message from bytes as they are, with the default options; false when it is too long. */
bool o2_case_of_bytes(const uint8_t *bytes, size_t length_bytes, struct o2_case *drawn);

/* The choices that o2_draw_case turns into that case again, so that it can be shrunk.  Returns their length;
 * choices holds O2_CHOICE_MAX_BYTES. */
size_t o2_choices_of_decode(const struct o2_case_msg_decode *asked, uint8_t *choices);

/* A case of a stage; *scenario: of a transfer, what it was made from.  The case may be rejected
 * (o2_choice_ok). */
void o2_draw_case(struct o2_choice *c, enum o2_stage stage, struct o2_case *drawn,
		  struct o2_scenario *scenario);

#endif
