/* SPDX-License-Identifier: MIT */
/*
 * Writes messages as the reference codec encodes or decodes them, one JSON object a line on stdout.
 * tests/judge/wire/tshark_judge.py compares tshark's decoding with them.
 *
 *   judge_messages random SEED COUNT   COUNT random messages of every kind (type, LNet type, byte order), and
 * as many reject records in each order judge_messages decode FILE...      each file's message judge_messages
 * reject FILE...      each file's reject record
 *
 * {"bytes": hexadecimal digits, "ibm_cksum": integer, "lnet_type": name or null, "message": as in
 * docs/wire.md, "JSON forms", but NIDs always as numbers; "file": only of decode}
 *
 * Exit status: 0, or 1 with one line on stderr.
 */
#include <stdio.h>
#include <stdlib.h>

#include <jansson.h>

#include "forms/msg_json.h"
#include "forms/reject_json.h"
#include "tests/judge/wire/random_msg.h"
#include "wire/checksum.h"

#define NO_LNET_TYPE  UINT32_MAX
#define COUNT_MAX     10000u
#define DRAWS_A_KIND  100000u /* each kind comes up at least once in 80 draws on average */
#define READ_CAPACITY (O2_MSG_BYTES + 1)

static void set_number(json_t *object, const char *key, uint64_t value)
{
	char text[19];

	snprintf(text, sizeof(text), "0x%llx", (unsigned long long)value);
	json_object_set_new(object, key, json_string(text));
}

static json_t *hex_of(const uint8_t *bytes, size_t length_bytes)
{
	char text[2 * O2_MSG_BYTES + 1] = "";

	for (size_t i = 0; i < length_bytes; i++)
		snprintf(text + 2 * i, 3, "%02x", bytes[i]);
	return json_string(text);
}

/* Print and release the object, as one line.  Returns -ENOMEM if it is NULL (memory ran out), otherwise 0. */
static int print_line(json_t *object)
{
	if (object == NULL)
		return -ENOMEM;
	json_dumpf(object, stdout, JSON_COMPACT | JSON_SORT_KEYS);
	putchar('\n');
	json_decref(object);
	return 0;
}

static int print_msg(const struct o2_msg *msg, const uint8_t *bytes, uint32_t cksum, const char *file)
{
	const struct o2_lnet_hdr *hdr = o2_msg_lnet_hdr(msg);
	json_t *message = o2_msg_to_json(msg);
	json_t *line;

	if (message == NULL)
		return -ENOMEM;
	set_number(message, "ibm_srcnid", msg->ibm_srcnid);
	set_number(message, "ibm_dstnid", msg->ibm_dstnid);
	if (hdr != NULL) {
		json_t *fields = json_object_get(json_object_get(message, "body"), "hdr");

		set_number(fields, "dest_nid", hdr->dest_nid);
		set_number(fields, "src_nid", hdr->src_nid);
	}
	line = json_pack("{s:o, s:I, s:s?, s:s?, s:o}", "bytes", hex_of(bytes, msg->ibm_nob), "ibm_cksum",
			 (json_int_t)cksum, "lnet_type", hdr == NULL ? NULL : o2_lnet_type_name(hdr->type),
			 "file", file, "message", message);
	return print_line(line);
}

/* Draw random messages until one is of this kind. */
static int draw(struct o2_msg *msg, uint8_t type, uint32_t lnet_type, enum o2_byte_order order)
{
	for (uint32_t i = 0; i < DRAWS_A_KIND; i++) {
		const struct o2_lnet_hdr *hdr;

		random_msg(msg);
		hdr = o2_msg_lnet_hdr(msg);
		if (msg->ibm_type == type && msg->order == order &&
		    (hdr == NULL ? NO_LNET_TYPE : hdr->type) == lnet_type)
			return 0;
	}
	fprintf(stderr, "judge_messages: no %s (LNet type %u) in %u draws\n", o2_msg_type_name(type),
		lnet_type, DRAWS_A_KIND);
	return -ENOENT;
}

static int random_of_kind(uint8_t type, uint32_t lnet_type, uint32_t count)
{
	for (uint32_t i = 0; i < 2 * count; i++) {
		uint8_t bytes[O2_MSG_BYTES];
		struct o2_error error;
		struct o2_msg msg;
		int rc = draw(&msg, type, lnet_type, i % 2 == 0 ? O2_LITTLE_ENDIAN : O2_BIG_ENDIAN);

		if (rc < 0)
			return rc;
		rc = o2_msg_encode(&msg, NULL, bytes, sizeof(bytes), &error);
		if (rc < 0) {
			fprintf(stderr, "judge_messages: %s refused when encoding: error %d\n",
				o2_msg_type_name(type), -rc);
			return rc;
		}
		msg.ibm_nob = (uint32_t)rc;
		rc = print_msg(&msg, bytes,
			       o2_checksum_of(o2_msg_checksum_both(bytes, msg.ibm_nob), msg.cksum_flavour),
			       NULL);
		if (rc < 0)
			return rc;
	}
	return 0;
}

static int print_reject(const struct o2_reject *reject, const uint8_t *bytes, const char *file)
{
	json_t *line = json_pack("{s:o, s:s?, s:o}", "bytes", hex_of(bytes, O2_REJECT_BYTES), "file", file,
				 "reject", o2_reject_to_json(reject));

	return print_line(line);
}

static int random_rejects(uint32_t count)
{
	for (uint32_t i = 0; i < 2 * count; i++) {
		const struct o2_reject reject = {
			.order = i % 2 == 0 ? O2_LITTLE_ENDIAN : O2_BIG_ENDIAN,
			.ibr_version = O2_MSG_VERSION_2,
			.ibr_why = (uint8_t)(O2_REJECT_CONN_RACE + random_below(O2_REJECT_EARLY)),
			.ibr_incarnation = random64(),
			.ibr_cp = {(uint16_t)random64(), (uint16_t)random64(), (uint32_t)random64()},
		};
		uint8_t bytes[O2_REJECT_BYTES];
		struct o2_error error;
		int rc = o2_reject_encode(&reject, bytes, sizeof(bytes), &error);

		if (rc >= 0)
			rc = print_reject(&reject, bytes, NULL);
		if (rc < 0) {
			fprintf(stderr, "judge_messages: reject record not encoded: error %d\n", -rc);
			return rc;
		}
	}
	return 0;
}

static int random_messages(uint64_t seed, uint32_t count)
{
	static const struct {
		uint8_t type;
		uint32_t lnet_type;
	} kinds[] = {
		{O2_MSG_CONNREQ, NO_LNET_TYPE},	   {O2_MSG_CONNACK, NO_LNET_TYPE},
		{O2_MSG_NOOP, NO_LNET_TYPE},	   {O2_MSG_IMMEDIATE, O2_LNET_ACK},
		{O2_MSG_IMMEDIATE, O2_LNET_PUT},   {O2_MSG_IMMEDIATE, O2_LNET_GET},
		{O2_MSG_IMMEDIATE, O2_LNET_REPLY}, {O2_MSG_PUT_REQ, O2_LNET_PUT},
		{O2_MSG_PUT_REQ, O2_LNET_REPLY},   {O2_MSG_PUT_NAK, NO_LNET_TYPE},
		{O2_MSG_PUT_ACK, NO_LNET_TYPE},	   {O2_MSG_PUT_DONE, NO_LNET_TYPE},
		{O2_MSG_GET_REQ, O2_LNET_GET},	   {O2_MSG_GET_DONE, NO_LNET_TYPE},
	};

	random_state = seed;
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		const int rc = random_of_kind(kinds[i].type, kinds[i].lnet_type, count);

		if (rc < 0)
			return rc;
	}
	return random_rejects(count);
}

/* Returns the bytes read, or -ENOENT. */
static int read_file(const char *path, uint8_t *bytes, size_t capacity_bytes)
{
	FILE *file = fopen(path, "rb");
	size_t length;

	if (file == NULL) {
		fprintf(stderr, "judge_messages: cannot open %s\n", path);
		return -ENOENT;
	}
	length = fread(bytes, 1, capacity_bytes, file);
	fclose(file);
	return (int)length;
}

/* A recorded IMMEDIATE may carry a checksum that does not fit its bytes: tolerate and report it as recorded. */
static int decode_file(const char *path, bool is_reject)
{
	struct o2_wire_options options = O2_WIRE_DEFAULTS;
	uint8_t bytes[READ_CAPACITY];
	struct o2_reject reject;
	struct o2_error error;
	struct o2_msg msg;
	uint32_t cksum;
	const int length = read_file(path, bytes, sizeof(bytes));
	int rc;

	if (length < 0)
		return length;
	options.tolerate_immediate_checksum = true;
	rc = is_reject ? o2_reject_decode(bytes, (size_t)length, &reject, &error)
		       : o2_msg_decode(bytes, (size_t)length, &options, &msg, &error);
	if (rc < 0) {
		fprintf(stderr, "judge_messages: %s refused when decoding: error %d\n", path, -rc);
		return rc;
	}
	if (is_reject)
		return print_reject(&reject, bytes, path);
	cksum = msg.order == O2_LITTLE_ENDIAN ? o2_load32_le(bytes + O2_AT_CKSUM)
					      : o2_load32_be(bytes + O2_AT_CKSUM);
	return print_msg(&msg, bytes, cksum, path);
}

static int usage(void)
{
	fprintf(stderr, "usage: judge_messages random SEED COUNT | decode FILE... | reject FILE...\n");
	return EXIT_FAILURE;
}

int main(int argc, char **argv)
{
	int rc = 0;

	if (argc == 4 && strcmp(argv[1], "random") == 0) {
		const unsigned long count = strtoul(argv[3], NULL, 10);

		if (count == 0 || count > COUNT_MAX)
			return usage();
		rc = random_messages(strtoull(argv[2], NULL, 0), (uint32_t)count);
	} else if (argc > 2 && (strcmp(argv[1], "decode") == 0 || strcmp(argv[1], "reject") == 0)) {
		for (int i = 2; i < argc && rc == 0; i++)
			rc = decode_file(argv[i], argv[1][0] == 'r');
	} else {
		return usage();
	}
	if (fflush(stdout) != 0 || ferror(stdout))
		rc = -EIO;
	return rc < 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}
