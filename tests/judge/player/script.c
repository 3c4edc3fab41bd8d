/* SPDX-License-Identifier: MIT */
#include "tests/judge/player/script.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/pcap_walk.h"
#include "wire/msg_type.h"
#include "wire/nid.h"

#define MAX_FILE_BYTES (1u << 20)

const struct player_recording player_recordings[PLAYER_RECORDINGS] = {
	{.name = "disc.plain", .entry_bytes = 65536, .owed_by_b = 1},
	{.name = "early.plain", .entry_bytes = 65536, .a_queue_depth = 32},
	{.name = "get_3977.plain", .entry_bytes = 65536, .owed_by_a = 1},
	{.name = "get_nomatch_big.plain", .entry_bytes = 65536, .nomatch = true},
	{.name = "get_small.plain", .entry_bytes = 100, .owed_by_a = 1, .owed_by_b = 1},
	{.name = "ping.plain", .entry_bytes = 65536},
	{.name = "put_3977.plain", .entry_bytes = 65536, .owed_by_a = 1, .owed_by_b = 1},
	{.name = "put_64K.cksum", .entry_bytes = 65536, .owed_by_a = 1, .owed_by_b = 1},
	{.name = "put_64K_odd.plain", .entry_bytes = 65536, .owed_by_a = 1, .owed_by_b = 1},
	{.name = "put_nomatch.plain", .entry_bytes = 65536, .nomatch = true, .owed_by_b = 1},
	{.name = "put_small_ack.plain", .entry_bytes = 65536},
	{.name = "put_trunc.plain", .entry_bytes = 8192, .owed_by_b = 1},
	/*
	 * Captured at b's end of a slow link: both sides request a connection, and later GET, before they receive
	 * the other's request.  At the end, a message of the connection manager overtook a's REPLY.
	 */
	{.name = "race.plain", .entry_bytes = 65536, .late = {{13, 14}, {18, 21}}, .late_for_both = {25, 26}},
};

struct reader {
	struct player_script *script;
	bool too_long;
};

static bool is_a(const struct o2_roce_address *address)
{
	return address->family_bytes == 4 && address->bytes[3] == (uint8_t)PLAYER_NID_A;
}

static bool kind_of_cm(uint16_t cm, enum player_step_kind *kind)
{
	switch (cm) {
	case O2_CM_REQ:
		*kind = STEP_REQUEST;
		return true;
	case O2_CM_REP:
		*kind = STEP_REPLY;
		return true;
	case O2_CM_REJ:
		*kind = STEP_REJECT;
		return true;
	case O2_CM_RTU:
		*kind = STEP_READY;
		return true;
	case O2_CM_DREQ:
		*kind = STEP_DISCONNECT;
		return true;
	case O2_CM_DREP:
		*kind = STEP_DISCONNECTED;
		return true;
	default:
		return false;
	}
}

static bool kind_of(const struct o2_event *event, enum player_step_kind *kind)
{
	switch (event->kind) {
	case O2_EVENT_SEND:
		*kind = STEP_MESSAGE;
		return event->msg != NULL;
	case O2_EVENT_WRITE:
		*kind = STEP_WRITE;
		return true;
	case O2_EVENT_CM:
		return kind_of_cm(event->cm.kind, kind);
	default:
		return false;
	}
}

static void add(void *context, const struct o2_event *event)
{
	struct reader *reader = context;
	struct player_script *script = reader->script;
	struct player_step *step = &script->step[script->count];
	enum player_step_kind kind;

	if (!kind_of(event, &kind))
		return;
	if (script->count == PLAYER_STEPS) {
		reader->too_long = true;
		return;
	}
	script->count++;
	step->kind = kind;
	step->frame = event->frame;
	step->from_a = is_a(&event->src);
	step->bytes = event->bytes;
	if (event->reject != NULL)
		step->reject = *event->reject;
	if (event->msg == NULL)
		return;
	step->msg = *event->msg;
	if (step->msg.ibm_type == O2_MSG_IMMEDIATE) {
		memcpy(step->payload, event->msg->u.immediate.payload,
		       event->msg->u.immediate.hdr.payload_length);
		step->msg.u.immediate.payload = step->payload;
	}
}

static size_t read_file(const char *name, uint8_t *bytes)
{
	char path[512];
	size_t n;
	FILE *file;

	snprintf(path, sizeof(path), "%s/captures/pcap/%s.pcap", O2_CORPUS_DIR, name);
	file = fopen(path, "rb");
	if (file == NULL) {
		perror(path);
		return 0;
	}
	n = fread(bytes, 1, MAX_FILE_BYTES, file);
	fclose(file);
	return n;
}

/* Copy a step, and let the message of an IMMEDIATE point to the copy's payload. */
static void move_step(struct player_step *to, const struct player_step *from)
{
	*to = *from;
	if (to->kind == STEP_MESSAGE && to->msg.ibm_type == O2_MSG_IMMEDIATE)
		to->msg.u.immediate.payload = to->payload;
}

/* Move `frame` directly behind `until_frame`, which its receiver sent before it got `frame`. */
static void delay(struct player_script *script, uint32_t frame, uint32_t until_frame)
{
	static struct player_step late;
	uint32_t i = 0;

	while (i < script->count && script->step[i].frame != frame)
		i++;
	if (i == script->count)
		return;
	move_step(&late, &script->step[i]);
	for (; i + 1 < script->count && script->step[i].frame != until_frame; i++)
		move_step(&script->step[i], &script->step[i + 1]);
	move_step(&script->step[i], &late);
}

struct player_script *player_script_read(const struct player_recording *recording, bool we_are_a)
{
	struct o2_wire_options options = O2_WIRE_DEFAULTS;
	struct reader reader = {.script = calloc(1, sizeof(*reader.script))};
	uint8_t *bytes = malloc(MAX_FILE_BYTES);
	struct o2_walk_totals totals;
	char why[O2_PCAP_WHY_BYTES];
	int rc = -1;

	options.tolerate_immediate_checksum = true;
	if (reader.script != NULL && bytes != NULL) {
		const size_t n = read_file(recording->name, bytes);

		rc = n == 0 ? -1 : o2_pcap_walk_bytes(bytes, n, &options, add, &reader, &totals, why);
	}
	free(bytes);
	for (unsigned int i = 0; rc == 0 && we_are_a && i < 2; i++)
		delay(reader.script, recording->late[i].frame, recording->late[i].until_frame);
	if (rc == 0)
		delay(reader.script, recording->late_for_both.frame, recording->late_for_both.until_frame);
	if (rc == 0 && !reader.too_long && totals.refused == 0)
		return reader.script;
	fprintf(stderr, "%s: not a recording that can be played\n", recording->name);
	free(reader.script);
	return NULL;
}

const char *player_step_text(const struct player_step *step)
{
	static const char *const kinds[] = {"SEND",	 "WRITE",    "CM request",    "CM reply",
					    "CM reject", "CM ready", "CM disconnect", "CM disconnected"};
	static char text[128];
	const char *type = step->kind == STEP_MESSAGE ? o2_msg_type_name(step->msg.ibm_type) : "";

	snprintf(text, sizeof(text), "frame %u, from 10.77.0.%c: %s %s", step->frame,
		 step->from_a ? '1' : '2', kinds[step->kind], type);
	return text;
}

const struct o2_lnet_hdr *player_lnet_hdr(const struct player_step *step)
{
	return step->kind == STEP_MESSAGE ? o2_msg_lnet_hdr(&step->msg) : NULL;
}

bool player_is_operation(const struct player_step *step)
{
	const struct o2_lnet_hdr *hdr = player_lnet_hdr(step);

	return hdr != NULL && (hdr->type == O2_LNET_PUT || hdr->type == O2_LNET_GET);
}

static bool carries_ping_info(const struct player_step *step, struct o2_ping_info *info)
{
	const struct o2_lnet_hdr *hdr = player_lnet_hdr(step);

	return hdr != NULL && step->msg.ibm_type == O2_MSG_IMMEDIATE && hdr->payload_length > 0 &&
	       o2_ping_decode(step->payload, hdr->payload_length, info, NULL) > 0;
}

bool player_ping_info(const struct player_script *script, bool from_a, struct o2_ping_info *info)
{
	for (uint32_t i = 0; i < script->count; i++)
		if (script->step[i].from_a == from_a && carries_ping_info(&script->step[i], info))
			return true;
	return false;
}

const struct player_step *player_reply(const struct player_script *script, bool from_a)
{
	struct o2_ping_info info;

	for (uint32_t i = 0; i < script->count; i++) {
		const struct player_step *step = &script->step[i];
		const struct o2_lnet_hdr *hdr = player_lnet_hdr(step);

		if (step->from_a == from_a && hdr != NULL && hdr->type == O2_LNET_REPLY &&
		    !carries_ping_info(step, &info))
			return step;
	}
	return NULL;
}

struct o2_lnet_target player_target(const struct player_step *step, uint32_t *length_bytes)
{
	const struct o2_lnet_hdr *hdr = player_lnet_hdr(step);

	if (hdr->type == O2_LNET_GET) {
		*length_bytes = hdr->msg.get.sink_length;
		return (struct o2_lnet_target){
			.nid = hdr->dest_nid,
			.portal = hdr->msg.get.ptl_index,
			.match_bits = hdr->msg.get.match_bits,
			.offset = hdr->msg.get.src_offset,
		};
	}
	*length_bytes = hdr->payload_length;
	return (struct o2_lnet_target){
		.nid = hdr->dest_nid,
		.portal = hdr->msg.put.ptl_index,
		.match_bits = hdr->msg.put.match_bits,
		.offset = hdr->msg.put.offset,
		.hdr_data = hdr->msg.put.hdr_data,
		.ack = hdr->msg.put.ack_wmd.wh_object_cookie != UINT64_MAX,
	};
}

static bool same(const char *field, uint64_t ours, uint64_t recorded)
{
	if (ours == recorded)
		return true;
	fprintf(stderr, "LNet header, %s: ours 0x%" PRIx64 ", recorded 0x%" PRIx64 "\n", field, ours,
		recorded);
	return false;
}

static bool is_none(struct o2_lnet_handle handle)
{
	return handle.wh_interface_cookie == UINT64_MAX && handle.wh_object_cookie == UINT64_MAX;
}

bool player_same_hdr(const struct o2_lnet_hdr *ours, const struct o2_lnet_hdr *recorded)
{
	bool ok = same("dest_nid", ours->dest_nid, recorded->dest_nid);

	ok &= same("src_nid", ours->src_nid, recorded->src_nid);
	ok &= same("dest_pid", ours->dest_pid, recorded->dest_pid);
	ok &= same("src_pid", ours->src_pid, recorded->src_pid);
	ok &= same("payload_length", ours->payload_length, recorded->payload_length);
	if (!same("type", ours->type, recorded->type))
		return false;
	switch (ours->type) {
	case O2_LNET_ACK:
		ok &= same("ack.match_bits", ours->msg.ack.match_bits, recorded->msg.ack.match_bits);
		return ok & same("ack.mlength", ours->msg.ack.mlength, recorded->msg.ack.mlength);
	case O2_LNET_PUT:
		ok &= same("put.ack_wmd is none", is_none(ours->msg.put.ack_wmd),
			   is_none(recorded->msg.put.ack_wmd));
		ok &= same("put.match_bits", ours->msg.put.match_bits, recorded->msg.put.match_bits);
		ok &= same("put.hdr_data", ours->msg.put.hdr_data, recorded->msg.put.hdr_data);
		ok &= same("put.ptl_index", ours->msg.put.ptl_index, recorded->msg.put.ptl_index);
		return ok & same("put.offset", ours->msg.put.offset, recorded->msg.put.offset);
	case O2_LNET_GET:
		ok &= same("get.match_bits", ours->msg.get.match_bits, recorded->msg.get.match_bits);
		ok &= same("get.ptl_index", ours->msg.get.ptl_index, recorded->msg.get.ptl_index);
		ok &= same("get.src_offset", ours->msg.get.src_offset, recorded->msg.get.src_offset);
		return ok & same("get.sink_length", ours->msg.get.sink_length, recorded->msg.get.sink_length);
	default:
		return ok;
	}
}
