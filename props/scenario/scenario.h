/* SPDX-License-Identifier: MIT */
#ifndef O2_PROPS_SCENARIO_H
#define O2_PROPS_SCENARIO_H

#include <stdbool.h>
#include <stdint.h>

#include "lnd/conn/transfer.h"
#include "mem/arena.h"
#include "mem/buffer.h"
#include "mem/dma_map.h"
#include "props/engine/choice.h"
#include "reg/plan.h"
#include "wire/msg.h"

/*
 * One transfer in full: which memory on both sides, which registration, which way.  Generators draw it from a
 * choice sequence, files keep it as JSON, rungs run it (docs/properties.md, "Scenarios").
 */

/* Pieces of one vector: a full list, with room for leading, trailing and empty ones. */
#define O2_SCENARIO_PIECES 272u

/*
 * Pages of each side's arena: what the largest transfer needs three times over, and prime, so that stepping
 * through it by any stride visits every page.
 */
#define O2_SCENARIO_PAGES 787u

/* The generator works in pages of 4096 bytes, which is what the arena of every supported host has. */
#define O2_SCENARIO_PAGE_BYTES 4096u

/*
 * The memory of one side.  IOV bases are offsets into a view, so that a scenario holds no address of a run.
 */
struct o2_scenario_side {
	enum o2_reg_mode mode;
	enum o2_dma_kind kind;
	enum o2_vector_kind vector;
	uint32_t view;	       /* IOV: which view of the arena the bases are offsets into */
	uint32_t count;	       /* pieces */
	uint64_t offset_bytes; /* bytes of the vector that come before the transfer's first */
	uint64_t nob;	       /* bytes that this side offers (source) or has room for (sink) */
	union {
		struct o2_iov iov[O2_SCENARIO_PIECES]; /* base: offset into the view in bytes */
		struct o2_kiov kiov[O2_SCENARIO_PIECES];
	};
	uint64_t iova;		 /* mode phys: where the region's first page, or first byte, is to be */
	bool per_segment;	 /* mode fmr: one fragment per segment, gaps or not */
	bool lazy;		 /* mode fmr: what is mapped stays so, and is found again */
	bool staging;		 /* mode fastreg_gaps: a contiguous region, even if the device offers gaps */
	uint64_t merge;		 /* kind iommu: which entries are merged, o2_dma_iommu.merge */
	enum o2_dma_fault fault; /* kind iommu: how the mapping fails */
	bool bounce;		 /* its device works in memory of its own */
	bool has_unmapped;	 /* one page has no CPU mapping */
	uint32_t unmapped_page;
};

struct o2_scenario {
	enum o2_transfer_op op;
	struct o2_scenario_side source;
	struct o2_scenario_side sink;
	uint32_t max_frags;		     /* of the connection: 1 to O2_MAX_FRAGS */
	uint32_t wrq_sge;		     /* of the side that writes */
	enum o2_byte_order order;	     /* of all messages */
	enum o2_cksum_flavour cksum_flavour; /* of all messages */
	uint64_t pattern_seed;		     /* of the bytes moved */
	bool stale_key; /* a GET: when it is over, its key is used once more (docs/properties.md) */
};

/*
 * What moves: a PUT moves what the sink has room for, a GET what the source has; never more than either.
 */
static inline uint64_t o2_scenario_moved(const struct o2_scenario *scenario)
{
	return scenario->source.nob < scenario->sink.nob ? scenario->source.nob : scenario->sink.nob;
}

/* Which ordered pairs of modes and what else a generator may draw. */
struct o2_scenario_space {
	uint32_t mode_weight[O2_REG_MODES]; /* 0: never drawn */
	uint64_t max_nob;		    /* 1 to O2_MAX_TRANSFER_BYTES */
};

#define O2_SCENARIO_SPACE_ALL \
	((struct o2_scenario_space){.mode_weight = {1, 1, 1, 1, 1, 1}, .max_nob = O2_MAX_TRANSFER_BYTES})

/*
 * Draw a scenario.  Always legal in form: pieces inside their pages and views, sink pieces disjoint in
 * memory. It may still be one that the reference refuses; props/scenario/predict.h says which.
 */
void o2_scenario_draw(struct o2_choice *choice, const struct o2_scenario_space *space,
		      struct o2_scenario *scenario);

/*
 * The buffer that a side of a scenario is, its IOV bases made addresses.  iov: room for O2_SCENARIO_PIECES.
 */
void o2_scenario_buffer(const struct o2_scenario_side *side, const struct o2_arena *arena, struct o2_iov *iov,
			struct o2_buffer *buffer);

/* A stretch of one page of a side's arena. */
struct o2_extent {
	uint32_t page;
	uint32_t offset;
	uint32_t length;
};

/* Extents of a side: an IOV's pieces are cut at page boundaries. */
#define O2_SCENARIO_EXTENTS 1536u

/*
 * The bytes [first, first + nob) of a side's vector as extents in order, worked out piece by piece without
 * any stage of the library.  view_page: the page table of the side's view (IOV). Returns the number of
 * extents, or -EINVAL when the vector is shorter or there are more than max.
 */
int o2_scenario_extents(const struct o2_scenario_side *side, const uint32_t *view_page, uint64_t first,
			uint64_t nob, struct o2_extent *extent, uint32_t max);

#endif
