/* SPDX-License-Identifier: MIT */
/* Queries of devices, operations that they do not offer, and helpers of libibverbs that use no device. */
#include <errno.h>
#include <string.h>

#include "props/verbs/verbs_internal.h"

#define SAME(field, expected) o2_verbs_expect(world, #field, (int64_t)(field), (int64_t)(expected))
/* A call that returns -1 and sets errno; `there`: it returns 0. */
#define ANSWERS(there, call)                       \
	do {                                       \
		errno = 0;                         \
		SAME(call, (there) ? 0 : -1);      \
		SAME(errno, (there) ? 0 : EINVAL); \
	} while (0)

/* Exported by libibverbs, declared in none of its headers. */
int ibv_query_gid_type(struct ibv_context *context, uint8_t port_num, unsigned int index, int *type);
int ibv_read_sysfs_file(const char *dir, const char *file, char *buf, size_t size);
const char *ibv_get_sysfs_path(void);
int ibv_dontfork_range(void *base, size_t size);
int ibv_dofork_range(void *base, size_t size);

/* docs/loopverbs.md, "What it offers" and "Limits". */
static void query_limits(struct o2_verbs_world *world, const struct o2_verbs_side *side)
{
	struct ibv_device_attr attr;

	o2_verbs_expect(world, "ibv_query_device", ibv_query_device(side->context, &attr), 0);
	SAME(attr.max_sge, 32);
	SAME(attr.max_sge_rd, 32);
	SAME(attr.max_srq_sge, 27);
	SAME(attr.max_qp_wr, 16384);
	SAME(attr.max_srq_wr, 16384);
	SAME(attr.max_cqe, 32767);
	SAME(attr.max_qp_rd_atom, 128);
	SAME(attr.max_qp_init_rd_atom, 128);
	SAME(attr.phys_port_cnt, 1);
	SAME(attr.max_pkeys, 1);
	SAME(attr.atomic_cap, IBV_ATOMIC_HCA);
	SAME(attr.page_size_cap & 4096, 4096);
	SAME(attr.page_size_cap & 4095, 0);
	SAME(attr.max_mr_size, UINT64_MAX);
	SAME(attr.max_qp > 0 && attr.max_mr > 0 && attr.max_mw > 0, 1);
	SAME(attr.max_cq >= 1 << 16 && attr.max_pd >= 1 << 16 && attr.max_ah >= 1 << 16, 1);
	SAME(attr.max_srq >= 1 << 16, 1);
	SAME(attr.node_guid == ibv_get_device_guid(side->context->device), 1);
	SAME(attr.sys_image_guid == attr.node_guid, 1);
	SAME(memcmp(&attr.node_guid, &side->gid[0].raw[8], 8), 0); /* link-local: contains the GUID */
}

/* The extended query returns the same, and so does that of old programs, which lacks the newest field. */
static void query_other_forms(struct o2_verbs_world *world, const struct o2_verbs_side *side)
{
	const size_t old = offsetof(struct ibv_port_attr, port_cap_flags2);
	struct ibv_device_attr plain;
	struct ibv_device_attr_ex all;
	/* Compare the padding as well: both are filled alike. */
	const uint8_t *all_bytes = (const void *)&all.orig_attr, *plain_bytes = (const void *)&plain;
	struct ibv_port_attr port;
	union {
		struct ibv_port_attr attr;
		uint8_t bytes[sizeof(struct ibv_port_attr)];
	} filled;

	memset(&all, 0xa5, sizeof(all));
	ibv_query_device(side->context, &plain);
	SAME(ibv_query_device_ex(side->context, NULL, &all), 0);
	SAME(memcmp(all_bytes, plain_bytes, sizeof(plain)), 0);
	SAME(all.device_cap_flags_ex, plain.device_cap_flags);
	SAME(all.phys_port_cnt_ex, 1);
	SAME(all.comp_mask, 0);
	ibv_query_port(side->context, 1, &port);
	memset(&filled, 0xa5, sizeof(filled));
	SAME((ibv_query_port)(side->context, 1, (struct _compat_ibv_port_attr *)(void *)&filled), 0);
	SAME(memcmp(&filled, &port, old), 0);
	SAME(filled.bytes[old], 0xa5);
	SAME((ibv_query_port)(side->context, 2, (struct _compat_ibv_port_attr *)(void *)&filled), EINVAL);
	SAME(ibv_get_device_index(side->context->device), side - world->side);
}

static void query_port(struct o2_verbs_world *world, const struct o2_verbs_side *side)
{
	struct ibv_port_attr port;
	union ibv_gid gid;
	__be16 pkey;

	for (int number = 0; number < 3; number++) {
		const bool there = number == 1;

		SAME(ibv_query_port(side->context, (uint8_t)number, &port), there ? 0 : EINVAL);
		ANSWERS(there, ibv_query_gid(side->context, (uint8_t)number, 1, &gid));
		ANSWERS(there, ibv_query_pkey(side->context, (uint8_t)number, 0, &pkey));
	}
	ibv_query_port(side->context, 1, &port);
	SAME(port.state, world->option[O2_LOOP_PORT_ACTIVE] ? IBV_PORT_ACTIVE : IBV_PORT_DOWN);
	SAME(port.active_mtu, IBV_MTU_4096);
	SAME(port.max_mtu, IBV_MTU_4096);
	SAME(port.gid_tbl_len, 2);
	SAME(port.pkey_tbl_len, 1);
	SAME(port.max_msg_sz, UINT32_C(1) << 31);
	SAME(port.link_layer, IBV_LINK_LAYER_ETHERNET);
	ANSWERS(false, ibv_query_gid(side->context, 1, -1, &gid));
	ANSWERS(false, ibv_query_gid(side->context, 1, 2, &gid));
	ANSWERS(false, ibv_query_pkey(side->context, 1, 1, &pkey));
	ibv_query_pkey(side->context, 1, 0, &pkey);
	SAME(pkey, 0xffff);
	ANSWERS(true, ibv_get_pkey_index(side->context, 1, pkey));
	ANSWERS(false, ibv_get_pkey_index(side->context, 2, pkey));
	ANSWERS(false, ibv_get_pkey_index(side->context, 1, (__be16)(pkey - 1)));
}

/* Both GIDs are RoCE v2, one link-local, one IPv4-mapped, in each kind of query. */
static void query_gids(struct o2_verbs_world *world, const struct o2_verbs_side *side)
{
	struct ibv_gid_entry all[3], one;
	int type;

	SAME(side->gid[0].raw[0] << 8 | side->gid[0].raw[1], 0xfe80);
	SAME(side->gid[1].raw[10] << 8 | side->gid[1].raw[11], 0xffff);
	SAME(memcmp(&side->gid[1], &world->side[side == &world->side[0]].gid[1], 16) != 0, 1);
	memset(all, 0xa5, sizeof(all));
	SAME(ibv_query_gid_table(side->context, all, 3, 0), 2);
	SAME(all[2].gid_index, UINT32_C(0xa5a5a5a5)); /* past the GIDs: not written */
	SAME(ibv_query_gid_table(side->context, all, 2, 0), 2);
	SAME(ibv_query_gid_table(side->context, all, 1, 0), -EINVAL);
	SAME(ibv_query_gid_table(side->context, all, 3, 1), -EOPNOTSUPP);
	for (uint32_t i = 0; i < 2; i++) {
		SAME(ibv_query_gid_ex(side->context, 1, i, &one, 0), 0);
		SAME(memcmp(&one.gid, &side->gid[i], 16), 0);
		SAME(memcmp(&all[i].gid, &side->gid[i], 16), 0);
		SAME(one.gid_index, i);
		SAME(all[i].gid_index, i);
		SAME(one.port_num, 1);
		SAME(one.gid_type, IBV_GID_TYPE_ROCE_V2);
		ANSWERS(true, ibv_query_gid_type(side->context, 1, i, &type));
		SAME(type, 1);
	}
	SAME(ibv_query_gid_ex(side->context, 1, 2, &one, 0), EINVAL);
	SAME(ibv_query_gid_ex(side->context, 2, 0, &one, 0), EINVAL);
	SAME(ibv_query_gid_ex(side->context, 1, 0, &one, 1), EOPNOTSUPP);
	ANSWERS(false, ibv_query_gid_type(side->context, 1, 2, &type));
	ANSWERS(false, ibv_query_gid_type(side->context, 2, 0, &type));
}

/* ibv_rate_to_mult(3), ibv_rate_to_mbps(3).  The other rates have no multiple in libibverbs. */
static void query_rates(struct o2_verbs_world *world)
{
	static const enum ibv_rate by_2_5[] = {IBV_RATE_2_5_GBPS, IBV_RATE_5_GBPS,   IBV_RATE_10_GBPS,
					       IBV_RATE_20_GBPS,  IBV_RATE_30_GBPS,  IBV_RATE_40_GBPS,
					       IBV_RATE_60_GBPS,  IBV_RATE_80_GBPS,  IBV_RATE_120_GBPS,
					       IBV_RATE_28_GBPS,  IBV_RATE_50_GBPS,  IBV_RATE_400_GBPS,
					       IBV_RATE_600_GBPS, IBV_RATE_800_GBPS, IBV_RATE_1200_GBPS};
	static const int multiple[] = {1, 2, 4, 8, 12, 16, 24, 32, 48, 11, 20, 160, 240, 320, 480};

	for (size_t i = 0; i < sizeof(multiple) / sizeof(multiple[0]); i++) {
		SAME(ibv_rate_to_mult(by_2_5[i]), multiple[i]);
		if (i < 9) /* those after them are rounded */
			SAME(ibv_rate_to_mbps(by_2_5[i]), 2500 * multiple[i]);
	}
	for (int rate = IBV_RATE_2_5_GBPS; rate <= (int)IBV_RATE_1200_GBPS; rate++) {
		const int found = ibv_rate_to_mult((enum ibv_rate)rate);
		bool has = false;

		for (size_t i = 0; i < sizeof(multiple) / sizeof(multiple[0]); i++)
			has |= (int)by_2_5[i] == rate;
		SAME(found == -1, !has);
		SAME(mult_to_ibv_rate(found), has ? rate : (int)IBV_RATE_MAX);
		SAME(mbps_to_ibv_rate(ibv_rate_to_mbps((enum ibv_rate)rate)), rate);
	}
	SAME(ibv_rate_to_mult((enum ibv_rate)(IBV_RATE_1200_GBPS + 1)), -1);
	SAME(ibv_rate_to_mbps((enum ibv_rate)(IBV_RATE_1200_GBPS + 1)), -1);
	SAME(ibv_rate_to_mult(IBV_RATE_MAX), -1);
	SAME(mult_to_ibv_rate(3), IBV_RATE_MAX);
	SAME(mult_to_ibv_rate(0), IBV_RATE_MAX);
	SAME(mbps_to_ibv_rate(3), IBV_RATE_MAX);
}

/* docs/loopverbs.md, "What it offers": unsupported calls return EOPNOTSUPP and do nothing. */
static void ask_for_what_is_not(struct o2_verbs_world *world, struct o2_verbs_side *side)
{
	struct ibv_ah_attr attr = {.is_global = 1};
	struct ibv_ece ece;
	uint8_t mac[ETHERNET_LL_SIZE];
	uint16_t vid;

#define REFUSED(call)                    \
	do {                             \
		errno = 0;               \
		SAME((call) == NULL, 1); \
		SAME(errno, EOPNOTSUPP); \
	} while (0)
	REFUSED(ibv_reg_dmabuf_mr(side->pd[0], 0, 4096, 0, 0, 0));
	REFUSED(ibv_import_device(0));
	REFUSED(ibv_import_pd(side->context, 0));
	REFUSED(ibv_import_mr(side->pd[0], 0));
	REFUSED(ibv_import_dm(side->context, 0));
#undef REFUSED
	SAME(ibv_resolve_eth_l2_from_gid(side->context, &attr, mac, &vid), -1);
	for (uint32_t i = 0; i < O2_VERBS_REGIONS; i++)
		if (side->region[i].mr != NULL) {
			SAME(ibv_rereg_mr(side->region[i].mr, IBV_REREG_MR_CHANGE_ACCESS, NULL, NULL, 0, 0),
			     IBV_REREG_MR_ERR_CMD);
			SAME(ibv_rereg_mr(side->region[i].mr, 0, NULL, NULL, 0, 0), IBV_REREG_MR_ERR_INPUT);
			SAME(ibv_rereg_mr(side->region[i].mr, IBV_REREG_MR_CHANGE_TRANSLATION, NULL, NULL, 1,
					  0),
			     IBV_REREG_MR_ERR_INPUT);
		}
	for (uint32_t i = 0; i < O2_VERBS_PAIRS; i++)
		if (side->qp[i].qp != NULL) {
			SAME(ibv_attach_mcast(side->qp[i].qp, &side->gid[0], 0), EOPNOTSUPP);
			SAME(ibv_detach_mcast(side->qp[i].qp, &side->gid[0], 0), EOPNOTSUPP);
			memset(&ece, 0xa5, sizeof(ece));
			SAME(ibv_query_ece(side->qp[i].qp, &ece), 0);
			SAME(ece.vendor_id | ece.options | ece.comp_mask, 0);
			SAME(ibv_set_ece(side->qp[i].qp, &ece), EOPNOTSUPP);
			SAME(ibv_qp_to_qp_ex(side->qp[i].qp) == NULL, 1);
			SAME(ibv_query_qp_data_in_order(side->qp[i].qp, IBV_WR_SEND, 0), 0);
		}
	ibv_unimport_pd(side->pd[0]);
	ibv_unimport_mr(NULL);
	ibv_unimport_dm(NULL);
	SAME(ibv_read_sysfs_file("/proc/self", "comm", (char *)mac, sizeof(mac)), -1);
	SAME(strcmp(ibv_get_sysfs_path(), "/sys") != 0, 1);
	SAME(ibv_dontfork_range(side->arena, O2_VERBS_PAGE), 0);
	SAME(ibv_dofork_range(side->arena, O2_VERBS_PAGE), 0);
	SAME(ibv_fork_init(), 0);
	SAME(ibv_is_fork_initialized(), IBV_FORK_UNNEEDED);
	SAME(ibv_destroy_comp_channel(side->channel), EBUSY); /* a completion queue uses it */
}

/* Make an address handle to a datagram's sender.  It counts as a user of the domain until it is destroyed. */
static void answer_datagram(struct o2_verbs_world *world, const struct o2_verbs_side *side)
{
	const struct o2_verbs_side *other = &world->side[side == &world->side[0]];
	struct ibv_wc wc = {.wc_flags = IBV_WC_GRH, .sl = 3};
	struct ibv_ah_attr attr;
	struct ibv_grh grh;
	struct ibv_ah *ah;

	for (uint32_t i = 0; i < 2; i++) {
		memset(&grh, 0, sizeof(grh));
		grh.sgid = other->gid[i];
		grh.dgid = side->gid[1 - i];
		SAME(ibv_init_ah_from_wc(side->context, 1, &wc, &grh, &attr), 0);
		SAME(attr.grh.sgid_index, 1 - i);
		SAME(memcmp(&attr.grh.dgid, &other->gid[i], 16), 0);
		SAME(attr.grh.hop_limit, 255);
		SAME(attr.is_global, 1);
		SAME(attr.port_num, 1);
		SAME(attr.sl, 3);
		ah = ibv_create_ah_from_wc(side->pd[0], &wc, &grh, 1);
		SAME(ah != NULL && ah->pd == side->pd[0], 1);
		SAME(ah == NULL ? -1 : ibv_destroy_ah(ah), 0);
	}
	/* The destination is none of the port's addresses: the source must be one of them nevertheless. */
	memset(&grh.dgid, 0, sizeof(grh.dgid));
	SAME(ibv_init_ah_from_wc(side->context, 1, &wc, &grh, &attr), 0);
	SAME(attr.grh.sgid_index <= 1, 1);
	errno = 0;
	SAME(ibv_create_ah_from_wc(side->pd[0], &wc, &grh, 2) == NULL && errno == EINVAL, 1);
	wc.wc_flags = 0;
	SAME(ibv_init_ah_from_wc(side->context, 1, &wc, &grh, &attr), -1);
	SAME(ibv_create_ah_from_wc(side->pd[0], &wc, &grh, 1) == NULL, 1);
}

/* The extended call offers nothing that the plain one lacks: anything else is refused. */
static void create_extended(struct o2_verbs_world *world, struct o2_verbs_side *side)
{
	struct ibv_qp_init_attr_ex init = {
		.send_cq = side->cq[0].cq,
		.recv_cq = side->cq[0].cq,
		.qp_type = IBV_QPT_RC,
		.comp_mask = IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_CREATE_FLAGS,
		.pd = side->pd[0],
	};
	struct ibv_qp *qp;

	init.create_flags = 1;
	errno = 0;
	o2_verbs_made(world, "a flag of ibv_create_qp_ex", ibv_create_qp_ex(side->context, &init),
		      EOPNOTSUPP);
	init.create_flags = 0;
	init.comp_mask |= IBV_QP_INIT_ATTR_RX_HASH;
	errno = 0;
	o2_verbs_made(world, "a part of ibv_create_qp_ex", ibv_create_qp_ex(side->context, &init),
		      EOPNOTSUPP);
	init.comp_mask = IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_CREATE_FLAGS;
	errno = 0;
	qp = ibv_create_qp_ex(side->context, &init);
	if (o2_verbs_made(world, "ibv_create_qp_ex", qp,
			  o2_verbs_fault(&world->hook, O2_LOOP_CALL_MAKE, 0) != 0 ? ENOMEM : 0))
		SAME(ibv_destroy_qp(qp), 0);
}

static const char *name_of(uint32_t list, int value)
{
	switch (list) {
	case 0:
		return ibv_wc_status_str((enum ibv_wc_status)value);
	case 1:
		return ibv_event_type_str((enum ibv_event_type)value);
	case 2:
		return ibv_port_state_str((enum ibv_port_state)value);
	default:
		return ibv_node_type_str((enum ibv_node_type)value);
	}
}

/* Every existing value has a unique name; all others are "unknown". */
static void query_names(struct o2_verbs_world *world)
{
	static const struct {
		int first, last;
	} lists[] = {{IBV_WC_SUCCESS, IBV_WC_TM_RNDV_INCOMPLETE},
		     {IBV_EVENT_CQ_ERR, IBV_EVENT_WQ_FATAL},
		     {IBV_PORT_NOP, IBV_PORT_ACTIVE_DEFER},
		     {IBV_NODE_CA, IBV_NODE_UNSPECIFIED}};

	for (uint32_t list = 0; list < sizeof(lists) / sizeof(lists[0]); list++) {
		SAME(strcmp(name_of(list, lists[list].first - 1), "unknown"), 0);
		SAME(strcmp(name_of(list, lists[list].last + 1), "unknown"), 0);
		for (int i = lists[list].first; i <= lists[list].last; i++) {
			SAME(strcmp(name_of(list, i), "unknown") != 0, 1);
			for (int k = lists[list].first; k < i; k++)
				SAME(strcmp(name_of(list, i), name_of(list, k)) != 0, 1);
		}
	}
}

/* Each key has a unique number, and its low byte does not follow from those of the two keys before. */
static void compare_keys(struct o2_verbs_world *world, const struct o2_verbs_side *side)
{
	enum { KEYS = 4 };
	struct ibv_mw *mw[KEYS] = {NULL};
	uint32_t key[KEYS] = {0};

	/* An armed fault is left for another step. */
	if (world->hook.after[O2_LOOP_CALL_MAKE] != 0)
		return;
	for (uint32_t i = 0; i < KEYS; i++) {
		mw[i] = ibv_alloc_mw(side->pd[0], IBV_MW_TYPE_1);
		SAME(mw[i] != NULL, 1);
		if (mw[i] == NULL)
			return;
		key[i] = mw[i]->rkey;
		for (uint32_t k = 0; k < i; k++)
			SAME(key[i] >> 8 != key[k] >> 8, 1);
	}
	for (uint32_t i = 2; i < KEYS; i++) {
		const uint8_t step = (uint8_t)(key[i] - key[i - 1]),
			      last = (uint8_t)(key[i - 1] - key[i - 2]);

		/* A greater change than carries between bytes can cause. */
		if ((uint8_t)(step - last + 1) > 2)
			o2_verbs_saw(world, O2_VERBS_SEEN_KEYS_UNLIKE);
	}
	for (uint32_t i = 0; i < KEYS; i++)
		SAME(ibv_dealloc_mw(mw[i]), 0);
}

void o2_verbs_query_device(struct o2_verbs_world *world, struct o2_verbs_side *side)
{
	query_limits(world, side);
	query_other_forms(world, side);
	query_port(world, side);
	query_names(world);
	compare_keys(world, side);
	query_gids(world, side);
	query_rates(world);
	answer_datagram(world, side);
	create_extended(world, side);
	if (side->cq[0].channel || side->cq[1].channel)
		ask_for_what_is_not(world, side);
}
