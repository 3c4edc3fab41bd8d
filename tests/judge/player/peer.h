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
 * Somebody on the network who does nothing by himself: he sends what he is told to, byte for byte, and keeps
 * what he hears.  Plain verbs, no part of the engine.
 */

#define PEER_LINES	3u
#define PEER_RECEIVES	32u
#define PEER_HEARD	16u
#define PEER_DATA_BYTES (1u << 20)

/* One queue pair, from a request to connect on. */
struct player_line {
	struct ibv_qp *qp;
	struct o2_cm_id *id;
	uint8_t *receive; /* PEER_RECEIVES messages */
	struct ibv_mr *mr;
};

/* What the connection manager told him. */
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
	uint32_t our_address; /* of the node that he talks to */
	struct ibv_cq *cq;
	uint32_t nlines;
	struct player_line line[PEER_LINES];
	struct player_line *current; /* the one that is or was connected last */
	uint8_t *send;		     /* one message */
	struct ibv_mr *send_mr;
	uint8_t *data; /* what others write to, and what is written to them */
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

/* The connection manager's messages; private data as it stands.  All return 0 or -errno. */
int player_peer_request(struct player_peer *peer, uint16_t port, const uint8_t *data, size_t bytes);
int player_peer_reply(struct player_peer *peer, struct o2_cm_id *request, const uint8_t *data, size_t bytes);
void player_peer_reject(struct o2_cm_id *request, const uint8_t *data, size_t bytes);
void player_peer_disconnect(struct player_peer *peer);

int player_peer_send(struct player_peer *peer, const uint8_t *bytes, uint32_t length_bytes);
/* RDMA WRITE of the first bytes of peer->data. */
int player_peer_write(struct player_peer *peer, uint64_t addr, uint32_t key, uint32_t length_bytes);

/* Take what has come.  Returns how many completions there were. */
int player_peer_poll(struct player_peer *peer);

/* The oldest thing heard; false: nothing. */
bool player_peer_take(struct player_peer *peer, struct player_heard *heard);
/* The oldest event of a type. */
bool player_peer_take_cm(struct player_peer *peer, enum o2_cm_event_type type, struct player_heard_cm *heard);

#endif
