/* SPDX-License-Identifier: MIT */
#include "props/world/memory.h"

#include <assert.h>
#include <errno.h>
#include <string.h>

#define FIRST_GAP_BYTES 8u
#define MORE_GAP_BYTES	16u /* growth from one gap to the next */

enum o2_reg_mode o2_memory_draw_mode(struct o2_choice *choice, const uint32_t weights[O2_MEMORY_MODES])
{
	static const enum o2_reg_mode modes[O2_MEMORY_MODES] = {
		O2_REG_GLOBAL, O2_REG_FASTREG, O2_REG_FMR, O2_REG_USER, O2_REG_PHYS, O2_REG_FASTREG_GAPS};

	return modes[o2_draw_weighted(choice, weights, O2_MEMORY_MODES)];
}

/* Cut the memory into pieces in pages of their own, or side by side from the first page on. */
static void cut(struct o2_op_memory *m, uint32_t offset, uint64_t nob)
{
	const uint32_t page_bytes = m->shadow->arena->page_bytes;
	const uint32_t pieces = m->cut_into != 0 ? m->cut_into : m->npages;
	const uint32_t per_page = m->gapped ? (pieces + m->npages - 1) / m->npages : 1;
	const uint32_t room = page_bytes / per_page;
	uint64_t left = nob;

	for (uint32_t i = 0; left > 0; i++) {
		uint64_t most = m->gapped ? (left + pieces - i - 1) / (pieces - i) : page_bytes - offset;
		uint32_t take = (uint32_t)(left < most ? left : most);
		uint32_t page = i / per_page;

		assert(page < m->npages && i < O2_MEMORY_PIECES);
		m->kiov[m->npieces++] = (struct o2_kiov){
			m->first_page + (m->scattered ? m->npages - 1 - page : page), offset, take};
		left -= take;
		offset = 0;
		if (m->gapped)
			offset = (i + 1) % per_page * room + FIRST_GAP_BYTES +
				 MORE_GAP_BYTES * (i % (room / (2 * MORE_GAP_BYTES)));
	}
}

void o2_memory_lay(struct o2_op_memory *m, uint64_t nob, enum o2_reg_mode mode, uint32_t offset)
{
	const struct o2_arena *arena = m->shadow->arena;

	m->npieces = 0;
	cut(m, offset, nob);
	m->memory.mode = mode;
	m->memory.buffer =
		(struct o2_buffer){.kind = O2_KIOV, .count = m->npieces, .nob = nob, .kiov = m->kiov};
	if (mode != O2_REG_USER)
		return;
	m->iov = (struct o2_iov){arena->view[0].base + (uint64_t)m->first_page * arena->page_bytes + offset,
				 nob};
	m->memory.buffer = (struct o2_buffer){.kind = O2_IOV, .count = 1, .nob = nob, .iov = &m->iov};
}

void o2_memory_fill(const struct o2_op_memory *m, uint64_t seed, enum o2_fill_kind kind)
{
	const uint64_t page_bytes = m->shadow->arena->page_bytes;

	o2_shadow_fill(m->shadow, m->first_page * page_bytes, m->npages * page_bytes, seed,
		       (struct o2_origin){.kind = kind});
}

/* The arena offset of byte k; *run: how many bytes from k on, at most `most`, are contiguous. */
static uint64_t place(const struct o2_op_memory *m, uint64_t k, uint64_t most, uint64_t *run)
{
	uint32_t i = 0;

	while (k >= m->kiov[i].len)
		k -= m->kiov[i++].len;
	*run = m->kiov[i].len - k < most ? m->kiov[i].len - k : most;
	return (uint64_t)m->kiov[i].page * m->shadow->arena->page_bytes + m->kiov[i].offset + k;
}

void o2_memory_move(const struct o2_op_memory *sink, uint64_t to, const struct o2_op_memory *source,
		    uint64_t from, uint64_t nob)
{
	for (uint64_t k = 0, n; k < nob; k += n) {
		const uint64_t here = place(source, from + k, nob - k, &n);
		const uint64_t there = place(sink, to + k, n, &n);

		memcpy(sink->shadow->bytes + there, source->shadow->bytes + here, n);
	}
}

void o2_memory_accept(const struct o2_op_memory *m, uint64_t from, uint64_t nob)
{
	for (uint64_t k = 0, n; k < nob; k += n) {
		const uint64_t at = place(m, from + k, nob - k, &n);

		o2_shadow_accept(m->shadow, at, n);
	}
}

void o2_memory_check(const struct o2_op_memory *m, uint64_t from, uint64_t nob, struct o2_report *report,
		     const char *signature, const char *when)
{
	for (uint64_t k = 0, n; k < nob; k += n) {
		const uint64_t at = place(m, from + k, nob - k, &n);

		o2_shadow_check_bytes(m->shadow, at, n, report, signature, when);
	}
}

void o2_memory_judge(const struct o2_op_memory *sink, const struct o2_op_memory *source, uint64_t nob,
		     bool failed, struct o2_report *report, const char *signature)
{
	if (sink->shadow == NULL)
		return; /* no bytes to move */
	if (failed)
		o2_memory_accept(sink, 0, sink->memory.buffer.nob);
	else
		o2_memory_move(sink, 0, source, 0, nob);
	o2_shadow_check(sink->shadow, sink->first_page, sink->npages, report, signature,
			failed ? "an operation has failed" : "an operation has ended well");
}

bool o2_memory_comes_later(const struct o2_op_memory *sink)
{
	return sink->memory.mode == O2_REG_FASTREG_GAPS || (sink->shadow != NULL && sink->shadow->bounces);
}

bool o2_memory_equals(const struct o2_op_memory *m, const uint8_t *bytes, uint64_t nob)
{
	for (uint64_t k = 0, n; k < nob; k += n) {
		const uint64_t from = place(m, k, nob - k, &n);

		if (memcmp(m->shadow->bytes + from, bytes + k, n) != 0)
			return false;
	}
	return true;
}

int o2_memory_refusal(const struct o2_op_memory *m)
{
	return m->memory.mode == O2_REG_FASTREG && m->gapped ? -EPROTONOSUPPORT : 0;
}
