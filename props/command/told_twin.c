/* SPDX-License-Identifier: MIT */
/* Several conversations in one capture; packets are told apart by queue pair, address and communication ID. */
#include <string.h>

#include "props/command/told_internal.h"

#define QPS 0xfffff0u /* queue pair numbers that are drawn, from 2 on */

/* Offsets in a CM datagram of values that differ per conversation (InfiniBand, volume 1, 12.6). */
#define KIND_AT	    17u
#define LOCAL_AT    24u
#define REMOTE_AT   28u
#define REQ_QP_AT   (24u + 32)
#define REP_QP_AT   (24u + 12)
#define KIND_OF_REQ 0x10
#define KIND_OF_REP 0x13

void o2_told_twins(struct o2_told *told)
{
	struct o2_choice *c = told->c;

	if (!o2_draw_bool(c, 1, 1))
		return;
	told->ntwins = 1 + (uint32_t)o2_draw(c, o2_draw_bool(c, 2, 1) ? O2_TOLD_TWINS - 1 : 2);
	for (uint32_t i = 0; i < told->ntwins; i++) {
		const bool elsewhere = o2_draw_bool(c, 1, 1), same = elsewhere && o2_draw_bool(c, 1, 1);

		told->twin[i].elsewhere = elsewhere;
		for (int side = 0; side < 2; side++) {
			told->twin[i].qp[side] = told->qp[side];
			told->twin[i].cm_id[side] = told->cm_id[side];
			if (same)
				continue;
			told->twin[i].qp[side] = 2 + (told->qp[side] - 2 + (i + 1) * 0x1357) % QPS;
			told->twin[i].cm_id[side] ^= (i + 1) << 8 * (i % 3);
		}
	}
}

static void be_twin(const struct o2_told *told, uint32_t number, struct o2_capture_packet *packet,
		    uint8_t mad[O2_CAPTURE_MAD])
{
	const int from = packet->from;
	const uint32_t *qp = told->twin[number].qp, *cm_id = told->twin[number].cm_id;

	packet->pair = told->twin[number].elsewhere ? number + 1 : 0;
	if (packet->dest_qp != 1) {
		packet->dest_qp = qp[1 - from];
		return;
	}
	memcpy(mad, packet->payload, O2_CAPTURE_MAD);
	packet->payload = mad;
	o2_capture_store(mad + LOCAL_AT, 4, cm_id[from]);
	if (mad[KIND_AT] == KIND_OF_REQ)
		o2_capture_store(mad + REQ_QP_AT, 3, qp[from]);
	else
		o2_capture_store(mad + REMOTE_AT, 4, cm_id[1 - from]);
	if (mad[KIND_AT] == KIND_OF_REP)
		o2_capture_store(mad + REP_QP_AT, 3, qp[from]);
}

void o2_told_add(struct o2_told *told, const struct o2_capture_packet *packet)
{
	uint8_t mad[O2_CAPTURE_MAD];

	for (uint32_t i = 0; i < told->ntwins; i++) {
		struct o2_capture_packet twin = *packet;

		be_twin(told, i, &twin, mad);
		o2_capture_add(told->file, &twin);
	}
	o2_capture_add(told->file, packet);
}
