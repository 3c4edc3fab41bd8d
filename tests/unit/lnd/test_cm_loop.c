/* SPDX-License-Identifier: MIT */
/*
 * The in-process connection manager by itself: which side each call and each fate of a message reports an
 * event to, that the caller chooses the order of delivery, and that queue pairs reach RTS.
 */
#include "tests/lib/cm_event.h"
#include "tests/lib/lnd_pair.h"

#include "lnd/cm/loop.h"

#define ADDRESS_A 0xc0a80a01u
#define ADDRESS_B 0xc0a80a02u
#define PORT	  987
#define EVENTS	  16u

/* One node: the events that its handler got, and its answer to requests. */
struct seat {
	struct side *side;
	struct o2_cm *cm;
	uint32_t nevents;
	struct o2_cm_event event[EVENTS];
	uint8_t bytes[EVENTS][O2_CM_REPLY_BYTES];
	bool accept, reject, destroy; /* the answer to a request; if none is set, the request is kept */
	struct o2_cm_id *id;
};

struct table {
	struct pair *pair;
	struct o2_cm_loop *loop;
	struct seat a, b;
	enum o2_cm_loop_fate fate[O2_CM_LOOP_FAILURE + 1]; /* by message */
};

static struct o2_cm_param param(struct seat *seat, const char *text)
{
	return (struct o2_cm_param){
		.qp = o2_conn_qp(seat->side->conn),
		.retry_count = 5,
		.rnr_retry_count = 6,
		.ack_timeout = 14,
		.private_data = (const uint8_t *)text,
		.private_bytes = strlen(text),
	};
}

static void on_event(void *context, const struct o2_cm_event *event)
{
	struct seat *seat = context;
	struct o2_cm_param reply = param(seat, "welcome");

	assert_true(seat->nevents < EVENTS);
	assert_true(event->private_bytes <= O2_CM_REPLY_BYTES);
	seat->event[seat->nevents] = *event;
	if (event->private_bytes > 0)
		memcpy(seat->bytes[seat->nevents], event->private_data, event->private_bytes);
	seat->nevents++;
	if (event->type != O2_CM_REQUEST)
		return;
	seat->id = event->id;
	if (seat->accept)
		assert_int_equal(seat->cm->ops->accept(event->id, &reply, NULL), 0);
	if (seat->reject)
		seat->cm->ops->reject(event->id, (const uint8_t *)"no", 2);
	if (seat->destroy) {
		seat->cm->ops->destroy(event->id);
		seat->id = NULL;
	}
}

static enum o2_cm_loop_fate on_fate(void *arg, enum o2_cm_loop_message message, uint32_t from, uint32_t to)
{
	struct table *table = arg;

	assert_true(from != to && (from == ADDRESS_A || from == ADDRESS_B));
	return table->fate[message];
}

static void seat_take(struct table *table, struct seat *seat, struct side *side, uint32_t address)
{
	seat->side = side;
	assert_int_equal(o2_cm_loop_attach(table->loop, &side->ni, address, &seat->cm, NULL), 0);
	seat->cm->handler = on_event;
	seat->cm->context = seat;
}

/* Opens two nodes with queue pairs in INIT; b listens. */
static struct table *table_set(void)
{
	struct table *table = calloc(1, sizeof(*table));
	struct o2_conn_config config = O2_CONN_DEFAULTS;

	assert_non_null(table);
	table->pair = calloc(1, sizeof(*table->pair));
	table->loop = o2_cm_loop_create();
	assert_non_null(table->pair);
	assert_non_null(table->loop);
	side_open(&table->pair->a, true, O2_DMA_VIRTUAL, 0);
	side_open(&table->pair->b, false, O2_DMA_VIRTUAL, 0);
	for (int i = 0; i < 2; i++) {
		struct side *side = i == 0 ? &table->pair->a : &table->pair->b;

		assert_int_equal(o2_conn_create(&side->ni, &config, side_ops(), side, &side->conn, NULL), 0);
	}
	seat_take(table, &table->a, &table->pair->a, ADDRESS_A);
	seat_take(table, &table->b, &table->pair->b, ADDRESS_B);
	assert_int_equal(table->b.cm->ops->listen(table->b.cm, PORT, NULL), 0);
	table->b.accept = true;
	o2_cm_loop_set_fate(table->loop, on_fate, table);
	return table;
}

static void leave(struct seat *seat)
{
	if (seat->id != NULL)
		seat->cm->ops->destroy(seat->id);
	seat->id = NULL;
}

static void table_clear(struct table *table)
{
	leave(&table->a);
	leave(&table->b);
	while (o2_cm_loop_deliver(table->loop, 0))
		;
	o2_cm_loop_detach(table->a.cm);
	o2_cm_loop_detach(table->b.cm);
	o2_cm_loop_destroy(table->loop);
	pair_close(table->pair);
	free(table);
}

#define TABLE_TEST(name) TEST_ON(name, struct table, table, table_set(), table_clear)

static void ask_at(struct table *table, uint32_t address, uint16_t port)
{
	struct o2_cm_target target = {.address = address, .port = port};
	struct o2_cm_param ask = param(&table->a, "hello");

	assert_int_equal(table->a.cm->ops->connect(table->a.cm, &target, &ask, table, &table->a.id, NULL), 0);
	assert_ptr_equal(table->a.id->context, table);
}

static void ask(struct table *table)
{
	ask_at(table, ADDRESS_B, PORT);
}

static void run(struct table *table)
{
	while (o2_cm_loop_deliver(table->loop, 0))
		;
}

static void assert_told(const struct seat *seat, uint32_t index, enum o2_cm_event_type type)
{
	if (seat->nevents <= index || seat->event[index].type != type)
		fail_msg("event %u of %u is not %s", index, seat->nevents, cm_event_name(type));
}

static enum ibv_qp_state qp_state(const struct seat *seat)
{
	struct ibv_qp_init_attr init;
	struct ibv_qp_attr attr;

	assert_int_equal(ibv_query_qp(o2_conn_qp(seat->side->conn), &attr, IBV_QP_STATE, &init), 0);
	return attr.qp_state;
}

/* Asserts that the private data is text, followed only by zeros. */
static void assert_bytes(const struct seat *seat, uint32_t index, const char *text, size_t padded_bytes)
{
	uint8_t expected[O2_CM_REPLY_BYTES] = {0};

	memcpy(expected, text, strlen(text));
	assert_int_equal(seat->event[index].private_bytes, padded_bytes);
	assert_memory_equal(seat->bytes[index], expected, padded_bytes);
}

TABLE_TEST(accepted)
{
	ask(table);
	assert_int_equal(table->b.nevents, 0); /* no call invokes a handler itself */
	run(table);
	assert_int_equal(table->a.nevents, 1);
	assert_int_equal(table->b.nevents, 2);
	assert_told(&table->b, 0, O2_CM_REQUEST);
	assert_bytes(&table->b, 0, "hello", O2_CM_REQUEST_BYTES);
	assert_true(table->b.event[0].origin.ipv4);
	assert_int_equal(table->b.event[0].origin.address, ADDRESS_A);
	assert_told(&table->a, 0, O2_CM_ESTABLISHED);
	assert_bytes(&table->a, 0, "welcome", O2_CM_REPLY_BYTES);
	assert_told(&table->b, 1, O2_CM_ESTABLISHED);
	assert_int_equal(qp_state(&table->a), IBV_QPS_RTS);
	assert_int_equal(qp_state(&table->b), IBV_QPS_RTS);

	table->b.cm->ops->disconnect(table->b.id);
	run(table);
	assert_told(&table->a, 1, O2_CM_DISCONNECTED);
	assert_told(&table->b, 2, O2_CM_DISCONNECTED);
	table->b.cm->ops->disconnect(table->b.id); /* no effect: the connection has already ended */
	run(table);
	assert_int_equal(table->a.nevents + table->b.nevents, 5);
}

TABLE_TEST(refused)
{
	table->b.accept = false;
	table->b.reject = true;
	ask(table);
	run(table);
	assert_int_equal(table->a.nevents, 1);
	assert_told(&table->a, 0, O2_CM_REJECTED);
	assert_int_equal(table->a.event[0].reason, O2_CM_REJECT_CONSUMER);
	assert_bytes(&table->a, 0, "no", O2_CM_REJECT_BYTES);
}

/* A fate of one message, and the last event that each side gets after it. */
struct lot {
	const char *what;
	enum o2_cm_loop_message message;
	enum o2_cm_loop_fate fate;
	int told_a, told_b; /* the last event of a and of b; -1: none */
	uint32_t reason;    /* the reason in a's event */
};

TEST(fates)
{
	static const struct lot lots[] = {
		{"request lost", O2_CM_LOOP_REQUEST, O2_CM_LOOP_LOSE, -1, -1, 0},
		{"request unreachable", O2_CM_LOOP_REQUEST, O2_CM_LOOP_UNREACHABLE, O2_CM_UNREACHABLE, -1, 0},
		{"request unresolved", O2_CM_LOOP_REQUEST, O2_CM_LOOP_UNRESOLVED, O2_CM_UNRESOLVED, -1, 0},
		{"request refused", O2_CM_LOOP_REQUEST, O2_CM_LOOP_REFUSE, O2_CM_REJECTED, -1, 8},
		{"reply lost", O2_CM_LOOP_REPLY, O2_CM_LOOP_LOSE, -1, O2_CM_REQUEST, 0},
		{"reply unreachable", O2_CM_LOOP_REPLY, O2_CM_LOOP_UNREACHABLE, -1, O2_CM_UNREACHABLE, 0},
		{"ready lost", O2_CM_LOOP_READY, O2_CM_LOOP_LOSE, O2_CM_ESTABLISHED, O2_CM_REQUEST, 0},
	};

	for (size_t i = 0; i < sizeof(lots) / sizeof(lots[0]); i++) {
		struct table *table = table_set();

		table->fate[lots[i].message] = lots[i].fate;
		ask(table);
		run(table);
		if (lots[i].told_a < 0)
			assert_int_equal(table->a.nevents, 0);
		else
			assert_told(&table->a, table->a.nevents - 1, (enum o2_cm_event_type)lots[i].told_a);
		if (lots[i].told_b < 0)
			assert_int_equal(table->b.nevents, 0);
		else
			assert_told(&table->b, table->b.nevents - 1, (enum o2_cm_event_type)lots[i].told_b);
		if (lots[i].reason != 0)
			assert_int_equal(table->a.event[0].reason, lots[i].reason);
		table_clear(table);
	}
}

TABLE_TEST(nobody_there)
{
	ask_at(table, 0x01020304, PORT);
	run(table);
	assert_told(&table->a, 0, O2_CM_UNRESOLVED);
	assert_int_equal(table->a.event[0].code, -EHOSTUNREACH);
	leave(&table->a);
	ask_at(table, ADDRESS_B, PORT + 1);
	run(table);
	assert_told(&table->a, 1, O2_CM_REJECTED);
	assert_int_equal(table->a.event[1].reason, O2_CM_REJECT_NO_LISTENER);
}

/* An id is destroyed at each point of an attempt: the other side gets an event, its own side no more. */
TEST(destroyed)
{
	for (uint32_t steps = 0; steps <= 3; steps++) {
		struct table *table = table_set();

		ask(table);
		for (uint32_t i = 0; i < steps; i++)
			o2_cm_loop_deliver(table->loop, 0);
		leave(&table->a);
		run(table);
		assert_told(&table->b, table->b.nevents - 1, steps < 2 ? O2_CM_REJECTED : O2_CM_DISCONNECTED);
		assert_int_equal(table->a.nevents, steps < 2 ? 0 : 1);
		table_clear(table);
	}
	for (uint32_t accepts = 0; accepts < 2; accepts++) {
		struct table *table = table_set();

		table->b.destroy = true; /* from inside the event's handler */
		table->b.accept = accepts;
		ask(table);
		run(table);
		assert_int_equal(table->b.nevents, 1);
		assert_told(&table->a, table->a.nevents - 1, O2_CM_REJECTED);
		table_clear(table);
	}
}

/* Two attempts, one in each direction: messages of different ids may be delivered in any order. */
TABLE_TEST(any_order)
{
	struct o2_cm_target target = {.address = ADDRESS_A, .port = PORT};
	struct o2_cm_param from_b = param(&table->b, "me too");
	struct o2_cm_id *id;

	table->b.accept = false;
	assert_int_equal(table->a.cm->ops->listen(table->a.cm, PORT, NULL), 0);
	ask(table);
	assert_int_equal(table->b.cm->ops->connect(table->b.cm, &target, &from_b, table, &id, NULL), 0);
	assert_int_equal(o2_cm_loop_choices(table->loop), 2);
	leave(&table->a); /* the request has already been sent */
	assert_true(o2_cm_loop_deliver(table->loop, 1));
	assert_told(&table->a, 0, O2_CM_REQUEST);
	assert_int_equal(table->b.nevents, 0);
	assert_false(o2_cm_loop_deliver(table->loop, 1));
	assert_true(o2_cm_loop_deliver(table->loop, 0));
	assert_told(&table->b, 0, O2_CM_REQUEST);
	table->b.cm->ops->destroy(id);
	run(table);
	assert_told(&table->a, 1, O2_CM_REJECTED);
	assert_false(o2_cm_loop_deliver(table->loop, 0));
}

/* Messages to one id are delivered in the order in which they were sent. */
TABLE_TEST(one_order)
{
	ask(table);
	assert_true(o2_cm_loop_deliver(table->loop, 0));
	table->b.cm->ops->disconnect(table->b.id);
	assert_int_equal(o2_cm_loop_choices(table->loop), 1);
	assert_false(o2_cm_loop_deliver(table->loop, 1));
	run(table);
	assert_told(&table->a, 0, O2_CM_ESTABLISHED);
	assert_told(&table->a, 1, O2_CM_DISCONNECTED);
}

TABLE_TEST(private_data_limits)
{
	struct o2_cm_target target = {.address = ADDRESS_B, .port = PORT};
	struct o2_cm_param ask_too_much = param(&table->a, "");
	uint8_t bytes[O2_CM_REPLY_BYTES + 1] = {0};
	struct o2_error error;
	struct o2_cm *cm;

	ask_too_much.private_data = bytes;
	ask_too_much.private_bytes = O2_CM_REQUEST_BYTES + 1;
	assert_int_equal(
		table->a.cm->ops->connect(table->a.cm, &target, &ask_too_much, NULL, &table->a.id, &error),
		-EINVAL);
	assert_string_equal(error.rule, "cm/private-data");
	table->b.accept = false;
	ask(table);
	run(table);
	ask_too_much = param(&table->b, "");
	ask_too_much.private_data = bytes;
	ask_too_much.private_bytes = O2_CM_REPLY_BYTES + 1;
	assert_int_equal(table->b.cm->ops->accept(table->b.id, &ask_too_much, &error), -EINVAL);
	assert_int_equal(o2_cm_loop_attach(table->loop, &table->pair->a.ni, ADDRESS_A, &cm, &error),
			 -EADDRINUSE);
}
