/* SPDX-License-Identifier: MIT */
#ifndef O2_LNET_LNET_INTERNAL_H
#define O2_LNET_LNET_INTERNAL_H

#include "lnet/lnet.h"

/* Internals of LNet, shared by the files of this directory (docs/peer.md). */

enum o2_lnet_message_kind {
	O2_LNET_FREE,
	O2_LNET_OUR_PUT,
	O2_LNET_OUR_GET,
	O2_LNET_REPLY_SINK, /* the sink of a REPLY by RDMA, to an OUR_GET */
	O2_LNET_PEER_PUT,   /* into an entry, by RDMA */
	O2_LNET_PEER_GET,   /* from an entry: the RDMA, or the REPLY to the peer */
	O2_LNET_OUR_ACK,
};

/*
 * A message, from its start until the transport has finished it and its answer, if it needs one, has come.
 * LNet: lnet_msg
 */
struct o2_lnet_message {
	enum o2_lnet_message_kind kind;
	uint32_t generation; /* counts the uses of this slot, so that every tag is unique */
	uint64_t nid;
	struct o2_lnet_hdr hdr;		  /* OUR_: the header sent; PEER_: that of the request */
	bool in_transport;		  /* the transport has not called o2_lnet_finished yet */
	bool by_rdma;			  /* OUR_PUT, OUR_GET, REPLY_SINK: it is not an IMMEDIATE */
	bool replying;			  /* OUR_GET: a REPLY_SINK is in transport for it */
	bool answered;			  /* OUR_PUT, OUR_GET: the ACK or REPLY has come */
	int status;			  /* the transport's result */
	struct o2_transfer_fault fault;	  /* why the operation failed; code 0: nothing is known */
	uint64_t moved_bytes;		  /* by RDMA, or by an IMMEDIATE OUR_PUT */
	int answer_status;		  /* 0, or why the REPLY failed */
	uint64_t answer_bytes;		  /* length in the ACK or REPLY */
	uint64_t tag;			  /* OUR_PUT, OUR_GET: the caller's */
	uint32_t timeout_ms;		  /* OUR_PUT, OUR_GET: how long to wait for the answer */
	uint64_t deadline_ms;		  /* OUR_PUT, OUR_GET, while waiting: end of the wait */
	bool cancelled;			  /* OUR_PUT, OUR_GET: end it instead of waiting */
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
	bool ending; /* being destroyed: nothing new is started */
	struct o2_match_table table;
	struct o2_kiov ping_page[2]; /* vectors of the two entries at the portal of pings */
	struct o2_lnet_message *message;
	uint32_t nused;	      /* entries of message[] that were ever used; the others are not looked at */
	uint32_t *free_index; /* stack of the entries that are free again */
	uint32_t nfree;
};

/* lnet.c */

/* Take a slot for a message, marked as in transport; NULL: max_messages are in use. */
struct o2_lnet_message *o2_lnet_message_new(struct o2_lnet *lnet, enum o2_lnet_message_kind kind,
					    uint64_t nid, const struct o2_lnet_hdr *hdr,
					    struct o2_error *error);
void o2_lnet_message_free(struct o2_lnet *lnet, struct o2_lnet_message *message);
uint64_t o2_lnet_tag(const struct o2_lnet *lnet, const struct o2_lnet_message *message);
struct o2_lnet_message *o2_lnet_find(struct o2_lnet *lnet, uint64_t tag);
/* Is this an OUR_PUT or OUR_GET that only waits for the peer's answer? */
bool o2_lnet_operation_waits(const struct o2_lnet_message *message);

/* A header addressed to a peer; the union is zero. */
struct o2_lnet_hdr o2_lnet_hdr_to(const struct o2_lnet *lnet, uint64_t nid, uint32_t pid,
				  enum o2_lnet_type type);

/*
 * Pass a message to the transport, as an IMMEDIATE or by RDMA, depending on its size: a PUT or REPLY with
 * message->memory as its payload, a GET with message->memory as its sink, or an ACK.
 */
int o2_lnet_transmit(struct o2_lnet *lnet, struct o2_lnet_message *message, const struct o2_lnet_hdr *hdr,
		     struct o2_error *error);

void o2_lnet_dropped(struct o2_lnet *lnet, uint64_t nid, const struct o2_lnet_hdr *hdr,
		     const struct o2_error *error);

/* initiator.c */

/* Does this PUT ask for an acknowledgement? */
bool o2_lnet_wants_ack(const struct o2_lnet_hdr *put);
/* To be called when the transport or the peer's answer has advanced an OUR_PUT or OUR_GET: end it if complete. */
void o2_lnet_operation_advance(struct o2_lnet *lnet, struct o2_lnet_message *message);
void o2_lnet_operation_end(struct o2_lnet *lnet, struct o2_lnet_message *message, int status);
void o2_lnet_take_ack(struct o2_lnet *lnet, uint64_t nid, const struct o2_lnet_hdr *hdr);
void o2_lnet_take_reply(struct o2_lnet *lnet, uint64_t nid, const struct o2_lnet_hdr *hdr,
			const uint8_t *payload);
int o2_lnet_match_reply(struct o2_lnet *lnet, uint64_t nid, const struct o2_lnet_hdr *hdr,
			struct o2_transfer_memory *memory, uint64_t *tag, struct o2_error *error);
void o2_lnet_reply_finished(struct o2_lnet *lnet, struct o2_lnet_message *message);

#endif
