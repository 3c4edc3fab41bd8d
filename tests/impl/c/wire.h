/* SPDX-License-Identifier: MIT */
#ifndef SECOND_WIRE_H
#define SECOND_WIRE_H

#include "second.h"

/* Shared by decoding and encoding: tables of fields, and the rules that hold for both (docs/wire.md). */

enum { HEADER_BYTES = 48, IMMEDIATE_BYTES = 120, LNET_VARIANT = 80, FRAG_BYTES = 12 };

/* A number in the message and in struct o2_impl_msg, with the same size in both. */
struct field {
	uint16_t wire;	 /* offset in the message */
	uint16_t member; /* offset in struct o2_impl_msg */
	uint8_t bytes;
	uint8_t little; /* 1: always little-endian; 0: in the sender's byte order */
};

struct fields {
	const struct field *field;
	uint32_t count;
};

/* The layout of a message type. */
struct layout {
	const char *name; /* as in rule ids */
	uint32_t minimum; /* bytes of the message without fragments and payload */
	struct fields body;
	uint32_t lnet_types; /* bit t: the type may carry LNet type t; 0: it has no LNet header */
	uint32_t desc;	     /* offset of the descriptor; 0: none */
	bool status;	     /* whether the type has an ibcm_status */
};

extern const struct fields header_fields;

/* The layout of a type; NULL: there is no such type. */
const struct layout *layout_of(uint8_t ibm_type);

/* The variant fields of the LNet header by its type; HELLO and unknown types have none. */
struct fields variant_of(uint32_t lnet_type);

uint64_t load(const uint8_t *bytes, uint32_t count, bool big_endian);
void store(uint8_t *bytes, uint32_t count, bool big_endian, uint64_t value);
void load_fields(struct fields fields, const uint8_t *bytes, struct o2_impl_msg *msg);
void store_fields(struct fields fields, const struct o2_impl_msg *msg, uint8_t *bytes);

/* Both checksums of a message of nob bytes; the four bytes of the checksum field count as zero. */
struct sums {
	uint32_t plain;	    /* bytes are 0 to 255 */
	uint32_t with_sign; /* bytes are -128 to 127 */
};
struct sums checksums(const uint8_t *bytes, uint32_t nob);

/* Refuse with the rule "wire/<part>/<rule>". */
int32_t refuse_wire(struct o2_impl_refusal *refusal, const char *part, const char *rule, uint32_t index);

/* Check the rules of a message in struct form.  The groups are checked in this order. */
int32_t check_options(const struct o2_impl_wire_options *options, struct o2_impl_refusal *refusal);
int32_t check_nids(const struct o2_impl_msg *msg, const struct o2_impl_wire_options *options,
		   struct o2_impl_refusal *refusal);
int32_t check_lnet_type(const struct o2_impl_msg *msg, const struct layout *layout,
			struct o2_impl_refusal *refusal);
int32_t check_count(const struct o2_impl_msg *msg, const struct layout *layout, uint32_t max_frags,
		    struct o2_impl_refusal *refusal);
int32_t check_frags(const struct o2_impl_desc *desc, const char *part, struct o2_impl_refusal *refusal);
int32_t check_rest(const struct o2_impl_msg *msg, const struct layout *layout, uint32_t nob,
		   struct o2_impl_refusal *refusal);

#endif
