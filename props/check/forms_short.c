/* SPDX-License-Identifier: MIT */
/* An allocation fails where a form is read, or a conversation judged: it must be reported, and nothing leaked. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "oracle/impl_slot.h"
#include "oracle/known.h"
#include "props/check/forms.h"
#include "props/scenario/draw.h"

#define MOST 8u /* allocations of a whole transfer: two nodes with four each */

static void wrong(struct o2_report *report, const char *what, uint32_t nth, int rc, const char *text)
{
	o2_report_fail_in(report, "forms/short", what, "without allocation %" PRIu32 ": %d, %s", nth, rc,
			  text);
}

static void question(struct o2_forms_run *run, struct o2_choice *c, struct o2_report *report)
{
	static const enum o2_stage stages[] = {O2_STAGE_SG_BUILD, O2_STAGE_DMA_MAP, O2_STAGE_TRANSFER,
					       O2_STAGE_SEND_PLAN};
	const uint32_t nth = 1 + (uint32_t)o2_draw(c, MOST - 1);
	struct o2_error error = {0};
	int64_t before;
	json_t *form;
	bool failed;
	int rc;

	o2_draw_case(c, stages[o2_draw(c, 3)], &run->asked, &run->scenario);
	form = o2_choice_ok(c) ? o2_case_to_json(&run->asked) : NULL;
	if (form == NULL)
		return;
	before = run->allocated();
	run->fail_allocation(nth);
	rc = o2_case_from_json(form, &run->again, &error);
	failed = run->allocation_failed();
	run->fail_allocation(0);
	if (rc != (failed ? -ENOMEM : 0) || error.code != rc)
		wrong(report, "question", nth, rc, failed ? "it has failed" : "it is not needed");
	else if (run->allocated() != before)
		wrong(report, "left", nth, rc, "allocations are left");
	json_decref(form);
}

static void known(struct o2_forms_run *run, struct o2_choice *c, struct o2_report *report)
{
	const int fd = memfd_create("o2props-listed", MFD_CLOEXEC);
	const uint32_t nth = 1 + (uint32_t)o2_draw(c, 1);
	char path[40], text[200] = "", due[100];
	struct o2_known list;
	json_t *form = json_pack(
		"{s:s, s:i, s:[{s:s, s:s}]}", "form", "o2ref/known_differences", "version", 1, "differences",
		"check", o2_check_name((enum o2_check_id)o2_draw(c, O2_CHECKS - 1)), "reason", "it is so");
	int64_t before;
	bool failed;
	int rc;

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	snprintf(due, sizeof(due), "%s: there is no memory", path);
	if (fd >= 0 && json_dumpfd(form, fd, 0) == 0) {
		before = run->allocated();
		run->fail_allocation(nth);
		rc = o2_known_read(path, &list, text, sizeof(text));
		failed = run->allocation_failed();
		run->fail_allocation(0);
		o2_known_free(&list);
		if (rc != (failed ? -ENOMEM : 0) || strcmp(text, failed ? due : "") != 0)
			wrong(report, "known", nth, rc, text);
		else if (run->allocated() != before)
			wrong(report, "left", nth, rc, "allocations are left");
	}
	close(fd);
	json_decref(form);
}

/* A refusal for lack of memory must name the memory. */
static void chain(struct o2_forms_run *run, struct o2_choice *c, struct o2_report *report)
{
	const struct o2_answer_refusal *refusal = &run->found.refusal;
	struct o2_impl_slots slots;
	int64_t before;
	int rc;

	o2_draw_case(c, O2_STAGE_RDMA_CHAIN, &run->asked, &run->scenario);
	if (!o2_choice_ok(c))
		return;
	memset(&run->found, 0, sizeof(run->found));
	before = run->allocated();
	run->fail_allocation(1);
	o2_answer_of_reference(&run->asked, &run->found);
	run->fail_allocation(1);
	rc = o2_impl_slots_create(1, &slots);
	run->fail_allocation(0);
	if (run->found.kind != O2_ANSWER_REFUSED || refusal->error != ENOMEM ||
	    strcmp(refusal->name, "chain/memory") != 0)
		wrong(report, "chain", 1, refusal->error, refusal->name);
	else if (rc != -ENOMEM)
		wrong(report, "slots", 1, rc, "slots");
	else if (run->allocated() != before)
		wrong(report, "left", 1, rc, "allocations are left");
}

/* Without the memory to judge a conversation none of its differences is known. */
static void conversation(struct o2_forms_run *run, struct o2_choice *c, struct o2_report *report)
{
	const struct o2_comparison *comparison = &run->comparison;
	const uint32_t nth = 1 + (uint32_t)o2_draw(c, 3);
	int64_t before;
	bool failed;

	if (!o2_forms_begin(run, c, O2_STAGE_FLOW))
		return;
	run->found.flow.step[run->asked.flow.count - 1].queued++;
	before = run->allocated();
	run->fail_allocation(nth);
	o2_forms_compare(run);
	failed = run->allocation_failed();
	run->fail_allocation(0);
	if (comparison->no_memory != failed || (comparison->count != 0) == failed)
		wrong(report, "conversation", nth, (int)comparison->count, failed ? "it has failed" : "");
	else if (run->allocated() != before)
		wrong(report, "left", nth, 0, "allocations are left");
}

void o2_forms_check_short(struct o2_forms_run *run, struct o2_choice *choice, struct o2_report *report)
{
	static void (*const kinds[])(struct o2_forms_run *, struct o2_choice *,
				     struct o2_report *) = {question, known, chain, conversation};

	if (run->fail_allocation != NULL)
		kinds[o2_draw(choice, 3)](run, choice, report);
}
