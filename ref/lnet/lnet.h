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
 * The part of LNet that a peer needs above the transport.  It matches the PUTs and GETs of peers with memory,
 * answers pings, handles acknowledgements and replies, and starts PUTs and GETs.  It does not route.
 * Source: docs/peer.md.
 *
 * It has no thread.  It uses the clock of its interface; the caller calls o2_lnet_check_time when that clock
 * advances.  ops may call every function but o2_lnet_destroy.
 */

#define O2_LNET_PID_KERNEL 12345u     /* PID of every Lustre node */
#define O2_LNET_OFFSET_MAX UINT32_MAX /* limit of the LNet header (docs/wire.md) */

struct o2_lnet_config {
	uint64_t nid;
	uint32_t pid;
	uint64_t interface_cookie; /* first half of this node's handles; must differ after every start */
	uint32_t ping_features;
	uint32_t ping_sequence;
	/*
	 * Two pages of the arena that LNet uses: the first holds the answer to pings, the second what peers
	 * push.
	 */
	uint32_t first_page;
	uint32_t max_messages; /* open messages, of this node and of its peers */
	uint32_t max_entries;
	uint32_t response_timeout_ms; /* wait for an ACK or REPLY, once the request is sent */
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
	O2_LNET_EVENT_DROPPED, /* a message was ignored, and the connection kept; error says why */
};

/* A request by a peer, or a message that was dropped. */
struct o2_lnet_event {
	enum o2_lnet_event_kind kind;
	uint64_t nid;
	const struct o2_lnet_hdr *hdr; /* of the request; valid during the call only */
	/* PUT, GET: */
	uint64_t entry_tag;
	bool unlinked;	       /* the request removed the entry (O2_LNET_MD_UNLINK or o2_lnet_unlink) */
	uint64_t offset;       /* in the entry's memory */
	uint64_t length_bytes; /* bytes accepted; if the request failed, their content is undefined */
	int status;	       /* 0 or -errno */
	uint64_t request;      /* same as in ops->started; 0: an IMMEDIATE PUT, which has no start */
	/* DROPPED: */
	const struct o2_error *error;
};

/* How an operation that o2_lnet_put or o2_lnet_get started has ended. */
struct o2_lnet_result {
	uint64_t operation; /* what o2_lnet_put or o2_lnet_get returned */
	uint64_t tag;	    /* from its struct o2_lnet_target */
	bool is_get;
	/*
	 * 0, or -errno: what the transport reports; -ENODATA: nothing matched, as far as the protocol tells;
	 * -ETIMEDOUT: no ACK or REPLY came; -EMSGSIZE: the REPLY is longer than the sink; -EPROTO: the ACK reports
	 * another length than was moved; -ECANCELED: o2_lnet_cancel; -ECONNABORTED: o2_lnet_peer_down; of
	 * o2_copy_to_buffer (mem/kmap.h): our sink cannot take the REPLY.
	 */
	int status;
	/* Bytes moved: as the ACK, if asked for, or the REPLY or GET_DONE says; 0 if status is not. */
	uint64_t length_bytes;
	/* Details of the failure, from the transport or about the late answer; NULL: only status is known. Valid
	 * during the call only. */
	const struct o2_transfer_fault *fault;
};

struct o2_lnet_ops {
	/* Called exactly once for each operation that o2_lnet_put or o2_lnet_get started. */
	void (*done)(void *context, const struct o2_lnet_result *result);
	/*
	 * May be NULL.  A peer's PUT by RDMA has matched an entry: the peer may write to the memory until
	 * event() reports the end, with the same `request`.
	 */
	void (*started)(void *context, const struct o2_lnet_event *event);
	/* May be NULL. */
	void (*event)(void *context, const struct o2_lnet_event *event);
};

/*
 * What LNet needs of the network below it.  nid: the next hop, which is the peer itself.
 * Source: docs/peer.md, "The layers".
 * LNet: lnet_lnd
 */
struct o2_lnet_transport {
	void *context;

	/* The longest payload of one IMMEDIATE to that peer, as far as known: at most O2_IMMEDIATE_MAX. */
	uint32_t (*immediate_max)(void *context, uint64_t nid);

	/*
	 * Send one message with the bytes of *memory, perhaps none, as an IMMEDIATE; or start the transfer of
	 * an LNet PUT or REPLY (PUT_REQ) or GET (GET_REQ).  The transport copies *hdr and *memory; the vectors
	 * must stay.  If an IMMEDIATE is too long it becomes a PUT_REQ (see o2_lnet_went_by_rdma).
	 *
	 * Returns 0, and then calls o2_lnet_finished with memory->tag exactly once, possibly before it returns;
	 * or returns -errno, and does not call o2_lnet_finished.
	 */
	int (*send)(void *context, uint64_t nid, enum o2_lnd_form form, const struct o2_lnet_hdr *hdr,
		    const struct o2_transfer_memory *memory, struct o2_error *error);
};

struct o2_lnet;

/*
 * transport and ops are copied; arena and clock must outlive lnet.  Fills the first of the two pages, and attaches
 * both at the portal of pings.  Returns 0, -EINVAL (max_messages 0, max_entries below 2, no such pages) or -ENOMEM.
 */
int o2_lnet_create(const struct o2_lnet_config *config, const struct o2_lnet_transport *transport,
		   const struct o2_arena *arena, const struct o2_clock *clock, const struct o2_lnet_ops *ops,
		   void *context, struct o2_lnet **lnet, struct o2_error *error);

/* The transport must have finished all messages.  Those that wait for an ACK or REPLY end with -ECONNABORTED. */
void o2_lnet_destroy(struct o2_lnet *lnet);

/*
 * Start and stop offering memory to peers.  They return what o2_match_attach and o2_match_detach do (match.h):
 * the index of the entry or -errno; 0 or -errno.
 * LNet: LNetMEAttach, LNetMDAttach
 */
int o2_lnet_attach(struct o2_lnet *lnet, const struct o2_lnet_entry *entry, struct o2_error *error);
int o2_lnet_detach(struct o2_lnet *lnet, uint32_t index);

/*
 * As o2_lnet_detach, but an entry that is in use takes no further requests.  Returns 0: it is removed; 1: it
 * will be removed with the last open request, whose event has `unlinked` set; -ENOENT.
 * LNet: LNetMDUnlink, LNetMEUnlink
 */
int o2_lnet_unlink(struct o2_lnet *lnet, uint32_t index);

/* The memory of a peer that a PUT or GET addresses. */
struct o2_lnet_target {
	uint64_t nid;
	uint32_t pid; /* 0: O2_LNET_PID_KERNEL */
	uint32_t portal;
	uint64_t match_bits;
	uint64_t offset;	      /* 0 to O2_LNET_OFFSET_MAX */
	uint64_t hdr_data;	      /* PUT: 64 bits for the peer's application */
	bool ack;		      /* PUT: ask for an ACK, and wait for it */
	uint32_t response_timeout_ms; /* 0: as configured */
	uint64_t tag;		      /* for the caller; returned in the result */
};

/*
 * Start a PUT of the memory (nob 0 to 1 MiB), or a GET of memory->buffer.nob bytes (1 byte to 1 MiB) into it.
 * An IMMEDIATE carries the bytes if they fit, else RDMA does (docs/transport.md).  Memory and vectors must stay
 * until ops->done.  *operation (may be NULL): set to the name that the result will have.
 *
 * Returns 0, or -errno if nothing was started and ops->done will not be called: -EINVAL, -ENOSPC
 * (max_messages), -ESHUTDOWN (from inside o2_lnet_destroy), or an error of the transport.
 * LNet: LNetPut
 */
int o2_lnet_put(struct o2_lnet *lnet, const struct o2_lnet_target *target,
		const struct o2_transfer_memory *source, uint64_t *operation, struct o2_error *error);
/* LNet: LNetGet */
int o2_lnet_get(struct o2_lnet *lnet, const struct o2_lnet_target *target,
		const struct o2_transfer_memory *sink, uint64_t *operation, struct o2_error *error);

/*
 * Stop waiting for the peer's answer: the operation ends with -ECANCELED, and its memory is not accessed any
 * more. If it is still in transport, or its answer is, it ends when the transport is done, with -ECANCELED only
 * if it had to wait then.  Returns 0, or -ENOENT: it has ended already.
 * LNet: LNetMDUnlink
 */
int o2_lnet_cancel(struct o2_lnet *lnet, uint64_t operation);

/*
 * Calls by the transport.  nid: the peer of the connection, which can be trusted.  hdr and payload cannot.
 */

/* An IMMEDIATE came; payload has hdr->payload_length bytes.  Returns 0, or -EPROTO: close the connection. */
/* LNet: lnet_parse */
int o2_lnet_receive(struct o2_lnet *lnet, uint64_t nid, const struct o2_lnet_hdr *hdr, const uint8_t *payload,
		    struct o2_error *error);

/*
 * A PUT_REQ or GET_REQ was received.  On success *memory is the sink or source of the RDMA, perhaps empty, and
 * *tag is to be passed to o2_lnet_finished.  Returns 0; -ENODATA: nothing matched; -ENOSPC; -EMSGSIZE: a
 * REPLY longer than its sink; -EPROTO: close the connection.
 * LNet: lnet_parse
 */
int o2_lnet_match(struct o2_lnet *lnet, uint64_t nid, const struct o2_lnet_hdr *hdr,
		  struct o2_transfer_memory *memory, uint64_t *tag, struct o2_error *error);

/* The message with this tag, which is about to finish, was sent as a PUT_REQ, whatever form was asked for. */
void o2_lnet_went_by_rdma(struct o2_lnet *lnet, uint64_t tag);

/*
 * The message with this tag has finished: status 0 or -errno, and the bytes moved (ignored for an IMMEDIATE).
 * fault (may be NULL): details of the failure.
 * LNet: lnet_finalize
 */
void o2_lnet_finished(struct o2_lnet *lnet, uint64_t tag, int status, uint64_t length_bytes,
		      const struct o2_transfer_fault *fault);

/* The last connection to nid is down: end what waits for an ACK or REPLY from it.  fault: why; may be NULL. */
void o2_lnet_peer_down(struct o2_lnet *lnet, uint64_t nid, const struct o2_transfer_fault *fault);

/* The clock has advanced: end the operations that have waited too long for an ACK or REPLY. */
void o2_lnet_check_time(struct o2_lnet *lnet);

/* Number of unfinished messages: 0 when all have ended. */
uint32_t o2_lnet_messages(const struct o2_lnet *lnet);

#endif
