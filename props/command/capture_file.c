/* SPDX-License-Identifier: MIT */
#include "props/command/capture_file.h"

#include <string.h>

#define NS_PER_S UINT64_C(1000000000)

void o2_capture_store(uint8_t *bytes, size_t count, uint64_t value)
{
	while (count-- > 0) {
		bytes[count] = (uint8_t)value;
		value >>= 8;
	}
}

const char *o2_capture_address(const struct o2_capture_file *file, int host)
{
	static const char *const texts[2][2] = {{"10.0.0.1", "10.0.0.2"}, {"fd00::1", "fd00::2"}};

	return texts[file->ipv6][host];
}

/* A number of the file's own, of 4 bytes. */
static void put32(struct o2_capture_file *file, uint32_t value)
{
	for (int i = 0; i < 4; i++)
		file->bytes[file->length++] = (uint8_t)(value >> 8 * (file->big_endian ? 3 - i : i));
}

void o2_capture_start(struct o2_capture_file *file)
{
	file->length = 0;
	file->packets = 0;
	file->full = false;
	put32(file, 0xa1b23c4d); /* nanoseconds */
	put32(file, file->big_endian ? 0x00020004 : 0x00040002);
	put32(file, 0);
	put32(file, 0);
	put32(file, 65535);
	put32(file, 1); /* Ethernet */
}

static void add_frame(struct o2_capture_file *file, uint64_t time_ns, const uint8_t *frame, size_t bytes)
{
	if (file->length + 16 + bytes > O2_CAPTURE_BYTES) {
		file->full = true;
		return;
	}
	file->last_record = file->length;
	put32(file, (uint32_t)(time_ns / NS_PER_S));
	put32(file, (uint32_t)(time_ns % NS_PER_S));
	put32(file, (uint32_t)bytes);
	put32(file, (uint32_t)bytes);
	memcpy(file->bytes + file->length, frame, bytes);
	file->length += bytes;
	file->packets++;
}

static size_t put_ip(const struct o2_capture_file *file, uint8_t *ip, int from, size_t udp_bytes)
{
	if (file->ipv6) {
		ip[0] = 0x60;
		o2_capture_store(ip + 4, 2, udp_bytes);
		ip[6] = 17;
		ip[7] = 64;
		ip[8] = ip[24] = 0xfd;
		ip[23] = (uint8_t)(1 + from);
		ip[39] = (uint8_t)(2 - from);
		return 40;
	}
	ip[0] = 0x45;
	o2_capture_store(ip + 2, 2, 20 + udp_bytes);
	ip[8] = 64;
	ip[9] = 17;
	o2_capture_store(ip + 12, 4, 0x0a000001u + (unsigned int)from);
	o2_capture_store(ip + 16, 4, 0x0a000002u - (unsigned int)from);
	return 20;
}

void o2_capture_add(struct o2_capture_file *file, const struct o2_capture_packet *packet)
{
	uint8_t frame[4500] = {0};
	const size_t padding = -packet->payload_bytes & 3;
	const size_t transport_bytes = 12 + packet->extra_bytes + packet->payload_bytes + padding + 4;
	size_t at = 12;

	if (file->tagged) {
		o2_capture_store(frame + at, 4, 0x81000005);
		at += 4;
	}
	o2_capture_store(frame + at, 2, file->ipv6 ? 0x86dd : 0x0800);
	at += 2;
	at += put_ip(file, frame + at, packet->from, 8 + transport_bytes);
	o2_capture_store(frame + at, 2, 0xc000);
	o2_capture_store(frame + at + 2, 2, 4791);
	o2_capture_store(frame + at + 4, 2, 8 + transport_bytes);
	at += 8;
	frame[at] = packet->opcode;
	frame[at + 1] = (uint8_t)(0x40 | padding << 4);
	o2_capture_store(frame + at + 2, 2, 0xffff);
	o2_capture_store(frame + at + 4, 4, packet->dest_qp);
	o2_capture_store(frame + at + 8, 4, packet->psn);
	memcpy(frame + at + 12, packet->extra, packet->extra_bytes);
	if (packet->payload_bytes > 0)
		memcpy(frame + at + 12 + packet->extra_bytes, packet->payload, packet->payload_bytes);
	add_frame(file, packet->time_ns, frame, at + transport_bytes);
}

void o2_capture_repeat(struct o2_capture_file *file)
{
	const size_t bytes = file->length - file->last_record;

	if (file->length + bytes > O2_CAPTURE_BYTES) {
		file->full = true;
		return;
	}
	memcpy(file->bytes + file->length, file->bytes + file->last_record, bytes);
	file->last_record = file->length;
	file->length += bytes;
	file->packets++;
}

void o2_capture_add_other(struct o2_capture_file *file, uint64_t time_ns)
{
	uint8_t frame[42] = {0};

	o2_capture_store(frame + 12, 2, 0x0806);
	add_frame(file, time_ns, frame, sizeof(frame));
}
