/* SPDX-License-Identifier: MIT */

/*
 * The client of a test and the memory of bulks (docs/lst.md, "Tests and batches"): what the client sends, and its
 * results for each kind of answer.  Side A is the client; side B is a server whose answers the test sets.
 */

#include "lst/test.h"
#include "tests/lib/lst_seat.h"

#define RPC_PAGE   400u
#define BULK_PAGE  100u
#define BULK_PAGES 260u

/* What the server does. */
enum act { WELL, STATUS, WRONG_MAGIC, WRONG_SEQ, FLIP, SHORT, SILENT };

struct world {
	struct o2_lnet_pair pair;
	struct o2_lst_rpc *client, *server;
	struct o2_lst_pages *pages;
	struct o2_lst_tester *tester;
	enum act act;
	uint32_t flip_at;	/* FLIP: the byte of a read that is changed */
	uint32_t status;	/* STATUS: the status of the reply */
	uint32_t again;		/* RPCs still to be started from the callback */
	struct o2_lst_msg seen; /* the last request */
	struct o2_transfer_memory memory;
	uint32_t nresults;
	struct o2_lst_test_result result;
	uint64_t id;
};

static void reply_to(struct world *world, uint64_t served, uint32_t type)
{
	struct o2_lst_msg reply = {.msg_type = type};

	if (type == O2_LST_PING_REPLY) {
		reply.u.ping_reply.pnr_magic = world->act == WRONG_MAGIC ? 7 : O2_LST_PING_MAGIC;
		reply.u.ping_reply.pnr_seq =
			world->seen.u.ping_reqst.pnr_seq + (world->act == WRONG_SEQ ? 1 : 0);
	}
	reply.u.reply.status = world->act == STATUS ? world->status : 0;
	o2_lst_served_reply(world->server, served, &reply);
}

static void serve_request(void *context, const struct o2_lst_request *request)
{
	struct world *world = context;
	const struct o2_lst_brw_reqst *brw = &request->msg->u.brw_reqst;
	uint8_t *bytes = o2_lnet_side_bytes(&world->pair.b, BULK_PAGE);
	struct o2_transfer_memory endless;
	uint32_t len;

	world->seen = *request->msg;
	if (world->act == SILENT) {
		o2_lst_served_drop(world->server, request->served, -EIO);
		return;
	}
	if (request->msg->msg_type == O2_LST_PING_REQST || world->act == STATUS) {
		reply_to(world, request->served, request->msg->msg_type + 1);
		return;
	}
	len = world->act == SHORT ? brw->brw_len / 2 : brw->brw_len;
	world->memory = lnet_side_memory(&world->pair.b, 0, BULK_PAGE, len);
	memset(bytes, 0, len);
	if (brw->brw_rw == O2_LST_BRW_WRITE) {
		assert_int_equal(o2_lst_served_get(world->server, request->served, &world->memory), 0);
		return;
	}
	/* Bulk that cannot be sent is refused; after that, other bulk may be sent. */
	endless = world->memory;
	endless.buffer.nob = UINT64_MAX;
	assert_true(o2_lst_served_put(world->server, request->served, &endless) < 0);
	o2_lst_pattern_fill(bytes, len, 0, O2_LST_CHECK_FULL, O2_BIG_ENDIAN);
	if (world->act == FLIP)
		bytes[world->flip_at] ^= 1;
	assert_int_equal(o2_lst_served_put(world->server, request->served, &world->memory), 0);
}

static void serve_moved(void *context, uint64_t served, int status, uint64_t bytes)
{
	reply_to(context, served, O2_LST_BRW_REPLY);
}

static void serve_over(void *context, uint64_t served, int status)
{
}

static const struct o2_lst_service_ops service_ops = {serve_request, serve_moved, serve_over};

static struct o2_lst_rpc *open_rpc(struct o2_lnet_side *side, enum o2_byte_order order)
{
	struct o2_lst_rpc_config config = O2_LST_RPC_DEFAULTS;

	config.first_page = RPC_PAGE;
	config.max_calls = 4;
	config.order = order;
	return lst_rpc_open(side, &config);
}

static struct world *open_world(void)
{
	static struct world world;
	struct o2_lnet_side *a = &world.pair.a;

	memset(&world, 0, sizeof(world));
	world.status = EBADMSG;
	lnet_pair_open(&world.pair, NULL);
	world.client = open_rpc(a, O2_LITTLE_ENDIAN);
	world.server = open_rpc(&world.pair.b, O2_BIG_ENDIAN);
	assert_int_equal(
		o2_lst_pages_create(&a->arena, BULK_PAGE, BULK_PAGES, O2_REG_GLOBAL, &world.pages, NULL), 0);
	assert_int_equal(o2_lst_tester_create(3, world.client, world.pages, &a->clock, &world.tester, NULL),
			 0);
	assert_int_equal(o2_lst_serve(world.server, O2_LST_SERVICE_BRW, &service_ops, &world, NULL), 0);
	assert_int_equal(o2_lst_serve(world.server, O2_LST_SERVICE_PING, &service_ops, &world, NULL), 0);
	return &world;
}

static void close_world(struct world *world)
{
	assert_int_equal(o2_lst_tester_active(world->tester), 0);
	assert_int_equal(o2_lst_pages_used(world->pages), 0);
	o2_lst_rpc_stop(world->server, -ESHUTDOWN);
	o2_lst_tester_destroy(world->tester);
	o2_lst_pages_destroy(world->pages);
	lnet_pair_close(&world->pair);
	o2_lst_rpc_destroy(world->client);
	o2_lst_rpc_destroy(world->server);
}

#define TESTER_TEST(name) TEST_ON(name, struct world, world, open_world(), close_world)

static int try_test(struct world *world, const struct o2_lst_test *test, struct o2_error *error);

static const struct o2_lst_test ping = {.service = O2_LST_SERVICE_PING, .features = 1};

static void note_result(void *context, const struct o2_lst_test_result *result)
{
	struct world *world = context;

	world->nresults++;
	world->result = *result;
	if (world->again > 0) {
		world->again--;
		assert_int_equal(try_test(world, &ping, NULL), 0);
	}
}

static int try_test(struct world *world, const struct o2_lst_test *test, struct o2_error *error)
{
	const struct o2_lst_try asked = {
		.test = test, .nid = NID_B, .done = note_result, .context = world, .tag = 42};

	return o2_lst_test_start(world->tester, &asked, &world->id, error);
}

static void run(struct world *world, const struct o2_lst_test *test, enum act act,
		enum o2_lst_failure failure, int status)
{
	world->act = act;
	world->nresults = 0;
	assert_int_equal(try_test(world, test, NULL), 0);
	o2_lnet_deliver_all(&world->pair);
	assert_int_equal(world->nresults, 1);
	assert_int_equal(world->result.tag, 42);
	assert_int_equal(world->result.failure, failure);
	assert_int_equal(world->result.status, status);
}

static struct o2_lst_test brw(enum o2_lst_brw_rw rw, enum o2_lst_brw_check check, uint32_t len,
			      uint32_t offset)
{
	return (struct o2_lst_test){.service = O2_LST_SERVICE_BRW,
				    .features = 1,
				    .rw = rw,
				    .check = check,
				    .len = len,
				    .offset = offset};
}

TESTER_TEST(test_pings)
{
	run(world, &ping, WELL, O2_LST_FAILURE_NONE, 0);
	assert_int_equal(world->seen.u.ping_reqst.pnr_seq, 0);
	assert_int_equal(world->seen.u.ping_reqst.pnr_magic, 0xbabeface);
	assert_int_equal(world->seen.msg_ses_feats, 1);
	run(world, &ping, WRONG_MAGIC, O2_LST_FAILURE_ANSWER, -EBADMSG);
	run(world, &ping, WRONG_SEQ, O2_LST_FAILURE_ANSWER, -EBADMSG);
	run(world, &ping, STATUS, O2_LST_FAILURE_STATUS, -EBADMSG);
	assert_int_equal(world->seen.u.ping_reqst.pnr_seq, 3);
	/* A status that cannot be an errno is not treated as one. */
	world->status = INT32_MAX;
	run(world, &ping, STATUS, O2_LST_FAILURE_STATUS, -INT32_MAX);
	world->status++;
	run(world, &ping, STATUS, O2_LST_FAILURE_STATUS, -EPROTO);
	o2_lst_tester_new_ping(world->tester);
	run(world, &ping, WELL, O2_LST_FAILURE_NONE, 0);
	assert_int_equal(world->seen.u.ping_reqst.pnr_seq, 0);
}

/* RPCs one after the other, each started from the callback of the one before. */
TESTER_TEST(test_again_from_inside)
{
	world->again = 5;
	assert_int_equal(try_test(world, &ping, NULL), 0);
	o2_lnet_deliver_all(&world->pair);
	assert_int_equal(world->nresults, 6);
	assert_int_equal(world->seen.u.ping_reqst.pnr_seq, 5);
}

TESTER_TEST(test_every_size)
{
	static const struct {
		uint32_t len, offset;
	} rows[] = {{8, 0},	{8, 4088},   {2048, 512},
		    {4096, 0},	{8000, 192}, {4104, 4088},
		    {65536, 0}, {57352, 8},  {O2_LST_MAX_BULK_BYTES, 0}};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const uint32_t len = rows[i].len;
		struct o2_lst_test test = brw(O2_LST_BRW_READ, O2_LST_CHECK_FULL, len, rows[i].offset);
		const uint8_t *at_b = o2_lnet_side_bytes(&world->pair.b, BULK_PAGE);

		run(world, &test, WELL, O2_LST_FAILURE_NONE, 0);
		assert_int_equal(world->result.bytes, len);
		world->flip_at = len / 2 + 3;
		run(world, &test, FLIP, O2_LST_FAILURE_DATA, -EBADMSG);
		assert_int_equal(world->result.wrong.at, world->flip_at / 8 * 8);
		test.rw = O2_LST_BRW_WRITE;
		run(world, &test, WELL, O2_LST_FAILURE_NONE, 0);
		assert_int_equal(world->seen.u.brw_reqst.brw_len, len);
		assert_true(o2_lst_pattern_check(at_b, len, 0, O2_LST_CHECK_FULL, O2_LITTLE_ENDIAN, NULL));
	}
}

/* A wrong byte outside the words of check "simple" is found with the option for every word. */
TESTER_TEST(test_every_word)
{
	struct o2_lst_test test = brw(O2_LST_BRW_READ, O2_LST_CHECK_SIMPLE, 4096, 0);

	world->flip_at = 2003;
	run(world, &test, FLIP, O2_LST_FAILURE_NONE, 0);
	test.every_word = true;
	run(world, &test, FLIP, O2_LST_FAILURE_DATA, -EBADMSG);
	assert_int_equal(world->result.wrong.at, 2000);
	test.every_word = false;
	test.check = O2_LST_CHECK_NONE;
	run(world, &test, FLIP, O2_LST_FAILURE_NONE, 0);
}

TESTER_TEST(test_failures_of_brw)
{
	const struct o2_lst_test read = brw(O2_LST_BRW_READ, O2_LST_CHECK_NONE, 2048, 512);
	const struct o2_lst_test write = brw(O2_LST_BRW_WRITE, O2_LST_CHECK_FULL, 2048, 512);

	run(world, &read, SHORT, O2_LST_FAILURE_LENGTH, -EBADMSG);
	run(world, &write, SHORT, O2_LST_FAILURE_LENGTH, -EBADMSG);
	run(world, &write, STATUS, O2_LST_FAILURE_STATUS, -EBADMSG);
	world->act = SILENT;
	assert_int_equal(try_test(world, &read, NULL), 0);
	o2_lnet_deliver_all(&world->pair);
	assert_int_equal(o2_lst_tester_active(world->tester), 1);
	o2_lnet_side_clock(&world->pair.a, O2_LST_RPC_TIMEOUT_S * 1000);
	o2_lst_rpc_check_time(world->client);
	assert_int_equal(world->result.failure, O2_LST_FAILURE_RPC);
	assert_int_equal(world->result.status, -ETIMEDOUT);
}

TESTER_TEST(test_limits)
{
	const struct o2_lst_test large = brw(O2_LST_BRW_READ, O2_LST_CHECK_NONE, O2_LST_MAX_BULK_BYTES, 0);
	struct o2_lst_pages *few = NULL;
	struct o2_lst_bulk bulk;
	struct o2_error error;
	uint64_t id;

	assert_int_equal(try_test(world, &large, NULL), 0);
	id = world->id;
	assert_int_equal(try_test(world, &large, NULL), -ENOBUFS);
	assert_int_equal(try_test(world, &ping, NULL), 0);
	assert_int_equal(try_test(world, &ping, NULL), 0);
	assert_error(try_test(world, &ping, &error), -ENOSPC, &error, "lst/tests");
	assert_int_equal(error.value, error.limit + 1);
	assert_int_equal(o2_lst_test_cancel(world->tester, id), 0);
	world->act = WELL;
	o2_lnet_deliver_all(&world->pair);
	assert_int_equal(o2_lst_test_cancel(world->tester, id), -ENOENT);
	assert_int_equal(o2_lst_pages_create(&world->pair.a.arena, 0, 2, O2_REG_GLOBAL, &few, NULL), 0);
	assert_int_equal(o2_lst_bulk_get(few, 2 * 4096 + 8, 0, &bulk), -EMSGSIZE);
	o2_lst_bulk_put(&bulk);
	o2_lst_pages_destroy(few);
	assert_error(
		o2_lst_pages_create(&world->pair.a.arena, O2_LNET_SIDE_PAGES, 1, O2_REG_GLOBAL, &few, &error),
		-EINVAL, &error, "lst/config/bulk-pages");
	assert_error(o2_lst_tester_create(0, world->client, world->pages, &world->pair.a.clock,
					  &world->tester, &error),
		     -EINVAL, &error, "lst/config/max-tests");
}

/* If the memory of a bulk cannot be mapped, the bulk is not started, and no state is left. */
TESTER_TEST(test_page_that_cannot_be_mapped)
{
	const struct o2_lst_test read = brw(O2_LST_BRW_READ, O2_LST_CHECK_FULL, 4096, 0);
	const struct o2_lst_test write = brw(O2_LST_BRW_WRITE, O2_LST_CHECK_FULL, 4096, 0);
	struct o2_arena *arena = &world->pair.a.arena;
	const int fd = arena->fd;

	o2_arena_set_mapped(arena, BULK_PAGE, false);
	arena->fd = -1;
	assert_int_equal(try_test(world, &read, NULL), -ENOMEM);
	assert_int_equal(try_test(world, &write, NULL), -ENOMEM);
	arena->fd = fd;
	o2_arena_set_mapped(arena, BULK_PAGE, true);
}

TESTER_TEST(test_bytes_across_pages)
{
	uint8_t bytes[5000], read[5000];
	struct o2_lst_bulk bulk;

	fill_bytes(bytes, sizeof(bytes), 9);
	assert_int_equal(o2_lst_bulk_get(world->pages, 8000, 192, &bulk), 0);
	assert_int_equal(o2_lst_bulk_write(&bulk, 2999, bytes, sizeof(bytes)), 0);
	assert_int_equal(o2_lst_bulk_read(&bulk, 2999, read, sizeof(read)), 0);
	assert_memory_equal(read, bytes, sizeof(bytes));
	o2_lst_bulk_put(&bulk);
}

/* A test that must not be sent to a kernel is refused here. */
TEST(test_what_may_not_be_asked)
{
	struct o2_lst_test test = brw(O2_LST_BRW_READ, O2_LST_CHECK_FULL, 4096, 8);
	struct o2_error error;

	assert_error(o2_lst_test_check(&test, &error), -EINVAL, &error, "lst/send/blk-offset");
	test = brw(O2_LST_BRW_READ, O2_LST_CHECK_FULL, 12, 0);
	assert_error(o2_lst_test_check(&test, &error), -EINVAL, &error, "lst/send/brw-len-multiple");
	test = brw(3, O2_LST_CHECK_FULL, 8, 0);
	assert_error(o2_lst_test_check(&test, &error), -EINVAL, &error, "lst/send/brw-rw");
	assert_int_equal(o2_lst_test_check(&ping, NULL), 0);
}
