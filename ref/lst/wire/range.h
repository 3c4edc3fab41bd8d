/* SPDX-License-Identifier: MIT */
#ifndef O2_LST_WIRE_RANGE_H
#define O2_LST_WIRE_RANGE_H

#include "base/error.h"
#include "lst/wire/msg.h"

/*
 * What may be sent to a kernel: it takes some numbers of a request on trust.  Who makes requests asks here
 * before anything goes out.  Source: docs/lst.md, "What may be sent".
 */

/*
 * 0 if a kernel may be sent the message; else -EINVAL with *error (may be NULL) that names the field, its
 * value and the limit, by a rule "lst/send/...".  Replies only have to have the version.
 */
int o2_lst_range_check(const struct o2_lst_msg *msg, struct o2_error *error);

/*
 * The same for what a brw test is asked for, by itself: a length for these features, and where the client's
 * memory begins in its first page.  The rules are lst/send/blk-len and so on.
 */
int o2_lst_range_bulk(uint32_t features, uint64_t len, uint64_t offset, struct o2_error *error);

/* The largest offset that o2_lst_range_bulk() lets pass for a length that it lets pass. */
uint32_t o2_lst_range_max_offset(uint32_t len);

#endif
