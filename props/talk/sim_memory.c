/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "props/engine/prng.h"
#include "props/talk/sim_internal.h"

/*
 * Memory of simulated operations.  Each has pages of its own for the whole case, so that a byte that changes
 * too late is seen at the end as well.  A shadow of each arena holds what it should hold.
 */

#define PAGE_BYTES 4096u

static void fill(struct o2_sim *sim, uint32_t node, uint32_t page)
{
	uint64_t x = o2_mix64((uint64_t)node << 32 | page);
	uint8_t *at = o2_arena_page(&sim->node[node].ni.arena, page);

	for (uint32_t i = 0; i < PAGE_BYTES; i += 8) {
		x = x * 6364136223846793005ull + 1442695040888963407ull;
		memcpy(at + i, &x, 8);
	}
	memcpy(sim->node[node].shadow + (uint64_t)page * PAGE_BYTES, at, PAGE_BYTES);
}

/* Pieces in pages of their own, or side by side from the first page on. */
static void cut(struct o2_sim_memory *m, uint32_t offset, uint64_t nob)
{
	uint64_t left = nob;

	for (uint32_t i = 0; i < m->npages; i++) {
		uint64_t most = m->gapped ? (nob + m->npages - 1) / m->npages : PAGE_BYTES - offset;
		uint32_t take = (uint32_t)(left < most ? left : most);

		if (take == 0)
			break;
		m->kiov[m->npieces++] =
			(struct o2_kiov){m->first + (m->scattered ? m->npages - 1 - i : i), offset, take};
		left -= take;
		offset = m->gapped ? 8 + 16 * i : 0;
	}
}

static enum o2_reg_mode draw_mode(struct o2_choice *c)
{
	static const enum o2_reg_mode modes[] = {O2_REG_GLOBAL, O2_REG_FASTREG, O2_REG_FMR,
						 O2_REG_USER,	O2_REG_PHYS,	O2_REG_FASTREG_GAPS};
	static const uint32_t weights[] = {8, 6, 4, 1, 1, 1};

	return modes[o2_draw_weighted(c, weights, sizeof(weights) / sizeof(weights[0]))];
}

bool o2_sim_memory_make(struct o2_sim *sim, uint64_t nob, enum o2_reg_mode mode, uint32_t offset,
			struct o2_sim_memory *m)
{
	struct o2_sim_node *owner = &sim->node[m->node];

	*m = (struct o2_sim_memory){
		.node = m->node, .first = owner->next_page, .gapped = m->gapped, .scattered = m->scattered};
	m->npages = m->gapped ? O2_SIM_PIECES : (uint32_t)((offset + nob + PAGE_BYTES - 1) / PAGE_BYTES);
	if (m->npages > O2_SIM_PIECES || owner->next_page + m->npages > O2_SIM_PAGES)
		return false;
	owner->next_page += m->npages;
	for (uint32_t i = 0; i < m->npages; i++)
		fill(sim, m->node, m->first + i);
	cut(m, offset, nob);
	m->memory.mode = mode;
	m->memory.buffer =
		(struct o2_buffer){.kind = O2_KIOV, .count = m->npieces, .nob = nob, .kiov = m->kiov};
	if (mode == O2_REG_USER) {
		m->iov = (struct o2_iov){
			owner->ni.arena.view[0].base + (uint64_t)m->first * PAGE_BYTES + offset, nob};
		m->memory.buffer = (struct o2_buffer){.kind = O2_IOV, .count = 1, .nob = nob, .iov = &m->iov};
	}
	return true;
}

bool o2_sim_memory_draw(struct o2_sim *sim, uint32_t node, uint64_t nob, struct o2_sim_memory *m)
{
	struct o2_choice *c = sim->choice;
	enum o2_reg_mode mode = draw_mode(c);
	uint32_t offset = o2_draw_bool(c, 2, 1) ? (uint32_t)o2_draw(c, PAGE_BYTES - 1) : 0;

	*m = (struct o2_sim_memory){.node = node};
	m->gapped = mode != O2_REG_USER && mode != O2_REG_PHYS && nob >= O2_SIM_PIECES &&
		    o2_draw_bool(c, mode == O2_REG_FASTREG ? 15 : 3, 1);
	m->scattered = sim->small && mode != O2_REG_USER && !m->gapped && o2_draw_bool(c, 1, 3);
	return o2_sim_memory_make(sim, nob, mode, m->gapped ? offset % 512 : offset, m);
}

/* Where byte k lies in the arena, and how many follow it without a break. */
static uint64_t place(const struct o2_sim_memory *m, uint64_t k, uint64_t *run)
{
	uint32_t i = 0;

	while (k >= m->kiov[i].len)
		k -= m->kiov[i++].len;
	*run = m->kiov[i].len - k;
	return (uint64_t)m->kiov[i].page * PAGE_BYTES + m->kiov[i].offset + k;
}

void o2_sim_memory_moved(struct o2_sim *sim, const struct o2_sim_memory *sink,
			 const struct o2_sim_memory *source, uint64_t nob)
{
	for (uint64_t k = 0, n; k < nob; k += n) {
		uint64_t run, to, from = place(source, k, &n);

		to = place(sink, k, &run);
		if (run < n)
			n = run;
		if (nob - k < n)
			n = nob - k;
		memcpy(sim->node[sink->node].shadow + to, sim->node[source->node].shadow + from, n);
	}
}

void o2_sim_memory_undefined(struct o2_sim *sim, const struct o2_sim_memory *sink)
{
	struct o2_sim_node *node = &sim->node[sink->node];

	for (uint32_t i = 0; i < sink->npieces; i++) {
		uint64_t at = (uint64_t)sink->kiov[i].page * PAGE_BYTES + sink->kiov[i].offset;

		memcpy(node->shadow + at, node->ni.arena.memory + at, sink->kiov[i].len);
	}
}

static void check_pages(struct o2_sim *sim, uint32_t node, uint32_t first, uint32_t npages, const char *when)
{
	const uint8_t *shadow = sim->node[node].shadow + (uint64_t)first * PAGE_BYTES;
	const uint8_t *memory = o2_arena_page(&sim->node[node].ni.arena, first);
	uint64_t bytes = (uint64_t)npages * PAGE_BYTES, k = 0;

	if (npages == 0 || memcmp(shadow, memory, bytes) == 0)
		return;
	while (shadow[k] == memory[k])
		k++;
	o2_report_fail(sim->report, "sim/bytes",
		       "%s: node %" PRIu32 ", page %" PRIu64 ", byte %" PRIu64 " is 0x%02x, expected 0x%02x",
		       when, node, first + k / PAGE_BYTES, k % PAGE_BYTES, memory[k], shadow[k]);
}

void o2_sim_memory_check(struct o2_sim *sim, const struct o2_sim_memory *m, const char *when)
{
	check_pages(sim, m->node, m->first, m->npages, when);
}

void o2_sim_memory_check_all(struct o2_sim *sim)
{
	for (uint32_t i = 0; i < sim->nnodes; i++)
		check_pages(sim, i, 0, sim->node[i].next_page, "when all is over");
}

bool o2_sim_memory_equals(struct o2_sim *sim, const struct o2_sim_memory *m, const uint8_t *bytes,
			  uint64_t nob)
{
	for (uint64_t k = 0, n; k < nob; k += n) {
		uint64_t from = place(m, k, &n);

		if (nob - k < n)
			n = nob - k;
		if (memcmp(sim->node[m->node].shadow + from, bytes + k, n) != 0)
			return false;
	}
	return true;
}

/* docs/modes.md: mode global publishes every piece, fmr every piece where there are gaps, the others one. */
uint32_t o2_sim_memory_frags(const struct o2_sim_memory *m)
{
	bool each = m->memory.mode == O2_REG_GLOBAL || (m->memory.mode == O2_REG_FMR && m->gapped);

	return each ? m->npieces : 1;
}

int o2_sim_memory_refusal(const struct o2_sim *sim, const struct o2_sim_memory *m, enum o2_side side)
{
	if (m->memory.mode == O2_REG_FASTREG && m->gapped)
		return -EPROTONOSUPPORT;
	if (side == O2_SINK && o2_sim_memory_frags(m) > sim->config.max_frags)
		return -EFBIG;
	return 0;
}

static uint64_t fragment_bytes(const struct o2_sim_memory *m, uint32_t i)
{
	return o2_sim_memory_frags(m) == 1 ? m->memory.buffer.nob : m->kiov[i].len;
}

/* A work request stays in one fragment of the sink and gathers wrq_sge fragments of the source at most. */
uint32_t o2_sim_memory_wrs(const struct o2_sim *sim, const struct o2_sim_memory *source,
			   const struct o2_sim_memory *sink, uint64_t nob)
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
