/* SPDX-License-Identifier: MIT */
#ifndef O2_LND_CONNREQ_H
#define O2_LND_CONNREQ_H

#include <assert.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "lnd/cm/cm.h"
#include "wire/msg.h"
#include "wire/reject.h"

/*
 * The negotiation of a connection: what one side asks for, what the other side answers, and what an answer means.
 * Pure: plain structs and bytes in, plain structs and bytes out; no device, no clock, no allocation.
 * Source: docs/connection.md, "Negotiation".
 */

#define O2_CONNREQ_BYTES 56u /* length of CONNREQ and CONNACK; all that a request can carry */
static_assert(O2_CONNREQ_BYTES == O2_CM_REQUEST_BYTES && O2_CONNREQ_BYTES <= O2_CM_REPLY_BYTES,
	      "connection managers have room for it");
static_assert(O2_REJECT_BYTES <= O2_CM_REJECT_BYTES && O2_REJECT_PRIVATE_BYTES == O2_CM_REJECT_BYTES,
	      "and for a reject record, which they pad");

/* With a smaller depth a peer could not have a request and its completion in flight. */
#define O2_QUEUE_DEPTH_MIN 2u
#define O2_QUEUE_DEPTH_V1  8u /* o2iblnd: IBLND_MSG_QUEUE_SIZE_V1. The depth that version 0x11 always has */
static_assert(O2_QUEUE_DEPTH_MIN <= O2_QUEUE_DEPTH_V1 && O2_QUEUE_DEPTH_V1 <= O2_MAX_QUEUE_DEPTH,
	      "legal depths");

/* The first source port that needs no privilege to bind. */
#define O2_PORT_UNPRIVILEGED 1024u

/* A peer's requests in a row that may lose the connection race, before one wins whatever the ranking says. */
#define O2_MAX_CONN_RACES 20u /* o2iblnd: MAX_CONN_RACES_BEFORE_ABORT */

/* The incarnation recorded for a peer that did not state its own: version 0x11 rejects do not contain it. */
#define O2_INCARNATION_UNSAID UINT64_MAX

/* Whose request wins when both nodes connect at once.  Races are counted because nodes may rank differently. */
enum o2_race_ranking {
	O2_RACE_BY_WORDS, /* network number XOR the address as it lies in memory; 2.15.64 and later */
	O2_RACE_BY_NID,	  /* the NID as a number; before 2.15.64 */
};

/* The parameters that one side asks for, or that both sides have agreed on. */
struct o2_conn_params {
	uint16_t version; /* version of the messages: 0x11 or 0x12 */
	uint16_t queue_depth;
	uint16_t max_frags;
	uint32_t max_msg_size; /* bytes */
};

/* The properties of this node that matter in negotiations. */
struct o2_connreq_self {
	uint64_t nid;
	uint64_t incarnation;
	enum o2_byte_order order; /* byte order of what we send; a ranking by words reads addresses in it */
	enum o2_cksum_flavour cksum_flavour;
	uint16_t version;     /* the newest version that we support: 0x12, or 0x11 */
	uint16_t queue_depth; /* 2 to 255 */
	uint16_t max_frags;   /* 1 to O2_MAX_FRAGS */
	bool registers; /* fragment lists can be registered as one; else a peer must offer all of max_frags */
	bool up; /* false: the interface starts, or nobody listens; requests are rejected as too early */
	bool require_privileged_port;
	bool require_checksum; /* this and the next two: as in struct o2_wire_options */
	enum o2_cksum_flavour only_flavour;
	bool any_lnd;
	bool bind_nid_to_address; /* a peer's NID must contain the address that its request comes from */
	enum o2_race_ranking ranking;
	uint32_t max_peers;	     /* the most nodes that we keep a record of */
	uint32_t max_conns_per_peer; /* the most connections of one node, including those that it asks for */
};

/* The content of a request that passed decoding and all checks of o2_connreq_judge. */
struct o2_connreq {
	uint64_t nid;
	uint64_t incarnation;
	struct o2_conn_params params;
};

/* What we know about the node that asks. */
struct o2_connreq_known {
	uint32_t npeers;      /* number of nodes that we keep a record of */
	bool known;	      /* the node is one of them; else ignore the members below */
	uint16_t version;     /* 0: none was agreed on or tried again; then ignore incarnation */
	uint64_t incarnation; /* 0: the node has not said it, so its next request is stale */
	uint32_t nconns; /* its connections, with those that it asks for, without those that we ask for */
	bool connecting; /* a request of ours to the node is open */
	uint32_t nraces; /* requests in a row of the node that lost the connection race */
};

/*
 * Encode a CONNREQ with this offer.  dststamp: the peer's incarnation, 0: unknown.  Returns its length or -errno.
 * o2iblnd: kiblnd_active_connect
 */
int o2_connreq_build(const struct o2_connreq_self *self, const struct o2_conn_params *offer,
		     uint64_t peer_nid, uint64_t dststamp, uint8_t *bytes, size_t capacity_bytes,
		     struct o2_error *error);

/* Encode the CONNACK that accepts *request with these parameters.  Returns its length or -errno. */
/* o2iblnd: kiblnd_passive_connect */
int o2_connack_build(const struct o2_connreq_self *self, const struct o2_connreq *request,
		     const struct o2_conn_params *agreed, uint8_t *bytes, size_t capacity_bytes,
		     struct o2_error *error);

/*
 * Judge a request by its content.  This makes every check of docs/connection.md, "Checks of a request", up to the
 * peer's own record, in the order given there, and reports the first that fails.
 *
 * Returns 0 with *request filled, or -errno with *reject (the answer to send) and *error (may be NULL).
 * o2iblnd: kiblnd_passive_connect
 */
int o2_connreq_judge(const struct o2_connreq_self *self, const struct o2_cm_origin *origin,
		     const uint8_t *bytes, size_t length_bytes, struct o2_connreq *request,
		     struct o2_reject *reject, struct o2_error *error);

/*
 * The remaining checks: judge a request by what we know about the node that sent it.  Returns 0: accept it; or
 * -errno with *reject and *error.  -ESTALE: what we know is of another incarnation or version of the node.
 * o2iblnd: kiblnd_passive_connect
 */
int o2_connreq_judge_peer(const struct o2_connreq_self *self, const struct o2_connreq *request,
			  const struct o2_connreq_known *known, struct o2_reject *reject,
			  struct o2_error *error);

/* Make the reject for a request that passed all checks but cannot be served. */
void o2_connreq_no_resources(const struct o2_connreq_self *self, const struct o2_connreq *request,
			     struct o2_reject *reject);

/*
 * Judge the CONNACK that answers our request for *asked.  Returns 0 with *agreed and the peer's *incarnation;
 * -EPROTO or -ESTALE with *error (may be NULL).
 * o2iblnd: kiblnd_check_connreply
 */
int o2_connack_judge(const struct o2_connreq_self *self, const struct o2_conn_params *asked,
		     const uint8_t *bytes, size_t length_bytes, struct o2_conn_params *agreed,
		     uint64_t *incarnation, struct o2_error *error);

/* The meaning of a reject for the side that asked. */
struct o2_reject_verdict {
	bool retry;  /* ask again, for .offer, but only if operations still wait or the version has changed */
	int code;    /* negative errno for the waiting operations if there is no retry */
	uint8_t why; /* enum o2_reject_why; 0: the connection manager itself rejected */
	struct o2_conn_params offer;
	uint64_t incarnation; /* the peer's; 0: not stated */
	struct o2_error error;
};

/* cm_reason: the connection manager's reason.  bytes: the private data, may be empty. */
/* o2iblnd: kiblnd_rejected */
void o2_reject_judge(const struct o2_connreq_self *self, const struct o2_conn_params *asked,
		     uint32_t cm_reason, const uint8_t *bytes, size_t length_bytes,
		     struct o2_reject_verdict *verdict);

/* The largest and the smallest queue depth that we offer and accept in a version. */
/* o2iblnd: kiblnd_msg_queue_size */
uint16_t o2_connreq_queue_depth(const struct o2_connreq_self *self, uint16_t version);
uint16_t o2_connreq_queue_depth_min(uint16_t version);

/* Both sides connect at once: must the request of peer_nid give way to ours? */
bool o2_race_lost(const struct o2_connreq_self *self, uint64_t peer_nid);

#endif
