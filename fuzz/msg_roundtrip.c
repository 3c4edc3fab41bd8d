/* SPDX-License-Identifier: MIT */
/*
 * o2_msg_decode on any bytes, under each set of options, and back.  An accepted message encodes to the
 * canonical form, which decodes to itself, has the header's numbers in the same places and the message's
 * body, and is no longer than the message.  Content of the struct from an earlier input must not show
 * anywhere.
 */
#include <errno.h>
#include <string.h>

#include "fuzz/common.h"
#include "wire/bytes.h"
#include "wire/layout.h"
#include "wire/msg.h"
#include "wire/rules.h"

static void check_refusal(int rc, const struct o2_error *error)
{
	const struct o2_wire_rule *rule = error->rule == NULL ? NULL : o2_wire_rule_find(error->rule);

	if (rc != -EPROTO || error->code != rc)
		o2_fuzz_fail("decode returned %d, error says %d", rc, error->code);
	if (rule == NULL || rule->class != error->class || error->class == O2_CLASS_NONE)
		o2_fuzz_fail("rule %s is not one for messages", error->rule == NULL ? "(none)" : error->rule);
}

/* Offset of the bytes that an LNet header of this type does not use; 0: the message has no such header. */
static size_t unused_from(const uint8_t *data)
{
	static const uint8_t used_bytes[] = {60, 72, 68, 48, 44};
	const uint32_t type = o2_load32_le(data + O2_AT_LNET_HDR + O2_LNET_AT_TYPE);

	if (data[O2_AT_TYPE] != O2_MSG_IMMEDIATE && data[O2_AT_TYPE] != O2_MSG_PUT_REQ &&
	    data[O2_AT_TYPE] != O2_MSG_GET_REQ)
		return 0;
	return O2_AT_LNET_HDR + (type < sizeof(used_bytes) ? used_bytes[type] : O2_LNET_AT_UNION);
}

/* What a receiver uses of the body is written as it was read. */
static void check_body(const uint8_t *data, const uint8_t *once, size_t length)
{
	const size_t unused = length < O2_AT_LNET_HDR + O2_LNET_HDR_BYTES ? 0 : unused_from(data);

	for (size_t i = O2_MSG_HEADER_BYTES; i < length; i++)
		if (once[i] != data[i] &&
		    (unused == 0 || i < unused || i >= O2_AT_LNET_HDR + O2_LNET_HDR_BYTES))
			o2_fuzz_fail("byte %zu of a %s is encoded as 0x%02x, it was 0x%02x", i,
				     o2_msg_type_name(data[O2_AT_TYPE]), once[i], data[i]);
}

static void check_accepted(const uint8_t *data, const struct o2_msg *msg,
			   const struct o2_wire_options *options)
{
	static uint8_t once[O2_MSG_BYTES], twice[O2_MSG_BYTES];
	static struct o2_msg again;
	struct o2_error error;
	const int length = o2_msg_encode(msg, options, once, sizeof(once), &error);

	if (length < (int)O2_MSG_HEADER_BYTES)
		o2_fuzz_fail("accepted, but encode refuses it: %s", error.rule);
	if ((uint32_t)length > msg->ibm_nob)
		o2_fuzz_fail("the canonical form has %d bytes, the message %u", length, msg->ibm_nob);
	/* The header must be unchanged, except for nob and checksum. */
	if (memcmp(once, data, O2_AT_NOB) != 0 ||
	    memcmp(once + O2_AT_SRCNID, data + O2_AT_SRCNID, O2_MSG_HEADER_BYTES - O2_AT_SRCNID) != 0)
		o2_fuzz_fail("encoding changed the header of a %s", o2_msg_type_name(msg->ibm_type));
	check_body(data, once, (size_t)length);
	memset(&again, 0x5a, sizeof(again));
	if (o2_msg_decode(once, (size_t)length, options, &again, &error) != 0)
		o2_fuzz_fail("the canonical form is refused: %s", error.rule);
	if (o2_msg_encode(&again, options, twice, sizeof(twice), &error) != length ||
	    memcmp(once, twice, (size_t)length) != 0)
		o2_fuzz_fail("the canonical form of a %s does not encode to itself",
			     o2_msg_type_name(msg->ibm_type));
}

static int decode(const uint8_t *data, size_t size, const struct o2_wire_options *options)
{
	static struct o2_msg msg;
	struct o2_error error;
	int rc;

	memset(&msg, 0xa5, sizeof(msg));
	rc = o2_msg_decode(data, size, options, &msg, &error);
	if (rc != 0)
		check_refusal(rc, &error);
	else
		check_accepted(data, &msg, options);
	return rc;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct o2_wire_options usual = O2_WIRE_DEFAULTS;
	const struct o2_wire_options strict = {.max_frags = O2_MAX_FRAGS_LEGACY, .require_checksum = true};
	const struct o2_wire_options lenient = {
		.max_frags = O2_MAX_FRAGS, .any_lnd = true, .tolerate_immediate_checksum = true};
	const int by_usual = decode(data, size, &usual);

	if (decode(data, size, &strict) == 0 && by_usual != 0)
		o2_fuzz_fail("stricter options accept what the defaults refuse");
	if (decode(data, size, &lenient) != 0 && by_usual == 0)
		o2_fuzz_fail("more lenient options refuse what the defaults accept");
	return 0;
}
