/* SPDX-License-Identifier: MIT */
#ifndef O2_TEST_PLAYER_LNET_PLAY_H
#define O2_TEST_PLAYER_LNET_PLAY_H

#include "tests/judge/player/play.h"

/*
 * One side of a recording as LNet's place over a transport that is the recording itself: it only remembers what
 * we send, and what the other side said is told to us.
 */

#define LNET_PLAY_OPEN 256u

/* One of our messages that the transport was given. */
struct lnet_play_sent {
	enum o2_msg_type type;
	struct o2_lnet_hdr hdr;
	uint8_t payload[O2_MSG_BYTES];
	struct o2_transfer_memory memory; /* PUT_REQ, GET_REQ: ours */
	uint64_t tag;
};

/* What is open, by the cookie or handle that the recording calls it by. */
struct lnet_play_open {
	uint64_t recorded;
	uint64_t tag; /* of ours */
	struct o2_lnet_handle handle;
	int rc; /* of matching */
	uint64_t nob;
	struct o2_transfer_memory memory; /* what is written to or read */
};

/* What is above LNet.  Each may be NULL. */
struct lnet_play_hooks {
	void *context;
	/* Its application wants what the recorded side sent; true: it does it.  NULL, false: LNet does alone. */
	bool (*operate)(void *context, const struct player_step *step);
	/* Whether that is what was recorded.  NULL: the headers but for handles, and every byte. */
	bool (*same)(void *context, const struct lnet_play_sent *ours, const struct player_step *step);
	/* A header that the other side sent, as it would have sent it to us. */
	void (*heard)(void *context, struct o2_lnet_hdr *hdr);
	/* RDMA has brought so many bytes to our memory. */
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
	uint32_t nputs, ngets, naccepted, nhandles; /* of the lists below */
	struct lnet_play_open put[LNET_PLAY_OPEN], get[LNET_PLAY_OPEN], accepted[LNET_PLAY_OPEN],
		handle[LNET_PLAY_OPEN];
	uint32_t page; /* for the next operation */
	uint32_t nresults, nfailed;
	int status; /* of the last */
	struct o2_kiov kiov[512];
	uint32_t nkiov;
};

/* pages: of the arena; from first_page on those of our operations.  hooks may be NULL. */
void lnet_play_open(struct lnet_play *play, const struct player_script *script, bool we_are_a, uint32_t pages,
		    uint32_t first_page, const struct lnet_play_hooks *hooks);
void lnet_play_close(struct lnet_play *play);

/* length bytes in pages of their own. */
struct o2_transfer_memory lnet_play_memory(struct lnet_play *play, uint32_t page, uint32_t length_bytes);

/* The next step: what we are to say, or what we hear. */
void lnet_play_step(struct lnet_play *play, const struct player_step *step);

#endif
