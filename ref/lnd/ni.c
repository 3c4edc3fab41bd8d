/* SPDX-License-Identifier: MIT */
#include "lnd/ni.h"

#include <errno.h>
#include <string.h>

/* ibv_open_device and friends return NULL; not all of them say why. */
static int errno_or(int otherwise)
{
	return errno != 0 ? -errno : -otherwise;
}

static int open_device(const char *name, struct ibv_context **context, struct o2_error *error)
{
	int ndevices = 0;
	struct ibv_device **list = ibv_get_device_list(&ndevices);
	int rc = 0;

	if (list == NULL)
		return o2_refuse(error, errno_or(ENODEV), "ni/device-list", "device", O2_NO_INDEX, 0, 0);
	*context = NULL;
	for (int i = 0; i < ndevices && *context == NULL && rc == 0; i++) {
		if (strcmp(ibv_get_device_name(list[i]), name) != 0)
			continue;
		errno = 0;
		*context = ibv_open_device(list[i]);
		if (*context == NULL)
			rc = o2_refuse(error, errno_or(ENODEV), "ni/open-device", "device", O2_NO_INDEX,
				       (uint64_t)i, (uint64_t)ndevices);
	}
	ibv_free_device_list(list);
	if (rc == 0 && *context == NULL)
		rc = o2_refuse(error, -ENODEV, "ni/no-such-device", "device (number of devices there)",
			       O2_NO_INDEX, (uint64_t)ndevices, 1);
	return rc;
}

static int check_port(struct o2_ni *ni, struct o2_error *error)
{
	static const union ibv_gid empty;
	uint8_t port = ni->config.port;
	struct ibv_port_attr attr;
	int rc;

	memset(&attr, 0, sizeof(attr));
	rc = ibv_query_port(ni->context, port, &attr);
	if (rc != 0)
		return o2_refuse(error, -(rc > 0 ? rc : EINVAL), "ni/port", "port", O2_NO_INDEX, port, 1);
	if (attr.state != IBV_PORT_ACTIVE)
		return o2_refuse(error, -ENETDOWN, "ni/port-not-active", "port state", O2_NO_INDEX,
				 attr.state, IBV_PORT_ACTIVE);
	ni->mtu = attr.active_mtu;
	if (ni->config.gid_index >= attr.gid_tbl_len)
		return o2_refuse(error, -EADDRNOTAVAIL, "ni/gid-index", "gid_index", O2_NO_INDEX,
				 ni->config.gid_index, (uint64_t)attr.gid_tbl_len);
	rc = ibv_query_gid(ni->context, port, ni->config.gid_index, &ni->gid);
	if (rc != 0 || memcmp(&ni->gid, &empty, sizeof(empty)) == 0)
		return o2_refuse(error, -EADDRNOTAVAIL, "ni/gid-empty", "gid_index", O2_NO_INDEX,
				 ni->config.gid_index, (uint64_t)attr.gid_tbl_len);
	return 0;
}

int o2_ni_open(const struct o2_ni_config *config, struct o2_ni *ni, struct o2_error *error)
{
	int rc;

	memset(ni, 0, sizeof(*ni));
	ni->config = *config;
	ni->config.device = NULL;
	ni->arena.fd = -1;
	rc = open_device(config->device, &ni->context, error);
	if (rc == 0)
		rc = check_port(ni, error);
	if (rc == 0) {
		errno = 0;
		ni->pd = ibv_alloc_pd(ni->context);
		if (ni->pd == NULL)
			rc = o2_refuse(error, errno_or(ENOMEM), "ni/alloc-pd", "pd", O2_NO_INDEX, 0, 0);
	}
	if (rc == 0)
		rc = o2_arena_create(config->arena_pages, &ni->arena, error);
	if (rc == 0)
		rc = o2_reg_domain_open(ni->pd, &ni->arena, config->dma_kind, config->dma_base, &ni->domain,
					error);
	if (rc != 0)
		o2_ni_close(ni);
	return rc;
}

void o2_ni_close(struct o2_ni *ni)
{
	o2_reg_domain_close(&ni->domain);
	o2_arena_destroy(&ni->arena);
	if (ni->pd != NULL)
		ibv_dealloc_pd(ni->pd);
	if (ni->context != NULL)
		ibv_close_device(ni->context);
	ni->pd = NULL;
	ni->context = NULL;
}

/* The new domain is made before the old one goes, so that a failure leaves the interface as it was. */
int o2_ni_set_dma(struct o2_ni *ni, enum o2_dma_kind kind, uint64_t base, struct o2_error *error)
{
	struct o2_reg_domain domain;
	int rc;

	if (ni->domain.nbound != 0)
		return o2_refuse(error, -EBUSY, "ni/bindings-alive", "nbound", O2_NO_INDEX, ni->domain.nbound,
				 0);
	rc = o2_reg_domain_open(ni->pd, &ni->arena, kind, base, &domain, error);
	if (rc != 0)
		return rc;
	o2_reg_domain_close(&ni->domain);
	ni->domain = domain;
	ni->config.dma_kind = kind;
	ni->config.dma_base = base;
	return 0;
}
