/* SPDX-License-Identifier: MIT */
/* Gather and scatter lists: translation of keys and addresses to host memory. */
#include "loopverbs/internal.h"

uint32_t o2l_mtu_bytes(enum ibv_mtu mtu)
{
	return 128u << mtu;
}

/* A message of 0 bytes takes one packet. */
uint32_t o2l_packets(uint64_t length, uint32_t mtu_bytes)
{
	return length ? (uint32_t)((length + mtu_bytes - 1) / mtu_bytes) : 1;
}

void o2l_sgl_one(struct o2l_sgl *sgl, uint8_t *base, uint64_t length)
{
	sgl->segment[0] = (struct o2l_segment){base, length};
	sgl->count = 1;
	sgl->valid_bytes = length;
	sgl->status = IBV_WC_SUCCESS;
}

static uint64_t round_down(uint64_t value, uint32_t unit)
{
	return value - value % unit;
}

/*
 * Valid bytes of an entry whose first byte is byte `at` of the message, in whole pieces.  A piece ends where a
 * packet or the entry ends, and is checked as a unit.
 */
static uint64_t valid_pieces(const struct o2l_mr *mr, const struct ibv_sge *sge, uint64_t at,
			     uint32_t mtu_bytes)
{
	uint64_t inside, end;

	if (o2l_range_in(sge->addr, sge->length, mr->iova, mr->ibv.length))
		return sge->length;
	if (!o2l_range_in(sge->addr, 1, mr->iova, mr->ibv.length))
		return 0;
	inside = mr->ibv.length - (sge->addr - mr->iova);
	end = round_down(at + inside, mtu_bytes);
	return end > at ? end - at : 0;
}

/* Translate entries until length bytes are mapped, the list ends, or a fault occurs. */
static void map(const struct ibv_pd *pd, const struct ibv_sge *sges, uint32_t count, uint64_t length,
		unsigned int access, uint32_t mtu_bytes, struct o2l_sgl *sgl)
{
	uint64_t at = 0;

	sgl->count = 0;
	sgl->status = IBV_WC_SUCCESS;
	for (uint32_t i = 0; i < count && at < length; i++) {
		struct ibv_sge sge = sges[i];
		const struct o2l_mr *mr;
		uint64_t valid;

		if (sge.length == 0)
			continue; /* the key of an empty entry is not checked */
		if (sge.length > length - at)
			sge.length = (uint32_t)(length - at);
		mr = o2l_mr_by_lkey(pd, sge.lkey);
		if (!mr || (mr->access & access) != access) {
			sgl->status = IBV_WC_LOC_QP_OP_ERR;
			break;
		}
		valid = valid_pieces(mr, &sge, at, mtu_bytes);
		if (valid)
			sgl->segment[sgl->count++] =
				(struct o2l_segment){(uint8_t *)mr->ibv.addr + (sge.addr - mr->iova), valid};
		at += valid;
		if (valid < sge.length) {
			sgl->status = IBV_WC_LOC_PROT_ERR;
			break;
		}
	}
	sgl->valid_bytes = at;
}

void o2l_sgl_gather(const struct ibv_pd *pd, const struct ibv_sge *sges, uint32_t count, uint64_t length,
		    uint32_t mtu_bytes, struct o2l_sgl *sgl)
{
	map(pd, sges, count, length, 0, mtu_bytes, sgl);
	if (sgl->status != IBV_WC_SUCCESS)
		sgl->valid_bytes = round_down(sgl->valid_bytes, mtu_bytes);
}

void o2l_sgl_scatter(const struct ibv_pd *pd, const struct ibv_sge *sges, uint32_t count, uint64_t length,
		     uint32_t mtu_bytes, struct o2l_sgl *sgl)
{
	uint64_t room = 0;

	for (uint32_t i = 0; i < count; i++)
		room += sges[i].length;
	if (room >= length) {
		map(pd, sges, count, length, IBV_ACCESS_LOCAL_WRITE, mtu_bytes, sgl);
		return;
	}
	/* A packet that does not fit is refused before any of it is written. */
	map(pd, sges, count, round_down(room, mtu_bytes), IBV_ACCESS_LOCAL_WRITE, mtu_bytes, sgl);
	if (sgl->status == IBV_WC_SUCCESS)
		sgl->status = IBV_WC_LOC_QP_OP_ERR;
}

/* Source and sink may overlap.  The result is then up to the program, but the copy is well-defined. */
void o2l_sgl_copy(const struct o2l_sgl *to, const struct o2l_sgl *from, uint64_t length)
{
	uint32_t t = 0, f = 0;
	size_t t_at = 0, f_at = 0;

	o2l_fabric.counters.data_bytes += length;
	while (length) {
		size_t t_room = to->segment[t].length - t_at;
		size_t f_room = from->segment[f].length - f_at;
		size_t n = t_room < f_room ? t_room : f_room;
		uint8_t *to_place, *from_place;

		if (n > length)
			n = length;
		to_place = o2l_gaps_resolve(to->segment[t].base + t_at, &n);
		from_place = o2l_gaps_resolve(from->segment[f].base + f_at, &n);
		memmove(to_place, from_place, n);
		length -= n;
		t_at += n;
		f_at += n;
		if (t_at == to->segment[t].length) {
			t++;
			t_at = 0;
		}
		if (f_at == from->segment[f].length) {
			f++;
			f_at = 0;
		}
	}
}
