/* SPDX-License-Identifier: MIT */
#ifndef O2_PROPS_CHECK_SIMPLIFY_H
#define O2_PROPS_CHECK_SIMPLIFY_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "oracle/case.h"

/*
 * Make a question smaller than a generator can draw it. A shrunk string of choices stands for the simplest
 * choices (a whole page, say), which need not be the fewest bytes. Source: docs/oracle.md, "What is asked".
 */

/* Ask this question.  True: the answer still differs in the same check. */
typedef bool (*o2_differs_fn)(void *context, const json_t *question);

/*
 * Try fewer elements, fewer bytes in each, and lower limits, in a scenario or an input form of sg_build, dma_map,
 * reg_plan, rdma_plan, rdma_chain, send_plan, keys, setup or flow. Other forms stay as they are. Sums in the form
 * are kept right.
 * *question differs on call and on return. It may be replaced by another object, which the caller then owns.
 * *calls: most questions to ask; on return: the number asked. Returns whether the question changed.
 */
bool o2_check_simplify(json_t **question, o2_differs_fn differs, void *context, uint32_t *calls);

/* Ask the current message.  True: the answer still differs in the same check. */
typedef bool (*o2_message_differs_fn)(void *context);

/*
 * Cut bytes off the end of a received message; ibm_nob and the checksum are adapted if they were right. *calls
 * and the result are as for o2_check_simplify.
 */
bool o2_check_cut_message(struct o2_case_msg_decode *asked, o2_message_differs_fn differs, void *context,
			  uint32_t *calls);

#endif
