/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lnd/cm_loop.h"
#include "lnd/ni_counts.h"
#include "lnd/node.h"
#include "props/hostile_internal.h"

/*
 * Liars that ask for a connection, or answer when they are asked (docs/connection.md, "Negotiation").  The
 * victim is a node, and so is the honest one; the liar has a place in the connection manager's network and no
 * node.
 */

#define VICTIM_ADDRESS 0xc0a80a01u
#define LIAR_ADDRESS   0xc0a80a02u
#define FRIEND_ADDRESS 0xc0a80a03u
#define STEPS_AT_MOST  20000u

struct meeting {
	struct o2_hostile h; /* interfaces, and the liar's queue pair */
	struct o2_cm_loop *loop;
	struct o2_cm *cm[O2_HOSTILE_NIS];
	struct o2_node *node[O2_HOSTILE_NIS]; /* the liar has none */
	const struct o2_misbehaviour *what;
	/* What the liar was told. */
	struct o2_cm_id *id;
	bool established, rejected;
	struct o2_reject reject;
	/* What the victim was told. */
	uint32_t down;
	struct o2_transfer_fault fault;
	uint32_t received[O2_HOSTILE_NIS], done[O2_HOSTILE_NIS];
	int status;
};

static struct meeting *meeting_of(struct o2_hostile *h)
{
	return (struct meeting *)h;
}

static enum o2_hostile_ni who(const struct meeting *m, const void *context)
{
	return context == &m->received[O2_NI_VICTIM] ? O2_NI_VICTIM : O2_NI_FRIEND;
}

static struct meeting *at_hand; /* the functions below are given which node, not which meeting */

static int match(void *context, uint64_t nid, const struct o2_msg *request, uint64_t sink_bytes,
		 struct o2_transfer_memory *memory)
{
	(void)context;
	(void)nid;
	(void)request;
	(void)sink_bytes;
	(void)memory;
	return -ENODATA;
}

static int receive(void *context, uint64_t nid, const struct o2_msg *msg)
{
	(void)nid;
	(void)msg;
	at_hand->received[who(at_hand, context)]++;
	return 0;
}

static void done(void *context, uint64_t nid, const struct o2_transfer_result *result)
{
	(void)nid;
	at_hand->done[who(at_hand, context)]++;
	at_hand->status = result->status;
}

static void down(void *context, uint64_t nid, const struct o2_transfer_fault *fault)
{
	(void)context;
	if (nid != O2_LIAR_NID)
		return;
	at_hand->down++;
	at_hand->fault = *fault;
}

static const struct o2_node_ops ops = {.match = match, .receive = receive, .done = done, .down = down};

static int start_node(struct meeting *m, enum o2_hostile_ni which)
{
	struct o2_node_config config = O2_NODE_DEFAULTS;

	config.conn.max_transfers = 8;
	return o2_node_create(&m->h.ni[which], m->cm[which], &config, &ops, &m->received[which],
			      &m->node[which], NULL);
}

/* How the liar's request or reply is spoiled: set by the script, used when the time has come. */
static struct {
	uint32_t offset, width, length;
	uint64_t value;
} spoiled;

static int spoil(struct meeting *m, enum o2_msg_type type, uint8_t *bytes)
{
	struct o2_msg *msg = o2_liar_begin(&m->h, type);
	int length;

	msg->ibm_dststamp = type == O2_MSG_CONNACK ? O2_VICTIM_STAMP : 0;
	msg->u.connparams.ibcp_queue_depth = 8;
	msg->u.connparams.ibcp_max_frags = 257;
	msg->u.connparams.ibcp_max_msg_size = 4096;
	length = o2_msg_encode(msg, NULL, bytes, O2_CM_REQUEST_BYTES, NULL);
	for (uint32_t i = 0; i < spoiled.width; i++)
		bytes[spoiled.offset + i] = (uint8_t)(spoiled.value >> 8 * i);
	return spoiled.length != 0 ? (int)spoiled.length : length;
}

static void answer(struct meeting *m, struct o2_cm_id *id)
{
	uint8_t bytes[O2_CM_REQUEST_BYTES];
	struct o2_cm_param param = {m->h.liar.qp, 5, 6, 14, bytes, (size_t)spoil(m, O2_MSG_CONNACK, bytes)};

	m->id = id;
	id->cm->ops->accept(id, &param, NULL);
}

static void hear(void *context, const struct o2_cm_event *event)
{
	struct meeting *m = context;

	if (event->type == O2_CM_REQUEST) {
		answer(m, event->id);
	} else if (event->type == O2_CM_ESTABLISHED) {
		m->established = true;
	} else if (event->type == O2_CM_REJECTED) {
		m->rejected = true;
		o2_reject_decode(event->private_data, event->private_bytes, &m->reject, NULL);
	}
}

static void settle(struct meeting *m)
{
	uint32_t idle = 0;

	for (uint32_t step = 0; idle < 4; step++) {
		int busy = o2_liar_progress(&m->h);

		for (int i = 0; i < O2_HOSTILE_NIS; i++)
			busy += m->node[i] == NULL ? 0 : o2_node_progress(m->node[i]);
		busy += o2_cm_loop_deliver(m->loop, 0);
		idle = busy > 0 ? 0 : idle + 1;
		if (step > STEPS_AT_MOST) {
			m->h.endless = true;
			return;
		}
	}
}

static bool ask(struct o2_hostile *h, uint32_t offset, uint32_t width, uint64_t value, uint32_t length)
{
	struct meeting *m = meeting_of(h);
	struct o2_cm_target target = {VICTIM_ADDRESS, O2_SERVICE_PORT, true, 1000};
	uint8_t bytes[O2_CM_REQUEST_BYTES] = {0};
	struct o2_cm_param param = {h->liar.qp, 5, 6, 14, bytes, 0};

	spoiled.offset = offset;
	spoiled.width = width;
	spoiled.value = value;
	spoiled.length = length;
	param.private_bytes = (size_t)spoil(m, O2_MSG_CONNREQ, bytes);
	if (m->cm[O2_NI_LIAR]->ops->connect(m->cm[O2_NI_LIAR], &target, &param, m, &m->id, NULL) != 0)
		return false;
	settle(m);
	return true;
}

static bool be_asked(struct o2_hostile *h, uint32_t offset, uint32_t width, uint64_t value)
{
	struct meeting *m = meeting_of(h);
	struct o2_lnet_hdr hdr = {.dest_nid = O2_LIAR_NID, .src_nid = O2_VICTIM_NID, .type = O2_LNET_ACK};

	spoiled.offset = offset;
	spoiled.width = width;
	spoiled.value = value;
	spoiled.length = 0;
	if (o2_node_send_bytes(m->node[O2_NI_VICTIM], O2_LIAR_NID, &hdr, NULL, 0, 0, NULL) != 0)
		return false;
	settle(m);
	return true;
}

#define ASKS(name, offset, width, value, length)             \
	static bool name(struct o2_hostile *h)               \
	{                                                    \
		return ask(h, offset, width, value, length); \
	}
#define ANSWERS(name, offset, width, value)               \
	static bool name(struct o2_hostile *h)            \
	{                                                 \
		return be_asked(h, offset, width, value); \
	}

ASKS(asks_magic, O2_AT_MAGIC, 4, 0x12345678, 0)
ASKS(asks_checksum, O2_AT_CKSUM, 4, 0xdeadbeef, 0)
ASKS(asks_cut, O2_AT_NOB, 4, 55, 0)
ASKS(asks_other_nid, O2_AT_DSTNID, 1, 0x55, 0)
ASKS(asks_other_life, O2_AT_DSTSTAMP, 1, 0x55, 0)
ASKS(asks_with_connack, O2_AT_TYPE, 1, O2_MSG_CONNACK, 0)
ASKS(asks_depth_9, O2_AT_QUEUE_DEPTH, 2, 9, 0)
ASKS(asks_depth_1, O2_AT_QUEUE_DEPTH, 2, 1, 0)
ASKS(asks_depth_0, O2_AT_QUEUE_DEPTH, 2, 0, 0)
ASKS(asks_frags_258, O2_AT_MAX_FRAGS, 2, 258, 0)
ASKS(asks_frags_0, O2_AT_MAX_FRAGS, 2, 0, 0)
ASKS(asks_large, O2_AT_MAX_MSG_SIZE, 4, 8192, 0)
ASKS(asks_small, O2_AT_MAX_MSG_SIZE, 4, 147, 0)
ASKS(asks_as_another, O2_AT_SRCNID, 1, 0x63, 0)

ANSWERS(replies_magic, O2_AT_MAGIC, 4, 0x12345678)
ANSWERS(replies_request, O2_AT_TYPE, 1, O2_MSG_CONNREQ)
ANSWERS(replies_version, O2_AT_VERSION, 2, O2_MSG_VERSION_1)
ANSWERS(replies_depth_9, O2_AT_QUEUE_DEPTH, 2, 9)
ANSWERS(replies_depth_1, O2_AT_QUEUE_DEPTH, 2, 1)
ANSWERS(replies_frags_258, O2_AT_MAX_FRAGS, 2, 258)
ANSWERS(replies_frags_0, O2_AT_MAX_FRAGS, 2, 0)
ANSWERS(replies_large, O2_AT_MAX_MSG_SIZE, 4, 8192)
ANSWERS(replies_small, O2_AT_MAX_MSG_SIZE, 4, 147)
ANSWERS(replies_other_nid, O2_AT_DSTNID, 1, 0x55)
ANSWERS(replies_other_life, O2_AT_DSTSTAMP, 1, 0x55)

#define REQUEST(name, text, rule, why, script)                                                   \
	{                                                                                        \
		name, "request", text, rule, "connection.md", O2_REACT_REJECT, why, NULL, script \
	}
#define REPLY(name, text, rule, code, script)                                                 \
	{                                                                                     \
		name, "reply", text, rule, "connection.md", O2_REACT_FAIL, code, NULL, script \
	}

const struct o2_misbehaviour o2_hostile_connreq[] = {
	REQUEST("asks-magic", "asks in another protocol", "wire/header/magic", O2_REJECT_FATAL, asks_magic),
	REQUEST("asks-checksum", "asks with a wrong checksum", "wire/header/checksum", O2_REJECT_FATAL,
		asks_checksum),
	REQUEST("asks-cut", "a request whose last byte is cut", "wire/connreq/nob-under-minimum",
		O2_REJECT_FATAL, asks_cut),
	REQUEST("asks-for-another", "asks for another node", "connreq/dstnid", O2_REJECT_FATAL,
		asks_other_nid),
	REQUEST("asks-other-life", "asks for another life of its victim", "connreq/dststamp",
		O2_REJECT_CONN_STALE, asks_other_life),
	REQUEST("asks-with-connack", "asks with what is an answer", "connreq/type", O2_REJECT_FATAL,
		asks_with_connack),
	REQUEST("asks-depth-9", "asks for a deeper queue than there is", "connreq/queue-depth-over",
		O2_REJECT_MSG_QUEUE_SIZE, asks_depth_9),
	REQUEST("asks-depth-1", "asks for a queue that one message fills", "connreq/queue-depth-under",
		O2_REJECT_MSG_QUEUE_SIZE, asks_depth_1),
	REQUEST("asks-depth-0", "asks for no queue", "connreq/queue-depth-under", O2_REJECT_MSG_QUEUE_SIZE,
		asks_depth_0),
	REQUEST("asks-frags-258", "asks for 258 fragments", "connreq/max-frags-over", O2_REJECT_RDMA_FRAGS,
		asks_frags_258),
	REQUEST("asks-frags-0", "asks for no fragments", "connreq/max-frags-zero", O2_REJECT_RDMA_FRAGS,
		asks_frags_0),
	REQUEST("asks-large", "asks for messages of 8192 bytes", "connreq/max-msg-size-over", O2_REJECT_FATAL,
		asks_large),
	REQUEST("asks-small", "asks for messages that hold no request", "connreq/max-msg-size-under",
		O2_REJECT_FATAL, asks_small),
	REQUEST("asks-as-another", "asks under another node's address", "connreq/srcnid-address",
		O2_REJECT_FATAL, asks_as_another),
	{.name = NULL},
};

const struct o2_misbehaviour o2_hostile_connack[] = {
	REPLY("replies-magic", "answers in another protocol", "wire/header/magic", -EPROTO, replies_magic),
	REPLY("replies-request", "answers with a request", "connack/type", -EPROTO, replies_request),
	REPLY("replies-version", "answers in another version than it was asked in", "connack/version",
	      -EPROTO, replies_version),
	REPLY("replies-depth-9", "accepts a deeper queue than was asked for", "connack/queue-depth-over",
	      -EPROTO, replies_depth_9),
	REPLY("replies-depth-1", "accepts a queue that one message fills", "connack/queue-depth-under",
	      -EPROTO, replies_depth_1),
	REPLY("replies-frags-258", "accepts more fragments than were asked for", "connack/max-frags-over",
	      -EPROTO, replies_frags_258),
	REPLY("replies-frags-0", "accepts no fragments", "connack/max-frags-zero", -EPROTO, replies_frags_0),
	REPLY("replies-large", "wants messages of 8192 bytes", "connack/max-msg-size-over", -EPROTO,
	      replies_large),
	REPLY("replies-small", "wants messages that hold no request", "connack/max-msg-size-under", -EPROTO,
	      replies_small),
	REPLY("replies-to-another", "answers another node", "connack/dstnid", -ESTALE, replies_other_nid),
	REPLY("replies-other-life", "answers another life of its victim", "connack/dststamp", -ESTALE,
	      replies_other_life),
	{.name = NULL},
};

static int open_meeting(struct meeting *m)
{
	static const uint32_t addresses[] = {VICTIM_ADDRESS, LIAR_ADDRESS, FRIEND_ADDRESS};
	int rc = 0;

	m->loop = o2_cm_loop_create();
	if (m->loop == NULL)
		return -ENOMEM;
	for (int i = 0; i < O2_HOSTILE_NIS && rc == 0; i++) {
		rc = o2_hostile_ni_open(&m->h.ni[i], (enum o2_hostile_ni)i);
		if (rc == 0)
			rc = o2_cm_loop_attach(m->loop, &m->h.ni[i], addresses[i], &m->cm[i], NULL);
	}
	if (rc == 0)
		rc = o2_liar_open(&m->h);
	if (rc != 0)
		return rc;
	m->cm[O2_NI_LIAR]->handler = hear;
	m->cm[O2_NI_LIAR]->context = m;
	rc = m->cm[O2_NI_LIAR]->ops->listen(m->cm[O2_NI_LIAR], O2_SERVICE_PORT, NULL);
	if (rc == 0)
		rc = start_node(m, O2_NI_VICTIM);
	return rc == 0 ? start_node(m, O2_NI_FRIEND) : rc;
}

static void close_meeting(struct meeting *m)
{
	for (int i = 0; i < O2_HOSTILE_NIS; i++)
		o2_node_destroy(m->node[i]);
	if (m->id != NULL)
		m->id->cm->ops->destroy(m->id);
	while (m->loop != NULL && o2_cm_loop_deliver(m->loop, 0))
		;
	o2_liar_close(&m->h);
	for (int i = 0; i < O2_HOSTILE_NIS; i++) {
		if (m->cm[i] != NULL)
			o2_cm_loop_detach(m->cm[i]);
		o2_ni_close(&m->h.ni[i]);
	}
	if (m->loop != NULL)
		o2_cm_loop_destroy(m->loop);
	free(m);
}

static bool met(const struct meeting *m, char *why)
{
	const struct o2_misbehaviour *what = m->what;
	const char *rule = m->fault.error.rule == NULL ? "-" : m->fault.error.rule;

	if (what->reaction == O2_REACT_REJECT) {
		snprintf(why, 200, "rejected %d with reason %u, expected %d", m->rejected, m->reject.ibr_why,
			 what->code);
		return m->rejected && !m->established && m->reject.ibr_why == what->code;
	}
	snprintf(why, 200, "down %u times, the last with %d by %s; expected %d by %s", m->down, m->fault.code,
		 rule, what->code, what->rule);
	return m->down == 1 && m->done[O2_NI_VICTIM] == 1 && m->status < 0 && m->fault.code == what->code &&
	       strcmp(rule, what->rule) == 0;
}

/* The friend still reaches the victim. */
static bool friend_works(struct meeting *m)
{
	struct o2_lnet_hdr hdr = {.dest_nid = O2_VICTIM_NID, .src_nid = O2_FRIEND_NID, .type = O2_LNET_ACK};
	uint32_t before = m->received[O2_NI_VICTIM];

	if (o2_node_send_bytes(m->node[O2_NI_FRIEND], O2_VICTIM_NID, &hdr, NULL, 0, 0, NULL) != 0)
		return false;
	settle(m);
	return m->received[O2_NI_VICTIM] == before + 1 && m->done[O2_NI_FRIEND] == 1 && m->status == 0;
}

bool o2_hostile_try_meeting(const struct o2_misbehaviour *what, char *why)
{
	struct meeting *m = calloc(1, sizeof(*m));
	struct o2_error error;
	bool held = false;

	if (m == NULL)
		return false;
	at_hand = m;
	m->what = what;
	snprintf(why, 200, "the liar could not speak");
	if (open_meeting(m) == 0 && what->script(&m->h))
		held = met(m, why);
	if (held && (m->h.endless || !friend_works(m))) {
		snprintf(why, 200, "the friend cannot reach the victim any more");
		held = false;
	}
	for (int i = 0; held && i < O2_HOSTILE_NIS; i++) {
		o2_node_destroy(m->node[i]);
		m->node[i] = NULL;
	}
	if (held && o2_ni_check_idle(&m->h.ni[O2_NI_VICTIM], &error) != 0) {
		o2_error_text(&error, why, 200);
		held = false;
	}
	close_meeting(m);
	return held;
}
