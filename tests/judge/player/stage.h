/* SPDX-License-Identifier: MIT */
#ifndef O2_TEST_PLAYER_STAGE_H
#define O2_TEST_PLAYER_STAGE_H

#include "lnet/endpoint.h"
#include "tests/judge/player/peer.h"
#include "tests/judge/player/script.h"
#include "tests/lib/unit_test.h"

/*
 * Where a recording is played: one whole peer of ours, and a puppet (peer.h) that speaks for the other side.
 * The functions are parts of tests: they fail the test that runs.
 */

#define ENTRY_PAGE  2u	/* of the arena: what we offer */
#define STAGE_NAMES 32u /* and operations */

/* A cookie or handle of the recorded side, and ours in its place. */
struct name {
	uint64_t recorded;
	uint64_t ours;
	struct o2_lnet_handle handle;
};

/* Memory that a key of ours gives access to. */
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
	struct sink sink;	       /* the last that we published */
	uint32_t started;	       /* steps whose operation has been started */
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
/* Until nothing happens any more. */
void stage_settle(struct stage *stage);
struct o2_transfer_memory stage_memory(struct stage *stage, uint32_t page, uint32_t length_bytes);
void stage_add_name(struct stage *stage, struct name name);
/* Cookies of the two directions do not mix: the newest of that name counts. */
const struct name *stage_find_name(struct stage *stage, const struct player_step *step, uint64_t recorded);
struct player_heard_cm stage_take_cm(struct stage *stage, const struct player_step *step,
				     enum o2_cm_event_type type);
/* The bytes at the sink are those of the source: his memory against ours, an operation's or what we offer. */
void stage_assert_moved(const struct stage *stage, const struct player_step *step);
int stage_encode(const struct o2_msg *msg, uint8_t bytes[O2_MSG_BYTES]);

/* expect.c: our side of the recording said this. */
void stage_expect(struct stage *stage, const struct player_step *step);

/* inject.c: the other side said this. */
void stage_inject(struct stage *stage, const struct player_step *step);

#endif
