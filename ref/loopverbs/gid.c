/* SPDX-License-Identifier: MIT */
/* GID and partition key tables of a port. */
#include <arpa/inet.h>

#include "loopverbs/internal.h"

/* The only partition key: full membership in the default partition. */
#define DEFAULT_PKEY 0xffff
/* RoCE v2 in /sys, and the value of ibv_query_gid_type (0 would be InfiniBand or RoCE v1). */
#define SYSFS_ROCE_V2 1

/* libibverbs exports it, but declares it in no header. */
int ibv_query_gid_type(struct ibv_context *context, uint8_t port_num, unsigned int index, int *type);

int ibv_query_gid(struct ibv_context *context, uint8_t port_num, int index, union ibv_gid *gid)
{
	if (port_num != 1 || index < 0 || (uint32_t)index >= O2L_GIDS)
		return o2l_refuse_call(EINVAL);
	*gid = o2l_context_of(context)->device->gid[index];
	return 0;
}

int ibv_query_gid_type(struct ibv_context *context, uint8_t port_num, unsigned int index, int *type)
{
	(void)context;
	if (port_num != 1 || index >= O2L_GIDS)
		return o2l_refuse_call(EINVAL);
	*type = SYSFS_ROCE_V2;
	return 0;
}

static struct ibv_gid_entry entry_of(struct ibv_context *context, uint32_t index)
{
	return (struct ibv_gid_entry){
		.gid = o2l_context_of(context)->device->gid[index],
		.gid_index = index,
		.port_num = 1,
		.gid_type = IBV_GID_TYPE_ROCE_V2,
	};
}

int _ibv_query_gid_ex(struct ibv_context *context, uint32_t port_num, uint32_t gid_index,
		      struct ibv_gid_entry *entry, uint32_t flags, size_t entry_size)
{
	if (port_num != 1 || gid_index >= O2L_GIDS || entry_size < sizeof(*entry))
		return EINVAL;
	if (flags)
		return EOPNOTSUPP;
	*entry = entry_of(context, gid_index);
	return 0;
}

ssize_t _ibv_query_gid_table(struct ibv_context *context, struct ibv_gid_entry *entries, size_t max_entries,
			     uint32_t flags, size_t entry_size)
{
	if (flags)
		return -EOPNOTSUPP;
	if (entry_size < sizeof(*entries) || max_entries < O2L_GIDS)
		return -EINVAL;
	for (size_t i = 0; i < O2L_GIDS; i++) {
		struct ibv_gid_entry entry = entry_of(context, (uint32_t)i);

		memcpy((char *)entries + i * entry_size, &entry, sizeof(entry));
	}
	return O2L_GIDS;
}

int ibv_query_pkey(struct ibv_context *context, uint8_t port_num, int index, __be16 *pkey)
{
	(void)context;
	if (port_num != 1 || index != 0)
		return o2l_refuse_call(EINVAL);
	*pkey = htons(DEFAULT_PKEY);
	return 0;
}

int ibv_get_pkey_index(struct ibv_context *context, uint8_t port_num, __be16 pkey)
{
	(void)context;
	if (port_num != 1 || pkey != htons(DEFAULT_PKEY))
		return o2l_refuse_call(EINVAL);
	return 0;
}
