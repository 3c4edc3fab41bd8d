/* SPDX-License-Identifier: MIT */
#include "props/talk/sim.h"

#include <inttypes.h>
#include <stdlib.h>

#include "props/engine/prng.h"
#include "props/talk/sim_internal.h"

#define LABEL_STEP 1u
#define MORE	   255u /* weight of another step */

static const struct o2_tally_row situations[O2_SIM_SITUATIONS] = {
	[O2_SIM_SEEN_PUT] = {"put", true},
	[O2_SIM_SEEN_GET] = {"get", true},
	[O2_SIM_SEEN_IMMEDIATE] = {"immediate", true},
	[O2_SIM_SEEN_SHORT] = {"short_transfer", true},
	[O2_SIM_SEEN_THREE_NODES] = {"three_nodes", true},
	[O2_SIM_SEEN_NO_CREDITS] = {"credits_exhausted", true},
	[O2_SIM_SEEN_NO_RESERVED] = {"reservations_exhausted", true},
	[O2_SIM_SEEN_SENDS_LIMITED] = {"concurrent_sends_reached", true},
	[O2_SIM_SEEN_QUEUED] = {"message_queued", true},
	[O2_SIM_SEEN_PARKED] = {"request_parked", true},
	[O2_SIM_SEEN_WINDOW_AWAITED] = {"operation_waits_for_a_window", true},
	[O2_SIM_SEEN_WINDOW_PARKED] = {"request_parked_for_a_window", true},
	[O2_SIM_SEEN_WINDOW_WOKEN] = {"window_came_back_on_another_connection", true},
	[O2_SIM_SEEN_NOOP_V1] = {"noop_version_1", true},
	[O2_SIM_SEEN_NOOP_V2] = {"noop_version_2", true},
	[O2_SIM_SEEN_KEEPALIVE] = {"keep_alive", true},
	[O2_SIM_SEEN_FROM_INSIDE] = {"operation_started_from_inside", true},
	[O2_SIM_SEEN_DEADLINE] = {"deadline_passed", true},
	[O2_SIM_SEEN_RNR] = {"receiver_not_ready", true},
	[O2_SIM_SEEN_CLOSED] = {"connection_closed", true},
	[O2_SIM_SEEN_NOT_CONNECTED] = {"start_refused_not_connected", true},
	[O2_SIM_SEEN_TOO_MANY] = {"start_refused_too_many", true},
	[O2_SIM_SEEN_TOO_LONG] = {"start_refused_payload_too_long", true},
	[O2_SIM_SEEN_NO_MATCH_PUT] = {"put_without_match", true},
	[O2_SIM_SEEN_NO_MATCH_GET] = {"get_without_match", true},
	[O2_SIM_SEEN_REFUSED] = {"refused_by_the_other_end", true},
	[O2_SIM_SEEN_MATCH_LONGER] = {"match_longer_than_asked", true},
	[O2_SIM_SEEN_HEADER_REFUSED] = {"lnet_header_refused", true},
	[O2_SIM_SEEN_TOO_MANY_WRS] = {"too_many_work_requests", true},
	[O2_SIM_SEEN_TOO_MANY_FRAGS] = {"too_many_fragments", true},
	[O2_SIM_SEEN_GAPS_REFUSED] = {"gaps_refused", true},
	[O2_SIM_SEEN_KEY_LEFT_ALIVE] = {"key_left_alive_in_the_kernels_order", true},
	[O2_SIM_SEEN_LATE_WRITE_REFUSED] = {"late_write_refused", true},
	[O2_SIM_SEEN_POST_SEND_FAILED] = {"post_send_failed", true},
	[O2_SIM_SEEN_POST_RECV_FAILED] = {"post_recv_failed", true},
	[O2_SIM_SEEN_EXECUTE_FAILED] = {"work_request_failed", true},
	[O2_SIM_SEEN_REGISTER_FAILED] = {"registration_failed", true},
	[O2_SIM_SEEN_MAKE_FAILED] = {"object_not_made", true},
	[O2_SIM_SEEN_MODIFY_FAILED] = {"modify_failed", true},
	[O2_SIM_SEEN_POLL_FAILED] = {"poll_failed", true},
	[O2_SIM_SEEN_ALLOCATION_FAILED] = {"allocation_failed", true},
	[O2_SIM_SEEN_PEER_GONE] = {"peer_gone", true},
	[O2_SIM_SEEN_QP_ERROR] = {"queue_pair_error", true},
	[O2_SIM_SEEN_FAILOVER] = {"failover", true},
	[O2_SIM_SEEN_MAPPING_FAILED] = {"mapping_failed", true},
	[O2_SIM_SEEN_FLUSHED] = {"work_request_flushed", true},
	[O2_SIM_SEEN_NEVER_READY] = {"receiver_never_ready", true},
	[O2_SIM_SEEN_SLOW] = {"peer_slow", true},
	[O2_SIM_SEEN_CLOSED_BY_US] = {"closed_by_the_application", true},
	[O2_SIM_SEEN_DESTROYED] = {"destroyed_by_the_application", true},
	[O2_SIM_SEEN_CLOSED_INSIDE] = {"closed_from_inside", true},
	[O2_SIM_SEEN_CLOSED_BY_MATCH] = {"closed_by_match_that_accepts", true},
	[O2_SIM_SEEN_ESTABLISHED_LATE] = {"message_before_establishment", true},
	[O2_SIM_SEEN_DEPTH_254] = {"depth_254", true},
	[O2_SIM_SEEN_DEPTH_255] = {"depth_255", true},
	[O2_SIM_SEEN_NO_ROOM] = {"device_has_room_for_less", true},
	[O2_SIM_SEEN_MANY_CREDITS] = {"more_than_127_credits_in_a_message", true},
	[O2_SIM_SEEN_MANY_IN_FLIGHT] = {"256_messages_in_flight", true},
	[O2_SIM_SEEN_MANY_MESSAGES] = {"255_messages_unhandled", true},
	[O2_SIM_SEEN_FRAGS_255] = {"fragments_255", true},
	[O2_SIM_SEEN_FRAGS_256] = {"fragments_256", true},
	[O2_SIM_SEEN_FRAGS_257] = {"fragments_257", true},
	[O2_SIM_SEEN_FORGED + 0] = {"forged_credits_over_depth", true},
	[O2_SIM_SEEN_FORGED + 1] = {"forged_no_credit", true},
	[O2_SIM_SEEN_FORGED + 2] = {"forged_too_many_requests", true},
	[O2_SIM_SEEN_FORGED + 3] = {"forged_empty_noops", true},
	[O2_SIM_SEEN_FORGED + 4] = {"forged_stale_sender", true},
	[O2_SIM_SEEN_FORGED + 5] = {"forged_stale_receiver", true},
	[O2_SIM_SEEN_FORGED + 6] = {"forged_answer_again", true},
	[O2_SIM_SEEN_FORGED + 7] = {"forged_answer_of_another_type", true},
	[O2_SIM_SEEN_FORGED + 8] = {"forged_unknown_cookie", true},
	[O2_SIM_SEEN_FORGED + 9] = {"forged_nak_of_success", true},
	[O2_SIM_SEEN_FORGED + 10] = {"forged_put_done_of_another_length", true},
	[O2_SIM_SEEN_FORGED + 11] = {"forged_get_done_of_more", true},
};

static bool run_step(void *context)
{
	struct o2_sim *sim = context;

	if (sim->nops >= sim->most_ops)
		return false;
	o2_sim_step(sim);
	return o2_sim_ok(sim);
}

static enum o2_status run_case(void *context, struct o2_choice *choice, struct o2_report *report)
{
	struct o2_sim_run *run = context;

	o2_report_clear(report);
	if (run->sim == NULL)
		run->sim = calloc(1, sizeof(*run->sim));
	if (run->sim == NULL) {
		o2_report_fail(report, "sim/memory", "no memory for a simulation");
		return O2_STATUS_INTERESTING;
	}
	run->sim->run = run;
	run->sim->choice = choice;
	run->sim->report = report;
	o2_sim_world_open(run->sim);
	if (!report->failed)
		o2_draw_steps(choice, LABEL_STEP, O2_SIM_STEPS, MORE, run_step, run->sim);
	if (!report->failed)
		o2_sim_settle(run->sim);
	o2_sim_world_close(run->sim);
	run->events += run->sim->events;
	run->trace += o2_mix64(run->sim->trace);
	run->tally.cases += o2_choice_ok(choice);
	return o2_choice_status(choice, report->failed ? O2_STATUS_INTERESTING : O2_STATUS_VALID);
}

static void give_back(void *context)
{
	const struct o2_sim_run *run = context;

	if (run->sim != NULL)
		o2_sim_world_free(run->sim);
}

static void print(const void *context, uint32_t pieces, FILE *out)
{
	const struct o2_sim_run *run = context;

	o2_sim_print(run->sim, pieces, out);
}

static void print_held(const void *context, FILE *out)
{
	const struct o2_sim *sim = ((const struct o2_sim_run *)context)->sim;

	fprintf(out, "held: %" PRIu32 " operations in %" PRIu64 " events, trace 0x%016" PRIx64 "\n",
		sim->nops, sim->events, sim->trace);
}

static bool enough(const void *context, const struct o2_run_options *options)
{
	const struct o2_sim_run *run = context;

	return options->moved > 0 && run->operations >= options->moved;
}

static void result(const void *context, const struct o2_run_options *options, json_t *object)
{
	const struct o2_sim_run *run = context;
	char trace[32];

	o2_tally_result(&run->tally, options, object);
	snprintf(trace, sizeof(trace), "0x%016" PRIx64, run->trace);
	json_object_set_new(object, "operations", json_integer((json_int_t)run->operations));
	json_object_set_new(object, "events", json_integer((json_int_t)run->events));
	json_object_set_new(object, "trace", json_string(trace));
}

static void line(const void *context, double seconds, char *text, size_t text_bytes)
{
	const struct o2_sim_run *run = context;

	snprintf(text, text_bytes,
		 "%" PRIu64 " cases, %" PRIu64 " operations, %" PRIu64 " events in %.1f s (%.0f operations a "
		 "second), trace 0x%016" PRIx64,
		 run->tally.cases, run->operations, run->events, seconds,
		 seconds > 0 ? (double)run->operations / seconds : 0, run->trace);
}

struct o2_property o2_sim_property(struct o2_sim_run *run)
{
	static const struct o2_property_ops ops = {
		.name = "sim",
		.summary =
			"operations, credits and connections hold in any order of events and with any fault",
		.run_case = run_case,
		.give_back = give_back,
		.print = print,
		.print_held = print_held,
		.enough = enough,
		.result = result,
		.missing = o2_tally_missing,
		.line = line,
	};

	struct o2_property property = o2_tally_property(&ops, run == NULL ? NULL : &run->tally, situations,
							O2_SIM_SITUATIONS, 5000);

	property.counters_bytes = offsetof(struct o2_sim_run, sim);
	return property;
}
