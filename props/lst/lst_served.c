/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "lst/rpc_internal.h"
#include "mem/kmap.h"
#include "props/lst/lst_internal.h"

/*
 * What becomes of the requests that B receives: reads and writes are moved and answered, or not served; none is
 * answered once the session has ended; all are counted (docs/lst.md, "The node" and "Counters").
 */

#define MSG_BYTES 160u /* no bulk of a case is as long as that */

static uint32_t count_bulks(const struct o2_lst_case *the, uint64_t bulkid)
{
	const struct o2_lnet_side *b = &the->lnet.b;
	uint32_t count = 0;

	for (uint32_t i = 0; i < b->nletters; i++) {
		const struct o2_lnet_hdr *hdr = &b->letter[i].hdr;

		count += (hdr->type == O2_LNET_GET && hdr->msg.get.match_bits == bulkid) ||
			 (hdr->type == O2_LNET_PUT && hdr->msg.put.ptl_index == O2_LST_REPLY_PORTAL &&
			  hdr->msg.put.match_bits == bulkid);
	}
	return count;
}

struct o2_lst_before o2_lst_served_before(const struct o2_lst_case *the, const struct o2_lst_msg *msg)
{
	return (struct o2_lst_before){.answers = o2_lst_answers(the, msg->u.reqst.rpyid),
				      .bulks = count_bulks(the, msg->u.reqst.bulkid),
				      .unserved = the->b.nunserved,
				      .letters = the->lnet.b.nletters};
}

/*
 * A TEST, or a read or write in range, is answered, or its bulk is moved, or it is told as not served; or it waits for
 * pages, if these are scarce.
 */
static void check_taken(struct o2_lst_case *the, const struct o2_lst_msg *msg, bool shut,
			const struct o2_lst_before *before)
{
	const struct o2_lst_before now = o2_lst_served_before(the, msg);
	const uint32_t answered = now.answers - before->answers, moves = now.bulks - before->bulks,
		       unserved = now.unserved - before->unserved;
	const bool is_brw = msg->msg_type == O2_LST_BRW_REQST;
	const bool waits = is_brw && the->held.count > 0 && answered + moves + unserved == 0 &&
			   !TAILQ_EMPTY(&the->b.node->waiting);
	const bool is_lost = shut && is_brw && unserved != 1;
	const bool is_wrong = !shut && (is_brw ? moves : answered + moves + unserved) != 1;

	if (waits)
		return;
	if (is_lost || is_wrong)
		o2_report_fail(the->report, "lst/unserved",
			       "a request of type %" PRIu32 " is answered %" PRIu32 " times, moved %" PRIu32
			       " times, and %" PRIu32 " times told as not served",
			       msg->msg_type, answered, moves, unserved);
	the->seen[UNSERVED] += unserved;
}

/* What B sends because of a request goes to the process that sent it. */
static void check_pid(struct o2_lst_case *the, const struct o2_lst_msg *msg, uint32_t pid,
		      const struct o2_letter *letter)
{
	const struct o2_lnet_hdr *hdr = &letter->hdr;
	const bool put = hdr->type == O2_LNET_PUT && hdr->msg.put.ptl_index == O2_LST_REPLY_PORTAL;
	const uint64_t to = put ? hdr->msg.put.match_bits : hdr->msg.get.match_bits;

	if ((put || hdr->type == O2_LNET_GET) && (to == msg->u.reqst.rpyid || to == msg->u.reqst.bulkid) &&
	    hdr->dest_pid != pid)
		o2_report_fail(the->report, "lst/pid",
			       "a request of process %" PRIu32 " and type %" PRIu32
			       " is answered to process %" PRIu32,
			       pid, msg->msg_type, hdr->dest_pid);
}

void o2_lst_served_arrives(struct o2_lst_case *the, const struct o2_lst_msg *msg, uint32_t pid, int expected,
			   bool shut, const struct o2_lst_before *before)
{
	const struct o2_lst_side *b = &the->b;
	const bool is_brw = msg->msg_type == O2_LST_BRW_REQST;
	const bool has_bulk = expected == O2_LST_UNKNOWN && (is_brw || msg->msg_type == O2_LST_TEST_REQST);
	const bool told = b->nunserved != before->unserved;

	/* There is room for the list of each TEST that is taken, so none is told as not served for want of it. */
	if (told &&
	    (!has_bulk || !shut || b->unserved_nid != O2_LNET_NID_A || b->unserved_code != -ENETUNREACH))
		o2_report_fail(the->report, "lst/unserved",
			       "a request of type %" PRIu32 " is told as not served, NID 0x%" PRIx64
			       ", code %d",
			       msg->msg_type, b->unserved_nid, b->unserved_code);
	if (has_bulk)
		check_taken(the, msg, shut, before);
	if (has_bulk && is_brw && !shut)
		the->served[the->nserved++ % O2_LST_SERVED] = (struct o2_lst_served){.msg = *msg, .pid = pid};
	for (uint32_t i = before->letters; i < the->lnet.b.nletters; i++)
		check_pid(the, msg, pid, &the->lnet.b.letter[i]);
	the->replies_unsent += shut && !told && expected != O2_LST_SILENCE;
}

static uint32_t count_known(const struct o2_lst_case *the)
{
	return the->nserved < O2_LST_SERVED ? the->nserved : O2_LST_SERVED;
}

/* Is this the GET of a list of destinations, which is not checked for poison? */
static bool is_list(const struct o2_lst_node *node, const struct o2_letter *letter)
{
	for (uint32_t i = 0; i < O2_LST_NODE_FETCHES; i++)
		if (node->fetch[i].in_use && node->fetch[i].bulk.kiov == letter->memory.buffer.kiov)
			return true;
	return false;
}

/* A sink is filled with poison before: docs/lst.md, "Constants". */
static void check_sink(struct o2_lst_case *the, const struct o2_letter *letter)
{
	static uint8_t bytes[O2_MAX_TRANSFER_BYTES];

	if (o2_copy_from_buffer(&the->lnet.b.arena, &letter->memory.buffer, bytes, NULL) != 0)
		return;
	for (uint32_t i = 0; i < letter->memory.buffer.nob && !the->report->failed; i++)
		if (bytes[i] != (i % 2 == 0 ? 0xef : 0xbe))
			o2_report_fail(the->report, "lst/sink", "byte %" PRIu32 " of a sink is 0x%02x before",
				       i, bytes[i]);
}

void o2_lst_served_goes(struct o2_lst_case *the, const struct o2_letter *letter, bool well)
{
	const struct o2_lnet_hdr *hdr = &letter->hdr;

	if (letter->from == &the->lnet.b && letter->kind == O2_LETTER_GET && !is_list(the->b.node, letter))
		check_sink(the, letter);
	for (uint32_t i = 0; letter->from == &the->lnet.b && i < count_known(the); i++)
		check_pid(the, &the->served[i].msg, the->served[i].pid, letter);
	the->replied += well && letter->from == &the->lnet.b && hdr->type == O2_LNET_PUT &&
			hdr->msg.put.ptl_index == O2_LST_REPLY_PORTAL && hdr->payload_length == MSG_BYTES;
}

/* Whether the client had memory for it or not. */
void o2_lst_served_gone(struct o2_lst_case *the, const struct o2_letter *letter)
{
	const struct o2_lnet_hdr *hdr = &letter->hdr;
	const struct o2_lst_served *served = NULL;
	struct o2_lst_msg reply;

	if (letter->from != &the->lnet.b || hdr->type != O2_LNET_PUT ||
	    hdr->msg.put.ptl_index != O2_LST_REPLY_PORTAL)
		return;
	for (uint32_t i = 0; i < count_known(the); i++)
		if (the->served[i].msg.u.reqst.bulkid == hdr->msg.put.match_bits && !the->served[i].over)
			served = &the->served[i];
	if (served != NULL &&
	    (!o2_lst_find_answer(the, &served->msg, &reply) || reply.u.brw_reply.brw_status != 0))
		o2_report_fail(the->report, "lst/no-answer",
			       "a read whose bulk has gone is not answered with 0");
}

void o2_lst_served_abort(struct o2_lst_case *the)
{
	the->seen[WAITED_IN_VAIN] += the->waits;
	the->waits = false;
	for (uint32_t i = 0; i < count_known(the); i++)
		the->served[i].over = true;
}

void o2_lst_served_check(struct o2_lst_case *the)
{
	for (uint32_t i = 0; i < count_known(the); i++) {
		struct o2_lst_served *served = &the->served[i];
		const uint32_t answers = o2_lst_answers(the, served->msg.u.reqst.rpyid);

		if (served->over && answers > served->most)
			o2_report_fail(the->report, "lst/answer",
				       "a bulk of %" PRIu32
				       " bytes is answered, and was served when the session ended",
				       served->msg.u.brw_reqst.brw_len);
		served->most = answers;
	}
	the->waits = !TAILQ_EMPTY(&the->b.node->waiting);
}

static void check_count(struct o2_lst_case *the, const char *what, uint64_t is, uint64_t expected)
{
	if (is != expected)
		o2_report_fail(the->report, "lst/counters", "%s is %" PRIu64 ", not %" PRIu64, what, is,
			       expected);
}

void o2_lst_served_check_counters(struct o2_lst_case *the, const struct o2_lst_rpc_counters *rpc,
				  const struct o2_lst_lnet_counters *lnet)
{
	const struct o2_lst_heard *heard = &the->b.heard;
	const struct o2_lst_rpc *served = the->b.node->rpc;
	const uint32_t open = served->config.max_served - served->nfree_served;

	check_count(the, "rpcs_rcvd", rpc->rpcs_rcvd, heard->requests);
	/* Each request ends with a reply that is sent, or else with an error. */
	check_count(the, "rpcs_dropped", rpc->rpcs_dropped, heard->requests - the->replied - open);
	check_count(the, "bulk_get", rpc->bulk_get, heard->got_bytes);
	check_count(the, "bulk_put", rpc->bulk_put,
		    heard->put_bytes - MSG_BYTES * (the->replied + rpc->rpcs_sent));
	check_count(the, "errors", rpc->errors, heard->errors + the->replies_unsent);
	check_count(the, "lcc_errors", lnet->lcc_errors, heard->lnet_errors);
	check_count(the, "lcc_drop_count", lnet->lcc_drop_count, heard->dropped);
	check_count(the, "lcc_msgs_max", lnet->lcc_msgs_max, heard->most);
}
