/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <inttypes.h>

#include "props/talk/nodes_internal.h"

/* Builds predicted faults, compares them, and formats them in findings. */

#define ATTEMPT_MIN_MS 5000u /* docs/connection.md, "Times" */

uint64_t o2_nodes_attempt_ms(const struct o2_nodes_seat *seat)
{
	const uint64_t quarter_ms = seat->config.conn.timeout_ms / 4;

	return quarter_ms > ATTEMPT_MIN_MS ? quarter_ms : ATTEMPT_MIN_MS;
}

static bool same_error(const struct o2_error *a, const struct o2_error *b)
{
	if (a->code != b->code || a->code == 0)
		return a->code == b->code;
	return o2_same_text(a->rule, b->rule) && o2_same_text(a->field, b->field) && a->class == b->class &&
	       a->index == b->index && a->offset_bytes == b->offset_bytes && a->value == b->value &&
	       a->limit == b->limit && a->limit_kind == b->limit_kind;
}

bool o2_nodes_same_fault(const struct o2_transfer_fault *a, const struct o2_transfer_fault *b)
{
	return a->side == b->side && a->code == b->code && a->closed_by == b->closed_by &&
	       a->wait == b->wait && a->wc_status == b->wc_status && a->cm_reason == b->cm_reason &&
	       a->reject_why == b->reject_why && a->tolerable == b->tolerable &&
	       same_error(&a->error, &b->error);
}

struct o2_transfer_fault o2_nodes_fault(enum o2_fault_side side, int code, const char *rule,
					const char *field, uint64_t value, uint64_t limit)
{
	struct o2_transfer_fault fault = {.side = side, .code = code};

	o2_error_clear(&fault.error);
	if (rule != NULL)
		o2_refuse_value(&fault.error, code, rule, field, value, limit);
	return fault;
}

/* The fault of an operation that ends as a consequence of *why. */
struct o2_transfer_fault o2_nodes_because(const struct o2_transfer_fault *why)
{
	struct o2_transfer_fault fault = *why;

	if (why->side != O2_FAULT_CLOSED || why->code != -ECONNABORTED)
		fault.closed_by = why->side;
	fault.side = O2_FAULT_CLOSED;
	fault.code = -ECONNABORTED;
	return fault;
}

void o2_nodes_fail_fault(struct o2_nodes_seat *seat, uint32_t with, const char *what,
			 const struct o2_transfer_fault *is, const struct o2_transfer_fault *foretold)
{
	char text[400], why[400] = "";

	o2_fault_text(is, text, sizeof(text));
	if (foretold != NULL)
		o2_fault_text(foretold, why, sizeof(why));
	o2_report_fail(seat->nodes->report, foretold != NULL ? "nodes/fault" : "nodes/no-cause",
		       "node %" PRIu32 ": %s with node %" PRIu32 " has ended with %d", seat->index, what,
		       with, is->code);
	o2_report_add(seat->nodes->report, "it says: %s", text);
	if (foretold != NULL)
		o2_report_add(seat->nodes->report, "foretold: code %d: %s", foretold->code, why);
}
