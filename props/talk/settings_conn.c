/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <inttypes.h>
#include <stddef.h>
#include <string.h>

#include "lnd/conn/conn_internal.h"
#include "props/talk/settings_internal.h"
#include "props/world/account.h"

/* Connections: each setting, the agreement between two ends, and connecting twice. */

#define WQ_ENTRIES	16384u /* most entries of a device's queue */
#define RNR_DELAY	12u    /* the code of 0.64 ms */
#define HOP_LIMIT	64u
#define PIECE_BYTES	16u
#define PIECES_PER_PAGE 32u

/* Draw one of the limits low and high; bad: a value just past either. */
static uint32_t draw_edge(struct o2_choice *c, uint32_t low, uint32_t high, bool bad)
{
	if (bad)
		return o2_draw_bool(c, 1, 1) && low > 0 ? low - 1 : high + 1 + (uint32_t)o2_draw(c, 1);
	return o2_draw_bool(c, 1, 1) ? low : high;
}

struct range {
	const char *rule, *field;
	size_t at, bytes;
	uint32_t low, high;
};

#define RANGE(rule_, member, low_, high_)                                            \
	{                                                                            \
		rule_, #member, offsetof(struct o2_conn_config, member),             \
			sizeof(((struct o2_conn_config *)NULL)->member), low_, high_ \
	}

/* docs/transport.md, "Tunables". */
static const struct range ranges[] = {
	RANGE("conn/queue-depth", queue_depth, 2, 255),
	RANGE("conn/max-frags", max_frags, 1, 257),
	RANGE("conn/wrq-sge", wrq_sge, 1, 32),
	RANGE("conn/retry-count", retry_count, 0, 6),
	RANGE("conn/rnr-retry-count", rnr_retry_count, 0, 6),
	RANGE("conn/ack-timeout", ack_timeout, 0, 31),
	RANGE("conn/version", version, 0x11, 0x12),
	RANGE("conn/max-transfers", max_transfers, 1, 65535),
	RANGE("conn/peer-tx-credits", peer_tx_credits, 0, 255),
	RANGE("conn/order", order, O2_LITTLE_ENDIAN, O2_BIG_ENDIAN),
	RANGE("conn/cksum-flavour", cksum_flavour, O2_CKSUM_NONE, O2_CKSUM_SIGNED),
};
#define RANGES (sizeof(ranges) / sizeof(ranges[0]))

static void put(struct o2_conn_config *config, const struct range *range, uint32_t value)
{
	memcpy((uint8_t *)config + range->at, &value, range->bytes); /* little-endian only */
}

/* Draw a configuration with at most one invalid setting; *expected says which. */
static struct o2_conn_config draw_conn(struct o2_choice *c, struct o2_settings_verdict *expected)
{
	struct o2_conn_config config = O2_CONN_DEFAULTS;
	const size_t bad = o2_draw_bool(c, 1, 1) ? o2_draw_pick(c, RANGES) : RANGES;

	*expected = (struct o2_settings_verdict){.code = 0};
	for (size_t i = 0; i < RANGES; i++) {
		const struct range *range = &ranges[i];
		uint32_t low = range->low, value;

		/* The least depth of version 1 differs: see below. */
		if (i != bad && (range->low == 0x11 || !o2_draw_bool(c, 3, 1)))
			continue;
		value = draw_edge(c, low, range->high, i == bad);
		if (i != bad && value == O2_MAX_TRANSFERS && !o2_draw_bool(c, 15, 1))
			value = 300;
		put(&config, range, value);
		if (i == bad)
			*expected = o2_settings_bound(-EINVAL, range->rule, range->field, value,
						      value < low ? low : range->high);
	}
	/* Each number of concurrent sends is taken; it is brought into its range. */
	if (o2_draw_bool(c, 1, 1))
		config.concurrent_sends = (uint32_t)o2_draw(c, o2_draw_bool(c, 1, 1) ? 16 : 600);
	if (bad == RANGES && o2_draw_bool(c, 3, 1)) {
		config.version = 0x11;
		if (config.queue_depth == 2)
			*expected = o2_settings_bound(-EINVAL, "conn/queue-depth", "queue_depth", 2, 3);
	}
	return config;
}

static void forget(void *context, const struct o2_transfer_result *result)
{
	(void)context;
	(void)result;
}

/* Sizes and marks are those of docs/transport.md, for the agreed depth; 0: none is agreed. */
static void check_sizes(struct o2_settings_run *run, struct o2_report *report, uint32_t side,
			const struct o2_conn_config *config, const struct o2_conn *conn, uint32_t depth)
{
	struct ibv_device_attr device = {0};
	struct o2_account_limits limits;
	struct o2_account_room room;
	struct o2_account account;
	struct o2_conn_view view;

	if (ibv_query_device(run->ni[side].context, &device) != 0)
		o2_report_fail(report, "settings/open", "the device does not tell its limits");
	room = (struct o2_account_room){.wrs = (uint32_t)device.max_qp_wr, .cqes = (uint32_t)device.max_cqe};
	o2_account_limits(config, &room, &limits);
	if (depth != 0)
		o2_account_agree(config, depth, &limits);
	o2_conn_view(conn, &view);
	if (!o2_account_sizes(&view, &limits, &account))
		o2_report_fail(report, "settings/account", "%s: %s is %" PRIu64 ", expected %" PRIu64,
			       run->text, account.what, account.is, account.expected);
}

static struct o2_conn *make(struct o2_settings_run *run, struct o2_report *report, uint32_t side,
			    const struct o2_conn_config *config, const struct o2_settings_verdict *expected)
{
	static const struct o2_conn_ops ops = {.done = forget};
	struct o2_error error = {0};
	struct o2_conn *conn = NULL;
	struct o2_conn_address address;
	const int rc = o2_conn_create(&run->ni[side], config, &ops, run, &conn, &error);

	o2_settings_check(run, report, rc, &error, expected);
	run->tally.seen[rc == 0 ? CONN_MADE : CONN_REFUSED]++;
	if (rc != 0 || report->failed)
		return conn;
	o2_conn_get_address(conn, &address);
	if (address.nid != run->ni[side].config.nid || address.incarnation != 5 ||
	    address.max_frags != config->max_frags || address.queue_depth > config->queue_depth ||
	    address.qp_num > 0xffffff || address.psn > 0xffffff ||
	    memcmp(&address.gid, &run->ni[side].gid, sizeof(address.gid)) != 0 ||
	    (2 * (config->queue_depth + 8) * (config->max_frags + 3) <= WQ_ENTRIES &&
	     address.queue_depth != config->queue_depth))
		o2_report_fail(report, "settings/address", "%s: depth %" PRIu32 ", fragments %" PRIu32,
			       run->text, address.queue_depth, address.max_frags);
	check_sizes(run, report, side, config, conn, 0);
	if (o2_conn_get_state(conn) != O2_CONN_INIT)
		o2_report_fail(report, "settings/state", "%s: %d", run->text, (int)o2_conn_get_state(conn));
	if (o2_conn_arm(conn) != -EOPNOTSUPP)
		o2_report_fail(report, "settings/arm", "%s: without events", run->text);
	return conn;
}

/* --- what is agreed --- */

/* The limits that the connection uses: those that it was told last, unless it has refused them. */
static void check_used(struct o2_settings_run *run, struct o2_report *report, const struct o2_conn *conn,
		       const struct o2_conn_config *config, uint32_t max_msg_bytes)
{
	const struct o2_conn_config *used = &conn->config;
	struct o2_conn_view view;

	o2_conn_view(conn, &view);
	o2_settings_same(run, report, "the depth in use", used->queue_depth, config->queue_depth);
	o2_settings_same(run, report, "its credits", view.flow.credits, config->queue_depth);
	o2_settings_same(run, report, "the fragments in use", used->max_frags, config->max_frags);
	o2_settings_same(run, report, "the gather entries in use", used->wrq_sge, config->wrq_sge);
	o2_settings_same(run, report, "the order in use", used->order, config->order);
	o2_settings_same(run, report, "the checksums in use", used->cksum_flavour, config->cksum_flavour);
	o2_settings_same(run, report, "the longest message", conn->peer.max_msg_bytes, max_msg_bytes);
}

static void try_peer(struct o2_settings_run *run, struct o2_choice *c, struct o2_report *report,
		     struct o2_conn *conn, const struct o2_conn_config *config)
{
	struct o2_conn_address own;
	struct o2_conn_peer peer = {.nid = 7, .version = config->version, .max_msg_bytes = O2_MSG_BYTES};
	const uint64_t bad = o2_draw(c, 7);
	const uint32_t least = config->version == 0x11 ? 3 : 2;
	struct o2_settings_verdict expected = {.code = 0};
	struct o2_conn_config used = *config;
	struct o2_error error = {0};
	int rc;

	o2_conn_get_address(conn, &own);
	used.queue_depth = own.queue_depth;
	peer.queue_depth = draw_edge(c, least, own.queue_depth, bad == 1);
	peer.max_frags = draw_edge(c, 1, config->max_frags, bad == 2);
	peer.max_msg_bytes = draw_edge(c, O2_MIN_MSG_BYTES, O2_MSG_BYTES, bad == 3);
	if (bad == 0)
		peer.version = config->version ^ 3;
	if (bad == 0)
		expected = o2_settings_exact(-EPROTO, "conn/peer-version", "version", peer.version,
					     config->version);
	else if (bad == 1)
		expected =
			o2_settings_bound(-EPROTO, "conn/peer-queue-depth", "queue_depth", peer.queue_depth,
					  peer.queue_depth < least ? least : own.queue_depth);
	else if (bad == 2)
		expected = o2_settings_bound(-EPROTO, "conn/peer-max-frags", "max_frags", peer.max_frags,
					     peer.max_frags < 1 ? 1 : config->max_frags);
	else if (bad == 3)
		expected = o2_settings_bound(
			-EPROTO, "conn/peer-max-msg", "max_msg_bytes", peer.max_msg_bytes,
			peer.max_msg_bytes < O2_MIN_MSG_BYTES ? O2_MIN_MSG_BYTES : O2_MSG_BYTES);
	rc = o2_conn_set_peer(conn, &peer, &error);
	o2_settings_check(run, report, rc, &error, &expected);
	if (rc == 0) {
		used.queue_depth = peer.queue_depth;
		used.max_frags = peer.max_frags;
	}
	check_used(run, report, conn, &used, rc == 0 ? peer.max_msg_bytes : O2_MSG_BYTES);
	check_sizes(run, report, 0, config, conn, used.queue_depth);
	run->tally.seen[rc == 0 ? PEER_TAKEN : PEER_REFUSED]++;
}

static void try_limits(struct o2_settings_run *run, struct o2_choice *c, struct o2_report *report,
		       struct o2_conn *conn, const struct o2_conn_config *config)
{
	struct o2_conn_config limits = *config, used = *config;
	struct o2_conn_address own;
	const uint64_t bad = o2_draw(c, 7);
	struct o2_settings_verdict expected = {.code = 0};
	struct o2_error error = {0};
	int rc;

	limits.max_frags = draw_edge(c, 1, config->max_frags, bad == 0);
	limits.wrq_sge = draw_edge(c, 1, config->wrq_sge, bad == 1);
	limits.order = (enum o2_byte_order)(bad == 2 ? 2 : o2_draw(c, 1));
	limits.cksum_flavour =
		(enum o2_cksum_flavour)(bad == 3 ? O2_CKSUM_SIGNED + 1 : o2_draw(c, O2_CKSUM_SIGNED));
	if (bad == 0)
		expected = o2_settings_bound(-EINVAL, "conn/max-frags", "max_frags", limits.max_frags,
					     limits.max_frags == 0 ? 1 : config->max_frags);
	else if (bad == 1)
		expected = o2_settings_bound(-EINVAL, "conn/wrq-sge", "wrq_sge", limits.wrq_sge,
					     limits.wrq_sge == 0 ? 1 : config->wrq_sge);
	else if (bad == 2)
		expected = o2_settings_bound(-EINVAL, "conn/order", "order", 2, O2_BIG_ENDIAN);
	else if (bad == 3)
		expected = o2_settings_bound(-EINVAL, "conn/cksum-flavour", "cksum_flavour",
					     O2_CKSUM_SIGNED + 1, O2_CKSUM_SIGNED);
	o2_conn_get_address(conn, &own);
	rc = o2_conn_set_limits(conn, &limits, &error);
	o2_settings_check(run, report, rc, &error, &expected);
	used = rc == 0 ? limits : used;
	used.queue_depth = own.queue_depth;
	check_used(run, report, conn, &used, O2_MSG_BYTES);
	run->tally.seen[rc == 0 ? LIMITS_SET : LIMITS_REFUSED]++;
}

/*
 * Try a sink of as many separate pieces as the agreed number of fragments permits, or one more.  The latter is
 * refused at this end, before the peer is told.
 */
static void try_fragments(struct o2_settings_run *run, struct o2_choice *c, struct o2_report *report,
			  struct o2_conn *conn, uint32_t agreed)
{
	static struct o2_kiov piece[O2_MAX_FRAGS];
	const uint32_t pieces = agreed + (uint32_t)o2_draw(c, agreed < O2_MAX_FRAGS ? 1 : 0);
	const struct o2_transfer_memory sink = {
		.buffer = {.kind = O2_KIOV, .count = pieces, .kiov = piece, .nob = PIECE_BYTES * pieces},
		.mode = O2_REG_GLOBAL,
	};
	const struct o2_lnet_hdr hdr = o2_conn_lnet_hdr(conn, O2_LNET_GET, 1, sink.buffer.nob);
	struct o2_settings_verdict expected = {.code = 0};
	struct o2_error error = {0};
	int rc;

	for (uint32_t i = 0; i < pieces; i++)
		piece[i] = (struct o2_kiov){i / PIECES_PER_PAGE, i % PIECES_PER_PAGE * 2 * PIECE_BYTES,
					    PIECE_BYTES};
	if (pieces > agreed)
		expected = o2_settings_bound(-EFBIG, "reg/more-fragments-than-peer-accepts", "nfrags", pieces,
					     agreed);
	rc = o2_conn_get(conn, &hdr, &sink, NULL, &error);
	o2_settings_check(run, report, rc, &error, &expected);
	if (rc != 0)
		return;
	/* While it is open no other limits are taken. */
	expected = o2_settings_bound(-EBUSY, "conn/transfer-open", "operations open", 1, 0);
	memset(&error, 0, sizeof(error));
	rc = o2_conn_set_limits(conn, &conn->config, &error);
	o2_settings_check(run, report, rc, &error, &expected);
}

/* The queue pair is up, towards that address, with the retries and the time-out of the configuration. */
static void check_pair(struct o2_settings_run *run, struct o2_report *report, const struct o2_conn *conn,
		       const struct o2_conn_config *config, const struct o2_conn_address *to)
{
	struct o2_conn_address own;
	struct ibv_qp_init_attr init;
	struct ibv_qp_attr attr = {.qp_state = IBV_QPS_RESET};

	o2_conn_get_address(conn, &own);
	o2_settings_same(run, report, "the query", (uint64_t)ibv_query_qp(o2_conn_qp(conn), &attr, 0, &init),
			 0);
	o2_settings_same(run, report, "the state", attr.qp_state, IBV_QPS_RTS);
	o2_settings_same(run, report, "the other queue pair", attr.dest_qp_num, to->qp_num);
	o2_settings_same(run, report, "its number", attr.rq_psn, to->psn);
	o2_settings_same(run, report, "the own number", attr.sq_psn, own.psn);
	o2_settings_same(run, report, "the retries", attr.retry_cnt, config->retry_count);
	o2_settings_same(run, report, "the retries of a receiver that is not ready", attr.rnr_retry,
			 config->rnr_retry_count);
	o2_settings_same(run, report, "the time-out", attr.timeout, config->ack_timeout);
	o2_settings_same(run, report, "the delay of a receiver that is not ready", attr.min_rnr_timer,
			 RNR_DELAY);
	o2_settings_same(run, report, "the hop limit", attr.ah_attr.grh.hop_limit, HOP_LIMIT);
	o2_settings_same(run, report, "the rights", attr.qp_access_flags, IBV_ACCESS_REMOTE_WRITE);
	o2_settings_same(run, report, "the GID",
			 memcmp(&attr.ah_attr.grh.dgid, &to->gid, sizeof(to->gid)) == 0, true);
}

static void try_connect(struct o2_settings_run *run, struct o2_choice *c, struct o2_report *report,
			struct o2_conn *conn, struct o2_conn *peer, const struct o2_conn_config *config)
{
	struct o2_conn_address address;
	struct o2_settings_verdict expected = {.code = 0};
	struct o2_error error = {0};
	const uint64_t bad = o2_draw(c, 4);
	uint32_t most_frags;
	int rc;

	o2_conn_get_address(peer, &address);
	most_frags = address.max_frags;
	/* The other end supports less, or does not state its limits. */
	if (o2_draw_bool(c, 1, 1))
		address.max_frags = (uint32_t)o2_draw(c, address.max_frags);
	if (bad == 0) {
		address.qp_num |= 1u << 24;
		expected = o2_settings_bound(-EINVAL, "conn/peer-qp-num", "qp_num", address.qp_num, 0xffffff);
	} else if (bad == 1) {
		address.psn |= 1u << 24;
		expected = o2_settings_bound(-EINVAL, "conn/peer-psn", "psn", address.psn, 0xffffff);
	} else if (bad == 2) {
		address.qp_num = address.psn = 0xffffff;
	}
	rc = o2_conn_connect(conn, &address, &error);
	o2_settings_check(run, report, rc, &error, &expected);
	run->tally.seen[rc == 0 ? CONNECTED : NOT_CONNECTED]++;
	if ((o2_conn_get_state(conn) == O2_CONN_ESTABLISHED) != (rc == 0))
		o2_report_fail(report, "settings/state", "%s: %d", run->text, (int)o2_conn_get_state(conn));
	if (rc == 0)
		check_pair(run, report, conn, config, &address);
	if (rc != 0 || report->failed)
		return;
	expected = o2_settings_exact(-EISCONN, "conn/not-init", "state", O2_CONN_ESTABLISHED, O2_CONN_INIT);
	memset(&error, 0, sizeof(error));
	rc = o2_conn_connect(conn, &address, &error);
	o2_settings_check(run, report, rc, &error, &expected);
	run->tally.seen[TWICE]++;
	if (!report->failed)
		try_fragments(run, c, report, conn, address.max_frags == 0 ? most_frags : address.max_frags);
}

bool o2_settings_join(struct o2_settings_run *run, struct o2_report *report, struct o2_ni *const ni[2],
		      const struct o2_conn_config *config, const struct o2_conn_ops *ops, void *context,
		      struct o2_conn *conn[2])
{
	struct o2_conn_address address[2];
	int rc = 0;

	for (uint32_t i = 0; i < 2 && rc == 0; i++)
		rc = o2_conn_create(ni[i], config, ops, context, &conn[i], NULL);
	for (uint32_t i = 0; i < 2 && rc == 0; i++)
		o2_conn_get_address(conn[i], &address[i]);
	for (uint32_t i = 0; i < 2 && rc == 0; i++)
		rc = o2_conn_connect(conn[i], &address[1 - i], NULL);
	if (rc != 0)
		o2_report_fail(report, "settings/open", "%s: no connection: %d", run->text, rc);
	return rc == 0;
}

void o2_settings_connection(struct o2_settings_run *run, struct o2_choice *c, struct o2_report *report)
{
	struct o2_settings_verdict expected, none = {.code = 0};
	const struct o2_conn_config config = draw_conn(c, &expected);
	struct o2_conn *conn, *peer = NULL;
	const uint64_t then = o2_draw(c, 2);

	snprintf(run->text, sizeof(run->text),
		 "a connection of version 0x%x, depth %" PRIu32 ", %" PRIu32 " fragments of %" PRIu32
		 " entries, then %" PRIu64,
		 config.version, config.queue_depth, config.max_frags, config.wrq_sge, then);
	if (expected.code == 0 && o2_draw_bool(c, 1, 1))
		o2_settings_device(run, c, &config, report);
	if (report->failed)
		return;
	conn = make(run, report, 0, &config, &expected);
	if (conn != NULL && !report->failed) {
		if (then == 0)
			try_peer(run, c, report, conn, &config);
		else if (then == 1)
			try_limits(run, c, report, conn, &config);
		else
			peer = make(run, report, 1, &config, &none);
		if (peer != NULL && !report->failed)
			try_connect(run, c, report, conn, peer, &config);
	}
	o2_conn_destroy(conn);
	o2_conn_destroy(peer);
	for (uint32_t i = 0; i < 2; i++)
		if (!report->failed)
			o2_settings_check_idle(run, report, &run->ni[i]);
}
