/* SPDX-License-Identifier: MIT */
#include "props/lst/lst_work.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "props/lst/lst_requests.h"

#define LIST_PAGE  64u
#define OWN_NUMBER (UINT64_C(1) << 60) /* of memory for a bulk */
#define ROUNDS	   5u
#define MORE_PAGES 50u
#define ABSENT_NID UINT64_C(0x000500000a4d0009)
#define TIMEOUT_MS O2_LST_CASE_TIMEOUT_MS
#define NEVER_MS   1000000000u

/* --- tests --- */

/* Lay out the bulk of the next request. */
static void lay_bulk(struct o2_lst_case *the, uint32_t bytes)
{
	the->list_kiov = (struct o2_kiov){LIST_PAGE, 0, bytes};
	the->list = (struct o2_transfer_memory){
		.buffer = {.kind = O2_KIOV, .count = 1, .nob = bytes, .kiov = &the->list_kiov},
		.mode = O2_REG_GLOBAL};
}

static void lay_list(struct o2_work *work, const struct o2_work_half *half)
{
	struct o2_lst_case *the = work->the;
	uint8_t *bytes = o2_lnet_side_bytes(&the->lnet.a, LIST_PAGE);
	const uint64_t nobody = o2_draw_bool(the->choice, 1, 1) ? ABSENT_NID : O2_LNET_NID_B;

	lay_bulk(the, half->asked.tsr_ndest * O2_LST_DEST_BYTES);
	for (uint32_t i = 0; i < half->asked.tsr_ndest; i++) {
		const struct o2_lst_dest dest = {half->absent[i] ? nobody : O2_LNET_NID_A,
						 O2_LNET_PID_KERNEL};

		o2_lst_dest_store(&dest, work->order, bytes + (size_t)i * O2_LST_DEST_BYTES);
	}
}

static void add_half(struct o2_work *work)
{
	struct o2_choice *c = work->the->choice;
	struct o2_work_half *half = &work->half[work->nhalves++];
	struct o2_lst_msg msg;
	uint32_t nth;

	/* If pages are scarce, use one batch only, so that units that wait for pages meet each other. */
	*half = (struct o2_work_half){
		.batch = 1 + (o2_work_is_scarce(work) ? 0 : (uint32_t)o2_draw(c, O2_WORK_BATCHES - 1))};
	half->is_client = o2_draw_bool(c, 1, 5);
	msg = o2_lst_ask_test(o2_lst_sid_of(1), half->is_client, 1 + (uint32_t)o2_draw(c, 1));
	half->asked = msg.u.test_reqst;
	half->asked.tsr_bid = half->batch;
	half->asked.tsr_concur = 1 + (uint32_t)o2_draw(c, 3);
	half->asked.tsr_loop = 1 + (uint32_t)o2_draw(c, 3);
	half->asked.tsr_stop_onerr = (uint8_t)o2_draw(c, 1);
	half->absent[0] = o2_draw_bool(c, 7, 1);
	half->absent[1] = o2_draw_bool(c, 7, 1);
	if (o2_draw_bool(c, 1, 1) || o2_work_is_scarce(work))
		o2_work_draw_bulk(work, half);
	lay_list(work, half);
	msg.u.test_reqst = half->asked;
	work->nth = o2_work_draw_nth(work);
	if (!o2_work_answers(work, half))
		work->nth = 0;
	nth = work->nth;
	o2_work_ask(work, msg, o2_work_add(work, half));
	o2_work_deliver_without(work, nth);
	o2_work_deliver_all(work);
	work->the->seen[WORK_NO_ROOM] += !half->there;
}

/* --- rounds --- */

/* The memory that is laid out is offered under a number of its own, as by a client that truncates. */
static void offer_less(struct o2_work *work, struct o2_lst_msg *msg)
{
	struct o2_lst_case *the = work->the;
	const struct o2_lnet_entry entry = {
		.portal = O2_LST_PORTAL_RDMA,
		.match_bits = OWN_NUMBER,
		.nid = O2_LNET_NID_B,
		.pid = O2_LNET_PID_KERNEL,
		.options = O2_LNET_MD_OP_GET | O2_LNET_MD_TRUNCATE | O2_LNET_MD_UNLINK,
		.uses = 1,
		.memory = the->list,
	};

	msg->u.brw_reqst.brw_bulkid = OWN_NUMBER;
	if (o2_lnet_attach(the->lnet.a.lnet, &entry, NULL) < 0)
		o2_report_fail(the->report, "lst/work-start", "a bulk cannot be offered");
}

/* A write by the console: its reports of wrong words do not count for the node's own reads. */
static void write_once(struct o2_work *work)
{
	struct o2_lst_side *b = &work->the->b;
	const struct o2_lst_node_wrong wrong = b->wrong;
	const uint32_t nwrong = b->nwrong;
	struct o2_work_write write;
	struct o2_lst_msg msg =
		o2_work_lay_write(work, o2_lnet_side_bytes(&work->the->lnet.a, LIST_PAGE), &write);

	lay_bulk(work->the, write.bytes);
	if (write.bytes < write.len)
		offer_less(work, &msg);
	work->withheld = write.len - write.bytes;
	o2_work_ask(work, msg, write.found ? EBADMSG : 0);
	o2_work_deliver_all(work);
	work->withheld = 0;
	o2_work_check_write(work, &write, nwrong);
	b->wrong = wrong;
	b->nwrong = nwrong;
}

static void query(struct o2_work *work)
{
	const uint32_t batch = 1 + (uint32_t)o2_draw(work->the->choice, O2_WORK_BATCHES - 1);
	const uint32_t index = (uint32_t)o2_draw(work->the->choice, 3);
	uint32_t active;
	const uint32_t status = o2_work_query(work, batch, index, &active);
	struct o2_work_question *asked = o2_work_ask(
		work, o2_lst_ask_batch(o2_lst_sid_of(1), batch, O2_LST_BATCH_QUERY, index, 0), status);

	asked->queries = true;
	asked->active = active;
	work->the->seen[WORK_ACTIVE] += active > 0;
}

static void control(struct o2_work *work, uint32_t opcode)
{
	const uint32_t batch = 1 + (uint32_t)o2_draw(work->the->choice, O2_WORK_BATCHES - 1);
	const bool force = o2_draw_bool(work->the->choice, 1, 1) &&
			   !(o2_work_writes(work, batch) && (work->kept || o2_work_has_large(work)));
	const uint32_t nth = opcode == O2_LST_BATCH_RUN ? o2_work_draw_nth(work) : 0;
	uint32_t status;

	work->nth = nth;
	status = opcode == O2_LST_BATCH_RUN ? o2_work_run(work, batch) : o2_work_stop(work, batch, force);
	o2_work_ask(work, o2_lst_ask_batch(o2_lst_sid_of(1), batch, opcode, 0, force), status);
	o2_work_deliver_without(work, nth);
	work->the->seen[WORK_STOPPED] += opcode == O2_LST_BATCH_STOP && status == 0;
}

/* Ask how many batches are active. */
static void count_active(struct o2_work *work)
{
	struct o2_work_question *stat = o2_work_ask(work, o2_lst_ask_stat(o2_lst_sid_of(1)), 0);
	uint32_t active;

	stat->counts = true;
	for (uint32_t batch = 1; batch <= O2_WORK_BATCHES; batch++) {
		o2_work_query(work, batch, 0, &active);
		stat->active += active > 0;
	}
}

/* A test is not added to a batch that runs. */
static void add_in_vain(struct o2_work *work)
{
	const uint32_t batch = 1 + (uint32_t)o2_draw(work->the->choice, O2_WORK_BATCHES - 1);
	struct o2_work_half half = {.batch = batch, .is_client = o2_draw_bool(work->the->choice, 1, 1)};
	struct o2_lst_msg msg = o2_lst_ask_test(o2_lst_sid_of(1), half.is_client, 1);
	uint32_t active;

	if (o2_work_query(work, batch, 0, &active) != 0 || active == 0)
		return;
	msg.u.test_reqst.tsr_bid = batch;
	half.asked = msg.u.test_reqst;
	o2_work_ask(work, msg, o2_work_add(work, &half));
	work->the->seen[WORK_BUSY]++;
}

/* A round: the requests are delivered to the node before any of the node's messages are. */
static void round_of(struct o2_work *work)
{
	static const uint32_t weights[] = {4, 4, 1, 1, 1};
	struct o2_choice *c = work->the->choice;

	if (o2_draw_bool(c, 3, 1))
		work->network = o2_draw_bool(c, 1, 1) ? O2_WORK_SHORTENS : O2_WORK_LOSES;
	while (work->nquestions < O2_WORK_CALLS && o2_draw_bool(c, 1, 3)) {
		const size_t what = o2_draw_weighted(c, weights, 5);

		/* The next request arrives while these calls are in flight. */
		work->most = work->calls > work->most ? work->calls : work->most;
		if (what == 0)
			control(work, O2_LST_BATCH_RUN);
		else if (what == 1)
			query(work);
		else if (what == 2)
			control(work, O2_LST_BATCH_STOP);
		else if (what == 3)
			add_in_vain(work);
		else
			count_active(work);
		o2_work_deliver_ours(work);
	}
	o2_work_deliver_all(work);
	o2_work_finish(work);
	work->network = O2_WORK_SOUND;
}

/* --- the case --- */

/* The new session has no errors; the first one waits while its RPCs are in flight, and those after it for nothing. */
static void ask_zombies(struct o2_work *work, struct o2_lst_sid sid)
{
	struct o2_work_question *stat = o2_work_ask(work, o2_lst_ask_stat(sid), 0);

	stat->counts = stat->fresh = true;
	stat->zombies = work->calls > 0;
	o2_work_deliver_ours(work);
	work->the->seen[WORK_ZOMBIE] += stat->zombies > 0;
}

/* Make a session by force.  There is room if no RPC of the one before is in flight. */
static uint32_t take_over(struct o2_work *work, uint32_t before, uint32_t stamp, bool room)
{
	const struct o2_lst_sid sid = o2_lst_sid_of(room ? stamp : before);

	o2_work_ask(work, o2_lst_ask_mksn(o2_lst_sid_of(stamp), 1, "other"), room ? 0 : ENOMEM);
	o2_work_deliver_ours(work);
	if (!o2_lst_sid_equal(o2_lst_node_sid(work->the->b.node), sid))
		o2_report_fail(work->the->report, "lst/work-session",
			       "the node is not in session %" PRIu64 " when another is asked for",
			       sid.ses_stamp);
	work->the->seen[WORK_NO_SESSION] += !room;
	ask_zombies(work, sid);
	return (uint32_t)sid.ses_stamp;
}

/* Replace the session in the middle of a batch.  Returns the stamp of the session that exists then. */
static uint32_t steal(struct o2_work *work)
{
	const uint32_t batch = 1 + (uint32_t)o2_draw(work->the->choice, O2_WORK_BATCHES - 1);
	uint32_t stamp;

	o2_work_ask(work, o2_lst_ask_batch(o2_lst_sid_of(1), batch, O2_LST_BATCH_RUN, 0, 0),
		    o2_work_run(work, batch));
	o2_work_deliver_ours(work);
	stamp = take_over(work, 1, 2, true);
	stamp = take_over(work, stamp, 3, work->calls == 0 || work->config.max_sessions > 2);
	o2_work_deliver_all(work);
	return stamp;
}

/* End the session: by the console's request, or after its timeout, and not before. */
static void leave(struct o2_work *work)
{
	struct o2_lst_case *the = work->the;
	const struct o2_lst_node *node = the->b.node;
	const uint32_t stamp = o2_draw_bool(the->choice, 1, 1) ? steal(work) : 1;

	if (work->config.session_timeout_s == 0) {
		o2_lst_clock_to(the, the->now_ms + NEVER_MS);
		if (o2_lst_sid_is_none(o2_lst_node_sid(node)))
			o2_report_fail(the->report, "lst/work-session", "a session without end is gone");
	}
	if (work->config.session_timeout_s == 0 || o2_draw_bool(the->choice, 1, 1)) {
		o2_work_ask(work, o2_lst_ask_rmsn(o2_lst_sid_of(stamp)), 0);
		o2_work_deliver_all(work);
	} else {
		const uint64_t heard_ms = the->now_ms;

		o2_lst_clock_to(the, heard_ms + TIMEOUT_MS - 1);
		if (o2_lst_sid_is_none(o2_lst_node_sid(node)))
			o2_report_fail(the->report, "lst/work-session", "the session is gone too early");
		o2_lst_clock_to(the, heard_ms + TIMEOUT_MS);
		o2_work_count_wrong(work, "sessions that have expired", node->report.expired, 1);
	}
	if (!o2_lst_sid_is_none(o2_lst_node_sid(node)) ||
	    node->nsessions + node->nbatches + node->nhalves + node->nunits > 0)
		o2_report_fail(the->report, "lst/work-session", "of the session something is left");
}

static void draw_configs(struct o2_work *work, struct o2_lst_node_config *other)
{
	struct o2_choice *c = work->the->choice;

	work->config = *other = o2_lst_side_config();
	work->config.max_calls = 1 + (uint32_t)o2_draw(c, 7);
	work->config.max_tests = 1 + (uint32_t)o2_draw(c, 4);
	work->config.max_batches = 1 + (uint32_t)o2_draw(c, 3);
	work->config.max_sessions = 2 + (uint32_t)o2_draw(c, 1);
	work->config.max_units = 1 + (uint32_t)o2_draw(c, 19);
	work->config.client_pages = 256 + (uint32_t)o2_draw(c, 2);
	/* More pages than the other node can serve: some requests wait there. */
	if (o2_draw_bool(c, 3, 1))
		work->config.client_pages += MORE_PAGES;
	other->server_pages = 256 + (uint32_t)o2_draw(c, 2);
	if (o2_draw_bool(c, 7, 1))
		work->config.session_timeout_s = 0;
	work->config.order = o2_draw_bool(c, 3, 1) ? O2_BIG_ENDIAN : O2_LITTLE_ENDIAN;
	/* Numbers that wrap around: 0 is never used. */
	work->config.first_id = o2_draw_bool(c, 3, 1) ? UINT64_MAX - o2_draw(c, 5) : 1;
	work->next_id = work->config.first_id;
	other->order = work->order = o2_draw_bool(c, 3, 1) ? O2_BIG_ENDIAN : O2_LITTLE_ENDIAN;
	other->flip_bit = work->flips = o2_draw_bool(c, 1, 1);
	work->features = (uint32_t)o2_draw(c, 1);
}

/* Without memory no session is made; a later request can make one. */
static void make_session(struct o2_work *work)
{
	const uint32_t nth = o2_work_draw_nth(work) > 0;

	if (nth > 0) {
		o2_work_ask(work, o2_lst_ask_mksn(o2_lst_sid_of(1), 0, "work"), ENOMEM)->features =
			O2_LST_FEATS_MASK;
		o2_work_deliver_without(work, nth);
		o2_work_deliver_all(work);
	}
	o2_work_ask(work, o2_lst_ask_mksn(o2_lst_sid_of(1), 0, "work"), 0);
	o2_work_deliver_all(work);
}

static void talk(struct o2_work *work)
{
	struct o2_lst_case *the = work->the;
	const uint64_t started_ms = o2_draw(the->choice, 5000);
	struct o2_lst_lnet_counters lnet;
	struct o2_work_question *stat;

	o2_lst_clock_to(the, started_ms);
	o2_work_draw_scarce(work);
	make_session(work);
	for (uint32_t i = 0; i < ROUNDS && !the->report->failed; i++) {
		while (work->nhalves < O2_WORK_HALVES && o2_draw_bool(the->choice, 1, 2))
			add_half(work);
		o2_lst_clock_to(the, the->now_ms + o2_draw(the->choice, 5000));
		if (o2_draw_bool(the->choice, 3, 1))
			write_once(work);
		round_of(work);
		the->steps++;
	}
	stat = o2_work_ask(work, o2_lst_ask_stat(o2_lst_sid_of(1)), 0);
	o2_work_deliver_ours(work);
	lnet = work->lnet;
	o2_work_deliver_all(work);
	the->seen[WORK_RAN] += work->tries > 0;
	o2_lst_bulk_put(&work->held);
	o2_work_check_counts(work, &stat->stat, &lnet, started_ms);
	leave(work);
}

int o2_lst_work_case(struct o2_lst_case *the)
{
	static struct o2_work work;
	struct o2_lst_node_config other;
	int rc;

	memset(&work, 0, sizeof(work));
	work.the = the;
	draw_configs(&work, &other);
	rc = o2_lst_side_open(&the->a, &the->lnet.a, &other);
	if (rc == 0)
		rc = o2_lst_side_open(&the->b, &the->lnet.b, &work.config);
	if (rc == 0)
		talk(&work);
	return rc;
}
