/* SPDX-License-Identifier: MIT */
#include "props/explain/explain.h"

#include <inttypes.h>
#include <string.h>

/* Entries of a long list that are printed at its beginning and its end. */
#define SHOWN_FIRST 6u
#define SHOWN_LAST  3u

struct printer {
	const struct o2_explain *explain;
	bool all;
	FILE *out;
};

/* The item after item i of n; prints once how many are left out. */
static uint32_t next_shown(const struct printer *p, uint32_t i, uint32_t n, const char *what)
{
	uint32_t left_out;

	if (p->all || i + 1 != SHOWN_FIRST || n <= SHOWN_FIRST + SHOWN_LAST + 1)
		return i + 1;
	left_out = n - SHOWN_FIRST - SHOWN_LAST;
	fprintf(p->out, "      ... %" PRIu32 " more %s\n", left_out, what);
	return i + 1 + left_out;
}

static void print_refusal(const struct printer *p, const struct o2_error *error)
{
	char text[200];

	o2_error_text(error, text, sizeof(text));
	fprintf(p->out, "      REFUSED %s\n", text);
}

static void print_pages(const struct printer *p, const struct o2_explain_end *end)
{
	const struct o2_scenario_side *memory = end->memory;

	if (memory->vector == O2_KIOV)
		fprintf(p->out, "  pages: KIOV of %" PRIu32 " pieces", memory->count);
	else
		fprintf(p->out, "  pages: IOV of %" PRIu32 " pieces in view %" PRIu32, memory->count,
			memory->view);
	fprintf(p->out, ", %" PRIu64 " bytes from byte %" PRIu64 " on\n", end->nob, memory->offset_bytes);
	if (memory->bounce)
		fprintf(p->out, "      its device bounces\n");
	if (memory->has_unmapped)
		fprintf(p->out, "      page %" PRIu32 " has no CPU mapping\n", memory->unmapped_page);
	for (uint32_t i = 0; i < memory->count; i = next_shown(p, i, memory->count, "pieces")) {
		if (memory->vector == O2_KIOV)
			fprintf(p->out,
				"      [%" PRIu32 "] page %" PRIu32 " +%" PRIu32 ", %" PRIu32 " bytes\n", i,
				memory->kiov[i].page, memory->kiov[i].offset, memory->kiov[i].len);
		else
			fprintf(p->out,
				"      [%" PRIu32 "] view page %" PRIu64 " +%" PRIu64 ", %" PRIu64 " bytes\n",
				i, memory->iov[i].base / end->page_bytes,
				memory->iov[i].base % end->page_bytes, memory->iov[i].len);
	}
}

/* Print what lies between two entries if they do not meet at page boundaries. */
static void print_seam(const struct printer *p, const struct o2_sg_list *sg, uint32_t i, uint32_t page_bytes)
{
	const struct o2_sg_entry *entry = &sg->entry[i];
	uint32_t tail, head;

	if (i + 1 == sg->count)
		return;
	tail = (page_bytes - (entry->offset + entry->length) % page_bytes) % page_bytes;
	head = sg->entry[i + 1].offset % page_bytes;
	if (tail > 0)
		fprintf(p->out, "  <- gap: ends %" PRIu32 " bytes before the end of its page", tail);
	if (head > 0)
		fprintf(p->out, "%s the next starts %" PRIu32 " bytes into its page",
			tail > 0 ? "," : "  <- gap:", head);
}

static void print_list(const struct printer *p, const struct o2_explain_end *end)
{
	if (end->stage == O2_EXPLAIN_SG) {
		fprintf(p->out, "  list (sg_build):\n");
		print_refusal(p, &end->error);
		return;
	}
	fprintf(p->out, "  list (sg_build): %" PRIu32 " entries, %" PRIu64 " bytes, %s\n", end->sg.count,
		end->sg.nob, end->sg.gaps ? "with gaps" : "no gaps");
	for (uint32_t i = 0; i < end->sg.count; i = next_shown(p, i, end->sg.count, "entries")) {
		const struct o2_sg_entry *entry = &end->sg.entry[i];

		fprintf(p->out, "      [%" PRIu32 "] page %" PRIu32 " +%" PRIu32 ", %" PRIu32 " bytes", i,
			entry->page, entry->offset, entry->length);
		print_seam(p, &end->sg, i, end->page_bytes);
		fprintf(p->out, "\n");
	}
}

static void print_segments(const struct printer *p, const struct o2_explain_end *end)
{
	const char *kind = o2_explain_kind_name(end->memory->kind);

	if (end->stage == O2_EXPLAIN_DMA) {
		fprintf(p->out, "  segments (dma_map, %s addresses):\n", kind);
		print_refusal(p, &end->error);
		return;
	}
	fprintf(p->out, "  segments (dma_map, %s addresses, page 0 at 0x%" PRIx64 "): %" PRIu32 "\n", kind,
		o2_explain_base(end->memory->kind), end->segments.count);
	for (uint32_t i = 0; i < end->segments.count; i = next_shown(p, i, end->segments.count, "segments"))
		fprintf(p->out, "      [%" PRIu32 "] 0x%" PRIx64 ", %" PRIu32 " bytes\n", i,
			end->segments.segment[i].addr, end->segments.segment[i].length);
}

static void print_registration(const struct printer *p, const struct o2_explain_end *end)
{
	const struct o2_reg_plan *plan = &end->plan;
	const char *mode = o2_reg_mode_name(end->memory->mode);

	if (end->stage == O2_EXPLAIN_REG) {
		fprintf(p->out, "  registration (reg_plan, %s):\n", mode);
		print_refusal(p, &end->error);
		return;
	}
	if (plan->npages == 0) {
		fprintf(p->out, "  registration (reg_plan, %s): no page list\n", mode);
		return;
	}
	fprintf(p->out,
		"  registration (reg_plan, %s): addresses 0x%" PRIx64 " to 0x%" PRIx64 ", %" PRIu64
		" bytes, in a list of %" PRIu32 " pages; access: %s\n",
		mode, plan->iova, plan->iova + plan->length - 1, plan->length, plan->npages,
		(plan->access & O2_ACCESS_REMOTE_WRITE) != 0 ? "the peer may write" : "none from outside");
	for (uint32_t i = 0; i < end->nslots; i = next_shown(p, i, end->nslots, "pages"))
		fprintf(p->out, "      slot %" PRIu32 ": 0x%" PRIx64 " is page %" PRIu32 "\n", i,
			end->slot[i].addr, end->slot[i].page);
}

static void print_fragments(const struct printer *p, const struct o2_explain_end *end)
{
	fprintf(p->out, "  fragments (%s): %" PRIu32 "\n",
		end->plan.side == O2_SINK ? "published to the peer" : "gathered from here",
		end->desc.rd_nfrags);
	for (uint32_t i = 0; i < end->desc.rd_nfrags; i = next_shown(p, i, end->desc.rd_nfrags, "fragments"))
		fprintf(p->out, "      [%" PRIu32 "] 0x%" PRIx64 ", %" PRIu32 " bytes\n", i,
			end->desc.rd_frags[i].rf_addr, end->desc.rd_frags[i].rf_nob);
}

static void print_end(const struct printer *p, const struct o2_explain_end *end)
{
	fprintf(p->out, "\n%s\n", end->name);
	print_pages(p, end);
	if (end->stage == O2_EXPLAIN_NOT_ASKED) {
		fprintf(p->out, "  nothing is mapped: the other side refused before\n");
		return;
	}
	print_list(p, end);
	if (end->stage >= O2_EXPLAIN_DMA)
		print_segments(p, end);
	if (end->stage >= O2_EXPLAIN_REG)
		print_registration(p, end);
	if (end->stage == O2_EXPLAIN_READY)
		print_fragments(p, end);
}

static void print_work(const struct printer *p)
{
	const struct o2_rdma_plan *work = &p->explain->work;

	fprintf(p->out,
		"\nwork requests (rdma_plan, at most %" PRIu32 " with %" PRIu32 " gather entries each)",
		p->explain->run.scenario.max_frags, p->explain->run.scenario.wrq_sge);
	if (!p->explain->planned) {
		fprintf(p->out, p->explain->work_error.code != 0 ? "\n" : ": none, as a side refused\n");
		if (p->explain->work_error.code != 0)
			print_refusal(p, &p->explain->work_error);
		return;
	}
	fprintf(p->out, ": %" PRIu32 "\n", work->nwr);
	for (uint32_t i = 0; i < work->nwr; i = next_shown(p, i, work->nwr, "work requests")) {
		const struct o2_rdma_wr *wr = &work->wr[i];

		fprintf(p->out, "      [%" PRIu32 "] write %" PRIu32 " bytes to 0x%" PRIx64 " from", i,
			wr->length, wr->remote_addr);
		for (uint32_t k = 0; k < wr->num_sge; k++)
			fprintf(p->out, "%s 0x%" PRIx64 " (%" PRIu32 ")", k > 0 ? " +" : "",
				work->sge[wr->first_sge + k].addr, work->sge[wr->first_sge + k].length);
		fprintf(p->out, "\n");
	}
}

static int found_text(const struct o2_explain_wrong *wrong, char *text, size_t text_bytes)
{
	const uint64_t offset = wrong->origin.offset_bytes;

	switch (wrong->found) {
	case O2_FOUND_BEFORE:
		return snprintf(text, text_bytes, "were never written");
	case O2_FOUND_ORIGIN:
		if (wrong->origin.kind != O2_FILL_PAGE)
			return snprintf(text, text_bytes, "hold bytes of a sink's or unused page");
		if (wrong->origin_in_buffer)
			return snprintf(text, text_bytes,
					"hold byte %" PRIu64 " on of the transfer, from source page %" PRIu32
					" +%" PRIu64,
					wrong->origin_byte, wrong->origin.id, offset);
		return snprintf(text, text_bytes,
				"hold source page %" PRIu32 " +%" PRIu64
				" on, which is outside the source's buffer",
				wrong->origin.id, offset);
	case O2_FOUND_ZERO:
		return snprintf(text, text_bytes, "hold zeros");
	case O2_FOUND_BIT:
		return snprintf(text, text_bytes, "hold 0x%02x, not 0x%02x", wrong->got, wrong->want);
	default:
		return snprintf(text, text_bytes, "hold bytes of unknown origin, first 0x%02x", wrong->got);
	}
}

int o2_explain_wrong_text(const struct o2_explain_wrong *wrong, char *text, size_t text_bytes)
{
	char found[160], should[96];

	found_text(wrong, found, sizeof(found));
	if (!wrong->in_buffer)
		snprintf(should, sizeof(should), "outside the sink's buffer, must not change");
	else
		snprintf(should, sizeof(should),
			 "must hold byte %" PRIu64 " on, from source page %" PRIu32 " +%" PRIu64,
			 wrong->transfer_byte, wrong->expected.id, wrong->expected.offset_bytes);
	return snprintf(text, text_bytes,
			"%" PRIu32 " bytes of sink page %" PRIu32 " at +%" PRIu32 " %s (%s)", wrong->length,
			wrong->page, wrong->offset, found, should);
}

static void print_outcome(const struct printer *p)
{
	const struct o2_explain *explain = p->explain;
	const struct o2_prediction *told = &explain->run.prediction;
	char text[400];

	if (explain->held && told->verdict == O2_MOVES) {
		fprintf(p->out, "\nheld: %" PRIu64 " bytes moved, every byte is right and no other changed\n",
			o2_scenario_moved(&explain->run.scenario));
		return;
	}
	if (explain->held) {
		fprintf(p->out, "\nheld: refused as foretold (%s: %s), and no byte changed\n", told->reason,
			strerror(-told->code));
		return;
	}
	fprintf(p->out, "\nFAILED: %s\n", explain->report.signature);
	for (uint32_t i = 0; i < explain->nwrong; i = next_shown(p, i, explain->nwrong, "wrong stretches")) {
		o2_explain_wrong_text(&explain->wrong[i], text, sizeof(text));
		fprintf(p->out, "  %s\n", text);
	}
	if (explain->nwrong_all > explain->nwrong)
		fprintf(p->out, "  and %zu more\n", explain->nwrong_all - explain->nwrong);
	for (uint32_t i = 0; explain->nwrong == 0 && i < explain->report.lines; i++)
		fprintf(p->out, "  %s\n", explain->report.line[i]);
}

void o2_explain_text(const struct o2_explain *explain, bool all, FILE *out)
{
	static const char *const cksum[] = {"no checksum", "checksum of unsigned bytes",
					    "checksum of signed bytes"};
	const struct o2_scenario *scenario = &explain->run.scenario;
	const struct printer p = {.explain = explain, .all = all, .out = out};
	const enum o2_side first = scenario->op == O2_OP_PUT ? O2_SOURCE : O2_SINK;

	fprintf(out, "%s of %" PRIu64 " bytes, %s -> %s, %s messages, %s\n",
		scenario->op == O2_OP_PUT ? "PUT" : "GET", o2_scenario_moved(scenario),
		o2_reg_mode_name(scenario->source.mode), o2_reg_mode_name(scenario->sink.mode),
		scenario->order == O2_LITTLE_ENDIAN ? "little-endian" : "big-endian",
		scenario->cksum_flavour < sizeof(cksum) / sizeof(cksum[0]) ? cksum[scenario->cksum_flavour]
									   : "");
	print_end(&p, &explain->end[first]);
	print_end(&p, &explain->end[first == O2_SOURCE ? O2_SINK : O2_SOURCE]);
	print_work(&p);
	print_outcome(&p);
}
