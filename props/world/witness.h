/* SPDX-License-Identifier: MIT */
#ifndef O2_PROPS_WITNESS_H
#define O2_PROPS_WITNESS_H

#include <stdint.h>

#include "judge/judge.h"
#include "lnd/cm/loop.h"
#include "loopverbs/loopverbs.h"
#include "props/engine/report.h"
#include "props/world/judged.h"

/*
 * Tells the judge what goes over loopverbs and over the connection manager in one process (docs/judge.md).
 * It sees everything in the order of arrival, so every finding fails the case; notes do not.  Timeouts are
 * left to the properties, which know the settings.
 */

struct o2_witness;

/* Listen to the fabric and to loop's network.  now_ms, report: the case's.  NULL: no memory. */
struct o2_witness *o2_witness_open(struct o2_cm_loop *loop, const uint64_t *now_ms, struct o2_report *report);
/* Stop listening and free the witness; NULL is allowed. */
void o2_witness_close(struct o2_witness *witness);

/*
 * For callers that want each finding, notes as well, or rules about time: options, sink and context as in
 * o2_judge_new.  loop: NULL for connections without a connection manager (o2_witness_connected).
 */
struct o2_witness *o2_witness_ask(struct o2_cm_loop *loop, const uint64_t *now_ms,
				  const struct o2_judge_options *options, o2_judge_sink sink, void *context);

/* For callers that listen to the fabric themselves and connect without a connection manager. */
struct o2_witness *o2_witness_new(const uint64_t *now_ms, struct o2_report *report);
void o2_witness_free(struct o2_witness *witness);
void o2_witness_connected(struct o2_witness *witness, const uint32_t qp_num[O2_JUDGE_SIDES],
			  const struct o2_judge_terms *terms);
void o2_witness_hear(struct o2_witness *witness, const struct o2_loop_seen *seen);
/* No more events follow: for the judge, the requested side ends every connection that is left. */
void o2_witness_end(struct o2_witness *witness);

/* The numbers of connections, messages and writes heard. */
struct o2_judged o2_witness_totals(const struct o2_witness *witness);

#endif
