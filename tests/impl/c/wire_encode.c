/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <string.h>

#include "wire.h"

/* msg_encode: docs/wire.md, "Rules" and "Canonical form". */

static bool is_immediate(const struct o2_impl_msg *msg)
{
	return msg->ibm_type == 0xd1;
}

/* Check the caller's rules and those of the header. */
static int32_t check_header(const struct o2_impl_msg_encode_in *in, struct o2_impl_refusal *refusal)
{
	const struct o2_impl_msg *msg = &in->msg;
	int32_t status = check_options(&in->options, refusal);

	if (status != O2_IMPL_OK)
		return status;
	if (msg->big_endian > 1)
		return refuse(refusal, EINVAL, "wire/encode/order", NO_INDEX);
	if (msg->cksum_flavour > O2_IMPL_CKSUM_UNVERIFIED)
		return refuse(refusal, EINVAL, "wire/encode/cksum-flavour", NO_INDEX);
	if (msg->ibm_version != 0x11 && msg->ibm_version != 0x12)
		return refuse_wire(refusal, "header", "version", NO_INDEX);
	if (is_immediate(msg) && msg->hdr.payload_length > O2_IMPL_PAYLOAD_BYTES)
		return refuse_wire(refusal, "header", "nob-over-limit", NO_INDEX);
	if (in->options.require_checksum && msg->cksum_flavour == O2_IMPL_CKSUM_NONE)
		return refuse_wire(refusal, "header", "checksum-absent", NO_INDEX);
	status = check_nids(msg, &in->options, refusal);
	if (status == O2_IMPL_OK && !layout_of(msg->ibm_type))
		return refuse_wire(refusal, "header", "type", NO_INDEX);
	return status;
}

/* Check the rules of the body. */
static int32_t check_body(const struct o2_impl_msg_encode_in *in, const struct layout *layout, uint32_t nob,
			  struct o2_impl_refusal *refusal)
{
	const struct o2_impl_msg *msg = &in->msg;
	int32_t status = check_lnet_type(msg, layout, refusal);

	if (status == O2_IMPL_OK)
		status = check_count(msg, layout, in->options.max_frags, refusal);
	if (status == O2_IMPL_OK && layout->desc)
		status = check_frags(&msg->rd, layout->name, refusal);
	if (status == O2_IMPL_OK)
		status = check_rest(msg, layout, nob, refusal);
	if (status == O2_IMPL_OK && is_immediate(msg) && msg->hdr.payload_length && !msg->payload)
		return refuse(refusal, EINVAL, "wire/encode/payload-missing", NO_INDEX);
	return status;
}

static void write_message(const struct o2_impl_msg *msg, const struct layout *layout, uint32_t nob,
			  uint8_t *bytes)
{
	bool big = msg->big_endian;
	struct sums sums;

	memset(bytes, 0, nob);
	store_fields(header_fields, msg, bytes);
	store(bytes, 4, big, 0x0be91b91);
	store(bytes + 8, 4, big, nob);
	store_fields(layout->body, msg, bytes);
	if (layout->lnet_types)
		store_fields(variant_of(msg->hdr.type), msg, bytes);
	for (uint32_t i = 0; layout->desc && i < msg->rd.rd_nfrags; i++) {
		store(bytes + layout->minimum + FRAG_BYTES * i, 4, big, msg->rd.rd_frags[i].rf_nob);
		store(bytes + layout->minimum + FRAG_BYTES * i + 4, 8, big, msg->rd.rd_frags[i].rf_addr);
	}
	if (is_immediate(msg) && msg->hdr.payload_length)
		memcpy(bytes + IMMEDIATE_BYTES, msg->payload, msg->hdr.payload_length);
	if (msg->cksum_flavour == O2_IMPL_CKSUM_NONE)
		return;
	sums = checksums(bytes, nob);
	store(bytes + 12, 4, big, msg->cksum_flavour == O2_IMPL_CKSUM_SIGNED ? sums.with_sign : sums.plain);
}

int32_t second_msg_encode(const struct o2_impl_msg_encode_in *in, struct o2_impl_bytes *out,
			  struct o2_impl_refusal *refusal)
{
	const struct o2_impl_msg *msg = &in->msg;
	const struct layout *layout = layout_of(msg->ibm_type);
	int32_t status = check_header(in, refusal);
	uint32_t nob;

	if (status != O2_IMPL_OK)
		return status;
	nob = layout->minimum;
	if (is_immediate(msg))
		nob += msg->hdr.payload_length;
	if (layout->desc)
		nob += FRAG_BYTES * msg->rd.rd_nfrags;
	status = check_body(in, layout, nob, refusal);
	if (status != O2_IMPL_OK)
		return status;
	if (nob > out->capacity_bytes)
		return refuse(refusal, ENOSPC, "wire/encode/capacity", NO_INDEX);
	write_message(msg, layout, nob, out->bytes);
	out->length_bytes = nob;
	return O2_IMPL_OK;
}
