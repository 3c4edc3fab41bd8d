/* SPDX-License-Identifier: MIT */
#ifndef O2_REG_PLAN_H
#define O2_REG_PLAN_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "base/limits.h"
#include "mem/dma_map.h"
#include "wire/desc.h"

/*
 * Third stage: how segments are to be registered and what is published about them.
 * Source: docs/modes.md.  Pure.
 *
 * The plan is all that the binding stage (reg/bind.h) ever sees: pages, addresses and lengths in the device's
 * terms.  A wrong plan therefore gives wrong bytes on a real device.
 */

/* kernel: IB_MR_TYPE_MEM_REG, IB_MR_TYPE_SG_GAPS */
enum o2_reg_mode {
	O2_REG_GLOBAL,	/* one region over all memory; one fragment per segment */
	O2_REG_FMR,	/* a page list from iova 0; one fragment, or one per segment when there are gaps */
	O2_REG_FASTREG, /* a page list whose iova is the first device address; one fragment; no gaps */
	O2_REG_USER,	/* one range of virtual addresses; one fragment; an IOV without holes only */
	O2_REG_PHYS,	/* a page list under an iova of the caller's choice; one fragment; no gaps */
	O2_REG_FASTREG_GAPS, /* byte ranges whose iova is the first device address; one fragment; any gaps */
	O2_REG_MODES,
};

struct o2_reg_request {
	enum o2_reg_mode mode;
	enum o2_side side;
	uint32_t page_bytes; /* 4096, 16384 or 65536 */
	uint32_t max_pages;  /* that one registration holds: O2_MAX_FRAGS or O2_MAX_FRAGS_LEGACY */
	/* Fragments that the peer accepts, 1 to O2_MAX_FRAGS; ignored for a source. */
	uint32_t peer_max_frags;
	bool gaps; /* verdict of sg_build */
	/*
	 * Mode phys: where the caller wants the first page, a multiple of the page size; or the first byte,
	 * at the offset in a page that it has in its own.
	 * Mode user: the virtual address of the first byte; contiguous says whether there is one
	 * (mem/sg_build.h).
	 */
	uint64_t iova;
	bool contiguous;
};

/* Bits of o2_reg_plan.access. */
#define O2_ACCESS_LOCAL_WRITE  1u
#define O2_ACCESS_REMOTE_WRITE 2u

struct o2_reg_plan {
	enum o2_reg_mode mode;
	enum o2_side side;
	uint32_t page_bytes;
	uint32_t access; /* O2_ACCESS_*; a source has no remote access */

	/*
	 * What to register: the bytes [iova, iova + length) of a region whose page list is page[].  The first
	 * byte lies page_offset bytes into page[0].  With npages 0 there is no page list: mode global
	 * registers nothing, its fragments are addresses in the region that covers all memory; mode user
	 * registers the virtual addresses themselves; mode fastreg_gaps registers entry[].
	 */
	uint64_t iova;
	uint64_t length;
	uint32_t page_offset;
	uint32_t npages;
	uint64_t page[O2_MAX_FRAGS]; /* device addresses of whole pages */

	/* Mode fastreg_gaps: the byte ranges, one after the other from iova on.  Else nentries is 0. */
	uint32_t nentries;
	struct o2_dma_segment entry[O2_MAX_FRAGS];

	/* What a descriptor says, all but its key. */
	uint32_t nfrags;
	struct o2_rdma_frag frag[O2_MAX_FRAGS];
};

/*
 * Make the plan for `segments` under `request`.
 *
 * Returns 0, or
 *   -EINVAL           no segments; more pages than max_pages; a short page list (fastreg);
 *                     parameters that are not legal; phys and the list has gaps
 *   -EPROTONOSUPPORT  fastreg and the list has gaps; user and the buffer is no virtual range
 *   -EFBIG            a sink with more fragments than the peer accepts
 *   -EMSGSIZE         more than 1 MiB in all
 *
 * o2iblnd: kiblnd_fmr_map_tx
 */
int o2_reg_plan(const struct o2_reg_request *request, const struct o2_dma_list *segments,
		struct o2_reg_plan *plan, struct o2_error *error);

/* By mode, by side: "global", "source". */
extern const char *const o2_reg_mode_names[O2_REG_MODES];
extern const char *const o2_side_names[O2_SINK + 1];

/* The same; NULL for a number that is not a mode.  Of the type that options ask by (base/option.h). */
const char *o2_reg_mode_name(unsigned int mode);

/* --- choosing a mode --- */

/*
 * Which mode a transfer is registered in, by what the device can do and what the administrator asked for.
 * Source: docs/modes.md, "Choosing a mode".  Pure.
 */

/* What the device offers. */
/* o2iblnd: IBLND_DEV_CAPS_FMR_ENABLED, IBLND_DEV_CAPS_FASTREG_ENABLED */
/* o2iblnd: IBLND_DEV_CAPS_FASTREG_GAPS_SUPPORT */
struct o2_reg_caps {
	bool global;  /* one region over all memory */
	bool fmr;     /* page-list pools */
	bool fastreg; /* registration by work request */
	bool gaps;    /* fast registration of byte ranges; ignored without fastreg */
};

/* Can a device with these capabilities be used in that mode?  Always in modes user and phys. */
bool o2_reg_caps_permit(const struct o2_reg_caps *caps, enum o2_reg_mode mode);

enum o2_reg_preference {
	/* Lustre up to 2.10: global up to a number of fragments, then FMR, then fastreg. */
	O2_PREFER_THRESHOLD,
	/* Lustre since 2.10.57: FMR, else fastreg; global if mapping on demand is off. */
	O2_PREFER_MAPPING,
};

/* o2iblnd: map_on_demand, use_fastreg_gaps */
struct o2_reg_policy {
	enum o2_reg_preference preference;
	/*
	 * The tunable map_on_demand, 0 to 256.  Threshold: transfers of at least so many segments are mapped,
	 * 0 for never, 1 counts as 2.  Mapping: 0 for off, anything else for on.
	 */
	uint32_t map_on_demand;
	bool use_gaps; /* the tunable use_fastreg_gaps: prefer a region of byte ranges */
};

/*
 * The mode for a transfer of `segments` segments.
 *
 * Returns 0, or -EINVAL (map_on_demand above 256, an unknown preference, no segments), or -ENOSYS: nothing
 * that the device offers will do.
 * o2iblnd: kiblnd_find_rd_dma_mr
 */
int o2_reg_choose(const struct o2_reg_caps *caps, const struct o2_reg_policy *policy, uint32_t segments,
		  enum o2_reg_mode *mode, struct o2_error *error);

#endif
