/* SPDX-License-Identifier: MIT */
#ifndef O2_BASE_STREAM_H
#define O2_BASE_STREAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * What the network commands put into memory and look for: byte `offset` of stream `stream` under a seed.
 * Both ends know it, so either can check bytes that the other one wrote.  Source: docs/peer.md, "Verifying".
 */

/* What serve's memory holds from the start; the n-th PUT of a run, from 0, is stream n + 1. */
#define O2_STREAM_MEMORY 0u

/* Write the n bytes of a stream that begin at offset. */
void o2_stream_fill(uint8_t *bytes, size_t n, uint64_t seed, uint64_t stream, uint64_t offset);

/* How many bytes are right before the first that is not; n if all are. */
size_t o2_stream_match(const uint8_t *bytes, size_t n, uint64_t seed, uint64_t stream, uint64_t offset);

/*
 * Where in the stream the n bytes stand: a word of it says its place.  False: nowhere below 2 to the power of
 * 33, or n is less than O2_STREAM_FIND_BYTES.
 */
#define O2_STREAM_FIND_BYTES 16u
bool o2_stream_find(const uint8_t *bytes, size_t n, uint64_t seed, uint64_t stream, uint64_t *offset);

#endif
