/* SPDX-License-Identifier: MIT */
#ifndef O2_TEST_PLAYER_STAGE_H
#define O2_TEST_PLAYER_STAGE_H

#include "lnet/endpoint.h"
#include "tests/judge/player/peer.h"
#include "tests/judge/player/script.h"
#include "tests/lib/unit_test.h"

/*
 * The setting in which a recording is played: a complete endpoint of ours, and a puppet (peer.h) that sends
 * the recorded messages of the other side.  On error, these functions fail the running test.
 */

#define ENTRY_PAGE  2u	/* arena page of the entry that we offer */
#define STAGE_NAMES 32u /* limit of names, and of operations */

/* A recorded cookie or handle of our side, and the one that our endpoint uses in its place. */
struct name {
	uint64_t recorded;
	uint64_t ours;
	struct o2_lnet_handle handle;
};

/* Memory that our endpoint has published in a descriptor. */
struct sink {
	uint64_t addr;
	uint32_t key;
};

struct stage {
	const struct player_recording *recording;
	struct player_script *script;
	bool we_are_a;
	struct o2_cm_loop *wire;
	struct o2_ni ni;
	struct o2_cm *cm;
	struct o2_endpoint endpoint;
	struct player_peer peer;
	uint32_t nnames;
	struct name name[STAGE_NAMES];
	struct sink sink;	       /* the last sink that we published */
	uint32_t started;	       /* index behind the last step whose operation was started */
	uint32_t page, operation_page; /* of the next operation's memory, and of the last one's */
	uint32_t noperations, nresults, nfailed;
	int status;
	struct o2_iov iov[STAGE_NAMES];
	uint32_t niov;
};

#define STEP_FAIL(step, ...)                                   \
	do {                                                   \
		print_message("%s: ", player_step_text(step)); \
		fail_msg(__VA_ARGS__);                         \
	} while (0)

/* stage.c */
void stage_open(struct stage *stage, const struct player_recording *recording, bool we_are_a);
void stage_close(struct stage *stage);
/* Drive both sides until nothing happens any more. */
void stage_settle(struct stage *stage);
struct o2_transfer_memory stage_memory(struct stage *stage, uint32_t page, uint32_t length_bytes);
void stage_add_name(struct stage *stage, struct name name);
/* Find the newest entry with this recorded name: both directions can use the same cookie value. */
const struct name *stage_find_name(struct stage *stage, const struct player_step *step, uint64_t recorded);
struct player_heard_cm stage_take_cm(struct stage *stage, const struct player_step *step,
				     enum o2_cm_event_type type);
/* Assert that the puppet's memory equals ours (the last operation's, or the entry that we offer). */
void stage_assert_moved(const struct stage *stage, const struct player_step *step);
int stage_encode(const struct o2_msg *msg, uint8_t bytes[O2_MSG_BYTES]);

/* expect.c: our side of the recording sent this; assert that our endpoint sends the same. */
void stage_expect(struct stage *stage, const struct player_step *step);

/* inject.c: the other side of the recording sent this; let the puppet send it. */
void stage_inject(struct stage *stage, const struct player_step *step);

#endif
