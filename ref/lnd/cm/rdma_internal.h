/* SPDX-License-Identifier: MIT */
#ifndef O2_LND_CM_RDMA_INTERNAL_H
#define O2_LND_CM_RDMA_INTERNAL_H

#include <rdma/rdma_cma.h>

#include "lnd/cm/rdma.h"

/*
 * Internals of the connection manager on librdmacm: rdma.c has the calls, rdma_event.c the events.
 *
 * o2iblnd: none, it calls the kernel's rdma_cm directly
 */

struct o2_cm_rdma {
	struct o2_cm base;
	const struct o2_ni *ni;
	uint32_t address;
	struct rdma_event_channel *channel;
	struct rdma_cm_id *listener; /* NULL: none */
	bool lost;		     /* the device is gone */
};

struct o2_rdma_id {
	struct o2_cm_id base;
	struct rdma_cm_id *cma;
	uint32_t resolve_timeout_ms;
	struct o2_cm_param param; /* param.private_data points to the array below */
	uint8_t private_data[O2_CM_REPLY_BYTES];
};

static inline struct o2_cm_rdma *o2_cm_rdma_of(struct o2_cm *cm)
{
	return (struct o2_cm_rdma *)cm;
}

extern const struct o2_cm_ops o2_cm_rdma_ops;

/* Make an id whose cma is still NULL.  Returns NULL if out of memory. */
struct o2_rdma_id *o2_rdma_id_new(struct o2_cm_rdma *cm, enum o2_cm_id_state state);
/* o2iblnd's connection parameters (docs/connection.md, "On librdmacm"), with the id's queue pair and data. */
struct rdma_conn_param o2_rdma_conn_param(const struct o2_rdma_id *id);
/* The errno of a failed librdmacm call, as -errno.  -ECONNRESET: the other side has given up. */
int o2_rdma_errno(void);
/* Take the id's queue pair from INIT to RTS. */
int o2_rdma_to_rts(const struct o2_rdma_id *id, struct o2_error *error);

#endif
