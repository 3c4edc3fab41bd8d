/* SPDX-License-Identifier: MIT */
#include <errno.h>

#include "lst/console_internal.h"
#include "mem/kmap.h"

/*
 * A test that the node runs against its console.  The console adds a client half with itself as the
 * destination, runs the batch, queries it until it is idle, and stops it when it has run for long enough.
 */

#define QUERY_EVERY_MS 200u

/* Write the list of destinations, which has only this console. */
int o2_lst_reverse_open(struct o2_lst_console *console, struct o2_error *error)
{
	const struct o2_lst_dest dest = {console->config.sid.ses_nid, O2_LNET_PID_KERNEL};
	uint8_t bytes[O2_LST_DEST_BYTES];
	const int rc = o2_refuse_range(error, -EINVAL, "lst/config/bulk-pages", "first_page",
				       console->config.first_page, 0, console->arena->npages - 1);

	if (rc != 0)
		return rc;
	o2_lst_dest_store(&dest, o2_lst_rpc_order(console->rpc), bytes);
	console->list_kiov = (struct o2_kiov){console->config.first_page, 0, sizeof(bytes)};
	console->list = (struct o2_transfer_memory){
		.buffer = {.kind = O2_KIOV, .count = 1, .nob = sizeof(bytes), .kiov = &console->list_kiov},
		.mode = console->config.mode};
	return o2_kmap_write(console->arena, console->list_kiov.page, 0, bytes, sizeof(bytes), error);
}

/* Each unit does its share of `count`.  A loop count that is negative as a signed number would mean no limit. */
void o2_lst_reverse_half(const struct o2_lst_console_config *config, struct o2_lst_test_reqst *test)
{
	/* concurrency 0 is refused later, when the request is checked; avoid a division by 0 here. */
	const uint64_t units = config->concurrency > 0 ? config->concurrency : 1;
	const uint64_t loop = config->count / units + (config->count % units != 0);

	test->tsr_is_client = 1;
	test->tsr_ndest = 1;
	test->tsr_loop = config->count == 0 ? O2_LST_LOOP_ENDLESS
			 : loop < INT32_MAX ? (uint32_t)loop
					    : INT32_MAX;
}

struct o2_lst_batch_reqst o2_lst_reverse_batch(const struct o2_lst_console *console)
{
	return (struct o2_lst_batch_reqst){.bar_sid = console->config.sid,
					   .bar_bid = console->config.batch,
					   .bar_opc = console->opc,
					   .bar_arg = console->opc == O2_LST_BATCH_STOP && console->by_force};
}

static void control(struct o2_lst_console *console, enum o2_lst_batch_opc opc)
{
	console->opc = opc;
	console->told_stop |= opc == O2_LST_BATCH_STOP;
	console->told_force |= opc == O2_LST_BATCH_STOP && console->by_force;
	o2_lst_console_ask(console, O2_LST_BATCH_REQST);
}

void o2_lst_reverse_run(struct o2_lst_console *console)
{
	control(console, O2_LST_BATCH_RUN);
}

/* Stop the batch as soon as that is wanted; else query it now and then, until no half of it is active. */
void o2_lst_reverse_go_on(struct o2_lst_console *console)
{
	if (console->asking || console->step != O2_LST_STEP_RUN)
		return;
	if (console->stopping && (!console->told_stop || (console->by_force && !console->told_force)))
		control(console, O2_LST_BATCH_STOP);
	else if (o2_clock_ms(console->clock) - console->heard_ms >= QUERY_EVERY_MS)
		control(console, O2_LST_BATCH_QUERY);
}

void o2_lst_reverse_take(struct o2_lst_console *console, const struct o2_lst_batch_reply *reply)
{
	if (console->opc == O2_LST_BATCH_QUERY && reply->bar_active == 0)
		o2_lst_console_conclude(console);
	else
		o2_lst_reverse_go_on(console);
}
