/* SPDX-License-Identifier: MIT */
#include "lst/rpc.h"

#include <errno.h>
#include <stdlib.h>

#include "lst/rpc_internal.h"
#include "mem/kmap.h"

/* The code that client and server share: message buffers, and events from LNet. */

#define MAX_AT_A_TIME (1u << 20) /* limit of calls and of requests, so that their sums do not overflow */

static uint32_t buffers(const struct o2_lst_rpc_config *config)
{
	return O2_LST_SERVICES + 2 * config->max_calls + config->max_served;
}

uint32_t o2_lst_rpc_pages(const struct o2_lst_rpc_config *config, uint32_t page_bytes)
{
	const uint32_t per_page = page_bytes / O2_LST_MSG_BYTES;

	return (buffers(config) + per_page - 1) / per_page;
}

uint32_t o2_lst_rpc_entries(const struct o2_lst_rpc_config *config)
{
	return O2_LST_SERVICES + 2 * config->max_calls;
}

uint32_t o2_lst_rpc_messages(const struct o2_lst_rpc_config *config)
{
	/* Per call: its request, and the server's bulk and reply.  Per served request: its bulk or its reply. */
	return 3 * config->max_calls + config->max_served;
}

struct o2_transfer_memory o2_lst_buffer_memory(const struct o2_lst_rpc *rpc, uint32_t buffer)
{
	return (struct o2_transfer_memory){
		.buffer = {.kind = O2_KIOV,
			   .count = 1,
			   .nob = O2_LST_MSG_BYTES,
			   .kiov = &rpc->buffer[buffer]},
		.mode = rpc->config.mode,
	};
}

int o2_lst_buffer_read(const struct o2_lst_rpc *rpc, uint32_t buffer, uint8_t *bytes, struct o2_error *error)
{
	const struct o2_kiov *piece = &rpc->buffer[buffer];

	return o2_kmap_read(rpc->arena, piece->page, piece->offset, bytes, O2_LST_MSG_BYTES, error);
}

int o2_lst_buffer_encode(const struct o2_lst_rpc *rpc, uint32_t buffer, const struct o2_lst_msg *msg,
			 struct o2_error *error)
{
	const struct o2_kiov *piece = &rpc->buffer[buffer];
	struct o2_lst_msg ours = *msg;
	uint8_t bytes[O2_LST_MSG_BYTES];
	int rc;

	ours.order = rpc->config.order;
	ours.msg_version = O2_LST_MSG_VERSION;
	rc = o2_lst_msg_encode(&ours, bytes, error);
	return rc != 0 ? rc
		       : o2_kmap_write(rpc->arena, piece->page, piece->offset, bytes, sizeof(bytes), error);
}

uint32_t o2_lst_patience_ms(const struct o2_lst_rpc *rpc)
{
	return rpc->config.timeout_ms != 0 ? rpc->config.timeout_ms : UINT32_MAX;
}

static int check_config(const struct o2_lst_rpc_config *config, const struct o2_arena *arena,
			struct o2_error *error)
{
	uint32_t pages;
	int rc = o2_refuse_range(error, -EINVAL, "lst/config/max-calls", "max_calls", config->max_calls, 1,
				 MAX_AT_A_TIME);

	if (rc == 0)
		rc = o2_refuse_range(error, -EINVAL, "lst/config/max-served", "max_served",
				     config->max_served, 1, MAX_AT_A_TIME);
	if (rc != 0)
		return rc;
	pages = o2_lst_rpc_pages(config, arena->page_bytes);
	if (arena->npages < pages)
		return o2_refuse_value(error, -EINVAL, "lst/config/first-page", "pages of RPCs", pages,
				       arena->npages);
	return o2_refuse_range(error, -EINVAL, "lst/config/first-page", "first_page", config->first_page, 0,
			       arena->npages - pages);
}

static void lay_buffers(struct o2_lst_rpc *rpc)
{
	const uint32_t per_page = rpc->arena->page_bytes / O2_LST_MSG_BYTES;

	for (uint32_t i = 0; i < buffers(&rpc->config); i++)
		rpc->buffer[i] = (struct o2_kiov){rpc->config.first_page + i / per_page,
						  i % per_page * O2_LST_MSG_BYTES, O2_LST_MSG_BYTES};
}

static void fill_stack(uint32_t *stack, uint32_t *count, uint32_t max)
{
	for (*count = 0; *count < max; (*count)++)
		stack[*count] = max - 1 - *count;
}

int o2_lst_rpc_create(const struct o2_lst_rpc_config *config, struct o2_lnet *lnet,
		      const struct o2_arena *arena, const struct o2_clock *clock, struct o2_lst_rpc **rpc_out,
		      struct o2_error *error)
{
	struct o2_lst_rpc *rpc;
	int rc = check_config(config, arena, error);

	if (rc != 0)
		return rc;
	rpc = calloc(1, sizeof(*rpc));
	if (rpc == NULL)
		return o2_fail(error, -ENOMEM, "lst/memory", "rpc", sizeof(*rpc));
	rpc->config = *config;
	rpc->lnet = lnet;
	rpc->arena = arena;
	rpc->clock = clock;
	rpc->next_id = config->first_id;
	rpc->buffer = calloc(buffers(config), sizeof(*rpc->buffer));
	rpc->call = calloc(config->max_calls, sizeof(*rpc->call));
	rpc->free_call = calloc(config->max_calls, sizeof(*rpc->free_call));
	rpc->served = calloc(config->max_served, sizeof(*rpc->served));
	rpc->free_served = calloc(config->max_served, sizeof(*rpc->free_served));
	if (rpc->buffer == NULL || rpc->call == NULL || rpc->free_call == NULL || rpc->served == NULL ||
	    rpc->free_served == NULL) {
		o2_lst_rpc_destroy(rpc);
		return o2_fail(error, -ENOMEM, "lst/memory", "max_calls", config->max_calls);
	}
	lay_buffers(rpc);
	fill_stack(rpc->free_call, &rpc->nfree_calls, config->max_calls);
	fill_stack(rpc->free_served, &rpc->nfree_served, config->max_served);
	*rpc_out = rpc;
	return 0;
}

void o2_lst_rpc_destroy(struct o2_lst_rpc *rpc)
{
	if (rpc == NULL)
		return;
	free(rpc->buffer);
	free(rpc->call);
	free(rpc->free_call);
	free(rpc->served);
	free(rpc->free_served);
	free(rpc);
}

void o2_lst_rpc_stop(struct o2_lst_rpc *rpc, int code)
{
	rpc->stopped = true;
	o2_lst_serve_stop(rpc, code);
	for (uint32_t i = 0; i < rpc->config.max_calls; i++)
		if (rpc->call[i].in_use)
			o2_lst_call_end(rpc, &rpc->call[i], code);
}

uint32_t o2_lst_rpc_active(const struct o2_lst_rpc *rpc)
{
	return rpc->config.max_calls - rpc->nfree_calls + rpc->config.max_served - rpc->nfree_served;
}

enum o2_byte_order o2_lst_rpc_order(const struct o2_lst_rpc *rpc)
{
	return rpc->config.order;
}

const struct o2_lst_rpc_counters *o2_lst_rpc_counters(const struct o2_lst_rpc *rpc)
{
	return &rpc->counters;
}

/* --- events from LNet --- */

static bool is_ours(uint64_t tag)
{
	return tag >> 40 == O2_LST_RPC_TAG >> 40;
}

static enum o2_lst_tag_kind kind_of(uint64_t tag)
{
	return (enum o2_lst_tag_kind)(tag >> 32 & 0xff);
}

bool o2_lst_rpc_done(struct o2_lst_rpc *rpc, const struct o2_lnet_result *result)
{
	const uint32_t index = (uint32_t)result->tag;

	if (!is_ours(result->tag))
		return false;
	if (result->status != 0 && result->status != -ECANCELED)
		rpc->counters.errors++;
	switch (kind_of(result->tag)) {
	case O2_LST_TAG_SEND:
		o2_lst_call_sent(rpc, index, result->status);
		break;
	case O2_LST_TAG_SERVED_BULK:
		o2_lst_served_moved(rpc, index, result);
		break;
	default:
		o2_lst_served_replied(rpc, index, result->status);
		break;
	}
	return true;
}

bool o2_lst_rpc_event(struct o2_lst_rpc *rpc, const struct o2_lnet_event *event)
{
	const uint32_t index = (uint32_t)event->entry_tag;

	if (event->kind == O2_LNET_EVENT_DROPPED || !is_ours(event->entry_tag))
		return false;
	if (event->status != 0)
		rpc->counters.errors++;
	switch (kind_of(event->entry_tag)) {
	case O2_LST_TAG_REQUEST:
		o2_lst_serve_request(rpc, index, event);
		break;
	case O2_LST_TAG_REPLY:
		o2_lst_call_replied(rpc, index, event);
		break;
	default:
		o2_lst_call_moved(rpc, index, event);
		break;
	}
	return true;
}
