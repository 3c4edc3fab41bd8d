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
 * Third stage: plan how segments are registered and what the descriptor says about them. Source:
 * docs/modes.md.  Pure.
 *
 * The binding stage (reg/bind.h) sees only this plan: pages, addresses and lengths in the device's terms.  A
 * wrong plan therefore moves wrong bytes on a real device.
 */

/* kernel: IB_MR_TYPE_MEM_REG, IB_MR_TYPE_SG_GAPS */
enum o2_reg_mode {
	O2_REG_GLOBAL,	/* one region over all memory; one fragment per segment */
	O2_REG_FMR,	/* a page list from iova 0; one fragment, or one per segment when there are gaps */
	O2_REG_FASTREG, /* a page list whose iova is the first device address; one fragment; no gaps */
	O2_REG_USER,	/* one range of virtual addresses; one fragment; only an IOV without holes */
	O2_REG_PHYS,	/* a page list under an iova of the caller's choice; one fragment; no gaps */
	O2_REG_FASTREG_GAPS, /* byte ranges whose iova is the first device address; one fragment; any gaps */
	O2_REG_MODES,
};

struct o2_reg_request {
	enum o2_reg_mode mode;
	enum o2_side side;
	uint32_t page_bytes; /* 4096, 16384 or 65536 */
	uint32_t max_pages;  /* most pages of one registration: O2_MAX_FRAGS or O2_MAX_FRAGS_LEGACY */
	/* Most fragments that the peer accepts, 1 to O2_MAX_FRAGS; ignored for a source. */
	uint32_t peer_max_frags;
	bool gaps; /* the list has gaps, as found by sg_build */
	/*
	 * Mode phys: the iova that the caller wants: a multiple of the page size for the first page; or that
	 * of the first byte, with the same offset in its page as the byte has in memory.
	 * Mode user: the virtual address of the first byte; contiguous: there is one (mem/sg_build.h).
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
	 * byte lies page_offset bytes into page[0].  When npages is 0 there is no page list: mode global
	 * registers nothing, and its fragments are addresses in the region over all memory; mode user
	 * registers the virtual addresses themselves; mode fastreg_gaps registers entry[].
	 */
	uint64_t iova;
	uint64_t length;
	uint32_t page_offset;
	uint32_t npages;
	uint64_t page[O2_MAX_FRAGS]; /* device addresses of whole pages */

	/* Mode fastreg_gaps: the byte ranges, contiguous from iova on.  Other modes: nentries is 0. */
	uint32_t nentries;
	struct o2_dma_segment entry[O2_MAX_FRAGS];

	/* The content of the descriptor, except its key. */
	uint32_t nfrags;
	struct o2_rdma_frag frag[O2_MAX_FRAGS];
};

/*
 * Make the plan for `segments` under `request`.
 *
 * Returns 0, or
 *   -EINVAL           no segments; more pages than max_pages; a short page list (fastreg);
 *                     parameters that are not legal; mode phys and the list has gaps
 *   -EPROTONOSUPPORT  fastreg and the list has gaps; user and the buffer is not one virtual range
 *   -EFBIG            a sink with more fragments than the peer accepts
 *   -EMSGSIZE         more than 1 MiB in total
 * o2iblnd: kiblnd_fmr_map_tx
 */
int o2_reg_plan(const struct o2_reg_request *request, const struct o2_dma_list *segments,
		struct o2_reg_plan *plan, struct o2_error *error);

/* Names such as "global" and "source", indexed by mode and by side. */
extern const char *const o2_reg_mode_names[O2_REG_MODES];
extern const char *const o2_side_names[O2_SINK + 1];

/* The mode's name; NULL for a number that is no mode.  Options take a function of this type (base/option.h). */
const char *o2_reg_mode_name(unsigned int mode);

/* --- choosing a mode --- */

/*
 * Choose the mode of a transfer by what the device can do and what the administrator asked for. Source:
 * docs/modes.md, "Choosing a mode".  Pure.
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

/* Whether a device with these capabilities can be used in this mode.  Always true for modes user and phys. */
bool o2_reg_caps_permit(const struct o2_reg_caps *caps, enum o2_reg_mode mode);

enum o2_reg_preference {
	/* Lustre up to 2.10: global below a number of segments, then FMR, then fastreg. */
	O2_PREFER_THRESHOLD,
	/* Lustre since 2.10.57: FMR, else fastreg; global if map_on_demand is 0. */
	O2_PREFER_MAPPING,
};

/* o2iblnd: map_on_demand, use_fastreg_gaps */
struct o2_reg_policy {
	enum o2_reg_preference preference;
	/*
	 * The tunable map_on_demand, 0 to 256.  O2_PREFER_THRESHOLD: transfers of at least this many segments
	 * are mapped; 0 means never, 1 counts as 2.  O2_PREFER_MAPPING: 0 means off, anything else means on.
	 */
	uint32_t map_on_demand;
	bool use_gaps; /* the tunable use_fastreg_gaps: prefer a region of byte ranges */
};

/*
 * Set *mode to the mode for a transfer of `segments` segments.
 *
 * Returns 0; -EINVAL (map_on_demand above 256, an unknown preference, no segments); or -ENOSYS: the device
 * offers nothing that this policy can use.
 * o2iblnd: kiblnd_find_rd_dma_mr
 */
int o2_reg_choose(const struct o2_reg_caps *caps, const struct o2_reg_policy *policy, uint32_t segments,
		  enum o2_reg_mode *mode, struct o2_error *error);

#endif
