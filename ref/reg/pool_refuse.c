/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <stddef.h>

#include "reg/poolset.h"

/* What the kinds of pools, and those who hold what is theirs, are told. */

int o2_pool_refuse_op(struct o2_error *error, int code, const char *rule, const char *field, uint32_t index,
		      uint64_t value, uint64_t limit)
{
	if (error != NULL && error->code == code)
		return code;
	return o2_refuse(error, code, rule, field, index, value, limit);
}

int o2_pool_set_check(struct o2_pool_set *set, const struct o2_pool *pool, uint64_t device,
		      struct o2_error *error)
{
	bool failed;

	pthread_mutex_lock(&set->lock);
	failed = pool->failed;
	pthread_mutex_unlock(&set->lock);
	if (failed)
		return o2_refuse(error, -ENETDOWN, "pool/failed", "failed", O2_NO_INDEX, 1, O2_NO_LIMIT);
	if (pool->device != device)
		return o2_refuse_other(error, -ENETDOWN, "pool/other-device", "device", pool->device, device);
	return 0;
}
