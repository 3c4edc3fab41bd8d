/* SPDX-License-Identifier: MIT */
#ifndef O2_LND_CM_RDMA_H
#define O2_LND_CM_RDMA_H

#include <stdint.h>

#include "base/error.h"
#include "lnd/cm/cm.h"
#include "lnd/ni/ni.h"

/*
 * The connection manager on librdmacm: port space TCP, queue pairs of our own.  Source: docs/connection.md,
 * "On librdmacm"; rdma_cm(7).
 *
 * It needs a loop: wait with poll(2) until o2_cm_rdma_fd is readable, then call o2_cm_rdma_progress.  There
 * is no thread, and no call waits for the network.
 */

/*
 * A connection manager for ni, whose port has this IPv4 address.  ni outlives it.
 * Returns 0 or -errno: -ENOENT, -EACCES (no /dev/infiniband/rdma_cm, or not for us) ...
 * o2iblnd: kiblnd_rdma_create_id
 * kernel: rdma_create_id
 */
int o2_cm_rdma_open(const struct o2_ni *ni, uint32_t address, struct o2_cm **cm, struct o2_error *error);

/* Every id must have been destroyed. */
void o2_cm_rdma_close(struct o2_cm *cm);

/* Readable when there are events. */
int o2_cm_rdma_fd(const struct o2_cm *cm);

/*
 * Hand all events that are there to the handler.  Returns how many, or -errno when the device has failed:
 * -ENODEV once it is gone, from the call on that says so to the handler.
 */
int o2_cm_rdma_progress(struct o2_cm *cm);

#endif
