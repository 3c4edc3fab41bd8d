/* SPDX-License-Identifier: MIT */
#ifndef O2_CLI_CM_LAYOUT_H
#define O2_CLI_CM_LAYOUT_H

#include <assert.h>

#include "cli/cm.h"
#include "wire/layout.h"
#include "wire/reject.h"

/*
 * Offsets in the connection manager's datagrams: O2_MAD_AT_* in the datagram, O2_CM_* in its data.
 * Source: the InfiniBand architecture specification, volume 1, "Communication management"; annex A11 (IP-CM).
 */

#define O2_MAD_BYTES	      256u
#define O2_MAD_CLASS_CM	      7u
#define O2_MAD_AT_CLASS	      1u
#define O2_MAD_AT_TRANSACTION 12u
#define O2_MAD_AT_ATTRIBUTE   16u /* enum o2_cm_kind */
#define O2_MAD_AT_DATA	      24u
#define O2_MAD_DATA_BYTES     (O2_MAD_BYTES - O2_MAD_AT_DATA)

#define O2_CM_AT_LOCAL_ID	0u
#define O2_CM_AT_REMOTE_ID	4u /* all but REQ */
#define O2_CM_REQ_AT_SERVICE_ID 8u
#define O2_CM_REQ_AT_QP		32u /* 24 bits, then 8 others; so is every QP and PSN here */
#define O2_CM_REQ_AT_PSN	44u
#define O2_CM_REQ_AT_PRIVATE	140u
#define O2_CM_REP_AT_QP		12u
#define O2_CM_REP_AT_PSN	20u
#define O2_CM_REP_AT_PRIVATE	36u
#define O2_CM_REJ_AT_REASON	10u
#define O2_CM_REJ_AT_PRIVATE	84u

/* For service ids of its own range, the RDMA CM puts a header with the addresses before the private data. */
#define O2_RDMA_SERVICE_MASK	0xffffffffff000000u
#define O2_RDMA_SERVICE		0x0000000001000000u
#define O2_RDMA_SERVICE_TCP	(O2_RDMA_SERVICE | 0x60000u) /* plus the port */
#define O2_RDMA_SERVICE_O2IBLND (O2_RDMA_SERVICE_TCP | 987u)
#define O2_IP_CM_BYTES		36u

/* A REQ has exactly the room for that header and a CONNREQ; a REJ exactly that for a padded reject record. */
static_assert(O2_MAD_DATA_BYTES - O2_CM_REQ_AT_PRIVATE - O2_IP_CM_BYTES == O2_AT_MAX_MSG_SIZE + 4,
	      "a CONNREQ");
static_assert(O2_MAD_DATA_BYTES - O2_CM_REJ_AT_PRIVATE == O2_REJECT_PRIVATE_BYTES, "a reject record");

#endif
