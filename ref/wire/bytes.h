/* SPDX-License-Identifier: MIT */
#ifndef O2_WIRE_BYTES_H
#define O2_WIRE_BYTES_H

#include <stdint.h>
#include <string.h>

#include "wire/msg.h"

/*
 * Read and write numbers in wire bytes.  Fragments are 12 bytes apart, so their addresses may be misaligned;
 * so the bytes are copied, and compilers turn each function into one load or store.
 *
 * Source: docs/wire.md, "Byte order".
 * o2iblnd: none, it swaps a message in place
 */

/* The byte order of this machine. */
#define O2_HOST_ORDER (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? O2_LITTLE_ENDIAN : O2_BIG_ENDIAN)

static inline uint16_t o2_load16(const uint8_t *bytes, enum o2_byte_order order)
{
	uint16_t value;

	memcpy(&value, bytes, sizeof(value));
	return order == O2_HOST_ORDER ? value : __builtin_bswap16(value);
}

static inline uint32_t o2_load32(const uint8_t *bytes, enum o2_byte_order order)
{
	uint32_t value;

	memcpy(&value, bytes, sizeof(value));
	return order == O2_HOST_ORDER ? value : __builtin_bswap32(value);
}

static inline uint64_t o2_load64(const uint8_t *bytes, enum o2_byte_order order)
{
	uint64_t value;

	memcpy(&value, bytes, sizeof(value));
	return order == O2_HOST_ORDER ? value : __builtin_bswap64(value);
}

static inline void o2_store16(uint8_t *bytes, enum o2_byte_order order, uint16_t value)
{
	value = order == O2_HOST_ORDER ? value : __builtin_bswap16(value);
	memcpy(bytes, &value, sizeof(value));
}

static inline void o2_store32(uint8_t *bytes, enum o2_byte_order order, uint32_t value)
{
	value = order == O2_HOST_ORDER ? value : __builtin_bswap32(value);
	memcpy(bytes, &value, sizeof(value));
}

static inline void o2_store64(uint8_t *bytes, enum o2_byte_order order, uint64_t value)
{
	value = order == O2_HOST_ORDER ? value : __builtin_bswap64(value);
	memcpy(bytes, &value, sizeof(value));
}

/* For formats with one fixed byte order. */

static inline uint32_t o2_load32_le(const uint8_t *bytes)
{
	return o2_load32(bytes, O2_LITTLE_ENDIAN);
}

static inline uint32_t o2_load32_be(const uint8_t *bytes)
{
	return o2_load32(bytes, O2_BIG_ENDIAN);
}

#endif
