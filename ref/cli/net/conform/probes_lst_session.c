/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "base/monotonic.h"
#include "cli/net/conform/lst.h"

/* LNet selftest: sessions, batches and counters. */

#define SESSIONS "lst.md#sessions"
#define TESTS	 "lst.md#tests-and-batches"
#define STATUS	 "lst.md#status"
#define TIMER_S	 10u /* a kernel looks at its timers every 8 s */
#define PINGS	 10u

/* A request of that type from another session than ours: sid. */
static struct o2_lst_msg foreign(struct o2_conform *conform, uint32_t type, struct o2_lst_sid sid)
{
	const struct o2_lst_sid ours = conform->lst->sid;
	struct o2_lst_msg msg;

	conform->lst->sid = sid;
	msg = o2_conform_lst_request(conform, type);
	conform->lst->sid = ours;
	return msg;
}

/* The id of a later session of ours. */
static struct o2_lst_sid other_sid(const struct o2_conform *conform)
{
	return (struct o2_lst_sid){conform->lst->sid.ses_nid, conform->lst->sid.ses_stamp + (1u << 20)};
}

static bool begin(struct o2_conform *conform)
{
	return o2_conform_lst_start(conform) && o2_conform_lst_session(conform);
}

static bool expect_own(struct o2_conform *conform, uint32_t type, uint32_t status)
{
	const struct o2_lst_msg request = o2_conform_lst_request(conform, type);

	return o2_conform_lst_expect(conform, &request, status, conform->lst->sid) != NULL;
}

/* A session has the name and the timeout that it was made with. */
static void session(struct o2_conform *conform, const struct o2_conform_probe *probe)
{
	const struct o2_lst_msg *reply;
	struct o2_lst_msg request;

	(void)probe;
	if (!begin(conform))
		return;
	request = o2_conform_lst_request(conform, O2_LST_DEBUG_REQST);
	reply = o2_conform_lst_expect(conform, &request, 0, conform->lst->sid);
	if (reply == NULL)
		return;
	if (strcmp(reply->u.debug_reply.dbg_name.text,
		   o2_conform_lst_request(conform, O2_LST_MKSN_REQST).u.mksn_reqst.mksn_name.text) != 0 ||
	    reply->u.debug_reply.dbg_timeout != conform->lst->session_timeout_s)
		o2_conform_find(conform,
				"DEBUG_REPLY: the session is '%s', its timeout %" PRIu32
				" s; MKSN_REPLY said %" PRIu32 " s",
				reply->u.debug_reply.dbg_name.text, reply->u.debug_reply.dbg_timeout,
				conform->lst->session_timeout_s);
	if (o2_conform_lst_end(conform))
		o2_conform_lst_expect(conform, &request, ESRCH, O2_LST_NO_SID);
}

static void session_twice(struct o2_conform *conform, const struct o2_conform_probe *probe)
{
	(void)probe;
	if (begin(conform) && expect_own(conform, O2_LST_MKSN_REQST, 0) &&
	    expect_own(conform, O2_LST_RMSN_REQST, 0) && expect_own(conform, O2_LST_STAT_REQST, 0))
		o2_conform_lst_end(conform);
}

/* A refused console is told whose session the node is in. */
static void busy(struct o2_conform *conform, const struct o2_conform_probe *probe)
{
	struct o2_lst_msg request;
	const struct o2_lst_msg *reply;

	(void)probe;
	if (!begin(conform))
		return;
	request = foreign(conform, O2_LST_MKSN_REQST, other_sid(conform));
	reply = o2_conform_lst_expect(conform, &request, EBUSY, conform->lst->sid);
	if (reply == NULL)
		return;
	if (strcmp(reply->u.mksn_reply.mksn_name.text, request.u.mksn_reqst.mksn_name.text) != 0 ||
	    reply->u.mksn_reply.mksn_timeout != conform->lst->session_timeout_s)
		o2_conform_find(conform, "MKSN_REPLY: EBUSY with the name '%s', timeout %" PRIu32,
				reply->u.mksn_reply.mksn_name.text, reply->u.mksn_reply.mksn_timeout);
	if (expect_own(conform, O2_LST_STAT_REQST, 0))
		o2_conform_lst_end(conform);
}

static void force(struct o2_conform *conform, const struct o2_conform_probe *probe)
{
	struct o2_lst_msg request, first;

	(void)probe;
	if (!begin(conform) || !o2_conform_lst_half(conform, O2_LST_SERVICE_PING))
		return;
	first = o2_conform_lst_request(conform, O2_LST_RMSN_REQST);
	request = foreign(conform, O2_LST_MKSN_REQST, other_sid(conform));
	request.u.mksn_reqst.mksn_force = 1;
	conform->lst->sid = other_sid(conform);
	/* The first session is gone: removing it is refused, and its batch is gone too. */
	if (o2_conform_lst_expect(conform, &request, 0, conform->lst->sid) != NULL &&
	    o2_conform_lst_expect(conform, &first, EBUSY, conform->lst->sid) != NULL &&
	    expect_own(conform, O2_LST_BATCH_REQST, ENOENT))
		o2_conform_lst_end(conform);
}

/* "No session" is not a valid session id of a request. */
static void none(struct o2_conform *conform, const struct o2_conform_probe *probe)
{
	static const uint32_t types[] = {O2_LST_MKSN_REQST, O2_LST_RMSN_REQST, O2_LST_STAT_REQST,
					 O2_LST_TEST_REQST};

	(void)probe;
	if (!begin(conform))
		return;
	for (uint32_t i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
		const struct o2_lst_msg request = foreign(conform, types[i], O2_LST_NO_SID);

		if (o2_conform_lst_expect(conform, &request, EINVAL, conform->lst->sid) == NULL)
			return;
	}
	o2_conform_lst_end(conform);
}

/* What requests from a session that the node is not in must get; in: the node is in our session. */
static bool refuses(struct o2_conform *conform, bool in)
{
	const struct {
		uint32_t type, status;
	} rows[] = {{O2_LST_STAT_REQST, ESRCH},
		    {O2_LST_BATCH_REQST, ESRCH},
		    {O2_LST_TEST_REQST, ENOENT},
		    {O2_LST_RMSN_REQST, in ? EBUSY : ESRCH}};

	for (uint32_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const struct o2_lst_msg request = foreign(conform, rows[i].type, other_sid(conform));

		if (o2_conform_lst_expect(conform, &request, rows[i].status,
					  in ? conform->lst->sid : O2_LST_NO_SID) == NULL)
			return false;
	}
	return true;
}

static void other(struct o2_conform *conform, const struct o2_conform_probe *probe)
{
	(void)probe;
	if (begin(conform) && refuses(conform, true) && o2_conform_lst_end(conform))
		refuses(conform, false);
}

/* A session without features moves whole pages only; requests with other features are refused. */
static void features(struct o2_conform *conform, const struct o2_conform_probe *probe)
{
	struct o2_lst_test tests[2];

	(void)probe;
	if (!o2_conform_lst_start(conform))
		return;
	conform->lst->features = 0;
	if (!o2_conform_lst_session(conform))
		return;
	conform->lst->features = O2_LST_FEATS_MASK;
	if (!expect_own(conform, O2_LST_STAT_REQST, EPROTO))
		return;
	conform->lst->features = 0;
	tests[0] = o2_conform_lst_brw(conform, O2_LST_BRW_READ, O2_LST_PAGE_BYTES);
	tests[1] = o2_conform_lst_brw(conform, O2_LST_BRW_WRITE, 2 * O2_LST_PAGE_BYTES);
	if (o2_conform_lst_half(conform, O2_LST_SERVICE_BRW) && o2_conform_lst_try(conform, tests, 2, 4, 1))
		o2_conform_lst_end(conform);
}

static void big_endian(struct o2_conform *conform, const struct o2_conform_probe *probe)
{
	struct o2_lst_test tests[3];

	(void)probe;
	if (!o2_conform_lst_start_in(conform, O2_BIG_ENDIAN) || !o2_conform_lst_session(conform))
		return;
	tests[0] = o2_conform_lst_ping(conform);
	tests[1] = o2_conform_lst_brw(conform, O2_LST_BRW_READ, O2_LST_PAGE_BYTES);
	tests[2] = o2_conform_lst_brw(conform, O2_LST_BRW_WRITE, O2_LST_PAGE_BYTES);
	if (o2_conform_lst_half(conform, O2_LST_SERVICE_PING) &&
	    o2_conform_lst_half(conform, O2_LST_SERVICE_BRW) && o2_conform_lst_try(conform, tests, 3, 6, 1))
		o2_conform_lst_end(conform);
}

static bool wait_s(struct o2_conform *conform, uint32_t seconds)
{
	const uint64_t end_ms = o2_monotonic_ms() + (uint64_t)seconds * O2_MS_PER_S;

	while (o2_monotonic_ms() < end_ms)
		if (!o2_conform_lst_step(conform))
			return false;
	return true;
}

/* Wait longer than the session's timeout without any request. */
static void expire(struct o2_conform *conform, const struct o2_conform_probe *probe)
{
	struct o2_lst_msg request;
	uint32_t wait;

	(void)probe;
	if (!begin(conform))
		return;
	wait = conform->lst->session_timeout_s;
	if (wait == 0 || wait >= conform->options->timeout_ms / O2_MS_PER_S) {
		if (o2_conform_lst_end(conform))
			o2_conform_skip(conform,
					wait == 0 ? "its sessions do not expire"
						  : "its session timeout (%" PRIu32
						    " s) is not below --timeout",
					wait);
		return;
	}
	request = o2_conform_lst_request(conform, O2_LST_DEBUG_REQST);
	if (wait_s(conform, wait + TIMER_S))
		o2_conform_lst_expect(conform, &request, ESRCH, O2_LST_NO_SID);
}

/* --- batches --- */

static bool query(struct o2_conform *conform, uint32_t index, uint32_t status)
{
	struct o2_lst_msg request = o2_conform_lst_request(conform, O2_LST_BATCH_REQST);
	const struct o2_lst_msg *reply;

	request.u.batch_reqst.bar_testidx = index;
	reply = o2_conform_lst_expect(conform, &request, status, conform->lst->sid);
	if (reply == NULL)
		return false;
	if (status == 0 && reply->u.batch_reply.bar_active != 0)
		o2_conform_find(conform,
				"BATCH_REPLY: test %" PRIu32 ": %" PRIu32 " active, of server halves", index,
				reply->u.batch_reply.bar_active);
	return !o2_conform_said(conform);
}

/* A server half is never active. */
static void halves(struct o2_conform *conform, const struct o2_conform_probe *probe)
{
	(void)probe;
	if (begin(conform) && o2_conform_lst_half(conform, O2_LST_SERVICE_PING) &&
	    o2_conform_lst_half(conform, O2_LST_SERVICE_BRW) && query(conform, 0, 0) &&
	    query(conform, 1, 0) && query(conform, 2, 0) && query(conform, 3, ENOENT) &&
	    query(conform, UINT32_MAX, EINVAL))
		o2_conform_lst_end(conform);
}

static bool control(struct o2_conform *conform, uint64_t batch, uint32_t opc, uint32_t status)
{
	struct o2_lst_msg request = o2_conform_lst_request(conform, O2_LST_BATCH_REQST);

	request.u.batch_reqst.bar_bid = batch;
	request.u.batch_reqst.bar_opc = opc;
	return o2_conform_lst_expect(conform, &request, status, conform->lst->sid) != NULL;
}

static void batch(struct o2_conform *conform, const struct o2_conform_probe *probe)
{
	(void)probe;
	if (!begin(conform) || !o2_conform_lst_half(conform, O2_LST_SERVICE_PING))
		return;
	for (uint32_t opc = O2_LST_BATCH_RUN; opc <= O2_LST_BATCH_QUERY; opc++)
		if (!control(conform, O2_CONFORM_LST_BATCH, opc, 0) ||
		    !control(conform, O2_CONFORM_LST_BATCH + 1, opc, ENOENT))
			return;
	o2_conform_lst_end(conform);
}

/* --- counters --- */

static bool count(struct o2_conform *conform, struct o2_lst_stat_reply *stat)
{
	const struct o2_lst_msg request = o2_conform_lst_request(conform, O2_LST_STAT_REQST);
	const struct o2_lst_msg *reply = o2_conform_lst_expect(conform, &request, 0, conform->lst->sid);

	if (reply != NULL)
		*stat = reply->u.stat_reply;
	return reply != NULL;
}

/* Others may use the node too, so it must count at least what we have done. */
static void compare(struct o2_conform *conform, const struct o2_lst_rpc_counters *before,
		    const struct o2_lst_rpc_counters *after, uint32_t tests, uint64_t bytes)
{
	const uint32_t rcvd = after->rpcs_rcvd - before->rpcs_rcvd;
	const uint64_t put = after->bulk_put - before->bulk_put, got = after->bulk_get - before->bulk_get;

	if (rcvd < tests || put < bytes || got < bytes)
		o2_conform_find(conform,
				"STAT_REPLY: it counts %" PRIu32 " requests, %" PRIu64 " bytes put, %" PRIu64
				" got; we made %" PRIu32 ", with %" PRIu64 " bytes each way",
				rcvd, put, got, tests, bytes);
}

static void stat(struct o2_conform *conform, const struct o2_conform_probe *probe)
{
	struct o2_lst_stat_reply before, after;
	struct o2_lst_test tests[3];

	if (!begin(conform) || !o2_conform_lst_half(conform, O2_LST_SERVICE_PING) ||
	    !o2_conform_lst_half(conform, O2_LST_SERVICE_BRW) || !count(conform, &before))
		return;
	tests[0] = o2_conform_lst_ping(conform);
	tests[1] = o2_conform_lst_brw(conform, O2_LST_BRW_READ, probe->value);
	tests[2] = o2_conform_lst_brw(conform, O2_LST_BRW_WRITE, probe->value);
	if (!o2_conform_lst_try(conform, tests, 3, 3 * PINGS, 4) || !count(conform, &after))
		return;
	compare(conform, &before.str_rpc, &after.str_rpc, 3 * PINGS, (uint64_t)PINGS * probe->value);
	if (after.str_fw.brw_errors != 0 || after.str_fw.ping_errors != 0 || after.str_fw.active_batches != 0)
		o2_conform_find(conform,
				"STAT_REPLY: %" PRIu32 " errors of brw and %" PRIu32 " of ping, %" PRIu32
				" batches active; expected none: no batch runs, and the node is not a client",
				after.str_fw.brw_errors, after.str_fw.ping_errors,
				after.str_fw.active_batches);
	o2_conform_lst_end(conform);
}

#define NODE .needs = O2_CONFORM_TEST_NODE

const struct o2_conform_probe o2_conform_lst_session_probes[] = {
	{"lst/session", "a session is made, has its name, and is gone when it is removed", SESSIONS, NODE,
	 .run = session},
	{"lst/session-twice", "a session that was made twice is removed twice", SESSIONS, NODE,
	 .run = session_twice},
	{"lst/busy", "another session gets EBUSY, and the name of the one that is there", SESSIONS, NODE,
	 .run = busy},
	{"lst/force", "a session by force replaces the one that is there, with its tests", SESSIONS, NODE,
	 .run = force},
	{"lst/none", "a request with no session gets EINVAL", STATUS, NODE, .run = none},
	{"lst/other", "a session that the node is not in is refused, and told which one it is in", STATUS,
	 NODE, .run = other},
	{"lst/features", "a session has the features it was made with, and other ones get EPROTO", SESSIONS,
	 NODE, .run = features},
	{"lst/big-endian", "requests in the other byte order are understood, and their bulk",
	 "lst.md#the-message", NODE, .run = big_endian},
	{"lst/expire", "a session that is not heard of any more goes at its timeout", SESSIONS, NODE,
	 .run = expire},
	{"lst/halves", "server halves are added, and are never active", TESTS, NODE, .run = halves},
	{"lst/batch", "a batch is run, stopped and asked for by its number, and no other one", TESTS, NODE,
	 .run = batch},
	{"lst/stat", "the counters grow by what was done", "lst.md#counters", NODE, .run = stat,
	 .value = 4096},
	{0},
};
