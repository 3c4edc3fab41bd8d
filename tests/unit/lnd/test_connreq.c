/* SPDX-License-Identifier: MIT */
/*
 * The judgement of a connection request by itself: the first illegal value fails each check, and the last
 * legal value passes, in both versions and byte orders; what is known of the peer; and who wins a race.
 */
#include "tests/lib/connreq.h"

#include "wire/bytes.h"
#include "wire/layout.h"

#define FATAL O2_REJECT_FATAL

static const struct o2_cm_origin origin_a = {.ipv4 = true, .address = 0xc0a80a01, .port = 1023};

/* One request; a zero or NULL in the second half leaves that part of the request valid. */
struct probe {
	const char *what;
	struct o2_conn_params ask;
	uint8_t why; /* of the reject; 0: accepted */
	const char *rule;
	uint64_t dstnid, dststamp;
	uint8_t type;
	uint16_t port;
	uint32_t address;
	uint32_t length;     /* the request is truncated to this length */
	bool before_names;   /* the record has no data of the interface */
	bool in_our_version; /* the record has our version instead of the request's */
};

#define REFUSED(what_, ask_, why_, rule_) .what = what_, .ask = ask_, .why = why_, .rule = rule_

static const struct probe probes[] = {
	/* The answers of a kernel peer, row by row of docs/connection.md. */
	{.what = "usual", .ask = V2(8, 257, 4096)},
	{.what = "unprivileged port", .ask = V2(8, 257, 4096), .port = 40000},
	{.what = "depth 4", .ask = V2(4, 257, 4096)},
	{REFUSED("depth 16", V2(16, 257, 4096), 7, "connreq/queue-depth-over")},
	{.what = "16 fragments", .ask = V2(8, 16, 4096)},
	{.what = "256 fragments", .ask = V2(8, 256, 4096)},
	{REFUSED("258 fragments", V2(8, 258, 4096), 6, "connreq/max-frags-over")},
	{.what = "messages of 2048", .ask = V2(8, 257, 2048)},
	{REFUSED("messages of 8192", V2(8, 257, 8192), 3, "connreq/max-msg-size-over")},
	{.what = "version 1", .ask = V1(8, 257, 4096)},
	{REFUSED("another NID", V2(8, 257, 4096), 3, "connreq/dstnid"), .dstnid = NID_B + 1,
	 .before_names = true, .in_our_version = true},
	{REFUSED("another network", V2(8, 257, 4096), 3, "connreq/dstnid"), .dstnid = NID_B + (1ull << 32),
	 .before_names = true, .in_our_version = true},
	{.what = "our stamp", .ask = V2(8, 257, 4096), .dststamp = STAMP_B},
	{REFUSED("another stamp", V2(8, 257, 4096), 5, "connreq/dststamp"), .dststamp = STAMP_B + 1,
	 .in_our_version = true},
	{.what = "depth 2", .ask = V2(2, 257, 4096)},
	/* Checks that only the reference makes, and the limits. */
	{REFUSED("depth 1", V2(1, 257, 4096), 7, "connreq/queue-depth-under")},
	{REFUSED("depth 0", V2(0, 257, 4096), 7, "connreq/queue-depth-under")},
	{REFUSED("depth 9", V2(9, 257, 4096), 7, "connreq/queue-depth-over")},
	{REFUSED("depth 65535", V2(65535, 257, 4096), 7, "connreq/queue-depth-over")},
	{REFUSED("no fragments", V2(8, 0, 4096), 6, "connreq/max-frags-zero")},
	{.what = "1 fragment", .ask = V2(8, 1, 4096)},
	{REFUSED("65535 fragments", V2(8, 65535, 4096), 6, "connreq/max-frags-over")},
	{.what = "messages of 148", .ask = V2(8, 257, 148)},
	{REFUSED("messages of 147", V2(8, 257, 147), 3, "connreq/max-msg-size-under")},
	{REFUSED("messages of 4097", V2(8, 257, 4097), 3, "connreq/max-msg-size-over")},
	{REFUSED("messages of 4 GiB", V2(8, 257, 0xffffffff), 3, "connreq/max-msg-size-over")},
	{REFUSED("all ones as stamp", V2(8, 257, 4096), 5, "connreq/dststamp"), .dststamp = UINT64_MAX,
	 .in_our_version = true},
	{.what = "version 1, all ones as stamp", .ask = V1(8, 257, 4096), .dststamp = UINT64_MAX},
	{REFUSED("version 1, another stamp", V1(8, 257, 4096), 5, "connreq/dststamp"), .dststamp = 7,
	 .in_our_version = true},
	{REFUSED("version 1, depth 9", V1(9, 257, 4096), 3, "connreq/queue-depth-over")},
	{REFUSED("version 1, depth 7", V1(7, 257, 4096), 3, "connreq/queue-depth-under")},
	{REFUSED("version 1, depth 1", V1(1, 257, 4096), 3, "connreq/queue-depth-under")},
	{REFUSED("version 1, 258 fragments", V1(8, 258, 4096), 3, "connreq/max-frags-over")},
	{REFUSED("version 1, no fragments", V1(8, 0, 4096), 3, "connreq/max-frags-zero")},
	{REFUSED("version 1, messages of 8192", V1(8, 257, 8192), 3, "connreq/max-msg-size-over")},
	{REFUSED("a CONNACK", V2(8, 257, 4096), 3, "connreq/type"), .type = O2_MSG_CONNACK},
	{REFUSED("version 1, a CONNACK", V1(8, 257, 4096), 3, "connreq/type"), .type = O2_MSG_CONNACK},
	{REFUSED("somebody else's NID", V2(8, 257, 4096), 3, "connreq/srcnid-address"),
	 .address = 0xc0a80a07},
	{REFUSED("5 bytes", V2(8, 257, 4096), 3, "connreq/short"), .length = 5, .before_names = true,
	 .in_our_version = true},
	{REFUSED("6 bytes", V2(8, 257, 4096), 3, "wire/header/short-for-header"), .length = 6,
	 .before_names = true, .in_our_version = true},
	{REFUSED("55 bytes", V2(8, 257, 4096), 3, "wire/header/nob-over-received"), .length = 55,
	 .before_names = true, .in_our_version = true},
};

static uint32_t make(const struct o2_connreq_self *self, const struct probe *probe, uint8_t *bytes)
{
	uint64_t dstnid = probe->dstnid != 0 ? probe->dstnid : NID_B;
	int length =
		o2_connreq_build(self, &probe->ask, dstnid, probe->dststamp, bytes, O2_CONNREQ_BYTES, NULL);

	assert_int_equal(length, O2_CONNREQ_BYTES);
	if (probe->type != 0)
		bytes[O2_AT_TYPE] = probe->type;
	return probe->length != 0 ? probe->length : O2_CONNREQ_BYTES;
}

/* Asserts that a record has the expected members, and that it can be encoded. */
static void check_record(const struct o2_connreq_self *b, const struct probe *probe,
			 const struct o2_reject *reject)
{
	uint16_t version = probe->in_our_version ? b->version : probe->ask.version;
	bool says = version == O2_MSG_VERSION_2;
	bool says_us = says && !probe->before_names;
	uint8_t bytes[O2_REJECT_BYTES];
	struct o2_reject back;

	assert_int_equal(reject->ibr_why, probe->why);
	assert_int_equal(reject->ibr_version, version);
	assert_int_equal(reject->order, b->order);
	assert_int_equal(reject->ibr_incarnation, says_us ? b->incarnation : 0);
	assert_int_equal(reject->ibr_cp.ibcp_queue_depth, says_us ? b->queue_depth : 0);
	assert_int_equal(reject->ibr_cp.ibcp_max_frags, says_us ? b->max_frags : 0);
	assert_int_equal(reject->ibr_cp.ibcp_max_msg_size, says ? O2_MSG_BYTES : 0);
	assert_int_equal(o2_reject_encode(reject, bytes, sizeof(bytes), NULL), O2_REJECT_BYTES);
	assert_int_equal(o2_reject_decode(bytes, sizeof(bytes), &back, NULL), 0);
	assert_int_equal(back.ibr_why, probe->why);
}

/* The limit that the error names is allowed, and the next value is not. */
static void check_limit(const struct o2_connreq_self *a, const struct o2_connreq_self *b,
			const struct o2_cm_origin *origin, const struct probe *probe,
			const struct o2_error *error)
{
	struct probe other = *probe;
	uint8_t bytes[O2_CONNREQ_BYTES];
	struct o2_connreq request;
	struct o2_reject reject;
	struct o2_error found;
	int rc;

	for (int beyond = 0; beyond < 2; beyond++) {
		if (!params_at_limit(&probe->ask, error, beyond, &other.ask))
			return;
		rc = o2_connreq_judge(b, origin, bytes, make(a, &other, bytes), &request, &reject, &found);
		if ((rc != 0 && strcmp(found.rule, probe->rule) == 0) != beyond)
			fail_msg("%s: limit %llu", probe->what, (unsigned long long)error->limit);
	}
}

static void run_probe(const struct o2_connreq_self *a, const struct o2_connreq_self *b,
		      const struct probe *probe)
{
	struct o2_cm_origin origin = origin_a;
	uint8_t bytes[O2_CONNREQ_BYTES];
	struct o2_connreq request;
	struct o2_reject reject;
	struct o2_error error;
	uint32_t length = make(a, probe, bytes);
	int rc;

	if (probe->port != 0)
		origin.port = probe->port;
	if (probe->address != 0)
		origin.address = probe->address;
	rc = o2_connreq_judge(b, &origin, bytes, length, &request, &reject, &error);
	if ((rc == 0) != (probe->why == 0))
		fail_msg("%s: %d, %s", probe->what, rc, rc != 0 ? error.rule : "accepted");
	assert_int_equal(o2_connreq_judge(b, &origin, bytes, length, &request, &reject, NULL), rc);
	if (rc == 0) {
		assert_int_equal(request.nid, NID_A);
		assert_int_equal(request.incarnation, STAMP_A);
		assert_params(&request.params, &probe->ask);
		return;
	}
	if (strcmp(error.rule, probe->rule) != 0)
		fail_msg("%s: %s in place of %s", probe->what, error.rule, probe->rule);
	assert_int_equal(error.class, O2_CLASS_CONNECTION);
	assert_int_equal(error.code, rc);
	check_record(b, probe, &reject);
	check_limit(a, b, &origin, probe, &error);
}

TEST(requests)
{
	for (unsigned int orders = 0; orders < 4; orders++) {
		struct o2_connreq_self a = connreq_self(true), b = connreq_self(false);

		a.order = (enum o2_byte_order)(orders & 1);
		b.order = (enum o2_byte_order)(orders >> 1);
		for (size_t i = 0; i < sizeof(probes) / sizeof(probes[0]); i++) {
			a.cksum_flavour = (enum o2_cksum_flavour)(i % 3);
			/* A checksum would no longer match the bytes that a probe changes. */
			if (probes[i].type != 0)
				a.cksum_flavour = O2_CKSUM_NONE;
			run_probe(&a, &b, &probes[i]);
		}
	}
}

/* Judges the usual request at a node with the changed configuration b. */
static void judge_with(struct o2_connreq_self b, uint16_t version, uint16_t frags, uint8_t why,
		       const char *rule, bool before_names)
{
	struct o2_connreq_self a = connreq_self(true);
	struct probe probe = {.what = rule,
			      .ask = {version, 8, frags, 4096},
			      .why = why,
			      .rule = rule,
			      .before_names = before_names,
			      .in_our_version = before_names};

	run_probe(&a, &b, &probe);
}

TEST(own_options)
{
	struct o2_connreq_self b = connreq_self(false);

	b.up = false;
	judge_with(b, 0x12, 257, O2_REJECT_EARLY, "connreq/early", true);
	judge_with(b, 0x11, 257, O2_REJECT_EARLY, "connreq/early", true);
	b = connreq_self(false);
	b.require_privileged_port = true;
	judge_with(b, 0x12, 257, 0, "a privileged port", false);
	b = connreq_self(false);
	b.registers = false;
	judge_with(b, 0x12, 257, 0, "all fragments", false);
	judge_with(b, 0x12, 256, O2_REJECT_RDMA_FRAGS, "connreq/max-frags-few", false);
	judge_with(b, 0x11, 256, FATAL, "connreq/max-frags-few", false);
	b = connreq_self(false);
	b.max_frags = O2_MAX_FRAGS_LEGACY;
	judge_with(b, 0x12, 256, 0, "256 fragments", false);
	judge_with(b, 0x12, 257, O2_REJECT_RDMA_FRAGS, "connreq/max-frags-over", false);
	b = connreq_self(false);
	b.require_checksum = true;
	judge_with(b, 0x12, 257, FATAL, "wire/header/checksum-absent", true);
	b = connreq_self(false);
	b.version = O2_MSG_VERSION_1;
	judge_with(b, 0x12, 257, FATAL, "connreq/version", true);
	judge_with(b, 0x11, 257, 0, "version 1 only", false);
}

TEST(privileged_port)
{
	struct o2_connreq_self a = connreq_self(true), b = connreq_self(false);
	struct probe probe = {.what = "port 1024",
			      .ask = V2(8, 257, 4096),
			      .port = 1024,
			      .why = FATAL,
			      .rule = "connreq/privileged-port",
			      .before_names = true,
			      .in_our_version = true};

	b.require_privileged_port = true;
	run_probe(&a, &b, &probe);
	probe = (struct probe){.what = "port 1023", .ask = V2(8, 257, 4096), .port = 1023};
	run_probe(&a, &b, &probe);
}

TEST(nid_and_address)
{
	struct o2_connreq_self a = connreq_self(true), b = connreq_self(false);
	struct o2_cm_origin origin = {.ipv4 = false};
	struct probe probe = {.what = "unbound", .ask = V2(8, 257, 4096), .address = 0xc0a80a07};
	uint8_t bytes[O2_CONNREQ_BYTES];
	struct o2_connreq request;
	struct o2_reject reject;

	b.bind_nid_to_address = false;
	run_probe(&a, &b, &probe);
	b.bind_nid_to_address = true;
	make(&a, &probe, bytes);
	assert_int_equal(o2_connreq_judge(&b, &origin, bytes, sizeof(bytes), &request, &reject, NULL), 0);
}

/* Magics and versions that no builder of ours writes. */
TEST(versions_and_magics)
{
	static const struct {
		uint32_t magic;
		uint16_t version;
		const char *rule;
		enum o2_limit_kind kind;
		uint64_t limit;
	} rows[] = {
		{O2_MSG_MAGIC, 0x13, "connreq/version", O2_LIMIT_BOUND, 0x12},
		{O2_MSG_MAGIC, 0x10, "connreq/version", O2_LIMIT_BOUND, 0x11},
		{O2_MSG_MAGIC, 0xffff, "connreq/version", O2_LIMIT_BOUND, 0x12},
		{O2_LNET_PROTO_MAGIC, 0x12, "connreq/generic-magic", O2_LIMIT_EXACT, O2_MSG_MAGIC},
		{O2_LNET_PROTO_MAGIC, 0x999, "connreq/generic-magic", O2_LIMIT_EXACT, O2_MSG_MAGIC},
		{0x12345678, 0x12, "wire/header/magic", O2_LIMIT_EXACT, O2_MSG_MAGIC},
	};
	struct o2_connreq_self b = connreq_self(false);
	struct o2_connreq request;
	struct o2_reject reject;
	struct o2_error error;

	for (unsigned int i = 0; i < 2 * sizeof(rows) / sizeof(rows[0]); i++) {
		struct o2_connreq_self a = connreq_self(true);
		struct probe probe = {.ask = V2(8, 257, 4096)};
		uint8_t bytes[O2_CONNREQ_BYTES];

		a.order = (enum o2_byte_order)(i % 2);
		make(&a, &probe, bytes);
		o2_store32(bytes + O2_AT_MAGIC, a.order, rows[i / 2].magic);
		o2_store16(bytes + O2_AT_VERSION, a.order, rows[i / 2].version);
		assert_int_equal(
			o2_connreq_judge(&b, &origin_a, bytes, sizeof(bytes), &request, &reject, &error),
			-EPROTO);
		assert_string_equal(error.rule, rows[i / 2].rule);
		assert_int_equal(error.limit_kind, rows[i / 2].kind);
		assert_int_equal(error.limit, rows[i / 2].limit);
		assert_int_equal(reject.ibr_why, FATAL);
		assert_int_equal(reject.ibr_version, O2_MSG_VERSION_2);
		assert_int_equal(reject.ibr_incarnation, 0);
	}
}

/* After the request itself, what is known of the peer decides. */
TEST(known_peers)
{
	static const struct {
		const char *rule; /* NULL: accepted */
		uint8_t why;
		struct o2_connreq_known known;
	} rows[] = {
		{NULL, 0, {.npeers = 7}},
		{"connreq/peers", 2, {.npeers = 8}},
		{NULL, 0, {.npeers = 8, .known = true}},
		{NULL, 0, {.known = true, .version = 0, .incarnation = 7}},
		{NULL, 0, {.known = true, .version = 0x12, .incarnation = STAMP_A}},
		{NULL, 0, {.known = true, .version = 0x12, .incarnation = UINT64_MAX}},
		{"connreq/stale-peer", 5, {.known = true, .version = 0x12, .incarnation = STAMP_A - 1}},
		{"connreq/stale-version", 5, {.known = true, .version = 0x11, .incarnation = STAMP_A}},
		{"connreq/race", 1, {.known = true, .connecting = true}},
		{"connreq/race", 1, {.known = true, .connecting = true, .nraces = 19}},
		{NULL, 0, {.known = true, .connecting = true, .nraces = 20}},
		{NULL, 0, {.known = true, .connecting = false, .nraces = 3}},
		{NULL, 0, {.known = true, .nconns = 3}},
		{"connreq/connections", 2, {.known = true, .nconns = 4}},
	};
	struct o2_connreq_self b = connreq_self(false);
	struct o2_connreq request = {.nid = NID_A, .incarnation = STAMP_A, .params = V2(8, 257, 4096)};
	struct o2_reject reject;
	struct o2_error error;

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		int rc = o2_connreq_judge_peer(&b, &request, &rows[i].known, &reject, &error);

		if ((rc == 0) != (rows[i].rule == NULL))
			fail_msg("row %zu: %d", i, rc);
		if (rc == 0)
			continue;
		assert_string_equal(error.rule, rows[i].rule);
		assert_int_equal(reject.ibr_why, rows[i].why);
		assert_int_equal(reject.ibr_version, 0x12);
		assert_int_equal(reject.ibr_incarnation, STAMP_B);
		assert_int_equal(reject.ibr_cp.ibcp_queue_depth, 8);
	}
	o2_connreq_no_resources(&b, &request, &reject);
	assert_int_equal(reject.ibr_why, O2_REJECT_NO_RESOURCES);
	request.params.version = O2_MSG_VERSION_1;
	o2_connreq_no_resources(&b, &request, &reject);
	assert_int_equal(reject.ibr_version, O2_MSG_VERSION_1);
	assert_int_equal(reject.ibr_incarnation, 0);
}

/* NIDs in both rankings: if both nodes use the same one, exactly one of two different NIDs gives way. */
TEST(rankings)
{
	static const struct {
		uint64_t peer, own;
		bool by_nid, by_words_little, by_words_big;
	} rows[] = {
		{0x000500000a4d0001, 0x000500000a4d0002, true, true, true},
		{0x000500000a4d0002, 0x000500000a4d0001, false, false, false},
		{0x000500000a4d0102, 0x000500000a4d0201, true, false, true},
		{0x000500000a4d0201, 0x000500000a4d0102, false, true, false},
		{0x00050001c0a80a01, 0x00050000c0a80a01, false, false, true}, /* network 1 flips bit 0 */
		{0x000500000a4d0001, 0x000500000a4d0001, false, false, false},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct o2_connreq_self self = connreq_self(false);

		self.nid = rows[i].own;
		self.ranking = O2_RACE_BY_NID;
		assert_int_equal(o2_race_lost(&self, rows[i].peer), rows[i].by_nid);
		self.ranking = O2_RACE_BY_WORDS;
		assert_int_equal(o2_race_lost(&self, rows[i].peer), rows[i].by_words_little);
		self.order = O2_BIG_ENDIAN;
		assert_int_equal(o2_race_lost(&self, rows[i].peer), rows[i].by_words_big);
	}
}
