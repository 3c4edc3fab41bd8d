/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "lnd/ni/path.h"
#include "props/hostile/hostile_internal.h"
#include "props/hostile/hostile_quirk.h"

/* One liar, one victim and one honest peer on loop devices, connected without a connection manager. */

#define IDLE_ROUNDS   3u     /* a device that waits to retry is idle for two */
#define STEPS_AT_MOST 20000u /* most steps of the settle loop */

const struct o2_liar o2_liar_of_loop = {.nid = O2_LIAR_NID,
					.stamp = O2_LIAR_STAMP,
					.victim_nid = O2_VICTIM_NID,
					.victim_stamp = O2_VICTIM_STAMP};

struct o2_ni_config o2_hostile_ni_config(enum o2_hostile_ni which)
{
	static const uint64_t nids[] = {O2_VICTIM_NID, O2_LIAR_NID, O2_FRIEND_NID};
	static const uint64_t stamps[] = {O2_VICTIM_STAMP, O2_LIAR_STAMP, O2_FRIEND_STAMP};
	struct o2_ni_config config = {
		.device = which == O2_NI_VICTIM ? "loop0" : "loop1",
		.gid_index = 1,
		.nid = nids[which],
		.incarnation = stamps[which],
		.dma_kind = O2_DMA_BUS,
		.dma_base = UINT64_C(0x240000000),
		.arena_pages = which == O2_NI_LIAR ? 1 : O2_HOSTILE_PAGES,
		.sizes = {.tx_size = 16, .reg_size = 8},
	};

	if (which != O2_NI_LIAR)
		o2_hostile_bend_ni(&config);
	return config;
}

bool o2_hostile_order_here(struct o2_hostile *h, const struct o2_victim_order *order,
			   struct o2_victim_answer *answer)
{
	o2_victim_obey(&h->victim, order, answer);
	return true;
}

void o2_hostile_settle_here(struct o2_hostile *h, int (*progress)(struct o2_hostile *h))
{
	uint32_t idle = 0;

	for (uint32_t step = 0; idle < IDLE_ROUNDS; step++) {
		int busy = o2_liar_progress(&h->liar);

		busy += progress(h);
		idle = busy > 0 ? 0 : idle + 1;
		if (step > STEPS_AT_MOST) {
			h->endless = true;
			return;
		}
	}
}

static int progress(struct o2_hostile *h)
{
	int rc[] = {o2_conn_progress(h->victim.liar.conn), o2_conn_progress(h->victim.honest.conn),
		    o2_conn_progress(h->friend.end.conn)};
	int busy = 0;

	for (int i = 0; i < 3; i++)
		busy += rc[i] > 0;
	return busy;
}

static void settle(struct o2_hostile *h)
{
	o2_hostile_settle_here(h, progress);
}

static const struct o2_hostile_world world = {.order = o2_hostile_order_here, .settle = settle};

static int make_conn(struct o2_ni *ni, struct o2_hostile_end *end, const struct o2_conn_config *config)
{
	struct o2_conn_config few = *config;

	few.max_transfers = 32;
	o2_hostile_bend_conn(&few);
	return o2_conn_create(ni, &few, &o2_hostile_end_ops, end, &end->conn, NULL);
}

static int connect_honest(struct o2_hostile *h)
{
	struct o2_conn_address a, b;
	int rc;

	o2_conn_get_address(h->victim.honest.conn, &a);
	o2_conn_get_address(h->friend.end.conn, &b);
	rc = o2_conn_connect(h->victim.honest.conn, &b, NULL);
	return rc == 0 ? o2_conn_connect(h->friend.end.conn, &a, NULL) : rc;
}

/* With more fragments a device's queues are too small for the depth. */
#define DEEP_FRAGS 8u

int o2_hostile_open(struct o2_hostile *h)
{
	struct o2_conn_config deep = O2_CONN_DEFAULTS;
	int rc = 0;

	/* The honest connection is kept from case to case, so that its receives past the 256th are used as well. */
	deep.queue_depth = O2_MAX_QUEUE_DEPTH;
	deep.max_frags = DEEP_FRAGS;

	h->world = &world;
	h->liar_slots = o2_liar_map();
	if (h->liar_slots == NULL)
		return -ENOMEM;
	for (int i = 0; i < O2_HOSTILE_NIS && rc == 0; i++) {
		const struct o2_ni_config config = o2_hostile_ni_config((enum o2_hostile_ni)i);

		rc = o2_place_open(&h->place[i], &config, NULL, NULL);
	}
	if (rc == 0)
		rc = o2_victim_open(&h->victim, &h->place[O2_NI_VICTIM].ni);
	h->friend.ni = &h->place[O2_NI_FRIEND].ni;
	if (rc == 0)
		rc = make_conn(&h->place[O2_NI_VICTIM].ni, &h->victim.honest, &deep);
	if (rc == 0)
		rc = make_conn(&h->place[O2_NI_FRIEND].ni, &h->friend.end, &deep);
	return rc == 0 ? connect_honest(h) : rc;
}

/* Connect both queue pairs, to RTS. */
static int connect_liar(struct o2_hostile *h)
{
	struct o2_conn_address address;
	struct o2_qp_path path = {.retry_count = 5, .rnr_retry_count = 6, .ack_timeout = 14};
	int rc;

	o2_conn_get_address(h->victim.liar.conn, &address);
	path.gid = address.gid;
	path.dest_qp_num = address.qp_num;
	path.dest_psn = address.psn;
	path.psn = o2_qp_psn(h->liar.qp);
	rc = o2_qp_to_rts(&h->place[O2_NI_LIAR].ni, h->liar.qp, &path, NULL);
	if (rc != 0)
		return rc;
	path.gid = h->place[O2_NI_LIAR].ni.gid;
	path.dest_qp_num = h->liar.qp->qp_num;
	path.dest_psn = o2_qp_psn(h->liar.qp);
	path.psn = address.psn;
	return o2_qp_to_rts(&h->place[O2_NI_VICTIM].ni, o2_conn_qp(h->victim.liar.conn), &path, NULL);
}

/* The terms agreed between the liar and its victim. */
static struct o2_conn_peer terms(const struct o2_conn_config *config)
{
	return (struct o2_conn_peer){
		.nid = O2_LIAR_NID,
		.incarnation = O2_LIAR_STAMP,
		.version = O2_MSG_VERSION_2,
		.queue_depth = config->queue_depth,
		.max_frags = config->max_frags,
		.max_msg_bytes = O2_MSG_BYTES,
	};
}

int o2_hostile_meet(struct o2_hostile *h, const struct o2_conn_config *config)
{
	struct o2_conn_peer peer = terms(config);
	struct o2_victim_answer answer;
	struct o2_conn_address victim;
	int rc;

	h->endless = false;
	h->victim.liar_nid = O2_LIAR_NID;
	o2_hostile_order(h, O2_ACT_MEET, 0, 0, &answer);
	o2_liar_be(&h->liar, &o2_liar_of_loop);
	h->liar.slots = h->liar_slots;
	h->liar.lent = true;
	rc = make_conn(&h->place[O2_NI_VICTIM].ni, &h->victim.liar, config);
	if (rc == 0) {
		/* The depth is less than requested if the device's queues are too small. */
		o2_conn_get_address(h->victim.liar.conn, &victim);
		peer.queue_depth = victim.queue_depth;
	}
	if (rc == 0)
		rc = o2_liar_open(&h->liar, &h->place[O2_NI_LIAR].ni);
	if (rc == 0)
		rc = o2_conn_set_peer(h->victim.liar.conn, &peer, NULL);
	if (rc == 0)
		rc = connect_liar(h);
	if (rc == 0)
		o2_conn_establish(h->victim.liar.conn);
	return rc;
}

void o2_hostile_part(struct o2_hostile *h)
{
	o2_conn_destroy(h->victim.liar.conn);
	h->victim.liar.conn = NULL;
	o2_liar_close(&h->liar);
}

void o2_hostile_close(struct o2_hostile *h)
{
	o2_hostile_part(h);
	if (h->liar_slots != NULL)
		munmap(h->liar_slots, O2_LIAR_BYTES);
	o2_victim_close(&h->victim);
	o2_conn_destroy(h->friend.end.conn);
	for (int i = 0; i < O2_HOSTILE_NIS; i++)
		o2_place_close(&h->place[i]);
	memset(h, 0, sizeof(*h));
}

bool o2_hostile_try(const struct o2_misbehaviour *what, struct o2_hostile_heard *heard, char *why)
{
	const struct o2_conn_peer peer = terms(&O2_CONN_DEFAULTS);
	struct o2_witness *witness = NULL;
	struct o2_hostile *h;
	bool held;

	if (what->reaction == O2_REACT_REJECT || what->reaction == O2_REACT_FAIL)
		return o2_hostile_try_meeting(what, heard, why);
	h = calloc(1, sizeof(*h));
	snprintf(why, O2_VICTIM_WHY_BYTES, "no memory, or no device");
	held = h != NULL && o2_hostile_open(h) == 0 && o2_hostile_meet(h, &O2_CONN_DEFAULTS) == 0;
	if (held)
		witness = o2_hostile_listen(h, NULL, &peer, heard);
	held = held && o2_hostile_judge(h, what, why);
	o2_hostile_listened(witness);
	if (h != NULL)
		o2_hostile_close(h);
	free(h);
	return held;
}
