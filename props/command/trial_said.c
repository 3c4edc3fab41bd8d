/* SPDX-License-Identifier: MIT */
/*
 * The capture that o2ref conform writes, read byte by byte by the specifications of pcapng, RoCEv2 and the
 * connection manager (docs/conform.md, "The capture").
 */
#include "props/command/trial_tried.h"

#include <inttypes.h>
#include <string.h>

#include "base/monotonic.h"
#include "props/model/wire_model.h"

#define OURS	     0x0a000001u
#define PEER	     0x0a630001u
#define ENDS	     2048u
#define MTU	     4096u
#define DYNAMIC_PORT 49152u /* first of the dynamic ports */

/* A queue pair that a REQ or REP named, and the packets sent to it. */
struct end {
	uint32_t qp, other, address, cm_id, psn;
	bool open;
};

struct reading {
	struct o2_trial *trial;
	struct o2_tried tried;
	const uint8_t *bytes; /* the packet */
	size_t seen, length;
	uint64_t packet, first_ns, last_ns, messages, writes, connections;
	uint64_t write_left;
	struct end end[ENDS];
	uint32_t nends;
};

static uint64_t number(const uint8_t *bytes, uint32_t count)
{
	return o2_wm_load(bytes, count, false);
}

static uint64_t little(const uint8_t *bytes, uint32_t count)
{
	return o2_wm_load(bytes, count, true);
}

static void must_be(struct reading *reading, const char *what, uint64_t found, uint64_t expected)
{
	if (found != expected)
		o2_report_fail(reading->trial->run->report, "commands/conform/said",
			       "packet %" PRIu64 ": %s is %" PRIu64 ", expected %" PRIu64, reading->packet,
			       what, found, expected);
}

static struct end *end_of(struct reading *reading, uint32_t qp)
{
	for (uint32_t i = reading->nends; i > 0; i--)
		if (reading->end[i - 1].qp == qp)
			return &reading->end[i - 1];
	return NULL;
}

static struct end *end_by_id(struct reading *reading, uint32_t address, uint32_t cm_id)
{
	for (uint32_t i = reading->nends; i > 0; i--)
		if (reading->end[i - 1].cm_id == cm_id && reading->end[i - 1].address == address)
			return &reading->end[i - 1];
	return NULL;
}

static struct end *new_end(struct reading *reading, uint32_t address, uint32_t qp, uint32_t cm_id)
{
	struct end *end = &reading->end[reading->nends];

	must_be(reading, "another end with that queue pair", end_of(reading, qp) != NULL, false);
	must_be(reading, "another end with that id", end_by_id(reading, address, cm_id) != NULL, false);
	if (reading->nends + 1 < ENDS)
		reading->nends++;
	*end = (struct end){.qp = qp, .address = address, .cm_id = cm_id};
	return end;
}

/* Check Ethernet, IPv4 and UDP; the transport headers begin at 42.  Returns the sender. */
static uint32_t check_network(struct reading *reading)
{
	const uint8_t *ip = reading->bytes + 14, *udp = ip + 20;
	const uint32_t from = (uint32_t)number(ip + 12, 4), to = (uint32_t)number(ip + 16, 4);
	uint32_t sum = 0;

	for (size_t i = 0; i < 20; i += 2)
		sum += (uint32_t)number(ip + i, 2);
	must_be(reading, "header checksum", (sum & 0xffff) + (sum >> 16), 0xffff);
	must_be(reading, "address of the receiver", number(reading->bytes, 6), UINT64_C(0x020000000000) | to);
	must_be(reading, "address of the sender", number(reading->bytes + 6, 6),
		UINT64_C(0x020000000000) | from);
	must_be(reading, "type", number(reading->bytes + 12, 2), 0x0800);
	must_be(reading, "version and header length", number(ip, 2), 0x4500);
	must_be(reading, "IP length", number(ip + 2, 2), reading->length - 14);
	must_be(reading, "fragment", number(ip + 4, 4), 0x4000);
	must_be(reading, "time to live and protocol", number(ip + 8, 2), 64 << 8 | 17);
	must_be(reading, "sender and receiver", (from == OURS && to == PEER) || (from == PEER && to == OURS),
		true);
	must_be(reading, "port", number(udp + 2, 2), 4791);
	must_be(reading, "port of the sender", number(udp, 2), DYNAMIC_PORT);
	must_be(reading, "UDP length", number(udp + 4, 2), reading->length - 34);
	must_be(reading, "UDP checksum", number(udp + 6, 2), 0);
	must_be(reading, "partition", number(reading->bytes + 44, 2), 0xffff);
	must_be(reading, "flags", reading->bytes[43] & 0xcf, 0x40);
	must_be(reading, "reserved", reading->bytes[46] | reading->bytes[50], 0);
	return from;
}

static void check_request(struct reading *reading, uint32_t from, const uint8_t *data, uint32_t id)
{
	struct end *end = new_end(reading, from, (uint32_t)number(data + 32, 3), id);

	reading->connections++;
	must_be(reading, "service", number(data + 8, 8), 0x01060000u + 987);
	must_be(reading, "first number", number(data + 44, 3), 0);
	must_be(reading, "version of the addresses, and IP's", number(data + 140, 2), 0x0040);
	must_be(reading, "port of the asker", number(data + 142, 2), DYNAMIC_PORT);
	must_be(reading, "IP of the asker", number(data + 156, 4), from);
	must_be(reading, "IP of the asked", number(data + 172, 4), from == OURS ? PEER : OURS);
	must_be(reading, "magic", little(data + 176, 4) == 0x0be91b91 || number(data + 176, 4) == 0x0be91b91,
		true);
	end->psn = 0;
	if (from == OURS)
		o2_tried_asks(&reading->tried, reading->packet, data + 176);
}

/* Check a datagram of the connection manager. */
static void check_cm(struct reading *reading, uint32_t from)
{
	const uint8_t *deth = reading->bytes + 54, *mad = deth + 8, *data = mad + 24;
	const uint32_t kind = (uint32_t)number(mad + 16, 2), id = (uint32_t)number(data, 4);
	struct end *other = end_by_id(reading, from == OURS ? PEER : OURS, (uint32_t)number(data + 4, 4)),
		   *end;

	must_be(reading, "length of a datagram", reading->length, 54 + 8 + 256 + 4);
	must_be(reading, "bytes that are there", reading->seen, reading->length);
	must_be(reading, "number of a datagram", number(reading->bytes + 51, 3), 0);
	must_be(reading, "queue key", number(deth, 4), 0x80010000u);
	must_be(reading, "queue pair of the sender", number(deth + 4, 4), 1);
	must_be(reading, "base, class, version, method", number(mad, 4), 0x01070203);
	if (kind == 0x10) {
		check_request(reading, from, data, id);
		return;
	}
	must_be(reading, "an id that was told", other != NULL, true);
	if (other == NULL)
		return;
	if (kind == 0x13) {
		end = new_end(reading, from, (uint32_t)number(data + 12, 3), id);
		end->other = other->qp;
		other->other = end->qp;
		end->open = other->open = true;
		must_be(reading, "first number", number(data + 20, 3), 0);
		if (from == PEER)
			o2_tried_granted(&reading->tried, data + 36);
	} else if (kind == 0x12) {
		must_be(reading, "reason", number(data + 10, 2), 28);
		must_be(reading, "a connection that is rejected", other->open, false);
		if (from == PEER)
			o2_tried_rejected(&reading->tried, reading->packet);
	} else {
		must_be(reading, "kind", kind, 0x15);
		must_be(reading, "a connection that ends", other->open, true);
		if (from == OURS)
			o2_tried_ends(&reading->tried, reading->packet);
	}
}

/* Packets of the peer's WRITEs: they are not captured, but their PSNs are used. */
static uint32_t unseen(uint32_t from, const uint8_t *message, size_t count)
{
	const bool big = count > 0 && message[0] == 0x0b;
	const int32_t status = (int32_t)(count < 60 ? 0
					 : big	    ? number(message + 56, 4)
						    : little(message + 56, 4));
	const uint8_t type = count < 7 ? 0 : message[6];

	if (from == OURS || (type != 0xd5 && type != 0xd7) || status <= 0)
		return 0;
	return ((uint32_t)status + MTU - 1) / MTU;
}

static void check_send(struct reading *reading, uint32_t from, uint32_t *psn, size_t pad)
{
	const uint8_t *message = reading->bytes + 54;
	const size_t count = reading->length - 54 - 4 - pad;
	const bool big = message[0] == 0x0b;

	reading->messages++;
	*psn += unseen(from, message, count);
	must_be(reading, "bytes that are there", reading->seen, reading->length);
	must_be(reading, "magic", big ? number(message, 4) : little(message, 4), 0x0be91b91);
	must_be(reading, "length of the message", big ? number(message + 8, 4) : little(message + 8, 4),
		count);
	if (from == OURS && count >= 120)
		o2_tried_says(&reading->tried, reading->packet, message);
	for (size_t i = 0; i < pad + 4; i++)
		must_be(reading, "a byte behind it", message[count + i], 0);
}

static void check_write(struct reading *reading, uint32_t from, uint8_t opcode, size_t pad)
{
	const bool first = opcode == 0x06 || opcode == 0x0a;
	const size_t headers = first ? 70 : 54, count = reading->length - headers - 4 - pad;

	must_be(reading, "a WRITE of ours", from, OURS);
	must_be(reading, "bytes that are there", reading->seen, headers);
	must_be(reading, "WRITEs under way", reading->write_left == 0, first);
	if (first) {
		reading->writes++;
		reading->write_left = number(reading->bytes + 66, 4);
	}
	must_be(reading, "the last of a WRITE", reading->write_left <= MTU, opcode == 0x08 || opcode == 0x0a);
	must_be(reading, "bytes of a WRITE", count, reading->write_left < MTU ? reading->write_left : MTU);
	reading->write_left -= count < reading->write_left ? count : reading->write_left;
}

static void check_packet(struct reading *reading)
{
	const uint8_t *bth = reading->bytes + 42;
	const uint32_t from = check_network(reading), qp = (uint32_t)number(bth + 5, 3);
	const size_t pad = bth[1] >> 4 & 3;
	struct end *end;

	if (bth[0] == 0x64) {
		must_be(reading, "queue pair of the connection manager", qp, 1);
		check_cm(reading, from);
		return;
	}
	end = end_of(reading, qp);
	must_be(reading, "a queue pair that was told", end != NULL && end->open && end->address != from,
		true);
	must_be(reading, "length", (reading->length - 54) % 4, 0);
	if (end == NULL)
		return;
	if (bth[0] == 0x04)
		check_send(reading, from, &end->psn, pad);
	else
		check_write(reading, from, bth[0], pad);
	must_be(reading, "opcode", bth[0] == 4 || (bth[0] >= 6 && bth[0] <= 8) || bth[0] == 10, true);
	must_be(reading, "sequence number", number(bth + 9, 3), end->psn & 0xffffff);
	end->psn++;
}

static void check_time(struct reading *reading, uint64_t time_ns)
{
	must_be(reading, "a time that goes on", time_ns >= reading->last_ns, true);
	must_be(reading, "a time of this run",
		time_ns >= reading->trial->run->command.began_ns && time_ns <= o2_wall_ns(), true);
	reading->last_ns = time_ns;
}

/* Check the section, an interface with nanoseconds, and one block per packet. */
static void check_head(struct reading *reading, const uint8_t *bytes, size_t count)
{
	static const uint8_t head[] = {0x0a, 0x0d, 0x0d, 0x0a, 28, 0, 0,    0,	  0x4d, 0x3c,
				       0x2b, 0x1a, 1,	 0,    0,  0, 0xff, 0xff, 0xff, 0xff,
				       0xff, 0xff, 0xff, 0xff, 28, 0, 0,    0,	  1,	0,
				       0,    0,	   32,	 0,    0,  0, 1,    0,	  0,	0};
	static const uint8_t options[] = {9, 0, 1, 0, 9, 0, 0, 0, 0, 0, 0, 0, 32, 0, 0, 0};

	must_be(reading, "the head", count >= 60 && memcmp(bytes, head, sizeof(head)) == 0, true);
	must_be(reading, "the options", count >= 60 && memcmp(bytes + 44, options, sizeof(options)) == 0,
		true);
	must_be(reading, "the longest packet", count >= 60 && little(bytes + 40, 4) >= 70 + MTU + 4, true);
}

void o2_trial_check_said(struct o2_trial *trial, const uint8_t *bytes, size_t count)
{
	static struct reading reading; /* large */
	const struct o2_report *report = trial->run->report;
	uint64_t last = 0;
	size_t at = 60;

	memset(&reading, 0, sizeof(reading));
	reading.trial = trial;
	o2_tried_start(&reading.tried, trial);
	check_head(&reading, bytes, count);
	while (!report->failed && at < count) {
		const size_t left = count - at, total = left < 36 ? 0 : little(bytes + at + 4, 4);

		reading.packet++;
		reading.bytes = bytes + at + 28;
		reading.seen = left < 36 ? 0 : little(bytes + at + 20, 4);
		reading.length = left < 36 ? 0 : little(bytes + at + 24, 4);
		must_be(&reading, "block", little(bytes + at, 4), 6);
		must_be(&reading, "length of the block", total, 32 + (reading.seen + 3) / 4 * 4);
		must_be(&reading, "room",
			total >= 36 && total <= left && reading.seen >= 54 && reading.length >= 58, true);
		if (report->failed)
			return;
		must_be(&reading, "interface", little(bytes + at + 8, 4), 0);
		must_be(&reading, "length at the end", little(bytes + at + total - 4, 4), total);
		must_be(&reading, "bytes that were captured", reading.seen <= reading.length, true);
		for (size_t i = 28 + reading.seen; i < total - 4; i++)
			must_be(&reading, "a byte behind the packet", bytes[at + i], 0);
		check_time(&reading, little(bytes + at + 12, 4) << 32 | little(bytes + at + 16, 4));
		check_packet(&reading);
		at += total;
	}
	o2_tried_finish(&reading.tried);
	must_be(&reading, "WRITEs under way", reading.write_left, 0);
	must_be(&reading, "messages", reading.messages, trial->messages);
	must_be(&reading, "connections", reading.connections, trial->connections);
	must_be(&reading, "WRITEs", reading.writes, trial->writes);
	for (uint32_t i = 0; i < trial->rows; i++) {
		const struct o2_trial_row *row = &trial->row[i];

		if (strncmp(row->probe.id, "judge/", strlen("judge/")) == 0)
			continue;
		must_be(&reading, "the first packet of a probe", row->first > last || row->first == row->last,
			true);
		must_be(&reading, "the last packet of a probe",
			row->last >= row->first && row->last <= reading.packet, true);
		last = row->last > last ? row->last : last;
	}
}
