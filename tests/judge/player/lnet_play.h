/* SPDX-License-Identifier: MIT */
#ifndef O2_TEST_PLAYER_LNET_PLAY_H
#define O2_TEST_PLAYER_LNET_PLAY_H

#include "tests/judge/player/play.h"

/*
 * Plays one side of a recording with our LNet over a mock transport: the transport keeps the messages that our
 * LNet sends, and hands the recorded messages of the other side to our LNet.
 */

#define LNET_PLAY_OPEN 256u

/* A message that our LNet gave to the mock transport. */
struct lnet_play_sent {
	enum o2_msg_type type;
	struct o2_lnet_hdr hdr;
	uint8_t payload[O2_MSG_BYTES];
	struct o2_transfer_memory memory; /* PUT_REQ, GET_REQ: our memory */
	uint64_t tag;
};

/* An open operation of either side, found by the cookie or handle that the recording has for it. */
struct lnet_play_open {
	uint64_t recorded;
	uint64_t tag; /* our tag */
	struct o2_lnet_handle handle;
	int rc; /* result of matching the request */
	uint64_t nob;
	struct o2_transfer_memory memory; /* our memory that the operation reads or writes */
};

/* Callbacks of the layer above LNet.  Each may be NULL. */
struct lnet_play_hooks {
	void *context;
	/* Start the operation that made the recorded side send `step`.  False or NULL: LNet is asked to. */
	bool (*operate)(void *context, const struct player_step *step);
	/* Is our message the recorded one?  NULL: headers are compared except for handles, and all bytes. */
	bool (*same)(void *context, const struct lnet_play_sent *ours, const struct player_step *step);
	/* Change a recorded header of the other side into the one that it would have sent to us. */
	void (*heard)(void *context, struct o2_lnet_hdr *hdr);
	/* An RDMA WRITE has put nob bytes into our memory. */
	void (*arrived)(void *context, const struct o2_transfer_memory *memory, uint64_t nob);
	void (*done)(void *context, const struct o2_lnet_result *result);
	void (*event)(void *context, const struct o2_lnet_event *event);
};

struct lnet_play {
	bool we_are_a;
	struct lnet_play_hooks hooks;
	struct o2_arena arena;
	struct o2_clock clock;
	struct o2_lnet *lnet;
	uint32_t nsent;
	struct lnet_play_sent sent[LNET_PLAY_OPEN];
	uint32_t nputs, ngets, naccepted, nhandles; /* lengths of the arrays below */
	struct lnet_play_open put[LNET_PLAY_OPEN], get[LNET_PLAY_OPEN], accepted[LNET_PLAY_OPEN],
		handle[LNET_PLAY_OPEN];
	uint32_t page; /* first arena page of the next operation's memory */
	uint32_t nresults, nfailed;
	int status; /* of the last result */
	struct o2_kiov kiov[512];
	uint32_t nkiov;
};

/* pages: size of the arena; our operations use the pages from first_page on.  hooks may be NULL. */
void lnet_play_open(struct lnet_play *play, const struct player_script *script, bool we_are_a, uint32_t pages,
		    uint32_t first_page, const struct lnet_play_hooks *hooks);
void lnet_play_close(struct lnet_play *play);

/* Describe length_bytes from the start of `page` on, as a page list. */
struct o2_transfer_memory lnet_play_memory(struct lnet_play *play, uint32_t page, uint32_t length_bytes);

/* Play the next step: expect our LNet to have sent it, or hand the other side's message to our LNet. */
void lnet_play_step(struct lnet_play *play, const struct player_step *step);

#endif
