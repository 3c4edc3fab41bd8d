/* SPDX-License-Identifier: MIT */
#include "oracle/compare.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/errno_name.h"
#include "oracle/flavour.h"
#include "oracle/stage_ops.h"
#include "wire/msg.h"

/* The comparison of two answers: kinds of answers, refusals, and the list of differences. */

/* Count a difference in a check that the profile turns off.  It does not become a finding. */
static void accept(struct o2_comparison *comparison, enum o2_check_id check)
{
	for (uint32_t i = 0; i < comparison->accepted; i++)
		if (comparison->accepted_check[i] == check)
			return;
	if (comparison->accepted < O2_DIFFERENCES)
		comparison->accepted_check[comparison->accepted++] = check;
}

bool o2_same_cause(const struct o2_difference *a, const struct o2_difference *b)
{
	return a->check == b->check && a->known == b->known && strcmp(a->cause, b->cause) == 0;
}

struct o2_difference *o2_differ_text(struct o2_comparison *comparison, enum o2_check_id check,
				     const char *field, const char *reason)
{
	struct o2_difference *item = &comparison->item[comparison->count];

	if (o2_check_severity(check, comparison->profile) == O2_CHECK_OFF) {
		accept(comparison, check);
		return NULL;
	}
	if (comparison->count == O2_DIFFERENCES)
		return NULL;
	memset(item, 0, sizeof(*item));
	item->check = check;
	item->known = o2_known_find(comparison->known, comparison->asked, check);
	snprintf(item->cause, sizeof(item->cause), "%s%s%s", field, reason[0] == '\0' ? "" : ": ", reason);
	for (uint32_t i = 0; i < comparison->count; i++)
		if (o2_same_cause(&comparison->item[i], item))
			return NULL;
	comparison->count++;
	return item;
}

static void name_field(struct o2_difference *item, const char *field, uint32_t index)
{
	const char *mark = strstr(field, "[]");

	if (index == O2_NO_INDEX || mark == NULL)
		snprintf(item->field, sizeof(item->field), "%s", field);
	else
		snprintf(item->field, sizeof(item->field), "%.*s[%" PRIu32 "]%s", (int)(mark - field), field,
			 index, mark + 2);
}

static void differ(struct o2_comparison *comparison, enum o2_check_id check, const char *field,
		   uint32_t index, uint64_t expected, uint64_t found, bool hex)
{
	struct o2_difference *item = o2_differ_text(comparison, check, field, "");

	if (item == NULL)
		return;
	name_field(item, field, index);
	snprintf(item->expected, sizeof(item->expected), hex ? "0x%" PRIx64 : "%" PRIu64, expected);
	snprintf(item->found, sizeof(item->found), hex ? "0x%" PRIx64 : "%" PRIu64, found);
}

void o2_differ(struct o2_comparison *comparison, enum o2_check_id check, const char *field, uint32_t index,
	       uint64_t expected, uint64_t found)
{
	differ(comparison, check, field, index, expected, found, false);
}

void o2_differ_hex(struct o2_comparison *comparison, enum o2_check_id check, const char *field,
		   uint32_t index, uint64_t expected, uint64_t found)
{
	differ(comparison, check, field, index, expected, found, true);
}

void o2_expect(struct o2_comparison *comparison, enum o2_check_id check, const char *field, uint32_t index,
	       uint64_t expected, uint64_t found)
{
	if (expected != found)
		differ(comparison, check, field, index, expected, found, false);
}

void o2_expect_hex(struct o2_comparison *comparison, enum o2_check_id check, const char *field,
		   uint32_t index, uint64_t expected, uint64_t found)
{
	if (expected != found)
		differ(comparison, check, field, index, expected, found, true);
}

static void say_place(const struct o2_stream *stream, uint64_t byte, char *text, size_t text_bytes)
{
	if (byte >= stream->nob)
		snprintf(text, text_bytes, "nowhere: it ends after %" PRIu64 " bytes", stream->nob);
	else
		snprintf(text, text_bytes, "at 0x%" PRIx64, o2_stream_place(stream, byte));
}

void o2_differ_stream(struct o2_comparison *comparison, enum o2_check_id check, const char *what,
		      const struct o2_stream *expected, const struct o2_stream *found)
{
	struct o2_difference *item;
	uint64_t byte;

	if (!o2_stream_differ(expected, found, &byte))
		return;
	item = o2_differ_text(comparison, check, what, "");
	if (item == NULL)
		return;
	snprintf(item->field, sizeof(item->field), "%s byte %" PRIu64, what, byte);
	say_place(expected, byte, item->expected, sizeof(item->expected));
	say_place(found, byte, item->found, sizeof(item->found));
}

/* --- refusals --- */

static enum o2_check_id refused_legal_message(uint8_t type)
{
#define OF_TYPE(TYPE)                                               \
	{                                                           \
		O2_MSG_##TYPE, O2_CHECK_WIRE_##TYPE##_REFUSED_LEGAL \
	}
	static const struct {
		uint8_t type;
		enum o2_check_id check;
	} checks[] = {
		OF_TYPE(CONNREQ), OF_TYPE(CONNACK), OF_TYPE(NOOP),     OF_TYPE(IMMEDIATE), OF_TYPE(PUT_REQ),
		OF_TYPE(PUT_NAK), OF_TYPE(PUT_ACK), OF_TYPE(PUT_DONE), OF_TYPE(GET_REQ),
	};
#undef OF_TYPE

	for (size_t i = 0; i < sizeof(checks) / sizeof(checks[0]); i++)
		if (checks[i].type == type)
			return checks[i].check;
	return O2_CHECK_WIRE_GET_DONE_REFUSED_LEGAL;
}

#define OF_KIND(KIND) [O2_DMA_##KIND] = O2_CHECK_DMA_##KIND##_REFUSED_LEGAL
#define OF_MODE(MODE) [O2_REG_##MODE] = O2_CHECK_REG_##MODE##_REFUSED_LEGAL

/* The check that fails if the implementation refuses a question that the reference admits. */
static enum o2_check_id refused_legal(const struct o2_case *asked, const struct o2_answer *expected)
{
	static const enum o2_check_id dma[] = {
		OF_KIND(BUS),
		OF_KIND(VIRTUAL),
		OF_KIND(IOMMU),
	};
	static const enum o2_check_id reg[] = {
		OF_MODE(GLOBAL), OF_MODE(FMR),	OF_MODE(FASTREG),
		OF_MODE(USER),	 OF_MODE(PHYS), OF_MODE(FASTREG_GAPS),
	};

	if (o2_stage_ops(asked->stage) != NULL)
		return o2_stage_ops(asked->stage)->refused_legal;
	switch (asked->stage) {
	case O2_STAGE_MSG_DECODE:
		return refused_legal_message(expected->msg_decode.msg.ibm_type);
	case O2_STAGE_MSG_ENCODE:
		return refused_legal_message(asked->msg_encode.msg.ibm_type);
	case O2_STAGE_SG_BUILD:
		return asked->sg.memory.buffer.kind == O2_IOV ? O2_CHECK_SG_IOV_REFUSED_LEGAL
							      : O2_CHECK_SG_KIOV_REFUSED_LEGAL;
	case O2_STAGE_DMA_MAP:
		return dma[asked->dma.device.device.kind];
	case O2_STAGE_REG_PLAN:
		return reg[asked->reg.request.mode];
	case O2_STAGE_RDMA_PLAN:
		return O2_CHECK_RDMA_REFUSED_LEGAL;
	case O2_STAGE_TRANSFER:
	default:
		break;
	}
	return O2_CHECK_TRANSFER_REFUSED_LEGAL;
}

/* The checks of the contents of a refusal, by stage; O2_CHECKS: not checked. */
struct words {
	enum o2_check_id error, rule, index, cost, where;
};

#define SAYS(STAGE) O2_CHECK_##STAGE##_ERRNO, O2_CHECK_##STAGE##_RULE, O2_CHECK_##STAGE##_INDEX

static const struct words worded[O2_STAGES_1] = {
	[O2_STAGE_MSG_DECODE] = {SAYS(WIRE), O2_CHECK_WIRE_COST, O2_CHECKS},
	[O2_STAGE_MSG_ENCODE] = {SAYS(WIRE), O2_CHECKS, O2_CHECKS},
	[O2_STAGE_SG_BUILD] = {SAYS(SG), O2_CHECKS, O2_CHECKS},
	[O2_STAGE_DMA_MAP] = {SAYS(DMA), O2_CHECKS, O2_CHECKS},
	[O2_STAGE_REG_PLAN] = {SAYS(REG), O2_CHECKS, O2_CHECKS},
	[O2_STAGE_RDMA_PLAN] = {SAYS(RDMA), O2_CHECKS, O2_CHECKS},
	[O2_STAGE_TRANSFER] = {O2_CHECK_TRANSFER_ERRNO, O2_CHECK_TRANSFER_RULE, O2_CHECKS, O2_CHECKS,
			       O2_CHECK_TRANSFER_WHERE},
};

static struct words words_of(enum o2_stage stage)
{
	const struct o2_stage_ops *ops = o2_stage_ops(stage);

	if (ops == NULL)
		return worded[stage];
	return (struct words){ops->error, ops->rule, ops->index, ops->cost, O2_CHECKS};
}

static void say_verdict(const struct o2_answer *answer, char *text, size_t text_bytes)
{
	const char *name = answer->refusal.name;
	char symbol[O2_ERRNO_TEXT_BYTES];

	if (answer->kind == O2_ANSWER_REFUSED)
		snprintf(text, text_bytes, "refused with %s%s%s",
			 o2_errno_text(answer->refusal.error, symbol), name[0] == '\0' ? "" : ", ", name);
	else
		snprintf(text, text_bytes, "admitted");
}

/*
 * The reason of a difference in refusals.  The reference admits: the errno and name of the refusal.  The
 * errnos differ: both errnos.  Only the names differ: the rule that the question breaks.
 */
static void refusal_cause(const struct o2_answer *expected, const struct o2_answer *found, char *reason,
			  size_t reason_bytes)
{
	char symbol[2][O2_ERRNO_TEXT_BYTES];

	reason[0] = '\0';
	if (found->kind != O2_ANSWER_REFUSED)
		return;
	if (expected->kind != O2_ANSWER_REFUSED)
		say_verdict(found, reason, reason_bytes);
	else if (found->refusal.error != expected->refusal.error)
		snprintf(reason, reason_bytes, "%s for %s", o2_errno_text(found->refusal.error, symbol[0]),
			 o2_errno_text(expected->refusal.error, symbol[1]));
	else
		snprintf(reason, reason_bytes, "%s", expected->refusal.name);
}

static void note_names(struct o2_difference *item, const struct o2_answer *expected,
		       const struct o2_answer *found)
{
	char symbol[O2_ERRNO_TEXT_BYTES];
	const char *name = found->refusal.name;

	if (expected->kind == O2_ANSWER_REFUSED)
		snprintf(item->rule, sizeof(item->rule), "%s", expected->refusal.name);
	if (found->kind == O2_ANSWER_REFUSED)
		snprintf(item->refused_as, sizeof(item->refused_as), "%s",
			 name[0] != '\0' ? name : o2_errno_text(found->refusal.error, symbol));
}

static void differ_refusal(struct o2_comparison *comparison, enum o2_check_id check, const char *field,
			   const struct o2_answer *expected, const struct o2_answer *found)
{
	char reason[O2_CAUSE_BYTES];
	struct o2_difference *item;

	refusal_cause(expected, found, reason, sizeof(reason));
	item = o2_differ_text(comparison, check, field, reason);
	if (item == NULL)
		return;
	note_names(item, expected, found);
	snprintf(item->field, sizeof(item->field), "%s", field);
	say_verdict(expected, item->expected, sizeof(item->expected));
	say_verdict(found, item->found, sizeof(item->found));
}

static bool is_of_flavour(const struct o2_comparison *comparison, const struct o2_answer *found)
{
	return o2_flavour_explains(comparison, comparison->asked, &found->refusal);
}

static void compare_refusals(struct o2_comparison *comparison, const struct o2_case *asked,
			     const struct o2_answer *expected, const struct o2_answer *found)
{
	const struct o2_answer_refusal *e = &expected->refusal;
	const struct o2_answer_refusal *f = &found->refusal;
	const struct words words = words_of(asked->stage);
	enum o2_map_answer map = O2_MAP_UNKNOWN;

	if (f->name[0] != '\0')
		map = o2_error_map_compare(comparison->map, f->name, e->name);
	comparison->unmapped = f->name[0] != '\0' && map == O2_MAP_UNKNOWN;
	if ((e->error != f->error || map == O2_MAP_DIFFERS) && is_of_flavour(comparison, found)) {
		differ_refusal(comparison, O2_CHECK_WIRE_CHECKSUM_ONE_FLAVOUR, "verdict", expected, found);
		return;
	}
	if (e->error != f->error)
		differ_refusal(comparison, words.error, "refused.errno", expected, found);
	else if (map == O2_MAP_DIFFERS)
		differ_refusal(comparison, words.rule, "refused.rule", expected, found);
	if (words.index != O2_CHECKS && map == O2_MAP_AGREES && e->index != O2_NO_INDEX &&
	    f->index != O2_NO_INDEX)
		o2_expect(comparison, words.index, "refused.index", O2_NO_INDEX, e->index, f->index);
	if (words.cost != O2_CHECKS && e->cost != O2_COST_NOT_SAID && f->cost != O2_COST_NOT_SAID)
		o2_expect(comparison, words.cost, "refused.class", O2_NO_INDEX, e->cost, f->cost);
	if (words.where != O2_CHECKS && f->where != O2_WHERE_NOT_SAID)
		o2_expect(comparison, words.where, "refused.where", O2_NO_INDEX, e->where, f->where);
}

/* --- results --- */

static void compare_results(struct o2_comparison *comparison, const struct o2_case *asked,
			    const struct o2_answer *expected, const struct o2_answer *found)
{
	if (o2_stage_ops(asked->stage) != NULL) {
		o2_stage_ops(asked->stage)->compare(comparison, asked, expected, found);
		return;
	}
	switch (asked->stage) {
	case O2_STAGE_MSG_DECODE:
		o2_compare_decoded(comparison, &expected->msg_decode.msg, &found->msg_decode.msg);
		break;
	case O2_STAGE_MSG_ENCODE:
		o2_compare_encoded(comparison, &asked->msg_encode.msg, &expected->msg_encode,
				   &found->msg_encode);
		break;
	case O2_STAGE_SG_BUILD:
		o2_compare_sg(comparison, &asked->sg, &expected->sg, &found->sg);
		break;
	case O2_STAGE_DMA_MAP:
		o2_compare_dma(comparison, &asked->dma, &expected->dma, &found->dma);
		break;
	case O2_STAGE_REG_PLAN:
		o2_compare_reg(comparison, &asked->reg.request, &expected->reg, &found->reg);
		break;
	case O2_STAGE_RDMA_PLAN:
		o2_compare_rdma(comparison, &asked->rdma, &expected->rdma, &found->rdma);
		break;
	case O2_STAGE_TRANSFER:
	default:
		o2_compare_transfer(comparison, &asked->transfer, &expected->transfer, &found->transfer);
		break;
	}
}

/* Replace each number by "#", because numbers may change from one run to the next.  Stop at the character `end`. */
static void without_numbers(const char *text, char end, char *out, size_t out_bytes)
{
	size_t n = 0;

	while (*text != '\0' && *text != end && n + 1 < out_bytes) {
		if (!isdigit((unsigned char)*text)) {
			out[n++] = *text++;
			continue;
		}
		out[n++] = '#';
		text += strncmp(text, "0x", 2) == 0 ? 2 : 0;
		while (isxdigit((unsigned char)*text))
			text++;
	}
	out[n] = '\0';
}

static void note_fault(struct o2_comparison *comparison, const struct o2_answer_fault *fault)
{
	/* These quote what the program has written, which may differ with each question. */
	const bool quotes = fault->check == O2_CHECK_PROTOCOL_FRAME || fault->check == O2_CHECK_PROTOCOL_JSON;
	const char quote = quotes ? '\'' : fault->check == O2_CHECK_RUN_HANG ? ':' : '\0';
	char reason[O2_CAUSE_BYTES];
	struct o2_difference *item;

	if (fault->site[0] != '\0')
		snprintf(reason, sizeof(reason), "at %s", fault->site);
	else
		without_numbers(fault->text, quote, reason, sizeof(reason));
	item = o2_differ_text(comparison, fault->check, "conduct", reason);
	if (item == NULL)
		return;
	snprintf(item->field, sizeof(item->field), "conduct");
	snprintf(item->expected, sizeof(item->expected), "an answer");
	snprintf(item->found, sizeof(item->found), "%s", fault->text);
}

/* Whether the input of the stage comes from a peer, and not from a trusted caller. */
static bool is_from_peer(enum o2_stage stage)
{
	return stage == O2_STAGE_MSG_DECODE || stage == O2_STAGE_CONNECT || stage == O2_STAGE_DELIVER;
}

/*
 * Whether any answer is accepted because the profile does not ask for the rule that the input breaks.  A
 * crash is accepted too, except where the input comes from a peer.  A hang is not: it ends the questions to
 * its stage (docs/oracle.md, "What is left out").
 */
static bool is_accepted(struct o2_comparison *comparison, enum o2_check_id rule,
			const struct o2_answer *found)
{
	if (rule == O2_CHECKS || o2_check_severity(rule, comparison->profile) != O2_CHECK_OFF)
		return false;
	if (found->kind == O2_ANSWER_BROKEN &&
	    (is_from_peer(comparison->asked->stage) || found->fault.check == O2_CHECK_RUN_HANG))
		return false;
	if (found->kind == O2_ANSWER_RESULT || found->kind == O2_ANSWER_BROKEN)
		accept(comparison, rule);
	return true;
}

void o2_compare_answers(struct o2_comparison *comparison, const struct o2_case *asked,
			const struct o2_answer *expected, const struct o2_answer *found)
{
	const bool refuses = expected->kind == O2_ANSWER_REFUSED;
	const enum o2_check_id rule = refuses ? o2_check_find(expected->refusal.name) : O2_CHECKS;

	comparison->asked = asked;
	comparison->count = 0;
	comparison->accepted = 0;
	comparison->unmapped = comparison->no_memory = false;
	if (found->conduct.check != O2_CHECKS)
		note_fault(comparison, &found->conduct);
	if (found->kind == O2_ANSWER_NOT_IMPLEMENTED || is_accepted(comparison, rule, found))
		return;
	if (found->kind == O2_ANSWER_BROKEN)
		note_fault(comparison, &found->fault);
	else if (refuses && found->kind == O2_ANSWER_REFUSED)
		compare_refusals(comparison, asked, expected, found);
	else if (refuses)
		differ_refusal(comparison, rule == O2_CHECKS ? words_of(asked->stage).error : rule, "verdict",
			       expected, found);
	else if (found->kind == O2_ANSWER_RESULT)
		compare_results(comparison, asked, expected, found);
	else if (is_of_flavour(comparison, found))
		differ_refusal(comparison, O2_CHECK_WIRE_CHECKSUM_ONE_FLAVOUR, "verdict", expected, found);
	else
		differ_refusal(comparison, refused_legal(asked, expected), "verdict", expected, found);
}
