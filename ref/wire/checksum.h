/* SPDX-License-Identifier: MIT */
#ifndef O2_WIRE_CHECKSUM_H
#define O2_WIRE_CHECKSUM_H

#include <stddef.h>
#include <stdint.h>

#include "wire/msg.h"

/*
 * Rotate and add.  Peers differ in how they widen a byte before adding it, so there are two sums; both are
 * never 0, which means "not checksummed".  Source: docs/wire.md, "Checksum".
 */
struct o2_checksums {
	uint32_t of_unsigned;
	uint32_t of_signed;
};

/*
 * Both sums of the first nob bytes of a message, its checksum field taken as zero.  nob may be less than a
 * header.
 * o2iblnd: kiblnd_cksum
 */
struct o2_checksums o2_msg_checksum_both(const uint8_t *bytes, size_t nob);

/*
 * The flavour that a sender uses, as shown by the checksum of a message that decoding has accepted.
 * O2_CKSUM_NONE if the message has no checksum, or one that is right in both flavours or in neither.
 */
enum o2_cksum_flavour o2_msg_checksum_shown(const uint8_t *bytes, size_t length_bytes);

/* One of the two; 0 for O2_CKSUM_NONE.  O2_CKSUM_UNVERIFIED gives the unsigned one. */
uint32_t o2_checksum_of(struct o2_checksums sums, enum o2_cksum_flavour flavour);

#endif
