/* SPDX-License-Identifier: MIT */
#ifndef O2_REG_CHOOSE_H
#define O2_REG_CHOOSE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "reg/plan.h"

/*
 * Which mode a transfer is registered in, by what the device can do and what the administrator asked for.
 * Source: docs/modes.md, "Choosing a mode".  Pure.
 */

/*
 * What the device offers.
 * o2iblnd: IBLND_DEV_CAPS_FMR_ENABLED, IBLND_DEV_CAPS_FASTREG_ENABLED
 * o2iblnd: IBLND_DEV_CAPS_FASTREG_GAPS_SUPPORT
 */
struct o2_reg_caps {
	bool global;  /* one region over all memory */
	bool fmr;     /* page-list pools */
	bool fastreg; /* registration by work request */
	bool gaps;    /* fast registration of byte ranges; ignored without fastreg */
};

/* Can a device with these capabilities be used in that mode?  Always in modes user and phys. */
bool o2_reg_caps_permit(const struct o2_reg_caps *caps, enum o2_reg_mode mode);

enum o2_reg_preference {
	/* Lustre before 2.10: global up to a number of fragments, then FMR, then fastreg. */
	O2_PREFER_THRESHOLD,
	/* Lustre since 2.10: FMR, else fastreg; global if mapping on demand is off. */
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
