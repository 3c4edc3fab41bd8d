/* SPDX-License-Identifier: MIT */
/* Checks of messages to send: for each rule, the values on both sides of its limit, and unchecked fields. */
#include "tests/lib/unit_test.h"

#include "lst/wire/msg.h"
#include "lst/wire/range.h"
#include "lst/wire/rules.h"

static struct o2_lst_msg msg;

static void sample(uint32_t type)
{
	memset(&msg, 0, sizeof(msg));
	msg.msg_version = 1;
	msg.msg_type = type;
	msg.msg_ses_feats = 1;
}

static void sample_brw(void)
{
	sample(O2_LST_BRW_REQST);
	msg.u.brw_reqst.brw_rw = 2;
	msg.u.brw_reqst.brw_flags = 3;
	msg.u.brw_reqst.brw_len = 4096;
}

static void sample_test(uint8_t is_client)
{
	sample(O2_LST_TEST_REQST);
	msg.u.test_reqst = (struct o2_lst_test_reqst){.tsr_service = 11,
						      .tsr_loop = 1,
						      .tsr_concur = 1,
						      .tsr_is_client = is_client,
						      .tsr_ndest = is_client,
						      .tsr_u.bulk_v1 = {1, 3, 2048, 512}};
}

/* Check the message with `member` set to this value.  rule_ NULL: it passes; else this rule and limit refuse it. */
#define EXPECT(member, set, rule_, limit_)                                     \
	do {                                                                   \
		const struct o2_lst_msg before = msg;                          \
		struct o2_error error = {0};                                   \
		const char *wanted = (rule_);                                  \
		msg.member = (set);                                            \
		const uint64_t now = msg.member;                               \
		const int rc = o2_lst_range_check(&msg, &error);               \
		if (wanted == NULL) {                                          \
			if (rc != 0)                                           \
				fail_msg(#member " " #set ": %s", error.rule); \
		} else {                                                       \
			assert_int_equal(rc, -EINVAL);                         \
			assert_string_equal(error.rule, wanted);               \
			assert_int_equal(error.value, now);                    \
			assert_int_equal(error.limit, (uint64_t)(limit_));     \
			assert_int_equal(error.class, O2_CLASS_NONE);          \
		}                                                              \
		msg = before;                                                  \
	} while (0)
#define PASSES(member, set) EXPECT(member, set, NULL, 0)

TEST(header)
{
	sample(O2_LST_PING_REQST);
	PASSES(msg_version, 1);
	EXPECT(msg_version, 0, "lst/send/version", 1);
	EXPECT(msg_version, 2, "lst/send/version", 1);
	PASSES(msg_ses_feats, 0);
	EXPECT(msg_ses_feats, 2, "lst/send/features", 1);
	EXPECT(msg_ses_feats, 0x80000001u, "lst/send/features", 1);
	sample(O2_LST_PING_REPLY);
	PASSES(msg_ses_feats, 0x81);
	EXPECT(msg_version, 2, "lst/send/version", 1);
}

TEST(brw)
{
	sample_brw();
	EXPECT(u.brw_reqst.brw_rw, 0, "lst/send/brw-rw", 1);
	PASSES(u.brw_reqst.brw_rw, 1);
	EXPECT(u.brw_reqst.brw_rw, 3, "lst/send/brw-rw", 2);
	EXPECT(u.brw_reqst.brw_flags, 0, "lst/send/brw-flags", 1);
	PASSES(u.brw_reqst.brw_flags, 1);
	PASSES(u.brw_reqst.brw_flags, 4);
	EXPECT(u.brw_reqst.brw_flags, 5, "lst/send/brw-flags", 4);
	EXPECT(u.brw_reqst.brw_len, 0, "lst/send/brw-len", 8);
	EXPECT(u.brw_reqst.brw_len, 7, "lst/send/brw-len", 8);
	PASSES(u.brw_reqst.brw_len, 8);
	EXPECT(u.brw_reqst.brw_len, 12, "lst/send/brw-len-multiple", 8);
	PASSES(u.brw_reqst.brw_len, 1u << 20);
	EXPECT(u.brw_reqst.brw_len, (1u << 20) + 1, "lst/send/brw-len", 1u << 20);
	EXPECT(u.brw_reqst.brw_len, UINT32_MAX, "lst/send/brw-len", 1u << 20);
	msg.msg_ses_feats = 0;
	PASSES(u.brw_reqst.brw_len, 8192);
	EXPECT(u.brw_reqst.brw_len, 2048, "lst/send/brw-len", 4096);
	EXPECT(u.brw_reqst.brw_len, 4104, "lst/send/brw-len-multiple", 4096);
}

TEST(a_test_of_either_half)
{
	for (uint8_t is_client = 0; is_client < 2; is_client++) {
		sample_test(is_client);
		PASSES(u.test_reqst.tsr_service, 12);
		EXPECT(u.test_reqst.tsr_service, 10, "lst/send/service", O2_NO_LIMIT);
		EXPECT(u.test_reqst.tsr_service, 13, "lst/send/service", O2_NO_LIMIT);
		EXPECT(u.test_reqst.tsr_loop, 0, "lst/send/loop", 1);
		PASSES(u.test_reqst.tsr_loop, UINT32_MAX);
		EXPECT(u.test_reqst.tsr_concur, 0, "lst/send/concur", 1);
		PASSES(u.test_reqst.tsr_concur, 1024);
		EXPECT(u.test_reqst.tsr_concur, 1025, "lst/send/concur", 1024);
	}
}

TEST(a_client_half)
{
	sample_test(1);
	EXPECT(u.test_reqst.tsr_ndest, 0, "lst/send/ndest", 1);
	PASSES(u.test_reqst.tsr_ndest, 341);
	EXPECT(u.test_reqst.tsr_ndest, 342, "lst/send/ndest", 341);
	EXPECT(u.test_reqst.tsr_u.bulk_v1.blk_opc, 0, "lst/send/blk-opc", 1);
	PASSES(u.test_reqst.tsr_u.bulk_v1.blk_opc, 2);
	EXPECT(u.test_reqst.tsr_u.bulk_v1.blk_opc, 3, "lst/send/blk-opc", 2);
	EXPECT(u.test_reqst.tsr_u.bulk_v1.blk_flags, 0, "lst/send/blk-flags", 1);
	PASSES(u.test_reqst.tsr_u.bulk_v1.blk_flags, 4);
	EXPECT(u.test_reqst.tsr_u.bulk_v1.blk_flags, 5, "lst/send/blk-flags", 4);
	EXPECT(u.test_reqst.tsr_u.bulk_v1.blk_len, 4, "lst/send/blk-len", 8);
	EXPECT(u.test_reqst.tsr_u.bulk_v1.blk_len, 2052, "lst/send/blk-len-multiple", 8);
	EXPECT(u.test_reqst.tsr_u.bulk_v1.blk_len, (1u << 20) + 8, "lst/send/blk-len", 1u << 20);
	PASSES(u.test_reqst.tsr_u.bulk_v1.blk_offset, 2048);
	EXPECT(u.test_reqst.tsr_u.bulk_v1.blk_offset, 2056, "lst/send/blk-offset", 2048);
	EXPECT(u.test_reqst.tsr_u.bulk_v1.blk_offset, 4, "lst/send/blk-offset-multiple", 8);
	EXPECT(u.test_reqst.tsr_u.bulk_v1.blk_offset, 0xfffffff8u, "lst/send/blk-offset", 2048);
	/* Fields that the receiver ignores are not checked. */
	msg.u.test_reqst.tsr_is_client = 0;
	PASSES(u.test_reqst.tsr_ndest, 0);
	PASSES(u.test_reqst.tsr_u.bulk_v1.blk_opc, 0);
	msg.u.test_reqst.tsr_is_client = 1;
	msg.u.test_reqst.tsr_service = 12;
	PASSES(u.test_reqst.tsr_u.ping.png_size, 0);
}

TEST(a_client_half_in_pages)
{
	sample_test(1);
	msg.msg_ses_feats = 0;
	msg.u.test_reqst.tsr_u.bulk_v0 = (struct o2_lst_bulk_v0){2, 256, 4};
	PASSES(u.test_reqst.tsr_u.bulk_v0.blk_npg, 1);
	PASSES(u.test_reqst.tsr_u.bulk_v0.blk_npg, 256);
	EXPECT(u.test_reqst.tsr_u.bulk_v0.blk_npg, 0, "lst/send/blk-npg", 1);
	EXPECT(u.test_reqst.tsr_u.bulk_v0.blk_npg, 257, "lst/send/blk-npg", 256);
	EXPECT(u.test_reqst.tsr_u.bulk_v0.blk_opc, 3, "lst/send/blk-opc", 2);
	EXPECT(u.test_reqst.tsr_u.bulk_v0.blk_flags, 5, "lst/send/blk-flags", 4);
}

TEST(batch)
{
	sample(O2_LST_BATCH_REQST);
	EXPECT(u.batch_reqst.bar_opc, 0, "lst/send/batch-opc", 1);
	PASSES(u.batch_reqst.bar_opc, 1);
	PASSES(u.batch_reqst.bar_opc, 3);
	EXPECT(u.batch_reqst.bar_opc, 4, "lst/send/batch-opc", 3);
}

/* Checked against the definition: with the offset, the bulk touches as many pages as without it. */
TEST(offsets_stay_within_the_pages_of_the_length)
{
	for (uint64_t len = 8; len <= 3 * 4096; len += 8) {
		for (uint64_t offset = 0; offset <= 4096; offset += 8) {
			const bool fits =
				offset < 4096 && (offset + len + 4095) / 4096 == (len + 4095) / 4096;

			if ((o2_lst_range_bulk(1, len, offset, NULL) == 0) != fits)
				fail_msg("length %u, offset %u", (unsigned)len, (unsigned)offset);
		}
	}
	assert_int_equal(o2_lst_range_bulk(1, UINT64_C(1) << 32, 0, NULL), -EINVAL);
	assert_int_equal(o2_lst_range_bulk(1, 8, UINT64_C(1) << 32, NULL), -EINVAL);
}
