/* SPDX-License-Identifier: MIT */
#include "props/judge/verdicts.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/monotonic.h"
#include "props/judge/fair.h"
#include "props/judge/scenes.h"
#include "props/scenario/draw.h"

/* The clock of a conversation begins here, and is set back by at least so much. */
#define CLOCK_NS      (UINT64_C(3600) * O2_NS_PER_S)
#define LEAST_BACK_NS (O2_JUDGE_DISORDER_MS * O2_NS_PER_MS + 1)

/* How much of a conversation the judge hears. */
enum hearing {
	FROM_THE_REQUEST,
	FROM_THE_TERMS,
	LATER,
	ONE_WAY,
	FIRST_ONE_WAY,
	HEARINGS,
};

/* Counted: each rule that was found; each whose boundary was reached without breaking it; and the rest below. */
enum situation {
	FOUND = 0,
	NEAR = O2_JUDGE_RULES, /* rules that have a scene: from message/wire on */
	HEARD = 2 * O2_JUDGE_RULES - O2_JUDGE_MESSAGE_WIRE,
	NOT_PROVEN = HEARD + HEARINGS,
	WITH_GAPS,
	CLOCK_BACK,
	CLOCK_RIGHT,
	CAME_AGAIN_WHOLE,
	CAME_AGAIN_IN_GAPS,
	WRITTEN_EARLY,
	SITUATIONS,
};
static_assert(SITUATIONS <= O2_TALLY_MAX, "they are counted");

#define NAME_BYTES 48u
static char names[SITUATIONS][NAME_BYTES];
static const char *situations[SITUATIONS];

static void name_situations(void)
{
	static const char *const others[] = {
		"heard_from_the_request", "heard_from_the_terms", "heard_later",
		"heard_one_way",	  "heard_one_way_first",  "not_proven",
		"heard_with_gaps",	  "clock_set_back",	  "clock_set_right",
		"came_again_whole",	  "came_again_in_gaps",	  "found_written_early"};

	for (uint32_t i = 0; i < SITUATIONS; i++) {
		if (i < HEARD)
			snprintf(names[i], NAME_BYTES, "%s_%s", i < NEAR ? "found" : "near",
				 o2_judge_rules[i < NEAR ? i : i - NEAR + O2_JUDGE_MESSAGE_WIRE].id);
		else
			snprintf(names[i], NAME_BYTES, "%s", others[i - HEARD]);
		for (char *c = names[i]; *c != '\0'; c++)
			if (*c == '/' || *c == '-')
				*c = '_';
		situations[i] = names[i];
	}
}

/* --- parameters of a conversation --- */

static uint64_t draw_id(struct o2_choice *c)
{
	const uint64_t id = o2_draw_bool(c, 1, 1) ? o2_draw_wild(c) : 0x000500000a000000u + o2_draw(c, 3);

	return id == 0 ? 1 : id;
}

static void draw_terms(struct o2_hearing *h)
{
	struct o2_choice *c = h->c;

	h->options.timeout_ms = o2_draw_bool(c, 1, 1) ? 40 + o2_draw(c, 60000) : 50000;
	h->options.keepalive_ms = o2_draw_bool(c, 1, 1) && h->options.timeout_ms == 50000
					  ? 1000
					  : o2_draw(c, h->options.timeout_ms / 8);
	h->options.lossy = o2_draw_bool(c, 2, 1);
	h->options.seed = O2_JUDGE_DEFAULTS.seed;
	h->version = o2_draw_bool(c, 3, 1) ? O2_MSG_VERSION_1 : O2_MSG_VERSION_2;
	h->depth = 2 + (uint32_t)(o2_draw_bool(c, 3, 1) ? o2_draw(c, 253) : o2_draw(c, 14));
	if (h->version == O2_MSG_VERSION_1)
		h->depth = 8;
	h->max_frags = 1 + (uint32_t)(o2_draw_bool(c, 3, 1) ? o2_draw(c, 255) : o2_draw(c, 7));
	for (int side = O2_JUDGE_A; side < O2_JUDGE_SIDES; side++) {
		h->end[side].nid = draw_id(c);
		h->end[side].stamp = draw_id(c);
		h->end[side].max_msg_bytes = 148 + (uint32_t)o2_draw(c, 4096 - 148);
	}
	h->next_addr = 4096 + (o2_draw(c, UINT32_MAX) << 12);
	h->next_key = (uint32_t)o2_draw(c, UINT16_MAX);
	h->one_key = o2_draw_bool(c, 1, 1);
}

/* Send a request for at least the terms that the reply grants, and the reply. */
static void come_to_terms(struct o2_hearing *h)
{
	struct o2_msg msg = o2_hearing_header(h, O2_JUDGE_A, O2_MSG_CONNREQ);

	msg.ibm_dststamp = 0;
	msg.u.connparams.ibcp_queue_depth = (uint16_t)h->depth;
	msg.u.connparams.ibcp_max_frags = (uint16_t)(h->max_frags + o2_draw(h->c, 3));
	msg.u.connparams.ibcp_max_msg_size = h->end[O2_JUDGE_A].max_msg_bytes;
	o2_hearing_tell(h,
			(struct o2_judge_event){.kind = O2_JUDGE_REQUEST, .from = O2_JUDGE_A, .msg = &msg});
	msg = o2_hearing_header(h, O2_JUDGE_B, O2_MSG_CONNACK);
	msg.u.connparams.ibcp_queue_depth = (uint16_t)h->depth;
	msg.u.connparams.ibcp_max_frags = (uint16_t)h->max_frags;
	msg.u.connparams.ibcp_max_msg_size = h->end[O2_JUDGE_B].max_msg_bytes;
	o2_hearing_tell(h, (struct o2_judge_event){.kind = O2_JUDGE_REPLY, .from = O2_JUDGE_B, .msg = &msg});
	h->knows_terms = true;
}

static void agree(struct o2_hearing *h)
{
	const struct o2_judge_terms terms = {
		.nid = {h->end[0].nid, h->end[1].nid},
		.stamp = {h->end[0].stamp, h->end[1].stamp},
		.version = h->version,
		.queue_depth = h->depth,
		.max_frags = h->max_frags,
		.max_msg_bytes = {h->end[0].max_msg_bytes, h->end[1].max_msg_bytes},
	};

	o2_judge_agreed(h->conn, &terms);
	h->knows_terms = true;
}

/* The judge hears one side first; then the other side as well. */
static void first_one_way(struct o2_hearing *h)
{
	const uint32_t most = h->depth < 6 ? h->depth - 2 : 4;
	struct o2_msg msg;

	for (uint64_t i = o2_draw(h->c, most); i > 0; i--) {
		if (o2_draw_bool(h->c, 1, 1)) {
			o2_fair_begin(h, h->heard_side, o2_draw_bool(h->c, 1, 1));
			continue;
		}
		msg = o2_fair_immediate(h, h->heard_side, 1);
		o2_hearing_message(h, h->heard_side, &msg);
	}
	o2_hearing_check_view(h);
	o2_judge_both_ways(h->conn);
	h->one_way = false;
	for (int side = O2_JUDGE_A; side < O2_JUDGE_SIDES; side++)
		h->end[side].least = h->end[side].most = h->end[side].balance;
}

static bool begin(struct o2_hearing *h, enum hearing how)
{
	if (!o2_hearing_open(h, how <= FROM_THE_TERMS ? O2_JUDGE_WHOLE
				: how == LATER	      ? O2_JUDGE_LATER
						      : O2_JUDGE_ONE_WAY))
		return false;
	h->heard_side = (enum o2_judge_side)o2_draw(h->c, 1);
	if (how == FROM_THE_REQUEST)
		come_to_terms(h);
	else if (how == FROM_THE_TERMS || o2_draw_bool(h->c, 1, 1))
		agree(h);
	for (int side = O2_JUDGE_A; side < O2_JUDGE_SIDES; side++) {
		h->writes_unseen[side] = how == FROM_THE_TERMS && o2_draw_bool(h->c, 7, 1);
		if (h->writes_unseen[side])
			o2_judge_writes_unseen(h->conn, (enum o2_judge_side)side);
	}
	if (how == LATER || how == ONE_WAY) {
		h->deaf = true;
		o2_fair_steps(h, (uint32_t)o2_draw(h->c, 40));
		o2_hearing_listen(h);
	} else if (how == FIRST_ONE_WAY) {
		first_one_way(h);
	}
	return true;
}

/* --- the case --- */

static const struct o2_scene *draw_scene(struct o2_choice *c)
{
	static const struct {
		const struct o2_scene *scene;
		uint32_t count;
	} kinds[] = {
		{o2_scenes_message, O2_SCENES_MESSAGE},	  {o2_scenes_credits, O2_SCENES_CREDITS},
		{o2_scenes_transfer, O2_SCENES_TRANSFER}, {o2_scenes_write, O2_SCENES_WRITE},
		{o2_scenes_payload, O2_SCENES_PAYLOAD},	  {o2_scenes_again, O2_SCENES_AGAIN},
	};
	uint64_t i = o2_draw(c, O2_SCENES_MESSAGE + O2_SCENES_CREDITS + O2_SCENES_TRANSFER + O2_SCENES_WRITE +
					O2_SCENES_PAYLOAD + O2_SCENES_AGAIN - 1);
	uint32_t kind = 0;

	for (; i >= kinds[kind].count; kind++)
		i -= kinds[kind].count;
	return &kinds[kind].scene[i];
}

static void run_scenes(struct o2_hearing *h, struct o2_tally *tally, bool honest)
{
	struct o2_choice *choice = h->c;

	for (uint64_t scenes = o2_draw(choice, 2); scenes > 0 && !h->over; scenes--) {
		const struct o2_scene *scene = draw_scene(choice);
		const bool broken = !honest && o2_draw_bool(choice, 1, 1);

		h->scene = o2_judge_rules[scene->rule].id;
		scene->play(h, broken);
		tally->seen[NEAR + scene->rule - O2_JUDGE_MESSAGE_WIRE] += !broken;
		if (!h->over)
			o2_fair_steps(h, (uint32_t)o2_draw(choice, 20));
		if (!h->over && !h->report->failed)
			o2_hearing_check_view(h);
	}
}

/* Play the scenes of lost and refused packets, and let the conversation continue. */
static void run_below(struct o2_hearing *h)
{
	for (uint32_t i = 0; i < O2_SCENES_MESSAGE; i++) {
		const enum o2_judge_rule_id rule = o2_scenes_message[i].rule;

		if ((rule != O2_JUDGE_TRANSPORT_LOST && rule != O2_JUDGE_TRANSPORT_NAK) ||
		    !o2_draw_bool(h->c, 1, 2))
			continue;
		o2_scenes_message[i].play(h, true);
		o2_fair_steps(h, (uint32_t)o2_draw(h->c, 20));
	}
}

/* One side disconnects; perhaps a transfer is open then, or a message follows. */
static void run_end(struct o2_hearing *h)
{
	const bool open = o2_draw_bool(h->c, 1, 1), broken = o2_draw_bool(h->c, 1, 1);
	const enum o2_judge_rule_id rule = open ? O2_JUDGE_END_OPEN : O2_JUDGE_END_MESSAGE;

	h->scene = o2_judge_rules[rule].id;
	for (uint32_t i = 0; i < O2_SCENES_MESSAGE; i++)
		if (o2_scenes_message[i].rule == rule)
			o2_scenes_message[i].play(h, broken);
}

static void count_into(struct o2_tally *tally, struct o2_hearing *h)
{
	h->found_of = tally->seen;
	h->unproven = &tally->seen[NOT_PROVEN];
	h->early = &tally->seen[WRITTEN_EARLY];
}

void o2_verdicts_tell(struct o2_hearing *h, struct o2_tally *tally)
{
	count_into(tally, h);
	h->scene = "none";
	draw_terms(h);
	h->options.lossy = true;
	for (int side = O2_JUDGE_A; side < O2_JUDGE_SIDES; side++)
		h->end[side].nid = UINT64_C(0x000500000a000001) + (uint64_t)side + (o2_draw(h->c, 255) << 8);
	if (o2_draw_bool(h->c, 3, 1)) {
		if (o2_hearing_open(h, O2_JUDGE_WHOLE)) {
			o2_scene_refused(h);
			o2_hearing_close(h);
		}
		return;
	}
	if (!begin(h, FROM_THE_REQUEST))
		return;
	o2_fair_steps(h, (uint32_t)o2_draw(h->c, 40));
	if (o2_draw_bool(h->c, 1, 1))
		run_below(h);
	run_scenes(h, tally, false);
	if (!h->over && !h->report->failed && o2_draw_bool(h->c, 1, 1))
		run_end(h);
	o2_hearing_close(h);
}

/* The clock of the judge's events is set back, by more than events come out of order. */
static void set_clock_back(struct o2_hearing *h, struct o2_tally *tally)
{
	const uint64_t most_ns = o2_draw_bool(h->c, 1, 1) ? h->clock_ns / 2 : O2_NS_PER_S;
	const uint64_t ns = LEAST_BACK_NS + o2_draw(h->c, most_ns);

	/* The time between the last event heard and the next one is hidden, so none may have passed. */
	if (h->deaf || h->heard == 0 || h->now_ns != h->heard_ns)
		return;
	tally->seen[CLOCK_BACK]++;
	h->clock_ns -= ns;
	h->heard_clock_ns = h->clock_ns + h->now_ns;
	h->behind_ns += ns;
	o2_hearing_forget_quiet(h);
	o2_judge_silent(h->judge, h->conn, h->number, h->clock_ns + h->now_ns);
}

/* It is set to where it was, or to a little less, and then perhaps time passes. */
static void set_clock_right(struct o2_hearing *h, struct o2_tally *tally)
{
	if (h->behind_ns == 0 || h->now_ns != h->heard_ns)
		return;
	tally->seen[CLOCK_RIGHT]++;
	h->clock_ns += h->behind_ns - o2_draw(h->c, LEAST_BACK_NS - 1);
	o2_hearing_pass_ns(h, o2_draw_bool(h->c, 1, 1) ? h->options.timeout_ms * O2_NS_PER_MS : 0);
}

static void run_bounds(struct o2_hearing *h)
{
	if (h->over || h->report->failed || !o2_choice_ok(h->c))
		return;
	if (o2_draw_bool(h->c, 31, 1))
		o2_scene_no_memory(h);
	else if (o2_draw_bool(h->c, 63, 1))
		o2_scene_wide(h);
	else if (o2_draw_bool(h->c, 999, 1))
		o2_scene_many(h);
}

/* Let another judge hear the conversation with gaps. */
static void hear_with_gaps(struct o2_verdicts_run *run, struct o2_hearing *h)
{
	run->tally.seen[WITH_GAPS]++;
	run->gaps = (struct o2_gaps){.h = h};
	o2_gaps_draw(&run->gaps);
	h->tap = o2_gaps_hear;
	h->tap_context = &run->gaps;
}

static enum o2_status run_case(void *context, struct o2_choice *choice, struct o2_report *report)
{
	struct o2_verdicts_run *run = context;
	struct o2_hearing *h = &run->hearing;
	const bool connects = o2_draw_bool(choice, 7, 1);
	bool gaps = false;
	enum hearing how;

	o2_report_clear(report);
	memset(h, 0, sizeof(*h));
	h->tap_context = &run->ends;
	h->c = choice;
	h->report = report;
	h->fail_allocation = run->fail_allocation;
	h->allocation_failed = run->allocation_failed;
	count_into(&run->tally, h);
	h->scene = connects ? "coming to terms" : "none";
	run->tally.cases++;
	h->clock_ns = CLOCK_NS;
	memset(&run->ends, 0, sizeof(run->ends));
	run->ends.h = h;
	draw_terms(h);
	if (connects) {
		h->tap = o2_ends_hear;
		if (!o2_hearing_open(h, O2_JUDGE_WHOLE))
			return O2_STATUS_INVALID;
		o2_scene_connect(h);
	} else {
		how = (enum hearing)o2_draw(choice, HEARINGS - 1);
		run->tally.seen[HEARD + how]++;
		gaps = how == FROM_THE_REQUEST && o2_draw_bool(choice, 1, 1);
		if (gaps)
			hear_with_gaps(run, h);
		else if (how == FROM_THE_REQUEST)
			h->tap = o2_ends_hear;
		if (!begin(h, how))
			return O2_STATUS_INVALID;
		o2_fair_steps(h, (uint32_t)o2_draw(choice, 40));
		/* With gaps, the last event that was heard may be long ago. */
		for (int times = 0; times < 2 && !gaps && o2_draw_bool(choice, 7 - 4 * times, 1); times++)
			set_clock_back(h, &run->tally);
		if (h->behind_ns != 0 && o2_draw_bool(choice, 1, 1)) {
			o2_fair_steps(h, (uint32_t)o2_draw(choice, 10));
			set_clock_right(h, &run->tally);
		}
		if (!report->failed)
			o2_hearing_check_view(h);
		run_scenes(h, &run->tally, gaps);
		if (!gaps)
			run_bounds(h);
	}
	o2_ends_close(&run->ends);
	o2_gaps_close(&run->gaps);
	if (gaps) {
		run->tally.seen[CAME_AGAIN_WHOLE] += run->gaps.came_whole;
		run->tally.seen[CAME_AGAIN_IN_GAPS] += run->gaps.came_in_gaps;
	}
	o2_hearing_close(h);
	return o2_choice_status(choice, report->failed ? O2_STATUS_INTERESTING : O2_STATUS_VALID);
}

static void print(const void *context, uint32_t pieces, FILE *out)
{
	const struct o2_verdicts_run *run = context;
	const struct o2_hearing *h = &run->hearing;

	(void)pieces;
	fprintf(out,
		"a conversation of %" PRIu64 " events: version 0x%x, depth %" PRIu32 ", %" PRIu32
		" fragments, messages of %" PRIu32 " and %" PRIu32 " bytes\n",
		h->number, h->version, h->depth, h->max_frags, h->end[0].max_msg_bytes,
		h->end[1].max_msg_bytes);
	fprintf(out, "%s, time-out %" PRIu64 " ms, keep-alive %" PRIu64 " ms%s\n",
		h->one_way ? "one way"
		: h->whole ? "all of it"
			   : "from some time on",
		h->options.timeout_ms, h->options.keepalive_ms, h->options.lossy ? ", with losses" : "");
}

struct o2_property o2_verdicts_property(struct o2_verdicts_run *run)
{
	static const struct o2_property_ops ops = {
		O2_TALLY_HELD(
			"verdicts",
			"the judge finds in a conversation what goes one step too far, and nothing else",
			": the judge has found what was foretold"),
	};

	name_situations();
	return o2_tally_property(&ops, run, situations, SITUATIONS, 10000);
}
