/* SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <string.h>

#include "oracle/stages/keys.h"
#include "props/check/check_life.h"

/* Keys: the requests posted, the key alive and the key published, event by event. */

#define LEFT   130
#define COLUMN 128
#define TOP    66
#define LANE   132 /* distance from one answer's line to the next */
#define LINE   16
#define BAR    18

struct life {
	const struct o2_case_keys *asked;
	const struct o2_answer_keys *answer[2]; /* the reference's, the implementation's */
	FILE *out;
};

static void put_event(const struct life *life, uint32_t i)
{
	static const char *const names[] = {"map", "post", "complete", "unmap", "flush"};
	const struct o2_impl_key_event *event = &life->asked->event[i];
	const int x = LEFT + (int)i * COLUMN;
	char text[64];

	snprintf(text, sizeof(text), "%" PRIu32 ": %s%s", i, names[event->kind],
		 event->kind != O2_IMPL_KEY_MAP ? ""
		 : event->side == O2_IMPL_SINK	? " sink"
						: " source");
	o2_check_life_text(life->out, x, 40, false, text);
	if (event->fails_at != 0) {
		snprintf(text, sizeof(text), "fails at request %" PRIu32, event->fails_at);
		o2_check_life_text(life->out, x, 40 + LINE, false, text);
	}
	fprintf(life->out, "<path d=\"M%d 22V%d\" stroke=\"#ccc\"/>\n", x - 6, TOP + 2 * LANE);
}

static bool same_request(const struct o2_impl_key_step *a, const struct o2_impl_key_step *b, uint32_t k)
{
	return k < b->count && a->request[k].op == b->request[k].op && a->request[k].key == b->request[k].key;
}

/* Draw the posted requests; those that are not accepted are crossed out. */
static void put_requests(const struct life *life, uint32_t i, uint32_t who)
{
	static const char *const names[] = {"invalidate", "register", "message"};
	const struct o2_impl_key_step *step = &life->answer[who]->step[i];
	const struct o2_impl_key_step *other = &life->answer[1 - who]->step[i];
	const uint32_t fails_at = life->asked->event[i].fails_at;
	char text[160];

	for (uint32_t k = 0; k < step->count && k < O2_IMPL_KEY_REQUESTS; k++) {
		const bool refused = fails_at != 0 && k + 1 >= fails_at;

		snprintf(text, sizeof(text), "%s%s",
			 refused ? "<tspan text-decoration=\"line-through\">" : "",
			 names[step->request[k].op]);
		if (step->request[k].op != O2_IMPL_KEY_MESSAGE)
			snprintf(text + strlen(text), sizeof(text) - strlen(text), " 0x%" PRIx32,
				 step->request[k].key);
		if (refused)
			strcat(text, "</tspan>");
		o2_check_life_text(life->out, LEFT + (int)i * COLUMN,
				   TOP + (int)who * LANE + 14 + (int)k * LINE,
				   who == 1 && !same_request(step, other, k), text);
	}
}

static void put_alive(const struct life *life, uint32_t i, uint32_t who, const struct o2_keys_device *device,
		      bool differs)
{
	const int x = LEFT + (int)i * COLUMN - 6, y = TOP + (int)who * LANE + 68;
	char text[64];

	if (device->alive) {
		fprintf(life->out, "<rect x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" fill=\"%s\"/>\n", x, y,
			COLUMN, BAR, differs ? O2_LIFE_RED : "#9fb4cc");
		snprintf(text, sizeof(text), "0x%" PRIx32 "%s", device->key,
			 device->registered_over ? ", over another" : "");
		fprintf(life->out, "<text x=\"%d\" y=\"%d\"%s>%s</text>\n", x + 6, y + 13,
			differs ? " fill=\"#fff\"" : "", text);
	} else if (differs) {
		fprintf(life->out,
			"<rect x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" fill=\"none\" "
			"stroke=\"" O2_LIFE_RED "\" stroke-width=\"2\" stroke-dasharray=\"4 3\"/>\n",
			x + 1, y, COLUMN - 2, BAR);
	}
	if (device->fault != O2_KEYS_NO_FAULT)
		o2_check_life_text(life->out, x + 6, y - 4, true, "the queue pair fails");
}

static void put_published(const struct life *life, uint32_t i, uint32_t who)
{
	const uint32_t published = life->answer[who]->step[i].published;
	char text[32];

	snprintf(text, sizeof(text), "0x%" PRIx32, published);
	if (published != 0)
		o2_check_life_text(life->out, LEFT + (int)i * COLUMN, TOP + (int)who * LANE + 104,
				   who == 1 && published != life->answer[0]->step[i].published, text);
}

static void put_lanes(const struct life *life)
{
	struct o2_keys_device device[2];

	for (uint32_t who = 0; who < 2; who++)
		o2_keys_device_start(life->asked, &device[who]);
	for (uint32_t i = 0; i < life->asked->count; i++) {
		bool differs;

		put_event(life, i);
		for (uint32_t who = 0; who < 2; who++) {
			o2_keys_device(&life->asked->event[i], &life->answer[who]->step[i], &device[who]);
			put_requests(life, i, who);
			put_published(life, i, who);
		}
		differs = device[0].alive != device[1].alive ||
			  (device[0].alive && device[0].key != device[1].key) ||
			  device[0].registered_over != device[1].registered_over ||
			  device[1].fault != O2_KEYS_NO_FAULT;
		put_alive(life, i, 0, &device[0], false);
		put_alive(life, i, 1, &device[1], differs);
	}
}

static void draw(const struct life *life)
{
	static const char *const names[] = {"reference", "implementation"};
	const int width = LEFT + (int)life->asked->count * COLUMN + 10, height = TOP + 2 * LANE;

	o2_check_life_open(life->out, width, height);
	o2_check_life_text(life->out, 10, 16, false, "the life of the key, event by event");
	for (uint32_t who = 0; who < 2; who++) {
		const int y = TOP + (int)who * LANE;

		fprintf(life->out, "<path d=\"M10 %dH%d\" stroke=\"#ccc\"/>\n", y - 4, width);
		fprintf(life->out, "<text x=\"10\" y=\"%d\" font-weight=\"bold\">%s</text>\n", y + 14,
			names[who]);
		o2_check_life_text(life->out, 10, y + 14 + LINE, false, "handed over");
		o2_check_life_text(life->out, 10, y + 81, false, "alive");
		o2_check_life_text(life->out, 10, y + 104, false, "published");
	}
	put_lanes(life);
	fputs("</svg>", life->out);
}

void o2_check_life_keys(const struct o2_check_both *both, FILE *out)
{
	const struct life life = {&both->asked.keys, {&both->expected.keys, &both->found.keys}, out};

	draw(&life);
}
