/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "props/check/check_simplify.h"
#include "wire/bytes.h"
#include "wire/checksum.h"
#include "wire/layout.h"

/* Lengths of whole messages: a header, each kind of body, a body with one fragment. */
static const uint32_t ends[] = {48, 56, 60, 72, 84, 120, 128, 136, 148};

static void cut(struct o2_case_msg_decode *asked, uint32_t length_bytes)
{
	uint8_t *bytes = asked->bytes;
	const enum o2_byte_order order =
		o2_load32_le(bytes) == O2_MSG_MAGIC ? O2_LITTLE_ENDIAN : O2_BIG_ENDIAN;
	const uint32_t nob = o2_load32(bytes + O2_AT_NOB, order);
	const uint32_t sum = o2_load32(bytes + O2_AT_CKSUM, order);
	const bool whole = nob <= asked->length_bytes;
	struct o2_checksums was, is;

	asked->length_bytes = length_bytes;
	if (!whole || nob <= length_bytes)
		return;
	was = o2_msg_checksum_both(bytes, nob);
	o2_store32(bytes + O2_AT_NOB, order, length_bytes);
	is = o2_msg_checksum_both(bytes, length_bytes);
	if (sum == was.of_unsigned)
		o2_store32(bytes + O2_AT_CKSUM, order, is.of_unsigned);
	else if (sum == was.of_signed)
		o2_store32(bytes + O2_AT_CKSUM, order, is.of_signed);
}

bool o2_check_cut_message(struct o2_case_msg_decode *asked, o2_message_differs_fn differs, void *context,
			  uint32_t *calls)
{
	const struct o2_case_msg_decode whole = *asked;
	uint32_t asked_times = 0;
	bool shorter = false;

	for (uint32_t i = 0; i < sizeof(ends) / sizeof(ends[0]) && !shorter; i++) {
		if (ends[i] >= whole.length_bytes || asked_times == *calls)
			break;
		cut(asked, ends[i]);
		asked_times++;
		shorter = differs(context);
		if (!shorter)
			*asked = whole;
	}
	*calls = asked_times;
	return shorter;
}
