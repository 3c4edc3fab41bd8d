/* SPDX-License-Identifier: MIT */
#ifndef O2_CLI_DUMP_H
#define O2_CLI_DUMP_H

#include "cli/rows.h"

/*
 * Annotated hex dumps.  They show every field that can be located, legal or not.  The codec has already
 * decided whether the input is legal: rows->refused.
 *
 * rows->bytes[0] is the first byte of the message, record or header that is dumped.
 */

#define O2_IP_CM_HEADER_BYTES 36u /* what the RDMA CM puts before a CONNREQ; docs/cli.md, "Private data" */

void o2_dump_message(struct o2_rows *rows);
void o2_dump_reject(struct o2_rows *rows);
void o2_dump_ip_cm_header(struct o2_rows *rows);

/*
 * Show the magic, the first four bytes, as the field `name`.  Returns whether it is o2iblnd's magic or
 * `other`, in either byte order; sets rows->order to that byte order.
 */
bool o2_dump_magic(struct o2_rows *rows, const char *name, uint32_t other);

/*
 * Show the 72 bytes of the LNet header at O2_AT_LNET_HDR.  *payload_bytes: its payload_length, or 0 if the
 * input ends before that field.
 */
void o2_dump_lnet_hdr(const struct o2_rows *rows, uint32_t *payload_bytes);

#endif
