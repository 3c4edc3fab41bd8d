/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <string.h>

#include "wire.h"

/* msg_decode: docs/wire.md. */

#define MAGIC 0x0be91b91u

/* Check rules 4 to 9 and load the fields of the header. */
static int32_t decode_header(const struct o2_impl_msg_decode_in *in, struct o2_impl_msg *out,
			     struct o2_impl_refusal *refusal)
{
	if (in->length_bytes < 6)
		return refuse_wire(refusal, "header", "short-for-version", NO_INDEX);
	out->big_endian = load(in->bytes, 4, true) == MAGIC;
	if (!out->big_endian && load(in->bytes, 4, false) != MAGIC)
		return refuse_wire(refusal, "header", "magic", NO_INDEX);
	out->ibm_version = load(in->bytes + 4, 2, out->big_endian);
	if (out->ibm_version != 0x11 && out->ibm_version != 0x12)
		return refuse_wire(refusal, "header", "version", NO_INDEX);
	if (in->length_bytes < HEADER_BYTES)
		return refuse_wire(refusal, "header", "short-for-header", NO_INDEX);
	load_fields(header_fields, in->bytes, out);
	if (out->ibm_nob > in->length_bytes)
		return refuse_wire(refusal, "header", "nob-over-received", NO_INDEX);
	if (out->ibm_nob > O2_IMPL_MSG_BYTES)
		return refuse_wire(refusal, "header", "nob-over-limit", NO_INDEX);
	return O2_IMPL_OK;
}

/* Whether a wrong checksum is tolerated: some peers compute that of an IMMEDIATE before its payload is in place. */
static bool tolerable(const struct o2_impl_msg_decode_in *in, const struct o2_impl_msg *msg)
{
	uint64_t type, length;

	if (!in->options.tolerate_immediate_checksum || msg->ibm_type != 0xd1 ||
	    msg->ibm_nob < IMMEDIATE_BYTES)
		return false;
	type = load(in->bytes + 72, 4, false);
	length = load(in->bytes + 76, 4, false);
	return (type == 1 || type == 3) && length >= 1 && length <= msg->ibm_nob - IMMEDIATE_BYTES;
}

/* Check rules 10 and 11. */
static int32_t decode_checksum(const struct o2_impl_msg_decode_in *in, struct o2_impl_msg *out,
			       struct o2_impl_refusal *refusal)
{
	uint32_t found = load(in->bytes + 12, 4, out->big_endian);
	struct sums sums;

	out->cksum_flavour = O2_IMPL_CKSUM_NONE;
	if (found == 0) {
		if (in->options.require_checksum)
			return refuse_wire(refusal, "header", "checksum-absent", NO_INDEX);
		return O2_IMPL_OK;
	}
	sums = checksums(in->bytes, out->ibm_nob);
	if (found == sums.plain)
		out->cksum_flavour = O2_IMPL_CKSUM_UNSIGNED;
	else if (found == sums.with_sign)
		out->cksum_flavour = O2_IMPL_CKSUM_SIGNED;
	else if (tolerable(in, out))
		out->cksum_flavour = O2_IMPL_CKSUM_UNVERIFIED;
	else
		return refuse_wire(refusal, "header", "checksum", NO_INDEX);
	return O2_IMPL_OK;
}

/* Load the fragments.  Their number has been checked before. */
static int32_t decode_frags(const uint8_t *bytes, const struct layout *layout, struct o2_impl_msg *out,
			    struct o2_impl_refusal *refusal)
{
	const uint8_t *frag = bytes + layout->minimum;

	if (out->ibm_nob < layout->minimum + FRAG_BYTES * out->rd.rd_nfrags)
		return refuse_wire(refusal, layout->name, "nob-under-frags", NO_INDEX);
	for (uint32_t i = 0; i < out->rd.rd_nfrags; i++, frag += FRAG_BYTES)
		out->rd.rd_frags[i] = (struct o2_impl_frag){.rf_nob = load(frag, 4, out->big_endian),
							    .rf_addr = load(frag + 4, 8, out->big_endian)};
	return check_frags(&out->rd, layout->name, refusal);
}

static int32_t decode_body(const uint8_t *bytes, const struct o2_impl_wire_options *options,
			   struct o2_impl_msg *out, struct o2_impl_refusal *refusal)
{
	const struct layout *layout = layout_of(out->ibm_type);
	int32_t status;

	if (!layout)
		return refuse_wire(refusal, "header", "type", NO_INDEX);
	if (out->ibm_nob < layout->minimum)
		return refuse_wire(refusal, layout->name, "nob-under-minimum", NO_INDEX);
	load_fields(layout->body, bytes, out);
	status = check_lnet_type(out, layout, refusal);
	if (status == O2_IMPL_OK)
		status = check_count(out, layout, options->max_frags, refusal);
	if (status == O2_IMPL_OK && layout->desc)
		status = decode_frags(bytes, layout, out, refusal);
	if (status == O2_IMPL_OK)
		status = check_rest(out, layout, out->ibm_nob, refusal);
	if (status != O2_IMPL_OK || !layout->lnet_types)
		return status;
	load_fields(variant_of(out->hdr.type), bytes, out);
	if (layout->minimum == IMMEDIATE_BYTES)
		memcpy(out->payload, bytes + IMMEDIATE_BYTES, out->hdr.payload_length);
	return O2_IMPL_OK;
}

int32_t second_msg_decode(const struct o2_impl_msg_decode_in *in, struct o2_impl_msg *out,
			  struct o2_impl_refusal *refusal)
{
	int32_t status = check_options(&in->options, refusal);

	if (status == O2_IMPL_OK)
		status = decode_header(in, out, refusal);
	if (status == O2_IMPL_OK)
		status = decode_checksum(in, out, refusal);
	if (status == O2_IMPL_OK)
		status = check_nids(out, &in->options, refusal);
	if (status == O2_IMPL_OK)
		status = decode_body(in->bytes, &in->options, out, refusal);
	return status;
}
