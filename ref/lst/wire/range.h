/* SPDX-License-Identifier: MIT */
#ifndef O2_LST_WIRE_RANGE_H
#define O2_LST_WIRE_RANGE_H

#include "base/error.h"
#include "lst/wire/msg.h"

/*
 * The check of what may be sent to a kernel, which trusts some numbers of a request.  The maker of a request
 * must call it before sending.  Source: docs/lst.md, "What may be sent".
 */

/*
 * Returns 0 if the message may be sent to a kernel; else -EINVAL with *error (may be NULL) that names the
 * field, its value and the limit, by a rule "lst/send/...".  For a reply only the version is checked.
 */
int o2_lst_range_check(const struct o2_lst_msg *msg, struct o2_error *error);

/*
 * The same for the parameters of a brw test: the length, for these features, and the offset of the client's
 * memory in its first page.  The rules are lst/send/blk-len and so on.
 */
int o2_lst_range_bulk(uint32_t features, uint64_t len, uint64_t offset, struct o2_error *error);

/* The largest offset that o2_lst_range_bulk() accepts for a valid length. */
uint32_t o2_lst_range_max_offset(uint32_t len);

#endif
