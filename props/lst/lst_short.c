/* SPDX-License-Identifier: MIT */
#include <errno.h>

#include "props/lst/lst_internal.h"

/*
 * Creates a node or a console without something it needs: creation must fail with the reason and free everything.
 * With all that it needs, creation must succeed.
 */

#define ALLOCATIONS 16u /* more than a node needs */
#define OWN_ENTRIES 2u	/* LNet's own entries: for pings and for pushes */
#define SERVICES    9u	/* docs/lst.md, "Services" */

static int make(struct o2_lst_case *the, bool console)
{
	const struct o2_lst_node_config config = o2_lst_side_config();

	return console ? o2_lst_talk_open(&the->talk) : o2_lst_side_open(&the->a, &the->lnet.a, &config);
}

static void unmake(struct o2_lst_case *the)
{
	if (the->a.node != NULL)
		o2_lst_node_stop(the->a.node, -ESHUTDOWN);
	o2_lst_node_destroy(the->a.node);
	the->a.node = NULL;
	o2_lst_talk_close(the);
}

/* Create one of them while the nth allocation fails. */
static void without_memory(struct o2_lst_case *the)
{
	const struct o2_lst_run *run = the->run;
	const bool console = o2_draw_bool(the->choice, 1, 1);
	const uint32_t nth = 1 + o2_lst_draw(the, ALLOCATIONS - 1);
	int64_t before;
	bool failed;
	int rc;

	if (console)
		o2_lst_talk_begin(the);
	if (run->fail_allocation == NULL)
		return;
	before = run->allocated();
	run->fail_allocation(nth);
	rc = make(the, console);
	failed = run->allocation_failed();
	run->fail_allocation(0);
	if (rc != (failed ? -ENOMEM : 0))
		o2_report_fail(the->report, "lst/short", "of %u allocations the last %s: %d", nth,
			       failed ? "has failed" : "is not needed", rc);
	the->seen[SHORT_OF_MEMORY] += failed;
	if (console || !failed)
		unmake(the);
	if (run->allocated() != before)
		o2_report_fail(the->report, "lst/short-left", "%d allocations are left",
			       (int)(run->allocated() - before));
}

/* Create a node with limited entries: each service needs one. */
static bool without_entries(struct o2_lst_case *the)
{
	struct o2_lnet_config base = O2_LNET_DEFAULTS;
	int rc;

	base.max_entries = OWN_ENTRIES + o2_lst_draw(the, SERVICES);
	if (o2_lnet_pair_renew(&the->lnet, &base) != 0)
		return false;
	rc = make(the, false);
	if ((rc == 0) != (base.max_entries == OWN_ENTRIES + SERVICES))
		o2_report_fail(the->report, "lst/short", "with %u entries: %d", base.max_entries, rc);
	the->seen[SHORT_OF_ENTRIES] += rc != 0;
	if (rc == 0)
		unmake(the);
	return true;
}

bool o2_lst_short_case(struct o2_lst_case *the)
{
	if (o2_draw_bool(the->choice, 1, 1))
		return without_entries(the);
	without_memory(the);
	return true;
}
