/* SPDX-License-Identifier: MIT */
#include "props/talk/settings.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "lnd/conn/conn.h"
#include "lnd/ni/counts.h"
#include "props/talk/settings_internal.h"

#define WQ_ENTRIES 16384u /* of a queue of the device */

static const struct o2_tally_row situations[O2_SETTINGS_SITUATIONS] = {
	O2_SETTINGS_SITUATION_LIST(O2_SITUATION_ROW)};

void o2_settings_check(struct o2_settings_run *run, struct o2_report *report, int rc,
		       const struct o2_error *error, const struct o2_settings_verdict *expected)
{
	o2_settings_check_at(run, report, rc, error, expected, O2_NO_INDEX);
}

void o2_settings_check_at(struct o2_settings_run *run, struct o2_report *report, int rc,
			  const struct o2_error *error, const struct o2_settings_verdict *expected,
			  uint32_t index)
{
	if (rc == expected->code &&
	    (rc == 0 ||
	     (error->code == rc && error->rule != NULL && strcmp(error->rule, expected->rule) == 0 &&
	      error->field != NULL && strcmp(error->field, expected->field) == 0 &&
	      error->value == expected->value && error->limit == expected->limit &&
	      error->limit_kind == expected->kind && error->index == index)))
		return;
	o2_report_fail(report, "settings/verdict",
		       "%s: %d by %s of %s: %" PRIu64 ", limit %" PRIu64 ", index %" PRIu32, run->text, rc,
		       rc == 0 || error->rule == NULL ? "nothing" : error->rule,
		       rc == 0 || error->field == NULL ? "-" : error->field, error->value, error->limit,
		       error->index);
	o2_report_add(report, "expected %d by %s of %s: %" PRIu64 ", limit %" PRIu64 ", index %" PRIu32,
		      expected->code, expected->rule == NULL ? "nothing" : expected->rule,
		      expected->field == NULL ? "-" : expected->field, expected->value, expected->limit,
		      index);
}

/* A value of low to high: at an end, or (bad) one past it. */
static uint32_t draw_edge(struct o2_choice *c, uint32_t low, uint32_t high, bool bad)
{
	if (bad)
		return o2_draw_bool(c, 1, 1) && low > 0 ? low - 1 : high + 1 + (uint32_t)o2_draw(c, 1);
	return o2_draw_bool(c, 1, 1) ? low : high;
}

/* --- interfaces --- */

struct o2_ni_config o2_settings_good_ni(uint32_t index)
{
	return (struct o2_ni_config){
		.device = index == 0 ? "loop0" : "loop1",
		.port = 1,
		.gid_index = 1,
		.nid = UINT64_C(0x000500000a4d0001) + index,
		.incarnation = 5,
		.arena_pages = 16,
		.plain_arena = true,
		.sizes = {.tx_size = 4, .reg_size = 4},
	};
}

static void try_interface(struct o2_settings_run *run, struct o2_choice *c, struct o2_report *report)
{
	struct o2_ni_config config = o2_settings_good_ni((uint32_t)o2_draw(c, 1));
	struct o2_settings_verdict expected = {.limit = O2_NO_LIMIT, .kind = O2_LIMIT_BOUND};
	struct o2_error error = {0}, idle = {0};
	uint32_t windows;
	struct o2_ni ni;
	int rc;

	config.events = o2_draw_bool(c, 1, 1);
	config.windows = o2_draw_bool(c, 1, 1) ? 0 : (uint32_t)o2_draw_range(c, 2, O2_ARENA_WINDOWS);
	switch (o2_draw(c, 5)) {
	case 0:
		config.device = o2_draw_bool(c, 1, 1) ? "loop" : "loop01";
		expected = (struct o2_settings_verdict){
			-ENODEV, "ni/no-such-device", "device (number of devices there)",
			2,	 O2_NO_LIMIT,	      O2_LIMIT_BOUND};
		break;
	case 1:
		config.port = (uint8_t)(2 * o2_draw(c, 1));
		expected = (struct o2_settings_verdict){-EINVAL,     "ni/port",	  "port",
							config.port, O2_NO_LIMIT, O2_LIMIT_BOUND};
		break;
	case 2:
		config.gid_index = (uint8_t)o2_draw_range(c, 2, 3);
		expected = (struct o2_settings_verdict){
			-EADDRNOTAVAIL, "ni/gid-index", "gid_index", config.gid_index, 2, O2_LIMIT_BOUND};
		break;
	case 3:
		config.windows = o2_draw_bool(c, 1, 1) ? 1 : O2_ARENA_WINDOWS + 1;
		expected = (struct o2_settings_verdict){-EINVAL,
							"ni/windows",
							"windows",
							config.windows,
							config.windows == 1 ? 2 : O2_ARENA_WINDOWS,
							O2_LIMIT_BOUND};
		break;
	case 4:
		if (o2_draw_bool(c, 1, 1)) {
			config.arena_pages = 0;
			expected = (struct o2_settings_verdict){-EINVAL, "arena/no-pages", "npages", 0,
								1,	 O2_LIMIT_BOUND};
		}
		break;
	default:
		config.gid_index = (uint8_t)o2_draw(c, 1);
	}
	snprintf(run->text, sizeof(run->text), "an interface of %s, port %u, GID %u, %" PRIu32 " windows",
		 config.device, config.port, config.gid_index, config.windows);
	rc = o2_ni_open(&config, &ni, &error);
	o2_settings_check(run, report, rc, &error, &expected);
	run->tally.seen[rc == 0 ? NI_OPENED : NI_REFUSED]++;
	if (rc != 0)
		return;
	windows = config.windows == 0 ? O2_ARENA_WINDOWS : config.windows;
	/* A quarter of them, rounded up, is kept for the peers: docs/transport.md, "Windows". */
	if (ni.arena.nwindows != windows || ni.kept_windows != windows / 4 + (windows % 4 != 0))
		o2_report_fail(report, "settings/windows", "%s: %" PRIu32 ", of which %" PRIu32 " are kept",
			       run->text, ni.arena.nwindows, ni.kept_windows);
	if ((o2_ni_fd(&ni) >= 0) != config.events)
		o2_report_fail(report, "settings/events", "%s: descriptor %d", run->text, o2_ni_fd(&ni));
	if (o2_ni_check_idle(&ni, &idle) != 0)
		o2_report_fail(report, "settings/idle", "%s: %s", run->text, idle.rule);
	o2_ni_close(&ni);
}

/* --- connections --- */

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
	memcpy((uint8_t *)config + range->at, &value, range->bytes); /* little-endian machines alone */
}

/* At most one setting that is none; *expected says which. */
static struct o2_conn_config draw_conn(struct o2_choice *c, bool may_fail,
				       struct o2_settings_verdict *expected)
{
	struct o2_conn_config config = O2_CONN_DEFAULTS;
	const size_t bad = may_fail && o2_draw_bool(c, 1, 1) ? o2_draw_pick(c, RANGES) : RANGES;

	*expected = (struct o2_settings_verdict){.code = 0};
	for (size_t i = 0; i < RANGES; i++) {
		const struct range *range = &ranges[i];
		uint32_t low = range->low, value;

		/* Version 1 has another least depth: below. */
		if (i != bad && (range->low == 0x11 || !o2_draw_bool(c, 3, 1)))
			continue;
		value = draw_edge(c, low, range->high, i == bad);
		if (i != bad && value == O2_MAX_TRANSFERS && !o2_draw_bool(c, 15, 1))
			value = 300;
		put(&config, range, value);
		if (i == bad)
			*expected = (struct o2_settings_verdict){-EINVAL,
								 range->rule,
								 range->field,
								 value,
								 value < low ? low : range->high,
								 O2_LIMIT_BOUND};
	}
	if (bad == RANGES && o2_draw_bool(c, 3, 1)) {
		config.version = 0x11;
		if (config.queue_depth == 2)
			*expected = (struct o2_settings_verdict){
				-EINVAL, "conn/queue-depth", "queue_depth", 2, 3, O2_LIMIT_BOUND};
	}
	return config;
}

static struct o2_conn *make(struct o2_settings_run *run, struct o2_report *report, uint32_t side,
			    const struct o2_conn_config *config, const struct o2_settings_verdict *expected)
{
	static const struct o2_conn_ops ops;
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
	if (o2_conn_get_state(conn) != O2_CONN_INIT)
		o2_report_fail(report, "settings/state", "%s: %d", run->text, (int)o2_conn_get_state(conn));
	if (o2_conn_arm(conn) != -EOPNOTSUPP)
		o2_report_fail(report, "settings/arm", "%s: without events", run->text);
	return conn;
}

/* --- what is agreed --- */

static void try_peer(struct o2_settings_run *run, struct o2_choice *c, struct o2_report *report,
		     struct o2_conn *conn, const struct o2_conn_config *config)
{
	struct o2_conn_address own;
	struct o2_conn_peer peer = {.nid = 7, .version = config->version, .max_msg_bytes = O2_MSG_BYTES};
	const uint64_t bad = o2_draw(c, 7);
	const uint32_t least = config->version == 0x11 ? 3 : 2;
	struct o2_settings_verdict expected = {.code = 0};
	struct o2_error error = {0};
	int rc;

	o2_conn_get_address(conn, &own);
	peer.queue_depth = draw_edge(c, least, own.queue_depth, bad == 1);
	peer.max_frags = draw_edge(c, 1, config->max_frags, bad == 2);
	peer.max_msg_bytes = draw_edge(c, O2_MIN_MSG_BYTES, O2_MSG_BYTES, bad == 3);
	if (bad == 0)
		peer.version = config->version ^ 3;
	if (bad == 0)
		expected = (struct o2_settings_verdict){-EPROTO,      "conn/peer-version", "version",
							peer.version, config->version,	   O2_LIMIT_EXACT};
	else if (bad == 1)
		expected = (struct o2_settings_verdict){-EPROTO,
							"conn/peer-queue-depth",
							"queue_depth",
							peer.queue_depth,
							peer.queue_depth < least ? least : own.queue_depth,
							O2_LIMIT_BOUND};
	else if (bad == 2)
		expected = (struct o2_settings_verdict){-EPROTO,
							"conn/peer-max-frags",
							"max_frags",
							peer.max_frags,
							peer.max_frags < 1 ? 1 : config->max_frags,
							O2_LIMIT_BOUND};
	else if (bad == 3)
		expected = (struct o2_settings_verdict){
			-EPROTO,
			"conn/peer-max-msg",
			"max_msg_bytes",
			peer.max_msg_bytes,
			peer.max_msg_bytes < O2_MIN_MSG_BYTES ? O2_MIN_MSG_BYTES : O2_MSG_BYTES,
			O2_LIMIT_BOUND};
	rc = o2_conn_set_peer(conn, &peer, &error);
	o2_settings_check(run, report, rc, &error, &expected);
	run->tally.seen[rc == 0 ? PEER_TAKEN : PEER_REFUSED]++;
}

static void try_limits(struct o2_settings_run *run, struct o2_choice *c, struct o2_report *report,
		       struct o2_conn *conn, const struct o2_conn_config *config)
{
	struct o2_conn_config limits = *config;
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
		expected = (struct o2_settings_verdict){-EINVAL,	  "conn/max-frags",  "max_frags",
							limits.max_frags, config->max_frags, O2_LIMIT_BOUND};
	else if (bad == 1)
		expected = (struct o2_settings_verdict){-EINVAL,	"conn/wrq-sge",	 "wrq_sge",
							limits.wrq_sge, config->wrq_sge, O2_LIMIT_BOUND};
	else if (bad == 2)
		expected = (struct o2_settings_verdict){-EINVAL, "conn/order",	"order",
							2,	 O2_BIG_ENDIAN, O2_LIMIT_BOUND};
	else if (bad == 3)
		expected = (struct o2_settings_verdict){-EINVAL,	 "conn/cksum-flavour",
							"cksum_flavour", O2_CKSUM_SIGNED + 1,
							O2_CKSUM_SIGNED, O2_LIMIT_BOUND};
	rc = o2_conn_set_limits(conn, &limits, &error);
	o2_settings_check(run, report, rc, &error, &expected);
	run->tally.seen[rc == 0 ? LIMITS_SET : LIMITS_REFUSED]++;
}

static void try_connect(struct o2_settings_run *run, struct o2_choice *c, struct o2_report *report,
			struct o2_conn *conn, struct o2_conn *peer)
{
	struct o2_conn_address address;
	struct o2_settings_verdict expected = {.code = 0};
	struct o2_error error = {0};
	const uint64_t bad = o2_draw(c, 4);
	int rc;

	o2_conn_get_address(peer, &address);
	if (bad == 0) {
		address.qp_num |= 1u << 24;
		expected = (struct o2_settings_verdict){-EINVAL,	"conn/peer-qp-num", "qp_num",
							address.qp_num, 0xffffff,	    O2_LIMIT_BOUND};
	} else if (bad == 1) {
		address.psn |= 1u << 24;
		expected = (struct o2_settings_verdict){-EINVAL,     "conn/peer-psn", "psn",
							address.psn, 0xffffff,	      O2_LIMIT_BOUND};
	} else if (bad == 2) {
		address.psn = 0xffffff;
	}
	rc = o2_conn_connect(conn, &address, &error);
	o2_settings_check(run, report, rc, &error, &expected);
	run->tally.seen[rc == 0 ? CONNECTED : NOT_CONNECTED]++;
	if ((o2_conn_get_state(conn) == O2_CONN_ESTABLISHED) != (rc == 0))
		o2_report_fail(report, "settings/state", "%s: %d", run->text, (int)o2_conn_get_state(conn));
	if (rc != 0 || report->failed)
		return;
	expected = (struct o2_settings_verdict){-EISCONN,     "conn/not-init", "state", O2_CONN_ESTABLISHED,
						O2_CONN_INIT, O2_LIMIT_EXACT};
	memset(&error, 0, sizeof(error));
	rc = o2_conn_connect(conn, &address, &error);
	o2_settings_check(run, report, rc, &error, &expected);
	run->tally.seen[TWICE]++;
}

static void try_connection(struct o2_settings_run *run, struct o2_choice *c, struct o2_report *report)
{
	struct o2_settings_verdict expected, none = {.code = 0};
	const struct o2_conn_config config = draw_conn(c, true, &expected);
	struct o2_conn *conn, *peer = NULL;
	struct o2_error idle = {0};
	const uint64_t then = o2_draw(c, 2);

	snprintf(run->text, sizeof(run->text),
		 "a connection of version 0x%x, depth %" PRIu32 ", %" PRIu32 " fragments of %" PRIu32
		 " entries, then %" PRIu64,
		 config.version, config.queue_depth, config.max_frags, config.wrq_sge, then);
	conn = make(run, report, 0, &config, &expected);
	if (conn != NULL && !report->failed) {
		if (then == 0)
			try_peer(run, c, report, conn, &config);
		else if (then == 1)
			try_limits(run, c, report, conn, &config);
		else
			peer = make(run, report, 1, &config, &none);
		if (peer != NULL && !report->failed)
			try_connect(run, c, report, conn, peer);
	}
	o2_conn_destroy(conn);
	o2_conn_destroy(peer);
	for (uint32_t i = 0; i < 2; i++)
		if (!report->failed && o2_ni_check_idle(&run->ni[i], &idle) != 0)
			o2_report_fail(report, "settings/idle", "%s: %s", run->text, idle.rule);
}

/* --- the case --- */

static bool open_both(struct o2_settings_run *run)
{
	struct o2_error error;

	for (uint32_t i = 0; i < 2 && !run->open; i++) {
		const struct o2_ni_config config = o2_settings_good_ni(i);

		if (o2_ni_open(&config, &run->ni[i], &error) != 0)
			return false;
	}
	run->open = true;
	return true;
}

static enum o2_status run_case(void *context, struct o2_choice *choice, struct o2_report *report)
{
	struct o2_settings_run *run = context;

	o2_report_clear(report);
	if (!open_both(run)) {
		o2_report_fail(report, "settings/open", "the devices cannot be opened");
		return O2_STATUS_INTERESTING;
	}
	if (o2_draw_bool(choice, 15, 1))
		try_interface(run, choice, report);
	else if (o2_draw_bool(choice, 7, 1))
		o2_settings_mode(run, choice, report);
	else if (o2_draw_bool(choice, 7, 1))
		o2_settings_lnet(run, choice, report);
	else if (o2_draw_bool(choice, 7, 1))
		o2_settings_answer(run, choice, report);
	else if (o2_draw_bool(choice, 7, 1))
		o2_settings_faults(run, choice, report);
	else if (o2_draw_bool(choice, 5, 1))
		o2_settings_bind(run, choice, report);
	else if (o2_draw_bool(choice, 7, 1))
		o2_settings_puts(run, choice, report);
	else if (o2_draw_bool(choice, 2, 1))
		o2_settings_meet(run, choice, report);
	else
		try_connection(run, choice, report);
	run->tally.cases++;
	return o2_choice_status(choice, report->failed ? O2_STATUS_INTERESTING : O2_STATUS_VALID);
}

static void give_back(void *context)
{
	struct o2_settings_run *run = context;

	for (uint32_t i = 0; i < 2 && run->open; i++)
		o2_ni_close(&run->ni[i]);
	run->open = false;
}

static void print(const void *context, uint32_t pieces, FILE *out)
{
	(void)pieces;
	fprintf(out, "%s\n", ((const struct o2_settings_run *)context)->text);
}

static void print_held(const void *context, FILE *out)
{
	fputs("held: ", out);
	print(context, 0, out);
}

struct o2_property o2_settings_property(struct o2_settings_run *run)
{
	static const struct o2_property_ops ops = {
		.give_back = give_back,
		O2_TALLY_PROPERTY("settings",
				  "interfaces and connections take each setting up to its limit, and "
				  "refuse one further"),
	};

	return o2_tally_property(&ops, run == NULL ? NULL : &run->tally, situations, O2_SETTINGS_SITUATIONS,
				 3000);
}
