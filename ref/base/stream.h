/* SPDX-License-Identifier: MIT */
#ifndef O2_BASE_STREAM_H
#define O2_BASE_STREAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * The test data of the network commands: byte `offset` of stream `stream` under a seed.  Both ends can
 * compute it, so each can check bytes that the other end wrote.  Source: docs/peer.md, "Verifying".
 */

/* The stream that serve's memory holds at first; the n-th PUT of a run (from 0) writes stream n + 1. */
#define O2_STREAM_MEMORY 0u

/* Write n bytes of a stream, starting at offset. */
void o2_stream_fill(uint8_t *bytes, size_t n, uint64_t seed, uint64_t stream, uint64_t offset);

/* How many bytes are correct before the first wrong one; n if all are. */
size_t o2_stream_match(const uint8_t *bytes, size_t n, uint64_t seed, uint64_t stream, uint64_t offset);

/*
 * Find the offset of the n bytes in the stream; it can be computed from one word of them.  False: the bytes
 * are not in the stream's first 2^33 bytes, or n is less than O2_STREAM_FIND_BYTES.
 */
#define O2_STREAM_FIND_BYTES 16u
bool o2_stream_find(const uint8_t *bytes, size_t n, uint64_t seed, uint64_t stream, uint64_t *offset);

#endif
