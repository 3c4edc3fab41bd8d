/* SPDX-License-Identifier: MIT */
#ifndef O2_TEST_PLAYER_LST_STAGE_H
#define O2_TEST_PLAYER_LST_STAGE_H

#include "lst/wire/msg.h"
#include "tests/judge/player/lnet_play.h"

/*
 * Recordings of LNet selftest: compares our messages with recorded ones and translates recorded ids to ours.  These
 * are hooks for lnet_play.h; their context is a struct lst_stage, or a struct that starts with one.
 */

#define LST_STAGE_IDS 256u

struct lst_stage {
	struct player_script *script;
	bool we_are_a;
	struct lnet_play *lnet;
	/* For an RDMA write BRW with check "simple": offset of the bulk in the client's first page. */
	uint32_t source_offset;
	/* Recorded ids, and the ids of ours that stand for them. */
	uint32_t nids;
	struct {
		uint64_t recorded, ours;
	} id[LST_STAGE_IDS];
	/* BRW requests, found by the recorded id of their bulk. */
	uint32_t nbrws;
	struct {
		uint64_t bulkid;
		struct o2_lst_brw_reqst reqst;
	} brw[LST_STAGE_IDS];
	/* Batch queries: the recorded id of their reply. */
	uint32_t nqueries;
	uint64_t query[LST_STAGE_IDS];
};

/* LNet's own operations use the arena's pages from 4 on; the caller may use those from 100 on. */
void lst_stage_open(struct lst_stage *stage, struct lnet_play *lnet, const struct player_recording *recording,
		    bool we_are_a, const struct lnet_play_hooks *hooks);
/* Play one step.  Requests of the other side are remembered, to check their replies and bulk. */
void lst_stage_step(struct lst_stage *stage, const struct player_step *step);

bool lst_stage_is_lst(const struct o2_lnet_hdr *hdr);
/* Decode a payload of LNet selftest; false if it is not a valid one. */
bool lst_stage_decode(const uint8_t *payload, const struct o2_lnet_hdr *hdr, struct o2_lst_msg *msg);
bool lst_stage_has_bulk(const struct o2_lst_msg *msg);

/* lnet_play_hooks: equal except for ids, times, counters, and fields that the status makes meaningless. */
bool lst_stage_same(void *context, const struct lnet_play_sent *ours, const struct player_step *step);
void lst_stage_heard(void *context, struct o2_lnet_hdr *hdr);
/* Recordings lack the bytes of RDMA WRITEs: fill the memory with the test pattern instead. */
void lst_stage_arrived(void *context, const struct o2_transfer_memory *memory, uint64_t nob);

#endif
