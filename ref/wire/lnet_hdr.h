/* SPDX-License-Identifier: MIT */
#ifndef O2_WIRE_LNET_HDR_H
#define O2_WIRE_LNET_HDR_H

#include <stdint.h>

#include "wire/msg.h"

/* The 72-byte LNet header inside IMMEDIATE, PUT_REQ and GET_REQ.  Source: docs/wire.md, "LNet header". */

/* Decode O2_LNET_HDR_BYTES bytes.  The members of the union that the LNet type does not use are set to zero. */
/* LNet: lnet_hdr_from_nid4 */
void o2_lnet_hdr_load(const uint8_t *bytes, struct o2_lnet_hdr *hdr);

/* Encode the header.  The bytes of the union that the LNet type does not use are written as zero. */
/* LNet: lnet_hdr_to_nid4 */
void o2_lnet_hdr_store(const struct o2_lnet_hdr *hdr, uint8_t *bytes);

/* Names such as "PUT", indexed by LNet type. */
extern const char *const o2_lnet_type_names[O2_LNET_HELLO + 1];

/* The name of an LNet type; NULL for a value that is not a type. */
const char *o2_lnet_type_name(uint32_t type);

#endif
