/* SPDX-License-Identifier: MIT */
#ifndef O2_LND_QP_PATH_H
#define O2_LND_QP_PATH_H

#include <assert.h>
#include <infiniband/verbs.h>
#include <stdint.h>

#include "base/error.h"
#include "lnd/ni/ni.h"

/* A queue pair's way to another, where no connection manager finds it.  Numbers as in ibv_modify_qp(3). */
struct o2_qp_path {
	union ibv_gid gid; /* of the other side's port */
	uint32_t dest_qp_num;
	uint32_t dest_psn; /* of the first packet that the other side sends */
	uint32_t psn;	   /* and of ours */
	uint8_t retry_count;
	uint8_t rnr_retry_count;
	uint8_t ack_timeout;
};

/* The peer reposts receives at once: 0.64 ms. */
#define O2_QP_MIN_RNR_TIMER 12u
static_assert(O2_QP_MIN_RNR_TIMER < 1u << 5, "a code of 5 bits");

/* Any number will do for the first packet; one that differs between queue pairs shows a stray packet. */
uint32_t o2_qp_psn(const struct ibv_qp *qp);

/* Change *attr, of which mask names the members.  Returns 0 or -errno with *error. */
int o2_qp_modify(struct ibv_qp *qp, struct ibv_qp_attr *attr, int mask, struct o2_error *error);

/* From INIT to RTS.  Returns 0 or -errno with *error: a number out of range, or what the device says. */
/* kernel: ib_modify_qp */
int o2_qp_to_rts(const struct o2_ni *ni, struct ibv_qp *qp, const struct o2_qp_path *path,
		 struct o2_error *error);

#endif
