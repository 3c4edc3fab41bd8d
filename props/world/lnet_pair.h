/* SPDX-License-Identifier: MIT */
#ifndef O2_PROPS_LNET_PAIR_H
#define O2_PROPS_LNET_PAIR_H

#include "lnet/lnet.h"
#include "mem/arena.h"
#include "wire/nid.h"

/*
 * Two nodes' LNets in one process, over a transport without verbs: a queue of letters, of which whoever
 * drives them delivers one at a time, from the side that it likes.
 */

#define O2_LNET_NID_A	 UINT64_C(0x000500000a4d0001)
#define O2_LNET_NID_B	 UINT64_C(0x000500000a4d0002)
#define O2_LNET_COOKIE_A UINT64_C(0x18e9b84c4d3d1f56)
#define O2_LNET_COOKIE_B UINT64_C(0x18e9b8ecf1101a31)

#define O2_LNET_SIDE_PAGES   900u
#define O2_LNET_SIDE_LETTERS 64u
#define O2_LNET_SIDE_EVENTS  64u

struct o2_lnet_side;

/* A message on its way: IMMEDIATE (with its payload), PUT_REQ or GET_REQ. */
struct o2_letter {
	enum { O2_LETTER_IMMEDIATE, O2_LETTER_PUT, O2_LETTER_GET } kind;
	struct o2_lnet_side *from;
	struct o2_lnet_hdr hdr;
	uint8_t payload[O2_MSG_BYTES];
	struct o2_transfer_memory memory; /* PUT, GET: of the sender */
	uint64_t tag;
};

struct o2_lnet_side {
	uint64_t nid;
	struct o2_arena arena;
	struct o2_clock clock;
	struct o2_lnet *lnet;
	struct o2_lnet_side *peer;
	uint32_t immediate_max;
	/* Faults: what the transport answers, what a transfer ends with. */
	int refuse;
	int fail_transfer;
	uint32_t refusals; /* how often it has answered so */
	/* What was sent and has not been delivered. */
	uint32_t nletters;
	struct o2_letter letter[O2_LNET_SIDE_LETTERS];
	/* What the application was told. */
	uint32_t nresults;
	struct o2_lnet_result result[O2_LNET_SIDE_EVENTS];
	struct o2_transfer_fault fault[O2_LNET_SIDE_EVENTS]; /* of each, code 0: none */
	uint32_t nevents;
	struct o2_lnet_event event[O2_LNET_SIDE_EVENTS];
	struct o2_lnet_hdr event_hdr[O2_LNET_SIDE_EVENTS];
	/* PUTs of the peer's that may be writing, by what names them. */
	uint32_t nwriting;
	uint64_t writing[O2_LNET_SIDE_EVENTS];
	const char *dropped; /* rule of the last message dropped */
	struct o2_kiov kiov[4];
	struct o2_error error;
	const char *wrong; /* what LNet did first that it must not; NULL: nothing */
	/* Who is told first, and says whether it was meant; NULL: nobody. */
	void *listener;
	bool (*listen_done)(void *listener, const struct o2_lnet_result *result);
	bool (*listen_event)(void *listener, const struct o2_lnet_event *event);
};

struct o2_lnet_pair {
	struct o2_lnet_side a, b;
};

/* The transport that the side is made with. */
struct o2_lnet_transport o2_lnet_side_transport(struct o2_lnet_side *side);

/* Bytes go from one side's memory to the other's, as RDMA would take them. */
void o2_lnet_move_bytes(const struct o2_lnet_side *source, struct o2_buffer from,
			const struct o2_lnet_side *sink, struct o2_buffer to);

/* The oldest letter of a side, of which there is one: it is not on its way any more. */
struct o2_letter o2_lnet_take_letter(struct o2_lnet_side *side);

/* The oldest letter of a side arrives.  Returns what its receiver says. */
int o2_lnet_deliver(struct o2_lnet_side *from);

/* Until none is on its way. */
void o2_lnet_deliver_all(struct o2_lnet_pair *pair);

/* Its time is that, and what is late ends. */
void o2_lnet_side_clock(struct o2_lnet_side *side, uint64_t now_ms);

/* base NULL: the defaults.  Returns 0 or -errno, with nothing left. */
int o2_lnet_pair_open(struct o2_lnet_pair *pair, const struct o2_lnet_config *base);
/*
 * Close it and open it, and keep the memory of both sides with what is in it: making that takes longer than most of
 * what is done with it.  Returns 0 or -errno, with nothing left.
 */
int o2_lnet_pair_renew(struct o2_lnet_pair *pair, const struct o2_lnet_config *base);
/* What was wrong stays to be read. */
void o2_lnet_pair_close(struct o2_lnet_pair *pair);

/* The bytes of a page and of those behind it. */
uint8_t *o2_lnet_side_bytes(const struct o2_lnet_side *side, uint32_t page);

#endif
