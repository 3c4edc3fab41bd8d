/* SPDX-License-Identifier: MIT */
#include "base/hex.h"

void o2_hex_put(const uint8_t *bytes, size_t length_bytes, char *text)
{
	static const char digits[] = "0123456789abcdef";

	for (size_t i = 0; i < length_bytes; i++) {
		*text++ = digits[bytes[i] >> 4];
		*text++ = digits[bytes[i] & 0xf];
	}
	*text = '\0';
}

int o2_hex_digit(int digit)
{
	if (digit >= '0' && digit <= '9')
		return digit - '0';
	return digit >= 'a' && digit <= 'f' ? digit - 'a' + 10 : -1;
}
