/* SPDX-License-Identifier: MIT */
#include "lnd/conn/fault.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "wire/reject.h"

struct o2_transfer_fault o2_fault_of(enum o2_fault_side side, int code, const struct o2_error *error)
{
	struct o2_transfer_fault fault = {.side = side, .code = code};

	o2_error_clear(&fault.error);
	if (error != NULL)
		fault.error = *error;
	return fault;
}

struct o2_transfer_fault o2_fault_local_close(int code)
{
	struct o2_transfer_fault fault = o2_fault_of(code == 0 ? O2_FAULT_NONE : O2_FAULT_CLOSED, code, NULL);

	if (code != 0)
		o2_fail(&fault.error, code, "conn/closed", "errno", (uint64_t)-code);
	return fault;
}

struct o2_transfer_fault o2_fault_late(enum o2_wait wait, int code, const char *rule, uint64_t age_ms,
				       uint64_t limit_ms)
{
	struct o2_transfer_fault fault = o2_fault_of(O2_FAULT_DEADLINE, code, NULL);

	fault.wait = wait;
	o2_refuse_value(&fault.error, code, rule, "age in ms", age_ms, limit_ms);
	return fault;
}

/* Is it of something that ended with its connection?  A connection's own fault CLOSED has a rule, no .closed_by. */
static bool ended_with_its_connection(const struct o2_transfer_fault *fault)
{
	return fault->side == O2_FAULT_CLOSED &&
	       (fault->closed_by != O2_FAULT_NONE || fault->error.code == 0);
}

struct o2_transfer_fault o2_fault_closed(const struct o2_transfer_fault *why)
{
	struct o2_transfer_fault fault = *why;

	/* If *why is of something that ended with its connection, .closed_by is already set. */
	if (!ended_with_its_connection(why))
		fault.closed_by = why->side;
	fault.side = O2_FAULT_CLOSED;
	fault.code = -ECONNABORTED;
	return fault;
}

const char *o2_wait_text(enum o2_wait wait)
{
	static const char *const texts[O2_WAITS] = {
		[O2_WAIT_NONE] = "nothing",
		[O2_WAIT_CONNECTION] = "a connection",
		[O2_WAIT_RESERVATION] = "a reservation: room for the peer's answer",
		[O2_WAIT_CREDIT] = "a credit",
		[O2_WAIT_SEND_ROOM] = "the end of sends before it",
		[O2_WAIT_WINDOW] = "a window for its memory",
		[O2_WAIT_SEND] = "its send to be acknowledged by the device",
		[O2_WAIT_INVALIDATE] = "its key to be invalidated by the device",
		[O2_WAIT_PUT_ACK] = "the peer's PUT_ACK",
		[O2_WAIT_PUT_DONE] = "the peer's PUT_DONE",
		[O2_WAIT_GET_DONE] = "the peer's GET_DONE",
		[O2_WAIT_LNET_ACK] = "LNet's ACK",
		[O2_WAIT_LNET_REPLY] = "LNet's REPLY",
	};

	return (unsigned int)wait < O2_WAITS ? texts[wait] : texts[O2_WAIT_NONE];
}

/* The reject reasons of the InfiniBand specification, "Rejection reason". */
const char *o2_cm_reason_text(uint32_t cm_reason)
{
	static const char *const texts[] = {
		[1] = "no queue pair available",
		[2] = "no EE context available",
		[3] = "no resources available",
		[4] = "timeout",
		[5] = "unsupported request",
		[6] = "invalid communication id",
		[7] = "invalid communication instance",
		[8] = "invalid service id: nobody listens there",
		[9] = "invalid transport service type",
		[10] = "stale connection",
		[11] = "RDC does not exist",
		[12] = "primary port GID rejected",
		[13] = "primary port LID rejected",
		[14] = "invalid primary service level",
		[15] = "invalid primary traffic class",
		[16] = "invalid primary hop limit",
		[17] = "invalid primary packet rate",
		[18] = "alternate port GID rejected",
		[19] = "alternate port LID rejected",
		[20] = "invalid alternate service level",
		[21] = "invalid alternate traffic class",
		[22] = "invalid alternate hop limit",
		[23] = "invalid alternate packet rate",
		[24] = "port and CM redirection",
		[25] = "port redirection",
		[26] = "invalid path MTU",
		[27] = "insufficient responder resources",
		[28] = "consumer reject",
		[29] = "RNR retry count rejected",
		[30] = "duplicate local communication id",
		[31] = "invalid class version",
		[32] = "invalid primary flow label",
		[33] = "invalid alternate flow label",
	};

	return cm_reason < sizeof(texts) / sizeof(texts[0]) ? texts[cm_reason] : NULL;
}

/* Write "who: rule: field is .."; without a rule, "who: " and the errno as text; without an errno, only `who`. */
static int stage_text(const struct o2_transfer_fault *fault, const char *who, char *text, size_t text_bytes)
{
	char why[256];

	if (fault->error.code != 0 && fault->error.rule != NULL) {
		o2_error_text(&fault->error, why, sizeof(why));
		return snprintf(text, text_bytes, "%s: %s", who, why);
	}
	if (fault->code != 0)
		return snprintf(text, text_bytes, "%s: %s", who, strerror(-fault->code));
	return snprintf(text, text_bytes, "%s", who);
}

/* The rule that refused the answer; "" for a rule that only repeats the reject's reason. */
static const char *rule_of_reject(const struct o2_transfer_fault *fault)
{
	const char *rule = fault->error.rule;

	if (rule == NULL || strcmp(rule, "reject/why") == 0 || strcmp(rule, "reject/cm-reason") == 0)
		return "";
	return rule;
}

static int reject_text(const struct o2_transfer_fault *fault, char *text, size_t text_bytes)
{
	const char *why = o2_reject_why_name(fault->reject_why);
	const char *reason = o2_cm_reason_text(fault->cm_reason);
	const char *rule = rule_of_reject(fault), *colon = rule[0] != '\0' ? ": " : "";

	if (why != NULL)
		return snprintf(text, text_bytes, "the peer has rejected the connection: %s (reason %u)%s%s",
				why, (unsigned int)fault->reject_why, colon, rule);
	return snprintf(text, text_bytes,
			"the connection was rejected: %s (connection manager's reason %" PRIu32 ")%s%s",
			reason != NULL ? reason : "unknown", fault->cm_reason, colon, rule);
}

/* Write which side is to blame, how, and the figures, for an operation or a connection. */
static int side_text(enum o2_fault_side side, const struct o2_transfer_fault *fault, char *text,
		     size_t text_bytes)
{
	switch (side) {
	case O2_FAULT_NONE:
		return snprintf(text, text_bytes, "we have ended the connection");
	case O2_FAULT_LOCAL_STAGE:
		return stage_text(fault, "refused here", text, text_bytes);
	case O2_FAULT_LOCAL_COMPLETION:
		return snprintf(text, text_bytes, "a work request of ours has failed: %s (status %d)",
				ibv_wc_status_str(fault->wc_status), (int)fault->wc_status);
	case O2_FAULT_PEER_STATUS:
		return stage_text(fault, "the peer reports a failure", text, text_bytes);
	case O2_FAULT_PEER_MESSAGE:
		return stage_text(fault, "the peer has broken a rule", text, text_bytes);
	case O2_FAULT_CLOSED:
		return stage_text(fault, "we have closed the connection", text, text_bytes);
	case O2_FAULT_DEADLINE:
		return snprintf(text, text_bytes,
				"our deadline: waited %" PRIu64 " ms for %s, limit %" PRIu64 " ms",
				fault->error.value, o2_wait_text(fault->wait), fault->error.limit);
	case O2_FAULT_PEER_CLOSED:
		return snprintf(text, text_bytes, "the peer has ended the connection (DREQ)");
	case O2_FAULT_REJECTED:
		return reject_text(fault, text, text_bytes);
	case O2_FAULT_CONNECT:
		return stage_text(fault, "no connection could be made", text, text_bytes);
	case O2_FAULT_DEVICE:
		return stage_text(fault, "the device is lost", text, text_bytes);
	}
	return snprintf(text, text_bytes, "unknown");
}

int o2_fault_text(const struct o2_transfer_fault *fault, char *text, size_t text_bytes)
{
	char why[400];

	if (fault->side == O2_FAULT_NONE && fault->code == 0)
		return snprintf(text, text_bytes, "no fault");
	if (!ended_with_its_connection(fault))
		return side_text(fault->side, fault, text, text_bytes);
	side_text(fault->closed_by, fault, why, sizeof(why));
	return snprintf(text, text_bytes, "the connection has ended: %s", why);
}
