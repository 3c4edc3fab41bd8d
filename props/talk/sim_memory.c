/* SPDX-License-Identifier: MIT */
#include <errno.h>

#include "props/talk/sim_internal.h"

/* Draws the memory of simulated operations, and predicts how it is described and mapped. */

#define PAGE_BYTES	  4096u
#define FEW_PIECES	  4u
#define MANY_PIECES_PAGES 17u
#define FIRST_OFFSETS	  128u /* bytes for the first offsets, in memory with gaps */
#define BEFORE_FRAGS	  136u /* bytes of a GET_REQ before its fragments */
#define FRAG_BYTES	  12u

uint32_t o2_sim_pages(const struct o2_sim *sim)
{
	return sim->deep ? O2_SIM_MANY_PAGES : O2_SIM_PAGES;
}

/*
 * Draw pieces, each on its own page.  In a wide case the number of pieces is at or near the descriptor's
 * limit, and a page then holds several, because a page costs as much time as an operation.
 */
static void draw_pieces(struct o2_sim *sim, uint64_t nob, struct o2_op_memory *m)
{
	m->npages = FEW_PIECES + o2_draw_bool(sim->choice, 3, 1);
	if (!sim->wide || nob < O2_MEMORY_PIECES || o2_draw_bool(sim->choice, 3, 1))
		return;
	m->cut_into = O2_MEMORY_PIECES - (uint32_t)o2_draw_pick(sim->choice, 3);
	m->npages = MANY_PIECES_PAGES;
}

bool o2_sim_memory_make(struct o2_sim *sim, uint32_t node, uint64_t nob, enum o2_reg_mode mode,
			uint32_t offset, struct o2_op_memory *m)
{
	struct o2_sim_node *owner = &sim->node[node];

	m->shadow = &owner->place->shadow;
	m->first_page = owner->next_page;
	if (!m->gapped)
		m->npages = (uint32_t)((offset + nob + PAGE_BYTES - 1) / PAGE_BYTES);
	if ((!m->gapped && m->npages > FEW_PIECES) || m->first_page + m->npages > o2_sim_pages(sim))
		return false;
	owner->next_page += m->npages;
	o2_memory_lay(m, nob, mode, offset);
	return true;
}

bool o2_sim_memory_draw(struct o2_sim *sim, uint32_t node, uint64_t nob, struct o2_op_memory *m)
{
	static const uint32_t weights[O2_MEMORY_MODES] = {8, 6, 4, 1, 1, 1};
	struct o2_choice *c = sim->choice;
	enum o2_reg_mode mode = o2_memory_draw_mode(c, weights);
	uint32_t offset = o2_draw_bool(c, 2, 1) ? (uint32_t)o2_draw(c, PAGE_BYTES - 1) : 0;

	*m = (struct o2_op_memory){.gapped = false};
	m->gapped = mode != O2_REG_USER && mode != O2_REG_PHYS && nob >= FEW_PIECES &&
		    o2_draw_bool(c, mode == O2_REG_FASTREG ? 15 : 3, sim->wide ? 6 : 1);
	if (m->gapped)
		draw_pieces(sim, nob, m);
	m->scattered = sim->small && mode != O2_REG_USER && !m->gapped && o2_draw_bool(c, 1, 3);
	return o2_sim_memory_make(sim, node, nob, mode, m->gapped ? offset % FIRST_OFFSETS : offset, m);
}

void o2_sim_memory_fill(struct o2_sim_op *op)
{
	o2_memory_fill(&op->ours, op->id, O2_FILL_DATA);
	if (op->theirs.shadow != NULL)
		o2_memory_fill(&op->theirs, op->id, O2_FILL_POISON);
}

void o2_sim_memory_check_all(struct o2_sim *sim)
{
	for (uint32_t i = 0; i < sim->nnodes; i++)
		o2_shadow_check(&sim->node[i].place->shadow, 0, sim->node[i].next_page, sim->report,
				"sim/bytes", "when all is over");
}

/* docs/modes.md: global publishes every piece, fmr every piece if there are gaps, all other modes publish one. */
uint32_t o2_sim_memory_frags(const struct o2_op_memory *m)
{
	bool each = m->memory.mode == O2_REG_GLOBAL || (m->memory.mode == O2_REG_FMR && m->gapped);

	return each ? m->npieces : 1;
}

/* Only as many fragments as fit in a GET_REQ, whichever message describes the sink. */
uint32_t o2_sim_sink_frags(const struct o2_sim_op *op)
{
	const struct o2_sim_end *source = op->op == O2_OP_GET ? op->end->other : op->end;
	const uint32_t fit = (source->max_msg_bytes - BEFORE_FRAGS) / FRAG_BYTES;

	return fit < source->sim->config.max_frags ? fit : source->sim->config.max_frags;
}

int o2_sim_memory_refusal(const struct o2_sim_op *op, const struct o2_op_memory *m)
{
	const bool is_sink = m == (op->op == O2_OP_GET ? &op->ours : &op->theirs);

	if (o2_memory_refusal(m) == 0 && is_sink && o2_sim_memory_frags(m) > o2_sim_sink_frags(op))
		return -EFBIG;
	return o2_memory_refusal(m);
}

static uint64_t fragment_bytes(const struct o2_op_memory *m, uint32_t i)
{
	return o2_sim_memory_frags(m) == 1 ? m->memory.buffer.nob : m->kiov[i].len;
}

/* A work request stays within one fragment of the sink, and gathers at most wrq_sge fragments of the source. */
uint32_t o2_sim_memory_wrs(const struct o2_sim *sim, const struct o2_op_memory *source,
			   const struct o2_op_memory *sink, uint64_t nob)
{
	uint64_t from = fragment_bytes(source, 0), to = fragment_bytes(sink, 0);
	uint32_t i = 0, j = 0, wrs = 0, sges = 0;

	while (nob > 0) {
		uint64_t n = from < to ? from : to;

		if (n > nob)
			n = nob;
		wrs += sges == 0;
		sges++;
		nob -= n;
		from -= n;
		to -= n;
		if (to == 0 || sges == sim->config.wrq_sge)
			sges = 0;
		if (from == 0 && nob > 0)
			from = fragment_bytes(source, ++i);
		if (to == 0 && nob > 0)
			to = fragment_bytes(sink, ++j);
	}
	return wrs;
}
