/* SPDX-License-Identifier: MIT */
#ifndef TESTS_LOOPVERBS_TRACE_REQUESTS_H
#define TESTS_LOOPVERBS_TRACE_REQUESTS_H

/* Draws work requests: mostly good ones, and wrong ones of every kind.  Static, for trace.c. */

#include "tests/device/loopverbs/trace_batch.h"

/* Translates an offset in the arena into an address (iova) of region r. */
static uint64_t in_region(const struct side *s, const struct region *r, uint32_t offset)
{
	(void)s;
	return r->iova + (offset - r->offset);
}

/* Returns a region with these rights and at least this length, or NULL.  The search starts at random. */
static struct region *pick_sized(struct world *w, struct side *s, int access, uint32_t length)
{
	uint32_t start = draw(w, REGIONS);

	for (uint32_t i = 0; i < REGIONS; i++) {
		struct region *r = &s->region[(start + i) % REGIONS];

		if (r->mr && (r->access & access) == access && r->length >= length)
			return r;
	}
	return NULL;
}

static struct region *pick_region(struct world *w, struct side *s, int access)
{
	return pick_sized(w, s, access, 0);
}

static struct window *pick_window(struct world *w, struct side *s, enum ibv_mw_type type,
				  enum window_state state)
{
	uint32_t start = draw(w, WINDOWS);

	for (uint32_t i = 0; i < WINDOWS; i++) {
		struct window *v = &s->window[(start + i) % WINDOWS];

		if (v->mw && v->mw->type == type && v->state == state)
			return v;
	}
	return NULL;
}

/* Draws a length of at most max: often small, sometimes at the edge of a packet, sometimes any. */
static uint32_t draw_length(struct world *w, uint32_t max)
{
	static const uint32_t edges[] = {1, 1023, 1024, 1025, 4095, 4096, 4097, 8192, 8193};
	uint32_t length;

	switch (draw(w, 4)) {
	case 0:
		length = edges[draw(w, sizeof(edges) / sizeof(edges[0]))];
		break;
	case 1:
		length = draw(w, max + 1);
		break;
	default:
		length = draw(w, 300);
	}
	return length < max ? length : max;
}

/* Draws valid entries of our own memory; returns their bytes, or 0 if no region has the rights. */
static uint32_t draw_sges(struct world *w, struct side *s, struct ibv_sge *sges, int *count, int access)
{
	uint32_t total = 0;

	*count = 0;
	for (uint32_t i = 0, n = 1 + draw(w, MAX_SGE); i < n; i++) {
		struct region *r = pick_region(w, s, access);
		uint32_t skip, length;

		if (!r)
			return 0;
		length = draw_length(w, r->length);
		skip = draw(w, r->length - length + 1);
		sges[(*count)++] = (struct ibv_sge){r->iova + skip, length, r->mr->lkey};
		total += length;
	}
	return total;
}

/* Draws a remote address and key for an access of length bytes; most are valid. */
static void draw_remote(struct world *w, struct side *peer, uint32_t length, int access, uint64_t *addr,
			uint32_t *rkey, const char **what)
{
	struct window *v = chance(w, 40) ? pick_window(w, peer, IBV_MW_TYPE_2, VALID) : NULL;
	struct region *r;

	if (!v && chance(w, 20))
		v = pick_window(w, peer, IBV_MW_TYPE_1, VALID);
	if (v && length > v->length && chance(w, 90))
		v = NULL;
	r = v ? &peer->region[v->region]
	      : pick_sized(w, peer, chance(w, 95) ? access : 0, chance(w, 95) ? length : 0);
	if (!r) {
		*addr = 0;
		*rkey = 0;
		*what = "key 0";
		return;
	}
	*rkey = v ? v->mw->rkey : r->mr->rkey;
	*addr = v ? in_region(peer, r, v->offset) : r->iova;
	*what = v ? "window" : "region";
	switch (draw(w, 24)) {
	case 0:
		*rkey ^= 1u + draw(w, 255); /* changes the key's low byte */
		*what = "wrong key";
		break;
	case 1: /* ends one byte before the region's end, at it, or one byte after it */
		*addr = r->iova + r->length - length + draw(w, 3) - 1;
		break;
	case 2:
		*addr = r->iova - draw(w, 2);
		break;
	default:
		if (!v && r->length > length)
			*addr += draw(w, r->length - length + 1);
	}
}

static void draw_write_or_read(struct world *w, struct side *s, struct side *peer, struct request *q,
			       enum ibv_wr_opcode opcode)
{
	bool read = opcode == IBV_WR_RDMA_READ;
	const char *what;
	uint32_t length = draw_sges(w, s, q->sges, &q->wr.num_sge, read ? IBV_ACCESS_LOCAL_WRITE : 0);

	q->wr.opcode = opcode;
	q->wr.imm_data = (uint32_t)draw64(w);
	draw_remote(w, peer, length, read ? IBV_ACCESS_REMOTE_READ : IBV_ACCESS_REMOTE_WRITE,
		    &q->wr.wr.rdma.remote_addr, &q->wr.wr.rdma.rkey, &what);
	printf("%u remote %s\n", w->op, what);
}

static void draw_atomic(struct world *w, struct side *s, struct side *peer, struct request *q)
{
	struct region *r = pick_region(w, peer, IBV_ACCESS_REMOTE_ATOMIC),
		      *own = pick_region(w, s, IBV_ACCESS_LOCAL_WRITE);

	if (!r || !own || r->length < 16 || own->length < 8) {
		draw_write_or_read(w, s, peer, q, IBV_WR_RDMA_WRITE);
		return;
	}
	q->wr.opcode = chance(w, 50) ? IBV_WR_ATOMIC_CMP_AND_SWP : IBV_WR_ATOMIC_FETCH_AND_ADD;
	q->sges[0] = (struct ibv_sge){own->iova + draw(w, own->length - 7), 8, own->mr->lkey};
	q->wr.num_sge = 1;
	q->wr.wr.atomic.remote_addr = (r->iova + 7) & ~UINT64_C(7);
	q->wr.wr.atomic.rkey = r->mr->rkey;
	q->wr.wr.atomic.compare_add = draw64(w);
	q->wr.wr.atomic.swap = draw64(w);
}

/* Draws a bind of a free type 2 window that must succeed; false if no window or region is available. */
static bool draw_bind(struct world *w, struct side *s, struct request *q)
{
	struct window *v = pick_window(w, s, IBV_MW_TYPE_2, FREE);
	struct region *r = pick_region(w, s, IBV_ACCESS_MW_BIND | IBV_ACCESS_LOCAL_WRITE);
	uint32_t length;

	if (!v || !r)
		return false;
	length = 1 + draw(w, r->length);
	q->wr.opcode = IBV_WR_BIND_MW;
	q->window = v;
	q->bound = *v;
	q->bound.state = VALID;
	q->bound.region = (uint32_t)(r - s->region);
	q->bound.length = length;
	q->bound.offset = r->offset + draw(w, r->length - length + 1);
	q->bound.access =
		chance(w, 80) ? IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ : IBV_ACCESS_REMOTE_READ;

	q->new_rkey = ibv_inc_rkey(v->mw->rkey);
	q->wr.send_flags |= IBV_SEND_SIGNALED;
	q->wr.bind_mw.mw = v->mw;
	q->wr.bind_mw.rkey = q->new_rkey;
	q->wr.bind_mw.bind_info =
		(struct ibv_mw_bind_info){r->mr, in_region(s, r, q->bound.offset), length, q->bound.access};
	return true;
}

/*
 * Invalidates a bound window: ours by LOCAL_INV, the peer's by SEND_INV; never one that may already be free.
 */
static bool draw_invalidate(struct world *w, struct side *owner, struct request *q, enum ibv_wr_opcode opcode)
{
	struct window *v = pick_window(w, owner, IBV_MW_TYPE_2, VALID);

	if (!v)
		return false;
	q->wr.opcode = opcode;
	q->window = v;
	q->wr.invalidate_rkey = v->mw->rkey;
	q->wr.send_flags |= IBV_SEND_SIGNALED;
	return true;
}

static void draw_send(struct world *w, struct side *s, struct request *q)
{
	draw_sges(w, s, q->sges, &q->wr.num_sge, 0);
	q->wr.opcode = chance(w, 50) ? IBV_WR_SEND : IBV_WR_SEND_WITH_IMM;
	q->wr.imm_data = (uint32_t)draw64(w);
}

/* Changes the first request so that it fails on its own side; false if its kind cannot. */
static bool spoil_locally(struct world *w, struct side *s, struct request *q)
{
	struct region *r;

	switch (q->wr.opcode) {
	case IBV_WR_LOCAL_INV:
		q->window = NULL;
		q->wr.invalidate_rkey ^= 1u + draw(w, 255);
		return true;
	case IBV_WR_BIND_MW:
		if (chance(w, 50))
			q->wr.bind_mw.bind_info.length = 0;
		else
			q->wr.bind_mw.bind_info.length += ARENA_BYTES;
		return true;
	case IBV_WR_RDMA_WRITE:
	case IBV_WR_SEND:
	case IBV_WR_RDMA_READ:
		if (q->wr.num_sge == 0 || q->sges[0].length == 0)
			return false;
		r = pick_region(w, s, 0);
		if (chance(w, 50) || !r)
			q->sges[0].lkey ^= 1u + draw(w, 255);
		else
			q->sges[0] = (struct ibv_sge){r->iova + r->length - q->sges[0].length + 1,
						      q->sges[0].length, r->mr->lkey};
		return true;
	default:
		return false;
	}
}

static uint32_t request_length(const struct request *q)
{
	uint32_t length = 0;

	for (int i = 0; i < q->wr.num_sge; i++)
		length += q->sges[i].length;
	return length;
}

/*
 * Draws one request of a batch.  recvs: receives that the peer will have left for it.  retrying: an earlier
 * request of the batch will be retried, because the peer has failed or has no receive.  Devices differ in
 * when they execute a bind or an invalidate behind such a request, so none is drawn then.
 */
static void draw_request(struct world *w, struct side *s, struct side *peer, struct request *q,
			 uint32_t recvs, bool retrying)
{
	switch (retrying ? 11 : draw(w, 12)) {
	case 0:
	case 1:
		if (draw_bind(w, s, q))
			return;
		break;
	case 2:
		if (draw_invalidate(w, s, q, IBV_WR_LOCAL_INV))
			return;
		break;
	case 3:
		if (recvs && draw_invalidate(w, peer, q, IBV_WR_SEND_WITH_INV))
			return;
		break;
	case 4:
	case 5:
	case 6:
		/* Send without a receive only if RNR retries are finite (7: infinite). */
		if (recvs || (w->rnr_retry != 7 && chance(w, 20))) {
			draw_send(w, s, q);
			return;
		}
		break;
	case 7:
		if (recvs) {
			draw_write_or_read(w, s, peer, q, IBV_WR_RDMA_WRITE_WITH_IMM);
			return;
		}
		break;
	case 8:
		draw_atomic(w, s, peer, q);
		return;
	case 9:
	case 10:
		draw_write_or_read(w, s, peer, q, IBV_WR_RDMA_READ);
		return;
	default:
		break;
	}
	draw_write_or_read(w, s, peer, q, IBV_WR_RDMA_WRITE);
}

#endif
