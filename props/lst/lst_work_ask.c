/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <inttypes.h>

#include "props/lst/lst_work.h"
#include "wire/bytes.h"

#define BRW_LEN_AT 44u /* docs/lst.md, "Bodies" */

/* The requests of a work case, their answers, and the network that carries both. */

static void check_counts(const struct o2_work_question *asked, const struct o2_lst_fw_counters *fw)
{
	o2_work_count_wrong(asked->work, "zombie_sessions", fw->zombie_sessions, asked->zombies);
	o2_work_count_wrong(asked->work, "active_batches", fw->active_batches, asked->active);
	if (asked->fresh)
		o2_work_count_wrong(asked->work, "errors of a new session", fw->brw_errors + fw->ping_errors,
				    0);
}

static void note_answer(void *context, const struct o2_lst_answer *answer)
{
	struct o2_work_question *asked = context;
	struct o2_report *report = asked->work->the->report;
	const struct o2_lst_msg *reply = answer->reply;

	asked->answered = true;
	if (answer->status != 0) {
		o2_report_fail(report, "lst/work-answer", "a request of type %" PRIu32 " ends with %d",
			       asked->type, answer->status);
		return;
	}
	if (reply->u.reply.status != asked->status)
		o2_report_fail(report, "lst/work-status",
			       "a request of type %" PRIu32 " is answered with %" PRIu32 ", not %" PRIu32,
			       asked->type, reply->u.reply.status, asked->status);
	else if (reply->msg_ses_feats != asked->features)
		o2_report_fail(report, "lst/work-features", "an answer has features %" PRIu32,
			       reply->msg_ses_feats);
	else if (asked->queries && asked->status == 0 && reply->u.batch_reply.bar_active != asked->active)
		o2_report_fail(report, "lst/work-active", "%" PRIu32 " are active, not %" PRIu32,
			       reply->u.batch_reply.bar_active, asked->active);
	else if (asked->counts)
		check_counts(asked, &reply->u.stat_reply.str_fw);
	if (reply->msg_type == O2_LST_STAT_REPLY)
		asked->stat = reply->u.stat_reply;
}

struct o2_work_question *o2_work_ask(struct o2_work *work, struct o2_lst_msg msg, uint32_t status)
{
	struct o2_lst_case *the = work->the;
	struct o2_work_question *asked = &work->question[work->nquestions++];
	struct o2_lst_call call = {
		.nid = O2_LNET_NID_B, .request = &msg, .done = note_answer, .context = asked};
	int rc;

	/* Without a session the node reports all features. */
	*asked = (struct o2_work_question){.work = work,
					   .type = msg.msg_type,
					   .status = status,
					   .features = msg.msg_type == O2_LST_RMSN_REQST ? O2_LST_FEATS_MASK
											 : work->features};
	msg.msg_ses_feats = work->features;
	if ((msg.msg_type == O2_LST_BRW_REQST && msg.u.brw_reqst.brw_bulkid == 0) ||
	    (msg.msg_type == O2_LST_TEST_REQST && msg.u.test_reqst.tsr_is_client != 0)) {
		call.bulk = &the->list;
		call.bulk_is_source = true;
	}
	work->requests++;
	work->refused += status != 0 && msg.msg_type != O2_LST_BRW_REQST;
	rc = o2_lst_call_start(the->a.node->rpc, &call, NULL, NULL);
	if (rc != 0)
		o2_report_fail(the->report, "lst/work-start", "a request is not sent: %d", rc);
	return asked;
}

/* --- the network --- */

/* Pings are numbered from 0, and from 0 again when a ping test has been added. */
static void check_ping(struct o2_work *work, const struct o2_lst_msg *msg)
{
	const uint32_t number = msg->u.ping_reqst.pnr_seq;

	if (number < work->next_ping || number - work->next_ping > work->not_pinged)
		o2_report_fail(work->the->report, "lst/work-ping",
			       "ping %" PRIu32 " is sent, expected number %" PRIu64, number, work->next_ping);
	work->not_pinged -= number - work->next_ping;
	work->next_ping = number + 1;
}

/* The ids of replies and bulks count on from the first one that the node was given, without 0. */
static void check_ids(struct o2_work *work, const struct o2_lst_msg *msg)
{
	const uint64_t id = msg->u.reqst.rpyid;
	const bool bulk = msg->msg_type == O2_LST_BRW_REQST;
	uint64_t skipped = 0;

	while (skipped < work->ids_unsent && o2_work_id_after(work->next_id, skipped) != id)
		skipped++;
	if (o2_work_id_after(work->next_id, skipped) != id ||
	    (bulk && msg->u.reqst.bulkid != o2_work_id_after(id, 1)))
		o2_report_fail(work->the->report, "lst/work-id",
			       "a request has ids %" PRIu64 " and %" PRIu64 ", expected %" PRIu64, id,
			       msg->u.reqst.bulkid, work->next_id);
	work->ids_unsent -= skipped;
	work->next_id = o2_work_id_after(id, bulk ? 2 : 1);
}

/* A request of the node's tests leaves.  True: it is lost. */
static bool send_request(struct o2_work *work, struct o2_letter *letter)
{
	struct o2_lst_msg msg;

	if (letter->from != &work->the->lnet.b || letter->kind != O2_LETTER_IMMEDIATE ||
	    letter->hdr.type != O2_LNET_PUT || letter->hdr.msg.put.ptl_index != O2_LST_PORTAL_TEST ||
	    o2_lst_msg_decode(letter->payload, letter->hdr.payload_length, &msg, NULL) != 0)
		return false;
	check_ids(work, &msg);
	if (msg.msg_type == O2_LST_PING_REQST)
		check_ping(work, &msg);
	else
		o2_store32(letter->payload + BRW_LEN_AT, msg.order,
			   msg.u.brw_reqst.brw_len - o2_work_shortens(work, msg.u.brw_reqst.brw_len));
	work->lost += work->network == O2_WORK_LOSES;
	return work->network == O2_WORK_LOSES;
}

static void lose(struct o2_work *work, struct o2_lnet_side *side)
{
	const struct o2_letter letter = o2_lnet_take_letter(side);

	work->lnet.lcc_send_count++;
	work->the->seen[WORK_LOST]++;
	o2_lnet_finished(side->lnet, letter.tag, -ECONNABORTED, 0, NULL);
}

static void deliver(struct o2_work *work, struct o2_lnet_side *side)
{
	if (send_request(work, &side->letter[0])) {
		lose(work, side);
		return;
	}
	o2_work_letter(work, &side->letter[0]);
	o2_work_check_order(work, &side->letter[0]);
	o2_lst_check_put(work->the->report, &side->letter[0]);
	o2_lst_served_goes(work->the, &side->letter[0], true);
	side->nevents = side->nresults = side->peer->nevents = side->peer->nresults = 0;
	o2_lnet_deliver(side);
	work->the->seen[WORK_WAITED] += !TAILQ_EMPTY(&work->the->a.node->waiting);
}

void o2_work_deliver_ours(struct o2_work *work)
{
	while (work->the->lnet.a.nletters > 0)
		deliver(work, &work->the->lnet.a);
}

void o2_work_deliver_all(struct o2_work *work)
{
	struct o2_lnet_side *a = &work->the->lnet.a, *b = &work->the->lnet.b;

	while (a->nletters + b->nletters > 0) {
		struct o2_lnet_side *side = o2_draw_bool(work->the->choice, 1, 1) ? b : a;

		deliver(work, side->nletters > 0 ? side : side->peer);
	}
	for (uint32_t i = 0; i < work->nquestions; i++)
		if (!work->question[i].answered)
			o2_report_fail(work->the->report, "lst/work-answer",
				       "a request of type %" PRIu32 " is not answered",
				       work->question[i].type);
	work->nquestions = 0;
}

/* --- memory --- */

#define ALLOCATIONS 4u /* most allocations that adding a test needs */

uint32_t o2_work_draw_nth(struct o2_work *work)
{
	const uint32_t nth = o2_draw_bool(work->the->choice, 5, 1)
				     ? 1 + (uint32_t)o2_draw(work->the->choice, ALLOCATIONS - 1)
				     : 0;

	return work->the->run->fail_allocation == NULL ? 0 : nth;
}

void o2_work_deliver_without(struct o2_work *work, uint32_t nth)
{
	const struct o2_lst_run *run = work->the->run;
	struct o2_lnet_side *a = &work->the->lnet.a, *b = &work->the->lnet.b;
	const bool lacking = nth > 0 && work->nth == 0;
	bool failed;

	if (nth == 0)
		return;
	run->fail_allocation(nth);
	while (a->nletters > 0 || (b->nletters > 0 && work->nqueue == 0))
		deliver(work, a->nletters > 0 ? a : b);
	failed = run->allocation_failed();
	run->fail_allocation(0);
	work->nth = 0;
	if (failed != lacking)
		o2_report_fail(work->the->report, "lst/work-memory", "allocation %" PRIu32 " %s", nth,
			       failed ? "is one more than there are" : "is not made");
	work->the->seen[WORK_NO_MEMORY] += failed;
}
