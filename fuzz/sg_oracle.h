/* SPDX-License-Identifier: MIT */
#ifndef O2_FUZZ_SG_ORACLE_H
#define O2_FUZZ_SG_ORACLE_H

#include "mem/sg_build.h"
#include "props/choice.h"

/*
 * Draws and checks that the targets sg_iov and sg_kiov share.
 * Source: docs/fuzzing.md, "sg_iov and sg_kiov"; the rules are those of mem/sg_build.h.
 */

/* A few more pieces than the longest legal list has entries. */
#define O2_FUZZ_MAX_PIECES 264u

/* A legal page size, or once in a while any number. */
uint32_t o2_fuzz_draw_page_bytes(struct o2_choice *c);

/* A legal limit of entries, or once in a while any number. */
uint32_t o2_fuzz_draw_max_entries(struct o2_choice *c);

/* Which bytes to transfer of pieces that hold `total` bytes: mostly some of them, sometimes too many. */
void o2_fuzz_draw_window(struct o2_choice *c, uint64_t total, struct o2_buffer *buffer);

/* Run o2_sg_build() and compare verdict, bytes and gap flag with what the definitions say. */
void o2_fuzz_check_sg(const struct o2_buffer *buffer, const struct o2_address_space *space,
		      uint32_t max_entries);

#endif
