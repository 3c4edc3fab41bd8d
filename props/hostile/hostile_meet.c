/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "props/hostile/hostile_internal.h"
#include "props/world/network.h"
#include "wire/nid.h"

/*
 * A meeting of nodes in this process: the victim is one, and so is the honest peer; the liar has a place in
 * the connection manager's network and no node.
 */

struct meeting {
	struct o2_hostile h; /* first: the world below gets it back from there */
	struct o2_network *network;
	struct o2_cm *cm[O2_HOSTILE_NIS];
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
		struct o2_ni *ni = &m->h.ni[i];

		rc = o2_hostile_ni_open(ni, (enum o2_hostile_ni)i);
		if (rc == 0)
			rc = m->network->ops->attach(m->network, ni, o2_nid_address(ni->config.nid),
						     &m->cm[i], NULL);
	}
	return rc;
}

static int open_meeting(struct meeting *m)
{
	struct o2_hostile *h = &m->h;
	int rc = attach(m);

	h->world = &world;
	h->liar = (struct o2_liar){.nid = O2_LIAR_NID,
				   .stamp = O2_LIAR_STAMP,
				   .victim_nid = O2_VICTIM_NID,
				   .victim_stamp = O2_VICTIM_STAMP};
	if (rc == 0)
		rc = o2_liar_open(&h->liar, &h->ni[O2_NI_LIAR]);
	if (rc == 0)
		rc = o2_liar_listen(&h->liar, m->cm[O2_NI_LIAR], NULL);
	if (rc == 0)
		rc = o2_victim_open(&h->victim, &h->ni[O2_NI_VICTIM]);
	if (rc == 0)
		rc = o2_victim_start_node(&h->victim, m->cm[O2_NI_VICTIM], O2_LIAR_NID, NULL);
	return rc == 0 ? o2_friend_start_node(&h->friend, &h->ni[O2_NI_FRIEND], m->cm[O2_NI_FRIEND], NULL)
		       : rc;
}

static void close_meeting(struct meeting *m)
{
	struct o2_hostile *h = &m->h;

	o2_victim_close(&h->victim);
	o2_node_destroy(h->friend.node);
	o2_liar_part(&h->liar);
	o2_liar_close(&h->liar);
	for (int i = 0; i < O2_HOSTILE_NIS; i++) {
		if (m->cm[i] != NULL)
			m->network->ops->detach(m->network, m->cm[i]);
		o2_ni_close(&h->ni[i]);
	}
	if (m->network != NULL)
		m->network->ops->close(m->network);
}

bool o2_hostile_try_meeting(const struct o2_misbehaviour *what, char *why)
{
	struct meeting *m = calloc(1, sizeof(*m));
	bool held;

	snprintf(why, O2_VICTIM_WHY_BYTES, "no memory, or no device");
	if (m == NULL)
		return false;
	held = open_meeting(m) == 0 && o2_hostile_judge(&m->h, what, why);
	close_meeting(m);
	free(m);
	return held;
}
