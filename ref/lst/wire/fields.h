/* SPDX-License-Identifier: MIT */
#ifndef O2_LST_WIRE_FIELDS_H
#define O2_LST_WIRE_FIELDS_H

#include "base/fields.h"
#include "lst/wire/msg.h"

/*
 * The fields of struct o2_lst_msg, with their places on the wire: the codec itself walks these tables, as do
 * the JSON forms and the dump.  Offsets are from the start of the message.
 */

/* Its header. */
extern const struct o2_field o2_lst_header_fields[];

/* What a type has besides; an empty table for a value that is no type. */
const struct o2_field *o2_lst_body_fields(uint32_t msg_type);

/* Header, then body. */
extern const struct o2_field o2_lst_msg_fields[];

#endif
