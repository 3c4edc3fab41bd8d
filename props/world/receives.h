/* SPDX-License-Identifier: MIT */
#ifndef O2_PROPS_RECEIVES_H
#define O2_PROPS_RECEIVES_H

#include <infiniband/verbs.h>
#include <stdbool.h>
#include <stdint.h>

#include "props/world/account.h"

/*
 * The receives of one end, as its device has them: each waits for a message, or holds one and was not posted
 * again.  Credits stand for receives: every message that a sent message allows the peer to send, now or when it is
 * handled, must find a receive at once, because the peer may run between any two calls of the sending end.
 *
 * Nothing here is taken from the end itself.  The tracker sees each call and each arriving message, and decodes a
 * message from its bytes at fixed offsets (docs/transport.md, "Flow control").
 */

#define O2_RECEIVES 544u /* most receives of an end: two for each credit of the depth, and two */

struct o2_receive {
	bool waits;    /* waits for a message; else it holds one, or was never posted */
	bool holds;    /* holds a message */
	bool promised; /* its credit was rightly given back before the receive is posted again */
	uint8_t type;
	uint64_t cookie; /* cookie of a PUT_REQ */
};

struct o2_receives {
	struct o2_receive receive[O2_RECEIVES];
	uint16_t order[O2_RECEIVES]; /* ring of the waiting receives: messages fill them in turn */
	uint32_t first, waiting;
	uint32_t holding;	 /* receives that hold a message */
	uint32_t taken, answers; /* of these: took a credit or its place and not promised; answers */
	/* Counts of what was posted here and of what arrived. */
	uint64_t told;		    /* credits returned */
	uint64_t costly;	    /* arrived messages that took a credit */
	uint64_t accepted, written; /* PUT_ACKs posted, PUT_DONEs arrived */
	uint64_t asked, answered;   /* requests posted, answers arrived */
};

/* A message, decoded from its bytes. */
struct o2_seen_message {
	uint8_t type;
	uint8_t credits;
	uint64_t cookie; /* PUT_REQ: its own cookie; PUT_ACK: the PUT_REQ's */
};

void o2_seen_message(const uint8_t *bytes, struct o2_seen_message *message);
/* The bytes of the message in a posted chain, after the writes of its transfer; NULL: none. */
uint8_t *o2_seen_posted(const struct ibv_send_wr *list);

/* Does a message of this type take a credit? */
bool o2_seen_costs(uint16_t version, uint8_t type);

/* Receive `number` is posted.  False: it is posted already and still waits, or the number is out of range. */
bool o2_receives_post(struct o2_receives *receives, uint32_t number);
/* A message arrived in the oldest waiting receive. */
void o2_receives_arrive(struct o2_receives *receives, uint16_t version,
			const struct o2_seen_message *message);
/*
 * A message is sent.  False, with the reason: the peer may now send more than there are receives for.  depth:
 * as agreed.
 */
bool o2_receives_leave(struct o2_receives *receives, uint32_t depth, const struct o2_seen_message *message,
		       struct o2_account *account);

#endif
