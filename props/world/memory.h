/* SPDX-License-Identifier: MIT */
#ifndef O2_PROPS_WORLD_MEMORY_H
#define O2_PROPS_WORLD_MEMORY_H

#include <stdbool.h>
#include <stdint.h>

#include "lnd/conn/transfer.h"
#include "props/engine/choice.h"
#include "props/world/shadow.h"

/*
 * The memory of one side of an operation: pieces in pages that no other operation of the case uses, so that a
 * byte that changes too late is detected as well.
 */

#define O2_MEMORY_PIECES 257u /* most pieces */
#define O2_MEMORY_MODES	 6u

struct o2_op_memory {
	struct o2_shadow *shadow; /* shadow of its arena */
	uint32_t first_page, npages;
	bool gapped;	   /* each piece lies inside a page */
	uint32_t cut_into; /* gapped: number of pieces, spread evenly over the pages; 0: one in each page */
	bool scattered;	   /* the order of its pages differs from the order of its bytes */
	uint32_t npieces;
	struct o2_kiov kiov[O2_MEMORY_PIECES];
	struct o2_iov iov; /* mode user */
	struct o2_transfer_memory memory;
};

/* Draw a mode by these weights, in the order global, fastreg, fmr, user, phys, fastreg_gaps. */
enum o2_reg_mode o2_memory_draw_mode(struct o2_choice *choice, const uint32_t weights[O2_MEMORY_MODES]);

/*
 * Lay out nob bytes from byte `offset` of the first page on.  The caller has set m's shadow and pages, and
 * whether it is gapped or scattered; the pages have room for nob bytes.
 */
void o2_memory_lay(struct o2_op_memory *m, uint64_t nob, enum o2_reg_mode mode, uint32_t offset);

/* Fill all of its pages with data or poison of this seed, which no other memory of the case has. */
void o2_memory_fill(const struct o2_op_memory *m, uint64_t seed, enum o2_fill_kind kind);
/*
 * Check an operation that has ended at one of its ends: the first nob bytes of the source must be in the
 * sink, the rest of the sink's pages unchanged.  Otherwise there is a finding of this signature.  failed: the
 * sink's bytes are undefined, but the rest of its pages must be unchanged.
 */
void o2_memory_judge(const struct o2_op_memory *sink, const struct o2_op_memory *source, uint64_t nob,
		     bool failed, struct o2_report *report, const char *signature);
/*
 * True if the bytes of a sink first arrive in bounce or staging memory.  They are in place when the sink's
 * own end is told that the operation is over, not yet when the source's end is.
 */
bool o2_memory_comes_later(const struct o2_op_memory *sink);

/*
 * Parts, from byte `from` on.  move: in the shadows only, source bytes become the sink's from `to` on.
 * accept: the bytes are undefined, so the present ones count as right.  check: do they hold what they should?
 */
void o2_memory_move(const struct o2_op_memory *sink, uint64_t to, const struct o2_op_memory *source,
		    uint64_t from, uint64_t nob);
void o2_memory_accept(const struct o2_op_memory *m, uint64_t from, uint64_t nob);
void o2_memory_check(const struct o2_op_memory *m, uint64_t from, uint64_t nob, struct o2_report *report,
		     const char *signature, const char *when);

/* Do its first nob bytes equal those of a payload? */
bool o2_memory_equals(const struct o2_op_memory *m, const uint8_t *bytes, uint64_t nob);

/* -EPROTONOSUPPORT where its mode cannot describe gaps (docs/modes.md), else 0. */
int o2_memory_refusal(const struct o2_op_memory *m);

#endif
