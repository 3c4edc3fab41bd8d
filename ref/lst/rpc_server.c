/* SPDX-License-Identifier: MIT */
#include <assert.h>
#include <errno.h>

#include "lst/rpc_internal.h"
#include "wire/nid.h"

/* The server of an RPC: it receives a request, moves bulk if the service wants this, and sends a reply. */

static struct o2_lst_served_slot *find(struct o2_lst_rpc *rpc, uint64_t id)
{
	const uint32_t index = (uint32_t)id;

	assert(index < rpc->config.max_served && rpc->served[index].in_use &&
	       rpc->served[index].generation == id >> 32);
	return &rpc->served[index];
}

static uint64_t id_of(const struct o2_lst_rpc *rpc, const struct o2_lst_served_slot *served)
{
	return (uint64_t)served->generation << 32 | (uint32_t)(served - rpc->served);
}

static void finish(struct o2_lst_rpc *rpc, struct o2_lst_served_slot *served, int status)
{
	const struct o2_lst_service_slot *service = &rpc->service[served->service];
	const uint64_t id = id_of(rpc, served);

	rpc->counters.rpcs_dropped += status != 0;
	served->in_use = false;
	rpc->free_served[rpc->nfree_served++] = (uint32_t)id;
	if (served->told)
		service->ops->over(service->context, id, status);
}

void o2_lst_served_drop(struct o2_lst_rpc *rpc, uint64_t id, int status)
{
	struct o2_lst_served_slot *served = find(rpc, id);

	if (served->replying || served->dropped)
		return;
	served->dropped = true;
	served->status = status;
	if (served->moving)
		o2_lnet_cancel(rpc->lnet, served->operation);
	else
		finish(rpc, served, status);
}

/* --- bulk --- */

static int move(struct o2_lst_rpc *rpc, uint64_t id, const struct o2_transfer_memory *memory, bool put)
{
	struct o2_lst_served_slot *served = find(rpc, id);
	const struct o2_lnet_target target = {
		.nid = served->nid,
		.pid = served->pid,
		.portal = O2_LST_PORTAL_RDMA,
		.match_bits = served->bulkid,
		.response_timeout_ms = o2_lst_patience_ms(rpc),
		.tag = o2_lst_tag(O2_LST_TAG_SERVED_BULK, (uint32_t)id),
	};
	int rc;

	assert(!served->moving && !served->replying && !served->dropped);
	served->moving = true;
	rc = put ? o2_lnet_put(rpc->lnet, &target, memory, &served->operation, NULL)
		 : o2_lnet_get(rpc->lnet, &target, memory, &served->operation, NULL);
	if (rc != 0)
		served->moving = false;
	return rc;
}

int o2_lst_served_put(struct o2_lst_rpc *rpc, uint64_t id, const struct o2_transfer_memory *memory)
{
	return move(rpc, id, memory, true);
}

int o2_lst_served_get(struct o2_lst_rpc *rpc, uint64_t id, const struct o2_transfer_memory *memory)
{
	return move(rpc, id, memory, false);
}

void o2_lst_served_moved(struct o2_lst_rpc *rpc, uint32_t index, const struct o2_lnet_result *result)
{
	struct o2_lst_served_slot *served = &rpc->served[index];
	const struct o2_lst_service_slot *service = &rpc->service[served->service];

	assert(served->in_use && served->moving);
	served->moving = false;
	if (result->is_get)
		rpc->counters.bulk_get += result->length_bytes;
	else
		rpc->counters.bulk_put += result->length_bytes;
	if (served->dropped)
		finish(rpc, served, served->status);
	else
		service->ops->moved(service->context, id_of(rpc, served), result->status,
				    result->length_bytes);
}

/* --- the reply --- */

void o2_lst_served_reply(struct o2_lst_rpc *rpc, uint64_t id, const struct o2_lst_msg *reply)
{
	struct o2_lst_served_slot *served = find(rpc, id);
	const uint32_t index = (uint32_t)id, buffer = o2_lst_buffer_served(rpc, index);
	const struct o2_transfer_memory memory = o2_lst_buffer_memory(rpc, buffer);
	const struct o2_lnet_target target = {
		.nid = served->nid,
		.pid = served->pid,
		.portal = O2_LST_PORTAL_RDMA,
		.match_bits = served->rpyid,
		.tag = o2_lst_tag(O2_LST_TAG_SERVED_REPLY, index),
	};
	int rc;

	assert(!served->moving && !served->replying && !served->dropped);
	assert(reply->msg_type == served->request_type + 1);
	rc = o2_lst_buffer_encode(rpc, buffer, reply, NULL);
	served->replying = true;
	if (rc == 0)
		rc = o2_lnet_put(rpc->lnet, &target, &memory, &served->operation, NULL);
	if (rc == 0)
		return;
	rpc->counters.errors++;
	finish(rpc, served, rc);
}

void o2_lst_served_replied(struct o2_lst_rpc *rpc, uint32_t index, int status)
{
	struct o2_lst_served_slot *served = &rpc->served[index];

	assert(served->in_use && served->replying);
	finish(rpc, served, status);
}

/* --- requests --- */

int o2_lst_serve(struct o2_lst_rpc *rpc, enum o2_lst_service service, const struct o2_lst_service_ops *ops,
		 void *context, struct o2_error *error)
{
	struct o2_lnet_entry entry = {
		.portal = o2_lst_portal_of_service(service),
		.match_bits = service,
		O2_LNET_FOR_ANYBODY,
		.options = O2_LNET_MD_OP_PUT | O2_LNET_MD_MANAGE_REMOTE,
		.tag = o2_lst_tag(O2_LST_TAG_REQUEST, service),
	};
	int rc;

	if (o2_lst_request_type(service) < 0)
		return o2_fail(error, -EINVAL, "lst/service", "service", service);
	if (rpc->service[service].ops != NULL)
		return o2_fail(error, -EEXIST, "lst/service-there", "service", service);
	entry.memory = o2_lst_buffer_memory(rpc, o2_lst_buffer_service(service));
	rc = o2_lnet_attach(rpc->lnet, &entry, error);
	if (rc < 0)
		return rc;
	rpc->service[service] = (struct o2_lst_service_slot){ops, context, (uint32_t)rc};
	return 0;
}

void o2_lst_serve_stop(struct o2_lst_rpc *rpc, int code)
{
	for (uint32_t i = 0; i < O2_LST_SERVICES; i++)
		if (rpc->service[i].ops != NULL)
			o2_lnet_unlink(rpc->lnet, rpc->service[i].entry);
	for (uint32_t i = 0; i < rpc->config.max_served; i++)
		if (rpc->served[i].in_use)
			o2_lst_served_drop(rpc, id_of(rpc, &rpc->served[i]), code);
}

/*
 * Read a service's request from its buffer.  A wrong version only sets *other_version, since it is answered.
 */
static int read_request(struct o2_lst_rpc *rpc, uint32_t service, const struct o2_lnet_event *event,
			struct o2_lst_msg *msg, bool *other_version)
{
	uint8_t bytes[O2_LST_MSG_BYTES];
	struct o2_error error = {.code = 0};
	int rc = event->status;

	*other_version = false;
	if (rc == 0)
		rc = o2_lst_buffer_read(rpc, o2_lst_buffer_service(service), bytes, &error);
	/* A message of the right length fills the buffer, so it begins at offset 0. */
	if (rc == 0)
		rc = o2_lst_msg_decode(bytes, event->length_bytes, msg, &error);
	if (rc != 0 && o2_lst_is_other_version(&error)) {
		*other_version = true;
		rc = 0;
	}
	if (rc == 0)
		rc = o2_lst_msg_expect(msg, (uint32_t)o2_lst_request_type(service), &error);
	return rc;
}

static struct o2_lst_served_slot *new_served(struct o2_lst_rpc *rpc, uint32_t service,
					     const struct o2_lnet_event *event, const struct o2_lst_msg *msg)
{
	struct o2_lst_served_slot *served;
	uint32_t generation;

	if (rpc->nfree_served == 0)
		return NULL;
	served = &rpc->served[rpc->free_served[--rpc->nfree_served]];
	generation = served->generation + 1;
	*served = (struct o2_lst_served_slot){
		.in_use = true,
		.generation = generation,
		.service = (enum o2_lst_service)service,
		.nid = event->nid,
		.pid = event->hdr->src_pid,
		.request_type = msg->msg_type,
		.rpyid = msg->u.reqst.rpyid,
		.bulkid = msg->u.reqst.bulkid,
	};
	return served;
}

/* Answer a request of another version.  Its other fields are ignored. */
static void refuse_version(struct o2_lst_rpc *rpc, const struct o2_lst_served_slot *served)
{
	struct o2_lst_msg reply = {.msg_type = served->request_type + 1, .msg_ses_feats = O2_LST_FEATS_MASK};

	reply.u.reply.status = EPROTO;
	if (served->service < O2_LST_SERVICE_FRAMEWORK_END)
		reply.u.reply.sid = O2_LST_NO_SID;
	o2_lst_served_reply(rpc, id_of(rpc, served), &reply);
}

void o2_lst_serve_request(struct o2_lst_rpc *rpc, uint32_t service, const struct o2_lnet_event *event)
{
	const struct o2_lst_service_slot *slot = &rpc->service[service];
	struct o2_lst_served_slot *served = NULL;
	struct o2_lst_request request = {.nid = event->nid, .pid = event->hdr->src_pid};
	struct o2_lst_msg msg;
	bool other_version;

	rpc->counters.rpcs_rcvd++;
	if (!rpc->stopped && read_request(rpc, service, event, &msg, &other_version) == 0)
		served = new_served(rpc, service, event, &msg);
	if (served == NULL) {
		rpc->counters.rpcs_dropped++;
		return;
	}
	if (other_version) {
		refuse_version(rpc, served);
		return;
	}
	served->told = true;
	request.served = id_of(rpc, served);
	request.msg = &msg;
	slot->ops->request(slot->context, &request);
}
