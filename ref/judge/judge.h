/* SPDX-License-Identifier: MIT */
#ifndef O2_JUDGE_JUDGE_H
#define O2_JUDGE_JUDGE_H

#include <assert.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/limits.h"
#include "judge/rules.h"
#include "wire/msg.h"
#include "wire/reject.h"

/*
 * The judge hears the events of connections, and reports which rule was broken, by which side, at which event.
 * Source: docs/judge.md.
 *
 * The judge uses no verbs, no clock and no file, and trusts no event.  The caller passes events in the order in
 * which they passed one point of the network, for both directions: a request comes before its answer.  If
 * events are missing, the judge reports fewer findings, but never wrong ones.
 */

/* A: the side that sent the connection request; if the request was not seen, the side that was heard first. */
enum o2_judge_side {
	O2_JUDGE_A,
	O2_JUDGE_B,
	O2_JUDGE_SIDES,
};

static inline enum o2_judge_side o2_judge_other(enum o2_judge_side side)
{
	return side == O2_JUDGE_A ? O2_JUDGE_B : O2_JUDGE_A;
}

enum o2_judge_event_kind {
	O2_JUDGE_REQUEST,    /* a connection request; sets msg or refused */
	O2_JUDGE_REPLY,	     /* the reply; sets msg or refused */
	O2_JUDGE_REJECT,     /* a reject by the consumer; sets reject or refused */
	O2_JUDGE_MESSAGE,    /* a message over the connection; sets bytes, and msg or refused */
	O2_JUDGE_WRITE,	     /* an RDMA WRITE; sets addr, rkey, bytes, announced_bytes */
	O2_JUDGE_LOST,	     /* events of this side were missed, or must be taken back */
	O2_JUDGE_NAK,	     /* this side sent a NAK for a packet */
	O2_JUDGE_DISCONNECT, /* this side ends the connection */
	O2_JUDGE_PART, /* some bytes of a WRITE, before its O2_JUDGE_WRITE; sets addr, rkey, bytes, payload */
};

/* If an event is older than an earlier one of its connection by more than this, the clock was set back. */
#define O2_JUDGE_DISORDER_MS 100u

struct o2_judge_event {
	enum o2_judge_event_kind kind;
	enum o2_judge_side from;
	uint64_t number; /* the caller's event number, from 1; findings refer to it */
	/* If up to O2_JUDGE_DISORDER_MS older than an earlier event of the connection, no time has passed. */
	uint64_t time_ns;
	bool timeless; /* the time of the event is not known */
	const struct o2_msg *msg;
	const struct o2_reject *reject;
	const struct o2_error *refused; /* why the message or reject could not be decoded */
	uint64_t bytes;			/* MESSAGE: received; WRITE: written; PART: length of payload */
	const uint8_t *payload;
	uint64_t addr;
	uint32_t rkey;
	uint32_t announced_bytes;
};

struct o2_judge;
struct o2_judge_conn;

struct o2_judge_finding {
	enum o2_judge_rule_id rule;
	const struct o2_judge_conn *conn;
	enum o2_judge_side who; /* the side that broke the rule */
	uint64_t number;	/* number of the event that shows it */
	uint64_t time_ns;
	uint64_t earlier; /* number of the earlier event concerned (a request, a descriptor); 0: none */
	/* The field, its value and the limit.  error.rule is the id of the judge's rule, or of the codec's. */
	struct o2_error error;
	bool unproven; /* no event came that would have proven the finding */
};

typedef void (*o2_judge_sink)(void *context, const struct o2_judge_finding *finding);

/* Called for every event but O2_JUDGE_PART, after the findings of that event were reported. */
typedef void (*o2_judge_listener)(void *context, const struct o2_judge_conn *conn,
				  const struct o2_judge_event *event);

struct o2_judge_options {
	/* How long a request may stay unanswered, and credits withheld, before this is a finding. */
	uint64_t timeout_ms;
	/* How long a side must be quiet before it may send a NOOP that returns fewer credits than the mark. */
	uint64_t keepalive_ms;
	/*
	 * Events may be missing without notice: their O2_JUDGE_LOST comes only with the next event of that
	 * side.  A finding that a missing event could refute waits for that next event.
	 */
	bool lossy;
	/* Seed of the byte pattern that o2ref puts and serves (base/stream.h). */
	uint64_t seed;
};

#define O2_JUDGE_DEFAULTS ((struct o2_judge_options){.timeout_ms = 50000, .keepalive_ms = 1000, .seed = 1})

/* options: copied; NULL: the defaults.  o2_judge_hear() calls sink.  Returns NULL if there is no memory. */
struct o2_judge *o2_judge_new(const struct o2_judge_options *options, o2_judge_sink sink, void *context);
/* Calls o2_judge_part() for each connection that is left.  judge may be NULL. */
void o2_judge_free(struct o2_judge *judge);

/* Set the only listener, for events from now on. */
void o2_judge_listen(struct o2_judge *judge, o2_judge_listener listener, void *context);

/* How much of a connection is seen. */
enum o2_judge_seen {
	O2_JUDGE_WHOLE,	  /* all of it: the next event is the connection request */
	O2_JUDGE_LATER,	  /* both sides, but not from the start */
	O2_JUDGE_ONE_WAY, /* only what one side sends, and not from the start */
};

/* Add a connection.  Returns NULL if there is no memory.  The judge owns it until o2_judge_part(). */
struct o2_judge_conn *o2_judge_meet(struct o2_judge *judge, enum o2_judge_seen seen);
/* The negotiated terms of a connection whose request will not be heard. */
struct o2_judge_terms {
	uint64_t nid[O2_JUDGE_SIDES], stamp[O2_JUDGE_SIDES];
	uint16_t version;
	uint32_t queue_depth, max_frags;
	uint32_t max_msg_bytes[O2_JUDGE_SIDES]; /* that each side can receive */
};

void o2_judge_agreed(struct o2_judge_conn *conn, const struct o2_judge_terms *terms);
/* Change ONE_WAY to LATER: from now on the other side, not heard so far, is seen as well. */
void o2_judge_both_ways(struct o2_judge_conn *conn);
/*
 * The next event is the first one of that side that is seen, and how much it has sent before is not known: it proves
 * nothing about the time before it, and may be of another connection that reuses the queue pairs.
 */
void o2_judge_start_unseen(struct o2_judge *judge, struct o2_judge_conn *conn, enum o2_judge_side side);
/* The queue pairs seem to carry another connection by now: its terms are not known. */
void o2_judge_terms_unknown(struct o2_judge_conn *conn);
/* The RDMA WRITEs of that side are not seen.  At an end these are the peer's. */
void o2_judge_writes_unseen(struct o2_judge_conn *conn, enum o2_judge_side side);
/*
 * The connection has had no event up to the time of event `number`, which is of another connection: report what
 * is overdue.
 */
void o2_judge_silent(struct o2_judge *judge, struct o2_judge_conn *conn, uint64_t number, uint64_t time_ns);
/* Report the findings that still wait for proof as unproven; free the connection. */
void o2_judge_part(struct o2_judge *judge, struct o2_judge_conn *conn);

/*
 * Is the private data of a reject all zeros?  A kernel's connection manager sends such a reject, with reason 28
 * too, when a listener has gone while a request waited.  It holds no record and comes from no node, so the
 * caller must not pass it to the judge.  docs/connection.md, "On librdmacm".
 */
bool o2_judge_reject_is_blank(const uint8_t *bytes, size_t length_bytes);

/* Judge one event.  Returns 0, -ENOMEM, or -EINVAL (unknown kind). */
int o2_judge_hear(struct o2_judge *judge, struct o2_judge_conn *conn, const struct o2_judge_event *event);

/*
 * What is known of a connection, for reports.  version, queue_depth and max_frags are 0 until the agreed values
 * are known; a NID is 0 until a message has named it.
 */
#define O2_JUDGE_CREDITS_UNKNOWN UINT32_MAX

struct o2_judge_view {
	uint64_t id;	/* counts the judge's connections, from 1 */
	uint64_t heard; /* number of events, without O2_JUDGE_PART */
	uint64_t nid[O2_JUDGE_SIDES];
	uint16_t version;
	uint32_t queue_depth, max_frags;
	enum o2_judge_seen seen;
	uint64_t messages[O2_JUDGE_SIDES], writes[O2_JUDGE_SIDES], write_bytes[O2_JUDGE_SIDES];
	uint32_t open[O2_JUDGE_SIDES]; /* transfers that this side requested and that have not ended */
	/* Bounds of the side's credits: equal if the exact number is known; or O2_JUDGE_CREDITS_UNKNOWN. */
	uint32_t least_credits[O2_JUDGE_SIDES], most_credits[O2_JUDGE_SIDES];
};

struct o2_judge_view o2_judge_view(const struct o2_judge_conn *conn);

/*
 * How many transfers the judge follows at a time: over all connections, and of one side of a connection.  If
 * one more begins, it drops all transfers of that connection, and treats it as not seen from the start.
 */
#define O2_JUDGE_TRANSFERS_MAX	    4096u
#define O2_JUDGE_SIDE_TRANSFERS_MAX 512u
static_assert(O2_JUDGE_SIDE_TRANSFERS_MAX >= 2 * O2_MAX_QUEUE_DEPTH,
	      "what honest sides have open is followed");

#endif
