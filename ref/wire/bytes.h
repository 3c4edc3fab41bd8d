/* SPDX-License-Identifier: MIT */
#ifndef O2_WIRE_BYTES_H
#define O2_WIRE_BYTES_H

#include <stdint.h>

#include "wire/msg.h"

/*
 * Numbers from and to wire bytes, one byte at a time: fragments are 12 bytes apart, so their addresses are
 * misaligned, and the host's own order must not matter.  Compilers turn each of these into one load or store.
 *
 * Source: docs/wire.md, "Byte order".
 *
 * o2iblnd: none, it swaps a message in place
 */

static inline uint16_t o2_load16_le(const uint8_t *bytes)
{
	return (uint16_t)(bytes[0] | (unsigned)bytes[1] << 8);
}

static inline uint16_t o2_load16_be(const uint8_t *bytes)
{
	return (uint16_t)(bytes[1] | (unsigned)bytes[0] << 8);
}

static inline uint32_t o2_load32_le(const uint8_t *bytes)
{
	return (uint32_t)bytes[0] | (uint32_t)bytes[1] << 8 | (uint32_t)bytes[2] << 16 |
	       (uint32_t)bytes[3] << 24;
}

static inline uint32_t o2_load32_be(const uint8_t *bytes)
{
	return (uint32_t)bytes[3] | (uint32_t)bytes[2] << 8 | (uint32_t)bytes[1] << 16 |
	       (uint32_t)bytes[0] << 24;
}

static inline uint64_t o2_load64_le(const uint8_t *bytes)
{
	return (uint64_t)bytes[0] | (uint64_t)bytes[1] << 8 | (uint64_t)bytes[2] << 16 |
	       (uint64_t)bytes[3] << 24 | (uint64_t)bytes[4] << 32 | (uint64_t)bytes[5] << 40 |
	       (uint64_t)bytes[6] << 48 | (uint64_t)bytes[7] << 56;
}

static inline uint64_t o2_load64_be(const uint8_t *bytes)
{
	return (uint64_t)bytes[7] | (uint64_t)bytes[6] << 8 | (uint64_t)bytes[5] << 16 |
	       (uint64_t)bytes[4] << 24 | (uint64_t)bytes[3] << 32 | (uint64_t)bytes[2] << 40 |
	       (uint64_t)bytes[1] << 48 | (uint64_t)bytes[0] << 56;
}

static inline uint16_t o2_load16(const uint8_t *bytes, enum o2_byte_order order)
{
	return order == O2_LITTLE_ENDIAN ? o2_load16_le(bytes) : o2_load16_be(bytes);
}

static inline uint32_t o2_load32(const uint8_t *bytes, enum o2_byte_order order)
{
	return order == O2_LITTLE_ENDIAN ? o2_load32_le(bytes) : o2_load32_be(bytes);
}

static inline uint64_t o2_load64(const uint8_t *bytes, enum o2_byte_order order)
{
	return order == O2_LITTLE_ENDIAN ? o2_load64_le(bytes) : o2_load64_be(bytes);
}

static inline void o2_store16(uint8_t *bytes, enum o2_byte_order order, uint16_t value)
{
	const int first = order == O2_LITTLE_ENDIAN ? 0 : 1;

	bytes[first] = (uint8_t)value;
	bytes[1 - first] = (uint8_t)(value >> 8);
}

static inline void o2_store32_le(uint8_t *bytes, uint32_t value)
{
	bytes[0] = (uint8_t)value;
	bytes[1] = (uint8_t)(value >> 8);
	bytes[2] = (uint8_t)(value >> 16);
	bytes[3] = (uint8_t)(value >> 24);
}

static inline void o2_store32_be(uint8_t *bytes, uint32_t value)
{
	bytes[0] = (uint8_t)(value >> 24);
	bytes[1] = (uint8_t)(value >> 16);
	bytes[2] = (uint8_t)(value >> 8);
	bytes[3] = (uint8_t)value;
}

static inline void o2_store64_le(uint8_t *bytes, uint64_t value)
{
	o2_store32_le(bytes, (uint32_t)value);
	o2_store32_le(bytes + 4, (uint32_t)(value >> 32));
}

static inline void o2_store64_be(uint8_t *bytes, uint64_t value)
{
	o2_store32_be(bytes, (uint32_t)(value >> 32));
	o2_store32_be(bytes + 4, (uint32_t)value);
}

static inline void o2_store32(uint8_t *bytes, enum o2_byte_order order, uint32_t value)
{
	if (order == O2_LITTLE_ENDIAN)
		o2_store32_le(bytes, value);
	else
		o2_store32_be(bytes, value);
}

static inline void o2_store64(uint8_t *bytes, enum o2_byte_order order, uint64_t value)
{
	if (order == O2_LITTLE_ENDIAN)
		o2_store64_le(bytes, value);
	else
		o2_store64_be(bytes, value);
}

#endif
