/* SPDX-License-Identifier: MIT */
#ifndef O2_PROPS_REJECT_MODEL_H
#define O2_PROPS_REJECT_MODEL_H

#include "props/model/wire_model.h"
#include "wire/reject.h"

/*
 * A second codec of the reject record, written from docs/wire.md, "Reject record": a table of fields and a loop.
 * It shares the plain struct with the reference codec, but no function and no offset.
 */

#define O2_RM_BYTES 24u

/* Names of ibr_why 1 to 9; entry 0 is empty. */
#define O2_RM_REASONS 10u
extern const char *const o2_rm_reasons[O2_RM_REASONS];

/* The predicted error record; refused false: accepted. */
struct o2_rm_verdict {
	bool refused;
	const char *rule, *field;
	enum o2_error_class class;
	enum o2_limit_kind limit_kind;
	int code; /* negative errno */
	uint32_t offset_bytes;
	uint64_t value, limit;
};

void o2_rm_decode(const uint8_t *bytes, size_t length_bytes, struct o2_reject *reject,
		  struct o2_rm_verdict *verdict);

/* bytes: O2_RM_BYTES bytes, written even if the record is refused. */
void o2_rm_encode(const struct o2_reject *reject, uint8_t *bytes, size_t capacity_bytes,
		  struct o2_rm_verdict *verdict);

/* The name of the first member that differs; NULL: none. */
const char *o2_rm_difference(const struct o2_reject *a, const struct o2_reject *b);

#endif
