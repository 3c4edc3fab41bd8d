/* SPDX-License-Identifier: MIT */
/* Memory windows: allocation, binding, invalidation, and the check of remote keys. */
#include <assert.h>
#include <stdlib.h>

#include "loopverbs/internal.h"

#define KEY_BYTE 0xffu

struct ibv_mw *o2l_alloc_mw(struct ibv_pd *pd, enum ibv_mw_type type)
{
	struct o2l_mw *mw;
	uint32_t index;

	if (type != IBV_MW_TYPE_1 && type != IBV_MW_TYPE_2)
		return o2l_refuse_object(EINVAL);
	mw = calloc(1, sizeof(*mw));
	o2l_lock();
	if (!mw || o2l_fault(O2_LOOP_CALL_MAKE, 0) || o2l_index_add(&o2l_fabric.mws, mw, &index)) {
		o2l_unlock();
		free(mw);
		return o2l_refuse_object(ENOMEM);
	}
	mw->rkey = o2l_key(index);
	mw->ibv = (struct ibv_mw){pd->context, pd, mw->rkey, o2l_next_handle(), type};
	O2L_CONTAINER(pd, struct o2l_pd, ibv)->users++;
	LIST_INSERT_HEAD(&o2l_context_of(pd->context)->mws, mw, link);
	o2l_fabric.counters.live_mws++;
	o2l_unlock();
	return &mw->ibv;
}

static void unbind(struct o2l_mw *mw)
{
	if (mw->mr)
		mw->mr->windows--;
	if (mw->qp)
		mw->qp->bound_windows--;
	mw->mr = NULL;
	mw->qp = NULL;
	mw->valid = false;
}

void o2l_mw_free(struct o2l_mw *mw)
{
	unbind(mw);
	o2l_index_remove(&o2l_fabric.mws, mw->rkey >> 8);
	O2L_CONTAINER(mw->ibv.pd, struct o2l_pd, ibv)->users--;
	LIST_REMOVE(mw, link);
	o2l_fabric.counters.live_mws--;
	free(mw);
}

int o2l_dealloc_mw(struct ibv_mw *ibv)
{
	o2l_lock();
	o2l_mw_free(O2L_CONTAINER(ibv, struct o2l_mw, ibv));
	o2l_unlock();
	return 0;
}

static struct o2l_mw *mw_by_key(uint32_t rkey)
{
	struct o2l_mw *mw = o2l_index_get(&o2l_fabric.mws, rkey >> 8);

	return mw && mw->rkey == rkey ? mw : NULL;
}

/*
 * The window's range is in the region's addresses and must lie inside the region.  This holds for a zero-based
 * window too: only accesses through it count from 0.
 */
static bool bind_range_ok(const struct o2l_send *wr, const struct o2l_mr *mr)
{
	return o2l_range_in(wr->bind.addr, wr->bind.length, mr->iova, mr->ibv.length);
}

/* The bind rules of the InfiniBand specification, C10-72 to C10-77 and o10-37.2. */
static bool bind_allowed(const struct o2l_qp *qp, const struct o2l_mw *mw, const struct o2l_mr *mr,
			 const struct o2l_send *wr)
{
	bool type2 = mw->ibv.type == IBV_MW_TYPE_2;

	if (mw->ibv.pd != qp->ibv.pd)
		return false;
	if (type2 && (mw->valid || !mr || wr->bind.length == 0))
		return false;
	if (!type2 && wr->bind.access & IBV_ACCESS_ZERO_BASED)
		return false;
	if (!mr)
		return wr->bind.length == 0;
	if (mr->ibv.pd != qp->ibv.pd || !(mr->access & IBV_ACCESS_MW_BIND))
		return false;
	if (wr->bind.access & O2L_REMOTE_CHANGE && !(mr->access & IBV_ACCESS_LOCAL_WRITE))
		return false;
	if (wr->bind.access & IBV_ACCESS_REMOTE_ATOMIC && mr->gaps)
		return false; /* an atomic might span two entries, as in o2_loop_reg_gaps */
	return wr->bind.length == 0 || bind_range_ok(wr, mr);
}

enum ibv_wc_status o2l_mw_bind(struct o2l_qp *qp, const struct o2l_send *wr)
{
	struct o2l_mw *mw = mw_by_key(wr->bind.old_rkey);
	struct o2l_mr *mr = NULL;

	if (wr->bind.mr_lkey) {
		mr = o2l_mr_by_lkey(qp->ibv.pd, wr->bind.mr_lkey);
		if (!mr)
			return IBV_WC_MW_BIND_ERR;
	}
	if (!mw || !bind_allowed(qp, mw, mr, wr))
		return IBV_WC_MW_BIND_ERR;
	unbind(mw); /* a type 1 window may be bound again without invalidation */
	mw->rkey = (mw->rkey & ~KEY_BYTE) | (wr->bind.new_rkey & KEY_BYTE);
	mw->addr = wr->bind.addr;
	mw->length = wr->bind.length;
	mw->access = wr->bind.access;
	if (wr->bind.length) {
		assert(mr != NULL);
		mw->valid = true;
		mw->mr = mr;
		mr->windows++;
		if (mw->ibv.type == IBV_MW_TYPE_2) {
			mw->qp = qp;
			qp->bound_windows++;
		}
	}
	o2l_fabric.counters.binds++;
	return IBV_WC_SUCCESS;
}

bool o2l_mw_invalidate(struct o2l_qp *qp, uint32_t rkey)
{
	struct o2l_mw *mw = mw_by_key(rkey);

	if (rkey >> 8 < O2L_FIRST_MW_INDEX)
		return o2l_fast_invalidate(qp, rkey);
	/* Only a bound type 2 window can be invalidated, and only by the queue pair that has bound it. */
	if (!mw || mw->ibv.type != IBV_MW_TYPE_2 || !mw->valid || mw->qp != qp)
		return false;
	unbind(mw);
	o2l_fabric.counters.invalidates++;
	return true;
}

static uint8_t *window_range(const struct o2l_qp *qp, uint32_t rkey, uint64_t addr, uint64_t length,
			     unsigned int access)
{
	const struct o2l_mw *mw = mw_by_key(rkey);
	uint64_t base;

	if (!mw || !mw->valid || mw->ibv.pd != qp->ibv.pd || (mw->ibv.type == IBV_MW_TYPE_2 && mw->qp != qp))
		return NULL;
	if ((mw->access & access) != access)
		return NULL;
	base = mw->access & IBV_ACCESS_ZERO_BASED ? 0 : mw->addr;
	if (o2l_fabric.option[O2_LOOP_WINDOW_BOUNDS] && !o2l_range_in(addr, length, base, mw->length))
		return NULL;
	addr = addr - base + mw->addr;
	if (!o2l_range_in(addr, length, mw->mr->iova, mw->mr->ibv.length))
		return NULL;
	return (uint8_t *)mw->mr->ibv.addr + (addr - mw->mr->iova);
}

uint8_t *o2l_remote_range(const struct o2l_qp *qp, uint32_t rkey, uint64_t addr, uint64_t length,
			  unsigned int access)
{
	const struct o2l_mr *mr;

	if (rkey >> 8 >= O2L_FIRST_MW_INDEX)
		return window_range(qp, rkey, addr, length, access);
	mr = o2l_mr_by_rkey(qp->ibv.pd, rkey);
	if (!mr || (mr->access & access) != access || !o2l_range_in(addr, length, mr->iova, mr->ibv.length))
		return NULL;
	return (uint8_t *)mr->ibv.addr + (addr - mr->iova);
}
