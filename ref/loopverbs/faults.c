/* SPDX-License-Identifier: MIT */
/* Faults that a test injects, and state that it may inspect (docs/loopverbs.md, "Faults"). */
#include "loopverbs/internal.h"

int o2l_fault(enum o2_loop_call call, uint32_t qp_num)
{
	return o2l_fabric.fault ? o2l_fabric.fault(o2l_fabric.fault_arg, call, qp_num) : 0;
}

void o2_loop_set_fault(o2_loop_fault_fn fault, void *arg)
{
	o2l_lock();
	o2l_fabric.fault = fault;
	o2l_fabric.fault_arg = arg;
	o2l_unlock();
}

void o2_loop_set_tap(o2_loop_tap_fn tap, void *arg)
{
	o2l_lock();
	o2l_fabric.tap = tap;
	o2l_fabric.tap_arg = arg;
	o2l_unlock();
}

/* Overwrite the memory of a posted receive: its owner must not rely on the content. */
void o2l_scribble(const struct ibv_pd *pd, const struct ibv_recv_wr *wr)
{
	uint64_t length = 0;
	struct o2l_sgl to;
	uint8_t *place;
	size_t n;

	if (!o2l_fabric.option[O2_LOOP_SCRIBBLE])
		return;
	for (int i = 0; i < wr->num_sge; i++)
		length += wr->sg_list[i].length;
	o2l_sgl_scatter(pd, wr->sg_list, (uint32_t)wr->num_sge, length, O2L_PAGE_BYTES, &to);
	for (uint32_t i = 0; i < to.count; i++)
		for (size_t at = 0; at < to.segment[i].length; at += n) {
			n = to.segment[i].length - at;
			place = o2l_gaps_resolve(to.segment[i].base + at, &n);
			memset(place, 0xdb, n);
		}
}

/* The first `length` bytes of the data in one piece: in place if they are contiguous, else a copy. */
static const uint8_t *seen_bytes(const struct o2l_sgl *data, uint64_t length)
{
	static uint8_t copy[O2_LOOP_SEEN_BYTES]; /* static is safe: the lock is held */
	uint64_t have = 0;

	for (uint32_t i = 0; i < data->count && have < length; i++) {
		uint64_t in_segment = data->segment[i].length;

		for (uint64_t at = 0; at < in_segment && have < length;) {
			size_t n = in_segment - at < length - have ? in_segment - at : length - have;
			const uint8_t *place = o2l_gaps_resolve(data->segment[i].base + at, &n);

			if (n == length)
				return place;
			memcpy(copy + have, place, n);
			have += n;
			at += n;
		}
	}
	return copy;
}

void o2l_tell_tap(const struct o2l_qp *from, const struct o2l_qp *to, const struct o2l_send *wr,
		  const struct o2l_sgl *data)
{
	struct o2_loop_seen seen = {
		.from_qp = from->ibv.qp_num,
		.to_qp = to->ibv.qp_num,
		.is_write = wr->opcode == IBV_WR_RDMA_WRITE || wr->opcode == IBV_WR_RDMA_WRITE_WITH_IMM,
		.length_bytes = wr->length_bytes,
	};

	if (!o2l_fabric.tap)
		return;
	if (seen.is_write) {
		seen.addr = wr->remote_addr;
		seen.rkey = wr->rkey;
	} else {
		seen.bytes_seen =
			seen.length_bytes < O2_LOOP_SEEN_BYTES ? seen.length_bytes : O2_LOOP_SEEN_BYTES;
		seen.bytes = seen_bytes(data, seen.bytes_seen);
	}
	o2l_fabric.tap(o2l_fabric.tap_arg, &seen);
}

bool o2_loop_forge(uint32_t qp_num, const void *bytes, uint32_t length)
{
	const struct o2l_send wr = {.opcode = IBV_WR_SEND, .length_bytes = length};
	struct o2l_sgl data;
	const struct o2l_request request = {.wr = &wr, .data = &data, .mtu_bytes = O2L_PAGE_BYTES};
	enum ibv_wc_status ignored;
	struct o2l_qp *qp;
	bool arrived;

	o2l_lock();
	qp = o2l_index_get(&o2l_fabric.qps, qp_num);
	o2l_sgl_one(&data, (uint8_t *)(uintptr_t)bytes, length);
	arrived = qp && qp->ibv.qp_type != IBV_QPT_UD &&
		  (qp->state == IBV_QPS_RTR || qp->state == IBV_QPS_RTS) &&
		  o2l_respond_send(qp, &request, &ignored) == O2L_DONE;
	o2l_break_peer(qp);
	o2l_unlock();
	return arrived;
}

bool o2_loop_admits_write(uint32_t qp_num, uint32_t rkey, uint64_t addr, uint64_t length)
{
	const struct o2l_qp *qp;
	bool admitted;

	o2l_lock();
	qp = o2l_index_get(&o2l_fabric.qps, qp_num);
	admitted = qp && (qp->state == IBV_QPS_RTR || qp->state == IBV_QPS_RTS) &&
		   (qp->attr.qp_access_flags & IBV_ACCESS_REMOTE_WRITE) &&
		   o2l_remote_range(qp, rkey, addr, length, IBV_ACCESS_REMOTE_WRITE);
	o2l_unlock();
	return admitted;
}

uint32_t o2_loop_cq_entries(struct ibv_cq *ibv)
{
	uint32_t count;

	o2l_lock();
	count = O2L_CONTAINER(ibv, struct o2l_cq, ibv)->count;
	o2l_unlock();
	return count;
}

uint32_t o2_loop_sends_waiting(uint32_t qp_num)
{
	const struct o2l_qp *qp;
	uint32_t count;

	o2l_lock();
	qp = o2l_index_get(&o2l_fabric.qps, qp_num);
	count = qp ? qp->sq_count : 0;
	o2l_unlock();
	return count;
}

bool o2_loop_tick(void)
{
	bool fired;

	o2l_lock();
	fired = o2l_tick();
	o2l_unlock();
	return fired;
}
