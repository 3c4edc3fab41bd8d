/* SPDX-License-Identifier: MIT */
#include "lnd/ni/counts.h"

#include <errno.h>
#include <string.h>

static void add_set(struct o2_ni_pool_counts *sum, struct o2_pool_set *set, uint32_t pool_size)
{
	struct o2_pool_counts counts;

	if (set == NULL)
		return;
	o2_pool_set_counts(set, &counts);
	sum->sets++;
	sum->live += counts.live;
	sum->failed += counts.failed;
	sum->elements += (uint64_t)(counts.live + counts.failed) * pool_size;
	sum->idle += o2_pool_set_idle(set);
	sum->users += counts.live_users + counts.failed_users;
	sum->version += counts.version;
	sum->created += counts.created;
	sum->destroyed += counts.destroyed;
	sum->create_failures += counts.create_failures;
}

void o2_ni_get_counts(struct o2_ni *ni, struct o2_ni_counts *counts)
{
	memset(counts, 0, sizeof(*counts));
	for (uint32_t cpt = 0; cpt < ni->domain.ncpts; cpt++)
		for (uint32_t kind = 0; kind < O2_REG_POOL_KINDS; kind++)
			add_set(&counts->pool[kind], ni->domain.pools[cpt].set[kind],
				ni->domain.pools[cpt].pool_size);
	for (uint32_t cpt = 0; cpt < ni->ntx_sets; cpt++)
		add_set(&counts->pool[O2_NI_POOL_TX], &ni->tx_sets[cpt].set,
			ni->tx_sets[cpt].config.pool_size);
	counts->bindings = ni->domain.nbound;
	counts->mappings = ni->ledger.live;
	counts->mapped_entries = ni->ledger.live_entries;
	counts->wrong_unmaps = ni->ledger.wrong_unmaps;
	counts->kmaps = ni->arena.kmaps->live;
	counts->wrong_kunmaps = ni->arena.kmaps->wrong;
	counts->arena_windows = ni->arena.windows_in_use;
	counts->idle_stagings = ni->domain.nidle_staging;
	counts->live = ni->domain.live;
}

static int check_pools(const struct o2_ni_counts *counts, struct o2_error *error)
{
	for (uint32_t kind = 0; kind < O2_NI_POOL_KINDS; kind++) {
		const struct o2_ni_pool_counts *pool = &counts->pool[kind];

		if (pool->users != 0)
			return o2_refuse(error, -EBUSY, "ni/counts/users", "pool[].users", kind, pool->users,
					 0);
		if (pool->failed != 0)
			return o2_refuse(error, -EBUSY, "ni/counts/failed-pools", "pool[].failed", kind,
					 pool->failed, 0);
		if (pool->idle != pool->elements)
			return o2_refuse(error, -EBUSY, "ni/counts/idle", "pool[].idle", kind, pool->idle,
					 pool->elements);
	}
	return 0;
}

int o2_ni_check_idle(struct o2_ni *ni, struct o2_error *error)
{
	struct o2_ni_counts counts;
	int rc;

	o2_ni_get_counts(ni, &counts);
	const struct {
		const char *rule, *field;
		uint64_t is, should;
	} laws[] = {
		{"ni/counts/bindings", "bindings", counts.bindings, 0},
		{"ni/counts/mappings", "mappings", counts.mappings, 0},
		{"ni/counts/mapped-entries", "mapped_entries", counts.mapped_entries, 0},
		{"ni/counts/wrong-unmaps", "wrong_unmaps", counts.wrong_unmaps, 0},
		{"ni/counts/kmaps", "kmaps", counts.kmaps, 0},
		{"ni/counts/wrong-kunmaps", "wrong_kunmaps", counts.wrong_kunmaps, 0},
		{"ni/counts/regions", "live.regions", counts.live.regions,
		 (uint64_t)(ni->domain.global_local != NULL) + (ni->domain.global_remote != NULL) +
			 counts.pool[O2_NI_POOL_TX].live + counts.live.fmr_regions +
			 counts.live.descriptor_regions},
		{"ni/counts/windows", "live.windows",
		 (uint64_t)counts.live.mws + counts.live.descriptor_regions,
		 counts.pool[O2_NI_POOL_FRD].elements + counts.pool[O2_NI_POOL_FRD_GAPS].elements},
	};

	rc = check_pools(&counts, error);
	for (size_t i = 0; rc == 0 && i < sizeof(laws) / sizeof(laws[0]); i++)
		if (laws[i].is != laws[i].should)
			rc = o2_refuse_value(error, -EBUSY, laws[i].rule, laws[i].field, laws[i].is,
					     laws[i].should);
	if (rc == 0 && counts.arena_windows > counts.live.fmr_regions)
		rc = o2_refuse_value(error, -EBUSY, "ni/counts/arena-windows", "arena_windows",
				     counts.arena_windows, counts.live.fmr_regions);
	return rc;
}
