/* SPDX-License-Identifier: MIT */
#ifndef O2_LND_CM_LOOP_INTERNAL_H
#define O2_LND_CM_LOOP_INTERNAL_H

#include <sys/queue.h>

#include "lnd/cm/loop.h"

/*
 * Internals of the in-process connection manager: loop.c has the calls, loop_deliver.c the deliveries.
 *
 * o2iblnd: none, a network in one process is for tests
 */

struct o2_loop_endpoint {
	struct o2_cm base;
	struct o2_cm_loop *loop;
	LIST_ENTRY(o2_loop_endpoint) entry;
	const struct o2_ni *ni;
	uint32_t address;
	uint16_t port; /* the port that the interface listens on; 0: none */
	bool lost;     /* the interface's device is gone */
};

/* The address of a queue pair. */
struct o2_loop_qp {
	union ibv_gid gid;
	uint32_t qp_num;
	uint32_t psn;
};

struct o2_loop_id {
	struct o2_cm_id base;
	struct o2_loop_endpoint *here;
	struct o2_loop_id *peer; /* the id at the other end; NULL: none yet, or destroyed */
	uint32_t peer_address;
	struct o2_cm_param param; /* without private data; param.qp exists until ESTABLISHED */
	struct o2_loop_qp local;
	struct o2_loop_qp remote;
};

struct o2_loop_message {
	enum o2_cm_loop_message type;
	struct o2_loop_id *from; /* NULL: the network, or an id that was destroyed */
	struct o2_loop_id *to;	 /* requests: NULL */
	uint32_t from_address;
	uint32_t to_address;
	uint16_t port;
	struct o2_loop_qp qp;	     /* the sender's; used in requests and replies */
	enum o2_cm_event_type event; /* FAILURE: the event to report */
	uint32_t reason;
	int code;
	uint8_t private_data[O2_CM_REPLY_BYTES];
};

struct o2_cm_loop {
	LIST_HEAD(, o2_loop_endpoint) endpoints;
	o2_cm_loop_fate_fn fate;
	void *fate_arg;
	o2_cm_loop_tap_fn tap;
	void *tap_arg;
	struct o2_loop_message *message; /* oldest first */
	size_t nmessages;
	size_t capacity;
};

/* Put a message on the network.  NULL: out of memory; the message is lost, as on a real network. */
struct o2_loop_message *o2_loop_send(struct o2_cm_loop *loop, enum o2_cm_loop_message type,
				     struct o2_loop_id *from, struct o2_loop_id *to);
/* The network itself tells an id how its attempt ended.  id NULL: the id was destroyed, and nobody is told. */
void o2_loop_tell(struct o2_loop_id *id, enum o2_cm_event_type event, uint32_t reason, int code);
struct o2_loop_endpoint *o2_loop_find(const struct o2_cm_loop *loop, uint32_t address);
struct o2_loop_id *o2_loop_id_new(struct o2_loop_endpoint *here, enum o2_cm_id_state state,
				  uint32_t peer_address);
int o2_loop_to_rts(struct o2_loop_id *id, struct o2_error *error);
void o2_loop_reject(struct o2_loop_id *id, uint32_t reason, const uint8_t *bytes, size_t length_bytes);

#endif
