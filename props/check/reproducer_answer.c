/* SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <string.h>

#include "o2ref/impl.h"
#include "props/check/reproducer.h"

/*
 * Where the answer goes, and how it is compared: numbers one by one, bytes by their place, however they are cut
 * into pieces. The pieces themselves count only if the finding is about them.
 */

static bool is_result(const struct o2_reproducer *r)
{
	return r->expected.kind == O2_ANSWER_RESULT;
}

/* Compare a number that has one right value. */
static void put_say(struct o2_reproducer *r, const char *member, uint64_t right)
{
	fprintf(r->out, "\tsay(\"%s\", 0x%" PRIx64 "u, out.%s, 1);\n", member, right, member);
}

/* Compare a number that depends on the cut; it counts only if the finding is about it. */
static void put_cut(struct o2_reproducer *r, const char *member, uint64_t right)
{
	const char *field = json_string_value(json_object_get(r->finding, "field"));
	const bool counts = field != NULL && strcmp(field, member) == 0;

	fprintf(r->out, "\tsay(\"%s\", 0x%" PRIx64 "u, out.%s, %d);\n", member, right, member, counts);
}

void o2_reproducer_begin_compare(struct o2_reproducer *r)
{
	fputs("static void compare(void)\n{\n", r->out);
}

void o2_reproducer_end_compare(struct o2_reproducer *r)
{
	if (!is_result(r))
		fputs("\tprintf(\"  it answers, and has to refuse\\n\");\n", r->out);
	fputs("}\n\n", r->out);
}

/* --- messages --- */

static void say_member(struct o2_reproducer *r, const char *member, uint64_t value)
{
	if (strcmp(member, "ibcm_status") == 0)
		fprintf(r->out, "\tsay(\"%s\", 0x%" PRIx32 "u, (uint32_t)out.%s, 1);\n", member,
			(uint32_t)value, member);
	else
		put_say(r, member, value);
}

static void put_decoded(struct o2_reproducer *r)
{
	const struct o2_msg *msg = &r->expected.msg_decode.msg;
	const struct o2_rdma_desc *desc = is_result(r) ? o2_msg_desc(msg) : NULL;

	o2_reproducer_array(r, "struct o2_impl_frag", "out_frags", O2_MAX_FRAGS);
	o2_reproducer_array(r, "uint8_t", "out_payload", O2_IMPL_PAYLOAD_BYTES);
	fputs("static struct o2_impl_msg out = {\n"
	      "\t.rd = {.capacity = O2_IMPL_MAX_FRAGS, .rd_frags = out_frags},\n"
	      "\t.payload = out_payload, .payload_capacity_bytes = O2_IMPL_PAYLOAD_BYTES,\n};\n\n",
	      r->out);
	o2_reproducer_begin_compare(r);
	if (is_result(r))
		o2_reproducer_message(msg, say_member, r);
	if (desc != NULL)
		put_say(r, "rd.rd_nfrags", desc->rd_nfrags);
	for (uint32_t i = 0; desc != NULL && i < desc->rd_nfrags; i++)
		fprintf(r->out,
			"\tsay(\"rf_addr\", 0x%" PRIx64 "u, out_frags[%" PRIu32 "].rf_addr, 1);\n"
			"\tsay(\"rf_nob\", %" PRIu32 "u, out_frags[%" PRIu32 "].rf_nob, 1);\n",
			desc->rd_frags[i].rf_addr, i, desc->rd_frags[i].rf_nob, i);
	if (is_result(r) && msg->ibm_type == O2_MSG_IMMEDIATE)
		for (uint32_t i = 0; i < msg->u.immediate.hdr.payload_length; i++)
			fprintf(r->out, "\tsay(\"payload\", 0x%x, out_payload[%" PRIu32 "], 1);\n",
				msg->u.immediate.payload[i], i);
	o2_reproducer_end_compare(r);
}

static void put_encoded(struct o2_reproducer *r)
{
	const struct o2_answer_bytes *right = &r->expected.msg_encode;
	const uint32_t capacity = r->asked.msg_encode.capacity_bytes;

	o2_reproducer_array(r, "uint8_t", "out_bytes", capacity);
	fprintf(r->out,
		"static struct o2_impl_bytes out = {.bytes = out_bytes, .capacity_bytes = %" PRIu32 "};\n\n",
		capacity);
	if (is_result(r)) {
		fputs("static const uint8_t right[] = {", r->out);
		o2_reproducer_bytes(r, right->bytes, right->length_bytes);
		fputs("\n};\n\n", r->out);
	}
	o2_reproducer_begin_compare(r);
	if (is_result(r)) {
		put_say(r, "length_bytes", right->length_bytes);
		fputs("\tfor (uint32_t i = 0; i < sizeof(right) && i < out.length_bytes; i++)\n"
		      "\t\tif (out_bytes[i] != right[i]) {\n"
		      "\t\t\tprintf(\"  byte %u\\n\", i);\n"
		      "\t\t\tsay(\"    is\", right[i], out_bytes[i], 1);\n"
		      "\t\t}\n",
		      r->out);
	}
	o2_reproducer_end_compare(r);
}

/* --- memory --- */

void o2_reproducer_put_runs(struct o2_reproducer *r, const char *name, const struct o2_stream *stream)
{
	fprintf(r->out, "static const struct run %s[] = {\n", name);
	for (uint32_t i = 0; i < stream->count; i++)
		fprintf(r->out, "\t{0x%" PRIx64 "u, %" PRIu64 "u},\n", stream->run[i].place,
			(i + 1 < stream->count ? stream->run[i + 1].start : stream->nob) -
				stream->run[i].start);
	fputs("};\n\n", r->out);
}

static void put_list(struct o2_reproducer *r)
{
	const struct o2_sg_list *right = &r->expected.sg;
	const bool cut = o2_reproducer_is(r, "/entries");

	o2_reproducer_array(r, "struct o2_impl_sg_entry", "out_entry", O2_MAX_FRAGS);
	fputs("static struct o2_impl_sg_list out = {.capacity = O2_IMPL_MAX_FRAGS, .entry = out_entry};\n\n",
	      r->out);
	if (is_result(r))
		o2_reproducer_put_runs(r, "right", &r->comparison.expected_from);
	o2_reproducer_begin_compare(r);
	if (is_result(r)) {
		fputs("\tstatic struct runs runs;\n\n"
		      "\tfor (uint32_t i = 0; i < out.count; i++) {\n"
		      "\t\tif (out_entry[i].length == 0 ||\n"
		      "\t\t    (uint64_t)out_entry[i].offset + out_entry[i].length > in.space.page_bytes)\n"
		      "\t\t\tsay(\"entry outside of its page, index\", 0, i, 1);\n"
		      "\t\tadd(&runs, (uint64_t)out_entry[i].page << 32 | out_entry[i].offset, "
		      "out_entry[i].length);\n"
		      "\t}\n"
		      "\tsay_runs(\"pages << 32 | offsets\", right, sizeof(right) / sizeof(right[0]), "
		      "&runs);\n"
		      "\tif (out.count > in.max_entries)\n"
		      "\t\tsay(\"entries, at most\", in.max_entries, out.count, 1);\n",
		      r->out);
		fprintf(r->out, "\tsay(\"count\", %" PRIu32 ", out.count, %d);\n", right->count, cut);
		put_say(r, "nob", right->nob);
		put_say(r, "gaps", right->gaps);
	}
	o2_reproducer_end_compare(r);
}

static void put_segments(struct o2_reproducer *r)
{
	const struct o2_dma_list *right = &r->expected.dma;

	o2_reproducer_array(r, "struct o2_impl_segment", "out_segment", O2_MAX_FRAGS);
	fputs("static struct o2_impl_dma_list out = {.capacity = O2_IMPL_MAX_FRAGS, .segment = "
	      "out_segment};\n\n",
	      r->out);
	if (is_result(r))
		o2_reproducer_put_runs(r, "right", &r->comparison.expected_from);
	o2_reproducer_begin_compare(r);
	if (is_result(r)) {
		fputs("\tstatic struct runs runs;\n\n"
		      "\tfor (uint32_t i = 0; i < out.count; i++) {\n"
		      "\t\tif (out_segment[i].length == 0)\n"
		      "\t\t\tsay(\"empty segment, index\", 0, i, 1);\n"
		      "\t\tadd(&runs, out_segment[i].addr, out_segment[i].length);\n"
		      "\t}\n"
		      "\tsay_runs(\"device addresses\", right, sizeof(right) / sizeof(right[0]), &runs);\n",
		      r->out);
		put_cut(r, "count", right->count);
		put_say(r, "nob", right->nob);
	}
	o2_reproducer_end_compare(r);
}

void o2_reproducer_plan_out(struct o2_reproducer *r, const char *prefix)
{
	char name[32];

	snprintf(name, sizeof(name), "%s_page", prefix);
	o2_reproducer_array(r, "uint64_t", name, O2_MAX_FRAGS);
	snprintf(name, sizeof(name), "%s_entry", prefix);
	o2_reproducer_array(r, "struct o2_impl_segment", name, O2_MAX_FRAGS);
	snprintf(name, sizeof(name), "%s_frag", prefix);
	o2_reproducer_array(r, "struct o2_impl_frag", name, O2_MAX_FRAGS);
}

void o2_reproducer_plan_init(struct o2_reproducer *r, const char *indent, const char *prefix)
{
	fprintf(r->out,
		"%s.page_capacity = O2_IMPL_MAX_FRAGS,\n%s.page = %s_page,\n"
		"%s.entry_capacity = O2_IMPL_MAX_FRAGS,\n%s.entry = %s_entry,\n"
		"%s.frag_capacity = O2_IMPL_MAX_FRAGS,\n%s.frag = %s_frag,\n",
		indent, indent, prefix, indent, indent, prefix, indent, indent, prefix);
}

/* In mode fmr the profile may leave the range to the implementation. */
static bool range_counts(const struct o2_reproducer *r, enum o2_reg_mode mode)
{
	if (mode == O2_REG_GLOBAL)
		return false;
	return mode != O2_REG_FMR || r->profile == O2_PROFILE_STRICT;
}

static bool access_counts(const struct o2_reproducer *r, enum o2_side side)
{
	return side == O2_SINK || o2_check_severity(O2_CHECK_REG_SOURCE_ACCESS, r->profile) != O2_CHECK_OFF;
}

static bool has_iova(enum o2_reg_mode mode)
{
	return mode != O2_REG_GLOBAL && mode != O2_REG_FMR;
}

/* of: the plan; page_bytes, max_pages: members of the question with its limits. */
static void put_terms(struct o2_reproducer *r, const char *of, const char *page_bytes, const char *max_pages,
		      enum o2_reg_mode mode, bool sink)
{
	const bool pages = mode == O2_REG_FMR || mode == O2_REG_FASTREG || mode == O2_REG_PHYS;

	fprintf(r->out, "\tsay_terms(\"%s: as it can be registered\", &%s, in.%s, in.%s, %d, %d);\n", of, of,
		page_bytes, max_pages, sink, pages);
}

/* Compare lists element by element; they count if the finding is about them. */
static void put_plan_lists(struct o2_reproducer *r, const struct o2_reg_plan *right)
{
	if (o2_reproducer_is(r, "/pages") || o2_reproducer_is(r, "/page-list"))
		for (uint32_t i = 0; i < right->npages; i++)
			fprintf(r->out, "\tsay(\"page\", 0x%" PRIx64 "u, out_page[%" PRIu32 "], 1);\n",
				right->page[i], i);
	if (o2_reproducer_is(r, "/entries"))
		for (uint32_t i = 0; i < right->nentries; i++)
			fprintf(r->out,
				"\tsay(\"addr\", 0x%" PRIx64 "u, out_entry[%" PRIu32 "].addr, 1);\n"
				"\tsay(\"length\", %" PRIu32 "u, out_entry[%" PRIu32 "].length, 1);\n",
				right->entry[i].addr, i, right->entry[i].length, i);
}

static void put_plan(struct o2_reproducer *r)
{
	const struct o2_reg_request *request = &r->asked.reg.request;
	const struct o2_reg_plan *right = &r->expected.reg;

	o2_reproducer_plan_out(r, "out");
	fputs("static struct o2_impl_reg_plan out = {\n", r->out);
	o2_reproducer_plan_init(r, "\t", "out");
	fputs("};\n\n", r->out);
	if (is_result(r)) {
		fputs(o2_reproducer_region, r->out);
		fputs(o2_reproducer_terms, r->out);
		o2_reproducer_put_runs(r, "right", &r->comparison.expected_from);
	}
	o2_reproducer_begin_compare(r);
	if (is_result(r)) {
		fprintf(r->out,
			"\tstatic struct runs runs;\n\n"
			"\tfor (uint32_t i = 0; i < out.nfrags; i++)\n"
			"\t\tfind(&out, in.request.page_bytes, %d, out_frag[i].rf_addr, out_frag[i].rf_nob, "
			"&runs);\n"
			"\tsay_runs(\"fragments, by device address\", right, sizeof(right) / "
			"sizeof(right[0]), &runs);\n"
			"\tsay_range(\"registered and not published\", &out, %d);\n",
			request->mode == O2_REG_GLOBAL, range_counts(r, request->mode));
		fprintf(r->out, "\tsay(\"iova\", 0x%" PRIx64 "u, out.iova, %d);\n", right->iova,
			has_iova(request->mode));
		put_terms(r, "out", "request.page_bytes", "request.max_pages", request->mode,
			  request->side == O2_SINK);
		fprintf(r->out, "\tsay(\"remote_write\", %d, out.remote_write, %d);\n",
			(right->access & O2_ACCESS_REMOTE_WRITE) != 0, access_counts(r, request->side));
		if (request->side == O2_SINK)
			fputs("\tif (out.nfrags > in.request.peer_max_frags)\n"
			      "\t\tsay(\"fragments, at most\", in.request.peer_max_frags, out.nfrags, 1);\n",
			      r->out);
		put_cut(r, "nfrags", right->nfrags);
		put_cut(r, "npages", right->npages);
		put_cut(r, "page_offset", right->page_offset);
		put_cut(r, "nentries", right->nentries);
		put_plan_lists(r, right);
	}
	o2_reproducer_end_compare(r);
}

/* --- work requests --- */

static void put_work_out(struct o2_reproducer *r)
{
	o2_reproducer_array(r, "struct o2_impl_wr", "out_wr", O2_MAX_FRAGS);
	o2_reproducer_array(r, "struct o2_impl_segment", "out_sge", O2_MAX_FRAGS * O2_MAX_WRQ_SGE);
}

static const char work_init[] =
	".wr_capacity = O2_IMPL_MAX_FRAGS, .wr = out_wr,\n"
	"\t.sge_capacity = O2_IMPL_MAX_FRAGS * O2_IMPL_MAX_WRQ_SGE, .sge = out_sge,\n";

const char o2_reproducer_both[] =
	"\tsay_runs(\"where bytes come from\", from, sizeof(from) / sizeof(from[0]), &local);\n"
	"\tsay_runs(\"where bytes go to\", to, sizeof(to) / sizeof(to[0]), &remote);\n";

static void put_work(struct o2_reproducer *r)
{
	const struct o2_rdma_plan *right = &r->expected.rdma;

	put_work_out(r);
	fprintf(r->out, "static struct o2_impl_rdma_plan out = {\n\t%s};\n\n", work_init);
	if (is_result(r)) {
		fputs(o2_reproducer_shape, r->out);
		fputs(o2_reproducer_fragments, r->out);
		o2_reproducer_put_runs(r, "from", &r->comparison.expected_from);
		o2_reproducer_put_runs(r, "to", &r->comparison.expected_to);
	}
	o2_reproducer_begin_compare(r);
	if (is_result(r)) {
		fputs("\tstatic struct runs local, remote;\n\n"
		      "\tsay_shape(&out, in.limits.max_wrs, in.limits.wrq_sge);\n"
		      "\tsay_fragments(&in.sink, &out);\n"
		      "\tfor (uint32_t i = 0; i < out.nsge; i++)\n"
		      "\t\tadd(&local, out_sge[i].addr, out_sge[i].length);\n"
		      "\tfor (uint32_t i = 0; i < out.nwr; i++)\n"
		      "\t\tadd(&remote, out_wr[i].remote_addr, out_wr[i].length);\n",
		      r->out);
		fputs(o2_reproducer_both, r->out);
		put_say(r, "lkey", right->lkey);
		put_say(r, "rkey", right->rkey);
		put_say(r, "nob", right->nob);
		put_cut(r, "nwr", right->nwr);
	}
	o2_reproducer_end_compare(r);
}

static void put_node_terms(struct o2_reproducer *r, enum o2_side side)
{
	const enum o2_reg_mode mode = r->asked.transfer.node[side].mode;
	char of[16], page_bytes[32], max_pages[32];

	snprintf(of, sizeof(of), "out.%s", o2_side_names[side]);
	snprintf(page_bytes, sizeof(page_bytes), "%s.space.page_bytes", o2_side_names[side]);
	snprintf(max_pages, sizeof(max_pages), "%s.max_pages", o2_side_names[side]);
	put_terms(r, of, page_bytes, max_pages, mode, side == O2_SINK);
	fprintf(r->out, "\tsay(\"%s.iova\", 0x%" PRIx64 "u, out.%s.iova, %d);\n", o2_side_names[side],
		r->expected.transfer.node[side].iova, o2_side_names[side], has_iova(mode));
}

static void put_transfer(struct o2_reproducer *r)
{
	const struct o2_case_transfer *asked = &r->asked.transfer;

	o2_reproducer_plan_out(r, "source");
	o2_reproducer_plan_out(r, "sink");
	put_work_out(r);
	fputs("static struct o2_impl_transfer_out out = {\n", r->out);
	o2_reproducer_plan_init(r, "\t.source", "source");
	o2_reproducer_plan_init(r, "\t.sink", "sink");
	fputs("\t.plan.wr_capacity = O2_IMPL_MAX_FRAGS, .plan.wr = out_wr,\n"
	      "\t.plan.sge_capacity = O2_IMPL_MAX_FRAGS * O2_IMPL_MAX_WRQ_SGE, .plan.sge = out_sge,\n};\n\n",
	      r->out);
	if (is_result(r)) {
		fputs(o2_reproducer_region, r->out);
		fputs(o2_reproducer_terms, r->out);
		fputs(o2_reproducer_published, r->out);
		fputs(o2_reproducer_shape, r->out);
		o2_reproducer_put_runs(r, "from", &r->comparison.expected_from);
		o2_reproducer_put_runs(r, "to", &r->comparison.expected_to);
	}
	o2_reproducer_begin_compare(r);
	if (is_result(r)) {
		fprintf(r->out,
			"\tstatic struct runs local, remote;\n\n"
			"\tsay_shape(&out.plan, in.max_frags, in.wrq_sge);\n"
			"\tfor (uint32_t i = 0; i < out.plan.nsge; i++)\n"
			"\t\tfind(&out.source, in.source.space.page_bytes, %d, out_sge[i].addr, "
			"out_sge[i].length, &local);\n"
			"\tfor (uint32_t i = 0; i < out.plan.nwr; i++)\n"
			"\t\tfind(&out.sink, in.sink.space.page_bytes, %d, out_wr[i].remote_addr, "
			"out_wr[i].length, &remote);\n",
			asked->node[O2_SOURCE].mode == O2_REG_GLOBAL,
			asked->node[O2_SINK].mode == O2_REG_GLOBAL);
		fputs(o2_reproducer_both, r->out);
		for (uint32_t i = 0; i < 2; i++) {
			put_node_terms(r, (enum o2_side)i);
			fprintf(r->out, "\tsay_range(\"%s: registered and not published\", &out.%s, %d);\n",
				o2_side_names[i], o2_side_names[i], range_counts(r, asked->node[i].mode));
			fprintf(r->out,
				"\tsay_published(\"%s: bytes published\", 0x%" PRIx64 "u, &out.%s);\n",
				o2_side_names[i], o2_case_published(asked, (enum o2_side)i),
				o2_side_names[i]);
			fprintf(r->out, "\tsay(\"%s.remote_write\", %d, out.%s.remote_write, %d);\n",
				o2_side_names[i], i == O2_SINK, o2_side_names[i],
				access_counts(r, (enum o2_side)i));
		}
		fputs("\tif (out.sink.nfrags > in.max_frags)\n"
		      "\t\tsay(\"fragments, at most\", in.max_frags, out.sink.nfrags, 1);\n",
		      r->out);
		put_say(r, "plan.lkey", asked->node[O2_SOURCE].key);
		put_say(r, "plan.rkey", asked->node[O2_SINK].key);
		put_say(r, "plan.nob", r->expected.transfer.plan.nob);
	}
	o2_reproducer_end_compare(r);
}

void o2_reproducer_answer(struct o2_reproducer *r)
{
	static void (*const puts[O2_STAGES])(struct o2_reproducer * r) = {
		[O2_STAGE_MSG_DECODE] = put_decoded, [O2_STAGE_MSG_ENCODE] = put_encoded,
		[O2_STAGE_SG_BUILD] = put_list,	     [O2_STAGE_DMA_MAP] = put_segments,
		[O2_STAGE_REG_PLAN] = put_plan,	     [O2_STAGE_RDMA_PLAN] = put_work,
		[O2_STAGE_TRANSFER] = put_transfer,
	};
	const bool memory = r->asked.stage != O2_STAGE_MSG_DECODE && r->asked.stage != O2_STAGE_MSG_ENCODE;

	if (o2_reproducer_stage(r->asked.stage) != NULL) {
		o2_reproducer_stage(r->asked.stage)->answer(r);
		return;
	}
	if (is_result(r) && memory)
		fputs(o2_reproducer_runs, r->out);
	puts[r->asked.stage](r);
}
