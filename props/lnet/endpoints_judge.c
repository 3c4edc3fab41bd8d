/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "lnd/conn/transfer.h"
#include "props/lnet/endpoints_internal.h"

/* Callbacks of applications: checks of what they are told about operations. */

static const char *name_of(const struct o2_endpoints_op *op)
{
	static const char *const names[O2_ENDPOINTS_KINDS] = {"PUT", "GET", "ping", "push"};

	return names[op->kind];
}

static void fail_op(struct o2_endpoints_seat *seat, const char *signature, const struct o2_endpoints_op *op,
		    const char *what)
{
	static const char *const there[] = {"did not see it", "has taken it", "has dropped it"};
	char fault[400] = "no fault";

	if (op->has_fault)
		o2_fault_text(&op->fault, fault, sizeof(fault));
	o2_report_fail(seat->endpoints->report, signature,
		       "%s %" PRIu32 " of endpoint %" PRIu32 ", %" PRIu32
		       " bytes, %s: %s; it has ended %" PRIu32 " times with %d (%s) and %" PRIu64 " bytes",
		       name_of(op), (uint32_t)(op - seat->op), seat->index, op->bytes,
		       op->ack ? "with ACK" : "without ACK", what, op->ended, op->status,
		       strerror(-op->status), op->length_bytes);
	o2_report_add(seat->endpoints->report,
		      "its target, endpoint %" PRIu32 ", %s (%s), %" PRIu64 " bytes, ended there %" PRIu32
		      " times with %d; causes 0x%x",
		      op->to, there[op->there], op->rule != NULL ? op->rule : "-", op->length_there,
		      op->ended_there, op->status_there, op->causes);
	o2_report_add(seat->endpoints->report, "fault: %s", fault);
}

/* --- who is meant --- */

struct o2_endpoints_op *o2_endpoints_by_handle(struct o2_endpoints_seat *seat, struct o2_lnet_handle handle)
{
	for (uint32_t k = 0; k < seat->nops; k++)
		if (seat->op[k].operation == handle.wh_object_cookie &&
		    seat->op[k].interface_cookie == handle.wh_interface_cookie)
			return &seat->op[k];
	return NULL;
}

/* The operation that a request belongs to; NULL, with a finding: none that could have arrived here. */
static struct o2_endpoints_op *asked(struct o2_endpoints_seat *target, uint64_t nid,
				     const struct o2_lnet_hdr *hdr, struct o2_endpoints_seat **initiator)
{
	struct o2_endpoints *endpoints = target->endpoints;
	const uint32_t i = o2_endpoints_index(endpoints, nid);
	const uint64_t k = hdr->msg.put.hdr_data;
	struct o2_endpoints_op *op = NULL;

	*initiator = &endpoints->seat[i];
	if (i < endpoints->nseats && hdr->type == O2_LNET_GET)
		op = o2_endpoints_by_handle(*initiator, hdr->msg.get.return_wmd);
	else if (i < endpoints->nseats && k < (*initiator)->nops)
		op = &(*initiator)->op[k];
	if (op != NULL && op->started && op->to == target->index &&
	    hdr->dest_pid == (op->pid != 0 ? op->pid : O2_LNET_PID_KERNEL) &&
	    o2_endpoints_is_get(op) == (hdr->type == O2_LNET_GET))
		return op;
	o2_report_fail(endpoints->report, "endpoint/stranger",
		       "endpoint %" PRIu32 " is told of a %s that nobody has started", target->index,
		       hdr->type == O2_LNET_GET ? "GET" : "PUT");
	return NULL;
}

/* --- the two ends together --- */

static bool acknowledged(const struct o2_endpoints_seat *seat, const struct o2_endpoints_op *op)
{
	const struct o2_endpoints_entry *entry = &seat->endpoints->seat[op->to].entry[op->entry];

	return (entry->entry.options & O2_LNET_MD_ACK_DISABLE) == 0;
}

/* Predict what the initiator is told if the case has caused no failure. */
static struct o2_endpoints_outcome foretell(const struct o2_endpoints_op *op)
{
	const bool get = o2_endpoints_is_get(op), taken = op->there == O2_ENDPOINTS_TAKEN;

	if (op->answer.given)
		return o2_endpoints_foretell_answered(op);
	if (o2_endpoints_by_rdma(op) && (!taken || (!get && op->length_there == 0)))
		return (struct o2_endpoints_outcome){-ENODATA, 0};
	if (get || op->ack) {
		if (taken && (get || op->acknowledged))
			return (struct o2_endpoints_outcome){0, op->length_there};
		return (struct o2_endpoints_outcome){-ETIMEDOUT, 0};
	}
	return (struct o2_endpoints_outcome){0, o2_endpoints_by_rdma(op) ? op->length_there : op->bytes};
}

/* True if the fault matches the status. */
static bool blamed_rightly(const struct o2_endpoints_seat *seat, const struct o2_endpoints_op *op)
{
	const struct o2_endpoints *endpoints = seat->endpoints;
	const struct o2_transfer_fault *fault = &op->fault;
	const uint64_t limit_ms =
		op->timeout_ms != 0 ? op->timeout_ms : seat->lnet_config.response_timeout_ms;
	const enum o2_wait wait = o2_endpoints_is_get(op) ? O2_WAIT_LNET_REPLY : O2_WAIT_LNET_ACK;

	if (op->status == 0)
		return !op->has_fault;
	if (!op->has_fault || fault->code != op->status)
		return false;
	if (op->status == -ENODATA)
		return fault->side == O2_FAULT_PEER_STATUS;
	if (op->answer.given)
		return o2_endpoints_answer_blamed(op);
	return fault->side == O2_FAULT_DEADLINE && fault->wait == wait && fault->error.limit == limit_ms &&
	       fault->error.value >= limit_ms && fault->error.value - limit_ms < op->step_ms &&
	       fault->error.value <= endpoints->ground.now_ms - op->started_ms;
}

static bool as_foretold(const struct o2_endpoints_seat *seat, const struct o2_endpoints_op *op)
{
	const struct o2_endpoints_outcome foretold = foretell(op);
	/* A PUT_NAK is accompanied by an ACK of 0 bytes, and either may arrive first. */
	const bool nak = !op->answer.given && o2_endpoints_by_rdma(op) && op->there == O2_ENDPOINTS_TAKEN &&
			 op->length_there == 0 && op->ack && op->acknowledged && !o2_endpoints_is_get(op);

	if (nak && op->status == 0 && op->length_bytes == 0)
		return true;
	return op->status == foretold.status && op->length_bytes == foretold.length_bytes &&
	       blamed_rightly(seat, op);
}

/* The operation was cancelled while it waited for an ACK or REPLY. */
static bool as_cancelled(const struct o2_endpoints_op *op)
{
	return op->cancelled && op->status == -ECANCELED && op->length_bytes == 0 && !op->has_fault &&
	       (o2_endpoints_is_get(op) ? !o2_endpoints_by_rdma(op) : op->ack);
}

/* The operation was cancelled, but waited for an ACK or REPLY until it timed out. */
static bool waited_none_the_less(const struct o2_endpoints_op *op)
{
	return op->cancelled && op->status == -ETIMEDOUT && op->has_fault &&
	       (op->fault.wait == O2_WAIT_LNET_ACK || op->fault.wait == O2_WAIT_LNET_REPLY);
}

/* A PUT by IMMEDIATE ends when the target's device has it, whether or not the target handles it. */
static bool unseen_but_sent(const struct o2_endpoints_op *op)
{
	return op->there == O2_ENDPOINTS_UNSEEN && !o2_endpoints_is_get(op) && !op->ack &&
	       !o2_endpoints_by_rdma(op) && op->status == 0 && op->length_bytes == op->bytes;
}

static void count(struct o2_endpoints *endpoints, const struct o2_endpoints_op *op)
{
	const bool get = o2_endpoints_is_get(op), taken = op->there == O2_ENDPOINTS_TAKEN;
	const struct o2_endpoints_entry *entry = &endpoints->seat[op->to].entry[op->entry];

	if (op->answer.given) {
		o2_endpoints_count_answered(endpoints, op);
		return;
	}
	if (op->status == -ETIMEDOUT && !taken)
		o2_endpoints_seen(endpoints, O2_ENDPOINTS_SEEN_NO_ANSWER);
	if (op->status == -ETIMEDOUT && op->timeout_ms != 0)
		o2_endpoints_seen(endpoints, O2_ENDPOINTS_SEEN_OWN_TIMEOUT);
	if (op->status == -ETIMEDOUT && taken)
		o2_endpoints_seen(endpoints, O2_ENDPOINTS_SEEN_ACK_DISABLED);
	if (o2_endpoints_by_rdma(op) && taken && op->length_there == 0)
		o2_endpoints_seen(endpoints, O2_ENDPOINTS_SEEN_NOTHING_LEFT);
	if (op->status != 0 || !taken)
		return;
	if (op->kind == O2_ENDPOINTS_PING || op->kind == O2_ENDPOINTS_PUSH)
		o2_endpoints_seen(endpoints, op->kind == O2_ENDPOINTS_PING ? O2_ENDPOINTS_SEEN_PING
									   : O2_ENDPOINTS_SEEN_PUSH);
	else if (get)
		o2_endpoints_seen(endpoints, o2_endpoints_by_rdma(op) ? O2_ENDPOINTS_SEEN_GET_RDMA
								      : O2_ENDPOINTS_SEEN_GET_IMMEDIATE);
	else
		o2_endpoints_seen(endpoints, o2_endpoints_by_rdma(op) ? O2_ENDPOINTS_SEEN_PUT_RDMA
					     : op->bytes == 0	      ? O2_ENDPOINTS_SEEN_PUT_EMPTY
								      : O2_ENDPOINTS_SEEN_PUT_IMMEDIATE);
	if (op->ack)
		o2_endpoints_seen(endpoints, O2_ENDPOINTS_SEEN_ACK);
	if (op->cancelled)
		o2_endpoints_seen(endpoints, O2_ENDPOINTS_SEEN_CANCELED_TOO_LATE);
	if (op->pid != 0)
		o2_endpoints_seen(endpoints, O2_ENDPOINTS_SEEN_OTHER_PID);
	if (op->followed)
		o2_endpoints_seen(endpoints, O2_ENDPOINTS_SEEN_FOLLOWED);
	if (op->length_there < op->bytes && op->length_there > 0)
		o2_endpoints_seen(endpoints, O2_ENDPOINTS_SEEN_TRUNCATED);
	if (o2_endpoints_by_rdma(op) && (op->memory.gapped || entry->memory.gapped))
		o2_endpoints_seen(endpoints, O2_ENDPOINTS_SEEN_GAPS);
	if (o2_endpoints_by_rdma(op) && (op->memory.scattered || entry->memory.scattered))
		o2_endpoints_seen(endpoints, O2_ENDPOINTS_SEEN_SCATTERED);
	if (op->offset_there > 0)
		o2_endpoints_seen(endpoints, (entry->entry.options & O2_LNET_MD_MANAGE_REMOTE) != 0
						     ? O2_ENDPOINTS_SEEN_REMOTE_OFFSET
						     : O2_ENDPOINTS_SEEN_LOCAL_OFFSET);
}

static void count_lost(struct o2_endpoints *endpoints, const struct o2_endpoints_op *op)
{
	if (op->status == -ETIMEDOUT)
		o2_endpoints_seen(endpoints, O2_ENDPOINTS_SEEN_LATE);
	else if (op->there != O2_ENDPOINTS_UNSEEN && !o2_endpoints_by_rdma(op))
		o2_endpoints_seen(endpoints, O2_ENDPOINTS_SEEN_LOST_WAITING);
	else
		o2_endpoints_seen(endpoints, O2_ENDPOINTS_SEEN_LOST_HERE);
}

/* Check the sink of a GET: the bytes taken from the entry, then the previous content. */
static void judge_sink(struct o2_endpoints_seat *seat, const struct o2_endpoints_op *op)
{
	struct o2_endpoints_seat *target = &seat->endpoints->seat[op->to];

	if (op->answer.given)
		o2_endpoints_expect_answer(op, seat->endpoints->report);
	else if (op->status != 0 && o2_endpoints_by_rdma(op))
		o2_memory_accept(&op->memory, 0, op->bytes);
	else if (op->status == 0 && (op->clash || op->life_there != target->life))
		o2_memory_accept(&op->memory, 0, op->length_bytes);
	else if (op->status == 0)
		o2_memory_move(&op->memory, 0, &target->entry[op->entry].memory, op->offset_there,
			       op->length_bytes);
	o2_memory_check(&op->memory, 0, op->bytes, seat->endpoints->report, "endpoint/bytes",
			op->status == 0 ? "a GET has ended well" : "a GET has failed");
}

/* Judge an operation once both ends have been told; finally: once no more reports can follow. */
static void judge(struct o2_endpoints_seat *seat, struct o2_endpoints_op *op, bool finally)
{
	const bool known = op->there == O2_ENDPOINTS_DROPPED || op->ended_there == 1;

	if (op->judged || op->ended == 0 || (!known && !finally))
		return;
	op->judged = true;
	if (op->there == O2_ENDPOINTS_UNSEEN && op->causes == 0) {
		fail_op(seat, "endpoint/vanished", op, "it has not come to its target");
		return;
	}
	if (waited_none_the_less(op))
		fail_op(seat, "endpoint/outcome", op, "it was not to wait");
	else if (as_cancelled(op))
		o2_endpoints_seen(seat->endpoints, o2_endpoints_is_get(op) ? O2_ENDPOINTS_SEEN_CANCELED_GET
									   : O2_ENDPOINTS_SEEN_CANCELED_PUT);
	else if ((op->there != O2_ENDPOINTS_UNSEEN || o2_endpoints_is_settled(op)) && as_foretold(seat, op))
		count(seat->endpoints, op);
	else if (op->causes != 0 && unseen_but_sent(op))
		o2_endpoints_seen(seat->endpoints, O2_ENDPOINTS_SEEN_LOST_THERE);
	else if (op->length_bytes == 0 && op->has_fault &&
		 o2_endpoints_foretold(op->causes, op->status, &op->fault))
		count_lost(seat->endpoints, op);
	else
		fail_op(seat, "endpoint/outcome", op, "its end was not foretold");
	if (o2_endpoints_is_get(op) && !seat->endpoints->report->failed)
		judge_sink(seat, op);
}

/* --- what is told --- */

static void done(void *context, const struct o2_lnet_result *result)
{
	struct o2_endpoints_seat *seat = context;
	struct o2_endpoints_op *op = o2_endpoints_by_handle(
		seat, (struct o2_lnet_handle){seat->lnet_config.interface_cookie, result->operation});

	if (op == NULL || !op->started || result->is_get != o2_endpoints_is_get(op) ||
	    result->tag != (uint64_t)(op - seat->op)) {
		o2_report_fail(seat->endpoints->report, "endpoint/stranger",
			       "endpoint %" PRIu32 " is told of an operation that it has not started",
			       seat->index);
		return;
	}
	op->ended++;
	op->status = result->status;
	op->length_bytes = result->length_bytes;
	op->has_fault = result->fault != NULL;
	op->step_ms = seat->endpoints->step_ms;
	if (op->has_fault)
		op->fault = *result->fault;
	if (op->ended > 1)
		fail_op(seat, "endpoint/ended", op, "it ends once");
	judge(seat, op, false);
	if (!seat->endpoints->report->failed)
		o2_endpoints_follow(seat, op);
}

/* A PUT by RDMA has started: it may write from now on. */
static void started(void *context, const struct o2_lnet_event *event)
{
	struct o2_endpoints_seat *seat = context, *initiator;
	struct o2_endpoints_op *op = asked(seat, event->nid, event->hdr, &initiator);

	if (op == NULL)
		return;
	op->begun++;
	op->request = event->request;
	op->life_there = seat->life;
	if (op->begun > 1 || op->there != O2_ENDPOINTS_UNSEEN || !o2_endpoints_by_rdma(op) ||
	    event->request == 0)
		fail_op(initiator, "endpoint/started", op, "it starts once at its target, and by RDMA");
	else
		o2_endpoints_take(initiator, op, event);
}

/* Check the PUT's bytes in the entry's memory; after a failure they are undefined. */
static void judge_put(struct o2_endpoints_seat *initiator, struct o2_endpoints_op *op)
{
	const struct o2_endpoints_seat *seat = &initiator->endpoints->seat[op->to];
	const struct o2_op_memory *memory = &seat->entry[op->entry].memory;

	if (op->status_there != 0 || op->clash)
		o2_memory_accept(memory, op->offset_there, op->length_there);
	else
		o2_memory_move(memory, op->offset_there, &op->memory, 0, op->length_there);
	o2_memory_check(memory, op->offset_there, op->length_there, seat->endpoints->report, "endpoint/bytes",
			"a PUT has ended at its target");
}

static bool same_as_started(const struct o2_endpoints_op *op, const struct o2_lnet_event *event)
{
	return event->request == op->request && o2_endpoints_entry_number(event) == op->entry &&
	       event->offset == op->offset_there && event->length_bytes == op->length_there;
}

/* The operation has ended at its target. */
static void ended_there(struct o2_endpoints_seat *seat, struct o2_endpoints_seat *initiator,
			struct o2_endpoints_op *op, const struct o2_lnet_event *event)
{
	const bool put = event->kind == O2_LNET_EVENT_PUT;
	const bool begins = put && o2_endpoints_by_rdma(op);

	op->ended_there++;
	op->status_there = event->status;
	if (op->ended_there > 1 || op->there == O2_ENDPOINTS_DROPPED || op->begun != begins ||
	    (put && event->request != 0) != begins) {
		fail_op(initiator, "endpoint/event", op, "it ends once at its target, and as it has started");
		return;
	}
	if (!begins) {
		op->life_there = seat->life;
		o2_endpoints_take(initiator, op, event);
	} else if (!same_as_started(op, event)) {
		fail_op(initiator, "endpoint/event", op, "it ends at its target as another one");
	}
	if (op->there == O2_ENDPOINTS_TAKEN)
		o2_endpoints_check_unlinked(seat, &seat->entry[op->entry], event->unlinked);
	op->acknowledged = acknowledged(initiator, op);
	if (event->status != 0 && !o2_endpoints_foretold(op->causes, event->status, NULL))
		fail_op(initiator, "endpoint/outcome-there", op, "its end at its target was not foretold");
	if (event->status != 0)
		o2_endpoints_seen(seat->endpoints, O2_ENDPOINTS_SEEN_LOST_THERE);
	if (put && !seat->endpoints->report->failed)
		judge_put(initiator, op);
}

/* An answer was dropped: it came too late, after a wrong one, or for an operation that does not exist any more. */
static void answer_dropped(struct o2_endpoints_seat *seat, const struct o2_lnet_event *event)
{
	const struct o2_lnet_handle handle =
		event->hdr->type == O2_LNET_ACK ? event->hdr->msg.ack.dst_wmd : event->hdr->msg.reply.dst_wmd;
	const struct o2_endpoints_op *op = o2_endpoints_by_handle(seat, handle);

	if (strcmp(event->error->rule, "lnet/unknown-handle") == 0 &&
	    (op == NULL || op->ended > 0 || op->answer.given))
		return;
	o2_report_fail(seat->endpoints->report, "endpoint/answer",
		       "endpoint %" PRIu32 " drops an answer that it waits for, by rule %s", seat->index,
		       event->error->rule);
}

static void event(void *context, const struct o2_lnet_event *told)
{
	struct o2_endpoints_seat *seat = context, *initiator;
	const uint32_t type = told->hdr->type;
	struct o2_endpoints_op *op;

	if (seat->stray.expected) {
		seat->stray.dropped = told->kind == O2_LNET_EVENT_DROPPED;
		seat->stray.error = *told->error;
		return;
	}
	if (type == O2_LNET_ACK || type == O2_LNET_REPLY) {
		answer_dropped(seat, told);
		return;
	}
	op = asked(seat, told->nid, told->hdr, &initiator);
	if (op == NULL)
		return;
	if (told->kind == O2_LNET_EVENT_DROPPED && op->there == O2_ENDPOINTS_UNSEEN) {
		op->life_there = seat->life;
		o2_endpoints_drop(initiator, op, told);
	} else if (told->kind == O2_LNET_EVENT_DROPPED) {
		fail_op(initiator, "endpoint/event", op, "it is dropped after it was taken or dropped");
	} else {
		ended_there(seat, initiator, op, told);
	}
	if (!seat->endpoints->report->failed)
		judge(initiator, op, false);
}

const struct o2_lnet_ops o2_endpoints_ops = {.done = done, .started = started, .event = event};

void o2_endpoints_check_ops(struct o2_endpoints *endpoints)
{
	for (uint32_t i = 0; i < endpoints->nseats; i++)
		for (uint32_t k = 0; k < endpoints->seat[i].nops; k++) {
			struct o2_endpoints_op *op = &endpoints->seat[i].op[k];

			if (op->started && op->ended == 0)
				fail_op(&endpoints->seat[i], "endpoint/ended", op, "it has not ended");
			if (op->there == O2_ENDPOINTS_TAKEN && op->ended_there == 0)
				fail_op(&endpoints->seat[i], "endpoint/event", op,
					"it has not ended at its target");
			if (!endpoints->report->failed)
				judge(&endpoints->seat[i], op, true);
		}
}
