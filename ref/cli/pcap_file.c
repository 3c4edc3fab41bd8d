/* SPDX-License-Identifier: MIT */
#include "cli/pcap_file.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

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

ssize_t o2_pcap_read_memory(void *context, uint8_t *bytes, size_t n)
{
	struct o2_pcap_memory *memory = context;
	const size_t left = memory->length_bytes - memory->at;
	const size_t count = n < left ? n : left;

	if (count > 0)
		memcpy(bytes, memory->bytes + memory->at, count);
	memory->at += count;
	return (ssize_t)count;
}

/* As the source's, with its errors in *error. */
static ssize_t read_source(struct o2_pcap_file *file, uint8_t *bytes, size_t n, struct o2_error *error)
{
	const ssize_t got = file->source.read(file->source.context, bytes, n);

	if (got < 0)
		refuse(error, (int)got, "cli/pcap/read", "bytes", n, O2_NO_LIMIT);
	return got;
}

static uint32_t load32(const struct o2_pcap_file *file, const uint8_t *bytes)
{
	return file->big_endian ? o2_load32_be(bytes) : o2_load32_le(bytes);
}

static uint16_t load16(const struct o2_pcap_file *file, const uint8_t *bytes)
{
	return file->big_endian ? o2_load16_be(bytes) : o2_load16_le(bytes);
}

static bool read_magic(struct o2_pcap_file *file, const uint8_t *bytes)
{
	const uint32_t little = o2_load32_le(bytes), big = o2_load32_be(bytes);

	file->big_endian = big == MAGIC_MICROSECONDS || big == MAGIC_NANOSECONDS;
	file->nanoseconds = little == MAGIC_NANOSECONDS || big == MAGIC_NANOSECONDS;
	return file->big_endian || file->nanoseconds || little == MAGIC_MICROSECONDS;
}

static int check_header(struct o2_pcap_file *file, const uint8_t *header, size_t length_bytes,
			struct o2_error *error)
{
	uint32_t link_type;

	if (length_bytes >= sizeof(uint32_t) && o2_load32_le(header) == MAGIC_PCAPNG)
		return o2_refuse_other(error, -ENOTSUP, "cli/pcap/pcapng", "magic", MAGIC_PCAPNG,
				       MAGIC_MICROSECONDS);
	if (length_bytes < FILE_HEADER_BYTES)
		return refuse(error, -EPROTO, "cli/pcap/short-for-header", "length_bytes", length_bytes,
			      FILE_HEADER_BYTES);
	if (!read_magic(file, header))
		return o2_refuse_other(error, -EPROTO, "cli/pcap/magic", "magic", o2_load32_le(header),
				       MAGIC_MICROSECONDS);
	if (load16(file, header + 4) != VERSION_MAJOR)
		return o2_refuse_other(error, -ENOTSUP, "cli/pcap/version", "version_major",
				       load16(file, header + 4), VERSION_MAJOR);
	link_type = load32(file, header + 20) & LINK_TYPE_MASK;
	if (link_type != LINK_ETHERNET)
		return o2_refuse_other(error, -ENOTSUP, "cli/pcap/link-type", "link_type", link_type,
				       LINK_ETHERNET);
	return 0;
}

int o2_pcap_open(struct o2_pcap_file *file, const struct o2_pcap_source *source, struct o2_error *error)
{
	uint8_t header[FILE_HEADER_BYTES];
	ssize_t got;
	int rc;

	o2_error_clear(error);
	*file = (struct o2_pcap_file){.source = *source};
	got = read_source(file, header, sizeof(header), error);
	rc = got < 0 ? (int)got : check_header(file, header, (size_t)got, error);
	if (rc != 0)
		return rc;
	file->kept = malloc(O2_PCAP_KEPT_BYTES);
	if (file->kept == NULL)
		return refuse(error, -ENOMEM, "cli/pcap/memory", "packet", 0, O2_PCAP_KEPT_BYTES);
	return 0;
}

void o2_pcap_close(struct o2_pcap_file *file)
{
	free(file->kept);
	file->kept = NULL;
}

static int refuse_record(struct o2_error *error, const char *rule, const char *field,
			 const struct o2_pcap_packet *packet, uint64_t value, uint64_t limit)
{
	const uint32_t index = packet->number < O2_NO_INDEX ? (uint32_t)packet->number : O2_NO_INDEX;

	return o2_refuse(error, -EPROTO, rule, field, index, value, limit);
}

/* Pass over the rest of a record that is longer than what is kept.  How much of it was there, or -errno. */
static ssize_t pass_over(struct o2_pcap_file *file, uint32_t length_bytes, struct o2_error *error)
{
	uint8_t bytes[4096];
	ssize_t total = 0, got;

	do {
		const size_t left = length_bytes - (size_t)total;

		got = read_source(file, bytes, left < sizeof(bytes) ? left : sizeof(bytes), error);
		if (got < 0)
			return got;
		total += got;
	} while (got > 0 && total < length_bytes);
	return total;
}

int o2_pcap_next(struct o2_pcap_file *file, struct o2_pcap_packet *packet, struct o2_error *error)
{
	uint8_t header[RECORD_HEADER_BYTES];
	uint32_t captured, kept;
	ssize_t got, rest = 0;

	o2_error_clear(error);
	got = read_source(file, header, sizeof(header), error);
	if (got <= 0)
		return (int)got;
	packet->number++;
	if ((size_t)got < sizeof(header))
		return refuse_record(error, "cli/pcap/short-for-record-header", "record[]", packet,
				     (uint64_t)got, RECORD_HEADER_BYTES);
	captured = load32(file, header + 8);
	kept = captured < O2_PCAP_KEPT_BYTES ? captured : O2_PCAP_KEPT_BYTES;
	got = read_source(file, file->kept, kept, error);
	if (got == kept && kept < captured)
		rest = pass_over(file, captured - kept, error);
	if (got < 0 || rest < 0)
		return (int)(got < 0 ? got : rest);
	if ((uint64_t)got + (uint64_t)rest < captured)
		return refuse_record(error, "cli/pcap/short-for-record", "record[].incl_len", packet,
				     captured, (uint64_t)got + (uint64_t)rest);
	packet->time_ns = load32(file, header) * NS_PER_S +
			  (uint64_t)load32(file, header + 4) * (file->nanoseconds ? 1u : NS_PER_US);
	packet->on_wire_bytes = load32(file, header + 12);
	packet->length_bytes = kept;
	packet->bytes = file->kept;
	return 1;
}
