/* SPDX-License-Identifier: MIT */
/* serve, and what its clients see of it: docs/peer.md, "Being asked", "Verifying", "Matching", "Ping". */
#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "props/command/commands.h"
#include "props/command/serve.h"

#define BUFFERS	     3u
#define BUFFER_BYTES 120000u
#define IMMEDIATE    3976u /* docs/wire.md: the longest payload of a message */
#define PING_BITS    UINT64_C(0x8000000000000000)
#define PING_BYTES   48u
#define CLIENT	     "10.77.0.%" PRIu32 "@o2ib"
#define TEXT_BYTES   4096u

struct buffer {
	uint32_t portal;
	uint64_t match_bits;
	uint32_t size;
	bool read_only;
	uint8_t bytes[BUFFER_BYTES]; /* that are to be there */
};

/* What is asked for, and what has to come of it. */
struct serving {
	struct o2_commands_run *run;
	struct o2_serve_script *script;
	uint64_t seed;
	uint32_t features, buffers;
	bool verify, json, verbose, truncate;
	bool events;	   /* a line for each */
	uint64_t requests; /* 0: until it is told to stop */
	struct buffer buffer[BUFFERS];
	bool connected[O2_SERVE_CLIENTS], vanished[O2_SERVE_CLIENTS];
	uint64_t done, bytes, verified, wrong;
	char out[TEXT_BYTES], err[TEXT_BYTES];
};

/* A byte of a stream, as ref/base/stream.h and its mixer are described: a word at a time. */
static uint8_t stream_byte(uint64_t seed, uint64_t stream, uint64_t at)
{
	const uint64_t step = UINT64_C(0x9e3779b97f4a7c15);
	uint64_t x = seed + step;

	for (int round = 0; round < 3; round++) {
		x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
		x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
		x ^= x >> 31;
		x += round == 0 ? ~stream * step : round == 1 ? at / 8 * step : 0;
	}
	return (uint8_t)(x >> at % 8 * 8);
}

/* --- what is drawn --- */

static void draw_buffers(struct serving *serving, uint64_t fragments)
{
	static const uint32_t edges[] = {3976, 3977, 4096, 8192, 65536};
	struct o2_choice *c = serving->run->c;

	serving->buffers = 1 + (uint32_t)o2_draw(c, BUFFERS - 1);
	for (uint32_t i = 0; i < serving->buffers; i++) {
		struct buffer *buffer = &serving->buffer[i];
		uint64_t size =
			o2_draw_bool(c, 1, 1) ? 1 + o2_draw(c, BUFFER_BYTES - 1) : edges[o2_draw_pick(c, 5)];

		buffer->portal = 1 + (uint32_t)o2_draw(c, 1);
		buffer->match_bits = o2_draw(c, 1);
		buffer->size = (uint32_t)(size < fragments ? fragments : size);
		buffer->read_only = o2_draw_bool(c, 2, 1);
		o2_command_word(&serving->run->command, "--buffer=%" PRIu32 ":0x%" PRIx64 ":%" PRIu32 "%s",
				buffer->portal, buffer->match_bits, buffer->size,
				buffer->read_only ? ":ro" : "");
		for (uint32_t k = 0; k < buffer->size; k++)
			buffer->bytes[k] = stream_byte(serving->seed, 0, k);
	}
}

static void draw_words(struct serving *serving)
{
	static const char *const modes[] = {"global", "fmr", "fastreg_gaps", "fastreg", "phys", "user"};
	static const char *const sums[] = {"off", "unsigned", "signed", "auto"};
	struct o2_command_run *command = &serving->run->command;
	struct o2_choice *c = serving->run->c;
	const uint64_t fragments = o2_draw_bool(c, 1, 1) ? 1 + o2_draw(c, 40) : 1;

	serving->seed = o2_draw(c, UINT32_MAX);
	serving->verify = o2_draw_bool(c, 1, 2);
	serving->json = o2_draw_bool(c, 2, 1);
	serving->verbose = o2_draw_bool(c, 1, 1);
	serving->truncate = o2_draw_bool(c, 2, 1);
	serving->events = serving->verbose && !serving->json;
	serving->features = o2_draw_bool(c, 2, 1) ? 0x1e : 0xe;
	serving->script->port = (uint16_t)(o2_draw_bool(c, 2, 1) ? o2_draw_range(c, 1, UINT16_MAX) : 987);
	o2_commands_words(serving->run, "serve --nid=" O2_SERVE_NID);
	o2_command_word(command, "--seed=%" PRIu64, serving->seed);
	o2_command_word(command, "--port=%u", serving->script->port);
	o2_command_word(command, "--fragments=%" PRIu64, fragments);
	o2_command_word(command, "--mode=%s", modes[o2_draw(c, fragments == 1 ? 5 : 2)]);
	o2_command_word(command, "--checksum=%s", sums[o2_draw(c, 3)]);
	o2_command_word(command, "--queue-depth=%" PRIu64, o2_draw_range(c, 2, 40));
	o2_command_word(command, "--features=%" PRIu32, serving->features);
	if (serving->verify)
		o2_commands_words(serving->run, "--verify");
	if (serving->json)
		o2_commands_words(serving->run, "--json");
	if (serving->verbose)
		o2_commands_words(serving->run, "--verbose");
	if (serving->truncate)
		o2_commands_words(serving->run, "--truncate");
	draw_buffers(serving, fragments);
}

/* Up to the end of a buffer, or a little past it; or where nothing is. */
static void draw_place(struct serving *serving, struct o2_serve_op *op)
{
	static const uint32_t edges[] = {1, 3975, 3976, 3977, 4096, 4097};
	struct o2_choice *c = serving->run->c;
	const struct buffer *buffer = &serving->buffer[o2_draw(c, serving->buffers - 1)];
	const uint32_t most = buffer->size < O2_SERVE_OP_BYTES ? buffer->size : O2_SERVE_OP_BYTES;
	const uint32_t edge = edges[o2_draw_pick(c, 6)];

	op->portal = buffer->portal;
	op->match_bits = buffer->match_bits + (o2_draw_bool(c, 15, 1) ? 2 : 0);
	op->bytes = o2_draw_bool(c, 1, 1) && edge <= most ? edge : 1 + (uint32_t)o2_draw(c, most - 1);
	if (o2_draw_bool(c, 5, 1))
		op->offset = buffer->size - op->bytes + 1 + o2_draw(c, op->bytes > 1 ? op->bytes - 2 : 0);
	else if (o2_draw_bool(c, 15, 1))
		op->offset = buffer->size + 1 + o2_draw(c, 5);
	else
		op->offset = o2_draw_bool(c, 1, 1) ? buffer->size - op->bytes
						   : o2_draw(c, buffer->size - op->bytes);
}

static void draw_op(struct serving *serving, struct o2_serve_op *op)
{
	static const uint32_t weights[] = {6, 5, 2, 1, 1};
	struct o2_choice *c = serving->run->c;

	op->kind = (enum o2_serve_kind)o2_draw_weighted(c, weights, 5);
	op->client = (uint32_t)o2_draw(c, O2_SERVE_CLIENTS - 1);
	if (op->kind == O2_SERVE_PING) {
		op->match_bits = PING_BITS;
		op->bytes = O2_SERVE_SINK;
	}
	if (op->kind > O2_SERVE_GET)
		return;
	draw_place(serving, op);
	if (op->kind == O2_SERVE_GET)
		return;
	op->ack = o2_draw_bool(c, 1, 2);
	op->stream = o2_draw(c, UINT32_MAX);
	for (uint32_t i = 0; i < op->bytes; i++)
		op->data[i] = stream_byte(serving->seed, op->stream, i);
	if (o2_draw_bool(c, 5, 1))
		op->data[o2_draw(c, op->bytes - 1)] ^= (uint8_t)(1 + o2_draw(c, 254));
}

/* --- what has to come of it --- */

/* More of a text, if that is said at all. */
static void add(bool said, char *text, const char *format, ...) __attribute__((format(printf, 3, 4)));

static void add(bool said, char *text, const char *format, ...)
{
	const size_t used = strlen(text);
	va_list list;

	if (!said)
		return;
	va_start(list, format);
	vsnprintf(text + used, TEXT_BYTES - used, format, list);
	va_end(list);
}

/* What was done, and what came of it. */
static void add_step(struct o2_report *report, const struct o2_serve_op *op, uint32_t i)
{
	o2_report_add(report,
		      "step %" PRIu32 ": kind %d of client %" PRIu32 ", %" PRIu32 " bytes at %" PRIu64
		      " of portal %" PRIu32 ", match bits 0x%" PRIx64 ": %s, status %d, %" PRIu64 " bytes",
		      i, (int)op->kind, op->client, op->bytes, op->offset, op->portal, op->match_bits,
		      op->ended ? "ended" : "no end", op->status, op->length_bytes);
}

static void wrong(struct serving *serving, uint32_t i, const char *what)
{
	if (serving->run->report->failed)
		return;
	o2_commands_wrong(serving->run, what);
	o2_report_add(serving->run->report, "seen at step %" PRIu32, i);
}

static void check_end(struct serving *serving, uint32_t i, int status, uint64_t length)
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

/* It takes nothing of it: who waits for a message waits in vain, who asked for RDMA is told. */
static void drop(struct serving *serving, uint32_t i, const struct buffer *buffer)
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

static void look(struct serving *serving, const struct o2_serve_op *op, uint64_t length)
{
	serving->verified++;
	for (uint64_t k = 0; k < length; k++) {
		const uint8_t right = stream_byte(serving->seed, op->stream, k);

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

static void move(struct serving *serving, uint32_t i)
{
	const struct o2_serve_op *op = &serving->script->op[i];
	const bool puts = op->kind == O2_SERVE_PUT;
	struct buffer *buffer = serving->buffer;
	uint64_t length = op->bytes;
	char begin[48];

	while (buffer < serving->buffer + serving->buffers &&
	       (buffer->portal != op->portal || buffer->match_bits != op->match_bits ||
		(puts && buffer->read_only)))
		buffer++;
	if (buffer == serving->buffer + serving->buffers)
		buffer = NULL;
	if (buffer != NULL && serving->truncate && op->offset <= buffer->size &&
	    length > buffer->size - op->offset)
		length = buffer->size - op->offset;
	if (buffer == NULL || op->offset > buffer->size || length > buffer->size - op->offset) {
		drop(serving, i, buffer);
		return;
	}
	serving->done++;
	serving->bytes += length;
	add(serving->events, serving->out, "%s%s %" PRIu64 " bytes at offset %" PRIu64 " of buffer %d\n",
	    line_begin(begin, op->client), puts ? "PUT" : "GET", length, op->offset,
	    (int)(buffer - serving->buffer));
	check_end(serving, i, 0, puts && !op->ack && op->bytes <= IMMEDIATE ? op->bytes : length);
	if (puts) {
		memcpy(buffer->bytes + op->offset, op->data, length);
		if (serving->verify)
			look(serving, op, length);
	} else if (memcmp(op->data, buffer->bytes + op->offset, length) != 0) {
		wrong(serving, i, "bytes");
	}
}

/* docs/peer.md, "Ping": in little-endian. */
static void ping(struct serving *serving, uint32_t i)
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

/* Whoever comes back is another one, and the old connection is then known to be dead. */
static void arrive(struct serving *serving, uint32_t client)
{
	char begin[48];

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

static void part(struct serving *serving, const struct o2_serve_op *op)
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

static void foretell(struct serving *serving)
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

/* --- what it says --- */

static void announce(struct serving *serving)
{
	add(!serving->json, serving->out, "serving as " O2_SERVE_NID ", port %u\n", serving->script->port);
	for (uint32_t i = 0; i < serving->buffers; i++) {
		const struct buffer *buffer = &serving->buffer[i];

		add(!serving->json, serving->out,
		    "buffer %" PRIu32 ": portal %" PRIu32 ", match bits 0x%" PRIx64 ", %" PRIu32 " bytes%s\n",
		    i, buffer->portal, buffer->match_bits, buffer->size,
		    buffer->read_only ? ", read only" : "");
	}
}

static void sum_up(struct serving *serving)
{
	add(!serving->json, serving->out,
	    "serve: %" PRIu64 " done, 0 failed, %" PRIu64 " bytes in # s: # MB/s, #/s\n", serving->done,
	    serving->bytes);
	add(!serving->json && serving->verify, serving->out,
	    "verify: %" PRIu64 " looked at, %" PRIu64 " wrong, 0 not told apart\n", serving->verified,
	    serving->wrong);
}

static void check_json(struct serving *serving)
{
	json_t *object = json_loads(serving->run->command.out, 0, NULL);
	json_t *expected =
		json_pack("{s:s, s:i, s:s, s:I, s:i, s:I, s:I, s:I, s:i}", "form", "o2ref/serve/output",
			  "version", 1, "nid", O2_SERVE_NID, "done", (json_int_t)serving->done, "failed", 0,
			  "bytes", (json_int_t)serving->bytes, "verified", (json_int_t)serving->verified,
			  "wrong", (json_int_t)serving->wrong, "not_told_apart", 0);
	const double took = json_real_value(json_object_get(object, "seconds"));
	const double bytes = json_real_value(json_object_get(object, "bytes_per_second")) * took;
	const double done = json_real_value(json_object_get(object, "operations_per_second")) * took;

	if (took <= 0 || bytes < 0.999 * (double)serving->bytes || bytes > 1.001 * (double)serving->bytes ||
	    done < 0.999 * (double)serving->done || done > 1.001 * (double)serving->done)
		o2_commands_wrong(serving->run, "rates");
	json_object_del(object, "seconds");
	json_object_del(object, "bytes_per_second");
	json_object_del(object, "operations_per_second");
	if (!serving->run->report->failed && !json_equal(object, expected))
		o2_commands_wrong(serving->run, "json");
	json_decref(object);
	json_decref(expected);
}

static void check(struct serving *serving)
{
	struct o2_commands_run *run = serving->run;

	announce(serving);
	foretell(serving);
	sum_up(serving);
	if (run->report->failed)
		return;
	if (run->command.status != (serving->wrong > 0 ? 1 : 0))
		o2_commands_wrong(run, "status");
	else if (!serving->script->was_told)
		o2_commands_wrong(run, "stop");
	o2_commands_says(run, "complaint", run->command.err, "%s", serving->err);
	if (serving->json && !run->report->failed)
		check_json(serving);
	else
		o2_commands_says(run, "output", run->command.out, "%s", serving->out);
}

void o2_commands_serve(struct o2_commands_run *run)
{
	static struct serving serving; /* large */
	struct o2_serve_script *script =
		mmap(NULL, sizeof(*script), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	if (script == MAP_FAILED)
		return;
	memset(&serving, 0, sizeof(serving));
	serving.run = run;
	serving.script = script;
	draw_words(&serving);
	while (script->nops < O2_SERVE_OPS && o2_draw_bool(run->c, 1, 9))
		draw_op(&serving, &script->op[script->nops++]);
	run->tally.seen[O2_COMMANDS_SERVE]++;
	o2_serve_execute(&run->command, script);
	check(&serving);
	for (uint32_t i = 0; i < script->nops && run->report->failed; i++)
		add_step(run->report, &script->op[i], i);
	munmap(script, sizeof(*script));
}
