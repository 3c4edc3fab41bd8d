/* SPDX-License-Identifier: MIT */
#ifndef O2_LND_QP_PATH_H
#define O2_LND_QP_PATH_H

#include <assert.h>
#include <infiniband/verbs.h>
#include <stdint.h>

#include "base/error.h"
#include "lnd/ni/ni.h"

/* The path from a queue pair to another, for use without a connection manager.  Values as in ibv_modify_qp(3). */
struct o2_qp_path {
	union ibv_gid gid; /* GID of the other side's port */
	uint32_t dest_qp_num;
	uint32_t dest_psn; /* PSN of the first packet that the other side sends */
	uint32_t psn;	   /* PSN of our first packet */
	uint8_t retry_count;
	uint8_t rnr_retry_count;
	uint8_t ack_timeout;
};

/* Code for an RNR delay of 0.64 ms: short, because the peer posts receives again at once. */
#define O2_QP_MIN_RNR_TIMER 12u
static_assert(O2_QP_MIN_RNR_TIMER < 1u << 5, "a code of 5 bits");

/* The PSN of the first packet.  Any number would do; one that differs per queue pair exposes stray packets. */
uint32_t o2_qp_psn(const struct ibv_qp *qp);

/* Modify the queue pair: mask names the members of *attr to set.  Returns 0 or -errno with *error. */
int o2_qp_modify(struct ibv_qp *qp, struct ibv_qp_attr *attr, int mask, struct o2_error *error);

/* Move qp from INIT to RTS.  Returns 0 or -errno with *error: a number out of range, or the device's error. */
/* kernel: ib_modify_qp */
int o2_qp_to_rts(const struct o2_ni *ni, struct ibv_qp *qp, const struct o2_qp_path *path,
		 struct o2_error *error);

#endif
