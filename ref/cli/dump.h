/* SPDX-License-Identifier: MIT */
#ifndef O2_CLI_DUMP_H
#define O2_CLI_DUMP_H

#include "cli/rows.h"

/*
 * Annotated hex dumps.  They show every field that can be located, legal or not.  Whether the input is legal
 * the codec has decided before: rows->refused.
 *
 * rows->bytes[0] is the first byte of the message, of the record, of the header.
 */

#define O2_IP_CM_HEADER_BYTES 36u /* what the RDMA CM puts before a CONNREQ; docs/cli.md, "Private data" */

void o2_dump_message(struct o2_rows *rows);
void o2_dump_reject(struct o2_rows *rows);
void o2_dump_ip_cm_header(struct o2_rows *rows);

/*
 * The magic in the first four bytes, under that name.  Returns whether it is that of o2iblnd or `other`, in either byte
 * order, which rows->order is from then on.
 */
bool o2_dump_magic(struct o2_rows *rows, const char *name, uint32_t other);

/*
 * The 72 bytes of the LNet header at O2_AT_LNET_HDR.  *payload_bytes: what its payload_length says, 0 if that
 * is not there.
 */
void o2_dump_lnet_hdr(const struct o2_rows *rows, uint32_t *payload_bytes);

#endif
