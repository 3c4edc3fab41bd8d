/* SPDX-License-Identifier: MIT */
#include "tests/lib/lst_console_world.h"

#define RPC_PAGE 560u /* page of side A */

const struct o2_lst_sid console_sid = {NID_A, 160388};

static void note_began(void *context, uint32_t lane)
{
	struct console_world *world = context;

	assert_true(lane < world->config.concurrency);
	world->began++;
}

static void note_ended(void *context, const struct o2_lst_console_result *result)
{
	struct console_world *world = context;

	world->nresults++;
	if (result->outcome != O2_LST_WELL)
		world->result = *result;
}

struct console_world *console_open(enum o2_byte_order order)
{
	static struct console_world the_world;
	struct console_world *world = &the_world;
	struct o2_lst_rpc_config config = O2_LST_RPC_DEFAULTS;

	memset(world, 0, sizeof(*world));
	lnet_pair_open(&world->pair, NULL);
	lst_seat_open(&world->seat, &world->pair, order);
	config.first_page = RPC_PAGE;
	config.max_calls = 9;
	config.max_served = 1;
	world->rpc = lst_rpc_open(&world->pair.a, &config);
	world->config = (struct o2_lst_console_config){
		.nid = NID_B,
		.sid = console_sid,
		.name = {"t"},
		.batch = 2,
		.test = {.service = O2_LST_SERVICE_PING,
			 .features = 1,
			 .rw = O2_LST_BRW_READ,
			 .check = O2_LST_CHECK_FULL,
			 .len = 2048,
			 .offset = 512},
		.concurrency = 1,
		.count = 3,
		.first_page = CONSOLE_LANE_PAGE,
	};
	return world;
}

void console_close(struct console_world *world)
{
	assert_int_equal(o2_lst_rpc_active(world->rpc), 0);
	assert_int_equal(o2_lnet_messages(world->pair.a.lnet), 0);
	o2_lst_console_destroy(world->console);
	lst_seat_close(&world->seat);
	lnet_pair_close(&world->pair);
	o2_lst_rpc_destroy(world->rpc);
}

void console_start(struct console_world *world)
{
	const struct o2_lst_console_ops ops = {note_began, note_ended};

	assert_int_equal(o2_lst_console_create(&world->config, world->rpc, &world->pair.a.arena,
					       &world->pair.a.clock, &ops, world, &world->console, NULL),
			 0);
	world->report = o2_lst_console_report(world->console);
	o2_lst_console_start(world->console);
}

void console_pass_only(struct console_world *world, uint64_t ms)
{
	o2_lnet_side_clock(&world->pair.a, o2_clock_ms(&world->pair.a.clock) + ms);
	o2_lnet_side_clock(&world->pair.b, o2_clock_ms(&world->pair.b.clock) + ms);
	o2_lst_rpc_check_time(world->rpc);
	o2_lst_console_check_time(world->console);
}

void console_pass(struct console_world *world, uint64_t ms)
{
	console_pass_only(world, ms);
	o2_lnet_deliver_all(&world->pair);
}

void console_run(struct console_world *world)
{
	console_start(world);
	o2_lnet_deliver_all(&world->pair);
}

void console_deliver(struct console_world *world)
{
	o2_lnet_deliver(world->pair.a.nletters > 0 ? &world->pair.a : &world->pair.b);
}

void console_again(struct console_world *world)
{
	o2_lst_console_destroy(world->console);
	world->console = NULL;
	world->seat.nasked = world->began = world->nresults = 0;
}

void console_run_until_asked(struct console_world *world, uint32_t nasked)
{
	console_start(world);
	while (world->seat.nasked < nasked)
		console_deliver(world);
}

void console_expect_asked(const struct console_world *world, const char *types)
{
	char asked[8 * SEAT_ASKED] = "";

	for (uint32_t i = 0; i < world->seat.nasked; i++) {
		const char *name = o2_lst_type_name(world->seat.asked[i].msg_type);

		snprintf(asked + strlen(asked), sizeof(asked) - strlen(asked), "%s%.*s", i == 0 ? "" : " ",
			 (int)strcspn(name, "_"), name);
	}
	assert_string_equal(asked, types);
}

void console_expect_over(const struct console_world *world, int status, enum o2_lst_console_step step)
{
	assert_true(o2_lst_console_is_over(world->console));
	assert_int_equal(world->report->status, status);
	assert_int_equal(world->report->step, status == 0 ? O2_LST_STEP_OVER : step);
	assert_int_equal(world->began, world->nresults);
	assert_int_equal(world->report->begun, world->nresults);
}
