/* SPDX-License-Identifier: MIT */
#include "reg/domain.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/*
 * The symbols of libibverbs that registration needs.  Opening a domain stores them in it, so that a program
 * that only plans does not link them (docs/architecture.md, "Rooms").
 */
const struct o2_reg_verbs o2_reg_libibverbs = {ibv_reg_mr_iova2, ibv_dereg_mr};
const struct o2_reg_ops o2_reg_verbs_ops = {&o2_reg_verbs_fmr, &o2_reg_verbs_frd};

static struct o2_dma_device describe_device(const struct o2_arena *arena, enum o2_dma_kind kind,
					    uint64_t base)
{
	return (struct o2_dma_device){
		.kind = kind,
		.page_bytes = arena->page_bytes,
		.npages = arena->npages,
		.base = kind == O2_DMA_VIRTUAL ? (uintptr_t)arena->memory : base,
		.unmapped = arena->unmapped,
		.iommu = {.device_page = kind == O2_DMA_IOMMU ? o2_arena_iommu(arena) : NULL},
	};
}

/* An IOMMU's device addresses are backed by a view of the arena, which is mapped here. */
static int map_device(const struct o2_reg_domain *domain, struct o2_error *error)
{
	if (domain->dma.kind != O2_DMA_IOMMU)
		return 0;
	return domain->bounce ? o2_arena_map_bounced(domain->arena, error)
			      : o2_arena_map_view(domain->arena, O2_ARENA_IOMMU_VIEW, error);
}

static int check_device(const struct o2_dma_device *dma, struct o2_error *error)
{
	if ((uint32_t)dma->kind >= O2_DMA_KINDS)
		return o2_refuse_value(error, -EINVAL, "bind/dma-kind", "kind", dma->kind, O2_DMA_KINDS - 1);
	if (dma->kind == O2_DMA_IOMMU && dma->iommu.device_page == NULL)
		return o2_fail(error, -EINVAL, "bind/no-iommu-view", "kind", dma->kind);
	if (dma->base % dma->page_bytes != 0)
		return o2_refuse_multiple(error, -EINVAL, "bind/base-alignment", "base", dma->base,
					  dma->page_bytes);
	if ((uint64_t)dma->npages * dma->page_bytes > UINT64_MAX - dma->base)
		return o2_refuse_value(error, -EINVAL, "bind/base-wraps", "base", dma->base,
				       UINT64_MAX - (uint64_t)dma->npages * dma->page_bytes);
	return 0;
}

/* Open the pool set of one kind for one partition.  The context of its device calls is the domain. */
static int open_set(struct o2_reg_domain *domain, const struct o2_reg_config *config,
		    struct o2_reg_pools *pools, enum o2_reg_pool_kind kind, struct o2_error *error)
{
	const struct o2_reg_ops *ops = config->ops != NULL ? config->ops : &o2_reg_verbs_ops;
	const struct o2_pool_set_config set = {
		.clock = config->clock,
		.device = config->device,
		.max_pools = config->max_pools,
	};
	const struct o2_fmr_config fmr = {
		.set = set,
		.ops = ops->fmr,
		.context = domain,
		.pool_size = config->sizes.reg_size,
		.max_pages = O2_MAX_FRAGS,
		.page_bytes = domain->dma.page_bytes,
		/* Of a capped set, a dirty region may be the last one. */
		.watermark = config->max_pools == 0 ? config->sizes.flush_trigger : 1,
		.cache = config->fmr_cache,
	};
	const bool fast = kind == O2_REG_POOL_FRD && domain->fast != NULL;
	const struct o2_frd_config frd = {
		.set = set,
		.ops = fast ? &o2_reg_fast_frd : ops->frd,
		.context = domain,
		.order = fast ? O2_FRD_INVALIDATE_FIRST : O2_FRD_INVALIDATE_LAST,
		.pool_size = config->sizes.reg_size,
		.max_pages = O2_MAX_FRAGS,
		.gaps = kind == O2_REG_POOL_FRD_GAPS,
	};
	struct o2_frd_set *descriptors = kind == O2_REG_POOL_FRD ? &pools->frd : &pools->frd_gaps;
	int rc = kind == O2_REG_POOL_FMR ? o2_fmr_set_init(&pools->fmr, &fmr, error)
					 : o2_frd_set_init(descriptors, &frd, error);

	if (rc == 0)
		pools->set[kind] = kind == O2_REG_POOL_FMR ? &pools->fmr.set : &descriptors->set;
	pools->pool_size = config->sizes.reg_size;
	return rc;
}

/* Open, for each partition, the pool sets of the modes that may be used. */
static int open_pools(struct o2_reg_domain *domain, const struct o2_reg_config *config,
		      struct o2_error *error)
{
	static const enum o2_reg_mode user[O2_REG_POOL_KINDS] = {
		[O2_REG_POOL_FMR] = O2_REG_FMR,
		[O2_REG_POOL_FRD] = O2_REG_FASTREG,
		[O2_REG_POOL_FRD_GAPS] = O2_REG_FASTREG_GAPS,
	};
	int rc = 0;

	if (config->ncpts == 0)
		return o2_refuse_value(error, -EINVAL, "bind/ncpts", "ncpts", 0, 1);
	domain->pools = calloc(config->ncpts, sizeof(*domain->pools));
	if (domain->pools == NULL)
		return o2_fail(error, -ENOMEM, "bind/pools-memory", "ncpts", config->ncpts);
	domain->ncpts = config->ncpts;
	for (uint32_t cpt = 0; cpt < config->ncpts; cpt++)
		for (int kind = 0; kind < O2_REG_POOL_KINDS && rc == 0; kind++)
			if (o2_reg_caps_permit(&config->caps, user[kind]))
				rc = open_set(domain, config, &domain->pools[cpt],
					      (enum o2_reg_pool_kind)kind, error);
	return rc;
}

/* Close the pool sets that exist; the domain may be only partly open.  No element may be in use. */
static void close_pools(struct o2_reg_domain *domain)
{
	for (uint32_t cpt = 0; cpt < domain->ncpts; cpt++)
		for (int kind = 0; kind < O2_REG_POOL_KINDS; kind++)
			if (domain->pools[cpt].set[kind] != NULL)
				(void)o2_pool_set_close(domain->pools[cpt].set[kind], NULL);
	free(domain->pools);
}

void o2_reg_fail_pools(struct o2_reg_domain *domain, uint64_t device)
{
	for (uint32_t cpt = 0; cpt < domain->ncpts; cpt++)
		for (int kind = 0; kind < O2_REG_POOL_KINDS; kind++)
			if (domain->pools[cpt].set[kind] != NULL)
				(void)o2_pool_set_fail(domain->pools[cpt].set[kind], device);
}

int o2_reg_domain_open(const struct o2_reg_config *config, struct o2_reg_domain *domain,
		       struct o2_error *error)
{
	int rc;

	memset(domain, 0, sizeof(*domain));
	domain->verbs = &o2_reg_libibverbs;
	domain->pd = config->pd;
	domain->arena = config->arena;
	domain->caps = config->caps;
	domain->reg_gaps = config->reg_gaps;
	domain->fast = config->fast;
	domain->dma = describe_device(config->arena, config->kind, config->base);
	domain->bounce = config->bounce;
	domain->max_bound =
		config->max_pools == 0 ? UINT64_MAX : (uint64_t)config->max_pools * config->sizes.reg_size;
	rc = -pthread_mutex_init(&domain->lock, NULL);
	if (rc != 0) {
		domain->pd = NULL;
		return o2_fail(error, rc, "bind/lock", "lock", 0);
	}
	rc = check_device(&domain->dma, error);
	if (rc == 0)
		rc = map_device(domain, error);
	if (rc == 0 && config->caps.global)
		rc = o2_reg_global_open(domain, error);
	if (rc == 0)
		rc = open_pools(domain, config, error);
	if (rc != 0)
		o2_reg_domain_close(domain);
	return rc;
}

void o2_reg_domain_close(struct o2_reg_domain *domain)
{
	if (domain->pd == NULL)
		return;
	close_pools(domain);
	o2_reg_staging_close(domain);
	o2_reg_global_close(domain);
	pthread_mutex_destroy(&domain->lock);
	memset(domain, 0, sizeof(*domain));
}

/* Change what the device sees: its addresses (to), or whether it uses bounce pages. */
static int change(struct o2_reg_domain *domain, const struct o2_dma_device *to, bool bounce,
		  struct o2_error *error)
{
	const struct o2_dma_device dma = domain->dma;
	const bool bounced = domain->bounce;
	struct ibv_mr *local = domain->global_local, *remote = domain->global_remote;
	int rc;

	if (domain->nbound != 0)
		return o2_refuse_value(error, -EBUSY, "ni/bindings-alive", "nbound", domain->nbound, 0);
	domain->dma = *to;
	domain->bounce = bounce;
	rc = check_device(&domain->dma, error);
	if (rc == 0)
		rc = map_device(domain, error);
	/* The new regions are made before the old ones go, so that a failure leaves everything as it was. */
	if (rc == 0 && domain->caps.global)
		rc = o2_reg_global_open(domain, error);
	if (rc != 0) {
		domain->dma = dma;
		domain->bounce = bounced;
		domain->global_local = local;
		domain->global_remote = remote;
		return rc;
	}
	o2_reg_region_end(domain, &local);
	o2_reg_region_end(domain, &remote);
	/* The kept regions are cached by device addresses, which now mean other pages. */
	o2_reg_flush(domain);
	return 0;
}

int o2_reg_domain_set_dma(struct o2_reg_domain *domain, enum o2_dma_kind kind, uint64_t base,
			  struct o2_error *error)
{
	const struct o2_dma_device dma = describe_device(domain->arena, kind, base);

	return change(domain, &dma, domain->bounce, error);
}

int o2_reg_domain_set_bounce(struct o2_reg_domain *domain, bool bounce, struct o2_error *error)
{
	return change(domain, &domain->dma, bounce, error);
}

int o2_reg_detect(struct ibv_context *context, struct o2_reg_caps *caps, struct o2_error *error)
{
	const unsigned int mw_type_2 = IBV_DEVICE_MEM_WINDOW_TYPE_2A | IBV_DEVICE_MEM_WINDOW_TYPE_2B;
	struct ibv_device_attr attr;
	int rc;

	memset(&attr, 0, sizeof(attr));
	rc = ibv_query_device(context, &attr);
	if (rc != 0)
		return o2_fail(error, o2_errno_or(rc, EIO), "bind/query-device", "device", 0);
	/* Every device registers memory, and a contiguous buffer can stand in for a region with gaps. */
	*caps = (struct o2_reg_caps){
		.global = true,
		.fmr = true,
		.fastreg = (attr.device_cap_flags & mw_type_2) != 0,
		.gaps = true,
	};
	return 0;
}
