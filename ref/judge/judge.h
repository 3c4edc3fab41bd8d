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
 * The judge: it hears what happens on connections, and says which rule was broken, by whom, at which event.
 * Source: docs/judge.md.
 *
 * It knows no verbs, no clock and no file, and trusts nothing that it hears.  Events come in the order in
 * which they passed one place on their way, with both directions: what a message answers comes before it.
 * What was not seen gives fewer verdicts, never wrong ones.
 */

/* A: the side that asked for the connection; if that was not seen, the one that was heard first. */
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
	O2_JUDGE_REQUEST,    /* a request for the connection: msg or refused */
	O2_JUDGE_REPLY,	     /* the reply: msg or refused */
	O2_JUDGE_REJECT,     /* a reject of the consumer: reject or refused */
	O2_JUDGE_MESSAGE,    /* a message over the connection: msg or refused, bytes */
	O2_JUDGE_WRITE,	     /* an RDMA WRITE: addr, rkey, bytes, announced_bytes */
	O2_JUDGE_LOST,	     /* something of this side was not seen, or has to be taken back */
	O2_JUDGE_NAK,	     /* this side did not take a packet */
	O2_JUDGE_DISCONNECT, /* this side ends the connection */
	O2_JUDGE_PART, /* some of the bytes of a WRITE, which comes when it is whole: addr, rkey, payload */
};

/* An event that is farther behind an earlier one of its connection shows that the clock was set back. */
#define O2_JUDGE_DISORDER_MS 100u

struct o2_judge_event {
	enum o2_judge_event_kind kind;
	enum o2_judge_side from;
	uint64_t number; /* of the caller's, from 1: findings name it */
	/* Up to O2_JUDGE_DISORDER_MS before an earlier one of the connection it is taken for the same. */
	uint64_t time_ns;
	bool timeless; /* when it was is not known */
	const struct o2_msg *msg;
	const struct o2_reject *reject;
	const struct o2_error *refused; /* why it could not be decoded */
	uint64_t bytes;			/* MESSAGE: received; WRITE: written; PART: at payload */
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
	enum o2_judge_side who; /* broke it */
	uint64_t number;	/* of the event that shows it */
	uint64_t time_ns;
	uint64_t earlier; /* number of the event that it goes back to: a request, a descriptor; 0: none */
	/* The field, what was seen, and what is allowed; rule: that of the judge, or of the codec. */
	struct o2_error error;
	bool unproven; /* the connection was forgotten before what proves it was heard */
};

typedef void (*o2_judge_sink)(void *context, const struct o2_judge_finding *finding);

/* Hears every event but O2_JUDGE_PART, after the rules have: what they found has been told. */
typedef void (*o2_judge_listener)(void *context, const struct o2_judge_conn *conn,
				  const struct o2_judge_event *event);

struct o2_judge_options {
	/* After which time a request without an answer, and credits that are kept back, are findings. */
	uint64_t timeout_ms;
	/* A NOOP that gives back less than a mark keeps alive, if its sender was quiet for so long. */
	uint64_t keepalive_ms;
	/*
	 * Events may be missing that nothing has told of yet: O2_JUDGE_LOST comes with the next event of that
	 * side.  A finding that could be wrong for it waits for that event.
	 */
	bool lossy;
	/* Of the bytes that o2ref puts and serves, by which they are known again (base/stream.h). */
	uint64_t seed;
};

#define O2_JUDGE_DEFAULTS ((struct o2_judge_options){.timeout_ms = 50000, .keepalive_ms = 1000, .seed = 1})

/* options: copied; NULL: the defaults.  sink is called from inside o2_judge_hear.  NULL: no memory. */
struct o2_judge *o2_judge_new(const struct o2_judge_options *options, o2_judge_sink sink, void *context);
/* Connections that are left are forgotten: o2_judge_part. */
void o2_judge_free(struct o2_judge *judge);

/* From now on; there is one listener. */
void o2_judge_listen(struct o2_judge *judge, o2_judge_listener listener, void *context);

/* How much of a connection is seen. */
enum o2_judge_seen {
	O2_JUDGE_WHOLE,	  /* all of it: the next event is its request */
	O2_JUDGE_LATER,	  /* both sides, from some time on */
	O2_JUDGE_ONE_WAY, /* what one side sends, from some time on */
};

/* Another connection.  NULL: no memory.  The judge owns it until o2_judge_part. */
struct o2_judge_conn *o2_judge_meet(struct o2_judge *judge, enum o2_judge_seen seen);
/* What was agreed, for a connection of which no request will be heard. */
struct o2_judge_terms {
	uint64_t nid[O2_JUDGE_SIDES], stamp[O2_JUDGE_SIDES];
	uint16_t version;
	uint32_t queue_depth, max_frags;
	uint32_t max_msg_bytes[O2_JUDGE_SIDES]; /* that the side takes */
};

void o2_judge_agreed(struct o2_judge_conn *conn, const struct o2_judge_terms *terms);
/* ONE_WAY becomes LATER: the other side is seen as well, and has not said anything yet. */
void o2_judge_both_ways(struct o2_judge_conn *conn);
/* The RDMA WRITEs of that side are not seen: at an end, those of the other one. */
void o2_judge_writes_unseen(struct o2_judge_conn *conn, enum o2_judge_side side);
/*
 * Nothing more was heard of the connection, up to the event of that number and time, which is another one's: what
 * waits since too long is found now.
 */
void o2_judge_silent(struct o2_judge *judge, struct o2_judge_conn *conn, uint64_t number, uint64_t time_ns);
void o2_judge_part(struct o2_judge *judge, struct o2_judge_conn *conn);

/*
 * For who tells of a reject: nothing but zeros.  So says a kernel's connection manager, with reason 28 too, for a
 * listener that has gone while a request waited: no record, nobody's, and not told.  docs/connection.md, "On
 * librdmacm".
 */
bool o2_judge_reject_is_blank(const uint8_t *bytes, size_t length_bytes);

/* Returns 0 or -ENOMEM. */
int o2_judge_hear(struct o2_judge *judge, struct o2_judge_conn *conn, const struct o2_judge_event *event);

/*
 * What is known of a connection, for reports.  Version, depth and max_frags are 0 as long as nothing says
 * what was agreed; a NID is 0 as long as no message has named it.
 */
#define O2_JUDGE_CREDITS_UNKNOWN UINT32_MAX

struct o2_judge_view {
	uint64_t id;	/* of all connections of the judge, from 1 */
	uint64_t heard; /* events but O2_JUDGE_PART */
	uint64_t nid[O2_JUDGE_SIDES];
	uint16_t version;
	uint32_t queue_depth, max_frags;
	enum o2_judge_seen seen;
	uint64_t messages[O2_JUDGE_SIDES], writes[O2_JUDGE_SIDES], write_bytes[O2_JUDGE_SIDES];
	uint32_t open[O2_JUDGE_SIDES]; /* requests of this side without an end */
	/* Credits that the side has, at least and at most: the same where all is known; or unknown. */
	uint32_t least_credits[O2_JUDGE_SIDES], most_credits[O2_JUDGE_SIDES];
};

struct o2_judge_view o2_judge_view(const struct o2_judge_conn *conn);

/*
 * At most so many transfers are followed at a time, over all connections, and of one side of a connection.
 * With one more the transfers of its connection are forgotten, and it is judged as one that was not seen from
 * the start.
 */
#define O2_JUDGE_TRANSFERS_MAX	    4096u
#define O2_JUDGE_SIDE_TRANSFERS_MAX 512u
static_assert(O2_JUDGE_SIDE_TRANSFERS_MAX >= 2 * O2_MAX_QUEUE_DEPTH,
	      "what honest sides have open is followed");

#endif
