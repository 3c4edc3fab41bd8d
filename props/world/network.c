/* SPDX-License-Identifier: MIT */
#include "props/world/network.h"

#include <errno.h>
#include <string.h>

#include "wire/bytes.h"

#define PORT 1u /* o2iblnd uses port 1 */

static int ask(struct ibv_device *found, uint8_t gid_index, uint32_t *address, struct o2_error *error)
{
	static const uint8_t mapped[12] = {[10] = 0xff, [11] = 0xff};
	struct ibv_context *context;
	union ibv_gid gid;
	int rc;

	errno = 0;
	context = ibv_open_device(found);
	if (context == NULL)
		return o2_refuse_value(error, errno != 0 ? -errno : -ENODEV, "network/open-device", "device",
				       0, O2_NO_LIMIT);
	rc = ibv_query_gid(context, PORT, gid_index, &gid);
	ibv_close_device(context);
	if (rc != 0 || memcmp(gid.raw, mapped, sizeof(mapped)) != 0)
		return o2_refuse_value(error, -EADDRNOTAVAIL, "network/gid-is-no-address", "gid_index",
				       gid_index, O2_NO_LIMIT);
	*address = o2_load32_be(gid.raw + sizeof(mapped));
	return 0;
}

int o2_network_address(const char *device, uint8_t gid_index, uint32_t *address, struct o2_error *error)
{
	int ndevices = 0;
	struct ibv_device **list = ibv_get_device_list(&ndevices);
	struct ibv_device *found = NULL;
	int rc;

	for (int i = 0; list != NULL && i < ndevices && found == NULL; i++)
		if (strcmp(ibv_get_device_name(list[i]), device) == 0)
			found = list[i];
	if (found == NULL)
		rc = o2_refuse_value(error, -ENODEV, "network/no-such-device", "devices there",
				     list == NULL ? 0 : (uint64_t)ndevices, 1);
	else
		rc = ask(found, gid_index, address, error);
	if (list != NULL)
		ibv_free_device_list(list);
	return rc;
}
