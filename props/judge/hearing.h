/* SPDX-License-Identifier: MIT */
#ifndef O2_PROPS_HEARING_H
#define O2_PROPS_HEARING_H

#include <stdbool.h>
#include <stdint.h>

#include "base/monotonic.h"
#include "judge/judge.h"
#include "props/engine/choice.h"
#include "props/engine/report.h"

/*
 * A hearing: a conversation that a property makes up, the part of it that the judge hears, and the findings
 * that the judge must report, predicted for each event (docs/properties.md, "The verdicts property").
 *
 * The conversation keeps its own account of credits and transfers, after docs/transport.md: plain sums from
 * its beginning, whether the judge hears it or not.
 */

#define O2_HEARING_TRANSFERS 12u
#define O2_HEARING_PROMISES  16u
#define O2_HEARING_FINDINGS  64u
#define O2_HEARING_LOG	     256u
#define O2_HEARING_FRAGS     5u /* most fragments of an honest descriptor */
/* Most findings of a side that wait for a proof: docs/judge.md, "Captures". */
#define O2_HEARING_WAITING 8u

/* Most WRITEs, and most answers, that the judge remembers for messages of a side that were not heard. */
#define O2_HEARING_STRAYS 16u

/* A transfer from its request to its end. */
struct o2_hearing_transfer {
	bool open, is_get, described;
	bool followed; /* the judge heard all of it */
	bool late;     /* the judge has reported it as unanswered */
	bool accepted; /* a PUT_ACK was sent */
	bool refused;  /* a PUT_NAK was sent first */
	bool routed;   /* PUT: for a node behind the receiver */
	enum o2_judge_side asker;
	uint64_t cookie, sink_cookie;
	uint64_t asked_bytes, sink_bytes, written_bytes;
	struct o2_rdma_desc sink;
	uint32_t at_frag, at_byte; /* where the next WRITE goes */
	uint64_t number, time_ns;  /* of the request's event, or of the PUT_ACK's */
	uint32_t promise;	   /* index of the promise that LNet's ACK keeps; O2_HEARING_PROMISES: none */
};

/* LNet of `asker` wants an answer (ACK or REPLY) from the other side. */
struct o2_hearing_promise {
	bool open, is_get, heard, exact;
	enum o2_judge_side asker;
	uint64_t handle, number, bytes;
};

struct o2_hearing_end {
	uint64_t nid, stamp;
	uint32_t max_msg_bytes; /* the largest message that it accepts */
	int64_t balance;	/* credits received, less messages sent that took one */
	int64_t least, most;	/* extremes of balance since the last known gap in what is heard */
	uint32_t accepted, unanswered;
	uint64_t empty_ns; /* since when it has no credit and its peer no excuse; 0: not, or unknown */
	bool withheld_said, disconnected;
	uint64_t said_ns; /* time of its last message heard; 0: none */
	uint64_t summed; /* number of its first message with a checksum, until one without follows; 0: none */
	uint64_t empty_noops, empty_noops_ns;
	uint64_t messages, writes, write_bytes; /* as heard by the judge */
	uint64_t written, answered; /* WRITEs and answers of the other side since its last event */
	uint64_t puts;		    /* LNet PUTs in messages heard */
	struct o2_judge_finding waiting[O2_HEARING_WAITING];
	uint32_t nwaiting;
};

/* What the judge must have heard to report a finding. */
enum o2_hearing_need {
	O2_HEARING_EVENT, /* the event itself */
	O2_HEARING_BOTH,  /* both sides */
	O2_HEARING_WHOLE, /* everything from the beginning */
	O2_HEARING_EXACT, /* .. and no earlier finding about credits */
	O2_HEARING_TERMS, /* the agreed terms */
};

/* What the judge takes a message for: docs/judge.md, "What it cannot see". */
enum o2_hearing_again {
	O2_HEARING_NEW,
	O2_HEARING_UNSURE, /* heard; but it may have come before, and what was written for it since is not known */
	O2_HEARING_MISSED, /* it was missed when it came first, and is not heard now */
};

struct o2_hearing {
	struct o2_choice *c;
	struct o2_report *report;
	struct o2_judge *judge;
	struct o2_judge_conn *conn;
	struct o2_judge_options options;
	/* What the judge hears: deaf: nothing; whole: all from the beginning; one_way: heard_side only. */
	bool deaf, whole, one_way, knows_terms;
	bool exact; /* whole, and the judge has not restarted its account of credits */
	bool anew;  /* at the next message the judge finds the credits wrong and restarts its account */
	enum o2_judge_side heard_side; /* with one_way */
	enum o2_hearing_again again;   /* the next message */
	bool writes_unseen[O2_JUDGE_SIDES];
	uint64_t id, heard; /* number of the connection, and of its events heard */
	/* The agreed terms. */
	uint16_t version;
	uint32_t depth, max_frags;
	/* State of the conversation. */
	struct o2_hearing_end end[O2_JUDGE_SIDES];
	struct o2_hearing_transfer transfer[O2_HEARING_TRANSFERS];
	struct o2_hearing_promise promise[O2_HEARING_PROMISES];
	uint64_t number, now_ns, next_cookie, next_addr;
	/* Time of the last event heard; what the clock of the judge's events has beyond now_ns. */
	uint64_t heard_ns, clock_ns;
	uint64_t heard_clock_ns; /* that event's time by that clock */
	uint64_t behind_ns;	 /* the clock was set back so far, and may still be set right */
	uint32_t next_key;
	bool one_key; /* one key for all memory, as in mode global */
	/* Make allocations fail; NULL: not possible.  fail_nth: the allocation that fails at the next event. */
	void (*fail_allocation)(uint32_t nth);
	bool (*allocation_failed)(void);
	uint32_t fail_nth;
	/* Findings: predicted for the next event (due); reported by the judge (found). */
	struct o2_judge_finding due[O2_HEARING_FINDINGS], found[O2_HEARING_FINDINGS];
	uint32_t ndue, nfound;
	bool dishonest; /* the conversation breaks a rule, reported or not; notes do not count */
	/* NULL, or a function that gets each event before the judge does. */
	void (*tap)(void *context, const struct o2_judge_event *event);
	void *tap_context;
	struct o2_judge_finding *log; /* all findings, up to O2_HEARING_LOG; borrowed; NULL: not kept */
	uint32_t nlog;
	uint64_t *found_of, *unproven; /* counters: findings of each rule; findings never proven */
	/* Counter: WRITEs for memory that was described later only, found where packets may be missing. */
	uint64_t *early;
	const char *scene; /* name of the scene, for the report */
	bool over;	   /* no honest event can follow */
	bool either;	   /* a loss reported first for A and then for B is one packet of either side */
};

static inline enum o2_judge_side o2_hearing_other(enum o2_judge_side side)
{
	return side == O2_JUDGE_A ? O2_JUDGE_B : O2_JUDGE_A;
}

/* A side of which something is heard. */
static inline enum o2_judge_side o2_hearing_draw_side(const struct o2_hearing *h)
{
	return h->one_way ? h->heard_side : (enum o2_judge_side)o2_draw(h->c, 1);
}

/* Has the clock advanced, since the last event heard, by what it was set back?  Then it may have been set right. */
static inline bool o2_hearing_is_set_right(const struct o2_hearing *h)
{
	return h->behind_ns != 0 &&
	       h->clock_ns + h->now_ns - h->heard_clock_ns + O2_JUDGE_DISORDER_MS * O2_NS_PER_MS >=
		       h->behind_ns;
}

/* The clock was set: for how long each side was quiet is not known. */
void o2_hearing_forget_quiet(struct o2_hearing *h);
/* Time passes.  now_ns is what the judge can know: of a step that may set the clock right, what is beyond that. */
void o2_hearing_pass_ns(struct o2_hearing *h, uint64_t ns);

/* The largest message that both sides accept. */
static inline uint32_t o2_hearing_most_bytes(const struct o2_hearing *h)
{
	const uint32_t a = h->end[O2_JUDGE_A].max_msg_bytes, b = h->end[O2_JUDGE_B].max_msg_bytes;

	return a < b ? a : b;
}

/* Create the judge and the first connection.  Options and terms must be set.  False: no memory. */
bool o2_hearing_open(struct o2_hearing *h, enum o2_judge_seen seen);
/* Start another connection, of which nothing was heard yet. */
bool o2_hearing_meet(struct o2_hearing *h, enum o2_judge_seen seen);
/* The judge forgets the connection: findings that still wait for a proof stay unproven. */
void o2_hearing_part(struct o2_hearing *h);
/* Forget the connection, then free the judge. */
void o2_hearing_close(struct o2_hearing *h);
/* Start listening in the middle: the judge knows nothing of what came before. */
void o2_hearing_listen(struct o2_hearing *h);

/* Predict a finding of the next event, if as much as `need` says is heard.  who: the side that broke the rule. */
void o2_hearing_expect(struct o2_hearing *h, enum o2_hearing_need need, enum o2_judge_rule_id rule,
		       enum o2_judge_side who, uint64_t earlier, const char *field, uint64_t value,
		       uint64_t limit, enum o2_limit_kind kind);
/* A finding waits for a proof: the severest ones are remembered, and of equally severe ones the first. */
void o2_hearing_wait(struct o2_hearing_end *end, const struct o2_judge_finding *finding);
/* Check that the judge's findings equal due[0..ndue-1]: all of them, in this order. */
void o2_hearing_compare(struct o2_hearing *h, const struct o2_judge_finding *due, uint32_t ndue);
/* Predict the findings about time (requests unanswered, credits withheld).  o2_hearing_tell does this; call
 * it before a transfer takes its next step. */
void o2_hearing_expect_times(struct o2_hearing *h);
/* Call after an event that the judge did not hear correctly, or at all: the judge forgets open transfers. */
void o2_hearing_missed(struct o2_hearing *h, enum o2_judge_side side);
/*
 * Before a request or a PUT_ACK of that side: if the judge may take it for one that comes again, because too much came
 * that may fit it, let the side answer a request that the judge has missed.
 */
void o2_hearing_renew(struct o2_hearing *h, enum o2_judge_side side);
/* Send a message that the judge takes for one that comes again; answered: an answer to it may have been heard. */
void o2_hearing_message_again(struct o2_hearing *h, enum o2_judge_side from, struct o2_msg *msg,
			      bool answered);
/* Tell the judge that an event of that side, not described further, was lost. */
void o2_hearing_lose(struct o2_hearing *h, enum o2_judge_side side);

/* Give the judge an event.  Number and time are filled in; the findings are compared with the prediction. */
void o2_hearing_tell(struct o2_hearing *h, struct o2_judge_event event);
/* Send a message of its canonical length, and update the account of credits. */
void o2_hearing_message(struct o2_hearing *h, enum o2_judge_side from, struct o2_msg *msg);
/* Send a message of this many bytes; the caller has set ibm_nob. */
void o2_hearing_message_bytes(struct o2_hearing *h, enum o2_judge_side from, const struct o2_msg *msg,
			      uint64_t bytes);
void o2_hearing_write(struct o2_hearing *h, enum o2_judge_side from, uint32_t rkey, uint64_t addr,
		      uint64_t bytes);
/* Check that the judge's view of the connection agrees with what it was told. */
void o2_hearing_check_view(struct o2_hearing *h);

/* A message with a correct header. */
struct o2_msg o2_hearing_header(const struct o2_hearing *h, enum o2_judge_side from, enum o2_msg_type type);
/* The credits that a side has, and those that it may return. */
int64_t o2_hearing_credits(const struct o2_hearing *h, enum o2_judge_side side);
int64_t o2_hearing_owed(const struct o2_hearing *h, enum o2_judge_side side);
/* The judge's limits for these: exact if it has heard everything (but waiting PUTs count as owed), else the most. */
int64_t o2_hearing_room(const struct o2_hearing *h, enum o2_judge_side side);
int64_t o2_hearing_owed_most(const struct o2_hearing *h, enum o2_judge_side side);

#endif
