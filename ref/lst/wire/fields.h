/* SPDX-License-Identifier: MIT */
#ifndef O2_LST_WIRE_FIELDS_H
#define O2_LST_WIRE_FIELDS_H

#include "base/fields.h"
#include "lst/wire/msg.h"

/*
 * The fields of struct o2_lst_msg and their places on the wire.  The codec, the JSON forms and the dump all use
 * these tables.  Offsets are from the start of the message.
 */

/* The fields of the header. */
extern const struct o2_field o2_lst_header_fields[];

/* The fields of the body of a type; an empty table for an unknown type. */
const struct o2_field *o2_lst_body_fields(uint32_t msg_type);

/* Header, then body. */
extern const struct o2_field o2_lst_msg_fields[];

#endif
