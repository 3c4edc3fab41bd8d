/* SPDX-License-Identifier: MIT */
#include "reg/domain.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "reg/bind_modes.h"

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

static int check_device(const struct o2_dma_device *dma, struct o2_error *error)
{
	if ((uint32_t)dma->kind >= O2_DMA_KINDS)
		return o2_refuse(error, -EINVAL, "bind/dma-kind", "kind", O2_NO_INDEX, dma->kind,
				 O2_DMA_KINDS - 1);
	if (dma->kind == O2_DMA_IOMMU && dma->iommu.device_page == NULL)
		return o2_refuse(error, -EINVAL, "bind/no-iommu-view", "kind", O2_NO_INDEX, dma->kind,
				 O2_NO_LIMIT);
	if (dma->base % dma->page_bytes != 0)
		return o2_limit_is(o2_refuse(error, -EINVAL, "bind/base-alignment", "base", O2_NO_INDEX,
					     dma->base, dma->page_bytes),
				   O2_LIMIT_MULTIPLE, error);
	if ((uint64_t)dma->npages * dma->page_bytes > UINT64_MAX - dma->base)
		return o2_refuse(error, -EINVAL, "bind/base-wraps", "base", O2_NO_INDEX, dma->base,
				 UINT64_MAX - (uint64_t)dma->npages * dma->page_bytes);
	return 0;
}

int o2_reg_detect(struct ibv_context *context, struct o2_reg_caps *caps, struct o2_error *error)
{
	const unsigned int windows = IBV_DEVICE_MEM_WINDOW_TYPE_2A | IBV_DEVICE_MEM_WINDOW_TYPE_2B;
	struct ibv_device_attr attr;
	int rc;

	memset(&attr, 0, sizeof(attr));
	rc = ibv_query_device(context, &attr);
	if (rc != 0)
		return o2_refuse(error, -(rc > 0 ? rc : EIO), "bind/query-device", "device", O2_NO_INDEX, 0,
				 O2_NO_LIMIT);
	/* Any device registers memory, and a contiguous buffer can stand in for a region with gaps. */
	*caps = (struct o2_reg_caps){
		.global = true,
		.fmr = true,
		.fastreg = (attr.device_cap_flags & windows) != 0,
		.gaps = true,
	};
	return 0;
}

static int open_pools(struct o2_reg_domain *domain, const struct o2_reg_config *config,
		      struct o2_error *error)
{
	const struct o2_reg_pools_config pools = {
		.clock = config->clock,
		.caps = config->caps,
		.sizes = config->sizes,
		.max_pools = config->max_pools,
		.page_bytes = domain->dma.page_bytes,
		.fmr_cache = config->fmr_cache,
		.ops = config->ops != NULL ? config->ops : &o2_reg_verbs_ops,
		.context = domain,
	};

	if (config->ncpts == 0)
		return o2_refuse(error, -EINVAL, "bind/ncpts", "ncpts", O2_NO_INDEX, 0, 1);
	domain->pools = calloc(config->ncpts, sizeof(*domain->pools));
	if (domain->pools == NULL)
		return o2_refuse(error, -ENOMEM, "bind/pools-memory", "ncpts", O2_NO_INDEX, config->ncpts,
				 O2_NO_LIMIT);
	for (; domain->ncpts < config->ncpts; domain->ncpts++) {
		int rc = o2_reg_pools_open(&domain->pools[domain->ncpts], &pools, domain->ncpts,
					   config->device, error);

		if (rc != 0)
			return rc;
	}
	return 0;
}

int o2_reg_domain_open(const struct o2_reg_config *config, struct o2_reg_domain *domain,
		       struct o2_error *error)
{
	int rc;

	memset(domain, 0, sizeof(*domain));
	domain->pd = config->pd;
	domain->arena = config->arena;
	domain->caps = config->caps;
	domain->reg_gaps = config->reg_gaps;
	domain->dma = describe_device(config->arena, config->kind, config->base);
	rc = -pthread_mutex_init(&domain->lock, NULL);
	if (rc != 0) {
		domain->pd = NULL;
		return o2_refuse(error, rc, "bind/lock", "lock", O2_NO_INDEX, 0, O2_NO_LIMIT);
	}
	rc = check_device(&domain->dma, error);
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
	for (uint32_t cpt = 0; cpt < domain->ncpts; cpt++)
		o2_reg_pools_close(&domain->pools[cpt]);
	free(domain->pools);
	o2_reg_staging_close(domain);
	o2_reg_global_close(domain);
	pthread_mutex_destroy(&domain->lock);
	memset(domain, 0, sizeof(*domain));
}

int o2_reg_domain_set_dma(struct o2_reg_domain *domain, enum o2_dma_kind kind, uint64_t base,
			  struct o2_error *error)
{
	const struct o2_dma_device dma = domain->dma;
	struct ibv_mr *local = domain->global_local, *remote = domain->global_remote;
	int rc;

	if (domain->nbound != 0)
		return o2_refuse(error, -EBUSY, "ni/bindings-alive", "nbound", O2_NO_INDEX, domain->nbound,
				 0);
	domain->dma = describe_device(domain->arena, kind, base);
	rc = check_device(&domain->dma, error);
	/* The new regions are made before the old ones go, so that a failure leaves everything as it was. */
	if (rc == 0 && domain->caps.global)
		rc = o2_reg_global_open(domain, error);
	if (rc != 0) {
		domain->dma = dma;
		domain->global_local = local;
		domain->global_remote = remote;
		return rc;
	}
	o2_reg_region_end(domain, &local);
	o2_reg_region_end(domain, &remote);
	/* What was kept was found by addresses that mean other pages now. */
	o2_reg_flush(domain);
	return 0;
}

void o2_reg_flush(struct o2_reg_domain *domain)
{
	for (uint32_t cpt = 0; cpt < domain->ncpts; cpt++)
		if (domain->pools[cpt].open[O2_REG_POOL_FMR])
			o2_fmr_set_flush(&domain->pools[cpt].fmr, true);
}

void o2_reg_fail_pools(struct o2_reg_domain *domain, uint64_t device)
{
	for (uint32_t cpt = 0; cpt < domain->ncpts; cpt++)
		o2_reg_pools_fail(&domain->pools[cpt], device);
}
