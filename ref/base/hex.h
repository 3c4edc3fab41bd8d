/* SPDX-License-Identifier: MIT */
#ifndef O2_BASE_HEX_H
#define O2_BASE_HEX_H

#include <stddef.h>
#include <stdint.h>

/* Bytes as text: two hexadecimal digits each, in lower case. */

/* The digits of so many bytes, and a zero behind them: 2 * length_bytes + 1 characters. */
void o2_hex_put(const uint8_t *bytes, size_t length_bytes, char *text);

/* The value of such a digit; -1: it is none.  Who takes upper case too asks with tolower(3). */
int o2_hex_digit(int digit);

#endif
