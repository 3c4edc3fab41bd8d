/* SPDX-License-Identifier: MIT */
#include "tests/lib/connreq.h"

struct o2_connreq_self connreq_self(bool asks)
{
	return (struct o2_connreq_self){
		.nid = asks ? NID_A : NID_B,
		.incarnation = asks ? STAMP_A : STAMP_B,
		.version = O2_MSG_VERSION_2,
		.queue_depth = 8,
		.max_frags = O2_MAX_FRAGS,
		.registers = true,
		.up = true,
		.bind_nid_to_address = true,
		.max_peers = 8,
		.max_conns_per_peer = 4,
	};
}

void assert_params(const struct o2_conn_params *found, const struct o2_conn_params *expected)
{
	assert_int_equal(found->version, expected->version);
	assert_int_equal(found->queue_depth, expected->queue_depth);
	assert_int_equal(found->max_frags, expected->max_frags);
	assert_int_equal(found->max_msg_size, expected->max_msg_size);
}

bool params_at_limit(const struct o2_conn_params *refused, const struct o2_error *error, bool beyond,
		     struct o2_conn_params *params)
{
	uint64_t value = error->limit;

	*params = *refused;
	if (error->limit_kind != O2_LIMIT_BOUND || error->limit == O2_NO_LIMIT)
		return false;
	if (beyond)
		value += error->value > error->limit ? 1 : -1;
	if (strcmp(error->field, "ibcp_queue_depth") == 0)
		params->queue_depth = (uint16_t)value;
	else if (strcmp(error->field, "ibcp_max_frags") == 0)
		params->max_frags = (uint16_t)value;
	else if (strcmp(error->field, "ibcp_max_msg_size") == 0)
		params->max_msg_size = (uint32_t)value;
	else
		return false;
	return true;
}

size_t read_private_data(const char *name, uint8_t *bytes, size_t capacity)
{
	char path[512];

	snprintf(path, sizeof(path), O2_CORPUS_DIR "/captures/cm/%s.cmpriv", name);
	return test_read(path, bytes, capacity);
}
