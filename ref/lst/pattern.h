/* SPDX-License-Identifier: MIT */
#ifndef O2_LST_PATTERN_H
#define O2_LST_PATTERN_H

#include <stdbool.h>
#include <stdint.h>

#include "lst/wire/msg.h"

/*
 * The bytes of a brw: the data word, wherever the check requires it.  Source: docs/lst.md, "Tests and batches".
 *
 * The bytes are contiguous here.  They stand for memory that begins `offset` bytes into a page of 4096 bytes (0
 * at a server); check simple checks each part that lies in one page.  length and offset are multiples of 8.
 */

/* Fill a sink with the poison word before a transfer. */
void o2_lst_pattern_poison(uint8_t *bytes, uint32_t length_bytes);

/*
 * Write the data word in this byte order where the check requires it; the other bytes do not change.
 * LNet: brw_fill_page
 */
void o2_lst_pattern_fill(uint8_t *bytes, uint32_t length_bytes, uint32_t offset, enum o2_lst_brw_check check,
			 enum o2_byte_order order);

/* The first word that is not the data word. */
struct o2_lst_wrong {
	uint32_t at; /* offset from the first byte of the transfer */
	uint64_t got, want;
};

/*
 * Is the data word in this byte order wherever the check requires it?  If not, *wrong (may be NULL) says where.
 * LNet: brw_check_page
 */
bool o2_lst_pattern_check(const uint8_t *bytes, uint32_t length_bytes, uint32_t offset,
			  enum o2_lst_brw_check check, enum o2_byte_order order, struct o2_lst_wrong *wrong);

#endif
