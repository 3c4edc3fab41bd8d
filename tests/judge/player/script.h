/* SPDX-License-Identifier: MIT */
#ifndef O2_TEST_PLAYER_SCRIPT_H
#define O2_TEST_PLAYER_SCRIPT_H

#include <stdbool.h>
#include <stdint.h>

#include "lnet/lnet.h"
#include "wire/msg.h"
#include "wire/reject.h"

/*
 * A recording as a script: which side sent which message, in order.  The layers below o2iblnd's messages
 * (packets, acknowledgements, sequence numbers) are removed.
 */

/* The NIDs of the two nodes in every recording (corpus/captures/README.md). */
#define PLAYER_NID_A UINT64_C(0x000500000a4d0001)
#define PLAYER_NID_B UINT64_C(0x000500000a4d0002)

#define PLAYER_STEPS 128u

enum player_step_kind {
	STEP_MESSAGE, /* a SEND: msg */
	STEP_WRITE,   /* an RDMA WRITE: bytes */
	STEP_REQUEST, /* the connection manager's messages; msg is the CONNREQ */
	STEP_REPLY,   /* msg is the CONNACK */
	STEP_REJECT,  /* reject */
	STEP_READY,
	STEP_DISCONNECT,
	STEP_DISCONNECTED,
};

struct player_step {
	enum player_step_kind kind;
	uint32_t frame; /* number of the frame in the recording */
	bool from_a;
	struct o2_msg msg;
	uint8_t payload[O2_MSG_BYTES]; /* payload of an IMMEDIATE; msg.u.immediate.payload points here */
	struct o2_reject reject;
	uint64_t bytes;
};

/* A recording to play, and the facts about it that its frames do not show. */
struct player_recording {
	const char *name;	/* of the file, without ".pcap" */
	uint32_t entry_bytes;	/* bytes that the target offers at portal 60, match bits 0x1234 */
	bool nomatch;		/* no entry matches: its operations fail */
	uint32_t a_queue_depth; /* that side a asks for; 0: 8 */
	/* Credits that a side owed to its peer before the first message that the recording has of that side. */
	uint32_t owed_by_a, owed_by_b;
	/*
	 * A recording shows the order of frames at the capture point.  The order at the receiver can differ: when
	 * we play side a, each `late` frame is moved behind until_frame, which the receiver of the late frame sent
	 * before that frame arrived.  late_for_both is moved whichever side we play.
	 */
	struct {
		uint32_t frame, until_frame;
	} late[2], late_for_both;
};

#define PLAYER_RECORDINGS 13u
extern const struct player_recording player_recordings[PLAYER_RECORDINGS];

struct player_script {
	uint32_t count;
	struct player_step step[PLAYER_STEPS];
};

/*
 * Read corpus/captures/pcap/NAME.pcap, to play side a (we_are_a) or side b.  Returns NULL, with a line on
 * stderr, if that fails.  The caller frees the script with free().
 */
struct player_script *player_script_read(const struct player_recording *recording, bool we_are_a);

/* The ping info that a side of the recording sent, in a REPLY or pushed; false if it sent none. */
bool player_ping_info(const struct player_script *script, bool from_a, struct o2_ping_info *info);

/* The first LNet REPLY of this side that does not carry a ping info; NULL if there is none. */
const struct player_step *player_reply(const struct player_script *script, bool from_a);

/* The LNet header of an IMMEDIATE, PUT_REQ or GET_REQ; NULL for other steps. */
const struct o2_lnet_hdr *player_lnet_hdr(const struct player_step *step);

/* Is this the message that starts an operation which only an application can have asked for? */
bool player_is_operation(const struct player_step *step);

/* The target of the operation that this message starts, and its length. */
struct o2_lnet_target player_target(const struct player_step *step, uint32_t *length_bytes);

/* Are two LNet headers equal except for their handles?  Writes the differences to stderr. */
bool player_same_hdr(const struct o2_lnet_hdr *ours, const struct o2_lnet_hdr *recorded);

/* "frame 7, from 10.77.0.1: SEND IMMEDIATE", for messages of tests.  The text lives until the next call. */
const char *player_step_text(const struct player_step *step);

#endif
