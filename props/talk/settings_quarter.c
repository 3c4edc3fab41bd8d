/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "lnd/conn/conn.h"
#include "props/talk/settings_internal.h"

/*
 * Transmits of capped pools (docs/transport.md, "Windows"): an interface starts operations of its own until a quarter
 * of all transmits, rounded up, is left, but at least one; the requests of a peer take that quarter, and further ones
 * wait.  The same holds for registrations.  No end handles what would give a transmit back.
 */

#define MOST_SIZE  6u
#define MOST_POOLS 4u
#define MANY	   64u
#define BYTES	   64u
#define DEPTH	   16u

struct quarter {
	struct o2_settings_run *run;
	struct o2_report *report;
	struct o2_kiov kiov;
	uint32_t matched, ended;
};

static struct o2_transfer_memory memory_of(const struct quarter *quarter)
{
	return (struct o2_transfer_memory){
		.buffer = {.kind = O2_KIOV, .count = 1, .nob = BYTES, .kiov = &quarter->kiov},
		.mode = O2_REG_GLOBAL};
}

static int match(void *context, const struct o2_msg *request, uint64_t sink_bytes,
		 struct o2_transfer_memory *memory)
{
	struct quarter *quarter = context;

	(void)request;
	(void)sink_bytes;
	quarter->matched++;
	*memory = memory_of(quarter);
	return 0;
}

static void done(void *context, const struct o2_transfer_result *result)
{
	(void)result;
	((struct quarter *)context)->ended++;
}

static bool connect(struct quarter *quarter, struct o2_ni *const ni[2], struct o2_conn *conn[2])
{
	static const struct o2_conn_ops ops = {.match = match, .done = done};
	struct o2_conn_config config = O2_CONN_DEFAULTS;

	config.queue_depth = DEPTH;
	return o2_settings_join(quarter->run, quarter->report, ni, &config, &ops, quarter, conn);
}

static void start(struct quarter *quarter, struct o2_conn *conn, const struct o2_settings_verdict *expected)
{
	const struct o2_transfer_memory memory = memory_of(quarter);
	const struct o2_lnet_hdr hdr = o2_conn_lnet_hdr(conn, O2_LNET_PUT, 1, BYTES);
	struct o2_error error = {0};
	const int rc = o2_conn_put(conn, &hdr, &memory, NULL, &error);

	o2_settings_check(quarter->run, quarter->report, rc, &error, expected);
}

/* One more request of the peer than are kept for it: that one is not answered. */
static void fill_kept(struct quarter *quarter, struct o2_conn *const conn[2], uint32_t kept)
{
	const struct o2_settings_verdict none = {.code = 0};

	for (uint32_t i = 0; i <= kept && !quarter->report->failed; i++)
		start(quarter, conn[0], &none);
	o2_conn_progress(conn[1]);
	o2_settings_same(quarter->run, quarter->report, "requests of the peer that are answered",
			 quarter->matched, kept);
	o2_settings_same(quarter->run, quarter->report, "operations that have ended", quarter->ended, 0);
}

/* all: transmits of the second end; pools: those that it may have. */
static void fill(struct quarter *quarter, struct o2_conn *const conn[2], uint32_t all, uint32_t pools)
{
	const uint32_t kept = (all + 3) / 4, own = all - kept > 0 ? all - kept : 1;
	const struct o2_settings_verdict full =
		o2_settings_bound(-EBUSY, "pool/cap", "max_pools", (uint64_t)pools + 1, pools);
	const struct o2_settings_verdict none = {.code = 0};

	for (uint32_t i = 0; i <= own && !quarter->report->failed; i++)
		start(quarter, conn[1], i < own ? &none : &full);
	fill_kept(quarter, conn, all - own);
}

static uint32_t waiting(const struct o2_conn *conn)
{
	struct o2_conn_view view;

	o2_conn_view(conn, &view);
	return view.queued_window;
}

/*
 * The same of registrations, of which there are `all`: while something is registered, operations of its own wait for
 * those kept for peers, no more than the windows that are kept, and no more than a quarter.
 */
static void fill_bound(struct quarter *quarter, struct o2_conn *const conn[2], uint32_t all, uint32_t windows)
{
	const uint32_t share = (all + 3) / 4, windows_kept = (windows + 3) / 4;
	const uint32_t kept = windows_kept < share ? windows_kept : share;
	const uint32_t own = all > kept ? all - kept : 1;
	const struct o2_settings_verdict none = {.code = 0};

	for (uint32_t i = 0; i <= own && !quarter->report->failed; i++) {
		start(quarter, conn[1], &none);
		o2_settings_same(quarter->run, quarter->report, "operations that wait for a registration",
				 waiting(conn[1]), i == own);
	}
	fill_kept(quarter, conn, all - own);
}

void o2_settings_quarter(struct o2_settings_run *run, struct o2_choice *c, struct o2_report *report)
{
	struct quarter quarter = {.run = run, .report = report, .kiov = {0, 0, BYTES}};
	struct o2_ni_config config = o2_settings_good_ni(1);
	struct o2_conn *conn[2] = {NULL, NULL};
	const bool bound = o2_draw_bool(c, 1, 1);
	uint32_t size;
	struct o2_ni own, *const ni[2] = {&run->ni[0], &own};

	config.max_pools = (uint32_t)o2_draw_range(c, 1, MOST_POOLS);
	size = (uint32_t)o2_draw_range(c, config.max_pools > 1 ? 1 : 2, MOST_SIZE);
	config.sizes.tx_size = bound ? MANY : size;
	config.sizes.reg_size = bound ? size : MANY;
	config.windows = (uint32_t)o2_draw_range(c, 2, 4 * MOST_SIZE);
	snprintf(run->text, sizeof(run->text),
		 "an interface of %" PRIu32 " pools of %" PRIu32 " %s, with %" PRIu32 " windows",
		 config.max_pools, size, bound ? "registrations" : "transmits", config.windows);
	if (o2_ni_open(&config, &own, NULL) != 0) {
		o2_report_fail(report, "settings/open", "%s", run->text);
		return;
	}
	if (connect(&quarter, ni, conn) && bound)
		fill_bound(&quarter, conn, config.max_pools * size, config.windows);
	else if (!report->failed)
		fill(&quarter, conn, config.max_pools * size, config.max_pools);
	run->tally.seen[O2_SETTINGS_QUARTER]++;
	for (uint32_t i = 0; i < 2; i++)
		o2_conn_destroy(conn[i]);
	for (uint32_t i = 0; i < 2; i++)
		if (!report->failed)
			o2_settings_check_idle(run, report, ni[i]);
	o2_ni_close(&own);
}
