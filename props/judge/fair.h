/* SPDX-License-Identifier: MIT */
#ifndef O2_PROPS_FAIR_H
#define O2_PROPS_FAIR_H

#include "props/judge/hearing.h"

/* Two sides that follow docs/transport.md: the judge must find nothing in what they send. */

/* Do `steps` random steps of any kind. */
void o2_fair_steps(struct o2_hearing *h, uint32_t steps);
/* Advance a transfer by one message or one WRITE; whole: the WRITE fills the rest of the fragment. */
void o2_fair_advance(struct o2_hearing *h, struct o2_hearing_transfer *t, bool whole);
/* Write all of the transfer's descriptor, in pieces, except the last `leave` bytes. */
void o2_fair_fill(struct o2_hearing *h, struct o2_hearing_transfer *t, uint64_t leave);
/* Send PUT_DONE or GET_DONE with this status, which must agree with the bytes written. */
void o2_fair_done(struct o2_hearing *h, struct o2_hearing_transfer *t, int32_t status);
/* End all open transfers. */
void o2_fair_finish(struct o2_hearing *h);
/* End all open transfers, then return credits with NOOPs as far as possible. */
void o2_fair_settle(struct o2_hearing *h);
/* Make sure that the side can send a message that takes a credit. */
void o2_fair_ensure(struct o2_hearing *h, enum o2_judge_side side);

/* Build an IMMEDIATE with `bytes` of payload that needs no answer; its credits are drawn. */
struct o2_msg o2_fair_immediate(struct o2_hearing *h, enum o2_judge_side from, uint64_t bytes);
/* Send a request of `asker`.  The descriptor is drawn.  NULL: no transfer can begin. */
struct o2_hearing_transfer *o2_fair_begin(struct o2_hearing *h, enum o2_judge_side asker, bool is_get);
/* Like o2_fair_begin, but only build the request in *msg and do not send it. */
struct o2_hearing_transfer *o2_fair_request(struct o2_hearing *h, enum o2_judge_side asker, bool is_get,
					    struct o2_msg *msg);
/* Build the PUT_ACK of a transfer in *msg, without sending it. */
void o2_fair_put_ack(struct o2_hearing *h, struct o2_hearing_transfer *t, struct o2_msg *msg);
/* Begin a transfer and send its descriptor (GET_REQ, or PUT_ACK); NULL: none can begin. */
struct o2_hearing_transfer *o2_fair_open(struct o2_hearing *h);

/* The side that writes into a transfer's sink. */
enum o2_judge_side o2_fair_writer(const struct o2_hearing_transfer *t);
/* Send a NOOP that returns all credits owed, waiting until a NOOP is allowed. */
void o2_fair_noop(struct o2_hearing *h, enum o2_judge_side from);
/* The fewest credits that a NOOP may return while its sender is not quiet: docs/judge.md, "NOOPs". */
uint32_t o2_fair_mark(const struct o2_hearing *h);
/* Build LNet's answer (ACK or REPLY) to a promise, without sending it; bytes: the length in the answer. */
struct o2_msg o2_fair_answer(struct o2_hearing *h, const struct o2_hearing_promise *promise, uint64_t bytes);
/* Send an IMMEDIATE that asks LNet for an answer, and record the promise.  NULL: there is no room. */
struct o2_hearing_promise *o2_fair_promise(struct o2_hearing *h, enum o2_judge_side asker, bool is_get);

#endif
