/* SPDX-License-Identifier: MIT */
#ifndef O2_BASE_HEX_H
#define O2_BASE_HEX_H

#include <stddef.h>
#include <stdint.h>

/* Bytes as text: two hexadecimal digits each, in lower case. */

/* Write the digits of length_bytes bytes and a terminating zero: 2 * length_bytes + 1 characters. */
void o2_hex_put(const uint8_t *bytes, size_t length_bytes, char *text);

/* The value of a lower-case digit; -1: no digit.  To accept upper case as well, pass tolower(3) of it. */
int o2_hex_digit(int digit);

#endif
