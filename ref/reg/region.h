/* SPDX-License-Identifier: MIT */
#ifndef O2_REG_REGION_H
#define O2_REG_REGION_H

#include <infiniband/verbs.h>
#include <stdint.h>

#include "base/error.h"
#include "mem/arena.h"
#include "reg/plan.h"

/*
 * Memory regions: how a region is made of pages that are not contiguous, or of byte ranges; and the count of
 * the regions that are alive.
 */

struct o2_reg_domain;
struct o2_staging;

/* A region and the memory under it. */
struct o2_region {
	struct ibv_mr *mr;	       /* NULL: none */
	struct o2_arena_window window; /* unused where memory is contiguous already, or staged */
	struct o2_staging *staging;    /* mode fastreg_gaps: the contiguous buffer, if one is used */
};

/* Bytes in a list of pages. */
struct o2_page_bytes {
	const uint64_t *page; /* device addresses of whole pages; unused by o2_reg_region_of_numbers */
	uint32_t npages;
	uint32_t page_offset; /* offset of the first byte in the first page */
	uint64_t iova;	      /* iova of the first byte */
	uint64_t length;
};

struct o2_page_bytes o2_reg_page_bytes(const struct o2_reg_plan *plan);

/* The plan's access bits (O2_ACCESS_*) as bits of enum ibv_access_flags. */
int o2_reg_access_flags(uint32_t plan_access);

/*
 * Check that the bytes lie in the listed pages and that iova has their offset in the page, as devices
 * require. Returns 0, or -EINVAL with the rule "bind/..." in *error.
 */
int o2_reg_check_bytes(const struct o2_reg_domain *domain, const struct o2_page_bytes *bytes,
		       struct o2_error *error);

/*
 * Fill entry[] with the addresses in this process, one range per page, of the arena memory that the device
 * uses for these checked bytes.  entry must hold O2_MAX_FRAGS.
 */
int o2_reg_page_ranges(const struct o2_reg_domain *domain, const struct o2_page_bytes *bytes,
		       enum o2_side side, struct ibv_sge *entry, struct o2_error *error);

/*
 * Make a region of exactly these checked bytes, through a window of the arena over their pages.  When the
 * arena has no free window, the regions that mode fmr keeps are flushed.  access: bits of enum
 * ibv_access_flags.
 */
int o2_reg_region_of_pages(struct o2_reg_domain *domain, const struct o2_page_bytes *bytes, int access,
			   struct o2_region *region, struct o2_error *error);

/* The same for pages that are given by their numbers in the arena, at most O2_MAX_FRAGS. */
int o2_reg_region_of_numbers(struct o2_reg_domain *domain, const uint32_t *page,
			     const struct o2_page_bytes *bytes, int access, struct o2_region *region,
			     struct o2_error *error);

/* Check that the plan's byte ranges lie inside the device and sum to plan->length.  Returns 0 or -EINVAL. */
int o2_reg_check_ranges(const struct o2_reg_domain *domain, const struct o2_reg_plan *plan,
			struct o2_error *error);

/*
 * Make the region of a plan with checked byte ranges: with the device's own call (o2_reg_gaps_fn) if there is
 * one, else over a contiguous buffer that stands in for them.
 */
int o2_reg_region_of_ranges(struct o2_reg_domain *domain, const struct o2_reg_plan *plan, int access,
			    struct o2_region *region, struct o2_error *error);

/*
 * Deregister the region, return the memory under it, and zero *region.  Returns 0, or the device's -errno:
 * then nothing has changed.
 */
int o2_reg_region_release(struct o2_reg_domain *domain, struct o2_region *region);

/*
 * o2_reg_region_make registers contiguous memory and counts the region in the domain.  o2_reg_region_end
 * deregisters it and sets *mr to NULL, unless the device refused.  Both return 0 or -errno.
 */
int o2_reg_region_make(struct o2_reg_domain *domain, void *addr, uint64_t length, uint64_t iova, int access,
		       struct ibv_mr **mr, struct o2_error *error);
/* kernel: ib_dereg_mr */
int o2_reg_region_end(struct o2_reg_domain *domain, struct ibv_mr **mr);

/* The memory that the device sees at domain->dma.base for transfers of this side; it has the arena's size. */
uint8_t *o2_reg_device_memory(const struct o2_reg_domain *domain, enum o2_side side);

/* The contiguous buffers of modes/fastreg_gaps.c: return one to the domain; free all that are idle. */
void o2_reg_staging_release(struct o2_reg_domain *domain, struct o2_staging *staging);
void o2_reg_staging_close(struct o2_reg_domain *domain);

/* The calls by which a domain registers: ibv_reg_mr_iova(3), ibv_dereg_mr(3). */
struct o2_reg_verbs {
	struct ibv_mr *(*reg_mr)(struct ibv_pd *pd, void *addr, size_t length, uint64_t iova,
				 unsigned int access);
	int (*dereg_mr)(struct ibv_mr *mr);
};

extern const struct o2_reg_verbs o2_reg_libibverbs;

/* verbs->reg_mr; the error distinguishes the memlock limit from other failures (docs/transport.md). */
int o2_reg_mr(const struct o2_reg_verbs *verbs, struct ibv_pd *pd, void *addr, uint64_t length, uint64_t iova,
	      int access, struct ibv_mr **mr, struct o2_error *error);

#endif
