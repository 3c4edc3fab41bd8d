/* SPDX-License-Identifier: MIT */
#include "cli/lst_text.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "base/errno_name.h"
#include "base/fields.h"
#include "base/words.h"
#include "lst/wire/rules.h"
#include "wire/nid.h"

bool o2_lst_inside(const struct o2_msg *msg, struct o2_lst_msg *lst)
{
	const struct o2_lnet_hdr *hdr = &msg->u.immediate.hdr;
	struct o2_error error;

	if (msg->ibm_type != O2_MSG_IMMEDIATE || hdr->type != O2_LNET_PUT ||
	    hdr->payload_length != O2_LST_MSG_BYTES || hdr->msg.put.ptl_index < O2_LST_PORTAL_TEST ||
	    hdr->msg.put.ptl_index > O2_LST_PORTAL_RDMA)
		return false;
	/* A message of another version is shown with its fields; other refused messages have none. */
	return o2_lst_msg_decode(msg->u.immediate.payload, hdr->payload_length, lst, &error) == 0 ||
	       strcmp(error.rule, o2_lst_rules[O2_LST_RULE_VERSION].id) == 0;
}

/* --- parts of a text, which may be cut at its end --- */

static void add_session(struct o2_words *words, const struct o2_lst_sid *sid)
{
	char nid[O2_NID_TEXT_BYTES];

	if (o2_lst_sid_is_none(*sid)) {
		o2_words_add(words, " session none");
		return;
	}
	o2_nid_to_text(sid->ses_nid, nid, sizeof(nid));
	o2_words_add(words, " session %s/%" PRIu64, nid, sid->ses_stamp);
}

static void add_name(struct o2_words *words, const struct o2_lst_name *name)
{
	char text[O2_FIELD_CHARS_TEXT_BYTES(O2_LST_NAME_BYTES)];

	o2_field_chars_text(name->text, O2_LST_NAME_BYTES, text);
	o2_words_add(words, " \"%s\"", text);
}

/* Add the name, or the number if there is no name. */
static void add_name_of(struct o2_words *words, const char *name, uint32_t value)
{
	if (name != NULL)
		o2_words_add(words, " %s", name);
	else
		o2_words_add(words, " %" PRIu32, value);
}

static void add_transfer(struct o2_words *words, uint32_t rw, uint32_t bytes, uint32_t check)
{
	add_name_of(words, o2_lst_rw_name(rw), rw);
	o2_words_add(words, " %" PRIu32 " bytes, check", bytes);
	add_name_of(words, o2_lst_check_name(check), check);
}

static void add_test(struct o2_words *words, const struct o2_lst_msg *msg)
{
	const struct o2_lst_test_reqst *test = &msg->u.test_reqst;
	const char *service = o2_lst_service_name(test->tsr_service);
	const struct o2_lst_bulk_v1 *bulk = &test->tsr_u.bulk_v1;

	add_session(words, &test->tsr_sid);
	o2_words_add(words, " batch %" PRIu64 " %s half of %s", test->tsr_bid,
		     test->tsr_is_client ? "client" : "server", service == NULL ? "(unknown)" : service);
	if (test->tsr_is_client != 0)
		o2_words_add(words, ", %" PRIu32 " destination%s", test->tsr_ndest,
			     test->tsr_ndest == 1 ? "" : "s");
	o2_words_add(words, ", loop %" PRId32 ", concurrency %" PRIu32, (int32_t)test->tsr_loop,
		     test->tsr_concur);
	if (test->tsr_is_client == 0 || o2_lst_test_kind(msg) != O2_LST_TEST_BULK_V1)
		return;
	o2_words_add(words, ",");
	add_transfer(words, bulk->blk_opc, bulk->blk_len, bulk->blk_flags);
	if (bulk->blk_offset != 0)
		o2_words_add(words, ", offset %" PRIu32, bulk->blk_offset);
}

static void add_batch(struct o2_words *words, const struct o2_lst_batch_reqst *batch)
{
	add_name_of(words, o2_lst_opc_name(batch->bar_opc), batch->bar_opc);
	o2_words_add(words, " batch %" PRIu64, batch->bar_bid);
	if (batch->bar_opc == O2_LST_BATCH_QUERY && batch->bar_testidx != 0)
		o2_words_add(words, " test %" PRId32, (int32_t)batch->bar_testidx);
	if (batch->bar_opc == O2_LST_BATCH_STOP && batch->bar_arg != 0)
		o2_words_add(words, " by force");
}

static void add_request(struct o2_words *words, const struct o2_lst_msg *msg)
{
	switch (msg->msg_type) {
	case O2_LST_MKSN_REQST:
		add_session(words, &msg->u.mksn_reqst.mksn_sid);
		add_name(words, &msg->u.mksn_reqst.mksn_name);
		if (msg->u.mksn_reqst.mksn_force != 0)
			o2_words_add(words, " by force");
		break;
	case O2_LST_RMSN_REQST:
		add_session(words, &msg->u.rmsn_reqst.rmsn_sid);
		break;
	case O2_LST_STAT_REQST:
		add_session(words, &msg->u.stat_reqst.str_sid);
		break;
	case O2_LST_JOIN_REQST:
		add_session(words, &msg->u.join_reqst.join_sid);
		add_name(words, &msg->u.join_reqst.join_group);
		break;
	case O2_LST_BATCH_REQST:
		add_batch(words, &msg->u.batch_reqst);
		break;
	case O2_LST_TEST_REQST:
		add_test(words, msg);
		break;
	case O2_LST_BRW_REQST:
		add_transfer(words, msg->u.brw_reqst.brw_rw, msg->u.brw_reqst.brw_len,
			     msg->u.brw_reqst.brw_flags);
		break;
	case O2_LST_PING_REQST:
		o2_words_add(words, " number %" PRIu32, msg->u.ping_reqst.pnr_seq);
		break;
	default:
		break;
	}
}

/* Add only fields that the status makes valid: a kernel leaves old bytes in the others. */
static void add_reply(struct o2_words *words, const struct o2_lst_msg *msg)
{
	const uint32_t status = msg->u.reply.status;
	char name[O2_ERRNO_TEXT_BYTES];

	if (status != 0)
		o2_words_add(words, " status %" PRIu32 " %s", status, o2_errno_text(status, name));
	/* With EPROTO the session may be that of an earlier message: docs/lst.md, "Sessions". */
	if (o2_lst_service_of_type(msg->msg_type) < O2_LST_SERVICE_FRAMEWORK_END && status != EPROTO)
		add_session(words, &msg->u.reply.sid);
	if (msg->msg_type == O2_LST_MKSN_REPLY && status == EBUSY)
		add_name(words, &msg->u.mksn_reply.mksn_name);
	if (status != 0)
		return;
	if (msg->msg_type == O2_LST_PING_REPLY)
		o2_words_add(words, " number %" PRIu32, msg->u.ping_reply.pnr_seq);
	if (msg->msg_type == O2_LST_DEBUG_REPLY)
		add_name(words, &msg->u.debug_reply.dbg_name);
	if (msg->msg_type == O2_LST_STAT_REPLY)
		o2_words_add(words,
			     ", brw errors %" PRIu32 ", ping errors %" PRIu32 ", RPCs in %" PRIu32
			     " out %" PRIu32,
			     msg->u.stat_reply.str_fw.brw_errors, msg->u.stat_reply.str_fw.ping_errors,
			     msg->u.stat_reply.str_rpc.rpcs_rcvd, msg->u.stat_reply.str_rpc.rpcs_sent);
}

void o2_lst_text(const struct o2_lst_msg *msg, char text[O2_LST_TEXT_BYTES])
{
	struct o2_words words = {text, O2_LST_TEXT_BYTES, 0};
	const char *name = o2_lst_type_name(msg->msg_type);

	text[0] = '\0';
	if (name == NULL)
		return;
	o2_words_add(&words, "LST %s", name);
	if (o2_lst_type_is_reply(msg->msg_type))
		add_reply(&words, msg);
	else
		add_request(&words, msg);
	if (msg->msg_version != O2_LST_MSG_VERSION)
		o2_words_add(&words, " version %" PRIu32, msg->msg_version);
	if (msg->msg_ses_feats != O2_LST_FEAT_BULK_LEN)
		o2_words_add(&words, " features 0x%" PRIx32, msg->msg_ses_feats);
	if (msg->order == O2_BIG_ENDIAN)
		o2_words_add(&words, " big-endian");
}
