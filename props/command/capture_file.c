/* SPDX-License-Identifier: MIT */
#include "props/command/capture_file.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/monotonic.h"

void o2_capture_store(uint8_t *bytes, size_t count, uint64_t value)
{
	while (count-- > 0) {
		bytes[count] = (uint8_t)value;
		value >>= 8;
	}
}

static bool is_infiniband(const struct o2_capture_file *file)
{
	return file->link == O2_CAPTURE_ERF || file->link == O2_CAPTURE_INFINIBAND;
}

const char *o2_capture_address(const struct o2_capture_file *file, int host)
{
	static const char *const texts[2][2] = {{"10.0.0.1", "10.0.0.2"}, {"fd00::1", "fd00::2"}};
	static const char *const lids[2] = {"lid 1", "lid 2"};

	return is_infiniband(file) ? lids[host] : texts[file->net != O2_CAPTURE_IPV4][host];
}

void o2_capture_address_of(const struct o2_capture_file *file, uint32_t pair, int host,
			   char text[O2_CAPTURE_ADDRESS])
{
	const uint32_t number = 1 + 2 * pair + (uint32_t)host;

	if (is_infiniband(file))
		snprintf(text, O2_CAPTURE_ADDRESS, "lid %" PRIu32, number);
	else
		snprintf(text, O2_CAPTURE_ADDRESS,
			 file->net == O2_CAPTURE_IPV4 ? "10.0.0.%" PRIu32 : "fd00::%" PRIx32, number);
}

/* The number of the host in its addresses. */
static unsigned int source_of(const struct o2_capture_packet *packet)
{
	return 1 + 2 * packet->pair + (unsigned int)packet->from;
}

static unsigned int sink_of(const struct o2_capture_packet *packet)
{
	return 2 + 2 * packet->pair - (unsigned int)packet->from;
}

/* Store a 4-byte number in the file's byte order. */
static void put32_at(struct o2_capture_file *file, size_t at, uint32_t value)
{
	for (size_t i = 0; i < 4; i++)
		file->bytes[at + i] = (uint8_t)(value >> 8 * (file->big_endian ? 3 - i : i));
}

static void put32(struct o2_capture_file *file, uint32_t value)
{
	put32_at(file, file->length, value);
	file->length += 4;
}

void o2_capture_start(struct o2_capture_file *file)
{
	static const uint32_t numbers[] = {[O2_CAPTURE_ETHERNET] = 1,
					   [O2_CAPTURE_COOKED] = 113,
					   [O2_CAPTURE_COOKED2] = 276,
					   [O2_CAPTURE_ERF] = 197,
					   [O2_CAPTURE_INFINIBAND] = 247};

	file->length = 0;
	file->packets = 0;
	file->full = false;
	put32(file, 0xa1b23c4d); /* time stamps in nanoseconds */
	put32(file, file->big_endian ? 0x00020004 : 0x00040002);
	put32(file, 0);
	put32(file, 0);
	put32(file, 65535);
	put32(file, numbers[file->link]);
}

/* unseen: bytes at the end that were not captured. */
static void add_frame(struct o2_capture_file *file, uint64_t time_ns, const uint8_t *frame, size_t bytes,
		      size_t unseen)
{
	if (file->length + 16 + bytes > O2_CAPTURE_BYTES) {
		file->full = true;
		return;
	}
	file->last_record = file->length;
	put32(file, (uint32_t)(time_ns / O2_NS_PER_S));
	put32(file, (uint32_t)(time_ns % O2_NS_PER_S));
	put32(file, (uint32_t)(bytes - unseen));
	put32(file, (uint32_t)bytes);
	memcpy(file->bytes + file->length, frame, bytes - unseen);
	file->length += bytes - unseen;
	file->packets++;
}

/* Put the link header with an Ethernet type, and tags.  Returns its length. */
static size_t put_link(const struct o2_capture_file *file, uint8_t *frame, unsigned int type)
{
	static const size_t type_at[] = {12, 14, 0}, header_bytes[] = {14, 16, 20};
	static const unsigned int tag_types[] = {0x8100, 0x88a8, 0x9100};
	uint8_t *at = frame + type_at[file->link];
	size_t bytes = header_bytes[file->link];

	for (uint32_t i = 0; i < file->tags; i++) {
		o2_capture_store(at, 2, tag_types[(file->tags + i) % 3]);
		o2_capture_store(frame + bytes, 2, 5);
		at = frame + bytes + 2;
		bytes += 4;
	}
	o2_capture_store(at, 2, type);
	return bytes;
}

static size_t put_ipv6(uint8_t *ip, const struct o2_capture_packet *packet, size_t bytes, uint8_t next)
{
	ip[0] = 0x60;
	o2_capture_store(ip + 4, 2, bytes);
	ip[6] = next;
	ip[7] = 64;
	ip[8] = ip[24] = 0xfd;
	ip[23] = (uint8_t)source_of(packet);
	ip[39] = (uint8_t)sink_of(packet);
	return 40;
}

static size_t put_ipv4(const struct o2_capture_file *file, uint8_t *ip,
		       const struct o2_capture_packet *packet, size_t bytes)
{
	const size_t header_bytes = 20 + 4 * file->options;

	ip[0] = (uint8_t)(0x40 | header_bytes / 4);
	o2_capture_store(ip + 2, 2, header_bytes + bytes);
	ip[8] = 64;
	ip[9] = 17;
	o2_capture_store(ip + 12, 4, 0x0a000000u + source_of(packet));
	o2_capture_store(ip + 16, 4, 0x0a000000u + sink_of(packet));
	return header_bytes;
}

/* Put all headers in front of the transport headers, for `bytes` bytes behind them.  Returns their length. */
static size_t put_ethernet(struct o2_capture_file *file, uint8_t *frame,
			   const struct o2_capture_packet *packet, size_t bytes)
{
	static const unsigned int types[] = {0x0800, 0x86dd, 0x8915};
	size_t at = put_link(file, frame, types[file->net]);

	if (file->net == O2_CAPTURE_GLOBAL) {
		file->hosts_bytes = at + put_ipv6(frame + at, packet, bytes, 0x1b);
		return file->hosts_bytes;
	}
	at += file->net == O2_CAPTURE_IPV6 ? put_ipv6(frame + at, packet, 8 + bytes, 17)
					   : put_ipv4(file, frame + at, packet, 8 + bytes);
	file->hosts_bytes = at;
	o2_capture_store(frame + at, 2, 0xc000);
	o2_capture_store(frame + at + 2, 2, 4791);
	o2_capture_store(frame + at + 4, 2, 8 + bytes);
	return at + 8;
}

/* Put the header of an ERF record for a packet of so many bytes. */
static size_t put_erf(const struct o2_capture_file *file, uint8_t *frame, uint8_t type, size_t bytes)
{
	const size_t header_bytes = 16 + 8 * file->extensions;

	for (uint32_t i = 0; i <= file->extensions; i++) {
		frame[i == 0 ? 8 : 8 + 8 * i] =
			(uint8_t)((i == 0 ? type : 3) | (i < file->extensions ? 0x80 : 0));
	}
	o2_capture_store(frame + 10, 2, header_bytes + bytes + file->padding);
	o2_capture_store(frame + 14, 2, bytes);
	return header_bytes;
}

static size_t put_infiniband(struct o2_capture_file *file, uint8_t *frame,
			     const struct o2_capture_packet *packet, size_t bytes)
{
	const size_t whole = 8 + (file->global ? 40u : 0) + bytes;
	size_t at = file->link == O2_CAPTURE_ERF ? put_erf(file, frame, 21, whole) : 0;

	frame[at + 1] = file->global ? 3 : 2;
	o2_capture_store(frame + at + 2, 2, sink_of(packet));
	o2_capture_store(frame + at + 4, 2, whole / 4);
	o2_capture_store(frame + at + 6, 2, source_of(packet));
	at += 8;
	/* The LIDs identify the hosts. */
	file->hosts_bytes = at;
	return file->global ? at + put_ipv6(frame + at, packet, bytes, 0x1b) : at;
}

void o2_capture_add(struct o2_capture_file *file, const struct o2_capture_packet *packet)
{
	uint8_t frame[4500] = {0};
	const size_t padding = -packet->payload_bytes & 3;
	const size_t transport_bytes = 12 + packet->extra_bytes + packet->payload_bytes + padding + 4;
	const size_t at = is_infiniband(file) ? put_infiniband(file, frame, packet, transport_bytes)
					      : put_ethernet(file, frame, packet, transport_bytes);
	const size_t bytes = at + transport_bytes + file->padding;

	file->pair_bytes = at + 12;
	frame[at] = packet->opcode;
	frame[at + 1] = (uint8_t)(0x40 | padding << 4);
	o2_capture_store(frame + at + 2, 2, 0xffff);
	o2_capture_store(frame + at + 4, 4, packet->dest_qp);
	o2_capture_store(frame + at + 8, 4, packet->psn);
	memcpy(frame + at + 12, packet->extra, packet->extra_bytes);
	if (packet->payload_bytes > 0)
		memcpy(frame + at + 12 + packet->extra_bytes, packet->payload, packet->payload_bytes);
	add_frame(file, packet->time_ns, frame, bytes,
		  packet->unseen_bytes == 0 ? 0 : packet->unseen_bytes + padding + 4 + file->padding);
}

void o2_capture_cut(struct o2_capture_file *file, size_t bytes)
{
	if (file->full)
		return;
	put32_at(file, file->last_record + 8, (uint32_t)bytes);
	file->length = file->last_record + 16 + bytes;
}

void o2_capture_set_length(struct o2_capture_file *file, size_t bytes)
{
	if (!file->full)
		put32_at(file, file->last_record + 12, (uint32_t)bytes);
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

void o2_capture_add_other(struct o2_capture_file *file, uint32_t which, uint64_t time_ns)
{
	uint8_t frame[160] = {0};
	const bool is_record = file->link == O2_CAPTURE_ERF && which % 2 != 0;
	size_t at;

	file->hosts_bytes = SIZE_MAX;
	if (is_infiniband(file)) {
		/* Raw InfiniBand packets, or ERF records of Ethernet. */
		at = file->link == O2_CAPTURE_ERF ? put_erf(file, frame, is_record ? 2 : 21, 64) : 0;
		frame[at + 1] = (uint8_t)(which % 2);
		o2_capture_store(frame + at + 4, 2, 16);
		file->other_bytes = is_record ? 16 : at + 8;
	} else if (which == 0 || file->net == O2_CAPTURE_GLOBAL) {
		at = put_link(file, frame, 0x0806);
		file->other_bytes = at;
	} else {
		at = put_ethernet(file, frame, &(const struct o2_capture_packet){.from = 0}, 60);
		/* An IPv4 header must be there up to its options, an IPv6 header completely; or UDP's ports. */
		file->other_bytes = which == 1			   ? at - 4
				    : file->net == O2_CAPTURE_IPV6 ? at - 8
								   : at - 8 - 4 * file->options;
		if (which == 1)
			frame[at - 5] ^= 1; /* another port */
		else if (file->net == O2_CAPTURE_IPV6)
			frame[at - 8 - 40 + 6] = 6;
		else if (which == 2)
			frame[at - 8 - 20 - 4 * file->options + 9] = 6; /* another protocol */
		else
			frame[at - 8 - 20 - 4 * file->options + 7] = 1; /* a fragment */
	}
	add_frame(file, time_ns, frame, at + 64, 0);
}
