/* SPDX-License-Identifier: MIT */
/*
 * The reference passes the vectors of corpus/vectors: the flat file, and the JSON forms in the .json files
 * (docs/wire.md, "JSON forms").
 */

#include <glob.h>

#include "forms/msg_json.h"
#include "tests/judge/wire/vectors_run.h"
#include "tests/lib/unit_test.h"

#define VECTORS	    O2_CORPUS_DIR "/vectors/"
#define VECTORS_MIN 1000u /* with fewer, files are missing */

static unsigned int flat_lines(bool run)
{
	unsigned int count = 0, failed = 0;
	char *line = NULL;
	size_t size = 0;
	FILE *file = fopen(VECTORS "vectors.txt", "r");

	assert_non_null(file);
	while (getline(&line, &size, file) > 0) {
		count++;
		if (run && !vector_run(line, stderr))
			failed++;
	}
	free(line);
	fclose(file);
	assert_int_equal(failed, 0);
	return count;
}

TEST(the_flat_vectors_pass)
{
	assert_true(flat_lines(true) >= VECTORS_MIN);
}

/* Takes the options that the test spells out; all others are the library's defaults. */
static struct o2_wire_options options_of(const json_t *test)
{
	struct o2_wire_options options = O2_WIRE_DEFAULTS;
	const json_t *given = json_object_get(test, "options");
	const json_t *max_frags = json_object_get(given, "max_frags");

	if (max_frags != NULL)
		options.max_frags = (uint32_t)json_integer_value(max_frags);
	options.require_checksum = json_is_true(json_object_get(given, "require_checksum"));
	options.any_lnd = json_is_true(json_object_get(given, "any_lnd"));
	options.tolerate_immediate_checksum =
		json_is_true(json_object_get(given, "tolerate_immediate_checksum"));
	return options;
}

static bool same_json(const char *id, const char *what, const json_t *expected, const json_t *answer)
{
	char *want, *have;

	if ((expected == NULL && answer == NULL) || json_equal(expected, answer))
		return true;
	want = json_dumps(expected, JSON_COMPACT | JSON_ENCODE_ANY);
	have = json_dumps(answer, JSON_COMPACT | JSON_ENCODE_ANY);
	fprintf(stderr, "%s: %s: expected %s\n  but it is %s\n", id, what, want == NULL ? "nothing" : want,
		have == NULL ? "nothing" : have);
	free(want);
	free(have);
	return false;
}

/* Reads the fields back from JSON and encodes them: the canonical form must result. */
static bool encodes_from_json(const char *id, const json_t *test, const struct o2_wire_options *options)
{
	static struct o2_msg_json read;
	const json_t *canonical = json_object_get(test, "canonical");
	uint8_t encoded[O2_MSG_BYTES], *expected;
	struct o2_error error = {0};
	size_t length_bytes;
	int rc = o2_msg_from_json(json_object_get(test, "fields"), &read, &error);
	bool good;

	if (rc == 0)
		rc = o2_msg_encode(&read.msg, options, encoded, sizeof(encoded), &error);
	good = vector_bytes(json_string_value(canonical != NULL ? canonical : json_object_get(test, "bytes")),
			    &expected, &length_bytes);
	good = good && rc >= 0 && (size_t)rc == length_bytes && memcmp(encoded, expected, length_bytes) == 0;
	free(expected);
	if (!good)
		fprintf(stderr, "%s: the fields, read from JSON, encode to other bytes (%d)\n", id, rc);
	return good;
}

static bool decode_matches(const json_t *test)
{
	static struct o2_msg msg;
	const char *id = json_string_value(json_object_get(test, "id"));
	const bool invalid = strcmp(json_string_value(json_object_get(test, "result")), "invalid") == 0;
	struct o2_wire_options options = options_of(test);
	struct o2_error error = {0};
	uint8_t *bytes;
	size_t length_bytes;
	json_t *output;
	bool good = vector_bytes(json_string_value(json_object_get(test, "bytes")), &bytes, &length_bytes);

	o2_msg_decode(bytes, length_bytes, &options, &msg, &error);
	output = o2_msg_decode_output_to_json(&msg, &error);
	good = good && output != NULL &&
	       same_json(id, "refused", json_object_get(test, "refused"),
			 json_object_get(output, "refused")) &&
	       same_json(id, "fields", json_object_get(test, "fields"), json_object_get(output, "message"));
	if (good && !invalid)
		good = encodes_from_json(id, test, &options);
	json_decref(output);
	free(bytes);
	return good;
}

/* Runs one file; adds to the counts of tests and of failed tests. */
static void run_file(const char *name, unsigned int *count, unsigned int *failed)
{
	json_t *document = json_load_file(name, 0, NULL), *group, *test;
	size_t i, k;

	assert_non_null(document);
	json_array_foreach(json_object_get(document, "groups"), i, group) {
		json_array_foreach(json_object_get(group, "tests"), k, test) {
			*count += 1;
			if (strcmp(json_string_value(json_object_get(test, "kind")), "decode") == 0 &&
			    !decode_matches(test))
				*failed += 1;
		}
	}
	json_decref(document);
}

/* Kinds other than "decode" have no JSON form in the library; the flat file tests all kinds. */
TEST(the_json_vectors_pass)
{
	unsigned int count = 0, failed = 0;
	glob_t files;
	size_t i;

	assert_int_equal(glob(VECTORS "*.json", 0, NULL, &files), 0);
	for (i = 0; i < files.gl_pathc; i++) {
		if (strstr(files.gl_pathv[i], "/schema.json") == NULL)
			run_file(files.gl_pathv[i], &count, &failed);
	}
	globfree(&files);
	assert_int_equal(failed, 0);
	assert_int_equal(count, flat_lines(false));
}

/* The comparison works: a vector with one changed digit, anywhere in it, does not pass. */
TEST(a_changed_vector_fails)
{
	static const char line[] =
		"id\tdecode\t-\t911be90b1200d0043000000000000000010aa8c000000500f6e5d4c3b2a10500"
		"020aa8c000000500ffeeddccbbaa0500\t-\tvalid\tbyte_order=0,ibm_version=12,ibm_type=d0,ibm_"
		"credits=4,"
		"ibm_nob=30,cksum_flavour=0,ibm_srcnid=50000c0a80a01,ibm_srcstamp=5a1b2c3d4e5f6,"
		"ibm_dstnid=50000c0a80a02,ibm_dststamp=5aabbccddeeff\t-";
	FILE *nowhere = fopen("/dev/null", "w");
	char copy[sizeof(line)];
	size_t i;

	assert_non_null(nowhere);
	memcpy(copy, line, sizeof(line));
	assert_true(vector_run(copy, stderr));
	for (i = strcspn(line, "9"); i < sizeof(line) - 3; i++) {
		if (strchr("0123456789", line[i]) == NULL)
			continue;
		memcpy(copy, line, sizeof(line));
		copy[i] = line[i] == '9' ? '8' : (char)(line[i] + 1);
		assert_false(vector_run(copy, nowhere));
	}
	fclose(nowhere);
}
