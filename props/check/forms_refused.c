/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <string.h>

#include "base/refused_json.h"
#include "props/check/forms.h"
#include "props/scenario/draw.h"

/* The member "refused" of an output form, for any refusal, not only those that the stages make. */

#define FORM	   "o2ref/sg_build/output"
#define TEXT_BYTES 64u /* of a name, with its NUL */

static void draw_text(struct o2_choice *c, char *text)
{
	const uint64_t length = o2_draw_bool(c, 3, 1) ? O2_REFUSED_TEXT_BYTES - 1 : o2_draw(c, 30);

	memset(text, 'a' + (int)o2_draw(c, 25), length);
	text[length] = '\0';
}

static uint64_t draw_length(struct o2_choice *c, uint64_t special)
{
	const uint64_t kind = o2_draw(c, 2);

	return kind == 0 ? o2_draw(c, 4096) : kind == 1 ? o2_draw_wild(c) : special;
}

static json_t *form_of(const struct o2_refused *refused)
{
	const struct o2_error error = {
		.code = refused->code,
		.rule = refused->rule,
		.field = refused->field,
		.index = refused->index,
		.value = refused->value,
		.limit = refused->limit,
	};

	return o2_output_form(FORM, &error);
}

static void check_changed(const struct o2_form_change *change, const struct o2_refused *was,
			  const json_t *form, struct o2_report *report)
{
	struct o2_refused found;
	struct o2_error error = {0};
	json_t *written, *before;

	if (o2_output_expect(form, FORM, &found, &error) != 0) {
		if (error.code != -EINVAL || error.rule == NULL || error.field == NULL ||
		    !o2_form_names(change, error.field))
			o2_forms_fail(report, "forms/refused", "refusal-of-another-field", change->text,
				      form);
		else if (strcmp(error.rule, "json/text-too-long") == 0 &&
			 (error.value < TEXT_BYTES || error.limit != TEXT_BYTES - 1))
			o2_forms_fail(report, "forms/refused", "refusal-of-another-length", change->text,
				      form);
		return;
	}
	if (found.code == 0 && json_object_get(form, "refused") != NULL) {
		o2_forms_fail(report, "forms/refused", "read-as-none", change->text, form);
		return;
	}
	written = form_of(&found);
	before = form_of(was);
	if (written == NULL || !o2_form_agrees(written, form, change))
		o2_forms_fail(report, "forms/refused", "read-as-another", change->text, written);
	else if (found.code != 0 && o2_refused_equal(was, &found) != json_equal(written, before))
		o2_forms_fail(report, "forms/refused", "equal", change->text, written);
	json_decref(before);
	json_decref(written);
}

void o2_forms_check_refused(struct o2_forms_run *run, struct o2_choice *choice, struct o2_report *report)
{
	struct o2_form_change *change = &run->change;
	static const int codes[] = {EINVAL, EPROTO, EFBIG, ENOMEM, EMSGSIZE, ENOSPC, EIO, ETIMEDOUT};
	char rule[O2_REFUSED_TEXT_BYTES], field[O2_REFUSED_TEXT_BYTES];
	struct o2_error drawn = {.code = -codes[o2_draw(choice, sizeof(codes) / sizeof(codes[0]) - 1)]};
	struct o2_refused expected, found;
	json_t *form;

	draw_text(choice, rule);
	draw_text(choice, field);
	drawn.rule = rule;
	drawn.field = field;
	drawn.index = (uint32_t)draw_length(choice, O2_NO_INDEX);
	drawn.value = draw_length(choice, UINT64_MAX);
	drawn.limit = draw_length(choice, O2_NO_LIMIT);
	o2_refused_from_error(&drawn, &expected);
	form = o2_output_form(FORM, &drawn);
	snprintf(change->text, sizeof(change->text), "a refusal, unchanged");
	if (o2_output_expect(form, FORM, &found, NULL) != 0 || found.code != drawn.code ||
	    strcmp(found.rule, rule) != 0 || strcmp(found.field, field) != 0 || found.index != drawn.index ||
	    found.value != drawn.value || found.limit != drawn.limit || !o2_refused_equal(&expected, &found))
		o2_forms_fail(report, "forms/refused", "not-read", change->text, form);
	else if (o2_form_change(choice, form, change))
		check_changed(change, &expected, form, report);
	json_decref(form);
}
