/* SPDX-License-Identifier: MIT */
#ifndef O2_CLI_NET_DEVICE_H
#define O2_CLI_NET_DEVICE_H

#include <stdbool.h>
#include <stdint.h>

/* A device, and one of its addresses: a GID of RoCE v2 that stands for an IPv4 address. */
struct o2_net_device {
	char name[64];
	uint8_t gid_index;
	uint32_t address;
};

/*
 * Find the device of that name (NULL: the first one) and its GID for an IPv4 address (0: the first that it
 * has).  Complains and returns false if there is none.
 */
bool o2_net_device_find(const char *name, uint32_t address, struct o2_net_device *device);

#endif
