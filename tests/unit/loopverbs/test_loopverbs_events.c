/* SPDX-License-Identifier: MIT */
/* Completion channels, asynchronous events, shared receive queues, threads, and the engine's own controls. */
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <unistd.h>

#include "tests/device/loopverbs/pair.h"

static int readable(int fd)
{
	struct pollfd f = {.fd = fd, .events = POLLIN};

	return poll(&f, 1, 0);
}

APART_TEST(channel_names_the_queue)
{
	struct ibv_comp_channel *channel = ibv_create_comp_channel(p->b.context);
	struct ibv_cq *cq[2], *got;
	int tags[2];
	void *context;

	assert_int_equal(ibv_destroy_qp(p->b.qp), 0);
	ibv_destroy_cq(p->b.scq);
	ibv_destroy_cq(p->b.rcq);
	for (int i = 0; i < 2; i++)
		cq[i] = ibv_create_cq(p->b.context, 10, &tags[i], channel, 0);
	p->b.scq = cq[0];
	p->b.rcq = cq[1];
	p->b.qp = pair_create_qp(&p->b, 0);
	pair_connect(p, &pair_defaults);
	assert_int_equal(fcntl(channel->fd, F_SETFL, O_NONBLOCK), 0);
	assert_int_equal(ibv_req_notify_cq(cq[0], 0), 0);
	assert_int_equal(ibv_req_notify_cq(cq[1], 0), 0);
	assert_int_equal(readable(channel->fd), 0);
	assert_int_equal(ibv_get_cq_event(channel, &got, &context), -1);
	assert_int_equal(errno, EAGAIN);
	for (int i = 0; i < 3; i++) {
		assert_int_equal(post_recv(p->b.qp, 1, NULL, 0), 0);
		assert_int_equal(post_send(p->a.qp, 1, IBV_WR_SEND, 0, NULL, 0), 0);
	}
	assert_int_equal(readable(channel->fd), 1);
	assert_int_equal(ibv_get_cq_event(channel, &got, &context), 0);
	assert_ptr_equal(got, cq[1]);
	assert_ptr_equal(context, &tags[1]);
	assert_int_equal(readable(channel->fd), 0); /* one event for each request for notification */
	assert_int_equal(ibv_req_notify_cq(cq[1], 0), 0);
	assert_int_equal(post_recv(p->b.qp, 1, NULL, 0), 0);
	assert_int_equal(post_send(p->a.qp, 1, IBV_WR_SEND, 0, NULL, 0), 0);
	assert_int_equal(ibv_get_cq_event(channel, &got, &context), 0);
	assert_int_equal(ibv_destroy_qp(p->b.qp), 0);
	p->b.qp = NULL;
	for (int i = 0; i < 2; i++) { /* each of the two events has to be acknowledged */
		assert_int_equal(ibv_destroy_cq(cq[1]), EBUSY);
		ibv_ack_cq_events(got, 1);
	}
	assert_int_equal(ibv_destroy_cq(cq[1]), 0);
	assert_int_equal(ibv_destroy_cq(cq[0]), 0);
	assert_int_equal(ibv_destroy_comp_channel(channel), 0);
	p->b.scq = ibv_create_cq(p->b.context, 1, NULL, NULL, 0);
	p->b.rcq = ibv_create_cq(p->b.context, 1, NULL, NULL, 0);
}

/* Replace this side's queue pair by one whose completion queue sends events to the channel. */
static void use_channel(struct side *side, struct ibv_cq **queue, struct ibv_comp_channel *channel)
{
	assert_int_equal(ibv_destroy_qp(side->qp), 0);
	*queue = ibv_create_cq(side->context, 10, NULL, channel, 0);
	side->qp = pair_create_qp(side, 0);
}

static void leave_channel(struct side *side, struct ibv_cq **queue, struct ibv_cq *plain,
			  struct ibv_comp_channel *channel)
{
	assert_int_equal(ibv_destroy_qp(side->qp), 0);
	side->qp = NULL;
	assert_int_equal(ibv_destroy_cq(*queue), 0);
	assert_int_equal(ibv_destroy_comp_channel(channel), 0);
	*queue = plain;
}

APART_TEST(solicited_only)
{
	struct ibv_comp_channel *channel = ibv_create_comp_channel(p->b.context);
	struct ibv_cq *plain = p->b.rcq;

	use_channel(&p->b, &p->b.rcq, channel);
	pair_connect(p, &pair_defaults);
	for (int i = 0; i < 2; i++)
		assert_int_equal(post_recv(p->b.qp, 1, NULL, 0), 0);
	assert_int_equal(ibv_req_notify_cq(p->b.rcq, 1), 0);
	assert_int_equal(post_send(p->a.qp, 1, IBV_WR_SEND, 0, NULL, 0), 0);
	assert_int_equal(readable(channel->fd), 0);
	assert_int_equal(post_send(p->a.qp, 1, IBV_WR_SEND, IBV_SEND_SOLICITED, NULL, 0), 0);
	assert_int_equal(readable(channel->fd), 1);
	assert_int_equal(ibv_destroy_qp(p->b.qp), 0);
	p->b.qp = NULL;
	assert_int_equal(ibv_destroy_cq(p->b.rcq), 0); /* with an event that was not read */
	assert_int_equal(readable(channel->fd), 0);
	p->b.rcq = plain;
	assert_int_equal(ibv_destroy_comp_channel(channel), 0);
}

APART_TEST(overrun)
{
	struct ibv_cq *big = p->a.scq;
	struct ibv_async_event event;

	assert_int_equal(ibv_destroy_qp(p->a.qp), 0);
	p->a.scq = ibv_create_cq(p->a.context, 3, NULL, NULL, 0);
	p->a.qp = pair_create_qp(&p->a, 0);
	pair_connect(p, &pair_defaults);
	for (uint64_t i = 0; i < 5; i++)
		assert_int_equal(post_rdma(p->a.qp, i, IBV_WR_RDMA_WRITE, NULL, 0, 0, 0), 0);
	for (int i = 0; i < 2; i++) { /* one event for each lost completion */
		assert_int_equal(readable(p->a.context->async_fd), 1);
		assert_int_equal(ibv_get_async_event(p->a.context, &event), 0);
		assert_int_equal(event.event_type, IBV_EVENT_CQ_ERR);
		assert_ptr_equal(event.element.cq, p->a.scq);
		ibv_ack_async_event(&event);
	}
	assert_int_equal(readable(p->a.context->async_fd), 0);
	for (uint64_t i = 0; i < 3; i++)
		expect_wc(p->a.scq, i, IBV_WC_SUCCESS);
	expect_empty(p->a.scq);
	expect_state(p->a.qp, IBV_QPS_RTS);
	assert_int_equal(post_rdma(p->a.qp, 9, IBV_WR_RDMA_WRITE, NULL, 0, 0, 0), 0); /* the QP still works */
	expect_wc(p->a.scq, 9, IBV_WC_SUCCESS);
	assert_int_equal(ibv_resize_cq(p->a.scq, 10), 0);
	assert_int_equal(p->a.scq->cqe, 15);
	for (uint64_t i = 0; i < 12; i++)
		assert_int_equal(post_rdma(p->a.qp, i, IBV_WR_RDMA_WRITE, NULL, 0, 0, 0), 0);
	assert_int_equal(ibv_resize_cq(p->a.scq, 11), EINVAL);
	for (uint64_t i = 0; i < 12; i++)
		expect_wc(p->a.scq, i, IBV_WC_SUCCESS);
	assert_int_equal(ibv_destroy_cq(big), 0);
}

APART_TEST(shared_receive_queue)
{
	/* ibv_create_srq(3): the limit is irrelevant here. */
	struct ibv_srq_init_attr srq_init = {.attr = {.max_wr = 8, .max_sge = 1, .srq_limit = UINT32_MAX}};
	struct ibv_srq_attr attr = {.max_wr = 1, .srq_limit = 2};
	struct ibv_srq *srq = ibv_create_srq(p->b.pd, &srq_init);
	struct ibv_qp_init_attr init = {.send_cq = p->b.scq,
					.recv_cq = p->b.rcq,
					.srq = srq,
					.qp_type = IBV_QPT_RC,
					.cap = {4, 0, 1, 0, 0}};
	struct ibv_qp_init_attr foreign = init;
	struct ibv_recv_wr wr = {.wr_id = 70}, *bad;
	struct ibv_async_event event;

	assert_non_null(srq);
	assert_int_equal(ibv_modify_srq(srq, &attr, IBV_SRQ_LIMIT), 0);
	assert_int_equal(ibv_modify_srq(srq, &attr, IBV_SRQ_MAX_WR), EINVAL); /* below the limit */
	foreign.send_cq = p->a.scq;
	foreign.recv_cq = p->a.rcq;
	assert_null(ibv_create_qp(p->a.pd, &foreign));
	assert_int_equal(errno, EINVAL);
	assert_int_equal(ibv_destroy_qp(p->b.qp), 0);
	p->b.qp = ibv_create_qp(p->b.pd, &init);
	pair_connect(p, &pair_defaults);
	assert_int_equal(post_recv(p->b.qp, 1, NULL, 0), EINVAL);
	assert_int_equal(post_send(p->a.qp, 1, IBV_WR_SEND, IBV_SEND_SIGNALED, NULL, 0), 0); /* waits */
	for (int i = 0; i < 3; i++, wr.wr_id++)
		assert_int_equal(ibv_post_srq_recv(srq, &wr, &bad), 0);
	expect_wc(p->a.scq, 1, IBV_WC_SUCCESS);
	expect_wc(p->b.rcq, 70, IBV_WC_SUCCESS);
	assert_int_equal(readable(p->b.context->async_fd),
			 1); /* the first receive was used at once: none was left, below the limit */
	assert_int_equal(ibv_get_async_event(p->b.context, &event), 0);
	assert_int_equal(event.event_type, IBV_EVENT_SRQ_LIMIT_REACHED);
	assert_int_equal(ibv_destroy_srq(srq), EBUSY);
	/* A queue pair in error leaves the shared receives to others; an event says that it takes no more. */
	assert_int_equal(pair_to_state(p->b.qp, IBV_QPS_ERR), 0);
	expect_empty(p->b.rcq);
	assert_int_equal(ibv_get_async_event(p->b.context, &event), 0);
	assert_int_equal(event.event_type, IBV_EVENT_QP_LAST_WQE_REACHED);
	assert_ptr_equal(event.element.qp, p->b.qp);
	assert_int_equal(ibv_destroy_qp(p->b.qp), 0);
	p->b.qp = NULL;
	assert_int_equal(ibv_destroy_srq(srq), 0);
}

/* One thread sleeps on its channel, the other sends. */
static void *sender(void *arg)
{
	struct pair *p = arg;

	for (int i = 0; i < 500; i++)
		while (post_send(p->a.qp, 1, IBV_WR_SEND, 0, NULL, 0) == ENOMEM)
			;
	return NULL;
}

APART_TEST(two_threads)
{
	struct ibv_comp_channel *channel = ibv_create_comp_channel(p->b.context);
	struct ibv_cq *plain = p->b.rcq, *got;
	pthread_t thread;
	void *context;
	int received = 0;
	struct ibv_wc wc;

	use_channel(&p->b, &p->b.rcq, channel);
	pair_connect(p, &pair_defaults);
	assert_int_equal(ibv_req_notify_cq(p->b.rcq, 0), 0);
	assert_int_equal(post_recv(p->b.qp, 1, NULL, 0), 0);
	assert_int_equal(pthread_create(&thread, NULL, sender, p), 0);
	while (received < 500) {
		assert_int_equal(ibv_get_cq_event(channel, &got, &context), 0);
		ibv_ack_cq_events(got, 1);
		assert_int_equal(ibv_req_notify_cq(got, 0), 0);
		while (ibv_poll_cq(got, 1, &wc)) {
			assert_int_equal(wc.status, IBV_WC_SUCCESS);
			received++;
			assert_int_equal(post_recv(p->b.qp, 1, NULL, 0), 0);
		}
	}
	assert_int_equal(pthread_join(thread, NULL), 0);
	leave_channel(&p->b, &p->b.rcq, plain, channel);
}

/* A program that arms its completion queue and sleeps in poll(2) is also woken when retries are exhausted. */
APART_TEST(time_passes_for_a_sleeper)
{
	struct pair_options o = pair_defaults;
	struct ibv_comp_channel *channel = ibv_create_comp_channel(p->a.context);
	struct ibv_cq *plain = p->a.scq;
	struct o2_loop_counters before, after;

	o.rnr_retry = 5;
	use_channel(&p->a, &p->a.scq, channel);
	pair_connect(p, &o);
	o2_loop_get_counters(&before);
	assert_int_equal(post_send(p->a.qp, 1, IBV_WR_SEND, 0, NULL, 0), 0);
	assert_int_equal(ibv_req_notify_cq(p->a.scq, 0), 0);
	expect_wc(p->a.scq, 1, IBV_WC_RNR_RETRY_EXC_ERR);
	assert_int_equal(readable(channel->fd), 1);
	o2_loop_get_counters(&after);
	assert_int_equal(after.rnr_waits - before.rnr_waits, 6);
	assert_int_equal(after.clock_ns - before.clock_ns, 5 * 640000); /* timer 12 is 0.64 ms */
	leave_channel(&p->a, &p->a.scq, plain, channel);
}

/* With endless retries there is always a timer: neither call may keep the lock for ever. */
APART_TEST(endless_retries_end_a_sleep)
{
	struct pair_options o = pair_defaults;
	struct ibv_comp_channel *channel = ibv_create_comp_channel(p->a.context);
	struct ibv_cq *plain = p->a.scq, *got;
	void *context;

	alarm(60);
	o.retry_cnt = 7;
	use_channel(&p->a, &p->a.scq, channel);
	assert_int_equal(o2_loop_set_option(O2_LOOP_FINITE_RETRY, 0), 0);
	assert_int_equal(pair_to_init(p->a.qp, o.access), 0);
	assert_int_equal(pair_to_rtr(p->a.qp, p->b.qp, &o), 0);
	assert_int_equal(pair_to_rts(p->a.qp, &o), 0);
	assert_int_equal(fcntl(channel->fd, F_SETFL, O_NONBLOCK), 0);
	assert_int_equal(ibv_req_notify_cq(p->a.scq, 0), 0);
	assert_int_equal(post_rdma(p->a.qp, 1, IBV_WR_RDMA_WRITE, NULL, 0, 0, 0), 0);
	assert_int_equal(ibv_get_cq_event(channel, &got, &context), -1);
	assert_int_equal(errno, EAGAIN);
	expect_empty(p->a.scq);
	assert_int_equal(o2_loop_set_option(O2_LOOP_FINITE_RETRY, 1), 0);
	alarm(0);
	leave_channel(&p->a, &p->a.scq, plain, channel);
}

/* A program that sleeps in ibv_get_async_event is woken when retries are exhausted. */
APART_TEST(time_passes_until_an_asynchronous_event)
{
	struct ibv_srq_init_attr srq_init = {.attr = {.max_wr = 1}};
	struct ibv_srq *srq = ibv_create_srq(p->a.pd, &srq_init);
	struct ibv_qp_init_attr init = {.send_cq = p->a.scq,
					.recv_cq = p->a.rcq,
					.srq = srq,
					.qp_type = IBV_QPT_RC,
					.cap = {.max_send_wr = 1}};
	struct ibv_async_event event;

	alarm(60);
	assert_int_equal(ibv_destroy_qp(p->a.qp), 0);
	p->a.qp = ibv_create_qp(p->a.pd, &init);
	assert_int_equal(pair_to_init(p->a.qp, PAIR_ALL_ACCESS), 0);
	assert_int_equal(pair_to_rtr(p->a.qp, p->b.qp, &pair_defaults), 0);
	assert_int_equal(pair_to_rts(p->a.qp, &pair_defaults), 0);
	assert_int_equal(post_rdma(p->a.qp, 1, IBV_WR_RDMA_WRITE, NULL, 0, 0, 0), 0);
	assert_int_equal(ibv_get_async_event(p->a.context, &event), 0);
	assert_int_equal(event.event_type, IBV_EVENT_QP_LAST_WQE_REACHED);
	assert_ptr_equal(event.element.qp, p->a.qp);
	expect_wc(p->a.scq, 1, IBV_WC_RETRY_EXC_ERR);
	alarm(0);
	assert_int_equal(ibv_destroy_qp(p->a.qp), 0);
	p->a.qp = NULL;
	assert_int_equal(ibv_destroy_srq(srq), 0);
}

/* A request that was begun is finished in SQD, and only then is the queue drained; no other request begins. */
PAIR_TEST(drained_when_nothing_is_under_way)
{
	struct ibv_qp_attr attr = {.qp_state = IBV_QPS_SQD, .en_sqd_async_notify = 1};
	const int mask = IBV_QP_STATE | IBV_QP_EN_SQD_ASYNC_NOTIFY;
	struct ibv_qp_init_attr init;
	struct ibv_async_event event;

	for (uint64_t i = 1; i <= 2; i++)
		assert_int_equal(post_send(p->a.qp, i, IBV_WR_SEND, IBV_SEND_SIGNALED, NULL, 0), 0);
	assert_int_equal(ibv_modify_qp(p->a.qp, &attr, mask), 0);
	assert_int_equal(readable(p->a.context->async_fd), 0);
	assert_int_equal(ibv_query_qp(p->a.qp, &attr, IBV_QP_STATE, &init), 0);
	assert_int_equal(attr.sq_draining, 1);
	for (uint64_t i = 1; i <= 2; i++)
		assert_int_equal(post_recv(p->b.qp, i, NULL, 0), 0);
	expect_wc(p->a.scq, 1, IBV_WC_SUCCESS);
	expect_empty(p->a.scq);
	assert_int_equal(readable(p->a.context->async_fd), 1);
	assert_int_equal(ibv_get_async_event(p->a.context, &event), 0);
	assert_int_equal(event.event_type, IBV_EVENT_SQ_DRAINED);
	assert_int_equal(readable(p->a.context->async_fd), 0);
	assert_int_equal(ibv_query_qp(p->a.qp, &attr, IBV_QP_STATE, &init), 0);
	assert_int_equal(attr.sq_draining, 0);
	assert_int_equal(pair_to_state(p->a.qp, IBV_QPS_RTS), 0);
	expect_wc(p->a.scq, 2, IBV_WC_SUCCESS);
}

struct script {
	const char *turns; /* 'l'ast, 'f'irst, 's'top */
	int used;
};

static int play(void *arg, const uint32_t *qp_nums, unsigned int count)
{
	struct script *script = arg;
	char turn = script->turns[script->used];

	assert_non_null(qp_nums);
	assert_true(count >= 1);
	if (turn == '\0')
		return 0;
	script->used++;
	return turn == 's' ? -1 : turn == 'l' ? (int)count - 1 : 0;
}

TEST(interleaving_is_chosen)
{
	static const struct {
		const char *turns;
		uint8_t want; /* byte that b's write carries: 1 if a's write came first */
	} cases[] = {{"ff", 1}, {"lf", 0}, {"sfsl", 1}, {"sslf", 0}};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct pair *p = pair_open(&pair_defaults);
		struct script script = {"ss", 0};
		struct ibv_sge one = sge_of(p->a.mr, addr_of(p->a.buf), 1);
		struct ibv_sge two = sge_of(p->b.mr, addr_of(p->b.buf) + 50, 1);
		uint64_t sink = addr_of(p->a.buf) + 51;

		/* a writes a byte of b, and b sends that byte back; nothing runs while they are posted. */
		p->a.buf[0] = 1;
		p->a.buf[51] = 0xee;
		o2_loop_set_pick(play, &script);
		assert_int_equal(post_rdma(p->a.qp, 1, IBV_WR_RDMA_WRITE, &one, 1, two.addr, p->b.mr->rkey),
				 0);
		assert_int_equal(post_rdma(p->b.qp, 2, IBV_WR_RDMA_WRITE, &two, 1, sink, p->a.mr->rkey), 0);
		assert_int_equal(p->b.buf[50], 0);
		assert_int_equal(p->a.buf[51], 0xee);
		script = (struct script){cases[i].turns, 0};
		for (int j = 0; j < 4; j++)
			o2_loop_progress();
		assert_int_equal(p->a.buf[51], cases[i].want);
		assert_int_equal(script.used, (int)strlen(cases[i].turns));
		o2_loop_set_pick(NULL, NULL);
		expect_wc(p->a.scq, 1, IBV_WC_SUCCESS);
		expect_wc(p->b.scq, 2, IBV_WC_SUCCESS);
		assert_false(o2_loop_progress());
		pair_close(p);
	}
}

/* A request that could run but was postponed has not begun: SQD holds it back. */
PAIR_TEST(postponed_until_after_sqd)
{
	struct script script = {"ss", 0};

	o2_loop_set_pick(play, &script);
	assert_int_equal(post_rdma(p->a.qp, 1, IBV_WR_RDMA_WRITE, NULL, 0, 0, 0), 0);
	assert_int_equal(pair_to_state(p->a.qp, IBV_QPS_SQD), 0);
	o2_loop_set_pick(NULL, NULL);
	assert_false(o2_loop_progress());
	assert_int_equal(o2_loop_sends_waiting(p->a.qp->qp_num), 1);
	assert_int_equal(pair_to_state(p->a.qp, IBV_QPS_RTS), 0);
	expect_wc(p->a.scq, 1, IBV_WC_SUCCESS);
}

/* After a reset of the fabric, a program gets the same queue pair numbers and keys again. */
TEST(reset_repeats)
{
	uint32_t key[2], number[2];
	struct o2_loop_counters c;

	for (int i = 0; i < 2; i++) {
		struct pair *p;

		o2_loop_reset();
		p = pair_open(&pair_defaults);
		assert_non_null(ibv_alloc_mw(p->a.pd, IBV_MW_TYPE_2));
		assert_int_equal(post_send(p->a.qp, 1, IBV_WR_SEND, 0, NULL, 0), 0); /* left waiting */
		key[i] = p->a.mr->rkey;
		number[i] = p->b.qp->qp_num;
		o2_loop_reset(); /* destroys all objects of the pair */
		o2_loop_get_counters(&c);
		assert_int_equal(c.live_contexts + c.live_mrs + c.live_mws + c.live_qps, 0);
		assert_int_equal(c.posted_sends, 0);
		ibv_free_device_list(p->list);
		free(p->a.buf);
		free(p->b.buf);
		free(p);
	}
	assert_int_equal(key[0], key[1]);
	assert_int_equal(number[0], number[1]);
}
