/* SPDX-License-Identifier: MIT */
#include "lnd/ni/counts.h"

#include <errno.h>
#include <string.h>

const char *o2_ni_pool_name(enum o2_ni_pool_kind kind)
{
	return kind == O2_NI_POOL_TX ? "tx" : o2_reg_pool_name((enum o2_reg_pool_kind)kind);
}

static void add_set(struct o2_ni_pool_counts *sum, const struct o2_pool_counts *set, uint64_t elements,
		    uint64_t idle)
{
	sum->sets++;
	sum->live += set->live;
	sum->failed += set->failed;
	sum->elements += elements;
	sum->idle += idle;
	sum->users += set->live_users + set->failed_users;
	sum->version += set->version;
	sum->created += set->created;
	sum->destroyed += set->destroyed;
	sum->create_failures += set->create_failures;
}

static void count_registrations(struct o2_ni *ni, struct o2_ni_counts *counts)
{
	for (uint32_t cpt = 0; cpt < ni->domain.ncpts; cpt++) {
		struct o2_reg_pools *pools = &ni->domain.pools[cpt];

		for (uint32_t kind = 0; kind < O2_REG_POOL_KINDS; kind++) {
			struct o2_reg_pool_counts one;

			if (pools->set[kind] == NULL)
				continue;
			o2_reg_pools_counts(pools, (enum o2_reg_pool_kind)kind, &one);
			add_set(&counts->pool[kind], &one.set, one.elements, one.idle);
		}
	}
}

static void count_transmits(struct o2_ni *ni, struct o2_ni_counts *counts)
{
	for (uint32_t cpt = 0; cpt < ni->ntx_sets; cpt++) {
		struct o2_tx_set *set = &ni->tx_sets[cpt];
		struct o2_pool_counts one;

		o2_pool_set_counts(&set->set, &one);
		add_set(&counts->pool[O2_NI_POOL_TX], &one,
			(uint64_t)(one.live + one.failed) * set->config.pool_size,
			o2_pool_set_idle(&set->set));
	}
}

void o2_ni_get_counts(struct o2_ni *ni, struct o2_ni_counts *counts)
{
	memset(counts, 0, sizeof(*counts));
	count_registrations(ni, counts);
	count_transmits(ni, counts);
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

static uint32_t global_regions(const struct o2_ni *ni)
{
	return (ni->domain.global_local != NULL) + (ni->domain.global_remote != NULL);
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
		 (uint64_t)global_regions(ni) + counts.pool[O2_NI_POOL_TX].live + counts.live.fmr_regions +
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
