/* SPDX-License-Identifier: MIT */
#ifndef O2_LST_PATTERN_H
#define O2_LST_PATTERN_H

#include <stdbool.h>
#include <stdint.h>

#include "lst/wire/msg.h"

/*
 * What the bytes of a brw are: a word, where the check says.  Source: docs/lst.md, "Tests and batches".
 *
 * Bytes are in a row here; the memory that they stand for begins `offset` bytes into a page of 4096 bytes (0
 * at a server), which is where check simple cuts its pieces.  length and offset are multiples of 8.
 */

/* The poison word: what a sink is filled with before. */
void o2_lst_pattern_poison(uint8_t *bytes, uint32_t length_bytes);

/*
 * Write the data word in this byte order, where the check says; elsewhere the bytes stay as they are.
 * LNet: brw_fill_page
 */
void o2_lst_pattern_fill(uint8_t *bytes, uint32_t length_bytes, uint32_t offset, enum o2_lst_brw_check check,
			 enum o2_byte_order order);

/* The first word that is not the data word. */
struct o2_lst_wrong {
	uint32_t at; /* its byte, from the first of the transfer */
	uint64_t got, want;
};

/*
 * Whether the data word of this order stands where the check says; if not, *wrong (may be NULL) says where.
 * LNet: brw_check_page
 */
bool o2_lst_pattern_check(const uint8_t *bytes, uint32_t length_bytes, uint32_t offset,
			  enum o2_lst_brw_check check, enum o2_byte_order order, struct o2_lst_wrong *wrong);

#endif
