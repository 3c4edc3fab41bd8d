/* SPDX-License-Identifier: MIT */
#include "props/talk/nodes_internal.h"

/*
 * Memory of operations.  Operation k of a node uses slot k of the node's own arena, and a slot in the arena of the
 * target: an arena has its own slots first, then as many for each other node.  Slots are used for the whole case.
 */

#define PAGE_BYTES 4096u

static struct o2_op_memory slot(struct o2_nodes_seat *seat, uint32_t first_page)
{
	return (struct o2_op_memory){
		.shadow = &seat->place.shadow, .first_page = first_page, .npages = O2_NODES_SLOT_PAGES};
}

void o2_nodes_memory_draw(struct o2_choice *c, struct o2_nodes_seat *seat, uint32_t first_page,
			  uint32_t bytes, struct o2_op_memory *m)
{
	static const uint32_t weights[O2_MEMORY_MODES] = {6, 6, 4, 2, 2, 2};
	const enum o2_reg_mode mode = o2_memory_draw_mode(c, weights);
	uint32_t offset = 0;

	*m = slot(seat, first_page);
	m->gapped = mode != O2_REG_USER && mode != O2_REG_PHYS && bytes >= O2_NODES_SLOT_PAGES &&
		    o2_draw_bool(c, 3, 1);
	if (o2_draw_bool(c, 1, 1))
		offset = (uint32_t)o2_draw(c, m->gapped ? 511 : PAGE_BYTES - 1);
	m->scattered = mode != O2_REG_USER && o2_draw_bool(c, 1, 1);
	o2_memory_lay(m, bytes, mode, offset);
}

void o2_nodes_memory_plain(struct o2_nodes_seat *seat, uint32_t first_page, uint32_t bytes,
			   enum o2_reg_mode mode, struct o2_op_memory *m)
{
	*m = slot(seat, first_page);
	o2_memory_lay(m, bytes, mode, 0);
}
