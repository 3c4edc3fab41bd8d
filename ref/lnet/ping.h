/* SPDX-License-Identifier: MIT */
#ifndef O2_LNET_PING_H
#define O2_LNET_PING_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

/*
 * Ping info: the answer of a node to LNet's ping, which is a GET at portal 0 with the match bits below.  To
 * tell its peers about itself ("push"), a node PUTs the same bytes there.
 * Source: docs/peer.md, "Ping".
 *
 * Unlike the LNet header, it is in the byte order of its sender; the magic shows which.
 */

#define O2_PING_PORTAL	   0u				/* LNet: LNET_RESERVED_PORTAL */
#define O2_PING_MATCH_BITS UINT64_C(0x8000000000000000) /* LNet: LNET_PROTO_PING_MATCHBITS */
#define O2_PING_MAGIC	   0x70696e67u			/* LNet: LNET_PROTO_PING_MAGIC */

#define O2_PING_HEADER_BYTES 16u
#define O2_PING_NI_BYTES     16u
#define O2_PING_MAX_NIS	     16u /* interfaces that are decoded; the answer may have more */
#define O2_PING_INFO_BYTES   (O2_PING_HEADER_BYTES + 2 * O2_PING_NI_BYTES) /* bytes of this node's answer */

/* The sink of lctl's ping has room for the payload of one IMMEDIATE, less one header of ping info. */
#define O2_PING_SINK_BYTES 3960u

/* Features. */
/* LNet: LNET_PING_FEAT_BASE, LNET_PING_FEAT_NI_STATUS, LNET_PING_FEAT_RTE_DISABLED */
/* LNet: LNET_PING_FEAT_MULTI_RAIL, LNET_PING_FEAT_DISCOVERY */
#define O2_PING_BASE		      (1u << 0)
#define O2_PING_NI_STATUS	      (1u << 1) /* status of each interface; LNet requires it */
#define O2_PING_RTE_OFF		      (1u << 2) /* the node does not route */
#define O2_PING_MULTI_RAIL	      (1u << 3)
#define O2_PING_DISCOVERY	      (1u << 4) /* the node takes part in discovery: peers will push */
#define O2_PING_NO_DISCOVERY_FEATURES (O2_PING_NI_STATUS | O2_PING_RTE_OFF | O2_PING_MULTI_RAIL)

/* Status of an interface. */
#define O2_PING_NI_UP	0x15aac0deu /* LNet: LNET_NI_STATUS_UP */
#define O2_PING_NI_DOWN 0xdeadfaceu /* LNet: LNET_NI_STATUS_DOWN */

/* LNet: lnet_ping_info */
struct o2_ping_info {
	uint32_t features;
	uint32_t pid;
	uint32_t nnis; /* number of interfaces of the peer; ni has at most the first O2_PING_MAX_NIS */
	struct {
		uint64_t nid;
		uint32_t status; /* of 0@lo, the first entry: the sequence number of the information */
	} ni[O2_PING_MAX_NIS];
};

/* The answer of a node with this one NID: 0@lo with the sequence number, then the NID with status "up". */
struct o2_ping_info o2_ping_info_make(uint64_t nid, uint32_t pid, uint32_t features, uint32_t sequence);

/* Encode *info, little-endian.  nnis <= O2_PING_MAX_NIS.  Returns the bytes written, or -ENOSPC. */
int o2_ping_encode(const struct o2_ping_info *info, uint8_t *bytes, size_t capacity_bytes);

/*
 * Decode bytes into *info, in either byte order.  The answer may have been cut to the sink's size: ni has only the
 * interfaces that are complete, while nnis has the number that the peer reports.
 * Returns the number of entries of ni that are filled, or -EPROTO: rule lnet/ping/short, lnet/ping/magic or
 * lnet/ping/features (no NI_STATUS).
 */
int o2_ping_decode(const uint8_t *bytes, size_t length_bytes, struct o2_ping_info *info,
		   struct o2_error *error);

#endif
