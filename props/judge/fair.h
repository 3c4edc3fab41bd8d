/* SPDX-License-Identifier: MIT */
#ifndef O2_PROPS_FAIR_H
#define O2_PROPS_FAIR_H

#include "props/judge/hearing.h"

/* Two sides that keep to docs/transport.md: nothing that they say is a finding. */

/* Some steps of any kind. */
void o2_fair_steps(struct o2_hearing *h, uint32_t steps);
/* One message of a transfer, or one WRITE; whole: all of the fragment. */
void o2_fair_advance(struct o2_hearing *h, struct o2_hearing_transfer *t, bool whole);
/* All of a descriptor but what `leave` says is written, in pieces. */
void o2_fair_fill(struct o2_hearing *h, struct o2_hearing_transfer *t, uint64_t leave);
/* The message that ends it, with that status.  What is written has to agree. */
void o2_fair_done(struct o2_hearing *h, struct o2_hearing_transfer *t, int32_t status);
/* All transfers end. */
void o2_fair_finish(struct o2_hearing *h);
/* That, and all credits are given back, as far as that goes. */
void o2_fair_settle(struct o2_hearing *h);
/* The side can send a message that takes a credit. */
void o2_fair_ensure(struct o2_hearing *h, enum o2_judge_side side);

/* An IMMEDIATE without an answer, of some bytes; its credits are drawn. */
struct o2_msg o2_fair_immediate(struct o2_hearing *h, enum o2_judge_side from, uint64_t bytes);
/* A request of the side's.  nfrags 0: drawn.  NULL: none can begin. */
struct o2_hearing_transfer *o2_fair_begin(struct o2_hearing *h, enum o2_judge_side asker, bool is_get);
/* The same without telling it: the message is *msg. */
struct o2_hearing_transfer *o2_fair_request(struct o2_hearing *h, enum o2_judge_side asker, bool is_get,
					    struct o2_msg *msg);
/* The PUT_ACK of a transfer, without telling it. */
void o2_fair_put_ack(struct o2_hearing *h, struct o2_hearing_transfer *t, struct o2_msg *msg);
/* A transfer of which the descriptor is open; NULL: none can begin. */
struct o2_hearing_transfer *o2_fair_open(struct o2_hearing *h);

/* The side that writes into a transfer's sink. */
enum o2_judge_side o2_fair_writer(const struct o2_hearing_transfer *t);
/* A NOOP that gives all back that is owed, when the time for it has come. */
void o2_fair_noop(struct o2_hearing *h, enum o2_judge_side from);
/* The least that a NOOP gives back while its sender is not quiet: docs/judge.md, "NOOPs". */
uint32_t o2_fair_mark(const struct o2_hearing *h);
/* LNet's answer to a promise, without telling it; bytes: that it says. */
struct o2_msg o2_fair_answer(struct o2_hearing *h, const struct o2_hearing_promise *promise, uint64_t bytes);
/* A promise of an IMMEDIATE's; its message is told.  NULL: there is no room. */
struct o2_hearing_promise *o2_fair_promise(struct o2_hearing *h, enum o2_judge_side asker, bool is_get);

#endif
