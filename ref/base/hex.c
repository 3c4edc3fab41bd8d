/* SPDX-License-Identifier: MIT */
#include "base/hex.h"

#include <string.h>

static const char digits[] = "0123456789abcdef";

void o2_hex_put(const uint8_t *bytes, size_t length_bytes, char *text)
{
	for (size_t i = 0; i < length_bytes; i++) {
		*text++ = digits[bytes[i] >> 4];
		*text++ = digits[bytes[i] & 0xf];
	}
	*text = '\0';
}

int o2_hex_digit(int digit)
{
	const char *at = digit == '\0' ? NULL : strchr(digits, digit);

	return at == NULL ? -1 : (int)(at - digits);
}
