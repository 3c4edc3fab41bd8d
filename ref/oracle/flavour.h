/* SPDX-License-Identifier: MIT */
#ifndef O2_ORACLE_FLAVOUR_H
#define O2_ORACLE_FLAVOUR_H

#include "oracle/compare.h"

/*
 * Some implementations accept only one flavour of checksum, that of their compiler's char (docs/wire.md,
 * "Checksum").  The oracle finds the flavour with two questions that differ in the checksum alone.  One
 * refusal is not enough to tell, because every message has bytes for which the flavours differ.
 */

/* The stages that are asked, the first one that the implementation has. */
#define O2_FLAVOUR_STAGES 3u
extern const enum o2_stage o2_flavour_stages[O2_FLAVOUR_STAGES];

/* Make a question with a legal message of this flavour, O2_CKSUM_UNSIGNED or O2_CKSUM_SIGNED. */
void o2_flavour_question(enum o2_stage stage, enum o2_cksum_flavour flavour, struct o2_case *asked);

/* The only flavour that an implementation accepts; O2_CKSUM_NONE: it accepts both flavours, or neither. */
enum o2_cksum_flavour o2_flavour_of(bool takes_unsigned, bool takes_signed);

/* Whether the question contains a received message, so that the answer depends on the accepted flavours. */
bool o2_flavour_matters(const struct o2_case *asked);

/* Whether a message was refused only because its checksum has the other flavour, or needs the tolerance. */
bool o2_flavour_explains(const struct o2_comparison *comparison, const struct o2_case *asked,
			 const struct o2_answer_refusal *refusal);

#endif
