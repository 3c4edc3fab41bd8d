/* SPDX-License-Identifier: MIT */
#include <inttypes.h>

#include "props/lnet/endpoints_internal.h"
#include "wire/layout.h"
#include "wire/lnet_hdr.h"
#include "wire/msg.h"

/* Checks visible only on the wire: no application is told of an ACK or a REPLY with its header. */

/* The ACK comes last: after it, its receiver may write to the same memory again. */
static void check_ack(struct o2_endpoints_seat *seat, struct o2_endpoints_seat *to,
		      const struct o2_lnet_hdr *hdr)
{
	const struct o2_endpoints_op *op = o2_endpoints_by_handle(to, hdr->msg.ack.dst_wmd);

	if (op != NULL && (op->ended_there == 0 || op->status_there != 0))
		o2_report_fail(seat->endpoints->report, "endpoint/event",
			       "endpoint %" PRIu32 " sends the ACK of a PUT of endpoint %" PRIu32
			       ", which has ended there %" PRIu32 " times, with %d",
			       seat->index, to->index, op->ended_there, op->status_there);
	else if (op != NULL && hdr->msg.ack.match_bits != op->match_bits)
		o2_report_fail(seat->endpoints->report, "endpoint/ack-bits",
			       "endpoint %" PRIu32 " sends an ACK with match bits 0x%" PRIx64
			       ", of a PUT to 0x%" PRIx64,
			       seat->index, hdr->msg.ack.match_bits, op->match_bits);
}

void o2_endpoints_check_posted(struct o2_endpoints_seat *seat, const uint8_t *bytes)
{
	struct o2_endpoints *endpoints = seat->endpoints;
	const uint8_t type = bytes[O2_AT_TYPE];
	struct o2_lnet_hdr hdr;
	uint32_t to, dest_pid;

	if (type != O2_MSG_IMMEDIATE && type != O2_MSG_PUT_REQ && type != O2_MSG_GET_REQ)
		return;
	o2_lnet_hdr_load(bytes + O2_AT_LNET_HDR, &hdr);
	to = o2_endpoints_index(endpoints, hdr.dest_nid);
	dest_pid = hdr.dest_pid;
	/* An answer must go to the requester's PID; the PID of a request is checked where it arrives. */
	if (to < endpoints->nseats && (hdr.type == O2_LNET_ACK || hdr.type == O2_LNET_REPLY))
		dest_pid = endpoints->seat[to].lnet_config.pid;
	if (to == endpoints->nseats || hdr.dest_pid != dest_pid || hdr.src_pid != seat->lnet_config.pid)
		o2_report_fail(endpoints->report, "endpoint/pids",
			       "endpoint %" PRIu32 " sends a %s from pid %" PRIu32 " to pid %" PRIu32
			       " of 0x%" PRIx64,
			       seat->index, o2_lnet_type_name(hdr.type), hdr.src_pid, hdr.dest_pid,
			       hdr.dest_nid);
	else if (hdr.type == O2_LNET_ACK)
		check_ack(seat, &endpoints->seat[to], &hdr);
}
