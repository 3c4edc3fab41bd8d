/* SPDX-License-Identifier: MIT */
#ifndef O2_PROPS_TRANSFER_H
#define O2_PROPS_TRANSFER_H

#include <stdbool.h>
#include <stdint.h>

#include "props/engine/choice.h"
#include "props/engine/report.h"
#include "props/scenario/cross.h"
#include "props/scenario/image.h"
#include "props/scenario/predict.h"
#include "props/scenario/scenario.h"
#include "props/scenario/situations.h"
#include "props/transfer/drawn.h"
#include "props/world/rung.h"

/*
 * The property: moved buffers are byte-exact and nothing else changed, or the transfer is refused with the
 * errno that an independent predictor foretold, before a byte moves (docs/properties.md, "The transfer
 * property").
 */

/* Situations of one run; the campaign demands that some of them occurred (docs/properties.md, "Counters"). */
struct o2_counters {
	uint64_t cases;
	uint64_t moved;
	uint64_t refused;
	uint64_t bytes;
	uint64_t pair[O2_REG_MODES][O2_REG_MODES]; /* moved, by source and sink mode */
	uint64_t put, get;
	/* The side that was asked has less, or more, than was asked for. */
	uint64_t short_transfers, roomy_transfers;
	uint64_t source_vector[2], sink_vector[2];	/* by enum o2_vector_kind */
	uint64_t kind_pair[O2_DMA_KINDS][O2_DMA_KINDS]; /* by source and sink address kind */
	uint64_t fragments_3, fragments_65, bytes_256k, one_byte, gaps;
	uint64_t per_segment; /* fmr with one fragment per segment although there are no gaps */
	uint64_t kept;	      /* fmr with a region that is kept */
	uint64_t staged;      /* a side by way of a contiguous region, by choice or for want of another */
	uint64_t bounced[2];  /* by side */
	uint64_t bounced_both;
	uint64_t kmapped[2];   /* by side: the CPU copied of a page without a mapping, or to it */
	uint64_t coalesced[2]; /* by side: fewer segments than entries */
	uint64_t work_requests;
	uint64_t deep, deepest;		      /* by connections deeper than 127, and of the greatest depth */
	uint64_t situation[2][O2_SITUATIONS]; /* moved, by side */
	uint64_t rule[2][O2_PREDICT_RULES];   /* refused, by the side that refuses and its rule */
	struct o2_cross cross;
	struct o2_drawn drawn_bytes;	    /* that were to move */
	struct o2_drawn drawn_fragments[2]; /* by side; without those of which the vector is too short */
	uint64_t stale_key[O2_REG_MODES];   /* refused when the transfer was over, by the sink's mode */
	uint64_t sweeps;
};

struct o2_transfer_run {
	struct o2_rung *rung;
	struct o2_rung_source *source; /* borrowed; NULL: the rung cannot be given back */
	struct o2_rung given_back;     /* stands in for the rung that is closed */
	struct o2_scenario_space space;
	uint64_t seed;
	uint32_t epoch;	   /* transfers so far: poison differs every time */
	bool sweep_always; /* look at the whole arenas after each case, not only every O2_SWEEP_CASES */
	struct o2_image *image[2][O2_DMA_KINDS]; /* by side and address kind */
	struct o2_scenario scenario;		 /* the case at hand */
	struct o2_prediction prediction;
	struct o2_observed observed;
	struct o2_counters counters;
	struct o2_dma_ledger ledger; /* of the rung, after the last case */
	struct o2_transfer_scratch *scratch;
};

/*
 * Every so many cases the whole memory of both sides is compared, not only the pages that the case touched.
 */
#define O2_SWEEP_CASES 64u

/* The rung stays the caller's.  Returns 0 or -ENOMEM. */
int o2_transfer_run_open(struct o2_rung *rung, uint64_t seed, struct o2_transfer_run *run);
void o2_transfer_run_close(struct o2_transfer_run *run);

/* Close the rung, if there is a source; the next case has another one. */
void o2_transfer_give_back(struct o2_transfer_run *run);

/* Draw a scenario and run it. */
enum o2_status o2_transfer_case(struct o2_transfer_run *run, struct o2_choice *choice,
				struct o2_report *report);

/* Run run->scenario, which the caller has filled in. */
enum o2_status o2_transfer_scenario(struct o2_transfer_run *run, struct o2_report *report);

/* Compare all memory of both sides with what it must be; a failure is reported as signature "sweep". */
bool o2_transfer_sweep(struct o2_transfer_run *run, struct o2_report *report);

#endif
