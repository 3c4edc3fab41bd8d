/* SPDX-License-Identifier: MIT */
#ifndef O2_FORMS_WIRE_FIELDS_H
#define O2_FORMS_WIRE_FIELDS_H

#include "base/fields.h"
#include "wire/msg.h"

/*
 * Tables of what is sent on the wire: names in JSON and in errors, offsets in the structs and on the wire.
 * The codec does not use them, because its speed matters; tests/unit/wire/test_wire_fields.c compares it with
 * these tables.
 */

/* struct o2_rdma_frag and struct o2_rdma_desc. */
extern const struct o2_field o2_frag_fields[];
extern const struct o2_field o2_desc_fields[];

/* struct o2_lnet_hdr; and the variants of its union, indexed by LNet type from 0 to O2_LNET_HELLO. */
extern const struct o2_field o2_lnet_hdr_fields[];
extern const struct o2_field *const o2_lnet_variant_fields[O2_LNET_HELLO + 1];

/* Bytes of the header's union that an LNet type uses; 0 for a type that no message of o2iblnd may carry. */
uint32_t o2_lnet_variant_bytes(uint32_t type);

/* struct o2_msg: its header, and the body of each type, without the payload of an IMMEDIATE. */
extern const struct o2_field o2_msg_header_fields[];
const struct o2_field *o2_msg_body_fields(uint8_t ibm_type);

/* struct o2_reject, and its member ibr_cp. */
extern const struct o2_field o2_reject_fields[];
extern const struct o2_field o2_reject_cp_fields[];

/* struct o2_wire_options. */
extern const struct o2_field o2_wire_option_fields[];

#endif
