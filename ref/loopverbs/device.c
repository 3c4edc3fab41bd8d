/* SPDX-License-Identifier: MIT */
/* The device list, opening and closing of devices, and their attributes. */
#include <stdio.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "loopverbs/internal.h"

/* Values for devices without a vendor ID. */
#define VENDOR	    0xffffff
#define VENDOR_PART 0x6c6f /* "lo" */

static void set_up_device(uint32_t number)
{
	struct o2l_device *d = &o2l_fabric.device[number];
	const uint8_t link_local[16] = {0xfe, 0x80, [8] = 0x02, [11] = 0xff, [12] = 0xfe, [15] = number + 1};
	const uint8_t mapped[16] = {[10] = 0xff, [11] = 0xff, [12] = 10, [13] = 77, [15] = number + 1};

	memset(d, 0, sizeof(*d));
	d->number = number;
	d->ibv.node_type = IBV_NODE_CA;
	d->ibv.transport_type = IBV_TRANSPORT_IB;
	snprintf(d->ibv.name, sizeof(d->ibv.name), "loop%u", number);
	snprintf(d->ibv.dev_name, sizeof(d->ibv.dev_name), "loopverbs%u", number);
	/* Paths that cannot exist, since these devices have no entries in /sys. */
	snprintf(d->ibv.dev_path, sizeof(d->ibv.dev_path), "/nonexistent/loopverbs%u", number);
	snprintf(d->ibv.ibdev_path, sizeof(d->ibv.ibdev_path), "/nonexistent/loop%u", number);
	memcpy(d->gid[0].raw, link_local, sizeof(link_local));
	memcpy(d->gid[O2_LOOP_GID_INDEX].raw, mapped, sizeof(mapped));
}

struct o2l_device *o2l_device_by_gid(const union ibv_gid *gid)
{
	for (uint32_t i = 0; i < O2_LOOP_DEVICES; i++)
		for (uint32_t j = 0; j < O2L_GIDS; j++)
			if (!memcmp(gid->raw, o2l_fabric.device[i].gid[j].raw, sizeof(gid->raw)))
				return &o2l_fabric.device[i];
	return NULL;
}

/* On Ethernet an address needs a GRH. */
int o2l_check_ah_attr(const struct o2l_device *device, const struct ibv_ah_attr *attr)
{
	(void)device;
	if (attr->port_num != 1 || !attr->is_global || attr->grh.sgid_index >= O2L_GIDS)
		return EINVAL;
	return 0;
}

struct ibv_device **ibv_get_device_list(int *num_devices)
{
	struct ibv_device **list = calloc(O2_LOOP_DEVICES + 1, sizeof(*list));

	if (!list)
		return o2l_refuse_object(ENOMEM);
	o2l_lock();
	for (uint32_t i = 0; i < O2_LOOP_DEVICES; i++) {
		if (!o2l_fabric.device[i].ibv.name[0])
			set_up_device(i);
		list[i] = &o2l_fabric.device[i].ibv;
	}
	o2l_unlock();
	if (num_devices)
		*num_devices = O2_LOOP_DEVICES;
	return list;
}

void ibv_free_device_list(struct ibv_device **list)
{
	free(list);
}

const char *ibv_get_device_name(struct ibv_device *device)
{
	return device->name;
}

int ibv_get_device_index(struct ibv_device *device)
{
	return (int)O2L_CONTAINER(device, struct o2l_device, ibv)->number;
}

__be64 ibv_get_device_guid(struct ibv_device *device)
{
	__be64 guid;

	memcpy(&guid, &O2L_CONTAINER(device, struct o2l_device, ibv)->gid[0].raw[8], sizeof(guid));
	return guid;
}

struct o2l_context *o2l_context_of(struct ibv_context *context)
{
	return O2L_CONTAINER(context, struct o2l_context, verbs.context);
}

struct ibv_context *ibv_open_device(struct ibv_device *device)
{
	struct o2l_context *c = calloc(1, sizeof(*c));
	struct ibv_context *ibv;

	if (!c)
		return o2l_refuse_object(ENOMEM);
	ibv = &c->verbs.context;
	ibv->async_fd = eventfd(0, EFD_SEMAPHORE | EFD_CLOEXEC);
	if (ibv->async_fd < 0) {
		free(c);
		return NULL;
	}
	c->device = O2L_CONTAINER(device, struct o2l_device, ibv);
	TAILQ_INIT(&c->events);
	ibv->device = device;
	ibv->cmd_fd = -1;
	ibv->num_comp_vectors = 1;
	pthread_mutex_init(&ibv->mutex, NULL);
	ibv->abi_compat = __VERBS_ABI_IS_EXTENDED;
	c->verbs.sz = sizeof(c->verbs);
	o2l_fill_ops(&c->verbs);
	o2l_lock();
	LIST_INSERT_HEAD(&o2l_fabric.contexts, c, link);
	o2l_fabric.counters.live_contexts++;
	o2l_unlock();
	return ibv;
}

#define FREE_ALL(list, free_one)                    \
	do {                                        \
		while (!LIST_EMPTY(list)) {         \
			free_one(LIST_FIRST(list)); \
			o2l_fabric.counters.left++; \
		}                                   \
	} while (0)

/* As in the kernel, closing a context frees the objects that the program has left. */
void o2l_context_free(struct o2l_context *c)
{
	FREE_ALL(&c->mws, o2l_mw_free);
	FREE_ALL(&c->qps, o2l_qp_free);
	FREE_ALL(&c->srqs, o2l_srq_free);
	FREE_ALL(&c->cqs, o2l_cq_free);
	FREE_ALL(&c->channels, o2l_channel_free);
	FREE_ALL(&c->ahs, o2l_ah_free);
	FREE_ALL(&c->mrs, o2l_mr_free);
	FREE_ALL(&c->pds, o2l_pd_free);
	o2l_async_forget(c, NULL);
	LIST_REMOVE(c, link);
	o2l_fabric.counters.live_contexts--;
	close(c->verbs.context.async_fd);
	pthread_mutex_destroy(&c->verbs.context.mutex);
	free(c);
}

int ibv_close_device(struct ibv_context *context)
{
	o2l_lock();
	o2l_context_free(o2l_context_of(context));
	o2l_unlock();
	return 0;
}

int ibv_query_device(struct ibv_context *context, struct ibv_device_attr *attr)
{
	memset(attr, 0, sizeof(*attr));
	snprintf(attr->fw_ver, sizeof(attr->fw_ver), "1");
	attr->node_guid = ibv_get_device_guid(context->device);
	attr->sys_image_guid = attr->node_guid;
	attr->max_mr_size = UINT64_MAX;
	attr->page_size_cap = UINT64_MAX & ~(uint64_t)(O2L_PAGE_BYTES - 1);
	attr->vendor_id = VENDOR;
	attr->vendor_part_id = VENDOR_PART;
	attr->max_qp = O2L_QP_SLOTS;
	attr->max_qp_wr = O2L_MAX_QP_WR;
	attr->device_cap_flags = IBV_DEVICE_BAD_PKEY_CNTR | IBV_DEVICE_BAD_QKEY_CNTR |
				 IBV_DEVICE_SYS_IMAGE_GUID | IBV_DEVICE_RC_RNR_NAK_GEN |
				 IBV_DEVICE_SRQ_RESIZE | IBV_DEVICE_MEM_WINDOW |
				 IBV_DEVICE_MEM_MGT_EXTENSIONS | IBV_DEVICE_MEM_WINDOW_TYPE_2B;
	attr->max_sge = O2L_MAX_SGE;
	attr->max_sge_rd = O2L_MAX_SGE;
	attr->max_cq = 1 << 20;
	attr->max_cqe = O2L_MAX_CQE;
	attr->max_mr = O2L_MR_SLOTS;
	attr->max_pd = 1 << 20;
	attr->max_qp_rd_atom = O2L_MAX_RD_ATOMIC;
	attr->max_res_rd_atom = (int)(O2L_MAX_RD_ATOMIC * O2L_QP_SLOTS);
	attr->max_qp_init_rd_atom = O2L_MAX_RD_ATOMIC;
	attr->atomic_cap = IBV_ATOMIC_HCA;
	attr->max_mw = O2L_MW_SLOTS;
	attr->max_ah = 1 << 20;
	attr->max_srq = 1 << 20;
	attr->max_srq_wr = O2L_MAX_SRQ_WR;
	attr->max_srq_sge = O2L_MAX_SRQ_SGE;
	attr->max_pkeys = 1;
	attr->phys_port_cnt = 1;
	return 0;
}

static int query_device_ex(struct ibv_context *context, const struct ibv_query_device_ex_input *input,
			   struct ibv_device_attr_ex *attr, size_t attr_size)
{
	struct ibv_device_attr_ex all = {.phys_port_cnt_ex = 1};

	(void)input;
	ibv_query_device(context, &all.orig_attr);
	all.device_cap_flags_ex = all.orig_attr.device_cap_flags;
	memcpy(attr, &all, attr_size < sizeof(all) ? attr_size : sizeof(all));
	return 0;
}

static int query_port(struct ibv_context *context, uint8_t port_num, struct ibv_port_attr *attr,
		      size_t attr_size)
{
	const struct ibv_port_attr all = {
		.state = o2l_fabric.option[O2_LOOP_PORT_ACTIVE] ? IBV_PORT_ACTIVE : IBV_PORT_DOWN,
		.max_mtu = IBV_MTU_4096,
		.active_mtu = IBV_MTU_4096,
		.gid_tbl_len = O2L_GIDS,
		.port_cap_flags = IBV_PORT_CM_SUP | IBV_PORT_IP_BASED_GIDS,
		.max_msg_sz = O2L_MAX_MSG_BYTES,
		.pkey_tbl_len = 1,
		.max_vl_num = 1,
		.active_width = 1, /* 1X */
		.active_speed = 1, /* 2.5 Gb/s: a placeholder without meaning */
		.phys_state = 5,   /* link up */
		.link_layer = IBV_LINK_LAYER_ETHERNET,
	};

	(void)context;
	if (port_num != 1)
		return EINVAL;
	memcpy(attr, &all, attr_size < sizeof(all) ? attr_size : sizeof(all));
	return 0;
}

/* The exported function has the ABI of old programs: the structure lacks its newest field. */
int ibv_query_port(struct ibv_context *context, uint8_t port_num, struct _compat_ibv_port_attr *attr)
{
	return query_port(context, port_num, (struct ibv_port_attr *)(void *)attr,
			  offsetof(struct ibv_port_attr, port_cap_flags2));
}

void o2l_fill_ops(struct verbs_context *verbs)
{
	struct ibv_context_ops *ops = &verbs->context.ops;

	ops->alloc_mw = o2l_alloc_mw;
	ops->dealloc_mw = o2l_dealloc_mw;
	ops->bind_mw = o2l_bind_mw;
	ops->poll_cq = o2l_poll_cq;
	ops->req_notify_cq = o2l_req_notify_cq;
	ops->post_srq_recv = o2l_post_srq_recv;
	ops->post_send = o2l_post_send;
	ops->post_recv = o2l_post_recv;
	verbs->create_qp_ex = o2l_create_qp_ex;
	verbs->query_port = query_port;
	verbs->query_device_ex = query_device_ex;
}
