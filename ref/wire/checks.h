/* SPDX-License-Identifier: MIT */
#ifndef O2_WIRE_CHECKS_H
#define O2_WIRE_CHECKS_H

#include <stdbool.h>
#include <stdint.h>

#include "wire/msg.h"
#include "wire/msg_type.h"

/*
 * Checks of decoded values (msg_decode.c), shared by decode and encode so that the two cannot disagree.  Each returns 0 or
 * refuses with the rule that docs/wire.md, "Rules", names.  *error may be NULL.
 *
 * o2iblnd: none, its checks stand where it unpacks
 */

/* max_frags is 256 or 257. */
int o2_check_options(const struct o2_wire_options *options, struct o2_error *error);

/* 0x11 or 0x12. */
int o2_check_version(uint16_t version, struct o2_error *error);

/* Source, then destination (nid.c). */
int o2_check_nids(uint64_t srcnid, uint64_t dstnid, bool any_lnd, struct o2_error *error);

/* The LNet type fits the message type. */
int o2_check_lnet_type(const struct o2_msg_type_info *info, uint32_t lnet_type, struct o2_error *error);

/* ACK and GET carry no payload, PUT and REPLY at most the LNet MTU. */
int o2_check_lnet_payload(const struct o2_msg_type_info *info, const struct o2_lnet_hdr *hdr,
			  struct o2_error *error);

/* A completion does not report more than the LNet MTU. */
int o2_check_status(const struct o2_msg_type_info *info, int32_t status, struct o2_error *error);

#endif
