/* SPDX-License-Identifier: MIT */
#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/hex.h"
#include "base/json.h"
#include "base/json_read.h"
#include "forms/msg_json.h"
#include "props/check/check_internal.h"
#include "props/check/check_since.h"
#include "props/engine/case_file.h"
#include "props/scenario/scenario_io.h"

/* Committed cases: vectors, recorded messages, corpora of the fuzz targets, scenarios (docs/oracle.md,
 * "What is asked"). */

/* --- one case --- */

/* Ask to encode the message too, if it decodes.  options: those of the encoder.  edits: NULL: none. */
static void add_encode(struct o2_check_run *run, const struct o2_case_msg_decode *decode,
		       const struct o2_wire_options *options, const json_t *edits, const char *origin)
{
	struct o2_check_item *item = o2_check_next(run);
	struct o2_case_msg_encode *encode = &item->asked.msg_encode;
	struct o2_msg *msg = &encode->msg;

	if (o2_msg_decode(decode->bytes, decode->length_bytes, &decode->options, msg, NULL) != 0)
		return;
	item->asked.stage = O2_STAGE_MSG_ENCODE;
	encode->options = *options;
	encode->capacity_bytes = O2_MSG_BYTES;
	memset(encode->payload, 0, sizeof(encode->payload));
	if (msg->ibm_type == O2_MSG_IMMEDIATE) {
		memcpy(encode->payload, msg->u.immediate.payload, msg->u.immediate.hdr.payload_length);
		msg->u.immediate.payload = encode->payload;
	}
	if (!o2_check_edit(encode, edits))
		return;
	snprintf(item->origin, sizeof(item->origin), "%s", origin);
	o2_check_add(run);
}

static void add_message(struct o2_check_run *run, const uint8_t *bytes, size_t length_bytes,
			const struct o2_wire_options *options, const char *origin)
{
	static struct o2_case_msg_decode decode;
	struct o2_check_item *item = o2_check_next(run);

	if (!o2_case_of_bytes(bytes, length_bytes, &item->asked))
		return;
	if (options != NULL)
		item->asked.msg_decode.options = *options;
	decode = item->asked.msg_decode;
	item->nchoices = (uint32_t)o2_choices_of_decode(&decode, item->choices);
	snprintf(item->origin, sizeof(item->origin), "%s", origin);
	o2_check_add(run);
	add_encode(run, &decode, &decode.options, NULL, origin);
}

/* prefix: value of the draw that selects a kind within the stage; -1: none. */
static void add_choices(struct o2_check_run *run, enum o2_stage stage, int prefix, const uint8_t *bytes,
			size_t length_bytes, const char *origin)
{
	struct o2_check_item *item = o2_check_next(run);
	uint32_t n = 0;

	if (length_bytes >= sizeof(item->choices))
		return;
	if (prefix >= 0)
		item->choices[n++] = (uint8_t)prefix;
	memcpy(item->choices + n, bytes, length_bytes);
	n += (uint32_t)length_bytes;
	o2_choice_replay(run->choice, item->choices, n);
	o2_draw_case(run->choice, stage, &item->asked, &item->scenario);
	if (!o2_choice_ok(run->choice))
		return;
	item->nchoices = n;
	item->has_scenario = stage == O2_STAGE_TRANSFER;
	snprintf(item->origin, sizeof(item->origin), "%s", origin);
	o2_check_add(run);
}

/* Read a committed file.  NULL: run->why says what is wrong. */
static json_t *load(struct o2_check_run *run, const char *path)
{
	json_error_t where;
	json_t *object = o2_json_read_file(path, 0, &where);

	if (object == NULL)
		(void)o2_json_where(&where, run->why, sizeof(run->why));
	return object;
}

static int add_scenario(struct o2_check_run *run, const json_t *object, const char *origin,
			struct o2_error *error)
{
	struct o2_check_item *item = o2_check_next(run);
	int rc = o2_scenario_from_json(object, &item->scenario, error);

	if (rc != 0)
		return rc;
	if (!o2_case_of_scenario(&item->scenario, &item->asked))
		return 0;
	item->has_scenario = true;
	snprintf(item->origin, sizeof(item->origin), "%s", origin);
	o2_check_add(run);
	return 0;
}

/* --- vectors --- */

/* A vector is an input of msg_decode under other names; one of kind encode decodes it without options. */
static void add_vector(struct o2_check_run *run, const json_t *vector)
{
	struct o2_wire_options options;
	struct o2_wire_bytes bytes;
	const char *kind = json_string_value(json_object_get(vector, "kind"));
	const char *id = json_string_value(json_object_get(vector, "id"));
	const bool encodes = kind != NULL && strcmp(kind, "encode") == 0;
	char origin[O2_CHECK_ORIGIN_BYTES];
	static struct o2_case decoded;
	json_t *input;

	if (kind == NULL || id == NULL || (!encodes && strcmp(kind, "decode") != 0))
		return;
	input = json_pack("{s:s, s:i, s:O?, s:O*}", "form", O2_MSG_DECODE_INPUT_FORM, "version",
			  (int)O2_JSON_VERSION, "bytes", json_object_get(vector, "bytes"), "options",
			  json_object_get(vector, "options"));
	if (o2_msg_decode_input_from_json(input, &bytes, &options, NULL) == 0 &&
	    (options.max_frags == O2_MAX_FRAGS || options.max_frags == O2_MAX_FRAGS_LEGACY)) {
		snprintf(origin, sizeof(origin), "vector %.200s", id);
		if (!encodes)
			add_message(run, bytes.bytes, bytes.length_bytes, &options, origin);
		else if (o2_case_of_bytes(bytes.bytes, bytes.length_bytes, &decoded))
			add_encode(run, &decoded.msg_decode, &options, json_object_get(vector, "edits"),
				   origin);
	}
	json_decref(input);
}

static int vector_file(struct o2_check_run *run, const char *path)
{
	json_t *object = load(run, path);
	const json_t *group, *vector;
	size_t i, k;

	if (object == NULL)
		return -EINVAL;
	json_array_foreach(json_object_get(object, "groups"), i, group)
		json_array_foreach(json_object_get(group, "tests"), k, vector)
			add_vector(run, vector);
	json_decref(object);
	return 0;
}

/* --- vectors of stages --- */

static int stage_file(struct o2_check_run *run, const char *path)
{
	json_t *object = load(run, path);
	struct o2_error error;
	const json_t *test;
	size_t i;
	int rc = object == NULL ? -EINVAL : 0;

	json_array_foreach(json_object_get(object, "tests"), i, test) {
		struct o2_check_item *item = o2_check_next(run);
		const char *id = json_string_value(json_object_get(test, "id"));

		rc = o2_case_from_json(json_object_get(test, "question"), &item->asked, &error);
		if (rc != 0) {
			o2_error_text(&error, run->why, sizeof(run->why));
			break;
		}
		snprintf(item->origin, sizeof(item->origin), "vector %.200s", id == NULL ? "" : id);
		if (!run->subject->host->absent[item->asked.stage])
			o2_check_add(run);
	}
	json_decref(object);
	return rc;
}

/* --- files --- */

static int scenario_file(struct o2_check_run *run, const char *path)
{
	struct o2_error error = {0};
	json_t *object = load(run, path);
	int rc = object == NULL ? -EINVAL : add_scenario(run, object, path, &error);

	if (object != NULL && rc != 0)
		o2_error_text(&error, run->why, sizeof(run->why));
	json_decref(object);
	return rc;
}

static int with_bytes(struct o2_check_run *run, const char *path, enum o2_stage stage, int prefix)
{
	uint8_t *bytes = malloc(O2_CHOICE_MAX_BYTES);
	size_t length;
	int rc = bytes == NULL ? -ENOMEM : o2_case_read(path, bytes, &length);

	if (rc == 0 && stage == O2_STAGE_MSG_DECODE)
		add_message(run, bytes, length, NULL, path);
	else if (rc == 0)
		add_choices(run, stage, prefix, bytes, length, path);
	free(bytes);
	/* Skip a file that is longer than a case can be. */
	return rc == -EFBIG ? 0 : rc;
}

static int message_file(struct o2_check_run *run, const char *path)
{
	/* Reject records are not messages. */
	return strstr(path, "_REJ") != NULL ? 0 : with_bytes(run, path, O2_STAGE_MSG_DECODE, -1);
}

/* clang-format off */
/* The corpus of a fuzz target; its folders all have the same kind of files. */
#define FUZZED(target, ...) \
	{target "/seed", NULL, __VA_ARGS__}, \
	{target "/found", NULL, __VA_ARGS__}, \
	{target "/regress", NULL, __VA_ARGS__}

static const struct {
	const char *folder;
	const char *suffix; /* NULL: all files */
	int (*add)(struct o2_check_run *run, const char *path); /* NULL: the bytes are choices */
	enum o2_stage stage;
	int prefix; /* as for add_choices */
} folders[] = {
	{"vectors", ".json", vector_file, O2_STAGE_MSG_DECODE, 0},
	{"captures", ".bin", message_file, O2_STAGE_MSG_DECODE, 0},
	FUZZED("msg_decode", message_file, O2_STAGE_MSG_DECODE, 0),
	FUZZED("msg_roundtrip", message_file, O2_STAGE_MSG_DECODE, 0),
	FUZZED("sg_kiov", NULL, O2_STAGE_SG_BUILD, 0),
	FUZZED("sg_iov", NULL, O2_STAGE_SG_BUILD, O2_DRAW_SG_KIOV_WEIGHT),
	FUZZED("rdma_plan", NULL, O2_STAGE_RDMA_PLAN, -1),
	{"transfer/scenario", ".json", scenario_file, O2_STAGE_TRANSFER, 0},
	FUZZED("transfer", NULL, O2_STAGE_TRANSFER, -1),
	/* These come last: by then a program has announced which of these stages it has. */
	{"stages", ".json", stage_file, 0, 0},
};
/* clang-format on */

/* Is a stage asked that the folder has questions for?  Files read by stage_file may be for any stage. */
static bool is_asked(const struct o2_check_run *run, size_t which)
{
	const bool *stage = run->options->stage;

	return stage[folders[which].stage] || folders[which].add == stage_file ||
	       (folders[which].stage == O2_STAGE_MSG_DECODE && stage[O2_STAGE_MSG_ENCODE]);
}

static bool ends_with(const char *name, const char *suffix)
{
	const size_t n = strlen(name);
	const size_t s = suffix == NULL ? 0 : strlen(suffix);

	return n >= s && strcmp(name + n - s, suffix == NULL ? "" : suffix) == 0;
}

/* Is a file of this name in that folder read? */
static bool is_case(size_t which, const char *name)
{
	return name[0] != '.' && ends_with(name, folders[which].suffix) && strcmp(name, "schema.json") != 0;
}

bool o2_check_corpus_reads(const char *directory, const char *path)
{
	const char *slash = strrchr(path, '/'), *name = slash == NULL ? path : slash + 1;
	char read[PATH_MAX];
	struct stat is, other;

	for (size_t i = 0; i < sizeof(folders) / sizeof(folders[0]) && stat(path, &is) == 0; i++) {
		snprintf(read, sizeof(read), "%s/%s/%s", directory, folders[i].folder, name);
		if (is_case(i, name) && stat(read, &other) == 0 && is.st_dev == other.st_dev &&
		    is.st_ino == other.st_ino)
			return true;
	}
	return false;
}

/* Ask the cases of a folder, sorted by name.  A missing folder has none.  Returns 0, or -errno with *text. */
static int add_folder(struct o2_check_run *run, const char *directory, size_t which, char *text,
		      size_t text_bytes)
{
	char path[PATH_MAX];
	struct dirent **entry;
	struct stat status;
	int rc = 0;
	int n;

	snprintf(path, sizeof(path), "%s/%s", directory, folders[which].folder);
	n = scandir(path, &entry, NULL, alphasort);
	if (n < 0)
		return 0;
	for (int i = 0; i < n; i++) {
		const char *name = entry[i]->d_name;

		snprintf(path, sizeof(path), "%s/%s/%s", directory, folders[which].folder, name);
		if (rc == 0 && is_case(which, name) && stat(path, &status) == 0 && S_ISREG(status.st_mode)) {
			rc = folders[which].add != NULL
				     ? folders[which].add(run, path)
				     : with_bytes(run, path, folders[which].stage, folders[which].prefix);
			if (rc != 0)
				snprintf(text, text_bytes, "%s: %s", path,
					 run->why[0] != '\0' ? run->why : strerror(-rc));
		}
		free(entry[i]);
	}
	free(entry);
	return rc;
}

int o2_check_corpus(struct o2_check_run *run, const char *directory, char *text, size_t text_bytes)
{
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < sizeof(folders) / sizeof(folders[0]); i++)
		rc = is_asked(run, i) ? add_folder(run, directory, i, text, text_bytes) : 0;
	return rc != 0 ? rc : run->rc;
}

/* --- one case, in a file or spelled out --- */

static int add_form(struct o2_check_run *run, const json_t *object, const char *origin,
		    struct o2_error *error)
{
	const char *form = json_string_value(json_object_get(object, "form"));
	struct o2_check_item *item;
	int rc;

	if (form != NULL && strcmp(form, "o2ref/scenario") == 0)
		return add_scenario(run, object, origin, error);
	item = o2_check_next(run);
	rc = o2_case_from_json(object, &item->asked, error);
	snprintf(item->origin, sizeof(item->origin), "%s", origin);
	if (rc == 0)
		o2_check_add(run);
	return rc;
}

int o2_check_file(struct o2_check_run *run, const char *path, char *text, size_t text_bytes)
{
	const bool spelled_out = path[0] == '{';
	const char *origin = spelled_out ? "the command line" : path;
	struct o2_error error = {0};
	struct stat status;
	json_error_t where;
	json_t *object;
	char words[160];
	int rc;

	if (!spelled_out && !ends_with(path, ".json")) {
		if (stat(path, &status) == 0 && S_ISREG(status.st_mode) &&
		    status.st_size > (off_t)O2_CASE_MSG_BYTES) {
			snprintf(text, text_bytes,
				 "%s: %lld bytes, a message that can be asked has %u at most", path,
				 (long long)status.st_size, (unsigned int)O2_CASE_MSG_BYTES);
			return -EFBIG;
		}
		rc = with_bytes(run, path, O2_STAGE_MSG_DECODE, -1);
		if (rc != 0)
			snprintf(text, text_bytes, "%s: %s", path, strerror(-rc));
		return rc;
	}
	object = spelled_out ? o2_json_read(path, strlen(path), JSON_REJECT_DUPLICATES, &where)
			     : o2_json_read_file(path, JSON_REJECT_DUPLICATES, &where);
	if (object == NULL) {
		snprintf(text, text_bytes, "%s: %s", origin, o2_json_where(&where, words, sizeof(words)));
		return -EINVAL;
	}
	rc = add_form(run, object, origin, &error);
	if (rc != 0) {
		o2_error_text(&error, words, sizeof(words));
		snprintf(text, text_bytes, "%s: %s", origin, words);
	}
	json_decref(object);
	return rc;
}

/* --- an earlier result --- */

void o2_check_again(struct o2_check_run *run)
{
	const json_t *finding;
	size_t i;

	json_array_foreach(o2_check_since_findings(run->options->since, run->subject->place), i, finding) {
		struct o2_check_item *item = o2_check_next(run);
		struct o2_error error;

		/* A question without a JSON form was kept as null. */
		if (o2_case_from_json(json_object_get(finding, "question"), &item->asked, &error) != 0)
			continue;
		snprintf(item->origin, sizeof(item->origin), "finding %zu of the earlier result", i + 1);
		o2_check_add(run);
	}
}

/* --- choices --- */

char *o2_check_hex(const uint8_t *bytes, size_t length_bytes)
{
	char *text = malloc(2 * length_bytes + 1);

	if (text != NULL)
		o2_hex_put(bytes, length_bytes, text);
	return text;
}

int o2_check_choices(struct o2_check_run *run, const char *words, char *text, size_t text_bytes)
{
	static uint8_t bytes[O2_CHOICE_MAX_BYTES];
	const char *colon = strchr(words, ':');
	char name[32];
	enum o2_stage stage;
	size_t digits, n = 0;

	snprintf(name, sizeof(name), "%.*s", colon == NULL ? 0 : (int)(colon - words), words);
	if (colon == NULL || !o2_stage_from_name(name, &stage)) {
		snprintf(text, text_bytes, "--choices: '%.40s' is not STAGE:DIGITS", words);
		return -EINVAL;
	}
	digits = strlen(colon + 1);
	if (digits / 2 >= sizeof(bytes)) {
		snprintf(text, text_bytes, "--choices: %zu hexadecimal digits, the most are %zu", digits,
			 2 * (sizeof(bytes) - 1));
		return -EINVAL;
	}
	for (const char *c = colon + 1; *c != '\0'; c += 2) {
		const int high = o2_hex_digit(c[0]);
		const int low = high < 0 ? -1 : o2_hex_digit(c[1]);

		if (low < 0) {
			snprintf(text, text_bytes,
				 "--choices: '%.40s' are not hexadecimal digits, two a byte", c);
			return -EINVAL;
		}
		bytes[n++] = (uint8_t)(high << 4 | low);
	}
	add_choices(run, stage, -1, bytes, n, "the command line");
	return 0;
}
