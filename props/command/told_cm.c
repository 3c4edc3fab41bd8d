/* SPDX-License-Identifier: MIT */
/* Packets of the connection manager, of the conversation and of strangers: docs/cli.md, "Captures". */
#include <inttypes.h>
#include <string.h>

#include "forms/reject_json.h"
#include "props/command/told_internal.h"

#define SERVICE_ID UINT64_C(0x00000000010603db) /* port 987 in the service id of RDMA CM */

enum cm_kind {
	CM_REQ = 0x10,
	CM_REJ = 0x12,
	CM_REP = 0x13,
	CM_RTU = 0x14,
	CM_DREQ = 0x15,
};

static struct o2_capture_packet datagram(const struct o2_told *told, int from,
					 const uint8_t mad[O2_CAPTURE_MAD], uint64_t time_ns)
{
	return (struct o2_capture_packet){.from = from,
					  .opcode = O2_TOLD_UD_SEND,
					  .dest_qp = 1,
					  .psn = told->file->packets,
					  .extra_bytes = 8,
					  .payload = mad,
					  .payload_bytes = O2_CAPTURE_MAD,
					  .time_ns = time_ns};
}

static json_t *add_cm(struct o2_told *told, int from, enum cm_kind kind, const uint8_t *data,
		      uint64_t time_ns)
{
	static const char *const names[] = {"REQ", NULL, "REJ", "REP", "RTU", "DREQ"};
	uint8_t mad[O2_CAPTURE_MAD] = {1, 7, 2};
	const struct o2_capture_packet packet = datagram(told, from, mad, time_ns);
	json_t *object;

	memcpy(mad + 24, data, sizeof(mad) - 24);
	o2_capture_store(mad + 16, 2, kind);
	o2_capture_store(mad + 24, 4, told->cm_id[from]);
	if (kind != CM_REQ)
		o2_capture_store(mad + 28, 4, told->cm_id[1 - from]);
	o2_told_add(told, &packet);
	told->cm++;
	object = o2_told_row(told, "CM", from, 1, packet.psn, time_ns);
	json_object_set_new(object, "cm", json_string(names[kind - CM_REQ]));
	json_object_set_new(object, "local_id", o2_told_hex(told->cm_id[from]));
	json_object_set_new(object, "remote_id", o2_told_hex(kind == CM_REQ ? 0 : told->cm_id[1 - from]));
	fprintf(told->text, "CM %s", names[kind - CM_REQ]);
	return object;
}

void o2_told_terms(struct o2_told *told, const struct o2_judge_event *event, uint64_t time_ns)
{
	const bool asks = event->kind == O2_JUDGE_REQUEST;
	const int from = event->from;
	const uint32_t psn = told->psn[1 - from];
	uint8_t data[O2_CAPTURE_MAD - 24] = {0}, bytes[O2_MSG_BYTES];
	struct o2_msg said;
	json_t *object;
	size_t length;

	if (event->msg == NULL || (length = o2_told_encode(told, event->msg, &said, bytes)) == 0) {
		told->untold = true;
		return;
	}
	memcpy(data + (asks ? 140 + 36 : 36), bytes, length);
	o2_capture_store(data + (asks ? 32 : 12), 3, told->qp[from]);
	o2_capture_store(data + (asks ? 44 : 20), 3, psn);
	if (asks)
		o2_capture_store(data + 8, 8, SERVICE_ID);
	object = add_cm(told, from, asks ? CM_REQ : CM_REP, data, time_ns);
	if (asks) {
		json_object_set_new(object, "service_id", o2_told_hex(SERVICE_ID));
		fprintf(told->text, " service 0x%" PRIx64, SERVICE_ID);
	}
	json_object_set_new(object, "qp", o2_told_number(told->qp[from]));
	json_object_set_new(object, "starting_psn", o2_told_number(psn));
	o2_told_set_message(object, &said);
	fprintf(told->text, " from qp 0x%" PRIx32 " ", told->qp[from]);
	o2_told_summary(told->text, &said);
	fputc('\n', told->text);
	o2_told_remember(told, event, &said, bytes,
			 (uint32_t)(sizeof(data) - (size_t)(asks ? 140 + 36 : 36) - length));
	if (asks)
		return;
	told->answered = true;
	memset(data, 0, sizeof(data));
	add_cm(told, 1 - from, CM_RTU, data, time_ns);
	fputc('\n', told->text);
}

static void say_reject(struct o2_told *told, json_t *object, uint16_t reason, const struct o2_reject *record)
{
	static const struct {
		uint16_t reason;
		const char *name;
	} names[] = {{4, " (timeout)"},
		     {8, " (invalid service id)"},
		     {10, " (stale connection)"},
		     {28, " (consumer)"}};
	json_t *form;

	json_object_set_new(object, "reason", o2_told_number(reason));
	fprintf(told->text, " reason %u", reason);
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (names[i].reason == reason)
			fputs(names[i].name, told->text);
	if (reason != 28)
		return;
	form = o2_reject_decode_output_to_json(record, NULL);
	json_object_set(object, "reject", json_object_get(form, "reject"));
	json_decref(form);
	fputc(' ', told->text);
	o2_told_summary_reject(told->text, record);
}

/* docs/connection.md, "What a reject means": the reason is "consumer reject". */
void o2_told_reject(struct o2_told *told, const struct o2_judge_event *event, uint64_t time_ns)
{
	uint8_t data[O2_CAPTURE_MAD - 24] = {0};
	struct o2_reject record;
	json_t *object;

	if (event->reject == NULL) {
		told->untold = true;
		return;
	}
	record = *event->reject;
	record.order = o2_draw_bool(told->c, 1, 1) ? O2_BIG_ENDIAN : O2_LITTLE_ENDIAN;
	if (o2_reject_encode(&record, data + 84, O2_REJECT_PRIVATE_BYTES, NULL) < 0) {
		told->untold = true;
		return;
	}
	o2_capture_store(data + 10, 2, 28);
	object = add_cm(told, event->from, CM_REJ, data, time_ns);
	say_reject(told, object, 28, &record);
	fputc('\n', told->text);
	told->rejected = true;
	o2_told_remember_reject(told, event, &record, data + 84);
}

void o2_told_disconnect(struct o2_told *told, const struct o2_judge_event *event, uint64_t time_ns)
{
	const uint8_t nothing[O2_CAPTURE_MAD - 24] = {0};

	add_cm(told, event->from, CM_DREQ, nothing, time_ns);
	told->ended = true;
	fputc('\n', told->text);
	o2_told_remember(told, event, NULL, NULL, 0);
}

/* Add the reason of a reject; with "consumer reject", private data has a record. */
static void reject(struct o2_told *told, json_t *object, uint8_t data[O2_CAPTURE_MAD - 24], uint16_t reason)
{
	struct o2_reject record = {.order = o2_draw_bool(told->c, 1, 1) ? O2_BIG_ENDIAN : O2_LITTLE_ENDIAN};

	if (reason != 28) {
		say_reject(told, object, reason, NULL);
		return;
	}
	record.ibr_version = o2_draw_bool(told->c, 1, 1) ? 0x11 : 0x12;
	record.ibr_why = (uint8_t)(1 + o2_draw(told->c, 8));
	if (record.ibr_version == 0x12) {
		record.ibr_incarnation = o2_draw(told->c, UINT32_MAX);
		record.ibr_cp.ibcp_queue_depth = (uint16_t)o2_draw(told->c, 255);
		record.ibr_cp.ibcp_max_frags = (uint16_t)o2_draw(told->c, 257);
		record.ibr_cp.ibcp_max_msg_size = (uint32_t)o2_draw(told->c, 4096);
	}
	if (o2_reject_encode(&record, data + 84, O2_REJECT_PRIVATE_BYTES, NULL) < 0)
		told->untold = true;
	say_reject(told, object, reason, &record);
}

void o2_told_management(struct o2_told *told, uint64_t time_ns)
{
	static const struct {
		uint16_t kind;
		const char *name, *text;
	} kinds[] = {{0x11, "MRA", "MRA"},	    {0x12, "REJ", "REJ"},   {0x14, "RTU", "RTU"},
		     {0x15, "DREQ", "DREQ"},	    {0x16, "DREP", "DREP"}, {0x17, "0x17", "attribute 0x17"},
		     {0x0f, "0xf", "attribute 0xf"}};
	const size_t which = o2_draw_pick(told->c, sizeof(kinds) / sizeof(kinds[0]));
	const bool other = o2_draw_bool(told->c, 5, 1);
	const uint16_t reason = (uint16_t)(o2_draw_bool(told->c, 1, 1) ? 28 : o2_draw(told->c, 30));
	uint8_t mad[O2_CAPTURE_MAD] = {1, other ? 4 : 7, 2};
	struct o2_capture_packet packet = datagram(told, (int)o2_draw(told->c, 1), mad, time_ns);
	const uint32_t local_id = ~told->cm_id[packet.from], remote_id = ~told->cm_id[1 - packet.from];
	json_t *object;

	/* The row belongs to the last packet, but its text changes the packet, so write the row first. */
	o2_capture_store(mad + 16, 2, kinds[which].kind);
	o2_capture_store(mad + 24, 4, local_id);
	o2_capture_store(mad + 28, 4, remote_id);
	o2_capture_store(mad + 24 + 10, 2, reason);
	told->file->packets++;
	object = o2_told_row(told, other ? "note" : "CM", packet.from, 1, packet.psn, time_ns);
	told->file->packets--;
	if (other) {
		static const char text[] = "a management datagram that is not the connection manager's";

		json_object_set_new(object, "note", json_string(text));
		fprintf(told->text, "(%s)", text);
	} else {
		json_object_set_new(object, "cm", json_string(kinds[which].name));
		json_object_set_new(object, "local_id", o2_told_hex(local_id));
		json_object_set_new(object, "remote_id", o2_told_hex(remote_id));
		fprintf(told->text, "CM %s", kinds[which].text);
		if (kinds[which].kind == 0x12)
			reject(told, object, mad + 24, reason);
		told->cm++;
	}
	fputc('\n', told->text);
	o2_capture_add(told->file, &packet);
}
