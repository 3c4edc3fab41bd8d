/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "lst/wire/range.h"
#include "mem/kmap.h"
#include "props/lst/lst_internal.h"

/*
 * The model of a console: predicts the result of each of its RPCs from the letters in both directions and
 * the clock.  It does not look at the state of the RPCs themselves.
 */

#define PAGE_BYTES 4096u
#define WORD_BYTES 8u
#define DEST_BYTES 12u

static bool is_request(const struct o2_letter *letter, struct o2_lst_msg *msg)
{
	return letter->kind == O2_LETTER_IMMEDIATE && letter->hdr.type == O2_LNET_PUT &&
	       o2_lst_msg_decode(letter->payload, letter->hdr.payload_length, msg, NULL) == 0;
}

bool o2_talk_has_bulk(const struct o2_talk_asked *asked)
{
	return asked->msg.msg_type == O2_LST_BRW_REQST ||
	       (asked->msg.msg_type == O2_LST_TEST_REQST && asked->msg.u.test_reqst.tsr_is_client != 0);
}

/* Bytes of the bulk: of a read or write, or of a list of one destination. */
uint32_t o2_talk_bulk_bytes(const struct o2_talk_asked *asked)
{
	return asked->msg.msg_type == O2_LST_BRW_REQST ? asked->msg.u.brw_reqst.brw_len : DEST_BYTES;
}

static struct o2_talk_asked *find(struct o2_lst_talk *talk, uint64_t match_bits, bool bulk)
{
	for (uint32_t i = 0; i < talk->nasked; i++) {
		struct o2_talk_asked *asked = &talk->asked[i];

		if (!bulk && asked->msg.u.reqst.rpyid == match_bits)
			return asked;
		if (bulk && o2_talk_has_bulk(asked) && asked->msg.u.reqst.bulkid == match_bits)
			return asked;
	}
	return NULL;
}

static void check_range(struct o2_lst_talk *talk, const struct o2_lst_msg *msg)
{
	struct o2_error error;
	char text[200];

	if (o2_lst_range_check(msg, &error) == 0)
		return;
	o2_error_text(&error, text, sizeof(text));
	o2_report_fail(talk->report, "lst/console-range", "the console asks for what may not be: %s", text);
}

/* Enter a request.  Lanes began their tests in the order in which the requests were sent. */
static void enter(struct o2_lst_talk *talk, const struct o2_lst_msg *msg)
{
	struct o2_talk_asked *asked = &talk->asked[talk->nasked];

	*asked = (struct o2_talk_asked){.msg = *msg, .asked_ms = talk->now_ms};
	asked->is_test = o2_lst_service_of_type(msg->msg_type) > O2_LST_SERVICE_FRAMEWORK_END;
	if (asked->is_test && talk->nbegun == 0)
		o2_report_fail(talk->report, "lst/console-count",
			       "a request of the test is sent, and no RPC has begun");
	if (asked->is_test && talk->nbegun > 0) {
		talk->lane[talk->begun[0]] = talk->nasked;
		memmove(talk->begun, talk->begun + 1, --talk->nbegun * sizeof(talk->begun[0]));
	}
	talk->nasked++;
	if (msg->msg_type == O2_LST_DEBUG_REQST) {
		talk->seen[CONSOLE_ALIVE]++;
		o2_talk_check_early(talk);
	}
	check_range(talk, msg);
	o2_talk_check_request(talk, msg);
	if (msg->u.reqst.rpyid == 0 || (o2_talk_has_bulk(asked) && msg->u.reqst.bulkid == 0))
		o2_report_fail(talk->report, "lst/console-number",
			       "a request of type %" PRIu32 " has number 0", msg->msg_type);
}

void o2_talk_enter(struct o2_lst_talk *talk)
{
	struct o2_lst_msg msg;

	/* A request may depend on what has arrived: account for that first. */
	o2_talk_listen(talk);
	for (uint32_t i = 0; i < talk->a->nletters && talk->nasked < O2_TALK_ASKED; i++)
		if (is_request(&talk->a->letter[i], &msg) && find(talk, msg.u.reqst.rpyid, false) == NULL) {
			o2_lst_check_put(talk->report, &talk->a->letter[i]);
			enter(talk, &msg);
		}
}

/* --- what has come --- */

/* True if the RPC waits for nothing more: an invalid reply ends it at once, others once its request was sent. */
static bool is_complete(const struct o2_talk_asked *asked)
{
	if (!asked->replied || !asked->valid)
		return asked->replied;
	return asked->sent && (asked->reply.u.reply.status != 0 || !o2_talk_has_bulk(asked) || asked->moved);
}

bool o2_talk_is_open(const struct o2_talk_asked *asked)
{
	return !asked->ended && !asked->doomed && !is_complete(asked);
}

/* Take the first reply that fits the memory for it. */
static void take_reply(struct o2_lst_talk *talk, struct o2_talk_asked *asked, const struct o2_letter *letter,
		       bool fails)
{
	struct o2_error error = {.code = 0};
	uint8_t bytes[O2_LST_MSG_BYTES];
	int rc;

	talk->seen[CONSOLE_LATE] += !o2_talk_is_open(asked);
	if (!o2_talk_is_open(asked) || asked->replied || letter->hdr.payload_length > O2_LST_MSG_BYTES)
		return;
	if (letter->kind != O2_LETTER_IMMEDIATE && fails) {
		asked->doomed = true;
		asked->doom = -EIO;
		talk->seen[CONSOLE_REPLY_FAILED]++;
		return;
	}
	asked->replied = true;
	if (letter->kind == O2_LETTER_IMMEDIATE)
		memcpy(bytes, letter->payload, letter->hdr.payload_length);
	else
		o2_copy_from_buffer(&talk->b->arena, &letter->memory.buffer, bytes, NULL);
	rc = o2_lst_msg_decode(bytes, letter->hdr.payload_length, &asked->reply, &error);
	/* The version in a reply is ignored. */
	asked->valid = (rc == 0 || strcmp(error.rule, "lst/version") == 0) &&
		       asked->reply.msg_type == asked->msg.msg_type + 1;
}

/* Take the first bulk in the requested direction that fits the memory for it. */
static void take_bulk(struct o2_lst_talk *talk, struct o2_talk_asked *asked, const struct o2_letter *letter,
		      bool fails)
{
	static uint8_t bytes[O2_MAX_TRANSFER_BYTES];
	const bool is_put = letter->hdr.type == O2_LNET_PUT;
	const uint32_t length = is_put ? letter->hdr.payload_length : letter->hdr.msg.get.sink_length;
	const bool by_rdma = letter->kind != O2_LETTER_IMMEDIATE;

	if (!o2_talk_is_open(asked) || asked->moving || length > o2_talk_bulk_bytes(asked) ||
	    is_put != (asked->msg.msg_type == O2_LST_BRW_REQST &&
		       asked->msg.u.brw_reqst.brw_rw == O2_LST_BRW_READ))
		return;
	asked->moving = true;
	asked->doomed = fails;
	asked->doom = fails ? -EIO : 0;
	asked->moved_bytes = length;
	asked->moved = !fails && (is_put || by_rdma);
	if (!is_put)
		asked->handle = letter->hdr.msg.get.return_wmd.wh_object_cookie;
	if (!is_put || fails)
		return;
	if (by_rdma)
		o2_copy_from_buffer(&talk->b->arena, &letter->memory.buffer, bytes, NULL);
	else
		memcpy(bytes, letter->payload, length);
	o2_talk_look(talk, asked, bytes);
}

/* A GET by IMMEDIATE ends when its REPLY has been sent; code: the console is told that the REPLY was lost. */
static void end_get(struct o2_lst_talk *talk, const struct o2_letter *letter, int code)
{
	for (uint32_t i = 0; i < talk->nasked; i++) {
		struct o2_talk_asked *asked = &talk->asked[i];

		if (!asked->moving || asked->moved || asked->doomed ||
		    asked->handle != letter->hdr.msg.reply.dst_wmd.wh_object_cookie)
			continue;
		asked->moved = code == 0;
		asked->doomed = code != 0 && !is_complete(asked);
		asked->doom = asked->doomed ? code : 0;
		if (code == 0 && asked->msg.msg_type == O2_LST_TEST_REQST)
			o2_talk_check_list(talk, letter->payload, letter->hdr.payload_length);
	}
}

void o2_talk_arrives(struct o2_lst_talk *talk, const struct o2_letter *letter, bool fails)
{
	const struct o2_lnet_hdr *hdr = &letter->hdr;
	struct o2_talk_asked *asked;
	struct o2_lst_msg msg;

	if (letter->from == talk->a) {
		asked = is_request(letter, &msg) ? find(talk, msg.u.reqst.rpyid, false) : NULL;
		if (asked != NULL)
			asked->arrived = asked->sent = true;
		if (hdr->type == O2_LNET_REPLY)
			end_get(talk, letter, 0);
		return;
	}
	if (hdr->type == O2_LNET_PUT) {
		asked = find(talk, hdr->msg.put.match_bits, false);
		if (asked != NULL)
			take_reply(talk, asked, letter, fails);
	}
	if (hdr->type != O2_LNET_PUT && hdr->type != O2_LNET_GET)
		return;
	asked = find(talk, hdr->type == O2_LNET_PUT ? hdr->msg.put.match_bits : hdr->msg.get.match_bits,
		     true);
	if (asked != NULL)
		take_bulk(talk, asked, letter, fails);
}

void o2_talk_is_lost(struct o2_lst_talk *talk, const struct o2_letter *letter, int code)
{
	struct o2_lst_msg msg;
	struct o2_talk_asked *asked;

	if (letter->from != talk->a)
		return;
	if (letter->hdr.type == O2_LNET_REPLY)
		end_get(talk, letter, code);
	asked = is_request(letter, &msg) ? find(talk, msg.u.reqst.rpyid, false) : NULL;
	if (asked == NULL)
		return;
	asked->sent = true;
	/* A request that was answered has been sent. */
	if (code != 0 && !asked->replied && o2_talk_is_open(asked))
		asked->doom = code;
	asked->doomed |= code != 0 && !asked->replied;
}

void o2_talk_clock(struct o2_lst_talk *talk)
{
	for (uint32_t i = 0; i < talk->nasked; i++) {
		struct o2_talk_asked *asked = &talk->asked[i];

		if (talk->now_ms - asked->asked_ms < O2_TALK_TIMEOUT_MS || !o2_talk_is_open(asked))
			continue;
		asked->doomed = true;
		asked->doom = -ETIMEDOUT;
		talk->nexpired++;
		talk->seen[CONSOLE_HALF_ANSWERED] += asked->replied;
	}
}

void o2_talk_is_down(struct o2_lst_talk *talk, int code)
{
	for (uint32_t i = 0; i < talk->nasked; i++) {
		struct o2_talk_asked *asked = &talk->asked[i];

		if (!o2_talk_is_open(asked))
			continue;
		asked->doomed = true;
		asked->doom = code;
		talk->seen[CONSOLE_DOWN]++;
	}
}

void o2_talk_cancel(struct o2_lst_talk *talk)
{
	/* The first request is abandoned too (whether the node has a session remains unknown), and the second time any. */
	const bool first = talk->nasked == 1, all = talk->stopped || first;

	talk->seen[CONSOLE_MAKE_CANCELED] += first && o2_talk_is_open(&talk->asked[0]);
	talk->stopped = talk->canceled = true;
	for (uint32_t i = 0; i < talk->nasked; i++)
		if ((all || talk->asked[i].is_test) && o2_talk_is_open(&talk->asked[i])) {
			talk->asked[i].doomed = true;
			talk->asked[i].doom = -ECANCELED;
		}
}

/* --- what the console makes of it --- */

static enum o2_lst_outcome outcome_of(const struct o2_lst_talk *talk, const struct o2_talk_asked *asked)
{
	const struct o2_lst_test *test = &talk->config.test;
	const struct o2_lst_ping_reply *ping = &asked->reply.u.ping_reply;

	if (!asked->valid)
		return O2_LST_FAIL_MALFORMED;
	if (asked->reply.u.reply.status != 0)
		return O2_LST_FAIL_STATUS;
	if (!o2_talk_has_bulk(asked))
		return ping->pnr_magic == O2_LST_PING_MAGIC &&
				       ping->pnr_seq == asked->msg.u.ping_reqst.pnr_seq
			       ? O2_LST_WELL
			       : O2_LST_FAIL_ANSWER;
	if (asked->moved_bytes != test->len)
		return O2_LST_FAIL_LENGTH;
	if (test->rw == O2_LST_BRW_READ && asked->wrong[asked->reply.order])
		return O2_LST_FAIL_DATA;
	return O2_LST_WELL;
}

static void count_well(struct o2_lst_talk *talk, const struct o2_talk_asked *asked)
{
	const bool is_read = o2_talk_has_bulk(asked) && talk->config.test.rw == O2_LST_BRW_READ;

	talk->seen[!o2_talk_has_bulk(asked) ? CONSOLE_PING : is_read ? CONSOLE_READ : CONSOLE_WRITE]++;
	talk->seen[CONSOLE_BIG] += asked->reply.order == O2_BIG_ENDIAN;
	talk->seen[CONSOLE_UNSEEN] += is_read && asked->unseen;
}

static void count(struct o2_lst_talk *talk, enum o2_lst_outcome outcome)
{
	static const enum o2_lst_situation of[O2_LST_OUTCOMES] = {
		[O2_LST_CANCELED] = CONSOLE_CANCELED,	 [O2_LST_FAIL_LOCAL] = CONSOLE_TRANSPORT,
		[O2_LST_FAIL_TIMEOUT] = CONSOLE_TIMEOUT, [O2_LST_FAIL_MALFORMED] = CONSOLE_MALFORMED,
		[O2_LST_FAIL_STATUS] = CONSOLE_STATUS,	 [O2_LST_FAIL_ANSWER] = CONSOLE_ANSWER,
		[O2_LST_FAIL_LENGTH] = CONSOLE_LENGTH,	 [O2_LST_FAIL_DATA] = CONSOLE_DATA,
	};

	if (outcome != O2_LST_WELL)
		talk->seen[of[outcome]]++;
}

static enum o2_lst_outcome outcome_of_doom(int doom)
{
	if (doom == -ETIMEDOUT)
		return O2_LST_FAIL_TIMEOUT;
	return doom == -ECANCELED ? O2_LST_CANCELED : O2_LST_FAIL_LOCAL;
}

/* How an RPC that is over must end, and its status. */
static enum o2_lst_outcome foretell(const struct o2_lst_talk *talk, const struct o2_talk_asked *asked,
				    int *status)
{
	const uint32_t replied = asked->reply.u.reply.status;
	const enum o2_lst_outcome outcome =
		asked->doomed ? outcome_of_doom(asked->doom) : outcome_of(talk, asked);

	if (asked->doomed)
		*status = asked->doom;
	else if (outcome == O2_LST_FAIL_STATUS)
		*status = replied <= INT32_MAX ? -(int)replied : -EPROTO;
	else
		*status = outcome == O2_LST_WELL ? 0 : -EBADMSG;
	return outcome;
}

/* A bulk under way may still move while its RPC ends, so then the bytes are not predicted. */
static void check_numbers(struct o2_lst_talk *talk, const struct o2_talk_asked *asked,
			  const struct o2_lst_console_result *result, int status)
{
	const uint64_t bytes = asked->moved ? asked->moved_bytes : 0;
	const bool under_way = asked->moving && !asked->moved;

	if (result->status != status || (result->bytes != bytes && !under_way))
		o2_report_fail(talk->report, "lst/console-outcome",
			       "RPC %" PRIu64 " ends with %d and %" PRIu64
			       " bytes; by what has come with %d and %" PRIu64,
			       result->number, result->status, result->bytes, status, bytes);
}

/* The transport refused to send the request of this lane; that ends the test. */
static bool is_refused(struct o2_lst_talk *talk, const struct o2_lst_console_result *result)
{
	uint32_t i = 0;

	while (i < talk->nbegun && talk->begun[i] != result->lane)
		i++;
	if (i == talk->nbegun)
		return false;
	talk->nbegun--;
	memmove(&talk->begun[i], &talk->begun[i + 1], (talk->nbegun - i) * sizeof(talk->begun[0]));
	if (talk->refused == 0 || result->outcome != O2_LST_FAIL_LOCAL || result->status != talk->refused ||
	    result->error == NULL)
		o2_report_fail(talk->report, "lst/console-outcome",
			       "RPC %" PRIu64 " ends as '%s' with %d; nothing of it has left", result->number,
			       o2_lst_outcome_name(result->outcome), result->status);
	talk->nrefused++;
	return true;
}

void o2_talk_ended(struct o2_lst_talk *talk, const struct o2_lst_console_result *result)
{
	struct o2_talk_asked *asked = &talk->asked[talk->lane[result->lane]];
	const bool over = asked->doomed || is_complete(asked);
	int status = 0;
	const enum o2_lst_outcome outcome = foretell(talk, asked, &status);

	talk->nended++;
	talk->told[result->outcome]++;
	talk->told_bytes += result->outcome == O2_LST_WELL ? result->bytes : 0;
	if (result->number != talk->number[result->lane])
		o2_report_fail(talk->report, "lst/console-outcome", "RPC %" PRIu64 " ends as number %" PRIu64,
			       talk->number[result->lane], result->number);
	if (is_refused(talk, result))
		return;
	if (asked->ended || !asked->is_test || !over || outcome != result->outcome) {
		o2_report_fail(talk->report, "lst/console-outcome",
			       "RPC %" PRIu64 " ends as '%s'; by what has come it is '%s'", result->number,
			       o2_lst_outcome_name(result->outcome),
			       over ? o2_lst_outcome_name(outcome) : "not over");
		return;
	}
	check_numbers(talk, asked, result, status);
	o2_talk_check_error(talk, asked, result);
	asked->ended = true;
	count(talk, result->outcome);
	if (result->outcome == O2_LST_WELL)
		count_well(talk, asked);
}

bool o2_talk_is_well(const struct o2_lst_talk *talk, const struct o2_talk_asked *asked)
{
	const struct o2_lst_generic_reply *reply = &asked->reply.u.reply;

	if (asked->doomed || !is_complete(asked) || !asked->valid)
		return false;
	if (asked->msg.msg_type == O2_LST_RMSN_REQST)
		return reply->status == 0 || reply->status == ESRCH;
	return reply->status == 0 && o2_lst_sid_equal(reply->sid, talk->config.sid) &&
	       (asked->msg.msg_type != O2_LST_MKSN_REQST || asked->reply.msg_ses_feats == O2_LST_FEATS_MASK);
}
