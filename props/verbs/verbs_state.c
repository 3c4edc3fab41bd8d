/* SPDX-License-Identifier: MIT */
/* Queue pair states: ibv_modify_qp(3) and the InfiniBand specification, "QP state transitions". */
#include <errno.h>
#include <string.h>

#include "props/verbs/verbs_internal.h"

#define PAIR(from, to) ((from)*16 + (to))
#define TO_INIT	       (IBV_QP_PKEY_INDEX | IBV_QP_PORT)
#define ADDRESSED      (IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN)
#define MIGRATION      (IBV_QP_ALT_PATH | IBV_QP_PATH_MIG_STATE)
#define MOST_RD_ATOMIC 128u

/* The attributes that a transition requires and permits; false: no such transition. */
static bool needs_of(enum ibv_qp_type type, enum ibv_qp_state from, enum ibv_qp_state to, int *must, int *may)
{
	const bool rc = type == IBV_QPT_RC, ud = type == IBV_QPT_UD;
	const int own = ud ? IBV_QP_QKEY : IBV_QP_ACCESS_FLAGS;

	*must = *may = 0;
	switch (PAIR(from, to)) {
	case PAIR(IBV_QPS_RESET, IBV_QPS_INIT):
		*must = TO_INIT | own;
		return true;
	case PAIR(IBV_QPS_INIT, IBV_QPS_INIT):
		*may = TO_INIT | own;
		return true;
	case PAIR(IBV_QPS_INIT, IBV_QPS_RTR):
		*must = (ud ? 0 : ADDRESSED) | (rc ? IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER : 0);
		*may = IBV_QP_PKEY_INDEX | own | (ud ? 0 : IBV_QP_ALT_PATH);
		return true;
	case PAIR(IBV_QPS_RTR, IBV_QPS_RTS):
		*must = IBV_QP_SQ_PSN;
		if (rc)
			*must |= IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
				 IBV_QP_MAX_QP_RD_ATOMIC;
		break;
	case PAIR(IBV_QPS_RTS, IBV_QPS_RTS):
	case PAIR(IBV_QPS_SQD, IBV_QPS_RTS):
		break;
	case PAIR(IBV_QPS_RTS, IBV_QPS_SQD):
		*may = IBV_QP_EN_SQD_ASYNC_NOTIFY;
		return true;
	case PAIR(IBV_QPS_SQD, IBV_QPS_SQD):
		*may = IBV_QP_PKEY_INDEX | own | (ud ? 0 : IBV_QP_AV | MIGRATION);
		if (rc)
			*may |= IBV_QP_PORT | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
				IBV_QP_MAX_QP_RD_ATOMIC | IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER;
		return true;
	default:
		return false;
	}
	/* The transition to RTS. */
	*may = IBV_QP_CUR_STATE | own | (ud ? 0 : MIGRATION) | (rc ? IBV_QP_MIN_RNR_TIMER : 0);
	return true;
}

static bool values_fit(const struct ibv_qp_attr *attr, int mask)
{
	const struct ibv_ah_attr *to = &attr->ah_attr;
	const struct {
		int bit;
		bool fits;
	} rules[] = {
		{IBV_QP_PORT, attr->port_num == 1},
		{IBV_QP_PKEY_INDEX, attr->pkey_index == 0},
		{IBV_QP_AV, to->port_num == 1 && to->is_global == 1 && to->grh.sgid_index <= 1},
		{IBV_QP_PATH_MTU, attr->path_mtu >= IBV_MTU_256 && attr->path_mtu <= IBV_MTU_4096},
		{IBV_QP_TIMEOUT, attr->timeout < 32},
		{IBV_QP_RETRY_CNT, attr->retry_cnt < 8},
		{IBV_QP_RNR_RETRY, attr->rnr_retry < 8},
		{IBV_QP_MIN_RNR_TIMER, attr->min_rnr_timer < 32},
		{IBV_QP_MAX_QP_RD_ATOMIC, attr->max_rd_atomic <= MOST_RD_ATOMIC},
		{IBV_QP_MAX_DEST_RD_ATOMIC, attr->max_dest_rd_atomic <= MOST_RD_ATOMIC},
		{IBV_QP_ALT_PATH | IBV_QP_CAP | IBV_QP_RATE_LIMIT, false},
	};

	for (size_t i = 0; i < sizeof(rules) / sizeof(rules[0]); i++)
		if (mask & rules[i].bit && !rules[i].fits)
			return false;
	return true;
}

static bool may_change(const struct o2_verbs_qp *qp, enum ibv_qp_state from, enum ibv_qp_state to,
		       const struct ibv_qp_attr *attr, int mask)
{
	int must, may;

	mask &= ~IBV_QP_STATE;
	if (from != qp->state)
		return false;
	if (to == IBV_QPS_ERR && from == IBV_QPS_RESET)
		return false;
	if (to == IBV_QPS_RESET || to == IBV_QPS_ERR)
		return mask == 0;
	return needs_of(qp->type, from, to, &must, &may) && (mask & must) == must &&
	       (mask & ~(must | may)) == 0 && values_fit(attr, mask);
}

/* --- what a change does --- */

static uint32_t side_of_gid(const struct o2_verbs_world *world, const union ibv_gid *gid)
{
	for (uint32_t i = 0; i < O2_VERBS_SIDES; i++)
		for (uint32_t j = 0; j < 2; j++)
			if (memcmp(gid, &world->side[i].gid[j], sizeof(*gid)) == 0)
				return i;
	return O2_VERBS_NONE;
}

/* As empty entries of a table of addresses are. */
static bool is_nearly_zero(const union ibv_gid *gid)
{
	static const uint8_t zero[14];

	return memcmp(&gid->raw[1], zero, sizeof(zero)) == 0;
}

#define TAKE(bit, field) qp->attr.field = mask & (bit) ? attr->field : qp->attr.field

static void take(struct o2_verbs_world *world, struct o2_verbs_qp *qp, const struct ibv_qp_attr *attr,
		 int mask)
{
	TAKE(IBV_QP_PKEY_INDEX, pkey_index);
	TAKE(IBV_QP_PORT, port_num);
	TAKE(IBV_QP_ACCESS_FLAGS, qp_access_flags);
	TAKE(IBV_QP_QKEY, qkey);
	TAKE(IBV_QP_PATH_MTU, path_mtu);
	TAKE(IBV_QP_DEST_QPN, dest_qp_num);
	TAKE(IBV_QP_MAX_DEST_RD_ATOMIC, max_dest_rd_atomic);
	TAKE(IBV_QP_MAX_QP_RD_ATOMIC, max_rd_atomic);
	TAKE(IBV_QP_MIN_RNR_TIMER, min_rnr_timer);
	TAKE(IBV_QP_TIMEOUT, timeout);
	TAKE(IBV_QP_RETRY_CNT, retry_cnt);
	TAKE(IBV_QP_RNR_RETRY, rnr_retry);
	TAKE(IBV_QP_EN_SQD_ASYNC_NOTIFY, en_sqd_async_notify);
	TAKE(IBV_QP_PATH_MIG_STATE, path_mig_state);
	TAKE(IBV_QP_AV, ah_attr);
	if (mask & IBV_QP_AV) {
		qp->dest_side = side_of_gid(world, &attr->ah_attr.grh.dgid);
		if (is_nearly_zero(&attr->ah_attr.grh.dgid))
			o2_verbs_saw(world, O2_VERBS_SEEN_NO_GID);
	}
	if (mask & IBV_QP_RQ_PSN)
		qp->rq_psn = attr->rq_psn % (1u << 24);
	if (mask & IBV_QP_SQ_PSN)
		qp->sq_psn = attr->sq_psn % (1u << 24);
	qp->rnr_left = qp->attr.rnr_retry;
	qp->ack_left = qp->attr.retry_cnt;
}

static void enter(struct o2_verbs_world *world, struct o2_verbs_qp *qp, enum ibv_qp_state to)
{
	if (to == IBV_QPS_RESET) {
		o2_verbs_reset(world, qp);
	} else if (to == IBV_QPS_ERR) {
		o2_verbs_error(world, qp);
	} else {
		qp->state = to;
		if (to == IBV_QPS_SQD)
			o2_verbs_drain(world, qp);
		o2_verbs_kick(world, qp);
		o2_verbs_drained(world, qp);
	}
}

static int foretell(struct o2_verbs_world *world, struct o2_verbs_qp *qp, const struct ibv_qp_attr *attr,
		    int mask)
{
	enum ibv_qp_state from, to;

	o2_verbs_run(world);
	from = mask & IBV_QP_CUR_STATE ? attr->cur_qp_state : qp->state;
	to = mask & IBV_QP_STATE ? attr->qp_state : from;
	if (to != IBV_QPS_ERR && o2_verbs_fault(&world->hook, O2_LOOP_CALL_MODIFY, qp->number))
		return ENOMEM;
	if (!may_change(qp, from, to, attr, mask)) {
		o2_verbs_saw(world, O2_VERBS_SEEN_STATE_REFUSED);
		return EINVAL;
	}
	take(world, qp, attr, mask);
	if (mask & IBV_QP_STATE)
		enter(world, qp, to);
	o2_verbs_saw(world, O2_VERBS_SEEN_STATE_CHANGED);
	o2_verbs_run(world);
	return 0;
}

static bool modify(struct o2_verbs_world *world, struct o2_verbs_qp *qp, struct ibv_qp_attr *attr, int mask)
{
	const int found = ibv_modify_qp(qp->qp, attr, mask);
	const int expected = foretell(world, qp, attr, mask);

	o2_verbs_expect(world, "ibv_modify_qp", found, expected);
	if (expected == 0 && mask & IBV_QP_STATE)
		o2_verbs_expect(world, "state after ibv_modify_qp", qp->qp->state, attr->qp_state);
	return expected == 0;
}

/* --- what is drawn --- */

/* Draw an address that no port has: one bit changed, or nearly zero, as empty table entries are. */
static void draw_nobody(struct o2_verbs_world *world, union ibv_gid *gid)
{
	struct o2_choice *c = world->choice;

	if (o2_draw_bool(c, 1, 1)) {
		gid->raw[o2_draw(c, 15)] ^= 0x40;
		return;
	}
	memset(gid, 0, sizeof(*gid));
	gid->raw[15 * o2_draw(c, 1)] = (uint8_t)o2_draw(c, O2_VERBS_SIDES);
}

static void draw_attr(struct o2_verbs_world *world, const struct o2_verbs_qp *qp, struct ibv_qp_attr *attr)
{
	struct o2_choice *c = world->choice;
	const uint32_t to = o2_draw_bool(c, 40, 1) ? qp->side : 1 - qp->side;
	const struct o2_verbs_qp *peer =
		&world->side[1 - qp->side]
			 .qp[o2_draw_bool(c, 40, 1) ? o2_draw_pick(c, O2_VERBS_PAIRS) : qp->index];

	*attr = (struct ibv_qp_attr){
		.port_num = 1,
		.qp_access_flags = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ |
				   IBV_ACCESS_REMOTE_ATOMIC,
		.qkey = 7 + (uint32_t)o2_draw_bool(c, 24, 1),
		.path_mtu = (enum ibv_mtu)(IBV_MTU_4096 - o2_draw(c, 4)),
		.dest_qp_num = peer->number,
		.rq_psn = o2_draw_bool(c, 3, 1) ? 0xfffffe : 100,
		.max_dest_rd_atomic = o2_draw_bool(c, 24, 1) ? 0 : 1,
		.max_rd_atomic = o2_draw_bool(c, 24, 1) ? 0 : 1,
		.en_sqd_async_notify = o2_draw_bool(c, 1, 1),
		.min_rnr_timer = (uint8_t)o2_draw(c, 31),
		.timeout = (uint8_t)o2_draw(c, 31),
		.retry_cnt = o2_draw_bool(c, 8, 1) ? 7 : (uint8_t)o2_draw(c, 2),
		.rnr_retry = o2_draw_bool(c, 1, 1) ? 7 : (uint8_t)o2_draw(c, 6),
		.ah_attr = {.is_global = 1,
			    .port_num = 1,
			    .dlid = 0x1234,
			    .sl = 3,
			    .src_path_bits = 5,
			    .static_rate = 6,
			    .grh = {.flow_label = 0x12345,
				    .hop_limit = 64,
				    .traffic_class = 9,
				    .sgid_index = (uint8_t)o2_draw(c, 1),
				    .dgid = world->side[to].gid[o2_draw(c, 1)]}},
	};
	attr->rq_psn |= o2_draw_bool(c, 7, 1) ? 0xff000000 : 0; /* only 24 bits count */
	attr->sq_psn = attr->rq_psn;
	if (o2_draw_bool(c, 20, 1)) /* without some rights */
		attr->qp_access_flags &= ~(IBV_ACCESS_REMOTE_WRITE << o2_draw(c, 2));
	if (o2_draw_bool(c, 40, 1))
		draw_nobody(world, &attr->ah_attr.grh.dgid);
	if (o2_draw_bool(c, 40, 1))
		attr->sq_psn += 1;
}

static void spoil_address(struct o2_choice *c, struct ibv_ah_attr *to, uint8_t past)
{
	switch (o2_draw(c, 2)) {
	case 0:
		to->is_global = past;
		break;
	case 1:
		to->grh.sgid_index = 1 + past;
		break;
	default:
		to->port_num = past ? 2 : 0;
	}
}

/* Set one attribute of the mask to its maximum, or one more.  Attributes outside the mask may have any value. */
static void spoil(struct o2_verbs_world *world, struct ibv_qp_attr *attr, int mask)
{
	struct o2_choice *c = world->choice;
	static const int bits[] = {IBV_QP_PORT,
				   IBV_QP_PKEY_INDEX,
				   IBV_QP_AV,
				   IBV_QP_PATH_MTU,
				   IBV_QP_TIMEOUT,
				   IBV_QP_RETRY_CNT,
				   IBV_QP_RNR_RETRY,
				   IBV_QP_MIN_RNR_TIMER,
				   IBV_QP_MAX_QP_RD_ATOMIC,
				   IBV_QP_MAX_DEST_RD_ATOMIC,
				   IBV_QP_EN_SQD_ASYNC_NOTIFY};
	int has[sizeof(bits) / sizeof(bits[0])];
	const uint8_t past = o2_draw_bool(c, 1, 1);
	uint32_t count = 0;

	for (size_t i = 0; i < sizeof(bits) / sizeof(bits[0]); i++)
		if (mask & bits[i])
			has[count++] = bits[i];
	if (count == 0)
		return;
	switch (has[o2_draw_pick(c, count)]) {
	case IBV_QP_PORT:
		attr->port_num += past ? 1 : UINT8_MAX;
		break;
	case IBV_QP_PKEY_INDEX:
		attr->pkey_index = past;
		break;
	case IBV_QP_AV:
		spoil_address(c, &attr->ah_attr, past);
		break;
	case IBV_QP_PATH_MTU:
		attr->path_mtu = past ? IBV_MTU_4096 + 1 : 0;
		break;
	case IBV_QP_TIMEOUT:
		attr->timeout = 31 + past;
		break;
	case IBV_QP_RETRY_CNT:
		attr->retry_cnt = 7 + past;
		break;
	case IBV_QP_RNR_RETRY:
		attr->rnr_retry = 7 + past;
		break;
	case IBV_QP_MIN_RNR_TIMER:
		attr->min_rnr_timer = 31 + past;
		break;
	case IBV_QP_MAX_QP_RD_ATOMIC:
		attr->max_rd_atomic = MOST_RD_ATOMIC + past;
		break;
	case IBV_QP_MAX_DEST_RD_ATOMIC:
		attr->max_dest_rd_atomic = MOST_RD_ATOMIC + past;
		break;
	default:
		attr->en_sqd_async_notify = 1;
	}
}

void o2_verbs_step_modify(struct o2_verbs_world *world)
{
	struct o2_choice *c = world->choice;
	struct o2_verbs_qp *qp = &world->side[o2_draw(c, 1)].qp[o2_draw_pick(c, O2_VERBS_PAIRS)];
	struct ibv_qp_attr attr;
	enum ibv_qp_state to;
	int mask, must = 0, may = 0;

	if (qp->qp == NULL)
		return;
	draw_attr(world, qp, &attr);
	to = (enum ibv_qp_state)(o2_draw_bool(c, 2, 1)	    ? o2_draw(c, IBV_QPS_ERR)
				 : qp->state < IBV_QPS_RTS  ? qp->state + 1
				 : qp->state == IBV_QPS_RTS ? IBV_QPS_SQD
							    : IBV_QPS_RTS);
	needs_of(qp->type, qp->state, to, &must, &may);
	mask = must;
	for (int bit = 1; bit <= (int)IBV_QP_RATE_LIMIT; bit <<= 1)
		if (may & bit && o2_draw_bool(c, 1, 1))
			mask |= bit;
	if (o2_draw_bool(c, 4, 1))
		mask ^= 1 << o2_draw(c, 25); /* one attribute too many or too few */
	if (o2_draw_bool(c, 3, 1))
		spoil(world, &attr, o2_draw_bool(c, 2, 1) ? ~mask : mask);
	attr.cur_qp_state = o2_draw_bool(c, 3, 1) ? (enum ibv_qp_state)o2_draw(c, IBV_QPS_ERR) : qp->state;
	attr.qp_state = to;
	if (to != qp->state || o2_draw_bool(c, 1, 1))
		mask |= IBV_QP_STATE;
	snprintf(world->text, sizeof(world->text), "modify %u.%u from %d to %d, mask 0x%x", qp->side,
		 qp->index, (int)qp->state, (int)to, (unsigned int)mask);
	modify(world, qp, &attr, mask);
}

void o2_verbs_end_pair(struct o2_verbs_world *world, struct o2_verbs_qp *qp)
{
	struct ibv_qp_attr attr = {.qp_state = IBV_QPS_ERR};

	modify(world, qp, &attr, IBV_QP_STATE);
}

/* Bring the queue pair from any state to RTS by valid changes; one with an extreme value may precede each. */
static void bring_up(struct o2_verbs_world *world, struct o2_verbs_qp *qp, struct ibv_qp_attr *attr)
{
	static const enum ibv_qp_state way[] = {IBV_QPS_RESET, IBV_QPS_INIT, IBV_QPS_RTR, IBV_QPS_RTS};

	for (size_t i = 0; i < sizeof(way) / sizeof(way[0]); i++) {
		int must = 0, may;

		if (i > 0)
			needs_of(qp->type, way[i - 1], way[i], &must, &may);
		attr->qp_state = way[i];
		if (o2_draw_bool(world->choice, 24, 1)) {
			struct ibv_qp_attr spoilt = *attr;

			spoil(world, &spoilt, o2_draw_bool(world->choice, 2, 1) ? ~must : must);
			if (modify(world, qp, &spoilt, must | IBV_QP_STATE))
				continue;
		}
		if (!modify(world, qp, attr, must | IBV_QP_STATE))
			return;
	}
}

void o2_verbs_connect(struct o2_verbs_world *world, uint32_t index)
{
	struct ibv_qp_attr attr[O2_VERBS_SIDES];

	for (uint32_t i = 0; i < O2_VERBS_SIDES; i++)
		if (world->side[i].qp[index].qp == NULL)
			return;
	snprintf(world->text, sizeof(world->text), "connect %u", index);
	for (uint32_t i = 0; i < O2_VERBS_SIDES; i++)
		draw_attr(world, &world->side[i].qp[index], &attr[i]);
	if (!o2_draw_bool(world->choice, 12, 1))
		attr[1].path_mtu = attr[0].path_mtu;
	attr[1].rq_psn = attr[0].rq_psn;
	attr[1].sq_psn = attr[0].rq_psn;
	for (uint32_t i = 0; i < O2_VERBS_SIDES; i++)
		bring_up(world, &world->side[i].qp[index], &attr[i]);
}

void o2_verbs_mend(struct o2_verbs_world *world)
{
	const uint32_t first = (uint32_t)o2_draw_pick(world->choice, O2_VERBS_PAIRS);

	for (uint32_t i = 0; i < O2_VERBS_PAIRS; i++) {
		const uint32_t index = (first + i) % O2_VERBS_PAIRS;

		if (world->side[0].qp[index].state == IBV_QPS_ERR ||
		    world->side[1].qp[index].state == IBV_QPS_ERR) {
			o2_verbs_connect(world, index);
			return;
		}
	}
}
