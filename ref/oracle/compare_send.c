/* SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "oracle/stage_ops.h"
#include "wire/layout.h"

/*
 * The comparison of a message as it is posted.  A model of the device, which knows the slot, the registration
 * and the memory contents, yields the bytes of the gather entries.  These are compared with the payload that
 * the question's pieces define; no other stage of the library takes part.
 */

/* --- memory contents --- */

struct place {
	uint32_t page, offset;
};

static bool of_virtual(const struct o2_address_space *space, uint64_t addr, struct place *place)
{
	for (uint32_t i = 0; i < space->nranges; i++) {
		const struct o2_vrange *range = &space->range[i];
		const uint64_t at = addr - range->base;

		if (at / space->page_bytes >= range->npages)
			continue;
		*place = (struct place){range->page[at / space->page_bytes],
					(uint32_t)(at % space->page_bytes)};
		return true;
	}
	return false;
}

static bool of_device(const struct o2_dma_device *device, uint64_t addr, struct place *place)
{
	const uint64_t at = (addr - device->base) / device->page_bytes;

	place->offset = (uint32_t)((addr - device->base) % device->page_bytes);
	if (at >= device->npages)
		return false;
	place->page = (uint32_t)at;
	if (device->kind != O2_DMA_IOMMU)
		return true;
	for (place->page = 0; place->page < device->npages; place->page++)
		if (device->iommu.device_page[place->page] == at)
			return true;
	return false;
}

/* The page and offset of a registered address. */
static bool look_up(const struct o2_case_node *node, enum o2_reg_mode mode, uint64_t addr,
		    struct place *place)
{
	return mode == O2_REG_USER ? of_virtual(&node->memory.space, addr, place)
				   : of_device(&node->device.device, addr, place);
}

/* Write the payload, the bytes [offset, offset + nob) of the concatenated pieces. */
static void fold_payload(const struct o2_case_node *node, uint8_t *bytes)
{
	const struct o2_buffer *buffer = &node->memory.buffer;
	uint64_t skip = buffer->offset, left = buffer->nob;

	for (uint32_t i = 0; i < buffer->count && left > 0; i++) {
		const uint64_t length = buffer->kind == O2_IOV ? buffer->iov[i].len : buffer->kiov[i].len;
		uint64_t at = skip < length ? skip : length;

		skip -= at;
		for (; at < length && left > 0; at++, left--) {
			struct place place = {0};

			if (buffer->kind == O2_IOV)
				of_virtual(&node->memory.space, buffer->iov[i].base + at, &place);
			else
				place = (struct place){buffer->kiov[i].page,
						       buffer->kiov[i].offset + (uint32_t)at};
			*bytes++ = o2_impl_byte_at(place.page, place.offset);
		}
	}
}

/* --- gathering --- */

static void differ_key(struct o2_comparison *comparison, uint32_t index, const struct o2_impl_gather *sge)
{
	struct o2_difference *item = o2_differ_text(comparison, O2_CHECK_SEND_KEY, "sge[]", "");

	if (item == NULL)
		return;
	snprintf(item->field, sizeof(item->field), "sge[%" PRIu32 "]", index);
	snprintf(item->expected, sizeof(item->expected), "bytes of the slot, or registered ones");
	snprintf(item->found, sizeof(item->found),
		 "no such bytes: 0x%" PRIx64 ", %" PRIu32 " bytes, key 0x%" PRIx32, sge->addr, sge->length,
		 sge->lkey);
}

static uint32_t gather_slot(const struct o2_case_send *asked, const struct o2_answer_send *found,
			    const struct o2_impl_gather *sge, uint32_t room, uint8_t *bytes)
{
	const uint64_t at = sge->addr - asked->slot_addr;
	const uint64_t written = at < found->slot.length_bytes ? found->slot.length_bytes - at : 0;
	const uint32_t count = written < room ? (uint32_t)written : room;

	memcpy(bytes, found->slot.bytes + at, count);
	return count;
}

/* A device of kind virtual has no address for such a page.  A driver maps it temporarily and copies the payload. */
static bool has_no_cpu_mapping(const struct o2_dma_device *device, uint32_t page)
{
	return device->kind == O2_DMA_VIRTUAL && page < device->npages &&
	       !o2_dma_has_cpu_mapping(device, page);
}

/* Read the bytes of a gather entry in the payload's memory, under the key of its registration. */
static uint32_t gather_payload(const struct o2_case_node *node, const struct o2_reg_plan *plan,
			       const struct o2_impl_gather *sge, uint32_t room, struct o2_stream *stream,
			       uint8_t *bytes, enum o2_check_id *unmapped)
{
	const struct o2_dma_device *device = &node->device.device;
	const uint32_t page_bytes =
		plan->mode == O2_REG_USER ? node->memory.space.page_bytes : device->page_bytes;
	struct place place = {0};
	uint64_t bad, addr = 0;
	uint32_t count = 0;

	o2_stream_clear(stream);
	/* Without an IOMMU table, or with a page size of 0, no memory can have been mapped. */
	if (sge->lkey != node->key || plan->nfrags == 0 || node->memory.space.page_bytes == 0 ||
	    device->page_bytes == 0 || (device->kind == O2_DMA_IOMMU && device->iommu.device_page == NULL))
		return 0;
	/* Gather the bytes before the first address that is not registered. */
	(void)o2_stream_of_region(plan, sge->addr, room, stream, &bad);
	for (; count < stream->nob; count++) {
		const uint64_t before = addr;

		addr = o2_stream_place(stream, count);
		/* Of the bytes of a page that follow each other, only the first is looked up. */
		if (count > 0 && addr == before + 1 && place.offset + 1 < page_bytes)
			place.offset++;
		else if (!look_up(node, plan->mode, addr, &place))
			break;
		if (has_no_cpu_mapping(device, place.page))
			*unmapped = O2_CHECK_SEND_NO_CPU_MAPPING;
		bytes[count] = o2_impl_byte_at(place.page, place.offset);
	}
	if (count > 0 && device->kind == O2_DMA_IOMMU && device->iommu.fault != O2_DMA_NO_FAULT)
		*unmapped = O2_CHECK_SEND_MAPPING_FAILED;
	return count;
}

uint32_t o2_send_gather(const struct o2_case_send *asked, const struct o2_answer_send *found, uint32_t index,
			uint32_t room, struct o2_stream *stream, uint8_t *bytes, enum o2_check_id *unmapped)
{
	const struct o2_impl_gather *sge = &found->sge[index];

	*unmapped = O2_CHECKS;
	if (room > sge->length)
		room = sge->length;
	if (o2_case_in_slot(asked, sge))
		return gather_slot(asked, found, sge, room, bytes);
	return gather_payload(&asked->memory, &found->plan, sge, room, stream, bytes, unmapped);
}

/* After a failed mapping the addresses are arbitrary (LU-19496); a page without a CPU mapping has none. */
static void differ_unmapped(struct o2_comparison *comparison, uint32_t index,
			    const struct o2_impl_gather *sge, enum o2_check_id check)
{
	struct o2_difference *item =
		check == O2_CHECKS ? NULL : o2_differ_text(comparison, check, "sge[]", "");

	if (item == NULL)
		return;
	snprintf(item->field, sizeof(item->field), "sge[%" PRIu32 "]", index);
	snprintf(item->expected, sizeof(item->expected), "copied: %s",
		 check == O2_CHECK_SEND_MAPPING_FAILED ? "the mapping fails"
						       : "a page without a CPU mapping");
	snprintf(item->found, sizeof(item->found), "gathered: 0x%" PRIx64 ", %" PRIu32 " bytes", sge->addr,
		 sge->length);
}

/* Read all gather entries.  False: an entry is unreadable or the message too long; do not compare further. */
static bool gather(struct o2_comparison *comparison, const struct o2_case_send *asked,
		   const struct o2_answer_send *found, uint32_t right_bytes, struct o2_answer_bytes *message)
{
	message->length_bytes = 0;
	for (uint32_t i = 0; i < found->nsge; i++) {
		const struct o2_impl_gather *sge = &found->sge[i];
		enum o2_check_id unmapped;
		uint32_t count;

		if (sge->length > O2_MSG_BYTES - message->length_bytes) {
			o2_differ(comparison, O2_CHECK_SEND_LENGTH, "length", O2_NO_INDEX, right_bytes,
				  (uint64_t)message->length_bytes + sge->length);
			return false;
		}
		count = o2_send_gather(asked, found, i, sge->length, &comparison->found_from,
				       message->bytes + message->length_bytes, &unmapped);
		message->length_bytes += count;
		if (count == sge->length) {
			differ_unmapped(comparison, i, sge, unmapped);
			continue;
		}
		if (o2_case_in_slot(asked, sge))
			o2_differ(comparison, O2_CHECK_SEND_SLOT, "sge[].length", i, count, sge->length);
		else
			differ_key(comparison, i, sge);
		return false;
	}
	return true;
}

/* --- comparison of two answers --- */

static void compare_entries(struct o2_comparison *comparison, const struct o2_case_send *asked,
			    const struct o2_answer_send *expected, const struct o2_answer_send *found)
{
	if (found->nsge == 0 || found->nsge > asked->max_sge)
		o2_differ(comparison, O2_CHECK_SEND_ENTRIES, "nsge", O2_NO_INDEX, expected->nsge,
			  found->nsge);
	for (uint32_t i = 0; i < found->nsge; i++)
		if (found->sge[i].length == 0)
			o2_differ(comparison, O2_CHECK_SEND_ENTRIES, "sge[].length", i,
				  i < expected->nsge ? expected->sge[i].length : 0, 0);
}

/*
 * Correct the found plan so that it can be registered, as the expected plan.  The reference's plan cannot be
 * used: an implementation may register another part of the payload, so its region begins where its list does.
 */
static void right_plan(const struct o2_case_node *node, const struct o2_reg_plan *found,
		       struct o2_reg_plan *right)
{
	const uint32_t page_bytes = node->memory.space.page_bytes;

	*right = *found;
	if (found->npages > node->max_pages)
		right->npages = node->max_pages;
	if (found->nentries > node->max_pages)
		right->nentries = node->max_pages;
	for (uint32_t i = 0; i < right->npages; i++)
		right->page[i] -= right->page[i] % page_bytes;
	if (found->mode == O2_REG_FASTREG && found->npages > 0)
		right->iova = found->page[0] + found->page_offset;
	if (found->mode == O2_REG_FASTREG_GAPS && found->nentries > 0)
		right->iova = found->entry[0].addr;
	if (found->mode == O2_REG_PHYS)
		right->iova = node->iova + (node->iova % page_bytes == 0 ? found->page_offset : 0);
	right->page_offset = (uint32_t)(right->iova % page_bytes);
}

static void compare_plan(struct o2_comparison *comparison, const struct o2_case_node *node,
			 const struct o2_reg_plan *found)
{
	static const struct o2_plan_checks checks = {.peer_limit = O2_CHECKS,
						     .access = O2_CHECKS,
						     .source_access = O2_CHECKS,
						     .sink_fragments = O2_CHECKS,
						     .range = O2_CHECKS,
						     .range_in_pages = O2_CHECKS,
						     .pages = O2_CHECK_SEND_PLAN,
						     .iova = O2_CHECK_SEND_PLAN,
						     .entries = O2_CHECK_SEND_PLAN};
	const struct o2_plan_terms terms = {.of = "plan.",
					    .mode = node->mode,
					    .side = O2_SOURCE,
					    .page_bytes = node->memory.space.page_bytes,
					    .max_pages = node->max_pages,
					    .checks = &checks};
	static struct o2_reg_plan right;

	if (found->nfrags == 0 || terms.page_bytes == 0)
		return;
	right_plan(node, found, &right);
	o2_compare_terms(comparison, &terms, &right, found);
}

static void compare_payload(struct o2_comparison *comparison, const struct o2_answer_bytes *right,
			    const struct o2_answer_bytes *found)
{
	for (uint32_t i = O2_AT_PAYLOAD; i < right->length_bytes && i < found->length_bytes; i++) {
		struct o2_difference *item;

		if (right->bytes[i] == found->bytes[i])
			continue;
		item = o2_differ_text(comparison, O2_CHECK_SEND_PAYLOAD, "payload", "");
		if (item == NULL)
			return;
		snprintf(item->field, sizeof(item->field), "payload byte %" PRIu32,
			 i - (uint32_t)O2_AT_PAYLOAD);
		snprintf(item->expected, sizeof(item->expected), "0x%x", right->bytes[i]);
		snprintf(item->found, sizeof(item->found), "0x%x", found->bytes[i]);
		return;
	}
}

void o2_send_message(const struct o2_case_send *asked, const struct o2_answer_send *expected,
		     struct o2_answer_bytes *message)
{
	const uint32_t nob =
		asked->msg.ibm_type == O2_MSG_IMMEDIATE ? (uint32_t)asked->memory.memory.buffer.nob : 0;

	message->length_bytes = nob > 0 ? (uint32_t)O2_AT_PAYLOAD + nob : expected->slot.length_bytes;
	memcpy(message->bytes, expected->slot.bytes,
	       nob > 0 ? (uint32_t)O2_AT_PAYLOAD : expected->slot.length_bytes);
	if (nob > 0)
		fold_payload(&asked->memory, message->bytes + O2_AT_PAYLOAD);
}

void o2_compare_send(struct o2_comparison *comparison, const struct o2_case_send *asked,
		     const struct o2_answer_send *expected, const struct o2_answer_send *found)
{
	static struct o2_answer_bytes right, message;
	bool immediate = asked->msg.ibm_type == O2_MSG_IMMEDIATE;

	compare_entries(comparison, asked, expected, found);
	compare_plan(comparison, &asked->memory, &found->plan);
	o2_send_message(asked, expected, &right);
	if (found->nsge > 0 && gather(comparison, asked, found, right.length_bytes, &message)) {
		o2_expect(comparison, O2_CHECK_SEND_LENGTH, "length", O2_NO_INDEX, right.length_bytes,
			  message.length_bytes);
		compare_payload(comparison, &right, &message);
		o2_compare_checksum(comparison, O2_CHECK_SEND_CHECKSUM, &asked->msg, &message);
		/* The payload of an IMMEDIATE has been compared above. */
		if (immediate && message.length_bytes > O2_AT_PAYLOAD)
			message.length_bytes = O2_AT_PAYLOAD;
		o2_compare_fields(comparison, &asked->msg, &right, &message);
	}
	o2_stream_clear(&comparison->found_from);
	o2_stream_clear(&comparison->expected_from);
}
