/* SPDX-License-Identifier: MIT */
/*
 * A stranger that speaks LNet selftest: its messages byte by byte, and the words that decode must print
 * (docs/lst.md, "Bodies"; docs/cli.md, "Captures").
 */
#include <inttypes.h>
#include <stdarg.h>
#include <string.h>

#include "forms/msg_json.h"
#include "lst/wire/msg.h"
#include "lst/wire/msg_json.h"
#include "props/command/told_internal.h"
#include "props/model/wire_model.h"

#define BYTES 160u
#define WORDS 256u

struct test {
	struct o2_choice *c;
	bool big;
	uint64_t version, features;
	uint32_t type, status;
	uint8_t bytes[BYTES];
	char words[WORDS];
};

static void say(struct test *test, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void say(struct test *test, const char *format, ...)
{
	const size_t used = strlen(test->words);
	va_list list;

	va_start(list, format);
	vsnprintf(test->words + used, WORDS - used, format, list);
	va_end(list);
}

static void put(struct test *test, size_t at, uint32_t width, uint64_t value)
{
	o2_wm_store(test->bytes + at, width, !test->big, value);
}

/* Draw a number at an offset, mostly a small one. */
static uint64_t draw(struct test *test, size_t at, uint32_t width, uint64_t most)
{
	const uint64_t value = o2_draw_bool(test->c, 7, 1) ? o2_draw(test->c, UINT64_MAX >> (64 - 8 * width))
							   : o2_draw(test->c, most);

	put(test, at, width, value);
	return value;
}

static void session(struct test *test, size_t at, bool said)
{
	const bool none = o2_draw_bool(test->c, 5, 1);
	const uint64_t address = o2_draw(test->c, UINT32_MAX), stamp = o2_draw(test->c, 100000);

	put(test, at, 8, none ? UINT64_MAX : UINT64_C(5) << 48 | address);
	put(test, at + 8, 8, none ? UINT64_MAX : stamp);
	if (said && none)
		say(test, " session none");
	else if (said)
		say(test, " session %u.%u.%u.%u@o2ib/%" PRIu64, (unsigned int)(address >> 24),
		    (unsigned int)(address >> 16 & 0xff), (unsigned int)(address >> 8 & 0xff),
		    (unsigned int)(address & 0xff), stamp);
}

static void name(struct test *test, size_t at, bool said)
{
	const uint64_t length = o2_draw(test->c, 31);

	for (uint64_t i = 0; i < length; i++)
		test->bytes[at + i] = (uint8_t)('a' + o2_draw(test->c, 25));
	if (said)
		say(test, " \"%.*s\"", (int)length, (const char *)test->bytes + at);
}

/* Append the word for a value, or the value if it has none; words[0] is for 1. */
static void word(struct test *test, const char *const *words, uint64_t count, uint64_t value)
{
	if (value >= 1 && value <= count)
		say(test, " %s", words[value - 1]);
	else
		say(test, " %" PRIu64, value);
}

static void transfer(struct test *test, uint64_t way, uint64_t bytes, uint64_t check)
{
	static const char *const ways[] = {"read", "write"};
	static const char *const checks[] = {"none", "simple", "full", "discard"};

	word(test, ways, 2, way);
	say(test, " %" PRIu64 " bytes, check", bytes);
	word(test, checks, 4, check);
}

static void half(struct test *test)
{
	static const char *const services[] = {"debug", "make session", "remove session",
					       "batch", "test",		"query stat",
					       "join",	NULL,		NULL,
					       NULL,	NULL,		"brw",
					       "ping"};
	uint64_t number, is_client, ndest, loop;

	session(test, 40, true);
	say(test, " batch %" PRIu64, draw(test, 56, 8, 9));
	number = o2_draw_bool(test->c, 1, 1) ? 11 + o2_draw(test->c, 1) : o2_draw(test->c, 20);
	put(test, 64, 4, number);
	is_client = draw(test, 76, 1, 1);
	say(test, " %s half of %s", is_client != 0 ? "client" : "server",
	    number > 12 || services[number] == NULL ? "(unknown)" : services[number]);
	ndest = draw(test, 78, 4, 2);
	if (is_client != 0)
		say(test, ", %" PRIu64 " destination%s", ndest, ndest == 1 ? "" : "s");
	loop = draw(test, 68, 4, 5);
	say(test, ", loop %" PRId32, (int32_t)(uint32_t)loop);
	say(test, ", concurrency %" PRIu64, draw(test, 72, 4, 5));
	if (number == 11 && (test->features & 1) != 0) {
		const uint64_t way = 1 + o2_draw(test->c, 2), check = o2_draw(test->c, 5);
		const uint64_t bytes = draw(test, 86, 4, 9000), offset = draw(test, 90, 4, 1);

		put(test, 82, 2, way);
		put(test, 84, 2, check);
		if (is_client == 0)
			return;
		say(test, ",");
		transfer(test, way, bytes, check);
		if (offset != 0)
			say(test, ", offset %" PRIu64, offset);
	}
}

static void batch(struct test *test)
{
	static const char *const names[] = {"run", "stop", "query"};
	const uint64_t opc = o2_draw(test->c, 4), id = draw(test, 48, 8, 9), index = draw(test, 60, 4, 2),
		       arg = draw(test, 64, 4, 1);

	put(test, 56, 4, opc);
	word(test, names, 3, opc);
	say(test, " batch %" PRIu64, id);
	if (opc == 3 && index != 0)
		say(test, " test %" PRId32, (int32_t)(uint32_t)index);
	if (opc == 2 && arg != 0)
		say(test, " by force");
}

static void request(struct test *test)
{
	uint64_t way, bytes, check;

	switch (test->type) {
	case 0:
		session(test, 32, true);
		name(test, 52, true);
		if (draw(test, 48, 4, 1) != 0)
			say(test, " by force");
		break;
	case 2:
	case 6:
		session(test, 32, true);
		break;
	case 4:
		session(test, 32, false);
		batch(test);
		break;
	case 8:
		half(test);
		break;
	case 12:
		way = draw(test, 40, 4, 3);
		bytes = draw(test, 44, 4, 9000);
		check = draw(test, 48, 4, 5);
		transfer(test, way, bytes, check);
		break;
	case 14:
		say(test, " number %" PRIu64, draw(test, 36, 4, 1000));
		break;
	case 16:
		session(test, 32, true);
		name(test, 48, true);
		break;
	default: /* DEBUG: decode does not read its fields */
		session(test, 32, false);
		break;
	}
}

/* Fields that are not valid with this status are not printed. */
static void reply(struct test *test)
{
	static const struct {
		uint32_t status;
		const char *name;
	} statuses[] = {{0, ""},	{2, "ENOENT"},	{3, "ESRCH"},	{12, "ENOMEM"}, {16, "EBUSY"},
			{17, "EEXIST"}, {22, "EINVAL"}, {71, "EPROTO"}, {74, "EBADMSG"}};
	const size_t which = o2_draw_bool(test->c, 1, 1) ? o2_draw_pick(test->c, 9) : 0;
	const bool well = which == 0;
	uint64_t brw, pings, out, in;

	put(test, 24, 4, statuses[which].status);
	if (!well)
		say(test, " status %" PRIu32 " %s", statuses[which].status, statuses[which].name);
	if (test->type != 13 && test->type != 15)
		session(test, 28, statuses[which].status != 71);
	if (test->type == 1)
		name(test, 48, statuses[which].status == 16);
	if (test->type == 11)
		name(test, 52, well);
	if (test->type == 15) {
		out = draw(test, 32, 4, 1000);
		if (well)
			say(test, " number %" PRIu64, out);
	}
	if (test->type != 7)
		return;
	brw = draw(test, 56, 4, 9);
	pings = draw(test, 60, 4, 9);
	out = draw(test, 68, 4, 900);
	in = draw(test, 72, 4, 900);
	if (well)
		say(test,
		    ", brw errors %" PRIu64 ", ping errors %" PRIu64 ", RPCs in %" PRIu64 " out %" PRIu64,
		    brw, pings, in, out);
}

static void draw_message(struct test *test)
{
	static const char *const names[] = {
		"MKSN_REQST", "MKSN_REPLY", "RMSN_REQST", "RMSN_REPLY", "BATCH_REQST", "BATCH_REPLY",
		"STAT_REQST", "STAT_REPLY", "TEST_REQST", "TEST_REPLY", "DEBUG_REQST", "DEBUG_REPLY",
		"BRW_REQST",  "BRW_REPLY",  "PING_REQST", "PING_REPLY", "JOIN_REQST",  "JOIN_REPLY"};

	test->big = o2_draw_bool(test->c, 2, 1);
	test->version = o2_draw_bool(test->c, 5, 1) ? o2_draw(test->c, 3) : 1;
	test->features = o2_draw_bool(test->c, 3, 1) ? o2_draw(test->c, 3) : 1;
	test->type = (uint32_t)o2_draw_pick(test->c, 18);
	put(test, 0, 4, 0xeeb0f00d);
	put(test, 4, 4, test->version);
	put(test, 8, 4, test->type);
	put(test, 20, 4, test->features);
	say(test, "LST %s", names[test->type]);
	if (test->type % 2 == 0)
		request(test);
	else
		reply(test);
	if (test->version != 1)
		say(test, " version %" PRIu64, test->version);
	if (test->features != 1)
		say(test, " features 0x%" PRIx64, test->features);
	if (test->big)
		say(test, " big-endian");
}

void o2_told_tests(struct o2_told *told, struct o2_capture_packet *packet,
		   json_t *(*row)(struct o2_told *told, const struct o2_capture_packet *packet,
				  const char *what))
{
	static uint8_t bytes[O2_MSG_BYTES];
	struct test test = {.c = told->c};
	struct o2_msg msg = {.ibm_version = O2_MSG_VERSION_2,
			     .ibm_type = O2_MSG_IMMEDIATE,
			     .ibm_srcnid = UINT64_C(5) << 48 | 0x0a000001,
			     .ibm_dstnid = UINT64_C(5) << 48 | 0x0a000002};
	struct o2_lst_msg lst;
	json_t *object, *form;
	uint32_t portal;
	bool inside;
	int length;

	draw_message(&test);
	portal = 49 + (uint32_t)o2_draw(told->c, o2_draw_bool(told->c, 3, 1) ? 4 : 0);
	portal = portal == 49 && o2_draw_bool(told->c, 1, 3) ? 51 : portal;
	msg.u.immediate.hdr = (struct o2_lnet_hdr){
		.dest_nid = msg.ibm_dstnid, .src_nid = msg.ibm_srcnid, .type = O2_LNET_PUT};
	msg.u.immediate.hdr.payload_length = o2_draw_bool(told->c, 7, 1) ? BYTES - 8 : BYTES;
	msg.u.immediate.hdr.msg.put.ptl_index = portal;
	msg.u.immediate.hdr.msg.put.match_bits = test.type;
	msg.u.immediate.payload = test.bytes;
	inside = portal >= 50 && portal <= 52 && msg.u.immediate.hdr.payload_length == BYTES;
	length = o2_msg_encode(&msg, NULL, bytes, sizeof(bytes), NULL);
	if (length <= 0) {
		told->untold = true;
		return;
	}
	msg.ibm_nob = (uint32_t)length;
	packet->payload = bytes;
	packet->payload_bytes = (size_t)length;
	o2_capture_add(told->file, packet);
	object = row(told, packet, "SEND");
	json_object_set_new(object, "bytes", o2_told_number((uint64_t)length));
	json_object_set_new(object, "packets", o2_told_number(1));
	form = o2_msg_decode_output_to_json(&msg, NULL);
	json_object_set(object, "message", json_object_get(form, "message"));
	json_decref(form);
	(void)o2_lst_msg_decode(test.bytes, BYTES, &lst, NULL);
	if (inside)
		json_object_set_new(object, "lst", o2_lst_msg_to_json(&lst));
	fprintf(told->text, "SEND %d ", length);
	o2_told_summary(told->text, &msg);
	fprintf(told->text, "%s%s\n", inside ? " | " : "", inside ? test.words : "");
	told->sends++;
}
