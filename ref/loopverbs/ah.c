/* SPDX-License-Identifier: MIT */
/* Address handles. */
#include <stdlib.h>

#include "loopverbs/internal.h"

struct ibv_ah *ibv_create_ah(struct ibv_pd *pd, struct ibv_ah_attr *attr)
{
	struct o2l_ah *ah;
	int error;

	error = o2l_check_ah_attr(o2l_context_of(pd->context)->device, attr);
	ah = error ? NULL : calloc(1, sizeof(*ah));
	if (!ah)
		return o2l_refuse_object(error ? error : ENOMEM);
	ah->attr = *attr;
	o2l_lock();
	ah->ibv = (struct ibv_ah){pd->context, pd, o2l_next_handle()};
	O2L_CONTAINER(pd, struct o2l_pd, ibv)->users++;
	LIST_INSERT_HEAD(&o2l_context_of(pd->context)->ahs, ah, link);
	o2l_fabric.counters.live_ahs++;
	o2l_unlock();
	return &ah->ibv;
}

void o2l_ah_free(struct o2l_ah *ah)
{
	O2L_CONTAINER(ah->ibv.pd, struct o2l_pd, ibv)->users--;
	LIST_REMOVE(ah, link);
	o2l_fabric.counters.live_ahs--;
	free(ah);
}

int ibv_destroy_ah(struct ibv_ah *ibv)
{
	o2l_lock();
	o2l_ah_free(O2L_CONTAINER(ibv, struct o2l_ah, ibv));
	o2l_unlock();
	return 0;
}

/* The address of a datagram's sender, from the route header that was delivered before the data. */
int ibv_init_ah_from_wc(struct ibv_context *context, uint8_t port_num, struct ibv_wc *wc, struct ibv_grh *grh,
			struct ibv_ah_attr *attr)
{
	const struct o2l_device *device = o2l_context_of(context)->device;

	memset(attr, 0, sizeof(*attr));
	attr->port_num = port_num;
	attr->sl = wc->sl;
	if (!(wc->wc_flags & IBV_WC_GRH))
		return o2l_refuse_call(EINVAL);
	attr->is_global = 1;
	attr->grh.dgid = grh->sgid;
	attr->grh.hop_limit = UINT8_MAX;
	for (uint8_t i = 0; i < O2L_GIDS; i++)
		if (!memcmp(device->gid[i].raw, grh->dgid.raw, sizeof(grh->dgid.raw)))
			attr->grh.sgid_index = i;
	return 0;
}

struct ibv_ah *ibv_create_ah_from_wc(struct ibv_pd *pd, struct ibv_wc *wc, struct ibv_grh *grh,
				     uint8_t port_num)
{
	struct ibv_ah_attr attr;

	if (ibv_init_ah_from_wc(pd->context, port_num, wc, grh, &attr))
		return NULL;
	return ibv_create_ah(pd, &attr);
}
