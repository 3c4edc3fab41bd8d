/* SPDX-License-Identifier: MIT */
#ifndef O2_LNET_LNET_INTERNAL_H
#define O2_LNET_LNET_INTERNAL_H

#include "lnet/lnet.h"

/* The inside of LNet's place; shared by the files of this room (docs/peer.md). */

enum o2_lnet_message_kind {
	O2_LNET_FREE,
	O2_LNET_OUR_PUT,
	O2_LNET_OUR_GET,
	O2_LNET_REPLY_SINK, /* the REPLY to a GET of ours comes by RDMA */
	O2_LNET_PEER_PUT,   /* into an entry, by RDMA */
	O2_LNET_PEER_GET,   /* from an entry: the RDMA, or our REPLY */
	O2_LNET_OUR_ACK,
};

/*
 * A message under way: from its start until the transport has finished it and what it waits for has come.
 * LNet: lnet_msg
 */
struct o2_lnet_message {
	enum o2_lnet_message_kind kind;
	uint32_t generation; /* of the slot: makes tags that are not used twice */
	uint64_t nid;
	struct o2_lnet_hdr hdr;		  /* OUR_: as sent; PEER_: the request */
	bool in_transport;		  /* o2_lnet_finished is still to come */
	bool by_rdma;			  /* OUR_PUT, OUR_GET, REPLY_SINK: not as an IMMEDIATE */
	bool replying;			  /* OUR_GET: a REPLY_SINK is under way */
	bool answered;			  /* OUR_PUT, OUR_GET: the ACK or REPLY has come */
	int status;			  /* of the transport */
	struct o2_transfer_fault fault;	  /* likewise; code 0: none */
	uint64_t moved_bytes;		  /* by RDMA, or as an IMMEDIATE of ours */
	int answer_status;		  /* of what the ACK or REPLY did */
	uint64_t answer_bytes;		  /* as the ACK or REPLY says */
	uint64_t tag;			  /* OUR_PUT, OUR_GET: the owner's */
	uint32_t timeout_ms;		  /* OUR_PUT, OUR_GET: how long to wait for the answer */
	uint64_t deadline_ms;		  /* OUR_PUT, OUR_GET, not in transport: when to give up waiting */
	bool cancelled;			  /* OUR_PUT, OUR_GET: is not to wait */
	uint64_t parent;		  /* REPLY_SINK: tag of the GET */
	struct o2_match match;		  /* PEER_ */
	struct o2_transfer_memory memory; /* OUR_: source or sink; PEER_GET: what the REPLY carries */
};

struct o2_lnet {
	struct o2_lnet_config config;
	struct o2_lnet_transport transport;
	const struct o2_arena *arena;
	struct o2_lnet_ops ops;
	void *context;
	const struct o2_clock *clock;
	struct o2_match_table table;
	struct o2_kiov ping_page[2]; /* vectors of the two entries at the portal of pings */
	struct o2_lnet_message *message;
	uint32_t nused;	      /* of message: how many were ever taken; those behind them are not looked at */
	uint32_t *free_index; /* a stack, of those that came back */
	uint32_t nfree;
};

/* lnet.c */

/* A message in transport; NULL: there are as many as there may be. */
struct o2_lnet_message *o2_lnet_message_new(struct o2_lnet *lnet, enum o2_lnet_message_kind kind,
					    uint64_t nid, const struct o2_lnet_hdr *hdr,
					    struct o2_error *error);
void o2_lnet_message_free(struct o2_lnet *lnet, struct o2_lnet_message *message);
uint64_t o2_lnet_tag(const struct o2_lnet *lnet, const struct o2_lnet_message *message);
struct o2_lnet_message *o2_lnet_find(struct o2_lnet *lnet, uint64_t tag);
/* Is this an operation of ours that only waits for the peer's answer? */
bool o2_lnet_operation_waits(const struct o2_lnet_message *message);

/* A header to a peer; everything of the union is zero. */
struct o2_lnet_hdr o2_lnet_hdr_to(const struct o2_lnet *lnet, uint64_t nid, uint32_t pid,
				  enum o2_lnet_type type);

/*
 * Hand a message to the transport, as an IMMEDIATE or by RDMA, whichever its size asks for: a PUT or REPLY
 * with message->memory as its payload, a GET with it as its sink, or an ACK.
 */
int o2_lnet_transmit(struct o2_lnet *lnet, struct o2_lnet_message *message, const struct o2_lnet_hdr *hdr,
		     struct o2_error *error);

void o2_lnet_dropped(struct o2_lnet *lnet, uint64_t nid, const struct o2_lnet_hdr *hdr,
		     const struct o2_error *error);

/* initiator.c */

/* Does this PUT ask for an acknowledgement? */
bool o2_lnet_wants_ack(const struct o2_lnet_hdr *put);
/* The transport, or the peer's answer, has brought one of our operations further: end it if it is over. */
void o2_lnet_operation_advance(struct o2_lnet *lnet, struct o2_lnet_message *message);
void o2_lnet_operation_end(struct o2_lnet *lnet, struct o2_lnet_message *message, int status);
void o2_lnet_take_ack(struct o2_lnet *lnet, uint64_t nid, const struct o2_lnet_hdr *hdr);
void o2_lnet_take_reply(struct o2_lnet *lnet, uint64_t nid, const struct o2_lnet_hdr *hdr,
			const uint8_t *payload);
int o2_lnet_match_reply(struct o2_lnet *lnet, uint64_t nid, const struct o2_lnet_hdr *hdr,
			struct o2_transfer_memory *memory, uint64_t *tag, struct o2_error *error);
void o2_lnet_reply_finished(struct o2_lnet *lnet, struct o2_lnet_message *message);

#endif
