/* SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <string.h>

#include "forms/wire_fields.h"
#include "props/check/reproducer.h"

/* The question of a case as initialisers of the structs of o2ref/impl.h. */

#define PER_LINE 12u

void o2_reproducer_bytes(struct o2_reproducer *r, const uint8_t *bytes, uint64_t count)
{
	for (uint64_t i = 0; i < count; i++)
		fprintf(r->out, "%s0x%02x,", i % PER_LINE == 0 ? "\n\t" : " ", bytes[i]);
}

static void put_bytes(struct o2_reproducer *r, const char *name, const uint8_t *bytes, uint32_t count)
{
	if (count == 0)
		return;
	fprintf(r->out, "static const uint8_t %s[%" PRIu32 "] = {", name, count);
	o2_reproducer_bytes(r, bytes, count);
	fputs("\n};\n", r->out);
}

static void put_numbers(struct o2_reproducer *r, const char *name, const uint32_t *numbers, uint32_t count)
{
	if (count == 0)
		return;
	fprintf(r->out, "static const uint32_t %s[%" PRIu32 "] = {", name, count);
	for (uint32_t i = 0; i < count; i++)
		fprintf(r->out, "%s%" PRIu32 ",", i % PER_LINE == 0 ? "\n\t" : " ", numbers[i]);
	fputs("\n};\n", r->out);
}

/* Write a pointer to the array, or NULL if count is 0.  cast: if the struct's pointer is not const. */
static void put_pointer(struct o2_reproducer *r, const char *member, const char *cast, const char *array,
			uint32_t count)
{
	if (count == 0)
		fprintf(r->out, ".%s = NULL, ", member);
	else
		fprintf(r->out, ".%s = %s%s, ", member, cast, array);
}

static void put_options(struct o2_reproducer *r, const struct o2_wire_options *options)
{
	fprintf(r->out,
		"\t.options = {.max_frags = %" PRIu32 ", .require_checksum = %d, .any_lnd = %d,\n"
		"\t\t    .tolerate_immediate_checksum = %d},\n",
		options->max_frags, options->require_checksum, options->any_lnd,
		options->tolerate_immediate_checksum);
}

static void put_frags(struct o2_reproducer *r, const char *name, const struct o2_rdma_desc *desc)
{
	if (desc->rd_nfrags == 0)
		return;
	fprintf(r->out, "static const struct o2_impl_frag %s[] = {\n", name);
	for (uint32_t i = 0; i < desc->rd_nfrags && i < O2_MAX_FRAGS; i++)
		fprintf(r->out, "\t{.rf_addr = 0x%" PRIx64 "u, .rf_nob = %" PRIu32 "u},\n",
			desc->rd_frags[i].rf_addr, desc->rd_frags[i].rf_nob);
	fputs("};\n", r->out);
}

static void put_desc(struct o2_reproducer *r, const char *member, const char *frags,
		     const struct o2_rdma_desc *desc)
{
	const uint32_t count = desc->rd_nfrags < O2_MAX_FRAGS ? desc->rd_nfrags : O2_MAX_FRAGS;

	fprintf(r->out,
		"\t.%s = {.rd_key = 0x%" PRIx32 "u, .rd_nfrags = %" PRIu32 "u, .capacity = %" PRIu32
		",\n\t\t",
		member, desc->rd_key, desc->rd_nfrags, count);
	put_pointer(r, "rd_frags", "(struct o2_impl_frag *)", frags, count);
	fputs("},\n", r->out);
}

static void put_decode(struct o2_reproducer *r)
{
	const struct o2_case_msg_decode *asked = &r->asked.msg_decode;

	put_bytes(r, "received", asked->bytes, asked->length_bytes);
	o2_reproducer_array(r, "uint8_t", "in_bytes", asked->length_bytes);
	fputs("static const struct o2_impl_msg_decode_in in = {\n", r->out);
	put_options(r, &asked->options);
	fprintf(r->out, "\t.bytes = in_bytes, .length_bytes = %" PRIu32 ",\n};\n", asked->length_bytes);
}

/* Members of o2_impl_msg that are not named like the fields (forms/wire_fields.h). */
static const char *member_of(const char *field)
{
	static const struct {
		const char *field, *member;
	} others[] = {
		{"byte_order", "big_endian"},
		{"hdr.wh_interface_cookie", "hdr.wmd_interface_cookie"},
		{"hdr.wh_object_cookie", "hdr.wmd_object_cookie"},
		{"ibprm_cookie", "cookie"},
		{"ibgm_cookie", "cookie"},
		{"ibcm_cookie", "cookie"},
		{"rd_key", "rd.rd_key"},
	};

	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
		if (strcmp(others[i].field, field) == 0)
			return others[i].member;
	return field;
}

struct each {
	void (*call)(struct o2_reproducer *r, const char *member, uint64_t value);
	struct o2_reproducer *r;
};

static void call_each(const struct o2_field *field, uint64_t value, uint64_t other, void *context)
{
	const struct each *each = context;

	(void)other;
	each->call(each->r, member_of(field->name), value);
}

void o2_reproducer_message(const struct o2_msg *msg,
			   void (*call)(struct o2_reproducer *r, const char *member, uint64_t value),
			   struct o2_reproducer *r)
{
	struct each each = {call, r};
	struct o2_msg opposite;

	/* Compare with a message in which every number differs, so that each number is written. */
	for (size_t i = 0; i < sizeof(opposite); i++)
		((uint8_t *)&opposite)[i] = (uint8_t) ~((const uint8_t *)msg)[i];
	o2_fields_compare(o2_msg_header_fields, msg, &opposite, call_each, &each);
	o2_fields_compare(o2_msg_body_fields(msg->ibm_type), msg, &opposite, call_each, &each);
}

static void put_member(struct o2_reproducer *r, const char *member, uint64_t value)
{
	if (strcmp(member, "ibm_nob") == 0 || strcmp(member, "rd.rd_key") == 0)
		return; /* ibm_nob is computed; rd_key is written with the fragments */
	if (strcmp(member, "ibcm_status") == 0)
		fprintf(r->out, "\t.msg.%s = %" PRId32 ",\n", member, (int32_t)value);
	else
		fprintf(r->out, "\t.msg.%s = 0x%" PRIx64 "u,\n", member, value);
}

static void put_encode(struct o2_reproducer *r)
{
	const struct o2_case_msg_encode *asked = &r->asked.msg_encode;
	const struct o2_rdma_desc *desc = o2_msg_desc(&asked->msg);
	const bool immediate = asked->msg.ibm_type == O2_MSG_IMMEDIATE;

	if (desc != NULL)
		put_frags(r, "frags", desc);
	if (immediate)
		put_bytes(r, "payload", asked->payload, sizeof(asked->payload));
	fputs("static const struct o2_impl_msg_encode_in in = {\n", r->out);
	put_options(r, &asked->options);
	o2_reproducer_message(&asked->msg, put_member, r);
	if (desc != NULL)
		put_desc(r, "msg.rd", "frags", desc);
	if (immediate)
		fputs("\t.msg.payload = (uint8_t *)payload, .msg.payload_capacity_bytes = sizeof(payload),\n",
		      r->out);
	fputs("};\n", r->out);
}

/* Names of one side's arrays begin with the side: "source_pieces"; a single stage has no prefix. */
static const char *named(char *text, size_t text_bytes, const char *side, const char *name)
{
	snprintf(text, text_bytes, "%s%s%s", side, side[0] == '\0' ? "" : "_", name);
	return text;
}

static void put_memory_arrays(struct o2_reproducer *r, const char *side, const struct o2_case_buffer *memory)
{
	const struct o2_buffer *buffer = &memory->buffer;
	char name[64], pages[24];

	if (buffer->count > 0)
		fprintf(r->out, "static const struct %s %s[] = {\n",
			buffer->kind == O2_IOV ? "o2_impl_iov" : "o2_impl_kiov",
			named(name, sizeof(name), side, "pieces"));
	for (uint32_t i = 0; i < buffer->count; i++)
		if (buffer->kind == O2_IOV)
			fprintf(r->out, "\t{.base = 0x%" PRIx64 "u, .len = %" PRIu64 "u},\n",
				buffer->iov[i].base, buffer->iov[i].len);
		else
			fprintf(r->out,
				"\t{.page = %" PRIu32 "u, .offset = %" PRIu32 "u, .len = %" PRIu32 "u},\n",
				buffer->kiov[i].page, buffer->kiov[i].offset, buffer->kiov[i].len);
	if (buffer->count > 0)
		fputs("};\n", r->out);
	for (uint32_t i = 0; i < memory->space.nranges; i++) {
		snprintf(pages, sizeof(pages), "pages_%" PRIu32, i);
		put_numbers(r, named(name, sizeof(name), side, pages), memory->space.range[i].page,
			    memory->space.range[i].npages);
	}
	if (memory->space.nranges == 0)
		return;
	fprintf(r->out, "static const struct o2_impl_vrange %s[] = {\n",
		named(name, sizeof(name), side, "ranges"));
	for (uint32_t i = 0; i < memory->space.nranges; i++) {
		const struct o2_vrange *range = &memory->space.range[i];

		snprintf(pages, sizeof(pages), "pages_%" PRIu32, i);
		fprintf(r->out, "\t{.base = 0x%" PRIx64 "u, .npages = %" PRIu32 ", ", range->base,
			range->npages);
		put_pointer(r, "page", "", named(name, sizeof(name), side, pages), range->npages);
		fputs("},\n", r->out);
	}
	fputs("};\n", r->out);
}

/* Write the members `buffer` and `space`.  indent: of the lines. */
static void put_memory(struct o2_reproducer *r, const char *indent, const char *side,
		       const struct o2_case_buffer *memory)
{
	const struct o2_buffer *buffer = &memory->buffer;
	const struct o2_address_space *space = &memory->space;
	char name[64];

	fprintf(r->out,
		"%s.buffer = {.kind = %s, .count = %" PRIu32 ", .offset = %" PRIu64 "u, .nob = %" PRIu64
		"u,\n"
		"%s\t   ",
		indent, buffer->kind == O2_IOV ? "O2_IMPL_IOV" : "O2_IMPL_KIOV", buffer->count,
		buffer->offset, buffer->nob, indent);
	put_pointer(r, buffer->kind == O2_IOV ? "iov" : "kiov", "", named(name, sizeof(name), side, "pieces"),
		    buffer->count);
	fprintf(r->out,
		"},\n%s.space = {.page_bytes = %" PRIu32 "u, .npages = %" PRIu32 "u, .nranges = %" PRIu32
		",\n"
		"%s\t  ",
		indent, space->page_bytes, space->npages, space->nranges, indent);
	put_pointer(r, "range", "", named(name, sizeof(name), side, "ranges"), space->nranges);
	fputs("},\n", r->out);
}

static void put_sg(struct o2_reproducer *r)
{
	put_memory_arrays(r, "", &r->asked.sg.memory);
	fprintf(r->out, "static const struct o2_impl_sg_in in = {\n\t.max_entries = %" PRIu32 "u,\n",
		r->asked.sg.max_entries);
	put_memory(r, "\t", "", &r->asked.sg.memory);
	fputs("};\n", r->out);
}

static void put_device_arrays(struct o2_reproducer *r, const char *side, const struct o2_dma_device *device)
{
	char name[64];

	if (device->unmapped != NULL)
		put_bytes(r, named(name, sizeof(name), side, "unmapped"), device->unmapped,
			  (device->npages + 7) / 8);
	if (device->kind == O2_DMA_IOMMU)
		put_numbers(r, named(name, sizeof(name), side, "device_page"), device->iommu.device_page,
			    device->npages);
}

static void put_device(struct o2_reproducer *r, const char *indent, const char *side,
		       const struct o2_dma_device *device)
{
	static const char *const kinds[] = {"O2_IMPL_DMA_BUS", "O2_IMPL_DMA_VIRTUAL", "O2_IMPL_DMA_IOMMU"};
	const bool iommu = device->kind == O2_DMA_IOMMU;
	char name[64];

	fprintf(r->out,
		"%s.device = {.kind = %s, .page_bytes = %" PRIu32 "u, .npages = %" PRIu32 "u, .fault = %d,\n"
		"%s\t   .base = 0x%" PRIx64 "u, .merge = 0x%" PRIx64 "u,\n%s\t   ",
		indent, kinds[device->kind], device->page_bytes, device->npages,
		iommu ? (int)device->iommu.fault : 0, indent, device->base, iommu ? device->iommu.merge : 0,
		indent);
	put_pointer(r, "unmapped", "", named(name, sizeof(name), side, "unmapped"),
		    device->unmapped == NULL ? 0 : device->npages);
	put_pointer(r, "device_page", "", named(name, sizeof(name), side, "device_page"),
		    iommu ? device->npages : 0);
	fputs("},\n", r->out);
}

static void put_dma(struct o2_reproducer *r)
{
	const struct o2_sg_list *list = &r->asked.dma.list;

	if (list->count > 0)
		fputs("static const struct o2_impl_sg_entry entries[] = {\n", r->out);
	for (uint32_t i = 0; i < list->count; i++)
		fprintf(r->out, "\t{.page = %" PRIu32 "u, .offset = %" PRIu32 "u, .length = %" PRIu32 "u},\n",
			list->entry[i].page, list->entry[i].offset, list->entry[i].length);
	if (list->count > 0)
		fputs("};\n", r->out);
	put_device_arrays(r, "", &r->asked.dma.device.device);
	fprintf(r->out,
		"static const struct o2_impl_dma_in in = {\n"
		"\t.list = {.count = %" PRIu32 ", .capacity = %" PRIu32 ", .gaps = %d, .nob = %" PRIu64
		"u,\n\t\t ",
		list->count, list->count, list->gaps, list->nob);
	put_pointer(r, "entry", "(struct o2_impl_sg_entry *)", "entries", list->count);
	fputs("},\n", r->out);
	put_device(r, "\t", "", &r->asked.dma.device.device);
	fputs("};\n", r->out);
}

static const char *const mode_names[O2_REG_MODES] = {
	"O2_IMPL_GLOBAL", "O2_IMPL_FMR",  "O2_IMPL_FASTREG",
	"O2_IMPL_USER",	  "O2_IMPL_PHYS", "O2_IMPL_FASTREG_GAPS",
};

static void put_reg(struct o2_reproducer *r)
{
	const struct o2_reg_request *request = &r->asked.reg.request;
	const struct o2_dma_list *list = &r->asked.reg.list;

	if (list->count > 0)
		fputs("static const struct o2_impl_segment segments[] = {\n", r->out);
	for (uint32_t i = 0; i < list->count; i++)
		fprintf(r->out, "\t{.addr = 0x%" PRIx64 "u, .length = %" PRIu32 "u},\n",
			list->segment[i].addr, list->segment[i].length);
	if (list->count > 0)
		fputs("};\n", r->out);
	fprintf(r->out,
		"static const struct o2_impl_reg_in in = {\n"
		"\t.request = {.mode = %s, .side = %s, .page_bytes = %" PRIu32 "u, .max_pages = %" PRIu32
		"u,\n\t\t    .peer_max_frags = %" PRIu32 "u, .gaps = %d, .iova = 0x%" PRIx64
		"u, .contiguous = %d},\n"
		"\t.list = {.count = %" PRIu32 ", .capacity = %" PRIu32 ", .nob = %" PRIu64 "u,\n\t\t ",
		mode_names[request->mode], request->side == O2_SINK ? "O2_IMPL_SINK" : "O2_IMPL_SOURCE",
		request->page_bytes, request->max_pages, request->peer_max_frags, request->gaps,
		request->iova, request->contiguous, list->count, list->count, list->nob);
	put_pointer(r, "segment", "(struct o2_impl_segment *)", "segments", list->count);
	fputs("},\n};\n", r->out);
}

void o2_reproducer_rdma(struct o2_reproducer *r, const char *type, const char *part, const char *more,
			const struct o2_rdma_input *asked)
{
	char name[64];

	put_frags(r, "source_frags", &asked->source);
	put_frags(r, "sink_frags", &asked->sink);
	fprintf(r->out, "static const struct %s in = {\n", type);
	snprintf(name, sizeof(name), "%ssource", part);
	put_desc(r, name, "source_frags", &asked->source);
	snprintf(name, sizeof(name), "%ssink", part);
	put_desc(r, name, "sink_frags", &asked->sink);
	fprintf(r->out,
		"\t.%snob = %" PRIu64 "u, .%slimits = {.max_wrs = %" PRIu32 "u, .wrq_sge = %" PRIu32
		"u},\n%s};\n",
		part, asked->nob, part, asked->limits.max_wrs, asked->limits.wrq_sge, more);
}

static void put_rdma(struct o2_reproducer *r)
{
	o2_reproducer_rdma(r, "o2_impl_rdma_in", "", "", &r->asked.rdma);
}

static void put_node_arrays(struct o2_reproducer *r, const char *name, const struct o2_case_node *node)
{
	put_memory_arrays(r, name, &node->memory);
	put_device_arrays(r, name, &node->device.device);
}

static void put_node(struct o2_reproducer *r, const char *name, const struct o2_case_node *node)
{
	fprintf(r->out, "\t.%s = {\n", name);
	put_memory(r, "\t\t", name, &node->memory);
	put_device(r, "\t\t", name, &node->device.device);
	fprintf(r->out,
		"\t\t.mode = %s, .max_pages = %" PRIu32 "u, .iova = 0x%" PRIx64 "u, .key = 0x%" PRIx32
		"u,\n\t},\n",
		mode_names[node->mode], node->max_pages, node->iova, node->key);
}

static void put_transfer(struct o2_reproducer *r)
{
	const struct o2_case_transfer *asked = &r->asked.transfer;

	for (uint32_t i = 0; i < 2; i++)
		put_node_arrays(r, o2_side_names[i], &asked->node[i]);
	fprintf(r->out,
		"static const struct o2_impl_transfer_in in = {\n"
		"\t.op = %s, .max_frags = %" PRIu32 "u, .wrq_sge = %" PRIu32 "u,\n",
		asked->get ? "O2_IMPL_GET" : "O2_IMPL_PUT", asked->max_frags, asked->wrq_sge);
	for (uint32_t i = 0; i < 2; i++)
		put_node(r, o2_side_names[i], &asked->node[i]);
	fputs("};\n", r->out);
}

void o2_reproducer_send(struct o2_reproducer *r)
{
	const struct o2_case_send *asked = &r->asked.send;
	const struct o2_rdma_desc *desc = o2_msg_desc(&asked->msg);

	if (desc != NULL)
		put_frags(r, "frags", desc);
	put_node_arrays(r, "memory", &asked->memory);
	fprintf(r->out,
		"static const struct o2_impl_send_in in = {\n"
		"\t.max_msg_size = %" PRIu32 "u, .max_frags = %" PRIu32 "u, .max_sge = %" PRIu32 "u,\n"
		"\t.slot_lkey = 0x%" PRIx32 "u, .slot_addr = 0x%" PRIx64 "u,\n",
		asked->max_msg_size, asked->max_frags, asked->max_sge, asked->slot_lkey, asked->slot_addr);
	o2_reproducer_message(&asked->msg, put_member, r);
	if (desc != NULL)
		put_desc(r, "msg.rd", "frags", desc);
	put_node(r, "memory", &asked->memory);
	fputs("};\n", r->out);
}

static void (*const puts_of[O2_STAGES])(struct o2_reproducer *r) = {
	[O2_STAGE_MSG_DECODE] = put_decode, [O2_STAGE_MSG_ENCODE] = put_encode,
	[O2_STAGE_SG_BUILD] = put_sg,	    [O2_STAGE_DMA_MAP] = put_dma,
	[O2_STAGE_REG_PLAN] = put_reg,	    [O2_STAGE_RDMA_PLAN] = put_rdma,
	[O2_STAGE_TRANSFER] = put_transfer,
};

bool o2_reproducer_writes(enum o2_stage stage)
{
	return puts_of[stage] != NULL || o2_reproducer_stage(stage) != NULL;
}

void o2_reproducer_question(struct o2_reproducer *r)
{
	if (o2_reproducer_stage(r->asked.stage) != NULL)
		o2_reproducer_stage(r->asked.stage)->question(r);
	else
		puts_of[r->asked.stage](r);
}
