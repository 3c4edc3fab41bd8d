/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "base/errno_name.h"
#include "forms/msg_json.h"
#include "tests/judge/wire/vectors_text.h"
#include "wire/nid.h"

/*
 * The reference codec as a filter, for tests/judge/wire/compare_codecs.py.
 *
 *   in:  frames: length (4 bytes, little-endian, counts only `bytes`), kind and options (1 byte each), bytes
 *   out: one line of JSON for each frame
 *
 * Kinds: 'm' decode a message; 'l' and 'b' decode a bare descriptor, little- or big-endian; 'r' decode a
 * reject record; 'e' encode: the bytes are a document o2ref/msg_encode/input, which has options of its own;
 * 't' read the text of a NID and write it again. Options, bits: 0 require_checksum, 1 any_lnd, 2 max_frags is
 * 256, 3 tolerate_immediate_checksum.
 */

#define FRAME_BYTES (1u << 20)

enum {
	OPTION_REQUIRE_CHECKSUM = 1,
	OPTION_ANY_LND = 2,
	OPTION_LEGACY_FRAGS = 4,
	OPTION_TOLERATE = 8,
};

static int set_hex(json_t *object, const char *key, const uint8_t *bytes, size_t length_bytes)
{
	static const char digits[] = "0123456789abcdef";
	char text[2 * O2_MSG_BYTES];
	size_t i;

	for (i = 0; i < length_bytes; i++) {
		text[2 * i] = digits[bytes[i] >> 4];
		text[2 * i + 1] = digits[bytes[i] & 15];
	}
	return json_object_set_new(object, key, json_stringn(text, 2 * length_bytes));
}

/* Decode a message: its fields and its canonical encoding, or the refusal. */
static json_t *decode_message(const uint8_t *bytes, size_t length_bytes,
			      const struct o2_wire_options *options)
{
	uint8_t canonical[O2_MSG_BYTES];
	struct o2_error error = {0};
	struct o2_msg msg;
	json_t *answer;
	int rc = o2_msg_decode(bytes, length_bytes, options, &msg, &error);

	answer = o2_msg_decode_output_to_json(&msg, &error);
	if (rc != 0 || answer == NULL)
		return answer;
	rc = o2_msg_encode(&msg, options, canonical, sizeof(canonical), &error);
	if (rc < 0)
		json_object_set_new(answer, "canonical_refused", json_string(error.rule));
	else
		set_hex(answer, "canonical", canonical, (size_t)rc);
	return answer;
}

static json_t *refused_or_empty(const struct o2_error *error)
{
	struct o2_msg unused = {0};

	return error->code == 0 ? json_object() : o2_msg_decode_output_to_json(&unused, error);
}

static json_t *decode_desc(const uint8_t *bytes, size_t length_bytes, enum o2_byte_order order,
			   const struct o2_wire_options *options)
{
	static struct vector_text text;
	struct o2_rdma_desc desc;
	struct o2_error error = {0};
	json_t *answer;

	o2_desc_decode(bytes, length_bytes, order, options, &desc, &error);
	answer = refused_or_empty(&error);
	if (error.code != 0 || answer == NULL)
		return answer;
	text.used = 0;
	vector_put_desc(&text, &desc);
	json_object_set_new(answer, "flat", json_string(text.text));
	return answer;
}

static json_t *decode_reject(const uint8_t *bytes, size_t length_bytes)
{
	static struct vector_text text;
	uint8_t canonical[O2_REJECT_BYTES];
	struct o2_reject reject;
	struct o2_error error = {0};
	json_t *answer;
	int rc;

	o2_reject_decode(bytes, length_bytes, &reject, &error);
	answer = refused_or_empty(&error);
	if (error.code != 0 || answer == NULL)
		return answer;
	text.used = 0;
	vector_put_reject(&text, &reject);
	json_object_set_new(answer, "flat", json_string(text.text));
	rc = o2_reject_encode(&reject, canonical, sizeof(canonical), &error);
	set_hex(answer, "canonical", canonical, rc < 0 ? 0 : (size_t)rc);
	return answer;
}

static json_t *read_nid(const uint8_t *bytes, size_t length_bytes)
{
	struct o2_error error = {0};
	char text[256], hex[32];
	uint64_t nid;
	int rc;

	if (length_bytes >= sizeof(text) || memchr(bytes, 0, length_bytes) != NULL)
		return json_pack("{s:s}", "nid", "a text this long, or with a zero byte, is not compared");
	memcpy(text, bytes, length_bytes);
	text[length_bytes] = '\0';
	rc = o2_nid_from_text(text, &nid, &error);
	if (rc != 0)
		return json_pack("{s:s,s:s}", "rule", error.rule, "errno", o2_errno_text(rc, text));
	snprintf(hex, sizeof(hex), "0x%llx", (unsigned long long)nid);
	o2_nid_to_text(nid, text, sizeof(text));
	return json_pack("{s:s,s:s}", "nid", hex, "text", text);
}

static json_t *encode_message(const uint8_t *bytes, size_t length_bytes)
{
	uint8_t encoded[O2_MSG_BYTES];
	struct o2_wire_options options;
	struct o2_error error = {0};
	struct o2_msg_json read;
	json_t *input = json_loadb((const char *)bytes, length_bytes, 0, NULL);
	json_t *answer;
	char text[256];
	int rc = o2_msg_encode_input_from_json(input, &read, &options, &error);

	json_decref(input);
	if (rc != 0) {
		o2_error_text(&error, text, sizeof(text));
		return json_pack("{s:s}", "unreadable", text);
	}
	rc = o2_msg_encode(&read.msg, &options, encoded, sizeof(encoded), &error);
	answer = o2_msg_encode_output_to_json(encoded, rc < 0 ? 0 : (size_t)rc, &error);
	return answer;
}

static json_t *answer_frame(uint8_t kind, uint8_t flags, const uint8_t *bytes, size_t length_bytes)
{
	struct o2_wire_options options = O2_WIRE_DEFAULTS;

	options.require_checksum = (flags & OPTION_REQUIRE_CHECKSUM) != 0;
	options.any_lnd = (flags & OPTION_ANY_LND) != 0;
	if ((flags & OPTION_LEGACY_FRAGS) != 0)
		options.max_frags = O2_MAX_FRAGS_LEGACY;
	options.tolerate_immediate_checksum = (flags & OPTION_TOLERATE) != 0;
	switch (kind) {
	case 'm':
		return decode_message(bytes, length_bytes, &options);
	case 'l':
		return decode_desc(bytes, length_bytes, O2_LITTLE_ENDIAN, &options);
	case 'b':
		return decode_desc(bytes, length_bytes, O2_BIG_ENDIAN, &options);
	case 'r':
		return decode_reject(bytes, length_bytes);
	case 't':
		return read_nid(bytes, length_bytes);
	case 'e':
		return encode_message(bytes, length_bytes);
	default:
		return NULL;
	}
}

/* Process one frame.  Returns 1 if there was one, 0 at the end of the input, otherwise -errno. */
static int pass_frame(void)
{
	uint8_t head[6];
	size_t got = fread(head, 1, sizeof(head), stdin);
	uint32_t length_bytes;
	uint8_t *bytes;
	json_t *answer;
	int rc = -EINVAL;

	if (got == 0)
		return 0;
	if (got != sizeof(head))
		return rc;
	length_bytes = head[0] | (uint32_t)head[1] << 8 | (uint32_t)head[2] << 16 | (uint32_t)head[3] << 24;
	if (length_bytes > FRAME_BYTES)
		return rc;
	/* Allocate exactly the length of the input, so that a sanitizer sees a read past it. */
	bytes = malloc(length_bytes);
	if (bytes == NULL && length_bytes != 0)
		return -ENOMEM;
	if (fread(bytes, 1, length_bytes, stdin) == length_bytes) {
		answer = answer_frame(head[4], head[5], bytes, length_bytes);
		if (answer != NULL && json_dumpf(answer, stdout, JSON_COMPACT) == 0 && putchar('\n') == '\n')
			rc = 1;
		json_decref(answer);
	}
	free(bytes);
	return rc;
}

int main(void)
{
	int rc;

	do {
		rc = pass_frame();
	} while (rc == 1);
	if (rc != 0 || fflush(stdout) != 0)
		fprintf(stderr, "codec_pipe: bad frame or failed output (%s)\n",
			strerror(rc != 0 ? -rc : errno));
	return rc == 0 ? 0 : 1;
}
