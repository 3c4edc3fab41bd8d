/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/mutant.h"
#include "reg/bind_modes.h"

/*
 * Mode fastreg on user-space verbs (docs/modes.md, "fastreg"): the pages are registered as in mode fmr, but
 * without remote access, and a type 2 memory window over that region gives the peer its key.  Binding and
 * invalidating the window are work requests, ordered with the messages of the queue pair, and every bind
 * takes the next key: the life of a fast-registration key.
 */

static int take_window(struct o2_reg_domain *domain, struct ibv_mw **mw, struct o2_error *error)
{
	if (domain->nidle_mw > 0) {
		*mw = domain->idle_mw[--domain->nidle_mw];
		domain->nbusy_mw++;
		return 0;
	}
	errno = 0;
	*mw = ibv_alloc_mw(domain->pd, IBV_MW_TYPE_2);
	if (*mw != NULL) {
		domain->nbusy_mw++;
		return 0;
	}
	return o2_refuse(error, errno != 0 ? -errno : -EIO, "bind/fastreg/alloc-window", "windows",
			 O2_NO_INDEX, (uint64_t)domain->nbound + 1, O2_DOMAIN_WINDOWS);
}

/* reuse: the key is dead, so that the window may be bound again. */
static void give_window(struct o2_reg_domain *domain, struct ibv_mw *mw, bool reuse)
{
	domain->nbusy_mw--;
	if (reuse && domain->nidle_mw < O2_DOMAIN_WINDOWS)
		domain->idle_mw[domain->nidle_mw++] = mw;
	else
		ibv_dealloc_mw(mw);
}

static int bind_sink(struct o2_reg_domain *domain, const struct o2_reg_plan *plan, o2_reg_make_region make,
		     struct o2_binding *binding, struct o2_error *error)
{
	int access = o2_reg_access_flags(plan->access & O2_ACCESS_LOCAL_WRITE) | IBV_ACCESS_MW_BIND;
	int rc;

	if ((plan->access & O2_ACCESS_REMOTE_WRITE) == 0)
		return o2_refuse(error, -EINVAL, "bind/fastreg/sink-access", "access", O2_NO_INDEX,
				 plan->access, O2_ACCESS_REMOTE_WRITE);
	rc = take_window(domain, &binding->mw, error);
	if (rc != 0)
		return rc;
	rc = make(domain, plan, access, binding, error);
	if (rc != 0) {
		give_window(domain, binding->mw, true);
		binding->mw = NULL;
		return rc;
	}
	binding->key = ibv_inc_rkey(binding->mw->rkey);
	binding->state = O2_BINDING_PREPARED;
	return 0;
}

int o2_reg_bind_keyed(struct o2_reg_domain *domain, const struct o2_reg_plan *plan, o2_reg_make_region make,
		      struct o2_binding *binding, struct o2_error *error)
{
	int rc;

	if (plan->side == O2_SINK)
		return bind_sink(domain, plan, make, binding, error);
	rc = make(domain, plan, o2_reg_access_flags(plan->access), binding, error);
	if (rc != 0)
		return rc;
	binding->key = binding->mr->lkey;
	binding->state = O2_BINDING_READY;
	return 0;
}

int o2_reg_bind_fastreg(struct o2_reg_domain *domain, const struct o2_reg_plan *plan,
			struct o2_binding *binding, struct o2_error *error)
{
	return o2_reg_bind_keyed(domain, plan, o2_reg_window_mr, binding, error);
}

/*
 * A POSTED window belongs to a queue pair in error, or to one that may still execute the bind.  Deallocating
 * it is the one way to kill its key without that queue pair; invalidating is not, and putting it back would
 * hand out a window that is still bound.
 */
void o2_reg_fastreg_release(struct o2_reg_domain *domain, struct o2_binding *binding)
{
	if (o2_mutate(WINDOW_KEPT, binding->mw == NULL, true))
		return;
	give_window(domain, binding->mw, binding->state != O2_BINDING_POSTED);
	binding->mw = NULL;
}

void o2_reg_fastreg_close(struct o2_reg_domain *domain)
{
	while (domain->nidle_mw > 0)
		ibv_dealloc_mw(domain->idle_mw[--domain->nidle_mw]);
}

void o2_binding_bind_wr(const struct o2_binding *binding, uint64_t wr_id, struct ibv_send_wr *wr)
{
	*wr = (struct ibv_send_wr){
		.wr_id = wr_id,
		.opcode = IBV_WR_BIND_MW,
		.bind_mw = {.mw = binding->mw,
			    .rkey = binding->key,
			    .bind_info = {.mr = binding->mr,
					  .addr = binding->iova,
					  .length = binding->length,
					  .mw_access_flags = IBV_ACCESS_REMOTE_WRITE}},
	};
}

/*
 * The provider reads the window's old key from mw->rkey when the bind is posted and leaves it there
 * (ibv_post_send(3) does not promise more), so the new one is noted here.
 */
void o2_binding_posted(struct o2_binding *binding)
{
	binding->mw->rkey = binding->key;
	binding->state = O2_BINDING_POSTED;
}

bool o2_binding_needs_invalidate(const struct o2_binding *binding)
{
	return binding->state == O2_BINDING_POSTED;
}

void o2_binding_invalidate_wr(const struct o2_binding *binding, uint64_t wr_id, struct ibv_send_wr *wr)
{
	*wr = (struct ibv_send_wr){
		.wr_id = wr_id,
		.opcode = IBV_WR_LOCAL_INV,
		.send_flags = IBV_SEND_SIGNALED,
		.invalidate_rkey = binding->key,
	};
}

void o2_binding_invalidated(struct o2_binding *binding)
{
	binding->state = O2_BINDING_DEAD;
}
