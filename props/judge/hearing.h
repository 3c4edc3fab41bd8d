/* SPDX-License-Identifier: MIT */
#ifndef O2_PROPS_HEARING_H
#define O2_PROPS_HEARING_H

#include <stdbool.h>
#include <stdint.h>

#include "judge/judge.h"
#include "props/engine/choice.h"
#include "props/engine/report.h"

/*
 * A hearing: a conversation that a property makes up, what the judge hears of it, and the findings that it has
 * to come to, foretold for each event before it is heard (docs/properties.md, "The verdicts property").
 *
 * The conversation keeps its own account of credits and of transfers from docs/transport.md: plain sums from
 * the beginning of the conversation, whether it is heard or not.
 */

#define O2_HEARING_TRANSFERS 12u
#define O2_HEARING_PROMISES  16u
#define O2_HEARING_FINDINGS  64u
#define O2_HEARING_LOG	     256u
#define O2_HEARING_FRAGS     5u /* of an honest descriptor, at most */
/* docs/judge.md, "Captures": what waits for a proof, of a side. */
#define O2_HEARING_WAITING 8u

/* A transfer from its request to its end. */
struct o2_hearing_transfer {
	bool open, is_get, described;
	bool followed; /* all of it was heard */
	bool late;     /* the judge has said so */
	bool accepted; /* a PUT_ACK was told */
	bool refused;  /* a PUT_NAK was told, first */
	enum o2_judge_side asker;
	uint64_t cookie, sink_cookie;
	uint64_t asked_bytes, sink_bytes, written_bytes;
	struct o2_rdma_desc sink;
	uint32_t at_frag, at_byte; /* where the next WRITE goes */
	uint64_t number, time_ns;  /* of the request, or of the PUT_ACK */
	uint32_t promise;	   /* that LNet's ACK will keep; O2_HEARING_PROMISES: none */
};

/* LNet wants to be told: of `asker`, by the other side. */
struct o2_hearing_promise {
	bool open, is_get, heard, exact;
	enum o2_judge_side asker;
	uint64_t handle, number, bytes;
};

struct o2_hearing_end {
	uint64_t nid, stamp;
	uint32_t max_msg_bytes; /* the largest message that it takes */
	int64_t balance;	/* credits that it was sent, less messages that took one */
	int64_t least, most;	/* of that, since all is heard of which nothing is missing */
	uint32_t accepted, unanswered;
	uint64_t empty_ns; /* since when it has no credit, where the judge knows; 0: it has */
	bool withheld_said, disconnected;
	uint64_t said_ns; /* its last message that was heard; 0: none */
	uint64_t
		summed; /* number of its first message with a sum, while none without one followed; 0: none */
	uint64_t empty_noops, empty_noops_ns;
	uint64_t messages, writes, write_bytes; /* heard */
	uint64_t puts;				/* of LNet, in messages that were heard */
	struct o2_judge_finding waiting[O2_HEARING_WAITING];
	uint32_t nwaiting;
};

/* How much has to be heard for a finding. */
enum o2_hearing_need {
	O2_HEARING_EVENT, /* the event itself */
	O2_HEARING_BOTH,  /* what both sides say */
	O2_HEARING_WHOLE, /* all, from the beginning */
	O2_HEARING_EXACT, /* and no finding about credits came before */
	O2_HEARING_TERMS, /* what was agreed */
};

struct o2_hearing {
	struct o2_choice *c;
	struct o2_report *report;
	struct o2_judge *judge;
	struct o2_judge_conn *conn;
	struct o2_judge_options options;
	/* What is heard. */
	bool deaf, whole, one_way, knows_terms;
	bool exact; /* whole, and the account of credits was not begun anew */
	bool anew;  /* with the next message the judge finds the credits wrong, and begins a new account */
	enum o2_judge_side heard_side; /* one way */
	bool writes_unseen[O2_JUDGE_SIDES];
	uint64_t id, heard; /* of the connection: of all, and its events */
	/* What was agreed. */
	uint16_t version;
	uint32_t depth, max_frags;
	/* The conversation. */
	struct o2_hearing_end end[O2_JUDGE_SIDES];
	struct o2_hearing_transfer transfer[O2_HEARING_TRANSFERS];
	struct o2_hearing_promise promise[O2_HEARING_PROMISES];
	uint64_t number, now_ns, next_cookie, next_addr;
	uint32_t next_key;
	bool one_key; /* of all memory, as in mode global */
	/* Where allocations of the program can fail; NULL: nowhere.  fail_nth: while the next event is heard. */
	void (*fail_allocation)(uint32_t nth);
	bool (*allocation_failed)(void);
	uint32_t fail_nth;
	/* Findings: foretold of the next event; heard. */
	struct o2_judge_finding due[O2_HEARING_FINDINGS], found[O2_HEARING_FINDINGS];
	uint32_t ndue, nfound;
	bool dishonest; /* something is wrong with the conversation, found or not; notes do not count */
	/* NULL, or who else is told each event, before the judge is; and all that was found. */
	void (*tap)(void *context, const struct o2_judge_event *event);
	void *tap_context;
	struct o2_judge_finding *log; /* O2_HEARING_LOG, borrowed; NULL: not kept */
	uint32_t nlog;
	uint64_t *found_of, *unproven; /* counters: of each rule, and all that never was proven */
	const char *scene;	       /* for the report */
	bool over;		       /* nothing honest can follow */
	bool either; /* the loss that is told, first of A and then of B, is of one packet of either side */
};

static inline enum o2_judge_side o2_hearing_other(enum o2_judge_side side)
{
	return side == O2_JUDGE_A ? O2_JUDGE_B : O2_JUDGE_A;
}

/* Of a message that both sides take. */
static inline uint32_t o2_hearing_most_bytes(const struct o2_hearing *h)
{
	const uint32_t a = h->end[O2_JUDGE_A].max_msg_bytes, b = h->end[O2_JUDGE_B].max_msg_bytes;

	return a < b ? a : b;
}

/* A judge and the first connection.  Options and terms are set; false: no memory. */
bool o2_hearing_open(struct o2_hearing *h, enum o2_judge_seen seen);
/* Another connection, of which nothing was said. */
bool o2_hearing_meet(struct o2_hearing *h, enum o2_judge_seen seen);
/* The connection is forgotten: what still waits is never proven. */
void o2_hearing_part(struct o2_hearing *h);
/* That, and then the judge is. */
void o2_hearing_close(struct o2_hearing *h);
/* From now on the judge hears, as one who was not there before. */
void o2_hearing_listen(struct o2_hearing *h);

/* The finding that the next event has to give, if so much is heard.  who broke the rule. */
void o2_hearing_expect(struct o2_hearing *h, enum o2_hearing_need need, enum o2_judge_rule_id rule,
		       enum o2_judge_side who, uint64_t earlier, const char *field, uint64_t value,
		       uint64_t limit, enum o2_limit_kind kind);
/* The findings that came are those: all of them, in their order. */
void o2_hearing_compare(struct o2_hearing *h, const struct o2_judge_finding *due, uint32_t ndue);
/* What the time says when the next event is heard, which does this itself: requests that wait, sides that have
 * no credits.  Before a transfer takes its next step. */
void o2_hearing_expect_times(struct o2_hearing *h);
/* A message is not heard as it was, or not at all: what was open is forgotten.  After the event. */
void o2_hearing_missed(struct o2_hearing *h, enum o2_judge_side side);
/* It is told that something of that side is missing, of which nothing was said. */
void o2_hearing_lose(struct o2_hearing *h, enum o2_judge_side side);
/* The same of one side or the other: the judge is told of both. */
void o2_hearing_lose_either(struct o2_hearing *h);

/* Tell it.  Number and time are filled in; findings are held to what was foretold. */
void o2_hearing_tell(struct o2_hearing *h, struct o2_judge_event event);
/* A message at its canonical length; the account goes on as it says. */
void o2_hearing_message(struct o2_hearing *h, enum o2_judge_side from, struct o2_msg *msg);
/* The same, as so many bytes; its own length is the caller's. */
void o2_hearing_message_bytes(struct o2_hearing *h, enum o2_judge_side from, const struct o2_msg *msg,
			      uint64_t bytes);
void o2_hearing_write(struct o2_hearing *h, enum o2_judge_side from, uint32_t rkey, uint64_t addr,
		      uint64_t bytes);
void o2_hearing_pass_ns(struct o2_hearing *h, uint64_t ns);
/* What the judge says of the connection is what it was told. */
void o2_hearing_check_view(struct o2_hearing *h);

/* A message that is right in its header. */
struct o2_msg o2_hearing_header(const struct o2_hearing *h, enum o2_judge_side from, enum o2_msg_type type);
/* How many credits a side has, and how many it may give back. */
int64_t o2_hearing_credits(const struct o2_hearing *h, enum o2_judge_side side);
int64_t o2_hearing_owed(const struct o2_hearing *h, enum o2_judge_side side);
/* What the judge takes for that: the same where it has heard all, else the most that can be. */
int64_t o2_hearing_room(const struct o2_hearing *h, enum o2_judge_side side);
int64_t o2_hearing_owed_most(const struct o2_hearing *h, enum o2_judge_side side);

#endif
