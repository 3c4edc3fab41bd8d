/* SPDX-License-Identifier: MIT */
#include "lnd/conn/conn_internal.h"
#include "props/engine/prng.h"
#include "props/talk/explore_internal.h"
#include "wire/layout.h"

/*
 * The canonical state (docs/simulation.md, "Every order"): future behaviour depends on nothing else.
 * Transmits, messages and completions are identified by their operation, never by address, cookie, key or
 * slot number.  Totals of past events are left out.
 */

static void mix(uint64_t *hash, uint64_t value)
{
	*hash = o2_mix64(*hash ^ o2_mix64(value + 0x9e3779b97f4a7c15ull));
}

/* A name for the transmit: its operation.  All transmits of NOOPs have the same name. */
static uint64_t name_of(const struct o2_tx *tx)
{
	return tx->owner == O2_TX_NOOPS ? UINT32_MAX : (uint64_t)tx->owner << 32 | tx->tag;
}

static uint64_t hash_tx(const struct o2_tx *tx)
{
	uint64_t hash = name_of(tx);

	mix(&hash, (uint64_t)tx->list << 32 | (uint64_t)tx->type << 16 | (uint64_t)tx->op << 8 | tx->side);
	mix(&hash, (uint64_t)tx->silent << 3 | (uint64_t)tx->waiting << 2 | (uint64_t)tx->invalidating << 1 |
			   tx->gather);
	mix(&hash, (uint64_t)tx->status);
	mix(&hash, (uint64_t)tx->nsends << 32 | tx->posted_wrs[0]);
	mix(&hash, (uint64_t)(uint32_t)tx->fault.code << 32 | (tx->nsends > 1 ? tx->posted_wrs[1] : 0));
	mix(&hash, tx->nob);
	mix(&hash, (uint64_t)tx->binding.bound << 32 |
			   (tx->binding.frd == NULL ? O2_FRD_STATES : tx->binding.frd->key.state));
	return hash;
}

/* Number of work requests in the transmit's last post. */
static uint32_t last_post(const struct o2_tx *tx)
{
	if (tx->invalidating)
		return 1;
	return tx->nsends > 0 ? tx->posted_wrs[tx->nsends - 1] : 0;
}

/*
 * Active transmits are in posting order.  Those that posted the last `waiting` work requests are still to be
 * executed, in that order and with the credits already stored in their messages.  The order of the others does not
 * matter.
 */
static void mix_active(uint64_t *hash, const struct o2_conn *conn, uint32_t waiting)
{
	const struct o2_tx *tx;
	uint64_t sum = 0;

	TAILQ_FOREACH_REVERSE(tx, &conn->list[O2_LIST_ACTIVE], o2_tx_list, link) {
		uint64_t one = hash_tx(tx);

		if (waiting == 0) {
			sum += one;
			continue;
		}
		mix(hash, one);
		if (!tx->invalidating)
			mix(hash, ((const uint8_t *)tx->base.message)[O2_AT_CREDITS]);
		waiting -= last_post(tx) < waiting ? last_post(tx) : waiting;
	}
	mix(hash, sum);
}

/* Queued transmits: their order matters. */
static void mix_transmits(uint64_t *hash, const struct o2_conn *conn, uint32_t waiting)
{
	for (uint32_t list = 0; list < O2_TX_LISTS; list++) {
		const struct o2_tx *tx;

		mix(hash, conn->nlisted[list]);
		if (list == O2_LIST_ACTIVE)
			continue;
		TAILQ_FOREACH(tx, &conn->list[list], link)
			mix(hash, hash_tx(tx));
	}
	mix_active(hash, conn, waiting);
}

/* How far the peer is from having acknowledged the last NOOPs; only where the transport uses that. */
static void mix_noops(uint64_t *hash, const struct o2_credits *credits)
{
	if (3 * credits->high_water > credits->queue_depth)
		return;
	for (uint64_t i = 0; i < O2_OOB_MESSAGES && i < credits->giving_noops; i++) {
		uint64_t last = (credits->giving_noops - 1 - i) % O2_OOB_MESSAGES;
		uint64_t given = credits->credits_sent - credits->given_before[last];

		mix(hash, credits->granted < given ? 0 : credits->granted - given + 1);
	}
}

static void mix_numbers(uint64_t *hash, const struct o2_conn *conn)
{
	struct o2_conn_view view;

	o2_conn_view(conn, &view);
	mix(hash, (uint64_t)view.state << 48 | (uint64_t)view.flow.credits << 32 | view.flow.outstanding);
	mix(hash,
	    (uint64_t)view.flow.reserved << 48 | (uint64_t)view.flow.granted << 32 | view.flow.peer_requests);
	mix(hash, (uint64_t)view.flow.in_flight << 32 | view.flow.noops_in_flight);
	mix(hash, (uint64_t)view.puts_accepted << 48 | (uint64_t)view.parked << 32 | view.open);
	mix(hash, (uint64_t)view.send_wrs << 32 | view.recv_wrs);
	mix(hash, (uint64_t)conn->empty_noops << 32 | conn->invalidates_in_flight);
	mix_noops(hash, &conn->credits);
}

/* Completed requests of this end, in order. */
static void mix_sends(uint64_t *hash, const struct o2_explore_queue *queue)
{
	mix(hash, queue->count);
	for (uint32_t i = 0; i < queue->count; i++) {
		uint64_t id = queue->wc[i].wr_id;

		mix(hash, O2_WR_ID_WORK(id));
		mix(hash, name_of(O2_TX_OF(id)));
	}
}

/* Messages this end has sent and the other has not handled, in order. */
static void mix_messages(uint64_t *hash, const struct o2_sim_wire *wire)
{
	mix(hash, wire->count);
	for (uint32_t i = 0; i < wire->count; i++) {
		const struct o2_sim_message *message =
			&wire->on_the_way[(wire->first + i) % O2_SIM_ON_THE_WAY];

		mix(hash, (uint64_t)message->type << 48 | (uint64_t)message->credits << 32 | message->op);
	}
}

uint64_t o2_explore_hash(struct o2_explore_world *world)
{
	const struct o2_sim *sim = &world->sim;
	uint64_t hash = 0;

	for (uint32_t e = 0; e < 2; e++) {
		const struct o2_sim_end *end = &sim->end[e];
		uint32_t waiting = o2_loop_sends_waiting(end->qp_num);

		mix(&hash, waiting);
		mix_numbers(&hash, end->conn);
		mix_transmits(&hash, end->conn, waiting);
		mix_sends(&hash, &world->sends[e]);
		mix_messages(&hash, &end->wire);
		mix(&hash, world->next_op[e]);
	}
	for (uint32_t i = 0; i < sim->nops; i++) {
		const struct o2_sim_op *op = &sim->op[i];

		mix(&hash, (uint64_t)op->started << 4 | (uint64_t)op->ended << 3 |
				   (uint64_t)op->matched << 2 | (uint64_t)op->ended_there << 1 |
				   op->received);
	}
	return hash;
}

bool o2_explore_at_rest(struct o2_explore_world *world)
{
	return o2_loop_sends_waiting(world->sim.end[0].qp_num) +
		       o2_loop_sends_waiting(world->sim.end[1].qp_num) ==
	       0;
}
