/* SPDX-License-Identifier: MIT */
/* Which requests of LNet selftest may be sent: docs/lst.md, "What may be sent" and "Rules". */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "lst/wire/range.h"
#include "props/scenario/draw.h"
#include "props/stage/parts_internal.h"

#define MOST 1048576u
#define PAGE 4096u

/* The first rule that the message breaks; NULL: none. */
struct verdict {
	const char *rule, *field;
	uint64_t value, limit;
};

static void break_rule(struct verdict *verdict, const char *rule, const char *field, uint64_t value,
		       uint64_t limit)
{
	if (verdict->rule == NULL)
		*verdict = (struct verdict){rule, field, value, limit};
}

static void within(struct verdict *verdict, const char *rule, const char *field, uint64_t value,
		   uint64_t least, uint64_t most)
{
	if (value < least || value > most)
		break_rule(verdict, rule, field, value, value < least ? least : most);
}

static void multiple(struct verdict *verdict, const char *rule, const char *field, uint64_t value,
		     uint64_t of)
{
	if (value % of != 0)
		break_rule(verdict, rule, field, value, of);
}

/* Draw a value, mostly within its range; else at a limit, next to one, or anything. */
static uint64_t draw(struct o2_choice *c, uint64_t least, uint64_t most, uint64_t unit)
{
	switch (o2_draw_bool(c, 5, 1) ? 1 + o2_draw(c, 5) : 0) {
	case 1:
		return least - 1;
	case 2:
		return least;
	case 3:
		return most;
	case 4:
		return most + 1;
	case 5:
		return least + unit / 2 + o2_draw(c, 8);
	case 6:
		return o2_draw_wild(c);
	default:
		return least + o2_draw(c, (most - least) / unit) * unit;
	}
}

static uint64_t length_unit(const struct o2_lst_msg *msg)
{
	return (msg->msg_ses_feats & 1) != 0 ? 8 : PAGE;
}

static void brw(struct o2_choice *c, struct o2_lst_msg *msg, struct verdict *verdict)
{
	struct o2_lst_brw_reqst *brw = &msg->u.brw_reqst;
	const uint64_t unit = length_unit(msg);

	brw->brw_rw = (uint32_t)draw(c, 1, 2, 1);
	brw->brw_flags = (uint32_t)draw(c, 1, 4, 1);
	brw->brw_len = (uint32_t)draw(c, unit, MOST, unit);
	within(verdict, "lst/send/brw-rw", "brw_rw", brw->brw_rw, 1, 2);
	within(verdict, "lst/send/brw-flags", "brw_flags", brw->brw_flags, 1, 4);
	within(verdict, "lst/send/brw-len", "brw_len", brw->brw_len, unit, MOST);
	multiple(verdict, "lst/send/brw-len-multiple", "brw_len", brw->brw_len, unit);
}

/* The greatest offset that adds no page to those that the length needs. */
static uint64_t latest(uint64_t length)
{
	return (PAGE - length % PAGE) % PAGE;
}

static void with_lengths(struct o2_choice *c, struct o2_lst_bulk_v1 *bulk, struct verdict *verdict)
{
	bulk->blk_opc = (uint16_t)draw(c, 1, 2, 1);
	bulk->blk_flags = (uint16_t)draw(c, 1, 4, 1);
	bulk->blk_len = (uint32_t)draw(c, 8, MOST, 8);
	bulk->blk_offset = (uint32_t)draw(c, 0, latest(bulk->blk_len), 8);
	within(verdict, "lst/send/blk-opc", "blk_opc", bulk->blk_opc, 1, 2);
	within(verdict, "lst/send/blk-flags", "blk_flags", bulk->blk_flags, 1, 4);
	within(verdict, "lst/send/blk-len", "blk_len", bulk->blk_len, 8, MOST);
	multiple(verdict, "lst/send/blk-len-multiple", "blk_len", bulk->blk_len, 8);
	within(verdict, "lst/send/blk-offset", "blk_offset", bulk->blk_offset, 0, latest(bulk->blk_len));
	multiple(verdict, "lst/send/blk-offset-multiple", "blk_offset", bulk->blk_offset, 8);
}

static void with_pages(struct o2_choice *c, struct o2_lst_bulk_v0 *bulk, struct verdict *verdict)
{
	bulk->blk_opc = (uint32_t)draw(c, 1, 2, 1);
	bulk->blk_flags = (uint32_t)draw(c, 1, 4, 1);
	bulk->blk_npg = (uint32_t)draw(c, 1, 256, 1);
	within(verdict, "lst/send/blk-opc", "blk_opc", bulk->blk_opc, 1, 2);
	within(verdict, "lst/send/blk-flags", "blk_flags", bulk->blk_flags, 1, 4);
	within(verdict, "lst/send/blk-npg", "blk_npg", bulk->blk_npg, 1, 256);
}

/* The parameters of a server half are not checked. */
static void test(struct o2_choice *c, struct o2_lst_msg *msg, struct verdict *verdict)
{
	struct o2_lst_test_reqst *test = &msg->u.test_reqst;

	test->tsr_service = (uint32_t)draw(c, 11, 12, 1);
	test->tsr_loop = o2_draw_bool(c, 7, 1) ? 0 : 1 + (uint32_t)o2_draw(c, UINT32_MAX - 1);
	test->tsr_concur = (uint32_t)draw(c, 1, 1024, 1);
	test->tsr_is_client = (uint8_t)(o2_draw_bool(c, 1, 3) ? 1 + o2_draw(c, 254) : 0);
	test->tsr_ndest = (uint32_t)draw(c, 1, 341, 1);
	if (test->tsr_service != 11 && test->tsr_service != 12)
		break_rule(verdict, "lst/send/service", "tsr_service", test->tsr_service, O2_NO_LIMIT);
	if (test->tsr_loop == 0)
		break_rule(verdict, "lst/send/loop", "tsr_loop", 0, 1);
	within(verdict, "lst/send/concur", "tsr_concur", test->tsr_concur, 1, 1024);
	if (test->tsr_is_client == 0)
		return;
	within(verdict, "lst/send/ndest", "tsr_ndest", test->tsr_ndest, 1, 341);
	if (test->tsr_service != 11)
		return;
	if ((msg->msg_ses_feats & 1) != 0)
		with_lengths(c, &test->tsr_u.bulk_v1, verdict);
	else
		with_pages(c, &test->tsr_u.bulk_v0, verdict);
}

static void draw_request(struct o2_choice *c, struct o2_lst_msg *msg, struct verdict *verdict)
{
	static const uint32_t types[] = {O2_LST_TEST_REQST,  O2_LST_BRW_REQST,	O2_LST_TEST_REQST,
					 O2_LST_BATCH_REQST, O2_LST_TEST_REQST, O2_LST_MKSN_REQST,
					 O2_LST_STAT_REQST,  O2_LST_PING_REQST, O2_LST_BRW_REPLY};

	memset(msg, 0, sizeof(*msg));
	msg->msg_type = types[o2_draw(c, 8)];
	msg->msg_version = o2_draw_bool(c, 15, 1) ? (uint32_t)o2_draw_wild(c) : 1;
	msg->msg_ses_feats = o2_draw_bool(c, 15, 1) ? (uint32_t)o2_draw_wild(c) : (uint32_t)o2_draw(c, 1);
	if (msg->msg_version != 1)
		break_rule(verdict, "lst/send/version", "msg_version", msg->msg_version, 1);
	/* Replies are not checked. */
	if (msg->msg_type % 2 != 0)
		return;
	within(verdict, "lst/send/features", "msg_ses_feats", msg->msg_ses_feats, 0, 1);
	if (msg->msg_type == O2_LST_TEST_REQST)
		test(c, msg, verdict);
	if (msg->msg_type == O2_LST_BRW_REQST)
		brw(c, msg, verdict);
	if (msg->msg_type != O2_LST_BATCH_REQST)
		return;
	msg->u.batch_reqst.bar_opc = (uint32_t)draw(c, 1, 3, 1);
	within(verdict, "lst/send/batch-opc", "bar_opc", msg->u.batch_reqst.bar_opc, 1, 3);
}

void o2_parts_lst(struct o2_parts_run *run, struct o2_choice *c, struct o2_report *report)
{
	struct verdict verdict = {NULL, NULL, 0, 0};
	/* As if left by an earlier call. */
	struct o2_error error = {.code = -1, .rule = "", .field = ""};
	struct o2_lst_msg msg;
	int rc;

	draw_request(c, &msg, &verdict);
	rc = o2_lst_range_check(&msg, &error);
	run->tally.seen[verdict.rule == NULL ? O2_PARTS_LST_SENT : O2_PARTS_LST_NOT_SENT]++;
	snprintf(run->text, sizeof(run->text), "LNet selftest, type %" PRIu32, msg.msg_type);
	if (rc == 0 && verdict.rule == NULL && error.code == 0 && error.rule == NULL)
		return;
	if (rc != -EINVAL || verdict.rule == NULL || error.rule == NULL ||
	    strcmp(error.rule, verdict.rule) != 0 || strcmp(error.field, verdict.field) != 0 ||
	    error.value != verdict.value || error.limit != verdict.limit)
		o2_report_fail(report, "parts/lst/range",
			       "type %" PRIu32 ": %d by %s, %s is %" PRIu64 ", limit %" PRIu64
			       "; expected %s, %s is %" PRIu64 ", limit %" PRIu64,
			       msg.msg_type, rc, error.rule == NULL ? "nothing" : error.rule,
			       error.field == NULL ? "-" : error.field, error.value, error.limit,
			       verdict.rule == NULL ? "nothing" : verdict.rule,
			       verdict.field == NULL ? "-" : verdict.field, verdict.value, verdict.limit);
}
