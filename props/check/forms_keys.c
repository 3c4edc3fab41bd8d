/* SPDX-License-Identifier: MIT */
/* Lives of a key with one wrong step: what a device knows, and what must be reported (docs/oracle.md). */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "props/check/forms.h"
#include "props/scenario/draw.h"

/* A device that admits one key, and what was posted to it in the last step. */
struct device {
	bool alive, over, early;
	uint32_t key, messages;
	uint32_t region[2]; /* the two keys of its region */
	bool window;	    /* only the key that is alive may be invalidated */
	const char *broken; /* the first impossible invalidate of the step, described; NULL: none */
	uint32_t by;
};

static void look_at_invalidate(struct device *device, uint32_t key)
{
	const char *broken = NULL;

	if (key / 256 != device->region[0] / 256 && key / 256 != device->region[1] / 256)
		broken = "invalidate: of another region";
	else if (device->window && !device->alive)
		broken = "invalidate: of no key that is alive";
	if (device->broken != NULL || broken == NULL)
		return;
	device->broken = broken;
	device->by = key;
}

static void take(struct device *device, const struct o2_impl_key_event *event,
		 const struct o2_impl_key_step *step)
{
	/* The request that fails, and those behind it, do not reach the device. */
	const uint32_t fails = event->fails_at == 0 ? UINT32_MAX : event->fails_at - 1;

	device->over = device->early = false;
	device->messages = 0;
	device->broken = NULL;
	if (event->kind == O2_IMPL_KEY_FLUSH) {
		device->alive = false;
		device->region[0] = event->lkey;
		device->region[1] = event->rkey;
	}
	for (uint32_t i = 0; i < step->count; i++) {
		const struct o2_impl_key_request *request = &step->request[i];

		if (request->op == O2_IMPL_KEY_MESSAGE) {
			device->messages++;
			device->early |= i != step->count - 1;
			continue;
		}
		if (fails < step->count && i >= fails)
			continue;
		if (request->op == O2_IMPL_KEY_REGISTER) {
			device->over |= device->alive;
			device->alive = true;
			device->key = request->key;
			continue;
		}
		look_at_invalidate(device, request->key);
		if ((uint8_t)request->key == (uint8_t)device->key)
			device->alive = false;
	}
}

/* Only the first of several reports with one check and one cause is kept. */
static struct o2_said *add(struct o2_foretold *foretold, const char *check, const char *cause)
{
	struct o2_said *said;
	char id[24];

	snprintf(id, sizeof(id), "keys/%s", check);
	for (uint32_t i = 0; i < foretold->count; i++)
		if (strcmp(foretold->said[i].check, id) == 0 && strcmp(foretold->said[i].cause, cause) == 0)
			return NULL;
	said = o2_foretold_add(foretold, id, "");
	snprintf(said->cause, sizeof(said->cause), "%s", cause);
	return said;
}

static void add_numbers(struct o2_foretold *foretold, const char *check, const char *cause, const char *name,
			uint32_t index, bool hex, const uint32_t numbers[2])
{
	struct o2_said *said = add(foretold, check, cause);

	if (said == NULL)
		return;
	if (name == NULL)
		snprintf(said->field, sizeof(said->field), "%s", cause);
	else
		snprintf(said->field, sizeof(said->field), "step[%" PRIu32 "].%s", index, name);
	snprintf(said->expected, sizeof(said->expected), hex ? "0x%" PRIx32 : "%" PRIu32, numbers[0]);
	snprintf(said->found, sizeof(said->found), hex ? "0x%" PRIx32 : "%" PRIu32, numbers[1]);
}

static void say_alive(const struct device *device, const char *more, char *text, size_t room)
{
	if (device->alive)
		snprintf(text, room, "0x%" PRIx32 "%s", device->key, more);
	else
		snprintf(text, room, "none");
}

static void add_alive(struct o2_foretold *foretold, uint32_t index, const struct device *right,
		      const struct device *is)
{
	const bool over = is->over && !right->over;
	struct o2_said *said;

	if (over)
		said = add(foretold, "live", "alive: registered while another is alive");
	else if (is->alive && !right->alive)
		said = add(foretold, "live", "alive: a key is left alive");
	else if (right->alive && !is->alive)
		said = add(foretold, "live", "alive: the key is not alive");
	else if (right->alive && right->key != is->key)
		said = add(foretold, "live", "alive: another key");
	else
		return;
	if (said == NULL)
		return;
	snprintf(said->field, sizeof(said->field), "alive after event %" PRIu32, index);
	say_alive(right, "", said->expected, sizeof(said->expected));
	say_alive(is, over ? ", registered while another one was alive" : "", said->found,
		  sizeof(said->found));
}

static void add_broken(struct o2_foretold *foretold, uint32_t index, const struct device *is)
{
	struct o2_said *said = is->broken == NULL ? NULL : add(foretold, "invalidate", is->broken);

	if (said == NULL)
		return;
	snprintf(said->field, sizeof(said->field), "invalidate at event %" PRIu32, index);
	if (strstr(is->broken, "region") != NULL)
		snprintf(said->expected, sizeof(said->expected), "a key of the region, 0x%" PRIx32,
			 is->region[1]);
	else
		snprintf(said->expected, sizeof(said->expected), "none: no key is alive");
	snprintf(said->found, sizeof(said->found), "0x%" PRIx32 ": the queue pair fails", is->by);
}

static void foretell_step(struct o2_foretold *foretold, uint32_t index, const struct o2_impl_key_step *right,
			  const struct o2_impl_key_step *is, const struct device device[2])
{
	const uint32_t shorter = right->count < is->count ? right->count : is->count;

	if (right->published != is->published)
		add_numbers(foretold, "published", "step[].published", "published", index, true,
			    (const uint32_t[]){right->published, is->published});
	if (device[0].messages != device[1].messages)
		add_numbers(foretold, "message", "messages", NULL, index, false,
			    (const uint32_t[]){device[0].messages, device[1].messages});
	else if (device[1].early)
		add_numbers(foretold, "message", "messages in front of the chain", NULL, index, false,
			    (const uint32_t[]){0, 1});
	add_broken(foretold, index, &device[1]);
	add_alive(foretold, index, &device[0], &device[1]);
	if (right->count != is->count)
		add_numbers(foretold, "requests", "step[].count", "count", index, false,
			    (const uint32_t[]){right->count, is->count});
	for (uint32_t i = 0; i < shorter; i++) {
		const struct o2_impl_key_request *e = &right->request[i], *f = &is->request[i];

		if (e->op != f->op)
			add_numbers(foretold, "requests", "step[].op", "op", index, false,
				    (const uint32_t[]){e->op, f->op});
		else if (e->op != O2_IMPL_KEY_MESSAGE && e->key != f->key)
			add_numbers(foretold, "requests", "step[].key", "key", index, true,
				    (const uint32_t[]){e->key, f->key});
	}
}

/* --- drawing --- */

static void change(struct o2_choice *c, struct o2_answer_keys *answer)
{
	const uint64_t what = o2_draw(c, 5), number = o2_draw(c, 2), key = o2_draw(c, 3);
	struct o2_impl_key_step *step = &answer->step[o2_draw(c, answer->count - 1)];
	struct o2_impl_key_request *request = &step->request[number];

	switch (what) {
	case 0:
		step->published ^= 1u << (10 * key);
		break;
	case 1: /* one request fewer */
		step->count -= step->count > 0;
		break;
	case 2: /* one more request, which may be a second message */
		if (step->count < O2_IMPL_KEY_REQUESTS)
			step->request[step->count++] = (struct o2_impl_key_request){
				.op = (uint32_t)number, .key = answer->step[0].published};
		break;
	case 3:
		request->key ^= number < step->count ? 1u << (10 * key) : 0;
		break;
	case 4:
		if (number < step->count)
			request->op = (uint32_t)key % 3;
		break;
	default: /* a wrong number of steps, which no answer has */
		answer->count -= number == 0;
	}
}

static void fail(const struct o2_forms_run *run, const char *what, const struct o2_foretold *foretold,
		 struct o2_report *report)
{
	o2_report_fail(report, what, "%" PRIu32 " events", run->asked.keys.count);
	o2_foretold_report(foretold, &run->comparison, report);
}

void o2_forms_check_keys(struct o2_forms_run *run, struct o2_choice *c, struct o2_report *report)
{
	static struct o2_foretold foretold;
	const struct o2_case_keys *asked = &run->asked.keys;
	struct device device[2];
	json_t *form;
	bool whole;

	foretold.count = 0;
	o2_draw_case(c, O2_STAGE_KEYS, &run->asked, &run->scenario);
	if (!o2_choice_ok(c))
		return;
	o2_answer_of_reference(&run->asked, &run->expected);
	if (run->expected.kind != O2_ANSWER_RESULT)
		return;
	run->found.kind = O2_ANSWER_RESULT;
	run->found.keys = run->expected.keys;
	for (uint64_t left = o2_draw(c, 3); left > 0 && run->found.keys.count > 1; left--)
		change(c, &run->found.keys);
	whole = run->found.keys.count == asked->count;
	form = o2_answer_to_json(&run->asked, &run->found);
	memset(&run->found, 0, sizeof(run->found));
	o2_answer_from_json(&run->asked, form, &run->found);
	json_decref(form);
	if ((run->found.kind == O2_ANSWER_RESULT) != whole)
		fail(run, "forms/keys/steps", &foretold, report);
	if (!whole || report->failed)
		return;
	run->found.conduct.check = O2_CHECKS;
	o2_forms_compare(run);
	for (uint32_t who = 0; who < 2; who++)
		device[who] = (struct device){.region = {asked->lkey, asked->rkey},
					      .window = asked->order == O2_IMPL_INVALIDATE_LAST};
	for (uint32_t i = 0; i < asked->count; i++) {
		take(&device[0], &asked->event[i], &run->expected.keys.step[i]);
		take(&device[1], &asked->event[i], &run->found.keys.step[i]);
		foretell_step(&foretold, i, &run->expected.keys.step[i], &run->found.keys.step[i], device);
	}
	if (!o2_foretold_found(&foretold, &run->comparison))
		fail(run, "forms/keys/differences", &foretold, report);
}
