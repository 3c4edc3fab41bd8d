/* SPDX-License-Identifier: MIT */
/*
 * The codec and the tables of fields (forms/wire_fields.h) agree: each number is at the offset and in the
 * byte order of its row, and every byte of a canonical message belongs to exactly one row, or is one of those
 * that belong to none.
 */
#include "tests/judge/wire/random_msg.h"

#include "forms/wire_fields.h"
#include "wire/reject.h"

#define MESSAGES 4000

GROUP_SETUP(random_start);

/* Encoded bytes, and for each byte the number of rows that describe it. */
struct place {
	const uint8_t *bytes;
	uint8_t *rows;
	enum o2_byte_order order;
};

/* False for fields that say how to read the bytes, or are for people, but are no number among them. */
static bool on_wire(const struct o2_field *field)
{
	return strcmp(field->name, "byte_order") != 0 && strcmp(field->name, "cksum_flavour") != 0 &&
	       strcmp(field->name, "ibr_magic") != 0 && !field->written_only;
}

static void see_number(const struct place *place, const struct o2_field *field, const void *holder,
		       uint32_t at)
{
	const uint64_t value = o2_field_value(field, holder);

	for (uint32_t i = 0; i < field->width_bytes; i++) {
		const uint32_t shift =
			8 * (place->order == O2_LITTLE_ENDIAN ? i : field->width_bytes - 1 - i);

		if (place->bytes[at + i] != (uint8_t)(value >> shift))
			fail_msg("%s: byte %u is 0x%02x", field->name, at + i, place->bytes[at + i]);
		place->rows[at + i]++;
	}
}

static void see_fields(const struct place *place, const struct o2_field *fields, const void *holder,
		       uint32_t at);

/* Fragments: the only kind of list, preceded by a count of 32 bits. */
static void see_list(const struct place *place, const struct o2_field *field, const void *holder, uint32_t at)
{
	const struct o2_rdma_desc *desc = holder;

	assert_int_equal(o2_load32(place->bytes + at - 4, place->order), desc->rd_nfrags);
	memset(place->rows + at - 4, 1, 4);
	for (uint32_t i = 0; i < desc->rd_nfrags; i++)
		see_fields(place, field->part, &desc->rd_frags[i], at + i * O2_FRAG_BYTES);
}

static void see_fields(const struct place *place, const struct o2_field *fields, const void *holder,
		       uint32_t at)
{
	for (const struct o2_field *field = fields; field->name != NULL; field++) {
		struct place inner = *place;

		if (field->little)
			inner.order = O2_LITTLE_ENDIAN;
		if (field->kind == O2_FIELD_MORE)
			see_fields(&inner, field->more(holder), holder, at + field->wire_at);
		else if (field->kind == O2_FIELD_PART)
			see_fields(&inner, field->part, (const uint8_t *)holder + field->offset_bytes,
				   at + field->wire_at);
		else if (field->kind == O2_FIELD_LIST)
			see_list(&inner, field, holder, at + field->wire_at);
		else if (on_wire(field))
			see_number(&inner, field, holder, at + field->wire_at);
	}
}

/* Asserts that each of the bytes belongs to this many rows. */
static void expect_rows(const uint8_t *rows, uint32_t from, uint32_t to, uint8_t expected)
{
	for (uint32_t i = from; i < to; i++)
		if (rows[i] != expected)
			fail_msg("byte %u has %u rows, expected %u", i, rows[i], expected);
}

static void check_message(const struct o2_msg *msg)
{
	const struct o2_lnet_hdr *hdr = o2_msg_lnet_hdr(msg);
	uint8_t bytes[O2_MSG_BYTES], rows[O2_MSG_BYTES] = {0};
	const struct place place = {bytes, rows, msg->order};
	const uint32_t nob = (uint32_t)o2_msg_encode(msg, NULL, bytes, sizeof(bytes), NULL);
	uint32_t end = nob, at;

	assert_int_equal(nob, o2_msg_canonical_bytes(msg));
	see_fields(&place, o2_msg_header_fields, msg, 0);
	see_fields(&place, o2_msg_body_fields(msg->ibm_type), msg, 0);
	expect_rows(rows, O2_AT_MAGIC, O2_AT_VERSION, 0);
	expect_rows(rows, O2_AT_VERSION, O2_AT_CKSUM, 1);
	expect_rows(rows, O2_AT_CKSUM, O2_AT_SRCNID, 0);
	if (msg->ibm_type == O2_MSG_IMMEDIATE) {
		expect_rows(rows, O2_AT_PAYLOAD, nob, 0);
		end = O2_AT_PAYLOAD;
	}
	if (hdr == NULL) {
		expect_rows(rows, O2_AT_SRCNID, end, 1);
		return;
	}
	at = O2_AT_LNET_HDR + O2_LNET_AT_UNION + o2_lnet_variant_bytes(hdr->type);
	expect_rows(rows, O2_AT_SRCNID, at, 1);
	expect_rows(rows, at, O2_AT_LNET_HDR + O2_LNET_HDR_BYTES, 0);
	expect_rows(rows, O2_AT_LNET_HDR + O2_LNET_HDR_BYTES, end, 1);
}

TEST(messages)
{
	static struct o2_msg msg;

	for (uint32_t i = 0; i < MESSAGES; i++) {
		random_msg(&msg);
		msg.ibm_nob = (uint32_t)o2_msg_canonical_bytes(&msg);
		check_message(&msg);
	}
}

/* HELLO: no message carries it, but the LNet header defines it. */
TEST(hello)
{
	uint8_t bytes[O2_LNET_HDR_BYTES], rows[O2_LNET_HDR_BYTES] = {0};
	const struct place place = {bytes, rows, O2_LITTLE_ENDIAN};
	struct o2_lnet_hdr hdr;

	random_hdr(&hdr, O2_LNET_HELLO, 0);
	o2_lnet_hdr_store(&hdr, bytes);
	see_fields(&place, o2_lnet_hdr_fields, &hdr, 0);
	expect_rows(rows, 0, O2_LNET_AT_UNION + 12, 1);
	expect_rows(rows, O2_LNET_AT_UNION + 12, O2_LNET_HDR_BYTES, 0);
}

TEST(rejects)
{
	for (uint32_t i = 0; i < 200; i++) {
		const struct o2_reject reject = {
			.order = i % 2 == 0 ? O2_LITTLE_ENDIAN : O2_BIG_ENDIAN,
			.ibr_version = O2_MSG_VERSION_2,
			.ibr_why = (uint8_t)(1 + random_below(O2_REJECT_EARLY)),
			.ibr_incarnation = random64(),
			.ibr_cp = {(uint16_t)random64(), (uint16_t)random64(), (uint32_t)random64()},
		};
		uint8_t bytes[O2_REJECT_BYTES], rows[O2_REJECT_BYTES] = {0};
		const struct place place = {bytes, rows, reject.order};

		assert_int_equal(o2_reject_encode(&reject, bytes, sizeof(bytes), NULL), O2_REJECT_BYTES);
		see_fields(&place, o2_reject_fields, &reject, 0);
		expect_rows(rows, O2_REJECT_AT_MAGIC, O2_REJECT_AT_VERSION, 0);
		expect_rows(rows, O2_REJECT_AT_VERSION, O2_REJECT_AT_PADDING, 1);
		expect_rows(rows, O2_REJECT_AT_PADDING, O2_REJECT_AT_INCARNATION, 0);
		expect_rows(rows, O2_REJECT_AT_INCARNATION, O2_REJECT_BYTES, 1);
	}
}
