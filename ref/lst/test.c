/* SPDX-License-Identifier: MIT */
#include "lst/test.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>

#include "base/monotonic.h"
#include "lst/wire/range.h"

/* An open try. */
struct slot {
	bool in_use;
	struct o2_lst_test test;
	struct o2_lst_bulk bulk;	  /* brw only */
	uint32_t sequence;		  /* ping only */
	struct o2_transfer_memory memory; /* the bulk's; must stay until the call ends */
	void (*done)(void *context, const struct o2_lst_test_result *result);
	void *context;
	uint64_t tag;
};

struct o2_lst_tester {
	struct o2_lst_rpc *rpc;
	struct o2_lst_pages *pages;
	const struct o2_clock *clock;
	uint32_t next_ping;
	uint32_t max;
	uint32_t nfree;
	uint32_t *free; /* stack of free slots */
	struct slot *slot;
};

static bool is_brw(const struct o2_lst_test *test)
{
	return test->service == O2_LST_SERVICE_BRW;
}

/* The request of the test; the RPC layer sets its ids. */
static struct o2_lst_msg request_of(const struct o2_lst_tester *tester, const struct o2_lst_test *test)
{
	struct o2_lst_msg msg = {.msg_version = O2_LST_MSG_VERSION, .msg_ses_feats = test->features};
	const uint64_t now_ms = tester == NULL ? 0 : o2_clock_ms(tester->clock);

	if (is_brw(test)) {
		msg.msg_type = O2_LST_BRW_REQST;
		msg.u.brw_reqst.brw_rw = test->rw;
		msg.u.brw_reqst.brw_len = test->len;
		msg.u.brw_reqst.brw_flags = test->check;
		return msg;
	}
	msg.msg_type = O2_LST_PING_REQST;
	msg.u.ping_reqst.pnr_magic = O2_LST_PING_MAGIC;
	msg.u.ping_reqst.pnr_seq = tester == NULL ? 0 : tester->next_ping;
	msg.u.ping_reqst.pnr_time_sec = now_ms / O2_MS_PER_S;
	msg.u.ping_reqst.pnr_time_nsec = now_ms % O2_MS_PER_S * O2_NS_PER_MS;
	return msg;
}

int o2_lst_test_check(const struct o2_lst_test *test, struct o2_error *error)
{
	const struct o2_lst_msg msg = request_of(NULL, test);
	int rc = o2_lst_range_check(&msg, error);

	if (rc == 0 && is_brw(test))
		rc = o2_lst_range_bulk(test->features, test->len, test->offset, error);
	return rc;
}

/* --- the tester --- */

int o2_lst_tester_create(uint32_t max, struct o2_lst_rpc *rpc, struct o2_lst_pages *pages,
			 const struct o2_clock *clock, struct o2_lst_tester **tester_out,
			 struct o2_error *error)
{
	struct o2_lst_tester *tester;

	if (max == 0)
		return o2_refuse_value(error, -EINVAL, "lst/config/max-tests", "max", 0, 1);
	tester = calloc(1, sizeof(*tester));
	if (tester == NULL)
		return o2_fail(error, -ENOMEM, "lst/memory", "max", max);
	*tester = (struct o2_lst_tester){.rpc = rpc,
					 .pages = pages,
					 .clock = clock,
					 .max = max,
					 .free = calloc(max, sizeof(*tester->free)),
					 .slot = calloc(max, sizeof(*tester->slot))};
	if (tester->free == NULL || tester->slot == NULL) {
		tester->nfree = max;
		o2_lst_tester_destroy(tester);
		return o2_fail(error, -ENOMEM, "lst/memory", "max", max);
	}
	for (; tester->nfree < max; tester->nfree++)
		tester->free[tester->nfree] = max - 1 - tester->nfree;
	*tester_out = tester;
	return 0;
}

void o2_lst_tester_destroy(struct o2_lst_tester *tester)
{
	if (tester == NULL)
		return;
	assert(tester->nfree == tester->max);
	free(tester->free);
	free(tester->slot);
	free(tester);
}

uint32_t o2_lst_tester_active(const struct o2_lst_tester *tester)
{
	return tester->max - tester->nfree;
}

void o2_lst_tester_new_ping(struct o2_lst_tester *tester)
{
	tester->next_ping = 0;
}

static void free_slot(struct o2_lst_tester *tester, struct slot *slot)
{
	o2_lst_bulk_put(&slot->bulk);
	slot->in_use = false;
	tester->free[tester->nfree++] = (uint32_t)(slot - tester->slot);
}

/* --- results --- */

static enum o2_lst_failure judge_ping(const struct slot *slot, const struct o2_lst_ping_reply *reply)
{
	const bool same = reply->pnr_magic == O2_LST_PING_MAGIC && reply->pnr_seq == slot->sequence;

	return same ? O2_LST_FAILURE_NONE : O2_LST_FAILURE_ANSWER;
}

static enum o2_lst_failure judge_brw(const struct slot *slot, const struct o2_lst_answer *answer,
				     struct o2_lst_wrong *wrong)
{
	const enum o2_lst_brw_check check = slot->test.every_word ? O2_LST_CHECK_FULL : slot->test.check;

	if (answer->bulk_bytes != slot->test.len)
		return O2_LST_FAILURE_LENGTH;
	if (slot->test.rw == O2_LST_BRW_WRITE ||
	    o2_lst_bulk_check(&slot->bulk, check, answer->reply->order, wrong) == 0)
		return O2_LST_FAILURE_NONE;
	return O2_LST_FAILURE_DATA;
}

static void judge(const struct slot *slot, const struct o2_lst_answer *answer,
		  struct o2_lst_test_result *result)
{
	if (answer->status != 0) {
		result->failure = O2_LST_FAILURE_RPC;
		result->status = answer->status;
		result->error = answer->error;
		return;
	}
	if (answer->reply->u.reply.status != 0) {
		const uint32_t status = answer->reply->u.reply.status;

		result->failure = O2_LST_FAILURE_STATUS;
		result->status = status <= INT32_MAX ? -(int)status : -EPROTO;
		return;
	}
	result->failure = is_brw(&slot->test) ? judge_brw(slot, answer, &result->wrong)
					      : judge_ping(slot, &answer->reply->u.ping_reply);
	result->status = result->failure == O2_LST_FAILURE_NONE ? 0 : -EBADMSG;
}

static void note_answer(void *context, const struct o2_lst_answer *answer)
{
	struct o2_lst_tester *tester = context;
	struct slot *slot = &tester->slot[answer->tag];
	const struct slot ended = *slot;
	struct o2_lst_test_result result = {
		.tag = slot->tag,
		.bytes = answer->bulk_bytes,
	};

	assert(slot->in_use);
	judge(slot, answer, &result);
	free_slot(tester, slot);
	ended.done(ended.context, &result);
}

/* --- starting --- */

/* Fill a sink with poison, so that missing bytes are noticed. */
static int get_bulk(struct o2_lst_tester *tester, struct slot *slot)
{
	const struct o2_lst_test *test = &slot->test;
	int rc;

	if (!is_brw(test))
		return 0;
	rc = o2_lst_bulk_get(tester->pages, test->len, test->offset, &slot->bulk);
	if (rc != 0)
		return rc;
	slot->memory = o2_lst_bulk_memory(&slot->bulk);
	return test->rw == O2_LST_BRW_WRITE ? o2_lst_bulk_fill(&slot->bulk, o2_lst_rpc_order(tester->rpc))
					    : o2_lst_bulk_poison(&slot->bulk);
}

static int start(struct o2_lst_tester *tester, const struct o2_lst_try *asked, struct slot *slot,
		 uint64_t *id, struct o2_error *error)
{
	const struct o2_lst_msg request = request_of(tester, &slot->test);
	const struct o2_lst_call call = {
		.nid = asked->nid,
		.pid = asked->pid,
		.request = &request,
		.bulk = is_brw(&slot->test) ? &slot->memory : NULL,
		.bulk_is_source = slot->test.rw == O2_LST_BRW_WRITE,
		.done = note_answer,
		.context = tester,
		.tag = (uint64_t)(slot - tester->slot),
	};
	const int rc = get_bulk(tester, slot);

	if (rc != 0)
		return rc;
	/* Increment first: the call may end before it returns, and its callback may start the next ping. */
	tester->next_ping += !is_brw(&slot->test);
	return o2_lst_call_start(tester->rpc, &call, id, error);
}

int o2_lst_test_start(struct o2_lst_tester *tester, const struct o2_lst_try *asked, uint64_t *id,
		      struct o2_error *error)
{
	struct slot *slot;
	int rc;

	assert(o2_lst_test_check(asked->test, NULL) == 0);
	if (tester->nfree == 0)
		return o2_refuse_value(error, -ENOSPC, "lst/tests", "tests", tester->max + UINT64_C(1),
				       tester->max);
	slot = &tester->slot[tester->free[--tester->nfree]];
	*slot = (struct slot){
		.in_use = true,
		.test = *asked->test,
		.sequence = tester->next_ping,
		.done = asked->done,
		.context = asked->context,
		.tag = asked->tag,
	};
	rc = start(tester, asked, slot, id, error);
	/* On success the slot may have been reused already. */
	if (rc != 0)
		free_slot(tester, slot);
	return rc;
}

int o2_lst_test_cancel(struct o2_lst_tester *tester, uint64_t id)
{
	return o2_lst_call_cancel(tester->rpc, id);
}
