/* SPDX-License-Identifier: MIT */
#include <inttypes.h>

#include "props/check/reproducer.h"

/* Posted messages: what their gather entries contain, byte by byte. */

static const char text_of_bytes[] =
	"static uint32_t page_behind; /* of the last byte that was looked up */\n\n"
	"/* What stands at an address that the device, or in mode user a process, has for the memory; -1: "
	"none is there. */\n"
	"static int byte_behind(uint64_t addr)\n"
	"{\n"
	"\tconst struct o2_impl_device *device = &in.memory.device;\n"
	"\tconst struct o2_impl_space *space = &in.memory.space;\n"
	"\tuint64_t at;\n"
	"\tuint32_t i;\n\n"
	"\tfor (i = 0; in.memory.mode == O2_IMPL_USER && i < space->nranges; i++) {\n"
	"\t\tat = addr - space->range[i].base;\n"
	"\t\tif (at / space->page_bytes >= space->range[i].npages)\n"
	"\t\t\tcontinue;\n"
	"\t\tpage_behind = space->range[i].page[at / space->page_bytes];\n"
	"\t\treturn o2_impl_byte_at(page_behind, (uint32_t)(at % space->page_bytes));\n"
	"\t}\n"
	"\tif (in.memory.mode == O2_IMPL_USER || device->page_bytes == 0)\n"
	"\t\treturn -1;\n"
	"\tat = addr - device->base;\n"
	"\tfor (i = 0; i < device->npages; i++)\n"
	"\t\tif (at / device->page_bytes == (device->device_page ? device->device_page[i] : i)) {\n"
	"\t\t\tpage_behind = i;\n"
	"\t\t\treturn o2_impl_byte_at(i, (uint32_t)(at % device->page_bytes));\n"
	"\t\t}\n"
	"\treturn -1;\n"
	"}\n\n"
	"/* Is it memory that the device does not have? */\n"
	"static int is_unmapped(uint32_t entry)\n"
	"{\n"
	"\tconst struct o2_impl_device *device = &in.memory.device;\n\n"
	"\tif (device->kind == O2_IMPL_DMA_IOMMU && device->fault != O2_IMPL_DMA_NO_FAULT && FAULT_COUNTS)\n"
	"\t\tsay(\"    gathered, and the mapping fails; entry\", UINT32_MAX, entry, 1);\n"
	"\telse if (device->kind == O2_IMPL_DMA_VIRTUAL && device->unmapped && page_behind < device->npages "
	"&&\n"
	"\t\t device->unmapped[page_behind / 8] >> page_behind % 8 & 1)\n"
	"\t\tsay(\"    gathered, and without a CPU mapping; entry\", UINT32_MAX, entry, 1);\n"
	"\telse\n"
	"\t\treturn 0;\n"
	"\treturn 1;\n"
	"}\n\n"
	"/* The address behind one of what is registered; UINT64_MAX: it is not. */\n"
	"static uint64_t registered(uint64_t addr)\n"
	"{\n"
	"\tconst uint64_t page_bytes = in.memory.space.page_bytes;\n"
	"\tconst struct o2_impl_reg_plan *plan = &out.plan;\n"
	"\tuint64_t at = addr - plan->iova, i;\n\n"
	"\tif (plan->nfrags == 0 || in.memory.mode == O2_IMPL_GLOBAL)\n"
	"\t\treturn plan->nfrags == 0 ? UINT64_MAX : addr;\n"
	"\tif (at >= plan->length)\n"
	"\t\treturn UINT64_MAX;\n"
	"\tif (plan->npages > 0) {\n"
	"\t\tat += plan->page_offset;\n"
	"\t\ti = at / page_bytes;\n"
	"\t\treturn i < plan->npages ? plan->page[i] + at % page_bytes : UINT64_MAX;\n"
	"\t}\n"
	"\tfor (i = 0; i < plan->nentries && at >= plan->entry[i].length; i++)\n"
	"\t\tat -= plan->entry[i].length;\n"
	"\tif (plan->nentries > 0)\n"
	"\t\treturn i < plan->nentries ? plan->entry[i].addr + at : UINT64_MAX;\n"
	"\treturn addr;\n"
	"}\n\n";

static const char text_of_gather[] =
	"static uint8_t message[O2_IMPL_MSG_BYTES];\n\n"
	"/* Returns how long the message is. */\n"
	"static uint32_t gather(void)\n"
	"{\n"
	"\tuint32_t n = 0, i, k;\n\n"
	"\tfor (i = 0; i < out.nsge; i++) {\n"
	"\t\tconst struct o2_impl_gather *sge = &out_sge[i];\n\n"
	"\t\tif (sge->length == 0)\n"
	"\t\t\tsay(\"empty gather entry, index\", UINT32_MAX, i, 1);\n"
	"\t\tfor (k = 0; k < sge->length; k++, n++) {\n"
	"\t\t\tconst uint64_t addr = sge->addr + k, at = addr - in.slot_addr;\n"
	"\t\t\tint byte = -1;\n\n"
	"\t\t\tif (n == O2_IMPL_MSG_BYTES)\n"
	"\t\t\t\treturn n + 1;\n"
	"\t\t\tif (sge->lkey == in.slot_lkey && at < out.slot.length_bytes)\n"
	"\t\t\t\tbyte = out_bytes[at];\n"
	"\t\t\telse if (sge->lkey == in.memory.key && registered(addr) != UINT64_MAX)\n"
	"\t\t\t\tbyte = byte_behind(registered(addr));\n"
	"\t\t\tif (byte < 0) {\n"
	"\t\t\t\tprintf(\"  entry %\" PRIu32 \", under key 0x%\" PRIx32 \"\\n\", i, sge->lkey);\n"
	"\t\t\t\tsay(\"    no such byte\", 0, addr, 1);\n"
	"\t\t\t\treturn n;\n"
	"\t\t\t}\n"
	"\t\t\tif (!(sge->lkey == in.slot_lkey && at < O2_IMPL_MSG_BYTES) && is_unmapped(i))\n"
	"\t\t\t\treturn n;\n"
	"\t\t\tmessage[n] = (uint8_t)byte;\n"
	"\t\t}\n"
	"\t}\n"
	"\treturn n;\n"
	"}\n\n"
	"/* The sum of n bytes of the message, its own four taken as zero. */\n"
	"static uint32_t sum(uint32_t n, int with_sign)\n"
	"{\n"
	"\tuint32_t value = 0, i;\n\n"
	"\tfor (i = 0; i < n; i++) {\n"
	"\t\tconst uint8_t byte = i >= 12 && i < 16 ? 0 : message[i];\n\n"
	"\t\tvalue = (value << 1 | value >> 31) + (with_sign && byte > 127 ? byte - 256u : byte);\n"
	"\t}\n"
	"\treturn value == 0 ? 1 : value;\n"
	"}\n\n";

static const char text_of_declare[] = "\tuint32_t n, i, word = 0;\n\n";

static const char text_of_compare[] =
	"\tif (out.nsge == 0 || out.nsge > in.max_sge)\n"
	"\t\tsay(\"gather entries, 1 to\", in.max_sge, out.nsge, 1);\n"
	"\tn = gather();\n"
	"\tsay(\"length\", sizeof(right), n, 1);\n"
	"\tif (n < 48 || n > O2_IMPL_MSG_BYTES)\n"
	"\t\treturn;\n"
	"\tfor (i = 0; i < n && i < sizeof(right); i++)\n"
	"\t\tif (message[i] != right[i] && (i < 12 || i >= 16)) {\n"
	"\t\t\tprintf(\"  byte %\" PRIu32 \"\\n\", i);\n"
	"\t\t\tsay(\"    is\", right[i], message[i], 1);\n"
	"\t\t}\n"
	"\tfor (i = 0; i < 4; i++)\n"
	"\t\tword |= (uint32_t)message[12 + i] << 8 * (in.msg.big_endian ? 3 - i : i);\n"
	"\tsay(\"ibm_cksum\", in.msg.cksum_flavour == O2_IMPL_CKSUM_NONE ? 0\n"
	"\t\t\t   : sum(n, in.msg.cksum_flavour == O2_IMPL_CKSUM_SIGNED), word, 1);\n";

static void put_message(struct o2_reproducer *r)
{
	static struct o2_answer_bytes message;

	o2_send_message(&r->asked.send, &r->expected.send, &message);
	fputs("/* The message, but for its sum. */\nstatic const uint8_t right[] = {", r->out);
	o2_reproducer_bytes(r, message.bytes, message.length_bytes);
	fputs("\n};\n\n", r->out);
}

/* Compared before the message, whose comparison may end early. */
static const char text_of_plan[] =
	"\tif (out.plan.nfrags > 0 && in.memory.space.page_bytes > 0) {\n"
	"\t\tsay_terms(\"the plan as it can be registered\", &out.plan, in.memory.space.page_bytes,\n"
	"\t\t\t  in.memory.max_pages, 0, in.memory.mode == O2_IMPL_FMR || in.memory.mode == "
	"O2_IMPL_FASTREG ||\n"
	"\t\t\t  in.memory.mode == O2_IMPL_PHYS);\n"
	"\t\tif (in.memory.mode == O2_IMPL_FASTREG && out.plan.npages > 0)\n"
	"\t\t\tsay(\"    iova\", out_page[0] + out.plan.page_offset, out.plan.iova, 1);\n"
	"\t\tif (in.memory.mode == O2_IMPL_FASTREG_GAPS && out.plan.nentries > 0)\n"
	"\t\t\tsay(\"    iova\", out_entry[0].addr, out.plan.iova, 1);\n"
	"\t\tif (in.memory.mode == O2_IMPL_PHYS)\n"
	"\t\t\tsay(\"    iova\", in.memory.iova % in.memory.space.page_bytes ? in.memory.iova\n"
	"\t\t\t    : in.memory.iova + out.plan.page_offset, out.plan.iova, 1);\n"
	"\t}\n";

static void compare_send(struct o2_reproducer *r)
{
	const bool result = r->expected.kind == O2_ANSWER_RESULT;

	o2_reproducer_plan_out(r, "out");
	o2_reproducer_array(r, "uint8_t", "out_bytes", O2_MSG_BYTES);
	o2_reproducer_array(r, "struct o2_impl_gather", "out_sge", O2_SEND_SGE);
	fputs("static struct o2_impl_send_out out = {\n"
	      "\t.slot = {.bytes = out_bytes, .capacity_bytes = O2_IMPL_MSG_BYTES},\n"
	      "\t.sge_capacity = O2_IMPL_MAX_FRAGS + 1, .sge = out_sge,\n",
	      r->out);
	o2_reproducer_plan_init(r, "\t.plan", "out");
	fputs("};\n\n", r->out);
	if (result) {
		put_message(r);
		fputs(o2_reproducer_terms, r->out);
		fprintf(r->out, "enum { FAULT_COUNTS = %d }; /* whether the profile asks for it */\n\n",
			o2_check_severity(O2_CHECK_SEND_MAPPING_FAILED, r->profile) != O2_CHECK_OFF);
		fputs(text_of_bytes, r->out);
		fputs(text_of_gather, r->out);
	}
	o2_reproducer_begin_compare(r);
	if (result) {
		fputs(text_of_declare, r->out);
		fputs(text_of_plan, r->out);
		fputs(text_of_compare, r->out);
	}
	o2_reproducer_end_compare(r);
}

const struct o2_reproducer_stage o2_reproducer_send_plan = {.question = o2_reproducer_send,
							    .answer = compare_send};
