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
 * The property: moved buffers are byte-exact and nothing else changed; or the transfer is refused, before a
 * byte moves, with the errno that an independent predictor computed (docs/properties.md, "The transfer
 * property").
 */

/* Situations of one run; the campaign requires some of them to occur (docs/properties.md, "Counters"). */
struct o2_counters {
	uint64_t cases;
	uint64_t moved;
	uint64_t refused;
	uint64_t bytes;
	uint64_t pair[O2_REG_MODES][O2_REG_MODES]; /* moved, by source and sink mode */
	uint64_t put, get;
	/* The responder has less (short) or more (roomy) than was asked for. */
	uint64_t short_transfers, roomy_transfers;
	uint64_t source_vector[2], sink_vector[2];	/* by enum o2_vector_kind */
	uint64_t kind_pair[O2_DMA_KINDS][O2_DMA_KINDS]; /* by source and sink address kind */
	uint64_t fragments_3, fragments_65, bytes_256k, one_byte, gaps;
	uint64_t per_segment; /* mode fmr with one fragment per segment although there are no gaps */
	/* As the ends have seen it (o2_observed.ways), from here on to kmapped. */
	uint64_t formed[2][O2_CKSUM_SIGNED + 1]; /* by byte order and kind of checksum of the messages */
	uint64_t kept;				 /* mode fmr with a region that is kept */
	uint64_t staged;     /* one side used a contiguous region, by choice or because there was no other */
	uint64_t bounced[2]; /* by side */
	uint64_t bounced_both;
	uint64_t kmapped[2];   /* by side: the CPU copied to or from a page without a mapping */
	uint64_t coalesced[2]; /* by side: fewer segments than entries */
	uint64_t work_requests;
	uint64_t deep, deepest;		      /* over connections deeper than 127, and the greatest depth */
	uint64_t situation[2][O2_SITUATIONS]; /* moved, by side */
	uint64_t rule[2][O2_PREDICT_RULES];   /* refused, by the refusing side and its rule */
	struct o2_cross cross;
	struct o2_drawn drawn_bytes;	    /* bytes to move */
	struct o2_drawn drawn_fragments[2]; /* by side; without transfers whose vector is too short */
	uint64_t stale_key[O2_REG_MODES];   /* refused writes with a stale key, by the sink's mode */
	uint64_t sweeps;
};

struct o2_transfer_run {
	struct o2_rung *rung;
	struct o2_rung_source *source; /* borrowed; NULL: the rung cannot be given back and reopened */
	struct o2_rung given_back;     /* placeholder for a closed rung */
	struct o2_scenario_space space;
	uint32_t epoch;	   /* transfers of the current case, 1 or 2; each has different data and poison */
	bool sweep_always; /* check the whole arenas after each case, not only every O2_SWEEP_CASES */
	struct o2_image *image[2][O2_DMA_KINDS]; /* by side and address kind */
	struct o2_scenario scenario;		 /* the current case */
	struct o2_prediction prediction;
	struct o2_observed observed;
	struct o2_counters counters;
	struct o2_dma_ledger ledger; /* the rung's, after the last case */
	struct o2_transfer_scratch *scratch;
};

/* After this many cases the whole memory of both sides is compared, not only the pages of the case. */
#define O2_SWEEP_CASES 64u

/* The caller keeps the rung.  Returns 0 or -ENOMEM. */
int o2_transfer_run_open(struct o2_rung *rung, struct o2_transfer_run *run);
void o2_transfer_run_close(struct o2_transfer_run *run);

/* Close the rung, if there is a source; the next case opens another one. */
void o2_transfer_give_back(struct o2_transfer_run *run);

/* Draw a scenario and run it. */
enum o2_status o2_transfer_case(struct o2_transfer_run *run, struct o2_choice *choice,
				struct o2_report *report);

/* Run run->scenario, which the caller has filled in. */
enum o2_status o2_transfer_scenario(struct o2_transfer_run *run, struct o2_report *report);

/* Compare all memory of both sides with the expected bytes; a failure is reported as signature "sweep". */
bool o2_transfer_sweep(struct o2_transfer_run *run, struct o2_report *report);
/* A failing case may have written anywhere: clean all memory in use, of every kind.  The rung is open. */
void o2_transfer_reset(struct o2_transfer_run *run);

#endif
