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
 * One complete transfer: the memory and registration mode of both sides, and the direction.  Generators draw
 * it from a choice sequence, files store it as JSON, rungs run it (docs/properties.md, "Scenarios").
 */

/* Most pieces of one vector: a full list, with room for leading, trailing and empty pieces. */
#define O2_SCENARIO_PIECES 272u

/*
 * Pages of each side's arena: three times the needs of the largest transfer, and a prime number, so that
 * stepping through the arena by any stride visits every page.
 */
#define O2_SCENARIO_PAGES 787u

/* The generator works in pages of 4096 bytes, the arena's page size on every supported host. */
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
	uint64_t offset_bytes; /* bytes of the vector before the transfer's first byte */
	uint64_t nob;	       /* bytes that this side offers (source) or has room for (sink) */
	union {
		struct o2_iov iov[O2_SCENARIO_PIECES]; /* base: offset into the view in bytes */
		struct o2_kiov kiov[O2_SCENARIO_PIECES];
	};
	uint64_t iova;		 /* mode phys: iova of the region's first page or first byte */
	bool per_segment;	 /* mode fmr: one fragment per segment, gaps or not */
	bool lazy;		 /* mode fmr: the mapping is kept and found again */
	bool staging;		 /* mode fastreg_gaps: a contiguous region, though the device supports gaps */
	uint64_t merge;		 /* kind iommu: which entries are merged, o2_dma_iommu.merge */
	enum o2_dma_fault fault; /* kind iommu: how the mapping fails */
	bool bounce;		 /* the device uses bounce memory */
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
	bool stale_key; /* a GET: try its key again after the GET has ended (docs/properties.md) */
};

/* Bytes that move: a PUT moves what the sink has room for, a GET what the source has; never more than either. */
static inline uint64_t o2_scenario_moved(const struct o2_scenario *scenario)
{
	return scenario->source.nob < scenario->sink.nob ? scenario->source.nob : scenario->sink.nob;
}

/* What a generator may draw. */
struct o2_scenario_space {
	uint32_t mode_weight[O2_REG_MODES]; /* 0: never drawn */
	uint64_t max_nob;		    /* 1 to O2_MAX_TRANSFER_BYTES */
};

#define O2_SCENARIO_SPACE_ALL \
	((struct o2_scenario_space){.mode_weight = {1, 1, 1, 1, 1, 1}, .max_nob = O2_MAX_TRANSFER_BYTES})

/*
 * Draw a scenario that is legal in form: pieces lie inside their pages and views, sink pieces are disjoint in
 * memory.  The reference may still refuse it; props/scenario/predict.h determines which ones.
 */
void o2_scenario_draw(struct o2_choice *choice, const struct o2_scenario_space *space,
		      struct o2_scenario *scenario);

/*
 * Make the buffer of a side of a scenario, with IOV bases converted to addresses.  iov: room for
 * O2_SCENARIO_PIECES.
 */
void o2_scenario_buffer(const struct o2_scenario_side *side, const struct o2_arena *arena, struct o2_iov *iov,
			struct o2_buffer *buffer);

/* A range of bytes within one page of a side's arena. */
struct o2_extent {
	uint32_t page;
	uint32_t offset;
	uint32_t length;
};

/* Most extents of a side: an IOV's pieces are cut at page boundaries. */
#define O2_SCENARIO_EXTENTS 1536u

/*
 * The bytes [first, first + nob) of a side's vector as extents in order, computed piece by piece without any
 * stage of the library.  view_page: the page table of the side's view (IOV). Returns the number of extents,
 * or -EINVAL when the vector is shorter or there are more extents than max.
 */
int o2_scenario_extents(const struct o2_scenario_side *side, const uint32_t *view_page, uint64_t first,
			uint64_t nob, struct o2_extent *extent, uint32_t max);

#endif
