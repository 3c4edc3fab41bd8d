/* SPDX-License-Identifier: MIT */
#ifndef O2_ORACLE_FLAVOUR_H
#define O2_ORACLE_FLAVOUR_H

#include "oracle/compare.h"

/*
 * Implementations that know one flavour of checksum, that of their compiler's char (docs/wire.md,
 * "Checksum").  Whether one does so, and which it is, shows in two questions that are the same but for the
 * checksum; a single refusal does not tell, because every message has bytes in which the flavours differ.
 */

/* The question of one flavour, O2_CKSUM_UNSIGNED or O2_CKSUM_SIGNED: a legal NOOP. */
void o2_flavour_question(enum o2_cksum_flavour flavour, struct o2_case *asked);

/* What the answers to both say: the one that is taken; O2_CKSUM_NONE when both are, or neither. */
enum o2_cksum_flavour o2_flavour_of(bool takes_unsigned, bool takes_signed);

/* Does the answer depend on which flavours it takes: is a received message part of the question? */
bool o2_flavour_matters(const struct o2_case *asked);

/* Is a message refused for no more than that its checksum has the other flavour, or passes by tolerance? */
bool o2_flavour_explains(const struct o2_comparison *comparison, const struct o2_case *asked,
			 const struct o2_answer_refusal *refusal);

#endif
