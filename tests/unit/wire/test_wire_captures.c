/* SPDX-License-Identifier: MIT */
/* Messages of a real peer: they decode to the fields that another decoder found, and encode to their own
 * bytes. */
#include "tests/judge/wire/wire_test.h"

#include <jansson.h>

#include "wire/reject.h"
#include "wire/rules.h"

#define CAPTURES O2_CORPUS_DIR "/captures/"

static const char *file_name; /* current capture, for messages */

static uint64_t number(const json_t *object, const char *key)
{
	const json_t *member = json_object_get(object, key);

	if (json_is_string(member))
		return strtoull(json_string_value(member), NULL, 16);
	if (!json_is_integer(member))
		fail_msg("%s: no %s in INDEX.json", file_name, key);
	return (uint64_t)json_integer_value(member);
}

static uint64_t nid(const json_t *object, const char *key)
{
	uint64_t value = 0;

	assert_int_equal(o2_nid_from_text(json_string_value(json_object_get(object, key)), &value, NULL), 0);
	return value;
}

/* The index lists a cookie as the number that its creator, a little-endian host, sees. */
static void check_desc(const json_t *entry, const struct o2_rdma_desc *desc)
{
	const json_t *frags = json_object_get(entry, "frags");

	assert_int_equal(desc->rd_key, number(entry, "key"));
	assert_int_equal(desc->rd_nfrags, json_array_size(frags));
	for (uint32_t i = 0; i < desc->rd_nfrags; i++) {
		assert_int_equal(desc->rd_frags[i].rf_nob, number(json_array_get(frags, i), "nob"));
		assert_int_equal(desc->rd_frags[i].rf_addr, number(json_array_get(frags, i), "addr"));
	}
}

static void check_hdr(const json_t *entry, const struct o2_lnet_hdr *hdr)
{
	const json_t *expected = json_object_get(entry, "lnet_header");

	assert_int_equal(hdr->dest_nid, nid(expected, "dest_nid"));
	assert_int_equal(hdr->src_nid, nid(expected, "src_nid"));
	assert_int_equal(hdr->dest_pid, number(expected, "dest_pid"));
	assert_int_equal(hdr->src_pid, number(expected, "src_pid"));
	assert_int_equal(hdr->type, number(expected, "type"));
	assert_int_equal(hdr->payload_length, number(expected, "payload_length"));
	assert_string_equal(o2_lnet_type_name(hdr->type), json_string_value(json_object_get(entry, "lnet")));
}

static void check_header(const json_t *entry, const struct o2_msg *msg)
{
	assert_string_equal(o2_msg_type_name(msg->ibm_type),
			    json_string_value(json_object_get(entry, "type")));
	assert_int_equal(msg->order, O2_LITTLE_ENDIAN);
	assert_int_equal(msg->ibm_version, number(entry, "version"));
	assert_int_equal(msg->ibm_credits, number(entry, "credits"));
	assert_int_equal(msg->ibm_nob, number(entry, "nob"));
	assert_int_equal(msg->ibm_srcnid, nid(entry, "srcnid"));
	assert_int_equal(msg->ibm_srcstamp, number(entry, "srcstamp"));
	assert_int_equal(msg->ibm_dstnid, nid(entry, "dstnid"));
	assert_int_equal(msg->ibm_dststamp, number(entry, "dststamp"));
}

static void check_body(const json_t *entry, const struct o2_msg *msg)
{
	switch (o2_msg_type_info(msg->ibm_type)->body) {
	case O2_BODY_NONE:
		break;
	case O2_BODY_CONNPARAMS:
		assert_int_equal(msg->u.connparams.ibcp_queue_depth, number(entry, "queue_depth"));
		assert_int_equal(msg->u.connparams.ibcp_max_frags, number(entry, "max_frags"));
		assert_int_equal(msg->u.connparams.ibcp_max_msg_size, number(entry, "max_msg_size"));
		break;
	case O2_BODY_IMMEDIATE:
		check_hdr(entry, &msg->u.immediate.hdr);
		break;
	case O2_BODY_PUTREQ:
		check_hdr(entry, &msg->u.putreq.hdr);
		assert_int_equal(msg->u.putreq.ibprm_cookie, number(entry, "cookie"));
		break;
	case O2_BODY_PUTACK:
		assert_int_equal(msg->u.putack.ibpam_src_cookie, number(entry, "src_cookie"));
		assert_int_equal(msg->u.putack.ibpam_dst_cookie, number(entry, "dst_cookie"));
		check_desc(entry, &msg->u.putack.ibpam_rd);
		break;
	case O2_BODY_GET:
		check_hdr(entry, &msg->u.get.hdr);
		assert_int_equal(msg->u.get.ibgm_cookie, number(entry, "cookie"));
		check_desc(entry, &msg->u.get.ibgm_rd);
		break;
	case O2_BODY_COMPLETION:
		assert_int_equal(msg->u.completion.ibcm_cookie, number(entry, "cookie"));
		assert_int_equal((uint64_t)(int64_t)msg->u.completion.ibcm_status, number(entry, "status"));
		break;
	}
}

static void check_message(const json_t *entry, const uint8_t *bytes, size_t length)
{
	uint8_t again[O2_MSG_BYTES];
	struct o2_msg msg;
	struct o2_error error;

	if (o2_msg_decode(bytes, length, NULL, &msg, &error) != 0)
		fail_msg("%s: refused by %s", file_name, error.rule);
	check_header(entry, &msg);
	/* No checksum, or that of this kernel, which adds signed bytes. */
	assert_int_equal(msg.cksum_flavour, number(entry, "cksum") == 0 ? O2_CKSUM_NONE : O2_CKSUM_SIGNED);
	check_body(entry, &msg);
	assert_int_equal(o2_msg_encode(&msg, NULL, again, sizeof(again), &error), length);
	assert_memory_equal(again, bytes, length);
}

static void check_refused(const uint8_t *bytes, size_t length, unsigned int rule)
{
	struct o2_msg msg;
	struct o2_error error;

	assert_int_not_equal(o2_msg_decode(bytes, length, NULL, &msg, &error), 0);
	assert_string_equal(error.rule, o2_wire_rules[rule].id);
}

/*
 * Checks the private data of the connection manager, if there is any (docs/wire.md, "Connection manager"):
 * the same message, then zeros without meaning.  Returns whether this capture has such a file.
 */
static bool check_private_data(const uint8_t *expected, size_t length)
{
	static const struct {
		const char *kind;
		size_t private_bytes, skipped_bytes;
	} carriers[] = {{"_CONNREQ", 92, 36}, {"_CONNACK", 196, 0}, {"_REJ", 148, 0}};
	uint8_t bytes[256], again[O2_MSG_BYTES];
	char path[4096];
	struct o2_reject reject;
	struct o2_msg msg;
	struct o2_error error;
	size_t i = 0, shown;

	while (i < 3 && strstr(file_name, carriers[i].kind) == NULL)
		i++;
	if (i == 3)
		return false;
	snprintf(path, sizeof(path), CAPTURES "cm/%.*s.cmpriv", (int)(strlen(file_name) - strlen(".bin")),
		 file_name);
	assert_int_equal(test_read(path, bytes, sizeof(bytes)), carriers[i].private_bytes);
	shown = carriers[i].private_bytes - carriers[i].skipped_bytes;
	memmove(bytes, bytes + carriers[i].skipped_bytes, shown);
	assert_memory_equal(bytes, expected, length);
	for (size_t b = length; b < shown; b++)
		assert_int_equal(bytes[b], 0);
	if (length == O2_REJECT_BYTES) {
		assert_int_equal(o2_reject_decode(bytes, shown, &reject, &error), 0);
		assert_int_equal(o2_reject_encode(&reject, again, sizeof(again), &error), length);
	} else {
		assert_int_equal(o2_msg_decode(bytes, shown, NULL, &msg, &error), 0);
		assert_int_equal(msg.ibm_nob, length);
		assert_int_equal(o2_msg_encode(&msg, NULL, again, sizeof(again), &error), length);
	}
	assert_memory_equal(again, expected, length);
	return true;
}

/*
 * The sender computed the checksum before it inserted the payload: the message is refused, but the option for
 * this case accepts it.  It encodes to its own bytes, except for the checksum.
 */
static void check_bad_checksum(const json_t *entry, const uint8_t *bytes, size_t length)
{
	const struct o2_wire_options tolerant = {.max_frags = O2_MAX_FRAGS,
						 .tolerate_immediate_checksum = true};
	uint8_t again[O2_MSG_BYTES];
	struct o2_msg msg;
	struct o2_error error;

	check_refused(bytes, length, O2_RULE_CHECKSUM);
	assert_int_equal(o2_msg_decode(bytes, length, &tolerant, &msg, &error), 0);
	assert_int_equal(msg.cksum_flavour, O2_CKSUM_UNVERIFIED);
	check_header(entry, &msg);
	check_body(entry, &msg);
	assert_int_equal(o2_msg_encode(&msg, &tolerant, again, sizeof(again), &error), length);
	assert_memory_equal(again, bytes, O2_AT_CKSUM);
	assert_memory_equal(again + O2_AT_SRCNID, bytes + O2_AT_SRCNID, length - O2_AT_SRCNID);
}

TEST(every_capture)
{
	json_t *index = json_load_file(CAPTURES "INDEX.json", 0, NULL);
	unsigned int messages = 0, bad_checksums = 0, rejects = 0, private_data = 0;

	assert_true(json_is_array(index));
	for (size_t i = 0; i < json_array_size(index); i++) {
		const json_t *entry = json_array_get(index, i);
		uint8_t bytes[O2_MSG_BYTES + 1];
		char path[4096];
		size_t length;

		file_name = json_string_value(json_object_get(entry, "file"));
		snprintf(path, sizeof(path), CAPTURES "%s", file_name);
		length = test_read(path, bytes, sizeof(bytes));
		assert_int_equal(length, number(entry, "length"));
		if (strstr(file_name, "_REJ") != NULL) {
			/* A reject record starts like a message, but is not one. */
			check_refused(bytes, length, O2_RULE_SHORT_FOR_HEADER);
			rejects++;
		} else if (strstr(file_name, "_BADCK") != NULL) {
			check_bad_checksum(entry, bytes, length);
			bad_checksums++;
		} else {
			check_message(entry, bytes, length);
			messages++;
		}
		private_data += check_private_data(bytes, length);
	}
	print_message("%u messages, %u with a wrong checksum, %u reject records\n", messages, bad_checksums,
		      rejects);
	assert_int_equal(messages, 62);
	assert_int_equal(bad_checksums, 2);
	assert_int_equal(rejects, 5);
	assert_int_equal(private_data, 13);
	json_decref(index);
}
