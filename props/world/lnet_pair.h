/* SPDX-License-Identifier: MIT */
#ifndef O2_PROPS_LNET_PAIR_H
#define O2_PROPS_LNET_PAIR_H

#include "lnet/lnet.h"
#include "mem/arena.h"
#include "wire/nid.h"

/*
 * The LNets of two nodes in one process, over a transport without verbs: queues of letters.  The caller
 * delivers one letter at a time, from either side.
 */

#define O2_LNET_NID_A	 UINT64_C(0x000500000a4d0001)
#define O2_LNET_NID_B	 UINT64_C(0x000500000a4d0002)
#define O2_LNET_COOKIE_A UINT64_C(0x18e9b84c4d3d1f56)
#define O2_LNET_COOKIE_B UINT64_C(0x18e9b8ecf1101a31)

#define O2_LNET_SIDE_PAGES   900u
#define O2_LNET_SIDE_LETTERS 64u
#define O2_LNET_SIDE_EVENTS  64u

struct o2_lnet_side;

/* A message in flight: IMMEDIATE (with its payload), PUT_REQ or GET_REQ. */
struct o2_letter {
	enum { O2_LETTER_IMMEDIATE, O2_LETTER_PUT, O2_LETTER_GET } kind;
	struct o2_lnet_side *from;
	struct o2_lnet_hdr hdr;
	uint8_t payload[O2_MSG_BYTES];
	struct o2_transfer_memory memory; /* PUT, GET: the sender's memory */
	uint64_t tag;
};

struct o2_lnet_side {
	uint64_t nid;
	struct o2_arena arena;
	struct o2_clock clock;
	struct o2_lnet *lnet;
	struct o2_lnet_side *peer;
	uint32_t immediate_max;
	/* Faults: errno with which the transport refuses; errno with which a transfer ends. */
	int refuse;
	int fail_transfer;
	uint32_t refusals; /* how often it has refused */
	/* Letters sent but not delivered. */
	uint32_t nletters;
	struct o2_letter letter[O2_LNET_SIDE_LETTERS];
	/* Results and events that the application received. */
	uint32_t nresults;
	struct o2_lnet_result result[O2_LNET_SIDE_EVENTS];
	struct o2_transfer_fault fault[O2_LNET_SIDE_EVENTS]; /* of each result, code 0: none */
	uint32_t nevents;
	struct o2_lnet_event event[O2_LNET_SIDE_EVENTS];
	struct o2_lnet_hdr event_hdr[O2_LNET_SIDE_EVENTS];
	/* The peer's PUTs that may still be writing, by the `request` of their events. */
	uint32_t nwriting;
	uint64_t writing[O2_LNET_SIDE_EVENTS];
	const char *dropped; /* rule of the last message dropped */
	struct o2_kiov kiov[4];
	struct o2_error error;
	const char *wrong; /* the first forbidden thing that LNet did; NULL: none */
	/* Called first; returns whether the result or event was its own; NULL: no listener. */
	void *listener;
	bool (*listen_done)(void *listener, const struct o2_lnet_result *result);
	bool (*listen_event)(void *listener, const struct o2_lnet_event *event);
};

struct o2_lnet_pair {
	struct o2_lnet_side a, b;
	const char *wrong; /* the first ->wrong of a side that has been renewed; NULL: none */
};

/* The transport of a side, for its LNet's configuration. */
struct o2_lnet_transport o2_lnet_side_transport(struct o2_lnet_side *side);

/* Copy bytes from one side's memory to the other's, as RDMA would. */
void o2_lnet_move_bytes(const struct o2_lnet_side *source, struct o2_buffer from,
			const struct o2_lnet_side *sink, struct o2_buffer to);

/* Remove and return the oldest letter of a side, which must have one. */
struct o2_letter o2_lnet_take_letter(struct o2_lnet_side *side);

/* Deliver the oldest letter of a side.  Returns the receiver's result. */
int o2_lnet_deliver(struct o2_lnet_side *from);

/* Deliver letters until none is left. */
void o2_lnet_deliver_all(struct o2_lnet_pair *pair);

/* Set the time of a side; operations past their deadline end. */
void o2_lnet_side_clock(struct o2_lnet_side *side, uint64_t now_ms);

/* Open both sides; base NULL: the defaults.  Returns 0 or -errno, with nothing left open. */
int o2_lnet_pair_open(struct o2_lnet_pair *pair, const struct o2_lnet_config *base);
/*
 * Close and reopen the pair, but keep the memory of both sides and its contents: creating it takes longer
 * than most of what is done with it.  pair->wrong keeps what was wrong.  Returns 0 or -errno, with nothing
 * left open.
 */
int o2_lnet_pair_renew(struct o2_lnet_pair *pair, const struct o2_lnet_config *base);
/* Close the pair; ->wrong can still be read. */
void o2_lnet_pair_close(struct o2_lnet_pair *pair);

/* The bytes of a page and of the pages after it. */
uint8_t *o2_lnet_side_bytes(const struct o2_lnet_side *side, uint32_t page);

#endif
