/* SPDX-License-Identifier: MIT */
#include "props/command/probes.h"

#include <stdio.h>
#include <string.h>

#define NUMBERS 11u

/* A probe, or one for each number, which stands in the id and perhaps in the sentence. */
static const struct {
	const char *id, *sentence, *source;
	uint32_t number[NUMBERS], numbers;
} families[] = {
	{"ping/one", "a ping is answered with ping info", "peer.md#ping", {0}, 0},
	{"ping/info", "it names 0@lo first, and the NID that was asked, which is up", "peer.md#ping", {0}, 0},
	{"ping/twenty", "pings one after another are answered", "peer.md#ping", {0}, 0},
	{"ping/many", "pings at once are all answered", "transport.md#flow-control", {0}, 0},
	{"ping/push",
	 "ping info that is PUT to it is acknowledged, if it offers discovery",
	 "peer.md#ping",
	 {0},
	 0},
	{"connect/again", "a connection that has ended can be made again", "connection.md#ending", {0}, 0},
	{"connect/two", "a node may have two connections", "connection.md#caps", {0}, 0},
	{"checksum/payload",
	 "the checksum of an IMMEDIATE is that of the bytes that arrive",
	 "wire.md#checksum",
	 {0},
	 0},
	{"checksum/unsigned", "messages with sums of unsigned chars are taken", "wire.md#checksum", {0}, 0},
	{"checksum/signed", "messages with sums of signed chars are taken", "wire.md#checksum", {0}, 0},
	{"flow/version-1",
	 "a connection in version 0x11 keeps its last credit for a NOOP",
	 "transport.md#flow-control",
	 {0},
	 0},
	{"flow/big-endian", "messages in the other byte order are understood", "wire.md#byte-order", {0}, 0},
	{"flow/depth-%u",
	 "twice as many messages as credits, with a depth of %u",
	 "transport.md#flow-control",
	 {2, 3, 4, 8, 16, 255},
	 6},
	{"connect/depth-%u",
	 "a depth of %u is granted, or rejected with one that is",
	 "connection.md#negotiation",
	 {2, 3, 4, 8, 16, 32, 128, 255},
	 8},
	{"connect/frags-%u",
	 "a limit of %u fragments is granted, or rejected with one that is",
	 "connection.md#negotiation",
	 {1, 2, 16, 255, 256, 257},
	 6},
	{"connect/size-4096", "messages of 4096 bytes are granted", "connection.md#negotiation", {0}, 0},
	{"connect/version-1",
	 "a request in version 0x11 is answered in it",
	 "connection.md#negotiation",
	 {0},
	 0},
	{"connect/this-life",
	 "a request for the incarnation that it has is accepted",
	 "connection.md#checks-of-a-request",
	 {0},
	 0},
	{"connect/other-life",
	 "a request for another incarnation is rejected as stale, with the one it has",
	 "connection.md#checks-of-a-request",
	 {0},
	 0},
	{"missing/put",
	 "a PUT_REQ to where nothing is gets a PUT_NAK with status 0",
	 "peer.md#matching",
	 {0},
	 0},
	{"missing/get",
	 "a GET_REQ to where nothing is gets a GET_DONE with -ENODATA",
	 "peer.md#matching",
	 {0},
	 0},
	{"missing/put-small",
	 "a PUT in an IMMEDIATE to where nothing is gets no ACK",
	 "peer.md#matching",
	 {0},
	 0},
	{"missing/get-small",
	 "a GET in an IMMEDIATE from where nothing is gets no REPLY",
	 "peer.md#matching",
	 {0},
	 0},
	{"end/put",
	 "of a PUT past the end no more is reported than there is room for",
	 "peer.md#matching",
	 {0},
	 0},
	{"end/get",
	 "of a GET past the end no more is reported than is there and was written",
	 "peer.md#matching",
	 {0},
	 0},
	{"end/put-small",
	 "of a PUT in an IMMEDIATE past the end no more is reported than there is room for",
	 "peer.md#matching",
	 {0},
	 0},
	{"end/get-small",
	 "of a GET in an IMMEDIATE past the end no more is reported than is there",
	 "peer.md#matching",
	 {0},
	 0},
	{"put/size-%u",
	 "a PUT of %u bytes arrives, and is acknowledged",
	 "transport.md#small-and-large",
	 {0, 1, 3975, 3976, 3977, 4095, 4096, 4097, 65535, 65536, 1048576},
	 11},
	{"get/size-%u",
	 "a GET of %u bytes brings what is there, all of it",
	 "transport.md#small-and-large",
	 {1, 3975, 3976, 3977, 4095, 4096, 4097, 65535, 65536, 1048576},
	 10},
	{"put/no-ack", "a PUT by RDMA that asks for no ACK arrives", "peer.md#operations", {0}, 0},
	{"put/no-ack-small",
	 "a PUT in an IMMEDIATE that asks for no ACK arrives",
	 "peer.md#operations",
	 {0},
	 0},
	{"frags/%u",
	 "memory of ours in %u pieces is read from and written to",
	 "mapping.md#rdma_plan",
	 {1, 2, 16, 255, 256, 257},
	 6},
	{"mode/global", "memory registered in mode global is written to", "modes.md#global", {0}, 0},
	{"mode/fmr", "memory registered in mode fmr is written to", "modes.md#fmr", {0}, 0},
	{"mode/fastreg", "memory registered in mode fastreg is written to", "modes.md#fastreg", {0}, 0},
	{"mode/user", "memory registered in mode user is written to", "modes.md#user", {0}, 0},
	{"mode/phys", "memory registered in mode phys is written to", "modes.md#phys", {0}, 0},
	{"mode/fastreg_gaps",
	 "memory registered in mode fastreg_gaps is written to",
	 "modes.md#fastreg_gaps",
	 {0},
	 0},
	{"offset/local-%u",
	 "memory of ours that begins at byte %u of a page is written to",
	 "mapping.md#rdma_plan",
	 {1, 511, 4095},
	 3},
	{"offset/remote-%u",
	 "PUTs and GETs at byte %u of the place are about the bytes there",
	 "peer.md#matching",
	 {1, 511, 3000, 4095, 5000},
	 5},
	{"flight/small",
	 "255 IMMEDIATEs at once arrive, each in its place",
	 "transport.md#flow-control",
	 {0},
	 0},
	{"flight/large",
	 "200 transfers at once arrive, each in its place",
	 "transport.md#flow-control",
	 {0},
	 0},
	{"flight/depth-%u", "64 transfers at once with a depth of %u", "transport.md#flow-control", {2}, 1},
	{"flight/depth-%u",
	 "64 transfers at once with the largest depth that is granted",
	 "transport.md#flow-control",
	 {255},
	 1},
	{"leave/ping", "who leaves in the middle of a ping can come back", "connection.md#ending", {0}, 0},
	{"leave/put",
	 "who leaves after any step of a PUT by RDMA can come back",
	 "connection.md#ending",
	 {0},
	 0},
	{"leave/get",
	 "who leaves after any step of a GET by RDMA can come back",
	 "connection.md#ending",
	 {0},
	 0},
	{"leave/put-small",
	 "who leaves after any step of a PUT in an IMMEDIATE can come back",
	 "connection.md#ending",
	 {0},
	 0},
	{"leave/many",
	 "who leaves with 16 transfers under way can come back",
	 "connection.md#ending",
	 {0},
	 0},
	{"restart/stamp",
	 "the next life of a node, with another stamp, is served",
	 "connection.md#from-an-operation-to-a-connection",
	 {0},
	 0},
};

/* The place of one number in a text; at most one. */
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
		const uint32_t count = families[i].numbers == 0 ? 1 : families[i].numbers;

		if (index >= count) {
			index -= count;
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
	char words[256], *rest = words;
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
};
