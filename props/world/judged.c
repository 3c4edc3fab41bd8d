/* SPDX-License-Identifier: MIT */
#include "props/world/judged.h"

#include <errno.h>
#include <stdio.h>

#include "wire/bytes.h"
#include "wire/checksum.h"
#include "wire/layout.h"
#include "wire/nid.h"

void (*o2_judged_aside)(bool aside);
bool o2_judged_deaf;
struct o2_judged o2_judged_all;

void o2_judged_put_aside(bool aside)
{
	if (o2_judged_aside != NULL)
		o2_judged_aside(aside);
}

void o2_judged_add(struct o2_judged *sum, const struct o2_judged *one)
{
	sum->connections += one->connections;
	sum->messages += one->messages;
	sum->writes += one->writes;
}

void o2_judged_fail(struct o2_report *report, const struct o2_judge_finding *finding)
{
	const struct o2_judge_rule *rule = &o2_judge_rules[finding->rule];
	const struct o2_judge_view view = o2_judge_view(finding->conn);
	char who[O2_NID_TEXT_BYTES] = "?", what[O2_ERROR_WHAT_BYTES] = "", signature[96];

	snprintf(signature, sizeof(signature), "judge/%s", rule->id);
	if (rule->severity == O2_JUDGE_NOTE && !o2_report_asked(signature))
		return;
	o2_nid_to_text(view.nid[finding->who], who, sizeof(who));
	if (finding->error.field != NULL)
		o2_error_what(&finding->error, what, sizeof(what));
	o2_report_fail(report, signature, "%s: %s; rule: %s (%s)", who, what, rule->sentence, rule->source);
}

void o2_judged_keep(struct o2_judged_first *first, const struct o2_judge_finding *finding)
{
	const struct o2_judge_rule *rule = &o2_judge_rules[finding->rule];

	if (rule->severity == O2_JUDGE_NOTE || first->broken != NULL)
		return;
	*first = (struct o2_judged_first){rule->id, finding->error};
}

const char *o2_judged_take(struct o2_judged_first *first, struct o2_error *error)
{
	const char *broken = first->broken;

	if (broken != NULL)
		*error = first->error;
	first->broken = NULL;
	return broken;
}

void o2_judged_compare(struct o2_judged_form *form, const struct o2_watched *watched,
		       struct o2_judged_first *first)
{
	struct o2_error error;
	enum o2_byte_order order;
	uint32_t sum, wanted;

	if (!form->wanted || !watched->ours || watched->kind != O2_WATCHED_MESSAGE || watched->bytes == NULL)
		return;
	order = o2_load32_be(watched->bytes + O2_AT_MAGIC) == O2_MSG_MAGIC ? O2_BIG_ENDIAN : O2_LITTLE_ENDIAN;
	sum = o2_load32(watched->bytes + O2_AT_CKSUM, order);
	wanted = o2_checksum_of(o2_msg_checksum_both(watched->bytes, watched->length_bytes), form->flavour);
	if (order == form->order && sum == wanted) {
		form->seen++;
		return;
	}
	if (order != form->order)
		o2_refuse_other(&error, -EPROTO, "scenario/byte-order", "order", order, form->order);
	else
		o2_refuse_other(&error, -EPROTO, "scenario/checksum", "checksum", sum, wanted);
	if (first->broken == NULL)
		*first = (struct o2_judged_first){error.rule, error};
}
