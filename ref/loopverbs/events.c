/* SPDX-License-Identifier: MIT */
/* Completion channels and asynchronous events.  Each has a file descriptor that works with poll(2). */
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "loopverbs/internal.h"

/* Decrement a semaphore eventfd that is known to be above 0. */
static void take(int fd)
{
	eventfd_t one;

	(void)!eventfd_read(fd, &one);
}

/* Block until fd is readable, or fail with EAGAIN if fd is non-blocking.  The lock must not be held. */
static int wait_readable(int fd)
{
	struct pollfd p = {.fd = fd, .events = POLLIN};
	int flags = fcntl(fd, F_GETFL);

	if (flags < 0)
		return -1;
	if (flags & O_NONBLOCK)
		return o2l_refuse_call(EAGAIN);
	return poll(&p, 1, -1) < 0 ? -1 : 0;
}

struct ibv_comp_channel *ibv_create_comp_channel(struct ibv_context *context)
{
	struct o2l_channel *channel = calloc(1, sizeof(*channel));

	if (!channel)
		return o2l_refuse_object(ENOMEM);
	channel->ibv.context = context;
	channel->ibv.fd = eventfd(0, EFD_SEMAPHORE | EFD_CLOEXEC);
	if (channel->ibv.fd < 0) {
		free(channel);
		return NULL;
	}
	TAILQ_INIT(&channel->ready);
	o2l_lock();
	LIST_INSERT_HEAD(&o2l_context_of(context)->channels, channel, link);
	o2l_fabric.counters.live_channels++;
	o2l_unlock();
	return &channel->ibv;
}

void o2l_channel_free(struct o2l_channel *channel)
{
	LIST_REMOVE(channel, link);
	o2l_fabric.counters.live_channels--;
	close(channel->ibv.fd);
	free(channel);
}

int ibv_destroy_comp_channel(struct ibv_comp_channel *ibv)
{
	int error = 0;

	o2l_lock();
	if (ibv->refcnt)
		error = EBUSY;
	else
		o2l_channel_free(O2L_CONTAINER(ibv, struct o2l_channel, ibv));
	o2l_unlock();
	return error;
}

void o2l_channel_notify(struct o2l_cq *cq)
{
	struct o2l_channel *channel;

	if (!cq->ibv.channel)
		return;
	channel = O2L_CONTAINER(cq->ibv.channel, struct o2l_channel, ibv);
	if (cq->events_pending++ == 0)
		TAILQ_INSERT_TAIL(&channel->ready, cq, ready_link);
	(void)!eventfd_write(channel->ibv.fd, 1);
}

void o2l_channel_forget(struct o2l_cq *cq)
{
	struct o2l_channel *channel = O2L_CONTAINER(cq->ibv.channel, struct o2l_channel, ibv);

	if (cq->events_pending)
		TAILQ_REMOVE(&channel->ready, cq, ready_link);
	for (; cq->events_pending; cq->events_pending--)
		take(channel->ibv.fd);
}

/* Take one event of the completion queue that has waited longest; NULL if there is none. */
static struct o2l_cq *next_ready(struct o2l_channel *channel)
{
	struct o2l_cq *cq = TAILQ_FIRST(&channel->ready);

	if (!cq)
		return NULL;
	TAILQ_REMOVE(&channel->ready, cq, ready_link);
	if (--cq->events_pending)
		TAILQ_INSERT_TAIL(&channel->ready, cq, ready_link);
	cq->events_delivered++;
	take(channel->ibv.fd);
	return cq;
}

static bool is_ready(const void *channel)
{
	return !TAILQ_EMPTY(&((const struct o2l_channel *)channel)->ready);
}

int ibv_get_cq_event(struct ibv_comp_channel *ibv, struct ibv_cq **cq, void **cq_context)
{
	struct o2l_channel *channel = O2L_CONTAINER(ibv, struct o2l_channel, ibv);

	for (;;) {
		struct o2l_cq *ready;

		o2l_lock();
		o2l_run();
		o2l_sleep(is_ready, channel); /* the program sleeps until an event, so time passes */
		ready = next_ready(channel);
		if (ready) {
			*cq = &ready->ibv;
			*cq_context = ready->ibv.cq_context;
		}
		o2l_unlock();
		if (ready)
			return 0;
		if (wait_readable(ibv->fd))
			return -1;
	}
}

void ibv_ack_cq_events(struct ibv_cq *cq, unsigned int nevents)
{
	o2l_lock();
	cq->comp_events_completed += nevents;
	o2l_unlock();
}

void o2l_async(struct ibv_context *context, const struct ibv_async_event *event)
{
	struct o2l_async_event *e = malloc(sizeof(*e));

	if (!e)
		return; /* out of memory: the event is lost, and cannot be reported */
	e->event = *event;
	TAILQ_INSERT_TAIL(&o2l_context_of(context)->events, e, link);
	(void)!eventfd_write(context->async_fd, 1);
}

/* All members of the union `element` are pointers or smaller, so comparing one of them is enough. */
void o2l_async_forget(struct o2l_context *context, const void *element)
{
	struct o2l_async_event *e = TAILQ_FIRST(&context->events);

	while (e) {
		struct o2l_async_event *next = TAILQ_NEXT(e, link);

		if (!element || (const void *)e->event.element.cq == element) {
			TAILQ_REMOVE(&context->events, e, link);
			take(context->verbs.context.async_fd);
			free(e);
		}
		e = next;
	}
}

static bool has_event(const void *context)
{
	return !TAILQ_EMPTY(&((const struct o2l_context *)context)->events);
}

int ibv_get_async_event(struct ibv_context *context, struct ibv_async_event *event)
{
	struct o2l_context *c = o2l_context_of(context);

	for (;;) {
		struct o2l_async_event *e;

		o2l_lock();
		if (!has_event(c) && !(fcntl(context->async_fd, F_GETFL) & O_NONBLOCK)) {
			o2l_run();
			o2l_sleep(has_event, c);
		}
		e = TAILQ_FIRST(&c->events);
		if (e) {
			TAILQ_REMOVE(&c->events, e, link);
			take(context->async_fd);
			*event = e->event;
		}
		o2l_unlock();
		if (e) {
			free(e);
			return 0;
		}
		if (wait_readable(context->async_fd))
			return -1;
	}
}

/* Destroying an object does not wait for acknowledgements here, so they are not counted. */
void ibv_ack_async_event(struct ibv_async_event *event)
{
	(void)event;
}
