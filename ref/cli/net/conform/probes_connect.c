/* SPDX-License-Identifier: MIT */
#include <inttypes.h>

#include "cli/net/conform/conform.h"

/* Connection requests by themselves: what is asked for and what is granted.  Nothing is moved. */

#define TERMS "connection.md#negotiation"

static const struct o2_conn_params usual = {O2_MSG_VERSION_2, O2_QUEUE_DEPTH_V1, O2_MAX_FRAGS, O2_MSG_BYTES};

/* Check a CONNACK for what was asked: docs/connection.md, "Checks of a CONNACK". */
static void look_at_reply(struct o2_conform *conform, const struct o2_conn_params *offer,
			  const struct o2_conform_asked *asked)
{
	const struct o2_ni_config *ni = &conform->session.network.ni.config;
	const struct o2_connreq_self self = {.nid = ni->nid,
					     .incarnation = ni->incarnation,
					     .version = O2_MSG_VERSION_2,
					     .queue_depth = offer->queue_depth,
					     .max_frags = O2_MAX_FRAGS,
					     .registers = true,
					     .up = true};
	uint8_t bytes[O2_CM_REPLY_BYTES] = {0};
	struct o2_conn_params agreed;
	struct o2_error error;
	uint64_t stamp;
	char text[256];
	int length = asked->reply.ibm_type == 0
			     ? 0
			     : o2_msg_encode(&asked->reply, NULL, bytes, sizeof(bytes), NULL);

	if (length <= 0) {
		o2_conform_find(conform, "%s", asked->text);
		return;
	}
	if (o2_connack_judge(&self, offer, bytes, (size_t)length, &agreed, &stamp, &error) != 0) {
		o2_error_text(&error, text, sizeof(text));
		o2_conform_find(conform, "%s: %s", asked->text, text);
		return; /* a wrong reply's stamp is not used */
	}
	if (asked->reply.ibm_srcnid != conform->options->peer) {
		o2_conform_find(conform, "ibm_srcnid is 0x%" PRIx64 ", expected 0x%" PRIx64,
				asked->reply.ibm_srcnid, conform->options->peer);
	} else if (conform->stamp != 0 && conform->stamp != stamp) {
		o2_conform_find(conform, "ibm_srcstamp is 0x%" PRIx64 ", and was 0x%" PRIx64 " before", stamp,
				conform->stamp);
	}
	conform->stamp = stamp;
}

/* A request of the peer's may cross ours: then the peer refuses ours, but only so many times in a row. */
static bool ask(struct o2_conform *conform, const struct o2_conn_params *offer, uint64_t dststamp,
		struct o2_conform_asked *asked)
{
	uint32_t races = 0;

	do
		if (!o2_conform_ask(conform, offer, dststamp, asked))
			return false;
	while (asked->has_record && asked->record.ibr_why == O2_REJECT_CONN_RACE &&
	       races++ < O2_MAX_CONN_RACES);
	return true;
}

/* If an earlier probe used another version, the peer first rejects as stale, and then knows the new one. */
static bool ask_as_known(struct o2_conform *conform, const struct o2_conn_params *offer,
			 struct o2_conform_asked *asked)
{
	if (!ask(conform, offer, 0, asked))
		return false;
	return !asked->has_record || asked->record.ibr_why != O2_REJECT_CONN_STALE ||
	       ask(conform, offer, 0, asked);
}

/* A reject for a limit must name a limit that is less than was wanted, and each limit only once. */
static bool allows_less(const struct o2_reject *record, const struct o2_conn_params *wanted,
			struct o2_conn_params *offer)
{
	const uint16_t depth = record->ibr_cp.ibcp_queue_depth, frags = record->ibr_cp.ibcp_max_frags;

	if (record->ibr_why == O2_REJECT_MSG_QUEUE_SIZE && offer->queue_depth == wanted->queue_depth &&
	    depth >= O2_QUEUE_DEPTH_MIN && depth < wanted->queue_depth)
		offer->queue_depth = depth;
	else if (record->ibr_why == O2_REJECT_RDMA_FRAGS && offer->max_frags == wanted->max_frags &&
		 frags > 0 && frags < wanted->max_frags)
		offer->max_frags = frags;
	else
		return false;
	return true;
}

/*
 * Ask for *offer, and then for what the rejects allow: a reject names one limit, and both may be too high.
 * *offer: what was asked for last.
 */
static void ask_for(struct o2_conform *conform, struct o2_conn_params *offer)
{
	const struct o2_conn_params wanted = *offer;
	struct o2_conform_asked asked;

	if (!ask_as_known(conform, offer, &asked))
		return;
	while (!asked.accepted && asked.has_record && allows_less(&asked.record, &wanted, offer))
		if (!ask(conform, offer, asked.record.ibr_incarnation, &asked))
			return;
	if (asked.accepted)
		look_at_reply(conform, offer, &asked);
	else if (asked.has_record && asked.record.ibr_why == O2_REJECT_FATAL &&
		 asked.record.ibr_version == O2_MSG_VERSION_1)
		o2_conform_skip(conform, "it does not speak version 0x12: %s", asked.text);
	else if (offer->queue_depth == wanted.queue_depth && offer->max_frags == wanted.max_frags)
		o2_conform_find(conform, "%s", asked.text);
	else
		o2_conform_find(conform, "asked for what its reject allows (depth %u, %u fragments): %s",
				offer->queue_depth, offer->max_frags, asked.text);
}

static void ask_depth(struct o2_conform *conform, const struct o2_conform_probe *probe)
{
	struct o2_conn_params offer = usual;

	offer.queue_depth = (uint16_t)probe->value;
	ask_for(conform, &offer);
}

static void ask_frags(struct o2_conform *conform, const struct o2_conform_probe *probe)
{
	struct o2_conn_params offer = usual;

	offer.max_frags = (uint16_t)probe->value;
	ask_for(conform, &offer);
}

static void ask_size(struct o2_conform *conform, const struct o2_conform_probe *probe)
{
	struct o2_conn_params offer = usual;

	offer.max_msg_size = probe->value;
	ask_for(conform, &offer);
}

/* A node without version 0x11, or with limits below that version's, rejects with CONN_UNCOMPAT or FATAL. */
static void ask_version_1(struct o2_conform *conform, const struct o2_conform_probe *probe)
{
	struct o2_conn_params offer = usual;
	struct o2_conform_asked asked;

	offer.version = (uint16_t)probe->value;
	if (!ask_as_known(conform, &offer, &asked))
		return;
	if (asked.accepted)
		look_at_reply(conform, &offer, &asked);
	else if (asked.has_record &&
		 (asked.record.ibr_why == O2_REJECT_CONN_UNCOMPAT || asked.record.ibr_why == O2_REJECT_FATAL))
		o2_conform_skip(conform, "it does not speak it: %s", asked.text);
	else
		o2_conform_find(conform, "%s", asked.text);
}

/* The first request shows the peer's incarnation. */
static void ask_by_stamp(struct o2_conform *conform, const struct o2_conform_probe *probe)
{
	struct o2_conn_params offer = usual;
	struct o2_conform_asked asked;

	ask_for(conform, &offer);
	if (o2_conform_said(conform) || !ask(conform, &offer, conform->stamp + probe->value, &asked))
		return;
	if (probe->value == 0) {
		if (asked.accepted)
			look_at_reply(conform, &offer, &asked);
		else
			o2_conform_find(conform, "with its current incarnation: %s", asked.text);
	} else if (!asked.has_record || asked.record.ibr_why != O2_REJECT_CONN_STALE) {
		o2_conform_find(conform, "with another incarnation: %s; expected stale (reason %u)",
				asked.text, O2_REJECT_CONN_STALE);
	} else if (asked.record.ibr_incarnation != conform->stamp) {
		o2_conform_find(conform, "the record has incarnation 0x%" PRIx64 ", expected 0x%" PRIx64,
				asked.record.ibr_incarnation, conform->stamp);
	}
}

#define DEPTH(n)                                                                                          \
	{                                                                                                 \
		"connect/depth-" #n, "a depth of " #n " is granted, or rejected with one that is", TERMS, \
			.run = ask_depth, .value = n                                                      \
	}
#define FRAGS(n)                                                                                             \
	{                                                                                                    \
		"connect/frags-" #n, "a limit of " #n " fragments is granted, or rejected with one that is", \
			TERMS, .run = ask_frags, .value = n                                                  \
	}

const struct o2_conform_probe o2_conform_connect_probes[] = {
	DEPTH(2),
	DEPTH(3),
	DEPTH(4),
	DEPTH(8),
	DEPTH(16),
	DEPTH(32),
	DEPTH(128),
	DEPTH(255),
	FRAGS(1),
	FRAGS(2),
	FRAGS(16),
	FRAGS(255),
	FRAGS(256),
	FRAGS(257),
	{"connect/size-4096", "messages of 4096 bytes are granted", TERMS, .run = ask_size,
	 .value = O2_MSG_BYTES},
	{"connect/version-1", "a request in version 0x11 is answered in it", TERMS, .run = ask_version_1,
	 .value = O2_MSG_VERSION_1},
	{"connect/this-life", "a request for the incarnation that it has is accepted",
	 "connection.md#checks-of-a-request", .run = ask_by_stamp, .value = 0},
	{"connect/other-life", "a request for another incarnation is rejected as stale, with the one it has",
	 "connection.md#checks-of-a-request", .run = ask_by_stamp, .value = 1},
	{0},
};
