/* SPDX-License-Identifier: MIT */
/* Protection domains and memory regions. */
#include <stdlib.h>
#include <sys/mman.h>

#include "loopverbs/internal.h"

#ifndef MADV_POPULATE_READ /* Linux 5.14 */
#define MADV_POPULATE_READ  22
#define MADV_POPULATE_WRITE 23
#endif

/* Rights that need writable pages: these and the remote write rights, which require local write as well. */
#define WRITING ((unsigned int)(IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_MW_BIND))
#define REFUSED ((unsigned int)(IBV_ACCESS_ZERO_BASED | IBV_ACCESS_ON_DEMAND | IBV_ACCESS_HUGETLB))
#define KNOWN                                                                                        \
	((unsigned int)(IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ |  \
			IBV_ACCESS_REMOTE_ATOMIC | IBV_ACCESS_MW_BIND | IBV_ACCESS_OPTIONAL_RANGE) | \
	 REFUSED)

/*
 * The lkey and rkey of a region differ, although on most devices they are equal.  So a program that publishes
 * an lkey, or uses an rkey locally, fails here.
 */
#define OTHER_KEY 0x80u

struct ibv_pd *ibv_alloc_pd(struct ibv_context *context)
{
	struct o2l_pd *pd = calloc(1, sizeof(*pd));

	if (!pd)
		return o2l_refuse_object(ENOMEM);
	o2l_lock();
	pd->ibv.context = context;
	pd->ibv.handle = o2l_next_handle();
	LIST_INSERT_HEAD(&o2l_context_of(context)->pds, pd, link);
	o2l_fabric.counters.live_pds++;
	o2l_unlock();
	return &pd->ibv;
}

void o2l_pd_free(struct o2l_pd *pd)
{
	LIST_REMOVE(pd, link);
	o2l_fabric.counters.live_pds--;
	free(pd);
}

int ibv_dealloc_pd(struct ibv_pd *ibv)
{
	struct o2l_pd *pd = O2L_CONTAINER(ibv, struct o2l_pd, ibv);
	int error = 0;

	o2l_lock();
	if (pd->users)
		error = EBUSY;
	else
		o2l_pd_free(pd);
	o2l_unlock();
	return error;
}

static int advise(uint64_t addr, size_t length, int advice)
{
	/* The program has passed the range unchecked; the kernel checks it. */
	return madvise((void *)(uintptr_t)addr, length, advice) ? errno : 0;
}

/* Does the kernel support the advice?  Older kernels return EINVAL; then no pages are checked. */
static bool can_populate(void)
{
	static int known = -1;
	static char probe[2 * O2L_PAGE_BYTES];

	if (known < 0) {
		uint64_t page =
			((uint64_t)(uintptr_t)probe + O2L_PAGE_BYTES - 1) & ~(uint64_t)(O2L_PAGE_BYTES - 1);

		known = advise(page, O2L_PAGE_BYTES, MADV_POPULATE_READ) == 0;
	}
	return known > 0;
}

/* Fault in every page, as pinning would, for writing if the access rights need it. */
static int check_pages(const void *addr, size_t length, unsigned int access)
{
	uint64_t first = (uint64_t)(uintptr_t)addr & ~(uint64_t)(O2L_PAGE_BYTES - 1);
	uint64_t last = (uint64_t)(uintptr_t)addr + length;

	if (last < (uint64_t)(uintptr_t)addr || last > UINT64_MAX - O2L_PAGE_BYTES)
		return EINVAL;
	if (!o2l_fabric.option[O2_LOOP_CHECK_PAGES] || !can_populate())
		return 0;
	last = (last + O2L_PAGE_BYTES - 1) & ~(uint64_t)(O2L_PAGE_BYTES - 1);
	return advise(first, last - first,
		      access & (WRITING | O2L_REMOTE_CHANGE) ? MADV_POPULATE_WRITE : MADV_POPULATE_READ)
		       ? EFAULT
		       : 0;
}

int o2l_check_range(const void *addr, size_t length, unsigned int access)
{
	if (access & ~KNOWN || length == 0)
		return EINVAL;
	if (access & REFUSED)
		return EOPNOTSUPP;
	if (access & O2L_REMOTE_CHANGE && !(access & IBV_ACCESS_LOCAL_WRITE))
		return EINVAL;
	return check_pages(addr, length, access);
}

struct ibv_mr *o2l_mr_make(struct ibv_pd *pd, void *addr, size_t length, uint64_t iova, unsigned int access)
{
	struct o2l_mr *mr = calloc(1, sizeof(*mr));
	uint32_t index;

	if (!mr || o2l_index_add(&o2l_fabric.mrs, mr, &index)) {
		free(mr);
		return NULL;
	}
	mr->ibv.context = pd->context;
	mr->ibv.pd = pd;
	mr->ibv.addr = addr;
	mr->ibv.length = length;
	mr->ibv.handle = o2l_next_handle();
	mr->ibv.lkey = o2l_key(index);
	mr->ibv.rkey = mr->ibv.lkey ^ OTHER_KEY;
	mr->iova = iova;
	mr->access = access;
	O2L_CONTAINER(pd, struct o2l_pd, ibv)->users++;
	LIST_INSERT_HEAD(&o2l_context_of(pd->context)->mrs, mr, link);
	o2l_fabric.counters.live_mrs++;
	o2l_fabric.counters.registrations++;
	return &mr->ibv;
}

struct ibv_mr *ibv_reg_mr_iova2(struct ibv_pd *pd, void *addr, size_t length, uint64_t iova,
				unsigned int access)
{
	struct ibv_mr *mr = NULL;
	int error;

	o2l_lock();
	error = o2l_fault(O2_LOOP_CALL_REGISTER, 0);
	if (!error)
		error = o2l_check_range(addr, length, access);
	if (!error && (iova ^ (uint64_t)(uintptr_t)addr) & (O2L_PAGE_BYTES - 1))
		error = EINVAL;
	if (!error)
		mr = o2l_mr_make(pd, addr, length, iova, access);
	o2l_unlock();
	return mr ? mr : o2l_refuse_object(error ? error : ENOMEM);
}

struct ibv_mr *ibv_reg_mr(struct ibv_pd *pd, void *addr, size_t length, int access)
{
	return ibv_reg_mr_iova2(pd, addr, length, (uint64_t)(uintptr_t)addr, (unsigned int)access);
}

struct ibv_mr *ibv_reg_mr_iova(struct ibv_pd *pd, void *addr, size_t length, uint64_t iova, int access)
{
	return ibv_reg_mr_iova2(pd, addr, length, iova, (unsigned int)access);
}

void o2l_mr_free(struct o2l_mr *mr)
{
	o2l_index_remove(&o2l_fabric.mrs, mr->ibv.lkey >> 8);
	O2L_CONTAINER(mr->ibv.pd, struct o2l_pd, ibv)->users--;
	LIST_REMOVE(mr, link);
	o2l_gaps_free(mr->gaps);
	o2l_fast_free(mr);
	o2l_fabric.counters.live_mrs--;
	free(mr);
}

int ibv_dereg_mr(struct ibv_mr *ibv)
{
	struct o2l_mr *mr = O2L_CONTAINER(ibv, struct o2l_mr, ibv);
	int error = 0;

	o2l_lock();
	if (mr->windows)
		error = EINVAL; /* as soft-RoCE does while a window is bound */
	else
		o2l_mr_free(mr);
	o2l_unlock();
	return error;
}

/* Find a registered region of this protection domain by the number in the key's upper bits; or NULL. */
static struct o2l_mr *by_number(const struct ibv_pd *pd, uint32_t key)
{
	struct o2l_mr *mr = o2l_index_get(&o2l_fabric.mrs, key >> 8);

	return mr && mr->ibv.pd == pd && !o2l_fast_is_free(mr) ? mr : NULL;
}

struct o2l_mr *o2l_mr_by_lkey(const struct ibv_pd *pd, uint32_t lkey)
{
	struct o2l_mr *mr = by_number(pd, lkey);

	return mr && mr->ibv.lkey == lkey ? mr : NULL;
}

struct o2l_mr *o2l_mr_by_rkey(const struct ibv_pd *pd, uint32_t rkey)
{
	struct o2l_mr *mr = by_number(pd, rkey);

	return mr && mr->ibv.rkey == rkey ? mr : NULL;
}

/* Neither range may wrap: a region that ends beyond 2^64 can be registered, but no access lies inside it. */
bool o2l_range_in(uint64_t addr, uint64_t length, uint64_t base, uint64_t base_length)
{
	if (base > UINT64_MAX - base_length || addr < base || length > base_length)
		return false;
	return addr - base <= base_length - length;
}
