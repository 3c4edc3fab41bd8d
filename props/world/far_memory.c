/* SPDX-License-Identifier: MIT */
#include "props/world/far_memory.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/fields_json.h"
#include "base/json.h"
#include "props/world/far_words.h"

static const char *const kind_names[] = {
	[O2_FILL_PAGE] = "data", [O2_FILL_POISON] = "poison", [O2_FILL_RED] = "red"};

/* One kind of fill; many pages may share it. */
struct fill {
	enum o2_fill_kind kind;
	uint32_t id; /* poison: the number of the transfer */
	uint64_t seed;
};

static const struct o2_field fill_fields[] = {
	{O2_FIELD("fills[].kind", NAME, struct fill, kind), .names = kind_names,
	 .limit = sizeof(kind_names) / sizeof(kind_names[0])},
	{O2_FIELD("fills[].id", UINT, struct fill, id)},
	{O2_FIELD("fills[].seed", HEX, struct fill, seed)},
	{0},
};

static bool same_fill(const struct fill *a, const struct fill *b)
{
	return a->kind == b->kind && a->id == b->id && a->seed == b->seed;
}

static bool same_state(const struct o2_page_state *a, const struct o2_page_state *b)
{
	return a->seed == b->seed && a->origin.kind == b->origin.kind && a->origin.id == b->origin.id &&
	       a->origin.offset_bytes == b->origin.offset_bytes;
}

/* --- here --- */

void o2_far_copy_forget(struct o2_far_copy *copy)
{
	memset(copy->known, 0, sizeof(copy->known));
}

/* The page array of the object for this fill; the object is made if there is none. */
static json_t *pages_of(json_t *fills, struct fill *kinds, const struct fill *fill)
{
	const size_t count = json_array_size(fills);
	json_t *object;
	size_t i = 0;

	while (i < count && !same_fill(&kinds[i], fill))
		i++;
	if (i == count) {
		object = o2_json_with(o2_fields_to_json(fill_fields, fill), "pages", json_array());
		if (json_array_append_new(fills, object) != 0)
			return NULL;
		kinds[i] = *fill;
	}
	return json_object_get(json_array_get(fills, i), "pages");
}

json_t *o2_far_copy_fills(struct o2_far_copy *copy)
{
	const struct o2_image *image = copy->image;
	struct fill kinds[O2_SCENARIO_PAGES] = {{0}};
	json_t *fills = json_array();

	if (copy->inits != image->inits)
		o2_far_copy_forget(copy);
	copy->inits = image->inits;
	for (uint32_t i = 0; i < O2_SCENARIO_PAGES && fills != NULL; i++) {
		const struct o2_page_state *state = &image->page[i];
		const enum o2_fill_kind kind = state->origin.kind;
		const struct fill fill = {kind, kind == O2_FILL_PAGE ? 0 : state->origin.id, state->seed};

		if (copy->known[i] && same_state(&copy->told[i], state))
			continue;
		if (json_array_append_new(pages_of(fills, kinds, &fill), json_integer(i)) != 0) {
			json_decref(fills);
			return NULL;
		}
		copy->known[i] = true;
		copy->told[i] = *state;
	}
	return fills;
}

static int get_page(const json_t *pages, size_t i, uint32_t *page, struct o2_error *error)
{
	uint64_t value = 0;
	const int rc =
		o2_json_parse_uint(json_array_get(pages, i), "pages[]", O2_SCENARIO_PAGES - 1, &value, error);

	*page = (uint32_t)value;
	return rc;
}

int o2_far_copy_take(struct o2_far_copy *copy, const json_t *message, const uint8_t *bytes, size_t length,
		     struct o2_error *error)
{
	const json_t *pages;
	uint32_t page;
	int rc = o2_json_get_array(message, "pages", O2_SCENARIO_PAGES, &pages, error);

	if (rc == 0 && json_array_size(pages) * O2_SCENARIO_PAGE_BYTES != length)
		rc = o2_refuse_other(error, -EINVAL, "far/pages", "bytes", length,
				     json_array_size(pages) * O2_SCENARIO_PAGE_BYTES);
	for (size_t i = 0; rc == 0 && i < json_array_size(pages); i++) {
		rc = get_page(pages, i, &page, error);
		if (rc != 0)
			break;
		memcpy(o2_arena_page(copy->image->arena, page), bytes + i * O2_SCENARIO_PAGE_BYTES,
		       O2_SCENARIO_PAGE_BYTES);
		copy->known[page] = false;
	}
	return rc;
}

/* --- there --- */

int o2_far_memory_open(struct o2_far_memory *memory, struct o2_error *error)
{
	int rc = o2_arena_create(O2_SCENARIO_PAGES, &memory->arena, error);

	if (rc != 0)
		return rc;
	memory->changed = malloc(O2_FAR_MEMORY_BYTES);
	if (memory->changed == NULL) {
		o2_arena_destroy(&memory->arena);
		return o2_refuse_value(error, -ENOMEM, "far/memory", "bytes", O2_FAR_MEMORY_BYTES,
				       O2_NO_LIMIT);
	}
	o2_image_init(&memory->image, &memory->arena, 0);
	return 0;
}

void o2_far_memory_close(struct o2_far_memory *memory)
{
	o2_arena_destroy(&memory->arena);
	free(memory->changed);
}

static void fill_page(struct o2_far_memory *memory, const struct fill *fill, uint32_t page)
{
	struct o2_image *image = &memory->image;

	memory->filled[page] = true;
	if (fill->kind == O2_FILL_PAGE) {
		o2_image_fill_data(image, page, fill->seed);
	} else if (fill->kind == O2_FILL_POISON) {
		o2_image_fill_poison(image, page, fill->seed, fill->id);
	} else {
		image->seed = fill->seed;
		o2_image_fill_red(image, page);
	}
}

int o2_far_memory_fill(struct o2_far_memory *memory, const json_t *message, struct o2_error *error)
{
	const json_t *fills, *pages;
	uint32_t page;
	int rc;

	if (json_object_get(message, "fills") == NULL)
		return 0;
	rc = o2_json_get_array(message, "fills", O2_SCENARIO_PAGES, &fills, error);
	for (size_t i = 0; rc == 0 && i < json_array_size(fills); i++) {
		const json_t *object = json_array_get(fills, i);
		struct fill fill;

		rc = o2_fields_from_json(object, fill_fields, &fill, error);
		if (rc == 0)
			rc = o2_json_get_array(object, "pages", O2_SCENARIO_PAGES, &pages, error);
		for (size_t j = 0; rc == 0 && j < json_array_size(pages); j++) {
			rc = get_page(pages, j, &page, error);
			if (rc == 0)
				fill_page(memory, &fill, page);
		}
	}
	return rc;
}

json_t *o2_far_memory_changed(struct o2_far_memory *memory, bool all, size_t *length)
{
	json_t *pages = json_array();

	*length = 0;
	for (uint32_t i = 0; i < O2_SCENARIO_PAGES; i++) {
		const struct o2_page_state *state = &memory->image.page[i];
		const uint8_t *page = o2_arena_page(&memory->arena, i);

		if ((!all && !memory->filled[i]) || o2_fill_match(page, O2_SCENARIO_PAGE_BYTES, state->seed,
								  state->origin) == O2_SCENARIO_PAGE_BYTES)
			continue;
		memcpy(memory->changed + *length, page, O2_SCENARIO_PAGE_BYTES);
		*length += O2_SCENARIO_PAGE_BYTES;
		json_array_append_new(pages, json_integer(i));
	}
	memset(memory->filled, 0, sizeof(memory->filled));
	return pages;
}
