/* SPDX-License-Identifier: MIT */
#include "props/command/told_internal.h"

#include <inttypes.h>
#include <string.h>

#include "forms/msg_json.h"

json_t *o2_told_hex(uint64_t value)
{
	return json_sprintf("0x%" PRIx64, value);
}

json_t *o2_told_number(uint64_t value)
{
	return json_integer((json_int_t)value);
}

json_t *o2_told_row(struct o2_told *told, const char *what, int from, uint32_t dest_qp, uint32_t psn,
		    uint64_t time_ns)
{
	const char *src = from == O2_TOLD_NOBODY ? "::" : o2_capture_address(told->file, from);
	const char *dst = from == O2_TOLD_NOBODY ? "::" : o2_capture_address(told->file, 1 - from);
	json_t *object = json_object();

	if (told->start_ns == 0)
		told->start_ns = time_ns;
	json_object_set_new(object, "form", json_string("o2ref/pcap_event/output"));
	json_object_set_new(object, "version", o2_told_number(1));
	json_object_set_new(object, "what", json_string(what));
	json_object_set_new(object, "frame", o2_told_number(told->file->packets));
	json_object_set_new(object, "time_ns", o2_told_number(time_ns));
	json_object_set_new(object, "src", json_string(src));
	json_object_set_new(object, "dst", json_string(dst));
	json_object_set_new(object, "dest_qp", o2_told_number(dest_qp));
	json_object_set_new(object, "psn", o2_told_number(psn));
	json_array_append_new(told->rows, object);
	fprintf(told->text, "%6" PRIu32 " ", told->file->packets);
	if (time_ns == 0)
		fprintf(told->text, "%13s", "?");
	else
		fprintf(told->text, " %5" PRIu64 ".%06" PRIu64, (time_ns - told->start_ns) / 1000000000,
			(time_ns - told->start_ns) % 1000000000 / 1000);
	fprintf(told->text, "  %s -> %s qp 0x%" PRIx32 "  ", src, dst, dest_qp);
	return object;
}

void o2_told_set_message(json_t *object, const struct o2_msg *msg)
{
	json_t *form = o2_msg_decode_output_to_json(msg, NULL);

	json_object_set(object, "message", json_object_get(form, "message"));
	json_decref(form);
}

size_t o2_told_encode(struct o2_told *told, const struct o2_msg *msg, struct o2_msg *said,
		      uint8_t bytes[O2_MSG_BYTES])
{
	static uint8_t payload[O2_MSG_BYTES];
	int length;

	for (size_t i = 0; i < sizeof(payload); i++)
		payload[i] = (uint8_t)(7 * i);

	*said = *msg;
	said->order = o2_draw_bool(told->c, 3, 1) ? O2_BIG_ENDIAN : O2_LITTLE_ENDIAN;
	if (said->ibm_type == O2_MSG_IMMEDIATE && said->u.immediate.payload == NULL)
		said->u.immediate.payload = payload;
	length = o2_msg_encode(said, NULL, bytes, O2_MSG_BYTES, NULL);
	said->ibm_nob = length > 0 ? (uint32_t)length : 0;
	if (length > 0) {
		told->said = *said;
		memcpy(told->bytes, bytes, (size_t)length);
	}
	return said->ibm_nob;
}

/* --- messages and WRITEs --- */

/* Add packets of at most the MTU.  Returns how many. */
static uint32_t add_packets(struct o2_told *told, const struct o2_judge_event *event, uint8_t first,
			    const uint8_t *bytes, size_t length, uint64_t time_ns)
{
	const int from = event->from;
	const bool is_write = first == O2_TOLD_WRITE_FIRST, immediate = o2_draw_bool(told->c, 7, 1);
	uint32_t count = 0;
	size_t at = 0;

	do {
		const size_t piece = length - at < told->mtu ? length - at : told->mtu;
		const bool is_first = at == 0, is_last = at + piece == length;
		struct o2_capture_packet packet = {.from = from,
						   .dest_qp = told->qp[1 - from],
						   .psn = told->psn[from],
						   .payload = bytes + at,
						   .payload_bytes = piece,
						   .time_ns = time_ns};

		packet.opcode = (uint8_t)(first + (is_first && is_last ? O2_TOLD_SEND_ONLY
						   : is_first	       ? 0
						   : is_last	       ? O2_TOLD_LAST
								       : O2_TOLD_MIDDLE));
		if (is_write && is_first) {
			o2_capture_store(packet.extra, 8, event->addr);
			o2_capture_store(packet.extra + 8, 4, event->rkey);
			o2_capture_store(packet.extra + 12, 4, event->announced_bytes);
			packet.extra_bytes = 16;
		}
		if (is_last && immediate) {
			packet.opcode = (uint8_t)(packet.opcode + O2_TOLD_IMMEDIATE);
			packet.extra_bytes += 4;
		}
		o2_told_add(told, &packet);
		told->psn[from] = (told->psn[from] + 1) & O2_TOLD_PSN_MASK;
		told->sent[from] = true;
		at += piece;
		count++;
	} while (at < length);
	return count;
}

static void tell_message(struct o2_told *told, const struct o2_judge_event *event, uint64_t time_ns)
{
	uint8_t bytes[O2_MSG_BYTES];
	struct o2_msg said;
	json_t *object;
	size_t length;
	uint32_t packets;

	if (event->msg == NULL || (length = o2_told_encode(told, event->msg, &said, bytes)) == 0 ||
	    length != event->bytes || event->msg->ibm_nob != length) {
		told->untold = true;
		return;
	}
	packets = add_packets(told, event, O2_TOLD_SEND_FIRST, bytes, length, time_ns);
	object = o2_told_row(told, "SEND", event->from, told->qp[1 - event->from],
			     (told->psn[event->from] - 1) & O2_TOLD_PSN_MASK, time_ns);
	json_object_set_new(object, "bytes", o2_told_number(length));
	json_object_set_new(object, "packets", o2_told_number(packets));
	o2_told_set_message(object, &said);
	fprintf(told->text, "SEND %zu ", length);
	o2_told_summary(told->text, &said);
	fputc('\n', told->text);
	told->sends++;
	o2_told_remember(told, event, &said, bytes, 0);
}

static void tell_write(struct o2_told *told, const struct o2_judge_event *event, uint64_t time_ns)
{
	static const uint8_t bytes[16384];
	json_t *object;
	uint32_t packets;

	if (event->bytes > sizeof(bytes)) {
		told->untold = true;
		return;
	}
	packets = add_packets(told, event, O2_TOLD_WRITE_FIRST, bytes, event->bytes, time_ns);
	object = o2_told_row(told, "WRITE", event->from, told->qp[1 - event->from],
			     (told->psn[event->from] - 1) & O2_TOLD_PSN_MASK, time_ns);
	json_object_set_new(object, "bytes", o2_told_number(event->bytes));
	json_object_set_new(object, "packets", o2_told_number(packets));
	json_object_set_new(object, "announced_bytes", o2_told_number(event->announced_bytes));
	json_object_set_new(object, "rkey", o2_told_hex(event->rkey));
	json_object_set_new(object, "va", o2_told_hex(event->addr));
	fprintf(told->text,
		"WRITE %" PRIu64 " bytes rkey 0x%" PRIx32 " va 0x%" PRIx64 " (%" PRIu32 " packet%s)",
		event->bytes, event->rkey, event->addr, packets, packets == 1 ? "" : "s");
	if (event->bytes != event->announced_bytes)
		fprintf(told->text, " but %" PRIu32 " bytes were announced", event->announced_bytes);
	fputc('\n', told->text);
	told->writes++;
	told->write_bytes += event->bytes;
	o2_told_remember(told, event, NULL, NULL, 0);
}

/* --- transport events --- */

static void tell_nak(struct o2_told *told, const struct o2_judge_event *event, uint64_t time_ns)
{
	static const char *const words[] = {"NAK 0 (sequence error)",
					    "NAK 1 (invalid request)",
					    "NAK 2 (remote access error)",
					    "NAK 3 (remote operational error)",
					    "NAK 4 (invalid RD request)",
					    "NAK 5 (unknown)",
					    "RNR NAK"};
	const uint32_t which = (uint32_t)o2_draw(told->c, 6);
	const uint8_t syndrome = which == 6 ? 0x2c : (uint8_t)(0x60 | which);
	const uint32_t psn = (told->psn[1 - event->from] - 1) & O2_TOLD_PSN_MASK;
	json_t *object;

	o2_told_ack(told, event->from, syndrome, time_ns);
	object = o2_told_row(told, "NAK", event->from, told->qp[1 - event->from], psn, time_ns);
	json_object_set_new(object, "syndrome", o2_told_number(syndrome));
	fprintf(told->text, "%s psn 0x%" PRIx32 "\n", words[which], psn);
	told->naks++;
	told->nacked = true;
	o2_told_remember(told, event, NULL, NULL, 0);
}

void o2_told_event(void *context, const struct o2_judge_event *event)
{
	static void (*const tells[])(struct o2_told * told, const struct o2_judge_event *event,
				     uint64_t time_ns) = {
		[O2_JUDGE_REQUEST] = o2_told_terms,
		[O2_JUDGE_REPLY] = o2_told_terms,
		[O2_JUDGE_MESSAGE] = tell_message,
		[O2_JUDGE_WRITE] = tell_write,
		[O2_JUDGE_NAK] = tell_nak,
		[O2_JUDGE_LOST] = o2_told_lost,
		[O2_JUDGE_REJECT] = o2_told_reject,
		[O2_JUDGE_DISCONNECT] = o2_told_disconnect,
		[O2_JUDGE_PART] = NULL,
	};
	struct o2_told *told = context;
	const uint64_t time_ns = told->base_ns + event->time_ns;

	if (told->nsteps == 0)
		o2_judge_listen(told->hearing->judge, o2_told_heard, told);
	told->last_ns = time_ns;
	if (told->untold || event->number >= O2_TOLD_EVENTS) {
		told->untold = true;
		return;
	}
	if (tells[event->kind] == NULL) {
		told->untold = true;
		return;
	}
	tells[event->kind](told, event, time_ns);
	if (event->kind == O2_JUDGE_REQUEST || event->kind == O2_JUDGE_REPLY)
		return;
	if (!told->hearing->either)
		o2_told_noise(told, event, time_ns);
	told->untold |= told->file->full;
}

void o2_told_carrier(struct o2_choice *c, struct o2_capture_file *file)
{
	file->big_endian = o2_draw_bool(c, 1, 1);
	file->link = (enum o2_capture_link)o2_draw(c, O2_CAPTURE_LINKS - 1);
	file->net = (enum o2_capture_net)o2_draw(c, O2_CAPTURE_NETS - 1);
	file->tags = o2_draw_bool(c, 1, 1) ? 1 + (uint32_t)o2_draw(c, 1) : 0;
	file->options = o2_draw_bool(c, 3, 1) ? 1 + (uint32_t)o2_draw(c, 9) : 0;
	file->extensions = (uint32_t)o2_draw(c, 2);
	file->global = o2_draw_bool(c, 1, 1);
	file->padding = o2_draw_bool(c, 2, 1) ? 1 + (uint32_t)o2_draw(c, 7) : 0;
	o2_capture_start(file);
}

void o2_told_start(struct o2_told *told)
{
	struct o2_choice *c = told->c;

	o2_told_carrier(c, told->file);
	told->mtu = o2_draw_bool(c, 1, 1) ? 1024 : 4096;
	told->base_ns = o2_draw_bool(c, 1, 1) ? o2_draw(c, 2000000000) * 1000000000 : 0;
	for (int i = 0; i < 2; i++) {
		told->qp[i] = 2 + (uint32_t)o2_draw(c, 0xfffff0);
		told->cm_id[i] = (uint32_t)o2_draw(c, UINT32_MAX);
		told->psn[i] = o2_draw_bool(c, 3, 1) ? O2_TOLD_PSN_MASK - (uint32_t)o2_draw(c, 9)
						     : (uint32_t)o2_draw(c, O2_TOLD_PSN_MASK);
	}
	told->rows = json_array();
}

void o2_told_end(struct o2_told *told)
{
	if (told->decoded && o2_draw_bool(told->c, 1, 1))
		o2_told_selftest(told, told->last_ns);
	if (told->decoded && o2_draw_bool(told->c, 1, 1))
		o2_told_cuts(told, told->last_ns);
	if (told->decoded)
		o2_told_unfinished(told);
	fprintf(told->text,
		"%" PRIu32 " packets: %" PRIu64 " SENDs, %" PRIu64 " WRITEs (%" PRIu64 " bytes), %" PRIu64
		" connection manager, %" PRIu64 " ACKs, %" PRIu64 " NAKs, %" PRIu64 " repeated, %" PRIu64
		" of other protocols; %" PRIu64 " refused\n",
		told->file->packets, told->sends, told->writes, told->write_bytes, told->cm, told->acks,
		told->naks, told->repeated, told->others, told->refused);
	if (told->cut != 0)
		fprintf(told->text, "%" PRIu64 " packet%s not captured as a whole\n", told->cut,
			told->cut == 1 ? " was" : "s were");
}
