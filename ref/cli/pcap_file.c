/* SPDX-License-Identifier: MIT */
#include "cli/pcap_file.h"

#include <errno.h>

#include "wire/bytes.h"

#define FILE_HEADER_BYTES   24u
#define RECORD_HEADER_BYTES 16u
#define MAGIC_MICROSECONDS  0xa1b2c3d4u
#define MAGIC_NANOSECONDS   0xa1b23c4du
#define MAGIC_PCAPNG	    0x0a0d0d0au /* reads the same in both orders */
#define VERSION_MAJOR	    2u
#define LINK_TYPE_MASK	    0x0000ffffu /* above it: the length of a frame check sequence */
#define LINK_ETHERNET	    1u
#define NS_PER_S	    1000000000ull
#define NS_PER_US	    1000u

static int refuse(struct o2_error *error, int code, const char *rule, const char *field, uint64_t value,
		  uint64_t limit)
{
	return o2_refuse(error, code, rule, field, O2_NO_INDEX, value, limit);
}

static uint32_t load32(const struct o2_pcap_file *file, size_t at)
{
	return file->big_endian ? o2_load32_be(file->bytes + at) : o2_load32_le(file->bytes + at);
}

static uint16_t load16(const struct o2_pcap_file *file, size_t at)
{
	return file->big_endian ? o2_load16_be(file->bytes + at) : o2_load16_le(file->bytes + at);
}

static bool read_magic(struct o2_pcap_file *file)
{
	const uint32_t little = o2_load32_le(file->bytes), big = o2_load32_be(file->bytes);

	file->big_endian = big == MAGIC_MICROSECONDS || big == MAGIC_NANOSECONDS;
	file->nanoseconds = little == MAGIC_NANOSECONDS || big == MAGIC_NANOSECONDS;
	return file->big_endian || file->nanoseconds || little == MAGIC_MICROSECONDS;
}

int o2_pcap_open(struct o2_pcap_file *file, const uint8_t *bytes, size_t length_bytes, struct o2_error *error)
{
	uint32_t link_type;

	o2_error_clear(error);
	*file = (struct o2_pcap_file){.bytes = bytes, .length_bytes = length_bytes};
	if (length_bytes >= sizeof(uint32_t) && o2_load32_le(bytes) == MAGIC_PCAPNG)
		return refuse(error, -ENOTSUP, "cli/pcap/pcapng", "magic", MAGIC_PCAPNG, MAGIC_MICROSECONDS);
	if (length_bytes < FILE_HEADER_BYTES)
		return refuse(error, -EPROTO, "cli/pcap/short-for-header", "length_bytes", length_bytes,
			      FILE_HEADER_BYTES);
	if (!read_magic(file))
		return refuse(error, -EPROTO, "cli/pcap/magic", "magic", o2_load32_le(bytes),
			      MAGIC_MICROSECONDS);
	if (load16(file, 4) != VERSION_MAJOR)
		return refuse(error, -ENOTSUP, "cli/pcap/version", "version_major", load16(file, 4),
			      VERSION_MAJOR);
	link_type = load32(file, 20) & LINK_TYPE_MASK;
	if (link_type != LINK_ETHERNET)
		return refuse(error, -ENOTSUP, "cli/pcap/link-type", "link_type", link_type, LINK_ETHERNET);
	file->at = FILE_HEADER_BYTES;
	return 0;
}

int o2_pcap_next(struct o2_pcap_file *file, struct o2_pcap_packet *packet, struct o2_error *error)
{
	const size_t at = file->at, left = file->length_bytes - at;
	uint32_t captured;

	o2_error_clear(error);
	if (left == 0)
		return 0;
	packet->number++;
	if (left < RECORD_HEADER_BYTES)
		return o2_refuse(error, -EPROTO, "cli/pcap/short-for-record-header", "record[]",
				 packet->number, left, RECORD_HEADER_BYTES);
	captured = load32(file, at + 8);
	if (captured > left - RECORD_HEADER_BYTES)
		return o2_refuse(error, -EPROTO, "cli/pcap/short-for-record", "record[].incl_len",
				 packet->number, captured, left - RECORD_HEADER_BYTES);
	packet->time_ns = load32(file, at) * NS_PER_S +
			  (uint64_t)load32(file, at + 4) * (file->nanoseconds ? 1u : NS_PER_US);
	packet->on_wire_bytes = load32(file, at + 12);
	packet->length_bytes = captured;
	packet->bytes = file->bytes + at + RECORD_HEADER_BYTES;
	file->at = at + RECORD_HEADER_BYTES + captured;
	return 1;
}
