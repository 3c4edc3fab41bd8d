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
 * The negotiation of a connection: what is asked for, what is answered, and what an answer means.  Pure:
 * plain structs and bytes in, plain structs and bytes out; no device, no clock, no allocation. Source:
 * docs/connection.md, "Negotiation".
 */

#define O2_CONNREQ_BYTES 56u /* CONNREQ and CONNACK; all that a connection request has room for */
static_assert(O2_CONNREQ_BYTES == O2_CM_REQUEST_BYTES && O2_CONNREQ_BYTES <= O2_CM_REPLY_BYTES,
	      "connection managers have room for it");
static_assert(O2_REJECT_BYTES <= O2_CM_REJECT_BYTES && O2_REJECT_PRIVATE_BYTES == O2_CM_REJECT_BYTES,
	      "and for a reject record, which they pad");

/* Below this a peer could not have a request and its completion under way. */
#define O2_QUEUE_DEPTH_MIN 2u
#define O2_QUEUE_DEPTH_V1  8u /* o2iblnd: IBLND_MSG_QUEUE_SIZE_V1. What version 0x11 always has */
static_assert(O2_QUEUE_DEPTH_MIN <= O2_QUEUE_DEPTH_V1 && O2_QUEUE_DEPTH_V1 <= O2_MAX_QUEUE_DEPTH,
	      "legal depths");

/* Source ports from here on may be bound by anybody. */
#define O2_PORT_UNPRIVILEGED 1024u

/* Requests of a peer that lose the tie in a row, before one is let through whatever the ranking says. */
#define O2_MAX_CONN_RACES 20u /* o2iblnd: MAX_CONN_RACES_BEFORE_ABORT */

/* The incarnation that is stored for a peer that does not say its own: a rejecting one of version 0x11. */
#define O2_INCARNATION_UNSAID UINT64_MAX

/* Whose request wins when both connect at once; sides that rank differently are why races are counted. */
enum o2_race_ranking {
	O2_RACE_BY_WORDS, /* the network number XOR the address as it lies in memory; 2.15.64 and later */
	O2_RACE_BY_NID,	  /* the NID as a number; before that */
};

/* What one side asks for, or both have agreed upon. */
struct o2_conn_params {
	uint16_t version; /* of the messages: 0x11 or 0x12 */
	uint16_t queue_depth;
	uint16_t max_frags;
	uint32_t max_msg_size; /* bytes */
};

/* This node, as far as negotiations look at it. */
struct o2_connreq_self {
	uint64_t nid;
	uint64_t incarnation;
	enum o2_byte_order order; /* of what we send; also tells how a ranking by words reads an address */
	enum o2_cksum_flavour cksum_flavour;
	uint16_t version;     /* the newest that we speak: 0x12, or 0x11 */
	uint16_t queue_depth; /* 2 to 255 */
	uint16_t max_frags;   /* 1 to O2_MAX_FRAGS */
	bool registers; /* lists of fragments can be registered as one; else all of max_frags is needed */
	bool up;	/* false: the interface is still starting, and says so */
	bool require_privileged_port;
	bool require_checksum; /* as in struct o2_wire_options, and so are the next two */
	enum o2_cksum_flavour only_flavour;
	bool any_lnd;
	bool bind_nid_to_address; /* the address in a peer's NID must be the one that it comes from */
	enum o2_race_ranking ranking;
	uint32_t max_peers;	     /* nodes that we keep record of */
	uint32_t max_conns_per_peer; /* connections of one of them, those that it asks for included */
};

/* A request that could be read. */
struct o2_connreq {
	uint64_t nid;
	uint64_t incarnation;
	struct o2_conn_params params;
};

/* What we know of the node that asks. */
struct o2_connreq_known {
	uint32_t npeers;      /* nodes that we keep record of */
	bool known;	      /* it is one of them; else the rest says nothing */
	uint16_t version;     /* 0: nothing is known of it but its NID */
	uint64_t incarnation; /* goes with version */
	uint32_t nconns;      /* connections, those that it asks for included, those that we ask for not */
	bool connecting;      /* we are asking it at this moment */
	uint32_t nraces;      /* requests of it that have lost a tie in a row */
};

/*
 * A CONNREQ with this offer.  dststamp: the peer's incarnation, 0: not known.  Returns its length or -errno.
 * o2iblnd: kiblnd_active_connect
 */
int o2_connreq_build(const struct o2_connreq_self *self, const struct o2_conn_params *offer,
		     uint64_t peer_nid, uint64_t dststamp, uint8_t *bytes, size_t capacity_bytes,
		     struct o2_error *error);

/* The CONNACK that accepts *request with these parameters.  Returns its length or -errno. */
/* o2iblnd: kiblnd_passive_connect */
int o2_connack_build(const struct o2_connreq_self *self, const struct o2_connreq *request,
		     const struct o2_conn_params *agreed, uint8_t *bytes, size_t capacity_bytes,
		     struct o2_error *error);

/*
 * Judge a request by what it says.  Every check of docs/connection.md, "Checks of a request", up to the
 * peer's own record is made in the order given there; the first that fails is reported.
 *
 * Returns 0 with *request filled, or -errno with *reject (what to answer) and *error (may be NULL).
 * o2iblnd: kiblnd_passive_connect
 */
int o2_connreq_judge(const struct o2_connreq_self *self, const struct o2_cm_origin *origin,
		     const uint8_t *bytes, size_t length_bytes, struct o2_connreq *request,
		     struct o2_reject *reject, struct o2_error *error);

/*
 * The checks that follow: judge a request by what we know of the node it comes from.
 * Returns 0: accept it; or -errno with *reject and *error.  -ESTALE: what we know is of its earlier life.
 * o2iblnd: kiblnd_passive_connect
 */
int o2_connreq_judge_peer(const struct o2_connreq_self *self, const struct o2_connreq *request,
			  const struct o2_connreq_known *known, struct o2_reject *reject,
			  struct o2_error *error);

/* The answer to a request that was found good but cannot be served. */
void o2_connreq_no_resources(const struct o2_connreq_self *self, const struct o2_connreq *request,
			     struct o2_reject *reject);

/*
 * Judge the CONNACK that answers what we asked for.
 * Returns 0 with *agreed and the peer's *incarnation; -EPROTO or -ESTALE with *error (may be NULL).
 * o2iblnd: kiblnd_check_connreply
 */
int o2_connack_judge(const struct o2_connreq_self *self, const struct o2_conn_params *asked,
		     const uint8_t *bytes, size_t length_bytes, struct o2_conn_params *agreed,
		     uint64_t *incarnation, struct o2_error *error);

/* What a reject means to the side that asked. */
struct o2_reject_verdict {
	bool retry; /* ask once more, for .offer; only if operations still wait, or the version has changed */
	int code;   /* negative errno for those who wait, when there is no retry */
	uint8_t why; /* enum o2_reject_why; 0: the connection manager's own reason */
	struct o2_conn_params offer;
	uint64_t incarnation; /* the peer's; 0: it did not say */
	struct o2_error error;
};

/* cm_reason: of the connection manager.  bytes: the private data, may be empty. */
/* o2iblnd: kiblnd_rejected */
void o2_reject_judge(const struct o2_connreq_self *self, const struct o2_conn_params *asked,
		     uint32_t cm_reason, const uint8_t *bytes, size_t length_bytes,
		     struct o2_reject_verdict *verdict);

/* The queue depths that a version of us offers and accepts: at most, and at least. */
/* o2iblnd: kiblnd_msg_queue_size */
uint16_t o2_connreq_queue_depth(const struct o2_connreq_self *self, uint16_t version);
uint16_t o2_connreq_queue_depth_min(uint16_t version);

/* Both sides connect at once: the request of `peer` has to give way to ours. */
bool o2_race_lost(const struct o2_connreq_self *self, uint64_t peer_nid);

#endif
