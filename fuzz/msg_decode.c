/* SPDX-License-Identifier: MIT */
/*
 * o2_msg_decode on any bytes, by the default rules: only decoding, and cheap checks of the result, because
 * this target makes the most executions.  Encoding the result is the task of msg_roundtrip.
 */
#include <errno.h>

#include "fuzz/common.h"
#include "wire/layout.h"
#include "wire/msg.h"

static void check_refusal(int rc, const struct o2_error *error, size_t size)
{
	if (rc != -EPROTO || error->code != rc)
		o2_fuzz_fail("decode returned %d, error says %d", rc, error->code);
	if (error->rule == NULL || error->field == NULL || error->class == O2_CLASS_NONE)
		o2_fuzz_fail("rule %s is not one for messages", error->rule == NULL ? "(none)" : error->rule);
	/* A field may start at the end of the message, if the message is too short. */
	if (error->offset_bytes > (size < O2_MSG_BYTES ? size : O2_MSG_BYTES))
		o2_fuzz_fail("%s: the field starts at byte %u of %zu", error->rule, error->offset_bytes,
			     size);
}

/* An accepted descriptor has fragments, which end inside nob. */
static void check_desc(const struct o2_msg *msg, const struct o2_rdma_desc *desc, uint32_t start_bytes)
{
	const uint64_t end = start_bytes + O2_DESC_AT_FRAGS + (uint64_t)desc->rd_nfrags * O2_FRAG_BYTES;

	if (desc->rd_nfrags == 0 || desc->rd_nfrags > O2_MAX_FRAGS || end > msg->ibm_nob)
		o2_fuzz_fail("accepted %u fragments in %u bytes", desc->rd_nfrags, msg->ibm_nob);
}

static void check_accepted(const uint8_t *data, size_t size, const struct o2_msg *msg)
{
	const struct o2_lnet_hdr *hdr = &msg->u.immediate.hdr;

	if (msg->ibm_nob < O2_MSG_HEADER_BYTES || msg->ibm_nob > size || msg->ibm_nob > O2_MSG_BYTES)
		o2_fuzz_fail("accepted nob %u of %zu received bytes", msg->ibm_nob, size);
	if (msg->ibm_type != data[O2_AT_TYPE] || msg->ibm_credits != data[O2_AT_CREDITS])
		o2_fuzz_fail("type or credits are not those of the message");
	switch (msg->ibm_type) {
	case O2_MSG_IMMEDIATE:
		if (msg->u.immediate.payload != data + O2_AT_PAYLOAD ||
		    hdr->payload_length > msg->ibm_nob - O2_AT_PAYLOAD)
			o2_fuzz_fail("the payload of %u bytes is not inside nob", hdr->payload_length);
		break;
	case O2_MSG_PUT_ACK:
		check_desc(msg, &msg->u.putack.ibpam_rd, O2_AT_PUT_ACK_DESC);
		break;
	case O2_MSG_GET_REQ:
		check_desc(msg, &msg->u.get.ibgm_rd, O2_AT_GET_REQ_DESC);
		break;
	default:
		break;
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct o2_msg msg;
	static struct o2_error error;
	const int rc = o2_msg_decode(data, size, NULL, &msg, &error);

	if (rc != 0)
		check_refusal(rc, &error, size);
	else
		check_accepted(data, size, &msg);
	return 0;
}
