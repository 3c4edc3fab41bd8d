/* SPDX-License-Identifier: MIT */
#ifndef O2_REG_REGION_H
#define O2_REG_REGION_H

#include <infiniband/verbs.h>
#include <stdint.h>

#include "base/error.h"
#include "mem/arena.h"
#include "reg/plan.h"

/*
 * Regions of the device: how one is made of pages that lie anywhere, or of byte ranges, and the count of
 * those that are alive.
 */

struct o2_reg_domain;
struct o2_staging;

/* A region, and what is under it. */
struct o2_region {
	struct ibv_mr *mr;	       /* NULL: none */
	struct o2_arena_window window; /* none where the memory is contiguous already, or staged */
	struct o2_staging *staging; /* mode fastreg_gaps where a contiguous buffer takes the ranges' place */
};

/* Bytes in a list of pages. */
struct o2_page_bytes {
	const uint64_t *page; /* device addresses of whole pages; where numbers are given, not read */
	uint32_t npages;
	uint32_t page_offset; /* of the first byte in the first page */
	uint64_t iova;	      /* of the first byte */
	uint64_t length;
};

struct o2_page_bytes o2_reg_page_bytes(const struct o2_reg_plan *plan);

/* The plan's access bits as the device wants them. */
int o2_reg_access_flags(uint32_t plan_access);

/*
 * Do the bytes lie in the listed pages, and has iova their offset in the page, as devices demand?  0 or
 * -EINVAL with the rule "bind/..." in *error.
 */
int o2_reg_check_bytes(const struct o2_reg_domain *domain, const struct o2_page_bytes *bytes,
		       struct o2_error *error);

/*
 * Where the device has these bytes, which were checked, in the arena's memory: a range for each page.  entry
 * must hold O2_MAX_FRAGS.
 */
int o2_reg_page_ranges(const struct o2_reg_domain *domain, const struct o2_page_bytes *bytes,
		       enum o2_side side, struct ibv_sge *entry, struct o2_error *error);

/*
 * Make a region of exactly these bytes, which were checked, from a window of the arena over these pages. When
 * the arena has no window left, those that mode fmr keeps are flushed.  access: bits of enum
 * ibv_access_flags.
 */
int o2_reg_region_of_pages(struct o2_reg_domain *domain, const struct o2_page_bytes *bytes, int access,
			   struct o2_region *region, struct o2_error *error);

/* The same of pages that are named by their numbers in the arena, at most O2_MAX_FRAGS. */
int o2_reg_region_of_numbers(struct o2_reg_domain *domain, const uint32_t *page,
			     const struct o2_page_bytes *bytes, int access, struct o2_region *region,
			     struct o2_error *error);

/*
 * Do the plan's byte ranges lie inside the device, and have they plan->length bytes together?  0 or -EINVAL.
 */
int o2_reg_check_ranges(const struct o2_reg_domain *domain, const struct o2_reg_plan *plan,
			struct o2_error *error);

/*
 * Make the region of a plan with byte ranges, which were checked: the device's own where it has such a thing,
 * else a contiguous buffer in their place.
 */
int o2_reg_region_of_ranges(struct o2_reg_domain *domain, const struct o2_reg_plan *plan, int access,
			    struct o2_region *region, struct o2_error *error);

/*
 * Deregister, give back what is under the region, and zero *region.  Returns 0, or -errno of the device: then
 * nothing has changed.
 */
int o2_reg_region_release(struct o2_reg_domain *domain, struct o2_region *region);

/*
 * Register memory as it lies, and count the region in the domain; deregister it: *mr is NULL afterwards,
 * unless the device refused.  Both return 0 or -errno.
 */
int o2_reg_region_make(struct o2_reg_domain *domain, void *addr, uint64_t length, uint64_t iova, int access,
		       struct ibv_mr **mr, struct o2_error *error);
/* kernel: ib_dereg_mr */
int o2_reg_region_end(struct o2_reg_domain *domain, struct ibv_mr **mr);

/* What lies at domain->dma.base for the transfers of one side: memory of the arena's size. */
uint8_t *o2_reg_device_memory(const struct o2_reg_domain *domain, enum o2_side side);

/* The contiguous buffer in place of byte ranges (modes/fastreg_gaps.c): give one back; free the idle ones. */
void o2_reg_staging_release(struct o2_reg_domain *domain, struct o2_staging *staging);
void o2_reg_staging_close(struct o2_reg_domain *domain);

/* What a domain registers with: ibv_reg_mr_iova(3), ibv_dereg_mr(3). */
struct o2_reg_verbs {
	struct ibv_mr *(*reg_mr)(struct ibv_pd *pd, void *addr, size_t length, uint64_t iova,
				 unsigned int access);
	int (*dereg_mr)(struct ibv_mr *mr);
};

extern const struct o2_reg_verbs o2_reg_libibverbs;

/* verbs->reg_mr, with an error that tells a memlock limit from other failures (docs/transport.md). */
int o2_reg_mr(const struct o2_reg_verbs *verbs, struct ibv_pd *pd, void *addr, uint64_t length, uint64_t iova,
	      int access, struct ibv_mr **mr, struct o2_error *error);

#endif
