/* SPDX-License-Identifier: MIT */
/* Chains with a wrong message, and what must be reported (docs/oracle.md, "A chain"); more gather entries. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "props/check/forms.h"

#define CHECK	 "chain/message-bytes"
#define SIGNALED "chain/signaled"
#define PIECES	 "send/entries"

static void add(struct o2_foretold *dues, const char *list, uint32_t index, const char *member, bool hex,
		uint64_t expected, uint64_t found)
{
	const char *format = hex ? "0x%" PRIx64 : "%" PRIu64;
	struct o2_said *said;
	char field[48];

	if (expected == found)
		return;
	snprintf(field, sizeof(field), "%s[%" PRIu32 "].%s", list, index, member);
	said = o2_foretold_add(dues, CHECK, field);
	snprintf(said->expected, sizeof(said->expected), format, expected);
	snprintf(said->found, sizeof(said->found), format, found);
}

/* Predict the differences: the message must have one valid gather entry, as in the question. */
static void foretell(const struct o2_case_chain *asked, const struct o2_answer_chain *found,
		     struct o2_foretold *dues)
{
	const uint32_t at = found->nwr - 1, first = found->wr[at].first_sge;
	const struct o2_impl_gather *sge = &found->sge[first < found->nsge ? first : 0];

	add(dues, "wr", at, "num_sge", false, 1, found->wr[at].num_sge);
	if (dues->count == 0 && found->nsge == 0)
		*o2_foretold_add(dues, CHECK, "nsge") =
			(struct o2_said){.check = CHECK, .field = "nsge", .expected = "1", .found = "0"};
	else if (dues->count == 0 && first >= found->nsge)
		add(dues, "wr", at, "first_sge", false, found->nsge - 1, first);
	if (dues->count != 0)
		return;
	add(dues, "sge", first, "addr", true, asked->message.addr, sge->addr);
	add(dues, "sge", first, "length", false, asked->message.length, sge->length);
	add(dues, "sge", first, "lkey", true, asked->message.lkey, sge->lkey);
}

static void change(struct o2_choice *c, struct o2_answer_chain *found)
{
	struct o2_impl_chain_wr *last = &found->wr[found->nwr - 1];
	struct o2_impl_gather *sge = &found->sge[found->nsge - 1];

	switch (o2_draw(c, 7)) {
	case 0: /* the first entry that does not exist */
		last->first_sge = found->nsge;
		break;
	case 1:
		last->first_sge = found->nsge - 2 + (uint32_t)o2_draw(c, 3);
		break;
	case 2:
		last->first_sge = UINT32_MAX;
		break;
	case 3:
		last->num_sge = 2 * (uint32_t)o2_draw(c, 1);
		break;
	case 4: /* the entry is missing */
		found->nsge--;
		break;
	case 5:
		sge->addr += 1 + o2_draw(c, 255);
		break;
	case 6:
		sge->length -= 1 + (uint32_t)o2_draw(c, 1);
		break;
	default:
		sge->lkey ^= 1;
	}
}

/* Flip `signaled` of one work request.  Returns its index; nwr: none. */
static uint32_t change_signaled(struct o2_choice *c, struct o2_answer_chain *found)
{
	uint32_t at;

	if (found->nwr == 0 || !o2_draw_bool(c, 1, 1))
		return found->nwr;
	at = (uint32_t)o2_draw_pick(c, found->nwr);
	found->wr[at].signaled = found->wr[at].signaled == 0;
	return at;
}

static void check_signaled(const struct o2_forms_run *run, uint32_t changed, struct o2_report *report)
{
	char field[48];
	bool said = changed == run->found.chain.nwr;

	snprintf(field, sizeof(field), "wr[%" PRIu32 "].signaled", changed);
	for (uint32_t i = 0; i < run->comparison.count; i++) {
		const struct o2_difference *item = &run->comparison.item[i];

		if (strcmp(o2_check_name(item->check), SIGNALED) != 0 &&
		    strncmp(item->cause, SIGNALED ":", sizeof(SIGNALED)) != 0)
			continue;
		if (said || strcmp(item->field, field) != 0)
			o2_report_fail(report, "forms/chain", "found %s, expected %s once", item->field,
				       field);
		said = true;
	}
	if (!said)
		o2_report_fail(report, "forms/chain", "nothing is said of %s", field);
}

/* Split one of the message's pieces in two, up to `times` times; the bytes stay the same. */
static void cut_pieces(struct o2_choice *c, struct o2_answer_send *found, uint32_t times)
{
	for (; times > 0 && found->nsge > 0 && found->nsge < O2_SEND_SGE; times--) {
		const uint32_t at = (uint32_t)o2_draw_pick(c, found->nsge);
		struct o2_impl_gather *sge = &found->sge[at];
		uint32_t front;

		if (sge->length < 2)
			return;
		front = 1 + (uint32_t)o2_draw(c, sge->length - 2);
		memmove(sge + 1, sge, (found->nsge - at) * sizeof(*sge));
		found->nsge++;
		sge[0].length = front;
		sge[1].addr += front;
		sge[1].length -= front;
	}
}

/* A work request may have at most so many pieces, and must have at least one. */
static void check_pieces(struct o2_forms_run *run, struct o2_choice *choice, struct o2_report *report)
{
	struct o2_answer_send *found = &run->found.send;
	const char *said = NULL;
	bool wrong;

	if (!o2_forms_begin(run, choice, O2_STAGE_SEND_PLAN))
		return;
	if (o2_draw_bool(choice, 5, 1))
		found->nsge = 0;
	cut_pieces(choice, found, (uint32_t)o2_draw(choice, run->asked.send.max_sge + 1));
	wrong = found->nsge == 0 || found->nsge > run->asked.send.max_sge;
	o2_forms_compare(run);
	for (uint32_t i = 0; i < run->comparison.count; i++)
		if (strcmp(o2_check_name(run->comparison.item[i].check), PIECES) == 0)
			said = run->comparison.item[i].field;
	if (wrong != (said != NULL && strcmp(said, "nsge") == 0))
		o2_report_fail(report, "forms/pieces",
			       "%" PRIu32 " pieces, of at most %" PRIu32 ": of %s is said that it is wrong",
			       found->nsge, run->asked.send.max_sge, said == NULL ? "nothing" : said);
}

void o2_forms_check_chain(struct o2_forms_run *run, struct o2_choice *choice, struct o2_report *report)
{
	static struct o2_foretold dues;
	uint32_t said = 0, signaled;

	dues.count = 0;
	if (o2_draw_bool(choice, 2, 1)) {
		check_pieces(run, choice, report);
		return;
	}
	if (!o2_forms_begin(run, choice, O2_STAGE_RDMA_CHAIN))
		return;
	for (uint64_t left = 1 + o2_draw(choice, 1); left > 0 && run->found.chain.nsge > 0; left--)
		change(choice, &run->found.chain);
	foretell(&run->asked.chain, &run->found.chain, &dues);
	signaled = change_signaled(choice, &run->found.chain);
	o2_forms_compare(run);
	check_signaled(run, signaled, report);
	for (uint32_t i = 0; i < run->comparison.count; i++) {
		const struct o2_difference *item = &run->comparison.item[i];

		/* If no caller has the source, the difference is reported under the check for such sources. */
		if (strcmp(o2_check_name(item->check), CHECK) != 0 &&
		    strncmp(item->cause, CHECK ":", sizeof(CHECK)) != 0)
			continue;
		if (said >= dues.count || !o2_said_words(&dues.said[said], item))
			o2_report_fail(report, "forms/chain", "found %s: %s, %s", item->field, item->expected,
				       item->found);
		said++;
	}
	if (said < dues.count)
		o2_report_fail(report, "forms/chain", "%" PRIu32 " differences of the message", said);
	if (report->failed)
		o2_foretold_report(&dues, &run->comparison, report);
}
