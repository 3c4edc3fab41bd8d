/* SPDX-License-Identifier: MIT */
/*
 * o2_desc_decode on any bytes, in both byte orders.  The same bytes inside a PUT_ACK must get the same verdict; an
 * accepted descriptor must encode to the same bytes, and be as long as its fragments together.
 */
#include <string.h>

#include "fuzz/common.h"
#include "wire/bytes.h"
#include "wire/desc_codec.h"
#include "wire/layout.h"
#include "wire/msg.h"

static struct o2_msg msg;

static void begin_put_ack(enum o2_byte_order order)
{
	memset(&msg, 0, offsetof(struct o2_msg, u));
	msg.order = order;
	msg.ibm_version = O2_MSG_VERSION_2;
	msg.ibm_type = O2_MSG_PUT_ACK;
	msg.ibm_srcnid = 0x0005000000000001u;
	msg.ibm_dstnid = 0x0005000000000002u;
	msg.u.putack.ibpam_src_cookie = 3;
	msg.u.putack.ibpam_dst_cookie = 4;
}

/* Decode the raw bytes as the descriptor of a PUT_ACK, after the header of an encoded one. */
static int decode_in_message(const uint8_t *data, size_t size, enum o2_byte_order order,
			     struct o2_error *error)
{
	static uint8_t bytes[O2_MSG_BYTES];
	static struct o2_msg decoded;
	const uint32_t nob = (uint32_t)(O2_AT_PUT_ACK_DESC + size);

	begin_put_ack(order);
	msg.u.putack.ibpam_rd.rd_nfrags = 1;
	msg.u.putack.ibpam_rd.rd_frags[0] = (struct o2_rdma_frag){1, 1};
	if (o2_msg_encode(&msg, NULL, bytes, sizeof(bytes), error) < 0)
		o2_fuzz_fail("a plain PUT_ACK is refused: %s", error->rule);
	for (unsigned int i = 0; i < 4; i++)
		bytes[O2_AT_NOB + i] = (uint8_t)(nob >> (order == O2_LITTLE_ENDIAN ? 8 * i : 24 - 8 * i));
	memcpy(bytes + O2_AT_PUT_ACK_DESC, data, size);
	return o2_msg_decode(bytes, nob, NULL, &decoded, error);
}

/* Check the sum of the fragments' lengths against the raw bytes. */
static void check_length(const uint8_t *data, enum o2_byte_order order, const struct o2_rdma_desc *desc)
{
	const uint8_t *frag = data + O2_DESC_AT_FRAGS;
	uint64_t right = 0;

	for (uint32_t i = o2_load32(data + O2_DESC_AT_NFRAGS, order); i > 0; i--, frag += O2_FRAG_BYTES)
		right += o2_load32(frag + O2_FRAG_AT_NOB, order);
	if (o2_desc_bytes(desc) != right)
		o2_fuzz_fail("the fragments hold %llu bytes, not %llu", (unsigned long long)right,
			     (unsigned long long)o2_desc_bytes(desc));
}

static void check(const uint8_t *data, size_t size, enum o2_byte_order order)
{
	static uint8_t bytes[O2_MSG_BYTES];
	struct o2_error bare, inside;
	struct o2_rdma_desc *desc = &msg.u.putack.ibpam_rd;
	const int in_message = decode_in_message(data, size, order, &inside);
	const int rc = o2_desc_decode(data, size, order, NULL, desc, &bare);
	int length;

	/* The last part of the rule id is the same, except if there are too few bytes for a count. */
	if (rc != in_message || (rc != 0 && size >= O2_DESC_AT_FRAGS &&
				 strcmp(strrchr(bare.rule, '/'), strrchr(inside.rule, '/')) != 0))
		o2_fuzz_fail("alone %d (%s), in a PUT_ACK %d (%s)", rc, rc == 0 ? "" : bare.rule, in_message,
			     in_message == 0 ? "" : inside.rule);
	if (rc != 0)
		return;
	length = o2_msg_encode(&msg, NULL, bytes, sizeof(bytes), &inside);
	if (length < 0 || (size_t)length > O2_AT_PUT_ACK_DESC + size ||
	    memcmp(bytes + O2_AT_PUT_ACK_DESC, data, (size_t)length - O2_AT_PUT_ACK_DESC) != 0)
		o2_fuzz_fail("the descriptor does not encode to the bytes that it came from (%d)", length);
	check_length(data, order, desc);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (size > O2_MSG_BYTES - O2_AT_PUT_ACK_DESC)
		return 0; /* too long for any message */
	check(data, size, O2_LITTLE_ENDIAN);
	check(data, size, O2_BIG_ENDIAN);
	return 0;
}
