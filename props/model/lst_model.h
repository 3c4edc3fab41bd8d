/* SPDX-License-Identifier: MIT */
#ifndef O2_PROPS_LST_MODEL_H
#define O2_PROPS_LST_MODEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * A model of the messages of LNet selftest, written from docs/lst.md as a list of field widths.  It shares nothing
 * with the codec that it is compared to (ref/lst/wire/msg.h), not even structs: it turns input bytes into the bytes
 * that the codec must produce.
 */
#define O2_LSTM_BYTES 160u

struct o2_lstm_verdict {
	const char *rule; /* NULL: accepted */
	uint64_t value, limit;
	bool is_read; /* the message was read: accepted, or read despite the refusal */
	bool big;     /* it is big-endian */
};

void o2_lstm_decode(const uint8_t *bytes, size_t length_bytes, struct o2_lstm_verdict *verdict);

/*
 * For bytes with verdict.is_read: the result of decoding and encoding again, in the same byte order and in the
 * other one; O2_LSTM_BYTES bytes each.
 */
void o2_lstm_again(const uint8_t *bytes, bool big, uint8_t *same, uint8_t *other);

#endif
