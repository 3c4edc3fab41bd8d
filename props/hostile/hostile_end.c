/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <string.h>

#include "props/hostile/hostile_quirk.h"
#include "props/hostile/hostile_victim.h"

/* One end of an honest connection: its memory and callbacks; and the honest peer. */

struct o2_transfer_memory o2_hostile_memory(struct o2_hostile_end *end, int which, uint32_t at, uint64_t nob,
					    enum o2_reg_mode mode)
{
	struct o2_kiov *kiov = end->kiov[which];
	uint32_t count = 0;

	for (uint64_t left = nob; left > 0; count++) {
		uint32_t take = 4096 - at % 4096;

		if (take > left)
			take = (uint32_t)left;
		kiov[count] = (struct o2_kiov){at / 4096, at % 4096, take};
		at += take;
		left -= take;
	}
	return (struct o2_transfer_memory){
		.buffer = {.kind = O2_KIOV, .count = count, .nob = nob, .kiov = kiov},
		.mode = mode,
	};
}

static int match(void *context, const struct o2_msg *request, uint64_t sink_bytes,
		 struct o2_transfer_memory *memory)
{
	struct o2_hostile_end *end = context;

	(void)sink_bytes;
	if (end->serve.buffer.nob == 0)
		return -ENODATA;
	end->matched++;
	/* A GET only reads the memory, and for a PUT of less it is not described. */
	if (request->ibm_type == O2_MSG_PUT_REQ &&
	    request->u.putreq.hdr.payload_length >= end->serve.buffer.nob &&
	    end->serve.buffer.nob > end->described_bytes[0])
		end->described_bytes[0] = end->serve.buffer.nob;
	*memory = end->serve;
	return 0;
}

static int receive(void *context, const struct o2_msg *msg)
{
	struct o2_hostile_end *end = context;

	(void)msg;
	end->received++;
	return 0;
}

static void done(void *context, const struct o2_transfer_result *result)
{
	struct o2_hostile_end *end = context;

	end->done++;
	end->last = *result;
	if (result->status != 0)
		return;
	end->puts_well += result->initiator && result->op == O2_OP_PUT;
	end->gets_well += result->initiator && result->op == O2_OP_GET;
	end->served_well += !result->initiator;
}

static void closed(void *context, const struct o2_transfer_fault *fault)
{
	struct o2_hostile_end *end = context;

	end->closed++;
	end->fault = *fault;
}

const struct o2_conn_ops o2_hostile_end_ops = {
	.match = match, .receive = receive, .done = done, .closed = closed};

/* --- the honest peer --- */

void o2_honest_fill(uint8_t *bytes, size_t length_bytes, uint64_t salt)
{
	o2_pattern_fill(bytes, length_bytes, salt, 0, 0);
}

static int node_match(void *context, uint64_t nid, const struct o2_msg *request, uint64_t sink_bytes,
		      struct o2_transfer_memory *memory)
{
	(void)nid;
	return match(context, request, sink_bytes, memory);
}

static int node_receive(void *context, uint64_t nid, const struct o2_msg *msg)
{
	(void)nid;
	return receive(context, msg);
}

static void node_done(void *context, uint64_t nid, const struct o2_transfer_result *result)
{
	(void)nid;
	done(context, result);
}

int o2_friend_start_node(struct o2_friend *honest, struct o2_ni *ni, struct o2_cm *cm, struct o2_error *error)
{
	static const struct o2_node_ops ops = {
		.match = node_match, .receive = node_receive, .done = node_done};
	struct o2_node_config config = O2_NODE_DEFAULTS;

	memset(honest, 0, sizeof(*honest));
	honest->ni = ni;
	config.conn.max_transfers = 8;
	config.conn.ack_timeout = O2_HOSTILE_ACK_TIMEOUT;
	config.listen = false;
	o2_hostile_bend_conn(&config.conn);
	return o2_node_create(ni, cm, &config, &ops, &honest->end, &honest->node, error);
}

bool o2_friend_put(struct o2_friend *honest, uint64_t nid, uint64_t salt)
{
	struct o2_transfer_memory source =
		o2_hostile_memory(&honest->end, 0, O2_HONEST_AT, O2_CHECKED_BYTES, O2_REG_FASTREG);
	struct o2_lnet_hdr hdr = {
		.dest_nid = nid,
		.src_nid = honest->ni->config.nid,
		.type = O2_LNET_PUT,
		.payload_length = O2_CHECKED_BYTES,
	};
	int rc;

	o2_honest_fill(honest->ni->arena.memory + O2_HONEST_AT, O2_CHECKED_BYTES, salt);
	if (honest->node != NULL)
		rc = o2_node_put(honest->node, nid, &hdr, &source, NULL);
	else
		rc = o2_conn_put(honest->end.conn, &hdr, &source, NULL, NULL);
	honest->end.started += rc == 0;
	return rc == 0;
}
