/* SPDX-License-Identifier: MIT */
/* Draws the command line of serve, and the operations of its clients. */
#include <errno.h>
#include <inttypes.h>

#include "props/command/serving.h"

#define CLIENT_DEPTH 8u
#define PING_BITS    UINT64_C(0x8000000000000000)

uint8_t o2_serving_byte(uint64_t seed, uint64_t stream, uint64_t at)
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

static void draw_buffers(struct o2_serving *serving, uint64_t fragments)
{
	static const uint32_t edges[] = {3976, 3977, 4096, 8192, 65536};
	struct o2_choice *c = serving->run->c;

	serving->buffers = 1 + (uint32_t)o2_draw(c, O2_SERVING_BUFFERS - 1);
	for (uint32_t i = 0; i < serving->buffers; i++) {
		struct o2_serving_buffer *buffer = &serving->buffer[i];
		uint64_t size = o2_draw_bool(c, 1, 1) ? 1 + o2_draw(c, O2_SERVING_BYTES - 1)
						      : edges[o2_draw_pick(c, 5)];

		/* Either the portal or the match bits of a ping may occur, not both. */
		buffer->portal = (uint32_t)o2_draw(c, 1);
		buffer->match_bits = o2_draw_bool(c, 1, 1) ? buffer->portal * PING_BITS : 1;
		buffer->size = (uint32_t)(size < fragments ? fragments : size);
		buffer->read_only = o2_draw_bool(c, 2, 1);
		o2_command_word(&serving->run->command, "--buffer=%" PRIu32 ":0x%" PRIx64 ":%" PRIu32 "%s",
				buffer->portal, buffer->match_bits, buffer->size,
				buffer->read_only ? ":ro" : "");
		for (uint32_t k = 0; k < buffer->size; k++)
			buffer->bytes[k] = o2_serving_byte(serving->seed, 0, k);
	}
}

static void draw_words(struct o2_serving *serving)
{
	static const char *const modes[] = {"global", "fmr", "fastreg_gaps", "fastreg", "phys", "user"};
	static const char *const sums[] = {"off", "unsigned", "signed", "auto"};
	struct o2_command_run *command = &serving->run->command;
	struct o2_choice *c = serving->run->c;
	const uint64_t fragments = o2_draw_bool(c, 1, 1) ? 1 + o2_draw(c, 40) : 1;
	uint64_t depth;

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
	depth = o2_draw_range(c, 2, 40);
	serving->plain = depth >= CLIENT_DEPTH;
	o2_command_word(command, "--queue-depth=%" PRIu64, depth);
	o2_command_word(command, "--features=%" PRIu32, serving->features);
	o2_command_word_if(&serving->run->command, serving->verify, "--verify");
	o2_command_word_if(&serving->run->command, serving->json, "--json");
	o2_command_word_if(&serving->run->command, serving->verbose, "--verbose");
	o2_command_word_if(&serving->run->command, serving->truncate, "--truncate");
	draw_buffers(serving, fragments);
}

/* Draw a range up to the end of a buffer, or a little past it; or an unknown place. */
static void draw_place(struct o2_serving *serving, struct o2_serve_op *op)
{
	static const uint32_t edges[] = {1, 3975, 3976, 3977, 4096, 4097};
	struct o2_choice *c = serving->run->c;
	const struct o2_serving_buffer *buffer = &serving->buffer[o2_draw(c, serving->buffers - 1)];
	const uint32_t most = buffer->size < O2_SERVE_OP_BYTES ? buffer->size : O2_SERVE_OP_BYTES;
	const uint32_t edge = edges[o2_draw_pick(c, 6)];

	op->portal = buffer->portal;
	op->match_bits = buffer->match_bits + (o2_draw_bool(c, 15, 1) ? 2 : 0);
	op->bytes = o2_draw_bool(c, 1, 1) && edge <= most ? edge : 1 + (uint32_t)o2_draw(c, most - 1);
	if (o2_draw_bool(c, 5, 1))
		op->offset = buffer->size - op->bytes + 1 + o2_draw(c, op->bytes - 1);
	else if (o2_draw_bool(c, 15, 1))
		op->offset = buffer->size + 1 + o2_draw(c, 5);
	else
		op->offset = o2_draw_bool(c, 1, 1) ? buffer->size - op->bytes
						   : o2_draw(c, buffer->size - op->bytes);
}

/* A PUT by RDMA can report a failure after its bytes have arrived. */
static void draw_failure(struct o2_serving *serving, struct o2_serve_op *op)
{
	static const int codes[] = {EIO, ENOMEM, ECONNRESET, EFAULT};

	if (op->bytes <= O2_SERVE_IMMEDIATE || !o2_draw_bool(serving->run->c, 3, 1))
		return;
	op->fails = codes[o2_draw_pick(serving->run->c, sizeof(codes) / sizeof(codes[0]))];
	serving->plain = false;
}

static void draw_op(struct o2_serving *serving, struct o2_serve_op *op)
{
	static const uint32_t weights[] = {6, 5, 2, 1, 1};
	struct o2_choice *c = serving->run->c;

	op->kind = (enum o2_serve_kind)o2_draw_weighted(c, weights, 5);
	op->client = (uint32_t)o2_draw(c, O2_SERVE_CLIENTS - 1);
	if (op->kind == O2_SERVE_PING) {
		op->match_bits = PING_BITS;
		op->bytes = O2_SERVE_SINK;
	}
	serving->plain = serving->plain && op->kind != O2_SERVE_VANISH;
	if (op->kind > O2_SERVE_GET)
		return;
	draw_place(serving, op);
	if (op->kind == O2_SERVE_GET)
		return;
	op->ack = o2_draw_bool(c, 1, 2);
	op->stream = o2_draw(c, UINT32_MAX);
	draw_failure(serving, op);
	for (uint32_t i = 0; i < op->bytes; i++)
		op->data[i] = o2_serving_byte(serving->seed, op->stream, i);
	if (o2_draw_bool(c, 5, 1)) {
		op->data[o2_draw(c, op->bytes - 1)] ^= (uint8_t)(1 + o2_draw(c, 254));
		serving->plain = false;
	}
}

bool o2_serving_takes(struct o2_serving *serving, const struct o2_serve_op *op,
		      struct o2_serving_buffer **buffer, uint64_t *length)
{
	uint32_t i = 0;
	uint64_t room;

	while (i < serving->buffers &&
	       (serving->buffer[i].portal != op->portal || serving->buffer[i].match_bits != op->match_bits ||
		(op->kind == O2_SERVE_PUT && serving->buffer[i].read_only)))
		i++;
	*buffer = i < serving->buffers ? &serving->buffer[i] : NULL;
	*length = op->bytes;
	if (*buffer == NULL || op->offset > (*buffer)->size)
		return false;
	room = (*buffer)->size - op->offset;
	if (op->bytes > room && serving->truncate)
		*length = room;
	return *length <= room;
}

/* Draw --requests: serve ends after so many PUTs and GETs. */
static void draw_requests(struct o2_serving *serving)
{
	struct o2_serve_script *script = serving->script;
	struct o2_serving_buffer *buffer;
	uint64_t length, taken = 0;
	uint32_t last = 0;

	for (uint32_t i = 0; i < script->nops; i++) {
		if (script->op[i].kind > O2_SERVE_GET ||
		    !o2_serving_takes(serving, &script->op[i], &buffer, &length))
			continue;
		taken++;
		last = i + 1;
	}
	if (taken == 0 || !o2_draw_bool(serving->run->c, 1, 1))
		return;
	serving->stops = o2_draw_bool(serving->run->c, 1, 1);
	if (serving->stops)
		script->nops = last;
	o2_command_word(&serving->run->command, "--requests=%" PRIu64, taken + !serving->stops);
}

/* The judge does not know the data that another node has PUT: docs/judge.md, "Payloads". */
static bool puts_and_gets(const struct o2_serve_script *script)
{
	bool puts = false, gets = false;

	for (uint32_t i = 0; i < script->nops; i++) {
		puts |= script->op[i].kind == O2_SERVE_PUT;
		gets |= script->op[i].kind == O2_SERVE_GET;
	}
	return puts && gets;
}

void o2_serving_draw(struct o2_serving *serving)
{
	struct o2_serve_script *script = serving->script;

	draw_words(serving);
	while (script->nops < O2_SERVE_OPS && o2_draw_bool(serving->run->c, 1, 9))
		draw_op(serving, &script->op[script->nops++]);
	draw_requests(serving);
	serving->judge = o2_draw_bool(serving->run->c, 1, 7) && serving->plain && !puts_and_gets(script);
	serving->lst = o2_draw_bool(serving->run->c, 1, 1);
	o2_command_word_if(&serving->run->command, serving->judge, "--judge");
	o2_command_word_if(&serving->run->command, serving->lst, "--lst");
}
