/* SPDX-License-Identifier: MIT */
#ifndef O2_TEST_PLAYER_PEER_H
#define O2_TEST_PLAYER_PEER_H

#include <infiniband/verbs.h>
#include <stdbool.h>
#include <stdint.h>

#include "lnd/cm/cm.h"
#include "lnd/cm/loop.h"
#include "lnd/ni/ni.h"
#include "wire/msg.h"
#include "wire/reject.h"

/*
 * A puppet peer: it sends only the bytes that the test hands it, and keeps all messages that it receives.  Of
 * the engine under test it uses only interfaces (o2_ni) and the connection manager; the rest is plain verbs.
 */

#define PEER_LINES	3u
#define PEER_RECEIVES	32u
#define PEER_HEARD	16u
#define PEER_DATA_BYTES (1u << 20)

/* One queue pair; each attempt to connect gets a new one. */
struct player_line {
	struct ibv_qp *qp;
	struct o2_cm_id *id;
	uint8_t *receive; /* buffers for PEER_RECEIVES messages */
	struct ibv_mr *mr;
};

/* An event that the connection manager reported to the puppet. */
struct player_heard_cm {
	enum o2_cm_event_type type;
	struct o2_cm_id *id;
	uint32_t reason;
	uint8_t private_data[O2_CM_REPLY_BYTES];
	size_t private_bytes;
};

struct player_heard {
	uint32_t length_bytes;
	uint8_t bytes[O2_MSG_BYTES];
};

struct player_peer {
	struct o2_ni ni;
	struct o2_cm *cm;
	uint32_t our_address; /* address of the node under test */
	struct ibv_cq *cq;
	uint32_t nlines;
	struct player_line line[PEER_LINES];
	struct player_line *current; /* the most recent line */
	uint8_t *send;		     /* buffer for one message */
	struct ibv_mr *send_mr;
	uint8_t *data; /* source and sink of RDMA WRITEs */
	struct ibv_mr *data_mr;
	uint32_t nheard_cm, nheard;
	struct player_heard_cm heard_cm[PEER_HEARD];
	struct player_heard heard[PEER_HEARD];
	int failure; /* work-completion status of the first request that failed; 0: none */
};

/* Returns 0 or -errno; *error says why. */
int player_peer_open(struct player_peer *peer, struct o2_cm_loop *loop, const struct o2_ni_config *config,
		     uint32_t our_address, struct o2_error *error);
void player_peer_close(struct player_peer *peer);

/* Send the connection manager's messages, with this private data unchanged.  Those with a result: 0 or -errno. */
int player_peer_request(struct player_peer *peer, uint16_t port, const uint8_t *data, size_t bytes);
int player_peer_reply(struct player_peer *peer, struct o2_cm_id *request, const uint8_t *data, size_t bytes);
void player_peer_reject(struct o2_cm_id *request, const uint8_t *data, size_t bytes);
void player_peer_disconnect(struct player_peer *peer);

int player_peer_send(struct player_peer *peer, const uint8_t *bytes, uint32_t length_bytes);
/* RDMA WRITE of the first length_bytes of peer->data. */
int player_peer_write(struct player_peer *peer, uint64_t addr, uint32_t key, uint32_t length_bytes);

/* Handle all completions that have arrived.  Returns their number. */
int player_peer_poll(struct player_peer *peer);

/* Take the oldest received message; returns false if there is none. */
bool player_peer_take(struct player_peer *peer, struct player_heard *heard);
/* Take the oldest event of this type; returns false if there is none. */
bool player_peer_take_cm(struct player_peer *peer, enum o2_cm_event_type type, struct player_heard_cm *heard);

#endif
