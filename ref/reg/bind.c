/* SPDX-License-Identifier: MIT */
#include "reg/bind.h"

#include <errno.h>
#include <string.h>

#include "reg/mode.h"

int o2_reg_bind(struct o2_reg_domain *domain, uint32_t cpt, const struct o2_reg_plan *plan,
		struct o2_binding *binding, struct o2_error *error)
{
	int rc;

	*binding = (struct o2_binding){.bound = false};
	if ((uint32_t)plan->mode >= O2_REG_MODES)
		return o2_refuse_value(error, -EINVAL, "bind/mode", "mode", plan->mode, O2_REG_MODES - 1);
	if (plan->side != O2_SOURCE && plan->side != O2_SINK)
		return o2_refuse_value(error, -EINVAL, "bind/side", "side", plan->side, O2_SINK);
	if (cpt >= domain->ncpts)
		return o2_refuse_value(error, -EINVAL, "bind/cpt", "cpt", cpt, domain->ncpts - 1);
	if (plan->page_bytes != domain->dma.page_bytes)
		return o2_refuse_value(error, -EINVAL, "bind/page-size", "page_bytes", plan->page_bytes,
				       domain->dma.page_bytes);
	if (plan->nfrags == 0 || plan->nfrags > O2_MAX_FRAGS)
		return o2_refuse_value(error, -EINVAL, "bind/nfrags", "nfrags", plan->nfrags, O2_MAX_FRAGS);
	if (!o2_reg_caps_permit(&domain->caps, plan->mode))
		return o2_fail(error, -EINVAL, "bind/no-way", "mode", plan->mode);
	binding->mode = plan->mode;
	binding->side = plan->side;
	binding->cpt = cpt;
	binding->iova = plan->iova;
	binding->length = plan->length;
	rc = o2_reg_modes[plan->mode]->bind(domain, plan, binding, error);
	if (rc != 0) {
		*binding = (struct o2_binding){.bound = false};
		return rc;
	}
	binding->bound = true;
	domain->nbound++;
	return 0;
}

int o2_reg_deliver(const struct o2_reg_domain *domain, const struct o2_binding *binding, uint64_t nob,
		   struct o2_error *error)
{
	const struct o2_reg_mode_ops *mode = o2_reg_modes[binding->mode];

	return binding->bound && mode->deliver != NULL ? mode->deliver(domain, binding, nob, error) : 0;
}

int o2_reg_unbind_region(struct o2_reg_domain *domain, struct o2_binding *binding, bool failed,
			 struct o2_error *error)
{
	int rc = o2_reg_region_release(domain, &binding->region);

	(void)failed;
	return rc == 0 ? 0 : o2_fail(error, rc, "bind/deregister", "length", binding->length);
}

int o2_reg_unbind(struct o2_reg_domain *domain, struct o2_binding *binding, bool failed,
		  struct o2_error *error)
{
	const struct o2_reg_mode_ops *mode = o2_reg_modes[binding->mode];
	int rc = 0;

	if (!binding->bound)
		return 0;
	if (mode->release != NULL)
		rc = mode->release(domain, binding, failed, error);
	*binding = (struct o2_binding){.bound = false};
	/* Increment unbinds first: a thread that reads nbound as 0 must see every release counted. */
	domain->unbinds++;
	domain->nbound--;
	return rc;
}

void o2_binding_desc(const struct o2_binding *binding, const struct o2_reg_plan *plan,
		     struct o2_rdma_desc *desc)
{
	desc->rd_key = binding->key;
	desc->rd_nfrags = plan->nfrags;
	memcpy(desc->rd_frags, plan->frag, plan->nfrags * sizeof(plan->frag[0]));
}
