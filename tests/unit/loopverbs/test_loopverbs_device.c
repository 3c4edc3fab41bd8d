/* SPDX-License-Identifier: MIT */
/* Device attributes, and objects that carry no data. */
#include <arpa/inet.h>

#include "tests/device/loopverbs/pair.h"

TEST(two_devices)
{
	int count = 0;
	struct ibv_device **list = ibv_get_device_list(&count);

	assert_int_equal(count, 2);
	assert_string_equal(ibv_get_device_name(list[0]), "loop0");
	assert_string_equal(ibv_get_device_name(list[1]), "loop1");
	assert_null(list[2]);
	assert_true(ibv_get_device_guid(list[0]) != ibv_get_device_guid(list[1]));
	assert_string_equal(ibv_node_type_str(list[0]->node_type), "InfiniBand channel adapter");
	ibv_free_device_list(list);
}

APART_TEST(port_and_tables)
{
	struct ibv_port_attr port;
	union ibv_gid gid[2];
	struct ibv_gid_entry entries[2];
	__be16 pkey;

	assert_int_equal(ibv_query_port(p->a.context, 1, &port), 0);
	assert_int_equal(port.state, IBV_PORT_ACTIVE);
	assert_int_equal(port.active_mtu, IBV_MTU_4096);
	assert_int_equal(port.link_layer, IBV_LINK_LAYER_ETHERNET);
	assert_int_equal(ibv_query_port(p->a.context, 2, &port), EINVAL);
	assert_int_equal(ibv_query_gid(p->a.context, 1, O2_LOOP_GID_INDEX, &gid[0]), 0);
	assert_int_equal(ibv_query_gid(p->b.context, 1, O2_LOOP_GID_INDEX, &gid[1]), 0);
	assert_true(memcmp(&gid[0], &gid[1], sizeof(gid[0])) != 0);
	assert_int_equal(gid[0].raw[10] & gid[0].raw[11], 0xff); /* an IPv4-mapped IPv6 address */
	assert_int_equal(ibv_query_gid(p->a.context, 1, port.gid_tbl_len, &gid[0]), -1);
	assert_int_equal(ibv_query_gid_table(p->a.context, entries, 2, 0), 2);
	assert_int_equal(entries[1].gid_type, IBV_GID_TYPE_ROCE_V2);
	assert_int_equal(ibv_query_gid_table(p->a.context, entries, 1, 0), -EINVAL);
	assert_int_equal(ibv_query_pkey(p->a.context, 1, 0, &pkey), 0);
	assert_int_equal(ibv_get_pkey_index(p->a.context, 1, pkey), 0);
	assert_int_equal(ibv_query_pkey(p->a.context, 1, 1, &pkey), -1);
}

APART_TEST(device_attributes)
{
	struct ibv_device_attr attr;
	struct ibv_device_attr_ex ex;

	assert_int_equal(ibv_query_device(p->a.context, &attr), 0);
	assert_int_equal(attr.max_sge, 32);
	assert_true(attr.max_qp_wr >= 1000);
	assert_int_equal(attr.phys_port_cnt, 1);
	assert_true(attr.device_cap_flags & IBV_DEVICE_MEM_WINDOW_TYPE_2B);
	assert_int_equal(ibv_query_device_ex(p->a.context, NULL, &ex), 0);
	assert_memory_equal(&ex.orig_attr, &attr, sizeof(attr));
	assert_int_equal(ex.odp_caps.general_caps, 0);
}

APART_TEST(busy_objects_stay)
{
	struct ibv_comp_channel *channel = ibv_create_comp_channel(p->a.context);
	struct ibv_cq *cq = ibv_create_cq(p->a.context, 4, NULL, channel, 0);

	assert_int_equal(ibv_dealloc_pd(p->a.pd), EBUSY);
	assert_int_equal(ibv_destroy_cq(p->a.scq), EBUSY);
	assert_int_equal(ibv_destroy_comp_channel(channel), EBUSY);
	assert_int_equal(cq->cqe, 7); /* 2^n - 1, as measured */
	assert_int_equal(ibv_destroy_cq(cq), 0);
	assert_int_equal(ibv_destroy_comp_channel(channel), 0);
}

APART_TEST(queue_limits)
{
	struct ibv_qp_init_attr init = {
		.send_cq = p->a.scq, .recv_cq = p->a.rcq, .qp_type = IBV_QPT_RC, .cap = {4, 4, 33, 1, 0}};
	struct ibv_qp *qp;

	assert_null(ibv_create_qp(p->a.pd, &init));
	assert_int_equal(errno, EINVAL);
	init.cap = (struct ibv_qp_cap){4, 4, 1, 33, 0};
	assert_null(ibv_create_qp(p->a.pd, &init));
	init.cap = (struct ibv_qp_cap){4, 4, 1, 1, 576};
	assert_null(ibv_create_qp(p->a.pd, &init));
	init.cap = (struct ibv_qp_cap){UINT32_MAX, 4, 1, 1, 0};
	assert_null(ibv_create_qp(p->a.pd, &init));
	init.qp_type = IBV_QPT_RAW_PACKET;
	assert_null(ibv_create_qp(p->a.pd, &init));
	assert_int_equal(errno, EOPNOTSUPP);
	init.qp_type = IBV_QPT_RC;
	init.cap = (struct ibv_qp_cap){4, 4, 1, 1, 100};
	qp = ibv_create_qp(p->a.pd, &init);
	assert_non_null(qp);
	assert_int_equal(init.cap.max_inline_data, 112); /* whole entries of 16 bytes ... */
	assert_int_equal(init.cap.max_send_sge, 7);	 /* ... and they share the element */
	assert_int_equal(ibv_destroy_qp(qp), 0);
	init.send_cq = p->b.scq; /* another device's */
	assert_null(ibv_create_qp(p->a.pd, &init));
	assert_int_equal(errno, EINVAL);
}

/* Exactly as many queue pairs can be created as the device attributes say. */
APART_TEST(queue_pairs_run_out)
{
	static struct ibv_qp *qp[1u << 16];
	struct ibv_qp_init_attr init = {
		.send_cq = p->a.scq, .recv_cq = p->a.rcq, .qp_type = IBV_QPT_RC, .cap = {1, 1, 1, 1, 0}};
	const uint32_t own = (p->a.qp != NULL) + (p->b.qp != NULL);
	struct ibv_device_attr attr;
	uint32_t count = 0;

	assert_int_equal(ibv_query_device(p->a.context, &attr), 0);
	assert_in_range(attr.max_qp, 1, (1u << 16) - 1);
	while (count <= (uint32_t)attr.max_qp && (qp[count] = ibv_create_qp(p->a.pd, &init)) != NULL)
		count++;
	assert_int_equal(errno, ENOMEM);
	assert_int_equal(count + own, attr.max_qp);
	while (count > 0)
		assert_int_equal(ibv_destroy_qp(qp[--count]), 0);
}

APART_TEST(address_handles)
{
	struct ibv_ah_attr attr = {.port_num = 1, .dlid = 1};
	struct ibv_ah *ah;

	assert_null(ibv_create_ah(p->a.pd, &attr)); /* Ethernet needs a GID, not a LID */
	assert_int_equal(errno, EINVAL);
	attr.is_global = 1;
	attr.grh.sgid_index = O2_LOOP_GID_INDEX;
	ibv_query_gid(p->b.context, 1, O2_LOOP_GID_INDEX, &attr.grh.dgid);
	ah = ibv_create_ah(p->a.pd, &attr);
	assert_non_null(ah);
	assert_int_equal(ibv_destroy_ah(ah), 0);
	attr.grh.sgid_index = 200;
	assert_null(ibv_create_ah(p->a.pd, &attr));
}

/* A datagram arrives behind its global route header, from which an address handle for a reply can be made. */
APART_TEST(datagram)
{
	struct ibv_qp_init_attr init = {
		.send_cq = p->a.scq, .recv_cq = p->a.rcq, .qp_type = IBV_QPT_UD, .cap = {4, 4, 2, 2, 0}};
	struct ibv_qp_attr attr = {.qp_state = IBV_QPS_INIT, .port_num = 1, .qkey = 0x1234};
	struct ibv_qp *qp = ibv_create_qp(p->a.pd, &init);
	struct ibv_sge to = sge_of(p->a.mr, addr_of(p->a.buf), 140);
	struct ibv_sge from = sge_of(p->a.mr, addr_of(p->a.buf + 8192), 100);
	struct ibv_send_wr wr = {.sg_list = &from, .num_sge = 1, .opcode = IBV_WR_SEND}, *bad;
	struct ibv_ah_attr ah = {.port_num = 1, .is_global = 1, .grh = {.sgid_index = 1}}, back;
	struct ibv_pd *pd;
	struct ibv_wc wc;

	assert_int_equal(
		ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_QKEY), 0);
	assert_int_equal(pair_to_state(qp, IBV_QPS_RTR), 0);
	attr.qp_state = IBV_QPS_RTS;
	assert_int_equal(ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_SQ_PSN), 0);
	ibv_query_gid(p->a.context, 1, O2_LOOP_GID_INDEX, &ah.grh.dgid);
	wr.wr.ud.ah = ibv_create_ah(p->a.pd, &ah);
	wr.wr.ud.remote_qpn = qp->qp_num;
	wr.wr.ud.remote_qkey = 0x1234;
	wr.send_flags = IBV_SEND_SIGNALED;
	fill(p->a.buf + 8192, 100, 1);
	assert_int_equal(post_recv(qp, 5, &to, 1), 0);
	assert_int_equal(ibv_post_send(qp, &wr, &bad), 0);
	expect_wc(p->a.scq, 0, IBV_WC_SUCCESS);
	wc = expect_wc(p->a.rcq, 5, IBV_WC_SUCCESS);
	assert_int_equal(wc.byte_len, 140);
	assert_int_equal(wc.src_qp, qp->qp_num);
	assert_memory_equal(p->a.buf + 40, p->a.buf + 8192, 100);
	assert_int_equal(ibv_init_ah_from_wc(p->a.context, 1, &wc, (struct ibv_grh *)(void *)p->a.buf, &back),
			 0);
	assert_memory_equal(&back.grh.dgid, &ah.grh.dgid, sizeof(back.grh.dgid));
	wr.wr.ud.remote_qkey = 1; /* wrong Q_Key: sent, but dropped by the receiver */
	assert_int_equal(post_recv(qp, 6, &to, 1), 0);
	assert_int_equal(ibv_post_send(qp, &wr, &bad), 0);
	expect_wc(p->a.scq, 0, IBV_WC_SUCCESS);
	expect_empty(p->a.rcq);
	assert_false(o2_loop_forge(qp->qp_num, "", 1)); /* no peer could have sent it */
	assert_int_equal(ibv_destroy_ah(wr.wr.ud.ah), 0);
	pd = ibv_alloc_pd(p->a.context);
	wr.wr.ud.ah = ibv_create_ah(pd, &ah); /* of another domain */
	assert_int_equal(ibv_post_send(qp, &wr, &bad), EINVAL);
	assert_int_equal(ibv_destroy_ah(wr.wr.ud.ah), 0);
	assert_int_equal(ibv_dealloc_pd(pd), 0);
	assert_int_equal(ibv_destroy_qp(qp), 0);
}

TEST(names_and_rates)
{
	assert_string_equal(ibv_port_state_str(IBV_PORT_ACTIVE), "active");
	assert_string_equal(ibv_event_type_str(IBV_EVENT_CQ_ERR), "CQ error");
	assert_string_equal(ibv_wc_status_str((enum ibv_wc_status)9999), "unknown");
	assert_int_equal(ibv_rate_to_mbps(IBV_RATE_100_GBPS), 103125);
	assert_int_equal(mult_to_ibv_rate(ibv_rate_to_mult(IBV_RATE_20_GBPS)), IBV_RATE_20_GBPS);
	assert_int_equal(ibv_rate_to_mult(IBV_RATE_1200_GBPS), 480);
	assert_int_equal(ibv_rate_to_mult(IBV_RATE_100_GBPS), -1); /* as libibverbs */
	assert_int_equal(mult_to_ibv_rate(41), IBV_RATE_MAX);
}
