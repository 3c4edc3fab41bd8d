/* SPDX-License-Identifier: MIT */
#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/monotonic.h"
#include "base/stream.h"
#include "cli/cli.h"
#include "cli/net/commands.h"
#include "cli/net/event.h"
#include "cli/net/look.h"
#include "cli/net/report.h"
#include "cli/net/session.h"
#include "wire/nid.h"

/* put and get: count operations, in_flight at a time, each in a lane of its own. */

enum lane_state {
	LANE_IDLE,
	LANE_MOVING,
	LANE_READING_BACK, /* put --verify */
};

struct lane {
	enum lane_state state;
	uint64_t number; /* of the operation, from 0 */
	uint64_t operation;
	uint64_t started_ns;
	uint64_t took_ns, moved_bytes; /* of a PUT that is read back */
	struct o2_net_memory memory;
	struct o2_net_memory back; /* where a PUT is read back to */
};

/* The failure to report when all operations that fail in the same step have ended. */
struct failure {
	bool waits; /* it is still to be reported */
	const char *what;
	uint64_t number;
	int status;
	struct o2_transfer_fault fault;
};

struct mover {
	struct o2_net_options *options;
	struct o2_net_session session;
	struct o2_net_report report;
	struct lane *lane;
	uint64_t next; /* number of the next operation */
	struct failure failure;
	bool giving_up;
	bool told; /* the failure was reported: one line is enough */
};

static const char *verb(const struct mover *mover)
{
	return mover->options->command == O2_NET_PUT ? "PUT" : "GET";
}

static const char *what(const struct mover *mover, const struct lane *lane)
{
	return lane->state == LANE_READING_BACK ? "reading back PUT" : verb(mover);
}

/* Distance of a fault from the cause: 0: it is the cause; 1: it waited for that; 2: the connection closed. */
static int distance(const struct o2_transfer_fault *fault)
{
	if (fault->side == O2_FAULT_CLOSED)
		return 2;
	if (fault->side != O2_FAULT_DEADLINE)
		return 0;
	return fault->wait == O2_WAIT_RESERVATION || fault->wait == O2_WAIT_CREDIT ||
	       fault->wait == O2_WAIT_SEND_ROOM || fault->wait == O2_WAIT_WINDOW;
}

/* Of several failures in one step the one nearest to the cause is reported; of equal ones the first. */
static void fail(struct mover *mover, struct lane *lane, int status, const struct o2_transfer_fault *fault)
{
	struct failure *failure = &mover->failure;

	mover->report.failed++;
	if (!mover->told && (!failure->waits || distance(fault) < distance(&failure->fault)))
		*failure = (struct failure){true, what(mover, lane), lane->number, status, *fault};
	lane->state = LANE_IDLE;
	mover->giving_up = true;
}

static void tell(struct mover *mover)
{
	const struct failure *failure = &mover->failure;
	char rejects[O2_NET_REJECTS_BYTES];

	if (failure->waits && !mover->told)
		o2_net_complain_failed(failure->what, failure->number, mover->options->peer, failure->status,
				       &failure->fault,
				       o2_net_rejects_text(&mover->session, &failure->fault, rejects));
	mover->told |= failure->waits;
	mover->failure.waits = false;
}

static void refuse(struct mover *mover, struct lane *lane, const struct o2_error *error)
{
	const struct o2_transfer_fault fault = o2_fault_of(O2_FAULT_LOCAL_STAGE, error->code, error);

	fail(mover, lane, error->code, &fault);
}

static struct o2_lnet_target target_of(const struct mover *mover, const struct lane *lane)
{
	return (struct o2_lnet_target){
		.nid = mover->options->peer,
		.portal = mover->options->portal,
		.match_bits = mover->options->match_bits,
		.offset = o2_net_offset(mover->options, (uint32_t)(lane - mover->lane)),
		.hdr_data = lane->number + 1,
		.ack = !mover->options->no_ack,
	};
}

/* GET; with --verify, every byte of the memory is made wrong before. */
static int start_get(struct mover *mover, struct lane *lane, const struct o2_net_memory *sink,
		     uint64_t stream, uint64_t offset, struct o2_error *error)
{
	const struct o2_lnet_target target = target_of(mover, lane);

	if (mover->options->verify && !o2_net_fill(&mover->session.network.ni.arena, &sink->memory,
						   mover->options->seed, stream, offset, true))
		return o2_fail(error, -ENOMEM, "net/memory", "bytes", mover->options->size_bytes);
	return o2_lnet_get(mover->session.endpoint.lnet, &target, &sink->memory, &lane->operation, error);
}

static int start_put(struct mover *mover, struct lane *lane, struct o2_error *error)
{
	const struct o2_lnet_target target = target_of(mover, lane);

	if (!o2_net_fill(&mover->session.network.ni.arena, &lane->memory.memory, mover->options->seed,
			 lane->number + 1, 0, false))
		return o2_fail(error, -ENOMEM, "net/memory", "bytes", mover->options->size_bytes);
	return o2_lnet_put(mover->session.endpoint.lnet, &target, &lane->memory.memory, &lane->operation,
			   error);
}

static void start(struct mover *mover, struct lane *lane)
{
	struct o2_error error;
	int rc;

	lane->state = LANE_MOVING;
	lane->number = mover->next++;
	lane->started_ns = o2_monotonic_ns();
	rc = mover->options->command == O2_NET_PUT ? start_put(mover, lane, &error)
						   : start_get(mover, lane, &lane->memory, O2_STREAM_MEMORY,
							       mover->options->offset, &error);
	if (rc != 0)
		refuse(mover, lane, &error);
}

/*
 * Check what a GET has brought, of which the peer reports `reported` bytes.  Returns whether all is right,
 * after complaining if not.
 */
static bool verify(struct mover *mover, const struct lane *lane, const struct o2_net_memory *memory,
		   const struct o2_net_bytes *belong, uint64_t reported)
{
	const uint32_t size_bytes = mover->options->size_bytes;
	struct o2_net_look look;
	char text[128], asked[64] = "";

	mover->report.verified++;
	if (!o2_net_look(&mover->session.network.ni.arena, &memory->memory, reported, belong, &look))
		snprintf(text, sizeof(text), "not enough memory to look at it");
	else if (o2_net_look_right(&look))
		return true;
	else
		o2_net_look_text(&look, belong->seed, text, sizeof(text));
	if (reported < size_bytes)
		snprintf(asked, sizeof(asked), "short of %" PRIu32 " bytes: ", size_bytes);
	mover->report.wrong++;
	o2_cli_complain("%s %" PRIu64 ": %s%s", verb(mover), lane->number, asked, text);
	return false;
}

/* The peer reports fewer bytes than were asked for.  told: a complaint about them was printed already. */
static void fail_short(struct mover *mover, struct lane *lane, uint64_t reported, bool told)
{
	char nid[O2_NID_TEXT_BYTES];

	o2_nid_to_text(mover->options->peer, nid, sizeof(nid));
	mover->report.failed++;
	mover->report.short_ones++;
	if (!told && !mover->told && !mover->failure.waits)
		o2_cli_complain("%s %" PRIu64 " at %s: short: the peer reports %" PRIu64 " of %" PRIu32
				" bytes",
				what(mover, lane), lane->number, nid, reported, mover->options->size_bytes);
	lane->state = LANE_IDLE;
	mover->giving_up = true;
	mover->told |= !mover->failure.waits;
}

static void put_moved(struct mover *mover, struct lane *lane, uint64_t reported)
{
	struct o2_error error;

	if (reported < mover->options->size_bytes) {
		fail_short(mover, lane, reported, false);
		return;
	}
	lane->took_ns = o2_monotonic_ns() - lane->started_ns;
	lane->moved_bytes = reported;
	if (!mover->options->verify) {
		o2_net_report_done(&mover->report, reported, lane->took_ns);
		lane->state = LANE_IDLE;
		return;
	}
	lane->state = LANE_READING_BACK;
	if (start_get(mover, lane, &lane->back, lane->number + 1, 0, &error) != 0)
		refuse(mover, lane, &error);
}

static void put_read_back(struct mover *mover, struct lane *lane, uint64_t reported)
{
	const struct o2_net_bytes belong = {mover->options->seed, lane->number + 1, 0};
	const bool right = verify(mover, lane, &lane->back, &belong, reported);

	if (reported < mover->options->size_bytes)
		fail_short(mover, lane, reported, !right);
	else
		o2_net_report_done(&mover->report, lane->moved_bytes, lane->took_ns);
	lane->state = LANE_IDLE;
}

static void get_moved(struct mover *mover, struct lane *lane, uint64_t reported)
{
	const struct o2_net_options *options = mover->options;
	const struct o2_net_bytes belong = {options->seed, O2_STREAM_MEMORY, options->offset};
	const uint64_t took_ns = o2_monotonic_ns() - lane->started_ns;
	const bool is_short = reported < options->size_bytes;
	const bool right = !options->verify || verify(mover, lane, &lane->memory, &belong, reported);

	if (is_short && !options->accept_short) {
		fail_short(mover, lane, reported, !right);
	} else {
		mover->report.short_ones += is_short;
		o2_net_report_done(&mover->report, reported, took_ns);
	}
	lane->state = LANE_IDLE;
}

static struct lane *lane_of(struct mover *mover, uint64_t operation)
{
	for (uint32_t i = 0; i < mover->options->in_flight; i++)
		if (mover->lane[i].state != LANE_IDLE && mover->lane[i].operation == operation)
			return &mover->lane[i];
	return NULL;
}

static void note_done(void *context, const struct o2_lnet_result *result)
{
	struct mover *mover = context;
	struct lane *lane = lane_of(mover, result->operation);

	assert(lane != NULL); /* LNet reports each operation once */
	if (result->status != 0)
		fail(mover, lane, result->status, o2_net_fault(result));
	else if (lane->state == LANE_READING_BACK)
		put_read_back(mover, lane, result->length_bytes);
	else if (mover->options->command == O2_NET_PUT)
		put_moved(mover, lane, result->length_bytes);
	else
		get_moved(mover, lane, result->length_bytes);
}

/* The peer requests something meanwhile. */
static void note_event(void *context, const struct o2_lnet_event *event)
{
	const struct mover *mover = context;

	o2_net_tell_event(mover->options, event);
}

static bool reads_back(const struct o2_net_options *options)
{
	return options->command == O2_NET_PUT && options->verify;
}

static bool lay(struct mover *mover)
{
	const struct o2_net_options *options = mover->options;
	const struct o2_arena *arena = &mover->session.network.ni.arena;
	uint32_t page = O2_NET_LNET_PAGES;

	for (uint32_t i = 0; i < options->in_flight; i++) {
		struct lane *lane = &mover->lane[i];

		if (o2_net_memory_lay(arena, page, options->size_bytes, options->fragments, options->mode,
				      &lane->memory) != 0)
			return false;
		page += lane->memory.npages;
		if (!reads_back(options))
			continue;
		if (o2_net_memory_lay(arena, page, options->size_bytes, options->fragments, options->mode,
				      &lane->back) != 0)
			return false;
		page += lane->back.npages;
	}
	return true;
}

/* Start an operation in each idle lane, while there are more.  Returns whether any lane is at work. */
static bool start_more(struct mover *mover)
{
	const struct o2_net_options *options = mover->options;
	bool busy = false;

	for (uint32_t i = 0; i < options->in_flight; i++) {
		struct lane *lane = &mover->lane[i];

		if (lane->state == LANE_IDLE && mover->next < options->count && !mover->giving_up)
			start(mover, lane);
		busy = busy || lane->state != LANE_IDLE;
	}
	return busy;
}

/* After the last operation has ended there is no further step, which might sleep. */
static void move_all(struct mover *mover)
{
	while (o2_net_stop == 0 && start_more(mover)) {
		const bool alive = o2_net_session_step(&mover->session, UINT64_MAX);

		tell(mover);
		if (!alive)
			return;
		o2_net_report_progress(&mover->report, mover->options, o2_monotonic_ns());
	}
	tell(mover);
	o2_net_complain_ended(&mover->report, mover->options);
}

static int run(struct mover *mover)
{
	mover->lane = calloc(mover->options->in_flight, sizeof(*mover->lane));
	if (mover->lane == NULL || !lay(mover)) {
		o2_cli_complain("not enough memory for %" PRIu32 " operations at a time",
				mover->options->in_flight);
		return O2_CLI_USAGE;
	}
	mover->report.started_ns = o2_monotonic_ns();
	move_all(mover);
	mover->report.ended_ns = o2_monotonic_ns();
	return o2_net_report_print(&mover->report, mover->options,
				   mover->report.failed + mover->report.wrong > 0 ||
						   mover->report.done < mover->options->count
					   ? O2_CLI_REFUSED
					   : O2_CLI_OK);
}

int o2_net_move(struct o2_net_options *options)
{
	const struct o2_lnet_ops ops = {.done = note_done, .event = note_event};
	struct mover mover = {.options = options};
	uint32_t pages;
	int status;

	if (options->in_flight > options->count)
		options->in_flight = (uint32_t)options->count;
	pages = (reads_back(options) ? 2 : 1) * options->in_flight *
		o2_net_memory_pages((uint32_t)sysconf(_SC_PAGESIZE), options->size_bytes, options->fragments);
	status = o2_net_session_open(options, pages, &ops, &mover, &mover.session);
	if (status != O2_CLI_OK)
		return status;
	status = run(&mover);
	mover.told = true; /* what a signal has left open ends now, and is not reported */
	o2_net_session_close(&mover.session);
	for (uint32_t i = 0; mover.lane != NULL && i < options->in_flight; i++) {
		o2_net_memory_free(&mover.lane[i].memory);
		o2_net_memory_free(&mover.lane[i].back);
	}
	free(mover.lane);
	return status;
}
