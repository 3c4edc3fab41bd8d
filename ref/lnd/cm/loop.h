/* SPDX-License-Identifier: MIT */
#ifndef O2_LND_CM_LOOP_H
#define O2_LND_CM_LOOP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "lnd/cm/cm.h"
#include "lnd/ni/ni.h"

/*
 * A connection manager in one process, for tests and simulators: requests, replies and so on are messages
 * that wait on a "network" until its owner delivers one of them.  It has no clock and no thread, and the same
 * calls in the same order give the same events.
 *
 * Messages for one id keep their order, and so do those of one id for another; apart from that the owner
 * chooses. The queue pairs are real: they are taken to RTS towards each other.
 *
 * o2iblnd: none, a network in one process is for tests
 */

struct o2_cm_loop; /* the network */

enum o2_cm_loop_message {
	O2_CM_LOOP_REQUEST,
	O2_CM_LOOP_REPLY,
	O2_CM_LOOP_REJECT,
	O2_CM_LOOP_READY, /* the active side's confirmation */
	O2_CM_LOOP_DISCONNECT,
	O2_CM_LOOP_DISCONNECTED, /* its confirmation */
	O2_CM_LOOP_FAILURE,	 /* a report of the network itself, which no id has sent */
};

/* What becomes of a message when it is delivered. */
enum o2_cm_loop_fate {
	O2_CM_LOOP_PASS,
	O2_CM_LOOP_LOSE,	/* without a word to its sender */
	O2_CM_LOOP_UNREACHABLE, /* its sender is told that there is no answer */
	O2_CM_LOOP_UNRESOLVED,	/* requests: its sender is told that there is no such address */
	O2_CM_LOOP_REFUSE,	/* requests: as if the port had no listener */
};

/* Asked for each message except the network's own. */
typedef enum o2_cm_loop_fate (*o2_cm_loop_fate_fn)(void *arg, enum o2_cm_loop_message message,
						   uint32_t from_address, uint32_t to_address);

struct o2_cm_loop *o2_cm_loop_create(void); /* NULL: no memory */

/* Every interface must have been detached. */
void o2_cm_loop_destroy(struct o2_cm_loop *loop);

/*
 * Put an interface on the network, at an IPv4 address that nobody else has.  ni outlives its place there.
 * Returns 0, -EADDRINUSE or -ENOMEM.
 */
int o2_cm_loop_attach(struct o2_cm_loop *loop, const struct o2_ni *ni, uint32_t address, struct o2_cm **cm,
		      struct o2_error *error);

/* Every id must have been destroyed. */
void o2_cm_loop_detach(struct o2_cm *cm);

/*
 * The interface's device is lost: its handler gets O2_CM_DEVICE_LOST, and no message leaves or reaches the
 * interface any more.
 */
void o2_cm_loop_lose_device(struct o2_cm *cm);

/* Ask this function, with arg, from now on; NULL: every message passes. */
void o2_cm_loop_set_fate(struct o2_cm_loop *loop, o2_cm_loop_fate_fn fate, void *arg);

/* A message that is about to be delivered. */
struct o2_cm_loop_seen {
	enum o2_cm_loop_message message;
	uint32_t from_qp, to_qp; /* of the ids at both ends; 0: none there yet, or gone */
	uint32_t reason;	 /* REJECT */
	const uint8_t *private_data;
	size_t private_bytes;
};

typedef void (*o2_cm_loop_tap_fn)(void *arg, const struct o2_cm_loop_seen *seen);

/* Call this function, with arg, for each message that passes, but for the network's own; NULL: none. */
void o2_cm_loop_set_tap(struct o2_cm_loop *loop, o2_cm_loop_tap_fn tap, void *arg);

/* How many messages may be delivered next: the owner chooses one of them. */
size_t o2_cm_loop_choices(const struct o2_cm_loop *loop);

/* Deliver one of them; its receiver's handler is called.  False: there are not so many. */
bool o2_cm_loop_deliver(struct o2_cm_loop *loop, size_t index);

#endif
