/* SPDX-License-Identifier: MIT */
/* Packets between those of a conversation, and what decode prints for them: docs/cli.md, "Captures". */
#include <inttypes.h>
#include <string.h>

#include "forms/msg_json.h"
#include "props/command/told_internal.h"

void o2_told_ack(struct o2_told *told, int from, uint8_t syndrome, uint64_t time_ns)
{
	const struct o2_capture_packet packet = {.from = from,
						 .opcode = O2_TOLD_ACK,
						 .dest_qp = told->qp[1 - from],
						 .psn = (told->psn[1 - from] - 1) & O2_TOLD_PSN_MASK,
						 .extra = {syndrome},
						 .extra_bytes = 4,
						 .time_ns = time_ns};

	o2_told_add(told, &packet);
}

/* --- strangers: each sends to a queue pair of its own --- */

#define STRANGERS   O2_TOLD_OPEN
#define STRANGER_QP 0xfffff3u /* above the queue pairs that are drawn */
#define FURTHEST    0x10000u  /* a packet at most so far behind the next PSN is a repetition */

static struct o2_capture_packet stranger(struct o2_told *told, uint8_t opcode, size_t extra_bytes,
					 uint64_t time_ns)
{
	static const uint8_t bytes[256] = {0x42};
	struct o2_capture_packet packet = {
		.opcode = opcode, .extra_bytes = extra_bytes, .payload = bytes, .time_ns = time_ns};

	packet.from = (int)(told->strangers % 2);
	packet.dest_qp = STRANGER_QP + told->strangers++ / 2;
	packet.psn = (uint32_t)o2_draw(told->c, O2_TOLD_PSN_MASK);
	return packet;
}

static void add(struct o2_told *told, const struct o2_capture_packet *packet)
{
	o2_capture_add(told->file, packet);
}

/* Add a later packet of the same message. */
static void follow(struct o2_told *told, struct o2_capture_packet *packet, uint8_t opcode, uint32_t ahead)
{
	packet->opcode = opcode;
	packet->extra_bytes = 0;
	packet->psn = (packet->psn + ahead) & O2_TOLD_PSN_MASK;
	add(told, packet);
}

static json_t *row(struct o2_told *told, const struct o2_capture_packet *packet, const char *what)
{
	return o2_told_row(told, what, packet->from, packet->dest_qp, packet->psn, packet->time_ns);
}

static void note(struct o2_told *told, const struct o2_capture_packet *packet, const char *text)
{
	json_object_set_new(row(told, packet, "note"), "note", json_string(text));
	fprintf(told->text, "(%s)\n", text);
}

static void written(struct o2_told *told, const struct o2_capture_packet *packet, uint64_t bytes,
		    uint32_t packets, uint32_t announced)
{
	json_t *object = row(told, packet, "WRITE");

	json_object_set_new(object, "bytes", o2_told_number(bytes));
	json_object_set_new(object, "packets", o2_told_number(packets));
	json_object_set_new(object, "announced_bytes", o2_told_number(announced));
	json_object_set_new(object, "rkey", o2_told_hex(0x01020304));
	json_object_set_new(object, "va", o2_told_hex(UINT64_C(0x1112131415161718)));
	fprintf(told->text,
		"WRITE %" PRIu64 " bytes rkey 0x1020304 va 0x1112131415161718 (%" PRIu32 " packet%s)", bytes,
		packets, packets == 1 ? "" : "s");
	if (bytes != announced)
		fprintf(told->text, " but %" PRIu32 " bytes were announced", announced);
	fputc('\n', told->text);
	told->writes++;
	told->write_bytes += bytes;
}

/* Add a RETH: address, key, length. */
static void announce(struct o2_capture_packet *packet, uint32_t bytes)
{
	o2_capture_store(packet->extra, 8, UINT64_C(0x1112131415161718));
	o2_capture_store(packet->extra + 8, 4, 0x01020304);
	o2_capture_store(packet->extra + 12, 4, bytes);
	packet->extra_bytes = 16;
}

/* Add one packet that has no meaning for o2iblnd. */
static void one_packet(struct o2_told *told, uint64_t time_ns)
{
	static const struct {
		uint8_t opcode, extra_bytes;
		const char *note; /* NULL: decode prints nothing */
	} kinds[] = {
		{0x64, 8, "a datagram to another queue pair than 1"},
		{0x65, 12, "a datagram to another queue pair than 1"},
		{0x0c, 16, "an RDMA READ request"},
		{0x13, 28, "an atomic operation"},
		{0x14, 28, "an atomic operation"},
		{0x15, 0, "an opcode of another transport service"},
		{0x18, 0, "an opcode of another transport service"},
		{0x24, 0, "an opcode of another transport service"},
		{0x4a, 0, "an opcode of another transport service"},
		{0x84, 0, "an opcode of another transport service"},
		{0x0d, 4, NULL},
		{0x0e, 0, NULL},
		{0x0f, 4, NULL},
		{0x10, 4, NULL},
		{0x01, 0, NULL},
		{0x07, 0, NULL},
	};
	const size_t which = o2_draw_pick(told->c, sizeof(kinds) / sizeof(kinds[0]));
	struct o2_capture_packet packet =
		stranger(told, kinds[which].opcode, kinds[which].extra_bytes, time_ns);

	/* An RDMA READ request has no payload; the other packets may have any. */
	packet.payload_bytes = packet.opcode == 0x0c ? 0 : o2_draw(told->c, 99);
	add(told, &packet);
	if (kinds[which].note != NULL)
		note(told, &packet, kinds[which].note);
}

/* Add a positive acknowledgement, perhaps of an atomic operation. */
static void stranger_ack(struct o2_told *told, uint64_t time_ns)
{
	const bool atomic = o2_draw_bool(told->c, 1, 1);
	struct o2_capture_packet packet = stranger(told, atomic ? 0x12 : 0x11, atomic ? 12 : 4, time_ns);

	packet.extra[0] = (uint8_t)o2_draw(told->c, 0x1f);
	add(told, &packet);
	told->acks++;
}

/* --- strangers with missing packets --- */

/* The SEND or WRITE of this packet never ends. */
static void never_ends(struct o2_told *told, struct o2_capture_packet packet, bool sends)
{
	packet.psn = (packet.psn + 1) & O2_TOLD_PSN_MASK;
	packet.opcode = sends ? O2_TOLD_SEND_FIRST : O2_TOLD_WRITE_FIRST;
	told->open[told->nopen++] = packet;
}

static void without_first(struct o2_told *told, uint64_t time_ns)
{
	static const uint8_t opcodes[] = {0x02, 0x03, 0x16, 0x08, 0x09};
	const size_t which = o2_draw_pick(told->c, sizeof(opcodes));
	struct o2_capture_packet packet =
		stranger(told, opcodes[which], which == 0 || which == 3 ? 0 : 4, time_ns);

	packet.payload_bytes = o2_draw(told->c, 99);
	add(told, &packet);
	note(told, &packet,
	     which < 3 ? "a SEND without its first packets" : "a WRITE without its first packets");
}

/* Add the first packet of a SEND or WRITE that does not continue. */
static struct o2_capture_packet begun(struct o2_told *told, uint64_t time_ns, bool *sends)
{
	struct o2_capture_packet packet;

	*sends = o2_draw_bool(told->c, 1, 1);
	packet = stranger(told, *sends ? O2_TOLD_SEND_FIRST : O2_TOLD_WRITE_FIRST, 0, time_ns);
	packet.payload_bytes = 64;
	if (!*sends)
		announce(&packet, 128);
	add(told, &packet);
	return packet;
}

/* Begin a SEND or WRITE, then add another WRITE, which makes the first one incomplete. */
static void incomplete(struct o2_told *told, uint64_t time_ns)
{
	bool sends;
	struct o2_capture_packet packet = begun(told, time_ns, &sends);

	packet.opcode = O2_TOLD_WRITE_FIRST + O2_TOLD_SEND_ONLY;
	packet.psn = (packet.psn + 1) & O2_TOLD_PSN_MASK;
	packet.payload_bytes = o2_draw(told->c, 99);
	announce(&packet, (uint32_t)packet.payload_bytes);
	add(told, &packet);
	note(told, &packet, sends ? "an incomplete SEND" : "an incomplete WRITE");
	written(told, &packet, packet.payload_bytes, 1, (uint32_t)packet.payload_bytes);
}

/* A WRITE of three packets: the second one is lost, and perhaps sent again with the third. */
static void gone_back(struct o2_told *told, uint64_t time_ns)
{
	struct o2_capture_packet packet = stranger(told, O2_TOLD_WRITE_FIRST, 0, time_ns);
	const bool again = o2_draw_bool(told->c, 1, 1);
	const uint32_t short_of = (uint32_t)o2_draw(told->c, 1);

	packet.payload_bytes = 64;
	announce(&packet, 192 + short_of);
	add(told, &packet);
	follow(told, &packet, O2_TOLD_WRITE_FIRST + O2_TOLD_LAST, 2);
	note(told, &packet, "packets before this one are missing");
	if (!again) {
		never_ends(told, packet, false);
		return;
	}
	follow(told, &packet, O2_TOLD_WRITE_FIRST + O2_TOLD_MIDDLE, O2_TOLD_PSN_MASK);
	follow(told, &packet, O2_TOLD_WRITE_FIRST + O2_TOLD_LAST, 1);
	written(told, &packet, 192, 3, 192 + short_of);
	/* A repetition of an earlier packet. */
	follow(told, &packet, O2_TOLD_WRITE_FIRST + O2_TOLD_MIDDLE, O2_TOLD_PSN_MASK);
	told->repeated++;
}

/* A second WRITE with a PSN far behind: a repetition, or, if further back, a new beginning. */
static void far_behind(struct o2_told *told, uint64_t time_ns)
{
	struct o2_capture_packet packet = stranger(told, O2_TOLD_WRITE_FIRST + O2_TOLD_SEND_ONLY, 0, time_ns);
	const uint32_t further = (uint32_t)o2_draw(told->c, 2);

	packet.payload_bytes = o2_draw(told->c, 99);
	announce(&packet, (uint32_t)packet.payload_bytes);
	for (uint32_t i = 0; i < 2; i++) {
		add(told, &packet);
		if (i == 1 && further != 0)
			note(told, &packet, "packets before this one are missing");
		if (i == 0 || further != 0)
			written(told, &packet, packet.payload_bytes, 1, (uint32_t)packet.payload_bytes);
		else
			told->repeated++;
		packet.psn = (packet.psn + 1 - FURTHEST - further) & O2_TOLD_PSN_MASK;
	}
}

/* One packet without addresses stands for both events: it may belong to either side, and to each connection. */
static void lost_of_either(struct o2_told *told, const struct o2_judge_event *event, uint64_t time_ns)
{
	told->lost = true;
	told->untold |= told->ntwins > 0;
	if (event->from == O2_JUDGE_A)
		o2_told_lost_front(told, event, false, time_ns);
	o2_told_remember(told, event, NULL, NULL, 0);
}

/*
 * A loss in the conversation, which the judge sees. If the side has sent something: the end of a message or WRITE
 * without its beginning, or a packet behind a gap. A side that returns to the gap is two losses, and what it repeats
 * between them is not heard: tests/unit/cli/test_capture_replay.c.
 */
void o2_told_lost(struct o2_told *told, const struct o2_judge_event *event, uint64_t time_ns)
{
	static const uint8_t bytes[64] = {0x42}, opcodes[] = {0x02, 0x08, 0x01, 0x07};
	const int from = event->from;
	uint32_t *psn = &told->psn[from];
	struct o2_capture_packet packet = {
		.from = from, .dest_qp = told->qp[1 - from], .payload = bytes, .time_ns = time_ns};
	const uint64_t kind = o2_draw(told->c, 3);

	if (told->hearing->either) {
		lost_of_either(told, event, time_ns);
		return;
	}
	if (told->ntwins == 0 && o2_draw_bool(told->c, 1, 2)) {
		told->lost = true;
		o2_told_lost_front(told, event, true, time_ns);
		o2_told_remember(told, event, NULL, NULL, 0);
		return;
	}
	if (!told->sent[from]) {
		told->untold = true;
		return;
	}
	told->lost = true;
	packet.payload_bytes = o2_draw(told->c, sizeof(bytes));
	packet.opcode = opcodes[kind];
	if (kind >= 2)
		*psn = (*psn + 1 + (uint32_t)o2_draw(told->c, 99)) & O2_TOLD_PSN_MASK;
	packet.psn = *psn;
	o2_told_add(told, &packet);
	*psn = (*psn + 1) & O2_TOLD_PSN_MASK;
	note(told, &packet,
	     kind >= 2	 ? "packets before this one are missing"
	     : kind == 0 ? "a SEND without its first packets"
			 : "a WRITE without its first packets");
	o2_told_remember(told, event, NULL, NULL, 0);
}

/* A packet whose end was not captured. */
static void cut(struct o2_told *told, uint64_t time_ns)
{
	const bool sends = o2_draw_bool(told->c, 1, 1);
	struct o2_capture_packet packet = stranger(
		told, (uint8_t)((sends ? O2_TOLD_SEND_FIRST : O2_TOLD_WRITE_FIRST) + O2_TOLD_SEND_ONLY), 0,
		time_ns);

	packet.payload_bytes = 1 + o2_draw(told->c, 99);
	packet.unseen_bytes = 1 + o2_draw(told->c, packet.payload_bytes - 1);
	if (!sends)
		announce(&packet, (uint32_t)packet.payload_bytes);
	add(told, &packet);
	told->cut++;
	if (sends)
		note(told, &packet, "a packet that was not captured as a whole");
	else
		written(told, &packet, packet.payload_bytes, 1, (uint32_t)packet.payload_bytes);
}

/* A message that the codec refuses. */
static void refused(struct o2_told *told, uint64_t time_ns)
{
	struct o2_capture_packet packet = stranger(told, O2_TOLD_SEND_FIRST + O2_TOLD_SEND_ONLY, 0, time_ns);
	struct o2_error error;
	struct o2_msg msg;
	json_t *object, *form;
	char text[256];

	packet.payload_bytes = o2_draw(told->c, 99);
	add(told, &packet);
	object = row(told, &packet, "SEND");
	if (o2_msg_decode(packet.payload, packet.payload_bytes, NULL, &msg, &error) == 0)
		told->untold = true;
	form = o2_msg_decode_output_to_json(NULL, &error);
	json_object_set_new(object, "bytes", o2_told_number(packet.payload_bytes));
	json_object_set_new(object, "packets", o2_told_number(1));
	json_object_set(object, "refused", json_object_get(form, "refused"));
	json_decref(form);
	o2_error_text(&error, text, sizeof(text));
	fprintf(told->text, "SEND %zu refused %s\n", packet.payload_bytes, text);
	told->sends++;
	told->refused++;
}

static void unfinished(struct o2_told *told, uint64_t time_ns)
{
	bool sends;
	const struct o2_capture_packet packet = begun(told, time_ns, &sends);

	never_ends(told, packet, sends);
}

void o2_told_unfinished(struct o2_told *told)
{
	for (uint32_t i = 0; i < told->nopen; i++) {
		const bool sends = told->open[i].opcode == O2_TOLD_SEND_FIRST;

		told->open[i].time_ns = told->last_ns;
		note(told, &told->open[i], sends ? "an incomplete SEND" : "an incomplete WRITE");
	}
}

/* Use all free queue pairs: there are many kinds of messages. */
void o2_told_selftest(struct o2_told *told, uint64_t time_ns)
{
	while (told->strangers < STRANGERS) {
		struct o2_capture_packet packet =
			stranger(told, O2_TOLD_SEND_FIRST + O2_TOLD_SEND_ONLY, 0, time_ns);

		o2_told_tests(told, &packet, row);
	}
}

/* --- choosing --- */

static void from_strangers(struct o2_told *told, uint64_t time_ns)
{
	static void (*const kinds[])(struct o2_told * told, uint64_t time_ns) = {
		one_packet, stranger_ack, o2_told_management, without_first, incomplete, gone_back,
		cut,	    refused,	  unfinished,	      far_behind};

	/* Losses only for decode: the judge would take them for losses of the conversation. */
	if (told->strangers < STRANGERS)
		kinds[o2_draw(told->c, told->decoded ? 9 : 2)](told, time_ns);
}

void o2_told_noise(struct o2_told *told, const struct o2_judge_event *event, uint64_t time_ns)
{
	const bool carries = event->kind == O2_JUDGE_MESSAGE || event->kind == O2_JUDGE_WRITE;

	switch (o2_draw(told->c, 10)) {
	case 5:
		told->repeated += carries;
		if (carries)
			o2_capture_repeat(told->file);
		break;
	case 6:
		told->others++;
		o2_capture_add_other(told->file, (uint32_t)o2_draw(told->c, O2_CAPTURE_OTHERS - 1), time_ns);
		break;
	case 7:
		told->acks += carries;
		if (carries)
			o2_told_ack(told, 1 - (int)event->from, 0x1f, time_ns);
		break;
	case 8:
	case 9:
	case 10:
		from_strangers(told, time_ns);
		break;
	default:
		break;
	}
}
