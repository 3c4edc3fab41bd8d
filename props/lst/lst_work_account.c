/* SPDX-License-Identifier: MIT */
#include "props/lst/lst_work.h"

#include <errno.h>

/* A model of what a node does for its tests: docs/lst.md, "Tests and batches", "The node" and "Counters". */

#define PAGE_BYTES 4096u
#define DEST_BYTES 12u
#define MAX_BYTES  1048576u

static bool may_be_asked(const struct o2_work *work, const struct o2_work_half *half)
{
	const uint32_t unit = work->features != 0 ? 8 : PAGE_BYTES;
	const uint32_t rest = half->length_bytes % PAGE_BYTES;

	if (!half->is_brw)
		return true;
	return half->length_bytes >= unit && half->length_bytes <= MAX_BYTES &&
	       half->length_bytes % unit == 0 && half->offset % 8 == 0 &&
	       half->offset <= (rest == 0 ? 0 : PAGE_BYTES - rest);
}

static bool runs(const struct o2_work *work, uint32_t batch)
{
	for (uint32_t i = 0; i < work->nhalves; i++)
		if (work->half[i].there && work->half[i].batch == batch && work->half[i].active > 0)
			return true;
	return false;
}

/* Count an allocation of the node.  True: it fails. */
static bool is_lacking(struct o2_work *work)
{
	return work->nth > 0 && --work->nth == 0;
}

uint32_t o2_work_add(struct o2_work *work, struct o2_work_half *half)
{
	const uint32_t units = half->is_client ? half->asked.tsr_ndest * half->asked.tsr_concur : 0;

	if (!work->made[half->batch] && (work->nbatches == work->config.max_batches || is_lacking(work)))
		return ENOMEM;
	work->nbatches += !work->made[half->batch];
	work->made[half->batch] = true;
	if (runs(work, half->batch))
		return EBUSY;
	if (half->is_client) {
		/* The allocation for the list, which succeeds: see o2_work_answers. */
		(void)is_lacking(work);
		work->fetched_bytes += (uint64_t)half->asked.tsr_ndest * DEST_BYTES;
	}
	if (half->is_client && !may_be_asked(work, half))
		return EINVAL;
	if (work->nadded == work->config.max_tests || is_lacking(work) ||
	    units > work->config.max_units - work->nunits)
		return ENOMEM;
	if (half->is_client && is_lacking(work))
		return ENOMEM;
	if (half->is_client && !half->is_brw)
		work->next_ping = work->not_pinged = 0;
	work->nadded++;
	work->nunits += units;
	half->there = true;
	return 0;
}

bool o2_work_answers(const struct o2_work *work, const struct o2_work_half *half)
{
	const bool makes = !work->made[half->batch] && work->nbatches < work->config.max_batches;

	return !half->is_client || work->nth != 1 + (uint32_t)makes;
}

static uint32_t pages_of(const struct o2_work_half *half)
{
	return half->is_brw ? (half->offset + half->length_bytes + PAGE_BYTES - 1) / PAGE_BYTES : 0;
}

/* An RPC has an id for its reply, and one for its bulk. */
static uint32_t ids_of(const struct o2_work_half *half)
{
	return half->is_brw ? 2 : 1;
}

uint64_t o2_work_id_after(uint64_t id, uint64_t skipped)
{
	const uint64_t next = id + skipped;

	return next == 0 || next < id ? next + 1 : next;
}

static void note_error(struct o2_work *work, const struct o2_work_half *half)
{
	work->brw_errors += half->is_brw;
	work->ping_errors += !half->is_brw;
}

static void end_unit(struct o2_work_unit *unit)
{
	unit->ended = true;
	unit->half->active--;
}

/* Units that wait start in order, until one finds no room.  A unit whose destination is absent ends. */
static void pump(struct o2_work *work)
{
	for (uint32_t i = 0; i < work->nqueue; i++) {
		struct o2_work_unit *unit = &work->queue[i];
		const uint32_t pages = pages_of(unit->half);
		bool lacks;

		if (unit->ended || unit->trying)
			continue;
		if (work->calls == work->config.max_calls || work->pages + pages > work->config.client_pages)
			return;
		/* Memory for pages is allocated first; an absent destination is found only when the RPC is sent. */
		lacks = pages > 0 && is_lacking(work);
		if (lacks || unit->absent) {
			work->ids_unsent -= lacks && unit->absent ? ids_of(unit->half) : 0;
			note_error(work, unit->half);
			end_unit(unit);
			continue;
		}
		unit->trying = true;
		work->calls++;
		work->pages += pages;
	}
}

uint32_t o2_work_run(struct o2_work *work, uint32_t batch)
{
	if (!work->made[batch])
		return ENOENT;
	if (runs(work, batch))
		return 0;
	for (uint32_t i = 0; i < work->nhalves; i++) {
		struct o2_work_half *half = &work->half[i];

		half->stopped &= half->batch != batch;
		for (uint32_t k = 0; half->there && half->is_client && half->batch == batch &&
				     k < half->asked.tsr_ndest * half->asked.tsr_concur;
		     k++) {
			work->queue[work->nqueue++] = (struct o2_work_unit){
				.half = half, .absent = half->absent[k / half->asked.tsr_concur]};
			half->active++;
			/* An absent node is found when the ping has its number. */
			work->not_pinged += !half->is_brw && half->absent[k / half->asked.tsr_concur];
			work->ids_unsent += half->absent[k / half->asked.tsr_concur] ? ids_of(half) : 0;
		}
	}
	pump(work);
	return 0;
}

uint32_t o2_work_shortens(const struct o2_work *work, uint32_t length_bytes)
{
	const uint32_t least = work->features != 0 ? 8 : PAGE_BYTES;

	return work->network == O2_WORK_SHORTENS && length_bytes > least ? least : 0;
}

/* Count one RPC of the unit, including the bytes that arrive. */
static void count_try(struct o2_work *work, const struct o2_work_half *half)
{
	work->tries++;
	if (work->network == O2_WORK_LOSES)
		return;
	work->pings += !half->is_brw;
	work->reads += half->is_brw && half->is_read;
	work->writes += half->is_brw && !half->is_read;
	work->bytes += half->is_brw ? half->length_bytes - o2_work_shortens(work, half->length_bytes) : 0;
}

static bool writes(const struct o2_work_unit *unit)
{
	return unit->trying && !unit->ended && unit->half->is_brw && !unit->half->is_read;
}

bool o2_work_writes(const struct o2_work *work, uint32_t batch)
{
	for (uint32_t i = 0; i < work->nqueue; i++)
		if (work->queue[i].half->batch == batch && writes(&work->queue[i]))
			return true;
	return false;
}

uint32_t o2_work_stop(struct o2_work *work, uint32_t batch, bool force)
{
	for (uint32_t i = 0; i < work->nhalves; i++)
		work->half[i].stopped |= work->half[i].batch == batch && work->half[i].active > 0;
	for (uint32_t i = 0; i < work->nqueue; i++) {
		struct o2_work_unit *unit = &work->queue[i];

		if (unit->ended || unit->half->batch != batch)
			continue;
		if (!unit->trying) {
			work->not_pinged -= !unit->half->is_brw && unit->absent;
			work->ids_unsent -= unit->absent ? ids_of(unit->half) : 0;
			end_unit(unit);
		} else if (force) {
			/* Its request has been sent: it ends when that has arrived. */
			count_try(work, unit->half);
			work->failed++;
			work->forced = true;
			work->kept |= writes(unit);
			unit->ended = true;
		}
	}
	if (!work->made[batch])
		return ENOENT;
	pump(work);
	return 0;
}

uint32_t o2_work_query(struct o2_work *work, uint32_t batch, uint32_t index, uint32_t *active)
{
	uint32_t count = 0;

	*active = 0;
	if (!work->made[batch])
		return ENOENT;
	for (uint32_t i = 0; i < work->nhalves; i++) {
		const struct o2_work_half *half = &work->half[i];

		if (!half->there || half->batch != batch)
			continue;
		if (index == 0)
			*active += half->active > 0;
		else if (++count == index)
			*active = half->active;
	}
	return index > count ? ENOENT : 0;
}

/* True if each RPC of the half fails in this round. */
static bool fails_now(const struct o2_work *work, const struct o2_work_half *half)
{
	const bool is_short = half->is_brw && o2_work_shortens(work, half->length_bytes) > 0;

	return half->fails || is_short || work->network == O2_WORK_LOSES;
}

void o2_work_finish(struct o2_work *work)
{
	const bool loses = work->network == O2_WORK_LOSES;

	for (uint32_t i = 0; i < work->nqueue; i++) {
		struct o2_work_unit *unit = &work->queue[i];
		struct o2_work_half *half = unit->half;
		const bool fails = fails_now(work, half);
		uint32_t times = half->asked.tsr_loop;

		if (unit->ended)
			continue;
		if (half->stopped || (fails && half->asked.tsr_stop_onerr != 0))
			times = 1;
		if (unit->absent) {
			note_error(work, half);
			times = 0;
		}
		for (; times > 0; times--) {
			count_try(work, half);
			/* Of a short write the server tells. */
			work->wrong += fails && !loses && half->is_read;
			work->failed += fails;
			/* What is lost after a stop is no error. */
			if (fails && !(loses && half->stopped))
				note_error(work, half);
		}
		unit->ended = true;
	}
	for (uint32_t i = 0; i < work->nhalves; i++)
		work->half[i].active = 0;
	/* All that could have a number have had one. */
	work->next_ping += work->not_pinged;
	work->next_id = o2_work_id_after(work->next_id, work->ids_unsent);
	work->not_pinged = work->ids_unsent = 0;
	work->nqueue = work->calls = work->pages = 0;
}

static void count(uint32_t *messages, uint64_t *bytes, uint64_t length)
{
	(*messages)++;
	*bytes += length;
}

/* Predict node B's LNet counters: a GET and its REPLY are two messages, one in each direction. */
void o2_work_letter(struct o2_work *work, const struct o2_letter *letter)
{
	struct o2_lst_lnet_counters *lnet = &work->lnet;
	const bool by_rdma = letter->kind != O2_LETTER_IMMEDIATE;
	const bool sent = letter->from == &work->the->lnet.b;
	const uint32_t type = letter->hdr.type;
	const uint64_t length = type == O2_LNET_GET ? letter->hdr.msg.get.sink_length - work->withheld
						    : letter->hdr.payload_length;

	if (type == O2_LNET_GET && !by_rdma)
		return;
	if (type != O2_LNET_PUT) {
		/* The REPLY goes in the opposite direction. */
		const bool answered = type == O2_LNET_REPLY ? sent : !sent;

		count(&lnet->lcc_send_count, &lnet->lcc_send_length, answered ? length : 0);
		count(&lnet->lcc_recv_count, &lnet->lcc_recv_length, answered ? 0 : length);
	} else if (sent) {
		count(&lnet->lcc_send_count, &lnet->lcc_send_length, length);
	} else {
		count(&lnet->lcc_recv_count, &lnet->lcc_recv_length, length);
	}
}
