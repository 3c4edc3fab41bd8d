/* SPDX-License-Identifier: MIT */
#include "props/command/probes.h"

#include <stdio.h>
#include <string.h>

#define NUMBERS 11u

#define FAMILY(id, source, sentence, ...)                                          \
	{                                                                          \
		id, source, sentence, {__VA_ARGS__},                               \
			sizeof((const uint32_t[]){__VA_ARGS__}) / sizeof(uint32_t) \
	}
#define PROBE(id, source, sentence) FAMILY(id, source, sentence, 0)

/* A probe, or a series of probes with a number in the id and perhaps in the sentence. */
static const struct {
	const char *id, *source, *sentence;
	uint32_t number[NUMBERS], numbers;
} families[] = {
	PROBE("ping/one", "peer.md#ping", "a ping is answered with ping info"),
	PROBE("ping/info", "peer.md#ping", "it names 0@lo first, and the NID that was asked, which is up"),
	PROBE("ping/twenty", "peer.md#ping", "pings one after another are answered"),
	PROBE("ping/many", "transport.md#flow-control", "pings at once are all answered"),
	PROBE("ping/push", "peer.md#ping",
	      "ping info that is PUT to it is acknowledged, if it offers discovery"),
	PROBE("connect/again", "connection.md#ending", "a connection that has ended can be made again"),
	PROBE("connect/two", "connection.md#caps", "a node may have two connections"),
	PROBE("checksum/payload", "wire.md#checksum",
	      "the checksum of an IMMEDIATE is that of the bytes that arrive"),
	PROBE("checksum/unsigned", "wire.md#checksum", "messages with sums of unsigned chars are taken"),
	PROBE("checksum/signed", "wire.md#checksum", "messages with sums of signed chars are taken"),
	PROBE("flow/version-1", "transport.md#flow-control",
	      "a connection in version 0x11 keeps its last credit for a NOOP"),
	PROBE("flow/big-endian", "wire.md#byte-order", "messages in the other byte order are understood"),
	FAMILY("flow/depth-%u", "transport.md#flow-control",
	       "twice as many messages as credits, with a depth of %u", 2, 3, 4, 8, 16, 255),
	FAMILY("connect/depth-%u", "connection.md#negotiation",
	       "a depth of %u is granted, or rejected with one that is", 2, 3, 4, 8, 16, 32, 128, 255),
	FAMILY("connect/frags-%u", "connection.md#negotiation",
	       "a limit of %u fragments is granted, or rejected with one that is", 1, 2, 16, 255, 256, 257),
	PROBE("connect/size-4096", "connection.md#negotiation", "messages of 4096 bytes are granted"),
	PROBE("connect/version-1", "connection.md#negotiation",
	      "a request in version 0x11 is answered in it"),
	PROBE("connect/this-life", "connection.md#checks-of-a-request",
	      "a request for the incarnation that it has is accepted"),
	PROBE("connect/other-life", "connection.md#checks-of-a-request",
	      "a request for another incarnation is rejected as stale, with the one it has"),
	PROBE("missing/put", "peer.md#matching",
	      "a PUT_REQ to a portal without memory gets a PUT_NAK with status 0"),
	PROBE("missing/get", "peer.md#matching",
	      "a GET_REQ to a portal without memory gets a GET_DONE with -ENODATA"),
	PROBE("missing/put-small", "peer.md#matching",
	      "a PUT in an IMMEDIATE to a portal without memory gets no ACK"),
	PROBE("missing/get-small", "peer.md#matching",
	      "a GET in an IMMEDIATE from a portal without memory gets no REPLY"),
	PROBE("end/put", "peer.md#matching", "a PUT past the end reports no more bytes than fit"),
	PROBE("end/get", "peer.md#matching",
	      "a GET past the end reports no more bytes than are there and were written"),
	PROBE("end/put-small", "peer.md#matching",
	      "a PUT in an IMMEDIATE past the end reports no more bytes than fit"),
	PROBE("end/get-small", "peer.md#matching",
	      "a GET in an IMMEDIATE past the end reports no more bytes than are there"),
	FAMILY("put/size-%u", "transport.md#small-and-large",
	       "a PUT of %u bytes arrives, and is acknowledged", 0, 1, 3975, 3976, 3977, 4095, 4096, 4097,
	       65535, 65536, 1048576),
	FAMILY("get/size-%u", "transport.md#small-and-large",
	       "a GET of %u bytes brings what is there, all of it", 1, 3975, 3976, 3977, 4095, 4096, 4097,
	       65535, 65536, 1048576),
	PROBE("put/no-ack", "peer.md#operations", "a PUT by RDMA that asks for no ACK arrives"),
	PROBE("put/no-ack-small", "peer.md#operations", "a PUT in an IMMEDIATE that asks for no ACK arrives"),
	FAMILY("frags/%u", "mapping.md#rdma_plan", "memory of ours in %u pieces is read from and written to",
	       1, 2, 16, 255, 256, 257),
	PROBE("mode/global", "modes.md#global", "memory registered in mode global is written to"),
	PROBE("mode/fmr", "modes.md#fmr", "memory registered in mode fmr is written to"),
	PROBE("mode/fastreg", "modes.md#fastreg", "memory registered in mode fastreg is written to"),
	PROBE("mode/user", "modes.md#user", "memory registered in mode user is written to"),
	PROBE("mode/phys", "modes.md#phys", "memory registered in mode phys is written to"),
	PROBE("mode/fastreg_gaps", "modes.md#fastreg_gaps",
	      "memory registered in mode fastreg_gaps is written to"),
	FAMILY("offset/local-%u", "mapping.md#rdma_plan",
	       "memory of ours that begins at byte %u of a page is written to", 1, 511, 4095),
	FAMILY("offset/remote-%u", "peer.md#matching",
	       "PUTs and GETs at byte %u of the place are about the bytes there", 1, 511, 3000, 4095, 5000),
	PROBE("flight/small", "transport.md#flow-control",
	      "255 IMMEDIATEs at once arrive, each in its place"),
	PROBE("flight/large", "transport.md#flow-control", "200 transfers at once arrive, each in its place"),
	FAMILY("flight/depth-%u", "transport.md#flow-control", "64 transfers at once with a depth of %u", 2),
	FAMILY("flight/depth-%u", "transport.md#flow-control",
	       "64 transfers at once with the largest depth that is granted", 255),
	PROBE("leave/ping", "connection.md#ending", "a peer that disconnects during a ping can reconnect"),
	PROBE("leave/put", "connection.md#ending",
	      "a peer that disconnects after any step of a PUT by RDMA can reconnect"),
	PROBE("leave/get", "connection.md#ending",
	      "a peer that disconnects after any step of a GET by RDMA can reconnect"),
	PROBE("leave/put-small", "connection.md#ending",
	      "a peer that disconnects after any step of a PUT in an IMMEDIATE can reconnect"),
	PROBE("leave/many", "connection.md#ending",
	      "a peer that disconnects with 16 transfers under way can reconnect"),
	PROBE("restart/stamp", "connection.md#from-an-operation-to-a-connection",
	      "a node that restarts, with another incarnation, is served"),
	/* Probes of --lst. */
	PROBE("lst/session", "lst.md#sessions",
	      "a session is made, has its name, and is gone when it is removed"),
	PROBE("lst/session-twice", "lst.md#sessions", "a session that was made twice is removed twice"),
	PROBE("lst/busy", "lst.md#sessions",
	      "another session gets EBUSY, and the name of the one that is there"),
	PROBE("lst/force", "lst.md#sessions",
	      "a session by force replaces the one that is there, with its tests"),
	PROBE("lst/none", "lst.md#status", "a request with no session gets EINVAL"),
	PROBE("lst/other", "lst.md#status",
	      "a session that the node is not in is refused, and told which one it is in"),
	PROBE("lst/features", "lst.md#sessions",
	      "a session has the features it was made with, and other ones get EPROTO"),
	PROBE("lst/big-endian", "lst.md#the-message",
	      "requests in the other byte order are understood, and their bulk"),
	PROBE("lst/expire", "lst.md#sessions", "a session that is not heard of any more goes at its timeout"),
	PROBE("lst/halves", "lst.md#tests-and-batches", "server halves are added, and are never active"),
	PROBE("lst/batch", "lst.md#tests-and-batches",
	      "a batch is run, stopped and asked for by its number, and no other one"),
	PROBE("lst/stat", "lst.md#counters", "the counters grow by what was done"),
	PROBE("lst/ping", "lst.md#tests-and-batches",
	      "pings one after another are answered, each with its number"),
	PROBE("lst/ping-many", "lst.md#tests-and-batches",
	      "64 pings at a time are answered, each with its number"),
	PROBE("lst/ping-magic", "lst.md#tests-and-batches",
	      "a ping with another magic gets no reply, and those after it do"),
	FAMILY("lst/read-%u", "lst.md#tests-and-batches",
	       "a read of %u bytes brings the pattern, at every offset", 8, 3976, 3984, 4088, 4096, 4104,
	       65528, 65536, 65544, 1048568, 1048576),
	FAMILY("lst/write-%u", "lst.md#tests-and-batches",
	       "a write of %u bytes arrives as the pattern, from every offset", 8, 3976, 3984, 4088, 4096,
	       4104, 65528, 65536, 65544, 1048568, 1048576),
	PROBE("lst/read-longer", "lst.md#tests-and-batches",
	      "a read into longer memory leaves the rest of it alone"),
	PROBE("lst/write-longer", "lst.md#tests-and-batches",
	      "a write from longer memory is as long as it was announced"),
	PROBE("lst/write-wrong", "lst.md#tests-and-batches",
	      "a write with a wrong bit gets EBADMSG, where the check says that it is looked at"),
	PROBE("lst/read-many", "lst.md#tests-and-batches", "64 reads of 64 KiB at a time bring the pattern"),
	PROBE("lst/write-many", "lst.md#tests-and-batches",
	      "64 writes of 64 KiB at a time arrive as the pattern"),
	PROBE("lst/mixed", "lst.md#tests-and-batches",
	      "pings, and reads and writes of all sizes, go on at the same time"),
	PROBE("lst/leave-session", "lst.md#sessions",
	      "a peer that disconnects after any step of a session can reconnect"),
	PROBE("lst/leave-read", "lst.md#sessions",
	      "a peer that disconnects after any step of a read by RDMA can reconnect"),
	PROBE("lst/leave-write", "lst.md#sessions",
	      "a peer that disconnects after any step of a write by RDMA can reconnect"),
	PROBE("lst/leave-many", "lst.md#sessions",
	      "a peer that disconnects during 64 reads and writes can reconnect"),
};

/* Insert the number into a text that has at most one place for it. */
static void fill(const char *format, uint32_t number, char *text, size_t bytes)
{
	const char *at = strstr(format, "%u");

	if (at == NULL)
		snprintf(text, bytes, "%s", format);
	else
		snprintf(text, bytes, "%.*s%u%s", (int)(at - format), format, number, at + 2);
}

bool o2_probe_at(uint32_t index, struct o2_probe *probe)
{
	for (size_t i = 0; i < sizeof(families) / sizeof(families[0]); i++) {
		if (index >= families[i].numbers) {
			index -= families[i].numbers;
			continue;
		}
		fill(families[i].id, families[i].number[index], probe->id, sizeof(probe->id));
		fill(families[i].sentence, families[i].number[index], probe->sentence,
		     sizeof(probe->sentence));
		fill(families[i].source, 0, probe->source, sizeof(probe->source));
		return true;
	}
	return false;
}

bool o2_probe_is_asked(const char *id, const char *only)
{
	char words[400], *rest = words;
	const char *word;

	if (only == NULL)
		return true;
	snprintf(words, sizeof(words), "%s", only);
	while ((word = strsep(&rest, ",")) != NULL) {
		const size_t length = strlen(word);

		if (strcmp(id, word) == 0 ||
		    (length > 0 && word[length - 1] == '/' && strncmp(id, word, length) == 0))
			return true;
	}
	return false;
}

const struct o2_probe_quirk o2_probe_quirks[O2_PROBE_QUIRKS] = {
	{.draw = ""},
	{"sums-signed", "checksum/unsigned", .tolerated = true, .draw = "checksum/unsigned",
	 .seen = "GET of 3960 bytes at offset 0 ends with ECONNREFUSED: the peer has rejected the "
		 "connection: fatal (reason 3)",
	 .heard = "a reject of 148 bytes: 911be90b 12000300 "},
	{"sums-other-bytes", "checksum/payload", .tolerated = true, .draw = "checksum/",
	 .heard = "a message of "},
	{"second-page-wrong", "offset/remote-3000,offset/remote-4095,flight/small",
	 .rule = "judge/payload/get",
	 .sentence = "a GET brings what is served there, or what the same node has PUT there",
	 .source = "judge.md, \"Payloads\"", .draw = "offset/remote-3000", .heard = "a message of "},
	{"short-get-claims", "end/get", .tolerated = true, .draw = "end/get",
	 .seen = "GET of 8192 bytes at offset 8384512: the peer reports 8192 bytes and wrote 0 of them",
	 .heard = "a message of 60 bytes: 911be90b 1200d7"},
	{"gapped-source-silent", "get/size-4096", .tolerated = true, .rule = "judge/transfer/unanswered",
	 .sentence = "a request is answered within the time-out", .source = "transport.md, \"Time\"",
	 .draw = "get/size-4096", .heard = "a reply of 196 bytes: 911be90b 1200c1"},
	{"closes-first", "ping/one", .mute = true, .draw = "flow/depth-2",
	 .heard = "the end of the connection"},
	{"late=1", .draw = "put/size-65536"},
	{"lst-flip-bit",
	 "lst/features,lst/big-endian,lst/stat,lst/read-8,lst/read-3976,lst/read-3984,lst/read-4088,lst/"
	 "read-4096,"
	 "lst/read-4104,lst/read-65528,lst/read-65536,lst/read-65544,lst/read-1048568,lst/read-1048576,"
	 "lst/read-many,lst/mixed,lst/leave-session,lst/leave-read,lst/leave-write,lst/leave-many",
	 .draw = "lst/features", .lst = true, .heard = "a message of 280 bytes: 911be90b 1200d1"},
};
