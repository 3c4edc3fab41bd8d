/* SPDX-License-Identifier: MIT */
#include <stddef.h>

#include "reg/bind_modes.h"

/*
 * Mode fmr, lazy (docs/modes.md, "fmr"): a released region stays registered until there are too many, or
 * until somebody flushes.  Its window stays with it: what lies under a live key must not become other memory.
 */

void o2_reg_fmr_keep(struct o2_reg_domain *domain, struct o2_binding *binding)
{
	if (binding->mr == NULL)
		return;
	if (domain->nlazy == O2_DOMAIN_LAZY)
		o2_reg_flush(domain);
	domain->lazy[domain->nlazy++] = (struct o2_lazy_region){binding->mr, binding->window};
	binding->mr = NULL;
	binding->window = (struct o2_arena_window){.addr = NULL, .slot = -1};
}

void o2_reg_flush(struct o2_reg_domain *domain)
{
	while (domain->nlazy > 0) {
		struct o2_lazy_region *region = &domain->lazy[--domain->nlazy];

		ibv_dereg_mr(region->mr);
		o2_arena_window_close(domain->arena, &region->window);
	}
}
