/* SPDX-License-Identifier: MIT */
/* Invalid forms: one valid text per form is changed in one place at a time, and the reader must name it. */
#include <inttypes.h>

#include "base/json.h"
#include "forms/msg_json.h"
#include "tests/unit/oracle/stage_outputs.h"

static int read_sg_input(const json_t *form, struct o2_refused *refused, struct o2_error *error)
{
	struct o2_sg_input input;
	int rc = o2_sg_input_from_json(form, &input, error);

	if (rc == 0)
		o2_sg_input_free(&input);
	return rc;
}

static int read_dma_input(const json_t *form, struct o2_refused *refused, struct o2_error *error)
{
	struct o2_dma_input input;
	int rc = o2_dma_input_from_json(form, &input, error);

	if (rc == 0)
		o2_dma_input_free(&input);
	return rc;
}

static int read_reg_input(const json_t *form, struct o2_refused *refused, struct o2_error *error)
{
	struct o2_reg_request request;
	struct o2_dma_list list;

	return o2_reg_input_from_json(form, &request, &list, error);
}

static int read_rdma_input(const json_t *form, struct o2_refused *refused, struct o2_error *error)
{
	struct o2_rdma_input input;

	return o2_rdma_input_from_json(form, &input, error);
}

static int read_encode_output(const json_t *form, struct o2_refused *refused, struct o2_error *error)
{
	struct o2_wire_bytes bytes;
	struct o2_wire_refused read;
	const int rc = o2_msg_encode_output_from_json(form, &bytes, &read, error);

	*refused = read.refused;
	return rc;
}

/* clang-format off */
static const struct {
	const char *name;
	read_form read;
	const char *text;
} forms[] = {
	{"sg_build/input", read_sg_input,
	 "{'form':'o2ref/sg_build/input','version':1,'max_entries':257,'space':{'page_bytes':4096,'npages':8,'ranges':[{'base':'0x1000','pages':[3,1]},{'base':'0x8000','pages':[7]}]},'buffer':{'kind':'kiov','offset':0,'nob':8,'pieces':[{'page':1,'offset':2,'len':3},{'page':4,'offset':5,'len':6}]}}"},
	{"sg_build/output", read_sg_output,
	 "{'form':'o2ref/sg_build/output','version':1,'list':{'gaps':true,'nob':9,'entries':[{'page':1,'offset':2,'length':3},{'page':4,'offset':5,'length':6}]}}"},
	{"dma_map/input", read_dma_input,
	 "{'form':'o2ref/dma_map/input','version':1,'device':{'kind':'bus','page_bytes':4096,'npages':8,'base':'0x10000','unmapped':[0,7]},'list':{'gaps':true,'nob':9,'entries':[{'page':1,'offset':2,'length':9}]}}"},
	{"dma_map/output", read_dma_output,
	 "{'form':'o2ref/dma_map/output','version':1,'list':{'nob':9,'segments':[{'addr':'0x1000','length':4},{'addr':'0x2000','length':5}]}}"},
	{"reg_plan/input", read_reg_input,
	 "{'form':'o2ref/reg_plan/input','version':1,'request':{'mode':'fmr','side':'sink','page_bytes':4096,'max_pages':257,'peer_max_frags':256,'gaps':false},'list':{'nob':4,'segments':[{'addr':'0x1000','length':4}]}}"},
	{"reg_plan/output", read_reg_output,
	 "{'form':'o2ref/reg_plan/output','version':1,'plan':{'mode':'fmr','side':'sink','page_bytes':4096,'local_write':true,'remote_write':false,'iova':'0x0','length':4,'page_offset':0,'pages':['0x1000','0x2000'],'frags':[{'rf_nob':4,'rf_addr':'0x0'}]}}"},
	{"rdma_plan/input", read_rdma_input,
	 "{'form':'o2ref/rdma_plan/input','version':1,'nob':4,'limits':{'max_wrs':257,'wrq_sge':2},'source':{'rd_key':'0x1','rd_frags':[{'rf_nob':4,'rf_addr':'0x0'}]},'sink':{'rd_key':'0x2','rd_frags':[{'rf_nob':4,'rf_addr':'0x9'},{'rf_nob':5,'rf_addr':'0x8'}]}}"},
	{"rdma_plan/output", read_rdma_output,
	 "{'form':'o2ref/rdma_plan/output','version':1,'plan':{'lkey':'0x1','rkey':'0x2','nob':4,'wr':[{'remote_addr':'0x9','length':4,'first_sge':0,'num_sge':2}],'sge':[{'addr':'0x0','length':3},{'addr':'0x5','length':1}]}}"},
	{"refused", read_dma_output,
	 "{'form':'o2ref/dma_map/output','version':1,'refused':{'errno':'EINVAL','rule':'dma/count','field':'count','value':0,'limit':257,'index':3}}"},
	{"msg_encode/output", read_encode_output, "{'form':'o2ref/msg_encode/output','version':1,'bytes':'be0d'}"},
};
/* clang-format on */

#define FORMS (sizeof(forms) / sizeof(forms[0]))

static json_t *load(const char *text)
{
	size_t length = strlen(text);
	char *copy = malloc(length + 1);
	json_t *form;

	assert_non_null(copy);
	for (size_t i = 0; i <= length; i++)
		copy[i] = text[i] == '\'' ? '"' : text[i];
	form = json_loads(copy, 0, NULL);
	free(copy);
	assert_non_null(form);
	return form;
}

/* --- one thing wrong at a time --- */

/* A value inside a form: a member of an object, or an element of an array (key NULL). */
struct target {
	json_t *parent;
	const char *key;
	size_t index;
	json_t *value;
};

/* Finds value number *left in a walk over the whole form; false if there are fewer. */
static bool find(json_t *node, uint32_t *left, struct target *target)
{
	const char *key;
	json_t *value;
	size_t index;

	json_object_foreach(node, key, value) {
		*target = (struct target){node, key, 0, value};
		if ((*left)-- == 0 || find(value, left, target))
			return true;
	}
	json_array_foreach(node, index, value) {
		*target = (struct target){node, NULL, index, value};
		if ((*left)-- == 0 || find(value, left, target))
			return true;
	}
	return false;
}

#define CHANGES 7u

/* Applies change number `change`; false if the result is still valid, or the change does not apply. */
static bool make_change(const struct target *target, uint32_t change)
{
	static const char *const texts[] = {"rule", "field"};
	json_t *value = NULL;

	switch (change) {
	case 0: /* remove it: only a refusal's index and limit are optional */
		return target->key != NULL && strcmp(target->key, "index") != 0 &&
		       strcmp(target->key, "limit") != 0 && json_object_del(target->parent, target->key) == 0;
	case 1:
		value = json_null();
		break;
	case 2:
		value = json_real(1.5);
		break;
	case 3:
		for (uint32_t i = 0; target->key != NULL && i < 2; i++) {
			if (strcmp(target->key, texts[i]) == 0)
				return false;
		}
		value = json_string("x");
		break;
	case 4:
		value = json_integer(-1);
		break;
	case 5:
		if (json_is_array(target->value))
			return false;
		value = json_array();
		break;
	default:
		value = json_object();
	}
	return (target->key != NULL ? json_object_set_new(target->parent, target->key, value)
				    : json_array_set_new(target->parent, target->index, value)) == 0;
}

TEST(test_one_change)
{
	uint32_t tried = 0;

	for (size_t f = 0; f < FORMS; f++) {
		json_t *whole = load(forms[f].text);
		struct o2_refused refused;
		struct target target;
		uint32_t left;

		assert_int_equal(forms[f].read(whole, &refused, NULL), 0);
		for (uint32_t n = 0; left = n, find(whole, &left, &target); n++) {
			for (uint32_t change = 0; change < CHANGES; change++) {
				json_t *copy = json_deep_copy(whole);
				struct o2_error error = {0};
				char text[256];
				int rc;

				left = n;
				assert_true(find(copy, &left, &target));
				if (!make_change(&target, change)) {
					json_decref(copy);
					continue;
				}
				rc = forms[f].read(copy, &refused, &error);
				if (rc != -EINVAL || error.code != rc || strncmp(error.rule, "json/", 5) != 0)
					fail_msg("%s: value %" PRIu32 ", change %" PRIu32 ": returned %d",
						 forms[f].name, n, change, rc);
				assert_true(o2_error_text(&error, text, sizeof(text)) > 0);
				/* The same without a buffer for the reason. */
				assert_int_equal(forms[f].read(copy, &refused, NULL), rc);
				json_decref(copy);
				tried++;
			}
		}
		json_decref(whole);
	}
	print_message("%" PRIu32 " changes refused\n", tried);
	assert_true(tried > 500);
}

/* --- the field, the value and the limit --- */

struct bad {
	uint32_t form; /* index into forms */
	const char *from;
	const char *to;
	const char *rule;
	const char *field;
	uint32_t index;
	uint64_t value;
	uint64_t limit;
};

#define N O2_NO_INDEX

/* clang-format off */
static const struct bad bads[] = {
	{0, "o2ref/sg_build/input", "o2ref/sg_build/output", "json/form", "form", N, 0, O2_NO_LIMIT},
	{0, "'version':1", "'version':2", "json/version", "version", N, 2, 1},
	{0, "'version':1", "'version':0", "json/version", "version", N, 0, 1},
	{0, "'max_entries':257", "'max_entries':4294967296", "json/integer-out-of-range", "max_entries", N,
	 UINT64_C(0x100000000), UINT32_MAX},
	{0, "'page_bytes':4096", "'page_bytes':-1", "json/integer-out-of-range", "space.page_bytes", N,
	 UINT64_MAX, 0},
	{0, "'0x8000'", "'0x80aF'", "json/range-alignment", "space.ranges[].base", 1, 0x80af, 4096},
	{0, "'0x8000'", "'8000'", "json/not-a-hex-string", "space.ranges[].base", 1, 0, O2_NO_LIMIT},
	{0, "'0x8000'", "'0x'", "json/hex-digits", "space.ranges[].base", 1, 0, 16},
	{0, "'0x8000'", "'0x00000000000008000'", "json/hex-digits", "space.ranges[].base", 1, 17, 16},
	{0, "'0x8000'", "'0x80g0'", "json/hex-digits", "space.ranges[].base", 1, 2, 16},
	{0, "[3,1]", "[3,4294967296]", "json/integer-out-of-range", "space.ranges[].pages", 0,
	 UINT64_C(0x100000000), UINT32_MAX},
	{0, "[3,1]", "[3,'1']", "json/not-an-integer", "space.ranges[].pages", 0, 0, O2_NO_LIMIT},
	{0, "[7]", "[true]", "json/not-an-integer", "space.ranges[].pages", 1, 0, O2_NO_LIMIT},
	{0, "'kiov'", "'KIOV'", "json/unknown-name", "buffer.kind", N, 0, O2_NO_LIMIT},
	{0, "'nob':8", "'nob':'0x10000000000000000'", "json/hex-digits", "buffer.nob", N, 17, 16},
	{0, "'len':6", "'len':true", "json/not-an-integer", "buffer.pieces[].len", 1, 0, O2_NO_LIMIT},
	{0, "'offset':5", "'offset':4294967296", "json/integer-out-of-range", "buffer.pieces[].offset", 1,
	 UINT64_C(0x100000000), UINT32_MAX},
	{1, "'gaps':true", "'gaps':1", "json/not-a-boolean", "list.gaps", N, 0, O2_NO_LIMIT},
	{1, "'length':6", "'length':-6", "json/integer-out-of-range", "list.entries[].length", 1,
	 (uint64_t)-6, 0},
	{2, "'bus'", "'nommu'", "json/unknown-name", "device.kind", N, 0, O2_NO_LIMIT},
	{2, "[0,7]", "[0,8]", "json/integer-out-of-range", "device.unmapped[]", 1, 8, 7},
	{2, "8,'base':'0x10000','unmapped':[0,7]", "1048576,'base':'0x10000','unmapped':[0,1048576]",
	 "json/integer-out-of-range", "device.unmapped[]", 1, 1048576, 1048575},
	{2, "'npages':8", "'npages':1048577", "json/integer-out-of-range", "device.npages", N, 1048577, 1048576},
	{3, "'0x2000'", "'0X2000'", "json/not-a-hex-string", "list.segments[].addr", 1, 0, O2_NO_LIMIT},
	{4, "'fmr'", "'physical'", "json/unknown-name", "request.mode", N, 0, O2_NO_LIMIT},
	{4, "'sink'", "'drain'", "json/unknown-name", "request.side", N, 0, O2_NO_LIMIT},
	{5, "'0x2000'", "''", "json/not-a-hex-string", "plan.pages[]", 1, 0, O2_NO_LIMIT},
	{5, "'rf_nob':4", "'rf_nob':'4'", "json/not-an-integer", "plan.frags[].rf_nob", 0, 0, O2_NO_LIMIT},
	{6, "'0x1'", "'0x100000000'", "json/integer-out-of-range", "source.rd_key", N, UINT64_C(0x100000000),
	 UINT32_MAX},
	{6, "'rf_nob':5", "'rf_nob':4294967296", "json/integer-out-of-range", "sink.rd_frags[].rf_nob", 1,
	 UINT64_C(0x100000000), UINT32_MAX},
	{7, "'num_sge':2", "'num_sge':3", "json/no-such-sge", "plan.wr[].num_sge", 0, 3, 2},
	{7, "'first_sge':0", "'first_sge':1", "json/no-such-sge", "plan.wr[].num_sge", 0, 3, 2},
	{7, "'first_sge':0", "'first_sge':4294967295", "json/no-such-sge", "plan.wr[].num_sge", 0,
	 UINT64_C(0x100000001), 2},
	{8, "'EINVAL'", "'EWHATEVER'", "json/unknown-name", "refused.errno", N, 0, O2_NO_LIMIT},
	{8, "'dma/count'", "'dma/0123456789012345678901234567890123456789012345678901234567890'",
	 "json/text-too-long", "refused.rule", N, 65, 63},
	{8, "'index':3", "'index':-3", "json/integer-out-of-range", "refused.index", N, (uint64_t)-3, 0},
};
/* clang-format on */

#undef N

/* Returns text with the first `from` in it replaced; the caller frees it. */
static char *replace(const char *text, const char *from, const char *to)
{
	const char *at = strstr(text, from);
	size_t bytes = strlen(text) + strlen(to) + 1;
	char *changed = malloc(bytes);

	assert_non_null(at);
	assert_non_null(changed);
	snprintf(changed, bytes, "%.*s%s%s", (int)(at - text), text, to, at + strlen(from));
	return changed;
}

TEST(test_named)
{
	for (size_t i = 0; i < sizeof(bads) / sizeof(bads[0]); i++) {
		const struct bad *row = &bads[i];
		char *text = replace(forms[row->form].text, row->from, row->to);
		json_t *form = load(text);
		struct o2_error error = {0};
		struct o2_refused refused;
		int rc = forms[row->form].read(form, &refused, &error);

		if (rc != -EINVAL || strcmp(error.rule, row->rule) != 0 ||
		    strcmp(error.field, row->field) != 0 || error.index != row->index ||
		    error.value != row->value || error.limit != row->limit)
			fail_msg("%s instead of %s: %d, %s, %s[%" PRIu32 "] %" PRIu64 " (%" PRIu64 ")",
				 row->to, row->from, rc, error.rule, error.field, error.index, error.value,
				 error.limit);
		json_decref(form);
		free(text);
	}
}

/* --- lists that are too long --- */

TEST(test_long_lists)
{
	static const struct {
		uint32_t form;
		const char *path[3]; /* path to the list */
		uint32_t limit;
		const char *field;
	} rows[] = {
		{0, {"buffer", "pieces"}, O2_SG_JSON_MAX_PIECES, "buffer.pieces"},
		{0, {"space", "ranges"}, O2_SG_JSON_MAX_RANGES, "space.ranges"},
		{1, {"list", "entries"}, O2_MAX_FRAGS, "list.entries"},
		{2, {"list", "entries"}, O2_MAX_FRAGS, "list.entries"},
		{3, {"list", "segments"}, O2_MAX_FRAGS, "list.segments"},
		{4, {"list", "segments"}, O2_MAX_FRAGS, "list.segments"},
		{5, {"plan", "pages"}, O2_MAX_FRAGS, "plan.pages"},
		{5, {"plan", "frags"}, O2_MAX_FRAGS, "plan.frags"},
		{6, {"source", "rd_frags"}, O2_MAX_FRAGS, "source.rd_frags"},
		{6, {"sink", "rd_frags"}, O2_MAX_FRAGS, "sink.rd_frags"},
		{7, {"plan", "wr"}, O2_MAX_FRAGS, "plan.wr"},
		{7, {"plan", "sge"}, O2_MAX_FRAGS * O2_MAX_WRQ_SGE, "plan.sge"},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		json_t *form = load(forms[rows[i].form].text);
		json_t *list = json_object_get(json_object_get(form, rows[i].path[0]), rows[i].path[1]);
		struct o2_error error = {0};
		struct o2_refused refused;

		while (json_array_size(list) < rows[i].limit)
			json_array_append(list, json_array_get(list, 0));
		if (forms[rows[i].form].read(form, &refused, &error) != 0)
			fail_msg("%s, as many as allowed: %s", rows[i].field, error.rule);
		json_array_append(list, json_array_get(list, 0));
		assert_int_equal(forms[rows[i].form].read(form, &refused, &error), -EINVAL);
		assert_string_equal(error.rule, "json/array-too-long");
		assert_string_equal(error.field, rows[i].field);
		assert_true(error.value == rows[i].limit + 1 && error.limit == rows[i].limit);
		json_decref(form);
	}
}

/* The pages of all ranges share one limit. */
TEST(test_long_ranges)
{
	json_t *form = load(forms[0].text);
	json_t *ranges = json_object_get(json_object_get(form, "space"), "ranges");
	json_t *first = json_object_get(json_array_get(ranges, 0), "pages");
	json_t *second = json_object_get(json_array_get(ranges, 1), "pages");
	struct o2_error error = {0};

	while (json_array_size(first) + json_array_size(second) < O2_SG_JSON_MAX_PAGES)
		json_array_append(first, json_array_get(first, 0));
	assert_int_equal(read_sg_input(form, NULL, &error), 0);
	json_array_append(second, json_array_get(first, 0));
	assert_int_equal(read_sg_input(form, NULL, &error), -EINVAL);
	assert_string_equal(error.rule, "json/array-too-long");
	assert_string_equal(error.field, "space.ranges[].pages");
	assert_true(error.index == 1 && error.value == 2 && error.limit == 1);
	json_decref(form);
}

/* Values that are not even an object. */
TEST(test_no_form)
{
	json_t *others[] = {NULL,	  json_null(), json_array(), json_integer(1), json_string("form"),
			    json_object()};

	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
		for (size_t f = 0; f < FORMS; f++) {
			struct o2_error error = {0};
			struct o2_refused refused;

			assert_int_equal(forms[f].read(others[i], &refused, &error), -EINVAL);
			assert_string_equal(error.rule, "json/form");
		}
		json_decref(others[i]);
	}
}
