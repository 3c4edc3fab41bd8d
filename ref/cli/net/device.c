/* SPDX-License-Identifier: MIT */
#include "cli/net/device.h"

#include <errno.h>
#include <infiniband/verbs.h>
#include <stdio.h>
#include <string.h>

#include "cli/cli.h"
#include "wire/bytes.h"

#define PORT 1u /* port number: o2iblnd's devices have one port */

/* Does this GID stand for an IPv4 address, for RoCE v2? */
static bool address_of(struct ibv_context *context, uint32_t index, uint32_t *address)
{
	static const uint8_t mapped[12] = {[10] = 0xff, [11] = 0xff};
	struct ibv_gid_entry entry;

	if (ibv_query_gid_ex(context, PORT, index, &entry, 0) != 0 ||
	    entry.gid_type != IBV_GID_TYPE_ROCE_V2 || memcmp(entry.gid.raw, mapped, sizeof(mapped)) != 0)
		return false;
	*address = o2_load32_be(entry.gid.raw + sizeof(mapped));
	return true;
}

static bool find_gid(struct ibv_context *context, uint32_t wanted, struct o2_net_device *device)
{
	struct ibv_port_attr attr;

	memset(&attr, 0, sizeof(attr));
	if (ibv_query_port(context, PORT, &attr) != 0)
		return false;
	for (uint32_t i = 0; i < (uint32_t)attr.gid_tbl_len && i <= UINT8_MAX; i++) {
		if (!address_of(context, i, &device->address) || (wanted != 0 && device->address != wanted))
			continue;
		device->gid_index = (uint8_t)i;
		return true;
	}
	return false;
}

static bool look_into(struct ibv_device *found, uint32_t wanted, struct o2_net_device *device)
{
	struct ibv_context *context = ibv_open_device(found);
	bool ok;

	snprintf(device->name, sizeof(device->name), "%s", ibv_get_device_name(found));
	if (context == NULL) {
		o2_cli_complain("device %s cannot be opened: %s", device->name, strerror(errno));
		return false;
	}
	ok = find_gid(context, wanted, device);
	ibv_close_device(context);
	if (!ok && wanted == 0)
		o2_cli_complain("device %s has no IPv4 address for RoCE v2", device->name);
	else if (!ok)
		o2_cli_complain("device %s does not have the address %u.%u.%u.%u", device->name, wanted >> 24,
				wanted >> 16 & 0xff, wanted >> 8 & 0xff, wanted & 0xff);
	return ok;
}

static void complain_missing(const char *name, struct ibv_device **list, int ndevices)
{
	char names[256] = "none";
	size_t used = 0;

	for (int i = 0; i < ndevices && used < sizeof(names); i++)
		used += (size_t)snprintf(names + used, sizeof(names) - used, "%s%s", i == 0 ? "" : ", ",
					 ibv_get_device_name(list[i]));
	if (name == NULL)
		o2_cli_complain("there is no RDMA device on this machine");
	else
		o2_cli_complain("there is no RDMA device %s (there are: %s)", name, names);
}

bool o2_net_device_find(const char *name, uint32_t address, struct o2_net_device *device)
{
	int ndevices = 0;
	struct ibv_device **list = ibv_get_device_list(&ndevices);
	struct ibv_device *found = NULL;
	bool ok = false;

	for (int i = 0; list != NULL && i < ndevices && found == NULL; i++)
		if (name == NULL || strcmp(ibv_get_device_name(list[i]), name) == 0)
			found = list[i];
	if (found == NULL)
		complain_missing(name, list, list == NULL ? 0 : ndevices);
	else
		ok = look_into(found, address, device);
	if (list != NULL)
		ibv_free_device_list(list);
	return ok;
}
