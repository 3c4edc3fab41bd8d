/* SPDX-License-Identifier: MIT */
#ifndef O2_PROPS_LST_MODEL_H
#define O2_PROPS_LST_MODEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * What docs/lst.md says of a message of LNet selftest, as widths of fields in their order: a model for the
 * codec (ref/lst/wire/msg.h) to be held against, which shares nothing with it.  It has no structs: it turns
 * bytes into the bytes that must come out.
 */
#define O2_LSTM_BYTES 160u

struct o2_lstm_verdict {
	const char *rule; /* NULL: accepted */
	uint64_t value, limit;
	bool is_read; /* accepted, or read all the same */
	bool big;     /* its byte order */
};

void o2_lstm_decode(const uint8_t *bytes, size_t length_bytes, struct o2_lstm_verdict *verdict);

/*
 * Of bytes with verdict.is_read: what decoding and encoding again gives, in the same order and in the other
 * one; O2_LSTM_BYTES each.
 */
void o2_lstm_again(const uint8_t *bytes, bool big, uint8_t *same, uint8_t *other);

#endif
