/* SPDX-License-Identifier: MIT */
#include "reg/pools.h"

static const char *const kind_names[O2_REG_POOL_KINDS] = {
	[O2_REG_POOL_FMR] = "fmr",
	[O2_REG_POOL_FRD] = "frd",
	[O2_REG_POOL_FRD_GAPS] = "frd_gaps",
};

const char *o2_reg_pool_name(enum o2_reg_pool_kind kind)
{
	return (uint32_t)kind < O2_REG_POOL_KINDS ? kind_names[kind] : NULL;
}

static int open_fmr(struct o2_fmr_set *set, const struct o2_reg_pools_config *config,
		    const struct o2_pool_set_config *common, struct o2_error *error)
{
	const struct o2_fmr_config fmr = {
		.set = *common,
		.ops = config->ops->fmr,
		.context = config->context,
		.pool_size = config->sizes.reg_size,
		.max_pages = O2_MAX_FRAGS,
		.page_bytes = config->page_bytes,
		.watermark = config->sizes.flush_trigger,
		.cache = config->fmr_cache,
	};

	return o2_fmr_set_init(set, &fmr, error);
}

static int open_frd(struct o2_frd_set *set, const struct o2_reg_pools_config *config,
		    const struct o2_pool_set_config *common, bool gaps, struct o2_error *error)
{
	const struct o2_frd_config frd = {
		.set = *common,
		.ops = config->ops->frd,
		.context = config->context,
		.order = O2_FRD_INVALIDATE_LAST,
		.pool_size = config->sizes.reg_size,
		.max_pages = O2_MAX_FRAGS,
		.gaps = gaps,
	};

	return o2_frd_set_init(set, &frd, error);
}

int o2_reg_pools_open(struct o2_reg_pools *pools, const struct o2_reg_pools_config *config, uint32_t cpt,
		      uint64_t device, struct o2_error *error)
{
	const struct o2_pool_set_config common = {
		.clock = config->clock,
		.device = device,
		.cpt = cpt,
		.max_pools = config->max_pools,
	};
	const bool wanted[O2_REG_POOL_KINDS] = {
		[O2_REG_POOL_FMR] = config->caps.fmr,
		[O2_REG_POOL_FRD] = config->caps.fastreg,
		[O2_REG_POOL_FRD_GAPS] = config->caps.fastreg && config->caps.gaps,
	};
	int rc = 0;

	*pools = (struct o2_reg_pools){0};
	for (uint32_t kind = 0; kind < O2_REG_POOL_KINDS && rc == 0; kind++) {
		if (!wanted[kind])
			continue;
		if (kind == O2_REG_POOL_FMR)
			rc = open_fmr(&pools->fmr, config, &common, error);
		else
			rc = open_frd(kind == O2_REG_POOL_FRD ? &pools->frd : &pools->frd_gaps, config,
				      &common, kind == O2_REG_POOL_FRD_GAPS, error);
		pools->open[kind] = rc == 0;
	}
	if (rc != 0)
		o2_reg_pools_close(pools);
	return rc;
}

struct o2_pool_set *o2_reg_pools_set(struct o2_reg_pools *pools, enum o2_reg_pool_kind kind)
{
	struct o2_pool_set *const sets[O2_REG_POOL_KINDS] = {
		[O2_REG_POOL_FMR] = &pools->fmr.set,
		[O2_REG_POOL_FRD] = &pools->frd.set,
		[O2_REG_POOL_FRD_GAPS] = &pools->frd_gaps.set,
	};

	return pools->open[kind] ? sets[kind] : NULL;
}

void o2_reg_pools_close(struct o2_reg_pools *pools)
{
	for (uint32_t kind = 0; kind < O2_REG_POOL_KINDS; kind++) {
		struct o2_pool_set *set = o2_reg_pools_set(pools, kind);

		if (set != NULL)
			(void)o2_pool_set_close(set, NULL);
		pools->open[kind] = false;
	}
}

void o2_reg_pools_fail(struct o2_reg_pools *pools, uint64_t device)
{
	for (uint32_t kind = 0; kind < O2_REG_POOL_KINDS; kind++) {
		struct o2_pool_set *set = o2_reg_pools_set(pools, kind);

		if (set != NULL)
			(void)o2_pool_set_fail(set, device);
	}
}

void o2_reg_pools_counts(struct o2_reg_pools *pools, enum o2_reg_pool_kind kind,
			 struct o2_reg_pool_counts *counts)
{
	struct o2_pool_set *set = o2_reg_pools_set(pools, kind);

	*counts = (struct o2_reg_pool_counts){0};
	if (set == NULL)
		return;
	o2_pool_set_counts(set, &counts->set);
	counts->elements = (uint64_t)(counts->set.live + counts->set.failed) *
			   (kind == O2_REG_POOL_FMR   ? pools->fmr.config.pool_size
			    : kind == O2_REG_POOL_FRD ? pools->frd.config.pool_size
						      : pools->frd_gaps.config.pool_size);
	counts->idle = o2_pool_set_idle(set);
}
