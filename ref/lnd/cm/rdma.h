/* SPDX-License-Identifier: MIT */
#ifndef O2_LND_CM_RDMA_H
#define O2_LND_CM_RDMA_H

#include <stdint.h>

#include "base/error.h"
#include "lnd/cm/cm.h"
#include "lnd/ni/ni.h"

/*
 * The connection manager on librdmacm, in port space TCP and with queue pairs that librdmacm does not create.
 * Source: docs/connection.md, "On librdmacm"; rdma_cm(7).
 *
 * It needs an event loop: wait with poll(2) until o2_cm_rdma_fd is readable, then call o2_cm_rdma_progress.  It
 * has no thread, and no call waits for the network.
 */

/*
 * Open a connection manager for ni, whose port has this IPv4 address.  ni must outlive the connection manager.
 * Returns 0 or -errno: -ENOENT or -EACCES (/dev/infiniband/rdma_cm is missing, or may not be opened), or another.
 * o2iblnd: kiblnd_rdma_create_id
 * kernel: rdma_create_id
 */
int o2_cm_rdma_open(const struct o2_ni *ni, uint32_t address, struct o2_cm **cm, struct o2_error *error);

/* The caller must have destroyed every id. */
void o2_cm_rdma_close(struct o2_cm *cm);

/* The file descriptor to poll: readable when events wait. */
int o2_cm_rdma_fd(const struct o2_cm *cm);

/*
 * Hand all waiting events to the handler.  Returns their number, or -errno when the device has failed: -ENODEV
 * once the device is gone, beginning with the call that reports the loss to the handler.
 */
int o2_cm_rdma_progress(struct o2_cm *cm);

#endif
