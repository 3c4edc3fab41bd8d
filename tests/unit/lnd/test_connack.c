/* SPDX-License-Identifier: MIT */
/*
 * What a CONNACK means to the side that asked, the requests recorded from a kernel peer, and how two nodes
 * negotiate: whatever each can do, they agree or give up within two requests.
 */
#include "tests/lib/connreq.h"

#include "wire/bytes.h"
#include "wire/layout.h"

static const struct o2_cm_origin origin_a = {.ipv4 = true, .address = 0xc0a80a01, .port = 1023};

/* One CONNACK, in answer to a request with the parameters {version, 8, 257, 4096}. */
struct answer {
	const char *what;
	struct o2_conn_params says;
	const char *rule; /* NULL: accepted */
	uint8_t type;
	uint64_t dstnid, dststamp;
	uint16_t version; /* of the request; 0: the version of the answer */
};

static const struct answer answers[] = {
	{.what = "usual", .says = V2(8, 257, 4096)},
	{.what = "less", .says = V2(2, 1, 148)},
	{.what = "version 1", .says = V1(8, 257, 4096)},
	{.what = "CONNREQ", .says = V2(8, 257, 4096), .rule = "connack/type", .type = O2_MSG_CONNREQ},
	{.what = "another version", .says = V1(8, 257, 4096), .rule = "connack/version", .version = 0x12},
	{.what = "newer version", .says = V2(8, 257, 4096), .rule = "connack/version", .version = 0x11},
	{.what = "version 1, depth 7", .says = V1(7, 257, 4096), .rule = "connack/queue-depth-under"},
	{.what = "depth 9", .says = V2(9, 257, 4096), .rule = "connack/queue-depth-over"},
	{.what = "depth 1", .says = V2(1, 257, 4096), .rule = "connack/queue-depth-under"},
	{.what = "depth 0", .says = V2(0, 257, 4096), .rule = "connack/queue-depth-under"},
	{.what = "258 fragments", .says = V2(8, 258, 4096), .rule = "connack/max-frags-over"},
	{.what = "no fragments", .says = V2(8, 0, 4096), .rule = "connack/max-frags-zero"},
	{.what = "messages of 8192", .says = V2(8, 257, 8192), .rule = "connack/max-msg-size-over"},
	{.what = "messages of 147", .says = V2(8, 257, 147), .rule = "connack/max-msg-size-under"},
	{.what = "for another", .says = V2(8, 257, 4096), .rule = "connack/dstnid", .dstnid = NID_B},
	{.what = "for an earlier life", .says = V2(8, 257, 4096), .rule = "connack/dststamp", .dststamp = 7},
};

/* The limit that the error names is allowed, and the next value is not. */
static void check_limit(const struct o2_connreq_self *a, const struct o2_connreq_self *b,
			const struct answer *row, const struct o2_conn_params *asked,
			const struct o2_error *error)
{
	const struct o2_connreq request = {.nid = NID_A, .incarnation = STAMP_A};
	struct o2_conn_params says, agreed;
	struct o2_error other;
	uint8_t bytes[196] = {0};
	uint64_t incarnation;
	int rc;

	for (int beyond = 0; beyond < 2; beyond++) {
		if (!params_at_limit(&row->says, error, beyond, &says))
			return;
		assert_int_equal(o2_connack_build(b, &request, &says, bytes, sizeof(bytes), NULL), 56);
		rc = o2_connack_judge(a, asked, bytes, sizeof(bytes), &agreed, &incarnation, &other);
		if ((rc != 0 && strcmp(other.rule, row->rule) == 0) != beyond)
			fail_msg("%s: limit %llu", row->what, (unsigned long long)error->limit);
	}
}

static void run_answer(const struct o2_connreq_self *a, const struct o2_connreq_self *b,
		       const struct answer *row)
{
	struct o2_connreq request = {
		.nid = row->dstnid != 0 ? row->dstnid : NID_A,
		.incarnation = row->dststamp != 0 ? row->dststamp : STAMP_A,
	};
	struct o2_conn_params asked = V2(8, 257, 4096);
	struct o2_conn_params agreed;
	uint8_t bytes[196] = {0};
	uint64_t incarnation;
	struct o2_error error;
	int rc;

	asked.version = row->version != 0 ? row->version : row->says.version;
	assert_int_equal(o2_connack_build(b, &request, &row->says, bytes, sizeof(bytes), NULL), 56);
	if (row->type != 0)
		bytes[O2_AT_TYPE] = row->type;
	rc = o2_connack_judge(a, &asked, bytes, sizeof(bytes), &agreed, &incarnation, &error);
	assert_int_equal(o2_connack_judge(a, &asked, bytes, sizeof(bytes), &agreed, &incarnation, NULL), rc);
	if (row->rule == NULL) {
		assert_int_equal(rc, 0);
		assert_params(&agreed, &row->says);
		assert_int_equal(incarnation, STAMP_B);
		return;
	}
	if (rc == 0 || strcmp(error.rule, row->rule) != 0)
		fail_msg("%s: %d, %s", row->what, rc, rc == 0 ? "accepted" : error.rule);
	assert_int_equal(rc, row->dstnid != 0 || row->dststamp != 0 ? -ESTALE : -EPROTO);
	assert_int_equal(error.class, O2_CLASS_CONNECTION);
	check_limit(a, b, row, &asked, &error);
}

TEST(connacks)
{
	for (unsigned int orders = 0; orders < 4; orders++) {
		struct o2_connreq_self a = connreq_self(true), b = connreq_self(false);

		a.order = (enum o2_byte_order)(orders & 1);
		b.order = (enum o2_byte_order)(orders >> 1);
		for (size_t i = 0; i < sizeof(answers) / sizeof(answers[0]); i++)
			run_answer(&a, &b, &answers[i]);
	}
}

TEST(connack_bytes)
{
	struct o2_connreq_self a = connreq_self(true), b = connreq_self(false);
	struct o2_connreq request = {.nid = NID_A, .incarnation = STAMP_A};
	struct o2_conn_params asked = V2(8, 257, 4096), agreed;
	uint64_t incarnation;
	uint8_t bytes[56];

	assert_int_equal(o2_connack_build(&b, &request, &asked, bytes, sizeof(bytes), NULL), 56);
	for (uint32_t length = 0; length < 56; length++)
		assert_int_equal(o2_connack_judge(&a, &asked, bytes, length, &agreed, &incarnation, NULL),
				 -EPROTO);
	a.require_checksum = true;
	assert_int_equal(o2_connack_judge(&a, &asked, bytes, 56, &agreed, &incarnation, NULL), -EPROTO);
}

/* A recorded request is accepted, and our answer equals the recorded answer except for our stamp. */
TEST(recorded_requests)
{
	struct o2_connreq_self self = connreq_self(false);
	struct o2_cm_origin origin = {.ipv4 = true, .address = 0x0a4d0002, .port = 1023};
	uint8_t request_bytes[256], recorded[256], bytes[256] = {0};
	struct o2_connreq request;
	struct o2_reject reject;

	self.nid = 0x000500000a4d0001;
	assert_int_equal(read_private_data("005_CONNREQ_n00056_b2a", request_bytes, sizeof(request_bytes)),
			 92);
	assert_int_equal(read_private_data("006_CONNACK_n00056_a2b", recorded, sizeof(recorded)), 196);
	self.incarnation = o2_load64(recorded + O2_AT_SRCSTAMP, O2_LITTLE_ENDIAN);
	assert_int_equal(o2_connreq_judge(&self, &origin, request_bytes + 36, 56, &request, &reject, NULL),
			 0);
	assert_int_equal(request.nid, 0x000500000a4d0002);
	assert_int_equal(o2_connack_build(&self, &request, &request.params, bytes, sizeof(bytes), NULL), 56);
	assert_memory_equal(bytes, recorded, 196);
}

/* Returns the number of requests until one is accepted; 0: the nodes give up. */
static uint32_t negotiate(const struct o2_connreq_self *a, const struct o2_connreq_self *b,
			  uint16_t max_frags, struct o2_conn_params *agreed)
{
	struct o2_conn_params ask = {a->version, o2_connreq_queue_depth(a, a->version), max_frags, 4096};
	uint64_t incarnation = 0;

	for (uint32_t attempt = 1; attempt <= 10; attempt++) {
		uint8_t bytes[O2_CONNREQ_BYTES], record[O2_REJECT_BYTES];
		struct o2_reject_verdict verdict;
		struct o2_connreq request;
		struct o2_reject reject;

		assert_int_equal(o2_connreq_build(a, &ask, b->nid, incarnation, bytes, sizeof(bytes), NULL),
				 O2_CONNREQ_BYTES);
		if (o2_connreq_judge(b, &origin_a, bytes, sizeof(bytes), &request, &reject, NULL) == 0) {
			*agreed = request.params;
			return attempt;
		}
		assert_int_equal(o2_reject_encode(&reject, record, sizeof(record), NULL), O2_REJECT_BYTES);
		o2_reject_judge(a, &ask, O2_CM_REJECT_CONSUMER, record, sizeof(record), &verdict);
		if (!verdict.retry)
			return 0;
		ask = verdict.offer;
		incarnation = verdict.incarnation;
	}
	fail_msg("no end of it: depths %u and %u, versions 0x%x and 0x%x", a->queue_depth, b->queue_depth,
		 a->version, b->version);
	return 0;
}

static uint16_t smaller(uint16_t x, uint16_t y)
{
	return x < y ? x : y;
}

/* LU-3322: two requests are enough for any two nodes. */
TEST(two_requests_suffice)
{
	static const uint16_t depths[] = {2, 3, 7, 8, 9, 32, 255};
	static const uint16_t frags[] = {256, 257};
	uint32_t agreements = 0, retries = 0, failures = 0;

	for (uint32_t i = 0; i < 7 * 7 * 2 * 2 * 4 * 4; i++) {
		struct o2_connreq_self a = connreq_self(true), b = connreq_self(false);
		struct o2_conn_params agreed;
		uint32_t attempts;

		a.queue_depth = depths[i % 7];
		b.queue_depth = depths[i / 7 % 7];
		a.max_frags = frags[i / 49 % 2];
		b.max_frags = frags[i / 98 % 2];
		a.version = i / 196 % 2 ? 0x11 : 0x12;
		b.version = i / 392 % 2 ? 0x11 : 0x12;
		a.order = (enum o2_byte_order)(i / 784 % 2);
		b.order = (enum o2_byte_order)(i / 1568 % 2);
		attempts = negotiate(&a, &b, a.max_frags, &agreed);
		assert_true(attempts <= 2);
		if (attempts == 0) {
			/* A reject of version 1 has no parameters: it cannot say what would be accepted. */
			assert_true(a.version == 0x11 || b.version == 0x11);
			failures++;
			continue;
		}
		agreements++;
		retries += attempts == 2;
		assert_int_equal(agreed.version, smaller(a.version, b.version));
		assert_int_equal(agreed.queue_depth, smaller(o2_connreq_queue_depth(&a, agreed.version),
							     o2_connreq_queue_depth(&b, agreed.version)));
		assert_int_equal(agreed.max_frags, smaller(a.max_frags, b.max_frags));
	}
	assert_true(agreements > 0 && retries > 0 && failures > 0);
}
