/* SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <string.h>

#include "props/lst/lst_internal.h"

/*
 * Checks the fields of a console's requests, when it asks for a batch that the node runs towards it, and when it
 * begins RPCs: docs/lst.md, "The console of o2ref" and "Constants".
 */

#define QUERY_EVERY_MS 200u
#define ENDLESS	       ((uint32_t)INT32_MAX + 1) /* or more: docs/lst.md, "Tests and batches" */
#define FEATURES       1u
#define PING_MAGIC     0xbabeface

static void wrong(struct o2_lst_talk *talk, const char *what, uint64_t found, uint64_t expected)
{
	if (found != expected)
		o2_report_fail(talk->report, "lst/console-asks", "%s is %" PRIu64 ", not %" PRIu64, what,
			       found, expected);
}

/* --- a test --- */

/* Loops of each unit; the node counts them in 31 bits. */
static uint32_t loops_of(const struct o2_lst_console_config *config)
{
	const uint64_t share =
		config->count / config->concurrency + (config->count % config->concurrency != 0);

	return share < INT32_MAX ? (uint32_t)share : INT32_MAX;
}

static void check_test(struct o2_lst_talk *talk, const struct o2_lst_test_reqst *test)
{
	const struct o2_lst_console_config *config = &talk->config;
	const struct o2_lst_bulk_v1 *bulk = &test->tsr_u.bulk_v1;

	wrong(talk, "the batch", test->tsr_bid, config->batch);
	wrong(talk, "the session", o2_lst_sid_equal(test->tsr_sid, config->sid), true);
	wrong(talk, "the service", test->tsr_service, config->test.service);
	wrong(talk, "the concurrency", test->tsr_concur, config->concurrency);
	wrong(talk, "whether it stops at an error", test->tsr_stop_onerr, 1);
	wrong(talk, "whether the node is the client", test->tsr_is_client, config->reverse);
	if (config->reverse)
		wrong(talk, "the number of destinations", test->tsr_ndest, 1);
	if (config->reverse && config->count == 0) {
		wrong(talk, "whether it is endless", test->tsr_loop >= ENDLESS, true);
		talk->seen[REVERSE_ENDLESS]++;
	} else {
		wrong(talk, "the loop", test->tsr_loop,
		      config->reverse ? loops_of(config) : config->concurrency);
	}
	if (config->test.service != O2_LST_SERVICE_BRW)
		return;
	wrong(talk, "the way of the bulk", bulk->blk_opc, config->test.rw);
	wrong(talk, "the check", bulk->blk_flags, config->test.check);
	wrong(talk, "the length", bulk->blk_len, config->test.len);
	wrong(talk, "the offset", bulk->blk_offset, config->test.offset);
}

/* Check the list: this console's node, in its byte order, or as many of its bytes as the node requested. */
void o2_talk_check_list(struct o2_lst_talk *talk, const uint8_t *bytes, uint32_t count)
{
	static const uint8_t little[] = {0x01, 0x00, 0x4d, 0x0a, 0x00, 0x00,
					 0x05, 0x00, 0x39, 0x30, 0x00, 0x00};
	static const uint8_t big[] = {0x00, 0x05, 0x00, 0x00, 0x0a, 0x4d, 0x00, 0x01, 0x00, 0x00, 0x30, 0x39};

	if (count > sizeof(big) || memcmp(bytes, talk->ours == O2_BIG_ENDIAN ? big : little, count) != 0)
		o2_report_fail(talk->report, "lst/console-asks", "%" PRIu32 " bytes of a list are not us",
			       count);
	talk->seen[REVERSE_LIST]++;
}

/* --- a batch --- */

static uint32_t times_of(const struct o2_lst_talk *talk, uint32_t opcode, uint32_t arg)
{
	uint32_t times = 0;

	for (uint32_t i = 0; i < talk->nasked; i++)
		times += talk->asked[i].msg.msg_type == O2_LST_BATCH_REQST &&
			 talk->asked[i].msg.u.batch_reqst.bar_opc == opcode &&
			 talk->asked[i].msg.u.batch_reqst.bar_arg == arg;
	return times;
}

static bool is_of_run(const struct o2_talk_asked *asked)
{
	return asked->is_test || asked->msg.msg_type == O2_LST_BATCH_REQST;
}

/* The time of the first request of the test; now: there was none. */
static uint64_t started_ms(const struct o2_lst_talk *talk)
{
	for (uint32_t i = 0; i < talk->nasked; i++)
		if (is_of_run(&talk->asked[i]))
			return talk->asked[i].asked_ms;
	return talk->now_ms;
}

/* True if the test's time is over, or the user has stopped it. */
static bool must_stop(const struct o2_lst_talk *talk)
{
	return talk->stopped ||
	       (talk->config.duration_ms != 0 && talk->now_ms - started_ms(talk) >= talk->config.duration_ms);
}

static void check_batch(struct o2_lst_talk *talk, const struct o2_lst_batch_reqst *batch)
{
	const uint32_t opcode = batch->bar_opc;
	const bool stops = opcode == O2_LST_BATCH_STOP;

	wrong(talk, "the batch", batch->bar_bid, talk->config.batch);
	wrong(talk, "the session", o2_lst_sid_equal(batch->bar_sid, talk->config.sid), true);
	wrong(talk, "the test", batch->bar_testidx, 0);
	wrong(talk, "whether it is by force", batch->bar_arg, stops && talk->canceled);
	wrong(talk, "RUN", times_of(talk, O2_LST_BATCH_RUN, 0), 1);
	if (stops) {
		wrong(talk, "STOP", times_of(talk, O2_LST_BATCH_STOP, batch->bar_arg), 1);
		wrong(talk, "whether it is to stop", must_stop(talk), true);
		talk->seen[REVERSE_STOPPED]++;
	}
	if (opcode == O2_LST_BATCH_QUERY && talk->now_ms - talk->heard_ms < QUERY_EVERY_MS)
		o2_report_fail(talk->report, "lst/console-asks",
			       "the node is asked for its batch %" PRIu64 " ms after its last word",
			       talk->now_ms - talk->heard_ms);
}

/* True if this request was answered, and the answer means that the node runs the batch. */
static bool runs(struct o2_lst_talk *talk, const struct o2_talk_asked *asked)
{
	const bool query = asked->msg.u.batch_reqst.bar_opc == O2_LST_BATCH_QUERY;

	if (!asked->heard || !o2_talk_is_well(talk, asked))
		return false;
	if (asked->msg.msg_type != O2_LST_BATCH_REQST)
		return asked->msg.msg_type == O2_LST_DEBUG_REQST;
	if (query && asked->reply.u.batch_reply.bar_active == 0)
		return false;
	talk->seen[REVERSE_ACTIVE] += query;
	return true;
}

/* The console must query the batch while it runs, and leave when it has stopped or something has failed. */
static void check_turn(struct o2_lst_talk *talk, const struct o2_lst_msg *msg)
{
	const uint32_t type = msg->msg_type;
	const bool starts = type == O2_LST_BATCH_REQST && msg->u.batch_reqst.bar_opc == O2_LST_BATCH_RUN;

	if (!talk->config.reverse || talk->nasked < 2 || talk->a->refusals > 0 || starts)
		return;
	wrong(talk, "whether the batch runs when it is asked for", runs(talk, &talk->asked[talk->nasked - 2]),
	      type == O2_LST_BATCH_REQST || type == O2_LST_DEBUG_REQST);
}

/* --- the others --- */

static void check_make(struct o2_lst_talk *talk, const struct o2_lst_mksn_reqst *make)
{
	const struct o2_lst_console_config *config = &talk->config;

	wrong(talk, "the session", o2_lst_sid_equal(make->mksn_sid, config->sid), true);
	wrong(talk, "whether it is forced", make->mksn_force, config->force);
	wrong(talk, "the name", memcmp(&make->mksn_name, &config->name, sizeof(config->name)), 0);
}

static void check_brw(struct o2_lst_talk *talk, const struct o2_lst_brw_reqst *brw)
{
	wrong(talk, "the way of the bulk", brw->brw_rw, talk->config.test.rw);
	wrong(talk, "the length", brw->brw_len, talk->config.test.len);
	wrong(talk, "the check", brw->brw_flags, talk->config.test.check);
}

/* Pings are numbered as the RPCs of the test are. */
static void check_ping(struct o2_lst_talk *talk, const struct o2_lst_ping_reqst *ping)
{
	wrong(talk, "the magic", ping->pnr_magic, PING_MAGIC);
	wrong(talk, "the time", ping->pnr_time_sec * 1000 + ping->pnr_time_nsec / 1000000, talk->now_ms);
	wrong(talk, "the time in nanoseconds", ping->pnr_time_nsec, talk->now_ms % 1000 * 1000000);
	for (uint32_t i = 0; i < talk->config.concurrency; i++)
		if (talk->lane[i] == talk->nasked - 1)
			wrong(talk, "the number", ping->pnr_seq, talk->number[i]);
}

/* The counters are asked for before the test only if they are wanted then, and not after a failure. */
static void check_wanted(struct o2_lst_talk *talk)
{
	bool ran = false, well = !talk->unsent;

	for (uint32_t i = 0; i < talk->nasked; i++) {
		const struct o2_talk_asked *asked = &talk->asked[i];

		ran |= is_of_run(asked);
		well &= asked->is_test || i == talk->nasked - 1 || o2_talk_is_well(talk, asked);
	}
	wrong(talk, "whether all has gone well before the counters", well, true);
	if (!ran && talk->nrefused == 0)
		wrong(talk, "whether the counters are wanted before", talk->config.before, true);
}

static void check_fields(struct o2_lst_talk *talk, const struct o2_lst_msg *msg)
{
	const struct o2_lst_sid sid = talk->config.sid;

	wrong(talk, "the set of features", msg->msg_ses_feats, FEATURES);
	switch (msg->msg_type) {
	case O2_LST_MKSN_REQST:
		check_make(talk, &msg->u.mksn_reqst);
		break;
	case O2_LST_RMSN_REQST:
		wrong(talk, "the session", o2_lst_sid_equal(msg->u.rmsn_reqst.rmsn_sid, sid), true);
		break;
	case O2_LST_STAT_REQST:
		check_wanted(talk);
		wrong(talk, "the session", o2_lst_sid_equal(msg->u.stat_reqst.str_sid, sid), true);
		break;
	case O2_LST_DEBUG_REQST:
		wrong(talk, "the session", o2_lst_sid_equal(msg->u.debug_reqst.dbg_sid, sid), true);
		break;
	case O2_LST_TEST_REQST:
		check_test(talk, &msg->u.test_reqst);
		break;
	case O2_LST_BATCH_REQST:
		check_batch(talk, &msg->u.batch_reqst);
		break;
	case O2_LST_BRW_REQST:
		check_brw(talk, &msg->u.brw_reqst);
		break;
	case O2_LST_PING_REQST:
		check_ping(talk, &msg->u.ping_reqst);
		break;
	default:
		wrong(talk, "the type", msg->msg_type, O2_LST_PING_REQST);
	}
}

void o2_talk_check_begin(struct o2_lst_talk *talk)
{
	if (must_stop(talk))
		o2_report_fail(talk->report, "lst/console-count", "an RPC is begun when the test is to stop");
	else if (talk->told[O2_LST_FAIL_LOCAL] + talk->told[O2_LST_FAIL_TIMEOUT] > 0)
		o2_report_fail(talk->report, "lst/console-count",
			       "an RPC is begun after one that was not sent, or not answered in time");
}

void o2_talk_check_request(struct o2_lst_talk *talk, const struct o2_lst_msg *msg)
{
	check_fields(talk, msg);
	check_turn(talk, msg);
	if (talk->nasked == 1)
		wrong(talk, "the number of the first request", msg->u.reqst.rpyid, talk->first_id);
	if (msg->order != talk->ours)
		o2_report_fail(talk->report, "lst/console-asks", "a request is not in our order");
}

void o2_talk_check_batch(struct o2_lst_talk *talk)
{
	if (!talk->config.reverse || talk->a->refusals > 0 || talk->nasked == 0 ||
	    !runs(talk, &talk->asked[talk->nasked - 1]))
		return;
	if (talk->now_ms - talk->heard_ms >= QUERY_EVERY_MS)
		o2_report_fail(talk->report, "lst/console-asks",
			       "the node is not asked for its batch %" PRIu64 " ms after its last word",
			       talk->now_ms - talk->heard_ms);
	else if (must_stop(talk) && times_of(talk, O2_LST_BATCH_STOP, talk->canceled) == 0)
		o2_report_fail(talk->report, "lst/console-asks", "the node is not told to stop");
}
