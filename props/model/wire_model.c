/* SPDX-License-Identifier: MIT */
#include "props/model/wire_model.h"

#include <errno.h>
#include <string.h>

#define MAGIC		   0x0be91b91u
#define HEADER		   48u
#define LNET_AT		   48u
#define LNET_VARIANT_AT	   80u
#define LNET_VARIANT_BYTES 40u
#define PAYLOAD_AT	   120u
#define LARGEST		   4096u

uint64_t o2_wm_get(const void *base, const struct o2_wm_field *field)
{
	const void *at = (const uint8_t *)base + field->member;

	switch (field->of_member) {
	case 1:
		return *(const uint8_t *)at;
	case 2:
		return *(const uint16_t *)at;
	case 4:
		return *(const uint32_t *)at;
	default:
		return *(const uint64_t *)at;
	}
}

void o2_wm_set(void *base, const struct o2_wm_field *field, uint64_t value)
{
	void *at = (uint8_t *)base + field->member;

	switch (field->of_member) {
	case 1:
		*(uint8_t *)at = (uint8_t)value;
		break;
	case 2:
		*(uint16_t *)at = (uint16_t)value;
		break;
	case 4:
		*(uint32_t *)at = (uint32_t)value;
		break;
	default:
		*(uint64_t *)at = value;
	}
}

uint64_t o2_wm_load(const uint8_t *bytes, uint32_t n, bool little)
{
	uint64_t value = 0;

	for (uint32_t i = 0; i < n; i++)
		value = value << 8 | bytes[little ? n - 1 - i : i];
	return value;
}

void o2_wm_store(uint8_t *bytes, uint32_t n, bool little, uint64_t value)
{
	for (uint32_t i = 0; i < n; i++, value >>= 8)
		bytes[little ? i : n - 1 - i] = (uint8_t)value;
}

static void load_all(const uint8_t *bytes, const struct o2_wm_field *field, uint32_t fields, bool little,
		     void *base)
{
	for (uint32_t i = 0; i < fields; i++)
		o2_wm_set(base, &field[i],
			  o2_wm_load(bytes + field[i].at, field[i].bytes, little || field[i].little));
}

static void store_all(const void *base, const struct o2_wm_field *field, uint32_t fields, bool little,
		      uint8_t *bytes)
{
	for (uint32_t i = 0; i < fields; i++)
		o2_wm_store(bytes + field[i].at, field[i].bytes, little || field[i].little,
			    o2_wm_get(base, &field[i]));
}

uint32_t o2_wm_sum(const uint8_t *bytes, size_t nob, bool is_signed)
{
	uint32_t sum = 0;

	for (size_t i = 0; i < nob; i++) {
		const uint8_t byte = i >= 12 && i < 16 ? 0 : bytes[i];

		sum = (sum << 1 | sum >> 31) + byte;
		if (is_signed && byte >= 128)
			sum -= 256;
	}
	return sum;
}

void o2_wm_seal(uint8_t *bytes, size_t nob, bool little, enum o2_cksum_flavour flavour)
{
	uint32_t sum = 0;

	if (flavour != O2_CKSUM_NONE) {
		sum = o2_wm_sum(bytes, nob, flavour == O2_CKSUM_SIGNED);
		sum = sum == 0 ? 1 : sum;
	}
	o2_wm_store(bytes + 12, 4, little, sum);
}

static struct o2_rdma_desc *desc_of(const struct o2_msg *msg, const struct o2_wm_type *type)
{
	return (struct o2_rdma_desc *)(void *)((uint8_t *)(uintptr_t)msg + type->desc);
}

static struct o2_lnet_hdr *hdr_of(const struct o2_msg *msg, const struct o2_wm_type *type)
{
	return (struct o2_lnet_hdr *)(void *)((uint8_t *)(uintptr_t)msg + type->lnet_hdr);
}

/* Load the fragments that lie within end_bytes and fit into the struct. */
static void load_frags(const uint8_t *bytes, uint64_t end_bytes, bool little, struct o2_rdma_desc *desc)
{
	for (uint32_t i = 0; i < desc->rd_nfrags && i < O2_MAX_FRAGS && 12 * ((uint64_t)i + 1) <= end_bytes;
	     i++) {
		desc->rd_frags[i].rf_nob = (uint32_t)o2_wm_load(bytes + 12 * i, 4, little);
		desc->rd_frags[i].rf_addr = o2_wm_load(bytes + 12 * i + 4, 8, little);
	}
}

/* A mistake of the caller, and not in the bytes. */
static bool check_options(const struct o2_wire_options *options, struct o2_wm_verdict *verdict)
{
	if (options->max_frags == 256 || options->max_frags == 257)
		return true;
	o2_wm_refuse(verdict, "options", "max-frags", 0, options->max_frags, 257);
	verdict->class = O2_CLASS_NONE;
	verdict->code = -EINVAL;
	return false;
}

/* Rules 1 and 4 to 9. */
static bool check_frame(const uint8_t *bytes, size_t length_bytes, const struct o2_wire_options *options,
			struct o2_msg *msg, struct o2_wm_verdict *verdict)
{
	uint16_t version;

	if (!check_options(options, verdict))
		return false;
	if (length_bytes < 6)
		return o2_wm_refuse(verdict, "header", "short-for-version", 0, length_bytes, 6), false;
	msg->order = o2_wm_load(bytes, 4, true) == MAGIC ? O2_LITTLE_ENDIAN : O2_BIG_ENDIAN;
	if (o2_wm_load(bytes, 4, msg->order == O2_LITTLE_ENDIAN) != MAGIC)
		return o2_wm_refuse(verdict, "header", "magic", 0, o2_wm_load(bytes, 4, true), MAGIC), false;
	version = (uint16_t)o2_wm_load(bytes + 4, 2, msg->order == O2_LITTLE_ENDIAN);
	if (version != 0x11 && version != 0x12)
		return o2_wm_refuse(verdict, "header", "version", 4, version, 0x12), false;
	if (length_bytes < HEADER)
		return o2_wm_refuse(verdict, "header", "short-for-header", 0, length_bytes, HEADER), false;
	msg->ibm_nob = (uint32_t)o2_wm_load(bytes + 8, 4, msg->order == O2_LITTLE_ENDIAN);
	if (msg->ibm_nob > length_bytes)
		return o2_wm_refuse(verdict, "header", "nob-over-received", 8, msg->ibm_nob, length_bytes),
		       false;
	if (msg->ibm_nob > LARGEST)
		return o2_wm_refuse(verdict, "header", "nob-over-limit", 8, msg->ibm_nob, LARGEST), false;
	return true;
}

/* Rules 10 and 11. */
static bool check_sum(const uint8_t *bytes, const struct o2_wire_options *options, struct o2_msg *msg,
		      struct o2_wm_verdict *verdict)
{
	const uint32_t found = (uint32_t)o2_wm_load(bytes + 12, 4, msg->order == O2_LITTLE_ENDIAN);
	uint32_t plain, extended, lnet_type, payload;

	msg->cksum_flavour = O2_CKSUM_NONE;
	if (found == 0 && options->require_checksum)
		return o2_wm_refuse(verdict, "header", "checksum-absent", 12, 0, 1), false;
	if (found == 0)
		return true;
	plain = o2_wm_sum(bytes, msg->ibm_nob, false);
	plain = plain == 0 ? 1 : plain;
	extended = o2_wm_sum(bytes, msg->ibm_nob, true);
	extended = extended == 0 ? 1 : extended;
	msg->cksum_flavour = found == plain && options->only_flavour != O2_CKSUM_SIGNED ? O2_CKSUM_UNSIGNED
											: O2_CKSUM_SIGNED;
	if (msg->cksum_flavour == O2_CKSUM_UNSIGNED ||
	    (found == extended && options->only_flavour != O2_CKSUM_UNSIGNED))
		return true;
	if (options->tolerate_immediate_checksum && bytes[6] == 0xd1 && msg->ibm_nob >= PAYLOAD_AT) {
		lnet_type = (uint32_t)o2_wm_load(bytes + LNET_AT + 24, 4, true);
		payload = (uint32_t)o2_wm_load(bytes + LNET_AT + 28, 4, true);
		msg->cksum_flavour = O2_CKSUM_UNVERIFIED;
		if ((lnet_type == 1 || lnet_type == 3) && payload >= 1 &&
		    payload <= msg->ibm_nob - PAYLOAD_AT)
			return true;
	}
	return o2_wm_refuse(verdict, "header", "checksum", 12, found,
			    options->only_flavour == O2_CKSUM_SIGNED ? extended : plain),
	       false;
}

static void load_body(const uint8_t *bytes, const struct o2_wm_type *type, struct o2_msg *msg)
{
	const bool little = msg->order == O2_LITTLE_ENDIAN;

	load_all(bytes, type->field, type->fields, little, msg);
	if (type->lnet_hdr != O2_WM_NONE) {
		struct o2_lnet_hdr *hdr = hdr_of(msg, type);
		const struct o2_wm_field *variant;
		uint32_t fields;

		load_all(bytes + LNET_AT, o2_wm_lnet, o2_wm_lnet_fields, true, hdr);
		variant = o2_wm_variant(hdr->type, &fields);
		load_all(bytes + LNET_AT, variant, fields, true, hdr);
	}
	if (type->desc != O2_WM_NONE)
		load_frags(bytes + type->desc_at + 8, msg->ibm_nob - type->desc_at - 8, little,
			   desc_of(msg, type));
	if (type->type == 0xd1)
		msg->u.immediate.payload = bytes + PAYLOAD_AT;
}

void o2_wm_decode(const uint8_t *bytes, size_t length_bytes, const struct o2_wire_options *options,
		  struct o2_msg *msg, struct o2_wm_verdict *verdict)
{
	const struct o2_wm_type *type;

	memset(msg, 0, offsetof(struct o2_msg, u) + 200);
	verdict->refused = false;
	if (!check_frame(bytes, length_bytes, options, msg, verdict) ||
	    !check_sum(bytes, options, msg, verdict))
		return;
	load_all(bytes, o2_wm_header, o2_wm_header_fields, msg->order == O2_LITTLE_ENDIAN, msg);
	if (!o2_wm_check_nids(msg, options, verdict))
		return;
	type = o2_wm_type(msg->ibm_type);
	if (type == NULL) {
		o2_wm_refuse(verdict, "header", "type", 6, msg->ibm_type, 0);
		verdict->limit_known = false;
		return;
	}
	if (msg->ibm_nob < type->minimum) {
		o2_wm_refuse(verdict, type->name, "nob-under-minimum", 8, msg->ibm_nob, type->minimum);
		return;
	}
	load_body(bytes, type, msg);
	o2_wm_check_body(msg, type, options, msg->ibm_nob, verdict);
}

void o2_wm_desc_decode(const uint8_t *bytes, size_t length_bytes, bool little,
		       const struct o2_wire_options *options, struct o2_rdma_desc *desc,
		       struct o2_wm_verdict *verdict)
{
	verdict->refused = false;
	if (!check_options(options, verdict))
		return;
	if (length_bytes < 8) {
		o2_wm_refuse(verdict, "desc", "short-for-count", 0, length_bytes, 8);
		return;
	}
	desc->rd_key = (uint32_t)o2_wm_load(bytes, 4, little);
	desc->rd_nfrags = (uint32_t)o2_wm_load(bytes + 4, 4, little);
	load_frags(bytes + 8, length_bytes - 8, little, desc);
	o2_wm_check_desc(desc, "desc", 0, options->max_frags, length_bytes, 0, verdict);
}

uint32_t o2_wm_write(const struct o2_msg *msg, uint8_t *bytes)
{
	const struct o2_wm_type *type = o2_wm_type(msg->ibm_type);
	const bool little = msg->order == O2_LITTLE_ENDIAN;
	uint32_t nob = type == NULL ? HEADER : type->minimum;

	o2_wm_store(bytes, 4, little, MAGIC);
	o2_wm_store(bytes + 12, 4, little, 0);
	store_all(msg, o2_wm_header, o2_wm_header_fields, little, bytes);
	if (type != NULL)
		store_all(msg, type->field, type->fields, little, bytes);
	if (type != NULL && type->lnet_hdr != O2_WM_NONE) {
		const struct o2_lnet_hdr *hdr = hdr_of(msg, type);
		const struct o2_wm_field *variant;
		uint32_t fields;

		memset(bytes + LNET_VARIANT_AT, 0, LNET_VARIANT_BYTES);
		store_all(hdr, o2_wm_lnet, o2_wm_lnet_fields, true, bytes + LNET_AT);
		variant = o2_wm_variant(hdr->type, &fields);
		store_all(hdr, variant, fields, true, bytes + LNET_AT);
		if (type->type == 0xd1 && msg->u.immediate.payload != NULL) {
			uint32_t payload =
				hdr->payload_length < LARGEST - nob ? hdr->payload_length : LARGEST - nob;

			memcpy(bytes + nob, msg->u.immediate.payload, payload);
			nob += payload;
		}
	}
	if (type != NULL && type->desc != O2_WM_NONE) {
		const struct o2_rdma_desc *desc = desc_of(msg, type);

		for (uint32_t i = 0; i < desc->rd_nfrags && i < O2_MAX_FRAGS; i++, nob += 12) {
			o2_wm_store(bytes + nob, 4, little, desc->rd_frags[i].rf_nob);
			o2_wm_store(bytes + nob + 4, 8, little, desc->rd_frags[i].rf_addr);
		}
	}
	o2_wm_store(bytes + 8, 4, little, nob);
	return nob;
}
