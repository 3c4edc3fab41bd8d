/* SPDX-License-Identifier: MIT */
#include "props/hostile/hostile_internal.h"
#include "props/world/witness.h"

/* The judge of the wire hears the liar's connection (docs/judge.md, "Misbehaviours"). */

#define TIMEOUT_MS   50000u
#define KEEPALIVE_MS 1000u

static void found(void *context, const struct o2_judge_finding *finding)
{
	struct o2_hostile_heard *heard = context;
	const struct o2_judge_view view = o2_judge_view(finding->conn);
	const uint64_t nid = view.nid[finding->who];
	/* A request that cannot be decoded has no NID: it is the liar's. */
	const bool by_liar = nid != O2_VICTIM_NID && nid != O2_FRIEND_NID;

	for (uint32_t i = 0; i < heard->count; i++)
		if (heard->broken[i].rule == finding->rule && heard->broken[i].by_liar == by_liar)
			return;
	if (heard->count == O2_HOSTILE_HEARD)
		return;
	heard->broken[heard->count].rule = finding->rule;
	heard->broken[heard->count++].by_liar = by_liar;
}

struct o2_witness *o2_hostile_listen(struct o2_hostile *h, struct o2_cm_loop *loop,
				     const struct o2_conn_peer *liar, struct o2_hostile_heard *heard)
{
	const struct o2_judge_options options = {.timeout_ms = TIMEOUT_MS, .keepalive_ms = KEEPALIVE_MS};
	struct o2_witness *witness;
	struct o2_conn_address victim;

	if (heard == NULL)
		return NULL;
	witness = o2_witness_ask(loop, &h->now_ms, &options, found, heard);
	if (witness == NULL || liar == NULL)
		return witness;
	o2_conn_get_address(h->victim.liar.conn, &victim);
	o2_witness_connected(witness, (const uint32_t[]){h->liar.qp->qp_num, victim.qp_num},
			     &(struct o2_judge_terms){.nid = {liar->nid, O2_VICTIM_NID},
						      .stamp = {liar->incarnation, O2_VICTIM_STAMP},
						      .version = liar->version,
						      .queue_depth = liar->queue_depth,
						      .max_frags = liar->max_frags,
						      .max_msg_bytes = {liar->max_msg_bytes, O2_MSG_BYTES}});
	return witness;
}

void o2_hostile_listened(struct o2_witness *witness)
{
	if (witness != NULL)
		o2_witness_end(witness);
	o2_witness_close(witness);
}
