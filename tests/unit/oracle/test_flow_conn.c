/* SPDX-License-Identifier: MIT */
/*
 * Stage flow beside a connection: both get the same conversation, and must send the same messages with the
 * same credits at the same events.  A connection handles a message, answers it and reposts its receive in one
 * event, so these follow each arrival.  Nothing matches: a PUT ends with a PUT_NAK, a GET with a GET_DONE.
 */

#include "oracle/stages/flow_end.h"
#include "props/scenario/draw.h"
#include "tests/lib/lnd_talk.h"

#define CONVERSATIONS 5000u
#define SEED	      1u
#define EMPTY_NOOPS   8u /* in a conversation; so few count as no storm */
#define HEARD	      (2u * O2_IMPL_FLOW_MESSAGES)

struct meeting {
	uint64_t index;
	struct o2_case_flow asked; /* the conversation, without events that a connection does not have */
	struct o2_flow_end end;
	struct pair *pair; /* a is the end under test, b the peer */
	struct held held;  /* completions of a's sends that were not delivered yet */
	uint64_t now_ms;
	uint32_t empty_noops;
	struct {
		uint32_t first, end;
		uint64_t cookie[O2_IMPL_FLOW_EVENTS];
	} open[2]; /* a's requests that the peer has received: PUTs, GETs */
	uint32_t sent[O2_MSG_GET_DONE + 1], answers, closed, credits; /* seen in all conversations */
};

struct said {
	uint32_t count;
	struct o2_impl_flow_message message[HEARD];
};

/* Opens a connection with the parameters of the question, and puts its own tunables into the question. */
static void open_meeting(struct meeting *m, const struct o2_case_flow *drawn)
{
	struct o2_conn_config config = O2_CONN_DEFAULTS;
	struct o2_conn_view view;

	config.version = (uint16_t)drawn->ibm_version;
	config.queue_depth = config.peer_tx_credits = drawn->queue_depth;
	config.peercredits_hiw = drawn->high_water;
	config.concurrent_sends = drawn->concurrent_sends;
	config.keepalive_ms = drawn->keepalive_ms;
	config.timeout_ms = 0;
	o2_conn_destroy(m->pair->a.conn);
	o2_conn_destroy(m->pair->b.conn);
	m->pair->a.nresults = 0;
	pair_connect(m->pair, &config, &config);
	view = view_of(&m->pair->a);
	m->asked = *drawn;
	m->asked.count = 0;
	m->asked.high_water = view.flow.high_water;
	m->asked.concurrent_sends = view.flow.concurrent_sends;
	m->held.count = m->empty_noops = 0;
	m->pair->a.match_rc = -ENODATA;
	memset(m->open, 0, sizeof(m->open));
	o2_flow_begin(&m->end, &m->asked);
}

/* --- the stage --- */

/* After an arrival without credits, messages are sent only once it has been acted upon, not on arrival. */
static bool is_under_way(const struct o2_impl_flow_event *event)
{
	return event->kind == O2_IMPL_FLOW_RECEIVE && event->credits == 0;
}

static enum o2_flow_verdict take(struct meeting *m, struct o2_impl_flow_event event, struct said *said)
{
	enum o2_flow_verdict verdict;

	m->asked.event[m->asked.count++] = event;
	verdict = o2_flow_take(&m->end, m->asked.count - 1);
	if (verdict == O2_FLOW_IMPOSSIBLE)
		m->asked.count--;
	while (!is_under_way(&event) && o2_flow_next(&m->end, &said->message[said->count])) {
		o2_flow_post(&m->end, &said->message[said->count]);
		said->count++;
		assert_true(said->count < HEARD);
	}
	return verdict;
}

/* --- the connection --- */

static void start(struct side *a, uint32_t type)
{
	const struct o2_transfer_memory memory = talk_memory(0, 5000, O2_REG_GLOBAL);

	if (type == O2_MSG_IMMEDIATE)
		send_text(a, 0);
	else
		start_op(a->conn, type == O2_MSG_PUT_REQ ? O2_OP_PUT : O2_OP_GET, &memory, NULL);
}

/* Makes the peer send the message of the event. */
static void arrive(struct meeting *m, const struct o2_impl_flow_event *event)
{
	const bool get = event->type == O2_MSG_GET_DONE;
	struct o2_msg *msg;

	if (event->type != O2_MSG_PUT_NAK && !get) {
		send_plain(&m->pair->b, (enum o2_msg_type)event->type, (uint8_t)event->credits);
		return;
	}
	msg = o2_msg_begin(m->pair->b.conn, (enum o2_msg_type)event->type);
	msg->ibm_credits = (uint8_t)event->credits;
	assert_true(m->open[get].first < m->open[get].end);
	msg->u.completion.ibcm_cookie = m->open[get].cookie[m->open[get].first++];
	msg->u.completion.ibcm_status = -ENODATA;
	send_msg(&m->pair->b);
	m->answers++;
}

static void happen(struct meeting *m, const struct o2_impl_flow_event *event)
{
	struct side *a = &m->pair->a;

	if (event->kind == O2_IMPL_FLOW_QUEUE)
		start(a, event->type);
	else if (event->kind == O2_IMPL_FLOW_SENT)
		release(a, &m->held);
	else if (event->kind == O2_IMPL_FLOW_TICK)
		o2_conn_clock(a->conn, m->now_ms += event->ms);
	else
		arrive(m, event);
	deliver(a, &m->held, work_bit(O2_WORK_MESSAGE));
}

/* Collects the messages that the peer received; the peer only posts the receives again. */
static void listen(struct meeting *m, struct said *said)
{
	struct o2_conn *peer = m->pair->b.conn;
	struct o2_error error;
	struct ibv_wc wc;

	while (ibv_poll_cq(peer->cq, 1, &wc) == 1) {
		const uint8_t *bytes = o2_rx_bytes(peer, O2_RX_OF(wc.wr_id));
		struct o2_msg msg;

		if (wc.status != IBV_WC_SUCCESS || O2_WR_ID_WORK(wc.wr_id) != O2_WORK_RECV)
			continue;
		assert_true(said->count < HEARD);
		assert_true(o2_msg_decode(bytes, wc.byte_len, &peer->config.wire, &msg, &error) >= 0);
		said->message[said->count++] =
			(struct o2_impl_flow_message){.type = msg.ibm_type, .credits = msg.ibm_credits};
		if (msg.ibm_type == O2_MSG_PUT_REQ)
			m->open[0].cookie[m->open[0].end++] = msg.u.putreq.ibprm_cookie;
		if (msg.ibm_type == O2_MSG_GET_REQ)
			m->open[1].cookie[m->open[1].end++] = msg.u.get.ibgm_cookie;
		peer->recv_wrs--;
		assert_int_equal(o2_rx_post(peer, O2_RX_OF(wc.wr_id), &error), 0);
	}
}

/* --- both --- */

static void compare(struct meeting *m, const struct said *right, const struct said *heard)
{
	const bool closed = o2_conn_get_state(m->pair->a.conn) != O2_CONN_ESTABLISHED;

	if (closed != m->end.closed)
		fail_msg("conversation %llu, event %u: the connection is %s", (unsigned long long)m->index,
			 m->asked.count - 1, closed ? "closed" : "open");
	for (uint32_t i = 0; i < right->count || i < heard->count; i++) {
		const struct o2_impl_flow_message *r = &right->message[i], *h = &heard->message[i];

		if (i >= right->count || i >= heard->count || r->type != h->type || r->credits != h->credits)
			fail_msg("conversation %llu, event %u, message %u of %u and %u: 0x%x with %u "
				 "credits, the connection sends 0x%x with %u",
				 (unsigned long long)m->index, m->asked.count - 1, i, right->count,
				 heard->count, r->type, r->credits, h->type, h->credits);
		m->sent[h->type]++;
		m->credits += h->credits;
	}
}

/* Returns whether a connection has this event, and whether it belongs to these conversations. */
static bool is_taken(struct meeting *m, struct o2_impl_flow_event *event)
{
	const uint32_t spent = m->end.credits.queue_depth - m->end.credits.credits;

	switch (event->kind) {
	case O2_IMPL_FLOW_QUEUE:
		return event->type == O2_MSG_IMMEDIATE || event->type == O2_MSG_PUT_REQ ||
		       event->type == O2_MSG_GET_REQ;
	case O2_IMPL_FLOW_SENT:
		return m->end.credits.in_flight > 0;
	case O2_IMPL_FLOW_RECEIVE:
		/* Omitted events returned no credits.  One conversation in 4 may return too many. */
		if (event->credits > spent && m->index % 4 != 0)
			event->credits = spent;
		if (event->type == O2_MSG_NOOP && event->credits == 0)
			return m->empty_noops++ < EMPTY_NOOPS;
		return event->type != O2_MSG_PUT_ACK && event->type != O2_MSG_PUT_DONE &&
		       event->type != O2_MSG_CONNREQ && event->type != O2_MSG_CONNACK;
	default:
		return event->kind == O2_IMPL_FLOW_TICK;
	}
}

/* Gives the stage the events by which a connection answers an arrival: an answer, and the repost. */
static void act(struct meeting *m, uint32_t type, struct said *said)
{
	static const struct o2_impl_flow_event repost = {.kind = O2_IMPL_FLOW_REPOST};
	struct o2_impl_flow_event answer = {.kind = O2_IMPL_FLOW_QUEUE};

	if (type == O2_MSG_PUT_REQ || type == O2_MSG_GET_REQ) {
		answer.type = type == O2_MSG_PUT_REQ ? O2_MSG_PUT_NAK : O2_MSG_GET_DONE;
		(void)take(m, answer, said);
	}
	(void)take(m, repost, said);
}

static void converse(struct meeting *m, const struct o2_case_flow *drawn)
{
	open_meeting(m, drawn);
	/* A connection's event is up to three events of the stage. */
	for (uint32_t i = 0; i < drawn->count && !m->end.closed && m->asked.count + 3 <= O2_IMPL_FLOW_EVENTS;
	     i++) {
		struct o2_impl_flow_event event = drawn->event[i];
		struct said right = {.count = 0}, heard = {.count = 0};

		if (!is_taken(m, &event) || take(m, event, &right) == O2_FLOW_IMPOSSIBLE)
			continue;
		if (event.kind == O2_IMPL_FLOW_RECEIVE && !m->end.closed)
			act(m, event.type, &right);
		happen(m, &event);
		listen(m, &heard);
		compare(m, &right, &heard);
	}
	m->closed += m->end.closed;
}

TEST(test_a_connection_sends_what_the_stage_says)
{
	static struct o2_scenario scenario;
	static struct o2_choice choice;
	static struct meeting m;
	static struct o2_case asked;

	m.pair = pair_default(); /* its interfaces are reused, its connections are not */
	for (m.index = 0; m.index < CONVERSATIONS; m.index++) {
		o2_choice_random(&choice, SEED, m.index);
		o2_draw_case(&choice, O2_STAGE_FLOW, &asked, &scenario);
		if (o2_choice_ok(&choice))
			converse(&m, &asked.flow);
	}
	pair_close(m.pair);
	assert_true(m.sent[O2_MSG_IMMEDIATE] > CONVERSATIONS / 2 && m.sent[O2_MSG_NOOP] > CONVERSATIONS / 10);
	assert_true(m.sent[O2_MSG_PUT_REQ] > CONVERSATIONS / 10 &&
		    m.sent[O2_MSG_GET_REQ] > CONVERSATIONS / 10);
	assert_true(m.sent[O2_MSG_PUT_NAK] > CONVERSATIONS / 10 &&
		    m.sent[O2_MSG_GET_DONE] > CONVERSATIONS / 10);
	assert_true(m.answers > CONVERSATIONS / 10 && m.credits > CONVERSATIONS / 2);
	assert_true(m.closed > CONVERSATIONS / 100);
}
