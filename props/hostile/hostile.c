/* SPDX-License-Identifier: MIT */
#include "props/hostile/hostile.h"

#include <stdio.h>
#include <string.h>

#include "base/errno_name.h"

/* The catalogue: all groups in one list. */

#define MISBEHAVIOURS_AT_MOST 256u

size_t o2_misbehaviours(const struct o2_misbehaviour **list)
{
	static const struct o2_misbehaviour *const groups[] = {
		o2_hostile_wire, o2_hostile_desc,    o2_hostile_talk,	 o2_hostile_flow,
		o2_hostile_rdma, o2_hostile_connreq, o2_hostile_connack,
	};
	static struct o2_misbehaviour all[MISBEHAVIOURS_AT_MOST];
	size_t count = 0;

	for (size_t i = 0; i < sizeof(groups) / sizeof(groups[0]); i++)
		for (const struct o2_misbehaviour *one = groups[i]; one->name != NULL; one++)
			if (count < MISBEHAVIOURS_AT_MOST)
				all[count++] = *one;
	*list = all;
	return count;
}

const struct o2_misbehaviour *o2_misbehaviour_find(const char *name)
{
	const struct o2_misbehaviour *list;
	size_t count = o2_misbehaviours(&list);

	for (size_t i = 0; i < count; i++)
		if (strcmp(list[i].name, name) == 0)
			return &list[i];
	return NULL;
}

const char *o2_misbehaviour_mutant(const struct o2_misbehaviour *what, char text[96])
{
	if (what->mutant != NULL)
		return what->mutant;
	snprintf(text, 96, "without/%s", what->rule);
	return text;
}

void o2_misbehaviour_reaction(const struct o2_misbehaviour *what, char *text, size_t text_bytes)
{
	switch (what->reaction) {
	case O2_REACT_CLOSE:
		snprintf(text, text_bytes, "closes, %s", o2_errno_name(-what->code));
		break;
	case O2_REACT_KEEP:
		snprintf(text, text_bytes, "refused or answered, connection kept");
		break;
	case O2_REACT_TIMEOUT:
		snprintf(text, text_bytes, "our deadline closes, %s", o2_errno_name(-what->code));
		break;
	case O2_REACT_DEVICE:
		snprintf(text, text_bytes, "the device refuses, closes, %s", o2_errno_name(-what->code));
		break;
	case O2_REACT_REJECT:
		snprintf(text, text_bytes, "rejected, reason %d", what->code);
		break;
	case O2_REACT_FAIL:
		snprintf(text, text_bytes, "our attempt fails, %s", o2_errno_name(-what->code));
		break;
	}
}

void o2_misbehaviour_row(const struct o2_misbehaviour *what, char row[O2_MISBEHAVIOUR_ROW_BYTES])
{
	char reaction[80], mutant[96];

	o2_misbehaviour_reaction(what, reaction, sizeof(reaction));
	snprintf(row, O2_MISBEHAVIOUR_ROW_BYTES, "| `%s` | %s | %s | `%s` ([%s](%s)) | %s | %s | `%s` |",
		 what->name, what->group, what->text, what->rule, what->doc, what->doc, reaction,
		 what->kernel_tolerates ? "kernel" : "-", o2_misbehaviour_mutant(what, mutant));
}
