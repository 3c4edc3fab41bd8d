/* SPDX-License-Identifier: MIT */
/* Scenarios as JSON and in words (docs/properties.md, "Scenarios"), and the named ones in corpus/. */

#include <dirent.h>

#include "props/scenario/predict.h"
#include "props/scenario/scenario_io.h"
#include "tests/lib/unit_test.h"

#define SEED	   UINT64_C(0x6a736f6e)
#define CORPUS_DIR O2_CORPUS_DIR "/transfer/scenario"

/* Returns the text of a scenario's JSON; the caller frees it. */
static char *dump(const struct o2_scenario *scenario)
{
	json_t *object = o2_scenario_to_json(scenario);
	char *text;

	assert_non_null(object);
	text = json_dumps(object, JSON_COMPACT);
	json_decref(object);
	assert_non_null(text);
	return text;
}

/* --- round trip --- */

/* Compares the members that have a meaning: a KIOV has no view, and pieces after the last are unused. */
#define SAME(member) assert_int_equal(a->member, b->member)

static void assert_side_equal(const struct o2_scenario_side *a, const struct o2_scenario_side *b)
{
	SAME(mode);
	SAME(kind);
	SAME(vector);
	SAME(count);
	SAME(offset_bytes);
	SAME(nob);
	SAME(bounce);
	SAME(has_unmapped);
	if (a->has_unmapped)
		SAME(unmapped_page);
	if (a->vector == O2_IOV) {
		SAME(view);
		assert_memory_equal(a->iov, b->iov, a->count * sizeof(a->iov[0]));
	} else {
		assert_memory_equal(a->kiov, b->kiov, a->count * sizeof(a->kiov[0]));
	}
}

static void assert_scenario_equal(const struct o2_scenario *a, const struct o2_scenario *b)
{
	SAME(op);
	SAME(max_frags);
	SAME(wrq_sge);
	SAME(order);
	SAME(cksum_flavour);
	SAME(pattern_seed);
	SAME(stale_key);
	assert_side_equal(&a->source, &b->source);
	assert_side_equal(&a->sink, &b->sink);
}

TEST(test_round_trip)
{
	static struct o2_choice choice;
	static struct o2_scenario drawn, read;
	static const struct o2_scenario_space all = O2_SCENARIO_SPACE_ALL;
	const uint64_t seed = tests_seed(SEED);

	print_message("replay: O2_TEST_SEED=0x%llx test_scenario_io\n", (unsigned long long)seed);
	for (uint64_t i = 0; i < 1000; i++) {
		struct o2_error error = {0};
		char text[256];
		char *first, *second;
		json_t *object;

		o2_choice_random(&choice, seed, i);
		o2_scenario_draw(&choice, &all, &drawn);
		/* Set values that the generator rarely draws. */
		if (i % 3 == 0)
			drawn.pattern_seed = UINT64_MAX - i;
		first = dump(&drawn);
		object = json_loads(first, JSON_REJECT_DUPLICATES, NULL);
		assert_non_null(object);
		if (o2_scenario_from_json(object, &read, &error) != 0) {
			o2_error_text(&error, text, sizeof(text));
			fail_msg("scenario %u: %s", (unsigned int)i, text);
		}
		assert_scenario_equal(&drawn, &read);
		second = dump(&read);
		assert_string_equal(first, second);
		json_decref(object);
		free(first);
		free(second);
	}
}

/* --- refusals --- */

/* A small scenario with every member: KIOV -> IOV, and a page without a mapping on either side. */
static json_t *sample(void)
{
	static const char text[] =
		"{'form': 'o2ref/scenario', 'version': 1, 'op': 'put', 'max_frags': 257, 'wrq_sge': 2, "
		"'order': 'big-endian', 'cksum_flavour': 'signed', 'pattern_seed': '0xfedcba9876543210', "
		"'source': {'mode': 'fmr', 'kind': 'bus', 'vector': 'kiov', 'offset_bytes': 12, 'nob': 500,  "
		" 'unmapped_page': 9, 'pieces': [{'page': 3, 'offset': 96, 'len': 412},     {'page': 3, "
		"'offset': 0, 'len': 100}]}, 'sink': {'mode': 'fastreg', 'kind': 'virtual', 'vector': 'iov', "
		"'view': 2, 'offset_bytes': 0,   'nob': 9000, 'unmapped_page': 0, 'pieces': [{'base': 4095, "
		"'len': 9000},     {'base': 13095, 'len': 1}]}}";
	char quoted[sizeof(text)];
	json_t *object;

	for (size_t i = 0; i < sizeof(text); i++)
		quoted[i] = text[i] == '\'' ? '"' : text[i];
	object = json_loads(quoted, JSON_REJECT_DUPLICATES, NULL);
	assert_non_null(object);
	return object;
}

/* Returns the object or array at a path such as "sink.pieces.1"; an empty path is the whole. */
static json_t *at_path(json_t *whole, const char *path)
{
	char copy[64];
	char *rest = copy;
	char *name;

	snprintf(copy, sizeof(copy), "%s", path);
	while (whole != NULL && (name = strsep(&rest, ".")) != NULL && *name != '\0')
		whole = json_is_array(whole) ? json_array_get(whole, (size_t)atoi(name))
					     : json_object_get(whole, name);
	return whole;
}

static const struct {
	const char *path;  /* path of the changed object */
	const char *name;  /* name of the changed member */
	const char *value; /* new value as JSON; NULL: remove the member */
	const char *field; /* field that the refusal must name; NULL: accepted */
	uint32_t index;
	uint64_t found, limit;
} edits[] = {
#define NO O2_NO_INDEX
	{"", "form", "\"o2ref/scenarios\"", "form", NO, 0, O2_NO_LIMIT},
	{"", "version", "2", "version", NO, 2, 1},
	{"", "op", "\"reply\"", "op", NO, 0, O2_NO_LIMIT},
	{"", "max_frags", "257", NULL, NO, 0, 0},
	{"", "max_frags", "258", "max_frags", NO, 258, 257},
	{"", "max_frags", "1", NULL, NO, 0, 0},
	{"", "max_frags", "0", "max_frags", NO, 0, 1},
	{"", "wrq_sge", "32", NULL, NO, 0, 0},
	{"", "wrq_sge", "33", "wrq_sge", NO, 33, 32},
	{"", "wrq_sge", "0", "wrq_sge", NO, 0, 1},
	{"", "pattern_seed", "\"0x10000000000000000\"", "pattern_seed", NO, 17, 16},
	{"", "pattern_seed", "1", "pattern_seed", NO, 0, O2_NO_LIMIT},
	{"", "sauce", "1", "members of the scenario", NO, 11, 10},
	{"", "source", "[]", "source", NO, 0, O2_NO_LIMIT},
	{"", "sink", NULL, "sink", NO, 0, O2_NO_LIMIT},
	{"source", "mode", "\"physical\"", "source.mode", NO, 0, O2_NO_LIMIT},
	{"sink", "kind", "\"nommu\"", "sink.kind", NO, 0, O2_NO_LIMIT},
	{"sink", "view", "3", NULL, NO, 0, 0},
	{"sink", "view", "4", "sink.view", NO, 4, 3},
	{"source", "view", "0", "members of source", NO, 8, 7},
	{"sink", "unmapped_page", NULL, NULL, NO, 0, 0},
	{"sink", "unmapped_page", "786", NULL, NO, 0, 0},
	{"sink", "unmapped_page", "787", "sink.unmapped_page", NO, 787, 786},
	{"source", "nob", "0", "source.nob", NO, 0, 1},
	{"source", "nob", "501", "source.pieces", NO, 512, 513},
	{"source", "offset_bytes", "13", "source.pieces", NO, 512, 513},
	{"sink", "nob", "9001", NULL, NO, 0, 0},
	{"sink", "nob", "9002", "sink.pieces", NO, 9001, 9002},
	{"sink", "nob", "1048577", "sink.nob", NO, 1048577, 1048576},
	{"sink", "offset_bytes", "-1", "sink.offset_bytes", NO, UINT64_MAX, 0},
	{"sink", "pieces", "[]", "sink.pieces", NO, 0, 9000},
	{"source.pieces.1", "page", "787", "source.pieces[].page", 1, 787, 786},
	{"source.pieces.0", "page", "786", NULL, NO, 0, 0},
	{"source.pieces.1", "offset", "4097", "source.pieces[].offset", 1, 4097, 4096},
	{"source.pieces.0", "len", "4000", NULL, NO, 0, 0},
	{"source.pieces.0", "len", "4001", "source.pieces[].len", 0, 4001, 4000},
	{"source.pieces.0", "base", "0", "members of source.pieces[]", 0, 4, 3},
	{"source.pieces.1", "offset", "96", NULL, NO, 0, 0}, /* a source may name bytes twice */
	{"sink.pieces.0", "base", "3223553", "sink.pieces[].base", 0, 3223553, 3223552},
	{"sink.pieces.1", "base", "3223551", NULL, NO, 0, 0},
	{"sink.pieces.1", "base", "3223552", "sink.pieces[].len", 1, 1, 0},
	{"sink.pieces.1", "base", "13094", "sink.pieces[]", 1, 13094, 4095},
	{"sink.pieces.1", "base", "4094", NULL, NO, 0, 0},
	{"sink.pieces.1", "base", "4095", "sink.pieces[]", 1, 4095, 4095},
	{"sink.pieces.1", "page", "1", "members of sink.pieces[]", 1, 3, 2},
#undef NO
};

TEST(test_refusals)
{
	static struct o2_scenario scenario;

	for (size_t i = 0; i < sizeof(edits) / sizeof(edits[0]); i++) {
		json_t *whole = sample();
		json_t *object = at_path(whole, edits[i].path);
		struct o2_error error = {0};
		int rc;

		print_message("%s %s: %s\n", edits[i].path, edits[i].name,
			      edits[i].value == NULL ? "(none)" : edits[i].value);
		if (edits[i].value == NULL)
			assert_int_equal(json_object_del(object, edits[i].name), 0);
		else
			assert_int_equal(
				json_object_set_new(object, edits[i].name,
						    json_loads(edits[i].value, JSON_DECODE_ANY, NULL)),
				0);
		rc = o2_scenario_from_json(whole, &scenario, &error);
		if (edits[i].field == NULL) {
			assert_int_equal(rc, 0);
		} else {
			assert_int_equal(rc, -EINVAL);
			assert_int_equal(error.code, -EINVAL);
			assert_string_equal(error.field, edits[i].field);
			assert_int_equal(error.index, edits[i].index);
			assert_int_equal(error.value, edits[i].found);
			assert_int_equal(error.limit, edits[i].limit);
			/* The error record may be NULL. */
			assert_int_equal(o2_scenario_from_json(whole, &scenario, NULL), -EINVAL);
		}
		json_decref(whole);
	}
}

/* At most 272 pieces, and each must be an object. */
TEST(test_piece_count)
{
	static struct o2_scenario scenario;
	struct o2_error error = {0};
	json_t *whole = sample();
	json_t *pieces = at_path(whole, "sink.pieces");

	while (json_array_size(pieces) < O2_SCENARIO_PIECES)
		json_array_append_new(pieces, json_pack("{s:i, s:i}", "base", 0, "len", 0));
	assert_int_equal(o2_scenario_from_json(whole, &scenario, &error), 0);
	assert_int_equal(scenario.sink.count, O2_SCENARIO_PIECES);
	json_array_append_new(pieces, json_pack("{s:i, s:i}", "base", 0, "len", 0));
	assert_error_field(o2_scenario_from_json(whole, &scenario, &error), -EINVAL, &error, "sink.pieces");
	assert_int_equal(error.value, O2_SCENARIO_PIECES + 1);
	json_array_remove(pieces, O2_SCENARIO_PIECES);
	json_array_set_new(pieces, 5, json_integer(5));
	assert_error_field(o2_scenario_from_json(whole, &scenario, &error), -EINVAL, &error, "sink.pieces[]");
	assert_int_equal(error.index, 5);
	json_decref(whole);
}

/* Pieces of whole pages, of which the last is one page too many. */
TEST(test_extent_count)
{
	static struct o2_scenario scenario;
	struct o2_error error = {0};
	json_t *whole = sample();
	json_t *pieces = at_path(whole, "source.pieces");
	struct o2_extent extent[O2_SCENARIO_EXTENTS];
	json_t *last;

	json_object_set_new(at_path(whole, "source"), "vector", json_string("iov"));
	json_object_set_new(at_path(whole, "source"), "view", json_integer(0));
	json_array_clear(pieces);
	for (int i = 0; i < 2; i++) {
		last = json_pack("{s:i, s:i}", "base", 0, "len",
				 O2_SCENARIO_EXTENTS / 2 * O2_SCENARIO_PAGE_BYTES);
		json_array_append_new(pieces, last);
	}
	assert_int_equal(o2_scenario_from_json(whole, &scenario, &error), 0);
	assert_int_equal(o2_scenario_extents(&scenario.source, NULL, 0,
					     (uint64_t)O2_SCENARIO_EXTENTS * O2_SCENARIO_PAGE_BYTES, extent,
					     O2_SCENARIO_EXTENTS),
			 O2_SCENARIO_EXTENTS);
	json_object_set_new(last, "base", json_integer(1));
	assert_error_field(o2_scenario_from_json(whole, &scenario, &error), -EINVAL, &error, "source.pieces");
	assert_string_equal(error.rule, "scenario/too-many-extents");
	assert_int_equal(error.value, O2_SCENARIO_EXTENTS + 1);
	assert_int_equal(error.limit, O2_SCENARIO_EXTENTS);
	json_decref(whole);
}

/* Replaces each value below `value`, one at a time, by one that no member may have: it is always refused. */
static uint32_t refuse_all(json_t *whole, json_t *value)
{
	static const char *const wrong[] = {"null",  "[7]",   "{\"x\": 1}", "-1",
					    "\"?\"", "1e300", "true",	    "9223372036854775807"};
	static struct o2_scenario scenario;
	uint32_t tried = 0;
	const char *name;
	json_t *member;
	void *next;

	json_object_foreach_safe(value, next, name, member) {
		json_t *kept = json_incref(member);

		for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++, tried++) {
			struct o2_error error = {0};

			json_object_set_new(value, name, json_loads(wrong[i], JSON_DECODE_ANY, NULL));
			assert_int_equal(o2_scenario_from_json(whole, &scenario, &error), -EINVAL);
			assert_non_null(strstr(error.field, name));
		}
		json_object_set_new(value, name, kept);
		tried += json_is_object(kept) ? refuse_all(whole, kept) : 0;
		for (size_t i = 0; i < json_array_size(kept); i++)
			tried += refuse_all(whole, json_array_get(kept, i));
	}
	return tried;
}

TEST(test_wrong_types)
{
	static struct o2_scenario scenario;
	json_t *whole = sample();
	uint32_t tried = refuse_all(whole, whole);
	struct o2_error error = {0};

	print_message("%u wrong members refused\n", tried);
	assert_int_equal(tried, 8 * (10 + 7 + 8 + 2 * 3 + 2 * 2));
	assert_int_equal(o2_scenario_from_json(whole, &scenario, &error), 0);
	json_decref(whole);
	assert_error_field(o2_scenario_from_json(NULL, &scenario, &error), -EINVAL, &error, "form");
}

/* --- in words --- */

static char *words(const struct o2_scenario *scenario, uint32_t max_pieces)
{
	char *text = NULL;
	size_t bytes;
	FILE *out = open_memstream(&text, &bytes);

	assert_non_null(out);
	o2_scenario_print(scenario, max_pieces, out);
	assert_int_equal(fclose(out), 0);
	return text;
}

TEST(test_words)
{
	static struct o2_scenario scenario;
	json_t *whole = sample();
	char *text;

	assert_int_equal(o2_scenario_from_json(whole, &scenario, NULL), 0);
	json_decref(whole);
	scenario.sink.bounce = true;
	text = words(&scenario, 1);
	assert_string_equal(text, "PUT of 500 bytes, fmr -> fastreg, 257 fragments, 2 sge, big-endian, "
				  "checksum of signed bytes\n"
				  "source: KIOV, bus addresses, offset 12, 500 bytes in 2 pieces, gaps\n"
				  "  page 9 has no CPU mapping\n"
				  "  [0] page 3 +96, 412 bytes\n"
				  "  and 1 more\n"
				  "sink: IOV in view 2, virtual addresses, offset 0, 9000 bytes in 2 pieces\n"
				  "  its device bounces\n"
				  "  page 0 has no CPU mapping\n"
				  "  [0] view page 0 +4095, 9000 bytes\n"
				  "  and 1 more\n");
	free(text);
}

/* --- the named scenarios --- */

static const struct {
	const char *name;
	enum o2_verdict verdict;
	int code;
	uint64_t moved;
	uint32_t source_entries, sink_entries;
	bool source_gaps, sink_gaps;
} named[] = {
	{"lu-9983-page-with-a-gap", O2_MOVES, 0, 13824, 4, 4, true, true},
	{"unaligned-1mib-257-pages-fmr", O2_MOVES, 0, 1048576, 257, 257, false, false},
	{"unaligned-1mib-257-pages-fastreg", O2_MOVES, 0, 1048576, 257, 257, false, false},
	{"one-byte", O2_MOVES, 0, 1, 1, 1, false, false},
	{"short-get-open-work-request", O2_MOVES, 0, 5000, 2, 3, false, false},
	{"interior-gap-on-fastreg-refused", O2_REFUSED_PEER, -EPROTONOSUPPORT, 12288, 3, 4, false, true},
	{"reversed-pages", O2_MOVES, 0, 65536, 16, 16, false, false},
	{"shared-page-two-fragments", O2_MOVES, 0, 2000, 2, 2, true, true},
	{"source-page-twice", O2_MOVES, 0, 16384, 4, 4, false, false},
	{"empty-pieces-everywhere", O2_MOVES, 0, 7144, 3, 2, false, false},
	{"iov-over-scattered-view", O2_MOVES, 0, 13001, 7, 4, true, true},
	{"lu-9983-list-as-byte-ranges", O2_MOVES, 0, 13824, 4, 4, true, true},
	{"lu-9983-list-by-staging", O2_MOVES, 0, 13824, 4, 4, true, true},
	{"user-pieces-that-touch-inside-a-page", O2_MOVES, 0, 10000, 4, 4, true, true},
	{"user-two-ranges-refused", O2_REFUSED_LOCAL, -EPROTONOSUPPORT, 4096, 1, 2, false, true},
	{"phys-at-half-of-all-addresses", O2_MOVES, 0, 8097, 3, 3, false, false},
	{"phys-at-the-first-byte", O2_MOVES, 0, 8097, 3, 3, false, false},
	{"phys-gap-refused", O2_REFUSED_LOCAL, -EINVAL, 7996, 2, 2, true, false},
	{"remapped-merged-1mib-fmr", O2_MOVES, 0, 1048576, 257, 257, false, false},
	{"remapped-maps-nothing", O2_REFUSED_PEER, -EIO, 4096, 1, 1, false, false},
	{"stale-key-of-a-region", O2_MOVES, 0, 5000, 2, 3, false, false},
	{"stale-key-of-a-window", O2_MOVES, 0, 5000, 2, 3, false, false},
	{"short-get-bounced-on-both-sides", O2_MOVES, 0, 5000, 2, 3, false, false},
	{"257-fragments-global", O2_MOVES, 0, 58596, 257, 257, true, true},
};

#define NAMED (sizeof(named) / sizeof(named[0]))

static void check_named(size_t i)
{
	static struct o2_scenario scenario;
	struct o2_prediction prediction;
	struct o2_error error = {0};
	json_error_t parse;
	char path[512];
	char *written, *in_file;
	json_t *object;

	snprintf(path, sizeof(path), "%s/%s.json", CORPUS_DIR, named[i].name);
	object = json_load_file(path, JSON_REJECT_DUPLICATES, &parse);
	if (object == NULL)
		fail_msg("%s: %s in line %d", path, parse.text, parse.line);
	if (o2_scenario_from_json(object, &scenario, &error) != 0) {
		o2_error_text(&error, path, sizeof(path));
		fail_msg("%s: %s", named[i].name, path);
	}
	in_file = json_dumps(object, JSON_COMPACT);
	written = dump(&scenario);
	assert_string_equal(in_file, written);
	o2_predict(&scenario, NULL, NULL, NULL, &prediction);
	print_message("%s: %s\n", named[i].name, prediction.reason);
	assert_int_equal(prediction.verdict, named[i].verdict);
	assert_int_equal(prediction.code, named[i].code);
	assert_int_equal(o2_scenario_moved(&scenario), named[i].moved);
	assert_int_equal(prediction.source_entries, named[i].source_entries);
	assert_int_equal(prediction.sink_entries, named[i].sink_entries);
	assert_int_equal(prediction.source_gaps, named[i].source_gaps);
	assert_int_equal(prediction.sink_gaps, named[i].sink_gaps);
	json_decref(object);
	free(in_file);
	free(written);
}

TEST(test_corpus)
{
	DIR *dir = opendir(CORPUS_DIR);
	const struct dirent *entry;
	size_t files = 0;

	assert_non_null(dir);
	while ((entry = readdir(dir)) != NULL)
		files += strstr(entry->d_name, ".json") != NULL;
	closedir(dir);
	/* A file that is not in the table is not checked: report it. */
	assert_int_equal(files, NAMED);
	for (size_t i = 0; i < NAMED; i++)
		check_named(i);
}
