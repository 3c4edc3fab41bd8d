/* SPDX-License-Identifier: MIT */
/* Choosing a registration mode (docs/modes.md): every combination of device capabilities, by row. */

#include "reg/domain.h"
#include "reg/plan.h"
#include "tests/lib/unit_test.h"

#define NONE O2_REG_MODES /* -ENOSYS */
#define GL   O2_REG_GLOBAL
#define FMR  O2_REG_FMR
#define FR   O2_REG_FASTREG
#define GAPS O2_REG_FASTREG_GAPS

enum { G = 1, F = 2, R = 4, S = 8 }; /* global, fmr, fastreg, gaps */

static const struct {
	enum o2_reg_preference preference;
	uint32_t map_on_demand;
	bool use_gaps;
	uint32_t segments;
	enum o2_reg_mode mode[16]; /* index: capabilities of the device, as bits above */
} rows[] = {
	/* clang-format off */
	/*                                            -     G   F    GF   R   GR  FR   GFR  S     GS  FS   GFS  RS    GRS   FRS  all */
	{O2_PREFER_THRESHOLD, 0, true, 257,         {NONE, GL, FMR, GL,  FR, GL, FMR, GL,  NONE, GL, FMR, GL,  GAPS, GL,   FMR, GL}},
	{O2_PREFER_THRESHOLD, 4, true, 3,           {NONE, GL, FMR, GL,  FR, GL, FMR, GL,  NONE, GL, FMR, GL,  GAPS, GL,   FMR, GL}},
	{O2_PREFER_THRESHOLD, 4, true, 4,           {NONE, NONE, FMR, FMR, FR, FR, FMR, FMR, NONE, NONE, FMR, FMR, GAPS, GAPS, FMR, FMR}},
	{O2_PREFER_THRESHOLD, 4, false, 4,          {NONE, NONE, FMR, FMR, FR, FR, FMR, FMR, NONE, NONE, FMR, FMR, FR, FR, FMR, FMR}},
	{O2_PREFER_THRESHOLD, 1, true, 1,           {NONE, GL, FMR, GL,  FR, GL, FMR, GL,  NONE, GL, FMR, GL,  GAPS, GL,   FMR, GL}},
	{O2_PREFER_THRESHOLD, 1, true, 2,           {NONE, NONE, FMR, FMR, FR, FR, FMR, FMR, NONE, NONE, FMR, FMR, GAPS, GAPS, FMR, FMR}},
	{O2_PREFER_MAPPING, 0, true, 257,           {NONE, GL, FMR, GL,  FR, GL, FMR, GL,  NONE, GL, FMR, GL,  GAPS, GL,   FMR, GL}},
	{O2_PREFER_MAPPING, 1, true, 1,             {NONE, GL, FMR, FMR, FR, FR, FMR, FMR, NONE, GL, FMR, FMR, GAPS, GAPS, FMR, FMR}},
	{O2_PREFER_MAPPING, 256, false, 257,        {NONE, GL, FMR, FMR, FR, FR, FMR, FMR, NONE, GL, FMR, FMR, FR, FR, FMR, FMR}},
	/* clang-format on */
};

TEST(every_combination)
{
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct o2_reg_policy policy = {rows[i].preference, rows[i].map_on_demand, rows[i].use_gaps};

		for (uint32_t bits = 0; bits < 16; bits++) {
			struct o2_reg_caps caps = {(bits & G) != 0, (bits & F) != 0, (bits & R) != 0,
						   (bits & S) != 0};
			enum o2_reg_mode mode = NONE;
			struct o2_error error = {0};
			int rc = o2_reg_choose(&caps, &policy, rows[i].segments, &mode, &error);

			if (mode != rows[i].mode[bits] || rc != (mode == NONE ? -ENOSYS : 0))
				fail_msg("row %zu, device 0x%x: mode %d, rc %d", i, bits, mode, rc);
			if (rc != 0)
				assert_string_equal(error.rule, "choose/no-way-to-register");
		}
	}
}

TEST(refusals)
{
	struct o2_reg_caps caps = {true, true, true, true};
	struct o2_reg_policy policy = {O2_PREFER_MAPPING, 257, true};
	enum o2_reg_mode mode;
	struct o2_error error;

	assert_error(o2_reg_choose(&caps, &policy, 1, &mode, &error), -EINVAL, &error,
		     "choose/map-on-demand");
	assert_int_equal(error.value, 257);
	policy.map_on_demand = 256;
	assert_error(o2_reg_choose(&caps, &policy, 0, &mode, &error), -EINVAL, &error, "choose/segments");
	policy.preference = (enum o2_reg_preference)2;
	assert_error(o2_reg_choose(&caps, &policy, 1, &mode, &error), -EINVAL, &error, "choose/preference");
}

static unsigned int flags;

/* The linker requires these names (ld(1), --wrap). */
int __wrap_ibv_query_device(struct ibv_context *context, struct ibv_device_attr *attr);

int __wrap_ibv_query_device(struct ibv_context *context, struct ibv_device_attr *attr)
{
	*attr = (struct ibv_device_attr){.device_cap_flags = flags};
	return 0;
}

/* Mode fastreg needs windows that work requests bind; any device supports the rest. */
TEST(what_a_device_can)
{
	static const struct {
		unsigned int flags;
		bool fastreg;
	} devices[] = {{0, false},
		       {IBV_DEVICE_MEM_WINDOW | IBV_DEVICE_MEM_MGT_EXTENSIONS, false},
		       {IBV_DEVICE_MEM_WINDOW_TYPE_2A, true},
		       {IBV_DEVICE_MEM_WINDOW_TYPE_2B, true}};
	struct o2_reg_caps caps;

	for (size_t i = 0; i < sizeof(devices) / sizeof(devices[0]); i++) {
		flags = devices[i].flags;
		assert_int_equal(o2_reg_detect(NULL, &caps, NULL), 0);
		assert_int_equal(caps.fastreg, devices[i].fastreg);
		assert_true(caps.global && caps.fmr && caps.gaps);
	}
}
