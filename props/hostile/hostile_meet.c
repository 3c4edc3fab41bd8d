/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <stdlib.h>

#include "props/hostile/hostile_internal.h"
#include "props/world/network.h"

/*
 * Nodes in this process: the victim and the honest peer are nodes; the liar is attached to the connection
 * manager's network without a node.
 */

struct meeting {
	struct o2_hostile h; /* must be first: the world below casts it back */
	struct o2_network *network;
};

static int progress(struct o2_hostile *h)
{
	struct o2_network *network = ((struct meeting *)h)->network;
	int busy = o2_node_progress(h->victim.node);

	busy += o2_node_progress(h->friend.node);
	busy += network->ops->progress(network);
	return busy;
}

static void settle(struct o2_hostile *h)
{
	o2_hostile_settle_here(h, progress);
}

static const struct o2_hostile_world world = {.order = o2_hostile_order_here, .settle = settle};

static int attach(struct meeting *m)
{
	int rc = o2_network_open_loop(&m->network, NULL);

	for (int i = 0; i < O2_HOSTILE_NIS && rc == 0; i++) {
		const struct o2_ni_config config = o2_hostile_ni_config((enum o2_hostile_ni)i);

		rc = o2_place_open(&m->h.place[i], &config, m->network, NULL);
	}
	return rc;
}

static int open_meeting(struct meeting *m)
{
	struct o2_hostile *h = &m->h;
	int rc = attach(m);

	h->world = &world;
	o2_liar_be(&h->liar, &o2_liar_of_loop);
	if (rc == 0)
		rc = o2_liar_open(&h->liar, &h->place[O2_NI_LIAR].ni);
	if (rc == 0)
		rc = o2_liar_listen(&h->liar, m->h.place[O2_NI_LIAR].cm, NULL);
	if (rc == 0)
		rc = o2_victim_open(&h->victim, &h->place[O2_NI_VICTIM].ni);
	if (rc == 0)
		rc = o2_victim_start_node(&h->victim, m->h.place[O2_NI_VICTIM].cm, O2_LIAR_NID, NULL);
	return rc == 0 ? o2_friend_start_node(&h->friend, &h->place[O2_NI_FRIEND].ni,
					      m->h.place[O2_NI_FRIEND].cm, NULL)
		       : rc;
}

static void close_meeting(struct meeting *m)
{
	struct o2_hostile *h = &m->h;

	o2_victim_close(&h->victim);
	o2_node_destroy(h->friend.node);
	o2_liar_part(&h->liar);
	o2_liar_close(&h->liar);
	for (int i = 0; i < O2_HOSTILE_NIS; i++)
		o2_place_close(&h->place[i]);
	if (m->network != NULL)
		m->network->ops->close(m->network);
}

bool o2_hostile_try_meeting(const struct o2_misbehaviour *what, struct o2_hostile_heard *heard, char *why)
{
	struct meeting *m = calloc(1, sizeof(*m));
	struct o2_witness *witness = NULL;
	bool held;

	snprintf(why, O2_VICTIM_WHY_BYTES, "no memory, or no device");
	if (m == NULL)
		return false;
	held = open_meeting(m) == 0;
	if (held)
		witness = o2_hostile_listen(&m->h, o2_network_loop(m->network), NULL, heard);
	held = held && o2_hostile_judge(&m->h, what, why);
	o2_hostile_listened(witness);
	close_meeting(m);
	free(m);
	return held;
}
