/* SPDX-License-Identifier: MIT */
#ifndef O2_WIRE_CHECKSUM_H
#define O2_WIRE_CHECKSUM_H

#include <stddef.h>
#include <stdint.h>

#include "wire/msg.h"

/*
 * The checksum rotates and adds.  Peers differ in whether they add a byte as unsigned or as signed char, so
 * there are two sums.  Neither is ever 0, which means "not checksummed".  Source: docs/wire.md, "Checksum".
 */
struct o2_checksums {
	uint32_t of_unsigned;
	uint32_t of_signed;
};

/*
 * Both sums of the first nob bytes of a message, with its checksum field taken as zero.  nob may be less than
 * the size of a header.
 * o2iblnd: kiblnd_cksum
 */
struct o2_checksums o2_msg_checksum_both(const uint8_t *bytes, size_t nob);

/*
 * The flavour that the sender uses, found from the checksum of a message that decoding has accepted.
 * O2_CKSUM_NONE if the message has no checksum, or one that matches both flavours or neither.
 */
enum o2_cksum_flavour o2_msg_checksum_shown(const uint8_t *bytes, size_t length_bytes);

/* The sum of one flavour: 0 for O2_CKSUM_NONE, the unsigned sum for O2_CKSUM_UNVERIFIED. */
uint32_t o2_checksum_of(struct o2_checksums sums, enum o2_cksum_flavour flavour);

#endif
