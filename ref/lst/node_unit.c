/* SPDX-License-Identifier: MIT */
#include <assert.h>
#include <errno.h>

#include "lst/node_internal.h"

/* The work of client halves: units, each of which does its RPCs one after the other. */

static void enqueue(struct o2_lst_node *node, struct o2_lst_unit *unit)
{
	assert(!unit->ready && !unit->trying);
	unit->ready = true;
	TAILQ_INSERT_TAIL(&node->ready, unit, link);
	node->nready++;
}

static void dequeue(struct o2_lst_node *node, struct o2_lst_unit *unit)
{
	TAILQ_REMOVE(&node->ready, unit, link);
	unit->ready = false;
	node->nready--;
}

/* End the unit.  This may free its session, so the unit must not be used afterwards. */
static void end_unit(struct o2_lst_node *node, struct o2_lst_unit *unit)
{
	struct o2_lst_half *half = unit->half;
	struct o2_lst_batch *batch = half->batch;

	assert(unit->active && !unit->trying && !unit->ready);
	unit->active = false;
	if (--half->nactive > 0)
		return;
	assert(batch->nactive > 0);
	batch->nactive--;
	o2_lst_session_release(node, batch->session);
}

static void count_error(const struct o2_lst_unit *unit)
{
	struct o2_lst_node_session *session = unit->half->batch->session;

	if (unit->half->test.service == O2_LST_SERVICE_BRW)
		session->brw_errors++;
	else
		session->ping_errors++;
}

static void tell_wrong(const struct o2_lst_node *node, const struct o2_lst_unit *unit,
		       const struct o2_lst_test_result *result)
{
	const struct o2_lst_node_wrong wrong = {.nid = unit->dest.nid,
						.is_client = true,
						.len = unit->half->test.len,
						.bytes = result->bytes,
						.word = result->wrong};
	/* Of a write the server tells how many bytes came. */
	const bool brief = result->failure == O2_LST_FAILURE_LENGTH && unit->half->test.rw == O2_LST_BRW_READ;

	if ((brief || result->failure == O2_LST_FAILURE_DATA) && node->ops.wrong != NULL)
		node->ops.wrong(node->context, &wrong);
}

/* LNet: sfw_test_rpc_done */
static void note_result(void *context, const struct o2_lst_test_result *result)
{
	struct o2_lst_unit *unit = context;
	const struct o2_lst_half *half = unit->half;
	struct o2_lst_node *node = half->batch->session->node;
	const bool failed = result->status != 0;

	assert(unit->active && unit->trying);
	unit->trying = false;
	node->report.tries++;
	node->report.failed += failed;
	/* A failed RPC is no error if the half is being stopped; a wrong answer or wrong bytes are. */
	if (failed && !(half->stopping && result->failure == O2_LST_FAILURE_RPC))
		count_error(unit);
	tell_wrong(node, unit, result);
	if (half->stopping || unit->left == 0 || (failed && half->stop_onerr))
		end_unit(node, unit);
	else
		enqueue(node, unit);
}

/* Begin the unit's next RPC.  Returns false if calls or pages are used up. */
static bool begin(struct o2_lst_node *node, struct o2_lst_unit *unit)
{
	const struct o2_lst_try asked = {
		.test = &unit->half->test,
		.nid = unit->dest.nid,
		.pid = unit->dest.pid,
		.done = note_result,
		.context = unit,
	};
	const uint32_t left = unit->left;
	int rc;

	unit->trying = true;
	if (left != O2_LST_LOOP_ENDLESS)
		unit->left--;
	rc = o2_lst_test_start(node->tester, &asked, &unit->id, NULL);
	if (rc == 0)
		return true;
	unit->trying = false;
	unit->left = left;
	if (rc == -ENOSPC || rc == -ENOBUFS)
		return false;
	/* The RPC cannot be prepared: end the unit. */
	count_error(unit);
	end_unit(node, unit);
	return true;
}

/*
 * Begin one RPC for each unit that waits now.  A unit whose RPC ends at once queues again behind the others,
 * and is not begun again in this call, so it cannot starve them.
 */
void o2_lst_node_pump(struct o2_lst_node *node)
{
	if (node->pumping)
		return;
	node->pumping = true;
	for (uint32_t n = node->nready; n > 0 && node->nready > 0; n--) {
		struct o2_lst_unit *unit = TAILQ_FIRST(&node->ready);

		dequeue(node, unit);
		if (begin(node, unit))
			continue;
		/* Keep it first in the queue. */
		unit->ready = true;
		TAILQ_INSERT_HEAD(&node->ready, unit, link);
		node->nready++;
		break;
	}
	node->pumping = false;
}

static void run_half(struct o2_lst_node *node, struct o2_lst_half *half)
{
	half->stopping = false;
	half->nactive = half->nunits;
	half->batch->nactive += half->nunits > 0;
	for (uint32_t i = 0; i < half->nunits; i++) {
		struct o2_lst_unit *unit = &half->unit[i];

		unit->active = true;
		unit->left = half->loop > INT32_MAX ? O2_LST_LOOP_ENDLESS : half->loop;
		enqueue(node, unit);
	}
}

void o2_lst_batch_run(struct o2_lst_node *node, struct o2_lst_batch *batch)
{
	struct o2_lst_half *half;

	if (batch->nactive > 0)
		return;
	STAILQ_FOREACH(half, &batch->halves, link)
		run_half(node, half);
	o2_lst_node_pump(node);
}

static void stop_half(struct o2_lst_node *node, struct o2_lst_half *half, bool force)
{
	half->stopping = true;
	for (uint32_t i = 0; i < half->nunits; i++) {
		struct o2_lst_unit *unit = &half->unit[i];

		if (unit->ready)
			dequeue(node, unit);
		if (unit->active && !unit->trying)
			end_unit(node, unit);
		else if (unit->trying && force)
			o2_lst_test_cancel(node->tester, unit->id);
	}
}

void o2_lst_batch_stop(struct o2_lst_node *node, struct o2_lst_batch *batch, bool force)
{
	struct o2_lst_half *half;

	/* The last unit may end here, which must not free the session. */
	assert(batch->session == node->session || batch->session->held > 0);
	STAILQ_FOREACH(half, &batch->halves, link)
		if (half->nactive > 0)
			stop_half(node, half, force);
}
