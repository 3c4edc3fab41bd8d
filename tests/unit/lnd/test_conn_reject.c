/* SPDX-License-Identifier: MIT */
/* What each reason of a reject means to the side that asked, and the rejects recorded from a kernel peer. */
#include "tests/lib/connreq.h"

/* One reject, in answer to a request with the parameters {asked, 32, 257, 4096}. */
struct refused {
	const char *what;
	uint32_t cm_reason;
	uint16_t asked;
	struct o2_reject record;
	bool retry;
	int code;
	uint8_t why;
	struct o2_conn_params offer;
	uint64_t incarnation;
	const char *rule;
};

#define RECORD(version, reason, stamp, depth, frags)                                             \
	{                                                                                        \
		.ibr_version = version, .ibr_why = reason, .ibr_incarnation = stamp, .ibr_cp = { \
			.ibcp_queue_depth = depth,                                               \
			.ibcp_max_frags = frags,                                                 \
			.ibcp_max_msg_size = (version) == 0x12 ? 4096 : 0                        \
		}                                                                                \
	}

/* The reject ends the attempt, for the reason in the peer's record. */
#define FINAL(what, asked, record, why, rule)                                    \
	{                                                                        \
		what, 28, asked, record, false, -ECONNREFUSED, why, {0}, 0, rule \
	}

static const struct refused rejects[] = {
	{"nobody listens", 8, 0x12, {0}, false, -EHOSTUNREACH, 0, {0}, 0, "reject/no-listener"},
	{"no resources of the manager", 3, 0x12, {0}, false, -ECONNREFUSED, 0, {0}, 0, "reject/cm-reason"},
	{"stale for the manager", 10, 0x12, {0}, true, 0, 0, V2(32, 257, 4096), 0, NULL},
	{"race", 28, 0x12, RECORD(0x12, 1, STAMP_B, 8, 257), true, 0, 1, V2(32, 257, 4096), STAMP_B, NULL},
	FINAL("no resources", 0x12, RECORD(0x12, 2, STAMP_B, 8, 257), 2, "reject/why"),
	FINAL("fatal", 0x12, RECORD(0x12, 3, 0, 0, 0), 3, "reject/why"),
	{"incompatible", 28, 0x12, RECORD(0x11, 4, 0, 0, 0), true, 0, 4, V1(8, 257, 4096), UINT64_MAX, NULL},
	{"stale", 28, 0x12, RECORD(0x12, 5, STAMP_B, 8, 257), true, 0, 5, V2(32, 257, 4096), STAMP_B, NULL},
	{"fragments", 28, 0x12, RECORD(0x12, 6, STAMP_B, 32, 256), true, 0, 6, V2(32, 256, 4096), STAMP_B,
	 NULL},
	{"both at once", 28, 0x12, RECORD(0x12, 6, STAMP_B, 8, 16), true, 0, 6, V2(8, 16, 4096), STAMP_B,
	 NULL},
	{"depth", 28, 0x12, RECORD(0x12, 7, STAMP_B, 8, 257), true, 0, 7, V2(8, 257, 4096), STAMP_B, NULL},
	FINAL("service id", 0x12, RECORD(0x12, 8, STAMP_B, 8, 257), 8, "reject/why"),
	FINAL("early", 0x12, RECORD(0x12, 9, 0, 0, 0), 9, "reject/why"),
	/* Useless limits: those that we already respect, and those too low for any transfer. */
	FINAL("same depth", 0x12, RECORD(0x12, 7, STAMP_B, 32, 257), 7, "reject/unusable-limit"),
	FINAL("more depth", 0x12, RECORD(0x12, 7, STAMP_B, 33, 257), 7, "reject/unusable-limit"),
	{"depth 2", 28, 0x12, RECORD(0x12, 7, STAMP_B, 2, 257), true, 0, 7, V2(2, 257, 4096), STAMP_B, NULL},
	FINAL("depth 1", 0x12, RECORD(0x12, 7, STAMP_B, 1, 257), 7, "reject/unusable-limit"),
	FINAL("same fragments", 0x12, RECORD(0x12, 6, STAMP_B, 8, 257), 6, "reject/unusable-limit"),
	FINAL("no fragments", 0x12, RECORD(0x12, 6, STAMP_B, 8, 0), 6, "reject/unusable-limit"),
	FINAL("depth, and no fragments", 0x12, RECORD(0x12, 7, STAMP_B, 8, 0), 7, "reject/unusable-limit"),
	/* A reject of version 1 has no parameters. */
	{"fatal of version 1", 28, 0x12, RECORD(0x11, 3, 0, 0, 0), true, 0, 4, V1(8, 257, 4096), UINT64_MAX,
	 NULL},
	FINAL("fatal of version 1 to itself", 0x11, RECORD(0x11, 3, 0, 0, 0), 3, "reject/why"),
	FINAL("depth of version 1", 0x11, RECORD(0x11, 7, 0, 0, 0), 7, "reject/why"),
	FINAL("fragments of version 1", 0x11, RECORD(0x11, 6, 0, 0, 0), 6, "reject/why"),
	{"stale of version 1", 28, 0x11, RECORD(0x11, 5, 0, 0, 0), true, 0, 5, V1(8, 257, 4096), UINT64_MAX,
	 NULL},
	{"race of version 1", 28, 0x11, RECORD(0x11, 1, 0, 0, 0), true, 0, 1, V1(8, 257, 4096), UINT64_MAX,
	 NULL},
	{"version 1 meets 2", 28, 0x11, RECORD(0x12, 5, STAMP_B, 8, 257), true, 0, 5, V2(32, 257, 4096),
	 STAMP_B, NULL},
};

static void run_reject(const struct refused *row, enum o2_byte_order order, bool generic, size_t length)
{
	struct o2_connreq_self a = connreq_self(true);
	struct o2_conn_params asked = {row->asked, 32, 257, 4096};
	struct o2_reject record = row->record;
	struct o2_reject_verdict verdict;
	uint8_t bytes[O2_REJECT_PRIVATE_BYTES] = {0};

	a.queue_depth = 32;
	record.order = order;
	record.generic_magic = generic;
	if (row->cm_reason == O2_CM_REJECT_CONSUMER)
		assert_int_equal(o2_reject_encode(&record, bytes, sizeof(bytes), NULL), O2_REJECT_BYTES);
	o2_reject_judge(&a, &asked, row->cm_reason, bytes, length, &verdict);
	if (verdict.retry != row->retry)
		fail_msg("%s: retry %d", row->what, verdict.retry);
	assert_int_equal(verdict.why, row->why);
	if (row->retry) {
		assert_params(&verdict.offer, &row->offer);
		assert_int_equal(verdict.incarnation, row->incarnation);
		assert_int_equal(verdict.error.code, 0);
		return;
	}
	assert_int_equal(verdict.code, row->code);
	assert_string_equal(verdict.error.rule, row->rule);
	assert_int_equal(verdict.error.code, row->code);
}

TEST(reject_reasons)
{
	for (size_t i = 0; i < sizeof(rejects) / sizeof(rejects[0]); i++) {
		for (unsigned int variant = 0; variant < 4; variant++) {
			enum o2_byte_order order = (enum o2_byte_order)(variant & 1);

			run_reject(&rejects[i], order, variant >> 1, O2_REJECT_PRIVATE_BYTES);
			run_reject(&rejects[i], order, variant >> 1,
				   rejects[i].record.ibr_version == 0x11 ? 7 : 24);
		}
	}
}

/* A node of version 1 only does not switch to version 2; bytes that are no record fail the attempt. */
TEST(reject_bytes)
{
	struct o2_connreq_self a = connreq_self(true);
	struct o2_conn_params asked = V1(8, 257, 4096);
	struct o2_reject record = RECORD(0x12, 5, STAMP_B, 8, 257);
	struct o2_reject_verdict verdict;
	uint8_t bytes[O2_REJECT_BYTES];

	a.version = O2_MSG_VERSION_1;
	assert_int_equal(o2_reject_encode(&record, bytes, sizeof(bytes), NULL), O2_REJECT_BYTES);
	o2_reject_judge(&a, &asked, O2_CM_REJECT_CONSUMER, bytes, sizeof(bytes), &verdict);
	assert_false(verdict.retry);
	for (uint32_t length = 0; length < O2_REJECT_BYTES; length++) {
		o2_reject_judge(&a, &asked, O2_CM_REJECT_CONSUMER, bytes, length, &verdict);
		assert_false(verdict.retry);
		assert_int_equal(verdict.code, -ECONNREFUSED);
		assert_int_equal(verdict.error.code, -EPROTO);
	}
	memset(bytes, 0, sizeof(bytes));
	o2_reject_judge(&a, &asked, O2_CM_REJECT_CONSUMER, bytes, sizeof(bytes), &verdict);
	assert_false(verdict.retry);
	assert_string_equal(verdict.error.rule, "wire/reject/magic");
}

/* Rejects that kernel peers have sent: node 10.77.0.1 asks 10.77.0.2, or the other way round. */
TEST(recorded_rejects)
{
	static const struct {
		const char *name;
		uint8_t why;
		bool retry;
		uint16_t depth; /* of the next request; the previous request had 32 */
	} rows[] = {
		{"008_REJ1_n00024_b2a", 1, true, 32},
		{"010_REJ7_n00024_b2a", 7, true, 8},
		{"013_REJ3_n00024_b2a", 3, false, 0},
		{"114_REJ5_n00024_a2b", 5, true, 32},
	};
	struct o2_connreq_self a = connreq_self(true);
	struct o2_conn_params asked = V2(32, 257, 4096);
	struct o2_reject_verdict verdict;
	uint8_t bytes[256];

	a.queue_depth = 32;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		size_t length = read_private_data(rows[i].name, bytes, sizeof(bytes));

		assert_int_equal(length, O2_REJECT_PRIVATE_BYTES);
		o2_reject_judge(&a, &asked, O2_CM_REJECT_CONSUMER, bytes, length, &verdict);
		assert_int_equal(verdict.why, rows[i].why);
		assert_int_equal(verdict.retry, rows[i].retry);
		if (!rows[i].retry)
			continue;
		assert_int_equal(verdict.offer.queue_depth, rows[i].depth);
		assert_int_equal(verdict.offer.max_frags, 257);
		assert_true(verdict.incarnation != 0);
	}
	/* This peer takes 257 fragments; after a request for 257 there would be nothing less to offer. */
	asked.max_frags = 258;
	o2_reject_judge(&a, &asked, O2_CM_REJECT_CONSUMER, bytes,
			read_private_data("117_REJ6_n00024_a2b", bytes, sizeof(bytes)), &verdict);
	assert_int_equal(verdict.why, O2_REJECT_RDMA_FRAGS);
	assert_true(verdict.retry);
	assert_int_equal(verdict.offer.max_frags, 257);
}
