/* SPDX-License-Identifier: MIT */
#ifndef SECOND_WIRE_H
#define SECOND_WIRE_H

#include "second.h"

/* What decoding and encoding share: tables of fields, and the rules that hold for both (docs/wire.md). */

enum { HEADER_BYTES = 48, IMMEDIATE_BYTES = 120, LNET_VARIANT = 80, FRAG_BYTES = 12 };

/* A number of the message and of struct o2_impl_msg; it has as many bytes in both. */
struct field {
	uint16_t wire;	 /* offset in the message */
	uint16_t member; /* offset in struct o2_impl_msg */
	uint8_t bytes;
	uint8_t little; /* little-endian whoever sent it */
};

struct fields {
	const struct field *field;
	uint32_t count;
};

/* What is known about a type of message. */
struct layout {
	const char *name; /* as in the ids of rules */
	uint32_t minimum; /* bytes without fragments and payload */
	struct fields body;
	uint32_t lnet_types; /* bit t: LNet type t may be in it; 0: it has no LNet header */
	uint32_t desc;	     /* offset of the descriptor, 0: none */
	bool status;	     /* it has an ibcm_status */
};

extern const struct fields header_fields;

/* NULL: there is no such type. */
const struct layout *layout_of(uint8_t ibm_type);

/* The fields of a variant of the LNet header; of HELLO and unknown types there are none. */
struct fields variant_of(uint32_t lnet_type);

uint64_t load(const uint8_t *bytes, uint32_t count, bool big_endian);
void store(uint8_t *bytes, uint32_t count, bool big_endian, uint64_t value);
void load_fields(struct fields fields, const uint8_t *bytes, struct o2_impl_msg *msg);
void store_fields(struct fields fields, const struct o2_impl_msg *msg, uint8_t *bytes);

/* Both sums of a message of nob bytes; its own four count as zero. */
struct sums {
	uint32_t plain;	    /* bytes are 0 to 255 */
	uint32_t with_sign; /* bytes are -128 to 127 */
};
struct sums checksums(const uint8_t *bytes, uint32_t nob);

/* Refuse with the rule "wire/<part>/<rule>". */
int32_t refuse_wire(struct o2_impl_refusal *refusal, const char *part, const char *rule, uint32_t index);

/* Rules of a message as a struct, in groups that follow each other. */
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
