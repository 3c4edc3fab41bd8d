/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "props/lst/lst_internal.h"

/* A case of a console and the liar: steps, and the end. */

#define LABEL_STEP  2u
#define STEPS	    200u
#define MORE	    250u
#define LANE_PAGE   16u
#define RPC_PAGE    560u
#define ENTRY_PAGE  2u
#define BRIEF_BYTES 100u
#define BEHIND	    0x5au /* fill byte of the page after the console's */
#define QUERY_MS    200u
#define LATER_MS    100000u /* longer than an RPC waits */
#define ROUNDS	    12u	    /* rounds of LATER_MS: by then a console must have ended */

static bool told_done(void *listener, const struct o2_lnet_result *result)
{
	struct o2_lst_talk *talk = listener;

	talk->nsent += result->status == 0;
	talk->nerrors += result->status != 0 && result->status != -ECANCELED;
	return o2_lst_rpc_done(talk->rpc, result);
}

static bool told_event(void *listener, const struct o2_lnet_event *event)
{
	struct o2_lst_talk *talk = listener;

	talk->nerrors += event->kind != O2_LNET_EVENT_DROPPED && event->status != 0;
	return o2_lst_rpc_event(talk->rpc, event);
}

static bool liar_done(void *listener, const struct o2_lnet_result *result)
{
	((struct o2_lst_talk *)listener)->slot[result->tag].busy = false;
	return true;
}

/* Its events need no handling: the model accounts for deliveries. */
static bool liar_event(void *listener, const struct o2_lnet_event *event)
{
	(void)listener;
	(void)event;
	return true;
}

static void note_began(void *context, uint32_t lane)
{
	struct o2_lst_talk *talk = context;

	o2_talk_check_begin(talk);
	talk->begun[talk->nbegun++] = lane;
	talk->number[lane] = talk->nnumbers++;
}

static void note_ended(void *context, const struct o2_lst_console_result *result)
{
	o2_talk_ended(context, result);
}

/* --- beginning --- */

/* The count of a test that the node runs: endless, small, or at a limit of the node's or the console's counter. */
static uint64_t draw_count(struct o2_lst_talk *talk)
{
	const uint64_t most = (uint64_t)INT32_MAX * talk->config.concurrency;

	switch (o2_talk_draw(talk, 5)) {
	case 0:
	case 1:
		return 0;
	case 2:
		return most - talk->config.concurrency + o2_talk_draw(talk, 2 * O2_TALK_LANES);
	case 3:
		return UINT64_MAX - o2_talk_draw(talk, O2_TALK_LANES);
	default:
		return talk->config.count;
	}
}

static void draw_config(struct o2_lst_talk *talk)
{
	static const uint32_t lengths[] = {8, 16, 2048, 3976, 3984, 4096, 4104, 8000, 16384};
	struct o2_lst_test test = {.service = O2_LST_SERVICE_BRW, .features = O2_LST_FEATS_MASK};
	uint32_t tail;

	if (o2_draw_bool(talk->choice, 3, 1))
		test.service = O2_LST_SERVICE_PING;
	test.rw = 1 + o2_talk_draw(talk, 1);
	test.check = 1 + o2_talk_draw(talk, 3);
	test.len = lengths[o2_talk_draw(talk, 8)];
	tail = test.len % O2_LST_PAGE_BYTES;
	if (tail != 0)
		test.offset = o2_talk_draw(talk, (O2_LST_PAGE_BYTES - tail) / 8) * 8;
	test.every_word = o2_draw_bool(talk->choice, 3, 1);
	talk->config = (struct o2_lst_console_config){.nid = O2_LNET_NID_B,
						      .sid = {O2_LNET_NID_A, 17},
						      .name = {"talk"},
						      .batch = 1,
						      .test = test,
						      .first_page = LANE_PAGE,
						      .mode = O2_REG_GLOBAL};
	talk->config.force = o2_draw_bool(talk->choice, 1, 1);
	talk->config.before = o2_draw_bool(talk->choice, 1, 1);
	talk->config.concurrency = 1 + o2_talk_draw(talk, O2_TALK_LANES - 1);
	talk->config.count = 1 + o2_talk_draw(talk, 11);
	if (o2_draw_bool(talk->choice, 3, 1))
		talk->config.duration_ms = 1 + o2_talk_draw(talk, 20000);
	talk->config.reverse = o2_draw_bool(talk->choice, 2, 1);
	if (talk->config.reverse)
		talk->config.count = draw_count(talk);
	talk->order = o2_draw_bool(talk->choice, 2, 1) ? O2_BIG_ENDIAN : O2_LITTLE_ENDIAN;
	talk->ours = o2_draw_bool(talk->choice, 3, 1) ? O2_BIG_ENDIAN : O2_LITTLE_ENDIAN;
}

/* Attach entries that take every request; the liar answers them later. */
static int attach(struct o2_lst_talk *talk)
{
	static struct o2_kiov kiov[2] = {{ENTRY_PAGE, 0, O2_LST_PAGE_BYTES},
					 {ENTRY_PAGE + 1, 0, O2_LST_PAGE_BYTES}};
	int rc = 0;

	for (uint32_t i = 0; i < 2 && rc >= 0; i++) {
		const struct o2_lnet_entry entry = {
			.portal = O2_LST_PORTAL_TEST + i,
			.ignore_bits = UINT64_MAX,
			O2_LNET_FOR_ANYBODY,
			.options = O2_LNET_MD_OP_PUT | O2_LNET_MD_MANAGE_REMOTE,
			.memory = {.buffer = {.kind = O2_KIOV,
					      .count = 1,
					      .nob = O2_LST_PAGE_BYTES,
					      .kiov = &kiov[i]},
				   .mode = O2_REG_GLOBAL},
		};

		rc = o2_lnet_attach(talk->b->lnet, &entry, NULL);
	}
	return rc < 0 ? rc : 0;
}

/* The page after the console's own; NULL: it has none. */
static uint8_t *page_behind(const struct o2_lst_talk *talk)
{
	const struct o2_lst_test *test = &talk->config.test;
	const uint32_t pages = (test->offset + test->len + O2_LST_PAGE_BYTES - 1) / O2_LST_PAGE_BYTES;

	if (talk->config.reverse || test->service != O2_LST_SERVICE_BRW)
		return NULL;
	return o2_arena_page(&talk->a->arena, LANE_PAGE + talk->config.concurrency * pages);
}

static void check_behind(struct o2_lst_talk *talk)
{
	const uint8_t *page = page_behind(talk);

	for (uint32_t i = 0; page != NULL && i < O2_LST_PAGE_BYTES && !talk->report->failed; i++)
		if (page[i] != BEHIND)
			o2_report_fail(talk->report, "lst/console-behind",
				       "byte %" PRIu32 " behind the console's pages is written", i);
}

int o2_lst_talk_open(struct o2_lst_talk *talk)
{
	static const struct o2_lst_console_ops ops = {note_began, note_ended};
	struct o2_lst_rpc_config config = O2_LST_RPC_DEFAULTS;
	struct o2_lnet_side *a = talk->a, *b = talk->b;
	int rc;

	if (page_behind(talk) != NULL)
		memset(page_behind(talk), BEHIND, O2_LST_PAGE_BYTES);
	config.first_page = RPC_PAGE;
	config.max_calls = o2_lst_console_calls(&talk->config);
	config.max_served = 1;
	config.order = talk->ours;
	/* Numbers that wrap around: 0 is never used. */
	if (o2_draw_bool(talk->choice, 3, 1))
		config.first_id = UINT64_MAX - o2_talk_draw(talk, 5);
	talk->first_id = config.first_id;
	rc = o2_lst_rpc_create(&config, a->lnet, &a->arena, &a->clock, &talk->rpc, NULL);
	if (rc == 0)
		rc = o2_lst_console_create(&talk->config, talk->rpc, &a->arena, &a->clock, &ops, talk,
					   &talk->console, NULL);
	if (rc == 0)
		rc = attach(talk);
	/* A node that sends every message by RDMA. */
	if (o2_draw_bool(talk->choice, 7, 1))
		b->immediate_max = BRIEF_BYTES;
	a->listener = b->listener = talk;
	a->listen_done = told_done;
	a->listen_event = told_event;
	b->listen_done = liar_done;
	b->listen_event = liar_event;
	return rc;
}

/* --- steps --- */

static void clock_to(struct o2_lst_talk *talk, uint64_t now_ms)
{
	talk->now_ms = now_ms;
	o2_talk_clock(talk);
	o2_lnet_side_clock(talk->a, now_ms);
	o2_lnet_side_clock(talk->b, now_ms);
	o2_lst_rpc_check_time(talk->rpc);
	o2_lst_console_check_time(talk->console);
	o2_talk_enter(talk);
	o2_talk_check_alive(talk);
	o2_talk_check_batch(talk);
}

/* A moment at which something is due, or just before it; or any. */
static uint64_t draw_moment(struct o2_lst_talk *talk)
{
	const uint32_t which = o2_talk_draw(talk, O2_TALK_ASKED);
	uint64_t due = 0;

	if (o2_draw_bool(talk->choice, 1, 1) && which < talk->nasked)
		due = talk->asked[which].asked_ms + O2_TALK_TIMEOUT_MS;
	else if (o2_draw_bool(talk->choice, 1, 1))
		due = o2_talk_framework_ms(talk, talk->nasked) + (uint64_t)talk->session_timeout_s * 500;
	else if (talk->config.reverse && o2_draw_bool(talk->choice, 1, 1))
		due = talk->heard_ms + QUERY_MS;
	else if (talk->config.duration_ms != 0)
		due = o2_lst_console_report(talk->console)->started_ms + talk->config.duration_ms;
	due -= o2_talk_draw(talk, 1);
	if (due > talk->now_ms && due - talk->now_ms <= 70000)
		return due;
	return talk->now_ms + o2_talk_draw(talk, o2_draw_bool(talk->choice, 2, 1) ? 70000 : 3000);
}

/* The connection to the liar, or to another node, goes down; letters in flight are still delivered. */
static void lose_peer(struct o2_lst_talk *talk)
{
	const bool ours = o2_draw_bool(talk->choice, 1, 3);

	if (ours)
		o2_talk_is_down(talk, -ECONNRESET);
	o2_lst_rpc_peer_down(talk->rpc, ours ? O2_LNET_NID_B : O2_LNET_NID_A, -ECONNRESET);
}

static bool take_step(void *context)
{
	struct o2_lst_talk *talk = context;
	/* Stop rarely while a test runs, because a stop hides what follows. */
	const bool early = o2_lst_console_report(talk->console)->step == O2_LST_STEP_BEFORE;
	const uint32_t weights[] = {240, 160, 12, early ? 8 : talk->config.reverse ? 3 : 1, 1};
	bool waits;

	if (talk->nasked >= O2_TALK_ASKED - O2_TALK_LANES - 1)
		return false;
	talk->steps++;
	switch (o2_draw_weighted(talk->choice, weights, 5)) {
	case 0:
		o2_talk_deliver_one(talk);
		break;
	case 1:
		o2_talk_lie(talk);
		break;
	case 2:
		o2_talk_shut(talk, o2_draw_bool(talk->choice, 15, 1));
		clock_to(talk, draw_moment(talk));
		o2_talk_shut(talk, false);
		break;
	case 3:
		waits = o2_draw_bool(talk->choice, 1, 1);
		if (!waits)
			o2_talk_cancel(talk);
		talk->stopped = true;
		o2_lst_console_stop(talk->console, !waits);
		/* Another stop, which would wait, takes nothing back. */
		if (o2_draw_bool(talk->choice, 1, 1))
			o2_lst_console_stop(talk->console, false);
		o2_talk_enter(talk);
		o2_talk_check_batch(talk);
		break;
	default:
		lose_peer(talk);
		break;
	}
	o2_talk_enter(talk);
	o2_talk_listen(talk);
	for (int i = 0; i < 2; i++) {
		const struct o2_lnet_side *side = i == 0 ? talk->a : talk->b;

		if (side->wrong != NULL)
			o2_report_fail(talk->report, "lst/lnet", "side %c: %s", "AB"[i], side -> wrong);
	}
	return !talk->report->failed;
}

/* --- the end --- */

static void deliver_all(struct o2_lst_talk *talk)
{
	while (talk->a->nletters + talk->b->nletters > 0) {
		o2_talk_deliver(talk, talk->a->nletters > 0 ? talk->a : talk->b, O2_TALK_DELIVERED);
		o2_talk_enter(talk);
		o2_talk_listen(talk);
	}
}

/* The node is silent from now on: the console must end by itself.  Returns true if nothing is left. */
static bool come_to_an_end(struct o2_lst_talk *talk)
{
	uint32_t active;

	deliver_all(talk);
	for (uint32_t i = 0; i < ROUNDS && !o2_lst_console_is_over(talk->console); i++) {
		clock_to(talk, talk->now_ms + LATER_MS);
		deliver_all(talk);
	}
	check_behind(talk);
	if (o2_lst_console_is_over(talk->console))
		o2_talk_check_report(talk);
	else
		o2_report_fail(talk->report, "lst/console-over", "the console is not over, at step '%s'",
			       o2_lst_console_step_name(o2_lst_console_report(talk->console)->step));
	o2_lst_rpc_stop(talk->rpc, -ESHUTDOWN);
	deliver_all(talk);
	clock_to(talk, talk->now_ms + LATER_MS);
	deliver_all(talk);
	active = o2_lst_rpc_active(talk->rpc) + o2_lnet_messages(talk->a->lnet);
	if (active == 0)
		return true;
	o2_report_fail(talk->report, "lst/console-left", "%" PRIu32 " calls and messages are left", active);
	return false;
}

void o2_lst_talk_begin(struct o2_lst_case *the)
{
	the->talk = (struct o2_lst_talk){.choice = the->choice,
					 .report = the->report,
					 .seen = the->seen,
					 .a = &the->lnet.a,
					 .b = &the->lnet.b};
	draw_config(&the->talk);
}

bool o2_lst_talk_case(struct o2_lst_case *the)
{
	struct o2_lst_talk *talk = &the->talk;
	int rc;

	o2_lst_talk_begin(the);
	rc = o2_lst_talk_open(talk);
	if (rc != 0)
		return o2_lst_cannot_run(talk->report, rc);
	o2_talk_shut(talk, o2_draw_bool(talk->choice, 30, 1));
	o2_lst_console_start(talk->console);
	o2_talk_enter(talk);
	o2_talk_shut(talk, false);
	if (!talk->report->failed)
		o2_draw_steps(talk->choice, LABEL_STEP, STEPS, MORE, take_step, talk);
	return come_to_an_end(talk);
}

void o2_lst_talk_close(struct o2_lst_case *the)
{
	o2_lst_console_destroy(the->talk.console);
	o2_lst_rpc_destroy(the->talk.rpc);
	the->talk.console = NULL;
	the->talk.rpc = NULL;
}
