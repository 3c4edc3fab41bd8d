/* SPDX-License-Identifier: MIT */
#include "props/lst/lst.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "lst/rpc_internal.h"
#include "props/lst/lst_internal.h"
#include "props/lst/lst_work.h"

#define LABEL_STEP 1u
#define STEPS	   300u
#define MORE	   255u
#define RUN_OUT_MS 1000000u /* longer than any timeout */
#define LEFT_PAGES 4u	    /* what the largest request needs */

static const char *const situations[] = {O2_LST_SITUATIONS(O2_SITUATION_NAME)};

/* Create the nodes, over an open pair. */
static int open_nodes(struct o2_lst_case *the)
{
	struct o2_lst_node_config config = o2_lst_side_config();
	const uint32_t left = LEFT_PAGES + o2_lst_draw(the, 2);
	int rc = o2_lst_side_open(&the->a, &the->lnet.a, &config);

	if (o2_draw_bool(the->choice, 3, 1))
		config.max_served = 1 + o2_lst_draw(the, 2);
	if (rc == 0)
		rc = o2_lst_side_open(&the->b, &the->lnet.b, &config);
	if (rc == 0 && o2_draw_bool(the->choice, 3, 1))
		rc = o2_lst_bulk_get(the->b.node->server_pages,
				     (config.server_pages - left) * the->lnet.b.arena.page_bytes, 0,
				     &the->held);
	return rc;
}

void o2_lst_clock_to(struct o2_lst_case *the, uint64_t now_ms)
{
	the->now_ms = now_ms;
	o2_lnet_side_clock(&the->lnet.a, now_ms);
	o2_lnet_side_clock(&the->lnet.b, now_ms);
	o2_lst_node_check_time(the->a.node);
	o2_lst_node_check_time(the->b.node);
}

static void pass_time(struct o2_lst_case *the)
{
	const uint64_t over_ms = the->account.heard_ms + O2_LST_CASE_TIMEOUT_MS;
	const uint32_t ms =
		o2_draw_bool(the->choice, 2, 1) ? o2_lst_draw(the, 120000) : o2_lst_draw(the, 3000);

	/* Any moment; or exactly, or just before, the end of the session. */
	if (o2_draw_bool(the->choice, 3, 1) && over_ms > the->now_ms + 1)
		o2_lst_clock_to(the, over_ms - o2_lst_draw(the, 1));
	else
		o2_lst_clock_to(the, the->now_ms + ms);
	o2_lst_account_clock(the);
}

static bool take_step(void *context)
{
	static void (*const steps[])(struct o2_lst_case * the) = {o2_lst_deliver, o2_lst_start_request,
								  o2_lst_start_bulk, pass_time};
	static const uint32_t weights[] = {21, 4, 4, 1};
	struct o2_lst_case *the = context;

	the->steps++;
	steps[o2_draw_weighted(the->choice, weights, 4)](the);
	o2_lst_check_state(the);
	return !the->report->failed;
}

static bool has_ended(const struct o2_lst_side *side, char name, struct o2_report *report)
{
	const uint32_t active = o2_lst_node_active(side->node), messages = o2_lnet_messages(side->lnet->lnet);

	for (uint32_t i = 0; i < O2_LST_NODE_FETCHES; i++)
		if (side->node->fetch[i].in_use)
			o2_report_fail(report, "lst/left", "side %c still fetches a list of destinations",
				       name);
	if (active == 0 && messages == 0 && LIST_EMPTY(&side->node->sessions))
		return true;
	o2_report_fail(report, "lst/left",
		       "side %c has %" PRIu32 " calls and requests, %" PRIu32 " messages, %" PRIu32
		       " sessions left",
		       name, active, messages, side->node->nsessions);
	return false;
}

static void check_ended(struct o2_lst_case *the, const char *with)
{
	for (uint32_t i = 0; i < O2_LST_OPERATIONS; i++)
		if (the->operation[i].busy)
			o2_report_fail(the->report, "lst/ended",
				       "a bulk of %" PRIu32 " bytes has not ended with %s",
				       the->operation[i].len, with);
}

static void check_served(struct o2_lst_case *the)
{
	const struct o2_lst_rpc *rpc = the->b.node->rpc;

	if (rpc->nfree_served != rpc->config.max_served)
		o2_report_fail(the->report, "lst/ended", "%" PRIu32 " requests are still served",
			       rpc->config.max_served - rpc->nfree_served);
}

/*
 * Time ends B's session, and then what B serves: a write whose GET was lost, too.  If pages are scarce, such writes may
 * wait for each other.
 */
static void run_out(struct o2_lst_case *the)
{
	const struct o2_lst_rpc *rpc = the->b.node->rpc;

	for (uint32_t i = 0; i < 2 + (the->held.count > 0 ? rpc->config.max_served : 0); i++) {
		o2_lst_clock_to(the, the->now_ms + RUN_OUT_MS);
		o2_lst_account_clock(the);
		o2_lst_deliver_all(the);
	}
	check_served(the);
}

/* Start nothing new; calls in flight end, or time out.  Returns true if all have ended. */
static bool come_to_an_end(struct o2_lst_case *the)
{
	bool a_ended, b_ended;
	uint32_t letters;
	uint64_t requests;

	the->seen[TEST_ADDED] += the->b.node->nhalves > 0;
	the->seen[TEST_RAN] += o2_lst_node_report(the->b.node)->tries > 0;
	if (o2_draw_bool(the->choice, 1, 1)) {
		the->seen[RAN_OUT]++;
		run_out(the);
	}
	letters = the->lnet.b.nletters;
	requests = the->b.heard.requests;
	o2_lst_node_stop(the->b.node, -ESHUTDOWN);
	if (the->lnet.b.nletters != letters)
		o2_report_fail(the->report, "lst/ended", "a node that stops sends something");
	o2_lst_served_abort(the);
	if (!o2_lst_sid_is_none(o2_lst_node_sid(the->b.node)))
		o2_report_fail(the->report, "lst/session", "a node that is stopped is in a session");
	if (o2_draw_bool(the->choice, 1, 1)) {
		the->seen[STOPPED_AT_ONCE]++;
		o2_lst_node_stop(the->a.node, -ESHUTDOWN);
		o2_lst_deliver_all(the);
		check_ended(the, "its node");
	}
	o2_lst_deliver_all(the);
	check_served(the);
	o2_lst_clock_to(the, the->now_ms + RUN_OUT_MS);
	check_ended(the, "its timeout");
	o2_lst_node_stop(the->a.node, -ESHUTDOWN);
	o2_lst_deliver_all(the);
	if (the->b.heard.requests != requests)
		o2_report_fail(the->report, "lst/ended", "a node that is stopped takes requests");
	a_ended = has_ended(&the->a, 'A', the->report);
	b_ended = has_ended(&the->b, 'B', the->report);
	if (b_ended)
		o2_lst_served_check_counters(the, o2_lst_rpc_counters(the->b.node->rpc),
					     &the->b.node->lnet_counters);
	return a_ended && b_ended;
}

bool o2_lst_cannot_run(struct o2_report *report, int code)
{
	o2_report_fail(report, "lst/cannot-run", "what a case runs on cannot be made: %s", strerror(-code));
	return true;
}

static struct o2_lst_case *make_case(struct o2_report *report)
{
	struct o2_lst_case *the = malloc(sizeof(*the));
	const int rc = the == NULL ? -ENOMEM : o2_lnet_pair_open(&the->lnet, NULL);

	if (rc == 0) {
		the->a.node = the->b.node = NULL;
		return the;
	}
	o2_lst_cannot_run(report, rc);
	free(the);
	return NULL;
}

#define HOT_PAGES 66u /* most cases use no other pages */

/* Pages that few cases use are returned to the kernel instead of being zeroed. */
static void wipe(const struct o2_lnet_side *side)
{
	const size_t hot = (size_t)HOT_PAGES * side->arena.page_bytes;
	const size_t rest = (size_t)O2_LNET_SIDE_PAGES * side->arena.page_bytes - hot;

	memset(side->arena.memory, 0, hot);
	if (fallocate(side->arena.fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, (off_t)hot, (off_t)rest) !=
	    0)
		memset(side->arena.memory + hot, 0, rest);
}

/* Reset the case, and wipe the memory that an earlier case has used. */
static void begin_case(struct o2_lst_run *run, struct o2_choice *choice, struct o2_report *report)
{
	struct o2_lst_case *the = run->the_case;

	the->choice = choice;
	the->report = report;
	the->seen = run->tally.seen;
	the->run = run;
	the->lnet.wrong = NULL;
	the->account = (struct o2_lst_account){.sid = O2_LST_NO_SID};
	the->now_ms = 0;
	the->steps = the->nserved = 0;
	the->offers_one = false;
	the->server = NULL;
	the->replied = the->replies_unsent = 0;
	memset(&the->talk, 0, sizeof(the->talk));
	memset(the->operation, 0, sizeof(the->operation));
	memset(&the->held, 0, sizeof(the->held));
	wipe(&the->lnet.a);
	wipe(&the->lnet.b);
}

static void give_back(void *context)
{
	struct o2_lst_run *run = context;

	if (run->the_case != NULL)
		o2_lnet_pair_close(&run->the_case->lnet);
	free(run->the_case);
	run->the_case = NULL;
}

/* Close the LNets first: they may still report to the nodes and the console. */
static bool close_parts(struct o2_lst_case *the)
{
	struct o2_lst_node *const nodes[] = {the->a.node, the->b.node};
	int rc = o2_lnet_pair_renew(&the->lnet, NULL);

	o2_lst_node_destroy(nodes[0]);
	o2_lst_node_destroy(nodes[1]);
	the->a.node = the->b.node = NULL;
	o2_lst_talk_close(the);
	o2_lst_rpc_destroy(the->server);
	the->server = NULL;
	if (the->lnet.wrong != NULL && !the->report->failed)
		o2_report_fail(the->report, "lst/lnet", "%s", the->lnet.wrong);
	return rc == 0;
}

/* Returns true if nothing is left. */
static bool node_case(struct o2_lst_case *the)
{
	const int rc = open_nodes(the);
	bool ended;

	if (rc != 0)
		return o2_lst_cannot_run(the->report, rc);
	o2_lst_clock_to(the, 0);
	if (!the->report->failed)
		o2_draw_steps(the->choice, LABEL_STEP, STEPS, MORE, take_step, the);
	ended = come_to_an_end(the);
	o2_lst_bulk_put(&the->held);
	return ended;
}

static bool work_case(struct o2_lst_case *the)
{
	const int rc = o2_lst_work_case(the);

	return rc != 0 ? o2_lst_cannot_run(the->report, rc) : come_to_an_end(the);
}

static bool draw_case(struct o2_lst_case *the)
{
	static bool (*const kinds[])(struct o2_lst_case * the) = {
		node_case,	    o2_lst_talk_case,  work_case,	 o2_lst_vain_case,
		o2_lst_limits_case, o2_lst_short_case, o2_lst_stale_case};
	static const uint32_t weights[] = {8, 8, 4, 1, 1, 1, 1};

	return kinds[o2_draw_weighted(the->choice, weights, 7)](the);
}

static enum o2_status run_case(void *context, struct o2_choice *choice, struct o2_report *report)
{
	struct o2_lst_run *run = context;
	struct o2_lst_case *the;

	o2_report_clear(report);
	if (run->the_case == NULL)
		run->the_case = make_case(report);
	the = run->the_case;
	if (the == NULL)
		return O2_STATUS_INTERESTING;
	begin_case(run, choice, report);
	if (!draw_case(the)) {
		run->the_case = NULL; /* cannot be freed while something uses it */
	} else if (!close_parts(the)) {
		free(the);
		run->the_case = NULL;
	}
	return o2_tally_case(&run->tally, choice, report);
}

static void print(const void *context, uint32_t pieces, FILE *out)
{
	const struct o2_lst_run *run = context;

	(void)pieces;
	if (run->the_case != NULL)
		fprintf(out, "%s: %" PRIu32 " steps, %" PRIu64 " ms\n",
			run->the_case->talk.steps > 0 ? "a console, and a node that says what it likes"
						      : "a test node, and any console",
			run->the_case->steps + run->the_case->talk.steps,
			run->the_case->now_ms + run->the_case->talk.now_ms);
}

struct o2_property o2_lst_property(struct o2_lst_run *run)
{
	static const struct o2_property_ops ops = {
		O2_TALLY_HELD("lst",
			      "a test node of LNet selftest answers any console, and a console "
			      "believes no node, by accounts",
			      ": the node answers and the console reports as the accounts say, and nothing "
			      "is left"),
		.give_back = give_back};

	return o2_tally_property(&ops, run, situations, O2_LST_SITUATION_COUNT, 10000);
}
