/* SPDX-License-Identifier: MIT */
/* serve, and what its clients see: docs/peer.md, "Being asked", "Verifying", "Matching", "Ping". */
#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/errno_name.h"
#include "props/command/commands.h"
#include "props/command/serving.h"

#define IMMEDIATE  O2_SERVE_IMMEDIATE
#define PING_BYTES 48u
#define CLIENT	   "10.77.0.%" PRIu32 "@o2ib"

/* Append to the expected text, if `said`. */
static void add(bool said, char *text, const char *format, ...) __attribute__((format(printf, 3, 4)));

static void add(bool said, char *text, const char *format, ...)
{
	const size_t used = strlen(text);
	va_list list;

	if (!said)
		return;
	va_start(list, format);
	vsnprintf(text + used, O2_SERVING_TEXT - used, format, list);
	va_end(list);
}

/* Add an operation and its outcome to the report. */
static void add_step(struct o2_report *report, const struct o2_serve_op *op, uint32_t i)
{
	o2_report_add(report,
		      "step %" PRIu32 ": kind %d of client %" PRIu32 ", %" PRIu32 " bytes at %" PRIu64
		      " of portal %" PRIu32 ", match bits 0x%" PRIx64 ": %s, status %d, %" PRIu64 " bytes",
		      i, (int)op->kind, op->client, op->bytes, op->offset, op->portal, op->match_bits,
		      op->ended ? "ended" : "no end", op->status, op->length_bytes);
}

static void wrong(struct o2_serving *serving, uint32_t i, const char *what)
{
	if (serving->run->report->failed)
		return;
	o2_commands_wrong(serving->run, what);
	o2_report_add(serving->run->report, "seen at step %" PRIu32, i);
}

static void check_end(struct o2_serving *serving, uint32_t i, int status, uint64_t length)
{
	const struct o2_serve_op *op = &serving->script->op[i];

	if (!op->ended || op->status != status || (status == 0 && op->length_bytes != length))
		wrong(serving, i, "outcome");
}

static const char *line_begin(char text[48], uint32_t client)
{
	snprintf(text, 48, CLIENT ": ", O2_SERVE_FIRST + client);
	return text;
}

/* serve drops the request.  A client that sent a message waits in vain; one that asked for RDMA gets ENODATA. */
static void drop(struct o2_serving *serving, uint32_t i, const struct o2_serving_buffer *buffer)
{
	const struct o2_serve_op *op = &serving->script->op[i];
	const bool waits = op->kind == O2_SERVE_GET || op->ack;
	char begin[48];

	line_begin(begin, op->client);
	if (buffer == NULL)
		add(serving->events, serving->out, "%sdropped: lnet/match/none: match_bits is %" PRIu64,
		    begin, op->match_bits);
	else if (op->offset > buffer->size)
		add(serving->events, serving->out,
		    "%sdropped: lnet/match/offset-past-end: offset is %" PRIu64 ", limit %" PRIu32, begin,
		    op->offset, buffer->size);
	else
		add(serving->events, serving->out,
		    "%sdropped: lnet/match/too-long: length is %" PRIu32 ", limit %" PRIu64, begin, op->bytes,
		    buffer->size - op->offset);
	add(serving->events, serving->out, " (No data available)\n");
	check_end(serving, i, op->bytes > IMMEDIATE ? -ENODATA : waits ? -ECANCELED : 0, op->bytes);
}

static void look(struct o2_serving *serving, const struct o2_serve_op *op, uint64_t length)
{
	serving->verified++;
	for (uint64_t k = 0; k < length; k++) {
		const uint8_t right = o2_serving_byte(serving->seed, op->stream, k);

		if (op->data[k] == right)
			continue;
		serving->wrong++;
		add(true, serving->err,
		    "o2ref: PUT of %" PRIu64 " bytes to offset %" PRIu64 ": byte %" PRIu64
		    " is 0x%02x, not 0x%02x\n",
		    length, op->offset, k, op->data[k], right);
		return;
	}
}

/* The bytes arrived, but PUT_DONE reports a failure: no ACK is sent; a last request ends the connection early. */
static void fail(struct o2_serving *serving, uint32_t i, struct o2_serving_buffer *buffer, uint64_t length)
{
	const struct o2_serve_op *op = &serving->script->op[i];
	const bool is_last = serving->stops && i + 1 == serving->script->nops;
	char begin[48], name[O2_ERRNO_TEXT_BYTES];

	serving->failed++;
	serving->run->tally.seen[O2_COMMANDS_SERVE_FAILED]++;
	memcpy(buffer->bytes + op->offset, op->data, length);
	add(serving->events, serving->out, "%sPUT %" PRIu64 " bytes at offset %" PRIu64 " of buffer %d: %s\n",
	    line_begin(begin, op->client), length, op->offset, (int)(buffer - serving->buffer),
	    o2_errno_text(-op->fails, name));
	check_end(serving, i, !op->ack ? 0 : is_last ? -ECONNABORTED : -ECANCELED, length);
}

static void move(struct o2_serving *serving, uint32_t i)
{
	const struct o2_serve_op *op = &serving->script->op[i];
	const bool puts = op->kind == O2_SERVE_PUT;
	uint64_t length;
	struct o2_serving_buffer *buffer;
	char begin[48];

	if (!o2_serving_takes(serving, op, &buffer, &length)) {
		drop(serving, i, buffer);
		return;
	}
	if (puts && op->fails != 0 && length > 0) {
		fail(serving, i, buffer, length);
		return;
	}
	serving->done++;
	serving->bytes += length;
	add(serving->events, serving->out, "%s%s %" PRIu64 " bytes at offset %" PRIu64 " of buffer %d\n",
	    line_begin(begin, op->client), puts ? "PUT" : "GET", length, op->offset,
	    (int)(buffer - serving->buffer));
	/* docs/peer.md: if a PUT is truncated to nothing, its PUT_NAK is the same as without a match. */
	check_end(serving, i, puts && op->bytes > IMMEDIATE && length == 0 ? -ENODATA : 0,
		  puts && !op->ack && op->bytes <= IMMEDIATE ? op->bytes : length);
	if (puts) {
		memcpy(buffer->bytes + op->offset, op->data, length);
		if (serving->verify)
			look(serving, op, length);
	} else if (memcmp(op->data, buffer->bytes + op->offset, length) != 0) {
		wrong(serving, i, "bytes");
	}
}

/* docs/peer.md, "Ping": little-endian. */
static void ping(struct o2_serving *serving, uint32_t i)
{
	const struct o2_serve_op *op = &serving->script->op[i];
	const uint64_t words[PING_BYTES / 8] = {0x70696e67 | (uint64_t)serving->features << 32,
						12345 | UINT64_C(2) << 32,
						UINT64_C(0x0009000000000000),
						1,
						UINT64_C(0x000500000a4d0009),
						0x15aac0de};
	char begin[48];

	add(serving->events, serving->out, "%sping\n", line_begin(begin, op->client));
	check_end(serving, i, 0, PING_BYTES);
	for (uint32_t k = 0; k < PING_BYTES; k++)
		if (op->data[k] != (uint8_t)(words[k / 8] >> k % 8 * 8))
			wrong(serving, i, "ping");
}

/* A client that comes back has another stamp; the old connection is then known to be stale. */
static void arrive(struct o2_serving *serving, uint32_t client)
{
	char begin[48];

	serving->connections += !serving->connected[client];
	if (serving->vanished[client]) {
		serving->run->tally.seen[O2_COMMANDS_SERVE_BACK]++;
		add(serving->verbose, serving->err,
		    "o2ref: the connection with %sthe peer has broken a rule: node/stale-incarnation: "
		    "ibm_srcstamp is #, expected # (Stale file handle)\n",
		    line_begin(begin, client));
	}
	serving->vanished[client] = false;
	serving->connected[client] = true;
}

static void part(struct o2_serving *serving, const struct o2_serve_op *op)
{
	char begin[48];

	if (!serving->connected[op->client])
		return;
	serving->connected[op->client] = false;
	serving->vanished[op->client] = op->kind == O2_SERVE_VANISH;
	if (op->kind == O2_SERVE_LEAVE)
		add(serving->verbose, serving->err,
		    "o2ref: the connection with %sthe peer has ended the connection (DREQ)\n",
		    line_begin(begin, op->client));
}

static void foretell(struct o2_serving *serving)
{
	for (uint32_t i = 0; i < serving->script->nops && !serving->run->report->failed; i++) {
		const struct o2_serve_op *op = &serving->script->op[i];

		if (op->kind <= O2_SERVE_PING)
			arrive(serving, op->client);
		if (op->kind <= O2_SERVE_GET)
			move(serving, i);
		else if (op->kind == O2_SERVE_PING)
			ping(serving, i);
		else
			part(serving, op);
	}
}

/* --- the output --- */

static void announce(struct o2_serving *serving)
{
	add(!serving->json, serving->out, "serving as " O2_SERVE_NID ", port %u\n", serving->script->port);
	for (uint32_t i = 0; i < serving->buffers; i++) {
		const struct o2_serving_buffer *buffer = &serving->buffer[i];

		add(!serving->json, serving->out,
		    "buffer %" PRIu32 ": portal %" PRIu32 ", match bits 0x%" PRIx64 ", %" PRIu32 " bytes%s\n",
		    i, buffer->portal, buffer->match_bits, buffer->size,
		    buffer->read_only ? ", read only" : "");
	}
	add(!serving->json && serving->lst, serving->out,
	    "test node of LNet selftest: portals 50, 51 and 52\n");
}

static void sum_up(struct o2_serving *serving)
{
	add(!serving->json, serving->out,
	    "serve: %" PRIu64 " done, %" PRIu64 " failed, %" PRIu64 " bytes in # s: # MB/s, #/s\n",
	    serving->done, serving->failed, serving->bytes);
	add(!serving->json && serving->verify, serving->out,
	    "verify: %" PRIu64 " checked, %" PRIu64 " wrong, 0 ambiguous (may be another PUT's)\n",
	    serving->verified, serving->wrong);
	add(!serving->json && serving->lst, serving->out,
	    "lst: 0 sessions, 0 expired; served 0 pings, 0 reads, 0 writes, 0 bytes; refused 0; own tests 0, "
	    "0 failed; wrong 0\n");
	add(!serving->json && serving->judge, serving->out,
	    "judge: # messages and # WRITEs of ours on %" PRIu64 " connection%s: 0 must, 0 should, 0 notes\n",
	    serving->connections, serving->connections == 1 ? "" : "s");
}

/* The judge has found nothing against correct peers; the number of messages is not predicted. */
static void check_judge(struct o2_serving *serving, json_t *object)
{
	json_t *judge = json_object_get(object, "judge"), *expected;

	if (serving->judge) {
		expected = json_pack("{s:I, s:i, s:i, s:i, s:[]}", "connections",
				     (json_int_t)serving->connections, "must", 0, "should", 0, "note", 0,
				     "findings");
		json_object_del(judge, "messages");
		json_object_del(judge, "writes");
		if (!json_equal(judge, expected))
			o2_commands_wrong(serving->run, "judge");
		json_decref(expected);
		json_object_del(object, "judge");
	}
	if (serving->lst) {
		expected = json_pack("{s:i, s:i, s:i, s:i, s:i, s:i, s:i, s:i, s:i, s:i}", "sessions", 0,
				     "expired", 0, "pings", 0, "reads", 0, "writes", 0, "bytes", 0, "refused",
				     0, "tries", 0, "failed", 0, "wrong", 0);
		if (!json_equal(json_object_get(object, "lst"), expected))
			o2_commands_wrong(serving->run, "lst");
		json_decref(expected);
		json_object_del(object, "lst");
	}
}

static void check_json(struct o2_serving *serving)
{
	json_t *object = json_loads(serving->run->command.out, 0, NULL);
	json_t *expected = json_pack(
		"{s:s, s:i, s:s, s:I, s:I, s:I, s:I, s:I, s:i}", "form", "o2ref/serve/output", "version", 1,
		"nid", O2_SERVE_NID, "done", (json_int_t)serving->done, "failed", (json_int_t)serving->failed,
		"bytes", (json_int_t)serving->bytes, "verified", (json_int_t)serving->verified, "wrong",
		(json_int_t)serving->wrong, "not_told_apart", 0);
	const double took = json_real_value(json_object_get(object, "seconds"));
	const double bytes = json_real_value(json_object_get(object, "bytes_per_second")) * took;
	const double done = json_real_value(json_object_get(object, "operations_per_second")) * took;

	if (took <= 0 || bytes < 0.999 * (double)serving->bytes || bytes > 1.001 * (double)serving->bytes ||
	    done < 0.999 * (double)serving->done || done > 1.001 * (double)serving->done)
		o2_commands_wrong(serving->run, "rates");
	check_judge(serving, object);
	json_object_del(object, "seconds");
	json_object_del(object, "bytes_per_second");
	json_object_del(object, "operations_per_second");
	if (!serving->run->report->failed && !json_equal(object, expected)) {
		char *text = json_dumps(object, JSON_COMPACT), *foretold = json_dumps(expected, JSON_COMPACT);

		o2_commands_wrong(serving->run, "json");
		o2_report_add(serving->run->report, "expected %s", foretold == NULL ? "" : foretold);
		o2_report_add(serving->run->report, "found    %s", text == NULL ? "" : text);
		free(text);
		free(foretold);
	}
	json_decref(object);
	json_decref(expected);
}

static void check(struct o2_serving *serving)
{
	struct o2_commands_run *run = serving->run;

	announce(serving);
	foretell(serving);
	sum_up(serving);
	if (run->report->failed)
		return;
	if (run->command.status != (serving->wrong + serving->failed > 0 ? 1 : 0))
		o2_commands_wrong(run, "status");
	else if (serving->script->was_told == serving->stops)
		o2_commands_wrong(run, "stop");
	o2_commands_complains(run, "%s", serving->err);
	if (serving->json && !run->report->failed)
		check_json(serving);
	else
		o2_commands_says(run, "output", run->command.out, "%s", serving->out);
}

void o2_commands_serve(struct o2_commands_run *run)
{
	static struct o2_serving serving; /* large */
	static struct o2_serve_script script;

	memset(&serving, 0, sizeof(serving));
	memset(&script, 0, sizeof(script));
	serving.run = run;
	serving.script = &script;
	o2_serving_draw(&serving);
	run->tally.seen[O2_COMMANDS_SERVE]++;
	o2_serve_execute(&run->command, &script);
	check(&serving);
	for (uint32_t i = 0; i < script.nops && run->report->failed; i++)
		add_step(run->report, &script.op[i], i);
}
