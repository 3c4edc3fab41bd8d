/* SPDX-License-Identifier: MIT */
#ifndef O2_WIRE_DESC_CODEC_H
#define O2_WIRE_DESC_CODEC_H

#include <stdint.h>

#include "wire/msg.h"

/* Descriptors from and to wire bytes.  Source: docs/wire.md, "Descriptor". */

/* Where a descriptor stands, and the first of its seven rules. */
struct o2_desc_place {
	const uint8_t *message; /* its first byte */
	uint32_t start_bytes;	/* of the descriptor in the message; key and count lie within nob */
	uint64_t nob;		/* bytes that the message has */
	enum o2_byte_order order;
	uint32_t max_frags;
	unsigned int first_rule; /* O2_RULE_..._DESC */
};

/* Decode and check.  Returns 0 or -EPROTO. */
/* o2iblnd: kiblnd_unpack_rd */
int o2_desc_load(const struct o2_desc_place *place, struct o2_rdma_desc *desc, struct o2_error *error);

/* The checks alone, in their order: each over all fragments before the next one. */
int o2_desc_check(const struct o2_rdma_desc *desc, uint32_t max_frags, unsigned int first_rule,
		  struct o2_error *error);

/* Write 8 + 12 * rd_nfrags bytes.  *desc has been checked. */
void o2_desc_store(const struct o2_rdma_desc *desc, enum o2_byte_order order, uint8_t *bytes);

/* What the fragments of a descriptor hold together. */
/* o2iblnd: kiblnd_rd_size */
uint64_t o2_desc_bytes(const struct o2_rdma_desc *desc);

#endif
