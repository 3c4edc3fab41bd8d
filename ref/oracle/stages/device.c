/* SPDX-License-Identifier: MIT */
#include "base/fields.h"
#include "lnd/conn/qp.h"
#include "oracle/stage_ops.h"
#include "reg/plan.h"

/*
 * Stage device: the registration modes that a device's capabilities allow, the mode that a transfer gets, and
 * the sizes of a connection's queues (docs/oracle.md, "A device").
 */

#define IN(name_, kind_, member_)                                         \
	{                                                                 \
		O2_FIELD(name_, kind_, struct o2_impl_device_in, member_) \
	}

static const char *const preferences[] = {"threshold", "mapping"};

static const struct o2_field question_fields[] = {
	IN("global", BOOL, global),
	IN("fmr", BOOL, fmr),
	IN("fastreg", BOOL, fastreg),
	IN("gaps", BOOL, gaps),
	IN("max_sge", UINT, max_sge),
	IN("max_qp_wr", UINT, max_qp_wr),
	IN("max_cqe", UINT, max_cqe),
	{O2_FIELD("preference", NAME, struct o2_impl_device_in, preference), .names = preferences,
	 .limit = 2},
	IN("map_on_demand", UINT, map_on_demand),
	IN("use_gaps", BOOL, use_gaps),
	IN("segments", UINT, segments),
	IN("ibm_version", UINT, ibm_version),
	IN("queue_depth", UINT, queue_depth),
	IN("max_frags", UINT, max_frags),
	IN("wrq_sge", UINT, wrq_sge),
	IN("peer_tx_credits", UINT, peer_tx_credits),
	IN("concurrent_sends", UINT, concurrent_sends),
	{0},
};

#define OUT(name_, member_)                                                         \
	{                                                                           \
		O2_FIELD("device." name_, UINT, struct o2_impl_device_out, member_) \
	}

#define USABLE(name_, MODE)                                                        \
	{                                                                          \
		O2_FIELD("device." name_, BIT, struct o2_impl_device_out, usable), \
			.limit = 1u << O2_REG_##MODE                               \
	}

static const struct o2_field result_fields[] = {
	USABLE("global", GLOBAL),
	USABLE("fmr", FMR),
	USABLE("fastreg", FASTREG),
	USABLE("user", USER),
	USABLE("phys", PHYS),
	USABLE("fastreg_gaps", FASTREG_GAPS),
	{O2_FIELD("device.mode", NAME, struct o2_impl_device_out, mode), .names = o2_reg_mode_names,
	 .limit = O2_REG_MODES},
	OUT("queue_depth", queue_depth),
	OUT("concurrent_sends", concurrent_sends),
	OUT("send_wrs", send_wrs),
	OUT("recv_wrs", recv_wrs),
	OUT("cq_entries", cq_entries),
	{0},
};

O2_STAGE_CALL(device, device)

static void put(const struct o2_case *asked, struct o2_impl_slot *slot)
{
	slot->in->device = asked->device;
}

static void get(const struct o2_case *asked, struct o2_impl_slot *slot, struct o2_answer *answer)
{
	(void)asked;
	answer->device = slot->out->device;
	o2_result_is_legal(result_fields, &answer->device, answer);
}

/* The JSON form has only the bits of modes; the reader of the fields leaves the others as they were. */
static int result_from_json(const struct o2_case *asked, const json_t *member, struct o2_answer *answer,
			    struct o2_error *error)
{
	(void)asked;
	(void)member;
	(void)error;
	answer->device.usable &= (1u << O2_REG_MODES) - 1;
	return 0;
}

static uint32_t usable(const struct o2_reg_caps *caps)
{
	uint32_t modes = 0;

	for (uint32_t mode = 0; mode < O2_REG_MODES; mode++)
		if (o2_reg_caps_permit(caps, (enum o2_reg_mode)mode))
			modes |= 1u << mode;
	return modes;
}

static int reference(const struct o2_case *asked, struct o2_answer *answer, struct o2_error *error)
{
	const struct o2_impl_device_in *in = &asked->device;
	const struct o2_reg_caps caps = {
		.global = in->global, .fmr = in->fmr, .fastreg = in->fastreg, .gaps = in->gaps};
	const struct o2_reg_policy policy = {.preference = (enum o2_reg_preference)in->preference,
					     .map_on_demand = in->map_on_demand,
					     .use_gaps = in->use_gaps};
	const struct o2_qp_device device = {
		.max_sge = in->max_sge, .max_wr = in->max_qp_wr, .max_cqe = in->max_cqe};
	struct o2_conn_config config = O2_CONN_DEFAULTS;
	struct o2_flow_tunables flow;
	enum o2_reg_mode mode;
	int rc = o2_reg_choose(&caps, &policy, in->segments, &mode, error);

	config.version = in->ibm_version <= UINT16_MAX ? (uint16_t)in->ibm_version : 0;
	config.queue_depth = in->queue_depth;
	config.max_frags = in->max_frags;
	config.wrq_sge = in->wrq_sge;
	config.peer_tx_credits = in->peer_tx_credits;
	config.concurrent_sends = in->concurrent_sends;
	if (rc == 0)
		rc = o2_qp_fit_device(&device, &config, &flow, error);
	if (rc != 0)
		return rc;
	answer->device = (struct o2_impl_device_out){
		.usable = usable(&caps),
		.mode = mode,
		.queue_depth = config.queue_depth,
		.concurrent_sends = flow.concurrent_sends,
		.send_wrs = o2_qp_send_wrs(&config, &flow),
		.recv_wrs = o2_qp_recv_wrs(&config),
		.cq_entries = o2_qp_cq_entries(&config, &flow),
	};
	return 0;
}

static void compare(struct o2_comparison *comparison, const struct o2_case *asked,
		    const struct o2_answer *expected, const struct o2_answer *found)
{
	const struct o2_impl_device_out *e = &expected->device, *f = &found->device;

	(void)asked;
	for (uint32_t mode = 0; mode < O2_REG_MODES; mode++)
		o2_expect(comparison, O2_CHECK_DEVICE_USABLE, o2_reg_mode_names[mode], O2_NO_INDEX,
			  e->usable >> mode & 1, f->usable >> mode & 1);
	/* A bit that stands for no mode. */
	o2_expect_hex(comparison, O2_CHECK_DEVICE_USABLE, "usable", O2_NO_INDEX, e->usable >> O2_REG_MODES,
		      f->usable >> O2_REG_MODES);
	o2_expect(comparison, O2_CHECK_DEVICE_MODE, "mode", O2_NO_INDEX, e->mode, f->mode);
	o2_expect(comparison, O2_CHECK_DEVICE_QUEUE_DEPTH, "queue_depth", O2_NO_INDEX, e->queue_depth,
		  f->queue_depth);
	o2_expect(comparison, O2_CHECK_DEVICE_CONCURRENT_SENDS, "concurrent_sends", O2_NO_INDEX,
		  e->concurrent_sends, f->concurrent_sends);
	o2_expect(comparison, O2_CHECK_DEVICE_SEND_WRS, "send_wrs", O2_NO_INDEX, e->send_wrs, f->send_wrs);
	o2_expect(comparison, O2_CHECK_DEVICE_RECV_WRS, "recv_wrs", O2_NO_INDEX, e->recv_wrs, f->recv_wrs);
	o2_expect(comparison, O2_CHECK_DEVICE_CQ_ENTRIES, "cq_entries", O2_NO_INDEX, e->cq_entries,
		  f->cq_entries);
}

const struct o2_stage_ops o2_stage_device = {
	O2_STAGE_OPS(device, O2_CHECK_DEVICE_REFUSED_LEGAL, O2_CHECK_DEVICE_ERRNO, O2_CHECK_DEVICE_RULE,
		     O2_CHECKS, O2_CHECKS),
	.request = "{\"form\":\"o2ref/device/input\",\"version\":1,\"global\":true,\"fmr\":true,\"fastreg\":"
		   "true,\"gaps\":false,\"max_sge\":16,\"max_qp_wr\":16384,\"max_cqe\":32768,\"preference\":"
		   "\"mapping\",\"map_on_demand\":1,\"use_gaps\":false,\"segments\":2,\"ibm_version\":18,"
		   "\"queue_depth\":8,\"max_frags\":256,\"wrq_sge\":2,\"peer_tx_credits\":0,"
		   "\"concurrent_sends\":0}",
	O2_STAGE_QUESTION(device),
	O2_STAGE_RESULT(device),
	.member = "device",
	.result_from_json = result_from_json,
	.compare = compare,
};
