/* SPDX-License-Identifier: MIT */
#include <assert.h>
#include <errno.h>

#include "lst/rpc_internal.h"

/*
 * The client of an RPC.  A call succeeds when the request was sent and the reply and the bulk have come, in any
 * order.  However it ends, it first waits until LNet has released the request, the reply and the bulk.
 */

static uint64_t id_of(const struct o2_lst_rpc *rpc, const struct o2_lst_call_slot *call)
{
	return (uint64_t)call->generation << 32 | (uint32_t)(call - rpc->call);
}

static struct o2_lst_call_slot *find(struct o2_lst_rpc *rpc, uint64_t id)
{
	const uint32_t index = (uint32_t)id;

	if (index >= rpc->config.max_calls || !rpc->call[index].in_use ||
	    rpc->call[index].generation != id >> 32)
		return NULL;
	return &rpc->call[index];
}

static void free_slot(struct o2_lst_rpc *rpc, struct o2_lst_call_slot *call)
{
	call->in_use = false;
	rpc->free_call[rpc->nfree_calls++] = (uint32_t)(call - rpc->call);
}

/* Close the entry to further messages; true: LNet has released it. */
static bool detach(struct o2_lst_rpc *rpc, struct o2_lst_call_entry *entry)
{
	if (entry->attached)
		entry->attached = o2_lnet_unlink(rpc->lnet, entry->index) == 1;
	return !entry->attached;
}

static void finish(struct o2_lst_rpc *rpc, struct o2_lst_call_slot *call)
{
	const struct o2_lst_call asked = call->asked;
	const struct o2_lst_msg reply = call->reply;
	const struct o2_error error = call->error;
	const struct o2_lst_answer answer = {
		.call = id_of(rpc, call),
		.tag = asked.tag,
		.status = call->status,
		.reply = call->status == 0 ? &reply : NULL,
		.bulk_moved = call->moved,
		.bulk_bytes = call->bulk_bytes,
		.error = call->has_error ? &error : NULL,
	};

	free_slot(rpc, call);
	asked.done(asked.context, &answer);
}

void o2_lst_call_end(struct o2_lst_rpc *rpc, struct o2_lst_call_slot *call, int status)
{
	bool gone;

	if (!call->ending)
		call->status = status;
	call->ending = true;
	gone = detach(rpc, &call->reply_entry);
	gone = detach(rpc, &call->bulk_entry) && gone;
	if (gone && !call->sending)
		finish(rpc, call);
}

/* The request, the reply or the bulk has ended: end the call if it is complete. */
static void advance(struct o2_lst_rpc *rpc, struct o2_lst_call_slot *call)
{
	const bool bulk_here = call->asked.bulk == NULL || call->moved || call->reply.u.reply.status != 0;

	if (call->ending || (!call->sending && call->replied && bulk_here))
		o2_lst_call_end(rpc, call, 0);
}

void o2_lst_call_sent(struct o2_lst_rpc *rpc, uint32_t index, int status)
{
	struct o2_lst_call_slot *call = &rpc->call[index];

	assert(call->in_use && call->sending);
	call->sending = false;
	rpc->counters.rpcs_sent += status == 0;
	/* If the reply has come, the request was sent, whatever its status. */
	if (status != 0 && !call->replied)
		o2_lst_call_end(rpc, call, status);
	else
		advance(rpc, call);
}

static int take_reply(struct o2_lst_rpc *rpc, struct o2_lst_call_slot *call, uint32_t index,
		      const struct o2_lnet_event *event)
{
	uint8_t bytes[O2_LST_MSG_BYTES];
	int rc;

	if (event->status != 0)
		return event->status;
	call->has_error = true;
	rc = o2_lst_buffer_read(rpc, o2_lst_buffer_reply(index), bytes, &call->error);
	if (rc != 0)
		return rc;
	rc = o2_lst_msg_decode(bytes, event->length_bytes, &call->reply, &call->error);
	/* The version of a reply is ignored. */
	if (rc != 0 && o2_lst_is_other_version(&call->error))
		rc = 0;
	if (rc == 0)
		rc = o2_lst_msg_expect(&call->reply, call->reply_type, &call->error);
	call->has_error = rc != 0;
	return rc != 0 ? -EBADMSG : 0;
}

void o2_lst_call_replied(struct o2_lst_rpc *rpc, uint32_t index, const struct o2_lnet_event *event)
{
	struct o2_lst_call_slot *call = &rpc->call[index];
	int rc;

	assert(call->in_use && call->reply_entry.attached && event->unlinked);
	call->reply_entry.attached = false;
	rc = call->ending ? 0 : take_reply(rpc, call, index, event);
	call->replied = rc == 0;
	if (rc != 0)
		o2_lst_call_end(rpc, call, rc);
	else
		advance(rpc, call);
}

void o2_lst_call_moved(struct o2_lst_rpc *rpc, uint32_t index, const struct o2_lnet_event *event)
{
	struct o2_lst_call_slot *call = &rpc->call[index];

	assert(call->in_use && call->bulk_entry.attached && event->unlinked);
	call->bulk_entry.attached = false;
	call->moved = event->status == 0;
	call->bulk_bytes = call->moved ? event->length_bytes : 0;
	if (event->status != 0)
		o2_lst_call_end(rpc, call, event->status);
	else
		advance(rpc, call);
}

/* --- starting --- */

/* Attach memory for a message or bulk of the server: for one use, from this server only. */
static int attach(struct o2_lst_rpc *rpc, const struct o2_lst_call_slot *call, enum o2_lst_tag_kind kind,
		  uint64_t match_bits, uint32_t options, const struct o2_transfer_memory *memory,
		  struct o2_lst_call_entry *entry, struct o2_error *error)
{
	const struct o2_lnet_entry asked = {
		.portal = O2_LST_PORTAL_RDMA,
		.match_bits = match_bits,
		.nid = call->asked.nid,
		.pid = call->asked.pid,
		.options = options | O2_LNET_MD_UNLINK | O2_LNET_MD_ACK_DISABLE,
		.uses = 1,
		.tag = o2_lst_tag(kind, (uint32_t)(call - rpc->call)),
		.memory = *memory,
	};
	const int rc = o2_lnet_attach(rpc->lnet, &asked, error);

	if (rc < 0)
		return rc;
	*entry = (struct o2_lst_call_entry){true, (uint32_t)rc};
	return 0;
}

static int attach_both(struct o2_lst_rpc *rpc, struct o2_lst_call_slot *call,
		       const struct o2_lst_generic_reqst *ids, struct o2_error *error)
{
	const struct o2_transfer_memory reply =
		o2_lst_buffer_memory(rpc, o2_lst_buffer_reply((uint32_t)(call - rpc->call)));
	int rc = attach(rpc, call, O2_LST_TAG_REPLY, ids->rpyid, O2_LNET_MD_OP_PUT, &reply,
			&call->reply_entry, error);

	if (rc != 0 || call->asked.bulk == NULL)
		return rc;
	return attach(rpc, call, O2_LST_TAG_BULK, ids->bulkid,
		      call->asked.bulk_is_source ? O2_LNET_MD_OP_GET : O2_LNET_MD_OP_PUT, call->asked.bulk,
		      &call->bulk_entry, error);
}

static int send(struct o2_lst_rpc *rpc, struct o2_lst_call_slot *call, struct o2_lst_msg *request,
		struct o2_error *error)
{
	const uint32_t index = (uint32_t)(call - rpc->call), buffer = o2_lst_buffer_request(index);
	const enum o2_lst_service service = o2_lst_service_of_type(request->msg_type);
	const struct o2_transfer_memory memory = o2_lst_buffer_memory(rpc, buffer);
	const struct o2_lnet_target target = {
		.nid = call->asked.nid,
		.pid = call->asked.pid,
		.portal = o2_lst_portal_of_service(service),
		.match_bits = service,
		.tag = o2_lst_tag(O2_LST_TAG_SEND, index),
	};
	int rc = o2_lst_buffer_encode(rpc, buffer, request, error);

	if (rc != 0)
		return rc;
	call->sending = true;
	rc = o2_lnet_put(rpc->lnet, &target, &memory, &call->operation, error);
	/* On success the call may have ended already. */
	if (rc != 0)
		call->sending = false;
	return rc;
}

/* The next 64-bit id, which is not in use here.  0 is skipped. */
static uint64_t next_id(struct o2_lst_rpc *rpc)
{
	rpc->next_id += rpc->next_id == 0;
	return rpc->next_id++;
}

/* All requests begin with rpyid; only those that may have bulk have a bulkid. */
static void set_ids(struct o2_lst_rpc *rpc, const struct o2_lst_call *asked, struct o2_lst_msg *request)
{
	request->u.reqst.rpyid = next_id(rpc);
	if (asked->bulk != NULL)
		request->u.reqst.bulkid = next_id(rpc);
}

static int check_call(const struct o2_lst_rpc *rpc, const struct o2_lst_call *asked, struct o2_error *error)
{
	const uint32_t type = asked->request->msg_type;

	if (rpc->stopped)
		return o2_fail(error, -ESHUTDOWN, "lst/stopped", "rpc", 0);
	if (type >= O2_LST_TYPE_COUNT || o2_lst_type_is_reply(type))
		return o2_fail(error, -EINVAL, "lst/request-type", "msg_type", type);
	if (asked->bulk != NULL && type != O2_LST_TEST_REQST && type != O2_LST_BRW_REQST)
		return o2_fail(error, -EINVAL, "lst/no-bulk", "msg_type", type);
	if (rpc->nfree_calls == 0)
		return o2_refuse_value(error, -ENOSPC, "lst/calls", "calls",
				       rpc->config.max_calls + UINT64_C(1), rpc->config.max_calls);
	return 0;
}

int o2_lst_call_start(struct o2_lst_rpc *rpc, const struct o2_lst_call *asked, uint64_t *id,
		      struct o2_error *error)
{
	struct o2_lst_call_slot *call;
	struct o2_lst_msg request = *asked->request;
	uint32_t generation;
	int rc = check_call(rpc, asked, error);

	if (rc != 0)
		return rc;
	call = &rpc->call[rpc->free_call[--rpc->nfree_calls]];
	generation = call->generation + 1;
	*call = (struct o2_lst_call_slot){
		.in_use = true,
		.generation = generation,
		.asked = *asked,
		.reply_type = request.msg_type + 1,
		.deadline_ms = o2_clock_ms(rpc->clock) + rpc->config.timeout_ms,
	};
	if (call->asked.pid == 0)
		call->asked.pid = O2_LNET_PID_KERNEL;
	if (id != NULL)
		*id = id_of(rpc, call);
	set_ids(rpc, asked, &request);
	rc = attach_both(rpc, call, &request.u.reqst, error);
	if (rc == 0)
		rc = send(rpc, call, &request, error);
	if (rc == 0)
		return 0;
	/* Without a request, no peer has used the entries. */
	detach(rpc, &call->reply_entry);
	detach(rpc, &call->bulk_entry);
	free_slot(rpc, call);
	return rc;
}

int o2_lst_call_cancel(struct o2_lst_rpc *rpc, uint64_t id)
{
	struct o2_lst_call_slot *call = find(rpc, id);

	if (call == NULL)
		return -ENOENT;
	o2_lst_call_end(rpc, call, -ECANCELED);
	return 0;
}

void o2_lst_rpc_peer_down(struct o2_lst_rpc *rpc, uint64_t nid, int code)
{
	for (uint32_t i = 0; i < rpc->config.max_calls; i++)
		if (rpc->call[i].in_use && rpc->call[i].asked.nid == nid)
			o2_lst_call_end(rpc, &rpc->call[i], code);
}

void o2_lst_rpc_check_time(struct o2_lst_rpc *rpc)
{
	const uint64_t now_ms = o2_clock_ms(rpc->clock);

	for (uint32_t i = 0; rpc->config.timeout_ms != 0 && i < rpc->config.max_calls; i++) {
		struct o2_lst_call_slot *call = &rpc->call[i];

		if (!call->in_use || call->ending || now_ms < call->deadline_ms)
			continue;
		rpc->counters.rpcs_expired++;
		call->has_error = true;
		o2_refuse_value(&call->error, -ETIMEDOUT, "lst/rpc-timeout", "timeout_ms",
				now_ms - call->deadline_ms + rpc->config.timeout_ms, rpc->config.timeout_ms);
		o2_lst_call_end(rpc, call, -ETIMEDOUT);
	}
}
