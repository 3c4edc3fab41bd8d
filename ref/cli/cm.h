/* SPDX-License-Identifier: MIT */
#ifndef O2_CLI_CM_H
#define O2_CLI_CM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Messages of the connection manager: management datagrams of 256 bytes to queue pair 1.
 * Source: docs/cli.md, "Captures"; the InfiniBand architecture specification, volume 1, "Communication
 * management".
 */

#define O2_GSI_QP 1u

enum o2_cm_kind { /* the attribute id */
		  O2_CM_REQ = 0x10,
		  O2_CM_MRA = 0x11,
		  O2_CM_REJ = 0x12,
		  O2_CM_REP = 0x13,
		  O2_CM_RTU = 0x14,
		  O2_CM_DREQ = 0x15,
		  O2_CM_DREP = 0x16,
};

#define O2_CM_REASON_CONSUMER 28u /* reason of a REJ: the private data says why */

struct o2_cm_mad {
	uint16_t kind; /* enum o2_cm_kind, or another attribute id */
	uint32_t local_id, remote_id;
	/* REQ: */
	uint64_t service_id;
	/* REQ, REP: the sender's queue pair, and the PSN that the first packet to that queue pair is to have. */
	uint32_t qp, psn;
	/* REJ: */
	uint16_t reason;
	/* REQ, REP, REJ; of a REQ: what follows its 36 bytes of IP-CM header, if it has one. */
	const uint8_t *private_data; /* points into the datagram; NULL: none */
	size_t private_bytes;
	uint16_t ip_cm_bytes; /* 36 if the REQ has that header, else 0 */
};

/* Returns false if the bytes are not a complete message of the connection manager. */
bool o2_cm_parse(const uint8_t *mad, size_t length_bytes, struct o2_cm_mad *cm);

/* "REQ" and so on; NULL for other attribute ids. */
const char *o2_cm_kind_name(uint16_t kind);

/* What a REJ's reason means; NULL for all but the few reasons that o2iblnd's peers send. */
const char *o2_cm_reason_name(uint16_t reason);

#endif
