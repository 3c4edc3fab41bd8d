/* SPDX-License-Identifier: MIT */
#ifndef O2_REG_BIND_MODES_H
#define O2_REG_BIND_MODES_H

#include "reg/bind.h"

/*
 * One function per way of binding, each in a file of its own.  The caller (bind.c) has filled mode, side,
 * cpt, iova and length of *binding; these functions register, and set key and what has to be released.  On
 * failure they leave nothing behind.
 */
int o2_reg_bind_global(struct o2_reg_domain *domain, const struct o2_reg_plan *plan,
		       struct o2_binding *binding, struct o2_error *error);
/* kernel: ib_fmr_pool_map_phys */
int o2_reg_bind_fmr(struct o2_reg_domain *domain, const struct o2_reg_plan *plan, struct o2_binding *binding,
		    struct o2_error *error);
int o2_reg_bind_user(struct o2_reg_domain *domain, const struct o2_reg_plan *plan, struct o2_binding *binding,
		     struct o2_error *error);
/*
 * o2iblnd: kiblnd_pmr_pool_map
 * kernel: ib_reg_phys_mr
 */
int o2_reg_bind_phys(struct o2_reg_domain *domain, const struct o2_reg_plan *plan, struct o2_binding *binding,
		     struct o2_error *error);
/*
 * Modes fastreg and fastreg_gaps, and giving their descriptors back.
 * kernel: ib_map_mr_sg
 */
int o2_reg_bind_fastreg(struct o2_reg_domain *domain, const struct o2_reg_plan *plan,
			struct o2_binding *binding, struct o2_error *error);
void o2_reg_fastreg_release(struct o2_reg_domain *domain, struct o2_binding *binding);

/*
 * The two regions that mode global needs, and taking them away again.
 * o2iblnd: kiblnd_hdev_setup_mrs
 * kernel: ib_get_dma_mr
 */
int o2_reg_global_open(struct o2_reg_domain *domain, struct o2_error *error);
/* o2iblnd: kiblnd_hdev_cleanup_mrs */
void o2_reg_global_close(struct o2_reg_domain *domain);

/* What the device has for one descriptor: its window's key is the peer's, its region what that key opens. */
struct o2_descriptor {
	struct ibv_mw *mw;
	struct o2_region region; /* of the mapping, between map and unmap */
};

/* Bytes in a list of pages. */
struct o2_page_bytes {
	const uint64_t *page; /* device addresses of whole pages */
	uint32_t npages;
	uint32_t page_offset; /* of the first byte in the first page */
	uint64_t iova;	      /* of the first byte */
	uint64_t length;
};

/* The bytes must lie in the listed pages, and iova must have their offset in the page: devices demand it. */
int o2_reg_check_bytes(const struct o2_reg_domain *domain, const struct o2_page_bytes *bytes,
		       struct o2_error *error);

/*
 * Make a region of exactly these bytes, which were checked, from a window of the arena over these pages. When
 * the arena has no window left, those that mode fmr keeps are flushed.  access: bits of enum
 * ibv_access_flags.
 */
int o2_reg_region_of_pages(struct o2_reg_domain *domain, const struct o2_page_bytes *bytes, int access,
			   struct o2_region *region, struct o2_error *error);

static inline struct o2_page_bytes o2_reg_page_bytes(const struct o2_reg_plan *plan)
{
	return (struct o2_page_bytes){plan->page, plan->npages, plan->page_offset, plan->iova, plan->length};
}

/* Byte ranges of the device, together as long as the plan says. */
int o2_reg_check_ranges(const struct o2_reg_domain *domain, const struct o2_reg_plan *plan,
			struct o2_error *error);

/* Make the region of a plan with byte ranges, which were checked. */
int o2_reg_region_of_ranges(struct o2_reg_domain *domain, const struct o2_reg_plan *plan, int access,
			    struct o2_region *region, struct o2_error *error);

/* The same from a contiguous buffer, into which a source's bytes are copied (staging.c). */
int o2_reg_region_staged(struct o2_reg_domain *domain, const struct o2_reg_plan *plan, int access,
			 struct o2_region *region, struct o2_error *error);

/* Let the first nob bytes of a staged sink run to the byte ranges. */
void o2_reg_staging_deliver(const struct o2_reg_domain *domain, const struct o2_staging *staging,
			    uint64_t nob);

/* Deregister, give back what is under it, and empty *region.  Or the device's errno, and nothing happened. */
int o2_reg_region_release(struct o2_reg_domain *domain, struct o2_region *region);

/* Give the contiguous memory back; free all of it. */
void o2_reg_staging_release(struct o2_reg_domain *domain, struct o2_staging **staging);
void o2_reg_staging_close(struct o2_reg_domain *domain);

/* The address in this process of a byte range of the device; NULL when it lies outside. */
uint8_t *o2_reg_host_range(const struct o2_reg_domain *domain, const struct o2_dma_segment *range);

/* ibv_reg_mr_iova(3), with an error that tells a memlock limit from other failures (docs/transport.md). */
int o2_reg_region(struct ibv_pd *pd, void *addr, uint64_t length, uint64_t iova, int access,
		  struct ibv_mr **mr, struct o2_error *error);

/* The same for the domain, which counts it; and the end of one: *mr is NULL afterwards, unless the device
 * kept it.  0 or -errno. */
int o2_reg_region_make(struct o2_reg_domain *domain, void *addr, uint64_t length, uint64_t iova, int access,
		       struct ibv_mr **mr, struct o2_error *error);
/* kernel: ib_dereg_mr */
int o2_reg_region_end(struct o2_reg_domain *domain, struct ibv_mr **mr);

/* Count a region that was made by other means. */
void o2_reg_region_count(struct o2_reg_domain *domain, const struct ibv_mr *mr);

/* The plan's access bits as the device wants them. */
int o2_reg_access_flags(uint32_t plan_access);

#endif
