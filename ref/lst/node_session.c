/* SPDX-License-Identifier: MIT */
#include <assert.h>
#include <errno.h>
#include <stdlib.h>

#include "lst/node_internal.h"

/* Requests about sessions: make, join, query and remove. */

struct o2_lst_node_session *o2_lst_node_in(const struct o2_lst_node *node, struct o2_lst_sid sid)
{
	const bool is_in = node->session != NULL && o2_lst_sid_equal(node->session->sid, sid);

	return is_in ? node->session : NULL;
}

void o2_lst_framework_reply(struct o2_lst_node *node, uint64_t served, struct o2_lst_msg *reply,
			    uint32_t status)
{
	reply->u.reply.sid = o2_lst_node_sid(node);
	reply->msg_ses_feats =
		node->session != NULL && status != EPROTO ? node->session->features : O2_LST_FEATS_MASK;
	o2_lst_node_reply(node, served, reply, status);
}

/* --- freeing sessions --- */

static void free_half(struct o2_lst_node *node, struct o2_lst_half *half)
{
	node->nunits -= half->nunits;
	node->nhalves--;
	free(half->unit);
	free(half);
}

static void free_batch(struct o2_lst_node *node, struct o2_lst_batch *batch)
{
	struct o2_lst_half *half;

	while ((half = STAILQ_FIRST(&batch->halves)) != NULL) {
		STAILQ_REMOVE_HEAD(&batch->halves, link);
		free_half(node, half);
	}
	node->nbatches--;
	free(batch);
}

static bool is_active(const struct o2_lst_node_session *session)
{
	const struct o2_lst_batch *batch;

	LIST_FOREACH(batch, &session->batches, link)
		if (batch->nactive > 0)
			return true;
	return false;
}

/* LNet: sfw_destroy_session */
void o2_lst_session_release(struct o2_lst_node *node, struct o2_lst_node_session *session)
{
	struct o2_lst_batch *batch;

	if (session == node->session || session->held > 0 || is_active(session))
		return;
	LIST_REMOVE(session, link);
	node->nsessions--;
	while ((batch = LIST_FIRST(&session->batches)) != NULL) {
		LIST_REMOVE(batch, link);
		free_batch(node, batch);
	}
	free(session);
}

/* LNet: sfw_deactivate_session */
void o2_lst_node_end_session(struct o2_lst_node *node)
{
	struct o2_lst_node_session *session = node->session;
	struct o2_lst_batch *batch;

	if (session == NULL)
		return;
	node->session = NULL;
	o2_lst_node_abort_brw(node);
	session->held++;
	LIST_FOREACH(batch, &session->batches, link)
		if (batch->nactive > 0)
			o2_lst_batch_stop(node, batch, true);
	session->held--;
	o2_lst_session_release(node, session);
}

/* --- MKSN, RMSN --- */

static uint32_t new_session(struct o2_lst_node *node, const struct o2_lst_msg *msg)
{
	struct o2_lst_node_session *session;

	/* The ended sessions still wait for LNet: the console must retry later. */
	if (node->nsessions == node->config.max_sessions)
		return ENOMEM;
	session = calloc(1, sizeof(*session));
	if (session == NULL)
		return ENOMEM;
	o2_lst_node_end_session(node);
	*session = (struct o2_lst_node_session){
		.node = node,
		.sid = msg->u.mksn_reqst.mksn_sid,
		.name = msg->u.mksn_reqst.mksn_name,
		.features = msg->msg_ses_feats,
		.made = 1,
		.started_ms = o2_clock_ms(node->clock),
	};
	LIST_INIT(&session->batches);
	LIST_INSERT_HEAD(&node->sessions, session, link);
	node->session = session;
	node->nsessions++;
	node->report.sessions++;
	return 0;
}

/* LNet: sfw_make_session */
static void make_session(struct o2_lst_node *node, const struct o2_lst_request *request)
{
	const struct o2_lst_mksn_reqst *asked = &request->msg->u.mksn_reqst;
	struct o2_lst_msg reply = {.msg_type = O2_LST_MKSN_REPLY};
	uint32_t status = 0;

	if (o2_lst_sid_is_none(asked->mksn_sid)) {
		status = EINVAL;
	} else if (o2_lst_node_in(node, asked->mksn_sid) != NULL) {
		node->session->made++;
	} else if (node->session != NULL && asked->mksn_force == 0) {
		status = EBUSY;
		reply.u.mksn_reply.mksn_name = node->session->name;
	} else {
		status = new_session(node, request->msg);
	}
	if (status == 0 || status == EBUSY)
		reply.u.mksn_reply.mksn_timeout = node->config.session_timeout_s;
	o2_lst_framework_reply(node, request->served, &reply, status);
}

/* LNet: sfw_remove_session */
static void remove_session(struct o2_lst_node *node, const struct o2_lst_request *request)
{
	const struct o2_lst_sid sid = request->msg->u.rmsn_reqst.rmsn_sid;
	struct o2_lst_msg reply = {.msg_type = O2_LST_RMSN_REPLY};
	uint32_t status = 0;

	if (o2_lst_sid_is_none(sid))
		status = EINVAL;
	else if (node->session == NULL)
		status = ESRCH;
	else if (o2_lst_node_in(node, sid) == NULL)
		status = EBUSY;
	else if (--node->session->made == 0)
		o2_lst_node_end_session(node);
	o2_lst_framework_reply(node, request->served, &reply, status);
}

/* --- DEBUG, STAT, JOIN --- */

/* LNet: sfw_debug_session */
static void debug(struct o2_lst_node *node, const struct o2_lst_request *request)
{
	struct o2_lst_msg reply = {.msg_type = O2_LST_DEBUG_REPLY};

	if (node->session != NULL) {
		reply.u.debug_reply.dbg_timeout = node->config.session_timeout_s;
		reply.u.debug_reply.dbg_name = node->session->name;
	}
	o2_lst_framework_reply(node, request->served, &reply, node->session == NULL ? ESRCH : 0);
}

/* LNet: sfw_get_stats */
static void get_stats(struct o2_lst_node *node, const struct o2_lst_request *request)
{
	const struct o2_lst_sid sid = request->msg->u.stat_reqst.str_sid;
	const struct o2_lst_node_session *session = o2_lst_node_in(node, sid);
	struct o2_lst_msg reply = {.msg_type = O2_LST_STAT_REPLY};
	struct o2_lst_stat_reply *stat = &reply.u.stat_reply;
	const struct o2_lst_batch *batch;

	if (session == NULL) {
		o2_lst_framework_reply(node, request->served, &reply,
				       o2_lst_sid_is_none(sid) ? EINVAL : ESRCH);
		return;
	}
	stat->str_fw = (struct o2_lst_fw_counters){
		.running_ms = (uint32_t)(o2_clock_ms(node->clock) - session->started_ms),
		.zombie_sessions = node->nsessions - 1,
		.brw_errors = session->brw_errors,
		.ping_errors = session->ping_errors,
	};
	LIST_FOREACH(batch, &session->batches, link)
		stat->str_fw.active_batches += batch->nactive > 0;
	stat->str_rpc = *o2_lst_rpc_counters(node->rpc);
	stat->str_lnet = node->lnet_counters;
	o2_lst_framework_reply(node, request->served, &reply, 0);
}

/* JOIN is for consoles, which this node is not. */
static void join(struct o2_lst_node *node, const struct o2_lst_request *request)
{
	struct o2_lst_msg reply = {.msg_type = O2_LST_JOIN_REPLY, .msg_ses_feats = O2_LST_FEATS_MASK};

	reply.u.reply.sid = O2_LST_NO_SID;
	o2_lst_node_reply(node, request->served, &reply, ESRCH);
}

/* --- dispatch --- */

/* Does the request have features that it must not have? */
static bool other_features(const struct o2_lst_node *node, const struct o2_lst_msg *msg)
{
	if (msg->msg_type == O2_LST_MKSN_REQST || msg->msg_type == O2_LST_DEBUG_REQST)
		return (msg->msg_ses_feats & ~O2_LST_FEATS_MASK) != 0;
	return node->session != NULL && msg->msg_ses_feats != node->session->features;
}

/* LNet: sfw_handle_server_rpc */
static void framework_request(void *context, const struct o2_lst_request *request)
{
	static void (*const handle[])(struct o2_lst_node *, const struct o2_lst_request *) = {
		[O2_LST_MKSN_REQST] = make_session,
		[O2_LST_RMSN_REQST] = remove_session,
		[O2_LST_BATCH_REQST] = o2_lst_node_control,
		[O2_LST_TEST_REQST] = o2_lst_node_add_test,
		[O2_LST_STAT_REQST] = get_stats,
		[O2_LST_DEBUG_REQST] = debug,
	};
	const uint32_t type = request->msg->msg_type;
	struct o2_lst_node *node = context;
	struct o2_lst_msg reply = {.msg_type = type + 1};

	/* JOIN does not concern the session, so it does not keep the session alive. */
	if (type == O2_LST_JOIN_REQST) {
		join(node, request);
		return;
	}
	node->heard_ms = o2_clock_ms(node->clock);
	if (other_features(node, request->msg)) {
		o2_lst_framework_reply(node, request->served, &reply, EPROTO);
		return;
	}
	assert(type < sizeof(handle) / sizeof(handle[0]) && handle[type] != NULL);
	handle[type](node, request);
}

/* TEST is the only request of the framework that has bulk. */
static void framework_moved(void *context, uint64_t served, int status, uint64_t bytes)
{
	o2_lst_node_test_moved(context, served, status, bytes);
}

static void framework_over(void *context, uint64_t served, int status)
{
	(void)status;
	o2_lst_node_test_over(context, served);
}

const struct o2_lst_service_ops o2_lst_node_framework_ops = {framework_request, framework_moved,
							     framework_over};
