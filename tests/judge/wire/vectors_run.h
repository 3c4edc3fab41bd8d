/* SPDX-License-Identifier: MIT */
#ifndef O2_TESTS_WIRE_VECTORS_RUN_H
#define O2_TESTS_WIRE_VECTORS_RUN_H

#include <stdbool.h>
#include <stdlib.h>

#include "tests/judge/wire/vectors_text.h"
#include "wire/nid.h"

/*
 * Run one vector of corpus/vectors/vectors.txt against ref/wire: decode (or decode, edit and encode), and
 * compare the fields or the refusal, and the bytes that encoding gives.
 */

enum vector_column {
	VECTOR_ID,
	VECTOR_KIND,
	VECTOR_OPTIONS,
	VECTOR_BYTES,
	VECTOR_EDITS,
	VECTOR_RESULT,
	VECTOR_OUTCOME, /* decoded fields, or the refusal */
	VECTOR_CANONICAL,
	VECTOR_COLUMNS,
};

struct vector {
	char *column[VECTOR_COLUMNS];
	uint8_t *bytes; /* allocated with exactly length_bytes, so that a sanitizer sees a read past them */
	size_t length_bytes;
	struct vector_text outcome; /* what the reference codec answers */
	uint8_t encoded[O2_MSG_BYTES];
	int encoded_bytes; /* or a negative errno */
};

/* Cut the line at its tabs.  Returns false if it does not have VECTOR_COLUMNS columns. */
static inline bool vector_split(struct vector *vector, char *line)
{
	unsigned int i;

	line[strcspn(line, "\r\n")] = '\0';
	for (i = 0; i < VECTOR_COLUMNS; i++) {
		vector->column[i] = line;
		if (i + 1 < VECTOR_COLUMNS) {
			line = strchr(line, '\t');
			if (line == NULL)
				return false;
			*line++ = '\0';
		}
	}
	return strchr(line, '\t') == NULL;
}

/* Decode hexadecimal digits ("-": no bytes) into memory of exactly that size, which the caller frees. */
static inline bool vector_bytes(const char *hex, uint8_t **bytes, size_t *length_bytes)
{
	size_t i, digits = strcmp(hex, "-") == 0 ? 0 : strlen(hex);
	unsigned int byte;

	*bytes = malloc(digits / 2);
	*length_bytes = digits / 2;
	for (i = 0; i < digits / 2; i++) {
		if (sscanf(hex + 2 * i, "%2x", &byte) != 1)
			return false;
		(*bytes)[i] = (uint8_t)byte;
	}
	return digits % 2 == 0;
}

/* The hexadecimal number after "key=" in a list like "a=1,b=2".  Returns false if the list lacks the key. */
static inline bool vector_number(const char *list, const char *key, uint64_t *value)
{
	size_t length = strlen(key);
	const char *at = list;

	while (at != NULL) {
		if (strncmp(at, key, length) == 0 && at[length] == '=') {
			*value = strtoull(at + length + 1, NULL, 16);
			return true;
		}
		at = strchr(at, ',');
		if (at != NULL)
			at++;
	}
	return false;
}

static inline struct o2_wire_options vector_options(const char *list)
{
	struct o2_wire_options options = O2_WIRE_DEFAULTS;
	uint64_t value = 0;

	if (vector_number(list, "max_frags", &value))
		options.max_frags = (uint32_t)value;
	options.require_checksum = vector_number(list, "require_checksum", &value) && value != 0;
	options.any_lnd = vector_number(list, "any_lnd", &value) && value != 0;
	options.tolerate_immediate_checksum =
		vector_number(list, "tolerate_immediate_checksum", &value) && value != 0;
	return options;
}

static inline struct o2_lnet_hdr *vector_hdr_of(struct o2_msg *msg)
{
	return msg->ibm_type == O2_MSG_IMMEDIATE ? &msg->u.immediate.hdr
	       : msg->ibm_type == O2_MSG_PUT_REQ ? &msg->u.putreq.hdr
						 : &msg->u.get.hdr;
}

static inline struct o2_rdma_desc *vector_desc_of(struct o2_msg *msg)
{
	return msg->ibm_type == O2_MSG_PUT_ACK ? &msg->u.putack.ibpam_rd : &msg->u.get.ibgm_rd;
}

static inline void vector_edit_body(struct o2_msg *msg, const char *edits)
{
	uint64_t value = 0;
	char key[24];
	uint32_t i;

	if (vector_number(edits, "type", &value))
		vector_hdr_of(msg)->type = (uint32_t)value;
	if (vector_number(edits, "payload_length", &value))
		vector_hdr_of(msg)->payload_length = (uint32_t)value;
	if (vector_number(edits, "payload", &value))
		msg->u.immediate.payload = NULL;
	if (vector_number(edits, "ibcm_status", &value))
		msg->u.completion.ibcm_status = (int32_t)value;
	if (vector_number(edits, "rd_nfrags", &value))
		vector_desc_of(msg)->rd_nfrags = (uint32_t)value;
	for (i = 0; i < 2; i++) {
		snprintf(key, sizeof(key), "rf_nob.%u", (unsigned int)i);
		if (vector_number(edits, key, &value))
			vector_desc_of(msg)->rd_frags[i].rf_nob = (uint32_t)value;
		snprintf(key, sizeof(key), "rf_addr.%u", (unsigned int)i);
		if (vector_number(edits, key, &value))
			vector_desc_of(msg)->rd_frags[i].rf_addr = value;
	}
}

/* Edit ibm_type last, because it selects the union member that the other edits change. */
static inline void vector_edit(struct o2_msg *msg, const char *edits)
{
	uint64_t value = 0;

	vector_edit_body(msg, edits);
	if (vector_number(edits, "order", &value))
		msg->order = (enum o2_byte_order)value;
	if (vector_number(edits, "cksum_flavour", &value))
		msg->cksum_flavour = (enum o2_cksum_flavour)value;
	if (vector_number(edits, "ibm_version", &value))
		msg->ibm_version = (uint16_t)value;
	if (vector_number(edits, "ibm_srcnid", &value))
		msg->ibm_srcnid = value;
	if (vector_number(edits, "ibm_dstnid", &value))
		msg->ibm_dstnid = value;
	if (vector_number(edits, "ibm_type", &value))
		msg->ibm_type = (uint8_t)value;
}

static inline void vector_edit_reject(struct o2_reject *reject, const char *edits)
{
	uint64_t value = 0;

	if (vector_number(edits, "order", &value))
		reject->order = (enum o2_byte_order)value;
	if (vector_number(edits, "ibr_version", &value))
		reject->ibr_version = (uint16_t)value;
	if (vector_number(edits, "ibr_why", &value))
		reject->ibr_why = (uint8_t)value;
	if (vector_number(edits, "ibr_incarnation", &value))
		reject->ibr_incarnation = value;
	if (vector_number(edits, "ibcp_queue_depth", &value))
		reject->ibr_cp.ibcp_queue_depth = (uint16_t)value;
	if (vector_number(edits, "ibcp_max_frags", &value))
		reject->ibr_cp.ibcp_max_frags = (uint16_t)value;
	if (vector_number(edits, "ibcp_max_msg_size", &value))
		reject->ibr_cp.ibcp_max_msg_size = (uint32_t)value;
}

/* Encode into memory of exactly capacity_bytes, so that a sanitizer sees a write past it. */
static inline int vector_encode(struct vector *vector, const struct o2_msg *msg,
				const struct o2_reject *reject, const struct o2_wire_options *options,
				struct o2_error *error)
{
	uint64_t capacity_bytes = O2_MSG_BYTES;
	uint8_t *room;
	int rc;

	vector_number(vector->column[VECTOR_EDITS], "capacity_bytes", &capacity_bytes);
	room = malloc((size_t)capacity_bytes);
	if (reject != NULL)
		rc = o2_reject_encode(reject, room, (size_t)capacity_bytes, error);
	else
		rc = o2_msg_encode(msg, options, room, (size_t)capacity_bytes, error);
	if (rc > 0)
		memcpy(vector->encoded, room, (size_t)rc);
	vector->encoded_bytes = rc;
	free(room);
	return rc < 0 ? rc : 0;
}

static inline int vector_run_msg(struct vector *vector, bool edit, struct o2_error *error)
{
	struct o2_wire_options options = vector_options(vector->column[VECTOR_OPTIONS]);
	struct o2_msg msg;
	int rc = o2_msg_decode(vector->bytes, vector->length_bytes, edit ? NULL : &options, &msg, error);

	if (rc != 0)
		return rc;
	if (edit)
		vector_edit(&msg, vector->column[VECTOR_EDITS]);
	else
		vector_put_msg(&vector->outcome, &msg);
	return vector_encode(vector, &msg, NULL, &options, error);
}

static inline int vector_run_reject(struct vector *vector, bool edit, struct o2_error *error)
{
	struct o2_reject reject;
	int rc = o2_reject_decode(vector->bytes, vector->length_bytes, &reject, error);

	if (rc != 0)
		return rc;
	if (edit)
		vector_edit_reject(&reject, vector->column[VECTOR_EDITS]);
	else
		vector_put_reject(&vector->outcome, &reject);
	return vector_encode(vector, NULL, &reject, NULL, error);
}

/* A bare descriptor has no encoder of its own: its canonical form is the bytes that belong to it. */
static inline int vector_run_desc(struct vector *vector, enum o2_byte_order order, struct o2_error *error)
{
	struct o2_wire_options options = vector_options(vector->column[VECTOR_OPTIONS]);
	struct o2_rdma_desc desc;
	int rc = o2_desc_decode(vector->bytes, vector->length_bytes, order, &options, &desc, error);

	if (rc != 0)
		return rc;
	vector_put_field(&vector->outcome, "byte_order", (uint64_t)order);
	vector_put_desc(&vector->outcome, &desc);
	vector->encoded_bytes = (int)(8 + 12 * desc.rd_nfrags);
	memcpy(vector->encoded, vector->bytes, (size_t)vector->encoded_bytes);
	return 0;
}

static inline int vector_run_kind(struct vector *vector, struct o2_error *error)
{
	const char *kind = vector->column[VECTOR_KIND];

	if (strncmp(kind, "desc_", 5) == 0)
		return vector_run_desc(vector, kind[5] == 'b' ? O2_BIG_ENDIAN : O2_LITTLE_ENDIAN, error);
	if (strncmp(kind, "reject", 6) == 0)
		return vector_run_reject(vector, kind[6] != '\0', error);
	return vector_run_msg(vector, strcmp(kind, "encode") == 0, error);
}

/* A NID's text and number have no wire form, so the outcome holds the whole answer.  Returns true if refused. */
static inline bool vector_run_nid(struct vector *vector)
{
	struct o2_error error = {0};
	char text[O2_NID_TEXT_BYTES];
	char *copy = calloc(1, vector->length_bytes + 1);
	uint64_t nid = 0;
	int rc;

	if (copy == NULL)
		return false;
	memcpy(copy, vector->bytes, vector->length_bytes);
	rc = o2_nid_from_text(copy, &nid, &error);
	free(copy);
	if (rc != 0) {
		vector_put(&vector->outcome, "%s,%s", error.rule,
			   rc == -EINVAL	 ? "EINVAL"
			   : rc == -EAFNOSUPPORT ? "EAFNOSUPPORT"
						 : "another errno");
	} else {
		o2_nid_to_text(nid, text, sizeof(text));
		vector_put(&vector->outcome, "nid=%" PRIx64 ",text=%s", nid, text);
	}
	return rc != 0;
}

static inline bool vector_bytes_differ(const struct vector *vector, FILE *report)
{
	const char *canonical = vector->column[VECTOR_CANONICAL];
	uint8_t *expected;
	size_t length_bytes;
	bool good;

	if (strcmp(canonical, "-") == 0)
		canonical = vector->column[VECTOR_BYTES];
	good = vector_bytes(canonical, &expected, &length_bytes) && vector->encoded_bytes >= 0 &&
	       (size_t)vector->encoded_bytes == length_bytes &&
	       memcmp(expected, vector->encoded, length_bytes) == 0;
	free(expected);
	if (!good)
		fprintf(report, "%s: encodes to other bytes (%d of them) than %s\n",
			vector->column[VECTOR_ID], vector->encoded_bytes, canonical);
	return !good;
}

/*
 * Run one line of vectors.txt; the line is modified.  Returns true if the reference codec agrees; otherwise
 * the difference is written to `report`.
 */
static inline bool vector_run(char *line, FILE *report)
{
	static struct vector vector; /* too large for a small stack */
	struct o2_error error = {0};
	bool good, nid, refused;

	memset(&vector, 0, sizeof(vector));
	if (!vector_split(&vector, line)) {
		fprintf(report, "not a vector: %.60s\n", line);
		return false;
	}
	good = vector_bytes(vector.column[VECTOR_BYTES], &vector.bytes, &vector.length_bytes);
	nid = strcmp(vector.column[VECTOR_KIND], "nid") == 0;
	refused = nid ? vector_run_nid(&vector) : vector_run_kind(&vector, &error) != 0;
	if (refused && !nid) {
		vector.outcome.used = 0;
		vector_put_refusal(&vector.outcome, &error);
	} else if (vector.outcome.used == 0) {
		vector_put(&vector.outcome, "-"); /* an edited message is compared by its bytes alone */
	}
	if (refused != (strcmp(vector.column[VECTOR_RESULT], "invalid") == 0) ||
	    strcmp(vector.outcome.text, vector.column[VECTOR_OUTCOME]) != 0) {
		fprintf(report, "%s: expected %s %s\n  but it is %s\n", vector.column[VECTOR_ID],
			vector.column[VECTOR_RESULT], vector.column[VECTOR_OUTCOME], vector.outcome.text);
		good = false;
	}
	if (good && !refused && !nid)
		good = !vector_bytes_differ(&vector, report);
	free(vector.bytes);
	return good;
}

#endif
