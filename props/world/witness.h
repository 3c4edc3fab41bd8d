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
 * What goes over loopverbs and over the connection manager in one process, told to the judge
 * (docs/judge.md).  All of it is seen, in the order in which it arrives, so every finding fails the case; notes
 * do not.  What depends on time is left to the properties, which know the settings.
 */

struct o2_witness;

/* Listen to the fabric and to that network.  now_ms: the clock of the case; report: its own.  NULL: no memory. */
struct o2_witness *o2_witness_open(struct o2_cm_loop *loop, const uint64_t *now_ms, struct o2_report *report);
/* Listen no more; may be NULL. */
void o2_witness_close(struct o2_witness *witness);

/*
 * For who wants each finding himself, notes too, or more than the rules that know no time: as o2_judge_new has it.
 * loop: NULL for connections without a connection manager (o2_witness_connected).
 */
struct o2_witness *o2_witness_ask(struct o2_cm_loop *loop, const uint64_t *now_ms,
				  const struct o2_judge_options *options, o2_judge_sink sink, void *context);

/* For who listens to the fabric himself, and connects without a connection manager: a witness that is told. */
struct o2_witness *o2_witness_new(const uint64_t *now_ms, struct o2_report *report);
void o2_witness_free(struct o2_witness *witness);
void o2_witness_connected(struct o2_witness *witness, const uint32_t qp_num[O2_JUDGE_SIDES],
			  const struct o2_judge_terms *terms);
void o2_witness_hear(struct o2_witness *witness, const struct o2_loop_seen *seen);
/* Nothing more comes: every connection that is left is ended by the side that was asked for it. */
void o2_witness_end(struct o2_witness *witness);

/* What of the connections has been heard. */
struct o2_judged o2_witness_totals(const struct o2_witness *witness);

#endif
