/* SPDX-License-Identifier: MIT */
#include <inttypes.h>

#include "lnd/ni/counts.h"
#include "props/talk/settings_internal.h"

/* What a device and a domain hold before and after a call, and an interface in the end. */

struct o2_settings_holds o2_settings_holds(const struct o2_ni *ni)
{
	const struct o2_reg_domain *domain = &ni->domain;
	struct o2_settings_holds holds = {
		.regions = domain->live.regions,
		.mws = domain->live.mws,
		.fmr_regions = domain->live.fmr_regions,
		.descriptor_regions = domain->live.descriptor_regions,
		.bound = domain->nbound,
		.windows = ni->arena.nwindows - ni->arena.windows_in_use,
		.pinned_bytes = domain->live.pinned_bytes,
		.local = domain->global_local,
		.remote = domain->global_remote,
	};

	o2_loop_get_counters(&holds.device);
	return holds;
}

void o2_settings_same(struct o2_settings_run *run, struct o2_report *report, const char *what, uint64_t found,
		      uint64_t expected)
{
	if (found != expected)
		o2_report_fail(report, "settings/account", "%s: %s is %" PRIu64 ", expected %" PRIu64,
			       run->text, what, found, expected);
}

/* After a call that failed: rc and error are set, and nothing has changed. */
void o2_settings_unchanged(struct o2_settings_run *run, struct o2_report *report,
			   const struct o2_settings_holds *before, const struct o2_settings_holds *after)
{
	o2_settings_same(run, report, "regions", after->regions, before->regions);
	o2_settings_same(run, report, "windows of the device", after->mws, before->mws);
	o2_settings_same(run, report, "regions of mode fmr", after->fmr_regions, before->fmr_regions);
	o2_settings_same(run, report, "regions of descriptors", after->descriptor_regions,
			 before->descriptor_regions);
	o2_settings_same(run, report, "bindings", after->bound, before->bound);
	o2_settings_same(run, report, "windows of the arena", after->windows, before->windows);
	o2_settings_same(run, report, "pinned bytes", after->pinned_bytes, before->pinned_bytes);
	o2_settings_same(run, report, "the region of sources", after->local == before->local, true);
	o2_settings_same(run, report, "the region of sinks", after->remote == before->remote, true);
	o2_settings_same(run, report, "the device's regions", after->device.live_mrs,
			 before->device.live_mrs);
	o2_settings_same(run, report, "the device's windows", after->device.live_mws,
			 before->device.live_mws);
}

void o2_settings_check_idle(struct o2_settings_run *run, struct o2_report *report, struct o2_ni *ni)
{
	struct o2_error error = {0};

	if (o2_ni_check_idle(ni, &error) != 0)
		o2_report_fail(report, "settings/idle", "%s: %s", run->text, error.rule);
}
