/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "lst/rpc_internal.h"
#include "props/lst/lst_internal.h"
#include "wire/bytes.h"

/* A network that loses, duplicates and changes messages. */

/* docs/lst.md, "The message" */
#define VERSION_AT 4u
#define FEATS_AT   20u
#define RPYID_AT   24u

/* docs/lst.md, "Services" */
#define TESTS_PORTAL	 50u
#define FRAMEWORK_PORTAL 51u
#define BRW		 11u
#define PING		 12u
#define NO_ACK		 UINT64_MAX

void o2_lst_check_put(struct o2_report *report, const struct o2_letter *letter)
{
	const uint64_t service = letter->hdr.msg.put.match_bits;
	const uint32_t portal = letter->hdr.msg.put.ptl_index, offset = letter->hdr.msg.put.offset;
	const struct o2_lnet_handle ack = letter->hdr.msg.put.ack_wmd;

	if (letter->hdr.type == O2_LNET_ACK)
		o2_report_fail(report, "lst/put", "a reply or bulk is acknowledged");
	if (letter->hdr.type != O2_LNET_PUT)
		return;
	if (portal != O2_LST_REPLY_PORTAL &&
	    portal != (service == BRW || service == PING ? TESTS_PORTAL : FRAMEWORK_PORTAL))
		o2_report_fail(report, "lst/portal",
			       "a request to service %" PRIu64 " goes to portal %" PRIu32, service, portal);
	if (offset != 0 || letter->hdr.msg.put.hdr_data != 0 || ack.wh_interface_cookie != NO_ACK ||
	    ack.wh_object_cookie != NO_ACK)
		o2_report_fail(report, "lst/put",
			       "a PUT to portal %" PRIu32 " has offset %" PRIu32 " or data, or wants an ACK",
			       portal, offset);
}

/* What a letter means to a service. */
enum letter { NO_REQUEST, REQUEST, OF_OTHER_VERSION, NONSENSE };

static bool is_to_service(const struct o2_letter *letter)
{
	const uint64_t service = letter->hdr.msg.put.match_bits;
	const uint32_t portal = letter->hdr.msg.put.ptl_index;

	return letter->kind == O2_LETTER_IMMEDIATE && letter->hdr.type == O2_LNET_PUT &&
	       (portal == O2_LST_PORTAL_FRAMEWORK || portal == O2_LST_PORTAL_TEST) &&
	       o2_lst_request_type(service) >= 0;
}

static bool is_reply(const struct o2_letter *letter)
{
	return letter->hdr.type == O2_LNET_PUT && letter->hdr.msg.put.ptl_index == O2_LST_REPLY_PORTAL;
}

static enum letter kind_of(const struct o2_letter *letter, struct o2_lst_msg *msg)
{
	const uint64_t service = letter->hdr.msg.put.match_bits;
	struct o2_error error = {.code = 0};
	bool other_version;
	int rc;

	if (!is_to_service(letter))
		return NO_REQUEST;
	rc = o2_lst_msg_decode(letter->payload, letter->hdr.payload_length, msg, &error);
	other_version = rc != 0 && strcmp(error.rule, "lst/version") == 0;
	if ((rc != 0 && !other_version) || o2_lst_request_type(service) != (int)msg->msg_type)
		return NONSENSE;
	return other_version ? OF_OTHER_VERSION : REQUEST;
}

/* The match bits for the reply, as the console has written them. */
static uint64_t rpyid_of(const struct o2_letter *letter)
{
	return o2_load64(letter->payload + RPYID_AT, O2_LITTLE_ENDIAN);
}

static void judge(struct o2_lst_case *the, const struct o2_letter *letter, enum letter kind,
		  const struct o2_lst_msg *msg, int expected, uint32_t before)
{
	if (kind == OF_OTHER_VERSION)
		o2_lst_check_version(the, msg);
	else if (kind == NONSENSE || expected == O2_LST_SILENCE)
		o2_lst_check_silence(the, rpyid_of(letter), before);
	else if (expected >= 0)
		o2_lst_check_answer(the, msg, expected);
	else if (msg->msg_type == O2_LST_TEST_REQST)
		o2_lst_account_test(the, msg);
}

/* Not predicted: whether it has an unknown operation, which is not answered. */
static bool is_open(enum letter kind, const struct o2_lst_msg *msg, int expected)
{
	return kind == REQUEST && msg->msg_type == O2_LST_BATCH_REQST && expected == O2_LST_UNKNOWN;
}

/* Deliver an IMMEDIATE, and check its effect against the model. */
static void receive(struct o2_lst_case *the, const struct o2_letter *letter)
{
	struct o2_lnet_side *to = letter->from->peer;
	struct o2_lst_msg msg;
	const enum letter kind = to == &the->lnet.b ? kind_of(letter, &msg) : NO_REQUEST;
	/* A request beyond the maximum served at a time is dropped. */
	const bool served = the->b.node->rpc->nfree_served > 0;
	const int expected = kind == REQUEST && served ? o2_lst_account_of(the, &msg) : O2_LST_UNKNOWN;
	/* shut: the node's own sends fail while this arrives; LNet's automatic answers are still sent. */
	const bool shut = kind != NO_REQUEST && the->held.count == 0 && !is_open(kind, &msg, expected) &&
			  o2_draw_bool(the->choice, 40, 1);
	const uint32_t before = o2_lst_answers(the, rpyid_of(letter));
	struct o2_lst_before all = {0};

	if (kind == REQUEST)
		all = o2_lst_served_before(the, &msg);
	to->nevents = 0;
	to->refuse = shut ? -ENETUNREACH : 0;
	o2_lnet_receive(to->lnet, letter->from->nid, &letter->hdr, letter->payload, &to->error);
	to->refuse = 0;
	the->seen[NODE_SHUT] += shut && expected >= 0;
	the->seen[NODE_BUSY] += kind != NO_REQUEST && !served;
	if (kind == REQUEST && served)
		o2_lst_served_arrives(the, &msg, letter->hdr.src_pid, expected, shut, &all);
	the->replies_unsent += kind == OF_OTHER_VERSION && served && shut;
	if (kind != NO_REQUEST && (shut || !served))
		o2_lst_check_silence(the, rpyid_of(letter), before);
	else if (kind != NO_REQUEST)
		judge(the, letter, kind, &msg, expected, before);
}

/* Change a request: only fields other than the ids, so that answers still reach the console. */
static void change(struct o2_lst_case *the, struct o2_letter *letter)
{
	struct o2_lst_msg msg;
	uint32_t at;

	if (kind_of(letter, &msg) != REQUEST || msg.msg_type == O2_LST_BRW_REQST)
		return;
	the->seen[CHANGED]++;
	if (o2_draw_bool(the->choice, 2, 1)) {
		at = msg.msg_type == O2_LST_PING_REQST ? VERSION_AT + o2_lst_draw(the, 3)
						       : o2_lst_draw(the, FEATS_AT - 1);
		letter->payload[at] ^= (uint8_t)(1u << o2_lst_draw(the, 7));
		return;
	}
	at = FEATS_AT + o2_lst_draw(the, 3);
	letter->payload[at] ^= (uint8_t)(1u << o2_lst_draw(the, 7));
	if (o2_draw_bool(the->choice, 1, 1)) {
		at = 40 + o2_lst_draw(the, 53);
		letter->payload[at] ^= (uint8_t)(1u << o2_lst_draw(the, 7));
	}
}

static void deliver_transfer(struct o2_lst_case *the, struct o2_lnet_side *side, bool fails)
{
	side->fail_transfer = fails ? -EIO : 0;
	o2_lnet_deliver(side);
	side->fail_transfer = 0;
	the->seen[TRANSFER_FAILED] += fails;
}

static void forget_told(struct o2_lst_case *the)
{
	the->lnet.a.nevents = the->lnet.b.nevents = 0;
	the->lnet.a.nresults = the->lnet.b.nresults = 0;
}

/* The letter has left its sender, or could not. */
static void finish(struct o2_lst_case *the, const struct o2_letter *letter, int status)
{
	o2_lst_served_goes(the, letter, status == 0);
	o2_lnet_finished(letter->from->lnet, letter->tag, status, 0, NULL);
	if (status == 0)
		o2_lst_served_gone(the, letter);
}

void o2_lst_deliver(struct o2_lst_case *the)
{
	static const uint32_t fates[] = {17, 1, 1, 1}; /* weights: delivered, lost, changed, duplicated */
	struct o2_lnet_side *side = o2_draw_bool(the->choice, 1, 1) ? &the->lnet.b : &the->lnet.a;
	const size_t fate = o2_draw_weighted(the->choice, fates, 4);
	static struct o2_letter letter;

	if (side->nletters == 0)
		side = side->peer;
	if (side->nletters == 0)
		return;
	forget_told(the);
	letter = side->letter[0];
	o2_lst_check_put(the->report, &letter);
	if (letter.kind != O2_LETTER_IMMEDIATE) {
		o2_lst_served_goes(the, &letter, fate == 0);
		deliver_transfer(the, side, fate != 0);
		if (fate == 0)
			o2_lst_served_gone(the, &letter);
		return;
	}
	o2_lnet_take_letter(side);
	if (fate == 1) {
		const bool known = o2_draw_bool(the->choice, 1, 1);

		the->seen[LOST]++;
		finish(the, &letter, known ? -ECONNABORTED : 0);
		return;
	}
	if (fate == 2)
		change(the, &letter);
	if (side == &the->lnet.a && is_to_service(&letter) && o2_draw_bool(the->choice, 15, 1)) {
		letter.hdr.src_pid++;
		the->seen[OTHER_PID]++;
	}
	if (side == &the->lnet.b && is_reply(&letter) && o2_draw_bool(the->choice, 15, 1))
		letter.hdr.msg.put.ack_wmd = (struct o2_lnet_handle){1, 1}; /* it gets no ACK all the same */
	receive(the, &letter);
	if (fate == 3) {
		the->seen[DOUBLED]++;
		receive(the, &letter);
	}
	finish(the, &letter, 0);
}

void o2_lst_deliver_all(struct o2_lst_case *the)
{
	while (the->lnet.a.nletters + the->lnet.b.nletters > 0) {
		struct o2_lnet_side *side = the->lnet.a.nletters > 0 ? &the->lnet.a : &the->lnet.b;

		forget_told(the);
		o2_lst_served_goes(the, &side->letter[0], true);
		o2_lnet_deliver(side);
		o2_lst_served_check(the);
	}
}
