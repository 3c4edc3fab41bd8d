/* SPDX-License-Identifier: MIT */
/*
 * The parts of the codec that a message alone does not reach.  The first byte selects one:
 *
 *   0  a NID as text            the rest is the text
 *   1  a NID as a number        8 bytes
 *   2  an LNet header           72 bytes; all five variants
 *   3  a checksum               any bytes, also fewer than a header
 *   4  a reject record          any bytes
 *   5  names                    a number of one byte, and the text of a rule's id
 */
#include <errno.h>
#include <string.h>

#include "fuzz/common.h"
#include "wire/bytes.h"
#include "wire/checksum.h"
#include "wire/layout.h"
#include "wire/lnet_hdr.h"
#include "wire/nid.h"
#include "wire/reject.h"

#define TEXT_BYTES 64u /* longer than any NID or rule id */
#define PARTS	   6u

/* A number must result from parsing its own text. */
static void check_nid(uint64_t nid)
{
	char text[O2_NID_TEXT_BYTES];
	struct o2_error error;
	uint64_t again = ~nid;
	const int length = o2_nid_to_text(nid, text, sizeof(text));

	if (length <= 0 || (size_t)length >= sizeof(text) || strlen(text) != (size_t)length)
		o2_fuzz_fail("the text of 0x%llx has %d bytes", (unsigned long long)nid, length);
	if (o2_nid_from_text(text, &again, &error) != 0 || again != nid)
		o2_fuzz_fail("0x%llx is written as %s, which is read as 0x%llx", (unsigned long long)nid,
			     text, (unsigned long long)again);
}

static void nid_text(const char *text)
{
	struct o2_error error;
	uint64_t nid = 0;
	const int rc = o2_nid_from_text(text, &nid, &error);

	if (rc == 0)
		check_nid(nid);
	else if ((rc != -EINVAL && rc != -EAFNOSUPPORT) || error.code != rc || error.rule == NULL)
		o2_fuzz_fail("reading %s returned %d, the error says %d", text, rc, error.code);
}

static void nid_number(const uint8_t *data, size_t size)
{
	uint64_t nid = 0;

	for (size_t i = 0; i < size && i < sizeof(nid); i++)
		nid = nid << 8 | data[i];
	check_nid(nid);
}

/* Fields that the type uses are restored as they were, others as zero; of an unknown type, only the fixed
 * part is used. */
static void lnet_hdr(const uint8_t *data, size_t size)
{
	static const size_t used_bytes[] = {60, 72, 68, 48, 44};
	uint8_t in[O2_LNET_HDR_BYTES] = {0}, out[O2_LNET_HDR_BYTES];
	struct o2_lnet_hdr hdr;
	size_t used;

	memcpy(in, data, size < sizeof(in) ? size : sizeof(in));
	o2_lnet_hdr_load(in, &hdr);
	used = o2_lnet_type_name(hdr.type) == NULL ? O2_LNET_AT_UNION : used_bytes[hdr.type];
	memset(in + used, 0, sizeof(in) - used);
	o2_lnet_hdr_store(&hdr, out);
	if (memcmp(in, out, sizeof(in)) != 0)
		o2_fuzz_fail("an LNet header of type %u changes when it is written again", hdr.type);
}

/* The definition of docs/wire.md, byte by byte. */
static uint32_t checksum_by_definition(const uint8_t *data, size_t size, bool is_signed)
{
	uint32_t sum = 0;

	for (size_t i = 0; i < size; i++) {
		const bool own_field = i >= O2_AT_CKSUM && i < O2_AT_CKSUM + 4u;
		const int value = own_field ? 0 : is_signed && data[i] > 127 ? data[i] - 256 : data[i];

		sum = sum * 2 + (sum >> 31) + (uint32_t)value;
	}
	return sum == 0 ? 1 : sum;
}

/*
 * The flavour that a message's checksum shows: the one in its field, if the other flavour's sum differs.
 */
static void shown(const uint8_t *data, size_t size)
{
	const enum o2_byte_order order =
		o2_load32_be(data + O2_AT_MAGIC) == O2_MSG_MAGIC ? O2_BIG_ENDIAN : O2_LITTLE_ENDIAN;
	const uint32_t nob = o2_load32(data + O2_AT_NOB, order), found = o2_load32(data + O2_AT_CKSUM, order);
	const size_t covered = nob < size ? nob : size;
	const uint32_t is_unsigned = checksum_by_definition(data, covered, false);
	const uint32_t is_signed = checksum_by_definition(data, covered, true);
	enum o2_cksum_flavour expected = O2_CKSUM_NONE;

	if (is_unsigned != is_signed)
		expected = found == is_unsigned ? O2_CKSUM_UNSIGNED
			   : found == is_signed ? O2_CKSUM_SIGNED
						: O2_CKSUM_NONE;
	if (o2_msg_checksum_shown(data, size) != expected)
		o2_fuzz_fail("a checksum of 0x%x shows flavour %d, not %d", found,
			     o2_msg_checksum_shown(data, size), expected);
}

static void checksum(const uint8_t *data, size_t size)
{
	const struct o2_checksums own = o2_msg_checksum_both(data, size);

	if (o2_checksum_of(own, O2_CKSUM_UNVERIFIED) != checksum_by_definition(data, size, false) ||
	    o2_checksum_of(own, O2_CKSUM_SIGNED) != checksum_by_definition(data, size, true) ||
	    o2_checksum_of(own, O2_CKSUM_NONE) != 0)
		o2_fuzz_fail("a checksum of %zu bytes is not what its definition says", size);
	if (size >= O2_AT_CKSUM + 4u)
		shown(data, size);
}

static void reject(const uint8_t *data, size_t size)
{
	static struct o2_msg msg;
	uint8_t bytes[O2_REJECT_BYTES];
	struct o2_reject record, again;

	if (o2_msg_decode(data, size < O2_REJECT_BYTES ? size : O2_REJECT_BYTES, NULL, &msg, NULL) == 0)
		o2_fuzz_fail("a reject record is taken for a message");
	if (o2_reject_decode(data, size, &record, NULL) != 0)
		return;
	if (o2_reject_encode(&record, bytes, sizeof(bytes), NULL) != (int)O2_REJECT_BYTES ||
	    o2_reject_decode(bytes, sizeof(bytes), &again, NULL) != 0 || again.ibr_why != record.ibr_why ||
	    memcmp(bytes, data, O2_REJECT_V1_BYTES) != 0 ||
	    (record.ibr_version == O2_MSG_VERSION_2 &&
	     memcmp(bytes + O2_REJECT_AT_INCARNATION, data + O2_REJECT_AT_INCARNATION,
		    O2_REJECT_BYTES - O2_REJECT_AT_INCARNATION) != 0))
		o2_fuzz_fail("a reject record of reason %u does not come back", record.ibr_why);
}

static void names(uint8_t number, const char *id)
{
	static struct o2_msg msg;
	const struct o2_wire_rule *rule = o2_wire_rule_find(id);

	msg.ibm_type = number;
	if ((o2_msg_type_name(number) == NULL) != (o2_msg_canonical_bytes(&msg) == 0))
		o2_fuzz_fail("message type %u has a name but no length, or a length but no name", number);
	if (rule != NULL && strcmp(rule->id, id) != 0)
		o2_fuzz_fail("the rule %s was found for %s", rule->id, id);
	if ((o2_reject_rule(number) != NULL) != (number < O2_REJECT_RULE_COUNT))
		o2_fuzz_fail("the reject record has no rule %u, or should have one", number);
	if ((o2_lnet_type_name(number) != NULL) != (number <= O2_LNET_HELLO))
		o2_fuzz_fail("LNet type %u has a name, or should have one", number);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char text[TEXT_BYTES] = "";

	if (size == 0)
		return 0;
	memcpy(text, data + 1, size <= sizeof(text) ? size - 1 : sizeof(text) - 1);
	switch (data[0] % PARTS) {
	case 0:
		nid_text(text);
		break;
	case 1:
		nid_number(data + 1, size - 1);
		break;
	case 2:
		lnet_hdr(data + 1, size - 1);
		break;
	case 3:
		checksum(data + 1, size - 1);
		break;
	case 4:
		reject(data + 1, size - 1);
		break;
	default:
		names((uint8_t)text[0], text + 1);
		break;
	}
	return 0;
}
