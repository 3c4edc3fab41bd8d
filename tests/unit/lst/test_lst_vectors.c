/* SPDX-License-Identifier: MIT */
/*
 * Tests the codec against corpus/lst/vectors.txt.  It has bytes that kernels sent and bytes that a codec in Python
 * made, with that codec's decoded fields, its reasons for refusals, and its encoding of the decoded message.
 */
#include "tests/lib/unit_test.h"

#include <inttypes.h>

#include "lst/wire/fields.h"
#include "lst/wire/msg.h"
#include "lst/wire/msg_json.h"
#include "lst/wire/rules.h"

#define MOST_BYTES 512u

struct vector {
	char *id, *bytes, *outcome, *fields, *canonical;
	uint8_t data[MOST_BYTES];
	size_t length_bytes;
};

static size_t from_hex(const char *digits, uint8_t *bytes)
{
	size_t length = 0;

	if (strcmp(digits, "-") == 0)
		return 0;
	for (; *digits != '\0'; digits += 2) {
		const char pair[] = {digits[0], digits[1], '\0'};

		assert_true(length < MOST_BYTES);
		bytes[length++] = (uint8_t)strtoul(pair, NULL, 16);
	}
	return length;
}

/* --- a message's fields in the form of the file --- */

static char shown[4096];

__attribute__((format(printf, 1, 2))) static void show(const char *format, ...)
{
	const size_t length = strlen(shown);
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(shown + length, sizeof(shown) - length, format, arguments);
	va_end(arguments);
}

static void show_fields(const struct o2_field *fields, const void *holder, const char *before)
{
	for (const struct o2_field *field = fields; field->name != NULL; field++) {
		const uint8_t *member = (const uint8_t *)holder + field->offset_bytes;
		char name[64];

		if (field->kind == O2_FIELD_MORE) {
			show_fields(field->more(holder), holder, "");
			continue;
		}
		snprintf(name, sizeof(name), "%s%s%s", before, before[0] == '\0' ? "" : ".", field->name);
		if (field->kind == O2_FIELD_PART) {
			show_fields(field->part, member, name);
			continue;
		}
		show("%s%s=", shown[0] == '\0' ? "" : ",", name);
		if (field->kind != O2_FIELD_CHARS) {
			show("%" PRIx64, o2_field_value(field, holder));
			continue;
		}
		for (uint32_t i = 0; i < field->width_bytes && member[i] != 0; i++)
			show("%02x", member[i]);
	}
}

static void check_fields(const struct vector *vector, const struct o2_lst_msg *msg)
{
	shown[0] = '\0';
	show_fields(o2_lst_msg_fields, msg, "");
	if (strcmp(shown, vector->fields) != 0)
		fail_msg("%s:\n  %s, expected\n  %s", vector->id, shown, vector->fields);
}

static void check_bytes(const char *id, const uint8_t *seen, const uint8_t *expected)
{
	for (uint32_t i = 0; i < O2_LST_MSG_BYTES; i++)
		if (seen[i] != expected[i])
			fail_msg("%s: byte %u is 0x%02x, expected 0x%02x", id, i, seen[i], expected[i]);
}

static void check_canonical(const struct vector *vector, const struct o2_lst_msg *msg)
{
	uint8_t expected[MOST_BYTES], seen[O2_LST_MSG_BYTES];

	if (strcmp(vector->canonical, "=") == 0)
		memcpy(expected, vector->data, O2_LST_MSG_BYTES);
	else
		assert_int_equal(from_hex(vector->canonical, expected), O2_LST_MSG_BYTES);
	memset(seen, 0xa5, sizeof(seen));
	assert_int_equal(o2_lst_msg_encode(msg, seen, NULL), 0);
	check_bytes(vector->id, seen, expected);
}

/* Check that a message converted to JSON and back is unchanged. */
static void check_json(const struct vector *vector, const struct o2_lst_msg *msg)
{
	struct o2_lst_msg again;
	json_t *object = o2_lst_msg_to_json(msg);

	assert_non_null(object);
	if (o2_lst_msg_from_json(object, &again, NULL) != 0)
		fail_msg("%s: its JSON form cannot be read", vector->id);
	json_decref(object);
	check_fields(vector, &again);
}

static void check_outcome(const struct vector *vector, int rc, const struct o2_error *error)
{
	char outcome[128] = "ok";

	if (rc != 0) {
		assert_int_equal(rc, -EPROTO);
		assert_int_equal(error->code, -EPROTO);
		assert_int_equal(error->class, O2_CLASS_MESSAGE);
		snprintf(outcome, sizeof(outcome), "%s %" PRIx64 " %" PRIx64, error->rule, error->value,
			 error->limit);
	}
	if (strcmp(outcome, vector->outcome) != 0)
		fail_msg("%s: %s, expected %s", vector->id, outcome, vector->outcome);
}

static void check_vector(const struct vector *vector)
{
	static const struct o2_lst_msg nothing;
	struct o2_error error = {0};
	struct o2_lst_msg msg;
	uint8_t *exact = malloc(vector->length_bytes + 1); /* so a sanitizer sees a read past it */
	int rc;

	assert_non_null(exact);
	memcpy(exact + 1, vector->data, vector->length_bytes);
	memset(&msg, 0x5a, sizeof(msg));
	rc = o2_lst_msg_decode(exact + 1, vector->length_bytes, &msg, &error);
	check_outcome(vector, rc, &error);
	if (strcmp(vector->fields, "-") == 0) {
		assert_memory_equal(&msg, &nothing, sizeof(msg));
	} else {
		check_fields(vector, &msg);
		check_canonical(vector, &msg);
		check_json(vector, &msg);
	}
	free(exact);
}

static uint32_t check_file(const char *text)
{
	FILE *file = fopen(text, "r");
	uint32_t count = 0;
	char *line = NULL;
	size_t room = 0;

	assert_non_null(file);
	while (getline(&line, &room, file) > 0) {
		struct vector vector = {.id = strtok(line, "\t\n")};

		if (vector.id[0] == '#')
			continue;
		vector.bytes = strtok(NULL, "\t\n");
		vector.outcome = strtok(NULL, "\t\n");
		vector.fields = strtok(NULL, "\t\n");
		vector.canonical = strtok(NULL, "\t\n");
		assert_non_null(vector.canonical);
		vector.length_bytes = from_hex(vector.bytes, vector.data);
		check_vector(&vector);
		count++;
	}
	free(line);
	fclose(file);
	return count;
}

TEST(each_vector_is_read_and_written_as_the_second_codec_does)
{
	assert_int_equal(check_file(O2_CORPUS_DIR "/lst/vectors.txt"), 300);
}
