/* SPDX-License-Identifier: MIT */
#include <errno.h>

#include "lnd/conn/qp.h"
#include "wire/msg.h"

/* Queue depths: what was asked for, and what the device supports (docs/transport.md, "Sizes").  Pure. */

/*
 * Room for as many full transfers, with bind and invalidate of their keys, as may be in flight: so no operation
 * ever waits for room in the send queue.
 */
uint32_t o2_qp_send_wrs(const struct o2_conn_config *config, const struct o2_flow_tunables *flow)
{
	return o2_full_transfers(flow) * (config->max_frags + O2_TX_EXTRA_WRS);
}

/* One receive per request and one per answer; in version 2 also some for NOOPs, which take no credit. */
uint32_t o2_qp_recv_wrs(const struct o2_conn_config *config)
{
	return 2 * config->queue_depth + (config->version == O2_MSG_VERSION_1 ? 0 : O2_OOB_MESSAGES);
}

uint32_t o2_qp_send_sge(const struct o2_conn_config *config)
{
	if (config->immediate_gather && config->wrq_sge < O2_IMMEDIATE_SGE)
		return O2_IMMEDIATE_SGE;
	return config->wrq_sge;
}

/* After an error every work request completes, even an unsignalled one. */
uint32_t o2_qp_cq_entries(const struct o2_conn_config *config, const struct o2_flow_tunables *flow)
{
	return o2_qp_recv_wrs(config) + o2_qp_send_wrs(config, flow);
}

static int check_config(const struct o2_conn_config *config, uint32_t max_sge, struct o2_error *error)
{
	const struct {
		const char *rule;
		const char *field;
		uint32_t value;
		uint32_t low;
		uint32_t high;
	} ranges[] = {
		{"conn/queue-depth", "queue_depth", config->queue_depth, o2_min_queue_depth(config->version),
		 O2_MAX_QUEUE_DEPTH},
		{"conn/max-frags", "max_frags", config->max_frags, 1, config->wire.max_frags},
		{"conn/wrq-sge", "wrq_sge", config->wrq_sge, 1, O2_MAX_WRQ_SGE},
		{"conn/device-sge", "wrq_sge", config->wrq_sge, 1, max_sge},
		{"conn/retry-count", "retry_count", config->retry_count, 0, O2_MAX_RETRIES},
		{"conn/rnr-retry-count", "rnr_retry_count", config->rnr_retry_count, 0, O2_MAX_RETRIES},
		{"conn/ack-timeout", "ack_timeout", config->ack_timeout, 0, O2_MAX_ACK_TIMEOUT},
		{"conn/version", "version", config->version, O2_MSG_VERSION_1, O2_MSG_VERSION_2},
		{"conn/max-transfers", "max_transfers", config->max_transfers, 1, O2_MAX_TRANSFERS},
		{"conn/peer-tx-credits", "peer_tx_credits", config->peer_tx_credits, 0, O2_MAX_QUEUE_DEPTH},
		{"conn/order", "order", config->order, O2_LITTLE_ENDIAN, O2_BIG_ENDIAN},
		{"conn/cksum-flavour", "cksum_flavour", config->cksum_flavour, O2_CKSUM_NONE,
		 O2_CKSUM_SIGNED},
	};
	int rc = o2_check_options(&config->wire, error);

	for (unsigned int i = 0; i < sizeof(ranges) / sizeof(ranges[0]) && rc == 0; i++)
		rc = o2_refuse_range(error, -EINVAL, ranges[i].rule, ranges[i].field, ranges[i].value,
				     ranges[i].low, ranges[i].high);
	return rc;
}

static void resolve(const struct o2_conn_config *config, struct o2_flow_tunables *flow)
{
	*flow = (struct o2_flow_tunables){
		.queue_depth = config->queue_depth,
		.peer_tx_credits = config->peer_tx_credits,
		.peercredits_hiw = config->peercredits_hiw,
		.concurrent_sends = config->concurrent_sends,
	};
	o2_flow_resolve(flow, config->version);
	/* The number of messages in flight follows the depth, even if that is less than peer_tx_credits. */
	if (flow->concurrent_sends > 2 * flow->queue_depth)
		flow->concurrent_sends = 2 * flow->queue_depth;
}

/* One full transfer less.  The tunables keep their values, by which the high-water mark is scaled. */
bool o2_qp_shrink(struct o2_conn_config *config, struct o2_flow_tunables *flow)
{
	uint32_t full = o2_full_transfers(flow) - 1;
	uint32_t least_sends = config->version == O2_MSG_VERSION_1 ? O2_CONCURRENT_MIN_V1 : 1;

	if (full < o2_min_queue_depth(config->version) || full < least_sends)
		return false;
	if (flow->concurrent_sends > full)
		flow->concurrent_sends = full;
	if (flow->queue_depth > full)
		flow->queue_depth = full;
	config->queue_depth = flow->queue_depth;
	return true;
}

int o2_qp_fit_device(const struct o2_qp_device *device, struct o2_conn_config *config,
		     struct o2_flow_tunables *flow, struct o2_error *error)
{
	int rc = check_config(config, device->max_sge, error);

	if (rc != 0)
		return rc;
	/* Copy payloads if a work request cannot gather enough entries. */
	config->immediate_gather = config->immediate_gather && device->max_sge >= O2_IMMEDIATE_SGE;
	resolve(config, flow);
	do {
		rc = o2_refuse_range(error, -EINVAL, "conn/device-queue", "send work requests",
				     o2_qp_send_wrs(config, flow), 0, device->max_wr);
		if (rc == 0)
			rc = o2_refuse_range(error, -EINVAL, "conn/device-queue", "receive work requests",
					     o2_qp_recv_wrs(config), 0, device->max_wr);
		if (rc == 0)
			rc = o2_refuse_range(error, -EINVAL, "conn/device-queue", "completions",
					     o2_qp_cq_entries(config, flow), 0, device->max_cqe);
	} while (rc != 0 && o2_qp_shrink(config, flow));
	if (rc == 0)
		o2_error_clear(error);
	return rc;
}
