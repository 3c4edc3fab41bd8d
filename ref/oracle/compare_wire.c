/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <string.h>

#include "forms/wire_fields.h"
#include "oracle/compare.h"
#include "wire/bytes.h"
#include "wire/checksum.h"
#include "wire/layout.h"
#include "wire/msg.h"

/* The comparison of decoded messages by field, and of encoded bytes by the field they encode (docs/wire.md). */

/* The check of each field of a decoded message.  Fields not listed belong to the LNet header's check. */
static const struct {
	const char *name;
	enum o2_check_id check;
	const char *said; /* name of the field in reports; NULL: same as name */
} decode_checks[] = {
	{"byte_order", O2_CHECK_WIRE_DECODE_BYTE_ORDER, "order"},
	{"ibm_version", O2_CHECK_WIRE_DECODE_VERSION, NULL},
	{"ibm_type", O2_CHECK_WIRE_DECODE_TYPE, NULL},
	{"ibm_credits", O2_CHECK_WIRE_DECODE_CREDITS, NULL},
	{"ibm_nob", O2_CHECK_WIRE_DECODE_NOB, NULL},
	{"cksum_flavour", O2_CHECK_WIRE_DECODE_CKSUM_FLAVOUR, NULL},
	{"ibm_srcnid", O2_CHECK_WIRE_DECODE_SRCNID, NULL},
	{"ibm_srcstamp", O2_CHECK_WIRE_DECODE_SRCSTAMP, NULL},
	{"ibm_dstnid", O2_CHECK_WIRE_DECODE_DSTNID, NULL},
	{"ibm_dststamp", O2_CHECK_WIRE_DECODE_DSTSTAMP, NULL},
	{"ibcp_queue_depth", O2_CHECK_WIRE_DECODE_CONNPARAMS, NULL},
	{"ibcp_max_frags", O2_CHECK_WIRE_DECODE_CONNPARAMS, NULL},
	{"ibcp_max_msg_size", O2_CHECK_WIRE_DECODE_CONNPARAMS, NULL},
	{"ibprm_cookie", O2_CHECK_WIRE_DECODE_COOKIE, NULL},
	{"ibpam_src_cookie", O2_CHECK_WIRE_DECODE_COOKIE, NULL},
	{"ibpam_dst_cookie", O2_CHECK_WIRE_DECODE_COOKIE, NULL},
	{"ibgm_cookie", O2_CHECK_WIRE_DECODE_COOKIE, NULL},
	{"ibcm_cookie", O2_CHECK_WIRE_DECODE_COOKIE, NULL},
	{"ibcm_status", O2_CHECK_WIRE_DECODE_STATUS, NULL},
	{"rd_key", O2_CHECK_WIRE_DECODE_RD_KEY, NULL},
	{"hdr.wh_interface_cookie", O2_CHECK_WIRE_DECODE_LNET_HDR, "hdr.wmd.wh_interface_cookie"},
	{"hdr.wh_object_cookie", O2_CHECK_WIRE_DECODE_LNET_HDR, "hdr.wmd.wh_object_cookie"},
};

#define NID_LND_ANY 0xffu

/* A NID as kept by trees that drop its highest byte and map LND type 0xff to "any NID". */
static uint64_t folded(uint64_t nid)
{
	return (nid >> 48 & 0xff) == NID_LND_ANY ? UINT64_MAX : nid << 8 >> 8;
}

static bool is_lnet_nid(const char *name)
{
	return strcmp(name, "hdr.dest_nid") == 0 || strcmp(name, "hdr.src_nid") == 0;
}

static void say_name(const struct o2_field *field, uint64_t value, char *text, size_t text_bytes)
{
	if (field->kind == O2_FIELD_NAME && value < field->limit && field->names[value] != NULL)
		snprintf(text, text_bytes, "%s", field->names[value]);
}

/*
 * Whether the reference, too, would report this flavour if it accepted only that of the implementation: where
 * both sums match that one, and a sum of the other flavour may be tolerated.
 */
static bool is_of_one_flavour(const struct o2_comparison *comparison, uint64_t found)
{
	const struct o2_case_msg_decode *asked = &comparison->asked->msg_decode;
	struct o2_wire_options options = asked->options;
	struct o2_msg msg;

	options.only_flavour = comparison->flavour;
	return comparison->flavour != O2_CKSUM_NONE &&
	       o2_msg_decode(asked->bytes, asked->length_bytes, &options, &msg, NULL) == 0 &&
	       found == (uint64_t)msg.cksum_flavour;
}

static void differ_field(const struct o2_field *field, uint64_t expected, uint64_t found, void *context)
{
	struct o2_comparison *comparison = context;
	struct o2_difference *item = &comparison->item[comparison->count];
	const uint32_t count = comparison->count;
	enum o2_check_id check = O2_CHECK_WIRE_DECODE_LNET_HDR;
	const char *said = field->name;

	for (size_t i = 0; i < sizeof(decode_checks) / sizeof(decode_checks[0]); i++) {
		if (strcmp(decode_checks[i].name, field->name) != 0)
			continue;
		check = decode_checks[i].check;
		if (decode_checks[i].said != NULL)
			said = decode_checks[i].said;
	}
	if (check == O2_CHECK_WIRE_DECODE_CKSUM_FLAVOUR && is_of_one_flavour(comparison, found))
		check = O2_CHECK_WIRE_CHECKSUM_ONE_FLAVOUR;
	if (is_lnet_nid(field->name) && folded(expected) == folded(found))
		check = O2_CHECK_WIRE_LNET_NID_FOLDED;
	o2_differ_hex(comparison, check, said, O2_NO_INDEX, expected, found);
	if (comparison->count == count)
		return;
	say_name(field, expected, item->expected, sizeof(item->expected));
	say_name(field, found, item->found, sizeof(item->found));
}

static void compare_frags(struct o2_comparison *c, const struct o2_rdma_desc *e, const struct o2_rdma_desc *f)
{
	if (e->rd_nfrags != f->rd_nfrags) {
		o2_differ(c, O2_CHECK_WIRE_DECODE_RD_NFRAGS, "rd_nfrags", O2_NO_INDEX, e->rd_nfrags,
			  f->rd_nfrags);
		return;
	}
	for (uint32_t i = 0; i < e->rd_nfrags; i++) {
		o2_expect(c, O2_CHECK_WIRE_DECODE_RF_NOB, "rd_frags[].rf_nob", i, e->rd_frags[i].rf_nob,
			  f->rd_frags[i].rf_nob);
		o2_expect_hex(c, O2_CHECK_WIRE_DECODE_RF_ADDR, "rd_frags[].rf_addr", i,
			      e->rd_frags[i].rf_addr, f->rd_frags[i].rf_addr);
	}
}

static void compare_payload(struct o2_comparison *c, const struct o2_msg *e, const struct o2_msg *f)
{
	const uint32_t length = e->u.immediate.hdr.payload_length;

	if (f->u.immediate.hdr.payload_length != length)
		return;
	for (uint32_t i = 0; i < length; i++) {
		if (e->u.immediate.payload[i] == f->u.immediate.payload[i])
			continue;
		o2_differ_hex(c, O2_CHECK_WIRE_DECODE_PAYLOAD, "payload[]", i, e->u.immediate.payload[i],
			      f->u.immediate.payload[i]);
		return;
	}
}

void o2_compare_decoded(struct o2_comparison *comparison, const struct o2_msg *expected,
			const struct o2_msg *found)
{
	o2_fields_compare(o2_msg_header_fields, expected, found, differ_field, comparison);
	if (expected->ibm_type != found->ibm_type)
		return;
	o2_fields_compare(o2_msg_body_fields(expected->ibm_type), expected, found, differ_field, comparison);
	if (o2_msg_desc(expected) != NULL)
		compare_frags(comparison, o2_msg_desc(expected), o2_msg_desc(found));
	if (expected->ibm_type == O2_MSG_IMMEDIATE)
		compare_payload(comparison, expected, found);
}

/* --- encoded messages --- */

/* The check of the bytes of a body field; a part (a nested struct) is one field. */
static enum o2_check_id encode_check(const char *name)
{
	static const struct {
		const char *name;
		enum o2_check_id check;
	} checks[] = {
		{"hdr", O2_CHECK_WIRE_ENCODE_LNET_HDR},
		{"ibpam_rd", O2_CHECK_WIRE_ENCODE_DESCRIPTOR},
		{"ibgm_rd", O2_CHECK_WIRE_ENCODE_DESCRIPTOR},
		{"ibcm_status", O2_CHECK_WIRE_ENCODE_STATUS},
		{"ibprm_cookie", O2_CHECK_WIRE_ENCODE_COOKIE},
		{"ibgm_cookie", O2_CHECK_WIRE_ENCODE_COOKIE},
		{"ibcm_cookie", O2_CHECK_WIRE_ENCODE_COOKIE},
		{"ibpam_src_cookie", O2_CHECK_WIRE_ENCODE_COOKIE},
		{"ibpam_dst_cookie", O2_CHECK_WIRE_ENCODE_COOKIE},
	};

	for (size_t i = 0; i < sizeof(checks) / sizeof(checks[0]); i++)
		if (strcmp(checks[i].name, name) == 0)
			return checks[i].check;
	return O2_CHECK_WIRE_ENCODE_CONNPARAMS;
}

/* The name of the field that contains this byte; a part (a nested struct) is one field. */
static const char *name_at(const struct o2_field *fields, uint32_t offset)
{
	const struct o2_field *at = NULL;

	for (; fields->name != NULL; fields++)
		if (fields->wire_at <= offset && (at == NULL || fields->wire_at >= at->wire_at))
			at = fields;
	return at == NULL ? "" : at->name;
}

/* The check and the name of the field that contains a byte of an encoded message. */
static enum o2_check_id check_of(const struct o2_msg *msg, uint32_t offset, const char **name)
{
	const struct o2_lnet_hdr *hdr = o2_msg_lnet_hdr(msg);
	const char *body = name_at(o2_msg_body_fields(msg->ibm_type), offset);

	*name = body[0] == '\0' ? name_at(o2_msg_header_fields, offset) : body;
	if (offset >= O2_AT_NOB && offset < O2_AT_CKSUM)
		return O2_CHECK_WIRE_ENCODE_LENGTH;
	if (msg->ibm_type == O2_MSG_IMMEDIATE && offset >= O2_AT_PAYLOAD) {
		*name = "payload";
		return O2_CHECK_WIRE_ENCODE_PAYLOAD;
	}
	if (body[0] == '\0')
		return O2_CHECK_WIRE_ENCODE_HEADER;
	if (encode_check(body) == O2_CHECK_WIRE_ENCODE_LNET_HDR &&
	    offset >= O2_AT_LNET_HDR + O2_LNET_AT_UNION + o2_lnet_variant_bytes(hdr->type))
		return O2_CHECK_WIRE_ENCODE_UNUSED_BYTES;
	return encode_check(body);
}

static void differ_byte(struct o2_comparison *comparison, enum o2_check_id check, const char *name,
			uint32_t offset, uint8_t expected, uint8_t found)
{
	struct o2_difference *item = o2_differ_text(comparison, check, name, "");

	if (item == NULL)
		return;
	snprintf(item->field, sizeof(item->field), "bytes[%u]", offset);
	snprintf(item->expected, sizeof(item->expected), "0x%x", expected);
	snprintf(item->found, sizeof(item->found), "0x%x", found);
}

/* The offset of the LNet header's NID that contains this byte; 0: no NID contains it. */
static uint32_t lnet_nid_at(const struct o2_msg *msg, uint32_t offset)
{
	const uint32_t dest = O2_AT_LNET_HDR + O2_LNET_AT_DEST_NID;
	const uint32_t src = O2_AT_LNET_HDR + O2_LNET_AT_SRC_NID;

	if (o2_msg_lnet_hdr(msg) == NULL)
		return 0;
	if (offset >= dest && offset < dest + 8)
		return dest;
	return offset >= src && offset < src + 8 ? src : 0;
}

/* Whether a byte belongs to an LNet NID that is right after folding; if so, record the difference as folded. */
static bool is_folded(struct o2_comparison *comparison, const struct o2_msg *msg, uint32_t offset,
		      const struct o2_answer_bytes *expected, const struct o2_answer_bytes *found)
{
	const uint32_t at = lnet_nid_at(msg, offset);
	uint64_t e, f;

	if (at == 0 || at + 8 > expected->length_bytes || at + 8 > found->length_bytes)
		return false;
	e = o2_load64(expected->bytes + at, O2_LITTLE_ENDIAN);
	f = o2_load64(found->bytes + at, O2_LITTLE_ENDIAN);
	if (folded(e) != folded(f))
		return false;
	o2_differ_hex(comparison, O2_CHECK_WIRE_LNET_NID_FOLDED,
		      at == O2_AT_LNET_HDR + O2_LNET_AT_SRC_NID ? "hdr.src_nid" : "hdr.dest_nid", O2_NO_INDEX,
		      e, f);
	return true;
}

/* The checksum must fit the bytes that were written; a wrong byte elsewhere has its own check. */
void o2_compare_checksum(struct o2_comparison *comparison, enum o2_check_id check, const struct o2_msg *msg,
			 const struct o2_answer_bytes *found)
{
	struct o2_checksums sums;
	uint32_t right, word, other;

	if (found->length_bytes < O2_MSG_HEADER_BYTES)
		return;
	sums = o2_msg_checksum_both(found->bytes, found->length_bytes);
	right = o2_checksum_of(sums, msg->cksum_flavour);
	other = right == sums.of_unsigned ? sums.of_signed : sums.of_unsigned;
	word = o2_load32(found->bytes + O2_AT_CKSUM, msg->order);
	if (word == right)
		return;
	/* The other flavour, if the implementation accepts it or is not known to accept only one. */
	if (msg->cksum_flavour != O2_CKSUM_NONE && word == other &&
	    (comparison->flavour == O2_CKSUM_NONE || word == o2_checksum_of(sums, comparison->flavour)))
		check = O2_CHECK_WIRE_CHECKSUM_ONE_FLAVOUR;
	o2_differ_hex(comparison, check, "ibm_cksum", O2_NO_INDEX, right, word);
}

void o2_compare_fields(struct o2_comparison *comparison, const struct o2_msg *msg,
		       const struct o2_answer_bytes *expected, const struct o2_answer_bytes *found)
{
	const uint32_t shorter =
		expected->length_bytes < found->length_bytes ? expected->length_bytes : found->length_bytes;
	enum o2_check_id check, told = O2_CHECKS;
	const char *name, *told_of = NULL;

	for (uint32_t i = 0; i < shorter; i++) {
		if (expected->bytes[i] == found->bytes[i] || (i >= O2_AT_CKSUM && i < O2_AT_CKSUM + 4) ||
		    is_folded(comparison, msg, i, expected, found))
			continue;
		check = check_of(msg, i, &name);
		/* Report only the first wrong byte of a field. */
		if (check != told || name != told_of)
			differ_byte(comparison, check, name, i, expected->bytes[i], found->bytes[i]);
		told = check;
		told_of = name;
	}
}

void o2_compare_encoded(struct o2_comparison *comparison, const struct o2_msg *msg,
			const struct o2_answer_bytes *expected, const struct o2_answer_bytes *found)
{
	o2_expect(comparison, O2_CHECK_WIRE_ENCODE_LENGTH, "length_bytes", O2_NO_INDEX,
		  expected->length_bytes, found->length_bytes);
	o2_compare_fields(comparison, msg, expected, found);
	o2_compare_checksum(comparison, O2_CHECK_WIRE_ENCODE_CHECKSUM, msg, found);
}
