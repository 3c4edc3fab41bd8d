/* SPDX-License-Identifier: MIT */
#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

#include "base/errno_name.h"
#include "base/monotonic.h"
#include "base/plain.h"
#include "cli/net/commands.h"
#include "cli/net/conform/conform.h"
#include "cli/net/conform/listen.h"
#include "cli/net/conform/lst.h"
#include "cli/net/event.h"
#include "cli/net/look.h"
#include "cli/net/memory.h"
#include "mem/kmap.h"

/* What probes are made of: an endpoint, operations, and checks of what they have brought. */

#define GRACE_MS    250u
#define BACKSTOP_MS 20000u /* no operation goes on for longer after its own deadline */

/* Some texts quote the peer, which must not be able to forge lines of the report. */
static void say(struct o2_conform *conform, enum o2_conform_outcome outcome, const char *format, va_list list)
{
	struct o2_conform_result *result = conform->result;

	if (o2_conform_said(conform))
		return;
	result->outcome = outcome;
	vsnprintf(result->text, sizeof(result->text), format, list);
	o2_make_plain(result->text);
	if (outcome == O2_CONFORM_FINDING)
		o2_conform_listener_heard(conform->listener, result->heard);
}

void o2_conform_find(struct o2_conform *conform, const char *format, ...)
{
	va_list list;

	va_start(list, format);
	say(conform, O2_CONFORM_FINDING, format, list);
	va_end(list);
}

void o2_conform_skip(struct o2_conform *conform, const char *format, ...)
{
	va_list list;

	va_start(list, format);
	say(conform, O2_CONFORM_NOT_TRIED, format, list);
	va_end(list);
}

void o2_conform_starve(struct o2_conform *conform, const char *format, ...)
{
	va_list list;

	conform->starved = true;
	va_start(list, format);
	say(conform, O2_CONFORM_NOT_TRIED, format, list);
	va_end(list);
}

static void note_done(void *context, const struct o2_lnet_result *result)
{
	struct o2_conform *conform = context;
	struct o2_conform_op *op = conform->op;

	if (o2_conform_lst_done(conform, result))
		return;
	while (op < &conform->op[conform->nops] && (op->ended || op->operation != result->operation))
		op++;
	/* The probe has given up this operation, so its result is ignored. */
	if (op == &conform->op[conform->nops])
		return;
	op->ended = true;
	op->status = result->status;
	op->length_bytes = result->length_bytes;
	op->fault = *o2_net_fault(result);
}

struct o2_node_config o2_conform_node(const struct o2_conform *conform)
{
	struct o2_node_config node = o2_net_node_config(conform->options);

	/* A probe of its own, checksum/payload, looks at wrong checksums of IMMEDIATEs; others accept them. */
	node.conn.wire.tolerate_immediate_checksum = true;
	return node;
}

/* The peer may request something itself. */
static void note_event(void *context, const struct o2_lnet_event *event)
{
	struct o2_conform *conform = context;

	if (!o2_conform_lst_event(conform, event))
		o2_net_tell_event(conform->options, event);
}

bool o2_conform_start_with(struct o2_conform *conform, const struct o2_node_config *node,
			   const struct o2_lnet_config *lnet)
{
	const struct o2_lnet_ops ops = {.done = note_done, .event = note_event};
	struct o2_node_config config = *node;
	struct o2_error error;
	char text[256];
	int rc;

	assert(!conform->started);
	rc = o2_net_session_start(&conform->session, conform->options, &config, lnet, &ops, conform, &error);
	if (rc != 0) {
		o2_error_text(&error, text, sizeof(text));
		conform->starved |= rc == -ENOMEM;
		o2_conform_skip(conform, "our end cannot start: %s", text);
		return false;
	}
	conform->started = true;
	return true;
}

bool o2_conform_start(struct o2_conform *conform, const struct o2_node_config *node)
{
	const struct o2_lnet_config lnet = o2_net_lnet_config(conform->options);
	const struct o2_node_config config = node != NULL ? *node : o2_conform_node(conform);

	return o2_conform_start_with(conform, &config, &lnet);
}

void o2_conform_forget(struct o2_conform *conform)
{
	for (uint32_t i = 0; i < conform->nops; i++)
		o2_net_memory_free(&conform->op[i].memory);
	conform->nops = 0;
	conform->next_page = O2_NET_LNET_PAGES;
}

void o2_conform_stop(struct o2_conform *conform)
{
	o2_conform_lst_stop(conform);
	if (conform->started)
		o2_net_session_stop(&conform->session);
	conform->started = false;
	o2_conform_lst_free(conform);
	o2_conform_forget(conform);
}

bool o2_conform_step(struct o2_conform *conform)
{
	conform->lost |= !o2_net_session_step(&conform->session, UINT64_MAX);
	if (conform->lost)
		o2_conform_skip(conform, "the device is lost");
	else if (o2_net_stop != 0)
		o2_conform_skip(conform, "interrupted");
	return !conform->lost && o2_net_stop == 0;
}

struct o2_conform_move o2_conform_move(const struct o2_conform *conform, uint32_t size_bytes)
{
	return (struct o2_conform_move){
		.size_bytes = size_bytes, .mode = conform->options->mode, .portal = conform->options->portal};
}

/* "PUT of 9 bytes at offset 0". */
static void op_text(const struct o2_conform_op *op, char *text, size_t text_bytes)
{
	snprintf(text, text_bytes, "%s of %" PRIu64 " bytes at offset %" PRIu64, op->is_get ? "GET" : "PUT",
		 op->part.buffer.nob, op->offset);
}

/* Our own side failed, or the peer says that it cannot describe its memory. */
static bool is_own(const struct o2_transfer_fault *fault)
{
	return fault->side == O2_FAULT_LOCAL_STAGE ||
	       (fault->side == O2_FAULT_PEER_STATUS && fault->code == -EPROTONOSUPPORT);
}

bool o2_conform_was_starved(struct o2_conform *conform, const struct o2_conform_op *op)
{
	const struct o2_transfer_fault *fault = &op->fault;
	char what[96];

	if (fault->side == O2_FAULT_PEER_STATUS ||
	    (op->status != -ENOMEM && fault->code != -ENOMEM && fault->error.code != -ENOMEM))
		return false;
	op_text(op, what, sizeof(what));
	o2_conform_starve(conform, "%s: not enough memory", what);
	return true;
}

static void tell_failed(struct o2_conform *conform, const struct o2_conform_op *op)
{
	char what[96], why[400] = "", name[O2_ERRNO_TEXT_BYTES];

	if (o2_conform_was_starved(conform, op))
		return;
	op_text(op, what, sizeof(what));
	if (op->fault.side != O2_FAULT_NONE)
		o2_fault_text(&op->fault, why, sizeof(why));
	if (is_own(&op->fault))
		o2_conform_skip(conform, "%s: %s (%s)", what, o2_errno_text(op->status, name), why);
	else
		o2_conform_find(conform, "%s ends with %s%s%s", what, o2_errno_text(op->status, name),
				why[0] == '\0' ? "" : ": ", why);
}

/* Lay out and fill the memory: of a PUT with its stream, of a GET with bytes that are all wrong. */
static bool prepare(struct o2_conform *conform, struct o2_conform_op *op, const struct o2_conform_move *move)
{
	const struct o2_arena *arena = &conform->session.network.ni.arena;
	const uint32_t fragments = move->fragments == 0 ? 1 : move->fragments;
	const uint32_t whole = move->size_bytes + move->skew_bytes;

	if (o2_net_memory_lay(arena, conform->next_page, whole == 0 ? 1 : whole, fragments, move->mode,
			      &op->memory) != 0)
		return false;
	conform->next_page += op->memory.npages;
	assert(conform->next_page <= arena->npages);
	op->part = op->memory.memory;
	op->part.buffer.offset = move->skew_bytes;
	op->part.buffer.nob = move->size_bytes;
	if (move->bytes != NULL)
		return o2_copy_to_buffer(arena, &op->part.buffer, move->bytes, NULL) == 0;
	return move->size_bytes == 0 ||
	       o2_net_fill(arena, &op->part, conform->options->seed, op->stream, 0, op->is_get);
}

struct o2_conform_op *o2_conform_begin(struct o2_conform *conform, bool is_get,
				       const struct o2_conform_move *move)
{
	struct o2_conform_op *op = &conform->op[conform->nops];
	struct o2_lnet_target target = {
		.nid = conform->options->peer,
		.portal = move->ping ? O2_PING_PORTAL : move->portal,
		.match_bits = move->ping ? O2_PING_MATCH_BITS : conform->options->match_bits,
		.offset = move->offset,
		.ack = !is_get && !move->no_ack,
	};
	struct o2_error error = {0};
	int rc;

	assert(conform->nops < O2_NET_MAX_IN_FLIGHT);
	*op = (struct o2_conform_op){.is_get = is_get, .offset = move->offset};
	op->stream = is_get ? move->stream : ++conform->stream;
	op->stream_at = is_get ? move->stream_at : 0;
	target.hdr_data = op->stream;
	if (!prepare(conform, op, move)) {
		o2_conform_starve(conform, "not enough memory");
		o2_net_memory_free(&op->memory);
		return NULL;
	}
	conform->nops++;
	rc = is_get ? o2_lnet_get(conform->session.endpoint.lnet, &target, &op->part, &op->operation, &error)
		    : o2_lnet_put(conform->session.endpoint.lnet, &target, &op->part, &op->operation, &error);
	if (rc == 0)
		return op;
	op->ended = true;
	op->status = rc;
	op->fault = o2_fault_of(O2_FAULT_LOCAL_STAGE, rc, &error);
	tell_failed(conform, op);
	return NULL;
}

bool o2_conform_wait_for(struct o2_conform *conform, const struct o2_conform_op *op)
{
	const uint64_t end_ms = o2_monotonic_ms() + 2 * (uint64_t)conform->options->timeout_ms + BACKSTOP_MS;

	while (!op->ended) {
		if (!o2_conform_step(conform))
			return false;
		if (o2_monotonic_ms() > end_ms) {
			o2_conform_find(conform, "an operation of ours does not end");
			return false;
		}
	}
	return true;
}

bool o2_conform_wait(struct o2_conform *conform)
{
	for (uint32_t i = 0; i < conform->nops; i++)
		if (!o2_conform_wait_for(conform, &conform->op[i]))
			return false;
	return true;
}

bool o2_conform_moved(struct o2_conform *conform, const struct o2_conform_op *op)
{
	char what[96];

	if (op->status != 0) {
		tell_failed(conform, op);
		return false;
	}
	if (op->length_bytes == op->part.buffer.nob)
		return true;
	op_text(op, what, sizeof(what));
	o2_conform_find(conform, "%s: the peer reports %" PRIu64 " bytes", what, op->length_bytes);
	return false;
}

bool o2_conform_right(struct o2_conform *conform, const struct o2_conform_op *op)
{
	const struct o2_arena *arena = &conform->session.network.ni.arena;
	const struct o2_net_bytes belong = {conform->options->seed, op->stream, op->stream_at};
	struct o2_net_look look;
	char what[96], text[160];

	if (!o2_net_look(arena, &op->part, op->length_bytes, &belong, &look)) {
		o2_conform_starve(conform, "not enough memory to look at the bytes");
		return false;
	}
	if (o2_net_look_right(&look))
		return true;
	op_text(op, what, sizeof(what));
	o2_net_look_text(&look, belong.seed, text, sizeof(text));
	o2_conform_find(conform, "%s: %s", what, text);
	return false;
}

bool o2_conform_there_and_back(struct o2_conform *conform, const struct o2_conform_move *move)
{
	struct o2_conform_move back = *move;
	const struct o2_conform_op *op = o2_conform_begin(conform, false, move);

	if (op == NULL || !o2_conform_wait(conform) || !o2_conform_moved(conform, op))
		return false;
	back.stream = op->stream;
	if (move->size_bytes == 0)
		return true; /* a GET must ask for at least one byte */
	op = o2_conform_begin(conform, true, &back);
	return op != NULL && o2_conform_wait(conform) && o2_conform_moved(conform, op) &&
	       o2_conform_right(conform, op);
}

bool o2_conform_ping(struct o2_conform *conform, struct o2_ping_info *info)
{
	struct o2_conform_move move = o2_conform_move(conform, O2_PING_SINK_BYTES);
	const struct o2_arena *arena = &conform->session.network.ni.arena;
	const struct o2_conform_op *op;
	struct o2_ping_info any;
	struct o2_error error;
	char text[256];

	move.ping = true;
	op = o2_conform_begin(conform, true, &move);
	if (op == NULL || !o2_conform_wait_for(conform, op))
		return false;
	if (op->status != 0) {
		tell_failed(conform, op);
		return false;
	}
	if (o2_ping_decode(arena->memory + (op->memory.iov[0].base - arena->view[0].base), op->length_bytes,
			   info != NULL ? info : &any, &error) >= 0)
		return true;
	o2_error_text(&error, text, sizeof(text));
	o2_conform_find(conform, "the answer to a ping is no ping info: %s", text);
	return false;
}

bool o2_conform_answered(struct o2_conform *conform, const struct o2_conform_op *op)
{
	uint64_t end_ms;

	if (!o2_conform_ping(conform, NULL))
		return false;
	end_ms = o2_monotonic_ms() + GRACE_MS;
	while (!op->ended && o2_monotonic_ms() < end_ms)
		if (!o2_conform_step(conform))
			return false;
	return op->ended;
}
