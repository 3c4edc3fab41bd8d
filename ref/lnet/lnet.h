/* SPDX-License-Identifier: MIT */
#ifndef O2_LNET_LNET_H
#define O2_LNET_LNET_H

#include <stdbool.h>
#include <stdint.h>

#include "base/clock.h"
#include "base/error.h"
#include "lnd/conn/transfer.h"
#include "lnet/match.h"
#include "lnet/ping.h"
#include "mem/arena.h"
#include "wire/msg.h"

/*
 * LNet's place above the transport: what a peer needs of it and no more.  It matches the PUTs and GETs of
 * peers with memory, answers pings, sends and takes acknowledgements and replies, and starts PUTs and GETs.
 * It does not route.  Source: docs/peer.md.
 *
 * It has no thread, and the clock is its interface's: o2_lnet_check_time follows what that is told.
 * Everything may be called from inside ops, except o2_lnet_destroy.
 */

#define O2_LNET_PID_KERNEL 12345u     /* of every Lustre node */
#define O2_LNET_OFFSET_MAX UINT32_MAX /* what the LNet header has room for (docs/wire.md) */

struct o2_lnet_config {
	uint64_t nid;
	uint32_t pid;
	uint64_t interface_cookie; /* first half of the handles that we hand out; differs with every start */
	uint32_t ping_features;
	uint32_t ping_sequence;
	/*
	 * Two pages of the arena that belong to LNet: the answer to pings is in the first, what peers push
	 * goes to the second.
	 */
	uint32_t first_page;
	uint32_t max_messages; /* under way at a time, ours and the peers' */
	uint32_t max_entries;
	uint32_t response_timeout_ms; /* how long to wait for an ACK or REPLY once the request is out */
};

#define O2_LNET_DEFAULTS                                                         \
	((struct o2_lnet_config){.pid = O2_LNET_PID_KERNEL,                      \
				 .ping_features = O2_PING_NO_DISCOVERY_FEATURES, \
				 .ping_sequence = 1,                             \
				 .max_messages = 1024,                           \
				 .max_entries = 64,                              \
				 .response_timeout_ms = 50000})

enum o2_lnet_event_kind {
	O2_LNET_EVENT_PUT,     /* a peer's PUT has ended */
	O2_LNET_EVENT_GET,     /* a peer's GET has ended */
	O2_LNET_EVENT_DROPPED, /* a message was not acted upon: error says why; the connection is kept */
};

/* What a peer did to us. */
struct o2_lnet_event {
	enum o2_lnet_event_kind kind;
	uint64_t nid;
	const struct o2_lnet_hdr *hdr; /* of the request; valid in the call only */
	/* PUT, GET: */
	uint64_t entry_tag;
	bool unlinked;	       /* the entry has gone with it: O2_LNET_MD_UNLINK, or o2_lnet_unlink */
	uint64_t offset;       /* in the entry's memory */
	uint64_t length_bytes; /* that were taken; on failure they are undefined */
	int status;	       /* 0 or -errno */
	uint64_t request;      /* names it from ops->started on; 0: a PUT as IMMEDIATE, which just ends */
	/* DROPPED: */
	const struct o2_error *error;
};

/* How an operation of ours ended. */
struct o2_lnet_result {
	uint64_t operation; /* what o2_lnet_put or o2_lnet_get returned */
	uint64_t tag;	    /* of its target */
	bool is_get;
	/*
	 * 0, or -errno: of the transport; -ENODATA: nothing matched, as far as the protocol tells;
	 * -ETIMEDOUT: no ACK or REPLY came; -EMSGSIZE: the REPLY is longer than the sink; -ECANCELED:
	 * o2_lnet_cancel; -ECONNABORTED: o2_lnet_peer_down.
	 */
	int status;
	uint64_t length_bytes; /* moved: as the ACK says if there was one; what the REPLY or GET_DONE says */
	/* What is known about the failure: what the transport said, or what did not come in time; NULL:
	 * nothing but the status.  Valid in the call only. */
	const struct o2_transfer_fault *fault;
};

struct o2_lnet_ops {
	/* Exactly once for each operation that o2_lnet_put or o2_lnet_get started. */
	void (*done)(void *context, const struct o2_lnet_result *result);
	/*
	 * May be NULL.  A peer's PUT by RDMA was matched: from now on until event tells its end, with the
	 * same request, the peer may write to the memory.
	 */
	void (*started)(void *context, const struct o2_lnet_event *event);
	/* May be NULL. */
	void (*event)(void *context, const struct o2_lnet_event *event);
};

/*
 * What LNet's place needs of the network below it.  nid: the next hop, which is the peer itself.
 * Source: docs/peer.md, "The layers".
 * LNet: lnet_lnd
 */
struct o2_lnet_transport {
	void *context;

	/* The longest payload of one IMMEDIATE to that peer, as far as it is known: at most O2_IMMEDIATE_MAX. */
	uint32_t (*immediate_max)(void *context, uint64_t nid);

	/*
	 * One IMMEDIATE with the bytes of memory, which may be none; or a PUT_REQ that carries an LNet PUT or
	 * REPLY, or a GET_REQ, and all that follows from it.  The header and *memory are copied, the vectors stay.
	 * An IMMEDIATE that turns out to be too long goes as a PUT_REQ (o2_lnet_went_by_rdma).
	 *
	 * Returns 0, and then o2_lnet_finished is called with memory->tag exactly once (it may be before this
	 * returns), or -errno, and it is not called.
	 */
	int (*send)(void *context, uint64_t nid, enum o2_lnd_form form, const struct o2_lnet_hdr *hdr,
		    const struct o2_transfer_memory *memory, struct o2_error *error);
};

struct o2_lnet;

/*
 * transport and ops are copied; arena and clock outlive it.  The two pages are filled, and attached at the
 * portal of pings. Returns 0, -EINVAL (a limit of 0, pages that do not exist) or -ENOMEM.
 */
int o2_lnet_create(const struct o2_lnet_config *config, const struct o2_lnet_transport *transport,
		   const struct o2_arena *arena, const struct o2_clock *clock, const struct o2_lnet_ops *ops,
		   void *context, struct o2_lnet **lnet, struct o2_error *error);

/* The transport must have finished everything.  What waits for an ACK or REPLY ends with -ECONNABORTED. */
void o2_lnet_destroy(struct o2_lnet *lnet);

/*
 * Offer memory to peers, and no longer; returns what o2_match_attach and o2_match_detach do (match.h): the
 * index of the entry or -errno, 0 or -errno.
 * LNet: LNetMEAttach, LNetMDAttach
 */
int o2_lnet_attach(struct o2_lnet *lnet, const struct o2_lnet_entry *entry, struct o2_error *error);
int o2_lnet_detach(struct o2_lnet *lnet, uint32_t index);

/*
 * As o2_lnet_detach, but an entry in use is none the less closed to further requests.  Returns 0: it is gone;
 * 1: the event of the last request under way will tell that it is (unlinked); -ENOENT.
 * LNet: LNetMDUnlink, LNetMEUnlink
 */
int o2_lnet_unlink(struct o2_lnet *lnet, uint32_t index);

/* Where a PUT or GET goes. */
struct o2_lnet_target {
	uint64_t nid;
	uint32_t pid; /* 0: O2_LNET_PID_KERNEL */
	uint32_t portal;
	uint64_t match_bits;
	uint64_t offset;	      /* 0 to O2_LNET_OFFSET_MAX */
	uint64_t hdr_data;	      /* PUT: 64 bits for the peer's application */
	bool ack;		      /* PUT: ask for an acknowledgement, and wait for it */
	uint32_t response_timeout_ms; /* 0: as configured */
	uint64_t tag;		      /* the owner's own; comes back in the result */
};

/*
 * PUT the memory (nob 0 to 1 MiB), or GET memory->buffer.nob bytes (1 byte to 1 MiB) into it.  It goes as an
 * IMMEDIATE when it fits into one, else by RDMA (docs/transport.md).  Memory and vectors stay until
 * ops->done. *operation, may be NULL: names it in the result.
 *
 * Returns 0, or -errno when nothing was started and ops->done will not be called: -EINVAL, -ENOSPC
 * (max_messages), or what the transport says.
 * LNet: LNetPut
 */
int o2_lnet_put(struct o2_lnet *lnet, const struct o2_lnet_target *target,
		const struct o2_transfer_memory *source, uint64_t *operation, struct o2_error *error);
/* LNet: LNetGet */
int o2_lnet_get(struct o2_lnet *lnet, const struct o2_lnet_target *target,
		const struct o2_transfer_memory *sink, uint64_t *operation, struct o2_error *error);

/*
 * Wait no longer for an answer that has not come: the operation ends with -ECANCELED, and its memory is not
 * touched any more.  Where the transport still has the operation or its answer, it ends when that is done, and
 * with -ECANCELED only if it had to wait then.  Returns 0; -ENOENT: it has ended.
 * LNet: LNetMDUnlink
 */
int o2_lnet_cancel(struct o2_lnet *lnet, uint64_t operation);

/*
 * Calls by the transport.  nid: the peer that the connection belongs to, which is known; everything in
 * hdr and payload is not to be trusted.
 */

/* An IMMEDIATE came; payload has hdr->payload_length bytes.  Returns 0, or -EPROTO: close the connection. */
/* LNet: lnet_parse */
int o2_lnet_receive(struct o2_lnet *lnet, uint64_t nid, const struct o2_lnet_hdr *hdr, const uint8_t *payload,
		    struct o2_error *error);

/*
 * A PUT_REQ or GET_REQ came.  On success *memory is where the bytes go to or come from (perhaps none) and
 * *tag names the message to o2_lnet_finished.  Returns 0; -ENODATA: nothing matched; -ENOSPC; -EPROTO: close
 * the connection.
 * LNet: lnet_parse
 */
int o2_lnet_match(struct o2_lnet *lnet, uint64_t nid, const struct o2_lnet_hdr *hdr,
		  struct o2_transfer_memory *memory, uint64_t *tag, struct o2_error *error);

/* The message with this tag, which is about to end, went as a PUT_REQ, whatever form was asked for. */
void o2_lnet_went_by_rdma(struct o2_lnet *lnet, uint64_t tag);

/*
 * A message with this tag has ended: status 0 or -errno, bytes moved (of a send: ignored).  fault, may be
 * NULL: more about the failure.
 * LNet: lnet_finalize
 */
void o2_lnet_finished(struct o2_lnet *lnet, uint64_t tag, int status, uint64_t length_bytes,
		      const struct o2_transfer_fault *fault);

/* The last connection has ended: what waits for an ACK or REPLY goes down with it.  fault, may be NULL: why. */
void o2_lnet_peer_down(struct o2_lnet *lnet, uint64_t nid, const struct o2_transfer_fault *fault);

/* The clock was told another time: end what has waited too long. */
void o2_lnet_check_time(struct o2_lnet *lnet);

/* Messages under way: 0 when all have ended. */
uint32_t o2_lnet_messages(const struct o2_lnet *lnet);

#endif
