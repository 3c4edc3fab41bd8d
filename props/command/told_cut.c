/* SPDX-License-Identifier: MIT */
/* Packets of which only the front was captured, cut at every place: docs/cli.md, "Captures". */
#include <string.h>

#include "props/command/told_internal.h"

#define WRITE_OF_RC (O2_TOLD_WRITE_FIRST + O2_TOLD_SEND_ONLY)

/* Cut the last packet added; its row shows the hosts and the queue pair only if they were captured. */
static void leave(struct o2_told *told, const struct o2_capture_packet *packet, size_t bytes,
		  const char *text)
{
	const bool has_hosts = bytes >= told->file->hosts_bytes, has_pair = bytes >= told->file->pair_bytes;
	json_t *row;

	o2_capture_cut(told->file, bytes);
	row = o2_told_row(told, "note", has_hosts ? packet->from : O2_TOLD_NOBODY,
			  has_pair ? packet->dest_qp : 0, has_pair ? packet->psn : 0, packet->time_ns);
	json_object_set_new(row, "note", json_string(text));
	fprintf(told->text, "(%s)\n", text);
}

static void cut_at(struct o2_told *told, const struct o2_capture_packet *packet, size_t bytes)
{
	leave(told, packet, bytes, "a packet that was not captured as a whole");
	told->cut++;
}

/* Draw a packet; its headers will be cut, so it has no meaning. */
static struct o2_capture_packet draw_packet(struct o2_told *told, uint64_t time_ns)
{
	static const struct {
		uint8_t opcode, extra_bytes;
	} kinds[] = {{WRITE_OF_RC, 16}, {O2_TOLD_ACK, 4}, {O2_TOLD_UD_SEND, 8}};
	const size_t kind = o2_draw_pick(told->c, sizeof(kinds) / sizeof(kinds[0]));
	static const uint8_t bytes[64];

	return (struct o2_capture_packet){.opcode = kinds[kind].opcode,
					  .extra_bytes = kinds[kind].extra_bytes,
					  .payload = bytes,
					  .payload_bytes = o2_draw(told->c, sizeof(bytes)),
					  .psn = (uint32_t)o2_draw(told->c, O2_TOLD_PSN_MASK),
					  .time_ns = time_ns};
}

/* Cut a packet of an unknown queue pair at each byte of its headers. */
static void cut_headers(struct o2_told *told, uint64_t time_ns)
{
	struct o2_capture_packet packet = draw_packet(told, time_ns);

	packet.from = (int)o2_draw(told->c, 1);
	packet.dest_qp = 2 + (uint32_t)o2_draw(told->c, 99);
	o2_capture_add(told->file, &packet);
	for (size_t i = 0; i < told->file->pair_bytes + packet.extra_bytes; i++) {
		if (i != 0)
			o2_capture_add(told->file, &packet);
		cut_at(told, &packet, i);
	}
}

/* Cut a frame of another protocol; it counts as one only if the identifying bytes are there. */
static void cut_other(struct o2_told *told, uint32_t which, uint64_t time_ns)
{
	const struct o2_capture_packet none = {.time_ns = time_ns};

	o2_capture_add_other(told->file, which, time_ns);
	for (size_t i = 0; i < told->file->other_bytes; i++) {
		told->file->pair_bytes = SIZE_MAX;
		cut_at(told, &none, i);
		o2_capture_add_other(told->file, which, time_ns);
	}
	o2_capture_cut(told->file, told->file->other_bytes);
	told->others++;
}

/* Cut a frame that has no more than its link header; a frame that is even shorter is of another protocol. */
static void cut_link(struct o2_told *told, uint64_t time_ns)
{
	const struct o2_capture_packet none = {.time_ns = time_ns};
	size_t header;

	if (told->file->link > O2_CAPTURE_COOKED2 || told->file->tags != 0)
		return;
	o2_capture_add_other(told->file, 0, time_ns);
	header = told->file->other_bytes;
	told->file->pair_bytes = SIZE_MAX;
	cut_at(told, &none, (size_t)o2_draw(told->c, header - 1));
	o2_capture_set_length(told->file, header);
	o2_capture_add_other(told->file, 0, time_ns);
	o2_capture_cut(told->file, (size_t)o2_draw(told->c, header - 1));
	o2_capture_set_length(told->file, header - 1);
	told->others++;
}

/* Cut a frame that ends with a VLAN tag, or one byte earlier: the whole tag must be there. */
static void cut_tags(struct o2_told *told, uint64_t time_ns)
{
	const struct o2_capture_packet none = {.time_ns = time_ns};

	for (uint32_t left = 0; told->file->link <= O2_CAPTURE_COOKED2 && left < told->file->tags; left++)
		for (int sent = 0; sent < 2; sent++) {
			size_t end;

			o2_capture_add_other(told->file, 0, time_ns);
			end = told->file->other_bytes - 4 * (size_t)left;
			told->file->pair_bytes = SIZE_MAX;
			if (sent != 0)
				cut_at(told, &none, end - 1);
			else
				leave(told, &none, end - 1, "a packet whose lengths contradict each other");
			o2_capture_set_length(told->file, sent != 0 ? end : end - 1);
		}
}

void o2_told_lost_front(struct o2_told *told, const struct o2_judge_event *event, bool is_known,
			uint64_t time_ns)
{
	struct o2_capture_packet packet = draw_packet(told, time_ns);
	size_t front;

	packet.from = (int)event->from;
	packet.dest_qp = told->qp[1 - packet.from];
	o2_capture_add(told->file, &packet);
	front = told->file->pair_bytes;
	cut_at(told, &packet,
	       is_known ? front + o2_draw(told->c, packet.extra_bytes - 1) : o2_draw(told->c, front - 1));
	told->fronts = true;
}

void o2_told_cuts(struct o2_told *told, uint64_t time_ns)
{
	cut_headers(told, time_ns);
	for (uint32_t which = 0; which < O2_CAPTURE_OTHERS; which++)
		cut_other(told, which, time_ns);
	cut_link(told, time_ns);
	cut_tags(told, time_ns);
	told->fronts = true;
	told->untold |= told->file->full;
}
