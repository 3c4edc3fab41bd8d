/* SPDX-License-Identifier: MIT */
/* A thread sleeps until an asynchronous event occurs, or a signal arrives. */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "props/verbs/verbs_internal.h"

#define PATIENCE_S 20 /* a thread that has not woken by then is a finding, even on a slow machine */

struct sleeper {
	struct ibv_context *context;
	struct ibv_async_event event;
	int error;
	_Atomic pid_t id;
	atomic_bool over;
};

static void *sleep_there(void *arg)
{
	struct sleeper *sleeper = arg;

	errno = 0;
	sleeper->id = gettid();
	sleeper->error = ibv_get_async_event(sleeper->context, &sleeper->event) == 0 ? 0 : errno;
	sleeper->over = true;
	return NULL;
}

static bool is_asleep(pid_t id)
{
	char path[48], line[128] = "";
	const char *end;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/self/task/%d/stat", (int)id);
	file = fopen(path, "r");
	if (file == NULL)
		return false;
	if (fgets(line, sizeof(line), file) == NULL)
		line[0] = '\0';
	fclose(file);
	end = strrchr(line, ')');
	return end != NULL && strncmp(end, ") S", 3) == 0;
}

/* Wait until the thread sleeps (wanted) or has returned; false: neither happened. */
static bool settle(const struct sleeper *sleeper, bool wanted)
{
	const time_t started = time(NULL);

	while (!sleeper->over && !(wanted && sleeper->id != 0 && is_asleep(sleeper->id))) {
		if (time(NULL) - started > PATIENCE_S)
			return false;
		sched_yield();
	}
	return true;
}

static void on_signal(int number)
{
	(void)number;
}

/* ibv_get_async_event(3), poll(2): the call returns EINTR. */
static void interrupt(struct o2_verbs_world *world, struct sleeper *sleeper, pthread_t thread)
{
	const struct sigaction caught = {.sa_handler = on_signal};
	struct sigaction before;

	sigaction(SIGURG, &caught, &before);
	if (!sleeper->over)
		pthread_kill(thread, SIGURG);
	o2_verbs_expect(world, "an interrupted sleep ends", settle(sleeper, false), true);
	if (!sleeper->over) { /* wake it so that it can be joined */
		fcntl(sleeper->context->async_fd, F_SETFL, O_NONBLOCK);
		pthread_kill(thread, SIGURG);
	}
	pthread_join(thread, NULL);
	sigaction(SIGURG, &before, NULL);
	o2_verbs_expect(world, "an interrupted ibv_get_async_event", sleeper->error, EINTR);
	o2_verbs_saw(world, O2_VERBS_SEEN_INTERRUPTED);
}

/*
 * A queue pair with a shared receive queue reports an event when it moves to ERR.  NULL: there is an event
 * already, since time has passed.
 */
static void wake(struct o2_verbs_world *world, struct o2_verbs_side *side, struct sleeper *sleeper,
		 pthread_t thread, struct o2_verbs_qp *qp)
{
	bool woken;

	if (qp != NULL)
		o2_verbs_end_pair(world, qp);
	woken = settle(sleeper, false);
	o2_verbs_expect(world, "a sleeper wakes with an event", woken, true);
	if (!woken) {
		pthread_cancel(thread);
		pthread_join(thread, NULL);
		return;
	}
	pthread_join(thread, NULL);
	o2_verbs_heard(world, side, sleeper->error, &sleeper->event);
	o2_verbs_saw(world, qp != NULL ? O2_VERBS_SEEN_ASLEEP : O2_VERBS_SEEN_TIMED_EVENT);
}

/* Before a program sleeps the clock advances until an event occurs: docs/loopverbs.md, "Time". */
static void pass_time(struct o2_verbs_world *world, const struct o2_verbs_side *side)
{
	o2_verbs_run(world);
	while (side->events == 0 && o2_verbs_tick(world))
		;
}

static void *allocate(void *arg)
{
	void *volatile some = malloc(1);

	free(some);
	return arg;
}

void o2_verbs_warm_up(void)
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, allocate, NULL) == 0)
		pthread_join(thread, NULL);
}

void o2_verbs_step_sleep(struct o2_verbs_world *world)
{
	struct o2_verbs_side *side = &world->side[o2_draw(world->choice, 1)];
	bool seldom = o2_draw_bool(world->choice, 5, 1); /* a thread takes as long as many steps */
	const bool interrupted = o2_draw_bool(world->choice, 1, 1);
	struct sleeper sleeper = {.context = side->context};
	struct o2_verbs_qp *qp = NULL;
	pthread_t thread;

	for (uint32_t i = 0; i < O2_VERBS_PAIRS; i++)
		if (side->qp[i].qp != NULL && side->qp[i].shared && side->qp[i].state != IBV_QPS_ERR &&
		    side->qp[i].state != IBV_QPS_RESET) {
			qp = &side->qp[i];
			/* It will report an event when its retries are used up. */
			seldom |= qp->wait != O2_VERBS_NO_WAIT && qp->due_ns != O2_VERBS_NEVER;
		}
	snprintf(world->text, sizeof(world->text), "asleep in ibv_get_async_event %td, interrupted %d",
		 side - world->side, interrupted);
	if (!seldom || side->events > 0 || (!interrupted && qp == NULL) || o2_verbs_sleeps_for_ever(world))
		return;
	fcntl(side->context->async_fd, F_SETFL, 0);
	if (pthread_create(&thread, NULL, sleep_there, &sleeper) == 0) {
		o2_verbs_expect(world, "asleep", settle(&sleeper, true), true);
		pass_time(world, side);
		if (side->events > 0)
			wake(world, side, &sleeper, thread, NULL);
		else if (interrupted)
			interrupt(world, &sleeper, thread);
		else
			wake(world, side, &sleeper, thread, qp);
	}
	fcntl(side->context->async_fd, F_SETFL, O_NONBLOCK);
}
