/* SPDX-License-Identifier: MIT */
#ifndef O2_PROPS_RECEIVES_H
#define O2_PROPS_RECEIVES_H

#include <infiniband/verbs.h>
#include <stdbool.h>
#include <stdint.h>

#include "props/world/account.h"

/*
 * The receives of one end, as its device has them: each waits for a message, or holds one and was not posted
 * again.  Credits are receives: whatever a message that leaves allows the peer to send, now or when it is
 * handled, has to find a receive at once, because the peer may run between any two calls of the end that sends.
 *
 * Nothing here is taken from the end.  It hears of each call when it is made and of each message when it
 * arrives, and knows a message by its bytes at their places (docs/transport.md, "Flow control").
 */

#define O2_RECEIVES 544u /* that an end may have: two for each of the depth, and two */

struct o2_receive {
	bool waits;    /* for a message; else it holds one, or was never posted */
	bool holds;    /* a message */
	bool promised; /* what the message has taken was given away by right, before this is posted again */
	uint8_t type;
	uint64_t cookie; /* of a PUT_REQ */
};

struct o2_receives {
	struct o2_receive receive[O2_RECEIVES];
	uint16_t order[O2_RECEIVES]; /* of those that wait, a ring: messages fill them in turn */
	uint32_t first, waiting;
	uint32_t holding; /* all that hold a message */
	uint32_t taken,
		answers; /* of them: what took a credit, or the place of one, and was not promised; answers */
	/* What was posted here, and what has arrived. */
	uint64_t told;		    /* credits */
	uint64_t costly;	    /* messages that took one */
	uint64_t accepted, written; /* PUT_ACKs posted, PUT_DONEs arrived */
	uint64_t asked, answered;   /* requests posted, answers arrived */
};

/* A message, by its bytes. */
struct o2_seen_message {
	uint8_t type;
	uint8_t credits;
	uint64_t cookie; /* its own, of a PUT_REQ; of a PUT_ACK that of the PUT_REQ */
};

void o2_seen_message(const uint8_t *bytes, struct o2_seen_message *message);
/* The bytes of the message in a chain that is posted, which stands behind the writes of its transfer; NULL: none. */
uint8_t *o2_seen_posted(const struct ibv_send_wr *list);

/* Does a message of this type take a credit? */
bool o2_seen_costs(uint16_t version, uint8_t type);

/* Receive `number` is posted.  False: it was, and no message has come since; or there is none such. */
bool o2_receives_post(struct o2_receives *receives, uint32_t number);
/* A message arrives. */
void o2_receives_arrive(struct o2_receives *receives, uint16_t version,
			const struct o2_seen_message *message);
/*
 * A message leaves.  False, with what is wrong: the peer may send more than there are receives for.
 * depth: as agreed.
 */
bool o2_receives_leave(struct o2_receives *receives, uint32_t depth, const struct o2_seen_message *message,
		       struct o2_account *account);

#endif
