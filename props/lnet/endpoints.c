/* SPDX-License-Identifier: MIT */
#include "props/lnet/endpoints.h"

#include <errno.h>
#include <inttypes.h>

#include "props/lnet/endpoints_internal.h"

#define LABEL_STEP   1u
#define MORE	     47u /* weight of another step */
#define MAX_STEPS    300u
#define ENOUGH_CASES 12000u
#define ENOUGH_THERE 1500u /* on real devices */
#define HOUR_MS	     3600000u
#define MANY	     200u

static const char *const situations[O2_ENDPOINTS_SITUATIONS] = {
	O2_ENDPOINTS_SITUATION_LIST(O2_SITUATION_NAME)};

enum step {
	STEP_PROGRESS,
	STEP_DELIVER,
	STEP_START,
	STEP_CLOCK,
	STEP_SETTLE,
	STEP_ATTACH,
	STEP_DETACH,
	STEP_CANCEL,
	STEP_IDLE,
	STEP_BURST,
	STEP_WRONG,
	STEP_TRAP,
	STEP_LEAVE,
	STEP_RETURN,
	STEP_KILL,
	STEP_CLOSE,
	STEP_HOURS,
	STEPS,
};

/* Start as many operations as may be in flight, to one endpoint or to all. */
static void burst(struct o2_endpoints *endpoints, struct o2_endpoints_seat *seat)
{
	const bool all = o2_draw_bool(endpoints->choice, 1, 1);
	uint32_t to = seat->index;

	o2_endpoints_settle(endpoints);
	for (uint32_t n = o2_endpoints_most(endpoints); n > 0 && !endpoints->report->failed && seat->open;
	     n--) {
		if (to == seat->index || all)
			to = (seat->index + 1 + n % (endpoints->nseats - 1)) % endpoints->nseats;
		o2_endpoints_start(endpoints, seat, to);
	}
	if (seat->open && o2_lnet_messages(seat->endpoint.lnet) >= MANY)
		o2_endpoints_seen(endpoints, O2_ENDPOINTS_SEEN_MANY);
}

static void deliver_some(struct o2_endpoints *endpoints)
{
	endpoints->ground.ops->deliver(&endpoints->ground);
	o2_endpoints_wake(endpoints);
}

/* The steps that cause no failures. */
static void run_quiet_step(struct o2_endpoints *endpoints, enum step step, struct o2_endpoints_seat *seat,
			   uint32_t to)
{
	struct o2_choice *c = endpoints->choice;

	if (step == STEP_DELIVER)
		deliver_some(endpoints);
	else if (step == STEP_CLOCK)
		o2_endpoints_clock(endpoints, o2_draw(c, 250));
	else if (step == STEP_SETTLE)
		o2_endpoints_settle(endpoints);
	else if (step == STEP_IDLE)
		o2_endpoints_idle(endpoints, HOUR_MS * o2_draw_range(c, 1, 24));
	else if (!seat->open)
		return;
	else if (step == STEP_PROGRESS)
		o2_endpoints_look(seat);
	else if (step == STEP_ATTACH)
		o2_endpoints_attach(seat);
	else if (step == STEP_DETACH)
		o2_endpoints_detach(seat);
	else if (step == STEP_CANCEL)
		o2_endpoints_cancel(seat);
	else if (step == STEP_BURST)
		burst(endpoints, seat);
	else if (step == STEP_WRONG)
		o2_endpoints_answer_wrongly(seat);
	else
		for (uint32_t more = 1 + (uint32_t)o2_draw(c, 3); more > 0 && !endpoints->report->failed;
		     more--)
			o2_endpoints_start(endpoints, seat, to);
}

/* True if an operation is under way. */
static bool is_busy(const struct o2_endpoints *endpoints)
{
	for (uint32_t i = 0; i < endpoints->nseats; i++)
		for (uint32_t k = 0; k < endpoints->seat[i].nops; k++)
			if (endpoints->seat[i].op[k].started && endpoints->seat[i].op[k].ended == 0)
				return true;
	return false;
}

static bool run_step(void *context)
{
	static const uint32_t weights[2][STEPS] = {
		{60, 20, 30, 4, 6, 3, 3, 6, 2, 1, 3},
		{60, 20, 30, 4, 6, 3, 3, 6, 2, 1, 3, 12, 2, 3, 2, 2, 1},
	};
	struct o2_endpoints *endpoints = context;
	struct o2_choice *c = endpoints->choice;
	enum step step = (enum step)o2_draw_weighted(c, weights[endpoints->trouble], STEPS);
	struct o2_endpoints_seat *seat = &endpoints->seat[o2_draw_pick(c, endpoints->nseats)];
	uint32_t to =
		(seat->index + 1 + (uint32_t)o2_draw_pick(c, endpoints->nseats - 1)) % endpoints->nseats;

	switch (step) {
	case STEP_TRAP:
		o2_endpoints_set_trap(endpoints, seat->index, o2_draw_bool(c, 1, 1) ? to : seat->index);
		break;
	case STEP_LEAVE:
		o2_endpoints_leave(seat);
		break;
	case STEP_RETURN:
		o2_endpoints_return(seat);
		break;
	case STEP_KILL:
		if (!o2_draw_bool(c, 1, 1) || !o2_endpoints_fail_arm(seat, to))
			o2_endpoints_kill(seat, to);
		break;
	case STEP_CLOSE:
		o2_endpoints_close_peer(seat, to, o2_draw_bool(c, 1, 1) ? -ECONNRESET : 0);
		break;
	case STEP_HOURS:
		if (is_busy(endpoints))
			o2_endpoints_seen(endpoints, O2_ENDPOINTS_SEEN_HOURS_BUSY);
		o2_endpoints_clock(endpoints, HOUR_MS * o2_draw_range(c, 1, 24));
		break;
	default:
		run_quiet_step(endpoints, step, seat, to);
		break;
	}
	o2_endpoints_spring(endpoints);
	return !endpoints->report->failed;
}

static enum o2_status run_case(void *context, struct o2_choice *choice, struct o2_report *report)
{
	struct o2_endpoints_run *run = context;

	run->endpoints = o2_tally_place(run->endpoints, sizeof(*run->endpoints), "endpoint/memory", report);
	if (run->endpoints == NULL)
		return O2_STATUS_INTERESTING;
	run->endpoints->run = run;
	run->endpoints->choice = choice;
	run->endpoints->report = report;
	o2_endpoints_open(run->endpoints);
	if (!report->failed)
		o2_draw_steps(choice, LABEL_STEP, MAX_STEPS, MORE, run_step, run->endpoints);
	if (!report->failed)
		o2_endpoints_settle(run->endpoints);
	if (!report->failed && o2_draw_bool(choice, 127, 1))
		o2_endpoints_ping_on(run->endpoints);
	if (!report->failed)
		o2_endpoints_stray(run->endpoints);
	o2_endpoints_close(run->endpoints);
	return o2_tally_case(&run->tally, choice, report);
}

static void give_back(void *context)
{
	const struct o2_endpoints_run *run = context;

	if (run->endpoints != NULL)
		o2_arenas_end(&run->endpoints->arenas);
}

static void print_op(const struct o2_endpoints_op *op, FILE *out)
{
	static const char *const kinds[O2_ENDPOINTS_KINDS] = {"PUT", "GET", "ping", "push"};
	static const char *const there[] = {"not seen", "taken", "dropped"};

	fprintf(out,
		"    %s of %" PRIu32 " bytes at portal %" PRIu32 ", match bits 0x%" PRIx64 ", offset %" PRIu64
		" of endpoint %" PRIu32 "%s%s: %s there, ended %" PRIu32 " times, status %d, %" PRIu64
		" bytes\n",
		kinds[op->kind], op->bytes, op->portal, op->match_bits, op->offset, op->to,
		op->ack ? ", with ACK" : "", op->followed ? ", from done" : "", there[op->there], op->ended,
		op->status, op->length_bytes);
}

static void print_entry(const struct o2_endpoints_entry *entry, FILE *out)
{
	const struct o2_lnet_entry *e = &entry->entry;

	fprintf(out,
		"    offers portal %" PRIu32 ", match bits 0x%" PRIx64 " (ignored 0x%" PRIx64
		"), options 0x%x, uses %" PRIu32 ", %" PRIu64 " bytes, %s\n",
		e->portal, e->match_bits, e->ignore_bits, e->options, e->uses,
		entry->memory.memory.buffer.nob, o2_reg_mode_name(entry->memory.memory.mode));
}

static void print(const void *context, uint32_t pieces, FILE *out)
{
	const struct o2_endpoints *endpoints = ((const struct o2_endpoints_run *)context)->endpoints;

	for (uint32_t i = 0; i < endpoints->nseats; i++) {
		const struct o2_endpoints_seat *seat = &endpoints->seat[i];
		char text[512];

		fprintf(out, "  endpoint %" PRIu32 ": depth %" PRIu32 ", life %" PRIu32 "\n", i,
			seat->node_config.conn.queue_depth, seat->life);
		for (uint32_t k = O2_ENDPOINTS_LNET; k < O2_ENDPOINTS_ENTRIES; k++)
			if (seat->entry[k].attached)
				print_entry(&seat->entry[k], out);
		for (uint32_t k = 0; k < seat->nops && k < pieces; k++)
			print_op(&seat->op[k], out);
		if (seat->fault.side == O2_FAULT_NONE)
			continue;
		o2_fault_text(&seat->fault, text, sizeof(text));
		fprintf(out, "    last end of a connection: %s\n", text);
	}
}

static void print_held(const void *context, FILE *out)
{
	const struct o2_endpoints *endpoints = ((const struct o2_endpoints_run *)context)->endpoints;

	fprintf(out, "held: %" PRIu32 " endpoints at rest\n", endpoints->nseats);
}

struct o2_property o2_endpoints_property(struct o2_endpoints_run *run)
{
	static const struct o2_property_ops ops = {
		O2_TALLY_PROPERTY(
			"endpoint",
			"whole peers match, move and answer as a model foretells, whoever leaves meanwhile"),
		.give_back = give_back,
	};
	/* Situations that need more than two devices, or a network that fails. */
	static const enum o2_endpoints_situation of_loop[] = {
		O2_ENDPOINTS_SEEN_THREE, O2_ENDPOINTS_SEEN_FOUR, O2_ENDPOINTS_SEEN_NETWORK_FAILED,
		O2_ENDPOINTS_SEEN_ARM_FAILED, O2_ENDPOINTS_SEEN_POLL_FAILED};
	const bool here = run == NULL || run->ground->may_fail;

	for (size_t i = 0; i < sizeof(of_loop) / sizeof(of_loop[0]) && !here; i++)
		run->tally.excused[of_loop[i]] = true;
	return o2_tally_property(&ops, run, situations, O2_ENDPOINTS_SITUATIONS,
				 here ? ENOUGH_CASES : ENOUGH_THERE);
}
