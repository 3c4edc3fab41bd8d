/* SPDX-License-Identifier: MIT */
#ifndef O2_WIRE_DESC_CODEC_H
#define O2_WIRE_DESC_CODEC_H

#include <stdint.h>

#include "wire/msg.h"

/* Decode and encode descriptors.  Source: docs/wire.md, "Descriptor". */

/* Where in a message a descriptor is, and the first of the seven rules for it. */
struct o2_desc_place {
	const uint8_t *message; /* first byte of the message */
	uint32_t start_bytes;	/* offset of the descriptor; its key and count lie within nob */
	uint64_t nob;		/* bytes of the message */
	enum o2_byte_order order;
	uint32_t max_frags;
	unsigned int first_rule; /* O2_RULE_..._DESC */
};

/* Decode and check a descriptor.  Returns 0 or -EPROTO. */
/* o2iblnd: kiblnd_unpack_rd */
int o2_desc_load(const struct o2_desc_place *place, struct o2_rdma_desc *desc, struct o2_error *error);

/* Only the checks, in their order: each rule is checked for all fragments before the next rule. */
int o2_desc_check(const struct o2_rdma_desc *desc, uint32_t max_frags, unsigned int first_rule,
		  struct o2_error *error);

/* Encode a descriptor that has been checked: writes 8 + 12 * rd_nfrags bytes. */
void o2_desc_store(const struct o2_rdma_desc *desc, enum o2_byte_order order, uint8_t *bytes);

/* Sum of the bytes of all fragments of a descriptor. */
/* o2iblnd: kiblnd_rd_size */
uint64_t o2_desc_bytes(const struct o2_rdma_desc *desc);

#endif
