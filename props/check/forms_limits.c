/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "oracle/impl_slot.h"
#include "props/check/forms.h"
#include "props/scenario/draw.h"

/*
 * Each list that a shared object may fill, at its limit (o2ref/impl.h): the capacity that the object is told, where
 * the array ends, and how an answer with one element less, just as many, or one more is read. Also: where the
 * question ends in memory.
 */

#define POISON	0xa5
#define FRAGS	257u
#define MESSAGE 4096u
#define GATHER	(FRAGS * 32u) /* gather entries of all work requests */

struct row {
	enum o2_stage stage;
	uint8_t type; /* type of message that has the list; 0: any */
	const char *name;
	size_t pointer_at, count_at, capacity_at; /* offsets in the out struct */
	bool wide;				  /* capacity and count have 64 bits */
	uint32_t count_bits;
	uint32_t element_bytes, limit; /* limit 0: the question gives it */
};

#define LIST(STAGE, TYPE, NAME, STRUCT, POINTER, COUNT, CAPACITY, LIMIT)                               \
	{                                                                                              \
		O2_STAGE_##STAGE, TYPE, NAME, offsetof(STRUCT, POINTER), offsetof(STRUCT, COUNT),      \
			offsetof(STRUCT, CAPACITY), sizeof(((STRUCT *)NULL)->CAPACITY) == 8,           \
			8 * sizeof(((STRUCT *)NULL)->COUNT), sizeof(*((STRUCT *)NULL)->POINTER), LIMIT \
	}
#define PLAN(STAGE, STRUCT, PART, NAME)                                                                      \
	LIST(STAGE, 0, NAME "page", STRUCT, PART page, PART npages, PART page_capacity, FRAGS),              \
		LIST(STAGE, 0, NAME "entry", STRUCT, PART entry, PART nentries, PART entry_capacity, FRAGS), \
		LIST(STAGE, 0, NAME "frag", STRUCT, PART frag, PART nfrags, PART frag_capacity, FRAGS)

static const struct row rows[] = {
	LIST(MSG_DECODE, O2_MSG_PUT_ACK, "rd_frags", struct o2_impl_msg, rd.rd_frags, rd.rd_nfrags,
	     rd.capacity, FRAGS),
	LIST(MSG_DECODE, O2_MSG_GET_REQ, "rd_frags", struct o2_impl_msg, rd.rd_frags, rd.rd_nfrags,
	     rd.capacity, FRAGS),
	LIST(MSG_DECODE, O2_MSG_IMMEDIATE, "payload", struct o2_impl_msg, payload, hdr.payload_length,
	     payload_capacity_bytes, MESSAGE - 120),
	LIST(MSG_ENCODE, 0, "bytes", struct o2_impl_bytes, bytes, length_bytes, capacity_bytes, 0),
	LIST(SG_BUILD, 0, "entry", struct o2_impl_sg_list, entry, count, capacity, FRAGS),
	LIST(DMA_MAP, 0, "segment", struct o2_impl_dma_list, segment, count, capacity, FRAGS),
	PLAN(REG_PLAN, struct o2_impl_reg_plan, , ""),
	LIST(RDMA_PLAN, 0, "wr", struct o2_impl_rdma_plan, wr, nwr, wr_capacity, FRAGS),
	LIST(RDMA_PLAN, 0, "sge", struct o2_impl_rdma_plan, sge, nsge, sge_capacity, GATHER),
	PLAN(TRANSFER, struct o2_impl_transfer_out, source., "source."),
	PLAN(TRANSFER, struct o2_impl_transfer_out, sink., "sink."),
	LIST(TRANSFER, 0, "wr", struct o2_impl_transfer_out, plan.wr, plan.nwr, plan.wr_capacity, FRAGS),
	LIST(TRANSFER, 0, "sge", struct o2_impl_transfer_out, plan.sge, plan.nsge, plan.sge_capacity, GATHER),
	LIST(RDMA_CHAIN, 0, "wr", struct o2_impl_chain, wr, nwr, wr_capacity, FRAGS + 1),
	LIST(RDMA_CHAIN, 0, "sge", struct o2_impl_chain, sge, nsge, sge_capacity, GATHER + 1),
	LIST(KEYS, 0, "step", struct o2_impl_keys_out, step, count, capacity, 64),
	PLAN(SEND_PLAN, struct o2_impl_send_out, plan., "plan."),
	LIST(SEND_PLAN, 0, "slot.bytes", struct o2_impl_send_out, slot.bytes, slot.length_bytes,
	     slot.capacity_bytes, MESSAGE),
	LIST(SEND_PLAN, 0, "sge", struct o2_impl_send_out, sge, nsge, sge_capacity, FRAGS + 1),
	LIST(SETUP, 0, "event", struct o2_impl_setup_out, event, count, capacity, 2048),
	LIST(FLOW, 0, "step", struct o2_impl_flow_out, step, count, capacity, 64),
};

static bool wrong(struct o2_report *report, const struct row *row, const char *what, uint64_t found,
		  uint64_t expected)
{
	o2_report_fail_in(report, "forms/limits", what, "%s of %s: found %" PRIu64 ", expected %" PRIu64,
			  row->name, o2_stage_name(row->stage), found, expected);
	return false;
}

/* Check that the capacity is the limit, and that the array ends at the end of its pages. */
static bool check_room(const struct o2_impl_slot *slot, const struct row *row, uint32_t limit,
		       const uint8_t **start, struct o2_report *report)
{
	const uint8_t *out = (const uint8_t *)slot->out, *end;
	uint64_t capacity = 0;
	uint32_t narrow, part = O2_PART_ARRAYS;

	memcpy(&narrow, out + row->capacity_at, sizeof(narrow));
	capacity = narrow;
	if (row->wide)
		memcpy(&capacity, out + row->capacity_at, sizeof(capacity));
	memcpy(start, out + row->pointer_at, sizeof(*start));
	if (capacity != limit)
		return wrong(report, row, "capacity", capacity, limit);
	end = *start + (size_t)limit * row->element_bytes;
	while (part < O2_PARTS && end != slot->part[part] + o2_impl_part_bytes((enum o2_impl_part)part))
		part++;
	return part < O2_PARTS || wrong(report, row, "room", part, O2_PARTS);
}

/* Check that the question is written only to the memory that was reserved for it. */
static void check_question(const struct o2_forms_run *run, struct o2_impl_slot *slot, const struct row *row,
			   struct o2_report *report)
{
	uint8_t *input = slot->part[O2_PART_INPUT];
	const size_t room = o2_impl_part_bytes(O2_PART_INPUT);

	memset(input, POISON, room);
	o2_impl_put_case(&run->asked, slot);
	for (size_t i = slot->in_used; i < room && !report->failed; i++)
		if (input[i] != POISON)
			wrong(report, row, "question", i, slot->in_used);
}

static void set_count(struct o2_impl_slot *slot, const struct row *row, uint64_t count)
{
	uint8_t *at = (uint8_t *)slot->out + row->count_at;

	if (row->count_bits == 64)
		memcpy(at, &count, sizeof(count));
	else
		memcpy(at, &(uint32_t){(uint32_t)count}, sizeof(uint32_t));
	if (row->stage == O2_STAGE_MSG_DECODE)
		slot->out->msg_decode.ibm_type = row->type;
}

/* An answer with too many elements must be refused; any other must leave nothing to the next answer. */
static void check_count(struct o2_forms_run *run, struct o2_impl_slot *slot, const struct row *row,
			uint32_t limit, uint64_t count, struct o2_report *report)
{
	const struct o2_answer_fault *fault = &run->found.fault;
	const uint8_t *start = NULL;
	char due[128];
	bool over;

	o2_impl_put_case(&run->asked, slot);
	if (!check_room(slot, row, limit, &start, report))
		return;
	for (uint32_t i = 0; i < O2_PARTS - O2_PART_ARRAYS; i++)
		if (slot->array[i].name != NULL)
			memset(slot->array[i].start, 0, slot->array[i].bytes);
	set_count(slot, row, count);
	memset(&run->found, 0, sizeof(run->found));
	o2_impl_get_answer(&run->asked, slot, O2_IMPL_OK, &run->found);
	over = run->found.kind == O2_ANSWER_BROKEN && fault->check == O2_CHECK_RUN_COUNT_OVER_CAPACITY;
	snprintf(due, sizeof(due), "the answer counts %" PRIu64 " in array %s, capacity %" PRIu32, count,
		 row->name, limit);
	if (over != (count > limit))
		wrong(report, row, "count", over, count > limit);
	else if (over && strcmp(fault->text, due) != 0) {
		wrong(report, row, "words", count, limit);
		o2_report_add(report, "found %s, expected %s", fault->text, due);
	}
	o2_impl_slot_reset(slot);
	for (size_t i = 0; !over && i < count * row->element_bytes && !report->failed; i++)
		if (start[i] != POISON)
			wrong(report, row, "left", i, count * row->element_bytes);
}

static bool table_ends(const struct o2_case_device *device)
{
	const uint32_t npages = device->device.npages;
	bool ends = true;

	for (uint32_t page = npages; page < O2_CASE_PAGES; page++)
		ends = ends && (device->unmapped[page / 8] >> page % 8 & 1) == 0 &&
		       device->device_page[page] == 0;
	return ends;
}

bool o2_forms_tables_end(const struct o2_case *asked)
{
	switch (asked->stage) {
	case O2_STAGE_DMA_MAP:
		return table_ends(&asked->dma.device);
	case O2_STAGE_TRANSFER:
		return table_ends(&asked->transfer.node[O2_SOURCE].device) &&
		       table_ends(&asked->transfer.node[O2_SINK].device);
	case O2_STAGE_SEND_PLAN:
		return table_ends(&asked->send.memory.device);
	default:
		return true;
	}
}

static void check_list(struct o2_forms_run *run, struct o2_choice *choice, struct o2_report *report)
{
	const struct row *row = &rows[o2_draw(choice, sizeof(rows) / sizeof(rows[0]) - 1)];
	struct o2_impl_slots slots;
	uint32_t limit = row->limit;

	o2_draw_case(choice, row->stage, &run->asked, &run->scenario);
	if (!o2_choice_ok(choice) || o2_impl_slots_create(1, &slots) != 0)
		return;
	if (row->stage == O2_STAGE_MSG_ENCODE)
		limit = run->asked.msg_encode.capacity_bytes;
	snprintf(run->change.text, sizeof(run->change.text), "list %s of %" PRIu32, row->name, limit);
	check_question(run, &slots.slot[0], row, report);
	for (uint64_t count = limit + 1; count + 1 >= limit && !report->failed; count--) {
		check_count(run, &slots.slot[0], row, limit, count, report);
		if (count == 0)
			break;
	}
	o2_impl_slots_destroy(&slots);
}

/* The page list of a device may have O2_CASE_PAGES entries; one more must be refused. */
static void check_device(struct o2_forms_run *run, struct o2_choice *choice, struct o2_report *report)
{
	static const struct place {
		enum o2_stage stage;
		const char *node; /* member with the device; NULL: the question itself has it */
	} places[] = {{O2_STAGE_DMA_MAP, NULL},
		      {O2_STAGE_TRANSFER, "source"},
		      {O2_STAGE_TRANSFER, "sink"},
		      {O2_STAGE_SEND_PLAN, "memory"}};
	const struct place *place = &places[o2_draw_pick(choice, sizeof(places) / sizeof(places[0]))];
	const uint32_t npages = O2_CASE_PAGES + (uint32_t)o2_draw(choice, 1);
	struct o2_error error = {0};
	json_t *form, *device;
	bool right;
	int rc;

	o2_draw_case(choice, place->stage, &run->asked, &run->scenario);
	form = o2_choice_ok(choice) ? o2_case_to_json(&run->asked) : NULL;
	if (form == NULL)
		return;
	device = json_object_get(place->node == NULL ? form : json_object_get(form, place->node), "device");
	json_object_set_new(device, "kind", json_string("bus"));
	json_object_set_new(device, "npages", json_integer(npages));
	json_object_set_new(device, "unmapped", json_pack("[i]", (int)npages - 1));
	rc = o2_case_from_json(form, &run->again, &error);
	json_decref(form);
	right = rc == 0;
	if (npages > O2_CASE_PAGES)
		right = rc == -EINVAL && error.field != NULL && error.value == npages &&
			error.limit == O2_CASE_PAGES && strstr(error.field, "device.npages") != NULL;
	if (!right)
		o2_report_fail(report, "forms/limits/device", "%" PRIu32 " pages of %s of %s: %d, %s", npages,
			       place->node == NULL ? "the device" : place->node, o2_stage_name(place->stage),
			       rc, error.field);
}

void o2_forms_check_limits(struct o2_forms_run *run, struct o2_choice *choice, struct o2_report *report)
{
	if (o2_draw_bool(choice, 7, 1))
		check_device(run, choice, report);
	else
		check_list(run, choice, report);
}
