/* SPDX-License-Identifier: MIT */
/*
 * Fast registration: one work request gives a region its memory, key and rights, and another removes them
 * (docs/loopverbs.md, "Fast registration").
 */
#include <stdlib.h>

#include "loopverbs/internal.h"

#define GRANTED ((unsigned int)(IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ))

struct o2l_fast {
	uint32_t max_entries;
	bool registered;
	struct o2l_gaps *mapped; /* the byte ranges of the next registration; NULL: none */
	uint64_t mapped_iova;
};

struct ibv_mr *o2_loop_alloc_mr(struct ibv_pd *pd, uint32_t max_entries)
{
	struct o2l_fast *fast;
	struct ibv_mr *mr;
	int error;

	if (max_entries == 0 || max_entries > O2_LOOP_GAP_ENTRIES)
		return o2l_refuse_object(EINVAL);
	fast = calloc(1, sizeof(*fast));
	o2l_lock();
	error = fast ? o2l_fault(O2_LOOP_CALL_REGISTER, 0) : ENOMEM;
	mr = error ? NULL : o2l_mr_make(pd, NULL, 0, 0, 0);
	if (mr) {
		/* A registration sets lkey and rkey to the same key. */
		mr->rkey = mr->lkey;
		fast->max_entries = max_entries;
		O2L_CONTAINER(mr, struct o2l_mr, ibv)->fast = fast;
	}
	o2l_unlock();
	if (mr)
		return mr;
	free(fast);
	return o2l_refuse_object(error ? error : ENOMEM);
}

void o2l_fast_free(struct o2l_mr *mr)
{
	if (mr->fast)
		o2l_gaps_free(mr->fast->mapped);
	free(mr->fast);
}

bool o2l_fast_is_free(const struct o2l_mr *mr)
{
	return mr->fast && !mr->fast->registered;
}

int o2_loop_map_mr(struct ibv_mr *ibv, const struct ibv_sge *entry, uint32_t count, uint64_t iova)
{
	struct o2l_mr *mr = O2L_CONTAINER(ibv, struct o2l_mr, ibv);
	struct o2l_gaps *gaps = NULL;
	int error = 0;

	if (!mr->fast || count == 0 || count > mr->fast->max_entries)
		return -EINVAL;
	o2l_lock();
	/* The rights are known only at registration; so check for read and write access, as drivers do. */
	for (uint32_t i = 0; !error && i < count; i++)
		error = o2l_check_range((const void *)(uintptr_t)entry[i].addr, entry[i].length,
					IBV_ACCESS_LOCAL_WRITE);
	if (!error)
		gaps = o2l_gaps_make(entry, count);
	if (gaps) {
		o2l_gaps_free(mr->fast->mapped);
		mr->fast->mapped = gaps;
		mr->fast->mapped_iova = iova;
	}
	o2l_unlock();
	return gaps ? (int)count : -(error ? error : ENOMEM);
}

void o2_loop_reg_mr(struct ibv_mr *mr, uint32_t key, unsigned int access, struct ibv_send_wr *wr)
{
	*wr = (struct ibv_send_wr){
		.opcode = O2_LOOP_WR_REG_MR,
		.bind_mw = {.rkey = key, .bind_info = {.mr = mr, .mw_access_flags = access}},
	};
}

int o2l_fast_check(const struct o2l_qp *qp, const struct ibv_send_wr *wr)
{
	const struct ibv_mr *ibv = wr->bind_mw.bind_info.mr;
	const unsigned int access = wr->bind_mw.bind_info.mw_access_flags;

	if (!ibv || !O2L_CONTAINER(ibv, struct o2l_mr, ibv)->fast || ibv->pd != qp->ibv.pd)
		return EINVAL;
	if (access & ~GRANTED || (access & IBV_ACCESS_REMOTE_WRITE && !(access & IBV_ACCESS_LOCAL_WRITE)))
		return EINVAL;
	return 0;
}

/* Find a fast-registration region of this protection domain by the number in the key's upper bits; or NULL. */
static struct o2l_mr *fast_by_number(const struct o2l_qp *qp, uint32_t key)
{
	struct o2l_mr *mr = o2l_index_get(&o2l_fabric.mrs, key >> 8);

	return mr && mr->fast && mr->ibv.pd == qp->ibv.pd ? mr : NULL;
}

bool o2l_fast_register(struct o2l_qp *qp, const struct o2l_send *wr)
{
	struct o2l_mr *mr = fast_by_number(qp, wr->bind.mr_lkey);
	uint64_t length;

	/* A region that is registered must be invalidated first. */
	if (!mr || mr->fast->registered || !mr->fast->mapped || wr->bind.new_rkey >> 8 != mr->ibv.lkey >> 8)
		return false;
	o2l_gaps_free(mr->gaps);
	mr->gaps = mr->fast->mapped;
	mr->fast->mapped = NULL;
	mr->fast->registered = true;
	mr->ibv.addr = o2l_gaps_range(mr->gaps, &length);
	mr->ibv.length = length;
	mr->iova = mr->fast->mapped_iova;
	mr->access = wr->bind.access;
	mr->ibv.lkey = wr->bind.new_rkey;
	mr->ibv.rkey = wr->bind.new_rkey;
	o2l_fabric.counters.binds++;
	return true;
}

bool o2l_fast_invalidate(struct o2l_qp *qp, uint32_t key)
{
	struct o2l_mr *mr = fast_by_number(qp, key);

	/* Kernels also invalidate before the first registration; a region that is not registered stays so. */
	if (!mr || (mr->fast->registered && mr->ibv.lkey != key))
		return false;
	mr->fast->registered = false;
	o2l_fabric.counters.invalidates++;
	return true;
}
