/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "oracle/impl_slot.h"
#include "props/check/forms.h"

/*
 * The memory that the oracle shares with a shared object (ref/oracle/impl_slot.h): where its parts lie, which stray
 * writes are detected, and how an address in it is described.
 */

#define SLOTS	   2u
#define PAGE	   4096u
#define ZONE	   64u	/* guard bytes in front of an array, behind the out struct, before the refusal */
#define POISON	   0xa5 /* fills memory that an answer is to be written to */
#define ARRAYS	   (O2_PARTS - O2_PART_ARRAYS)
#define ERRNO_MOST 4095u /* errno(3) of Linux */

struct desk {
	struct o2_choice *c;
	struct o2_report *report;
	struct o2_impl_slots slots;
	struct o2_impl_slot *slot; /* the current one */
	const char *name[ARRAYS];  /* of arrays in use; NULL: not in use */
};

static void must(struct desk *desk, const char *what, bool holds)
{
	if (holds || desk->report->failed)
		return;
	o2_report_fail_in(desk->report, "forms/slots", what, "slot %zu",
			  (size_t)(desk->slot - desk->slots.slot));
}

static const uint8_t *end_of(const struct o2_impl_slot *slot, uint32_t part)
{
	return slot->part[part] + o2_impl_part_bytes((enum o2_impl_part)part);
}

/* Check that the parts follow one another with an inaccessible page between them, and have the right contents. */
static void check_layout(struct desk *desk)
{
	const uint8_t *free_from = desk->slots.memory + PAGE;

	for (uint32_t i = 0; i < SLOTS; i++) {
		const struct o2_impl_slot *slot = &desk->slots.slot[i];

		for (uint32_t p = 0; p < O2_PARTS; p++) {
			must(desk, "order", slot->part[p] >= free_from);
			must(desk, "pages", (uintptr_t)slot->part[p] % PAGE == 0);
			free_from = end_of(slot, p) + PAGE;
		}
		must(desk, "in", (const uint8_t *)slot->in == slot->part[O2_PART_INPUT]);
		must(desk, "out", (const uint8_t *)slot->out == slot->part[O2_PART_OUT]);
		must(desk, "refusal", (const uint8_t *)(slot->refusal + 1) == end_of(slot, O2_PART_OUT));
	}
	must(desk, "end", free_from == desk->slots.memory + desk->slots.bytes);
}

/* Add inputs, and check that they do not overlap. */
static void add_inputs(struct desk *desk)
{
	struct o2_impl_slot *slot = desk->slot;
	const uint8_t *free_from = slot->part[O2_PART_INPUT] + sizeof(*slot->in);

	for (uint64_t left = o2_draw(desk->c, 3); left > 0; left--) {
		const size_t bytes = o2_draw(desk->c, 300);
		uint8_t *at = o2_impl_slot_input(slot, bytes);

		must(desk, "input",
		     at >= free_from && (uintptr_t)at % 8 == 0 && at < free_from + 8 &&
			     at + bytes <= end_of(slot, O2_PART_INPUT));
		free_from = at + bytes;
	}
}

/* Add arrays, and check that each ends at the end of its pages. */
static void add_arrays(struct desk *desk)
{
	static const char *const names[] = {"sge", "wr", "entry", "fragment", "page", "segment", "x", "y"};
	static const uint32_t sizes[] = {1, 8, 16, 24};

	for (uint32_t i = 0; i < ARRAYS; i++) {
		const uint32_t part = O2_PART_ARRAYS + i;
		const size_t room = o2_impl_part_bytes((enum o2_impl_part)part);
		uint32_t size, count;
		uint8_t *at;

		if (o2_draw_bool(desk->c, 1, 1))
			continue;
		size = sizes[o2_draw(desk->c, 3)];
		count = o2_draw_bool(desk->c, 3, 1) ? (uint32_t)(room / size - o2_draw(desk->c, 9))
						    : (uint32_t)o2_draw(desk->c, 100);
		at = o2_impl_slot_array(desk->slot, (enum o2_impl_part)part, names[i], count, size);
		must(desk, "array", at + (size_t)count * size == end_of(desk->slot, part));
		desk->name[i] = names[i];
	}
}

static bool are(const uint8_t *from, const uint8_t *to, uint8_t byte)
{
	while (from < to && *from == byte)
		from++;
	return from >= to;
}

/* Fill part of each array, as an answer does. */
static void fill(struct desk *desk)
{
	for (uint32_t i = 0; i < ARRAYS; i++) {
		struct o2_impl_array *array = &desk->slot->array[i];

		if (desk->name[i] == NULL)
			continue;
		array->used = (uint32_t)o2_draw(desk->c, array->bytes);
		memset(array->start, 7, array->used);
	}
}

/* Check that a slot is as before each question: nothing of the last answer is left. */
static void check_clean(struct desk *desk)
{
	const struct o2_impl_slot *slot = desk->slot;
	char text[128];

	must(desk, "spoilt", !o2_impl_slot_spoilt(slot, text, sizeof(text)));
	must(desk, "out-cleared", are((const uint8_t *)slot->out, (const uint8_t *)(slot->out + 1), 0));
	must(desk, "refusal-cleared", slot->refusal->index == UINT32_MAX && slot->refusal->error == 0);
	for (uint32_t i = 0; i < ARRAYS; i++)
		must(desk, "array-cleared",
		     are(slot->part[O2_PART_ARRAYS + i], end_of(slot, O2_PART_ARRAYS + i), POISON));
}

/* Write a byte beside the answer: in a guard zone it must be detected and attributed. */
static void stray(struct desk *desk)
{
	const struct o2_impl_slot *slot = desk->slot;
	const uint64_t which = o2_draw(desk->c, ARRAYS + 1), far = o2_draw(desk->c, ZONE + 8);
	bool noticed = far < ZONE;
	char text[128] = "", expected[128];
	uint8_t *at, was;

	if (which < ARRAYS) {
		if (desk->name[which] == NULL ||
		    slot->array[which].start - slot->part[O2_PART_ARRAYS + which] <= (ptrdiff_t)far)
			return;
		at = slot->array[which].start - 1 - far;
		snprintf(expected, sizeof(expected), "bytes in front of array %s were changed",
			 desk->name[which]);
	} else {
		at = which == ARRAYS ? (uint8_t *)(slot->out + 1) + far : (uint8_t *)slot->refusal - 1 - far;
		snprintf(expected, sizeof(expected),
			 "bytes next to the out struct or the refusal were changed");
	}
	was = *at;
	*at = 0x5a;
	must(desk, "noticed", o2_impl_slot_spoilt(slot, text, sizeof(text)) == noticed);
	must(desk, "noticed-words", strcmp(text, noticed ? expected : "") == 0);
	if (!noticed)
		*at = was;
}

/* Check how an address in or beside the slots is described. */
static void explain(struct desk *desk)
{
	static const char *const names[] = {"the input", "the received bytes", "the refusal"};
	struct o2_impl_slot *slot = &desk->slots.slot[o2_draw(desk->c, SLOTS - 1)];
	const uint32_t part = (uint32_t)o2_draw(desk->c, O2_PARTS - 1);
	const uint32_t asked = (uint32_t)(desk->slot - desk->slots.slot);
	const size_t room = o2_impl_part_bytes((enum o2_impl_part)part);
	const size_t at = o2_draw_bool(desk->c, 1, 1) ? room - 1 + o2_draw(desk->c, 2)
						      : o2_draw(desk->c, room + PAGE - 1);
	const bool array = part >= O2_PART_ARRAYS, own = slot == desk->slot;
	const bool in_front = part + 1 == O2_PARTS && at >= room && slot + 1 == desk->slot;
	const char *name = !array ? names[part] : own ? desk->name[part - O2_PART_ARRAYS] : NULL;
	bool overrun = true, input = true;
	char text[128] = "", expected[128];

	if (in_front)
		snprintf(expected, sizeof(expected), "in front of the input");
	else if (name == NULL)
		snprintf(expected, sizeof(expected), "at memory that this stage was not given");
	else if (at < room)
		snprintf(expected, sizeof(expected), "inside %s%s", array ? "array " : "", name);
	else
		snprintf(expected, sizeof(expected), "at %s%s, %zu bytes behind its end",
			 array ? "array " : "", name, at - room);
	must(desk, "explained",
	     o2_impl_slots_explain(&desk->slots, asked, (uint64_t)(uintptr_t)(slot->part[part] + at),
				   &overrun, &input, text, sizeof(text)));
	must(desk, "explained-words", strcmp(text, expected) == 0);
	must(desk, "overrun", overrun == (part > O2_PART_BYTES && !in_front));
	must(desk, "input-written", input == (part <= O2_PART_BYTES && at < room));
}

static void explain_others(struct desk *desk)
{
	const uint64_t from = (uint64_t)(uintptr_t)desk->slots.memory, to = from + desk->slots.bytes;
	const uint64_t first = from + o2_draw(desk->c, PAGE - 1);
	bool overrun = true, input = true;
	char text[128] = "";

	must(desk, "first-page",
	     o2_impl_slots_explain(&desk->slots, 0, first, &overrun, &input, text, sizeof(text)) &&
		     !overrun && !input && strcmp(text, "in front of the input") == 0);
	must(desk, "before",
	     !o2_impl_slots_explain(&desk->slots, 0, from - 1, &overrun, &input, text, sizeof(text)));
	must(desk, "behind",
	     !o2_impl_slots_explain(&desk->slots, 0, to, &overrun, &input, text, sizeof(text)));
	must(desk, "last",
	     o2_impl_slots_explain(&desk->slots, 0, to - 1, &overrun, &input, text, sizeof(text)));
}

/* Check what is read from a refusal in the slot, or why it is invalid. */
static void refuse(struct desk *desk, struct o2_forms_run *run)
{
	static const uint32_t errors[] = {22, 1, ERRNO_MOST, 0, ERRNO_MOST + 1};
	struct o2_impl_refusal *refusal = desk->slot->refusal;
	const struct o2_answer *found = &run->found;
	const bool ends = o2_draw_bool(desk->c, 3, 1);
	enum o2_check_id check = O2_CHECKS;

	refusal->error = errors[o2_draw_pick(desk->c, sizeof(errors) / sizeof(errors[0]))];
	refusal->cost = (uint32_t)o2_draw(desk->c, O2_IMPL_COST_CONNECTION + 1);
	refusal->where = (uint32_t)o2_draw(desk->c, O2_IMPL_WHERE_WRITES + 1);
	refusal->index = (uint32_t)o2_draw(desk->c, 9);
	memset(refusal->name, 'x', sizeof(refusal->name));
	if (ends)
		refusal->name[o2_draw(desk->c, sizeof(refusal->name) - 1)] = '\0';
	if (refusal->error == 0 || refusal->error > ERRNO_MOST || !ends)
		check = O2_CHECK_RUN_STATUS;
	else if (refusal->cost > O2_IMPL_COST_CONNECTION || refusal->where > O2_IMPL_WHERE_WRITES)
		check = O2_CHECK_RUN_VALUE;
	o2_impl_get_answer(&run->asked, desk->slot, O2_IMPL_REFUSED, &run->found);
	if (check != O2_CHECKS) {
		must(desk, "no-refusal", found->kind == O2_ANSWER_BROKEN && found->fault.check == check);
		return;
	}
	must(desk, "refused",
	     found->kind == O2_ANSWER_REFUSED && found->refusal.error == (int)refusal->error &&
		     found->refusal.cost == (enum o2_answer_cost)refusal->cost &&
		     found->refusal.where == (enum o2_answer_where)refusal->where &&
		     found->refusal.index == refusal->index &&
		     strcmp(found->refusal.name, refusal->name) == 0);
}

void o2_forms_check_slots(struct o2_forms_run *run, struct o2_choice *choice, struct o2_report *report)
{
	struct desk desk = {.c = choice, .report = report};

	if (o2_impl_slots_create(SLOTS, &desk.slots) != 0)
		return;
	desk.slot = &desk.slots.slot[o2_draw(choice, SLOTS - 1)];
	check_layout(&desk);
	for (uint64_t left = 1 + o2_draw(choice, 5); left > 0 && !report->failed; left--) {
		memset(desk.name, 0, sizeof(desk.name));
		o2_impl_slot_reset(desk.slot);
		check_clean(&desk);
		add_inputs(&desk);
		add_arrays(&desk);
		fill(&desk);
		explain(&desk);
		refuse(&desk, run);
		stray(&desk);
	}
	explain_others(&desk);
	o2_impl_slots_destroy(&desk.slots);
}
