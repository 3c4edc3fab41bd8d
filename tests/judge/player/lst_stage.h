/* SPDX-License-Identifier: MIT */
#ifndef O2_TEST_PLAYER_LST_STAGE_H
#define O2_TEST_PLAYER_LST_STAGE_H

#include "lst/wire/msg.h"
#include "tests/judge/player/lnet_play.h"

/*
 * Recordings of LNet selftest: what of a message must be as it was recorded, and ids, which are ours.  The hooks of
 * lnet_play.h whose context is a struct lst_stage, or begins with one.
 */

#define LST_STAGE_IDS 256u

struct lst_stage {
	struct player_script *script;
	bool we_are_a;
	struct lnet_play *lnet;
	/* A write by RDMA under check simple: where its memory begins in the client's first page. */
	uint32_t source_offset;
	/* Ids: as recorded, and ours. */
	uint32_t nids;
	struct {
		uint64_t recorded, ours;
	} id[LST_STAGE_IDS];
	/* BRWs, by the recorded id of their bulk. */
	uint32_t nbrws;
	struct {
		uint64_t bulkid;
		struct o2_lst_brw_reqst reqst;
	} brw[LST_STAGE_IDS];
	/* Queries, by the recorded id of their reply. */
	uint32_t nqueries;
	uint64_t query[LST_STAGE_IDS];
};

/* Of LNet's own operations memory begins at page 4; from page 100 on it is the caller's. */
void lst_stage_open(struct lst_stage *stage, struct lnet_play *lnet, const struct player_recording *recording,
		    bool we_are_a, const struct lnet_play_hooks *hooks);
/* A step, of which the other side's request is learnt. */
void lst_stage_step(struct lst_stage *stage, const struct player_step *step);

bool lst_stage_is_lst(const struct o2_lnet_hdr *hdr);
/* It is a message of LNet selftest. */
bool lst_stage_decode(const uint8_t *payload, const struct o2_lnet_hdr *hdr, struct o2_lst_msg *msg);
bool lst_stage_has_bulk(const struct o2_lst_msg *msg);

/* lnet_play_hooks: the same but for ids, times, counters, and what a status does not warrant. */
bool lst_stage_same(void *context, const struct lnet_play_sent *ours, const struct player_step *step);
void lst_stage_heard(void *context, struct o2_lnet_hdr *hdr);
/* The recording has no bytes of RDMA: they are the pattern. */
void lst_stage_arrived(void *context, const struct o2_transfer_memory *memory, uint64_t nob);

#endif
