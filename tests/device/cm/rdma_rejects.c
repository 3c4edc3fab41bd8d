/* SPDX-License-Identifier: MIT */
/*
 * A node over librdmacm gets requests from a program that is no node: checks the answer to each kind of
 * request, byte by byte, and what happens to requests that nobody answers.
 */
#include "base/monotonic.h"
#include "tests/device/cm/rdma_world.h"
#include "tests/lib/cm_event.h"

/* The program that sends the requests: the world's first seat, without a node. */
struct asker {
	struct world *world;
	struct o2_conn *conn;
	struct o2_cm_id *id;
	uint32_t nevents;
	struct o2_cm_event event; /* the last event */
	uint8_t bytes[256];
	struct o2_cm_id *asked; /* a request that it received and does not answer */
	uint16_t asked_from_port;
};

static void on_event(void *context, const struct o2_cm_event *event)
{
	struct asker *asker = context;

	if (event->type == O2_CM_REQUEST) {
		asker->asked = event->id;
		asker->asked_from_port = event->origin.port;
		return;
	}
	if (event->id == asker->asked) {
		asker->asked->cm->ops->destroy(asker->asked);
		asker->asked = NULL;
		return;
	}
	asker->nevents++;
	asker->event = *event;
	assert_true(event->private_bytes <= sizeof(asker->bytes));
	if (event->private_bytes > 0)
		memcpy(asker->bytes, event->private_data, event->private_bytes);
}

static void asker_join(struct asker *asker, const struct o2_node_config *config)
{
	struct seat *seat;

	memset(asker, 0, sizeof(*asker));
	asker->world = world_open(NULL, config);
	seat = &asker->world->seat[0];
	o2_node_destroy(seat->node);
	seat->node = NULL;
	seat->cm->handler = on_event;
	seat->cm->context = asker;
}

static void asker_forget(struct asker *asker)
{
	if (asker->id != NULL)
		asker->id->cm->ops->destroy(asker->id);
	asker->id = NULL;
	if (asker->asked != NULL)
		asker->asked->cm->ops->destroy(asker->asked);
	asker->asked = NULL;
	o2_conn_destroy(asker->conn);
	asker->conn = NULL;
}

static void asker_leave(struct asker *asker)
{
	asker_forget(asker);
	world_close(asker->world);
}

static struct o2_connreq_self asker_self(const struct asker *asker)
{
	return (struct o2_connreq_self){
		.nid = seat_nid(asker->world, 0), .incarnation = 0x1234, .version = 0x12};
}

static void ask_at(struct asker *asker, const uint8_t *bytes, size_t length, uint32_t address, uint16_t port,
		   bool privileged)
{
	struct seat *seat = &asker->world->seat[0];
	struct o2_conn_config config = O2_CONN_DEFAULTS;
	struct o2_cm_target target = {
		.address = address,
		.port = port,
		.privileged_port = privileged,
		.resolve_timeout_ms = 2000,
	};
	struct o2_cm_param param;
	struct o2_error error;

	config.queue_depth = 2;
	config.max_frags = 16;
	assert_int_equal(o2_conn_create(&seat->side.ni, &config, side_ops(), &seat->side, &asker->conn, NULL),
			 0);
	param = (struct o2_cm_param){
		.qp = o2_conn_qp(asker->conn),
		.retry_count = 5,
		.rnr_retry_count = 6,
		.ack_timeout = 14,
		.private_data = bytes,
		.private_bytes = length,
	};
	asker->nevents = 0;
	if (seat->cm->ops->connect(seat->cm, &target, &param, asker, &asker->id, &error) != 0) {
		show_error("connect", &error);
		fail();
	}
}

static void ask(struct asker *asker, const uint8_t *bytes, size_t length)
{
	ask_at(asker, bytes, length, seat_address(&asker->world->seat[1]), TEST_PORT, true);
	world_until(asker->world, asker->nevents > 0);
}

/* Asserts that the answer is a reject with this reason and version. */
static void assert_reject(const struct asker *asker, uint8_t why, uint16_t version)
{
	struct o2_reject reject;

	if (asker->event.type != O2_CM_REJECTED)
		fail_msg("%s in place of a reject with reason %u", cm_event_name(asker->event.type), why);
	assert_int_equal(asker->event.reason, O2_CM_REJECT_CONSUMER);
	assert_int_equal(asker->event.private_bytes, O2_CM_REJECT_BYTES);
	assert_int_equal(o2_reject_decode(asker->bytes, asker->event.private_bytes, &reject, NULL), 0);
	assert_int_equal(reject.ibr_why, why);
	assert_int_equal(reject.ibr_version, version);
	for (size_t i = O2_REJECT_BYTES; i < O2_CM_REJECT_BYTES; i++)
		assert_int_equal(asker->bytes[i], 0);
}

struct probe {
	const char *what;
	struct o2_conn_params says;
	uint8_t why; /* of the reject; 0: accepted */
	uint64_t dststamp;
	uint64_t nid;	  /* of the asker; 0: its own NID */
	uint64_t dstnid;  /* 0: the node's NID */
	uint16_t version; /* overwrites the version of the request */
	uint16_t told;	  /* version of the reject record */
};

TEST(answers)
{
	static const struct probe probes[] = {
		{.what = "usual", .says = {0x12, 8, 257, 4096}},
		{.what = "depth 4", .says = {0x12, 4, 257, 4096}},
		{.what = "version 1", .says = {0x11, 8, 257, 4096}},
		{.what = "16 fragments", .says = {0x12, 8, 16, 4096}},
		{.what = "messages of 2048", .says = {0x12, 8, 257, 2048}},
		{.what = "depth 16", .says = {0x12, 16, 257, 4096}, .why = 7},
		{.what = "depth 1", .says = {0x12, 1, 257, 4096}, .why = 7},
		{.what = "258 fragments", .says = {0x12, 8, 258, 4096}, .why = 6},
		{.what = "no fragments", .says = {0x12, 8, 0, 4096}, .why = 6},
		{.what = "messages of 8192", .says = {0x12, 8, 257, 8192}, .why = 3},
		{.what = "version 1, depth 16", .says = {0x11, 16, 257, 4096}, .why = 3, .told = 0x11},
		{.what = "version 0x13", .says = {0x12, 8, 257, 4096}, .why = 3, .version = 0x13},
		{.what = "another stamp", .says = {0x12, 8, 257, 4096}, .why = 5, .dststamp = 7},
		{.what = "another NID", .says = {0x12, 8, 257, 4096}, .why = 3, .dstnid = 0x000500000a000001},
		{.what = "borrowed NID", .says = {0x12, 8, 257, 4096}, .why = 3, .nid = 0x000500000a000001},
	};
	struct asker asker;

	asker_join(&asker, NULL);
	for (size_t i = 0; i < sizeof(probes) / sizeof(probes[0]); i++) {
		const struct probe *probe = &probes[i];
		struct o2_connreq_self self = asker_self(&asker);
		uint8_t bytes[O2_CONNREQ_BYTES];

		if (probe->nid != 0)
			self.nid = probe->nid;
		/* Each request has its own incarnation, so that the node remembers no earlier one. */
		self.incarnation += i;
		assert_int_equal(
			o2_connreq_build(&self, &probe->says,
					 probe->dstnid != 0 ? probe->dstnid : seat_nid(asker.world, 1),
					 probe->dststamp, bytes, sizeof(bytes), NULL),
			O2_CONNREQ_BYTES);
		if (probe->version != 0)
			o2_store16(bytes + 4, O2_LITTLE_ENDIAN, probe->version);
		ask(&asker, bytes, sizeof(bytes));
		if (probe->why != 0) {
			assert_reject(&asker, probe->why, probe->told != 0 ? probe->told : 0x12);
		} else {
			struct o2_conn_params agreed;
			uint64_t incarnation;

			if (asker.event.type != O2_CM_ESTABLISHED)
				fail_msg("%s: %s", probe->what, cm_event_name(asker.event.type));
			assert_int_equal(asker.event.private_bytes, O2_CM_REPLY_BYTES);
			assert_int_equal(o2_connack_judge(&self, &probe->says, asker.bytes,
							  asker.event.private_bytes, &agreed, &incarnation,
							  NULL),
					 0);
			assert_int_equal(agreed.queue_depth, probe->says.queue_depth);
			assert_int_equal(agreed.max_frags, probe->says.max_frags);
			assert_int_equal(agreed.max_msg_size, O2_MSG_BYTES);
		}
		asker_forget(&asker);
		world_until(asker.world, o2_node_npeers(asker.world->seat[1].node) == 0);
	}
	asker_leave(&asker);
}

static void ask_usual(struct asker *asker, bool privileged)
{
	struct o2_conn_params says = {0x12, 8, 257, 4096};
	struct o2_connreq_self self = asker_self(asker);
	uint8_t bytes[O2_CONNREQ_BYTES];

	assert_int_equal(
		o2_connreq_build(&self, &says, seat_nid(asker->world, 1), 0, bytes, sizeof(bytes), NULL),
		O2_CONNREQ_BYTES);
	ask_at(asker, bytes, sizeof(bytes), seat_address(&asker->world->seat[1]), TEST_PORT, privileged);
	world_until(asker->world, asker->nevents > 0);
}

/* Reasons that depend on the node's state and settings, not on the message. */
TEST(answers_of_a_node)
{
	struct o2_node_config config = usual_config();
	struct asker asker;

	asker_join(&asker, NULL);
	o2_node_set_up(asker.world->seat[1].node, false);
	ask_usual(&asker, true);
	assert_reject(&asker, O2_REJECT_EARLY, 0x12);
	asker_leave(&asker);

	config.max_conns_per_peer = 1;
	config.require_privileged_port = true;
	asker_join(&asker, &config);
	ask_usual(&asker, false);
	assert_reject(&asker, O2_REJECT_FATAL, 0x12);
	asker_forget(&asker);
	ask_usual(&asker, true);
	assert_int_equal(asker.event.type, O2_CM_ESTABLISHED);
	{
		struct o2_cm_id *first = asker.id;
		struct o2_conn *conn = asker.conn;

		ask_usual(&asker, true);
		assert_reject(&asker, O2_REJECT_NO_RESOURCES, 0x12);
		first->cm->ops->destroy(first);
		o2_conn_destroy(conn);
	}
	asker_leave(&asker);
}

/* The node is asking the asker when the asker, which has the lower rank, sends its own request. */
TEST(connection_race)
{
	struct asker asker;
	struct world *world;

	asker_join(&asker, NULL);
	world = asker.world;
	/* The port on which its node listened is still open. */
	put(world, 1);
	world_until(world, asker.asked != NULL);
	assert_uint_in_range(asker.asked_from_port, 512, 1023);
	ask_usual(&asker, true);
	assert_reject(&asker, O2_REJECT_CONN_RACE, 0x12);
	asker_leave(&asker);
}

/* A peer that receives the request and never answers it. */
TEST(silence)
{
	struct o2_node_config config = usual_config();
	struct asker asker;
	uint64_t start_ms;

	config.conn.timeout_ms = 4000; /* an attempt gets at least 5 s */
	asker_join(&asker, &config);
	start_ms = o2_monotonic_ms();
	put(asker.world, 1);
	world_until(asker.world, asker.world->seat[1].nended == 1);
	assert_int_equal(asker.world->seat[1].status[0], -ENETDOWN);
	assert_uint_in_range(o2_monotonic_ms() - start_ms, 4900, 9000);
	asker_leave(&asker);
}

TEST(wrong_port)
{
	struct asker asker;
	uint8_t bytes[O2_CONNREQ_BYTES] = {0};

	asker_join(&asker, NULL);
	ask_at(&asker, bytes, sizeof(bytes), seat_address(&asker.world->seat[1]), TEST_PORT + 1, true);
	world_until(asker.world, asker.nevents > 0);
	assert_int_equal(asker.event.type, O2_CM_REJECTED);
	assert_int_equal(asker.event.reason, O2_CM_REJECT_NO_LISTENER);
	asker_leave(&asker);
}

/* No request at all, and a truncated one: both are the codec's business, and fatal. */
TEST(no_message)
{
	struct asker asker;
	uint8_t bytes[O2_CONNREQ_BYTES] = {0};

	asker_join(&asker, NULL);
	ask(&asker, bytes, 0);
	assert_reject(&asker, O2_REJECT_FATAL, 0x12);
	asker_forget(&asker);
	ask(&asker, bytes, 17);
	assert_reject(&asker, O2_REJECT_FATAL, 0x12);
	asker_leave(&asker);
}
