/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "base/json.h"
#include "forms/dma_json.h"
#include "forms/plan_json.h"
#include "forms/rdma_json.h"
#include "forms/sg_json.h"
#include "props/check/check_simplify.h"

#define SCENARIO_FORM "o2ref/scenario"
#define CHAIN_FORM    "o2ref/rdma_chain/input"
#define SEND_FORM     "o2ref/send_plan/input"
#define SETUP_FORM    "o2ref/setup/input"
#define FLOW_FORM     "o2ref/flow/input"
#define ROUNDS	      8u

/* How a number beside a list in a form counts the bytes of the list. */
enum total {
	TOTAL_SUM,    /* nob of the owner is the sum of the lengths */
	TOTAL_WINDOW, /* offset and nob of the owner select bytes of the list */
	TOTAL_SHARED, /* nob of the form is at most the sum of either list */
	TOTAL_NONE,   /* elements are events and have no length */
};

struct list {
	const char *form;
	const char *owner; /* object with the list; NULL: the form itself; "a.b": member b of member a */
	const char *array;
	const char *start[2]; /* start of an element: it has one of these two members */
	const char *length;
	enum total total;
	const char *offset; /* member with the offset of the window */
};

static const struct list lists[] = {
	{O2_SG_INPUT_FORM, "buffer", "pieces", {"base", "offset"}, "len", TOTAL_WINDOW, "offset"},
	{O2_DMA_INPUT_FORM, "list", "entries", {"offset", NULL}, "length", TOTAL_SUM, NULL},
	{O2_REG_INPUT_FORM, "list", "segments", {"addr", NULL}, "length", TOTAL_SUM, NULL},
	{O2_RDMA_INPUT_FORM, "source", "rd_frags", {"rf_addr", NULL}, "rf_nob", TOTAL_SHARED, NULL},
	{O2_RDMA_INPUT_FORM, "sink", "rd_frags", {"rf_addr", NULL}, "rf_nob", TOTAL_SHARED, NULL},
	{CHAIN_FORM, "source", "rd_frags", {"rf_addr", NULL}, "rf_nob", TOTAL_SHARED, NULL},
	{CHAIN_FORM, "sink", "rd_frags", {"rf_addr", NULL}, "rf_nob", TOTAL_SHARED, NULL},
	{SEND_FORM, "memory.buffer", "pieces", {"base", "offset"}, "len", TOTAL_WINDOW, "offset"},
	{"o2ref/keys/input", NULL, "events", {NULL, NULL}, NULL, TOTAL_NONE, NULL},
	{SETUP_FORM, NULL, "rounds", {NULL, NULL}, NULL, TOTAL_NONE, NULL},
	{FLOW_FORM, NULL, "events", {NULL, NULL}, NULL, TOTAL_NONE, NULL},
	{SCENARIO_FORM, "source", "pieces", {"base", "offset"}, "len", TOTAL_WINDOW, "offset_bytes"},
	{SCENARIO_FORM, "sink", "pieces", {"base", "offset"}, "len", TOTAL_WINDOW, "offset_bytes"},
};

/* A number that is simpler when it is lower. */
struct lone {
	const char *form;
	const char *owner; /* as in struct list */
	const char *name;
	uint64_t least;
};

static const struct lone numbers[] = {
	{O2_RDMA_INPUT_FORM, "limits", "wrq_sge", 1}, {O2_RDMA_INPUT_FORM, "limits", "max_wrs", 1},
	{O2_RDMA_INPUT_FORM, NULL, "nob", 1},	      {CHAIN_FORM, "limits", "wrq_sge", 1},
	{CHAIN_FORM, "limits", "max_wrs", 1},	      {CHAIN_FORM, NULL, "nob", 1},
	{O2_SG_INPUT_FORM, "buffer", "offset", 0},    {O2_SG_INPUT_FORM, "buffer", "nob", 1},
	{SCENARIO_FORM, NULL, "wrq_sge", 1},	      {SCENARIO_FORM, NULL, "max_frags", 1},
	{SCENARIO_FORM, "source", "offset_bytes", 0}, {SCENARIO_FORM, "source", "nob", 1},
	{SCENARIO_FORM, "sink", "offset_bytes", 0},   {SCENARIO_FORM, "sink", "nob", 1},
	{SETUP_FORM, NULL, "queue_depth", 2},	      {SETUP_FORM, NULL, "tx_count", 1},
	{SETUP_FORM, NULL, "pool_size", 1},	      {FLOW_FORM, NULL, "high_water", 1},
	{FLOW_FORM, NULL, "queue_depth", 2},	      {FLOW_FORM, NULL, "concurrent_sends", 1},
	{FLOW_FORM, NULL, "keepalive_ms", 0},	      {SEND_FORM, "memory.buffer", "offset", 0},
	{SEND_FORM, "memory.buffer", "nob", 1},	      {SEND_FORM, NULL, "max_sge", 1},
};

#define COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))

struct simplify {
	json_t *question;
	const char *form;
	o2_differs_fn differs;
	void *context;
	uint32_t left; /* questions left */
	bool changed;
};

/* A change of a copy of the question by a value: of element lengths, or of one number. */
struct edit {
	const struct list *list;   /* limit elements first..first + count - 1 to the value; or, if NULL, */
	const struct lone *number; /* set this number to the value */
	size_t first;
	size_t count;
	bool keep_end; /* shorten an element at its front */
};

/* --- numbers --- */

/* The value of an integer, or of a string "0x...". */
static uint64_t number_of(const json_t *object, const char *name)
{
	const json_t *member = json_object_get(object, name);
	uint64_t value = 0;

	if (json_is_string(member))
		return o2_json_parse_hex(member, name, &value, NULL) == 0 ? value : 0;
	return (uint64_t)json_integer_value(member);
}

static void set_number(json_t *object, const char *name, uint64_t value)
{
	const bool hex = json_is_string(json_object_get(object, name));

	json_object_set_new(object, name, hex ? o2_json_hex(value) : o2_json_length(value));
}

static json_t *owner_of(const json_t *question, const char *owner)
{
	const char *dot = owner == NULL ? NULL : strchr(owner, '.');

	if (dot != NULL) {
		question = json_object_getn(question, owner, (size_t)(dot - owner));
		owner = dot + 1;
	}
	return owner == NULL ? (json_t *)(uintptr_t)question : json_object_get(question, owner);
}

static json_t *array_of(const json_t *question, const struct list *list)
{
	return json_object_get(owner_of(question, list->owner), list->array);
}

static uint64_t sum_of(const json_t *question, const struct list *list)
{
	const json_t *element;
	uint64_t sum = 0;
	size_t i;

	json_array_foreach(array_of(question, list), i, element)
		sum += number_of(element, list->length);
	return sum;
}

static uint64_t less(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/* --- keep sums right --- */

/* Keep the number of bytes that exceed the room, so that a list that is too short remains so. */
static uint64_t settled(uint64_t nob, uint64_t room_before, uint64_t room_after)
{
	const uint64_t excess = nob > room_before ? nob - room_before : 0;

	return less(nob, room_after + excess);
}

/* from_front: the removed bytes were before the window, as far as possible. */
static void settle_window(const struct list *list, const json_t *before, json_t *after, bool from_front)
{
	json_t *owner = owner_of(after, list->owner);
	const uint64_t offset = number_of(owner, list->offset);
	const uint64_t nob = number_of(owner, "nob");
	const uint64_t was = sum_of(before, list);
	const uint64_t is = sum_of(after, list);
	uint64_t inside;

	if (is == was || is == 0 || offset > was)
		return;
	inside = from_front ? offset - less(offset, was > is ? was - is : 0) : offset;
	inside = less(inside, is - 1);
	set_number(owner, list->offset, inside);
	set_number(owner, "nob", settled(nob, was - offset, is - inside));
}

static void settle_shared(const char *form, const json_t *before, json_t *after)
{
	uint64_t was = UINT64_MAX, is = UINT64_MAX;

	for (size_t i = 0; i < COUNT_OF(lists); i++) {
		if (strcmp(lists[i].form, form) != 0)
			continue;
		was = less(was, sum_of(before, &lists[i]));
		is = less(is, sum_of(after, &lists[i]));
	}
	if (is != was)
		set_number(after, "nob", settled(number_of(after, "nob"), was, is));
}

static void settle(const struct simplify *s, json_t *after, bool from_front)
{
	for (size_t i = 0; i < COUNT_OF(lists); i++) {
		const struct list *list = &lists[i];
		json_t *owner = owner_of(after, list->owner);

		if (strcmp(list->form, s->form) != 0)
			continue;
		if (list->total == TOTAL_WINDOW)
			settle_window(list, s->question, after, from_front);
		else if (list->total == TOTAL_SUM && number_of(owner, "nob") == sum_of(s->question, list))
			set_number(owner, "nob", sum_of(after, list));
	}
	if (strcmp(s->form, O2_RDMA_INPUT_FORM) == 0 || strcmp(s->form, CHAIN_FORM) == 0)
		settle_shared(s->form, s->question, after);
}

/* --- trying changes --- */

/* Ask a changed copy; if it still differs, it becomes the question.  Takes ownership of the copy. */
static bool take(struct simplify *s, json_t *copy)
{
	bool taken = false;

	if (s->left > 0 && !json_equal(copy, s->question)) {
		s->left--;
		taken = s->differs(s->context, copy);
	}
	if (!taken) {
		json_decref(copy);
		return false;
	}
	json_decref(s->question);
	s->question = copy;
	s->changed = true;
	return true;
}

/* Correct the sums of the copy and ask it; if that fails, correct them the other way.  Takes ownership. */
static bool attempt(struct simplify *s, json_t *copy)
{
	json_t *other = json_deep_copy(copy);

	settle(s, copy, false);
	settle(s, other, true);
	if (json_equal(copy, other)) {
		json_decref(other);
		return take(s, copy);
	}
	if (take(s, copy)) {
		json_decref(other);
		return true;
	}
	return take(s, other);
}

static void shorten(json_t *element, const struct list *list, uint64_t length, bool keep_end)
{
	const uint64_t was = number_of(element, list->length);

	if (was <= length)
		return;
	set_number(element, list->length, length);
	for (size_t i = 0; keep_end && i < 2 && list->start[i] != NULL; i++) {
		if (json_object_get(element, list->start[i]) != NULL) {
			set_number(element, list->start[i],
				   number_of(element, list->start[i]) + (was - length));
			return;
		}
	}
}

static bool apply(struct simplify *s, const struct edit *edit, uint64_t value)
{
	json_t *copy = json_deep_copy(s->question);

	if (edit->number != NULL)
		set_number(owner_of(copy, edit->number->owner), edit->number->name, value);
	for (size_t i = 0; edit->list != NULL && i < edit->count; i++)
		shorten(json_array_get(array_of(copy, edit->list), edit->first + i), edit->list, value,
			edit->keep_end);
	return attempt(s, copy);
}

/* Find the lowest value that still differs, from `least` to `most`, which does differ. */
static void search(struct simplify *s, const struct edit *edit, uint64_t least, uint64_t most)
{
	if (most <= least || apply(s, edit, least))
		return;
	while (most - least > 1 && s->left > 0) {
		const uint64_t middle = least + (most - least) / 2;

		if (apply(s, edit, middle))
			most = middle;
		else
			least = middle;
	}
}

/* --- passes --- */

/* Remove runs of elements, long runs first, from the end; of events also pairs, as one may undo the other. */
static void drop_elements(struct simplify *s, const struct list *list)
{
	const bool pairs = list->total == TOTAL_NONE;

	for (size_t run = json_array_size(array_of(s->question, list)) / 2 + 1; run > 0;
	     run = pairs && run <= 4 ? run - 1 : run / 2) {
		size_t end = json_array_size(array_of(s->question, list));

		for (; end >= run; end--) {
			json_t *copy = json_deep_copy(s->question);

			for (size_t i = 0; i < run; i++)
				json_array_remove(array_of(copy, list), end - 1 - i);
			if (attempt(s, copy))
				end -= run - 1;
		}
	}
}

/* Shorten all elements at once, then each; first keep their fronts, then their ends. */
static void shorten_elements(struct simplify *s, const struct list *list)
{
	const size_t count = json_array_size(array_of(s->question, list));

	for (int keep_end = 0; keep_end < 2; keep_end++) {
		const struct edit all = {.list = list, .count = count, .keep_end = keep_end};

		apply(s, &all, 1);
	}
	for (size_t i = 0; i < count; i++) {
		for (int keep_end = 0; keep_end < 2; keep_end++) {
			const struct edit one = {.list = list, .first = i, .count = 1, .keep_end = keep_end};

			search(s, &one, 1,
			       number_of(json_array_get(array_of(s->question, list), i), list->length));
		}
	}
}

static void one_round(struct simplify *s)
{
	for (size_t i = 0; i < COUNT_OF(numbers); i++) {
		const struct edit edit = {.number = &numbers[i]};

		if (strcmp(numbers[i].form, s->form) == 0)
			search(s, &edit, numbers[i].least,
			       number_of(owner_of(s->question, numbers[i].owner), numbers[i].name));
	}
	for (size_t i = 0; i < COUNT_OF(lists); i++) {
		if (strcmp(lists[i].form, s->form) != 0)
			continue;
		drop_elements(s, &lists[i]);
		if (lists[i].total != TOTAL_NONE)
			shorten_elements(s, &lists[i]);
	}
}

bool o2_check_simplify(json_t **question, o2_differs_fn differs, void *context, uint32_t *calls)
{
	struct simplify s = {.question = *question, .differs = differs, .context = context, .left = *calls};
	char form[64];
	bool changed = false;

	snprintf(form, sizeof(form), "%s", json_string_value(json_object_get(*question, "form")));
	s.form = form;
	for (uint32_t i = 0; i < ROUNDS && s.left > 0; i++) {
		s.changed = false;
		one_round(&s);
		if (!s.changed)
			break;
		changed = true;
	}
	*question = s.question;
	*calls -= s.left;
	return changed;
}
