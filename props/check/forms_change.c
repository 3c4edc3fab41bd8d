/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "props/check/forms.h"

/* Changes of JSON that do not depend on its meaning. */

/* --- another value --- */

static json_int_t other_number(struct o2_choice *c, json_int_t was)
{
	static const json_int_t edges[] = {0,	      1,     INT8_MAX, UINT8_MAX, 256,	      257,
					   INT16_MAX, 65535, 65536,    INT32_MAX, UINT32_MAX, 4294967296,
					   INT64_MAX, -1,    -2,       4096,	  1048576,    1048577};
	const uint64_t n = sizeof(edges) / sizeof(edges[0]);
	const uint64_t pick = o2_draw(c, n + 3);

	if (pick < 2)
		return was == INT64_MAX ? was - 1 : was + 1;
	return pick < 4 ? was - (was != INT64_MIN) : edges[pick - 4];
}

/* Change one character, mostly the last one. */
static json_t *other_character(struct o2_choice *c, const char *was)
{
	size_t at = strlen(was) - 1;
	char *text = strdup(was);
	json_t *string;

	if (o2_draw_bool(c, 1, 1))
		at = o2_draw(c, at);
	if (text == NULL)
		return NULL;
	text[at] = text[at] == '7' ? '3' : '7';
	string = json_string(text);
	free(text);
	return string;
}

static json_t *other_text(struct o2_choice *c, const char *was)
{
	static const char *const texts[] = {"",
					    "0x",
					    "0x0",
					    "0x10000000000000000",
					    "0xffffffffffffffff",
					    "7",
					    "0x1ffffffff",
					    "no-such",
					    "0x0g",
					    "0x12 ",
					    "kiov",
					    "iov",
					    "get",
					    "put",
					    "big",
					    "little"};
	char text[80];
	const size_t length = strlen(was);

	if (length >= sizeof(text) && o2_draw_bool(c, 1, 2))
		return other_character(c, was);
	if (length == 0 || length >= sizeof(text) || o2_draw_bool(c, 1, 1))
		return json_string(texts[o2_draw(c, sizeof(texts) / sizeof(texts[0]) - 1)]);
	/* Change a character, or add or remove one. */
	snprintf(text, sizeof(text), "%s", was);
	switch (o2_draw(c, 2)) {
	case 0:
		return other_character(c, was);
	case 1:
		text[length - 1] = '\0';
		break;
	default:
		snprintf(text, sizeof(text), "%.78s8", was);
	}
	return json_string(text);
}

static json_t *other_type(struct o2_choice *c, const json_t *was)
{
	/* An object without members would be one that lost them, which may be legal. */
	switch (o2_draw(c, json_is_object(was) ? 5 : 6)) {
	case 0:
		return json_null();
	case 1:
		return json_true();
	case 2:
		return json_integer(1);
	case 3:
		return json_string("x");
	case 4:
		return json_array();
	case 5:
		return json_real(1.5);
	default:
		return json_object();
	}
}

/* Resize an array, mostly to about its limit; new elements are copies of the last one. */
static json_t *resized(struct o2_choice *c, const json_t *was)
{
	static const size_t counts[] = {0,  1,	2,  3,	4,  7,	 8,   9,   15,	16,  17,
					31, 32, 33, 64, 65, 128, 255, 256, 257, 512, 513};
	const uint64_t edges = sizeof(counts) / sizeof(counts[0]);
	const size_t size = json_array_size(was);
	const uint64_t pick = o2_draw(c, edges + 1);
	const size_t count = pick < 2 ? size - 1 + 2 * pick : counts[pick - 2];
	json_t *array = json_array();

	for (size_t i = 0; i < count; i++)
		json_array_append_new(array, json_deep_copy(json_array_get(was, i < size ? i : size - 1)));
	return array;
}

static json_t *other_value(struct o2_choice *c, const json_t *was)
{
	if (o2_draw_bool(c, 4, 1))
		return other_type(c, was);
	if (json_array_size(was) > 0 && o2_draw_bool(c, 1, 2))
		return resized(c, was);
	if (json_is_integer(was))
		return json_integer(other_number(c, json_integer_value(was)));
	if (json_is_string(was))
		return other_text(c, json_string_value(was));
	if (json_is_boolean(was))
		return json_boolean(!json_is_true(was));
	return other_type(c, was);
}

/* --- choosing the place --- */

static bool has_members(const json_t *value)
{
	return json_object_size(value) > 0 || json_array_size(value) > 0;
}

/* Half of the time pick a member that has members, if there is one, so that deep values are changed too. */
static size_t pick_member(struct o2_choice *c, json_t *object)
{
	size_t deep = 0, i = 0, pick;
	const char *key;
	json_t *member;

	json_object_foreach(object, key, member)
		deep += has_members(member);
	if (deep == 0 || o2_draw_bool(c, 1, 1))
		return o2_draw(c, json_object_size(object) - 1);
	pick = o2_draw(c, deep - 1);
	json_object_foreach(object, key, member) {
		if (has_members(member) && pick-- == 0)
			return i;
		i++;
	}
	return 0;
}

/* Step to the drawn child, and append its name to the path. */
static json_t *step(struct o2_choice *c, json_t *at, struct o2_form_change *change)
{
	size_t pick;
	void *member;

	if (!has_members(at))
		return NULL;
	pick = json_is_object(at) ? pick_member(c, at) : o2_draw(c, json_array_size(at) - 1);
	change->index[change->steps] = pick;
	change->key[change->steps][0] = '\0';
	if (json_is_array(at)) {
		change->steps++;
		return json_array_get(at, pick);
	}
	member = json_object_iter(at);
	for (size_t i = 0; i < pick; i++)
		member = json_object_iter_next(at, member);
	snprintf(change->key[change->steps++], O2_FORM_KEY_BYTES, "%s", json_object_iter_key(member));
	return json_object_iter_value(member);
}

static void describe(struct o2_form_change *change, const json_t *was, const json_t *now)
{
	char *before = json_dumps(was, JSON_ENCODE_ANY | JSON_COMPACT);
	char *after = now == NULL ? NULL : json_dumps(now, JSON_ENCODE_ANY | JSON_COMPACT);
	size_t length = 0;

	for (uint32_t i = 0; i < change->steps && length < sizeof(change->text); i++) {
		char *text = change->text + length;
		const size_t room = sizeof(change->text) - length;

		length +=
			(size_t)(change->key[i][0] != '\0' ? snprintf(text, room, ".%s", change->key[i])
							   : snprintf(text, room, "[%zu]", change->index[i]));
	}
	if (length < sizeof(change->text))
		snprintf(change->text + length, sizeof(change->text) - length, ": %.40s becomes %.40s",
			 before == NULL ? "?" : before, after == NULL ? "nothing" : after);
	free(before);
	free(after);
}

static json_t *walk(const json_t *form, const struct o2_form_change *change, uint32_t steps)
{
	const json_t *at = form;

	for (uint32_t i = 0; at != NULL && i < steps; i++)
		at = change->key[i][0] != '\0' ? json_object_get(at, change->key[i])
					       : json_array_get(at, change->index[i]);
	return (json_t *)at;
}

bool o2_form_change(struct o2_choice *choice, json_t *form, struct o2_form_change *change)
{
	json_t *at = form, *parent, *now = NULL;

	change->steps = 0;
	do {
		parent = at;
		at = step(choice, parent, change);
	} while (at != NULL && change->steps < O2_FORM_PATH && (json_is_object(at) || json_is_array(at)) &&
		 o2_draw_bool(choice, 1, 6));
	if (at == NULL) { /* nothing is inside: change the value itself */
		if (change->steps == 0)
			return false;
		at = parent;
		parent = walk(form, change, change->steps - 1);
	}
	change->deleted = json_is_object(parent) && o2_draw_bool(choice, 5, 1);
	if (!change->deleted)
		now = other_value(choice, at);
	describe(change, at, now);
	if (change->deleted)
		json_object_del(parent, change->key[change->steps - 1]);
	else if (change->key[change->steps - 1][0] != '\0')
		json_object_set_new(parent, change->key[change->steps - 1], now);
	else
		json_array_set_new(parent, change->index[change->steps - 1], now);
	return true;
}

bool o2_form_names(const struct o2_form_change *change, const char *field)
{
	for (uint32_t i = 0; i < change->steps; i++)
		if (change->key[i][0] != '\0' && strstr(field, change->key[i]) != NULL)
			return true;
	return false;
}

json_t *o2_form_at(const json_t *form, const struct o2_form_change *change)
{
	return walk(form, change, change->steps);
}

/* --- comparing with what was read --- */

/* Is the member a set, in which order and repetitions do not matter? */
static bool is_set(const char *key)
{
	return strcmp(key, "unmapped") == 0;
}

bool o2_form_is_of_set(const struct o2_form_change *change)
{
	return change->steps >= 2 && is_set(change->key[change->steps - 2]);
}

bool o2_form_is_default(const json_t *value, const struct o2_form_change *change)
{
	const char *key = change->steps == 0 ? "" : change->key[change->steps - 1];
	uint64_t number;

	if (strcmp(key, "capacity_bytes") == 0)
		return json_is_integer(value) && json_integer_value(value) == 4096;
	return json_is_false(value) || (o2_form_number(value, &number) && number == 0);
}

bool o2_form_number(const json_t *value, uint64_t *number)
{
	const char *text = json_string_value(value);

	*number = text == NULL ? (uint64_t)json_integer_value(value) : strtoull(text, NULL, 16);
	return json_is_integer(value) || (text != NULL && strncmp(text, "0x", 2) == 0);
}

/* A number may be written with leading zeros, and a length as an integer or as digits. */
static bool equal_values(const json_t *a, const json_t *b)
{
	uint64_t one, other;

	return json_equal(a, b) || (o2_form_number(a, &one) && o2_form_number(b, &other) && one == other);
}

/* Equal sets of numbers; a repeated number counts once. */
static bool equal_sets(const json_t *a, const json_t *b)
{
	for (int side = 0; side < 2; side++) {
		const json_t *of = side == 0 ? a : b, *in = side == 0 ? b : a;

		for (size_t i = 0; i < json_array_size(of); i++) {
			size_t k = 0;

			while (k < json_array_size(in) &&
			       !json_equal(json_array_get(of, i), json_array_get(in, k)))
				k++;
			if (k == json_array_size(in) || !json_is_integer(json_array_get(of, i)))
				return false;
		}
	}
	return true;
}

/* depth: steps of the change's path that lead to this value; UINT32_MAX: it is not on the path. */
static bool agrees(const json_t *written, const json_t *read, const struct o2_form_change *change,
		   uint32_t depth)
{
	const bool here = depth < change->steps;
	const char *key;
	json_t *member;

	if (json_is_array(written)) {
		if (!json_is_array(read) || json_array_size(written) != json_array_size(read))
			return false;
		for (size_t i = 0; i < json_array_size(written); i++) {
			const bool way = here && change->key[depth][0] == '\0' && change->index[depth] == i;

			if (!agrees(json_array_get(written, i), json_array_get(read, i), change,
				    way ? depth + 1 : UINT32_MAX))
				return false;
		}
		return true;
	}
	if (!json_is_object(written))
		return equal_values(written, read);
	if (!json_is_object(read))
		return false;
	json_object_foreach((json_t *)written, key, member) {
		const bool way = here && strcmp(change->key[depth], key) == 0;

		if (way && change->deleted && depth + 1 == change->steps)
			continue;
		if (is_set(key) && equal_sets(member, json_object_get(read, key)))
			continue;
		if (!agrees(member, json_object_get(read, key), change, way ? depth + 1 : UINT32_MAX))
			return false;
	}
	return true;
}

bool o2_form_agrees(const json_t *written, const json_t *read, const struct o2_form_change *change)
{
	return agrees(written, read, change, 0);
}
