/* SPDX-License-Identifier: MIT */
#include "tests/lib/lst_seat.h"

#include "lst/pattern.h"

static void reply_to(struct lst_seat *seat, uint64_t served, const struct o2_lst_msg *msg)
{
	struct o2_lst_msg reply = {.msg_type = msg->msg_type + 1, .msg_ses_feats = seat->features};
	const struct o2_lst_sid *says = seat->says[msg->msg_type];

	reply.u.reply.status = seat->status[msg->msg_type];
	if (o2_lst_service_of_type(msg->msg_type) < O2_LST_SERVICE_FRAMEWORK_END)
		reply.u.reply.sid = says != NULL ? *says : seat->sid;
	if (msg->msg_type == O2_LST_MKSN_REQST) {
		reply.u.mksn_reply.mksn_timeout = SEAT_TIMEOUT_S;
		strcpy(reply.u.mksn_reply.mksn_name.text, "another");
	} else if (msg->msg_type == O2_LST_STAT_REQST) {
		reply.u.stat_reply.str_rpc.rpcs_rcvd = seat->nasked;
	} else if (msg->msg_type == O2_LST_PING_REQST) {
		reply.u.ping_reply.pnr_magic = msg->u.ping_reqst.pnr_magic + seat->magic_more;
		reply.u.ping_reply.pnr_seq = msg->u.ping_reqst.pnr_seq + seat->seq_more;
	} else if (msg->msg_type == O2_LST_BATCH_REQST) {
		reply.u.batch_reply.bar_active = seat->active;
	}
	o2_lst_served_reply(seat->rpc, served, &reply);
}

static void change_session(struct lst_seat *seat, const struct o2_lst_msg *msg)
{
	if (seat->status[msg->msg_type] != 0)
		return;
	if (msg->msg_type == O2_LST_MKSN_REQST)
		seat->sid = msg->u.mksn_reqst.mksn_sid;
	if (msg->msg_type == O2_LST_RMSN_REQST)
		seat->sid = O2_LST_NO_SID;
}

static void move_bulk(struct lst_seat *seat, uint64_t served, const struct o2_lst_msg *msg)
{
	const struct o2_lst_brw_reqst *brw = &msg->u.brw_reqst;
	const struct o2_transfer_memory memory =
		lnet_side_memory(&seat->pair->b, 0, SEAT_BULK_PAGE, brw->brw_len - seat->bulk_less);
	uint8_t *bytes = o2_lnet_side_bytes(&seat->pair->b, SEAT_BULK_PAGE);

	for (uint32_t i = 0; i < brw->brw_len; i++)
		bytes[i] = seat->pattern == NULL ? 0 : seat->pattern[i % 8];
	if (brw->brw_rw == O2_LST_BRW_READ) {
		o2_lst_pattern_fill(bytes, brw->brw_len, 0, (enum o2_lst_brw_check)brw->brw_flags,
				    seat->order);
		assert_int_equal(o2_lst_served_put(seat->rpc, served, &memory), 0);
	} else {
		assert_int_equal(o2_lst_served_get(seat->rpc, served, &memory), 0);
	}
}

/* The list of a client half has one destination, which is not looked at. */
static void fetch_list(struct lst_seat *seat, uint64_t served)
{
	const struct o2_transfer_memory memory =
		lnet_side_memory(&seat->pair->b, 0, SEAT_BULK_PAGE, O2_LST_DEST_BYTES);

	assert_int_equal(o2_lst_served_get(seat->rpc, served, &memory), 0);
}

static void note_request(void *context, const struct o2_lst_request *request)
{
	struct lst_seat *seat = context;
	const struct o2_lst_msg *msg = request->msg;

	assert_true(seat->nasked < SEAT_ASKED);
	seat->moving[request->served % SEAT_SERVED] = &seat->asked[seat->nasked];
	seat->asked[seat->nasked++] = *msg;
	if (seat->silent[msg->msg_type]) {
		o2_lst_served_drop(seat->rpc, request->served, -EIO);
		return;
	}
	change_session(seat, msg);
	if (msg->msg_type == O2_LST_BRW_REQST && seat->status[O2_LST_BRW_REQST] == 0)
		move_bulk(seat, request->served, msg);
	else if (msg->msg_type == O2_LST_TEST_REQST && msg->u.test_reqst.tsr_is_client != 0)
		fetch_list(seat, request->served);
	else
		reply_to(seat, request->served, msg);
}

static void note_moved(void *context, uint64_t served, int status, uint64_t bytes)
{
	struct lst_seat *seat = context;
	const struct o2_lst_msg *msg = seat->moving[served % SEAT_SERVED];
	const struct o2_lst_brw_reqst *brw = &msg->u.brw_reqst;

	if (status != 0) {
		o2_lst_served_drop(seat->rpc, served, status);
		return;
	}
	if (msg->msg_type == O2_LST_TEST_REQST) {
		reply_to(seat, served, msg);
		return;
	}
	assert_int_equal(bytes, brw->brw_len - seat->bulk_less);
	if (brw->brw_rw == O2_LST_BRW_WRITE)
		assert_true(o2_lst_pattern_check(o2_lnet_side_bytes(&seat->pair->b, SEAT_BULK_PAGE),
						 brw->brw_len - seat->bulk_less, 0, O2_LST_CHECK_FULL,
						 msg->order, NULL));
	if (seat->harm != NULL)
		*seat->harm ^= 1;
	reply_to(seat, served, msg);
}

static void note_over(void *context, uint64_t served, int status)
{
}

static bool listen_done(void *rpc, const struct o2_lnet_result *result)
{
	return o2_lst_rpc_done(rpc, result);
}

static bool listen_event(void *rpc, const struct o2_lnet_event *event)
{
	return o2_lst_rpc_event(rpc, event);
}

struct o2_lst_rpc *lst_rpc_open(struct o2_lnet_side *side, const struct o2_lst_rpc_config *config)
{
	struct o2_lst_rpc *rpc = NULL;

	assert_int_equal(o2_lst_rpc_create(config, side->lnet, &side->arena, &side->clock, &rpc, NULL), 0);
	side->listener = rpc;
	side->listen_done = listen_done;
	side->listen_event = listen_event;
	return rpc;
}

void lst_seat_open(struct lst_seat *seat, struct o2_lnet_pair *pair, enum o2_byte_order order)
{
	static const struct o2_lst_service_ops ops = {note_request, note_moved, note_over};
	static const enum o2_lst_service services[] = {
		O2_LST_SERVICE_DEBUG, O2_LST_SERVICE_MAKE_SESSION, O2_LST_SERVICE_REMOVE_SESSION,
		O2_LST_SERVICE_BATCH, O2_LST_SERVICE_TEST,	   O2_LST_SERVICE_QUERY_STAT,
		O2_LST_SERVICE_BRW,   O2_LST_SERVICE_PING};
	struct o2_lst_rpc_config config = O2_LST_RPC_DEFAULTS;

	memset(seat, 0, sizeof(*seat));
	seat->pair = pair;
	seat->order = order;
	seat->sid = O2_LST_NO_SID;
	seat->features = O2_LST_FEATS_MASK;
	config.first_page = SEAT_RPC_PAGE;
	config.max_calls = 1;
	config.order = seat->order;
	config.max_served = SEAT_SERVED;
	seat->rpc = lst_rpc_open(&pair->b, &config);
	for (size_t i = 0; i < sizeof(services) / sizeof(services[0]); i++)
		assert_int_equal(o2_lst_serve(seat->rpc, services[i], &ops, seat, NULL), 0);
}

void lst_seat_close(struct lst_seat *seat)
{
	o2_lst_rpc_stop(seat->rpc, -ESHUTDOWN);
	assert_int_equal(o2_lst_rpc_active(seat->rpc), 0);
	o2_lst_rpc_destroy(seat->rpc);
	seat->pair->b.listener = NULL;
}

uint32_t lst_seat_count(const struct lst_seat *seat, uint32_t type)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < seat->nasked; i++)
		count += seat->asked[i].msg_type == type;
	return count;
}
