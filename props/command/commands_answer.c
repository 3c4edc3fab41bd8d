/* SPDX-License-Identifier: MIT */
/* ping to a peer whose answer has one changed field: docs/peer.md, "Ping". */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "props/command/commands.h"
#include "props/command/wrong.h"
#include "wire/msg.h"

#define PEER	   "10.99.0.1@o2ib"
#define PAYLOAD	   120u /* offset of an IMMEDIATE's payload */
#define FEATURES   4u
#define PID	   8u
#define NIS_COUNT  12u
#define NIS	   16u
#define MAGIC	   UINT64_C(0x70696e67)
#define HAS_STATUS 2u
#define DOWN	   UINT64_C(0xdeadface)
#define BYTES	   48u
#define MOST	   6u /* most pings */

/* A changed answer, and what ping must print. */
struct answer {
	uint32_t features, pid, nis;
	char nid[2][24];
	bool down[2];
	char complaint[160]; /* "": the answer is printed */
};

static void spoil(struct o2_wrong *wrong, uint32_t at, uint32_t width, uint64_t value)
{
	wrong->at = PAYLOAD + at;
	wrong->width = width;
	wrong->value = value;
}

/* Draw a change near the limits of the field. */
static void draw(struct o2_choice *c, struct o2_wrong *wrong, struct answer *answer)
{
	const uint32_t which = (uint32_t)o2_draw(c, 1);
	uint64_t value;

	switch (o2_draw(c, 5)) {
	case 0:
		value = o2_draw_bool(c, 1, 1) ? MAGIC - 1 + 2 * o2_draw(c, 1) : o2_draw(c, MAGIC - 1);
		spoil(wrong, 0, 4, value);
		snprintf(answer->complaint, sizeof(answer->complaint),
			 "lnet/ping/magic: pi_magic is %" PRIu64 ", expected %" PRIu64 " (Protocol error)",
			 value, MAGIC);
		break;
	case 1:
		answer->features = (uint32_t)o2_draw(c, o2_draw_bool(c, 1, 1) ? 0x1f : UINT32_MAX);
		spoil(wrong, FEATURES, 4, answer->features);
		if ((answer->features & HAS_STATUS) == 0)
			snprintf(answer->complaint, sizeof(answer->complaint),
				 "lnet/ping/features: pi_features is %" PRIu32 " (Protocol error)",
				 answer->features);
		break;
	case 2:
		answer->pid = (uint32_t)o2_draw(c, UINT32_MAX);
		spoil(wrong, PID, 4, answer->pid);
		break;
	case 3:
		/* The count may be greater than the two NIDs that the answer has. */
		answer->nis = (uint32_t)o2_draw(c, o2_draw_bool(c, 1, 1) ? 3 : UINT32_MAX);
		spoil(wrong, NIS_COUNT, 4, answer->nis);
		answer->nis = answer->nis < 2 ? answer->nis : 2;
		break;
	case 4:
		value = 1 + o2_draw(c, 254);
		spoil(wrong, NIS + 16 * which, 8, UINT64_C(0x000500000a000000) + value);
		snprintf(answer->nid[which], sizeof(answer->nid[0]), "10.0.0.%" PRIu64 "@o2ib", value);
		break;
	default:
		value = o2_draw_bool(c, 1, 1) ? DOWN : DOWN - 1 + 2 * o2_draw(c, 1);
		spoil(wrong, NIS + 16 * which + 8, 4, value);
		answer->down[which] = value == DOWN;
	}
}

static size_t add_line(char *text, size_t bytes, const struct answer *answer)
{
	size_t used = (size_t)snprintf(text, bytes, PEER ": # us, pid %" PRIu32 ", features 0x%" PRIx32 ":",
				       answer->pid, answer->features);

	for (uint32_t i = 0; i < answer->nis; i++)
		used += (size_t)snprintf(text + used, bytes - used, " %s%s", answer->nid[i],
					 answer->down[i] ? " (down)" : "");
	return used + (size_t)snprintf(text + used, bytes - used, "\n");
}

/* Check the counts of the summary. */
static void check_json(struct o2_commands_run *run, uint32_t done, uint32_t failed)
{
	json_t *object = json_loads(run->command.out, 0, NULL);

	if (json_integer_value(json_object_get(object, "done")) != done ||
	    json_integer_value(json_object_get(object, "failed")) != failed ||
	    json_integer_value(json_object_get(object, "bytes")) != done * BYTES ||
	    !json_is_integer(json_object_get(object, "done")))
		o2_commands_wrong(run, "answer");
	json_decref(object);
}

void o2_commands_answer(struct o2_commands_run *run)
{
	static const struct answer plain = {.features = 0xe, .pid = 12345, .nis = 2, .nid = {"0@lo", PEER}};
	struct o2_choice *c = run->c;
	struct o2_wrong wrong = {.in = O2_WRONG_MESSAGE,
				 .type = O2_MSG_IMMEDIATE,
				 .lnet_type = O2_LNET_REPLY,
				 .lst_type = O2_WRONG_ANY,
				 .answers = 1,
				 .most = 1};
	const uint32_t count = 1 + (uint32_t)o2_draw(c, MOST - 1), at = (uint32_t)o2_draw(c, count - 1);
	const bool json = o2_draw_bool(c, 2, 1);
	struct answer answer = plain;
	char text[1024];
	size_t used = 0;
	bool ends;
	uint32_t done;

	wrong.spares = at;
	draw(c, &wrong, &answer);
	ends = answer.complaint[0] != '\0';
	done = ends ? at : count;
	o2_commands_words(run, "ping --device=loop --nid=10.77.3.4@o2ib --interval=0");
	o2_command_word(&run->command, "--count=%" PRIu32, count);
	o2_command_word_if(&run->command, json, "--json");
	o2_commands_words(run, PEER);
	for (uint32_t i = 0; i < done; i++)
		used += add_line(text + used, sizeof(text) - used, i == at ? &answer : &plain);
	if (count > 1)
		snprintf(text + used, sizeof(text) - used,
			 "ping: %" PRIu32 " done, %d failed, %" PRIu32 " bytes in # s: # MB/s, #/s%s\n", done,
			 ends, done * BYTES, done > 0 ? "; #/#/# us (min/mean/max)" : "");
	else
		text[used] = '\0';
	o2_wrong_execute(&run->command, &wrong);
	run->tally.seen[ends ? O2_COMMANDS_NO_ANSWER : O2_COMMANDS_ODD_ANSWER]++;
	if (run->command.status != ends || wrong.told != 1)
		o2_commands_wrong(run, "status");
	o2_commands_says(run, "complaint", run->command.err,
			 ends ? "o2ref: the answer is not a valid ping reply: %s\n" : "%s", answer.complaint);
	if (!json)
		o2_commands_says(run, "output", run->command.out, "%s", text);
	else if (!run->report->failed)
		check_json(run, done, ends);
}
