/* SPDX-License-Identifier: MIT */
#include "cli/net/conform/capture.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>

#include "base/monotonic.h"
#include "cli/cli.h"
#include "cli/net/conform/packet.h"
#include "wire/bytes.h"
#include "wire/layout.h"
#include "wire/nid.h"

/* Makes up the packets for what our end has heard. */

#define MTU_BYTES 4096u

/* A connection, with each side's queue pair and next sequence number. */
struct said {
	LIST_ENTRY(said) entry;
	const void *name;
	bool asked_by_us;
	struct o2_packet_end end[2]; /* theirs, ours: the index is struct o2_watched.ours */
};

struct o2_conform_capture {
	FILE *file;
	const char *path;
	uint16_t port;
	uint32_t next; /* for numbers of queue pairs and connections */
	uint64_t packets;
	int error; /* errno of the first write that failed */
	uint32_t address[2];
	LIST_HEAD(, said) said;
	struct o2_packet packet; /* large */
};

static void put(struct o2_conform_capture *capture, const void *bytes, size_t count)
{
	if (capture->error == 0 && fwrite(bytes, 1, count, capture->file) != count)
		capture->error = errno != 0 ? errno : EIO;
}

static void put_packet(struct o2_conform_capture *capture)
{
	struct o2_pcapng_block block;

	o2_pcapng_packet(&capture->packet, o2_wall_ns(), &block);
	put(capture, block.head, block.head_bytes);
	put(capture, capture->packet.bytes, capture->packet.seen_bytes);
	put(capture, block.tail, block.tail_bytes);
	capture->packets++;
}

struct o2_conform_capture *o2_conform_capture_open(const char *path, uint64_t our_nid, uint64_t peer_nid,
						   uint16_t port)
{
	struct o2_conform_capture *capture = calloc(1, sizeof(*capture));
	uint8_t head[O2_PCAPNG_HEAD_BYTES];

	if (capture != NULL)
		capture->file = fopen(path, "wb");
	if (capture == NULL || capture->file == NULL) {
		o2_cli_complain("%s: %s", path, strerror(capture == NULL ? ENOMEM : errno));
		free(capture);
		return NULL;
	}
	capture->path = path;
	capture->port = port;
	capture->next = 1;
	capture->address[true] = o2_nid_address(our_nid);
	capture->address[false] = o2_nid_address(peer_nid);
	LIST_INIT(&capture->said);
	put(capture, head, o2_pcapng_head(head));
	return capture;
}

uint64_t o2_conform_capture_packets(const struct o2_conform_capture *capture)
{
	return capture->packets;
}

static struct said *find(const struct o2_conform_capture *capture, const void *name)
{
	struct said *said;

	LIST_FOREACH(said, &capture->said, entry)
		if (said->name == name)
			return said;
	return NULL;
}

static struct said *meet(struct o2_conform_capture *capture, const struct o2_watched *watched)
{
	struct said *said = calloc(1, sizeof(*said));

	if (said == NULL) {
		capture->error = ENOMEM;
		return NULL;
	}
	said->name = watched->conn;
	said->asked_by_us = watched->ours;
	for (unsigned int ours = 0; ours < 2; ours++) {
		said->end[ours].address = capture->address[ours];
		/* Queue pairs 0 and 1 are the device's own. */
		said->end[ours].qp = 2 * ++capture->next + ours;
		said->end[ours].cm_id = said->end[ours].qp;
	}
	LIST_INSERT_HEAD(&capture->said, said, entry);
	return said;
}

static void forget(struct said *said)
{
	LIST_REMOVE(said, entry);
	free(said);
}

/* Write the connection manager's message of this kind, with its private data. */
static void put_cm(struct o2_conform_capture *capture, const struct said *said,
		   const struct o2_watched *watched)
{
	static const enum o2_cm_kind kinds[] = {
		[O2_WATCHED_REQUEST] = O2_CM_REQ,
		[O2_WATCHED_REPLY] = O2_CM_REP,
		[O2_WATCHED_REJECT] = O2_CM_REJ,
		[O2_WATCHED_DISCONNECT] = O2_CM_DREQ,
	};

	o2_packet_cm(&capture->packet, kinds[watched->kind], &said->end[watched->ours],
		     &said->end[!watched->ours], capture->port, watched->bytes,
		     watched->bytes == NULL ? 0 : watched->length_bytes);
	put_packet(capture);
}

/* Packets to skip for the peer's unseen WRITEs before its DONE, whose status tells only their bytes. */
static uint32_t unseen_packets(const struct o2_watched *watched)
{
	const uint8_t *bytes = watched->bytes;
	int32_t status;

	if (watched->ours || watched->length_bytes < O2_AT_STATUS + 4 ||
	    (bytes[O2_AT_TYPE] != O2_MSG_GET_DONE && bytes[O2_AT_TYPE] != O2_MSG_PUT_DONE))
		return 0;
	status = (int32_t)o2_load32(bytes + O2_AT_STATUS,
				    o2_load32_le(bytes) == O2_MSG_MAGIC ? O2_LITTLE_ENDIAN : O2_BIG_ENDIAN);
	return status > 0 ? ((uint32_t)status + MTU_BYTES - 1) / MTU_BYTES : 0;
}

static void put_message(struct o2_conform_capture *capture, struct said *said,
			const struct o2_watched *watched)
{
	struct o2_packet_end *from = &said->end[watched->ours];

	if (watched->bytes != NULL) {
		o2_packet_skip(from, unseen_packets(watched));
		o2_packet_send(&capture->packet, from, &said->end[!watched->ours], watched->bytes,
			       watched->length_bytes);
		put_packet(capture);
	} else {
		o2_packet_skip(from, 1);
	}
}

/* A WRITE's bytes were never in one place, so its packets are cut after their headers. */
static void put_write(struct o2_conform_capture *capture, struct said *said, const struct o2_watched *watched)
{
	uint64_t at = 0;

	do {
		const uint64_t left = watched->length_bytes - at;
		const uint32_t count = left < MTU_BYTES ? (uint32_t)left : MTU_BYTES;

		o2_packet_write(&capture->packet, &said->end[watched->ours], &said->end[!watched->ours],
				watched, at, count);
		put_packet(capture);
		at += count;
	} while (at < watched->length_bytes);
}

void o2_conform_capture_hear(struct o2_conform_capture *capture, const struct o2_watched *watched)
{
	struct said *said = find(capture, watched->conn);

	if (said == NULL && watched->kind == O2_WATCHED_REQUEST)
		said = meet(capture, watched);
	if (said == NULL)
		return;
	if (watched->kind == O2_WATCHED_GONE)
		forget(said);
	else if (watched->kind == O2_WATCHED_MESSAGE)
		put_message(capture, said, watched);
	else if (watched->kind == O2_WATCHED_WRITE)
		put_write(capture, said, watched);
	else
		put_cm(capture, said, watched);
}

bool o2_conform_capture_close(struct o2_conform_capture *capture)
{
	bool ok = true;

	if (capture == NULL)
		return true;
	while (!LIST_EMPTY(&capture->said))
		forget(LIST_FIRST(&capture->said));
	if (fclose(capture->file) != 0 && capture->error == 0)
		capture->error = errno;
	if (capture->error != 0) {
		o2_cli_complain("%s: %s", capture->path, strerror(capture->error));
		ok = false;
	}
	free(capture);
	return ok;
}
