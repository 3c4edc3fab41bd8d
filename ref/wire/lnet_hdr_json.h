/* SPDX-License-Identifier: MIT */
#ifndef O2_WIRE_LNET_HDR_JSON_H
#define O2_WIRE_LNET_HDR_JSON_H

#include <jansson.h>

#include "base/error.h"
#include "wire/msg.h"

/*
 * The LNet header in JSON: its fixed fields and those of the variant that "type" names, all in one object.
 * A handle is {"wh_interface_cookie": "0x...", "wh_object_cookie": "0x..."}.
 *
 * o2iblnd: none, JSON forms are ours
 */

/* NULL when memory runs out, or for a type without a name.  The caller owns the object. */
json_t *o2_lnet_hdr_to_json(const struct o2_lnet_hdr *hdr);

/* Read member "hdr" of object.  Returns 0, -EINVAL or -EAFNOSUPPORT. */
int o2_lnet_hdr_from_json(const json_t *object, struct o2_lnet_hdr *hdr, struct o2_error *error);

#endif
