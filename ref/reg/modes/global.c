/* SPDX-License-Identifier: MIT */
#include "base/breaks.h"
#include "reg/domain.h"
#include "reg/mode.h"

/*
 * Mode global: two regions, made once, cover all memory.  A transfer registers nothing, and every segment is
 * published as it is (docs/modes.md, "global").
 */

static int plan_global(const struct o2_reg_request *request, const struct o2_dma_list *segments,
		       uint32_t total, struct o2_reg_plan *plan, struct o2_error *error)
{
	(void)request;
	(void)total;
	(void)error;
	for (uint32_t i = 0; i < segments->count; i++) {
		plan->frag[i].rf_addr = segments->segment[i].addr;
		plan->frag[i].rf_nob = segments->segment[i].length;
	}
	plan->nfrags = segments->count;
	return 0;
}

/* The region for sources has no remote access: a peer can reach memory only through the region for sinks. */
int o2_reg_global_open(struct o2_reg_domain *domain, struct o2_error *error)
{
	const struct o2_arena *arena = domain->arena;
	uint64_t length = (uint64_t)arena->npages * arena->page_bytes;
	const int writable = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE;
	int access = o2_breaks("reg/source-local", true) ? 0 : writable;
	int rc = o2_reg_region_make(domain, o2_reg_device_memory(domain, O2_SOURCE), length, domain->dma.base,
				    access, &domain->global_local, error);

	if (rc != 0)
		return rc;
	rc = o2_reg_region_make(domain, o2_reg_device_memory(domain, O2_SINK), length, domain->dma.base,
				writable, &domain->global_remote, error);
	if (rc != 0)
		o2_reg_global_close(domain);
	return rc;
}

void o2_reg_global_close(struct o2_reg_domain *domain)
{
	(void)o2_reg_region_end(domain, &domain->global_local);
	(void)o2_reg_region_end(domain, &domain->global_remote);
}

static int bind_global(struct o2_reg_domain *domain, const struct o2_reg_plan *plan,
		       struct o2_binding *binding, struct o2_error *error)
{
	(void)error;
	binding->key = plan->side == O2_SOURCE ? domain->global_local->lkey : domain->global_remote->rkey;
	return 0;
}

const struct o2_reg_mode_ops o2_reg_mode_global = {.plan = plan_global, .bind = bind_global};
