/* SPDX-License-Identifier: MIT */
#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

#include "base/errno_name.h"
#include "base/monotonic.h"
#include "cli/net/conform/lst.h"
#include "cli/net/lst_report.h"
#include "cli/net/report.h"
#include "lst/wire/range.h"
#include "wire/nid.h"

/* Requests to the node's framework, one after another. */

#define SESSION_NAME "o2ref conform"

/* A request of that type, with our session and what else all requests of that type have. */
struct o2_lst_msg o2_conform_lst_request(const struct o2_conform *conform, uint32_t type)
{
	const struct o2_conform_lst *lst = conform->lst;
	struct o2_lst_msg msg = {
		.msg_version = O2_LST_MSG_VERSION, .msg_type = type, .msg_ses_feats = lst->features};

	switch (type) {
	case O2_LST_MKSN_REQST:
		msg.u.mksn_reqst =
			(struct o2_lst_mksn_reqst){.mksn_sid = lst->sid, .mksn_name = {SESSION_NAME}};
		break;
	case O2_LST_RMSN_REQST:
		msg.u.rmsn_reqst.rmsn_sid = lst->sid;
		break;
	case O2_LST_BATCH_REQST:
		msg.u.batch_reqst = (struct o2_lst_batch_reqst){
			.bar_sid = lst->sid, .bar_bid = O2_CONFORM_LST_BATCH, .bar_opc = O2_LST_BATCH_QUERY};
		break;
	case O2_LST_TEST_REQST:
		msg.u.test_reqst = (struct o2_lst_test_reqst){.tsr_sid = lst->sid,
							      .tsr_bid = O2_CONFORM_LST_BATCH,
							      .tsr_service = O2_LST_SERVICE_PING,
							      .tsr_loop = O2_CONFORM_LST_MANY,
							      .tsr_concur = O2_CONFORM_LST_MANY,
							      .tsr_stop_onerr = 1};
		break;
	case O2_LST_STAT_REQST:
		msg.u.stat_reqst.str_sid = lst->sid;
		break;
	default:
		/* DEBUG: nobody reads its session; requests of tests have none. */
		break;
	}
	return msg;
}

static void note_answer(void *context, const struct o2_lst_answer *answer)
{
	struct o2_conform_lst_asked *asked = context;

	asked->ended = true;
	asked->status = answer->status;
	asked->bulk_bytes = answer->bulk_bytes;
	if (answer->status == 0)
		asked->reply = *answer->reply;
	else if (answer->error != NULL)
		o2_error_text(answer->error, asked->why, sizeof(asked->why));
}

static void tell_failed(struct o2_conform *conform, const struct o2_lst_msg *request,
			const struct o2_conform_lst_asked *asked)
{
	char name[O2_ERRNO_TEXT_BYTES];

	/* A node that has no memory says so in a reply, so this is our own side. */
	if (asked->status == -ENOMEM)
		o2_conform_starve(conform, "%s: not enough memory", o2_lst_type_name(request->msg_type));
	o2_conform_find(conform, "%s: %s (%s)%s%s", o2_lst_type_name(request->msg_type),
			asked->status == -ETIMEDOUT ? "no answer in time" : o2_net_meaning(asked->status),
			o2_errno_text(asked->status, name), asked->why[0] == '\0' ? "" : ": ", asked->why);
}

static void post(struct o2_conform *conform, const struct o2_lst_msg *request,
		 const struct o2_conform_lst_bulk *bulk, struct o2_conform_lst_asked *asked, uint64_t *id)
{
	struct o2_lst_call call = {
		.nid = conform->options->peer, .request = request, .done = note_answer, .context = asked};
	int rc;

	/* A value that a node might use without checking it is never sent. */
	assert(o2_lst_range_check(request, NULL) == 0);
	if (bulk != NULL) {
		call.bulk = bulk->memory;
		call.bulk_is_source = bulk->is_source;
	}
	*asked = (struct o2_conform_lst_asked){.ended = false};
	rc = o2_lst_call_start(conform->lst->rpc, &call, id, NULL);
	if (rc != 0)
		*asked = (struct o2_conform_lst_asked){.ended = true, .status = rc};
}

const struct o2_lst_msg *o2_conform_lst_ask(struct o2_conform *conform, const struct o2_lst_msg *request,
					    const struct o2_conform_lst_bulk *bulk)
{
	struct o2_conform_lst_asked *asked = &conform->lst->asked;

	post(conform, request, bulk, asked, NULL);
	while (!asked->ended)
		if (!o2_conform_lst_step(conform))
			return NULL;
	if (asked->status == 0)
		return &asked->reply;
	tell_failed(conform, request, asked);
	return NULL;
}

bool o2_conform_lst_silence(struct o2_conform *conform, const struct o2_lst_msg *request)
{
	const struct o2_conform_lst_asked *silent = &conform->lst->silent;

	post(conform, request, NULL, &conform->lst->silent, &conform->lst->silent_call);
	if (silent->ended && silent->status != 0)
		tell_failed(conform, request, silent);
	return !silent->ended || silent->status == 0;
}

bool o2_conform_lst_was_silent(struct o2_conform *conform, const struct o2_lst_msg *request)
{
	const struct o2_conform_lst_asked *silent = &conform->lst->silent;

	if (!silent->ended) {
		(void)o2_lst_call_cancel(conform->lst->rpc, conform->lst->silent_call);
		return true;
	}
	if (silent->status == 0)
		o2_conform_find(conform, "%s must get no reply, but got one",
				o2_lst_type_name(request->msg_type));
	else
		tell_failed(conform, request, silent);
	return false;
}

/* "no session", or "session 10.77.0.1@o2ib/17". */
static const char *sid_text(struct o2_lst_sid sid, char *text, size_t bytes)
{
	char nid[O2_NID_TEXT_BYTES];

	if (o2_lst_sid_is_none(sid))
		return "no session";
	o2_nid_to_text(sid.ses_nid, nid, sizeof(nid));
	snprintf(text, bytes, "session %s/%" PRIu64, nid, sid.ses_stamp);
	return text;
}

/* "success" for 0. */
static const char *status_text(uint32_t status, char text[O2_ERRNO_TEXT_BYTES])
{
	return status == 0 ? "success" : o2_errno_text(status, text);
}

const struct o2_lst_msg *o2_conform_lst_expect(struct o2_conform *conform, const struct o2_lst_msg *request,
					       uint32_t status, struct o2_lst_sid sid)
{
	const struct o2_lst_msg *msg = o2_conform_lst_ask(conform, request, NULL);
	const bool framework = o2_lst_service_of_type(request->msg_type) < O2_LST_SERVICE_FRAMEWORK_END;
	char got[O2_ERRNO_TEXT_BYTES], want[O2_ERRNO_TEXT_BYTES], in[64], expected[64];

	if (msg == NULL ||
	    (msg->u.reply.status == status && (!framework || o2_lst_sid_equal(msg->u.reply.sid, sid))))
		return msg;
	if (msg->u.reply.status != status)
		o2_conform_find(conform, "%s: the status is %s, not %s", o2_lst_type_name(msg->msg_type),
				status_text(msg->u.reply.status, got), status_text(status, want));
	else
		o2_conform_find(conform, "%s: the node says that it is in %s, not %s",
				o2_lst_type_name(msg->msg_type), sid_text(msg->u.reply.sid, in, sizeof(in)),
				sid_text(sid, expected, sizeof(expected)));
	return NULL;
}

/* --- sessions --- */

/* A probe that failed or left may have left a session behind.  It is ours, so taking it harms nobody. */
static bool is_ours(const struct o2_conform *conform, const struct o2_lst_msg *reply)
{
	return reply->u.reply.status == EBUSY && reply->u.reply.sid.ses_nid == conform->options->nid;
}

static void skip_busy(struct o2_conform *conform, struct o2_lst_sid sid, const struct o2_lst_name *name,
		      uint32_t timeout_s)
{
	char owner[O2_NID_TEXT_BYTES], until[O2_NET_LST_UNTIL_BYTES];

	o2_nid_to_text(sid.ses_nid, owner, sizeof(owner));
	o2_conform_skip(conform, "it is in session '%.31s' of %s, %s", name->text, owner,
			o2_net_lst_until(timeout_s, until));
}

bool o2_conform_lst_session(struct o2_conform *conform)
{
	struct o2_lst_msg request = o2_conform_lst_request(conform, O2_LST_MKSN_REQST);
	const struct o2_lst_msg *reply = o2_conform_lst_ask(conform, &request, NULL);

	if (reply != NULL && reply->u.reply.status == EBUSY && !is_ours(conform, reply)) {
		skip_busy(conform, reply->u.mksn_reply.mksn_sid, &reply->u.mksn_reply.mksn_name,
			  reply->u.mksn_reply.mksn_timeout);
		return false;
	}
	if (reply != NULL && (is_ours(conform, reply) || reply->u.reply.status != 0)) {
		request.u.mksn_reqst.mksn_force = is_ours(conform, reply);
		reply = o2_conform_lst_expect(conform, &request, 0, conform->lst->sid);
	}
	if (reply == NULL)
		return false;
	conform->lst->session_timeout_s = reply->u.mksn_reply.mksn_timeout;
	if (!o2_lst_sid_equal(reply->u.reply.sid, conform->lst->sid) ||
	    reply->msg_ses_feats != conform->lst->features)
		o2_conform_find(conform, "MKSN_REPLY: success, with another session or features 0x%" PRIx32,
				reply->msg_ses_feats);
	return !o2_conform_said(conform);
}

bool o2_conform_lst_half(struct o2_conform *conform, enum o2_lst_service service)
{
	struct o2_lst_msg request = o2_conform_lst_request(conform, O2_LST_TEST_REQST);

	request.u.test_reqst.tsr_service = service;
	return o2_conform_lst_expect(conform, &request, 0, conform->lst->sid) != NULL;
}

bool o2_conform_lst_end(struct o2_conform *conform)
{
	const struct o2_lst_msg request = o2_conform_lst_request(conform, O2_LST_RMSN_REQST);

	return o2_conform_lst_expect(conform, &request, 0, O2_LST_NO_SID) != NULL;
}

/* --- whether there is a test node --- */

/* The index in conform->lacks. */
#define LACKS_TEST_NODE 3u
static_assert(1u << LACKS_TEST_NODE == O2_CONFORM_TEST_NODE, "the texts are by bit");

/* A peer that answers is a test node; if its answer is wrong, the probes will report that. */
static bool answers(struct o2_conform *conform)
{
	struct o2_lst_msg request;
	const struct o2_lst_msg *reply;

	if (!o2_conform_lst_start(conform))
		return false;
	request = o2_conform_lst_request(conform, O2_LST_DEBUG_REQST);
	reply = o2_conform_lst_ask(conform, &request, NULL);
	if (reply == NULL)
		return conform->lst->asked.status == -EBADMSG;
	if (reply->u.reply.status == 0 && reply->u.reply.sid.ses_nid != conform->options->nid)
		skip_busy(conform, reply->u.reply.sid, &reply->u.debug_reply.dbg_name,
			  reply->u.debug_reply.dbg_timeout);
	return !o2_conform_said(conform);
}

void o2_conform_lst_survey(struct o2_conform *conform)
{
	if (answers(conform))
		conform->has |= O2_CONFORM_TEST_NODE;
	else
		o2_conform_lacks(conform, LACKS_TEST_NODE,
				 "no LNet selftest reply: load lnet_selftest, or use o2ref serve --lst", 0);
	o2_conform_stop(conform);
}
