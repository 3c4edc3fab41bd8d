/* SPDX-License-Identifier: MIT */
#ifndef O2_PROPS_WIRE_MODEL_H
#define O2_PROPS_WIRE_MODEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "wire/msg.h"

/*
 * A second codec, to compare the reference codec with: tables of fields and one loop, written from docs/wire.md.
 * It shares the plain structs of ref/wire/msg.h with the reference codec, but no function and no offset.
 */

/* One field: its place on the wire, and in struct o2_msg (or in an LNet header). */
struct o2_wm_field {
	const char *name;
	uint16_t at;	   /* offset in the message; in an LNet header or variant, relative to that */
	uint8_t bytes;	   /* width on the wire */
	bool little;	   /* little-endian in any message; otherwise in the sender's order */
	uint16_t member;   /* offset in the struct */
	uint8_t of_member; /* width in the struct */
};

#define O2_WM_NONE UINT16_MAX

struct o2_wm_type {
	uint8_t type;
	const char *name; /* as in rule ids */
	uint16_t minimum;
	uint16_t lnet_hdr;  /* offset of the LNet header in struct o2_msg, or O2_WM_NONE */
	uint8_t lnet_types; /* LNet types that are permitted: bit t for type t */
	uint16_t desc;	    /* offset of the descriptor in struct o2_msg, or O2_WM_NONE */
	uint16_t desc_at;   /* offset of the descriptor on the wire */
	bool has_status;
	const struct o2_wm_field *field;
	uint32_t fields;
};

extern const struct o2_wm_field o2_wm_header[];
extern const uint32_t o2_wm_header_fields;
extern const struct o2_wm_field o2_wm_lnet[]; /* common to all variants; relative to the LNet header */
extern const uint32_t o2_wm_lnet_fields;

#define O2_WM_TYPES 10u
extern const struct o2_wm_type o2_wm_types[O2_WM_TYPES];

/* NULL: there is no such type. */
const struct o2_wm_type *o2_wm_type(uint8_t type);

/* The fields of an LNet variant, relative to the LNet header; none for an unknown type. */
const struct o2_wm_field *o2_wm_variant(uint32_t lnet_type, uint32_t *fields);

/* Read and write a member of 1, 2, 4 or 8 bytes. */
uint64_t o2_wm_get(const void *base, const struct o2_wm_field *field);
void o2_wm_set(void *base, const struct o2_wm_field *field, uint64_t value);

/* Read and write n bytes in wire format. */
uint64_t o2_wm_load(const uint8_t *bytes, uint32_t n, bool little);
void o2_wm_store(uint8_t *bytes, uint32_t n, bool little, uint64_t value);

/* The model's verdict on a message. */
struct o2_wm_verdict {
	bool refused;
	char rule[48];
	char field[32];
	enum o2_limit_kind limit_kind;
	enum o2_error_class class;
	int code;	/* negative errno */
	uint32_t index; /* index of a fragment, or O2_NO_INDEX */
	uint32_t offset_bytes;
	bool value_known, limit_known; /* docs/wire.md defines value, limit */
	uint64_t value, limit;
};

void o2_wm_refuse(struct o2_wm_verdict *verdict, const char *where, const char *what, uint32_t offset_bytes,
		  uint64_t value, uint64_t limit);

/* Check the values of a message, in the order of docs/wire.md.  nob is UINT32_MAX when encoding.  False:
 * refused. */
bool o2_wm_check_nids(const struct o2_msg *msg, const struct o2_wire_options *options,
		      struct o2_wm_verdict *verdict);
bool o2_wm_check_desc(const struct o2_rdma_desc *desc, const char *name, uint32_t at, uint32_t max_frags,
		      uint64_t nob, uint32_t nob_at, struct o2_wm_verdict *verdict);
bool o2_wm_check_body(const struct o2_msg *msg, const struct o2_wm_type *type,
		      const struct o2_wire_options *options, uint64_t nob, struct o2_wm_verdict *verdict);

/* Checksum of nob bytes, before 0 is replaced by 1. */
uint32_t o2_wm_sum(const uint8_t *bytes, size_t nob, bool is_signed);

/* Decode; *msg is zeroed first. */
void o2_wm_decode(const uint8_t *bytes, size_t length_bytes, const struct o2_wire_options *options,
		  struct o2_msg *msg, struct o2_wm_verdict *verdict);
void o2_wm_desc_decode(const uint8_t *bytes, size_t length_bytes, bool little,
		       const struct o2_wire_options *options, struct o2_rdma_desc *desc,
		       struct o2_wm_verdict *verdict);

/* Encode; *nob: the number of bytes. */
void o2_wm_encode(const struct o2_msg *msg, const struct o2_wire_options *options, uint8_t *bytes,
		  size_t capacity_bytes, uint32_t *nob, struct o2_wm_verdict *verdict);

/* Write *msg without any check; 4096 bytes suffice.  Returns the length. */
uint32_t o2_wm_write(const struct o2_msg *msg, uint8_t *bytes);

/* Store the checksum of nob bytes in the checksum field; 0 for O2_CKSUM_NONE. */
void o2_wm_seal(uint8_t *bytes, size_t nob, bool little, enum o2_cksum_flavour flavour);

/* The name of the first field that differs; NULL: none.  nob and flavour are not compared. */
const char *o2_wm_difference(const struct o2_msg *a, const struct o2_msg *b);

#endif
