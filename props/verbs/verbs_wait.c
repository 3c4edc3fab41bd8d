/* SPDX-License-Identifier: MIT */
/* Steps that poll, wait and receive events; and steps with calls outside the verbs API. */
#include <errno.h>
#include <poll.h>
#include <string.h>

#include "props/verbs/verbs_internal.h"

static struct o2_verbs_cq *draw_cq(struct o2_verbs_world *world)
{
	struct o2_verbs_side *side = &world->side[o2_draw(world->choice, 1)];
	struct o2_verbs_cq *cq = &side->cq[o2_draw_pick(world->choice, O2_VERBS_QUEUES)];

	return cq->cq == NULL ? NULL : cq;
}

/* True if a queue pair retries for ever: a program that then sleeps never wakes, so the step is skipped. */
bool o2_verbs_sleeps_for_ever(const struct o2_verbs_world *world)
{
	for (uint32_t i = 0; i < O2_VERBS_SIDES * O2_VERBS_PAIRS; i++) {
		const struct o2_verbs_qp *qp = &world->side[i % O2_VERBS_SIDES].qp[i / O2_VERBS_SIDES];

		if (qp->qp != NULL && qp->sends > 0 && qp->attr.retry_cnt == 7 &&
		    !world->option[O2_LOOP_FINITE_RETRY])
			return true;
	}
	return false;
}

/* Predict a poll.  A program waits by polling an empty queue: docs/loopverbs.md, "Time". */
static int foretell_poll(struct o2_verbs_world *world, struct o2_verbs_cq *cq, int most, struct ibv_wc *wc)
{
	const bool sleeps = cq->armed != O2_VERBS_UNARMED && cq->channel;
	int polled = 0;

	if (o2_verbs_fault(&world->hook, O2_LOOP_CALL_POLL, 0) != 0)
		return -1;
	o2_verbs_run(world);
	if (cq->count == 0)
		while (o2_verbs_tick(world) && sleeps && cq->count == 0)
			;
	for (; polled < most && cq->count > 0; polled++) {
		wc[polled] = cq->wc[0];
		cq->count--;
		memmove(&cq->wc[0], &cq->wc[1], cq->count * sizeof(cq->wc[0]));
	}
	return polled;
}

void o2_verbs_step_poll(struct o2_verbs_world *world)
{
	struct ibv_wc found[O2_VERBS_ENTRIES], expected[O2_VERBS_ENTRIES];
	struct o2_verbs_cq *cq = draw_cq(world);
	int most, polled;

	if (cq == NULL || (cq->armed != O2_VERBS_UNARMED && cq->channel && o2_verbs_sleeps_for_ever(world)))
		return;
	most = (int)(o2_draw_bool(world->choice, 1, 1) ? o2_draw(world->choice, 3) : O2_VERBS_ENTRIES);
	snprintf(world->text, sizeof(world->text), "poll for %d", most);
	polled = ibv_poll_cq(cq->cq, most, found);
	o2_verbs_expect(world, "ibv_poll_cq", polled, foretell_poll(world, cq, most, expected));
	for (int i = 0; i < polled && !world->report->failed; i++)
		o2_verbs_check_wc(world, &found[i], &expected[i]);
}

void o2_verbs_step_notify(struct o2_verbs_world *world)
{
	struct o2_verbs_cq *cq = draw_cq(world);
	const int solicited = o2_draw_bool(world->choice, 1, 1);
	int found, error;

	if (cq == NULL)
		return;
	snprintf(world->text, sizeof(world->text), "ibv_req_notify_cq, solicited %d", solicited);
	found = ibv_req_notify_cq(cq->cq, solicited);
	error = o2_verbs_fault(&world->hook, O2_LOOP_CALL_POLL, 0);
	if (error == 0) {
		if (!solicited || cq->armed == O2_VERBS_UNARMED)
			cq->armed = solicited ? O2_VERBS_SOLICITED : O2_VERBS_ANY;
		o2_verbs_run(world);
	}
	o2_verbs_expect(world, "ibv_req_notify_cq", found, error);
}

static void acknowledge(struct o2_verbs_world *world, struct o2_verbs_side *side)
{
	for (uint32_t i = 0; i < O2_VERBS_QUEUES; i++) {
		struct o2_verbs_cq *cq = &side->cq[i];
		uint32_t n = cq->delivered - cq->acked;

		if (cq->cq == NULL || n == 0 || o2_draw_bool(world->choice, 2, 1))
			continue;
		if (o2_draw_bool(world->choice, 1, 1))
			n = (uint32_t)o2_draw_range(world->choice, 1, n);
		ibv_ack_cq_events(cq->cq, n);
		cq->acked += n;
	}
}

/* Each descriptor is readable if events wait behind it, so that a program can sleep in poll(2). */
void o2_verbs_readable(struct o2_verbs_world *world, const struct o2_verbs_side *side)
{
	struct pollfd p[] = {{.fd = side->channel->fd, .events = POLLIN},
			     {.fd = side->context->async_fd, .events = POLLIN}};

	poll(p, 2, 0);
	o2_verbs_expect(world, "the channel can be read", p[0].revents, side->readies > 0 ? POLLIN : 0);
	o2_verbs_expect(world, "an asynchronous event can be read", p[1].revents,
			side->events > 0 ? POLLIN : 0);
}

void o2_verbs_step_event(struct o2_verbs_world *world)
{
	struct o2_verbs_side *side = &world->side[o2_draw(world->choice, 1)];
	struct o2_verbs_cq *ready = NULL;
	struct ibv_cq *cq = NULL;
	void *context = NULL;
	int found;

	snprintf(world->text, sizeof(world->text), "ibv_get_cq_event %td", side - world->side);
	o2_verbs_readable(world, side);
	if (o2_verbs_sleeps_for_ever(world))
		return;
	errno = 0;
	found = ibv_get_cq_event(side->channel, &cq, &context);
	o2_verbs_run(world);
	while (side->readies == 0 && o2_verbs_tick(world))
		;
	if (side->readies > 0) {
		const uint32_t index = side->ready[0];

		ready = &side->cq[index];
		memmove(&side->ready[0], &side->ready[1], --side->readies * sizeof(side->ready[0]));
		ready->delivered++;
		if (--ready->pending > 0)
			side->ready[side->readies++] = index;
		o2_verbs_saw(world, O2_VERBS_SEEN_NOTIFIED);
	}
	o2_verbs_expect(world, "ibv_get_cq_event", found == 0 ? 0 : errno, ready == NULL ? EAGAIN : 0);
	o2_verbs_expect(world, "the queue that is ready", cq == (ready == NULL ? NULL : ready->cq), 1);
	o2_verbs_expect(world, "its context", context == (ready == NULL ? NULL : side), 1);
	acknowledge(world, side);
}

void o2_verbs_heard(struct o2_verbs_world *world, struct o2_verbs_side *side, int error,
		    struct ibv_async_event *event)
{
	o2_verbs_expect(world, "ibv_get_async_event", error, side->events == 0 ? EAGAIN : 0);
	if (side->events == 0 || world->report->failed)
		return;
	o2_verbs_expect(world, "event", event->event_type, side->event[0].type);
	o2_verbs_expect(world, "its object", event->element.cq == side->event[0].element, 1);
	ibv_ack_async_event(event);
	memmove(&side->event[0], &side->event[1], --side->events * sizeof(side->event[0]));
	o2_verbs_saw(world, O2_VERBS_SEEN_ASYNC);
}

void o2_verbs_step_async(struct o2_verbs_world *world)
{
	struct o2_verbs_side *side = &world->side[o2_draw(world->choice, 1)];
	struct ibv_async_event event = {.event_type = IBV_EVENT_DEVICE_FATAL};
	int found;

	snprintf(world->text, sizeof(world->text), "ibv_get_async_event %td", side - world->side);
	errno = 0;
	found = ibv_get_async_event(side->context, &event);
	o2_verbs_heard(world, side, found == 0 ? 0 : errno, &event);
}

/* --- beyond verbs --- */

static int on_fault(void *arg, enum o2_loop_call call, uint32_t qp_num)
{
	struct o2_verbs_world *world = arg;

	return o2_verbs_fault(&world->device_hook, call, qp_num);
}

static int on_pick(void *arg, const uint32_t *qp_nums, unsigned int count)
{
	struct o2_verbs_world *world = arg;
	struct o2_verbs_log *log = &world->device_log;

	if (log->picks < O2_VERBS_LOG) {
		struct o2_verbs_picked *picked = &log->pick[log->picks];

		picked->count = count;
		memcpy(picked->number, qp_nums,
		       (count < O2_VERBS_RUNS ? count : O2_VERBS_RUNS) * sizeof(qp_nums[0]));
	}
	log->picks++;
	return (int)o2_verbs_choose(&world->device_hook);
}

static void on_tap(void *arg, const struct o2_loop_seen *seen)
{
	struct o2_verbs_world *world = arg;
	struct o2_verbs_log *log = &world->device_log;

	log->tap[log->taps++ % O2_VERBS_LOG] = (struct o2_verbs_tapped){
		.from = seen->from_qp,
		.to = seen->to_qp,
		.is_write = seen->is_write,
		.bytes = seen->length_bytes,
		.at = seen->addr,
		.rkey = seen->rkey,
		.seen = seen->bytes_seen,
		.sum = seen->is_write ? 0 : o2_verbs_sum(seen->bytes, seen->bytes_seen),
	};
}

static void arm(struct o2_verbs_world *world)
{
	static const enum ibv_wc_status statuses[] = {IBV_WC_GENERAL_ERR, IBV_WC_RETRY_EXC_ERR,
						      IBV_WC_REM_ACCESS_ERR};
	struct o2_choice *c = world->choice;
	const enum o2_loop_call call = (enum o2_loop_call)o2_draw_pick(c, O2_LOOP_CALLS);
	const int error = call == O2_LOOP_CALL_EXECUTE ? (int)statuses[o2_draw_pick(c, 3)]
						       : (int)o2_draw_range(c, 1, 60);

	world->hook.after[call] = (uint32_t)o2_draw_range(c, 1, 3);
	world->hook.error[call] = error;
	memcpy(world->device_hook.after, world->hook.after, sizeof(world->hook.after));
	memcpy(world->device_hook.error, world->hook.error, sizeof(world->hook.error));
	snprintf(world->text, sizeof(world->text), "fault %d at call %d", error, (int)call);
}

void o2_verbs_hook(struct o2_verbs_world *world)
{
	o2_loop_set_fault(on_fault, world);
	o2_loop_set_tap(on_tap, world);
	o2_loop_set_pick(NULL, NULL);
}

void o2_verbs_step_hook(struct o2_verbs_world *world)
{
	struct o2_choice *c = world->choice;

	if (o2_draw_bool(c, 1, 1)) {
		arm(world);
		return;
	}
	world->hook.picks = !world->hook.picks;
	world->hook.random = o2_draw(c, UINT32_MAX);
	world->device_hook.random = world->hook.random;
	o2_loop_set_pick(world->hook.picks ? on_pick : NULL, world);
	snprintf(world->text, sizeof(world->text), "order %d", world->hook.picks);
}

static void forge(struct o2_verbs_world *world, struct o2_verbs_qp *qp)
{
	uint8_t bytes[300];
	const uint32_t count = (uint32_t)o2_draw(world->choice, sizeof(bytes));
	bool found, expected;

	for (uint32_t i = 0; i < count; i++)
		bytes[i] = (uint8_t)(i * 7 + world->step);
	found = o2_loop_forge(qp->number, bytes, count);
	expected = o2_verbs_forge(world, qp, bytes, count);
	if (expected)
		o2_verbs_saw(world, O2_VERBS_SEEN_FORGED);
	o2_verbs_expect(world, "o2_loop_forge", found, expected);
}

static void admit(struct o2_verbs_world *world, struct o2_verbs_qp *qp)
{
	static struct o2_verbs_bytes there;
	const uint32_t bytes = 1 + (uint32_t)o2_draw(world->choice, 300);
	uint64_t at;
	uint32_t key;
	bool expected;

	o2_verbs_draw_target(world, qp->side, bytes, IBV_ACCESS_REMOTE_WRITE, &at, &key);
	expected = (qp->state == IBV_QPS_RTR || qp->state == IBV_QPS_RTS) &&
		   (qp->attr.qp_access_flags & IBV_ACCESS_REMOTE_WRITE) != 0 &&
		   o2_verbs_peek(world, qp, key, at, bytes, IBV_ACCESS_REMOTE_WRITE, &there);
	if (expected)
		o2_verbs_saw(world, O2_VERBS_SEEN_ADMITTED);
	o2_verbs_expect(world, "o2_loop_admits_write", o2_loop_admits_write(qp->number, key, at, bytes),
			expected);
}

void o2_verbs_step_beyond(struct o2_verbs_world *world)
{
	struct o2_choice *c = world->choice;
	struct o2_verbs_qp *qp = &world->side[o2_draw(c, 1)].qp[o2_draw_pick(c, O2_VERBS_PAIRS)];
	const uint32_t which = (uint32_t)o2_draw(c, 5);
	bool found;

	snprintf(world->text, sizeof(world->text), "beyond verbs: %u at %u.%u", which, qp->side, qp->index);
	if (which == 0) {
		found = o2_loop_tick();
		o2_verbs_expect(world, "o2_loop_tick", found, o2_verbs_tick(world));
	} else if (which == 1) {
		const uint32_t runnables = world->runnables;

		found = o2_loop_progress();
		o2_verbs_run(world);
		if (!world->hook.picks)
			o2_verbs_expect(world, "o2_loop_progress", found, runnables > 0);
	} else if (which == 2) {
		o2_verbs_expect(world, "requests of nobody", o2_loop_sends_waiting(16), 0);
		o2_verbs_expect(world, "a message to nobody", o2_loop_forge(16, "", 1), 0);
		o2_verbs_expect(world, "an unknown option",
				o2_loop_set_option((enum o2_loop_option)O2_LOOP_OPTIONS, 1), -EINVAL);
		o2_verbs_expect(world, "a value of an option", o2_loop_set_option(O2_LOOP_SCRIBBLE, 2),
				-EINVAL);
	} else if (qp->qp != NULL) {
		if (which == 3)
			forge(world, qp);
		else if (which == 4)
			admit(world, qp);
		else
			o2_verbs_query(world, qp);
	}
}
