/* SPDX-License-Identifier: MIT */
#include "lst/node.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>

#include "base/monotonic.h"
#include "lst/node_internal.h"

/* A test node: its creation from its parts, and the events that its owner passes. */

static struct o2_lst_rpc_config rpc_config(const struct o2_lst_node_config *config)
{
	struct o2_lst_rpc_config rpc = O2_LST_RPC_DEFAULTS;

	rpc.first_page = config->first_page;
	rpc.max_calls = config->max_calls;
	rpc.max_served = config->max_served;
	rpc.timeout_ms = config->timeout_ms;
	rpc.first_id = config->first_id;
	rpc.order = config->order;
	rpc.mode = config->mode;
	return rpc;
}

uint32_t o2_lst_node_pages(const struct o2_lst_node_config *config, uint32_t page_bytes)
{
	const struct o2_lst_rpc_config rpc = rpc_config(config);

	return o2_lst_rpc_pages(&rpc, page_bytes) + O2_LST_NODE_FETCHES + config->server_pages +
	       config->client_pages;
}

uint32_t o2_lst_node_entries(const struct o2_lst_node_config *config)
{
	const struct o2_lst_rpc_config rpc = rpc_config(config);

	return o2_lst_rpc_entries(&rpc);
}

uint32_t o2_lst_node_messages(const struct o2_lst_node_config *config)
{
	const struct o2_lst_rpc_config rpc = rpc_config(config);

	return o2_lst_rpc_messages(&rpc);
}

static int check_config(const struct o2_lst_node_config *config, const struct o2_arena *arena,
			struct o2_error *error)
{
	const uint32_t bulk = O2_LST_MAX_BULK_BYTES / arena->page_bytes;
	const struct {
		const char *field;
		uint32_t value, low;
	} limits[] = {
		{"server_pages", config->server_pages, bulk}, {"client_pages", config->client_pages, bulk},
		{"max_sessions", config->max_sessions, 2},    {"max_batches", config->max_batches, 1},
		{"max_tests", config->max_tests, 1},	      {"max_units", config->max_units, 1},
	};

	for (size_t i = 0; i < sizeof(limits) / sizeof(limits[0]); i++)
		if (limits[i].value < limits[i].low)
			return o2_refuse_value(error, -EINVAL, "lst/config/node", limits[i].field,
					       limits[i].value, limits[i].low);
	return 0;
}

static int create_pages(struct o2_lst_node *node, const struct o2_arena *arena, uint32_t first_page,
			struct o2_error *error)
{
	const struct o2_lst_node_config *config = &node->config;
	int rc = o2_lst_pages_create(arena, first_page, O2_LST_NODE_FETCHES, config->mode, &node->fetch_pages,
				     error);

	first_page += O2_LST_NODE_FETCHES;
	if (rc == 0)
		rc = o2_lst_pages_create(arena, first_page, config->server_pages, config->mode,
					 &node->server_pages, error);
	first_page += config->server_pages;
	if (rc == 0)
		rc = o2_lst_pages_create(arena, first_page, config->client_pages, config->mode,
					 &node->client_pages, error);
	return rc;
}

static int serve_all(struct o2_lst_node *node, struct o2_error *error)
{
	int rc = 0;

	for (uint32_t service = 0; service <= O2_LST_SERVICE_PING && rc == 0; service++) {
		const struct o2_lst_service_ops *ops = &o2_lst_node_framework_ops;

		if (o2_lst_request_type(service) < 0)
			continue;
		if (service == O2_LST_SERVICE_BRW)
			ops = &o2_lst_node_brw_ops;
		else if (service == O2_LST_SERVICE_PING)
			ops = &o2_lst_node_ping_ops;
		rc = o2_lst_serve(node->rpc, (enum o2_lst_service)service, ops, node, error);
	}
	return rc;
}

static int create_parts(struct o2_lst_node *node, const struct o2_arena *arena, struct o2_error *error)
{
	const struct o2_lst_rpc_config rpc = rpc_config(&node->config);
	int rc = o2_lst_rpc_create(&rpc, node->lnet, arena, node->clock, &node->rpc, error);

	if (rc == 0)
		rc = create_pages(node, arena, rpc.first_page + o2_lst_rpc_pages(&rpc, arena->page_bytes),
				  error);
	if (rc == 0)
		rc = o2_lst_tester_create(node->config.max_calls, node->rpc, node->client_pages, node->clock,
					  &node->tester, error);
	if (rc != 0)
		return rc;
	node->brw = calloc(node->config.max_served, sizeof(*node->brw));
	if (node->brw == NULL)
		return o2_fail(error, -ENOMEM, "lst/memory", "max_served", node->config.max_served);
	return serve_all(node, error);
}

int o2_lst_node_create(const struct o2_lst_node_config *config, struct o2_lnet *lnet,
		       const struct o2_arena *arena, const struct o2_clock *clock,
		       const struct o2_lst_node_ops *ops, void *context, struct o2_lst_node **node_out,
		       struct o2_error *error)
{
	struct o2_lst_node *node;
	int rc = check_config(config, arena, error);

	if (rc != 0)
		return rc;
	node = calloc(1, sizeof(*node));
	if (node == NULL)
		return o2_fail(error, -ENOMEM, "lst/memory", "node", sizeof(*node));
	node->config = *config;
	node->lnet = lnet;
	node->clock = clock;
	node->ops = *ops;
	node->context = context;
	LIST_INIT(&node->sessions);
	TAILQ_INIT(&node->ready);
	TAILQ_INIT(&node->waiting);
	rc = create_parts(node, arena, error);
	if (rc != 0) {
		if (node->rpc != NULL)
			o2_lst_rpc_stop(node->rpc, -ESHUTDOWN);
		o2_lst_node_destroy(node);
		return rc;
	}
	*node_out = node;
	return 0;
}

void o2_lst_node_stop(struct o2_lst_node *node, int code)
{
	node->stopped = true;
	o2_lst_node_end_session(node);
	o2_lst_rpc_stop(node->rpc, code);
}

struct o2_lst_rpc *o2_lst_node_rpc(struct o2_lst_node *node)
{
	return node->rpc;
}

uint32_t o2_lst_node_active(const struct o2_lst_node *node)
{
	return o2_lst_rpc_active(node->rpc);
}

void o2_lst_node_destroy(struct o2_lst_node *node)
{
	if (node == NULL)
		return;
	assert(LIST_EMPTY(&node->sessions));
	o2_lst_tester_destroy(node->tester);
	o2_lst_pages_destroy(node->fetch_pages);
	o2_lst_pages_destroy(node->server_pages);
	o2_lst_pages_destroy(node->client_pages);
	o2_lst_rpc_destroy(node->rpc);
	free(node->brw);
	free(node);
}

const struct o2_lst_node_report *o2_lst_node_report(const struct o2_lst_node *node)
{
	return &node->report;
}

struct o2_lst_sid o2_lst_node_sid(const struct o2_lst_node *node)
{
	return node->session == NULL ? O2_LST_NO_SID : node->session->sid;
}

void o2_lst_node_reply(struct o2_lst_node *node, uint64_t served, struct o2_lst_msg *reply, uint32_t status)
{
	reply->u.reply.status = status;
	node->report.refused += status != 0 && status != EBADMSG;
	o2_lst_served_reply(node->rpc, served, reply);
}

/* --- events from LNet --- */

/*
 * LNet: lnet_counters_common
 */
static void count_message(uint32_t *count, uint64_t *length, uint64_t bytes)
{
	(*count)++;
	*length += bytes;
}

static void count_under_way(struct o2_lst_node *node)
{
	struct o2_lst_lnet_counters *counters = &node->lnet_counters;

	counters->lcc_msgs_alloc = o2_lnet_messages(node->lnet);
	if (counters->lcc_msgs_max < counters->lcc_msgs_alloc)
		counters->lcc_msgs_max = counters->lcc_msgs_alloc;
}

bool o2_lst_node_done(struct o2_lst_node *node, const struct o2_lnet_result *result)
{
	struct o2_lst_lnet_counters *counters = &node->lnet_counters;
	bool ours;

	counters->lcc_errors += result->status != 0;
	count_message(&counters->lcc_send_count, &counters->lcc_send_length,
		      result->is_get ? 0 : result->length_bytes);
	if (result->is_get && result->status == 0)
		count_message(&counters->lcc_recv_count, &counters->lcc_recv_length, result->length_bytes);
	count_under_way(node);
	ours = o2_lst_rpc_done(node->rpc, result);
	o2_lst_node_pump(node);
	return ours;
}

bool o2_lst_node_event(struct o2_lst_node *node, const struct o2_lnet_event *event)
{
	struct o2_lst_lnet_counters *counters = &node->lnet_counters;
	const uint64_t bytes = event->status == 0 ? event->length_bytes : 0;
	bool ours;

	if (event->kind == O2_LNET_EVENT_DROPPED) {
		count_message(&counters->lcc_drop_count, &counters->lcc_drop_length, 0);
	} else {
		counters->lcc_errors += event->status != 0;
		count_message(&counters->lcc_recv_count, &counters->lcc_recv_length,
			      event->kind == O2_LNET_EVENT_PUT ? bytes : 0);
		if (event->kind == O2_LNET_EVENT_GET)
			count_message(&counters->lcc_send_count, &counters->lcc_send_length, bytes);
	}
	count_under_way(node);
	ours = o2_lst_rpc_event(node->rpc, event);
	o2_lst_node_pump(node);
	return ours;
}

void o2_lst_node_check_time(struct o2_lst_node *node)
{
	const uint64_t timeout_ms = (uint64_t)node->config.session_timeout_s * O2_MS_PER_S;

	o2_lst_rpc_check_time(node->rpc);
	if (timeout_ms != 0 && node->session != NULL &&
	    o2_clock_ms(node->clock) - node->heard_ms >= timeout_ms) {
		node->report.expired++;
		o2_lst_node_end_session(node);
	}
	o2_lst_node_pump(node);
}
