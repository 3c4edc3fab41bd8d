/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <string.h>
#include <sys/resource.h>

#include "reg/domain.h"

/*
 * The calls of libibverbs that registration needs, in one object of their own: a domain is given them when it
 * is opened, so that a program that only plans links none of them (docs/architecture.md, "Rooms").
 */

int o2_reg_mr(struct ibv_pd *pd, void *addr, uint64_t length, uint64_t iova, int access, struct ibv_mr **mr,
	      struct o2_error *error)
{
	struct rlimit limit = {.rlim_cur = RLIM_INFINITY};
	int code;

	errno = 0;
	*mr = ibv_reg_mr_iova(pd, addr, length, iova, access);
	if (*mr != NULL)
		return 0;
	code = o2_errno_or(errno, EIO);
	if (code == -ENOMEM || code == -EAGAIN)
		getrlimit(RLIMIT_MEMLOCK, &limit);
	if (limit.rlim_cur != RLIM_INFINITY)
		return o2_refuse_value(error, -ENOMEM, "bind/memlock",
				       "bytes to lock in memory (RLIMIT_MEMLOCK, ulimit -l)", length,
				       limit.rlim_cur);
	return o2_refuse_value(error, code, "bind/register", "length", length, O2_NO_LIMIT);
}

const struct o2_reg_verbs o2_reg_libibverbs = {o2_reg_mr, ibv_dereg_mr};

int o2_reg_detect(struct ibv_context *context, struct o2_reg_caps *caps, struct o2_error *error)
{
	const unsigned int mw_type_2 = IBV_DEVICE_MEM_WINDOW_TYPE_2A | IBV_DEVICE_MEM_WINDOW_TYPE_2B;
	struct ibv_device_attr attr;
	int rc;

	memset(&attr, 0, sizeof(attr));
	rc = ibv_query_device(context, &attr);
	if (rc != 0)
		return o2_refuse_value(error, o2_errno_or(rc, EIO), "bind/query-device", "device", 0,
				       O2_NO_LIMIT);
	/* Any device registers memory, and a contiguous buffer can stand in for a region with gaps. */
	*caps = (struct o2_reg_caps){
		.global = true,
		.fmr = true,
		.fastreg = (attr.device_cap_flags & mw_type_2) != 0,
		.gaps = true,
	};
	return 0;
}
