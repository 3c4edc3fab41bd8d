/* SPDX-License-Identifier: MIT */
#ifndef O2_LST_WIRE_MSG_JSON_H
#define O2_LST_WIRE_MSG_JSON_H

#include <jansson.h>

#include "base/error.h"
#include "lst/wire/msg.h"

/*
 * An LST message as a JSON object: the fields of its header and body (lst/wire/fields.h).
 *
 * The writer returns NULL if memory runs out or the type is unknown; the caller owns the result.  The reader
 * returns 0, -EINVAL or -EAFNOSUPPORT (an IPv6 NID), with *error (may be NULL).
 */
json_t *o2_lst_msg_to_json(const struct o2_lst_msg *msg);
int o2_lst_msg_from_json(const json_t *object, struct o2_lst_msg *msg, struct o2_error *error);

#endif
