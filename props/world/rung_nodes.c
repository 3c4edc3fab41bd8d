/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/monotonic.h"
#include "props/world/rung_ends.h"
#include "props/world/rung_kept.h"
#include "props/world/rung_side.h"

/*
 * Rungs 1 and 2 with the connection manager: a node at each end, wherever the ends are
 * (props/world/rung_ends.h).  The questions and their order are always the same.
 */

/* Scenarios on one connection; then either side in turn closes it, and it is made again. */
#define RECONNECT_AFTER 16u

struct nodes_rung {
	struct o2_rung rung;
	struct o2_rung_ends ends;
	uint32_t on_connection; /* scenarios run on the connection */
	uint32_t downs[2];	/* downs of each end when it was last in order */
	struct o2_end_question question;
	struct o2_end_answer answer[2]; /* the last answer of each end */
	struct o2_end_answer resting[2];
};

static enum o2_side other(enum o2_side side)
{
	return side == O2_SOURCE ? O2_SINK : O2_SOURCE;
}

/* --- the ends --- */

/* Start the ends, also after one died, so that its case can be repeated and shrunk. */
static int start(struct nodes_rung *rung, struct o2_error *error)
{
	if (rung->ends.running)
		return 0;
	rung->downs[O2_SOURCE] = rung->downs[O2_SINK] = 0;
	return o2_rung_ends_start(&rung->ends, error);
}

static int ask(struct nodes_rung *rung, enum o2_side side, enum o2_end_verb verb, struct o2_error *error)
{
	struct o2_end_answer *answer = &rung->answer[side];

	if (!rung->ends.running)
		return -EPIPE;
	rung->question.verb = verb;
	rung->question.peer = rung->ends.nid[other(side)];
	o2_rung_ends_ask(&rung->ends, side, &rung->question, answer);
	if (answer->code != 0)
		*error = answer->error;
	return answer->code;
}

static int ask_both(struct nodes_rung *rung, enum o2_end_verb verb, struct o2_error *error)
{
	int rc = ask(rung, O2_SOURCE, verb, error);

	return rc == 0 ? ask(rung, O2_SINK, verb, error) : rc;
}

static int wait(struct nodes_rung *rung, enum o2_side side, enum o2_end_until until, struct o2_error *error)
{
	rung->question.until = until;
	return ask(rung, side, O2_END_WAIT, error);
}

/* Wait for the condition at one end, then at the other. */
static int wait_both(struct nodes_rung *rung, enum o2_side first, enum o2_end_until until,
		     struct o2_error *error)
{
	int rc = wait(rung, first, until, error);

	return rc == 0 ? wait(rung, other(first), until, error) : rc;
}

/* --- the connection --- */

static bool connected(const struct nodes_rung *rung)
{
	return rung->answer[O2_SOURCE].connected && rung->answer[O2_SINK].connected;
}

static int check_kept(struct nodes_rung *rung, struct o2_error *error)
{
	return o2_rung_check_kept(rung->answer, rung->downs, error);
}

static void count_downs(struct nodes_rung *rung)
{
	for (int i = 0; i < 2; i++)
		rung->downs[i] = rung->answer[i].downs;
}

static int parted(struct nodes_rung *rung, struct o2_error *error)
{
	rung->on_connection = 0;
	return wait_both(rung, O2_SOURCE, O2_END_PARTED, error);
}

/* Close the connection in any state. */
static int part(struct nodes_rung *rung, struct o2_error *error)
{
	int rc = ask_both(rung, O2_END_PART, error);

	if (rc == 0)
		rc = parted(rung, error);
	count_downs(rung);
	return rc;
}

/* Close the connection after a failure.  If an end is lost, that is the cause of the other end's error. */
static int give_up(struct nodes_rung *rung, int rc, struct o2_error *error)
{
	struct o2_error later = {0};

	if (part(rung, &later) != -EPIPE)
		return rc;
	*error = later;
	return -EPIPE;
}

/* Close the connection from one end. */
static int part_from(struct nodes_rung *rung, enum o2_side closer, struct o2_error *error)
{
	int rc = ask(rung, closer, O2_END_PART, error);

	if (rc == 0)
		rc = parted(rung, error);
	if (rc == 0)
		rc = o2_rung_check_parted(rung->answer, rung->downs, closer, error);
	count_downs(rung);
	return rc;
}

/* Make sure that there is a connection; the initiator requests it. */
static int need_connection(struct nodes_rung *rung, enum o2_side first, struct o2_error *error)
{
	const uint64_t start_ms = o2_monotonic_ms();
	int rc = check_kept(rung, error);

	if (rc != 0 || connected(rung))
		return rc;
	rc = ask(rung, first, O2_END_CONNECT, error);
	if (rc == 0)
		rc = wait_both(rung, first, O2_END_GREETED, error);
	if (rc == 0)
		rc = check_kept(rung, error);
	if (rc == 0)
		rc = o2_rung_check_connected(rung->answer, o2_monotonic_ms() - start_ms, error);
	rung->rung.connections += rc == 0;
	return rc;
}

/* After a transfer, wait for NOOPs of either end that are in flight and hold a message slot. */
static int settle(struct nodes_rung *rung, struct o2_error *error)
{
	const double deadline = o2_monotonic_seconds() + O2_RUNG_GIVE_UP_S;
	int rc;

	do
		rc = wait_both(rung, O2_SOURCE, O2_END_STILL, error);
	while (rc == 0 && connected(rung) && !o2_rung_nothing_between(rung->answer) &&
	       o2_monotonic_seconds() < deadline);
	return rc;
}

/* --- a transfer --- */

static void refused_locally(struct o2_observed *observed, int code, const struct o2_error *error)
{
	observed->local = true;
	observed->initiator = (struct o2_observed_end){
		.involved = true,
		.status = code,
		.fault = {.side = O2_FAULT_LOCAL_STAGE, .code = code, .error = *error},
	};
}

/* Run the operation until it has ended at both ends. */
static int run(struct nodes_rung *rung, enum o2_side first, struct o2_observed *observed,
	       struct o2_error *error)
{
	int rc = ask(rung, first, O2_END_START, error);

	if (rc == -EPIPE)
		return rc;
	if (rc != 0) {
		refused_locally(observed, rc, error);
		return 0;
	}
	rc = wait_both(rung, first, O2_END_OVER, error);
	observed->stuck = rc == -ETIMEDOUT;
	observed->initiator = rung->answer[first].initiator;
	observed->responder = rung->answer[other(first)].responder;
	observed->nwr = rung->answer[O2_SOURCE].nwr;
	observed->nfrags = rung->answer[O2_SINK].nfrags;
	return observed->stuck ? 0 : rc;
}

/* Try the key of an ended transfer, which must be dead. */
static int try_key(struct nodes_rung *rung, struct o2_observed *observed, struct o2_error *error)
{
	int rc = ask(rung, O2_SOURCE, O2_END_TRY_KEY, error);

	observed->stale_tried = rung->answer[O2_SOURCE].stale_tried;
	observed->stale_admitted = rung->answer[O2_SOURCE].stale_admitted;
	return rc;
}

/* Clean up after the operation: keep a connection that the next one can use, or none. */
static int leave(struct nodes_rung *rung, const struct o2_scenario *scenario, struct o2_observed *observed,
		 struct o2_error *error)
{
	int rc = observed->stuck ? 0 : settle(rung, error);

	if (rc == -EPIPE)
		return rc;
	if (rc != 0 || observed->stuck)
		return part(rung, error);
	rc = check_kept(rung, error);
	if (rc != 0)
		return give_up(rung, rc, error);
	if (o2_rung_tries_key(scenario) && observed->initiator.status == 0 && observed->responder.involved &&
	    observed->responder.status == 0) {
		rc = try_key(rung, observed, error);
		if (rc == -EPIPE)
			return rc;
		return rc == 0 ? part(rung, error) : give_up(rung, rc, error);
	}
	if (++rung->on_connection < RECONNECT_AFTER)
		return 0;
	return part_from(rung, rung->rung.connections % 2 == 0 ? O2_SOURCE : O2_SINK, error);
}

/* Ask both ends whether anything is left; check_idle and ledger report it. */
static int rest(struct nodes_rung *rung, struct o2_observed *observed, struct o2_error *error)
{
	for (int i = 0; i < 2; i++) {
		struct o2_error found = {0};
		int rc = ask(rung, (enum o2_side)i, O2_END_REST, &found);

		if (rc == -EPIPE) {
			*error = found;
			return rc;
		}
		rung->resting[i] = rung->answer[i];
		observed->ways[i] = rung->answer[i].ways;
	}
	return 0;
}

static int nodes_transfer(struct o2_rung *base, const struct o2_scenario *scenario,
			  struct o2_observed *observed, struct o2_error *error)
{
	struct nodes_rung *rung = (struct nodes_rung *)base;
	enum o2_side first = o2_rung_initiator(scenario);
	struct o2_error later = {0};
	int rc = start(rung, error);

	memset(observed, 0, sizeof(*observed));
	rung->question.scenario = *scenario;
	if (rc == 0)
		rc = ask_both(rung, O2_END_BEGIN, error);
	if (rc == 0)
		rc = need_connection(rung, first, error);
	if (rc == 0)
		rc = ask_both(rung, O2_END_LIMIT, error);
	if (rc == 0)
		rc = run(rung, first, observed, error);
	if (rc == 0)
		rc = leave(rung, scenario, observed, error);
	else if (rc != -EPIPE)
		rc = give_up(rung, rc, error);
	if (rc == 0)
		rc = rest(rung, observed, error);
	else
		rest(rung, observed, &later);
	o2_rung_tell_broken(rung->answer, observed);
	base->over = o2_rung_ends_given_up(&rung->ends);
	return rc;
}

/* --- the rung --- */

static struct o2_arena *nodes_arena(struct o2_rung *base, enum o2_side side, enum o2_dma_kind kind)
{
	(void)kind;
	return &((struct nodes_rung *)base)->ends.arena[side];
}

static int nodes_check_idle(struct o2_rung *base, struct o2_error *error)
{
	struct nodes_rung *rung = (struct nodes_rung *)base;

	for (int i = 0; i < 2; i++) {
		if (rung->resting[i].code == 0)
			continue;
		*error = rung->resting[i].error;
		return rung->resting[i].code;
	}
	return 0;
}

static void nodes_ledger(struct o2_rung *base, struct o2_dma_ledger *ledger)
{
	struct nodes_rung *rung = (struct nodes_rung *)base;

	*ledger = (struct o2_dma_ledger){0};
	for (int i = 0; i < 2; i++)
		o2_rung_add_ledger(ledger, &rung->resting[i].ledger);
}

static int nodes_end_processes(struct o2_rung *base, struct o2_held *before, struct o2_held *most,
			       struct o2_held *after, struct o2_error *error)
{
	struct nodes_rung *rung = (struct nodes_rung *)base;
	int rc = 0;

	for (int i = 0; i < 2; i++) {
		struct o2_end_farewell farewell = {0};
		struct o2_error found;
		int ended = o2_rung_ends_quit(&rung->ends, (enum o2_side)i, &farewell, &found);

		if (ended != 0 && rc == 0) {
			rc = ended;
			*error = found;
		}
		o2_held_add(before, &farewell.before);
		o2_held_add(most, &farewell.most);
		o2_held_add(after, &farewell.after);
		o2_judged_add(&o2_judged_all, &farewell.judged);
	}
	return rc;
}

static void nodes_images(struct o2_rung *base, struct o2_image *const image[2])
{
	o2_rung_ends_images(&((struct nodes_rung *)base)->ends, image);
}

static int nodes_fetch(struct o2_rung *base, struct o2_error *error)
{
	struct nodes_rung *rung = (struct nodes_rung *)base;
	const int rc = o2_rung_ends_fetch(&rung->ends, error);

	base->over = o2_rung_ends_given_up(&rung->ends);
	return rc;
}

static void nodes_close(struct o2_rung *base)
{
	struct nodes_rung *rung = (struct nodes_rung *)base;

	o2_rung_ends_close(&rung->ends);
	free(rung);
}

int o2_rung_open_nodes(const struct o2_rung_nodes_config *config, struct o2_rung **out,
		       struct o2_error *error)
{
	static const struct o2_rung_ops ops = {
		.name = "nodes",
		.has_keys = true,
		.has_ways = true,
		.reconnects = true,
		.arena = nodes_arena,
		.images = nodes_images,
		.transfer = nodes_transfer,
		.fetch = nodes_fetch,
		.check_idle = nodes_check_idle,
		.ledger = nodes_ledger,
		.end_processes = nodes_end_processes,
		.close = nodes_close,
	};
	struct nodes_rung *rung = calloc(1, sizeof(*rung));
	int rc;

	if (rung == NULL)
		return o2_refuse_value(error, -ENOMEM, "rung/memory", "rung", sizeof(*rung), O2_NO_LIMIT);
	rung->rung.ops = &ops;
	rung->rung.elsewhere = config->far != NULL;
	rc = o2_rung_ends_open(&rung->ends, config, error);
	if (rc == 0)
		rc = start(rung, error);
	if (rc != 0) {
		nodes_close(&rung->rung);
		return rc;
	}
	*out = &rung->rung;
	return 0;
}
