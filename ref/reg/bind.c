/* SPDX-License-Identifier: MIT */
#include "reg/bind.h"

#include <errno.h>
#include <string.h>

#include "reg/bind_modes.h"

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
	if (dma->base % dma->page_bytes != 0)
		return o2_refuse(error, -EINVAL, "bind/base-alignment", "base", O2_NO_INDEX, dma->base,
				 dma->page_bytes);
	if ((uint64_t)dma->npages * dma->page_bytes > UINT64_MAX - dma->base)
		return o2_refuse(error, -EINVAL, "bind/base-wraps", "base", O2_NO_INDEX, dma->base,
				 UINT64_MAX - (uint64_t)dma->npages * dma->page_bytes);
	return 0;
}

int o2_reg_domain_open(struct ibv_pd *pd, struct o2_arena *arena, enum o2_dma_kind kind, uint64_t base,
		       struct o2_reg_domain *domain, struct o2_error *error)
{
	int rc;

	memset(domain, 0, sizeof(*domain));
	domain->pd = pd;
	domain->arena = arena;
	domain->dma = describe_device(arena, kind, base);
	rc = check_device(&domain->dma, error);
	if (rc == 0)
		rc = o2_reg_global_open(domain, error);
	if (rc != 0)
		memset(domain, 0, sizeof(*domain));
	return rc;
}

void o2_reg_domain_close(struct o2_reg_domain *domain)
{
	o2_reg_flush(domain);
	o2_reg_fastreg_close(domain);
	o2_reg_staging_close(domain);
	o2_reg_global_close(domain);
	memset(domain, 0, sizeof(*domain));
}

static int check_plan(const struct o2_reg_domain *domain, const struct o2_reg_plan *plan,
		      struct o2_error *error)
{
	if ((uint32_t)plan->mode >= O2_REG_MODES)
		return o2_refuse(error, -EINVAL, "bind/mode", "mode", O2_NO_INDEX, plan->mode,
				 O2_REG_MODES - 1);
	if (plan->side != O2_SOURCE && plan->side != O2_SINK)
		return o2_refuse(error, -EINVAL, "bind/side", "side", O2_NO_INDEX, plan->side, O2_SINK);
	if (plan->page_bytes != domain->dma.page_bytes)
		return o2_refuse(error, -EINVAL, "bind/page-size", "page_bytes", O2_NO_INDEX,
				 plan->page_bytes, domain->dma.page_bytes);
	if (plan->nfrags == 0 || plan->nfrags > O2_MAX_FRAGS)
		return o2_refuse(error, -EINVAL, "bind/nfrags", "nfrags", O2_NO_INDEX, plan->nfrags,
				 O2_MAX_FRAGS);
	return 0;
}

int o2_reg_bind(struct o2_reg_domain *domain, const struct o2_reg_plan *plan, struct o2_binding *binding,
		struct o2_error *error)
{
	static int (*const bind_mode[O2_REG_MODES])(struct o2_reg_domain *, const struct o2_reg_plan *,
						    struct o2_binding *, struct o2_error *) = {
		[O2_REG_GLOBAL] = o2_reg_bind_global,	[O2_REG_FMR] = o2_reg_bind_fmr,
		[O2_REG_FASTREG] = o2_reg_bind_fastreg, [O2_REG_USER] = o2_reg_bind_user,
		[O2_REG_PHYS] = o2_reg_bind_phys,	[O2_REG_FASTREG_GAPS] = o2_reg_bind_fastreg_gaps,
	};
	int rc = check_plan(domain, plan, error);

	*binding = (struct o2_binding){.window = {.slot = -1}};
	if (rc != 0)
		return rc;
	binding->mode = plan->mode;
	binding->side = plan->side;
	binding->iova = plan->iova;
	binding->length = plan->length;
	rc = bind_mode[plan->mode](domain, plan, binding, error);
	if (rc != 0)
		*binding = (struct o2_binding){.window = {.slot = -1}};
	else
		domain->nbound++;
	return rc;
}

/* The memory window goes first: a region cannot be deregistered while a window is bound to it. */
void o2_reg_unbind(struct o2_reg_domain *domain, struct o2_binding *binding)
{
	if (binding->state == O2_BINDING_NONE)
		return;
	o2_reg_fastreg_release(domain, binding);
	if (binding->mode == O2_REG_FMR && domain->fmr_lazy)
		o2_reg_fmr_keep(domain, binding);
	if (binding->mode != O2_REG_GLOBAL && binding->mr != NULL)
		ibv_dereg_mr(binding->mr);
	o2_reg_staging_release(domain, binding);
	o2_arena_window_close(domain->arena, &binding->window);
	*binding = (struct o2_binding){.window = {.slot = -1}};
	domain->nbound--;
}

void o2_binding_desc(const struct o2_binding *binding, const struct o2_reg_plan *plan,
		     struct o2_rdma_desc *desc)
{
	desc->rd_key = binding->key;
	desc->rd_nfrags = plan->nfrags;
	memcpy(desc->rd_frags, plan->frag, plan->nfrags * sizeof(plan->frag[0]));
}
