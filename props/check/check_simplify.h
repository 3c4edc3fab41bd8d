/* SPDX-License-Identifier: MIT */
#ifndef O2_PROPS_CHECK_SIMPLIFY_H
#define O2_PROPS_CHECK_SIMPLIFY_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "oracle/case.h"

/*
 * Make a question smaller than a generator can draw it: a shrunk string of choices stands for the simplest
 * choices (a whole page, say), which are not the fewest bytes.  Source: docs/oracle.md, "What is asked".
 */

/* Ask this question; true when its answer still differs in the same check. */
typedef bool (*o2_differs_fn)(void *context, const json_t *question);

/*
 * Fewer elements, fewer bytes in each, lower limits: in an input form of sg_build, dma_map, reg_plan or
 * rdma_plan, rdma_chain and send_plan, or in a scenario; other forms stay as they are.  Sums that the form states are kept right.
 *
 * *question differs when this is called, and when it returns; it may be replaced by another object, which is
 * then the caller's.  *calls: how often to ask at most; on return how often was asked.  Returns whether the
 * question has changed.
 */
bool o2_check_simplify(json_t **question, o2_differs_fn differs, void *context, uint32_t *calls);

/* Ask the message at hand. */
typedef bool (*o2_message_differs_fn)(void *context);

/*
 * Bytes off the end of a received message; ibm_nob and the checksum follow if they were right.  *calls and
 * the result as above.
 */
bool o2_check_cut_message(struct o2_case_msg_decode *asked, o2_message_differs_fn differs, void *context,
			  uint32_t *calls);

#endif
