/* SPDX-License-Identifier: MIT */
#ifndef O2_PROPS_WORLD_MEMORY_H
#define O2_PROPS_WORLD_MEMORY_H

#include <stdbool.h>
#include <stdint.h>

#include "lnd/conn/transfer.h"
#include "props/engine/choice.h"
#include "props/world/shadow.h"

/*
 * The memory of one side of an operation: pieces in pages that no other operation of the case uses, so that
 * a byte that changes too late is seen as well.
 */

#define O2_MEMORY_PIECES 257u /* at most */
#define O2_MEMORY_MODES	 6u

struct o2_op_memory {
	struct o2_shadow *shadow; /* of the arena that it lies in */
	uint32_t first_page, npages;
	bool gapped;	   /* each piece lies inside a page */
	uint32_t cut_into; /* gapped: so many pieces, as many in each page; 0: one in each */
	bool scattered;	   /* its pages lie in another order than its bytes */
	uint32_t npieces;
	struct o2_kiov kiov[O2_MEMORY_PIECES];
	struct o2_iov iov; /* mode user */
	struct o2_transfer_memory memory;
};

/* A mode by these weights, of global, fastreg, fmr, user, phys, fastreg_gaps. */
enum o2_reg_mode o2_memory_draw_mode(struct o2_choice *choice, const uint32_t weights[O2_MEMORY_MODES]);

/*
 * Lay out nob bytes from byte `offset` of the first page on.  *m says already whose they are, which pages it
 * has, and whether it is gapped or scattered; nob bytes have room there.
 */
void o2_memory_lay(struct o2_op_memory *m, uint64_t nob, enum o2_reg_mode mode, uint32_t offset);

/* All of its pages become data or poison of this seed, which no other memory of the case has. */
void o2_memory_fill(const struct o2_op_memory *m, uint64_t seed, enum o2_fill_kind kind);
/*
 * An operation has ended at one of its ends: are the first nob bytes of the source in the sink, and is every
 * other byte of its pages as it was?  A finding of this signature if not.  failed: what the sink holds is
 * undefined, but the rest of its pages must be unchanged.
 */
void o2_memory_judge(const struct o2_op_memory *sink, const struct o2_op_memory *source, uint64_t nob,
		     bool failed, struct o2_report *report, const char *signature);
/*
 * Of a sink: the device has all its bytes before they are where they belong.  They are when its own end is
 * told that it is over, not yet when the source's is.
 */
bool o2_memory_comes_later(const struct o2_op_memory *sink);

/*
 * Parts of it, from byte `from` on.  In the copies alone: bytes of the source become those of the sink from
 * `to` on; they are undefined, so what is there counts as right.  And: do they hold what they should?
 */
void o2_memory_move(const struct o2_op_memory *sink, uint64_t to, const struct o2_op_memory *source,
		    uint64_t from, uint64_t nob);
void o2_memory_accept(const struct o2_op_memory *m, uint64_t from, uint64_t nob);
void o2_memory_check(const struct o2_op_memory *m, uint64_t from, uint64_t nob, struct o2_report *report,
		     const char *signature, const char *when);

/* Are the first nob bytes of it those of a payload? */
bool o2_memory_equals(const struct o2_op_memory *m, const uint8_t *bytes, uint64_t nob);

/* -EPROTONOSUPPORT where its mode cannot describe gaps (docs/modes.md), else 0. */
int o2_memory_refusal(const struct o2_op_memory *m);

#endif
