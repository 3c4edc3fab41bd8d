/* SPDX-License-Identifier: MIT */
#include "reg/choose.h"

#include <assert.h>
#include <errno.h>

/* Largest value of the tunable in any release. */
#define MAP_ON_DEMAND_MAX 256u
static_assert(MAP_ON_DEMAND_MAX == O2_MAX_FRAGS_LEGACY, "as many fragments as trees with the tunable have");

bool o2_reg_caps_permit(const struct o2_reg_caps *caps, enum o2_reg_mode mode)
{
	switch (mode) {
	case O2_REG_GLOBAL:
		return caps->global;
	case O2_REG_FMR:
		return caps->fmr;
	case O2_REG_FASTREG:
		return caps->fastreg;
	case O2_REG_FASTREG_GAPS:
		return caps->fastreg && caps->gaps;
	default:
		return true;
	}
}

/* The two exclude each other on the devices there were; where both are, the older one, FMR, is used. */
static bool choose_mapping(const struct o2_reg_caps *caps, const struct o2_reg_policy *policy,
			   enum o2_reg_mode *mode)
{
	if (caps->fmr)
		*mode = O2_REG_FMR;
	else if (caps->fastreg)
		*mode = caps->gaps && policy->use_gaps ? O2_REG_FASTREG_GAPS : O2_REG_FASTREG;
	return caps->fmr || caps->fastreg;
}

/* Few segments are not worth a registration; where there is no device-wide region, everything is mapped. */
static bool below_threshold(const struct o2_reg_policy *policy, uint32_t segments)
{
	uint32_t threshold = policy->map_on_demand == 1 ? 2 : policy->map_on_demand;

	return threshold == 0 || segments < threshold;
}

int o2_reg_choose(const struct o2_reg_caps *caps, const struct o2_reg_policy *policy, uint32_t segments,
		  enum o2_reg_mode *mode, struct o2_error *error)
{
	bool want_global;

	if (policy->map_on_demand > MAP_ON_DEMAND_MAX)
		return o2_refuse_value(error, -EINVAL, "choose/map-on-demand", "map_on_demand",
				       policy->map_on_demand, MAP_ON_DEMAND_MAX);
	if (segments == 0)
		return o2_refuse_value(error, -EINVAL, "choose/segments", "segments", 0, 1);
	switch (policy->preference) {
	case O2_PREFER_THRESHOLD:
		want_global = below_threshold(policy, segments);
		break;
	case O2_PREFER_MAPPING:
		want_global = policy->map_on_demand == 0;
		break;
	default:
		return o2_refuse_value(error, -EINVAL, "choose/preference", "preference", policy->preference,
				       O2_PREFER_MAPPING);
	}
	if (want_global && caps->global) {
		*mode = O2_REG_GLOBAL;
		return 0;
	}
	if (choose_mapping(caps, policy, mode))
		return 0;
	/* Mapping was asked for and there is none: the newer code falls back, the older one gives up. */
	if (caps->global && policy->preference == O2_PREFER_MAPPING) {
		*mode = O2_REG_GLOBAL;
		return 0;
	}
	return o2_refuse_other(error, -ENOSYS, "choose/no-way-to-register", "caps.global", caps->global, 1);
}
