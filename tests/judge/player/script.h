/* SPDX-License-Identifier: MIT */
#ifndef O2_TEST_PLAYER_SCRIPT_H
#define O2_TEST_PLAYER_SCRIPT_H

#include <stdbool.h>
#include <stdint.h>

#include "lnet/lnet.h"
#include "wire/msg.h"
#include "wire/reject.h"

/*
 * A recording as a script: who said what, in order.  What is below o2iblnd's messages (packets,
 * acknowledgements, sequence numbers) is gone.
 */

/* The two nodes of every recording, corpus/captures/README.md. */
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
	uint32_t frame; /* of the recording */
	bool from_a;
	struct o2_msg msg;
	uint8_t payload[O2_MSG_BYTES]; /* of an IMMEDIATE; msg points here */
	struct o2_reject reject;
	uint64_t bytes;
};

/* What is to be played, and what has to be known about it. */
struct player_recording {
	const char *name;	/* of the file, without .pcap */
	uint32_t entry_bytes;	/* what the target offers at portal 60, match bits 0x1234 */
	bool nomatch;		/* its operations fail */
	uint32_t a_queue_depth; /* that a asks for: 8, unless said otherwise */
	/* Credits that a side owed from before the first message of its own. */
	uint32_t owed_by_a, owed_by_b;
	/*
	 * A recording shows the order at the place where it was made.  When a is played by us, these frames reach
	 * their receiver only after that one has sent another frame; what b hears or says late is noted with its own
	 * row.
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
 * Read corpus/captures/pcap/NAME.pcap, for one of the sides to be played by us.  Returns NULL, with a line on
 * stderr, if that fails; free() it.
 */
struct player_script *player_script_read(const struct player_recording *recording, bool we_are_a);

/* The ping info that a side of the recording sent, in a REPLY or pushed; false if it sent none. */
bool player_ping_info(const struct player_script *script, bool from_a, struct o2_ping_info *info);

/* The first REPLY of a side that is no ping info; NULL if there is none. */
const struct player_step *player_reply(const struct player_script *script, bool from_a);

/* The LNet header of an IMMEDIATE, PUT_REQ or GET_REQ; NULL for other steps. */
const struct o2_lnet_hdr *player_lnet_hdr(const struct player_step *step);

/* Does nothing but what somebody's application asks for lead to this message? */
bool player_is_operation(const struct player_step *step);

/* The operation behind it: where it goes, and how many bytes. */
struct o2_lnet_target player_target(const struct player_step *step, uint32_t *length_bytes);

/* Are two LNet headers the same but for their handles?  What differs is written to stderr. */
bool player_same_hdr(const struct o2_lnet_hdr *ours, const struct o2_lnet_hdr *recorded);

/* "SEND 10.77.0.1 IMMEDIATE GET", for messages of tests.  The text lives until the next call. */
const char *player_step_text(const struct player_step *step);

#endif
