/* SPDX-License-Identifier: MIT */
#include <assert.h>
#include <errno.h>
#include <stdlib.h>

#include "lst/node_internal.h"
#include "lst/wire/range.h"

/* TEST and BATCH requests: a console adds tests to a session, and controls them. */

static void test_reply(struct o2_lst_node *node, uint64_t served, uint32_t status)
{
	struct o2_lst_msg reply = {.msg_type = O2_LST_TEST_REPLY};

	o2_lst_framework_reply(node, served, &reply, status);
}

static struct o2_lst_batch *find_batch(const struct o2_lst_node_session *session, uint64_t id)
{
	struct o2_lst_batch *batch;

	LIST_FOREACH(batch, &session->batches, link)
		if (batch->id == id)
			return batch;
	return NULL;
}

/* LNet: sfw_bid2batch */
static struct o2_lst_batch *make_batch(struct o2_lst_node *node, struct o2_lst_node_session *session,
				       uint64_t id)
{
	struct o2_lst_batch *batch = find_batch(session, id);

	if (batch != NULL || node->nbatches == node->config.max_batches)
		return batch;
	batch = calloc(1, sizeof(*batch));
	if (batch == NULL)
		return NULL;
	batch->session = session;
	batch->id = id;
	STAILQ_INIT(&batch->halves);
	LIST_INSERT_HEAD(&session->batches, batch, link);
	node->nbatches++;
	return batch;
}

/* The test of a client half.  Its values are in range: lst/wire/range.h. */
static struct o2_lst_test test_of(const struct o2_lst_msg *msg)
{
	const struct o2_lst_test_reqst *asked = &msg->u.test_reqst;
	struct o2_lst_test test = {.service = (enum o2_lst_service)asked->tsr_service,
				   .features = msg->msg_ses_feats};

	switch (o2_lst_test_kind(msg)) {
	case O2_LST_TEST_BULK_V1:
		test.rw = (enum o2_lst_brw_rw)asked->tsr_u.bulk_v1.blk_opc;
		test.check = (enum o2_lst_brw_check)asked->tsr_u.bulk_v1.blk_flags;
		test.len = asked->tsr_u.bulk_v1.blk_len;
		test.offset = asked->tsr_u.bulk_v1.blk_offset;
		break;
	case O2_LST_TEST_BULK_V0:
		test.rw = (enum o2_lst_brw_rw)asked->tsr_u.bulk_v0.blk_opc;
		test.check = (enum o2_lst_brw_check)asked->tsr_u.bulk_v0.blk_flags;
		test.len = asked->tsr_u.bulk_v0.blk_npg * O2_LST_PAGE_BYTES;
		break;
	default:
		break;
	}
	return test;
}

/* Check the fields of both halves.  Those of a client half's test are checked once its destinations are here. */
static bool fields_are_legal(const struct o2_lst_test_reqst *asked)
{
	if (asked->tsr_loop == 0 || asked->tsr_concur == 0 || asked->tsr_concur > O2_LST_MAX_CONCURRENCY ||
	    o2_lst_sid_is_none(asked->tsr_sid))
		return false;
	if (asked->tsr_ndest > O2_LST_MAX_DESTINATIONS ||
	    (asked->tsr_is_client != 0 && asked->tsr_ndest == 0))
		return false;
	return asked->tsr_service == O2_LST_SERVICE_BRW || asked->tsr_service == O2_LST_SERVICE_PING;
}

/* The batch to which a test may be added; or NULL, and *status says why not. */
static struct o2_lst_batch *batch_for(struct o2_lst_node *node, const struct o2_lst_test_reqst *asked,
				      uint32_t *status)
{
	struct o2_lst_node_session *session = o2_lst_node_in(node, asked->tsr_sid);
	struct o2_lst_batch *batch;

	if (session == NULL) {
		*status = ENOENT;
		return NULL;
	}
	batch = make_batch(node, session, asked->tsr_bid);
	*status = batch == NULL ? ENOMEM : batch->nactive > 0 ? EBUSY : 0;
	return *status == 0 ? batch : NULL;
}

/* Make the units of a client half: tsr_concur of them for each destination. */
static int make_units(struct o2_lst_node *node, struct o2_lst_half *half,
		      const struct o2_lst_test_reqst *asked, const struct o2_lst_fetch *fetch)
{
	const uint32_t nunits = asked->tsr_ndest * asked->tsr_concur;

	if (nunits > node->config.max_units - node->nunits)
		return ENOMEM;
	half->unit = calloc(nunits, sizeof(*half->unit));
	if (half->unit == NULL)
		return ENOMEM;
	for (uint32_t i = 0; i < nunits; i++) {
		uint8_t bytes[O2_LST_DEST_BYTES];

		half->unit[i].half = half;
		if (o2_lst_bulk_read(&fetch->bulk, i / asked->tsr_concur * O2_LST_DEST_BYTES, bytes,
				     sizeof(bytes)) != 0) {
			free(half->unit);
			return ENOMEM;
		}
		o2_lst_dest_load(bytes, fetch->msg.order, &half->unit[i].dest);
	}
	half->nunits = nunits;
	node->nunits += nunits;
	return 0;
}

/*
 * Add the half to the batch.  fetch: the destinations of a client half; NULL: a server half.
 * LNet: sfw_add_test_instance
 */
static uint32_t add_half(struct o2_lst_node *node, struct o2_lst_batch *batch, const struct o2_lst_msg *msg,
			 const struct o2_lst_fetch *fetch)
{
	const struct o2_lst_test_reqst *asked = &msg->u.test_reqst;
	struct o2_lst_half *half;
	int status = 0;

	if (node->nhalves == node->config.max_tests || (half = calloc(1, sizeof(*half))) == NULL)
		return ENOMEM;
	*half = (struct o2_lst_half){
		.batch = batch, .loop = asked->tsr_loop, .stop_onerr = asked->tsr_stop_onerr != 0};
	if (fetch != NULL) {
		half->test = test_of(msg);
		status = make_units(node, half, asked, fetch);
	}
	if (status != 0) {
		free(half);
		return (uint32_t)status;
	}
	if (fetch != NULL && asked->tsr_service == O2_LST_SERVICE_PING)
		o2_lst_tester_new_ping(node->tester);
	STAILQ_INSERT_TAIL(&batch->halves, half, link);
	node->nhalves++;
	return 0;
}

/* --- destinations --- */

static struct o2_lst_fetch *free_fetch(struct o2_lst_node *node)
{
	for (uint32_t i = 0; i < O2_LST_NODE_FETCHES; i++)
		if (!node->fetch[i].in_use)
			return &node->fetch[i];
	return NULL;
}

static void fetch_destinations(struct o2_lst_node *node, const struct o2_lst_request *request)
{
	struct o2_lst_fetch *fetch = free_fetch(node);
	int rc = -ENOSPC;

	if (fetch != NULL) {
		*fetch = (struct o2_lst_fetch){
			.in_use = true, .served = request->served, .msg = *request->msg};
		rc = o2_lst_bulk_get(node->fetch_pages,
				     request->msg->u.test_reqst.tsr_ndest * O2_LST_DEST_BYTES, 0,
				     &fetch->bulk);
	}
	if (rc == 0) {
		fetch->memory = o2_lst_bulk_memory(&fetch->bulk);
		rc = o2_lst_served_get(node->rpc, request->served, &fetch->memory);
	}
	if (rc != 0)
		o2_lst_node_unserved(node, request->nid, request->served, rc);
}

static struct o2_lst_fetch *find_fetch(struct o2_lst_node *node, uint64_t served)
{
	for (uint32_t i = 0; i < O2_LST_NODE_FETCHES; i++)
		if (node->fetch[i].in_use && node->fetch[i].served == served)
			return &node->fetch[i];
	return NULL;
}

void o2_lst_node_test_over(struct o2_lst_node *node, uint64_t served)
{
	struct o2_lst_fetch *fetch = find_fetch(node, served);

	if (fetch == NULL)
		return;
	o2_lst_bulk_put(&fetch->bulk);
	fetch->in_use = false;
}

void o2_lst_node_test_moved(struct o2_lst_node *node, uint64_t served, int status, uint64_t bytes)
{
	struct o2_lst_fetch *fetch = find_fetch(node, served);
	struct o2_lst_batch *batch;
	uint32_t answer;

	assert(fetch != NULL);
	if (status == 0 && bytes != fetch->bulk.length_bytes)
		status = -EPROTO;
	if (status != 0) {
		o2_lst_served_drop(node->rpc, served, status);
		return;
	}
	/* Meanwhile the session may have changed, or the batch may run: check again. */
	batch = batch_for(node, &fetch->msg.u.test_reqst, &answer);
	if (batch != NULL && o2_lst_range_check(&fetch->msg, NULL) != 0)
		answer = EINVAL;
	else if (batch != NULL)
		answer = add_half(node, batch, &fetch->msg, fetch);
	test_reply(node, served, answer);
}

/* LNet: sfw_add_test */
void o2_lst_node_add_test(struct o2_lst_node *node, const struct o2_lst_request *request)
{
	const struct o2_lst_test_reqst *asked = &request->msg->u.test_reqst;
	struct o2_lst_batch *batch;
	uint32_t status;

	if (!fields_are_legal(asked)) {
		test_reply(node, request->served, EINVAL);
		return;
	}
	batch = batch_for(node, asked, &status);
	if (batch != NULL && asked->tsr_is_client != 0) {
		fetch_destinations(node, request);
		return;
	}
	if (batch != NULL)
		status = add_half(node, batch, request->msg, NULL);
	test_reply(node, request->served, status);
}

/* --- BATCH --- */

/*
 * index 0: count the active halves of the batch; n > 0: count the active units of the nth half added.
 * LNet: sfw_query_batch
 */
static uint32_t query(const struct o2_lst_batch *batch, uint32_t index, uint32_t *active)
{
	const struct o2_lst_half *half = STAILQ_FIRST(&batch->halves);

	if (index > INT32_MAX)
		return EINVAL;
	*active = batch->nactive;
	if (index == 0)
		return 0;
	for (; half != NULL && index > 1; index--)
		half = STAILQ_NEXT(half, link);
	if (half == NULL)
		return ENOENT;
	*active = half->nactive;
	return 0;
}

/* LNet: sfw_control_batch */
void o2_lst_node_control(struct o2_lst_node *node, const struct o2_lst_request *request)
{
	const struct o2_lst_batch_reqst *asked = &request->msg->u.batch_reqst;
	struct o2_lst_msg reply = {.msg_type = O2_LST_BATCH_REPLY};
	const struct o2_lst_node_session *session = o2_lst_node_in(node, asked->bar_sid);
	struct o2_lst_batch *batch = session == NULL ? NULL : find_batch(session, asked->bar_bid);
	uint32_t status = session == NULL ? ESRCH : ENOENT;

	if (batch != NULL && asked->bar_opc == O2_LST_BATCH_QUERY)
		status = query(batch, asked->bar_testidx, &reply.u.batch_reply.bar_active);
	else if (batch != NULL && asked->bar_opc != O2_LST_BATCH_RUN && asked->bar_opc != O2_LST_BATCH_STOP) {
		o2_lst_served_drop(node->rpc, request->served, -EINVAL);
		return;
	} else if (batch != NULL)
		status = 0;
	if (status == 0 && asked->bar_opc == O2_LST_BATCH_RUN)
		o2_lst_batch_run(node, batch);
	else if (status == 0 && asked->bar_opc == O2_LST_BATCH_STOP)
		o2_lst_batch_stop(node, batch, asked->bar_arg != 0);
	o2_lst_framework_reply(node, request->served, &reply, status);
}
