/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "props/lst/lst_internal.h"

/* The model of the node's session, computed only from the requests that arrive and the clock. */

#define TIMEOUT_MS O2_LST_CASE_TIMEOUT_MS

static bool has_session(const struct o2_lst_account *account)
{
	return !o2_lst_sid_is_none(account->sid);
}

static bool is_in(const struct o2_lst_account *account, struct o2_lst_sid sid)
{
	return has_session(account) && o2_lst_sid_equal(sid, account->sid);
}

static int account_of_mksn(struct o2_lst_case *the, const struct o2_lst_msg *msg)
{
	const struct o2_lst_mksn_reqst *asked = &msg->u.mksn_reqst;
	struct o2_lst_account *account = &the->account;

	if (o2_lst_sid_is_none(asked->mksn_sid))
		return EINVAL;
	if (is_in(account, asked->mksn_sid)) {
		account->made++;
		the->seen[MADE_AGAIN]++;
		return 0;
	}
	if (has_session(account) && asked->mksn_force == 0) {
		the->seen[BUSY]++;
		return EBUSY;
	}
	/* Sessions that wait for their last RPC use a place: then a new one gets ENOMEM. */
	if (the->b.node->nsessions == the->b.node->config.max_sessions)
		return ENOMEM;
	the->seen[has_session(account) ? STOLEN : MADE]++;
	if (has_session(account))
		o2_lst_served_abort(the);
	account->sid = asked->mksn_sid;
	account->name = asked->mksn_name;
	account->since_ms = the->now_ms;
	for (uint32_t i = 0; i < account->nbatches; i++) {
		account->batch[i].asked = account->batch[i].clients;
		account->batch[i].there = 0;
	}
	account->features = msg->msg_ses_feats;
	account->made = 1;
	return 0;
}

static int account_of_rmsn(struct o2_lst_case *the, struct o2_lst_sid sid)
{
	struct o2_lst_account *account = &the->account;

	if (o2_lst_sid_is_none(sid))
		return EINVAL;
	if (!has_session(account))
		return ESRCH;
	if (!is_in(account, sid))
		return EBUSY;
	if (--account->made > 0) {
		the->seen[LEFT_ONCE]++;
		return 0;
	}
	account->sid = O2_LST_NO_SID;
	o2_lst_served_abort(the);
	the->seen[REMOVED]++;
	return 0;
}

/* --- tests: docs/lst.md, "Tests and batches" --- */

/* NULL: no batch with this number, or too many to keep track of. */
static struct o2_lst_batch_account *find_batch(struct o2_lst_account *account, uint64_t id)
{
	for (uint32_t i = 0; i < account->nbatches && account->nbatches < O2_LST_BATCHES; i++)
		if (account->batch[i].id == id)
			return &account->batch[i];
	return NULL;
}

/* Checks fields, then the session.  Room, and whether the batch runs, are not predicted. */
static int account_of_test(struct o2_lst_case *the, const struct o2_lst_test_reqst *asked)
{
	struct o2_lst_account *account = &the->account;
	struct o2_lst_batch_account *batch;

	if (asked->tsr_loop == 0 || asked->tsr_concur < 1 || asked->tsr_concur > 1024 ||
	    o2_lst_sid_is_none(asked->tsr_sid) || asked->tsr_ndest > 341 ||
	    (asked->tsr_is_client != 0 && asked->tsr_ndest == 0) ||
	    (asked->tsr_service != 11 && asked->tsr_service != 12)) {
		the->seen[TEST_ILLEGAL]++;
		return EINVAL;
	}
	if (!is_in(account, asked->tsr_sid))
		return ENOENT;
	batch = find_batch(account, asked->tsr_bid);
	if (batch == NULL && account->nbatches < O2_LST_BATCHES) {
		batch = &account->batch[account->nbatches++];
		*batch = (struct o2_lst_batch_account){.id = asked->tsr_bid};
	}
	if (batch != NULL) {
		batch->asked++;
		batch->clients += asked->tsr_is_client != 0;
	}
	return O2_LST_UNKNOWN;
}

static int account_of_batch(struct o2_lst_case *the, const struct o2_lst_batch_reqst *asked)
{
	struct o2_lst_account *account = &the->account;
	const struct o2_lst_batch_account *batch = find_batch(account, asked->bar_bid);

	if (!is_in(account, asked->bar_sid))
		return ESRCH;
	if (account->nbatches == O2_LST_BATCHES)
		return O2_LST_UNKNOWN;
	if (batch == NULL || batch->asked == 0)
		return ENOENT;
	if (asked->bar_opc == O2_LST_BATCH_RUN || asked->bar_opc == O2_LST_BATCH_STOP)
		return batch->there > 0 ? 0 : O2_LST_UNKNOWN;
	if (asked->bar_opc != O2_LST_BATCH_QUERY) {
		the->seen[NO_OPERATION] += batch->there > 0;
		return batch->there > 0 ? O2_LST_SILENCE : O2_LST_UNKNOWN;
	}
	if (asked->bar_testidx > INT32_MAX)
		return batch->there > 0 ? EINVAL : O2_LST_UNKNOWN;
	if (asked->bar_testidx > batch->asked)
		return ENOENT;
	return batch->there > 0 && asked->bar_testidx <= batch->there ? 0 : O2_LST_UNKNOWN;
}

/* Any node may ping.  An invalid ping is not answered. */
static int account_of_ping(struct o2_lst_case *the, const struct o2_lst_msg *msg)
{
	const int status = msg->msg_ses_feats > 1 ? EPROTO : 0;

	if (msg->u.ping_reqst.pnr_magic != 0xbabeface)
		return O2_LST_SILENCE;
	the->seen[status == 0 ? PINGED : PING_REFUSED]++;
	return status;
}

/* A request in range is answered when its bulk has moved. */
static int account_of_brw(const struct o2_lst_msg *msg)
{
	const struct o2_lst_brw_reqst *asked = &msg->u.brw_reqst;
	const uint32_t unit = msg->msg_ses_feats == 1 ? 8 : 4096;

	if (msg->msg_ses_feats > 1)
		return EPROTO;
	return asked->brw_rw < 1 || asked->brw_rw > 2 || asked->brw_flags < 1 || asked->brw_flags > 4 ||
			       asked->brw_len < unit || asked->brw_len > 1048576 || asked->brw_len % unit != 0
		       ? EINVAL
		       : O2_LST_UNKNOWN;
}

/* The reply repeats the ping's magic and number, and its features if these are valid. */
static void check_pong(struct o2_lst_case *the, const struct o2_lst_msg *request,
		       const struct o2_lst_msg *reply)
{
	const struct o2_lst_ping_reqst *asked = &request->u.ping_reqst;
	const uint32_t features = request->msg_ses_feats > 1 ? 1 : request->msg_ses_feats;

	if (reply->u.ping_reply.pnr_magic != asked->pnr_magic ||
	    reply->u.ping_reply.pnr_seq != asked->pnr_seq || reply->msg_ses_feats != features)
		o2_report_fail(the->report, "lst/fields", "ping %" PRIu32 " is answered as %" PRIu32,
			       asked->pnr_seq, reply->u.ping_reply.pnr_seq);
}

int o2_lst_account_of(struct o2_lst_case *the, const struct o2_lst_msg *msg)
{
	struct o2_lst_account *account = &the->account;
	const bool is_first = msg->msg_type == O2_LST_MKSN_REQST || msg->msg_type == O2_LST_DEBUG_REQST;
	int expected;

	/* JOIN is for a console: a test node refuses it, with any session. */
	if (msg->msg_type == O2_LST_JOIN_REQST) {
		the->seen[JOINED]++;
		return ESRCH;
	}
	if (msg->msg_type == O2_LST_PING_REQST)
		return account_of_ping(the, msg);
	if (msg->msg_type == O2_LST_BRW_REQST)
		return account_of_brw(msg);
	account->heard_late |= the->now_ms - account->heard_ms > TIMEOUT_MS / 2;
	account->heard_ms = the->now_ms;
	if (!is_first && has_session(account) && msg->msg_ses_feats != account->features)
		return EPROTO;
	if (is_first && msg->msg_ses_feats > 1)
		return EPROTO;
	switch (msg->msg_type) {
	case O2_LST_MKSN_REQST:
		return account_of_mksn(the, msg);
	case O2_LST_RMSN_REQST:
		return account_of_rmsn(the, msg->u.rmsn_reqst.rmsn_sid);
	case O2_LST_DEBUG_REQST:
		the->seen[NO_SESSION] += !has_session(account);
		return has_session(account) ? 0 : ESRCH;
	case O2_LST_STAT_REQST:
		if (o2_lst_sid_is_none(msg->u.stat_reqst.str_sid))
			return EINVAL;
		return is_in(account, msg->u.stat_reqst.str_sid) ? 0 : ESRCH;
	case O2_LST_BATCH_REQST:
		expected = account_of_batch(the, &msg->u.batch_reqst);
		the->seen[BATCH_ILLEGAL] += expected == EINVAL;
		the->seen[BATCH_ABSENT] += expected == ENOENT;
		the->seen[BATCH_ANSWERED] += expected == 0;
		return expected;
	case O2_LST_TEST_REQST:
		return account_of_test(the, &msg->u.test_reqst);
	default:
		return O2_LST_UNKNOWN;
	}
}

/* Numbers of requests may also be those of services, to which B's own tests send. */
static bool is_answer(const struct o2_letter *letter, uint64_t rpyid)
{
	return letter->hdr.type == O2_LNET_PUT && letter->hdr.msg.put.ptl_index == O2_LST_REPLY_PORTAL &&
	       letter->hdr.msg.put.match_bits == rpyid;
}

bool o2_lst_find_answer(const struct o2_lst_case *the, const struct o2_lst_msg *request,
			struct o2_lst_msg *reply)
{
	const struct o2_lnet_side *b = &the->lnet.b;
	const struct o2_letter *letter = NULL;

	for (uint32_t i = 0; i < b->nletters; i++)
		if (is_answer(&b->letter[i], request->u.reqst.rpyid))
			letter = &b->letter[i];
	return letter != NULL &&
	       o2_lst_msg_decode(letter->payload, letter->hdr.payload_length, reply, NULL) == 0 &&
	       reply->msg_type == request->msg_type + 1;
}

void o2_lst_account_test(struct o2_lst_case *the, const struct o2_lst_msg *request)
{
	struct o2_lst_batch_account *batch = find_batch(&the->account, request->u.test_reqst.tsr_bid);
	struct o2_lst_msg reply;

	/* There may be no answer yet: a client half may wait for its list of destinations. */
	if (!o2_lst_find_answer(the, request, &reply))
		return;
	if (reply.u.reply.status != 0 && reply.u.reply.status != ENOMEM && reply.u.reply.status != EBUSY)
		o2_report_fail(the->report, "lst/status", "a TEST in range is answered with %" PRIu32,
			       reply.u.reply.status);
	else if (reply.u.reply.status == 0 && batch != NULL && request->u.test_reqst.tsr_is_client == 0)
		batch->there++;
}

/* Check the fields that go with its status: docs/lst.md, "Sessions" and "Counters". */
static void check_fields(struct o2_lst_case *the, const struct o2_lst_msg *reply)
{
	const struct o2_lst_account *account = &the->account;
	const uint32_t status = reply->u.reply.status;
	/* Of a session those that it was made with; without one, and of a refusal for them, all. */
	const bool ours = status != EPROTO && has_session(account) && reply->msg_type != O2_LST_JOIN_REPLY;
	const uint32_t features = ours ? account->features : 1;
	bool right = true;

	/* The answer to a bulk has those of its request. */
	if (reply->msg_ses_feats != features && reply->msg_type != O2_LST_BRW_REPLY)
		o2_report_fail(the->report, "lst/fields",
			       "an answer of type %" PRIu32 ", status %" PRIu32 ", has features %" PRIu32
			       ", not %" PRIu32,
			       reply->msg_type, status, reply->msg_ses_feats, features);
	if (reply->msg_type == O2_LST_MKSN_REPLY && (status == 0 || status == EBUSY))
		right = reply->u.mksn_reply.mksn_timeout == TIMEOUT_MS / 1000 &&
			(status == 0 ||
			 memcmp(&reply->u.mksn_reply.mksn_name, &account->name, sizeof(account->name)) == 0);
	else if (reply->msg_type == O2_LST_DEBUG_REPLY && status == 0)
		right = reply->u.debug_reply.dbg_timeout == TIMEOUT_MS / 1000 &&
			memcmp(&reply->u.debug_reply.dbg_name, &account->name, sizeof(account->name)) == 0;
	else if (reply->msg_type == O2_LST_STAT_REPLY && status == 0)
		right = reply->u.stat_reply.str_fw.running_ms == the->now_ms - account->since_ms;
	if (!right)
		o2_report_fail(the->report, "lst/fields",
			       "an answer of type %" PRIu32 ", status %" PRIu32
			       ", has other fields than the session",
			       reply->msg_type, status);
	if (reply->msg_type == O2_LST_STAT_REPLY && status == 0)
		o2_lst_served_check_counters(the, &reply->u.stat_reply.str_rpc,
					     &reply->u.stat_reply.str_lnet);
}

void o2_lst_check_version(struct o2_lst_case *the, const struct o2_lst_msg *request)
{
	struct o2_lst_msg reply;
	const bool is_ping = request->msg_type == O2_LST_PING_REQST;

	the->seen[OTHER_VERSION]++;
	if (!o2_lst_find_answer(the, request, &reply) || reply.u.reply.status != EPROTO ||
	    (is_ping ? reply.u.ping_reply.pnr_magic != 0 || reply.u.ping_reply.pnr_seq != 0
		     : !o2_lst_sid_is_none(reply.u.reply.sid)) ||
	    reply.msg_ses_feats != O2_LST_FEATS_MASK)
		o2_report_fail(the->report, "lst/version",
			       "a request of version %" PRIu32 " and type %" PRIu32 " is not refused by that",
			       request->msg_version, request->msg_type);
}

uint32_t o2_lst_answers(const struct o2_lst_case *the, uint64_t rpyid)
{
	const struct o2_lnet_side *b = &the->lnet.b;
	uint32_t count = 0;

	for (uint32_t i = 0; i < b->nletters; i++)
		count += is_answer(&b->letter[i], rpyid);
	return count;
}

void o2_lst_check_silence(struct o2_lst_case *the, uint64_t rpyid, uint32_t before)
{
	the->seen[NOT_ANSWERED]++;
	if (o2_lst_answers(the, rpyid) != before)
		o2_report_fail(the->report, "lst/answer", "what cannot be answered is answered");
}

void o2_lst_check_answer(struct o2_lst_case *the, const struct o2_lst_msg *request, int expected)
{
	struct o2_lst_msg reply;

	if (!o2_lst_find_answer(the, request, &reply))
		o2_report_fail(the->report, "lst/no-answer",
			       "a request of type %" PRIu32 " is not answered at once by one",
			       request->msg_type);
	else if ((int)reply.u.reply.status != expected)
		o2_report_fail(the->report, "lst/status",
			       "a request of type %" PRIu32 " is answered with %" PRIu32 ", not %d",
			       request->msg_type, reply.u.reply.status, expected);
	else if (request->msg_type == O2_LST_PING_REQST)
		check_pong(the, request, &reply);
	else if (request->msg_type != O2_LST_BRW_REQST &&
		 !o2_lst_sid_equal(reply.u.reply.sid,
				   request->msg_type == O2_LST_JOIN_REQST ? O2_LST_NO_SID : the->account.sid))
		o2_report_fail(the->report, "lst/sid",
			       "an answer of type %" PRIu32 " names session %" PRIu64 ", not %" PRIu64,
			       reply.msg_type, reply.u.reply.sid.ses_stamp, the->account.sid.ses_stamp);
	else
		check_fields(the, &reply);
}

void o2_lst_account_clock(struct o2_lst_case *the)
{
	struct o2_lst_account *account = &the->account;

	if (!has_session(account))
		return;
	if (the->now_ms - account->heard_ms >= TIMEOUT_MS) {
		account->sid = O2_LST_NO_SID;
		o2_lst_served_abort(the);
		the->seen[EXPIRED]++;
	} else if (account->heard_late) {
		the->seen[KEPT_ALIVE]++;
	}
	account->heard_late = false;
}

void o2_lst_check_state(struct o2_lst_case *the)
{
	const struct o2_lst_node *node = the->b.node;
	const struct o2_lst_sid sid = o2_lst_node_sid(node);

	if (!o2_lst_sid_equal(sid, the->account.sid))
		o2_report_fail(the->report, "lst/session", "the node is in session %" PRIu64 ", not %" PRIu64,
			       sid.ses_stamp, the->account.sid.ses_stamp);
	/* What keeps a session alive: every request to the framework but JOIN. */
	if (has_session(&the->account) && node->heard_ms != the->account.heard_ms)
		o2_report_fail(the->report, "lst/session",
			       "the node has heard of its session at %" PRIu64 " ms, not at %" PRIu64,
			       node->heard_ms, the->account.heard_ms);
	/* Of sessions hardly ever, as letters keep their order: lst_work.c has more of those. */
	if (node->nunits > node->config.max_units || node->nhalves > node->config.max_tests ||
	    node->nbatches > node->config.max_batches || node->nsessions > node->config.max_sessions)
		o2_report_fail(the->report, "lst/limits",
			       "%" PRIu32 " units, %" PRIu32 " tests, %" PRIu32 " batches, %" PRIu32
			       " sessions: more than there may be",
			       node->nunits, node->nhalves, node->nbatches, node->nsessions);
	the->seen[UNITS_ALL] += node->nunits == node->config.max_units;
	o2_lst_served_check(the);
	for (int i = 0; i < 2; i++) {
		const struct o2_lnet_side *side = i == 0 ? &the->lnet.a : &the->lnet.b;

		if (side->wrong != NULL)
			o2_report_fail(the->report, "lst/lnet", "side %c: %s", "AB"[i], side -> wrong);
	}
}
