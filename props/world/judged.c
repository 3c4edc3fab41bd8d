/* SPDX-License-Identifier: MIT */
#include "props/world/judged.h"

#include <stdio.h>

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
