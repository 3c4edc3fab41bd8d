/* SPDX-License-Identifier: MIT */
#include "cli/lenient.h"

#include <string.h>

#include "wire/bytes.h"
#include "wire/layout.h"
#include "wire/rules.h"

/* The checksum was compared, so header, nob and length are known to be good. */
static bool is_payload_checksum(const uint8_t *bytes, const struct o2_msg *msg, const struct o2_error *error)
{
	return error->rule != NULL && strcmp(error->rule, o2_wire_rules[O2_RULE_CHECKSUM].id) == 0 &&
	       bytes[O2_AT_TYPE] == O2_MSG_IMMEDIATE && msg->ibm_nob >= O2_AT_PAYLOAD &&
	       o2_load32_le(bytes + O2_AT_LNET_HDR + O2_LNET_AT_PAYLOAD_LENGTH) != 0;
}

int o2_lenient_decode(const uint8_t *bytes, size_t length_bytes, const struct o2_lenient *lenient,
		      struct o2_msg *msg, bool *tolerated, struct o2_error *error)
{
	struct o2_wire_options options = lenient->wire;
	uint8_t copy[O2_MSG_BYTES];
	uint32_t nob;
	int rc;

	*tolerated = false;
	rc = o2_msg_decode(bytes, length_bytes, &options, msg, error);
	if (rc == 0 || !lenient->payload_checksum || !is_payload_checksum(bytes, msg, error))
		return rc;
	/* The rest is checked as if there were no checksum; nob is at most O2_MSG_BYTES by now. */
	nob = msg->ibm_nob;
	memcpy(copy, bytes, nob);
	memset(copy + O2_AT_CKSUM, 0, sizeof(uint32_t));
	options.require_checksum = false;
	rc = o2_msg_decode(copy, nob, &options, msg, error);
	if (rc == 0)
		msg->u.immediate.payload = bytes + O2_AT_PAYLOAD;
	*tolerated = rc == 0;
	return rc;
}
