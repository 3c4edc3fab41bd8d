/* SPDX-License-Identifier: MIT */
#include <assert.h>
#include <errno.h>
#include <stdlib.h>

#include "lnet/lnet_internal.h"
#include "mem/kmap.h"
#include "wire/nid.h"

struct o2_lnet_message *o2_lnet_message_new(struct o2_lnet *lnet, enum o2_lnet_message_kind kind,
					    uint64_t nid, const struct o2_lnet_hdr *hdr,
					    struct o2_error *error)
{
	struct o2_lnet_message *message;
	uint32_t generation;

	if (lnet->nfree == 0 && lnet->nused == lnet->config.max_messages) {
		o2_refuse_value(error, -ENOSPC, "lnet/messages", "messages",
				lnet->config.max_messages + UINT64_C(1), lnet->config.max_messages);
		return NULL;
	}
	message = &lnet->message[lnet->nfree > 0 ? lnet->free_index[--lnet->nfree] : lnet->nused++];
	generation = message->generation + 1;
	*message = (struct o2_lnet_message){
		.kind = kind, .generation = generation, .nid = nid, .hdr = *hdr, .in_transport = true};
	return message;
}

void o2_lnet_message_free(struct o2_lnet *lnet, struct o2_lnet_message *message)
{
	assert(message->kind != O2_LNET_FREE);
	message->kind = O2_LNET_FREE;
	lnet->free_index[lnet->nfree++] = (uint32_t)(message - lnet->message);
}

uint64_t o2_lnet_tag(const struct o2_lnet *lnet, const struct o2_lnet_message *message)
{
	return (uint64_t)message->generation << 32 | (uint32_t)(message - lnet->message);
}

struct o2_lnet_message *o2_lnet_find(struct o2_lnet *lnet, uint64_t tag)
{
	const uint32_t index = (uint32_t)tag;
	struct o2_lnet_message *message;

	if (index >= lnet->nused)
		return NULL;
	message = &lnet->message[index];
	return message->kind != O2_LNET_FREE && message->generation == tag >> 32 ? message : NULL;
}

bool o2_lnet_operation_waits(const struct o2_lnet_message *message)
{
	return (message->kind == O2_LNET_OUR_PUT || message->kind == O2_LNET_OUR_GET) &&
	       !message->in_transport && !message->replying;
}

struct o2_lnet_hdr o2_lnet_hdr_to(const struct o2_lnet *lnet, uint64_t nid, uint32_t pid,
				  enum o2_lnet_type type)
{
	return (struct o2_lnet_hdr){
		.dest_nid = nid,
		.src_nid = lnet->config.nid,
		.dest_pid = pid,
		.src_pid = lnet->config.pid,
		.type = (uint32_t)type,
	};
}

int o2_lnet_transmit(struct o2_lnet *lnet, struct o2_lnet_message *message, const struct o2_lnet_hdr *hdr,
		     struct o2_error *error)
{
	const struct o2_lnet_transport *transport = &lnet->transport;
	struct o2_transfer_memory memory = message->memory;
	const struct o2_lnd_question question = {
		.type = (enum o2_lnet_type)hdr->type,
		.nob = memory.buffer.nob,
		.immediate_max = transport->immediate_max(transport->context, message->nid),
	};
	const enum o2_lnd_form form = o2_lnd_choose(&question);

	message->by_rdma = form != O2_FORM_IMMEDIATE;
	memory.tag = o2_lnet_tag(lnet, message);
	/* An IMMEDIATE GET has no payload; its sink is for the REPLY. */
	if (form == O2_FORM_IMMEDIATE)
		memory.buffer.nob = hdr->payload_length;
	return transport->send(transport->context, message->nid, form, hdr, &memory, error);
}

void o2_lnet_dropped(struct o2_lnet *lnet, uint64_t nid, const struct o2_lnet_hdr *hdr,
		     const struct o2_error *error)
{
	const struct o2_lnet_event event = {
		.kind = O2_LNET_EVENT_DROPPED,
		.nid = nid,
		.hdr = hdr,
		.status = error->code,
		.error = error,
	};

	if (lnet->ops.event != NULL)
		lnet->ops.event(lnet->context, &event);
}

/* Attach the first nob bytes of one of the two pages at the portal of pings, as an ordinary entry. */
static int attach_page(struct o2_lnet *lnet, uint32_t page, uint32_t nob, uint32_t operation,
		       struct o2_error *error)
{
	struct o2_kiov *vector = &lnet->ping_page[page];
	const struct o2_lnet_entry entry = {
		.portal = O2_PING_PORTAL,
		.match_bits = O2_PING_MATCH_BITS,
		O2_LNET_FOR_ANYBODY,
		.options = operation | O2_LNET_MD_TRUNCATE | O2_LNET_MD_MANAGE_REMOTE,
		.memory = {.by_policy = true, /* which modes the interface may use is not known here */
			   .buffer = {.kind = O2_KIOV, .kiov = vector, .count = 1, .nob = nob}},
	};

	*vector = (struct o2_kiov){lnet->config.first_page + page, 0, nob};
	return o2_match_attach(&lnet->table, &entry, error);
}

/* Offer the answer to pings, and memory for what peers push. */
static int attach_ping(struct o2_lnet *lnet, struct o2_error *error)
{
	const struct o2_lnet_config *config = &lnet->config;
	const struct o2_ping_info info =
		o2_ping_info_make(config->nid, config->pid, config->ping_features, config->ping_sequence);
	uint8_t bytes[O2_PING_INFO_BYTES];
	const int info_bytes = o2_ping_encode(&info, bytes, sizeof(bytes));
	int rc = o2_kmap_write(lnet->arena, config->first_page, 0, bytes, sizeof(bytes), error);

	assert(info_bytes == (int)sizeof(bytes));
	if (rc == 0)
		rc = attach_page(lnet, 0, sizeof(bytes), O2_LNET_MD_OP_GET, error);
	if (rc >= 0)
		rc = attach_page(lnet, 1, lnet->arena->page_bytes, O2_LNET_MD_OP_PUT, error);
	return rc < 0 ? rc : 0;
}

int o2_lnet_create(const struct o2_lnet_config *config, const struct o2_lnet_transport *transport,
		   const struct o2_arena *arena, const struct o2_clock *clock, const struct o2_lnet_ops *ops,
		   void *context, struct o2_lnet **lnet_out, struct o2_error *error)
{
	struct o2_lnet *lnet;
	int rc;

	if (config->max_messages == 0)
		return o2_refuse_value(error, -EINVAL, "lnet/config/max-messages", "max_messages", 0, 1);
	if (config->max_entries < 2)
		return o2_refuse_value(error, -EINVAL, "lnet/config/max-entries", "max_entries",
				       config->max_entries, 2);
	if (arena->npages < 2)
		return o2_refuse_value(error, -EINVAL, "lnet/config/first-page", "pages", 2, arena->npages);
	if (config->first_page > arena->npages - 2)
		return o2_refuse_value(error, -EINVAL, "lnet/config/first-page", "first_page",
				       config->first_page, arena->npages - 2);
	lnet = calloc(1, sizeof(*lnet));
	if (lnet == NULL)
		return o2_fail(error, -ENOMEM, "lnet/memory", "max_messages", config->max_messages);
	lnet->config = *config;
	lnet->transport = *transport;
	lnet->arena = arena;
	lnet->clock = clock;
	lnet->ops = *ops;
	lnet->context = context;
	lnet->message = calloc(config->max_messages, sizeof(*lnet->message));
	lnet->free_index = calloc(config->max_messages, sizeof(*lnet->free_index));
	rc = o2_match_table_create(config->max_entries, &lnet->table);
	if (rc != 0 || lnet->message == NULL || lnet->free_index == NULL)
		rc = o2_fail(error, -ENOMEM, "lnet/memory", "max_messages", config->max_messages);
	if (rc == 0)
		rc = attach_ping(lnet, error);
	if (rc != 0) {
		o2_lnet_destroy(lnet);
		return rc;
	}
	*lnet_out = lnet;
	return 0;
}

void o2_lnet_destroy(struct o2_lnet *lnet)
{
	if (lnet == NULL)
		return;
	lnet->ending = true;
	for (uint32_t i = 0; i < lnet->nused; i++) {
		assert(!lnet->message[i].in_transport || lnet->message[i].kind == O2_LNET_FREE);
		if (o2_lnet_operation_waits(&lnet->message[i]))
			o2_lnet_operation_end(lnet, &lnet->message[i], -ECONNABORTED);
	}
	o2_match_table_destroy(&lnet->table);
	free(lnet->message);
	free(lnet->free_index);
	free(lnet);
}

int o2_lnet_attach(struct o2_lnet *lnet, const struct o2_lnet_entry *entry, struct o2_error *error)
{
	return o2_match_attach(&lnet->table, entry, error);
}

int o2_lnet_detach(struct o2_lnet *lnet, uint32_t index)
{
	return o2_match_detach(&lnet->table, index);
}

int o2_lnet_unlink(struct o2_lnet *lnet, uint32_t index)
{
	return o2_match_unlink(&lnet->table, index);
}

uint32_t o2_lnet_messages(const struct o2_lnet *lnet)
{
	return lnet->nused - lnet->nfree;
}

void o2_lnet_peer_down(struct o2_lnet *lnet, uint64_t nid, const struct o2_transfer_fault *fault)
{
	for (uint32_t i = 0; i < lnet->nused; i++) {
		struct o2_lnet_message *message = &lnet->message[i];

		if (message->nid != nid || !o2_lnet_operation_waits(message))
			continue;
		if (fault != NULL)
			message->fault = o2_fault_closed(fault);
		o2_lnet_operation_end(lnet, message, -ECONNABORTED);
	}
}

void o2_lnet_check_time(struct o2_lnet *lnet)
{
	const uint64_t now_ms = o2_clock_ms(lnet->clock);

	for (uint32_t i = 0; i < lnet->nused; i++) {
		struct o2_lnet_message *message = &lnet->message[i];
		const uint64_t limit_ms = message->timeout_ms;

		if (!o2_lnet_operation_waits(message) || now_ms < message->deadline_ms)
			continue;
		/* The request was sent, and no answer has come in time. */
		message->fault = o2_fault_late(
			message->kind == O2_LNET_OUR_PUT ? O2_WAIT_LNET_ACK : O2_WAIT_LNET_REPLY, -ETIMEDOUT,
			"lnet/deadline", now_ms - message->deadline_ms + limit_ms, limit_ms);
		o2_lnet_operation_end(lnet, message, -ETIMEDOUT);
	}
}
