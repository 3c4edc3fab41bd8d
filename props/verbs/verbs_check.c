/* SPDX-License-Identifier: MIT */
/* Compares what the devices report with the prediction. */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "props/verbs/verbs_internal.h"

static void fail(struct o2_verbs_world *world, const char *kind, const char *what, int64_t found,
		 int64_t expected)
{
	char signature[64];

	if (world->report->failed)
		return;
	snprintf(signature, sizeof(signature), "verbs/%s", kind);
	o2_report_fail(world->report, signature, "%s: %" PRId64 ", foretold %" PRId64, what, found, expected);
	o2_report_add(world->report, "step %" PRIu32 ": %s", world->step, world->text);
}

void o2_verbs_expect(struct o2_verbs_world *world, const char *what, int64_t found, int64_t expected)
{
	if (found != expected)
		fail(world, "result", what, found, expected);
}

bool o2_verbs_made(struct o2_verbs_world *world, const char *what, const void *object, int error)
{
	o2_verbs_expect(world, what, object == NULL ? errno : 0, error);
	return object != NULL && error == 0;
}

bool o2_verbs_destroyed(struct o2_verbs_world *world, const char *what, int found, int error)
{
	o2_verbs_expect(world, what, found, error);
	if (error != 0)
		o2_verbs_saw(world, O2_VERBS_SEEN_BUSY);
	return error == 0;
}

uint64_t o2_verbs_sum(const uint8_t *bytes, uint64_t count)
{
	uint64_t sum = UINT64_C(0xcbf29ce484222325);

	for (uint64_t i = 0; i < count && i < O2_LOOP_SEEN_BYTES; i++)
		sum = (sum ^ bytes[i]) * UINT64_C(0x100000001b3);
	return sum;
}

void o2_verbs_check_wc(struct o2_verbs_world *world, const struct ibv_wc *found,
		       const struct ibv_wc *expected)
{
	const struct {
		const char *name;
		uint64_t found, expected;
	} fields[] = {
		{"wr_id", found->wr_id, expected->wr_id},
		{"status", found->status, expected->status},
		{"opcode", found->opcode, expected->opcode},
		{"byte_len", found->byte_len, expected->byte_len},
		{"qp_num", found->qp_num, expected->qp_num},
		{"src_qp", found->src_qp, expected->src_qp},
		{"wc_flags", found->wc_flags, expected->wc_flags},
		{"imm_data", found->imm_data, expected->imm_data},
	};

	for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++)
		if (fields[i].found != fields[i].expected)
			fail(world, "completion", fields[i].name, (int64_t)fields[i].found,
			     (int64_t)fields[i].expected);
}

static void check_counters(struct o2_verbs_world *world)
{
	struct o2_loop_counters found;
	const struct o2_loop_counters *e = &world->counters;

	o2_loop_get_counters(&found);
#define SAME(field)                  \
	if (found.field != e->field) \
	fail(world, "counter", #field, (int64_t)found.field, (int64_t)e->field)
	SAME(posted_sends);
	SAME(posted_recvs);
	SAME(sends);
	SAME(writes);
	SAME(reads);
	SAME(atomics);
	SAME(binds);
	SAME(invalidates);
	SAME(data_bytes);
	SAME(packets);
	SAME(refused_access);
	SAME(local_errors);
	SAME(flushed);
	SAME(rnr_waits);
	SAME(lost);
	SAME(completions);
	SAME(overruns);
	SAME(registrations);
	SAME(clock_ns);
	SAME(live_contexts);
	SAME(live_pds);
	SAME(live_mrs);
	SAME(live_mws);
	SAME(live_cqs);
	SAME(live_channels);
	SAME(live_qps);
	SAME(live_srqs);
	SAME(live_ahs);
#undef SAME
}

static void check_taps(struct o2_verbs_world *world)
{
	if (world->device_log.taps != world->log.taps) {
		fail(world, "tap", "messages told", world->device_log.taps, world->log.taps);
		return;
	}
	for (uint32_t i = 0; i < world->log.taps && i < O2_VERBS_LOG; i++) {
		const struct o2_verbs_tapped *found = &world->device_log.tap[i];
		const struct o2_verbs_tapped *expected = &world->log.tap[i];

		if (found->from != expected->from || found->to != expected->to ||
		    found->is_write != expected->is_write || found->bytes != expected->bytes ||
		    found->at != expected->at || found->rkey != expected->rkey ||
		    found->seen != expected->seen || found->sum != expected->sum)
			fail(world, "tap", "message", (int64_t)found->sum, (int64_t)expected->sum);
	}
}

static void check_picks(struct o2_verbs_world *world)
{
	if (world->device_log.picks != world->log.picks) {
		fail(world, "order", "times that the order was asked for", world->device_log.picks,
		     world->log.picks);
		return;
	}
	for (uint32_t i = 0; i < world->log.picks && i < O2_VERBS_LOG; i++) {
		const struct o2_verbs_picked *found = &world->device_log.pick[i];
		const struct o2_verbs_picked *expected = &world->log.pick[i];

		if (found->count != expected->count ||
		    memcmp(found->number, expected->number, expected->count * sizeof(found->number[0])) != 0)
			fail(world, "order", "queue pairs that can run", found->count, expected->count);
	}
}

static void check_side(struct o2_verbs_world *world, const struct o2_verbs_side *side)
{
	uint32_t i = 0;

	if (side->events == O2_VERBS_EVENTS)
		o2_choice_reject(world->choice); /* more than the model can store */
	if (memcmp(side->arena, side->model, O2_VERBS_ARENA_BYTES) != 0) {
		while (side->arena[i] == side->model[i])
			i++;
		fail(world, "bytes", "byte", side->arena[i], side->model[i]);
		o2_report_add(world->report, "at %" PRIu32 " of side %td", i, side - world->side);
	}
	for (i = 0; i < O2_VERBS_QUEUES; i++)
		if (side->cq[i].cq != NULL)
			o2_verbs_expect(world, "completions that wait", o2_loop_cq_entries(side->cq[i].cq),
					side->cq[i].count);
	for (i = 0; i < O2_VERBS_PAIRS; i++)
		if (side->qp[i].qp != NULL)
			o2_verbs_expect(world, "requests that wait",
					o2_loop_sends_waiting(side->qp[i].number), side->qp[i].sends);
	for (i = 0; i < O2_VERBS_REGIONS; i++)
		if (side->region[i].mr != NULL) {
			o2_verbs_expect(world, "lkey", side->region[i].mr->lkey, side->region[i].key);
			o2_verbs_expect(world, "rkey", side->region[i].mr->rkey, side->region[i].rkey);
		}
}

void o2_verbs_check(struct o2_verbs_world *world)
{
	check_picks(world);
	check_taps(world);
	for (uint32_t i = 0; i < O2_VERBS_SIDES; i++)
		check_side(world, &world->side[i]);
	check_counters(world);
	if (world->device_hook.numbers != world->hook.numbers)
		fail(world, "fault", "queue pairs that calls named", (int64_t)world->device_hook.numbers,
		     (int64_t)world->hook.numbers);
	world->device_log.taps = world->device_log.picks = 0;
	world->log.taps = world->log.picks = 0;
}

void o2_verbs_query(struct o2_verbs_world *world, struct o2_verbs_qp *qp)
{
	const struct o2_verbs_side *side = &world->side[qp->side];
	const struct ibv_qp_attr *e = &qp->attr;
	struct ibv_qp_init_attr init;
	struct ibv_qp_attr attr;

	o2_verbs_expect(world, "ibv_query_qp", ibv_query_qp(qp->qp, &attr, IBV_QP_STATE, &init), 0);
	o2_verbs_run(world);
#define SAME(field, expected) o2_verbs_expect(world, #field, (int64_t)(field), (int64_t)(expected))
	SAME(attr.qp_state, qp->state);
	SAME(attr.cur_qp_state, qp->state);
	SAME(qp->qp->state, qp->state);
	SAME(attr.sq_draining, qp->state == IBV_QPS_SQD && qp->begun);
	SAME(attr.sq_psn, qp->sq_psn);
	SAME(attr.rq_psn, qp->rq_psn);
	SAME(attr.path_mtu, e->path_mtu);
	SAME(attr.qkey, e->qkey);
	SAME(attr.dest_qp_num, e->dest_qp_num);
	SAME(attr.qp_access_flags, e->qp_access_flags);
	SAME(attr.pkey_index, e->pkey_index);
	SAME(attr.port_num, e->port_num);
	SAME(attr.timeout, e->timeout);
	SAME(attr.retry_cnt, e->retry_cnt);
	SAME(attr.rnr_retry, e->rnr_retry);
	SAME(attr.min_rnr_timer, e->min_rnr_timer);
	SAME(attr.max_rd_atomic, e->max_rd_atomic);
	SAME(attr.max_dest_rd_atomic, e->max_dest_rd_atomic);
	SAME(attr.ah_attr.is_global, e->ah_attr.is_global);
	SAME(attr.ah_attr.port_num, e->ah_attr.port_num);
	SAME(attr.ah_attr.dlid, e->ah_attr.dlid);
	SAME(attr.ah_attr.sl, e->ah_attr.sl);
	SAME(attr.ah_attr.src_path_bits, e->ah_attr.src_path_bits);
	SAME(attr.ah_attr.static_rate, e->ah_attr.static_rate);
	SAME(attr.ah_attr.grh.sgid_index, e->ah_attr.grh.sgid_index);
	SAME(attr.ah_attr.grh.flow_label, e->ah_attr.grh.flow_label);
	SAME(attr.ah_attr.grh.hop_limit, e->ah_attr.grh.hop_limit);
	SAME(attr.ah_attr.grh.traffic_class, e->ah_attr.grh.traffic_class);
	SAME(memcmp(&attr.ah_attr.grh.dgid, &e->ah_attr.grh.dgid, sizeof(union ibv_gid)), 0);
	SAME(attr.cap.max_send_wr, qp->cap.max_send_wr);
	SAME(attr.cap.max_recv_wr, qp->cap.max_recv_wr);
	SAME(attr.cap.max_send_sge, qp->cap.max_send_sge);
	SAME(attr.cap.max_recv_sge, qp->cap.max_recv_sge);
	SAME(attr.cap.max_inline_data, qp->cap.max_inline_data);
	SAME(init.qp_type, qp->type);
	SAME(init.sq_sig_all, qp->sig_all);
	SAME(init.qp_context == side && qp->qp->qp_context == side, 1);
	SAME(init.send_cq == side->cq[qp->send_cq].cq, 1);
	SAME(init.recv_cq == side->cq[qp->recv_cq].cq, 1);
	SAME(init.srq == (qp->shared ? side->srq : NULL), 1);
	SAME(memcmp(&init.cap, &attr.cap, sizeof(init.cap)), 0);
#undef SAME
}
